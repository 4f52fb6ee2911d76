"""Continuous collision of one cloth step beside ipctk: candidates, earliest time, all impacts, exact verdicts, memory.

Reads the two scenes and the rational queries of `shared/data` beside the clone, where they are. The scenes are those of Wan 2022, the verdicts were
computed symbolically. ipctk runs in the same process on the same number of threads; where it is not installed its rows are left out.
"""

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numba
import numpy as np
from rich.console import Console

import abut
from abut.app.bench import Timing, measure, table

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
SCENES = {"cloth-ball": ("cloth_ball92.ply", "cloth_ball93.ply", "92"), "cloth-funnel": ("227.ply", "228.ply", "227")}
MEMORY = """
import re, sys
import abut
def peak():
    return re.search(r"VmHWM:\\s*(\\d+) kB", open("/proc/self/status").read())[1]
first, last = abut.load(sys.argv[1]), abut.load(sys.argv[2])
before = peak()
abut.time_of_impact(first, first.vertices, last.vertices, at_start=False)
print(before, peak())
"""

Step = tuple[abut.Mesh, np.ndarray, np.ndarray]


def load_step(name: str) -> Step:
    first, last = (abut.load(DATA / "scenes" / name / file) for file in SCENES[name][:2])
    return first, first.vertices, last.vertices


def load_truth(name: str, mesh: abut.Mesh) -> dict[str, set[tuple[int, int]]]:
    """The pairs that do collide, by kind, in the numbering of the mesh."""
    folder, frame = DATA / "scenes" / name, SCENES[name][2]
    vertices, edges = len(mesh.vertices), len(mesh.edges)
    truth = {}
    for kind, shifts in (("vf", (0, vertices + edges)), ("ee", (vertices, vertices))):
        pairs = np.array(json.loads((folder / f"{frame}{kind}.json").read_text()))
        holds = np.array(json.loads((folder / f"{frame}{kind}_mma_bool.json").read_text()), dtype=bool)
        pairs = np.sort(pairs, axis=1)[holds] - shifts
        truth[kind] = set(map(tuple, pairs.tolist()))
    return truth


def found_by(impacts: abut.ccd.Impacts, kind: int) -> set[tuple[int, int]]:
    rows = impacts.kind == kind
    return set(zip(impacts.a[rows].tolist(), impacts.b[rows].tolist(), strict=True))


class Ipctk:
    """The same step in ipctk."""

    def __init__(self, step: Step) -> None:
        import ipctk

        self.ipctk = ipctk
        mesh, start, end = step
        ipctk.set_num_threads(numba.get_num_threads())
        self.start, self.end = np.asfortranarray(start), np.asfortranarray(end)
        faces = np.asfortranarray(mesh.faces, dtype=np.int32)
        self.mesh = ipctk.CollisionMesh(self.start, np.asfortranarray(ipctk.edges(faces)), faces)
        self.candidates = ipctk.Candidates()

    def build(self, method: str) -> None:
        self.candidates.build(self.mesh, self.start, self.end, 0.0, getattr(self.ipctk, method)())

    def earliest(self, method: Any) -> float:
        return self.candidates.compute_collision_free_stepsize(self.mesh, self.start, self.end, 0.0, method)


