"""`Sweeper`: what it keeps from earlier steps changes what an answer costs, never the answer.

The oracle is the plain function on the same step, in memory of its own; `test_sweep`, `test_sizes` and the data hold that against whole numbers.
"""

import threading

import numpy as np
import pytest

import abut
from abut import ccd
from abut.ccd import earliest
from abut.core.jit import INTERPRETED
from abut.trees.blocks import memory
from ccd.steps import SCENES, VOLUMES, as_set, lattice, load_scene, soup

FACES = 12 if INTERPRETED else 90
FIELDS = ("kind", "a", "b", "time", "point", "normal", "status")


def assert_same_impacts(found, expected):
    for field in FIELDS:
        assert getattr(found, field).tobytes() == getattr(expected, field).tobytes(), field
    assert found.in_contact_at_start == expected.in_contact_at_start


def assert_same_pairs(found, expected, *, ordered):
    for field in ("vertex_face", "edge_edge", "face_vertex"):
        own, other = getattr(found, field), getattr(expected, field)
        assert len(own) == len(other)
        if ordered:
            assert own.tobytes() == other.tobytes()
        else:
            assert as_set(own) == as_set(other)


def ask(sweeper, plain, ends, rng):
    """One question with options drawn at random; the same of the plain function."""
    distance = float(rng.choice([0.0, 0.0, 1e-9, 0.05]))
    question = rng.integers(4)
    if question == 0:
        assert_same_impacts(sweeper.sweep(*ends, min_distance=distance), abut.sweep(*plain, min_distance=distance))
    elif question == 1:
        options = {"min_distance": distance, "at_start": bool(rng.integers(2))}
        assert sweeper.time_of_impact(*ends, **options) == abut.time_of_impact(*plain, **options)
    else:
        ordered, volume = bool(question == 2), str(rng.choice(sorted(VOLUMES)))
        found = sweeper.candidates(*ends, volume=volume, min_distance=distance, ordered=ordered)
        assert_same_pairs(found, abut.candidates(*plain, volume=volume, min_distance=distance), ordered=ordered)


@pytest.mark.parametrize("kind", [soup, lattice], ids=lambda kind: kind.__name__)
def test_any_history_gives_the_answers_of_the_plain_functions(kind, rng, monkeypatch):
    monkeypatch.setattr(memory, "LONGEST", 5)
    monkeypatch.setattr(earliest, "CUT_FROM", 0)
    for count in (1, 2, FACES):
        mesh, v_t0, v_t1 = kind(rng, count)
        sweeper, rest = abut.Sweeper(mesh), v_t0
        for step in range(4 if INTERPRETED else 14):
            if step % 5 == 4:  # the order of before is worth nothing
                v_t0 = rest[rng.permutation(len(rest))] * float(rng.choice([1e-6, 1.0, 1e6]))
                v_t1 = v_t0 + 0.1 * np.abs(v_t0).max() * rng.normal(size=v_t0.shape)
            ask(sweeper, (mesh, v_t0, v_t1), (v_t0, v_t1), rng)
            v_t0, v_t1 = v_t1, v_t1 + 0.1 * np.abs(v_t1).max() * rng.normal(size=v_t1.shape)


