"""Memory without array objects: small buffers on the stack, and views of arrays by their address.

An array would be allocated on the heap, and CUDA device functions cannot do that. These are LLVM `alloca`s of a fixed size with plain loads
and stores; with `NUMBA_DISABLE_JIT=1` the same calls work on NumPy arrays. Nothing checks the bounds in compiled code: callers state
why their index is in range, and the interpreted pass of the test suite, where NumPy checks, runs the same code.

An array costs 0.1 µs to pass from Python to a kernel, a tuple of arrays half a microsecond and more. `view_…(address, shape)` lets a kernel open many
arrays from one table of addresses. Whoever writes the table keeps the arrays alive while it is in use.
"""

import ctypes
from typing import Any

import numpy as np
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic, register_jitable
from numba.np.numpy_support import carray

from abut.jit import INTERPRETED


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


def _load(typingctx: Any, buffer: Any, index: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(cgutils.gep(builder, args[0], args[1]))

    return buffer.dtype(buffer, types.intp), codegen


def _store(typingctx: Any, buffer: Any, index: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], cgutils.gep(builder, args[0], args[1]))
        return context.get_dummy_value()

    return types.none(buffer, types.intp, buffer.dtype), codegen


def _view(kind: Any) -> Any:
    def build(typingctx: Any, address: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

        return types.CPointer(kind)(types.intp), codegen

    pointer_to: Any = intrinsic(build)

    @register_jitable
    def view(address: int, shape: Any) -> Any:
        return carray(pointer_to(address), shape)

    return view


def _array_at(dtype: type) -> Any:
    def view(address: int, shape: Any) -> Any:
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        memory: Any = (ctypes.c_char * size).from_address(int(address))
        return np.frombuffer(memory, dtype=dtype).reshape(shape)

    return view


def _array_of(dtype: type) -> Any:
    return lambda size: np.full(size, -1, dtype=dtype)


reserve_floats: Any = _array_of(np.float64) if INTERPRETED else _reserve(types.float64)
"""`reserve_floats(n)`: a buffer of n float64, not initialised; n must be a literal."""

reserve_integers: Any = _array_of(np.int64) if INTERPRETED else _reserve(types.int64)
"""`reserve_integers(n)`: a buffer of n int64, not initialised; n must be a literal."""

load: Any = (lambda buffer, index: buffer[index]) if INTERPRETED else intrinsic(_load)
"""`load(buffer, index)`"""

store: Any = (lambda buffer, index, value: buffer.__setitem__(index, value)) if INTERPRETED else intrinsic(_store)
"""`store(buffer, index, value)`"""

view_floats32: Any = _array_at(np.float32) if INTERPRETED else _view(types.float32)
"""`view_floats32(address, shape)`: the float32 array that lies at an address."""

view_floats: Any = _array_at(np.float64) if INTERPRETED else _view(types.float64)
"""`view_floats(address, shape)`: the float64 array that lies at an address."""

view_integers32: Any = _array_at(np.int32) if INTERPRETED else _view(types.int32)
"""`view_integers32(address, shape)`: the int32 array that lies at an address."""
