"""`cast` and `cast_segments`: where rays and segments pass through a surface."""

from typing import Literal, TypeAlias

import numpy as np

from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.jit import threads_for
from abut.core.types import Number, PointsLike
from abut.discrete.bodies import Body, BodyLike, as_body
from abut.discrete.rays.results import CastHits
from abut.discrete.rays.search import ALL, ANY, FIRST, cast_lines, place_hits
from abut.trees.binary.morton import morton_codes, sort_by_code

PARALLEL_RAYS = 128  # fewer are cast on one thread
SORTED_RAYS = 4096  # fewer are cast as they come
ROOM_EACH = 4  # hits of a ray that there is room for at first, with all of them asked for

Mode: TypeAlias = Literal["first", "any", "all"]
"""Which hits of a ray are wanted."""
MODES = {"first": FIRST, "any": ANY, "all": ALL}


def cast(
    body: BodyLike,
    origins: PointsLike,
    directions: PointsLike,
    *,
    mode: Mode = "first",
    max_distance: Number | None = None,
) -> CastHits:
    """Where rays pass through a surface: the first face of each ray, any, or all of them in order.

    Which faces a ray passes is exact for the world coordinates of the vertices; their order is that of computed t. Where it meets an edge or a
    vertex it is thought moved aside by less than any number, the same for all faces: so no ray slips through a closed surface, and each passage is
    one row. A ray that only touches an edge or a vertex gives no row, or two at the same t. One that runs in the plane of a face does not pass that
    face, but those beside it. Both sides of a face count, and so does a face on which the ray starts.

    Args:
        body: a `Rigid` or `Deformable` body; anything that `as_mesh` takes becomes a rigid body for this call.
        origins: (n,3) where the rays start, in the world; a single (3,) stands for all.
        directions: (n,3) where they go, of any length but 0; a single (3,) stands for all.
        mode: `"first"` for the hit with the smallest t, `"any"` for whichever is found first, `"all"`.
        max_distance: how far to look, a length; None for as far as it goes.

    Returns:
        One row per hit, sorted by ray, t and face.

    Raises:
        InvalidInput: a direction without length.

    Examples:
        >>> import abut
        >>> box = abut.scenes.box((2.0, 2.0, 2.0))
        >>> hits = abut.cast(box, [[0.0, 0.0, 5.0], [4.0, 4.0, 4.0]], [[0.0, 0.0, -1.0], [-1.0, -1.0, -1.0]], mode="all")
        >>> hits.ray, hits.t, hits.entering
        (array([0, 0, 1, 1]), array([4., 6., 3., 5.]), array([ True, False,  True, False]))
    """
    known, which = as_body(body, "body"), MODES[arrays.choice(mode, "mode", MODES)]
    starts, ways = _pair_up(origins, "origins", directions, "directions")
    still = ~ways.any(axis=1)
    if still.any():
        raise InvalidInput("directions", "has no length", int(np.argmax(still)))
    limits = np.full(len(starts), np.inf)
    if max_distance is not None:
        far = arrays.scalar(max_distance, "max_distance", least=0.0)
        size = np.abs(ways).max(axis=1, initial=0.0)
        with np.errstate(over="ignore"):  # as far as it goes
            limits = far / size / np.linalg.norm(ways / size[:, np.newaxis], axis=1)
    return _cast(known, starts, ways, False, limits, which)


def cast_segments(body: BodyLike, starts: PointsLike, ends: PointsLike, *, mode: Mode = "first") -> CastHits:
    """Where segments pass through a surface. As `cast`, with both ends exact: a face that holds an end of a segment is passed there.

    Args:
        body: a `Rigid` or `Deformable` body; anything that `as_mesh` takes becomes a rigid body for this call.
        starts, ends: (n,3) the ends of the segments, in the world, in two places; a single (3,) stands for all.
        mode: `"first"` for the hit nearest to the start, `"any"` for whichever is found first, `"all"`.

    Returns:
        One row per hit, sorted by segment (`ray`), t and face; t is 0 at the start and 1 at the end.

    Raises:
        InvalidInput: a segment without length.

    Examples:
        >>> import abut
        >>> box = abut.scenes.box((2.0, 2.0, 2.0))
        >>> hits = abut.cast_segments(box, (0.0, 0.0, 0.5), [[0.0, 0.0, 1.0], [0.0, 0.0, 0.75]])
        >>> hits.ray, hits.t
        (array([0]), array([1.]))
    """
    known, which = as_body(body, "body"), MODES[arrays.choice(mode, "mode", MODES)]
    first, last = _pair_up(starts, "starts", ends, "ends")
    still = (first == last).all(axis=1)
    if still.any():
        raise InvalidInput("ends", "is where the segment starts", int(np.argmax(still)))
    return _cast(known, first, last, True, np.ones(len(first)), which)


def _pair_up(a: PointsLike, name_a: str, b: PointsLike, name_b: str) -> tuple[Floats, Floats]:
    """Two arrays of as many points; a single one stands for all of the other's."""
    rows_a, rows_b = arrays.stacked(a, name_a, (3,)), arrays.stacked(b, name_b, (3,))
    if len(rows_a) != len(rows_b):
        if len(rows_b) != 1 and len(rows_a) != 1:
            raise InvalidInput(name_b, f"has {len(rows_b)} rows for {len(rows_a)} {name_a}")
        shape = (len(rows_a) if len(rows_b) == 1 else len(rows_b), 3)
        rows_a, rows_b = np.broadcast_to(rows_a, shape), np.broadcast_to(rows_b, shape)
    return frozen(np.ascontiguousarray(rows_a)), frozen(np.ascontiguousarray(rows_b))


def _sequence_of(starts: Floats, ends: Floats) -> Integers:
    """Rows in an order in which neighbours are mostly near each other. It decides how fast a search is, never what it finds."""
    count = len(starts)
    if count < SORTED_RAYS:
        return np.arange(count)
    rows = np.arange(count)[:, np.newaxis]
    codes = morton_codes(starts, rows) >> 48
    return sort_by_code(codes << 15 | morton_codes(ends, rows) >> 48)[1]


def _cast(body: Body, starts: Floats, ends: Floats, is_segment: bool, limits: Floats, mode: int) -> CastHits:
    count, room_each = len(starts), ROOM_EACH if mode == ALL else 1
    sequence, counts = _sequence_of(starts, ends), np.zeros(count, np.int64)
    room = np.arange(count + 1) * room_each
    with threads_for(count, PARALLEL_RAYS):
        while True:
            face, slot, way = (np.empty(room[-1], np.int64) for _ in range(3))
            t = np.empty(room[-1])
            cast_lines(
                *body._view, body._packets.order, body._pose, starts, ends, is_segment, sequence, limits, mode,
                room, face, slot, t, way, counts,
            )  # fmt: skip
            if (counts <= np.diff(room)).all():
                break
            room = np.concatenate(([0], np.cumsum(counts)))
        ray = np.repeat(np.arange(count), counts)
        rows = room[ray] + np.arange(len(ray)) - (np.cumsum(counts) - counts)[ray]
        slot, weights, points = slot[rows], np.empty((len(rows), 3)), np.empty((len(rows), 3))
        place_hits(*body._view, body._pose, starts, ends, is_segment, ray, slot, weights, points)
    found = (ray, face[rows], t[rows], points, weights, way[rows] < 0)
    for array in found:
        frozen(array)
    return CastHits(*found, ray_count=count)
