"""Bodies: a mesh with the tree that makes questions about it fast. `Rigid` moves by a pose, `Deformable` by its vertices."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.jit import kernel
from abut.discrete.triangle_packets import transform
from abut.mesh import Mesh, as_mesh
from abut.trees.packets import packet_tree

# Poses in private places are writable arrays that nobody writes to: kernels are compiled for one kind of array, and a flag costs 0.1 µs to set.
IDENTITY: Floats = np.eye(4)
FLOAT64 = np.dtype(np.float64)


@kernel
def _find_rigid(m: Floats) -> int:
    """The address of a 4×4 matrix if it is finite and a rigid motion to ORTHONORMAL: the quick way in; 0 for what takes the slow and careful one."""
    for i in range(3):
        for j in range(i, 3):
            product = m[0, i] * m[0, j] + m[1, i] * m[1, j] + m[2, i] * m[2, j]
            if not abs(product - (1.0 if i == j else 0.0)) <= arrays.ORTHONORMAL:
                return 0
        if not abs(m[i, 3]) <= arrays.LARGEST_COORDINATE:
            return 0
    det = (
        m[0, 0] * (m[1, 1] * m[2, 2] - m[1, 2] * m[2, 1])
        - m[0, 1] * (m[1, 0] * m[2, 2] - m[1, 2] * m[2, 0])
        + m[0, 2] * (m[1, 0] * m[2, 1] - m[1, 1] * m[2, 0])
    )
    if det > 0.0 and m[3, 0] == 0.0 and m[3, 1] == 0.0 and m[3, 2] == 0.0 and m[3, 3] == 1.0:
        return m.ctypes.data
    return 0


@kernel
def _are_rigid(poses: Floats) -> bool:
    wrong = 0
    for i in range(len(poses)):
        wrong += _find_rigid(poses[i]) == 0
    return wrong == 0


def own_poses(value: object) -> Floats:
    """(k,4,4) poses of one's own, checked: the quick way if they are right as they are, else the slow and careful one."""
    if type(value) is np.ndarray and value.dtype is FLOAT64 and value.shape[1:] == (4, 4) and value.ndim == 3:
        own = np.array(value, order="C")
        if _are_rigid(own):
            return own
    return arrays.rigid_poses(value, "poses")


@kernel
def _move_vertices(vertices: Floats, pose: Floats, out: Floats) -> None:
    for i in range(len(vertices)):
        x, y, z = transform(pose, vertices[i, 0], vertices[i, 1], vertices[i, 2])
        out[i, 0] = x
        out[i, 1] = y
        out[i, 2] = z


class _Treed:
    _packets: packet_tree.Packets
    _inward: tuple[Floats, NDArray[np.bool_] | None] | None = None
    """The vertices for which `orientation` was last found, and what it was."""

    @cached_property
    def _slot_of(self) -> Integers:
        """(faces,) the slot of each face: `order` the other way round."""
        slots = np.empty_like(self._packets.order)
        slots[self._packets.order] = np.arange(len(slots))
        return slots


class Rigid(_Treed):
    """A body that keeps its shape: a mesh, a pose (4,4) acting on column vectors, and a tree of oriented boxes built once.

    Assigning `pose` moves the body, at the cost of a check. `vertices` are its vertices in the world; every verdict is about these very
    coordinates. A rotation that is off by more than 1e-14 is replaced by the nearest one.
    """

    def __init__(self, mesh: object, pose: object = None) -> None:
        self._mesh = as_mesh(mesh)
        self._packets = packet_tree.build(self._mesh.vertices, self._mesh.faces, oriented=True)
        self._probes = probes_of(self._mesh)
        self._points = self._mesh.vertices[self._probes]
        self._handle = packet_tree.handle_of(self._packets.tree, self._points.ctypes.data, len(self._points) // PROBES)
        self._scale = float(self._packets.tree.frame[3])
        self._pose, self._place = IDENTITY, (IDENTITY, IDENTITY.ctypes.data)  # an array and its address, read at once
        self._at = self._handle.ctypes.data
        if pose is not None:
            self.pose = pose

    @property
    def mesh(self) -> Mesh:
        """The mesh in the body's own coordinates."""
        return self._mesh

    @property
    def pose(self) -> Floats:
        """(4,4) read-only."""
        return frozen(self._pose.view())

    @pose.setter
    def pose(self, value: object) -> None:
        if type(value) is np.ndarray and value.dtype is FLOAT64 and value.shape == (4, 4):
            own = value.copy()
            at = _find_rigid(own)
            if at:
                self._pose, self._place = own, (own, at)
                return
        own = arrays.rigid_poses(arrays.pose(value, "pose")[np.newaxis], "pose")[0]
        self._pose, self._place = own, (own, own.ctypes.data)

    @property
    def vertices(self) -> Floats:
        """(n,3) the vertices in the world."""
        out = np.empty_like(self._mesh.vertices)
        _move_vertices(self._mesh.vertices, self._pose, out)
        return frozen(out)

    def __reduce__(self) -> tuple[type["Rigid"], tuple[Mesh, Floats]]:
        return (
            type(self),
            (self._mesh, self._pose),
        )  # the handle holds addresses: copies and pickles build their own tree

    def __repr__(self) -> str:
        return f"Rigid({self._mesh!r})"


class Deformable(_Treed):
    """A body whose vertices move: a mesh at rest, the current vertices, and a tree of axis-aligned boxes.

    The tree's order is fixed by the rest shape; `update` refits its boxes from the leaves upwards (Meseure 1998 §6.3).
    """

    def __init__(self, mesh: object) -> None:
        self._mesh = as_mesh(mesh)
        self._vertices = self._mesh.vertices
        self._packets = packet_tree.build(self._vertices, self._mesh.faces, oriented=False)
        self._probes = probes_of(self._mesh)
        self._points = self._vertices[self._probes]
        self._handle = packet_tree.handle_of(self._packets.tree, self._points.ctypes.data, len(self._points) // PROBES)
        self._scale = float(self._packets.tree.frame[3])
        self._pose, self._place = IDENTITY, (IDENTITY, IDENTITY.ctypes.data)  # an array and its address, read at once
        self._at = self._handle.ctypes.data
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

    def update(self, vertices: object) -> None:
        """Move the vertices, (n,3), and refit the tree. On bad input the body stays as it was."""
        own = arrays.points(vertices, "vertices", keep=True)
        if own.shape != self._vertices.shape:
            raise InvalidInput("vertices", f"has {len(own)} rows for a mesh of {len(self._vertices)} vertices")
        packet_tree.refit(self._packets, own)
        self._vertices = own
        self._points[:] = own[self._probes]
        self._scale = float(self._packets.tree.frame[3])
        self._version += 1

    def __reduce__(self) -> Any:
        return (
            _restore,
            (self._mesh, self._vertices),
        )  # the handle holds addresses: copies and pickles build their own tree

    def __repr__(self) -> str:
        return f"Deformable({self._mesh!r})"


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


def as_body(value: object, name: str) -> Body:
    """A body as it is; anything that `as_mesh` accepts becomes a `Rigid` body, which builds its tree anew at each call."""
    if isinstance(value, BODIES):
        return value
    try:
        return Rigid(as_mesh(value))
    except InvalidInput as error:
        raise InvalidInput(f"{name}.{error.name}" if error.name != name else name, error.reason, error.row) from None


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
