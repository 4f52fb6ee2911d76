"""`abut simulate` in the plane: contours that fall, fly and meet; the motion as an archive, and a page that plays it without a network.

The archive holds `time` (k,), `pose` (k,m,3) x, y and angle, and `segments_i` (n,4,2), the Bézier segments of contour i. The page draws these curves.
"""

import contextlib
import io
import json
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

from abut.app.commands.encoding import code
from abut.app.commands.motions import conclude
from abut.app.output.files import prepare
from abut.app.output.progress import progress_shown
from abut.core.arrays import Floats, Integers
from abut.scenes.contours_in_motion import PLANE_SCENES, ContourScene

MOST_FRAMES_SHOWN = 480
"""Of a long motion the page shows every second, third, … step."""


class Course(NamedTuple):
    """What was recorded: times (k,) and poses (k,m,3), the impacts of each step (k,), and where these were (i,2)."""

    time: Floats
    pose: Floats
    impacts: Integers
    points: Floats


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
    make = PLANE_SCENES[name]
    scene = make() if size is None else make(size)
    with progress_shown("simulating", errors) as move:
        course = record(scene, steps or scene.step_count, move)
    files = (out, lambda: pack(scene, course)), (html, lambda: draw(scene, course, name))
    return conclude(console, len(course.time) - 1, steps or scene.step_count, _summary(scene, course), files)


def _summary(scene: ContourScene, course: Course) -> str:
    """What it did, in a line."""
    fastest = float(np.abs(scene.animation.velocity).max(initial=0.0))
    return (
        f"{len(scene.contours):,} contours, {len(course.time) - 1:,} steps of {scene.dt:.4g} s in {scene.animation.strides:,} sub-steps; "
        f"{int(course.impacts.sum()):,} impacts; at the end the fastest moves at {fastest:.2g}, "
        f"and {'all are clear' if scene.animation.is_clear().all() else 'some overlap'}"
    )


def record(scene: ContourScene, steps: int, move: Any = None) -> Course:
    """Let the scene run, and keep where everything was after each step; Ctrl-C ends it early."""
    poses, impacts, points = [scene.animation.poses], [0], [np.empty((0, 2))]
    with contextlib.suppress(KeyboardInterrupt):
        for k in range(steps):
            step = scene.animation.step(scene.dt)
            poses.append(scene.animation.poses)
            impacts.append(len(step))
            points.append(step.point)
            if move is not None:
                move(k + 1, steps, "")
    count = min(map(len, (poses, impacts, points)))
    poses, impacts, points = poses[:count], impacts[:count], points[:count]
    time = scene.dt * np.arange(count, dtype=np.float64)
    return Course(time, np.stack(poses), np.array(impacts), np.concatenate(points))


def pack(scene: ContourScene, course: Course) -> bytes:
    """The archive."""
    columns: dict[str, Any] = {f"segments_{i}": contour.segments for i, contour in enumerate(scene.contours)}
    buffer = io.BytesIO()
    np.savez_compressed(buffer, time=course.time, pose=course.pose, **columns)
    return buffer.getvalue()


def draw(scene: ContourScene, course: Course, title: str) -> bytes:
    """The page: each contour's segments and poses, and where impacts were, as base64 of float32 and uint32."""
    every = -(-len(course.time) // MOST_FRAMES_SHOWN)
    chosen = slice(None, None, every)
    ends = np.concatenate([[0], np.cumsum(course.impacts)])[1:][chosen]  # impacts up to each frame
    low, high = (
        np.array([pick(c.moved(p).bounds, axis=0) for c, p in zip(scene.contours, course.pose[0], strict=True)])
        for pick in (np.min, np.max)
    )
    facts = {
        "title": title,
        "frames": len(course.time[chosen]),
        "seconds": scene.dt * every,
        "bounds": [*low.min(axis=0).tolist(), *high.max(axis=0).tolist()],
        "impacts": {"x": code(course.points.astype("<f4")), "ends": code(ends.astype("<u4"))},
        "contours": [
            {
                "name": contour.name,
                "s": code(contour.segments.astype("<f4")),
                "p": code(course.pose[chosen, i].astype("<f4")),
                "still": bool((course.pose[:, i] == course.pose[0, i]).all()),
            }
            for i, contour in enumerate(scene.contours)
        ],
    }
    page = resources.files("abut.app.commands").joinpath("simulate_plane.html").read_text(encoding="utf-8")
    return page.replace("{{facts}}", json.dumps(facts, separators=(",", ":"))).encode("utf-8")
