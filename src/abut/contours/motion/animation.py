"""Contours that fall, collide and come to rest (Rivera 2002, §2.2 and figure 2): Newton–Euler in the plane, never an overlap.

A step goes to the first contact, resolves all impacts of that moment, and goes on with the rest, as often as needed (`substeps`). Frames are
handed out at the ends of steps.

Places nearer than `skin` touch; those that close are impacts and bounce, once and in full. Places that close slower than gravity and other
forces accelerate in SLOW steps, or on a way of one skin, do not bounce: they come to rest. So bounces end, and a pile settles.

Guarantee: at the end of every step no two contours are nearer than `clear` (CLEAR of the least width), none overlaps and none holds
another; and none passes through another on the way, however thin and fast it is. Free flight is exact for any step. Collisions of free bodies
change neither momentum nor angular momentum. Energy (kinetic, and the potential of gravity, forces and torques) of a group of bodies near one
another does not grow, but for rounding and by what kinematic bodies do to it: bodies that rise are held back where the group has no energy to lift
them, and what still moves is slowed to what is left. Groups do not affect one another.

Known limits: bodies touch up to `skin` before they meet, so a bounce is that much early; a body may come to rest up to `skin` above
another; nothing but friction and collisions stops a round body from rolling; a kinematic body that has no room stops too, and the step says so.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abut.contours.curve.contour import Contour
from abut.contours.curve.drawing import draw_curves
from abut.contours.curve.poses import PlanePosesLike, as_poses
from abut.contours.meet.all_pairs import as_list, find_pairs
from abut.contours.motion.bodies import make_bodies, read_each, read_flags
from abut.contours.motion.outlines import make_outlines
from abut.contours.motion.steps import ContourStep, Impacts, StepStatus, make_step
from abut.contours.motion.substeps import Movement
from abut.core import arrays
from abut.core.arrays import Floats, frozen
from abut.core.errors import InvalidInput
from abut.core.showing import count as counted
from abut.core.showing import describe
from abut.core.types import FlagsLike, Number, VectorLike

SKIN = 2e-3
"""Distance, as a part of the smallest contour's size, below which places touch."""
CLEAR = 1e-6
"""Distance, likewise, that is kept between contours."""
SLOW = 2.0
"""A resting place closes by what gravity gives in one step, at most; twice that is an impact. So is what gravity gives on a way of one skin."""
MOST_SUBSTEPS = 10_000
"""Of a step, by default."""
MOST_WIDTHS = 2.0**18
"""A step that would move a contour by more least widths than this is refused."""


