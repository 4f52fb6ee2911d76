"""Candidates are exactly the pairs whose swept volumes meet: against testing all pairs, and the counts of the data scenes."""

import numba
import numpy as np
import pytest

import abut
from abut.ccd import candidates, stream_candidates
from abut.ccd.culling.search import find_candidates
from abut.core.errors import InvalidInput
from abut.core.jit import INTERPRETED
from abut.trees.blocks import runs
from abut.trees.blocks.hilbert import LEVELS, _place_on_curve, place_of, state_table
from abut.trees.blocks.swept import Moving
from ccd.steps import KINDS, SCENES, VOLUMES, as_set, brute_force, brute_force_self, lattice, load_scene, soup

FACES = 16 if INTERPRETED else 60


def moving(mesh, v_t0, v_t1):
    return Moving(np.ascontiguousarray(v_t0), np.ascontiguousarray(v_t1), mesh.faces, mesh.edges)


def has_all(keys, wanted):
    """Whether ascending keys hold all of the wanted ones."""
    return np.array_equal(keys[np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)], wanted)


def assert_pairs(found, expected):
    assert found.dtype == np.int32
    assert not found.flags.writeable
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("volume", VOLUMES)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_self_contact_is_brute_force(kind, volume, rng):
    mesh, v_t0, v_t1 = kind(rng, FACES)
    found = candidates(mesh, v_t0, v_t1, volume=volume)
    vertex_face, edge_edge = brute_force_self(mesh, v_t0, v_t1, volume)
    assert_pairs(found.vertex_face, vertex_face)
    assert_pairs(found.edge_edge, edge_edge)
    assert found.face_vertex.shape == (0, 2)


