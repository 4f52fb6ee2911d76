"""A point at rest while the cells around it move: which cell holds it in the end, or which wall reaches it, and when.

The point is followed through the cells in time, as a walk follows a path through cells at rest: it leaves a sliver (`moving_cells`) through the face
behind whose plane it comes first, and goes on in the sliver beyond. A face beyond which there is an obstacle is a wall, and reaches it. What two
sheets of one space do to one another is of no consequence: a point goes by the walls of the cells that it is in.

Three stages. A point that is further from all faces of its part than any vertex has gone stays in the part. So does one that no face has behind
its plane at any time, by exact signs of Bernstein coefficients (`geometry.moving_planes`). For others the first time is enclosed; where
enclosures of two faces meet, a root is not certain, or a wall is reached at its rim, the answer is UNDECIDED and comes from rational arithmetic
(`exact_sweep`).
"""

import math
from typing import NamedTuple

from abut.cells.map.darts import OUTSIDE, Row
from abut.cells.settle.moving_cells import (
    Sliver,
    corners_of,
    enter_part,
    face_of,
    face_with,
    is_tetrahedron,
    lowest_corner,
    pass_face_of,
    sliver_at,
    sliver_over,
    triangle_over,
)
from abut.cells.space.records import NO_FACE, Space, corners_of_face
from abut.core.arrays import Floats
from abut.core.jit import element, inlined, integer, kernel
from abut.geometry.bernstein import BOUND_CASTELJAU, Cubic, evaluate
from abut.geometry.enclosures import CERTAIN, CONVERGED, Enclosure, Roots
from abut.geometry.moving_planes import MovingTriangle, is_never_behind, measure_sides, sign_of_side
from abut.geometry.predicates import orient_3d
from abut.geometry.roots import enclose_cubic_bernstein
from abut.geometry.vec import Vec3, cross, dot, norm, subtract

KEPT, REACHED, UNDECIDED = 0, 1, 2
MOST_STEPS = 10_000
PLANE_ERROR = 2.0**-48
"""Of a height times a normal, in units of the sum of the magnitudes of its products; `predicates.BOUND_3D` is smaller."""
ROUND_UP = 1.0 + 2.0**-40
NOTHING = -1


class Fate(NamedTuple):
    """What becomes of a point: the part it is in, at the end or when a wall reaches it; that wall, as face `k` of a sliver; an enclosure of when."""

    outcome: int
    part: Row
    dart: Row
    k: int
    earliest: float
    latest: float


@inlined
def _is_far(space: Space, dart: Row, p: Vec3, step: float) -> bool:
    """Whether a point is certainly further than `step` before the plane of a face, where that is now."""
    a, b, c = corners_of_face(space, dart)
    u, v, w = subtract(b, a), subtract(c, a), subtract(p, a)
    normal = cross(u, v)
    largest = max(abs(u[0]), abs(u[1]), abs(u[2])) * max(abs(v[0]), abs(v[1]), abs(v[2]))
    slack = PLANE_ERROR * 6.0 * largest * (abs(w[0]) + abs(w[1]) + abs(w[2]))
    return dot(normal, w) > step * ROUND_UP * (norm(normal) + PLANE_ERROR * 6.0 * largest) + slack


@kernel
def _keeps(space: Space, origin: Floats, dart: Row, p: Vec3) -> bool:
    """Whether no triangle of a face ever has a point behind it."""
    first = integer(dart)
    lowest = lowest_corner(space, first) if space.dimension == 3 else first
    dart = first
    while True:
        if space.dimension == 2 or (dart != lowest and space.phi1[dart] != lowest):
            face = triangle_over(space, origin, lowest, dart)
            sides, error = measure_sides(face, p)
            if not is_never_behind(face, p, sides, error):
                return False
        dart = integer(space.phi1[dart])
        if dart == first or space.dimension == 2:
            return True


@kernel
def stays_in_part(space: Space, origin: Floats, part: Row, p: Vec3, step: float) -> bool:
    """Whether each face of the part is further away than any vertex has gone, or never has the point behind one of its triangles."""
    for slot in range(space.face.shape[1]):
        face = space.face[part, slot]
        if face != NO_FACE and not _is_far(space, face, p, step) and not _keeps(space, origin, face, p):
            return False
    return True


@kernel
def _held_at_start(space: Space, origin: Floats, part: Row, dart: Row, p: Vec3) -> bool:
    sliver = sliver_at(space, origin, part, dart)
    for k in range(space.dimension + 1):
        wall = face_of(space.dimension, sliver, k)
        if orient_3d(wall.a0, wall.b0, wall.c0, p) < 0:
            return False
    return True


@kernel
def sliver_holding(space: Space, origin: Floats, part: Row, p: Vec3) -> Row:
    """A sliver of the part that held the point at the beginning, or NOTHING."""
    if is_tetrahedron(space, part):
        dart = integer(space.face[part, 0])
        return dart if _held_at_start(space, origin, part, dart, p) else integer(NOTHING)
    for slot in range(space.face.shape[1]):
        face = integer(space.face[part, slot])
        if face == NO_FACE:
            continue
        dart = face
        while True:
            if sliver_over(space, dart) == dart and _held_at_start(space, origin, part, dart, p):
                return dart
            dart = integer(space.phi1[dart])
            if dart == face or space.dimension == 2:
                break
    return integer(NOTHING)


