"""Where a particle stops that has met an obstacle: a point is constructed, and accepted only when exact signs place it in its cell.

The crossing of the segment with the face rounds to either side. A candidate outside of the closed cell is pulled towards the cell's middle,
four times further each try, from 2⁻⁵⁰ of the path on; the last candidate is a corner of the face, which is in the closed cell. A tie at a
vertex stops at the vertex.

Times. The crossing's parameter is right to about 2⁻⁴⁶ of itself (`geometry.determinants`); EARLY makes it never late.

Most particles stop well inside a face and not at its rim: `stop_in_face` says so by records alone. It bounds the time from below and above by
the error of the determinants, and takes the lower bound where the two are within TIME_GAP. A point x between them differs from the crossing
by less than 2⁻⁴⁰ of the path, which is at most 2√3 reach: by less than 2⁻³⁸ reach, and by rounding; a plane's unit is at least 2⁻⁴⁸ reach times
the length of its normal. So where all other planes are above RIM = 2¹¹ at x, the crossing is strictly inside of them. In a face along two axes x
is put exactly into the plane. Before another one it is put CLEARANCE units, where the record itself says that this is inside, and refused where
the path is so flat that this is further back than FURTHEST times the reach.
"""

from abut.cells.map.darts import Row
from abut.cells.space.predicates import THROUGH_FACE, THROUGH_VERTEX, height, holds, low_planes
from abut.cells.space.records import NO_FACE, Space, corners_of_face
from abut.core.jit import element, inlined, integer, kernel
from abut.geometry.determinants import bound_crossing, cross_segment_plane
from abut.geometry.rows import vector_at
from abut.geometry.vec import Vec3, add, add_scaled, cross, lerp, norm, scale, subtract

EARLY = 1.0 - 2.0**-42
FIRST_PULL = 2.0**-50
PULL_GROWTH = 4.0
TIME_GAP = 2.0**-41
RIM = 2.0**11
CLEARANCE = 3.0
FURTHEST = 2.0**-43
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
                a = vector_at(space.vertices, space.vertex[dart])
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


@element
def _axis_of(a: Vec3, b: Vec3, c: Vec3) -> int:
    """The axis along which three points have the same coordinate, or −1."""
    for axis in range(3):
        if a[axis] == b[axis] and b[axis] == c[axis]:
            return axis
    return -1


@element
def _put(x: Vec3, axis: int, value: float) -> Vec3:
    return (value if axis == 0 else x[0], value if axis == 1 else x[1], value if axis == 2 else x[2])


@inlined
def stop_in_face(space: Space, cell: Row, slot: Row, p: Vec3, q: Vec3) -> tuple[bool, Stop]:
    """Where the path pq, whose first exit is face `slot`, stops in the interior of that face; False where records do not tell."""
    face = integer(space.face[cell, slot])
    a, b, c = corners_of_face(space, face)
    time, latest = bound_crossing(p, q, a, b, c)
    x = lerp(p, q, 0.5 * (time + min(latest, 1.0)))
    stop = (x, time, (0.0, 0.0, 0.0))
    if not latest - time <= TIME_GAP * time:
        return False, stop
    for other in range(space.face.shape[1]):
        if other != slot and not height(space, cell, other, x) > RIM:
            return False, stop
    axis = _axis_of(a, b, c)
    if axis >= 0:
        x = _put(x, axis, a[axis])
    else:
        at_p, at_q = height(space, cell, slot, p), height(space, cell, slot, q)
        size = max(abs(q[0] - p[0]), abs(q[1] - p[1]), abs(q[2] - p[2]))
        if not (at_p > CLEARANCE and CLEARANCE * size <= FURTHEST * space.reach * (at_p - at_q)):
            return False, stop
        x = lerp(p, q, (at_p - CLEARANCE) / (at_p - at_q))
        if low_planes(space.planes, space.planes.shape[2], cell, x[0], x[1], x[2]) >> 32 != 0:
            return False, stop
    return True, (x, time, outward_normal(space, face))


@kernel
def stop_at(space: Space, cell: Row, slot: Row, through: int, dart: Row, p: Vec3, q: Vec3) -> Stop:
    """The point, the time and the normal where the segment pq leaves `cell` through its face `slot`, in `through` and `dart`."""
    if through == THROUGH_FACE:
        is_certain, found = stop_in_face(space, cell, slot, p, q)
        if is_certain:
            return found
    face = integer(space.face[cell, slot])
    a, b, c = corners_of_face(space, face)
    time = cross_segment_plane(p, q, a, b, c)
    normal = outward_normal(space, face)
    if through == THROUGH_VERTEX:
        return vector_at(space.vertices, space.vertex[dart]), time * EARLY, normal
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
