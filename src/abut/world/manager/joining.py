"""Joints of a world: taken in, changed, taken out, and how they stand."""

import numpy as np
from numpy.typing import NDArray

from abut.core import arrays
from abut.core.arrays import Integers, frozen
from abut.core.types import IndicesLike
from abut.world.joints.attaching import attach, default_coordinate, read_states
from abut.world.joints.coordinates import NAMES
from abut.world.joints.definition import Freedom, Joint
from abut.world.joints.results import JointStates
from abut.world.joints.table import WORLD
from abut.world.manager.core import Core
from abut.world.soft.joint_points import find_points, find_shares


class Joining(Core):
    """What holds bodies together."""

    def join(self, joint: Joint) -> int:
        """Let two bodies hang together; the handle of the joint.

        They do not collide with each other from now on, unless the joint says so. Handles of the bodies of a linkage (`World.link`) stand for its
        bones, which are held at the nearest point, or for its particles; that of a soft body stands for the particle that is nearest to the point.

        Args:
            joint: of `abut.joints`, with points and axes where they are now.
        """
        arrays.instance(joint, "joint", Joint)
        sides = [(joint.a, joint.point_a, "a"), (joint.b, joint.point_b, "b")]
        slots = np.array([WORLD if h is None else int(self._store.read(h, n)[0]) for h, _, n in sides], np.int64)
        shares = find_shares(self._links, self._softs, slots, [at for _, at, _ in sides])
        handle = attach(self._joints, self._store, joint, slots, shares)
        self._motor.sleepers.wake(self._store, slots[slots != WORLD])
        self._joints_changed()
        return handle

    def remove_joint(self, handles: IndicesLike) -> None:
        """Take joints out; what they held wakes up. `remove` does so with the joints of a body.

        Args:
            handles: (k,) or one, of joints.
        """
        gone = np.zeros(len(self._joints), np.bool_)
        gone[self._joints.read(handles)] = True
        self._forget_joints(gone)

    def set_joint(self, handle: int, freedom: Freedom, coordinate: str | None = None) -> None:
        """Give one coordinate of a joint other limits, another motor, spring or friction; both bodies wake up.

        Args:
            handle: of the joint.
            freedom: what the coordinate may do from now on.
            coordinate: x, y, z, twist, swing_y, swing_z, cone or distance; by default the one that a hinge (twist), a slider (x), a distance or a
                spring (distance) is about.
        """
        row = int(self._joints.read(arrays.count(handle, "handle", most=2**62), "handle")[0])
        arrays.instance(freedom, "freedom", Freedom)
        name = default_coordinate(self._joints.specs[row]) if coordinate is None else coordinate
        self._joints.set_freedom(row, arrays.choice(name, "coordinate", NAMES), freedom)
        slots = self._joints.slots[row]
        self._motor.sleepers.wake(self._store, slots[slots != WORLD])

    @property
    def joints(self) -> Integers:
        """(n,) handles of all joints, in the order in which they came."""
        return frozen(self._joints.handles.copy())

    @property
    def broken_joints(self) -> Integers:
        """(k,) handles of the joints that broke in the last step."""
        return self._joints.broke

    def joint_states(self, handles: IndicesLike | None = None) -> JointStates:
        """How joints stand, and what they bore in the last step.

        Args:
            handles: (k,) or one; by default all, in the order of `World.joints`.
        """
        table = self._joints
        which = np.arange(len(table)) if handles is None else table.read(handles)
        shares = np.stack([table.joints[name][which] for name in ("share_a", "share_b")], axis=1)
        points = find_points(self._links, self._softs, table.slots[which], shares)
        return read_states(table, self._store, which, points)

    def _forget_joints(self, gone: NDArray[np.bool_]) -> None:
        if not gone.any():
            return
        slots = np.unique(self._joints.slots[gone])
        self._joints.keep(~gone)
        self._motor.sleepers.wake(self._store, slots[slots != WORLD])
        self._joints_changed()

    def _joints_changed(self) -> None:
        self._colliders.apart = self._joints.apart
        self._changed()
