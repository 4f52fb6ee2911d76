"""One step of a body from t = 0 to t = 1, and where each of its vertices is in between.

A deforming step moves every vertex on a straight line at constant velocity. A rigid step moves the origin of the body's frame on a straight line
and turns the body at constant speed about one axis, by the smaller angle between its two poses (at most π). Both are one formula, with p split
into a part along the axis and the rest:

    x(t) = base + t·velocity + cos(t·angle)·cosine + sin(t·angle)·sine

where cosine and sine are zero for a step without rotation. Its second derivative is at most angle²·|cosine|, so between s and s + h a
vertex is never farther than h²·angle²·|cosine| / 8 from the straight line between its two ends; nor is a point of an edge or face between vertices.
"""

from typing import Any, NamedTuple

import numpy as np

from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.mesh import Mesh, as_mesh


class Paths(NamedTuple):
    """The paths of n vertices, one row each."""

    base: Floats
    velocity: Floats
    cosine: Floats
    sine: Floats
    angle: Floats
    """(n,) the angle turned in the whole step"""
    bend: Floats
    """(n,) angle²·|cosine| / 8: times h², the largest distance from the straight line over a span h"""


class Motion:
    """One step of a body: `Motion(mesh, v_t0, v_t1)` deforms, `Motion(body, pose_t0, pose_t1)` moves rigidly.

    `mesh` may be anything `as_mesh` accepts, or a `Rigid` or `Deformable` body. Poses are (4,4), on column vectors. Immutable.
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

    def __init__(self, mesh: object, start: object, end: object) -> None:
        own = as_mesh(_mesh_of(mesh))
        if _is_pose(start) or _is_pose(end):
            self._move(own, start, end)
        else:
            self._deform(own, start, end)

    def _deform(self, mesh: Mesh, start: object, end: object) -> None:
        ends: list[Floats] = []
        for value, name in ((start, "v_t0"), (end, "v_t1")):
            vertices = arrays.points(value, name, keep=True)
            if len(vertices) != len(mesh.vertices):
                raise InvalidInput(name, f"has {len(vertices)} rows for a mesh of {len(mesh.vertices)} vertices")
            ends.append(vertices)
        self._set(mesh, ends[0], ends[1], None, (False,), np.zeros(len(ends[0]), dtype=np.int64))

    def _move(self, mesh: Mesh, start: object, end: object) -> None:
        first = arrays.rigid_poses(arrays.pose(start, "pose_t0")[np.newaxis], "pose_t0")[0]
        last = arrays.rigid_poses(arrays.pose(end, "pose_t1")[np.newaxis], "pose_t1")[0]
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
        self._set(mesh, vertices_t0, _place(paths, 1.0), paths, (True,), labels)

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
            vertices_t0=frozen(vertices_t0),
            vertices_t1=frozen(vertices_t1),
            rotates=paths is not None,
            is_rigid=all(rigid_bodies),
            body=frozen(body),
            _paths=paths,
            _rigid_bodies=rigid_bodies,
        )

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Motion does not change: cannot set {name!r}")

    def __repr__(self) -> str:
        return f"Motion({self.mesh!r}, {'rigid' if self.is_rigid else 'deforming'})"

    @property
    def paths(self) -> Paths:
        """The paths of all vertices; straight ones where nothing rotates."""
        if self._paths is not None:
            return self._paths
        none, zeros = frozen(np.zeros_like(self.vertices_t0)), frozen(np.zeros(len(self.vertices_t0)))
        return Paths(self.vertices_t0, frozen(self.vertices_t1 - self.vertices_t0), none, none, zeros, zeros)

    def at(self, time: float) -> Floats:
        """(n,3) the vertices at a time from 0 to 1."""
        t = arrays.scalar(time, "time", least=0.0, most=1.0)
        if self._paths is not None and 0.0 < t < 1.0:
            return frozen(_place(self._paths, t))
        return frozen((1.0 - t) * self.vertices_t0 + t * self.vertices_t1)


def _mesh_of(value: object) -> object:
    """The mesh of a body; else the value itself, which may be something that raises when it is asked for one."""
    try:
        return getattr(value, "mesh", value)
    except Exception:
        return value


def _is_pose(value: Any) -> bool:
    """Whether the value has the shape of a pose; what has no shape at all is refused later, by name."""
    return arrays.shape_of(value) == (4, 4)


def _place(paths: Paths, time: float) -> Floats:
    phase = time * paths.angle
    return (
        paths.base
        + time * paths.velocity
        + np.cos(phase)[:, np.newaxis] * paths.cosine
        + np.sin(phase)[:, np.newaxis] * paths.sine
    )


def join(*motions: Motion) -> Motion:
    """One motion of several bodies, so that `sweep` finds the contacts between and within them all.

    Vertices and faces are numbered on from body to body, and edges as in the joined mesh; `body` tells the body of each vertex. A rigid body
    is not tested against itself.
    """
    if not motions:
        raise InvalidInput("motions", "is empty: there is nothing to join")
    arrays.items(motions, "motions", Motion)
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


class Surface(NamedTuple):
    """A motion without the vertices that no face has, which are no part of the surface, and the numbers of those that are left (None: all)."""

    motion: Motion
    vertices: Integers | None

    def number(self, column: Any) -> None:
        """Replace vertices of the motion by those of the mesh that was asked about, in place."""
        if self.vertices is not None:
            column[:] = self.vertices[column]


def surface_of(motion: Motion) -> Surface:
    """The part of a motion that can meet anything."""
    found = motion.mesh._without_loose_vertices
    if found is None:
        return Surface(motion, None)
    kept, mesh = found
    paths = None if motion._paths is None else Paths(*(frozen(rows[kept]) for rows in motion._paths))
    own = Motion.__new__(Motion)
    own._set(mesh, motion.vertices_t0[kept], motion.vertices_t1[kept], paths, motion._rigid_bodies, motion.body[kept])
    return Surface(own, kept)


def read_surfaces(a: object, others: tuple[object, ...]) -> tuple[Surface, Surface | None]:
    """The surfaces of one or two motions, read as by `read_motions`."""
    one, two = read_motions(a, others)
    return surface_of(one), None if two is None else surface_of(two)


def read_motions(a: object, others: tuple[object, ...]) -> tuple[Motion, Motion | None]:
    """One or two motions from the arguments of a question: (motion), (motion, motion) or (mesh, v_t0, v_t1)."""
    if isinstance(a, Motion):
        if not others:
            return a, None
        if len(others) == 1 and isinstance(others[0], Motion):
            return a, others[0]
        raise InvalidInput("others", "beside a Motion there may be one other Motion; `ccd.join` takes more")
    if len(others) != 2:
        raise InvalidInput("others", f"a mesh needs its vertices at both ends, not {len(others)} more arguments")
    return Motion(a, others[0], others[1]), None
