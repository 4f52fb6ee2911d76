"""Triangles between corners of cells that faces were cut into before: a face that is given anew keeps them, so that no wall jumps.

Corners are known by their places, not by their numbers: the two sides of a slit have numbers of their own.
"""

import numpy as np

from abut.core.arrays import Floats, Integers

MOST_PLACES = 2**20
"""Three numbers of places make one of 63 bits up to here; of more, which no surgery has at a time, the triangles are forgotten."""


class Known:
    """The places of triangles.

    Args:
        vertices: (n,3).
        triangles: (m,3) rows of these.
    """

    def __init__(self, vertices: Floats, triangles: Integers) -> None:
        self._numbers: dict[bytes, int] = {}
        rows, local = np.unique(triangles, return_inverse=True)
        numbers = [self._numbers.setdefault(place, len(self._numbers)) for place in _places(vertices[rows])]
        self._base = len(self._numbers)
        if self._base > MOST_PLACES:
            triangles = triangles[:0]
        corners = np.array(numbers, np.int64)[local.reshape(-1, 3)] if len(triangles) else np.empty((0, 3), np.int64)
        self._keys = np.unique(self._key(corners))

    def __bool__(self) -> bool:
        return len(self._keys) > 0

    def _key(self, corners: Integers) -> Integers:
        a, b, c = np.sort(corners, axis=1).T
        return (a * self._base + b) * self._base + c

    def find_apexes(self, vertices: Floats, rings: Integers) -> Integers:
        """(n,) the corner of each ring (n,size) from which it was cut into triangles before, or −1."""
        rows, local = np.unique(rings, return_inverse=True)
        numbers = np.array([self._numbers.get(place, -1) for place in _places(vertices[rows])], np.int64)
        corners = numbers[local.reshape(rings.shape)]
        size = rings.shape[1]
        apexes = np.full(len(rings), -1)
        for apex in reversed(range(size)):
            fits = np.ones(len(rings), np.bool_)
            for k in range(1, size - 1):
                fan = corners[:, [apex, (apex + k) % size, (apex + k + 1) % size]]
                fits &= (fan >= 0).all(axis=1) & np.isin(self._key(fan), self._keys)
            apexes[fits] = apex
        return apexes


def _places(points: Floats) -> list[bytes]:
    """Each point as bytes; those of 0 and −0 are the same."""
    whole = np.ascontiguousarray(points + 0.0)
    return whole.view(np.dtype((np.void, whole.itemsize * whole.shape[1]))).ravel().tolist()
