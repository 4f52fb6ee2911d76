"""What a joint is: two bodies, two points, axes, and what each coordinate between them may do. All is checked here, before a world has it."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from abut.core import arrays
from abut.core.arrays import Floats, frozen
from abut.core.errors import InvalidInput
from abut.core.showing import describe
from abut.core.types import Number, VectorLike
from abut.world.joints.coordinates import NAMES

MOST_FORCE = 1e60
"""Forces and stiffnesses: what no sum of them takes beyond the largest number."""


@dataclass(frozen=True)
class Freedom:
    """What one coordinate of a joint may do: lengths in the units of the world, angles in radians.

    Args:
        low, high: its limits; equal, it is locked there.
        stiffness: of a spring towards `rest`: force for each unit of length, or torque for each radian.
        damping: of that spring: force for each unit of velocity.
        rest: where the spring is at rest.
        spring_force: the most force, or torque, of the spring.
        speed: that a motor drives it at.
        motor_force: the most force, or torque, of the motor; 0: there is none.
        friction: the force, or torque, below which nothing moves.

    Examples:
        >>> from abut import joints
        >>> joints.Freedom(-1, 1, friction=0.2)
        Freedom(low=-1.0, high=1.0, friction=0.2)
    """

    low: float = -math.inf
    high: float = math.inf
    stiffness: float = 0.0
    damping: float = 0.0
    rest: float = 0.0
    spring_force: float = math.inf
    speed: float = 0.0
    motor_force: float = 0.0
    friction: float = 0.0

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            value = getattr(self, name)
            endless = isinstance(value, float) and math.isinf(value)
            object.__setattr__(self, name, value if endless else arrays.scalar(value, name))
        if not self.low <= self.high or self.low == math.inf or self.high == -math.inf:
            raise InvalidInput("low", f"is {self.low:g}, not at most high, which is {self.high:g}")
        for name in ("rest", "speed"):
            object.__setattr__(self, name, arrays.scalar(getattr(self, name), name))
        for name in ("stiffness", "damping", "spring_force", "motor_force", "friction"):
            object.__setattr__(self, name, read_force(getattr(self, name), name))
        for name in ("stiffness", "damping"):
            if math.isinf(getattr(self, name)):
                raise InvalidInput(name, "is infinite: lock the coordinate with low = high")

    def __repr__(self) -> str:
        shown = [f"{k}={v!r}" for k, v in vars(self).items() if v != getattr(Freedom, k)]
        return describe(self, *shown)

    @property
    def is_locked(self) -> bool:
        """Whether it cannot change."""
        return self.low == self.high


def read_force(value: Number, name: str) -> float:
    """A number from 0 on, which may be infinite."""
    if isinstance(value, float) and value == math.inf:
        return value
    return arrays.scalar(value, name, least=0.0, most=MOST_FORCE)


FREE = Freedom()
"""Nothing held."""

LOCKED = Freedom(0.0, 0.0)
"""Held at zero."""


@dataclass(frozen=True, eq=False)
class Joint:
    """Two bodies that hang together, as `World.join` takes it: what the functions of this module make.

    Places and axes are those of the world at the time it is joined.

    Examples:
        >>> from abut import joints
        >>> joints.hinge(0, None, (0, 0, 1), (0, 1, 0))
        Joint(hinge, a 0, b the world)
    """

    kind: str
    a: int | None
    """the handle of a body, or None for the world"""
    b: int | None
    point_a: Floats
    """(3,) where it holds a, in the world"""
    point_b: Floats
    """(3,) where it holds b"""
    axes: Floats
    """(3,3) columns: the axes of x, y and z; twists are about x"""
    freedoms: dict[str, Freedom] = field(default_factory=dict)
    """what each coordinate may do: x, y, z, twist, swing_y, swing_z, cone, distance; others are free"""
    collide: bool = False
    """whether the two bodies collide with each other"""
    break_force: float = math.inf
    break_torque: float = math.inf

    def __repr__(self) -> str:
        sides = (f"{name} {'the world' if value is None else value}" for name, value in (("a", self.a), ("b", self.b)))
        return describe(self, self.kind, *sides)


def make_joint(
    kind: str,
    bodies: tuple[int | None, int | None],
    points: tuple[VectorLike, VectorLike],
    axes: Floats,
    freedoms: dict[str, Freedom],
    options: dict[str, Any],
) -> Joint:
    """A joint of checked parts; options: `collide`, `break_force`, `break_torque`."""
    handles = [None if v is None else arrays.count(v, n, most=2**62) for n, v in zip("ab", bodies, strict=True)]
    if handles[0] == handles[1]:
        raise InvalidInput("b", "is the same as a")
    places = [arrays.coordinates(p, f"point_{n}", (3,), keep=True) for n, p in zip("ab", points, strict=True)]
    for name, freedom in freedoms.items():
        arrays.instance(freedom, name, Freedom)
    kept = {name: freedoms[name] for name in NAMES if name in freedoms and freedoms[name] != FREE}
    return Joint(
        kind,
        handles[0],
        handles[1],
        places[0],
        places[1],
        frozen(np.array(axes, np.float64)),
        kept,
        arrays.flag(options["collide"], "collide"),
        read_force(options["break_force"], "break_force"),
        read_force(options["break_torque"], "break_torque"),
    )
