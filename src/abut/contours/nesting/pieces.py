"""What is to be nested: polygons and contours of any kind become kinds of simple anticlockwise polygons, and a list of copies.

A curved contour is replaced by a polygon that holds it (`Contour.flatten(…, outer=True)`): where the polygons do not overlap, the contours do not.
Pieces of the same corners and the same turns are one kind. Bad pieces are refused by number, with the reason.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from abut import arrays
from abut.arrays import Floats, Integers
from abut.contours.contour import Contour
from abut.contours.nesting.tables import turn
from abut.contours.nesting.verify import find_self_contact
from abut.errors import InvalidInput

FREE_TURNS = (24, 12, 8, 4)
"""How many evenly spread turns a piece that may turn freely has: the most whose tables are not too large."""
CURVE_TOLERANCE = 2e-4
"""Of a contour's size: how far the polygon that replaces it may be from it."""
MOST_COPIES = 100_000


class Kind(NamedTuple):
    """A shape with the turns it may take."""

    polygon: Floats
    """(n,2) anticlockwise; its box begins at the origin"""
    origin: Floats
    """(2,) what was taken off the piece's own coordinates"""
    angles: tuple[float, ...]
    """degrees; none where it may turn freely"""


class Order(NamedTuple):
    """All copies of all pieces."""

    kinds: list[Kind]
    kind: Integers
    """(n,) of each copy"""
    piece: Integers
    """(n,) number of the piece it is a copy of"""


def signed_area(polygon: Floats) -> float:
    """Area within a simple polygon, positive where it is anticlockwise."""
    x, y = (polygon - polygon[0]).T
    return 0.5 * float(
        (x * np.roll(y, -1) - np.roll(x, -1) * y).sum()
    )  # not x @ y: BLAS starts threads, which wait where others are busy


def read_polygon(value: object, number: int) -> tuple[Floats, Floats]:
    """Corners of a piece without repetition, anticlockwise, moved to the origin; and by how much."""
    name = f"pieces[{number}]"
    if isinstance(value, Contour):
        size = float((value.bounds[1] - value.bounds[0]).max())
        if size <= 0.0:
            raise InvalidInput("pieces", "has no area", number)
        points = value.flatten(CURVE_TOLERANCE * size, outer=True)
    else:
        points = arrays.points(value, name, dimensions=2)
    if len(points):
        points = points[(points != np.roll(points, 1, axis=0)).any(axis=1)]
    if len(points) < 3:
        raise InvalidInput("pieces", f"has {len(points)} different corners, a polygon has at least 3", number)
    origin = points.min(axis=0)
    local = np.ascontiguousarray(points - origin)
    edges = find_self_contact(local)
    if edges is not None:
        raise InvalidInput(
            "pieces", f"crosses or touches itself: the edges from corners {edges[0]} and {edges[1]}", number
        )
    return (local if signed_area(local) > 0.0 else np.ascontiguousarray(local[::-1])), origin


def _each(value: object, count: int) -> list[Any]:
    """One value for all pieces, or one for each."""
    if (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and any(isinstance(v, Sequence) or v is None for v in value)
    ):
        rows = list(cast("Sequence[Any]", value))
        if len(rows) != count:
            raise InvalidInput("rotations", f"has {len(rows)} rows for {count} pieces")
        return rows
    return [value] * count


def _read_angles(value: object, number: int) -> tuple[float, ...]:
    if value is None:
        return ()
    angles = arrays.coordinates(value, f"rotations[{number}]", (None,))
    if not len(angles):
        raise InvalidInput("rotations", "is empty: give the angles in degrees, or None for any", number)
    return tuple(sorted({round(float(angle) % 360.0, 9) % 360.0 for angle in angles}))


def read_order(pieces: object, copies: object, rotations: object) -> Order:
    """Check and coerce what `nest` takes."""
    rows = [pieces] if isinstance(pieces, Contour) else list(cast("Sequence[object]", pieces))
    if not rows:
        raise InvalidInput("pieces", "is empty: there is nothing to nest")
    if isinstance(copies, int):
        counts = np.full(len(rows), arrays.count(copies, "copies", least=0, most=MOST_COPIES))
    else:
        counts = arrays.indices(np.reshape(np.asarray(copies), (-1, 1)), "copies", 1, MOST_COPIES + 1)[:, 0]
        if len(counts) != len(rows):
            raise InvalidInput("copies", f"has {len(counts)} rows for {len(rows)} pieces")
    if not counts.any():
        raise InvalidInput("copies", "is zero for every piece: there is nothing to nest")
    kinds: list[Kind] = []
    numbers: dict[tuple[bytes, tuple[float, ...]], int] = {}
    kind_of: list[int] = []
    for number, (row, angles) in enumerate(zip(rows, _each(rotations, len(rows)), strict=True)):
        polygon, origin = read_polygon(row, number)
        kind = Kind(polygon, origin, _read_angles(angles, number))
        key = (polygon.tobytes() + origin.tobytes(), kind.angles)
        if key not in numbers:
            numbers[key] = len(kinds)
            kinds.append(kind)
        kind_of.append(numbers[key])
    piece = np.repeat(np.arange(len(rows)), counts)
    return Order(kinds, np.array(kind_of)[piece], piece)


def fitting_angles(kind: Kind, angles: Sequence[float], width: float, height: float) -> list[float]:
    """Those of the angles at which the kind is no larger than the sheet."""
    sizes = [np.ptp(turn(kind.polygon, angle), axis=0) for angle in angles]
    return [angle for angle, size in zip(angles, sizes, strict=True) if size[0] <= width and size[1] <= height]
