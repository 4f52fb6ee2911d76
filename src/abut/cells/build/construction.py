"""Environments from cells: polygons in the plane, tetrahedra, hexahedra, other shapes and general polyhedra in space, and the channel of unit cubes.

Each function sews the cells where they share a face, checks every one by exact signs, and refuses the first bad one by its number:
inverted, flat or non-convex cells, faces of three cells, edges of a polyhedron with one face only (dangling faces), and cells that hold a vertex
which is no corner of theirs: inside, then cells overlap, or on the border (a hanging node), then cells touch without being joined; and faces that
are shared in part (`misfits`).
Faces that are not exactly planar are no error (`subdivision`). Cells may touch where each has corners of its own in the same places; there is a
wall then. Not found: cells that overlap while no vertex of either lies in the other.
"""

import bisect
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from abut.cells.arguments import read_items, read_mask, read_numbers
from abut.cells.build.orientation import find_turned, turn_tetrahedra
from abut.cells.edit.interior import Interior, Recipe
from abut.cells.environment import Environment
from abut.cells.map.cell_shapes import HEXAHEDRON, PYRAMID, TETRAHEDRON, WEDGE, Shape, concatenate, loops_of
from abut.cells.map.darts import Indices, Loops
from abut.cells.map.sewing import sew_edges, sew_polygons, sew_volumes
from abut.cells.space import convexity
from abut.cells.space.misfits import refuse_shared_parts, refuse_strangers
from abut.cells.space.records import lay_out
from abut.cells.space.subdivision import Centers, subdivide
from abut.cells.space.tables import Tables
from abut.core import arrays
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput
from abut.core.types import FlagsLike, IndicesLike, Number, PointsLike

MOST_DARTS = 2**31 - 1


def tetrahedra(vertices: PointsLike, tetrahedra: IndicesLike, obstacle: FlagsLike | None = None) -> Environment:
    """Space cut into tetrahedra.

    Args:
        vertices: (n,3) coordinates.
        tetrahedra: (m,4) corners, in any order: SciPy's Delaunay hands out both orientations.
        obstacle: (m,) which cells cannot be entered; by default none. The outside never can.

    Returns:
        The environment; its cells are numbered as the rows.

    Raises:
        InvalidInput: a cell is flat, or cells do not fit together; by its number.

    Examples:
        >>> import abut
        >>> corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]
        >>> abut.cells.tetrahedra(corners, [[0, 1, 2, 3], [1, 4, 2, 3]], obstacle=[False, True])
        Environment(2 cells, 1 obstacle)
    """
    points = arrays.points(vertices, "vertices", keep=True)
    return of_shapes(points, [(TETRAHEDRON, tetrahedra)], obstacle)


def hexahedra(vertices: PointsLike, hexes: IndicesLike, obstacle: FlagsLike | None = None) -> Environment:
    """Space cut into hexahedra, whose faces need not be exactly planar.

    Args:
        vertices: (n,3) coordinates.
        hexes: (m,8) corners in VTK's order: the lower four anticlockwise seen from above, then the upper four above them.
        obstacle: (m,) which cells cannot be entered; by default none. The outside never can.

    Returns:
        The environment; its cells are numbered as the rows.

    Raises:
        InvalidInput: a cell is inverted, flat or not star-shaped, or cells do not fit together; by its number.

    Examples:
        >>> import abut
        >>> corners = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 2]]
        >>> abut.cells.hexahedra(corners, [range(8)])
        Environment(1 cell, 0 obstacles)
    """
    points = arrays.points(vertices, "vertices", keep=True)
    return of_shapes(points, [(Shape("hexes", 8, HEXAHEDRON.faces), hexes)], obstacle)


