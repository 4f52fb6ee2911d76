"""What can be asked of a world that stands still: contacts, rays, what overlaps, what is nearest."""

from typing import Any, cast

import numpy as np

from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput, Unsupported
from abut.core.types import Number, PointsLike, PoseLike, PosesLike, VectorLike
from abut.shapes.solids import Plane, Shape, Sphere
from abut.shapes.surfaces import ShapeLike, Surface, as_shape
from abut.world.bodies.store import ALL_LAYERS, SENSOR, STATIC
from abut.world.contacts.containment import add_held
from abut.world.contacts.pairs import compare_pairs
from abut.world.contacts.points import ContactPoints
from abut.world.contacts.sensing import compare_inside, find_inside
from abut.world.definition import IDENTITY
from abut.world.manager.core import Core
from abut.world.queries import Queries
from abut.world.results import (
    Closest,
    ClosestMany,
    OverlapMany,
    RayHits,
    SensorEvents,
    ShapeHit,
    WorldContacts,
    order_rows,
    unite_rows,
)
from abut.world.shape_casts import find_first_time, path_between
from abut.world.surface_questions import SurfaceQuestion

POINT = Sphere(1e-300)
"""For queries, a point is a ball of no size."""


class Questions(Core):
    """Answers that follow from where everything is now."""

    def contacts(self) -> WorldContacts:
        """All points where bodies touch or overlap now, and one for each pair of which a closed surface holds the other; its faces are −1.

        Bodies that pushed each other in the last step and are apart already have the rows of that step, with a depth of 0: no bounce is missed.
        Until something changes, the answer stays the same.
        """
        self._place()
        if self._known is None:
            self._known = self._describe(self._detect())
        return self._known

    def _detect(self) -> ContactPoints:
        moving = (self._store.kind != STATIC) | self._colliders.find_soft(len(self._store.kind))
        near = self._colliders.find_near(self._store, np.zeros(len(moving)), moving, moving)
        return self._motor.memory.add_pushed(
            self._store, add_held(self._colliders, near[0], self._colliders.meet(*near))
        )

    def _describe(self, found: ContactPoints) -> WorldContacts:
        colliders, handles = self._colliders, self._store.handles(np.arange(len(self._store.alive)))
        body_a, body_b = (handles[colliders.body[each]] for each in (found.collider_a, found.collider_b))
        order = order_rows(body_a, body_b)
        found, body_a, body_b = found.take(order), body_a[order], body_b[order]
        a, b = found.collider_a, found.collider_b
        pairs = unite_rows(np.minimum(body_a, body_b), np.maximum(body_a, body_b))
        begun, ended = np.empty_like(pairs), np.empty_like(self._touching)
        counts = compare_pairs(self._touching, pairs, begun, ended)
        self._touching, self._touched = pairs, self._touching
        columns = (body_a, body_b, colliders.part[a], colliders.part[b], found.face_a.copy(), found.face_b.copy())
        depth = np.maximum(-found.separation, 0.0)
        impulse = self._motor.memory.impulses_of(found, self.slop)
        values = (found.point.copy(), found.normal.copy(), depth, impulse.copy())
        changes = (begun[: counts[0]].copy(), ended[: counts[1]].copy())
        every: Any = [frozen(column) for column in (*columns, *values, *changes, pairs.copy())]
        return WorldContacts(*every)

    def _look(self, touching: Integers) -> tuple[WorldContacts, Integers]:
        """The contacts after those of other pairs (k,2), and their pairs; `contacts` does not notice."""
        kept = self._touching, self._touched, self._known
        self._touching, self._known = touching, None
        answer = self.contacts()
        self._touching, self._touched, self._known = kept
        return answer, answer.pairs

    @property
    def sensor_events(self) -> SensorEvents:
        """Who came into sensors, stayed and left in the last step. What passes through a sensor within one step is not seen."""
        return self._sensed

    def inside(self, sensor: int) -> Integers:
        """Handles of the bodies that touch or overlap a sensor now, or hold it; ascending. Those are the same as `overlap` finds with its shape, if
        layers, masks and filters agree.

        Args:
            sensor: its handle.
        """
        slots = self._store.read(arrays.count(sensor, "sensor", most=2**62), "sensor")
        if self._store.kind[slots[0]] != SENSOR:
            raise InvalidInput("sensor", "is a body that is no sensor")
        self._place()
        rows = find_inside(self._store, self._colliders)
        return frozen(rows[rows[:, 0] == sensor, 1].copy())

    def _sense(self) -> None:
        """What is in sensors after a step."""
        if (self._store.kind == SENSOR).any() or len(self._sensed) or len(self._sensed.ended):
            self._place()
            self._sensed = compare_inside(self._sensed.inside, find_inside(self._store, self._colliders))

    def ray(
        self, origins: PointsLike, directions: PointsLike, *, max_distance: Number = np.inf, mask: int = ALL_LAYERS
    ) -> RayHits:
        """What rays meet first.

        One that starts inside a solid (a convex shape, a closed mesh, or below a terrain) meets it at distance 0, with normal 0 and face −1.

        Args:
            origins: (k,3) where they start, or (3,) for one ray.
            directions: (k,3) or (3,), of any length but 0.
            max_distance: how far they look.
            mask: layers that count, in bits.
        """
        start, toward = arrays.stacked(origins, "origins", (3,)), arrays.stacked(directions, "directions", (3,))
        if len(start) != len(toward):
            raise InvalidInput("directions", f"has {len(toward)} rows for {len(start)} origins")
        length = np.linalg.norm(toward, axis=1, keepdims=True)
        if (length == 0.0).any():
            raise InvalidInput("directions", "is zero", int(np.argmin(length)))
        is_endless = isinstance(max_distance, float) and max_distance == np.inf
        most = np.inf if is_endless else arrays.scalar(max_distance, "max_distance", least=0.0)
        return self._queries().cast(start, toward / length, most, mask)

    def overlap(self, shape: ShapeLike, pose: PoseLike | None = None, *, mask: int = ALL_LAYERS) -> Integers:
        """Handles of the bodies that touch or overlap a shape, or hold it; ascending.

        Args:
            shape: a convex shape, or a mesh.
            pose: (4,4) where it is; by default at the origin.
            mask: layers that count, in bits.
        """
        at = IDENTITY if pose is None else arrays.pose(pose, "pose")
        return self._overlap(shape, at[np.newaxis], mask).body

    def overlap_many(self, shape: ShapeLike, poses: PosesLike, *, mask: int = ALL_LAYERS) -> OverlapMany:
        """The same at many poses: which pose meets which body.

        Args:
            shape: a convex shape, or a mesh.
            poses: (k,4,4) where it is.
            mask: layers that count, in bits.
        """
        return self._overlap(shape, arrays.poses(poses, "poses"), mask)

    def closest(
        self, shape: ShapeLike | VectorLike, pose: PoseLike | None = None, *, mask: int = ALL_LAYERS
    ) -> Closest | None:
        """The body nearest to a shape or to a point; None in an empty world.

        Args:
            shape: a convex shape, a mesh, or a point (3,).
            pose: (4,4) where it is; by default at the origin.
            mask: layers that count, in bits.
        """
        at = IDENTITY if pose is None else arrays.pose(pose, "pose")
        if arrays.shape_of(shape) == (3,):
            moved = np.eye(4)
            moved[:3, 3] = arrays.coordinates(shape, "shape", (3,))
            solid, at = POINT, at @ moved
        else:
            solid = as_shape(cast("ShapeLike", shape))
        convex = solid.collider()
        if not isinstance(convex, Surface):
            return self._queries().closest_one(convex, at, mask)
        found = self._closest(solid, at[np.newaxis], mask)
        if found.body[0] < 0:
            return None
        numbers = int(found.body[0]), int(found.shape[0]), float(found.distance[0])
        return Closest(*numbers, found.point_a[0], found.point_b[0], found.normal[0])

    def closest_many(
        self, shape: ShapeLike | PointsLike, poses: PosesLike | None = None, *, mask: int = ALL_LAYERS
    ) -> ClosestMany:
        """The same at many poses, or for many points.

        Args:
            shape: a convex shape, a mesh, or without poses, points (k,3).
            poses: (k,4,4) where the shape is.
            mask: layers that count, in bits.
        """
        if poses is None:
            points = arrays.points(shape, "shape")
            at = np.tile(IDENTITY, (len(points), 1, 1))
            at[:, :3, 3] = points
            return self._queries().closest(POINT, at, mask)
        solid = as_shape(cast("ShapeLike", shape))
        return self._closest(solid, arrays.poses(poses, "poses"), mask)

    def sweep_shape(
        self, shape: ShapeLike, pose_a: PoseLike, pose_b: PoseLike, *, mask: int = ALL_LAYERS
    ) -> ShapeHit | None:
        """What a shape meets first on its way from one pose to another, while the world stands still; None if nothing.

        Its origin goes straight, and it turns about it at a constant rate. The time is never late, and early by the way of 1e-9 of the sizes.
        What it touches or overlaps at the start it meets at time 0.

        Args:
            shape: a convex shape.
            pose_a, pose_b: (4,4) where it starts and where it ends.
            mask: layers that count, in bits.

        Examples:
            >>> import numpy as np
            >>> import abut
            >>> from abut import shapes
            >>> world = abut.World()
            >>> wall = world.add(shapes.Box((1, 9, 9)), position=(5.5, 0, 0), kind="static")
            >>> far = np.eye(4)
            >>> far[0, 3] = 10.0
            >>> hit = world.sweep_shape(shapes.Sphere(0.5), np.eye(4), far)
            >>> hit, hit.normal.tolist()
            (ShapeHit(body 0, time 0.45), [1.0, 0.0, 0.0])
        """
        ends = arrays.rigid_poses(np.stack((arrays.pose(pose_a, "pose_a"), arrays.pose(pose_b, "pose_b"))), "pose_b")
        solid, queries = as_shape(shape).collider(), self._queries()
        if isinstance(solid, Plane):
            raise Unsupported("a half-space on its way")
        start = queries.closest(solid, ends[:1], mask)
        time, at = 0.0, ends[0]
        if start.distance[0] > 0.0:
            path = path_between(ends)
            time = find_first_time(queries, queries.place(solid, ends[:1], mask), path)
            if not time <= 1.0:
                return None
            row = path.at(np.array([time]))[0]
            at = np.eye(4)
            at[:3, :3], at[:3, 3] = row[:9].reshape(3, 3), row[9:]
        met = queries.closest(solid, at[np.newaxis], mask)
        numbers = int(met.body[0]), int(met.shape[0]), time
        return ShapeHit(*numbers, frozen(at.copy()), met.point_b[0], met.normal[0])

    def _overlap(self, shape: ShapeLike, poses: Floats, mask: int) -> OverlapMany:
        solid, queries = as_shape(shape).collider(), self._queries()
        if isinstance(solid, Surface):
            return SurfaceQuestion(queries, solid, mask).overlap(arrays.rigid_poses(poses, "pose"))
        return queries.overlap(solid, poses, mask)

    def _closest(self, shape: Shape, poses: Floats, mask: int) -> ClosestMany:
        solid, queries = shape.collider(), self._queries()
        if isinstance(solid, Surface):
            return SurfaceQuestion(queries, solid, mask).closest(arrays.rigid_poses(poses, "pose"))
        return queries.closest(solid, poses, mask)

    def _queries(self) -> Queries:
        self._place()
        return Queries(self._store, self._colliders)
