"""Eight and sixteen lanes of float32 at once: vectors for the inner loops that Numba's own vectoriser misses.

A `Lanes` value is one LLVM vector (`<8 x float>`), lowered to whatever the processor has (AVX-512, AVX2, NEON). Kernels compute with it
as with a number: `+ − ·`, `abs`, comparisons that give a `Mask`, `minimum`, `maximum`, `where`. A mask becomes an integer with `bits`, whose
lowest bit is lane 0. Sums and products may be contracted to fused ones, so the last bit depends on the processor; what decides a verdict
carries a margin for that.

`Indices` are sixteen int32, to be compared with `==` and `<` and to be stored without those that a mask leaves out.

Four planes in float64 at a point: `low_heights_4(planes, offset, stride, x, y, z)` has bit k set where n·q + d of plane k is below −1, and
bit 32 + k where it is not above 1, which NaN is not. The planes' nx, ny, nz and d lie `stride` apart in an array in C order.

With `NUMBA_DISABLE_JIT=1` the same names work on NumPy arrays of 8 or 16 float32 (int32) and 4 float64: the twin is NumPy itself.
"""

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing import templates
from numba.core.typing.templates import AbstractTemplate, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from abut.core.jit import INTERPRETED

FLOAT = ir.FloatType()
INTEGER = ir.IntType(32)
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


