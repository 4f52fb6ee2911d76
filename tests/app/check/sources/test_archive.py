"""Archives of frames are mapped, damage to them is found; animations inside files, pipes and devices are refused."""

from pathlib import Path

import numpy as np
import pytest

from abut import InvalidInput
from abut.app.check.frames import Frames
from abut.app.check.sources.archive import map_archive
from app.animation import FACES, FRAMES, save_all
from app.process import posix


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


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_positions_of_an_archive_are_mapped_not_loaded(tmp_path, save):
    save(tmp_path / "all.npz", frames=FRAMES, faces=FACES)
    frames = Frames([tmp_path / "all.npz"])
    archive = map_archive(tmp_path / "all.npz", frames._places[0].source._unpacked)
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
