"""Wan 2022 on its scenes: how many pairs k-DOPs leave, what the layer of vertices and edges saves, what SLPF and DNF cull along which lines, and what
a frame takes with the cubics; ipctk's boxes beside ours.

The paper's figures are for one frame of each animation, it does not say which; ours are for the steps in the data (cloth_ball 92 to 93, funnel 227 to
228), so rates differ with the frames, most where the scene is nearly at rest. The paper's rates are of pairs that 26-DOPs leave, and so are ours.
"""

import functools
import time
from pathlib import Path

import numba
import numpy as np
from rich.console import Console

import abut
from abut.app.bench import measure, table
from abut.ccd import Candidates, candidates, edge_edge, filter_dnf, filter_slpf, search_triangles, vertex_face
from abut.ccd.culling.stream import stream
from abut.ccd.motion.straight import moving_of

SCENES = Path(__file__).parents[2] / "shared" / "data" / "scenes"
STEPS = {"cloth-ball": ("cloth_ball92.ply", "cloth_ball93.ply"), "cloth-funnel": ("227.ply", "228.ply")}
VOLUMES = ("aabb", "kdop8", "kdop12", "kdop14", "kdop18", "kdop26")
PAPER = {  # culled, in per cent, by SLPF, DNF, and both; and the seconds of a frame (tables 1 and 2)
    ("cloth-ball", "vertex-face"): ((58.18, 38.46, 58.57), (7.67, 7.78, 7.82)),
    ("cloth-ball", "edge-edge"): ((45.79, 31.23, 47.21), (11.63, 11.36, 11.73)),
    ("cloth-funnel", "vertex-face"): ((58.88, 56.46, 63.17), (1.67, 1.78, 1.75)),
    ("cloth-funnel", "edge-edge"): ((48.01, 47.81, 53.18), (2.54, 2.65, 2.58)),
}
AXES = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
LINES = {  # §2.3 chooses among them
    "X": AXES[:1],
    "Y": AXES[1:2],
    "Z": AXES[2:],
    "X, Y, Z": AXES,
    "the paper's five": [(1, 0, 0), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 1, 1)],
    "all three axes and those": [*AXES, (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 1, 1)],
    "the 13 of a 26-DOP": [
        (x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if (x, y, z) > (0, 0, 0)
    ],
}
NONE = np.empty((0, 2), np.int32)


def measure_boxes(console: Console, name: str, mesh: abut.Mesh, v_t1: np.ndarray) -> None:
    result = table(
        f"{name}, {len(mesh):,} faces: candidates in sorted arrays", "", "threads", "time", "vertex-face", "edge-edge"
    )
    most = numba.get_num_threads()
    for threads in sorted({1, most}, reverse=True):
        numba.set_num_threads(threads)
        for volume in VOLUMES:
            search = functools.partial(candidates, mesh, mesh.vertices, v_t1, volume=volume)
            found, time = search(), measure(search)
            result.add_row(volume, str(threads), str(time), f"{len(found.vertex_face):,}", f"{len(found.edge_edge):,}")
        step = moving_of(mesh, mesh.vertices, v_t1)

        def survivors(step=step) -> np.ndarray:
            counts = np.zeros(2, dtype=int)
            for kind, pairs in stream(step):
                counts[kind] += len(pairs)
            return counts

        counts = [f"{count:,}" for count in survivors()]
        result.add_row("streamed, less 13 directions and DNF", str(threads), str(measure(survivors)), *counts)
    numba.set_num_threads(most)
    measure_ipctk(result, mesh, v_t1, most)
    console.print(result)


def measure_ipctk(result: object, mesh: abut.Mesh, v_t1: np.ndarray, threads: int) -> None:
    try:
        import ipctk
    except ImportError:
        return
    ipctk.set_num_threads(threads)
    v_t0, v_t1, edges, faces = map(np.asfortranarray, (mesh.vertices, v_t1, mesh.edges, mesh.faces))
    body = ipctk.CollisionMesh(v_t0, edges.astype(np.int32), faces.astype(np.int32))
    found = ipctk.Candidates()
    time = measure(lambda: found.build(body, v_t0, v_t1, 0.0, ipctk.LBVH()), at_least=3)
    counts = (f"{len(found.fv_candidates):,}", f"{len(found.ee_candidates):,}")
    result.add_row("ipctk LBVH, in its own lists", str(threads), str(time), *counts)


def parts_of(found: Candidates) -> dict[str, Candidates]:
    """One kind of pair at a time, as the paper's tables have them."""
    return {"vertex-face": Candidates(found.vertex_face, NONE), "edge-edge": Candidates(NONE, found.edge_edge)}


def filter_both(mesh: abut.Mesh, v_t0: np.ndarray, v_t1: np.ndarray, found: Candidates) -> Candidates:
    """The paper's order: DNF looks at what SLPF leaves."""
    left = filter_slpf(mesh, v_t0, v_t1, found).apply(found)
    return filter_dnf(mesh, v_t0, v_t1, left).apply(left)


