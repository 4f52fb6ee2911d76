"""Bounding volumes in sets: `Aabb`, `Obb` and `Kdop` are NamedTuples of arrays, one row a volume.

A new volume is one file that implements `operations`, and one line in `_ALLOCATE`. Kernels call the operations by name;
which implementation runs is settled when they are compiled. Inside a kernel `overlap(a, i, b, j, frame)` is the whole test,
`carry` and `meets` its two halves. `fit_each`, `overlap_each` and `distance_bound_each` are the same for whole sets.
"""

from collections.abc import Callable

import numpy as np

from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput, Unsupported
from abut.core.jit import kernel
from abut.trees.volumes import kdop
from abut.trees.volumes.aabb import Aabb
from abut.trees.volumes.frame import Frame, Same, between, identity, inverse, place, same
from abut.trees.volumes.kdop import Kdop
from abut.trees.volumes.obb import Obb
from abut.trees.volumes.operations import (
    Primitives,
    carry,
    distance_bound,
    encloses,
    fit,
    grow,
    longest,
    meets,
    merge,
    overlap,
    separation,
    size,
)

__all__ = [
    "KINDS",
    "Aabb",
    "Frame",
    "Kdop",
    "Obb",
    "Primitives",
    "Same",
    "Volumes",
    "allocate",
    "between",
    "carry",
    "check_pair",
    "distance_bound",
    "distance_bound_each",
    "encloses",
    "fit",
    "fit_each",
    "grow",
    "grow_each",
    "identity",
    "inverse",
    "kind_of",
    "longest",
    "meets",
    "merge",
    "overlap",
    "overlap_each",
    "place",
    "same",
    "separation",
    "size",
]

Volumes = Aabb | Obb | Kdop


def _allocate_kdop(k: int) -> Callable[[int], Kdop]:
    return lambda count: Kdop(np.empty((count, kdop.COLUMNS[k])), np.empty((count, kdop.COLUMNS[k])))


_ALLOCATE: dict[str, Callable[[int], Volumes]] = {
    "aabb": lambda count: Aabb(np.empty((count, 3)), np.empty((count, 3))),
    "obb": lambda count: Obb(np.empty((count, 3)), np.empty((count, 3, 3)), np.empty((count, 3))),
    **{f"kdop{k}": _allocate_kdop(k) for k in kdop.COLUMNS},
}

KINDS = tuple(_ALLOCATE)
"""The names of all volumes: aabb, obb, kdop6, kdop8, kdop14, kdop18, kdop26."""


def allocate(kind: str, count: int) -> Volumes:
    """Arrays for `count` volumes of a kind, not filled in."""
    if kind not in _ALLOCATE:
        raise Unsupported(f"volume {kind!r}; there are {', '.join(KINDS)}")
    return _ALLOCATE[kind](count)


def kind_of(volumes: Volumes) -> str:
    """The name of what a set holds."""
    if isinstance(volumes, Kdop):
        return f"kdop{2 * volumes.lo.shape[1]}"
    return "aabb" if isinstance(volumes, Aabb) else "obb"


def check_pair(a: Volumes, b: Volumes, frame: Frame | Same | None = None) -> Frame | Same:
    """The frame in which two sets can be tested: the given one, or one in which b is not moved.

    Oriented boxes need a Frame, so a Same becomes the pose that moves nothing. Raises Unsupported for a k-DOP with anything
    but its own kind in its own frame.
    """
    names = f"{kind_of(a)} with {kind_of(b)}"
    if (isinstance(a, Kdop) or isinstance(b, Kdop)) and kind_of(a) != kind_of(b):
        raise Unsupported(f"overlap of {names}: a k-DOP is tested against its own kind only")
    if isinstance(a, Kdop) and isinstance(frame, Frame):
        raise Unsupported(f"overlap of {names} under a pose: the directions of a k-DOP do not turn with it")
    if isinstance(frame, Frame):
        return frame
    if isinstance(a, Obb) or isinstance(b, Obb):
        return identity(0.0 if frame is None else frame.slack)
    return same() if frame is None else frame


@kernel
def _fit_each(volumes: Volumes, primitives: Primitives) -> None:
    for i in range(len(primitives.rows)):
        fit(volumes, i, primitives, i, i + 1)


@kernel
def _grow_each(volumes: Volumes, margin: float) -> None:
    for i in range(len(volumes[0])):
        grow(volumes, i, margin)


@kernel
def _overlap_each(a: Volumes, b: Volumes, frame: Frame | Same, found: np.ndarray) -> None:
    for i in range(len(found)):
        found[i] = overlap(a, i, b, i, frame)


@kernel
def _distance_bound_each(a: Volumes, b: Volumes, frame: Frame | Same, found: Floats) -> None:
    for i in range(len(found)):
        found[i] = distance_bound(a, i, b, i, frame)


def fit_each(kind: str, vertices: Floats, rows: Integers) -> Volumes:
    """One volume a primitive: (m,3) faces, (m,2) edges or any rows of vertex numbers."""
    volumes = allocate(kind, len(rows))
    _fit_each(volumes, Primitives(frozen(vertices.view()), frozen(rows.view()), np.arange(len(rows))))
    return volumes


def grow_each(volumes: Volumes, margin: float) -> None:
    """Grow every volume by a safety margin on every side, in place."""
    _grow_each(volumes, float(margin))


def _pair_count(a: Volumes, b: Volumes) -> int:
    if len(a[0]) != len(b[0]):
        raise InvalidInput("b", f"has {len(b[0])} volumes, a has {len(a[0])}")
    return len(a[0])


def overlap_each(a: Volumes, b: Volumes, frame: Frame | Same | None = None) -> np.ndarray:
    """(n,) bool: whether volume i of a and volume i of b overlap."""
    frame = check_pair(a, b, frame)
    found = np.empty(_pair_count(a, b), np.bool_)
    _overlap_each(a, b, frame, found)
    return found


def distance_bound_each(a: Volumes, b: Volumes, frame: Frame | Same | None = None) -> Floats:
    """(n,) a lower bound of the distance of volume i of a and volume i of b."""
    frame = check_pair(a, b, frame)
    found = np.empty(_pair_count(a, b))
    _distance_bound_each(a, b, frame, found)
    return found
