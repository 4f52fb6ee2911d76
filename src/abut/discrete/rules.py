"""What counts as a contact of two triangles: that they meet, that they come near, or that a surface meets itself.

A rule is a NamedTuple; `accept` and `reach_of` are chosen by its class when the traversal is compiled, so that the traversal is written once.
"""

from typing import Any, NamedTuple

from abut.arrays import Floats, Integers
from abut.bvh.packets import PacketTree
from abut.discrete.narrow import meet_corners, world_corner
from abut.geometry.crossings import meet_segment_triangle
from abut.geometry.predicates import orient_3d
from abut.geometry.triangles import closest_triangle_triangle
from abut.geometry.vec import Vec3, cross, dot, subtract
from abut.jit import element, generic, implement


class Meet(NamedTuple):
    """Triangles of two bodies that have a point in common."""

    unused: int


class Near(NamedTuple):
    """Triangles of two bodies whose distance is at most `margin`."""

    margin: float


class MeetItself(NamedTuple):
    """Triangles of one body that have more in common than the vertices they share; each pair once. faces (n,3) in the order of the slots."""

    faces: Integers


@generic
def accept(rule: Any, a: PacketTree, i: int, pose_a: Floats, b: PacketTree, j: int, pose_b: Floats, sure: bool) -> bool:
    """Whether slots i of a and j of b are a contact; `sure` tells that float32 has proved that they meet."""
    raise NotImplementedError


@generic
def reach_of(rule: Any) -> float:
    """How far apart a pair may be, in world units."""
    raise NotImplementedError


@implement(reach_of, Meet)
def reach_of_meet(rule: Meet) -> float:
    """Touching."""
    return 0.0


@implement(reach_of, Near)
def reach_of_near(rule: Near) -> float:
    """The margin."""
    return rule.margin


@implement(reach_of, MeetItself)
def reach_of_itself(rule: MeetItself) -> float:
    """Touching."""
    return 0.0


@implement(accept, Meet, PacketTree, PacketTree)
def accept_meet(rule: Meet, a: Any, i: int, pose_a: Floats, b: Any, j: int, pose_b: Floats, sure: bool) -> bool:
    """Proved already, or by exact signs."""
    return sure or meet_corners(a.corners, i, pose_a, b.corners, j, pose_b)


@implement(accept, Near, PacketTree, PacketTree)
def accept_near(rule: Near, a: Any, i: int, pose_a: Floats, b: Any, j: int, pose_b: Floats, sure: bool) -> bool:
    """By the distance of the two triangles."""
    if sure:
        return True
    distance_sq = closest_triangle_triangle(
        world_corner(a.corners, i, 0, pose_a),
        world_corner(a.corners, i, 1, pose_a),
        world_corner(a.corners, i, 2, pose_a),
        world_corner(b.corners, j, 0, pose_b),
        world_corner(b.corners, j, 1, pose_b),
        world_corner(b.corners, j, 2, pose_b),
    )[4]
    return distance_sq <= rule.margin * rule.margin


@element
def _find_common(faces: Integers, i: int, j: int) -> tuple[int, int, int]:
    """How many vertices two faces share, and the corner of each at which a single shared one stands."""
    count, at_i, at_j = 0, 0, 0
    for k in range(3):
        for m in range(3):
            if faces[i, k] == faces[j, m]:
                count += 1
                at_i, at_j = k, m
    return count, at_i, at_j


@element
def _meet_beyond_edge(corners: Floats, i: int, j: int, faces: Integers, pose: Floats) -> bool:
    """Faces that share two vertices: whether they lie in one plane, on the same side of the edge."""
    own = 0
    for k in range(3):
        if faces[i, k] != faces[j, 0] and faces[i, k] != faces[j, 1] and faces[i, k] != faces[j, 2]:
            own = k
    other = 0
    for m in range(3):
        if faces[j, m] != faces[i, 0] and faces[j, m] != faces[i, 1] and faces[j, m] != faces[i, 2]:
            other = m
    p = world_corner(corners, i, (own + 1) % 3, pose)
    q = world_corner(corners, i, (own + 2) % 3, pose)
    r, s = world_corner(corners, i, own, pose), world_corner(corners, j, other, pose)
    if orient_3d(p, q, r, s) != 0:
        return False
    return _is_same_side(p, q, r, s)


@element
def _is_same_side(p: Vec3, q: Vec3, r: Vec3, s: Vec3) -> bool:
    """For coplanar points: whether r and s lie on the same side of the line pq (their normals agree)."""
    edge = subtract(q, p)
    return dot(cross(edge, subtract(r, p)), cross(edge, subtract(s, p))) > 0.0


@implement(accept, MeetItself, PacketTree, PacketTree)
def accept_itself(rule: MeetItself, a: Any, i: int, pose_a: Floats, b: Any, j: int, pose_b: Floats, sure: bool) -> bool:
    """By what lies beyond the shared vertices."""
    if i >= j:
        return False
    count, at_i, at_j = _find_common(rule.faces, i, j)
    if count == 0:
        return sure or meet_corners(a.corners, i, pose_a, b.corners, j, pose_b)
    if count > 3:  # a collapsed face beside another: only its segment counts, and it is shared
        return False
    if count == 3:
        return True
    if count == 2:
        return _meet_beyond_edge(a.corners, i, j, rule.faces, pose_a)
    p0, p1 = world_corner(a.corners, i, (at_i + 1) % 3, pose_a), world_corner(a.corners, i, (at_i + 2) % 3, pose_a)
    q0, q1 = world_corner(b.corners, j, (at_j + 1) % 3, pose_b), world_corner(b.corners, j, (at_j + 2) % 3, pose_b)
    v = world_corner(a.corners, i, at_i, pose_a)
    return meet_segment_triangle(p0, p1, v, q0, q1) or meet_segment_triangle(q0, q1, v, p0, p1)
