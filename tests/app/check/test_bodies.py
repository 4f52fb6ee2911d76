"""Several bodies in one check: from arguments to rows, against a check of each pair by itself."""

import itertools
import json

import numpy as np
import pytest

from abut import InvalidInput, Mesh, scenes
from abut.app.check import Options, Store, check, read_bodies
from abut.app.check.arguments import read_thicknesses, split_words
from abut.app.check.bodies import ArrayFrames, Ensemble
from abut.app.check.findings import Contact
from app.process import abut

BALL = scenes.icosphere(1)
CUBE = scenes.box()
HEIGHTS = {"ball": (2.2, 1.6, 0.7), "cube": (0.0, 0.0, 0.0), "drop": (4.6, 3.5, 2.0)}


def bodies():
    """A ball that sinks into a cube, and a smaller one that falls on it."""
    shapes = {"ball": BALL, "cube": CUBE, "drop": Mesh(0.5 * BALL.vertices, BALL.faces)}
    return {
        name: ArrayFrames([mesh.vertices + np.array([0, 0, z]) for z in HEIGHTS[name]], mesh.faces)
        for name, mesh in shapes.items()
    }


def rows_of(report):
    """What a report says, in terms of bodies, without their order."""
    rows, labels = report.findings, report.labels
    (body_a, body_b), (own_a, own_b) = labels.of(rows), labels.within(rows)
    found = []
    for i, kind in enumerate(rows.kind.tolist()):
        ends = [(labels.names[body_a[i]], int(own_a[i])), (labels.names[body_b[i]], int(own_b[i]))]
        if kind != Contact.VERTEX_FACE:
            ends.sort()
        found.append((int(rows.frame[i]), kind, *ends, round(float(rows.time[i]), 9), round(float(rows.depth[i]), 9)))
    return sorted(found)


def run(named, folder, **options):
    return check(Ensemble(named), Options(**options), store=Store(folder))


@pytest.mark.large
def test_all_pairs_together_are_each_pair_by_itself(tmp_path):
    everything = rows_of(run(bodies(), tmp_path))
    apart = []
    for first, second in itertools.combinations(HEIGHTS, 2):
        apart += rows_of(run({name: bodies()[name] for name in (first, second)}, tmp_path))
    assert everything == sorted(apart)
    assert {name for row in everything for name, _ in row[2:4]} == set(HEIGHTS)


@pytest.mark.large
@pytest.mark.parametrize("ignored", [("ball", "cube"), ("cube", "ball"), ("drop", "ball")])
def test_what_is_ignored_is_left_out_and_nothing_else(tmp_path, ignored):
    everything = rows_of(run(bodies(), tmp_path))
    some = rows_of(run(bodies(), tmp_path, ignore=(ignored,)))
    assert some == [row for row in everything if {row[2][0], row[3][0]} != set(ignored)]
    assert len(some) < len(everything)


def test_self_contact_may_be_left_out(tmp_path):
    folded = Mesh([[0, 0, 0], [4, 0, 0], [0, 4, 0], [1, 1, -1], [2, 1, -1], [1, 1, 1]], [[0, 1, 2], [3, 4, 5]])
    cloth = {
        "cloth": ArrayFrames([folded.vertices] * 2, folded.faces),
        "post": bodies()["drop"].__class__([CUBE.vertices + 50], CUBE.faces),
    }
    assert run(cloth, tmp_path).found == 2
    assert run(cloth, tmp_path, ignore=(("cloth", "cloth"),)).found == 0
    assert run(cloth, tmp_path, ignore=(("cloth", "cloth"), ("post", "post"), ("post", "cloth"))).exit_code == 0


