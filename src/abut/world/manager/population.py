"""Who is in a world: bodies come in, and go."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput, Unsupported
from abut.core.types import IndicesLike, Number, PoseLike, PosesLike, VectorLike
from abut.discrete.bodies import BODIES
from abut.shapes.surfaces import Soft
from abut.world.bodies.materials import Material, put_material
from abut.world.bodies.state import SPIN, VELOCITY
from abut.world.bodies.store import ALL_LAYERS, DYNAMIC, SENSOR
from abut.world.definition import (
    IDENTITY,
    STILL,
    Kind,
    Newcomers,
    ShapesLike,
    check_name,
    check_scale,
    invert_inertia,
    radius_of,
    read_options,
    read_parts,
    read_place,
)
from abut.world.manager.joining import Joining


class Population(Joining):
    """Bodies and their names."""

    def add(
        self,
        shape: ShapesLike,
        pose: PoseLike | None = None,
        *,
        kind: Kind = "dynamic",
        density: Number = 1.0,
        mass: Number | None = None,
        velocity: VectorLike = STILL,
        angular_velocity: VectorLike = STILL,
        friction: Number = 0.5,
        restitution: Number = 0.0,
        rolling: Number | None = None,
        layer: int = 1,
        mask: int = ALL_LAYERS,
        continuous: bool = False,
        linear_damping: Number = 0.0,
        angular_damping: Number = 0.0,
        gravity_scale: Number = 1.0,
        locked: str = "",
        position: VectorLike | None = None,
        rotation: PoseLike | None = None,
        name: str | None = None,
        material: Material | None = None,
    ) -> int:
        """Add a body; its handle.

        Two static bodies have no contacts, unless one is deformable: then `contacts` has rows for them, and `step` moves neither.

        Args:
            shape: a shape of `abut.shapes`, a mesh, a `Rigid` or `Deformable` body, or a list of shapes or (shape, pose) that make one body.
            pose: (4,4) where it is; by default that of a `Rigid` body, else the origin.
            kind: dynamic bodies are moved by `step`, kinematic ones by the user or at their velocity, static ones by nobody. A deformable body or
                a terrain is static unless it is made kinematic (`Deformable.update` moves it), or has a model (`shapes.Soft`). A sensor is moved as a
                kinematic body, but stops nothing and is not seen by others; `sensor_events` and `inside` say what is in it.
            density: mass by volume; of deformable bodies by area.
            mass: instead of the density.
            velocity: (3,) of the center of mass.
            angular_velocity: (3,) in the world, radians in a unit of time.
            friction: Coulomb's coefficient; of two bodies the geometric mean counts.
            restitution: from 0 to 1; of two bodies the larger counts.
            rolling: the lever, a length, at which the normal force holds what rolls or spins on the spot; of two bodies the geometric mean counts.
                By default the world's slop; 0: nothing is held.
            layer, mask: bits; two bodies meet if each one's layer is in the other's mask.
            continuous: whether it never passes through anything within a step, however fast.
            linear_damping, angular_damping: rates at which momentum and angular momentum fade: exp(−rate·t) of them is left after a time t,
                however it is cut in steps.
            gravity_scale: the part of the world's gravity that pulls it; below 0 it rises.
            locked: axes of the world along which it does not move, and about which it does not turn: "z", "xy", "rz" for turns about z, "rotation"
                for all turns, or several words: "z rxy" is motion in a plane.
            position: (3,) in place of a pose.
            rotation: in place of a pose: a unit quaternion (w, x, y, z), the real part first, or a matrix (3,3).
            name: by which `body` finds it; no two bodies have the same.
            material: in place of friction, restitution and rolling: also rules, belts and one-way surfaces.
        """
        at = read_place(shape.pose if isinstance(shape, BODIES) else None, pose, position, rotation)
        if name is not None:
            check_name(name, self._names)
        handles = self.add_many(
            shape,
            at[np.newaxis],
            kind=kind,
            density=density,
            mass=mass,
            velocity=velocity,
            angular_velocity=angular_velocity,
            friction=friction,
            restitution=restitution,
            rolling=rolling,
            layer=layer,
            mask=mask,
            continuous=continuous,
            linear_damping=linear_damping,
            angular_damping=angular_damping,
            gravity_scale=gravity_scale,
            locked=locked,
            material=material,
        )
        if name is not None:
            self._names[name] = int(handles[0])
        return int(handles[0])

    def add_many(
        self,
        shape: ShapesLike,
        poses: PosesLike,
        *,
        kind: Kind = "dynamic",
        density: Number = 1.0,
        mass: Number | None = None,
        velocity: ArrayLike = STILL,
        angular_velocity: ArrayLike = STILL,
        friction: Number = 0.5,
        restitution: Number = 0.0,
        rolling: Number | None = None,
        layer: int = 1,
        mask: int = ALL_LAYERS,
        continuous: bool = False,
        linear_damping: Number = 0.0,
        angular_damping: Number = 0.0,
        gravity_scale: Number = 1.0,
        locked: str = "",
        material: Material | None = None,
    ) -> Integers:
        """Add bodies of one shape at many poses; their handles (k,).

        Args:
            shape: as for `add`.
            poses: (k,4,4) where they are.
            velocity, angular_velocity: (k,3), or (3,) for all.
            kind, density, mass, friction, restitution, rolling, layer, mask, continuous: as for `add`, of each body.
            linear_damping, angular_damping, gravity_scale, locked, material: as for `add`, of each body.
        """
        options = {
            "kind": kind,
            "density": density,
            "mass": mass,
            "velocity": velocity,
            "angular_velocity": angular_velocity,
            "friction": friction,
            "restitution": restitution,
            "rolling": rolling,
            "layer": layer,
            "mask": mask,
            "continuous": continuous,
            "linear_damping": linear_damping,
            "angular_damping": angular_damping,
            "gravity_scale": gravity_scale,
            "locked": locked,
            "material": material,
        }
        newcomers = self._read(shape, arrays.poses(poses, "poses"), options)
        self._softs.check(newcomers)
        slots = self._take(newcomers)
        self._softs.take(self._store, slots, newcomers)
        return frozen(self._store.handles(slots))

    def _read(self, shape: ShapesLike, poses: Floats, given: dict[str, Any]) -> Newcomers:
        """Bodies that may come in: all is checked, and nothing has changed yet."""
        parts = read_parts(shape)
        options, places = read_options(given, parts, len(poses)), arrays.rigid_poses(poses, "poses")
        is_soft = any(isinstance(part, Soft) for part, _ in parts)
        if is_soft and not np.array_equal(poses, np.broadcast_to(IDENTITY, poses.shape)):
            raise Unsupported("a pose for a deformable body: its vertices already say where it is")
        weight = options.weight
        radius = max(radius_of(each, place, weight.center) for each, place in parts)
        check_scale(radius, places, options.kind)
        inverse = invert_inertia(weight.inertia) if options.kind == DYNAMIC else np.zeros((3, 3))
        return Newcomers(parts, options, places, radius, inverse)

    def _take(self, newcomers: Newcomers) -> Integers:
        """The slots of bodies that were read."""
        parts, options, places, radius, inverse = newcomers
        weight, store = options.weight, self._store
        slots = store.take(len(places))
        store.kind[slots], store.layer[slots], store.mask[slots] = options.kind, options.layer, options.mask
        store.solid_layer[slots] = 0 if options.kind == SENSOR else options.layer
        put_material(store, slots, options.material, self.slop)
        store.continuous[slots], store.stirred[slots] = options.continuous, True
        is_moved = options.kind == DYNAMIC
        store.center[slots], store.pull[slots] = weight.center, options.pull if is_moved else 0.0
        store.damping[slots], store.locked[slots] = (options.damping, options.locked) if is_moved else (0.0, False)
        store.inverse[slots], store.inertia[slots] = 0.0, weight.inertia
        if options.kind == DYNAMIC:
            store.inverse[slots, 0] = 1.0 / weight.mass
            store.inverse[slots, 1:] = inverse.ravel()
        store.state[slots, VELOCITY:SPIN], store.state[slots, SPIN:] = options.velocity, options.angular_velocity
        store.set_poses(slots, places)
        store.radius[slots] = radius
        for part, (each, place) in enumerate(parts):
            local = np.concatenate((place[:3, :3].ravel(), place[:3, 3] - weight.center))
            ids = self._colliders.add(store, slots, each.collider(), local)
            self._colliders.part[ids] = part
        self._changed()
        return slots

    def body(self, name: str) -> int:
        """The handle of the body with a name.

        Args:
            name: as it was given to `add`.

        Examples:
            >>> import abut
            >>> from abut import shapes
            >>> world = abut.World()
            >>> crate = world.add(shapes.Box((1, 1, 1)), name="crate", position=(0, 0, 2))
            >>> world, world.body("crate") == crate
            (World(1 body, named crate), True)
        """
        if not isinstance(name, str) or name not in self._names:
            raise InvalidInput("name", f"{name!r} is that of no body")
        return self._names[name]

    @property
    def names(self) -> dict[str, int]:
        """Names of bodies and their handles, in the order in which they came; a copy."""
        return dict(self._names)

    def remove(self, handles: IndicesLike) -> None:
        """Remove bodies. What they touched wakes up; their contacts have ended.

        Args:
            handles: (k,) or one; of a linkage, those of all its bodies.
        """
        slots = self._store.read(handles)
        self._links.remove(slots)
        self._softs.remove(slots)
        gone = set(self._store.handles(slots).tolist())
        self._names = {name: handle for name, handle in self._names.items() if handle not in gone}
        self._forget_joints(np.asarray(np.isin(self._joints.slots, slots).any(axis=1)))
        self._motor.wake_neighbors(self._store, slots)
        self._colliders.remove(slots)
        self._store.free(slots)
        self._changed()
