"""Particles in partitioned space: Jund's counts of orientation tests, time per move from 10³ to 10⁶ cells beside embree, deformation, memory.

Counts (Jund 2010, §6.3.1): 1,000 particles fall and bounce for 1,000 steps in a channel of 5×5×28 cubes that turns, at rest and while it is
bent, and in a vessel network of 12 thousand tetrahedra. The walk on darts counts; a prediction that holds costs 4 tests. The turning
channel is seen from inside: gravity turns. The bars are the thesis' figures 6.4 and 6.6.

The last column has the same particles in the order of the cells that they are in. It is no quicker: with ten cells to a particle each needs a
record of its own, which was asked for ahead by the time it is read, and no order saves any.

Times: particles that fly straight, 0.15 of a cell's width (the cube root of its volume) a move, and bounce; Python calls included. embree and
pybullet test the same segments against the boundary triangles, in float32 (extra `peers`; left out where they are not installed).

Deformation: a tenth of a million tetrahedra moves, then 1,000 particles do. embree builds its scene over the boundary anew, 36 thousand triangles:
its Python binding has no call that hands over moved vertices. The commit of the scene alone, which a refit would be a part of, stands beside.
"""

import itertools
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from abut import cells, scenes
from abut.app.bench import Timing, measure, table

PARTICLES = 1000
STEPS = 1000
SIZE = np.array([5.0, 5.0, 28.0])
TIME_STEP = 0.01
VESSEL_STEPS = (0.01, 0.005, 0.0025, 0.001)
"""The thesis does not tell its steps, but that moves are orders of magnitude shorter than a cell (§6.2.1). Counts follow the length of the moves."""
GRAVITY = 9.81
BOUNCE = 0.8
TURN = 400
"""Steps of one turn of the channel."""
STEP = 0.15
JUND = (6.75, 6.85, 4.27)
MOST_TESTS = 12
"""The last bar of a histogram: this many orientation tests, or more."""
SIZES = (("cubes", 10), ("cubes", 32), ("cubes", 100), ("tetrahedra", 6), ("tetrahedra", 18), ("tetrahedra", 55))
"""Cells along an edge of the block; a cube is six tetrahedra."""
CROWD = 99_999
"""Particles from 100,000 on are moved by all threads."""
FULL_BAR = 40


def bend(vertices: np.ndarray, step: int) -> np.ndarray:
    """The channel swung to and fro along its length."""
    moved = vertices.copy()
    moved[:, 0] += 0.5 * np.sin(2 * np.pi * (vertices[:, 2] / 14.0 + step / 100.0))
    return moved


def count_tests(
    time_step: float, env: cells.Environment, points: np.ndarray, steps: int, *, turning: bool, bent: bool
) -> tuple[np.ndarray, float, float]:
    """Histogram of orientation tests per move, the share of moves that change cell, and the mean length asked for."""
    crowd, velocity = cells.Particles(env, points, "darts"), np.zeros_like(points)
    rest, counts, changed, length = env.vertices, np.zeros(64, np.int64), 0.0, 0.0
    for step in range(steps):
        angle = 2 * np.pi * step / TURN if turning else 0.0
        velocity += time_step * GRAVITY * np.array([0.0, np.sin(angle), -np.cos(angle)])
        if bent:
            env.deform(bend(rest, step))
            crowd.settle()
        length += time_step * float(np.linalg.norm(velocity, axis=1).mean()) / steps
        before = crowd.cell
        moves = crowd.move(crowd.position + time_step * velocity)
        hit = moves.status == cells.COLLISION
        normal = moves.normal[hit]
        velocity[hit] -= (1 + BOUNCE) * (velocity[hit] * normal).sum(axis=1, keepdims=True) * normal
        counts += np.bincount(np.minimum(moves.tests, 63), minlength=64)
        changed += float((moves.cell != before).mean()) / steps
    return counts, changed, length


