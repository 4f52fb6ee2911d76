"""Bad arguments: of the wrong kind altogether, or good ones with something wrong in them; and good ones in another form."""

import decimal
import fractions
from pathlib import Path
from typing import Any

import numpy as np

import abut
from abut import cells, contours, convex, dynamics, scenes, shapes


class Strange:
    """An object with everything that arrays are recognised by, and nothing behind it."""

    shape = "round"
    dtype = None

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise RuntimeError("not today")


class Endless:
    """A sequence whose items cannot be had."""

    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: Any) -> Any:
        raise OSError(index)


class Unmeasured:
    """Something whose length, items and value all raise."""

    def __len__(self) -> int:
        raise ZeroDivisionError

    def __iter__(self) -> Any:
        raise AssertionError("no items")

    def __float__(self) -> float:
        raise LookupError


class Secretive:
    """Something that raises whatever is asked about it."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


class Unequal:
    """Something that may be neither compared nor hashed."""

    __hash__: Any = None

    def __eq__(self, other: object) -> bool:
        raise ArithmeticError


class Liar:
    """An object whose `__array__` gives no array."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return "no array"


def breaking() -> Any:
    """An iterator that breaks off."""
    yield 1
    raise TimeoutError


def locked(array: Any) -> Any:
    """The array, read-only."""
    array.flags.writeable = False
    return array


