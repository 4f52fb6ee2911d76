"""Faces that bulge, given the edges along which they are bent, so that a cut leaves them where they are.

A face that is not flat consists of triangles (`subdivision`). A plane that cuts it as a loop of corners would leave halves that are cut into other
triangles, and the wall would jump. So before a cut such a face falls into its triangles, which become faces of both of its cells; the halves of these
are flat but for the rounding of the new corners.
"""

import numpy as np

from abut.cells.edit.cuts.slicing import Plane
from abut.cells.edit.grafts import ROUNDED, Ring
from abut.cells.edit.interior import Interior
from abut.cells.edit.surgery import Key, Rings, refuse_known, sides_of
from abut.cells.space.tables import follow_rings
from abut.core.arrays import Floats
from abut.core.errors import InvalidInput


def pieces_in_map(inside: Interior, cell: int, ring: Ring) -> list[Ring]:
    """The faces of parts that make up a face of a cell: the face itself where it is not cut."""
    parts = inside.list_parts()[cell].astype(np.int64)
    darts, sizes = follow_rings(inside.darts.phi1, inside.fabric.faces_of(parts))
    corners = np.split(inside.darts.vertex[darts].astype(np.int64), np.cumsum(sizes)[:-1])
    own = set(ring)
    backwards = {(v, u) for u, v in sides_of(ring)}
    found = [piece for each in corners if set(piece := each.tolist()) <= own and not backwards & set(sides_of(piece))]
    inner = {side for piece in found for side in sides_of(piece)}
    outline = {(u, v) for u, v in inner if (v, u) not in inner}
    return found if outline == set(sides_of(ring)) else [ring]


def _find_bent(rings: Rings, knife: Plane, cells: list[int]) -> list[tuple[int, Ring]]:
    """The faces of more than three corners that a cut of these cells by a plane divides or gives new corners, and a cell of each."""
    found: dict[Key, tuple[int, Ring]] = {}
    crossed: set[tuple[int, int]] = set()
    for cell in cells:
        for ring in rings[cell]:
            if len(ring) > 3 and knife.passes([ring]):
                found.setdefault(frozenset(ring), (cell, ring))
            for u, v in sides_of(ring):
                if u < v and (u, v) not in crossed and knife.height(u) * knife.height(v) < 0.0:
                    crossed.add((u, v))
                    for other in rings.around(u, v):
                        for face in rings[other]:
                            if len(face) > 3 and u in face and {(u, v), (v, u)} & set(sides_of(face)):
                                found.setdefault(frozenset(face), (other, face))
    return list(found.values())


def open_bulging(inside: Interior, rings: Rings, knife: Plane, cells: list[int]) -> set[int]:
    """Let faces that bulge and are concerned by a cut fall into their triangles, in both of their cells; these cells."""
    changed: set[int] = set()
    for cell, ring in _find_bent(rings, knife, cells):
        if cell >= inside.cell_count or inside.fabric.center_of(cell) is None:
            continue
        pieces = pieces_in_map(inside, cell, ring)
        if len(pieces) == 1:
            continue
        changed |= _fall_apart(rings, cell, ring, pieces)
    return changed


def _fall_apart(rings: Rings, cell: int, ring: Ring, pieces: list[Ring]) -> set[int]:
    """Let pieces take the place of a face, on both sides; the cells there."""
    other, key = rings.beyond(cell, ring), frozenset(ring)
    sides = [(cell, pieces)] if other is None else [(cell, pieces), (other, [piece[::-1] for piece in pieces])]
    for owner, faces in sides:
        rings[owner] = [part for face in rings[owner] for part in (faces if frozenset(face) == key else [face])]
    return {owner for owner, _ in sides}


def _is_flat(corners: Floats) -> bool:
    """Whether corners lie in one plane but for what cuts round."""
    off = corners - corners.mean(axis=0)
    depth = np.abs(off @ np.linalg.svd(off)[2][2]).max()
    return bool(depth <= ROUNDED * np.abs(corners).max())


def open_along(inside: Interior, rings: Rings, cell: int, path: Ring) -> set[int]:
    """Let faces that bulge, and that a loop of a cell's corners divides, fall into their triangles; the cells that these belong to.

    The loop must follow the edges along which such a face is bent: along another line the face would be bent there afterwards, and jump. Faces that
    are flat but for rounding may be divided along any line.
    """
    changed: set[int] = set()
    for row, (u, v) in enumerate(sides_of(path)):
        faces = [ring for ring in rings[cell] if u in ring and v in ring]
        if not faces or any({u, v} == set(side) for ring in faces for side in sides_of(ring)):
            continue
        pieces = pieces_in_map(inside, cell, faces[0])
        if len(pieces) == 1 or _is_flat(inside.vertices[faces[0]]):
            continue
        if not any({u, v} == set(side) for piece in pieces for side in sides_of(piece)):
            words = f"a face of cell {cell} bulges, and is not bent from {u} to {v}: it would jump"
            raise InvalidInput("corners", f"{words}; cut along its bends, or by a plane", row)
        refuse_known(rings, cell, faces[0], pieces)
        changed |= _fall_apart(rings, cell, faces[0], pieces)
    return changed
