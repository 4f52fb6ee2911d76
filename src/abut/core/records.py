"""Rows with named fields: `contacts[i].normal_impulse` in a kernel, `contacts["normal_impulse"]`, a column, in Python.

All fields of a row stand side by side in memory, as a loop that visits rows in any order wants them.
"""

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from abut.core.arrays import Floats
from abut.core.jit import inlined

if TYPE_CHECKING:
    Record: TypeAlias = Any  # its fields are known to NumPy alone
else:

    class Record(np.record):
        """A row. NumPy's own looks for other attributes first, which takes several times as long where kernels are interpreted."""

        __getattribute__ = np.void.__getattribute__
        __getattr__ = np.void.__getitem__
        __setattr__ = np.void.__setitem__


Records: TypeAlias = Any
"""(n,) an array of rows of one kind: an index gives a row, a name a column."""


def record(*fields: tuple[Any, ...]) -> np.dtype[Any]:
    """The dtype of rows with these fields. Numba knows a dtype again by its identity: make each once, and arrays with `np.zeros` or `view`."""
    taken = [field[0] for field in fields if hasattr(np.void, field[0])]
    if taken:
        raise ValueError(f"{taken[0]} is an attribute of all NumPy scalars, which would hide the field")
    return np.dtype((Record, np.dtype(list(fields), align=True)))


@inlined
def vector(field: Floats) -> tuple[float, float, float]:
    """Three numbers of a row's field."""
    return (field[0], field[1], field[2])


@inlined
def put(field: Floats, v: tuple[float, float, float]) -> None:
    """Write three numbers into a row's field."""
    field[0], field[1], field[2] = v