@inlined
def _after(roots: Roots, time: float) -> Enclosure:
    """The first enclosure that reaches beyond a time."""
    if roots.first.hi > time:
        return roots.first
    return roots.second if roots.second.hi > time else roots.third


@inlined
def _noise(sides: Cubic, error: float) -> float:
    """How far a value of the cubic may be off."""
    return error + 2.0 * BOUND_CASTELJAU * max(abs(sides[0]), abs(sides[1]), abs(sides[2]), abs(sides[3]))


@element
def _leave_again(sides: Cubic, error: float, time: float) -> tuple[bool, float, float]:
    """The same as `_leave_at` for the face through which the point has come in, at the root whose enclosure ends at `time`."""
    roots = enclose_cubic_bernstein(sides[0], sides[1], sides[2], sides[3], error)
    found = _after(roots, time)
    is_decided = roots.status == CONVERGED and (found.lo == math.inf or (found.lo > time and found.kind == CERTAIN))
    return is_decided, found.lo, found.hi


@element
def _leave_at(face: MovingTriangle, p: Vec3, sides: Cubic, error: float, time: float) -> tuple[bool, float, float]:
    """When the point first comes behind a face that it is before at a time, or that it was not behind at the beginning (time < 0): whether that is
    decided, and an enclosure, infinite for never."""
    never, undecided = (True, math.inf, math.inf), (False, 0.0, 0.0)
    if is_never_behind(face, p, sides, error):
        return never
    roots, noise = enclose_cubic_bernstein(sides[0], sides[1], sides[2], sides[3], error), _noise(sides, error)
    if time < 0.0:
        sign = sign_of_side(face, p, 0)
        if sign < 0:
            return undecided
        time = 0.0
        if sign == 0:  # in the plane of the face: it comes towards the point at once, or leaves it
            time = roots.first.hi
            if roots.first.lo > 0.0 or not abs(sides[1]) > error or not abs(evaluate(sides, time)) > noise:
                return undecided
            if sides[1] < 0.0:
                return evaluate(sides, time) < 0.0, 0.0, time
    if (time > 0.0 and not evaluate(sides, time) > noise) or roots.status != CONVERGED:
        return undecided
    found = _after(roots, time)
    if found.lo < math.inf and (found.kind != CERTAIN or found.lo <= time):
        return undecided
    return True, found.lo, found.hi


@kernel
def _is_inside_face(dimension: int, sliver: Sliver, face: int, p: Vec3, time: float) -> bool:
    """Whether a point in the plane of a face of a sliver lies certainly inside of all others then."""
    for k in range(dimension + 1):
        if k != face:
            sides, error = measure_sides(face_of(dimension, sliver, k), p)
            if not evaluate(sides, time) > _noise(sides, error):
                return False
    return True


@kernel
def trace_point(space: Space, origin: Floats, part: Row, p: Vec3) -> Fate:
    """Follow a point that lay in the closed part when its vertices were at `origin`."""
    part = integer(part)
    dart, entry, time = sliver_holding(space, origin, part, p), integer(NOTHING), -1.0
    undecided = Fate(UNDECIDED, part, integer(NOTHING), integer(0), 0.0, 1.0)
    through, through_error = (0.0, 0.0, 0.0, 0.0), 0.0
    if dart == NOTHING:
        return undecided
    for _ in range(MOST_STEPS):
        sliver = sliver_at(space, origin, part, dart)
        best, earliest, latest, next_earliest = integer(NOTHING), math.inf, math.inf, math.inf
        best_sides, best_error = through, through_error
        for k in range(space.dimension + 1):
            if k == entry:
                sides, error = through, through_error
                is_decided, lo, hi = _leave_again(sides, error, time)
            else:
                face = face_of(space.dimension, sliver, k)
                sides, error = measure_sides(face, p)
                is_decided, lo, hi = _leave_at(face, p, sides, error, time)
            if not is_decided:
                return undecided
            if lo < earliest:
                next_earliest = earliest
                best, earliest, latest, best_sides, best_error = integer(k), lo, hi, sides, error
            else:
                next_earliest = min(next_earliest, lo)
        if best == NOTHING:
            return Fate(KEPT, part, dart, integer(0), 1.0, 1.0)
        if not latest < next_earliest:
            return undecided
        i, j, m = corners_of(space.dimension, best)
        a, b, c = sliver.ids[i], sliver.ids[j], sliver.ids[m]
        outer, beside = pass_face_of(space, part, dart, best)
        if outer == NOTHING:
            dart = beside
        else:
            across = integer(space.across[outer])
            other = integer(space.cell[across])
            if other == OUTSIDE or (space.obstacle[other] and not space.obstacle[part]):
                if not _is_inside_face(space.dimension, sliver, best, p, latest):
                    return undecided  # at an edge or a vertex, around which another cell may be free
                return Fate(REACHED, part, dart, best, earliest, latest)
            part, dart = other, enter_part(space, other, across, dart)
        entry = integer(face_with(space.dimension, sliver_at(space, origin, part, dart).ids, a, b, c))
        if entry == NOTHING:
            return undecided
        time, through, through_error = latest, best_sides, best_error
    return undecided
