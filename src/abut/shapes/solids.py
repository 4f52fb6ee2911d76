"""Shapes that bodies are made of: what each one is, in its own frame, and how heavy.

A convex shape is a *core* (a point, a segment or a polytope) grown by a radius: a sphere is a point and its radius, a capsule a segment and its
radius, boxes, cylinders and hulls are polytopes of radius 0. So one walk between features, one search for the axis and one clipping serve every pair.
What is not convex is a surface (`surfaces`).

Cylinders and cones are round: their contacts, distances and rays are those of the true shape (`round.axis`, `round.features`, `rays`). Their core is
a prism, or pyramid, around it, which only bounds it: boxes and the first look at a pair come from that. With a number of `sides` they are that
prism: never smaller than the true shape, and larger by at most 1/cos(π/sides) − 1 of the radius (0.86 % for 24 sides). A half-space has no core.
"""

from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np

from abut.core import arrays
from abut.core.arrays import Floats
from abut.core.errors import InvalidInput, Unsupported
from abut.core.showing import count, describe
from abut.core.types import Number, PointsLike, PoseLike, VectorLike
from abut.dynamics import MassProperties, mass_properties
from abut.mesh import Mesh
from abut.shapes.columns import CONICAL, CYLINDRICAL, FACETED, HALF_SPACE
from abut.shapes.cores import Core, core_of, core_of_solid, mesh_of, surface_of
from abut.shapes.mass import weigh_capsule, weigh_cone, weigh_cylinder, weigh_sphere
from abut.shapes.placed import Asked, Placed

BOUNDING_SIDES = 24
"""Of the prism around a round shape."""
MOST_SIDES = 256


class Form(NamedTuple):
    """What the kernels must know of a shape that its core does not say: which kind it is, and its measures."""

    kind: int = FACETED
    """FACETED (the core is the shape), CYLINDRICAL, CONICAL or HALF_SPACE: see `columns`."""
    first: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """radius and half length; of a half-space its normal"""
    second: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """of a half-space its offset"""


class Shape(Asked):
    """Base of all shapes. Immutable; two bodies may share one.

    Examples:
        >>> from abut import shapes
        >>> box = shapes.Box((1, 2, 3))
        >>> isinstance(box, shapes.Shape), box.weigh(density=2.0), box.surface().volume
        (True, MassProperties(mass 12), 6.0)
    """

    radius: float = 0.0
    """How far the core is grown."""

    def __repr__(self) -> str:
        return describe(self, *self._facts())

    def _repr_html_(self) -> str:
        from abut.shapes.picture import draw_shapes

        return draw_shapes(repr(self), [(self, np.eye(4))])

    def _facts(self) -> tuple[str, ...]:
        """What `repr` says, in counts and sizes."""
        raise NotImplementedError

    def weigh(self, density: Number) -> MassProperties:
        """Mass, center of mass and inertia about it, in the shape's frame.

        Args:
            density: mass by volume; of a deformable body, mass by area.

        Raises:
            InvalidInput: for an open surface, which has no mass.
            Unsupported: for a terrain.
        """
        return self._weigh(arrays.positive(density, "density"))

    def _weigh(self, density: float) -> MassProperties:
        raise NotImplementedError

    def surface(self) -> Mesh:
        """A closed mesh of the shape, to look at."""
        raise NotImplementedError

    def at(self, pose: PoseLike) -> Placed:
        """The shape at a pose, for `abut.collide` and `abut.distance`.

        Args:
            pose: (4,4) that carries the shape's frame into the world.

        Raises:
            Unsupported: for a deformable body, whose vertices say where it is.
        """
        return Placed(self, pose)

    def collider(self) -> "Shape":
        """What stands for the shape in collisions."""
        return self


class Convex(Shape):
    """A core grown by a radius."""

    core: Core
    form: Form = Form()


class Sphere(Convex):
    """A ball around the origin.

    Args:
        radius: above 0.

    Examples:
        >>> from abut import shapes
        >>> shapes.Sphere(0.5)
        Sphere(radius 0.5)
    """

    def __init__(self, radius: Number) -> None:
        self.radius = arrays.positive(radius, "radius")
        self.core = _core_of_point()

    def __reduce__(self) -> tuple[Any, ...]:
        return (Sphere, (self.radius,))

    def _facts(self) -> tuple[str, ...]:
        return (f"radius {self.radius:g}",)

    def _weigh(self, density: float) -> MassProperties:
        return weigh_sphere(self.radius, density)

    def surface(self) -> Mesh:
        """See `Shape`."""
        return surface_of(_ball_points(self.radius, 0.0))


