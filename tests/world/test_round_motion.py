"""Cylinders and cones that roll, stand, lie and spin, against formulas; nothing of it works with facets."""

import numpy as np
import pytest

import abut
from abut import shapes
from abut.core import jit

pytestmark = pytest.mark.skipif(jit.INTERPRETED, reason="hundreds of steps")
G = 9.81
LYING = np.array([(0.0, 0, 1), (1, 0, 0), (0, 1, 0)])
"""Turns z to y's place: the axis lies along y."""
FREE = {"rolling": 0.0, "friction": 1.0}


def world_on(floor, **options):
    world = abut.World(gravity=(0, 0, -G), **options)
    if floor == "half-space":
        world.add(shapes.Plane(), kind="static", **FREE)
    else:
        slab = shapes.Box((60, 60, 1)) if floor == "box" else abut.scenes.box((60.0, 60.0, 1.0))
        solid = slab if floor == "box" else shapes.Surface(slab, thick=True)
        world.add(solid, kind="static", position=(0, 0, -0.5), **FREE)
    return world


def lying():
    turned = np.eye(3)
    turned[:, 1], turned[:, 2] = (0, 0, -1), (0, 1, 0)
    return turned


@pytest.mark.parametrize("floor", ["half-space", "box", "mesh"])
@pytest.mark.parametrize("size", [0.02, 0.5, 20.0])
def test_a_cylinder_rolls_down_with_two_thirds_of_g_sine(floor, size):
    slope = np.radians(10.0)
    down = np.array([np.sin(slope), 0, -np.cos(slope)]) * G
    world = abut.World(gravity=down, slop=0.005 * size)
    solid = {"half-space": shapes.Plane(), "box": shapes.Box(size * np.array([400, 400, 2.0]))}.get(floor)
    if solid is None:
        solid = shapes.Surface(abut.scenes.box((400 * size, 400 * size, 2 * size)), thick=True)
    world.add(solid, kind="static", position=(0, 0, 0 if floor == "half-space" else -size), **FREE)
    roller = world.add(shapes.Cylinder(size, 2 * size), position=(0, 0, size), rotation=lying(), **FREE)
    for _ in range(120):
        world.step(1 / 120)
    velocity = world.velocities([roller])[0]
    assert velocity[0] == pytest.approx(2 / 3 * G * np.sin(slope), rel=2e-3)
    # It rolls without slipping, does not hop and keeps its way.
    assert world.angular_velocities([roller])[0, 1] * size == pytest.approx(velocity[0], rel=2e-3)
    place = world.poses([roller])[0]
    assert place[2, 3] == pytest.approx(size, rel=0.006)
    assert abs(place[1, 3]) < 1e-3 * place[0, 3]
    np.testing.assert_allclose(abs(place[1, 2]), 1.0, atol=1e-5)


def test_a_rolling_cylinder_keeps_its_speed_and_a_prism_does_not():
    kept = []
    for sides in (None, 12):
        world = world_on("half-space")
        speed = 2.0
        roller = world.add(
            shapes.Cylinder(0.3, 0.6, sides),
            position=(0, 0, 0.3),
            rotation=lying(),
            velocity=(speed, 0, 0),
            angular_velocity=(0, speed / 0.3, 0),
            **FREE,
        )
        for _ in range(180):
            world.step(1 / 60)
        kept.append(world.velocities([roller])[0, 0] / speed)
    assert kept[0] == pytest.approx(1.0, abs=5e-3)
    assert kept[1] < 0.9


@pytest.mark.parametrize("floor", ["half-space", "box", "mesh"])
def test_what_stands_or_lies_stays(floor):
    world = world_on(floor)
    bodies = [
        world.add(shapes.Cylinder(0.4, 1.0), position=(0, 0, 0.5)),
        world.add(shapes.Cylinder(0.4, 1.0), position=(2, 0, 0.4), rotation=lying()),
        world.add(shapes.Cone(0.4, 1.0), position=(4, 0, 0.5)),
        world.add(shapes.Cylinder(0.5, 0.04), position=(6, 0, 0.02)),
        world.add(shapes.Cylinder(0.4, 1.0), position=(0, 3, 0.5)),
        world.add(shapes.Cylinder(0.4, 1.0), position=(0.1, 3, 1.5)),  # on another
        world.add(shapes.Cone(0.3, 0.6), position=(0.05, 3, 2.3)),
    ]
    before = world.poses(bodies)
    for _ in range(240):
        world.step(1 / 60)
    after = world.poses(bodies)
    np.testing.assert_allclose(after[:, :3, 3], before[:, :3, 3], atol=0.012)
    np.testing.assert_allclose(after[:, :3, 2], before[:, :3, 2], atol=2e-3)
    assert world.asleep(bodies).all()


