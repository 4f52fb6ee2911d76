"""Fast bodies: a continuous body stops where it first comes near something within a step, and goes on in the next (conservative advancement).

Between two states a body moves on a straight line and turns at a constant rate. Along the direction between the nearest points the distance shrinks
no faster than the relative speed along it, plus each body's turn times its radius: so that much time may pass safely, again and again. The
distance is that of the tracked hulls less what it may be off, so the time is never late. It stops a slop away, where the contact margin sees it
in the next step. What is nearer than that at the beginning, or was pushed in the step, has a contact, and the solver holds it; should it fail
to, as it may for a body that spins fast, the center of mass is kept from passing. Triangles behind whose planes the body reaches by no more than
a slop do not stop it: it slides along them.
"""

import numpy as np
from numpy.typing import NDArray

from abut.convex import track_many
from abut.core.arrays import Floats, Integers
from abut.core.records import Records
from abut.shapes.pool import FORM
from abut.shapes.round.axis import refine_tracks
from abut.world.bodies.state import name_fields
from abut.world.bodies.store import Store
from abut.world.contacts.colliders import NOWHERE, Colliders
from abut.world.contacts.hull_tracking import square
from abut.world.continuous.poses import find_depths, find_turns, measure_triangles, place_at

CHECKED = 1e-10
"""Of the size: by so much a tracked distance may be too large; it is checked to be less than 2e-11."""
INNER = 0.25
"""Part of its distance at the start that the center of a body which is in contact keeps."""
MOST_STEPS = 96
"""After so many advances the body stops where it is: early, never late."""


