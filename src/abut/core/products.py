"""The product of two doubles without error: `product_and_error(a, b)` gives p and e with a·b = p + e, p being the rounded product.

On a processor e comes of Dekker's formula with Veltkamp's splitting: 17 operations that every processor has, where a fused multiplication and
addition (`fma`) would be a slow call on older ones. On a CUDA device there is an `fma`, and e = fma(a, b, −p). There p must be a rounded product for
certain: a compiler that contracts a·b + c into one operation would take a·b for p in a later sum, and p + e would no longer be a·b.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from abut.core.jit import INTERPRETED

SPLITTER = 134217729.0  # 2²⁷ + 1


def _split(a: float, b: float) -> tuple[float, float]:
    p = a * b
    c = SPLITTER * a
    a_high = c - (c - a)
    a_low = a - a_high
    c = SPLITTER * b
    b_high = c - (c - b)
    b_low = b - b_high
    return p, a_low * b_low - (((p - a_high * b_high) - a_low * b_high) - a_high * b_low)


def _fuse(builder: Any, a: Any, b: Any) -> list[Any]:
    number = ir.DoubleType()
    rounded = ir.FunctionType(number, [number, number])
    fused = ir.FunctionType(number, [number, number, number])
    p = builder.call(cgutils.get_or_insert_function(builder.module, rounded, "llvm.nvvm.mul.rn.d"), [a, b])
    minus = builder.fsub(ir.Constant(number, -0.0), p)
    e = builder.call(cgutils.get_or_insert_function(builder.module, fused, "llvm.fma.f64"), [a, b, minus])
    return [p, e]


def _emit(typingctx: Any, a: Any, b: Any) -> Any:
    signature = types.UniTuple(types.float64, 2)(types.float64, types.float64)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if is_for_cuda(builder):
            return context.make_tuple(builder, signature.return_type, _fuse(builder, *args))
        return context.compile_internal(builder, _split, signature, args)

    return signature, codegen


def is_for_cuda(builder: Any) -> bool:
    """Whether what is being compiled will run on a CUDA device."""
    return "nvptx" in builder.module.triple


product_and_error: Any = _split if INTERPRETED else intrinsic(_emit)
"""`product_and_error(a, b)`: the rounded product and its exact error, as long as nothing overflows and no part falls below 2⁻¹⁰⁷⁴."""
