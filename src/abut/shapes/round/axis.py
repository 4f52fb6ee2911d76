"""The axis of two cores of which one at least is round: by their farthest points alone, between two bounds that close.

Apart: the point of the difference B − A that is nearest to the origin, by a simplex that grows and shrinks (GJK; Gilbert, Johnson and Keerthi 1988;
van den Bergen 2003 on round shapes). What the simplex holds is in the difference, so its distance is never too small; a plane across any direction
parts the two by no more than their distance, so that is never too large. They meet to GAP of the size.
Overlapping: the polytope inside the difference A − B that grows where it is nearest to the origin (EPA; see `convex.depth.search`), until it and the
plane across its nearest face agree to AGREED of the size. The depth that is given parts the two, always; it is the least there is to AGREED, or to
what MOST_POINTS points reach. A half-space needs no search: the lowest point decides.
"""

import math
from typing import Any

from abut.convex.depth.polytope import Polytope, close_four, grow, nearest_face, put_point
from abut.convex.depth.search import across
from abut.convex.triples import put_triple, triple_at
from abut.core.arrays import Floats, Integers
from abut.core.jit import element, kernel, stay_apart
from abut.core.scratch import load, reserve_floats, reserve_integers
from abut.geometry.frames import Frame, carry, frame_of, relate, turn, turn_back
from abut.geometry.rows import put_vector, vector_at
from abut.geometry.segments import closest_point_segment
from abut.geometry.triangles import closest_point_triangle
from abut.geometry.vec import Vec3, add_scaled, cross, dot, norm, norm_sq, scale, subtract
from abut.shapes.columns import HALF_SPACE
from abut.shapes.manifold import NOTHING, Axis, measure_extent
from abut.shapes.pool import FEATURES, FORM, MEASURES, V0, V1, Cores
from abut.shapes.round.support import find_farthest, is_round

MOST_STEPS = 64
GAP = 1e-12
"""Of the size: distances so near to each other are one."""
TOUCHING = 1e-10
"""Of the size: what is so near has no direction between its nearest points, and counts as overlapping."""
MOST_POINTS = 250
"""Of the polytope; it has at most 2·MOST_POINTS − 4 faces, fewer than 512."""
AGREED = 1e-10
ROUNDING = 1e-14
"""Of the size: what rounding makes of a height."""
FLAT = 1e-9
"""Cosine, less than 1, of normals of faces that lie in one plane."""
ORIGIN: Vec3 = (0.0, 0.0, 0.0)


@kernel
def _lowest_along(cores: Cores, s: int, frame: Frame, d: Vec3) -> Vec3:
    """The point of a shape that stands in a frame which is least far along d; point and direction are seen from outside it."""
    return carry(frame, find_farthest(cores, s, turn_back(frame[0], scale(d, -1.0))))


@element
def _nearest_of_face(simplex: Any, i: int, j: int, k: int) -> tuple[Vec3, Vec3, float]:
    return closest_point_triangle(ORIGIN, triple_at(simplex, i), triple_at(simplex, j), triple_at(simplex, k))


@kernel
def _holds_origin(simplex: Any) -> bool:
    """Whether the origin is strictly inside four points."""
    inside = True
    for m in range(4):
        i, j, k = (m + 1) % 4, (m + 2) % 4, (m + 3) % 4
        a = triple_at(simplex, i)
        n = cross(subtract(triple_at(simplex, j), a), subtract(triple_at(simplex, k), a))
        inside = inside and -dot(n, a) * dot(n, subtract(triple_at(simplex, m), a)) > 0.0
    return inside


