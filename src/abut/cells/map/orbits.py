"""Cells of every dimension as orbits of darts, and marks that undo only what they touched (Jund 2010, §2.2.2).

A cell is the set of darts that the permutations below reach from one of its darts, f∘g meaning g first:

    plane   vertex ⟨φ2∘φ1⁻¹⟩            edge ⟨φ2⟩        face ⟨φ1⟩
    space   vertex ⟨φ2∘φ1⁻¹, φ3∘φ1⁻¹⟩   edge ⟨φ2, φ3⟩    face ⟨φ1, φ3⟩    volume ⟨φ1, φ2⟩
"""

import numpy as np
from numpy.typing import NDArray

from abut.cells.arguments import read_numbers, refuse_kind
from abut.cells.map.darts import UNUSED, Darts, Indices, Row
from abut.core import arrays
from abut.core.jit import element, kernel


class Marker:
    """A set of darts that is emptied in time proportional to its size, not to that of the map."""

    def __init__(self, dart_count: int) -> None:
        count = arrays.count(dart_count, "dart_count", most=2**31 - 1)
        self.is_marked: NDArray[np.bool_] = np.zeros(count, np.bool_)
        self._marked: list[Indices] = []

    def mark(self, darts: Indices) -> None:
        """Add darts."""
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
    refuse_kind(darts, Darts, "darts")
    return arrays.count(kind, "kind", most=darts.dimension)


def orbit(darts: Darts, dart: int, kind: int) -> Indices:
    """The darts of the cell of dimension `kind` that holds `dart`, this one first."""
    kind = _check_kind(darts, kind)
    dart = arrays.count(dart, "dart", most=len(darts.phi1) - 1)
    found = np.empty(len(darts.phi1), np.int32)
    count = _collect(darts, kind, dart, np.zeros(len(darts.phi1), np.bool_), found)
    return found[:count].copy()


def label_orbits(darts: Darts, kind: int) -> tuple[Indices, int]:
    """The number of its cell for each dart, and how many cells of this kind there are. Numbered by their lowest darts; −1 for unused darts."""
    kind = _check_kind(darts, kind)
    size = len(darts.phi1)
    labels = np.full(size, -1, np.int32)
    count = _label(darts, kind, np.zeros(size, np.bool_), np.empty(size, np.int32), labels)
    return labels, count
