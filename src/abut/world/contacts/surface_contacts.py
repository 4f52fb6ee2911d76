"""Contacts of two surfaces: their hulls first, then the trees of boxes on the real triangles (Peyré 2001, §4.1; Meseure 1998).

Where both meshes are convex, the world gives them to their hulls. Otherwise the hulls only say "apart"; when they touch, the trees find the pairs of
faces that meet or come near. Of two faces that meet, the part of the one that lies over the other reaches behind it by so much, and the other way
round: the lesser of both says which face is pierced, and the point has its normal, where that reaches farthest. Its depth is no more than the
shortest move that parts the two faces, so it is never more than what parts the surfaces, and vanishes as the faces part. Two walls that cross at
their borders have a short path along neither's normal, and no point: the faces at their feet have one.
Faces that come near are described by their nearest points, if they face each other: what lies behind a
face of a solid was let through by another. At most MOST_ROWS points are kept, spread over the contact.
"""

import math

import numpy as np

from abut.core.arrays import Floats, Integers
from abut.core.records import Records
from abut.discrete import Deformable, Rigid, collide
from abut.geometry.rows import unit_vectors
from abut.shapes.surfaces import BOTH, Soft, Surface
from abut.world.contacts.points import POINT, ContactPoints, no_points

MOST_ROWS = 8
EDGE = 1e-9
"""Of the size of a face: what is so little outside counts as over it."""
PARALLEL = 1e-5
"""Sine below which two edges span no axis of their own: the faces beside them give one within as much of it."""
LONGEST_EXIT = 2.0
"""A face that is pierced says where to go if that is at most so many times the shortest that parts the two faces; where it is longer, they meet
at their borders, and other faces say it."""

LEAST_FACING = math.cos(math.radians(30.0))
"""What a soft body comes near counts if one of both faces looks towards the other up to this angle: along a tiled floor it does not."""


def meet_surfaces(a: Surface | Soft, pose_a: Floats, b: Surface | Soft, pose_b: Floats, margin: float) -> ContactPoints:
    """Where two surfaces meet, or come as near as the margin; their colliders are not known here.

    Of a soft body every face counts that is touched."""
    body_a, body_b = place_surface(a, pose_a, 0), place_surface(b, pose_b, 1)
    hits = collide(body_a, body_b, margin=0.5 * margin)
    if not len(hits):
        return no_points()
    corners_a = body_a.vertices[body_a.mesh.faces[hits.face_a]]
    corners_b = body_b.vertices[body_b.mesh.faces[hits.face_b]]
    normal_a, normal_b = _turn_normals(a, corners_a, corners_b), _turn_normals(b, corners_b, corners_a)
    meeting = hits._details.gap < 0.0
    points = _describe_near(hits.segment, hits.normal)
    near = ~meeting
    for shape, inwards, normal in ((a, 1.0, normal_a), (b, -1.0, normal_b)):
        if shape.side != BOTH:
            near &= (points["normal"] * normal).sum(axis=1) * inwards > 0.0
    points[meeting] = _describe_meeting(*(each[meeting] for each in (corners_a, normal_a, corners_b, normal_b)))
    is_elastic = any(isinstance(shape, Soft) and shape.model is not None for shape in (a, b))
    if is_elastic:
        cosine = [np.abs((points["normal"] * normal).sum(axis=1)) for normal in (normal_a, normal_b)]
        near &= np.maximum(*cosine) >= LEAST_FACING
    kept = np.flatnonzero((meeting & np.isfinite(points["separation"])) | near)
    if not len(kept):
        return no_points()
    if not is_elastic:
        kept = kept[_spread(points[kept])]
    found = ContactPoints(points[kept].view(np.float64).reshape(-1, 7), np.zeros((len(kept), 5), np.int64))
    found.face_a[:], found.face_b[:] = hits.face_a[kept], hits.face_b[kept]
    return found


