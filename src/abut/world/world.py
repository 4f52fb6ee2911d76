"""`World`: many bodies behind one manager. Sweep and prune, closest features, exact triangles, and the motion that follows (Peyré 2001).

A body is one shape or several, with a pose. Dynamic bodies are moved by `step`, kinematic ones by the user (with their velocity the others feel
them move), static ones by nobody. Everything that is asked about follows from the state alone: two worlds with the same history give
the same numbers, and so does a world that was pickled in between.
"""

from typing import Any

import numpy as np

from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import AbutError, InvalidInput, Unsupported
from abut.discrete.bodies import BODIES
from abut.dynamics import Linkage
from abut.shapes.solids import Shape, Soft, Sphere, as_shape
from abut.world.bodies.state import SPIN, VELOCITY
from abut.world.bodies.store import ALL_LAYERS, DYNAMIC, STATIC, Store
from abut.world.contacts.colliders import Colliders
from abut.world.contacts.containment import add_held
from abut.world.contacts.pairs import compare_pairs
from abut.world.contacts.points import ContactPoints
from abut.world.definition import (
    IDENTITY,
    LEAST_SCALE,
    Newcomers,
    check_scale,
    invert_inertia,
    radius_of,
    read_options,
    read_parts,
)
from abut.world.linkages.links import Links
from abut.world.queries import Queries
from abut.world.results import Closest, ClosestMany, OverlapMany, RayHits, WorldContacts, order_rows, unite_rows
from abut.world.step import Motor, Parts

POINT = Sphere(1e-300)
"""A point is asked about as a ball of no size."""


