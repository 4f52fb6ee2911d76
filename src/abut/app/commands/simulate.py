"""`abut simulate`: runs a scene of bodies, writes the motion to an archive, and a page that plays it without a network.

The archive holds `time` (k,), `handle` (n,), `pose` (k,n,4,4) and, for linkage i, `points_i` (k,m,3) and its `bones_i` or `faces_i`. Ctrl-C ends the
motion where it is; what there is of it is written.
"""

import contextlib
import io
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from abut.app.commands import simulate_cells, simulate_plane
from abut.app.commands.motions import conclude
from abut.app.output.files import prepare
from abut.app.output.progress import progress_shown
from abut.core.errors import InvalidInput
from abut.scenes.catalogue import WORLDS
from abut.scenes.contours_in_motion import PLANE_SCENES
from abut.scenes.partitions import PARTITIONS
from abut.scenes.world_scene import WorldScene
from abut.viewer import show
from abut.world import Film


def run(
    name: str,
    console: Console,
    errors: Console,
    *,
    steps: int | None = None,
    size: int | None = None,
    out: Path | None = None,
    html: Path | None = None,
) -> int:
    """Run a scene by name, and write the motion and the page where a file is named; 0, or 130 if it was interrupted."""
    if name in PLANE_SCENES:
        return simulate_plane.run(name, console, errors, steps=steps, size=size, out=out, html=html)
    if name in PARTITIONS:
        return simulate_cells.run(name, console, errors, steps=steps, size=size, out=out, html=html)
    if name not in WORLDS:
        known = ", ".join([*WORLDS, *PLANE_SCENES, *PARTITIONS])
        raise InvalidInput("scene", f"there is no scene {name!r}; there are {known}")
    prepare((), {"--out": out, "--html": html})  # before the work, not after it
    make: Any = WORLDS[name]
    scene: WorldScene = make() if size is None else make(size)
    wanted = steps or scene.step_count
    with (
        progress_shown("simulating", errors) as move,
        scene.world.record() as film,
        contextlib.suppress(KeyboardInterrupt),
    ):
        for _ in scene.run(wanted, move):
            pass
    files = (out, lambda: pack(scene, film)), (html, lambda: draw(scene, film, name))
    return conclude(console, len(film) - 1, wanted, _summary(scene, film), files)


def _summary(scene: WorldScene, film: Film) -> str:
    """What it did, in a line."""
    last = film[-1]
    contacts = last.contacts
    depth = float(contacts.depth.max(initial=0.0))
    moved = np.linalg.norm(last.poses[:, :3, 3] - film[0].poses[:, :3, 3], axis=1)
    joints = f"{len(scene.world.joints):,} joints, " if len(scene.world.joints) else ""
    return (
        f"{len(scene.world):,} bodies, {joints}{len(film) - 1:,} steps of {scene.dt:.4g} s; at the end {len(contacts.pairs):,} pairs touch at "
        f"{len(contacts):,} points, at most {depth:.2g} deep; {int(last.asleep.sum()):,} bodies sleep; "
        f"the farthest came {moved.max(initial=0.0):.3g} far"
    )


def pack(scene: WorldScene, film: Film) -> bytes:
    """The archive."""
    rows = np.array([int(np.flatnonzero(film[0].handles == handle)[0]) for handle in scene.bodies.tolist()])
    columns: dict[str, Any] = {
        "time": film.times,
        "handle": scene.bodies,
        "pose": np.stack([frame.poses[rows] for frame in film.frames]),
    }
    for i, (linkage, mesh) in enumerate(scene.linkages):
        columns[f"points_{i}"] = np.stack([frame.linkages[i] for frame in film.frames])
        columns[f"bones_{i}" if mesh is None else f"faces_{i}"] = linkage.bones if mesh is None else mesh.faces
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **columns)
    return buffer.getvalue()


def draw(scene: WorldScene, film: Film, title: str) -> bytes:
    """The page."""
    return show(scene.scene(film, title)).to_html().encode("utf-8")
