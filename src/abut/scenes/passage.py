"""A tool cuts a passage through a wall, a catheter passes, a suture closes the passage behind it (Jund 2010, §3.4.1: cutting, simplification).

Two chambers of unit cubes with a wall between them, two cubes thick. The tool cuts a cube of the wall along a diagonal plane and makes both
halves free; the suture merges the halves and makes the cube an obstacle again.
"""

import numpy as np

from abut import cells
from abut.cells import Environment
from abut.core import arrays
from abut.core.errors import InvalidInput
from abut.core.showing import count as count_of
from abut.core.showing import describe
from abut.core.types import Number
from abut.dynamics import MassSpring
from abut.scenes.jund import BodyScene

SIZE = (5, 5, 12)
WALL = (5, 6)
"""The layers of cubes, along z, that are wall."""
COLUMN = (2, 2)
"""Where along x and y the passage is."""


MOST_PARTICLES = 10_000


class Passage:
    """The chambers, the catheter below the wall, and what tool and suture do to the cubes of the passage, numbered from below.

    `scene` is the environment, the catheter and its physics.

    Args:
        particle_count: how many masses the catheter has, from 3 on.
        spacing: how far they are from one another.

    Examples:
        >>> import abut
        >>> passage = abut.scenes.Passage(particle_count=10)
        >>> passage.environment
        Environment(300 cells, 50 obstacles)
        >>> for layer in (0, 1):
        ...     passage.cut(layer)
        >>> passage
        Passage(2 of 2 cubes cut, 10 masses)
        >>> passage.environment
        Environment(302 cells, 48 obstacles)
    """

    scene: BodyScene

    def __init__(self, particle_count: Number = 20, spacing: Number = 0.2) -> None:
        count, step = (
            arrays.count(particle_count, "particle_count", least=3, most=MOST_PARTICLES),
            arrays.positive(spacing, "spacing"),
        )
        layers = np.arange(np.prod(SIZE)) % SIZE[2]
        environment = cells.channel(*SIZE, obstacle=np.isin(layers, WALL))
        t = np.arange(count)[:, np.newaxis] - (count - 1.0)
        head = np.array([COLUMN[0] + 0.5, COLUMN[1] + 0.5, WALL[0] - 0.3])
        points = head + step * t * np.array([0.05, 0.02, 1.0])
        model = MassSpring.from_line(points, stiffness=400.0, bending=40.0, damping=2.0)
        i = np.arange(count)
        self.scene = BodyScene(
            environment, model.position, np.stack((i[:-1], i[1:]), axis=1), np.empty((0, 3), np.int64), model
        )
        self._halves: dict[int, int] = {}

    def __repr__(self) -> str:
        cut = f"{len(self._halves)} of {len(WALL)} cubes cut"
        return describe(self, cut, count_of(len(self.scene.points), "mass", "masses"))

    @property
    def environment(self) -> Environment:
        """The chambers."""
        return self.scene.environment

    def cell(self, layer: Number) -> int:
        """The number of a cube of the passage.

        Args:
            layer: 0 for the lower one, 1 for the upper one.
        """
        number = arrays.count(layer, "layer", most=len(WALL) - 1)
        return (COLUMN[0] * SIZE[1] + COLUMN[1]) * SIZE[2] + WALL[number]

    def cut(self, layer: Number) -> None:
        """Cut a cube of the wall in two along a diagonal plane, and open both halves.

        Args:
            layer: 0 for the lower one, 1 for the upper one.

        Raises:
            InvalidInput: it is cut already.
        """
        cell, number = self.cell(layer), arrays.count(layer, "layer")
        if number in self._halves:
            raise InvalidInput("layer", f"{number} is cut already")
        low = np.array([*COLUMN, WALL[number]])
        loop = low + np.array([(0, 0, 0), (1, 1, 0), (1, 1, 1), (0, 0, 1)])
        strides = np.array([(SIZE[1] + 1) * (SIZE[2] + 1), SIZE[2] + 1, 1])
        self._halves[number] = self.environment.cut(cell, loop @ strides)
        self.environment.set_obstacle([cell, self._halves[number]], False)

    def sew(self, layer: Number) -> None:
        """Merge the halves of a cube that was cut, and close it. Nothing should be inside.

        Args:
            layer: 0 for the lower one, 1 for the upper one.

        Raises:
            InvalidInput: it has not been cut.
        """
        cell, number = self.cell(layer), arrays.count(layer, "layer")
        if number not in self._halves:
            raise InvalidInput("layer", f"{number} has not been cut")
        self.environment.merge(cell, self._halves.pop(number))
        self.environment.set_obstacle(cell, True)
