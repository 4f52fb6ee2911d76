"""Single queries in batches: `vertex_face` and `edge_edge`, eight points each, to verdicts and times.

Without a separation the verdict is exact for every finite input: floating point with a certificate first (`carve`), integers for what that leaves
(`exact_stage`). With `min_separation` it is conservative within a named tolerance (`within`). `method="cubic"` is Wan's method for comparison,
which may miss and invent contacts (`cubic`).
"""

import numpy as np
from numpy.typing import NDArray

from abut.ccd.approach import WITHIN_STEPS, first_within
from abut.ccd.carve import FREE, NEVER, STEPS, UNDECIDED, first_contact
from abut.ccd.cubic import impact_by_cubic
from abut.ccd.exact_stage import decide_exactly
from abut.ccd.exact_tables import EXACT_ROWS
from abut.ccd.integers import workspace
from abut.ccd.relative import Paths, relative_paths
from abut.ccd.results import Verdict
from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.jit import kernel
from abut.geometry.vec import Vec3

TOLERANCE = 1e-9
"""How early a time may be by default, as a part of the step. Most are early by less than 1e-12."""
EXACT, CUBIC = 0, 1
METHODS = {"exact": EXACT, "cubic": CUBIC}


@kernel
def _point(queries: Floats, i: int, j: int) -> Vec3:
    return (queries[i, j, 0], queries[i, j, 1], queries[i, j, 2])


@kernel
def _paths(queries: Floats, i: int) -> tuple[Paths, Vec3, float]:
    return relative_paths(
        _point(queries, i, 0),
        _point(queries, i, 1),
        _point(queries, i, 2),
        _point(queries, i, 3),
        _point(queries, i, 4),
        _point(queries, i, 5),
        _point(queries, i, 6),
        _point(queries, i, 7),
    )


@kernel
def _decide_all(
    is_face: bool,
    queries: Floats,
    tolerance: float,
    max_steps: int,
    status: NDArray[np.int8],
    time: Floats,
) -> int:
    """Decide what floating point can; how many are UNDECIDED."""
    undecided = 0
    for i in range(len(queries)):
        paths, sizes, _ = _paths(queries, i)
        status[i], time[i] = first_contact(is_face, paths, sizes, 1.0, tolerance, max_steps)
        undecided += int(status[i] == UNDECIDED)
    return undecided


@kernel
def decide_undecided(is_face: bool, queries: Floats, w: Integers, status: NDArray[np.int8], time: Floats) -> None:
    """Decide those that are UNDECIDED by integers. queries (n,8,3); w: a workspace of EXACT_ROWS rows."""
    for i in range(len(queries)):
        if status[i] == UNDECIDED:
            status[i], time[i] = decide_exactly(is_face, queries[i], w)


@kernel
def _within_all(
    is_face: bool,
    queries: Floats,
    distance: float,
    max_steps: int,
    status: NDArray[np.int8],
    time: Floats,
) -> None:
    for i in range(len(queries)):
        paths, sizes, scale = _paths(queries, i)
        status[i], time[i] = first_within(is_face, paths, sizes, distance * scale, 1.0, max_steps)


@kernel
def _cubic_all(is_face: bool, queries: Floats, status: NDArray[np.int8], time: Floats) -> None:
    for i in range(len(queries)):
        paths, sizes, _ = _paths(queries, i)
        status[i], time[i] = impact_by_cubic(is_face, paths, sizes)


def vertex_face(
    queries: object,
    *,
    tolerance: float = TOLERANCE,
    min_separation: float = 0.0,
    method: str = "exact",
    max_steps: int | None = None,
) -> Verdict:
    """Whether, and when first, vertices touch faces during a step at constant velocity.

    queries (n,8,3): v, f0, f1, f2 at t = 0, then at t = 1. Touching counts, at t = 0 and t = 1 too. Faces may have no
    area, things may rest. A time is never late and early by at most `tolerance`, a part of the step.

    `min_separation` d > 0 asks when they first come within d of each other: never missed, never late; reported as soon as
    the distance is below d·(1 + SEPARATION_TOLERANCE). `max_steps` bounds the steps of one query: with d > 0 a query that
    reaches it has the status LIMIT and counts as a hit; with d = 0 it goes to the exact stage.
    """
    return _answer(True, queries, tolerance, min_separation, method, max_steps)


def edge_edge(
    queries: object,
    *,
    tolerance: float = TOLERANCE,
    min_separation: float = 0.0,
    method: str = "exact",
    max_steps: int | None = None,
) -> Verdict:
    """The same for edges against edges. queries (n,8,3): ea0, ea1, eb0, eb1 at t = 0, then at t = 1.

    Edges may have no length, be parallel or collinear."""
    return _answer(False, queries, tolerance, min_separation, method, max_steps)


def _answer(
    is_face: bool, queries: object, tolerance: float, min_separation: float, method: str, max_steps: int | None
) -> Verdict:
    points = arrays.coordinates(queries, "queries", (None, 8, 3))
    tolerance = arrays.scalar(tolerance, "tolerance", least=0.0, most=1.0)
    distance = arrays.scalar(min_separation, "min_separation", least=0.0)
    arrays.choice(method, "method", METHODS)
    if max_steps is not None:
        max_steps = arrays.count(max_steps, "max_steps", least=1)
    status, time = np.zeros(len(points), dtype=np.int8), np.zeros(len(points))
    undecided = 0
    if METHODS[method] == CUBIC:
        if distance > 0.0:
            raise InvalidInput("min_separation", "is not known to the cubic method")
        _cubic_all(is_face, points, status, time)
    elif distance > 0.0:
        _within_all(is_face, points, distance, max_steps or WITHIN_STEPS, status, time)
    else:
        undecided = _decide_all(is_face, points, tolerance, min(max_steps or STEPS, STEPS), status, time)
        if undecided:
            decide_undecided(is_face, points, workspace(EXACT_ROWS), status, time)
    time[time >= NEVER] = np.inf
    return Verdict(frozen(status != FREE), frozen(time), frozen(status), undecided)
