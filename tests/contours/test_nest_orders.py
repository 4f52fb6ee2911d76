"""Orders of every kind, options drawn together: each is nested as documented, or refused where a piece fits at no angle that it may take."""

import numpy as np
import pytest

from abut import InvalidInput, jit
from abut.contours import nest
from conftest import SOAK
from contours.nest_orders import check_layout, draw_order, find_misfit

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
