"""The geometry compiled as CUDA device functions gives the answers of the processor. Skipped without a CUDA device."""

import numpy as np
import pytest

from abut.core import jit
from abut.geometry.crossings import meet_triangle_triangle
from abut.geometry.predicates import orient_2d, orient_3d, orient_direction
from abut.geometry.roots import enclose_cubic_bernstein
from abut.geometry.triangles import closest_separate_triangles

try:
    from numba import cuda

    AVAILABLE = not jit.INTERPRETED and cuda.is_available()
except ImportError:
    AVAILABLE = False

pytestmark = pytest.mark.skipif(not AVAILABLE, reason="no CUDA device, or numba-cuda is not installed")

COUNT = 20_000
THREADS = 128


def signs(p, out, i):
    a, b, c = (p[i, 0], p[i, 1], p[i, 2]), (p[i, 3], p[i, 4], p[i, 5]), (p[i, 6], p[i, 7], p[i, 8])
    d, e, f = (p[i, 9], p[i, 10], p[i, 11]), (p[i, 12], p[i, 13], p[i, 14]), (p[i, 15], p[i, 16], p[i, 17])
    out[i, 0] = orient_3d(a, b, c, d)
    out[i, 1] = orient_2d((a[0], a[1]), (b[0], b[1]), (c[0], c[1]))
    out[i, 2] = orient_direction(a, b, c, d)
    out[i, 3] = 1 if meet_triangle_triangle(a, b, c, d, e, f) else 0


def numbers(p, out, i):
    a, b, c = (p[i, 0], p[i, 1], p[i, 2]), (p[i, 3], p[i, 4], p[i, 5]), (p[i, 6], p[i, 7], p[i, 8])
    d, e, f = (p[i, 9], p[i, 10], p[i, 11]), (p[i, 12], p[i, 13], p[i, 14]), (p[i, 15], p[i, 16], p[i, 17])
    out[i, 0] = closest_separate_triangles(a, b, c, d, e, f)[4]
    roots = enclose_cubic_bernstein(a[0], a[1], a[2], b[0], 0.0)
    out[i, 1] = roots.enclosure_count
    out[i, 2] = roots.first.lo


def run_both(function, points, out):
    """The same source on the processor and on the device."""
    host_function, device_function = jit.element(function), cuda.jit(device=True)(function)

    @cuda.jit
    def kernel(p, o):
        i = cuda.grid(1)
        if i < len(p):
            device_function(p, o, i)

    host, device = out.copy(), cuda.to_device(out)
    for i in range(len(points)):
        host_function(points, host, i)
    kernel[(len(points) + THREADS - 1) // THREADS, THREADS](cuda.to_device(points), device)
    return host, device.copy_to_host()


def hard_points(rng):
    """A quarter each: general, whole grid, multiples of 0.1, extreme magnitudes."""
    p = rng.standard_normal((COUNT, 18))
    q = COUNT // 4
    p[q : 2 * q] = rng.integers(-2, 3, size=(q, 18))
    p[2 * q : 3 * q] = 0.1 * rng.integers(-2, 3, size=(q, 18))
    p[3 * q :] = np.ldexp(p[3 * q :], rng.integers(-1000, 1000, size=(COUNT - 3 * q, 18)))
    return p


def test_exact_signs_on_the_device(rng):
    points = hard_points(rng)
    host, device = run_both(signs, points, np.zeros((COUNT, 4), dtype=np.int64))
    assert np.array_equal(host, device)
    assert (np.abs(host).sum(axis=0) > COUNT // 20).all()


def sign(p, out, i):
    out[i] = orient_3d(
        (p[i, 0], p[i, 1], p[i, 2]),
        (p[i, 3], p[i, 4], p[i, 5]),
        (p[i, 6], p[i, 7], p[i, 8]),
        (p[i, 9], p[i, 10], p[i, 11]),
    )


def harder_points(rng, count):
    """A quarter each: multiples of 0.1, coplanar up to rounding, tiny offsets, and a fifth of those far apart in magnitude."""
    grid = 0.1 * rng.integers(-3, 4, (count, 12))
    flat = rng.random((count, 12))
    s, t = rng.random((count, 1)), rng.random((count, 1))
    flat[:, 9:] = flat[:, :3] + s * (flat[:, 3:6] - flat[:, :3]) + t * (flat[:, 6:9] - flat[:, :3])
    near = 12.0 + rng.random((count, 12)) * 2.0**-40
    near[:, 9:] = 0.5 * near[:, :3] + 0.5 * near[:, 3:6]
    apart = np.ldexp(rng.standard_normal((count, 12)), rng.integers(-1000, 1000, (count, 12)))
    apart[: count // 5 * 4] = rng.integers(-2, 3, (count // 5 * 4, 12))
    return np.concatenate([grid, flat, near, apart])


@pytest.mark.parametrize("options", [{}, {"lto": False}], ids=["contracted when linked", "contracted"])
def test_a_million_hard_signs(rng, options):
    points = np.ascontiguousarray(harder_points(rng, 250_000))
    host_sign, device_sign = jit.element(sign), cuda.jit(device=True)(sign)

    @jit.kernel
    def on_host(p, out):
        for i in range(len(p)):
            host_sign(p, out, i)

    @cuda.jit(**options)
    def on_device(p, out):
        i = cuda.grid(1)
        if i < len(p):
            device_sign(p, out, i)

    host, device = np.zeros(len(points), dtype=np.int64), cuda.to_device(np.zeros(len(points), dtype=np.int64))
    on_host(points, host)
    on_device[(len(points) + THREADS - 1) // THREADS, THREADS](cuda.to_device(points), device)
    assert np.array_equal(host, device.copy_to_host())


def test_constructions_on_the_device(rng):
    points = rng.standard_normal((COUNT, 18))
    host, device = run_both(numbers, points, np.zeros((COUNT, 3)))
    assert np.array_equal(host[:, 1], device[:, 1])
    finite = np.isfinite(host)
    assert np.array_equal(finite, np.isfinite(device))
    assert np.allclose(host[finite], device[finite], rtol=1e-9, atol=1e-12)
