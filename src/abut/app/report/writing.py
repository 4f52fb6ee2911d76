"""Fill the page: facts in words, the table and the packed arrays as data, style and scripts inlined. Names are escaped where they enter."""

import html
from collections import Counter
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.app.check.findings import Checked, Contact
from abut.app.check.incidents import find_incidents
from abut.app.check.rows import in_order
from abut.app.output.files import write_file
from abut.app.report import selection
from abut.app.report.rows import find_landmarks, list_incidents, pack_rows
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput
from abut.mesh import Mesh
from abut.viewer.packing import Box, Packed, extent
from abut.viewer.pages import fill_page

SHARED = ("decode.js", "math.js", "camera.js", "stage.js")
"""Scripts that lie beside the page of `abut.show`."""
SCRIPTS = (
    *SHARED,
    "shaders.js",
    "draw.js",
    "timeline.js",
    "findings.js",
    "listing.js",
    "contacts.js",
    "incidents.js",
    "scene.js",
    "picking.js",
    "share.js",
    "controls.js",
    "page.js",
)
MOST_BAD_LISTED = 200
TIME_CODES = 65534
"""The first contact of a face in the animation is a whole number of this many parts of it; one more says that there is none."""


def write_report(path: Path, checked: Checked, *, title: str) -> None:
    """Write the page of an animation that was checked.

    A frame that `bad` names, or whose array has not the vertices of the others, or has a number that is not finite, is shown as
    missing. A step is named there as "name → name".
    Raises InvalidInput where names, frames and findings do not fit together or the folder does not exist.
    """
    _check(path, checked)
    if (np.diff(checked.findings.frame) < 0).any():
        checked = checked._replace(findings=in_order(checked.findings), incidents=None)
    state = "found" if len(checked.findings.frame) else "bad" if checked.bad else "clean"
    sizes = _look_at(checked)
    _write(path, checked, sizes, title, state, _verdict(checked), _figures(checked, sizes))


def write_view(path: Path, checked: Checked, *, title: str) -> None:
    """Write the page of an animation that was not checked: the same, without a word on contacts. Raises as `write_report` does."""
    _check(path, checked)
    sizes = _look_at(checked)
    _write(
        path,
        checked,
        sizes,
        title,
        "view",
        _count(len(checked.frames), "frame"),
        _as_terms(_list_sizes(checked, sizes)),
    )


def _write(path: Path, checked: Checked, sizes: "_Sizes", title: str, state: str, verdict: str, figures: str) -> None:
    facts, packed = _facts(checked, sizes)
    own, shared = resources.files("abut.app.report"), resources.files("abut.viewer").joinpath("page")

    def read(name: str) -> str:
        return (shared if name in SHARED else own).joinpath(name).read_text(encoding="utf-8")

    page = fill_page(
        read("page.html"),
        title,
        read("page.css"),
        "\n".join(read(name) for name in SCRIPTS),
        facts,
        packed,
        verdict=verdict,
        state=state,
        figures=figures,
        bad=_bad(checked, "shown" if state == "view" else "checked"),
    )
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


