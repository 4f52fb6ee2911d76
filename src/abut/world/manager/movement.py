"""Where bodies are, how they move, and what pushes them."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import Unsupported
from abut.core.types import IndicesLike, PosesLike
from abut.shapes.solids import Shape
from abut.shapes.surfaces import Soft
from abut.world.bodies.forces import add_impulse, moment_of, refuse_unmoved
from abut.world.bodies.materials import Material, put_material
from abut.world.bodies.state import SPIN, VELOCITY
from abut.world.bodies.store import STATIC
from abut.world.definition import LEAST_SCALE, check_locks, check_scale
from abut.world.manager.core import Core


class Movement(Core):
    """Places and speeds of bodies, read and set, and forces."""

    def poses(self, handles: IndicesLike | None = None) -> Floats:
        """(k,4,4) poses of bodies.

        Args:
            handles: (k,) or one; by default all, in the order of `World.handles`.
        """
        return frozen(self._store.poses(self._slots(handles)))

    def velocities(self, handles: IndicesLike | None = None) -> Floats:
        """(k,3) velocities of the centers of mass.

        Args:
            handles: (k,) or one; by default all, in the order of `World.handles`.
        """
        return frozen(self._store.state[self._slots(handles), VELOCITY:SPIN])

    def angular_velocities(self, handles: IndicesLike | None = None) -> Floats:
        """(k,3) angular velocities in the world, radians in a unit of time.

        Args:
            handles: (k,) or one; by default all, in the order of `World.handles`.
        """
        return frozen(self._store.state[self._slots(handles), SPIN:])

    def asleep(self, handles: IndicesLike | None = None) -> NDArray[np.bool_]:
        """(k,) which bodies sleep.

        Args:
            handles: (k,) or one; by default all, in the order of `World.handles`.
        """
        return frozen(self._store.asleep[self._slots(handles)])

    def shape_of(self, handle: int) -> list[tuple[Shape, Floats]]:
        """The shapes of a body, each with its pose (4,4) in the body's frame.

        Args:
            handle: of the body.
        """
        slot = int(self._store.read(arrays.count(handle, "handle", most=2**62))[0])
        ids = np.flatnonzero(self._colliders.body == slot)
        ids = ids[np.argsort(self._colliders.part[ids])]
        result = []
        for i in ids:
            pose = np.eye(4)
            pose[:3, :3] = self._colliders.local[i, :9].reshape(3, 3)
            pose[:3, 3] = self._colliders.local[i, 9:] + self._store.center[slot]
            result.append((self._colliders.shapes[self._colliders.shape[i]], frozen(pose)))
        return result

    def move(
        self,
        handles: IndicesLike,
        poses: PosesLike | None = None,
        *,
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
    ) -> None:
        """Put bodies elsewhere, and give them other velocities; what is None stays. They wake up.

        Args:
            handles: (k,) or one.
            poses: (k,4,4), or (4,4) for all.
            velocity, angular_velocity: (k,3), or (3,) for all.
        """
        slots = self._store.read(handles)
        self._links.refuse(slots)
        self._softs.refuse(slots)
        at = None if poses is None else arrays.rigid_poses(arrays.stacked(poses, "poses", (4, 4), len(slots)), "poses")
        if at is not None:
            check_scale(LEAST_SCALE, at, STATIC)
        given = (("velocity", velocity, VELOCITY), ("angular_velocity", angular_velocity, SPIN))
        speeds = [
            (first, arrays.stacked(value, name, (3,), len(slots))) for name, value, first in given if value is not None
        ]
        for first, value in speeds:
            rest = np.zeros_like(value)
            check_locks(self._store.locked[slots], *((value, rest) if first == VELOCITY else (rest, value)))
        if at is not None:
            if any(isinstance(self._colliders.shapes[i], Soft) for i in self._shapes_of(slots)):
                raise Unsupported("a pose for a deformable body: its vertices already say where it is")
            self._store.set_poses(slots, at)
        for first, value in speeds:
            self._store.state[slots, first : first + 3] = value
        self._store.stirred[slots] = True
        self._motor.wake_neighbors(self._store, slots)
        self._changed()

    def set_material(self, handles: IndicesLike, material: Material) -> None:
        """Give bodies another surface: start a belt, make a floor slippery. They and what touches them wake up.

        Args:
            handles: (k,) or one.
            material: what it is like from now on.
        """
        slots = self._store.read(handles)
        put_material(self._store, slots, arrays.instance(material, "material", Material), self.slop)
        self._store.stirred[slots] = True
        self._motor.wake_touching(self._store, slots)

    def apply_force(self, handles: IndicesLike, force: ArrayLike, point: ArrayLike | None = None) -> None:
        """Push dynamic bodies during the whole of the next step; after it the force is gone. Forces add up; sleepers wake.

        So a force F changes the momentum by F·dt in a step of any length dt, and a body in free flight follows its parabola. To push for longer,
        apply it before each step. A step that is refused keeps it.

        Args:
            handles: (k,) or one.
            force: (k,3), or (3,) for all, in the world.
            point: (k,3) or (3,) in the world, where it acts; by default at the center of mass. Elsewhere it turns the body too, with the arm that
                it has at the beginning of the step.
        """
        slots, (push, at) = self._read_push(handles, force, "force", point)
        moment = moment_of(self._store, slots, push, at)
        self._softs.refuse_turns(slots, moment)
        self._store.torque[slots] += moment
        self._store.force[slots] += push
        self._motor.rouse(self._store, slots)

    def apply_torque(self, handles: IndicesLike, torque: ArrayLike) -> None:
        """Turn dynamic bodies during the whole of the next step, as `apply_force` pushes them: the angular momentum changes by torque·dt.

        Args:
            handles: (k,) or one.
            torque: (k,3), or (3,) for all, in the world.
        """
        slots, (twist, _) = self._read_push(handles, torque, "torque", None)
        self._softs.refuse_turns(slots, twist)
        self._store.torque[slots] += twist
        self._motor.rouse(self._store, slots)

    def apply_impulse(self, handles: IndicesLike, impulse: ArrayLike, point: ArrayLike | None = None) -> None:
        """Change the momentum of dynamic bodies now, by exactly the impulse; sleepers wake.

        Args:
            handles: (k,) or one.
            impulse: (k,3), or (3,) for all, in the world.
            point: (k,3) or (3,) in the world, where it acts; by default at the center of mass. Elsewhere it changes the angular momentum too.
        """
        slots, (push, at) = self._read_push(handles, impulse, "impulse", point)
        moment = moment_of(self._store, slots, push, at)
        self._softs.refuse_turns(slots, moment)
        add_impulse(self._store, slots, push, moment)
        self._softs.push(self._store, slots, push)
        self._motor.rouse(self._store, slots)

    def _read_push(
        self, handles: IndicesLike, value: ArrayLike, name: str, point: ArrayLike | None
    ) -> tuple[Integers, tuple[Floats, Floats | None]]:
        """Bodies that a force may move, and the force with its point, checked."""
        slots = self._store.read(handles)
        self._links.refuse(slots)
        refuse_unmoved(self._store, slots)
        push = arrays.stacked(value, name, (3,), len(slots))
        return slots, (push, None if point is None else arrays.stacked(point, "point", (3,), len(slots)))

    def _shapes_of(self, slots: Integers) -> Integers:
        return np.unique(self._colliders.shape[np.isin(self._colliders.body, slots)])
