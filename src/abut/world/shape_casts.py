"""When a moving shape first meets the world: conservative advancement (as `continuous`), for a shape that is not in it.

The shape's origin goes straight from one pose to the other, and it turns about it at a constant rate; the world stands still. Of each convex
collider, and of each triangle of a surface, the plane across the nearest points parts the two for as long as the shape, moving along the normal and
turning, does not reach it: so much time may pass, again and again. Distances are less what they may be off, so the time is never late.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.convex import track_many
from abut.core.arrays import Floats, Integers
from abut.dynamics import rigid_state
from abut.shapes.pool import KIND, SURFACE, T0, T1, guest_of
from abut.shapes.round.axis import refine_tracks
from abut.world.bodies.state import AT_REST, POSITION, TURN, VELOCITY, name_fields
from abut.world.contacts.hull_tracking import square
from abut.world.continuous.advancement import CHECKED
from abut.world.continuous.poses import find_turns, measure_triangles, place_at
from abut.world.queries import Queries, Query

REACHED = 1e-9
"""Of the sizes of both: what is so near has met; ten times what a distance may be off."""
MOST_STEPS = 512
"""After so many advances the answer is the time so far: early, never late."""
NO_TRIANGLE = -1


class Path(NamedTuple):
    """From one pose to another."""

    before: Floats
    """(1,13) a state"""
    after: Floats

    def at(self, times: Floats) -> Floats:
        """(k,12) poses."""
        rows, local = np.empty((len(times), 12)), np.zeros((1, 12))
        local[0, [0, 4, 8]] = 1.0
        first, one = np.zeros(len(times), np.int64), np.zeros(1, np.int64)
        place_at(name_fields(self.before), name_fields(self.after), one, local, first, times, rows)
        return rows

    @property
    def travel(self) -> Floats:
        """(3,)"""
        return (self.after - self.before)[0, POSITION:TURN]

    @property
    def angle(self) -> float:
        """How far it turns."""
        angles = np.empty(1)
        find_turns(name_fields(self.before), name_fields(self.after), angles)
        return float(angles[0])


def path_between(poses: Floats) -> Path:
    """Of two poses (2,4,4)."""
    states = np.tile(AT_REST, (2, 1))
    states[:, POSITION:TURN], states[:, TURN:VELOCITY] = poses[:, :3, 3], rigid_state(poses).quaternion
    return Path(states[:1], states[1:])


def find_first_time(queries: Queries, query: Query, path: Path) -> float:
    """The part of the path after which the shape of a query comes to something that it is not in at the start; infinite if to nothing."""
    rows = _find_rows(queries, query, path)
    features = np.full((len(rows), 2), -1, np.int64)
    times, first = np.zeros(len(rows)), np.inf
    arm = float(np.linalg.norm(query.shape.core.vertices, axis=1).max())
    travel, spin = path.travel, path.angle * arm
    for _ in range(MOST_STEPS):
        if not len(rows):
            return first
        gap, normal, size = _measure(queries, query, path, rows, times, features)
        speed = normal @ travel + spin
        near = gap <= REACHED * size
        done = near & (speed > 0.0)
        first = min(first, float(times[done].min(initial=np.inf)))
        ahead = np.divide(gap, speed, out=np.full(len(gap), np.inf), where=speed > 0.0)
        times = times + np.maximum(ahead, 0.0)
        left = ~near & (times <= min(first, 1.0))
        rows, times, features = rows[left], times[left], features[left]
    return min(first, float(times.min(initial=np.inf)))


def _find_rows(queries: Queries, query: Query, path: Path) -> Integers:
    """(m,2) colliders that the shape may meet, and of surfaces their triangles, else NO_TRIANGLE."""
    colliders, store, pool = queries.colliders, queries.store, query.pool
    reach = np.linalg.norm(query.shape.core.vertices, axis=1).max() + query.shape.radius
    ends = np.concatenate((path.before[:, POSITION:TURN], path.after[:, POSITION:TURN]))
    low, high = ends.min(axis=0) - reach, ends.max(axis=0) + reach
    seen = np.flatnonzero(colliders.body >= 0)
    seen = seen[(store.solid_layer[colliders.body[seen]] & query.bits) != 0]
    boxes = colliders.boxes[seen]
    seen = seen[(boxes[:, :3] <= high).all(axis=1) & (boxes[:, 3:] >= low).all(axis=1)]
    table = pool.cores.table[colliders.shape[seen] + 1]
    is_surface = table[:, KIND] == SURFACE
    cores = seen[~is_surface]
    rows = [np.stack((cores, np.full(len(cores), NO_TRIANGLE)), axis=1)]
    for collider, row in zip(seen[is_surface].tolist(), table[is_surface], strict=True):
        pose = colliders.poses[collider]
        corners = pool.trees.points[pool.trees.triangles[row[T0] : row[T1], :3]] @ pose[:9].reshape(3, 3).T + pose[9:]
        met = (corners.min(axis=1) <= high).all(axis=1) & (corners.max(axis=1) >= low).all(axis=1)
        triangles = row[T0] + np.flatnonzero(met)
        rows.append(np.stack((np.full(len(triangles), collider), triangles), axis=1))
    return np.concatenate(rows)


def _measure(
    queries: Queries, query: Query, path: Path, rows: Integers, times: Floats, features: Integers
) -> tuple[Floats, Floats, Floats]:
    """Of each row, at its time: the gap, no more than it is; the normal from the shape; and the size of both. Features are read and written."""
    colliders, pool = queries.colliders, query.pool
    own, other = path.at(times), colliders.poses[rows[:, 0]]
    shape, shapes = guest_of(pool.cores.table), colliders.shape[rows[:, 0]] + 1
    found, size = np.empty((len(rows), 4)), np.empty(len(rows))
    on = np.flatnonzero(rows[:, 1] == NO_TRIANGLE)
    if len(on):
        both = np.stack((own[on], other[on]), axis=1).reshape(-1, 12)
        which = np.stack((np.full(len(on), shape), shapes[on]), axis=1).ravel()
        pairs = np.arange(2 * len(on)).reshape(-1, 2)
        tracks = track_many(pool.hulls, pairs, square(both), features[on], which)
        features[on] = tracks.features
        distance, normal = tracks.distance.copy(), tracks.normal.copy()
        if not query.is_faceted:
            points = np.empty((2, len(on), 3))
            refine_tracks(pool.cores, both, which, pairs, distance, normal, *points)
        size[on] = pool.hulls.radii[which].reshape(-1, 2).sum(axis=1) + np.abs(distance)
        size[on] += pool.cores.radius[shapes[on]]
        found[on, 0] = distance - CHECKED * size[on] - pool.cores.radius[shapes[on]]
        found[on, 1:] = normal
    on = np.flatnonzero(rows[:, 1] != NO_TRIANGLE)
    if len(on):
        results = np.empty((len(on), 4))
        of = np.full(len(on), shape)
        measure_triangles(pool.cores, pool.trees, query.room[0], of, own[on], other[on], rows[on, 1], results)
        size[on] = pool.hulls.radii[shape] + np.abs(results[:, 0])
        results[:, 0] -= CHECKED * size[on]
        found[on] = results
    # Triangles without an area have no distance, and their neighbors hold their place.
    gap, normal = found[:, 0] - query.shape.radius, found[:, 1:]
    flat: NDArray[np.bool_] = np.isnan(gap)
    return np.where(flat, np.inf, gap), np.where(flat[:, np.newaxis], 0.0, normal), size + query.shape.radius
