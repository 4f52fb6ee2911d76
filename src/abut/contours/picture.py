"""Contours and where they meet as SVG."""

from collections.abc import Sequence

from abut.contours.curve.contour import Contour
from abut.contours.curve.drawing import WIDTH, draw_curves
from abut.contours.meet.kinds import CROSSING, INTERVAL, TOUCH
from abut.contours.meet.results import ContourContacts
from abut.core import arrays
from abut.core.types import Number, PointsLike

MARKS = {CROSSING.value: "#c0392b", TOUCH.value: "#1e8449", INTERVAL.value: "#6c3483"}


def draw(
    contours: Sequence[Contour],
    hits: ContourContacts | None = None,
    corners: PointsLike | None = None,
    width: Number = WIDTH,
) -> str:
    """A drawing of contours in world coordinates, y upwards, with contacts: red crossings, green touches, violet stretches in common.

    Args:
        contours: where they are (see `Contour.moved`).
        hits: contacts to mark; none by default.
        corners: (k,4,2) corners of boxes to outline, such as `Boxes.corners`; none by default.
        width: of the drawing in its own units; the height follows.

    Returns:
        The text of an SVG document. Curves are written as cubic paths, as they are.

    Examples:
        >>> from abut import contours
        >>> tile = contours.Contour.from_polygon([(0, 0), (1, 0), (1, 1), (0, 1)])
        >>> placed = [tile, tile.moved((0.5, 0.5, 0.0))]
        >>> drawing = contours.picture.draw(placed, contours.collide(*placed))
        >>> drawing.count("<path"), drawing.count("<circle")
        (2, 2)
    """
    chosen = arrays.items(contours, "contours", Contour)
    boxes = None if corners is None else arrays.coordinates(corners, "corners", (None, 4, 2))
    marks = (
        []
        if hits is None
        else [(point, MARKS[kind]) for point, kind in zip(hits.point, hits.kind.tolist(), strict=True)]
    )
    return draw_curves([contour.segments for contour in chosen], boxes, marks, arrays.positive(width, "width"))
