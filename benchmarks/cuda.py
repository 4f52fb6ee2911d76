"""Steps and particles on a CUDA device: from arrays that lie there to answers that lie there, beside the processor.

Needs a device and the extra `cuda`. Reads the scenes and queries of `shared/data` beside the clone, where they are; else a sheet of our own stands in
for them. Wall times include the call from Python and the wait for its end; times of graphs and kernels are those of the device's clock.
"""

import itertools
from typing import Any

import numpy as np
from rich.console import Console

import abut
from abut.app.bench import Timing, load, measure, table
from abut.core import devices

ccd: Any = load("ccd")
FIELDS = ("kind", "a", "b", "time", "point", "normal", "status")
COPIES = 8
SIDE, PARTICLES, CHECKED = 55, 10_000_000, 100_000
"""Cubes along an axis, particles, and how many of them the processor moves as well."""
WAIT = 'extern "C" __global__ void wait(long long n) { long long t = clock64(); while (clock64() - t < n); }'
GROWTH = (10_000, 100_000, 1_000_000, 10_000_000)


def waiting(call: Any) -> Any:
    """The call, and a wait until the device has done what it launched."""
    import cupy

    def run() -> Any:
        answer = call()
        cupy.cuda.Device().synchronize()
        return answer

    return run


def on_device_clock(call: Any, repeats: int = 30) -> Timing:
    """Times by events of the device."""
    import cupy

    times = []
    for _ in range(repeats):
        first, last = cupy.cuda.Event(), cupy.cuda.Event()
        first.record()
        call()
        last.record()
        last.synchronize()
        times.append(cupy.cuda.get_elapsed_time(first, last) * 1e-3)
    low, median, high = np.percentile(times, [25, 50, 75])
    return Timing(float(median), float(low), float(high), repeats)


def graph_of(mesh: abut.Mesh) -> Any:
    """A function that replays the graph of a mesh's sweep."""
    from abut.cuda import memory
    from abut.cuda.steps import questions
    from abut.cuda.steps.program import Question

    program = questions.program_of([mesh])
    graph = program._graphs[Question.IMPACTS, ccd_tolerance()]
    return lambda: memory.replay(graph), program.byte_count


def ccd_tolerance() -> float:
    from abut.ccd.queries import TOLERANCE

    return TOLERANCE


def are_equal(own: abut.ccd.Impacts, right: abut.ccd.Impacts) -> bool:
    """Whether all fields are, to the last bit."""
    import cupy

    return all(np.array_equal(cupy.asnumpy(getattr(own, name)), getattr(right, name)) for name in FIELDS)


def sheet(triangles: int) -> tuple[abut.Mesh, np.ndarray, np.ndarray]:
    """A wavy sheet that is pressed flat, and so into itself, with about so many triangles."""
    side = max(2, round((triangles / 2) ** 0.5) + 1)
    x, y = (grid.ravel() for grid in np.meshgrid(np.arange(side), np.arange(side), indexing="ij"))
    rng = np.random.default_rng(3)
    start = np.stack([x, y, 2.0 * np.sin(0.7 * x) * np.sin(0.9 * y)], axis=1) + 0.05 * rng.random((side * side, 3))
    end = start + rng.normal(0.0, 0.35, start.shape)
    corner = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).ravel()
    lower = np.stack([corner, corner + side, corner + 1], axis=1)
    upper = np.stack([corner + 1, corner + side, corner + side + 1], axis=1)
    return abut.Mesh(start, np.concatenate([lower, upper])), start, end


def copies_of(step: Any, count: int) -> Any:
    """So many copies of a step side by side, as one mesh."""
    mesh, start, end = step
    shifts = 1.5 * np.ptp(start, axis=0) * np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)])[:count]
    faces = np.concatenate([mesh.faces + k * len(start) for k in range(count)])
    starts = np.concatenate([start + shift for shift in shifts])
    return abut.Mesh(starts, faces), starts, np.concatenate([end + shift for shift in shifts])


