"""Contours that fall, collide and come to rest (Rivera 2002, §2.2 and figure 2): Newton–Euler in the plane, never an overlap.

A step of length dt: forces change the velocities. Places nearer than `skin` give contacts; impulses with restitution and friction see
to it that no place closes faster than its distance allows. Then every body is moved, and every near pair is asked whether it is
still clear. The bodies of a pair that is not are moved by less: their share of the step is halved until all pairs are clear, in the
last resort to nothing, where they stood clear before. A body that had to stop early loses the same share of its velocity.

Guarantee: at the end of every step no two contours are nearer than `clear` (CLEAR of the least width), none overlaps and none holds
another. A thin body that would jump over another within one step is kept from it: no point moves by more than a quarter of the least
width of the moving bodies in a sub-step.

Energy (kinetic and potential) of a group of bodies in contact does not grow in a step, but for rounding. Impulses with restitution are taken
back in a group where they would add to it; bodies that rise are held back where the group has no energy to lift them (others may have
been stopped on their way down); what still moves is slowed to what is left. Groups do not affect one another.

Known limits: a collision in the middle of a step first takes the speed that the step leaves room for, then bounces with what is left, so
bounces lose more than the restitution says; a body may come to rest up to `skin` above another; nothing but friction and collisions stops
a round body from rolling.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from abut import arrays
from abut.arrays import Floats, Integers, frozen
from abut.contours.contour import Contour
from abut.contours.many import as_tables, find_pairs
from abut.contours.near import COLUMNS, ROOM, find_blocked, find_near, recall, resolve
from abut.contours.poses import as_poses
from abut.errors import InvalidInput
from abut.jit import threads_for

SKIN = 2e-3
"""Distance, as a part of the smallest contour's size, below which places are contacts."""
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
SLOW = 4.0
"""Contacts that close slower than gravity·dt times this do not bounce: resting bodies stay at rest."""
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
        self._contours, self._tables = list(contours), as_tables(contours)
        rows, count = as_poses(poses), len(contours)
        if len(rows) != count:
            raise InvalidInput("poses", f"has {len(rows)} rows for {count} contours")
        self.gravity = arrays.coordinates(gravity, "gravity", (2,))
        self.restitution = arrays.scalar(restitution, "restitution", least=0.0, most=1.0)
        self.friction = arrays.scalar(friction, "friction", least=0.0)
        held = np.zeros(count, np.bool_) if fixed is None else np.asarray(fixed, np.bool_)
        if held.shape != (count,):
            raise InvalidInput("fixed", f"has shape {held.shape}, expected ({count},)")
        flat = [i for i, contour in enumerate(contours) if contour.area <= 0.0 and not held[i]]
        if flat:
            raise InvalidInput("contours", "encloses no area and cannot move", flat[0])
        self._held = held
        self._mass = np.array([contour.area for contour in contours])
        self._inertia = np.array([contour.inertia for contour in contours])
        self._inverse = np.zeros((count, 2))
        self._inverse[~held] = 1.0 / np.stack([self._mass, self._inertia], axis=1)[~held]
        self._last, self._last_dt = (np.empty((0, 2), np.int64), np.empty((0, 4))), 1.0
        self._stuck = np.empty(0, np.int64)
        self.sweeps = 0
        """Gauss–Seidel sweeps so far"""
        self._local = np.array([contour.centroid for contour in contours]).reshape(count, 2)
        self.angle = np.arctan2(rows[:, 1], rows[:, 0])
        self.position = self._turned(rows) + rows[:, 2:]
        self.velocity = np.zeros((count, 3))
        """(m,3) of the centroids, and angular"""
        widths = [float(np.ptp(contour.bounds, axis=0).min()) for contour in contours]
        self._width = min((w for w, f in zip(widths, held, strict=True) if not f), default=1.0)
        self.skin, self.clear = SKIN * self._width, CLEAR * self._width
        self._reach = np.array([np.hypot(*(c.segments - c.centroid).reshape(-1, 2).T).max() for c in contours])
        near = find_pairs(self._tables, self._rows(self.position, self.angle), self.skin)
        blocked = self._blocked(near, self._rows(self.position, self.angle))
        if blocked.any():
            i, j = near[int(np.argmax(blocked))]
            raise InvalidInput("poses", f"contours {i} and {j} overlap or are nearer than {self.clear:g}", int(i))

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
        return float(self._energies(self.velocity, self.position, np.zeros(len(self._held), np.int64)).sum())

    def _energies(self, velocity: Floats, position: Floats, group: Integers) -> Floats:
        """(m,) the energy of each group, in the row of its number."""
        kinetic = 0.5 * (self._mass * (velocity[:, :2] ** 2).sum(axis=1) + self._inertia * velocity[:, 2] ** 2)
        energy = np.where(self._held, 0.0, kinetic - self._mass * (position @ self.gravity))
        total = np.zeros(len(group))
        np.add.at(total, group, energy)
        return total

    def _blocked(self, pairs: Integers, rows: Floats) -> Integers:
        out = np.zeros(len(pairs), np.int64)
        with threads_for(len(pairs), PAIRS_ON_THREADS):
            find_blocked(self._tables, rows, pairs, self.clear, out)
        return out

    def step(self, dt: float) -> int:
        """Go on by dt, in sub-steps in which nothing moves by more than a quarter of the least width; how many contacts there were."""
        left, contacts = arrays.positive(dt, "dt"), 0
        while left > 0.0:
            fall = float(np.hypot(*self.gravity)) * left
            speed = np.hypot(self.velocity[:, 0], self.velocity[:, 1]) + np.abs(self.velocity[:, 2]) * self._reach
            fastest = float((speed + fall)[~self._held].max(initial=0.0))
            part = min(left, 0.25 * self._width / fastest) if fastest > 0.0 else left
            contacts = self._advance(part)
            left -= part
            if left <= 1e-12 * dt:
                break
        return contacts

    def _advance(self, dt: float) -> int:
        velocity = self.velocity.copy()
        velocity[~self._held, :2] += dt * self.gravity
        rows = self._rows(self.position, self.angle)
        speed = np.hypot(velocity[:, 0], velocity[:, 1]) + np.abs(velocity[:, 2]) * self._reach
        reach = self.skin + 2.0 * dt * float(speed.max(initial=0.0))
        pairs = find_pairs(self._tables, rows, reach)
        pairs = pairs[~(self._held[pairs[:, 0]] & self._held[pairs[:, 1]])]
        group = self._groups(pairs)
        before = self._energies(self.velocity, self.position, group)
        count = self._resolve(velocity, rows, pairs, dt, reach, group)
        self._move(velocity, pairs, dt, before, group)
        return count

    def _groups(self, pairs: Integers) -> Integers:
        """(m,) for each body the least number of those that it is connected with by pairs of bodies that move: groups do not affect one another."""
        group = np.arange(len(self._held))
        linked = pairs[~self._held[pairs].any(axis=1)]
        while True:
            least = group.copy()
            np.minimum.at(least, linked[:, 0], group[linked[:, 1]])
            np.minimum.at(least, linked[:, 1], group[linked[:, 0]])
            least = least[least]
            if (least == group).all():
                return group
            group = least

    def _resolve(
        self, velocity: Floats, rows: Floats, pairs: Integers, dt: float, reach: float, group: Integers
    ) -> int:
        """Contacts of the step, and impulses for them."""
        out, counts = np.empty((len(pairs) * ROOM, COLUMNS)), np.zeros(len(pairs), np.int64)
        with threads_for(len(pairs), PAIRS_ON_THREADS):
            find_near(self._tables, rows, pairs, reach, SPACING * self._width, out, counts)
        kept = (np.arange(ROOM) < counts[:, np.newaxis]).reshape(-1)
        places, bodies = out[kept], np.repeat(pairs, counts, axis=0)
        guess = np.zeros((len(places), 2))
        recall(bodies, places, *self._last, RECALLED * self._width, guess)
        guess *= dt / self._last_dt
        self._last_dt = dt
        if not len(places):
            self._last = (bodies, np.empty((0, 4)))
            return 0
        free = np.maximum(places[:, 6] - 0.5 * self.skin, 0.0) / dt
        stuck = np.isin(bodies @ (len(velocity), 1), self._stuck) & (places[:, 6] < PUSHED * self.skin)
        free[stuck] = PUSH * (places[stuck, 6] - PUSHED * self.skin) / dt
        closing = self._closing(velocity, places, bodies)
        touching = places[:, 6] <= self.skin
        fall = dt * float(np.hypot(*self.gravity))
        bounces = touching & (closing > SLOW * fall) & (self.restitution > 0.0)
        settled = SETTLED * fall + SETTLED_FAST * float(np.abs(velocity).max())
        upwards = np.argsort(-(places[:, :2] @ self.gravity), kind="stable")

        def respond(allowed: Floats) -> tuple[Floats, Floats]:
            after, impulse = velocity.copy(), guess[upwards]
            self.sweeps += resolve(
                bodies[upwards], places[upwards], allowed[upwards], self.position, self._inverse, self.friction, settled,
                impulse, after,
            )  # fmt: skip
            return after, impulse

        after, impulse = respond(free)
        if bounces.any():
            lively, _ = respond(np.where(bounces, -self.restitution * closing, free))
            grown = self._energies(lively, self.position, group) > self._energies(velocity, self.position, group)
            after = np.where(grown[group][:, np.newaxis], after, lively)
        velocity[:] = after
        kept = np.column_stack([places[:, :2], np.zeros((len(places), 2))])
        kept[upwards, 2:] = impulse
        self._last = (bodies, kept)
        return int(touching.sum())

    def _closing(self, velocity: Floats, places: Floats, bodies: Integers) -> Floats:
        def at(i: Integers, points: Floats) -> Floats:
            arm = points - self.position[i]
            return velocity[i, :2] + velocity[i, 2:] * np.stack([-arm[:, 1], arm[:, 0]], axis=1)

        return ((at(bodies[:, 0], places[:, 0:2]) - at(bodies[:, 1], places[:, 2:4])) * places[:, 4:6]).sum(axis=1)

    def _move(self, velocity: Floats, pairs: Integers, dt: float, before: Floats, group: Integers) -> None:
        """Move every body by its share of the step, the largest that leaves all pairs clear and lets no group rise above its energy.

        What moves on top of that is slowed, group by group, until it has no more energy than before."""
        share, stuck = np.ones(len(velocity)), np.empty(0, np.int64)
        chosen = np.arange(len(pairs))
        while True:
            position = self.position + (share * dt)[:, np.newaxis] * velocity[:, :2]
            angle = self.angle + share * dt * velocity[:, 2]
            blocked = chosen[self._blocked(pairs[chosen], self._rows(position, angle)) != 0]
            resting = self._energies(0.0 * velocity, position, group)
            lifted = (resting > before)[group] & ((position - self.position) @ self.gravity < 0.0)
            stuck = np.union1d(stuck, pairs[blocked] @ (len(share), 1))
            slower = np.union1d(pairs[blocked], np.flatnonzero(lifted))
            if not len(slower):
                break
            share[slower] = np.where(share[slower] <= 2.0**-HALVINGS, 0.0, 0.5 * share[slower])
            chosen = np.flatnonzero(np.isin(pairs, slower).any(axis=1))
        velocity = velocity * share[:, np.newaxis]
        after = self._energies(velocity, position, group)
        with np.errstate(invalid="ignore", divide="ignore"):
            slowed = np.where(after > before, np.sqrt(np.maximum(before - resting, 0.0) / (after - resting)), 1.0)
        self._stuck = stuck
        self.position, self.angle, self.velocity = position, angle, velocity * slowed[group][:, np.newaxis]

    def frames(self, count: int, dt: float) -> Iterator[Floats]:
        """Poses (m,3) after each of `count` steps."""
        for _ in range(count):
            self.step(dt)
            yield self.poses

    def is_clear(self) -> NDArray[np.bool_]:
        """(p,) whether each pair of near contours is clear: all of them, always."""
        rows = self._rows(self.position, self.angle)
        pairs = find_pairs(self._tables, rows, self.skin)
        return self._blocked(pairs, rows) == 0
