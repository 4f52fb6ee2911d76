"""Bodies in partitioned space: Jund's figures for edges, cubes beside embree and coal, and what the two eliminations save.

The scenes of Jund 2010, §6.3.2 and §6.3.3 (`abut.scenes`): a catheter of 20 particles in 200 thousand tetrahedra; 225 soft cubes among
obstacles in n³ hexahedra; a hand of 11,906 vertices that falls through pyramids onto a floor. Only collision detection is timed, in seconds
of one core: `Mobile.move`, Python included.

The peers get the same steps. embree tests the segments of algorithm 8, in float32: each particle's way, and each edge at its new place, once for
each end, as the ends move in turn. coal tests the triangles that edges sweep, two an edge, against the walls, as one mesh whose tree is
built anew, as it must be for triangles that never come back. Both tell only that something is hit somewhere in the step; they leave nothing
out and stop nothing. Extra `peers`; left out where it is not installed.

Eliminations: "one cell" is Jund's by the environment, "clear" ours (no obstacle sticks out near the swept edge), "direction" counts edges that
are clear and whose vertex moves into the body. All must end where "none" ends.

`ABUT_JUND_PICTURES=docs/pictures abut bench jund-bodies` also draws figures 6.10, 6.12, 6.15, 6.16 and 6.18 to 6.21.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

import abut
from abut import cells, dynamics, scenes
from abut.app.bench import table
from abut.core.jit import limit_threads

CATHETER_STEPS, CUBE_STEPS, HAND_STEPS = 400, 200, 150
HAND_SUBDIVISIONS = 3
SPACINGS = (0.5, 1.0, 1.5, 2.0)
SIDES = (8, 13, 20, 32, 50)
ADAPTIVE_STEPS, FALLING = 110, 50
"""Of the adaptive hand, and those of them in which it touches nothing yet."""
GROUP = 10
"""Steps of the hand that one point of a curve stands for (50 in the thesis, which has 1,500 steps and more)."""
CULLS = ("none", "cells", "direction", "both")
COLORS = ("#b05a3c", "#4878a8", "#5a9a68", "#8a6fb0", "#777777")
Curve = tuple[str, np.ndarray, np.ndarray]


def draw(
    name: str, title: str, below: str, curves: list[Curve], *, is_log: bool = False, top: float | None = None
) -> None:
    """Write a picture with one line a curve, if pictures are asked for."""
    folder = os.environ.get("ABUT_JUND_PICTURES")
    if not folder:
        return
    ceiling = top or 1.1 * max(float(y.max()) for _, _, y in curves)
    xs = np.concatenate([x for _, x, _ in curves]).astype(np.float64)
    scale: Callable[[Any], Any] = np.log10 if is_log else lambda x: x
    low, high = float(scale(xs.min())), float(scale(xs.max()))
    parts = [f'<text x="60" y="24" font-weight="bold">{title}</text>']
    for i in range(6):
        y = 280 - 44 * i
        parts.append(
            f'<path d="M60 {y}h620" stroke="#ddd"/><text x="52" y="{y + 4}" text-anchor="end">{ceiling * i / 5:.3g}</text>'
        )
    for at in np.linspace(low, high, 5):
        value = 10**at if is_log else at
        parts.append(
            f'<text x="{60 + 620 * (at - low) / (high - low):.0f}" y="300" text-anchor="middle">{value:,.0f}</text>'
        )
    for (_, x, y), color in zip(curves, COLORS, strict=False):
        across, up = 60 + 620 * (scale(x) - low) / (high - low), 280 - 220 * np.minimum(y, ceiling) / ceiling
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, up, strict=True))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"/>')
    for i, ((label, _, _), color) in enumerate(zip(curves, COLORS, strict=False)):
        parts.append(
            f'<path d="M{60 + 155 * i} 338h20" stroke="{color}" stroke-width="2.5"/><text x="{85 + 155 * i}" y="342">{label}</text>'
        )
    parts.append(f'<text x="680" y="318" text-anchor="end">{below}</text>')
    picture = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 700 355" font-family="system-ui,sans-serif" font-size="12" fill="#333">'
        f'<rect width="700" height="355" fill="#fff"/>{"".join(parts)}</svg>\n'
    )
    Path(folder).mkdir(parents=True, exist_ok=True)
    (Path(folder) / f"{name}.svg").write_text(picture, encoding="utf-8")


class Timed:
    """A mobile whose moves are timed and kept."""

    def __init__(self, mobile: Any) -> None:
        self.mobile, self.seconds, self.moves = mobile, [], []

    @property
    def position(self) -> np.ndarray:
        return self.mobile.position

    def move(self, targets: np.ndarray, **options: Any) -> Any:
        begin = time.process_time()
        answer = self.mobile.move(targets, **options)
        self.seconds.append(time.process_time() - begin)
        self.moves.append(answer)
        return answer


class Following(Timed):
    """One on whose edges particles may be put."""

    @property
    def parents(self) -> np.ndarray:
        return self.mobile.parents

    @property
    def ratio(self) -> np.ndarray:
        return self.mobile.ratio


def show_catheter(console: Console) -> None:
    answer = table(
        "catheter of 20 particles: tetrahedra looked at in a step",
        "length of an edge",
        "tetrahedra",
        "mean",
        "most",
        "most, share of all",
        "Jund",
        "time a step",
    )
    curves: list[Curve] = []
    for spacing in SPACINGS:
        scene = scenes.catheter_scene(spacing=spacing)
        timed = Timed(cells.Mobile(scene.environment, (scene.points, scene.edges)))
        for _ in range(CATHETER_STEPS):
            scenes.push_along(scene.model, 6.0)
            dynamics.couple(scene.model, timed, 0.02, after="slide")
        visits = np.array([int(moves.visits.sum()) for moves in timed.moves])
        curves.append((f"edges of {spacing:g}", np.arange(CATHETER_STEPS), visits))
        answer.add_row(
            f"{spacing:g}",
            f"{scene.environment.cell_count:,}",
            f"{visits.mean():.0f}",
            f"{visits.max()}",
            f"{100 * visits.max() / scene.environment.cell_count:.2f} %",
            "below 3 %",
            f"{1e6 * np.median(timed.seconds[1:]):.0f} µs",
        )
    console.print(answer)
    draw("jund-6-10", "Tetrahedra looked at in a step", "step", curves)


class Step(NamedTuple):
    """One step of the cubes as the peers see it."""

    before: np.ndarray
    after: np.ndarray


def walls(env: cells.Environment) -> np.ndarray:
    """(k,3,3) the faces between free cells and obstacles or the outside, in triangles."""
    darts = env.darts
    solid = np.append(env.obstacle[env.part_cell], True)
    inner = np.flatnonzero((darts.cell >= 0) & ~solid[darts.cell] & solid[darts.cell[darts.phi3]])
    second = darts.phi1[inner]
    corners = np.stack((darts.vertex[inner], darts.vertex[second], darts.vertex[darts.phi1[second]]), axis=1)
    return env.vertices[corners[inner % 2 == 0]]  # squares: the triangles at two opposite corners


def time_embree(triangles: np.ndarray, steps: list[Step], edges: np.ndarray) -> float:
    """Median seconds a step."""
    from embreex import rtcore_scene
    from embreex.mesh_construction import TriangleMesh

    scene: Any = rtcore_scene.EmbreeScene()
    mesh: Any = TriangleMesh(scene, triangles.astype(np.float32))
    seconds = []
    for before, after in steps:
        begin = time.process_time()
        a, b = edges.T
        start = np.concatenate((before, after[a], after[b])).astype(np.float32)
        way = np.concatenate((after, before[b], after[a])).astype(np.float32) - start
        scene.run(start, way, np.ones(len(start), np.float32), query="OCCLUDED")
        seconds.append(time.process_time() - begin)
    del mesh
    return float(np.median(seconds))


def time_coal(triangles: np.ndarray, steps: list[Step], edges: np.ndarray) -> float:
    """Median seconds a step."""
    import coal

    def model_of(corners: np.ndarray) -> Any:
        model: Any = coal.BVHModelOBBRSS()
        model.beginModel(len(corners), 3 * len(corners))
        model.addVertices(np.ascontiguousarray(corners.reshape(-1, 3)))
        model.addTriangles(np.arange(3 * len(corners)).reshape(-1, 3))
        model.endModel()
        return model

    fixed, here = model_of(triangles), coal.Transform3s()
    request: Any = coal.CollisionRequest()
    request.num_max_contacts, request.enable_contact = 100_000, False
    seconds = []
    for before, after in steps:
        begin = time.process_time()
        a, b = edges.T
        swept = np.concatenate(
            (
                np.stack((before[a], after[a], before[b]), axis=1),
                np.stack((before[b], after[b], after[a]), axis=1),
            )
        )
        coal.collide(model_of(swept), here, fixed, here, request, coal.CollisionResult())
        seconds.append(time.process_time() - begin)
    return float(np.median(seconds))


def show_cubes(console: Console) -> None:
    answer = table(
        "225 soft cubes among obstacles: time a particle's move, its edges included",
        "hexahedra",
        "abut",
        "particles only",
        "embree, segments",
        "coal, swept triangles",
        "Jund 2010",
        "best peer / abut",
        "edges tested",
        "hits a step",
    )
    rows = []
    for side in SIDES:
        scene = scenes.cube_scene(side)
        timed = Timed(cells.Mobile(scene.environment, (scene.points, scene.edges)))
        crowd = cells.Particles(scene.environment, scene.points)
        steps, alone = [], []
        for _ in range(CUBE_STEPS):
            before = timed.position
            moves = dynamics.couple(scene.model, timed, 0.01, restitution=0.5)
            steps.append(Step(before, moves.position))
            begin = time.process_time()
            crowd.move(moves.position)
            alone.append(time.process_time() - begin)
        count, sample = len(scene.points), steps[:: CUBE_STEPS // 20]
        triangles = walls(scene.environment)
        peers = {}
        for name, call in (("embree", time_embree), ("coal", time_coal)):
            try:
                peers[name] = call(triangles, sample, scene.edges) / count
            except ImportError:
                peers[name] = np.inf
        ours = float(np.median(timed.seconds[1:])) / count
        tested = sum(int(m.edge_tests.sum()) for m in timed.moves) / (2 * len(scene.edges) * CUBE_STEPS)
        hits = sum(int(m.is_hit.sum()) for m in timed.moves) / CUBE_STEPS
        best = min(peers.values())
        rows.append((side**3, ours, float(np.median(alone[1:])) / count, peers["embree"], peers["coal"]))
        answer.add_row(
            f"{side**3:,}",
            f"{1e6 * ours:.2f} µs",
            f"{1e6 * rows[-1][2]:.2f} µs",
            *(f"{1e6 * peers[name]:.2f} µs" if np.isfinite(peers[name]) else "not installed" for name in peers),
            "5 µs",
            f"{best / ours:.1f}×" if np.isfinite(best) else "",
            f"{100 * tested:.0f} %",
            f"{hits:.0f}",
        )
    console.print(answer)
    data = np.array(rows)
    names = ("abut", "particles only", "embree, segments", "coal, triangles")
    curves = [
        (name, data[:, 0], 1e6 * data[:, k + 1]) for k, name in enumerate(names) if np.isfinite(data[:, k + 1]).all()
    ]
    draw("jund-6-12", "Time a particle's move, edges included, µs", "hexahedra", curves, is_log=True)


class Recorded:
    """A mobile whose targets are kept."""

    def __init__(self, mobile: cells.Mobile) -> None:
        self.mobile, self.targets = mobile, []

    @property
    def position(self) -> np.ndarray:
        return self.mobile.position

    def move(self, targets: np.ndarray) -> Any:
        self.targets.append(targets)
        return self.mobile.move(targets, after="slide")


def fall(spikes: bool) -> tuple[scenes.BodyScene, list[np.ndarray]]:
    """The hand in its hall, whose floor is plane as the thesis' or spiked, and where physics would have its vertices, step by step."""
    scene = scenes.hand_scene(HAND_SUBDIVISIONS, spikes=spikes)
    recorded = Recorded(cells.Mobile(scene.environment, abut.Mesh(scene.points, scene.faces)))
    for _ in range(HAND_STEPS):
        dynamics.couple(scene.model, recorded, 0.01, friction=0.3)
    return scene, recorded.targets