def run_step(console: Console, title: str, step: Any, *, beside: bool) -> None:
    import cupy

    mesh, *ends = step
    there = [cupy.asarray(end) for end in ends]
    for _ in range(3):
        found = abut.sweep(mesh, *there)
    rows = table(f"{title}: {len(mesh.faces):,} triangles, {len(found):,} impacts", "question", "device", "processor")
    ask = {
        "sweep": lambda v: abut.sweep(mesh, *v),
        "time_of_impact(at_start=False)": lambda v: abut.time_of_impact(mesh, *v, at_start=False),
        "candidates": lambda v: abut.candidates(mesh, *v),
    }
    for name, call in ask.items():
        own = measure(waiting(lambda call=call: call(there)), seconds=0.3)
        rows.add_row(name, str(own), str(measure(lambda call=call: call(ends), seconds=0.5)) if beside else "")
    for _ in range(3):  # candidates have made room, and with that unmade graphs
        abut.sweep(mesh, *there)
    replay, size = graph_of(mesh)
    rows.add_row("sweep as a replayed graph", str(on_device_clock(replay)), "")
    rows.add_row(
        "sweep, NumPy in and out", str(measure(lambda: abut.sweep(mesh, *ends, device="cuda"), seconds=0.3)), ""
    )
    console.print(rows)
    console.print(f"  {size / 1e6:,.0f} MB on the device")
    if beside:
        same = are_equal(found, abut.sweep(mesh, *ends))
        console.print(f"  equal to the processor's answer in every bit: {same}")


def run_growth(console: Console) -> None:
    import cupy

    rows = table("growth: a wavy sheet pressed into itself", "triangles", "impacts", "sweep", "time_of_impact", "MB")
    for triangles in GROWTH:
        mesh, *ends = sheet(triangles)
        there = [cupy.asarray(end) for end in ends]
        for _ in range(3):
            found = abut.sweep(mesh, *there)
        sweep = measure(waiting(lambda mesh=mesh, there=there: abut.sweep(mesh, *there)), seconds=0.3)
        early = measure(
            waiting(lambda mesh=mesh, there=there: abut.time_of_impact(mesh, *there, at_start=False)), seconds=0.3
        )
        for _ in range(3):
            abut.sweep(mesh, *there)
        size = graph_of(mesh)[1] / 1e6
        rows.add_row(f"{len(mesh.faces):,}", f"{len(found):,}", str(sweep), str(early), f"{size:,.0f}")
        del mesh, there, found
    console.print(rows)


def run_queries(console: Console) -> None:
    import cupy

    rows = table("rational queries", "kind", "queries", "left to integers", "wrong", "device", "processor")
    for kind, ask in (("vertex-face", abut.ccd.vertex_face), ("edge-edge", abut.ccd.edge_edge)):
        queries, truth = ccd.load_queries(kind)
        there = cupy.asarray(queries)
        verdict = ask(there)
        wrong = int((cupy.asnumpy(verdict.hit) != truth).sum())
        own, other = (
            measure(waiting(lambda ask=ask, there=there: ask(there)), seconds=0.3),
            measure(lambda ask=ask, q=queries: ask(q), seconds=0.3),
        )
        rows.add_row(kind, f"{len(queries):,}", f"{verdict.exact_count:,}", str(wrong), str(own), str(other))
    console.print(rows)


def tetrahedra(side: int) -> abut.cells.Environment:
    """Cubes cut into six tetrahedra each, their inner vertices moved."""
    axis = np.arange(side + 1)
    points = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1).reshape(-1, 3).astype(float)
    inner = ((points > 0) & (points < side)).all(axis=1)
    points[inner] += np.random.default_rng(0).uniform(-0.2, 0.2, (inner.sum(), 3))
    steps = np.array([(side + 1) ** 2, side + 1, 1])
    corner = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), -1).reshape(-1, 3) @ steps
    cells = []
    for first, second, _ in itertools.permutations(range(3)):
        middle = corner + steps[first]
        cells.append(np.stack([corner, middle, middle + steps[second], corner + steps.sum()], axis=1))
    corners = np.concatenate(cells)
    x = points[corners]
    wrong = np.einsum("ij,ij->i", np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]), x[:, 3] - x[:, 0]) < 0
    corners[wrong] = corners[wrong][:, [0, 2, 1, 3]]
    return abut.cells.tetrahedra(points, corners)


