"""A vessel that beats, and a catheter with a radius in it: walls that move against an instrument that is pushed into them."""

from typing import NamedTuple

import numpy as np

from abut import cells
from abut.cells import Environment
from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.showing import count as count_of
from abut.core.showing import describe
from abut.core.types import Number
from abut.dynamics import MassSpring
from abut.scenes.jund import push_along

ACROSS = 6
"""Cubes across the vessel, cut into six tetrahedra each about the same diagonal (Kuhn 1960), so that neighbours agree."""
ROUND = 0.35
"""How far the corners of the square are drawn in; 0.5 would make a circle, and flat tetrahedra in its corners."""
KUHN = ((1, 3, 7), (1, 7, 5), (2, 7, 3), (2, 6, 7), (4, 5, 7), (4, 7, 6))
"""Of a cube whose corner (x, y, z) has the number x + 2y + 4z: with corner 0, six tetrahedra around the diagonal to 7."""
BEAT, WAVE, PERIOD = 0.25, 9.0, 40.0
"""By how much the vessel narrows, how long the wave is, in edges, and how many steps a beat takes."""
THRUST, SIDEWAYS = 1.5, 1.0
MOST_LENGTH = 100_000


class BeatingVessel(NamedTuple):
    """A vessel along z, the part of it that beats, and a catheter."""

    environment: Environment
    rows: Integers
    """the vertices that beat"""
    rest: Floats
    """(rows, 3) where they are at rest"""
    points: Floats
    """(n,3) of the catheter"""
    edges: Integers
    radius: float
    """of the catheter"""
    model: MassSpring

    def __repr__(self) -> str:
        cell_count, points = count_of(self.environment.cell_count, "cell"), count_of(len(self.points), "point")
        return describe(self, cell_count, count_of(len(self.rows), "moving vertex", "moving vertices"), points)

    def beat(self, step: Number) -> Floats:
        """Where the vertices `rows` are at a step: a wave of narrowing runs along the vessel, which sways.

        Args:
            step: counted from 0, where the vessel is at rest.

        Examples:
            >>> import abut
            >>> vessel = abut.scenes.beating_vessel(14)
            >>> vessel.environment.deform(vessel.beat(3), moved=vessel.rows)
        """
        t = arrays.scalar(step, "step") / PERIOD
        z = self.rest[:, 2]
        phase = 2.0 * np.pi * (t - z / WAVE)
        ease = min(max(t, 0.0), 1.0) * np.sin(np.pi * (z - z.min()) / np.ptp(z)) ** 2  # the ends of the part stay
        narrowed = 1.0 - BEAT * ease * (0.5 + 0.5 * np.sin(phase))
        sway = 0.5 * ease * np.sin(0.7 * phase)
        places = self.rest.copy()
        places[:, :2] *= narrowed[:, np.newaxis]
        places[:, 0] += sway
        return frozen(places)

    def push(self, step: Number) -> None:
        """Let forces act on the catheter: it is fed and drawn back, and pressed against the walls, one after another.

        Args:
            step: counted from 0.

        Examples:
            >>> import abut
            >>> vessel = abut.scenes.beating_vessel(14)
            >>> vessel.push(0)
        """
        t = arrays.scalar(step, "step") / PERIOD
        push_along(self.model, float(THRUST * np.sin(0.4 * np.pi * t)))
        force = np.zeros_like(self.points)
        if self.model.force is not None:
            force += self.model.force
        force += SIDEWAYS * np.array([np.cos(t), np.sin(t), 0.0])
        self.model.force = force


def beating_vessel(length: Number = 28, particle_count: Number = 10, radius: Number = 0.5) -> BeatingVessel:
    """A vessel of tetrahedra, of which the part around a catheter beats; each edge of the vessel is about 1 long.

    However long the vessel is, the part that beats is the same.

    Args:
        length: how long the vessel is: 216 tetrahedra for each unit.
        particle_count: how many masses the catheter has, 1 apart.
        radius: of the catheter.

    Raises:
        InvalidInput: the catheter is too long for the vessel, or too thick.

    Examples:
        >>> import abut
        >>> abut.scenes.beating_vessel(14, particle_count=5)
        BeatingVessel(3,024 cells, 735 moving vertices, 5 points)
    """
    layers = arrays.count(length, "length", least=8, most=MOST_LENGTH)
    count = arrays.count(particle_count, "particle_count", least=3, most=1000)
    width = arrays.positive(radius, "radius")
    if count + 3 > layers:
        raise InvalidInput("particle_count", f"a catheter {count - 1} long does not fit in a vessel {layers} long")
    if width > 1.0:
        raise InvalidInput("radius", "is above 1: the vessel is 6 wide where it is at rest, and narrows")
    vertices, tetrahedra = _tube(layers)
    rows = np.flatnonzero(vertices[:, 2] <= min(layers, count + 18))
    points = np.zeros((count, 3))
    points[:, 2] = 1.5 + np.arange(count)
    points[:, 0] = 0.02 * np.arange(count) ** 1.5  # which way it bends does not hang on rounding
    i = np.arange(count)
    model = MassSpring.from_line(points, stiffness=200.0, bending=20.0, damping=2.0, mass=1.0)
    return BeatingVessel(
        cells.tetrahedra(vertices, tetrahedra),
        frozen(rows),
        frozen(vertices[rows]),
        frozen(points),
        frozen(np.stack((i[:-1], i[1:]), axis=1)),
        width,
        model,
    )


def _tube(layers: int) -> tuple[Floats, Integers]:
    """Vertices and tetrahedra of a tube along z, half as wide as ACROSS."""
    side = ACROSS + 1
    z, y, x = np.meshgrid(np.arange(layers + 1), np.arange(side), np.arange(side), indexing="ij")
    u, v = 2.0 * x / ACROSS - 1.0, 2.0 * y / ACROSS - 1.0
    half = 0.5 * ACROSS
    places = (half * u * np.sqrt(1.0 - ROUND * v**2), half * v * np.sqrt(1.0 - ROUND * u**2), z.astype(np.float64))
    vertices = np.stack([axis.ravel() for axis in places], axis=1)
    first = ((z * side + y) * side + x)[:-1, :-1, :-1].ravel()
    steps = np.array([k % 2 + k // 2 % 2 * side + k // 4 * side * side for k in range(8)])
    corners = first[:, np.newaxis] + steps
    rows = np.concatenate([corners[:, [0, *three]] for three in KUHN])
    return vertices, rows