class Animation:
    """Rigid contours that fall, collide and come to rest, never one over another.

    `position` (m,2), `angle` (m,) in radians and `velocity` (m,3), of the centroids and angular, are those of the bodies; `poses` are those of
    the contours' own coordinates. `velocity`, `force` (m,2), which acts at the centroids, `torque` (m,), `gravity`, `restitution` and `friction` may
    be set between steps. `skin` is the distance below which places touch, `clear` the one that is always kept; `sweeps` and `strides` count the
    solver's sweeps and the sub-steps so far.

    Args:
        contours: m bodies; those that move enclose an area.
        poses: (m,3) x, y and angle in radians, or (m,3,3): where they begin, clear of one another.
        fixed: (m,) bool, bodies that do not move; none by default.
        kinematic: (m,) bool, bodies that move as their `velocity` says, whatever they meet; none by default.
        gravity: (2,) acceleration.
        restitution: from 0 to 1, of all bodies or (m,): the part of its speed with which a place opens again. Of two bodies the larger counts.
        friction: Coulomb's coefficient, of all bodies or (m,). Of two bodies the geometric mean counts.
        density: mass of a unit of area, of all bodies or (m,).

    Examples:
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
    restitution: float | Floats
    friction: float | Floats
    force: Floats
    torque: Floats
    skin: float
    clear: float
    sweeps: int
    strides: int
    velocity: Floats

    def __init__(
        self,
        contours: Iterable[Contour],
        poses: PlanePosesLike,
        *,
        fixed: FlagsLike | None = None,
        kinematic: FlagsLike | None = None,
        gravity: VectorLike = (0.0, -9.81),
        restitution: ArrayLike = 0.2,
        friction: ArrayLike = 0.3,
        density: ArrayLike = 1.0,
    ) -> None:
        self._contours = as_list(contours)
        rows, count = as_poses(poses), len(self._contours)
        if len(rows) != count:
            raise InvalidInput("poses", f"has {len(rows)} rows for {count} contours")
        self.gravity = arrays.coordinates(gravity, "gravity", (2,))
        self.restitution = _as_given(read_each(restitution, "restitution", count, least=0.0, most=1.0), restitution)
        self.friction = _as_given(read_each(friction, "friction", count, least=0.0), friction)
        self._fixed = read_flags(fixed, "fixed", count)
        kept = read_flags(kinematic, "kinematic", count)
        both = np.flatnonzero(kept & self._fixed)
        if len(both):
            raise InvalidInput("kinematic", "is fixed as well", int(both[0]))
        held = self._fixed | kept
        outlines = make_outlines(self._contours, held)
        weights = read_each(density, "density", count, least=0.0)
        light = np.flatnonzero((weights <= 0.0) & ~held)
        if len(light):
            raise InvalidInput("density", "is 0 of a body that moves", int(light[0]))
        self.skin, self.clear = SKIN * outlines.width, CLEAR * outlines.width
        self.sweeps = self.strides = 0
        self.velocity, self.force, self.torque = np.zeros((count, 3)), np.zeros((count, 2)), np.zeros(count)
        self._movement = Movement(
            outlines=outlines,
            world=make_bodies(self._contours, held, outlines.radius, weights),
            position=outlines.turned(rows) + rows[:, 2:],
            angle=np.arctan2(rows[:, 1], rows[:, 0]),
            velocity=self.velocity,
            skin=self.skin,
            clear=self.clear,
            last_bodies=np.empty((0, 2), np.int64),
            last=np.empty((0, 4)),
            last_length=1.0,
            stuck=np.empty(0, np.int64),
        )
        self._read_world()
        near = find_pairs(outlines.tables, self._movement.rows, self.skin)
        blocked = self._movement.blocked(near, self._movement.rows)
        if blocked.any():
            i, j = near[int(np.argmax(blocked))]
            raise InvalidInput("poses", f"contours {i} and {j} overlap or are nearer than {self.clear:g}", int(i))

    def __repr__(self) -> str:
        return describe(self, counted(len(self._contours), "contour"), f"{int(self._fixed.sum()):,} fixed")

    def _repr_svg_(self) -> str:
        placed = [contour.moved(pose) for contour, pose in zip(self._contours, self.poses, strict=True)]
        return draw_curves([contour.segments for contour in placed])

    @property
    def position(self) -> Floats:
        """(m,2) of the centroids."""
        return frozen(self._movement.position.copy())

    @property
    def angle(self) -> Floats:
        """(m,) in radians, counted on over full turns."""
        return frozen(self._movement.angle.copy())

    @property
    def poses(self) -> Floats:
        """(m,3) x, y and angle of the contours' own coordinates."""
        return frozen(np.column_stack([self._movement.rows[:, 2:], self._movement.angle]))

    @property
    def energy(self) -> float:
        """Kinetic energy of the bodies that move, and their potential energy in gravity, forces and torques as they are now."""
        self._read_world()
        nobody = np.zeros(len(self._contours), np.int64)
        return float(self._movement.world.energies(self.velocity, self._movement.place, nobody)[0].sum())

    def _read_world(self) -> Floats:
        """Check what may be set between steps, and hand it on; the velocities."""
        movement, count = self._movement, len(self._contours)
        world = movement.world
        velocity = arrays.coordinates(self.velocity, "velocity", (count, 3)).copy()
        force = arrays.coordinates(self.force, "force", (count, 2))
        torque = arrays.coordinates(self.torque, "torque", (count,))
        restitution = read_each(self.restitution, "restitution", count, least=0.0, most=1.0)
        friction = read_each(self.friction, "friction", count, least=0.0)
        pull = np.zeros((count, 3))
        pull[:, :2] = arrays.coordinates(self.gravity, "gravity", (2,)) + force * world.inverse[:, :1]
        pull[:, 2] = torque * world.inverse[:, 1]
        pull[world.held] = 0.0
        velocity[self._fixed] = 0.0
        movement.world = replace(world, pull=pull, restitution=restitution, friction=friction)
        return velocity

    def step(self, dt: Number, *, max_substeps: int = MOST_SUBSTEPS) -> ContourStep:
        """Go on by one step: to the first contact, through the impacts of that moment, and on with the rest, as often as needed.

        Args:
            dt: the step's length, positive.
            max_substeps: the most sub-steps. Where they do not do, the rest of the step is not made, and the answer says LIMIT.

        Returns:
            How the step ended, and every impact on the way.
        """
        whole = left = arrays.positive(dt, "dt")
        most = arrays.count(max_substeps, "max_substeps", least=1)
        velocity, movement = self._read_world(), self._movement
        falls = movement.world.falls
        way = float(((movement.outlines.speeds(velocity) + falls * whole) * whole).max(initial=0.0))
        if way > MOST_WIDTHS * movement.outlines.width:
            raise InvalidInput(
                "dt", f"{whole:g} would move a contour by more than {MOST_WIDTHS:g} of the least widths; make sub-steps"
            )
        movement.velocity = velocity
        impacts: list[Impacts] = []
        substeps = sweeps = touching = 0
        held_back = False
        slow = np.minimum(SLOW * whole * falls, np.sqrt(2.0 * self.skin * falls))
        while left > 1e-12 * whole and substeps < most:
            done = movement.advance(left, slow, self.gravity)
            if len(done.impacts[1]):
                impacts.append((whole - left, *done.impacts[1:]))
            left -= done.length
            substeps, sweeps, touching = substeps + 1, sweeps + done.sweeps, done.touching
            held_back = held_back or done.held_back
        self.velocity = movement.velocity
        self.sweeps, self.strides = self.sweeps + sweeps, self.strides + substeps
        finished = left <= 1e-12 * whole
        status = (StepStatus.HELD_BACK if held_back else StepStatus.DONE) if finished else StepStatus.LIMIT
        return make_step(status, whole if finished else whole - left, touching, substeps, sweeps, impacts)

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
        movement = self._movement
        pairs = find_pairs(movement.outlines.tables, movement.rows, self.skin)
        return movement.blocked(pairs, movement.rows) == 0


def _as_given(rows: Floats, given: ArrayLike) -> float | Floats:
    """One number for all bodies stays one."""
    return rows if np.ndim(given) else float(rows[0]) if len(rows) else float(np.asarray(given))
