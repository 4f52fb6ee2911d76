"""Convex hulls with what a walk between features needs: the planes that bound the regions of vertices, edges and faces, and who is next to whom.

The Voronoi region of a vertex is bounded by a plane across each of its edges; that of an edge by the two planes across its ends and by a plane for
each of its two faces, through the edge and perpendicular to the face; that of a face by the latter planes of its edges (Lin 1993; Mirtich 1998, §2).
Inside a hull lie pseudo-regions, the cones from the middle over the faces (Peyré 2001, §3.5).

Coordinates are kept relative to the middle of the vertices. Indices of vertices, edges and faces count from 0 in each hull; `Hulls` lays many hulls
one after the other, in arrays that kernels see as pointers: whoever hands out the handle keeps the arrays alive.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.convex.topology import polygons_of
from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.jit import element
from abut.core.scratch import pointer_to_floats, pointer_to_integers32

EDGE_ROW = 16
"""Numbers of an edge: tail (3), unit direction (3), length, then for its left and its right face the unit vector in the face's plane that points
from the edge into the face (3 each), and three unused: two lines of the cache."""

PLANE_ROW = 4
"""Numbers of a face: unit normal outwards, and its distance from the middle: n·x ≤ distance inside."""

SIDE_ROW = 4
"""Numbers of a link from a face to one of its edges: the edge's unit vector into this face, and its product with a point of the edge."""


LEAST_SIZE = 1e-60
"""The least extent of a hull that is no single point. Squares of areas, the highest degree that is formed, of triangles as thin as 1e-13 of that are
above 1e-270; the largest coordinate, `arrays.LARGEST_COORDINATE`, keeps them below 1e305."""


class Hull:
    """The convex hull of points (n,3); flat ones, segments and single points included.

    points: (n,3) finite. `vertices` are those of the points that are needed, in the order of `indices`.
    """

    def __init__(self, points: object) -> None:
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
        """Indices of the vertices around a whole facet, anticlockwise: the faces it was cut into, joined again."""
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
        return f"Hull({len(self.vertices)} vertices, {len(self.edges)} edges, {len(self.faces)} faces)"

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
    def _tables(self) -> "Tables":
        return _tabulate(self)


def _normal_of(placed: Floats, loops: list[tuple[int, ...]]) -> Floats:
    """The unit normal of a facet, whose corners are within rounding of the plane across it, however narrow it is.

    The sum of products of its sides gives the way out. But in a narrow facet that is a product of long vectors nearly alike, off by a rounding
    divided by the width: along the facet too. So the normal is the product of its length and of what is left of its width across that.
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


class Tables(NamedTuple):
    """The arrays of hulls: see `View`."""

    vertices: Floats
    edges: Floats
    planes: Floats
    sides: Floats
    vertex_starts: NDArray[np.int32]
    neighbours: NDArray[np.int32]
    vertex_edges: NDArray[np.int32]
    edge_links: NDArray[np.int32]
    face_starts: NDArray[np.int32]
    face_links: NDArray[np.int32]


class View(NamedTuple):
    """What kernels see of hulls: pointers. Indices are those of all hulls one after the other.

    vertices (v,3), edges (e, EDGE_ROW) and planes (f, PLANE_ROW): float64. Vertex i has the links vertex_starts[i] to vertex_starts[i + 1], each
    with a neighbour and the edge to it. Edge i: tail, head, left face, right face. Face i has the links face_starts[i] to face_starts[i + 1], each
    twice an edge, plus one where the face is on the edge's right. sides (face links, SIDE_ROW) repeats what the planes around a face need.

    Climbing reads vertices and neighbours only, 48 bytes a vertex: the hulls of many bodies then stay in the cache nearest but one.
    """

    vertices: Any
    edges: Any
    planes: Any
    sides: Any
    vertex_starts: Any
    neighbours: Any
    vertex_edges: Any
    edge_links: Any
    face_starts: Any
    face_links: Any


@element
def open_hulls(handle: Any) -> View:
    """The hulls behind a handle, in a kernel."""
    return View(
        pointer_to_floats(handle[0]),
        pointer_to_floats(handle[1]),
        pointer_to_floats(handle[2]),
        pointer_to_floats(handle[3]),
        pointer_to_integers32(handle[4]),
        pointer_to_integers32(handle[5]),
        pointer_to_integers32(handle[6]),
        pointer_to_integers32(handle[7]),
        pointer_to_integers32(handle[8]),
        pointer_to_integers32(handle[9]),
    )


def _group(owners: Integers, count: int) -> tuple[Integers, Integers]:
    """Where each owner's rows start, and the order that puts them together."""
    return np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=count))]), np.argsort(owners, kind="stable")


