"""`World.step`: contacts, the solver, sleeping, and what must not pass through.

Contacts are found with a margin of some slop and of what the bodies can move in the step, so that the solver sees them before they overlap. What
sleeps (`sleeping`) is not moved, and not looked at, until something touches it that is awake, moved by the user, or new.

A step is tried, looked at, and done again where it was wrong: where a sleeper was pushed, it wakes first, for it is no wall; where a continuous
body would have passed something, less time passes for it, so that it ends before. Nothing is put back by hand: a body that moves with its own
velocity, for however long, keeps its momentum and its energy.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.shapes.narrow_phase import COLLIDER_A, COLLIDER_B
from abut.shapes.pool import KIND, SURFACE, V0, V1
from abut.shapes.surfaces import Soft
from abut.world.bodies import Store
from abut.world.body_rows import ALONE, POSITION, SPIN, TURN, VELOCITY, turn_inertias
from abut.world.colliders import Colliders, Rows
from abut.world.contact_rows import (
    BOUNCE,
    FRICTION,
    JB,
    JN,
    JT,
    MIDDLE_A,
    MIDDLE_B,
    RADIUS_A,
    RADIUS_B,
    REACH,
    ROLL,
    SHARE_A,
    SHARE_B,
    TOTAL,
    TOUCHED,
    WIDTH,
    prepare,
)
from abut.world.continuous import find_stops
from abut.world.energy import limit_energy, open_ledger
from abut.world.linkages import Joined
from abut.world.sleeping import find_tired
from abut.world.solver import step_bodies
from abut.world.warm_start import match_impulses

if TYPE_CHECKING:
    from abut.world.world import World

MARGIN = 2.0  # of a body, in slops
LOOKAHEAD = 0.5
"""A body's margin for its speed is at most this part of its radius: beyond it, contacts far ahead would slow what only passes by. Continuous
linkages look as far ahead as they go, and put up with that."""
PUSH_SPEED = 400.0  # in slops a unit of time: how fast depth is undone
FADE = 0.98
"""Contacts are as stiff as the longest of the last steps allows: this part of its length counts a step later. Springs that grow stiff all at once,
because one step is short, would throw over what has settled on softer ones."""
SAME = 10.0  # in slops: contacts of a pair that are so near from step to step are one, whatever their features
IMPULSES = [JN, JT, JB, ROLL, ROLL + 1, ROLL + 2, TOTAL]
"""What a contact hands on to the next step: forces, and last the normal impulse of the whole step."""
MOST_TRIES = 8
"""Of a step. Each wakes an island more, or lets less time pass for a continuous body; after the last, half of what was safe."""


class Attempt(NamedTuple):
    """What a step would do. The world is as it was."""

    rows: Rows
    pairs: Integers
    """(n,2) bodies of the contacts"""
    contacts: Floats
    joined: Joined
    awake: NDArray[np.bool_]

    def find_after(self) -> Floats:
        """States of the bodies; those that stand for a linkage are moved, not turned."""
        ends = self.joined.ends
        after = self.joined.state[: len(ends)].copy()
        standing = ends[:, 0] != ALONE
        after[standing, POSITION:TURN] = self.joined.state[ends[standing], POSITION:TURN].mean(axis=1)
        return after


class Motor:
    """The solver's memory: the contacts of the last step and their impulses."""

    def __init__(self, substeps: int, sweeps: int, sleeping: bool) -> None:
        self.substeps, self.sweeps, self.sleeping = substeps, sweeps, sleeping
        self.ids = np.empty((0, 5), np.int64)
        self.bodies = np.empty((0, 2), np.int64)
        self.impulses = np.empty((0, len(IMPULSES)))
        self.points = np.empty((0, 6))
        """point and normal"""
        self.places = np.empty((0, VELOCITY))
        """where the step left the bodies"""
        self.island = np.empty(0, np.int64)
        self.pace = 0.0
        self.more_solved = self.limited = 0
        """Work counters: contacts that were solved beyond `sweeps`, and islands whose motion was scaled down after all."""

    def impulses_of(self, rows: Rows, slop: float) -> Floats:
        """(n,) normal impulse of the last step at these contacts."""
        return self._match(rows, slop)[:, -1]

    def add_pushed(self, store: Store, rows: Rows) -> Rows:
        """Contacts, and behind them those that pushed in the last step, of colliders that have none now: they bounced within it."""
        keys, old = ((ids[:, COLLIDER_A] << 32) | ids[:, COLLIDER_B] for ids in (rows.ids, self.ids))
        gone = (self.impulses[:, -1] > 0.0) & ~np.isin(old, keys)
        stays = (store.state[: len(self.places), :VELOCITY] == self.places).all(
            axis=1
        )  # nobody has put it elsewhere since
        gone &= stays[self.bodies].all(axis=1)
        if not gone.any():
            return rows
        numbers = np.column_stack((self.points[gone], np.zeros(int(gone.sum()))))
        return Rows(np.concatenate((rows.numbers, numbers)), np.concatenate((rows.ids, self.ids[gone])))

    def _match(self, rows: Rows, slop: float) -> Floats:
        found = np.zeros((len(rows.ids), len(IMPULSES)))
        table = np.empty(1 << (2 * max(len(self.ids), 1)).bit_length(), np.int64)
        owner = np.empty(len(rows.ids), np.int64)
        match_impulses(self.ids, self.points, self.impulses, rows.ids, rows.numbers, found, table, owner, SAME * slop)
        return found

    # --- waking

    def wake_neighbors(self, store: Store, colliders: Colliders, slots: Integers) -> None:
        """Wake bodies, and whatever they touched in the last step; forget the contacts of the bodies themselves."""
        there = np.isin(self.bodies, slots).any(axis=1)
        self._wake(store, np.union1d(slots, self.bodies[there].ravel()))
        self._keep(~there)

    def _keep(self, kept: Any) -> None:
        self.ids, self.bodies = self.ids[kept], self.bodies[kept]
        self.impulses, self.points = self.impulses[kept], self.points[kept]

    def _wake(self, store: Store, slots: Integers) -> None:
        """Wake bodies and all of their islands."""
        self._grow(len(store.alive))
        asleep = slots[store.asleep[slots]]
        woken = store.asleep & np.isin(self.island, self.island[asleep])
        woken[slots] = True
        store.asleep[woken], store.rest_time[woken] = False, 0.0

    def _notice_deformed(self, store: Store, colliders: Colliders) -> None:
        """Wake what touched a deformable body that was updated since the last step."""
        for i, shape in enumerate(colliders.shapes):
            if not isinstance(shape, Soft):
                continue
            slots = colliders.body[(colliders.shape == i) & (colliders.body >= 0)]
            changed = slots[store.version[slots] != shape.body._version]
            store.version[changed], store.stirred[changed] = shape.body._version, True
            there = np.isin(self.bodies, changed).any(axis=1)
            self._wake(store, np.unique(self.bodies[there]))

    def _grow(self, size: int) -> None:
        if len(self.island) < size:
            self.island = np.concatenate((self.island, np.arange(len(self.island), size)))

    # --- one step

    def step(self, world: "World", dt: float) -> None:
        """Move the bodies of a world."""
        store, colliders, links, slop = world._store, world._colliders, world._links, world.slop
        self._grow(len(store.alive))
        self._wake(store, links.find_changed(store))
        self._notice_deformed(store, colliders)
        speeds = store.speeds() + np.where(store.movable, np.linalg.norm(world.gravity) * dt, 0.0)
        reach = np.where(links.find_continuous(len(speeds)), np.inf, LOOKAHEAD * store.radius)
        growth = MARGIN * slop + np.minimum(dt * speeds, reach)
        colliders.place(store, growth)
        self.pace = max(dt, FADE * self.pace)
        paces = np.ones(len(speeds))
        attempt = self._attempt(world, growth, paces, dt)
        for number in range(MOST_TRIES):
            if not self._correct(world, attempt, paces, number):
                break
            attempt = self._attempt(world, growth, paces, dt)
        joined, contacts, rows, pairs = attempt.joined, attempt.contacts, attempt.rows, attempt.pairs
        pressed = contacts[:, TOTAL] > 0.0
        alone = joined.ends[:, 0] == ALONE
        self.limited += limit_energy(
            store, joined.state, alone, pairs[contacts[:, TOUCHED] > 0.0], world.gravity, paces
        )
        links.part(store, joined, attempt.awake)
        contacts[:, IMPULSES[:-1]] /= dt  # the next step may be longer or shorter
        self._remember(rows, pairs, contacts[:, IMPULSES], attempt.awake)
        if self.sleeping:
            # What would wake a neighbor is connected with it, pressed or not; else it would wake again and again what fell asleep alone.
            touching = (rows.numbers[:, 6] <= slop) | pressed
            deep = rows.numbers[:, 6] < -slop
            tired, root = find_tired(world, pairs[touching], pairs[pressed], pairs[deep], dt)
            self.island[tired] = root[tired]
            store.asleep[tired] = True
            store.state[tired, VELOCITY:] = 0.0
        links.rest(store.asleep)
        store.stirred[:] = False
        self.places = store.state[:, :VELOCITY].copy()

    def _attempt(self, world: "World", growth: Floats, paces: Floats, dt: float) -> Attempt:
        """Contacts, and what they do to the bodies; the world stays as it is, but for what wakes up."""
        store, colliders, links, slop = world._store, world._colliders, world._links, world.slop
        rows, pairs = self._find(store, colliders, growth, slop, dt)
        awake = store.movable & ~store.asleep
        joined = links.join(store, world.gravity, awake, dt, self.substeps * self.sweeps)
        sides, shares, together = joined.find_sides(pairs, rows.numbers[:, :3])
        if together.any():  # bones with a joint in common
            rows, pairs = Rows(rows.numbers[~together], rows.ids[~together]), pairs[~together]
            sides, shares = sides[~together], shares[~together]
        inertias = np.empty((len(joined.state), 9))
        turn_inertias(joined.state, joined.inverse, inertias)
        contacts = np.zeros((len(pairs), WIDTH))
        contacts[:, [SHARE_A, SHARE_B]] = shares
        contacts[:, REACH] = np.sqrt(store.rolling[pairs].prod(axis=1))
        contacts[:, FRICTION] = np.sqrt(store.friction[pairs].prod(axis=1))
        contacts[:, BOUNCE] = store.restitution[pairs].max(axis=1, initial=0.0)
        _mark_balls(colliders, rows, contacts)
        room = np.zeros((len(joined.state), 6))
        slowest = 2.0 * float(np.linalg.norm(world.gravity)) * dt
        bundles = (joined.state, joined.inverse, inertias, joined.gravity, sides, rows.numbers)
        prepare(*bundles, contacts, room, slop, slowest)
        contacts[:, IMPULSES[:-1]] = self._match(rows, slop)[:, :-1] * dt
        joined.moving[: len(awake)] |= store.find_driven()
        numbers = np.array([dt, self.pace, PUSH_SPEED * slop, slowest, slop])
        times = np.ones(len(joined.state))
        times[: len(paces)] = paces
        alone = joined.ends[:, 0] == ALONE
        island, ledger = open_ledger(store, pairs, alone, awake, len(joined.state))
        self.more_solved += step_bodies(
            joined.state,
            joined.inverse,
            joined.inertia,
            inertias,
            joined.gravity,
            np.flatnonzero(joined.moving),
            np.zeros((len(joined.state), 6)),
            joined.find_free(pairs, sides),
            sides,
            contacts,
            joined.bonds,
            times,
            island,
            ledger,
            numbers,
            self.substeps,
            self.sweeps,
        )
        return Attempt(rows, pairs, contacts, joined, awake)

    def _correct(self, world: "World", attempt: Attempt, paces: Floats, number: int) -> bool:
        """Whether the step must be done again: wakes sleepers that were pushed, and shortens the time of bodies that would pass something."""
        store = world._store
        pushed = np.unique(attempt.pairs[attempt.contacts[:, TOUCHED] > 0.0])
        pushed = pushed[store.asleep[pushed]]
        self._wake(store, pushed)
        if len(pushed) or not store.continuous.any():
            return len(pushed) > 0
        ids = attempt.rows.ids[attempt.contacts[:, TOUCHED] > 0.0][:, [COLLIDER_A, COLLIDER_B]]
        held = (ids.min(axis=1) << 32) | ids.max(axis=1)
        times = find_stops(store, world._colliders, attempt.find_after(), world.slop, 0.25**number, held)
        if number == MOST_TRIES - 1:
            times = np.where(times < 1.0, 0.5 * times, 1.0)
        paces *= times
        return bool((times < 1.0).any())

    def _remember(self, rows: Rows, bodies: Integers, impulses: Floats, awake: NDArray[np.bool_]) -> None:
        """Keep the contacts of this step, and those of bodies that sleep."""
        self._keep(~awake[self.bodies].any(axis=1))
        self.ids = np.concatenate((self.ids, rows.ids))
        self.bodies = np.concatenate((self.bodies, bodies))
        self.impulses = np.concatenate((self.impulses, impulses))
        self.points = np.concatenate((self.points, rows.numbers[:, :6]))

    def _find(
        self, store: Store, colliders: Colliders, growth: Floats, slop: float, dt: float
    ) -> tuple[Rows, Integers]:
        """The contacts that the solver needs, and their bodies; what is touched, or will be as things move, wakes up first."""
        while True:
            busy = (store.movable & ~store.asleep) | store.find_driven() | store.stirred
            rows = colliders.meet(*colliders.find_near(store, growth, busy, store.movable), remember=True)
            touched = colliders.body[rows.ids[:, [COLLIDER_A, COLLIDER_B]]]
            waits = np.flatnonzero(store.asleep[touched].any(axis=1) & busy[touched].any(axis=1))
            near = rows.numbers[waits, 6] <= slop + dt * _closing(store, touched[waits], rows.numbers[waits])
            roused = touched[waits[near]]
            roused = np.unique(roused[store.asleep[roused]])
            if not len(roused):
                return rows, np.ascontiguousarray(touched)
            self._wake(store, roused)