class World:
    """Bodies, their contacts, and their motion.

    gravity (3,). slop: how deep contacts may stay; also the scale of contact margins, so give it in the units of the scene (0.005 of a body's
    size does). substeps and sweeps: how carefully `step` solves. sleeping: whether islands of bodies at rest are left alone until touched.
    """

    def __init__(
        self,
        gravity: object = (0.0, 0.0, -9.81),
        *,
        slop: float = 0.005,
        substeps: int = 8,
        sweeps: int = 2,
        sleeping: bool = True,
    ) -> None:
        self.slop = arrays.positive(slop, "slop")
        self._store, self._colliders = Store(), Colliders()
        self.gravity = gravity
        self._motor = Motor(
            arrays.count(substeps, "substeps", least=1),
            arrays.count(sweeps, "sweeps", least=1),
            arrays.flag(sleeping, "sleeping"),
        )
        self._links = Links()
        self._touching, self._touched = np.empty((0, 2), np.int64), np.empty((0, 2), np.int64)
        """Pairs of the last answer of `contacts`, and of the one before."""
        self._known: WorldContacts | None = None

    def __len__(self) -> int:
        return len(self._store)

    def __getstate__(self) -> dict[str, Any]:
        asked = self._known is not None  # the copy gives the same answer again
        return {**vars(self), "_known": None, "_touching": self._touched if asked else self._touching}

    @property
    def handles(self) -> Integers:
        """The handles of all bodies, ascending by slot."""
        return frozen(self._store.handles(np.flatnonzero(self._store.alive)))

    @property
    def gravity(self) -> Floats:
        """(3,) the acceleration of free bodies; setting it wakes them."""
        return self._gravity

    @gravity.setter
    def gravity(self, value: object) -> None:
        self._gravity = arrays.coordinates(value, "gravity", (3,), keep=True)
        self._store.asleep[:], self._store.rest_time[:] = False, 0.0

    # --- bodies

    def add(
        self,
        shape: object,
        pose: object = None,
        *,
        kind: str = "dynamic",
        density: float = 1.0,
        mass: float | None = None,
        velocity: object = (0.0, 0.0, 0.0),
        spin: object = (0.0, 0.0, 0.0),
        friction: float = 0.5,
        restitution: float = 0.0,
        rolling: float | None = None,
        layer: int = 1,
        mask: int = ALL_LAYERS,
        continuous: bool = False,
    ) -> int:
        """Add a body; its handle.

        shape: a shape of `abut.shapes`, a mesh, a `Rigid` or `Deformable` body, or a list of shapes or (shape, pose) that make one body.
        kind: dynamic, kinematic or static; a deformable body or a terrain is static unless said otherwise (`Deformable.update` moves it). Two static
        bodies have no contacts, unless one is deformable: then `contacts` tells of them, and `step` moves neither.
        mass: instead of the density. friction of two bodies: the geometric mean; restitution: the larger. rolling: the lever, a length, at which
        the normal force holds what rolls or spins on the spot; of two bodies the geometric mean, None: the world's slop, 0: nothing. layer, mask:
        bits; two bodies meet if each one's layer is in the other's mask. continuous: never passes through anything within a step, however fast.
        """
        placed = shape.pose if pose is None and isinstance(shape, BODIES) else pose
        at = IDENTITY if placed is None else arrays.pose(placed, "pose")
        options = {"kind": kind, "density": density, "mass": mass, "velocity": velocity, "spin": spin}
        options |= {"friction": friction, "restitution": restitution, "rolling": rolling, "layer": layer, "mask": mask}
        slots = self._add(shape, at[np.newaxis], {**options, "continuous": continuous})
        return int(self._store.handles(slots)[0])

    def add_many(self, shape: object, poses: object, **options: Any) -> Integers:
        """Add a body at each of the poses (k,4,4), all with one shape; handles (k,). Options as for `add`; velocity and spin may be (k,3)."""
        return frozen(self._store.handles(self._add(shape, arrays.poses(poses, "poses"), options)))

    def _add(self, shape: object, poses: Floats, options: dict[str, Any]) -> Integers:
        return self._take(self._read(shape, poses, options))

    def _read(self, shape: object, poses: Floats, options: dict[str, Any]) -> Newcomers:
        """Bodies that may come in: all is checked, and nothing has changed yet."""
        parts = read_parts(shape)
        said, places = read_options(options, parts, len(poses)), arrays.rigid_poses(poses, "poses")
        is_soft = any(isinstance(part, Soft) for part, _ in parts)
        if is_soft and not np.array_equal(poses, np.broadcast_to(IDENTITY, poses.shape)):
            raise Unsupported("a pose for a deformable body: its vertices already say where it is")
        weight = said.weight
        reach = max(radius_of(each, place, weight.centre) for each, place in parts)
        check_scale(reach, places, said.kind)
        inverse = invert_inertia(weight.inertia) if said.kind == DYNAMIC else np.zeros((3, 3))
        return Newcomers(parts, said, places, reach, inverse)

    def _take(self, newcomers: Newcomers) -> Integers:
        """The slots of bodies that were read."""
        parts, said, places, reach, inverse = newcomers
        weight, store = said.weight, self._store
        slots = store.take(len(places))
        store.kind[slots], store.layer[slots], store.mask[slots] = said.kind, said.layer, said.mask
        store.friction[slots], store.restitution[slots] = said.friction, said.restitution
        store.rolling[slots] = self.slop if said.rolling is None else said.rolling
        store.continuous[slots], store.stirred[slots] = said.continuous, True
        store.center[slots], store.pull[slots] = weight.centre, float(said.kind == DYNAMIC)
        store.inverse[slots], store.inertia[slots] = 0.0, weight.inertia
        if said.kind == DYNAMIC:
            store.inverse[slots, 0] = 1.0 / weight.mass
            store.inverse[slots, 1:] = inverse.ravel()
        store.state[slots, VELOCITY:SPIN], store.state[slots, SPIN:] = said.velocity, said.spin
        store.set_poses(slots, places)
        store.radius[slots] = reach
        for part, (each, place) in enumerate(parts):
            local = np.concatenate((place[:3, :3].ravel(), place[:3, 3] - weight.centre))
            ids = self._colliders.add(store, slots, each.collider(), local)
            self._colliders.part[ids] = part
        self._changed()
        return slots

    def remove(self, handles: object) -> None:
        """Remove bodies, one handle or many. What they touched wakes up; their contacts have ended."""
        slots = self._store.read(handles)
        self._links.remove(slots)
        self._motor.wake_neighbors(self._store, slots)
        self._colliders.remove(slots)
        self._store.free(slots)
        self._changed()

    def move(self, handles: object, poses: object = None, *, velocity: object = None, spin: object = None) -> None:
        """Put bodies at poses (4,4) or (k,4,4), and give them velocities (3,) or (k,3); what is None stays. They wake up."""
        slots = self._store.read(handles)
        self._links.refuse(slots)
        at = None if poses is None else arrays.rigid_poses(arrays.stacked(poses, "poses", (4, 4), len(slots)), "poses")
        if at is not None:
            check_scale(LEAST_SCALE, at, STATIC)
        given = (("velocity", velocity, VELOCITY), ("spin", spin, SPIN))
        speeds = [
            (first, arrays.stacked(value, name, (3,), len(slots))) for name, value, first in given if value is not None
        ]
        if at is not None:
            if any(isinstance(self._colliders.shapes[i], Soft) for i in self._shapes_of(slots)):
                raise Unsupported("a pose for a deformable body: its vertices already say where it is")
            self._store.set_poses(slots, at)
        for first, value in speeds:
            self._store.state[slots, first : first + 3] = value
        self._store.stirred[slots] = True
        self._motor.wake_neighbors(self._store, slots)
        self._changed()

    def _shapes_of(self, slots: Integers) -> Integers:
        return np.unique(self._colliders.shape[np.isin(self._colliders.body, slots)])

    def poses(self, handles: object = None) -> Floats:
        """(k,4,4) poses of bodies; of all, in the order of `handles`, without an argument."""
        return frozen(self._store.poses(self._slots(handles)))

    def velocities(self, handles: object = None) -> Floats:
        """(k,3) velocities of the centers of mass."""
        return frozen(self._store.state[self._slots(handles), VELOCITY:SPIN])

    def spins(self, handles: object = None) -> Floats:
        """(k,3) angular velocities, in the world."""
        return frozen(self._store.state[self._slots(handles), SPIN:])

    def asleep(self, handles: object = None) -> Any:
        """(k,) which bodies sleep."""
        return frozen(self._store.asleep[self._slots(handles)])

    def shape_of(self, handle: int) -> list[tuple[Shape, Floats]]:
        """The shapes of a body, each with its pose (4,4) in the body's frame."""
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

    def _slots(self, handles: object) -> Integers:
        return np.flatnonzero(self._store.alive) if handles is None else self._store.read(handles)

    def _changed(self) -> None:
        self._known = None

    # --- questions

    def _place(self) -> None:
        self._links.follow(self._store)
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

        Asked again before anything changes, the same answer."""
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

    def ray(self, origins: object, directions: object, *, reach: float = np.inf, mask: int = ALL_LAYERS) -> RayHits:
        """What rays (k,3), (k,3) meet first, no farther than `reach`; directions need not be of length 1. mask: layers that count.

        One that starts inside a solid (a convex shape, a closed mesh, or below a terrain) meets it at distance 0, with normal 0 and face −1."""
        start, toward = arrays.stacked(origins, "origins", (3,)), arrays.stacked(directions, "directions", (3,))
        if len(start) != len(toward):
            raise InvalidInput("directions", f"has {len(toward)} rows for {len(start)} origins")
        length = np.linalg.norm(toward, axis=1, keepdims=True)
        if (length == 0.0).any():
            raise InvalidInput("directions", "is zero", int(np.argmin(length)))
        most = np.inf if isinstance(reach, float) and reach == np.inf else arrays.scalar(reach, "reach", least=0.0)
        return self._ask().cast(start, toward / length, most, mask)

    def overlap(self, shape: object, pose: object = None, *, mask: int = ALL_LAYERS) -> Integers:
        """Handles of the bodies that touch or overlap a shape at a pose, or hold it; ascending."""
        at = IDENTITY if pose is None else arrays.pose(pose, "pose")
        return self._ask().overlap(as_shape(shape).collider(), at[np.newaxis], mask).body

    def overlap_many(self, shape: object, poses: object, *, mask: int = ALL_LAYERS) -> OverlapMany:
        """The same at many poses (k,4,4): which pose meets which body."""
        return self._ask().overlap(as_shape(shape).collider(), arrays.poses(poses, "poses"), mask)

    def closest(self, shape: object, pose: object = None, *, mask: int = ALL_LAYERS) -> Closest | None:
        """The body nearest to a shape at a pose, or to a point (3,) given as the shape; None in an empty world."""
        at = IDENTITY if pose is None else arrays.pose(pose, "pose")
        if arrays.shape_of(shape) == (3,):
            moved = np.eye(4)
            moved[:3, 3] = arrays.coordinates(shape, "shape", (3,))
            shape, at = POINT, at @ moved
        found = self._ask().closest(as_shape(shape).collider(), at[np.newaxis], mask)
        if found.body[0] < 0:
            return None
        numbers = int(found.body[0]), int(found.shape[0]), float(found.distance[0])
        return Closest(*numbers, found.point_a[0], found.point_b[0], found.normal[0])

    def closest_many(self, shape: object, poses: object = None, *, mask: int = ALL_LAYERS) -> ClosestMany:
        """The same at many poses (k,4,4), or for many points (k,3) given as the shape."""
        if poses is None:
            points = arrays.points(shape, "shape")
            at = np.tile(IDENTITY, (len(points), 1, 1))
            at[:, :3, 3] = points
            return self._ask().closest(POINT, at, mask)
        return self._ask().closest(as_shape(shape).collider(), arrays.poses(poses, "poses"), mask)

    def _ask(self) -> Queries:
        self._place()
        return Queries(self._store, self._colliders)

    # --- motion

    def link(
        self,
        linkage: Linkage,
        radius: float | None = None,
        *,
        friction: float = 0.5,
        layer: int = 1,
        mask: int | None = None,
        continuous: bool = False,
    ) -> Integers:
        """Let a linkage of particles and bones (`abut.dynamics`) take part: it moves with `step`, and collides with bodies both ways.

        Its bones collide as capsules of the linkage's radii; with `radius`, its particles do, as balls. mask: by default it meets
        everything but itself; one that is given holds within it too. Bones with a joint in common never meet. continuous: look for contacts
        as far ahead as it moves in a step, for a fast one; then it may be held up by what it only passes. Handles of the bodies that stand for it: to
        take it out, `remove` them all; to move it, set its position.
        """
        options = {"friction": friction, "layer": layer, "continuous": continuous}
        return self._links.add(self, linkage, radius, options, mask)

    @property
    def linkages(self) -> tuple[Linkage, ...]:
        """The linkages that take part: those of a world that was pickled are copies."""
        return self._links.linkages

    def step(self, dt: float) -> None:
        """Move everything by a time dt: forces, contacts, friction, restitution, linkages, and what must not pass through."""
        length = arrays.positive(dt, "dt")
        self._motor.step(Parts(self._store, self._colliders, self._links, self.gravity, self.slop), length)
        self._changed()

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
