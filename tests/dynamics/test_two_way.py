"""A rigid tool and walls that give way: laws of mechanics, and walls no nearer than the radius."""

import numpy as np
import pytest

from abut import InvalidInput, Unsupported, cells, dynamics
from abut.core import jit

ROUNDING = 2.0**-44
STEPS = 8 if jit.INTERPRETED else 60


def hall(**options):
    """A hall of soft cubes, and what moves their corners."""
    env = cells.channel(2, 2, 1)
    return env, dynamics.tissue(env, stiffness=40.0, mass=0.5, **options)


def needle(env, **options):
    tool = cells.Instrument(env, ([[0.6, 0.9, 0.3], [1.5, 1.1, 0.5]], [[0, 1]]), radius=0.125)
    return tool, dynamics.RigidTool(tool.position, mass=2.0, width=0.125, **options)


def totals(model, walls):
    """Momentum, angular momentum about the origin, and kinetic energy of both, each from its definition."""
    state = model.state
    pose = state.poses()[0]
    inertia = pose[:3, :3] @ model.inertia @ pose[:3, :3].T
    own = model.mass * state.velocity[0]
    spin = np.cross(pose[:3, 3], own) + inertia @ state.angular_velocity[0]
    return own + walls.momentum(), spin + walls.angular_momentum(), model.energy() + walls.kinetic_energy()


@pytest.mark.large
@pytest.mark.parametrize(("restitution", "friction"), [(0.0, 0.0), (1.0, 0.0), (0.5, 0.3)])
def test_a_tool_that_presses_on_a_soft_wall_moves_it_and_momentum_is_kept(restitution, friction):
    env, walls = hall(damping=0.5)
    tool, model = needle(env, velocity=(0.2, 0.1, -3.0), angular_velocity=(0.5, 0.2, 0.1))
    rest, (momentum, _, energy) = env.vertices, totals(model, walls)
    met = 0
    for _ in range(STEPS):
        dynamics.couple(model, tool, 0.01, after="slide", walls=walls, restitution=restitution, friction=friction)
        now, _, kinetic = totals(model, walls)
        assert np.abs(now - momentum).max() <= ROUNDING * np.abs(momentum).max()
        assert kinetic + walls.elastic_energy() <= energy * (1 + 1e-3)  # of the integrator
        assert np.array_equal(walls.position, env.vertices)
        assert model.position == pytest.approx(tool.position, abs=1e-12)
        assert tool.clearance(1.0).distance.min() >= tool.radius * (1 - 1e-12)
        met += int(model.impulse.any())
    assert met
    assert env.vertices[:, 2].min() < rest[:, 2].min() - 0.01  # the floor has given way
    assert env.check_integrity() == []


@pytest.mark.parametrize("heavy", [False, True])
def test_one_contact_is_an_impact_of_two_bodies(heavy):
    """Against the closed form: speeds after a central impact with restitution e."""
    mass, e = 1e12 if heavy else 0.5, 0.75
    floor = dynamics.MassSpring([[0, 0, 0], [2, 0, 0], [0, 2, 0]], [[0, 1]], mass=mass)
    ball = dynamics.RigidTool([[0.5, 0.5, 0.25]], mass=3.0, width=0.25, velocity=(0, 0, -2))
    weights = np.array([[0.5, 0.25, 0.25]])
    points = dynamics.WallPoints(floor, np.array([[0, 1, 2]]), weights)
    ball.accept_pose(np.eye(4), [[0.5, 0.5, 0.0]], [[0, 0, -1]], restitution=e, walls=points)
    other = mass / (weights**2).sum()  # what the point of the floor weighs
    assert ball.state.velocity[0, 2] == pytest.approx(-2 * (3 - e * other) / (3 + other), rel=1e-12)
    at = float(weights[0] @ floor.velocity[:, 2])
    assert at == pytest.approx(-2 * 3 * (1 + e) / (3 + other), rel=1e-12)
    assert 3 * ball.state.velocity[0] + floor.momentum() == pytest.approx([0, 0, -6])


