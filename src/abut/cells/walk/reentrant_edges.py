"""Where the free space is not locally convex: edges of obstacles that stick out. A swept edge or face can hit something only near these.

Theorem (Tietze, Nakajima 1928): a closed, connected set that is convex near each of its points is convex. Let p, g, q be points of which the
segments pg and pq are free, and let the box about the three hold no point near which the union F of the closed free cells is not convex. Then
F within the triangle pgq is convex near each of its points; the part of it that holds the two segments is convex, and is the triangle. So
nothing that an edge sweeps there need be tested, and likewise no tetrahedron of a face whose edges are free. The floor of a hall and its
corners are no such places, however many faces they have.

F is locally convex at an edge of the map if no wall (a face between a free cell and an obstacle or nothing) lies there, or if the free cells
around it follow one another from one wall to another with an angle of at most a straight one: signs of determinants. It is at a vertex of
such edges if the free cells there are connected through faces. In the plane vertices take the place of edges. All other edges and vertices
are marked in voxels, those that they touch and a little more; a box asks for the voxels it touches. Bits of a word lie along z.

The voxels are made anew when the environment has changed, not before they have been asked for ASKED times since.
"""

from typing import NamedTuple

import numpy as np

from abut.cells.map.darts import Row
from abut.cells.space.predicates import face_holds, has_corner, side_of_face
from abut.cells.space.records import BLOCKED, NO_FACE, Space
from abut.cells.walk.segment_walk import COUNT, Front, begin, make_fronts, push
from abut.core.arrays import Floats, Integers
from abut.core.jit import inlined, integer, kernel
from abut.geometry.predicates import orient_2d
from abut.geometry.rows import vector_at
from abut.geometry.vec import Vec3, drop_axis, lerp

ASKED = 2
BITS = 32
MOST_VOXELS = 2**23
"""2 MiB of words."""
VOXELS_AN_EDGE = 4.0
FEWEST_VOXELS = 64.0
"""Voxels along the longest side where only vertices are marked."""
MOST_ROWS = 64
"""Boxes over more rows of voxels than this are taken to meet a mark."""
PADDING = 2.0**-20
"""Of a voxel: how far a mark reaches beyond what it stands for. Points between two ends are off by 2⁻⁵⁰ of the coordinates."""
SMALLEST = 2.0**-28
"""Of the largest coordinate: no voxel is smaller, so that rounding is less than the padding."""


class Voxels(NamedTuple):
    """Voxels that a reentrant edge or vertex touches."""

    x: float
    """the lowest corner"""
    y: float
    z: float
    per_unit: float
    """voxels per unit of length"""
    depth: int
    """voxels along z"""
    words: Integers
    """(nx, ny, words) bit k of word w is voxel 32 w + k"""


class Remembered:
    """The voxels of an environment as it is now, once they have been made."""

    def __init__(self) -> None:
        self._times_asked, self._voxels = 0, None

    def find(self, space: Space) -> Voxels | None:
        """The voxels; None while nobody has asked often enough since the environment changed."""
        self._times_asked += 1
        if self._voxels is None and self._times_asked >= ASKED:
            self._voxels = build_voxels(space)
        return self._voxels


NONE_KNOWN = Voxels(0.0, 0.0, 0.0, 1.0, 1, np.zeros((1, 1, 1), np.int64))
"""In place of voxels where these are not asked."""


@kernel
def _is_wall(space: Space, dart: Row) -> bool:
    beyond = space.cell[space.across[dart]]
    return bool(beyond < 0 or space.obstacle[beyond])


@kernel
def _is_opposite(space: Space, a: Row, b: Row, first: Row, last: Row) -> bool:
    """Whether two points of a plane through the edge ab (of a line through a in the plane) lie on opposite sides of it."""
    start, end = vector_at(space.vertices, a), vector_at(space.vertices, b)
    x, y = vector_at(space.vertices, first), vector_at(space.vertices, last)
    for axis in range(3):
        if space.dimension == 2:
            if (x[axis] < start[axis] and y[axis] > start[axis]) or (x[axis] > start[axis] and y[axis] < start[axis]):
                return True
        else:
            side = orient_2d(drop_axis(start, axis), drop_axis(end, axis), drop_axis(x, axis))
            if side * orient_2d(drop_axis(start, axis), drop_axis(end, axis), drop_axis(y, axis)) < 0:
                return True
    return False


