"""Collision of several objects by a grid of voxels (Meseure 1998, §3 and the margin of §7).

Immobile objects are entered once; whatever moves or deforms is entered again each step, rigid or not, under a new date.
Only voxels of moving objects are visited: each entry of a facet looks at the immobile list of its voxel and at the
entries made before it. A mailbox on each facet keeps a pair that shares several voxels from being tested twice.

The result is exactly the set of pairs of facets that meet, decided by the exact test on the given coordinates. Facets
only: an object inside another without touching it is not found here. Voxels fit facets of about one size. A facet of
many voxels (see `lists`) is compared by box with all others: right, but slow if there are many of them, as after
deformations that enlarge facets ten times.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from abut.core import arrays, showing
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput, Unsupported
from abut.core.types import Number, PointsLike
from abut.mesh import Mesh
from abut.papers.grid.lists import ENTRY_COUNT, LARGE_COUNT, Facets, Lists
from abut.papers.grid.search import ANY, STAMP, Search, bound_facets, search_pairs

IMMOBILE, MOVING = 0, 1
SMALLEST_CELL = 1e-300  # its reciprocal is finite


@dataclass(frozen=True)
class VoxelWork:
    """What a query cost."""

    facets_entered: int
    """Facets entered since the last query: all that move if one has moved, immobile ones when they are new."""
    entries: int
    """Places in lists that these facets took."""
    large_facets: int
    """Facets, entered or not, that are too large for the voxels and are compared with all others."""
    voxels_visited: int
    """Voxels looked at, once for each facet in them that moves."""
    duplicates: int
    """Times that two facets met in a further voxel."""
    candidates: int
    """Pairs of facets in a common voxel."""
    exact_tests: int
    """Pairs among them whose boxes overlap."""

    @property
    def duplication(self) -> float:
        """Voxels a facet was entered in, on average."""
        return self.entries / max(self.facets_entered, 1)


@dataclass(frozen=True)
class VoxelHits:
    """Pairs of facets that meet, by objects. `hits[a, b]` is (k,2) int64: face of a, face of b, sorted; read-only.

    Iteration yields the (a, b), a < b, of objects that meet; `len(hits)` counts pairs of facets.
    """

    pairs: dict[tuple[int, int], Integers]
    work: VoxelWork

    def __getitem__(self, handles: tuple[int, int]) -> Integers:
        a, b = handles
        if a <= b:
            return self.pairs.get((a, b), frozen(np.zeros((0, 2), np.int64)))
        found = self[b, a][:, ::-1]
        return frozen(found[np.lexsort((found[:, 1], found[:, 0]))])

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self.pairs)

    def __len__(self) -> int:
        return sum(map(len, self.pairs.values()))

    def __repr__(self) -> str:
        return showing.describe(
            self, showing.count(len(self), "pair"), f"{showing.count(len(self.pairs), 'pair')} of objects"
        )


@dataclass
class _Body:
    handle: int
    group: int
    immobile: bool
    faces: Integers
    vertices: Floats
    has_moved: bool = True
    vertex_start: int = 0
    facet_start: int = 0

    @property
    def facet_stop(self) -> int:
        return self.facet_start + len(self.faces)


class Voxels:
    """A grid of cubes of side `cell_size` that holds the facets of several objects.

    Without `cell_size` it is the mean over all facets of the longest side of their boxes, margins included, taken at
    the first query and kept ("close to the size of the facets", §3); 1 if that is zero. `margin` is the Δl = Vmax·Δt of
    §7: boxes and facets of each object are grown by it, so that a pair is reported when its facets come as near as
    2·margin (or within rounding above that). With margin 0 it is reported when they have a common point.

    Args:
        cell_size: side of a voxel; None chooses it at the first query.
        margin: length by which every facet is grown.

    Examples:
        >>> import abut
        >>> voxels = abut.grid.Voxels()
        >>> floor = voxels.add(abut.scenes.box((4.0, 4.0, 1.0)), immobile=True)
        >>> ball = abut.scenes.icosphere(1, center=(0.0, 0.0, 1.4))
        >>> falling = voxels.add(ball)
        >>> voxels.collide()
        VoxelHits(8 pairs, 1 pair of objects)
        >>> voxels.update(falling, ball.vertices + (0.0, 0.0, 1.0))
        >>> len(voxels.collide(floor, falling))
        0
    """

    def __init__(self, cell_size: Number | None = None, margin: Number = 0.0) -> None:
        self._cell_size = None if cell_size is None else _check_cell_size(cell_size)
        self._margin = arrays.scalar(margin, "margin", least=0.0)
        self._bodies: dict[int, _Body] = {}
        self._next_handle = 0
        self._lists = Lists()
        self._facets = _assemble([])
        self._order: list[_Body] = []
        self._are_bodies_new = self._has_moved = True
        self._are_immobile_new = True
        self._mailbox = np.zeros(0, np.int64)
        self._counters = np.zeros(5, np.int64)

    def __repr__(self) -> str:
        size = "cell size not chosen" if self._cell_size is None else f"cell size {self._cell_size:.6g}"
        return showing.describe(self, showing.count(len(self._bodies), "object"), size)

    @property
    def cell_size(self) -> float | None:
        """Side of a voxel; None while it waits for the first query."""
        return self._cell_size

    @property
    def margin(self) -> float:
        """Length by which every facet is grown."""
        return self._margin

    def add(self, mesh: Mesh, *, immobile: bool = False, group: int | None = None) -> int:
        """Put an object into the grid and return its handle, by which it is known from now on.

        Immobile objects are never tested with one another, nor are objects of one group by a query of all pairs.

        Args:
            mesh: the object's facets, where they are now.
            immobile: whether it stays there.
            group: a number from 0; None is a group of its own.
        """
        handle = self._next_handle
        own_group = -1 - handle if group is None else arrays.count(group, "group")
        self._next_handle += 1
        self._bodies[handle] = _Body(handle, own_group, immobile, mesh.faces, mesh.vertices)
        self._are_bodies_new = True
        self._are_immobile_new |= immobile
        return handle

    def update(self, handle: int, vertices: PointsLike) -> None:
        """Give a moving object new vertices, as many as before. They are entered at the next query.

        Args:
            handle: what `add` returned.
            vertices: (n,3) new positions.
        """
        body = self._find(handle)
        if body.immobile:
            raise InvalidInput("handle", f"object {handle} was added as immobile")
        moved = arrays.points(vertices, "vertices", keep=True)
        if len(moved) != len(body.vertices):
            raise InvalidInput("vertices", f"has {len(moved)} rows, object {handle} has {len(body.vertices)} vertices")
        body.vertices, body.has_moved = moved, True
        self._has_moved = True

    def remove(self, handle: int) -> None:
        """Take an object out of the grid. Its handle is not used again.

        Args:
            handle: what `add` returned.
        """
        self._are_immobile_new |= self._find(handle).immobile
        del self._bodies[handle]
        self._are_bodies_new = True

    def collide(self, a: int | None = None, b: int | None = None) -> VoxelHits:
        """All pairs of facets that meet: of objects a and b, or (without arguments) of all objects.

        Two immobile objects raise Unsupported when named, and are left out otherwise, as are objects of one group.

        Args:
            a, b: handles of two objects, or neither for all pairs.
        """
        if (a is None) != (b is None):
            raise InvalidInput("b", "is missing" if b is None else "stands without a")
        first, second = (None, None) if a is None or b is None else (self._find(a), self._find(b))
        if first is not None and first is second:
            raise Unsupported("collision of an object with itself in voxels")
        if first is not None and second is not None and first.immobile and second.immobile:
            raise Unsupported("collision of two immobile objects in voxels")
        entered, entries = self._refresh()
        self._counters[:STAMP] = 0
        immobile, moving = self._lists.layers
        search = Search(self._facets, immobile, moving, self._mailbox, self._counters)
        if first is None or second is None:
            found = search_pairs(search, self._immobile_count, len(self._facets.faces), ANY, self._margin)
        else:
            # The lists lead from an entry to those made before it.
            earlier, later = sorted((first, second), key=lambda body: body.facet_start)
            only = self._order.index(earlier)
            found = search_pairs(search, later.facet_start, later.facet_stop, only, self._margin)
        large_count = int(sum(layer.counts[LARGE_COUNT] for layer in self._lists.layers))
        work = VoxelWork(entered, entries, large_count, *(int(count) for count in self._counters[:STAMP]))
        return VoxelHits(_group_pairs(found, self._order, self._facets.owners), work)

    def validate(self) -> None:
        """Raise AssertionError unless the lists hold exactly the facets that were entered at the last query."""
        if self._are_bodies_new or self._has_moved:
            self._refresh()
        split, count = self._immobile_count, len(self._facets.faces)
        self._lists.validate(self._facets, [range(split), range(split, count)], self._per_length)

    @property
    def _per_length(self) -> float:
        return 1.0 / (self._cell_size or 1.0)

    @property
    def _immobile_count(self) -> int:
        """Facets of immobile objects, which come first."""
        return sum(len(body.faces) for body in self._order if body.immobile)

    def _find(self, handle: int) -> _Body:
        if handle not in self._bodies:
            raise InvalidInput("handle", f"no object {handle} is in the grid")
        return self._bodies[handle]

    def _refresh(self) -> tuple[int, int]:
        """Enter what is new or has moved; returns how many facets that were, and how many entries they took."""
        if self._are_bodies_new:
            self._order = sorted(self._bodies.values(), key=lambda body: (not body.immobile, body.handle))
            self._facets = _assemble(self._order)
            self._lists.reserve(len(self._facets.faces))
            self._mailbox = np.zeros(len(self._facets.faces), np.int64)
            self._has_moved = True
        if not self._has_moved:
            return 0, 0
        facets = self._facets
        for body in self._order:
            if body.has_moved or self._are_bodies_new:
                facets.vertices[body.vertex_start : body.vertex_start + len(body.vertices)] = body.vertices
                bound_facets(facets, body.facet_start, body.facet_stop, self._margin)
                body.has_moved = False
        if self._cell_size is None and len(facets.faces):
            extent = float((facets.boxes[:, 3:] - facets.boxes[:, :3]).max(axis=1).mean())
            self._cell_size = max(extent, SMALLEST_CELL) if extent > 0 else 1.0
        split, count = self._immobile_count, len(facets.faces)
        layers = [(IMMOBILE, 0, split)] if self._are_immobile_new else []
        entered = entries = 0
        for index, start, stop in [*layers, (MOVING, split, count)]:
            self._lists.start_date(index)
            self._lists.enter(index, facets, start, stop, self._per_length, self._margin)
            entered += stop - start
            entries += int(self._lists.layers[index].counts[ENTRY_COUNT])
        self._are_bodies_new = self._are_immobile_new = self._has_moved = False
        return entered, entries


def _check_cell_size(value: Number) -> float:
    size = arrays.positive(value, "cell_size")
    if size < SMALLEST_CELL:
        raise InvalidInput("cell_size", f"{size:g} is below {SMALLEST_CELL:g}")
    return size


def _assemble(order: list[_Body]) -> Facets:
    """Arrays for the facets of all objects, in this order; vertices and boxes are filled in later."""
    vertex_count = facet_count = 0
    faces: list[Integers] = [np.zeros((0, 3), np.int64)]
    for body in order:
        body.vertex_start, body.facet_start = vertex_count, facet_count
        faces.append(body.faces + vertex_count)
        vertex_count, facet_count = vertex_count + len(body.vertices), facet_count + len(body.faces)
    sizes = [len(body.faces) for body in order]
    owners = np.repeat(np.arange(len(order)), sizes)
    groups = np.repeat(np.array([body.group for body in order], np.int64), sizes)
    return Facets(np.empty((vertex_count, 3)), np.concatenate(faces), np.empty((facet_count, 6)), owners, groups)


def _group_pairs(found: Integers, order: list[_Body], owners: Integers) -> dict[tuple[int, int], Integers]:
    """Pairs of facets as pairs of faces, sorted, by handles."""
    if not len(found):
        return {}
    handles = np.array([body.handle for body in order])[owners[found]]
    faces = found - np.array([body.facet_start for body in order])[owners[found]]
    swapped = handles[:, 0] > handles[:, 1]
    handles[swapped], faces[swapped] = handles[swapped, ::-1], faces[swapped, ::-1]
    rows = np.lexsort((faces[:, 1], faces[:, 0], handles[:, 1], handles[:, 0]))
    handles, faces = handles[rows], faces[rows]
    starts = np.flatnonzero(np.any(handles[1:] != handles[:-1], axis=1)) + 1
    parts = np.split(faces, starts)
    return {
        (int(a), int(b)): frozen(part)
        for (a, b), part in zip(handles[np.concatenate(([0], starts))], parts, strict=True)
    }
