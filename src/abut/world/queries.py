"""Queries of a world about things that are not in it: rays, shapes and points. Boxes first, then the same kernels as for bodies."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.convex import track_many
from abut.convex.tracking import Desk
from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import Unsupported
from abut.shapes.columns import (
    GAP,
    GAP_NORMAL,
    GAP_NUMBERS,
    GAP_POINT,
    HIT_COLLIDER,
    HIT_DISTANCE,
    HIT_FACE,
    HIT_NORMAL,
)
from abut.shapes.narrow_phase import meet_pairs
from abut.shapes.pool import CONVEX, KIND, SURFACE, Pool, guest_of
from abut.shapes.rays import cast_rays
from abut.shapes.round.axis import refine_tracks
from abut.shapes.solids import Convex, Shape
from abut.shapes.surface_gap import find_closest
from abut.world.bodies.store import ALL_LAYERS, Store
from abut.world.contacts.colliders import NOWHERE, Colliders
from abut.world.contacts.containment import find_held, turn_inside_out
from abut.world.contacts.hull_tracking import describe, square
from abut.world.contacts.pairs import choose_near, keep_deepest, keep_nearest, sort_pairs
from abut.world.contacts.placement import bound_colliders
from abut.world.nearest_core import PAIRS, search_nearest
from abut.world.results import Closest, ClosestMany, OverlapMany, RayHits, unite_rows

FIRST, FEW = 16, 4
"""So many colliders, the nearest by their boxes, are looked at first: of one place, where every look costs the same 60 µs, and of many."""
ANY = -1
NO_PAIRS = np.empty((0, 2), np.int64)
ROOM = 256
"""Rows for the contacts of a query at once; more if one pair needs them."""


class Query(NamedTuple):
    """A shape in k places, beside the shapes of the world."""

    shape: Convex
    pool: Pool
    room: tuple[Floats, Integers]
    desk: Desk
    has_surfaces: bool
    """the world"""
    is_faceted: bool
    """whether every core, its own and the world's, is the shape itself"""
    places: Floats
    """(k,12)"""
    boxes: Floats
    """(k,6)"""
    bits: int
    """layers that count"""

    def middles(self) -> Floats:
        """(k,3) a point inside the shape in each place."""
        return (self.places[:, :9].reshape(-1, 3, 3) @ self.shape.core.vertices.mean(axis=0)) + self.places[:, 9:]


