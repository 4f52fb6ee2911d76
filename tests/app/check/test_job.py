import numpy as np
import pytest

from abut import InvalidInput, Mesh, Unsupported
from abut.app.check import Ensemble, Frames, Options, Progress, Store, check
from abut.app.check import search as searching
from abut.app.check.bodies import ArrayFrames
from abut.app.check.findings import Contact
from abut.app.check.job import as_checked
from abut.app.report import write_report
from app.animation import FACES, FRAMES, falling, same, save_all, sweep


@pytest.fixture
def computed(monkeypatch):
    """What was computed, in order: heights of the triangle's first corner. Sweeps are slow and obvious."""
    log = []
    search = searching._Surface.search_frame

    def search_frame(self, vertices):
        log.append(float(vertices[4, 2]))
        return search(self, vertices)

    def impacts(mesh, v_t0, v_t1, options):
        log.append((float(v_t0[4, 2]), float(v_t1[4, 2])))
        return sweep(mesh, v_t0, v_t1, options.min_distance)

    monkeypatch.setattr(searching._Surface, "search_frame", search_frame)
    monkeypatch.setattr(searching, "_impacts", impacts)
    return log


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "work")


ALL = [1.0, (1.0, 0.5), 0.5, (0.5, -0.5), -0.5, (-0.5, -0.25), -0.25]


def test_finds_what_passes_between_frames_and_what_cuts_at_them(tmp_path, computed, store):
    seen = []
    report = check(Frames(save_all(tmp_path / "in")), store=store, report=seen.append)
    rows = report.findings
    # The three corners fall through face 0 between frames 1 and 2, half-way; the triangle then rises into it until frame 3, where it cuts it.
    through = rows.frame == 1
    assert rows.kind[through].tolist() == [Contact.VERTEX_FACE] * 3
    assert rows.a[through].tolist() == [4, 5, 6]
    assert rows.b[through].tolist() == [0, 0, 0]
    assert rows.time[through] == pytest.approx(1.5)
    assert rows.depth[through] == pytest.approx(0.5)
    assert rows.point[through] == pytest.approx(FRAMES[0][4:] * [1, 1, 0])
    assert rows.normal[through] == pytest.approx(np.array([[0, 0, -1.0]] * 3))
    # Of the last step only the upper corner meets the square: from −0.5 to 0.25.
    rising = rows.frame == 2
    assert (rows.kind[rising].tolist(), rows.a[rising].tolist()) == ([Contact.VERTEX_FACE], [6])
    assert rows.time[rising] == pytest.approx(2 + 2 / 3)
    assert rows.depth[rising] == pytest.approx(0.25)
    assert (rows.frame[-1], rows.kind[-1], rows.a[-1], rows.b[-1], rows.time[-1]) == (3, Contact.FACE_FACE, 0, 2, 3.0)
    assert report.counts.tolist() == [[0, 0, 0, 0], [3, 0, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0]]
    assert (report.found, report.step_count, report.exit_code) == (5, 3, 1)
    assert (int(report.first.a[0]), float(report.first.time[0])) == (4, pytest.approx(1.5))
    assert report.worst_impacts.a.tolist()[-1] == 6
    assert report.longest_cuts.b.tolist() == [2]
    assert seen == [Progress(1, 4, 0), Progress(2, 4, 3), Progress(3, 4, 4), Progress(4, 4, 5)]
    assert computed == [1.0, (1.0, 0.5), 0.5, (0.5, -0.5), -0.5, (-0.5, -0.25), -0.25]


def test_clean_animation(tmp_path, computed, store):
    report = check(Frames(save_all(tmp_path / "in", FRAMES[:2])), store=store)
    assert (report.found, report.exit_code, len(report.findings.kind), len(report.first.kind)) == (0, 0, 0, 0)
    assert computed == ALL[:3]


@pytest.mark.parametrize(
    ("options", "expected", "found"),
    [(Options(between=False), ALL[::2], 1), (Options(at_frames=False), ALL[1::2], 4)],
)
def test_half_of_the_search(tmp_path, computed, store, options, expected, found):
    report = check(Frames(save_all(tmp_path / "in")), options, store=store)
    assert computed == expected
    assert report.found == found
    assert report.step_count == (3 if options.between else 0)


