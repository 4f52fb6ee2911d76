"""Tracks of poses and point caches, as other programs write them."""

import pickle
import struct

import numpy as np
import pytest

from abut import InvalidInput, Unsupported
from abut.app.check.sources.motions import Track

REST = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], float)
HALF = np.sqrt(0.5)
QUARTER = np.array([[0, -1, 0, 5], [1, 0, 0, 0], [0, 0, 1, 2], [0, 0, 0, 1]], float)
EXPECTED = REST @ QUARTER[:3, :3].T + QUARTER[:3, 3]
POINTS = np.arange(18, dtype=float).reshape(2, 3, 3)


def write(path, rows):
    if path.suffix == ".npy":
        np.save(path, rows)
    elif path.suffix == ".npz":
        np.savez(path, poses=rows, other=[1])
    else:
        lines = [",".join(map(repr, row.reshape(-1).tolist())) for row in rows]
        path.write_text("\n".join(["# a comment", ",".join("abcdefghijklmnop"[: rows[0].size]), *lines]))
    return path


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".csv"])
@pytest.mark.parametrize("form", ["matrix", "three rows", "quaternion"])
def test_poses_in_every_form(tmp_path, suffix, form):
    rows = np.stack([np.eye(4), QUARTER])
    if form == "three rows":
        rows = rows[:, :3].reshape(2, 12)
    elif form == "quaternion":
        rows = np.array([[0, 0, 0, 1, 0, 0, 0], [5, 0, 2, 3 * HALF, 0, 0, 3 * HALF]])
    track = Track(write(tmp_path / f"poses{suffix}", rows))
    assert len(track) == 2
    assert track.place(0, REST) == pytest.approx(REST)
    assert track.place(1, REST) == pytest.approx(EXPECTED)
    assert track.digest(0) != track.digest(1)
    assert pickle.loads(pickle.dumps(track)).place(1, REST) == pytest.approx(EXPECTED)


@pytest.mark.parametrize("suffix", [".npy", ".mdd", ".pc2"])
def test_points_are_mapped(tmp_path, suffix):
    path = tmp_path / f"points{suffix}"
    if suffix == ".npy":
        np.save(path, POINTS)
    elif suffix == ".mdd":
        path.write_bytes(struct.pack(">ii2f", 2, 3, 0.0, 0.04) + POINTS.astype(">f4").tobytes())
    else:
        path.write_bytes(struct.pack("<12siiffi", b"POINTCACHE2\0", 1, 3, 0.0, 1.0, 2) + POINTS.astype("<f4").tobytes())
    for track in (Track(path), pickle.loads(pickle.dumps(Track(path)))):
        assert isinstance(track.rows, np.memmap)
        assert [track.place(i, REST).tolist() for i in range(2)] == POINTS.tolist()
    with pytest.raises(InvalidInput, match="moves 3 points, the body has 2 vertices"):
        Track(path).place(0, REST[:2])


BAD = {
    "too short.mdd": (struct.pack(">ii", 100, 100), "100 frames of 100 points take 120408"),
    "negative.mdd": (struct.pack(">ii", -1, 3), "-1 frames"),
    "empty.mdd": (struct.pack(">ii", 0, 3), "no frames"),
    "other.pc2": (b"x" * 40, "does not begin as a point cache does"),
    "cut.pc2": (b"POINT", "cannot be read"),
    "uneven.csv": (b"1,2\n1,2,3", "different lengths"),
    "narrow.csv": (b"1,2\n3,4", "expected poses"),
    "words.csv": (b"a\nb", "cannot be read"),
    "no.npy": (b"", "cannot be read"),
}


@pytest.mark.parametrize(("name", "content", "reason"), [(k, *v) for k, v in BAD.items()], ids=BAD.keys())
def test_damage_is_named(tmp_path, name, content, reason):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInput, match=reason):
        Track(tmp_path / name)


def test_what_is_no_motion(tmp_path):
    with pytest.raises(InvalidInput, match="does not exist"):
        Track(tmp_path / "none.npy")
    with pytest.raises(Unsupported, match=r"'\.abc' are not read, only \.npy"):
        Track(tmp_path / "none.abc")
    for rows, reason in (
        (np.zeros((2, 7)), "quaternion without a length"),
        (np.full((1, 4, 4), np.nan), "NaN"),
        (2 * np.eye(4)[np.newaxis], "rigid|rotation|orthonormal"),
        (np.zeros((2, 5)), "expected poses"),
    ):
        with pytest.raises(InvalidInput, match=reason):
            Track.of_array(rows, "track")
    with pytest.raises(InvalidInput, match=r"track\[0\]"):
        Track.of_array(np.full((1, 3, 3), np.nan), "track").place(0, REST)
