"""How deep a convex shape and another are in each other, as meshes are: the point of either surface that is deepest inside the other one.

The point of a that is deepest inside b touches what is left of b where it is deeper than that (`erosion`): one searches for the depth at which the
rest of b only touches a. Depths rise with it, so that they are bracketed, to EXACT of the shape's inner ball. Where the middle of b's inner ball is
inside a, the deepest points of all are not on the surface of a; those on it are sampled, nearer and nearer to the best: to about 0.5 % of the depth.
Likewise points of a convex shape inside a mesh; those of the contacts are tried first, so that shallow contacts are as deep as they are.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import optimize

from abut.convex import track_many
from abut.core.arrays import Floats
from abut.discrete import closest_points, signed_distance
from abut.discrete.bodies import move
from abut.shapes.columns import FACETED, GAP, GAP_NORMAL, GAP_POINT
from abut.shapes.pool import FORM, build_pool, make_room
from abut.shapes.questions.erosion import Ball, depths_inside, erode, find_inner_ball
from abut.shapes.round.axis import refine_tracks
from abut.shapes.solids import Cone, Convex, Cylinder, Plane, Shape
from abut.shapes.surface_gap import find_closest
from abut.shapes.surfaces import FRONT, Soft, Surface

EXACT = 1e-10
"""Of the inner ball's radius: how exactly the depth is bracketed."""
LEFT = 1e-6
"""Of the inner ball's radius: a rest of the shape so small is its middle."""
DIRECTIONS = 4000
ROUNDS = 8
"""Of sampling, each in a third of the last one's width."""
ROUNDER = 1e3
"""Times what rounding makes of coordinates: what the depth of round shapes may be off (`round.axis.AGREED`), and more."""
TURN = np.pi * (3.0 - np.sqrt(5.0))


class Deepest(NamedTuple):
    """The pointwise depth, 0 if nothing is inside; and the points of the convex shape and of the other that show it."""

    depth: float
    own: Floats
    other: Floats


NOTHING = Deepest(0.0, np.zeros(3), np.zeros(3))


def measure(a: Convex, pose_a: Floats, b: Convex, pose_b: Floats) -> tuple[float, Floats, Floats, Floats]:
    """Signed distance of two convex shapes, the normal, and the nearest or deepest points of both; the depth is the shortest way apart."""
    pool, poses, which, pairs = build_pool([a, b]), np.stack((pose_a, pose_b)), np.array([1, 2]), np.array([[0, 1]])
    found = track_many(pool.hulls, pairs, poses, which=which)
    gap, normal, p, q = (x.copy() for x in (found.distance, found.normal, found.point_a, found.point_b))
    if pool.cores.table[:, FORM].any():
        rows = np.concatenate((poses[:, :3, :3].reshape(-1, 9), poses[:, :3, 3]), axis=1)
        refine_tracks(pool.cores, rows, which, pairs, gap, normal, p, q)
    value = float(gap[0]) - a.radius - b.radius
    return value, normal[0], p[0] + a.radius * normal[0], q[0] - b.radius * normal[0]


def _measure_surface(a: Convex, pose_a: Floats, b: Shape, pose_b: Floats) -> tuple[float, Floats, Floats]:
    """The same of a convex shape and the triangles of a surface, at most 0 where they meet; without the own point."""
    pool, poses, which = build_pool([a, b]), np.stack((pose_a, pose_b)), np.array([1, 2])
    rows, found = np.concatenate((poses[:, :3, :3].reshape(-1, 9), poses[:, :3, 3]), axis=1), np.full((2, 7), np.inf)
    bundle = (make_room(pool)[0], rows, which, np.array([[0, 1]]), found, np.full(2, -1))
    find_closest(pool.cores, pool.trees, *bundle)
    return float(found[0, GAP]), found[0, GAP_NORMAL:GAP_POINT], found[0, GAP_POINT:]


def _find_root(rising: Callable[[float], float], most: float, exactly: float) -> float:
    """Where a function that rises with its argument passes 0, between 0 and `most`."""
    found: Any = optimize.brentq(rising, 0.0, most, xtol=exactly)
    return float(found)


def _rest(shape: Convex, pose: Floats, depth: float, ball: Ball) -> tuple[Convex, Floats]:
    """What is so deep in a shape, and its pose."""
    left, origin = erode(shape, depth, ball)
    place = pose.copy()
    place[:3, 3] += pose[:3, :3] @ origin
    return left, place