def test_bad_frame_is_named_and_its_steps_are_not_bridged(tmp_path, computed, store):
    paths = save_all(tmp_path / "in", np.concatenate((FRAMES, FRAMES)))
    paths[2].write_text("ply")
    report = check(Frames(paths), store=store)
    assert list(report.bad) == [2]
    assert report.skipped == {1: "frame10.ply could not be read", 2: "frame10.ply could not be read"}
    # Frames 4 to 7 are as 0 to 3: what is known of these already is not computed again.
    assert computed == [1.0, (1.0, 0.5), 0.5, -0.25, (-0.25, 1.0), (0.5, -0.5), -0.5, (-0.5, -0.25)]
    assert report.counts[1].tolist() == [0, 0, 0, 0]
    assert report.exit_code == 1
    shown = as_checked(Frames(paths), report)
    assert shown.bad == [("frame10.ply", report.bad[2])]
    assert (shown.frames[2] == FRAMES[1]).all()
    assert len(shown.frames) == len(shown.names) == 8


def test_steps_between_frames_of_one_connectivity_are_checked_and_others_named(tmp_path, computed, store):
    paths = save_all(tmp_path / "in", np.concatenate((FRAMES, FRAMES)))
    more = np.concatenate((FACES, [[0, 1, 4]]))
    for i in (4, 5, 6, 7):  # the second half has a face more
        Mesh(np.concatenate((FRAMES, FRAMES))[i], more).save(paths[i])
    report = check(Frames(paths), store=store)
    assert report.bad == {}
    assert report.skipped == {3: "other connectivity: 4 faces, but frame11.ply has 3"}
    assert computed == [*ALL, *ALL]
    alone = check(Frames(paths[4:]), store=Store(tmp_path / "other"))
    assert (report.counts[4:] == alone.counts).all()
    late = report.findings.frame >= 4
    assert report.findings.a[late].tolist() == alone.findings.a.tolist()
    assert report.exit_code == 1
    assert report.labels.of(report.findings)[0].tolist() == [0] * report.found
    shown = as_checked(Frames(paths), report)
    assert [len(frame) for frame in shown.frames] == [7] * 4 + [0] * 4
    assert shown.bad == [("frame11.ply → frame12.ply", report.skipped[3])]
    write_report(tmp_path / "page.html", shown, title="A change")
    computed.clear()
    same(check(Frames(paths), store=store), report)
    assert computed == []


def test_connectivity_that_changes_at_each_frame(tmp_path, store):
    paths = save_all(tmp_path / "in")
    for i, path in enumerate(paths):
        Mesh(FRAMES[i], [*FACES.tolist(), *([[0, 1, 4]] * i)]).save(path)
    report = check(Frames(paths), store=store)
    assert (list(report.bad), list(report.skipped)) == ([], [0, 1, 2])
    assert report.counts[3, 2] > 0


def test_bodies_keep_their_connectivity(tmp_path, store):
    paths = save_all(tmp_path / "in")
    Mesh(FRAMES[1], FACES[:, ::-1]).save(paths[1])
    floor = ArrayFrames(FRAMES[:1] - 9.0, FACES)
    report = check(Ensemble({"one": Frames(paths), "floor": floor}), store=store)
    assert list(report.bad) == [1]
    assert "other connectivity: face 0 is [2, 1, 0]" in report.bad[1]


def test_bad_input_without_collisions(tmp_path, computed, store):
    paths = save_all(tmp_path / "in", FRAMES[[0, 1, 0]])
    for bad, alone in ((0, [0.5, (0.5, 1.0), 1.0]), (2, [1.0, (1.0, 0.5), 0.5])):
        save_all(tmp_path / "in", FRAMES[[0, 1, 0]])
        paths[bad].write_text("ply")
        computed.clear()
        report = check(Frames(paths), store=Store(tmp_path / f"work{bad}"))
        assert list(report.bad) == [bad]
        assert computed == alone
        assert report.exit_code == 2
        assert (as_checked(Frames(paths), report).frames[bad] == FRAMES[1]).all()
        same(check(Frames(paths), store=Store(tmp_path / f"work{bad}")), report)