def replay(scene: scenes.BodyScene, targets: list[np.ndarray], cull: str | None) -> tuple[Timed, np.ndarray]:
    """The same steps with another elimination, or with the particles alone."""
    if cull is None:
        timed, options = Timed(cells.Particles(scene.environment, scene.points)), {}
    else:
        mobile = cells.Mobile(scene.environment, abut.Mesh(scene.points, scene.faces))
        timed, options = Timed(mobile), {"cull": cull, "after": "slide"}
    for goals in targets:
        timed.move(goals, **options)
    return timed, timed.position


def show_hand(console: Console, spikes: bool) -> None:
    scene, targets = fall(spikes)
    replay(scene, targets[:3], "both")  # compiles; and the environment knows where obstacles stick out
    runs = {cull: replay(scene, targets, cull) for cull in CULLS}
    alone, _ = replay(scene, targets, None)
    total = np.array(
        [m.edge_tests.sum() for m in runs["none"][0].moves]
    )  # each edge for each of its ends, some more than once
    answer = table(
        f"hand of {len(scene.points):,} vertices falling onto {'spikes' if spikes else 'a floor'}: what the eliminations save",
        "elimination",
        "one cell",
        "clear",
        "direction",
        "left out (Jund)",
        "time saved (Jund)",
        "of particles (Jund)",
        "elsewhere",
    )
    jund = {
        "none": ("", "", " (×9)"),
        "cells": (" (75 %)", " (55 %)", ""),
        "direction": (" (40–50 %)", " (30 %)", ""),
        "both": (" (86 %)", " (55 + 20 %)", " (×3)"),
    }
    groups = HAND_STEPS // GROUP
    at = GROUP * (np.arange(groups) + 0.5)
    curves: dict[str, np.ndarray] = {}
    shares: dict[str, np.ndarray] = {}
    base, particles = sum(runs["none"][0].seconds[1:]), sum(alone.seconds[1:])
    for cull, (timed, position) in runs.items():
        seconds = sum(timed.seconds[1:])
        inside, clear, behind = (
            np.array([getattr(m, name).sum() for m in timed.moves]) / total
            for name in ("edges_inside", "edges_clear", "edges_behind")
        )
        untested = np.array([(m.edge_tests == 0).mean() for m in timed.moves])
        shares[cull] = 100 * untested.reshape(groups, GROUP).mean(axis=1)
        curves[cull] = 1e3 * np.array(timed.seconds).reshape(groups, GROUP).sum(axis=1)
        answer.add_row(
            cull,
            f"{100 * inside.mean():.0f} %",
            f"{100 * clear.mean():.0f} %",
            f"{100 * behind.mean():.0f} %",
            f"{100 * (inside + clear + behind).mean():.0f} %{jund[cull][0]}",
            f"{100 * (1 - seconds / base):.0f} %{jund[cull][1]}",
            f"×{seconds / particles:.1f}{jund[cull][2]}",
            str(int((position != runs["none"][1]).any(axis=1).sum())),
        )
    console.print(answer)
    if spikes:
        return
    curves["particles"] = 1e3 * np.array(alone.seconds).reshape(groups, GROUP).sum(axis=1)
    for name, cull in (("jund-6-15", "cells"), ("jund-6-18", "direction"), ("jund-6-20", "both")):
        draw(name, f"Vertices without edge tests, %: {cull}", "step", [(cull, at, shares[cull])], top=100.0)
    pictures = {
        "jund-6-16": ("none", "cells"),
        "jund-6-19": ("none", "direction"),
        "jund-6-21": ("none", "cells", "both", "particles"),
    }
    for name, chosen in pictures.items():
        title = f"Collision detection of {GROUP} steps, ms"
        draw(name, title, "step", [(cull, at, curves[cull]) for cull in chosen])