def find_deepest_convex(a: Convex, pose_a: Floats, b: Convex, pose_b: Floats) -> Deepest:
    """Of two convex shapes."""
    in_b = _deepest_of(a, pose_a, b, pose_b)
    in_a = _deepest_of(b, pose_b, a, pose_a)
    return in_b if in_b.depth >= in_a.depth else Deepest(in_a.depth, in_a.other, in_a.own)


def _deepest_of(a: Convex, pose_a: Floats, b: Convex, pose_b: Floats) -> Deepest:
    """The point of a's surface that is deepest inside b, and b's nearest to it."""
    ball = find_inner_ball(b)
    if measure(a, pose_a, b, pose_b)[0] >= 0.0:
        return NOTHING
    most = (1.0 - LEFT) * ball[1]
    if np.isinf(most):  # what is deepest below a plane is its lowest point
        gap, normal, p, q = measure(a, pose_a, b, pose_b)
        return Deepest(-gap, p, q)

    def gap_to_rest(depth: float) -> float:
        return measure(a, pose_a, *_rest(b, pose_b, depth, ball))[0]

    if gap_to_rest(most) <= 0.0:
        return _deepest_sample(a, pose_a, b, pose_b)
    depth = _find_root(gap_to_rest, most, EXACT * ball[1])
    _, normal, p, _ = measure(a, pose_a, *_rest(b, pose_b, depth, ball))
    return Deepest(depth, p, p - depth * normal)


def find_deepest_surface(a: Convex, pose_a: Floats, b: Shape, pose_b: Floats, hints: Floats) -> Deepest:
    """Of a convex shape and a surface. hints (k,3): points of the shape to be tried beside the samples."""
    best = NOTHING
    if not isinstance(b, Surface | Soft):
        return best
    ball = find_inner_ball(a)
    most = 1e300 if np.isinf(ball[1]) else (1.0 - LEFT) * ball[1]
    if np.isinf(ball[1]):
        gap, normal, q = _measure_surface(a, pose_a, b, pose_b)
        if gap < 0.0:
            best = Deepest(-gap, q - gap * normal, q)
    elif _measure_surface(a, pose_a, b, pose_b)[0] < 0.0:

        def gap_to_rest(depth: float) -> float:
            left, place = _rest(a, pose_a, depth, ball)
            return _measure_surface(left, place, b, pose_b)[0]

        depth = most
        if gap_to_rest(most) > 0.0:
            depth = _find_root(gap_to_rest, most, EXACT * ball[1])
        left, place = _rest(a, pose_a, depth, ball)
        _, normal, q = _measure_surface(left, place, b, pose_b)
        best = Deepest(depth, q + depth * normal, q)
    if b.side != FRONT or isinstance(a, Plane):
        return best
    body = b.body if isinstance(b, Soft) else move(b.bodies[0], pose_b)

    def depths_of(points: Floats) -> Floats:
        return -signed_distance(body, points).distance

    depth, own = _sample(a, pose_a, depths_of, hints)
    if depth <= best.depth:
        return best
    return Deepest(depth, own, closest_points(body, own[np.newaxis]).point[0])


def _deepest_sample(a: Convex, pose_a: Floats, b: Convex, pose_b: Floats) -> Deepest:
    """As `_deepest_of`, where the point that is deepest of all is not on a's surface."""

    def depths_of(points: Floats) -> Floats:
        return depths_inside(b, (points - pose_b[:3, 3]) @ pose_b[:3, :3])

    depth, own = _sample(a, pose_a, depths_of, np.zeros((0, 3)))
    if depth <= 0.0:
        return NOTHING
    # Towards the surface the depth falls as fast as it can: its gradient, by differences.
    steps: Floats = 1e-6 * depth * np.concatenate((np.eye(3), -np.eye(3)))
    around = depths_of(own + steps)
    way = around[:3] - around[3:]
    length = float(np.linalg.norm(way))
    return Deepest(depth, own, own - depth * way / length if length > 0.0 else own)


