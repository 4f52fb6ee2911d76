"""The page of a scene: one HTML file that opens without a network, with everything in it.

`facts` is JSON: title, times, groups, and for each thing where its rows begin in the packed arrays. Those are (`abut.viewer.packing`):

| section | rows | of |
| --- | --- | --- |
| `vertices` | vertices of all forms, one form after another | forms that do not change; equal ones are sent once |
| `corners` | triangles of all forms, each counting its own vertices from 0 | |
| `places`, `turns` | frames; three and four numbers for each thing that moves | rigid bodies: a place in the thing's own box, a quaternion |
| `moving i` | frames; three numbers a vertex | things whose form changes, and lines |
| `points i`, `normals i` | points of all frames | points |

Positions are whole numbers of 1/65535 of the extent of what they belong to, so that a small thing far from the others is as sharp as they are;
a quaternion has numbers of 1/32767. The page says how much that is. Between frames it goes straight, and turns evenly.
"""

import html
import importlib
import json
import re
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.viewer.packing import STEPS, Box, Packed
from abut.viewer.scene import Faces, Lines, Points, Scene, Thing

SCRIPTS = (
    "decode.js",
    "math.js",
    "camera.js",
    "stage.js",
    "solids.js",
    "forms.js",
    "moments.js",
    "player.js",
)
MOST_FRAMES = 900
MOST_NUMBERS = 8_000_000
"""Numbers that change from frame to frame: 16 MB in the browser. Of longer films every second, third, … frame is kept."""
TURN_STEPS = 32767
SLOT = re.compile(r"\{\{(\w+)\}\}")


def make_page(scene: Scene) -> str:
    """The text of the page."""
    facts, packed = _pack(scene)
    folder = resources.files("abut.viewer").joinpath("page")

    def read(name: str) -> str:
        return folder.joinpath(name).read_text(encoding="utf-8")

    facts_shown = "".join(
        f"<div><dt>{html.escape(name)}</dt><dd>{html.escape(value)}</dd></div>" for name, value in scene.facts
    )
    return fill_page(
        read("player.html"),
        scene.title,
        read("player.css"),
        "\n".join(read(name) for name in SCRIPTS),
        facts,
        packed.text(),
        facts_shown=facts_shown,
    )


