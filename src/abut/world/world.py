"""`World`: many bodies behind one manager. Sweep and prune, closest features, exact triangles, and the motion that follows (Peyré 2001).

A body is one shape or several, with a pose. Dynamic bodies are moved by `step`, kinematic ones by the user (with their velocity the others feel
them move), static ones by nobody. All answers follow from the state alone: two worlds with the same history give the same numbers, and so does
a world that was pickled in between.
"""

from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import AbutError, InvalidInput, Unsupported
from abut.core.showing import count, describe
from abut.core.types import IndicesLike, Number, PointsLike, PoseLike, PosesLike, VectorLike
from abut.discrete.bodies import BODIES
from abut.dynamics import Linkage
from abut.shapes.solids import Plane, Shape, Sphere
from abut.shapes.surfaces import ShapeLike, Soft, Surface, as_shape
from abut.viewer import Scene
from abut.world.bodies.forces import add_impulse, moment_of, refuse_unmoved
from abut.world.bodies.materials import Material, put_material
from abut.world.bodies.state import SPIN, VELOCITY
from abut.world.bodies.store import ALL_LAYERS, DYNAMIC, SENSOR, STATIC, Store
from abut.world.contacts.colliders import Colliders
from abut.world.contacts.containment import add_held
from abut.world.contacts.pair_rules import PairFilter
from abut.world.contacts.pairs import compare_pairs
from abut.world.contacts.points import ContactPoints
from abut.world.contacts.sensing import compare_inside, find_inside
from abut.world.definition import (
    IDENTITY,
    LEAST_SCALE,
    STILL,
    Kind,
    Newcomers,
    ShapesLike,
    check_locks,
    check_name,
    check_scale,
    invert_inertia,
    radius_of,
    read_options,
    read_parts,
    read_place,
)
from abut.world.films import Film
from abut.world.joints.attaching import attach, default_coordinate, read_states
from abut.world.joints.coordinates import NAMES
from abut.world.joints.definition import Freedom, Joint
from abut.world.joints.results import JointStates
from abut.world.joints.table import WORLD, Joints
from abut.world.linkages.links import Links
from abut.world.queries import Queries
from abut.world.results import (
    Closest,
    ClosestMany,
    OverlapMany,
    RayHits,
    SensorEvents,
    ShapeHit,
    WorldContacts,
    order_rows,
    unite_rows,
)
from abut.world.shape_casts import find_first_time, path_between
from abut.world.soft.bodies import Softs
from abut.world.soft.joint_points import find_points, find_shares
from abut.world.states import State, deform_back, put_back
from abut.world.step import Motor, Parts
from abut.world.surface_questions import SurfaceQuestion

POINT = Sphere(1e-300)
"""For queries, a point is a ball of no size."""


NAMES_SHOWN = 4