def _facts(checked: Checked, sizes: "_Sizes") -> tuple[dict[str, Any], str]:
    """The data of the page: a dictionary for JSON, and the packed arrays."""
    findings, frame_count = checked.findings, len(checked.frames)
    bad, skipped = _unchecked(checked)
    usable = sizes.usable.copy()
    usable[bad] = False
    between, cuts = selection.count_by_frame(findings, frame_count)
    times = findings.time[np.isfinite(findings.time)]
    span = [float(times.min()), float(times.max())] if len(times) else [0.0, float(max(frame_count - 1, 1))]
    facts: dict[str, Any] = {
        "names": checked.names,
        "skipped": skipped,
        "missing": np.flatnonzero(~usable).tolist(),
        "other": [i for i in sizes.other if i not in bad],
        "between": between.tolist(),
        "cuts": cuts.tolist(),
        "kept": [],
        "contactSpan": span,
        "bodies": list(checked.labels.names) if checked.labels else [],
        "hasView": bool(usable.any()) and len(checked.faces) > 0,
    }
    packed = Packed()
    faces = checked.faces if len(checked.faces) else np.empty((0, 3), np.int64)
    box = extent([findings.point]) if len(findings.kind) else Box(np.zeros(3), np.zeros(3))
    if facts["hasView"]:
        most = int(np.clip(selection.MOST_POSITIONS // sizes.vertex_count, 2, selection.MOST_FRAMES))
        worst = selection.worst_rows(findings)
        kept = selection.choose_frames(usable, findings.frame[worst], between + cuts, most)
        shown: list[Floats] = [checked.frames[frame] for frame in kept.tolist()]
        mesh, box = Mesh(shown[0], faces), extent(shown)
        marks = selection.mark(mesh, findings, kept, usable)
        _pack_view(packed, checked, mesh, shown, box, marks, span)
        facts |= {
            "kept": kept.tolist(),
            "span": box.span.tolist(),
            "precision": box.precision,
            "faceStart": marks.face_start,
            "markerStart": marks.row_start,
            "markersLeftOut": int((between + cuts)[kept].sum()) - len(marks.row),
        }
    else:
        # Incidents ask for the connectivity alone; without faces there are no rows.
        mesh = Mesh(np.eye(3), [[0, 1, 2]]) if not len(faces) else Mesh(np.zeros((int(faces.max()) + 1, 3)), faces)
    incidents = checked.incidents or find_incidents(mesh, findings, checked.labels)
    pack_rows(packed, findings, incidents, box, _bodies(checked))
    facts |= {"incidents": list_incidents(incidents), "sections": packed.sections}
    return facts, packed.text()


def _bodies(checked: Checked) -> dict[str, Integers]:
    """Where there are several: those of a and b of each row, and the numbers within them."""
    if checked.labels is None:
        return {}
    (body_a, body_b), (own_a, own_b) = checked.labels.of(checked.findings), checked.labels.within(checked.findings)
    return {"rowBodyA": body_a, "rowBodyB": body_b, "rowOwnA": own_a, "rowOwnB": own_b}


def _unchecked(checked: Checked) -> tuple[list[int], list[int]]:
    """Frames, and steps by the frame they begin at, that `bad` names: a step as the names of its two frames with an arrow between."""
    named = {name for name, _ in checked.bad}
    names = checked.names
    frames = [i for i, name in enumerate(names) if name in named]
    return frames, [i for i in range(len(names) - 1) if f"{names[i]} → {names[i + 1]}" in named]


class _Sizes(NamedTuple):
    """What one look at each frame tells."""

    vertex_count: int
    """what most frames have, of those with all the vertices of the faces: a bad frame may have any number"""
    usable: NDArray[np.bool_]
    """(k,) whether a frame can be drawn"""
    other: list[int]
    """frames without vertices: of another connectivity, or bad"""


def _look_at(checked: Checked) -> _Sizes:
    least = int(checked.faces.max()) + 1 if len(checked.faces) else 1
    counts = [(len(frame), bool(np.isfinite(frame).all())) for frame in checked.frames]
    often = Counter(count for count, _ in counts if count >= least)
    vertex_count = max(often, key=lambda count: often[count], default=least)
    usable = np.array([finite and count == vertex_count for count, finite in counts], np.bool_)
    return _Sizes(vertex_count, usable, [i for i, (count, _) in enumerate(counts) if not count])


def _pack_view(
    packed: Packed,
    checked: Checked,
    mesh: Mesh,
    shown: list[Floats],
    box: Box,
    marks: selection.Marks,
    span: list[float],
) -> None:
    packed.add("positions", np.stack([box.quantise(vertices).T for vertices in shown]))
    packed.add("faces", mesh.faces.astype(np.uint32))
    packed.add("hitFaces", marks.face)
    packed.add("hitCodes", marks.code)
    part = np.clip(
        (np.where(np.isfinite(marks.first), marks.first, span[0]) - span[0]) / ((span[1] - span[0]) or 1.0), 0, 1
    )
    code = np.where(np.isfinite(marks.first), np.rint(part * TIME_CODES), TIME_CODES + 1)
    packed.add("first", code.astype(np.uint16))
    packed.add("markRow", marks.row.astype(np.uint32))
    if checked.labels is not None:
        packed.add("faceBody", checked.labels.face.astype(np.uint16))


# --- figures in words


def _count(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def _verdict(checked: Checked) -> str:
    frames, contacts = len(checked.frames), len(checked.findings.frame)
    if contacts:
        touched = len(np.unique(checked.findings.frame))
        found = _as_link(_count(contacts, "contact"), "list=contacts&kind=&bodies=&incident=&only=0")
        return f"<strong>{found}</strong> in {touched:,} of {_count(frames, 'frame')}"
    left = f", but {_count_bad(checked)} could not be checked" if checked.bad else ""
    return f"<strong>{'No contact found' if checked.bad else 'Clean'}</strong>: no contact in {_count(frames, 'frame')}{left}"


def _count_bad(checked: Checked) -> str:
    steps = len(_unchecked(checked)[1])
    frames = len(checked.bad) - steps
    return " and ".join(_count(count, noun) for count, noun in ((frames, "frame"), (steps, "step")) if count)


def _list_sizes(checked: Checked, sizes: _Sizes) -> list[tuple[str, str, str]]:
    return [
        ("Frames", f"{len(checked.frames):,}", ""),
        ("Vertices", f"{sizes.vertex_count if len(checked.faces) else 0:,}", ""),
        ("Faces", f"{len(checked.faces):,}", ""),
        *([("Bodies", f"{len(checked.labels.names):,}", "show=bodies")] if checked.labels else []),
    ]


def _as_terms(figures: list[tuple[str, str, str]]) -> str:
    """Name, value, and the part of the address that leads to what is meant."""
    return "".join(f"<div><dt>{name}</dt><dd>{_as_link(value, target)}</dd></div>" for name, value, target in figures)


def _as_link(value: str, target: str) -> str:
    return f'<a href="#{target}">{html.escape(value)}</a>' if target else html.escape(value)


def _figures(checked: Checked, sizes: _Sizes) -> str:
    findings = checked.findings
    kinds = np.bincount(findings.kind, minlength=5)
    figures = _list_sizes(checked, sizes)
    for name, kind in (
        ("Vertex–face", Contact.VERTEX_FACE),
        ("Edge–edge", Contact.EDGE_EDGE),
        ("Faces cut", Contact.FACE_FACE),
        ("Pieces inside", Contact.CONTAINED),
    ):
        if kinds[kind] or kind != Contact.CONTAINED:
            figures.append((name, f"{kinds[kind]:,}", f"list=contacts&kind={int(kind)}" if kinds[kind] else ""))
    if len(findings.frame):
        marks = find_landmarks(findings)
        for name, values, row, form in (
            ("First contact", findings.time, marks.first, ".3f"),
            ("Deepest impact", findings.depth, marks.deepest, ".3g"),
            ("Longest cut", findings.depth, marks.longest, ".3g"),
        ):
            figures.append((name, "–", "") if row is None else (name, format(float(values[row]), form), f"row={row}"))
    figures.append(("Checked in", f"{checked.seconds:,.1f} s", ""))
    return _as_terms(figures)


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
        "<div><p>Nothing is known of them, nor of the steps that begin or end at such a frame.</p>"
        f"<ul>{listed}{more}</ul></div></details>"
    )
