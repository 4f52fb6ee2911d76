"""The soft bodies of a world: models of particles whose surfaces collide with bodies both ways.

A soft body has one slot, as every body has: its layer, its material, and its surface as a collider, whose pose is always the identity. What moves are
the particles of its model. For a step they are rows behind those of the bodies (`extend`), where springs and shapes pull them (`solver.tissues`) and
contacts push the corners of faces (`patches`); after it the model and the surface take what the solver made of them (`part`).

The slot has the mean velocity of the particles; `ripple` says how much faster than that one of them is. A soft body sleeps when all of it is slow,
and wakes when it is touched, or when somebody sets the position, velocity, force or gravity of its model.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput, Unsupported
from abut.dynamics import MassSpring, ParticleModel, ShapeMatching
from abut.impulses.records import BODY
from abut.mesh import Mesh
from abut.shapes.solids import Shape
from abut.shapes.surfaces import Soft
from abut.world.bodies.store import DYNAMIC, Store
from abut.world.definition import MOST_SCALE, Newcomers
from abut.world.linkages.joined import Joined
from abut.world.soft.patches import Skin
from abut.world.solver.tissues import Tissues, no_tissues

STABLE_SHARE = 0.5
"""Substeps are no longer than this part of 2 / ω, the stability limit of springs: contacts stiffen what they hold."""
MOST_SUBSTEPS = 4096
"""A step that needs more is a mistake, or wants a shorter dt."""
IN_PLACE = (1.0, 0.0, 0.0, 0.0)
"""the quaternion of what is not turned"""
MARGIN, LOOKAHEAD = 2.0, 0.25
"""Contacts are looked for within so many slops around a soft body, and as far as it moves in a step, but no farther than this part of its size."""


@dataclass
class SoftBody:
    """One of them."""

    shape: Soft
    model: ParticleModel
    slot: int
    is_continuous: bool
    seen: tuple[object, ...] = ()
    """what the last step left"""
    put: object = None
    """the positions at which its surface is"""

    def look(self) -> tuple[object, ...]:
        """What a user may set."""
        model = self.model
        return model.position, model.velocity, model.force, model.gravity

    @property
    def vertices(self) -> Floats:
        """(n,3) of its surface: the first particles."""
        return self.model.position[: len(self.shape.mesh.vertices)]


class Softs:
    """See above."""

    def __init__(self) -> None:
        self._all: list[SoftBody] = []
        self._surfaces: dict[int, tuple[Shape, Mesh]] = {}
        """of shapes that were asked about, by their ids"""

    def __getstate__(self) -> dict[str, object]:
        return {"_all": self._all, "_surfaces": {}}

    def __len__(self) -> int:
        return len(self._all)

    @property
    def models(self) -> tuple[ParticleModel, ...]:
        """In the order in which they came."""
        return tuple(each.model for each in self._all)

    @property
    def slots(self) -> Integers:
        """(k,)"""
        return np.array([each.slot for each in self._all], np.int64)

    @property
    def bodies(self) -> tuple[SoftBody, ...]:
        """All of them."""
        return tuple(self._all)

    # --- who

    def check(self, newcomers: Newcomers) -> None:
        """Refuse what cannot come in: nothing has changed yet."""
        model = elastic_model(newcomers)
        if model is None:
            return
        if len(newcomers.places) != 1:
            raise InvalidInput("poses", f"has {len(newcomers.places)} rows for a soft body, which is in one place")
        if any(model is other for other in self.models):
            raise InvalidInput("shape", "has a model that is in this world already")
        if np.abs(model.position).max() > MOST_SCALE:
            raise InvalidInput("shape", f"is more than {MOST_SCALE:g} from the origin")

    def take(self, store: Store, slots: Integers, newcomers: Newcomers) -> None:
        """Let a soft body in that was checked and has a slot."""
        model, options = elastic_model(newcomers), newcomers.options
        if model is None:
            return
        shape, slot = newcomers.parts[0][0], int(slots[0])
        assert isinstance(shape, Soft)
        store.inverse[slot, 1:], store.inertia[slot] = 0.0, 0.0
        store.continuous[slot] = False  # that is for bodies that move alone
        motion, spin = options.velocity[0], options.angular_velocity[0]
        if motion.any() or spin.any():
            arm = model.position - find_center(model)
            model.velocity = model.velocity + motion + np.cross(spin, arm)
        self._all.append(SoftBody(shape, model, slot, options.continuous))
        _put(store, self._all[-1])

    def refuse(self, slots: Integers) -> None:
        """Soft bodies are where their models are, and not put elsewhere."""
        if np.isin(slots, self.slots).any():
            raise InvalidInput("handles", "names a soft body: set the position and velocity of its model")

    def refuse_turns(self, slots: Integers, moment: Floats) -> None:
        """Forces on soft bodies act on all particles alike."""
        if moment[np.isin(slots, self.slots)].any():
            raise Unsupported("a force at a point of a soft body, or a torque: give its model forces")

    def push(self, store: Store, slots: Integers, impulse: Floats) -> None:
        """Share impulses (k,3) among the particles, by their masses."""
        for each in self._all:
            at = np.flatnonzero(slots == each.slot)
            if len(at):
                each.model.velocity = each.model.velocity + impulse[at[0]] * store.inverse_mass[each.slot]
                _put(store, each)

    def find_share(self, slot: int, point: Floats) -> float:
        """The particle of a soft body that is nearest to a point; NaN for another body."""
        for each in self._all:
            if each.slot == slot:
                return float(np.argmin(((each.model.position - point) ** 2).sum(axis=1)))
        return math.nan

    def find_point(self, slot: int, share: float) -> Floats:
        """Where that particle is; NaN for another body."""
        for each in self._all:
            if each.slot == slot:
                return each.model.position[int(share)]
        return np.full(3, np.nan)

    def remove(self, slots: Integers) -> None:
        """Forget those whose bodies are removed."""
        self._all = [each for each in self._all if each.slot not in slots]

    def replace(self, models: dict[int, ParticleModel]) -> None:
        """Let other models take the place of those with these ids, which are the same to the last number."""
        for each in self._all:
            each.model = models[id(each.model)]

    # --- one step

    def follow(self, store: Store) -> None:
        """Put surfaces where their models are, if somebody has moved these."""
        for each in self._all:
            if each.put is not each.model.position:
                _put(store, each)

    def find_changed(self, store: Store) -> Integers:
        """Slots of those that somebody has changed since the last step."""
        self.follow(store)
        changed = [each.slot for each in self._all if not _are_same(each.seen, each.look())]
        return np.array(changed, np.int64)

    def count_substeps(self, awake: NDArray[np.bool_], dt: float) -> int:
        """In how many parts a step must be divided, for the stiffest springs."""
        shortest = min((_longest_step(each.model) for each in self._all if awake[each.slot]), default=math.inf)
        steps = max(1.0, math.ceil(dt / (STABLE_SHARE * shortest)))
        if steps > MOST_SUBSTEPS:
            raise InvalidInput(
                "dt", f"{dt:g} asks for {steps:g} substeps: the springs of a soft body are too stiff for it"
            )
        return int(steps)

    def find_growth(self, growth: Floats, speeds: Floats, slop: float, dt: float) -> None:
        """Into growth (n,): how far around each soft body contacts are looked for. speeds (n,): the most that bodies may have in the step."""
        for each in self._all:
            size = 0.0 if each.is_continuous else float(np.ptp(each.vertices, axis=0).max())
            most = LOOKAHEAD * size if size > 0.0 else math.inf
            growth[each.slot] = MARGIN * slop + min(dt * float(speeds[each.slot]), most)

    def extend(
        self, joined: Joined, store: Store, awake: NDArray[np.bool_], times: Floats
    ) -> tuple[Joined, list[Skin]]:
        """Bodies and particles with those of the soft bodies that are awake behind them; and their surfaces."""
        if not self._all:
            return joined, []
        active = [each for each in self._all if awake[each.slot]]
        joined.soft[self.slots] = True
        first = len(joined.bodies)
        starts = first + np.cumsum([0, *(len(each.model) for each in active)])
        added = np.zeros(starts[-1] - first, BODY)
        added["quaternion"] = IN_PLACE
        here, moving = joined.bodies, joined.moving
        for each, start, stop in zip(active, starts[:-1] - first, starts[1:] - first, strict=True):
            model, rows = each.model, added[start:stop]
            rows["position"], rows["velocity"], rows["inverse_mass"] = (
                model.position,
                model.velocity,
                model.inverse_mass,
            )
            free = model.inverse_mass > 0.0
            rows["acceleration"] = model._outer_acceleration() + here["acceleration"][each.slot] * free[:, np.newaxis]
            rows["time"] = times[each.slot]
            here["inverse_mass"][each.slot], here["own_inverse_inertia"][each.slot] = 0.0, 0.0
            here["acceleration"][each.slot], moving[each.slot] = 0.0, False
            joined.ends[each.slot] = first + start
        bodies = np.concatenate((here, added))
        bonds = joined.bonds._replace(  # their rows are counted from the first particle, of whatever kind
            inverse_mass=np.concatenate((joined.bonds.inverse_mass, added["inverse_mass"])),
            place=np.empty((len(joined.bonds.place) + len(added), 3)),
        )
        whole = joined._replace(
            bodies=bodies,
            moving=np.concatenate((moving, np.ones(len(added), np.bool_))),
            bonds=bonds,
            tissues=weave([each.model for each in active]),
        )
        skins = [
            Skin(each.slot, int(start), each.shape.mesh.faces, each.vertices)
            for each, start in zip(active, starts[:-1], strict=True)
        ]
        return whole, skins

    def mark_free(self, joined: Joined, skins: list[Skin]) -> None:
        """A soft body in free flight, all of it, is free."""
        free = joined.bodies["is_free"]
        for skin in skins:
            rows = slice(skin.first, skin.first + len(self._find(skin.slot).model))
            is_held = joined.bodies["inverse_mass"][rows] == 0.0
            free[rows] = bool(free[skin.slot] and free[rows].all() and not is_held.any())

    def part(self, store: Store, joined: Joined, skins: list[Skin]) -> None:
        """Models and surfaces take what the solver made of them."""
        cluster = 0
        for skin in skins:
            each = self._find(skin.slot)
            rows = joined.bodies[skin.first : skin.first + len(each.model)]
            each.model.position, each.model.velocity = rows["position"], rows["velocity"]
            if isinstance(each.model, ShapeMatching):
                count = len(each.model._turns)
                each.model._turns = joined.tissues.turns[cluster : cluster + count].copy()
                cluster += count
            _put(store, each)

    def rest(self, asleep: NDArray[np.bool_]) -> None:
        """Those that sleep do not move."""
        for each in self._all:
            if asleep[each.slot] and each.model.velocity.any():
                each.model.velocity = np.zeros((len(each.model), 3))
            each.seen = each.look()

    def find_held(self) -> Integers:
        """Slots of those that have a fixed particle."""
        return np.array([each.slot for each in self._all if len(each.model.fixed)], np.int64)

    def surface_of(self, shape: Shape) -> Mesh:
        """The mesh of a shape, made once."""
        if id(shape) not in self._surfaces:
            self._surfaces[id(shape)] = (shape, shape.surface())
        return self._surfaces[id(shape)][1]

    def find_pulled(self, count: int) -> NDArray[np.bool_]:
        """(count,) those that the gravity or a force of their model acts on."""
        pulled = np.zeros(count, np.bool_)
        for each in self._all:
            pulled[each.slot] = bool(each.model._outer_acceleration().any())
        return pulled

    def _find(self, slot: int) -> SoftBody:
        return next(each for each in self._all if each.slot == slot)


def elastic_model(newcomers: Newcomers) -> ParticleModel | None:
    """The model of bodies that are soft and move, else None."""
    shape = newcomers.parts[0][0]
    is_moved = isinstance(shape, Soft) and newcomers.options.kind == DYNAMIC
    return shape.model if is_moved and isinstance(shape, Soft) else None


def find_center(model: ParticleModel) -> Floats:
    """(3,) the center of mass."""
    return (model.mass[:, np.newaxis] * model.position).sum(axis=0) / model.mass.sum()


def weave(models: Iterable[ParticleModel]) -> Tissues:
    """What acts within models, one behind the other."""
    models = list(models)
    total = sum(map(len, models))
    if not total:
        return no_tissues()
    starts = np.cumsum([0, *map(len, models)])
    springs, clusters = [np.empty((0, 2), np.int64)], [np.zeros(1, np.int64)]
    constants, members, weight, local, turns = (
        [np.empty((0, 3))], [np.empty(0, np.int64)], [np.empty(0)], [np.empty((0, 3))], [np.empty((0, 3, 3))],
    )  # fmt: skip
    stiffness, damping = np.zeros(total), np.zeros(total)
    for model, start in zip(models, starts, strict=False):
        own = slice(start, start + len(model))
        if isinstance(model, MassSpring):
            springs.append(model.springs + start)
            constants.append(model.constants)
        elif isinstance(model, ShapeMatching):
            before = sum(map(len, members))
            members.append(model._members + start)
            clusters.append(model._starts[1:] + before)
            weight.append(model._weight)
            local.append(model._local)
            turns.append(model._turns)
            stiffness[own], damping[own] = model.stiffness, model.damping
    named = np.concatenate(members)
    counts = np.bincount(named, minlength=total)
    rooms = np.empty((3, total, 3))
    return Tissues(
        np.concatenate(springs),
        np.concatenate(constants),
        named,
        np.concatenate(clusters),
        np.concatenate(weight),
        np.concatenate(local),
        np.concatenate(turns),
        np.argsort(named, kind="stable"),
        np.concatenate(([0], np.cumsum(counts))),
        stiffness,
        damping,
        rooms[0],
        rooms[1],
        rooms[2],
        np.empty((len(named), 3)),
    )


def _longest_step(model: ParticleModel) -> float:
    """The longest step that is stable; shape matching always is."""
    return model.longest_step if isinstance(model, MassSpring) else math.inf


def _are_same(before: tuple[object, ...], now: tuple[object, ...]) -> bool:
    """Whether these are the same objects: states are replaced, never written into."""
    return len(before) == len(now) and all(a is b for a, b in zip(before, now, strict=True))


def _put(store: Store, each: SoftBody) -> None:
    """The surface where the particles are, and the slot with their velocity."""
    model, slot = each.model, each.slot
    far = ~(np.abs(model.position).max(axis=1) <= MOST_SCALE)
    if far.any():
        raise InvalidInput("model", f"is more than {MOST_SCALE:g} from the origin", int(np.argmax(far)))
    if each.put is not model.position:
        each.shape.body.update(each.vertices)
        store.version[slot] = each.shape.body._version
        each.put = model.position
    store.moves += 1
    velocity = (model.mass[:, np.newaxis] * model.velocity).sum(axis=0) / model.mass.sum()
    store.velocity[slot] = velocity
    store.ripple[slot] = np.linalg.norm(model.velocity - velocity, axis=1).max()
    store.radius[slot] = np.linalg.norm(each.vertices, axis=1).max()


def find_particles(skins: list[Skin], slot: int) -> int | None:
    """The row of the first particle of a soft body that is awake."""
    return next((skin.first for skin in skins if skin.slot == slot), None)
