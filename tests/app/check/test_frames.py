import json
import pickle

import numpy as np
import pytest

from abut import InvalidInput, Mesh
from abut.app.check import Frames, Store, check
from abut.app.check.frames import natural_key
from app.animation import FACES, FRAMES, falling, save_all
from app.process import abut


def check_all(frames):
    assert len(frames) == len(FRAMES)
    for i, expected in enumerate(FRAMES):
        assert (frames.vertices(i) == expected).all()
    assert (frames.faces == FACES).all()


def test_natural_order_of_files_globs_and_folders(tmp_path):
    paths = save_all(tmp_path / "run")  # frame8, frame9, frame10, frame11
    for arguments in (
        [str(path) for path in sorted(paths)],  # as a shell expands *
        [str(tmp_path / "run" / "frame*.ply")],
        [str(tmp_path / "run")],
        [tmp_path / "run", str(paths[0])],  # each once
        [str(tmp_path / "**" / "*.ply")],
    ):
        frames = Frames(arguments)
        assert frames.names == ["frame8.ply", "frame9.ply", "frame10.ply", "frame11.ply"]
        check_all(frames)


def test_natural_key_orders_numbers_by_value_and_folders_first(tmp_path):
    names = ["b/1.ply", "a10/1.ply", "a2/x.ply", "a2/3.ply", "a2/003.ply", "a2/12.ply"]
    ordered = sorted((tmp_path / name for name in names), key=natural_key)
    assert [path.relative_to(tmp_path).as_posix() for path in ordered] == [
        "a2/003.ply",
        "a2/3.ply",
        "a2/12.ply",
        "a2/x.ply",
        "a10/1.ply",
        "b/1.ply",
    ]


def test_kept_order_keeps_repetitions(tmp_path):
    paths = save_all(tmp_path)
    given = [paths[2], paths[0], paths[2]]
    frames = Frames(given, keep_order=True)
    assert frames.names == ["frame10.ply", "frame8.ply", "frame10.ply"]
    assert (frames.vertices(2) == FRAMES[2]).all()


def test_names_tell_folders_apart(tmp_path):
    first, second = save_all(tmp_path / "a", FRAMES[:1]), save_all(tmp_path / "b", FRAMES[1:2])
    assert Frames([*first, *second]).names == [str(first[0]), str(second[0])]


@pytest.mark.parametrize("name", ["frames", "vertices"])
def test_archive_of_many_frames(tmp_path, name):
    np.savez(tmp_path / "all.npz", **{name: FRAMES, "faces": FACES.astype(np.uint16)})
    frames = Frames([tmp_path / "all.npz"])
    assert frames.names == [f"all.npz[{i}]" for i in range(4)]
    check_all(frames)


def test_archives_of_one_frame_each(tmp_path):
    for i, vertices in enumerate(FRAMES):
        np.savez(tmp_path / f"{i + 9}.npz", vertices=vertices, faces=FACES)
    frames = Frames([str(tmp_path / "*.npz")])
    assert frames.names == ["9.npz", "10.npz", "11.npz", "12.npz"]
    check_all(frames)


BAD_ARCHIVES = {
    "other names": (
        {"v": FRAMES, "faces": FACES},
        "needs arrays 'frames' (or 'vertices') and 'faces', it has v, faces",
    ),
    "no faces": ({"frames": FRAMES}, "it has frames"),
    "not vectors of three": ({"frames": FRAMES[..., :2], "faces": FACES}, "has shape (4, 7, 2)"),
    "too few dimensions": ({"frames": FRAMES[0, 0], "faces": FACES}, "has shape (3,)"),
    "no frames": ({"frames": FRAMES[:0], "faces": FACES}, "frames: is empty"),
    "an index too large": ({"frames": FRAMES, "faces": FACES + 1}, "faces[2]: index 7 is not below 7"),
    "objects": ({"frames": np.array([None]), "faces": FACES}, "holds Python objects"),
}


@pytest.mark.parametrize(("content", "reason"), BAD_ARCHIVES.values(), ids=BAD_ARCHIVES.keys())
def test_bad_archive_is_refused_with_the_reason(tmp_path, content, reason):
    path = tmp_path / "bad.npz"
    np.savez(path, **content)
    with pytest.raises(InvalidInput) as caught:
        _ = Frames([path]).mesh
    assert reason in str(caught.value)
    assert "bad.npz" in str(caught.value)
    assert str(caught.value).count("bad.npz") == 1


def test_damaged_archive_is_refused(tmp_path):
    path = tmp_path / "bad.npz"
    np.savez_compressed(path, frames=FRAMES, faces=FACES)
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], b"", b"\x93NUMPY"):
        path.write_bytes(content)
        with pytest.raises(InvalidInput, match="cannot be read"):
            _ = Frames([path]).mesh


def test_arguments_that_stand_for_nothing_are_named(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "notes.txt").write_text("no mesh")
    save_all(tmp_path / "mixed")
    save_all(tmp_path / "mixed", FRAMES[:1], suffix=".obj")
    for argument, reason in (
        ("none.ply", "does not exist"),
        ("none*.ply", "matches no file"),
        ("empty", "holds no meshes"),
        ("mixed", "several kinds (.obj, .ply)"),
    ):
        with pytest.raises(InvalidInput) as caught:
            Frames([str(tmp_path / argument)])
        assert caught.value.name == str(tmp_path / argument)
        assert reason in caught.value.reason
    with pytest.raises(InvalidInput, match="there are none"):
        Frames([])


