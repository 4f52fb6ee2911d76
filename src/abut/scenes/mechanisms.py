"""Worlds of joints: a hanging bridge, rag dolls, Newton's cradle, a robot arm with motors."""

import math
from itertools import pairwise

import numpy as np

from abut import joints
from abut.core import arrays
from abut.core.arrays import Floats
from abut.scenes.structures import add_floor, make_scene, rows_of, turn_about
from abut.scenes.world_scene import GRAVITY, STEP, Group, String, WorldScene, place
from abut.shapes import Box, Capsule, Cylinder, Sphere
from abut.world import World

ORIGIN = np.zeros(3)


def _hang(count: int, span: float, top: float, length: float) -> Floats:
    """The (count+1,3) joints of a bridge that hangs on a parabola, whose sag is sought by halving until its chords are as long as is said."""
    share = np.linspace(-1, 1, count + 1)
    low, high, nodes = 0.0, span, np.empty((0, 3))
    for _ in range(60):
        sag = 0.5 * (low + high)
        nodes = np.stack((0.5 * span * share, 0 * share, top - sag * (1 - share**2)), axis=1)
        total = float(np.linalg.norm(np.diff(nodes, axis=0), axis=1).sum())
        low, high = (sag, high) if total < length else (low, sag)
    return nodes


def chain_bridge(planks: int = 24) -> WorldScene:
    """A bridge of planks on hinges between two towers, and crates that fall on it.

    Args:
        planks: 3 to 200.

    Returns:
        The scene: ground, towers, planks, crates.

    Examples:
        >>> from abut import scenes
        >>> scenes.chain_bridge(6)
        WorldScene(16 bodies, 0 linkages, 360 steps of 0.0167 s)
    """
    number = arrays.count(planks, "planks", least=3, most=200)
    world = World(GRAVITY)
    ground = add_floor(world)
    length, width, thick, top = 0.5, 1.6, 0.1, 3.0
    span = 0.92 * number * length
    nodes = _hang(number, span, top, number * length)
    tower = Box((0.6, 2.2, top + 0.05))
    towers = [world.add(tower, place(s * (0.5 * span + 0.3), 0, 0.5 * (top + 0.05)), kind="static") for s in (-1, 1)]
    handles: list[int] = []
    for a, b in pairwise(nodes):
        along = b - a
        x, y, z = (0.5 * (a + b)).tolist()
        pose = place(x, y, z, turn_about("y", -math.atan2(along[2], along[0])))
        shape = Box((float(np.linalg.norm(along)) - 0.04, width, thick))
        handles.append(world.add(shape, pose, density=1.5, friction=0.7, angular_damping=0.2))
    chain = [None, *handles, None]
    for (a, b), node in zip(pairwise(chain), nodes, strict=True):
        world.join(joints.hinge(a, b, node, (0, 1, 0), turn=joints.Freedom(friction=0.2)))
    rng = np.random.default_rng(4)
    crates: list[int] = []
    for k in range(7):
        x = 0.5 * span * rng.uniform(-0.5, 0.5)
        pose = place(x, rng.uniform(-0.3, 0.3), top + 0.8 + 0.7 * k, turn_about("z", rng.uniform(0, 1.5)))
        crates.append(world.add(Box((0.5, 0.5, 0.5)), pose, density=0.8, friction=0.7))
    groups = (
        Group("towers", rows_of(towers), "stone"),
        Group("planks", rows_of(handles), "wood"),
        Group("crates", rows_of(crates), "red"),
    )
    return make_scene(world, (ground, *groups), 360, (0.4, -0.85, 0.3))


