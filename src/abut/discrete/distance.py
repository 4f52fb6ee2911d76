"""`distance`: how far two bodies are apart, or how deep they are in each other, with the points that show it; at one pose or at many."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple, overload

import numpy as np

from abut.core import arrays, showing
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import Unsupported
from abut.core.poses import own_poses
from abut.core.types import PosesLike
from abut.discrete.bodies import Body, BodyLike, Deformable, Rigid, as_body, check_sizes, move
from abut.discrete.collide import collide
from abut.discrete.contacts import body_then, shape_of
from abut.discrete.containment import find_holder
from abut.discrete.measure.surface_distance import measure_gap
from abut.discrete.penetration import magnify, penetration
from abut.discrete.search.queries import MAYBE_HELD, search_first
from abut.discrete.separation import Pair, find_separation
from abut.discrete.solids import Solid
from abut.mesh import MeshLike


class _Fields(NamedTuple):
    distance: float
    point_a: Floats
    point_b: Floats
    face_a: int
    face_b: int


class Distance(_Fields):
    """How far two bodies are apart. Immutable; `separation` and `normal` are computed on first use, from the state at the time of the question.

    distance: the gap; 0 where the surfaces touch without depth; negative, the penetration depth, where bodies overlap or one holds the other.
    point_a, point_b (3,): the points that show it, on the faces face_a and face_b, in the world.
    """

    _bodies: tuple[Any, ...]
    """Both bodies, each with its pose and the shape it had."""

    def __repr__(self) -> str:
        return showing.describe(self, f"{self.distance:.6g}", f"face {self.face_a} of a", f"face {self.face_b} of b")

    def _repr_html_(self) -> str:
        rows = (("a", self.face_a, self.point_a.tolist()), ("b", self.face_b, self.point_b.tolist()))
        return showing.table_html(
            f"Distance {self.distance:.6g}", ("body", "face", "point"), list(zip(*rows, strict=True)), 2
        )

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Distance does not change: cannot set {name!r}")

    @cached_property
    def separation(self) -> Floats:
        """(3,) a translation of b that leaves the bodies apart, as `collide` sees them at that place; 0 where they are apart already.

        Up to rounding it is never shorter than the depth, as no translation that separates can be. It is the shortest of many tried, not
        always of all.
        """
        return frozen(np.zeros(3) if self.distance > 0.0 else self._find_separation())

    def _find_separation(self) -> Floats:
        a, pose_a, shape_a, b, pose_b, shape_b = self._bodies
        pair = Pair(body_then(a, shape_a), pose_a, body_then(b, shape_b), pose_b)
        return find_separation(pair, max(0.0, -self.distance), self.point_a - self.point_b)

    @cached_property
    def normal(self) -> Floats:
        """(3,) unit vector from a to b: between the nearest points where the bodies are apart, along `separation` where they are not."""
        apart = self.point_b - self.point_a if self.distance > 0.0 else self.separation
        if not apart.any():  # the nearest points are one when rounded
            apart = self._find_separation()
        apart = apart / np.abs(apart).max()
        return frozen(apart / np.linalg.norm(apart))

    def __reduce__(self) -> Any:
        return _restore, (tuple(self), self.separation, self.normal)


class Distances:
    """How far two bodies are apart at many poses of the first: a `Distance` each, and their fields as arrays. Immutable.

    Args:
        each: one for each pose.

    Examples:
        >>> import numpy as np
        >>> import abut
        >>> poses = np.tile(np.eye(4), (3, 1, 1))
        >>> poses[:, 2, 3] = 1.25, 2.0, 0.75
        >>> gaps = abut.distance(abut.scenes.box(), abut.scenes.box(), poses=poses)
        >>> gaps, gaps.distance.tolist(), gaps[1].distance
        (Distances(3 poses, least -0.25), [0.25, 1.0, -0.25], 1.0)
    """

    _each: tuple[Distance, ...]

    def __init__(self, each: Sequence[Distance]) -> None:
        self.__dict__["_each"] = tuple(each)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Distances do not change: cannot set {name!r}")

    def __len__(self) -> int:
        return len(self._each)

    def __getitem__(self, pose: int) -> Distance:
        return self._each[pose]

    def __repr__(self) -> str:
        least = (f"least {self.distance.min():.6g}",) if len(self) else ()
        return showing.describe(self, showing.count(len(self), "pose"), *least)

    def _stack(self, name: str, *shape: int) -> Any:
        found = np.array([getattr(each, name) for each in self._each])
        return frozen(found.reshape(len(self), *shape))

    @cached_property
    def distance(self) -> Floats:
        """(k,) see `Distance`."""
        return self._stack("distance").astype(np.float64)

    @cached_property
    def point_a(self) -> Floats:
        """(k,3) the points of a that show it."""
        return self._stack("point_a", 3)

    @cached_property
    def point_b(self) -> Floats:
        """(k,3) those of b."""
        return self._stack("point_b", 3)

    @cached_property
    def face_a(self) -> Integers:
        """(k,) the faces of a they lie on."""
        return self._stack("face_a").astype(np.int64)

    @cached_property
    def face_b(self) -> Integers:
        """(k,) those of b."""
        return self._stack("face_b").astype(np.int64)

    @cached_property
    def normal(self) -> Floats:
        """(k,3) unit vectors from a to b; see `Distance`."""
        return self._stack("normal", 3)


def _restore(fields: tuple[Any, ...], separation: Floats, normal: Floats) -> Distance:
    """A copy, which does not know the bodies."""
    fields = (fields[0], *map(frozen, fields[1:3]), *fields[3:])
    result = Distance(*fields)
    result.__dict__.update(separation=frozen(separation), normal=frozen(normal))
    return result


@overload
def distance(a: BodyLike | Solid, b: BodyLike | Solid, *, depth: bool = True, poses: None = None) -> Distance: ...
@overload
def distance(
    a: Rigid | MeshLike | Solid, b: BodyLike | Solid, *, depth: bool = True, poses: PosesLike
) -> Distances: ...
def distance(
    a: BodyLike | Solid, b: BodyLike | Solid, *, depth: bool = True, poses: PosesLike | None = None
) -> Distance | Distances:
    """The signed distance of two bodies, with the points that show it.

    Apart: the smallest distance of their surfaces, with the nearest points. Overlapping, or one inside the other: minus the pointwise
    penetration depth, the largest distance from a point of either surface inside the other body to that one's surface, with the deepest point and the
    surface point nearest to it, found to within 0.5 %. Surfaces that are not closed have no inside: where they meet the distance is 0.

    Args:
        a, b: `Rigid` or `Deformable` bodies; anything that `as_mesh` takes becomes a rigid body for this call. Shapes of `abut.shapes`
            are taken beside them, where they lie or placed by `Shape.at`; the face of a shape that has none is −1.
        depth: whether to measure how deep bodies that overlap are in each other, which takes ten times as long as all else. Without it their distance
            is 0, at a point they have in common, or where one holds the other at the nearest points of their surfaces.
        poses: (k,4,4) poses of a rigid body or shape a: the answer is then `Distances`, one a pose.

    Returns:
        A `Distance`, or with poses `Distances`.

    Raises:
        Unsupported: poses of a deformable a, sizes that differ by more than 2¹⁰⁰.

    Examples:
        >>> import abut
        >>> gap = abut.distance(abut.scenes.box(), abut.scenes.box(center=(0.0, 0.0, 1.25)))
        >>> gap.distance, gap.normal
        (0.25, array([0., 0., 1.]))
        >>> abut.distance(abut.scenes.box(), abut.scenes.box((4.0, 4.0, 4.0))).distance
        -1.5
    """
    with_depth = arrays.flag(depth, "depth")
    places = None if poses is None else own_poses(poses, "poses")
    if places is not None and isinstance(a, Deformable):
        raise Unsupported("poses of a deformable body a: its vertices already say where it is")
    solid = a if isinstance(a, Solid) else b
    if isinstance(solid, Solid):
        each = solid._distances(a, b, with_depth, places)
        return each[0] if places is None else Distances(each)
    assert not isinstance(a, Solid)
    body_a, body_b = as_body(a, "a"), as_body(b, "b")
    check_sizes(body_a, body_b)
    if places is None:
        return _measure_pair(body_a, body_b, with_depth)
    assert isinstance(body_a, Rigid)
    return Distances([_measure_pair(move(body_a, pose), body_b, with_depth) for pose in places])


def _measure_pair(body_a: Body, body_b: Body, with_depth: bool) -> Distance:
    exponent, large_a, large_b = magnify(body_a, body_a._pose, body_b, body_b._pose)
    value, p, q, face_a, face_b = _measure(large_a, large_b, with_depth)
    if exponent:
        value, p, q = float(np.ldexp(value, exponent)), np.ldexp(p, exponent), np.ldexp(q, exponent)
    result = Distance(value, frozen(np.array(p)), frozen(np.array(q)), face_a, face_b)
    result.__dict__["_bodies"] = (body_a, body_a._pose, shape_of(body_a), body_b, body_b._pose, shape_of(body_b))
    return result


def _measure(a: Body, b: Body, with_depth: bool) -> tuple[Any, ...]:
    """Distance, the two points, the two faces."""
    pose_a, pose_b = a._pose, b._pose
    order_a, order_b = a._packets.order, b._packets.order
    work = np.zeros(3, dtype=np.int64)
    count = search_first(a._handle, pose_a, b._handle, pose_b)[3]
    if count <= 0 and not (count == MAYBE_HELD and find_holder(a, pose_a, b, pose_b)):
        gap_sq, slot_a, slot_b, p, q = measure_gap(a._handle, pose_a, b._handle, pose_b, work)
        return float(gap_sq**0.5), p, q, int(order_a[slot_a]), int(order_b[slot_b])
    if with_depth:
        depth, face_a, face_b, p, q = penetration(a, pose_a, b, pose_b)
        if face_a >= 0:
            return -depth, p, q, face_a, face_b
    touch = collide(a, b, first=True)
    if len(touch):
        point = touch.point[0]
        return 0.0, point, point, int(touch.face_a[0]), int(touch.face_b[0])
    # One holds the other, less deep than rounding, or the depth is not asked for.
    _, slot_a, slot_b, p, q = measure_gap(a._handle, pose_a, b._handle, pose_b, work)
    return 0.0, p, q, int(order_a[slot_a]), int(order_b[slot_b])
