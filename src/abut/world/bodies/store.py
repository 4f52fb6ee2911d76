"""The bodies of a world in arrays, one slot each, under handles that are never given twice.

A handle is generation · 2³² + slot. Slots are used again, the lowest first, with the next generation; so a handle of a removed body is known as such.
"""

import heapq

import numpy as np
from numpy.typing import NDArray

from abut.core import arrays
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput
from abut.world.bodies.state import AT_REST, POSITION, SPIN, TURN, VELOCITY

DYNAMIC, KINEMATIC, STATIC, SENSOR = range(4)
KINDS = {"dynamic": DYNAMIC, "kinematic": KINEMATIC, "static": STATIC, "sensor": SENSOR}
ALL_LAYERS = 2**62 - 1


class Store:
    """See above. Every array has one row per slot; rows of free slots hold a body at rest that nothing can move."""

    def __init__(self) -> None:
        self.state = np.empty((0, 13))
        """See `STATE`."""
        self.inverse = np.empty((0, 10))
        """1/mass, and the inverse inertia in the body's frame"""
        self.inertia = np.empty((0, 3, 3))
        self.center = np.empty((0, 3))
        self.pull = np.empty(0)
        """The part of the world's gravity that pulls it."""
        self.damping = np.empty((0, 2))
        """Rates at which the momentum and the angular momentum fade."""
        self.locked = np.empty((0, 6), np.bool_)
        """Axes x, y, z along which it does not move, and about which it does not turn."""
        self.force = np.empty((0, 3))
        """Of the next step."""
        self.torque = np.empty((0, 3))
        self.friction = np.empty(0)
        self.restitution = np.empty(0)
        self.rolling = np.empty(0)
        self.rules = np.empty((0, 2), np.int64)
        """How friction and restitution are combined (`materials`)."""
        self.surface_velocity = np.empty((0, 3))
        """In the body's frame."""
        self.one_way = np.empty((0, 3))
        """The direction of the side that holds, in the body's frame; 0: all sides do."""
        self.radius = np.empty(0)
        self.ripple = np.empty(0)
        """How much faster than a soft body one of its particles is."""
        self.rest_time = np.empty(0)
        self.motion_t0 = np.empty((0, 6))
        """How a slow body moved when it became slow, and half of the time later that it takes to fall asleep."""
        self.motion_t1 = np.empty((0, 6))
        self.layer = np.empty(0, np.int64)
        self.solid_layer = np.empty(0, np.int64)
        """The same, none for sensors: what is not a sensor does not see them."""
        self.mask = np.empty(0, np.int64)
        self.kind = np.empty(0, np.int64)
        self.group = np.empty(0, np.int64)
        """Bodies of one group, other than 0, do not meet each other."""
        self.generation = np.empty(0, np.int64)
        self.alive = np.empty(0, np.bool_)
        self.asleep = np.empty(0, np.bool_)
        self.continuous = np.empty(0, np.bool_)
        self.stirred = np.empty(0, np.bool_)
        """Added, moved or deformed since the last step: it wakes what it touches."""
        self.version = np.empty(0, np.int64)
        """Of a deformable body, as the last step saw it."""
        self._free: list[int] = []
        self.moves = 0
        """how often bodies were put somewhere"""

    def __len__(self) -> int:
        return int(self.alive.sum())

    def take(self, count: int) -> Integers:
        """Slots for so many new bodies."""
        missing = count - len(self._free)
        if missing > 0:
            size = len(self.alive)
            more = max(missing, size, 16)
            for name, value in list(vars(self).items()):
                if isinstance(value, np.ndarray):
                    extra = np.zeros((more, *value.shape[1:]), value.dtype)
                    setattr(self, name, np.concatenate((value, extra)))
            self.state[size:] = AT_REST
            self.kind[size:] = STATIC
            for slot in range(size, size + more):
                heapq.heappush(self._free, slot)
        slots = np.array([heapq.heappop(self._free) for _ in range(count)], np.int64)
        self.alive[slots] = True
        self.asleep[slots], self.rest_time[slots], self.group[slots] = False, 0.0, 0
        self.force[slots], self.torque[slots], self.ripple[slots] = 0.0, 0.0, 0.0
        return slots

    def free(self, slots: Integers) -> None:
        """Give slots back."""
        self.alive[slots] = False
        self.generation[slots] += 1
        self.state[slots] = AT_REST
        self.inverse[slots], self.inertia[slots], self.kind[slots] = 0.0, 0.0, STATIC
        self.force[slots], self.torque[slots], self.damping[slots], self.locked[slots] = 0.0, 0.0, 0.0, False
        self.surface_velocity[slots], self.one_way[slots] = 0.0, 0.0
        for slot in slots.tolist():
            heapq.heappush(self._free, slot)

    def follow_versions(self, found: list[tuple[Integers, int, int]]) -> None:
        """Deformable bodies in slots (k,) that the last step saw in their first version: they have the second now, and have not changed."""
        for slots, before, now in found:
            self.version[slots] = np.where(self.version[slots] == before, now, -1)

    def handles(self, slots: Integers) -> Integers:
        """The handles of slots."""
        return (self.generation[slots] << 32) | slots

    def read(self, handles: object, name: str = "handles") -> Integers:
        """The slots of handles, one or many; those of no body are refused, and so are repeated ones."""
        raw = arrays.selection(handles, name, 2**62)
        slots = raw & 0xFFFFFFFF
        known = slots < len(self.alive)
        known[known] = self.alive[slots[known]] & (self.generation[slots[known]] == raw[known] >> 32)
        if not known.all():
            row = int(np.argmin(known))
            raise InvalidInput(name, f"{raw[row]} is no body of this world, or was removed", row)
        if len(np.unique(slots)) < len(slots):
            raise InvalidInput(name, "names a body twice")
        return slots

    # --- columns, to read and to write

    @property
    def position(self) -> Floats:
        """(n,3) centers of mass."""
        return self.state[:, POSITION:TURN]

    @property
    def quaternion(self) -> Floats:
        """(n,4) w, x, y, z."""
        return self.state[:, TURN:VELOCITY]

    @property
    def velocity(self) -> Floats:
        """(n,3) of the centers of mass."""
        return self.state[:, VELOCITY:SPIN]

    @property
    def angular_velocity(self) -> Floats:
        """(n,3) in the world."""
        return self.state[:, SPIN:]

    @property
    def placement(self) -> Floats:
        """(n,7) position and quaternion."""
        return self.state[:, :VELOCITY]

    @property
    def motion(self) -> Floats:
        """(n,6) velocity and angular velocity."""
        return self.state[:, VELOCITY:]

    @property
    def inverse_mass(self) -> Floats:
        """(n,) 0 for what nothing moves."""
        return self.inverse[:, 0]

    @property
    def inverse_inertia(self) -> Floats:
        """(n,9) in the body's frame."""
        return self.inverse[:, 1:]

    # --- poses

    def set_poses(self, slots: Integers, poses: Floats) -> None:
        """Put bodies at poses (k,4,4) of their frames."""
        from abut.dynamics import rigid_state

        turned = (poses[:, :3, :3] @ self.center[slots][:, :, np.newaxis])[:, :, 0]
        self.position[slots] = poses[:, :3, 3] + turned
        self.quaternion[slots] = rigid_state(poses).quaternion
        self.moves += 1

    def poses(self, slots: Integers) -> Floats:
        """(k,4,4) poses of the bodies' frames."""
        rotation = rotations_of(self.quaternion[slots])
        result = np.zeros((len(slots), 4, 4))
        result[:, :3, :3] = rotation
        turned = (rotation @ self.center[slots][:, :, np.newaxis])[:, :, 0]
        result[:, :3, 3] = self.position[slots] - turned
        result[:, 3, 3] = 1.0
        return result

    def speeds(self) -> Floats:
        """(n,) the most speed of a point of each body: velocity, spin times the body's radius, and ripple."""
        linear = np.linalg.norm(self.velocity, axis=1)
        return linear + self.radius * np.linalg.norm(self.angular_velocity, axis=1) + self.ripple

    @property
    def movable(self) -> NDArray[np.bool_]:
        """(n,) alive and moved by the solver."""
        return self.alive & (self.kind == DYNAMIC)

    def find_driven(self) -> NDArray[np.bool_]:
        """(n,) bodies that the user moves."""
        return self.alive & (self.kind == KINEMATIC) & (self.motion != 0.0).any(axis=1)

    def find_gliding(self) -> NDArray[np.bool_]:
        """(n,) the same, and sensors that move."""
        return self.find_driven() | (self.alive & (self.kind == SENSOR) & (self.motion != 0.0).any(axis=1))


def rotations_of(quaternions: Floats) -> Floats:
    """(k,3,3) of unit quaternions (k,4)."""
    w, x, y, z = quaternions.T
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return np.array(rows).transpose(2, 0, 1)