class Capsule(Convex):
    """All points within `radius` of a segment of `length` along z, the origin in its middle.

    Args:
        radius: above 0.
        length: of the segment, above 0; the capsule is longer by twice the radius.

    Examples:
        >>> from abut import shapes
        >>> shapes.Capsule(0.5, 2)
        Capsule(radius 0.5, length 2)
    """

    def __init__(self, radius: Number, length: Number) -> None:
        self.radius, self.length = arrays.positive(radius, "radius"), arrays.positive(length, "length")
        half = 0.5 * self.length
        self.core = core_of(np.array([[0.0, 0.0, -half], [0.0, 0.0, half]]))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Capsule, (self.radius, self.length))

    def _facts(self) -> tuple[str, ...]:
        return (f"radius {self.radius:g}", f"length {self.length:g}")

    def _weigh(self, density: float) -> MassProperties:
        return weigh_capsule(self.radius, self.length, density)

    def surface(self) -> Mesh:
        """See `Shape`."""
        return surface_of(_ball_points(self.radius, 0.5 * self.length))


class _Faceted(Convex):
    @cached_property
    def _mesh(self) -> Mesh:
        return mesh_of(self.core)

    def _weigh(self, density: float) -> MassProperties:
        return mass_properties(self._mesh, density)

    def surface(self) -> Mesh:
        """See `Shape`."""
        return self._mesh


class Box(_Faceted):
    """A box around the origin.

    Args:
        extents: (3,) its full lengths along x, y and z.

    Examples:
        >>> from abut import shapes
        >>> box = shapes.Box((1, 2, 3))
        >>> box, box.surface().bounds.tolist()
        (Box(1 × 2 × 3), [[-0.5, -1.0, -1.5], [0.5, 1.0, 1.5]])
    """

    def __init__(self, extents: VectorLike) -> None:
        self.extents = arrays.coordinates(extents, "extents", (3,), keep=True)
        if (self.extents <= 0).any():
            raise InvalidInput("extents", f"{self.extents.min():g} is not positive", int(np.argmin(self.extents)))
        corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
        self.core = core_of(corners * self.extents)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Box, (self.extents,))

    def _facts(self) -> tuple[str, ...]:
        return (" × ".join(f"{length:g}" for length in self.extents),)


class Cylinder(_Faceted):
    """A cylinder along z, the origin in its middle: round, or a prism whose faces touch it from outside.

    Args:
        radius: of the true cylinder, above 0.
        length: from end to end, above 0.
        sides: of the prism, 3 to 256; None for a round one.

    Examples:
        >>> from abut import shapes
        >>> shapes.Cylinder(1, 2), shapes.Cylinder(1, 2, sides=6)
        (Cylinder(radius 1, length 2), Cylinder(radius 1, length 2, 6 sides))
    """

    def __init__(self, radius: Number, length: Number, sides: int | None = None) -> None:
        self.round, self.length, self.sides = _measures(radius, length, sides)
        ring = _ring(self.round, self.length, self.sides or BOUNDING_SIDES)
        self.core = core_of(np.concatenate((ring, ring * (1.0, 1.0, -1.0))))
        if self.sides is None:
            self.form = Form(CYLINDRICAL, (self.round, 0.5 * self.length, 0.0))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Cylinder, (self.round, self.length, self.sides))

    def _facts(self) -> tuple[str, ...]:
        return _name_measures(self.round, self.length, self.sides)

    def _weigh(self, density: float) -> MassProperties:
        return weigh_cylinder(self.round, self.length, density) if self.sides is None else super()._weigh(density)


class Cone(_Faceted):
    """A cone along z, the middle between base and tip in the origin, the tip above: round, or a pyramid whose faces touch it from outside.

    Args:
        radius: of the true cone's base, above 0.
        length: from base to tip, above 0.
        sides: of the pyramid, 3 to 256; None for a round one.

    Examples:
        >>> from abut import shapes
        >>> shapes.Cone(1, 2), shapes.Cone(1, 2, sides=6)
        (Cone(radius 1, length 2), Cone(radius 1, length 2, 6 sides))
    """

    def __init__(self, radius: Number, length: Number, sides: int | None = None) -> None:
        self.round, self.length, self.sides = _measures(radius, length, sides)
        ring = _ring(self.round, self.length, self.sides or BOUNDING_SIDES)
        self.core = core_of(np.concatenate((ring, [[0.0, 0.0, 0.5 * self.length]])))
        if self.sides is None:
            self.form = Form(CONICAL, (self.round, 0.5 * self.length, 0.0))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Cone, (self.round, self.length, self.sides))

    def _facts(self) -> tuple[str, ...]:
        return _name_measures(self.round, self.length, self.sides)

    def _weigh(self, density: float) -> MassProperties:
        return weigh_cone(self.round, self.length, density) if self.sides is None else super()._weigh(density)


