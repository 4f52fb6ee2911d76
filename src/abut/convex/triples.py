"""Three numbers behind a pointer, read and written: vectors, and corners of triangles."""

from typing import Any

from abut.core.jit import element
from abut.core.scratch import load, store


@element
def triple_from(pointer: Any, at: int) -> tuple[Any, Any, Any]:
    """Three numbers, the first of them number `at`."""
    return (load(pointer, at), load(pointer, at + 1), load(pointer, at + 2))


@element
def triple_at(pointer: Any, k: int) -> tuple[Any, Any, Any]:
    """Row k of a table of three columns."""
    return triple_from(pointer, 3 * k)


@element
def put_triple(pointer: Any, k: int, values: tuple[Any, Any, Any]) -> None:
    """Write row k of a table of three columns."""
    store(pointer, 3 * k, values[0])
    store(pointer, 3 * k + 1, values[1])
    store(pointer, 3 * k + 2, values[2])
