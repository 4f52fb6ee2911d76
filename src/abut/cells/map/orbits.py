"""Cells of every dimension as orbits of darts, and marks that undo only what they touched (Jund 2010, §2.2.2).

A cell is the set of darts that the permutations below reach from one of its darts, f∘g meaning g first:

    plane   vertex ⟨φ2∘φ1⁻¹⟩            edge ⟨φ2⟩        face ⟨φ1⟩
    space   vertex ⟨φ2∘φ1⁻¹, φ3∘φ1⁻¹⟩   edge ⟨φ2, φ3⟩    face ⟨φ1, φ3⟩    volume ⟨φ1, φ2⟩
"""

import numpy as np
from numpy.typing import NDArray

from abut.cells.arguments import read_numbers
from abut.cells.map.darts import UNUSED, Darts, Indices, Row
from abut.core import arrays
from abut.core.jit import element, kernel
from abut.core.showing import count, describe
from abut.core.types import IndicesLike


class Marker:
    """A set of darts that is emptied in time proportional to its size, not to that of the map.

    `is_marked` (darts,) holds a boolean for each dart.

    Args:
        dart_count: how many darts the map has.

    Examples:
        >>> import abut
        >>> darts = abut.cells.channel(1, 1, 1).darts
        >>> marker = abut.cells.Marker(len(darts.phi1))
        >>> marker.mark(abut.cells.orbit(darts, 0, 2))
        >>> marker
        Marker(8 of 48 darts)
        >>> marker.clear()
        >>> int(marker.is_marked.sum())
        0
    """

    def __init__(self, dart_count: int) -> None:
        size = arrays.count(dart_count, "dart_count", most=2**31 - 1)
        self.is_marked: NDArray[np.bool_] = np.zeros(size, np.bool_)
        self._marked: list[Indices] = []

    def __repr__(self) -> str:
        return describe(self, f"{np.count_nonzero(self.is_marked):,} of {count(len(self.is_marked), 'dart')}")

    def mark(self, darts: IndicesLike) -> None:
        """Add darts.

        Args:
            darts: (k,) their numbers, or one.
        """
        chosen = read_numbers(darts, "darts", len(self.is_marked)).astype(np.int32)
        self.is_marked[chosen] = True
        self._marked.append(chosen)

    def clear(self) -> None:
        """Remove the darts that were added, and touch no other."""
        for darts in self._marked:
            self.is_marked[darts] = False
        self._marked.clear()


@element
def _generator_count(dimension: int, kind: int) -> int:
    """How many permutations generate the orbits of a kind."""
    if dimension == 2:
        return 1
    return 2


@kernel
def _apply(darts: Darts, kind: int, which: int, dart: Row) -> Row:
    """The dart that a generator of the orbits leads to."""
    if kind == 0:
        before = darts.phi1_inverse[dart]
        return darts.phi3[before] if which else darts.phi2[before]
    if kind == 1:
        return darts.phi3[dart] if which else darts.phi2[dart]
    if kind == 2:
        return darts.phi3[dart] if which else darts.phi1[dart]
    return darts.phi2[dart] if which else darts.phi1[dart]


@kernel
def _collect(darts: Darts, kind: int, dart: int, is_marked: NDArray[np.bool_], found: Indices) -> int:
    """Put the orbit of a dart into `found` and mark it; how many darts it has. `found` is the queue as well."""
    found[0] = dart
    is_marked[dart] = True
    count, done = 1, 0
    while done < count:
        for which in range(_generator_count(darts.dimension, kind)):
            reached = _apply(darts, kind, which, found[done])
            if not is_marked[reached]:
                is_marked[reached] = True
                found[count] = reached
                count += 1
        done += 1
    return count


@kernel
def _label(darts: Darts, kind: int, is_marked: NDArray[np.bool_], found: Indices, labels: Indices) -> int:
    orbit_count = 0
    for dart in range(len(labels)):
        if not is_marked[dart] and darts.cell[dart] != UNUSED:
            size = _collect(darts, kind, dart, is_marked, found)
            for k in range(size):
                labels[found[k]] = orbit_count
            orbit_count += 1
    return orbit_count


def _check_kind(darts: Darts, kind: int) -> int:
    arrays.instance(darts, "darts", Darts)
    return arrays.count(kind, "kind", most=darts.dimension)


def orbit(darts: Darts, dart: int, kind: int) -> Indices:
    """The darts of the vertex, edge, face or volume that holds a dart, this one first.

    Args:
        darts: the map, `Environment.darts`.
        dart: one of its darts.
        kind: the dimension of the cell, from 0 (`VERTEX`) to that of the map.

    Returns:
        (k,) their numbers.

    Examples:
        >>> import abut
        >>> square = abut.cells.polygons([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2, 3]])
        >>> abut.cells.orbit(square.darts, 2, abut.cells.FACE).tolist()
        [2, 3, 0, 1]
    """
    kind = _check_kind(darts, kind)
    dart = arrays.count(dart, "dart", most=len(darts.phi1) - 1)
    found = np.empty(len(darts.phi1), np.int32)
    size = _collect(darts, kind, dart, np.zeros(len(darts.phi1), np.bool_), found)
    return found[:size].copy()


def label_orbits(darts: Darts, kind: int) -> tuple[Indices, int]:
    """Number all vertices, edges, faces or volumes of a map: for each dart the number of its cell, and how many there are.

    They are numbered by their lowest darts; unused darts have −1.

    Args:
        darts: the map, `Environment.darts`.
        kind: the dimension of the cells, from 0 (`VERTEX`) to that of the map.

    Returns:
        (darts,) the numbers, and how many cells of this kind there are.

    Examples:
        >>> import abut
        >>> darts = abut.cells.channel(2, 1, 1).darts
        >>> [abut.cells.label_orbits(darts, kind)[1] for kind in range(3)]
        [12, 20, 11]
    """
    kind = _check_kind(darts, kind)
    size = len(darts.phi1)
    labels = np.full(size, -1, np.int32)
    cell_count = _label(darts, kind, np.zeros(size, np.bool_), np.empty(size, np.int32), labels)
    return labels, cell_count
