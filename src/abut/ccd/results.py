"""What the continuous questions answer: kinds of contact, candidates, verdicts of single queries, impacts of a step. Immutable arrays."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.core.showing import ROWS_SHOWN, count, describe, table_html


class Kind(IntEnum):
    """Which features meet. With one body there are only vertices against faces and edges against edges."""

    VERTEX_FACE = 0
    """a is a vertex (of body a), b a face (of body b)."""
    EDGE_EDGE = 1
    """a and b are edges; of one body a < b."""
    FACE_VERTEX = 2
    """a is a face of body a, b a vertex of body b; two bodies only."""


VERTEX_FACE, EDGE_EDGE, FACE_VERTEX = Kind.VERTEX_FACE, Kind.EDGE_EDGE, Kind.FACE_VERTEX


class Status(IntEnum):
    """How a query ended."""

    FREE = 0
    """Certainly no contact in [0, 1]."""
    HIT = 1
    """Certainly a contact, at `time` or at most the tolerance later."""
    LIMIT = 2
    """The bound on the steps was reached before the tolerance: counted as a hit, at a time that is early by an unknown amount."""


def _names(kinds: type[IntEnum], numbers: NDArray[np.int8]) -> list[str]:
    """The names of the first numbers, for a table."""
    return [kinds(number).name for number in numbers[:ROWS_SHOWN].tolist()]


@dataclass(frozen=True, eq=False)
class Verdict:
    """Whether two features meet in [0, 1], and when first: one row per query."""

    hit: NDArray[np.bool_]
    """(n,)"""
    time: Floats
    """(n,) in [0, 1]: never late, early by at most the tolerance; inf when they do not meet"""
    status: NDArray[np.int8]
    """(n,) see `Status`"""
    exact_count: int = 0
    """How many queries floating point could not decide."""

    def __len__(self) -> int:
        return len(self.hit)

    def __repr__(self) -> str:
        return describe(self, count(len(self), "query", "queries"), count(int(self.hit.sum()), "hit"))

    def _repr_html_(self) -> str:
        columns = (self.hit.tolist(), self.time.tolist(), _names(Status, self.status))
        return table_html(repr(self), ("hit", "time", "status"), columns, len(self))


@dataclass(frozen=True, eq=False)
class Candidates:
    """Pairs of features whose swept volumes meet, each once, sorted; adjacent features are left out."""

    vertex_face: NDArray[np.int32]
    """(n,2) vertex, face"""
    edge_edge: NDArray[np.int32]
    """(m,2) edge, edge; of one body the smaller first"""
    face_vertex: NDArray[np.int32] = field(default_factory=lambda: np.empty((0, 2), dtype=np.int32))
    """(k,2) face of a, vertex of b: two bodies only"""

    def __len__(self) -> int:
        return len(self.vertex_face) + len(self.edge_edge) + len(self.face_vertex)

    def __repr__(self) -> str:
        facts = [f"{len(self.vertex_face):,} vertex-face", f"{len(self.edge_edge):,} edge-edge"]
        return describe(self, *facts, *([f"{len(self.face_vertex):,} face-vertex"] if len(self.face_vertex) else []))

    def _repr_html_(self) -> str:
        tables = (self.vertex_face, self.edge_edge, self.face_vertex)
        kinds = (Kind.VERTEX_FACE.name, Kind.EDGE_EDGE.name, Kind.FACE_VERTEX.name)
        rows = [
            (kind, *pair) for kind, table in zip(kinds, tables, strict=True) for pair in table[:ROWS_SHOWN].tolist()
        ]
        return table_html(repr(self), ("kind", "a", "b"), list(zip(*rows, strict=True)), len(self))


def _no_contact() -> bool:
    return False


@dataclass(frozen=True, eq=False)
class Impacts:
    """Features that meet during a step, one row per pair, sorted by kind, a and b. `bool(impacts)` tells whether anything collides."""

    kind: NDArray[np.int8]
    """(n,) see `Kind`"""
    a: Integers
    """(n,) vertex, edge or face of the first body"""
    b: Integers
    """(n,) face, edge or vertex of the second body, which may be the same"""
    time: Floats
    """(n,) first contact of the pair in [0, 1]: never late, early by at most the tolerance"""
    point: Floats
    """(n,3) where they meet, world coordinates"""
    normal: Floats
    """(n,3) unit normal from a to b at that time"""
    status: NDArray[np.int8]
    """(n,) see `Status`"""
    _is_in_contact: Callable[[], bool] = field(default=_no_contact, repr=False)

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        counts = [(int((self.kind == kind.value).sum()), kind.name.lower().replace("_", "-")) for kind in Kind]
        facts = [f"{number:,} {name}" for number, name in counts if number] or ["none"]
        return describe(self, *facts, *([f"first at {float(self.time.min()):.6g}"] if len(self) else []))

    def _repr_html_(self) -> str:
        columns = (_names(Kind, self.kind), self.a.tolist(), self.b.tolist(), self.time.tolist())
        vectors = (map(tuple, rows[:ROWS_SHOWN].tolist()) for rows in (self.point, self.normal))
        return table_html(repr(self), ("kind", "a", "b", "time", "point", "normal"), (*columns, *vectors), len(self))

    def __bool__(self) -> bool:
        return len(self) > 0 or self.in_contact_at_start

    @cached_property
    def in_contact_at_start(self) -> bool:
        """Whether surfaces pass through each other at t = 0, or one of two bodies, closed, holds the other then. Computed at the first
        access, from the motions as they were given; no row stands for it."""
        return self._is_in_contact()

    def __getstate__(self) -> dict[str, object]:
        own = {name: getattr(self, name) for name in (*self.__dataclass_fields__, "in_contact_at_start")}
        return {**own, "_is_in_contact": _no_contact}  # the answer travels, the step does not
