"""One step of a body from t = 0 to t = 1, and several bodies' steps as one.

A deforming step moves every vertex on a straight line at constant velocity. A rigid step moves the origin of the body's frame on a straight line
and turns the body at constant speed about one axis, by the smaller angle between its two poses (at most π). Both are one formula (`paths`), with
a vertex split into a part along the axis and the rest.
"""

from typing import Any, Protocol, TypeAlias

import numpy as np

from abut.ccd.motion.paths import Paths, places
from abut.core import arrays, devices
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput, Unsupported
from abut.core.poses import own_pose
from abut.core.showing import count, describe, table_html
from abut.core.types import PointsLike, PoseLike
from abut.mesh import Mesh, MeshLike, as_mesh


class _HasMesh(Protocol):
    """A body: `Rigid`, `Deformable`."""

    @property
    def mesh(self) -> Mesh: ...


BodyLike: TypeAlias = MeshLike | _HasMesh
"""What moves: anything that `as_mesh` takes, or a `Rigid` or `Deformable` body."""


class Motion:
    """One step of a body, from t = 0 to t = 1: `Motion(mesh, v_t0, v_t1)` deforms, `Motion(body, pose_t0, pose_t1)` moves rigidly.

    A deforming step moves each vertex on a straight line at constant velocity. A rigid one moves the origin of the body's frame on a straight
    line and turns the body at constant speed about one axis, by the smaller angle between the two poses. A motion does not change.

    Args:
        mesh: anything `as_mesh` takes, or a `Rigid` or `Deformable` body; its mesh is read, not where the body stands.
        start, end: (n,3) vertices at t = 0 and t = 1, in the world, which may lie on a CUDA device; or (4,4) poses on column vectors.

    Raises:
        InvalidInput: the numbers of vertices differ, or a pose is not rigid.

    Examples:
        >>> import numpy as np
        >>> import abut
        >>> ball = abut.scenes.icosphere(1)
        >>> quarter = np.array([[0.0, -1, 0, 3], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
        >>> turning = abut.Motion(ball, np.eye(4), quarter)
        >>> turning
        Motion(42 vertices, 80 faces, rigid, turning)
        >>> round(float(turning.at(0.5)[:, 0].mean()), 6)
        1.5
    """

    mesh: Mesh
    vertices_t0: Floats
    vertices_t1: Floats
    rotates: bool
    """Whether any vertex leaves its straight line."""
    is_rigid: bool
    body: Integers
    """(n,) which of the joined motions each vertex belongs to; see `join`"""
    _paths: Paths | None
    _rigid_bodies: tuple[bool, ...]

    def __init__(self, mesh: BodyLike, start: PointsLike | PoseLike, end: PointsLike | PoseLike) -> None:
        own = as_mesh(mesh_of(mesh))
        if _is_pose(start) or _is_pose(end):
            self._move(own, start, end)
        else:
            self._deform(own, start, end)

    def _deform(self, mesh: Mesh, start: PointsLike, end: PointsLike) -> None:
        ends: list[Floats] = []
        for value, name in ((start, "v_t0"), (end, "v_t1")):
            if devices.is_on_device(value):
                ends.append(devices.part("arrays").points(value, name, len(mesh.vertices)).copy())
                continue
            vertices = arrays.points(value, name, keep=True)
            if len(vertices) != len(mesh.vertices):
                raise InvalidInput(name, f"has {len(vertices)} rows for a mesh of {len(mesh.vertices)} vertices")
            ends.append(vertices)
        self._set(mesh, ends[0], ends[1], None, (False,), np.zeros(len(ends[0]), dtype=np.int64))

    def _move(self, mesh: Mesh, start: PoseLike, end: PoseLike) -> None:
        first = own_pose(start, "pose_t0")[0]
        last = own_pose(end, "pose_t1")[0]
        turned = mesh.vertices @ first[:3, :3].T
        vertices_t0 = turned + first[:3, 3]
        labels = np.zeros(len(turned), dtype=np.int64)
        if np.array_equal(first[:3, :3], last[:3, :3]):
            self._set(mesh, vertices_t0, turned + last[:3, 3], None, (True,), labels)
            return
        from scipy.spatial.transform import Rotation  # only here: it takes a while to import

        turn = Rotation.from_matrix(last[:3, :3] @ first[:3, :3].T).as_rotvec()
        angle = float(np.linalg.norm(turn))
        axis = turn / angle if angle > 0.0 else np.array([0.0, 0.0, 1.0])
        along = np.outer(turned @ axis, axis)
        cosine, sine = turned - along, np.cross(axis, turned)
        velocity = np.broadcast_to(last[:3, 3] - first[:3, 3], turned.shape)
        paths = Paths(
            frozen(along + first[:3, 3]),
            frozen(velocity.copy()),
            frozen(cosine),
            frozen(sine),
            frozen(np.full(len(turned), angle)),
            frozen(angle * angle / 8.0 * np.linalg.norm(cosine, axis=1)),
        )
        self._set(mesh, vertices_t0, places(paths, 1.0), paths, (True,), labels)

    def _set(
        self,
        mesh: Mesh,
        vertices_t0: Floats,
        vertices_t1: Floats,
        paths: Paths | None,
        rigid_bodies: tuple[bool, ...],
        body: Integers,
    ) -> None:
        self.__dict__.update(
            mesh=mesh,
            vertices_t0=_own(vertices_t0),
            vertices_t1=_own(vertices_t1),
            rotates=paths is not None,
            is_rigid=all(rigid_bodies),
            body=frozen(body),
            _paths=paths,
            _rigid_bodies=rigid_bodies,
        )

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Motion does not change: cannot set {name!r}")

    def __repr__(self) -> str:
        facts = [count(len(self.vertices_t0), "vertex", "vertices"), count(len(self.mesh.faces), "face")]
        if len(self._rigid_bodies) > 1:
            facts.append(count(len(self._rigid_bodies), "body", "bodies"))
        facts.append("rigid" if self.is_rigid else "deforming")
        return describe(self, *facts, *(["turning"] if self.rotates else []))

    def _repr_html_(self) -> str:
        ends = [v for v in (self.vertices_t0, self.vertices_t1) if len(v)]
        corners = [[tuple(bound(v, axis=0).tolist()) for v in ends] for bound in (np.min, np.max)]
        return table_html(repr(self), ("time", "lower corner", "upper corner"), ([0, 1], *corners), len(ends))

    @property
    def paths(self) -> Paths:
        """The paths of all vertices; straight ones where nothing rotates."""
        if self._paths is not None:
            return self._paths
        none, zeros = frozen(np.zeros_like(self.vertices_t0)), frozen(np.zeros(len(self.vertices_t0)))
        return Paths(self.vertices_t0, frozen(self.vertices_t1 - self.vertices_t0), none, none, zeros, zeros)

    def at(self, time: float) -> Floats:
        """Where the vertices are at a time of the step.

        Args:
            time: from 0 to 1.

        Returns:
            (n,3) vertices, in the world.
        """
        t = arrays.scalar(time, "time", least=0.0, most=1.0)
        if self._paths is not None and 0.0 < t < 1.0:
            return frozen(places(self._paths, t))
        return frozen((1.0 - t) * self.vertices_t0 + t * self.vertices_t1)


