"""Surfaces that bodies are made of: meshes, terrains and deformable meshes.

A surface is the set of its triangles; where it is closed, or a terrain, only their front sides count.
"""

from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from abut import convex
from abut.core import arrays
from abut.core.arrays import Floats
from abut.core.errors import InvalidInput, Unsupported
from abut.core.showing import count
from abut.core.types import Number, PointsLike
from abut.discrete import Deformable, Rigid
from abut.dynamics import MassProperties, MassSpring, ShapeMatching, mass_properties
from abut.mesh import Mesh, MeshLike, as_mesh
from abut.shapes.mass import weigh_shell
from abut.shapes.solids import Polytope, Shape

MOST_HULL_VERTICES = 4096
"""Larger convex meshes are met triangle by triangle: finding whether they are convex takes as long as building a hull."""
BOTH, FRONT, GROUND = 0, 1, 2
"""Which sides of a surface's triangles count: both; the front; the front, and whatever is below a terrain is pushed up."""


class Surface(Shape):
    """The triangles of a mesh. A closed and oriented mesh is a solid: its back sides do not count, and it has a mass.

    Args:
        mesh: whatever `abut.as_mesh` takes.
        thick: whether both sides of the triangles count; by default those of open meshes do.

    Examples:
        >>> from abut import scenes, shapes
        >>> shapes.Surface(scenes.torus()), shapes.Surface(scenes.cloth(2, 2))
        (Surface(1,024 faces, solid), Surface(8 faces, both sides))
    """

    def __init__(self, mesh: MeshLike, *, thick: bool | None = None) -> None:
        self.mesh = as_mesh(mesh)
        self.is_solid = self.mesh.is_closed and self.mesh.is_oriented and self.mesh.volume > 0.0
        self.side = FRONT if (self.is_solid if thick is None else not arrays.flag(thick, "thick")) else BOTH

    def __reduce__(self) -> tuple[Any, ...]:
        return (_surface, (self.mesh, self.side == BOTH))

    def _facts(self) -> tuple[str, ...]:
        return (
            count(len(self.mesh.faces), "face"),
            *(("both sides",) if self.side == BOTH else ()),
            *(("solid",) if self.is_solid else ()),
        )

    @property
    def vertices(self) -> Floats:
        """(n,3) in the shape's frame."""
        return self.mesh.vertices

    @cached_property
    def hull(self) -> "Polytope | None":
        """The convex hull of the vertices; None where they are flat."""
        try:
            return Polytope(self.mesh.vertices)
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

    def _weigh(self, density: float) -> MassProperties:
        if not self.is_solid:
            raise InvalidInput("shape", "an open surface has no mass: make the body static, or give its mass")
        return mass_properties(self.mesh, density)

    def surface(self) -> Mesh:
        """See `Shape`."""
        return self.mesh


def _surface(mesh: Mesh, thick: bool) -> Surface:
    return Surface(mesh, thick=thick)


class Terrain(Surface):
    """A height field, solid below, as deep as it is wide. For static and kinematic bodies.

    Args:
        heights: (n,m) heights z at x = i·spacing, y = j·spacing, at least 2 each way.
        spacing: between neighboring heights, above 0.

    Examples:
        >>> import numpy as np
        >>> from abut import shapes
        >>> hill = shapes.Terrain(np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0]]), spacing=2.0)
        >>> hill, hill.hold([(2, 2, 0.9), (2, 2, 1.1)]).tolist()
        (Terrain(3 × 3 heights, spacing 2), [True, False])
    """

    def __init__(self, heights: PointsLike, spacing: Number = 1.0) -> None:
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

    def _facts(self) -> tuple[str, ...]:
        n, m = self.heights.shape
        return (f"{n} × {m} heights", f"spacing {self.spacing:g}")

    def hold(self, points: PointsLike) -> NDArray[np.bool_]:
        """(k,) which points are on or below it, no deeper than it is wide.

        Args:
            points: (k,3) in its frame.
        """
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

    def _weigh(self, density: float) -> MassProperties:
        raise Unsupported("a moving terrain: add it as a static body")


