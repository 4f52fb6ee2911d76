"""Candidates of a step a chunk at a time, in bounded memory, and only those that the filters inside the search leave.

With `ends`, pairs that one of 13 directions separates at both ends of the step are left out at every grain of the search. With `dnf`, pairs
whose four points are never coplanar go last, a tile at a time (`filters`). Both keep every pair that meets. With a distance to keep the extents grow
by it, and DNF, which knows none, is not used. `chunks` has the search itself.
"""

from collections.abc import Iterator
from typing import NamedTuple, overload

import numpy as np

from abut.ccd.culling.chunks import LEAST_ROOM, Filters, need, stream_pairs
from abut.ccd.culling.filters import scale_of
from abut.ccd.culling.search import Volume, check_volume, list_searches, number_vertices, primitive_count
from abut.ccd.motion.motions import BodyLike, Motion
from abut.ccd.motion.straight import movings_of
from abut.ccd.motion.surfaces import read_surfaces
from abut.ccd.results import Candidates, Kind
from abut.core import arrays
from abut.core.arrays import frozen
from abut.core.errors import InvalidInput
from abut.core.jit import threads_for
from abut.core.types import PointsLike
from abut.trees.blocks.block_tree import Primitives, build
from abut.trees.blocks.memory import Memory
from abut.trees.blocks.runs import Search
from abut.trees.blocks.search import LATER
from abut.trees.blocks.swept import Indices, Moving, frame_of

USUAL_MEMORY = 1 << 29
"""Bytes that a search without a limit may take in any case."""
USUAL_TASKS = 16
"""It has room for so many tasks at least, beside the blocks, and for as much again as the blocks take: the bigger the scene, the more."""


def limit_memory(built: list[Primitives], searches: list[Search], max_memory: int | None) -> tuple[int, int]:
    """Bytes of the blocks, and of blocks and chunks together; InvalidInput if the caller's limit is below what one task needs."""
    sizes = {id(array): array.nbytes for body in built for blocks in body for array in blocks.arrays}
    tables = sum(sizes.values())
    task = max(need(search.target) for search in searches) + 8 * LEAST_ROOM
    if max_memory is None:
        return tables, tables + max(USUAL_MEMORY - tables, tables, USUAL_TASKS * task)
    if tables + task > max_memory:
        raise InvalidInput("max_memory", f"{max_memory} bytes are too few: this step needs at least {tables + task}")
    return tables, max_memory


class Culled(NamedTuple):
    """What a step is searched for: its searches by kind, filters, and the bytes for chunks."""

    searches: list[tuple[Kind, Search]]
    filters: Filters
    limit: int

    def stream(self, memory: Memory, *, every: int = 1) -> Iterator[tuple[Kind, Indices]]:
        """Pairs kind by kind, in chunks (n,2) that the next one writes over. every: of one query block in so many."""
        for kind, search in self.searches:
            for pairs in stream_pairs(search, self.filters, self.limit, memory, every=every):
                yield kind, pairs


def cull(
    a: Moving,
    b: Moving | None = None,
    *,
    volume: str = "aabb",
    min_distance: float = 0.0,
    ends: bool = True,
    dnf: bool = True,
    max_memory: int | None = None,
    memory: Memory | None = None,
) -> Culled:
    """The searches of one body with itself (b is None) or of two: every pair that comes within `min_distance` during the step is found, each once.

    volume: as for `candidates`. ends, dnf: filters (the module says which). max_memory: bytes for blocks and chunks together, the bodies' own
    arrays aside; None: what the scene needs. memory: what the blocks lie in.
    """
    columns = check_volume(volume)
    bodies = [a] if b is None else [a, b]
    frame = frame_of(bodies, min_distance)
    with threads_for(primitive_count(bodies)):
        built = build(bodies, frame, columns, ends=ends, memory=memory)
    largest = max(largest_coordinate(body) for body in bodies)
    searches = list_searches(built, frame.margin, LATER)
    tables, limit = limit_memory(built, searches, max_memory)
    kinds = (Kind.VERTEX_FACE, Kind.EDGE_EDGE, Kind.FACE_VERTEX)
    filters = Filters(dnf and min_distance == 0.0, scale_of(largest))
    return Culled(list(zip(kinds, searches, strict=False)), filters, limit - tables)


def largest_coordinate(body: Moving) -> float:
    """The largest magnitude of any coordinate at both ends."""
    return max(float(np.abs(p).max(initial=0.0)) for p in (body.positions_t0, body.positions_t1))


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
    """What `cull` finds, kind by kind, in chunks (n,2) that the next one writes over."""
    memory = Memory()
    culled = cull(
        a, b, volume=volume, min_distance=min_distance, ends=ends, dnf=dnf, max_memory=max_memory, memory=memory
    )
    yield from culled.stream(memory)


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
