"""Eight float64 at once: for loops that do the same to eight rows of records.

An `Octet` is one LLVM vector (`<8 x double>`), lowered to whatever the processor has: one register of AVX-512, two of AVX2, four of NEON. Kernels
compute with it as with a number: `+ − · /`, comparisons that give a `Mask` (`lanes`), `minimum`, `maximum`, `choose`, `root`, `size`. Products and
sums may be contracted to fused ones, so that the last bit depends on the processor.

`gather(rows, which, column)` reads eight neighboring columns of eight rows: as eight octets, one for each column. `scatter` writes them back, the
first lane last: lanes that repeat the row of the first do no harm.

With `NUMBA_DISABLE_JIT=1` the same names work on NumPy arrays of eight float64.
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
from abut.core.lanes import Mask

SIZE = 8
KIND = ir.VectorType(ir.DoubleType(), SIZE)
INDEX = ir.IntType(32)
infer_global: Any = templates.infer_global


class OctetType(types.Type):
    """Numba type of eight float64 in registers."""

    def __init__(self) -> None:
        super().__init__(name="Octet")


OCTET = OctetType()


@register_model(OctetType)
class _OctetModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, KIND)


def _register_binary(op: Any, result: types.Type, emit: Any) -> None:
    @infer_global(op)
    class _Template(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) == 2 and isinstance(args[0], OctetType) and args[0] == args[1]:
                return signature(result, *args)
            return None

    @lower_builtin(op, OctetType, OctetType)
    def _lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return emit(builder, args[0], args[1])


_CONTRACT = ("contract",)
_register_binary(operator.add, OCTET, lambda b, x, y: b.fadd(x, y, flags=_CONTRACT))
_register_binary(operator.sub, OCTET, lambda b, x, y: b.fsub(x, y, flags=_CONTRACT))
_register_binary(operator.mul, OCTET, lambda b, x, y: b.fmul(x, y, flags=_CONTRACT))
_register_binary(operator.truediv, OCTET, lambda b, x, y: b.fdiv(x, y))
_register_binary(operator.lt, Mask(SIZE), lambda b, x, y: b.fcmp_ordered("<", x, y))
_register_binary(operator.gt, Mask(SIZE), lambda b, x, y: b.fcmp_ordered(">", x, y))


def _place(context: Any, builder: Any, array_type: Any, array: Any, offset: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [offset]), KIND.as_pointer())


def _load(typingctx: Any, array: Any, offset: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(_place(context, builder, sig.args[0], args[0], args[1]), align=8)

    return OCTET(array, types.intp), codegen


def _store(typingctx: Any, array: Any, offset: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.store(args[2], _place(context, builder, sig.args[0], args[0], args[1]), align=8)
        return context.get_dummy_value()

    return types.none(array, types.intp, OCTET), codegen


def _splat(typingctx: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        undefined = ir.Constant(KIND, ir.Undefined)
        first = builder.insert_element(undefined, args[0], INDEX(0))
        return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(INDEX, SIZE), [0] * SIZE))

    return OCTET(types.float64), codegen


def _extremum(sign: str) -> Any:
    def build(typingctx: Any, x: Any, y: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return builder.select(builder.fcmp_ordered(sign, args[0], args[1]), args[0], args[1])

        return OCTET(OCTET, OCTET), codegen

    return intrinsic(build)


def _choose(typingctx: Any, mask: Any, x: Any, y: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(args[0], args[1], args[2])

    return OCTET(mask, OCTET, OCTET), codegen


def _unary(name: str) -> Any:
    def build(typingctx: Any, x: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            kind = ir.FunctionType(KIND, [KIND])
            return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v8f64"), args)

        return OCTET(OCTET), codegen

    return intrinsic(build)


def _transpose(builder: Any, rows: list[Any]) -> list[Any]:
    """Columns of eight rows, or rows of eight columns: in three stages rows i and i + d exchange the lanes in which the bit d differs."""
    rows = list(rows)
    for d in (1, 2, 4):
        low = [lane if lane & d == 0 else SIZE + lane - d for lane in range(SIZE)]
        high = [lane + d if lane & d == 0 else SIZE + lane for lane in range(SIZE)]
        kept, taken = (ir.Constant(ir.VectorType(INDEX, SIZE), order) for order in (low, high))
        for i in range(SIZE):
            if i & d == 0:
                x, y = rows[i], rows[i + d]
                rows[i], rows[i + d] = builder.shuffle_vector(x, y, kept), builder.shuffle_vector(x, y, taken)
    return rows


def _places(context: Any, builder: Any, sig: Any, args: Any) -> list[Any]:
    """Where eight rows begin, at a column."""
    rows, which, column = args[:3]
    table = context.make_array(sig.args[0])(context, builder, rows)
    width = builder.extract_value(table.shape, 1)
    numbers = context.make_array(sig.args[1])(context, builder, which).data
    result = []
    for lane in range(SIZE):
        row = builder.load(builder.gep(numbers, [ir.IntType(64)(lane)]))
        place = builder.gep(table.data, [builder.add(builder.mul(row, width), column)])
        result.append(builder.bitcast(place, KIND.as_pointer()))
    return result


def _gather(typingctx: Any, rows: Any, which: Any, column: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        read = [builder.load(place, align=8) for place in _places(context, builder, sig, args)]
        return context.make_tuple(builder, sig.return_type, _transpose(builder, read))

    return types.UniTuple(OCTET, SIZE)(rows, which, types.intp), codegen


def _scatter(typingctx: Any, rows: Any, which: Any, column: Any, values: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        columns = [builder.extract_value(args[3], k) for k in range(SIZE)]
        places = _places(context, builder, sig, args)
        for place, row in reversed(list(zip(places, _transpose(builder, columns), strict=True))):
            builder.store(row, place, align=8)
        return context.get_dummy_value()

    return types.none(rows, which, types.intp, values), codegen


def _store_array(array: Any, offset: int, value: Any) -> None:
    array.reshape(-1)[offset : offset + SIZE] = value


def _gather_array(rows: Any, which: Any, column: int) -> Any:
    return tuple(rows[which, column : column + SIZE].T.copy())


def _scatter_array(rows: Any, which: Any, column: int, values: Any) -> None:
    for lane in reversed(range(SIZE)):
        rows[which[lane], column : column + SIZE] = [value[lane] for value in values]


if INTERPRETED:
    load: Any = lambda array, offset: array.reshape(-1)[offset : offset + SIZE].copy()  # noqa: E731
    splat: Any = lambda value: np.full(SIZE, value, np.float64)  # noqa: E731
    store: Any = _store_array
    minimum: Any = lambda x, y: np.where(x < y, x, y)  # noqa: E731
    maximum: Any = lambda x, y: np.where(x > y, x, y)  # noqa: E731
    choose: Any = np.where
    root: Any = np.sqrt
    size: Any = np.abs
    gather: Any = _gather_array
    scatter: Any = _scatter_array
else:
    load = intrinsic(_load)
    splat = intrinsic(_splat)
    store = intrinsic(_store)
    minimum = _extremum("<")
    maximum = _extremum(">")
    choose = intrinsic(_choose)
    root = _unary("sqrt")
    size = _unary("fabs")
    gather = intrinsic(_gather)
    scatter = intrinsic(_scatter)
