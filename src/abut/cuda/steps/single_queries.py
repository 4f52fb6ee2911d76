"""`ccd.vertex_face` and `ccd.edge_edge` on the device: a thread a query; those that floating point leaves go to integers, a block each."""

import math
from typing import Any

import numpy as np

from abut.ccd.impact.conservative_advancement import WITHIN_STEPS, first_within
from abut.ccd.impact.exact.decision import decide_exactly
from abut.ccd.impact.exact.integers import DIGITS
from abut.ccd.impact.exact.tables import EXACT_ROWS
from abut.ccd.impact.first_contact import FREE, NEVER, STEPS, UNDECIDED, first_contact
from abut.ccd.impact.relative_paths import relative_paths
from abut.ccd.results import Verdict
from abut.core import arrays
from abut.core.devices import is_on_device
from abut.core.errors import Unsupported
from abut.core.jit import integer
from abut.core.scratch import load, store
from abut.cuda import device, memory
from abut.cuda.arrays import read
from abut.cuda.device import THREADS, cuda, inlined, kernel
from abut.cuda.steps.contacts.first_contacts import SOLVE_REGISTERS
from abut.cuda.steps.runs import MOST_WORKSPACES
from abut.cuda.warps import index_at


@inlined
def _point(queries: Any, i: int, k: int) -> Any:
    at = 24 * i + 3 * k
    return load(queries, at), load(queries, at + 1), load(queries, at + 2)


@kernel(max_registers=SOLVE_REGISTERS)
def _decide_queries(
    is_face: bool,
    queries: Any,
    total: int,
    distance: float,
    tolerance: float,
    max_steps: int,
    status: Any,
    time: Any,
    left: Any,
    left_count: Any,
) -> None:
    i = cuda.grid(1)
    if i < total:
        paths, sizes, scale = relative_paths(
            _point(queries, i, 0),
            _point(queries, i, 1),
            _point(queries, i, 2),
            _point(queries, i, 3),
            _point(queries, i, 4),
            _point(queries, i, 5),
            _point(queries, i, 6),
            _point(queries, i, 7),
        )
        if distance > 0.0:
            verdict, t = first_within(is_face, paths, sizes, distance * scale, 1.0, max_steps)
        else:
            verdict, t = first_contact(is_face, paths, sizes, 1.0, tolerance, max_steps)
        store(status, i, np.int8(verdict))
        store(time, i, math.inf if t >= NEVER else t)
        if verdict == UNDECIDED:
            store(left, integer(cuda.atomic.add(left_count, 0, 1)), i)


@kernel
def _decide_rest(is_face: bool, queries: Any, left: Any, total: int, workspaces: Any, status: Any, time: Any) -> None:
    for k in range(cuda.blockIdx.x, total, cuda.gridDim.x):
        i = index_at(left, k)
        verdict, t = decide_exactly(is_face, queries[i], workspaces[cuda.blockIdx.x])
        store(status, i, np.int8(verdict))
        store(time, i, math.inf if verdict == FREE else t)


def answer(
    is_face: bool, queries: Any, tolerance: float, min_distance: float, method: str, max_steps: int | None
) -> Verdict:
    """`ccd.vertex_face`, or `ccd.edge_edge`, of queries on the device."""
    early = arrays.scalar(tolerance, "tolerance", least=0.0, most=1.0)
    distance = arrays.scalar(min_distance, "min_distance", least=0.0)
    if arrays.choice(method, "method", ("exact", "cubic")) == "cubic":
        raise Unsupported("method='cubic' on a CUDA device")
    steps = None if max_steps is None else arrays.count(max_steps, "max_steps", least=1)
    of_host = not is_on_device(queries)
    points = read(queries, "queries", (None, 8, 3))
    total, stream = len(points), memory.stream()
    status, time = device.empty(total, np.int8), device.empty(total, np.float64)
    left, left_count = device.empty(total, np.int64), memory.zeros((1,), np.int64)
    most = (steps or WITHIN_STEPS) if distance > 0.0 else min(steps or STEPS, STEPS)
    undecided = 0
    if total:
        given = memory.as_kernels_take_it(points)
        blocks = -(-total // THREADS)
        flat = memory.as_kernels_take_it(points.reshape(-1))
        _decide_queries[blocks, THREADS, stream](
            is_face, flat, total, distance, early, most, status, time, left, left_count
        )
        undecided = int(memory.Window(left_count).take(1)[0])
        if undecided:
            count = min(undecided, MOST_WORKSPACES)
            workspaces = memory.zeros((count, EXACT_ROWS, DIGITS + 2), np.int64)
            _decide_rest[count, 1, stream](is_face, given, left, undecided, workspaces, status, time)
    statuses, times = memory.Window(status).take(total), memory.Window(time).take(total)
    hit: Any = statuses != FREE
    if of_host:
        hit, times, statuses = (arrays.frozen(memory.to_host(each)) for each in (hit, times, statuses))
    return Verdict(hit, times, statuses, undecided)
