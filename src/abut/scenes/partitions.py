"""What `abut simulate` lets run inside partitions: the four scenes of Jund 2010, chapter 6, and walls that beat, give way and are cut.

Each is an environment with what is in it, and a step; counts are smaller than the thesis', so that a page of one plays anywhere.
"""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from abut import cells, dynamics
from abut.cells.scenery import Drawn
from abut.core import arrays
from abut.core.showing import count, describe
from abut.core.types import Number
from abut.mesh import Mesh
from abut.scenes.beating import beating_vessel
from abut.scenes.jund import GRAVITY, BodyScene, catheter_scene, cube_scene, hand_scene, push_along
from abut.scenes.passage import Passage

TURN, SWING = 400.0, 100.0
"""Steps of one turn of the channel, and of its swinging to and fro."""
MOST = 10_000
"""Of `size`: more is a mistake."""


class PartitionScene(NamedTuple):
    """Things in an environment, and what happens to them in a step.

    Examples:
        >>> import abut
        >>> scene = abut.scenes.PARTITIONS["press"](2)
        >>> for _ in scene.run(3):
        ...     pass
        >>> scene.environment
        Environment(4 cells, 0 obstacles)
    """

    environment: cells.Environment
    things: tuple[Drawn, ...]
    """what moves in it: particles, mobiles, instruments"""
    step: Callable[[int], Any]
    """takes a step, by its number, and tells what moves have answered"""
    dt: float
    """seconds of a step"""
    step_count: int
    """how many show what there is to see"""

    def __repr__(self) -> str:
        return describe(self, count(self.environment.cell_count, "cell"), count(len(self.things), "thing"))

    def run(self, steps: int, progress: Callable[[int, int, str], None] | None = None) -> Iterator[Any]:
        """Take steps; after each, what its moves have answered.

        Args:
            steps: how many.
            progress: called after each step with how many are done, how many there are, and an empty text.
        """
        wanted = arrays.count(steps, "steps")
        for number in range(wanted):
            yield self.step(number)
            if progress is not None:
                progress(number + 1, wanted, "")


def _channel(size: Number = 300) -> PartitionScene:
    """Particles fall and bounce in a channel that swings, as gravity turns (§6.3.1)."""
    environment = cells.channel(5, 5, 28)
    rest, rng = environment.vertices, np.random.default_rng(0)
    points = rng.uniform(0.2, 0.8, (arrays.count(size, "size", least=1, most=MOST), 3)) * np.array([5.0, 5.0, 28.0])
    crowd = cells.Particles(environment, points)
    model = dynamics.MassSpring(points, np.empty((0, 2), np.int64))

    def step(number: int) -> Any:
        bent = rest.copy()
        bent[:, 0] += np.sin(2.0 * np.pi * (rest[:, 2] / 14.0 + number / SWING)) * min(number / SWING, 1.0)
        environment.deform(bent)
        crowd.settle()
        model.position = crowd.position
        angle = 2.0 * np.pi * number / TURN
        model.force = np.tile(GRAVITY * np.array([np.sin(angle), 0.0, -np.cos(angle)]), (len(points), 1))
        return dynamics.couple(model, crowd, 0.02, restitution=0.8)

    return PartitionScene(environment, (crowd,), step, 0.02, 400)


def _mobile(scene: BodyScene) -> cells.Mobile:
    shape = Mesh(scene.points, scene.faces) if len(scene.faces) else (scene.points, scene.edges)
    return cells.Mobile(scene.environment, shape)


def _catheter(size: Number = 20) -> PartitionScene:
    """A catheter is pushed through vessels (figure 6.9)."""
    scene = catheter_scene(5.0, particle_count=size, spacing=20.0 / arrays.count(size, "size", least=3, most=MOST))
    body = _mobile(scene)

    def step(number: int) -> Any:
        push_along(scene.model, 6.0)
        return dynamics.couple(scene.model, body, 0.04, after="slide")

    return PartitionScene(scene.environment, (body,), step, 0.04, 300)


def _cubes(size: Number = 60) -> PartitionScene:
    """Soft cubes fly among obstacles (figure 6.11)."""
    side = int(np.ceil(np.cbrt(1.6 * arrays.count(size, "size", least=1, most=MOST)))) + 1
    scene = cube_scene(side, size)
    body = _mobile(scene)

    def step(number: int) -> Any:
        return dynamics.couple(scene.model, body, 0.01, restitution=0.5)

    return PartitionScene(scene.environment, (body,), step, 0.01, 250)


def _hand(size: Number = 2) -> PartitionScene:
    """A hand falls on spikes (figures 6.13 and 6.14); `size` says how fine it is."""
    scene = hand_scene(size)
    body = _mobile(scene)

    def step(number: int) -> Any:
        return dynamics.couple(scene.model, body, 0.01, friction=0.3)

    return PartitionScene(scene.environment, (body,), step, 0.01, 120)


def _vessel(size: Number = 10) -> PartitionScene:
    """A catheter with a radius in a vessel that beats."""
    vessel = beating_vessel(arrays.count(size, "size", least=3, most=MOST) + 18, size)
    body = cells.Mobile(vessel.environment, (vessel.points, vessel.edges), radius=vessel.radius)

    def step(number: int) -> Any:
        vessel.environment.deform(vessel.beat(number), moved=vessel.rows)
        body.settle()
        vessel.model.position = body.position
        vessel.push(number)
        return dynamics.couple(vessel.model, body, 0.1, after="slide")

    return PartitionScene(vessel.environment, (body,), step, 0.1, 160)


def _press(size: Number = 4) -> PartitionScene:
    """A needle is thrown into a soft block and presses its walls out; its weight, and that of the block, keep their momentum together."""
    side = arrays.count(size, "size", least=2, most=100)
    environment = cells.channel(side, side, 1)
    walls = dynamics.tissue(environment, stiffness=60.0, damping=1.0, mass=0.5)
    middle = 0.5 * side
    ends = np.array([[middle - 0.6, middle - 0.3, 0.4], [middle + 0.6, middle + 0.3, 0.6]])
    needle = cells.Instrument(environment, (ends, [[0, 1]]), radius=0.15)
    model = dynamics.RigidTool(needle.position, mass=3.0, width=0.15, velocity=(0.2, 0.1, -3.0))

    def step(number: int) -> Any:
        return dynamics.couple(model, needle, 0.01, after="slide", walls=walls)

    return PartitionScene(environment, (needle,), step, 0.01, 200)


def _passage(size: Number = 20) -> PartitionScene:
    """A tool cuts a passage through a wall, a catheter goes through."""
    passage = Passage(size)
    scene = passage.scene
    body = _mobile(scene)

    def step(number: int) -> Any:
        if number in (20, 60):
            passage.cut(number // 50)
        push_along(scene.model, 6.0)
        return dynamics.couple(scene.model, body, 0.02, after="slide")

    return PartitionScene(scene.environment, (body,), step, 0.02, 240)


PARTITIONS: Mapping[str, Callable[..., PartitionScene]] = MappingProxyType(
    {
        "channel": _channel,
        "catheter": _catheter,
        "cubes": _cubes,
        "hand": _hand,
        "vessel": _vessel,
        "press": _press,
        "passage": _passage,
    }
)
"""Scenes inside partitions; each takes how many particles, masses, cubes, subdivisions or cells along a side there are."""
