"""Linkages in a world: particles and bones with cylinders (Peyré 2001, §5.2.2) that collide with bodies both ways.

Each bone (or each particle) has a body that stands for it: it has the shape, the layer and the friction, and it is what others find and touch. What
moves are the particles. For a step they are rows behind those of the bodies (`join`); a contact of a bone pushes the two particles at its ends, and
the solver restores lengths and contacts in turn. After it the bodies are put where their bones came (`part`).

The bodies of a linkage sleep and wake together. One that sleeps wakes when it is touched, and when somebody sets the linkage's position,
velocity, force or gravity; while it sleeps, its bodies are obstacles like any other.
"""

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.dynamics import Linkage, ParticleModel
from abut.impulses.records import ALONE, BODY
from abut.shapes.solids import Capsule, Sphere
from abut.world.bodies.forces import load_forces
from abut.world.bodies.state import name_fields
from abut.world.bodies.store import ALL_LAYERS, Store
from abut.world.definition import IDENTITY, MOST_SCALE, read_options
from abut.world.joints.opening import Strings
from abut.world.linkages.joined import Joined, read_states, write_bodies
from abut.world.solver.link_constraints import Bonds
from abut.world.solver.tissues import no_tissues

if TYPE_CHECKING:
    from abut.world.world import World

MOST_STRINGS = 512
"""A linkage of so many links, that something is joined to, is solved for together with the joints: it carries any weight. Of a larger one, such as a
cloth, lengths are relaxed as ever."""
IN_PLACE = (1.0, 0.0, 0.0, 0.0)
"""the quaternion of what is not turned"""


@dataclass
class _Linked:
    linkage: Linkage
    slots: Integers
    ends: Integers
    """(k,2) the particles of each body; the same one twice for a ball"""
    is_continuous: bool
    seen: tuple[object, ...] = ()
    """what the last step left"""
    put: tuple[object, ...] = ()
    """where its bodies were put"""

    def look(self) -> tuple[object, ...]:
        """What a user may set."""
        return self.linkage.position, self.linkage.velocity, self.linkage.force, self.linkage.gravity

    def is_awake(self, awake: NDArray[np.bool_]) -> bool:
        return bool(awake[self.slots].any())


