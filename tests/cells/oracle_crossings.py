"""Triangles against walls in rational arithmetic: whether a wall goes through one, and whether a corner of a wall lies in a tetrahedron.

Shares no code with `abut.cells`. A triangle that begins in the free space and leaves it goes through a wall: it cuts the wall's plane in a chord,
and the chord has a piece inside the wall. A triangle in the plane of a wall, or one that meets no more than its border, is let pass. Since the sides
of a slit are walls as well, cells may be joined or not where they touch.
"""

import itertools
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from cells.oracle_cells import cross, exact, homogeneous, joined, minus, value

CLEAR = 1e-9
"""Heights, in units of the largest coordinate, beyond which floating point certainly tells the side."""


class Walls(NamedTuple):
    """Faces (in the plane: edges) of free parts beyond which there is nothing free."""

    rings: list
    """of exact points, inward"""
    low: np.ndarray
    high: np.ndarray
    rough: np.ndarray
    """(n, dimension + 1) unit planes"""


def walls_of(parts):
    rings = [face for part in parts if part.free for face, wall in zip(part.faces, part.walls, strict=True) if wall]
    corners = [np.array(ring, float) for ring in rings]
    planes = []
    for ring in corners:
        along = ring[1] - ring[0]
        normal = np.array([-along[1], along[0]]) if len(along) == 2 else np.cross(along, ring[2] - ring[0])
        length = np.linalg.norm(normal)
        planes.append([*(normal / length), -normal @ ring[0] / length] if length > 0 else [0.0] * (len(along) + 1))
    return Walls(
        rings,
        np.array([ring.min(axis=0) for ring in corners]),
        np.array([ring.max(axis=0) for ring in corners]),
        np.array(planes),
    )


def walls_near(walls, points):
    """The walls whose boxes and planes points (k, dimension) may go through."""
    if not walls.rings:
        return []
    close = ((walls.low <= points.max(axis=0)) & (walls.high >= points.min(axis=0))).all(axis=1)
    heights = walls.rough[:, :-1] @ points.T + walls.rough[:, -1:]
    limit = CLEAR * (1 + np.abs(points).max())
    close &= (heights.min(axis=1) < limit) & (heights.max(axis=1) > -limit)
    return [walls.rings[k] for k in np.flatnonzero(close).tolist()]


def dot(u, v):
    return sum(x * y for x, y in zip(u, v, strict=True))


def between(a, b, height_a, height_b):
    """Where the height is 0 between two points."""
    share = Fraction(height_a) / (height_a - height_b)
    return tuple(x + share * (y - x) for x, y in zip(a, b, strict=True))


def has_piece(pairs):
    """Whether all of some linear functions, by their values at both ends of a segment, are positive along a piece of it."""
    low, high = Fraction(0), Fraction(1)
    for first, last in pairs:
        if first <= 0 and last <= 0:
            return False
        if first < 0 or last < 0:
            root = Fraction(first) / (first - last)
            low, high = (max(low, root), high) if first < 0 else (low, min(high, root))
    return low < high


def goes_through(ring, corners):
    """Whether a wall and a triangle that is not flat have a piece in common that is of neither's border."""
    if len(ring[0]) == 2:
        turn = 1 if cross_2d(minus(corners[1], corners[0]), minus(corners[2], corners[0])) > 0 else -1
        ends = []
        for k, a in enumerate(corners):
            along = minus(corners[(k + 1) % 3], a)
            ends.append(tuple(turn * cross_2d(along, minus(end, a)) for end in ring))
        return has_piece(ends)
    normal = cross(minus(ring[1], ring[0]), minus(ring[2], ring[0]))
    heights = [dot(normal, minus(x, ring[0])) for x in corners]
    if min(heights) >= 0 or max(heights) <= 0:
        return False
    chord = [x for x, height in zip(corners, heights, strict=True) if height == 0]
    for k in range(3):
        j = (k + 1) % 3
        if heights[k] * heights[j] < 0:
            chord.append(between(corners[k], corners[j], heights[k], heights[j]))
    first, last = chord
    inward = [(a, cross(normal, minus(ring[(k + 1) % len(ring)], a))) for k, a in enumerate(ring)]
    return has_piece([(dot(n, minus(first, a)), dot(n, minus(last, a))) for a, n in inward])


def cross_2d(u, v):
    return u[0] * v[1] - u[1] * v[0]


def is_flat(corners):
    u, v = minus(corners[1], corners[0]), minus(corners[2], corners[0])
    return cross_2d(u, v) == 0 if len(u) == 2 else not any(cross(u, v))


def is_crossed(walls, points):
    """Whether a wall goes through a triangle (3, dimension); False for a flat one."""
    close = walls_near(walls, points)
    if not close:
        return False
    corners = [exact(x) for x in points]
    return not is_flat(corners) and any(goes_through(ring, corners) for ring in close)


def is_crossed_from(parts, points, home):
    """Whether a wall goes through a triangle (3, dimension) that is followed from its first corner, in cell `home`, from part to part through what
    they share. Where the sides of a slit overlap, walls of parts to which the triangle has no way do not count; False for a flat one."""
    corners = [exact(x) for x in points]
    if is_flat(corners):
        return False
    low, high = points.min(axis=0), points.max(axis=0)
    around = [part for part in parts.near(low, high) if part.free]
    sharing = {}
    for part in around:
        for ring in part.numbers:
            sharing.setdefault(frozenset(ring), []).append(part)
    known = joined(around, [part for part in around if part.cell == home and part.holds(corners[0])], corners[0])
    known = [part for part in known if opens_towards(part, corners)]
    for part in known:  # grows
        for ring, numbers, wall in zip(part.faces, part.numbers, part.walls, strict=True):
            if goes_through(ring, corners):
                if wall:
                    return True
                known += [each for each in sharing[frozenset(numbers)] if all(each is not other for other in known)]
    return False


def opens_towards(part, corners):
    """Whether a triangle has points inside a part, which holds its first corner."""
    clipped = list(corners)
    for plane in part.planes:
        heights = [value(plane, homogeneous(x)) for x in clipped]
        heights = [Fraction(h, homogeneous(x)[-1]) for h, x in zip(heights, clipped, strict=True)]
        kept = []
        for k, (x, h) in enumerate(zip(clipped, heights, strict=True)):
            y, g = clipped[k - 1], heights[k - 1]
            if h * g < 0:
                kept.append(between(y, x, g, h))
            if h >= 0:
                kept.append(x)
        clipped = kept
    return any(not is_flat((clipped[0], b, c)) for b, c in itertools.pairwise(clipped[1:]))


def holds_a_corner(walls, points):
    """Whether a corner of a wall lies inside a tetrahedron (4,3)."""
    if not walls.rings:
        return False
    close = ((walls.low <= points.max(axis=0)) & (walls.high >= points.min(axis=0))).all(axis=1)
    corners = [exact(x) for x in points]
    middle = tuple(sum(x) / 4 for x in zip(*corners, strict=True))
    planes = []
    for k in range(4):
        a, b, c = (corners[j] for j in range(4) if j != k)
        normal = cross(minus(b, a), minus(c, a))
        side = dot(normal, minus(middle, a))
        if side == 0:
            return False
        planes.append((a, normal, side > 0))
    places = {x for k in np.flatnonzero(close).tolist() for x in walls.rings[k]}
    return any(
        all((dot(normal, minus(x, a)) > 0) == above and dot(normal, minus(x, a)) != 0 for a, normal, above in planes)
        for x in places
    )
