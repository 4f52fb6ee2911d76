"""Pictures show every contour and contact."""

from abut import contours
from abut.contours.picture import draw
from contours.curves import UNIT_SQUARE


def test_pictures_show_every_contour_and_contact():
    placed = [UNIT_SQUARE, UNIT_SQUARE.moved((0.5, 0.5, 0.3))]
    hits = contours.collide(*placed)
    text = draw(placed, hits, UNIT_SQUARE.boxes.corners)
    assert text.count("<circle") == len(hits) == 2
    assert len(contours.svg.read(text.replace("<circle", "<metadata"))) >= 2
