"""One leg of a walk on darts: what became of the path in one cell."""

from typing import NamedTuple

from abut.cells.map.darts import Row
from abut.core.jit import element, integer

STOPPED, ARRIVED, GOES_ON = -1, 0, 1


class Leg(NamedTuple):
    """The state after a leg: the cell and the dart to go on from, or in which the path ended."""

    cell: Row
    ahead: Row
    is_known: bool
    """whether the path is known to pass inside of the edge before `ahead`"""
    is_inner: bool
    """whether the path comes from inside the cell, and not along its border"""
    state: int
    """GOES_ON, ARRIVED at the target, or STOPPED where the free cells end"""
    slot: Row
    """the face through which it stopped, or NO_FACE"""
    through: int
    """in what it passed the border of the cell it was in, and a dart of that; MISSED where it did not ask"""
    hit: Row
    tests: int


@element
def end_leg(
    cell: Row, ahead: Row, is_known: bool, is_inner: bool, state: int, slot: Row, through: int, hit: Row, tests: int
) -> Leg:
    """A leg, its numbers all of one type: tables hold smaller ones."""
    return Leg(integer(cell), integer(ahead), is_known, is_inner, state, integer(slot), through, integer(hit), tests)
