"""Candidates: the pairs of vertices and faces, and of edges, whose swept volumes meet, each once and sorted (Wan 2022, §1.1).

The volumes bound vertices and edges, not only faces (the paper's extra layer), so a pair is found for what it is and not for its triangles.
Each search has the second thing of a pair as query (the face of vertex-face, the larger edge): it finds for every face the vertices, for
every edge the smaller edges. Pairs sorted by their first thing come out of that by one counting sort: faces are taken in ascending order
and written behind one another into the rows of their vertices, so the second column ascends by itself.

Everything that depends on the number of threads ends in the same place: chunks of the search have regions of their own, and the parts of
the sort are joined in ascending order.
"""

import threading
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from abut import arrays
from abut.arrays import frozen
from abut.ccd.blocks import WIDTH, Blocks, build, open_blocks
from abut.ccd.results import Candidates
from abut.ccd.search import EVERY, SMALLER, Rules, collect, list_blocks
from abut.ccd.swept import VOLUMES, Indices, Moving, frame_of
from abut.errors import InvalidInput
from abut.jit import kernel, parallel, prange
from abut.mesh import Mesh, as_mesh
from abut.scratch import load

TASKS = 64  # chunks of query blocks
STRIDE = (
    37  # chunks are handed out in this stride (prime to TASKS), since neighbouring chunks have like numbers of pairs
)
FOUND_EACH = 128  # pairs a query that room is made for at first; a region's memory is touched only where it is written
ROOM_KEPT = 1 << 28  # bytes
SORT_PARTS = 16  # at most so many histograms of the sort


class Runs(NamedTuple):
    """What each query primitive i met: found[start[i] : start[i] + length[i]], in the order of the search."""

    start: NDArray[np.int64]
    length: Indices
    found: Indices