@kernel
def _shrink(simplex: Any, owners: Any, count: int) -> tuple[int, Vec3, Vec3]:
    """Keep those of up to four points, and of their points of a, that carry the one nearest to the origin: how many; that point; that of a.

    None where they hold the origin."""
    stay_apart()
    w0, w1, w2, w3 = 1.0, 0.0, 0.0, 0.0
    if count == 2:
        t, _, _ = closest_point_segment(ORIGIN, triple_at(simplex, 0), triple_at(simplex, 1))
        w0, w1 = 1.0 - t, t
    elif count == 3:
        (w0, w1, w2), _, _ = _nearest_of_face(simplex, 0, 1, 2)
    elif count == 4:
        if _holds_origin(simplex):
            return 0, ORIGIN, ORIGIN
        (w0, w1, w2), _, best = _nearest_of_face(simplex, 0, 1, 2)
        (x, y, z), _, d = _nearest_of_face(simplex, 0, 1, 3)
        if d < best:
            w0, w1, w2, w3, best = x, y, 0.0, z, d
        (x, y, z), _, d = _nearest_of_face(simplex, 0, 2, 3)
        if d < best:
            w0, w1, w2, w3, best = x, 0.0, y, z, d
        (x, y, z), _, d = _nearest_of_face(simplex, 1, 2, 3)
        if d < best:
            w0, w1, w2, w3, best = 0.0, x, y, z, d
    weights, kept, nearest, own = (w0, w1, w2, w3), 0, ORIGIN, ORIGIN
    for k in range(count):
        if weights[k] > 0.0:
            w, p = triple_at(simplex, k), triple_at(owners, k)
            nearest, own = add_scaled(nearest, w, weights[k]), add_scaled(own, p, weights[k])
            put_triple(simplex, kept, w)
            put_triple(owners, kept, p)
            kept += 1
    return kept, nearest, own


@kernel
def _repeats(simplex: Any, count: int, w: Vec3, slack: float) -> bool:
    """Whether w is one of the points."""
    found = False
    for k in range(count):
        found = found or norm_sq(subtract(triple_at(simplex, k), w)) <= slack * slack
    return found


@kernel
def find_axis_curved(cores: Cores, sa: int, sb: int, frame: Frame, limit: float) -> Axis:
    """How two cores are placed, one of them round, b in `frame`: NOTHING if they are farther apart than the limit.

    The distance of what is apart is a lower bound, along the normal, below the true one by at most GAP of the size and rounding."""
    stay_apart()
    if cores.table[sa, FORM] == HALF_SPACE or cores.table[sb, FORM] == HALF_SPACE:
        return _meet_half_space(cores, sa, sb, frame, limit)
    size = measure_extent(cores.vertices, cores.table[sa, V0], cores.table[sa, V1])
    size += measure_extent(cores.vertices, cores.table[sb, V0], cores.table[sb, V1])
    simplex, owners = reserve_floats(12), reserve_floats(12)
    middle = vector_at(cores.vertices, cores.table[sb, V0])
    start = carry(frame, middle)
    n = scale(start, 1.0 / norm(start)) if norm_sq(start) > 0.0 else (0.0, 0.0, 1.0)
    own = find_farthest(cores, sa, n)
    v = subtract(_lowest_along(cores, sb, frame, n), own)
    put_triple(simplex, 0, v)
    put_triple(owners, 0, own)
    count, best, normal = 1, -math.inf, n
    p, q = own, own
    for _ in range(MOST_STEPS):
        length = norm(v)
        if length <= TOUCHING * size:
            return _sink(cores, sa, sb, frame, n, size)
        n = scale(v, 1.0 / length)
        a = find_farthest(cores, sa, n)
        w = subtract(_lowest_along(cores, sb, frame, n), a)
        bound = dot(w, n)
        if bound > limit:
            return NOTHING
        if bound > best:
            best, normal, p, q = bound, n, own, add_scaled(own, v, 1.0)
        if length - bound <= GAP * size or _repeats(simplex, count, w, ROUNDING * size):
            break
        put_triple(simplex, count, w)
        put_triple(owners, count, a)
        count, nearest, own = _shrink(simplex, owners, count + 1)
        if count == 0 or norm(nearest) >= length * (1.0 - 1e-15):
            if count == 0:
                return _sink(cores, sa, sb, frame, n, size)
            break
        v = nearest
    if best <= TOUCHING * size:
        return _sink(cores, sa, sb, frame, n, size)
    return best, normal, p, q


