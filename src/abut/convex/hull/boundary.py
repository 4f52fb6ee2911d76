"""The boundary of a convex hull as polygons: Qhull's facets, coplanar ones merged, polygons of more than six sides cut (Peyré 2001, §3.2 and §3.4).

`polygons_of(points)` gives loops of indices, anticlockwise as seen from outside. A cut polygon keeps the number of the facet it was cut from. Cuts go
through the middle of a loop, so that no vertex collects many of them.

Flat points give two polygons back to back, points on a line one segment, and points in one place one vertex: regions, walk and distance need no
more than that. Flat polygons are not cut: their two sides would share the cuts. Thickness: see FLAT.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import ConvexHull, QhullError

from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput

MOST_SIDES = 6
"""Polygons with more sides are cut: a face's region has no more planes than this."""

FLAT = 1e-13
"""Points thinner than this part of their size are taken for flat (or straight). Rotated and stored again, flat points are off by some 1e-16."""

COPLANAR = 1e-12
"""Neighbouring facets whose normals and offsets (in units of the size) differ by less are one: some hundred roundings of Qhull's equations."""


class Boundary(NamedTuple):
    """vertices: indices of points. loops: polygons of those indices, anticlockwise from outside. facets: (loops,) facet that each is part of.
    segment: the two ends where the points lie on a line."""

    vertices: Integers
    loops: list[list[int]]
    facets: Integers
    segment: tuple[int, int] | None


def polygons_of(points: Floats) -> Boundary:
    """The boundary of the convex hull of points (n,3)."""
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    size = float(np.abs(points - middle).max())
    placed = (points - middle) / size if size > 0 else points - middle
    axes = np.linalg.svd(placed - placed.mean(axis=0), full_matrices=True)[2] if size > 0 else np.eye(3)
    along = placed @ axes.T
    extent = np.ptp(along, axis=0)
    none = np.empty(0, dtype=np.int64)
    if extent[0] <= FLAT:
        return Boundary(np.array([0]), [], none, None)
    if extent[1] <= FLAT:
        ends = int(along[:, 0].argmin()), int(along[:, 0].argmax())
        return Boundary(np.array(ends), [], none, ends)
    if extent[2] <= FLAT:
        loop = _hull_of(along[:, :2]).vertices.tolist()
        if np.linalg.det(axes) < 0:
            loop.reverse()
        return Boundary(np.unique(loop), [loop, loop[::-1]], np.arange(2), None)
    return _merge(placed, _hull_of(placed))


def _hull_of(points: Floats) -> ConvexHull:
    try:
        return ConvexHull(points)
    except QhullError as error:
        reason = str(error).splitlines()[0]
        raise InvalidInput("points", f"has no hull that Qhull can build ({reason})") from error


def _merge(points: Floats, hull: ConvexHull) -> Boundary:
    """Join triangles of one plane, and cut what has too many sides."""
    corners, equations = hull.simplices.astype(np.int64), hull.equations
    sides = points[corners[:, 1]] - points[corners[:, 0]], points[corners[:, 2]] - points[corners[:, 0]]
    inverted = (np.cross(*sides) * equations[:, :3]).sum(axis=1) < 0
    corners[inverted] = corners[inverted][:, ::-1]
    count = len(corners)
    one, two = np.repeat(np.arange(count), 3), hull.neighbors.ravel()
    same = np.abs(equations[one] - equations[two]).max(axis=1) < COPLANAR
    graph = coo_array((np.ones(same.sum()), (one[same], two[same])), shape=(count, count))
    facets = connected_components(graph, directed=False)[1]
    loops: list[list[int]] = []
    owners: list[int] = []
    members: list[list[int]] = [[] for _ in range(int(facets.max()) + 1)]
    for triangle, facet in enumerate(facets.tolist()):
        members[facet].append(triangle)
    for facet, triangles in enumerate(members):
        normal = equations[triangles[0], :3]
        for loop in _outline(corners[triangles].tolist(), points, normal):
            pieces = _cut(loop)
            loops += pieces
            owners += [facet] * len(pieces)
    vertices = _order(points, np.unique([v for loop in loops for v in loop]))
    place = np.zeros(len(points), dtype=np.int64)
    place[vertices] = np.arange(len(vertices))
    order = np.argsort([place[loop].min() for loop in loops], kind="stable")
    return Boundary(vertices, [loops[k] for k in order], np.array(owners)[order], None)


def _order(points: Floats, chosen: Integers) -> Integers:
    """Points along a Morton curve: neighbours on the hull are then, for the most part, near to one another in memory."""
    lowest, highest = points.min(axis=0), points.max(axis=0)
    cells = ((points[chosen] - lowest) / (highest - lowest) * 1023.0).astype(np.int64)
    place = np.zeros(len(chosen), dtype=np.int64)
    for bit in range(10):
        for axis in range(3):
            place |= ((cells[:, axis] >> bit) & 1) << (3 * bit + axis)
    return chosen[np.argsort(place, kind="stable")]


def _outline(triangles: list[list[int]], points: Floats, normal: Floats) -> list[list[int]]:
    """The loop around triangles of one plane; the triangles themselves where they have not one simple, convex loop.

    On a hull that is hardly thicker than COPLANAR some neighbours pass for coplanar and some do not. A polygon with a bay would have
    vertices that only its inside parts from higher ones: climbing along edges would end there."""
    if len(triangles) == 1:
        return triangles
    half_edges = {(t[k], t[(k + 1) % 3]) for t in triangles for k in range(3)}
    following = {a: b for a, b in half_edges if (b, a) not in half_edges}
    start = next(iter(following))
    loop, vertex = [start], following[start]
    while vertex != start and len(loop) <= len(following):
        loop.append(vertex)
        vertex = following[vertex]
    boundary_count = sum((b, a) not in half_edges for a, b in half_edges)
    if not len(loop) == len(following) == boundary_count:
        return triangles
    along = points[loop] - points[np.roll(loop, 1)]
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    turns = np.cross(along, np.roll(along, -1, axis=0)) @ normal
    return [loop] if turns.min() > -COPLANAR else triangles


def _cut(loop: list[int]) -> list[list[int]]:
    if len(loop) <= MOST_SIDES:
        return [loop]
    half = len(loop) // 2
    return _cut(loop[: half + 1]) + _cut([*loop[half:], loop[0]])
