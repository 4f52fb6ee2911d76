"""The convex hull of points: its vertices, edges and polygons, and their normals.

`boundary` makes the polygons, `tables` lays them out for kernels.
"""

from functools import cached_property

import numpy as np

from abut.convex.hull.boundary import polygons_of
from abut.convex.hull.picture import draw_polygons
from abut.convex.hull.tables import View, tabulate
from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.showing import count, describe
from abut.core.types import PointsLike

LEAST_SIZE = 1e-60
"""The least extent of a hull that is no single point. Squares of areas, the highest degree that is formed, of triangles as thin as 1e-13 of that are
above 1e-270; the largest coordinate, `arrays.LARGEST_COORDINATE`, keeps them below 1e305."""


class Hull:
    """The convex hull of points; flat ones, segments and single points included.

    `vertices` are those of the points that are needed, in the order of `indices`. Coplanar facets are merged, and polygons of more than six
    sides cut through the middle.

    Args:
        points: (n,3) at least one. They span 10⁻⁶⁰ or more, or lie in one place.

    Raises:
        InvalidInput: no point, too little extent, or neither flat nor thick enough for Qhull.

    Examples:
        >>> from abut import convex
        >>> cube = convex.Hull([[x, y, z] for x in (0, 1, 2) for y in (0, 2) for z in (0, 2)])
        >>> cube
        Hull(8 vertices, 12 edges, 6 faces)
        >>> cube.dimension, cube.middle.tolist(), round(cube.radius, 6)
        (3, [1.0, 1.0, 1.0], 1.732051)
    """

    def __init__(self, points: PointsLike) -> None:
        given = arrays.points(points, "points")
        if len(given) == 0:
            raise InvalidInput("points", "holds no point")
        size = float(np.ptp(given, axis=0).max())
        if 0.0 < size < LEAST_SIZE:
            raise InvalidInput("points", f"spans {size:g}, less than {LEAST_SIZE:g}, where squares of areas underflow")
        boundary = polygons_of(given)
        self.indices: Integers = frozen(boundary.vertices.astype(np.int64))
        """(v,) rows of `points`"""
        self.vertices: Floats = frozen(given[self.indices])
        """(v,3)"""
        self.middle: Floats = frozen(self.vertices.mean(axis=0))
        """(3,) mean of the vertices, inside unless the hull is flat"""
        place = {v: k for k, v in enumerate(self.indices.tolist())}
        self.faces: tuple[tuple[int, ...], ...] = tuple(tuple(place[v] for v in loop) for loop in boundary.loops)
        """polygons of at most six vertices, anticlockwise as seen from outside"""
        self.facets: Integers = frozen(boundary.facets.astype(np.int64))
        """(f,) which flat part of the boundary each face belongs to; faces that were cut from one polygon share it"""
        self.edges, self.edge_faces = self._link(boundary.segment)
        self.normals: Floats = frozen(self._normals())
        """(f,3) unit, outwards"""

    @property
    def dimension(self) -> int:
        """3 for a body, 2 for a flat polygon, 1 for a segment, 0 for a point."""
        if len(self.faces):
            return 2 if len(self.facets) == 2 else 3
        return len(self.edges)

    @property
    def radius(self) -> float:
        """Distance of the farthest vertex from the middle."""
        return float(np.linalg.norm(self.vertices - self.middle, axis=1).max())

    def facet_polygon(self, facet: int) -> Integers:
        """The vertices around a whole facet: the faces it was cut into, joined again.

        Args:
            facet: a number that `facets` holds.

        Returns:
            (k,) indices of vertices, anticlockwise as seen from outside.

        Raises:
            InvalidInput: there is no such facet.
        """
        faces = [self.faces[f] for f in np.flatnonzero(self.facets == arrays.count(facet, "facet"))]
        if not faces:
            raise InvalidInput("facet", f"{facet} is not one of {int(self.facets.max(initial=-1)) + 1}")
        half = {(loop[k - 1], loop[k]) for loop in faces for k in range(len(loop))}
        following = {a: b for a, b in half if (b, a) not in half}
        loop = [next(iter(following))]
        while following[loop[-1]] != loop[0]:
            loop.append(following[loop[-1]])
        return np.array(loop)

    def __repr__(self) -> str:
        named = ((self.vertices, "vertex", "vertices"), (self.edges, "edge", "edges"), (self.faces, "face", "faces"))
        return describe(self, *(count(len(each), one, many) for each, one, many in named))

    def _repr_html_(self) -> str:
        loops = self.faces or tuple(tuple(edge) for edge in self.edges.tolist())
        return draw_polygons(repr(self), self.vertices - self.middle, loops, self.normals)

    def _link(self, segment: tuple[int, int] | None) -> tuple[Integers, Integers]:
        """Edges (e,2), tail before head, and the faces (e,2) on their left and right, −1 where there is none."""
        if segment is not None:
            return frozen(np.array([[0, 1]])), frozen(np.array([[-1, -1]]))
        left: dict[tuple[int, int], int] = {}
        for face, loop in enumerate(self.faces):
            for k in range(len(loop)):
                left[loop[k - 1], loop[k]] = face
        edges = sorted((a, b) for a, b in left if a < b)
        if len(left) != 2 * len(edges) or any((b, a) not in left for a, b in edges):
            raise InvalidInput("points", "has a hull whose facets do not close: it is too thin for its size")
        sides = [(left[a, b], left[b, a]) for a, b in edges]
        return (
            frozen(np.array(edges, dtype=np.int64).reshape(-1, 2)),
            frozen(np.array(sides, dtype=np.int64).reshape(-1, 2)),
        )

    def _normals(self) -> Floats:
        placed = self.vertices - self.middle
        parts: list[list[tuple[int, ...]]] = [[] for _ in range(int(self.facets.max(initial=-1)) + 1)]
        for facet, loop in zip(self.facets.tolist(), self.faces, strict=True):
            parts[facet].append(loop)
        whole = np.array([_normal_of(placed, loops) for loops in parts]).reshape(-1, 3)
        return whole[self.facets]  # all parts of a facet have its normal, to the last bit

    @cached_property
    def _tables(self) -> View:
        return tabulate(self.vertices - self.middle, self.edges, self.edge_faces, self.faces, self.normals)


def _normal_of(placed: Floats, loops: list[tuple[int, ...]]) -> Floats:
    """The unit normal of a facet, whose corners are within rounding of the plane across it, however narrow it is.

    The sum of products of its sides tells which side is outside. But in a narrow facet that is a product of long vectors nearly alike, off by a
    rounding divided by the width: along the facet too. So the normal is the product of its length and of what is left of its width across that.
    """
    area = sum((_area(placed, loop) for loop in loops), np.zeros(3))
    corners = placed[list({v for loop in loops for v in loop})]
    far = corners[np.argmax(((corners - corners[0]) ** 2).sum(axis=1))]
    along = corners[np.argmax(((corners - far) ** 2).sum(axis=1))] - far
    along /= np.linalg.norm(along)
    widths = corners - far
    for _ in range(
        2
    ):  # what is along is left to rounding of the length by the first time, to that of the width by the second
        widths = widths - (widths @ along)[:, np.newaxis] * along
    width = widths[np.argmax((widths**2).sum(axis=1))]
    normal = np.cross(along, width / np.linalg.norm(width))
    return (normal if normal @ area > 0.0 else -normal) / np.linalg.norm(normal)


def _area(placed: Floats, loop: tuple[int, ...]) -> Floats:
    """Twice the area of a polygon, along its normal."""
    corners = placed[list(loop)] - placed[loop[0]]
    return np.cross(corners[1:-1], corners[2:]).sum(axis=0)
