"""One sub-step of an animation: from where bodies are to where the first of them meet (Rivera 2002, figure 2), or to the end of the step.

Places that touch and close bounce, all of a moment together (`impulses.bounce`). Then forces act throughout the sub-step (`impulses.press`) and
every body moves on a parabola, up to the first time at which a pair meets that did not touch (`impact_search`: never late, whatever the speeds).
Bodies that touch already and get in each other's way as they roll are moved by a share of their paths, which is proven clear all along, in the last
resort by nothing.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from abut.contours.meet.all_pairs import find_pairs
from abut.contours.motion.bodies import Bodies, group_bodies
from abut.contours.motion.drift import frames_of, motions_of, path_of, velocity_after
from abut.contours.motion.impulse_solver import recall
from abut.contours.motion.impulses import bounce, calm, opening, press
from abut.contours.motion.near_places import Places
from abut.contours.motion.outlines import Outlines
from abut.contours.motion.steps import Impacts
from abut.core.arrays import Floats, Integers

SETTLED, SETTLED_FAST = 1e-4, 1e-7
"""Velocities are resolved to this part of what gravity gives in a step, plus that part of the fastest."""
SPACING = 0.05
"""Of two places of a pair within this part of the least width the nearer is enough."""
PUSHED, PUSH = 0.25, 0.25
"""A pair that kept its bodies from moving, for want of room to roll, opens to this part of the skin, by that part of what is missing in a step."""
RECALLED = 0.05
"""Impulses are guessed from those of a place within this part of the least width."""
HALVINGS = 8
"""A share of a step below 2⁻⁸ is none."""
ARRIVAL = 0.25
"""Bodies that meet are brought together to within this part of the skin, beyond `clear`: there they touch."""
SOON = 1.0 / 16.0
"""A pair that touches and would meet sooner than this part of the sub-step is held back by a share of its motion, not by a shorter sub-step."""
WITHIN = 0.5
"""Bodies that move by a share of their paths stay further apart than this part of `clear` on the way, and than `clear` at the end."""


@dataclass(frozen=True)
class Substep:
    """What happened in one."""

    length: float
    touching: int
    sweeps: int
    held_back: bool
    impacts: Impacts


@dataclass
class Movement:
    """Bodies in motion: their outlines, what impulses act on, where they are, and what is known from the sub-step before."""

    outlines: Outlines
    world: Bodies
    position: Floats
    angle: Floats
    velocity: Floats
    skin: float
    clear: float
    last_bodies: Integers
    last: Floats
    """(k,4) points and impulses of the sub-step before"""
    last_length: float
    stuck: Integers

    @property
    def rows(self) -> Floats:
        """(m,4) poses of the contours' coordinates."""
        return self.outlines.rows(self.position, self.angle)

    @property
    def place(self) -> Floats:
        """(m,3) positions and angles."""
        return np.column_stack([self.position, self.angle])

    def blocked(self, pairs: Integers, rows: Floats) -> Integers:
        """(p,) 1 for pairs that are nearer than `clear`, overlap or hold one another."""
        return self.outlines.blocked(pairs, rows, self.clear)

    def advance(self, h: float, slow: Floats, down: Floats) -> Substep:
        """One sub-step, of length h at most; slow (m,): bodies that close slower come to rest; down: which way a pile stands."""
        world, outlines, held = self.world, self.outlines, self.world.held
        rows, falls = self.rows, world.falls
        speeds = outlines.speeds(self.velocity)
        reach = self.skin + 2.0 * h * float((speeds + h * falls).max(initial=0.0))
        pairs = find_pairs(outlines.tables, rows, reach)
        pairs = pairs[~(held[pairs[:, 0]] & held[pairs[:, 1]])]
        group, loose = group_bodies(held, pairs)
        moving = held & (self.velocity != 0.0).any(axis=1)
        driven = np.zeros(len(held), np.bool_)
        driven[group[pairs[moving[pairs].any(axis=1)]]] = True
        self.world = world = replace(world, driven=driven)
        # Places further away than this close slower than bodies that come to rest do, or are met on the way.
        near = self.skin + 2.0 * h * float((slow + h * falls).max(initial=0.0))
        places, owner = outlines.places(rows, pairs, min(near, reach), SPACING * outlines.width, down)
        slow = slow[places.bodies].max(axis=1)
        touching = places.distance <= self.skin
        settled = SETTLED * h * float(falls.max(initial=0.0)) + SETTLED_FAST * float(
            np.abs(self.velocity).max(initial=0.0)
        )
        hit = places.take(touching)
        velocity, sweeps = bounce(world, self.velocity, self.position, hit, slow[touching], settled, group)
        impacts = self._impacts(hit, velocity, slow[touching])
        before = world.energies(velocity, self.place, group)[0]
        fast = ~touching & (opening(velocity + h * world.pull, self.position, places)[0] < -slow)
        free = (loose & ~held)[:, np.newaxis]
        new = np.ones(len(pairs), np.bool_)
        new[owner[touching]] = False
        new[owner[fast]] = True

        def forced(span: float, *, guess: bool) -> tuple[Floats, Floats]:
            nonlocal sweeps
            after, more = self._press(velocity, places.take(~fast), span, settled, guess=guess, loose=loose)
            sweeps += more
            # In a loose group impulses act at once, at the places where they are: so angular momentum is kept.
            return np.where(free, after - span * world.pull, velocity), after

        gap = np.full(len(pairs), min(near, reach))
        np.minimum.at(gap, owner, places.distance)
        first, after = forced(h, guess=True)
        span = self._trace(first, after, h, pairs, gap, new)
        if span < h:
            first, after = forced(span, guess=False)
        held_back = self._move(first, after, pairs, gap, span, before, group, loose)
        return Substep(span, int(touching.sum()), sweeps, held_back, impacts)

    def _impacts(self, places: Places, after: Floats, slow: Floats) -> Impacts:
        """The impacts among places that touch: those that closed faster than bodies that come to rest do."""
        if after is self.velocity:
            places = places.take(np.zeros(0, np.int64))
            slow = slow[:0]
        rate, _ = opening(self.velocity, self.position, places)
        parting, _ = opening(after, self.position, places)
        fastest = float(np.abs(self.velocity).max(initial=0.0))
        struck = rate < -np.maximum(slow, SETTLED_FAST * fastest)
        return 0.0, places.bodies[struck], places.point[struck], places.normal[struck], -rate[struck], parting[struck]

    def _press(
        self,
        velocity: Floats,
        places: Places,
        h: float,
        settled: float,
        *,
        guess: bool,
        loose: NDArray[np.bool_],
    ) -> tuple[Floats, int]:
        """Velocities after the forces of a sub-step, and the sweeps that took; impulses begin from those of the sub-step before and are kept for the
        next."""
        bodies = places.bodies
        impulse, at_once = np.zeros((len(bodies), 2)), loose[bodies].all(axis=1)
        paired = np.lexsort((bodies[:, 1], bodies[:, 0]))
        if guess:
            recalled, near = np.zeros((len(bodies), 2)), RECALLED * self.outlines.width
            recall(bodies[paired], places.point_a[paired], self.last_bodies, self.last, near, recalled)
            impulse[paired] = recalled * (h / self.last_length)
            impulse[at_once] = 0.0
        room = np.maximum(places.distance - 0.5 * self.skin, 0.0)
        rate, _ = opening(velocity, self.position, places)
        least = np.where(at_once, -room / h, -np.maximum(rate, 0.0) - 2.0 * room / h)
        stuck = np.isin(bodies @ (len(velocity), 1), self.stuck) & (places.distance < PUSHED * self.skin)
        least[stuck] = PUSH * (PUSHED * self.skin - places.distance[stuck]) / h
        after, sweeps = press(self.world, velocity, self.position, places, least, settled, h, impulse)
        self.last_bodies, self.last = bodies[paired], np.column_stack([places.point_a, impulse])[paired]
        self.last_length = h
        return after, sweeps

    def _may_meet(self, velocity: Floats, after: Floats, h: float, pairs: Integers, room: Floats) -> NDArray[np.bool_]:
        """(p,) whether the bodies of pairs are fast enough to come nearer by `room` (p,)."""
        speeds = np.maximum(self.outlines.speeds(velocity), self.outlines.speeds(after))
        return h * speeds[pairs].sum(axis=1) * (1.0 + 1e-9) >= room

    def _trace(
        self, velocity: Floats, after: Floats, h: float, pairs: Integers, gap: Floats, new: NDArray[np.bool_]
    ) -> float:
        """The length of a sub-step after which pairs that meet during it touch and are clear still: h where none does; gap (p,): least distances."""
        may_meet = self._may_meet(velocity, after, h, pairs, gap - self.clear)
        if not may_meet.any():
            return h
        count, pairs, new = len(velocity), pairs[may_meet], new[may_meet]
        path = motions_of(self.position, self.angle, velocity, after, h, np.ones(count), np.zeros((count, 6)))
        motions = self.outlines.motions(path)
        first = self.outlines.impacts(motions, pairs[new], self.clear, ARRIVAL * self.skin)
        share = min(1.0, float(first.min(initial=np.inf)))
        rest = self.outlines.impacts(motions, pairs[~new], self.clear, ARRIVAL * self.clear)
        share = min(share, float(rest[rest >= SOON].min(initial=np.inf)))
        return h * share if share > 0.0 else h

    def _move(
        self,
        velocity: Floats,
        after: Floats,
        pairs: Integers,
        gap: Floats,
        h: float,
        before: Floats,
        group: Integers,
        loose: NDArray[np.bool_],
    ) -> bool:
        """Move every body by its share of the step, the largest that leaves all pairs clear and lets no group rise above its energy; whether some
        share was not all.

        The bodies of a loose group have one share, of their motion against one another: they have the velocities of that moment. In
        others a body that had to stop early loses the same share of its velocity. What moves on top of that is calmed."""
        world, held = self.world, self.world.held
        share, stuck = np.ones(len(velocity)), np.empty(0, np.int64)
        chosen, frame = np.arange(len(pairs)), frames_of(world, velocity, h, group, loose)
        low, swift = world.potential(self.place), self._may_meet(velocity, after, h, pairs, gap - WITHIN * self.clear)
        while True:
            path = path_of(velocity, after, h, share, frame)
            position, angle = self.position + path[:, :2], self.angle + path[:, 2]
            among = pairs[chosen]
            blocked = self.blocked(among, self.outlines.rows(position, angle)) != 0
            risky = np.flatnonzero(swift[chosen])
            if len(risky):
                course = motions_of(self.position, self.angle, velocity, after, h, share, frame)
                motions, near = self.outlines.motions(course), ARRIVAL * self.clear
                blocked[risky] |= self.outlines.impacts(motions, among[risky], WITHIN * self.clear, near) <= 1.0
            place = np.column_stack([position, angle])
            resting, rounding = world.energies(0.0 * velocity, place, group)
            rises = (world.potential(place) > low) & ~held
            lifted = (resting > before + rounding)[group] & rises & ~loose
            stuck = np.union1d(stuck, among[blocked] @ (len(share), 1))
            slower = np.union1d(among[blocked], np.flatnonzero(lifted))
            if not len(slower):
                break
            slower = np.union1d(slower, np.flatnonzero(loose & np.isin(group, group[slower[loose[slower]]])))
            share[slower] = np.where(share[slower] <= 2.0**-HALVINGS, 0.0, 0.5 * share[slower])
            chosen = np.flatnonzero(np.isin(pairs, slower).any(axis=1))
        moment = velocity_after(velocity, after, share, frame)
        moved = np.where(loose[:, np.newaxis], moment, share[:, np.newaxis] * after)
        self.stuck = stuck
        calmed = calm(world, moved, place, group, loose, before, resting)
        self.velocity = np.where(held[:, np.newaxis], self.velocity, calmed)
        self.position, self.angle = position, angle
        return bool((share < 1.0).any())
