"""Candidates a chunk at a time, in bounded memory, and only those that the filters inside the search leave.

The slots of the query are cut into tasks, each with a region of the output. A round runs all tasks in one parallel region; a task stops before
a query lane whose pairs might not fit any more, and says where. What the regions hold is yielded as one chunk, and the slots that are left are
cut into tasks again. Nothing overflows, nothing is searched twice, and the chunks depend on the limit but not on the threads.

With `ends`, pairs that one of 13 directions separates at both ends of the step are left out at every grain of the search. With `dnf`, pairs
whose four points are never coplanar go last, a tile at a time (`filters`). Both keep every pair that meets. With a distance to keep the extents grow
by it, and DNF, which knows none, is not used.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from abut.ccd.culling.filters import is_never_coplanar, scale_of
from abut.ccd.culling.search import Volume, check_volume, list_searches, movings_of, number_vertices, primitive_count
from abut.ccd.motion.motions import BodyLike, Motion
from abut.ccd.motion.surfaces import read_surfaces
from abut.ccd.results import Candidates, Kind
from abut.core import arrays
from abut.core.arrays import frozen
from abut.core.errors import InvalidInput
from abut.core.jit import integer, kernel, parallel, prange, thread_count, threads_for
from abut.core.lanes import count_bits
from abut.core.scratch import load
from abut.core.types import PointsLike
from abut.trees.blocks.block_tree import WIDTH, Blocks, Primitives, View, build, open_blocks
from abut.trees.blocks.runs import BLOCK_ROOM, Scratch, Search, reserve
from abut.trees.blocks.search import LATER, Rules, collect, lanes_at_once, list_blocks
from abut.trees.blocks.swept import Indices, Moving, frame_of

TASKS = 64
TILE = 128  # pairs that DNF looks at together
CHUNK = 1 << 20  # pairs of a chunk at most: fresh memory for more costs as much as the search
USUAL_MEMORY = 1 << 29
"""Bytes that a search without a limit may take in any case."""
USUAL_TASKS = 16
"""It has room for so many tasks at least, beside the blocks, and for as much again as the blocks take: the bigger the scene, the more."""


class Filters(NamedTuple):
    """Whether pairs that are never coplanar are left out, and the power of two that brings differences of coordinates below 1."""

    dnf: bool
    factor: float


class Tiles(NamedTuple):
    """Memory of the tasks for `_flush`, one row each: pairs (query, target), the coordinates of their points, and which are apart."""

    pairs: Any
    points: Any
    apart: Any


@kernel
def _gather(view: View, i: int, points: Any, row: int, column: int) -> int:
    """Copy the vertices of a primitive to a column of `points` from row `row` on, six rows a vertex; return the row after them."""
    for corner in range(view.corner_count):
        vertex = int(load(view.elements, i * view.corner_count + corner))
        for k in range(6):
            points[row + k, column] = load(view.motion, vertex * 6 + k)
        row += 6
    return row


@kernel
def _mark_apart(points: Any, factor: float, apart: Any) -> None:
    """DNF of a whole tile: a loop without branches over arrays, which becomes vector code. Columns that hold no pair give anything."""
    p = points
    for i in range(TILE):
        apart[i] = is_never_coplanar(
            (
                (p[0, i], p[1, i], p[2, i]),
                (p[6, i], p[7, i], p[8, i]),
                (p[12, i], p[13, i], p[14, i]),
                (p[18, i], p[19, i], p[20, i]),
            ),
            (
                (p[3, i], p[4, i], p[5, i]),
                (p[9, i], p[10, i], p[11, i]),
                (p[15, i], p[16, i], p[17, i]),
                (p[21, i], p[22, i], p[23, i]),
            ),
            factor,
        )


@kernel
def _flush(
    query: Any, target: Any, rules: Rules, filters: Filters, tile: Any, count: int, points: Any, apart: Any, pairs: Any
) -> int:
    """Write the pairs of a tile that DNF keeps to the front of `pairs`; those of one set with itself have the smaller index first."""
    q, t = open_blocks(query), open_blocks(target)
    if filters.dnf:
        for i in range(count):
            _gather(t, tile[i, 1], points, _gather(q, tile[i, 0], points, 0, i), i)
        _mark_apart(points, filters.factor, apart)
    written = 0
    for i in range(count):
        first, second = tile[i, 0], tile[i, 1]
        if rules.order == LATER:
            first, second = min(first, second), max(first, second)
        if not (filters.dnf and apart[i]):
            pairs[written, 0], pairs[written, 1] = first, second
            written += 1
    return written


@kernel
def _search_task(
    query: Any,
    target: Any,
    rules: Rules,
    filters: Filters,
    slots: Any,
    scratch: Scratch,
    tiles: Tiles,
    task: int,
    pairs: Any,
) -> int:
    """Search from slots[0] up to slots[1], write pairs and move slots[0] to where it stopped; return the number of pairs."""
    q = open_blocks(query)
    lists, masks, row, lengths = scratch.lists[task], scratch.masks[task], scratch.rows[task], scratch.lengths[task]
    tile, points, apart = tiles.pairs[task], tiles.points[task], tiles.apart[task]
    waiting, written = 0, 0
    while slots[0] < slots[1]:
        block, first = slots[0] // WIDTH, slots[0] % WIDTH
        which, count, block_count = list_blocks(query, target, rules, block, lists, masks)
        stride, last = (block_count + 1) * WIDTH, min(WIDTH, slots[1] - block * WIDTH)
        while first < last:
            lanes = lanes_at_once(first, last, stride, len(row))
            collect(query, target, rules, block, lanes, lists[which], masks, count, stride, row, lengths)
            for rank in range(count_bits(lanes)):
                if waiting + written + lengths[rank] > len(pairs):
                    written += _flush(query, target, rules, filters, tile, waiting, points, apart, pairs[written:])
                    waiting = 0
                    if written + lengths[rank] > len(pairs):
                        return written
                i = load(q.ids, slots[0])
                for k in range(rank * stride, rank * stride + lengths[rank]):
                    tile[waiting, 0], tile[waiting, 1] = i, row[k]
                    waiting += 1
                    if waiting == TILE:
                        written += _flush(query, target, rules, filters, tile, waiting, points, apart, pairs[written:])
                        waiting = 0
                slots[0] += 1
            first += count_bits(lanes)
    return written + _flush(query, target, rules, filters, tile, waiting, points, apart, pairs[written:])


@parallel
def _search_round(
    query: Any,
    target: Any,
    rules: Rules,
    filters: Filters,
    slots: Any,
    scratch: Scratch,
    tiles: Tiles,
    thread_total: int,
    pairs: Any,
    written: Any,
) -> None:
    """Tasks are dealt out to the threads in turn, since neighbours have like numbers of pairs."""
    for thread in prange(thread_total):
        for task in range(integer(thread), len(slots), thread_total):
            written[task] = _search_task(query, target, rules, filters, slots[task], scratch, tiles, task, pairs[task])


def _cut(ranges: NDArray[np.int64], task_count: int) -> NDArray[np.int64]:
    """Cut ranges of slots into at most `task_count` pieces that are not empty, as even as they come."""
    pieces = max(1, task_count // len(ranges))
    shares = ranges[:, :1] + (ranges[:, 1:] - ranges[:, :1]) * np.arange(pieces + 1) // pieces
    cut = np.stack([shares[:, :-1].ravel(), shares[:, 1:].ravel()], axis=1)
    return np.ascontiguousarray(cut[cut[:, 0] < cut[:, 1]])


def _need(target: Blocks) -> tuple[int, int]:
    """Bytes of a task beside its region, and the least number of pairs of the region: those of one query."""
    room = max((target.block_count + 2) * WIDTH, BLOCK_ROOM)
    return 12 * target.node_count + 4 * room + 8 * WIDTH + TILE * (8 + 24 * 8 + 1), target.block_count * WIDTH + TILE


def _share(target: Blocks, memory: int) -> tuple[int, int]:
    """The number of tasks and of pairs in the region of each that fit into so many bytes; at least one task is assumed to."""
    fixed, least = _need(target)
    task_count = TASKS
    while task_count > 1 and task_count * (fixed + 8 * least) > memory:
        task_count //= 2
    return task_count, max(least, min((memory // task_count - fixed) // 8, CHUNK // task_count))


def stream_pairs(search: Search, filters: Filters, memory: int) -> Iterator[Indices]:
    """Pairs (query, target) in chunks (n,2), n at least 1; each chunk is a view that the next one writes over."""
    query, target, rules = search
    if not search.has_pairs:
        return
    task_count, capacity = _share(target, memory)
    scratch = reserve([target], task_count)
    tiles = Tiles(
        np.empty((task_count, TILE, 2), dtype=np.int32),
        np.zeros((task_count, 24, TILE)),
        np.empty((task_count, TILE), dtype=np.bool_),
    )
    pairs = np.empty((task_count, capacity, 2), dtype=np.int32)
    flat = pairs.reshape(-1, 2)
    written = np.zeros(task_count, dtype=np.int64)
    slots = _cut(np.array([[0, query.count]]), task_count)
    while len(slots):
        with threads_for(query.count + target.count):
            _search_round(
                query.handle, target.handle, rules, filters, slots, scratch, tiles, thread_count(), pairs, written
            )
        total = 0
        for task in range(len(slots)):
            flat[total : total + written[task]] = pairs[task, : written[task]]
            total += int(written[task])
        if total:
            yield flat[:total]
        left = slots[slots[:, 0] < slots[:, 1]]
        slots = _cut(left, task_count) if len(left) else left


def limit_memory(built: list[Primitives], searches: list[Search], max_memory: int | None) -> tuple[int, int]:
    """Bytes of the blocks, and of blocks and chunks together; InvalidInput if the caller's limit is below what one task needs."""
    sizes = {id(array): array.nbytes for body in built for blocks in body for array in blocks.arrays}
    tables = sum(sizes.values())
    task = max(fixed + 8 * least for fixed, least in (_need(search.target) for search in searches))
    if max_memory is None:
        return tables, tables + max(USUAL_MEMORY - tables, tables, USUAL_TASKS * task)
    if tables + task > max_memory:
        raise InvalidInput("max_memory", f"{max_memory} bytes are too few: this step needs at least {tables + task}")
    return tables, max_memory


