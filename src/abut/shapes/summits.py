"""Whether a triangle of a surface can be touched along a direction: only where the surface itself reaches no farther that way.

The outermost corner or edge of a triangle along a direction is a place where a body can touch the surface from there, if it is outermost among its
neighbors too (the direction lies in the normal cone of that corner or edge). Otherwise the surface goes on beyond the triangle's border, and a
contact at that border is an artefact of the triangulation. This holds for either side of a surface, and for one that deforms.

Layout of `rings`: entry v, for each of the n points, says where the neighbors of point v start in the same array, entry v + 1 where they end; n + 1
entries, then the neighbors.
"""

import math

import numpy as np

from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel, stay_apart
from abut.geometry.rows import vector_at
from abut.geometry.vec import Vec3, dot, norm, subtract
from abut.mesh import Mesh

FLAT = 1e-3
"""Sine of the angle below which two directions count as level: a contact normal off by less is the face's own."""
OPPOSITE = 4
"""First of three columns of `triangles`: the corner of the neighbor across edge i, from corner i to the next; −1 at a border."""


def find_opposite(mesh: Mesh) -> Integers:
    """(m,3) the vertex of the neighbor across each edge, from corner i to the next; −1 where there is no neighbor, or more than one."""
    result = np.full((len(mesh.faces), 3), -1)
    starts, faces = mesh.edge_faces.offsets, mesh.edge_faces.faces
    pairs = np.flatnonzero(np.diff(starts) == 2)
    edge_of = mesh.face_edges[
        :, [2, 0, 1]
    ]  # side i of `face_edges` is opposite corner i; here edge i starts at corner i
    for own, other in ((0, 1), (1, 0)):
        here, there = faces[starts[pairs] + own], faces[starts[pairs] + other]
        side = (edge_of[here] == pairs[:, np.newaxis]).argmax(axis=1)
        corners, ends = mesh.faces[there], mesh.edges[pairs]
        apex = ((corners != ends[:, :1]) & (corners != ends[:, 1:])).argmax(axis=1)
        result[here, side] = corners[np.arange(len(corners)), apex]
    return result


def join_rings(meshes: list[Mesh]) -> Integers:
    """The rings of the vertices of meshes, one after the other."""
    counts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    edges = np.concatenate(
        [np.empty((0, 2), np.int64), *(mesh.edges + at for mesh, at in zip(meshes, counts[:-1], strict=True))]
    )
    ends = np.concatenate((edges, edges[:, ::-1]))
    ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
    total = int(counts[-1])
    starts = total + 1 + np.concatenate(([0], np.cumsum(np.bincount(ends[:, 0], minlength=total)))).astype(np.int64)
    return np.concatenate((starts, ends[:, 1])).astype(np.int64)


@kernel
def _rises(points: Floats, start: int, end: int, along: Vec3, slack: float) -> bool:
    """Whether the surface goes on along a direction from one point to another."""
    side = subtract(vector_at(points, end), vector_at(points, start))
    return dot(side, along) > slack * norm(side)


@kernel
def is_summit(points: Floats, triangles: Integers, rings: Integers, t: int, along: Vec3, cosine: float) -> bool:
    """Whether triangle t can be touched from a direction `along` (from the surface to what touches it), all in the surface's frame.

    cosine: of the angle to the triangle's normal, on the side that is touched. Almost along the normal only a border that is sharp has contacts of
    its own; elsewhere a neighbor that is level counts as lower, so that a wall which stands on a face touches with its foot."""
    stay_apart()
    slack = -FLAT if cosine >= math.sqrt(1.0 - FLAT * FLAT) else FLAT
    top, best = 0, -math.inf
    for k in range(3):
        height = dot(vector_at(points, triangles[t, k]), along)
        if height > best:
            top, best = k, height
    peak = triangles[t, top]
    for k in range(3):  # an edge that is level
        i, j = triangles[t, k], triangles[t, (k + 1) % 3]
        if i == peak or j == peak:
            side = subtract(vector_at(points, j), vector_at(points, i))
            if abs(dot(side, along)) <= FLAT * norm(side):
                beyond = triangles[t, OPPOSITE + k]
                if beyond < 0 or not _rises(points, i, beyond, along, slack):
                    return True
    higher = False
    for k in range(rings[peak], rings[peak + 1]):
        higher = higher or _rises(points, peak, rings[k], along, slack)
    return not higher
