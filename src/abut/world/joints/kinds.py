"""The kinds of joints: settings of one and the same (`definition.Joint`)."""

import math
from typing import Any

import numpy as np

from abut.core import arrays
from abut.core.arrays import Floats
from abut.core.errors import InvalidInput
from abut.core.types import Number, PoseLike, VectorLike
from abut.world.joints.definition import FREE, LOCKED, Freedom, Joint, make_joint

PLACES = dict.fromkeys(("x", "y", "z"), LOCKED)
SWINGS = dict.fromkeys(("swing_y", "swing_z"), LOCKED)


def fixed(
    a: int | None,
    b: int | None,
    point: VectorLike,
    *,
    collide: bool = False,
    break_force: float = math.inf,
    break_torque: float = math.inf,
) -> Joint:
    """Two bodies that do not move against each other.

    Args:
        a, b: handles of two bodies, or None for the world.
        point: (3,) where they hang together: torques are about it.
        collide: whether the two bodies collide with each other.
        break_force, break_torque: over one step, at which it breaks.

    Examples:
        >>> from abut import joints
        >>> joints.fixed(0, 1, (0, 0, 1), break_force=50.0)
        Joint(fixed, a 0, b 1)
    """
    return make_joint(
        "fixed", (a, b), (point, point), np.eye(3), {**PLACES, "twist": LOCKED, **SWINGS}, _pack(locals())
    )


def ball(
    a: int | None,
    b: int | None,
    point: VectorLike,
    axis: VectorLike = (0.0, 0.0, 1.0),
    *,
    cone: Freedom = FREE,
    twist: Freedom = FREE,
    collide: bool = False,
    break_force: float = math.inf,
    break_torque: float = math.inf,
) -> Joint:
    """A point of one body that stays on a point of the other, as in a shoulder.

    Args:
        a, b: handles of two bodies, bones or particles, or None for the world.
        point: (3,) where they hang together.
        axis: (3,) of both bodies, which the cone and the twist are measured with.
        cone: how far the axis of b may swing from that of a, in radians.
        twist: how far b may turn about its axis, in radians, between −π and π.
        collide, break_force, break_torque: as for `fixed`.

    Examples:
        >>> from abut import joints
        >>> joints.ball(0, 1, (0, 0, 1), cone=joints.Freedom(high=0.5))
        Joint(ball, a 0, b 1)
    """
    return make_joint(
        "ball", (a, b), (point, point), _axes(axis), {**PLACES, "cone": cone, "twist": twist}, _pack(locals())
    )


def hinge(
    a: int | None,
    b: int | None,
    point: VectorLike,
    axis: VectorLike,
    *,
    turn: Freedom = FREE,
    collide: bool = False,
    break_force: float = math.inf,
    break_torque: float = math.inf,
) -> Joint:
    """Two bodies that turn about a common axis, as a door on its frame.

    Args:
        a, b: handles of two bodies, or None for the world.
        point: (3,) on the axis.
        axis: (3,) about which b turns against a, by the right-hand rule.
        turn: limits, spring, motor and friction of the angle (`twist`), which is 0 where they are joined and counts whole turns.
        collide, break_force, break_torque: as for `fixed`.

    Examples:
        >>> from abut import joints
        >>> joints.hinge(None, 0, (0, 0, 1), (0, 0, 1), turn=joints.Freedom(speed=2.0, motor_force=5.0))
        Joint(hinge, a the world, b 0)
    """
    return make_joint(
        "hinge", (a, b), (point, point), _axes(axis), {**PLACES, "twist": turn, **SWINGS}, _pack(locals())
    )


def slider(
    a: int | None,
    b: int | None,
    point: VectorLike,
    axis: VectorLike,
    *,
    slide: Freedom = FREE,
    collide: bool = False,
    break_force: float = math.inf,
    break_torque: float = math.inf,
) -> Joint:
    """Two bodies that slide along a common axis, as a drawer, and do not turn against each other.

    Args:
        a, b: handles of two bodies, or None for the world.
        point: (3,) where they hang together.
        axis: (3,) along which b slides against a.
        slide: limits, spring, motor and friction of the way (`x`), which is 0 where they are joined.
        collide, break_force, break_torque: as for `fixed`.

    Examples:
        >>> from abut import joints
        >>> joints.slider(None, 0, (0, 0, 1), (1, 0, 0), slide=joints.Freedom(-1, 1, friction=3.0))
        Joint(slider, a the world, b 0)
    """
    freedoms = {**PLACES, "x": slide, "twist": LOCKED, **SWINGS}
    return make_joint("slider", (a, b), (point, point), _axes(axis), freedoms, _pack(locals()))


