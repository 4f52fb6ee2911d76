"""Fill the page: facts in words, the table and the packed arrays as data, style and scripts inlined. Names are escaped where they enter."""

import html
import json
import re
from collections import Counter
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from abut import __version__
from abut.app.check.findings import Checked, Contact, Rows
from abut.app.check.rows import select
from abut.app.output.files import write_file
from abut.app.report import selection
from abut.core.arrays import Floats
from abut.core.errors import InvalidInput
from abut.mesh import Mesh
from abut.viewer.packing import Box, Packed, extent

SHARED = ("decode.js", "math.js", "camera.js", "stage.js")
"""Scripts that lie beside the page of `abut.show`."""
SCRIPTS = (
    *SHARED,
    "shaders.js",
    "draw.js",
    "timeline.js",
    "table.js",
    "scene.js",
    "page.js",
)
MOST_BAD_LISTED = 200
TIME_CODES = 65534
"""The first contact of a face in the animation is a whole number of this many parts of it; one more says that there is none."""
SLOT = re.compile(r"\{\{(\w+)\}\}")


def write_report(path: Path, checked: Checked, *, title: str) -> None:
    """Write the page of an animation that was checked.

    A frame that `bad` names, or whose array has not the vertices of the others, or has a number that is not finite, is shown as
    missing. A step is named there as "name → name".
    Raises InvalidInput where names, frames and findings do not fit together or the folder does not exist.
    """
    _check(path, checked)
    state = "found" if len(checked.findings.frame) else "bad" if checked.bad else "clean"
    _write(path, checked, title, state, _verdict(checked), _figures(checked))


def write_view(path: Path, checked: Checked, *, title: str) -> None:
    """Write the page of an animation that was not checked: the same, without a word on contacts. Raises as `write_report` does."""
    _check(path, checked)
    _write(path, checked, title, "view", _count(len(checked.frames), "frame"), _as_terms(_sizes(checked)))