def _sample(a: Convex, pose_a: Floats, depths_of: Callable[[Floats], Floats], hints: Floats) -> tuple[float, Floats]:
    """The deepest point that is found on a's surface, and its depth, 0 or more: of the hints, and of points straight out of its middle."""
    if isinstance(a, Plane):
        return 0.0, np.zeros(3)
    middle, width = find_inner_ball(a)[0], 2.0
    heading: Floats = np.array([0.0, 0.0, 1.0])
    best, found = 0.0, pose_a[:3, 3]
    if len(hints):
        depths = depths_of(hints)
        best, found = max(0.0, float(depths.max())), hints[int(np.argmax(depths))]
        heading = (found - pose_a[:3, 3]) @ pose_a[:3, :3] - middle
    count = np.arange(DIRECTIONS)
    angle, far = TURN * count, float(np.linalg.norm(a.core.vertices - middle, axis=1).max()) + 2.0 * a.radius
    for _ in range(ROUNDS):
        length = float(np.linalg.norm(heading))
        z: Floats = heading / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
        x: Floats = np.asarray(np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))]), np.float64)
        x = x / np.linalg.norm(x)
        up = 1.0 - width * (count + 0.5) / DIRECTIONS  # a cap of the sphere of directions, spread evenly
        across = np.sqrt(np.maximum(1.0 - up * up, 0.0))
        around = across * np.cos(angle), across * np.sin(angle)
        directions: Floats = np.stack((*around, up), axis=1) @ np.stack((x, np.cross(z, x), z))
        low, high = np.zeros(DIRECTIONS), np.full(DIRECTIONS, far)
        for _ in range(48):
            half = 0.5 * (low + high)
            inside = depths_inside(a, middle + half[:, np.newaxis] * directions) > 0.0
            low, high = np.where(inside, half, low), np.where(inside, high, half)
        points = (middle + low[:, np.newaxis] * directions) @ pose_a[:3, :3].T + pose_a[:3, 3]
        depths = depths_of(points)
        k = int(np.argmax(depths))
        if depths[k] > best:
            best, found = float(depths[k]), points[k]
        heading, width = (found - pose_a[:3, 3]) @ pose_a[:3, :3] - middle, width / 9.0
    return best, found


def find_parting(a: Convex, pose_a: Floats, b: Shape, pose_b: Floats) -> Floats:
    """(3,) a translation of b that parts the two: of two convex shapes the shortest, else the shortest of those tried to a plane between them."""
    if isinstance(b, Convex):
        gap, normal, _, _ = measure(a, pose_a, b, pose_b)
        beside = _rounding(a, pose_a, b.core.vertices, pose_b)
        if a.form.kind != FACETED or b.form.kind != FACETED:
            beside *= ROUNDER
        return (max(0.0, -gap) + beside) * normal
    assert isinstance(b, Surface | Soft)
    vertices = b.vertices[np.unique(b.mesh.faces)] @ pose_b[:3, :3].T + pose_b[:3, 3]
    if isinstance(a, Plane):
        directions = (pose_a[:3, :3] @ a.normal)[np.newaxis]
    else:
        count = np.arange(DIRECTIONS)
        up = 1.0 - 2.0 * (count + 0.5) / DIRECTIONS
        across = np.sqrt(1.0 - up * up)
        spread = np.stack((across * np.cos(TURN * count), across * np.sin(TURN * count), up), axis=1)
        corners = b.vertices[b.mesh.faces] @ pose_b[:3, :3].T
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normals = normals[(np.abs(normals) > 0.0).any(axis=1)][:DIRECTIONS]
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        axes = np.concatenate((pose_a[:3, :3].T, -pose_a[:3, :3].T))
        directions = np.concatenate((spread, normals, -normals, axes))
    lengths = _reaches(a, pose_a, directions) - (vertices @ directions.T).min(axis=0)
    k = int(np.argmin(lengths))
    return (max(0.0, float(lengths[k])) + _rounding(a, pose_a, vertices, np.eye(4))) * directions[k]


def _rounding(a: Convex, pose_a: Floats, vertices: Floats, pose_b: Floats) -> float:
    """What coordinates of the two are rounded to, many times."""
    sizes = np.abs(a.core.vertices).max() + a.radius, np.abs(pose_a[:3, 3]).max(), np.abs(vertices).max()
    return 1e-12 * float(sum(sizes) + np.abs(pose_b[:3, 3]).max()) + 1e-300


def _reaches(a: Convex, pose_a: Floats, directions: Floats) -> Floats:
    """(k,) how far a shape reaches along directions."""
    own, at = directions @ pose_a[:3, :3], directions @ pose_a[:3, 3]
    if isinstance(a, Plane):
        return at + a.offset
    if isinstance(a, Cylinder | Cone) and a.sides is None:
        across, up = a.round * np.hypot(own[:, 0], own[:, 1]), 0.5 * a.length * own[:, 2]
        return at + np.maximum(across - up, across + up if isinstance(a, Cylinder) else up)
    return at + (own @ a.core.vertices.T).max(axis=1) + a.radius
