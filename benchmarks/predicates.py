"""What exact signs cost over the plain determinant.

Random input in general position is what most tests see; there the filter decides. On grids and at extreme scales the exact stages run.
"""

import numpy as np
from rich.console import Console

from abut.app.bench import measure, table
from abut.core import jit
from abut.geometry import vec
from abut.geometry.predicates import BOUND_3D, _filter_3d, orient_2d, orient_3d

COUNT = 4096  # in the second-level cache: the arithmetic is timed, not the memory


@jit.element
def plain_2d(a, b, c):
    det = vec.cross_2d(vec.subtract_2d(b, a), vec.subtract_2d(c, a))
    return int(det > 0.0) - int(det < 0.0)


@jit.element
def plain_3d(a, b, c, d):
    det = vec.dot(vec.subtract(d, a), vec.cross(vec.subtract(b, a), vec.subtract(c, a)))
    return int(det > 0.0) - int(det < 0.0)


@jit.kernel
def plain_2d_batch(p, out):
    for i in range(len(p)):
        out[i] = plain_2d((p[i, 0, 0], p[i, 0, 1]), (p[i, 1, 0], p[i, 1, 1]), (p[i, 2, 0], p[i, 2, 1]))


@jit.kernel
def orient_2d_batch(p, out):
    for i in range(len(p)):
        out[i] = orient_2d((p[i, 0, 0], p[i, 0, 1]), (p[i, 1, 0], p[i, 1, 1]), (p[i, 2, 0], p[i, 2, 1]))


@jit.element
def row(p, i, j):
    return (p[i, j, 0], p[i, j, 1], p[i, j, 2])


@jit.kernel
def plain_3d_batch(p, out):
    for i in range(len(p)):
        out[i] = plain_3d(row(p, i, 0), row(p, i, 1), row(p, i, 2), row(p, i, 3))


@jit.kernel
def orient_3d_batch(p, out):
    for i in range(len(p)):
        out[i] = orient_3d(row(p, i, 0), row(p, i, 1), row(p, i, 2), row(p, i, 3))


@jit.kernel
def undecided(p):
    """How many signs the filter leaves to the exact stages."""
    count = 0
    for i in range(len(p)):
        a = row(p, i, 0)
        u, v, w = vec.subtract(row(p, i, 1), a), vec.subtract(row(p, i, 2), a), vec.subtract(row(p, i, 3), a)
        det, permanent, floor = _filter_3d(u, v, w)
        if not abs(det) > BOUND_3D * permanent + floor:
            count += 1
    return count


def run(console: Console) -> None:
    rng = np.random.default_rng(1)
    grid = rng.integers(-4, 5, size=(COUNT, 4, 3)).astype(float)
    inputs = {
        "random": rng.random((COUNT, 4, 3)),
        "whole grid": grid,
        "multiples of 0.1": grid * 0.1,
        "grid at 1e-200": grid * 1e-200,
    }
    result = table(
        "ns a sign (quartiles)", "input", "plain 2d", "exact 2d", "×", "plain 3d", "exact 3d", "×", "3d not filtered"
    )
    out = np.empty(COUNT, dtype=np.int64)
    for name, points in inputs.items():
        cells = [name]
        for plain, exact in ((plain_2d_batch, orient_2d_batch), (plain_3d_batch, orient_3d_batch)):
            base = measure(lambda k=plain, p=points: k(p, out)).per(COUNT)
            full = measure(lambda k=exact, p=points: k(p, out)).per(COUNT)
            cells += [str(base), str(full), f"{full.median / base.median:.2f}"]
        result.add_row(*cells, f"{undecided(points) / COUNT:.1%}")
    console.print(result)
