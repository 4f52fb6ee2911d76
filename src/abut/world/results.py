"""What a world answers. Immutable; bodies are named by their handles."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers


@dataclass(frozen=True, eq=False)
class WorldContacts:
    """Points where bodies touch or overlap, or pushed each other in the last step, one row a point.

    With a surface the convex body is a; else body_a was added first.

    shape_a and shape_b number the shapes within their bodies. face_a and face_b are faces of a surface's mesh, or of a polytope; −1 on round parts,
    edges and corners.
    """

    body_a: Integers
    body_b: Integers
    shape_a: Integers
    shape_b: Integers
    face_a: Integers
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
    """(k,2) handles of bodies that touch now, and did not the last time that contacts were asked for; the smaller first, sorted"""
    ended: Integers
    """(k,2) handles of bodies that touched then and do not now; they may have been removed"""

    pairs: Integers
    """(k,2) handles of bodies that touch, the smaller first, each pair once, sorted"""

    def __len__(self) -> int:
        return len(self.depth)


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
class RayHits:
    """What rays met first, one row a ray. body is −1 and distance inf where a ray met nothing."""

    body: Integers
    shape: Integers
    face: Integers
    distance: Floats
    """(n,) along the ray, in units of length"""
    point: Floats
    normal: Floats
    """(n,3) outward unit normal of what was met; zero where nothing was, or where the ray starts inside"""

    def __len__(self) -> int:
        return len(self.distance)

    @property
    def hit(self) -> NDArray[np.bool_]:
        """(n,) whether a ray met anything."""
        return self.body >= 0


@dataclass(frozen=True, eq=False)
class Closest:
    """The body nearest to a shape: signed distance (negative: the depth), a point of each, and the normal from the shape to the body."""

    body: int
    shape: int
    distance: float
    point_a: Floats
    point_b: Floats
    normal: Floats


@dataclass(frozen=True, eq=False)
class ClosestMany:
    """The same for many places of a shape, one row each. body and shape are −1, and distance is infinite, where there is no body."""

    body: Integers
    shape: Integers
    distance: Floats
    point_a: Floats
    point_b: Floats
    normal: Floats

    def __len__(self) -> int:
        return len(self.distance)


@dataclass(frozen=True, eq=False)
class OverlapMany:
    """Bodies that touch or overlap a shape at many places, one row a place and body, sorted."""

    query: Integers
    """(n,) which place"""
    body: Integers

    def __len__(self) -> int:
        return len(self.body)
