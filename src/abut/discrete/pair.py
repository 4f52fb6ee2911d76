"""`Pair`: two bodies about which the same is asked again and again."""

from typing import Any

import numpy as np

from abut.core import showing
from abut.core.arrays import Floats
from abut.core.errors import Unsupported
from abut.core.poses import FLOAT64, own_pose
from abut.core.types import Number, PoseLike
from abut.discrete.bodies import LARGEST_RATIO, LEAST_RATIO, Body, BodyLike, Deformable, Rigid, as_body, check_sizes
from abut.discrete.collide import NO_MARGIN, collide
from abut.discrete.contacts import Contacts
from abut.discrete.containment import find_holder
from abut.discrete.distance import Distance, distance
from abut.discrete.search.queries import MAYBE_HELD, search_first
from abut.discrete.search.witness import HANDLE_A, HANDLE_B, NO_WITNESS, NOT_RIGID, REACH, ask_again, ask_at

ARRAY = np.ndarray
GROWTH = 1.0 + 1e-9  # of a radius: beyond its rounding
PLAIN = 0x501  # of NumPy's flags: C order, aligned, writable, for which kernels are compiled


def _radius(body: Body) -> float:
    """Of a ball about the origin of the tree's frame that holds all corners."""
    frame = body._packets.tree.frame
    offsets = (body._packets.tree.corners.reshape(-1, 3) - frame[:3]) * frame[
        3
    ]  # within 1, so that no square vanishes or overflows
    return float(np.sqrt((offsets * offsets).sum(axis=1).max()) / frame[3])


class Pair:
    """Two bodies that are asked about again and again, as they move: `collides` is the quickest way to a yes or no.

    The pair keeps what a question of it needs at hand, and for rigid bodies the two faces that met last: bodies that go on touching are known to
    touch by these two alone. What is kept never changes an answer. The bodies are those that were given: they move by `Rigid.pose` and
    `Deformable.update`.

    Args:
        a, b: `Rigid` or `Deformable` bodies; anything that `as_mesh` takes becomes a rigid body of the pair.

    Raises:
        Unsupported: sizes that differ by more than 2¹⁰⁰.

    Examples:
        >>> import numpy as np
        >>> import abut
        >>> pair, pose = abut.Pair(abut.scenes.box(), abut.scenes.icosphere(2)), np.eye(4)
        >>> for pose[0, 3] in (3.0, 1.6, 1.0):
        ...     print(pair.collides(pose))
        False
        False
        True
    """

    def __init__(self, a: BodyLike, b: BodyLike) -> None:
        self._a, self._b = as_body(a, "a"), as_body(b, "b")
        check_sizes(self._a, self._b)
        self._memory = np.full(5, NO_WITNESS, dtype=np.int64)
        self._memory[REACH:].view(np.float64)[0] = GROWTH * (_radius(self._a) + _radius(self._b))
        self._memory[HANDLE_A], self._memory[HANDLE_B] = self._a._at, self._b._at
        self._at = self._memory.ctypes.data
        self._rigid = type(self._a) is Rigid and type(self._b) is Rigid

    @property
    def a(self) -> Body:
        """The first body."""
        return self._a

    @property
    def b(self) -> Body:
        """The second body."""
        return self._b

    def collides(self, pose: PoseLike | None = None) -> bool:
        """Whether the bodies collide: as `bool(abut.collide(a, b, first=True))`.

        Args:
            pose: (4,4) where a is thought to be, as `poses` of `abut.collide` has it; a itself stays where it is. None for where it is.
        """
        a, b = self._a, self._b
        if self._rigid:
            if pose is None:
                own = a._pose
                found = ask_again(self._at, a._place[1], b._place[1])
            elif type(pose) is ARRAY and pose.dtype is FLOAT64 and pose.ndim == 2 and pose.flags.num & PLAIN == PLAIN:
                own = pose
                found = ask_at(self._at, pose, b._place[1])
            else:
                own, found = a._pose, NOT_RIGID
            if found == 0:
                return False
            if found == 1:
                return True
            if found == MAYBE_HELD:
                return find_holder(a, own, b, b._pose) > 0
        if pose is None:
            return self._search(a._pose)
        if type(a) is Deformable:
            raise Unsupported("a pose of a deformable body a: its vertices already say where it is")
        return self._search(own_pose(pose, "pose")[0])

    def _search(self, pose_a: Floats) -> bool:
        """Without a memory: deformable bodies, and poses that have to be read first."""
        a, b = self._a, self._b
        if not LEAST_RATIO <= a._scale / b._scale <= LARGEST_RATIO:
            check_sizes(a, b)
        found = search_first(a._handle, pose_a, b._handle, b._pose)[3]
        return bool(found > 0 or (found == MAYBE_HELD and find_holder(a, pose_a, b, b._pose) > 0))

    def collide(self, *, margin: Number = NO_MARGIN, first: bool = False) -> Contacts:
        """The contacts of the bodies: `abut.collide(a, b)`.

        Args:
            margin: a length by which the facets of both bodies are grown on every side.
            first: whether to stop at the first pair.
        """
        return collide(self._a, self._b, margin=margin, first=first)

    def distance(self, *, depth: bool = True) -> Distance:
        """The distance of the bodies: `abut.distance(a, b)`.

        Args:
            depth: whether to measure how deep bodies that overlap are in each other.
        """
        return distance(self._a, self._b, depth=depth)

    def __reduce__(self) -> Any:
        return type(self), (self._a, self._b)  # the memory holds addresses

    def __repr__(self) -> str:
        return showing.describe(self, repr(self._a), repr(self._b))
