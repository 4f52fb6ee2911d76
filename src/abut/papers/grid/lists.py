"""Lists of facets in voxels, with dates: an old list counts as empty, so that none is ever cleared (Meseure 1998, §3).

Voxels live in a hash table (open addressing, linear probing, a power of two of slots, never more than half in use). It
is rebuilt with the voxels of current lists only, so memory follows occupancy, not extent. Each slot heads one list a
layer: one layer for immobile objects, entered once, one for all others. A facet is entered in each voxel of its box
that its plane meets.

Nothing is lost to rounding or to extreme coordinates. The index of a voxel, ⌊x·per_length⌋ clamped at ±2^52, never
falls as x rises, so boxes with a common point have a common voxel; the cut by the plane allows for rounding; and keys
keep 21 bits of each index, so that voxels 2^21 apart share a list, which costs tests that fail and nothing else. A
facet of more than LARGE_FACET voxels is entered in none: it goes to a list of its own, to be tested by box with every
other.
"""

import itertools
import math
from typing import NamedTuple

import numpy as np

from abut.core.arrays import Floats, Integers
from abut.core.jit import element, kernel
from abut.geometry.rows import vector_at
from abut.geometry.vec import Vec3, cross, dot, subtract

LARGE_FACET = 512
"""Voxels of a facet's box above which it is not entered: that would cost more than some thousands of box tests."""

FREE = -1
END = -1
FARTHEST = 2.0**52
KEY_BITS = 21
KEY_MASK = 2**KEY_BITS - 1
HASH_FACTOR = 0x1E3779B97F4A7C15  # odd, without pattern (of the golden ratio); products are taken modulo 2^63
HASH_MASK = 2**63 - 1
PLANE_SLACK = 2.0**-45
"""Bound on the rounding error of a facet's plane at a voxel, relative to (largest index) · (voxels along the box)².

The scaled coordinates are off by 2^-52 of the largest index M. A box of E voxels has edges up to E, a normal with
components up to 2E² and off by 26·2^-53·M·E; the height of a voxel's center is then off by less than 180·2^-53·M·E².
"""
CUT_LIMIT = 2.0**40
"""Largest index up to which the plane is used: beyond it the slack leaves little to cut."""

ENTRY_COUNT, LARGE_COUNT, DATE = 0, 1, 2
SLOT, FACET, OLDER = 0, 1, 2


class Facets(NamedTuple):
    """The facets of all objects, immobile ones first. `boxes` (n,6): lowest and highest corner, grown by the margin."""

    vertices: Floats
    faces: Integers
    boxes: Floats
    owners: Integers
    groups: Integers


class Table(NamedTuple):
    """Slot by key: `keys` (capacity,), FREE where there is none; `used` (1,) counts the others."""

    keys: Integers
    used: Integers


class Layer(NamedTuple):
    """One list a slot: `heads[s]` is its newest entry, if `dates[s]` is today.

    `links[e]` is (slot, facet, next older entry). The entries of facet f are `spans[f]` (first, end). `large` names the
    facets that were not entered; `counts` is (entries, large facets, date).
    """

    heads: Integers
    dates: Integers
    links: Integers
    spans: Integers
    large: Integers
    counts: Integers


