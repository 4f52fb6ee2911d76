"""Eight and sixteen lanes of float32 at once: vectors for the inner loops that Numba's own vectoriser misses.

A `Lanes` value is one LLVM vector (`<8 x float>`), lowered to whatever the processor has (AVX-512, AVX2, NEON). Kernels compute with it
as with a number: `+ − ·`, `abs`, comparisons that give a `Mask`, `minimum`, `maximum`, `where`. A mask becomes an integer with `bits`, whose
lowest bit is lane 0. Sums and products may be contracted to fused ones, so the last bit depends on the processor; what decides a verdict
carries a margin for that.

Four planes in float64 at a point: `lowest_height_4(planes, offset, stride, x, y, z)` is the smallest n·q + d, and `low_heights_4` has bit k
set where plane k is below −1, and bit 32 + k where it is at most 1. The planes' nx, ny, nz and d lie `stride` apart in an array in C order.

With `NUMBA_DISABLE_JIT=1` the same names work on NumPy arrays of 8 or 16 float32: the twin is NumPy itself.
"""

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing import templates
from numba.core.typing.templates import AbstractTemplate, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from abut.jit import INTERPRETED

FLOAT = ir.FloatType()
infer_global: Any = templates.infer_global


class Lanes(types.Type):
    """Numba type of `width` float32 numbers in one register."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"Lanes({width})")


class Mask(types.Type):
    """Numba type of `width` truth values in one register."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"Mask({width})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, ir.VectorType(FLOAT, fe_type.width))


@register_model(Mask)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, ir.VectorType(ir.IntType(1), fe_type.width))


# ---- operators


def _register_binary(op: Any, result: Any, emit: Any) -> None:
    @infer_global(op)
    class _Template(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) == 2 and isinstance(args[0], Lanes) and args[0] == args[1]:
                return signature(result(args[0].width), *args)
            return None

    @lower_builtin(op, Lanes, Lanes)
    def _lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return emit(builder, args[0], args[1])


_CONTRACT = ("contract",)
_register_binary(operator.add, Lanes, lambda b, x, y: b.fadd(x, y, flags=_CONTRACT))
_register_binary(operator.sub, Lanes, lambda b, x, y: b.fsub(x, y, flags=_CONTRACT))
_register_binary(operator.mul, Lanes, lambda b, x, y: b.fmul(x, y, flags=_CONTRACT))
_register_binary(operator.truediv, Lanes, lambda b, x, y: b.fdiv(x, y))
_register_binary(operator.lt, Mask, lambda b, x, y: b.fcmp_ordered("<", x, y))
_register_binary(operator.le, Mask, lambda b, x, y: b.fcmp_ordered("<=", x, y))
_register_binary(operator.gt, Mask, lambda b, x, y: b.fcmp_ordered(">", x, y))
_register_binary(operator.ge, Mask, lambda b, x, y: b.fcmp_ordered(">=", x, y))


def _register_mask(op: Any, emit: Any) -> None:
    @infer_global(op)
    class _Template(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) == 2 and isinstance(args[0], Mask) and args[0] == args[1]:
                return signature(args[0], *args)
            return None

    @lower_builtin(op, Mask, Mask)
    def _lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return emit(builder, args[0], args[1])


_register_mask(operator.and_, lambda b, x, y: b.and_(x, y))
_register_mask(operator.or_, lambda b, x, y: b.or_(x, y))


def _register_unary(op: Any, emit: Any) -> None:
    @infer_global(op)
    class _Template(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) == 1 and isinstance(args[0], Lanes):
                return signature(args[0], *args)
            return None

    @lower_builtin(op, Lanes)
    def _lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return emit(builder, args[0], sig.args[0].width)


def _emit_abs(builder: Any, x: Any, width: int) -> Any:
    kind = ir.VectorType(FLOAT, width)
    function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind, [kind]), f"llvm.fabs.v{width}f32")
    return builder.call(function, [x])


_register_unary(abs, _emit_abs)
_register_unary(operator.neg, lambda b, x, width: b.fneg(x))


# ---- functions


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, offset: Any, width: int) -> Any:
    data = (
        context.make_array(array_type)(context, builder, array).data if isinstance(array_type, types.Array) else array
    )
    place = builder.gep(data, [offset])
    return builder.bitcast(place, ir.VectorType(FLOAT, width).as_pointer())


def _load(width: int) -> Any:
    def build(typingctx: Any, array: Any, offset: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return builder.load(_pointer(context, builder, sig.args[0], args[0], args[1], width), align=4)

        return Lanes(width)(array, types.intp), codegen

    return intrinsic(build)


def _splat(width: int) -> Any:
    def build(typingctx: Any, value: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            kind = ir.VectorType(FLOAT, width)
            first = builder.insert_element(ir.Constant(kind, ir.Undefined), args[0], ir.IntType(32)(0))
            zeros = ir.Constant(ir.VectorType(ir.IntType(32), width), [0] * width)
            return builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), zeros)

        return Lanes(width)(types.float32), codegen

    return intrinsic(build)


