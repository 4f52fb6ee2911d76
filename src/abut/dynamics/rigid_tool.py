"""A rigid body that meets the walls of a partition: what `couple` drives `cells.Instrument` with.

Free motion is that of `rigid_bodies`. A contact is an impulse at the point where it is, on the body as a whole (`tool_impulses`). Walls that have a
model of their own take it with the opposite sign, at their corners.
"""

import numpy as np
from numpy.typing import ArrayLike

from abut.core import arrays
from abut.core.arrays import Floats
from abut.core.errors import InvalidInput
from abut.core.showing import count, describe
from abut.core.types import Number, PointsLike, PoseLike, VectorLike
from abut.dynamics.rigid_bodies import RigidState, advance, rigid_state
from abut.dynamics.tool_impulses import Tool, WallPoints, answer_contacts


class RigidTool:
    """A rigid body in free motion, with gravity and what pushes it, for `couple` and `cells.Instrument`.

    Args:
        points: (n,3) its vertices, in the order of the instrument's.
        mass: of the whole.
        inertia: (3,3) about the center of mass, along the world's axes; by default that of the mass spread over the vertices, as small balls.
        width: the radius of those balls: without it a rod has no inertia about itself.
        velocity: (3,) of the center of mass.
        angular_velocity: (3,) radians in a unit of time.
        gravity: (3,) acceleration.

    Examples:
        >>> from abut import cells, dynamics
        >>> hall = cells.channel(4, 4, 4)
        >>> needle = cells.Instrument(hall, ([[1, 2, 2], [3, 2, 2]], [[0, 1]]), radius=0.125)
        >>> model = dynamics.RigidTool(needle.position, width=0.125, gravity=(0, 0, -10))
        >>> for _ in range(100):
        ...     moves = dynamics.couple(model, needle, 0.02, after="slide")
        >>> (needle.position[:, 2].round(2) + 0).tolist()  # on the floor
        [0.13, 0.13]
    """

    def __init__(
        self,
        points: PointsLike,
        mass: Number = 1.0,
        inertia: ArrayLike | None = None,
        *,
        width: Number = 0.0,
        velocity: VectorLike = (0.0, 0.0, 0.0),
        angular_velocity: VectorLike = (0.0, 0.0, 0.0),
        gravity: VectorLike = (0.0, 0.0, 0.0),
    ) -> None:
        places = arrays.points(points, "points", dimensions=3)
        if not len(places):
            raise InvalidInput("points", "is empty: a body has vertices")
        self.mass = arrays.positive(mass, "mass")
        thick = arrays.scalar(width, "width", least=0.0)
        self.gravity = np.array(arrays.coordinates(gravity, "gravity", (3,)))
        self.force = np.zeros(3)
        """(3,) at the center of mass"""
        self.torque = np.zeros(3)
        """(3,) about it"""
        center = places.mean(axis=0)
        self._rest, self._first_center = places - center, center
        if inertia is None:
            second = self._rest.T @ self._rest / len(places) + thick**2 / 5.0 * np.eye(3)
            self.inertia = self.mass * (np.trace(second) * np.eye(3) - second)
        else:
            self.inertia = np.array(arrays.coordinates(inertia, "inertia", (3, 3)))
        if not np.linalg.eigvalsh(self.inertia)[0] > 0.0:
            raise InvalidInput("inertia", "is singular: give a `width`, or an inertia")
        pose = np.eye(4)[np.newaxis].copy()
        pose[0, :3, 3] = center
        speeds = [
            np.array(arrays.coordinates(v, name, (3,)))[np.newaxis]
            for v, name in ((velocity, "velocity"), (angular_velocity, "angular_velocity"))
        ]
        self.state = rigid_state(pose, *speeds)
        """where the body is and how it moves, one row"""
        self._ahead = self.state
        self.impulse = np.zeros((0, 3))
        """(k,3) of the contacts in the last step, on the body"""

    def __len__(self) -> int:
        return len(self._rest)

    def __repr__(self) -> str:
        return describe(self, count(len(self), "vertex", "vertices"), f"mass {self.mass:.6g}")

    @property
    def position(self) -> Floats:
        """(n,3) its vertices."""
        return arrays.frozen(self._place(self.state))

    def energy(self) -> float:
        """Kinetic energy."""
        return float(self.state.energy([self.mass], self.inertia[np.newaxis])[0])

    def _place(self, state: RigidState) -> Floats:
        pose = state.poses()[0]
        return pose[:3, 3] + self._rest @ pose[:3, :3].T

    def propose(self, dt: Number) -> Floats:
        """(n,3) where the vertices would go within a time dt.

        Args:
            dt: the length of the step.
        """
        step = arrays.positive(dt, "dt")
        velocity = self.state.velocity + step * (self.gravity + self.force / self.mass)
        spin = self.state.angular_velocity + step * np.linalg.solve(self._inertia_now(), self.torque)
        pushed = RigidState(self.state.position, self.state.quaternion, velocity, spin)
        self._ahead = advance(pushed, self.inertia[np.newaxis], step)
        return self._place(self._ahead)

    def _inertia_now(self) -> Floats:
        turn = self.state.poses()[0, :3, :3]
        return turn @ self.inertia @ turn.T

    def follow_pose(self, pose: PoseLike) -> None:
        """Be where walls have pushed the body to: how it moves stays as it is until the contacts of the step are told (`accept_pose`).

        Args:
            pose: (4,4) the motion from where the body was made to where it is.
        """
        placed = self._read_pose(pose)
        self.state = rigid_state(placed[np.newaxis], self.state.velocity.copy(), self.state.angular_velocity.copy())
        self._ahead = self.state

    def _read_pose(self, pose: PoseLike) -> Floats:
        placed = np.array(arrays.rigid_poses(np.asarray(arrays.pose(pose, "pose"))[np.newaxis], "pose")[0])
        placed[:3, 3] += placed[:3, :3] @ self._first_center
        return placed

    def accept_pose(
        self,
        pose: PoseLike,
        points: PointsLike,
        normals: PointsLike,
        *,
        restitution: Number = 0.0,
        friction: Number = 0.0,
        walls: WallPoints | None = None,
    ) -> None:
        """Take note of where the body came, and of the contacts that it has: their impulses change how it moves.

        Args:
            pose: (4,4) the motion from where the body was made to where it is.
            points: (k,3) of the contacts.
            normals: (k,3) unit vectors, from the body to the walls.
            restitution: from 0 to 1, the part of its speed with which a point bounces.
            friction: Coulomb's coefficient.
            walls: which points of which model the contacts are with, where the walls move: it takes the opposite impulses. By default walls rest.
        """
        placed = self._read_pose(pose)
        where = arrays.points(points, "points", dimensions=3)
        against = arrays.coordinates(normals, "normals", (len(where), 3))
        bounce = arrays.scalar(restitution, "restitution", least=0.0, most=1.0)
        rough = arrays.scalar(friction, "friction", least=0.0)
        ahead = self._ahead
        # It has come to another place than it was to: in its own frame it turns as it would there, so that the energy is the same.
        velocity = ahead.velocity[0].copy()
        spin = placed[:3, :3] @ ahead.poses()[0, :3, :3].T @ ahead.angular_velocity[0]
        self.state = rigid_state(placed[np.newaxis], velocity[np.newaxis], spin[np.newaxis])
        tool = Tool(self.mass, self._inertia_now(), placed[:3, 3], velocity, spin)
        self.impulse, tool = answer_contacts(tool, where, against, bounce, rough, walls)
        self.state = rigid_state(placed[np.newaxis], tool.velocity[np.newaxis], tool.spin[np.newaxis])
        self._ahead = self.state
