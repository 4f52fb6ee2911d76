"""One translation that takes two bodies apart, verified: the bodies are asked about again at the place it leads to.

Along a unit vector n, b is free of a once its lowest point along n lies above a's highest. Such lengths are compared for many directions: from
the deepest point to the surface nearest to it, the normals of faces, the products of edges that meet, the axes, and the steps of a descent to the
point of the Minkowski difference nearest to the origin (for convex bodies the shortest translation leads there). Bodies that are not convex are
often free sooner: shorter translations along the best directions are tried too.

No translation shorter than the pointwise depth can separate: a ball of that radius around the deepest point lies inside the other body. The one
found is the shortest of those tried; that it is the shortest of all is not promised.
"""

from typing import Any

import numpy as np

from abut.core.arrays import Floats, Integers
from abut.discrete.bodies import Body, vertices_at
from abut.discrete.containment import find_holder
from abut.discrete.search.placement import ROUNDED
from abut.discrete.search.queries import MAYBE_HELD, search_all, search_first
from abut.discrete.search.rules import Meet

DIRECTIONS = 400_000
"""Products of vertices and directions that are formed at most; DIRECTIONS_LEAST directions are tried on any body."""
DIRECTIONS_LEAST = 64
PAIRS = 32  # pairs of faces that meet whose edges are multiplied
DESCENT = 12  # steps from the best direction
SHORTER = 8  # directions along which shorter translations are tried
GROWTH = 1.25  # from one of them to the next
HALVINGS = 6  # between the longest that failed and the first that did not
ENOUGH = 1.01  # times the depth, which no translation can beat


class Pair:
    """Two bodies at one moment, the second to be moved."""

    def __init__(self, a: Body, pose_a: Floats, b: Body, pose_b: Floats) -> None:
        self.a, self.pose_a, self.b, self.pose_b = a, pose_a, b, pose_b
        self.points_a, self.points_b = _surface_points(a, pose_a), _surface_points(b, pose_b)

    def are_apart(self, translation: Floats) -> bool:
        """Whether the bodies neither meet nor hold each other when b is moved: the verdict of `collide`."""
        moved = self.pose_b.copy()
        moved[:3, 3] += translation
        count = search_first(self.a._handle, self.pose_a, self.b._handle, moved)[3]
        return count == 0 or (count == MAYBE_HELD and not find_holder(self.a, self.pose_a, self.b, moved))

    def lengths(self, directions: Floats) -> Floats:
        """How far b has to move along each unit vector (k,3) until a plane across it lies between the bodies."""
        highest = np.max(self.points_a @ directions.T, axis=0)
        return np.maximum(highest - np.min(self.points_b @ directions.T, axis=0), 0.0)

    def farthest(self, direction: Floats) -> Floats:
        """The point of the Minkowski difference a − b that lies farthest along a direction."""
        return self.points_a[np.argmax(self.points_a @ direction)] - self.points_b[np.argmin(self.points_b @ direction)]

    def rounding(self) -> float:
        """What the coordinates of the two are rounded to."""
        return ROUNDED * float(np.abs(self.points_a).max() + np.abs(self.points_b).max())


def find_separation(pair: Pair, depth: float, hint: Floats) -> Floats:
    """(3,) a translation of b after which the bodies are apart. hint: a vector along which they may be soonest; depth: no shorter one will do."""
    directions = _directions(pair, hint)
    lengths = pair.lengths(directions)
    best = directions[np.argmin(lengths)]
    for _ in range(DESCENT):
        other = _unit(pair.farthest(best)[np.newaxis])
        if not len(other):
            break
        directions, lengths = np.concatenate((directions, other)), np.append(lengths, pair.lengths(other))
        best = other[0]
    order = np.argsort(lengths, kind="stable")
    found = _grow(pair, directions[order[0]], float(lengths[order[0]]))
    for i in (0, *order[:SHORTER].tolist()):
        if _length(found) <= ENOUGH * depth:
            break
        found = _shorten(pair, directions[i], depth, found)
    return found


def _grow(pair: Pair, direction: Floats, length: float) -> Floats:
    """A translation a little longer than that, verified. It ends: a few times the rounding beyond the length a plane lies between the bodies."""
    step = max(pair.rounding(), np.finfo(np.float64).tiny)
    length += step
    while not pair.are_apart(length * direction):
        length += step
        step *= 2.0
    return length * direction


