"""Three rough contours of 512 segments in the three situations of Rivera 2002, figure 9: apart, two in contact, contacts between all; and
many that fall into a box.

The paper shows its objects but does not give their control points; these are irregular stars of about its proportions.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from abut.contours import Contour
from abut.contours.picture import draw
from abut.core import arrays
from abut.core.arrays import Floats, frozen
from abut.core.showing import count as counted
from abut.core.showing import describe
from abut.core.types import Number

SEGMENTS = 512
ROUGHNESS = 0.004
MOST_SEGMENTS = 2**16
MOST_FALLING = 10_000


@dataclass(frozen=True, eq=False, repr=False)
class RoughContours:
    """Contours of size 1 in several situations."""

    contours: tuple[Contour, ...]
    situations: Mapping[str, Floats]
    """by name: (3,3) x, y and angle in radians, a row for each contour"""

    def __repr__(self) -> str:
        contours, situations = len(self.contours), len(self.situations)
        return describe(self, counted(contours, "contour"), counted(situations, "situation"))

    def _repr_svg_(self) -> str:
        poses = list(self.situations.values())[-1]
        return draw([contour.moved(pose) for contour, pose in zip(self.contours, poses, strict=True)])


def star_control(count: int, seed: int) -> Floats:
    """(count,2) control points of an irregular star of size 1 about the origin."""
    rng = np.random.default_rng(seed)
    turn = np.arange(count) * 2.0 * np.pi / count
    radius = np.ones(count)
    for k in range(2, 12):
        radius += rng.normal() * 0.35 / k * np.cos(k * turn + rng.uniform(0.0, 2.0 * np.pi))
    radius = np.maximum(radius, 0.25)
    points = np.stack([radius * np.cos(turn), radius * np.sin(turn)], axis=1)
    return points / float(np.ptp(points, axis=0).max())


def rough_contours(segments: int = SEGMENTS, roughness: Number = ROUGHNESS) -> RoughContours:
    """Rivera's scene: three rough contours, apart, two in contact, and contacts between all.

    Args:
        segments: of each contour, 4 or more.
        roughness: standard deviation of the noise in their control points; their size is 1.

    Returns:
        The contours, and their poses in each situation.

    Examples:
        >>> from abut import contours, scenes
        >>> scene = scenes.rough_contours(64)
        >>> scene
        RoughContours(3 contours, 3 situations)
        >>> near, hits = contours.collide_all(scene.contours, scene.situations["two in contact"])
        >>> near[hits.relation == contours.CONTACT].tolist()
        [[0, 1]]
    """
    segments = arrays.count(segments, "segments", least=4, most=MOST_SEGMENTS)
    contours = tuple(
        Contour(star_control(segments, seed), roughness, detail=1, seed=seed, name=f"star {seed}") for seed in (1, 2, 3)
    )
    situations = {
        "apart": np.array([[0.0, 0.0, 0.0], [1.15, 0.2, 1.0], [0.5, 1.15, 2.0]]),
        "two in contact": np.array([[0.0, 0.0, 0.0], [0.83, 0.2, 1.0], [0.5, 1.15, 2.0]]),
        "contacts between all": np.array([[0.0, 0.0, 0.0], [0.6, 0.2, 1.0], [0.3, 0.6, 2.0]]),
    }
    return RoughContours(contours, {name: frozen(poses) for name, poses in situations.items()})


def falling_contours(count: int = 24, columns: int = 5) -> tuple[list[Contour], Floats]:
    """A box, which stands still, and rough contours above its floor, in rows.

    Args:
        count: how many fall.
        columns: how many lie beside one another in a row.

    Returns:
        All contours, the box first, and their poses (1 + count, 3) x, y and angle in radians, clear of one another.

    Examples:
        >>> from abut import contours, scenes
        >>> shapes, poses = scenes.falling_contours(count=2, columns=2)
        >>> contours.Animation(shapes, poses, fixed=[True, False, False])
        Animation(3 contours, 1 fixed)
    """
    count = arrays.count(count, "count", most=MOST_FALLING)
    columns = arrays.count(columns, "columns", least=1, most=MOST_FALLING)
    width, height = 1.2 * columns + 0.4, 1.3 * (count // columns + 2)
    wall = 0.4
    corners = [(-wall, -wall), (width + wall, -wall), (width + wall, height), (width, height), (width, 0.0), (0.0, 0.0)]
    box = Contour.from_polygon([*corners, (0.0, height), (-wall, height)], name="box")
    contours, poses = [box], [(0.0, 0.0, 0.0)]
    for k in range(count):
        contours.append(Contour(star_control(24, 10 + k), ROUGHNESS, detail=2, seed=k, name=f"star {k}"))
        poses.append((0.8 + 1.2 * (k % columns), 0.8 + 1.2 * (k // columns), 0.7 * k))
    return contours, np.array(poses)
