"""The world as a manager: add, move, remove, ask; against a naive model, after a pickle, and in named situations."""

import itertools
import pickle

import numpy as np
import pytest

import abut
from abut import shapes
from abut.core import jit
from abut.geometry.triangles import closest_point_triangle
from abut.world.contacts.points import no_points
from conftest import SOAK

OPERATIONS = 100_000 if SOAK else (40 if jit.INTERPRETED else 600)
BALLS = [shapes.Sphere(r) for r in (0.3, 0.5, 0.8)]


def at(x, y=0.0, z=0.0):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


class Naive:
    """Balls in a dictionary; every question looks at all of them."""

    def __init__(self):
        self.balls = {}

    def pairs(self):
        touching = set()
        for (i, a), (j, b) in itertools.combinations(sorted(self.balls.items()), 2):
            static = a["kind"] == b["kind"] == "static"
            seen = a["layer"] & b["mask"] and b["layer"] & a["mask"]
            if not static and seen and np.linalg.norm(a["at"] - b["at"]) <= a["r"] + b["r"]:
                touching.add((i, j))
        return touching

    def ray(self, origin, direction):
        best, found = np.inf, -1
        for handle, ball in sorted(self.balls.items()):
            w = origin - ball["at"]
            b, c = w @ direction, w @ w - ball["r"] ** 2
            if c <= 0:
                t = 0.0
            elif b < 0 and b * b >= c:
                t = -b - np.sqrt(b * b - c)
            else:
                continue
            if t < best:
                best, found = t, handle
        return found, best

    def closest(self, point):
        gaps = {handle: np.linalg.norm(ball["at"] - point) - ball["r"] for handle, ball in self.balls.items()}
        return min(gaps.values(), default=None)


def test_random_operations_agree_with_a_naive_model():
    rng = np.random.default_rng(11)
    world, model = abut.World(), Naive()
    touching, changed = set(), False
    for number in range(OPERATIONS):
        choice = rng.random()
        place = rng.uniform(-2.5, 2.5, 3)
        if choice < 0.25 and len(model.balls) < 24:
            size, kind = int(rng.integers(3)), ("dynamic", "kinematic", "static")[rng.integers(3)]
            layer, mask = int(rng.integers(1, 4)), int(rng.integers(1, 4))
            handle = world.add(BALLS[size], at(*place), kind=kind, layer=layer, mask=mask)
            assert handle not in model.balls
            model.balls[handle] = {"at": place, "r": BALLS[size].radius, "kind": kind, "layer": layer, "mask": mask}
        elif choice < 0.45 and model.balls:
            handle = int(rng.choice(list(model.balls)))
            world.remove(handle)
            del model.balls[handle]
            with pytest.raises(abut.InvalidInput, match="no body"):
                world.move(handle, np.eye(4))
        elif choice < 0.75 and model.balls:
            chosen = rng.choice(list(model.balls), size=rng.integers(1, len(model.balls) + 1), replace=False)
            places = rng.uniform(-2.5, 2.5, (len(chosen), 3))
            world.move(chosen, np.stack([at(*p) for p in places]))
            for handle, p in zip(chosen.tolist(), places, strict=True):
                model.balls[handle]["at"] = p
        elif choice < 0.83:
            direction = rng.normal(size=3)
            direction /= np.linalg.norm(direction)
            hits = world.ray(place, direction)
            body, distance = model.ray(place, direction)
            assert hits.distance[0] == pytest.approx(distance, abs=1e-9)
            assert hits.body[0] == body or distance == 0.0
        elif choice < 0.91:
            nearest = model.closest(place)
            found = world.closest(place)
            assert (found is None) == (nearest is None)
            if found is not None:
                assert found.distance == pytest.approx(nearest, abs=1e-9)
        else:
            inside = {h for h, ball in model.balls.items() if np.linalg.norm(ball["at"] - place) <= ball["r"] + 0.3}
            assert set(world.overlap(BALLS[0], at(*place)).tolist()) == inside
        changed = changed or choice < 0.75
        if number % 3 == 0 and changed:  # asked again without a change, the answer is the same
            contacts, now = world.contacts(), model.pairs()
            assert {tuple(pair) for pair in contacts.pairs.tolist()} == now
            assert {tuple(pair) for pair in contacts.begun.tolist()} == now - touching
            assert {tuple(pair) for pair in contacts.ended.tolist()} == touching - now
            touching, changed = now, False
            assert world.contacts() is contacts
        world.validate()
        assert len(world) == len(model.balls)


