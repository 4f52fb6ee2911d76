"""Chunks in bounded memory are the candidates, and filters inside the search leave every pair that meets."""

import numba
import numpy as np
import pytest

from abut.ccd import candidates, filter_dnf, stream_candidates
from abut.ccd.culling.search import find_candidates
from abut.ccd.culling.stream import stream
from abut.ccd.motion.straight import moving_of
from abut.ccd.results import Candidates, Kind
from abut.core.errors import InvalidInput
from abut.core.jit import INTERPRETED
from ccd.steps import KINDS, SCENES, VOLUMES, as_set, lattice, load_scene, soup, surface

FACES = 16 if INTERPRETED else 60
DIRECTIONS = [d for d in np.ndindex(3, 3, 3) if d > (1, 1, 1)]  # 13, one of each opposite pair, components less 1


def joined(chunks):
    found = list(chunks)
    return [
        np.concatenate([np.empty((0, 2), int), *(getattr(c, name) for c in found)])
        for name in ("vertex_face", "edge_edge")
    ]


def streamed(*arguments, **options):
    """Pairs by kind; each once."""
    found = {kind: [] for kind in Kind}
    for kind, pairs in stream(*arguments, **options):
        found[kind] += map(tuple, pairs.tolist())
    for pairs in found.values():
        assert len(set(pairs)) == len(pairs)
    return {kind: set(pairs) for kind, pairs in found.items()}


def least_memory(mesh, v_t0, v_t1, **options):
    with pytest.raises(InvalidInput, match="needs at least") as caught:
        next(stream_candidates(mesh, v_t0, v_t1, max_memory=0, **options))
    return int(str(caught.value).rsplit(" ", 1)[1])


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_chunks_are_the_candidates(kind, rng):
    mesh, v_t0, v_t1 = kind(rng, FACES)
    vertex_face, edge_edge = joined(stream_candidates(mesh, v_t0, v_t1))
    whole = candidates(mesh, v_t0, v_t1)
    assert (len(vertex_face), len(edge_edge)) == (len(whole.vertex_face), len(whole.edge_edge))
    assert as_set(vertex_face) == as_set(whole.vertex_face)
    assert as_set(edge_edge) == as_set(whole.edge_edge)


@pytest.mark.parametrize("volume", VOLUMES)
def test_little_memory_gives_more_chunks_and_the_same_pairs(volume, rng):
    mesh, v_t0, v_t1 = soup(rng, FACES, size=3.0)
    whole = candidates(mesh, v_t0, v_t1, volume=volume)
    least = least_memory(mesh, v_t0, v_t1, volume=volume)
    sizes = []
    for memory in (least, least + 20_000, 1 << 28):
        chunks = list(stream_candidates(mesh, v_t0, v_t1, volume=volume, max_memory=memory))
        sizes.append(len(chunks))
        vertex_face, edge_edge = joined(chunks)
        assert len(vertex_face) + len(edge_edge) == len(whole)
        assert as_set(vertex_face) == as_set(whole.vertex_face)
        assert as_set(edge_edge) == as_set(whole.edge_edge)
        assert sum(c.vertex_face.nbytes + c.edge_edge.nbytes for c in chunks[:1]) < memory
    assert sizes[0] > sizes[-1] or len(whole) < 1000  # so few may fit into the least region


@pytest.mark.skipif(INTERPRETED, reason="there are no threads")
def test_threads_change_no_chunk(rng):
    mesh, v_t0, v_t1 = soup(rng, 200)
    before = numba.get_num_threads()
    found = []
    try:
        for threads in (1, before):
            numba.set_num_threads(threads)
            found.append([pairs.tobytes() for _, pairs in stream(moving_of(mesh, v_t0, v_t1), max_memory=1 << 20)])
    finally:
        numba.set_num_threads(before)
    assert found[0] == found[1]


def separated(a_t0, a_t1, b_t0, b_t1, margin):
    """Whether one of 13 directions has the points a on one side of the points b by more than the margin, at both ends on the same side."""
    for d in DIRECTIONS:
        direction = np.array(d) - 1.0
        reach = margin * np.linalg.norm(direction)
        gaps = [
            (
                (a @ direction).min() - (b @ direction).max() - reach,
                (b @ direction).min() - (a @ direction).max() - reach,
            )
            for a, b in ((a_t0, b_t0), (a_t1, b_t1))
        ]
        if min(gaps[0][0], gaps[1][0]) > 0 or min(gaps[0][1], gaps[1][1]) > 0:
            return True
    return False