def run_particles(console: Console) -> None:
    import cupy

    environment = tetrahedra(SIDE)
    rng = np.random.default_rng(1)
    points = rng.uniform(0.5, SIDE - 0.5, (PARTICLES, 3))
    rows = table(
        f"{PARTICLES:,} particles in {environment.cell_count:,} tetrahedra",
        "order",
        "moves",
        "a move",
        "changed cell",
        "exact",
        "equal",
    )
    for order in ("random", "by cell"):
        if order == "by cell":
            points = points[np.argsort(abut.cells.Particles(environment, points).cell, kind="stable")]
        goal = points + rng.normal(0.0, 0.05, points.shape)
        crowd = abut.cells.Particles(environment, cupy.asarray(points))
        first, ends = crowd.cell, [cupy.asarray(goal), cupy.asarray(points)]
        answer, turn = crowd.move(ends[0]), itertools.count(1)
        right = abut.cells.Particles(environment, points[:: PARTICLES // CHECKED]).move(goal[:: PARTICLES // CHECKED])
        part = slice(None, None, PARTICLES // CHECKED)
        names = ("status", "position", "time", "kind", "dart", "normal", "tests", "cell")
        equal = all(np.array_equal(cupy.asnumpy(getattr(answer, name)[part]), getattr(right, name)) for name in names)
        moved = float((crowd.cell != first).mean())
        exact = int(cupy.asnumpy(crowd._hard_count.take(1))[0])
        move = waiting(lambda crowd=crowd, ends=ends, turn=turn: crowd.move(ends[next(turn) % 2]))
        timing = measure(move, seconds=0.5)
        rows.add_row(
            order, f"{PARTICLES / timing.median / 1e9:.1f} G/s", str(timing), f"{moved:.0%}", f"{exact:,}", str(equal)
        )
        rows.add_row(f"{order}, the kernel alone", *kernel_times(crowd, ends[0]), "", "", "")
    console.print(rows)


def kernel_times(crowd: Any, goal: Any) -> tuple[str, str]:
    """Moves a second and time of the certain part of a move, by the device's clock, launches queued behind a kernel that waits."""
    import cupy

    count, space = len(crowd), crowd._space()
    position, cells = cupy.empty((count, 3)), cupy.empty(count, dtype=np.int32)
    status, tests = cupy.empty(count, dtype=np.int8), cupy.empty(count, dtype=np.int32)
    wait = cupy.RawKernel(WAIT, "wait")
    times = []
    for _ in range(20):
        first, last = cupy.cuda.Event(), cupy.cuda.Event()
        wait((1,), (1,), (3_000_000,))
        first.record()
        crowd._launch(space, goal, position, cells, status, tests)
        last.record()
        last.synchronize()
        times.append(cupy.cuda.get_elapsed_time(first, last) * 1e-3)
    low, median, high = np.percentile(times, [25, 50, 75])
    return f"{count / median / 1e9:.1f} G/s", str(Timing(float(median), float(low), float(high), len(times)))


def run(console: Console) -> None:
    devices.part("steps.questions")
    if ccd.DATA.is_dir():
        ball = ccd.load_step("cloth-ball")
        run_step(console, "cloth-ball 92→93", ball, beside=True)
        run_step(console, f"{COPIES} copies of it", copies_of(ball, COPIES), beside=False)
        run_step(console, "cloth-funnel 227→228", ccd.load_step("cloth-funnel"), beside=True)
        run_queries(console)
    else:
        run_step(console, "a sheet", sheet(100_000), beside=True)
    run_growth(console)
    run_particles(console)
