"""`closest_points` and `signed_distance`: where a surface is nearest to points, and on which side of it they lie."""

from typing import NamedTuple

import numpy as np

from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.jit import threads_for
from abut.core.types import Number, PointsLike
from abut.discrete.bodies import Body, BodyLike, as_body, closedness
from abut.discrete.points.nearest_face import find_nearest_faces
from abut.discrete.points.results import ClosestPoints, InsideRule, SignedDistances
from abut.discrete.points.winding import wind_around
from abut.trees.binary.morton import morton_codes, sort_by_code

PARALLEL_POINTS = 256  # fewer are answered on one thread
SORTED_POINTS = 64  # fewer are answered as they come
CURVE_BITS = 33  # the lowest bits of a Morton code, which tell apart what is nearly in one place

LEAST_DISTANCE = 5e-324


class Nearest(NamedTuple):
    """One row a point."""

    face: Integers
    distance: Floats
    weights: Floats
    point: Floats


def sequence_of(points: Floats) -> Integers:
    """Rows in an order in which neighbours are mostly near each other. It decides how fast a search is, never what it finds."""
    if len(points) < SORTED_POINTS:
        return np.arange(len(points))
    return sort_by_code(morton_codes(points, np.arange(len(points))[:, np.newaxis]) >> CURVE_BITS)[1]


def measure(body: Body, points: Floats, reach: float) -> Nearest:
    """The nearest face of each point."""
    count = len(points)
    found = Nearest(np.empty(count, np.int64), np.empty(count), np.empty((count, 3)), np.empty((count, 3)))
    with threads_for(count, PARALLEL_POINTS):
        find_nearest_faces(
            *body._view, body._packets.order, body._pose, points, sequence_of(points), reach,
            found.face, found.distance, found.weights, found.point,
        )  # fmt: skip
    for array in found:
        frozen(array)
    return found


def closest_points(body: BodyLike, points: PointsLike, *, max_distance: Number | None = None) -> ClosestPoints:
    """The point of a surface nearest to each of many points.

    Distances are computed in double precision for the world coordinates of the vertices. Of several faces at the same computed distance, as those
    around a vertex are, the one with the smallest number is given: the answer depends neither on the kind of body nor on the order of the points.

    Args:
        body: a `Rigid` or `Deformable` body; anything that `as_mesh` takes becomes a rigid body for this call.
        points: (n,3) points of the world.
        max_distance: how far to look; None for as far as it takes. A point with no face within it gets face −1 and an infinite distance.

    Returns:
        One row per point, in their order: face, distance, point and barycentric coordinates.

    Examples:
        >>> import abut
        >>> near = abut.closest_points(abut.scenes.box((2.0, 2.0, 2.0)), [[0.0, 0.5, 3.0], [0.0, 0.0, 0.75]])
        >>> near.distance, near.point[0]
        (array([2.  , 0.25]), array([0. , 0.5, 1. ]))
    """
    known = as_body(body, "body")
    own = arrays.points(points, "points")
    reach = np.inf if max_distance is None else arrays.scalar(max_distance, "max_distance", least=0.0)
    found = measure(known, own, float(reach))
    return ClosestPoints(found.face, found.distance, found.point, found.weights)


def signed_distance(body: BodyLike, points: PointsLike) -> SignedDistances:
    """How far points are from a surface: negative inside, positive outside, 0 on it.

    The sign is exact for the world coordinates of the vertices, and so is 0, of a closed surface. An open one has no inside: the sign is then that of
    its winding number less one half (Jacobson et al. 2013), and `rule` says so. The distance is that of `closest_points`.

    Args:
        body: a `Rigid` or `Deformable` body; anything that `as_mesh` takes becomes a rigid body for this call.
        points: (n,3) points of the world.

    Returns:
        One row per point, in their order: distance, nearest face and point, barycentric coordinates, and the rule that gave the signs.

    Examples:
        >>> import abut
        >>> box = abut.scenes.box((2.0, 2.0, 2.0))
        >>> far = abut.signed_distance(box, [[0.0, 0.0, 0.25], [1.0, 0.3, 0.7], [0.0, 0.0, 1.5]])
        >>> far.distance, far.rule.name
        (array([-0.75,  0.  ,  0.5 ]), 'WINDING')
    """
    known = as_body(body, "body")
    own = arrays.points(points, "points")
    found, around = measure(known, own, np.inf), wind_around(known, own)
    rule = (InsideRule.HALF, InsideRule.WINDING, InsideRule.PARITY)[closedness(known.mesh)]
    if rule == InsideRule.HALF:
        inside = around.value > 0.5
    else:
        inside = around.crossings != 0 if rule == InsideRule.WINDING else around.crossings % 2 == 1
    distance = np.maximum(
        found.distance, LEAST_DISTANCE
    )  # a distance may be rounded to 0: that of a point off the surface stays above it
    np.negative(distance, out=distance, where=inside)
    distance[around.on_surface] = 0.0
    return SignedDistances(frozen(distance), found.face, found.point, found.weights, rule)
