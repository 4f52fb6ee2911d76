"""`show`: things, results and films as a page; in a notebook the page stands below the cell."""

import html
import tempfile
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias, cast, runtime_checkable

import numpy as np

from abut.core import arrays
from abut.core.arrays import Floats
from abut.core.errors import AbutError, InvalidInput
from abut.core.showing import count, describe
from abut.core.types import PathLike
from abut.mesh import Mesh, as_mesh
from abut.mesh.reading import MeshLike
from abut.mesh.writing import _replace
from abut.viewer.pages import make_page
from abut.viewer.scene import Faces, Points, Scene, Thing

CONTACTS = "contacts"
MOTION_FRAMES = 25
"""Of a step: vertices of one that turns go on curves."""
FRAME_HEIGHT = 480
"""Of a page in a notebook, in pixels."""


@runtime_checkable
class Showable(Protocol):
    """What knows its own scene: bodies, worlds, films, steps, results with points."""

    def _scene(self) -> Scene: ...


@runtime_checkable
class Posed(Protocol):
    """A body with a mesh: one that is rigid stands at its pose, one that deforms has `vertices` of its own."""

    @property
    def mesh(self) -> Mesh:
        """The mesh."""
        ...

    @property
    def pose(self) -> Floats:
        """(4,4) where it is."""
        ...


@runtime_checkable
class Moving(Protocol):
    """A step of a mesh, from time 0 to 1."""

    mesh: Mesh

    def at(self, time: float) -> Floats:
        """(n,3) its vertices then."""
        ...


@runtime_checkable
class Touching(Protocol):
    """Results with a point and a normal in each row."""

    @property
    def point(self) -> Floats:
        """(n,3)."""
        ...

    @property
    def normal(self) -> Floats:
        """(n,3)."""
        ...


ShowLike: TypeAlias = Showable | Posed | Moving | Touching | Scene | Thing | MeshLike
"""What can be shown: anything that knows its scene, bodies, steps, results with points, a scene, a thing of one, or what counts as a mesh."""


class View:
    """A scene on its way to people: `save_html`, `open`, or the last line of a notebook's cell.

    Args:
        scene: what is shown.

    Examples:
        >>> from abut import scenes, viewer
        >>> ball = scenes.icosphere(1)
        >>> viewer.View(viewer.Scene([viewer.Faces("ball", ball.vertices, ball.faces)]))
        View(1 thing, 1 frame)
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = arrays.instance(scene, "scene", Scene)

    def __repr__(self) -> str:
        return describe(self, count(len(self.scene.things), "thing"), count(len(self.scene.times), "frame"))

    def _repr_html_(self) -> str:
        page = html.escape(make_page(self.scene))
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts" title="{html.escape(self.scene.title)}" '
            f'style="width:100%;height:{FRAME_HEIGHT}px;border:0;border-radius:6px"></iframe>'
        )

    def to_html(self) -> str:
        """The page, as text."""
        return make_page(self.scene)

    def save_html(self, path: PathLike) -> None:
        """Write the page. It opens without a network; a file that is there is replaced.

        Args:
            path: of the file, whose folder is there.

        Raises:
            InvalidInput: the folder is not there.
        """
        try:
            place = Path(path)
            if not place.absolute().parent.is_dir():
                raise InvalidInput("path", f"{str(path)!r}: its folder does not exist")
            _replace(place, self.to_html().encode("utf-8", errors="replace"))
        except (TypeError, ValueError) as error:
            if isinstance(error, InvalidInput):
                raise
            raise InvalidInput("path", f"{path!r} is not the name of a file") from error
        except OSError as error:
            raise InvalidInput("path", f"{str(path)!r} cannot be written ({error.strerror or error})") from error

    def open(self) -> Path:
        """Write the page to a temporary file, and open it in the browser; where it lies."""
        with tempfile.NamedTemporaryFile(prefix="abut-", suffix=".html", delete=False) as file:
            file.write(self.to_html().encode("utf-8", errors="replace"))
        webbrowser.open(Path(file.name).absolute().as_uri())
        return Path(file.name)


def show(*things: ShowLike, title: str | None = None) -> View:
    """What is given, as a page to look at, to save or to open: bodies, results, a world, a film of it.

    In a notebook the page shows itself where `show` is the last line of a cell. Elsewhere ask for `save_html(path)` or `open()`.

    Args:
        things: meshes and bodies, a `World`, a film of one, a step (`abut.Motion`), contacts, a `viewer.Scene` or things of one; those with more than
            one frame have equally many.
        title: heading of the page.

    Returns:
        The view; nothing is written yet.

    Raises:
        InvalidInput: something cannot be shown, or two films do not fit together.

    Examples:
        >>> import abut
        >>> from abut import shapes
        >>> world = abut.World()
        >>> ball = world.add(shapes.Sphere(0.5), name="ball")
        >>> with world.record() as film:
        ...     for _ in range(10):
        ...         world.step(1 / 60)
        >>> view = abut.show(film, title="A ball falls")
        >>> view
        View(1 thing, 11 frames)
    """
    if title is not None and not isinstance(cast("Any", title), str):
        raise InvalidInput("title", f"is a {type(title).__name__}, expected text")
    if not things:
        raise InvalidInput("things", "are none")
    scenes = [_scene_of(thing, row) for row, thing in enumerate(things)]
    return View(_unite(scenes, title))


def _scene_of(thing: Any, row: int) -> Scene:
    if isinstance(thing, Scene):
        return thing
    if isinstance(thing, Thing):
        return Scene([thing])
    if not isinstance(thing, type) and isinstance(thing, Showable):
        return thing._scene()
    if not isinstance(thing, Mesh | type):
        if isinstance(thing, Moving):
            times = np.linspace(0.0, 1.0, MOTION_FRAMES)
            form = np.stack([thing.at(float(time)) for time in times])
            return Scene([Faces(f"mesh {row}", form, thing.mesh.faces)], times)
        if isinstance(thing, Posed):
            vertices = getattr(thing, "vertices", thing.mesh.vertices)
            return Scene([Faces(f"body {row}", vertices, thing.mesh.faces, poses=thing.pose)])
        if isinstance(thing, Touching):
            return Scene([Points(CONTACTS, thing.point, thing.normal, colour="pink")])
    source: Any = thing
    try:
        mesh = as_mesh(source)
    except AbutError as error:
        raise InvalidInput("things", f"a {type(thing).__name__} cannot be shown: {error}", row) from error
    return Scene([Faces(f"mesh {row}", mesh.vertices, mesh.faces)])


def _unite(scenes: Sequence[Scene], title: str | None) -> Scene:
    """All things at the times of those that change."""
    longest = max(scenes, key=lambda scene: len(scene.times))
    for row, scene in enumerate(scenes):
        if len(scene.times) > 1 and not np.array_equal(scene.times, longest.times):
            raise InvalidInput(
                "things",
                f"has {len(scene.times)} frames at other times than one of {len(longest.times)} frames",
                row,
            )
    return Scene(
        [thing for scene in scenes for thing in scene.things],
        longest.times,
        title=longest.title if title is None else title,
        marks=[mark for scene in scenes for mark in scene.marks],
        facts=[fact for scene in scenes for fact in scene.facts],
        up=longest.up,
        target=longest.target,
        view=longest.view,
    )