def fill_page(
    template: str, title: str, style: str, script: str, facts: dict[str, Any], packed: str, **slots: str
) -> str:
    """The text of a page: a template with its head, its style and scripts, and its data. Slots hold text of HTML; the title is escaped here."""
    head = resources.files("abut.viewer").joinpath("page", "head.html").read_text(encoding="utf-8")
    slots |= {
        "title": html.escape(title),
        "version": html.escape(importlib.import_module("abut").__version__),
        "style": style,
        "script": script,
        "facts": json.dumps(facts, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
        "packed": packed,
    }
    return SLOT.sub(lambda match: slots[match[1]], template.replace("{{head}}", head))


def frames_kept(scene: Scene) -> NDArray[np.int64]:
    """Which frames the page holds: all where they are not too many, else evenly spread ones."""
    numbers = sum(_numbers_of(thing) for thing in scene.things)
    most = int(np.clip(MOST_NUMBERS // max(numbers, 1), 2, MOST_FRAMES))
    every = -(-len(scene.times) // most)
    kept = np.arange(0, len(scene.times), every, dtype=np.int64)
    return kept if kept[-1] == len(scene.times) - 1 else np.append(kept, len(scene.times) - 1)


def _numbers_of(thing: Thing) -> int:
    """That change from frame to frame."""
    if isinstance(thing, Points):
        return 3 * max(map(len, thing.points), default=0) if len(thing.points) > 1 else 0
    if isinstance(thing, Faces):
        return 7 * (len(thing.poses) > 1) + 3 * thing.vertices.shape[1] * (len(thing.vertices) > 1)
    return 3 * thing.points.shape[1] * (len(thing.points) > 1) if isinstance(thing, Lines) else 0


class _Forms:
    """The forms of things that do not change theirs, each sent once."""

    def __init__(self) -> None:
        self.listed: list[dict[str, Any]] = []
        self.vertices: list[NDArray[np.uint16]] = []
        self.faces: list[NDArray[np.uint32]] = []
        self.precision = 0.0
        self._known: dict[tuple[bytes, bytes], int] = {}

    def number(self, vertices: Floats, faces: Integers) -> int:
        """Of a form, which may be new."""
        key = (vertices.tobytes(), faces.tobytes())
        if key not in self._known:
            self._known[key] = len(self.listed)
            box = _box_of(vertices)
            self.listed.append(
                {"vertices": len(vertices), "faces": len(faces), "low": box.low.tolist(), "span": box.span.tolist()}
            )
            self.vertices.append(box.quantise(vertices))
            self.faces.append(faces.astype(np.uint32))
            self.precision = max(self.precision, box.precision)
        return self._known[key]


def _pack(scene: Scene) -> tuple[dict[str, Any], Packed]:
    kept = frames_kept(scene)
    packed, forms, groups = Packed(), _Forms(), dict[str, dict[str, Any]]()
    things: list[dict[str, Any]] = []
    places: list[NDArray[np.uint16]] = []
    turns: list[NDArray[np.uint16]] = []
    precision = 0.0
    for i, thing in enumerate(scene.things):
        groups.setdefault(thing.group, {"name": thing.group, "colour": thing.colour, "hidden": thing.hidden})
        row: dict[str, Any] = {
            "name": thing.name,
            "note": thing.note,
            "group": list(groups).index(thing.group),
            "colour": thing.colour,
            "opacity": thing.opacity,
            "spans": _spans(thing.shown, kept),
        }
        if isinstance(thing, Faces):
            row["kind"] = "faces"
            if thing.face_colours is not None:
                row["painted"] = True
                packed.add(f"colours {i}", thing.face_colours)
            if len(thing.vertices) > 1:
                box = _add_moving(packed, f"moving {i}", thing.vertices[kept], row)
                packed.add(f"corners {i}", thing.faces.astype(np.uint32))
                row["count"] = thing.vertices.shape[1]
                precision = max(precision, box.precision)
            else:
                row["form"] = forms.number(thing.vertices[0], thing.faces)
            spots, quaternions = thing.poses[:, :3, 3], _quaternions(thing.poses[:, :3, :3])
            if len(thing.poses) == 1 or (thing.poses == thing.poses[0]).all():
                row["still"] = [*spots[0].tolist(), *quaternions[0].tolist()]
            else:
                box = _box_of(spots)
                row |= {"track": len(places), "low": box.low.tolist(), "span": box.span.tolist()}
                places.append(box.quantise(spots[kept]))
                turns.append((np.rint(quaternions[kept] * TURN_STEPS) + TURN_STEPS).astype(np.uint16))
                precision = max(precision, box.precision)
        elif isinstance(thing, Lines):
            row |= {"kind": "lines", "count": thing.points.shape[1], "radius": thing.radius.tolist()}
            moving = thing.points[kept] if len(thing.points) > 1 else thing.points
            precision = max(precision, _add_moving(packed, f"moving {i}", moving, row).precision)
            packed.add(f"corners {i}", thing.pairs.astype(np.uint32))
        elif isinstance(thing, Points):
            chosen = [thing.points[k] for k in kept] if len(thing.points) > 1 else thing.points
            rows = np.concatenate(chosen)
            box = _box_of(rows)
            row |= {
                "kind": "points",
                "low": box.low.tolist(),
                "span": box.span.tolist(),
                "starts": [0, *np.cumsum([len(each) for each in chosen]).tolist()],
                "normals": thing.normals is not None,
            }
            packed.add(f"points {i}", box.quantise(rows))
            precision = max(precision, box.precision)
            if thing.normals is not None:
                normals = np.concatenate([thing.normals[k] for k in kept] if len(thing.normals) > 1 else thing.normals)
                packed.add(f"normals {i}", (np.rint(np.clip(normals, -1, 1) * 127) + 127).astype(np.uint8))
        things.append(row)
    if forms.listed:
        packed.add("vertices", np.concatenate(forms.vertices))
        packed.add("corners", np.concatenate(forms.faces))
    if places:
        packed.add("places", np.concatenate(places, axis=1))
        packed.add("turns", np.concatenate(turns, axis=1))
    facts = {
        "times": scene.times[kept].tolist(),
        "frameCount": len(scene.times),
        "groups": list(groups.values()),
        "forms": forms.listed,
        "things": things,
        "marks": [mark._asdict() for mark in scene.marks],
        "up": scene.up,
        "target": None if scene.target is None else scene.target.tolist(),
        "view": None if scene.view is None else scene.view.tolist(),
        "precision": max(precision, forms.precision),
        "steps": STEPS,
        "turnSteps": TURN_STEPS,
        "sections": packed.sections,
    }
    return facts, packed


def _add_moving(packed: Packed, name: str, positions: Floats, row: dict[str, Any]) -> Box:
    """Positions (k,n,3) of which each frame is a row: x of all, then y, then z, so that neighbours differ little."""
    box = _box_of(positions.reshape(-1, 3))
    row |= {"low": box.low.tolist(), "span": box.span.tolist(), "frames": len(positions)}
    packed.add(name, box.quantise(positions).transpose(0, 2, 1))
    return box


def _box_of(points: Floats) -> Box:
    if not len(points):
        return Box(np.zeros(3), np.zeros(3))
    return Box(points.min(axis=0), points.max(axis=0))


def _spans(shown: NDArray[np.bool_] | None, kept: NDArray[np.int64]) -> list[list[int]] | None:
    """First and one past the last frame of each stretch in which a thing is there."""
    if shown is None or (len(shown) == 1 and bool(shown[0])):
        return None
    there = shown[kept] if len(shown) > 1 else np.repeat(shown, len(kept))
    edges = np.flatnonzero(np.diff(np.concatenate(([False], there, [False])).astype(np.int8)))
    return edges.reshape(-1, 2).tolist()


def _quaternions(rotations: Floats) -> Floats:
    """(k,4) w, x, y, z, each on the same side as the one before, so that a steady turn is a smooth curve."""
    m = rotations
    trace = m[:, 0, 0] + m[:, 1, 1] + m[:, 2, 2]
    # Four ways to the same quaternion, each exact where its own component is large (Shepperd 1978).
    ways = np.stack(
        (
            np.stack((1 + trace, m[:, 2, 1] - m[:, 1, 2], m[:, 0, 2] - m[:, 2, 0], m[:, 1, 0] - m[:, 0, 1]), axis=1),
            np.stack(
                (
                    m[:, 2, 1] - m[:, 1, 2],
                    1 + 2 * m[:, 0, 0] - trace,
                    m[:, 0, 1] + m[:, 1, 0],
                    m[:, 0, 2] + m[:, 2, 0],
                ),
                axis=1,
            ),
            np.stack(
                (
                    m[:, 0, 2] - m[:, 2, 0],
                    m[:, 0, 1] + m[:, 1, 0],
                    1 + 2 * m[:, 1, 1] - trace,
                    m[:, 1, 2] + m[:, 2, 1],
                ),
                axis=1,
            ),
            np.stack(
                (
                    m[:, 1, 0] - m[:, 0, 1],
                    m[:, 0, 2] + m[:, 2, 0],
                    m[:, 1, 2] + m[:, 2, 1],
                    1 + 2 * m[:, 2, 2] - trace,
                ),
                axis=1,
            ),
        ),
        axis=1,
    )
    best = np.argmax(np.stack([ways[:, i, i] for i in range(4)], axis=1), axis=1)
    chosen = ways[np.arange(len(m)), best]
    chosen /= np.linalg.norm(chosen, axis=1, keepdims=True)
    flips = np.sign(np.einsum("ij,ij->i", chosen[1:], chosen[:-1]))
    chosen[1:] *= np.cumprod(np.where(flips < 0, -1.0, 1.0))[:, np.newaxis]
    return chosen
