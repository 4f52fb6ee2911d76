"""Shapes that bodies are made of: what each one is, in its own frame, and how heavy.

A convex shape is a *core* (a point, a segment or a polytope) grown by a radius: a sphere is a point and its radius, a capsule a segment and its
radius, boxes, cylinders and hulls are polytopes of radius 0. So one walk between features, one search for the axis and one clipping serve every pair.
A surface (mesh, deformable mesh, terrain) is the set of its triangles; where it is closed, or a terrain, only their front sides count.

Cylinders are prisms of `sides` faces around the true cylinder: never smaller than it, and larger by at most 1/cos(π/sides) − 1 of the radius
(0.86 % for 24 sides).
"""

from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abut import convex
from abut.core import arrays
from abut.core.arrays import Floats
from abut.core.errors import InvalidInput, Unsupported
from abut.discrete import Deformable, Rigid
from abut.dynamics import MassProperties, mass_properties
from abut.mesh import Mesh, as_mesh
from abut.shapes.cores import Core, core_of, core_of_solid, mesh_of, surface_of
from abut.shapes.mass import weigh_capsule, weigh_shell, weigh_sphere

CYLINDER_SIDES = 24
MOST_SIDES = 256
MOST_HULL_VERTICES = 4096
"""Larger convex meshes are met triangle by triangle: finding whether they are convex takes as long as building a hull."""
BOTH, FRONT, GROUND = 0, 1, 2
"""Which sides of a surface's triangles count: both; the front; the front, and whatever is below a terrain is pushed up."""


class Shape:
    """Base of all shapes. Immutable; two bodies may share one."""

    radius: float = 0.0
    """How far the core is grown."""

    def weigh(self, density: float) -> MassProperties:
        """Mass, center of mass and inertia about it, in the shape's frame, for a density."""
        raise NotImplementedError

    def surface(self) -> Mesh:
        """A closed mesh of the shape, to look at."""
        raise NotImplementedError

    def collider(self) -> "Shape":
        """What stands for the shape in collisions."""
        return self


class Convex(Shape):
    """A core grown by a radius."""

    core: Core


class Sphere(Convex):
    """A ball around the origin."""

    def __init__(self, radius: float) -> None:
        self.radius = arrays.positive(radius, "radius")
        self.core = _core_of_point()

    def __reduce__(self) -> tuple[Any, ...]:
        return (Sphere, (self.radius,))

    def weigh(self, density: float) -> MassProperties:
        """See `Shape`."""
        return weigh_sphere(self.radius, arrays.positive(density, "density"))

    def surface(self) -> Mesh:
        """See `Shape`."""
        return surface_of(_ball_points(self.radius, 0.0))


class Capsule(Convex):
    """All points within `radius` of a segment of `length` along z, the origin in its middle."""

    def __init__(self, radius: float, length: float) -> None:
        self.radius, self.length = arrays.positive(radius, "radius"), arrays.positive(length, "length")
        half = 0.5 * self.length
        self.core = core_of(np.array([[0.0, 0.0, -half], [0.0, 0.0, half]]))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Capsule, (self.radius, self.length))

    def weigh(self, density: float) -> MassProperties:
        """See `Shape`."""
        return weigh_capsule(self.radius, self.length, arrays.positive(density, "density"))

    def surface(self) -> Mesh:
        """See `Shape`."""
        return surface_of(_ball_points(self.radius, 0.5 * self.length))


class _Polytope(Convex):
    @cached_property
    def _mesh(self) -> Mesh:
        return mesh_of(self.core)

    def weigh(self, density: float) -> MassProperties:
        """See `Shape`."""
        return mass_properties(self._mesh, density)

    def surface(self) -> Mesh:
        """See `Shape`."""
        return self._mesh


class Box(_Polytope):
    """A box around the origin; `extents` (3,) are its full lengths."""

    def __init__(self, extents: object) -> None:
        self.extents = arrays.coordinates(extents, "extents", (3,), keep=True)
        if (self.extents <= 0).any():
            raise InvalidInput("extents", f"{self.extents.min():g} is not positive", int(np.argmin(self.extents)))
        corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
        self.core = core_of(corners * self.extents)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Box, (self.extents,))


