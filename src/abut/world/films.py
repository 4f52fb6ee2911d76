"""Films: what a world did, a frame for each step. Frames are copies and do not change; looking at contacts for a film changes nobody's answers."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.showing import count, describe
from abut.dynamics import Linkage
from abut.shapes.solids import Shape
from abut.viewer import Scene, View
from abut.world.results import WorldContacts

if TYPE_CHECKING:
    from abut.world.world import World


@dataclass(frozen=True, eq=False)
class FilmFrame:
    """A world after a step."""

    time: float
    """since the film began"""
    handles: Integers
    """(n,) of all bodies"""
    poses: Floats
    """(n,4,4)"""
    asleep: NDArray[np.bool_]
    """(n,)"""
    contacts: WorldContacts
    """begun and ended since the frame before"""
    linkages: tuple[Floats, ...] = ()
    """(m,3) the particles of each linkage, in the order of `World.linkages`"""

    def __len__(self) -> int:
        return len(self.handles)

    def __repr__(self) -> str:
        return describe(
            self, f"time {self.time:.6g}", count(len(self), "body", "bodies"), count(len(self.contacts), "contact")
        )


class Film:
    """Frames of a world, the first from when the film began, and one after each step; see `World.record`.

    Examples:
        >>> import abut
        >>> from abut import shapes
        >>> world = abut.World()
        >>> ball = world.add(shapes.Sphere(0.5))
        >>> with world.record() as film:
        ...     for _ in range(3):
        ...         world.step(0.1)
        >>> world.step(0.1)
        >>> film, film[-1], film.follow(ball)[1][:, 2, 3].round(3).tolist()
        (Film(4 frames, 0.3 long), FilmFrame(time 0.3, 1 body, 0 contacts), [0.0, -0.049, -0.196, -0.441])
    """

    def __init__(self) -> None:
        self._world: World | None = None
        self._frames: list[FilmFrame] = []
        self._shapes: dict[int, list[tuple[Shape, Floats]]] = {}
        self._touching = np.empty((0, 2), np.int64)
        self._linkages: list[tuple[Linkage, ...]] = []  # of each frame
        self._names: dict[int, str] = {}
        self._static: set[int] = set()
        self._stand_ins: set[int] = set()

    def __enter__(self) -> "Film":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __len__(self) -> int:
        return len(self._frames)

    def __getitem__(self, index: int) -> FilmFrame:
        number = arrays.scalar(index, "index")
        if number != int(number) or not -len(self) <= number < len(self):
            raise InvalidInput("index", f"{number:g} is none of {count(len(self), 'frame')}")
        return self._frames[int(number)]

    def __repr__(self) -> str:
        return describe(self, count(len(self), "frame"), f"{self._frames[-1].time:.6g} long")

    @property
    def is_recording(self) -> bool:
        """Whether steps are still added."""
        return self._world is not None

    @property
    def frames(self) -> tuple[FilmFrame, ...]:
        """The frames so far."""
        return tuple(self._frames)

    @property
    def times(self) -> Floats:
        """(n,) of the frames, since the film began."""
        return frozen(np.array([frame.time for frame in self._frames]))

    def stop(self) -> None:
        """End the film: it does not change any more."""
        if self._world is not None:
            self._world._stop_film(self)
        self._world = None

    def follow(self, handle: int) -> tuple[Floats, Floats]:
        """Times (k,) and poses (k,4,4) of a body, in the frames in which it was there.

        Args:
            handle: of the body; it may have been removed since.
        """
        self.shape_of(handle)
        there = [(frame, np.flatnonzero(frame.handles == handle)) for frame in self._frames]
        found = [(frame.time, frame.poses[rows[0]]) for frame, rows in there if len(rows)]
        return frozen(np.array([time for time, _ in found])), frozen(np.array([pose for _, pose in found]))

    def shape_of(self, handle: int) -> list[tuple[Shape, Floats]]:
        """The shapes of a body, each with its pose (4,4) in the body's frame, as `World.shape_of` has them.

        Args:
            handle: of the body; it may have been removed since.
        """
        number = arrays.count(handle, "handle", most=2**62)
        if number not in self._shapes:
            raise InvalidInput("handle", f"{number} is no body of this film")
        return list(self._shapes[number])

    def _begin(self, world: "World") -> "Film":
        self._world = world
        self._add(world, 0.0)
        return self

    def _add(self, world: "World", length: float) -> None:
        """Add a frame, some time after the last one."""
        handles = world.handles
        for handle in handles.tolist():
            if handle not in self._shapes:
                self._shapes[handle] = world.shape_of(handle)
                if world._is_static(handle):
                    self._static.add(handle)
        contacts, self._touching = world._look(self._touching)
        time = self._frames[-1].time + length if self._frames else 0.0
        linkages = world.linkages
        self._linkages.append(linkages)
        self._stand_ins.update(world._stand_ins())
        self._names.update({handle: name for name, handle in world.names.items()})
        tracks = tuple(linkage.position for linkage in linkages)
        self._frames.append(FilmFrame(time, handles, world.poses(), world.asleep(), contacts, tracks))

    def _scene(self) -> Scene:
        from abut.world.scenery import scene_of_film

        return scene_of_film(self)

    def _repr_html_(self) -> str:
        return View(self._scene())._repr_html_()