def show_counts(console: Console) -> None:
    rng = np.random.default_rng(0)
    network = scenes.vessel_network()
    corners = network.vertices[network.tetrahedra]
    middle = corners[rng.integers(len(corners), size=PARTICLES)].mean(axis=1)
    width = float(np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])).mean() / 6) ** (1 / 3)
    inside = rng.uniform(0.05, 0.95, (PARTICLES, 3)) * SIZE
    vessels = cells.tetrahedra(network.vertices, network.tetrahedra)
    answer = table(
        "orientation tests a move; length in widths of a cell",
        "scene",
        "mean",
        "Jund",
        "4 or less",
        "5",
        "6 to 9",
        "more",
        "change cell",
        "length",
    )
    shares: dict[str, np.ndarray] = {}

    def count(name: str, jund: float, env: cells.Environment, points: np.ndarray, step: float, **how: bool) -> None:
        counts, changed, length = count_tests(step, env, points, STEPS, **how)
        shares[name] = share = counts / counts.sum()
        groups = [share[:5].sum(), share[5], share[6:10].sum(), share[10:].sum()]
        answer.add_row(
            name,
            f"{float(share @ np.arange(64)):.2f}",
            f"{jund}",
            *(f"{100 * group:.1f} %" for group in groups),
            f"{100 * changed:.1f} %",
            f"{length / (width if points is middle else 1.0):.3f}",
        )

    count("channel", JUND[0], cells.channel(5, 5, 28), inside, TIME_STEP, turning=True, bent=False)
    count("bent channel", JUND[1], cells.channel(5, 5, 28), inside, TIME_STEP, turning=True, bent=True)
    for step in VESSEL_STEPS:
        count(f"vessels, step {step}", JUND[2], vessels, middle, step, turning=False, bent=False)
    console.print(answer)
    console.print("Jund, channel: the prediction holds (4 tests) in 33 % of the moves, one more test in 31 %.")
    show_bars(console, "channel, as figure 6.4", shares["channel"])
    show_bars(console, "bent channel, as figure 6.4", shares["bent channel"])
    show_bars(console, f"vessels, step {VESSEL_STEPS[2]}, as figure 6.6", shares[f"vessels, step {VESSEL_STEPS[2]}"])


def show_bars(console: Console, title: str, share: np.ndarray) -> None:
    """A histogram of orientation tests."""
    console.print(f"moves by orientation tests: {title}")
    grouped = [*share[:MOST_TESTS], share[MOST_TESTS:].sum()]
    for tests, part in enumerate(grouped):
        if part > 0:
            more = " or more" if tests == MOST_TESTS else ""
            console.print(f"  {tests:2d} {'█' * round(FULL_BAR * part)} {100 * part:.2f} %{more}")