def _own(vertices: Any) -> Any:
    """The vertices, read-only where that can be said: not on a CUDA device."""
    return frozen(vertices) if isinstance(vertices, np.ndarray) else vertices


def mesh_of(value: Any) -> Any:
    """The mesh of a body; else the value itself, which may be something that raises on access to it."""
    try:
        return getattr(value, "mesh", value)
    except Exception:
        return value


def _is_pose(value: Any) -> bool:
    """Whether the value has the shape of a pose; what has no shape at all is refused later, by name."""
    return arrays.shape_of(value) == (4, 4)


def join(*motions: Motion) -> Motion:
    """One motion of several bodies, so that `sweep` finds the contacts between and within them all.

    Vertices and faces are numbered on from body to body, and edges as in the joined mesh; `body` tells the body of each vertex. A rigid body
    is not tested against itself.

    Args:
        *motions: one or more, over the same step.

    Returns:
        A motion whose mesh holds all of theirs.

    Examples:
        >>> import abut
        >>> ball = abut.scenes.icosphere(1)
        >>> steps = [abut.Motion(ball, ball.vertices + [x, 0, 0], ball.vertices) for x in (-3, 3)]
        >>> both = abut.ccd.join(*steps)
        >>> both
        Motion(84 vertices, 160 faces, 2 bodies, deforming)
        >>> both.body[[0, 42]].tolist(), round(abut.time_of_impact(both), 6)
        ([0, 1], 0.666667)
    """
    if not motions:
        raise InvalidInput("motions", "is empty: there is nothing to join")
    arrays.items(motions, "motions", Motion)
    if any(devices.is_on_device(end) for motion in motions for end in (motion.vertices_t0, motion.vertices_t1)):
        raise Unsupported("joined motions, on a CUDA device")
    offsets = np.cumsum([0] + [len(m.vertices_t0) for m in motions])
    mesh = Mesh(
        np.concatenate([m.mesh.vertices for m in motions]),
        np.concatenate([m.mesh.faces + offset for m, offset in zip(motions, offsets[:-1], strict=True)]),
    )
    rigid: list[bool] = []
    labels: list[Integers] = []
    for motion in motions:
        labels.append(motion.body + len(rigid))
        rigid += motion._rigid_bodies
    paths = None
    if any(m.rotates for m in motions):
        paths = Paths(*(frozen(np.concatenate(rows)) for rows in zip(*(m.paths for m in motions), strict=True)))
    joined = Motion.__new__(Motion)
    joined._set(
        mesh,
        np.concatenate([m.vertices_t0 for m in motions]),
        np.concatenate([m.vertices_t1 for m in motions]),
        paths,
        tuple(rigid),
        np.concatenate(labels),
    )
    return joined
