"""What is to be nested: polygons and contours of any kind become kinds of simple anticlockwise polygons, and a list of copies.

A curved contour is replaced by a polygon that holds it, the curve around a hole by one within it: where the polygons do not overlap, the
contours do not. Pieces of the same corners and the same turns are one kind. Bad pieces are refused by number, with the reason.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from abut.contours.curve.contour import LEAST_REACH, Contour, straight_segments
from abut.contours.curve.flattening import flatten
from abut.contours.drawings.marks import Part
from abut.contours.nesting.angles import RotationsLike, read_rotations
from abut.contours.nesting.verify import find_loose_hole, find_self_contact
from abut.core import arrays
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput
from abut.core.types import FlagsLike, IndicesLike, PointsLike
from abut.geometry.predicates import orient_2d

FREE_TURNS = (24, 12, 8, 4)
"""How many evenly spread turns a piece that may turn freely has: the most whose tables are not too large."""
CURVE_TOLERANCE = 2e-4
"""Of a contour's size: how far the polygon that replaces it may be from it."""
STRAIGHT = 2.0**-47
"""Of the largest coordinate: a segment whose control points are nearer than this to the thirds of a line is a line."""
MOST_COPIES = 10_000
"""Of all pieces together: the search keeps two numbers for each pair of copies, 1.6 GB."""
LEAST_AREA = 2.0**-48
"""Of the square of a piece's size: thinner ones are turned inside out by rounding."""
LEAST_COORDINATE = 2.0**-200
"""Of a piece's size: a corner nearer than this to the lower or left side of the piece's box lies on it, so that products do not underflow."""


PieceLike: TypeAlias = Contour | Part | PointsLike
"""A contour, a part with holes, or the corners (n,2) of a simple polygon in either direction."""
PiecesLike: TypeAlias = Contour | Part | Iterable[PieceLike]


class Kind(NamedTuple):
    """A shape with the turns it may take."""

    polygon: Floats
    """(n,2) anticlockwise; its box begins at the origin"""
    holes: tuple[Floats, ...]
    """(m,2) clockwise each, strictly within the polygon and apart from one another"""
    origin: Floats
    """(2,) what was taken off the piece's own coordinates"""
    angles: tuple[float, ...]
    """degrees; none where it may turn freely"""
    mirrored: bool
    """whether it may be turned over"""

    @property
    def rings(self) -> tuple[Floats, ...]:
        """The polygon, and the rings around its holes."""
        return (self.polygon, *self.holes)

    @property
    def area(self) -> float:
        """Of the material."""
        return sum(signed_area(ring) for ring in self.rings)

    def map(self, function: Callable[[Floats], Floats]) -> "Kind":
        """The same with this done to its rings."""
        return self._replace(polygon=function(self.polygon), holes=tuple(function(hole) for hole in self.holes))


class Order(NamedTuple):
    """All copies of all pieces."""

    kinds: list[Kind]
    kind: Integers
    """(n,) of each copy"""
    piece: Integers
    """(n,) number of the piece it is a copy of"""
    names: tuple[str, ...]
    """what to say of each piece before the reason why it is refused"""
    pieces: tuple[PieceLike, ...]
    """as they were given"""
    priority: Floats
    """(n,) of each copy: where not all fit, those with more go first"""
    power: int = 0
    """polygons have been divided by 2 to this power; origins have not"""
    tens: int = 0
    """and before that multiplied by 10 to this power, to whole numbers"""

    def first_piece(self, kind: int) -> int:
        """The first piece that is of this kind."""
        return int(self.piece[np.flatnonzero(self.kind == kind)[0]])

    def to_length(self, value: float) -> float:
        """A length of the search as one of the caller's."""
        return math.ldexp(value, self.power) / 10.0**self.tens

    def to_lengths(self, values: Floats) -> Floats:
        """The same for an array."""
        return np.ldexp(values, self.power) / 10.0**self.tens

    def in_whole_numbers(self, tens: int) -> "Order":
        """The same in units of 10 to the −`tens`, of which all lengths are multiples to rounding."""
        kinds = [kind.map(lambda ring: np.rint(ring * 10.0**tens)) for kind in self.kinds]
        return self._replace(kinds=kinds, tens=tens)

    def scaled(self, power: int) -> "Order":
        """The same with polygons divided by 2 to this power."""
        kinds = [kind.map(lambda ring: np.ldexp(ring, -power)) for kind in self.kinds]
        return self._replace(kinds=kinds, power=power)


