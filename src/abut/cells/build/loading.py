"""Environments from volume meshes: Gmsh, VTK, Medit and Abaqus files, and meshio's objects.

Cells are taken whole, in the order of the file: tetrahedra, pyramids, wedges, hexahedra (their quadrilaterals may bulge: `subdivision`) and
polyhedra; in the plane triangles, quadrilaterals and polygons. Of a mesh of the space, cells of fewer dimensions are its border, and are passed
over. Corners come in any order where that leaves no doubt (`orientation`). Vertices keep their rows, also those that no cell has.
"""

from collections.abc import Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from abut.cells.build.construction import of_shapes, polygons, polyhedra
from abut.cells.build.mesh_rows import (
    SHAPES,
    CellRows,
    as_loops,
    choose_blocks,
    pick,
    plane_points,
    read_rows,
    weld_rows,
)
from abut.cells.build.orientation import turn_polygons, turn_shapes
from abut.cells.build.regions import RegionRoles, Regions, find_regions, read_roles
from abut.cells.build.repair import find_needless
from abut.cells.build.volume_files import VolumeLike, VolumeMesh, read_volume
from abut.cells.environment import Environment
from abut.cells.map.cell_shapes import TETRAHEDRON, Shape
from abut.core import arrays
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput
from abut.core.types import IndicesLike, Number


def load(
    source: VolumeLike,
    *,
    regions: RegionRoles | None = None,
    table: str | None = None,
    weld: Number | None = None,
    flat: Literal["refuse", "drop"] = "refuse",
) -> Environment:
    """Cells from a file, or from a mesh that meshio has read.

    Gmsh (.msh), VTK (.vtk, .vtu), Medit (.mesh) and Abaqus (.inp) files are read; for others hand over `meshio.read(path)`. Needs the `mesh` extra
    (`pip install "abut[mesh]"`). Cells are numbered in the order of the file, without those that are left out. A mesh of triangles, quadrilaterals
    or polygons in a plane z = constant becomes an environment of the plane.

    Args:
        source: a path, or anything with meshio's `points`, `cells`, `cell_data`, `cell_sets` and `field_data`.
        regions: what becomes of the cells of a region, by its name or number: "free", "obstacle" or "left out"; "free" where nothing is said.
            `Environment.region` tells where each cell belongs.
        table: which table tells the regions, a name of the mesh's cell data or "cell_sets". By default Gmsh's physical groups, Abaqus' sets,
            Medit's references, or a table that is called region or material.
        weld: vertices no further from one another than this become one, the first; by default none, not even those in the same place,
            between which there is a wall.
        flat: "drop" leaves out tetrahedra without volume, where no wall comes of it; "refuse" names the first.

    Returns:
        The environment.

    Raises:
        InvalidInput: the file cannot be read, holds no cells, or a cell is not convex or does not fit, by its block and its row there.
        Unsupported: files of this kind are not read, the extra is missing, or cells are of second order or more.

    Examples:
        >>> import abut, types
        >>> corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]
        >>> mesh = types.SimpleNamespace(points=corners, cells=[("tetra", [[0, 1, 2, 3], [4, 1, 2, 3]])], cell_data={"region": [[7, 9]]})
        >>> env = abut.cells.load(mesh, regions={9: "obstacle"})
        >>> env
        Environment(2 cells, 1 obstacle)
        >>> env.region_names, env.cells_in("9").tolist()
        (('7', '9'), [1])
    """
    arrays.choice(flat, "flat", ("refuse", "drop"))
    distance = None if weld is None else arrays.scalar(weld, "weld", least=0.0)
    mesh = read_volume(source)
    dimension, chosen = choose_blocks(mesh)
    points = plane_points(mesh) if dimension == 2 else mesh.points
    rows = [read_rows(mesh, block, len(points)) for block in chosen]
    counts = [each.size for each in rows]
    named = frozenset(map(str, regions)) if isinstance(regions, Mapping) else frozenset[str]()
    found = find_regions(mesh, chosen, counts, None if table is None else _read_name(table), named, dimension)
    roles = read_roles(regions, found)
    if distance is not None:
        rows = weld_rows(mesh, points, rows, distance)
    keep = ~np.isin(found.number, [k for k, role in enumerate(roles) if role == "left out"])
    keep &= _drop_flat(mesh, points, rows, keep, flat == "drop")
    if not keep.any():
        raise InvalidInput(mesh.label("cells"), "are all left out")
    marks = np.isin(found.number, [k for k, role in enumerate(roles) if role == "obstacle"])[keep]
    env = _build(mesh, points, rows, keep, marks, dimension)
    return name_regions(env, Regions(found.number[keep], found.names, found.tags))


