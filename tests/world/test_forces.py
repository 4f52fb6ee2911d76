"""Forces, impulses, torques, damping and locks: what they add to momentum and angular momentum, against formulas, for all shapes.

The sums are those of `collisions.Books`, from public poses and velocities with masses and inertias of its own.
"""

import numpy as np
import pytest

import abut
from abut import dynamics, shapes
from abut.core import jit
from world.collisions import Books, about, at, run, some_shape, some_turn

CASES = 2 if jit.INTERPRETED else 30
SAME = 1e-12
"""Of the sum of the sizes of all that is added up."""


def some_world(rng, count=3, apart=50.0, **options):
    """Bodies of any shape that fly far from one another, and their books."""
    settings = {"substeps": int(rng.integers(1, 9)), "sweeps": int(rng.integers(1, 4))}
    world = abut.World((0, 0, 0), **settings)
    books = Books(world)
    for k in range(count):
        place = at(apart * k, *rng.normal(size=2), some_turn(rng))
        motion = {"velocity": rng.normal(size=3), "angular_velocity": rng.normal(size=3)}
        books.add(some_shape(rng, 1.0)[0], place, 10.0 ** rng.uniform(-2, 2), **motion, **options)
    return world, books


def centers_of(books):
    poses = books.world.poses(books.handles)
    return np.array([p[:3, :3] @ c + p[:3, 3] for p, c in zip(poses, books.center, strict=True)])


def test_an_impulse_changes_momentum_by_itself():
    rng = np.random.default_rng(1)
    for case in range(CASES):
        world, books = some_world(rng)
        before = books.sums()
        impulse, point = rng.normal(size=(2, 3, 3))
        point += centers_of(books)
        world.apply_impulse(books.handles, impulse, None if case % 3 == 0 else point)
        after = books.sums()
        where = centers_of(books) if case % 3 == 0 else point
        assert np.abs(after[0] - before[0] - impulse.sum(axis=0)).max() <= SAME * (after[3][0] + before[3][0])
        twist = np.cross(where, impulse).sum(axis=0)
        assert np.abs(after[1] - before[1] - twist).max() <= SAME * (after[3][1] + before[3][1] + 100.0)


def test_a_force_changes_momentum_by_itself_times_the_time_whatever_the_steps():
    """In free flight: the center of mass on its parabola, the spin with the moment that the force had at the beginning of each step."""
    rng = np.random.default_rng(2)
    for case in range(CASES):
        world, books = some_world(rng)
        force, torque, arm = rng.normal(size=(3, 3, 3))
        spins = [books.sums()]
        start, velocity = centers_of(books), world.velocities()
        lengths = rng.dirichlet(np.ones(rng.integers(1, 5)))
        for dt in lengths:
            world.apply_force(books.handles, force, arm + centers_of(books))
            world.apply_torque(books.handles, torque)
            world.step(dt)
        spins.append(books.sums())
        pull = force / np.array(books.mass)[:, np.newaxis]
        np.testing.assert_allclose(world.velocities(), velocity + pull, rtol=0, atol=SAME * np.abs(pull).max() * 10)
        np.testing.assert_allclose(
            centers_of(books), start + velocity + 0.5 * pull, rtol=0, atol=SAME * (200 + np.abs(pull).max())
        )
        twist = (np.cross(start + 0.5 * velocity + arm, force) + torque).sum(axis=0)
        size = spins[0][3][1] + spins[1][3][1] + 200.0
        assert np.abs(spins[1][1] - spins[0][1] - twist).max() <= 10 * SAME * size, (case, lengths)


