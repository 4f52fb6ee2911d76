"""Changing the cells themselves (Jund 2010, §3.4.1): merge two that share a face, cut one along a loop of its corners,
sew two along faces that lie in the same place.

All work on the faces of the cells concerned, as loops of corners; the map is sewn again from the loops, and every cell checked as at
construction. No vertex is added, so nothing is rounded and cells around keep their shape: where a cut runs across a face, the face falls
into two that lie in one plane, in both cells.
"""

import itertools

import numpy as np

from abut.arrays import Floats, Integers
from abut.cells.darts import Loops
from abut.errors import InvalidInput

Ring = list[int]


def rings_of(loops: Loops, cell: int) -> list[Ring]:
    """The faces of a cell as lists of corners."""
    first, last = np.searchsorted(loops.cell, (cell, cell + 1)).tolist()
    return [loops.vertex[loops.start[face] : loops.start[face + 1]].tolist() for face in range(first, last)]


def _replace(loops: Loops, changed: dict[int, list[Ring]]) -> Loops:
    """Other faces for some cells."""
    kept = ~np.isin(loops.cell, list(changed))
    rings = [(cell, ring) for cell, faces in changed.items() for ring in faces]
    sizes = np.concatenate((loops.sizes[kept], np.array([len(ring) for _, ring in rings], np.int64)))
    cells = np.concatenate((loops.cell[kept], np.array([cell for cell, _ in rings], np.int32)))
    corners = [corner for _, ring in rings for corner in ring]
    vertex = np.concatenate((loops.vertex[np.repeat(kept, loops.sizes)], np.array(corners, np.int32)))
    starts = np.concatenate(([0], np.cumsum(sizes)))
    order = np.argsort(cells, kind="stable")
    start = np.concatenate(([0], np.cumsum(sizes[order])))
    darts = np.arange(len(vertex)) - np.repeat(start[:-1] - starts[:-1][order], sizes[order])
    return Loops(vertex[darts], start, cells[order])


def merge_cells(loops: Loops, a: int, b: int) -> Loops:
    """Take away the faces between two cells; what is left of b becomes part of a."""
    faces_a, faces_b = rings_of(loops, a), rings_of(loops, b)
    common = {frozenset(ring) for ring in faces_a} & {frozenset(ring) for ring in faces_b}
    if a == b or not common:
        raise InvalidInput("cells", f"{a} and {b} do not share a face")
    return _replace(loops, {a: [ring for ring in faces_a + faces_b if frozenset(ring) not in common], b: []})


def _sides(ring: Ring) -> list[tuple[int, int]]:
    return list(zip(ring, ring[1:] + ring[:1], strict=True))


def _split_ring(ring: Ring, u: int, v: int) -> list[Ring]:
    """The two parts of a ring on either side of the line between two of its corners."""
    k = ring.index(u)
    turned = ring[k:] + ring[:k]
    end = turned.index(v)
    return [turned[: end + 1], [*turned[end:], u]]


def _find_beyond(loops: Loops, cell: int, ring: Ring) -> int | None:
    """The other cell that has this face."""
    wanted = frozenset(ring)
    darts = np.flatnonzero(loops.vertex == ring[0])
    faces = np.searchsorted(loops.start, darts, side="right") - 1
    for face in faces.tolist():
        corners = loops.vertex[loops.start[face] : loops.start[face + 1]].tolist()
        if loops.cell[face] != cell and frozenset(corners) == wanted:
            return int(loops.cell[face])
    return None


def _group(rings: list[Ring], seams: set[frozenset[int]]) -> list[list[Ring]]:
    """Rings that are joined by edges other than the seams."""
    owners: dict[frozenset[int], list[int]] = {}
    for number, ring in enumerate(rings):
        for side in _sides(ring):
            owners.setdefault(frozenset(side), []).append(number)
    group = list(range(len(rings)))
    for edge, numbers in owners.items():
        if edge not in seams:
            for one, other in itertools.pairwise(numbers):
                old, new = group[one], group[other]
                group = [new if number == old else number for number in group]
    return [
        [ring for ring, number in zip(rings, group, strict=True) if number == chosen] for chosen in dict.fromkeys(group)
    ]


def cut_cell(loops: Loops, cell: int, corners: Integers, new_cell: int) -> Loops:
    """Divide a cell by a face through some of its corners, in order; the part to which the loop runs clockwise gets the new number."""
    rings = rings_of(loops, cell)
    own = {corner for ring in rings for corner in ring}
    path = corners.tolist()
    for row, corner in enumerate(path):
        if corner not in own:
            raise InvalidInput("corners", f"vertex {corner} is not a corner of cell {cell}", row)
    changed: dict[int, list[Ring]] = {}
    for row, (u, v) in enumerate(_sides(path)):
        if any(frozenset((u, v)) == frozenset(side) for ring in rings for side in _sides(ring)):
            continue
        ring = next((ring for ring in rings if u in ring and v in ring), None)
        if ring is None:
            raise InvalidInput("corners", f"no face of cell {cell} holds both {u} and {v}", row)
        beyond = _find_beyond(loops, cell, ring) if not changed else _find_beyond(_replace(loops, changed), cell, ring)
        rings = [piece for other in rings for piece in (_split_ring(ring, u, v) if other is ring else [other])]
        changed[cell] = rings
        if beyond is not None:
            theirs = changed.get(beyond, rings_of(loops, beyond))
            same = next(other for other in theirs if frozenset(other) == frozenset(ring))
            changed[beyond] = [
                piece for other in theirs for piece in (_split_ring(other, u, v) if other is same else [other])
            ]
    groups = _group(rings, {frozenset(side) for side in _sides(path)})
    if len(groups) != 2:
        raise InvalidInput("corners", f"the loop cuts the boundary of cell {cell} into {len(groups)} pieces, not two")
    first = {side for ring in groups[0] for side in _sides(ring)}
    ahead, behind = (groups[0], groups[1]) if (path[1], path[0]) in first else (groups[1], groups[0])
    return _replace(loops, {**changed, cell: [*ahead, path], new_cell: [*behind, path[::-1]]})


def sew_cells(loops: Loops, vertices: Floats, a: int, b: int) -> Loops:
    """Join the border faces of two cells that lie in the same place: the vertices of b's faces give way to those of a's."""
    number = np.arange(len(vertices), dtype=np.int32)
    places = {}
    for ring in rings_of(loops, a):
        if _find_beyond(loops, a, ring) is None:
            places[frozenset(map(tuple, vertices[ring].tolist()))] = ring
    for ring in rings_of(loops, b):
        own = places.get(frozenset(map(tuple, vertices[ring].tolist())))
        if own is None or a == b or _find_beyond(loops, b, ring) is not None:
            continue
        by_place = {tuple(vertices[corner].tolist()): corner for corner in own}
        for corner in ring:
            number[corner] = by_place[tuple(vertices[corner].tolist())]
    if (number == np.arange(len(vertices))).all():
        raise InvalidInput("cells", f"{a} and {b} have no border faces in the same place")
    return loops._replace(vertex=number[loops.vertex])
