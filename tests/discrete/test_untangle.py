"""Garments that were pushed into themselves, and what else cuts itself: clean afterwards, and nothing moved that need not be."""

import numpy as np
import pytest

import abut
from abut import InvalidInput, scenes
from conftest import SOAK

GAP = 0.12


def make_tube(count, rng):
    """A flat tube of cloth, `count` vertices around and along, wavy."""
    angle, height = np.meshgrid(np.arange(count) * 2 * np.pi / count, np.linspace(0, 2, count + 1), indexing="ij")
    radius = 1 + 0.05 * np.sin(3 * angle + rng.uniform(0, 6)) + 0.03 * np.sin(5 * height + rng.uniform(0, 6))
    vertices = np.stack((radius * np.cos(angle), GAP * radius * np.sin(angle), height), axis=-1).reshape(-1, 3)
    vertices[:, 1] += 0.002 * rng.normal(size=len(vertices))
    i = np.arange(count * (count + 1)).reshape(count, count + 1)
    j = np.roll(i, -1, axis=0)
    lower = np.stack((i[:, :-1], j[:, :-1], j[:, 1:]), axis=-1).reshape(-1, 3)
    upper = np.stack((i[:, :-1], j[:, 1:], i[:, 1:]), axis=-1).reshape(-1, 3)
    return vertices, np.concatenate((lower, upper))


def push(count, seed):
    """A tube whose front was pushed through its back: vertices, faces, how far behind the back it comes."""
    rng = np.random.default_rng(seed)
    vertices, faces = make_tube(count, rng)
    front = vertices[:, 1] < 0
    middle, width, depth = (
        [rng.uniform(-0.4, 0.4), rng.uniform(0.5, 1.5)],
        rng.uniform(0.12, 0.3),
        rng.uniform(0.02, 0.05),
    )
    away = ((vertices[:, [0, 2]] - middle) ** 2).sum(axis=1)
    tip = np.argmin(np.where(front, away, np.inf))
    behind = np.argmin(np.where(front, np.inf, ((vertices[:, [0, 2]] - vertices[tip, [0, 2]]) ** 2).sum(axis=1)))
    vertices[:, 1] += (vertices[behind, 1] - vertices[tip, 1] + depth) * np.exp(-away / width**2) * front
    return vertices, faces, depth


SEEDS = [("small", seed) for seed in range(3)] + [("large", seed) for seed in (range(100) if SOAK else range(2))]


@pytest.mark.large
@pytest.mark.parametrize(("size", "seed"), SEEDS)
def test_garments_pushed_into_themselves(size, seed):
    vertices, faces, depth = push(40 if size == "small" else 100, seed)
    body = abut.Deformable((vertices, faces))
    assert len(abut.collide(body))
    seen = []
    result = abut.untangle((vertices, faces), progress=lambda *each: seen.append(each))
    assert result
    assert not len(abut.collide(abut.Deformable(result.mesh)))
    assert result.largest_move <= 2 * depth
    assert np.array_equal(result.mesh.vertices, vertices + result.moves)
    assert np.array_equal(result.mesh.faces, faces)
    assert [rounds for rounds, _ in seen] == list(range(result.rounds + 1))
    assert seen[-1][1] == 0
    still = ~result.moves.any(axis=1)
    assert still.mean() > 0.8  # the rest of the garment has nothing to do with it


def test_what_is_clean_is_left_alone():
    ball = scenes.icosphere(1)
    result = abut.untangle(ball)
    assert (bool(result), result.rounds, result.largest_move) == (True, 0, 0.0)
    assert repr(result) == "Untangled(clean, largest move 0, 0 rounds)"


def test_borders_that_cut_tell_no_side():
    """A sheet whose border has gone through another sheet: the cut is an open curve."""
    u, v = np.meshgrid(np.linspace(-1, 1, 7), np.linspace(-1, 1, 7), indexing="ij")
    i = np.arange(49).reshape(7, 7)
    faces = np.concatenate(
        (
            np.stack((i[:-1, :-1], i[1:, :-1], i[1:, 1:]), axis=-1).reshape(-1, 3),
            np.stack((i[:-1, :-1], i[1:, 1:], i[:-1, 1:]), axis=-1).reshape(-1, 3),
        )
    )
    flat = np.stack((u, v, 0 * u), axis=-1).reshape(-1, 3)
    upright = np.stack((0.5 * u + 0.03, 0 * u + 0.05, 0.5 * v + 0.47), axis=-1).reshape(-1, 3)
    mesh = abut.Mesh(np.concatenate((flat, upright)), np.concatenate((faces, faces + 49)))
    assert len(abut.collide(abut.Deformable(mesh)))
    result = abut.untangle(mesh)
    assert result
    assert result.largest_move < 0.2


@pytest.mark.large
def test_two_balls_part():
    ball = scenes.icosphere(2)
    vertices = np.concatenate((ball.vertices, ball.vertices + np.array([1.85, 0.0, 0.0])))
    result = abut.untangle((vertices, np.concatenate((ball.faces, ball.faces + len(ball.vertices)))))
    assert result
    assert result.largest_move < 2 * 0.15


@pytest.mark.large
def test_where_it_does_not_succeed_it_says_which_faces_still_cut():
    ball = scenes.icosphere(2)
    vertices = np.concatenate((ball.vertices, ball.vertices[:, [1, 2, 0]] * 1.01 + [0.5, 0, 0]))
    mesh = abut.Mesh(vertices, np.concatenate((ball.faces, ball.faces + len(ball.vertices))))
    seen = []
    result = abut.untangle(mesh, most_rounds=3, progress=lambda _, pairs: seen.append(pairs))
    assert not result
    assert len(result.face_a) == min(seen)
    found = abut.collide(abut.Deformable(result.mesh))
    assert (found.face_a.tolist(), found.face_b.tolist()) == (result.face_a.tolist(), result.face_b.tolist())


def test_bad_input():
    ball = scenes.icosphere(1)
    with pytest.raises(InvalidInput, match="most_rounds"):
        abut.untangle(ball, most_rounds=0)
    with pytest.raises(InvalidInput, match="progress"):
        abut.untangle(ball, progress=3)
    with pytest.raises(InvalidInput, match="mesh"):
        abut.untangle(None)
