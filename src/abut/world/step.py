"""`World.step`, from top to bottom: wake, find contacts, prepare, solve, stop what would pass through, limit energy, put to sleep, remember.

Contacts are found with a margin of some slop and of what the bodies can move in the step, so that the solver sees them before they overlap. What
sleeps (`sleeping`) is not moved, and not looked at, until something touches it that is awake, moved by the user, or new.

A step is tried, looked at, and done again where it was wrong: where a sleeper was pushed, it wakes first, for it is no wall; where a continuous
body would have passed something, less time passes for it, so that it ends before. Nothing is put back by hand: a body that moves with its own
velocity, for however long, keeps its momentum and its energy.
"""

import numpy as np

from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput
from abut.shapes.surfaces import Soft
from abut.world.bodies.forces import clear_forces, find_accelerations
from abut.world.bodies.sleeping import Neighbors, Sleepers, find_tired
from abut.world.bodies.store import Store
from abut.world.contacts.memory import ContactMemory
from abut.world.contacts.points import ContactPoints, join_points, no_points
from abut.world.definition import MOST_SCALE
from abut.world.phases.attempts import Attempt, Parts, prepare_attempt, slowest_bounce
from abut.world.phases.contact_search import find_contacts, find_growth
from abut.world.phases.fineness import MORE, Loads, count_substeps, find_loads
from abut.world.phases.stopping import MOST_TRIES, find_lost, stop_passing
from abut.world.soft.passing import find_passing
from abut.world.solver.blocks import Bench
from abut.world.solver.energy_limit import limit_energy
from abut.world.solver.opening import open_ledger
from abut.world.solver.substeps import Settings, solve_step

PUSH_SPEED = 400.0  # in slops per unit of time: how fast depth is undone
FADE = 0.98
"""Contacts are as stiff as the longest substep of the last steps allows: this part of its length counts a step later. Springs that grow stiff all at
once, because one step is short, would throw over what has settled on softer ones."""


