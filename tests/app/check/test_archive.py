"""Archives of frames are mapped, damage to them is found; animations inside files, pipes and devices are refused."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from abut import InvalidInput, Unsupported
from abut.app.check.archive import map_archive
from abut.app.check.frames import Frames
from app.animation import FACES, FRAMES, save_all
from app.process import abut, posix


@posix
@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no endless device")
@pytest.mark.parametrize("name", ["frame12.ply", "frame12.npz"])
def test_a_link_to_an_endless_device_is_not_read(tmp_path, name):
    files = save_all(tmp_path / "in")
    (tmp_path / "in" / name).symlink_to("/dev/zero")
    frames = Frames([*files, tmp_path / "in" / name])
    with pytest.raises(InvalidInput, match=r"is not a (regular )?file"):
        frames.vertices(4)
    assert len(frames.digest(4)) == 64


def animated(path, binary):
    """A triangle in a glTF file, and an animation that moves it."""
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], "<f4").tobytes()
    document = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]}
        ],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "buffers": [{"byteLength": 36}],
        "animations": [{"channels": [], "samplers": []}],
    }
    if not binary:
        document["buffers"][0]["uri"] = "data.bin"
        (path.parent / "data.bin").write_bytes(points)
        path.write_text(json.dumps(document))
        return
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", 36, b"BIN\0") + points
    path.write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks)


@pytest.mark.parametrize("suffix", [".gltf", ".glb"])
def test_an_animated_gltf_is_refused_by_name(tmp_path, suffix):
    path = tmp_path / f"walk{suffix}"
    animated(path, suffix == ".glb")
    with pytest.raises(InvalidInput, match="holds an animation, which is not sampled"):
        _ = Frames([path]).mesh
    done = abut(tmp_path, "check", path.name)
    assert done.returncode == 2
    assert "holds an animation" in done.stderr


def test_unsupported_is_what_an_animation_raises(tmp_path):
    animated(tmp_path / "walk.glb", True)
    with pytest.raises(Unsupported, match="animation"):
        Frames([tmp_path / "walk.glb"])._read(0)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_positions_of_an_archive_are_mapped_not_loaded(tmp_path, save):
    save(tmp_path / "all.npz", frames=FRAMES, faces=FACES)
    frames = Frames([tmp_path / "all.npz"])
    archive = map_archive(tmp_path / "all.npz", frames._unpacked)
    assert isinstance(archive.positions, np.memmap)
    assert not archive.positions.flags.writeable
    np.testing.assert_array_equal(archive.positions, FRAMES)
    np.testing.assert_array_equal(archive.faces, FACES)


@pytest.mark.parametrize("layout", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<f8", ">f8", "<f4", "<i4"])
def test_archives_of_every_layout(tmp_path, layout, dtype):
    stored = np.asarray(8 * FRAMES, dtype, order=layout)
    np.savez(tmp_path / "all.npz", faces=FACES, frames=stored)
    frames = Frames([tmp_path / "all.npz"])
    for i, expected in enumerate(stored.astype(float)):
        np.testing.assert_array_equal(frames.vertices(i), expected)


def test_damage_to_a_stored_archive_is_found(tmp_path):
    path = tmp_path / "all.npz"
    np.savez(path, faces=FACES, frames=FRAMES)
    content = bytearray(path.read_bytes())
    at = content.index(FRAMES.tobytes())
    content[at + 40] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(InvalidInput, match="cannot be read"):
        _ = Frames([path]).mesh
