"""`abut check` destroys nothing, waits for nothing, and says 1 for collisions alone: files, pipes, signals, encodings, tampered results."""

import json
import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from abut import InvalidInput, Mesh, Unsupported, scenes
from abut.app import cli, work
from abut.app.archive import map_archive
from abut.app.check import check
from abut.app.console import SafeConsole, printable
from abut.app.findings import Contact
from abut.app.frames import Frames
from abut.app.store import Store
from abut.app.work import Options
from abut.core import jit
from app.animation import FACES, FRAMES, save_all

posix = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes, links and signals of POSIX")


def abut(folder: Path, *words: object, **options: object) -> subprocess.CompletedProcess:
    """The command in a process of its own."""
    command = [sys.executable, "-m", "abut", *map(str, words)]
    options = {"capture_output": True, "text": True, "timeout": 300, **options}
    return subprocess.run(command, cwd=folder, check=False, **options)


@pytest.fixture
def files(tmp_path):
    return save_all(tmp_path / "in")


# --- files that must not be written


@pytest.fixture
def refused(tmp_path, monkeypatch, capsys):
    """Gives the reason for which a check is refused; nothing in the folder has changed, and no work was done."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        monkeypatch.setattr(sys, "argv", ["abut", "check", *map(str, words)])
        with pytest.raises(SystemExit) as caught:
            cli.main()
        assert caught.value.code == 2
        assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
        return capsys.readouterr().err

    return call


def test_an_output_that_is_the_input_is_refused(tmp_path, refused):
    np.savez(tmp_path / "in.npz", frames=FRAMES, faces=FACES)
    assert "is the input" in refused("in.npz", "--out", "in.npz")


@pytest.mark.parametrize("option", ["--html", "--json"])
def test_an_output_that_is_a_frame_is_refused(tmp_path, refused, files, option):
    assert "is the input" in refused("in", option, "in/../in/frame9.ply")


def test_outputs_of_one_path_are_refused(tmp_path, refused, files):
    words = ("in", "--out", "rows.npz", "--json", "./rows.npz", "--html", "rows.npz")
    assert "one would overwrite the other" in refused(*words)


@posix
@pytest.mark.parametrize("kind", ["pipe", "link", "device"])
def test_an_output_that_is_no_regular_file_is_refused(tmp_path, refused, files, kind):
    place = tmp_path / "rows.csv"
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "link":
        place.symlink_to(tmp_path / "elsewhere.csv")
    else:
        place = Path("/dev/null")
    assert "expected a regular file" in refused("in", "--json", place)
    assert place.exists() or place.is_symlink()


def test_an_output_folder_that_cannot_be_written_is_found_before_the_work(tmp_path, refused, files):
    """A file in the place of a folder refuses writing even to root, whom permissions do not stop."""
    (tmp_path / "taken").write_text("")
    assert "taken" in refused("in", "--out", "taken/rows.csv")


def test_a_folder_given_for_the_work_keeps_what_others_put_there(tmp_path):
    old = tmp_path / "results.npz"
    old.write_bytes(b"somebody's")
    os.utime(old, (0, 0))
    (tmp_path / ".gitignore").write_text("mine\n")
    Store(tmp_path)
    assert old.read_bytes() == b"somebody's"
    assert (tmp_path / ".gitignore").read_text() == "mine\n"


def test_view_of_nothing_leaves_nothing(tmp_path):
    done = abut(tmp_path, "view", "nope.obj", "--no-browse")
    assert done.returncode == 2
    assert list(tmp_path.iterdir()) == []


# --- files that must not be read


@posix
def test_a_pipe_among_the_frames_is_named_and_not_waited_for(tmp_path, files):
    os.mkfifo(tmp_path / "in" / "frame12.ply")
    done = abut(tmp_path, "check", "in", "--no-between", timeout=240)
    assert done.returncode == 1
    assert "frame12.ply: is not a file" in done.stdout


@posix
@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no endless device")
@pytest.mark.parametrize("name", ["frame12.ply", "frame12.npz"])
def test_a_link_to_an_endless_device_is_not_read(tmp_path, files, name):
    (tmp_path / "in" / name).symlink_to("/dev/zero")
    frames = Frames([*files, tmp_path / "in" / name])
    with pytest.raises(InvalidInput, match=r"is not a (regular )?file"):
        frames.vertices(4)
    assert len(frames.digest(4)) == 64


# --- animations


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


# --- archives are mapped


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


# --- results that were tampered with


@pytest.mark.parametrize("change", ["other rows", "a column short", "other type", "under another name"])
def test_a_tampered_result_is_computed_again(tmp_path, files, change):
    store = Store(tmp_path / "work")
    expected = check(Frames(files), Options(between=False), store=store)
    kept = sorted(store.folder.glob("*.npz"), key=lambda path: len(np.load(path)["kind"]))
    if change == "under another name":
        kept[0].write_bytes(kept[-1].read_bytes())
    else:
        with np.load(kept[-1]) as archive:
            columns = dict(archive)
        if change == "other rows":
            columns["a"] = columns["a"] + 10**9
        elif change == "a column short":
            columns["depth"] = columns["depth"][:0]
        else:
            columns["point"] = columns["point"].astype("U9")
        np.savez(kept[-1], **columns)
    again = check(Frames(files), Options(between=False), store=store)
    assert again.reused == expected.reused + len(files) - 1
    for ours, theirs in zip(again.findings, expected.findings, strict=True):
        np.testing.assert_array_equal(ours, theirs)


# --- what is printed


def test_control_characters_are_shown_and_not_obeyed(capsys):
    assert printable("a\x1b[2Jb\x9bc\rd\n\te\x7f") == "a\\x1b[2Jb\\x9bc\\x0dd\n\te\\x7f"
    SafeConsole().print("x\x1b]0;owned\x07y", markup=False)
    assert "\x1b" not in (shown := capsys.readouterr().out)
    assert "x\\x1b]0;owned\\x07y" in shown


@posix
def test_escape_sequences_in_file_names_do_not_reach_the_terminal(tmp_path):
    Mesh(FRAMES[0], FACES).save(tmp_path / "plain.ply")
    os.rename(tmp_path / "plain.ply", tmp_path / "a\x1b[31m.ply")
    (tmp_path / "b\x1b[2J.ply").write_text("ply")
    done = abut(tmp_path, "check", "a\x1b[31m.ply", "b\x1b[2J.ply", "--no-between")
    assert done.returncode == 2
    assert "\x1b" not in done.stdout + done.stderr
    assert "b\\x1b[2J.ply" in done.stdout


def test_a_clean_animation_is_clean_on_an_ascii_terminal(tmp_path, files):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    done = abut(tmp_path, "check", *files[:2], env=environment)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert "Clean: no collision." in done.stdout


@posix
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device")
def test_a_full_standard_output_is_not_a_collision(tmp_path, files):
    with open("/dev/full", "w") as full:
        done = abut(tmp_path, "check", *files[:2], stdout=full, stderr=subprocess.PIPE, capture_output=False)
    assert done.returncode == 3, done.stderr
    assert "standard output cannot be written" in done.stderr
    assert "Traceback" not in done.stderr


@posix
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device")
def test_where_nothing_can_be_printed_the_exit_code_still_tells(tmp_path, files):
    """Standard error is full as well; then Python itself would exit with 1."""
    with open("/dev/full", "w") as full:
        done = abut(tmp_path, "check", *files[:2], stdout=full, stderr=full, capture_output=False)
        assert done.returncode == 3
        done = abut(tmp_path, "check", "nope.ply", stdout=full, stderr=full, capture_output=False)
        assert done.returncode == 2


@posix
@pytest.mark.parametrize(("closed", "left"), [("1", "stderr"), ("2", "stdout")])
def test_a_closed_standard_stream_changes_no_answer(tmp_path, files, closed, left):
    """`abut check … >&-`: Python has no such stream then."""
    words = ["sh", "-c", f'exec "$@" {closed}>&-', "sh", sys.executable, "-m", "abut", "check", *files[:2]]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in getattr(done, left)


@posix
def test_a_closed_pipe_changes_no_answer(tmp_path, files):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = abut(tmp_path, "check", *files[:2], stdout=writer, stderr=subprocess.PIPE, capture_output=False)
    finally:
        os.close(writer)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


# --- processes


def children(pid):
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(status.parent.name))
    return found


@posix
@pytest.mark.large
@pytest.mark.skipif(not Path("/proc/self/stat").exists() or jit.INTERPRETED, reason="looks at processes")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_the_process_that_started_them(tmp_path, how):
    ball = scenes.icosphere(4)
    np.savez(
        tmp_path / "all.npz", frames=np.stack([ball.vertices * (1 + k / 1000) for k in range(400)]), faces=ball.faces
    )
    command = [sys.executable, "-m", "abut", "check", "all.npz", "--jobs", "2", "--no-between"]
    running = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    give_up = time.monotonic() + 120
    while len(list((tmp_path / ".abut-check").glob("*.npz"))) < 4 and time.monotonic() < give_up:
        time.sleep(0.02)
    workers = children(running.pid)
    assert workers
    running.send_signal(how)
    _, err = running.communicate(timeout=60)
    if how == signal.SIGTERM:
        assert running.returncode == 143
        assert "Terminated after" in err
        assert "Traceback" not in err
    give_up = time.monotonic() + 30
    while any(Path(f"/proc/{pid}").exists() for pid in workers) and time.monotonic() < give_up:
        time.sleep(0.05)
    assert not [pid for pid in workers if Path(f"/proc/{pid}").exists()]


# --- memory


def test_memory_reaches_the_sweep(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(work.ccd, "sweep", lambda *step, **options: seen.append(options))
    work._impacts(None, None, None, Options())
    work._impacts(None, None, None, Options(min_distance=0.5, max_memory=7_000_000))
    assert seen == [{"min_distance": 0.0}, {"min_distance": 0.5, "max_memory": 7_000_000}]


# --- pieces inside pieces


def together(*parts):
    """Balls as one mesh: (size, offset, inside out)."""
    ball = scenes.icosphere(1)
    vertices, faces = [], []
    for size, offset, inside_out in parts:
        faces.append((ball.faces[:, ::-1] if inside_out else ball.faces) + sum(map(len, vertices)))
        vertices.append(size * ball.vertices + np.asarray(offset, float))
    return Mesh(np.concatenate(vertices), np.concatenate(faces))


NESTED = {
    "apart": ([(1, (0, 0, 0), False), (1, (5, 0, 0), False)], []),
    "one inside": ([(1, (0, 0, 0), False), (9, (0, 0, 0), False)], [0]),
    "the larger one first": ([(9, (0, 0, 0), False), (1, (0, 0, 0), False)], [1]),
    "boxes nested, surfaces not": ([(9, (0, 0, 0), False), (0.2, (8, 8, 8), False)], []),
    "dolls": ([(1, (0, 0, 0), False), (4, (0, 0, 0), False), (9, (0, 0, 0), False)], [0, 1]),
    "the wall of a cavity": ([(9, (0, 0, 0), False), (4, (0, 0, 0), True)], []),
    "in a cavity": ([(9, (0, 0, 0), False), (4, (0, 0, 0), True), (1, (0, 0, 0), False)], []),
    "in the wall of a hollow": ([(9, (0, 0, 0), False), (4, (0, 0, 0), True), (0.2, (0, 0, 6), False)], [2]),
    "in one that is inside out": ([(9, (0, 0, 0), True), (1, (0, 0, 0), True)], [1]),
    "cutting": ([(4, (0, 0, 0), False), (1, (4, 0, 0), False)], []),
}


@pytest.mark.parametrize("name", NESTED)
@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e9])
def test_a_piece_inside_another_is_a_collision(tmp_path, name, scale):
    parts, expected = NESTED[name]
    mesh = together(*parts)
    np.savez(tmp_path / "one.npz", frames=scale * mesh.vertices[None], faces=mesh.faces)
    frames = Frames([tmp_path / "one.npz"])
    report = check(frames, store=Store(tmp_path / "work"))
    rows = report.findings
    inside = rows.kind == Contact.CONTAINED
    assert mesh.components[rows.a[inside]].tolist() == expected
    assert report.counts[:, 3].tolist() == [len(expected)]
    assert (report.counts[:, 2] > 0).tolist() == [name == "cutting"]
    assert report.exit_code == (1 if expected or name == "cutting" else 0)
    foot = rows.point[inside] + rows.depth[inside, None] * rows.normal[inside]  # lies on the face around
    corners = scale * mesh.vertices[mesh.faces[rows.b[inside]]]
    plane = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    height = ((foot - corners[:, 0]) * plane).sum(axis=1) / np.linalg.norm(plane, axis=1)
    assert np.abs(height).max(initial=0.0) <= 1e-12 * scale * 9
    without = check(frames, Options(containment=False), store=Store(tmp_path / "work"))
    assert without.counts[:, 3].sum() == 0


def test_an_open_piece_inside_a_closed_one_is_a_collision(tmp_path):
    ball, sheet = scenes.icosphere(1), np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0]])
    mesh = Mesh(np.concatenate((ball.vertices, sheet)), np.concatenate((ball.faces, [[42, 43, 44]])))
    np.savez(tmp_path / "one.npz", frames=mesh.vertices[None], faces=mesh.faces)
    report = check(Frames([tmp_path / "one.npz"]), store=Store(tmp_path / "work"))
    assert report.counts.tolist() == [[0, 0, 0, 1]]
    assert report.findings.a.tolist() == [len(ball.faces)]


def test_the_page_and_the_summary_tell_of_pieces_inside(tmp_path):
    mesh = together((1, (0, 0, 0), False), (9, (0, 0, 0), False))
    np.savez(tmp_path / "one.npz", frames=mesh.vertices[None], faces=mesh.faces)
    done = abut(tmp_path, "check", "one.npz", "--html", "page.html", "--out", "rows.csv")
    assert done.returncode == 1, done.stderr
    assert "1 pieces inside a closed one in 1 frames" in " ".join(done.stdout.split())
    assert "Pieces inside" in (tmp_path / "page.html").read_text()
    assert ",contained," in (tmp_path / "rows.csv").read_text()


def test_unsupported_is_what_an_animation_raises(tmp_path):
    animated(tmp_path / "walk.glb", True)
    with pytest.raises(Unsupported, match="animation"):
        Frames([tmp_path / "walk.glb"])._read(0)
