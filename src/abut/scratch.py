"""Small buffers on the stack, for element functions that need more than a few scalars.

An array would be allocated on the heap, and CUDA device functions cannot do that. These are LLVM `alloca`s of a fixed size with plain loads
and stores; with `NUMBA_DISABLE_JIT=1` the same calls work on NumPy arrays. Nothing checks the bounds in compiled code: callers state
why their index is in range, and the interpreted pass of the test suite, where NumPy checks, runs the same code.
"""

from typing import Any

import numpy as np
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic

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
