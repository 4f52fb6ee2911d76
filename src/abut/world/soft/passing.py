"""Fast soft bodies: no vertex, edge or face of a continuous one passes through anything within a step, nor a continuous body through it.

A step is tried first. The paths of all vertices, straight from where they were to where the step took them, are then asked for first contacts
(`ccd.sweep`, whose times are never late) with the paths of what is near. What the solver holds moves to and fro by parts of a slop; a contact that
goes on by more than PASSED slops passes. It becomes a contact of its own, with the gap that it has at the beginning along its normal, and the step
is done again with it; where that does not help, less time passes for the bodies, so that they end a slop before. Balls and capsules are asked as the
meshes that picture them, which lie within them.
"""

import math

import numpy as np

from abut.ccd import EDGE_EDGE, FACE_VERTEX, VERTEX_FACE, Impacts, Motion, sweep
from abut.core.arrays import Floats, Integers
from abut.core.errors import Unsupported
from abut.mesh import Mesh
from abut.shapes.solids import Sphere
from abut.world.bodies.state import name_fields
from abut.world.bodies.store import Store
from abut.world.contacts.colliders import Colliders
from abut.world.contacts.points import ContactPoints, join_points, no_points
from abut.world.continuous.poses import place_at
from abut.world.continuous.stops import agree
from abut.world.linkages.joined import Joined
from abut.world.soft.bodies import Softs
from abut.world.soft.patches import Skin, locate

PASSED = 1.0
AHEAD = 1.0
"""in slops: so far before a contact a body ends that would pass"""
STRAIGHT = 0.1
"""In slops: a turn that takes no point farther off its straight way is none. Turning paths take some fifty times as long."""
OF_IMPACT = 1 << 59
"""The identity of a contact that is known by its impact."""


class Passing:
    """A step that was tried."""

    def __init__(
        self, store: Store, colliders: Colliders, softs: Softs, joined: Joined, skins: list[Skin], slop: float
    ) -> None:
        self.slop, self.softs = slop, softs
        self.store, self.colliders, self.joined = store, colliders, joined
        self.skins = {skin.slot: skin for skin in skins}
        self.before, self.after = name_fields(store.state), name_fields(joined.states())
        self.motions: dict[int, Motion] = {}

    def motion_of(self, collider: int) -> Motion:
        """How a collider moves."""
        if collider not in self.motions:
            slot = int(self.colliders.body[collider])
            self.motions[collider] = self._bend(slot) if slot in self.skins else self._move(collider)
        return self.motions[collider]

    def _bend(self, slot: int) -> Motion:
        skin = self.skins[slot]
        rows = self.joined.bodies["position"][skin.first : skin.first + len(skin.vertices)]
        return Motion(Mesh(skin.vertices, skin.faces), skin.vertices, rows)

    def _move(self, collider: int) -> Motion:
        shape = self.colliders.shapes[self.colliders.shape[collider]]
        mesh = self.softs.surface_of(shape)
        poses, ends = np.empty((2, 12)), np.tile(np.eye(4), (2, 1, 1))
        both, times = np.array([collider, collider]), np.array([0.0, 1.0])
        place_at(self.before, self.after, self.colliders.body, self.colliders.local, both, times, poses)
        ends[:, :3, :3], ends[:, :3, 3] = poses[:, :9].reshape(2, 3, 3), poses[:, 9:]
        if isinstance(shape, Sphere):  # a ball looks the same however it turns
            ends[:, :3, :3] = np.eye(3)
        vertices = [mesh.vertices @ end[:3, :3].T + end[:3, 3] for end in ends]
        cosine = min(1.0, max(-1.0, 0.5 * (float(np.trace(ends[0, :3, :3].T @ ends[1, :3, :3])) - 1.0)))
        angle, reach = math.acos(cosine), float(np.linalg.norm(mesh.vertices, axis=1).max())
        if angle * angle / 8.0 * reach <= STRAIGHT * self.slop:
            return Motion(mesh, *vertices)
        return Motion(mesh, ends[0], ends[1])

    def boxes(self, ids: Integers) -> Floats:
        """(k,6) around the paths of colliders."""
        ends = [np.concatenate((m.vertices_t0, m.vertices_t1)) for m in map(self.motion_of, ids.tolist())]
        return np.array([(*each.min(axis=0), *each.max(axis=0)) for each in ends]).reshape(-1, 6)