class Soft(Shape):
    """A deformable body: its triangles where its vertices are now, in the world. Moved by `Deformable.update`, never by a pose.

    With a model it is a soft body: a world moves its particles, and the vertices with them.

    Args:
        body: whose triangles these are.
        model: a `MassSpring` or `ShapeMatching` whose first particles are the vertices of the body, where they are now. A dynamic body of a world
            moves as it does.

    Examples:
        >>> import abut
        >>> from abut import dynamics, scenes, shapes
        >>> sheet = abut.Deformable(scenes.cloth(2, 2))
        >>> soft = shapes.Soft(sheet)
        >>> sheet.update(sheet.vertices + (0, 0, 5))
        >>> soft, float(soft.vertices[0, 2])
        (Soft(8 faces), 5.0)
        >>> shapes.Soft(sheet, dynamics.MassSpring.from_mesh((sheet.vertices, sheet.mesh.faces)))
        Soft(8 faces, MassSpring)
    """

    _takes_pose = False

    def __init__(self, body: Deformable, model: MassSpring | ShapeMatching | None = None) -> None:
        self.body = arrays.instance(body, "body", Deformable)
        if model is not None:
            if not isinstance(model, MassSpring | ShapeMatching):
                raise InvalidInput("model", f"is a {type(model).__name__}, expected a MassSpring or ShapeMatching")
            size = len(body.vertices)
            if len(model) < size:
                raise InvalidInput("model", f"has {count(len(model), 'particle')} for {size:,} vertices")
            apart = (model.position[:size] != body.vertices).any(axis=1)
            if apart.any():
                raise InvalidInput("model", "has a particle that is not where its vertex is", int(np.argmax(apart)))
        self.model = model
        mesh = body.mesh
        self.is_solid = mesh.is_closed and mesh.is_oriented and mesh.volume > 0.0
        self.side = FRONT if self.is_solid else BOTH

    def __reduce__(self) -> tuple[Any, ...]:
        return (_soft, (self.body, self.model))

    def _facts(self) -> tuple[str, ...]:
        return (count(len(self.mesh.faces), "face"), *(() if self.model is None else (type(self.model).__name__,)))

    @property
    def mesh(self) -> Mesh:
        """The mesh at rest."""
        return self.body.mesh

    @property
    def vertices(self) -> Floats:
        """(n,3) where they are now."""
        return self.body.vertices

    def _weigh(self, density: float) -> MassProperties:
        """The mass of its surface at rest, or of its model, whatever the density; the world turns no soft body as a whole."""
        if self.model is None:
            return weigh_shell(self.mesh, density)
        return MassProperties(float(self.model.mass.sum()), np.zeros(3), np.eye(3))

    def surface(self) -> Mesh:
        """See `Shape`."""
        return Mesh(self.vertices, self.mesh.faces)


def _soft(body: Deformable, model: MassSpring | ShapeMatching | None) -> Soft:
    """One whose vertices may be elsewhere by now."""
    soft = Soft(body)
    soft.model = model
    return soft


ShapeLike: TypeAlias = Shape | Rigid | Deformable | convex.Hull | MeshLike
"""Whatever `as_shape` takes."""


def as_shape(value: ShapeLike) -> Shape:
    """A shape as it is; meshes and rigid bodies become a Surface, deformable ones a Soft shape; hulls of `abut.convex` a Polytope.

    Args:
        value: a shape, a body of `abut`, a hull of `abut.convex`, or whatever `abut.as_mesh` takes.

    Examples:
        >>> from abut import scenes, shapes
        >>> shapes.as_shape(scenes.box((1, 1, 1)))
        Surface(12 faces, solid)
    """
    if isinstance(value, Shape):
        return value
    if isinstance(value, Deformable):
        return Soft(value)
    if isinstance(value, Rigid):
        return Surface(value.mesh)
    if isinstance(value, convex.Hull):
        return Polytope(value.vertices)
    try:
        return Surface(as_mesh(value))
    except InvalidInput as error:
        raise InvalidInput("shape", f"is neither a shape nor a mesh ({error})") from None