@pytest.mark.parametrize("steps", [1, 3, 8])
def test_a_torque_turns_a_wheel_as_the_formula_says(steps):
    """½·τ/I·t² about a fixed axis, however the time is cut, damped or not."""
    moment, torque = 1.0 / 6.0, 0.4
    for rate in (0.0, 0.8):
        world = abut.World((0, 0, 0), substeps=2)
        wheel = world.add(shapes.Box((1, 1, 1)), mass=1.0, angular_damping=rate)
        for _ in range(steps):
            world.apply_torque(wheel, (0, 0, torque))
            world.step(0.9 / steps)
        fade = np.exp(-0.9 * rate)
        speed = torque / moment * ((1 - fade) / rate if rate else 0.9)
        angle = torque / moment * ((0.9 - (1 - fade) / rate) / rate if rate else 0.405)
        assert world.angular_velocities(wheel)[0, 2] == pytest.approx(speed, rel=1e-12)
        turn = world.poses(wheel)[0, :3, :3]
        assert np.arctan2(turn[1, 0], turn[0, 0]) == pytest.approx(angle, rel=1e-9)


def test_damping_is_exact_however_the_time_is_cut():
    """v = v₀·exp(−c·t) + a/c·(1 − exp(−c·t)) under a constant force and gravity, and its integral; angular momentum exp(−c·t)."""
    rng = np.random.default_rng(3)
    for _ in range(CASES):
        rates = 10.0 ** rng.uniform(-4, 1.5, 2)
        gravity, scale = rng.normal(size=3), rng.uniform(-2, 2)
        world = abut.World(gravity, substeps=int(rng.integers(1, 9)))
        books = Books(world)
        books.add(
            some_shape(rng, 1.0)[0],
            at(0, 0, 0, some_turn(rng)),
            2.0,
            velocity=rng.normal(size=3),
            angular_velocity=rng.normal(size=3),
            linear_damping=rates[0],
            angular_damping=rates[1],
            gravity_scale=scale,
        )
        start, velocity = centers_of(books)[0], world.velocities()[0]
        spin = books.sums()[1] - np.cross(start, 2.0 * velocity)
        force, total = rng.normal(size=3), rng.uniform(0.1, 2.0)
        for dt in total * rng.dirichlet(np.ones(rng.integers(1, 5))):
            world.apply_force(books.handles, force)
            world.step(dt)
        pull, left = force / 2.0 + scale * gravity, np.exp(-rates[0] * total)
        gone = -np.expm1(-rates[0] * total)
        speed = velocity * left + pull * gone / rates[0]
        path = velocity * gone / rates[0] + pull * (total - gone / rates[0]) / rates[0]
        now = centers_of(books)[0]
        np.testing.assert_allclose(world.velocities()[0], speed, rtol=0, atol=1e-12)
        np.testing.assert_allclose(now - start, path, rtol=0, atol=1e-8 if rates[0] < 1e-2 else 1e-11)
        turned = books.sums()[1] - np.cross(now, 2.0 * speed)
        np.testing.assert_allclose(turned, spin * np.exp(-rates[1] * total), rtol=0, atol=1e-11 * np.abs(spin).max())


def test_a_damped_body_falls_no_faster_than_its_last_speed():
    world = abut.World()
    ball = world.add(shapes.Sphere(0.5), linear_damping=15.0)
    run(world, 90)
    assert world.velocities(ball)[0, 2] == pytest.approx(-9.81 / 15.0, rel=1e-9)


def test_gravity_of_a_part_and_upwards():
    world = abut.World()
    poses = np.stack([at(5 * k) for k in range(3)])
    balls = [
        world.add(shapes.Sphere(0.5), pose, gravity_scale=s) for pose, s in zip(poses, (0.0, 0.5, -1.0), strict=True)
    ]
    run(world, 60)
    np.testing.assert_allclose(world.poses(balls)[:, 2, 3], [0.0, -0.25 * 9.81, 0.5 * 9.81], rtol=1e-12, atol=1e-15)


