"""Cores: points, segments and polytopes in flat arrays, with the planes and edges that the search for an axis walks over."""

from typing import NamedTuple

import numpy as np

from abut.arrays import Floats, Integers, frozen
from abut.errors import InvalidInput
from abut.mesh import Mesh

COPLANAR = 1e-9
"""Facets of Qhull whose normals and offsets differ by less, relative to the size, are one face: its own planes are off by some 1e-12."""


class Core(NamedTuple):
    """A convex core. Face i is the polygon loops[starts[i]:starts[i+1]], anticlockwise from outside; planes hold n·x = d as (nx, ny, nz, d).

    edges (e,4): from vertex, to vertex, the face on the left of that direction, the face on the right; −1 for a segment's own edge.
    """

    vertices: Floats
    planes: Floats
    starts: Integers
    loops: Integers
    edges: Integers


def core_of_segment(ends: Floats) -> Core:
    """A point (1,3) or a segment (2,3): no faces."""
    edges = np.array([(0, 1, -1, -1)] if len(ends) == 2 else [], dtype=np.int64).reshape(-1, 4)
    none = np.empty(0, dtype=np.int64)
    return Core(frozen(ends), np.empty((0, 4)), np.zeros(1, dtype=np.int64), none, edges)


def core_of_loops(vertices: Floats, loops: list[Integers]) -> Core:
    """A polytope from its faces' loops, anticlockwise from outside."""
    starts = np.concatenate(([0], np.cumsum([len(loop) for loop in loops])))
    planes = np.empty((len(loops), 4))
    sides: dict[tuple[int, int], int] = {}
    for face, loop in enumerate(loops):
        corners = vertices[loop]
        # Newell: twice the vector area; for a polygon whose corners are not quite in a plane, that of the best one.
        area = np.cross(corners, np.roll(corners, -1, axis=0)).sum(axis=0)
        normal = area / np.linalg.norm(area)
        planes[face] = (*normal, (corners @ normal).max())
        sides.update({(int(p), int(q)): face for p, q in zip(loop, np.roll(loop, -1), strict=True)})
    edges = [(p, q, face, sides[q, p]) for (p, q), face in sides.items() if p < q]
    return Core(
        frozen(vertices),
        frozen(planes),
        starts,
        np.concatenate(loops).astype(np.int64),
        np.array(edges, dtype=np.int64),
    )


def core_of_points(points: Floats) -> Core:
    """The hull of points that span a volume, coplanar facets merged."""
    from scipy.spatial import ConvexHull, QhullError  # only here: it takes a while to import

    if len(points) < 4:
        raise InvalidInput("points", f"{len(points)} points span no volume")
    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):
        raise InvalidInput("points", "lie in a plane: their hull has no volume") from None
    middle, size = points.mean(axis=0), np.ptp(points, axis=0).max()
    normals = hull.equations[:, :3]
    offsets = (hull.equations[:, 3] + normals @ middle) / size
    label = np.arange(len(normals))
    for facet, neighbors in enumerate(hull.neighbors):
        for other in neighbors:
            near = np.abs(normals[facet] - normals[other]).max() + abs(offsets[facet] - offsets[other])
            if near < COPLANAR and label[facet] != label[other]:
                label[label == label[other]] = label[facet]
    used = np.zeros(len(points), dtype=np.bool_)
    loops: list[Integers] = []
    for face in np.unique(label):
        loop = _walk_around(points, hull.simplices[label == face].astype(np.int64), normals[face])
        used[loop] = True
        loops.append(loop)
    number = np.cumsum(used) - 1
    return core_of_loops(points[used], [number[loop] for loop in loops])


def _walk_around(points: Floats, triangles: Integers, normal: Floats) -> Integers:
    """The border of coplanar triangles as a loop, anticlockwise around the normal."""
    sides: set[tuple[int, int]] = set()
    for triangle in triangles:
        a, b, c = (int(v) for v in triangle)
        if np.dot(np.cross(points[b] - points[a], points[c] - points[a]), normal) < 0:
            b, c = c, b
        sides.update(((a, b), (b, c), (c, a)))
    following = {p: q for p, q in sides if (q, p) not in sides}
    loop = [min(following)]
    while following[loop[-1]] != loop[0]:
        loop.append(following[loop[-1]])
    return np.array(loop, dtype=np.int64)


def surface_of(points: Floats) -> Mesh:
    """The hull of points as a triangle mesh, normals outwards."""
    core = core_of_points(points)
    faces = [
        (core.loops[start], core.loops[k], core.loops[k + 1])
        for start, stop in zip(core.starts[:-1], core.starts[1:], strict=True)
        for k in range(start + 1, stop - 1)
    ]
    return Mesh(core.vertices, np.array(faces))
