"""Integers in rows against Python's own."""

import math
from fractions import Fraction

import numpy as np
import pytest

from abut.ccd.impact.exact import integers
from abut.ccd.impact.exact.integers import BITS, DIGITS, OVERFLOW, product, program, rows, total, workspace

A, B, C, D, OUT = rows(1, 5)


def put(w, row, number):
    """Write a number of any size, piece by piece."""
    w[row, 0] = 0
    pieces, rest = [], abs(number)
    while rest:
        pieces.append(rest & ((1 << 50) - 1))
        rest >>= 50
    for k, piece in enumerate(pieces):
        integers.set_scaled(w, OUT, np.int64(piece if number > 0 else -piece), np.int64(50 * k))
        integers.execute(w, program(total(row, (1, row), (1, OUT))))
    assert get(w, row) == number


def get(w, row):
    return sum(int(w[row, 1 + k]) << (BITS * k) for k in range(int(w[row, 0])))


def is_in_form(w, row):
    digits = [int(x) for x in w[row, 1 : 1 + int(w[row, 0])]]
    if not digits:
        return True
    return all(0 <= x < 1 << BITS for x in digits[:-1]) and digits[-1] != 0 and -(1 << BITS) <= digits[-1] < 1 << BITS


def numbers(rng, count):
    """Whole numbers of very different size, powers of two and their neighbours among them."""
    out = [0, 1, -1, 2**BITS, -(2**BITS), 2**BITS - 1, -(2**BITS) - 1, 2**81, -(2**81), 1 - 2**81]
    while len(out) < count:
        size = int(rng.integers(1, 400))
        out.append(
            int.from_bytes(rng.bytes(size // 8 + 1), "big") * int(rng.choice([-1, 1])) >> int(rng.integers(0, 8))
        )
    return out


def test_sums_and_products(rng):
    w = workspace(8)
    sums, products = program(total(OUT, (3, A), (-12, B), (1, C), (0, D))), program(product(OUT, A, B))
    values = numbers(rng, 24)
    for _ in range(60):
        a, b, c = (values[i] for i in rng.integers(0, len(values), 3))
        put(w, A, a)
        put(w, B, b)
        put(w, C, c)
        integers.execute(w, sums)
        assert get(w, OUT) == 3 * a - 12 * b + c
        assert is_in_form(w, OUT)
        integers.execute(w, products)
        assert get(w, OUT) == a * b
        assert is_in_form(w, OUT)
        assert integers.sign(w, OUT) == (a * b > 0) - (a * b < 0)
    assert w[0, OVERFLOW] == 0


def test_a_sum_may_replace_its_term(rng):
    w = workspace(8)
    for number in numbers(rng, 20):
        put(w, A, number)
        integers.execute(w, program(total(A, (-8, A), (1, A))))
        assert get(w, A) == -7 * number


def test_division_by_a_power_of_two_rounds_down(rng):
    w = workspace(8)
    for number in numbers(rng, 20):
        for bits in (1, 3):
            put(w, A, number)
            integers.divide_by_power(w, A, np.int64(bits))
            assert get(w, A) == number >> bits
            assert is_in_form(w, A)


def test_residues(rng):
    w = workspace(8)
    for number in numbers(rng, 30):
        put(w, A, number)
        assert integers.residue(w, A) == number % integers.PRIME


def test_quotients_are_below_and_close(rng):
    w = workspace(8)
    values = [abs(x) for x in numbers(rng, 24) if x]
    for a, b in zip(values, values[1:] + values[:1], strict=True):
        put(w, A, a)
        put(w, B, b)
        ratio, truth = Fraction(integers.ratio_below(w, A, B)), Fraction(a, b)
        assert ratio <= truth < ratio * (1 + Fraction(1, 2**49))
        dyadic, truth = Fraction(integers.dyadic_below(w, A, np.int64(300))), Fraction(a, 2**300)
        assert dyadic <= truth < dyadic * (1 + Fraction(1, 2**51))
        near = integers.approximate(w, A, w[A, 0])
        assert math.isclose(near, a / (1 << (BITS * int(w[A, 0]))), rel_tol=1e-14)


@pytest.mark.parametrize("number", [1 << (BITS * DIGITS // 2 + 200), -(1 << (BITS * DIGITS // 2 + 200))])
def test_a_result_without_room_is_told(number):
    w = workspace(8)
    put(w, A, number)
    put(w, B, number)
    assert w[0, OVERFLOW] == 0
    integers.execute(w, program(product(OUT, A, B)))
    assert w[0, OVERFLOW] == 1
