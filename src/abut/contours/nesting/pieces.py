"""What is to be nested: polygons and contours of any kind become kinds of simple anticlockwise polygons, and a list of copies.

A curved contour is replaced by a polygon that holds it (`Contour.flatten(…, outer=True)`): where the polygons do not overlap, the contours do not.
Pieces of the same corners and the same turns are one kind. Bad pieces are refused by number, with the reason.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from abut.contours.curve.contour import LEAST_REACH, Contour
from abut.contours.nesting.angles import RotationsLike, read_rotations
from abut.contours.nesting.verify import find_self_contact
from abut.core import arrays
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput
from abut.core.types import IndicesLike, PointsLike
from abut.geometry.predicates import orient_2d

FREE_TURNS = (24, 12, 8, 4)
"""How many evenly spread turns a piece that may turn freely has: the most whose tables are not too large."""
CURVE_TOLERANCE = 2e-4
"""Of a contour's size: how far the polygon that replaces it may be from it."""
MOST_COPIES = 10_000
"""Of all pieces together: the search keeps two numbers for each pair of copies, 1.6 GB."""
LEAST_AREA = 2.0**-48
"""Of the square of a piece's size: thinner ones are turned inside out by rounding."""
LEAST_COORDINATE = 2.0**-200
"""Of a piece's size: a corner nearer than this to the lower or left side of the piece's box lies on it, so that products do not underflow."""


PieceLike: TypeAlias = Contour | PointsLike
"""A contour, or the corners (n,2) of a simple polygon in either direction."""
PiecesLike: TypeAlias = Contour | Iterable[PieceLike]


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
    power: int = 0
    """polygons have been divided by 2 to this power; origins have not"""

    def first_piece(self, kind: int) -> int:
        """The first piece that is of this kind."""
        return int(self.piece[np.flatnonzero(self.kind == kind)[0]])

    def scaled(self, power: int) -> "Order":
        """The same with polygons divided by 2 to this power."""
        kinds = [kind._replace(polygon=np.ldexp(kind.polygon, -power)) for kind in self.kinds]
        return self._replace(kinds=kinds, power=power)


def signed_area(polygon: Floats) -> float:
    """Area within a simple polygon, positive where it is anticlockwise."""
    x, y = (polygon - polygon[0]).T
    return 0.5 * float(
        (x * np.roll(y, -1) - np.roll(x, -1) * y).sum()
    )  # not x @ y: BLAS starts threads, which wait where others are busy


def _flatten(contour: Contour, number: int) -> Floats:
    """Corners of a polygon that holds the contour. It is brought near 1 by a power of two, where nothing under- or overflows."""
    size = float(np.ptp(contour.segments.reshape(-1, 2), axis=0).max())
    if size <= 0.0:
        raise InvalidInput("pieces", "has no area", number)
    power = -math.frexp(size)[1]
    near = Contour.from_segments(np.ldexp(contour.segments, power))
    extent = float((near.bounds[1] - near.bounds[0]).max())
    if extent <= 0.0:
        raise InvalidInput("pieces", "has no area", number)
    return np.ldexp(near.flatten(CURVE_TOLERANCE * extent, outer=True), -power)


def _is_anticlockwise(polygon: Floats) -> bool:
    """By the exact sign at the least corner, which is convex."""
    k = int(np.lexsort((polygon[:, 1], polygon[:, 0]))[0])
    previous, corner, following = (tuple(polygon[(k + step) % len(polygon)].tolist()) for step in (-1, 0, 1))
    return orient_2d(previous, corner, following) > 0


def _drop_repeated(points: Floats) -> Floats:
    return points[(points != np.roll(points, 1, axis=0)).any(axis=1)] if len(points) else points


def read_polygon(value: PieceLike, number: int) -> tuple[Floats, Floats]:
    """Corners of a piece without repetition, anticlockwise, moved to the origin; and by how much."""
    if isinstance(value, Contour):
        points = _flatten(value, number)
    else:
        points = arrays.points(value, f"pieces[{number}]", dimensions=2)
        largest = float(np.abs(points).max(initial=0.0))
        if 0.0 < largest < LEAST_REACH:
            raise InvalidInput("pieces", f"its largest coordinate is {largest:g}, below {LEAST_REACH:g}", number)
    points = _drop_repeated(points)
    if len(points) < 3:
        raise InvalidInput("pieces", f"has {len(points)} different corners, a polygon has at least 3", number)
    origin = points.min(axis=0)
    local = points - origin
    power = -math.frexp(float(local.max()))[1]
    near = np.ldexp(local, power)  # below 1, at least 1/2
    near = np.ascontiguousarray(_drop_repeated(np.where(near < LEAST_COORDINATE, 0.0, near)))
    edges = find_self_contact(near) if len(near) > 2 else (0, 1)
    if edges is not None:
        raise InvalidInput(
            "pieces", f"crosses or touches itself: the edges from corners {edges[0]} and {edges[1]}", number
        )
    if abs(signed_area(near)) < LEAST_AREA:
        raise InvalidInput("pieces", "has no area: it is thinner than rounding", number)
    return np.ldexp(near if _is_anticlockwise(near) else np.ascontiguousarray(near[::-1]), -power), origin


def _read_copies(value: IndicesLike, count: int) -> Integers:
    """(count,) how many of each piece."""
    try:
        single = np.ndim(cast("Any", value)) == 0
    except Exception as error:  # ragged lists, and whatever an object's own conversion says
        raise InvalidInput("copies", "is neither one number nor one for each piece") from error
    if single:
        counts = np.full(count, arrays.count(value, "copies", most=MOST_COPIES))
    else:
        counts = arrays.coordinates(value, "copies", (None,))
        if len(counts) != count:
            raise InvalidInput("copies", f"has {len(counts)} rows for {count} pieces")
        counts = arrays.indices(counts[:, None], "copies", 1, MOST_COPIES + 1)[:, 0]
    if not counts.any():
        raise InvalidInput("copies", "is zero for every piece: there is nothing to nest")
    if counts.sum() > MOST_COPIES:
        raise InvalidInput("copies", f"{counts.sum()} pieces in all are more than {MOST_COPIES}")
    return counts


def read_order(pieces: PiecesLike, copies: IndicesLike, rotations: RotationsLike) -> Order:
    """Check and coerce what `nest` takes."""
    if isinstance(pieces, Contour):
        pieces = [pieces]
    if not isinstance(pieces, Iterable) or isinstance(pieces, str | bytes | Mapping):
        raise InvalidInput("pieces", "expected a list of polygons (n,2) or Contours")
    if isinstance(pieces, np.ndarray) and pieces.ndim == 0:
        raise InvalidInput("pieces", "is one number, expected a list of polygons (n,2) or Contours")
    rows: list[PieceLike] = arrays.listed(pieces, "pieces")
    if not rows:
        raise InvalidInput("pieces", "is empty: there is nothing to nest")
    counts, angles = _read_copies(copies, len(rows)), read_rotations(rotations, len(rows))
    kinds: list[Kind] = []
    numbers: dict[tuple[bytes, tuple[float, ...]], int] = {}
    kind_of: list[int] = []
    for number, row in enumerate(rows):
        polygon, origin = read_polygon(row, number)
        if not counts[number]:
            kind_of.append(-1)
            continue
        kind = Kind(polygon, origin, angles[number])
        key = (polygon.tobytes() + origin.tobytes(), kind.angles)
        if key not in numbers:
            numbers[key] = len(kinds)
            kinds.append(kind)
        kind_of.append(numbers[key])
    piece = np.repeat(np.arange(len(rows)), counts)
    return Order(kinds, np.array(kind_of)[piece], piece)
