"""`abut simulate` inside a partition: particles, bodies and instruments among walls; the motion as an archive, and a page that plays it.

The archive holds `time` (k,), `hits` (k,) how many were stopped by a wall in each step, and for thing i `position_i` (k,n,3).
"""

import contextlib
import io
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from abut.app.commands.motions import conclude
from abut.app.output.files import prepare
from abut.app.output.progress import progress_shown
from abut.cells import COLLISION, Recording
from abut.core.arrays import Floats
from abut.scenes.partitions import PARTITIONS, PartitionScene
from abut.viewer import show


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
    prepare((), {"--out": out, "--html": html})
    make = PARTITIONS[name]
    scene = make() if size is None else make(size)
    film, wanted = Recording(scene.environment, *scene.things), steps or scene.step_count
    hits, tracks = list[int](), [[_position(thing)] for thing in scene.things]
    film.note(time=0.0)
    with progress_shown("simulating", errors) as move, contextlib.suppress(KeyboardInterrupt):
        for moves in scene.run(wanted, move):
            hits.append(int((moves.status == COLLISION).sum()))
            film.note(moves, time=len(hits) * scene.dt)
            for track, thing in zip(tracks, scene.things, strict=True):
                track.append(_position(thing))
    files = (out, lambda: _pack(scene, hits, tracks)), (html, lambda: show(film, title=name).to_html().encode())
    return conclude(console, len(hits), wanted, _summary(scene, hits, tracks), files)


def _position(thing: Any) -> Floats:
    return thing.position


def _summary(scene: PartitionScene, hits: list[int], tracks: list[list[Floats]]) -> str:
    """What it did, in a line."""
    farthest = max(float(np.linalg.norm(track[-1] - track[0], axis=1).max(initial=0.0)) for track in tracks)
    count = sum(len(track[-1]) for track in tracks)
    return (
        f"{count:,} points in {scene.environment.cell_count:,} cells, {len(hits):,} steps of {scene.dt:.4g} s; "
        f"{sum(hits):,} times one was stopped by a wall; the farthest came {farthest:.3g} far"
    )


def _pack(scene: PartitionScene, hits: list[int], tracks: list[list[Floats]]) -> bytes:
    columns: dict[str, Any] = {f"position_{i}": np.stack(track) for i, track in enumerate(tracks)}
    buffer = io.BytesIO()
    np.savez_compressed(buffer, time=scene.dt * np.arange(len(hits) + 1), hits=np.array([0, *hits]), **columns)
    return buffer.getvalue()