@kernel
def _is_convex_at(space: Space, wall: Row) -> bool:
    """Whether F is convex near the open edge of a wall's dart (in the plane: near its first vertex)."""
    a, b = space.vertex[wall], space.vertex[space.phi1[wall]]
    in_plane, here, passed = space.dimension == 2, wall, 0
    while True:
        passed += 1
        face = space.phi1_inverse[here] if in_plane else space.phi2[here]
        far = space.vertex[face if in_plane else space.phi1[space.phi1[face]]]
        side = side_of_face(space, wall, vector_at(space.vertices, far))
        if side < 0:
            return False
        if _is_wall(space, face):
            near = b if in_plane else space.vertex[space.phi1[space.phi1[wall]]]
            if side == 0 and not _is_opposite(space, a, b, near, far):
                return False
            break
        here = space.across[face]
    count = 0
    for k in range(space.star_begin[a], space.star_end[a]):
        cell = space.star[k]
        if not space.obstacle[cell] and (in_plane or has_corner(space, cell, b)):
            count += 1
    return count == passed


@kernel
def _is_connected_at(space: Space, front: Front, vertex: Row) -> bool:
    """Whether the free cells around a vertex are connected through faces at it."""
    free, done = 0, 0
    begin(front)
    for k in range(space.star_begin[vertex], space.star_end[vertex]):
        if not space.obstacle[space.star[k]]:
            free += 1
            if free == 1:
                push(front, space.star[k])
    while done < front.state[COUNT]:
        cell = front.queue[done]
        done += 1
        for slot in range(space.face.shape[1]):
            beyond = space.neighbour[cell, slot]
            if beyond != BLOCKED and face_holds(space, integer(space.face[cell, slot]), vertex):
                push(front, beyond)
    return done >= free


@kernel
def _list_reentrant(space: Space, fronts: Front, walls: Integers, corners: Integers, found: Integers) -> int:
    """Pairs of vertices: reentrant edges at the walls, and of their corners those (twice) that alone are. The table gets what it holds; how many."""
    front, count = Front(fronts.seen[0], fronts.queue[0], fronts.state[0]), 0
    for wall in walls:
        dart = wall
        while True:
            if not _is_convex_at(space, dart):
                if count < len(found):
                    found[count, 0] = space.vertex[dart]
                    found[count, 1] = space.vertex[dart if space.dimension == 2 else space.phi1[dart]]
                count += 1
            dart = space.phi1[dart]
            if dart == wall or space.dimension == 2:
                break
    for vertex in corners:
        if space.dimension == 3 and not _is_connected_at(space, front, vertex):
            if count < len(found):
                found[count, 0] = found[count, 1] = vertex
            count += 1
    return count


