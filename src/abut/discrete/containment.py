"""`contains`: which points lie inside a closed body; and which of two bodies that do not meet holds the other."""

import numpy as np
from numpy.typing import NDArray

from abut.core import arrays
from abut.core.arrays import Floats
from abut.core.errors import InvalidInput
from abut.core.types import PointsLike
from abut.discrete.bodies import Body, BodyLike, as_body, closedness
from abut.discrete.search.queries import find_held
from abut.discrete.search.winding import find_inside


def find_holder(a: Body, pose_a: Floats, b: Body, pose_b: Floats) -> int:
    """Whether one of two bodies that do not meet lies inside the other: 0, A_IN_B or B_IN_A."""
    return find_held(a._handle, pose_a, closedness(a.mesh), b._handle, pose_b, closedness(b.mesh))


def contains(a: BodyLike, points: PointsLike) -> NDArray[np.bool_]:
    """Which points lie inside a closed body; points of its surface count as inside.

    Exact for the world coordinates of the vertices. Where faces are consistently oriented, inside means a winding number other than 0; in a
    closed mesh that is not, an odd number of crossings.

    Args:
        a: a closed body, or what `as_mesh` takes.
        points: (n,3) points of the world.

    Returns:
        (n,) booleans.

    Raises:
        InvalidInput: the body is not closed: it has no inside.

    Examples:
        >>> import abut
        >>> abut.contains(abut.scenes.box(), [[0.5, 0.0, 0.0], [0.500001, 0.0, 0.0]])
        array([ True, False])
    """
    body = as_body(a, "a")
    if not body.mesh.is_closed:
        raise InvalidInput("a", "is not closed: it has no inside")
    own = arrays.points(points, "points")
    out = np.empty(len(own), dtype=np.bool_)
    find_inside(body._handle, body._pose, own, not body.mesh.is_oriented, out)
    return out
