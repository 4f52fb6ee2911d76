"""Two float64 numbers in one load, where that is worth saying: it halves the loads of the records of planes."""

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from abut.cuda.device import SIMULATED


def _load_pair(typingctx: Any, array: Any, place: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        kind = ir.VectorType(ir.DoubleType(), 2)
        pair = builder.load(builder.bitcast(builder.gep(data, [args[1]]), kind.as_pointer()), align=16)
        numbers = [builder.extract_element(pair, ir.IntType(32)(k)) for k in range(2)]
        return context.make_tuple(builder, signature.return_type, numbers)

    return types.UniTuple(types.float64, 2)(array, types.int64), codegen


def _two(array: Any, place: int) -> tuple[float, float]:
    flat = array.reshape(-1)
    return flat[place], flat[place + 1]


load_pair: Any = _two if SIMULATED else intrinsic(_load_pair)
"""`load_pair(array, place)`: the numbers at an even place of an array in C order taken as one row, and at the next."""
