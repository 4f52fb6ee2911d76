"""Environments that change while somebody is in them: what was there before may change the cost of an answer, never the answer."""

import itertools

import numpy as np
import pytest

from abut import InvalidInput, Unsupported, cells, dynamics
from abut.core import jit
from cells import worlds
from conftest import SOAK

WALKS = ["planes", "darts"]


@pytest.mark.parametrize("walk", WALKS)
def test_a_particle_in_a_cell_that_becomes_an_obstacle_is_held(walk):
    env = cells.channel(2, 1, 1)
    crowd = cells.Particles(env, [[0.5, 0.5, 0.5], [1.5, 0.5, 0.5]], walk)
    env.set_obstacle(0, True)
    for goal in ([0.6, 0.5, 0.5], [1.5, 0.5, 0.5], [0.5, 0.5, 0.5], [-1.0, 0.5, 0.5]):
        moves = crowd.move([goal, [1.25, 0.5, 0.5]])
        assert moves.status.tolist() == [cells.COLLISION, cells.FREE]
        assert moves.time.tolist() == [0.0, 1.0]
        assert moves.position.tolist() == [[0.5, 0.5, 0.5], [1.25, 0.5, 0.5]]
        assert moves.kind.tolist() == [cells.VOLUME, cells.VOLUME]
        assert not moves.normal.any()
    env.set_obstacle(0, False)
    assert crowd.move([[1.5, 0.5, 0.5], [1.25, 0.5, 0.5]]).status.tolist() == [cells.FREE, cells.FREE]


@pytest.mark.parametrize("walk", WALKS)
@pytest.mark.parametrize("start", [[1.0, 0.5, 0.5], [1.0, 1.0, 0.5], [1.0, 1.0, 1.0]])
def test_a_particle_on_the_border_of_a_new_obstacle_goes_on_in_the_free_cell(walk, start):
    env = cells.channel(2, 1, 1)
    crowd = cells.Particles(env, [start], walk)
    assert crowd.cell.tolist() == [0]
    env.set_obstacle(0, True)
    away = crowd.move([[1.5, 0.5, 0.5]])
    assert (away.status.tolist(), away.cell.tolist()) == ([cells.FREE], [1])
    assert crowd.move([[0.5, 0.5, 0.5]]).status.tolist() == [cells.COLLISION]


def test_a_particle_at_a_slit_is_not_let_through_by_a_new_obstacle():
    """The other side of the slit is free, and the particle lies on its face; but the way there is closed."""
    env = cells.channel(2, 1, 1)
    env.unsew(0, 1)
    crowd = cells.Particles(env, [[0.5, 0.5, 0.5]])
    assert crowd.move([[1.0, 0.5, 0.5]]).status.tolist() == [cells.CONTACT]
    env.set_obstacle(0, True)
    moves = crowd.move([[1.5, 0.5, 0.5]])
    assert moves.status.tolist() == [cells.COLLISION]
    assert moves.position.tolist() == [[1.0, 0.5, 0.5]]


@pytest.mark.parametrize("response", ["static", "adaptive", "hybrid", "rigid"])
def test_a_vertex_in_a_cell_that_becomes_an_obstacle_is_held(response):
    env = cells.channel(3, 1, 1)
    body = cells.Mobile(env, ([[0.5, 0.5, 0.5], [1.5, 0.5, 0.5]], [[0, 1]]))
    env.set_obstacle(0, True)
    moves = body.move([[0.7, 0.5, 0.5], [1.6, 0.5, 0.5]], response=response)
    assert moves.status[0] == cells.COLLISION
    assert moves.time[0] == 0.0
    assert body.position[0].tolist() == [0.5, 0.5, 0.5]
    if response == "rigid":
        assert body.position[1].tolist() == [1.5, 0.5, 0.5]


def settle_twice(world, rng):
    """Two equal crowds, settled one after the other, with records as the deformation and as the first crowd left them."""
    points = worlds.free_points(world, rng, 60)
    try:
        one, other = cells.Particles(world.environment, points), cells.Particles(world.environment, points)
        free = world.vertices + rng.normal(scale=0.08, size=world.vertices.shape)
        world.environment.deform(free)
    except InvalidInput:
        return None
    return one.settle(), other.settle(), one, other


def test_equal_crowds_settle_and_move_alike():
    pushed = 0
    for seed, make in itertools.product(range(100 if SOAK else 1 if jit.INTERPRETED else 4), worlds.WORLDS):
        rng = np.random.default_rng(seed)
        world = make(rng)
        found = settle_twice(world, rng)
        if found is None:
            continue
        first, second, one, other = found
        pushed += int(first.sum())
        assert (first == second).all()
        assert (one.position == other.position).all()
        assert (one.cell == other.cell).all()
        targets = worlds.aim(world, rng, one.position)
        moves, again = one.move(targets), other.move(targets)
        for name in ("status", "position", "time", "kind", "normal"):
            assert (getattr(moves, name) == getattr(again, name)).all(), name
    assert pushed > 5  # walls have passed over some