def stream(
    a: Moving,
    b: Moving | None = None,
    *,
    volume: str = "aabb",
    min_distance: float = 0.0,
    ends: bool = True,
    dnf: bool = True,
    max_memory: int | None = None,
) -> Iterator[tuple[Kind, Indices]]:
    """Pairs of one body with itself (b is None) or of two, kind by kind, in chunks (n,2) that the next one writes over.

    Every pair that comes within `min_distance` during the step is among them, each once. volume: as for `candidates`. ends, dnf: filters (the
    module says which). max_memory: bytes for blocks and chunks together, the bodies' own arrays aside; None: what the scene needs.
    """
    columns = check_volume(volume)
    bodies = [a] if b is None else [a, b]
    frame = frame_of(bodies, min_distance)
    with threads_for(primitive_count(bodies)):
        built = build(bodies, frame, columns, ends=ends)
    largest = max(float(np.abs(p).max(initial=0.0)) for body in bodies for p in (body.positions_t0, body.positions_t1))
    filters = Filters(dnf and min_distance == 0.0, scale_of(largest))
    searches = list_searches(built, frame.margin, LATER)
    tables, limit = limit_memory(built, searches, max_memory)
    for kind, search in zip((Kind.VERTEX_FACE, Kind.EDGE_EDGE, Kind.FACE_VERTEX), searches, strict=False):
        for pairs in stream_pairs(search, filters, limit - tables):
            yield kind, pairs


