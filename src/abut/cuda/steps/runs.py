"""A step until nothing is open: more room where there was too little, parts where memory is short, integers where floating point is not enough."""

from typing import Any, NamedTuple

import numpy as np

from abut.ccd.impact.exact.integers import DIGITS
from abut.ccd.impact.exact.tables import EXACT_ROWS
from abut.core.errors import InvalidInput, Unsupported
from abut.cuda import device, memory
from abut.cuda.steps.counters import BAD_ROW, HITS, NO_ROW, SURVIVORS, UNDECIDED
from abut.cuda.steps.program import BYTES, STAGES, Program, Question, Rooms

HEADROOM = 1.25
"""Room is made for so much more than was needed."""
SHARE = 0.8
"""Of the free memory that rooms may take."""
MOST_WORKSPACES = 528
"""Pairs that are decided by integers at once; each takes half a megabyte."""


class Outcome(NamedTuple):
    """What a step came to: impacts and candidates of each search, and the earliest time (inf: none)."""

    hits: list[int]
    pairs: list[int]
    best: float


def run(
    program: Program, question: Question, ends: list[Any], tolerance: float, max_memory: int | None = None
) -> Outcome:
    """Do a step. ends: vertices at t = 0 and t = 1 of one mesh after the other, on the device. Held by the program's lock until it is read."""
    while True:
        place = 0
        for k, array in enumerate(ends):
            program.given[k % 2].put(place, array)
            place += array.size if k % 2 else 0
        program.launch(question, tolerance)
        counts, best = program.report.read()
        _refuse_bad(counts, ends)
        if _make_room(program, question, counts, max_memory):
            continue
        if question is not Question.CANDIDATES and any(counts[UNDECIDED : UNDECIDED + program.search_total]):
            _decide(program, counts)
            program.finish_again(question)
            counts, best = program.report.read()
            if _make_room(program, question, counts, max_memory):
                continue
        n = program.search_total
        return Outcome(counts[HITS : HITS + n], counts[SURVIVORS : SURVIVORS + n], best)


class BadRow(InvalidInput):
    """A row of the vertices of all meshes, numbered through, that is not finite; the caller knows which array it is of."""


def _refuse_bad(counts: list[int], ends: list[Any]) -> None:
    for end in range(2):
        row = counts[BAD_ROW + end]
        if row < NO_ROW:
            for mesh in range(len(ends) // 2):
                array = ends[2 * mesh + end]
                if row < len(array):
                    raise BadRow(
                        ("v_t0", "v_t1")[end] if len(ends) == 2 else f"v_t{end} of body {mesh}",
                        _reason(array, row),
                        row,
                    )
                row -= len(array)


def _reason(array: Any, row: int) -> str:
    own = memory.to_host(array[row])
    return "is NaN" if np.isnan(own).any() else "is infinite, or beyond what squares and products can hold"


def _bytes_of(program: Program, rooms: Rooms) -> int:
    return program.search_total * sum(each * size for each, size in zip(rooms, BYTES, strict=True))


def _make_room(program: Program, question: Question, counts: list[int], max_memory: int | None) -> bool:
    """Whether a stage had too little room, which it has now."""
    n, rooms = program.search_total, program.rooms
    needed = [max(counts[stage : stage + n]) for stage in STAGES]
    lacking = [has < need for has, need in zip(rooms, needed, strict=True)]
    if not any(lacking):
        return False
    wanted = Rooms(
        *(int(need * HEADROOM) + 64 if lacks else has for has, need, lacks in zip(rooms, needed, lacking, strict=True))
    )
    free = memory.free_bytes() + _bytes_of(program, rooms)
    limit = int(SHARE * free) if max_memory is None else max_memory
    stages = _bytes_of(program, wanted._replace(hits=0, undecided=0))
    rest = _bytes_of(program, wanted) - stages
    if stages + rest > limit:
        if question is Question.CANDIDATES or rest >= limit:
            raise Unsupported(
                f"a step that takes {stages + rest:,} bytes of the device's memory, where it has {limit:,}"
            )
        program.parts *= -(-stages // (limit - rest)) + 1
        share = (limit - rest) / stages
        wanted = wanted._replace(
            **{name: max(1024, int(getattr(wanted, name) * share)) for name in ("tile_pairs", "survivors", "coplanar")}
        )
    program.reserve(wanted)
    return True


def _decide(program: Program, counts: list[int]) -> None:
    """Decide by integers what floating point left."""
    left = counts[UNDECIDED : UNDECIDED + program.search_total]
    blocks = min(max(left), 2 if device.SIMULATED else MOST_WORKSPACES)
    queries = memory.zeros((blocks, 8, 3), np.float64)
    workspaces = memory.zeros((blocks, EXACT_ROWS, DIGITS + 2), np.int64)
    for search, count in enumerate(left):
        if count:
            program.decide(search, count, queries, workspaces)
