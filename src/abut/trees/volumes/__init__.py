"""Bounding volumes in sets: `Aabb`, `Obb` and `Kdop` are NamedTuples of arrays, one volume per row.

A set is made by `allocate` or `fit_each`. A new volume is one file that implements `operations`, and one line in `_ALLOCATE`. Kernels call the
operations by name; which implementation runs is settled when they are compiled. Inside a kernel `overlap(a, i, b, j, frame)` is the whole test,
`carry` and `meets` its two halves. `fit_each`, `overlap_each` and `distance_bound_each` are the same for whole sets.
"""

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np

from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput, Unsupported
from abut.core.jit import kernel
from abut.core.types import Number
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
    "VolumeKind",
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

Volumes: TypeAlias = Aabb | Obb | Kdop
"""A set of volumes of one kind."""

VolumeKind: TypeAlias = Literal["aabb", "obb", "kdop6", "kdop8", "kdop12", "kdop14", "kdop18", "kdop26"]
"""The name of a kind of volume, one of KINDS."""


def _allocate_kdop(k: int) -> Callable[[int], Kdop]:
    return lambda count: Kdop(np.empty((count, kdop.COLUMNS[k])), np.empty((count, kdop.COLUMNS[k])))


_ALLOCATE: dict[str, Callable[[int], Volumes]] = {
    "aabb": lambda count: Aabb(np.empty((count, 3)), np.empty((count, 3))),
    "obb": lambda count: Obb(np.empty((count, 3)), np.empty((count, 3, 3)), np.empty((count, 3))),
    **{f"kdop{k}": _allocate_kdop(k) for k in kdop.COLUMNS},
}

KINDS = tuple(_ALLOCATE)
"""The names of all volumes: aabb, obb, kdop6, kdop8, kdop12, kdop14, kdop18, kdop26."""


def allocate(kind: VolumeKind, count: int) -> Volumes:
    """Arrays for a number of volumes of one kind, not filled in.

    Args:
        kind: one of KINDS.
        count: how many.

    Examples:
        >>> import abut
        >>> abut.volumes.allocate("kdop18", 5)
        Kdop(5 polytopes of 18 planes)
    """
    if kind not in _ALLOCATE:
        raise Unsupported(f"volume {kind!r}; there are {', '.join(KINDS)}")
    return _ALLOCATE[kind](count)


def kind_of(volumes: Volumes) -> str:
    """The name of what a set holds, one of KINDS.

    Args:
        volumes: the set.

    Examples:
        >>> import abut
        >>> abut.volumes.kind_of(abut.volumes.allocate("obb", 1))
        'obb'
    """
    if isinstance(volumes, Kdop):
        return f"kdop{2 * volumes.lo.shape[1]}"
    return "aabb" if isinstance(volumes, Aabb) else "obb"


def check_pair(a: Volumes, b: Volumes, frame: Frame | Same | None = None) -> Frame | Same:
    """The frame in which two sets can be tested: the given one, or one in which b is not moved.

    Oriented boxes need a Frame, so a Same becomes the pose that moves nothing.

    Args:
        a, b: two sets of volumes.
        frame: where b lies as seen from a; None is where it is.

    Raises:
        Unsupported: a k-DOP with anything but its own kind in its own frame.

    Examples:
        >>> import abut
        >>> boxes = abut.volumes.allocate("aabb", 1)
        >>> abut.volumes.check_pair(boxes, boxes)
        Same(slack=0.0)
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


def fit_each(kind: VolumeKind, vertices: Floats, rows: Integers) -> Volumes:
    """One volume per primitive, which holds every vertex of it, rounding included.

    Args:
        kind: one of KINDS.
        vertices: (n,3) float64 positions.
        rows: (m,3) faces, (m,2) edges or any rows of vertex numbers, int64.

    Examples:
        >>> import abut
        >>> mesh = abut.scenes.box()
        >>> abut.volumes.fit_each("aabb", mesh.vertices, mesh.faces)
        Aabb(12 boxes)
    """
    volumes = allocate(kind, len(rows))
    _fit_each(volumes, Primitives(frozen(vertices.view()), frozen(rows.view()), np.arange(len(rows))))
    return volumes


def grow_each(volumes: Volumes, margin: Number) -> None:
    """Grow every volume by a safety margin on every side, in place.

    Args:
        volumes: the set that is written to.
        margin: a length.

    Examples:
        >>> import abut
        >>> mesh = abut.scenes.box()
        >>> boxes = abut.volumes.fit_each("aabb", mesh.vertices, mesh.faces)
        >>> abut.volumes.grow_each(boxes, 0.25)
        >>> round(float(boxes.hi.max()), 6)
        0.75
    """
    _grow_each(volumes, arrays.scalar(margin, "margin"))


def _pair_count(a: Volumes, b: Volumes) -> int:
    if len(a[0]) != len(b[0]):
        raise InvalidInput("b", f"has {len(b[0])} volumes, a has {len(a[0])}")
    return len(a[0])


def overlap_each(a: Volumes, b: Volumes, frame: Frame | Same | None = None) -> np.ndarray:
    """Whether volume i of a and volume i of b overlap, for each i: (n,) booleans. Touching counts.

    Args:
        a, b: two sets of as many volumes.
        frame: where b lies as seen from a; None is where it is.

    Examples:
        >>> import abut
        >>> mesh, near = abut.scenes.box(), abut.scenes.box(center=(0.0, 0.0, 0.5))
        >>> a, b = (abut.volumes.fit_each("obb", each.vertices, each.faces) for each in (mesh, near))
        >>> int(abut.volumes.overlap_each(a, b).sum())
        8
    """
    frame = check_pair(a, b, frame)
    found = np.empty(_pair_count(a, b), np.bool_)
    _overlap_each(a, b, frame, found)
    return found


def distance_bound_each(a: Volumes, b: Volumes, frame: Frame | Same | None = None) -> Floats:
    """A lower bound of the distance of volume i of a and volume i of b, for each i: (n,); 0 where they may touch.

    Args:
        a, b: two sets of as many volumes.
        frame: where b lies as seen from a; None is where it is.

    Examples:
        >>> import abut
        >>> mesh, far = abut.scenes.box(), abut.scenes.box(center=(0.0, 0.0, 3.0))
        >>> a, b = (abut.volumes.fit_each("aabb", each.vertices, each.faces) for each in (mesh, far))
        >>> float(abut.volumes.distance_bound_each(a, b).max().round(6))
        3.0
    """
    frame = check_pair(a, b, frame)
    found = np.empty(_pair_count(a, b))
    _distance_bound_each(a, b, frame, found)
    return found
