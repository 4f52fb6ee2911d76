"""What holds without a word: who meets whom by default, where rays start, and what is refused."""

import numpy as np
import pytest

import abut
from abut import dynamics, shapes


def at(x=0.0, y=0.0, z=0.0):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def rope(height, along=0):
    points = np.zeros((6, 3))
    points[:, along], points[:, 2] = 0.3 * np.arange(6) - 0.75, height
    bones = np.stack((np.arange(5), np.arange(1, 6)), axis=1)
    return dynamics.Linkage(points, bones, radius=0.05, gravity=(0.0, 0.0, -9.81))


def test_a_linkage_meets_everything_but_itself_by_default():
    world = abut.World()
    world.add(shapes.Box((10, 10, 1)), at(0, 0, -0.5), kind="static")
    lower, upper = rope(0.2), rope(0.5, along=1)
    world.link(lower)
    world.link(upper)
    for _ in range(60):
        world.step(1 / 60)
    assert lower.position[:, 2].min() > 0.03
    middle = upper.position[2:4, 2].mean()
    assert middle > 0.12  # it lies across the other one
    crumpled = rope(0.1)
    crumpled.position = crumpled.position * (0.01, 1.0, 1.0)
    alone = abut.World()
    alone.link(crumpled)
    assert len(alone.contacts()) == 0


def test_two_deformable_bodies_meet_and_are_not_moved():
    world = abut.World()
    ball = abut.scenes.torus(0.7, 0.25, 12, 8)
    a, b = abut.Deformable(ball), abut.Deformable(abut.Mesh(ball.vertices + np.array((0.3, 0.1, 0.2)), ball.faces))
    world.add(a)
    world.add(b)
    assert len(world.contacts().pairs) == 1
    world.step(1 / 60)
    assert len(world.contacts().pairs) == 1
    b.update(b.vertices + np.array((5.0, 0.0, 0.0)))
    assert len(world.contacts()) == 0
    floor = world.add(shapes.Box((4, 4, 1)), kind="static")
    assert world.contacts().pairs.tolist() == [[0, floor]]


SOLIDS = {
    "sphere": shapes.Sphere(0.5),
    "capsule": shapes.Capsule(0.3, 0.5),
    "box": shapes.Box((1, 1, 1)),
    "cylinder": shapes.Cylinder(0.5, 1.0),
    "hull": shapes.Polytope(np.vstack((np.eye(3), -np.eye(3)))),
    "convex mesh": shapes.Box((1, 1, 1)).surface(),
    "mesh": abut.Mesh(
        abut.scenes.torus(0.7, 0.4, 16, 12).vertices - (0.7, 0, 0), abut.scenes.torus(0.7, 0.4, 16, 12).faces
    ),
    "deformable": abut.Deformable(shapes.Box((1, 1, 1)).surface()),
    "compound": [(shapes.Box((1, 1, 1)), at()), (shapes.Sphere(0.2), at(3, 0, 0))],
}


@pytest.mark.parametrize("name", SOLIDS)
def test_a_ray_from_inside_a_solid_meets_it_at_once(name):
    world = abut.World()
    body = world.add(SOLIDS[name], kind="static")
    ways = np.random.default_rng(3).normal(size=(20, 3))
    hits = world.ray(np.full((20, 3), 0.01), ways)
    assert (hits.body == body).all()
    assert (hits.distance == 0.0).all()
    assert (hits.normal == 0.0).all()
    assert (hits.face == -1).all()
    outside = world.ray((0.01, 0.01, 5.0), (0, 0, -1))
    assert 3.0 < outside.distance[0] < 5.0


def test_a_ray_from_below_a_terrain_meets_it_at_once_and_an_open_sheet_has_no_inside():
    world = abut.World()
    world.add(shapes.Terrain([[0, 0, 1], [0, 1, 0], [2, 0, 0]], 1.0), kind="static")
    hits = world.ray([(0.6, 0.5, 0.3), (0.6, 0.5, 3.0), (0.6, 0.5, -9.0)], [(0, 0, 1), (0, 0, -1), (0, 0, 1)])
    # On the cut from (0, 0) to (1, 1) at x = 0.5; at x = 0.6 the first triangle is 0.5 high.
    assert hits.distance.tolist() == pytest.approx([0.0, 2.5, 9.5])
    sheet = abut.World()
    sheet.add(abut.scenes.cloth(4, 4, 2.0, (0, 0, 0)), kind="static")
    assert sheet.ray((0.1, 0.2, -1.0), (0, 0, 1)).distance[0] == pytest.approx(1.0)


def test_a_model_is_not_coupled_with_a_world():
    model = rope(0.5)
    before = model.position
    for mobile in (abut.World(), 3, "world"):
        with pytest.raises(abut.InvalidInput, match="mobile"):
            dynamics.couple(model, mobile, 0.01)
    assert np.array_equal(model.position, before)


def test_worlds_of_every_scale_answer_or_name_what_is_refused():
    for scale in (1e-29, 1e-12, 1.0, 1e12, 1e29):
        world = abut.World((0, 0, -scale), slop=0.005 * scale)
        box = shapes.Box(np.full(3, scale))
        world.add(box, kind="static")
        top = world.add(box, at(0, 0, 0.999 * scale))
        assert world.contacts().depth.max() == pytest.approx(0.001 * scale)
        world.step(0.01)
        assert world.poses(top)[0, 2, 3] == pytest.approx(scale, rel=0.01)
    world = abut.World()
    for shape, pose in ((shapes.Sphere(1e60), None), (shapes.Sphere(1e-60), None), (shapes.Sphere(1.0), at(1e60))):
        with pytest.raises(abut.InvalidInput, match=r"shape|pose"):
            world.add(shape, pose)
        assert len(world) == 0
    ball = world.add(shapes.Sphere(1.0))
    with pytest.raises(abut.InvalidInput, match="pose"):
        world.move(ball, at(0, -1e60))
    assert np.array_equal(world.poses(ball)[0], np.eye(4))


def test_a_step_that_takes_a_body_out_of_the_world_is_refused():
    """It flies there by itself; no later question meets a number that nobody has passed."""
    world = abut.World((0, 0, 0))
    fast = world.add(shapes.Box((1, 1, 1)), velocity=(1e20, 0, 0))
    slow = world.add(shapes.Box((1, 1, 1)), at(5.0), velocity=(0, 0, 1))
    world.step(1.0)
    before = world.poses()
    for dt in (1e12, 1e60):
        with pytest.raises(abut.InvalidInput, match=rf"dt: takes body {fast} more than 1e\+30 from the origin"):
            world.step(dt)
        assert np.array_equal(world.poses(), before)
        assert len(world.contacts()) == 0
    world.step(1.0)
    world.validate()
    assert world.poses(slow)[0, 2, 3] == pytest.approx(2.0)