def solve(mesh: abut.Mesh, v_t1: np.ndarray, found: Candidates) -> int:
    """The number of cubics that have a contact."""
    hits = 0
    for pairs, corners, ask in (
        (found.vertex_face, (np.arange(len(mesh.vertices))[:, np.newaxis], mesh.faces), vertex_face),
        (found.edge_edge, (mesh.edges, mesh.edges), edge_edge),
    ):
        if len(pairs):
            points = np.hstack([corners[0][pairs[:, 0]], corners[1][pairs[:, 1]]])
            queries = np.concatenate([mesh.vertices[points], v_t1[points]], axis=1)
            hits += int(ask(queries, method="cubic").hit.sum())
    return hits


def measure_filters(console: Console, name: str, mesh: abut.Mesh, v_t1: np.ndarray) -> None:
    found = candidates(mesh, mesh.vertices, v_t1, volume="kdop26")
    rules = {
        "SLPF": lambda pairs: filter_slpf(mesh, mesh.vertices, v_t1, pairs).apply(pairs),
        "DNF": lambda pairs: filter_dnf(mesh, mesh.vertices, v_t1, pairs).apply(pairs),
        "SLPF, then DNF": lambda pairs: filter_both(mesh, mesh.vertices, v_t1, pairs),
    }
    result = table(
        f"{name}: filters on what 26-DOPs leave; seconds of a frame are those of filter and cubics, the paper's may hold more",
        "",
        "",
        "pairs",
        "culled",
        "paper",
        "filter alone",
        "with the cubics",
        "paper",
        "cubics with a contact",
    )
    for kind, pairs in parts_of(found).items():
        rates, seconds = PAPER[name, kind]
        for (rule, apply), paper_rate, paper_seconds in zip(rules.items(), rates, seconds, strict=True):
            left = apply(pairs)
            begin = time.perf_counter()
            hits = solve(mesh, v_t1, left)
            cubics = time.perf_counter() - begin
            filtering = measure(functools.partial(apply, pairs), at_least=3)
            result.add_row(
                kind,
                rule,
                f"{len(pairs):,}",
                f"{100.0 * (1.0 - len(left) / max(len(pairs), 1)):.2f} %",
                f"{paper_rate:.2f} %",
                str(filtering),
                f"{1e3 * (filtering.median + cubics):.3g} ms",
                f"{paper_seconds:.2f} s",
                f"{hits:,}",
            )
    console.print(result)


def measure_lines(console: Console, name: str, mesh: abut.Mesh, v_t1: np.ndarray) -> None:
    found = candidates(mesh, mesh.vertices, v_t1, volume="kdop26")
    boxes = candidates(mesh, mesh.vertices, v_t1)
    result = table(
        f"{name}: culled by SLPF along the lines of §2.3, in per cent",
        "lines",
        "vertex-face of 26-DOPs",
        "edge-edge",
        "vertex-face of boxes",
        "edge-edge",
        "time, 26-DOPs",
    )
    for label, lines in LINES.items():
        rates = []
        for pairs in (found, boxes):
            kept = filter_slpf(mesh, mesh.vertices, v_t1, pairs, lines=lines)
            rates += [100.0 * (1.0 - float(mask.mean())) for mask in (kept.vertex_face, kept.edge_edge)]
        timing = measure(lambda lines=lines: filter_slpf(mesh, mesh.vertices, v_t1, found, lines=lines), at_least=3)
        result.add_row(label, *(f"{rate:.1f}" for rate in rates), str(timing))
    console.print(result)


def measure_layer(console: Console, name: str, mesh: abut.Mesh, v_t1: np.ndarray) -> None:
    result = table(
        f"{name}: the paper's tree of triangles, with its layer of vertices and edges and without",
        "",
        "pairs of triangles",
        "vertex-face without",
        "with",
        "saved",
        "edge-edge without",
        "with",
        "saved",
    )
    for volume in ("kdop6", "kdop26"):
        found = search_triangles(mesh, mesh.vertices, v_t1, volume=volume)
        row = []
        for without, kept in (
            (found.vertex_face_count, len(found.candidates.vertex_face)),
            (found.edge_edge_count, len(found.candidates.edge_edge)),
        ):
            row += [f"{without:,}", f"{kept:,}", f"{100.0 * (1.0 - kept / max(without, 1)):.1f} %"]
        result.add_row(volume, f"{found.triangle_pairs:,}", *row)
    console.print(result)


def run(console: Console) -> None:
    if not SCENES.is_dir():
        console.print(
            f"the scenes are not there: expected them in {SCENES.parent.name}/{SCENES.name} beside the checkout"
        )
        return
    for name, (first, second) in STEPS.items():
        mesh = abut.load(SCENES / name / first)
        v_t1 = abut.load(SCENES / name / second).vertices
        measure_boxes(console, name, mesh, v_t1)
        measure_layer(console, name, mesh, v_t1)
        measure_lines(console, name, mesh, v_t1)
        measure_filters(console, name, mesh, v_t1)