class Advancement:
    """Pairs of a collider and another, or one of its triangles: one row each, with the time up to which they are known to be apart."""

    def __init__(self, store: Store, colliders: Colliders, after: Records, rows: Integers) -> None:
        before = name_fields(store.state)
        self.store, self.colliders, self.before, self.after = store, colliders, before, after
        self.i, self.j, self.triangle = rows.T
        self.a, self.b = colliders.body[self.i], colliders.body[self.j]
        radius = colliders.pool.cores.radius
        angles = np.empty(len(before))
        find_turns(before, self.after, angles)
        moved = self.after["position"] - before["position"]
        self.travel = moved[self.b] - moved[self.a]
        self.angle = angles[self.a]
        self.spin_b = angles[self.b] * store.radius[self.b]
        self.spin = angles[self.a] * store.radius[self.a] + self.spin_b
        self.radius_b = np.where(self.triangle < 0, radius[colliders.shape[self.j] + 1], 0.0)
        self.grown = radius[colliders.shape[self.i] + 1] + self.radius_b
        self.time = np.zeros(len(rows))
        self.inner = np.zeros(len(rows), np.bool_)
        self.features = np.full((len(rows), 2), -1, np.int64)
        self.target = np.empty(len(rows))

    def find_sliding(self, slop: float) -> NDArray[np.bool_]:
        """Rows of triangles at rest that the core sinks behind by at most a slop during the step.

        Between its ends a point that turns by φ around a center at a distance r is off the straight line by at most φ²·r / 8."""
        still = self.before[self.b] == self.after[self.b]
        on = np.flatnonzero((self.triangle >= 0) & still)
        start, end, other = np.empty((3, len(on), 12))
        for out, ids, time in ((start, self.i, 0.0), (end, self.i, 1.0), (other, self.j, 0.0)):
            times, own = np.full(len(on), time), (self.colliders.body, self.colliders.local)
            place_at(self.before, self.after, *own, ids[on], times, out)
        pool, shapes, depths = self.colliders.pool, self.colliders.shape[self.i[on]] + 1, np.empty(len(on))
        find_depths(pool.cores, pool.trees, shapes, start, end, other, self.triangle[on], depths)
        arm = self.store.radius[self.a[on]] - pool.cores.radius[shapes]
        sliding = np.zeros(len(self.i), np.bool_)
        sliding[on] = depths + self.angle[on] ** 2 / 8.0 * arm <= slop
        return sliding

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Leave out rows that are done."""
        for name, value in list(vars(self).items()):
            if name not in ("store", "colliders", "before", "after"):
                setattr(self, name, value[kept])

    def measure(self) -> tuple[Floats, Floats]:
        """Gap of each row at its time, no more than it is, and the normal from a to b."""
        poses = [np.empty((len(self.i), 12)) for _ in range(2)]
        for ids, out in ((self.i, poses[0]), (self.j, poses[1])):
            place_at(self.before, self.after, self.colliders.body, self.colliders.local, ids, self.time, out)
        start, end = self.before["position"][self.a], self.after["position"][self.a]
        middle = start + self.time[:, np.newaxis] * (end - start)
        poses[0][self.inner] = np.concatenate((np.tile(np.eye(3).ravel(), (len(middle), 1)), middle), axis=1)[
            self.inner
        ]
        shape_a = np.where(self.inner, NOWHERE, self.colliders.shape[self.i] + 1)
        pool, found = self.colliders.pool, np.empty((len(self.i), 4))
        on = np.flatnonzero(self.triangle < 0)
        which = np.stack((np.maximum(shape_a, 0), self.colliders.shape[self.j] + 1), axis=1)[on].ravel()
        both = np.stack((poses[0][on], poses[1][on]), axis=1).reshape(-1, 12)
        pairs = np.arange(2 * len(on)).reshape(-1, 2)
        if len(on):
            tracks = track_many(pool.hulls, pairs, square(both), self.features[on], which)
            self.features[on] = tracks.features
            distance, normal = tracks.distance.copy(), tracks.normal.copy()
            if pool.cores.table[which, FORM].any():
                refine_tracks(pool.cores, both, which, pairs, distance, normal, *np.empty((2, len(on), 3)))
            scale = pool.hulls.radii[which].reshape(-1, 2).sum(axis=1) + np.abs(distance)
            found[on, 0], found[on, 1:] = distance - CHECKED * scale, normal
        on = np.flatnonzero(self.triangle >= 0)
        results = np.empty((len(on), 4))
        rows = (shape_a[on], poses[0][on], poses[1][on], self.triangle[on])
        measure_triangles(pool.cores, pool.trees, self.colliders.room[0], *rows, results)
        found[on] = results
        return found[:, 0] - self.grown, found[:, 1:]

    def start(self, slop: float, part: float, held: Integers) -> Floats:
        """The first look. What is within a slop has a contact; there it is the center of mass that must not pass."""
        gap, normal = self.measure()
        self.inner = (gap <= slop) | np.isin((np.minimum(self.i, self.j) << 32) | np.maximum(self.i, self.j), held)
        outer = np.maximum(gap, 0.0)
        self.grown = np.where(self.inner, self.radius_b, self.grown)
        self.spin = np.where(self.inner, self.spin_b, self.spin)
        self.features[self.inner] = -1
        if self.inner.any():
            gap, normal = self.measure()
        self.target = np.where(self.inner, INNER * (gap - np.where(self.inner, outer, 0.0)), part * slop)
        return np.column_stack((gap, normal))

    def run(self, slop: float, part: float, held: Integers, times: Floats) -> None:
        """Lower times[body] to the first contact of each body."""
        self.keep(~self.find_sliding(slop))
        found = self.start(slop, part, held)
        for step in range(MOST_STEPS):
            gap, normal = found[:, 0], found[:, 1:]
            done = ~(gap > self.target)
            if step > 0:
                np.minimum.at(times, self.a[done], self.time[done])
            speed = self.spin - (self.travel * normal).sum(axis=1)
            ahead = np.divide(gap - 0.5 * self.target, speed, out=np.full(len(gap), np.inf), where=speed > 0.0)
            self.time = self.time + ahead
            self.keep(~done & (self.time < times[self.a]))
            if not len(self.i):
                return
            found = np.column_stack(self.measure())
        np.minimum.at(times, self.a, self.time)
