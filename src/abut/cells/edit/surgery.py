"""Changing the cells themselves (Jund 2010, §3.4.1): merge two that share a face, cut one along a loop of its corners, sew cells along faces that lie
in the same place, and the reverse.

A cell is a list of rings: the loops of its faces in space, its one outline in the plane. `Rings` tells the rings of any cell and collects what
changes; `grafts` then makes the parts anew. Only the cells concerned and those around their corners are ever asked for.
"""

import itertools
from collections.abc import Callable, Iterable

from abut.cells.edit.grafts import Ring
from abut.cells.edit.vertex_rows import VertexRows
from abut.core.errors import InvalidInput

Key = frozenset[int]


class Rings:
    """The cells of an environment as rings of corners, with changes that have not been made yet."""

    def __init__(
        self, dimension: int, rings_of: Callable[[int], list[Ring]], cells_around: Callable[[int], list[int]]
    ) -> None:
        self.dimension = dimension
        self._rings_of, self._cells_around = rings_of, cells_around
        self.changed: dict[int, list[Ring]] = {}
        self._read: dict[int, list[Ring]] = {}
        """Of cells that have been asked for: the same few are, again and again."""
        self._corners: dict[int, set[int]] = {}
        self._keys: dict[int, dict[Key, Ring]] = {}
        self._near: dict[int, set[int]] = {}
        """The cells around corners that have been asked for, kept up to date."""
        self._arrived: dict[int, set[int]] = {}
        """Cells that have got a corner which has not been asked for."""

    def __getitem__(self, cell: int) -> list[Ring]:
        if cell not in self._read:
            self._read[cell] = self._rings_of(cell)
        return self._read[cell]

    def __setitem__(self, cell: int, rings: list[Ring]) -> None:
        before = self._corners.pop(cell, None)
        if before is None:
            before = self.corners(cell) if cell in self._read else ()
        self.changed[cell] = self._read[cell] = rings
        self._corners.pop(cell, None)
        self._keys.pop(cell, None)
        now = self.corners(cell)
        for corner in before:
            if corner not in now and corner in self._near:
                self._near[corner].discard(cell)
        for corner in now:
            if corner in self._near:
                self._near[corner].add(cell)
            else:
                self._arrived.setdefault(corner, set()).add(cell)

    def corners(self, cell: int) -> set[int]:
        """The corners of a cell."""
        if cell not in self._corners:
            self._corners[cell] = {corner for ring in self[cell] for corner in ring}
        return self._corners[cell]

    def faces(self, cell: int) -> list[Ring]:
        """Loops of corners in space, pairs of them in the plane."""
        if self.dimension == 3:
            return self[cell]
        return [list(side) for ring in self[cell] for side in sides_of(ring)]

    def keys(self, cell: int) -> dict[Key, Ring]:
        """The faces of a cell by their corners."""
        if cell not in self._keys:
            self._keys[cell] = {frozenset(face): face for face in self.faces(cell)}
        return self._keys[cell]

    def around(self, corner: int, *others: int) -> list[int]:
        """The cells that have all these corners."""
        found = self._around(corner)
        if others:
            found = found.intersection(*map(self._around, others))
        return sorted(found)

    def _around(self, corner: int) -> set[int]:
        if corner not in self._near:
            known = {*self._cells_around(corner), *self._arrived.pop(corner, ())}
            self._near[corner] = {cell for cell in known if corner in self.corners(cell)}
        return self._near[corner]

    def owners(self, face: Iterable[int]) -> list[int]:
        """The cells that have this face."""
        key = frozenset(face)
        return [cell for cell in self.around(*key) if key in self.keys(cell)]

    def beyond(self, cell: int, face: Iterable[int]) -> int | None:
        """The other cell that has this face."""
        return next((other for other in self.owners(face) if other != cell), None)

    def keep(self, cell: int) -> None:
        """Let a cell take part in the change as it is."""
        self[cell] = self[cell]


def sides_of(ring: Ring) -> list[tuple[int, int]]:
    """The edges of a ring, in its direction."""
    return list(zip(ring, ring[1:] + ring[:1], strict=True))


def common_faces(rings: Rings, a: int, b: int) -> set[Key]:
    """The faces between two cells."""
    return rings.keys(a).keys() & rings.keys(b).keys()