def test_frames_are_read_when_asked_for(tmp_path):
    paths = save_all(tmp_path)
    frames = Frames(paths)
    Mesh(falling(3.0), FACES).save(paths[3])
    assert (frames.vertices(3) == falling(3.0)).all()


BAD_FRAMES = {
    "NaN": ("v 0 0 0\nv 1 0 0\nv 0 nan 0\n" * 3 + "f 1 2 3\n", "vertices[2]: is NaN"),
    "unreadable": ("f 1 2\n", "cannot be read"),
    "no faces": ("v 0 0 0\n", "holds no faces"),
    "fewer vertices": ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "other connectivity: 3 vertices, but frame8.obj has 7"),
    "fewer faces": ("v 0 0 0\n" * 7 + "f 1 2 3\n", "other connectivity: 1 faces, but frame8.obj has 3"),
    "other corners": (
        "v 0 0 0\n" * 7 + "f 1 2 3\nf 1 2 4\nf 5 6 7\n",
        "other connectivity: face 1 is [0, 1, 3], but [0, 2, 3] in frame8.obj",
    ),
}


@pytest.mark.parametrize(("text", "reason"), BAD_FRAMES.values(), ids=BAD_FRAMES.keys())
def test_bad_frame_is_named_and_spoils_no_other(tmp_path, text, reason):
    paths = save_all(tmp_path, suffix=".obj")
    paths[1].write_text(text)
    frames = Frames(paths)
    with pytest.raises(InvalidInput) as caught:
        frames.vertices(1)
    assert caught.value.name == "frame9.obj"
    assert caught.value.reason.startswith(reason)
    assert str(tmp_path) not in str(caught.value)
    assert (frames.vertices(2) == FRAMES[2]).all()


def test_connectivity_is_that_of_the_first_frame_that_can_be_read(tmp_path):
    paths = save_all(tmp_path)
    paths[0].write_text("ply")
    frames = Frames(paths)
    assert (frames.faces == FACES).all()
    assert (frames.vertices(1) == FRAMES[1]).all()
    with pytest.raises(InvalidInput, match=r"frame8\.ply"):
        frames.vertices(0)


def test_nothing_can_be_read(tmp_path):
    paths = save_all(tmp_path)
    for path in paths:
        path.write_text("v")
    with pytest.raises(InvalidInput, match=r"none of 4 frames can be read; frame8\.ply: cannot be read"):
        _ = Frames(paths).mesh
    with pytest.raises(InvalidInput, match=r"^frame8\.ply: cannot be read"):
        _ = Frames(paths[:1]).mesh


def test_digest_follows_content(tmp_path):
    paths = save_all(tmp_path)
    np.savez(tmp_path / "all.npz", frames=FRAMES, faces=FACES)
    for arguments in (paths, [tmp_path / "all.npz"]):
        frames = Frames(arguments)
        digests = [frames.digest(i) for i in range(4)]
        assert len(set(digests)) == 4
        assert [pickle.loads(pickle.dumps(frames)).digest(i) for i in range(4)] == digests
    before = Frames(paths).digest(1)
    Mesh(FRAMES[1], FACES[:, [1, 2, 0]]).save(paths[1])
    assert Frames(paths).digest(1) != before
    paths[1].unlink()
    frames = Frames(paths[:1])
    frames._places[0].source.path = paths[1]
    assert frames.digest(0) not in digests  # a file that is gone has a digest too


def test_pickle_reads_again(tmp_path):
    np.savez(tmp_path / "all.npz", frames=FRAMES, faces=FACES)
    frames = pickle.loads(pickle.dumps(Frames([tmp_path / "all.npz"])))
    check_all(frames)
    assert len(pickle.dumps(frames)) < 4000


def test_frames_missing_in_the_numbering_are_told(tmp_path):
    """Names, and which step of them goes over something missing."""
    cases = [
        (["f_001", "f_002", "f_003"], {}),
        (["f_001", "f_004"], {0: "nothing numbered 2 to 3"}),
        (["f_001", "f_003"], {0: "nothing numbered 2"}),
        (["f_1", "f_2", "f_3", "f_5", "f_6"], {2: "nothing numbered 4"}),
        (["f_0", "f_10", "f_20", "f_40"], {2: "nothing numbered 30"}),
        (["a1_v2", "a2_v2", "b7", "c9"], {}),
    ]
    for names, expected in cases:
        folder = tmp_path / "-".join(names)
        folder.mkdir()
        for name in names:
            Mesh(FRAMES[0], FACES).save(folder / f"{name}.ply")
        assert Frames([folder]).find_gaps() == expected, names
    report = check(Frames([tmp_path / "f_001-f_004"]), store=Store(tmp_path / "work"))
    assert report.gaps == {0: "nothing numbered 2 to 3"}
    done = abut(tmp_path, "check", "f_001-f_004", "--json", "out.json")
    assert done.returncode == 0
    assert "steps over missing frames (1):" in done.stdout
    assert json.loads((tmp_path / "out.json").read_text())["steps_over_gaps"][0]["from"] == "f_001.ply"
