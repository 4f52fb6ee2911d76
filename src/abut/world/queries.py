"""Questions to a world about things that are not in it: rays, shapes and points. Boxes first, then the same kernels as for bodies."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from abut import arrays
from abut.arrays import Floats, Integers, frozen
from abut.convex import Tracks, track_many
from abut.discrete import contains
from abut.errors import Unsupported
from abut.shapes.gaps import find_closest
from abut.shapes.narrow import meet_pairs
from abut.shapes.pool import KIND, SURFACE, Pool, append_core, make_room
from abut.shapes.rays import cast_rays
from abut.shapes.solids import Convex, Hull, Shape, Soft, Sphere, Surface, as_shape
from abut.world.colliders import NOWHERE, Colliders
from abut.world.place import bound_colliders
from abut.world.results import Closest, RayHits
from abut.world.store import ALL_LAYERS, Store
from abut.world.tracking import are_tracked, describe, square

POINT_RADIUS = 1e-300
"""A point is asked about as a ball of no size."""


class Queries:
    """One look at a world whose colliders are in place."""

    def __init__(self, store: Store, colliders: Colliders) -> None:
        self.store, self.colliders = store, colliders

    def _shapes(self, mask: int) -> Integers:
        """Rows of the pool's table; NOWHERE for colliders that do not count."""
        bits = arrays.count(mask, "mask", most=ALL_LAYERS)
        there = self.colliders.body >= 0
        seen = there & ((self.store.layer[self.colliders.body] & bits) != 0) if len(there) else there
        return np.where(seen, self.colliders.shape + 1, NOWHERE)

    def cast(self, origins: Floats, directions: Floats, reach: float, mask: int) -> RayHits:
        """See `World.ray`."""
        count = len(origins)
        found, numbers = np.empty((count, 2), np.int64), np.zeros((count, 4))
        pool, colliders = self.colliders.pool, self.colliders
        shapes = self._shapes(mask)
        cast_rays(
            pool.cores,
            pool.trees,
            colliders.poses,
            shapes,
            colliders.boxes,
            np.array(origins),
            directions,
            reach,
            found,
            numbers,
        )
        hit = found[:, 0] >= 0
        body = np.full(count, -1)
        shape = np.full(count, -1)
        body[hit] = self.store.handles(colliders.body[found[hit, 0]])
        shape[hit] = colliders.part[found[hit, 0]]
        distance = np.where(hit, numbers[:, 0], np.inf)
        point = origins + np.where(hit, numbers[:, 0], 0.0)[:, np.newaxis] * directions
        normal = np.where(hit[:, np.newaxis], numbers[:, 1:], 0.0)
        columns: Any = (body, shape, np.array(found[:, 1]), distance, point, normal)
        return RayHits(*map(frozen, columns))

    def _join(self, shape: Shape, pose: Floats, mask: int) -> tuple[Pool, Integers, Floats, Floats]:
        """The pool, shapes, poses and boxes with one more collider, the last."""
        if not isinstance(shape, Convex):
            raise Unsupported(f"{type(shape).__name__} as a question: add it as a kinematic body, and ask for contacts")
        colliders = self.colliders
        pool = append_core(colliders.pool, shape)
        shapes = np.append(self._shapes(mask), len(pool.cores.table) - 1)
        poses = np.concatenate((colliders.poses, [np.concatenate((pose[:3, :3].ravel(), pose[:3, 3]))]))
        boxes = np.concatenate((colliders.boxes, np.zeros((1, 6))))
        only = np.full(len(shapes), NOWHERE)
        only[-1] = shapes[-1]
        bound_colliders(pool.cores, pool.trees.boxes, only, poses, boxes)
        return pool, shapes, poses, boxes

    def overlap(self, shape: Shape, pose: Floats, mask: int) -> Integers:
        """See `World.overlap`."""
        pool, shapes, poses, boxes = self._join(shape, pose, mask)
        last = len(shapes) - 1
        near: Any = (boxes[:, :3] <= boxes[last, 3:]).all(axis=1) & (boxes[:, 3:] >= boxes[last, :3]).all(axis=1)
        others = np.flatnonzero(near[:-1] & (shapes[:-1] >= 0))
        pairs = np.stack((np.full(len(others), last), others), axis=1)
        known = np.full((len(pairs), 10), np.nan)
        convex = pool.cores.table[shapes[others], KIND] != SURFACE
        tracked = convex & are_tracked(pool.cores, shapes[pairs[:, 0]], shapes[others])
        known[tracked] = describe(_track(pool, pairs[tracked], poses, shapes))
        touched: list[int] = []
        room, state = make_room(pool), np.zeros(2, np.int64)
        numbers, ids = np.empty((256, 7)), np.empty((256, 5), np.int64)
        middle = _middle(shape, pose) if isinstance(shape, Hull) else pose[:3, 3]
        for k, other in enumerate(others.tolist()):
            state[:] = 0
            pair, row = pairs[k : k + 1], known[k : k + 1]
            meet_pairs(pool.cores, pool.trees, *room, poses, shapes, pair, np.zeros(1), row, state, numbers, ids)
            if state[1] > 0 or self._holds(other, middle):
                touched.append(other)
        return frozen(np.unique(self.store.handles(self.colliders.body[np.array(touched, np.int64)])))

    def _holds(self, collider: int, point: Floats) -> bool:
        """Whether a closed surface holds a point of a shape that does not meet its triangles."""
        shape = self.colliders.shapes[self.colliders.shape[collider]]
        if not isinstance(shape, (Surface, Soft)) or not shape.is_solid:
            return False
        pose = self.colliders.poses[collider]
        local = (point - pose[9:]) @ pose[:9].reshape(3, 3)
        body = shape.body if isinstance(shape, Soft) else shape.bodies[0]
        if isinstance(shape, Surface):
            shape.bodies[0].pose = np.eye(4)
        return bool(contains(body, local[np.newaxis])[0])

    def closest(self, shape: object, pose: Floats, mask: int) -> Closest | None:
        """See `World.closest`."""
        if isinstance(shape, np.ndarray | list | tuple) and np.shape(shape) == (3,):
            at = np.eye(4)
            at[:3, 3] = arrays.coordinates(shape, "shape", (3,))
            asked: Shape = Sphere(POINT_RADIUS)
            pose = pose @ at
        else:
            asked = as_shape(shape).collider()
        pool, shapes, poses, boxes = self._join(asked, pose, mask)
        last = len(shapes) - 1
        others = np.flatnonzero(shapes[:last] >= 0)
        out = np.maximum(np.maximum(boxes[others, :3] - boxes[last, 3:], boxes[last, :3] - boxes[others, 3:]), 0.0)
        apart = np.linalg.norm(out, axis=1)
        surface = pool.cores.table[shapes[others], KIND] == SURFACE
        numbers, other = np.full(7, np.inf), -1
        for part in _rounds(others[~surface], apart[~surface]):
            # The next few by the distance of their boxes, until all that is left is farther away than the best.
            near = part[0][part[1] <= max(numbers[0], 0.0)]  # of several that overlap, the deepest
            found = _track(pool, np.stack((np.full(len(near), last), near), axis=1), poses, shapes)
            gap = found.distance - pool.cores.radius[shapes[near]] - asked.radius
            if len(near) and gap.min() < numbers[0]:
                k = int(gap.argmin())
                other, numbers[0], numbers[1:4] = int(near[k]), gap[k], found.normal[k]
                numbers[4:] = found.point_b[k] - pool.cores.radius[shapes[other]] * found.normal[k]
        rest = others[surface & (apart <= max(numbers[0], 0.0))]
        nearer = find_closest(pool.cores, pool.trees, make_room(pool)[0], poses, shapes, last, rest, numbers)
        other = nearer if nearer >= 0 else other
        if other < 0:
            return None
        point, normal = numbers[4:], numbers[1:4]
        return Closest(
            int(self.store.handles(self.colliders.body[other])),
            int(self.colliders.part[other]),
            float(numbers[0]),
            frozen(point - numbers[0] * normal),
            frozen(np.array(point)),
            frozen(np.array(normal)),
        )


def _middle(shape: Hull, pose: Floats) -> Floats:
    return pose[:3, :3] @ shape.core.vertices.mean(axis=0) + pose[:3, 3]


def _track(pool: Pool, pairs: Integers, poses: Floats, shapes: Integers) -> Tracks:
    used, places = np.unique(pairs, return_inverse=True)
    return track_many(pool.hulls, places.reshape(-1, 2), square(poses[used]), which=shapes[used])


def _rounds(others: Integers, apart: Floats) -> Iterator[tuple[Integers, Floats]]:
    """Colliders by the distance of their boxes: eight, then twice as many each time."""
    order = np.argsort(apart, kind="stable")
    start, size = 0, 8
    while start < len(order):
        chosen = order[start : start + size]
        yield others[chosen], apart[chosen]
        start, size = start + size, 2 * size