def _closing(store: Store, bodies: Integers, found: Floats) -> Floats:
    """(n,) speeds at which points of contact come near each other; 0 where they part."""
    speeds = np.zeros((2, len(bodies), 3))
    for k in range(2):
        state = store.state[bodies[:, k]]
        arm = found[:, :3] - state[:, POSITION:TURN]
        speeds[k] = state[:, VELOCITY:SPIN] + np.cross(state[:, SPIN:], arm)
    return np.maximum(((speeds[0] - speeds[1]) * found[:, 3:6]).sum(axis=1), 0.0)


def _mark_balls(colliders: Colliders, rows: Rows, contacts: Floats) -> None:
    """Radii and centers of balls, where a side is one."""
    cores = colliders.pool.cores
    for column, radius, middle in ((COLLIDER_A, RADIUS_A, MIDDLE_A), (COLLIDER_B, RADIUS_B, MIDDLE_B)):
        number = rows.ids[:, column]
        shape = colliders.shape[number] + 1
        table = cores.table[shape]
        is_ball = (table[:, KIND] != SURFACE) & (table[:, V1] - table[:, V0] == 1)
        contacts[:, radius] = np.where(is_ball, cores.radius[shape], 0.0)
        contacts[:, middle : middle + 3] = colliders.poses[number, 9:]
