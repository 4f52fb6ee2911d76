"""`sweep` and `time_of_impact`: what meets during a step, and when first.

Pairs come from `stream` a chunk at a time, already filtered, and are solved on all threads; only hits are kept. So memory follows the number of
impacts, not of candidates. For the earliest time each chunk is searched up to the best time so far: a sample of the chunk first, so that the rest
has a low bound. Which pairs are solved up to which time depends on the chunks alone, so the answer is the same on any number of threads.

Surfaces that are in contact when the step begins (`start`) have the earliest time 0, whatever their features do.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.ccd.carve import FREE, NEVER
from abut.ccd.contact_points import describe
from abut.ccd.motion import Paths, Surface, read_surfaces
from abut.ccd.queries import TOLERANCE
from abut.ccd.results import Impacts, Kind
from abut.ccd.solve import Pairs, Statuses, queries_of
from abut.ccd.spans import Span, Step
from abut.ccd.start import is_in_contact_at_start
from abut.ccd.stream import read_limit
from abut.core import arrays
from abut.core.arrays import Floats, frozen
from abut.core.jit import threads_for

SAMPLE = 32
"""One pair in so many is solved first, for a bound on the earliest time."""
LEAST_SLACK = 2.0**-40
"""A time may be early by the tolerance, or by rounding where that is less: pairs that meet so much later than the best time are looked at too."""


class _Rows(NamedTuple):
    """Pairs of one kind that meet, as (first, second) of `solve`, and the eight points that describe the contact."""

    kind: Kind
    pairs: Pairs
    time: Floats
    status: Statuses
    queries: Floats
    part: Floats
    """(n,) the time of contact between the two ends in `queries`"""


# ---- all impacts


def _hits_straight(step: Step) -> Iterator[_Rows]:
    for kind, chunk in step.stream(step.whole()):
        pairs = step.choose(kind, chunk, turning=False)
        if not len(pairs):
            continue
        status, time = step.solve_straight(kind, pairs, 1.0)
        met = np.flatnonzero(status != FREE)
        first, second = step.straight_sides(kind)
        own = pairs[met]
        yield _Rows(
            kind, own, time[met], status[met], queries_of(kind != Kind.EDGE_EDGE, own, first, second), time[met]
        )


def _hits_turning(step: Step) -> Iterator[_Rows]:
    for span in step.spans():
        for kind, chunk in step.stream(span):
            pairs = step.choose(kind, chunk, turning=True)
            if not len(pairs):
                continue
            status, time = step.solve_turning(kind, pairs, span, 1.0)
            met = np.flatnonzero(status != FREE)
            if len(met):
                yield _Rows(
                    kind,
                    pairs[met],
                    time[met],
                    status[met],
                    _turning_queries(step, kind, pairs[met], span, time[met]),
                    np.ones(len(met)),
                )


def _turning_queries(step: Step, kind: Kind, pairs: Pairs, span: Span, time: Floats) -> Floats:
    """Eight points of each pair: at the beginning of the span, and at its contact."""
    first, first_cells, second, second_cells = step.sides(kind)
    edges = kind == Kind.EDGE_EDGE
    columns = [(first, first_cells[pairs[:, 0]][:, k]) for k in range(2)] if edges else [(first, pairs[:, 0])]
    columns += [(second, second_cells[pairs[:, 1]][:, k]) for k in range(2 if edges else 3)]
    begin = np.full(len(time), span.begin)
    return np.stack([_places(m.paths, rows, at) for at in (begin, time) for m, rows in columns], axis=1)


def _places(paths: Paths, rows: NDArray[np.integer], time: Floats) -> Floats:
    phase = (time * paths.angle[rows])[:, np.newaxis]
    straight = paths.base[rows] + time[:, np.newaxis] * paths.velocity[rows]
    return straight + np.cos(phase) * paths.cosine[rows] + np.sin(phase) * paths.sine[rows]


def _number_vertices(rows: list[_Rows], one: Surface, two: Surface | None) -> None:
    """Number vertices as the meshes do that were asked about. They are first in their pairs; those of a face-vertex pair are the second body's."""
    for row in rows:
        if row.kind == Kind.VERTEX_FACE:
            one.number(row.pairs[:, 0])
        elif row.kind == Kind.FACE_VERTEX and two is not None:
            two.number(row.pairs[:, 0])