def time_step(console: Console, name: str) -> None:
    step = load_step(name)
    out = table(
        f"{name}, one step from positions, {numba.get_num_threads()} threads", "", "time", "answer", "ipctk / abut"
    )
    ours = {
        "candidates": measure(lambda: abut.candidates(*step, volume="aabb"), seconds=2.0),
        "earliest": measure(lambda: abut.time_of_impact(*step, at_start=False), seconds=2.0),
        "all": measure(lambda: abut.sweep(*step), seconds=2.0),
    }
    sweeper, ends = abut.Sweeper(step[0]), step[1:]
    kept = {
        "candidates": measure(lambda: sweeper.candidates(*ends), seconds=2.0),
        "candidates, not ordered": measure(lambda: sweeper.candidates(*ends, ordered=False), seconds=2.0),
        "time_of_impact": measure(lambda: sweeper.time_of_impact(*ends, at_start=False), seconds=2.0),
        "sweep": measure(lambda: sweeper.sweep(*ends), seconds=2.0),
    }
    pairs, impacts = abut.candidates(*step, volume="aabb"), abut.sweep(*step)
    out.add_row("abut.candidates", str(ours["candidates"]), f"{len(pairs):,} pairs", "")
    out.add_row("abut.time_of_impact", str(ours["earliest"]), f"{abut.time_of_impact(*step, at_start=False):.6e}", "")
    out.add_row("abut.sweep, all impacts", str(ours["all"]), f"{len(impacts):,} impacts", "")
    for label, timing in kept.items():
        out.add_row(f"abut.Sweeper.{label}", str(timing), "", "")
    share = kept["sweep"].median / kept["time_of_impact"].median
    out.add_row("  all impacts / the earliest", f"{share:.2f}", "", "")
    try:
        peer = Ipctk(step)
    except ImportError:
        console.print(out, "ipctk is not installed: its rows are left out.")
        return
    broad: dict[str, Timing] = {}
    for method in ("LBVH", "BVH", "HashGrid", "SpatialHash", "SweepAndPrune"):
        if hasattr(peer.ipctk, method):
            broad[method] = measure(lambda method=method: peer.build(method), seconds=0.5, at_least=2)
            ratios = [broad[method].median / t.median for t in (ours["candidates"], kept["candidates, not ordered"])]
            shown = f"{ratios[0]:.1f}×, Sweeper {ratios[1]:.1f}×"
            out.add_row(f"ipctk Candidates.build, {method}", str(broad[method]), f"{len(peer.candidates):,}", shown)
    fastest = min(broad, key=lambda method: broad[method].median)
    peer.build(fastest)
    for label, method in (("tight inclusion", peer.ipctk.TightInclusionCCD()), ("additive", peer.ipctk.AdditiveCCD())):
        narrow = measure(lambda method=method: peer.earliest(method), seconds=0.5, at_least=2)
        total = narrow.median + broad[fastest].median
        ratios = [total / t.median for t in (ours["earliest"], kept["time_of_impact"])]
        shown = f"{ratios[0]:.1f}×, Sweeper {ratios[1]:.1f}×"
        out.add_row(f"ipctk stepsize, {label} (+ {fastest})", str(narrow), f"{peer.earliest(method):.6e}", shown)
    console.print(out)


def judge_scene(console: Console, name: str) -> None:
    """Our impacts beside the symbolic verdicts, and on cloth-funnel ipctk's default on all candidates: on cloth-ball that would take minutes."""
    step = load_step(name)
    truth, impacts = load_truth(name, step[0]), abut.sweep(*step)
    out = table(f"{name}: verdicts", "", "true", "missed", "false positives")
    for kind, code in (("vf", abut.ccd.VERTEX_FACE), ("ee", abut.ccd.EDGE_EDGE)):
        found = found_by(impacts, code)
        out.add_row(
            f"abut {kind}", f"{len(truth[kind]):,}", str(len(truth[kind] - found)), str(len(found - truth[kind]))
        )
    if name == "cloth-funnel":
        for row in judge_peer(step, truth):
            out.add_row(*row)
    console.print(out)


