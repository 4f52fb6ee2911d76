"""`World.step`: contacts, the solver, sleeping, and what must not pass through.

Contacts are found with a margin of some slop and of what the bodies can move in the step, so that the solver sees them before they overlap. Bodies
that touch one another form an island; when all of an island has been slow for SLEEP_TIME, and it lies on something that no contact moves, it sleeps:
it is not moved, and not looked at, until something touches it that is awake, moved by the user, or new.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abut.arrays import Floats, Integers
from abut.shapes.narrow import COLLIDER_A, COLLIDER_B
from abut.shapes.solids import Soft
from abut.world.colliders import Colliders, Rows
from abut.world.continuous import stop_in_time
from abut.world.impulses import VELOCITY, turn_inertias
from abut.world.islands import find_islands
from abut.world.matching import match_impulses
from abut.world.rows import BOUNCE, FRICTION, JB, JN, JT, ROLL, SHARE_A, SHARE_B, TOTAL, WIDTH, prepare
from abut.world.solver import step_bodies
from abut.world.store import KINEMATIC, Store

if TYPE_CHECKING:
    from abut.world.world import World

MARGIN = 2.0  # of a body, in slops
REACH = 0.5
"""A body's margin for its speed is at most this part of its radius: beyond it, contacts far ahead would slow what only passes by. Continuous
linkages look as far ahead as they go, and put up with that."""
PUSH_SPEED = 400.0  # in slops a unit of time: how fast depth is undone
SLEEP_SPEED = 10.0  # in slops a unit of time
SLEEP_TIME = 0.5
FADE = 0.98
"""Contacts are as stiff as the longest of the last steps allows: this part of its length counts a step later. Springs that grow stiff all at once,
because one step is short, would throw over what has settled on softer ones."""
SAME = 10.0  # in slops: contacts of a pair that are so near from step to step are one, whatever their features
IMPULSES = [JN, JT, JB, ROLL, ROLL + 1, ROLL + 2, TOTAL]
"""What a contact hands on to the next step: forces, and last the normal impulse of the whole step."""


class Motor:
    """The solver's memory: the contacts of the last step and their impulses."""

    def __init__(self, substeps: int, sweeps: int, sleeping: bool) -> None:
        self.substeps, self.sweeps, self.sleeping = substeps, sweeps, sleeping
        self.ids = np.empty((0, 5), np.int64)
        self.bodies = np.empty((0, 2), np.int64)
        self.impulses = np.empty((0, len(IMPULSES)))
        self.points = np.empty((0, 6))
        """point and normal"""
        self.island = np.empty(0, np.int64)
        self.pace = 0.0

    def impulses_of(self, rows: Rows, slop: float) -> Floats:
        """(n,) normal impulse of the last step at these contacts."""
        return self._match(rows, slop)[:, -1]

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
        reach = np.where(links.find_continuous(len(speeds)), np.inf, REACH * store.radius)
        growth = MARGIN * slop + np.minimum(dt * speeds, reach)
        colliders.place(store, growth)
        rows, pairs = self._find(store, colliders, growth, slop)
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
        room = np.zeros((len(joined.state), 6))
        slowest = 2.0 * float(np.linalg.norm(world.gravity)) * dt
        bundles = (joined.state, joined.inverse, inertias, joined.gravity, sides, rows.numbers)
        prepare(*bundles, contacts, room, slop, slowest)
        contacts[:, FRICTION] = np.sqrt(store.friction[pairs].prod(axis=1))
        contacts[:, BOUNCE] = store.restitution[pairs].max(axis=1, initial=0.0)
        contacts[:, IMPULSES[:-1]] = self._match(rows, slop)[:, :-1] * dt
        joined.moving[: len(awake)] |= _drift(store)
        self.pace = max(dt, FADE * self.pace)
        numbers = np.array([dt, self.pace, PUSH_SPEED * slop, slowest, slop])
        before = store.state.copy() if store.continuous.any() else store.state
        step_bodies(
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
            numbers,
            self.substeps,
            self.sweeps,
        )
        links.part(store, joined, awake)
        contacts[:, IMPULSES[:-1]] /= dt  # the next step may be longer or shorter
        self._remember(rows, pairs, contacts[:, IMPULSES], awake)
        if store.continuous.any():
            stop_in_time(store, colliders, before, slop)
        if self.sleeping:
            # What would wake a neighbor is connected with it, pressed or not; else it would wake again and again what fell asleep alone.
            touching = (rows.numbers[:, 6] <= slop) | (contacts[:, TOTAL] > 0.0)
            self._rest(world, pairs[touching], pairs[rows.numbers[:, 6] < -slop], dt)
        links.rest(store.asleep)
        store.stirred[:] = False

    def _remember(self, rows: Rows, bodies: Integers, impulses: Floats, awake: NDArray[np.bool_]) -> None:
        """Keep the contacts of this step, and those of bodies that sleep."""
        self._keep(~awake[self.bodies].any(axis=1))
        self.ids = np.concatenate((self.ids, rows.ids))
        self.bodies = np.concatenate((self.bodies, bodies))
        self.impulses = np.concatenate((self.impulses, impulses))
        self.points = np.concatenate((self.points, rows.numbers[:, :6]))

    def _find(self, store: Store, colliders: Colliders, growth: Floats, slop: float) -> tuple[Rows, Integers]:
        """The contacts that the solver needs, and their bodies; what is touched wakes up first."""
        while True:
            busy = (store.movable & ~store.asleep) | _drift(store) | store.stirred
            rows = colliders.meet(*colliders.find_near(store, growth, busy, store.movable), remember=True)
            touched = colliders.body[rows.ids[:, [COLLIDER_A, COLLIDER_B]]]
            near = rows.numbers[:, 6] <= slop
            roused = touched[near & busy[touched].any(axis=1)]
            roused = np.unique(roused[store.asleep[roused]])
            if not len(roused):
                return rows, np.ascontiguousarray(touched)
            self._wake(store, roused)

    def _rest(self, world: "World", touching: Integers, deep: Integers, dt: float) -> None:
        """Let islands fall asleep whose bodies have all been slow for a while, and that lie on something, or float without any motion.

        Not where bodies are still pushed apart (`deep`): that has no velocity."""
        store, links = world._store, world._links
        awake, speeds = store.movable & ~store.asleep, store.speeds()
        store.rest_time = np.where(awake & (speeds < SLEEP_SPEED * world.slop), store.rest_time + dt, 0.0)
        root = np.empty(len(awake), np.int64)
        find_islands(np.concatenate((touching, links.chains)), awake.astype(np.int64), root)
        least, floats = np.full(len(awake), np.inf), np.ones(len(awake), np.bool_)
        np.minimum.at(least, root[awake], store.rest_time[awake])
        pulled = links.find_pulled(len(awake)) | ((store.pull != 0.0) & world.gravity.any())
        np.logical_and.at(floats, root[awake], ((speeds == 0.0) & ~pulled)[awake])
        lies = np.zeros(len(awake), np.bool_)
        lies[root[links.find_held()]] = True
        least[root[deep]] = 0.0
        # What leans on a body that somebody else is moving stays awake.
        drifting = _drift(store)
        for k in (0, 1):
            other = touching[:, 1 - k]
            least[root[touching[drifting[other], k]]] = 0.0
            lies[root[touching[~store.movable[other], k]]] = True
        tired = awake & (least[root] >= SLEEP_TIME) & (lies | floats)[root]
        self.island[tired] = root[tired]
        store.asleep[tired] = True
        store.state[tired, VELOCITY:] = 0.0


def _drift(store: Store) -> NDArray[np.bool_]:
    """(n,) bodies that the user moves."""
    return store.alive & (store.kind == KINEMATIC) & (store.state[:, VELOCITY:] != 0.0).any(axis=1)
