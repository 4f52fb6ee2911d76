"""Particles put on springs and taken away: what must stay as it was, stays. Forces by equation 5.1 alone, in a loop of the test's own."""

import numpy as np
import pytest

from abut import cells, dynamics
from abut.core.errors import InvalidInput

BLOCK = 4
"""The cell of `channel(4, 1, 4)` at [1, 2] × [0, 1] × [0, 1]."""


def forces(model):
    """Equation 5.1 and its damping, spring by spring."""
    total = np.zeros((len(model), 3))
    for (i, j), k, d, c in zip(model.springs.tolist(), model.stiffness, model.rest, model.damping, strict=True):
        away = model.position[i] - model.position[j]
        u = away / np.linalg.norm(away)
        pull = (k * (d - np.linalg.norm(away)) - c * ((model.velocity[i] - model.velocity[j]) @ u)) * u
        total[i] += pull
        total[j] -= pull
    return total


def a_line(rng, bending=10.0, **options):
    points = np.cumsum(rng.uniform(0.5, 1.5, (6, 3)), axis=0)
    model = dynamics.MassSpring.from_line(
        points, stiffness=100.0, bending=bending, mass=rng.uniform(0.5, 3.0, 6), damping=0.5, **options
    )
    model.position = points + rng.uniform(-0.2, 0.2, points.shape)
    model.velocity = rng.uniform(-1, 1, points.shape)
    return model


def balance(model):
    """Mass, center of mass, momentum."""
    return np.concatenate(([model.mass.sum()], model.mass @ model.position, model.momentum()))


def test_one_particle_changes_neither_forces_nor_energy(rng):
    for bending in (0.0, 10.0, 80.0):
        model = a_line(rng, bending)
        before, energy, pulls = balance(model), model.elastic_energy(), forces(model)
        number = model.insert([[2, 3]], float(rng.uniform(0.1, 0.9)))
        assert number.tolist() == [6]
        assert np.allclose(balance(model), before, rtol=1e-13, atol=0)
        assert np.isclose(model.elastic_energy(), energy, rtol=1e-13)
        assert np.allclose(forces(model)[:6], pulls, rtol=0, atol=1e-11)
        assert np.allclose(forces(model)[6], 0, atol=1e-11)
        assert (model.mass > 0).all()


def test_a_line_at_rest_stays_at_rest_with_any_particles(rng):
    points = np.cumsum(rng.uniform(0.5, 1.5, (6, 3)), axis=0)
    model = dynamics.MassSpring.from_line(points, bending=30.0)
    for _ in range(12):
        k = int(rng.integers(5))
        model.insert([[k, k + 1][:: int(rng.choice([1, -1]))]], float(rng.uniform(0.05, 0.95)))
        assert np.abs(forces(model)).max() < 1e-10
        assert model.elastic_energy() < 1e-20
        assert np.isclose(model.mass.sum(), 6.0)
    assert (model.mass > 0).all()


@pytest.mark.parametrize("seed", range(4))
def test_particles_come_and_go_in_any_order(seed):
    rng = np.random.default_rng(seed)
    model = a_line(rng, fixed=[0] if seed % 2 else [])
    first = [table.tolist() for table in (model.springs, model.stiffness, model.rest, model.damping)]
    mass, before, energy = model.mass, balance(model), model.elastic_energy()
    for _ in range(40):
        spare = np.arange(6, len(model))
        if len(spare) and rng.random() < 0.45:
            kept = balance(model)
            model.remove(rng.choice(spare, int(rng.integers(1, len(spare) + 1)), replace=False))
            if seed % 2 == 0:  # nothing takes the momentum up
                assert np.allclose(balance(model)[[0, 4, 5, 6]], kept[[0, 4, 5, 6]], rtol=1e-12, atol=1e-12)
        else:
            k, kept, held = int(rng.integers(5)), balance(model), model.elastic_energy()
            model.insert([[k, k + 1]] * 2, rng.uniform(0.05, 0.95, 2))
            assert np.allclose(balance(model)[:4], kept[:4], rtol=1e-12, atol=1e-12)
            if seed % 2 == 0:
                assert np.allclose(balance(model), kept, rtol=1e-12, atol=1e-12)
            assert np.isclose(model.elastic_energy(), energy, rtol=1e-10)
            assert held is not None
        assert np.isclose(model.mass.sum(), mass.sum())
        assert (model.mass > 0).all()
        assert len(model.springs) == len(model.stiffness) == len(model.rest) == len(model.damping)
    model.remove(np.arange(6, len(model)))
    assert [table.tolist() for table in (model.springs, model.stiffness, model.rest, model.damping)] == first
    assert np.allclose(model.mass, mass, rtol=1e-12)
    assert np.allclose(balance(model)[:4], before[:4], rtol=1e-12)


def test_pieces_are_the_spring_again():
    model = dynamics.MassSpring([[0, 0, 0], [2, 0, 0]], [[0, 1]], stiffness=12.0, damping=3.0, mass=[1.0, 3.0])
    model.insert([[0, 1], [0, 1]], [0.75, 0.25])  # a quarter and three quarters of the way
    assert model.springs.tolist() == [[0, 2], [2, 3], [3, 1]]
    assert np.isclose(1.0 / (1.0 / model.stiffness).sum(), 12.0)
    assert np.isclose(1.0 / (1.0 / model.damping).sum(), 3.0)
    assert model.rest.tolist() == [0.5, 1.0, 0.5]
    assert model.position[2:, 0].tolist() == [0.5, 1.5]
    assert model.mass.tolist() == [0.25, 2.25, 0.75, 0.75]


def test_bad_places_are_refused_and_change_nothing():
    model = dynamics.MassSpring([[0, 0, 0], [1, 0, 0], [2, 0, 0]], [[0, 1], [1, 2]])
    model.insert([[0, 1]], 0.5)
    tables = model.springs.tolist(), model.mass.tolist()
    for ends, ratio in (([[0, 2]], 0.5), ([[0, 1]], 0.5), ([[0, 1]], 1.0), ([[0, 1]], 0.0), ([[0, 3]], 0.5)):
        with pytest.raises(InvalidInput):
            model.insert(ends, ratio)
    for gone in ([0], [3, 1]):
        with pytest.raises(InvalidInput, match="has not been inserted"):
            model.remove(gone)
    assert (model.springs.tolist(), model.mass.tolist()) == tables


def test_a_rope_laid_over_an_edge_keeps_its_mass():
    """The thesis' third case (figure 5.7): the rope falls onto the corner of a block; particles come where it bends, and go when it is lifted."""
    hall = cells.channel(4, 1, 4, obstacle=np.arange(16) == BLOCK)
    points = np.array([[0.5, 0.5, 1.5], [3.5, 0.5, 1.5]])
    model = dynamics.MassSpring.from_line(points, stiffness=20.0, damping=1.0, gravity=(0, 0, -10.0), fixed=[0])
    rope, counts = cells.Mobile(hall, (points, [[0, 1]])), list[int]()
    for step in range(160):
        if step >= 60:  # its end is led back
            model.gravity, force = np.zeros(3), np.zeros((len(model), 3))
            force[1] = 60.0 * (points[1] - model.position[1]) - 12.0 * model.velocity[1]
            model.force = force
        dynamics.couple(model, rope, 0.01, mode="continuous", response="adaptive")
        counts.append(len(model))
        assert len(model) == len(rope)
        assert np.allclose(model.position, rope.position)
        assert np.isclose(model.mass.sum(), 2.0)
    assert max(counts[:60]) > 2
    assert min(counts[60:]) == 2
    if len(model) == 2:
        assert model.rest.tolist() == [3.0]