def _assemble(rows: list[_Rows], is_in_contact: Callable[[], bool]) -> Impacts:
    """One table, sorted by kind, a and b, the first contact of each pair only."""
    size = sum(len(row.time) for row in rows)
    kind, status = np.empty(size, dtype=np.int8), np.empty(size, dtype=np.int8)
    a, b, time = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64), np.empty(size)
    point, normal = np.empty((size, 3)), np.empty((size, 3))
    end = 0
    for row in rows:
        part = slice(end, end + len(row.time))
        end = part.stop
        turned = row.kind == Kind.FACE_VERTEX
        kind[part], time[part], status[part] = row.kind, row.time, row.status
        a[part], b[part] = row.pairs[:, int(turned)], row.pairs[:, int(not turned)]
        point[part], normal[part] = describe(row.kind != Kind.EDGE_EDGE, row.queries, row.part)
        if turned:
            normal[part] *= -1.0
    order = np.lexsort((time, b, a, kind))
    keys = np.stack([kind[order], a[order], b[order]])
    fresh = np.ones(size, dtype=np.bool_)
    fresh[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    order = order[fresh]
    return Impacts(
        frozen(kind[order]),
        frozen(a[order]),
        frozen(b[order]),
        frozen(time[order]),
        frozen(point[order]),
        frozen(normal[order]),
        frozen(status[order]),
        is_in_contact,
    )


def sweep(
    a: object,
    *others: object,
    min_distance: float = 0.0,
    tolerance: float = TOLERANCE,
    max_memory: int | None = None,
) -> Impacts:
    """All pairs of features that meet during a step, with the time, point and normal of their first contact.

    `sweep(mesh, v_t0, v_t1)` or `sweep(motion)`: a body with itself; `sweep(motion_a, motion_b)`: two bodies with each other.
    Features that share a vertex, and features of one rigid body, are never a pair; a vertex that no face has is no feature. Surfaces that
    pass through each other at t = 0 already have rows for features that meet, as all others have; `Impacts.in_contact_at_start` tells that they do.

    min_distance: how near counts as contact. tolerance: how early a time may be, as a part of the step. max_memory: bytes for the search of
    candidates, beside the impacts themselves; None: what a scene of this size needs.
    """
    one, two = read_surfaces(a, others)
    step = _make_step(one, two, min_distance, tolerance, max_memory)
    with threads_for(step.size):
        rows = list(_hits_straight(step)) if step.is_partly_straight else []
        if step.turns:
            rows += _hits_turning(step)
    _number_vertices(rows, one, two)
    return _assemble(rows, partial(is_in_contact_at_start, step.motions, step.max_memory))


# ---- the earliest


def _improve(step: Step, kind: Kind, pairs: Pairs, best: float) -> float:
    """The earliest time of some pairs if it is below the best. A search that ends early rounds its times otherwise than one of the whole step, so
    what it finds is solved again as `sweep` does: the two give the same number."""
    until = min(best + max(2.0 * step.tolerance, LEAST_SLACK), 1.0)
    status, time = step.solve_straight(kind, pairs, until)
    if until < 1.0:
        near = pairs[status != FREE]
        time = step.solve_straight(kind, near, 1.0)[1]
    return min(best, float(time.min(initial=NEVER)))


def _earliest_straight(step: Step) -> float:
    best = NEVER
    for kind, chunk in step.stream(step.whole()):
        pairs = step.choose(kind, chunk, turning=False)
        sampled = np.arange(len(pairs)) % SAMPLE == 0
        for part in (pairs[sampled], pairs[~sampled]):
            if len(part) and best > 0.0:
                best = _improve(step, kind, part, best)
        if best <= 0.0:
            break
    return best


def _earliest_turning(step: Step, best: float) -> float:
    for span in step.spans():
        if span.begin >= best:
            break
        for kind, chunk in step.stream(span):
            pairs = step.choose(kind, chunk, turning=True)
            if len(pairs):
                _, time = step.solve_turning(kind, pairs, span, best)
                best = min(best, float(time.min()))
    return best


def time_of_impact(
    a: object,
    *others: object,
    min_distance: float = 0.0,
    tolerance: float = TOLERANCE,
    max_memory: int | None = None,
    at_start: bool = True,
) -> float:
    """The earliest time at which anything meets during a step, never late; inf when nothing does. Arguments as for `sweep`.

    at_start: whether surfaces that pass through each other at t = 0, and a closed body that holds the other then, have the time 0. Without it
    only first contacts of features count, the rows of `sweep`.
    """
    counts_start = arrays.flag(at_start, "at_start")
    step = _make_step(*read_surfaces(a, others), min_distance, tolerance, max_memory)
    with threads_for(step.size):
        best = _earliest_straight(step) if step.is_partly_straight else NEVER
        if step.turns:
            best = _earliest_turning(step, best)
        if counts_start and best > 0.0 and is_in_contact_at_start(step.motions, step.max_memory):
            best = 0.0
    return best if best <= 1.0 else math.inf


def _make_step(
    one: Surface, two: Surface | None, min_distance: float, tolerance: float, max_memory: int | None
) -> Step:
    distance = arrays.scalar(min_distance, "min_distance", least=0.0)
    early = arrays.scalar(tolerance, "tolerance", least=0.0, most=1.0)
    return Step(one.motion, None if two is None else two.motion, distance, early, read_limit(max_memory))