@kernel
def _meet_half_space(cores: Cores, sa: int, sb: int, frame: Frame, limit: float) -> Axis:
    """The same where one of the two is a half-space. Two of them never meet."""
    stay_apart()
    if cores.table[sa, FORM] == cores.table[sb, FORM]:
        return NOTHING
    if cores.table[sa, FORM] == HALF_SPACE:
        n = vector_at(cores.vertices, cores.table[sa, MEASURES])
        q = _lowest_along(cores, sb, frame, n)
        gap = dot(n, q) - cores.vertices[cores.table[sa, MEASURES] + 1, 0]
        return (gap, n, add_scaled(q, n, -gap), q) if gap <= limit else NOTHING
    own = vector_at(cores.vertices, cores.table[sb, MEASURES])
    n = turn(frame[0], own)
    p = find_farthest(cores, sa, scale(n, -1.0))
    gap = dot(n, subtract(p, frame[1])) - cores.vertices[cores.table[sb, MEASURES] + 1, 0]
    return (gap, scale(n, -1.0), p, add_scaled(p, n, -gap)) if gap <= limit else NOTHING


@kernel
def _put_farthest(
    cores: Cores, sa: int, sb: int, frame: Frame, polytope: Polytope, owners: Any, k: int, n: Vec3
) -> Vec3:
    """Point k of the polytope: that of A − B which is farthest along n."""
    p = find_farthest(cores, sa, n)
    w = subtract(p, _lowest_along(cores, sb, frame, n))
    put_point(polytope, k, 0, 0, w)
    put_triple(owners, k, p)
    return w


@kernel
def _close_start(
    cores: Cores, sa: int, sb: int, frame: Frame, polytope: Polytope, owners: Any, guess: Vec3, thin: float
) -> bool:
    """Whether the points farthest along corners of a regular tetrahedron, the first of them `guess`, span a volume."""
    stay_apart()
    u = across(guess)
    v, back = cross(guess, u), scale(guess, -1.0 / 3.0)
    p = _put_farthest(cores, sa, sb, frame, polytope, owners, 0, guess)
    third = 2.0 * math.pi / 3.0
    for k in range(3):
        around = add_scaled(scale(u, math.cos(k * third)), v, math.sin(k * third))
        _put_farthest(cores, sa, sb, frame, polytope, owners, k + 1, add_scaled(back, around, math.sqrt(8.0) / 3.0))
    q, r, s = triple_at(polytope.points, 1), triple_at(polytope.points, 2), triple_at(polytope.points, 3)
    n = cross(subtract(q, p), subtract(r, p))
    height = dot(n, subtract(s, p))
    if abs(height) <= thin * norm(n) or norm(n) <= thin * norm(subtract(q, p)):
        return False
    close_four(polytope, height > 0.0, thin)
    return True


@kernel
def _find_foot(polytope: Polytope, owners: Any, face_count: int, depth: float, normal: Vec3, slack: float) -> Vec3:
    """The point of a under the origin's foot on the face across `normal`: on that of its triangles which holds the foot, or is nearest to do."""
    stay_apart()
    best, found = -math.inf, ORIGIN
    for f in range(face_count):
        n = triple_at(polytope.normals, f)
        if not load(polytope.distances, f) <= depth + slack or dot(n, normal) < 1.0 - FLAT:
            continue
        i, j, k = triple_at(polytope.corners, f)
        foot = scale(normal, depth)
        p, q = subtract(triple_at(polytope.points, i), foot), subtract(triple_at(polytope.points, j), foot)
        r = subtract(triple_at(polytope.points, k), foot)
        x, y, z = dot(cross(q, r), n), dot(cross(r, p), n), dot(cross(p, q), n)
        total = x + y + z
        if min(x, y, z) / total > best:
            best = min(x, y, z) / total
            x, y, z = max(x, 0.0), max(y, 0.0), max(z, 0.0)
            total = x + y + z
            found = add_scaled(scale(triple_at(owners, i), x / total), triple_at(owners, j), y / total)
            found = add_scaled(found, triple_at(owners, k), z / total)
    return found