def mixed(
    vertices: PointsLike,
    *,
    tetrahedra: IndicesLike = (),
    pyramids: IndicesLike = (),
    wedges: IndicesLike = (),
    hexahedra: IndicesLike = (),
    obstacle: FlagsLike | None = None,
) -> Environment:
    """Space cut into cells of several shapes, corners in VTK's order.

    Cells are numbered shape by shape, in the order of the arguments.

    Args:
        vertices: (n,3) coordinates.
        tetrahedra, pyramids, wedges, hexahedra: (k,4), (k,5), (k,6) and (k,8) corners; those of tetrahedra in any order.
        obstacle: (cells,) which cells cannot be entered; by default none. The outside never can.

    Returns:
        The environment.

    Raises:
        InvalidInput: a cell is inverted, flat or not star-shaped, or cells do not fit together; by its number.

    Examples:
        >>> import abut
        >>> corners = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 1], [0.5, 0.5, -1]]
        >>> abut.cells.mixed(corners, pyramids=[[0, 1, 2, 3, 4], [3, 2, 1, 0, 5]])
        Environment(2 cells, 0 obstacles)
    """
    points = arrays.points(vertices, "vertices", keep=True)
    given = [(TETRAHEDRON, tetrahedra), (PYRAMID, pyramids), (WEDGE, wedges), (HEXAHEDRON, hexahedra)]
    return of_shapes(points, given, obstacle)


def polyhedra(
    vertices: PointsLike, cells: Iterable[Iterable[IndicesLike]], obstacle: FlagsLike | None = None
) -> Environment:
    """Space cut into convex polyhedra, given by their faces.

    The faces of a cell all run anticlockwise seen from outside, or all clockwise; both are accepted.

    Args:
        vertices: (n,3) coordinates.
        cells: for each cell its faces, for each face the loop of its corners.
        obstacle: (cells,) which cells cannot be entered; by default none. The outside never can.

    Returns:
        The environment.

    Raises:
        InvalidInput: a cell is flat, not closed or not star-shaped, or cells do not fit together; by its number.

    Examples:
        >>> import abut
        >>> corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
        >>> abut.cells.polyhedra(corners, [[[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]])
        Environment(1 cell, 0 obstacles)
    """
    points = arrays.points(vertices, "vertices", keep=True)
    loops = _read_polyhedra(cells, len(points))
    count = int(loops.cell[-1]) + 1 if len(loops.cell) else 0
    loops = _turn_inwards(points, loops, count)
    phi2 = sew_edges(loops, "cells")
    first = convexity.faces_of_cells(loops, count)

    def rings(cell: int) -> list[list[int]]:
        return [ring_of(loops, face) for face in range(first[cell], first[cell + 1])]

    return _of_loops(points, loops, phi2, count, obstacle, Recipe(rings, "cells"))


def polygons(
    vertices: PointsLike, polygons: IndicesLike | Sequence[IndicesLike], obstacle: FlagsLike | None = None
) -> Environment:
    """The plane cut into convex polygons.

    Args:
        vertices: (n,2) coordinates.
        polygons: (m,k) corners, or a list of loops of any lengths; anticlockwise.
        obstacle: (m,) which cells cannot be entered; by default none. The outside never can.

    Returns:
        The environment; its cells are numbered as the polygons.

    Raises:
        InvalidInput: a polygon is not convex or runs clockwise, or polygons do not fit together; by its number.

    Examples:
        >>> import abut
        >>> corners = [[0, 0], [1, 0], [1, 1], [0, 1], [2, 0.5]]
        >>> abut.cells.polygons(corners, [[0, 1, 2, 3], [1, 4, 2]])
        Environment(2 cells, 0 obstacles, in the plane)
    """
    points = arrays.points(vertices, "vertices", dimensions=2, keep=True)
    loops = _read_polygons(polygons, len(points))
    convexity.refuse(convexity.judge_polygons(points, loops), loops.cell, "polygons")
    marks = _obstacles(obstacle, len(loops.cell))
    darts = sew_polygons(loops, "polygons")
    raised = np.column_stack((points, np.zeros(len(points))))
    border = len(loops.vertex)
    space = lay_out(darts, raised, np.arange(border, dtype=np.int32), darts.cell[:border], marks.copy())
    nothing = Centers(np.empty(0, np.int64), np.zeros(1, np.int64), np.empty(0, np.int32))
    recipe = Recipe(lambda cell: [ring_of(loops, cell)], "polygons")
    return _refuse_strangers(
        Environment(Interior(Tables(darts, space, np.arange(len(marks)), nothing), points, marks, recipe))
    )


