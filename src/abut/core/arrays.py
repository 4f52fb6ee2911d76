"""The border: whatever holds numbers comes in; one dtype and one layout go on, or `InvalidInput` says what is wrong.

In: lists, NumPy arrays of any integer or float dtype, byte order and layout, and objects with `__array__`,
`__array_interface__` or DLPack. Out: float64 or int64, C-contiguous, aligned, native byte order and **read-only**, so
that a kernel compiles for one type of array and cannot write into its caller's. No array is copied more than once. An
array that is right already is not copied at all: the result is a view of it. With `keep=True` the result is the
receiver's own: it is copied unless the array, and every array that it is a view of, is read-only.

Numbers that float64 cannot hold (integers beyond 2^53, long doubles) are rounded to the nearest float64, as NumPy does.
"""

from collections.abc import Iterable
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from abut.core.errors import InvalidInput

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
A = TypeVar("A", bound=NDArray[Any])
T = TypeVar("T")

LARGEST_COORDINATE = 1e75
"""The largest magnitude of a coordinate or length.

Differences are then below 2e75, those between two ends of a step below 4e75, and products of four of them, the highest
degree that areas, volumes and closest points form, below 3e302: sums of thousands of such products stay finite.
"""

RIGID_TOLERANCE = 1e-5
"""How far an entry of RᵀR may be from that of the identity, for R to be a rotation.

Rotations stored as float32 are off by 2e-7, products of a dozen of them by some 1e-6. A matrix within the tolerance
changes no length by more than 1.5e-5 of itself; scale, shear and float16 are far beyond it.
"""

ORTHONORMAL = 1e-14
"""How far off a rotation may be before `rigid_poses` replaces it by the nearest one: trees take its transpose for its inverse."""

_HOST_DEVICES = {1: "CPU", 3: "CUDA host", 11: "ROCm host"}  # DLPack's device types whose memory NumPy can read
_ARRAY_PROTOCOLS = ("__array__", "__array_interface__", "__array_struct__", "__buffer__")
_REFUSED_KINDS = {
    "b": "booleans",
    "c": "complex numbers",
    "O": "Python objects that are not plain numbers",
    "S": "text",
    "U": "text",
    "M": "dates",
    "m": "time spans",
}


def frozen(array: A) -> A:
    """The array itself, made read-only."""
    array.setflags(False)  # pyright: ignore[reportCallIssue]  # a third of the time of `flags.writeable = False`, or of a keyword
    return array


def coordinates(value: object, name: str, shape: tuple[int | None, ...], *, keep: bool = False) -> Floats:
    """Float64 array of the given shape, None standing for any number; finite and at most LARGEST_COORDINATE.

    An empty list counts as no rows. A bad value is reported with its index along the first axis.
    """
    raw, fresh = _read(value, name, shape)
    array = _convert(raw, np.dtype(np.float64), fresh, keep)
    if array.size:
        with np.errstate(invalid="ignore"):
            lowest, highest = array.min(), array.max()
        if not (lowest >= -LARGEST_COORDINATE and highest <= LARGEST_COORDINATE):  # a NaN fails both
            _refuse_coordinate(array, raw, name)
    return array


def points(value: object, name: str, *, dimensions: int = 3, keep: bool = False) -> Floats:
    """(n, dimensions) float64, finite and at most LARGEST_COORDINATE."""
    return coordinates(value, name, (None, dimensions), keep=keep)


def stacked(value: object, name: str, shape: tuple[int, ...], count: int | None = None) -> Floats:
    """(k, *shape) float64 from as many, or from a single one; with a `count` so many, or one that stands for all."""
    raw = as_array(value, name)
    if raw.ndim > len(shape) or raw.shape == (0,):
        return coordinates(raw, name, (count, *shape))
    single = coordinates(raw, name, shape)
    return np.broadcast_to(single, (1 if count is None else count, *shape))


def indices(value: object, name: str, columns: int | None, limit: int, *, keep: bool = False) -> Integers:
    """(m, columns) int64, each at least 0 and below `limit`. Floats are accepted where they are whole numbers."""
    raw, fresh = _read(value, name, (None, columns))
    array = _convert(raw, np.dtype(np.int64), fresh, keep)
    if not array.size:
        return array
    # An unsigned integer beyond int64 has wrapped to a negative number; a float that is no int64 differs from its cast.
    whole = raw.dtype.kind != "f" or bool(np.all(array == raw))
    if not whole or array.min() < 0 or array.max() >= limit:
        _refuse_index(array, raw, name, limit)
    return array