def distance(
    a: int | None,
    b: int | None,
    point_a: VectorLike,
    point_b: VectorLike,
    *,
    least: Number | None = None,
    most: Number | None = None,
    collide: bool = False,
    break_force: float = math.inf,
) -> Joint:
    """Two points that keep their distance, as at the ends of a rod; or a rope, with `least=0`.

    Args:
        a, b: handles of two bodies, bones or particles, or None for the world.
        point_a, point_b: (3,) of the two bodies.
        least: of the distance; by default what it is, or `most` if that is less.
        most: of the distance; by default what it is, or `least` if that is more.
        collide, break_force: as for `fixed`.

    Examples:
        >>> from abut import joints
        >>> joints.distance(None, 0, (0, 0, 3), (0, 0, 1), least=0.0)  # a rope of length 2
        Joint(distance, a the world, b 0)
    """
    now = _apart(point_a, point_b)
    low = None if least is None else arrays.scalar(least, "least", least=0.0)
    high = None if most is None else arrays.positive(most, "most")
    if low is None:
        low = now if high is None else min(now, high)
    high = max(now, low) if high is None else high
    if not low <= high:
        raise InvalidInput("least", f"is {low:g}, more than most, which is {high:g}")
    if high == 0.0:
        raise InvalidInput("most", "is 0: a ball joint holds two points on each other")
    options = {**_pack(locals()), "break_torque": math.inf}
    return make_joint("distance", (a, b), (point_a, point_b), np.eye(3), {"distance": Freedom(low, high)}, options)


def spring(
    a: int | None,
    b: int | None,
    point_a: VectorLike,
    point_b: VectorLike,
    *,
    stiffness: Number,
    damping: Number = 0.0,
    length: Number | None = None,
    collide: bool = False,
    break_force: float = math.inf,
) -> Joint:
    """A spring between two points.

    Args:
        a, b: handles of two bodies, bones or particles, or None for the world.
        point_a, point_b: (3,) of the two bodies.
        stiffness: force for each unit of length.
        damping: force for each unit of velocity.
        length: at rest; by default what it is.
        collide, break_force: as for `fixed`.

    Examples:
        >>> from abut import joints
        >>> joints.spring(None, 0, (0, 0, 3), (0, 0, 1), stiffness=100.0, damping=1.0)
        Joint(spring, a the world, b 0)
    """
    rest = _apart(point_a, point_b) if length is None else arrays.scalar(length, "length", least=0.0)
    freedom = Freedom(stiffness=stiffness, damping=damping, rest=rest)  # pyright: ignore[reportArgumentType]
    options = {**_pack(locals()), "break_torque": math.inf}
    return make_joint("spring", (a, b), (point_a, point_b), np.eye(3), {"distance": freedom}, options)


def six_degree(
    a: int | None,
    b: int | None,
    frame: PoseLike,
    *,
    x: Freedom = LOCKED,
    y: Freedom = LOCKED,
    z: Freedom = LOCKED,
    twist: Freedom = LOCKED,
    swing_y: Freedom = LOCKED,
    swing_z: Freedom = LOCKED,
    collide: bool = False,
    break_force: float = math.inf,
    break_torque: float = math.inf,
) -> Joint:
    """Two bodies of which each way to move against each other is locked, limited or free.

    Args:
        a, b: handles of two bodies, or None for the world.
        frame: (4,4) pose of the point and the axes where they hang together.
        x, y, z: of b's point, seen from a.
        twist: of b about its x.
        swing_y, swing_z: of b's x from a's: the vector that it turns about, its length the angle.
        collide, break_force, break_torque: as for `fixed`.

    Examples:
        >>> import numpy as np
        >>> from abut import joints
        >>> joints.six_degree(0, 1, np.eye(4), x=joints.Freedom(0, 0.1), twist=joints.FREE)
        Joint(six_degree, a 0, b 1)
    """
    at = arrays.rigid_poses(arrays.pose(frame, "frame")[np.newaxis], "frame")[0]
    freedoms = {"x": x, "y": y, "z": z, "twist": twist, "swing_y": swing_y, "swing_z": swing_z}
    return make_joint("six_degree", (a, b), (at[:3, 3], at[:3, 3]), at[:3, :3], freedoms, _pack(locals()))


def _pack(given: dict[str, Any]) -> dict[str, Any]:
    """The options that all kinds have."""
    return {name: given[name] for name in ("collide", "break_force", "break_torque") if name in given}


def _apart(point_a: VectorLike, point_b: VectorLike) -> float:
    a, b = (arrays.coordinates(p, name, (3,)) for name, p in (("point_a", point_a), ("point_b", point_b)))
    return float(np.linalg.norm(b - a))


def _axes(axis: VectorLike) -> Floats:
    """(3,3) columns at right angles, the first along the axis."""
    along = arrays.coordinates(axis, "axis", (3,))
    largest = np.abs(along).max()
    if largest == 0.0:
        raise InvalidInput("axis", "is zero")
    x = along / largest
    x = x / np.linalg.norm(x)
    across = np.cross(x, np.eye(3)[np.argmin(np.abs(x))])
    y = across / np.linalg.norm(across)
    return np.asarray(np.stack((x, y, np.cross(x, y)), axis=1), np.float64)
