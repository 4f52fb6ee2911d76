"""Small animations and invented findings for the tests of the report page."""

import numpy as np

from abut.app.check.findings import Checked, Contact, Rows
from abut.app.report import write_report

SIDE = 9


def make_sheet():
    """A flat square in the plane z = 0, SIDE × SIDE vertices."""
    u, v = np.meshgrid(np.linspace(-1, 1, SIDE), np.linspace(-1, 1, SIDE), indexing="ij")
    i = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    lower = np.stack([i[:-1, :-1], i[1:, :-1], i[1:, 1:]], axis=-1).reshape(-1, 3)
    upper = np.stack([i[:-1, :-1], i[1:, 1:], i[:-1, 1:]], axis=-1).reshape(-1, 3)
    return np.stack([u, v, 0 * u], axis=-1).reshape(-1, 3), np.concatenate([lower, upper])


def make_frames(count):
    flat, faces = make_sheet()
    return [flat + [0.0, 0.0, 0.3 * k] * (flat[:, :1] > 0) for k in range(count)], faces


def make_findings(rows):
    """From rows (frame, kind, a, b, time, depth)."""
    frame, kind, a, b, time, depth = (np.array(c) for c in zip(*rows, strict=True)) if rows else [np.empty(0)] * 6
    whole = np.int64
    normal = np.tile([0.0, 0.0, 1.0], (len(rows), 1))
    point = np.zeros((len(rows), 3))
    return Rows(
        frame.astype(whole), kind.astype(np.int8), a.astype(whole), b.astype(whole), 1.0 * time, point, normal, depth
    )


def make_checked(rows=(), count=4, bad=(), names=None):
    frames, faces = make_frames(count)
    return Checked(names or [f"sheet{k}.obj" for k in range(count)], faces, frames, make_findings(rows), list(bad), 1.5)


HITS = [
    (2, Contact.VERTEX_FACE, 40, 3, 2.0, 0.02),
    (2, Contact.EDGE_EDGE, 10, 150, 3.0, 0.03),
    (2, Contact.FACE_FACE, 60, 127, 2.0, 0.01),
]


def write(folder, checked, title="A sheet"):
    path = folder / "report.html"
    write_report(path, checked, title=title)
    return path
