"""Arguments of `abut.cells` that are no arrays of one shape: numbers of cells, choices, flags, lists of loops. Bad ones are refused by name."""

from collections.abc import Iterable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from abut.core import arrays
from abut.core.arrays import Integers
from abut.core.errors import InvalidInput


def read_array(value: object, name: str) -> NDArray[Any]:
    """Whatever holds numbers as an array, of any shape and dtype."""
    return cast("NDArray[Any]", value) if isinstance(value, np.ndarray) else arrays._read_object(value, name)


def read_numbers(value: object, name: str, limit: int) -> Integers:
    """(k,) indices below `limit`, from one number or from many."""
    return arrays.indices(read_array(value, name).reshape(-1, 1), name, 1, limit)[:, 0]


def read_choice(value: object, name: str, choices: tuple[str, ...]) -> None:
    """Refuse what is none of some words."""
    if not isinstance(value, str) or value not in choices:
        raise InvalidInput(name, f"{describe(value)} is none of {', '.join(map(repr, choices))}")


def read_flag(value: object, name: str) -> bool:
    """True or False, also as the integers 1 and 0."""
    if isinstance(value, bool | np.bool_) or (isinstance(value, int | np.integer) and value in (0, 1)):
        return bool(value)
    raise InvalidInput(name, f"{describe(value)} is neither True nor False")


def read_items(value: object, name: str, row: int | None = None) -> list[Any]:
    """The items of a list, or of anything else that can be gone through once."""
    if isinstance(value, str | bytes | dict) or not isinstance(value, Iterable):
        raise InvalidInput(name, f"{describe(value)} is no list", row)
    try:
        return list(cast("Iterable[Any]", value))
    except MemoryError:
        raise
    except Exception as error:
        raise InvalidInput(name, f"cannot be gone through ({error})", row) from error


def refuse_kind(value: object, kind: type, name: str, row: int | None = None) -> None:
    """Refuse what is no object of a class."""
    if not isinstance(value, kind):
        raise InvalidInput(name, f"{describe(value)} is no {kind.__name__}", row)


def describe(value: object) -> str:
    """A short name of a value, for messages."""
    return repr(value)[:40] if isinstance(value, str | int | float | None) else f"a {type(value).__name__}"
