"""A tool cuts a passage through a wall, a catheter passes, a suture closes the passage behind it (Jund 2010, §3.4.1: cutting, simplification).

Two chambers of unit cubes with a wall between them, two cubes thick. The tool cuts a cube of the wall along a diagonal plane and makes both
halves free; the suture merges the halves and makes the cube an obstacle again.
"""

import numpy as np

from abut import cells
from abut.cells import Environment
from abut.core import arrays
from abut.core.errors import InvalidInput
from abut.dynamics import MassSpring
from abut.scenes.jund import BodyScene

SIZE = (5, 5, 12)
WALL = (5, 6)
"""The layers of cubes, along z, that are wall."""
COLUMN = (2, 2)
"""Where along x and y the passage is."""


MOST_PARTICLES = 10_000


class Passage:
    """The chambers, the catheter below the wall, and what tool and suture do to the cubes of the passage, numbered from below."""

    scene: BodyScene

    def __init__(self, particle_count: int = 20, spacing: float = 0.2) -> None:
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

    @property
    def environment(self) -> Environment:
        """The chambers."""
        return self.scene.environment

    def cell(self, layer: int) -> int:
        """The number of a cube of the passage: 0 is the lower one, 1 the upper one."""
        number = arrays.count(layer, "layer", most=len(WALL) - 1)
        return (COLUMN[0] * SIZE[1] + COLUMN[1]) * SIZE[2] + WALL[number]

    def cut(self, layer: int) -> None:
        """Cut a cube of the wall in two along a diagonal plane, and open both halves."""
        cell, number = self.cell(layer), int(layer)
        if number in self._halves:
            raise InvalidInput("layer", f"{number} is cut already")
        low = np.array([*COLUMN, WALL[number]])
        loop = low + np.array([(0, 0, 0), (1, 1, 0), (1, 1, 1), (0, 0, 1)])
        strides = np.array([(SIZE[1] + 1) * (SIZE[2] + 1), SIZE[2] + 1, 1])
        self._halves[number] = self.environment.cut(cell, loop @ strides)
        self.environment.set_obstacle([cell, self._halves[number]], False)

    def sew(self, layer: int) -> None:
        """Merge the halves of a cube that was cut, and close it. Nothing should be inside."""
        cell, number = self.cell(layer), int(layer)
        if number not in self._halves:
            raise InvalidInput("layer", f"{number} has not been cut")
        self.environment.merge(cell, self._halves.pop(number))
        self.environment.set_obstacle(cell, True)