@overload
def stream_candidates(
    a: Motion, b: Motion = ..., /, *, volume: Volume = "aabb", min_distance: float = 0.0, max_memory: int | None = None
) -> Iterator[Candidates]: ...


@overload
def stream_candidates(
    mesh: BodyLike,
    v_t0: PointsLike,
    v_t1: PointsLike,
    /,
    *,
    volume: Volume = "aabb",
    min_distance: float = 0.0,
    max_memory: int | None = None,
) -> Iterator[Candidates]: ...


def stream_candidates(
    a: Motion | BodyLike,
    *others: Motion | PointsLike,
    volume: Volume = "aabb",
    min_distance: float = 0.0,
    max_memory: int | None = None,
) -> Iterator[Candidates]:
    """The pairs of `candidates`, in chunks of one kind each: memory stays below a limit however many there are.

    Without a limit the search takes what the size of the scene asks for. Chunks are not sorted. They are the same for any number of threads,
    and each pair is in one of them.

    Args:
        a, *others, volume, min_distance: as for `candidates`.
        max_memory: bytes for the search.

    Returns:
        An iterator over chunks.

    Raises:
        InvalidInput: too small a limit, at the first chunk.

    Examples:
        >>> import abut
        >>> ball = abut.scenes.icosphere(2)
        >>> chunks = list(abut.ccd.stream_candidates(ball, ball.vertices, -ball.vertices))
        >>> sum(map(len, chunks)) == len(abut.candidates(ball, ball.vertices, -ball.vertices))
        True
    """
    check_volume(volume)
    one, two = read_surfaces(a, others)
    first, second, bend = movings_of(one.motion, None if two is None else two.motion)
    distance, limit = arrays.scalar(min_distance, "min_distance", least=0.0), read_limit(max_memory, least=0)
    chunks = stream(first, second, volume=volume, min_distance=distance + bend, ends=False, dnf=False, max_memory=limit)
    return (number_vertices(_own(kind, pairs), one, two) for kind, pairs in chunks)


def read_limit(max_memory: object, *, least: int = 1) -> int | None:
    """The bytes that a caller allows, None if he leaves it to the scene."""
    return None if max_memory is None else arrays.count(max_memory, "max_memory", least=least)


def _own(kind: Kind, pairs: Indices) -> Candidates:
    """A copy of a chunk."""
    empty = frozen(np.empty((0, 2), dtype=np.int32))
    found = [frozen(pairs.copy()) if kind == k else empty for k in (Kind.VERTEX_FACE, Kind.EDGE_EDGE, Kind.FACE_VERTEX)]
    return Candidates(*found)
