"""`distance`: how far two bodies are apart, or how deep they are in each other, with the points that show it."""

from typing import NamedTuple

import numpy as np

from abut.arrays import Floats, frozen
from abut.discrete.bodies import as_body
from abut.discrete.collide import check_sizes, collide, find_holder
from abut.discrete.penetration import penetration
from abut.discrete.gap import measure_gap
from abut.discrete.search import MAYBE_HELD, search_first


class Distance(NamedTuple):
    """How far two bodies are apart. point_a and point_b (3,) lie on the faces face_a and face_b, in the world."""

    distance: float
    """The gap; 0 where the surfaces touch without depth; negative, the penetration depth, where bodies overlap or one holds the other."""
    point_a: Floats
    point_b: Floats
    face_a: int
    face_b: int


def distance(a: object, b: object) -> Distance:
    """The signed distance of two bodies.

    Apart: the smallest distance of their surfaces, with the nearest points. Overlapping, or one inside the other: minus the pointwise
    penetration depth, the largest distance from a point of either surface inside the other body to that one's surface, with the deepest point and the
    surface point nearest to it, found to within 0.5 %. Surfaces that are not closed have no inside: where they meet the distance is 0.
    """
    body_a, body_b = as_body(a, "a"), as_body(b, "b")
    check_sizes(body_a, body_b)
    pose_a, pose_b = body_a._pose, body_b._pose
    order_a, order_b = body_a._packets.order, body_b._packets.order
    work = np.zeros(3, dtype=np.int64)
    count = search_first(body_a._handle, pose_a, body_b._handle, pose_b)[3]
    if count > 0 or (count == MAYBE_HELD and find_holder(body_a, pose_a, body_b)):
        depth, slot_a, slot_b, p, q = penetration(body_a, pose_a, body_b, pose_b)
        if slot_a >= 0:
            return _result(-depth, order_a[slot_a], order_b[slot_b], p, q)
        touch = collide(body_a, body_b, first=True)
        if len(touch) == 0:  # one holds the other, less deep than rounding
            _, slot_a, slot_b, p, q = measure_gap(body_a._handle, pose_a, body_b._handle, pose_b, work)
            return _result(0.0, order_a[slot_a], order_b[slot_b], p, q)
        point = tuple(touch.point[0].tolist())
        return _result(0.0, int(touch.face_a[0]), int(touch.face_b[0]), point, point)
    gap_sq, slot_a, slot_b, p, q = measure_gap(body_a._handle, pose_a, body_b._handle, pose_b, work)
    return _result(gap_sq**0.5, order_a[slot_a], order_b[slot_b], p, q)


def _result(value: float, face_a: int, face_b: int, p: tuple[float, ...], q: tuple[float, ...]) -> Distance:
    return Distance(float(value), frozen(np.array(p)), frozen(np.array(q)), int(face_a), int(face_b))
