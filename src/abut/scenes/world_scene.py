"""What a scene of a world is: the world at its start, how long it runs, and how it looks."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from abut.core import arrays
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput
from abut.core.showing import count as counted
from abut.core.showing import describe
from abut.dynamics import Linkage
from abut.mesh import Mesh
from abut.viewer import Lines, Scene
from abut.world import Film, World
from abut.world.scenery import scene_of_film

GRAVITY = (0.0, 0.0, -9.81)
STEP = 1.0 / 60.0


class Group(NamedTuple):
    """Bodies that belong together."""

    name: str
    handles: Integers
    """(k,) of the bodies"""
    colour: str = ""
    """as of `viewer.Thing`"""


class String(NamedTuple):
    """A straight line between points of two bodies, each in the body's frame, or in the world for −1."""

    body_a: int
    point_a: Floats
    body_b: int
    point_b: Floats
    radius: float


def _draw_strings(film: Film, strings: tuple[String, ...]) -> Lines:
    ends: list[Floats] = []
    for string in strings:
        for handle, point in ((string.body_a, string.point_a), (string.body_b, string.point_b)):
            poses = np.eye(4)[np.newaxis] if handle < 0 else film.follow(handle)[1]
            track = poses[:, :3, :3] @ point + poses[:, :3, 3]
            ends.append(np.broadcast_to(track, (len(film), 3)))
    pairs = np.arange(2 * len(strings)).reshape(-1, 2)
    radius = np.array([string.radius for string in strings])
    return Lines("strings", np.stack(ends, axis=1), pairs, radius=radius, colour="ink")


class WorldScene(NamedTuple):
    """A world to let run, and what of it is to be looked at."""

    world: World
    """the world, at its start"""
    bodies: Integers
    """(n,) handles, static ones included"""
    linkages: tuple[tuple[Linkage, Mesh | None], ...]
    """with the mesh whose vertices are its particles, where there is one; bones are drawn otherwise"""
    dt: float
    """seconds of a step"""
    step_count: int
    """how many steps bring it to rest, or show what there is to see"""
    groups: tuple["Group", ...] = ()
    """what belongs together, and its colour on a page"""
    strings: tuple["String", ...] = ()
    """joints that are drawn as rods"""
    drive: Callable[[World, float], None] | None = None
    """what is to be called before each step, with the time: motors"""
    view: tuple[float, float, float] | None = None
    """from where it looks best: the direction to the eye"""

    def film(self, steps: int | None = None, progress: Callable[[int, int, str], None] | None = None) -> Film:
        """Let it run, and film it.

        Args:
            steps: how many; by default `step_count`.
            progress: called after each step with how many are done, how many there are, and an empty text.

        Returns:
            The film, which has ended.

        Examples:
            >>> from abut import scenes
            >>> scenes.newtons_cradle().film(10)
            Film(11 frames, 0.0833333 long)
        """
        number = self.step_count if steps is None else arrays.count(steps, "steps")
        if progress is not None and not callable(progress):
            raise InvalidInput("progress", f"is a {type(progress).__name__}, expected something to call")
        with self.world.record() as film:
            for _ in self.run(number, progress):
                pass
        return film

    def run(self, steps: int, progress: Callable[[int, int, str], None] | None = None) -> Iterator[int]:
        """Let it run, a step each time the next number is asked for.

        Args:
            steps: how many.
            progress: as for `film`.
        """
        number = arrays.count(steps, "steps")
        for k in range(number):
            if self.drive is not None:
                self.drive(self.world, k * self.dt)
            self.world.step(self.dt)
            if progress is not None:
                progress(k + 1, number, "")
            yield k

    def scene(self, film: Film, title: str = "A world") -> Scene:
        """A film of it as a scene to show, with its groups, colours and strings.

        Args:
            film: of the scene's world.
            title: of the page.
        """
        arrays.instance(film, "film", Film)
        sheets = {i: mesh for i, (_, mesh) in enumerate(self.linkages) if mesh is not None}
        shown = scene_of_film(
            film,
            groups={group.name: group.handles for group in self.groups},
            colours={group.name: group.colour for group in self.groups},
            sheets=sheets,
            title=title,
        )
        things = list(shown.things)
        if self.strings:
            things.append(_draw_strings(film, self.strings))
        return Scene(things, shown.times, title=shown.title, facts=shown.facts, view=self.view)

    def __repr__(self) -> str:
        return describe(
            self,
            counted(len(self.bodies), "body", "bodies"),
            counted(len(self.linkages), "linkage"),
            f"{counted(self.step_count, 'step')} of {self.dt:.3g} s",
        )

    def _repr_html_(self) -> str:
        return self.world._repr_html_()  # pyright: ignore[reportPrivateUsage]


def place(x: float, y: float, z: float, rotation: Floats | None = None) -> Floats:
    """A pose (4,4)."""
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    if rotation is not None:
        pose[:3, :3] = rotation
    return pose