def test_removing_a_body_in_contact_leaves_no_ghost():
    world = abut.World()
    floor = world.add(shapes.Box((10, 10, 1)), at(0, 0, -0.5), kind="static")
    lower, upper = world.add(shapes.Box((1, 1, 1)), at(0, 0, 0.5)), world.add(shapes.Box((1, 1, 1)), at(0, 0, 1.5))
    for _ in range(20 if jit.INTERPRETED else 90):
        world.step(1 / 60)
    contacts = world.contacts()
    assert contacts.pairs.tolist() == [[floor, lower], [lower, upper]]
    if not jit.INTERPRETED:
        assert world.asleep([lower, upper]).all()
        assert contacts.impulse.sum() == pytest.approx(3 * 9.81 / 60, rel=1e-3)
    world.remove(lower)
    after = world.contacts()
    assert len(after) == 0
    assert after.ended.tolist() == [[floor, lower], [lower, upper]]
    assert not world.asleep(upper)[0]
    world.step(1 / 60)
    assert world.velocities(upper)[0, 2] < -0.1
    replacement = world.add(shapes.Box((1, 1, 1)), at(5, 0, 5))
    assert replacement != lower
    assert len(world.contacts()) == 0


def test_a_pickled_world_goes_on_as_if_nothing_had_happened():
    world = abut.World()
    world.add(shapes.Terrain(np.zeros((4, 4)), 2.0), at(-3, -3, 0), kind="static")
    falling = (BALLS[1], shapes.Box((1, 1, 1)), shapes.Cylinder(0.4, 0.8, sides=6))
    bodies = [world.add(shape, at(0.05 * k, 0, 0.8 + 1.1 * k)) for k, shape in enumerate(falling)]
    steps = 3 if jit.INTERPRETED else 40
    for _ in range(steps):
        world.step(1 / 60)
    copy = pickle.loads(pickle.dumps(world))
    for _ in range(steps):
        world.step(1 / 60)
        copy.step(1 / 60)
    np.testing.assert_array_equal(world.poses(bodies), copy.poses(bodies))
    np.testing.assert_array_equal(world.contacts().impulse, copy.contacts().impulse)
    copy.validate()


def test_features_are_remembered_by_steps_only_and_forgotten_with_their_bodies():
    world = abut.World()
    floor = world.add(shapes.Box((10, 10, 1)), at(0, 0, -0.5), kind="static")
    poses = np.stack([at(0.1 * k, 0, 0.395 + 0.795 * k) for k in range(3)])
    pillars = world.add_many(shapes.Cylinder(0.4, 0.8, sides=8), poses)
    memory = world._colliders.memory
    world.contacts()
    assert len(memory.keys) == 0
    world.step(1 / 60)
    keys, features = memory.keys, memory.features
    assert len(keys) == 3
    assert (features >= 0).all()
    world.contacts()
    assert memory.keys is keys
    world.step(1 / 60)
    assert memory.step_count <= 3  # at rest the features are the same, or beside those of before
    world.remove(pillars[1])
    assert len(memory.keys) == 1
    assert len(world.contacts().pairs) == 1
    assert world.contacts().pairs.tolist() == [[floor, pillars[0]]]


def test_only_surfaces_whose_hulls_are_near_are_searched(monkeypatch):
    """Two rings whose boxes overlap: their hulls are apart, then they overlap and the trees are asked."""
    asked = []

    def meet(*arguments):
        asked.append(arguments)
        return no_points()

    monkeypatch.setattr("abut.world.contacts.colliders.meet_surfaces", meet)
    ring = shapes.Surface(abut.scenes.torus(1.0, 0.3, 8, 6))
    world = abut.World()
    world.add(ring, kind="kinematic")
    other = world.add(ring, at(2.0, 2.0, 0.0), kind="kinematic")
    assert len(world.contacts()) == 0
    assert not asked
    world.move(other, at(1.0, 1.0, 0.0))
    assert len(world.contacts()) == 0
    assert len(asked) == 1


