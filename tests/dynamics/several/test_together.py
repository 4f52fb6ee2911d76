"""Several mobiles in one step, against all pairs of primitives in exact arithmetic, and against the law of momentum."""

import itertools

import numpy as np
import pytest

from abut import cells, dynamics
from abut.core.errors import InvalidInput
from conftest import SOAK
from dynamics.test_impacts import all_pairs, halls

HISTORIES = range(40) if SOAK else range(1)
STEPS = 12 if SOAK else 2
RESPONSES = ("stop", "slide", "push")


def shapes(dimension, rng, size):
    """A triangle or tetrahedron, an open line, all within a cube of some size about the origin."""
    points = rng.uniform(-size / 2, size / 2, (4, dimension))
    if dimension == 2:
        return [(points[:3], [[0, 1], [1, 2], [2, 0]]), (points, [[0, 1], [1, 2]])]
    return [(points, [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]), (points, [[0, 1], [1, 2], [2, 3]])]


def crowd(dimension, rng):
    """Mobiles that do not touch, each in a part of the hall of its own."""
    hall, bodies = halls(dimension), []
    for k, place in enumerate(itertools.product((0.8, 2.2), repeat=dimension)):
        points, rows = shapes(dimension, rng, 1.2)[(k + int(rng.integers(2))) % 2]
        bodies.append(cells.Mobile(hall, (points + place, np.array(rows))))
    for body in bodies:
        try:
            dynamics.move_together([body], [body.position])
        except InvalidInput:  # a line that touches itself
            return crowd(dimension, rng)
    return bodies


def weigh(bodies, mass, ways):
    return sum(
        (np.broadcast_to(m, len(b))[:, np.newaxis] * w).sum(axis=0) for b, m, w in zip(bodies, mass, ways, strict=True)
    )


@pytest.mark.large
@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("history", HISTORIES)
def test_nothing_passes_through_and_momentum_is_kept(dimension, response, history):
    rng = np.random.default_rng([dimension, RESPONSES.index(response), history])
    bodies = crowd(dimension, rng)
    mass = [rng.uniform(0.2, 5.0, len(body)) if rng.random() < 0.5 else float(rng.uniform(0.2, 5.0)) for body in bodies]
    met = 0
    for _ in range(STEPS):
        before = [body.position for body in bodies]
        middle = np.mean(np.concatenate(before), axis=0)
        speed = rng.choice([0.05, 0.5, 1.5])
        goals = [p + speed * (middle - p.mean(axis=0)) + rng.uniform(-0.3, 0.3, p.shape) for p in before]
        bounce, walls = float(rng.choice([0.0, 0.7])), str(rng.choice(["static", "rigid"]))
        mode = str(rng.choice(["quasi", "continuous"]))
        done = dynamics.move_together(
            bodies, goals, response=response, mass=mass, restitution=bounce, mode=mode, walls=walls
        )
        met += len(done.met)
        assert not all_pairs(bodies, before)
        assert not all_pairs(bodies, [body.position for body in bodies])
        assert [move.position.tolist() for move in done.moves] == [body.position.tolist() for body in bodies]
        wished = weigh(bodies, mass, [goal - p for goal, p in zip(goals, before, strict=True)])
        gone = weigh(bodies, mass, [body.position - p for body, p in zip(bodies, before, strict=True)])
        assert np.allclose(gone + done.lost, wished, rtol=0, atol=1e-9)
        if done.turns == 1 and not any(each.any() for each in done.is_held):
            hit = any(move.is_hit.any() for move in done.moves)
            assert hit or np.allclose(done.lost, 0, atol=1e-9)
            assert np.allclose(weigh(bodies, mass, done.after), wished, rtol=0, atol=1e-9)
    assert met


