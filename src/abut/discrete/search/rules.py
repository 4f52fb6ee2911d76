"""What counts as a contact of two triangles: that they meet, that they come near, or that a surface meets itself.

A rule is a NamedTuple; `accept` and `min_distance_of` are chosen by its class when the traversal is compiled, so that the traversal is written once.
"""

from typing import Any, NamedTuple

from abut.core.arrays import Floats, Integers
from abut.core.jit import element, generic, implement
from abut.discrete.search.placement import world_corner, world_triangle
from abut.discrete.search.triangle_packets import magnification, magnify_triangle, meet_corners
from abut.geometry.crossings import meet_segment_triangle
from abut.geometry.predicates import orient_2d, orient_3d
from abut.geometry.triangles import closest_triangle_triangle
from abut.geometry.vec import Vec3
from abut.trees.packets.packet_tree import PacketTree


class Meet(NamedTuple):
    """Triangles of two bodies that have a point in common."""

    unused: int


class Near(NamedTuple):
    """Triangles of two bodies whose distance is at most `min_distance`."""

    min_distance: float


class MeetItself(NamedTuple):
    """Triangles of one body that have more in common than the vertices they share, or share none and are no farther apart than `min_distance`.

    Each pair once. faces (n,3) in the order of the slots."""

    faces: Integers
    min_distance: float


@generic
def accept(rule: Any, a: PacketTree, i: int, pose_a: Floats, b: PacketTree, j: int, pose_b: Floats, sure: bool) -> bool:
    """Whether slots i of a and j of b are a contact; `sure` tells that float32 has proved that they meet."""
    raise NotImplementedError


@generic
def min_distance_of(rule: Any) -> float:
    """How far apart a pair may be, in world units."""
    raise NotImplementedError


@implement(min_distance_of, Meet)
def min_distance_of_meet(rule: Meet) -> float:
    """Touching."""
    return 0.0


@implement(min_distance_of, Near)
def min_distance_of_near(rule: Near) -> float:
    """As the rule has it."""
    return rule.min_distance


@implement(min_distance_of, MeetItself)
def min_distance_of_itself(rule: MeetItself) -> float:
    """As the rule has it."""
    return rule.min_distance


@implement(accept, Meet, PacketTree, PacketTree)
def accept_meet(rule: Meet, a: Any, i: int, pose_a: Floats, b: Any, j: int, pose_b: Floats, sure: bool) -> bool:
    """Proved already, or by exact signs."""
    return sure or meet_corners(a.corners, i, pose_a, b.corners, j, pose_b)


@element
def come_near(a: Any, i: int, pose_a: Floats, b: Any, j: int, pose_b: Floats, min_distance: float) -> bool:
    """Whether the distance of two triangles is at most that."""
    s, t = world_triangle(a, i, pose_a), world_triangle(b, j, pose_b)
    factor = magnification(s, t)
    s, t, near = magnify_triangle(s, factor), magnify_triangle(t, factor), min_distance * factor
    return closest_triangle_triangle(s[0], s[1], s[2], t[0], t[1], t[2])[4] <= near * near


@implement(accept, Near, PacketTree, PacketTree)
def accept_near(rule: Near, a: Any, i: int, pose_a: Floats, b: Any, j: int, pose_b: Floats, sure: bool) -> bool:
    """By the distance of the two triangles."""
    return sure or come_near(a.corners, i, pose_a, b.corners, j, pose_b, rule.min_distance)


@element
def _find_common(faces: Integers, i: int, j: int) -> tuple[int, int, int]:
    """How many vertices two faces share, a repeated one counted once, and the corner of each at which the last of them stands."""
    count, at_i, at_j = 0, 0, 0
    for k in range(3):
        if (k > 0 and faces[i, k] == faces[i, 0]) or (k > 1 and faces[i, k] == faces[i, 1]):
            continue
        for m in range(3):
            if faces[i, k] == faces[j, m]:
                count += 1
                at_i, at_j = k, m
                break
    return count, at_i, at_j


@element
def _find_own(faces: Integers, i: int, j: int) -> int:
    """The corner of face i that face j does not have; −1 if it has them all."""
    for k in range(3):
        if faces[i, k] != faces[j, 0] and faces[i, k] != faces[j, 1] and faces[i, k] != faces[j, 2]:
            return k
    return -1


@element
def _is_on(x: Vec3, p: Vec3, q: Vec3, r: Vec3) -> bool:
    return meet_segment_triangle(x, x, p, q, r)


@element
def _meet_beyond_edge(p: Vec3, q: Vec3, r: Vec3, s: Vec3) -> bool:
    """Whether triangles pqr and pqs have more in common than the segment pq: they lie in one plane, on the same side of it.

    Triangles without area on one line do where the third vertex of one, beyond pq, lies in the other.
    """
    if orient_3d(p, q, r, s) != 0:
        return False
    for k in range(3):
        m = (k + 1) % 3
        a, b = (p[k], p[m]), (q[k], q[m])
        side_r, side_s = orient_2d(a, b, (r[k], r[m])), orient_2d(a, b, (s[k], s[m]))
        if side_r != 0 and side_s != 0:
            return side_r == side_s
    return (_is_on(r, p, q, s) and not _is_on(r, p, q, q)) or (_is_on(s, p, q, r) and not _is_on(s, p, q, q))


@element
def _reach_beyond(v: Vec3, p: Vec3, q: Vec3, r: Vec3, s: Vec3) -> bool:
    """Whether segment pq, opposite v in one triangle, meets the triangle vrs elsewhere than in v. Where it passes through v, its ends count."""
    if not meet_segment_triangle(p, q, v, r, s):
        return False
    if not _is_on(v, p, q, q):
        return True
    return (p != v and _is_on(p, v, r, s)) or (q != v and _is_on(q, v, r, s))


@implement(accept, MeetItself, PacketTree, PacketTree)
def accept_itself(rule: MeetItself, a: Any, i: int, pose_a: Floats, b: Any, j: int, pose_b: Floats, sure: bool) -> bool:
    """By what lies beyond the shared vertices."""
    if i >= j:
        return False
    count, at_i, at_j = _find_common(rule.faces, i, j)
    if count == 0:
        if sure:
            return True
        if rule.min_distance > 0.0:
            return come_near(a.corners, i, pose_a, b.corners, j, pose_b, rule.min_distance)
        return meet_corners(a.corners, i, pose_a, b.corners, j, pose_b)
    if count == 3:
        return True
    if count == 2:
        own, other = _find_own(rule.faces, i, j), _find_own(rule.faces, j, i)
        if own < 0 or other < 0:  # collapsed to the edge they share
            return False
        p, q = world_corner(a.corners, i, (own + 1) % 3, pose_a), world_corner(a.corners, i, (own + 2) % 3, pose_a)
        return _meet_beyond_edge(
            p, q, world_corner(a.corners, i, own, pose_a), world_corner(b.corners, j, other, pose_b)
        )
    p0, p1 = world_corner(a.corners, i, (at_i + 1) % 3, pose_a), world_corner(a.corners, i, (at_i + 2) % 3, pose_a)
    q0, q1 = world_corner(b.corners, j, (at_j + 1) % 3, pose_b), world_corner(b.corners, j, (at_j + 2) % 3, pose_b)
    v = world_corner(a.corners, i, at_i, pose_a)
    return _reach_beyond(v, p0, p1, q0, q1) or _reach_beyond(v, q0, q1, p0, p1)