class Lists:
    """The hash table and its two layers, for `facet_count` facets; arrays are replaced as they grow."""

    table: Table
    layers: list[Layer]

    def __init__(self) -> None:
        capacity = 2 * LARGE_FACET
        self.table = Table(np.full(capacity, FREE), np.zeros(1, np.int64))
        self.layers = [_new_layer(capacity) for _ in range(2)]

    def reserve(self, facet_count: int) -> None:
        """Make room for this many facets in all."""
        for i, layer in enumerate(self.layers):
            extra = max(facet_count - len(layer.spans), 0)
            spans = np.concatenate((layer.spans, np.zeros((extra, 2), np.int64)))
            self.layers[i] = layer._replace(spans=spans, large=np.concatenate((layer.large, np.zeros(extra, np.int64))))

    def start_date(self, index: int) -> None:
        """Let every list of a layer count as empty."""
        counts = self.layers[index].counts
        counts[:] = 0, 0, counts[DATE] + 1

    def enter(self, index: int, facets: Facets, start: int, stop: int, per_length: float, margin: float) -> None:
        """Enter facets start to stop in a layer of the voxels."""
        start = enter_facets(facets, self.table, self.layers[index], start, stop, per_length, margin)
        while start < stop:
            self._make_room(index)
            start = enter_facets(facets, self.table, self.layers[index], start, stop, per_length, margin)

    def _make_room(self, index: int) -> None:
        """Double a layer's entries if need be; drop the voxels of old lists, in a table of four times the rest or
        more."""
        layer = self.layers[index]
        count = int(layer.counts[ENTRY_COUNT])
        if count + LARGE_FACET > len(layer.links):
            links = np.empty((2 * len(layer.links), 3), np.int64)
            links[:count] = layer.links[:count]
            self.layers[index] = layer._replace(links=links)
        if self.table.used[0] + LARGE_FACET <= len(self.table.keys) // 2:
            return
        live = np.logical_or(*(layer.dates == layer.counts[DATE] for layer in self.layers))
        live_count = int(np.count_nonzero(live))
        capacity = 2 ** math.ceil(math.log2(max(4 * live_count, 2 * (live_count + LARGE_FACET))))
        keys, moved = np.full(capacity, FREE), np.full(len(live), FREE)
        move_keys(self.table.keys, live, keys, moved)
        self.table = Table(keys, np.array([live_count]))
        for i, layer in enumerate(self.layers):
            heads, dates = np.full(capacity, END), np.zeros(capacity, np.int64)
            heads[moved[live]], dates[moved[live]] = layer.heads[live], layer.dates[live]
            links = layer.links[: layer.counts[ENTRY_COUNT]]
            links[:, SLOT] = moved[links[:, SLOT]]
            self.layers[i] = layer._replace(heads=heads, dates=dates)

    def validate(self, facets: Facets, ranges: list[range], per_length: float) -> None:
        """Raise AssertionError unless table, lists and entries agree, layer i holding the facets of `ranges[i]`."""
        keys = self.table.keys
        slots = np.flatnonzero(keys != FREE)
        _require(len(keys) & (len(keys) - 1) == 0, "the capacity is a power of two")
        _require(len(slots) == self.table.used[0] <= len(keys) // 2, "at most half of the slots are in use, as counted")
        _require(all(find_slot(keys, keys[s]) == s for s in slots), "every voxel is found under its key")
        for layer, expected in zip(self.layers, ranges, strict=True):
            _validate_layer(layer, keys, facets, expected, per_length)


def _new_layer(capacity: int) -> Layer:
    none = np.zeros(0, np.int64)
    links = np.empty((2 * LARGE_FACET, 3), np.int64)
    dates = np.zeros(capacity, np.int64)
    return Layer(np.full(capacity, END), dates, links, none.reshape(0, 2), none, np.array([0, 0, 1]))


def _require(condition: object, invariant: str) -> None:
    if not condition:
        raise AssertionError(f"voxels are not well formed: not so that {invariant}")


def _validate_layer(layer: Layer, keys: Integers, facets: Facets, expected: range, per_length: float) -> None:
    entry_count, large_count, date = (int(count) for count in layer.counts)
    seen: list[int] = []
    for slot in np.flatnonzero(layer.dates == date):
        entry = int(layer.heads[slot])
        _require(entry != END, "a list of today has an entry")
        while entry != END:
            _require(layer.links[entry, SLOT] == slot, "an entry names the slot whose list holds it")
            seen.append(entry)
            older = int(layer.links[entry, OLDER])
            _require(older < entry, "a list goes from newer to older")
            entry = older
    _require(sorted(seen) == list(range(entry_count)), "every entry is in one list")
    _require(layer.dates.max() <= date, "no list is of the future")
    large = set(layer.large[:large_count].tolist())
    for f in expected:
        low, high = voxel_range(facets.boxes, f, per_length)
        first, end = (int(e) for e in layer.spans[f])
        _require((layer.links[first:end, FACET] == f).all(), "the entries of a facet are its own")
        _require((end == first) == (f in large), "a facet is entered, or is large")
        if f not in large:
            sides = (range(lowest, highest + 1) for lowest, highest in zip(low, high, strict=True))
            inside = {pack_key(i, j, k) for i, j, k in itertools.product(*sides)}
            own = keys[layer.links[first:end, SLOT]].tolist()
            _require(
                len(set(own)) == len(own) and inside.issuperset(own), "a facet is entered once in a voxel, of its box"
            )


# --- kernels


@element
def voxel_index(x: float, per_length: float) -> int:
    """Index of the voxel of a coordinate: monotone in x, and finite."""
    return math.floor(min(max(x * per_length, -FARTHEST), FARTHEST))


@element
def pack_key(i: int, j: int, k: int) -> int:
    """Key of a voxel: not negative, the same for voxels whose indices differ by multiples of 2^21."""
    return ((i & KEY_MASK) << (2 * KEY_BITS)) | ((j & KEY_MASK) << KEY_BITS) | (k & KEY_MASK)


@kernel
def find_slot(keys: Integers, key: int) -> int:
    """The slot of a key, or the free one where it belongs. Ends because half of the slots are free."""
    mask = len(keys) - 1
    mixed = (int(key) * HASH_FACTOR) & HASH_MASK
    slot = (mixed ^ (mixed >> 32)) & mask
    while keys[slot] != key and keys[slot] != FREE:
        slot = (slot + 1) & mask
    return slot


@kernel
def move_keys(old: Integers, live: Integers, new: Integers, moved: Integers) -> None:
    """Put the live keys of one table into another; `moved` gets their new slots."""
    for slot in range(len(old)):
        if live[slot]:
            moved[slot] = find_slot(new, old[slot])
            new[moved[slot]] = old[slot]


@kernel
def voxel_range(boxes: Floats, f: int, per_length: float) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Lowest and highest voxel of a facet's box."""
    x0, y0, z0 = float(boxes[f, 0]), float(boxes[f, 1]), float(boxes[f, 2])
    x1, y1, z1 = float(boxes[f, 3]), float(boxes[f, 4]), float(boxes[f, 5])
    low = (voxel_index(x0, per_length), voxel_index(y0, per_length), voxel_index(z0, per_length))
    high = (voxel_index(x1, per_length), voxel_index(y1, per_length), voxel_index(z1, per_length))
    return low, high


@element
def _scale_corner(p: Vec3, per_length: float, low: tuple[int, int, int]) -> Vec3:
    return (p[0] * per_length - low[0], p[1] * per_length - low[1], p[2] * per_length - low[2])


@element
def _cut(
    a: Vec3, b: Vec3, c: Vec3, low: tuple[int, int, int], size: int, per_length: float, margin: float
) -> tuple[Vec3, float, float]:
    """Normal, height and reach of a facet, in voxels from `low`: it meets no voxel whose center is farther off."""
    u = _scale_corner(a, per_length, low)
    normal = cross(subtract(_scale_corner(b, per_length, low), u), subtract(_scale_corner(c, per_length, low), u))
    far = max(abs(low[0]), abs(low[1]), abs(low[2])) + size
    if far > CUT_LIMIT:
        return normal, 0.0, math.inf
    spread = abs(normal[0]) + abs(normal[1]) + abs(normal[2])
    return normal, dot(normal, u), (0.5 + margin * per_length) * spread + PLANE_SLACK * far * size * size


@kernel
def corners(facets: Facets, f: int) -> tuple[Vec3, Vec3, Vec3]:
    """The three vertices of a facet."""
    v, faces = facets.vertices, facets.faces
    return vector_at(v, faces[f, 0]), vector_at(v, faces[f, 1]), vector_at(v, faces[f, 2])


@kernel
def enter_facets(
    facets: Facets, table: Table, layer: Layer, start: int, stop: int, per_length: float, margin: float
) -> int:
    """Enter facets from `start` on; returns the first one for which there may not be room, or `stop`."""
    keys, used = table
    heads, dates, links, spans, large, counts = layer
    entry, today = counts[ENTRY_COUNT], counts[DATE]
    for f in range(start, stop):
        low, high = voxel_range(facets.boxes, f, per_length)
        nx, ny, nz = high[0] - low[0] + 1, high[1] - low[1] + 1, high[2] - low[2] + 1
        spans[f, 0] = spans[f, 1] = entry
        size = max(nx, ny, nz)
        if size > LARGE_FACET or nx * ny * nz > LARGE_FACET:
            large[counts[LARGE_COUNT]] = f
            counts[LARGE_COUNT] += 1
            continue
        if used[0] + LARGE_FACET > len(keys) // 2 or entry + LARGE_FACET > len(links):
            return f
        a, b, c = corners(facets, f)
        normal, height, reach = _cut(a, b, c, low, size, per_length, margin)
        for i in range(nx):
            for j in range(ny):
                for k in range(nz):
                    offset = dot(normal, (i + 0.5, j + 0.5, k + 0.5)) - height
                    if abs(offset) > reach:
                        continue
                    key = pack_key(low[0] + i, low[1] + j, low[2] + k)
                    slot = find_slot(keys, key)
                    if keys[slot] == FREE:
                        keys[slot] = key
                        used[0] += 1
                    links[entry, SLOT] = slot
                    links[entry, FACET] = f
                    links[entry, OLDER] = heads[slot] if dates[slot] == today else END
                    heads[slot], dates[slot] = entry, today
                    entry += 1
        spans[f, 1] = counts[ENTRY_COUNT] = entry
    return stop
