"""What shapes weigh: formulas of the true solids, and sums over points of a grid that are inside."""

import numpy as np
import pytest

import abut
from abut import shapes
from abut.core import jit


def by_points(shape, count=40):
    """Volume, center and inertia from the points of a grid that are inside, by the planes of the hull and the distance to the core."""
    vertices, planes = shape.core.vertices, shape.core.planes
    low, high = vertices.min(axis=0) - shape.radius, vertices.max(axis=0) + shape.radius
    steps = (high - low) / count
    axes = [a + s * (np.arange(count) + 0.5) for a, s in zip(low, steps, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    if len(planes):
        points = points[(points @ planes[:, :3].T <= planes[:, 3]).all(axis=1)]
    else:  # a ball, or a capsule along z
        rest = np.maximum(np.abs(points[:, 2]) - vertices[:, 2].max(), 0.0)
        points = points[points[:, 0] ** 2 + points[:, 1] ** 2 + rest**2 <= shape.radius**2]
    volume = len(points) * steps.prod()
    arm = points - points.mean(axis=0)
    inertia = ((arm**2).sum(axis=1)[:, None, None] * np.eye(3) - arm[:, :, None] * arm[:, None]).sum(
        axis=0
    ) * steps.prod()
    return volume, points.mean(axis=0), inertia


@pytest.mark.parametrize(
    "shape",
    [
        shapes.Sphere(0.7),
        shapes.Capsule(0.4, 1.1),
        shapes.Box((0.5, 1.0, 2.0)),
        shapes.Cylinder(0.5, 1.2, sides=7),
        shapes.Cone(0.6, 1.4, sides=5),
        shapes.Polytope(np.random.default_rng(3).normal(size=(12, 3))),
    ],
    ids=lambda shape: type(shape).__name__,
)
def test_mass_and_inertia_are_those_of_the_points_inside(shape):
    volume, center, inertia = by_points(shape, 20 if jit.INTERPRETED else 60)
    weight, near = shape.weigh(2.0), 0.05 if jit.INTERPRETED else 0.015
    assert weight.mass == pytest.approx(2.0 * volume, rel=near)
    np.testing.assert_allclose(weight.center, center, atol=near)
    np.testing.assert_allclose(weight.inertia, 2.0 * inertia, atol=2.0 * near * np.abs(inertia).max())


@pytest.mark.parametrize("sides", [8, 24, 256])
def test_a_pyramid_around_a_cone_weighs_hardly_more(sides):
    """π·r²·h/3, its center a quarter of the height up, 3/10·m·r² about its axis; the pyramid is larger by tan(π/n)·n/π."""
    radius, height = 0.5, 1.2
    weight, larger = shapes.Cone(radius, height, sides=sides).weigh(3.0), np.tan(np.pi / sides) * sides / np.pi
    mass = np.pi * radius**2 * height
    assert weight.mass == pytest.approx(mass * larger, rel=1e-12)
    np.testing.assert_allclose(weight.center, (0, 0, -height / 4), atol=1e-12)
    assert weight.inertia[2, 2] == pytest.approx(0.3 * mass * radius**2, rel=2.5 * (larger - 1.0) + 1e-3 / sides)
    across = 0.15 * mass * radius**2 + 3 / 80 * mass * height**2
    assert weight.inertia[0, 0] == pytest.approx(across, rel=2.5 * (larger - 1.0) + 1e-3 / sides)


@pytest.mark.large
def test_a_cone_stands_on_its_base_and_falls_from_its_tip():
    world = abut.World()
    world.add(shapes.Box((20, 20, 1)), position=(0, 0, -0.5), kind="static")
    stands = world.add(shapes.Cone(0.5, 1.0), position=(0, 0, 0.4975))
    falls = world.add(shapes.Cone(0.5, 1.0), position=(4, 0, 0.51), rotation=(0.01, 0.99995, 0, 0))
    for _ in range(240):
        world.step(1 / 60)
    assert world.asleep(stands)[0]
    np.testing.assert_allclose(world.poses(stands)[0, :3, 3], (0, 0, 0.4975), atol=1e-3)
    lying = np.degrees(np.arccos(abs(world.poses(falls)[0, 2, 2])))
    assert lying == pytest.approx(90 - np.degrees(np.arctan(0.5)), abs=3)
    assert world.contacts().depth.max() <= world.slop
