"""Vectors of the plane that lie in the rows of arrays: the one way to read them in kernels of contours."""

from abut.core.arrays import Floats
from abut.core.jit import kernel
from abut.geometry.vec import Vec2


@kernel
def vector_at_2d(rows: Floats, i: int) -> Vec2:
    """The first two numbers of row i."""
    return (rows[i, 0], rows[i, 1])