def test_thickness_of_each_body(tmp_path):
    """Spheres of radius 1 at distance d meet within half of both thicknesses: in a step where only one pair is that close."""
    rows = {"a": (0.0, 0.0), "b": (2.3, 2.3), "c": (4.6, 4.6)}
    named = {
        name: ArrayFrames([BALL.vertices + np.array([x, 0, 0]) for x in at], BALL.faces) for name, at in rows.items()
    }
    step = {"at_frames": False, "ignore": (("a", "a"), ("b", "b"), ("c", "c"))}  # facets of a ball are closer than that
    assert run(named, tmp_path, **step).found == 0
    thick = run(
        named, tmp_path, thickness=(("a", 0.5), ("b", 0.3)), **step
    )  # a–b within 0.4, b–c within 0.15: gaps of 0.3
    assert {tuple(sorted((first[0], second[0]))) for _, _, first, second, _, _ in rows_of(thick)} == {("a", "b")}
    both = run(named, tmp_path, thickness=(("a", 0.5), ("b", 0.3), ("c", 0.5)), **step)
    assert {tuple(sorted((first[0], second[0]))) for _, _, first, second, _, _ in rows_of(both)} == {
        ("a", "b"),
        ("b", "c"),
    }
    order = np.lexsort((both.findings.b, both.findings.a, both.findings.kind, both.findings.frame))
    assert (order == np.arange(both.found)).all()


@pytest.mark.large
def test_containment_follows_what_is_ignored(tmp_path):
    named = {
        "shell": ArrayFrames([10 * BALL.vertices], BALL.faces),
        "skin": ArrayFrames([5 * BALL.vertices], BALL.faces),
        "seed": ArrayFrames([BALL.vertices], BALL.faces),
    }
    every = {(row[2][0], row[3][0]) for row in rows_of(run(named, tmp_path))}
    assert every == {("seed", "skin"), ("shell", "skin")}  # the smallest piece around each
    assert {row[2][0] for row in rows_of(run(named, tmp_path, ignore=(("seed", "skin"),)))} == {"seed", "shell"}
    nothing = (("seed", "skin"), ("seed", "shell"), ("skin", "shell"))
    assert run(named, tmp_path, ignore=nothing).found == 0


def save(folder, name, frames, suffix=".obj"):
    folder.mkdir(exist_ok=True)
    for i, vertices in enumerate(frames._positions):
        Mesh(vertices, frames.faces).save(folder / f"{name}_{i:03}{suffix}")


@pytest.mark.large
def test_families_of_names_in_a_folder_are_bodies(tmp_path):
    for name, frames in bodies().items():
        save(tmp_path / "run", name, frames)
    ensemble = read_bodies([tmp_path / "run"])
    assert ensemble.labels.names == ("ball", "cube", "drop")
    assert rows_of(check(ensemble, store=Store(tmp_path / "w"))) == rows_of(run(bodies(), tmp_path / "w"))
    named = read_bodies([f"{name}={tmp_path / 'run' / name}_*.obj" for name in ("drop", "ball")])
    assert named.labels.names == ("drop", "ball")


def test_one_family_and_names_without_numbers_are_frames(tmp_path):
    save(tmp_path, "ball", bodies()["ball"])
    assert len(read_bodies([tmp_path])) == 3
    (tmp_path / "ball_000.obj").rename(tmp_path / "rest.obj")  # another name, but the same mesh
    assert read_bodies([tmp_path]).names == ["ball_001.obj", "ball_002.obj", "rest.obj"]
    Mesh(CUBE.vertices, CUBE.faces).save(tmp_path / "a=b.obj")
    assert len(read_bodies([tmp_path / "a=b.obj"])) == 1  # a file of that very name
    for name in ("x", "y"):
        Mesh(CUBE.vertices, CUBE.faces).save(tmp_path / f"{name}.ply")
    assert read_bodies([tmp_path / "x.ply", tmp_path / "y.ply"]).names == ["x.ply", "y.ply"]


@pytest.mark.large
def test_one_file_stands_still_and_tracks_move_it(tmp_path):
    CUBE.save(tmp_path / "cube.obj")
    save(tmp_path, "ball", bodies()["ball"])
    track = np.array([np.eye(4)] * 3)
    track[:, 2, 3] = HEIGHTS["ball"]
    np.save(tmp_path / "fall.npy", track)
    BALL.save(tmp_path / "ball.obj")
    still = read_bodies([f"ball={tmp_path}/ball_*.obj", f"cube={tmp_path}/cube.obj"])
    moved = read_bodies(
        [f"ball={tmp_path}/ball.obj", f"cube={tmp_path}/cube.obj"], motions=[f"ball={tmp_path}/fall.npy"]
    )
    expected = rows_of(run({name: bodies()[name] for name in ("ball", "cube")}, tmp_path / "w"))
    assert expected
    for ensemble in (still, moved):
        assert len(ensemble) == 3
        for ours, theirs in zip(rows_of(check(ensemble, store=Store(tmp_path / "w"))), expected, strict=True):
            assert ours[:4] == theirs[:4]
            assert ours[4:] == pytest.approx(theirs[4:], abs=1e-6)
    assert tmp_path / "fall.npy" in moved.paths


