"""What the surface of a body is like, and what two surfaces make of it together.

Where two bodies name different rules, the later in the order average, minimum, multiply, maximum counts; a body that names none leaves it to the
other, and where neither does, friction is the geometric mean and restitution the larger of the two.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.jit import element
from abut.core.showing import describe
from abut.core.types import Number, VectorLike
from abut.world.bodies.store import Store, rotations_of

Rule: TypeAlias = Literal["average", "minimum", "multiply", "maximum"]
"""How two numbers of surfaces that touch become one."""
RULES: tuple[str, ...] = get_args(Rule)
AVERAGE, MINIMUM, MULTIPLY, MAXIMUM = range(1, 5)
UNNAMED = 0


@dataclass(frozen=True, eq=False, repr=False)
class Material:
    """The surface of a body: how it rubs, bounces, carries and lets through.

    Args:
        friction: Coulomb's coefficient.
        restitution: from 0 to 1.
        rolling: the lever, a length, at which the normal force holds what rolls; None: the world's slop.
        friction_rule: how it is combined with the friction of what it touches. By default as the other body says, else the geometric mean.
        restitution_rule: the same for restitution; by default as the other body says, else the larger counts.
        surface_velocity: (3,) how the surface moves along itself, in the frame of the body: a conveyor belt. Friction takes along what lies on it.
        one_way: (3,) the direction, in the frame of the body, of the side that holds; what comes from any other passes through until it is out. None:
            all sides hold.

    Examples:
        >>> import abut
        >>> from abut.world import Material
        >>> ice = Material(0.02, friction_rule="minimum")
        >>> ice
        Material(friction 0.02 minimum, restitution 0.0)
    """

    friction: Number = 0.5
    restitution: Number = 0.0
    rolling: Number | None = None
    friction_rule: Rule | None = None
    restitution_rule: Rule | None = None
    surface_velocity: VectorLike = (0.0, 0.0, 0.0)
    one_way: VectorLike | None = None

    def __post_init__(self) -> None:
        """Check everything; what was given is replaced by what was read."""
        read = read_surface(self)
        for name, value in zip(Surface._fields, read, strict=True):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        friction = " ".join(filter(None, (f"friction {self.friction}", self.friction_rule)))
        restitution = " ".join(filter(None, (f"restitution {self.restitution}", self.restitution_rule)))
        facts = [friction, restitution]
        facts += ["conveyor"] if np.any(np.asarray(self.surface_velocity)) else []
        facts += ["one way"] if self.one_way is not None else []
        return describe(self, *facts)


class Surface(NamedTuple):
    """A material as it is read."""

    friction: float
    restitution: float
    rolling: float | None
    friction_rule: str | None
    restitution_rule: str | None
    surface_velocity: Floats
    one_way: Floats | None


def read_surface(given: Material) -> Surface:
    """What a material says, checked."""
    way = None
    if given.one_way is not None:
        way = arrays.coordinates(given.one_way, "one_way", (3,))
        size = float(np.abs(way).max())
        if size == 0.0:
            raise InvalidInput("one_way", "is zero: it has no direction")
        way = frozen(np.asarray(way / size / np.linalg.norm(way / size), np.float64))
    return Surface(
        arrays.scalar(given.friction, "friction", least=0.0),
        arrays.scalar(given.restitution, "restitution", least=0.0, most=1.0),
        None if given.rolling is None else arrays.scalar(given.rolling, "rolling", least=0.0),
        None if given.friction_rule is None else arrays.choice(given.friction_rule, "friction_rule", RULES),
        None if given.restitution_rule is None else arrays.choice(given.restitution_rule, "restitution_rule", RULES),
        arrays.coordinates(given.surface_velocity, "surface_velocity", (3,), keep=True),
        way,
    )


def put_material(store: Store, slots: Integers, material: Material, slop: float) -> None:
    """Give bodies a material."""
    read = read_surface(material)
    store.friction[slots], store.restitution[slots] = read.friction, read.restitution
    store.rolling[slots] = slop if read.rolling is None else read.rolling
    for column, rule in ((0, read.friction_rule), (1, read.restitution_rule)):
        store.rules[slots, column] = UNNAMED if rule is None else RULES.index(rule) + 1
    store.surface_velocity[slots] = read.surface_velocity
    store.one_way[slots] = 0.0 if read.one_way is None else read.one_way


@element
def combine(first: float, second: float, rule: int, unnamed: float) -> float:
    """Of numbers of two surfaces, by a rule, or as given where nobody names one."""
    if rule == AVERAGE:
        return 0.5 * (first + second)
    if rule == MINIMUM:
        return min(first, second)
    if rule == MULTIPLY:
        return first * second
    return max(first, second) if rule == MAXIMUM else unnamed


def find_conveyors(store: Store) -> NDArray[np.bool_]:
    """(n,) bodies whose surface moves."""
    return store.alive & store.surface_velocity.any(axis=1)


def find_slips(store: Store, pairs: Integers) -> Floats:
    """(n,3) how the surface of the second body of each pair (n,2) moves on its body, less that of the first, in the world."""
    carrying = np.flatnonzero(find_conveyors(store))
    moving = np.zeros((len(store.alive), 3))
    turned = rotations_of(store.quaternion[carrying]) @ store.surface_velocity[carrying][:, :, np.newaxis]
    moving[carrying] = turned[:, :, 0]
    return moving[pairs[:, 1]] - moving[pairs[:, 0]]
