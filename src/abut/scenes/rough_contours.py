"""Three rough contours of 512 segments in the three situations of Rivera 2002, figure 9: apart, two in contact, contacts between all; and
many that fall into a box.

The paper shows its objects but does not give their control points; these are irregular stars of about its proportions.
"""

from dataclasses import dataclass

import numpy as np

from abut.contours import Contour
from abut.core import arrays
from abut.core.arrays import Floats

SEGMENTS = 512
ROUGHNESS = 0.004
MOST_SEGMENTS = 2**16
MOST_FALLING = 10_000


@dataclass(frozen=True, eq=False)
class RoughContours:
    """Contours of size 1, and poses (3,3) of them, x, y and angle, for each situation."""

    contours: list[Contour]
    situations: dict[str, Floats]


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


def rough_contours(segments: int = SEGMENTS, roughness: float = ROUGHNESS) -> RoughContours:
    """Rivera's scene with contours of so many segments each, the noise in their control points."""
    segments = arrays.count(segments, "segments", least=4, most=MOST_SEGMENTS)
    contours = [
        Contour(star_control(segments, seed), roughness, detail=1, seed=seed, name=f"star {seed}") for seed in (1, 2, 3)
    ]
    situations = {
        "apart": np.array([[0.0, 0.0, 0.0], [1.15, 0.2, 1.0], [0.5, 1.15, 2.0]]),
        "two in contact": np.array([[0.0, 0.0, 0.0], [0.83, 0.2, 1.0], [0.5, 1.15, 2.0]]),
        "contacts between all": np.array([[0.0, 0.0, 0.0], [0.6, 0.2, 1.0], [0.3, 0.6, 2.0]]),
    }
    return RoughContours(contours, situations)


def falling_contours(count: int = 24, columns: int = 5) -> tuple[list[Contour], Floats]:
    """A box, which stands still, and `count` rough contours above its floor, in rows: all contours, and poses (1 + count, 3) clear of one another."""
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