def selection(value: object, name: str, limit: int) -> Integers:
    """(k,) int64 numbers of things, each at least 0 and below `limit`, from a single one or from a sequence."""
    raw = as_array(value, name)
    if raw.ndim > 1:
        raise InvalidInput(name, f"has shape {raw.shape}, expected one number or (n,)")
    return indices(raw.reshape(-1, 1), name, 1, limit)[:, 0]


def shape_of(value: object) -> tuple[int, ...] | None:
    """The shape of what may be an array; None for what is none. Its numbers are not looked at."""
    try:
        return as_array(value, "").shape
    except InvalidInput:
        return None


def pose(value: object, name: str) -> Floats:
    """(4, 4) float64 rigid motion on column vectors: rotation and translation, bottom row exactly 0 0 0 1.

    The rotation may be off by RIGID_TOLERANCE and is handed on as it is.
    """
    array = coordinates(value, name, (4, 4))
    if not _is_surely_rigid(array.tolist()):
        _check_rigid(array[np.newaxis], name, single=True)
    return array


def poses(value: object, name: str) -> Floats:
    """(k, 4, 4) float64 rigid motions, each as `pose` has it."""
    array = coordinates(value, name, (None, 4, 4))
    _check_rigid(array, name, single=False)
    return array


def rigid_poses(value: object, name: str) -> Floats:
    """(k, 4, 4) poses whose rotations are orthonormal to rounding; those that are off by more are replaced by the nearest rotation.

    The array is new and writable."""
    result = poses(value, name).copy()  # the caller may write into his later
    off = rotation_defects(result[:, :3, :3]) > ORTHONORMAL
    if off.any():
        u, _, vt = np.linalg.svd(result[off, :3, :3])
        result[off, :3, :3] = u @ vt
    return result


def scalar(value: object, name: str, *, least: float = -LARGEST_COORDINATE, most: float = LARGEST_COORDINATE) -> float:
    """One finite number from `least` to `most`."""
    number = float(coordinates(value, name, ()))
    if not least <= number <= most:
        raise InvalidInput(name, f"{number:g} is not between {least:g} and {most:g}")
    return number


def positive(value: object, name: str) -> float:
    """One finite number above zero."""
    number = float(coordinates(value, name, ()))
    if number <= 0:
        raise InvalidInput(name, f"{number:g} is not positive")
    return number


def count(value: object, name: str, *, least: int = 0, most: int = 2**53) -> int:
    """One whole number from `least` to `most`."""
    raw, _ = _read(value, name, ())
    if not np.isfinite(raw) or raw != np.trunc(raw):
        raise InvalidInput(name, f"{raw} is not a whole number")
    if not least <= raw <= most:
        raise InvalidInput(name, f"{raw} is not between {least} and {most}")
    return int(raw)


def flag(value: object, name: str) -> bool:
    """True or False, also as NumPy's, or as 0 and 1."""
    known: Any = value
    if isinstance(value, bool | int | np.bool_ | np.integer) and known in (0, 1):
        return bool(known)
    raise InvalidInput(name, f"is {_describe_type(known)}, expected True or False")


def choice(value: object, name: str, options: Iterable[str]) -> str:
    """One of several words."""
    known = tuple(options)
    if isinstance(value, str) and value in known:
        return value
    said = repr(value) if isinstance(value, str) else f"a {type(value).__name__}"
    raise InvalidInput(name, f"is {said}, expected one of {', '.join(map(repr, known))}")


def instance(value: object, name: str, kind: type[T], row: int | None = None) -> T:
    """The value, which must be an object of a class of the library's."""
    if isinstance(value, kind):
        return value
    raise InvalidInput(name, f"is {_describe_type(value)}, expected {kind.__name__}", row)


def listed(value: object, name: str, row: int | None = None) -> list[Any]:
    """What an iterable holds, which may be a generator that raises."""
    try:
        return list(cast("Iterable[Any]", value))
    except MemoryError:
        raise
    except Exception as error:
        raise InvalidInput(name, f"cannot be gone through ({error})", row) from error