def plate(height):
    return ([[0.2, 0.2, height], [2.8, 0.2, height], [0.2, 2.8, height]], [[0, 1, 2]])


@pytest.mark.parametrize("mode", ["quasi", "continuous"])
@pytest.mark.parametrize("faces", ["quasi", "continuous"])
def test_a_face_that_the_environment_has_come_into_is_free_to_leave(mode, faces):
    """The corner of an obstacle that stands on the floor grows through a plate; the plate may be lifted off it."""
    vertices, hexes = worlds.grid(3)
    marks = np.zeros(27, np.bool_)
    marks[9] = True  # the lower cell in the middle of one side
    env = cells.hexahedra(vertices, hexes, marks)
    body = cells.Mobile(env, plate(1.5))
    body.move(np.array(plate(1.5)[0]), mode, faces=faces)
    raised = vertices.copy()
    raised[(vertices == (1, 1, 1)).all(axis=1)] += [0.0, 0.0, 0.8]
    env.deform(raised)
    still = body.move(np.array(plate(1.55)[0]), mode, faces=faces)
    assert (still.status == cells.COLLISION).any()
    for height in (1.9, 2.0, 2.4):
        body.move(np.array(plate(height)[0]), mode, faces=faces)
    assert body.position.tolist() == plate(2.4)[0]
    down = body.move(np.array(plate(1.2)[0]), "continuous")
    assert (down.status == cells.COLLISION).any()  # a face that is free again is tested on its way as well


def test_a_face_through_an_obstacle_is_refused_when_given():
    marks = np.zeros(27, np.bool_)
    marks[9] = True
    env = cells.hexahedra(*worlds.grid(3), marks)
    raised = env.vertices.copy()
    raised[(raised == (1, 1, 1)).all(axis=1)] += [0.0, 0.0, 0.8]
    env.deform(raised)
    with pytest.raises(InvalidInput, match=r"faces\[0\]: is not inside"):
        cells.Mobile(env, plate(1.5)).move(np.array(plate(1.6)[0]), "continuous")


def state_of(body):
    return body.position.tolist(), body.cell.tolist(), body.edges.tolist()


def test_a_refused_move_changes_nothing():
    """Bad targets and options are refused before the environment's change is taken over."""
    env = cells.channel(3, 1, 1)
    body = cells.Mobile(env, ([[0.5, 0.5, 0.01], [1.5, 0.5, 0.01]], [[0, 1]]))
    other = cells.Mobile(cells.channel(1, 1, 1), ([[0.5, 0.5, 0.5], [0.6, 0.5, 0.5]], [[0, 1]]))
    crowd = cells.Particles(env, [[0.5, 0.5, 0.01]])
    squeezed = env.vertices.copy()
    squeezed[:, 2] = 0.1 + 0.9 * squeezed[:, 2]
    env.deform(squeezed)
    before, goal = (state_of(body), crowd.position.tolist()), np.array([[0.5, 0.5, 0.5], [1.5, 0.5, 0.5]])
    bad = np.full((2, 3), np.nan)
    for call in (
        lambda: body.move(bad),
        lambda: body.move(goal[:1]),
        lambda: body.move(goal, response="rigid", after="slide"),
        lambda: body.move(goal, faces="quasi"),
        lambda: body.move(goal, cull="direction"),
        lambda: body.move(goal, "continuous", restitution="much", after="bounce"),
        lambda: cells.find_meetings([body, other]),
        lambda: crowd.move(bad[:1]),
        lambda: crowd.move(bad),
    ):
        with pytest.raises((InvalidInput, Unsupported)):
            call()
        assert (state_of(body), crowd.position.tolist()) == before
    assert body.settle().all()
    assert crowd.settle().all()


@pytest.mark.parametrize("response", ["adaptive", "hybrid"])
def test_a_model_that_cannot_insert_is_refused_before_the_mobile_moves(response):
    body = cells.Mobile(cells.channel(3, 1, 1), ([[0.5, 0.5, 0.5], [1.5, 0.5, 0.5]], [[0, 1]]))
    model = dynamics.Linkage(body.position, [(0, 1)])
    model.velocity = [(0.0, 0.0, 1.0), (0.0, 0.0, 1.0)]
    before = state_of(body)
    with pytest.raises(Unsupported, match="Linkage"):
        dynamics.couple(model, body, 0.1, response=response)
    assert state_of(body) == before
    assert model.position.tolist() == before[0]


