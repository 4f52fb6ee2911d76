"""A step on the device from vertices to impacts: buffers that are kept from step to step, and one graph of launches.

Counts stay on the device until all is done. A stage that finds its row full goes on counting; the host (`runs`) then makes more room and does the
step again, so that nothing is dropped. Where memory is short the step is searched in parts, a range of query tiles each, which share the rooms.
"""

import itertools
import math
import threading
from collections.abc import Sequence
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from abut.cuda import device, memory
from abut.cuda.device import THREADS, blocks_for, grid
from abut.cuda.scan import BLOCK, padded, scan
from abut.cuda.steps import lane_pairs, ordering, rows, tile_pairs, tiles
from abut.cuda.steps.contacts import coplanarity, exact_contacts, first_contacts
from abut.cuda.steps.counters import COPLANAR, COUNTERS, HITS, SURVIVORS, TILE_PAIRS, UNDECIDED
from abut.cuda.steps.sets import COUNT, KIND, TURNED, Sets, make_sets
from abut.mesh import Mesh
from abut.trees.blocks.hilbert import state_table

MOST_BITS, LEAST_BITS = 24, 9
CELLS_EACH = 8
"""Cells of the curve for a feature."""
NODE_THREADS = 32 if device.SIMULATED else 1024
SOLVE_THREADS = 32 if device.SIMULATED else 128


class Question(Enum):
    """What a step is searched for."""

    IMPACTS = 0
    EARLIEST = 1
    CANDIDATES = 2


def _bits_for(most: int) -> int:
    """Bits of a place on the curve, three for each halving of the scene, for the largest set."""
    return min(MOST_BITS, max(LEAST_BITS, 3 * round(math.log2(CELLS_EACH * most + 1) / 3)))


class Rooms(NamedTuple):
    """Places of each search in the rows of the stages."""

    tile_pairs: int
    survivors: int
    coplanar: int
    hits: int
    undecided: int


WIDTHS = (1, 1, 1, 1, 3, 3, 1)
"""Columns of the fields of impacts: kind, a, b, time, point, normal, status."""
STAGES = Rooms(TILE_PAIRS, SURVIVORS, COPLANAR, HITS, UNDECIDED)
"""The counters of each stage."""
BYTES = Rooms(8, 8, 8, 8 + 8 + 1 + 4 + 8 + 4 + 8 + 74, 8)
"""What a place of a stage takes."""