def place_surface(shape: Surface | Soft, pose: Floats, side: int) -> Rigid | Deformable:
    """The body of a surface for questions about its triangles, at a pose (12,). Each side of a pair has one."""
    if isinstance(shape, Soft):
        return shape.body
    body = shape.bodies[side]
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = pose[:9].reshape(3, 3), pose[9:]
    body.pose = matrix
    return body


def _turn_normals(shape: Surface | Soft, corners: Floats, others: Floats) -> Floats:
    """(n,3) unit normals of faces; of a surface with two sides, those to the side on which the other face has more of itself."""
    normal = unit_vectors(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))
    if shape.side != BOTH:
        return normal
    height = ((others - corners[:, :1]) * normal[:, np.newaxis]).sum(axis=2)
    return np.where((height.max(axis=1) >= -height.min(axis=1))[:, np.newaxis], normal, -normal)


def _describe_near(segment: Floats, between: Floats) -> Records:
    """Rows of faces that do not meet, from their nearest points; `between` is the normal of those that touch."""
    across = segment[:, 1] - segment[:, 0]
    apart = np.linalg.norm(across, axis=1, keepdims=True)
    normal = np.divide(across, apart, out=between.copy(), where=apart > 0.0)
    points = np.empty(len(segment), POINT)
    points["point"], points["normal"], points["separation"] = segment.mean(axis=1), normal, apart[:, 0]
    return points


def _describe_meeting(corners_a: Floats, normal_a: Floats, corners_b: Floats, normal_b: Floats) -> Records:
    """Rows of faces that meet; a separation of −inf where another pair of faces says more. One row at least is finite."""
    depth_a, point_a = _reach_behind(corners_a, corners_b, normal_b)
    depth_b, point_b = _reach_behind(corners_b, corners_a, normal_a)
    least, axis = _part_triangles(corners_a, corners_b, normal_a - normal_b)
    reach, first = np.minimum(depth_a, depth_b), (depth_a <= depth_b)[:, np.newaxis]
    depth = np.minimum(reach, least)[:, np.newaxis]
    points = np.empty(len(depth), POINT)
    points["point"] = np.where(first, point_a + 0.5 * depth * normal_b, point_b + 0.5 * depth * normal_a)
    points["normal"], points["separation"] = np.where(first, -normal_b, normal_a), -depth[:, 0]
    size = np.abs(corners_a - corners_a[:, :1]).max(axis=(1, 2))
    counts = reach <= LONGEST_EXIT * least + EDGE * size
    if len(points) and not counts.any():
        k = int(np.argmax(least))
        middle = 0.5 * (corners_a[k].mean(axis=0) + corners_b[k].mean(axis=0))
        counts[k], points["point"][k], points["normal"][k], points["separation"][k] = True, middle, axis[k], -least[k]
    points["separation"][~counts] = -np.inf
    return points


def _part_triangles(a: Floats, b: Floats, towards: Floats) -> tuple[Floats, Floats]:
    """(n,) the shortest move that parts triangles a and b (n,3,3) that meet, and (n,3) its direction for b, turned to `towards` if both do.

    No move that parts two surfaces is shorter: it parts all their triangles. The axes of a flat polytope: both normals, all pairs of edges."""
    edges_a, edges_b = unit_vectors(np.roll(a, -1, axis=1) - a), unit_vectors(np.roll(b, -1, axis=1) - b)
    own_a, own_b = (
        unit_vectors(np.cross(edges_a[:, 0], edges_a[:, 1])),
        unit_vectors(np.cross(edges_b[:, 0], edges_b[:, 1])),
    )
    crossed = np.cross(edges_a[:, :, np.newaxis], edges_b[:, np.newaxis]).reshape(-1, 9, 3)
    across = [np.cross(edges, own[:, np.newaxis]) for edges, own in ((edges_a, own_a), (edges_b, own_b))]
    # Those across the edges within a plane are for triangles of one plane.
    axes = np.concatenate((own_a[:, np.newaxis], own_b[:, np.newaxis], crossed, *across), axis=1)
    known = np.linalg.norm(axes, axis=2) > PARALLEL
    axes = unit_vectors(axes)
    on_a, on_b = np.einsum("nki,nai->nak", a, axes), np.einsum("nki,nai->nak", b, axes)
    forth, back = on_a.max(axis=2) - on_b.min(axis=2), on_b.max(axis=2) - on_a.min(axis=2)
    ways = np.where(known, np.maximum(np.minimum(forth, back), 0.0), np.inf)
    best, rows = np.argmin(ways, axis=1), np.arange(len(a))
    axis = axes[rows, best]
    sign = np.sign(back[rows, best] - forth[rows, best])
    sign = np.where(sign == 0.0, np.where((axis * towards).sum(axis=1) < 0.0, -1.0, 1.0), sign)
    return ways[rows, best], axis * sign[:, np.newaxis]


