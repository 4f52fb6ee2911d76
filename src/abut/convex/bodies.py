"""Bodies of a batch: hulls in poses, read at the border and in kernels, and the memory that a thread keeps for depths."""

import threading
from typing import Any

import numpy as np

from abut.convex.depth.polytope import Polytopes, reserve_polytopes
from abut.convex.features.exhaustive import Range
from abut.convex.hull.hulls import Hulls
from abut.convex.triples import triple_at, triple_from
from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.jit import element
from abut.core.poses import are_rigid
from abut.core.scratch import load
from abut.core.types import IndicesLike, PosesLike
from abut.geometry.frames import Frame, relate, turn, turn_back
from abut.geometry.vec import Vec3, add, subtract

TASKS = 16
"""Parts that a batch is cut into; each has its own memory for depths."""

PAIRS_FOR_THREADS = 256
"""A pair takes 0.1 µs and more; entering a parallel loop takes 10 to 40 µs."""


@element
def read_pose(poses: Any, body: int) -> Frame:
    """The pose of a body, from a pointer to (n,4,4)."""
    at = 16 * body
    rotation = (triple_from(poses, at), triple_from(poses, at + 4), triple_from(poses, at + 8))
    return rotation, (load(poses, at + 3), load(poses, at + 7), load(poses, at + 11))


@element
def relate_middles(a: Frame, b: Frame, middle_a: Vec3, middle_b: Vec3) -> Frame:
    """From b's frame to a's, both relative to their middles. The translations are subtracted first: that is exact where the bodies are close."""
    t = turn_back(a[0], add(turn(b[0], middle_b), subtract(b[1], a[1])))
    return relate(a, b)[0], subtract(t, middle_a)


@element
def range_of(starts: Any, hull: int) -> Range:
    """The features of a hull, from a pointer to `Hulls.starts`."""
    first, last = triple_at(starts, hull), triple_at(starts, hull + 1)
    return (first[0], first[1], first[2], last[0], last[1], last[2])


def read_poses(value: PosesLike) -> Floats:
    """(n,4,4) poses whose rotations are orthonormal: the walk takes a transpose for the inverse."""
    if type(value) is np.ndarray and value.dtype == np.float64 and value.shape[1:] == (4, 4):
        own = np.ascontiguousarray(value).view()
        if are_rigid(frozen(own)):
            return own
    return frozen(arrays.rigid_poses(value, "poses"))


def read_bodies(
    hulls: Hulls, pairs: IndicesLike, poses: PosesLike, which: IndicesLike | None
) -> tuple[Integers, Floats, Integers]:
    """(p,2) pairs, (n,4,4) poses and (n,) hulls of bodies, checked; without `which`, body i has hull i."""
    arrays.instance(hulls, "hulls", Hulls)
    placed = read_poses(poses)
    chosen = arrays.selection(np.arange(len(placed)) if which is None else which, "which", len(hulls))
    if len(chosen) != len(placed):
        raise InvalidInput("which", f"has {len(chosen)} rows for {len(placed)} poses")
    return arrays.indices(pairs, "pairs", 2, len(placed)), placed, chosen


def whole_numbers(value: IndicesLike, name: str, shape: tuple[int, ...]) -> Integers:
    """An array of its own, of whole numbers that int64 holds."""
    given = arrays.coordinates(value, name, shape)
    with np.errstate(invalid="ignore"):
        whole = given.astype(np.int64)
    wrong = np.flatnonzero((whole != given).any(axis=tuple(range(1, given.ndim))))
    if len(wrong):
        raise InvalidInput(name, "is not a whole number", int(wrong[0]))
    return whole


class _Memory(threading.local):
    """Memory for depths, kept between calls of a thread."""

    polytopes: Polytopes | None = None

    def reserve(self) -> Polytopes:
        if self.polytopes is None:
            self.polytopes = reserve_polytopes(TASKS)
        return self.polytopes


memory = _Memory()
