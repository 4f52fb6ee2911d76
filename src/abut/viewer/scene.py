"""What a page shows: named things made of triangles, lines or points. They stand still, move rigidly, or change their form.

A scene has `times`, one for each frame. What does not move has one pose or one set of positions, whatever the number of frames; what moves has one
for each. Everything is in the units of the user, and float64: it is rounded when the page is written (`abut.viewer.pages`), not before.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.showing import count, describe
from abut.core.types import FlagsLike, IndicesLike, Number, PointsLike, PoseLike, PosesLike, VectorLike

IDENTITY = frozen(np.eye(4)[np.newaxis])
COLOURS = (
    "blue",
    "red",
    "green",
    "violet",
    "yellow",
    "teal",
    "orange",
    "pink",
    "grey",
    "wood",
    "brick",
    "stone",
    "ink",
)
"""Names of colours: each is a pair, for light and dark pages. Groups without a colour take the first eight in turn."""


class ThingOptions(TypedDict, total=False):
    """What every thing takes beside its name; see `Thing`."""

    group: str
    colour: str
    opacity: Number
    note: str
    shown: FlagsLike | None
    hidden: bool


class Thing:
    """What all things have: a name, a group that is shown or hidden with one click, a colour, and when they are there.

    Args:
        name: what the page says when somebody points at it.
        group: a heading of the page's list; by default a thing is a group of its own.
        colour: one of `COLOURS`, or "#rrggbb"; by default the group's turn of the palette.
        opacity: from 0 to 1; below 1 it is seen through.
        note: a second line beside its name.
        shown: (k,) in which frames it is there; by default in all.
        hidden: whether its group is switched off at first.

    Examples:
        >>> from abut import viewer
        >>> issubclass(viewer.Points, viewer.Thing)
        True
    """

    def __init__(
        self,
        name: str,
        *,
        group: str = "",
        colour: str = "",
        opacity: Number = 1.0,
        note: str = "",
        shown: FlagsLike | None = None,
        hidden: bool = False,
    ) -> None:
        for each, value in (("name", name), ("group", group), ("colour", colour), ("note", note)):
            arrays.instance(value, each, str)
        if colour and colour not in COLOURS and not _is_hex(colour):
            raise InvalidInput("colour", f"{colour!r} is neither #rrggbb nor one of {', '.join(COLOURS)}")
        self.name, self.group, self.colour, self.note = name, group or name, colour, note
        self.opacity = arrays.scalar(opacity, "opacity", least=0.0, most=1.0)
        self.hidden = arrays.flag(hidden, "hidden")
        self.shown: NDArray[np.bool_] | None = None
        if shown is not None:
            self.shown = _flags(shown)

    def __repr__(self) -> str:
        return describe(self, self.name, *self._facts())

    @property
    def frame_count(self) -> int:
        """For how many frames it has something to say: 1 if it never changes."""
        return max(len(self.shown) if self.shown is not None else 1, *self._lengths())

    def _lengths(self) -> tuple[int, ...]:
        """How many of each there are that may change from frame to frame."""
        raise NotImplementedError

    def _facts(self) -> tuple[str, ...]:
        raise NotImplementedError


class Faces(Thing):
    """Triangles: a body, a surface, the sides of cells.

    Args:
        name, options: see `Thing`.
        vertices: (n,3), or (k,n,3) for a form that changes.
        faces: (m,3) the vertices of each triangle, anticlockwise as seen from outside.
        poses: (4,4), or (k,4,4) for a rigid body that moves; by default the vertices are where they are.
        face_colours: (m,3) of 0 to 255, instead of one colour.

    Examples:
        >>> import abut
        >>> from abut import viewer
        >>> ball = abut.scenes.icosphere(2)
        >>> viewer.Faces("ball", ball.vertices, ball.faces, colour="red", opacity=0.5)
        Faces(ball, 162 vertices, 320 faces, 1 frame)
    """

    def __init__(
        self,
        name: str,
        vertices: ArrayLike,
        faces: IndicesLike,
        *,
        poses: PoseLike | PosesLike | None = None,
        face_colours: ArrayLike | None = None,
        **options: Unpack[ThingOptions],
    ) -> None:
        super().__init__(name, **options)
        self.vertices = _positions(vertices, "vertices")
        self.faces: Integers = arrays.indices(faces, "faces", 3, self.vertices.shape[1])
        self.poses = IDENTITY if poses is None else frozen(arrays.rigid_poses(_stacked_poses(poses), "poses"))
        self.face_colours: NDArray[np.uint8] | None = None
        if face_colours is not None:
            self.face_colours = arrays.indices(face_colours, "face_colours", 3, 256).astype(np.uint8)
            if len(self.face_colours) != len(self.faces):
                raise InvalidInput("face_colours", f"has {len(self.face_colours)} rows for {len(self.faces)} faces")
        if len(self.poses) > 1 and len(self.vertices) > 1:
            raise InvalidInput("poses", "are more than one, of a thing whose vertices change too")

    def _lengths(self) -> tuple[int, ...]:
        return len(self.vertices), len(self.poses)

    def _facts(self) -> tuple[str, ...]:
        return (
            count(self.vertices.shape[1], "vertex", "vertices"),
            count(len(self.faces), "face"),
            count(self.frame_count, "frame"),
        )


class Lines(Thing):
    """Segments: contours, bones, paths of instruments, edges.

    Args:
        name, options: see `Thing`.
        points: (n,3), or (k,n,3) for lines that move.
        pairs: (m,2) the ends of each segment, as numbers of points; by default a chain from the first to the last.
        radius: drawn as rods so thick, in units of the scene: one for all, or (m,); 0: lines of one width on the screen.

    Examples:
        >>> from abut import viewer
        >>> viewer.Lines("path", [[0, 0, 0], [1, 0, 0], [1, 1, 0]])
        Lines(path, 3 points, 2 segments, 1 frame)
    """

    def __init__(
        self,
        name: str,
        points: ArrayLike,
        pairs: IndicesLike | None = None,
        *,
        radius: ArrayLike = 0.0,
        **options: Unpack[ThingOptions],
    ) -> None:
        super().__init__(name, **options)
        self.points = _positions(points, "points")
        chain = np.arange(self.points.shape[1] - 1)[:, np.newaxis] + (0, 1)
        self.pairs: Integers = arrays.indices(
            chain.reshape(-1, 2) if pairs is None else pairs, "pairs", 2, self.points.shape[1]
        )
        self.radius = np.broadcast_to(arrays.coordinates(radius, "radius", np.shape(radius)), (len(self.pairs),))
        if (self.radius < 0).any():
            raise InvalidInput("radius", "is below 0", int(np.argmax(self.radius < 0)))

    def _lengths(self) -> tuple[int, ...]:
        return (len(self.points),)

    def _facts(self) -> tuple[str, ...]:
        return (
            count(self.points.shape[1], "point"),
            count(len(self.pairs), "segment"),
            count(self.frame_count, "frame"),
        )


class Points(Thing):
    """Points, with directions if there are some: contacts, particles. There may be others, and more or fewer, in each frame.

    Args:
        name, options: see `Thing`.
        points: (n,3), or a list of k arrays (…,3), one a frame.
        normals: of the same form, drawn as short lines.

    Examples:
        >>> from abut import viewer
        >>> viewer.Points("contacts", [[[0, 0, 0]], [], [[1, 0, 0], [2, 0, 0]]])
        Points(contacts, 3 points, 3 frames)
    """

    def __init__(
        self,
        name: str,
        points: PointsLike | Sequence[PointsLike],
        normals: PointsLike | Sequence[PointsLike] | None = None,
        **options: Unpack[ThingOptions],
    ) -> None:
        super().__init__(name, **options)
        self.points = _rows_by_frame(points, "points")
        self.normals: list[Floats] | None = None
        if normals is not None:
            self.normals = _rows_by_frame(normals, "normals")
            if list(map(len, self.normals)) != list(map(len, self.points)):
                raise InvalidInput("normals", "are not as many as points")

    def _lengths(self) -> tuple[int, ...]:
        return (len(self.points),)

    def _facts(self) -> tuple[str, ...]:
        return count(sum(map(len, self.points)), "point"), count(self.frame_count, "frame")


class Mark(NamedTuple):
    """Something that happened, as a tick on the time line that leads there."""

    time: float
    text: str
    point: tuple[float, float, float] | None = None
    """where, if it was somewhere: the camera looks there"""


class Scene:
    """Things, and the times at which they are known.

    Args:
        things: what is shown. Those that change have as many frames as there are times.
        times: (k,) seconds, ascending; by default one, or 0, 1, 2, … for things that change.
        title: heading of the page.
        marks: events on the time line.
        facts: pairs (name, value) beside the heading.
        up: the axis that points up, "z" or "y".
        target: (3,) what the camera turns about at first; by default the middle of what moves.
        view: (3,) from where it looks there at first: the direction from the target to the eye.

    Examples:
        >>> import numpy as np
        >>> from abut import scenes, viewer
        >>> ball = scenes.icosphere(2)
        >>> fall = np.tile(np.eye(4), (30, 1, 1))
        >>> fall[:, 2, 3] = 5.0 - 4.9 * np.linspace(0, 1, 30) ** 2
        >>> scene = viewer.Scene([viewer.Faces("ball", ball.vertices, ball.faces, poses=fall)], np.linspace(0, 1, 30))
        >>> scene
        Scene(1 thing, 30 frames)
    """

    def __init__(
        self,
        things: Sequence[Thing],
        times: ArrayLike | None = None,
        *,
        title: str = "abut",
        marks: Sequence[Mark] = (),
        facts: Sequence[tuple[str, str]] = (),
        up: str = "z",
        target: VectorLike | None = None,
        view: VectorLike | None = None,
    ) -> None:
        self.things = tuple(arrays.items(things, "things", Thing))
        longest = max([thing.frame_count for thing in self.things], default=1)
        self.times = frozen(
            np.arange(longest, dtype=np.float64) if times is None else arrays.coordinates(times, "times", (None,))
        )
        if not len(self.times) or (np.diff(self.times) <= 0).any():
            raise InvalidInput("times", "are not ascending, or none")
        for row, thing in enumerate(self.things):
            for length in (*thing._lengths(), 1 if thing.shown is None else len(thing.shown)):
                if length not in (1, len(self.times)):
                    raise InvalidInput("things", f"{thing.name!r} has {length} frames for {len(self.times)} times", row)
        self.title = arrays.instance(title, "title", str)
        self.marks = tuple(arrays.items(marks, "marks", Mark))
        self.facts = tuple((str(name), str(value)) for name, value in arrays.listed(facts, "facts"))
        self.up = arrays.choice(up, "up", ("z", "y"))
        self.target = None if target is None else arrays.coordinates(target, "target", (3,))
        self.view = None if view is None else arrays.coordinates(view, "view", (3,))

    def __len__(self) -> int:
        return len(self.things)

    def __repr__(self) -> str:
        return describe(self, count(len(self.things), "thing"), count(len(self.times), "frame"))


def _flags(value: FlagsLike) -> NDArray[np.bool_]:
    """(k,) booleans, also given as 0 and 1."""
    raw = arrays.as_array(value, "shown")
    whole = raw.astype(np.int64) if raw.dtype == np.bool_ else raw
    flags = arrays.coordinates(whole, "shown", (None,))
    if not len(flags) or not np.isin(flags, (0.0, 1.0)).all():
        raise InvalidInput("shown", "holds something that is neither 0 nor 1, or nothing")
    return flags.astype(np.bool_)


def _is_hex(colour: str) -> bool:
    return len(colour) == 7 and colour[0] == "#" and all(c in "0123456789abcdefABCDEF" for c in colour[1:])


def _positions(value: ArrayLike, name: str) -> Floats:
    """(k,n,3): a single set of positions is one frame."""
    shape = arrays.shape_of(value) or ()
    if len(shape) == 3:
        return arrays.coordinates(value, name, (None, None, 3))
    return arrays.points(value, name)[np.newaxis]


def _stacked_poses(value: ArrayLike) -> ArrayLike:
    shape = arrays.shape_of(value) or ()
    return value if len(shape) == 3 else arrays.pose(value, "poses")[np.newaxis]


def _rows_by_frame(value: ArrayLike | Sequence[PointsLike], name: str) -> list[Floats]:
    """A list with the rows (…,3) of each frame."""
    shape = arrays.shape_of(value)
    if shape is not None and len(shape) == 2:
        return [arrays.points(value, name)]
    return [arrays.points(rows, f"{name}[{i}]") for i, rows in enumerate(arrays.listed(value, name))]
