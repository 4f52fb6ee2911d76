"""`sweep`: all that meets during a step.

Pairs come from `culling.stream` a chunk at a time, already filtered, and are solved on all threads; only hits are kept. So memory follows the
number of impacts, not of candidates.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from abut.ccd.contact_at_start import is_in_contact_at_start
from abut.ccd.impact.contact_points import describe
from abut.ccd.impact.first_contact import FREE
from abut.ccd.impact.straight_pairs import Pairs, Statuses, queries_of
from abut.ccd.motion.motions import BodyLike, Motion
from abut.ccd.motion.paths import Paths, places
from abut.ccd.motion.surfaces import Surface, read_surfaces
from abut.ccd.on_device import ends_on_device, questions
from abut.ccd.queries import TOLERANCE
from abut.ccd.results import Impacts, Kind
from abut.ccd.step import Span, Step, make_step
from abut.core.arrays import Floats, frozen
from abut.core.devices import Device
from abut.core.jit import threads_for
from abut.core.types import PointsLike
from abut.trees.blocks.memory import Memory


class _Rows(NamedTuple):
    """Pairs of one kind that meet, as (first, second) of `straight_pairs`; of a face-vertex pair the normal is that of the vertex."""

    kind: Kind
    pairs: Pairs
    time: Floats
    status: Statuses
    point: Floats
    normal: Floats


def _hits_straight(step: Step) -> Iterator[_Rows]:
    for kind, chunk in step.stream(step.cull(step.whole())):
        pairs = step.choose(kind, chunk, turning=False)
        if not len(pairs):
            continue
        status, time = step.solve_straight(kind, pairs, 1.0)
        met = np.flatnonzero(status != FREE)
        own, at = pairs[met], time[met]
        queries = queries_of(kind != Kind.EDGE_EDGE, own, *step.straight_sides(kind))
        yield _Rows(kind, own, at, status[met], *describe(kind != Kind.EDGE_EDGE, queries, at))


def _hits_turning(step: Step) -> Iterator[_Rows]:
    for span in step.spans():
        for kind, chunk in step.stream(step.cull(span)):
            pairs = step.choose(kind, chunk, turning=True)
            if not len(pairs):
                continue
            status, time = step.solve_turning(kind, pairs, span, 1.0)
            met = np.flatnonzero(status != FREE)
            if len(met):
                queries = _turning_queries(step, kind, pairs[met], span, time[met])
                at_the_end = describe(kind != Kind.EDGE_EDGE, queries, np.ones(len(met)))
                yield _Rows(kind, pairs[met], time[met], status[met], *at_the_end)


def _turning_queries(step: Step, kind: Kind, pairs: Pairs, span: Span, time: Floats) -> Floats:
    """Eight points of each pair: at the beginning of the span, and at its contact."""
    first, first_cells, second, second_cells = step.sides(kind)
    edges = kind == Kind.EDGE_EDGE
    columns = [(first, first_cells[pairs[:, 0]][:, k]) for k in range(2)] if edges else [(first, pairs[:, 0])]
    columns += [(second, second_cells[pairs[:, 1]][:, k]) for k in range(2 if edges else 3)]
    paths = [Paths(*(part[rows] for part in motion.paths)) for motion, rows in columns]
    return np.stack([places(each, at) for at in (span.begin, time) for each in paths], axis=1)


def _number_vertices(rows: list[_Rows], one: Surface, two: Surface | None) -> None:
    """Number vertices as the given meshes do. They are first in their pairs; those of a face-vertex pair are the second body's."""
    for row in rows:
        if row.kind == Kind.VERTEX_FACE:
            one.number(row.pairs[:, 0])
        elif row.kind == Kind.FACE_VERTEX and two is not None:
            two.number(row.pairs[:, 0])


def _assemble(rows: list[_Rows], is_in_contact: Callable[[], bool]) -> Impacts:
    """One table, sorted by kind, a and b, the first contact of each pair only."""
    parts: dict[Kind, list[_Rows]] = {}
    for row in rows:
        parts.setdefault(row.kind, []).append(row)
    columns = [_columns_of(kind, parts[kind]) for kind in sorted(parts)]

    def column(k: int, empty: NDArray[Any]) -> NDArray[Any]:
        return frozen(np.concatenate([empty, *(own[k] for own in columns)]))

    short, whole, number, vector = np.empty(0, np.int8), np.empty(0, np.int64), np.empty(0), np.empty((0, 3))
    return Impacts(
        column(0, short),
        column(1, whole),
        column(2, whole),
        column(3, number),
        column(4, vector),
        column(5, vector),
        column(6, short),
        is_in_contact,
    )