@kernel
def _mark(space: Space, found: Integers, voxels: Voxels) -> None:
    nx, ny, _ = voxels.words.shape
    origin, sizes = (voxels.x, voxels.y, voxels.z), (nx, ny, voxels.depth)
    for row in range(len(found)):
        a, b = vector_at(space.vertices, found[row, 0]), vector_at(space.vertices, found[row, 1])
        longest = max(abs(b[0] - a[0]), abs(b[1] - a[1]), abs(b[2] - a[2]))
        pieces = int(longest * voxels.per_unit) + 1
        for piece in range(pieces):
            c, d = lerp(a, b, piece / pieces), lerp(a, b, (piece + 1) / pieces)
            low, high = (0, 0, 0), (0, 0, 0)
            for axis in range(3):
                begin_at = (min(c[axis], d[axis]) - origin[axis]) * voxels.per_unit - PADDING
                end_at = (max(c[axis], d[axis]) - origin[axis]) * voxels.per_unit + PADDING
                first, last = max(int(begin_at), 0), min(int(end_at), sizes[axis] - 1)
                low = (first if axis == 0 else low[0], first if axis == 1 else low[1], first if axis == 2 else low[2])
                high = (last if axis == 0 else high[0], last if axis == 1 else high[1], last if axis == 2 else high[2])
            for i in range(low[0], high[0] + 1):
                for j in range(low[1], high[1] + 1):
                    for k in range(low[2], high[2] + 1):
                        voxels.words[i, j, k // BITS] |= 1 << (k % BITS)


@inlined
def _voxel(offset: float, per_unit: float, count: int) -> int:
    """The voxel of a coordinate, or one beyond the row: −1 or `count`. Held to that before it is made whole, which far numbers overflow."""
    return int(min(max(offset * per_unit, -1.0), float(count)))


@inlined
def is_clear(voxels: Voxels, low: Vec3, high: Vec3) -> bool:
    """Whether F is certainly locally convex at all its points in a box."""
    nx, ny, _ = voxels.words.shape
    i, i_last = _voxel(low[0] - voxels.x, voxels.per_unit, nx), _voxel(high[0] - voxels.x, voxels.per_unit, nx)
    j, j_last = _voxel(low[1] - voxels.y, voxels.per_unit, ny), _voxel(high[1] - voxels.y, voxels.per_unit, ny)
    k, k_last = (
        _voxel(low[2] - voxels.z, voxels.per_unit, voxels.depth),
        _voxel(high[2] - voxels.z, voxels.per_unit, voxels.depth),
    )
    i, j, k = max(i, 0), max(j, 0), max(k, 0)
    i_last, j_last, k_last = min(i_last, nx - 1), min(j_last, ny - 1), min(k_last, voxels.depth - 1)
    if i_last < i or j_last < j or k_last < k:
        return True
    if (i_last - i + 1) * (j_last - j + 1) * (k_last // BITS - k // BITS + 1) > MOST_ROWS:
        return False
    for word in range(k // BITS, k_last // BITS + 1):
        above, up_to = max(k - BITS * word, 0), min(k_last - BITS * word, BITS - 1)
        mask = (1 << (up_to + 1)) - (1 << above)
        for x in range(i, i_last + 1):
            for y in range(j, j_last + 1):
                if (voxels.words[x, y, word] & mask) != 0:
                    return False
    return True


def build_voxels(space: Space) -> Voxels:
    """Look at all walls."""
    at_wall = (space.neighbour == BLOCKED) & (space.face != NO_FACE) & ~space.obstacle[:, np.newaxis]
    walls = space.face[at_wall].astype(np.int64)
    corners = np.unique(_corners_of(space, walls))
    fronts, size = make_fronts(space, 1), 4 * len(walls) + 16
    while True:
        found = np.empty((size, 2), np.int64)
        count = _list_reentrant(space, fronts, walls, corners, found)
        if count <= size:
            break
        size = count
    found = np.unique(np.sort(found[:count], axis=1), axis=0)
    if not len(found):
        return NONE_KNOWN
    voxels = _allocate(space.vertices[found[:, 0]], space.vertices[found[:, 1]])
    _mark(space, found, voxels)
    return voxels


def _corners_of(space: Space, walls: Integers) -> Integers:
    """The vertices of these faces, some of them more than once."""
    lists, dart = [], walls
    while len(dart):
        lists.append(space.vertex[dart])
        dart = space.phi1[dart]
        keep = dart != walls
        dart, walls = dart[keep], walls[keep]
    return np.concatenate(lists) if lists else walls


def _allocate(begins: Floats, ends: Floats) -> Voxels:
    """Empty voxels over some edges, four along an edge of median length or as many as MOST_VOXELS allows."""
    low, high = np.minimum(begins, ends).min(axis=0), np.maximum(begins, ends).max(axis=0)
    extent = high - low
    length = np.linalg.norm(ends - begins, axis=1)
    longest, largest = float(extent.max()), float(np.maximum(np.abs(low), np.abs(high)).max())
    side = float(np.median(length[length > 0])) / VOXELS_AN_EDGE if (length > 0).any() else longest / FEWEST_VOXELS
    side = max(side, SMALLEST * largest) or 1.0
    while True:
        sizes = (extent / side).astype(np.int64) + 1
        if sizes.prod(dtype=np.float64) <= MOST_VOXELS:
            break
        side *= 1.25
    words = np.zeros((sizes[0], sizes[1], -(-sizes[2] // BITS)), np.int64)
    x, y, z = low.tolist()
    return Voxels(x, y, z, 1.0 / side, int(sizes[2]), words)
