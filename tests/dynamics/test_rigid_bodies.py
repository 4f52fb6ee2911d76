"""Rigid bodies: mass properties against exact integrals, free motion against conservation laws and closed forms."""

import math
from fractions import Fraction

import numpy as np
import pytest

from abut import InvalidInput, Mesh, dynamics, scenes
from abut.core.jit import INTERPRETED
from abut.geometry import quaternions

STEPS = 300 if INTERPRETED else 10_000


def exact_properties(mesh):
    """Volume, center and inertia by rational arithmetic: monomials integrated over tetrahedra by their formula, corner pairs one by one."""
    volume, first, second = Fraction(0), [Fraction(0)] * 3, [[Fraction(0)] * 3 for _ in range(3)]
    for face in mesh.faces.tolist():
        corners = [[Fraction(x) for x in mesh.vertices[i].tolist()] for i in face] + [[Fraction(0)] * 3]
        a, b, c = corners[:3]
        size = (
            a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0])
        ) / 6
        volume += size
        for i in range(3):
            first[i] += size * sum(p[i] for p in corners) / 4
            for j in range(3):  # ∫ λp λq over a tetrahedron is its volume / 20, / 10 for p = q
                second[i][j] += sum(size * p[i] * q[j] / (10 if p is q else 20) for p in corners for q in corners)
    center = [x / volume for x in first]
    about = [[second[i][j] - volume * center[i] * center[j] for j in range(3)] for i in range(3)]
    trace = sum(about[i][i] for i in range(3))
    inertia = [[(trace if i == j else 0) - about[i][j] for j in range(3)] for i in range(3)]
    return float(volume), np.array(center, float), np.array(inertia, float)


def spinning(count, seed):
    """Boxes of random sides, turned and spinning at about one radian per unit of time; masses and inertias."""
    rng = np.random.default_rng(seed)
    sides = rng.uniform(0.2, 2.0, (count, 3))
    squares = (sides**2).sum(axis=1, keepdims=True) - sides**2
    mass = rng.uniform(0.5, 2.0, count)
    frames = np.linalg.qr(rng.normal(size=(count, 3, 3)))[0]
    inertia = frames @ (mass[:, None, None] / 12 * squares[:, :, None] * np.eye(3)) @ frames.transpose(0, 2, 1)
    poses = np.tile(np.eye(4), (count, 1, 1))
    turns = np.linalg.qr(rng.normal(size=(count, 3, 3)))[0]
    poses[:, :3, :3] = turns * np.sign(np.linalg.det(turns))[:, None, None]
    poses[:, :3, 3] = rng.normal(size=(count, 3))
    state = dynamics.rigid_state(poses, rng.normal(size=(count, 3)), rng.normal(size=(count, 3)))
    return state, mass, inertia


def test_mass_properties_are_the_exact_integrals():
    rng = np.random.default_rng(3)
    sphere = scenes.icosphere(1)
    for mesh in (
        scenes.box(),
        sphere,
        Mesh(sphere.vertices * (3, 1, 0.2) + rng.normal(0, 0.05, sphere.vertices.shape) + 7, sphere.faces),
    ):
        found = dynamics.mass_properties(mesh, density=2.5)
        volume, center, inertia = exact_properties(mesh)
        assert found.mass == pytest.approx(2.5 * volume, rel=1e-13)
        assert np.allclose(found.center, center, rtol=0, atol=1e-13 * np.abs(mesh.vertices).max())
        assert np.allclose(found.inertia, 2.5 * inertia, rtol=0, atol=1e-12 * np.trace(inertia))
        moments, axes = found.principal()
        assert np.allclose(axes @ np.diag(moments) @ axes.T, found.inertia, rtol=0, atol=1e-12 * moments[0])


def test_meshes_without_an_inside_are_refused():
    box = scenes.box()
    for faces, words in ((box.faces[1:], "not closed"), (box.faces[:, ::-1], "inwards")):
        with pytest.raises(InvalidInput, match=words):
            dynamics.mass_properties(Mesh(box.vertices, faces))
    with pytest.raises(InvalidInput, match="density"):
        dynamics.mass_properties(box, density=0)


