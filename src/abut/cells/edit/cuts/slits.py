"""Slits: the path between cells that share faces is closed, and these become walls without thickness (Jund 2010, §3.4.1).

A wall is two faces in the same place. What tells them apart is their corners, so at least one of these must be doubled: around a corner of the
slit, cells that are no longer joined through faces at this corner get a corner of their own.
"""

from abut.cells.edit.surgery import Key, Rings, common_faces, refuse_known, rename_corners
from abut.cells.edit.vertex_rows import VertexRows
from abut.cells.space.subdivision import pieces_of
from abut.core.errors import InvalidInput


def _break_bulging(rings: Rings, vertices: VertexRows, slit: set[Key]) -> set[Key]:
    """Replace faces that are not flat by their triangles in both cells, as the two sides of a slit number their corners differently."""
    found: set[Key] = set()
    for key in slit:
        cells = rings.owners(key)
        ring = rings.keys(cells[0])[key]
        if len(ring) <= 3:
            found.add(key)
            continue
        pieces = pieces_of(vertices.take(ring), ring) if rings.dimension == 3 else [ring]
        found |= {frozenset(piece) for piece in pieces}
        if len(pieces) > 1:
            refuse_known(rings, cells[0], ring, pieces)
            for cell, own in zip(cells, (pieces, [piece[::-1] for piece in pieces]), strict=True):
                rings[cell] = [face for face in rings[cell] if frozenset(face) != key] + own
    return found


def open_faces(rings: Rings, vertices: VertexRows, slit: set[Key], first_number: int) -> list[int]:
    """Open the path between cells that share these faces, which become walls without thickness; the corners that were doubled, in the order of
    their new numbers.

    Around a corner of the slit, cells that are no longer joined through faces at this corner get corners of their own. At the rim of a slit
    they still are, and share it.
    """
    slit = _break_bulging(rings, vertices, slit)
    doubled: list[int] = []
    renamed: dict[int, dict[int, int]] = {}
    for corner in sorted({corner for face in slit for corner in face}):
        groups = _join_around(rings, corner, slit)
        for group in groups[1:]:
            for cell in group:
                renamed.setdefault(cell, {})[corner] = first_number + len(doubled)
            doubled.append(corner)
    owners = {key: rings.owners(key) for key in slit}
    for key, (a, b) in owners.items():
        sides = [frozenset(renamed.get(cell, {}).get(c, c) for c in key) for cell in (a, b)]
        if sides[0] == sides[1]:
            raise InvalidInput(
                "cells",
                f"the way between {a} and {b} cannot be opened alone: the slit has no corner inside or at the border",
            )
    for cell, number in renamed.items():
        rename_corners(rings, (cell,), number)
    for cells in owners.values():
        for cell in cells:
            rings.keep(cell)
    return doubled


def _join_around(rings: Rings, corner: int, slit: set[Key]) -> list[list[int]]:
    """The cells around a corner in groups that are joined by faces at this corner, without those of the slit."""
    owners: dict[Key, list[int]] = {}
    cells = rings.around(corner)
    for cell in cells:
        for key in rings.keys(cell):
            if corner in key and key not in slit:
                owners.setdefault(key, []).append(cell)
    root = {cell: cell for cell in cells}

    def find(cell: int) -> int:
        while root[cell] != cell:
            cell = root[cell]
        return cell

    for pair in owners.values():
        if len(pair) == 2:
            root[find(pair[1])] = find(pair[0])
    groups: dict[int, list[int]] = {}
    for cell in cells:
        groups.setdefault(find(cell), []).append(cell)
    return list(groups.values())


def faces_between(rings: Rings, a: list[int], b: list[int]) -> set[Key]:
    """All faces between pairs of cells; every pair must share one."""
    found: set[Key] = set()
    for row, (one, other) in enumerate(zip(a, b, strict=True)):
        common = common_faces(rings, one, other) if one != other else set()
        if not common:
            raise InvalidInput(
                "cells", f"{one} and {other} do not share {'a face' if rings.dimension == 3 else 'an edge'}", row
            )
        found |= common
    return found