def test_a_force_is_gone_after_one_step_and_a_refused_step_keeps_it():
    world = abut.World((0, 0, 0))
    ball = world.add(shapes.Sphere(0.5), mass=2.0)
    world.apply_force(ball, (1, 0, 0))
    world.apply_force([ball], [(0, 1, 0)], world.poses(ball)[:, :3, 3])
    for wrong in (0.0, 1e60):
        with pytest.raises(abut.InvalidInput, match="dt"):
            world.step(wrong)
    world.step(0.5)
    world.step(0.5)
    np.testing.assert_allclose(world.velocities(ball), [[0.25, 0.25, 0.0]], rtol=1e-14)
    assert not world.angular_velocities(ball).any()


def test_what_nothing_moves_takes_no_force():
    world = abut.World()
    floor = world.add(shapes.Box((4, 4, 1)), kind="static")
    lift = world.add(shapes.Box((1, 1, 1)), at(0, 0, 5), kind="kinematic", velocity=(0, 0, 1))
    ball = world.add(shapes.Sphere(0.5), at(0, 0, 9))
    gone = world.add(shapes.Sphere(0.5), at(0, 9))
    world.remove(gone)
    rope = world.link(dynamics.rope((9, 0, 3), (9, 1, 3), 3, radius=0.05))
    before = world.velocities()
    for name in ("apply_force", "apply_impulse", "apply_torque"):
        for wrong in (floor, [ball, lift], gone, rope[0], [ball, ball]):
            with pytest.raises(abut.InvalidInput, match="handles"):
                getattr(world, name)(wrong, (1.0, 0.0, 0.0))
        with pytest.raises(abut.InvalidInput):
            getattr(world, name)(ball, (np.nan, 0.0, 0.0))
    with pytest.raises(abut.InvalidInput, match="faster"):
        world.apply_impulse([ball], (1e74, 0, 0), (0, 1e20, 0))
    assert np.array_equal(world.velocities(), before)
    assert not world._store.force.any()
    assert not world._store.torque.any()


@pytest.mark.large
@pytest.mark.parametrize("push", ["apply_force", "apply_impulse", "apply_torque"])
def test_a_push_wakes_a_sleeper_and_its_island(push):
    world = abut.World()
    world.add(shapes.Box((40, 40, 1)), at(0, 0, -0.5), kind="static")
    boxes = world.add_many(shapes.Box((1, 1, 1)), np.stack([at(0, 0, 0.4975), at(0, 0, 1.4925)]), mass=1.0)
    run(world, 60)
    assert world.asleep(boxes).all()
    getattr(world, push)(boxes[1], (0.0, 0.0, 5.0))
    assert not world.asleep(boxes).any()
    world.step(1 / 60)
    assert world.angular_velocities(boxes[1]).any() if push == "apply_torque" else world.velocities(boxes[1]).any()


LOCKS = {
    "": (),
    "z rxy": (2, 3, 4),
    "xy": (0, 1),
    "rotation": (3, 4, 5),
    "rz": (5,),
    "xyz": (0, 1, 2),
    "x ryz": (0, 4, 5),
}


