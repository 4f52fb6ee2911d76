"""How deep a point is inside a convex shape, and what is left of the shape where it is deeper than that: a smaller shape of the same kind.

Of a cone the rest is a similar cone around the center of the inscribed ball; of a polytope its planes have moved inwards. So the point of one shape
that is deepest inside another is found exactly: the rest of that other one shrinks until the two only touch (`depths`).
"""

import numpy as np
from scipy.optimize import linprog
from scipy.spatial import HalfspaceIntersection

from abut.core.arrays import Floats
from abut.shapes.solids import Box, Capsule, Cone, Convex, Cylinder, Plane, Polytope, Sphere

Ball = tuple[Floats, float]
"""Center and radius."""


def find_inner_ball(shape: Convex) -> Ball:
    """A largest ball inside a shape; of a half-space there is none that is largest."""
    middle = np.zeros(3)
    if isinstance(shape, Plane):
        return middle, np.inf
    if isinstance(shape, Sphere | Capsule):
        return middle, shape.radius
    if isinstance(shape, Box):
        return middle, 0.5 * float(shape.extents.min())
    if isinstance(shape, Cylinder) and shape.sides is None:
        return middle, min(shape.round, 0.5 * shape.length)
    if isinstance(shape, Cone) and shape.sides is None:
        r = shape.round * shape.length / (shape.round + float(np.hypot(shape.round, shape.length)))
        return np.array([0.0, 0.0, r - 0.5 * shape.length]), r
    # The ball whose center is farthest from all planes (Chebyshev's center); in units of the shape, so that the solver's tolerances fit.
    planes, origin = shape.core.planes, shape.core.vertices.mean(axis=0)
    size = float(np.abs(shape.core.vertices - origin).max())
    heights = (planes[:, 3] - planes[:, :3] @ origin) / size
    rows = np.column_stack((planes[:, :3], np.ones(len(planes))))
    found = linprog((0.0, 0.0, 0.0, -1.0), A_ub=rows, b_ub=heights, bounds=(None, None))
    return origin + size * found.x[:3], size * float(found.x[3])


def erode(shape: Convex, depth: float, ball: Ball) -> tuple[Convex, Floats]:
    """What is at least so deep inside a shape, less than the radius of its inner ball; and where its own origin lies in the shape's frame."""
    here = np.zeros(3)
    if isinstance(shape, Sphere):
        return Sphere(shape.radius - depth), here
    if isinstance(shape, Capsule):
        return Capsule(shape.radius - depth, shape.length), here
    if isinstance(shape, Plane):
        return Plane(shape.normal, shape.offset - depth), here
    if isinstance(shape, Box):
        return Box(shape.extents - 2.0 * depth), here
    if isinstance(shape, Cylinder) and shape.sides is None:
        return Cylinder(shape.round - depth, shape.length - 2.0 * depth), here
    left = 1.0 - depth / ball[1]
    if isinstance(shape, Cone) and shape.sides is None:
        return Cone(left * shape.round, left * shape.length), (1.0 - left) * ball[0]
    planes = shape.core.planes
    size = float(np.abs(shape.core.vertices - ball[0]).max())
    heights = (planes[:, 3] - planes[:, :3] @ ball[0] - depth) / size
    corners = HalfspaceIntersection(np.column_stack((planes[:, :3], -heights)), np.zeros(3)).intersections
    return Polytope(ball[0] + size * corners), here


def depths_inside(shape: Convex, points: Floats) -> Floats:
    """(k,) how deep points (k,3) of the shape's frame are inside it; less than 0 outside, by no less than their distance."""
    if isinstance(shape, Plane):
        return shape.offset - points @ shape.normal
    if isinstance(shape, Sphere | Capsule):
        half = 0.5 * shape.length if isinstance(shape, Capsule) else 0.0
        up = points[:, 2] - np.clip(points[:, 2], -half, half)
        return shape.radius - np.sqrt(points[:, 0] ** 2 + points[:, 1] ** 2 + up**2)
    across = np.hypot(points[:, 0], points[:, 1])
    if isinstance(shape, Cylinder) and shape.sides is None:
        return np.minimum(shape.round - across, 0.5 * shape.length - np.abs(points[:, 2]))
    if isinstance(shape, Cone) and shape.sides is None:
        slant = float(np.hypot(shape.round, shape.length))
        below = shape.round * (0.5 * shape.length - points[:, 2]) - shape.length * across
        return np.minimum(points[:, 2] + 0.5 * shape.length, below / slant)
    planes = shape.core.planes
    return (planes[:, 3] - points @ planes[:, :3].T).min(axis=1)
