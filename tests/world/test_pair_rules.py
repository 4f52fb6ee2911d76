"""Where bodies are put, what they are called, and which of them meet: pairs that are ignored, and filters."""

import pickle

import numpy as np
import pytest

import abut
from abut import shapes
from abut.core import jit
from world.collisions import about, at, run, some_turn

CASES = 2 if jit.INTERPRETED else 20


def crowd(rng, count=12, **options):
    """Boxes and balls in one another."""
    world = abut.World((0, 0, 0), substeps=2, **options)
    for k in range(count):
        shape = shapes.Sphere(0.4) if k % 2 else shapes.Box((0.6, 0.6, 0.6))
        world.add(
            shape, at(*rng.uniform(0, 2, 3), some_turn(rng)), velocity=rng.normal(size=3), layer=int(rng.choice([1, 3]))
        )
    return world


def pairs_of(world):
    return {(a, b) for a, b in world.contacts().pairs.tolist()}


def odd_sums(first, second):
    return (first + second) % 2 == 1


def test_ignored_pairs_are_those_that_are_missing():
    rng = np.random.default_rng(3)
    for case in range(CASES):
        world, twin = (crowd(np.random.default_rng((3, case))) for _ in range(2))
        every = pairs_of(twin)
        chosen = [pair for pair in sorted(every) if rng.random() < 0.5]
        a, b = np.array(chosen).T
        swap = rng.random(len(a)) < 0.5
        world.ignore(np.where(swap, a, b), np.where(swap, b, a))
        assert pairs_of(world) == every - set(chosen)
        world.ignore(a[:1], b[:1], ignored=False)
        assert pairs_of(world) == (every - set(chosen)) | set(chosen[:1])


def test_a_filter_is_asked_once_for_each_pair_that_comes_near():
    asked = []

    def ask(first, second):
        asked.append((first, second))
        return odd_sums(first, second)

    rng = np.random.default_rng(4)
    for case in range(CASES):
        world, twin = crowd(np.random.default_rng((4, case)), filter=ask), crowd(np.random.default_rng((4, case)))
        asked.clear()
        assert pairs_of(world) == {(a, b) for a, b in pairs_of(twin) if (a + b) % 2 == 1}
        for _ in range(3):
            world.contacts()
            world.step(1e-3 * rng.uniform())
        rows = [(a, b) for first, second in asked for a, b in zip(first.tolist(), second.tolist(), strict=True)]
        assert len(set(rows)) == len(rows)
        assert all(a < b for a, b in rows)
        for first, second in asked:
            assert sorted(zip(first.tolist(), second.tolist(), strict=True)) == list(
                zip(first.tolist(), second.tolist(), strict=True)
            )
            with pytest.raises(ValueError, match="read-only"):
                first[0] = 0


def test_a_pair_that_went_away_is_asked_about_again():
    asked = []

    def ask(first, second):
        asked.append((int(first[0]), int(second[0])))
        return np.ones(len(first), bool)

    world = abut.World((0, 0, 0), filter=ask)
    a, b = world.add(shapes.Sphere(0.5)), world.add(shapes.Sphere(0.5), at(0.9))
    world.contacts()
    world.move(b, at(9))
    world.contacts()
    world.move(b, at(0.9))
    world.contacts()
    assert asked == [(a, b)] * 2
    world.remove(b)
    c = world.add(shapes.Sphere(0.5), at(0.9))
    world.contacts()
    assert asked[2:] == [(a, c)]


@pytest.mark.large
def test_a_filtered_world_goes_on_from_a_pickle_to_the_bit():
    world = crowd(np.random.default_rng(5), filter=odd_sums)
    world.ignore(world.handles[0], world.handles[1::2])
    run(world, 5)
    twin = pickle.loads(pickle.dumps(world))
    run(world, 10)
    run(twin, 10)
    assert np.array_equal(world.poses(), twin.poses())


@pytest.mark.parametrize("wrong", [3, "all", np.ones(3)])
def test_a_filter_that_is_none_is_refused(wrong):
    with pytest.raises(abut.InvalidInput, match="filter"):
        abut.World(filter=wrong)


