"""Pairs of cells that are sewn along their faces, or opened there."""

from abut.cells.edit.cuts.slits import faces_between, open_faces
from abut.cells.edit.interior import Interior
from abut.cells.edit.surgery import common_faces, sew_cells
from abut.cells.edit.surgery_commit import perform
from abut.core.errors import InvalidInput


def sew_pairs(inside: Interior, a: list[int], b: list[int]) -> None:
    """Join cells along border faces in the same place."""
    rings, vertices = inside.open_rings(), inside.vertex_rows()
    for row, (one, other) in enumerate(zip(a, b, strict=True)):
        # Pairs before this one may have joined it already.
        if not sew_cells(rings, vertices, one, other) and not (row and common_faces(rings, one, other)):
            kind = "faces" if inside.dimension == 3 else "edges"
            raise InvalidInput("cells", f"{one} and {other} have no border {kind} in the same place")
    perform(inside, rings)


def unsew_pairs(inside: Interior, a: list[int], b: list[int]) -> None:
    """Close the path between cells along the faces they share."""
    rings, vertices = inside.open_rings(), inside.vertex_rows()
    between = faces_between(rings, a, b)
    perform(inside, rings, vertices.take(open_faces(rings, vertices, between, len(vertices))))
