"""Vectors that lie in the rows of arrays: the one way to read and write them in kernels, and to make many of them unit vectors."""

from typing import Any, TypeAlias

import numpy as np

from abut.core.arrays import Floats
from abut.core.jit import kernel
from abut.geometry.vec import Vec3

Row: TypeAlias = Any
"""An int, or what NumPy's stubs make of an element of an index array."""


@kernel
def vector_at(rows: Floats, i: Row) -> Vec3:
    """The first three numbers of row i."""
    return (rows[i, 0], rows[i, 1], rows[i, 2])


@kernel
def vector_in(rows: Floats, i: Row, column: int) -> Vec3:
    """Three numbers of row i, from a column on."""
    return (rows[i, column], rows[i, column + 1], rows[i, column + 2])


@kernel
def put_vector(rows: Floats, i: Row, column: int, v: Vec3) -> None:
    """Write three numbers of row i, from a column on."""
    rows[i, column], rows[i, column + 1], rows[i, column + 2] = v


def unit_vectors(vectors: Floats) -> Floats:
    """Vectors (…,3) of length 1; those of length 0 stay as they are."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0.0)