@pytest.mark.parametrize("answer", [True, [1, 0], np.ones(9, bool), np.ones(1), "yes", None])
def test_an_answer_of_a_filter_that_is_none_is_refused(answer):
    world = abut.World(filter=lambda first, second: answer)
    world.add(shapes.Sphere(0.5))
    world.add(shapes.Sphere(0.5))
    with pytest.raises(abut.InvalidInput, match="filter"):
        world.step(0.01)
    world.filter = None
    assert len(world.contacts().pairs) == 1


@pytest.mark.large
def test_an_ignored_sleeper_falls_and_a_continuous_body_passes():
    world = abut.World()
    floor = world.add(shapes.Box((9, 9, 1)), at(0, 0, -0.5), kind="static")
    box = world.add(shapes.Box((1, 1, 1)), at(0, 0, 0.4975))
    bullet = world.add(shapes.Sphere(0.1), at(3, 0, 2), velocity=(0, 0, -300), continuous=True)
    world.ignore(floor, bullet)
    run(world, 1)
    assert world.poses(bullet)[0, 2, 3] < -2
    run(world, 60)
    assert world.asleep(box)[0]
    world.ignore(floor, [box])
    run(world, 30)
    assert world.poses(box)[0, 2, 3] == pytest.approx(0.4975 - 0.5 * 9.81 / 4, abs=0.01)


def test_a_body_does_not_ignore_itself_nor_one_that_is_gone():
    world = abut.World()
    a, b = world.add(shapes.Sphere(0.5)), world.add(shapes.Sphere(0.5))
    for wrong in ((a, a), ([a, b], [b, b]), (a, 77), ([a, b], [a, b, a])):
        with pytest.raises(abut.InvalidInput):
            world.ignore(*wrong)
    assert len(world.contacts().pairs) == 1


def test_position_and_rotation_put_a_body_where_its_pose_would():
    rng = np.random.default_rng(6)
    world = abut.World()
    for _ in range(20):
        axis, angle, place = rng.normal(size=3), rng.uniform(0, 3), rng.normal(size=3)
        turn = about(axis, angle)
        quaternion = np.concatenate(([np.cos(angle / 2)], np.sin(angle / 2) * axis / np.linalg.norm(axis)))
        shape = shapes.Box((1, 2, 3))
        bodies = [
            world.add(shape, at(*place, turn)),
            world.add(shape, position=place, rotation=quaternion),
            world.add(shape, position=place, rotation=turn),
            world.add(abut.Rigid(shape.surface(), pose=at(*place)), rotation=-quaternion),
        ]
        poses = world.poses(bodies)
        np.testing.assert_allclose(poses, np.broadcast_to(poses[0], poses.shape), atol=1e-14)


@pytest.mark.parametrize(
    "wrong",
    [
        {"pose": np.eye(4), "position": (0, 0, 0)},
        {"pose": np.eye(4), "rotation": (1, 0, 0, 0)},
        {"rotation": (0, 0, 0, 0)},
        {"rotation": (1, 1, 0, 0)},
        {"rotation": 2 * np.eye(3)},
        {"rotation": -np.eye(3)},
        {"rotation": (0, 0, 1)},
        {"position": (0, 0)},
        {"position": (0, 0, np.inf)},
        {"name": ""},
        {"name": 3},
        {"name": "a\nb"},
        {"name": "taken"},
    ],
)
def test_places_and_names_that_are_none_are_refused(wrong):
    world = abut.World()
    world.add(shapes.Sphere(0.5), name="taken")
    with pytest.raises(abut.InvalidInput):
        world.add(shapes.Sphere(0.5), **wrong)
    assert len(world) == len(world.names) == 1


def test_bodies_are_found_by_their_names():
    world = abut.World()
    bodies = {name: world.add(shapes.Sphere(0.5), name=name) for name in "abcdef"}
    assert {name: world.body(name) for name in bodies} == bodies == world.names
    assert repr(world) == "World(6 bodies, named a b c d and 2 more)"
    world.remove(bodies["a"])
    with pytest.raises(abut.InvalidInput, match="'a'"):
        world.body("a")
    again = world.add(shapes.Sphere(0.5), name="a")
    assert pickle.loads(pickle.dumps(world)).body("a") == again != bodies["a"]
    with pytest.raises(abut.InvalidInput, match="name"):
        world.body(3)
