"""Arguments of `abut.cells` that the border (`core.arrays`) does not know: numbers of cells, marks, lists of loops. Bad ones are refused by name."""

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from abut.core import arrays
from abut.core.arrays import Integers
from abut.core.errors import InvalidInput
from abut.core.types import FlagsLike, IndicesLike

Walk: TypeAlias = Literal["planes", "darts"]
"""How paths are followed: by records of planes, or by darts as in the thesis."""


def read_numbers(value: IndicesLike, name: str, limit: int) -> Integers:
    """(k,) indices below `limit`, from one number or from many."""
    return arrays.indices(arrays.as_array(value, name).reshape(-1, 1), name, 1, limit)[:, 0]


def read_mask(value: FlagsLike, name: str, count: int | None) -> NDArray[np.bool_]:
    """(count,) booleans from booleans or from the integers 0 and 1; of any shape where count is None."""
    mask = arrays.as_array(value, name)
    if mask.dtype != np.bool_:
        if mask.dtype.kind not in "iu" or not np.isin(mask, (0, 1)).all():
            raise InvalidInput(name, f"holds other values than False and True (dtype {mask.dtype})")
        mask = mask.astype(np.bool_)
    if count is not None and mask.shape != (count,):
        raise InvalidInput(name, f"has shape {mask.shape}, expected ({count},)")
    return mask


def read_items(value: object, name: str, row: int | None = None) -> list[Any]:
    """The items of a list, or of anything else that can be gone through once."""
    if isinstance(value, str | bytes | dict) or not isinstance(value, Iterable):
        raise InvalidInput(name, f"{_describe(value)} is no list", row)
    return arrays.listed(value, name, row)


def _describe(value: object) -> str:
    """A short name of a value, for messages."""
    return repr(value)[:40] if isinstance(value, str | int | float | None) else f"a {type(value).__name__}"
