"""Springs that are divided where an adaptive response puts particles on them (Jund 2010, §5.2.1 and figure 5.7; Hutchinson 1996).

A spring of stiffness k, damping c and length at rest d, with particles at the places 0 < s₁ < … < sₙ < 1, becomes a chain. Its pieces, of the part
Δ of the whole, have the stiffness k/Δ, the damping c/Δ and the length at rest Δd: one behind the other they are the spring again, and pull with its
force (equation 5.1) while they lie in a line. From each particle to the next but one there is a spring against bending (figure 5.1), of stiffness
b/(ΣΔ·Δ) and length at rest Δd, Δ being the part that it spans and ΣΔ the sum over all of them; the pieces then have k − b in place of k, so that the
energy of a chain in a line is that of the spring.

The spring's mass is 2A, half of it at each end: A is the lesser of what the ends have for each of their springs. A particle has what lies nearest
to it, A (sₖ₊₁ − sₖ₋₁), and takes it from its neighbours in proportion: by this, and as it begins with the velocity between theirs, mass, center of
mass and momentum stay what they are. One that is removed gives its mass and its momentum back to its neighbours.

All follows from the places alone: particles may come and go in any order, and when the last has gone the spring is what it was, to the bit.
"""

import copy
import itertools
from typing import NamedTuple

import numpy as np

from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput

MOST_BENDING = 0.5
"""Of the stiffness of a spring, what its chain may give to springs against bending."""


class Springs(NamedTuple):
    """The tables of a model."""

    ends: Integers
    stiffness: Floats
    damping: Floats
    rest: Floats


class Inserted(NamedTuple):
    """A particle between two others on a divided spring."""

    before: int
    behind: int
    share: float
    """of the way from one to the other"""
    mass: float


class DividedSprings:
    """Which particles are on which of the given springs."""

    def __init__(self, given: Springs, mass: Floats, bending: float) -> None:
        self._given, self._bending, self._count = given, bending, len(mass)
        degree = np.bincount(given.ends.ravel(), minlength=len(mass))
        share = mass / np.maximum(degree, 1)
        self._half = share[given.ends].min(axis=1)
        self._rows = {frozenset(pair): row for row, pair in reversed(list(enumerate(given.ends.tolist())))}
        self._chains: dict[int, list[tuple[float, int]]] = {}

    def copy(self) -> "DividedSprings":
        """The same, to be changed."""
        other = copy.copy(self)
        other._chains = {row: list(chain) for row, chain in self._chains.items()}
        return other

    def row_of(self, a: int, b: int) -> int | None:
        """The given spring between two given particles."""
        return self._rows.get(frozenset((a, b)))

    def _chain(self, row: int) -> list[tuple[float, int]]:
        """The places on a spring and the particles there, from end to end."""
        a, b = self._given.ends[row].tolist()
        return [(0.0, a), *self._chains.get(row, []), (1.0, b)]

    def insert(self, row: int, first: int, share: float) -> Inserted:
        """Put a particle on a spring, so far from this end of it."""
        place = share if int(self._given.ends[row, 0]) == first else 1.0 - share
        chain = self._chain(row)
        k = next((k for k, (other, _) in enumerate(chain) if other >= place), len(chain))
        if not 0 < k < len(chain) or chain[k][0] == place:
            raise InvalidInput("ratio", "is that of a particle which is there already")
        number, self._count = self._count, self._count + 1
        self._chains.setdefault(row, []).insert(k - 1, (place, number))
        return self._between(row, chain[k - 1], place, chain[k])

    def _between(self, row: int, before: tuple[float, int], place: float, behind: tuple[float, int]) -> Inserted:
        span = behind[0] - before[0]
        return Inserted(before[1], behind[1], (place - before[0]) / span, float(self._half[row]) * span)

    def remove(self, particle: int) -> Inserted | None:
        """Take a particle away, and tell between which it was; None for one that is on no spring. Numbers stay until `renumber`."""
        for row, inserted in list(self._chains.items()):
            for k, (place, number) in enumerate(inserted):
                if number == particle:
                    chain = self._chain(row)
                    del inserted[k]
                    if not inserted:
                        del self._chains[row]
                    return self._between(row, chain[k], place, chain[k + 2])
        return None

    def renumber(self, number: Integers, count: int) -> None:
        """Particles have new numbers, and there are so many."""
        self._chains = {row: [(s, int(number[x])) for s, x in chain] for row, chain in self._chains.items()}
        self._count = count

    def springs(self) -> Springs:
        """All springs: the given ones in their rows, a divided one being its first piece; then the other pieces, and those against bending."""
        given = self._given
        ends, stiffness, damping, rest = (
            given.ends.copy(),
            given.stiffness.copy(),
            given.damping.copy(),
            given.rest.copy(),
        )
        more: list[tuple[int, int, float, float, float]] = []
        for row in sorted(self._chains):
            chain = self._chain(row)
            k, c, d = float(stiffness[row]), float(damping[row]), float(rest[row])
            bending = min(self._bending, MOST_BENDING * k)
            pieces = [
                (u, v, (k - bending) / (t - s), c / (t - s), d * (t - s))
                for (s, u), (t, v) in itertools.pairwise(chain)
            ]
            across = list(zip(chain, chain[2:], strict=False))
            total = sum(t - s for (s, _), (t, _) in across)
            ends[row], stiffness[row], damping[row], rest[row] = pieces[0][:2], *pieces[0][2:]
            more += pieces[1:]
            if bending > 0.0:
                more += [(u, v, bending / (total * (t - s)), 0.0, d * (t - s)) for (s, u), (t, v) in across]
        if not more:
            return Springs(ends, stiffness, damping, rest)
        pairs, values = np.array([each[:2] for each in more]), np.array([each[2:] for each in more])
        return Springs(
            np.concatenate((ends, pairs)),
            np.concatenate((stiffness, values[:, 0])),
            np.concatenate((damping, values[:, 1])),
            np.concatenate((rest, values[:, 2])),
        )
