"""The shapes of bodies in the world: sweep and prune finds which may touch, the narrow phase where they do (Peyré 2001, chapter 2).

A collider is one shape of one body. Its number is its handle in the sweep and prune. Boxes there are larger than the colliders by FAT of their
size, and are only moved when a collider leaves its own: what rests costs nothing.
"""

from typing import NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray

from abut.broad import SweepAndPrune
from abut.convex import Hulls
from abut.convex.tracking import Desk
from abut.core.arrays import Floats, Integers
from abut.core.errors import Unsupported
from abut.shapes.narrow_phase import meet_pairs
from abut.shapes.pool import (
    FACE,
    FORM,
    KIND,
    POINT,
    ROOT,
    SURFACE,
    T0,
    Pool,
    append_core,
    bound_nodes,
    build_pool,
    guest_of,
    make_room,
)
from abut.shapes.solids import Convex, Form, Shape
from abut.shapes.surfaces import Soft, Surface, Terrain
from abut.world.bodies.state import name_fields
from abut.world.bodies.store import STATIC, Store
from abut.world.contacts.hull_tracking import FeatureMemory, describe, square
from abut.world.contacts.one_way import Gates
from abut.world.contacts.pair_rules import PairRules
from abut.world.contacts.pairs import choose_pairs, find_left, sort_pairs
from abut.world.contacts.placement import bound_colliders, place_colliders
from abut.world.contacts.points import ContactPoints, join_points
from abut.world.contacts.surface_contacts import meet_surfaces

FAT = 0.1
NOWHERE = -1
UNPLACED = np.concatenate((np.eye(3).ravel(), np.zeros(3)))
MOST_ASKED = 4
"""Colliders that a guest is compared with at once."""
MOST_GUESTS = 8
"""So many cores of shapes that were asked about stay laid out beside the world's own."""
MOST_EXTENT = 1e6
"""Boxes grow by a part of the collider's size, but of no more than this."""


class Guest(NamedTuple):
    """The pool with the core of a shape that is asked about as the last of its table, and working memory."""

    pool: Pool
    room: tuple[Floats, Integers]
    desk: Desk
    has_surfaces: bool
    is_faceted: bool
    """whether every core is the shape itself"""


