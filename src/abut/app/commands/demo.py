"""The demonstration: the main job on a scene of our own. A cloth falls on a ball; its folds pass through one another, and are found."""

import io
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from rich.console import Console

from abut.app.check.search import Options, search_tiny_frame, search_tiny_step
from abut.app.commands import check
from abut.app.output.exit_codes import INTERRUPTED, TERMINATED, UNFINISHED
from abut.app.output.files import write_file
from abut.app.output.progress import progress_shown
from abut.core.compiling.code_cache import share_compilation
from abut.scenes import ClothFall, cloth_on_ball

TITLE = "A cloth falls on a ball"


def run(out: Path, console: Console) -> int:
    """Generate the scene, check it, and write animation, results and page into the folder `out`. Returns the exit code of the check."""
    errors = Console(stderr=True)
    console.print(
        "A cloth falls on a ball and drapes over it. Nothing keeps it out of itself, so its folds pass through one another:\n"
        "abut finds every place and moment where they do, at the frames and between them."
    )
    out.mkdir(parents=True, exist_ok=True)
    scene = _simulate(errors)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, frames=scene.frames, faces=scene.faces)
    animation, page = out / "cloth.npz", out / "report.html"
    write_file(animation, buffer.getvalue())
    console.print(
        f"{len(scene.frames)} frames of {len(scene.frames[0]):,} vertices and {len(scene.faces):,} faces: {animation}",
        highlight=False,
        soft_wrap=True,
    )
    files = check.Files(out / "collisions.npz", out / "collisions.json", page)
    code = check.run([animation], Options(), files, console, errors, work=out / "work", title=TITLE)
    if code not in (INTERRUPTED, TERMINATED, UNFINISHED):
        console.print(f"Open {page} in a browser to see them.", style="bold", highlight=False, soft_wrap=True)
    return code


def _simulate(errors: Console) -> ClothFall:
    """The scene. Meanwhile another process compiles the search of frames, and then this one the search of steps: from an empty cache that
    is what takes longest, and the check finds both on disk. What both need, the one that comes to it first compiles."""
    share_compilation()
    with (
        ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), share_compilation) as other,
        progress_shown("simulating", errors) as move,
    ):
        frames_searched = other.submit(search_tiny_frame)
        scene = cloth_on_ball(report=lambda done, total: move(done, total, ""))
        search_tiny_step()
        frames_searched.result()
    return scene
