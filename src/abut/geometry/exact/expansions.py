"""Error-free sums and products, and exact sums kept as expansions (Shewchuk 1997, *Adaptive precision floating-point arithmetic*).

An expansion is a sum of doubles that do not overlap, in order of increasing magnitude, zeros left out; the last component has the
sign of the whole, though it may be twice as large. It lives in a stack buffer (`core.scratch`) beside its count of components, and grows by at
most one for each double added.

Everything is exact as long as no product overflows and no part of one falls below 2⁻¹⁰⁷⁴; `predicates` sends any other input to
`wide`. A compiler that contracts a·b + c into one rounding, as CUDA's does, changes nothing: the sums below hold no product, and those of
`core.products` are rounded for certain.
"""

from typing import Any

from abut.core.jit import element, stay_apart
from abut.core.products import product_and_error
from abut.core.scratch import load, store
from abut.geometry.vec import Vec3


@element
def two_sum(a: float, b: float) -> tuple[float, float]:
    """The rounded sum and its exact error: a + b = s + e (Knuth)."""
    s = a + b
    v = s - a
    return s, (a - (s - v)) + (b - v)


@element
def difference_tail(a: float, b: float) -> float:
    """The exact error of the rounded difference: a − b = fl(a − b) + tail."""
    s = a - b
    v = a - s
    return (a - (s + v)) + (v - b)


two_product: Any = product_and_error
"""`two_product(a, b)`: the rounded product and its exact error, a·b = p + e."""


@element
def add_double(buffer: Any, count: int, b: float) -> int:
    """Add b to the expansion; the new count, at most count + 1 (Shewchuk's Grow-Expansion, zeros left out)."""
    total = b
    kept = 0
    for i in range(count):
        total, error = two_sum(total, load(buffer, i))
        if error != 0.0:
            store(buffer, kept, error)
            kept += 1
    if total != 0.0:
        store(buffer, kept, total)
        kept += 1
    return kept


@element
def add_product_2(buffer: Any, count: int, a: float, b: float) -> int:
    """Add a·b to the expansion; at most two more components."""
    high, low = two_product(a, b)
    return add_double(buffer, add_double(buffer, count, low), high)


@element
def add_product_3(buffer: Any, count: int, a: float, b: float, c: float) -> int:
    """Add a·b·c to the expansion; at most four more components."""
    high, low = two_product(a, b)
    return add_product_2(buffer, add_product_2(buffer, count, low, c), high, c)


@element
def add_determinant(buffer: Any, count: int, sign: float, x: Vec3, y: Vec3, z: Vec3) -> int:
    """Add sign·det(x, y, z), sign being ±1; at most 24 more components."""
    stay_apart()
    x0, x1, x2 = sign * x[0], sign * x[1], sign * x[2]
    count = add_product_3(buffer, count, x0, y[1], z[2])
    count = add_product_3(buffer, count, -x0, y[2], z[1])
    count = add_product_3(buffer, count, x1, y[2], z[0])
    count = add_product_3(buffer, count, -x1, y[0], z[2])
    count = add_product_3(buffer, count, x2, y[0], z[1])
    return add_product_3(buffer, count, -x2, y[1], z[0])


@element
def estimate(buffer: Any, count: int) -> float:
    """The expansion's value, added up from the smallest component: it has its sign, and is off by a few units in 2⁵² of it."""
    total = 0.0
    for i in range(count):
        total += load(buffer, i)
    return total
