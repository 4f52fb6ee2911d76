"""What lies wholly inside a closed surface: it touches no triangle, and yet it collides.

Its depth is how far it must go to be out, on the path to the point of the surface that is nearest to it: the distance to that point and its own
width along the path.
"""

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.discrete import contains, distance
from abut.shapes.pool import KIND, SURFACE, Cores
from abut.shapes.round.support import find_farthest
from abut.shapes.surface_gap import find_closest
from abut.shapes.surfaces import FRONT, Soft, Surface, Terrain
from abut.world.contacts.colliders import Colliders
from abut.world.contacts.points import ContactPoints, join_points
from abut.world.contacts.surface_contacts import place_surface


def find_held(colliders: Colliders, surfaces: Integers, points: Floats, *, ground: bool = False) -> NDArray[np.bool_]:
    """(k,) whether each of the colliders `surface_contacts` is solid and holds a point (k,3). ground: terrains count too."""
    held = np.zeros(len(surfaces), np.bool_)
    for collider in np.unique(surfaces).tolist():
        shape = colliders.shapes[colliders.shape[collider]]
        on = np.flatnonzero(surfaces == collider)
        if isinstance(shape, Terrain) and ground:
            turn, at = colliders.poses[collider, :9].reshape(3, 3), colliders.poses[collider, 9:]
            held[on] = shape.hold((points[on] - at) @ turn)
        elif isinstance(shape, Surface | Soft) and shape.side == FRONT:
            held[on] = contains(place_surface(shape, colliders.poses[collider], 0), points[on])
    return held


def turn_inside_out(cores: Cores, shape: int, pose: Floats, numbers: Floats) -> None:
    """Make of the distance of a core inside a surface, its normal and the surface's point (7,) what they are for one that is too deep."""
    x, y, z = (numbers[1:4] @ pose[:9].reshape(3, 3)).tolist()
    ends = np.array((find_farthest(cores, shape, (x, y, z)), find_farthest(cores, shape, (-x, -y, -z))))
    width = (ends[0] - ends[1]) @ (x, y, z) + 2.0 * cores.radius[shape]
    numbers[0] = -(numbers[0] + width)
    numbers[1:4] *= -1.0


def add_held(colliders: Colliders, pairs: Integers, found: ContactPoints) -> ContactPoints:
    """The contacts of pairs of colliders, and one for each pair of which one holds the other."""
    boxes, table = colliders.boxes, colliders.pool.cores.table
    pairs = pairs[table[colliders.shape[pairs[:, 1]] + 1, KIND] == SURFACE]  # of two, a surface comes second
    if not len(pairs):
        return found
    inside = (boxes[pairs[:, 0], :3] >= boxes[pairs[:, 1], :3]) & (boxes[pairs[:, 0], 3:] <= boxes[pairs[:, 1], 3:])
    around = (boxes[pairs[:, 1], :3] >= boxes[pairs[:, 0], :3]) & (boxes[pairs[:, 1], 3:] <= boxes[pairs[:, 0], 3:])
    is_mesh = table[colliders.shape[pairs[:, 0]] + 1, KIND] == SURFACE
    maybe = inside.all(axis=1) | (is_mesh & around.all(axis=1))
    touching = {(i, j) for i, j in found.colliders.tolist()}
    left = [k for k in np.flatnonzero(maybe).tolist() if tuple(pairs[k].tolist()) not in touching]
    if not left:
        return found
    chosen = pairs[left]
    middles = 0.5 * (boxes[chosen[:, 0], :3] + boxes[chosen[:, 0], 3:])
    held = find_held(colliders, chosen[:, 1], middles) & ~is_mesh[left]
    parts = [found]
    for k in np.flatnonzero(held | is_mesh[left]).tolist():
        pair = int(chosen[k, 0]), int(chosen[k, 1])
        numbers = _measure_meshes(colliders, *pair) if is_mesh[left[k]] else _measure_core(colliders, *pair)
        point = ContactPoints(numbers[np.newaxis], np.array([[-1, -1, 0, *pair]]))
        if point.separation[0] < 0.0:
            parts.append(point)
    return join_points(parts)


def _measure_core(colliders: Colliders, i: int, j: int) -> Floats:
    """Point, normal and separation (7,) of a core i inside a surface j."""
    pool, both = colliders.pool, np.array([i, j])
    poses, shapes, found = colliders.poses[both], colliders.shape[both] + 1, np.full((1, 7), np.inf)
    find_closest(pool.cores, pool.trees, colliders.room[0], poses, shapes, np.array([[0, 1]]), found, np.full(1, -1))
    numbers = found[0]
    turn_inside_out(pool.cores, int(shapes[0]), poses[0], numbers)
    return np.concatenate((numbers[4:], numbers[1:4], numbers[:1]))


def _measure_meshes(colliders: Colliders, i: int, j: int) -> Floats:
    """The same of two surfaces, one of which may hold the other: then the separation is negative."""
    bodies = []
    for side, collider in enumerate((i, j)):
        shape = colliders.shapes[colliders.shape[collider]]
        if not isinstance(shape, Surface | Soft) or shape.side != FRONT:
            return np.zeros(7)
        bodies.append(place_surface(shape, colliders.poses[collider], side))
    found = distance(*bodies)
    across = found.point_a - found.point_b if found.distance < 0.0 else np.zeros(3)
    length = float(np.linalg.norm(across))
    normal = across / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
    return np.concatenate((0.5 * (found.point_a + found.point_b), normal, [found.distance]))