def signed_area(polygon: Floats) -> float:
    """Area within a simple polygon, positive where it is anticlockwise."""
    x, y = (polygon - polygon[0]).T
    return 0.5 * float(
        (x * np.roll(y, -1) - np.roll(x, -1) * y).sum()
    )  # not x @ y: BLAS starts threads, which wait where others are busy


def _flatten(contour: Contour, number: int, side: int) -> Floats:
    """Corners of a polygon that holds the contour (side 1) or lies within it (−1). It is brought near 1 by a power of two, where nothing under- or
    overflows."""
    size = float(np.ptp(contour.segments.reshape(-1, 2), axis=0).max())
    if size <= 0.0:
        raise InvalidInput("pieces", "has no area", number)
    power = -math.frexp(size)[1]
    near = Contour.from_segments(np.ldexp(contour.segments, power))
    extent = float((near.bounds[1] - near.bounds[0]).max())
    if extent <= 0.0:
        raise InvalidInput("pieces", "has no area", number)
    segments = near.segments.copy()
    lines = straight_segments(segments[:, 0], segments[:, 3])
    straight = (np.abs(lines - segments) <= STRAIGHT * np.abs(segments).max()).all(axis=(1, 2))
    # Thirds of a line are rounded, and would seem to bend this way and that; its ends are not.
    segments[straight, 1], segments[straight, 2] = segments[straight, 0], segments[straight, 3]
    return np.ldexp(flatten(segments, CURVE_TOLERANCE * extent, outer=side * near.orientation), -power)


def _is_anticlockwise(polygon: Floats) -> bool:
    """By the exact sign at the least corner, which is convex."""
    k = int(np.lexsort((polygon[:, 1], polygon[:, 0]))[0])
    previous, corner, following = (tuple(polygon[(k + step) % len(polygon)].tolist()) for step in (-1, 0, 1))
    return orient_2d(previous, corner, following) > 0


def _drop_repeated(points: Floats) -> Floats:
    return points[(points != np.roll(points, 1, axis=0)).any(axis=1)] if len(points) else points


def _read_points(value: Contour | PointsLike, number: int, side: int) -> Floats:
    """Corners of a ring without repetition."""
    if isinstance(value, Contour):
        points = _flatten(value, number, side)
    else:
        points = arrays.points(value, f"pieces[{number}]", dimensions=2)
        largest = float(np.abs(points).max(initial=0.0))
        if 0.0 < largest < LEAST_REACH:
            raise InvalidInput("pieces", f"its largest coordinate is {largest:g}, below {LEAST_REACH:g}", number)
    points = _drop_repeated(points)
    if len(points) < 3:
        raise InvalidInput("pieces", f"has {len(points)} different corners, a polygon has at least 3", number)
    return points


def _read_ring(near: Floats, number: int, *, is_hole: bool) -> Floats:
    """A ring near 1, anticlockwise, or clockwise around a hole."""
    near = np.ascontiguousarray(_drop_repeated(np.where(np.abs(near) < LEAST_COORDINATE, 0.0, near)))
    edges = find_self_contact(near) if len(near) > 2 else (0, 1)
    if edges is not None:
        raise InvalidInput(
            "pieces", f"crosses or touches itself: the edges from corners {edges[0]} and {edges[1]}", number
        )
    if abs(signed_area(near)) < LEAST_AREA:
        raise InvalidInput("pieces", "has no area: it is thinner than rounding", number)
    return near if _is_anticlockwise(near) != is_hole else np.ascontiguousarray(near[::-1])


