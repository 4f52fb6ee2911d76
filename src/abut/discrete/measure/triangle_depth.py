"""The deepest point of one triangle in a closed surface b: the triangle is cut along b, and what lies inside is searched.

The triangles of b that meet it cut it along lines, into pieces that no triangle of b crosses (a binary partition of the plane, Paterson and
Yao 1990): each lies inside b or outside as a whole, and one point tells which. Pieces too shallow to matter are dropped before they are cut.

In a piece inside b, with t the triangle of b nearest to its center, no point is deeper than the corner that lies farthest from t, since the
distance to a convex set is convex. Where that bound is not good enough the piece is cut: across the edge of t beyond which the corner lies, or
where t and the triangle nearest to that corner are equally far, which makes the bound exact for flat surfaces; else, and after EXACT_CUTS such
cuts, in the middle of its longest edge, which halves what is left to doubt.
"""

from typing import Any

import numpy as np

from abut.core.arrays import Floats, Integers
from abut.core.jit import element, kernel
from abut.discrete.measure.nearest_point import closest_in_slot, find_nearest
from abut.discrete.search.placement import own_triangle, world_triangle
from abut.discrete.search.winding import winding
from abut.geometry.crossings import CROSSING, intersect_triangle_triangle
from abut.geometry.rows import put_vector, vector_in
from abut.geometry.vec import ZERO, Vec3, add, cross, distance_sq, dot, lerp, scale, subtract, unit_or
from abut.trees.packets.packet_tree import PacketTree

TOLERANCE = 5e-3
"""The part of itself to which a depth is found."""
IDENTITY = np.eye(4)
EXACT_CUTS = 2
THINNEST = 1.0 / 64.0  # of a piece: a cut that would leave less on one side is not worth it

Depth = tuple[float, int, int, Vec3, Vec3]
"""Depth, slots in a and b, deepest point of a, nearest point of b."""
Known = tuple[Vec3, float]
"""A point and its distance to the surface, negative outside: all nearer points lie on the same side."""
Entry = tuple[float, Known, Vec3, int]
"""An upper bound, what is known of a point, a point of b near it, and that one's slot."""

START, STOP, INSIDE, CUTS, SEED = 0, 1, 2, 3, 4
Room = tuple[Floats, Integers, Integers, Floats]
"""Pieces (n,9) waiting, with their state (n,5): the part of the list of lines that may cross each (START, STOP), whether it is known to lie
inside, how many exact cuts in a row led to it, and a slot of b near it. The list. Lines (n,9) in the plane of the triangle: a unit vector across,
both ends."""


@kernel
def make_room() -> Room:
    """Room that is enough for nearly all triangles; `_grown` makes more."""
    return np.empty((256, 9)), np.empty((256, 5), dtype=np.int64), np.empty(1024, dtype=np.int64), np.empty((64, 9))


@kernel
def _grown(room: Room, height: int, list_size: int, line_count: int) -> Room:
    """Room for so many pieces, entries of the list and lines."""
    pieces, state, lists, lines = room
    if height > len(pieces):
        more, more_state = np.empty((2 * height, 9)), np.empty((2 * height, 5), dtype=np.int64)
        more[: len(pieces)] = pieces
        more_state[: len(state)] = state
        pieces, state = more, more_state
    if list_size > len(lists):
        longer = np.empty(2 * list_size, dtype=np.int64)
        longer[: len(lists)] = lists
        lists = longer
    if line_count > len(lines):
        lines = np.empty((2 * line_count, 9))
    return pieces, state, lists, lines


@element
def _normal(u: Vec3, v: Vec3, w: Vec3) -> Vec3:
    """Unit normal of a triangle, 0 for one without area."""
    return unit_or(cross(unit_or(subtract(v, u), ZERO), unit_or(subtract(w, u), ZERO)), ZERO)


@kernel
def _set_row(rows: Floats, i: int, a: Vec3, b: Vec3, c: Vec3) -> None:
    put_vector(rows, i, 0, a)
    put_vector(rows, i, 3, b)
    put_vector(rows, i, 6, c)


