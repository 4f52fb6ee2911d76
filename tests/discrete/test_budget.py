"""Budgets: a search that is interrupted anywhere, any number of times, ends with the plain answer, and what it says before is true.

The oracles are `collide` without a budget, and `distance` for what is proven apart; time is a clock of the test's own that runs with the turns.
"""

import time

import numpy as np
import pytest

import abut
from abut.core.jit import INTERPRETED
from abut.discrete import Proof, budget

LEVEL = 1 if INTERPRETED else 3
FIELDS = ("face_a", "face_b", "query", "inside", "colliding", "point", "normal")


@pytest.fixture
def turns(monkeypatch):
    """Budgets are numbers of turns, each of the least steps."""
    now = [0.0]

    def tick():
        now[0] += 1.0
        return now[0]

    monkeypatch.setattr(budget, "working_clock", tick)
    monkeypatch.setattr(budget, "FIRST_STEPS", budget.LEAST_STEPS)
    monkeypatch.setattr(budget, "MOST_STEPS", budget.LEAST_STEPS)


def place(x, y=0.0, z=0.0):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def ball(x=0.0, radius=1.0, level=LEVEL, kind=abut.Rigid):
    return kind(abut.scenes.icosphere(level, radius=radius, center=(x, 0.0, 0.0)))


def assert_same(found, expected):
    assert len(found) == len(expected)
    for field in FIELDS:
        assert np.array_equal(getattr(found, field), getattr(expected, field)), field
    assert (found.box_tests, found.triangle_tests, found.exact_tests) == (
        expected.box_tests,
        expected.triangle_tests,
        expected.exact_tests,
    )


def rows_of(contacts):
    return set(zip(contacts.query.tolist(), contacts.face_a.tolist(), contacts.face_b.tolist(), strict=True))


CASES = {
    "overlapping": lambda: (ball(), ball(0.7)),
    "one vertex": lambda: (ball(), abut.Rigid(abut.scenes.box(center=(1.5, 0.0, 0.0)))),
    "near": lambda: (ball(), ball(2.001)),
    "far": lambda: (ball(), ball(1e5)),
    "inside": lambda: (ball(), ball(0.1, radius=0.3)),
    "around": lambda: (ball(radius=0.3), ball(0.1)),
    "deformable": lambda: (ball(kind=abut.Deformable), ball(0.7, kind=abut.Deformable)),
    "the same": lambda: (ball(level=1),) * 2,
    "small": lambda: (ball(radius=1e-6, level=1), ball(1.5e-6, radius=1e-6, level=1)),
    "itself": lambda: (abut.Rigid(crossed()), None),
    "itself apart": lambda: (ball(level=1), None),
}


def crossed():
    both = [abut.scenes.icosphere(1, center=(x, 0.0, 0.0)) for x in (0.0, 0.8)]
    count = len(both[0].vertices)
    return abut.Mesh(np.concatenate([m.vertices for m in both]), np.concatenate([both[0].faces, both[1].faces + count]))


@pytest.mark.parametrize("margin", [0.0, 0.05])
@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_resumed_to_the_end_it_is_the_plain_answer(case, first, margin, turns):
    a, b = CASES[case]()
    options = {"margin": 1e-6 * margin if case == "small" else margin, "first": first}
    plain = abut.collide(a, b, **options)
    search, seen, count = abut.collide(a, b, **options, budget=0.0), set(), 0
    gap = abut.distance(a, b).distance if b is not None else 0.0
    while not search.complete:
        assert rows_of(search.contacts) >= seen
        assert rows_of(search.contacts) <= rows_of(plain)
        assert search.status[0] == (Proof.COLLIDES if len(search) else Proof.UNDECIDED)
        seen, count = rows_of(search.contacts), count + 1
        search = search.resume(0.0 if count < 40 else 10.0**count)
    assert_same(search.contacts, plain)
    assert search.status[0] == (Proof.COLLIDES if plain else Proof.SEPARATE)
    last = search.resume()
    assert_same(last.contacts, plain)
    if plain:
        assert last.separation[0] == 0.0
    elif b is not None:
        assert gap / 1.06 <= last.separation[0] <= gap * (1 + 1e-9)
        while not np.array_equal(search.separation, last.separation):
            further = search.resume(0.0)
            assert search.separation[0] <= further.separation[0] <= gap
            search = further


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("count", [1, 2, 3] if INTERPRETED else [1, 2, 7, 40])
def test_many_poses_take_turns(count, first, turns, rng):
    a, b = ball(level=0 if INTERPRETED else 2), ball(radius=0.4, level=0 if INTERPRETED else 1)
    poses = np.stack([place(*x) for x in rng.uniform(-2.0, 2.0, (count, 3))])
    plain = abut.collide(a, b, poses=poses, first=first)
    search = abut.collide(a, b, poses=poses, first=first, budget=0.0)
    one = search.resume()
    for step in range(1000):
        if search.complete:
            break
        search = search.resume(float(rng.integers(0, 4 + step)))
    for found in (search, one, abut.collide(a, b, poses=poses, first=first, budget=1e9)):
        assert_same(found.contacts, plain)
        assert np.array_equal(found.status == Proof.COLLIDES, plain.colliding)
    for pose, proven, collides in zip(poses, one.separation, plain.colliding, strict=True):
        gap = abut.distance(abut.Rigid(a.mesh, pose), b).distance
        assert (proven == 0.0) if collides else gap / 1.06 <= proven <= gap * (1 + 1e-9)


def test_a_search_stays_as_it_was_and_may_be_resumed_twice(turns):
    a, b = ball(), ball(0.7)
    start = abut.collide(a, b, budget=3.0)
    before = rows_of(start.contacts)
    first, second = start.resume(5.0), start.resume(5.0)
    a.pose = place(9.0)
    assert rows_of(first.contacts) == rows_of(second.contacts)
    assert rows_of(start.contacts) == before
    assert rows_of(start.resume().contacts) == rows_of(abut.collide(ball(), b))


def test_a_body_that_was_updated_is_refused(turns):
    a, b = ball(kind=abut.Deformable), ball(0.7)
    search = abut.collide(a, b, budget=0.0)
    a.update(a.vertices + 1.0)
    with pytest.raises(abut.InvalidInput, match="updated"):
        search.resume()


@pytest.mark.parametrize("bad", [-1.0, np.nan, "soon", [1.0]])
def test_bad_budgets_are_refused_by_name(bad):
    with pytest.raises(abut.InvalidInput, match="budget"):
        abut.collide(ball(level=1), ball(level=1), budget=bad)
    with pytest.raises(abut.InvalidInput, match="budget"):
        abut.collide(ball(level=1), ball(level=1), budget=0.0).resume(bad)


@pytest.mark.large
def test_a_budget_is_kept(rng):
    """Not a measurement: a turn is some thousand steps, so a hundred times the budget would be a search that does not look at the clock."""
    a, b = ball(level=6), ball(1e-4, level=6)
    abut.collide(a, b, budget=0.01)
    start = time.thread_time()
    search = abut.collide(a, b, budget=0.01)
    assert time.thread_time() - start < 1.0
    assert search
    assert not search.complete
    poses = np.tile(place(0.3), (5000, 1, 1))
    search = abut.collide(a, b, poses=poses, budget=0.01)
    assert not search.complete
