"""What steps and their answers show of themselves."""

import numpy as np
import pytest

import abut
from abut import ccd


@pytest.fixture
def step():
    ball = abut.scenes.icosphere(1)
    return ball, ball.vertices, ball.vertices * [1, 1, -0.5]


def falling():
    ball = abut.scenes.icosphere(1)
    floor = abut.Mesh([[-9, -9, -3], [9, -9, -3], [0, 9, -3]], [[0, 1, 2]])
    return abut.Motion(ball, ball.vertices, ball.vertices - [0, 0, 4]), abut.Motion(
        floor, floor.vertices, floor.vertices
    )


def test_motions(step):
    turned = np.array([[0.0, -1, 0, 3], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    assert repr(abut.Motion(*step)) == "Motion(42 vertices, 80 faces, deforming)"
    assert repr(abut.Motion(step[0], np.eye(4), np.eye(4))) == "Motion(42 vertices, 80 faces, rigid)"
    assert repr(abut.Motion(step[0], np.eye(4), turned)) == "Motion(42 vertices, 80 faces, rigid, turning)"
    assert repr(ccd.join(*falling())) == "Motion(45 vertices, 81 faces, 2 bodies, deforming)"
    html = falling()[0]._repr_html_()
    assert "(-1, -1, -1)" in html
    assert "(1, 1, -3)" in html


def test_candidates(step):
    found = abut.candidates(*step)
    assert repr(found) == "Candidates(188 vertex-face, 580 edge-edge)"
    assert "… and 760 more" in found._repr_html_()
    assert (
        f"<td>VERTEX_FACE</td><td>{found.vertex_face[0, 0]}</td><td>{found.vertex_face[0, 1]}</td>"
        in found._repr_html_()
    )
    of_two = abut.candidates(*falling())
    assert repr(of_two).endswith(f"{len(of_two.edge_edge)} edge-edge)")
    none = abut.candidates(step[0], step[1], step[1] + 9.0)
    assert repr(none).startswith("Candidates(")
    assert "<table>" in ccd.Candidates(none.vertex_face[:0], none.edge_edge[:0])._repr_html_()


def test_filtered(step):
    found = abut.candidates(*step)
    kept = ccd.filter_slpf(*step, found)
    assert repr(kept) == "Filtered(184 of 188 vertex-face kept, 524 of 580 edge-edge kept)"
    assert "<td>edge-edge</td><td>524</td><td>56</td>" in kept._repr_html_()
    assert not kept.apply(found).edge_edge.flags.writeable


def test_impacts():
    impacts = abut.sweep(*falling())
    assert repr(impacts) == "Impacts(42 vertex-face, first at 0.5)"
    html = impacts._repr_html_()
    assert html.count("<tr>") == 9
    assert "… and 34 more" in html
    none = abut.sweep(falling()[0])
    assert repr(none) == "Impacts(none)"
    assert "<table>" in none._repr_html_()


def test_verdicts():
    face = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    through, beside = ([[x, x, 1], *face, [x, x, -1], *face] for x in (0.2, 0.8))
    verdict = ccd.vertex_face([through, beside])
    assert repr(verdict) == "Verdict(2 queries, 1 hit)"
    assert "<td>False</td><td>inf</td><td>FREE</td>" in verdict._repr_html_()