@kernel
def _find_lines(
    u: Vec3, v: Vec3, w: Vec3, b: PacketTree, cutters: Integers, first: int, last: int, lines: Floats
) -> int:
    """The segments in which triangles of b cross triangle uvw, as lines; their number.

    Triangles in one plane are left out: where the one ends another goes on, in that plane or across it. So are points that touch, except in a
    triangle without area, which is cut there.
    """
    normal, count = _normal(u, v, w), 0
    flat = normal == (0.0, 0.0, 0.0)
    along = unit_or(subtract(v, u), ZERO) if distance_sq(u, v) > distance_sq(u, w) else unit_or(subtract(w, u), ZERO)
    for i in range(first, last):
        slot = cutters[i] & 0xFFFFFFFF
        p, q, r = own_triangle(b.corners, slot)
        status, low, high = intersect_triangle_triangle(u, v, w, p, q, r)
        across = along if flat else unit_or(cross(normal, unit_or(subtract(high, low), ZERO)), ZERO)
        if status == CROSSING and across != (0.0, 0.0, 0.0):
            _set_row(lines, count, across, low, high)
            count += 1
    return count


@element
def _side(lines: Floats, i: int, p: Vec3) -> float:
    return dot(vector_in(lines, i, 0), subtract(p, vector_in(lines, i, 3)))


@element
def _is_beyond(p: Vec3, q: Vec3, other: Vec3, low: Vec3, high: Vec3, slack: float) -> bool:
    """Whether low and high lie beyond the edge pq of a triangle, whose third corner is `other`, clearly."""
    edge = unit_or(subtract(q, p), ZERO)
    inwards = subtract(other, p)
    inwards = unit_or(subtract(inwards, scale(edge, dot(edge, inwards))), ZERO)
    return dot(inwards, subtract(low, p)) < -slack and dot(inwards, subtract(high, p)) < -slack


@element
def _may_cross(lines: Floats, i: int, u: Vec3, v: Vec3, w: Vec3, slack: float) -> bool:
    """Whether a line's segment may pass through a piece: the piece has corners on both sides, and the segment is not beyond an edge."""
    su, sv, sw = _side(lines, i, u), _side(lines, i, v), _side(lines, i, w)
    if max(su, sv, sw) <= slack or min(su, sv, sw) >= -slack:
        return False
    low, high = vector_in(lines, i, 3), vector_in(lines, i, 6)
    return not (
        _is_beyond(u, v, w, low, high, slack)
        or _is_beyond(v, w, u, low, high, slack)
        or _is_beyond(w, u, v, low, high, slack)
    )


@element
def _push(room: Room, height: int, piece: Any, parent: Any, used: int, slack: float, top: int) -> tuple[int, int]:
    """Push a piece with those of its parent's lines, but for one, that may cross it. The new height, and the end of the list."""
    pieces, state, lists, lines = room
    u, v, w = piece
    start, stop, inside, cuts, seed = parent
    _set_row(pieces, height, u, v, w)
    state[height, START] = top
    for i in range(start, stop):
        if lists[i] != used and _may_cross(lines, lists[i], u, v, w, slack):
            lists[top] = lists[i]
            top += 1
    state[height, STOP] = top
    state[height, INSIDE] = inside
    state[height, CUTS] = cuts
    state[height, SEED] = seed
    return height + 1, top


@kernel
def _push_halves(room: Room, height: int, piece: Any, sides: Vec3, parent: Any, used: int, slack: float) -> int:
    """Push what a line leaves of a piece on either side: two or three triangles. `sides`: how far its corners lie across the line."""
    top = parent[1]
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        p, q, r = piece[i], piece[j], piece[k]
        s, t, x = sides[i], sides[j], sides[k]
        if abs(s) <= slack and min(t, x) < -slack and max(t, x) > slack:
            on = lerp(q, r, t / (t - x))
            height, top = _push(room, height, (p, q, on), parent, used, slack, top)
            return _push(room, height, (p, on, r), parent, used, slack, top)[0]
        if (s > slack and t < -slack and x < -slack) or (s < -slack and t > slack and x > slack):
            on_q, on_r = lerp(p, q, s / (s - t)), lerp(p, r, s / (s - x))
            height, top = _push(room, height, (on_q, q, r), parent, used, slack, top)
            height, top = _push(room, height, (on_q, r, on_r), parent, used, slack, top)
            return _push(room, height, (p, on_q, on_r), parent, used, slack, top)[0]
    return _push(room, height, piece, parent, used, slack, top)[0]