def channel(nx: Number, ny: Number, nz: Number, obstacle: FlagsLike | None = None) -> Environment:
    """Unit cubes that fill [0,nx]×[0,ny]×[0,nz]; cube (i, j, k) is cell (i·ny + j)·nz + k.

    Args:
        nx, ny, nz: how many cubes there are along each axis.
        obstacle: (nx·ny·nz,) which cells cannot be entered; by default none. The outside never can.

    Returns:
        The environment.

    Examples:
        >>> import abut
        >>> abut.cells.channel(5, 5, 28)
        Environment(700 cells, 0 obstacles)
    """
    sizes = [arrays.count(n, name, least=1, most=10**6) for n, name in ((nx, "nx"), (ny, "ny"), (nz, "nz"))]
    if np.prod([float(n) for n in sizes]) > MOST_DARTS / 24:
        raise InvalidInput(
            "nx", f"{sizes[0]}·{sizes[1]}·{sizes[2]} cells have more darts than 32-bit numbers can count"
        )
    axes = [np.arange(n + 1, dtype=np.float64) for n in sizes]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    i, j, k = np.meshgrid(*[np.arange(n) for n in sizes], indexing="ij")
    corner = ((i * (sizes[1] + 1) + j) * (sizes[2] + 1) + k).ravel()
    step_x, step_y = (sizes[1] + 1) * (sizes[2] + 1), sizes[2] + 1
    lower = np.array([0, step_x, step_x + step_y, step_y])
    hexes = corner[:, np.newaxis] + np.concatenate((lower, lower + 1))
    return hexahedra(arrays.frozen(points), hexes, obstacle)


def _obstacles(obstacle: FlagsLike | None, count: int) -> NDArray[np.bool_]:
    if obstacle is None:
        return np.zeros(count, np.bool_)
    return read_mask(obstacle, "obstacle", count).copy()


def of_shapes(points: Floats, given: list[tuple[Shape, IndicesLike]], obstacle: FlagsLike | None) -> Environment:
    """Cells of several shapes, numbered as they are given."""
    rows: list[tuple[Shape, Indices]] = []
    name, count = given[0][0].name if len(given) == 1 else "cells", 0
    for shape, corners in given:
        checked = arrays.indices(corners, shape.name, shape.corner_count, len(points))
        _refuse_repeated(checked, shape.name)
        checked = turn_tetrahedra(points, checked) if shape is TETRAHEDRON else checked
        rows.append((shape, checked.astype(np.int32)))
        count += len(checked)

    parts: list[tuple[Loops, Indices]] = []
    firsts: list[int] = []
    for shape, corners in rows:
        firsts.append(sum(len(earlier) for _, earlier in rows[: len(firsts)]))
        parts.append(loops_of(shape, corners, firsts[-1]))

    def rings(cell: int) -> list[list[int]]:
        kind = bisect.bisect_right(firsts, cell) - 1
        shape, corners = rows[kind]
        row = corners[cell - firsts[kind]].tolist()
        return [[row[k] for k in face] for face in shape.faces]

    loops, phi2 = parts[0] if len(parts) == 1 else concatenate(parts)
    return _of_loops(points, loops, phi2, count, obstacle, Recipe(rings, name))


def ring_of(loops: Loops, face: int) -> list[int]:
    """The corners of a face."""
    return loops.vertex[loops.start[face] : loops.start[face + 1]].tolist()