@pytest.mark.large
def test_locked_axes_stand_still_and_the_others_keep_their_momentum():
    """Random collisions of two bodies with locks in common: no motion along them, the sum of momentum along all others, no energy from nowhere."""
    rng = np.random.default_rng(4)
    hits = 0
    for case in range(CASES):
        name = list(LOCKS)[case % len(LOCKS)]
        held = np.zeros(6, bool)
        held[list(LOCKS[name])] = True
        world = abut.World((0, 0, 0), sleeping=False, substeps=int(rng.integers(1, 9)))
        books = Books(world)
        for side in (-1, 1):
            speed, spin = np.where(held, 0.0, np.concatenate(((-3.0 * side, 0, 0), rng.normal(size=3)))).reshape(2, 3)
            place = at(1.2 * side, *rng.uniform(-0.2, 0.2, 2), some_turn(rng))
            books.add(
                shapes.Box(rng.uniform(0.5, 1.2, 3)),
                place,
                rng.uniform(0.5, 5.0),
                velocity=speed,
                angular_velocity=spin,
                locked=name,
                restitution=rng.choice([0.0, 0.5]),
                rolling=0.0,
            )
        before, centers = books.sums(), centers_of(books)
        start = world.velocities()
        for _ in range(30):
            energy = books.sums()[2]
            world.step(1 / 60)
            # What is locked has no last resort against energy from nowhere (`energy_limit`); bearings keep it to second order.
            assert books.sums()[2] <= energy * (1.001 if held.any() else 1 + 1e-9)
        motion = np.concatenate((world.velocities(), world.angular_velocities()), axis=1)
        assert (motion[:, held] == 0.0).all(), name
        assert centers_of(books)[:, held[:3]] == pytest.approx(centers[:, held[:3]], abs=1e-12), name
        gained = np.abs(books.sums()[0] - before[0])[~held[:3]]
        assert (gained <= 1e-9 * before[3][0]).all()
        hits += not np.allclose(world.velocities(), start)
    assert jit.INTERPRETED or hits > CASES / 2


def test_a_door_turns_about_its_hinge_as_its_moment_says():
    """An impulse at a point of a body that turns about z alone: (r × J)·z over the moment about z, whatever its other moments."""
    rng = np.random.default_rng(5)
    for _ in range(CASES):
        world = abut.World((0, 0, 0), substeps=2)
        books = Books(world)
        turn = some_turn(rng)
        books.add(shapes.Box((1, 2, 0.3)), at(0, 0, 0, turn), 3.0, locked="xyz rxy")
        arm, impulse = rng.normal(size=(2, 3))
        world.apply_impulse(books.handles, impulse, arm)
        spin = np.cross(arm, impulse)[2] / (turn @ books.inertia[0] @ turn.T)[2, 2]
        np.testing.assert_allclose(world.angular_velocities()[0], [0, 0, spin], rtol=1e-10, atol=1e-14)
        run(world, 3)
        np.testing.assert_allclose(world.angular_velocities()[0], [0, 0, spin], rtol=1e-10, atol=1e-14)
        np.testing.assert_allclose(world.poses()[0, :3, :3], about((0, 0, 1), spin * 3 / 60) @ turn, atol=1e-9)
        assert not world.velocities().any()


@pytest.mark.large
def test_a_box_that_may_not_turn_is_pushed_over_a_floor_upright():
    world = abut.World()
    world.add(shapes.Box((100, 100, 1)), at(0, 0, -0.5), kind="static")
    box = world.add(shapes.Box((0.2, 0.2, 2)), at(0, 0, 0.9975), mass=1.0, locked="rotation")
    for _ in range(60):
        world.apply_force(box, (8.0, 0, 0), world.poses(box)[0, :3, 3] + (0, 0, 0.9))
        world.step(1 / 60)
    assert np.array_equal(world.poses(box)[0, :3, :3], np.eye(3))
    assert world.velocities(box)[0, 0] == pytest.approx(8.0 - 0.5 * 9.81, rel=0.01)


@pytest.mark.parametrize("wrong", ["q", "rotations", "r", "zr", 3, None, "x,y"])
def test_locks_that_are_none_are_refused(wrong):
    world = abut.World()
    with pytest.raises(abut.InvalidInput, match="locked"):
        world.add(shapes.Sphere(0.5), locked=wrong)
    assert len(world) == 0


def test_velocities_along_locked_axes_are_refused():
    world = abut.World()
    with pytest.raises(abut.InvalidInput, match="velocity"):
        world.add(shapes.Sphere(0.5), locked="z", velocity=(0, 0, 1))
    ball = world.add(shapes.Sphere(0.5), locked="z rotation")
    with pytest.raises(abut.InvalidInput, match="angular_velocity"):
        world.move(ball, at(1), angular_velocity=(0, 1, 0))
    assert world.poses(ball)[0, 0, 3] == 0.0