@kernel
def _sink(cores: Cores, sa: int, sb: int, frame: Frame, guess: Vec3, size: float) -> Axis:
    """How two cores are placed that touch or overlap."""
    stay_apart()
    polytope = Polytope(
        reserve_floats(750),
        reserve_floats(1536),
        reserve_floats(512),
        reserve_integers(500),
        reserve_integers(1536),
        reserve_integers(1536),
        reserve_integers(512),
        reserve_integers(512),
        reserve_integers(1536),
        reserve_integers(250),
    )
    owners = reserve_floats(750)
    tolerance = ROUNDING * size
    is_solid = _close_start(cores, sa, sb, frame, polytope, owners, guess, 64.0 * tolerance)
    for axis in range(3):
        if not is_solid:
            d = (1.0 if axis == 0 else 0.6, 1.0 if axis == 1 else 0.3, 1.0 if axis == 2 else -0.2)
            is_solid = _close_start(cores, sa, sb, frame, polytope, owners, scale(d, 1.0 / norm(d)), 64.0 * tolerance)
    p = find_farthest(cores, sa, guess)
    least = dot(guess, subtract(p, _lowest_along(cores, sb, frame, guess)))
    normal, foot = guess, p
    if not is_solid:
        return -least, normal, p, add_scaled(p, normal, -least)
    for k in range(
        4
    ):  # along the axes too: of depths that are equal all around, the polytope is long in finding the least
        axis_a, axis_b = (0.0, 0.0, 1.0), turn(frame[0], (0.0, 0.0, 1.0))
        n = axis_a if k < 2 else axis_b
        n = n if k % 2 == 0 else scale(n, -1.0)
        p = find_farthest(cores, sa, n)
        depth = dot(n, subtract(p, _lowest_along(cores, sb, frame, n)))
        if depth < least:
            least, normal, foot = depth, n, p
    faces = 4
    for count in range(4, MOST_POINTS):
        f = nearest_face(polytope, faces)
        if f < 0:
            break
        n, d = triple_at(polytope.normals, f), load(polytope.distances, f)
        w = _put_farthest(cores, sa, sb, frame, polytope, owners, count, n)
        depth = dot(n, w)
        if depth <= least + tolerance:
            least, normal = depth, n
            foot = _find_foot(polytope, owners, faces, d, n, tolerance)
        if least - d <= AGREED * size or _repeats(polytope.points, count, w, tolerance):
            break
        faces = grow(polytope, f, count, faces, tolerance)
        if faces < 0:
            break
    axes = (0.0, 0.0, 1.0), turn(frame[0], (0.0, 0.0, 1.0))
    for k in range(2):  # straight out of an axis, where the polytope has come near to that
        n = add_scaled(normal, axes[k], -dot(normal, axes[k]))
        if norm(n) > 0.5:
            n = scale(n, 1.0 / norm(n))
            depth = dot(n, subtract(find_farthest(cores, sa, n), _lowest_along(cores, sb, frame, n)))
            if depth < least - AGREED * size:
                least, normal = depth, n
    return -least, normal, foot, add_scaled(foot, normal, -least)


@kernel
def refine_tracks(
    cores: Cores,
    poses: Floats,
    shapes: Integers,
    pairs: Integers,
    distances: Floats,
    normals: Floats,
    points_a: Floats,
    points_b: Floats,
) -> None:
    """Of pairs (m,2) of rows of `poses` (n,12) and `shapes` (n,), what was tracked of their bounding hulls, not grown: where one is round, the true.

    Shape 0 is the point at the origin of its pose."""
    last = len(cores.table) - FEATURES
    for row in range(len(pairs)):
        i, j = pairs[row, 0], pairs[row, 1]
        sa, sb = int(shapes[i]), int(shapes[j])
        if not is_round(cores, sa, sb):
            continue
        for side in range(2):
            if (sa if side == 0 else sb) == 0:
                first = cores.table[last + side, V0]
                cores.table[last + side, V1] = first + 1
                put_vector(cores.vertices, first, 0, ORIGIN)
        own = frame_of(poses, i)
        frame = relate(own, frame_of(poses, j))
        sa, sb = last if sa == 0 else sa, last + 1 if sb == 0 else sb
        distance, normal, p, q = find_axis_curved(cores, sa, sb, frame, math.inf)
        distances[row] = distance
        put_vector(normals, row, 0, turn(own[0], normal))
        put_vector(points_a, row, 0, carry(own, p))
        put_vector(points_b, row, 0, carry(own, q))
