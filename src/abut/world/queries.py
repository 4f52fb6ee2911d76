"""Questions to a world about things that are not in it: rays, shapes and points. Boxes first, then the same kernels as for bodies."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut import arrays
from abut.arrays import Floats, Integers, frozen
from abut.convex import track_many
from abut.discrete import contains
from abut.errors import Unsupported
from abut.shapes.gaps import find_closest
from abut.shapes.narrow import COLLIDER_B, meet_pairs
from abut.shapes.pool import Pool
from abut.shapes.rays import cast_rays
from abut.shapes.solids import Convex, Hull, Shape, Soft, Sphere, Surface, as_shape
from abut.world.candidates import find_around, find_next, sort_pairs
from abut.world.colliders import NOWHERE, Colliders
from abut.world.place import bound_colliders
from abut.world.results import Closest, RayHits
from abut.world.store import ALL_LAYERS, Store
from abut.world.tracking import describe, square

POINT_RADIUS = 1e-300
"""A point is asked about as a ball of no size."""
FIRST = 16
"""So many colliders, the nearest by their boxes, are looked at first when the closest is asked for."""
ROOM = 256
"""Rows for the contacts of a question. More are not needed: it is enough to know that there are some."""


class Around(NamedTuple):
    """A shape that is asked about, and the colliders around it with the distances of their boxes from its own."""

    pool: Pool
    room: tuple[Floats, Integers]
    place: Floats
    """(1,12)"""
    box: Floats
    """(1,6)"""
    cores: Integers
    core_gaps: Floats
    meshes: Integers
    mesh_gaps: Floats


class Queries:
    """One look at a world whose colliders are in place."""

    def __init__(self, store: Store, colliders: Colliders) -> None:
        self.store, self.colliders = store, colliders

    def cast(self, origins: Floats, directions: Floats, reach: float, mask: int) -> RayHits:
        """See `World.ray`."""
        count = len(origins)
        found, numbers = np.empty((count, 2), np.int64), np.zeros((count, 4))
        pool, colliders = self.colliders.pool, self.colliders
        bits = arrays.count(mask, "mask", most=ALL_LAYERS)
        seen = colliders.body >= 0
        seen[seen] = (self.store.layer[colliders.body[seen]] & bits) != 0
        shapes = np.where(seen, colliders.shape + 1, NOWHERE)
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

    def _look_around(self, shape: Shape, pose: Floats, mask: int) -> Around:
        """All colliders of the layers that count."""
        if not isinstance(shape, Convex):
            raise Unsupported(f"{type(shape).__name__} as a question: add it as a kinematic body, and ask for contacts")
        bits = arrays.count(mask, "mask", most=ALL_LAYERS)
        colliders, (pool, room) = self.colliders, self.colliders.host(shape)
        place, box = np.empty((1, 12)), np.empty((1, 6))
        place[0, :9], place[0, 9:] = pose[:3, :3].ravel(), pose[:3, 3]
        bound_colliders(pool.cores, pool.trees.boxes, np.array([len(pool.cores.table) - 1]), place, box)
        size = len(colliders.body)
        ids, apart = np.empty(size, np.int64), np.empty(size)
        parts = (colliders.body, colliders.shape, colliders.boxes, pool.cores.table)
        core_count, mesh_count = find_around(box, bits, self.store.layer, *parts, ids, apart)
        back = slice(size - 1, size - 1 - mesh_count if mesh_count < size else None, -1)
        return Around(pool, room, place, box, ids[:core_count], apart[:core_count], ids[back], apart[back])

    def _beside(self, around: Around, near: Integers) -> tuple[Floats, Integers, Integers]:
        """Poses (k+1,12) and shapes (k+1,) of the asked shape and of some colliders, and the pairs (k,2) of the first with the others."""
        poses = np.concatenate((around.place, self.colliders.poses[near]))
        shapes = np.empty(len(poses), np.int64)
        shapes[0], shapes[1:] = len(around.pool.cores.table) - 1, self.colliders.shape[near] + 1
        pairs = np.zeros((len(near), 2), np.int64)
        pairs[:, 1] = np.arange(1, len(poses))
        return poses, shapes, pairs

    def overlap(self, shape: Shape, pose: Floats, mask: int) -> Integers:
        """See `World.overlap`."""
        around = self._look_around(shape, pose, mask)
        others = np.concatenate((around.cores[around.core_gaps == 0.0], around.meshes[around.mesh_gaps == 0.0]))
        touched = self._touch(around, others)
        middle = _middle(shape, pose) if isinstance(shape, Hull) else pose[:3, 3]
        for k in np.flatnonzero(~touched):
            touched[k] = self._holds(int(others[k]), middle)
        return frozen(np.unique(self.store.handles(self.colliders.body[others[touched]])))

    def _touch(self, around: Around, others: Integers) -> NDArray[np.bool_]:
        """(k,) which of some colliders have a contact with the asked shape."""
        pool, count = around.pool, len(others)
        poses, shapes, pairs = self._beside(around, others)
        boxes = np.concatenate((around.box, self.colliders.boxes[others]))
        margins, tracked = np.zeros(count), np.empty(count, np.int64)
        near, own = np.empty_like(pairs), np.empty_like(margins)
        kept, _, walk_count = sort_pairs(pairs, margins, boxes, shapes - 1, pool.cores.table, near, own, tracked)
        known, walked = np.full((kept, 10), np.nan), tracked[:walk_count]
        if walk_count:
            known[walked] = describe(track_many(pool.hulls, near[walked], square(poses), which=shapes))
        touched, state = np.zeros(count + 1, np.bool_), np.zeros(2, np.int64)
        numbers, ids = np.empty((ROOM, 7)), np.empty((ROOM, 5), np.int64)
        bundles = (pool.cores, pool.trees, *around.room, poses, shapes, near[:kept], own[:kept], known)
        while not meet_pairs(*bundles, state, numbers, ids):
            touched[ids[: state[1], COLLIDER_B]] = True
            if state[1] == 0:  # the rows of one pair alone are too many
                touched[near[state[0], 1]] = True
                state[0] += 1
            state[1] = 0
        touched[ids[: state[1], COLLIDER_B]] = True
        return touched[1:]

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

    def _find_core(self, around: Around, radius: float, numbers: Floats) -> int:
        """The nearest collider that has a core, of several that overlap the deepest; −1 for none. numbers (7,) as `find_closest` has them."""
        pool, other = around.pool, -1
        last, chosen = -1, np.empty(FIRST, np.int64)
        # Some by the distance of their boxes, then twice as many, until all that is left is farther away than the best.
        while count := find_next(around.core_gaps, last, max(numbers[0], 0.0), chosen):
            near = around.cores[chosen[:count]]
            poses, shapes, pairs = self._beside(around, near)
            found = track_many(pool.hulls, pairs, square(poses), which=shapes)
            grown = pool.cores.radius[shapes[1:]]
            gap = found.distance - grown - radius
            k = int(gap.argmin())
            if gap[k] < numbers[0]:
                other, numbers[0], numbers[1:4] = int(near[k]), gap[k], found.normal[k]
                numbers[4:] = found.point_b[k] - grown[k] * found.normal[k]
            last, chosen = int(chosen[count - 1]), np.empty(2 * len(chosen), np.int64)
        return other

    def closest(self, shape: object, pose: Floats, mask: int) -> Closest | None:
        """See `World.closest`."""
        if isinstance(shape, np.ndarray | list | tuple) and np.shape(shape) == (3,):
            at = np.eye(4)
            at[:3, 3] = arrays.coordinates(shape, "shape", (3,))
            asked: Shape = Sphere(POINT_RADIUS)
            pose = pose @ at
        else:
            asked = as_shape(shape).collider()
        around, numbers = self._look_around(asked, pose, mask), np.full(7, np.inf)
        other = self._find_core(around, asked.radius, numbers)
        rest = around.meshes[around.mesh_gaps <= max(numbers[0], 0.0)]
        if len(rest):
            poses, shapes, pairs = self._beside(around, rest)
            bundles, ends = (around.pool.cores, around.pool.trees, around.room[0]), np.ascontiguousarray(pairs[:, 1])
            nearer = find_closest(*bundles, poses, shapes, 0, ends, numbers)
            other = int(rest[nearer - 1]) if nearer >= 0 else other
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