class Motor:
    """Moves the bodies of a world, and remembers what the next step starts from."""

    def __init__(self, substeps: int, sweeps: int, sleeping: bool) -> None:
        self.substeps, self.sweeps, self.sleeping = substeps, sweeps, sleeping
        self.least = substeps
        """What soft bodies need, if that is more."""
        self.memory, self.sleepers, self.bench = ContactMemory(), Sleepers(), Bench()
        self.pace, self.fineness, self.loads = 0.0, 0.0, Loads(0.0, 0.0, 0.0)
        """The longest substep of the last steps, fading; and of the last step the length of a substep, and the loads."""
        self.more_solved = self.limited = 0
        """Work counters: contacts that were solved beyond `sweeps`, and islands whose motion was scaled down after all."""

    def step(self, world: Parts, dt: float) -> None:
        """Move the bodies of a world."""
        self._wake_changed(world)
        growth = find_growth(world, dt)
        world.colliders.place(world.store, growth)
        self.least = max(self.substeps, world.softs.count_substeps(~world.store.asleep, dt))
        count, tries, is_known = count_substeps(self.loads, world.slop, dt, self.least, self.fineness), 0, False
        times, pace, impacts = np.ones(len(world.store.alive)), self.pace, no_points()
        while True:
            self.pace = max(dt / count, FADE * pace)
            found, pairs = find_contacts(world, self.sleepers, growth, dt)
            if len(impacts.ids):
                found = join_points([found, impacts])
                pairs = world.colliders.body[found.colliders]
            attempt = prepare_attempt(world, self.memory, found, pairs, times, dt, count, self.sweeps)
            island = self._solve(world, attempt, dt, count)
            loads = find_loads(attempt, island, world.gravity, world.slop, dt, count)
            wanted = count_substeps(loads, world.slop, dt, self.least, self.fineness)
            if not is_known and wanted > MORE * count:
                count, is_known = wanted, True
                continue
            if tries == MOST_TRIES:
                break
            safe, passing = _find_passing(world, attempt)
            is_passed = len(passing.ids) > 0
            impacts = join_points([impacts, passing])
            is_woken = self._wake_pushed(world, attempt)
            if not is_woken and not stop_passing(world, attempt, times, safe, tries) and not is_passed:
                break
            tries += 1
        if (lost := find_lost(world, attempt)) is not None:
            self.pace = pace
            raise InvalidInput("dt", f"takes {lost} more than {MOST_SCALE:g} from the origin; nothing has moved")
        self._limit_energy(world, attempt, times, dt)
        opened = attempt.opened
        loose = world.joints.remember(opened.which, opened.joints, opened.rows, dt, count)
        self.loads, self.fineness = loads, dt / count
        world.links.part(world.store, attempt.joined, attempt.awake)
        world.softs.part(world.store, attempt.joined, attempt.skins)
        if self.sleeping:
            self._put_to_sleep(world, attempt, dt)
        self.sleepers.wake(world.store, loose)
        world.links.rest(world.store.asleep)
        world.softs.rest(world.store.asleep)
        self._remember(world, attempt, dt / count)

    # --- wake

    def wake_neighbors(self, store: Store, slots: Integers) -> None:
        """Wake bodies, and whatever they touched in the last step; forget the contacts of the bodies themselves."""
        there = np.isin(self.memory.bodies, slots).any(axis=1)
        self.sleepers.wake(store, np.union1d(slots, self.memory.bodies[there].ravel()))
        self.memory.keep(~there)

    def wake_touching(self, store: Store, slots: Integers) -> None:
        """Wake bodies, and whatever they touched in the last step; contacts are remembered."""
        there = np.isin(self.memory.bodies, slots).any(axis=1)
        self.sleepers.wake(store, np.union1d(slots, self.memory.bodies[there].ravel()))

    def rouse(self, store: Store, slots: Integers) -> None:
        """Wake bodies that are pushed, with their islands; contacts are remembered."""
        self.sleepers.wake(store, slots)

    def _wake_changed(self, world: Parts) -> None:
        """Wake linkages that somebody has changed since the last step, and what touched a deformable body that was updated."""
        store, colliders = world.store, world.colliders
        self.sleepers.wake(store, np.concatenate((world.links.find_changed(store), world.softs.find_changed(store))))
        while len(roused := world.joints.find_roused(store)):
            self.sleepers.wake(store, roused)
        for i, shape in enumerate(colliders.shapes):
            if not isinstance(shape, Soft):
                continue
            slots = colliders.body[(colliders.shape == i) & (colliders.body >= 0)]
            changed = slots[store.version[slots] != shape.body._version]
            store.version[changed], store.stirred[changed] = shape.body._version, True
            there = np.isin(self.memory.bodies, changed).any(axis=1)
            self.sleepers.wake(store, np.unique(self.memory.bodies[there]))

    def _wake_pushed(self, world: Parts, attempt: Attempt) -> bool:
        """Wake sleepers that were pushed: the step must be done again. Whether there were any."""
        pushed = np.unique(attempt.pairs[attempt.pushing])
        pushed = pushed[world.store.asleep[pushed]]
        self.sleepers.wake(world.store, pushed)
        return len(pushed) > 0

    # --- solve

    def _solve(self, world: Parts, attempt: Attempt, dt: float, count: int) -> Integers:
        """What contacts, links and joints do to the bodies of the attempt; (n,) the islands of these."""
        bodies, alone = attempt.joined.bodies, attempt.joined.alone
        pairs = np.concatenate((attempt.pairs, world.joints.pairs))
        island, ledger = open_ledger(world.store, pairs, world.joints.members, alone, attempt.awake, len(bodies))
        fastest, slowest = PUSH_SPEED * world.slop, slowest_bounce(world, dt)
        settings = Settings(dt, self.pace, fastest, slowest, world.slop, count, self.sweeps)
        moving = np.flatnonzero(attempt.joined.moving)
        bonds, tissues, rack = attempt.joined.bonds, attempt.joined.tissues, attempt.opened.rack
        contacts = attempt.contacts
        contacts["last_impulse"] = contacts["borne_impulse"] = contacts["normal_impulse"]
        blocks = self.bench.lay_out(bodies, contacts, island, len(bodies) - len(bonds.place))
        self.more_solved += solve_step(bodies, contacts, blocks, bonds, tissues, rack, moving, island, ledger, settings)
        return island

    # --- limit energy

    def _limit_energy(self, world: Parts, attempt: Attempt, times: Floats, dt: float) -> None:
        """Scale down motion that came from nowhere."""
        pushed, joined = attempt.pairs[attempt.pushing], attempt.joined
        jointed = world.joints.members
        self.limited += limit_energy(
            world.store, joined.bodies, joined.alone, pushed, jointed, world.gravity, times, dt
        )

    # --- put to sleep

    def _put_to_sleep(self, world: Parts, attempt: Attempt, dt: float) -> None:
        """What has been at rest for a while."""
        store, links, slop = world.store, world.links, world.slop
        separation, pressed = attempt.found.separation, attempt.contacts["total_normal_impulse"] > 0.0
        # What would wake a neighbor is connected with it, pressed or not; else it would wake again and again what fell asleep alone.
        touching, deep = (separation <= slop) | pressed, separation < -slop
        pairs, joints = attempt.pairs, world.joints
        # What hangs is carried as what lies on the ground is, under gravity; what a motor moves goes on.
        hung = joints.find_held(store)[: None if world.gravity.any() else 0]
        held = np.concatenate((links.find_held(), world.softs.find_held(), hung))
        driven = np.repeat(joints.find_driven()[:, np.newaxis], 2, axis=1)
        neighbors = Neighbors(
            np.concatenate((pairs[touching], joints.pairs)),
            pairs[pressed],
            np.concatenate((pairs[deep], driven)),
            links.chains,
        )
        pulled = links.find_pulled(len(store.alive)) | world.softs.find_pulled(len(store.alive))
        pulled |= find_accelerations(store, world.gravity).any(axis=1)
        self.sleepers.put_to_sleep(store, *find_tired(store, neighbors, pulled, held, slop, dt))

    # --- remember

    def _remember(self, world: Parts, attempt: Attempt, h: float) -> None:
        """The contacts with what they gave in a substep of the length h, and where the bodies are."""
        self.memory.remember(attempt.found, attempt.pairs, attempt.contacts, attempt.awake, h)
        world.store.stirred[:] = False
        clear_forces(world.store)
        world.colliders.gates.keep()
        self.memory.placements = world.store.placement.copy()


def _find_passing(world: Parts, attempt: Attempt) -> tuple[Floats, ContactPoints]:
    """(n,) the part of the step that is safe for soft bodies, and contacts of theirs that were missed."""
    joined, skins = attempt.joined, attempt.skins
    return find_passing(world.store, world.colliders, world.softs, joined, skins, attempt.found, world.slop)
