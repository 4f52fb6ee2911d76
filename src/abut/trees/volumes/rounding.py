"""Rounding outwards: the next double or one soon after it, so that a bound computed in floating point stays a bound."""

from abut.core.jit import element

UNIT = 2.0**-53
SMALLEST = 2.0**-1074


@element
def below(x: float) -> float:
    """A number below x by at least one unit in its last place, and at most two: under what was rounded to x."""
    return x - 2.0 * UNIT * abs(x) - SMALLEST


@element
def above(x: float) -> float:
    """A number above x by at least one unit in its last place, and at most two: over what was rounded to x."""
    return x + 2.0 * UNIT * abs(x) + SMALLEST
