"""What an animation knows of its contours: where their outlines are for positions of their centroids, how fast their points move, and where they
are near one another."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abut.contours.curve.contour import Contour
from abut.contours.meet.all_pairs import as_tables
from abut.contours.motion.impact_search import AIM, ANSWER_COLUMNS, TIME, find_impacts
from abut.contours.motion.near_places import COLUMNS, DISTANCE, ROOM, Places, find_blocked, find_near, places_from
from abut.core.arrays import Floats, Integers
from abut.core.jit import threads_for

PAIRS_ON_THREADS = 256


@dataclass(frozen=True, eq=False)
class Outlines:
    """The contours of an animation."""

    tables: Integers
    """(m,) addresses; valid while the contours live"""
    centroid: Floats
    """(m,2) in the contours' own coordinates"""
    radius: Floats
    """(m,) how far a control point is from the centroid, at most"""
    width: float
    """the least width of a contour that moves"""

    def turned(self, rows: Floats) -> Floats:
        """(m,2) centroids, turned by poses (m,4) but not moved."""
        c, s = rows[:, 0], rows[:, 1]
        x, y = self.centroid.T
        return np.stack([c * x - s * y, s * x + c * y], axis=1)

    def rows(self, position: Floats, angle: Floats) -> Floats:
        """(m,4) poses of the contours' coordinates for positions of their centroids."""
        rows = np.stack([np.cos(angle), np.sin(angle), np.zeros(len(angle)), np.zeros(len(angle))], axis=1)
        rows[:, 2:] = position - self.turned(rows)
        return rows

    def speeds(self, velocity: Floats) -> Floats:
        """(m,) how fast the fastest point of each body is, at most."""
        return np.hypot(velocity[:, 0], velocity[:, 1]) + np.abs(velocity[:, 2]) * self.radius

    def motions(self, path: Floats) -> Floats:
        """(m,12) motions of the contours from those of their centroids (m,9), for `impacts`."""
        turned = path.copy()
        turned[:, 2] = np.mod(turned[:, 2], 2.0 * np.pi)  # rounding is measured by angles
        return np.column_stack([turned, self.centroid, self.radius])

    def impacts(self, motions: Floats, pairs: Integers, distance: float, arrival: float) -> Floats:
        """(p,) the times in [0, 1] at which pairs come within a distance, up to `arrival` early; inf where they do not."""
        answers = np.empty((len(pairs), ANSWER_COLUMNS))
        if not len(pairs):
            return answers[:, TIME]
        with threads_for(len(pairs), PAIRS_ON_THREADS):
            find_impacts(self.tables, motions, pairs, 1.0, distance, arrival / AIM, answers)
        return answers[:, TIME]

    def blocked(self, pairs: Integers, rows: Floats, clear: float) -> Integers:
        """(p,) 1 for pairs that are nearer than `clear`, overlap or hold one another; else 0."""
        out = np.zeros(len(pairs), np.int64)
        with threads_for(len(pairs), PAIRS_ON_THREADS):
            find_blocked(self.tables, rows, pairs, clear, out)
        return out

    def places(
        self, rows: Floats, pairs: Integers, max_distance: float, spacing: float, down: Floats
    ) -> tuple[Places, Integers]:
        """Near places, from below upwards, and the rows of their pairs."""
        out, counts = np.empty((len(pairs) * ROOM, COLUMNS)), np.zeros(len(pairs), np.int64)
        each = np.ones(len(pairs))
        with threads_for(len(pairs), PAIRS_ON_THREADS):
            find_near(self.tables, rows, pairs, each * max_distance, each * spacing, ROOM, out, counts)
        kept = np.flatnonzero((np.arange(ROOM) < counts[:, np.newaxis]).reshape(-1) & ~(out[:, DISTANCE] <= 0.0))
        owner = kept // ROOM
        places = places_from(out[kept], pairs[owner])
        upwards = np.argsort(-(places.point_a @ down), kind="stable")
        return places.take(upwards), owner[upwards]


def make_outlines(contours: Sequence[Contour], held: NDArray[np.bool_]) -> Outlines:
    """The outlines of contours, of which some are held."""
    centroid = np.array([contour.centroid for contour in contours]).reshape(-1, 2)
    radius = np.array([np.hypot(*(c.segments - c.centroid).reshape(-1, 2).T).max() for c in contours])
    widths = [float(np.ptp(contour.bounds, axis=0).min()) for contour in contours]
    width = min((w for w, is_held in zip(widths, held, strict=True) if not is_held), default=1.0)
    return Outlines(as_tables(contours), centroid, radius, width)
