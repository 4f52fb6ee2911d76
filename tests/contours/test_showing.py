"""Contours, boxes, results, layouts and animations show themselves: one line in a console, a picture or a table in a notebook."""

from xml.dom import minidom

import pytest

from abut import contours
from abut.contours import Animation, Contour
from contours.curves import UNIT_SQUARE

PLACED = [UNIT_SQUARE, UNIT_SQUARE.moved((0.5, 0.25, 0.0))]
POSES = [(0.0, 0.0, 0.0), (2.0, 0.0, 0.0)]


@pytest.fixture(scope="module")
def layout():
    return contours.nest([[[0, 0], [3, 0], [3, 1], [0, 1]]], (None, 1), copies=2, seconds=600, moves=1)


def test_each_has_one_line(layout):
    assert repr(UNIT_SQUARE) == "Contour(4 segments)"
    assert repr(Contour.from_polygon([(0, 0), (1, 0), (1, 1)], name="tip")) == "Contour('tip', 3 segments)"
    assert repr(UNIT_SQUARE.boxes) == "Boxes(7 boxes, 4 basic)"
    assert repr(contours.collide(*PLACED)) == "ContourContacts(2 contacts, 1 query)"
    assert repr(contours.collide(*PLACED, poses=POSES[:0])) == "ContourContacts(0 contacts, 0 queries)"
    assert repr(contours.distance(*PLACED, poses=[(3.5, 0.0, 0.0)])) == "ContourDistance(1 query, least 2)"
    assert repr(contours.distance(*PLACED, poses=POSES[:0])) == "ContourDistance(0 queries)"
    assert repr(Animation(PLACED, POSES, fixed=[True, False])) == "Animation(2 contours, 1 fixed)"
    assert repr(layout) == "Layout(2 copies on 1 sheet, length 6, 100.0% filled)"


def test_plane_things_draw_themselves(layout):
    fall = Animation(PLACED, POSES)
    for thing, count in ((UNIT_SQUARE, 1), (UNIT_SQUARE.boxes, 1), (fall, 2), (layout, 2)):
        drawing = minidom.parseString(thing._repr_svg_())
        assert len(drawing.getElementsByTagName("path")) == count
        assert "http" not in drawing.documentElement.toxml().replace("http://www.w3.org/2000/svg", "")


def test_results_are_tables():
    table = contours.collide(*PLACED)._repr_html_()
    assert table.count("<tr>") == 1 + 2
    assert "CROSSING" in table
    many = contours.collide(*PLACED, poses=[(0.0, 0.0, 0.0)] * 30)._repr_html_()
    assert many.count("<tr>") == 1 + 8
    assert "… and 52 more" in many
    apart = contours.distance(*PLACED, pose=(3.5, 0.0, 0.0))._repr_html_()
    assert apart.count("<tr>") == 1 + 1
    assert "APART" in apart
