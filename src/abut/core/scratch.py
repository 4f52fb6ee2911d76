"""Memory without array objects: small buffers on the stack, and numbers at an address.

An array would be allocated on the heap, and CUDA device functions cannot do that. These are LLVM `alloca`s of a fixed size with plain loads
and stores; with `NUMBA_DISABLE_JIT=1` the same calls work on NumPy arrays. Nothing checks the bounds in compiled code: callers state
why their index is in range, and the interpreted pass of the test suite, where NumPy checks the buffers (not the pointers), runs the same code.

An array costs 0.1 µs to pass from Python to a kernel, a tuple of arrays half a microsecond and more; and inside a kernel every variable that holds an
array is cleared and counted, which a search of two trees feels. `pointer_to_…(address)` lets a kernel read arrays from one table of addresses, for
nothing. Whoever writes the table keeps the arrays alive while it is in use.
"""

import ctypes
import math
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from abut.core.jit import INTERPRETED
from abut.core.products import is_for_cuda


def _reserve(kind: Any) -> Any:
    def build(typingctx: Any, size: Any) -> Any:
        if not isinstance(size, types.IntegerLiteral):
            raise TypingError("the size of a stack buffer must be a literal")
        count = size.literal_value

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            with builder.goto_entry_block():
                return builder.alloca(context.get_value_type(kind), size=context.get_constant(types.intp, count))

        return types.CPointer(kind)(size), codegen

    return intrinsic(build)


def _place(context: Any, builder: Any, kind: Any, buffer: Any, index: Any) -> Any:
    if isinstance(kind, types.Array):
        buffer = context.make_array(kind)(context, builder, buffer).data
    return cgutils.gep(builder, buffer, index)


def _load(typingctx: Any, buffer: Any, index: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _place(context, builder, signature.args[0], args[0], args[1])
        return context.unpack_value(builder, buffer.dtype, place)  # a boolean is a byte in memory

    return buffer.dtype(buffer, types.intp), codegen


def _store(typingctx: Any, buffer: Any, index: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _place(context, builder, signature.args[0], args[0], args[1])
        context.pack_value(builder, buffer.dtype, args[2], place)
        return context.get_dummy_value()

    return types.none(buffer, types.intp, buffer.dtype), codegen


def _prefetch(typingctx: Any, array: Any, index: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if is_for_cuda(builder):
            return context.get_dummy_value()
        place = _place(context, builder, signature.args[0], args[0], args[1])
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [builder.bitcast(place, byte), word(0), word(3), word(1)])  # to read, keep near, data
        return context.get_dummy_value()

    return types.none(array, types.intp), codegen


def _pointer(kind: Any) -> Any:
    def build(typingctx: Any, address: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

        return types.CPointer(kind)(types.intp), codegen

    return intrinsic(build)


class _Memory:
    """The twin of a pointer: NumPy arrays over an address, of no stated length."""

    def __init__(self, address: int, dtype: Any) -> None:
        self.address, self.dtype = int(address), np.dtype(dtype)

    def __getitem__(self, index: Any) -> Any:
        start, stop = (index.start, index.stop) if isinstance(index, slice) else (index, index + 1)
        size = self.dtype.itemsize
        memory: Any = (ctypes.c_char * ((stop - start) * size)).from_address(self.address + int(start) * size)
        values = np.frombuffer(memory, dtype=self.dtype)
        return values if isinstance(index, slice) else values[0]

    def __setitem__(self, index: Any, value: Any) -> None:
        self[index if isinstance(index, slice) else slice(index, index + 1)][:] = value

    def reshape(self, shape: int) -> "_Memory":
        return self


def _memory_of(dtype: Any) -> Any:
    return lambda address: _Memory(address, dtype)


def _array_of(dtype: type) -> Any:
    return lambda size: np.full(size, -1, dtype=dtype)


reserve_floats: Any = _array_of(np.float64) if INTERPRETED else _reserve(types.float64)
"""`reserve_floats(n)`: a buffer of n float64, not initialised; n must be a literal."""

reserve_floats32: Any = _array_of(np.float32) if INTERPRETED else _reserve(types.float32)
"""`reserve_floats32(n)`: a buffer of n float32, not initialised; n must be a literal."""

reserve_integers: Any = _array_of(np.int64) if INTERPRETED else _reserve(types.int64)
"""`reserve_integers(n)`: a buffer of n int64, not initialised; n must be a literal."""

reserve_integers32: Any = _array_of(np.int32) if INTERPRETED else _reserve(types.int32)
"""`reserve_integers32(n)`: a buffer of n int32, not initialised; n must be a literal."""

load: Any = (lambda buffer, index: buffer.reshape(-1)[index]) if INTERPRETED else intrinsic(_load)
"""`load(buffer, index)`: from a buffer, a pointer, or an array in C order taken as one row."""

store: Any = (lambda buffer, index, value: buffer.__setitem__(index, value)) if INTERPRETED else intrinsic(_store)
"""`store(buffer, index, value)`"""

pointer_to_floats32: Any = _memory_of(np.float32) if INTERPRETED else _pointer(types.float32)
"""`pointer_to_floats32(address)`: float32 numbers at an address, to be read with `load`."""

pointer_to_floats: Any = _memory_of(np.float64) if INTERPRETED else _pointer(types.float64)
"""`pointer_to_floats(address)`: float64 numbers at an address."""

pointer_to_integers: Any = _memory_of(np.int64) if INTERPRETED else _pointer(types.int64)
"""`pointer_to_integers(address)`: int64 numbers at an address."""

as_array: Any = (lambda buffer, shape: buffer[0 : math.prod(shape)].reshape(shape)) if INTERPRETED else numba.carray  # pyright: ignore[reportPrivateImportUsage]
"""`as_array(buffer, shape)`: a buffer or pointer as an array, for functions that take arrays. It does not keep the memory alive."""

pointer_to_integers32: Any = _memory_of(np.int32) if INTERPRETED else _pointer(types.int32)
"""`pointer_to_integers32(address)`: int32 numbers at an address."""

pointer_to_flags: Any = _memory_of(np.bool_) if INTERPRETED else _pointer(types.boolean)
"""`pointer_to_flags(address)`: booleans at an address."""


def pointer_to_records(kind: np.dtype[Any]) -> Any:
    """The function of an address that gives the records of a dtype there (`core.records`)."""
    return _memory_of(kind) if INTERPRETED else _pointer(numba.from_dtype(kind))


prefetch: Any = (lambda array, index: None) if INTERPRETED else intrinsic(_prefetch)
"""`prefetch(array, index)`: ask for the cache line of a number that will be read soon; an array in C order taken as one row. Changes nothing
else, and does nothing on CUDA devices, which hide the wait behind other threads."""