def judge_peer(step: Step, truth: dict[str, set[tuple[int, int]]]) -> list[tuple[str, ...]]:
    try:
        peer = Ipctk(step)
    except ImportError:
        return []
    peer.build("LBVH")
    found: dict[str, set[tuple[int, int]]] = {"vf": set(), "ee": set()}
    ccd, (mesh, start, end) = peer.ipctk.TightInclusionCCD(), step
    for pair in peer.candidates.fv_candidates:
        corners = [pair.vertex_id, *mesh.faces[pair.face_id]]
        if ccd.point_triangle_ccd(*start[corners], *end[corners])[0]:
            found["vf"].add((pair.vertex_id, pair.face_id))
    for pair in peer.candidates.ee_candidates:
        corners = [*mesh.edges[pair.edge0_id], *mesh.edges[pair.edge1_id]]
        if ccd.edge_edge_ccd(*start[corners], *end[corners])[0]:
            found["ee"].add((min(pair.edge0_id, pair.edge1_id), max(pair.edge0_id, pair.edge1_id)))
    return [
        (
            f"ipctk {kind}, default",
            f"{len(truth[kind]):,}",
            str(len(truth[kind] - found[kind])),
            str(len(found[kind] - truth[kind])),
        )
        for kind in ("vf", "ee")
    ]


def load_queries(kind: str) -> tuple[np.ndarray, np.ndarray]:
    """All rational queries of a kind as doubles (n,8,3), and their verdicts."""
    queries: list[np.ndarray] = []
    verdicts: list[np.ndarray] = []
    for path in sorted((DATA / "queries").glob(f"*/{kind}/*.csv")):
        rows = [line.split(",") for line in path.read_text().split()]
        points = [[float(Fraction(int(r[2 * k]), int(r[2 * k + 1]))) for k in range(3)] for r in rows]
        queries.append(np.array(points).reshape(-1, 8, 3))
        verdicts.append(np.array([int(r[6]) for r in rows], dtype=bool)[::8])
    return np.concatenate(queries), np.concatenate(verdicts)


def judge_queries(console: Console) -> None:
    out = table(
        "rational queries, many of them degenerate",
        "",
        "queries",
        "missed",
        "false positives",
        "a query",
        "exact stage",
    )
    for kind, ask in (("vertex-face", abut.ccd.vertex_face), ("edge-edge", abut.ccd.edge_edge)):
        queries, holds = load_queries(kind)
        verdict = ask(queries)
        timing = measure(lambda ask=ask, queries=queries: ask(queries)).per(len(queries))
        missed, invented = np.count_nonzero(holds & ~verdict.hit), np.count_nonzero(verdict.hit & ~holds)
        out.add_row(
            f"abut {kind}", f"{len(queries):,}", str(missed), str(invented), str(timing), f"{verdict.exact_count:,}"
        )
        try:
            import ipctk
        except ImportError:
            continue
        raw = ipctk.tight_inclusion.point_triangle_ccd if kind == "vertex-face" else ipctk.tight_inclusion.edge_edge_ccd
        hit = np.array([raw(*q)[0] for q in queries])
        timing = measure(lambda raw=raw, queries=queries: [raw(*q) for q in queries[::20]], seconds=0.5, at_least=2)
        missed, invented = np.count_nonzero(holds & ~hit), np.count_nonzero(hit & ~holds)
        out.add_row(
            f"ipctk {kind}, raw",
            f"{len(queries):,}",
            str(missed),
            str(invented),
            str(timing.per(len(queries[::20]))),
            "",
        )
    console.print(out)


def measure_memory(console: Console) -> None:
    if sys.platform != "linux":
        console.print("Memory is measured on Linux only.")
        return
    files = [str(DATA / "scenes" / "cloth-ball" / file) for file in SCENES["cloth-ball"][:2]]
    answer = subprocess.run([sys.executable, "-c", MEMORY, *files], capture_output=True, text=True, check=True)
    before, peak = (float(size) / 1024 for size in answer.stdout.split())
    console.print(
        f"Earliest time of cloth-ball in a new process: {peak:,.0f} MB at the peak, {before:,.0f} MB of them before the call."
    )


def run(console: Console) -> None:
    if not DATA.is_dir():
        console.print(f"There is no {DATA}: nothing to measure.")
        return
    for name in SCENES:
        time_step(console, name)
        judge_scene(console, name)
    judge_queries(console)
    measure_memory(console)