_BALL = scenes.icosphere(0)
_CUBE = convex.Hull([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
_CURVE = contours.Contour([[0.0, 0], [1, 0], [1, 1], [0, 1]])
_FLOATS = np.arange(6.0).reshape(2, 3)

OBJECTS: list[Any] = [
    _BALL, abut.Rigid(_BALL), abut.Deformable(_BALL), abut.Motion(_BALL, _BALL.vertices, _BALL.vertices), abut.World(), _CUBE,
    convex.Hulls([_CUBE]), _CURVE, shapes.Sphere(1.0), shapes.Surface(_BALL), cells.channel(1, 1, 1), dynamics.rope((0, 0, 0), (1, 0, 0), 3),
    dynamics.ShapeMatching([[0.0, 0, 0]]), cells.Marker(3), abut.broad.SweepAndPrune(), abut.collide(_BALL, _BALL),
    contours.distance(_CURVE, _CURVE), dynamics.rigid_state(np.eye(4)[None]),
    abut.ccd.Candidates(np.zeros((1, 2), np.int32), np.zeros((0, 2), np.int32)), abut.World, abut.Mesh, convex.Hull, contours.Contour, cells.FREE,
    abut.ccd.EDGE_EDGE, [_BALL, _CUBE], [_CURVE, None], (_BALL, np.eye(4)), [(_CUBE, np.eye(3))], {"mesh": _BALL}, (_BALL.vertices,),
    [_CUBE, _CURVE],
]  # fmt: skip
"""What the library itself makes, where something else is wanted."""

PLAIN: list[Any] = [
    None, "", "text", "\0", "\ud800", "x" * 3000, b"bytes", bytearray(3), memoryview(b"abc"), True, False, 0, -1, 1, 2, 7, -7, 255, 2**31,
    -(2**31), 10**6, 10**9, 2**53, 2**62, 2**63, 2**64, 10**30, -(10**30), 10**400, 0.0, -0.0, 0.5, -0.5, 1.5, 1e-60, 1e-160, 1e-300, 5e-324,
    1e19, 1e60, 1e75, 1e150, 1e300, -1e300, 1j, float("nan"), float("inf"), -float("inf"), fractions.Fraction(1, 3), decimal.Decimal("0.1"),
    decimal.Decimal("NaN"), ..., NotImplemented, object, object(), int, (), [], {}, set(), frozenset(), [[]], [[], [1]], [None], ["a"],
    [[1, 2, 3], [4, 5]], [[0, 1, 2], None], [[0, 1, 2], "ab"], [[[0, 1], [2]], 3], {"a": 1}, {1, 2}, [object()], [float("nan")], [1, "a"],
    [True, False], [[[[[1]]]]], range(3), slice(0, 2), len, print, Strange, Strange(), Endless(), Unmeasured(), Secretive(), Unequal(), Liar(),
    [Strange()], [Endless(), 1], [[1, 2], Unmeasured()], Path("nowhere") / "none.obj", Path(), "nowhere/none.obj", "/dev/null",
]  # fmt: skip
"""What is no array."""

ARRAYS: list[Any] = [
    np.zeros(0), np.zeros((0, 3)), np.zeros((0, 3), int), np.zeros((3, 0)), np.zeros((0, 0)), np.zeros((0, 4, 4)), np.zeros((2, 3)),
    np.zeros((2, 2)), np.zeros(3), np.zeros((1, 4, 4)), np.zeros((4, 4)), np.full((3, 3), np.nan), np.full((2, 3), np.inf),
    np.full((2, 3), 1e300), np.full((2, 3), 1e-320), np.full((4, 3), 1e-200), np.full((4, 3), 1e74), np.ones((2, 3), complex), np.ones(3, object),
    np.array(None), np.array(["a", "b"]), np.array("x"), np.array([b"ab"]), np.array([1, 2], "M8[s]"), np.array([1, 2], "m8[s]"),
    np.array("2026-01-01", "M8[D]"), np.array(5), np.array(5.0), np.array(np.nan), np.array(True), np.ones((2, 3), bool),
    np.arange(6).reshape(2, 3), np.full((1, 3), 2**62), np.full((1, 3), 2**64 - 1, np.uint64), np.full((1, 3), -5), np.array([-1]),
    np.array([0.5]), np.array([10**9]), np.zeros((1, 1, 1, 3)), np.zeros((1,) * 20), np.eye(4) * 1e200, -np.eye(4), np.ones((4, 4)), np.eye(3),
    np.eye(4)[:, ::-1], np.ma.masked_array([1.0, 2], [0, 1]), np.ma.masked_array([0, 1, 2], [0, 1, 0]), np.ma.masked_all(2, [("a", float)]),
    np.zeros(3, [("a", float), ("b", int)]), np.array([(1, 2.0)], "i4,f8"), np.array((1, 2.0), "i4,f8"), _FLOATS.astype(">f4"),
    np.asfortranarray(_FLOATS), _FLOATS[::-1, ::2], locked(_FLOATS.copy()), _FLOATS.astype(np.float16),
    np.full((2, 3), 1e4000 if np.finfo(np.longdouble).max > 1e308 else np.inf, np.longdouble), _FLOATS.astype(str),
    np.array([[0, 1, 2]], np.uint8), np.broadcast_to(np.zeros(3), (1000, 3)), np.empty((2, 3)).view("V24"), np.float64("nan"), np.int8(3),
    np.float32(0.5), np.bool_(True), np.str_("a"), np.datetime64("2026-01-01"), np.longdouble("inf"),
]  # fmt: skip
"""Arrays of all kinds, some of them good somewhere."""

FRESH: list[Any] = [
    lambda: iter(()),
    lambda: (x for x in (1, 2)),
    lambda: map(len, "ab"),
    breaking,
    lambda: iter([None]),
]
"""What can be gone through once."""


def wrong(rng: np.random.Generator) -> Any:
    """A value that was made without a look at what is wanted."""
    values = (PLAIN, ARRAYS, OBJECTS, FRESH)[int(rng.choice(4, p=(0.45, 0.35, 0.15, 0.05)))]
    value = values[int(rng.integers(len(values)))]
    return value() if values is FRESH else value


def bad_value(rng: np.random.Generator, good: Any) -> Any:
    """One bad value: of the wrong kind altogether, or the good one spoiled."""
    if rng.random() < 0.6:
        spoiled = _spoil(rng, good)
        if spoiled is not None:
            return spoiled
    return wrong(rng)


def _pick(rng: np.random.Generator, *values: Any) -> Any:
    return values[int(rng.integers(len(values)))]


def _spoil(rng: np.random.Generator, good: Any) -> Any:
    """The good value with something wrong in it; None where nothing can be."""
    if isinstance(good, str):
        return _pick(
            rng, good + "?", good.upper(), good.encode(), [good], np.array(good), np.array([good]), good + "\0", ""
        )
    if isinstance(good, bool):
        return _pick(rng, str(good), [good], np.array(good), np.array([good]), 2, -1, 0.0, 1.0, None)
    if isinstance(good, int | float):
        numbers = (
            0,
            -good,
            good * 1e200,
            good * 1e-200,
            good + 1e9,
            10**7,
            10**12,
            -1,
            0.5,
            float("nan"),
            float("inf"),
        )
        return _pick(rng, *numbers, str(good), [good], np.array(good), np.array([good]), complex(good), None)
    if not isinstance(good, np.ndarray | list | tuple) or not len(good):
        return None
    try:
        array = np.array(good, float)
    except (TypeError, ValueError):  # of meshes, bodies, tuples of several kinds
        part = list(good)
        part[int(rng.integers(len(part)))] = wrong(rng)
        return _pick(rng, part, tuple(part), part * 2, part[:-1])
    if rng.random() < 0.5:
        where = tuple(int(rng.integers(n)) for n in array.shape)
        array[where] = _pick(rng, np.nan, np.inf, -1e300, 1e74, 2.0**62, -1.0, 0.5, 1e-200, 1e9, array.flat[0])
        return array
    shapes_of = (
        array[..., :-1],
        np.concatenate((array, array)),
        array[None],
        array.tolist()[0],
        array[:0],
        array.T,
        array[:, None],
    )
    kinds = (array.astype(object), array.astype(complex), array.astype(str), array != 0, array.astype("M8[s]"))
    sizes = (array * 1e40, array * 1e-40, array * 1e-170, array * 0.0, -array, array + 1e60)
    odd = (
        np.ma.masked_array(array, array == array.flat[-1]),
        [*array.tolist(), []],
        [array.tolist(), None],
        [*array.tolist(), [[]]],
    )
    return _pick(rng, _pick(rng, *shapes_of), _pick(rng, *kinds), _pick(rng, *sizes), _pick(rng, *odd))


class Held:
    """An object that an array can be had from."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.array, dtype)


def other_form(rng: np.random.Generator, good: np.ndarray[Any, Any]) -> Any:
    """The same numbers, stored in another way."""
    if good.size == 0:
        return good.copy()
    wide = np.zeros((*good.shape[:-1], 2 * good.shape[-1]), good.dtype)
    wide[..., ::2] = good
    swapped = good.astype(good.dtype.newbyteorder())
    apart = np.zeros(good.nbytes + 1, np.uint8)[1:].view(good.dtype).reshape(good.shape)
    apart[...] = good
    forms = (
        np.asfortranarray(good),
        wide[..., ::2],
        good[::-1].copy()[::-1],
        swapped,
        apart,
        locked(good.copy()),
        good.copy(),
        good.tolist(),
        Held(good),
    )
    return _pick(rng, *forms)
