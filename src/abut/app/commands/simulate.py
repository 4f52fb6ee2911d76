"""`abut simulate`: runs a scene of bodies, writes the motion to an archive, and a page that plays it without a network.

The archive holds `time` (k,), `handle` (n,), `pose` (k,n,4,4) and, for linkage i, `points_i` (k,m,3) and its `bones_i` or `faces_i`.
"""

import io
import json
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

from abut.app.commands import simulate_plane
from abut.app.commands.encoding import code
from abut.app.output.files import prepare, write_file
from abut.app.output.progress import progress_shown
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput
from abut.scenes.contours_in_motion import PLANE_SCENES
from abut.scenes.worlds import WORLDS, WorldScene

MOST_FRAMES_SHOWN = 240
"""Of a long motion the page shows every second, third, … step."""


class Motion(NamedTuple):
    """What was recorded: times (k,), poses (k,n,4,4) of the scene's bodies, and points (k,m,3) of each linkage."""

    time: Floats
    pose: Floats
    points: tuple[Floats, ...]


def run(
    name: str,
    console: Console,
    errors: Console,
    *,
    steps: int | None = None,
    size: int | None = None,
    out: Path | None = None,
    html: Path | None = None,
) -> None:
    """Run a scene by name, and write the motion and the page where a file is named."""
    if name in PLANE_SCENES:
        simulate_plane.run(name, console, errors, steps=steps, size=size, out=out, html=html)
        return
    if name not in WORLDS:
        raise InvalidInput("scene", f"there is no scene {name!r}; there are {', '.join([*WORLDS, *PLANE_SCENES])}")
    prepare((), {"--out": out, "--html": html})  # before the work, not after it
    make: Any = WORLDS[name]
    scene: WorldScene = make() if size is None else make(size)
    with progress_shown("simulating", errors) as move:
        motion = record(scene, steps or scene.step_count, move)
    contacts = scene.world.contacts()
    depth = float(contacts.depth.max(initial=0.0))
    console.print(
        f"{len(scene.world):,} bodies, {len(motion.time) - 1:,} steps of {scene.dt:.4g} s; at the end {len(contacts.pairs):,} pairs touch at "
        f"{len(contacts):,} points, at most {depth:.2g} deep; {int(scene.world.asleep().sum()):,} bodies sleep",
        highlight=False,
        soft_wrap=True,
    )
    for path, content in ((out, lambda: pack(scene, motion)), (html, lambda: draw(scene, motion, name))):
        if path is not None:
            write_file(path, content())
            console.print(f"Written: {path}", highlight=False, soft_wrap=True)


def record(scene: WorldScene, steps: int, move: Any = None) -> Motion:
    """Let the scene run, and keep where everything was after each step."""
    poses, points = [scene.world.poses(scene.bodies)], [[link.position for link, _ in scene.linkages]]
    for k in range(steps):
        scene.world.step(scene.dt)
        poses.append(scene.world.poses(scene.bodies))
        points.append([link.position for link, _ in scene.linkages])
        if move is not None:
            move(k + 1, steps, "")
    tracks = tuple(np.stack([row[i] for row in points]) for i in range(len(scene.linkages)))
    return Motion(scene.dt * np.arange(steps + 1, dtype=np.float64), np.stack(poses), tracks)


def pack(scene: WorldScene, motion: Motion) -> bytes:
    """The archive."""
    columns: dict[str, Any] = {"time": motion.time, "handle": scene.bodies, "pose": motion.pose}
    for i, (track, (linkage, mesh)) in enumerate(zip(motion.points, scene.linkages, strict=True)):
        columns[f"points_{i}"] = track
        columns[f"bones_{i}" if mesh is None else f"faces_{i}"] = linkage.bones if mesh is None else mesh.faces
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **columns)
    return buffer.getvalue()


def draw(scene: WorldScene, motion: Motion, title: str) -> bytes:
    """The page: each body's mesh and its poses, each linkage's points, as base64 of float32 and uint32."""
    every = -(-len(motion.time) // MOST_FRAMES_SHOWN)
    chosen = slice(None, None, every)
    bodies: list[dict[str, Any]] = []
    for i, handle in enumerate(scene.bodies.tolist()):
        vertices, faces = _mesh_of(scene, handle)
        still = bool((motion.pose[:, i] == motion.pose[0, i]).all())
        track = motion.pose[:1, i, :3] if still else motion.pose[chosen, i, :3]
        bodies.append(
            {
                "v": code(vertices.astype("<f4")),
                "f": code(faces.astype("<u4")),
                "p": code(track.astype("<f4")),
                "still": still,
            }
        )
    links = [
        {
            "x": code(track[chosen].astype("<f4")),
            "n": track.shape[1],
            "f": code((linkage.bones if mesh is None else mesh.faces).astype("<u4")),
            "lines": mesh is None,
            "r": code(linkage.radius.astype("<f4")),
        }
        for track, (linkage, mesh) in zip(motion.points, scene.linkages, strict=True)
    ]
    facts = {
        "title": title,
        "frames": len(motion.time[chosen]),
        "seconds": scene.dt * every,
        "bodies": bodies,
        "links": links,
    }
    page = resources.files("abut.app.commands").joinpath("simulate.html").read_text(encoding="utf-8")
    return page.replace("{{facts}}", json.dumps(facts, separators=(",", ":"))).encode("utf-8")


def _mesh_of(scene: WorldScene, handle: int) -> tuple[Floats, Integers]:
    """All parts of a body as one mesh in its frame."""
    vertices: list[Floats] = []
    faces: list[Integers] = []
    for shape, pose in scene.world.shape_of(handle):
        mesh = shape.surface()
        faces.append(mesh.faces + sum(map(len, vertices)))
        vertices.append(mesh.vertices @ pose[:3, :3].T + pose[:3, 3])
    return np.concatenate(vertices), np.concatenate(faces)
