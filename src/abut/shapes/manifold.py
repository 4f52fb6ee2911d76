"""Where two cores touch: up to four points on the axis along which they are apart, or least deep in each other.

The axis of two hulls comes from the walk between their features (`convex.track_many`). Here it is found for what is simpler than that: points
and segments, a core and a triangle, and two polytopes whose pairs of edges are few (see `separate_edges`).

Distance and normal are those of the axis, the true ones. The points come from a face, where one lies across the axis to ALIGNED: the other core's
face cut to its outline. So the points do not come and go while the axis changes between a face and the edges beside it. No row is deeper
than the axis says, and one is as deep. All in the frame of a; normals run from a to b.

Rows: numbers and ids of contacts (see `columns`).
"""

import math

from abut.core.arrays import Floats, Integers
from abut.core.jit import integer, kernel, stay_apart
from abut.geometry.frames import Frame, turn, turn_back
from abut.geometry.rows import put_vector, vector_at
from abut.geometry.segments import closest_segment_segment
from abut.geometry.vec import Vec3, add_scaled, cross, dot, lerp, norm_sq, scale, subtract
from abut.shapes.clipping import choose_four, cut_polygon, load_face
from abut.shapes.columns import END, FACE_A, FACE_B, FEATURE, NORMAL, POINT, SEPARATION, START
from abut.shapes.core_triangle import nearest_to_triangle
from abut.shapes.pool import CUT, E0, E1, F0, F1, IN_A, IN_B, REFERENCE, SPARE, TRIANGLE, V0, V1, Cores
from abut.shapes.separating_axis import separate_edges, separate_faces