def test_objects_of_an_obj_file_keep_their_names(tmp_path):
    lines, start = [], 1
    for name, mesh, x in (("the floor", CUBE, 0.0), ("lamp", BALL, 0.8)):
        lines += [f"o {name}", *(f"v {p[0] + x} {p[1]} {p[2]}" for p in mesh.vertices.tolist())]
        lines += ["f " + " ".join(str(i + start) for i in face) for face in mesh.faces.tolist()]
        start += len(mesh.vertices)
    (tmp_path / "room.obj").write_text("\n".join(lines))
    ensemble = read_bodies([tmp_path / "room.obj"])
    assert ensemble.labels.names == ("the floor", "lamp")
    rows = rows_of(check(ensemble, store=Store(tmp_path / "w")))
    assert rows
    assert all({first[0], second[0]} == {"the floor", "lamp"} for _, _, first, second, _, _ in rows)
    assert max(number for row in rows for name, number in row[2:4] if name == "lamp") < len(BALL.faces)


def test_edges_belong_to_the_bodies_of_their_faces():
    labels = Ensemble(bodies()).labels
    mesh = Ensemble(bodies()).mesh
    assert (labels.vertex[mesh.edges] == labels.edge[:, np.newaxis]).all()


BAD = {
    "different numbers of frames": (
        ["ball=ball_*.obj", "cube=cube_00[01].obj"],
        {},
        "cube: has 2 frames, but ball has 3",
    ),
    "a name that no body has": (["ball=ball_*.obj"], {"ignore": (("ball", "bll"),)}, "'bll', but the bodies are ball"),
    "a thickness below zero": (["ball=ball_*.obj"], {"thickness": (("ball", -1.0),)}, "thickness of ball"),
    "no file": (["ball=none_*.obj"], {}, "matches no file"),
}


@pytest.mark.parametrize(("words", "options", "reason"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_named(tmp_path, monkeypatch, words, options, reason):
    for name, frames in bodies().items():
        save(tmp_path, name, frames)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match=reason):
        check(read_bodies(words), Options(**options), store=Store(tmp_path / "w"))


def test_a_motion_for_nobody(tmp_path):
    CUBE.save(tmp_path / "cube.obj")
    np.save(tmp_path / "m.npy", np.array([np.eye(4)]))
    with pytest.raises(InvalidInput, match="is for 'ball', which is none of cube"):
        read_bodies([f"cube={tmp_path}/cube.obj"], motions=[f"ball={tmp_path}/m.npy"])


@pytest.mark.parametrize("word", ["a", "a:", ":b", ""])
def test_words_of_two_parts(word):
    with pytest.raises(InvalidInput, match="expected A:B"):
        split_words([word], ":", "ignore", "A:B")
    with pytest.raises(InvalidInput, match="expected a number"):
        read_thicknesses(["a=thick"])


@pytest.mark.large
def test_the_command_names_bodies(tmp_path):
    for name, frames in bodies().items():
        save(tmp_path, name, frames)
    done = abut(
        tmp_path, "check", ".", "--json", "-", "--ignore", "ball:drop", "--out", "rows.csv", "--html", "page.html"
    )
    assert done.returncode == 1, done.stderr
    document = json.loads(done.stdout)
    assert [body["name"] for body in document["bodies"]] == ["ball", "cube", "drop"]
    assert {(row["body_a"], row["body_b"]) for row in document["findings"]} <= {("ball", "cube"), ("cube", "ball")}
    assert document["findings"][0]["own_a"] >= 0
    assert (tmp_path / "rows.csv").read_text().splitlines()[0].endswith("depth,body_a,body_b,own_a,own_b")
    assert "ball and cube" in done.stderr
    assert '"bodies":["ball","cube","drop"]' in (tmp_path / "page.html").read_text()
    wrong = abut(tmp_path, "check", ".", "--ignore", "ball:dorp")
    assert wrong.returncode == 2
    assert "names 'dorp', but the bodies are ball, cube, drop" in wrong.stderr
