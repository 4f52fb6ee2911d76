"""Where vertices are during a step: the formula of their paths, over arrays and for kernels.

    x(t) = base + t·velocity + cos(t·angle)·cosine + sin(t·angle)·sine

where cosine and sine are zero for a vertex that does not turn. The second derivative is at most angle²·|cosine|, so between s and s + h a vertex is
never farther than h²·angle²·|cosine| / 8 from the straight line between its two ends; nor is a point of an edge or face between vertices.
"""

import math
from typing import NamedTuple

import numpy as np

from abut.core.arrays import Floats
from abut.core.jit import kernel
from abut.geometry.rows import vector_at
from abut.geometry.vec import Vec3


class Paths(NamedTuple):
    """The paths of n vertices, one row each."""

    base: Floats
    velocity: Floats
    cosine: Floats
    sine: Floats
    angle: Floats
    """(n,) the angle turned in the whole step"""
    bend: Floats
    """(n,) angle²·|cosine| / 8: times h², the largest distance from the straight line over a span h"""


def places(paths: Paths, time: float | Floats) -> Floats:
    """(n,3) where the vertices are, all at one time or each at its own (n,)."""
    t = np.asarray(time)[..., np.newaxis]
    phase = t * paths.angle[:, np.newaxis]
    return paths.base + t * paths.velocity + np.cos(phase) * paths.cosine + np.sin(phase) * paths.sine


@kernel
def place(paths: Paths, i: int, time: float) -> Vec3:
    """Where vertex i is."""
    x, v = vector_at(paths.base, i), vector_at(paths.velocity, i)
    b, c = vector_at(paths.cosine, i), vector_at(paths.sine, i)
    cosine, sine = math.cos(time * paths.angle[i]), math.sin(time * paths.angle[i])
    return (
        x[0] + time * v[0] + cosine * b[0] + sine * c[0],
        x[1] + time * v[1] + cosine * b[1] + sine * c[1],
        x[2] + time * v[2] + cosine * b[2] + sine * c[2],
    )
