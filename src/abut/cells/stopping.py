"""Where a particle stops that has met an obstacle: a point is constructed, and accepted only when exact signs place it in its cell.

The crossing of the segment with the face rounds to either side. A candidate outside of the closed cell is pulled towards the cell's middle,
four times further each try, from 2⁻⁵⁰ of the way on; the last candidate is a corner of the face, which is in the closed cell. A tie at a
vertex stops at the vertex.

Times. The crossing's parameter is right to about 2⁻⁴⁶ of itself (`geometry.determinants`); EARLY makes it never late.
"""

from abut.cells.convexity import point_3d
from abut.cells.darts import Row
from abut.cells.signs import THROUGH_VERTEX, holds
from abut.cells.space import NO_FACE, Space, corners_of_face
from abut.geometry.determinants import cross_segment_plane
from abut.geometry.vec import Vec3, add, add_scaled, cross, lerp, norm, scale, subtract
from abut.jit import element, inlined

EARLY = 1.0 - 2.0**-42
FIRST_PULL = 2.0**-50
PULL_GROWTH = 4.0
Stop = tuple[Vec3, float, Vec3]


@element
def _pull(x: Vec3, middle: Vec3, share: float) -> Vec3:
    return add_scaled(x, subtract(middle, x), share)


@inlined
def mean_corner(space: Space, cell: Row) -> Vec3:
    """A point inside the cell: the mean of the corners of its faces, rounded."""
    x, y, z, count = 0.0, 0.0, 0.0, 0.0
    for slot in range(space.face.shape[1]):
        face = space.face[cell, slot]
        if face != NO_FACE:
            dart = face
            while True:
                a = point_3d(space.vertices, space.vertex[dart])
                x, y, z, count = x + a[0], y + a[1], z + a[2], count + 1.0
                dart = space.phi1[dart]
                if dart == face or space.dimension == 2:
                    break
    return (x / count, y / count, z / count)


@inlined
def outward_normal(space: Space, face: Row) -> Vec3:
    """Unit normal of a face, out of its cell."""
    a, b, c = corners_of_face(space, face)
    u, v = subtract(c, a), subtract(b, a)
    # Scaled first, so that the product neither overflows nor vanishes.
    largest_u = max(abs(u[0]), abs(u[1]), abs(u[2]))
    largest_v = max(abs(v[0]), abs(v[1]), abs(v[2]))
    normal = cross(scale(u, 1.0 / largest_u), scale(v, 1.0 / largest_v))
    length = norm(normal)
    if not length > 0.0:
        return (0.0, 0.0, 0.0)
    return add(scale(normal, 1.0 / length), (0.0, 0.0, 0.0))  # no −0


@inlined
def stop_at(space: Space, cell: Row, slot: Row, through: int, dart: Row, p: Vec3, q: Vec3) -> Stop:
    """The point, the time and the normal where the segment pq leaves `cell` through its face `slot`, in `through` and `dart`."""
    face = space.face[cell, slot]
    a, b, c = corners_of_face(space, face)
    time = cross_segment_plane(p, q, a, b, c)
    normal = outward_normal(space, face)
    if through == THROUGH_VERTEX:
        return point_3d(space.vertices, space.vertex[dart]), time * EARLY, normal
    x = lerp(p, q, time)
    if holds(space, cell, x):
        return x, time * EARLY, normal
    middle, share = mean_corner(space, cell), FIRST_PULL
    while share < 1.0:
        pulled = _pull(x, middle, share)
        if holds(space, cell, pulled):
            return pulled, time * EARLY, normal
        share *= PULL_GROWTH
    return a, time * EARLY, normal