@element
def _farthest_corner(b: PacketTree, slot: int, piece: Any) -> tuple[float, Vec3]:
    """The corner of a piece farthest from the triangle in a slot of b, and its distance: that of no point of the piece is larger."""
    far, corner = closest_in_slot(b.corners, slot, piece[0])[0], piece[0]
    for i in range(1, 3):
        d_sq = closest_in_slot(b.corners, slot, piece[i])[0]
        if d_sq > far:
            far, corner = d_sq, piece[i]
    return np.sqrt(far), corner


@element
def _distance_to(b: PacketTree, slot: int, p: Vec3) -> float:
    return np.sqrt(closest_in_slot(b.corners, slot, p)[0])


@element
def _find_exact_cut(b: PacketTree, slot: int, other: int, piece: Any, corner: Vec3) -> tuple[bool, Vec3]:
    """A cut after which the distance to one triangle of b bounds the depth better: whether there is one, and the sides of the corners.

    Where `corner` lies beyond an edge of the triangle in `slot`: across that edge. Else where that triangle and the one in `other` are equally far.
    """
    t = own_triangle(b.corners, slot)
    normal, farthest, sides = _normal(t[0], t[1], t[2]), 0.0, (0.0, 0.0, 0.0)
    for i in range(3):
        outwards = unit_or(cross(unit_or(subtract(t[(i + 1) % 3], t[i]), ZERO), normal), ZERO)
        if dot(outwards, subtract(corner, t[i])) > farthest:
            farthest = dot(outwards, subtract(corner, t[i]))
            sides = (
                dot(outwards, subtract(piece[0], t[i])),
                dot(outwards, subtract(piece[1], t[i])),
                dot(outwards, subtract(piece[2], t[i])),
            )
    if farthest == 0.0 and other != slot:
        sides = (
            _distance_to(b, slot, piece[0]) - _distance_to(b, other, piece[0]),
            _distance_to(b, slot, piece[1]) - _distance_to(b, other, piece[1]),
            _distance_to(b, slot, piece[2]) - _distance_to(b, other, piece[2]),
        )
    low, high = min(sides[0], sides[1], sides[2]), max(sides[0], sides[1], sides[2])
    return low < 0.0 < high and min(-low, high) >= THINNEST * (high - low), sides


@element
def _halve_longest(piece: Any) -> Vec3:
    """The sides of the corners for a cut from one corner to the middle of the opposite edge, the longest."""
    x, y, z = distance_sq(piece[1], piece[2]), distance_sq(piece[2], piece[0]), distance_sq(piece[0], piece[1])
    if x >= y and x >= z:
        return (0.0, 1.0, -1.0)
    return (1.0, 0.0, -1.0) if y >= z else (1.0, -1.0, 0.0)


@element
def is_inside(b: PacketTree, parity: bool, p: Vec3, known: Known) -> bool:
    """Which side p lies on, from a known point if it is near enough."""
    d = known[1]
    if distance_sq(p, known[0]) < d * d:
        return d > 0.0
    return winding(b, IDENTITY, p, parity) != 0


@kernel
def _measure_inside(
    b: PacketTree, parity: bool, p: Vec3, slot_a: int, seed: int, best: Depth
) -> tuple[bool, int, Depth]:
    """Measure a point of a piece inside b: False if it is not inside after all, a slot of b near it, and the best.

    Pieces thinner than rounding may be taken for the wrong side. What is deeper than the best is asked about itself, so that no such piece counts.
    """
    d_sq, slot_b, q = find_nearest(b, p, seed, best[0])
    d = np.sqrt(d_sq)
    if d <= best[0]:
        return True, slot_b, best
    if winding(b, IDENTITY, p, parity) == 0:
        return False, slot_b, best
    return True, slot_b, (d, slot_a, slot_b, p, q)


