"""Springs against closed forms, conservation laws and a slow oracle."""

import math

import numpy as np
import pytest

from abut import InvalidInput, Mesh, dynamics, scenes
from abut.core.jit import INTERPRETED
from dynamics.models import step

LONG = 200 if INTERPRETED else 10_000


def frequency_of(model, dt, count):
    """Of the first particle's x about its mean, from the times of its upward crossings, interpolated."""
    track = np.empty(count)
    for at in range(count):
        track[at] = model.position[0, 0]
        step(model, dt)
    track -= 0.5 * (track.max() + track.min())
    up = np.flatnonzero((track[:-1] < 0) & (track[1:] >= 0))
    times = (up - track[up] / (track[up + 1] - track[up])) * dt
    return (len(times) - 1) / (times[-1] - times[0])


@pytest.mark.parametrize("integrator", ["verlet", "euler", "rk4"])
def test_a_spring_swings_at_its_analytic_frequency(integrator):
    """√(k/μ) / 2π for two free masses, √(k/m) / 2π with one end held; symplectic steps are (ω·dt)² / 24 high: 0.07 % here, where 1 % is asked for."""
    points, moved = np.array([(0.0, 0, 0), (1.0, 0, 0)]), np.array([(-0.05, 0, 0), (1.1, 0, 0)])
    for fixed, mass in (((), 1.0 / (1 / 2.0 + 1 / 3.0)), ((1,), 2.0)):
        options = {"mass": (2.0, 3.0), "stiffness": 50.0, "fixed": fixed, "integrator": integrator, "substeps": 1}
        model = dynamics.MassSpring(points, [(0, 1)], **options)
        model.position = moved
        expected = math.sqrt(50.0 / mass) / (2 * math.pi)
        found = frequency_of(model, 0.02 / expected, 120 if INTERPRETED else 800)
        high = 0.0 if integrator == "rk4" else (2 * math.pi * 0.02) ** 2 / 24
        assert found / expected - 1.0 == pytest.approx(high, abs=1e-4 if not INTERPRETED else 1e-3)


def test_a_damped_spring_decays_as_its_formula_says():
    """With Runge–Kutta, to the fourth order of the step."""
    decay, rate = 1.5 / 4.0, math.sqrt(20.0 - (1.5 / 4.0) ** 2)
    errors = []
    for count in (30, 60):
        options = {"mass": 2.0, "stiffness": 40.0, "damping": 1.5, "fixed": [1], "integrator": "rk4"}
        model = dynamics.MassSpring([(0, 0, 0), (1, 0, 0)], [(0, 1)], substeps=1, **options)
        model.position = [(-0.1, 0, 0), (1, 0, 0)]
        worst = 0.0
        for at in range(1, count + 1):
            step(model, 1.2 / count)
            t = 1.2 * at / count
            expected = -0.1 * math.exp(-decay * t) * (math.cos(rate * t) + decay / rate * math.sin(rate * t))
            worst = max(worst, abs(model.position[0, 0] - expected))
        errors.append(worst)
    assert errors[1] < 1e-6
    assert errors[0] / errors[1] == pytest.approx(16.0, rel=0.15)


@pytest.mark.large
def test_energy_of_a_free_body_does_not_drift_and_momenta_are_kept():
    """10⁴ symplectic steps of a spinning, vibrating body: the mean energy of the last tenth is within 1 % of that of the first."""
    mesh = scenes.icosphere(1)
    model = dynamics.MassSpring.from_mesh(mesh, stiffness=200.0, bending=20.0, mass=0.5, substeps=1)
    rng = np.random.default_rng(1)
    model.position = mesh.vertices * (1.1, 0.95, 1.0)
    model.velocity = np.cross((0.3, 0.5, -0.2), mesh.vertices) + rng.normal(0, 0.1, mesh.vertices.shape) + (1, 2, 3)
    momentum, angular = model.momentum(), model.angular_momentum()
    dt, energies = 0.4 * model.longest_step, []
    for _ in range(LONG):
        step(model, dt)
        energies.append(model.energy())
    tenth = LONG // 10
    inner = np.array(energies) - 0.5 * (momentum**2).sum() / model.mass.sum()
    assert np.mean(inner[-tenth:]) == pytest.approx(np.mean(inner[:tenth]), rel=0.01)
    assert np.allclose(model.momentum(), momentum, rtol=1e-10)
    assert np.allclose(model.angular_momentum(), angular, rtol=1e-9)


