"""What hulls and the answers about them show of themselves."""

import numpy as np

from abut.convex import Hull, Hulls, overlap_many, track_many
from convex.situations import box, prism

CUBE = Hull(box(1, 1, 1))


def in_a_row():
    """Three cubes: apart, then overlapping."""
    poses = np.tile(np.eye(4), (3, 1, 1))
    poses[:, 0, 3] = 0.0, 4.0, 4.5
    return Hulls([CUBE]), [[0, 1], [1, 2]], poses, [0, 0, 0]


def test_hulls():
    assert repr(CUBE) == "Hull(8 vertices, 12 edges, 6 faces)"
    assert repr(Hull([[0, 0, 0]])) == "Hull(1 vertex, 0 edges, 0 faces)"
    hulls = Hulls([CUBE, Hull([[0, 0, 0], [1, 0, 0]])])
    assert repr(hulls) == "Hulls(2 hulls, 10 vertices)"
    assert "<td>2</td><td>1</td><td>0</td><td>0.5</td>" in hulls._repr_html_()


def test_a_hull_draws_the_faces_that_face_the_eye():
    picture = CUBE._repr_html_()
    assert picture.count("<polygon") == 3
    assert "Hull(8 vertices, 12 edges, 6 faces)" in picture
    assert len(Hull(prism(40))._repr_html_()) < 20_000
    assert Hull([[0, 0, 0], [1, 0, 0]])._repr_html_().count("<polygon") == 1
    assert "<polygon" not in Hull([[0, 0, 0]])._repr_html_()


def test_answers():
    hulls, pairs, poses, which = in_a_row()
    tracks = track_many(hulls, pairs, poses, which=which)
    assert repr(tracks) == "Tracks(2 pairs, 1 apart, 1 overlapping)"
    assert "<td>OVERLAPPING</td><td>-0.5</td>" in tracks._repr_html_()
    found = overlap_many(hulls, pairs, poses, which=which)
    assert repr(found) == "Overlaps(2 pairs, 1 overlapping)"
    assert "<td>True</td><td>(0, 0, 0)</td>" in found._repr_html_()