def items(value: object, name: str, kind: type[T], *, least: int = 0) -> list[T]:
    """The objects of a class that a sequence, or another iterable, holds; at least so many."""
    given: Any = value
    if isinstance(given, str | bytes | dict | kind) or not isinstance(value, Iterable):
        raise InvalidInput(name, f"is {_describe_type(value)}, expected a sequence of {kind.__name__} objects")
    found = listed(given, name)
    if len(found) < least:
        raise InvalidInput(name, f"holds {len(found)} objects, expected {least} or more")
    return [instance(item, name, kind, row) for row, item in enumerate(found)]


def _describe_type(value: Any) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else f"a {type(value).__name__}"


def as_array(value: object, name: str) -> NDArray[Any]:
    """Whatever may hold numbers as an array of any shape and dtype, to look at its shape; what it holds is not checked."""
    return cast("NDArray[Any]", value) if isinstance(value, np.ndarray) else _read_object(value, name)


def _read(value: object, name: str, shape: tuple[int | None, ...]) -> tuple[NDArray[Any], bool]:
    """The value as an array of numbers of this shape, and whether that was made here and belongs to nobody else."""
    source: Any = value
    if isinstance(value, np.ma.MaskedArray):
        source = _unmask(source, name)
    raw = as_array(source, name)
    if raw.dtype.kind not in "iuf":
        kind = _REFUSED_KINDS.get(raw.dtype.kind, "records")
        raise InvalidInput(name, f"holds {kind} (dtype {raw.dtype}), expected integers or floats")
    if raw.shape == (0,) and shape and shape[0] is None:
        raw = raw.reshape([size or 0 for size in shape])
    if len(raw.shape) != len(shape) or any(
        size not in (None, seen) for size, seen in zip(shape, raw.shape, strict=True)
    ):
        raise InvalidInput(name, f"has shape {raw.shape}, expected {_describe_shape(shape)}")
    return raw, type(source) in (list, tuple)


def _read_object(value: object, name: str) -> NDArray[Any]:
    try:
        _refuse_device_memory(value, name)
        if hasattr(value, "__dlpack__") and not any(hasattr(value, protocol) for protocol in _ARRAY_PROTOCOLS):
            return np.from_dlpack(cast("Any", value))
        return np.asarray(value)
    except (MemoryError, InvalidInput):
        raise
    except Exception as error:
        row = _find_ragged_row(value)
        if row is not None:
            raise InvalidInput(name, "is not as long as the rows before it", row) from error
        raise InvalidInput(name, f"cannot be read as an array ({error})") from error


def _refuse_device_memory(value: object, name: str) -> None:
    ask: Any = getattr(value, "__dlpack_device__", None)
    if ask is None:
        if hasattr(value, "__cuda_array_interface__"):
            raise InvalidInput(name, "lies in the memory of a GPU, copy it to the host first")
        return
    try:
        kind = int(ask()[0])
    except Exception as error:
        raise InvalidInput(name, f"does not tell its DLPack device ({error})") from error
    if kind not in _HOST_DEVICES:
        raise InvalidInput(
            name, f"lies in the memory of a GPU or other device (DLPack type {kind}), copy it to the host first"
        )


def _find_ragged_row(value: object) -> int | None:
    if not isinstance(value, list | tuple):
        return None
    lengths = [_length_of(row) for row in cast("list[Any]", value)]
    return next((row for row, length in enumerate(lengths) if length != lengths[0]), None)


def _length_of(value: Any) -> int:
    """−1 for what has no length."""
    try:
        return len(value)
    except Exception:  # whatever an object of the caller's raises
        return -1


def _unmask(value: Any, name: str) -> NDArray[Any]:
    masked = np.ma.getmaskarray(value)
    if masked.dtype.names is None and masked.any():  # records are refused for what they are
        where = np.unravel_index(int(masked.argmax()), masked.shape)
        raise InvalidInput(name, "has a masked entry", int(where[0]) if where else None)
    return value.data


def _describe_shape(shape: tuple[int | None, ...]) -> str:
    if not shape:
        return "one number"
    letters = iter("nkm")
    return (
        "("
        + ", ".join(next(letters) if size is None else str(size) for size in shape)
        + ("," if len(shape) == 1 else "")
        + ")"
    )