class World:
    """Bodies, their contacts, and their motion.

    Args:
        gravity: (3,) the acceleration of free bodies.
        slop: how deep contacts may stay; also the scale of contact margins, so give it in the units of the scene (0.005 of a body's size does).
        substeps: in how many parts `step` divides its time, at least; more, up to 64, where loads need them.
        sweeps: how often `step` solves each contact in a substep, at least.
        sleeping: whether islands of bodies at rest are left alone until touched.
        filter: which pairs of bodies meet, beside layers and masks; see `World.filter`.

    Examples:
        >>> import numpy as np
        >>> import abut
        >>> from abut import shapes
        >>> world = abut.World()
        >>> floor = world.add(shapes.Box((10, 10, 1)), kind="static")
        >>> pose = np.eye(4)
        >>> pose[2, 3] = 1.0
        >>> ball = world.add(shapes.Sphere(0.3), pose)
        >>> for _ in range(30):
        ...     world.step(1 / 60)
        >>> world, world.contacts()
        (World(2 bodies), WorldContacts(1 point, 1 pair, 1 begun, 0 ended))
        >>> float(world.poses(ball)[0, 2, 3].round(2))  # half a slop deep in the floor
        0.8
        >>> world.ray((0, 0, 5), (0, 0, -1))
        RayHits(1 ray, 1 hit)
    """

    def __init__(
        self,
        gravity: VectorLike = (0.0, 0.0, -9.81),
        *,
        slop: Number = 0.005,
        substeps: int = 8,
        sweeps: int = 2,
        sleeping: bool = True,
        filter: PairFilter | None = None,
    ) -> None:
        self.slop = arrays.positive(slop, "slop")
        self._store, self._colliders = Store(), Colliders()
        self.gravity = gravity
        self._motor = Motor(
            arrays.count(substeps, "substeps", least=1),
            arrays.count(sweeps, "sweeps", least=1),
            arrays.flag(sleeping, "sleeping"),
        )
        self._links, self._joints, self._softs = Links(), Joints(), Softs()
        self._touching, self._touched = np.empty((0, 2), np.int64), np.empty((0, 2), np.int64)
        """Pairs of the last answer of `contacts`, and of the one before."""
        self._known: WorldContacts | None = None
        self._names: dict[str, int] = {}
        self._films: list[Film] = []
        self._sensed = SensorEvents(*(frozen(np.empty((0, 2), np.int64)) for _ in range(3)))
        self.filter = filter

    def __len__(self) -> int:
        return len(self._store)

    def __repr__(self) -> str:
        asleep, linkages = np.count_nonzero(self.asleep()), len(self.linkages)
        facts = [count(len(self), "body", "bodies")]
        facts += [f"{asleep:,} asleep"] if asleep else []
        facts += [count(linkages, "linkage")] if linkages else []
        shown = list(self._names)[:NAMES_SHOWN]
        more = len(self._names) - len(shown)
        facts += [f"named {' '.join(shown)}" + (f" and {more:,} more" if more else "")] if shown else []
        return describe(self, *facts)

    def _repr_html_(self) -> str:
        from abut.dynamics.picture import spread
        from abut.shapes.picture import MOST_SHAPES, draw_shapes

        chosen = self.handles[spread(len(self), MOST_SHAPES)]
        still = self._store.kind[self._store.read(chosen)] == STATIC
        placed = [
            (shape, pose @ local, bool(is_still))
            for handle, pose, is_still in zip(chosen.tolist(), self.poses(chosen), still, strict=True)
            for shape, local in self.shape_of(handle)
        ]
        drawn = f": {len(chosen)} of them" if len(chosen) < len(self) else ""
        return draw_shapes(repr(self) + drawn, placed)

    def __getstate__(self) -> dict[str, Any]:
        is_known = self._known is not None  # the copy gives the same answer again
        content = {name: value for name, value in vars(self).items() if name != "_films"}
        return {**content, "_known": None, "_touching": self._touched if is_known else self._touching}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._films = []

    @property
    def handles(self) -> Integers:
        """The handles of all bodies, ascending by slot."""
        return frozen(self._store.handles(np.flatnonzero(self._store.alive)))

    @property
    def gravity(self) -> Floats:
        """(3,) the acceleration of free bodies; setting it wakes them."""
        return self._gravity

    @gravity.setter
    def gravity(self, value: VectorLike) -> None:
        self._gravity = arrays.coordinates(value, "gravity", (3,), keep=True)
        self._store.asleep[:], self._store.rest_time[:] = False, 0.0

    @property
    def filter(self) -> PairFilter | None:
        """Which pairs of bodies meet, beside layers and masks: a function of two arrays of handles (k,), the smaller of each pair in the first, that
        gives (k,) booleans; None: all do.

        It is asked about each pair once when the two come near each other, about all that do in one call, sorted; its answer holds as long as they
        stay near. What it answers may depend on the handles alone. Setting it wakes all bodies."""
        return self._colliders.rules.ask

    @filter.setter
    def filter(self, value: PairFilter | None) -> None:
        self._colliders.rules.change_filter(value)
        self._store.asleep[:], self._store.rest_time[:] = False, 0.0
        self._changed()

    def ignore(self, a: IndicesLike, b: IndicesLike, *, ignored: bool = True) -> None:
        """Let pairs of bodies pass through each other, or with `ignored=False` meet again. They wake up.

        It ends when one of the two is removed. Questions (`ray`, `overlap`, …) see both all the same.

        Args:
            a, b: (k,) handles of the two bodies of each pair, or one that stands for all.
            ignored: whether they are to be ignored.
        """
        first, second = (
            np.concatenate([self._store.read(int(each), name) for each in arrays.selection(handles, name, 2**62)])
            for handles, name in ((a, "a"), (b, "b"))
        )
        if len(first) != len(second) and 1 not in (len(first), len(second)):
            raise InvalidInput("b", f"has {len(second)} handles for {len(first)}")
        pairs = np.stack(np.broadcast_arrays(first, second), axis=1)
        if (pairs[:, 0] == pairs[:, 1]).any():
            raise InvalidInput("b", "is the same body as a", int(np.argmax(pairs[:, 0] == pairs[:, 1])))
        self._colliders.rules.ignore(pairs, arrays.flag(ignored, "ignored"))
        self._motor.wake_neighbors(self._store, np.unique(pairs))
        self._changed()

    # --- bodies

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

    def _slots(self, handles: IndicesLike | None) -> Integers:
        return np.flatnonzero(self._store.alive) if handles is None else self._store.read(handles)

    def _changed(self) -> None:
        self._known = None

    # --- queries

    def _place(self) -> None:
        self._links.follow(self._store)
        self._softs.follow(self._store)
        if self._colliders.settle(self._store, self.slop):
            self._changed()

    def _detect(self) -> ContactPoints:
        moving = (self._store.kind != STATIC) | self._colliders.find_soft(len(self._store.kind))
        near = self._colliders.find_near(self._store, np.zeros(len(moving)), moving, moving)
        return self._motor.memory.add_pushed(
            self._store, add_held(self._colliders, near[0], self._colliders.meet(*near))
        )

    def contacts(self) -> WorldContacts:
        """All points where bodies touch or overlap now, and one for each pair of which a closed surface holds the other; its faces are −1.

        Bodies that pushed each other in the last step and are apart already have the rows of that step, with a depth of 0: no bounce is missed.
        Until something changes, the answer stays the same.
        """
        self._place()
        if self._known is None:
            self._known = self._describe(self._detect())
        return self._known

    def _describe(self, found: ContactPoints) -> WorldContacts:
        colliders, handles = self._colliders, self._store.handles(np.arange(len(self._store.alive)))
        body_a, body_b = (handles[colliders.body[each]] for each in (found.collider_a, found.collider_b))
        order = order_rows(body_a, body_b)
        found, body_a, body_b = found.take(order), body_a[order], body_b[order]
        a, b = found.collider_a, found.collider_b
        pairs = unite_rows(np.minimum(body_a, body_b), np.maximum(body_a, body_b))
        begun, ended = np.empty_like(pairs), np.empty_like(self._touching)
        counts = compare_pairs(self._touching, pairs, begun, ended)
        self._touching, self._touched = pairs, self._touching
        columns = (body_a, body_b, colliders.part[a], colliders.part[b], found.face_a.copy(), found.face_b.copy())
        depth = np.maximum(-found.separation, 0.0)
        impulse = self._motor.memory.impulses_of(found, self.slop)
        values = (found.point.copy(), found.normal.copy(), depth, impulse.copy())
        changes = (begun[: counts[0]].copy(), ended[: counts[1]].copy())
        every: Any = [frozen(column) for column in (*columns, *values, *changes, pairs.copy())]
        return WorldContacts(*every)

    @property
    def sensor_events(self) -> SensorEvents:
        """Who came into sensors, stayed and left in the last step. What passes through a sensor within one step is not seen."""
        return self._sensed

    def inside(self, sensor: int) -> Integers:
        """Handles of the bodies that touch or overlap a sensor now, or hold it; ascending. Those are the same as `overlap` finds with its shape, if
        layers, masks and filters agree.

        Args:
            sensor: its handle.
        """
        slots = self._store.read(arrays.count(sensor, "sensor", most=2**62), "sensor")
        if self._store.kind[slots[0]] != SENSOR:
            raise InvalidInput("sensor", "is a body that is no sensor")
        self._place()
        rows = find_inside(self._store, self._colliders)
        return frozen(rows[rows[:, 0] == sensor, 1].copy())

    def ray(
        self, origins: PointsLike, directions: PointsLike, *, max_distance: Number = np.inf, mask: int = ALL_LAYERS
    ) -> RayHits:
        """What rays meet first.

        One that starts inside a solid (a convex shape, a closed mesh, or below a terrain) meets it at distance 0, with normal 0 and face −1.

        Args:
            origins: (k,3) where they start, or (3,) for one ray.
            directions: (k,3) or (3,), of any length but 0.
            max_distance: how far they look.
            mask: layers that count, in bits.
        """
        start, toward = arrays.stacked(origins, "origins", (3,)), arrays.stacked(directions, "directions", (3,))
        if len(start) != len(toward):
            raise InvalidInput("directions", f"has {len(toward)} rows for {len(start)} origins")
        length = np.linalg.norm(toward, axis=1, keepdims=True)
        if (length == 0.0).any():
            raise InvalidInput("directions", "is zero", int(np.argmin(length)))
        is_endless = isinstance(max_distance, float) and max_distance == np.inf
        most = np.inf if is_endless else arrays.scalar(max_distance, "max_distance", least=0.0)
        return self._queries().cast(start, toward / length, most, mask)

    def overlap(self, shape: ShapeLike, pose: PoseLike | None = None, *, mask: int = ALL_LAYERS) -> Integers:
        """Handles of the bodies that touch or overlap a shape, or hold it; ascending.

        Args:
            shape: a convex shape, or a mesh.
            pose: (4,4) where it is; by default at the origin.
            mask: layers that count, in bits.
        """
        at = IDENTITY if pose is None else arrays.pose(pose, "pose")
        return self._overlap(shape, at[np.newaxis], mask).body

    def overlap_many(self, shape: ShapeLike, poses: PosesLike, *, mask: int = ALL_LAYERS) -> OverlapMany:
        """The same at many poses: which pose meets which body.

        Args:
            shape: a convex shape, or a mesh.
            poses: (k,4,4) where it is.
            mask: layers that count, in bits.
        """
        return self._overlap(shape, arrays.poses(poses, "poses"), mask)

    def closest(
        self, shape: ShapeLike | VectorLike, pose: PoseLike | None = None, *, mask: int = ALL_LAYERS
    ) -> Closest | None:
        """The body nearest to a shape or to a point; None in an empty world.

        Args:
            shape: a convex shape, a mesh, or a point (3,).
            pose: (4,4) where it is; by default at the origin.
            mask: layers that count, in bits.
        """
        at = IDENTITY if pose is None else arrays.pose(pose, "pose")
        if arrays.shape_of(shape) == (3,):
            moved = np.eye(4)
            moved[:3, 3] = arrays.coordinates(shape, "shape", (3,))
            solid, at = POINT, at @ moved
        else:
            solid = as_shape(cast("ShapeLike", shape))
        convex = solid.collider()
        if not isinstance(convex, Surface):
            return self._queries().closest_one(convex, at, mask)
        found = self._closest(solid, at[np.newaxis], mask)
        if found.body[0] < 0:
            return None
        numbers = int(found.body[0]), int(found.shape[0]), float(found.distance[0])
        return Closest(*numbers, found.point_a[0], found.point_b[0], found.normal[0])

    def closest_many(
        self, shape: ShapeLike | PointsLike, poses: PosesLike | None = None, *, mask: int = ALL_LAYERS
    ) -> ClosestMany:
        """The same at many poses, or for many points.

        Args:
            shape: a convex shape, a mesh, or without poses, points (k,3).
            poses: (k,4,4) where the shape is.
            mask: layers that count, in bits.
        """
        if poses is None:
            points = arrays.points(shape, "shape")
            at = np.tile(IDENTITY, (len(points), 1, 1))
            at[:, :3, 3] = points
            return self._queries().closest(POINT, at, mask)
        solid = as_shape(cast("ShapeLike", shape))
        return self._closest(solid, arrays.poses(poses, "poses"), mask)

    def sweep_shape(
        self, shape: ShapeLike, pose_a: PoseLike, pose_b: PoseLike, *, mask: int = ALL_LAYERS
    ) -> ShapeHit | None:
        """What a shape meets first on its way from one pose to another, while the world stands still; None if nothing.

        Its origin goes straight, and it turns about it at a constant rate. The time is never late, and early by the way of 1e-9 of the sizes.
        What it touches or overlaps at the start it meets at time 0.

        Args:
            shape: a convex shape.
            pose_a, pose_b: (4,4) where it starts and where it ends.
            mask: layers that count, in bits.

        Examples:
            >>> import numpy as np
            >>> import abut
            >>> from abut import shapes
            >>> world = abut.World()
            >>> wall = world.add(shapes.Box((1, 9, 9)), position=(5.5, 0, 0), kind="static")
            >>> far = np.eye(4)
            >>> far[0, 3] = 10.0
            >>> hit = world.sweep_shape(shapes.Sphere(0.5), np.eye(4), far)
            >>> hit, hit.normal.tolist()
            (ShapeHit(body 0, time 0.45), [1.0, 0.0, 0.0])
        """
        ends = arrays.rigid_poses(np.stack((arrays.pose(pose_a, "pose_a"), arrays.pose(pose_b, "pose_b"))), "pose_b")
        solid, queries = as_shape(shape).collider(), self._queries()
        if isinstance(solid, Plane):
            raise Unsupported("a half-space on its way")
        start = queries.closest(solid, ends[:1], mask)
        time, at = 0.0, ends[0]
        if start.distance[0] > 0.0:
            path = path_between(ends)
            time = find_first_time(queries, queries.place(solid, ends[:1], mask), path)
            if not time <= 1.0:
                return None
            row = path.at(np.array([time]))[0]
            at = np.eye(4)
            at[:3, :3], at[:3, 3] = row[:9].reshape(3, 3), row[9:]
        met = queries.closest(solid, at[np.newaxis], mask)
        numbers = int(met.body[0]), int(met.shape[0]), time
        return ShapeHit(*numbers, frozen(at.copy()), met.point_b[0], met.normal[0])

    def _overlap(self, shape: ShapeLike, poses: Floats, mask: int) -> OverlapMany:
        solid, queries = as_shape(shape).collider(), self._queries()
        if isinstance(solid, Surface):
            return SurfaceQuestion(queries, solid, mask).overlap(arrays.rigid_poses(poses, "pose"))
        return queries.overlap(solid, poses, mask)

    def _closest(self, shape: Shape, poses: Floats, mask: int) -> ClosestMany:
        solid, queries = shape.collider(), self._queries()
        if isinstance(solid, Surface):
            return SurfaceQuestion(queries, solid, mask).closest(arrays.rigid_poses(poses, "pose"))
        return queries.closest(solid, poses, mask)

    def _queries(self) -> Queries:
        self._place()
        return Queries(self._store, self._colliders)

    # --- motion

    def link(
        self,
        linkage: Linkage,
        radius: Number | None = None,
        *,
        friction: Number = 0.5,
        layer: int = 1,
        mask: int | None = None,
        continuous: bool = False,
    ) -> Integers:
        """Let a linkage of particles and bones take part; handles (k,) of the bodies that stand for it.

        It moves with `step` under a gravity of its own (`Linkage.gravity`, 0 by default), and collides with bodies both ways. Bones with a joint in
        common never meet. To take it out, `remove` all its handles; to move it, set its position.

        Args:
            linkage: of `abut.dynamics`.
            radius: of its particles, which then collide as balls; by default its bones collide, as capsules of the linkage's radii.
            friction: Coulomb's coefficient.
            layer: bits, as for `add`.
            mask: bits; by default it meets everything but itself, one that is given holds within it too.
            continuous: whether it looks for contacts as far ahead as it moves in a step, for a fast one; then it may be held up by what it only
                passes.
        """
        options = {"friction": friction, "layer": layer, "continuous": continuous}
        return self._links.add(self, linkage, radius, options, mask)

    @property
    def linkages(self) -> tuple[Linkage, ...]:
        """The linkages that take part: those of a world that was pickled are copies."""
        return self._links.linkages

    # --- joints

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

    # --- steps

    def step(self, dt: Number) -> None:
        """Move everything by a time dt: forces, contacts, friction, restitution, linkages, and what must not pass through.

        Args:
            dt: the length of the step, above 0.
        """
        length = arrays.positive(dt, "dt")
        parts = (self._store, self._colliders, self._links, self._joints, self._softs)
        self._motor.step(Parts(*parts, self.gravity, self.slop), length)
        if len(self._joints.broke):
            self._colliders.apart = self._joints.apart
        self._changed()
        self._sense()
        for film in self._films:
            film._add(self, length)

    def record(self) -> Film:
        """Begin a film: a frame now, and one after each step, with the poses of all bodies and their contacts.

        It goes on until `Film.stop`, or the end of a `with` block. What a world does and answers is the same with and without a film.
        """
        film = Film()._begin(self)
        self._films.append(film)
        return film

    def _is_static(self, handle: int) -> bool:
        return bool(self._store.kind[self._store.read(handle)][0] == STATIC)

    def _stand_ins(self) -> list[int]:
        """Handles of the bodies that stand for parts of linkages."""
        return self._store.handles(self._links.slots).tolist()

    def _scene(self) -> Scene:
        film = Film()
        film._add(self, 0.0)
        return film._scene()

    def _stop_film(self, film: Film) -> None:
        self._films = [each for each in self._films if each is not film]

    def _look(self, touching: Integers) -> tuple[WorldContacts, Integers]:
        """The contacts after those of other pairs (k,2), and their pairs; `contacts` does not notice."""
        kept = self._touching, self._touched, self._known
        self._touching, self._known = touching, None
        answer = self.contacts()
        self._touching, self._touched, self._known = kept
        return answer, answer.pairs

    def save_state(self) -> State:
        """Everything that the next step depends on, to come back to with `restore`.

        Contacts, impulses and sleepers are part of it, and so are deformable and soft bodies and linkages: what follows is the same to the bit.
        """
        return State()._keep(self.__getstate__(), len(self), (*self.linkages, *self._softs.models))

    def restore(self, state: State) -> None:
        """Go back to a state that was saved, of this world or of another one. Handles and names are those of then; films go on.

        Deformable bodies, linkages and the models of soft bodies that the state knows are put back where they were.

        Args:
            state: as `save_state` gave it.
        """
        content, models, soft = arrays.instance(state, "state", State)._open()
        self.__dict__.update(content)
        known = put_back(models)
        self._links.replace(known)
        self._softs.replace(known)
        self._store.follow_versions(self._colliders.find_shapes(deform_back(soft)))
        self._changed()

    def _sense(self) -> None:
        """What is in sensors after a step."""
        if (self._store.kind == SENSOR).any() or len(self._sensed) or len(self._sensed.ended):
            self._place()
            self._sensed = compare_inside(self._sensed.inside, find_inside(self._store, self._colliders))

    def validate(self) -> None:
        """Raise AbutError unless the parts agree with each other: slots, colliders, boxes, pairs, states."""
        store, colliders = self._store, self._colliders
        colliders.sap.validate()
        used = np.flatnonzero(colliders.body >= 0)
        if not np.array_equal(used, colliders.sap.handles):
            raise AbutError("the colliders are not those of the sweep and prune")
        if not np.array_equal(np.unique(colliders.body[used]), np.flatnonzero(store.alive)):
            raise AbutError("a body has no collider, or a collider no body")
        if not np.isfinite(store.state).all():
            raise AbutError("a state is not finite")
        if (np.abs(np.linalg.norm(store.state[:, 3:7], axis=1) - 1.0) > 1e-9).any():
            raise AbutError("a rotation is not one")
        if (store.inverse[~store.movable] != 0.0).any():
            raise AbutError("a body that nothing moves has a mass")
