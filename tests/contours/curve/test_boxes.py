"""Boxes hold their curves."""

import numpy as np
import pytest

from abut import InvalidInput
from abut.contours import Contour
from abut.core.errors import AbutError
from contours.curves import wavy


@pytest.mark.parametrize("n", [4, 5, 12])
@pytest.mark.parametrize("fit", ["basic", "children"])
def test_boxes_hold_their_curves(n, fit):
    for contour in (Contour(wavy(n, n)), Contour(wavy(n, n), 0.05, detail=2)):
        for increment in ("rivera", "bound"):
            boxes = contour.tolerance_boxes(fit=fit, increment=increment)
            assert len(boxes) == 2 * n - 1
            boxes.validate(contour.base)
        contour.boxes.validate(contour.segments)
        # Boxes grown by the bound hold the rough curve itself.
        x, y, ex, ey, a, b = boxes.nodes[n:].T
        detail = len(contour) // n
        p = contour.point(np.arange(len(contour) * 9) / 9).reshape(n, 9 * detail, 2) - np.stack([x, y], axis=1)[:, None]
        assert (np.abs(p[..., 0].T * ex + p[..., 1].T * ey) <= a + 1e-15).all()
        assert (np.abs(p[..., 1].T * ex - p[..., 0].T * ey) <= b + 1e-15).all()
    shrunk = boxes.nodes.copy()
    shrunk[n + 1, 4] *= 0.5
    with pytest.raises(AbutError, match="sticks out"):
        type(boxes)(shrunk).validate(contour.base)


@pytest.mark.parametrize("fit", ["basic", "children"])
@pytest.mark.parametrize("detail", [1, 2, 8, 32])
def test_boxes_grown_by_the_bound_hold_the_rough_curve(detail, fit):
    rng = np.random.default_rng(detail)
    for count in (4, 5, 7, 16):
        turn = np.arange(count) * 2 * np.pi / count
        ring = np.stack([np.cos(turn), np.sin(turn)], axis=1)
        rough = Contour(ring, rng.uniform(0, 0.1, count), detail=detail, seed=count)
        boxes = rough.tolerance_boxes(fit=fit, increment="bound")
        boxes.validate(rough.base)
        boxes.validate(rough.segments)
    with pytest.raises(InvalidInput, match="multiple"):
        boxes.validate(rough.base[1:])
