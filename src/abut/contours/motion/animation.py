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

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from abut.contours.curve.contour import Contour
from abut.contours.curve.drawing import draw_curves
from abut.contours.curve.poses import PlanePosesLike, as_poses
from abut.contours.meet.all_pairs import as_list, find_pairs
from abut.contours.motion.bodies import group_bodies, make_bodies, read_held
from abut.contours.motion.drift import frames_of, path_of, velocity_after
from abut.contours.motion.impulse_solver import recall
from abut.contours.motion.impulses import bounce, calm, opening, press
from abut.contours.motion.near_places import Places
from abut.contours.motion.outlines import make_outlines
from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.showing import count as counted
from abut.core.showing import describe
from abut.core.types import FlagsLike, Number, VectorLike

SKIN = 2e-3
"""Distance, as a part of the smallest contour's size, below which places touch."""
CLEAR = 1e-6
"""Distance, likewise, that is kept between contours."""
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
SLOW = 2.0
"""A resting place closes by what gravity gives in one step, at most; twice that is an impact."""
STRIDE = 0.25
"""No point moves by more than this part of the least width in a sub-step."""
MOST_STRIDES = 2.0**20
"""A step that would take more sub-steps than this is refused."""


class Animation:
    """Rigid contours that fall, collide and come to rest, of density 1, never one over another.

    `position` (m,2), `angle` (m,) in radians and `velocity` (m,3), of the centroids and angular, are those of the bodies; `poses` are those of
    the contours' own coordinates. `velocity`, `gravity`, `restitution` and `friction` may be set between steps. `skin` is the distance below
    which places touch, `clear` the one that is always kept; `sweeps` and `strides` count the solver's sweeps and the sub-steps so far.

    Args:
        contours: m bodies; those that move enclose an area.
        poses: (m,3) x, y and angle in radians, or (m,3,3): where they begin, clear of one another.
        fixed: (m,) bool, bodies that do not move; none by default.
        gravity: (2,) acceleration.
        restitution: of all contacts, from 0 to 1: the part of its speed with which a place opens again.
        friction: Coulomb's coefficient of all contacts.

    Example:
        >>> from abut import contours
        >>> floor = contours.Contour.from_polygon([(-5, -1), (5, -1), (5, 0), (-5, 0)])
        >>> tile = contours.Contour.from_polygon([(0, 0), (1, 0), (1, 1), (0, 1)])
        >>> fall = contours.Animation([floor, tile], [(0, 0, 0), (0, 0.2, 0)], fixed=[True, False])
        >>> fall
        Animation(2 contours, 1 fixed)
        >>> for poses in fall.frames(60, dt=1 / 60):
        ...     pass
        >>> print(f"{poses[1, 1]:.1f}")  # the tile has come to rest on the floor
        0.0
    """

    gravity: Floats
    restitution: float
    friction: float
    skin: float
    clear: float
    sweeps: int
    strides: int
    angle: Floats
    position: Floats
    velocity: Floats

    def __init__(
        self,
        contours: Iterable[Contour],
        poses: PlanePosesLike,
        *,
        fixed: FlagsLike | None = None,
        gravity: VectorLike = (0.0, -9.81),
        restitution: Number = 0.2,
        friction: Number = 0.3,
    ) -> None:
        self._contours = as_list(contours)
        rows, count = as_poses(poses), len(self._contours)
        if len(rows) != count:
            raise InvalidInput("poses", f"has {len(rows)} rows for {count} contours")
        self.gravity = arrays.coordinates(gravity, "gravity", (2,))
        self.restitution = arrays.scalar(restitution, "restitution", least=0.0, most=1.0)
        self.friction = arrays.scalar(friction, "friction", least=0.0)
        self._held = read_held(fixed, count)
        self._world = make_bodies(self._contours, self._held, self.gravity, self.friction, self.restitution)
        self._outlines = make_outlines(self._contours, self._held)
        self.skin, self.clear = SKIN * self._outlines.width, CLEAR * self._outlines.width
        self._last, self._last_dt = (np.empty((0, 2), np.int64), np.empty((0, 4))), 1.0
        self._stuck = np.empty(0, np.int64)
        self.sweeps = self.strides = 0
        self.angle = np.arctan2(rows[:, 1], rows[:, 0])
        self.position = self._outlines.turned(rows) + rows[:, 2:]
        self.velocity = np.zeros((count, 3))
        near = find_pairs(self._outlines.tables, self._rows, self.skin)
        blocked = self._blocked(near, self._rows)
        if blocked.any():
            i, j = near[int(np.argmax(blocked))]
            raise InvalidInput("poses", f"contours {i} and {j} overlap or are nearer than {self.clear:g}", int(i))

    def __repr__(self) -> str:
        return describe(self, counted(len(self._contours), "contour"), f"{int(self._held.sum()):,} fixed")

    def _repr_svg_(self) -> str:
        placed = [contour.moved(pose) for contour, pose in zip(self._contours, self.poses, strict=True)]
        return draw_curves([contour.segments for contour in placed])

    @property
    def _rows(self) -> Floats:
        """(m,4) poses of the contours' coordinates."""
        return self._outlines.rows(self.position, self.angle)

    def _blocked(self, pairs: Integers, rows: Floats) -> Integers:
        return self._outlines.blocked(pairs, rows, self.clear)

    @property
    def poses(self) -> Floats:
        """(m,3) x, y and angle of the contours' own coordinates."""
        return frozen(np.column_stack([self._rows[:, 2:], self.angle]))

    @property
    def energy(self) -> float:
        """Kinetic and potential energy of the bodies that move."""
        return float(self._world.energies(self.velocity, self.position, np.zeros(len(self._held), np.int64))[0].sum())

    def step(self, dt: Number) -> int:
        """Go on by one step, in sub-steps that end where bodies meet.

        Args:
            dt: the step's length, positive.

        Returns:
            How many places touched in the last sub-step.
        """
        whole = left = arrays.positive(dt, "dt")
        self.velocity = arrays.coordinates(self.velocity, "velocity", (len(self._held), 3)).copy()
        self._world = replace(self._world, gravity=self.gravity, friction=self.friction, restitution=self.restitution)
        contacts, fall = 0, float(np.hypot(*self.gravity))
        while left > 0.0:
            fastest = float((self._outlines.speeds(self.velocity) + fall * left)[~self._held].max(initial=0.0))
            part = min(left, STRIDE * self._outlines.width / fastest) if fastest > 0.0 else left
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
        rows = self._rows
        max_distance = self.skin + 2.0 * h * float(
            (self._outlines.speeds(self.velocity) + np.hypot(*fall)).max(initial=0.0)
        )
        pairs = find_pairs(self._outlines.tables, rows, max_distance)
        pairs = pairs[~(self._held[pairs[:, 0]] & self._held[pairs[:, 1]])]
        group, loose = group_bodies(self._held, pairs)
        spacing = SPACING * self._outlines.width
        places, owner = self._outlines.places(rows, pairs, max_distance, spacing, self.gravity)
        touching = places.distance <= self.skin
        settled = SETTLED * float(np.hypot(*fall)) + SETTLED_FAST * float(np.abs(self.velocity).max(initial=0.0))
        velocity, sweeps = bounce(
            self._world, self.velocity, self.position, places.take(touching), slow, settled, group
        )
        self.sweeps += sweeps
        before = self._world.energies(velocity, self.position, group)[0]
        falling = velocity.copy()
        falling[~self._held, :2] += fall
        fast = ~touching & (opening(falling, self.position, places)[0] < -slow)
        free, pull = (loose & ~self._held)[:, np.newaxis], np.append(self.gravity, 0.0)
        new = np.ones(len(pairs), np.bool_)
        new[owner[touching]] = False
        new[owner[fast]] = True

        def forced(span: float, *, guess: bool) -> tuple[Floats, Floats]:
            after = self._press(velocity, places.take(~fast), span, settled, guess=guess, loose=loose)
            # In a loose group impulses act at once, at the places where they are: so angular momentum is kept.
            return np.where(free, after - span * pull, velocity), after

        first, after = forced(h, guess=True)
        span = self._trace(first, after, h, pairs[new])
        if span < h:
            first, after = forced(span, guess=False)
        self._move(first, after, pairs, span, before, group, loose)
        return int(touching.sum()), span

    def _press(
        self,
        velocity: Floats,
        places: Places,
        h: float,
        settled: float,
        *,
        guess: bool,
        loose: NDArray[np.bool_],
    ) -> Floats:
        """Velocities after the forces of a sub-step; impulses begin from those of the sub-step before and are kept for the next."""
        bodies = places.bodies
        impulse, at_once = np.zeros((len(bodies), 2)), loose[bodies].all(axis=1)
        paired = np.lexsort((bodies[:, 1], bodies[:, 0]))
        if guess:
            recalled, near = np.zeros((len(bodies), 2)), RECALLED * self._outlines.width
            recall(bodies[paired], places.point_a[paired], *self._last, near, recalled)
            impulse[paired] = recalled * (h / self._last_dt)
            impulse[at_once] = 0.0
        room = np.maximum(places.distance - 0.5 * self.skin, 0.0)
        rate, _ = opening(velocity, self.position, places)
        least = np.where(at_once, -room / h, -np.maximum(rate, 0.0) - 2.0 * room / h)
        stuck = np.isin(bodies @ (len(velocity), 1), self._stuck) & (places.distance < PUSHED * self.skin)
        least[stuck] = PUSH * (PUSHED * self.skin - places.distance[stuck]) / h
        after, sweeps = press(self._world, velocity, self.position, places, least, settled, h, impulse)
        self.sweeps += sweeps
        self._last = (bodies[paired], np.column_stack([places.point_a, impulse])[paired])
        self._last_dt = h
        return after

    def _trace(self, velocity: Floats, after: Floats, h: float, pairs: Integers) -> float:
        """The length of a sub-step after which pairs that meet during it touch and are clear still: h where none does."""

        def blocked(time: float, among: Integers) -> Integers:
            path = path_of(velocity, after, h, np.full(len(velocity), time / h), np.zeros((len(velocity), 6)))
            rows = self._outlines.rows(self.position + path[:, :2], self.angle + path[:, 2])
            return among[self._blocked(among, rows) != 0]

        early, late = 0.0, h
        meeting = blocked(h, pairs)
        if not len(meeting):
            return h
        speed = np.maximum(self._outlines.speeds(velocity), self._outlines.speeds(after))
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
            path = path_of(velocity, after, h, share, frame)
            position, angle = self.position + path[:, :2], self.angle + path[:, 2]
            blocked = chosen[self._blocked(pairs[chosen], self._outlines.rows(position, angle)) != 0]
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

    def frames(self, count: int, dt: Number) -> Iterator[Floats]:
        """The poses after each of many steps; a step is made when its poses are asked for.

        Args:
            count: how many steps.
            dt: the length of each.

        Returns:
            An iterator of (m,3) x, y and angle in radians.
        """
        for _ in range(arrays.count(count, "count")):
            self.step(dt)
            yield self.poses

    def is_clear(self) -> NDArray[np.bool_]:
        """(p,) whether each pair of near contours is clear: all of them, always."""
        pairs = find_pairs(self._outlines.tables, self._rows, self.skin)
        return self._blocked(pairs, self._rows) == 0
