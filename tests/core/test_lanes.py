"""Each operation on lanes, compiled, is NumPy's on an array of as many float32."""

import numba
import numpy as np
import pytest

from abut.core import lanes
from abut.core.lanes import (
    bits,
    count_bits,
    greatest,
    lane,
    least,
    load_8,
    load_16,
    load_indices_16,
    lowest_bit,
    maximum,
    merge_16,
    minimum,
    sort_16,
    splat_8,
    splat_16,
    splat_index_16,
    store,
    store_chosen,
    where,
)

WIDTHS = (8, 16)
LOADS = {8: load_8, 16: load_16}
SPLATS = {8: splat_8, 16: splat_16}
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-45, -1e-38, 3e38, 0.1, -7.25], np.float32)


def cases(width):
    """Rows of two operands: random, special values in all combinations, equal ones."""
    rng = np.random.default_rng(width)
    rows = [rng.normal(size=(20, 2, width)), rng.integers(-3, 4, (20, 2, width))]
    pairs = np.stack(np.meshgrid(SPECIAL, SPECIAL), axis=-1).reshape(-1, 2)
    rows.append(np.resize(pairs, (width * (-(-len(pairs) // width)), 2)).reshape(-1, width, 2).transpose(0, 2, 1))
    return np.ascontiguousarray(np.concatenate(rows).astype(np.float32))


def compiled(load, operation):
    """Apply a function of two lanes to every row, and write what it gives."""

    @numba.njit
    def run(operands, out, width):
        for i in range(len(operands)):
            at = i * 2 * width
            store(out, i * width, operation(load(operands, at), load(operands, at + width)))

    return run


def compiled_mask(load, operation):
    @numba.njit
    def run(operands, out, width):
        for i in range(len(operands)):
            at = i * 2 * width
            out[i] = bits(operation(load(operands, at), load(operands, at + width)))

    return run


add = numba.njit(lambda x, y: x + y)
subtract = numba.njit(lambda x, y: x - y)
multiply = numba.njit(lambda x, y: x * y)
divide = numba.njit(lambda x, y: x / y)
negate = numba.njit(lambda x, y: -x)
absolute = numba.njit(lambda x, y: abs(x))


@numba.njit
def smaller(x, y):
    return minimum(x, y)


@numba.njit
def larger(x, y):
    return maximum(x, y)


choose = numba.njit(lambda x, y: where(x < y, x, y + y))
less = numba.njit(lambda x, y: x < y)
less_equal = numba.njit(lambda x, y: x <= y)
greater = numba.njit(lambda x, y: x > y)
greater_equal = numba.njit(lambda x, y: x >= y)
both = numba.njit(lambda x, y: (x < y) & (x > -y))
either = numba.njit(lambda x, y: (x < y) | (x > -y))

ARITHMETIC = {
    "add": (add, np.add),
    "subtract": (subtract, np.subtract),
    "multiply": (multiply, np.multiply),
    "divide": (divide, np.divide),
    "negate": (negate, lambda x, y: np.negative(x)),
    "absolute": (absolute, lambda x, y: np.abs(x)),
    "minimum": (smaller, lambda x, y: np.where(x < y, x, y)),
    "maximum": (larger, lambda x, y: np.where(x > y, x, y)),
    "where": (choose, lambda x, y: np.where(x < y, x, y + y)),
}
COMPARISONS = {
    "less": (less, np.less),
    "less or equal": (less_equal, np.less_equal),
    "greater": (greater, np.greater),
    "greater or equal": (greater_equal, np.greater_equal),
    "and": (both, lambda x, y: (x < y) & (x > -y)),
    "or": (either, lambda x, y: (x < y) | (x > -y)),
}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_is_numpys(name, width):
    operation, expected = ARITHMETIC[name]
    operands = cases(width)
    out = np.empty((len(operands), width), np.float32)
    with np.errstate(all="ignore"):
        compiled(LOADS[width], operation)(operands, out, width)
        wanted = expected(operands[:, 0], operands[:, 1])
    np.testing.assert_array_equal(out, wanted)
    np.testing.assert_array_equal(np.signbit(out)[~np.isnan(out)], np.signbit(wanted)[~np.isnan(wanted)])


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_are_numpys_and_false_for_nan(name, width):
    operation, expected = COMPARISONS[name]
    operands = cases(width)
    out = np.empty(len(operands), np.int64)
    compiled_mask(LOADS[width], operation)(operands, out, width)
    wanted = expected(operands[:, 0], operands[:, 1])
    np.testing.assert_array_equal((out[:, None] >> np.arange(width)) & 1, wanted)


@pytest.mark.parametrize("width", WIDTHS)
def test_splat_and_lane(width):
    splat = SPLATS[width]

    @numba.njit
    def run(values, out):
        for i in range(len(values)):
            x = splat(values[i])
            for k in range(width):
                out[i, k] = lane(x, k)

    values = SPECIAL.copy()
    out = np.empty((len(values), width), np.float32)
    run(values, out)
    np.testing.assert_array_equal(out, np.repeat(values[:, None], width, axis=1))


@pytest.mark.parametrize("width", WIDTHS)
def test_loads_and_stores_at_any_offset_of_any_shape(width):
    load = LOADS[width]

    @numba.njit
    def run(source, target, offsets):
        for offset in offsets:
            store(target, offset, load(source, offset))

    source = np.arange(8 * 15, dtype=np.float32).reshape(8, 15)
    target = np.zeros((2, 4, 15), np.float32)
    run(source, target, np.array([3, 40, 120 - width]))
    expected = np.zeros(120, np.float32)
    for offset in (3, 40, 120 - width):
        expected[offset : offset + width] = np.arange(offset, offset + width)
    np.testing.assert_array_equal(target.ravel(), expected)


def test_sums_and_products_may_be_fused_but_no_worse():
    @numba.njit
    def run(a, b, c, out):
        store(out, 0, load_8(a, 0) * load_8(b, 0) + load_8(c, 0))

    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 8)).astype(np.float32)
    c = (-a * b + rng.normal(size=8) * 1e-7).astype(np.float32)
    out = np.empty(8, np.float32)
    run(a, b, c, out)
    exact = a.astype(np.float64) * b + c
    assert (np.abs(out - exact) <= np.abs(a * b) * 2.0**-23).all()


def test_lowest_bit():
    @numba.njit
    def run(masks, out):
        for i in range(len(masks)):
            out[i] = lowest_bit(masks[i])

    masks = np.concatenate(([1 << k for k in range(62)], np.random.default_rng(0).integers(1, 2**62, 50)))
    out = np.empty(len(masks), np.int64)
    if lanes.INTERPRETED:
        out[:] = [lowest_bit(int(mask)) for mask in masks]
    else:
        run(masks, out)
    assert out.tolist() == [int(mask & -mask).bit_length() - 1 for mask in masks.tolist()]


def test_masks_become_integers_lane_zero_first():
    @numba.njit
    def run(values, out):
        zero = splat_16(np.float32(0.0))
        out[0] = bits(load_16(values, 0) > zero)

    out = np.zeros(1, np.int64)
    for mask in (0, 1, 0x8000, 0xFFFF, 0b1010_0110_0000_1111):
        values = np.array([(mask >> k) & 1 for k in range(16)], np.float32)
        run(values, out)
        assert out[0] == mask


@pytest.mark.skipif(lanes.INTERPRETED, reason="types exist in compiled code only")
def test_widths_do_not_mix():
    @numba.njit
    def run(values):
        return bits(load_8(values, 0) < load_16(values, 0))

    with pytest.raises(numba.TypingError):
        run(np.zeros(16, np.float32))


@pytest.mark.parametrize("width", WIDTHS)
def test_least_and_greatest_lane(width):
    load = LOADS[width]

    @numba.njit
    def run(values, out):
        for i in range(len(values)):
            x = load(values, i * width)
            out[i, 0], out[i, 1] = least(x), greatest(x)

    values = np.random.default_rng(3).normal(size=(50, width)).astype(np.float32)
    values[0], values[1, 0], values[2, -1] = 1.5, -np.inf, np.inf
    out = np.empty((50, 2), np.float32)
    run(values, out)
    np.testing.assert_array_equal(out, np.stack([values.min(axis=1), values.max(axis=1)], axis=1))


def test_indices_compare_as_signed_integers():
    @numba.njit
    def run(values, number, out):
        x, y = load_indices_16(values, 3), splat_index_16(number)
        out[0], out[1], out[2] = bits(x == y), bits(x < y), bits(y < x)

    values = np.random.default_rng(4).integers(-5, 6, 20).astype(np.int32)
    values[3:5] = np.iinfo(np.int32).min, np.iinfo(np.int32).max
    own, weights, out = values[3:19], 1 << np.arange(16), np.empty(3, np.int64)
    for number in (-5, 0, 3, np.iinfo(np.int32).max, np.iinfo(np.int32).min):
        run(values, np.int32(number), out)
        assert out.tolist() == [int(mask @ weights) for mask in (own == number, own < number, own > number)]


def test_chosen_indices_are_stored_one_after_the_other():
    @numba.njit
    def run(values, masks, out):
        for i in range(len(masks)):
            store_chosen(out, i * 20, load_indices_16(values, i), masks[i])

    rng = np.random.default_rng(5)
    values = rng.integers(-(2**31), 2**31, 80).astype(np.int32)
    masks = np.concatenate(([0, 1, 0x8000, 0xFFFF], rng.integers(0, 2**16, 60)))
    out = np.full((len(masks), 20), 7, np.int32)
    run(values, masks, out.reshape(-1))
    for i, mask in enumerate(masks.tolist()):
        chosen = [values[i + k] for k in range(16) if mask >> k & 1]
        assert out[i, : len(chosen)].tolist() == chosen
        assert out[i, 16:].tolist() == [7] * 4


def test_count_bits():
    @numba.njit
    def run(masks, out):
        for i in range(len(masks)):
            out[i] = count_bits(masks[i])

    masks = np.concatenate(([0, 1, 0xFFFF], np.random.default_rng(6).integers(0, 2**62, 40)))
    out = np.empty(len(masks), np.int64)
    run(masks, out)
    assert out.tolist() == [mask.bit_count() for mask in masks.tolist()]


def sixteens():
    rng = np.random.default_rng(7)
    rows = [rng.integers(-100, 100, 32), rng.integers(0, 3, 32), np.arange(32), np.arange(32)[::-1], np.zeros(32)]
    rows += [rng.permutation(32) for _ in range(200)]
    rows.append(np.where(np.arange(32) % 2, np.iinfo(np.int32).max, np.iinfo(np.int32).min))
    return np.array(rows, dtype=np.int32)


def test_sixteen_indices_are_sorted_and_merged():
    @numba.njit
    def run(row, merge):
        sort_16(row, 1)
        sort_16(row, 20)
        if merge:
            merge_16(row, 1, 20)

    for values in sixteens():
        row = np.full(40, -7, np.int32)
        row[1:17], row[20:36] = values[:16], values[16:]
        run(row, False)
        assert row[1:17].tolist() == sorted(values[:16].tolist())
        assert row[20:36].tolist() == sorted(values[16:].tolist())
        run(row, True)
        assert [*row[1:17].tolist(), *row[20:36].tolist()] == sorted(values.tolist())
        assert (row[[0, 17, 18, 19, 36, 37, 38, 39]] == -7).all()


def test_a_network_sorts_all_that_it_sorts_of_zeros_and_ones():
    """The zero-one principle: a network that sorts every sequence of zeros and ones sorts everything."""

    @numba.njit
    def run(rows):
        wrong = 0
        for i in range(len(rows)):
            sort_16(rows[i], 0)
            for k in range(15):
                wrong += rows[i, k] > rows[i, k + 1]
        return wrong

    masks = np.arange(0, 2**16, 257 if lanes.INTERPRETED else 1)
    rows = ((masks[:, None] >> np.arange(16)) & 1).astype(np.int32)
    ones = rows.sum(axis=1)
    assert run(rows) == 0
    np.testing.assert_array_equal(rows.sum(axis=1), ones)


@numba.njit
def ask_planes(planes, offset, stride, x, y, z):
    return lanes.low_heights_4(planes, offset, stride, x, y, z)


def test_heights_of_four_planes(rng):
    planes = rng.integers(-3, 4, size=(5, 4, 8)).astype(np.float64)
    for cell, slot in ((0, 0), (3, 4), (4, 0)):
        for point in rng.integers(-2, 3, size=(20, 3)).astype(float):
            expected = point @ planes[cell, :3, slot : slot + 4] + planes[cell, 3, slot : slot + 4]
            low = ask_planes(planes, cell * 32 + slot, 8, *point)
            assert low & 15 == sum(1 << k for k in range(4) if expected[k] < -1)
            assert low >> 32 == sum(1 << k for k in range(4) if expected[k] <= 1)
    planes[0, 3, 1] = np.nan
    low = ask_planes(planes, 0, 8, 0.0, 0.0, 0.0)
    assert low & 2 == 0
    assert low >> 32 & 2 == 2