def _read_name(table: str) -> str:
    """The name of a table."""
    if not isinstance(table, str):
        raise InvalidInput("table", f"is a {type(table).__name__}, expected the name of a table of cells")
    return table


def name_regions(env: Environment, found: Regions) -> Environment:
    """The environment, whose cells know their regions."""
    env.interior.region[:] = found.number
    env.interior.region_names = found.names
    return env


def _drop_flat(
    mesh: VolumeMesh, points: Floats, rows: list[CellRows], keep: NDArray[np.bool_], drops: bool
) -> NDArray[np.bool_]:
    """(cells,) False for flat tetrahedra that can be left out; those that cannot are refused."""
    stays, places, first = np.ones(len(keep), np.bool_), list[Integers](), 0
    corners: list[Integers] = []
    for each in rows:
        if SHAPES.get(each.block.kind) is TETRAHEDRON:
            chosen = first + np.flatnonzero(keep[first : first + each.size])
            places.append(chosen)
            corners.append(each.corners[chosen - first])
        first += each.size
    if not places:
        return stays
    numbers = np.concatenate(places)
    flat, wall = find_needless(points, np.concatenate(corners))
    if flat.any() and (not drops or wall is not None):
        cell = int(numbers[int(np.argmax(flat)) if wall is None or not drops else wall])
        words = 'is flat (`flat="drop"` leaves such cells out)'
        if drops:
            words = "is flat, and there are cells on both sides of it: without it a wall would stand there"
        raise _at(mesh, rows, cell, words)
    stays[numbers[flat]] = False
    return stays


def _at(mesh: VolumeMesh, rows: list[CellRows], cell: int, reason: str) -> InvalidInput:
    """What is wrong with a cell, by its block and its row there."""
    block = int(np.searchsorted(np.cumsum([each.size for each in rows]), cell, side="right"))
    each, cell = rows[block], cell - sum(each.size for each in rows[:block])
    return InvalidInput(mesh.label(f"cells[{each.block.number}] ({each.block.kind})"), reason, cell)


def _build(
    mesh: VolumeMesh,
    points: Floats,
    rows: list[CellRows],
    keep: NDArray[np.bool_],
    marks: NDArray[np.bool_],
    dimension: int,
) -> Environment:
    kept, first = list[tuple[CellRows, Integers]](), 0
    for each in rows:
        chosen = np.flatnonzero(keep[first : first + each.size])
        kept.append((each, chosen))
        first += each.size
    try:
        if dimension == 2:
            loops = [loop for each, chosen in kept for loop in pick(each.corners, chosen)]
            return polygons(points, turn_polygons(points, loops), marks)
        if any(each.block.kind.startswith("polyhedron") for each, _ in kept):
            return polyhedra(points, [cell for each, chosen in kept for cell in as_loops(each, chosen)], marks)
        given: list[tuple[Shape, IndicesLike]] = []
        for each, chosen in kept:
            shape, corners = SHAPES[each.block.kind], np.ascontiguousarray(each.corners[chosen])
            given.append((shape, turn_shapes(points, shape, corners) if len(corners) else corners))
        return of_shapes(points, given, marks)
    except InvalidInput as error:
        if error.row is None:
            raise InvalidInput(mesh.label("cells"), error.reason) from error
        raise _at(mesh, rows, int(np.flatnonzero(keep)[error.row]), error.reason) from error
