"""Laws of joints of all kinds, drawn at random: momentum, no energy from nowhere, the same motion however it is written down."""

import numpy as np
import pytest

import abut
from abut import dynamics, joints, shapes
from abut.core import jit
from conftest import SOAK
from world.collisions import Books, at, some_shape, some_turn

CASES = 1000 if SOAK else 2 if jit.INTERPRETED else 25
SAME = 1e-9
FREEDOMS = {
    "free": joints.FREE,
    "limited": joints.Freedom(-0.1, 0.1),
    "sprung": joints.Freedom(stiffness=40.0, damping=0.5),
    "driven": joints.Freedom(speed=1.0, motor_force=5.0),
    "rubbing": joints.Freedom(friction=1.0),
    "all": joints.Freedom(-0.2, 0.2, stiffness=30.0, friction=0.1, speed=-1.0, motor_force=2.0, spring_force=3.0),
}
PASSIVE = ("free", "limited", "rubbing")


def some_joint(rng, a, b, passive=False):
    point, other, axis = rng.normal(size=(3, 3))
    freedom = FREEDOMS[str(rng.choice(PASSIVE if passive else list(FREEDOMS)))]
    kind = rng.integers(7 if passive else 8)
    if kind == 0:
        return joints.fixed(a, b, point)
    if kind == 1:
        return joints.ball(a, b, point, axis, cone=joints.Freedom(high=0.3), twist=freedom)
    if kind == 2:
        return joints.hinge(a, b, point, axis, turn=freedom)
    if kind == 3:
        return joints.slider(a, b, point, axis, slide=freedom)
    if kind == 4:
        return joints.distance(a, b, point, other)
    if kind == 5:
        # Not just taut: whether a rope pulls would be decided by rounding.
        return joints.distance(
            a, b, point, other, least=0.0, most=rng.uniform(0.9, 1.2) * np.linalg.norm(other - point)
        )
    if kind == 6:
        frame = at(*point, some_turn(rng))
        names = ("x", "twist", "swing_y")
        return joints.six_degree(a, b, frame, **{name: freedom for name in names if rng.random() < 0.6})
    return joints.spring(a, b, point, other, stiffness=10.0 ** rng.uniform(0, 4), damping=rng.uniform(0, 5))


class Tree:
    """Some bodies without gravity, joined to each other, now and then in a ring; `place` moves and turns all of it."""

    def __init__(self, rng, place=None, swap=False, passive=False, mask=2**62 - 1):
        place = np.eye(4) if place is None else place
        turn = place[:3, :3]
        self.world = abut.World((0, 0, 0), substeps=int(rng.integers(1, 9)), sweeps=int(rng.integers(1, 4)))
        self.books, count = Books(self.world), int(rng.integers(2, 6))
        for _ in range(count):
            shape, _ = some_shape(rng, 1.0)
            pose, velocity, spin = at(*(1.5 * rng.normal(size=3)), some_turn(rng)), *rng.normal(size=(2, 3))
            options = {"velocity": turn @ velocity, "angular_velocity": turn @ spin, "mask": mask}
            self.books.add(shape, place @ pose, 10.0 ** rng.uniform(-2, 2), **options)
        handles = self.books.handles
        pairs = [(handles[int(rng.integers(k))], handles[k]) for k in range(1, count)]
        if count > 2 and rng.random() < 0.3:
            pairs.append((handles[0], handles[-1]))
        for a, b in pairs:
            joint = some_joint(rng, a, b, passive)
            points = [turn @ p + place[:3, 3] for p in (joint.point_a, joint.point_b)]
            values = {**vars(joint), "point_a": points[0], "point_b": points[1], "axes": turn @ joint.axes}
            if swap:
                values |= {"a": b, "b": a, "point_a": points[1], "point_b": points[0]}
            self.world.join(joints.Joint(**values))