class Queries:
    """One look at a world whose colliders are in place."""

    def __init__(self, store: Store, colliders: Colliders) -> None:
        self.store, self.colliders = store, colliders

    def cast(self, origins: Floats, directions: Floats, max_distance: float, mask: int) -> RayHits:
        """See `World.ray`."""
        count = len(origins)
        found, numbers = np.empty((count, 2), np.int64), np.zeros((count, 4))
        pool, colliders = self.colliders.pool, self.colliders
        bits = arrays.count(mask, "mask", most=ALL_LAYERS)
        seen = colliders.body >= 0
        seen[seen] = (self.store.solid_layer[colliders.body[seen]] & bits) != 0
        shapes = np.where(seen, colliders.shape + 1, NOWHERE)
        cast_rays(
            pool.cores,
            pool.trees,
            colliders.poses,
            shapes,
            colliders.boxes,
            np.array(origins),
            directions,
            max_distance,
            found,
            numbers,
        )
        self._start_inside(origins, np.flatnonzero(seen), found, numbers)
        hit, distances = found[:, HIT_COLLIDER] >= 0, numbers[:, HIT_DISTANCE]
        body = np.full(count, -1)
        shape = np.full(count, -1)
        body[hit] = self.store.handles(colliders.body[found[hit, HIT_COLLIDER]])
        shape[hit] = colliders.part[found[hit, HIT_COLLIDER]]
        distance = np.where(hit, distances, np.inf)
        point = origins + np.where(hit, distances, 0.0)[:, np.newaxis] * directions
        normal = np.where(hit[:, np.newaxis], numbers[:, HIT_NORMAL:], 0.0)
        columns: Any = (body, shape, np.array(found[:, HIT_FACE]), distance, point, normal)
        return RayHits(*map(frozen, columns))

    def _start_inside(self, origins: Floats, seen: Integers, found: Integers, numbers: Floats) -> None:
        """Rays that start inside a solid surface meet it at once, as they do a convex shape; of several solids, the first collider."""
        colliders = self.colliders
        surfaces = seen[colliders.pool.cores.table[colliders.shape[seen] + 1, KIND] == SURFACE]
        for collider in surfaces[::-1].tolist():
            low, high = colliders.boxes[collider, :3], colliders.boxes[collider, 3:]
            rays = np.flatnonzero(((origins >= low) & (origins <= high)).all(axis=1))
            rays = rays[(numbers[rays, HIT_DISTANCE] > 0.0) | (found[rays, HIT_COLLIDER] > collider)]
            rays = rays[find_held(colliders, np.full(len(rays), collider), origins[rays], ground=True)]
            found[rays], numbers[rays] = (collider, NOWHERE), 0.0

    def place(self, shape: Shape, poses: Floats, mask: int) -> Query:
        """A shape in places (k,4,4) beside those of the world."""
        if not isinstance(shape, Convex):
            raise Unsupported(f"{type(shape).__name__} as a question: add it as a kinematic body, and ask for contacts")
        bits = mask if type(mask) is int and 0 <= mask <= ALL_LAYERS else arrays.count(mask, "mask", most=ALL_LAYERS)
        guest = self.colliders.host(shape)
        pool = guest.pool
        places, boxes = np.empty((len(poses), 12)), np.empty((len(poses), 6))
        places[:, :9].reshape(-1, 3, 3)[:], places[:, 9:] = poses[:, :3, :3], poses[:, :3, 3]
        which = np.empty(len(poses), np.int64)
        which[:] = guest_of(pool.cores.table)
        bound_colliders(pool.cores, pool.trees.boxes, which, places, boxes)
        return Query(shape, *guest, places, boxes, bits)

    def _near(self, query: Query, kind: int, limits: Floats, size: int) -> Iterator[Integers]:
        """(m,2) places and colliders of a kind, by the distance of their boxes: for each place some, then always twice as many.

        No farther than the place's limit, column 0 of `limits`, which may come down in between."""
        colliders, last = self.colliders, np.full((len(query.boxes), 2), -1.0)
        parts = (self.store.solid_layer, colliders.body, colliders.shape, colliders.boxes, query.pool.cores.table)
        while room := size * np.count_nonzero(last[:, 0] < np.inf):
            found, gaps_sq = np.empty((room, 2), np.int64), np.empty(room)
            found = found[: choose_near(query.boxes, limits, last, size, kind, query.bits, *parts, found, gaps_sq)]
            if len(found):
                yield found
            size = min(2 * size, len(colliders.body))

    def _beside(self, query: Query, near: Integers) -> tuple[Floats, Integers, Integers]:
        """Poses (k+m,12) and shapes (k+m,) of the places and of the colliders near them (m,2), and pairs (m,2) of the ones with the others."""
        first = len(query.places)
        poses = np.concatenate((query.places, self.colliders.poses[near[:, 1]]))
        shapes = np.empty(len(poses), np.int64)
        shapes[:first], shapes[first:] = guest_of(query.pool.cores.table), self.colliders.shape[near[:, 1]] + 1
        pairs = np.empty((len(near), 2), np.int64)
        pairs[:, 0], pairs[:, 1] = near[:, 0], np.arange(first, len(poses))
        return poses, shapes, pairs

    def overlap(self, shape: Shape, poses: Floats, mask: int) -> OverlapMany:
        """See `World.overlap_many`."""
        query = self.place(shape, poses, mask)
        near = np.concatenate([NO_PAIRS, *self._near(query, ANY, np.zeros((len(poses), 1)), FIRST)])
        touched = self._touch(query, near) if len(near) else np.zeros(0, np.bool_)
        if query.has_surfaces:
            left = np.flatnonzero(~touched)
            touched[left] = find_held(self.colliders, near[left, 1], query.middles()[near[left, 0]])
        place, collider = near[touched].T
        rows = unite_rows(place, self.store.handles(self.colliders.body[collider]))
        return OverlapMany(frozen(rows[:, 0].copy()), frozen(rows[:, 1].copy()))

    def _touch(self, query: Query, near: Integers) -> NDArray[np.bool_]:
        """(m,) which places have a contact with the colliders near them."""
        return self._find_deepest(query, near)[:, 0] < np.inf

    def _find_deepest(self, query: Query, near: Integers) -> Floats:
        """(m,7) the deepest contact of places with the colliders near them: separation, normal and the collider's point; inf without any."""
        pool, count = query.pool, len(near)
        poses, shapes, pairs = self._beside(query, near)
        boxes = np.concatenate((query.boxes, self.colliders.boxes[near[:, 1]]))
        margins, tracked = np.zeros(count), np.empty(count, np.int64)
        kept, own = np.empty_like(pairs), np.empty_like(margins)
        kept_count, _, walk_count = sort_pairs(pairs, margins, boxes, shapes - 1, pool.cores.table, kept, own, tracked)
        kept, known, walked = kept[:kept_count], np.full((kept_count, 10), np.nan), tracked[:walk_count]
        if walk_count:
            known[walked] = describe(track_many(pool.hulls, kept[walked], square(poses), which=shapes))
        found, state, room = np.full((len(poses), 7), np.inf), np.zeros(2, np.int64), ROOM
        numbers, ids = np.empty((room, 7)), np.empty((room, 5), np.int64)
        bundles = (pool.cores, pool.trees, *query.room, poses, shapes, kept, own[:kept_count], known)
        while not meet_pairs(*bundles, state, numbers, ids):
            if state[1] == 0:  # the rows of one pair alone are too many
                room *= 2
                numbers, ids = np.empty((room, 7)), np.empty((room, 5), np.int64)
            keep_deepest(numbers, ids, state[1], found)
            state[1] = 0
        keep_deepest(numbers, ids, state[1], found)
        return found[len(query.places) :]

    def closest(self, shape: Shape, poses: Floats, mask: int) -> ClosestMany:
        """See `World.closest_many`."""
        numbers, other = self._search(self.place(shape, poses, mask))
        there = other >= 0
        distance, point = numbers[:, GAP].copy(), numbers[:, GAP_POINT:].copy()
        normal = numbers[:, GAP_NORMAL:GAP_POINT].copy()
        body, part, on_shape = np.full_like(other, NOWHERE), np.full_like(other, NOWHERE), np.zeros_like(point)
        body[there] = self.store.handles(self.colliders.body[other[there]])
        part[there] = self.colliders.part[other[there]]
        on_shape[there] = point[there] - distance[there, np.newaxis] * normal[there]
        columns: Any = (body, part, distance, on_shape, point, normal)
        return ClosestMany(*map(frozen, columns))

    def closest_one(self, shape: Shape, pose: Floats, mask: int) -> Closest | None:
        """See `World.closest`."""
        numbers, other = self._search(self.place(shape, pose[np.newaxis], mask))
        collider, row = int(other[0]), numbers[0]
        if collider < 0:
            return None
        slot, distance = int(self.colliders.body[collider]), float(row[GAP])
        normal, point = row[GAP_NORMAL:GAP_POINT].copy(), row[GAP_POINT:].copy()
        ids = (int(self.store.generation[slot]) << 32) | slot, int(self.colliders.part[collider])
        return Closest(*ids, distance, frozen(point - distance * normal), frozen(point), frozen(normal))

    def _search(self, query: Query) -> tuple[Floats, Integers]:
        """(k,7) distance, normal and point of what is nearest to each place, infinite without any; and its collider, NOWHERE without any."""
        count = len(query.places)
        numbers, other = np.zeros((count, GAP_NUMBERS)), np.empty(count, np.int64)
        numbers[:, GAP], other[:] = np.inf, NOWHERE
        if count == 1 and query.is_faceted:
            self._search_core(query, numbers, other)
        else:
            self._search_cores(query, numbers, other)
        if query.has_surfaces:
            self._search_meshes(query, numbers, other)
            self._search_overlapping(query, numbers, other)
        return numbers, other

    def _search_cores(self, query: Query, numbers: Floats, other: Integers) -> None:
        """The nearest collider that has a core, of several that overlap the deepest. numbers (k,7): distance, normal and the other's point."""
        count = len(numbers)
        for near in self._near(query, CONVEX, numbers, max(FEW, FIRST // max(count, 1))):
            poses, shapes, pairs = self._beside(query, near)
            answers = self._track(query, poses, shapes, pairs)
            radii = query.pool.cores.radius[shapes[count:]]
            keep_nearest(near, radii, query.shape.radius, *answers, numbers, other)

    def _track(self, query: Query, poses: Floats, shapes: Integers, pairs: Integers) -> tuple[Floats, Floats, Floats]:
        """Of pairs of cores, not grown: distances, normals, and points of the second."""
        found = track_many(query.pool.hulls, pairs, square(poses), which=shapes)
        if query.is_faceted:
            return found.distance, found.normal, found.point_b
        answers = found.distance.copy(), found.normal.copy(), found.point_a.copy(), found.point_b.copy()
        refine_tracks(query.pool.cores, poses, shapes, pairs, *answers)
        return answers[0], answers[1], answers[3]

    def _search_core(self, query: Query, numbers: Floats, other: Integers) -> None:
        """The same for one place."""
        colliders, cores = self.colliders, query.pool.cores
        parts = (colliders.body, colliders.shape, colliders.boxes, colliders.poses)
        work = np.empty((PAIRS, 2), np.int64), np.empty((2, PAIRS))
        layers = self.store.solid_layer
        given = (query.desk, query.places, query.boxes, query.bits, layers, parts, cores.table, cores.radius)
        search_nearest(*given, work, numbers, other)

    def _search_meshes(self, query: Query, numbers: Floats, other: Integers) -> None:
        """The same for surfaces that are apart from the shape, where they are nearer."""
        for near in self._near(query, SURFACE, numbers, FEW):
            poses, shapes, pairs = self._beside(query, near)
            nearer, found = np.full(len(other), NOWHERE), numbers.copy()
            find_closest(query.pool.cores, query.pool.trees, query.room[0], poses, shapes, pairs, found, nearer)
            # Of a surface that it meets, only that it does: how deep, the contacts say.
            found[:, 0] = np.maximum(found[:, 0], 0.0)
            kept = (nearer >= 0) & (found[:, 0] < numbers[:, 0])
            numbers[kept], other[kept] = found[kept], near[nearer[kept], 1]

    def _search_overlapping(self, query: Query, numbers: Floats, other: Integers) -> None:
        """The same for surfaces that the shape touches, as deep as the contacts of bodies are; and for those that hold it without a touch."""
        near = np.concatenate([NO_PAIRS, *self._near(query, SURFACE, np.zeros_like(numbers), FIRST)])
        found = self._find_deepest(query, near)
        held = find_held(self.colliders, near[:, 1], query.middles()[near[:, 0]])
        inside = np.flatnonzero((found[:, 0] == np.inf) & held)
        self._measure_held(query, near, inside, found)
        for row in np.flatnonzero(found[:, 0] < np.inf).tolist():
            place, collider = near[row].tolist()
            if found[row, GAP] < numbers[place, GAP]:
                numbers[place], other[place] = found[row], collider

    def _measure_held(self, query: Query, near: Integers, held: Integers, found: Floats) -> None:
        """Fill in rows `held` of `found`: pairs of which the collider holds the place."""
        # A place for each pair: what is found of one is not to be hidden by another.
        apart, count = query._replace(places=query.places[near[held, 0]]), len(held)
        poses, shapes, pairs = self._beside(apart, np.stack((np.arange(count), near[held, 1]), axis=1))
        rows, cores = np.full((count, 7), np.inf), query.pool.cores
        find_closest(cores, query.pool.trees, query.room[0], poses, shapes, pairs, rows, np.full(count, NOWHERE))
        for row in range(count):
            turn_inside_out(cores, int(shapes[row]), poses[row], rows[row])
        found[held] = rows