def show_adaptive(console: Console) -> None:
    """The same fall with particles put on edges, each answer with the physics that goes with it."""
    answer = table(
        "hand falling onto spikes: time a step by response",
        "vertices",
        "response",
        "particles on edges, most",
        "vertices that hit, mean",
        "median",
        "longest",
    )
    for subdivisions in (HAND_SUBDIVISIONS - 1, HAND_SUBDIVISIONS):
        for response in ("static", "adaptive"):
            scene = scenes.hand_scene(subdivisions, spikes=True)
            timed = Following(cells.Mobile(scene.environment, abut.Mesh(scene.points, scene.faces)))
            for _ in range(ADAPTIVE_STEPS):
                dynamics.couple(scene.model, timed, 0.01, friction=0.3, response=response)
            seconds = np.array(timed.seconds[FALLING:])
            most = max(len(moves) for moves in timed.moves) - len(scene.points)
            hits = np.mean([moves.is_hit.sum() for moves in timed.moves[FALLING:]])
            median, longest = f"{1e3 * np.median(seconds):.1f} ms", f"{1e3 * seconds.max():.1f} ms"
            answer.add_row(f"{len(scene.points):,}", response, f"{most:,}", f"{hits:.0f}", median, longest)
    console.print(answer)


def run(console: Console) -> None:
    limit_threads(1)
    show_adaptive(console)
    show_catheter(console)
    show_cubes(console)
    show_hand(console, spikes=True)
    show_hand(console, spikes=False)


if __name__ == "__main__":
    run(Console())