def test_two_bodies(rng):
    a, a_t0, a_t1 = soup(rng, FACES)
    b, b_t0, b_t1 = soup(rng, FACES // 2)
    sweeper = abut.Sweeper(a, b)
    for _ in range(6):
        ask(sweeper, (abut.Motion(a, a_t0, a_t1), abut.Motion(b, b_t0, b_t1)), (a_t0, a_t1, b_t0, b_t1), rng)
        a_t0, a_t1, b_t0, b_t1 = a_t1, a_t0 + 0.1, b_t1, b_t0


def test_answers_of_earlier_steps_stay(rng):
    mesh, v_t0, v_t1 = soup(rng, FACES)
    sweeper = abut.Sweeper(mesh)
    kept = [sweeper.sweep(v_t0, v_t1), *(sweeper.candidates(v_t0, v_t1, ordered=flag) for flag in (True, False))]
    before = [kept[0].time.copy(), *(found.edge_edge.copy() for found in kept[1:])]
    for _ in range(3):
        sweeper.sweep(v_t1, -v_t0)
        sweeper.candidates(v_t1, -v_t0, ordered=False)
    after = [kept[0].time, *(found.edge_edge for found in kept[1:])]
    assert all(np.array_equal(x, y) for x, y in zip(before, after, strict=True))
    assert not any(array.flags.writeable for array in after)


def test_the_order_lasts_until_blocks_have_grown(rng):
    mesh = abut.scenes.icosphere(1 if INTERPRETED else 2)
    sweeper, v = abut.Sweeper(mesh), mesh.vertices
    sweeper.sweep(v, v)
    first = sweeper._memory.order
    sweeper.sweep(1.01 * v, v)
    assert sweeper._memory.order is first
    sweeper.sweep(v[rng.permutation(len(v))], v)
    assert sweeper._memory.order is not first


@pytest.mark.parametrize("share", [0.001, 0.1, 0.49, 0.51, 1.0])
def test_the_earliest_time_is_the_least_of_all_whenever_it_is(share, monkeypatch):
    """The step is cut at a first bound: one flap of many meets early, the others late."""
    monkeypatch.setattr(earliest, "CUT_FROM", 0)
    count = 2 if INTERPRETED else 100
    flap = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]])
    v = np.concatenate([flap + np.array([3.0 * k, 0, 0]) for k in range(count)])
    mesh = abut.Mesh(v, np.arange(6 * count).reshape(-1, 3))
    for early in {0, count // 2, count - 1}:
        end, tops = v.copy(), np.arange(6 * count).reshape(-1, 6)[:, 3:]
        end[tops, 2] = -0.1
        end[tops[early], 2] = 1.0 - 1.0 / share
        found = abut.sweep(mesh, v, end)
        assert abut.time_of_impact(mesh, v, end) == found.time.min() == pytest.approx(min(share, 1 / 1.1), abs=1e-8)
        assert abut.Sweeper(mesh).time_of_impact(v, end) == found.time.min()


def test_nothing_meets():
    ball, flap = abut.scenes.icosphere(1), abut.Mesh(9 * np.ones((1, 3)), [[0, 0, 0]])
    assert abut.Sweeper(ball).time_of_impact(ball.vertices, 2 * ball.vertices) == np.inf
    alone, both = abut.Sweeper(flap), abut.Sweeper(ball, flap)
    assert len(alone.sweep(flap.vertices, 0 * flap.vertices)) == 0
    assert len(alone.candidates(flap.vertices, flap.vertices, ordered=False)) == 0
    assert len(both.sweep(ball.vertices, ball.vertices, flap.vertices, flap.vertices)) == 0


def test_bad_ends_are_refused_by_name():
    ball = abut.scenes.icosphere(1)
    sweeper = abut.Sweeper(ball)
    for ends in ((), (ball.vertices,), (ball.vertices,) * 3, (ball.vertices,) * 4, (np.eye(4), np.eye(4))):
        with pytest.raises(abut.InvalidInput, match="ends"):
            sweeper.sweep(*ends)
    with pytest.raises(abut.InvalidInput, match="v_t1"):
        sweeper.sweep(ball.vertices, ball.vertices[:-1])


@pytest.mark.skipif(INTERPRETED, reason="takes long")
def test_threads_may_share_one(rng):
    steps = [(v_t0, v_t1) for _ in range(4) for _, v_t0, v_t1 in [soup(rng, 200)]]
    mesh = abut.Mesh(steps[0][0], np.arange(600).reshape(-1, 3))
    sweeper, found = abut.Sweeper(mesh), {}

    def work(k):
        found[k] = [sweeper.sweep(*steps[k]) for _ in range(3)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k, answers in found.items():
        for answer in answers:
            assert_same_impacts(answer, abut.sweep(mesh, *steps[k]))


@pytest.mark.large
def test_the_data_scene_has_its_true_pairs():
    if not SCENES.is_dir():
        pytest.skip("the shared data are not beside the checkout")
    mesh, v_t0, v_t1, true_vf, true_ee = load_scene("cloth-ball")
    sweeper = abut.Sweeper(mesh)
    sweeper.time_of_impact(v_t1, v_t0)
    found = sweeper.sweep(v_t0, v_t1)
    for kind, true in ((ccd.VERTEX_FACE, true_vf), (ccd.EDGE_EDGE, true_ee)):
        rows = found.kind == kind
        assert as_set(np.stack([found.a[rows], found.b[rows]], axis=1)) == as_set(true)
    assert sweeper.time_of_impact(v_t0, v_t1, at_start=False) == found.time.min()