class Cylinder(_Polytope):
    """A cylinder along z, the origin in its middle: a prism of `sides` faces that touch it from outside."""

    def __init__(self, radius: float, length: float, sides: int = CYLINDER_SIDES) -> None:
        self.round, self.length = arrays.positive(radius, "radius"), arrays.positive(length, "length")
        self.sides = arrays.count(sides, "sides", least=3, most=MOST_SIDES)
        angle = 2.0 * np.pi * np.arange(self.sides) / self.sides
        reach = self.round / np.cos(np.pi / self.sides)
        ring = np.stack((reach * np.cos(angle), reach * np.sin(angle), np.full(self.sides, -0.5 * self.length)), axis=1)
        self.core = core_of(np.concatenate((ring, ring * (1.0, 1.0, -1.0))))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Cylinder, (self.round, self.length, self.sides))


class Hull(_Polytope):
    """The convex hull of points (n,3) that span a volume."""

    def __init__(self, points: object) -> None:
        self.core = core_of_solid(arrays.points(points, "points", keep=True))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Hull, (self.core.vertices,))


class Surface(Shape):
    """The triangles of a mesh. A closed and oriented mesh is a solid: its back sides do not count, and it has a mass.

    Whatever `as_mesh` takes will do. `thick`: count the back sides too, even if the mesh is closed.
    """

    def __init__(self, mesh: object, *, thick: bool | None = None) -> None:
        self.mesh = as_mesh(mesh)
        self.is_solid = self.mesh.is_closed and self.mesh.is_oriented and self.mesh.volume > 0.0
        self.side = FRONT if (self.is_solid if thick is None else not arrays.flag(thick, "thick")) else BOTH

    def __reduce__(self) -> tuple[Any, ...]:
        return (_surface, (self.mesh, self.side == BOTH))

    @property
    def vertices(self) -> Floats:
        """(n,3) in the shape's frame."""
        return self.mesh.vertices

    @cached_property
    def hull(self) -> "Hull | None":
        """The convex hull of the vertices; None where they are flat."""
        try:
            return Hull(self.mesh.vertices)
        except InvalidInput:
            return None

    @cached_property
    def outline(self) -> convex.Hull:
        """The convex hull, flat or not, whose closest features say whether two surfaces can meet at all."""
        return convex.Hull(self.mesh.vertices)

    @cached_property
    def bodies(self) -> tuple[Rigid, Rigid]:
        """The tree of oriented boxes, for what only triangles can decide: once for each side of a pair, for two bodies may share a shape."""
        return Rigid(self.mesh), Rigid(self.mesh)

    @cached_property
    def is_convex(self) -> bool:
        """Whether the hull's faces are the mesh's own: then the hull decides (Peyré 2001 §4.1). To 1e-9 of the volume."""
        hull = self.hull
        return (
            self.is_solid
            and hull is not None
            and abs(self.mesh.volume - hull.surface().volume) <= 1e-9 * self.mesh.volume
        )

    def collider(self) -> Shape:
        """The hull in place of a small convex mesh (Peyré 2001 §4.1: its faces are faces of the object), else the surface itself."""
        few = type(self) is Surface and self.side == FRONT and len(self.mesh.vertices) <= MOST_HULL_VERTICES
        return self.hull if few and self.is_convex and self.hull is not None else self

    def weigh(self, density: float) -> MassProperties:
        """See `Shape`. A surface that encloses nothing is refused."""
        if not self.is_solid:
            raise InvalidInput("shape", "an open surface has no mass: make the body static, or give its mass")
        return mass_properties(self.mesh, density)

    def surface(self) -> Mesh:
        """See `Shape`."""
        return self.mesh


def _surface(mesh: Mesh, thick: bool) -> Surface:
    return Surface(mesh, thick=thick)


