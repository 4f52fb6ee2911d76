"""The demonstration: a scene of our own, its mesh facts, every pair of touching faces, and a page to look at.

The pairs are found by testing all faces of one body against all of the other with exact signs, boxes first: slow and obvious.
"""

import html
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from abut.app.picture import shaded_svg
from abut.geometry.crossings import meet_triangle_triangle
from abut.jit import kernel
from abut.mesh import Mesh
from abut.scenes import bumpy, torus

ROWS_A_STEP = 128
QUIET, LOUD = (158, 173, 191), (230, 64, 41)


@kernel
def _boxes(triangles: NDArray[np.float64], boxes: NDArray[np.float64]) -> None:
    for i in range(len(triangles)):
        for k in range(3):
            x, y, z = triangles[i, 0, k], triangles[i, 1, k], triangles[i, 2, k]
            boxes[i, k] = min(x, y, z)
            boxes[i, 3 + k] = max(x, y, z)


@kernel
def _meet(
    a: NDArray[np.float64],
    boxes_a: NDArray[np.float64],
    start: int,
    stop: int,
    b: NDArray[np.float64],
    boxes_b: NDArray[np.float64],
    hit_a: NDArray[np.bool_],
    hit_b: NDArray[np.bool_],
) -> int:
    """Test faces start … stop of a against all of b; mark those that touch and count the pairs."""
    count = 0
    for i in range(start, stop):
        for j in range(len(b)):
            apart = False
            for k in range(3):
                apart |= boxes_a[i, 3 + k] < boxes_b[j, k] or boxes_b[j, 3 + k] < boxes_a[i, k]
            if apart:
                continue
            p, q = a[i], b[j]
            if meet_triangle_triangle(
                (p[0, 0], p[0, 1], p[0, 2]),
                (p[1, 0], p[1, 1], p[1, 2]),
                (p[2, 0], p[2, 1], p[2, 2]),
                (q[0, 0], q[0, 1], q[0, 2]),
                (q[1, 0], q[1, 1], q[1, 2]),
                (q[2, 0], q[2, 1], q[2, 2]),
            ):
                hit_a[i] = True
                hit_b[j] = True
                count += 1
    return count


def _facts(meshes: dict[str, Mesh]) -> Table:
    table = Table(title="the scene", title_justify="left", title_style="bold")
    table.add_column("")
    for name in meshes:
        table.add_column(name, justify="right")
    table.add_row("vertices", *(f"{len(m.vertices):,}" for m in meshes.values()))
    table.add_row("edges", *(f"{len(m.edges):,}" for m in meshes.values()))
    table.add_row("faces", *(f"{len(m.faces):,}" for m in meshes.values()))
    table.add_row(
        "closed, oriented, manifold", *(_yes(m.is_closed, m.is_oriented, m.is_manifold) for m in meshes.values())
    )
    table.add_row("area", *(f"{m.area:.4f}" for m in meshes.values()))
    table.add_row("volume", *(f"{m.volume:.4f}" for m in meshes.values()))
    return table


def _yes(*facts: bool) -> str:
    return ", ".join("yes" if fact else "no" for fact in facts)


def _write_page(path: Path, sentence: str, picture: str) -> None:
    page = (
        "<!doctype html><html lang='en'><meta charset='utf-8'><title>abut demo</title>"
        "<style>body{font:16px system-ui,sans-serif;max-width:60rem;margin:2rem auto;color:#222}"
        "svg{width:100%;height:auto;background:#f6f7f9;border-radius:8px}</style>"
        f"<h1>abut demo</h1><p>{html.escape(sentence)}</p>{picture}"
        "<p>Faces that touch the other body are red. Each verdict is an exact sign.</p></html>"
    )
    path.write_text(page, encoding="utf-8")


def run(out: Path, console: Console) -> None:
    """Make the scene, search it, and write `demo.html` and `demo.ply` into the folder `out`."""
    console.print("A bumpy body and a torus that cut into each other.")
    meshes = {"body": bumpy(20_000, seed=7), "torus": torus(0.9, 0.3, 120, 48)}
    console.print(_facts(meshes))
    corners = [m.vertices[m.faces] for m in meshes.values()]
    boxes = [np.empty((len(c), 6)) for c in corners]
    hits = [np.zeros(len(c), dtype=np.bool_) for c in corners]
    for c, b in zip(corners, boxes, strict=True):
        _boxes(c, b)
    count = 0
    start_time = time.perf_counter()
    with Progress(console=console) as progress:
        task = progress.add_task("testing all pairs of faces", total=len(corners[0]))
        for start in range(0, len(corners[0]), ROWS_A_STEP):
            stop = min(start + ROWS_A_STEP, len(corners[0]))
            count += _meet(corners[0], boxes[0], start, stop, corners[1], boxes[1], hits[0], hits[1])
            progress.update(task, completed=stop)
    seconds = time.perf_counter() - start_time
    sentence = (
        f"{len(corners[0]) * len(corners[1]):,} pairs of faces, {count:,} of them touch "
        f"({np.count_nonzero(hits[0]):,} faces of the body, {np.count_nonzero(hits[1]):,} of the torus)."
    )
    console.print(sentence, f"{seconds:.1f} s, by brute force.")
    out.mkdir(parents=True, exist_ok=True)
    both = Mesh(
        np.concatenate([m.vertices for m in meshes.values()]),
        np.concatenate([meshes["body"].faces, meshes["torus"].faces + len(meshes["body"].vertices)]),
    )
    colors = np.where(np.concatenate(hits)[:, None], LOUD, QUIET)
    both.save(out / "demo.ply", face_colors=colors)
    _write_page(out / "demo.html", sentence, shaded_svg(both, colors))
    console.print(f"The result page is {out / 'demo.html'}, the coloured mesh {out / 'demo.ply'}.", soft_wrap=True)
