"""Pieces inside closed pieces, without a cut: nested, in cavities, inside out, open, at every scale."""

import numpy as np
import pytest

from abut import Mesh, scenes
from abut.app.check import Frames, Options, Store, check
from abut.app.check.findings import Contact
from app.process import abut


def together(*parts):
    """Balls as one mesh: (size, offset, inside out)."""
    ball = scenes.icosphere(1)
    vertices, faces = [], []
    for size, offset, inside_out in parts:
        faces.append((ball.faces[:, ::-1] if inside_out else ball.faces) + sum(map(len, vertices)))
        vertices.append(size * ball.vertices + np.asarray(offset, float))
    return Mesh(np.concatenate(vertices), np.concatenate(faces))


NESTED = {
    "apart": ([(1, (0, 0, 0), False), (1, (5, 0, 0), False)], []),
    "one inside": ([(1, (0, 0, 0), False), (9, (0, 0, 0), False)], [0]),
    "the larger one first": ([(9, (0, 0, 0), False), (1, (0, 0, 0), False)], [1]),
    "boxes nested, surfaces not": ([(9, (0, 0, 0), False), (0.2, (8, 8, 8), False)], []),
    "dolls": ([(1, (0, 0, 0), False), (4, (0, 0, 0), False), (9, (0, 0, 0), False)], [0, 1]),
    "the wall of a cavity": ([(9, (0, 0, 0), False), (4, (0, 0, 0), True)], []),
    "in a cavity": ([(9, (0, 0, 0), False), (4, (0, 0, 0), True), (1, (0, 0, 0), False)], []),
    "in the wall of a hollow": ([(9, (0, 0, 0), False), (4, (0, 0, 0), True), (0.2, (0, 0, 6), False)], [2]),
    "in one that is inside out": ([(9, (0, 0, 0), True), (1, (0, 0, 0), True)], [1]),
    "cutting": ([(4, (0, 0, 0), False), (1, (4, 0, 0), False)], []),
}


@pytest.mark.parametrize("name", NESTED)
@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e9])
def test_a_piece_inside_another_is_a_collision(tmp_path, name, scale):
    parts, expected = NESTED[name]
    mesh = together(*parts)
    np.savez(tmp_path / "one.npz", frames=scale * mesh.vertices[None], faces=mesh.faces)
    frames = Frames([tmp_path / "one.npz"])
    report = check(frames, store=Store(tmp_path / "work"))
    rows = report.findings
    inside = rows.kind == Contact.CONTAINED
    assert mesh.components[rows.a[inside]].tolist() == expected
    assert report.counts[:, 3].tolist() == [len(expected)]
    assert (report.counts[:, 2] > 0).tolist() == [name == "cutting"]
    assert report.exit_code == (1 if expected or name == "cutting" else 0)
    foot = rows.point[inside] + rows.depth[inside, None] * rows.normal[inside]  # lies on the face around
    corners = scale * mesh.vertices[mesh.faces[rows.b[inside]]]
    plane = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    height = ((foot - corners[:, 0]) * plane).sum(axis=1) / np.linalg.norm(plane, axis=1)
    assert np.abs(height).max(initial=0.0) <= 1e-12 * scale * 9
    without = check(frames, Options(containment=False), store=Store(tmp_path / "work"))
    assert without.counts[:, 3].sum() == 0


def test_an_open_piece_inside_a_closed_one_is_a_collision(tmp_path):
    ball, sheet = scenes.icosphere(1), np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0]])
    mesh = Mesh(np.concatenate((ball.vertices, sheet)), np.concatenate((ball.faces, [[42, 43, 44]])))
    np.savez(tmp_path / "one.npz", frames=mesh.vertices[None], faces=mesh.faces)
    report = check(Frames([tmp_path / "one.npz"]), store=Store(tmp_path / "work"))
    assert report.counts.tolist() == [[0, 0, 0, 1]]
    assert report.findings.a.tolist() == [len(ball.faces)]


def test_the_page_and_the_summary_tell_of_pieces_inside(tmp_path):
    mesh = together((1, (0, 0, 0), False), (9, (0, 0, 0), False))
    np.savez(tmp_path / "one.npz", frames=mesh.vertices[None], faces=mesh.faces)
    done = abut(tmp_path, "check", "one.npz", "--html", "page.html", "--out", "rows.csv")
    assert done.returncode == 1, done.stderr
    assert "1 pieces inside a closed one in 1 frames" in " ".join(done.stdout.split())
    assert "Pieces inside" in (tmp_path / "page.html").read_text()
    assert ",contained," in (tmp_path / "rows.csv").read_text()
