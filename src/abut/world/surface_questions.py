"""Surfaces as questions: what a mesh touches, and what is nearest to it.

Of a convex collider the question is turned round: how far is it from the surface? That is answered by the same search as for a surface in the
world. Of two surfaces the exact phase answers (`discrete.distance`): where they overlap, the depth is that of the deepest point of either in the
other, and 0 if a surface without an inside meets another. Colliders are asked in the order of their boxes, and none that is farther than what was
found.
"""

from typing import Any, NamedTuple

import numpy as np

from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import Unsupported
from abut.discrete import distance
from abut.shapes.solids import Convex
from abut.shapes.surfaces import Soft, Surface, Terrain
from abut.world.bodies.store import ALL_LAYERS, Store
from abut.world.contacts.colliders import NOWHERE, UNPLACED, Colliders
from abut.world.contacts.surface_contacts import place_surface
from abut.world.queries import Queries
from abut.world.results import ClosestMany, OverlapMany, unite_rows


class Gap(NamedTuple):
    """How far a surface and a collider are apart."""

    distance: float
    normal: Floats
    """from the surface"""
    own: Floats
    """the nearest point of the surface"""
    point: Floats
    """that of the collider"""


class SurfaceQuestion:
    """A surface beside a world whose colliders are in place."""

    def __init__(self, queries: Queries, shape: Surface, mask: int) -> None:
        self.queries, self.shape = queries, shape
        self.bits = arrays.count(mask, "mask", most=ALL_LAYERS)
        self.store, self.own = Store(), Colliders()
        slots = self.store.take(1)
        self.store.solid_layer[slots], self.store.mask[slots] = 1, ALL_LAYERS
        self.store.radius[slots] = float(np.linalg.norm(shape.vertices, axis=1).max())
        self.own.add(self.store, slots, shape, UNPLACED)

    def overlap(self, poses: Floats) -> OverlapMany:
        """See `World.overlap_many`."""
        rows = [np.empty((0, 2), np.int64)]
        for place, pose in enumerate(poses):
            near, gaps = self._place(pose)
            met = [i for i in near[gaps <= 0.0].tolist() if self._measure(i).distance <= 0.0]
            handles = self.queries.store.handles(self.queries.colliders.body[met])
            rows.append(np.stack((np.full(len(met), place), handles), axis=1))
        both = np.concatenate(rows)
        united = unite_rows(both[:, 0], both[:, 1])
        return OverlapMany(frozen(united[:, 0].copy()), frozen(united[:, 1].copy()))

    def closest(self, poses: Floats) -> ClosestMany:
        """See `World.closest_many`."""
        count = len(poses)
        body, part = np.full(count, NOWHERE), np.full(count, NOWHERE)
        far, own, point, normal = np.full(count, np.inf), *np.zeros((3, count, 3))
        colliders = self.queries.colliders
        for place, pose in enumerate(poses):
            near, gaps = self._place(pose)
            for i, least in zip(near.tolist(), gaps.tolist(), strict=True):
                if least > max(far[place], 0.0):
                    break
                gap = self._measure(i)
                if gap.distance < far[place]:
                    body[place] = int(self.queries.store.handles(colliders.body[[i]])[0])
                    part[place], far[place] = colliders.part[i], gap.distance
                    own[place], point[place], normal[place] = gap.own, gap.point, gap.normal
        columns: Any = (body, part, far, own, point, normal)
        return ClosestMany(*map(frozen, columns))

    def _place(self, pose: Floats) -> tuple[Integers, Floats]:
        """Put the surface at a pose: the colliders that count, by the distance of their boxes, and these distances."""
        self.store.set_poses(np.zeros(1, np.int64), pose[np.newaxis])
        self.own.settle(self.store, 0.0)
        colliders, box = self.queries.colliders, self.own.boxes[0]
        seen = np.flatnonzero(colliders.body >= 0)
        seen = seen[(self.queries.store.solid_layer[colliders.body[seen]] & self.bits) != 0]
        boxes = colliders.boxes[seen]
        apart = np.maximum(np.maximum(boxes[:, :3] - box[3:], box[:3] - boxes[:, 3:]), 0.0)
        gaps = np.linalg.norm(apart, axis=1)
        order = np.argsort(gaps, kind="stable")
        return seen[order], gaps[order]

    def _measure(self, collider: int) -> Gap:
        """How far the surface is from a collider of the world."""
        colliders = self.queries.colliders
        other, pose = colliders.shapes[colliders.shape[collider]], colliders.poses[collider]
        if isinstance(other, Convex):
            at = np.eye(4)
            at[:3, :3], at[:3, 3] = pose[:9].reshape(3, 3), pose[9:]
            found = Queries(self.store, self.own).closest(other, at[np.newaxis], ALL_LAYERS)
            return Gap(float(found.distance[0]), -found.normal[0], found.point_b[0], found.point_a[0])
        if not isinstance(other, Surface | Soft) or (isinstance(other, Terrain) and isinstance(self.shape, Terrain)):
            raise Unsupported(f"{type(self.shape).__name__} as a question about {type(other).__name__}")
        gap = distance(place_surface(self.shape, self.own.poses[0], 0), place_surface(other, pose, 1))
        return Gap(gap.distance, gap.normal, gap.point_a, gap.point_b)
