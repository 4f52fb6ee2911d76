"""Meshes to files and back."""

import os

import numpy as np
import pytest
import trimesh

from abut import scenes
from abut.core.errors import Unsupported
from abut.mesh import Mesh, load, save


@pytest.mark.parametrize("suffix", [".ply", ".obj", ".off", ".OBJ"])
def test_what_is_saved_comes_back(tmp_path, suffix):
    mesh = scenes.bumpy(60, radius=1 / 3, center=(1e6, 1e-9, -7))
    mesh.save(tmp_path / f"mesh{suffix}")
    back = load(tmp_path / f"mesh{suffix}")
    assert np.array_equal(back.vertices, mesh.vertices)
    assert np.array_equal(back.faces, mesh.faces)
    assert os.listdir(tmp_path) == [f"mesh{suffix}"]


def test_stl_comes_back_as_float32_and_closed(tmp_path):
    mesh = scenes.bumpy(60)
    save(mesh, tmp_path / "mesh.stl")
    back = load(tmp_path / "mesh.stl")
    assert np.array_equal(back.vertices[back.faces], mesh.vertices[mesh.faces].astype(np.float32))
    assert back.is_closed
    assert back.is_manifold
    assert len(back.vertices) == len(mesh.vertices)


@pytest.mark.parametrize("channels", [3, 4])
def test_face_colors_are_saved(tmp_path, channels, rng):
    mesh = scenes.box()
    colors = rng.integers(0, 256, (12, channels))
    mesh.save(tmp_path / "mesh.ply", face_colors=colors)
    seen = trimesh.load_mesh(tmp_path / "mesh.ply", process=False).visual.face_colors
    assert np.array_equal(seen[:, :channels], colors)


def test_degenerate_meshes_survive_a_file(tmp_path):
    mesh = Mesh(np.eye(5, 3), [[0, 0, 1], [1, 2, 3], [1, 2, 3], [2, 2, 2]])
    for suffix in (".ply", ".obj", ".off"):
        mesh.save(tmp_path / f"mesh{suffix}")
        back = load(tmp_path / f"mesh{suffix}")
        assert np.array_equal(back.faces, mesh.faces)
        assert np.array_equal(back.vertices, mesh.vertices)


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "mesh.ply"
    scenes.box().save(path)
    content = path.read_bytes()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        scenes.icosphere(1).save(path)
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["mesh.ply"]


def test_save_refuses_kinds_it_does_not_write(tmp_path):
    for name in ("mesh.foo", "mesh"):
        with pytest.raises(Unsupported, match="not written"):
            scenes.box().save(tmp_path / name)
    with pytest.raises(Unsupported, match=r"face_colors are written to \.ply"):
        scenes.box().save(tmp_path / "mesh.obj", face_colors=np.zeros((12, 3), int))
    with pytest.raises(Unsupported, match="float32"):
        scenes.box((1e40, 1, 1)).save(tmp_path / "mesh.stl")
    assert os.listdir(tmp_path) == []