@pytest.mark.large
def test_joints_of_all_kinds_keep_momentum():
    for case in range(CASES):
        rng = np.random.default_rng((31, case))
        tree = Tree(rng)
        start = tree.books.sums()
        sizes = start[3]
        for _ in range(20):
            tree.world.step(10.0 ** rng.uniform(-3, -1.5))
            now = tree.books.sums()
            sizes = np.maximum(sizes, now[3])
            assert np.linalg.norm(now[0] - start[0]) <= SAME * sizes[0], case
            assert np.linalg.norm(now[1] - start[1]) <= SAME * sizes[1], case
        tree.world.validate()


@pytest.mark.large
def test_joints_that_only_hold_make_no_energy():
    """What sways by the order of a step is allowed: an energy that is 2 % more than at the start."""
    for case in range(CASES):
        rng = np.random.default_rng((32, case))
        tree = Tree(rng, passive=True, mask=0)
        start = tree.books.sums()[2]
        for _ in range(40):
            tree.world.step(1 / 240)
        assert tree.books.sums()[2] <= 1.02 * start, case


@pytest.mark.large
def test_a_world_that_is_moved_and_turned_moves_the_same_way():
    for case in range(CASES // 2):
        place = at(1.0, -2.0, 0.5, some_turn(np.random.default_rng(case)))
        one, two = (Tree(np.random.default_rng((33, case)), p, mask=0) for p in (None, place))
        for _ in range(8):
            one.world.step(1 / 120)
            two.world.step(1 / 120)
        np.testing.assert_allclose(place @ one.world.poses(), two.world.poses(), atol=1e-7, err_msg=str(case))


@pytest.mark.large
def test_it_does_not_matter_which_body_is_a():
    """For kinds without a sign of their own."""
    for case in range(CASES):
        trees = [Tree(np.random.default_rng((34, case)), swap=swap, mask=0) for swap in (False, True)]
        kinds = {spec.kind for spec in trees[0].world._joints.specs}
        if not kinds <= {"fixed", "distance", "spring"}:
            continue
        for _ in range(8):
            for tree in trees:
                tree.world.step(1 / 240)
        np.testing.assert_allclose(trees[0].world.poses(), trees[1].world.poses(), atol=1e-5, err_msg=str(case))


@pytest.mark.large
def test_ropes_of_particles_between_bodies_keep_momentum():
    """Held at bones or at balls, by points or at a distance, either side first."""
    for case in range(8):
        rng = np.random.default_rng((35, case))
        world = abut.World((0, 0, 0))
        rope = dynamics.rope((0, 0, 0), (1, 0.2, 0), 6, radius=0.01, mass=0.05)
        rope.velocity = rng.normal(size=(6, 3))
        parts = world.link(rope, 0.02 if case % 2 else None, layer=2, mask=2)
        books = Books(world)
        for k, end in ((0, rope.position[0]), (-1, rope.position[-1])):
            place = at(*(end + rng.uniform(-0.2, 0.2, 3)), some_turn(rng))
            motion = {"velocity": rng.normal(size=3), "angular_velocity": rng.normal(size=3)}
            box = books.add(shapes.Box(rng.uniform(0.1, 0.5, 3)), place, 10.0 ** rng.uniform(-1, 2), **motion)
            pair = (int(parts[k]), box) if rng.random() < 0.5 else (box, int(parts[k]))
            far = end + 0.1 * rng.normal(size=3)
            hung = (
                joints.ball(*pair, end)
                if rng.random() < 0.6
                else joints.distance(*pair, *((end, far) if pair[1] == box else (far, end)))
            )
            world.join(hung)

        def sums(books=books, rope=rope):
            momentum, angular, _, sizes = books.sums()
            own = 0.05 * rope.velocity
            turning = np.cross(rope.position, own)
            both = sizes + np.linalg.norm((own, turning), axis=2).sum(axis=1)
            return momentum + own.sum(axis=0), angular + turning.sum(axis=0), both

        start = sums()
        for _ in range(20):
            world.step(1 / 120)
            now = sums()
            for k in (0, 1):
                assert np.linalg.norm(now[k] - start[k]) <= SAME * max(start[2][k], now[2][k]), (case, k)