ON_A, ON_B, POINTS = 0, 1, 2
"""What carries the points of a contact, the first part of its identity: a face of a, one of b, or none."""
TIE = 1e-11
"""Part of the size by which an axis of two edges must be better than a face's: rounding alone makes some 1e-15, and a face carries more points."""
ALIGNED = 0.9999
"""Cosine from which the other core lies along a face rather than on its border: 0.8°, less than one step of a slow turn."""
IDENTITY: Frame = (((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), (0.0, 0.0, 0.0))

Axis = tuple[float, Vec3, Vec3, Vec3]
"""Distance of the cores, less than zero where they overlap, infinite beyond the limit; normal; nearest, or deepest, points of a and b."""
NOTHING: Axis = (math.inf, (0.0, 0.0, 1.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


@kernel
def measure_extent(points: Floats, first: int, last: int) -> float:
    """The longest side of the points' box."""
    size = 0.0
    for k in range(3):
        low, high = math.inf, -math.inf
        for i in range(first, last):
            low, high = min(low, points[i, k]), max(high, points[i, k])
        size = max(size, high - low)
    return size


@kernel
def _lowest(points: Floats, count: int, direction: Vec3) -> Vec3:
    """Of the first rows, the point that lies least along a direction."""
    best, found = math.inf, 0
    for i in range(count):
        height = dot(vector_at(points, i), direction)
        if height < best:
            best, found = height, i
    return vector_at(points, found)


@kernel
def _between(p: Vec3, q: Vec3, distance: float) -> Axis:
    return distance, scale(subtract(q, p), 1.0 / distance), p, q


@kernel
def find_axis_round(cores: Cores, space: Floats, sa: int, sb: int) -> Axis:
    """How two cores of one or two vertices are placed; part IN_A holds b's vertices in a's frame."""
    stay_apart()
    i, j, end = cores.table[sa, V0], cores.table[sa, V1] - 1, cores.table[sb, V1] - cores.table[sb, V0] - 1
    u, v, w, x = (
        vector_at(cores.vertices, i),
        vector_at(cores.vertices, j),
        vector_at(space[IN_A], 0),
        vector_at(space[IN_A], end),
    )
    _, _, p, q, d = closest_segment_segment(u, v, w, x)
    if d > 0.0:
        return _between(p, q, math.sqrt(d))
    across = cross(subtract(v, u), subtract(x, w))
    length = math.sqrt(norm_sq(across))  # two points, or parallel segments, in the same place: any direction will do
    return 0.0, scale(across, 1.0 / length) if length > 0.0 else (0.0, 0.0, 1.0), p, q


@kernel
def find_axis(cores: Cores, space: Floats, sa: int, sb: int, frame: Frame, limit: float, front_only: bool) -> Axis:
    """How a core and a triangle, or two polytopes, are placed: NOTHING if they are farther apart than the limit.

    The distance of polytopes that are apart is a lower bound, along the normal.
    Part IN_A holds b's vertices in a's frame, part IN_B those of a in b's. front_only: of b only the first face counts, as for one-sided triangles.
    """
    stay_apart()
    a, b = cores.table[sa], cores.table[sb]
    vertices, planes, edges, in_a = cores.vertices, cores.planes, cores.edges, space[IN_A]
    count_a, count_b = a[V1] - a[V0], b[V1] - b[V0]
    if sb == TRIANGLE and count_a <= 2:
        d, p, q = nearest_to_triangle(cores, sa, in_a)
        if d > limit * limit:
            return NOTHING
        if d > 0.0:
            return _between(p, q, math.sqrt(d))
    gap_a, face_a = separate_faces(planes, a[F0], a[F1], in_a, 0, count_b, limit)
    if gap_a > limit:
        return NOTHING
    last_face = b[F0] + 1 if front_only else b[F1]
    gap_b, face_b = separate_faces(planes, b[F0], last_face, space[IN_B], 0, count_a, limit)
    if gap_b > limit:
        return NOTHING
    gap, normal, edge_a, edge_b = separate_edges(
        planes, edges, vertices, a[E0], a[E1], in_a, b[V0], b[E0], b[E1], frame, limit
    )
    if gap > limit:
        return NOTHING
    slack = TIE * min(measure_extent(vertices, a[V0], a[V1]), measure_extent(in_a, 0, count_b))
    if gap > max(gap_a, gap_b) + slack:
        i0, i1, j0, j1 = (
            edges[edge_a, START],
            edges[edge_a, END],
            edges[edge_b, START] - b[V0],
            edges[edge_b, END] - b[V0],
        )
        _, _, p, q, _ = closest_segment_segment(
            vector_at(vertices, i0), vector_at(vertices, i1), vector_at(in_a, j0), vector_at(in_a, j1)
        )
        return gap, normal, p, q
    if gap_a >= gap_b - slack:  # of two parallel faces always the same
        gap, normal = gap_a, vector_at(planes, face_a)
    else:
        gap, normal = gap_b, scale(turn(frame[0], vector_at(planes, face_b)), -1.0)
    q = _lowest(in_a, count_b, normal)
    return gap, normal, add_scaled(q, normal, -gap), q


@kernel
def find_facing(planes: Floats, first: int, last: int, direction: Vec3) -> tuple[int, float]:
    """The face whose normal is nearest to a direction, and the cosine; −1 without faces."""
    stay_apart()
    best, found = -math.inf, -1
    for f in range(first, last):
        c = dot(vector_at(planes, f), direction)
        if c > best:
            best, found = c, f
    return found, best


@kernel
def put_row(
    rows: Floats, ids: Integers, at: int, point: Vec3, normal: Vec3, gap: float, face_a: int, face_b: int, feature: int
) -> None:
    """Write one row."""
    put_vector(rows, at, POINT, point)
    put_vector(rows, at, NORMAL, normal)
    rows[at, SEPARATION] = gap
    ids[at, FACE_A], ids[at, FACE_B], ids[at, FEATURE] = face_a, face_b, feature


@kernel
def _load_incident(
    cores: Cores, shape: int, own: Vec3, placed: Floats, offset: int, cut: Floats, names: Integers
) -> tuple[int, int]:
    """The face of a shape that looks most along a direction of its own frame, or its one or two vertices, to be cut; how many, and which face.

    `placed` holds its vertices in a's frame, vertex v in row v − offset."""
    row = cores.table[shape]
    face, _ = find_facing(cores.planes, row[F0], row[F1], own)
    first, last = row[V0], row[V1]
    if face >= 0:
        first, last = cores.starts[face], cores.starts[face + 1]
    for k in range(first, last):
        vertex = cores.loops[k] if face >= 0 else k
        for axis in range(3):
            cut[k - first, axis] = placed[vertex - offset, axis]
        names[k - first, 0], names[k - first, 1] = vertex - row[V0], vertex - row[V0]
    return last - first, face


@kernel
def touch_face(
    cores: Cores,
    space: Floats,
    names: Integers,
    sa: int,
    sb: int,
    frame: Frame,
    of_a: bool,
    face: int,
    away: Vec3,
    least: float,
    margin: float,
    rows: Floats,
    ids: Integers,
    count: int,
) -> int:
    """Points where the other core lies over a face of a (or of b): rows from `count` on; the number of rows then.

    away: the normal of the rows. least: the distance of the cores, which no row is below and the lowest has; −inf where it is not known."""
    stay_apart()
    vertices, cut, reference, heights, tags = cores.vertices, space[CUT], space[REFERENCE], space[SPARE], names[0]
    normal, own = vector_at(cores.planes, face), vector_at(cores.planes, face)
    first, first_other = cores.table[sa, F0], cores.table[sb, F0]
    if of_a:
        sides = load_face(vertices, cores.starts, cores.loops, face, IDENTITY, reference)
        own = turn_back(frame[0], own)
        size, other = _load_incident(cores, sb, scale(own, -1.0), space[IN_A], cores.table[sb, V0], cut, tags)
    else:
        normal = turn(frame[0], normal)
        sides = load_face(vertices, cores.starts, cores.loops, face, frame, reference)
        size, other = _load_incident(cores, sa, scale(normal, -1.0), vertices, integer(0), cut, tags)
        first, first_other = first_other, first
    radius = cores.radius[sa] + cores.radius[sb]
    shift = 0.5 * (cores.radius[sa] - cores.radius[sb]) * (1.0 if of_a else -1.0)
    start = vector_at(reference, 0)
    left = cut_polygon(space, names, sides, normal, size)
    kept, lowest = 0, 0
    for i in range(left):
        p = vector_at(cut, i)
        height = max(least, dot(normal, subtract(p, start)))
        if height - radius <= margin:
            put_vector(cut, kept, 0, p)
            tags[kept, 0], heights[kept, 0] = tags[i, 0], height
            if height < heights[lowest, 0]:
                lowest = kept
            kept += 1
    if kept > 0 and least > -math.inf:
        heights[lowest, 0] = least
    number, opposite = face - first, -1 if other < 0 else other - first_other
    code = ((ON_A if of_a else ON_B) << 60) | (number << 44) | ((opposite + 1) << 28)
    chosen = choose_four(cut, heights, kept, normal) if kept > 4 else (0, 1, 2, 3)
    face_a, face_b = (number, opposite) if of_a else (opposite, number)
    for k in range(4):
        i = chosen[k]
        if 0 <= i < kept:
            middle = add_scaled(vector_at(cut, i), normal, shift - 0.5 * heights[i, 0])
            tag = code | (tags[i, 0] & 0xFFFFFFF)
            put_row(rows, ids, count, middle, away, heights[i, 0] - radius, face_a, face_b, tag)
            count += 1
    return count


@kernel
def touch_segments(
    a: Vec3,
    a_end: Vec3,
    b: Vec3,
    b_end: Vec3,
    radius_a: float,
    radius_b: float,
    axis: Axis,
    rows: Floats,
    ids: Integers,
    count: int,
) -> int:
    """Two segments: two points if they run alongside each other, else one."""
    stay_apart()
    distance, normal, _, q = axis
    u, v = subtract(a_end, a), subtract(b_end, b)
    gap = distance - radius_a - radius_b
    shift = 0.5 * (radius_a - radius_b - distance)
    u_sq = norm_sq(u)
    if norm_sq(cross(u, v)) > (1.0 - ALIGNED * ALIGNED) * u_sq * norm_sq(v):
        put_row(rows, ids, count, add_scaled(q, normal, shift), normal, gap, -1, -1, POINTS << 60)
        return count + 1
    s, t = dot(subtract(b, a), u) / u_sq, dot(subtract(add_scaled(b, v, 1.0), a), u) / u_sq
    low, high = max(0.0, min(s, t)), min(1.0, max(s, t))
    if not low < high:
        put_row(rows, ids, count, add_scaled(q, normal, shift), normal, gap, -1, -1, POINTS << 60)
        return count + 1
    for k in range(2):
        at = add_scaled(a, u, low if k == 0 else high)
        along = (low - s) / (t - s) if k == 0 else (high - s) / (t - s)
        other = add_scaled(b, v, along)
        height = dot(normal, subtract(other, at))
        middle = add_scaled(lerp(at, other, 0.5), normal, 0.5 * (radius_a - radius_b))
        put_row(rows, ids, count, middle, normal, height - radius_a - radius_b, -1, -1, (POINTS << 60) | (k + 1))
        count += 1
    return count


@kernel
def touch(
    cores: Cores,
    space: Floats,
    names: Integers,
    sa: int,
    sb: int,
    frame: Frame,
    axis: Axis,
    margin: float,
    rows: Floats,
    ids: Integers,
    count: int,
) -> int:
    """The rows of two cores on an axis that was found; the number of rows then."""
    stay_apart()
    distance, normal, p, q = axis
    radius_a, radius_b = cores.radius[sa], cores.radius[sb]
    if distance - radius_a - radius_b > margin:
        return count
    vertices_a = cores.table[sa, V1] - cores.table[sa, V0]
    vertices_b = cores.table[sb, V1] - cores.table[sb, V0]
    if vertices_a == 2 and vertices_b == 2:
        i, in_a = cores.table[sa, V0], space[IN_A]
        a, b = (
            (vector_at(cores.vertices, i), vector_at(cores.vertices, i + 1)),
            (vector_at(in_a, 0), vector_at(in_a, 1)),
        )
        return touch_segments(a[0], a[1], b[0], b[1], radius_a, radius_b, axis, rows, ids, count)
    face, cosine = find_facing(cores.planes, cores.table[sa, F0], cores.table[sa, F1], normal)
    of_a = vertices_b >= 2 and cosine >= ALIGNED
    if not of_a:
        own = scale(turn_back(frame[0], normal), -1.0)
        face, cosine = find_facing(cores.planes, cores.table[sb, F0], cores.table[sb, F1], own)
    if of_a or (vertices_a >= 2 and cosine >= ALIGNED):
        last = touch_face(cores, space, names, sa, sb, frame, of_a, face, normal, distance, margin, rows, ids, count)
        if last > count:
            return last
    middle = add_scaled(lerp(p, q, 0.5), normal, 0.5 * (radius_a - radius_b))
    put_row(rows, ids, count, middle, normal, distance - radius_a - radius_b, -1, -1, POINTS << 60)
    return count + 1