@kernel
def _search_piece(
    b: PacketTree, parity: bool, slot_a: int, room: Room, height: int, slack: float, near: Entry, best: Depth
) -> tuple[int, Depth]:
    """Search the piece at `height` and push what of it may be deeper than the best. There is room for that. The new height, and the best."""
    pieces, state, lists, lines = room
    piece = (vector_in(pieces, height, 0), vector_in(pieces, height, 3), vector_in(pieces, height, 6))
    start, stop, inside = state[height, START], state[height, STOP], state[height, INSIDE]
    p = scale(add(add(piece[0], piece[1]), piece[2]), 1.0 / 3.0)
    radius = np.sqrt(max(distance_sq(p, piece[0]), distance_sq(p, piece[1]), distance_sq(p, piece[2])))
    d_sq, slot, _ = find_nearest(b, p, state[height, SEED], best[0] * (1.0 + TOLERANCE) - radius)
    d = np.sqrt(d_sq)
    reach, corner = _farthest_corner(b, slot, piece)
    bound = min(d + radius, reach)
    if bound <= best[0] * (1.0 + TOLERANCE):
        return height, best
    if inside == 0 and stop > start and d < radius:
        used = int(lists[(start + stop) // 2])
        sides = (_side(lines, used, piece[0]), _side(lines, used, piece[1]), _side(lines, used, piece[2]))
        return _push_halves(room, height, piece, sides, (start, stop, 0, 0, slot), used, slack), best
    if inside == 0 and not is_inside(b, parity, p, near[1]):
        return height, best
    right, _, best = _measure_inside(b, parity, p, slot_a, slot, best)
    if not right:
        return height, best
    right, other, best = _measure_inside(b, parity, corner, slot_a, slot, best)
    if not right or bound <= best[0] * (1.0 + TOLERANCE):
        return height, best
    cuts = state[height, CUTS]
    sides, exact = (0.0, 0.0, 0.0), False
    if cuts < EXACT_CUTS:
        exact, sides = _find_exact_cut(b, slot, other, piece, corner)
    if not exact:
        sides = _halve_longest(piece)
    return _push_halves(room, height, piece, sides, (stop, stop, 1, cuts + 1 if exact else 0, slot), -1, 0.0), best


@kernel
def search_triangle(
    a: PacketTree,
    pose_a: Floats,
    slot_a: int,
    b: PacketTree,
    parity: bool,
    cutters: Integers,
    slack: float,
    near: Entry,
    best: Depth,
    room: Room,
) -> tuple[Depth, Room]:
    """The better of the best so far and the deepest point of one triangle of a in b, and the room, which may have grown.

    cutters: pairs of slots of triangles that meet, (slot of a << 32) | slot of b, sorted. slack: how far apart rounding may have moved them.
    """
    u, v, w = world_triangle(a.corners, slot_a, pose_a)
    enough = best[0] * (1.0 + TOLERANCE)
    if max(distance_sq(near[2], u), distance_sq(near[2], v), distance_sq(near[2], w)) <= enough * enough:
        return best, room
    first, last = int(np.searchsorted(cutters, slot_a << 32)), int(np.searchsorted(cutters, (slot_a + 1) << 32))
    room = _grown(room, 4, 4 * (last - first), last - first)
    count = _find_lines(u, v, w, b, cutters, first, last, room[3])
    for i in range(count):
        room[2][i] = i
    _set_row(room[0], 0, u, v, w)
    state = room[1]
    state[0, START], state[0, STOP], state[0, INSIDE], state[0, CUTS], state[0, SEED] = 0, count, 0, 0, near[3]
    height = 1
    while height > 0:
        height -= 1
        start, stop = room[1][height, START], room[1][height, STOP]
        room = _grown(room, height + 3, stop + 3 * (stop - start), 0)
        height, best = _search_piece(b, parity, slot_a, room, height, slack, near, best)
    return best, room
