"""Vertices by number, with some that are about to be added behind those that are there: nothing is copied to look one up."""

import numpy as np

from abut.core.arrays import Floats, Integers


class VertexRows:
    """The vertices of an environment, a view, and those that a change will add."""

    def __init__(self, known: Floats, added: Floats) -> None:
        self._known, self._added = known, added

    def __len__(self) -> int:
        return len(self._known) + len(self._added)

    def __getitem__(self, row: int) -> Floats:
        return self._known[row] if row < len(self._known) else self._added[row - len(self._known)]

    def take(self, rows: list[int] | Integers) -> Floats:
        """(k, dimension) some of them."""
        chosen = np.asarray(rows, np.int64)
        is_added = chosen >= len(self._known)
        if not is_added.any():
            return self._known[chosen]
        points = np.empty((len(chosen), self._known.shape[1]))
        points[~is_added], points[is_added] = (
            self._known[chosen[~is_added]],
            self._added[chosen[is_added] - len(self._known)],
        )
        return points