def read_kind(value: PieceLike, number: int, angles: tuple[float, ...], mirrored: bool = False) -> Kind:
    """Corners of a piece and its holes without repetition, moved to the origin."""
    rows: list[Any] = [value.outline, *value.holes] if isinstance(value, Part) else [value]
    rings = [_read_points(row, number, 1 if k == 0 else -1) for k, row in enumerate(rows)]
    origin = rings[0].min(axis=0)
    power = -math.frexp(float((rings[0] - origin).max()))[1]
    near = [np.ldexp(ring - origin, power) for ring in rings]  # the outline below 1, at least 1/2
    near = [_read_ring(ring, number, is_hole=k > 0) for k, ring in enumerate(near)]
    loose = find_loose_hole(near[0], near[1:])
    if loose is not None:
        raise InvalidInput(
            "pieces", f"hole {loose} is not strictly within the outline and apart from the other holes", number
        )
    polygon, *holes = (np.ldexp(ring, -power) for ring in near)
    return Kind(polygon, tuple(holes), origin, angles, mirrored)


def name_piece(piece: PieceLike) -> str:
    """What to say before the reason why a piece is refused."""
    name = piece.name if isinstance(piece, Part | Contour) else ""
    return f'id="{"".join(c if c.isprintable() else "?" for c in name[:60])}": ' if name else ""


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


def _read_flags(value: FlagsLike, count: int) -> list[bool]:
    """For each piece whether it may be turned over."""
    if isinstance(value, bool | np.bool_):
        return [bool(value)] * count
    rows: list[Any] = arrays.listed(value, "mirror")
    if len(rows) != count:
        raise InvalidInput("mirror", f"has {len(rows)} rows for {count} pieces")
    return [arrays.flag(row, f"mirror[{k}]") for k, row in enumerate(rows)]


MOST_TENS = 9
"""Digits after the point that lengths may have to be taken for decimal ones."""
LARGEST_WHOLE = 2.0**40
"""Of a length in units of the last digit: sums of some are exact."""
DECIMAL = 2.0**-50
"""Of the largest coordinate: what rounding leaves between a decimal length and a coordinate from which another was taken."""


def find_tens(order: Order, lengths: list[float]) -> int | None:
    """How many digits after the point all coordinates and these lengths have, to rounding; None where they have more, or are too large."""
    rings = [
        (ring, max(float(np.abs(kind.origin).max()), float(np.abs(ring).max())))
        for kind in order.kinds
        for ring in kind.rings
    ]
    total = sum(float(kind.polygon.max()) * int((order.kind == k).sum()) for k, kind in enumerate(order.kinds))
    for tens in range(MOST_TENS + 1):
        unit = 10.0**tens
        if max(total, *lengths) * unit > LARGEST_WHOLE:
            return None
        whole = all(round(length * unit) / unit == length for length in lengths)
        if whole and all(
            bool((np.abs(np.rint(ring * unit) / unit - ring) <= DECIMAL * reach).all()) for ring, reach in rings
        ):
            return tens
    return None


def read_order(
    pieces: PiecesLike,
    copies: IndicesLike,
    rotations: RotationsLike,
    priority: ArrayLike = 0.0,
    mirror: FlagsLike = False,
) -> Order:
    """Check and coerce what `nest` takes."""
    if isinstance(pieces, Contour | Part):
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
    numbers: dict[tuple[bytes, tuple[int, ...], tuple[float, ...], bool], int] = {}
    flags = _read_flags(mirror, len(rows))
    kind_of: list[int] = []
    for number, row in enumerate(rows):
        try:
            kind = read_kind(row, number, angles[number], flags[number])
        except InvalidInput as error:
            raise InvalidInput(error.name, name_piece(row) + error.reason, error.row) from error
        if not counts[number]:
            kind_of.append(-1)
            continue
        content = b"".join([*map(np.ndarray.tobytes, kind.rings), kind.origin.tobytes()])
        key = (content, tuple(map(len, kind.rings)), kind.angles, kind.mirrored)
        if key not in numbers:
            numbers[key] = len(kinds)
            kinds.append(kind)
        kind_of.append(numbers[key])
    piece = np.repeat(np.arange(len(rows)), counts)
    wanted = arrays.coordinates(
        np.broadcast_to(arrays.as_array(priority, "priority"), len(rows)) if np.ndim(priority) == 0 else priority,
        "priority",
        (len(rows),),
    )
    return Order(
        kinds, np.array(kind_of)[piece], piece, tuple(name_piece(row) for row in rows), tuple(rows), wanted[piece]
    )
