"""Each operation on octets, compiled, is NumPy's on an array of eight float64."""

import numba
import numpy as np

from abut.core.lanes import bits
from abut.core.octets import SIZE, choose, gather, load, maximum, minimum, root, scatter, size, splat, store

SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, -1e-300, 1e308, 0.1, -7.25])


@numba.njit
def operate(operands, out, masks):
    for i in range(len(operands)):
        x, y = load(operands, 2 * SIZE * i), load(operands, 2 * SIZE * i + SIZE)
        results = (
            x + y,
            x - y,
            x * y,
            x / y,
            minimum(x, y),
            maximum(x, y),
            choose(x < y, x, y),
            root(x),
            size(x),
            splat(0.25),
        )
        for k, value in enumerate(results):
            store(out, (i * 10 + k) * SIZE, value)
        masks[i, 0], masks[i, 1] = bits(x < y), bits((x > y) | (y > x))


def test_operations_are_numpys():
    rng = np.random.default_rng(0)
    pairs = np.stack(np.meshgrid(SPECIAL, SPECIAL), axis=-1).reshape(-1, 2)
    rows = [rng.normal(size=(40, 2, SIZE)), pairs.reshape(-1, SIZE, 2).transpose(0, 2, 1)]
    operands = np.ascontiguousarray(np.concatenate(rows))
    out, masks = np.empty((len(operands), 10, SIZE)), np.empty((len(operands), 2), np.int64)
    with np.errstate(all="ignore"):
        operate(operands, out, masks)
        x, y = operands[:, 0], operands[:, 1]
        least, most = np.where(x < y, x, y), np.where(x > y, x, y)
        wanted = (x + y, x - y, x * y, x / y, least, most, least, np.sqrt(x), np.abs(x), np.full_like(x, 0.25))
    for k, value in enumerate(wanted):
        np.testing.assert_array_equal(out[:, k], value)
    lanes = np.arange(SIZE)
    np.testing.assert_array_equal((masks[:, :1] >> lanes) & 1, x < y)
    np.testing.assert_array_equal((masks[:, 1:] >> lanes) & 1, (x < y) | (x > y))


@numba.njit
def double(rows, which, column):
    a, b, c, d, e, f, g, h = gather(rows, which, column)
    two = splat(2.0)
    scatter(rows, which, column, (two * a, two * b, two * c, two * d, two * e, two * f, two * g, two * h))


def test_rows_are_gathered_and_scattered_by_columns():
    """Other rows and columns stay as they are."""
    rng = np.random.default_rng(1)
    for width, column in ((8, 0), (11, 3), (30, 17)):
        rows, which = rng.normal(size=(20, width)), rng.permutation(20)[:SIZE]
        wanted = rows.copy()
        wanted[which, column : column + SIZE] *= 2.0
        double(rows, which, column)
        np.testing.assert_array_equal(rows, wanted)


@numba.njit
def number(rows, which):
    old = gather(rows, which, 0)
    lanes = load(np.arange(8.0), 0)
    scatter(rows, which, 0, (lanes, old[1], old[2], old[3], old[4], old[5], old[6], old[7]))


def test_of_lanes_with_the_same_row_the_first_is_written_last():
    rows, which = np.full((3, SIZE), -1.0), np.array([2, 2, 0, 2, 2, 2, 2, 2])
    number(rows, which)
    np.testing.assert_array_equal(rows[:, 0], (2.0, -1.0, 0.0))
    np.testing.assert_array_equal(rows[:, 1:], -1.0)
