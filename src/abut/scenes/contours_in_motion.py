"""Rough contours in motion, as in Rivera 2002, figure 11: many objects of complex shape and of different roughness, in two scenes.

The paper shows two frames of each and gives neither objects nor motions; these are stars of several sizes and roughnesses.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from abut.contours import Animation, Contour
from abut.core import arrays
from abut.core.arrays import Floats
from abut.core.showing import count as counted
from abut.core.showing import describe
from abut.scenes.rough_contours import star_control

ROUGHNESSES = (0.0, 0.002, 0.006, 0.012)
SEGMENTS = 32
MOST = 2_000


class ContourScene(NamedTuple):
    """Contours to let run."""

    animation: Animation
    """at its start"""
    contours: tuple[Contour, ...]
    """in its order; those that stand still first"""
    dt: float
    """seconds of a step"""
    step_count: int
    """how many steps are worth looking at"""

    def __repr__(self) -> str:
        steps = f"{counted(self.step_count, 'step')} of {self.dt:.3g} s"
        return describe(self, counted(len(self.contours), "contour"), steps)

    def _repr_svg_(self) -> str:
        return self.animation._repr_svg_()  # pyright: ignore[reportPrivateUsage]


def _stars(count: int, rng: np.random.Generator) -> list[Contour]:
    """Stars of sizes from 0.6 to 1, smooth to rough."""
    stars: list[Contour] = []
    for k in range(count):
        size = rng.uniform(0.6, 1.0)
        control = size * star_control(SEGMENTS, 10 + k)
        sigma = ROUGHNESSES[k % len(ROUGHNESSES)] * size
        stars.append(Contour(control, sigma, detail=4, seed=k, name=f"star {k}"))
    return stars


def _rows(count: int, columns: int) -> Floats:
    """(count,2) places in rows, clear of one another for stars of size 1."""
    row, column = np.divmod(np.arange(count), columns)
    places: Floats = 0.8 + 1.2 * np.column_stack([column, row])
    return places


def heap_of_contours(count: int = 30) -> ContourScene:
    """Rough stars that fall into a box and come to lie on one another.

    Args:
        count: how many fall.

    Returns:
        The scene; the box is its first contour.

    Examples:
        >>> from abut import scenes
        >>> scenes.heap_of_contours(4)
        ContourScene(5 contours, 960 steps of 0.00417 s)
    """
    count = arrays.count(count, "count", least=1, most=MOST)
    rng, columns = np.random.default_rng(1), max(2, round(count**0.5))
    width, height = 1.2 * columns + 0.4, 1.2 * (-(-count // columns)) + 1.0
    outer = [(-0.4, -0.4), (width + 0.4, -0.4), (width + 0.4, height), (width, height)]
    box = Contour.from_polygon([*outer, (width, 0), (0, 0), (0, height), (-0.4, height)], name="box")
    stars = _stars(count, rng)
    poses = np.zeros((count + 1, 3))
    poses[1:, :2], poses[1:, 2] = _rows(count, columns), rng.uniform(0, 6.0, count)
    animation = Animation([box, *stars], poses, fixed=[True] + [False] * count)
    return ContourScene(animation, (box, *stars), 1 / 240, 960)


def swarm_of_contours(count: int = 16) -> ContourScene:
    """Rough stars that fly about between four walls without gravity, lose nothing, and are stirred by a bar that turns.

    Args:
        count: how many fly.

    Returns:
        The scene; the walls and the bar are its first five contours.

    Examples:
        >>> from abut import scenes
        >>> scenes.swarm_of_contours(4)
        ContourScene(9 contours, 960 steps of 0.00417 s)
    """
    count = arrays.count(count, "count", least=1, most=MOST)
    rng = np.random.default_rng(2)
    columns = max(2, round((2 * count) ** 0.5))
    width, depth = 1.2 * columns + 0.4, 1.2 * (-(-count // columns)) + 3.6
    around = [(-0.4, -0.4, width + 0.4, 0), (-0.4, depth, width + 0.4, depth + 0.4)]
    around += [(-0.4, 0.001, 0, depth - 0.001), (width, 0.001, width + 0.4, depth - 0.001)]
    walls = [
        Contour.from_polygon([(x, y), (u, y), (u, v), (x, v)], name=f"wall {k}")
        for k, (x, y, u, v) in enumerate(around)
    ]
    bar = Contour.from_polygon([(-0.8, -0.1), (0.8, -0.1), (0.8, 0.1), (-0.8, 0.1)], name="bar")
    stars = _stars(count, rng)
    poses = np.zeros((count + 5, 3))
    poses[4] = (0.5 * width, depth - 1.5, 0.0)
    poses[5:, :2], poses[5:, 2] = _rows(count, columns), rng.uniform(0, 6.0, count)
    still = [True] * 4 + [False] * (count + 1)
    stirs = [False] * 4 + [True] + [False] * count
    animation = Animation(
        [*walls, bar, *stars], poses, fixed=still, kinematic=stirs, gravity=(0, 0), restitution=1.0, friction=0.1
    )
    animation.velocity[4, 2] = 2.0
    animation.velocity[5:] = rng.normal(0.0, 1.5, (count, 3))
    return ContourScene(animation, (*walls, bar, *stars), 1 / 240, 960)


PLANE_SCENES: Mapping[str, Callable[..., ContourScene]] = MappingProxyType(
    {"contours": heap_of_contours, "swarm": swarm_of_contours}
)
"""What `abut simulate` lets run in the plane, by name; each takes how many contours there are."""
