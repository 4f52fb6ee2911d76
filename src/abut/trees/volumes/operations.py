"""What every volume can do. Each volume's file implements these for its own class; a kernel calls them by these names.

Volumes come in sets: a NamedTuple of arrays whose rows are volumes. `carry` prepares one volume of the second set in the
frame of the first, once for all the tests against it; the frame is a `Same` or a `Frame`.
"""

from typing import Any, NamedTuple

from abut.core import showing
from abut.core.arrays import Floats, Integers
from abut.core.jit import generic, kernel
from abut.geometry.vec import Vec3


class Primitives(NamedTuple):
    """What volumes hold: vertices (n,3) float64, rows (m,k) int64 of vertex numbers, order (m,) int64 of the rows.

    Faces have k = 3, edges 2, points 1. Vertices and rows are read-only; building rearranges the order.
    """

    vertices: Floats
    rows: Integers
    order: Integers

    def __repr__(self) -> str:
        return showing.describe(
            self, f"{len(self.rows):,} of {showing.count(self.rows.shape[1], 'vertex', 'vertices')}"
        )


@generic
def fit(v: Any, i: int, primitives: Primitives, start: int, end: int) -> None:
    """Volume i becomes that of the primitives order[start:end]. Every vertex is inside, rounding included: each file says why.

    Args:
        v: a set of volumes.
        i: the row to write.
        primitives: what the volumes hold.
        start, end: the range in `primitives.order`.
    """


@generic
def merge(v: Any, k: int, i: int, j: int) -> None:
    """Volume k becomes one that holds the volumes i and j.

    Args:
        v: a set of volumes.
        k: the row to write.
        i, j: the rows to be held.
    """


@generic
def grow(v: Any, i: int, margin: float) -> None:
    """Volume i becomes one that holds every point within `margin` of it: a safety margin on every side.

    Args:
        v: a set of volumes.
        i: the row to grow.
        margin: a length.
    """


@generic
def size(v: Any, i: int) -> float:
    """The longest width of volume i, a length. The traversal descends into the larger.

    Args:
        v: a set of volumes.
        i: the row.
    """
    return 0.0


@generic
def longest(v: Any, i: int) -> tuple[Vec3, float]:
    """A direction d in which volume i is widest, not always a unit vector, and the middle of d·x over the volume.

    Args:
        v: a set of volumes.
        i: the row.
    """
    return (0.0, 0.0, 0.0), 0.0


@generic
def encloses(v: Any, i: int, point: Vec3) -> bool:
    """Whether a point is in volume i, up to the rounding of this very test.

    Args:
        v: a set of volumes.
        i: the row.
        point: a point in the frame of the set.
    """
    return False


@generic
def carry(v: Any, i: int, frame: Any) -> Any:
    """Volume i as the other set's frame sees it, ready for `meets` and `separation`.

    Args:
        v: the second set of volumes.
        i: the row.
        frame: where the second set lies as seen from the first, a `Same` or a `Frame`.
    """


@generic
def meets(v: Any, i: int, other: Any) -> bool:
    """Whether volume i and a carried volume overlap. Touching counts; volumes that touch are never found apart.

    Args:
        v: the first set of volumes.
        i: the row.
        other: what `carry` made of a volume of the second set.
    """
    return False


@generic
def separation(v: Any, i: int, other: Any) -> float:
    """A lower bound of the distance of volume i and a carried volume, less the frame's slack; never above the true one.

    Args:
        v: the first set of volumes.
        i: the row.
        other: what `carry` made of a volume of the second set.
    """
    return 0.0


@kernel
def overlap(a: Any, i: int, b: Any, j: int, frame: Any) -> bool:
    """Whether volume i of a and volume j of b overlap (touching counts).

    Args:
        a, b: two sets of volumes.
        i, j: a row of each.
        frame: where b lies as seen from a, a `Same` or a `Frame`.
    """
    return meets(a, i, carry(b, j, frame))


@kernel
def distance_bound(a: Any, i: int, b: Any, j: int, frame: Any) -> float:
    """A lower bound of the distance of volume i of a and volume j of b, less the frame's slack. 0 where they may touch.

    Args:
        a, b: two sets of volumes.
        i, j: a row of each.
        frame: where b lies as seen from a, a `Same` or a `Frame`.
    """
    return separation(a, i, carry(b, j, frame))
