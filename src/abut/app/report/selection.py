"""What of an animation the page holds: which frames, which faces are coloured, which contacts are marked, which pairs are listed.

A page has to open on a telephone, so what is drawn has limits, named here. All rows are listed. What a limit leaves out is counted, and the
page says so; the counts themselves are always of all findings.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.app.check.findings import Contact, Rows
from abut.core.arrays import Floats, Integers
from abut.mesh import Mesh
from abut.mesh.topology import Incidence

MOST_FRAMES = 600
MOST_POSITIONS = 4_000_000
"""Vertices times frames: 24 MB in the browser, in the file 7 MB where the motion is smooth and 32 MB where it is noise."""
MOST_WORST = 500
"""Pairs, deepest first, whose frames are kept before others."""
MOST_MARKERS = 2_000
"""Marked points of one frame, the deepest first."""
NO_MARK, CUT = 255, 0
"""Codes of a face in a step: not hit, cut at the frame; 1 to 254 is the time of its first contact in the step."""


class Marks(NamedTuple):
    """Faces hit and contact points of the kept frames: those of frame k are rows `…_start[k]` to `…_start[k + 1]`."""

    face: NDArray[np.uint32]
    code: NDArray[np.uint8]
    face_start: list[int]
    row: Integers
    """finding of each marked point"""
    row_start: list[int]
    first: Floats
    """(m,) time of the first contact of each face in the whole animation, inf where there is none"""


def count_by_frame(findings: Rows, frame_count: int) -> tuple[Integers, Integers]:
    """Contacts of each step (between its frame and the next one), and cuts and contained pieces of each frame."""
    at_frame = findings.kind >= Contact.FACE_FACE
    between = np.bincount(findings.frame[~at_frame], minlength=frame_count)
    return between, np.bincount(findings.frame[at_frame], minlength=frame_count)


def worst_rows(findings: Rows, most: int = MOST_WORST) -> Integers:
    """The worst rows, deepest first.

    The depth of an impact and the length of a cut are different things: each kind has half of them, and all where the other does not fill its half.
    """
    depth = np.nan_to_num(findings.depth, nan=-np.inf)
    deepest = np.lexsort((np.arange(len(depth)), findings.time, -depth))
    is_cut = findings.kind[deepest] >= Contact.FACE_FACE
    cuts, impacts = deepest[is_cut], deepest[~is_cut]
    half = most // 2
    cut_count = min(len(cuts), max(half, most - len(impacts)))
    chosen = np.concatenate((cuts[:cut_count], impacts[: most - cut_count]))
    return chosen[np.lexsort((chosen, findings.time[chosen], -depth[chosen]))]


def choose_frames(usable: NDArray[np.bool_], rows_frame: Integers, counts: Integers, most: int) -> Integers:
    """The frames the page holds, ascending: all where they fit.

    Else a third of them evenly spread, then both ends of the steps of the listed pairs and of the steps with most contacts, then again
    evenly spread ones.
    """
    good = np.flatnonzero(usable)
    if len(good) <= most:
        return good
    kept = set(good[np.linspace(0, len(good) - 1, most // 3).astype(int)].tolist())
    busy = np.argsort(-counts, kind="stable")
    _, first = np.unique(rows_frame, return_index=True)
    steps = np.concatenate((rows_frame[np.sort(first)], busy[counts[busy] > 0]))
    wanted = np.stack((steps, steps + 1), axis=1).reshape(-1)
    wanted = wanted[wanted < len(usable)]
    spread = good[np.linspace(0, len(good) - 1, 2 * most).astype(int)]
    for frame in (*wanted[usable[wanted]].tolist(), *spread.tolist()):
        if len(kept) >= most:
            break
        kept.add(frame)
    return np.array(sorted(kept), dtype=np.int64)


def _spread(incidence: Incidence, rows: Integers, items: Integers) -> tuple[Integers, Integers]:
    """Row and face for every face at each of the items, which belong to these rows."""
    counts = incidence.offsets[items + 1] - incidence.offsets[items]
    before = np.cumsum(counts) - counts
    faces = np.repeat(incidence.offsets[items] - before, counts) + np.arange(int(counts.sum()))
    return np.repeat(rows, counts), incidence.faces[faces]


def faces_of(mesh: Mesh, findings: Rows, rows: Integers) -> tuple[Integers, Integers]:
    """Row and face for every face of a contact: b and those around a, those at both edges, or the two of a cut or of a contained piece."""
    kind, a, b = findings.kind[rows], findings.a[rows], findings.b[rows]
    vertex, edge, face = kind == Contact.VERTEX_FACE, kind == Contact.EDGE_EDGE, kind >= Contact.FACE_FACE
    parts = [(rows[vertex], b[vertex]), (rows[face], a[face]), (rows[face], b[face])]
    if vertex.any():
        parts.append(_spread(mesh.vertex_faces, rows[vertex], a[vertex]))
    if edge.any():
        parts += [_spread(mesh.edge_faces, rows[edge], ends[edge]) for ends in (a, b)]
    return np.concatenate([row for row, _ in parts]), np.concatenate([hit for _, hit in parts])


def mark(mesh: Mesh, findings: Rows, kept: Integers, usable: NDArray[np.bool_]) -> Marks:
    """Colour codes of the faces and rows of the marked points, frame by frame, so that memory stays that of one frame.

    Rows are in order of frame; those of frames that are not usable may have numbers that the mesh does not have.
    """
    frame_count = len(usable)
    start: list[int] = np.searchsorted(findings.frame, np.arange(frame_count + 1)).tolist()
    first = np.full(len(mesh.faces), np.inf)
    is_kept = np.zeros(frame_count, dtype=np.bool_)
    is_kept[kept] = True
    faces, codes, marked = list[NDArray[np.uint32]](), list[NDArray[np.uint8]](), list[Integers]()
    frames: list[int] = np.flatnonzero(usable).tolist()
    for frame in frames:
        rows: Integers = np.arange(start[frame], start[frame + 1])
        hit_row, hit_face = faces_of(mesh, findings, rows)
        np.minimum.at(first, hit_face, findings.time[hit_row])
        if not is_kept[frame]:
            continue
        within = np.clip(np.nan_to_num(findings.time[hit_row] - frame), 0.0, 1.0)
        is_cut = findings.kind[hit_row] >= Contact.FACE_FACE
        code = np.full(len(mesh.faces), NO_MARK, dtype=np.uint8)
        np.minimum.at(code, hit_face, np.where(is_cut, CUT, 1 + np.rint(within * 253)).astype(np.uint8))
        faces.append(np.flatnonzero(code != NO_MARK).astype(np.uint32))
        codes.append(code[faces[-1]])
        deepest = np.argsort(-np.nan_to_num(findings.depth[rows], nan=-np.inf), kind="stable")
        marked.append(rows[deepest[:MOST_MARKERS]])
    return Marks(
        np.concatenate(faces), np.concatenate(codes), _starts(faces), np.concatenate(marked), _starts(marked), first
    )


def _starts(parts: list[NDArray[np.uint32]] | list[Integers]) -> list[int]:
    return [0, *np.cumsum([len(part) for part in parts], dtype=np.int64).tolist()]
