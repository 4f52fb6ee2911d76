"""Models and what stops them."""

from typing import NamedTuple

import numpy as np
import pytest

from abut import Unsupported, dynamics


class Wall(NamedTuple):
    """Stands in for a partition: the half-space z ≥ 0, particles stop on its boundary."""

    position: np.ndarray

    def move(self, targets):
        reached = targets.copy()
        reached[:, 2] = np.maximum(reached[:, 2], 0.0)
        normal = np.where((targets[:, 2] < 0)[:, None], (0.0, 0.0, -1.0), 0.0)
        return Moved(reached, normal)


class Moved(NamedTuple):
    position: np.ndarray
    normal: np.ndarray


def test_contact_takes_the_inward_velocity_and_friction_slows_the_rest():
    for model in (
        dynamics.MassSpring([(0, 0, 0.0), (5, 0, 1)], [(0, 1)], stiffness=0.0),
        dynamics.ShapeMatching([(0, 0, 0.0), (5, 0, 1)], [[0], [1]]),
        dynamics.Linkage([(0, 0, 0.0), (5, 0, 1)], np.empty((0, 2), int)),
    ):
        for restitution, friction, expected in ((0.0, 0.0, (3, 0, 0)), (0.5, 0.2, (1.8, 0, 2)), (0.0, 5.0, (0, 0, 0))):
            model.position, model.velocity = [(0, 0, 0), (5, 0, 1)], [(3, 0, -4), (1, 1, 1)]
            moves = dynamics.couple(model, Wall(model.position), 0.01, restitution=restitution, friction=friction)
            assert np.allclose(model.velocity, [expected, (1, 1, 1)])
            assert np.array_equal(model.position, moves.position)


class Divided(NamedTuple):
    """Stands in for an adaptive mobile: what it answers is given."""

    position: np.ndarray
    parents: np.ndarray
    ratio: np.ndarray
    source: np.ndarray

    def move(self, targets):
        return Adapted(self.position, np.zeros_like(self.position), self.source)


class Adapted(NamedTuple):
    position: np.ndarray
    normal: np.ndarray
    source: np.ndarray


def test_models_follow_particles_that_are_inserted_and_taken_away():
    """Rows [0, 1, 2] become [0, 1, 2, new], then the new one goes while another comes."""
    points = np.array([(0.0, 0, 0), (1.0, 0, 0), (0.0, 1, 0)])
    model = dynamics.ShapeMatching(points, mass=(1.0, 3.0, 1.0))
    model.velocity = [(4.0, 0, 0), (0.0, 0, 0), (0.0, 8, 0)]
    none = (-1, -1)
    moved = np.concatenate((points, [(0.25, 0.1, 0)]))
    parents = np.array([none, none, none, (0, 1)])
    dynamics.couple(model, Divided(moved, parents, np.array([0, 0, 0, 0.25]), np.array([0, 1, 2, -1])), 0.01)
    assert np.array_equal(model.position, moved)
    assert np.allclose(model.rest[3], (0.25, 0, 0))
    assert model.mass[3] == pytest.approx(0.02)
    assert np.allclose(model.velocity[3], (3.0, 0, 0))  # a quarter of the way from the fast end
    moved = np.concatenate((points, [(0.0, 0.5, 0)]))
    parents[3] = (0, 2)
    dynamics.couple(model, Divided(moved, parents, np.array([0, 0, 0, 0.5]), np.array([0, 1, 2, -1])), 0.01)
    assert len(model) == 4
    assert np.allclose(model.rest[3], (0, 0.5, 0))
    chain = dynamics.Linkage(points, [(0, 1)])
    with pytest.raises(Unsupported, match="Linkage"):
        dynamics.couple(chain, Divided(moved, parents, np.zeros(4), np.array([0, 1, 2, -1])), 0.01)


def test_a_model_only_needs_to_propose():
    class Drift:
        def propose(self, dt):
            return np.array([(0.0, 0.0, -dt)])

    assert dynamics.couple(Drift(), Wall(np.zeros((1, 3))), 0.5).position.tolist() == [[0.0, 0.0, 0.0]]
    assert dynamics.couple(Drift(), None, 0.5) is None
