"""Unit vectors at every scale that doubles have."""

import math

import pytest

from abut.geometry.vec import ZERO, norm, unit, unit_or


@pytest.mark.parametrize("scale", [2.0**-1074, 2.0**-1022, 1e-200, 1.0, 1e75, 2.0**1023])
def test_unit_vectors_of_any_size(scale):
    assert norm(unit_or((scale, 0.0, -scale), ZERO)) == pytest.approx(1.0, rel=4e-16)
    assert unit_or((0.0, scale, 0.0), ZERO) == (0.0, 1.0, 0.0)


def test_the_zero_vector_has_the_direction_that_its_caller_says():
    assert unit_or((0.0, -0.0, 0.0), (0.0, 0.0, 1.0)) == (0.0, 0.0, 1.0)
    assert unit_or(ZERO, ZERO) == ZERO


def test_unit_vectors_of_middling_size():
    assert unit((3.0, 0.0, 4.0)) == (0.6, 0.0, 0.8)
    assert math.dist(unit((1.0, 2.0, 3.0)), unit_or((1.0, 2.0, 3.0), ZERO)) < 3e-16
