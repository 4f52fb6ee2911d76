"""Rigid instruments: distances kept, never nearer to a wall than the radius by distances in rationals, pushed as a whole; and the model that drives
them."""

import numpy as np
import pytest

from abut import InvalidInput, Unsupported, cells, dynamics
from abut.cells.instruments.rigid_motion import fit_turn, rotation, turn_of
from abut.core import jit
from cells.width.test_width import check_apart, hall, ridge, yard
from conftest import SOAK

FORK = [[0.3, 0.3, 0.4], [0.6, 0.3, 0.4], [0.3, 0.5, 0.4], [0.3, 0.3, 0.7]]


def gaps(points):
    return np.linalg.norm(points[:, np.newaxis] - points, axis=2)


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
def test_distances_hold_however_often_a_body_moves_and_no_wall_is_nearer_than_its_radius(scale):
    """10,000 steps with ABUT_SOAK."""
    rng = np.random.default_rng(3)
    tool = cells.Instrument(hall(scale), (scale * np.array(FORK), [[0, 1], [0, 2], [0, 3]]), 0.0625 * scale)
    first, hits = gaps(tool.position), 0
    for step in range(10_000 if SOAK else 4 if jit.INTERPRETED else 30):
        turned = rotation(rng.normal(scale=0.2, size=3))
        middle = tool.position.mean(axis=0)
        goal = (tool.position - middle) @ turned.T + middle + rng.normal(scale=0.4 * scale, size=3)
        moves = tool.move(goal, after=["stop", "slide"][step % 2])
        hits += int(moves.is_hit.any())
        assert np.abs(gaps(tool.position) - first).max() < 2.0**-48 * 3 * scale
        if step in (3, 11, 29):
            check_apart(tool)
        if not moves.is_hit.any():
            assert tool.position == pytest.approx(goal, abs=1e-12 * scale)
    assert hits
    there = (scale * np.array(FORK)) @ tool.pose[:3, :3].T + tool.pose[:3, 3]
    assert there == pytest.approx(tool.position, abs=1e-12 * scale)


def test_a_bar_of_the_plane_turns_and_keeps_its_length():
    bar = cells.Instrument(yard(), ([[0.2, 0.5], [0.8, 0.5]], [[0, 1]]), 0.1)
    moves = bar.move([[0.5, 0.2], [0.5, 0.8]])
    assert moves.status.tolist() == [cells.FREE] * 2
    bar.move([[0.5, 0.8], [0.5, 1.4]])
    bar.move([[0.5, 1.4], [1.1, 1.4]])  # the square in the middle is in the way
    assert np.linalg.norm(bar.position[1] - bar.position[0]) == pytest.approx(0.6, abs=1e-15)
    check_apart(bar)
    assert bar.position[1, 0] < 0.9


def test_walls_push_a_body_as_a_whole():
    env = ridge()
    bar = cells.Instrument(env, ([[0.5, 0.5], [2.25, 0.5]], [[0, 1]]), radius=0.125)
    env.deform([[1.5, 1.0]], moved=[8])
    assert bar.settle().all()
    assert bar.reached.is_free.all()
    assert np.linalg.norm(bar.position[1] - bar.position[0]) == pytest.approx(1.75, abs=1e-15)
    assert bar.position[1, 1] > bar.position[0, 1] + 1e-3  # pushed beyond its middle, it turns
    check_apart(bar)


def test_rotations_there_and_back():
    rng = np.random.default_rng(0)
    for _ in range(50):
        turn = rng.normal(size=3)
        turn *= rng.choice([1e-9, 0.1, 1.0, 3.1]) / np.linalg.norm(turn)
        assert turn_of(rotation(turn)) == pytest.approx(turn, abs=1e-8)
        points = rng.normal(size=(4, 3))
        points -= points.mean(axis=0)
        assert fit_turn(points, points @ rotation(turn).T) == pytest.approx(rotation(turn), abs=1e-8)
    assert np.linalg.norm(turn_of(rotation(np.array([np.pi, 0.0, 0.0])))) == pytest.approx(np.pi)
    line = np.array([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    for other in (line, line[:, [1, 0, 2]], -line):
        assert line @ fit_turn(line, other).T == pytest.approx(other, abs=1e-12)


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_a_rigid_model_never_gains_energy_from_walls(restitution):
    needle = cells.Instrument(cells.channel(4, 4, 4), ([[1.5, 2, 2], [2.9, 2, 2]], [[0, 1]]), radius=0.125)
    model = dynamics.RigidTool(needle.position, width=0.125, velocity=(9, 6, 3), angular_velocity=(1, 2, 3))
    energy, first, met = model.energy(), gaps(needle.position), 0
    for _ in range(5 if jit.INTERPRETED else 60):
        moves = dynamics.couple(model, needle, 0.02, after="slide", restitution=restitution, friction=0.1)
        met += int(moves.is_hit.any())
        assert model.energy() <= energy * (1 + 1e-9)
        energy = model.energy()
        assert model.position == pytest.approx(needle.position, abs=1e-12)
    assert np.abs(gaps(needle.position) - first).max() < 1e-14
    assert met or jit.INTERPRETED


def test_what_instruments_refuse():
    env = cells.channel(2, 1, 1)
    rod = ([[0.5, 0.5, 0.5], [1.5, 0.5, 0.5]], [[0, 1]])
    with pytest.raises(InvalidInput, match="radius"):
        cells.Instrument(env, rod, 0.0)
    tool = cells.Instrument(env, rod, 0.25)
    with pytest.raises(Unsupported, match="bounce"):
        tool.move(tool.position, after="bounce")
    with pytest.raises(InvalidInput, match="targets"):
        tool.move([[0.0, 0.0, 0.0]])
    with pytest.raises(InvalidInput, match="inertia"):
        dynamics.RigidTool(rod[0])
    with pytest.raises(Unsupported, match="not rigid"):
        dynamics.couple(dynamics.RigidTool(rod[0], width=0.25), cells.Mobile(env, rod), 0.1)