@pytest.mark.parametrize("volume", ["aabb", "kdop8", "kdop26"])
@pytest.mark.parametrize("margin", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("kind", [soup, lattice], ids=lambda kind: kind.__name__)
def test_two_bodies_within_a_margin_are_brute_force(kind, margin, volume, rng):
    a, b = kind(rng, FACES), kind(rng, FACES // 2)
    found = find_candidates(moving(*a), moving(*b), volume=volume, min_distance=margin)
    sets = [{"v": np.arange(len(v_t0))[:, None], "e": mesh.edges, "f": mesh.faces} for mesh, v_t0, _ in (a, b)]
    for pairs, (first, second) in ((found.vertex_face, "vf"), (found.edge_edge, "ee"), (found.face_vertex, "fv")):
        rows_a, rows_b = (*a[1:], sets[0][first]), (*b[1:], sets[1][second])
        assert_pairs(pairs, brute_force(rows_a, rows_b, volume, margin))


def test_margin_of_self_contact_is_brute_force(rng):
    mesh, v_t0, v_t1 = lattice(rng, FACES)
    for margin in (0.25, 1.0):
        found = candidates(mesh, v_t0, v_t1, min_distance=margin)
        vertex_face, edge_edge = brute_force_self(mesh, v_t0, v_t1, margin=margin)
        assert_pairs(found.vertex_face, vertex_face)
        assert_pairs(found.edge_edge, edge_edge)


def test_larger_volumes_keep_subsets(rng):
    mesh, v_t0, v_t1 = soup(rng, FACES)
    found = {volume: candidates(mesh, v_t0, v_t1, volume=volume) for volume in VOLUMES}
    for large, small in (
        ("kdop14", "kdop6"),
        ("kdop14", "kdop8"),
        ("kdop18", "kdop6"),
        ("kdop18", "kdop12"),
        ("kdop26", "kdop14"),
        ("kdop26", "kdop18"),
    ):
        for pairs in ("vertex_face", "edge_edge"):
            assert as_set(getattr(found[large], pairs)) <= as_set(getattr(found[small], pairs))
    assert len(found["kdop26"]) < len(found["aabb"])


def test_a_search_that_runs_out_of_room_is_repeated(rng, monkeypatch):
    monkeypatch.setattr(runs, "FOUND_EACH", 0)
    monkeypatch.setattr(runs, "_room", runs._Room())
    searches, search = [], runs._find_runs
    monkeypatch.setattr(runs, "_find_runs", lambda *arguments: searches.append(search(*arguments)))
    mesh, v_t0, v_t1 = soup(rng, 3 * FACES, size=2.0)
    assert_pairs(candidates(mesh, v_t0, v_t1).edge_edge, brute_force_self(mesh, v_t0, v_t1)[1])
    assert len(searches) == 2


@pytest.mark.skipif(INTERPRETED, reason="there are no threads")
def test_threads_change_nothing(rng):
    mesh, v_t0, v_t1 = soup(rng, 400)
    before = numba.get_num_threads()
    found = []
    try:
        for threads in (1, before):
            numba.set_num_threads(threads)
            found.append(candidates(mesh, v_t0, v_t1))
    finally:
        numba.set_num_threads(before)
    assert found[0].vertex_face.tobytes() == found[1].vertex_face.tobytes()
    assert found[0].edge_edge.tobytes() == found[1].edge_edge.tobytes()


def test_places_are_those_of_the_curve(rng):
    table = state_table()
    cells = rng.integers(0, 1 << LEVELS, (200, 3)).tolist()
    for cell in cells:
        digits = _place_on_curve(tuple(cell), LEVELS)
        assert place_of(*cell, table) == sum(digit << 3 * (LEVELS - 1 - k) for k, digit in enumerate(digits))


def test_neighbours_on_the_curve_are_neighbours_in_space():
    table, levels = state_table(), 2
    shift = LEVELS - levels  # cells of the coarsest two levels
    cells = {}
    for cell in np.ndindex(4, 4, 4):
        cells[int(place_of(*(c << shift for c in cell), table)) >> 3 * shift] = np.array(cell)
    assert sorted(cells) == list(range(64))
    assert all(np.abs(cells[k + 1] - cells[k]).sum() == 1 for k in range(63))


def test_bad_input_is_named():
    mesh = abut.scenes.icosphere(0)
    v = mesh.vertices
    with pytest.raises(InvalidInput, match="volume: is 'sphere', expected one of"):
        candidates(mesh, v, v, volume="sphere")
    with pytest.raises(InvalidInput, match="v_t1"):
        candidates(mesh, v, v[:-1])
    with pytest.raises(InvalidInput, match="min_distance"):
        candidates(mesh, v, v, min_distance=-1.0)
    with pytest.raises(InvalidInput, match="v_t0"):
        stream_candidates(mesh, v[1:], v)
    with pytest.raises(InvalidInput, match="max_memory"):
        next(stream_candidates(mesh, v, v, max_memory=1000))


@pytest.mark.large
@pytest.mark.parametrize(
    ("name", "vertex_face", "edge_edge"), [("cloth-ball", 1_655_541, 5_197_332), ("cloth-funnel", 7_319, 33_770)]
)
def test_counts_of_the_data_scenes(name, vertex_face, edge_edge):
    if not SCENES.is_dir():
        pytest.skip("the shared data are not beside the checkout")
    mesh, v_t0, v_t1, true_vf, true_ee = load_scene(name)
    found = {volume: candidates(mesh, v_t0, v_t1, volume=volume) for volume in ("aabb", "kdop26")}
    width = 1 << 32
    boxes, dops = found["aabb"], found["kdop26"]
    assert (len(boxes.vertex_face), len(boxes.edge_edge)) == (vertex_face, edge_edge)
    for pairs, true in (("vertex_face", true_vf), ("edge_edge", true_ee)):
        own, kept = (getattr(c, pairs).astype(np.int64) @ (width, 1) for c in (boxes, dops))
        assert (np.diff(own) > 0).all()
        assert has_all(own, kept)
        assert len(kept) < len(own)
        assert has_all(kept, true @ (width, 1))