@pytest.mark.parametrize("dt", [0.01, 0.2, 1.5])
def test_free_rotation_keeps_energy_and_angular_momentum(dt):
    """Far within 0.1 % over 10⁴ steps, however long they are: both are kept to rounding."""
    state, mass, inertia = spinning(8, seed=1)
    energy, momentum = state.energy(mass, inertia), state.angular_momentum(mass, inertia)
    start = state
    for _ in range(STEPS // (1 if dt == 0.01 else 10)):
        state = dynamics.advance(state, inertia, dt)
    assert np.allclose(state.energy(mass, inertia), energy, rtol=1e-9)
    # About the origin too: the center moves on a straight line, along which r × v stays, up to the rounding of r.
    reach = np.linalg.norm(state.position, axis=1) * mass * np.linalg.norm(state.velocity, axis=1)
    assert (np.abs(state.angular_momentum(mass, inertia) - momentum).max(axis=1) <= 1e-9 * (1 + reach)).all()
    assert np.allclose(np.linalg.norm(state.quaternion, axis=1), 1.0, rtol=0, atol=1e-14)
    assert np.abs(state.angular_velocity - start.angular_velocity).max() > 0.1


def test_symmetric_top_precesses_at_its_analytic_rate():
    """The axis of a top with moments A, A, C goes round the angular momentum L at the rate |L| / A; second order in dt."""
    a, c, spin = 2.0, 1.2, np.array([[0.4, 0.0, 1.0]])
    inertia = np.diag([a, a, c])[np.newaxis]
    momentum = np.array([a * 0.4, 0.0, c * 1.0])
    rate, along = np.linalg.norm(momentum) / a, momentum / np.linalg.norm(momentum)
    errors = []
    for steps in (50, 100):
        state = dynamics.rigid_state(np.eye(4)[np.newaxis], None, spin)
        for _ in range(steps):
            state = dynamics.advance(state, inertia, 4.0 / steps)
        axis = state.poses()[0, :3, 2]
        angle = 4.0 * rate
        z = np.array([0.0, 0.0, 1.0])
        expected = (
            math.cos(angle) * z + math.sin(angle) * np.cross(along, z) + (1 - math.cos(angle)) * along @ z * along
        )
        errors.append(np.linalg.norm(axis - expected))
    assert errors[1] < 1e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)


def test_bodies_without_gyroscopic_effect_turn_exactly():
    """A ball, a principal axis, a body without inertia, one with infinite inertia, and one turning 100 times a step."""
    rod = np.zeros((3, 3))
    inertia = np.stack([np.eye(3), np.diag([1.0, 2.0, 2.5]), rod, np.eye(3) * 1e70, np.eye(3)])
    spin = np.array([[0.3, -2.0, 1.0], [0.0, 0.0, 3.0], [1.0, 1.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 200 * math.pi]])
    poses = np.tile(np.eye(4), (5, 1, 1))
    state = dynamics.advance(dynamics.rigid_state(poses, np.ones((5, 3)), spin), inertia, 1.0)
    assert np.allclose(state.angular_velocity, spin, rtol=1e-12, atol=1e-12)
    assert np.array_equal(state.position, np.ones((5, 3)))
    for q, w in zip(state.quaternion, spin, strict=True):
        angle = np.linalg.norm(w)
        expected = np.array([math.cos(angle / 2), *(math.sin(angle / 2) * w / angle)])
        assert abs(q @ expected) == pytest.approx(1.0, abs=1e-12)
    with pytest.raises(InvalidInput, match="too fast"):
        dynamics.advance(dynamics.rigid_state(poses[:1], None, [[0.0, 0.0, 1e9]]), inertia[:1], 1.0)


def test_quaternions_are_rotations():
    rng = np.random.default_rng(5)
    special = [(0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0)]
    for row in [*special, *rng.normal(size=(30, 4)).tolist()]:
        p = quaternions.normalise(tuple(row))
        q = quaternions.normalise(tuple(rng.normal(size=4).tolist()))
        matrix_p, matrix_q = (np.array(quaternions.matrix_columns(r)).T for r in (p, q))
        assert np.allclose(matrix_p @ matrix_p.T, np.eye(3), atol=1e-14)
        assert np.linalg.det(matrix_p) == pytest.approx(1.0)
        both = np.array(quaternions.matrix_columns(quaternions.multiply(p, q))).T
        assert np.allclose(both, matrix_p @ matrix_q, atol=1e-14)
        back = quaternions.from_columns(*quaternions.matrix_columns(p))
        assert abs(np.dot(back, p)) == pytest.approx(1.0, abs=1e-14)
    assert quaternions.normalise((0.0, 0.0, 0.0, 0.0)) == (1.0, 0.0, 0.0, 0.0)
