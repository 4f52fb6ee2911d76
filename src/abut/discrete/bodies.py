"""Bodies: a mesh with the tree that makes questions about it fast. `Rigid` moves by a pose, `Deformable` by its vertices."""

from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from abut.core import arrays, showing
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput, Unsupported
from abut.core.jit import kernel
from abut.core.poses import own_pose
from abut.core.types import PointsLike, PoseLike
from abut.geometry.frames import carry_by
from abut.geometry.rows import put_vector, vector_at
from abut.mesh import Mesh, MeshLike, as_mesh, picture
from abut.trees.packets import packet_tree

IDENTITY: Floats = np.eye(4)
# Trees relate two frames in float32; a body this much larger than the other is beyond it.
LARGEST_RATIO = 2.0**100
LEAST_RATIO = 2.0**-100


@kernel
def _move_vertices(vertices: Floats, pose: Floats, out: Floats) -> None:
    for i in range(len(vertices)):
        put_vector(out, i, 0, carry_by(pose, vector_at(vertices, i)))


class _Treed:
    """What both kinds of body have: a mesh, its tree, probes, and the table through which kernels find them."""

    _packets: packet_tree.Packets
    _inward: tuple[Floats, NDArray[np.bool_] | None] | None = None
    """The vertices for which `orientation` was last found, and what it was."""

    def __init__(self, mesh: MeshLike, *, oriented: bool) -> None:
        self._mesh = as_mesh(mesh)
        self._packets = packet_tree.build(self._mesh.vertices, self._mesh.faces, oriented=oriented)
        self._probes = probes_of(self._mesh)
        self._points = self._mesh.vertices[self._probes]
        self._handle = packet_tree.handle_of(self._packets.tree, self._points)
        self._at = self._handle.ctypes.data
        self._scale = float(self._packets.tree.frame[3])
        self._pose, self._place = IDENTITY, (IDENTITY, IDENTITY.ctypes.data)  # an array and its address, read at once

    @cached_property
    def _slot_of(self) -> Integers:
        """(faces,) the slot of each face: `order` the other way round."""
        slots = np.empty_like(self._packets.order)
        slots[self._packets.order] = np.arange(len(slots))
        return slots

    @cached_property
    def _view(self) -> tuple[packet_tree.Handle, bool]:
        """What kernels open a view of the tree with (`search.tree_view`): its table, whatever the boxes, and whether they are oriented."""
        return self._handle.view(np.int64), self._handle.dtype == np.int64

    @cached_property
    def _boundary(self) -> tuple[Integers, Floats]:
        """See `net_boundary`."""
        return net_boundary(self._mesh)

    def __repr__(self) -> str:
        return showing.describe(self, repr(self._mesh))

    def _repr_html_(self) -> str:
        return picture.surface_html(repr(self), vertices_at(self, self._pose), self._mesh)  # pyright: ignore[reportArgumentType]


class Rigid(_Treed):
    """A body that keeps its shape: a mesh, a pose, and a tree of oriented boxes built once.

    Assigning `pose` moves the body, at the cost of a check. `vertices` are its vertices in the world; every verdict is about these very
    coordinates. A rotation that is off by more than 1e-14 is replaced by the nearest one.

    Args:
        mesh: the shape in the body's own coordinates; anything that `as_mesh` takes.
        pose: (4,4) a rotation and a translation that act on column vectors and carry the mesh into the world; None leaves it where it is.

    Examples:
        >>> import numpy as np
        >>> import abut
        >>> body = abut.Rigid(abut.scenes.box())
        >>> pose = np.eye(4)
        >>> pose[:3, 3] = 0.0, 0.0, 2.5
        >>> body.pose = pose
        >>> body.vertices[:, 2].min()
        np.float64(2.0)
    """

    def __init__(self, mesh: MeshLike, pose: PoseLike | None = None) -> None:
        super().__init__(mesh, oriented=True)
        if pose is not None:
            self.pose = pose

    @property
    def mesh(self) -> Mesh:
        """The mesh in the body's own coordinates."""
        return self._mesh

    @property
    def pose(self) -> Floats:
        """(4,4) the pose, read-only; assign another to move the body."""
        return frozen(self._pose.view())

    @pose.setter
    def pose(self, value: PoseLike) -> None:
        self._place = own_pose(value, "pose")
        self._pose = self._place[0]

    @property
    def vertices(self) -> Floats:
        """(n,3) the vertices in the world."""
        return frozen(vertices_at(self, self._pose))

    def __reduce__(self) -> tuple[type["Rigid"], tuple[Mesh, Floats]]:
        return type(self), (
            self._mesh,
            self._pose,
        )  # the handle holds addresses: copies and pickles build their own tree


