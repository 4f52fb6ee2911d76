"""Laws of motion: what collisions keep, for all shapes and options drawn together, sleepers included; and laws of single bodies against formulas.

Momentum, angular momentum and energy are added up here from public poses, velocities and spins, with masses and inertias of this file's own
(parallel axes by hand); the world has no such sums.
"""

import numpy as np
import pytest

import abut
from abut import jit, shapes
from conftest import SOAK

BLOCKS, CASES = (1000, 100) if SOAK else (4, 3 if jit.INTERPRETED else 60)
"""Blocks of random collisions, each of a seed of its own: 10⁵ with ABUT_SOAK, which `-k 'block and 1-'` and the like split over processes."""
SAME = 1e-9
"""Of the sum of the sizes of all that is added up: rounding of some thousand additions, and no more."""
DT = 1 / 60


def at(x=0.0, y=0.0, z=0.0, turn=None):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    if turn is not None:
        pose[:3, :3] = turn
    return pose


def about(axis, angle):
    """Rodrigues' rotation."""
    x, y, z = np.asarray(axis) / np.linalg.norm(axis)
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def some_turn(rng):
    return about(rng.normal(size=3), rng.uniform(0, np.pi))


def some_shape(rng):
    """A shape or a list of parts, and whether it may be continuous."""
    size = rng.uniform(0.3, 1.0)
    kind = rng.integers(8)
    if kind == 0:
        return shapes.Sphere(size), True
    if kind == 1:
        return shapes.Capsule(0.5 * size, rng.uniform(0.2, 2) * size), True
    if kind == 2:
        return shapes.Box(size * rng.uniform(0.3, 2.0, 3)), True
    if kind == 3:
        return shapes.Cylinder(size, rng.uniform(0.3, 2) * size, sides=int(rng.integers(3, 25))), True
    if kind == 4:
        return shapes.Hull(size * rng.normal(size=(rng.integers(5, 20), 3))), True
    if kind == 5:
        return abut.scenes.torus(size, 0.4 * size, 8, 6), False
    if kind == 6:
        return abut.scenes.icosphere(1, size), True
    turn = some_turn(rng)
    return [
        (shapes.Sphere(0.6 * size), at(-size)),
        (shapes.Box((0.5 * size, size, 0.7 * size)), at(size, 0, 0, turn)),
        (shapes.Capsule(0.2 * size, size), at(0, 0, 0, turn)),
    ], True


class Books:
    """Masses and inertias of the bodies of a world, and the sums that must not change."""

    def __init__(self, world):
        self.world, self.handles, self.mass, self.center, self.inertia = world, [], [], [], []

    def add(self, shape, pose, mass, **options):
        parts = shape if isinstance(shape, list) else [(shape, np.eye(4))]
        weights = [(p if isinstance(p, shapes.Shape) else shapes.Surface(p)).weigh(1.0) for p, _ in parts]
        scale = mass / sum(w.mass for w in weights)
        places = [place[:3, :3] @ w.centre + place[:3, 3] for (_, place), w in zip(parts, weights, strict=True)]
        middle = sum(scale * w.mass * c for w, c in zip(weights, places, strict=True)) / mass
        total = np.zeros((3, 3))
        for (_, place), w, c in zip(parts, weights, places, strict=True):
            d, turn = c - middle, place[:3, :3]
            total += scale * (turn @ w.inertia @ turn.T + w.mass * (d @ d * np.eye(3) - np.outer(d, d)))
        self.handles.append(self.world.add(shape, pose, mass=mass, **options))
        self.mass.append(mass)
        self.center.append(middle)
        self.inertia.append(total)
        return self.handles[-1]

    def sums(self):
        """Momentum, angular momentum, energy; and the sizes of what was added to the first two."""
        poses = self.world.poses(self.handles)
        velocities, spins = self.world.velocities(self.handles), self.world.spins(self.handles)
        momentum, angular, energy, sizes = np.zeros(3), np.zeros(3), 0.0, np.zeros(2)
        for k, pose in enumerate(poses):
            turn, m, v = pose[:3, :3], self.mass[k], velocities[k]
            place, spin = turn @ self.center[k] + pose[:3, 3], turn @ self.inertia[k] @ turn.T @ spins[k]
            momentum += m * v
            angular += np.cross(place, m * v) + spin
            energy += 0.5 * (m * v @ v + spins[k] @ spin)
            sizes += m * np.linalg.norm(v), np.linalg.norm(place) * m * np.linalg.norm(v) + np.linalg.norm(spin)
        return momentum, angular, energy, sizes


def collide(rng):
    """One random collision; whether there was one, and by how much the laws were broken, as parts of what they keep."""
    dt = 10.0 ** rng.uniform(-3, -1)
    world = abut.World(
        (0, 0, 0), substeps=int(rng.integers(1, 13)), sweeps=int(rng.integers(1, 7)), slop=10.0 ** rng.uniform(-4, -1.7)
    )
    books = Books(world)
    count = int(rng.choice([2, 2, 2, 3, 5]))
    sleepers, reach = rng.random() < 0.4, 2.0 if count == 2 else 3.0
    speed = 10.0 ** rng.uniform(-2, 0.3) / dt
    touching = rng.random() < 0.3

    def add(place, velocity, spin):
        shape, convex = some_shape(rng)
        options = {"friction": rng.choice([0.0, rng.uniform(0, 1.5)]), "restitution": rng.choice([0, 1, rng.random()])}
        options |= {"rolling": rng.choice([None, 0.0, 0.01]), "continuous": bool(convex and rng.random() < 0.3)}
        mass = 10.0 ** rng.uniform(-1.5, 1.5)
        books.add(shape, at(*place, some_turn(rng)), mass, velocity=velocity, spin=spin, **options)

    for k in range(1, count):
        away = rng.normal(size=3) if k > 1 or count > 2 else np.zeros(3)
        add(
            away * (0.3 if touching else 1.0),
            *([np.zeros(3)] * 2 if sleepers else 0.2 * speed * rng.normal(size=(2, 3))),
        )
    if sleepers:
        for _ in range(20):
            world.step(0.1)
        if not world.asleep(books.handles).any():
            world.step(0.3)
    direction = rng.normal(size=3)
    direction /= np.linalg.norm(direction)
    add(
        -direction * rng.uniform(1.0, 2 * reach),
        speed * (direction + 0.3 * rng.normal(size=3)),
        speed * rng.normal(size=3),
    )
    slept = world.asleep(books.handles).any()
    momentum, angular, energy, _ = books.sums()
    broken, hit, most = np.zeros(3), False, energy
    for _ in range(int(np.clip(2 * reach / (speed * dt), 2, 40))):
        world.step(dt)
        hit = hit or bool((world._motor.impulses[:, -1] > 0.0).any())
        new = books.sums()
        broken[0] = max(broken[0], np.abs(new[0] - momentum).max() / new[3][0])
        broken[1] = max(broken[1], np.abs(new[1] - angular).max() / new[3][1])
        broken[2] = max(broken[2], new[2] / most - 1.0)
        most = min(most, new[2])
    world.validate()
    return hit, slept, broken


@pytest.mark.large
@pytest.mark.parametrize("block", range(BLOCKS))
def test_collisions_keep_momentum_and_make_no_energy(block):
    hits = sleepers = 0
    for case in range(CASES):
        hit, slept, broken = collide(np.random.default_rng((2026, block, case)))
        assert (broken <= SAME).all(), (block, case, broken)
        hits, sleepers = hits + hit, sleepers + (hit and slept)
    assert jit.INTERPRETED or (hits > 0.5 * CASES and sleepers > 0.05 * CASES)