def _reach_behind(corners: Floats, face: Floats, normal: Floats) -> tuple[Floats, Floats]:
    """(n,) how far the part of triangles that lies over a face reaches behind it, and (n,3) where; inf where no part does, or the face has no area.

    The part is a polygon. Its corners are corners of the triangle, points where its edges cross the sides of the prism over the face, and
    points over the corners of the face."""
    outwards = np.cross(np.roll(face, -1, axis=1) - face, normal[:, np.newaxis])  # (n,3,3) of the sides of the prism
    size = np.linalg.norm(outwards, axis=2).max(axis=1)

    def beyond(points: Floats) -> Floats:  # (n,k,3) → (n,k,3) how far outside of each side, times its length
        return ((points[:, :, np.newaxis] - face[:, np.newaxis]) * outwards[:, np.newaxis]).sum(axis=3)

    ahead = np.roll(corners, -1, axis=1)
    out, out_ahead = beyond(corners), beyond(ahead)
    change = out - out_ahead
    part = np.divide(out, change, out=np.full_like(change, np.nan), where=change != 0.0)  # (n, edge, side)
    part[(part < 0.0) | (part > 1.0)] = np.nan
    crossings = corners[:, :, np.newaxis] + part[..., np.newaxis] * (ahead - corners)[:, :, np.newaxis]
    own = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    slope = (own * normal).sum(axis=1)[:, np.newaxis]
    lift = ((corners[:, :1] - face) * own[:, np.newaxis]).sum(axis=2)
    lift = np.divide(lift, slope, out=np.full_like(lift, np.nan), where=slope != 0.0)
    above = face + lift[:, :, np.newaxis] * normal[:, np.newaxis]
    edge_sides = np.cross(ahead - corners, own[:, np.newaxis])
    inside = ((above[:, :, np.newaxis] - corners[:, np.newaxis]) * edge_sides[:, np.newaxis]).sum(axis=3)
    above[(inside > 0.0).any(axis=2)] = np.nan
    points = np.concatenate((corners, crossings.reshape(-1, 9, 3), above), axis=1)
    over = (beyond(points) <= (EDGE * size**2)[:, np.newaxis, np.newaxis]).all(axis=2)
    height = ((points - face[:, :1]) * normal[:, np.newaxis]).sum(axis=2)
    height = np.where(over & (size > 0.0)[:, np.newaxis], height, np.inf)
    lowest = np.argmin(height, axis=1)
    rows = np.arange(len(corners))
    depth = -height[rows, lowest]
    return np.where(np.isfinite(depth), np.maximum(depth, 0.0), np.inf), points[rows, lowest]


def _spread(points: Records) -> Integers:
    """Up to MOST_ROWS of the points: the deepest, then always the one farthest from those chosen; then of those that only come near."""
    place, separation = points["point"], points["separation"]
    chosen = [int(np.argmin(separation))]
    distance = np.full(len(points), np.inf)
    for group in (separation <= 0.0, separation > 0.0):
        while len(chosen) < min(MOST_ROWS, len(points)):
            distance = np.minimum(distance, ((place - place[chosen[-1]]) ** 2).sum(axis=1))
            left = np.where(group, distance, 0.0)
            farthest = int(np.argmax(left))
            if left[farthest] == 0.0:
                break
            chosen.append(farthest)
    return np.array(sorted(chosen))
