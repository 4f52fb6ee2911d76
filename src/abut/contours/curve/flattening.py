"""Polygons for contours: within a tolerance, and if asked for, around them.

Segments are halved until their control polygon turns by less than a right angle, one way only, and is flat within the tolerance. A chord
is then within the tolerance. For a polygon that holds the contour, pieces that turn towards the inside are replaced by their end tangents,
which meet beyond the curve; chords of pieces that turn the other way lie outside already. So the polygon encloses the contour but for
the rounding of its corners, 8u·M (see `cubic`).
"""

import numpy as np

from abut.contours.curve.measures import halve
from abut.core.arrays import Floats
from abut.core.errors import InvalidInput

HALVINGS = 60
"""Halved so often, a piece is shorter than its own rounding."""
MOST_PIECES, MANY = 2**18, 64
"""So many pieces that are still to be halved, or so many of each segment, are a mistake: half of the coordinates' digits take fewer."""
STRAIGHT = 8.0 * 2.0**-53
"""A corner that is off the line between its neighbours by less than this part of the largest coordinate is off by rounding only."""


def _cross(a: Floats, b: Floats) -> Floats:
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]


def _dot(a: Floats, b: Floats) -> Floats:
    return a[:, 0] * b[:, 0] + a[:, 1] * b[:, 1]


def _legs(pieces: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    p0, p1, p2, p3 = np.moveaxis(pieces, 1, 0)
    return p1 - p0, p2 - p1, p3 - p2, p3 - p0


def _heights(pieces: Floats) -> Floats:
    """How far the inner control points are from the chord, at most: the curve lies within it."""
    first, _, last, chord = _legs(pieces)
    length = np.hypot(chord[:, 0], chord[:, 1])
    away = np.maximum(np.abs(_cross(chord, first)), np.abs(_cross(chord, last))) / np.where(length > 0.0, length, 1.0)
    along = np.maximum(np.maximum(-_dot(first, chord), -_dot(last, chord)), 0.0) / np.where(length > 0.0, length, 1.0)
    point = np.maximum(np.hypot(first[:, 0], first[:, 1]), np.hypot(last[:, 0], last[:, 1]))
    return np.where(length > 0.0, np.hypot(away, along), point)


def _turns_one_way(pieces: Floats) -> Floats:
    """+1 or −1 where the control polygon turns left or right only, by less than a right angle; 0 where it is straight; 2 where neither."""
    first, middle, last, chord = _legs(pieces)
    turns = np.stack([_cross(first, middle), _cross(middle, last), _cross(first, chord), _cross(chord, last)])
    forward = (_dot(first, chord) >= 0.0) & (_dot(last, chord) >= 0.0) & (_dot(first, last) >= 0.0)
    left, right = (turns >= 0.0).all(axis=0), (turns <= 0.0).all(axis=0)
    kind = np.where(left & right, 0, np.where(left, 1, np.where(right, -1, 2)))
    return np.where(forward, kind, 2)


def _apexes(pieces: Floats) -> Floats:
    """Where the end tangents of pieces that turn one way meet; the inner control point where they are parallel or one vanishes."""
    first, middle, last, chord = _legs(pieces)
    ahead = np.where((first**2).sum(axis=1, keepdims=True) > 0.0, first, middle + first)
    behind = np.where((last**2).sum(axis=1, keepdims=True) > 0.0, last, middle + last)
    across = _cross(ahead, behind)
    share = np.divide(_cross(chord, behind), across, out=np.zeros(len(pieces)), where=across != 0.0)
    return np.where((across != 0.0)[:, np.newaxis], pieces[:, 0] + share[:, np.newaxis] * ahead, pieces[:, 1])


def flatten(segments: Floats, tolerance: float, *, outer: int = 0) -> Floats:
    """(m,2) corners of a polygon within `tolerance` of a closed curve; with outer = +1 (−1) it holds a curve that runs anticlockwise (clockwise)."""
    pieces, place = segments, np.arange(len(segments), dtype=np.float64)
    size = 1.0
    corners: list[Floats] = []
    places: list[Floats] = []
    for level in range(HALVINGS):
        turn = _turns_one_way(pieces)
        # Within a right angle the apex is no further from the chord than twice the control points are (they lie on the tangents).
        height = _heights(pieces)
        bulging = (turn == outer) & (outer != 0)
        apex = _apexes(pieces) if outer else pieces[:, 1]
        _, _, _, chord = _legs(pieces)
        length = np.hypot(chord[:, 0], chord[:, 1])
        tall = np.abs(_cross(chord, apex - pieces[:, 0])) / np.where(length > 0.0, length, 1.0)
        flat = np.where(bulging, np.maximum(height, tall), height) <= tolerance
        done = flat & (turn != 2) if outer else flat
        if level == HALVINGS - 1:
            done[:] = True
        corners.append(pieces[done, 0])
        places.append(place[done])
        extra = done & bulging
        corners.append(apex[extra])
        places.append(place[extra] + 0.5 * size)
        if done.all():
            break
        rest = ~done
        if np.count_nonzero(rest) > max(MOST_PIECES, MANY * len(segments)):
            raise InvalidInput("tolerance", f"{tolerance:g} asks for hundreds of thousands of corners")
        pieces = np.stack(halve(pieces[rest]), axis=1).reshape(-1, 4, 2)
        size *= 0.5
        place = np.stack([place[rest], place[rest] + size], axis=1).reshape(-1)
    order = np.argsort(np.concatenate(places), kind="stable")
    polygon = np.concatenate(corners)[order]
    return _without_straight(polygon) if outer else polygon


def _without_straight(polygon: Floats) -> Floats:
    """Without every second corner that lies between its neighbours to rounding: tangents of a smooth joint are one line."""
    before, after = np.roll(polygon, 1, axis=0), np.roll(polygon, -1, axis=0)
    chord = after - before
    length = np.hypot(chord[:, 0], chord[:, 1])
    straight = np.abs(_cross(chord, polygon - before)) <= STRAIGHT * np.abs(polygon).max() * length
    straight &= (_dot(polygon - before, chord) > 0.0) & (_dot(after - polygon, chord) > 0.0)
    straight[1::2] &= ~straight[0::2][: len(straight[1::2])]
    straight[2::2] &= ~straight[1:-1:2][: len(straight[2::2])]
    straight[0] &= not straight[-1]
    return polygon[~straight]