def tetrahedra(n: int) -> tuple[np.ndarray, np.ndarray]:
    """n³ cubes of six tetrahedra each, inner vertices displaced."""
    rng = np.random.default_rng(0)
    vertices = np.stack(np.meshgrid(*[np.arange(n + 1.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    vertices += rng.uniform(-0.15, 0.15, vertices.shape) * ((vertices > 0) & (vertices < n))
    cube = np.stack(np.meshgrid(*[np.arange(n)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    rows = []
    for order in itertools.permutations(range(3)):
        corner, path = np.zeros(3, int), [np.zeros(3, int)]
        for axis in order:
            corner = corner.copy()
            corner[axis] = 1
            path.append(corner)
        even = order in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
        path = path if even else [path[0], path[2], path[1], path[3]]
        rows.append(np.stack([(cube + c) @ np.array([(n + 1) ** 2, n + 1, 1]) for c in path], axis=1))
    return vertices, np.stack(rows, axis=1).reshape(-1, 4)


def border_triangles(env: cells.Environment) -> np.ndarray:
    """The boundary (k,3,3), fans of the faces that border on the outside."""
    darts = env.darts
    border = np.flatnonzero((darts.cell >= 0) & (darts.cell[darts.phi3] == cells.OUTSIDE))
    lowest = np.array(
        [darts.vertex[border], darts.vertex[darts.phi1[border]], darts.vertex[darts.phi1[darts.phi1[border]]]]
    ).T
    quads = darts.phi1[darts.phi1[darts.phi1[darts.phi1[border]]]] == border
    first = np.where(quads, (border % 4) % 2 == 0, border % 3 == 0)  # two of four darts, or one of three
    return env.vertices[lowest[first]]


class Embree:
    """Segments against triangles."""

    def __init__(self, triangles: np.ndarray) -> None:
        from embreex import rtcore_scene
        from embreex.mesh_construction import TriangleMesh

        self.scene: Any = rtcore_scene.EmbreeScene()
        self.mesh: Any = TriangleMesh(self.scene, triangles.astype(np.float32))

    def hits(self, start: np.ndarray, way: np.ndarray) -> np.ndarray:
        return self.scene.run(start, way, np.ones(len(start), np.float32), query="INTERSECT")


class Bullet:
    """The same, in batches."""

    def __init__(self, triangles: np.ndarray) -> None:
        import pybullet

        self.client, self.bullet = pybullet.connect(pybullet.DIRECT), pybullet
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "border.obj"
            corners = "\n".join(f"v {x} {y} {z}" for x, y, z in triangles.reshape(-1, 3).tolist())
            rows = "\n".join(f"f {k + 1} {k + 2} {k + 3}" for k in range(0, 3 * len(triangles), 3))
            path.write_text(f"{corners}\n{rows}\n")
            shape = pybullet.createCollisionShape(
                pybullet.GEOM_MESH, fileName=str(path), flags=pybullet.GEOM_FORCE_CONCAVE_TRIMESH
            )
        pybullet.createMultiBody(0, shape)

    def hits(self, start: np.ndarray, way: np.ndarray) -> object:
        return self.bullet.rayTestBatch(start, start + way, numThreads=1)


def fly(env: cells.Environment, count: int, size: float, step: float) -> tuple[Any, np.ndarray, np.ndarray]:
    """A crowd on its way for a while, and its next moves."""
    rng = np.random.default_rng(1)
    crowd = cells.Particles(env, rng.uniform(0.5, size - 0.5, (count, 3)))
    way = rng.normal(size=(count, 3))
    way *= step / np.linalg.norm(way, axis=1, keepdims=True)
    for _ in range(5):
        moves = crowd.move(crowd.position + way)
        hit = moves.status == cells.COLLISION
        way[hit] -= 2 * (way[hit] * moves.normal[hit]).sum(axis=1, keepdims=True) * moves.normal[hit]
    return crowd, crowd.position.copy(), way


def there_and_back(crowd: Any, start: np.ndarray, way: np.ndarray) -> Callable[[], None]:
    """Two moves of all particles."""
    goals = (start + way, start)

    def move() -> None:
        crowd.move(goals[0])
        crowd.move(goals[1])

    return move


def ask_peers(env: cells.Environment, start: np.ndarray, way: np.ndarray) -> list[Timing | None]:
    """What embree and pybullet take a segment; None where they are not installed."""
    triangles = border_triangles(env)
    rays = (start.astype(np.float32), way.astype(np.float32))
    answers: list[Timing | None] = []
    for peer, given in ((Embree, rays), (Bullet, (start, way))):
        try:
            scene = peer(triangles)
            answers.append(measure(lambda: scene.hits(*given), seconds=1.0).per(len(start)))  # noqa: B023
        except ImportError:
            answers.append(None)
    return answers


def brief(timing: Timing | None) -> str:
    """The median alone."""
    return "not installed" if timing is None else str(timing).split(" (")[0]


def times_ours(peer: Timing | None, ours: Timing) -> str:
    """How many times longer a peer takes."""
    return "–" if peer is None else f"{peer.median / ours.median:.1f}"


def show_times(console: Console) -> None:
    built = table("construction", "environment", "cells", "time", "bytes a cell", "largest memory so far")
    answer = table(
        "time a move, one thread",
        "environment",
        "cells",
        "change cell",
        "1,000 particles",
        "100,000",
        "in cells' order",
    )
    beside = table(
        "1,000 segments against the boundary",
        "environment",
        "cells",
        "ours",
        "embree",
        "pybullet",
        "embree / ours",
        "pybullet / ours",
    )
    medians: dict[str, list[float]] = {}
    for kind, n in SIZES:
        begin = time.perf_counter()
        env = cells.channel(n, n, n) if kind == "cubes" else cells.tetrahedra(*tetrahedra(n))
        taken = time.perf_counter() - begin
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        name = (kind, f"{env.cell_count:,}")
        built.add_row(*name, f"{taken:.2f} s", f"{env.byte_count / env.cell_count:.0f}", f"{memory:.2f} GB")
        step = STEP * (1.0 if kind == "cubes" else 6.0 ** (-1 / 3))
        times, changed, segments = [], 0.0, (np.empty(0), np.empty(0))
        for count in (PARTICLES, CROWD):
            crowd, start, way = fly(env, count, n, step)
            before = crowd.cell
            changed = float((crowd.move(start + way).cell != before).mean())
            crowd.move(start)
            times.append(measure(there_and_back(crowd, start, way), seconds=1.0).per(2 * count))
            segments = (start, way) if count == PARTICLES else segments
            if count == CROWD:
                order = np.argsort(before, kind="stable")
                sorted_crowd = cells.Particles(env, start[order])
                times.append(
                    measure(there_and_back(sorted_crowd, start[order], way[order]), seconds=1.0).per(2 * count)
                )
        medians.setdefault(kind, []).append(times[0].median)
        answer.add_row(*name, f"{100 * changed:.0f} %", *map(str, times))
        peers = ask_peers(env, *segments)
        figures = [brief(timing) for timing in (times[0], *peers)]
        beside.add_row(*name, *figures, *(times_ours(peer, times[0]) for peer in peers))
    for one in (built, answer, beside):
        console.print(one)
    for kind, found in medians.items():
        console.print(f"{kind}, 1,000 particles: {found[-1] / found[0]:.2f} of the time a move in the smallest block")


def show_deformation(console: Console) -> None:
    n = SIZES[-1][1]
    env = cells.tetrahedra(*tetrahedra(n))
    crowd, start, way = fly(env, PARTICLES, n, STEP * 6.0 ** (-1 / 3))
    rest, depth = env.vertices, n // 10 + 0.5
    sides = [np.flatnonzero(rest[:, axis] < depth) for axis in (0, 1)]
    rows = sides[0]
    shapes = [rest.copy(), rest.copy()]
    shapes[1][rows] += 0.01
    parts = [shape[rows] for shape in shapes]
    share = 100 * np.isin(env.darts.vertex, rows)[: 12 * env.cell_count].reshape(-1, 12).any(axis=1).mean()
    goals, turns = itertools.cycle((start + way, start)), itertools.count()

    def deform_all() -> None:
        env.deform(shapes[next(turns) % 2])
        crowd.move(next(goals))

    def deform_rows() -> None:
        env.deform(parts[next(turns) % 2], moved=rows)
        crowd.move(next(goals))

    def deform_others() -> None:
        turn = next(turns)
        side = sides[turn % 2]
        env.deform(rest[side] + 0.01 * (turn // 2 % 2), moved=side)
        crowd.move(next(goals))

    times = {
        "deform(vertices), settle, move": measure(deform_all, seconds=3.0),
        "deform(rows, moved=rows), settle, move": measure(deform_rows, seconds=3.0),
        "the same, each time other rows": measure(deform_others, seconds=3.0),
    }
    rebuilt, committed = measure_embree(border_triangles(env), start.astype(np.float32), way.astype(np.float32))
    if rebuilt is not None and committed is not None:
        times["embree: new scene, test"] = rebuilt
        times["embree: commit of that scene, test"] = committed
    title = f"{share:.0f} % of {env.cell_count:,} tetrahedra deform, then 1,000 moves"
    answer = table(title, "", "time", "new scene / this", "commit / this")
    for name, taken in times.items():
        answer.add_row(name, str(taken), times_ours(rebuilt, taken), times_ours(committed, taken))
    console.print(answer)


def measure_embree(triangles: np.ndarray, start: np.ndarray, way: np.ndarray) -> tuple[Timing | None, Timing | None]:
    """A new scene with its first query, and that query alone: it commits the scene, for which embree builds its tree."""
    try:
        whole = measure(lambda: Embree(triangles).hits(start, way), seconds=3.0)
        first: list[float] = []
        for _ in range(max(5, min(whole.repeats, 50))):
            scene = Embree(triangles)
            begin = time.perf_counter()
            scene.hits(start, way)
            first.append(time.perf_counter() - begin)
    except ImportError:
        return None, None
    low, median, high = statistics.quantiles(first, n=4)
    return whole, Timing(median, low, high, len(first))


def run(console: Console) -> None:
    begin = time.perf_counter()
    show_counts(console)
    show_times(console)
    show_deformation(console)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    console.print(f"{time.perf_counter() - begin:.0f} s, largest memory of this process {memory:.2f} GB")


if __name__ == "__main__":
    run(Console(width=100))
