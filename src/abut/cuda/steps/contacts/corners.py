"""What the passes of `contacts` read: the vertices of a pair, and their paths seen from one of them."""

from typing import Any

from abut.ccd.impact.relative_paths import relative_paths
from abut.core.scratch import load
from abut.cuda.device import inlined
from abut.cuda.steps.sets import FIRST_CORNER, QUERY, SEARCH_COLUMNS, SET_COLUMNS, TARGET
from abut.cuda.warps import index_at

SECOND_MASK = (1 << 32) - 1


@inlined
def vertex_at(v: Any, vertex: int) -> Any:
    """The place of a vertex."""
    return load(v, 3 * vertex), load(v, 3 * vertex + 1), load(v, 3 * vertex + 2)


@inlined
def corners_of(is_face: bool, code: int, search: int, searches: Any, sets: Any, corners: Any) -> Any:
    """The four vertices of a pair: a vertex and those of a face, or those of two edges."""
    at = search * SEARCH_COLUMNS
    first = load(sets, load(searches, at + QUERY) * SET_COLUMNS + FIRST_CORNER)
    second = load(sets, load(searches, at + TARGET) * SET_COLUMNS + FIRST_CORNER)
    i, j = code >> 32, code & SECOND_MASK
    if is_face:
        k = second + 3 * j
        return index_at(corners, first + i), index_at(corners, k), index_at(corners, k + 1), index_at(corners, k + 2)
    k, m = first + 2 * i, second + 2 * j
    return index_at(corners, k), index_at(corners, k + 1), index_at(corners, m), index_at(corners, m + 1)


@inlined
def paths_of(
    is_face: bool, code: int, search: int, searches: Any, sets: Any, corners: Any, v_t0: Any, v_t1: Any
) -> Any:
    """What `ccd.impact` asks of a pair: paths of three vertices seen from the fourth, their sizes and scale."""
    a, b, c, d = corners_of(is_face, code, search, searches, sets, corners)
    return relative_paths(
        vertex_at(v_t0, a),
        vertex_at(v_t0, b),
        vertex_at(v_t0, c),
        vertex_at(v_t0, d),
        vertex_at(v_t1, a),
        vertex_at(v_t1, b),
        vertex_at(v_t1, c),
        vertex_at(v_t1, d),
    )
