"""Wan 2022 on its scenes: how many pairs k-DOPs leave and how long that takes, what DNF and SLPF cull, ipctk's boxes beside ours.

The paper's figures are for one frame of each animation, it does not say which; ours are for the steps in the data (cloth_ball 92 to 93, funnel 227 to
228), so rates differ with the frames, most where the scene is nearly at rest. The paper's rates are of pairs that 26-DOPs leave, and so are ours.
"""

import functools
from pathlib import Path

import numba
import numpy as np
from rich.console import Console

import abut
from abut.app.bench import measure, table
from abut.ccd import candidates, filter_dnf, filter_slpf
from abut.ccd.culling.search import moving_of
from abut.ccd.culling.stream import stream

SCENES = Path(__file__).parents[2] / "shared" / "data" / "scenes"
STEPS = {"cloth-ball": ("cloth_ball92.ply", "cloth_ball93.ply"), "cloth-funnel": ("227.ply", "228.ply")}
VOLUMES = ("aabb", "kdop8", "kdop14", "kdop18", "kdop26")
PAPER = {  # culled, in per cent: SLPF, DNF, both (tables 1 and 2)
    ("cloth-ball", "vertex-face"): (58.18, 38.46, 58.57),
    ("cloth-ball", "edge-edge"): (45.79, 31.23, 47.21),
    ("cloth-funnel", "vertex-face"): (58.88, 56.46, 63.17),
    ("cloth-funnel", "edge-edge"): (48.01, 47.81, 53.18),
}


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


def measure_filters(console: Console, name: str, mesh: abut.Mesh, v_t1: np.ndarray) -> None:
    found = candidates(mesh, mesh.vertices, v_t1, volume="kdop26")
    step = (mesh, mesh.vertices, v_t1, found)
    slpf, dnf = filter_slpf(*step), filter_dnf(*step)
    times = [measure(lambda rule=rule: rule(*step)) for rule in (filter_slpf, filter_dnf)]
    result = table(
        f"{name}: culled of what 26-DOPs leave, in per cent (SLPF {times[0]}, DNF {times[1]}, both kinds of pairs)",
        "",
        "SLPF",
        "DNF",
        "both",
        "paper: SLPF",
        "DNF",
        "both",
    )
    for kind, masks in (
        ("vertex-face", (slpf.vertex_face, dnf.vertex_face)),
        ("edge-edge", (slpf.edge_edge, dnf.edge_edge)),
    ):
        rates = [100.0 * (1.0 - keep.mean()) for keep in (*masks, masks[0] & masks[1])]
        result.add_row(kind, *(f"{rate:.2f}" for rate in (*rates, *PAPER[name, kind])))
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
        measure_filters(console, name, mesh, v_t1)
