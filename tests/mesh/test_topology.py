"""Adjacency and kinds of surface, against dictionaries and libigl's numbering."""

import itertools
import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abut import scenes
from abut.mesh import Mesh, load
from oracles import mesh as oracle

SCENES = Path(__file__).parents[3] / "shared" / "data" / "scenes"


TETRAHEDRON = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)]


def shifted(faces, mapping):
    return [tuple(mapping[v] for v in face) for face in faces]


def mesh_of(faces, seed=0):
    vertex_count = max(map(max, faces)) + 1
    return Mesh(np.random.default_rng(seed).normal(size=(vertex_count, 3)), faces)


def strip(count, twist):
    """A band of 2·count faces; with a twist a Möbius strip."""
    corner = lambda i, side: 2 * (i % count) + (side ^ (twist and i >= count))  # noqa: E731
    return [
        face
        for i in range(count)
        for face in (
            (corner(i, 0), corner(i + 1, 0), corner(i, 1)),
            (corner(i, 1), corner(i + 1, 0), corner(i + 1, 1)),
        )
    ]


# name: faces, closed, oriented, manifold, boundary edges, components
KINDS = {
    "one face": ([(0, 1, 2)], False, True, True, 3, 1),
    "tetrahedron": (TETRAHEDRON, True, True, True, 0, 1),
    "tetrahedron without a face": (TETRAHEDRON[1:], False, True, True, 3, 1),
    "tetrahedron with a face turned": ([(0, 1, 2), *TETRAHEDRON[1:]], True, False, True, 0, 1),
    "tetrahedron inside out": ([face[::-1] for face in TETRAHEDRON], True, True, True, 0, 1),
    "tetrahedron with a face twice": ([*TETRAHEDRON, TETRAHEDRON[0]], False, True, False, 0, 1),
    "face twice": ([(0, 1, 2), (0, 1, 2)], True, False, True, 0, 1),
    "face and its reverse": ([(0, 1, 2), (0, 2, 1)], True, True, True, 0, 1),
    "two tetrahedra apart": (TETRAHEDRON + shifted(TETRAHEDRON, [4, 5, 6, 7]), True, True, True, 0, 2),
    "two tetrahedra at a vertex": (TETRAHEDRON + shifted(TETRAHEDRON, [0, 5, 6, 7]), True, True, False, 0, 1),
    "two tetrahedra at an edge": (TETRAHEDRON + shifted(TETRAHEDRON, [0, 1, 6, 7]), True, True, False, 0, 1),
    "bow tie": ([(0, 1, 2), (0, 3, 4)], False, True, False, 6, 1),
    "three faces at an edge": ([(0, 1, 2), (1, 0, 3), (0, 1, 4)], False, True, False, 6, 1),
    "three faces one way along an edge": ([(0, 1, 2), (0, 1, 3), (0, 1, 4)], False, False, False, 6, 1),
    "band": (strip(5, twist=False), False, True, True, 10, 1),
    "Möbius strip": (strip(5, twist=True), False, False, True, 10, 1),
    "collapsed to a segment": ([(0, 0, 1)], False, True, False, 0, 1),
    "collapsed to a point": ([(0, 0, 0)], False, True, False, 0, 1),
    "tetrahedron and a collapsed face on its edge": ([*TETRAHEDRON, (0, 0, 1)], True, True, True, 0, 1),
    "tetrahedron and a collapsed face at its vertex": ([*TETRAHEDRON, (0, 0, 0)], True, True, True, 0, 1),
    "tetrahedron and a dangling collapsed face": ([*TETRAHEDRON, (0, 4, 0)], True, True, False, 0, 1),
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_kinds_of_surface(kind):
    faces, closed, oriented, manifold, boundary_count, component_count = kind
    mesh = mesh_of(faces)
    assert mesh.is_closed is closed
    assert mesh.is_oriented is oriented
    assert mesh.is_manifold is manifold
    assert len(mesh.boundary_edges) == boundary_count
    assert mesh.component_count == component_count
    assert_is_as_oracle(mesh)


def rows(incidence):
    return [incidence.at(i).tolist() for i in range(len(incidence.offsets) - 1)]


def assert_is_as_oracle(mesh):
    faces, vertex_count = [tuple(face) for face in mesh.faces.tolist()], len(mesh.vertices)
    assert mesh.edges.tolist() == [list(edge) for edge in oracle.edges(faces)]
    assert mesh.face_edges.tolist() == oracle.face_edges(faces)
    assert rows(mesh.edge_faces) == oracle.edge_faces(faces)
    assert rows(mesh.vertex_faces) == oracle.vertex_faces(faces, vertex_count)
    assert mesh.boundary_edges.tolist() == oracle.boundary_edges(faces)
    assert mesh.is_closed == oracle.is_closed(faces)
    assert mesh.is_oriented == oracle.is_oriented(faces)
    assert mesh.is_manifold == oracle.is_manifold(faces)
    labels = oracle.components(faces)
    assert mesh.components.tolist() == labels
    assert mesh.component_count == max(labels) + 1
    of_vertex = {v: label for face, label in zip(faces, labels, strict=True) for v in face}
    assert mesh.vertex_components.tolist() == [of_vertex.get(v, -1) for v in range(vertex_count)]
    assert mesh.bounds.tolist() == [f(mesh.vertices[sorted(of_vertex)], axis=0).tolist() for f in (np.min, np.max)]


@given(st.integers(1, 9).flatmap(lambda n: st.lists(st.tuples(*[st.integers(0, n)] * 3), min_size=1, max_size=14)))
def test_adjacency_of_random_faces_is_as_oracle(faces):
    assert_is_as_oracle(mesh_of(faces))


@given(st.permutations(range(12)), st.permutations(range(20)), st.lists(st.integers(0, 2), min_size=20, max_size=20))
def test_kind_does_not_depend_on_numbering(vertex_order, face_order, turns):
    ball = scenes.icosphere(0)
    faces = np.array(vertex_order)[ball.faces][face_order]
    faces = [np.roll(face, turn) for face, turn in zip(faces, turns, strict=True)]
    mesh = Mesh(ball.vertices[np.argsort(vertex_order)], faces)
    assert (mesh.is_closed, mesh.is_oriented, mesh.is_manifold) == (True, True, True)
    assert len(mesh.edges) == 30
    assert mesh.volume == pytest.approx(ball.volume, rel=1e-14)


def test_unreferenced_vertices_belong_to_nothing():
    mesh = Mesh([[9, 9, 9], [0, 0, 0], [1, 0, 0], [0, 1, 0], [-9, 0, 0]], [[1, 2, 3]])
    assert mesh.bounds.tolist() == [[0, 0, 0], [1, 1, 0]]
    assert mesh.vertex_components.tolist() == [-1, 0, 0, 0, -1]
    assert rows(mesh.vertex_faces) == [[], [0], [0], [0], []]
    assert mesh.area == 0.5


def test_side_i_is_opposite_vertex_i():
    mesh = scenes.torus()
    for i in range(3):
        ends = mesh.edges[mesh.face_edges[:, i]]
        assert np.array_equal(ends, np.sort(mesh.faces[:, [(i + 1) % 3, (i + 2) % 3]], axis=1))


def test_a_fan_of_high_degree_is_not_slow():
    count = 20_000 if not os.environ.get("NUMBA_DISABLE_JIT") else 200
    ring = np.arange(count)
    mesh = Mesh(np.zeros((count + 1, 3)), np.stack((np.full(count, count), ring, np.roll(ring, -1)), axis=1))
    assert len(mesh.edges) == 2 * count
    assert mesh.is_manifold


@pytest.mark.parametrize(
    "mesh, euler", [(scenes.icosphere(1), 2), (scenes.box(), 2), (scenes.torus(), 0), (scenes.cloth(3, 4), 1)]
)
def test_euler_characteristic(mesh, euler):
    assert len(mesh.vertices) - len(mesh.edges) + len(mesh.faces) == euler


@pytest.mark.large
@pytest.mark.parametrize(
    "scene, frames, step", [("cloth-ball", ("cloth_ball92", "cloth_ball93"), 92), ("cloth-funnel", ("227", "228"), 227)]
)
def test_edges_are_numbered_as_libigl_numbers_them(scene, frames, step):
    """The published pairs of colliding edges are near one another only under the right numbering."""
    folder = SCENES / scene
    if not folder.is_dir():
        pytest.skip("the sample scenes do not lie beside this checkout")
    before, after = (load(folder / f"{frame}.ply") for frame in frames)
    pairs = np.array(json.loads((folder / f"{step}ee.json").read_text())) - len(before.vertices)
    hits = np.array(json.loads((folder / f"{step}ee_mma_bool.json").read_text()))
    swept = np.concatenate((before.vertices[before.edges], after.vertices[before.edges]), axis=1)
    low, high = swept.min(axis=1), swept.max(axis=1)
    a, b = pairs[hits].T
    assert len(a) > 100
    assert ((low[a] <= high[b]) & (low[b] <= high[a])).all()
    assert not (before.edges[a][:, :, np.newaxis] == before.edges[b][:, np.newaxis, :]).any()


@pytest.mark.large
def test_the_scene_cloth_ball():
    path = SCENES / "cloth-ball" / "cloth_ball92.ply"
    if not path.is_file():
        pytest.skip("the sample scenes do not lie beside this checkout")
    mesh = load(path)
    assert (len(mesh.vertices), len(mesh.edges), len(mesh.faces)) == (46_598, 138_825, 92_230)
    assert mesh.is_manifold


@pytest.mark.large
def test_a_million_faces_agree_with_numpy():
    ball = scenes.bumpy(1_000_000)
    rng = np.random.default_rng(1)
    order = rng.permutation(len(ball.vertices))
    mesh = Mesh(ball.vertices[np.argsort(order)], order[ball.faces][rng.permutation(len(ball))])
    sides = np.sort(mesh.faces[:, [(1, 2), (2, 0), (0, 1)]], axis=2).reshape(-1, 2)
    keys, inverse = np.unique(sides[:, 1] * len(mesh.vertices) + sides[:, 0], return_inverse=True)
    assert np.array_equal(mesh.edges[:, 1] * len(mesh.vertices) + mesh.edges[:, 0], keys)
    assert np.array_equal(mesh.face_edges.reshape(-1), inverse)
    assert np.array_equal(np.diff(mesh.edge_faces.offsets), np.full(len(keys), 2))
    assert np.array_equal(np.diff(mesh.vertex_faces.offsets), np.bincount(mesh.faces.reshape(-1)))
    assert mesh.is_manifold
    assert mesh.component_count == 1


def test_truth_table_is_symmetric_under_turning_every_face_over():
    for faces, closed, oriented, manifold, *_ in KINDS.values():
        turned = mesh_of([face[::-1] for face in faces])
        assert (turned.is_closed, turned.is_oriented, turned.is_manifold) == (closed, oriented, manifold)


def test_every_pair_of_faces_on_four_vertices_is_as_oracle():
    triples = list(itertools.product(range(3), repeat=3))
    for first, second in itertools.product(triples[::2], triples[1::3]):
        assert_is_as_oracle(mesh_of([first, second, (0, 1, 3)]))
