"""`World.step`, from top to bottom: wake, find contacts, prepare, solve, stop what would pass through, limit energy, put to sleep, remember.

Contacts are found with a margin of some slop and of what the bodies can move in the step, so that the solver sees them before they overlap. What
sleeps (`sleeping`) is not moved, and not looked at, until something touches it that is awake, moved by the user, or new.

A step is tried, looked at, and done again where it was wrong: where a sleeper was pushed, it wakes first, for it is no wall; where a continuous
body would have passed something, less time passes for it, so that it ends before. Nothing is put back by hand: a body that moves with its own
velocity, for however long, keeps its momentum and its energy.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput
from abut.core.records import Records
from abut.impulses.sides import turn_inertias
from abut.shapes.surfaces import Soft
from abut.world.bodies.forces import bound_gains, clear_forces, find_accelerations
from abut.world.bodies.sleeping import Neighbors, Sleepers, find_tired
from abut.world.bodies.state import name_fields
from abut.world.bodies.store import Store
from abut.world.contacts.colliders import Colliders
from abut.world.contacts.memory import ContactMemory
from abut.world.contacts.points import ContactPoints, join_points, no_points
from abut.world.continuous.stops import find_stops
from abut.world.definition import MOST_SCALE
from abut.world.joints.opening import Opened, open_joints
from abut.world.joints.rows import find_stiffness
from abut.world.joints.table import Joints
from abut.world.linkages.joined import Joined
from abut.world.linkages.links import Links
from abut.world.soft.bodies import Softs
from abut.world.soft.passing import find_passing
from abut.world.soft.patches import Skin, choose_rows, find_patches, lay_patches, move_points
from abut.world.solver.blocks import Bench
from abut.world.solver.energy import NONE
from abut.world.solver.energy_limit import limit_energy
from abut.world.solver.one_contact import STIFFNESS
from abut.world.solver.opening import open_contacts, open_ledger
from abut.world.solver.preparation import prepare
from abut.world.solver.substeps import Settings, solve_step

MARGIN = 2.0  # of a body, in slops
LOOKAHEAD = 0.5
"""A body's margin for its speed is at most this part of its radius: beyond it, contacts far ahead would slow what only passes by. Continuous
linkages look as far ahead as they go, and put up with that."""
PUSH_SPEED = 400.0  # in slops per unit of time: how fast depth is undone
FADE = 0.98
"""Contacts are as stiff as the longest substep of the last steps allows: this part of its length counts a step later. Springs that grow stiff all at
once, because one step is short, would throw over what has settled on softer ones."""
SWING, PRESS, MOST_SUBSTEPS, MORE = 1.0, 0.06, 64, 1.25
"""A step has more substeps where its loads need them: so that what hangs on joints swings by no more than SWING radians in each (2 is where it would
tremble), and standing loads press the springs of the contacts of an island together by no more than PRESS of a slop in the mean. At 0.17 stacks of
fifty boxes, of ten small ones, and of a light box under a heavy one lean until they fall; at 0.1 all of them stand."""
DEEP = 4.0  # in slops
KEPT = 0.5
"""So much less may be needed before there are fewer again: changes shake what stands."""
MOST_TRIES = 8
"""Of a step. Each wakes an island more, or lets less time pass for a continuous body; after the last, half of what was safe."""
HELD_TRIES = 4
"""From then on less time passes for soft bodies, too, that would pass something: the contacts that were added did not hold them."""
SOONER = 0.25
"""With each of them a continuous body may come nearer to what it would pass, by this factor."""


class Parts(NamedTuple):
    """Of a world, what a step works on."""

    store: Store
    colliders: Colliders
    links: Links
    joints: Joints
    softs: Softs
    gravity: Floats
    slop: float


class Loads(NamedTuple):
    """Of a step, what says how fine the next one must be."""

    press: float
    """the acceleration that loads between bodies would give their contacts, in the mean of an island, the most of all islands"""
    swing_sq: float
    """square of the angular frequency of the fastest swing across the force of a joint"""


class Attempt(NamedTuple):
    """What a step would do. The world is as it was."""

    found: ContactPoints
    pairs: Integers
    """(n,2) bodies of the contacts"""
    contacts: Records
    joined: Joined
    skins: list[Skin]
    """of soft bodies that are awake"""
    opened: Opened
    borne: Floats
    """(n,) normal impulses of a substep that contacts start from"""
    awake: NDArray[np.bool_]

    @property
    def pushing(self) -> NDArray[np.bool_]:
        """(n,) contacts that pushed, even if they took back all of it."""
        return self.contacts["has_pushed"]


class Motor:
    """Moves the bodies of a world, and remembers what the next step starts from."""

    def __init__(self, substeps: int, sweeps: int, sleeping: bool) -> None:
        self.substeps, self.sweeps, self.sleeping = substeps, sweeps, sleeping
        self.least = substeps
        """What soft bodies need, if that is more."""
        self.memory, self.sleepers, self.bench = ContactMemory(), Sleepers(), Bench()
        self.pace, self.fineness, self.loads = 0.0, 0.0, Loads(0.0, 0.0)
        """The longest substep of the last steps, fading; and of the last step the length of a substep, and the loads."""
        self.more_solved = self.limited = 0
        """Work counters: contacts that were solved beyond `sweeps`, and islands whose motion was scaled down after all."""

    def step(self, world: Parts, dt: float) -> None:
        """Move the bodies of a world."""
        self._wake_changed(world)
        growth = _find_growth(world, dt)
        world.colliders.place(world.store, growth)
        self.least = max(self.substeps, world.softs.count_substeps(~world.store.asleep, dt))
        count, tries, is_known = self._count_substeps(self.loads, dt, world.slop), 0, False
        times, pace, impacts = np.ones(len(world.store.alive)), self.pace, no_points()
        while True:
            self.pace = max(dt / count, FADE * pace)
            found, pairs = self._find_contacts(world, growth, dt)
            if len(impacts.ids):
                found = join_points([found, impacts])
                pairs = world.colliders.body[found.colliders]
            attempt = self._prepare(world, found, pairs, times, dt, count)
            island = self._solve(world, attempt, dt, count)
            loads = _find_loads(attempt, island, world.slop, dt, count)
            wanted = self._count_substeps(loads, dt, world.slop)
            if not is_known and wanted > MORE * count:
                count, is_known = wanted, True
                continue
            if tries == MOST_TRIES:
                break
            safe, passing = find_passing(
                world.store,
                world.colliders,
                world.softs,
                attempt.joined,
                attempt.skins,
                attempt.found,
                world.slop,
            )
            is_passed = len(passing.ids) > 0
            impacts = join_points([impacts, passing])
            is_woken = self._wake_pushed(world, attempt)
            if not is_woken and not _stop_passing(world, attempt, times, safe, tries) and not is_passed:
                break
            tries += 1
        if (lost := _find_lost(world, attempt)) is not None:
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

    def _count_substeps(self, loads: Loads, dt: float, slop: float) -> int:
        """As many as these loads need."""
        swing = dt * loads.swing_sq**0.5 / SWING
        press = dt * (loads.press / (PRESS * slop)) ** 0.5 / (2.0 * math.pi * STIFFNESS)
        wanted = math.ceil(min(max(swing, press), MOST_SUBSTEPS))
        same = math.ceil(dt / self.fineness) if self.fineness > 0.0 else 0
        return max(self.least, same if KEPT * same <= wanted <= same else wanted)

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

    # --- find contacts

    def _find_contacts(self, world: Parts, growth: Floats, dt: float) -> tuple[ContactPoints, Integers]:
        """The contacts that the solver needs, and their bodies; what is touched, or will be as things move, wakes up first."""
        store, colliders = world.store, world.colliders
        while True:
            busy = (store.movable & ~store.asleep) | store.find_driven() | store.stirred
            found = colliders.meet(*colliders.find_near(store, growth, busy, store.movable), remember=True)
            pairs = colliders.body[found.colliders]
            if store.one_way.any():
                held = colliders.gates.find_held(store, found, pairs, world.slop, dt)
                found, pairs = found.take(held), pairs[held]
            waits = np.flatnonzero(store.asleep[pairs].any(axis=1) & busy[pairs].any(axis=1))
            near = found.separation[waits] <= world.slop + dt * _closing_speeds(store, pairs[waits], found.take(waits))
            roused = pairs[waits[near]]
            roused = np.unique(roused[store.asleep[roused]])
            if not len(roused):
                return found, np.ascontiguousarray(pairs)
            self.sleepers.wake(store, roused)
            while len(more := world.joints.find_roused(store)):
                self.sleepers.wake(store, more)

    # --- prepare

    def _prepare(
        self, world: Parts, found: ContactPoints, pairs: Integers, times: Floats, dt: float, count: int
    ) -> Attempt:
        """Bodies and contacts as the solver wants them, with the impulses of the last step."""
        store = world.store
        awake = store.movable & ~store.asleep
        joined = world.links.join(store, world.gravity, awake, dt, count * self.sweeps, world.joints.members)
        joined, skins = world.softs.extend(joined, store, awake, times)
        patches = find_patches(skins, found, pairs)
        if skins:
            kept = choose_rows(patches, found)
            found, pairs, patches = found.take(kept), pairs[kept], patches.take(kept)
            found = move_points(patches, found, joined.bodies)
        joined.moving[: len(awake)] |= store.find_gliding()
        joined.bodies["time"][: len(times)] = times
        sides, shares, together = joined.find_sides(pairs, found.point)
        if together.any():  # bones with a joint in common
            found, pairs = found.take(~together), pairs[~together]
            sides, shares, patches = sides[~together], shares[~together], patches.take(~together)
        opened = open_joints(world.joints, joined.bodies, joined.ends, joined.strings, joined.soft, awake, dt, count)
        joined.mark_free(pairs, np.concatenate((sides, opened.sides)))
        world.softs.mark_free(joined, skins)
        turn_inertias(joined.bodies)
        contacts = open_contacts(store, world.colliders, found, pairs, sides, shares)
        lay_patches(patches, contacts)
        contacts["yields"] = np.isin(pairs, world.joints.members).any(axis=1)
        support = np.zeros((len(joined.bodies), 3))
        prepare(joined.bodies, contacts, found.points, support, world.slop, _slowest_bounce(world, dt))
        self.memory.start(contacts, found, world.slop, dt / count)
        return Attempt(found, pairs, contacts, joined, skins, opened, contacts["normal_impulse"].copy(), awake)

    # --- solve

    def _solve(self, world: Parts, attempt: Attempt, dt: float, count: int) -> Integers:
        """What contacts, links and joints do to the bodies of the attempt; (n,) the islands of these."""
        bodies, alone = attempt.joined.bodies, attempt.joined.alone
        pairs = np.concatenate((attempt.pairs, world.joints.pairs))
        island, ledger = open_ledger(world.store, pairs, world.joints.members, alone, attempt.awake, len(bodies))
        fastest, slowest = PUSH_SPEED * world.slop, _slowest_bounce(world, dt)
        settings = Settings(dt, self.pace, fastest, slowest, world.slop, count, self.sweeps)
        moving = np.flatnonzero(attempt.joined.moving)
        bonds, tissues, rack = attempt.joined.bonds, attempt.joined.tissues, attempt.opened.rack
        contacts = attempt.contacts
        contacts["last_impulse"] = contacts["normal_impulse"]
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


def _find_growth(world: Parts, dt: float) -> Floats:
    """(n,) how far around each body contacts are looked for."""
    store = world.store
    speeds = store.speeds() + np.where(store.movable, bound_gains(store, world.gravity) * dt, 0.0)
    most = np.where(world.links.find_continuous(len(speeds)), np.inf, LOOKAHEAD * store.radius)
    growth = MARGIN * world.slop + np.minimum(dt * speeds, most)
    world.softs.find_growth(growth, speeds, world.slop, dt)
    return growth


def _find_loads(attempt: Attempt, island: Integers, slop: float, dt: float, count: int) -> Loads:
    """What a step of so many substeps bore. island (n,): of the bodies. What is DEEP is pushed out, and does not stand."""
    contacts, pairs = attempt.contacts, attempt.pairs
    standing = np.minimum(contacts["normal_impulse"], attempt.borne)  # an impact is over at once
    root = island[pairs].max(axis=1, initial=NONE)
    standing[contacts["separation"] < -DEEP * slop] = 0.0
    rows = np.flatnonzero((standing > 0.0) & (contacts["normal_mass"] > 0.0) & (root != NONE))
    press = np.bincount(root[rows], standing[rows] / contacts["normal_mass"][rows]) / np.maximum(
        np.bincount(root[rows]), 1
    )
    swing = find_stiffness(attempt.joined.bodies, attempt.opened.rack, dt)
    return Loads(float(press.max(initial=0.0)) * count / dt, swing)


def _find_lost(world: Parts, attempt: Attempt) -> str | None:
    """What the step would take farther than worlds reach."""
    far = ~(np.abs(attempt.joined.bodies["position"]).max(axis=1, initial=0.0) <= MOST_SCALE)
    if not far.any():
        return None
    first = int(np.argmax(far))
    is_body = first < len(world.store.alive)
    return f"body {world.store.handles(np.array([first]))[0]}" if is_body else "a particle of a linkage"


def _slowest_bounce(world: Parts, dt: float) -> float:
    """The speed of approach below which nothing bounces: what gravity makes in two steps."""
    return 2.0 * float(np.linalg.norm(world.gravity)) * dt


def _closing_speeds(store: Store, pairs: Integers, found: ContactPoints) -> Floats:
    """(n,) speeds at which points of contact come near each other; 0 where they part."""
    speeds = np.zeros((2, len(pairs), 3))
    for k in range(2):
        slots = pairs[:, k]
        arm = found.point - store.position[slots]
        speeds[k] = store.velocity[slots] + np.cross(store.angular_velocity[slots], arm)
    return np.maximum(((speeds[0] - speeds[1]) * found.normal).sum(axis=1), 0.0)


# --- stop what would pass through


def _stop_passing(world: Parts, attempt: Attempt, times: Floats, softs_safe: Floats, tries: int) -> bool:
    """Shorten the time of continuous bodies that would pass something: the step must be done again. Whether there were any."""
    store = world.store
    safe = softs_safe if tries >= HELD_TRIES else np.ones(len(times))
    if store.continuous.any():
        safe = np.minimum(safe, _find_rigid_stops(world, attempt, tries))
    if tries == MOST_TRIES - 1:
        safe = np.where(safe < 1.0, 0.5 * safe, 1.0)
    times *= safe
    return bool((safe < 1.0).any())


def _find_rigid_stops(world: Parts, attempt: Attempt, tries: int) -> Floats:
    """(n,) the part of the step after which continuous bodies come too near to something."""
    pushing = attempt.found.take(attempt.pushing)
    a, b = pushing.collider_a, pushing.collider_b
    held, after = (np.minimum(a, b) << 32) | np.maximum(a, b), name_fields(attempt.joined.states())
    return find_stops(
        world.store, world.colliders, after, world.slop, SOONER**tries, held, attempt.joined.soft & attempt.awake
    )
