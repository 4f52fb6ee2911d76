"""Contours that fall, collide and come to rest (Rivera 2002, §2.2 and figure 2): Newton–Euler in the plane, never an overlap.

A step is made of sub-steps. At the beginning of each, places nearer than `skin` touch; those that close are impacts and bounce, once and
in full (`impulses.bounce`). Then gravity and contacts act throughout the sub-step (`impulses.press`), and every body moves on a parabola.
If bodies that did not touch would meet, the sub-step ends where they begin to: its length is halved until the place touches and nothing
is nearer than `clear`. Frames are handed out at the ends of steps.

Places that close slower than gravity accelerates in SLOW steps do not bounce: they come to rest. So bounces end, and a pile settles.
Bodies that touch already and get in each other's way as they roll are moved by less: their share of the sub-step is halved until all
pairs are clear, in the last resort to nothing, where they stood clear before.

Guarantee: at the end of every step no two contours are nearer than `clear` (CLEAR of the least width), none overlaps and none holds
another. A thin body that would jump over another within one step is kept from it: no point moves by more than a quarter of the least
width of the moving bodies in a sub-step. Free flight is exact for any step. Collisions of free bodies change neither momentum nor angular
momentum. Energy (kinetic and potential) of a group of bodies near one another does not grow, but for rounding: bodies that rise are held
back where the group has no energy to lift them, and what still moves is slowed to what is left. Groups do not affect one another.

Known limits: bodies touch up to `skin` before they meet, so a bounce is that much early; a body may come to rest up to `skin` above
another; nothing but friction and collisions stops a round body from rolling.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from abut.contours.curve.contour import Contour
from abut.contours.curve.poses import as_poses
from abut.contours.meet.all_pairs import as_list, as_tables, find_pairs
from abut.contours.motion.bodies import group_bodies, make_bodies, read_held
from abut.contours.motion.drift import frames_of, velocity_after, way_of
from abut.contours.motion.impulses import bounce, calm, opening, press
from abut.contours.motion.near_places import COLUMNS, ROOM, find_blocked, find_near, recall
from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.jit import threads_for

SKIN = 2e-3
"""Distance, as a part of the smallest contour's size, below which places touch."""
CLEAR = 1e-6
"""Distance, likewise, that is kept between contours."""
SETTLED, SETTLED_FAST = 1e-4, 1e-7
"""Velocities are resolved to this part of what gravity gives in a step, plus that part of the fastest."""
SPACING = 0.05
"""Of two places of a pair within this part of the least width the nearer is enough."""
PUSHED, PUSH = 0.25, 0.25
"""A pair that kept its bodies from moving, for want of room to roll, opens to this part of the skin, by that part of the way in a step."""
RECALLED = 0.05
"""Impulses are guessed from those of a place within this part of the least width."""
HALVINGS = 8
"""A share of a step below 2⁻⁸ is none."""
SLOW = 2.0
"""A resting place closes by what gravity gives in one step, at most; twice that is an impact."""
STRIDE = 0.25
"""No point moves by more than this part of the least width in a sub-step."""
MOST_STRIDES = 2.0**20
"""A step that would take more sub-steps than this is refused."""
PAIRS_ON_THREADS = 256


