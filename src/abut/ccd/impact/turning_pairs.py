"""First contact of many pairs of which at least one feature turns: straight pieces, as short as the contact is near.

Over a span h a turning vertex stays within bend·h² of the straight line between its two places (`motion.paths`). So if the straight features stay
farther apart than the bends of both, the turning ones do not touch. If they come closer, everything before that time is free; from there a shorter
span is tried, whose bend is smaller by the square. A contact is reported once the bend is below a quarter of `tolerance`, a length. With d the
distance asked for, the straight features are then within (d + bend + noise)·(1 + DISTANCE_TOLERANCE) and some 10⁻¹⁴ of their size
(`conservative_advancement`), the true ones a bend and the noise nearer or further: within d·(1 + DISTANCE_TOLERANCE) + tolerance as long as the
noise is below a fifth of it, and never late.

Rounding: a place is off by 8u at most of the numbers that it is the sum of (four products and sums, sine and cosine to 1u); `noise` has this for
both features. Where it is more than that fifth (a body far from the origin of its frame), twice the noise comes on top.

Failure case: features that slide along each other closer than the tolerance need many spans; after MAX_SPANS the pair counts as a hit, at the
last time that is known to be free (status LIMIT).
"""

from typing import NamedTuple

import numpy as np

from abut.ccd.impact.conservative_advancement import WITHIN_STEPS, first_within
from abut.ccd.impact.first_contact import FREE, LIMIT, NEVER
from abut.ccd.impact.relative_paths import relative_paths
from abut.ccd.impact.straight_pairs import BLOCK, Corners, Pairs, Statuses, corners_of
from abut.ccd.motion.paths import Paths, place
from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel, parallel, prange, thread_count

MAX_SPANS = 4096
SHORTER, LONGER = 0.25, 2.0
ROUND_DOWN = 1.0 - 2.0**-50
FLAT_ENOUGH = 0.25
"""A contact is reported once the paths bend by less than this part of the tolerance: the bend counts twice."""


class Times(NamedTuple):
    """Begin and end of a span, and the last time of interest: later contacts may be left out."""

    begin: float
    end: float
    useful: float


class Limits(NamedTuple):
    """What counts as contact, all lengths: how near two features may come, how near they are said to touch, and the rounding of their places."""

    distance: float
    tolerance: float
    noise: float


class TurningSide(NamedTuple):
    """One column of pairs: the paths of the vertices, and the vertices of each feature (n,2) or (n,3); a vertex is its own. Numba's parallel loops
    take no tuple in a tuple: they are handed the two fields."""

    paths: Paths
    cells: Integers


@kernel
def _first_turning(
    is_face: bool, first: Paths, second: Paths, corners: Corners, times: Times, limits: Limits
) -> tuple[int, float]:
    """Status and time of the first moment in [begin, end] at which the pair is near enough, or touches. Given up as FREE once it is known
    to be later than is useful, which changes no time that is found before."""
    begin, end, useful = times
    distance, tolerance, noise = limits
    p, q, r, s = corners
    other = second if is_face else first
    bend_first, bend_second = first.bend[p], max(second.bend[r], second.bend[s])
    if is_face:
        bend_second = max(bend_second, second.bend[q])
    else:
        bend_first = max(bend_first, first.bend[q])
    bend = float(bend_first + bend_second)
    t, span = begin, end - begin
    x0, x1, x2, x3 = place(first, p, t), place(other, q, t), place(second, r, t), place(second, s, t)
    for _ in range(MAX_SPANS):
        if t > useful:
            return FREE, NEVER
        last = not t + span < end
        until = end if last else t + span
        y0, y1, y2, y3 = (
            place(first, p, until),
            place(other, q, until),
            place(second, r, until),
            place(second, s, until),
        )
        sag = bend * (until - t) * (until - t)
        paths, sizes, scale = relative_paths(x0, x1, x2, x3, y0, y1, y2, y3)
        status, local = first_within(is_face, paths, sizes, (distance + sag + noise) * scale, 1.0, WITHIN_STEPS)
        if status == FREE:
            if last:
                return FREE, NEVER
            t, span = until, LONGER * (until - t)
            x0, x1, x2, x3 = y0, y1, y2, y3
        else:
            reached = t + local * (until - t) * ROUND_DOWN
            if sag <= FLAT_ENOUGH * tolerance:
                return status, max(t, reached)
            span = SHORTER * (until - t)
            if reached > t:
                t = reached
                x0, x1, x2, x3 = place(first, p, t), place(other, q, t), place(second, r, t), place(second, s, t)
    return LIMIT, t


@parallel
def _solve_all(
    is_face: bool,
    pairs: Pairs,
    first: Paths,
    first_cells: Integers,
    second: Paths,
    second_cells: Integers,
    times: Times,
    limits: Limits,
    thread_total: int,
    status: Statuses,
    time: Floats,
) -> None:
    for thread in prange(thread_total):
        for block in range(thread * BLOCK, len(pairs), thread_total * BLOCK):
            for k in range(block, min(block + BLOCK, len(pairs))):
                corners = corners_of(is_face, first_cells, second_cells, pairs, k)
                status[k], time[k] = _first_turning(is_face, first, second, corners, times, limits)


def solve_turning(
    is_face: bool, pairs: Pairs, first: TurningSide, second: TurningSide, times: Times, limits: Limits
) -> tuple[Statuses, Floats]:
    """Status and first time of each pair; NEVER where it is FREE."""
    status, time = np.empty(len(pairs), dtype=np.int8), np.empty(len(pairs))
    _solve_all(is_face, pairs, *first, *second, times, limits, thread_count(), status, time)
    return status, time
