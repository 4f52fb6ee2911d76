"""What a world answers. Immutable; bodies are named by their handles."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers, frozen
from abut.core.showing import ROWS_SHOWN, count, describe, table_html


@dataclass(frozen=True, eq=False)
class WorldContacts:
    """Points where bodies touch or overlap, or pushed each other in the last step, one row per point.

    With a surface the convex body is a; else body_a was added first.
    """

    body_a: Integers
    """(n,) handles"""
    body_b: Integers
    shape_a: Integers
    """(n,) which shape of its body"""
    shape_b: Integers
    face_a: Integers
    """(n,) of a surface's mesh, or of a polytope; −1 on round parts, edges and corners"""
    face_b: Integers
    point: Floats
    """(n,3) midway between the two surfaces"""
    normal: Floats
    """(n,3) unit vectors from a to b"""
    depth: Floats
    """(n,) how far the two overlap at the point; 0 where they touch"""
    impulse: Floats
    """(n,) along the normal, over the last step; 0 for contacts that it did not know"""
    begun: Integers
    """(k,2) handles of bodies that touch now, and did not in the answer before this one; the smaller first, sorted"""
    ended: Integers
    """(k,2) handles of bodies that touched then and do not now; they may have been removed"""
    pairs: Integers
    """(k,2) handles of bodies that touch, the smaller first, each pair once, sorted"""

    def __len__(self) -> int:
        return len(self.depth)

    def __repr__(self) -> str:
        changes = f"{len(self.begun):,} begun", f"{len(self.ended):,} ended"
        return describe(self, count(len(self), "point"), count(len(self.pairs), "pair"), *changes)

    def _repr_html_(self) -> str:
        return _table(self, "body_a", "body_b", "face_a", "face_b", "point", "normal", "depth", "impulse")


def order_rows(first: Integers, second: Integers) -> Integers | slice:
    """What sorts rows of two columns, equal ones in their own order. Contacts mostly are sorted: then everything as it is."""
    rises, ties = first[1:] > first[:-1], first[1:] == first[:-1]
    is_sorted = bool((rises | (ties & (second[1:] >= second[:-1]))).all())
    return slice(None) if is_sorted else np.lexsort((second, first))


def unite_rows(first: Integers, second: Integers) -> Integers:
    """(k,2) rows of the two columns, sorted, each row once."""
    rows = np.stack((first, second), axis=1)[order_rows(first, second)]
    fresh = np.ones(len(rows), np.bool_)
    fresh[1:] = (rows[1:, 0] != rows[:-1, 0]) | (rows[1:, 1] != rows[:-1, 1])
    return rows[fresh]


@dataclass(frozen=True, eq=False)
class SensorEvents:
    """Who came into sensors, stayed and left in the last step: (k,2) handles of a sensor and of a body, sorted."""

    begun: Integers
    """(k,2) inside now, and not after the step before"""
    persisting: Integers
    """(k,2) inside now as then"""
    ended: Integers
    """(k,2) inside then, and not now; they may have been removed"""

    def __len__(self) -> int:
        return len(self.begun) + len(self.persisting)

    def __repr__(self) -> str:
        return describe(self, f"{len(self):,} inside", f"{len(self.begun):,} begun", f"{len(self.ended):,} ended")

    def _repr_html_(self) -> str:
        rows = [(name, *row) for name in ("begun", "persisting", "ended") for row in getattr(self, name).tolist()]
        return table_html(repr(self), ("event", "sensor", "body"), list(zip(*rows, strict=True)), len(rows))

    @property
    def inside(self) -> Integers:
        """(k,2) who is inside now, sorted."""
        rows = np.concatenate((self.begun, self.persisting))
        return frozen(unite_rows(rows[:, 0], rows[:, 1]))