class Links:
    """The linkages of a world."""

    def __init__(self) -> None:
        self._all: list[_Linked] = []

    @property
    def linkages(self) -> tuple[Linkage, ...]:
        """In the order in which they came."""
        return tuple(linked.linkage for linked in self._all)

    @property
    def slots(self) -> Integers:
        """Of all bodies that stand for their parts."""
        return np.concatenate([np.empty(0, np.int64), *(linked.slots for linked in self._all)])

    @property
    def chains(self) -> Integers:
        """(c,2) pairs of bodies that connect those of each linkage."""
        each = [np.stack((linked.slots[:-1], linked.slots[1:]), axis=1) for linked in self._all]
        return np.concatenate([np.empty((0, 2), np.int64), *each])

    def find_held(self) -> Integers:
        """A body of each linkage that has a fixed particle."""
        return np.array([linked.slots[0] for linked in self._all if len(linked.linkage.fixed)], np.int64)

    def find_continuous(self, count: int) -> NDArray[np.bool_]:
        """(count,) bodies of continuous linkages."""
        found = np.zeros(count, np.bool_)
        for linked in self._all:
            found[linked.slots] = linked.is_continuous
        return found

    def find_pulled(self, count: int) -> NDArray[np.bool_]:
        """(count,) bodies of linkages that gravity or a force acts on."""
        pulled = np.zeros(count, np.bool_)
        for linked in self._all:
            pulled[linked.slots] = bool(linked.linkage._outer_acceleration().any())
        return pulled

    def find_share(self, slot: int, point: Floats) -> float:
        """Where on a bone that a body stands for the nearest point is, 0 for a particle; NaN if it stands for neither."""
        for linked in self._all:
            for row in np.flatnonzero(linked.slots == slot):
                a, b = linked.linkage.position[linked.ends[row]]
                length_sq = float((b - a) @ (b - a))
                return float(np.clip((point - a) @ (b - a) / length_sq, 0.0, 1.0)) if length_sq > 0.0 else 0.0
        return float("nan")

    def find_point(self, slot: int, share: float) -> Floats:
        """The point there; NaN if the body stands for no part of a linkage."""
        for linked in self._all:
            for row in np.flatnonzero(linked.slots == slot):
                a, b = linked.linkage.position[linked.ends[row]]
                return a + share * (b - a)
        return np.full(3, np.nan)

    def refuse(self, slots: Integers) -> None:
        """Bodies that stand for a linkage are where it is, and not put elsewhere."""
        for linked in self._all:
            if np.isin(slots, linked.slots).any():
                raise InvalidInput(
                    "handles", "names a body that stands for a part of a linkage: set the linkage's state"
                )

    def remove(self, slots: Integers) -> None:
        """Forget linkages whose bodies are removed: all of them, a part is refused."""
        kept: list[_Linked] = []
        for linked in self._all:
            named = np.isin(linked.slots, slots)
            if named.any() and not named.all():
                raise InvalidInput("handles", "names a part of a linkage: remove all its bodies, or none")
            if not named.any():
                kept.append(linked)
        self._all = kept

    def add(
        self, world: "World", linkage: object, radius: object, options: dict[str, Any], mask: int | None
    ) -> Integers:
        """See `World.link`."""
        if not isinstance(linkage, Linkage):
            raise InvalidInput("linkage", f"is {type(linkage).__name__}, not a Linkage of abut.dynamics")
        if any(linkage is other for other in self.linkages):
            raise InvalidInput("linkage", "is in this world already")
        arrays.count(options["layer"], "layer", most=ALL_LAYERS)
        body_options = {**options, "mask": ALL_LAYERS if mask is None else mask}
        rows = np.arange(len(linkage))
        ends = linkage.bones if radius is None else np.stack((rows, rows), axis=1)
        if np.abs(linkage.position).max() > MOST_SCALE:
            raise InvalidInput("linkage", f"is more than {MOST_SCALE:g} from the origin")
        if not len(ends):
            raise InvalidInput("linkage", "has no bones; with a radius, its particles collide")
        shapes = _capsules_of(linkage) if radius is None else [Sphere(arrays.positive(radius, "radius"))] * len(ends)
        is_continuous = read_options(body_options, [(shapes[0], IDENTITY)], 1).continuous
        body_options["continuous"] = False  # that is for bodies that move alone
        newcomers = [
            world._read(shape, IDENTITY[np.newaxis], body_options) for shape in shapes
        ]  # all are fit before one comes in
        slots = np.concatenate([world._take(each) for each in newcomers])
        world._store.pull[slots] = 0.0  # the linkage has its own gravity
        if mask is None:
            world._store.group[slots] = slots[0] + 1
        self._all.append(_Linked(linkage, slots, np.array(ends), is_continuous))
        _put(world._store, self._all[-1])
        return frozen(world._store.handles(slots))

    def replace(self, models: dict[int, ParticleModel]) -> None:
        """Let other linkages take the place of those with these ids, which are the same to the last number."""
        for linked in self._all:
            linked.linkage = cast("Linkage", models[id(linked.linkage)])

    def follow(self, store: Store) -> None:
        """Put bodies where their linkages are, if somebody has moved these."""
        for linked in self._all:
            if not _are_same(linked.put, linked.look()[:2]):
                _put(store, linked)

    # --- one step

    def find_changed(self, store: Store) -> Integers:
        """Bodies of linkages that somebody has changed since the last step."""
        self.follow(store)
        changed = [linked.slots for linked in self._all if not _are_same(linked.seen, linked.look())]
        return np.concatenate([np.empty(0, np.int64), *changed])

    def join(
        self, store: Store, gravity: Floats, awake: NDArray[np.bool_], dt: float, rounds: int, jointed: Integers
    ) -> Joined:
        """Bodies and particles. rounds: how often in a step the solver visits the links. jointed: bodies with a joint."""
        active = [linked for linked in self._all if linked.is_awake(awake)]
        own = [linked.linkage for linked in active]
        held = [len(x.linkage._links) <= MOST_STRINGS and bool(np.isin(x.slots, jointed).any()) for x in active]
        free = [linkage for linkage, is_held in zip(own, held, strict=True) if not is_held]
        counts = np.array([(len(x), 0 if h else len(x._links)) for x, h in zip(own, held, strict=True)], np.int64)
        counts = counts.reshape(-1, 2)
        stops = counts.cumsum(axis=0)
        starts, first = stops - counts, len(store.alive)
        total = int(counts[:, 0].sum())
        moving, ends = np.ones(first + total, np.bool_), np.full((first, 2), ALONE)
        moving[:first] = awake
        bodies = np.zeros(first + total, BODY)
        bodies["quaternion"][first:], bodies["time"] = IN_PLACE, 1.0
        here = bodies[:first]
        write_bodies(here, name_fields(store.state), store.inverse, store.inertia, awake)
        load_forces(here, store, gravity, awake)
        for linked, start, stop in zip(active, starts[:, 0], stops[:, 0], strict=True):
            linkage, particles = linked.linkage, bodies[first + start : first + stop]
            ends[linked.slots] = first + start + linked.ends
            moving[linked.slots] = False
            here["inverse_mass"][linked.slots], here["own_inverse_inertia"][linked.slots] = 0.0, 0.0
            particles["position"] = linkage.position
            particles["velocity"] = max(0.0, 1.0 - linkage.drag * dt) * linkage.velocity
            particles["inverse_mass"], particles["acceleration"] = linkage.inverse_mass, linkage._outer_acceleration()
        if not active:
            bonds, strings = _join_none()
            return Joined(bodies, moving, ends, bonds, np.zeros(first, np.bool_), no_tissues(), strings)
        sweeps = np.array([-(-linkage.sweeps // rounds) for linkage in own], np.int64)
        bonds = Bonds(
            np.column_stack((starts[:, 0], stops[:, 0], starts[:, 1], stops[:, 1], sweeps)),
            np.concatenate([np.empty((0, 2), np.int64), *(linkage._links for linkage in free)]),
            np.concatenate([np.empty(0), *(linkage._low for linkage in free)]),
            np.concatenate([np.empty(0), *(linkage._high for linkage in free)]),
            np.ascontiguousarray(bodies["inverse_mass"][first:]),
            np.array([linkage.tolerance for linkage in own], np.float64),
            np.empty((total, 3)),
            np.empty(int(counts[:, 1].sum())),
            np.empty(int(counts[:, 1].sum())),
        )
        taut = [(x, first + start) for x, start, h in zip(own, starts[:, 0], held, strict=True) if h]
        strings = Strings(
            np.concatenate([np.empty((0, 2), np.int64), *(start + linkage._links for linkage, start in taut)]),
            np.concatenate([np.empty(0), *(linkage._low for linkage, _ in taut)]),
            np.concatenate([np.empty(0), *(linkage._high for linkage, _ in taut)]),
        )
        return Joined(bodies, moving, ends, bonds, np.zeros(first, np.bool_), no_tissues(), strings)

    def part(self, store: Store, joined: Joined, awake: NDArray[np.bool_]) -> None:
        """Bodies and linkages take what the solver made of them."""
        first = len(store.alive)
        read_states(joined.bodies, name_fields(store.state))
        active = [linked for linked in self._all if linked.is_awake(awake)]
        for linked, span in zip(active, joined.bonds.spans, strict=True):
            particles = joined.bodies[first + span[0] : first + span[1]]
            linked.linkage.position = particles["position"]
            linked.linkage.velocity = particles["velocity"]
            linked.linkage.violation = _worst_of(linked.linkage)
            _put(store, linked)

    def rest(self, asleep: NDArray[np.bool_]) -> None:
        """Linkages whose bodies sleep do not move."""
        for linked in self._all:
            if asleep[linked.slots].all():
                linked.linkage.velocity = np.zeros((len(linked.linkage), 3))
            linked.seen = linked.look()


@functools.cache
def _join_none() -> tuple[Bonds, Strings]:
    """Of no linkage: nothing is written to what has no rows."""
    pairs, numbers = np.empty((0, 2), np.int64), np.empty(0)
    bonds = Bonds(
        np.empty((0, 5), np.int64), pairs, numbers, numbers, numbers, numbers, np.empty((0, 3)), numbers, numbers
    )
    return bonds, Strings(pairs, numbers, numbers)


def _worst_of(linkage: Linkage) -> float:
    """How far off the worst link is, as a part of the length it should have."""
    length = np.linalg.norm(np.subtract(*linkage.position[linkage._links.T]), axis=1)
    goal = np.clip(length, linkage._low, linkage._high)
    return float(
        np.divide(np.abs(goal - length), np.maximum(goal, length), out=length, where=goal != length).max(
            initial=0.0, where=goal != length
        )
    )


def _are_same(before: tuple[object, ...], now: tuple[object, ...]) -> bool:
    """Whether these are the same objects: states are replaced, never written into."""
    return len(before) == len(now) and all(a is b for a, b in zip(before, now, strict=True))


def _capsules_of(linkage: Linkage) -> list[Capsule]:
    for name, value in (("radius", linkage.radius), ("length", linkage.length)):
        if not (value > 0.0).all():
            row = int(np.argmin(value > 0.0))
            raise InvalidInput("linkage", f"has a bone of {name} 0; with a radius, its particles collide instead", row)
    return [Capsule(float(thick), float(long)) for thick, long in zip(linkage.radius, linkage.length, strict=True)]


def _put(store: Store, linked: _Linked) -> None:
    """Bodies where their particles are, moving with them."""
    far = np.abs(linked.linkage.position).max(axis=1) > MOST_SCALE
    if far.any():
        raise InvalidInput("linkage", f"is more than {MOST_SCALE:g} from the origin", int(np.argmax(far)))
    linked.put = linked.look()[:2]
    store.moves += 1
    (a, b), (v_a, v_b) = (
        np.moveaxis(each[linked.ends], 1, 0) for each in (linked.linkage.position, linked.linkage.velocity)
    )
    store.position[linked.slots] = 0.5 * (a + b)
    store.velocity[linked.slots] = 0.5 * (v_a + v_b)
    along = b - a
    length = (along**2).sum(axis=1, keepdims=True)
    turning = np.cross(along, v_b - v_a)
    store.angular_velocity[linked.slots] = np.divide(turning, length, out=np.zeros_like(turning), where=length > 0.0)
    if (linked.ends[:, 0] != linked.ends[:, 1]).all():
        store.quaternion[linked.slots] = _turn_z_to(_unit(along))


def _unit(v: Floats) -> Floats:
    length = np.linalg.norm(v, axis=1, keepdims=True)
    return np.divide(v, length, out=np.tile([0.0, 0.0, 1.0], (len(v), 1)), where=length > 0.0)


def _turn_z_to(u: Floats) -> Floats:
    """(n,4) quaternions that turn z to unit vectors, through the smaller angle; half a turn about x for −z."""
    w = 1.0 + u[:, 2]
    q = np.stack((w, -u[:, 1], u[:, 0], np.zeros(len(u))), axis=1)
    q[w < 1e-12] = (0.0, 1.0, 0.0, 0.0)
    return q / np.linalg.norm(q, axis=1, keepdims=True)