def _doll(world: World, at: Floats, number: int) -> tuple[list[int], list[int]]:
    """A rag doll 1.7 high that stands at a point; its head and limbs, and its trunk."""

    def part(shape: Capsule | Sphere | Box, x: float, z: float) -> int:
        return world.add(shape, place(at[0] + x, at[1], at[2] + z), friction=0.6, angular_damping=0.3)

    def bend(a: int, b: int, x: float, z: float, low: float, high: float) -> None:
        turn = joints.Freedom(low, high, friction=0.4)
        world.join(joints.hinge(a, b, (at[0] + x, at[1], at[2] + z), (1, 0, 0), turn=turn))

    def hang(a: int, b: int, x: float, z: float, axis: tuple[float, float, float], cone: float) -> None:
        point = (at[0] + x, at[1], at[2] + z)
        limit = joints.Freedom(0.0, cone)
        twist = joints.Freedom(-0.6, 0.6, friction=0.3)
        world.join(joints.ball(a, b, point, axis, cone=limit, twist=twist))

    chest, hips = part(Box((0.38, 0.22, 0.36)), 0, 1.25), part(Box((0.32, 0.2, 0.2)), 0, 0.94)
    head = part(Sphere(0.13), 0, 1.6)
    hang(chest, hips, 0, 1.05, (0, 0, -1), 0.5)
    hang(chest, head, 0, 1.45, (0, 0, 1), 0.6)
    limbs = [head]
    for side in (-1, 1):
        upper, fore = part(Capsule(0.055, 0.2), 0.26 * side, 1.24), part(Capsule(0.045, 0.2), 0.26 * side, 0.93)
        thigh, shin = part(Capsule(0.08, 0.26), 0.1 * side, 0.62), part(Capsule(0.06, 0.3), 0.1 * side, 0.22)
        hang(chest, upper, 0.26 * side, 1.38, (0, 0, -1), 1.5)
        bend(upper, fore, 0.26 * side, 1.09, -0.1, 2.2)
        hang(hips, thigh, 0.1 * side, 0.82, (0, 0, -1), 1.0)
        bend(thigh, shin, 0.1 * side, 0.42, -2.2, 0.1)
        limbs += [upper, fore, thigh, shin]
    push = np.array((0.2 * (number % 3 - 1), 0.9, 0.0))
    for handle in (*limbs, chest, hips):
        pose = world.poses(handle)[0]
        world.move(handle, pose, velocity=push)
    return limbs, [chest, hips]


def rag_dolls(count: int = 6) -> WorldScene:
    """Rag dolls of eleven bodies on ball joints and hinges, which fall down a stack of slabs.

    Args:
        count: how many, at most 100.

    Returns:
        The scene: ground, slabs, limbs, trunks.

    Examples:
        >>> from abut import scenes
        >>> scenes.rag_dolls(1)
        WorldScene(18 bodies, 0 linkages, 360 steps of 0.0167 s)
    """
    number = arrays.count(count, "count", least=1, most=100)
    world = World(GRAVITY)
    ground = add_floor(world)
    slabs: list[int] = []
    for k in range(6):
        high = 0.35 * (6 - k)
        slabs.append(world.add(Box((4.0, 0.7, high)), place(0, 0.7 * k, 0.5 * high), kind="static", friction=0.4))
    limbs, trunks = list[int](), list[int]()
    for k in range(number):
        row, column = divmod(k, 3)
        at = np.array([1.2 * (column - 1), 0.1 * (k % 2), 2.6 + 2.2 * row])
        more, trunk = _doll(world, at, k)
        limbs += more
        trunks += trunk
    groups = (
        Group("slabs", rows_of(slabs), "stone"),
        Group("limbs", rows_of(limbs), "orange"),
        Group("trunks", rows_of(trunks), "blue"),
    )
    return make_scene(world, (ground, *groups), 360, (0.85, 0.55, 0.4))


def newtons_cradle(balls: int = 5, lifted: int = 1) -> WorldScene:
    """Balls that hang side by side, each on two strings; those that are lifted swing into the others.

    Args:
        balls: how many, 2 to 20.
        lifted: of them, from the left; fewer than all.

    Returns:
        The scene: frame, balls from the left to the right.

    Examples:
        >>> from abut import scenes
        >>> scenes.newtons_cradle()
        WorldScene(9 bodies, 0 linkages, 960 steps of 0.00833 s)
    """
    number = arrays.count(balls, "balls", least=2, most=20)
    up = arrays.count(lifted, "lifted", least=1, most=number - 1)
    radius, length, apart = 0.15, 1.2, 0.5
    world = World(GRAVITY, slop=0.0002, sleeping=False)
    top, swing = length + 2 * radius + 0.1, math.radians(40)
    handles: list[int] = []
    strings: list[String] = []
    for k in range(number):
        x = (2 * radius + 0.0001) * (k - 0.5 * (number - 1))
        angle = swing if k < up else 0.0
        middle = np.array([x - length * math.sin(angle), 0.0, top - length * math.cos(angle)])
        ball = world.add(Sphere(radius), place(*middle), density=8.0, restitution=1.0, friction=0.0, rolling=0.0)
        handles.append(ball)
        for side in (-1, 1):
            peg = np.array([x, side * apart, top])
            world.join(joints.distance(None, ball, peg, middle))
            strings.append(String(-1, peg, ball, ORIGIN, 0.008))
    reach = radius * number + 0.25
    bars = [world.add(Box((2 * reach, 0.05, 0.05)), place(0, s * apart, top + 0.02), kind="static") for s in (-1, 1)]
    bars += [
        world.add(Box((0.05, 2 * apart + 0.05, 0.05)), place(s * reach, 0, top + 0.02), kind="static") for s in (-1, 1)
    ]
    groups = (Group("frame", rows_of(bars), "ink"), Group("balls", rows_of(handles), "grey"))
    return make_scene(world, groups, 960, (0.45, -0.85, 0.22), STEP / 2)._replace(strings=tuple(strings))


