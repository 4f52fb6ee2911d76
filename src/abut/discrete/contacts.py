"""What `collide` answers: the pairs of faces in contact, and where and how each pair meets."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.core import showing
from abut.core.arrays import Floats, Integers, frozen
from abut.core.jit import threads_for
from abut.discrete.bodies import Body, Deformable, Rigid
from abut.discrete.measure.contact_segments import copy_corners, describe, join_faces
from abut.discrete.orientation import inward_faces
from abut.discrete.penetration import penetration
from abut.discrete.search.pairs import Pairs
from abut.mesh import Mesh


class _Rows(NamedTuple):
    query: Integers
    face_a: Integers
    face_b: Integers


class _Details(NamedTuple):
    segment: Floats
    normal: Floats
    gap: Floats


class _Search(NamedTuple):
    """What was searched and found. With many queries pose_a is (k,4,4), and `held` and `counts` are arrays (k,)."""

    a: Body
    pose_a: Floats
    b: Body
    pose_b: Floats
    pairs: Pairs | tuple[tuple[int, int], ...]
    work: Sequence[int] | Integers
    held: int | NDArray[np.int8]
    counts: Integers | None = None


NO_ROWS = _Rows(*(frozen(np.empty(0, dtype=np.int64)) for _ in range(3)))
NO_DETAILS = _Details(frozen(np.empty((0, 2, 3))), frozen(np.empty((0, 3))), frozen(np.empty(0)))


class Contacts:
    """Pairs of faces in contact, one row per pair, sorted by query, face of a and face of b. Immutable.

    `bool(contacts)` tells whether the bodies collide: some faces meet, or one closed body holds the other (`inside`). All arrays are computed
    on first use, from the state at the time of the question; a later change of the bodies does not reach them.

    Args:
        *found: the two bodies, their poses, and what a search of them found. `abut.collide` makes contacts; nobody else need.

    Examples:
        >>> import abut
        >>> held = abut.collide(abut.scenes.icosphere(1, radius=0.5), abut.scenes.box((4.0, 4.0, 4.0)))
        >>> bool(held), len(held), held.inside
        (True, 0, array([1], dtype=int8))
    """

    _found: tuple[Any, ...]
    _shapes: tuple[Floats | None, Floats | None]
    _corners: tuple[Floats, Floats]

    def __init__(self, *found: Any) -> None:
        # the fields of a `_Search`, which is made when needed: that takes longer than a search may
        self.__dict__["_found"] = found
        if type(found[0]) is not Rigid or type(found[2]) is not Rigid:  # a deformable body's tree is refitted in place
            self.__dict__["_shapes"] = (shape_of(found[0]), shape_of(found[2]))
            self.__dict__["_corners"] = self._copy_corners()

    @cached_property
    def _search(self) -> _Search:
        return _Search(*self._found)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Contacts do not change: cannot set {name!r}")

    def __len__(self) -> int:
        return len(self._found[4])

    def __bool__(self) -> bool:
        held = self._found[6]
        return len(self._found[4]) > 0 or (held > 0 if type(held) is int else bool(np.any(held)))

    def __repr__(self) -> str:
        queries = showing.count(len(self.colliding), "query", "queries")
        return showing.describe(
            self, showing.count(len(self), "pair"), f"{int(self.colliding.sum()):,} of {queries} colliding"
        )

    def _repr_html_(self) -> str:
        names = ("query", "face_a", "face_b", "point", "normal", "depth")
        columns = [getattr(self, name)[: showing.ROWS_SHOWN].tolist() for name in names]
        return showing.table_html(repr(self), names, columns, len(self))

    # --- which faces

    @cached_property
    def _rows(self) -> _Rows:
        search = self._search
        if not len(self):
            return NO_ROWS
        pairs = np.asarray(search.pairs, dtype=np.int32)
        keys = join_faces(pairs, search.a._packets.order, search.b._packets.order)
        counts = np.array([len(pairs)]) if search.counts is None else search.counts
        stops = np.cumsum(counts)
        for query in np.flatnonzero(counts > 1):
            keys[stops[query] - counts[query] : stops[query]].sort()
        query = np.repeat(np.arange(len(counts)), counts)
        return _Rows(*map(frozen, (query, keys >> 32, keys & 0xFFFFFFFF)))

    @property
    def face_a(self) -> Integers:
        """(n,) face of a."""
        return self._rows.face_a

    @property
    def face_b(self) -> Integers:
        """(n,) face of b."""
        return self._rows.face_b

    @property
    def query(self) -> Integers:
        """(n,) which of the `poses` the row belongs to; 0 without them."""
        return self._rows.query

    # --- whether

    @cached_property
    def inside(self) -> NDArray[np.int8]:
        """(k,) for each query 1 if a lies inside b, 2 if b lies inside a, with no faces meeting; otherwise 0."""
        return frozen(np.array(self._search.held, dtype=np.int8, ndmin=1))

    @cached_property
    def colliding(self) -> NDArray[np.bool_]:
        """(k,) for each query, whether the bodies collide."""
        counts = self._search.counts
        met = np.array([len(self)]) if counts is None else counts
        return frozen((met > 0) | (self.inside > 0))

    # --- work done

    @property
    def box_tests(self) -> int:
        """Tests of boxes against boxes."""
        return int(self._search.work[0])

    @property
    def triangle_tests(self) -> int:
        """Tests of triangles against triangles in float32."""
        return int(self._search.work[1])

    @property
    def exact_tests(self) -> int:
        """Tests that went on to exact signs."""
        return int(self._search.work[2])

    # --- where and how

    def _copy_corners(self) -> tuple[Floats, Floats]:
        """(n,9) of each: the corners of the faces of a and b in the world."""
        search, rows = self._search, self._rows
        a, b = np.empty((len(self), 9)), np.empty((len(self), 9))
        sides = (
            (search.a, rows.face_a, search.pose_a.reshape(-1, 4, 4), rows.query, a),
            (search.b, rows.face_b, search.pose_b[np.newaxis], np.zeros_like(rows.query), b),
        )
        with threads_for(len(self)):
            for body, faces, poses, query, out in sides:
                copy_corners(body._packets.tree.corners, body._slot_of[faces], poses, query, out)
        return a, b

    @cached_property
    def _details(self) -> _Details:
        if not len(self):
            return NO_DETAILS
        a, b = self.__dict__.get("_corners") or self._copy_corners()
        details = _Details(np.empty((len(a), 2, 3)), np.empty((len(a), 3)), np.empty(len(a)))
        with threads_for(len(self)):
            describe(a, b, self._signs(), *details)
        return _Details(*map(frozen, details))

    @cached_property
    def _bodies(self) -> tuple[Body, Body]:
        """The bodies with the shapes they had."""
        search, shapes = self._search, self.__dict__.get("_shapes", (None, None))
        a = body_then(search.a, shapes[0])
        return a, a if search.b is search.a else body_then(search.b, shapes[1])

    def _signs(self) -> Floats:
        """(n,2) whether the normal of the face of a, of b, points out of the body (1) or in (−1)."""
        signs = np.ones((len(self), 2))
        for side, (body, faces) in enumerate(zip(self._bodies, (self.face_a, self.face_b), strict=True)):
            inward = inward_faces(body)
            if inward is not None:
                signs[inward[faces], side] = -1.0
        return signs

    @property
    def segment(self) -> Floats:
        """(n,2,3) where the two faces meet: the ends of their intersection; for faces within the margin, their nearest points on a and on b."""
        return self._details.segment

    @cached_property
    def point(self) -> Floats:
        """(n,3) the middle of `segment`."""
        return frozen(0.5 * self.segment[:, 0] + 0.5 * self.segment[:, 1])

    @property
    def normal(self) -> Floats:
        """(n,3) unit vectors from a to b: halfway between the outward normal of a's face and the inward one of b's.

        Outward of a closed body however its faces are oriented, as long as neighbours agree; of other surfaces as the faces are.
        """
        return self._details.normal

    @cached_property
    def depth(self) -> Floats:
        """(n,) how deep the closed bodies are in each other; negative, the distance of the faces, for rows within the margin only.

        The depth is that of the two bodies in the row's query, the pointwise penetration depth of `abut.distance`, not the overlap of two triangles.
        A surface that is not closed has no inside, and the depth in it is 0.
        """
        gap = self._details.gap
        depth = -gap
        meeting = gap < 0.0
        search, (a, b) = self._search, self._bodies
        for query in np.unique(self.query[meeting]):
            pose = search.pose_a.reshape(-1, 4, 4)[query]
            depth[meeting & (self.query == query)] = penetration(a, pose, b, search.pose_b)[0]
        return frozen(depth)


def shape_of(body: Body) -> Floats | None:
    """The vertices of a deformable body now, each update of which makes an array of its own; None for a rigid one, which keeps its shape."""
    return None if isinstance(body, Rigid) else body.vertices


def body_then(body: Body, shape: Floats | None) -> Body:
    """The body with the shape it had."""
    if isinstance(body, Deformable) and shape is not None and body.vertices is not shape:
        return Deformable(Mesh(shape, body.mesh.faces))
    return body