def _store(typingctx: Any, array: Any, offset: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        width = sig.args[2].width
        builder.store(args[2], _pointer(context, builder, sig.args[0], args[0], args[1], width), align=4)
        return context.get_dummy_value()

    return types.none(array, types.intp, value), codegen


def _extremum(sign: str) -> Any:
    def build(typingctx: Any, x: Any, y: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return builder.select(builder.fcmp_ordered(sign, args[0], args[1]), args[0], args[1])

        return x(x, x), codegen

    return intrinsic(build)


def _where(typingctx: Any, mask: Any, x: Any, y: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(args[0], args[1], args[2])

    return x(mask, x, x), codegen


def _bits(typingctx: Any, mask: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        packed = builder.bitcast(args[0], ir.IntType(sig.args[0].width))
        return builder.zext(packed, ir.IntType(64))

    return types.int64(mask), codegen


def _lane(typingctx: Any, x: Any, index: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.extract_element(args[0], args[1])

    return types.float32(x, types.int64), codegen


def _lowest(typingctx: Any, mask: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.IntType(1)(1))

    return types.int64(types.int64), codegen


def _heights(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Four values n·q + d in float64; the planes' nx, ny, nz and d lie `stride` apart."""
    array, offset, stride, *point = args
    data = context.make_array(sig.args[0])(context, builder, array).data
    kind = ir.VectorType(ir.DoubleType(), 4)
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), 4), [0] * 4)

    def row(k: int) -> Any:
        place = builder.gep(data, [builder.add(offset, builder.mul(stride, ir.IntType(64)(k)))])
        return builder.load(builder.bitcast(place, kind.as_pointer()), align=8)

    total = None
    for k, value in enumerate(point):
        first = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.IntType(32)(0))
        term = builder.fmul(row(k), builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), zeros))
        total = term if total is None else builder.fadd(total, term)
    return builder.fadd(total, row(3))


_PLANE_ARGUMENTS = (types.intp, types.intp, types.float64, types.float64, types.float64)


def _lowest_height(typingctx: Any, planes: Any, offset: Any, stride: Any, x: Any, y: Any, z: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        values = _heights(context, builder, sig, args)
        a, b, c, d = (builder.extract_element(values, ir.IntType(32)(k)) for k in range(4))
        a = builder.select(builder.fcmp_ordered("<", b, a), b, a)
        c = builder.select(builder.fcmp_ordered("<", d, c), d, c)
        return builder.select(builder.fcmp_ordered("<", c, a), c, a)

    return types.float64(planes, *_PLANE_ARGUMENTS), codegen


def _low_heights(typingctx: Any, planes: Any, offset: Any, stride: Any, x: Any, y: Any, z: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        values = _heights(context, builder, sig, args)

        def below(sign: str, limit: float) -> Any:
            mask = builder.fcmp_ordered(sign, values, ir.Constant(values.type, [limit] * 4))
            return builder.zext(builder.bitcast(mask, ir.IntType(4)), ir.IntType(64))

        return builder.or_(below("<", -1.0), builder.shl(below("<=", 1.0), ir.IntType(64)(32)))

    return types.int64(planes, *_PLANE_ARGUMENTS), codegen


def _heights_array(planes: Any, offset: int, stride: int, x: float, y: float, z: float) -> Any:
    rows = [planes.reshape(-1)[offset + k * stride : offset + k * stride + 4] for k in range(4)]
    return rows[0] * x + rows[1] * y + rows[2] * z + rows[3]


def _low_heights_array(*args: Any) -> int:
    values = _heights_array(*args)
    return bits(values < -1.0) | bits(values <= 1.0) << 32


def _store_array(array: Any, offset: int, value: Any) -> None:
    array.reshape(-1)[offset : offset + len(value)] = value


if INTERPRETED:
    load_8: Any = lambda array, offset: array.reshape(-1)[offset : offset + 8].copy()  # noqa: E731
    load_16: Any = lambda array, offset: array.reshape(-1)[offset : offset + 16].copy()  # noqa: E731
    splat_8: Any = lambda value: np.full(8, value, dtype=np.float32)  # noqa: E731
    splat_16: Any = lambda value: np.full(16, value, dtype=np.float32)  # noqa: E731
    store: Any = _store_array
    minimum: Any = lambda x, y: np.where(x < y, x, y)  # noqa: E731
    maximum: Any = lambda x, y: np.where(x > y, x, y)  # noqa: E731
    where: Any = np.where
    bits: Any = lambda mask: int(np.dot(mask, 1 << np.arange(len(mask))))  # noqa: E731
    lane: Any = lambda x, index: x[index]  # noqa: E731
    lowest_bit: Any = lambda mask: (mask & -mask).bit_length() - 1  # noqa: E731
    lowest_height_4: Any = lambda *args: _heights_array(*args).min()  # noqa: E731
    low_heights_4: Any = _low_heights_array
else:
    load_8 = _load(8)
    load_16 = _load(16)
    splat_8 = _splat(8)
    splat_16 = _splat(16)
    store = intrinsic(_store)
    minimum = _extremum("<")
    maximum = _extremum(">")
    where = intrinsic(_where)
    bits = intrinsic(_bits)
    lane = intrinsic(_lane)
    lowest_bit = intrinsic(_lowest)
    lowest_height_4 = intrinsic(_lowest_height)
    low_heights_4 = intrinsic(_low_heights)
