"""The Mesh: measures against formulas, and what an object that never changes is."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abut import scenes
from abut.core.errors import InvalidInput
from abut.mesh import Mesh
from oracles import mesh as oracle

TETRAHEDRON = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)]


def mesh_of(faces, seed=0):
    vertex_count = max(map(max, faces)) + 1
    return Mesh(np.random.default_rng(seed).normal(size=(vertex_count, 3)), faces)


def test_face_normals_and_areas():
    mesh = Mesh([[0, 0, 0], [2, 0, 0], [0, 3, 0], [0, 0, 5]], [[0, 1, 2], [0, 2, 1], [0, 2, 3]])
    assert mesh.face_normals.tolist() == [[0, 0, 1], [0, 0, -1], [1, 0, 0]]
    assert mesh.face_areas.tolist() == [3, 3, 7.5]
    assert mesh.area == 13.5


@pytest.mark.parametrize("face", [(0, 0, 1), (0, 1, 1), (1, 0, 1), (0, 0, 0), (0, 1, 2)])
def test_a_face_without_area_has_a_zero_normal(face):
    mesh = Mesh([[0, 0, 0], [1, 1, 1], [2, 2, 2]], [face])
    assert mesh.face_normals.tolist() == [[0, 0, 0]]
    assert mesh.area == 0


@pytest.mark.parametrize("scale", [1e75, 1e-75, 1e-150, 1e-300])
def test_normals_at_extreme_scales(scale):
    mesh = Mesh(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 1]]) * scale, [[0, 1, 2]])
    np.testing.assert_allclose(mesh.face_normals, [[0, -np.sqrt(0.5), np.sqrt(0.5)]], rtol=1e-15)
    assert np.isfinite(mesh.area)


@given(st.integers(0, 2**32))
def test_volume_is_exact_to_rounding(seed):
    rng = np.random.default_rng(seed)
    vertices = rng.normal(size=(4, 3)) + rng.normal(size=3) * 10.0 ** rng.integers(-3, 6)
    mesh = Mesh(vertices, TETRAHEDRON)
    exact = float(oracle.volume(vertices.tolist(), TETRAHEDRON))
    assert mesh.volume == pytest.approx(exact, rel=1e-12, abs=1e-14)


def test_volume_far_from_the_origin():
    assert scenes.box((1, 1, 1), center=(1e8, -1e8, 1e8)).volume == 1.0


def test_volume_is_negative_inside_out():
    ball = scenes.icosphere(1)
    assert Mesh(ball.vertices, ball.faces[:, ::-1]).volume == pytest.approx(-ball.volume)


@pytest.mark.parametrize(
    "faces, row, reason",
    [
        (TETRAHEDRON[1:], 0, r"not closed at edge \(0, 1\), which is at 1 face"),
        ([(0, 1, 2), *TETRAHEDRON[1:]], 0, r"edge \(0, 1\) are not oriented alike"),
        ([(0, 0, 1)], None, "repeated vertex"),
    ],
)
def test_what_has_no_volume(faces, row, reason):
    with pytest.raises(InvalidInput, match=reason) as caught:
        _ = mesh_of(faces).volume
    assert (caught.value.name, caught.value.row) == ("faces", row)


def test_a_mesh_does_not_change():
    vertices, faces = np.eye(3), np.array([[0, 1, 2]])
    mesh = Mesh(vertices, faces)
    vertices[:], faces[:] = 7, 0
    assert mesh.vertices.tolist() == np.eye(3).tolist()
    assert mesh.faces.tolist() == [[0, 1, 2]]
    for name in ("vertices", "faces", "edges", "new"):
        with pytest.raises(AttributeError, match="does not change"):
            setattr(mesh, name, vertices)
    with pytest.raises(AttributeError, match="does not change"):
        del mesh.vertices


ARRAYS = ["vertices", "faces", "edges", "face_edges", "boundary_edges", "components", "vertex_components", "bounds"]


@pytest.mark.parametrize("name", [*ARRAYS, "face_normals", "face_areas"])
def test_arrays_are_read_only_and_kept(name):
    mesh = scenes.box()
    array = getattr(mesh, name)
    assert array is getattr(mesh, name)
    assert array.flags.c_contiguous
    assert array.dtype in (np.float64, np.int64)
    with pytest.raises(ValueError, match="read-only"):
        array[...] = 0


def test_meshes_share_arrays_that_nobody_can_write():
    mesh = scenes.box()
    other = Mesh(mesh.vertices + 1, mesh.faces)
    assert np.shares_memory(other.faces, mesh.faces)


def test_repr_and_length():
    assert repr(scenes.box()) == "Mesh(8 vertices, 12 faces)"
    assert len(scenes.box()) == 12


def test_equality_is_identity():
    a, b = scenes.box(), scenes.box()
    assert a == a
    assert a != b
    assert len({a, b}) == 2


@pytest.mark.parametrize("again", [lambda m: pickle.loads(pickle.dumps(m)), copy.copy, copy.deepcopy])
def test_pickles_and_copies(again):
    mesh = scenes.box()
    _ = mesh.edges
    other = again(mesh)
    assert np.array_equal(other.vertices, mesh.vertices)
    assert np.array_equal(other.edges, mesh.edges)
    assert not other.vertices.flags.writeable