def _convert(raw: NDArray[Any], dtype: np.dtype[Any], fresh: bool, keep: bool) -> NDArray[Any]:
    with np.errstate(all="ignore"):  # what a cast cannot represent is found and reported by the checks that follow
        array = np.require(raw, dtype, ["C", "ALIGNED", "ENSUREARRAY"])
    shared = not fresh and np.may_share_memory(array, raw)
    if shared and keep and not _is_frozen(raw):
        array, shared = array.copy(), False
    return frozen(array.view() if shared else array)


def _is_frozen(array: NDArray[Any]) -> bool:
    """Whether neither the array nor any array it is a view of can be written."""
    owner: Any = array
    while owner is not None and not isinstance(owner, bytes):
        if not isinstance(owner, np.ndarray) or owner.flags.writeable:
            return False
        owner = cast("Any", owner).base
    return True


def _refuse_coordinate(array: Floats, raw: NDArray[Any], name: str) -> None:
    with np.errstate(invalid="ignore"):
        where = np.unravel_index(int(np.argmin(np.abs(array) <= LARGEST_COORDINATE)), array.shape)
    number, row = raw[where], (int(where[0]) if where else None)
    if np.isnan(number):
        raise InvalidInput(name, "is NaN", row)
    if np.isinf(number):
        raise InvalidInput(name, "is infinite", row)
    raise InvalidInput(name, f"{number} is beyond ±{LARGEST_COORDINATE:g}, where squares and products overflow", row)


def _refuse_index(array: Integers, raw: NDArray[Any], name: str, limit: int) -> None:
    with np.errstate(invalid="ignore"):
        good = (array == raw) & (array >= 0) & (array < limit)
    where = np.unravel_index(int(np.argmin(good)), array.shape)
    number, row = raw[where], int(where[0])
    if np.isnan(number):
        raise InvalidInput(name, "is NaN", row)
    if np.isinf(number):
        raise InvalidInput(name, "is infinite", row)
    if number != np.trunc(number):
        raise InvalidInput(name, f"index {number} is not a whole number", row)
    if number < 0:
        raise InvalidInput(name, f"index {number} is negative", row)
    raise InvalidInput(name, f"index {number} is not below {limit}", row)


def rotation_defects(rotations: Floats) -> Floats:
    """(k,) of matrices (k,d,d) the largest entry of |RᵀR − 1|: how far each is from orthonormal."""
    unit = np.eye(rotations.shape[-1])
    return np.abs(np.swapaxes(rotations, 1, 2) @ rotations - unit).max(axis=(1, 2), initial=0.0)


def _is_surely_rigid(rows: list[list[float]]) -> bool:
    """Whether one pose is rigid to half of what is allowed. 3 µs, where arrays take 25."""
    (a, b, c, _), (d, e, f, _), (g, h, i, _), last = rows
    squares = abs(a * a + d * d + g * g - 1.0), abs(b * b + e * e + h * h - 1.0), abs(c * c + f * f + i * i - 1.0)
    products = abs(a * b + d * e + g * h), abs(b * c + e * f + h * i), abs(c * a + f * d + i * g)
    turns = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) > 0.0
    return turns and last == [0.0, 0.0, 0.0, 1.0] and max(*squares, *products) <= 0.5 * RIGID_TOLERANCE


def _check_rigid(array: Floats, name: str, *, single: bool) -> None:
    rotation = array[:, :3, :3]
    off = rotation_defects(rotation)
    affine = (array[:, 3] == (0, 0, 0, 1)).all(axis=1)
    good = affine & (off <= RIGID_TOLERANCE)
    good[good] = np.linalg.det(rotation[good]) > 0
    if good.all():
        return
    first = int(np.argmin(good))
    row = None if single else first
    if not affine[first]:
        hint = ""
        if not array[first, :3, 3].any():
            hint = "; poses act on column vectors, this one may be transposed"
        raise InvalidInput(
            name, f"is not rigid: the bottom row is {array[first, 3].tolist()}, not [0, 0, 0, 1]{hint}", row
        )
    if off[first] > RIGID_TOLERANCE:
        raise InvalidInput(
            name, f"is not rigid: the rotation's columns are not orthonormal (off by {off[first]:.3g})", row
        )
    raise InvalidInput(name, "is not rigid: it is a reflection", row)
