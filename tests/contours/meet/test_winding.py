"""Winding numbers against angles that add up."""

import numpy as np

from abut import contours
from abut.contours import Contour
from abut.core import jit
from contours.curves import dense, wavy


def test_winding_numbers_are_those_of_the_angle_turned():
    for contour in (Contour(wavy(9, 3), 0.05), Contour(np.random.default_rng(1).normal(size=(7, 2)))):
        points = np.random.default_rng(2).uniform(-1.5, 1.5, (10 if jit.INTERPRETED else 300, 2))
        p = dense(contour, (0, 0, 0), 200)
        away = p[:, 0] + 1j * p[:, 1] - (points[:, :1] + 1j * points[:, 1:])
        expected = np.rint(np.angle(np.roll(away, -1, axis=1) / away).sum(axis=1) / (2 * np.pi)).astype(int)
        assert (contours.winding(contour, points) == expected).all()
        assert (contours.contains(contour, points) == (expected != 0)).all()
        assert contours.contains(contour, contour.point([0.0, 1.25])).all()  # on it
