"""Which pairs of bodies do not meet although their layers would let them: pairs that are ignored, and what a filter of the user's says.

A pair is known by its slots, smaller · 2³² + larger. The filter is asked once for a pair that comes near, together with all others that do then.
What it said holds as long as the two stay near: as long as their boxes meet in the sweep and prune. So the answers are part of the state of a world.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Integers, frozen
from abut.core.errors import InvalidInput
from abut.world.bodies.store import Store

PairFilter: TypeAlias = Callable[[Integers, Integers], Any]
"""Handles (k,) and (k,) of the bodies of pairs, the smaller first, sorted; (k,) whether they meet."""


def key_pairs(pairs: Integers) -> Integers:
    """(k,) of pairs of slots (k,2)."""
    return (pairs.min(axis=1) << 32) | pairs.max(axis=1)


class PairRules:
    """See above."""

    def __init__(self) -> None:
        self.ignored = np.empty(0, np.int64)
        self.ask: PairFilter | None = None
        self.keys = np.empty(0, np.int64)
        """of pairs that the filter was asked about, ascending"""
        self.meets = np.empty(0, np.bool_)

    @property
    def are_given(self) -> bool:
        """Whether there are any."""
        return len(self.ignored) > 0 or self.ask is not None

    def ignore(self, pairs: Integers, ignored: bool) -> None:
        """Let pairs of slots (k,2) not meet from now on, or meet again."""
        keys = key_pairs(pairs)
        self.ignored = np.union1d(self.ignored, keys) if ignored else np.setdiff1d(self.ignored, keys)

    def change_filter(self, ask: PairFilter | None) -> None:
        """Take another filter, which has not been asked yet."""
        if ask is not None and not callable(ask):
            raise InvalidInput("filter", f"is a {type(ask).__name__}, not a function of two arrays of handles")
        self.ask = ask
        self._keep(np.zeros(len(self.keys), np.bool_))

    def forget(self, slots: Integers) -> None:
        """Forget bodies that were removed."""
        self.ignored = self.ignored[~_names(self.ignored, slots)]
        self._keep(~_names(self.keys, slots))

    def choose(self, store: Store, pairs: Integers, near: Integers) -> NDArray[np.bool_]:
        """(k,) which pairs (k,2) of slots meet. near (n,2): all pairs that are near each other; of others the answers are forgotten."""
        keys = key_pairs(pairs)
        meets = ~np.isin(keys, self.ignored)
        if self.ask is not None:
            self._keep(np.isin(self.keys, key_pairs(near)))
            self._learn(store, self.ask, np.setdiff1d(keys[meets], self.keys))
            meets[meets] = self.meets[np.searchsorted(self.keys, keys[meets])]
        return meets

    def allow(self, body: int, others: Integers) -> NDArray[np.bool_]:
        """(k,) which others a body meets, as far as that is known: the filter is not asked."""
        keys = key_pairs(np.stack((np.full(len(others), body), others), axis=1))
        return ~(np.isin(keys, self.ignored) | np.isin(keys, self.keys[~self.meets]))

    def _learn(self, store: Store, ask: PairFilter, fresh: Integers) -> None:
        """Ask the filter about pairs that it does not know."""
        if not len(fresh):
            return
        handles = np.sort(store.handles(np.stack((fresh >> 32, fresh & 0xFFFFFFFF), axis=1)), axis=1)
        order = np.lexsort(handles.T[::-1])
        first, second = (frozen(np.ascontiguousarray(handles[order, k])) for k in (0, 1))
        answer = np.asarray(ask(first, second))
        if answer.shape != (len(fresh),) or answer.dtype != np.bool_:
            raise InvalidInput(
                "filter", f"gave {answer.dtype} of shape {answer.shape} for {len(fresh)} pairs, not as many booleans"
            )
        meets = np.empty(len(fresh), np.bool_)
        meets[order] = answer
        keys = np.concatenate((self.keys, fresh))
        order = np.argsort(keys)
        self.keys, self.meets = keys[order], np.concatenate((self.meets, meets))[order]

    def _keep(self, kept: NDArray[np.bool_]) -> None:
        self.keys, self.meets = self.keys[kept], self.meets[kept]


def _names(keys: Integers, slots: Integers) -> NDArray[np.bool_]:
    return np.isin(keys >> 32, slots) | np.isin(keys & 0xFFFFFFFF, slots)
