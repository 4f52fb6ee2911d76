"""Single queries in batches: `vertex_face` and `edge_edge`, eight points each, to verdicts and times.

The verdict is exact for every finite input: floating point with a certificate first (`impact.first_contact`), integers for what that leaves
(`impact.exact`). With `min_distance` it is conservative within a named tolerance (`impact.conservative_advancement`). `method="cubic"` is Wan's
method for comparison, which may miss and invent contacts (`impact.cubic_method`).
"""

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abut.ccd.impact.conservative_advancement import WITHIN_STEPS, first_within
from abut.ccd.impact.cubic_method import impact_by_cubic
from abut.ccd.impact.exact.decision import decide_undecided
from abut.ccd.impact.exact.integers import workspace
from abut.ccd.impact.exact.tables import EXACT_ROWS
from abut.ccd.impact.first_contact import FREE, NEVER, STEPS, UNDECIDED, first_contact
from abut.ccd.impact.relative_paths import RelativePaths, relative_paths
from abut.ccd.results import Verdict
from abut.core import arrays, devices
from abut.core.arrays import Floats, frozen
from abut.core.devices import Device
from abut.core.errors import InvalidInput
from abut.core.jit import kernel
from abut.geometry.rows import vector_at
from abut.geometry.vec import Vec3

TOLERANCE = 1e-9
"""How early a time may be by default, as a part of the step. Most are early by less than 1e-12."""
EXACT, CUBIC = 0, 1
METHODS = {"exact": EXACT, "cubic": CUBIC}
Method: TypeAlias = Literal["exact", "cubic"]

QueriesLike: TypeAlias = ArrayLike
"""(n,8,3) four points at t = 0, then the same at t = 1."""


@kernel
def _paths(queries: Floats, i: int) -> tuple[RelativePaths, Vec3, float]:
    points = queries[i]
    return relative_paths(
        vector_at(points, 0),
        vector_at(points, 1),
        vector_at(points, 2),
        vector_at(points, 3),
        vector_at(points, 4),
        vector_at(points, 5),
        vector_at(points, 6),
        vector_at(points, 7),
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
    queries: QueriesLike,
    *,
    tolerance: float = TOLERANCE,
    min_distance: float = 0.0,
    method: Method = "exact",
    max_steps: int | None = None,
    device: Device = None,
) -> Verdict:
    """Whether, and when first, vertices touch faces during a step at constant velocity.

    Touching counts, at t = 0 and t = 1 too. Faces may have no area, things may rest. With `min_distance` d > 0 the question is when the two first
    come within d of each other: never missed, never late; reported as soon as the distance is below d·(1 + 10⁻⁶).

    Args:
        queries: (n,8,3) v, f0, f1, f2 at t = 0, then at t = 1.
        tolerance: how early a time may be, as a part of the step. No time is late.
        min_distance: how near the two may come before it counts; 0 for contact.
        method: "exact", or "cubic" for the method of Wan 2022, which may miss and invent contacts.
        max_steps: a bound on the steps of one query. With a `min_distance` a query that reaches it has the status LIMIT and counts as a hit; without,
            it goes to the exact stage.
        device: "cuda" to answer on a CUDA device, whatever memory the queries lie in; None: where they lie. The answer lies there too.

    Returns:
        One row per query.

    Examples:
        >>> from abut import ccd
        >>> face = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
        >>> through = [[0.2, 0.2, 1], *face, [0.2, 0.2, -1], *face]
        >>> beside = [[0.8, 0.8, 1], *face, [0.8, 0.8, -1], *face]
        >>> verdict = ccd.vertex_face([through, beside])
        >>> verdict.hit.tolist(), verdict.time.round(6).tolist()
        ([True, False], [0.5, inf])
    """
    return _answer(True, queries, tolerance, min_distance, method, max_steps, device)


def edge_edge(
    queries: QueriesLike,
    *,
    tolerance: float = TOLERANCE,
    min_distance: float = 0.0,
    method: Method = "exact",
    max_steps: int | None = None,
    device: Device = None,
) -> Verdict:
    """Whether, and when first, edges touch edges during a step at constant velocity.

    As `vertex_face`, for edges; they may have no length, be parallel or collinear.

    Args:
        queries: (n,8,3) ea0, ea1, eb0, eb1 at t = 0, then at t = 1.
        tolerance, min_distance, method, max_steps, device: as for `vertex_face`.

    Returns:
        One row per query.

    Examples:
        >>> from abut import ccd
        >>> a, b = [[-1, 0, 0], [1, 0, 0]], [[0, -1, 1], [0, 1, 1]]
        >>> falling = [*a, *b, *a, [0, -1, -3], [0, 1, -3]]
        >>> verdict = ccd.edge_edge([falling])
        >>> verdict.time.round(6).tolist()
        [0.25]
        >>> ccd.edge_edge([falling], min_distance=0.5).time.round(4).tolist()
        [0.125]
    """
    return _answer(False, queries, tolerance, min_distance, method, max_steps, device)


def _answer(
    is_face: bool,
    queries: QueriesLike,
    tolerance: float,
    min_distance: float,
    method: Method,
    max_steps: int | None,
    device: Device,
) -> Verdict:
    if devices.chosen(device, queries):
        on_device = devices.part("steps.single_queries")
        return on_device.answer(is_face, queries, tolerance, min_distance, method, max_steps)
    points = arrays.coordinates(queries, "queries", (None, 8, 3))
    tolerance = arrays.scalar(tolerance, "tolerance", least=0.0, most=1.0)
    distance = arrays.scalar(min_distance, "min_distance", least=0.0)
    arrays.choice(method, "method", METHODS)
    if max_steps is not None:
        max_steps = arrays.count(max_steps, "max_steps", least=1)
    status, time = np.zeros(len(points), dtype=np.int8), np.zeros(len(points))
    undecided = 0
    if METHODS[method] == CUBIC:
        if distance > 0.0:
            raise InvalidInput("min_distance", "is not known to the cubic method")
        _cubic_all(is_face, points, status, time)
    elif distance > 0.0:
        _within_all(is_face, points, distance, max_steps or WITHIN_STEPS, status, time)
    else:
        undecided = _decide_all(is_face, points, tolerance, min(max_steps or STEPS, STEPS), status, time)
        if undecided:
            decide_undecided(is_face, points, workspace(EXACT_ROWS), status, time)
    time[time >= NEVER] = np.inf
    return Verdict(frozen(status != FREE), frozen(time), frozen(status), undecided)
