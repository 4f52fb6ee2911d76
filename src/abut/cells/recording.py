"""What happens in an environment, frame by frame, for a page that plays it."""

from typing import Any, Protocol

import numpy as np

from abut.cells.scenery import Drawn, Form, make_scene
from abut.cells.space.planar import raise_points
from abut.cells.walk.results import COLLISION
from abut.core import arrays
from abut.core.arrays import Floats
from abut.core.errors import InvalidInput
from abut.core.showing import count, describe
from abut.core.types import Number
from abut.viewer import Scene, View


class Answered(Protocol):
    """What a move of particles or of a mobile answers."""

    @property
    def status(self) -> Any:
        """(n,) FREE, CONTACT or COLLISION."""
        ...

    @property
    def normal(self) -> Floats:
        """(n, dimension)."""
        ...


class Recording:
    """An environment and what is in it, as they were at the times at which they were noted: `abut.show(film)` plays them.

    Args:
        *things: the environment, particles, mobiles and instruments; the environment may be left out.

    Examples:
        >>> import abut
        >>> hall = abut.cells.channel(3, 1, 1)
        >>> rod = abut.cells.Mobile(hall, ([[0.5, 0.5, 0.5], [1.5, 0.5, 0.5]], [[0, 1]]))
        >>> film = abut.cells.Recording(hall, rod)
        >>> for _ in range(10):
        ...     film.note(rod.move(rod.position + [0.1, 0.0, 0.05]))
        >>> film
        Recording(2 things, 10 frames)
        >>> abut.show(film, title="A rod in a hall")
        View(5 things, 10 frames)
    """

    def __init__(self, *things: Drawn) -> None:
        for row, thing in enumerate(things):
            if isinstance(thing, type) or not hasattr(thing, "_forms"):
                name = type(thing).__name__
                raise InvalidInput("things", f"a {name} is no environment, and nothing that moves in one", row)
        if not things:
            raise InvalidInput("things", "are none")
        self._things = things
        self._frames: list[list[Form]] = []
        self._times: list[float] = []

    def __len__(self) -> int:
        return len(self._frames)

    def __repr__(self) -> str:
        return describe(self, count(len(self._things), "thing"), count(len(self), "frame"))

    def note(self, *moves: Answered, time: Number | None = None) -> None:
        """Add a frame: everything as it is now.

        Args:
            *moves: what the last moves have answered; their hits are shown as contacts.
            time: above that of the frame before; by default one more than that, from 0 on.
        """
        before = self._times[-1] if self._times else -1.0
        now = before + 1.0 if time is None else arrays.scalar(time, "time")
        if self._times and not now > before:
            raise InvalidInput("time", f"{now:g} is not after {before:g}, that of the frame before")
        hits = [_read_hits(each, row) for row, each in enumerate(moves)]
        forms: list[Form] = []
        for number, thing in enumerate(self._things):
            alike = [other for other in self._things if type(other) is type(thing)]
            suffix = f" {number}" if len(alike) > 1 else ""
            forms += [form._replace(name=form.name + suffix) if suffix else form for form in thing._forms()]
        self._frames.append([*forms, _contacts(hits)])
        self._times.append(now)

    def _scene(self) -> Scene:
        if not self._frames:
            raise InvalidInput("film", "has no frame: `note` adds one")
        return make_scene(self._frames, np.array(self._times), "Inside a partition")

    def _repr_html_(self) -> str:
        return View(self._scene())._repr_html_()


def _read_hits(moves: Any, row: int) -> tuple[Floats, Floats]:
    """(k,3) the points at which something was hit, and the normals there."""
    try:
        hit = moves.status == COLLISION
        points, normals = (np.asarray(each[hit]) for each in (getattr(moves, "point", moves.position), moves.normal))
        return raise_points(points), raise_points(normals)
    except Exception:  # of objects that raise at the question too
        raise InvalidInput("moves", f"is a {type(moves).__name__}, not what a move has answered", row) from None


def _contacts(hits: list[tuple[Floats, Floats]]) -> Form:
    points, normals = (np.concatenate([np.empty((0, 3)), *(pair[k] for pair in hits)]) for k in (0, 1))
    return Form("contacts", points, None, "pink", normals=normals)
