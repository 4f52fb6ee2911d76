"""Bones and bounds against closed forms and conservation laws; ropes, cloths and rag dolls."""

import math

import numpy as np
import pytest

from abut import dynamics, scenes
from dynamics.models import step


@pytest.mark.large
def test_a_hanging_rope_keeps_its_lengths_and_hangs_as_a_catenary():
    """Held at both ends with drag until at rest: the sag of the catenary of that length, within 1 %."""
    span, length, count = 1.0, 1.5, 21
    options = {"gravity": (0, 0, -9.81), "drag": 3.0, "sweeps": 800, "tolerance": 1e-5}
    model = dynamics.rope((0, 0, 0), (length, 0, 0), count, fixed=[0, count - 1], **options)
    points = model.position.copy()
    points[:, 0] *= span / length
    points[:, 2] = -0.6 * np.sin(np.pi * np.linspace(0, 1, count))
    model.position = points
    step(model, 0.01, 500)
    assert model.violation < 1e-3
    bones = np.linalg.norm(np.diff(model.position, axis=0), axis=1)
    assert np.allclose(bones, length / (count - 1), rtol=2e-3)
    low, high = 1e-3, 50.0  # a: 2a sinh(span / 2a) = length
    for _ in range(200):
        a = 0.5 * (low + high)
        low, high = (a, high) if span / (2 * a) > 300 or 2 * a * math.sinh(span / (2 * a)) > length else (low, a)
    sag = a * (math.cosh(span / (2 * a)) - 1)
    assert -model.position[:, 2].min() == pytest.approx(sag, rel=0.01)


def test_a_pendulum_swings_at_its_frequency():
    model = dynamics.rope((0, 0, 0), (0.05, 0, -1), 2, fixed=[0], gravity=(0, 0, -9.81), tolerance=0.0)
    track = []
    for _ in range(400):
        track.append(model.position[1, 0])
        step(model, 0.01)
    crossings = np.flatnonzero(np.diff(np.sign(track)))
    assert len(crossings) >= 3
    half = np.diff(crossings).mean() * 0.01
    assert half == pytest.approx(math.pi * math.sqrt(1.00125 / 9.81), rel=0.01)


def test_a_linkage_falls_on_its_parabola_whatever_the_steps(rng):
    rope = dynamics.rope((0, 0, 10), (1, 0, 10), 3, gravity=(0, 0, -9.81))
    rope.velocity = np.tile((1.0, 0, 5), (3, 1))
    start, time = rope.position, 0.0
    for dt in rng.uniform(0.001, 0.05, 40):
        step(rope, dt)
        time += dt
    fallen = np.array((time, 0.0, 5.0 * time - 0.5 * 9.81 * time**2))
    np.testing.assert_allclose(rope.position - start, np.tile(fallen, (3, 1)), atol=1e-9)


def test_relaxation_keeps_momentum_and_honours_angle_limits():
    rng = np.random.default_rng(8)
    doll = dynamics.rag_doll(mass=60.0, sweeps=400, tolerance=1e-6)
    assert doll.mass.sum() == pytest.approx(60.0)
    doll.velocity = rng.normal(0, 3.0, doll.position.shape)
    momentum = doll.momentum()
    start = doll.position
    step(doll, 0.02, 10)
    assert np.abs(doll.position - start).max() > 0.1
    assert doll.violation < 1e-3
    assert np.allclose(doll.momentum(), momentum, rtol=0, atol=1e-10)
    ends, radius = doll.capsules()
    assert np.allclose(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1), doll.length, rtol=2e-3)
    assert (radius > 0).all()
    number = {name: i for i, name in enumerate(dynamics.RAG_DOLL_PARTS)}
    for side in ("left", "right"):
        hip, knee, foot = (doll.position[number[f"{side} {part}"]] for part in ("hip", "knee", "foot"))
        cosine = (hip - knee) @ (foot - knee) / (np.linalg.norm(hip - knee) * np.linalg.norm(foot - knee))
        assert math.degrees(math.acos(cosine)) > 39.5


@pytest.mark.large
def test_a_rope_bends_no_further_than_its_limit():
    model = dynamics.rope(
        (0, 0, 0),
        (1, 0, 0),
        9,
        most_bend=0.3,
        fixed=[0, 1],
        gravity=(0, 0, -9.81),
        drag=2.0,
        sweeps=2000,
        tolerance=1e-5,
    )
    step(model, 0.02, 100)
    bones = np.diff(model.position, axis=0)
    bones /= np.linalg.norm(bones, axis=1, keepdims=True)
    bends = np.arccos((bones[:-1] * bones[1:]).sum(axis=1))
    assert bends.max() < 0.33  # links are within 1e-3 of their lengths
    assert bends[0] > 0.25


def test_coincident_particles_and_bounds_on_lengths():
    pair = dynamics.Linkage([(0, 0, 0), (1, 0, 0)], [(0, 1)], shortest=0.5, longest=2.0, sweeps=4, tolerance=0.0)
    for x, expected in ((0.0, 0.5), (0.2, 0.5), (1.7, 1.7), (5.0, 2.0)):
        pair.position, pair.velocity = [(0, 0, 0), (x, 0, 0)], np.zeros((2, 3))
        moved = pair.propose(0.01)
        assert np.linalg.norm(moved[1] - moved[0]) == pytest.approx(expected)
    sheet = dynamics.cloth(scenes.cloth(4, 4), fold=0.9)
    assert len(sheet.bones) > len(scenes.cloth(4, 4).edges)
