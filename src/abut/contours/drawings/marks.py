"""What a drawing consists of: marks, and parts, each an outline with its holes and the marks that travel with it. Lengths are millimetres,
y points down.

A mark keeps its curves as cubic segments and the markup that it came from, so that a writer can repeat the original data under a transform.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from abut.contours.curve.contour import Contour
from abut.core import arrays
from abut.core.arrays import Floats, frozen
from abut.core.errors import InvalidInput
from abut.core.showing import count, describe
from abut.core.types import PointsLike


class Mark(NamedTuple):
    """One element of a drawing: a cut, an engraving, a text."""

    name: str
    """what messages call it"""
    label: str
    """its id"""
    layer: str
    style: dict[str, str]
    """properties of SVG: fill, stroke, font-size, …"""
    paint: str
    """what tells cuts from engravings: two closed curves of one paint are outline and hole, of two paints outline and mark"""
    curves: tuple[Floats, ...]
    """(n,4,2) cubic segments each"""
    closed: tuple[bool, ...]
    """of each curve"""
    anchor: Floats
    """(2,) where a text begins, or the middle of a picture"""
    kind: str
    """of the element of SVG that it came from; empty where only its curves are known"""
    attributes: dict[str, str]
    """of that element"""
    inner: str
    """markup within that element"""
    matrix: Floats
    """(2,3) from that element's coordinates to millimetres"""
    text: str = ""
    """in plain words, of a text"""
    entity: Any = None
    """of a DXF drawing"""

    def with_curves(self, curves: Sequence[Floats], closed: Sequence[bool]) -> "Mark":
        """The same with other curves, and no longer with its markup."""
        return self._replace(curves=tuple(curves), closed=tuple(closed), kind="", attributes={}, inner="", entity=None)


class Part:
    """A piece of material: an outline, the holes in it, and what travels with it. Immutable; compared by identity.

    Args:
        outline: the outer contour, or the corners (n,2) of a polygon.
        holes: contours or polygons strictly within the outline, apart from one another. Other pieces may be nested in them.
        marks: what is drawn again wherever the part lies, its cuts among them; made by `abut.contours.drawings.read`.
        name: shown in messages.

    Examples:
        >>> from abut.contours import Part
        >>> Part([(0, 0), (9, 0), (9, 9), (0, 9)], holes=[[(2, 2), (7, 2), (7, 7), (2, 7)]], name="frame")
        Part('frame', 1 hole)
    """

    __slots__ = ("holes", "marks", "name", "outline")
    outline: Contour
    holes: tuple[Contour, ...]
    marks: tuple[Mark, ...]
    name: str

    def __init__(
        self,
        outline: Contour | PointsLike,
        holes: Iterable[Contour | PointsLike] = (),
        marks: Iterable[Mark] = (),
        *,
        name: str = "",
    ) -> None:
        rows: list[Any] = arrays.listed(holes, "holes")
        found = (
            _read_contour(outline, "outline"),
            tuple(_read_contour(row, f"holes[{k}]") for k, row in enumerate(rows)),
        )
        values = (*found, tuple(arrays.items(marks, "marks", Mark)), arrays.instance(name, "name", str))
        for key, value in zip(("outline", "holes", "marks", "name"), values, strict=True):
            object.__setattr__(self, key, value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Part does not change: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Part does not change: cannot delete {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.outline, self.holes, self.marks, self.name)

    def __repr__(self) -> str:
        facts = [repr(self.name)] if self.name else []
        return describe(
            self, *facts, count(len(self.holes), "hole"), *([count(len(self.marks), "mark")] if self.marks else [])
        )

    @property
    def bounds(self) -> Floats:
        """(2,2) least and largest x and y of the outline."""
        return self.outline.bounds


def _restore(outline: Contour, holes: tuple[Contour, ...], marks: tuple[Mark, ...], name: str) -> Part:
    return Part(outline, holes, marks, name=name)


def _read_contour(value: Contour | PointsLike, name: str) -> Contour:
    if isinstance(value, Contour):
        return value
    try:
        return Contour.from_polygon(value)
    except InvalidInput as error:
        raise InvalidInput(name, error.reason, error.row) from error


class Drawing(NamedTuple):
    """The parts of a drawing, and what could not be one."""

    parts: tuple[Part, ...]
    """in the order of the drawing"""
    warnings: tuple[str, ...]
    """what was left out or taken for something, by name and with the reason"""
    source: str
    """file name, or `<svg>` for a text"""

    def __repr__(self) -> str:
        return describe(self, count(len(self.parts), "part"), count(len(self.warnings), "warning"))


def move(points: Floats, matrix: Floats) -> Floats:
    """Points, in an array of any shape (…,2), under a (2,3) matrix."""
    return frozen(points @ matrix[:, :2].T + matrix[:, 2])


def combine(outer: Floats, inner: Floats) -> Floats:
    """(2,3) matrix of the inner followed by the outer."""
    return np.hstack([outer[:, :2] @ inner[:, :2], (outer[:, :2] @ inner[:, 2] + outer[:, 2])[:, None]])