def find_passing(
    store: Store,
    colliders: Colliders,
    softs: Softs,
    joined: Joined,
    skins: list[Skin],
    known: ContactPoints,
    slop: float,
) -> tuple[Floats, ContactPoints]:
    """known: the contacts of the step that was tried.

    (n,) the part of the step after which soft bodies, and continuous bodies that meet them, would pass something; 1: they do not. And the contacts
    that would keep them from it."""
    times, rows = np.ones(len(store.alive)), [no_points()]
    fast = {each.slot for each in softs.bodies if each.is_continuous}
    bullets = store.movable & store.continuous & ~store.asleep
    if not skins or not (fast or bullets.any()):
        return times, rows[0]
    step = Passing(store, colliders, softs, joined, skins, slop)
    for skin in skins:
        own = int(np.flatnonzero(colliders.body == skin.slot)[0])
        others = np.flatnonzero((colliders.body >= 0) & (colliders.body != skin.slot))
        if skin.slot not in fast:
            others = others[bullets[colliders.body[others]]]
        slots = colliders.body[others]
        keys = (np.minimum(skin.slot, slots) << 32) | np.maximum(skin.slot, slots)
        met = agree(store, skin.slot, slots) & ~np.isin(keys, colliders.apart) & colliders.rules.allow(skin.slot, slots)
        others = others[met]
        box, boxes = step.boxes(np.array([own]))[0], step.boxes(others)
        near = others[((boxes[:, :3] <= box[3:]) & (boxes[:, 3:] >= box[:3])).all(axis=1)]
        for other in near.tolist():
            slot = int(colliders.body[other])
            touching = _find_touching(known, own, other, slop)
            time, found = _find_first(step.motion_of(own), step.motion_of(other), touching, slop)
            found.collider_a[:], found.collider_b[:] = own, other
            rows.append(found)
            times[skin.slot] = min(times[skin.slot], time)
            if bullets[slot] or slot in fast:
                times[slot] = min(times[slot], time)
    return times, join_points(rows)


def _find_touching(known: ContactPoints, a: int, b: int, slop: float) -> tuple[Floats, Floats]:
    """Points (k,3) where two colliders touch at the beginning, and normals (k,3) from a to b."""
    there = (known.separation <= slop) & (known.ids[:, 2] != OF_IMPACT)
    forth = there & (known.collider_a == a) & (known.collider_b == b)
    back = there & (known.collider_a == b) & (known.collider_b == a)
    normals = np.concatenate((known.normal[forth], -known.normal[back]))
    return np.concatenate((known.point[forth], known.point[back])), normals


def _find_first(a: Motion, b: Motion, touching: tuple[Floats, Floats], slop: float) -> tuple[float, ContactPoints]:
    """When two motions shall stop, 1 if nothing passes; and the contacts by which they pass, as they are at the beginning.

    What is a part of a slop deep at the beginning crosses the surface when it leaves, too: it comes out against the normal of the contact there."""
    try:
        hits = sweep(a, b)
    except Unsupported:  # a speck of a mesh beside a vast one: the contact margin is all it has
        return 1.0, no_points()
    sides = [_Side(motion, hits, side) for side, motion in enumerate((a, b))]
    along = ((sides[0].moved - sides[1].moved) * hits.normal).sum(axis=1)
    passing = (1.0 - hits.time) * along > PASSED * slop
    points, normals = touching
    if len(points) and passing.any():
        nearest = np.argmin(((hits.point[:, np.newaxis] - points) ** 2).sum(axis=2), axis=1)
        passing &= (hits.normal * normals[nearest]).sum(axis=1) >= 0.0
    passes = np.flatnonzero(passing)
    if not len(passes):
        return 1.0, no_points()
    normal, start = hits.normal[passes], sides[0].start[passes]
    gap = ((sides[1].start[passes] - start) * normal).sum(axis=1, keepdims=True)
    numbers = np.concatenate((start + 0.5 * gap * normal, normal, gap), axis=1)
    ids = np.zeros((len(passes), 5), np.int64)
    ids[:, 0], ids[:, 1] = sides[0].face[passes], sides[1].face[passes]
    ids[:, 2] = OF_IMPACT
    time = np.maximum(hits.time[passes] - AHEAD * slop / along[passes], 0.0).min()
    return float(time), ContactPoints(numbers, ids)


class _Side:
    """The points of one motion at which impacts (n,) are: face, and place and way on it."""

    def __init__(self, motion: Motion, hits: Impacts, side: int) -> None:
        mesh, number = motion.mesh, (hits.a, hits.b)[side]
        rows = np.arange(len(mesh.faces))
        by_vertex, by_edge = np.zeros(len(mesh.vertices), np.int64), np.zeros(len(mesh.edges), np.int64)
        by_vertex[mesh.faces] = rows[:, np.newaxis]
        by_edge[mesh.face_edges] = rows[:, np.newaxis]
        is_edge, is_vertex = hits.kind == EDGE_EDGE, hits.kind == (VERTEX_FACE, FACE_VERTEX)[side]
        self.face = number.copy()
        self.face[is_edge], self.face[is_vertex] = by_edge[number[is_edge]], by_vertex[number[is_vertex]]
        corners = mesh.faces[self.face]
        start, end = motion.vertices_t0[corners], motion.vertices_t1[corners]
        time = hits.time[:, np.newaxis, np.newaxis]
        parts = locate(hits.point, (1.0 - time) * start + time * end)[:, :, np.newaxis]
        self.start = (parts * start).sum(axis=1)
        self.moved = (parts * (end - start)).sum(axis=1)
