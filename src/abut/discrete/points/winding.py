"""`winding_number`: how often a surface, closed or not, winds around points."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.jit import threads_for
from abut.core.types import PointsLike
from abut.discrete.bodies import Body, BodyLike, as_body, vertices_at
from abut.discrete.points.results import WindingNumbers
from abut.discrete.points.winding_angles import find_winding_numbers

PARALLEL_POINTS = 256  # fewer are answered on one thread


class Around(NamedTuple):
    """One row a point; crossings are those of its ray along +x."""

    value: Floats
    bound: Floats
    crossings: Integers
    on_surface: NDArray[np.bool_]


def wind_around(body: Body, points: Floats) -> Around:
    """The winding number about each point, and what it is made of."""
    count = len(points)
    edges, times = body._boundary
    strips = np.ascontiguousarray(vertices_at(body, body._pose)[edges].reshape(-1, 6))
    found = Around(np.empty(count), np.empty(count), np.empty(count, np.int64), np.empty(count, np.bool_))
    with threads_for(count, PARALLEL_POINTS):
        find_winding_numbers(*body._view, body._pose, points, strips, times, *found)
    for array in found:
        frozen(array)
    return found


def winding_number(body: BodyLike, points: PointsLike) -> WindingNumbers:
    """How often a surface winds around points: for closed, outward oriented bodies 1 inside and 0 outside.

    Of a surface with a boundary it is the sum of the solid angles of its faces, in full spheres (Jacobson et al. 2013). It takes one exactly counted
    ray and the boundary alone (Martens, Trettner and Bessmeltsev 2026), so that a closed, oriented surface has a whole number without rounding.

    Args:
        body: a `Rigid` or `Deformable` body; anything that `as_mesh` takes becomes a rigid body for this call.
        points: (n,3) points of the world.

    Returns:
        One row per point, in their order: the number, a bound of its error, and whether the point lies on the surface.

    Examples:
        >>> import abut
        >>> box = abut.scenes.box((2.0, 2.0, 2.0))
        >>> abut.winding_number(box, [[0.0, 0.0, 0.5], [3.0, 0.0, 0.0]]).value
        array([1., 0.])
        >>> bowl = abut.Mesh(box.vertices, box.faces[2:])
        >>> abut.winding_number(bowl, [[0.0, 0.0, 0.0]]).value.round(6)
        array([0.833333])
    """
    known = as_body(body, "body")
    around = wind_around(known, arrays.points(points, "points"))
    return WindingNumbers(around.value, around.bound, around.on_surface)