class Deformable(_Treed):
    """A body whose vertices move: a mesh at rest, the current vertices, and a tree of axis-aligned boxes.

    The tree's order is fixed by the rest shape; `update` refits its boxes from the leaves upwards (Meseure 1998 §6.3).

    Args:
        mesh: the shape at rest, in the world; anything that `as_mesh` takes.

    Examples:
        >>> import abut
        >>> ball = abut.Deformable(abut.scenes.icosphere(2))
        >>> ball.update(0.5 * ball.mesh.vertices)
        >>> round(float(ball.vertices.max()), 3)
        0.5
    """

    def __init__(self, mesh: MeshLike) -> None:
        super().__init__(mesh, oriented=False)
        self._vertices = self._mesh.vertices
        self._version = 0

    @property
    def mesh(self) -> Mesh:
        """The mesh at rest."""
        return self._mesh

    @property
    def pose(self) -> Floats:
        """(4,4) the identity: vertices are given in the world."""
        return frozen(IDENTITY.view())

    @property
    def vertices(self) -> Floats:
        """(n,3) the current vertices, in the world."""
        return self._vertices

    def update(self, vertices: PointsLike) -> None:
        """Move the vertices and refit the tree. On bad input the body stays as it was.

        Args:
            vertices: (n,3) new positions in the world, as many as the mesh has.
        """
        own = arrays.points(vertices, "vertices", keep=True)
        if own.shape != self._vertices.shape:
            raise InvalidInput("vertices", f"has {len(own)} rows for a mesh of {len(self._vertices)} vertices")
        packet_tree.refit(self._packets, own)
        self._vertices = own
        self._points[:] = own[self._probes]
        self._scale = float(self._packets.tree.frame[3])
        self._version += 1

    def __reduce__(self) -> Any:
        return _restore, (self._mesh, self._vertices)  # the handle holds addresses, as in Rigid


def _restore(mesh: Mesh, vertices: Floats) -> Deformable:
    body = Deformable(mesh)
    body.update(vertices)
    return body


def vertices_at(body: "Body", pose: Floats) -> Floats:
    """(n,3) the vertices in the world of a rigid body at some pose; those of a deformable body are there already."""
    if isinstance(body, Deformable):
        return body.vertices
    out = np.empty_like(body.mesh.vertices)
    _move_vertices(body.mesh.vertices, pose, out)
    return out


Body = Rigid | Deformable
BODIES = (Rigid, Deformable)

BodyLike: TypeAlias = Rigid | Deformable | MeshLike
"""What is taken for a body: a `Rigid` or a `Deformable` one; anything that `as_mesh` takes becomes a rigid body for the call."""


def as_body(value: Any, name: str) -> Body:
    """A body as it is; anything that `as_mesh` accepts becomes a `Rigid` body, which builds its tree anew at each call."""
    if isinstance(value, BODIES):
        return value
    try:
        return Rigid(as_mesh(value))
    except InvalidInput as error:
        raise InvalidInput(f"{name}.{error.name}" if error.name != name else name, error.reason, error.row) from None


def move(body: Rigid, pose: Floats) -> Rigid:
    """The same body, tree and all, at a pose that was checked."""
    moved = object.__new__(type(body))
    moved.__dict__.update(body.__dict__)
    moved.pose = pose
    return moved


def check_sizes(a: Body, b: Body) -> None:
    """Refuse bodies whose sizes are too far apart for their trees."""
    ratio = a._scale / b._scale
    if not LEAST_RATIO <= ratio <= LARGEST_RATIO:
        raise Unsupported(f"bodies whose sizes differ by a factor of {max(ratio, 1.0 / ratio):.0e}")


def net_boundary(mesh: Mesh) -> tuple[Integers, Floats]:
    """(k,2) edges along which more faces run one way than the other, and (k,) how many more run from the first vertex to the second."""
    sides = mesh.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    count = np.int64(len(mesh.vertices))
    keys, which = np.unique(sides.min(axis=1) * count + sides.max(axis=1), return_inverse=True)
    times = np.bincount(which, weights=np.sign(sides[:, 1] - sides[:, 0]), minlength=len(keys))
    keys, times = keys[times != 0.0], times[times != 0.0]
    return np.stack((keys // count, keys % count), axis=1), times.astype(np.float64)


PROBES = 6
"""Probes of each connected piece: its lowest and highest vertex along x, y and z."""


def closedness(mesh: Mesh) -> int:
    """0 for an open surface, 1 for a closed and consistently oriented one, 2 for one that is only closed."""
    if not mesh.is_closed:
        return 0
    return 1 if mesh.is_oriented else 2


@kernel
def _find_extremes(vertices: Floats, component: Integers, best: Integers) -> None:
    """The vertices of each component with the smallest and largest x, y and z."""
    for v in range(len(vertices)):
        at = 6 * component[v]
        if at < 0:
            continue
        for k in range(3):
            low, high = best[at + 2 * k], best[at + 2 * k + 1]
            if low < 0 or vertices[v, k] < vertices[low, k]:
                best[at + 2 * k] = v
            if high < 0 or vertices[v, k] > vertices[high, k]:
                best[at + 2 * k + 1] = v


def probes_of(mesh: Mesh) -> Integers:
    """(PROBES·components,) vertices: for each connected piece its lowest and highest along the axes.

    A closed surface that does not meet the piece holds it just when it holds any of them, and only if all lie within its bounds.
    """
    return extremes_of(mesh, mesh.vertices)


def extremes_of(mesh: Mesh, vertices: Floats) -> Integers:
    """The same where the mesh has other vertices."""
    best = np.full(PROBES * mesh.component_count, -1, dtype=np.int64)
    _find_extremes(vertices, mesh.vertex_components, best)
    return best