def test_forces_are_those_of_a_loop_over_springs():
    """Accelerations against a scatter over springs, damping and fixed particles included; on several threads the same bits."""
    rng = np.random.default_rng(2)
    points, velocity = rng.normal(size=(40, 3)), rng.normal(size=(40, 3))
    points[7] = points[8]  # a spring of length zero pulls nowhere
    springs = np.array([(i, j) for i in range(40) for j in range(i) if rng.random() < 0.3 or (i, j) == (8, 7)])
    stiffness, damping, rest = rng.uniform(0, 9, (3, len(springs)))
    mass = rng.uniform(1, 2, 40)
    options = {
        "mass": mass,
        "stiffness": stiffness,
        "damping": damping,
        "rest": rest,
        "fixed": [3],
        "gravity": (0, 0, -9),
    }
    model = dynamics.MassSpring(points, springs, integrator="euler", substeps=1, **options)
    model.velocity, model.force = velocity, np.ones((40, 3))
    force = np.ones((40, 3))
    for (i, j), k, c, length in zip(springs.tolist(), stiffness, damping, rest, strict=True):
        d, v = points[i] - points[j], model.velocity[i] - model.velocity[j]
        if (i, j) != (8, 7):
            u = d / np.linalg.norm(d)
            pull = (k * (length - np.linalg.norm(d)) - c * v @ u) * u
            force[i] += pull
            force[j] -= pull
    expected = force / mass[:, None] + (0, 0, -9)
    expected[3] = 0.0
    targets = model.propose(1e-3)
    assert np.allclose((targets - points - 1e-3 * model.velocity) / 1e-6, expected, rtol=1e-6, atol=1e-6)
    assert np.array_equal(targets[3], points[3])


@pytest.mark.large
def test_threads_do_not_change_a_bit(monkeypatch):
    mesh = scenes.icosphere(3)
    cubes = np.arange(len(mesh.vertices) // 6 * 6).reshape(-1, 6)

    def run():
        springs = dynamics.MassSpring.from_mesh(mesh)
        matching = dynamics.ShapeMatching(mesh.vertices, cubes)
        for model in (springs, matching):
            model.velocity = np.cross((1, 2, 3), mesh.vertices) + mesh.vertices
            step(model, 0.01, 3)
        return springs.position, matching.position

    alone = run()
    for module in ("springs.mass_spring", "shape_matching"):
        monkeypatch.setattr(f"abut.dynamics.{module}.PARALLEL_FROM", 0)
    for one, many in zip(alone, run(), strict=True):
        assert np.array_equal(one, many)


def test_bending_springs_join_far_corners():
    square = Mesh([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [(0, 1, 2), (0, 2, 3)])
    assert dynamics.bending_pairs(square).tolist() == [[1, 3]]
    assert len(dynamics.bending_pairs(Mesh(*scenes_tetrahedron()))) == 0  # far corners are joined by an edge
    line = dynamics.MassSpring.from_line(np.eye(3)[[0, 1, 2, 0]] + np.arange(4)[:, None])
    assert line.springs.tolist() == [[0, 1], [1, 2], [2, 3], [0, 2], [1, 3]]


def scenes_tetrahedron():
    return [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)]


def test_springs_that_no_step_is_short_enough_for_are_refused():
    model = dynamics.MassSpring([[0, 0, 0], [1, 0, 0]], [[0, 1]], stiffness=1e10, mass=1e-300)
    assert model.longest_step == 0.0
    with pytest.raises(InvalidInput, match="too stiff"):
        model.propose(0.01)