def merge_cells(rings: Rings, a: int, b: int) -> None:
    """Take away the faces between two cells; what is left of b becomes part of a."""
    common = common_faces(rings, a, b) if a != b else set()
    if not common:
        raise InvalidInput("cells", f"{a} and {b} do not share {'a face' if rings.dimension == 3 else 'an edge'}")
    left = [face for face in rings.faces(a) + rings.faces(b) if frozenset(face) not in common]
    rings[a], rings[b] = (left if rings.dimension == 3 else [_chain(left, a)]), []


def _chain(sides: list[Ring], cell: int) -> Ring:
    """The outline that directed edges form."""
    following = {side[0]: side[1] for side in sides}
    ring = [sides[0][0]]
    while (corner := following[ring[-1]]) != ring[0]:
        ring.append(corner)
    if len(ring) != len(sides) or len(following) != len(sides):
        raise InvalidInput("cells", f"cell {cell} would have more than one outline")
    return ring


def split_ring(ring: Ring, u: int, v: int) -> list[Ring]:
    """The two parts of a ring on either side of the line between two of its corners."""
    k = ring.index(u)
    turned = ring[k:] + ring[:k]
    end = turned.index(v)
    return [turned[: end + 1], [*turned[end:], u]]


def refuse_known(rings: Rings, cell: int, ring: Ring, pieces: Iterable[Ring]) -> None:
    """Refuse to cut a face of a cell into pieces along an edge that is there already.

    Edges and faces are told apart by their corners. Where the two sides of a slit share both ends of a cut, on the rim, it would be one edge of
    both, and a piece with such corners alone one face: the wall would be open there. Or the cell itself has the edge: then it would be flat.
    """
    rim = {frozenset(side) for side in sides_of(ring)}
    for edge in sorted(
        {tuple(sorted(side)) for piece in pieces for side in sides_of(piece) if frozenset(side) not in rim}
    ):
        for other in rings.around(*edge):
            if any(set(edge) == set(side) for face in rings[other] for side in sides_of(face)):
                words = f"a face of cell {cell} would be cut from {edge[0]} to {edge[1]}, where cell {other} has an edge already"
                raise InvalidInput("cells", f"{words}: nothing keeps them apart there")


def _split_face(rings: Rings, cell: int, ring: Ring, u: int, v: int) -> None:
    """Replace a face of a volume by two, on both sides."""
    beyond = rings.beyond(cell, ring)
    refuse_known(rings, cell, ring, split_ring(ring, u, v))
    key = frozenset(ring)
    for owner in (cell,) if beyond is None else (cell, beyond):
        rings[owner] = [
            piece for face in rings[owner] for piece in (split_ring(face, u, v) if frozenset(face) == key else [face])
        ]


def _group(faces: list[Ring], seams: set[Key]) -> list[list[Ring]]:
    """Faces that are joined by edges other than the seams."""
    owners: dict[Key, list[int]] = {}
    for number, ring in enumerate(faces):
        for side in sides_of(ring):
            owners.setdefault(frozenset(side), []).append(number)
    group = list(range(len(faces)))
    for edge, numbers in owners.items():
        if edge not in seams:
            for one, other in itertools.pairwise(numbers):
                old, new = group[one], group[other]
                group = [new if number == old else number for number in group]
    return [
        [ring for ring, number in zip(faces, group, strict=True) if number == chosen] for chosen in dict.fromkeys(group)
    ]


