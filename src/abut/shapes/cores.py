"""Cores: points, segments and polytopes in flat arrays, with the planes and edges that clipping and the search for an axis walk over.

Each is made from its `convex.Hull`, whose features are tracked, and has the same vertices. Here a face is a whole facet, of any number of sides;
the hull's faces are pieces of at most six.
"""

from typing import NamedTuple

import numpy as np

from abut.convex import Hull
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.mesh import Mesh


class Core(NamedTuple):
    """A convex core. Face i is the polygon loops[starts[i]:starts[i+1]], anticlockwise from outside; planes hold n·x = d as (nx, ny, nz, d).

    edges (e,4): from vertex, to vertex, the face on the left of that direction, the face on the right; −1 for a segment's own edge.
    """

    vertices: Floats
    planes: Floats
    starts: Integers
    loops: Integers
    edges: Integers
    hull: Hull


def core_of(points: Floats) -> Core:
    """The core whose hull these points have: one point, two, or some that span a volume."""
    hull = Hull(points)
    facets = hull.facets
    loops = [hull.facet_polygon(facet) for facet in range(int(facets.max(initial=-1)) + 1)]
    planes = np.empty((len(loops), 4))
    for facet, loop in enumerate(loops):
        normal = hull.normals[np.argmax(facets == facet)]
        planes[facet] = (*normal, (hull.vertices[loop] @ normal).max())
    sides = np.where(hull.edge_faces < 0, -1, facets[hull.edge_faces] if len(facets) else -1)
    kept = (sides[:, 0] != sides[:, 1]) | (sides[:, 0] < 0)  # not the cuts between pieces of one facet
    edges = np.concatenate((hull.edges.reshape(-1, 2), sides.reshape(-1, 2)), axis=1)[kept.ravel()]
    starts = np.concatenate(([0], np.cumsum([len(loop) for loop in loops]))).astype(np.int64)
    joined = np.concatenate([np.empty(0, np.int64), *loops]).astype(np.int64)
    return Core(hull.vertices, frozen(planes), starts, joined, edges.astype(np.int64), hull)


def core_of_solid(points: Floats) -> Core:
    """The same for points that must span a volume."""
    if len(points) < 4:
        raise InvalidInput("points", f"{len(points)} points span no volume")
    # Twice, so that it does not matter whether the points inside were there: a pickled hull has the same faces in the same order.
    hull = Hull(points)
    if hull.dimension < 3:
        raise InvalidInput("points", "lie in a plane: their hull has no volume")
    return core_of(hull.vertices)


def surface_of(points: Floats) -> Mesh:
    """The hull of points as a triangle mesh, normals outwards."""
    return mesh_of(core_of_solid(points))


def mesh_of(core: Core) -> Mesh:
    """The faces of a polytope as triangles."""
    faces = [
        (core.loops[start], core.loops[k], core.loops[k + 1])
        for start, stop in zip(core.starts[:-1], core.starts[1:], strict=True)
        for k in range(start + 1, stop - 1)
    ]
    return Mesh(core.vertices, np.array(faces))