class Program:
    """What a step of one mesh with itself, or of two meshes, needs on the device."""

    def __init__(self, meshes: Sequence[Mesh]) -> None:
        self.lock = threading.Lock()
        self.own = own = make_sets(meshes)
        self.search_total, self._set_total = len(own.searches), len(own.sets)
        self._bits = _bits_for(int(own.sets[:, COUNT].max()))
        self._tables(own)
        self.parts = 1
        self._graphs: dict[Any, Any] = {}
        self._seen: set[Any] = set()
        self._fork = memory.Fork(self.search_total)
        most = int(own.sets[:, COUNT].max())
        self.reserve(Rooms(max(64, most // 32 * 32), max(256, 4 * most), max(256, 2 * most), max(256, most), 256))

    def _tables(self, own: Sets) -> None:
        empty, constant = device.empty, device.constant
        self.sets, self.levels = constant(own.sets), constant(own.levels)
        self.searches, self.corners, self.curve = constant(own.searches), constant(own.corners), constant(state_table())
        self.given = [memory.Window(empty(3 * own.vertices, np.float64)) for _ in range(2)]
        self.v = [empty(3 * own.vertices, np.float64) for _ in range(2)]
        self.bounds, self.best, self.counters = empty(6, np.float64), empty(1, np.float64), empty(COUNTERS, np.int64)
        cells = padded(self._set_total << self._bits)
        self.cells, self.cell_sums = empty(cells, np.int32), empty(cells // BLOCK, np.int64)
        self.cell_of, self.rank_of = empty(own.features, np.int32), empty(own.features, np.int32)
        self.order = empty(own.features, np.int32)
        self.boxes, self.ids = empty(own.tiles * tiles.BOX, np.float32), empty(own.tiles * tiles.IDS, np.int32)
        self.points, self.nodes = empty(own.point_rows * 32, np.float32), empty(own.nodes * tiles.BOX, np.float32)
        hit_rows = padded(own.hit_rows)
        self.rows, self.row_sums = empty(hit_rows, np.int32), empty(hit_rows // BLOCK, np.int64)
        self.report = memory.Report(self.counters, self.best)

    def reserve(self, rooms: Rooms) -> None:
        """Make room; graphs know the old rows, and go."""
        self._graphs.clear()
        self._seen.clear()
        for name in ("_found", "survivors", "_coplanar", "_hits", "_left", "_out"):
            self.__dict__.pop(name, None)  # before others are allocated
        self.rooms, n, empty = rooms, self.search_total, device.empty
        self._found, self.survivors = empty(n * rooms.tile_pairs, np.int64), empty(n * rooms.survivors, np.int64)
        self._coplanar, self._left = empty(n * rooms.coplanar, np.int64), empty(n * rooms.undecided, np.int64)
        most = n * rooms.hits
        kinds = (np.int64, np.float64, np.int8, np.int32, np.int64, np.int32, np.int64)
        self._hits = [empty(most, kind) for kind in kinds]  # codes, times, statuses, ranks, order, seconds, ordered
        kinds = (np.int8, np.int64, np.int64, np.float64, np.float64, np.float64, np.int8)
        self._out = [memory.Window(empty(most * width, kind)) for kind, width in zip(kinds, WIDTHS, strict=True)]

    @property
    def byte_count(self) -> int:
        """The memory of the device that is kept."""
        found: list[Any] = []
        for value in vars(self).values():
            found += value if isinstance(value, list) else [value]
        rows_found = [value.row if isinstance(value, memory.Window) else value for value in found]
        return sum(row.size * row.dtype.itemsize for row in rows_found if hasattr(row, "copy_to_host"))

    # --- once through

    def launch(self, question: Question, tolerance: float) -> None:
        """Do the step, as a graph from the second time on: what is compiled on the way is compiled then."""
        key = question, tolerance
        if self.parts > 1:
            self._launch_parts(question, tolerance)
        elif key in self._graphs:
            memory.replay(self._graphs[key])
        else:
            graph = self._capture(question, tolerance) if key in self._seen else None
            self._seen.add(key)
            if graph is None:
                stream = memory.stream()
                self._begin(stream)
                self._search(question, tolerance, [stream] * self.search_total)
                self.finish(question, stream)
            else:
                self._graphs[key] = graph
                memory.replay(graph)

    def _begin(self, stream: Any) -> None:
        self._prepare(stream)
        self._pair_tiles(0, self.own.query_tiles, stream)

    def _capture(self, question: Question, tolerance: float) -> Any:
        return self._fork.capture(
            lambda streams: self._search(question, tolerance, streams),
            self._begin,
            lambda stream: self.finish(question, stream),
        )

    def _launch_parts(self, question: Question, tolerance: float) -> None:
        """A range of query tiles after the other; the greatest counts of any are those of the step."""
        stream, greatest = memory.stream(), np.zeros(COUNTERS, dtype=np.int64)
        self._prepare(stream)
        ends = [self.own.query_tiles * k // self.parts for k in range(self.parts + 1)]
        for begin, end in itertools.pairwise(ends):
            if begin < end:
                ordering.begin_part[1, 32, stream](self.counters)
                self._pair_tiles(begin, end, stream)
                self._search(question, tolerance, [stream] * self.search_total)
                greatest = np.maximum(greatest, np.array(self.report.read()[0]))
        ordering.set_counters[1, 32, stream](device.constant(greatest), self.counters)
        self.finish(question, stream)

    # --- launches

    def _prepare(self, stream: Any) -> None:
        """Everything up to boxes of tiles."""
        own, count = self.own, self._set_total
        v_t0, v_t1 = self.v
        ordering.clear[grid(2), THREADS, stream](self.bounds, self.counters, self.cells, self.rows, self.best)
        ordering.read_vertices[grid(2), THREADS, stream](*[each.row for each in self.given], v_t0, v_t1, self.counters)
        ordering.find_bounds[grid(1), THREADS, stream](self.sets, count, self.corners, v_t0, v_t1, self.bounds)
        each = blocks_for(own.features)
        ordering.count_cells[each, THREADS, stream](
            self.sets,
            count,
            self.corners,
            v_t0,
            v_t1,
            self.bounds,
            self.curve,
            self._bits,
            self.cells,
            self.cell_of,
            self.rank_of,
        )
        scan(self.cells, self.cell_sums, stream)
        ordering.put_in_order[each, THREADS, stream](
            self.sets, count, self.cells, self.cell_sums, self.cell_of, self.rank_of, self.order
        )
        tiles.fill_tiles[blocks_for(32 * own.padded_tiles), THREADS, stream](
            self.sets,
            count,
            self.levels,
            self.corners,
            v_t0,
            v_t1,
            self.bounds,
            self.order,
            self.boxes,
            self.ids,
            self.points,
            self.nodes,
        )
        tiles.fill_nodes[1, NODE_THREADS, stream](count, self.levels, self.nodes)

    def _pair_tiles(self, begin: int, end: int, stream: Any) -> None:
        tile_pairs.find_tile_pairs[blocks_for(32 * (end - begin)), THREADS, stream](
            self.searches,
            self.search_total,
            self.levels,
            self.nodes,
            begin,
            end,
            self._found,
            self.rooms.tile_pairs,
            self.counters,
        )

    def _search(self, question: Question, tolerance: float, streams: list[Any]) -> None:
        """From pairs of tiles to impacts, a search on each stream; the one that takes longest on the first."""
        for k, search in enumerate(sorted(range(self.search_total), key=lambda s: not self._is_of_edges(s))):
            self._filter(search, question, streams[k])
            if question is not Question.CANDIDATES:
                self._solve(search, question, tolerance, streams[k])

    def _is_of_edges(self, search: int) -> bool:
        return int(self.own.searches[search, KIND]) == rows.EDGES

    def _filter(self, search: int, question: Question, stream: Any) -> None:
        lists, edges = question is Question.CANDIDATES, self._is_of_edges(search)
        if edges:
            chosen = lane_pairs.list_edge_edge if lists else lane_pairs.filter_edge_edge
        else:
            chosen = lane_pairs.list_vertex_face if lists else lane_pairs.filter_vertex_face
        chosen[grid(3), THREADS, stream](
            search,
            self.searches,
            self.sets,
            self.levels,
            self._found,
            self.rooms.tile_pairs,
            self.boxes,
            self.ids,
            self.points,
            self.nodes,
            *self.v,
            self.survivors,
            self.rooms.survivors,
            self.counters,
        )

    def _solve(self, search: int, question: Question, tolerance: float, stream: Any) -> None:
        edges = self._is_of_edges(search)
        keep = coplanarity.keep_coplanar_edge_edge if edges else coplanarity.keep_coplanar_vertex_face
        if question is Question.EARLIEST:
            solve = first_contacts.hurry_edge_edge if edges else first_contacts.hurry_vertex_face
        else:
            solve = first_contacts.solve_edge_edge if edges else first_contacts.solve_vertex_face
        tables = search, self.searches, self.sets, self.corners, *self.v
        keep[grid(8), THREADS, stream](
            *tables, self.survivors, self.rooms.survivors, self._coplanar, self.rooms.coplanar, self.counters
        )
        solve[grid(24), SOLVE_THREADS, stream](
            *tables,
            self._coplanar,
            self.rooms.coplanar,
            tolerance,
            *self._hits[:3],
            self.rooms.hits,
            self._left,
            self.rooms.undecided,
            self.counters,
            self.best,
        )

    def finish(self, question: Question, stream: Any) -> None:
        """Impacts in order, or the earliest of their times."""
        codes, times, statuses, ranks, order, seconds, ordered = self._hits
        room, count = self.rooms.hits, self.search_total
        if question is Question.EARLIEST:
            rows.find_earliest[grid(2), THREADS, stream](count, times, room, self.counters, self.best)
        if question is not Question.IMPACTS:
            return
        rows.count_rows[grid(2), THREADS, stream](self.searches, count, codes, room, self.counters, self.rows, ranks)
        scan(self.rows, self.row_sums, stream)
        rows.place_in_rows[grid(2), THREADS, stream](
            self.searches, count, codes, room, self.counters, self.rows, self.row_sums, ranks, order, seconds
        )
        rows.sort_rows[grid(2), THREADS, stream](
            self.searches,
            count,
            self.own.hit_rows,
            codes,
            room,
            self.counters,
            self.rows,
            self.row_sums,
            order,
            seconds,
            ordered,
        )
        rows.describe[grid(8), SOLVE_THREADS, stream](
            self.searches,
            count,
            self.sets,
            self.corners,
            *self.v,
            codes,
            times,
            statuses,
            room,
            self.counters,
            ordered,
            *[each.row for each in self._out],
        )

    def decide(self, search: int, count: int, queries: Any, workspaces: Any) -> None:
        """Launch the integers for so many pairs of a search, with as many workspaces as may work at once."""
        chosen = exact_contacts.decide_edge_edge if self._is_of_edges(search) else exact_contacts.decide_vertex_face
        chosen[min(count, len(queries)), 1, memory.stream()](
            search,
            self.searches,
            self.sets,
            self.corners,
            *self.v,
            self._left,
            self.rooms.undecided,
            queries,
            workspaces,
            *self._hits[:3],
            self.rooms.hits,
            self.counters,
        )

    def finish_again(self, question: Question) -> None:
        """The order of impacts anew, after some were added."""
        stream = memory.stream()
        rows.clear_rows[grid(2), THREADS, stream](self.rows)
        self.finish(question, stream)

    def number(self, search: int, count: int) -> Any:
        """(count,2) candidates of a search, sorted."""
        begin, stream = search * self.rooms.survivors, memory.stream()
        if int(self.own.searches[search, TURNED]):
            rows.turn_pairs[grid(2), THREADS, stream](begin, count, self.survivors)
        memory.sort(self.survivors, begin, count)
        pairs = device.empty(2 * count, np.int32)
        rows.number_pairs[grid(2), THREADS, stream](
            search, self.searches, self.sets, self.corners, begin, count, self.survivors, pairs
        )
        return memory.Window(pairs).take(count, 2)

    def impacts(self, total: int) -> list[Any]:
        """The fields of impacts, as arrays of the user's own."""
        return [window.take(total, width) for window, width in zip(self._out, WIDTHS, strict=True)]

    def kind_of(self, search: int) -> int:
        """The kind of contact of a search."""
        return int(self.own.searches[search, KIND])