def test_bodies_of_several_shapes():
    dumbbell = [(BALLS[1], at(-1)), (BALLS[1], at(1)), (shapes.Box((2, 0.2, 0.2)), at(0))]
    world = abut.World()
    handle = world.add(dumbbell, at(0, 0, 1))
    assert len(world.contacts()) == 0
    other = world.add(shapes.Sphere(0.5), at(1.9, 0, 1), kind="kinematic")
    contacts = world.contacts()
    assert (contacts.body_a.tolist(), contacts.shape_a.tolist()) == ([handle], [1])
    assert contacts.depth[0] == pytest.approx(0.1)
    hits = world.ray([(0, 0, 5), (-1, 0, 5), (0, 3, 5)], [(0, 0, -2), (0, 0, -1), (0, 0, -1)])
    np.testing.assert_allclose(hits.distance, [3.9, 3.5, np.inf])
    assert hits.body.tolist() == [handle, handle, -1]
    assert hits.shape.tolist() == [2, 0, -1]
    np.testing.assert_allclose(hits.normal[0], (0, 0, 1))
    assert world.overlap(shapes.Sphere(0.1), at(1.45, 0, 1)).tolist() == [handle, other]


def test_a_shape_inside_a_closed_mesh_overlaps_it():
    world = abut.World()
    hollow = world.add(shapes.Surface(abut.scenes.icosphere(2, 2.0), thick=False), kind="kinematic")
    assert world.overlap(shapes.Sphere(0.2)).tolist() == [hollow]
    assert world.overlap(shapes.Sphere(0.2), at(5)).tolist() == []
    assert world.closest((0.0, 0.0, 3.0)).distance == pytest.approx(1.0, abs=0.02)


def test_questions_agree_with_one_hull_after_the_other():
    """Shapes of all kinds, more than stay laid out, against bodies that are tracked one by one."""
    rng = np.random.default_rng(3)
    makes = (
        lambda: BALLS[rng.integers(3)],
        lambda: shapes.Capsule(0.2, rng.uniform(0.2, 1.0)),
        lambda: shapes.Box(rng.uniform(0.2, 1.0, 3)),
        lambda: shapes.Polytope(0.4 * rng.normal(size=(8, 3))),
    )

    def place():
        q, r = np.linalg.qr(rng.normal(size=(3, 3)))
        pose = at(*rng.uniform(-3, 3, 3))
        pose[:3, :3] = q * np.sign(np.diag(r)) * np.linalg.det(q * np.sign(np.diag(r)))
        return pose

    world, bodies, count = abut.World(), [], 6 if jit.INTERPRETED else 40
    for k in range(count):
        shape, pose, layer = makes[k % 4](), place(), 1 + k % 3
        bodies.append((world.add(shape, pose, kind="kinematic", layer=layer), shape, pose, layer))
    asked = [makes[k % 4]() for k in range(count)]
    hollow = world.add(abut.scenes.torus(3.0, 0.2, 8, 6), at(0, 0, 20), kind="static", layer=8)
    for k, shape in enumerate(asked + asked[:3]):
        pose, mask = place(), (1, 3, 7)[k % 3]
        gaps = {}
        for handle, other, there, layer in bodies:
            if layer & mask:
                found = abut.convex.track(shape.core.hull, other.core.hull, pose, there)
                gaps[handle] = found.distance[0] - shape.radius - other.radius
        nearest = world.closest(shape, pose, mask=mask)
        assert nearest.distance == pytest.approx(min(gaps.values()), abs=1e-9)
        assert gaps[nearest.body] == pytest.approx(nearest.distance, abs=1e-9)
        np.testing.assert_allclose(nearest.point_b - nearest.point_a, nearest.distance * nearest.normal, atol=1e-9)
        assert world.overlap(shape, pose, mask=mask).tolist() == sorted(h for h, gap in gaps.items() if gap <= 0)
    poses = np.stack([place() for _ in range(count)] + [at(3, 0, 20), at(0, 0, 23)])
    for shape in asked[: 1 if jit.INTERPRETED else 4]:
        many, met = world.closest_many(shape, poses), world.overlap_many(shape, poses)
        alone = [world.closest(shape, pose) for pose in poses]
        for name in ("body", "shape", "distance", "point_a", "point_b", "normal"):
            np.testing.assert_array_equal(getattr(many, name), [getattr(row, name) for row in alone])
        each = [(k, body) for k, pose in enumerate(poses) for body in world.overlap(shape, pose).tolist()]
        assert list(zip(met.query.tolist(), met.body.tolist(), strict=True)) == each
        assert (len(poses) - 2, hollow) in each
        assert many.body[-1] == hollow
    points = world.closest_many(poses[:, :3, 3])
    np.testing.assert_array_equal(points.distance, [world.closest(pose[:3, 3]).distance for pose in poses])
    assert world.closest_many(poses[:, :3, 3], mask=16).body.tolist() == [-1] * len(poses)
    assert world.closest(asked[0], mask=16) is None
    assert len(world.overlap_many(asked[0], poses[:0])) == 0