def robot_arm(boxes: int = 12) -> WorldScene:
    """A robot arm with four motors that turns, bends down, and sweeps a stack of boxes off its table.

    Args:
        boxes: of the stack, at most 60.

    Returns:
        The scene, whose `drive` moves the arm: ground, table, arm, boxes.

    Examples:
        >>> from abut import scenes
        >>> scenes.robot_arm(3)
        WorldScene(10 bodies, 0 linkages, 480 steps of 0.0167 s)
    """
    number = arrays.count(boxes, "boxes", most=60)
    world = World(GRAVITY)
    ground = add_floor(world)
    base = world.add(Cylinder(0.35, 0.3, sides=32), place(0, 0, 0.15), kind="static")
    turret = world.add(Cylinder(0.28, 0.3, sides=32), place(0, 0, 0.46), density=3.0)
    upper = world.add(Box((0.22, 0.22, 1.1)), place(0, 0, 1.1), density=1.0)
    fore = world.add(Box((0.16, 0.16, 1.0)), place(0, 0, 2.1), density=0.8)
    hand = world.add(Box((0.5, 0.1, 0.3)), place(0, 0, 2.72), density=0.6, friction=0.8)
    stiff = (6000.0, 9000.0, 5000.0, 1200.0)

    def seek(rest: float, k: int) -> joints.Freedom:
        return joints.Freedom(stiffness=stiff[k], damping=0.12 * stiff[k], rest=rest, spring_force=4 * stiff[k])

    motors = [
        world.join(joints.hinge(base, turret, (0, 0, 0.31), (0, 0, 1), turn=seek(0.0, 0))),
        world.join(joints.hinge(turret, upper, (0, 0, 0.6), (0, 1, 0), turn=seek(0.0, 1))),
        world.join(joints.hinge(upper, fore, (0, 0, 1.62), (0, 1, 0), turn=seek(0.0, 2))),
        world.join(joints.hinge(fore, hand, (0, 0, 2.58), (0, 1, 0), turn=seek(0.0, 3))),
    ]
    table = world.add(Box((1.2, 1.6, 0.4)), place(1.5, 0, 0.2), kind="static", friction=0.5)
    stack: list[int] = []
    for k in range(number):
        layer, spot = divmod(k, 4)
        x, y = 1.35 + 0.3 * (spot % 2), 0.3 * (spot // 2) - 0.15
        stack.append(world.add(Box((0.28, 0.28, 0.28)), place(x, y, 0.54 + 0.28 * layer), density=0.5))
    # Times and angles of the four motors; between them the arm goes evenly and softly.
    times = np.array([0.0, 0.6, 1.8, 2.8, 4.2, 5.2, 6.4, 8.0])
    turns = np.array(
        [
            [0.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 0.0],
            [-1.1, 0.3, 1.1, 0.3],
            [-1.0, 0.85, 1.15, 1.0],
            [1.0, 0.85, 1.15, 1.0],
            [1.0, 0.3, 1.1, 0.3],
            [0.0, 0.0, 0.6, 0.3],
            [0.0, 0.0, 0.0, 0.0],
        ]
    )

    def drive(world: World, time: float) -> None:
        k = int(np.clip(np.searchsorted(times, time, side="right") - 1, 0, len(times) - 2))
        part = float(np.clip((time - times[k]) / (times[k + 1] - times[k]), 0.0, 1.0))
        part = part * part * (3 - 2 * part)
        for motor, rest in enumerate(((1 - part) * turns[k] + part * turns[k + 1]).tolist()):
            world.set_joint(motors[motor], seek(rest, motor))

    groups = [
        ground,
        Group("table", rows_of([table]), "stone"),
        Group("arm", rows_of([base, turret, upper, fore, hand]), "orange"),
    ]
    if stack:
        groups.append(Group("boxes", rows_of(stack), "blue"))
    return make_scene(world, tuple(groups), 480, (0.7, -0.75, 0.4))._replace(drive=drive)
