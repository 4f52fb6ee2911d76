"""The cells of a volume mesh as rows of corners: which blocks become cells, in how many dimensions, and kinds that are taken by another numbering."""

from typing import Any, NamedTuple

import numpy as np

from abut.cells.build.repair import weld_vertices
from abut.cells.build.volume_files import Block, VolumeMesh
from abut.cells.map.cell_shapes import HEXAHEDRON, PYRAMID, TETRAHEDRON, WEDGE
from abut.core import arrays
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput, Unsupported

SHAPES = {
    "tetra": TETRAHEDRON,
    "tetra4": TETRAHEDRON,
    "pyramid": PYRAMID,
    "wedge": WEDGE,
    "hexahedron": HEXAHEDRON,
    "voxel": HEXAHEDRON,
}
REORDERED = {"voxel": (0, 1, 3, 2, 4, 5, 7, 6), "pixel": (0, 1, 3, 2)}
"""Kinds that VTK numbers along the axes."""
FLAT_KINDS = {"triangle": 3, "quad": 4, "pixel": 4, "polygon": None}
SMALLER = ("vertex", "line")
CURVED = ("tetra", "pyramid", "wedge", "hexahedron", "triangle", "quad", "vtk_lagrange", "vtk_bezier", "vtk_quadratic")
"""How kinds begin that have further nodes on their edges."""


class CellRows(NamedTuple):
    """The cells of a block: corners, or for polyhedra loops of them."""

    block: Block
    corners: Any

    @property
    def size(self) -> int:
        """How many cells."""
        return len(self.corners)


def choose_blocks(mesh: VolumeMesh) -> tuple[int, list[Block]]:
    """The blocks that become cells, and in how many dimensions."""
    filled = [block for block in mesh.blocks if _length(mesh, block) > 0]
    volumes = [block for block in filled if block.kind in SHAPES or block.kind.startswith("polyhedron")]
    curved = [block for block in filled if block not in volumes and _is_curved(block.kind)]
    of_volume = [block for block in curved if not block.kind.lower().startswith(("triangle", "quad"))]
    flat = [block for block in filled if block.kind in FLAT_KINDS]
    for block in of_volume or ([] if volumes else curved):
        words = f"are of kind {block.kind!r}, with nodes beside the corners: cells have straight edges, write the mesh with first order"
        raise Unsupported(f"{mesh.label(f'cells[{block.number}]')} {words}")
    for block in filled:
        if block not in (*volumes, *curved, *flat) and not block.kind.startswith(SMALLER):
            raise Unsupported(f"{mesh.label(f'cells[{block.number}]')} are of kind {block.kind!r}, which is not known")
    if not volumes and not flat:
        held = ", ".join(f"{_length(mesh, block)} of kind {block.kind!r}" for block in filled) or "nothing"
        raise InvalidInput(mesh.label("cells"), f"fill neither space nor the plane: there is {held}")
    return (3, volumes) if volumes else (2, flat)


def _is_curved(kind: str) -> bool:
    return kind.lower().startswith(CURVED) and kind not in SHAPES and kind not in FLAT_KINDS


def _length(mesh: VolumeMesh, block: Block) -> int:
    try:
        return len(block.rows)
    except TypeError:
        raise InvalidInput(mesh.label("cells"), "is no block of a kind and its rows", block.number) from None


def plane_points(mesh: VolumeMesh) -> Floats:
    """The first two coordinates of a mesh without volumes."""
    points = mesh.points
    if points.shape[1] == 3:
        heights = points[:, 2]
        if len(heights) and (heights != heights[0]).any():
            words = "fill no space, and do not lie in a plane z = constant: `abut.load` reads a surface, `abut.cells.from_surface` fills it"
            raise InvalidInput(mesh.label("cells"), words)
    return arrays.frozen(np.ascontiguousarray(points[:, :2]))


def read_rows(mesh: VolumeMesh, block: Block, limit: int) -> CellRows:
    """The cells of a block, corners checked."""
    label = mesh.label(f"cells[{block.number}] ({block.kind})")
    if block.kind.startswith("polyhedron"):
        loops = [
            [
                arrays.indices(np.reshape(np.asarray(face), (-1, 1)), label, 1, limit)[:, 0]
                for face in arrays.listed(faces, label, row)
            ]
            for row, faces in enumerate(block.rows)
        ]
        return CellRows(block, loops)
    width = SHAPES[block.kind].corner_count if block.kind in SHAPES else FLAT_KINDS[block.kind]
    if block.kind == "polygon" and not isinstance(block.rows, np.ndarray):
        loops = [arrays.indices(np.reshape(np.asarray(loop), (-1, 1)), label, 1, limit)[:, 0] for loop in block.rows]
        return CellRows(block, loops)
    corners = arrays.indices(block.rows, label, width, limit)
    if block.kind in REORDERED:
        corners = corners[:, REORDERED[block.kind]]
    return CellRows(block, corners)


def weld_rows(mesh: VolumeMesh, points: Floats, rows: list[CellRows], distance: float) -> list[CellRows]:
    """The same cells, with corners that are nearly in one place made one."""
    used = np.unique(
        np.concatenate([np.concatenate([np.ravel(r) for r in _flatten(each.corners)] or [[]]) for each in rows])
    )
    chosen = weld_vertices(points, used.astype(np.int64), distance, mesh.label("points"))
    return [each._replace(corners=_renumber(each.corners, chosen)) for each in rows]


def _flatten(corners: Any) -> list[Any]:
    if isinstance(corners, np.ndarray):
        return [corners]
    return [loop for item in corners for loop in (item if isinstance(item, list) else [item])]


def _renumber(corners: Any, chosen: Integers) -> Any:
    if isinstance(corners, np.ndarray):
        return chosen[corners]
    return [_renumber(item, chosen) for item in corners]


def pick(corners: Any, chosen: Integers) -> list[Any]:
    """Some of the cells, as a list."""
    return [corners[row] for row in chosen.tolist()]


def as_loops(each: CellRows, chosen: Integers) -> list[Any]:
    """Cells of any kind as polyhedra."""
    if each.block.kind.startswith("polyhedron"):
        return pick(each.corners, chosen)
    shape = SHAPES[each.block.kind]
    return [[[row[k] for k in face] for face in shape.faces] for row in each.corners[chosen].tolist()]