class Terrain(Surface):
    """A height field: heights (n,m) at x = i·spacing, y = j·spacing, solid below, as deep as it is wide. Static bodies only."""

    def __init__(self, heights: object, spacing: float = 1.0) -> None:
        self.heights = arrays.coordinates(heights, "heights", (None, None), keep=True)
        self.spacing = arrays.positive(spacing, "spacing")
        n, m = self.heights.shape
        if min(n, m) < 2:
            raise InvalidInput("heights", f"has shape {self.heights.shape}: a terrain has at least 2 rows and columns")
        i, j = np.meshgrid(np.arange(n), np.arange(m), indexing="ij")
        vertices = np.stack((self.spacing * i, self.spacing * j, self.heights), axis=-1).reshape(-1, 3)
        corner = (i * m + j)[:-1, :-1]
        quads = np.stack((corner, corner + m, corner + m + 1, corner + 1), axis=-1)
        super().__init__(Mesh(vertices, quads[..., [0, 1, 2, 0, 2, 3]].reshape(-1, 3)), thick=False)
        self.side = GROUND

    def __reduce__(self) -> tuple[Any, ...]:
        return (Terrain, (self.heights, self.spacing))

    def hold(self, points: object) -> NDArray[np.bool_]:
        """(k,) which points (k,3) of its frame are on or below it, no deeper than it is wide."""
        points = arrays.points(points, "points")
        n, m = self.heights.shape
        u, v = points[:, 0] / self.spacing, points[:, 1] / self.spacing
        over = (u >= 0.0) & (u <= n - 1) & (v >= 0.0) & (v <= m - 1)
        i, j = (np.clip(np.where(over, w, 0.0), 0, k - 2).astype(np.int64) for w, k in ((u, n), (v, m)))
        s, t = u - i, v - j
        corner, far = self.heights[i, j], self.heights[i + 1, j + 1]
        # Each square is cut from its first corner to the one across.
        middle = np.where(s >= t, self.heights[i + 1, j], self.heights[i, j + 1])
        height = corner + np.maximum(s, t) * (middle - corner) + np.minimum(s, t) * (far - middle)
        deep = self.heights.min() - self.spacing * (max(n, m) - 1)
        return over & (points[:, 2] <= height) & (points[:, 2] >= deep)

    def weigh(self, density: float) -> MassProperties:
        """A terrain has no mass."""
        raise Unsupported("a moving terrain: add it as a static body")


class Soft(Shape):
    """A deformable body: its triangles where its vertices are now, in the world. Moved by `Deformable.update`, never by a pose."""

    def __init__(self, body: Deformable) -> None:
        self.body = arrays.instance(body, "body", Deformable)
        mesh = body.mesh
        self.is_solid = mesh.is_closed and mesh.is_oriented and mesh.volume > 0.0
        self.side = FRONT if self.is_solid else BOTH

    def __reduce__(self) -> tuple[Any, ...]:
        return (Soft, (self.body,))

    @property
    def mesh(self) -> Mesh:
        """The mesh at rest."""
        return self.body.mesh

    @property
    def vertices(self) -> Floats:
        """(n,3) where they are now."""
        return self.body.vertices

    def weigh(self, density: float) -> MassProperties:
        """The mass of its surface at rest; the world does not move it."""
        return weigh_shell(self.mesh, arrays.positive(density, "density"))

    def surface(self) -> Mesh:
        """See `Shape`."""
        return Mesh(self.vertices, self.mesh.faces)


def as_shape(value: object) -> Shape:
    """A shape as it is; meshes and rigid bodies become a Surface, deformable ones a Soft shape; hulls of `abut.convex` a Hull."""
    if isinstance(value, Shape):
        return value
    if isinstance(value, Deformable):
        return Soft(value)
    if isinstance(value, Rigid):
        return Surface(value.mesh)
    if isinstance(value, convex.Hull):
        return Hull(value.vertices)
    try:
        return Surface(as_mesh(value))
    except InvalidInput as error:
        raise InvalidInput("shape", f"is neither a shape nor a mesh ({error})") from None


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