class Plane(Convex):
    """A half-space: all that lies behind a plane. For static bodies, and for questions. Two of them never meet.

    Args:
        normal: (3,) out of the solid side; of any length above 0.
        offset: of the plane along the normal, from the origin.

    Examples:
        >>> from abut import World, shapes
        >>> world = World()
        >>> floor = world.add(shapes.Plane((0, 0, 1)), kind="static")
        >>> shapes.Plane((0, 0, 2), 1.5), world.closest((3, 4, 5)).distance
        (Plane(normal 0 0 1, offset 1.5), 5.0)
    """

    def __init__(self, normal: VectorLike = (0.0, 0.0, 1.0), offset: Number = 0.0) -> None:
        given = arrays.coordinates(normal, "normal", (3,))
        largest = float(np.abs(given).max())
        if largest == 0.0:
            raise InvalidInput("normal", "is zero: it points nowhere")
        given = given / largest
        self.normal = arrays.frozen(given / np.linalg.norm(given))
        self.offset = arrays.scalar(offset, "offset")
        self.core = _core_of_point()
        x, y, z = self.normal.tolist()
        self.form = Form(HALF_SPACE, (x, y, z), (self.offset, 0.0, 0.0))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Plane, (self.normal, self.offset))

    def _facts(self) -> tuple[str, ...]:
        x, y, z = self.normal + 0.0
        return (f"normal {x:g} {y:g} {z:g}", f"offset {self.offset:g}")

    def _weigh(self, density: float) -> MassProperties:
        raise Unsupported("the mass of a half-space: add it as a static body")

    def surface(self) -> Mesh:
        """A slab of it, 100 wide and 1 thick, to look at: it has no end."""
        across = np.cross(self.normal, np.eye(3)[int(np.argmin(np.abs(self.normal)))])
        across /= np.linalg.norm(across)
        axes = np.array([50.0 * across, 50.0 * np.cross(self.normal, across), self.normal], np.float64)
        corners = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 0.0)])
        return surface_of(corners @ axes + self.offset * self.normal)


class Polytope(_Faceted):
    """The convex hull of points that span a volume; coplanar facets are one face.

    Args:
        points: (n,3) at least four, not in one plane.

    Examples:
        >>> from abut import shapes
        >>> shapes.Polytope([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0.1, 0.1, 0.1)])
        Polytope(4 vertices, 4 faces)
    """

    def __init__(self, points: PointsLike) -> None:
        self.core = core_of_solid(arrays.points(points, "points", keep=True))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Polytope, (self.core.vertices,))

    def _facts(self) -> tuple[str, ...]:
        return (count(len(self.core.vertices), "vertex", "vertices"), count(len(self.core.planes), "face"))


def _measures(radius: Number, length: Number, sides: int | None) -> tuple[float, float, int | None]:
    """Radius, length and sides of a cylinder or cone, checked."""
    number = None if sides is None else arrays.count(sides, "sides", least=3, most=MOST_SIDES)
    return arrays.positive(radius, "radius"), arrays.positive(length, "length"), number


def _name_measures(radius: float, length: float, sides: int | None) -> tuple[str, ...]:
    faceted = () if sides is None else (f"{sides} sides",)
    return (f"radius {radius:g}", f"length {length:g}", *faceted)


def _ring(radius: float, length: float, sides: int) -> Floats:
    """The corners of a base around a circle, half a length below the origin."""
    angle = 2.0 * np.pi * np.arange(sides) / sides
    corner = radius / np.cos(np.pi / sides)
    return np.stack((corner * np.cos(angle), corner * np.sin(angle), np.full(sides, -0.5 * length)), axis=1)


@cache
def _core_of_point() -> Core:
    return core_of(np.zeros((1, 3)))


def _ball_points(radius: float, half: float) -> Floats:
    """Points of a ball of 8 parallels, its halves drawn apart by `half` along z."""
    polar, around = np.meshgrid(np.linspace(0.0, np.pi, 10), 2 * np.pi * np.arange(14) / 14, indexing="ij")
    ball = radius * np.stack((np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), np.cos(polar)), axis=-1)
    ball[:5, :, 2] += half
    ball[5:, :, 2] -= half
    return np.unique(np.round(ball.reshape(-1, 3), 12), axis=0)