def _shorten(pair: Pair, direction: Floats, depth: float, found: Floats) -> Floats:
    """A shorter translation along a direction, if there is one among those tried, else the one known."""
    most = _length(found)
    failed, length = 0.0, max(depth * (1.0 + 2.0**-20), most * 2.0**-20) + pair.rounding()
    while length < most and not pair.are_apart(length * direction):
        failed, length = length, length * GROWTH
    if length >= most:
        return found
    for _ in range(HALVINGS):
        middle = 0.5 * (failed + length)
        if pair.are_apart(middle * direction):
            length = middle
        else:
            failed = middle
    length += pair.rounding()
    return length * direction if length < most and pair.are_apart(length * direction) else found


def _surface_points(body: Body, pose: Floats) -> Floats:
    """The vertices of faces in the world."""
    used = np.zeros(len(body.mesh.vertices), dtype=np.bool_)
    used[body.mesh.faces] = True
    return vertices_at(body, pose)[used]


def _length(v: Floats) -> float:
    """Of a vector that is not 0, also where squares would vanish."""
    size = float(np.abs(v).max())
    return size * float(np.linalg.norm(v / size))


def _unit(vectors: Floats) -> Floats:
    """(k,3) shortened to length 1, those without length left out."""
    size = np.abs(vectors).max(axis=1, initial=0.0, keepdims=True)
    vectors = vectors[size[:, 0] > 0.0] / size[size[:, 0] > 0.0]
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _spread(rows: Any, count: int) -> Any:
    """At most so many rows, evenly spread."""
    return rows if len(rows) <= count else rows[np.linspace(0, len(rows) - 1, count).astype(np.int64)]


def _edges(body: Body, pose: Floats, slots: Integers) -> Floats:
    """(k,3,3) edges of the triangles in some slots, as vectors of the world, for their directions: the largest component of a triangle is 1."""
    corners = body._packets.tree.corners[slots].reshape(-1, 3, 3)
    edges = np.roll(corners, -1, axis=1) - corners
    size = np.abs(edges).max(axis=(1, 2), initial=0.0, keepdims=True)
    return (edges / np.where(size > 0.0, size, 1.0)) @ pose[:3, :3].T


def _directions(pair: Pair, hint: Floats) -> Floats:
    """(k,3) unit vectors to try, the hint first if it has a length."""
    handles = (pair.a._handle, pair.pose_a, pair.b._handle, pair.pose_b)
    slots = search_all(*handles, Meet(0), np.zeros(3, dtype=np.int64))[1].astype(np.int64)
    most = max(DIRECTIONS_LEAST, DIRECTIONS // (len(pair.points_a) + len(pair.points_b)))
    share = most // 8  # of the directions, for each of these kinds, both ways
    sides = ((pair.a, pair.pose_a), (pair.b, pair.pose_b))
    met = [_edges(body, pose, _spread(np.unique(slots[:, i]), share)) for i, (body, pose) in enumerate(sides)]
    every = [_edges(body, pose, _spread(np.arange(body._packets.tree.slot_count), share)) for body, pose in sides]
    pairs = _spread(slots, PAIRS)
    products = np.cross(
        _edges(pair.a, pair.pose_a, pairs[:, 0])[:, :, np.newaxis],
        _edges(pair.b, pair.pose_b, pairs[:, 1])[:, np.newaxis],
    ).reshape(-1, 3)
    normals = [np.cross(edges[:, 0], edges[:, 1]) for edges in (*met, *every)]
    between = (pair.points_b.mean(axis=0) - pair.points_a.mean(axis=0))[np.newaxis]
    kinds = [_spread(_distinct(rows), share) for rows in (*normals, products)]
    rest = _unit(np.concatenate((between, np.eye(3), *kinds)))
    return np.concatenate((_unit(hint[np.newaxis]), rest, -rest))


def _distinct(vectors: Floats) -> Floats:
    """Unit vectors without repetitions: those of a flat face cut into triangles are many."""
    units = _unit(vectors)
    return units[np.unique(np.round(units, 9), axis=0, return_index=True)[1]]