def _columns_of(kind: Kind, rows: list[_Rows]) -> tuple[NDArray[Any], ...]:
    """The fields of `Impacts` of one kind."""
    turned = int(kind == Kind.FACE_VERTEX)
    pairs, time, status, point, normal = (np.concatenate(own) for own in list(zip(*rows, strict=True))[1:])
    key = pairs[:, turned].astype(np.int64) << 32 | pairs[:, 1 - turned]
    order = np.argsort(key)
    fresh = np.ones(len(order), dtype=np.bool_)
    fresh[1:] = key[order[1:]] != key[order[:-1]]
    if not fresh.all():
        order = np.lexsort((time, key))[fresh]  # keys alone decide which rows are fresh
    normals = normal[order]
    return (
        np.full(len(order), kind, dtype=np.int8),
        pairs[order, turned],
        pairs[order, 1 - turned],
        time[order],
        point[order],
        -normals if turned else normals,
        status[order],
    )


@overload
def sweep(
    a: Motion,
    b: Motion = ...,
    /,
    *,
    min_distance: float = 0.0,
    tolerance: float = TOLERANCE,
    max_memory: int | None = None,
    device: Device = None,
) -> Impacts: ...


@overload
def sweep(
    mesh: BodyLike,
    v_t0: PointsLike,
    v_t1: PointsLike,
    /,
    *,
    min_distance: float = 0.0,
    tolerance: float = TOLERANCE,
    max_memory: int | None = None,
    device: Device = None,
) -> Impacts: ...


def sweep(
    a: Motion | BodyLike,
    *others: Motion | PointsLike,
    min_distance: float = 0.0,
    tolerance: float = TOLERANCE,
    max_memory: int | None = None,
    device: Device = None,
) -> Impacts:
    """All pairs of features that meet during a step, with the time, point and normal of their first contact.

    `sweep(mesh, v_t0, v_t1)` or `sweep(motion)`: a body with itself; `sweep(motion_a, motion_b)`: two bodies with each other.
    Features that share a vertex, and features of one rigid body, are never a pair; a vertex that no face has is no feature. Surfaces that
    pass through each other at t = 0 already have rows for features that meet, as all others have; `Impacts.in_contact_at_start` tells that they do.

    Args:
        a, *others: one motion, two motions, or a mesh and its (n,3) vertices at t = 0 and at t = 1.
        min_distance: how near two features may come before it counts; 0 for contact.
        tolerance: how early a time may be, as a part of the step. No time is late.
        max_memory: bytes for the search of candidates, beside the impacts themselves; None: what a scene of this size needs.
        device: "cuda" to answer on a CUDA device, whatever memory the vertices lie in; None: where they lie. Answers lie where the vertices do.

    Returns:
        One row per pair of features, sorted by kind, a and b.

    Examples:
        >>> import abut
        >>> ball = abut.scenes.icosphere(1)
        >>> floor = abut.Mesh([[-9, -9, -3], [9, -9, -3], [0, 9, -3]], [[0, 1, 2]])
        >>> falling = abut.Motion(ball, ball.vertices, ball.vertices - [0, 0, 4])
        >>> impacts = abut.sweep(falling, abut.Motion(floor, floor.vertices, floor.vertices))
        >>> impacts
        Impacts(42 vertex-face, first at 0.5)
        >>> impacts.time.max().round(6).item(), impacts.normal[:, 2].round(6).max().item()
        (1.0, -1.0)
    """
    ends = ends_on_device(device, a, others)
    if ends is not None:
        return questions().sweep(ends, min_distance, tolerance, max_memory)
    return find_impacts(*read_surfaces(a, others), min_distance, tolerance, max_memory, Memory())


def find_impacts(
    one: Surface,
    two: Surface | None,
    min_distance: float,
    tolerance: float,
    max_memory: int | None,
    memory: Memory,
) -> Impacts:
    """`sweep`, in a memory that may be kept."""
    step = make_step(one, two, min_distance, tolerance, max_memory, memory)
    with threads_for(step.size):
        rows = list(_hits_straight(step)) if step.is_partly_straight else []
        if step.turns:
            rows += _hits_turning(step)
    _number_vertices(rows, one, two)
    return _assemble(rows, partial(is_in_contact_at_start, step.motions, step.max_memory))
