"""Intervals that hold roots, gathered in one walk from 0 to 1.

The walker notes where the sign is certain and where it is not. Stretches of uncertain sign become enclosures: those
that touch are one, and an enclosure between two opposite certain signs is CERTAIN to hold a root.
"""

import math
from enum import IntEnum
from typing import NamedTuple

from abut.core.jit import element


class Kind(IntEnum):
    """What is known of an enclosure. CERTAIN: the sign surely changes inside. POSSIBLE: a root cannot be excluded."""

    POSSIBLE = 0
    CERTAIN = 1


class Status(IntEnum):
    """LIMIT: the limit of work was reached; the enclosures hold all roots still, but the last one may be wide."""

    CONVERGED = 0
    LIMIT = 1


POSSIBLE, CERTAIN = Kind.POSSIBLE, Kind.CERTAIN
CONVERGED, LIMIT = Status.CONVERGED, Status.LIMIT


class Enclosure(NamedTuple):
    """A closed interval [lo, hi] of times, and what is known of it."""

    lo: float
    hi: float
    kind: Kind


class Roots(NamedTuple):
    """Enclosures in ascending order; `enclosure_count` of them are used, the others lie at infinity."""

    enclosure_count: int
    status: Status
    first: Enclosure
    second: Enclosure
    third: Enclosure


class Trail(NamedTuple):
    """The walk so far: finished enclosures, the last one (hi < 0: none yet), the last certain sign (0: none yet)."""

    roots: Roots
    lo: float
    hi: float
    kind: Kind
    sign: int


@element
def no_roots() -> Roots:
    """No enclosure at all."""
    none = Enclosure(math.inf, math.inf, POSSIBLE)
    return Roots(0, CONVERGED, none, none, none)


@element
def start_trail(sign: int) -> Trail:
    """A walk that begins at 0 with this certain sign (0: uncertain)."""
    return Trail(no_roots(), -1.0, -1.0, POSSIBLE, sign)


@element
def note_sign(trail: Trail, sign: int) -> Trail:
    """The sign is certain from here on. If it differs from the last certain one, it changed in the last enclosure."""
    kind = CERTAIN if sign == -trail.sign else trail.kind
    return Trail(trail.roots, trail.lo, trail.hi, kind, sign)


@element
def note_uncertain(trail: Trail, lo: float, hi: float) -> Trail:
    """The sign is uncertain on [lo, hi]: a new enclosure, or more of the last one when they touch."""
    if lo == trail.hi:
        return Trail(trail.roots, trail.lo, hi, trail.kind, trail.sign)
    return Trail(_finish_last(trail), lo, hi, POSSIBLE, trail.sign)


@element
def end_trail(trail: Trail, status: Status) -> Roots:
    """What the walk found."""
    roots = _finish_last(trail)
    return Roots(roots.enclosure_count, status, roots.first, roots.second, roots.third)


@element
def _finish_last(trail: Trail) -> Roots:
    if trail.hi < 0.0:
        return trail.roots
    return append(trail.roots, Enclosure(trail.lo, trail.hi, trail.kind))


@element
def append(roots: Roots, new: Enclosure) -> Roots:
    """Add an enclosure that lies after the others; of four, the two with the smallest gap become one."""
    a, b, c = roots.first, roots.second, roots.third
    if roots.enclosure_count == 0:
        return Roots(1, roots.status, new, b, c)
    if roots.enclosure_count == 1:
        return Roots(2, roots.status, a, new, c)
    if roots.enclosure_count == 2:
        return Roots(3, roots.status, a, b, new)
    gap_ab, gap_bc, gap_new = b.lo - a.hi, c.lo - b.hi, new.lo - c.hi
    if gap_ab <= gap_bc and gap_ab <= gap_new:
        return Roots(3, roots.status, _join(a, b), c, new)
    if gap_bc <= gap_new:
        return Roots(3, roots.status, a, _join(b, c), new)
    return Roots(3, roots.status, a, b, _join(c, new))


@element
def _join(a: Enclosure, b: Enclosure) -> Enclosure:
    return Enclosure(a.lo, b.hi, CERTAIN if a.kind == CERTAIN or b.kind == CERTAIN else POSSIBLE)
