"""`proximity`: which vertices and faces, and which edges, of one surface or of two are no farther apart than a distance.

Candidates are pairs of features whose boxes, grown by the distance, meet (`trees.blocks`, for a step in which nothing moves); each is measured in
double precision. These are the pairs of barrier and penalty methods (Li et al. 2020, "Incremental potential contact", §2).
"""

from typing import Any, NamedTuple

import numpy as np

from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.jit import kernel, parallel, prange, threads_for
from abut.core.types import Number
from abut.discrete.bodies import Body, BodyLike, as_body, check_sizes, vertices_at
from abut.discrete.proximity.results import FeaturePair, Proximity
from abut.geometry.rows import put_vector, vector_at
from abut.geometry.segments import closest_segment_segment
from abut.geometry.triangles import closest_point_triangle
from abut.geometry.vec import Vec3
from abut.trees.blocks.block_tree import build
from abut.trees.blocks.runs import Search, find_pairs
from abut.trees.blocks.search import EVERY, LARGER, Rules
from abut.trees.blocks.swept import VOLUMES, Moving, frame_of

DIRECTIONS = VOLUMES["aabb"]
SMALLEST = (
    2.0**-200
)  # features of bodies that lie within this of the origin are measured magnified, so that no square vanishes
ROUNDED = 2.0**-40
"""Boxes are compared for a distance that is longer by this, of itself and of the coordinates: what is computed as the distance is rounded."""


class Side(NamedTuple):
    """Vertices (n,3), and the features that pairs name: rows of vertices, one, two or three."""

    vertices: Floats
    features: Integers


@kernel
def measure_features(a: Side, i: int, b: Side, j: int) -> tuple[Vec3, Vec3, float]:
    """The nearest points of two features, and their squared distance."""
    p, q = vector_at(a.vertices, a.features[i, 0]), vector_at(b.vertices, b.features[j, 0])
    if a.features.shape[1] == 1:
        found = closest_point_triangle(
            p, q, vector_at(b.vertices, b.features[j, 1]), vector_at(b.vertices, b.features[j, 2])
        )
        return p, found[1], found[2]
    if b.features.shape[1] == 1:
        found = closest_point_triangle(
            q, p, vector_at(a.vertices, a.features[i, 1]), vector_at(a.vertices, a.features[i, 2])
        )
        return found[1], q, found[2]
    _, _, x, y, offset_sq = closest_segment_segment(
        p, vector_at(a.vertices, a.features[i, 1]), q, vector_at(b.vertices, b.features[j, 1])
    )
    return x, y, offset_sq


@parallel
def find_distances(a: Side, b: Side, pairs: Any, distance: Floats) -> None:
    """The distance of each pair."""
    for k in prange(len(pairs)):
        distance[k] = np.sqrt(measure_features(a, pairs[k, 0], b, pairs[k, 1])[2])


@parallel
def find_points(a: Side, b: Side, pairs: Any, point_a: Floats, point_b: Floats) -> None:
    """The nearest points of each pair."""
    for k in prange(len(pairs)):
        x, y, _ = measure_features(a, pairs[k, 0], b, pairs[k, 1])
        put_vector(point_a, k, 0, x)
        put_vector(point_b, k, 0, y)


def _moving(body: Body, factor: float) -> Moving:
    """A body in a step in which it rests."""
    vertices = vertices_at(body, body._pose) * factor
    return Moving(vertices, vertices, body.mesh.faces, body.mesh.edges)


def _features(moving: Moving, kind: str) -> Side:
    if kind == "vertices":
        return Side(moving.positions_t0, np.arange(len(moving.positions_t0))[:, np.newaxis])
    return Side(moving.positions_t0, getattr(moving, kind).copy())


def _leave_loose(pairs: Any, column: int, moving: Moving) -> Any:
    """Pairs without vertices that no face has: these are no part of the surface."""
    used = np.zeros(len(moving.positions_t0), dtype=np.bool_)
    used[moving.faces] = True
    return pairs if used.all() else frozen(pairs[used[pairs[:, column]]])


