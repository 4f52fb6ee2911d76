"""What contacts have been like from step to step: whether a particle slides, bounces or is blocked (Jund 2010, §5.3).

One step tells only that something was touched, and along which normal. With the step before it:

    BOUNCE  the particle has touched something, and nothing any more
    BLOCK   it goes on touching, and has come nowhere, of the way that it was to go
    SLIDE   it goes on touching, and moves
    TOUCH   it touches for the first time
"""

from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.showing import count, describe
from abut.core.types import Number, PointsLike


class ContactKind(IntEnum):
    """What the contact of a particle is like."""

    NONE = 0
    TOUCH = 1
    SLIDE = 2
    BLOCK = 3
    BOUNCE = 4


class ContactHistory:
    """The contacts of particles, or of the vertices of a mobile, remembered from step to step.

    Args:
        still: from 0 to 1, the part of its way below which a particle that touches something counts as blocked.

    Examples:
        A particle falls, slides along the floor, comes to the wall and stays there; another jumps:

        >>> from abut import cells, dynamics
        >>> crowd = cells.Particles(cells.channel(2, 1, 1), [[0.25, 0.5, 0.5], [0.25, 0.5, 0.5]])
        >>> history = dynamics.ContactHistory()
        >>> for way in ([0, 0, -0.5], [0.5, 0, 0], [2, 0, 0], [1, 0, 0]):
        ...     targets = crowd.position + [way, [0, 0, 0.25 if way[0] else -0.5]]
        ...     kinds = history.note(crowd.move(targets), targets)
        ...     print([dynamics.ContactKind(kind).name for kind in kinds.tolist()])
        ['TOUCH', 'TOUCH']
        ['SLIDE', 'BOUNCE']
        ['SLIDE', 'NONE']
        ['BLOCK', 'NONE']
        >>> history, history.steps.tolist()
        (ContactHistory(2 particles, 1 block), [4, 0])
    """

    def __init__(self, still: Number = 2.0**-8) -> None:
        self._still = arrays.scalar(still, "still", least=0.0, most=1.0)
        self._kind = np.empty(0, np.int8)
        self._steps = np.empty(0, np.int64)
        self._normal, self._position = np.empty((0, 0)), np.empty((0, 0))

    def __len__(self) -> int:
        return len(self._kind)

    def __repr__(self) -> str:
        kinds = [kind for kind in ContactKind if kind and (self._kind == kind).any()]
        told = (count(int((self._kind == kind).sum()), kind.name.lower()) for kind in kinds)
        return describe(self, count(len(self), "particle"), *told)

    @property
    def kind(self) -> NDArray[np.int8]:
        """(n,) the `ContactKind` of each particle after the last step."""
        return frozen(self._kind.view())

    @property
    def steps(self) -> Integers:
        """(n,) for how many steps each has touched something, 0 where it does not."""
        return frozen(self._steps.view())

    @property
    def normal(self) -> Floats:
        """(n,d) the normal of the last contact of each, into what it touched; zero for one that never touched anything."""
        return frozen(self._normal.view())

    def note(self, moves: Any, targets: PointsLike) -> NDArray[np.int8]:
        """Take note of a step.

        Args:
            moves: what `cells.Particles.move` or `cells.Mobile.move` has answered, or whatever has its `position` and `normal`; with a `source`, as
                that of an adaptive response, particles are known again by their rows of before.
            targets: (m,d) where the particles were to go, one row for each there was before the step.

        Returns:
            (n,) the `ContactKind` of each particle.

        Raises:
            InvalidInput: the particles are not those of the step before.
        """
        position, normal = (_read_rows(moves, name) for name in ("position", "normal"))
        wished = arrays.points(targets, "targets", dimensions=position.shape[1])
        source = np.asarray(getattr(moves, "source", np.arange(len(position))))
        known = len(self._kind) if len(self._kind) else len(wished)
        if position.shape != normal.shape or len(source) != len(position) or len(wished) != known:
            raise InvalidInput(
                "moves", f"has {len(position)} rows, and there are {len(wished)} targets, for {known} particles"
            )
        if source.max(initial=-1) >= known or (len(self._kind) and self._position.shape[1] != position.shape[1]):
            raise InvalidInput("moves", "is not of the particles of the step before")
        touches, old = (normal != 0.0).any(axis=1), source >= 0
        before = np.where(old, source, 0)
        if not len(self._kind):
            steps, last, start = np.zeros(len(position), np.int64), np.zeros_like(position), position
            goal = position
        else:
            steps = np.where(old, self._steps[before], 0)
            last = np.where(old[:, np.newaxis], self._normal[before], 0.0)
            start, goal = self._position[before], wished[before]
        came, asked = (np.linalg.norm(each - start, axis=1) for each in (position, goal))
        is_still = came <= self._still * asked
        lasting = np.where(is_still, ContactKind.BLOCK, ContactKind.SLIDE)
        kind = np.where(
            steps > 0, np.where(touches, lasting, ContactKind.BOUNCE), np.where(touches, ContactKind.TOUCH, 0)
        )
        self._kind, self._steps = kind.astype(np.int8), np.where(touches, steps + 1, 0)
        self._normal, self._position = np.where(touches[:, np.newaxis], normal, last), position
        return self.kind


def _read_rows(moves: Any, name: str) -> Floats:
    rows = getattr(moves, name, None)
    if rows is None:
        raise InvalidInput("moves", f"is a {type(moves).__name__}, which has no {name}")
    return arrays.coordinates(rows, f"moves.{name}", np.shape(rows), keep=True)
