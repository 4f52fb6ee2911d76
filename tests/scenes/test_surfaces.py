import itertools

import numpy as np
import pytest

from abut import scenes

CLOSED = {
    "icosahedron": lambda: scenes.icosphere(0),
    "icosphere": lambda: scenes.icosphere(2, radius=2.0, center=(1, 2, 3)),
    "box": lambda: scenes.box((1, 2, 3), center=(4, 5, 6)),
    "torus": lambda: scenes.torus(2.0, 0.5, 12, 7),
    "bumpy": lambda: scenes.bumpy(300, seed=4),
}


@pytest.mark.parametrize("make", CLOSED.values(), ids=CLOSED.keys())
def test_closed_surfaces_are_watertight_and_outward(make):
    mesh = make()
    assert mesh.is_closed
    assert mesh.is_oriented
    assert mesh.is_manifold
    assert mesh.component_count == 1
    assert mesh.volume > 0
    assert (mesh.face_areas > 0).all()


def euler(mesh):
    return len(mesh.vertices) - len(mesh.edges) + len(mesh.faces)


def test_icosphere_lies_on_its_sphere():
    mesh = scenes.icosphere(3, radius=2.5, center=(1.0, -2.0, 0.5))
    assert len(mesh) == 1280
    assert euler(mesh) == 2
    np.testing.assert_allclose(np.linalg.norm(mesh.vertices - (1.0, -2.0, 0.5), axis=1), 2.5, rtol=1e-15)


def test_icosphere_converges_to_the_sphere():
    lost = [1 - scenes.icosphere(n).volume / (4 / 3 * np.pi) for n in range(4)]
    assert all(3.5 < coarse / fine < 4.5 for coarse, fine in itertools.pairwise(lost[1:]))
    assert 0 < lost[-1] < 0.01


def test_box_measures():
    mesh = scenes.box((1, 2, 3), center=(4, 5, 6))
    assert (len(mesh.vertices), len(mesh)) == (8, 12)
    assert mesh.bounds.tolist() == [[3.5, 4.0, 4.5], [4.5, 6.0, 7.5]]
    assert mesh.volume == pytest.approx(6, rel=1e-15)
    assert mesh.area == pytest.approx(22, rel=1e-15)


@pytest.mark.large
def test_torus_measures():
    mesh = scenes.torus(2.0, 0.5, 200, 100)
    assert len(mesh) == 2 * 200 * 100
    assert euler(mesh) == 0
    assert mesh.volume == pytest.approx(2 * np.pi**2 * 2.0 * 0.5**2, rel=2e-3)
    assert mesh.area == pytest.approx(4 * np.pi**2 * 2.0 * 0.5, rel=2e-3)


@pytest.mark.parametrize("face_count", [*range(6, 61), 100, 101, 1000])
def test_bumpy_has_the_faces_asked_for_and_does_not_meet_itself(face_count):
    mesh = scenes.bumpy(face_count, seed=face_count, roughness=0.5)
    assert len(mesh) == face_count + face_count % 2
    assert mesh.is_closed
    assert mesh.is_oriented
    assert mesh.is_manifold
    assert euler(mesh) == 2
    a, b, c = np.moveaxis(mesh.vertices[mesh.faces], 1, 0)
    # Each face is seen from its front by every ray from inside, and together they cover the directions once.
    assert ((a * np.cross(b, c)).sum(axis=1) > 0).all()
    assert solid_angles(a, b, c).sum() == pytest.approx(4 * np.pi, rel=1e-12)
    distances = np.linalg.norm(mesh.vertices, axis=1)
    assert (distances >= 0.5).all()
    assert (distances <= 1.5).all()


def solid_angles(a, b, c):
    a, b, c = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (a, b, c))
    above = (a * np.cross(b, c)).sum(axis=1)
    return 2 * np.arctan2(above, 1 + (a * b).sum(axis=1) + (b * c).sum(axis=1) + (c * a).sum(axis=1))


def test_bumpy_is_the_same_for_the_same_seed():
    assert np.array_equal(scenes.bumpy(100, seed=5).vertices, scenes.bumpy(100, seed=5).vertices)
    assert not np.array_equal(scenes.bumpy(100, seed=5).vertices, scenes.bumpy(100, seed=6).vertices)


def test_bumpy_is_bumpy():
    distances = np.linalg.norm(scenes.bumpy(2000, seed=1, roughness=0.3).vertices, axis=1)
    assert distances.std() > 0.02


def test_cloth_is_open_flat_and_faces_up():
    mesh = scenes.cloth(4, 6, size=(2.0, 3.0), center=(0, 0, 1))
    assert len(mesh) == 48
    assert len(mesh.vertices) == 35
    assert not mesh.is_closed
    assert mesh.is_oriented
    assert mesh.is_manifold
    assert len(mesh.boundary_edges) == 20
    assert mesh.bounds.tolist() == [[-1, -1.5, 1], [1, 1.5, 1]]
    assert mesh.area == pytest.approx(6)
    assert np.array_equal(mesh.face_normals, np.tile([0, 0, 1], (48, 1)))
    assert mesh.vertices[1 * 7 + 2].tolist() == [-0.5, -0.5, 1]


def test_cloth_of_one_square():
    assert scenes.cloth(1, 1, size=2).bounds.tolist() == [[-1, -1, 0], [1, 1, 0]]


@pytest.mark.large
def test_bumpy_of_a_million_faces():
    mesh = scenes.bumpy(1_000_000)
    assert len(mesh) == 1_000_000
    assert mesh.is_closed
    assert mesh.is_manifold
