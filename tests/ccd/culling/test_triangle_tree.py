"""The paper's tree of triangles finds what the search of features finds, and what testing all pairs finds."""

import numpy as np
import pytest

import abut
from abut.core.jit import INTERPRETED
from ccd.steps import KINDS, VOLUMES, brute_force, brute_force_self

FACES = 10 if INTERPRETED else 50


@pytest.mark.parametrize("volume", ["aabb", "kdop12", "kdop26"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_pairs_are_all_pairs_whose_volumes_meet(kind, volume, rng):
    mesh, v_t0, v_t1 = kind(rng, FACES)
    found = abut.ccd.search_triangles(mesh, v_t0, v_t1, volume=volume)
    vertex_face, edge_edge = brute_force_self(mesh, v_t0, v_t1, volume)
    assert found.candidates.vertex_face.tolist() == vertex_face.tolist()
    assert found.candidates.edge_edge.tolist() == edge_edge.tolist()
    faces = brute_force((v_t0, v_t1, mesh.faces), (v_t0, v_t1, mesh.faces), volume, smaller_first=True)
    assert found.triangle_pairs == len(faces)
    assert len(vertex_face) <= found.vertex_face_count <= 6 * len(faces)
    assert len(edge_edge) <= found.edge_edge_count <= 9 * len(faces)


def test_counts_are_of_the_triangles_that_meet(rng):
    """Pairs that triangles bring, listed one by one."""
    mesh, v_t0, v_t1 = KINDS[0](rng, 12)
    found = abut.ccd.search_triangles(mesh, v_t0, v_t1)
    rows = (v_t0, v_t1, mesh.faces)
    vertex_face, edge_edge = set(), set()
    for pair in brute_force(rows, rows, "kdop26", smaller_first=True).tolist():
        for f, g in (pair, pair[::-1]):
            vertex_face |= {(v, g) for v in mesh.faces[f].tolist() if v not in mesh.faces[g]}
            for e in mesh.face_edges[f].tolist():
                for k in mesh.face_edges[g].tolist():
                    if min(e, k) >= 0 and not set(mesh.edges[e].tolist()) & set(mesh.edges[k].tolist()):
                        edge_edge.add((min(e, k), max(e, k)))
    assert (found.vertex_face_count, found.edge_edge_count) == (len(vertex_face), len(edge_edge))


@pytest.mark.parametrize("volume", list(VOLUMES))
def test_both_searches_agree(volume, rng):
    mesh, v_t0, v_t1 = KINDS[0](rng, 2 * FACES)
    found, pairs = (
        abut.ccd.search_triangles(mesh, v_t0, v_t1, volume=volume).candidates,
        abut.candidates(mesh, v_t0, v_t1, volume=volume),
    )
    assert np.array_equal(found.vertex_face, pairs.vertex_face)
    assert np.array_equal(found.edge_edge, pairs.edge_edge)


def test_a_single_triangle_with_area_and_without():
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    for faces in ([[0, 1, 2]], [[0, 1, 1]], [[1, 1, 1]]):
        found = abut.ccd.search_triangles((corners, faces), corners, -corners)
        assert (len(found.candidates), found.triangle_pairs, found.vertex_face_count) == (0, 0, 0)
        assert found.candidates.vertex_face.dtype == np.int32
