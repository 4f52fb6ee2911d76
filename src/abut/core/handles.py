"""Tables of addresses: one array that stands for many on the way from Python to a kernel.

A NamedTuple states what a table holds, a field each: arrays by the kind of their numbers (`FloatsAt`, `Integers32At` …, or
`Annotated[Any, ROW]` for records of dtype ROW), and whole numbers (`int`). `pack` writes the table and refuses an array of another kind or
layout; `unpack`, in a kernel, reads it into the same NamedTuple, whose arrays are now pointers for `scratch.load`. Whoever packs keeps the
arrays alive while the table is in use. With `NUMBA_DISABLE_JIT=1` the same calls run as plain Python.
"""

import functools
from typing import Annotated, Any, NamedTuple, TypeAlias, TypeVar, get_args, get_type_hints

import numba
import numpy as np
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numpy.typing import NDArray

from abut.core.jit import INTERPRETED
from abut.core.scratch import (
    pointer_to_flags,
    pointer_to_floats,
    pointer_to_floats32,
    pointer_to_integers,
    pointer_to_integers32,
    pointer_to_records,
)

FloatsAt: TypeAlias = Annotated[Any, np.float64]
Floats32At: TypeAlias = Annotated[Any, np.float32]
IntegersAt: TypeAlias = Annotated[Any, np.int64]
Integers32At: TypeAlias = Annotated[Any, np.int32]
FlagsAt: TypeAlias = Annotated[Any, np.bool_]

T = TypeVar("T", bound=NamedTuple)


class _Kind(NamedTuple):
    """How numbers of one dtype are pointed at: with Numba's type, and interpreted."""

    numba: Any
    point: Any


_KINDS = {
    np.float64: _Kind(types.float64, pointer_to_floats),
    np.float32: _Kind(types.float32, pointer_to_floats32),
    np.int64: _Kind(types.int64, pointer_to_integers),
    np.int32: _Kind(types.int32, pointer_to_integers32),
    np.bool_: _Kind(types.boolean, pointer_to_flags),
}


def _kind_of(numbers: Any) -> _Kind:
    """Of one of the dtypes above, or of records (`core.records`)."""
    if numbers in _KINDS:
        return _KINDS[numbers]
    return _Kind(numba.from_dtype(numbers), pointer_to_records(numbers))


@functools.cache
def fields_of(layout: type) -> tuple[Any, ...]:
    """The dtype of each field; None for a whole number."""
    hints = get_type_hints(layout, include_extras=True)
    found: list[Any] = []
    for name in layout._fields:  # pyright: ignore[reportAttributeAccessIssue]
        kind = next((kind for kind in get_args(hints[name])[1:] if kind in _KINDS or isinstance(kind, np.dtype)), None)
        if kind is None and hints[name] is not int:
            raise TypeError(f"{layout.__name__}.{name} is neither an array of stated numbers nor an int")
        found.append(kind)
    return tuple(found)


def pack(layout: type, *values: Any) -> NDArray[np.int64]:
    """(fields,) the table of a layout, from an array or a whole number for each of its fields."""
    kinds, names = fields_of(layout), layout._fields  # pyright: ignore[reportAttributeAccessIssue]
    if len(values) != len(kinds):
        raise TypeError(f"{layout.__name__} has {len(kinds)} fields, not {len(values)}")
    table = np.empty(len(kinds), np.int64)
    for i, (kind, value) in enumerate(zip(kinds, values, strict=True)):
        if kind is None:
            table[i] = value
        elif value.dtype != kind or not value.flags.c_contiguous:
            raise TypeError(f"{layout.__name__}.{names[i]} is not a {np.dtype(kind).name} array in C order")
        else:
            table[i] = value.ctypes.data
    return table


def _unpack(typingctx: Any, layout: Any, table: Any) -> Any:
    if not isinstance(layout, types.NamedTupleClass):
        raise TypingError("the first argument must be the class of a NamedTuple")
    kinds = fields_of(layout.instance_class)
    members = [types.int64 if kind is None else types.CPointer(_kind_of(kind).numba) for kind in kinds]
    result: Any = types.BaseTuple.from_types(members, pyclass=layout.instance_class)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        table = args[1]
        if isinstance(signature.args[1], types.Array):
            table = context.make_array(signature.args[1])(context, builder, table).data
        values: list[Any] = []
        for i, member in enumerate(members):
            number = builder.load(cgutils.gep(builder, table, i))
            pointed = isinstance(member, types.CPointer)
            values.append(builder.inttoptr(number, context.get_value_type(member)) if pointed else number)
        make: Any = context.make_tuple
        return make(builder, signature.return_type, values)

    return result(layout, table), codegen


def _unpack_plainly(layout: Any, table: Any) -> Any:
    kinds = fields_of(layout)
    return layout(*(int(table[i]) if kind is None else _kind_of(kind).point(table[i]) for i, kind in enumerate(kinds)))


unpack: Any = _unpack_plainly if INTERPRETED else intrinsic(_unpack)
"""`unpack(Layout, table)`, in a kernel: the fields of a packed table, arrays as pointers. The table is an array of 64-bit integers, or a
pointer to such."""