def _write(path: Path, checked: Checked, title: str, state: str, verdict: str, figures: str) -> None:
    facts, packed = _facts(checked)
    own, shared = resources.files("abut.app.report"), resources.files("abut.viewer").joinpath("page")

    def read(name: str) -> str:
        return (shared if name in SHARED else own).joinpath(name).read_text(encoding="utf-8")

    slots = {
        "title": html.escape(title),
        "version": html.escape(__version__),
        "verdict": verdict,
        "state": state,
        "figures": figures,
        "bad": _bad(checked, "shown" if state == "view" else "checked"),
        "style": read("page.css"),
        "script": "\n".join(read(name) for name in SCRIPTS),
        "facts": json.dumps(facts, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
        "packed": packed,
    }
    page = SLOT.sub(lambda match: slots[match[1]], read("page.html"))
    write_file(Path(path), page.encode("utf-8", errors="replace"))


def _check(path: Path, checked: Checked) -> None:
    if len(checked.names) != len(checked.frames):
        raise InvalidInput("names", f"has {len(checked.names)} entries for {len(checked.frames)} frames")
    frame = checked.findings.frame
    outside = (frame < 0) | (frame >= len(checked.frames))
    if outside.any():
        row = int(np.argmax(outside))
        raise InvalidInput("findings.frame", f"{frame[row]} is not a frame: there are {len(checked.frames)}", row)
    unknown = ~np.isin(checked.findings.kind, list(Contact))
    if unknown.any():
        row = int(np.argmax(unknown))
        raise InvalidInput("findings.kind", f"{checked.findings.kind[row]} is no kind of contact", row)
    if not Path(path).absolute().parent.is_dir():
        raise InvalidInput(str(path), "its folder does not exist")


# --- what the scripts read


def _facts(checked: Checked) -> tuple[dict[str, Any], str]:
    """The data of the page: a dictionary for JSON, and the packed arrays."""
    findings, frame_count = checked.findings, len(checked.frames)
    vertex_count = _vertex_count(checked)
    bad, skipped = _unchecked(checked)
    usable = np.array([selection.is_usable(frame, vertex_count) for frame in checked.frames], dtype=np.bool_)
    usable[bad] = False
    between, cuts = selection.count_by_frame(findings, frame_count)
    rows = selection.worst_rows(findings)
    facts: dict[str, Any] = {
        "names": checked.names,
        "skipped": skipped,
        "missing": np.flatnonzero(~usable).tolist(),
        "between": between.tolist(),
        "cuts": cuts.tolist(),
        "findingCount": len(findings.frame),
        "kept": [],
        "rows": [],
        "bodies": list(checked.labels.names) if checked.labels else [],
    }
    if not usable.any() or not len(checked.faces):
        return facts, ""
    most = int(np.clip(selection.MOST_POSITIONS // vertex_count, 2, selection.MOST_FRAMES))
    kept = selection.choose_frames(usable, findings.frame[rows], between + cuts, most)
    mesh = Mesh(checked.frames[int(kept[0])], checked.faces)
    marks = selection.mark(mesh, findings, kept, frame_count)
    shown: list[Floats] = [checked.frames[frame] for frame in kept.tolist()]
    box = extent(shown)
    packed = _pack(checked, mesh, shown, box, marks)
    facts |= {
        "kept": kept.tolist(),
        "span": box.span.tolist(),
        "precision": box.precision,
        "faceStart": marks.face_start,
        "markerStart": marks.row_start,
        "markersLeftOut": int((between + cuts)[kept].sum()) - len(marks.row),
        "rows": [_row(mesh, findings, box, row) | _row_bodies(checked, row) for row in rows.tolist()],
        "sections": packed.sections,
    }
    return facts, packed.text()


def _unchecked(checked: Checked) -> tuple[list[int], list[int]]:
    """Frames, and steps by the frame they begin at, that `bad` names: a step as the names of its two frames with an arrow between."""
    named = {name for name, _ in checked.bad}
    names = checked.names
    frames = [i for i, name in enumerate(names) if name in named]
    return frames, [i for i in range(len(names) - 1) if f"{names[i]} → {names[i + 1]}" in named]


def _vertex_count(checked: Checked) -> int:
    """What most frames have, of those with all the vertices of the faces: a bad frame may have any number."""
    least = int(checked.faces.max()) + 1 if len(checked.faces) else 1
    counts = Counter(len(frame) for frame in checked.frames if len(frame) >= least)
    return max(counts, key=lambda count: counts[count], default=least)


def _pack(checked: Checked, mesh: Mesh, shown: list[Floats], box: Box, marks: selection.Marks) -> Packed:
    findings, packed = checked.findings, Packed()
    packed.add("positions", np.stack([box.quantise(vertices).T for vertices in shown]))
    packed.add("faces", mesh.faces.astype(np.uint32))
    packed.add("hitFaces", marks.face)
    packed.add("hitCodes", marks.code)
    length = max(len(checked.frames) - 1, 1)
    part = np.clip(np.where(np.isfinite(marks.first), marks.first, 0.0) / length, 0.0, 1.0)
    code = np.where(np.isfinite(marks.first), np.rint(part * TIME_CODES), TIME_CODES + 1)
    packed.add("first", code.astype(np.uint16))
    row = marks.row
    packed.add("points", box.quantise(findings.point[row]))
    packed.add("normals", (np.rint(np.clip(np.nan_to_num(findings.normal[row]), -1, 1) * 127) + 127).astype(np.uint8))
    within = np.clip(np.nan_to_num(findings.time[row] - findings.frame[row]), 0.0, 1.0)
    is_cut = findings.kind[row] >= Contact.FACE_FACE
    packed.add("codes", np.where(is_cut, selection.CUT, 1 + np.rint(within * 253)).astype(np.uint8))
    return packed


def _row(mesh: Mesh, findings: Rows, box: Box, row: int) -> dict[str, Any]:
    """One line of the table; its point in steps of the box, all else as it was found."""
    kind, a, b = int(findings.kind[row]), int(findings.a[row]), int(findings.b[row])
    corners_a, corners_b = selection.corners_of(mesh, kind, a, b)
    return {
        "frame": int(findings.frame[row]),
        "kind": kind,
        "a": a,
        "b": b,
        "time": _number(findings.time[row]),
        "depth": _number(findings.depth[row]),
        "point": box.quantise(findings.point[row]).tolist(),
        "normal": np.nan_to_num(findings.normal[row]).round(4).tolist(),
        "cornersA": corners_a,
        "cornersB": corners_b,
    }


def _row_bodies(checked: Checked, row: int) -> dict[str, int]:
    """Where there are several bodies: those of a line by number, and the numbers of its features within them."""
    if checked.labels is None:
        return {}
    one = select(checked.findings, slice(row, row + 1))
    (body_a, body_b), (own_a, own_b) = checked.labels.of(one), checked.labels.within(one)
    return {"bodyA": int(body_a[0]), "bodyB": int(body_b[0]), "ownA": int(own_a[0]), "ownB": int(own_b[0])}


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


# --- figures in words


def _count(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def _verdict(checked: Checked) -> str:
    frames, contacts = len(checked.frames), len(checked.findings.frame)
    if contacts:
        touched = len(np.unique(checked.findings.frame))
        return f"<strong>{_count(contacts, 'contact')}</strong> in {touched:,} of {_count(frames, 'frame')}"
    left = f", but {_count_bad(checked)} could not be checked" if checked.bad else ""
    return f"<strong>{'No contact found' if checked.bad else 'Clean'}</strong>: no contact in {_count(frames, 'frame')}{left}"


def _count_bad(checked: Checked) -> str:
    steps = len(_unchecked(checked)[1])
    frames = len(checked.bad) - steps
    return " and ".join(_count(count, noun) for count, noun in ((frames, "frame"), (steps, "step")) if count)


def _sizes(checked: Checked) -> list[tuple[str, str]]:
    return [
        ("Frames", f"{len(checked.frames):,}"),
        ("Vertices", f"{_vertex_count(checked) if len(checked.faces) else 0:,}"),
        ("Faces", f"{len(checked.faces):,}"),
        *([("Bodies", f"{len(checked.labels.names):,}")] if checked.labels else []),
    ]


def _as_terms(figures: list[tuple[str, str]]) -> str:
    return "".join(f"<div><dt>{name}</dt><dd>{html.escape(value)}</dd></div>" for name, value in figures)


def _figures(checked: Checked) -> str:
    findings = checked.findings
    kinds = np.bincount(findings.kind, minlength=5)
    figures = [
        *_sizes(checked),
        ("Vertex–face", f"{kinds[Contact.VERTEX_FACE]:,}"),
        ("Edge–edge", f"{kinds[Contact.EDGE_EDGE]:,}"),
        ("Faces cut", f"{kinds[Contact.FACE_FACE]:,}"),
    ]
    if kinds[Contact.CONTAINED]:
        figures.append(("Pieces inside", f"{kinds[Contact.CONTAINED]:,}"))
    if len(findings.frame):
        impacts, cuts = findings.kind < Contact.FACE_FACE, findings.kind == Contact.FACE_FACE
        figures.append(("First contact", f"{np.nanmin(findings.time):.3f}"))
        figures.append(("Deepest impact", _most(findings.depth[impacts])))
        figures.append(("Longest cut", _most(findings.depth[cuts])))
    figures.append(("Checked in", f"{checked.seconds:,.1f} s"))
    return _as_terms(figures)


def _most(depth: Floats) -> str:
    finite = depth[np.isfinite(depth)]
    return f"{finite.max():.3g}" if len(finite) else "–"


def _bad(checked: Checked, done: str) -> str:
    bad = checked.bad
    if not bad:
        return ""
    listed = "".join(
        f"<li><b>{html.escape(name)}</b> {html.escape(reason)}</li>" for name, reason in bad[:MOST_BAD_LISTED]
    )
    more = f"<li>and {len(bad) - MOST_BAD_LISTED:,} more</li>" if len(bad) > MOST_BAD_LISTED else ""
    return (
        f'<details id="bad"><summary>{_count_bad(checked)} could not be {done}</summary>'
        f"<p>Nothing is known of them, nor of the steps that begin or end at such a frame.</p><ul>{listed}{more}</ul></details>"
    )
