"""Memory of searches that may be kept from one step to the next: arrays by name, and the order of primitives along the curve.

Fresh pages cost as much as a search, and an order lasts for some steps. What is kept changes the cost of an answer, never the answer: arrays
come with whatever was in them, and any order gives the same pairs.
"""

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Integers
from abut.trees.blocks.swept import Indices, Moving

SPARE = 1.125
"""An array that has to grow gets so much more than it needs."""
LOOSER = 1.1
"""An order is made anew once the blocks have grown by this factor."""
LONGEST = 32
"""An order lasts for so many searches at most."""


class Order:
    """An order of the primitives of some sets: keys whose low 32 bits are indices. `size`: of the blocks when it was made; `age` in searches."""

    def __init__(self, keys: NDArray[np.int64], shape: tuple[int, ...], size: float) -> None:
        self.keys, self.shape, self.size, self.age = keys, shape, size, 0

    def serves(self, shape: tuple[int, ...]) -> bool:
        """Whether it is one of these sets, and not too old."""
        return self.shape == shape and self.age < LONGEST

    def fits(self, size: float) -> bool:
        """Whether blocks of this size are about as tight as when it was made."""
        return size <= LOOSER * self.size


class Memory:
    """Arrays by name, as large as they were ever asked for. Whoever asks for a name again writes over what he had."""

    def __init__(self) -> None:
        self._buffers: dict[Hashable, NDArray[Any]] = {}
        self._elements: dict[int, tuple[Moving, tuple[Indices, ...]]] = {}
        self.order: Order | None = None

    @property
    def byte_count(self) -> int:
        """The memory of all of them."""
        tables = [table for _, own in self._elements.values() for table in own]
        keys = [] if self.order is None else [self.order.keys]
        return sum(array.nbytes for array in (*self._buffers.values(), *tables, *keys))

    def array(self, name: Hashable, shape: tuple[int, ...], kind: Any) -> NDArray[Any]:
        """An array of a shape, zero at first, later whatever it held."""
        count = int(np.prod(shape))
        buffer = self._buffers.get(name)
        if buffer is None or len(buffer) < count or buffer.dtype != kind:
            known = buffer is not None
            buffer = self._buffers[name] = np.zeros(int(count * SPARE) if known else count, dtype=kind)
        return buffer[:count].reshape(shape)

    def elements(self, which: int, body: Moving) -> tuple[Indices, ...]:
        """(n,1), (k,2) and (m,3) int32: the vertices of each vertex, edge and face of a body."""
        known = self._elements.get(which)
        if known is not None and known[0].edges is body.edges and known[0].faces is body.faces:
            return known[1]
        own: tuple[Integers, ...] = (np.arange(len(body.positions_t0))[:, None], body.edges, body.faces)
        made = tuple(rows.astype(np.int32) for rows in own)
        self._elements[which] = body, made
        return made
