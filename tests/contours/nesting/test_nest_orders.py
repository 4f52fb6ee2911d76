"""Orders of every kind, options drawn together: each is nested as documented, or refused where a piece fits at no angle that it may take."""

import math

import numpy as np
import pytest

from abut import InvalidInput
from abut.contours import nest
from abut.core import jit
from conftest import SOAK
from contours.nesting.nest_orders import check_layout, draw_order, find_misfit

BLOCK = 5 if jit.INTERPRETED else 50
BLOCKS = 2000 if SOAK else 4
"""10⁵ orders with ABUT_SOAK, in blocks with seeds of their own: they can be spread over processes."""


def run(order):
    row, unsure = find_misfit(order)
    refusal = None
    try:
        layout = nest(order.pieces, order.sheet, **order.options)
    except InvalidInput as error:
        refusal = error
    if refusal is not None:
        assert refusal.name == "pieces", refusal
        assert "at every angle it may take" in refusal.reason
        assert unsure or refusal.row == row, (refusal, row)
        return False
    assert row is None
    check_layout(layout, order)
    return True


@pytest.mark.large
@pytest.mark.parametrize("block", range(BLOCKS))
def test_random_orders_end_as_documented(block):
    rng = np.random.default_rng([20261118, block])
    nested = 0
    for case in range(BLOCK):
        order = draw_order(rng)
        try:
            nested += run(order)
        except Exception as error:
            raise AssertionError(f"block {block}, case {case}: {order}") from error
    assert nested > 0.7 * BLOCK


def test_an_interval_that_ends_a_grid_step_further_is_in_the_way():
    """An L on a sheet a billionth higher than itself: its parts leave one another's way at places two steps of the grid apart."""
    corners = [(1, -2), (1, -1), (0, -1), (0, -4), (2, -4), (2, -2)]
    for height in [3.0, 3.000000003, 3.0000001, 3.001]:
        layout = nest([np.array(corners, float)], (10.0, height), copies=3, moves=5)
        assert layout.find_overlap() is None


def test_a_small_piece_far_from_the_origin_fits_as_it_would_near_it():
    """Turned by 120° a square is (1 + √3) / 2 as wide."""
    square = np.array([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]) * 2.0**-23
    side = 2.0**-23 * (1.0 + math.sqrt(3.0)) / 2.0
    for offset in (0.0, 2.0**-7):
        assert len(nest([square + offset], (side * (1 + 1e-9),) * 2, rotations_deg=[120.0], moves=1).polygons) == 1
        with pytest.raises(InvalidInput):
            nest([square + offset], (side * (1 - 1e-9),) * 2, rotations_deg=[120.0], moves=1)