@pytest.mark.parametrize("margin", [0.0, 0.25])
@pytest.mark.parametrize("kind", [soup, lattice], ids=lambda kind: kind.__name__)
def test_extents_leave_the_pairs_that_no_direction_separates(kind, margin, rng):
    mesh, v_t0, v_t1 = surface(*kind(rng, min(FACES, 20)))
    body = moving_of(mesh, v_t0, v_t1)
    whole = candidates(mesh, v_t0, v_t1, min_distance=margin)
    found = streamed(body, min_distance=margin, dnf=False)
    rows = {Kind.VERTEX_FACE: (np.arange(len(v_t0))[:, None], mesh.faces), Kind.EDGE_EDGE: (mesh.edges, mesh.edges)}
    for which, pairs in ((Kind.VERTEX_FACE, whole.vertex_face), (Kind.EDGE_EDGE, whole.edge_edge)):
        first, second = rows[which]
        expected = {
            (i, j)
            for i, j in pairs.tolist()
            if not separated(v_t0[first[i]], v_t1[first[i]], v_t0[second[j]], v_t1[second[j]], margin)
        }
        assert found[which] == expected


def test_dnf_inside_is_dnf_outside(rng):
    mesh, v_t0, v_t1 = soup(rng, FACES)
    body = moving_of(mesh, v_t0, v_t1)
    inside, without = streamed(body), streamed(body, dnf=False)
    pairs = [
        np.array(sorted(without[kind]), dtype=np.int32).reshape(-1, 2) for kind in (Kind.VERTEX_FACE, Kind.EDGE_EDGE)
    ]
    left = Candidates(*pairs)
    kept = filter_dnf(mesh, v_t0, v_t1, left).apply(left)
    assert inside[Kind.VERTEX_FACE] == as_set(kept.vertex_face)
    assert inside[Kind.EDGE_EDGE] == as_set(kept.edge_edge)
    assert len(kept) < len(left)


def test_two_bodies(rng):
    a, b = (moving_of(*surface(*soup(rng, count))) for count in (FACES, FACES // 2))
    whole = find_candidates(a, b)
    found = streamed(a, b, ends=False, dnf=False)
    assert found[Kind.VERTEX_FACE] == as_set(whole.vertex_face)
    assert found[Kind.EDGE_EDGE] == as_set(whole.edge_edge)
    assert found[Kind.FACE_VERTEX] == as_set(whole.face_vertex)
    for kind, pairs in streamed(a, b).items():
        assert pairs < found[kind]


def test_a_vertex_that_passes_within_the_margin_is_found(rng):
    """Vertices near a vertex of a face at some time are near the face: the extents must leave them."""
    mesh, v_t0, v_t1 = soup(rng, FACES)
    margin = 0.2
    found = streamed(moving_of(mesh, v_t0, v_t1), min_distance=margin)[Kind.VERTEX_FACE]
    near = set()
    for t in np.linspace(0, 1, 5):
        v = (1 - t) * v_t0 + t * v_t1
        close = np.linalg.norm(v[:, None] - v[None], axis=2) < margin * 0.999
        for i, face in enumerate(mesh.faces):
            near |= {(k, i) for k in np.flatnonzero(close[:, face].any(axis=1)).tolist() if k not in face}
    assert near
    assert near <= found


@pytest.mark.large
@pytest.mark.parametrize("name", ["cloth-ball", "cloth-funnel"])
def test_true_pairs_of_the_data_scenes_survive(name):
    if not SCENES.is_dir():
        pytest.skip("the shared data are not beside the checkout")
    mesh, v_t0, v_t1, true_vf, true_ee = load_scene(name)
    body = moving_of(mesh, v_t0, v_t1)
    found = {Kind.VERTEX_FACE: [], Kind.EDGE_EDGE: []}
    for kind, pairs in stream(body, max_memory=1 << 27):
        found[kind].append(pairs.astype(np.int64) @ (1 << 32, 1))
    for kind, true in ((Kind.VERTEX_FACE, true_vf), (Kind.EDGE_EDGE, true_ee)):
        keys = np.concatenate(found[kind])
        assert len(np.unique(keys)) == len(keys)
        assert np.isin(true @ (1 << 32, 1), keys).all()
    if name == "cloth-ball":  # 1,655,541 and 5,197,332 boxes meet
        assert sum(map(len, found[Kind.VERTEX_FACE])) < 80_000
        assert sum(map(len, found[Kind.EDGE_EDGE])) < 300_000