def _tabulate(hull: Hull) -> Tables:
    placed = hull.vertices - hull.middle
    edges, sides = hull.edges, hull.edge_faces
    along = placed[edges[:, 1]] - placed[edges[:, 0]]
    length = np.linalg.norm(along, axis=1)
    rows = np.zeros((len(edges), EDGE_ROW))
    rows[:, :3], rows[:, 6] = placed[edges[:, 0]], length
    rows[:, 3:6] = along / length[:, np.newaxis]
    if len(hull.faces):
        rows[:, 7:10] = np.cross(hull.normals[sides[:, 0]], rows[:, 3:6])
        rows[:, 10:13] = np.cross(rows[:, 3:6], hull.normals[sides[:, 1]])
    # A face lies as far out as its farthest vertex: no vertex is outside by the rounding of a normal.
    offsets = [float((placed[list(loop)] @ n).max()) for loop, n in zip(hull.faces, hull.normals, strict=True)]
    planes = np.hstack([hull.normals, np.array(offsets).reshape(-1, 1)])
    numbers = np.arange(len(edges))
    vertex_starts, order = _group(edges.T.ravel(), len(placed))
    neighbours, vertex_edges = edges[:, ::-1].T.ravel()[order], np.tile(numbers, 2)[order]
    known = sides[:, 0] >= 0
    face_starts, face_order = _group(sides[known].T.ravel(), len(hull.faces))
    face_links = np.concatenate([2 * numbers[known], 2 * numbers[known] + 1])[face_order]
    inwards = np.vstack([rows[known, 7:10], rows[known, 10:13]])[face_order]
    tails = (inwards * placed[edges[face_links >> 1, 0]]).sum(axis=1, keepdims=True)
    whole = (vertex_starts, neighbours, vertex_edges, np.hstack([edges, sides]), face_starts, face_links)
    floats = (placed, rows, planes, np.hstack([inwards, tails]))
    return Tables(*floats, *(np.ascontiguousarray(a, dtype=np.int32) for a in whole))


class Hulls:
    """Hulls in one set of arrays, for batches: what `track_many` takes. Its arrays must not be written."""

    def __init__(self, hulls: Iterable[Hull]) -> None:
        hulls = _read_hulls(hulls)
        parts = [hull._tables for hull in hulls]
        counts = np.array([(len(p.vertices), len(p.edges), len(p.planes)) for p in parts], dtype=np.int64).reshape(
            -1, 3
        )
        self.hulls: tuple[Hull, ...] = hulls
        self.starts: Integers = frozen(np.concatenate([np.zeros((1, 3), np.int64), np.cumsum(counts, axis=0)]))
        """(h + 1, 3) first vertex, edge and face of each"""
        self.middles: Floats = frozen(np.array([hull.middle for hull in hulls]).reshape(-1, 3))
        """(h,3)"""
        self.radii: Floats = frozen(np.array([hull.radius for hull in hulls], dtype=np.float64))
        """(h,)"""
        self.tables: Tables = _join(parts, self.starts)
        self.handle: Integers = frozen(np.array([a.ctypes.data for a in self.tables], dtype=np.int64))
        """what kernels take"""

    def __len__(self) -> int:
        return len(self.hulls)

    def __reduce__(self) -> tuple[type["Hulls"], tuple[tuple[Hull, ...]]]:
        return (Hulls, (self.hulls,))  # addresses are those of this process


def _read_hulls(hulls: object) -> tuple[Hull, ...]:
    """Hulls, at least one, and nothing else."""
    return tuple(arrays.items(hulls, "hulls", Hull, least=1))


def _join(parts: Sequence[Tables], starts: Integers) -> Tables:
    """The tables of many hulls, one after the other, with indices that count on."""

    def stack(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(part, name) for part in parts])

    def owners(name: str) -> Integers:
        return np.repeat(np.arange(len(parts)), [len(getattr(part, name)) for part in parts])

    def chain(name: str, links: str) -> NDArray[np.int32]:
        ends = np.cumsum([0, *(len(getattr(part, links)) for part in parts)])
        rows = [getattr(part, name)[:-1] + end for part, end in zip(parts, ends, strict=False)]
        return np.concatenate([*rows, ends[-1:]]).astype(np.int32)

    first = starts.astype(np.int32)
    edge_links = stack("edge_links")
    shifts = first[owners("edge_links")][:, [0, 0, 2, 2]]
    return Tables(
        stack("vertices"),
        stack("edges"),
        stack("planes"),
        stack("sides"),
        chain("vertex_starts", "neighbours"),
        stack("neighbours") + first[owners("neighbours"), 0],
        stack("vertex_edges") + first[owners("vertex_edges"), 1],
        np.where(edge_links >= 0, edge_links + shifts, edge_links),
        chain("face_starts", "face_links"),
        stack("face_links") + 2 * first[owners("face_links"), 1],
    )
