"""What a walk reads: the map's tables beside flat records of planes, one record a cell, which are a cache of the map.

Records. A cell's faces fill slots, a multiple of four for all cells alike. The record holds (nx, ny, nz, d) of each slot's inward plane,
slot beside slot, **in units of the plane's own rounding error**: n·q + d above 1 is certainly inside, below −1 certainly outside, and in
between exact signs decide. With n the rounded cross product of two edges of the face, p the sum of the magnitudes of its products, u =
2⁻⁵³, and all coordinates of q and of the corner a at most m in magnitude:

    error of n·(q − a) from n          ≤ 4u · p · 2m     (each component: two rounded differences, two products, a difference)
    rounding of d = −n·a               ≤ 3u · p · m
    rounding of n·q + d                ≤ 4u · (p·m + p·m)

which is 19 u·p·m; the unit is ERROR_UNITS u·p·m. A target beyond m in magnitude, or a plane whose unit underflows, goes to the exact signs.
Free slots hold the plane 0·q + 1e30, which is certainly inside.

Records are renewed late. A deformation marks those of the cells it moves as *stale* and makes their d NaN, of which nothing is certain; a
walk on one thread renews the stale record it meets, and before many threads walk all are renewed. So a cell that no particle visits costs
a check of its shape and no more.

Invariants: `neighbour` is the cell across a face where that is free, and BLOCKED at obstacles, at the outside and in free slots. `face` and
the map are replaced and never written into while `Moves` refer to them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.cells.map.darts import OUTSIDE, Darts, Indices, Row
from abut.core.arrays import Floats, Integers
from abut.core.handles import FlagsAt, FloatsAt, Integers32At, IntegersAt, pack, unpack
from abut.core.jit import element, inlined, kernel
from abut.core.scratch import as_array
from abut.geometry.rows import vector_at
from abut.geometry.vec import Vec3, subtract

BLOCKED = -1
NO_FACE = -1
ALWAYS_INSIDE = 1e30
ERROR_UNITS = 32.0
UNIT = 2.0**-53
SMALLEST_UNIT = 2.0**-900
SLOT_STEP = 4
CACHE_LINE = 64
"""bytes; a record begins with a line"""
REACH = 4.0
"""Records are made for coordinates up to this many times the largest of the vertices."""


class Space(NamedTuple):
    """The tables of one environment. `across` is φ3 in space and φ2 in the plane."""

    dimension: int
    vertices: Floats
    """(n,3); z is 0 in the plane"""
    phi1: Indices
    phi1_inverse: Indices
    phi2: Indices
    across: Indices
    vertex: Indices
    cell: Indices
    obstacle: NDArray[np.bool_]
    """(cells,)"""
    face: Indices
    """(cells, slots) the dart of each face whose plane is taken there, or NO_FACE"""
    neighbour: Indices
    """(cells, slots)"""
    planes: Floats
    """(cells, 4, slots)"""
    star_begin: Integers
    """(vertices,) where the cells around each vertex begin in `star`"""
    star_end: Integers
    star: Indices
    """cells around the vertices, ascending for each"""
    reach: float
    """the largest magnitude of a coordinate for which the records hold"""
    stale: NDArray[np.bool_]
    """(cells,) whether the record is out of date, and NaN"""


class PackedSpace(NamedTuple):
    """A space as sizes and addresses (`core.handles`)."""

    dimension: int
    vertex_count: int
    dart_count: int
    cell_count: int
    slot_count: int
    list_count: int
    star_count: int
    vertices: FloatsAt
    phi1: Integers32At
    phi1_inverse: Integers32At
    phi2: Integers32At
    across: Integers32At
    vertex: Integers32At
    cell: Integers32At
    obstacle: FlagsAt
    face: Integers32At
    neighbour: Integers32At
    planes: FloatsAt
    star_begin: IntegersAt
    star_end: IntegersAt
    star: Integers32At
    stale: FlagsAt


def pack_space(space: Space) -> Integers:
    """Sizes and addresses of the tables: an array that takes 0.1 µs to hand to a kernel, where the tables take 2 µs. Valid while the space lives."""
    sizes = (len(space.vertices), len(space.vertex), *space.face.shape, len(space.star_begin), len(space.star))
    return pack(PackedSpace, space.dimension, *sizes, *(table for table in space if isinstance(table, np.ndarray)))


@inlined
def unpack_space(packed: Integers, reach: float) -> Space:
    """The space again, inside a kernel."""
    table = unpack(PackedSpace, packed)
    darts, cells, slots = (table.dart_count,), (table.cell_count,), (table.cell_count, table.slot_count)
    return Space(
        table.dimension,
        as_array(table.vertices, (table.vertex_count, 3)),
        as_array(table.phi1, darts),
        as_array(table.phi1_inverse, darts),
        as_array(table.phi2, darts),
        as_array(table.across, darts),
        as_array(table.vertex, darts),
        as_array(table.cell, darts),
        as_array(table.obstacle, cells),
        as_array(table.face, slots),
        as_array(table.neighbour, slots),
        as_array(table.planes, (table.cell_count, 4, table.slot_count)),
        as_array(table.star_begin, (table.list_count,)),
        as_array(table.star_end, (table.list_count,)),
        as_array(table.star, (table.star_count,)),
        reach,
        as_array(table.stale, cells),
    )


@element
def measure_plane(a: Vec3, b: Vec3, c: Vec3, reach: float) -> tuple[float, float, float, float]:
    """The inward plane of a face in units of its error; zero where that underflows."""
    u, v = subtract(b, a), subtract(c, a)
    x1, x2 = u[1] * v[2], u[2] * v[1]
    y1, y2 = u[2] * v[0], u[0] * v[2]
    z1, z2 = u[0] * v[1], u[1] * v[0]
    size = abs(x1) + abs(x2) + abs(y1) + abs(y2) + abs(z1) + abs(z2)
    unit = ERROR_UNITS * UNIT * reach * size
    if not unit > SMALLEST_UNIT:
        return (0.0, 0.0, 0.0, 0.0)
    nx, ny, nz = (x1 - x2) / unit, (y1 - y2) / unit, (z1 - z2) / unit
    return (nx, ny, nz, -(nx * a[0] + ny * a[1] + nz * a[2]))


@inlined
def corners_of_face(space: Space, dart: Row) -> tuple[Vec3, Vec3, Vec3]:
    """Three points that span a face, in this order: the inside is where their orientation is positive.

    An edge in the plane stands for the wall that rises above it, as high as the edge is long along an axis: then all that is computed from the
    three is the same at every scale but for its exponent.
    """
    following = space.phi1[dart]
    a, b = vector_at(space.vertices, space.vertex[dart]), vector_at(space.vertices, space.vertex[following])
    if space.dimension == 2:
        return a, (a[0], a[1], max(abs(b[0] - a[0]), abs(b[1] - a[1]))), b
    return a, b, vector_at(space.vertices, space.vertex[space.phi1[following]])


@kernel
def renew_record(space: Space, cell: Row) -> None:
    """Make the record of a cell from its vertices."""
    for slot in range(space.face.shape[1]):
        dart = space.face[cell, slot]
        plane = (0.0, 0.0, 0.0, ALWAYS_INSIDE)
        if dart != NO_FACE:
            a, b, c = corners_of_face(space, dart)
            plane = measure_plane(a, b, c, space.reach)
        for k in range(4):
            space.planes[cell, k, slot] = plane[k]
    space.stale[cell] = False


@kernel
def fit_planes(space: Space, cells: Integers) -> None:
    """Renew the records of these cells."""
    for cell in cells:
        renew_record(space, cell)


@inlined
def _spoil_record(space: Space, cell: Row) -> None:
    space.stale[cell] = True
    for slot in range(space.face.shape[1]):
        space.planes[cell, 3, slot] = np.nan


@kernel
def spoil_records(space: Space, cells: Integers) -> None:
    """Mark the records of these cells as out of date."""
    for cell in cells:
        if not space.stale[cell]:
            _spoil_record(space, cell)


@kernel
def spoil_listed(
    space: Space,
    is_listed: NDArray[np.bool_],
    listed_words: NDArray[np.uint64],
    stale_words: NDArray[np.uint64],
    first: int,
) -> None:
    """Mark the records of listed cells, from word `first` of eight flags on, as out of date. Mostly nearly all are so already."""
    for word in range(len(listed_words)):
        if listed_words[word] & ~stale_words[word] != 0:
            for cell in range(8 * (first + word), 8 * (first + word) + 8):
                if is_listed[cell] and not space.stale[cell]:
                    _spoil_record(space, cell)
    for cell in range(8 * (first + len(listed_words)), min(8 * (first + len(listed_words)) + 8, len(is_listed))):
        if is_listed[cell] and not space.stale[cell]:
            _spoil_record(space, cell)


@kernel
def link_cells(space: Space, cells: Integers) -> None:
    """Renew the neighbours of these cells from the map and the obstacle marks."""
    for cell in cells:
        for slot in range(space.face.shape[1]):
            dart = space.face[cell, slot]
            space.neighbour[cell, slot] = BLOCKED
            if dart != NO_FACE:
                other = space.cell[space.across[dart]]
                if other != OUTSIDE and not space.obstacle[other]:
                    space.neighbour[cell, slot] = other


@kernel
def _count_corners(vertex: Indices, cell: Indices, last_seen: Indices, counts: Integers) -> None:
    """How many cells stand around each vertex; the darts of a cell follow one another."""
    for dart in range(len(vertex)):
        if cell[dart] != OUTSIDE and last_seen[vertex[dart]] != cell[dart]:
            last_seen[vertex[dart]] = cell[dart]
            counts[vertex[dart] + 1] += 1


@kernel
def _list_corners(vertex: Indices, cell: Indices, last_seen: Indices, fill: Integers, star: Indices) -> None:
    for dart in range(len(vertex)):
        corner = vertex[dart]
        if cell[dart] != OUTSIDE and last_seen[corner] != cell[dart]:
            last_seen[corner] = cell[dart]
            star[fill[corner]] = cell[dart]
            fill[corner] += 1


def _stars(vertex: Indices, cell: Indices, vertex_count: int) -> tuple[Integers, Indices]:
    start = np.zeros(vertex_count + 1, np.int64)
    _count_corners(vertex, cell, np.full(vertex_count, OUTSIDE, np.int32), start)
    np.cumsum(start, out=start)
    star = np.empty(int(start[-1]), np.int32)
    _list_corners(vertex, cell, np.full(vertex_count, OUTSIDE, np.int32), start[:-1].copy(), star)
    return start, star


def _allocate_records(cell_count: int, slots: int) -> Floats:
    """(cells, 4, slots), beginning with a cache line."""
    line = CACHE_LINE // 8
    memory = np.empty(cell_count * 4 * slots + line)
    skip = -(memory.ctypes.data // 8) % line
    return memory[skip : skip + cell_count * 4 * slots].reshape(cell_count, 4, slots)


def lay_out(darts: Darts, vertices: Floats, base: Indices, face_cell: Indices, obstacle: NDArray[np.bool_]) -> Space:
    """The tables of a map whose darts lie cell by cell; `base` is the dart that stands for each face, `face_cell` its cell."""
    cell_count = len(obstacle)
    first = np.searchsorted(face_cell, np.arange(cell_count))
    slot = np.arange(len(face_cell)) - first[face_cell]
    most = int(slot.max(initial=0)) + 1
    slots = -(-most // SLOT_STEP) * SLOT_STEP
    face = np.full((cell_count, slots), NO_FACE, np.int32)
    face[face_cell, slot] = base
    start, star = _stars(darts.vertex, darts.cell, len(vertices))
    space = Space(
        darts.dimension,
        vertices,
        darts.phi1,
        darts.phi1_inverse,
        darts.phi2,
        darts.phi3 if darts.dimension == 3 else darts.phi2,
        darts.vertex,
        darts.cell,
        obstacle,
        face,
        np.empty((cell_count, slots), np.int32),
        _allocate_records(cell_count, slots),
        start[:-1].copy(),
        start[1:].copy(),
        star,
        REACH * float(np.abs(vertices).max(initial=0.0)),
        np.zeros(cell_count, np.bool_),
    )
    every = np.arange(cell_count)
    fit_planes(space, every)
    link_cells(space, every)
    return space