def test_nothing_is_answered_from_before_a_change():
    """A ray looks at a deformable body anew, and so do the contacts after it; a move that is refused has moved nothing."""
    world, ball = abut.World(), abut.scenes.icosphere(1)
    soft = abut.Deformable(ball)
    world.add(soft)
    box = world.add(shapes.Box((1, 1, 1)), at(0, 0, 3), kind="kinematic")
    assert len(world.contacts()) == 0
    soft.update(ball.vertices + np.array([0.0, 0.0, 2.0]))
    assert world.ray((5, 0, 2), (-1, 0, 0)).body[0] != -1
    contacts = world.contacts()
    assert len(contacts) > 0
    with pytest.raises(abut.InvalidInput, match="velocity"):
        world.move(box, at(0, 0, 9), velocity=(np.nan, 0, 0))
    assert world.contacts() is contacts
    world.move(box, at(0, 0, 9))
    assert len(world.contacts()) == 0
    assert world.closest((0, 0, 20)).distance == pytest.approx(10.5)


def test_bad_input_is_named():
    world = abut.World()
    with pytest.raises(abut.InvalidInput, match="kind"):
        world.add(BALLS[0], kind="floating")
    with pytest.raises(abut.InvalidInput, match="handles"):
        world.remove(7)
    with pytest.raises(abut.InvalidInput, match="dt"):
        world.step(0.0)
    with pytest.raises(abut.InvalidInput, match="open surface"):
        world.add(abut.Mesh(np.eye(3), [[0, 1, 2]]))
    with pytest.raises(abut.InvalidInput, match="directions"):
        world.ray((0, 0, 0), (0, 0, 0))
    body = world.add(BALLS[0])
    with pytest.raises(abut.InvalidInput, match="twice"):
        world.move([body, body], np.stack([np.eye(4)] * 2))
    assert len(world) == 1
    world.validate()


def test_what_lies_inside_a_closed_surface_collides_with_it():
    outer = abut.scenes.torus(2.0, 0.8, 24, 16)
    world = abut.World()
    ring = world.add(shapes.Surface(outer), kind="static")
    place = np.eye(4)
    place[0, 3] = 2.1
    ball = world.add(shapes.Sphere(0.1), place)
    place[0, 3] = -2.0
    inner = world.add(abut.scenes.torus(0.2, 0.05, 8, 6), place)
    place[0, 3] = 0.0
    world.add(shapes.Sphere(0.1), place)  # in the hole
    contacts = world.contacts()
    assert contacts.pairs.tolist() == [[ring, ball], [ring, inner]]
    assert (contacts.face_a == -1).all()
    row = int(np.argmax((contacts.body_a == ball) | (contacts.body_b == ball)))
    outwards = contacts.normal[row] * (-1 if contacts.body_a[row] == ball else 1)
    free = np.eye(4)
    free[:3, 3] = (2.1, 0, 0) + 1.001 * contacts.depth[row] * outwards
    assert not len(world.overlap(shapes.Sphere(0.1), free))  # so far, and it is out
    free[:3, 3] = (2.1, 0, 0) + 0.95 * contacts.depth[row] * outwards
    assert world.overlap(shapes.Sphere(0.1), free).tolist() == [ring]
    near = world.closest((2.1, 0, 0))
    assert near is not None
    assert near.body == ring  # of those that hold it, the one in which it is deepest
    gaps = [closest_point_triangle((2.1, 0.0, 0.0), *map(tuple, outer.vertices[face]))[2] for face in outer.faces]
    assert near.distance == pytest.approx(-np.sqrt(min(gaps)))
    assert near.point_b == pytest.approx(np.array([2.1, 0, 0]) + near.distance * near.normal)
