"""The first pass: of pairs near each other those that may be coplanar at some time. It leaves half of them, and needs few registers."""

from typing import Any

from abut.ccd.impact.coplanarity import coplanarity, coplanarity_noise, has_one_sign
from abut.core.jit import integer
from abut.core.scratch import load
from abut.cuda.device import cuda, inlined, kernel
from abut.cuda.steps.contacts.corners import paths_of
from abut.cuda.steps.counters import COPLANAR, SURVIVORS
from abut.cuda.warps import append


@inlined
def _keep_coplanar(
    is_face: bool,
    search: int,
    searches: Any,
    sets: Any,
    corners: Any,
    v_t0: Any,
    v_t1: Any,
    pairs: Any,
    pair_room: int,
    found: Any,
    room: int,
    counters: Any,
) -> None:
    lane = cuda.threadIdx.x % 32
    total = min(load(counters, SURVIVORS + search), pair_room)
    for base in range(cuda.grid(1) - lane, total, cuda.gridsize(1)):
        keep, code = False, integer(0)
        if base + lane < total:
            code = load(pairs, search * pair_room + base + lane)
            paths, sizes, _ = paths_of(is_face, code, search, searches, sets, corners, v_t0, v_t1)
            keep = not has_one_sign(coplanarity(paths), coplanarity_noise(sizes))
        append(keep, code, lane, found, search * room, room, counters, COPLANAR + search)


@kernel
def keep_coplanar_vertex_face(
    search: int,
    searches: Any,
    sets: Any,
    corners: Any,
    v_t0: Any,
    v_t1: Any,
    pairs: Any,
    pair_room: int,
    found: Any,
    room: int,
    counters: Any,
) -> None:
    """Of pairs of vertices and faces those that may be coplanar at some time."""
    _keep_coplanar(True, search, searches, sets, corners, v_t0, v_t1, pairs, pair_room, found, room, counters)


@kernel
def keep_coplanar_edge_edge(
    search: int,
    searches: Any,
    sets: Any,
    corners: Any,
    v_t0: Any,
    v_t1: Any,
    pairs: Any,
    pair_room: int,
    found: Any,
    room: int,
    counters: Any,
) -> None:
    """Of pairs of edges those that may be coplanar at some time."""
    _keep_coplanar(False, search, searches, sets, corners, v_t0, v_t1, pairs, pair_room, found, room, counters)