class Colliders:
    """See above. `body`, `shape` (an index into `shapes`), `part` (its number within the body) and `local` have one row per collider."""

    def __init__(self) -> None:
        self.sap = SweepAndPrune()
        self.shapes: list[Shape] = []
        self.body = np.empty(0, np.int64)
        self.shape = np.empty(0, np.int64)
        self.part = np.empty(0, np.int64)
        self.local = np.empty((0, 12))
        self.poses = np.empty((0, 12))
        self.boxes = np.empty((0, 6))
        self.fat = np.empty((0, 6))
        self.rows = 256
        self.apart = np.empty(0, np.int64)
        """pairs of bodies that do not meet, smaller · 2³² + larger"""
        self.memory, self.outline_memory = FeatureMemory(), FeatureMemory()
        self.rules, self.gates = PairRules(), Gates()
        self._forget()

    def _forget(self) -> None:
        self._pool: Pool | None = None
        self._room = (np.empty(0), np.empty(0, np.int64))
        self._square = np.empty((0, 4, 4))
        self._placed_at = NOWHERE
        self._guests: dict[tuple[int, Form], Guest] = {}
        self._outlines: Hulls | None = None
        self._index = {id(shape): i for i, shape in enumerate(self.shapes)}
        self._soft = [(i, shape) for i, shape in enumerate(self.shapes) if isinstance(shape, Soft)]
        self._versions: dict[int, int] = {}

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._forget()

    @property
    def pool(self) -> Pool:
        """The shapes as kernels want them. Shapes that no collider has any more are dropped when new ones come."""
        if self._pool is None:
            used = np.unique(self.shape[self.shape >= 0])
            number = np.full(len(self.shapes) + 1, NOWHERE)
            number[used] = np.arange(len(used))
            self.shapes = [self.shapes[i] for i in used]
            self.shape = np.where(self.shape >= 0, number[self.shape], NOWHERE)
            self._forget()
            self._pool = build_pool(self.shapes)
            self._room = make_room(self._pool)
        self._refresh(self._pool)
        return self._pool

    @property
    def room(self) -> tuple[Floats, Integers]:
        """Working memory for the kernels."""
        return self._room

    def host(self, shape: Convex) -> Guest:
        """A shape beside those of the world. The pool is laid out with it once, as long as neither it nor the pool changes."""
        pool, key = self.pool, (id(shape.core.hull), shape.form)  # the hull: which the guest's own pool holds on to
        guest = self._guests.pop(key, None)
        if guest is None:
            joined = append_core(pool, shape)
            has_surfaces = bool(joined.cores.table[:, KIND].any())
            is_faceted = not joined.cores.table[:, FORM].any()
            guest = Guest(joined, make_room(joined), Desk(joined.hulls, MOST_ASKED), has_surfaces, is_faceted)
        self._guests[key] = guest
        if len(self._guests) > MOST_GUESTS:
            del self._guests[next(iter(self._guests))]
        guest.pool.cores.radius[guest_of(guest.pool.cores.table)] = shape.radius
        return guest

    def has_deformed(self) -> bool:
        """Whether a deformable body was updated since it was last looked at."""
        return any(self._versions.get(i) != shape.body._version for i, shape in self._soft)

    def _refresh(self, pool: Pool) -> None:
        """Take note of what deformable bodies did."""
        for i, shape in self._soft:
            if self._versions.get(i) == shape.body._version:
                continue
            root, first = (int(pool.cores.table[i + 1, column]) for column in (ROOT, T0))
            triangle = pool.trees.triangles[first]
            start = int(triangle[0] - shape.mesh.faces[triangle[FACE], 0])
            pool.trees.points[start : start + len(shape.vertices)] = shape.vertices
            bound_nodes(*pool.trees[:4], root, root + _tree_size(pool, root))
            self._versions[i] = shape.body._version

    def add(self, store: Store, slots: Integers, shape: Shape, local: Floats) -> Integers:
        """One collider for each slot, all of one shape; `local` (12,) is its place seen from the center of mass."""
        middle, reach = store.position[slots], store.radius[slots, np.newaxis]
        handles = self.sap.add(np.concatenate((middle - reach, middle + reach), axis=1))
        size = int(handles.max()) + 1 if len(handles) else 0
        if size > len(self.body):
            more = size - len(self.body)
            self.body = np.concatenate((self.body, np.full(more, NOWHERE)))
            self.shape = np.concatenate((self.shape, np.full(more, NOWHERE)))
            self.part = np.concatenate((self.part, np.zeros(more, np.int64)))
            self.local = np.concatenate((self.local, np.zeros((more, 12))))
            self.poses = np.concatenate((self.poses, np.tile(UNPLACED, (more, 1))))
            self.boxes = np.concatenate((self.boxes, np.zeros((more, 6))))
            self.fat = np.concatenate((self.fat, np.zeros((more, 6))))
        if id(shape) not in self._index:
            self._index[id(shape)] = len(self.shapes)
            if isinstance(shape, Soft):
                self._soft.append((len(self.shapes), shape))
            self.shapes.append(shape)
            self._pool = None
        self.body[handles] = slots
        self.shape[handles] = self._index[id(shape)]
        self.local[handles] = local
        self.fat[handles] = 0.0
        return np.array(handles)

    def find_shapes(self, versions: dict[int, tuple[int, int]]) -> list[tuple[Integers, int, int]]:
        """Of shapes by their ids, the bodies (k,) that have them, and what is said of each."""
        return [
            (self.body[(self.shape == i) & (self.body >= 0)], *versions[id(shape)])
            for i, shape in enumerate(self.shapes)
            if id(shape) in versions
        ]

    def remove(self, slots: Integers) -> None:
        """Take out the colliders of bodies."""
        gone = np.flatnonzero(np.isin(self.body, slots))
        self.body[gone] = self.shape[gone] = NOWHERE
        self.sap.remove(gone)
        self.memory.forget(gone)
        self.outline_memory.forget(gone)
        self.rules.forget(slots)
        self.sap.report()  # its numbers may be given again

    def settle(self, store: Store, growth: float) -> bool:
        """Place all colliders for a question, unless nothing has moved since the last one. Whether something had."""
        if self._placed_at == store.moves and not self.has_deformed():
            return False
        self.place(store, np.full(len(store.alive), growth))
        self._placed_at = store.moves
        return True

    def place(self, store: Store, growth: Floats) -> None:
        """Poses and boxes of all colliders; those that left their fat box get a new one. growth (n,): of each body."""
        pool = self.pool
        self._placed_at = NOWHERE  # `step` moves bodies after it has placed them
        place_colliders(name_fields(store.state), self.body, self.local, self.poses)
        self._square = square(self.poses)
        pooled = np.where(self.shape >= 0, self.shape + 1, NOWHERE)
        bound_colliders(pool.cores, pool.trees.boxes, pooled, self.poses, self.boxes)
        left = np.empty(len(self.body), np.int64)
        ids = left[: find_left(self.body, self.boxes, growth, self.fat, left)]
        if not len(ids):
            return
        grown = growth[self.body[ids]][:, np.newaxis]
        low, high = self.boxes[ids, :3] - grown, self.boxes[ids, 3:] + grown
        extent = np.minimum((high - low).max(axis=1, keepdims=True), MOST_EXTENT)
        still = store.kind[self.body[ids]] == STATIC
        extra = np.where(still[:, np.newaxis], 0.0, FAT * extent) + 1e-9 * extent
        self.fat[ids] = np.concatenate((low - extra, high + extra), axis=1)
        self.sap.update(ids, self.fat[ids])

    def find_soft(self, count: int) -> NDArray[np.bool_]:
        """(count,) bodies that deform."""
        soft = np.zeros(count, np.bool_)
        for i, _ in self._soft:
            soft[self.body[(self.shape == i) & (self.body >= 0)]] = True
        return soft

    def find_pairs(self, store: Store) -> Integers:
        """(p,2) colliders that may touch: of two bodies, not both static, whose layers and masks agree. A core comes before a surface."""
        moving = store.kind != STATIC
        return self.find_near(store, np.full(len(moving), np.inf), moving, moving)[0]

    def find_near(
        self,
        store: Store,
        growth: Floats,
        busy: NDArray[np.bool_],
        wanted: NDArray[np.bool_],
        *,
        sensing: bool = False,
    ) -> tuple[Integers, Floats]:
        """(p,2) the same whose boxes, grown by their bodies' growths (n,), meet, and both growths together (p,): the margins for `meet`.

        Only pairs with a body that is busy (n,), and with a body, the same or the other, that is wanted (n,). sensing: sensors count too."""
        keys = self.sap.keys
        pairs, margins = np.empty((len(keys), 2), np.int64), np.empty(len(keys))
        layer = store.layer if sensing else store.solid_layer
        filters = np.stack((layer, store.mask, busy.astype(np.int64), wanted.astype(np.int64)), axis=1)
        ages = store.handles(np.arange(len(store.alive)))
        table = self.pool.cores.table
        count = choose_pairs(keys, self.body, self.shape, self.boxes, table, ages, filters, growth, pairs, margins)
        bodies = self.body[pairs[:count]]
        groups = store.group[bodies]
        kept = (groups[:, 0] != groups[:, 1]) | (groups[:, 0] == 0)
        if len(self.apart):
            kept &= ~np.isin((bodies.min(axis=1, initial=2**31) << 32) | bodies.max(axis=1, initial=0), self.apart)
        if self.rules.are_given:
            near = self.body[np.stack((keys >> 32, keys & 0xFFFFFFFF), axis=1)]
            kept[kept] = self.rules.choose(store, bodies[kept], near)
        return pairs[:count][kept], margins[:count][kept]

    def meet(self, pairs: Integers, margins: Floats, *, remember: bool = False) -> ContactPoints:
        """Contacts of pairs, ordered as they were found, that are no farther apart than their margins. remember: the features of hulls."""
        pool, count = self.pool, len(pairs)
        near, own, tracked = np.empty((count, 2), np.int64), np.empty(count), np.empty(count, np.int64)
        core_count, mesh_count, walk_count = sort_pairs(
            pairs, margins, self.boxes, self.shape, pool.cores.table, near, own, tracked
        )
        cores, which = near[:core_count], self.shape + 1
        known = np.full((core_count, 10), np.nan)
        walked = tracked[:walk_count]
        known[walked] = describe(self.memory.track(pool.hulls, cores[walked], self._square, which, remember=remember))
        state, numbers, ids = np.zeros(2, np.int64), np.empty((self.rows, 7)), np.empty((self.rows, 5), np.int64)
        while not meet_pairs(
            pool.cores, pool.trees, *self._room, self.poses, which, cores, own[:core_count], known, state, numbers, ids
        ):
            self.rows *= 2
            numbers, ids = np.resize(numbers, (self.rows, 7)), np.resize(ids, (self.rows, 5))
        found = ContactPoints(numbers[: state[1]], ids[: state[1]])
        if not mesh_count:
            return found
        meshes, own = near[count - mesh_count :][::-1], own[count - mesh_count :][::-1]
        close = self._near_outlines(meshes, own, remember)
        between = [self._meet_meshes(i, j, m) for (i, j), m in zip(meshes[close], own[close], strict=True)]
        return join_points([found, *between])

    def _near_outlines(self, pairs: Integers, margins: Floats, remember: bool) -> NDArray[np.bool_]:
        """(p,) pairs of surfaces whose hulls are within the margin; terrains and what deforms have no hull that lasts."""
        if self._outlines is None:
            hulls = [shape.outline if _has_outline(shape) else POINT for shape in self.shapes]
            self._outlines = Hulls(hulls)
        known = np.array([_has_outline(shape) for shape in self.shapes])[self.shape[pairs]].all(axis=1)
        near = np.ones(len(pairs), np.bool_)
        which = np.maximum(self.shape, 0)
        found = self.outline_memory.track(self._outlines, pairs[known], self._square, which, remember=remember)
        near[known] = found.distance <= margins[known]
        return near

    def _meet_meshes(self, i: int, j: int, margin: float) -> ContactPoints:
        a, b = self.shapes[self.shape[i]], self.shapes[self.shape[j]]
        if not isinstance(a, (Surface, Soft)) or not isinstance(b, (Surface, Soft)):
            raise Unsupported(f"contacts of {type(a).__name__} and {type(b).__name__}")
        if isinstance(a, Terrain) and isinstance(b, Terrain):
            raise Unsupported("contacts of two terrains")
        found = meet_surfaces(a, self.poses[i], b, self.poses[j], float(margin))
        found.collider_a[:], found.collider_b[:] = i, j
        return found


def _has_outline(shape: Shape) -> TypeGuard[Surface]:
    return isinstance(shape, Surface) and not isinstance(shape, Terrain)


def _tree_size(pool: Pool, root: int) -> int:
    """The number of nodes of the tree from a root on: those up to the next root."""
    roots = np.sort(pool.cores.table[pool.cores.table[:, KIND] == SURFACE, ROOT])
    after = roots[roots > root]
    return int(after[0] if len(after) else len(pool.trees.nodes)) - root