@kernel
def _search_chunk(
    query: Any, target: Any, rules: Rules, chunk: int, capacity: int, lists: Indices, masks: Indices, runs: Runs
) -> int:
    """Fill the runs of a chunk of query blocks into its region, and return the room it needed. If that is more, its runs are worth nothing."""
    q = open_blocks(query)
    begin = chunk * capacity
    at, spilled = begin, 0
    for block in range(chunk * q.block_count // TASKS, (chunk + 1) * q.block_count // TASKS):
        row, count, found_count = list_blocks(query, target, rules, block, lists, masks)
        nodes = lists[row]
        for lane in range(WIDTH):
            i = load(q.ids, block * WIDTH + lane)
            if i < 0:
                break
            if at + (found_count + 1) * WIDTH > begin + capacity:
                spilled += at - begin
                at = begin
            end = collect(query, target, rules, block, lane, nodes, masks, count, runs.found, at)
            runs.start[i] = at
            runs.length[i] = end - at
            at = end
    return spilled + at - begin


@parallel
def _find_runs(
    query: Any, target: Any, rules: Rules, capacity: int, lists: Any, masks: Any, runs: Runs, needed: Any
) -> None:
    for task in prange(TASKS):
        chunk: Any = np.int64(task) * STRIDE % TASKS
        needed[chunk] = _search_chunk(query, target, rules, chunk, capacity, lists[chunk], masks[chunk], runs)


class _Room(threading.local):
    """Memory for runs, kept between calls of a thread up to ROOM_KEPT bytes: fresh pages cost more than the search."""

    found: Indices = np.empty(0, dtype=np.int32)

    def of(self, size: int) -> Indices:
        if len(self.found) >= size:
            return self.found
        found = np.empty(size, dtype=np.int32)
        if found.nbytes <= ROOM_KEPT:
            self.found = found
        return found


_room = _Room()


def find_runs(query: Blocks, target: Blocks, rules: Rules) -> Runs:
    """What each query primitive meets. The runs lie in memory that the next call in this thread writes over."""
    start, count = np.empty(query.count, dtype=np.int64), np.empty(query.count, dtype=np.int32)
    lists = np.empty((TASKS, 2, target.node_count), dtype=np.int32)
    masks = np.empty((TASKS, target.node_count), dtype=np.int32)
    needed = np.zeros(TASKS, dtype=np.int64)
    least = (target.block_count + 2) * WIDTH  # what one query lane can need
    capacity = max(FOUND_EACH * (query.count // TASKS + 1) + least, len(_room.found) // TASKS)
    while True:
        runs = Runs(start, count, _room.of(TASKS * capacity))
        _find_runs(query.handle, target.handle, rules, capacity, lists, masks, runs, needed)
        if needed.max() + least <= capacity:
            return runs
        capacity = int(needed.max()) + least


@kernel
def _count_part(runs: Runs, begin: int, end: int, counts: Any) -> None:
    found = runs.found
    for i in range(begin, end):
        start = runs.start[i]
        for k in range(start, start + runs.length[i]):
            counts[found[k]] += 1


@parallel
def _count_firsts(runs: Runs, bounds: NDArray[np.int64], counts: Any) -> None:
    for part in prange(len(counts)):
        _count_part(runs, bounds[part], bounds[part + 1], counts[part])


@kernel
def _place_firsts(counts: Any) -> None:
    """From the number of pairs of a first thing in each part to the row where they begin."""
    total = 0
    for first in range(counts.shape[1]):
        for part in range(counts.shape[0]):
            here = counts[part, first]
            counts[part, first] = total
            total += here


@kernel
def _scatter_part(runs: Runs, begin: int, end: int, places: Any, pairs: Indices) -> None:
    found = runs.found
    for i in range(begin, end):
        start = runs.start[i]
        for k in range(start, start + runs.length[i]):
            first = found[k]
            place = places[first]
            places[first] = place + 1
            pairs[place, 0] = first
            pairs[place, 1] = i


@parallel
def _scatter(runs: Runs, bounds: NDArray[np.int64], places: Any, pairs: Indices) -> None:
    for part in prange(len(places)):
        _scatter_part(runs, bounds[part], bounds[part + 1], places[part], pairs)


def sort_runs(runs: Runs, first_count: int) -> Indices:
    """(n,2) pairs (found, query), sorted."""
    ends = np.cumsum(runs.length, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    part_count = min(numba.get_num_threads(), SORT_PARTS)
    shares = np.arange(1, part_count) * total // part_count
    bounds = np.concatenate([[0], np.searchsorted(ends, shares), [len(ends)]])
    # Half the memory of the histograms is a third of the time; rows beyond int32 are for those who have 16 GB for them.
    counts = np.zeros((part_count, first_count), dtype=np.int32 if total < 2**31 else np.int64)
    _count_firsts(runs, bounds, counts)
    _place_firsts(counts)
    pairs = np.empty((total, 2), dtype=np.int32)
    _scatter(runs, bounds, counts, pairs)
    return pairs


def _find_pairs(first: Blocks, second: Blocks, rules: Rules) -> Indices:
    """(n,2) sorted pairs of two sets of primitives that meet."""
    if not (first.count and second.count):
        return frozen(np.empty((0, 2), dtype=np.int32))
    return frozen(sort_runs(find_runs(second, first, rules), first.count))


def check_volume(volume: str) -> int:
    """The number of directions of a volume."""
    if volume not in VOLUMES:
        raise InvalidInput("volume", f"there is no volume {volume!r}; there are {', '.join(VOLUMES)}")
    return VOLUMES[volume]


def find_candidates(a: Moving, b: Moving | None, *, volume: str = "aabb", margin: float = 0.0) -> Candidates:
    """Candidates of one body with itself (b is None) or of two bodies: vertices of a and faces of b, faces of a and vertices of b, edges."""
    columns = check_volume(volume)
    bodies = [a] if b is None else [a, b]
    frame = frame_of(bodies, margin)
    built = build(bodies, frame, columns, ends=False)
    if b is None:
        own = built[0]
        return Candidates(
            _find_pairs(own.vertices, own.faces, Rules(EVERY, True, frame.margin)),
            _find_pairs(own.edges, own.edges, Rules(SMALLER, True, frame.margin)),
        )
    one, two = built
    rules = Rules(EVERY, False, frame.margin)
    return Candidates(
        _find_pairs(one.vertices, two.faces, rules),
        _find_pairs(one.edges, two.edges, rules),
        _find_pairs(one.faces, two.vertices, rules),
    )


def moving_of(mesh: object, v_t0: object, v_t1: object) -> Moving:
    """A mesh and its vertices at both ends of a step, checked."""
    body: Mesh = as_mesh(mesh)
    shape = (len(body.vertices), 3)
    return Moving(
        arrays.coordinates(v_t0, "v_t0", shape), arrays.coordinates(v_t1, "v_t1", shape), body.faces, body.edges
    )


def candidates(mesh: object, v_t0: object, v_t1: object, *, volume: str = "aabb", margin: float = 0.0) -> Candidates:
    """Pairs of features of a mesh whose volumes, swept from v_t0 to v_t1 (both (n,3)), come within `margin` of one another.

    volume: "aabb" or "kdop6" (axis-aligned boxes), "kdop8", "kdop14", "kdop18", "kdop26". A pair is kept where the intervals along every
    direction of the volume meet, touching included, so 14, 18 and 26 keep subsets of 6, and 26 of all. No pair that collides is lost.
    Left out are a vertex with a face of its own, and edges with a common vertex. Sorted; the same for any number of threads.
    """
    return find_candidates(
        moving_of(mesh, v_t0, v_t1), None, volume=volume, margin=arrays.scalar(margin, "margin", least=0.0)
    )
