"""Contacts of two surfaces: their hulls first, then the trees of boxes on the real triangles (Peyré 2001, §4.1; Meseure 1998).

Where both meshes are convex, the world gives them to their hulls. Otherwise the hulls only say "apart"; when they touch, the trees find the pairs of
faces that meet or come near. Each pair has one row: the middle of the crossing, the normal between the two faces' own, and as depth how far the
corners of one face reach behind the other, the lesser of both ways. So the depth of a row is local, and vanishes as the faces part.
At most MOST_ROWS rows are kept, spread over the contact.
"""

import numpy as np

from abut.arrays import Floats, Integers
from abut.discrete import Deformable, Rigid, collide
from abut.shapes.solids import Soft, Surface

MOST_ROWS = 8


def meet_surfaces(
    a: Surface | Soft, pose_a: Floats, b: Surface | Soft, pose_b: Floats, margin: float
) -> tuple[Floats, Integers]:
    """Rows (n,7) point, normal from a to b, separation; and faces (n,2)."""
    body_a, body_b = _place(a, pose_a, 0), _place(b, pose_b, 1)
    hits = collide(body_a, body_b, margin=0.5 * margin)
    if not len(hits):
        return np.empty((0, 7)), np.empty((0, 2), np.int64)
    corners_a = body_a.vertices[body_a.mesh.faces[hits.face_a]]
    corners_b = body_b.vertices[body_b.mesh.faces[hits.face_b]]
    apart = np.linalg.norm(hits.segment[:, 1] - hits.segment[:, 0], axis=1)
    gap = -np.minimum(_reach(corners_a, corners_b), _reach(corners_b, corners_a))
    # Faces that do not meet are described by their nearest points, and the gap is their distance.
    exact = collide(body_a, body_b) if margin > 0.0 else hits
    keys = hits.face_a * len(body_b.mesh.faces) + hits.face_b
    meeting = np.isin(keys, exact.face_a * len(body_b.mesh.faces) + exact.face_b)
    gap = np.where(meeting, gap, apart)
    rows = np.column_stack((hits.point, hits.normal, gap))
    kept = _spread(rows)
    return rows[kept], np.stack((hits.face_a, hits.face_b), axis=1)[kept]


def _place(shape: Surface | Soft, pose: Floats, side: int) -> Rigid | Deformable:
    if isinstance(shape, Soft):
        return shape.body
    body = shape.bodies[side]
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = pose[:9].reshape(3, 3), pose[9:]
    body.pose = matrix
    return body


def _reach(corners: Floats, planes: Floats) -> Floats:
    """(n,) how far the corners (n,3,3) reach behind the planes of triangles (n,3,3), at most; 0 in front."""
    normal = np.cross(planes[:, 1] - planes[:, 0], planes[:, 2] - planes[:, 0])
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    normal = np.divide(normal, length, out=np.zeros_like(normal), where=length > 0.0)
    height = ((corners - planes[:, :1]) * normal[:, np.newaxis]).sum(axis=2)
    return np.maximum(0.0, -height.min(axis=1))


def _spread(rows: Floats) -> Integers:
    """Up to MOST_ROWS rows: the deepest, then always the one farthest from those chosen."""
    chosen = [int(np.argmin(rows[:, 6]))]
    distance = np.full(len(rows), np.inf)
    while len(chosen) < min(MOST_ROWS, len(rows)):
        distance = np.minimum(distance, ((rows[:, :3] - rows[chosen[-1], :3]) ** 2).sum(axis=1))
        farthest = int(np.argmax(distance))
        if distance[farthest] == 0.0:
            break
        chosen.append(farthest)
    return np.array(sorted(chosen))