def cut_cell(rings: Rings, cell: int, path: Ring, new_cell: int) -> None:
    """Divide a cell by a face through some of its corners, in order; the part to which the loop runs clockwise gets the new number.

    In the plane the path is two corners, and the part to the right of the line between them gets the new number.
    """
    own = {corner for ring in rings[cell] for corner in ring}
    for row, corner in enumerate(path):
        if corner not in own:
            raise InvalidInput("corners", f"vertex {corner} is not a corner of cell {cell}", row)
    if rings.dimension == 2:
        _cut_polygon(rings, cell, path, new_cell)
        return
    for row, (u, v) in enumerate(sides_of(path)):
        if any({u, v} == set(side) for ring in rings[cell] for side in sides_of(ring)):
            continue
        ring = next((ring for ring in rings[cell] if u in ring and v in ring), None)
        if ring is None:
            raise InvalidInput("corners", f"no face of cell {cell} holds both {u} and {v}", row)
        _split_face(rings, cell, ring, u, v)
    groups = _group(rings[cell], {frozenset(side) for side in sides_of(path)})
    if any(len(group) == 1 and frozenset(group[0]) == frozenset(path) for group in groups):
        raise InvalidInput("corners", f"run around a face of cell {cell}: nothing would be cut off")
    if len(groups) != 2:
        raise InvalidInput("corners", f"the loop cuts the boundary of cell {cell} into {len(groups)} pieces, not two")
    first = {side for ring in groups[0] for side in sides_of(ring)}
    ahead, behind = (groups[0], groups[1]) if (path[1], path[0]) in first else (groups[1], groups[0])
    rings[cell], rings[new_cell] = [*ahead, path], [*behind, path[::-1]]


def _cut_polygon(rings: Rings, cell: int, path: Ring, new_cell: int) -> None:
    ring, (u, v) = rings[cell][0], path
    if any({u, v} == set(side) for side in sides_of(ring)):
        raise InvalidInput("corners", f"{u} and {v} are joined by an edge of cell {cell} already")
    right, left = split_ring(ring, u, v)
    rings[cell], rings[new_cell] = [left], [right]


def _gather_pieces(owner: dict[tuple[int, int], Ring], ring: Ring) -> list[Ring]:
    """The pieces of a face: those at its edges, and from each on across all its other edges. Their corners do not tell, as two faces of a cell may
    have three in common."""
    rim, found = set(sides_of(ring)), list[Ring]()
    waiting = [owner[side] for side in sides_of(ring)]
    while waiting:
        piece = waiting.pop()
        if piece not in found:
            found.append(piece)
            waiting += [owner[v, u] for u, v in sides_of(piece) if (u, v) not in rim]
    return found


def split_cell(rings: Rings, cell: int, parts: list[list[Ring]], center: int, first_cell: int) -> list[int]:
    """Let the parts of a cell become cells; their numbers, the cell's own first. The faces of the cell that were cut are so on both sides now."""
    pieces = [ring for part in parts for ring in part if center not in ring]
    owner = {side: piece for piece in pieces for side in sides_of(piece)}
    for ring in rings[cell]:
        own = _gather_pieces(owner, ring)
        if len(own) > 1:
            refuse_known(rings, cell, ring, own)
        beyond = rings.beyond(cell, ring) if len(own) > 1 else None
        if beyond is not None:
            kept = [face for face in rings[beyond] if frozenset(face) != frozenset(ring)]
            rings[beyond] = kept + [piece[::-1] for piece in own]
    numbers = [cell, *range(first_cell, first_cell + len(parts) - 1)]
    for number, part in zip(numbers, parts, strict=True):
        rings[number] = part
    return numbers


def rename_corners(rings: Rings, cells: Iterable[int], number: dict[int, int]) -> None:
    """Let corners of some cells be others."""
    for cell in cells:
        rings[cell] = [[number.get(corner, corner) for corner in ring] for ring in rings[cell]]


def sew_cells(rings: Rings, vertices: VertexRows, a: int, b: int) -> bool:
    """Join the border faces of two cells that lie in the same place: the vertices of b's faces give way to those of a's. Whether there were any."""
    places: dict[frozenset[tuple[float, ...]], Ring] = {}
    for ring in rings.faces(a):
        if rings.beyond(a, ring) is None:
            places[frozenset(tuple(vertices[c].tolist()) for c in ring)] = ring
    number: dict[int, int] = {}
    for ring in rings.faces(b):
        own = places.get(frozenset(tuple(vertices[c].tolist()) for c in ring))
        if own is None or a == b or rings.beyond(b, ring) is not None:
            continue
        by_place = {tuple(vertices[corner].tolist()): corner for corner in own}
        number |= {corner: by_place[tuple(vertices[corner].tolist())] for corner in ring}
    number = {corner: other for corner, other in number.items() if corner != other}
    if not number:
        return False
    # Cells around the corners of a take part: their border faces may now be those of cells around b.
    concerned = {cell for pair in number.items() for corner in pair for cell in rings.around(corner)}
    rename_corners(rings, sorted(concerned), number)
    return True