@dataclass(frozen=True, eq=False)
class RayHits:
    """What rays met first, one row per ray."""

    body: Integers
    """(n,) handles; −1 where a ray met nothing"""
    shape: Integers
    """(n,) which shape of its body"""
    face: Integers
    """(n,) of a surface's mesh, or of a polytope; −1 on round shapes, and where the ray starts inside"""
    distance: Floats
    """(n,) along the ray, in units of length; inf where it met nothing"""
    point: Floats
    """(n,3) where it met the body"""
    normal: Floats
    """(n,3) outward unit normal of what was met; zero where nothing was, or where the ray starts inside"""

    def __len__(self) -> int:
        return len(self.distance)

    def __repr__(self) -> str:
        return describe(self, count(len(self), "ray"), count(int(self.hit.sum()), "hit"))

    def _repr_html_(self) -> str:
        return _table(self, "body", "shape", "face", "distance", "point", "normal")

    @property
    def hit(self) -> NDArray[np.bool_]:
        """(n,) whether a ray met anything."""
        return self.body >= 0


@dataclass(frozen=True, eq=False)
class Closest:
    """The body nearest to a shape."""

    body: int
    """its handle"""
    shape: int
    """which shape of the body"""
    distance: float
    """negative where the two overlap: the depth"""
    point_a: Floats
    """(3,) of the shape"""
    point_b: Floats
    """(3,) of the body"""
    normal: Floats
    """(3,) unit vector from the shape to the body"""

    def __repr__(self) -> str:
        return describe(self, f"body {self.body}", f"distance {self.distance:.6g}")

    def _repr_html_(self) -> str:
        names = ("body", "shape", "distance", "point_a", "point_b", "normal")
        values = (
            self.body,
            self.shape,
            self.distance,
            self.point_a.tolist(),
            self.point_b.tolist(),
            self.normal.tolist(),
        )
        return table_html(repr(self), names, [[value] for value in values], 1)


@dataclass(frozen=True, eq=False)
class ShapeHit:
    """What a moving shape met first."""

    body: int
    """its handle"""
    shape: int
    """which shape of the body"""
    time: float
    """from 0 at the first pose to 1 at the second; never late"""
    pose: Floats
    """(4,4) of the moving shape then"""
    point: Floats
    """(3,) where it met the body"""
    normal: Floats
    """(3,) unit vector from the shape to the body"""

    def __repr__(self) -> str:
        return describe(self, f"body {self.body}", f"time {self.time:.6g}")

    def _repr_html_(self) -> str:
        names = ("body", "shape", "time", "point", "normal")
        values = (self.body, self.shape, self.time, self.point.tolist(), self.normal.tolist())
        return table_html(repr(self), names, [[value] for value in values], 1)


@dataclass(frozen=True, eq=False)
class ClosestMany:
    """The bodies nearest to a shape at many places, one row per place."""

    body: Integers
    """(n,) handles; −1 where there is no body"""
    shape: Integers
    """(n,) which shape of the body; −1 where there is none"""
    distance: Floats
    """(n,) negative where the two overlap: the depth; inf where there is no body"""
    point_a: Floats
    """(n,3) of the shape"""
    point_b: Floats
    """(n,3) of the body"""
    normal: Floats
    """(n,3) unit vectors from the shape to the body"""

    def __len__(self) -> int:
        return len(self.distance)

    def __repr__(self) -> str:
        return describe(self, count(len(self), "place"), f"{np.count_nonzero(self.body >= 0):,} with a body")

    def _repr_html_(self) -> str:
        return _table(self, "body", "shape", "distance", "point_a", "point_b", "normal")


@dataclass(frozen=True, eq=False)
class OverlapMany:
    """Bodies that touch or overlap a shape at many places, one row per place and body, sorted."""

    query: Integers
    """(n,) which place"""
    body: Integers
    """(n,) handles"""

    def __len__(self) -> int:
        return len(self.body)

    def __repr__(self) -> str:
        return describe(self, count(len(self), "overlap"), count(len(np.unique(self.body)), "body", "bodies"))

    def _repr_html_(self) -> str:
        return _table(self, "query", "body")


def _table(result: Any, *names: str) -> str:
    """The first rows of a result, with the columns of these names."""
    return table_html(repr(result), names, [getattr(result, name)[:ROWS_SHOWN].tolist() for name in names], len(result))