def _find_candidates(
    movings: list[Moving], distance: float, extent: float
) -> list[tuple[FeaturePair, Side, Side, Any]]:
    """For each kind of pair the features of both sides, and the pairs whose boxes come near."""
    frame = frame_of(movings, distance + ROUNDED * (distance + extent))
    with threads_for(sum(len(m.positions_t0) + len(m.edges) + len(m.faces) for m in movings)):
        built = build(movings, frame, DIRECTIONS, ends=False)
        one, two, itself = built[0], built[-1], len(built) == 1
        every, edges = Rules(EVERY, itself, frame.margin), Rules(LARGER if itself else EVERY, itself, frame.margin)
        searches = [Search(one.vertices, two.faces, every), Search(one.edges, two.edges, edges)]
        if not itself:
            searches.append(Search(one.faces, two.vertices, every))
        pairs = find_pairs(searches)
    a, b = movings[0], movings[-1]
    rows: list[tuple[FeaturePair, Side, Side, Any]] = [
        (FeaturePair.VERTEX_FACE, _features(a, "vertices"), _features(b, "faces"), _leave_loose(pairs[0], 0, a)),
        (FeaturePair.EDGE_EDGE, _features(a, "edges"), _features(b, "edges"), pairs[1]),
    ]
    if not itself:
        rows.append(
            (FeaturePair.FACE_VERTEX, _features(a, "faces"), _features(b, "vertices"), _leave_loose(pairs[2], 1, b))
        )
    return rows


def proximity(a: BodyLike, distance: Number, b: BodyLike | None = None) -> Proximity:
    """Pairs of features no farther apart than a distance: vertices and faces, and edges, of one body with itself or of two.

    Every such pair is found, and its distance computed in double precision. Left out are features that share a vertex, and vertices of no face.

    Args:
        a, b: `Rigid` or `Deformable` bodies; anything that `as_mesh` takes becomes a rigid body for this call. Without b, a with itself.
        distance: how far apart the features of a pair may be; a pair at exactly this computed distance is among them.

    Returns:
        One row per pair, sorted by kind, a and b, with the distance and the nearest points.

    Raises:
        Unsupported: bodies whose sizes differ by more than 2¹⁰⁰.

    Examples:
        >>> import abut
        >>> low, high = abut.scenes.box(), abut.scenes.box(center=(0.25, 0.125, 1.5))
        >>> near = abut.proximity(low, 0.5, high)
        >>> near
        Proximity(6 pairs, 1 vertex_face, 4 edge_edge, 1 face_vertex)
    """
    bodies = [as_body(a, "a")] if b is None else [as_body(a, "a"), as_body(b, "b")]
    check_sizes(bodies[0], bodies[-1])
    far = arrays.scalar(distance, "distance", least=0.0)
    extent = max(float(np.abs(vertices_at(body, body._pose)).max(initial=0.0)) for body in bodies)
    exponent = int(np.frexp(extent)[1]) if 0.0 < extent < SMALLEST else 0
    factor = float(np.ldexp(1.0, min(1023, -exponent)))
    far = min(far * factor, arrays.LARGEST_COORDINATE)
    found = _find_candidates([_moving(body, factor) for body in bodies], far, extent * factor)
    parts = [_measure(*row, far, factor) for row in found]
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    for array in columns:
        frozen(array)
    return Proximity(*columns)


def _measure(kind: FeaturePair, a: Side, b: Side, pairs: Any, far: float, factor: float) -> tuple[Any, ...]:
    """The columns of one kind of pair."""
    distance = np.empty(len(pairs))
    with threads_for(len(pairs)):
        find_distances(a, b, pairs, distance)
        near = distance <= far
        pairs, distance = frozen(pairs[near]), distance[near]
        points = np.empty((2, len(pairs), 3))
        find_points(a, b, pairs, points[0], points[1])
    numbers = np.full(len(pairs), kind, dtype=np.int8)
    return (numbers, *pairs.T.astype(np.int64), distance / factor, points[0] / factor, points[1] / factor)