def _of_loops(
    points: Floats, loops: Loops, phi2: Indices, count: int, obstacle: FlagsLike | None, recipe: Recipe
) -> Environment:
    if count == 0:
        raise InvalidInput(recipe.name, "holds no cells")
    marks = _obstacles(obstacle, count)
    numbers = np.arange(count, dtype=np.int32)
    shapes = convexity.judge_cells(points, loops, count)
    convexity.refuse(shapes.verdict, numbers, recipe.name)
    parts = subdivide(points, loops, phi2, shapes, numbers, recipe.name)
    darts = sew_volumes(parts.loops, parts.phi2, recipe.name)
    cell = parts.cell.astype(np.int64)
    refuse_shared_parts(darts, cell, loops, recipe.name)
    space = lay_out(darts, np.array(parts.vertices), parts.base, parts.loops.cell, marks[cell])
    return _refuse_strangers(Environment(Interior(Tables(darts, space, cell, parts.centers), points, marks, recipe)))


def _refuse_strangers(env: Environment) -> Environment:
    """The environment, whose cells fit together."""
    refuse_strangers(
        env.interior.space, env.interior.located(), len(env.vertices), env.part_cell, env.interior.recipe.name
    )
    return env


def _refuse_repeated(rows: Integers, name: str) -> None:
    ordered = np.sort(rows, axis=1)
    repeated = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    if repeated.any():
        raise InvalidInput(name, "has a corner twice", int(np.argmax(repeated)))


def _read_loop(loop: IndicesLike, name: str, row: int, limit: int) -> Integers:
    try:
        corners = read_numbers(loop, name, limit)
    except InvalidInput as error:
        raise InvalidInput(name, error.reason, row) from None
    if len(corners) < 3:
        raise InvalidInput(name, f"has a face of {len(corners)} corners", row)
    if len(np.unique(corners)) != len(corners):
        raise InvalidInput(name, "has a face that passes a corner twice", row)
    return corners


def _read_polygons(polygons: IndicesLike | Sequence[IndicesLike], limit: int) -> Loops:
    if isinstance(polygons, np.ndarray):
        rows = arrays.indices(polygons, "polygons", None, limit)
        if len(rows) and rows.shape[1] < 3:
            raise InvalidInput("polygons", f"have {rows.shape[1]} corners", 0)
        _refuse_repeated(rows, "polygons")
        loops: list[Integers] = list(rows)
    else:
        given = enumerate(read_items(polygons, "polygons"))
        loops = [_read_loop(loop, "polygons", row, limit) for row, loop in given]
    if not loops:
        raise InvalidInput("polygons", "holds no cells")
    start = np.cumsum([0, *(len(loop) for loop in loops)])
    return Loops(np.concatenate(loops).astype(np.int32), start, np.arange(len(loops), dtype=np.int32))


def _read_polyhedra(cells: Iterable[Iterable[IndicesLike]], limit: int) -> Loops:
    loops: list[Integers] = []
    owners: list[int] = []
    for row, faces in enumerate(read_items(cells, "cells")):
        rings = [_read_loop(face, "cells", row, limit) for face in read_items(faces, "cells", row)]
        if len(rings) < 4:
            raise InvalidInput("cells", f"has {len(rings)} faces", row)
        loops += rings
        owners += [row] * len(rings)
    start = np.cumsum([0, *(len(loop) for loop in loops)])
    vertex = np.concatenate(loops).astype(np.int32) if loops else np.empty(0, np.int32)
    return Loops(vertex, start, np.array(owners, np.int32))


def _turn_inwards(points: Floats, loops: Loops, count: int) -> Loops:
    """Reverse the faces of cells that run clockwise seen from inside."""
    turned = find_turned(points, loops, count)
    vertex = loops.vertex.copy()
    for face in np.flatnonzero(turned[loops.cell]).tolist():
        begin, end = loops.start[face], loops.start[face + 1]
        vertex[begin:end] = loops.vertex[begin:end][::-1]
    return loops._replace(vertex=vertex)
