"""Particles put on the edges of a shape and taken away again, with whole lists at each change, and all that is new tested in fractions."""

from typing import Any

import numpy as np

from abut.cells.mobile.refining.shape import GIVEN, Shape
from cells import oracle_cells as oracle
from cells import oracle_sweeps as sweeps

SHORTEST = 0.1
STRAIGHT = 0.02
FIRST_PULL, PULL_GROWTH, LAST_PULL = 2.0**-44, 16.0, 2.0**-12


def _is_free(parts: Any, shape: Shape, edges: list[list[int]], faces: list[list[int]]) -> bool:
    if any(oracle.walk(parts, shape.position[a], shape.position[b])[0] != 1 for a, b in edges):
        return False
    solids = sweeps.Solids(parts)
    flat = [shape.position[face] for face in faces]
    return all(sweeps.is_flat(corners) or sweeps.is_free(solids, corners) for corners in flat)


def insert(parts: Any, shape: Shape, edge: int, point: Any, normal: Any, with_faces: bool) -> Shape | None:
    """The shape with a particle on an edge where that touches `point`; None where the edge is too short or no place for it is free."""
    a, b = shape.edges[edge].tolist()
    p, q = shape.position[a], shape.position[b]
    along = q - p
    length_sq = float(along @ along)
    if shape.root[edge] == GIVEN or length_sq == 0.0:
        return None
    share = float((point - p) @ along) / length_sq
    length = length_sq**0.5
    if min(share, 1.0 - share) * length < SHORTEST * shape.length[edge]:
        return None
    beside = [face.tolist() for face in shape.faces if a in face and b in face]
    opposite = [next(v for v in face if v not in (a, b)) for face in beside]
    new, pull = len(shape.cell), 0.0
    while pull <= LAST_PULL:
        x = p + share * along - pull * length * normal
        pull = max(FIRST_PULL, pull * PULL_GROWTH)
        grown = shape._replace(position=np.vstack((shape.position, x)), cell=np.append(shape.cell, -1))
        edges = [[a, new], [b, new], *([c, new] for c in opposite)]
        faces = [[a, new, b]]
        if with_faces:
            faces += [[k, new, c] for c in opposite for k in (a, b)]
        if _is_free(parts, grown, edges, faces):
            return _link(grown, edge, new, share, beside, opposite)
    return None


def _link(shape: Shape, edge: int, new: int, share: float, beside: list[list[int]], opposite: list[int]) -> Shape:
    a, b = shape.edges[edge].tolist()
    edges = shape.edges.copy()
    edges[edge, 1] = new
    edges = np.vstack((edges, [[new, b], *([c, new] for c in opposite)]))
    faces = [face for face in shape.faces.tolist() if not (a in face and b in face)]
    for face in beside:
        faces += [[new if v == b else v for v in face], [new if v == a else v for v in face]]
    root, length = shape.root[edge], shape.length[edge]
    begin, end = _place_on_root(shape, a, b)
    return shape._replace(
        edges=edges,
        faces=np.reshape(faces, (-1, 3)).astype(np.int64),
        root=np.concatenate((shape.root, [root], np.full(len(opposite), GIVEN))),
        length=np.concatenate((shape.length, [length], np.zeros(len(opposite)))),
        parents=np.vstack((shape.parents, _ends_of_root(shape, a, b))),
        ratio=np.append(shape.ratio, begin + share * (end - begin)),
    )


def _ends_of_root(shape: Shape, a: int, b: int) -> list[int]:
    """The ends of the given edge of which the edge ab is a piece."""
    for v in (a, b):
        if shape.parents[v, 0] != GIVEN:
            return shape.parents[v].tolist()
    return [a, b]


def _place_on_root(shape: Shape, a: int, b: int) -> tuple[float, float]:
    """Where a and b are on the given edge of which ab is a piece."""
    ends = _ends_of_root(shape, a, b)
    places = [shape.ratio[v] if shape.parents[v, 0] != GIVEN else float(ends.index(v)) for v in (a, b)]
    return float(places[0]), float(places[1])


def remove_loose(parts: Any, shape: Shape, is_loose: Any, with_faces: bool) -> tuple[Shape, Any]:
    """The shape without inserted particles that nothing holds, and the rows that are left of what it was."""
    kept = np.ones(len(shape.cell), np.bool_)
    for v in np.flatnonzero(is_loose & (shape.parents[:, 0] != GIVEN)).tolist():
        smaller = _without(parts, shape, v, with_faces)
        if smaller is not None:
            shape, kept[v] = smaller, False
    rows = np.flatnonzero(kept)
    number = np.cumsum(kept) - 1
    return (
        shape._replace(
            position=shape.position[rows],
            cell=shape.cell[rows],
            edges=number[shape.edges],
            faces=number[shape.faces],
            parents=np.where(shape.parents == GIVEN, GIVEN, number[shape.parents])[rows],
            ratio=shape.ratio[rows],
        ),
        rows,
    )


def _without(parts: Any, shape: Shape, v: int, with_faces: bool) -> Shape | None:
    """The shape in which the two pieces of an edge at v are one again; None where they cannot be. The row of v stays."""
    at = np.flatnonzero((shape.edges == v).any(axis=1))
    pieces = at[shape.root[at] != GIVEN]
    if len(pieces) != 2:
        return None
    u, w = (int(shape.edges[k].sum() - v) for k in pieces)
    p, x, q = shape.position[u], shape.position[v], shape.position[w]
    length_sq = float((q - p) @ (q - p))
    off = x - p - (float((x - p) @ (q - p)) / length_sq if length_sq > 0.0 else 0.0) * (q - p)
    if float(off @ off) > STRAIGHT**2 * length_sq:
        return None
    around = [face for face in shape.faces.tolist() if v in face]
    merged = [[w if k == v else k for k in face] for face in around if u in face]
    ahead = sorted(k for face in around if w in face for k in face if k not in (v, w))
    if sorted(k for face in around if u in face for k in face if k not in (u, v)) != ahead or len(around) != 2 * len(
        merged
    ):
        return None
    faces = [[u, v, w], *(merged if with_faces else [])]
    if not _is_free(parts, shape, [[u, w]], faces):
        return None
    edges = shape.edges.copy()
    edges[pieces[0]] = [u, w] if shape.edges[pieces[0], 0] == u else [w, u]
    stays = ~(edges == v).any(axis=1)
    return shape._replace(
        edges=edges[stays],
        faces=np.reshape([face for face in shape.faces.tolist() if v not in face] + merged, (-1, 3)).astype(np.int64),
        root=shape.root[stays],
        length=shape.length[stays],
    )