def test_step_that_cannot_be_searched_is_named(tmp_path, computed, store, monkeypatch):
    def refuse(mesh, v_t0, v_t1, min_distance):
        raise Unsupported("steps of this kind")

    monkeypatch.setattr(searching, "_impacts", refuse)
    paths = save_all(tmp_path / "in", FRAMES[:2])
    report = check(Frames(paths), store=store)
    assert (report.bad, report.skipped, report.exit_code) == ({}, {0: "steps of this kind"}, 2)
    assert as_checked(Frames(paths), report).bad == [("frame8.ply → frame9.ply", "steps of this kind")]


# --- going on


@pytest.mark.parametrize("after", [1, 2, 3])
def test_goes_on_where_it_was_interrupted(tmp_path, computed, store, after):
    frames = Frames(save_all(tmp_path / "in"))
    whole = check(frames, store=Store(tmp_path / "other"))
    computed.clear()

    def interrupt(progress):
        if progress.done == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check(frames, store=store, report=interrupt)
    assert computed == ALL[: 2 * after]
    computed.clear()
    report = check(frames, store=store)
    assert computed == ALL[2 * after :]
    assert report.reused == 2 * after
    same(report, whole)


def test_changed_frame_and_what_touches_it_is_computed_again(tmp_path, computed, store):
    paths = save_all(tmp_path / "in")
    check(Frames(paths), store=store)
    computed.clear()
    Mesh(falling(0.75), FACES).save(paths[1])
    changed = check(Frames(paths), store=store)
    assert computed == [(1.0, 0.75), 0.75, (0.75, -0.5)]
    same(changed, check(Frames(paths), store=Store(tmp_path / "other")))


def test_changed_connectivity_is_computed_again(tmp_path, computed, store):
    check(Frames(save_all(tmp_path / "in")), store=store)
    computed.clear()
    check(Frames(save_all(tmp_path / "in", faces=FACES[:, ::-1])), store=store)
    assert computed == ALL


def test_another_distance_leaves_the_frames(tmp_path, computed, store):
    frames = Frames(save_all(tmp_path / "in"))
    check(frames, store=store)
    computed.clear()
    check(frames, Options(min_distance=0.125), store=store)
    assert computed == ALL[1::2]
    computed.clear()
    check(frames, Options(between=False), store=store)
    check(frames, Options(min_distance=0.125), store=store)
    assert computed == []


def test_archive_and_files_and_other_names_count_as_other_input_but_order_does_not(tmp_path, computed, store):
    paths = save_all(tmp_path / "in")
    check(Frames(paths), store=store)
    computed.clear()
    moved = [path.rename(path.with_name(f"x{i}.ply")) for i, path in enumerate(paths)]
    assert check(Frames(moved), store=store).names == ["x0.ply", "x1.ply", "x2.ply", "x3.ply"]
    assert computed == []
    check(Frames(moved[::-1], keep_order=True), store=store)
    assert computed == [(-0.25, -0.5), (-0.5, 0.5), (0.5, 1.0)]  # the steps run backwards, the frames are the same


def test_damaged_results_are_computed_again(tmp_path, computed, store):
    frames = Frames(save_all(tmp_path / "in"))
    whole = check(frames, store=store)
    computed.clear()
    files = sorted(store.folder.glob("*.npz"))
    assert len(files) == 7
    files[0].write_bytes(files[0].read_bytes()[:100])
    files[1].write_bytes(b"")
    same(check(frames, store=store), whole)
    assert len(computed) == 2


# --- limits


def test_rows_are_limited_and_counts_are_not(tmp_path, computed, store):
    frames = Frames(save_all(tmp_path / "in"))
    whole = check(frames, store=store)
    for most in (1, 3, 4):
        report = check(frames, store=store, max_findings=most)
        assert report.found == whole.found
        assert report.findings.a.tolist() == whole.findings.a.tolist()[:most]
        same(report._replace(findings=whole.findings), whole)


@pytest.mark.parametrize(
    ("options", "arguments", "name"),
    [
        (Options(False, False), {}, "options"),
        (Options(min_distance=-1.0), {}, "min_distance"),
        (Options(min_distance=float("nan")), {}, "min_distance"),
        (Options(), {"jobs": 0}, "jobs"),
        (Options(), {"max_findings": 0}, "max_findings"),
    ],
)
def test_bad_options_are_named(tmp_path, store, options, arguments, name):
    with pytest.raises(InvalidInput) as caught:
        check(Frames(save_all(tmp_path / "in")), options, store=store, **arguments)
    assert caught.value.name == name