def test_impulses_at_many_contacts_keep_momentum_and_angular_momentum_and_give_no_energy():
    rng = np.random.default_rng(5)
    for _ in range(3 if jit.INTERPRETED else 30):
        points = rng.normal(size=(6, 3))
        walls = dynamics.MassSpring(points, [[0, 1]], mass=rng.uniform(0.1, 5.0, 6))
        walls.velocity = rng.normal(size=(6, 3))
        tool = dynamics.RigidTool(rng.normal(size=(4, 3)), width=0.1, velocity=rng.normal(size=3))
        count = int(rng.integers(1, 6))
        corners, weights = (
            np.array([rng.permutation(6)[:3] for _ in range(count)]),
            rng.dirichlet(np.ones(3), count),
        )
        normals = rng.normal(size=(count, 3))
        normals /= np.linalg.norm(normals, axis=1)[:, np.newaxis]
        where = (weights[:, :, np.newaxis] * points[corners]).sum(axis=1)
        before = totals(tool, walls)
        tool.accept_pose(
            np.eye(4), where, normals, restitution=rng.choice([0.0, 1.0]), friction=rng.choice([0.0, 0.5]),
            walls=dynamics.WallPoints(walls, corners, weights),
        )  # fmt: skip
        after = totals(tool, walls)
        for k in (0, 1):
            assert after[k] == pytest.approx(before[k], abs=1e-12 * (1 + before[2]))
        assert after[2] <= before[2] * (1 + 1e-12)


@pytest.mark.large
def test_walls_that_are_held_are_walls_that_rest():
    env, walls = hall(fixed=range(18))
    alone, there = needle(cells.channel(2, 2, 1), velocity=(0, 0, -2)), needle(env, velocity=(0, 0, -2))
    for _ in range(STEPS):
        dynamics.couple(alone[1], alone[0], 0.01, after="slide")
        dynamics.couple(there[1], there[0], 0.01, after="slide", walls=walls)
    assert there[0].position == pytest.approx(alone[0].position, abs=0.01)
    assert (env.vertices == cells.channel(2, 2, 1).vertices).all()


def test_in_the_plane():
    env = cells.polygons([[0, 0], [2, 0], [2, 1], [0, 1]], [[0, 1, 2, 3]])
    walls = dynamics.tissue(env, stiffness=20.0, mass=0.5)
    bar = cells.Instrument(env, ([[0.5, 0.4], [1.5, 0.5]], [[0, 1]]), radius=0.125)
    model = dynamics.RigidTool(np.pad(bar.position, ((0, 0), (0, 1))), width=0.125, velocity=(0.0, -2.0, 0.0))
    momentum = model.mass * model.state.velocity[0]
    for _ in range(STEPS):
        dynamics.couple(model, bar, 0.01, after="slide", walls=walls)
        assert model.mass * model.state.velocity[0] + walls.momentum() == pytest.approx(momentum, abs=1e-12)
    assert env.vertices[:, 1].min() < 0 or jit.INTERPRETED
    assert not model.position[:, 2].any()


def test_what_two_way_coupling_refuses():
    env, walls = hall()
    tool, model = needle(env)
    rod = ([[0.6, 0.9, 0.3], [1.5, 1.1, 0.5]], [[0, 1]])
    with pytest.raises(Unsupported, match="RigidTool and an Instrument"):
        dynamics.couple(dynamics.MassSpring(*rod), cells.Mobile(env, rod), 0.1, walls=walls)
    with pytest.raises(InvalidInput, match="walls: has 2 particles, the environment has 18 vertices"):
        dynamics.couple(model, tool, 0.1, walls=dynamics.MassSpring(*rod))
    with pytest.raises(InvalidInput, match="walls"):
        dynamics.couple(model, tool, 0.1, walls=env)