class Indices(types.Type):
    """Numba type of `width` int32 numbers in one register."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"Indices({width})")


@register_model(Indices)
class _IndicesModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, ir.VectorType(INTEGER, fe_type.width))


# ---- operators


def _register_binary(op: Any, result: Any, emit: Any, kind: Any = Lanes) -> None:
    @infer_global(op)
    class _Template(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) == 2 and isinstance(args[0], kind) and args[0] == args[1]:
                return signature(result(args[0].width), *args)
            return None

    @lower_builtin(op, kind, kind)
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
_register_binary(operator.eq, Mask, lambda b, x, y: b.icmp_signed("==", x, y), Indices)
_register_binary(operator.lt, Mask, lambda b, x, y: b.icmp_signed("<", x, y), Indices)


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


def _pointer(
    context: Any, builder: Any, array_type: Any, array: Any, offset: Any, width: int, element: Any = FLOAT
) -> Any:
    data = (
        context.make_array(array_type)(context, builder, array).data if isinstance(array_type, types.Array) else array
    )
    place = builder.gep(data, [offset])
    return builder.bitcast(place, ir.VectorType(element, width).as_pointer())


def _load(width: int, kind: Any = Lanes, element: Any = FLOAT) -> Any:
    def build(typingctx: Any, array: Any, offset: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return builder.load(_pointer(context, builder, sig.args[0], args[0], args[1], width, element), align=4)

        return kind(width)(array, types.intp), codegen

    return intrinsic(build)


def _splat(width: int, result: Any = Lanes, element: Any = FLOAT) -> Any:
    scalar = types.float32 if result is Lanes else types.int32

    def build(typingctx: Any, value: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            kind = ir.VectorType(element, width)
            first = builder.insert_element(ir.Constant(kind, ir.Undefined), args[0], ir.IntType(32)(0))
            zeros = ir.Constant(ir.VectorType(ir.IntType(32), width), [0] * width)
            return builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), zeros)

        return result(width)(scalar), codegen

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


def _reduce(sign: str) -> Any:
    """One number of a vector: halves are compared until one lane is left."""

    def build(typingctx: Any, x: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            value, width = args[0], sig.args[0].width
            while width > 1:
                width //= 2
                undefined, part = ir.Constant(value.type, ir.Undefined), ir.VectorType(INTEGER, width)
                low = builder.shuffle_vector(value, undefined, ir.Constant(part, list(range(width))))
                high = builder.shuffle_vector(value, undefined, ir.Constant(part, list(range(width, 2 * width))))
                value = builder.select(builder.fcmp_ordered(sign, low, high), low, high)
            return builder.extract_element(value, INTEGER(0))

        return types.float32(x), codegen

    return intrinsic(build)


def _count(typingctx: Any, mask: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.int64), codegen


def _store_chosen(typingctx: Any, array: Any, offset: Any, value: Any, mask: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        width = sig.args[2].width
        kind, truth = ir.VectorType(INTEGER, width), ir.VectorType(ir.IntType(1), width)
        chosen = builder.bitcast(builder.trunc(args[3], ir.IntType(width)), truth)
        compress = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(kind, [kind, truth, kind]), f"llvm.experimental.vector.compress.v{width}i32"
        )
        packed = builder.call(compress, [args[2], chosen, ir.Constant(kind, ir.Undefined)])
        builder.store(packed, _pointer(context, builder, sig.args[0], args[0], args[1], width, INTEGER), align=4)
        return context.get_dummy_value()

    return types.none(array, types.intp, value, types.int64), codegen


def _store_pairs(typingctx: Any, array: Any, row: Any, first: Any, second: Any, mask: Any, ordered: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        array, row, first, second, mask, ordered = args
        wide, half = ir.IntType(64), ir.VectorType(ir.IntType(64), 8)
        kind = second.type
        undefined = ir.Constant(kind, ir.Undefined)
        own = builder.insert_element(undefined, first, INTEGER(0))
        own = builder.shuffle_vector(own, undefined, ir.Constant(ir.VectorType(INTEGER, 16), [0] * 16))
        swap = builder.and_(
            builder.icmp_signed("<", second, own),
            builder.shuffle_vector(
                builder.insert_element(
                    ir.Constant(ir.VectorType(ir.IntType(1), 16), ir.Undefined),
                    builder.icmp_signed("!=", ordered, wide(0)),
                    INTEGER(0),
                ),
                ir.Constant(ir.VectorType(ir.IntType(1), 16), ir.Undefined),
                ir.Constant(ir.VectorType(INTEGER, 16), [0] * 16),
            ),
        )
        low, high = builder.select(swap, second, own), builder.select(swap, own, second)
        data = context.make_array(sig.args[0])(context, builder, array).data
        count = wide(0)
        truth = ir.VectorType(ir.IntType(1), 8)
        compress = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(half, [half, truth, half]), "llvm.experimental.vector.compress.v8i64"
        )
        for part in range(2):
            lanes = ir.Constant(ir.VectorType(INTEGER, 8), list(range(8 * part, 8 * part + 8)))
            values = [builder.zext(builder.shuffle_vector(x, undefined, lanes), half) for x in (low, high)]
            both = builder.or_(values[0], builder.shl(values[1], ir.Constant(half, [32] * 8)))
            own_bits = builder.trunc(builder.lshr(mask, wide(8 * part)), ir.IntType(8))
            packed = builder.call(compress, [both, builder.bitcast(own_bits, truth), ir.Constant(half, ir.Undefined)])
            at = builder.mul(builder.add(row, count), wide(2))
            builder.store(packed, builder.bitcast(builder.gep(data, [at]), half.as_pointer()), align=4)
            count = builder.add(count, builder.zext(builder.ctpop(own_bits), wide))
        return count

    return types.int64(array, types.int64, types.int32, second, types.int64, types.int64), codegen


def _exchange(builder: Any, value: Any, distance: int, takes_less: Any) -> Any:
    """One stage of a sorting network: lane i and lane i ^ distance compare, and takes_less(i) tells whether lane i keeps the smaller."""
    width = value.type.count
    order = ir.Constant(ir.VectorType(INTEGER, width), [i ^ distance for i in range(width)])
    other = builder.shuffle_vector(value, ir.Constant(value.type, ir.Undefined), order)
    is_less = builder.icmp_signed("<", value, other)
    less, more = builder.select(is_less, value, other), builder.select(is_less, other, value)
    keeps = ir.Constant(ir.VectorType(ir.IntType(1), width), [int(takes_less(i)) for i in range(width)])
    return builder.select(keeps, less, more)


def _sort_16(typingctx: Any, array: Any, offset: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        place = _pointer(context, builder, sig.args[0], args[0], args[1], 16, INTEGER)
        value = builder.load(place, align=4)
        for size in (2, 4, 8, 16):
            distance = size // 2
            while distance:
                value = _exchange(
                    builder, value, distance, lambda i, d=distance, k=size: ((i & d) == 0) == ((i & k) == 0)
                )
                distance //= 2
        builder.store(value, place, align=4)
        return context.get_dummy_value()

    return types.none(array, types.intp), codegen


def _merge_16(typingctx: Any, array: Any, offset: Any, other: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        places = [_pointer(context, builder, sig.args[0], args[0], at, 16, INTEGER) for at in args[1:]]
        first, second = (builder.load(place, align=4) for place in places)
        backwards = ir.Constant(ir.VectorType(INTEGER, 16), list(range(15, -1, -1)))
        second = builder.shuffle_vector(second, ir.Constant(second.type, ir.Undefined), backwards)
        is_less = builder.icmp_signed("<", first, second)
        halves = builder.select(is_less, first, second), builder.select(is_less, second, first)
        for half, place in zip(halves, places, strict=True):
            value = half
            for distance in (8, 4, 2, 1):
                value = _exchange(builder, value, distance, lambda i, d=distance: (i & d) == 0)
            builder.store(value, place, align=4)
        return context.get_dummy_value()

    return types.none(array, types.intp, types.intp), codegen


def _sort_16_array(array: Any, offset: int) -> None:
    array[offset : offset + 16].sort()


def _merge_16_array(array: Any, offset: int, other: int) -> None:
    both = np.sort(np.concatenate([array[offset : offset + 16], array[other : other + 16]]))
    array[offset : offset + 16], array[other : other + 16] = both[:16], both[16:]


def _store_chosen_array(array: Any, offset: int, value: Any, mask: int) -> None:
    chosen = value[(mask >> np.arange(len(value))) & 1 == 1]
    array.reshape(-1)[offset : offset + len(value)] = np.concatenate([chosen, np.full(len(value) - len(chosen), -1)])


def _store_pairs_array(array: Any, row: int, first: int, second: Any, mask: int, ordered: int) -> int:
    for other in second[(int(mask) >> np.arange(16)) & 1 == 1]:
        array[row] = (min(first, other), max(first, other)) if ordered else (first, other)
        row += 1
    return int(mask).bit_count()


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


def _low_heights(typingctx: Any, planes: Any, offset: Any, stride: Any, x: Any, y: Any, z: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        values = _heights(context, builder, sig, args)

        def bits_of(mask: Any) -> Any:
            return builder.zext(builder.bitcast(mask, ir.IntType(4)), ir.IntType(64))

        beyond = builder.fcmp_ordered("<", values, ir.Constant(values.type, [-1.0] * 4))
        doubtful = builder.fcmp_unordered("<=", values, ir.Constant(values.type, [1.0] * 4))
        return builder.or_(bits_of(beyond), builder.shl(bits_of(doubtful), ir.IntType(64)(32)))

    return types.int64(planes, *_PLANE_ARGUMENTS), codegen


def _heights_array(planes: Any, offset: int, stride: int, x: float, y: float, z: float) -> Any:
    rows = [planes.reshape(-1)[offset + k * stride : offset + k * stride + 4] for k in range(4)]
    return rows[0] * x + rows[1] * y + rows[2] * z + rows[3]


def _low_heights_array(*args: Any) -> int:
    values = _heights_array(*args)
    return bits(values < -1.0) | bits(~(values > 1.0)) << 32


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
    lowest_bit: Any = lambda mask: (int(mask) & -int(mask)).bit_length() - 1  # noqa: E731
    load_indices_16: Any = lambda array, offset: array.reshape(-1)[offset : offset + 16].copy()  # noqa: E731
    splat_index_16: Any = lambda value: np.full(16, value, dtype=np.int32)  # noqa: E731
    least: Any = np.min
    greatest: Any = np.max
    count_bits: Any = lambda mask: int(mask).bit_count()  # noqa: E731
    store_chosen: Any = _store_chosen_array
    store_pairs: Any = _store_pairs_array
    sort_16: Any = _sort_16_array
    merge_16: Any = _merge_16_array
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
    load_indices_16 = _load(16, Indices, INTEGER)
    splat_index_16 = _splat(16, Indices, INTEGER)
    least = _reduce("<")
    greatest = _reduce(">")
    count_bits = intrinsic(_count)
    store_chosen = intrinsic(_store_chosen)
    """`store_chosen(array, offset, indices, mask)`: the indices whose bit is set, one after the other. All lanes are written: what
    follows the chosen ones is anything."""
    store_pairs = intrinsic(_store_pairs)
    """`store_pairs(array, row, first, indices, mask, ordered)`: rows (first, index) from `row` on, for the indices whose bit is set; the smaller
    first if `ordered` is not 0. Returns their number. Up to eight rows behind them become anything."""
    sort_16 = intrinsic(_sort_16)
    """`sort_16(array, offset)`: sort sixteen int32 in place, by a bitonic network (Batcher 1968)."""
    merge_16 = intrinsic(_merge_16)
    """`merge_16(array, offset, other)`: of two sorted sixteens the smaller half to `offset`, the larger to `other`, each sorted."""
    low_heights_4 = intrinsic(_low_heights)