def test_a_cone_on_its_side_rolls_in_a_circle_around_its_tip():
    """The tip stays, the line of contact turns with Ω; the cone turns about that line with Ω·cot α (rolling without slip)."""
    radius, length, turn = 0.3, 0.9, 0.6
    slant, alpha = np.hypot(radius, length), np.arctan(radius / length)
    # The tip in the origin, the line of contact along x, the axis above it.
    axis = np.array([np.cos(alpha), 0, np.sin(alpha)])  # from the tip to the base
    rotation = np.stack((np.cross([0, 1, 0], -axis), [0, 1, 0], -axis), axis=1)
    world = world_on("half-space")
    spin = np.array([-turn / np.tan(alpha), 0, 0])
    center = 0.75 * length * axis
    cone = world.add(
        shapes.Cone(radius, length),
        position=0.5 * length * axis,
        rotation=rotation,
        velocity=np.cross(spin, center),
        angular_velocity=spin,
        **FREE,
    )
    start = world.velocities([cone])[0]
    np.testing.assert_allclose(start[1], 0.75 * length * turn * np.cos(alpha), rtol=1e-9)
    steps = 240
    for _ in range(2 * steps):
        world.step(1 / steps)
    place = world.poses([cone])[0]
    tip = place[:3, 3] + 0.5 * length * place[:3, 2]
    assert np.linalg.norm(tip[:2]) < 0.03 * slant
    heading = np.arctan2(-place[1, 2], -place[0, 2])
    assert heading == pytest.approx(2 * turn, rel=0.03)
    assert np.degrees(np.arcsin(-place[2, 2])) == pytest.approx(np.degrees(alpha), abs=1.0)


def test_a_coin_rolls_on_its_rim():
    """Upright it rolls straight on, and on a rim that leans it stands on one point, where the formula puts it."""
    coin, radius = shapes.Cylinder(0.5, 0.08), 0.5
    world = world_on("half-space")
    speed = 3.0
    upright = world.add(
        coin,
        position=(0, 0, radius),
        rotation=lying(),
        velocity=(speed, 0, 0),
        angular_velocity=(0, speed / radius, 0),
        **FREE,
    )
    for _ in range(120):
        world.step(1 / 120)
    place, velocity = world.poses([upright])[0], world.velocities([upright])[0]
    assert place[0, 3] == pytest.approx(speed, rel=0.01)
    assert abs(place[1, 3]) < 0.01
    assert abs(place[2, 2]) < 0.01
    assert velocity[0] == pytest.approx(speed, rel=0.01)
    tilt = np.radians(30.0)
    leaning = np.array([(np.cos(tilt), 0, np.sin(tilt)), (0, 1, 0), (-np.sin(tilt), 0, np.cos(tilt))])
    height = radius * np.sin(tilt) + 0.04 * np.cos(tilt)
    other = world_on("half-space")
    other.add(coin, position=(0, 0, height - 1e-3), rotation=leaning)
    found = other.contacts()
    assert len(found) == 1
    assert found.depth[0] == pytest.approx(1e-3, abs=1e-9)
    low = leaning @ (0.5, 0, -0.04)
    np.testing.assert_allclose(found.point[0], (low[0], 0, -0.5e-3), atol=1e-9)


def test_a_cylinder_leaves_what_it_stands_on_when_its_center_does():
    """On the border of a table: within it stands, beyond it falls."""
    world = abut.World(gravity=(0, 0, -G))
    world.add(shapes.Box((2, 2, 1)), kind="static", position=(0, 0, -0.5))
    stays = world.add(shapes.Cylinder(0.3, 0.8), position=(0.95, -0.5, 0.4))
    falls = world.add(shapes.Cylinder(0.3, 0.8), position=(1.05, 0.5, 0.4))
    for _ in range(150):
        world.step(1 / 60)
    heights = world.poses([stays, falls])[:, 2, 3]
    assert heights[0] == pytest.approx(0.4, abs=0.01)
    assert heights[1] < 0.0


def test_a_fast_cylinder_does_not_pass_a_sheet():
    world = abut.World(gravity=(0, 0, 0))
    world.add(shapes.Cylinder(1.0, 0.01), kind="static")
    bullet = world.add(shapes.Cylinder(0.05, 0.1), position=(0.2, 0.1, 3.0), velocity=(0, 0, -400.0), continuous=True)
    for _ in range(30):
        world.step(1 / 60)
    assert world.poses([bullet])[0, 2, 3] > 0.0
