import numba
import numpy as np
import pytest

from abut.core.jit import INTERPRETED
from abut.core.scratch import (
    as_array,
    load,
    pointer_to_floats,
    pointer_to_floats32,
    pointer_to_integers,
    pointer_to_integers32,
    reserve_floats,
    reserve_integers,
    reserve_integers32,
    store,
)


@numba.njit
def reverse(values, out):
    """Through a buffer on the stack."""
    buffer, numbers = reserve_floats(32), reserve_integers(32)
    for i in range(len(values)):
        store(buffer, i, values[i])
        store(numbers, i, 10 * i)
    for i in range(len(values)):
        out[i] = load(buffer, len(values) - 1 - i) + load(numbers, i)


@numba.njit
def fill(depth):
    """Buffers of calls inside one another are apart."""
    buffer = reserve_integers(4)
    for i in range(4):
        store(buffer, i, depth * 100 + i)
    inner = fill_inner(depth + 1)
    total = 0
    for i in range(4):
        total += load(buffer, i)
    return total, inner


@numba.njit
def fill_inner(depth):
    buffer = reserve_integers(4)
    for i in range(4):
        store(buffer, i, depth * 100 + i)
    total = 0
    for i in range(4):
        total += load(buffer, i)
    return total


def test_buffers_hold_what_is_stored():
    values = np.random.default_rng(0).normal(size=32)
    out = np.empty(32)
    for n in (0, 1, 31, 32):
        reverse(values[:n], out[:n])
        np.testing.assert_array_equal(out[:n], values[:n][::-1] + 10 * np.arange(n))


def test_buffers_of_nested_calls_are_apart():
    assert fill(1) == (406, 806)


def test_extreme_numbers_pass_unchanged():
    values = np.array([np.inf, -np.inf, 5e-324, -0.0, 1.7e308])
    out = np.empty(5)
    reverse(values, out)
    np.testing.assert_array_equal(out - 10 * np.arange(5), values[::-1] + 10 * np.arange(5) - 10 * np.arange(5))


@numba.njit
def loop(count):
    """A buffer inside a loop takes its room once: a million rounds do not exhaust the stack."""
    total = 0
    for i in range(count):
        buffer = reserve_integers(100)
        store(buffer, 99, i)
        total += load(buffer, 99)
    return total


def test_a_buffer_in_a_loop_takes_its_room_once():
    count = 1000 if INTERPRETED else 1_000_000
    assert loop(count) == count * (count - 1) // 2


@pytest.mark.skipif(INTERPRETED, reason="only compiled code needs a literal")
def test_the_size_must_be_a_literal():
    @numba.njit
    def run(n):
        return load(reserve_floats(n), 0)

    with pytest.raises(numba.TypingError, match="literal"):
        run(3)


@numba.njit
def sum_at_addresses(table, out):
    singles, doubles = pointer_to_floats32(int(table[0])), pointer_to_floats(int(table[1]))
    integers = pointer_to_integers32(int(table[2]))
    for i in range(int(table[3])):
        out[0] += load(singles, i)
        out[1] += load(doubles, i)
        out[2] += load(integers, i)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_pointers_lead_to_the_arrays_at_their_addresses(dtype):
    rng = np.random.default_rng(1)
    arrays = [rng.normal(size=(3, 5)).astype(np.float32), rng.normal(size=(5, 3)), rng.integers(-9, 9, 15, np.int32)]
    out = np.zeros(3)
    sum_at_addresses(np.array([*(array.ctypes.data for array in arrays), 15], dtype), out)
    np.testing.assert_allclose(out, [array.sum(dtype=float) for array in arrays], rtol=1e-12)


@numba.njit
def double_all(address, out):
    numbers, small = as_array(pointer_to_integers(address), (2, 3)), as_array(reserve_integers32(6), (3, 2))
    for i in range(6):
        small[i // 2, i % 2] = numbers[i // 3, i % 3]
        numbers[i // 3, i % 3] *= 2
    out[:] = small


def test_buffers_and_addresses_as_arrays():
    numbers, out = np.arange(6) * 2**28, np.empty((3, 2), np.int64)
    before = numbers.copy()
    double_all(numbers.ctypes.data, out)
    np.testing.assert_array_equal(numbers, 2 * before)
    np.testing.assert_array_equal(out.ravel(), before)


@numba.njit
def sum_flat(array, count):
    total = 0.0
    for i in range(count):
        total += load(array, i)
    return total


def test_an_array_in_c_order_is_read_as_one_row():
    array = np.arange(24.0).reshape(2, 3, 4)
    assert sum_flat(array, 10) == 45.0
    assert sum_flat(array, 24) == 276.0
