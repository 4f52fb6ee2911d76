"""Where soft bodies are touched: a contact of a face pushes its three corners, each by the barycentric coordinate of the point.

The narrow phase gives a row for each pair of faces, or of a core and a face. A vertex has some six faces, and would be pushed by each of them: of the
rows that are at one vertex and push the same way, the one with the least separation stands for all.

The point of a contact is put on the face. There an impulse acts on both sides, so that it changes no angular momentum.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.core.records import Records
from abut.impulses.records import ALONE
from abut.world.contacts.points import ContactPoints

AT_VERTEX = 1.0 - 1e-6
"""A point with this barycentric coordinate is at that corner of its face."""
ALIKE = 0.9
"""Cosine of normals from which on two rows push a vertex the same way: two walls of a corner do not."""


class Skin(NamedTuple):
    """The surface of a soft body that is awake."""

    slot: int
    first: int
    """row of its first particle among the bodies of the solver"""
    faces: Integers
    vertices: Floats


class Patches(NamedTuple):
    """Of contacts, the faces of soft bodies that they are on."""

    rows: Integers
    """(n,2,3) particles of each side; ALONE for what is no patch"""
    parts: Floats
    """(n,2,3) barycentric coordinates"""

    @property
    def are_soft(self) -> NDArray[np.bool_]:
        """(n,2) sides that are patches."""
        return self.rows[:, :, 0] != ALONE

    def take(self, rows: Any) -> "Patches":
        """Some of them."""
        return Patches(self.rows[rows], self.parts[rows])


def find_patches(skins: Sequence[Skin], found: ContactPoints, pairs: Integers) -> Patches:
    """The patches of contacts between pairs (n,2) of bodies."""
    patches = Patches(np.full((len(pairs), 2, 3), ALONE), np.zeros((len(pairs), 2, 3)))
    for skin in skins:
        for side, (face, sign) in enumerate(((found.face_a, -0.5), (found.face_b, 0.5))):
            at = np.flatnonzero(pairs[:, side] == skin.slot)
            corners = skin.faces[face[at]]
            point = found.point[at] + (sign * found.separation[at])[:, np.newaxis] * found.normal[at]
            patches.rows[at, side] = skin.first + corners
            patches.parts[at, side] = locate(point, skin.vertices[corners])
    return patches


def locate(points: Floats, corners: Floats) -> Floats:
    """(n,3) barycentric coordinates of points (n,3), or of points nearby, in triangles (n,3,3); those of one without area are of its first corner."""
    u, v, w = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0], points - corners[:, 0]
    across = np.cross(u, v)
    square = (across**2).sum(axis=1)
    tiny = np.finfo(np.float64).tiny
    second = (np.cross(w, v) * across).sum(axis=1) / np.maximum(square, tiny)
    third = (np.cross(u, w) * across).sum(axis=1) / np.maximum(square, tiny)
    parts = np.stack((1.0 - second - third, second, third), axis=1)
    parts[~(square > 0.0)] = (1.0, 0.0, 0.0)
    parts = np.clip(parts, 0.0, 1.0)
    return parts / parts.sum(axis=1, keepdims=True)


def choose_rows(patches: Patches, found: ContactPoints) -> Integers:
    """Which contacts count: of those at one vertex of a soft body that push it the same way the nearest, and all others."""
    kept = np.ones(len(found.ids), np.bool_)
    for side in (0, 1):
        corner = np.argmax(patches.parts[:, side], axis=1)
        at = np.flatnonzero(patches.are_soft[:, side] & (patches.parts[:, side].max(axis=1) >= AT_VERTEX) & kept)
        if len(at) < 2:
            continue
        vertex, keys = patches.rows[at, side, corner[at]], found.keys[at]
        order = np.lexsort((found.separation[at], vertex, keys))
        at, vertex, keys = at[order], vertex[order], keys[order]
        fresh = np.ones(len(at), np.bool_)
        fresh[1:] = (vertex[1:] != vertex[:-1]) | (keys[1:] != keys[:-1])
        nearest = at[np.flatnonzero(fresh)[np.cumsum(fresh) - 1]]
        alike = (found.normal[at] * found.normal[nearest]).sum(axis=1) >= ALIKE
        kept[at[alike & ~fresh]] = False
    return np.flatnonzero(kept)


def move_points(patches: Patches, found: ContactPoints, bodies: Records) -> ContactPoints:
    """The contacts, with their points on the faces of soft bodies; between two of these, where they were."""
    soft = patches.are_soft
    alone = soft[:, 0] != soft[:, 1]
    if not alone.any():
        return found
    numbers = found.numbers.copy()
    side = np.where(soft[alone, 0], 0, 1)
    at = np.flatnonzero(alone)
    corners = bodies["position"][patches.rows[at, side]]
    numbers[at, :3] = (patches.parts[at, side][:, :, np.newaxis] * corners).sum(axis=1)
    return ContactPoints(numbers, found.ids)


def lay_patches(patches: Patches, contacts: Records) -> None:
    """Give contacts (n,) their patches."""
    for column, side in enumerate("ab"):
        at = np.flatnonzero(patches.are_soft[:, column])
        rows, parts = patches.rows[at, column], patches.parts[at, column]
        for k, name in enumerate(("body", "end", "third")):
            contacts[f"{name}_{side}"][at] = rows[:, k]
        contacts[f"share_{side}"][at], contacts[f"part_{side}"][at] = parts[:, 1], parts[:, 2]
        contacts[f"radius_{side}"][at] = 0.0
