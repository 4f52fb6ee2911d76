"""Angles that pieces may be turned by: read from the caller, chosen for pieces that turn freely, and only those at which a piece fits.

A piece that turns freely takes evenly spread turns. Where it fits at none of them, the angles at which it does are found exactly: width and
height of a turned convex hull are pieces of sinusoids between the angles at which an edge is parallel to an axis, so the angles at which the piece
fits are intervals between such angles and those at which a sinusoid has the size of the sheet. One angle out of each interval is looked at.
"""

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from abut.contours.nesting.tables import turn
from abut.core import arrays
from abut.core.arrays import Floats
from abut.core.errors import InvalidInput

MOST_ANGLES = 1000
"""Of one piece: tables are made for the differences of all pairs of angles."""
TRIED = 16
"""Angles with the least width, of those that seem to fit, that are looked at with rounding."""


RotationsLike: TypeAlias = ArrayLike | Sequence[ArrayLike | None] | None
"""Angles in degrees that pieces may be turned by, or None for any; or a list of such, one for each piece."""


def _is_list(value: object) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _read_row(value: object, number: int) -> tuple[float, ...]:
    if value is None:
        return ()
    angles = arrays.coordinates(value, f"rotations_deg[{number}]", (None,))
    if not len(angles):
        raise InvalidInput("rotations_deg", "is empty: give the angles in degrees, or None for any", number)
    different = sorted({float(angle) % 360.0 % 360.0 for angle in angles})  # −1e-20 % 360 is 360
    if len(different) > MOST_ANGLES:
        raise InvalidInput("rotations_deg", f"{len(different)} different angles are more than {MOST_ANGLES}", number)
    return tuple(different)


def read_rotations(value: RotationsLike, count: int) -> list[tuple[float, ...]]:
    """For each of so many pieces its angles in degrees, from 0 to 360, in order; none where it may turn freely."""
    rows: list[Any] = arrays.listed(value, "rotations_deg") if _is_list(value) else []
    if not any(row is None or _is_list(row) for row in rows):
        return [_read_row(value, 0)] * count
    if len(rows) != count:
        raise InvalidInput("rotations_deg", f"has {len(rows)} rows for {count} pieces")
    return [_read_row(row, number) for number, row in enumerate(rows)]


def fitting_angles(polygon: Floats, angles: Sequence[float], width: float, height: float) -> list[float]:
    """Those of the angles at which the polygon is no larger than the sheet."""
    sizes = [np.ptp(turn(polygon, angle), axis=0) for angle in angles]
    return [angle for angle, size in zip(angles, sizes, strict=True) if size[0] <= width and size[1] <= height]


def _hull(polygon: Floats) -> Floats:
    """Corners of the convex hull, anticlockwise (monotone chain)."""
    points = sorted(map(tuple, polygon.tolist()))
    chains: list[list[tuple[float, ...]]] = []
    for row in (points, points[::-1]):
        chain: list[tuple[float, ...]] = []
        for x, y in row:
            while len(chain) > 1:
                (ax, ay), (bx, by) = chain[-2], chain[-1]
                if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0.0:
                    break
                chain.pop()
            chain.append((x, y))
        chains.append(chain[:-1])
    return np.array(chains[0] + chains[1])


def _between(angles: Floats) -> Floats:
    """Radians between neighbours, from 0 to π, which is half a turn later the first again."""
    ordered = np.unique(angles % math.pi)
    return 0.5 * (ordered + np.append(ordered[1:], ordered[0] + math.pi))


def _sizes(hull: Floats, radians: Floats) -> tuple[Floats, Floats]:
    """(k,2) width and height of the hull at each angle, and (k,2,2) the diagonals that they are the shadows of."""
    cosine, sine = np.cos(radians)[:, None], np.sin(radians)[:, None]
    placed = np.stack([cosine * hull[:, 0] - sine * hull[:, 1], sine * hull[:, 0] + cosine * hull[:, 1]], axis=1)
    return np.ptp(placed, axis=2), hull[placed.argmax(axis=2)] - hull[placed.argmin(axis=2)]


def find_fitting_angles(polygon: Floats, width: float, height: float) -> list[float]:
    """Angles at which the polygon fits the sheet, the narrowest and half a turn later; none where it fits at none."""
    hull = _hull(polygon)
    edges = np.roll(hull, -1, axis=0) - hull
    aligned = np.concatenate([-np.arctan2(edges[:, 1], edges[:, 0]) + 0.5 * math.pi * k for k in range(2)])
    _, diagonals = _sizes(hull, _between(aligned))
    candidates = [aligned, _between(aligned)]
    for axis, size in enumerate((width, height)):
        x, y = diagonals[:, axis, 0], diagonals[:, axis, 1]
        # Its shadow on the axis is |d| cos(angle − top).
        top = np.arctan2(-y, x) if axis == 0 else np.arctan2(x, y)
        length = np.hypot(x, y)
        reached = length > size
        half = np.arccos(size / length[reached])
        candidates += [top[reached] - half, top[reached] + half]
    every = np.concatenate(candidates)
    every = np.unique(np.concatenate([every % math.pi, _between(every) % math.pi]))
    sizes, _ = _sizes(hull, every)
    close = (sizes <= np.array([width, height]) * (1.0 + 1e-12)).all(axis=1)
    ordered = every[close][np.argsort(sizes[close, 0], kind="stable")][:TRIED]
    for radians in ordered.tolist():
        angle = math.degrees(radians) % 360.0
        fitting = fitting_angles(polygon, [angle, (angle + 180.0) % 360.0], width, height)
        if fitting:
            return fitting
    return []
