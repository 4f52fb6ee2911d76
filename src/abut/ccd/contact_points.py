"""Points and normals of many contacts: `contact` over arrays."""

import numpy as np

from abut.ccd.contact import contact_point_normal_edge_edge, contact_point_normal_vertex_face
from abut.core.arrays import Floats
from abut.core.jit import kernel
from abut.geometry.vec import Vec3


@kernel
def _point(queries: Floats, i: int, corner: int) -> Vec3:
    return queries[i, corner, 0], queries[i, corner, 1], queries[i, corner, 2]


@kernel
def _describe(is_face: bool, queries: Floats, time: Floats, point: Floats, normal: Floats) -> None:
    for i in range(len(queries)):
        p, q, r, s = _point(queries, i, 0), _point(queries, i, 1), _point(queries, i, 2), _point(queries, i, 3)
        t, u, v, w = _point(queries, i, 4), _point(queries, i, 5), _point(queries, i, 6), _point(queries, i, 7)
        if is_face:
            where, along = contact_point_normal_vertex_face(p, q, r, s, t, u, v, w, time[i])
        else:
            where, along = contact_point_normal_edge_edge(p, q, r, s, t, u, v, w, time[i])
        for axis in range(3):
            point[i, axis] = where[axis]
            normal[i, axis] = along[axis]


def describe(is_face: bool, queries: Floats, time: Floats) -> tuple[Floats, Floats]:
    """(n,3) points and unit normals, from a to b, of contacts at known times; queries (n,8,3)."""
    point, normal = np.empty((len(queries), 3)), np.empty((len(queries), 3))
    _describe(is_face, queries, time, point, normal)
    return point, normal
