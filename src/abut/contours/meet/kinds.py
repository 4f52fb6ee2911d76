"""How contours meet at a contact, and how two contours lie to one another. Kernels take the values, plain integers."""

from enum import IntEnum


class Kind(IntEnum):
    """How two contours meet at a contact."""

    CROSSING = 0
    """a passes from one side of b to the other."""
    TOUCH = 1
    """They meet in a point and a stays on its side."""
    INTERVAL = 2
    """They are within rounding of one another along a stretch."""


class Relation(IntEnum):
    """How two contours lie to one another."""

    APART = 0
    CONTACT = 1
    """They meet."""
    A_IN_B = 2
    """They do not meet, and a lies within b."""
    B_IN_A = 3
    """They do not meet, and b lies within a."""


CROSSING, TOUCH, INTERVAL = Kind
APART, CONTACT, A_IN_B, B_IN_A = Relation