class Animation:
    """Rigid contours in motion. Positions and velocities are those of the centroids; `poses` are those of the contours' own coordinates.

    Args:
        contours: the bodies; density 1.
        poses: (m,3) x, y, angle, or (m,3,3): where they begin, clear of one another.
        fixed: (m,) bool, bodies that do not move.
        gravity, restitution, friction: acceleration (2,), and one number each for all contacts.
    """

    def __init__(
        self,
        contours: Sequence[Contour],
        poses: object,
        *,
        fixed: object = None,
        gravity: object = (0.0, -9.81),
        restitution: float = 0.2,
        friction: float = 0.3,
    ) -> None:
        self._contours = as_list(contours)
        self._tables = as_tables(self._contours)
        rows, count = as_poses(poses), len(self._contours)
        if len(rows) != count:
            raise InvalidInput("poses", f"has {len(rows)} rows for {count} contours")
        self.gravity = arrays.coordinates(gravity, "gravity", (2,))
        self.restitution = arrays.scalar(restitution, "restitution", least=0.0, most=1.0)
        self.friction = arrays.scalar(friction, "friction", least=0.0)
        self._held = read_held(fixed, count)
        self._set_bodies()
        self._last, self._last_dt = (np.empty((0, 2), np.int64), np.empty((0, 4))), 1.0
        self._stuck = np.empty(0, np.int64)
        self.sweeps = 0
        """Gauss–Seidel sweeps so far"""
        self.strides = 0
        """Sub-steps so far"""
        self.angle = np.arctan2(rows[:, 1], rows[:, 0])
        self.position = self._turned(rows) + rows[:, 2:]
        self.velocity = np.zeros((count, 3))
        """(m,3) of the centroids, and angular"""
        near = find_pairs(self._tables, self._rows(self.position, self.angle), self.skin)
        blocked = self._blocked(near, self._rows(self.position, self.angle))
        if blocked.any():
            i, j = near[int(np.argmax(blocked))]
            raise InvalidInput("poses", f"contours {i} and {j} overlap or are nearer than {self.clear:g}", int(i))

    def _set_bodies(self) -> None:
        """Masses, sizes and what follows from them."""
        contours, held = self._contours, self._held
        self._world = make_bodies(contours, held, self.gravity, self.friction, self.restitution)
        self._local = np.array([contour.centroid for contour in contours]).reshape(-1, 2)
        widths = [float(np.ptp(contour.bounds, axis=0).min()) for contour in contours]
        self._width = min((w for w, f in zip(widths, held, strict=True) if not f), default=1.0)
        self.skin, self.clear = SKIN * self._width, CLEAR * self._width
        self._reach = np.array([np.hypot(*(c.segments - c.centroid).reshape(-1, 2).T).max() for c in contours])

    def _turned(self, rows: Floats) -> Floats:
        c, s = rows[:, 0], rows[:, 1]
        x, y = self._local.T
        return np.stack([c * x - s * y, s * x + c * y], axis=1)

    def _rows(self, position: Floats, angle: Floats) -> Floats:
        """(m,4) poses of the contours' coordinates for positions of their centroids."""
        rows = np.stack([np.cos(angle), np.sin(angle), np.zeros(len(angle)), np.zeros(len(angle))], axis=1)
        rows[:, 2:] = position - self._turned(rows)
        return rows

    @property
    def poses(self) -> Floats:
        """(m,3) x, y and angle of the contours' own coordinates."""
        rows = self._rows(self.position, self.angle)
        return frozen(np.column_stack([rows[:, 2:], self.angle]))

    @property
    def energy(self) -> float:
        """Kinetic and potential energy of the bodies that move."""
        return float(self._world.energies(self.velocity, self.position, np.zeros(len(self._held), np.int64))[0].sum())

    def _blocked(self, pairs: Integers, rows: Floats) -> Integers:
        out = np.zeros(len(pairs), np.int64)
        with threads_for(len(pairs), PAIRS_ON_THREADS):
            find_blocked(self._tables, rows, pairs, self.clear, out)
        return out

    def _speeds(self, velocity: Floats) -> Floats:
        """(m,) how fast the fastest point of each body is, at most."""
        return np.hypot(velocity[:, 0], velocity[:, 1]) + np.abs(velocity[:, 2]) * self._reach

    def step(self, dt: float) -> int:
        """Go on by dt, in sub-steps that end where bodies meet; how many places touched in the last."""
        whole = left = arrays.positive(dt, "dt")
        self.velocity = arrays.coordinates(self.velocity, "velocity", (len(self._held), 3)).copy()
        self._world = replace(self._world, gravity=self.gravity, friction=self.friction, restitution=self.restitution)
        contacts, fall = 0, float(np.hypot(*self.gravity))
        while left > 0.0:
            fastest = float((self._speeds(self.velocity) + fall * left)[~self._held].max(initial=0.0))
            part = min(left, STRIDE * self._width / fastest) if fastest > 0.0 else left
            if whole > MOST_STRIDES * part and left > MOST_STRIDES * part:
                raise InvalidInput(
                    "dt", f"{whole:g} would take more than {MOST_STRIDES:g} sub-steps at these velocities"
                )
            contacts, gone = self._advance(part, SLOW * fall * whole)
            left -= gone
            if left <= 1e-12 * whole:
                break
        self.velocity.flags.writeable = True
        return contacts

    def _advance(self, h: float, slow: float) -> tuple[int, float]:
        """One sub-step, of length h at most: how many places touch, and its length."""
        self.strides += 1
        fall = h * self.gravity
        rows = self._rows(self.position, self.angle)
        reach = self.skin + 2.0 * h * float((self._speeds(self.velocity) + np.hypot(*fall)).max(initial=0.0))
        pairs = find_pairs(self._tables, rows, reach)
        pairs = pairs[~(self._held[pairs[:, 0]] & self._held[pairs[:, 1]])]
        group, loose = group_bodies(self._held, pairs)
        places, bodies, owner = self._places(rows, pairs, reach)
        touching = places[:, 6] <= self.skin
        settled = SETTLED * float(np.hypot(*fall)) + SETTLED_FAST * float(np.abs(self.velocity).max(initial=0.0))
        velocity, sweeps = bounce(
            self._world, self.velocity, self.position, places[touching], bodies[touching], slow, settled, group
        )
        self.sweeps += sweeps
        before = self._world.energies(velocity, self.position, group)[0]
        falling = velocity.copy()
        falling[~self._held, :2] += fall
        fast = ~touching & (opening(falling, self.position, places, bodies)[0] < -slow)
        free, pull = (loose & ~self._held)[:, np.newaxis], np.append(self.gravity, 0.0)
        new = np.ones(len(pairs), np.bool_)
        new[owner[touching]] = False
        new[owner[fast]] = True

        def forced(span: float, *, guess: bool) -> tuple[Floats, Floats]:
            after = self._press(velocity, places[~fast], bodies[~fast], span, settled, guess=guess, loose=loose)
            # In a loose group impulses act at once, at the places where they are: so angular momentum is kept.
            return np.where(free, after - span * pull, velocity), after

        first, after = forced(h, guess=True)
        span = self._trace(first, after, h, pairs[new])
        if span < h:
            first, after = forced(span, guess=False)
        self._move(first, after, pairs, span, before, group, loose)
        return int(touching.sum()), span

    def _places(self, rows: Floats, pairs: Integers, reach: float) -> tuple[Floats, Integers, Integers]:
        """Near places, from below upwards, their bodies, and the rows of their pairs."""
        out, counts = np.empty((len(pairs) * ROOM, COLUMNS)), np.zeros(len(pairs), np.int64)
        with threads_for(len(pairs), PAIRS_ON_THREADS):
            find_near(self._tables, rows, pairs, reach, SPACING * self._width, out, counts)
        kept = (np.arange(ROOM) < counts[:, np.newaxis]).reshape(-1)
        places, owner = out[kept], np.repeat(np.arange(len(pairs)), counts)
        upwards = np.argsort(-(places[:, :2] @ self.gravity), kind="stable")
        return places[upwards], pairs[owner[upwards]], owner[upwards]

    def _press(
        self,
        velocity: Floats,
        places: Floats,
        bodies: Integers,
        h: float,
        settled: float,
        *,
        guess: bool,
        loose: NDArray[np.bool_],
    ) -> Floats:
        """Velocities after the forces of a sub-step; impulses begin from those of the sub-step before and are kept for the next."""
        impulse, at_once = np.zeros((len(places), 2)), loose[bodies].all(axis=1)
        paired = np.lexsort((bodies[:, 1], bodies[:, 0]))
        if guess:
            recalled = np.zeros((len(places), 2))
            recall(bodies[paired], places[paired], *self._last, RECALLED * self._width, recalled)
            impulse[paired] = recalled * (h / self._last_dt)
            impulse[at_once] = 0.0
        room = np.maximum(places[:, 6] - 0.5 * self.skin, 0.0)
        rate, _ = opening(velocity, self.position, places, bodies)
        least = np.where(at_once, -room / h, -np.maximum(rate, 0.0) - 2.0 * room / h)
        stuck = np.isin(bodies @ (len(velocity), 1), self._stuck) & (places[:, 6] < PUSHED * self.skin)
        least[stuck] = PUSH * (PUSHED * self.skin - places[stuck, 6]) / h
        after, sweeps = press(self._world, velocity, self.position, places, bodies, least, settled, h, impulse)
        self.sweeps += sweeps
        self._last = (bodies[paired], np.column_stack([places[:, :2], impulse])[paired])
        self._last_dt = h
        return after

    def _trace(self, velocity: Floats, after: Floats, h: float, pairs: Integers) -> float:
        """The length of a sub-step after which pairs that meet during it touch and are clear still: h where none does."""

        def blocked(time: float, among: Integers) -> Integers:
            way = way_of(velocity, after, h, np.full(len(velocity), time / h), np.zeros((len(velocity), 6)))
            return among[self._blocked(among, self._rows(self.position + way[:, :2], self.angle + way[:, 2])) != 0]

        early, late = 0.0, h
        meeting = blocked(h, pairs)
        if not len(meeting):
            return h
        speed = np.maximum(self._speeds(velocity), self._speeds(after))
        while (late - early) * float(speed[meeting].sum(axis=1).max()) > 0.25 * self.skin:
            middle = 0.5 * (early + late)
            sooner = blocked(middle, meeting)
            if len(sooner):
                late, meeting = middle, sooner
            else:
                early = middle
        return early if early > 0.0 else h

    def _move(
        self,
        velocity: Floats,
        after: Floats,
        pairs: Integers,
        h: float,
        before: Floats,
        group: Integers,
        loose: NDArray[np.bool_],
    ) -> None:
        """Move every body by its share of the step, the largest that leaves all pairs clear and lets no group rise above its energy.

        The bodies of a loose group have one share, of their motion against one another: they have the velocities of that moment. In
        others a body that had to stop early loses the same share of its velocity. What moves on top of that is calmed."""
        share, stuck = np.ones(len(velocity)), np.empty(0, np.int64)
        chosen, frame = np.arange(len(pairs)), frames_of(self._world, velocity, h, group, loose)
        while True:
            way = way_of(velocity, after, h, share, frame)
            position, angle = self.position + way[:, :2], self.angle + way[:, 2]
            blocked = chosen[self._blocked(pairs[chosen], self._rows(position, angle)) != 0]
            resting, rounding = self._world.energies(0.0 * velocity, position, group)
            lifted = (resting > before + rounding)[group] & ((position - self.position) @ self.gravity < 0.0) & ~loose
            stuck = np.union1d(stuck, pairs[blocked] @ (len(share), 1))
            slower = np.union1d(pairs[blocked], np.flatnonzero(lifted))
            if not len(slower):
                break
            slower = np.union1d(slower, np.flatnonzero(loose & np.isin(group, group[slower[loose[slower]]])))
            share[slower] = np.where(share[slower] <= 2.0**-HALVINGS, 0.0, 0.5 * share[slower])
            chosen = np.flatnonzero(np.isin(pairs, slower).any(axis=1))
        moment = velocity_after(velocity, after, share, frame)
        velocity = np.where(loose[:, np.newaxis], moment, share[:, np.newaxis] * after)
        self._stuck = stuck
        self.velocity = calm(self._world, velocity, position, group, loose, before, resting)
        self.position, self.angle = position, angle

    def frames(self, count: int, dt: float) -> Iterator[Floats]:
        """Poses (m,3) after each of `count` steps."""
        for _ in range(arrays.count(count, "count")):
            self.step(dt)
            yield self.poses

    def is_clear(self) -> NDArray[np.bool_]:
        """(p,) whether each pair of near contours is clear: all of them, always."""
        rows = self._rows(self.position, self.angle)
        pairs = find_pairs(self._tables, rows, self.skin)
        return self._blocked(pairs, rows) == 0