def scaled(world, vertices):
    """The same cells about other vertices."""
    if world.environment.dimension == 2:
        return cells.polygons(vertices, [[side[0] for side in loop] for loop in world.loops], world.obstacle)
    return cells.polyhedra(vertices, world.loops, world.obstacle)


def moved_and_deformed(world, scale, walk, points, targets, shift):
    """What a crowd does at a scale, before and after a deformation; lengths are brought back."""
    env = scaled(world, world.vertices * scale)
    crowd = cells.Particles(env, points * scale, walk)
    rows = []
    for goals in (targets, points, targets[::-1]):
        moves = crowd.move(goals * scale)
        rows.append(
            [moves.status, moves.kind, moves.cell, moves.tests, moves.time, moves.normal, moves.position / scale]
        )
        try:
            env.deform((world.vertices + shift) * scale)
        except InvalidInput as refusal:
            rows.append([np.array([refusal.row])])
        rows.append([crowd.settle(), crowd.cell, crowd.position / scale])
    return rows


@pytest.mark.parametrize("offset", [0.0, 1000.0])
@pytest.mark.parametrize("make", worlds.WORLDS, ids=lambda make: make.__name__)
def test_a_power_of_two_changes_no_bit(make, offset):
    """Coordinates times a power of two are the same numbers with another exponent, and so is all that is computed from them."""
    powers = range(-200, 201, 7) if SOAK else [-60] if jit.INTERPRETED else [-200, -10, 54, 200]
    for seed in range(5 if SOAK else 1):
        rng = np.random.default_rng(seed)
        world = make(rng)
        points = worlds.free_points(world, rng, 6 if jit.INTERPRETED else 60) + offset
        targets = worlds.aim(world, rng, points - offset) + offset
        shift = np.round(rng.uniform(-0.03, 0.03, world.vertices.shape) * 1024) / 1024
        world = world._replace(vertices=world.vertices + offset)
        for walk in WALKS:
            rows = moved_and_deformed(world, 1.0, walk, points, targets, shift)
            for power in powers:
                same = moved_and_deformed(world, 2.0**power, walk, points, targets, shift)
                for step, (near, far) in enumerate(zip(rows, same, strict=True)):
                    for field, (one, other) in enumerate(zip(near, far, strict=True)):
                        assert np.array_equal(one, other), (seed, power, walk, step, field)


@pytest.mark.parametrize("power", [-60, 30, 53, 54, 55, 63, 100, 200])
@pytest.mark.parametrize("make", [worlds.warped, worlds.plane], ids=lambda make: make.__name__)
def test_a_power_of_two_changes_no_move_of_a_mobile(make, power):
    rng, scale = np.random.default_rng(3), 2.0**power
    world = make(rng)
    points = worlds.free_points(world, rng, 20 if jit.INTERPRETED else 60)
    targets = worlds.aim(world, rng, points)
    far, sides = scaled(world, world.vertices * scale), world.environment.dimension
    for first in range(0, 4 * sides, sides):
        rows = slice(first, first + sides)
        shape = [[0, 1]] if sides == 2 else [[0, 1, 2]]
        try:
            body = cells.Mobile(world.environment, (points[rows], shape))
        except InvalidInput:
            continue
        faces = "continuous" if sides == 3 else None
        moves = body.move(targets[rows], "continuous", faces=faces)
        other = cells.Mobile(far, (points[rows] * scale, shape))
        same = other.move(targets[rows] * scale, "continuous", faces=faces)
        for name in ("status", "kind", "time"):
            assert (getattr(moves, name) == getattr(same, name)).all(), name
        assert (other.position == body.position * scale).all()


def test_targets_far_beyond_the_environment():
    """2⁵⁴ times as far and more: an obstacle's edge in the way of a mobile's is met all the same, with voxels and without."""
    marks = np.zeros(9, np.bool_)
    marks[4] = True
    env = cells.channel(3, 3, 1, marks)
    for power, cull in itertools.product((0, 20, 54, 60, 70, 200), ("none", "cells")):
        body = cells.Mobile(env, ([[0.5, 0.5, 0.5], [2.5, 0.5, 0.5]], [[0, 1]]))
        for _ in range(4):
            body.move(body.position, "continuous", cull=cull)
        moves = body.move([[0.5, 0.5 + 2.0**power, 0.5], [2.5, 0.5 + 2.0**power, 0.5]], "continuous", cull=cull)
        assert (moves.status == cells.COLLISION).all()
        assert (body.position[:, 1] <= 2.0).all()