@pytest.mark.parametrize("response", RESPONSES)
def test_what_is_led_pushes_the_rest_and_gives_way_to_nobody(response):
    hall = halls(3)
    hand = cells.Mobile(hall, ([[0.5, 1.5, 1.2], [0.5, 1.5, 1.8]], [[0, 1]]))
    bar = cells.Mobile(hall, ([[1.0, 1.0, 1.5], [1.0, 2.0, 1.5]], [[0, 1]]))
    goal = hand.position + np.array([1.5, 0.0, 0.0])
    done = dynamics.move_together([hand, bar], [goal, bar.position], response=response, mass=[np.inf, 1.0])
    assert hand.position.tolist() == goal.tolist()
    assert 2.0 < bar.position[:, 0].mean() < 2.0001
    assert done.met.time.round(6).tolist() == [0.333333]


def test_bodies_pressed_against_a_wall_stay_before_it():
    """The bar cannot leave; the rod that is led into it is stopped by what the wall has stopped."""
    hall = halls(3)
    rod = cells.Mobile(hall, ([[1.5, 1.5, 1.2], [1.5, 1.5, 1.8]], [[0, 1]]))
    bar = cells.Mobile(hall, ([[2.5, 1.0, 1.5], [2.5, 2.0, 1.5]], [[0, 1]]))
    done = dynamics.move_together([rod, bar], [rod.position + np.array([3.0, 0.0, 0.0]), bar.position], response="push")
    assert (rod.position[:, 0] < bar.position[:, 0].min()).all()
    assert (bar.position[:, 0] <= 3.0).all()
    assert bar.position[0, 0] > 2.99
    assert rod.position[0, 0] > 2.9
    assert done.lost[0] > 1.0


def test_a_mobile_does_not_pass_through_itself():
    hall = halls(2)
    hook = cells.Mobile(hall, ([[0.5, 0.5], [2.5, 0.5], [2.5, 1.5], [1.0, 1.5]], [[0, 1], [1, 2], [2, 3]]))
    goal = hook.position
    goal = np.concatenate((goal[:3], [[1.0, 0.2]]))  # its tip through its own first edge
    before = hook.position
    done = dynamics.move_together([hook], [goal], response="stop")
    assert len(done.met) >= 1
    assert not all_pairs([hook], [before])
    (x0, y0), (x1, y1), _, (x, y) = hook.position
    assert y > y0 + (y1 - y0) * (x - x0) / (x1 - x0)


def test_bodies_that_touch_are_refused_by_name():
    hall = halls(3)
    one = cells.Mobile(hall, ([[0.5, 1.5, 1.5], [1.5, 1.5, 1.5]], [[0, 1]]))
    two = cells.Mobile(hall, ([[1.0, 1.5, 1.5], [1.0, 2.5, 1.5]], [[0, 1]]))
    with pytest.raises(InvalidInput, match="touch before they move: edge 0 of mobile 0 and edge 0 of mobile 1"):
        dynamics.move_together([one, two], [one.position, two.position])
    with pytest.raises(InvalidInput, match="twice"):
        dynamics.move_together([one, one], [one.position, one.position])
    for mass in ([1.0], [0.0, 1.0], [[1.0], 1.0], ["heavy", 1.0]):
        with pytest.raises(InvalidInput, match="mass"):
            dynamics.move_together([one, two], [one.position, two.position], mass=mass)
    with pytest.raises(InvalidInput, match="targets"):
        dynamics.move_together([one, two], [one.position])


def test_a_line_of_bodies_passes_the_impulse_on():
    """Ten bars in a row, the first flies: with full restitution the last one goes, as balls on strings do."""
    hall = cells.channel(12, 1, 1)
    bars = [
        cells.Mobile(hall, ([[x, 0.5, 0.2 + 0.01 * (x > 2)], [x, 0.5 + 0.01 * x, 0.8]], [[0, 1]])) for x in range(1, 6)
    ]
    goals = [bar.position for bar in bars]
    goals[0] = goals[0] + [8.0, 0.0, 0.0]
    before = [bar.position for bar in bars]
    dynamics.move_together(bars, goals, response="push")
    assert not all_pairs(bars, before)
    ways = [(bar.position - start)[:, 0].mean() for bar, start in zip(bars, before, strict=True)]
    places = [bar.position[:, 0].mean() for bar in bars]
    assert np.isclose(sum(ways), 8.0)
    assert sorted(places) == places
