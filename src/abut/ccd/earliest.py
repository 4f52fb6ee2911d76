"""`time_of_impact`: when anything first meets during a step.

Each chunk of pairs is searched up to the best time so far: a sample of the chunk first, so that the rest has a low bound. Which pairs are solved up
to which time depends on the chunks alone, so the answer is the same on any number of threads.

A sample of the search comes first: what meets early in a long step leaves nearly nothing of it to be searched.

Surfaces that are in contact when the step begins (`contact_at_start`) have the earliest time 0, whatever their features do.
"""

import math
from collections.abc import Iterator
from typing import overload

import numpy as np

from abut.ccd.contact_at_start import is_in_contact_at_start
from abut.ccd.impact.first_contact import FREE, NEVER
from abut.ccd.impact.straight_pairs import Pairs
from abut.ccd.motion.motions import BodyLike, Motion
from abut.ccd.motion.surfaces import Surface, read_surfaces
from abut.ccd.on_device import ends_on_device, questions
from abut.ccd.queries import TOLERANCE
from abut.ccd.results import Kind
from abut.ccd.step import Step, make_step
from abut.core import arrays
from abut.core.devices import Device
from abut.core.jit import threads_for
from abut.core.types import PointsLike
from abut.trees.blocks.memory import Memory

SAMPLE = 32
"""One pair in so many is solved first, for a bound on the earliest time."""
CUT = 0.5
"""Is a sample of the query's blocks hit before this, then the boxes are made anew for the time up to there, in which far fewer of them meet. Exact
verdicts only: where steps are limited (with a distance) a time may be early by more than the tolerance, and be found in the whole step alone."""
CUT_FROM = 512
"""Steps of fewer faces are searched as they are."""
LEAST_SLACK = 2.0**-40
"""A time may be early by the tolerance, or by rounding where that is less: pairs that meet so much later than the best time are looked at too."""


def _improve(step: Step, kind: Kind, pairs: Pairs, best: float) -> float:
    """The earliest time of some pairs if it is below the best. A search that ends early rounds its times otherwise than one of the whole step, so
    what it finds is solved again as `sweep` does: the two give the same number."""
    until = min(best + max(2.0 * step.tolerance, LEAST_SLACK), 1.0)
    status, time = step.solve_straight(kind, pairs, until)
    if until < 1.0:
        near = pairs[status != FREE]
        time = step.solve_straight(kind, near, 1.0)[1]
    return min(best, float(time.min(initial=NEVER)))


def _search_straight(step: Step, chunks: Iterator[tuple[Kind, Pairs]], best: float) -> float:
    """The earliest time of chunks of pairs if it is below the best."""
    for kind, chunk in chunks:
        pairs = step.choose(kind, chunk, turning=False)
        sampled = np.arange(len(pairs)) % SAMPLE == 0
        for part in (pairs[sampled], pairs[~sampled]):
            if len(part) and best > 0.0:
                best = _improve(step, kind, part, best)
        if best <= 0.0:
            break
    return best


def _earliest_straight(step: Step) -> float:
    culled = step.cull(step.whole())
    if step.size < CUT_FROM or step.distance > 0.0:
        return _search_straight(step, step.stream(culled), NEVER)
    best = _search_straight(step, step.stream(culled, every=SAMPLE), NEVER)
    if best > CUT:
        return _search_straight(step, step.stream(culled), best)
    if best > 0.0:
        end = best + 2.0 * max(step.tolerance, LEAST_SLACK)
        best = _search_straight(step, step.stream(step.cull(step.until(end))), best)
    return best


def _earliest_turning(step: Step, best: float) -> float:
    for span in step.spans():
        if span.begin >= best:
            break
        for kind, chunk in step.stream(step.cull(span)):
            pairs = step.choose(kind, chunk, turning=True)
            if len(pairs):
                _, time = step.solve_turning(kind, pairs, span, best)
                best = min(best, float(time.min()))
    return best


@overload
def time_of_impact(
    a: Motion,
    b: Motion = ...,
    /,
    *,
    min_distance: float = 0.0,
    tolerance: float = TOLERANCE,
    max_memory: int | None = None,
    at_start: bool = True,
    device: Device = None,
) -> float: ...


@overload
def time_of_impact(
    mesh: BodyLike,
    v_t0: PointsLike,
    v_t1: PointsLike,
    /,
    *,
    min_distance: float = 0.0,
    tolerance: float = TOLERANCE,
    max_memory: int | None = None,
    at_start: bool = True,
    device: Device = None,
) -> float: ...


def time_of_impact(
    a: Motion | BodyLike,
    *others: Motion | PointsLike,
    min_distance: float = 0.0,
    tolerance: float = TOLERANCE,
    max_memory: int | None = None,
    at_start: bool = True,
    device: Device = None,
) -> float:
    """The earliest time at which anything meets during a step, never late; inf when nothing does.

    Args:
        a, *others, min_distance, tolerance, max_memory, device: as for `sweep`.
        at_start: whether surfaces that pass through each other at t = 0, and a closed body that holds the other then, have the time 0. Without it
            only first contacts of features count, the rows of `sweep`.

    Returns:
        A time in [0, 1], or inf.

    Examples:
        >>> import abut
        >>> ball = abut.scenes.icosphere(1)
        >>> left, right = (abut.Motion(ball, ball.vertices + [x, 0, 0], ball.vertices) for x in (-3, 3))
        >>> round(abut.time_of_impact(left, right), 6)
        0.666667
        >>> round(abut.time_of_impact(left, right, min_distance=1.0), 4)
        0.5
    """
    ends = ends_on_device(device, a, others)
    if ends is not None:
        return questions().time_of_impact(ends, min_distance, tolerance, max_memory, at_start)
    return find_earliest(*read_surfaces(a, others), min_distance, tolerance, max_memory, at_start, Memory())


def find_earliest(
    one: Surface,
    two: Surface | None,
    min_distance: float,
    tolerance: float,
    max_memory: int | None,
    at_start: bool,
    memory: Memory,
) -> float:
    """`time_of_impact`, in a memory that may be kept."""
    counts_start = arrays.flag(at_start, "at_start")
    step = make_step(one, two, min_distance, tolerance, max_memory, memory)
    with threads_for(step.size):
        best = _earliest_straight(step) if step.is_partly_straight else NEVER
        if step.turns:
            best = _earliest_turning(step, best)
        if counts_start and best > 0.0 and is_in_contact_at_start(step.motions, step.max_memory):
            best = 0.0
    return best if best <= 1.0 else math.inf
