"""Impulses between a rigid body and walls, which may move and give way.

A contact is an impulse at the point where it is: along the normal as much as ends the approach, or turns it back, and across it at most the
friction's share of that. A wall that has a model takes the opposite impulse at its corners, each by its weight in the point of contact: so momentum
is kept, and angular momentum too. Impulses are repeated until all contacts of the step stand (projected Gauss–Seidel). Bounces and friction at
several contacts at once may add up to more energy than what came in (Newton's law of restitution is known for that); then all are weakened, as much
as keeps the energy.
"""

from typing import NamedTuple

import numpy as np

from abut.core.arrays import Floats, Integers
from abut.dynamics.particles import ParticleModel

MOST_SWEEPS = 100
SETTLED = 2.0**-40
"""Of the largest impulse: a smaller change ends the sweeps."""


class WallPoints(NamedTuple):
    """The points of walls that a body touches, as means of vertices that a model moves.

    Examples:
        >>> import numpy as np
        >>> from abut import dynamics
        >>> floor = dynamics.MassSpring([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1], [1, 2], [2, 0]], mass=2.0)
        >>> ball = dynamics.RigidTool([[0.25, 0.25, 0.5]], mass=6.0, width=0.5, velocity=(0, 0, -1))
        >>> points = dynamics.WallPoints(floor, np.array([[0, 1, 2]]), np.array([[0.5, 0.25, 0.25]]))
        >>> ball.accept_pose(np.eye(4), [[0.25, 0.25, 0.0]], [[0, 0, -1]], walls=points)
        >>> momentum = ball.mass * ball.state.velocity[0] + floor.momentum()
        >>> momentum.round(9).tolist(), bool(floor.velocity[0, 2] < floor.velocity[1, 2] < 0)
        ([0.0, 0.0, -6.0], True)
    """

    model: ParticleModel
    """whose particles the vertices are; its velocities change"""
    corners: Integers
    """(k, c) the vertices of each"""
    weights: Floats
    """(k, c) their shares, which add up to 1"""


class Tool(NamedTuple):
    """A rigid body: mass, inertia (3,3) along the world's axes, center of mass, velocity and angular velocity."""

    mass: float
    inertia: Floats
    center: Floats
    velocity: Floats
    spin: Floats


class _Sides:
    """The speeds on both sides of contacts, and what impulses do to them."""

    def __init__(self, tool: Tool, points: Floats, walls: WallPoints | None) -> None:
        self.velocity, self.spin = tool.velocity.copy(), tool.spin.copy()
        self.arms = points - tool.center
        self._mass, self._inverse = tool.mass, np.asarray(np.linalg.inv(tool.inertia), np.float64)
        self.walls = walls
        self.wall_velocity = np.zeros((0, 3)) if walls is None else np.array(walls.model.velocity)
        """of all particles of the walls' model"""
        self._given, self._gives = [np.zeros(0)] * len(points), np.zeros(len(points))
        if walls is not None:
            given = walls.weights * walls.model.inverse_mass[walls.corners]
            self._given, self._gives = list(given), (walls.weights * given).sum(axis=1)

    def speed(self, k: int) -> Floats:
        """Of the body against the wall."""
        speed = np.add(self.velocity, np.cross(self.spin, self.arms[k]), dtype=np.float64)
        if self.walls is not None:
            speed -= self.walls.weights[k] @ self.wall_velocity[self.walls.corners[k]]
        return speed

    def weight(self, k: int, direction: Floats) -> float:
        """The change of speed along a direction by a unit impulse along it."""
        lever = np.cross(self.arms[k], direction)
        return 1.0 / self._mass + float(lever @ self._inverse @ lever) + float(self._gives[k])

    def push(self, k: int, impulse: Floats) -> None:
        """Let an impulse act on the body, and its opposite on the wall."""
        self.velocity += impulse / self._mass
        self.spin += self._inverse @ np.cross(self.arms[k], impulse)
        if self.walls is not None:
            np.subtract.at(self.wall_velocity, self.walls.corners[k], np.outer(self._given[k], impulse))


def answer_contacts(
    tool: Tool, points: Floats, normals: Floats, restitution: float, friction: float, walls: WallPoints | None
) -> tuple[Floats, Tool]:
    """The impulses (k,3) on the body, and the body as it moves after them; the walls' model is told its velocities."""
    sides = _Sides(tool, points, walls)
    impulse = _settle(sides, normals, restitution, friction)
    share = _share_that_keeps(tool, sides)
    velocity, spin = (
        before + share * (after - before)
        for before, after in ((tool.velocity, sides.velocity), (tool.spin, sides.spin))
    )
    if walls is not None and len(points):
        before = walls.model.velocity
        walls.model.velocity = before + share * (sides.wall_velocity - before)
    return share * impulse, tool._replace(velocity=velocity, spin=spin)


def _settle(sides: _Sides, normals: Floats, restitution: float, friction: float) -> Floats:
    impulse = np.zeros((len(normals), 3))
    speeds = np.array([sides.speed(k) @ n for k, n in enumerate(normals)])
    goals = -restitution * np.maximum(speeds, 0.0)
    for _ in range(MOST_SWEEPS if len(normals) else 0):
        largest = 0.0
        for k, n in enumerate(normals):
            speed = sides.speed(k)
            along = float(speed @ n) - goals[k]
            new = max(0.0, -float(impulse[k] @ n) + along / sides.weight(k, n))
            change = -new * n - (impulse[k] @ n) * n
            across = speed - (speed @ n) * n
            slip = float(np.linalg.norm(across))
            if friction > 0.0 and slip > 0.0:
                side = across / slip
                held = impulse[k] - (impulse[k] @ n) * n - slip / sides.weight(k, side) * side
                size = float(np.linalg.norm(held))
                if size > friction * new:
                    held *= friction * new / size
                change += held - (impulse[k] - (impulse[k] @ n) * n)
            impulse[k] += change
            sides.push(k, change)
            largest = max(largest, float(np.abs(change).max()))
        if largest <= SETTLED * float(np.abs(impulse).max(initial=0.0)):
            break
    return impulse


def _share_that_keeps(tool: Tool, sides: _Sides) -> float:
    """How much of the impulses may act before there is more kinetic energy than without them; it is a convex parabola of that share."""
    linear, turning = sides.velocity - tool.velocity, sides.spin - tool.spin
    curve = float(tool.mass * linear @ linear + turning @ tool.inertia @ turning)
    slope = float(tool.mass * tool.velocity @ linear + tool.spin @ tool.inertia @ turning)
    if sides.walls is not None:
        model = sides.walls.model
        given = sides.wall_velocity - model.velocity
        curve += float((model.mass * (given**2).sum(axis=1)).sum())
        slope += float((model.mass * (model.velocity * given).sum(axis=1)).sum())
    if slope + 0.5 * curve <= 0.0 or not curve > 0.0:
        return 1.0
    return min(max(-2.0 * slope / curve, 0.0), 1.0)
