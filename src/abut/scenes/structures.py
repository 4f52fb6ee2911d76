"""Worlds of loose stones: a wall, a pyramid, an arch, dominoes, a house of cards. They stand, or fall, by friction and contact alone."""

import math
from itertools import pairwise

import numpy as np

from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.scenes.world_scene import GRAVITY, STEP, Group, WorldScene, place
from abut.shapes import Box, Polytope, Sphere
from abut.world import World

MOST_ROWS = 60
BRICK = (0.4, 0.2, 0.2)
DOMINO = (0.12, 0.5, 1.0)
CARD_HEIGHT, CARD_WIDTH, CARD_THICKNESS = 1.0, 0.7, 0.02
LEAN = math.radians(20)
GROUND = "ground"


def add_floor(world: World, size: float = 60.0, friction: float = 0.6) -> Group:
    """A static ground whose top is at z = 0."""
    return Group(
        GROUND, rows_of([world.add(Box((size, size, 1)), place(0, 0, -0.5), kind="static", friction=friction)]), "grey"
    )


def rows_of(handles: list[int]) -> Integers:
    """(k,) of handles."""
    return frozen(np.array(handles, dtype=np.int64))


def make_scene(
    world: World, groups: tuple[Group, ...], steps: int, view: tuple[float, float, float], dt: float = STEP
) -> WorldScene:
    """A scene whose bodies are those of its groups."""
    return WorldScene(
        world, frozen(np.concatenate([group.handles for group in groups])), (), dt, steps, groups, view=view
    )


def turn_about(axis: str, angle: float) -> Floats:
    """(3,3) the rotation about x, y or z."""
    c, s = math.cos(angle), math.sin(angle)
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    turned = np.eye(3)
    turned[[i, i, j, j], [i, j, i, j]] = c, -s, s, c
    return turned


def wall(rows: int = 12, *, ball: bool = True) -> WorldScene:
    """A wall of bricks in running bond, and a heavy ball that flies at it.

    Args:
        rows: of bricks, at most 60; it is as long as three rows are high, twice over.
        ball: whether there is a ball; without, it stands.

    Returns:
        The scene: ground, bricks, ball.

    Examples:
        >>> from abut import scenes
        >>> scenes.wall(4)
        WorldScene(28 bodies, 0 linkages, 240 steps of 0.0167 s)
    """
    number = arrays.count(rows, "rows", least=1, most=MOST_ROWS)
    world = World(GRAVITY)
    ground = add_floor(world)
    length, _, height = BRICK
    columns = max(3, round(1.5 * number))
    bricks: list[int] = []
    half = Box((0.5 * length - 0.002, *BRICK[1:]))
    whole = Box((length - 0.002, *BRICK[1:]))
    for row in range(number):
        z, left = (row + 0.5) * height, -0.5 * columns * length
        if row % 2 == 0:
            spots = [(whole, left + (k + 0.5) * length) for k in range(columns)]
        else:
            spots = [(half, left + 0.25 * length), (half, -left - 0.25 * length)]
            spots += [(whole, left + (k + 1.0) * length) for k in range(columns - 1)]
        bricks += [world.add(shape, place(x, 0, z), density=2.0, friction=0.6) for shape, x in spots]
    groups = [ground, Group("bricks", rows_of(bricks), "brick")]
    if arrays.flag(ball, "ball"):
        size, away = 0.15 * number * height + 0.1, 6.0
        pose = place(0.1, -away, max(size + 0.05, 0.5 * number * height))
        shot = world.add(Sphere(size), pose, density=4.0, velocity=(0, 14.0, 2.0))
        groups.append(Group("ball", rows_of([shot]), "ink"))
    return make_scene(world, tuple(groups), 240, (0.75, -0.8, 0.35))


def pyramid(rows: int = 12) -> WorldScene:
    """A pyramid of boxes in one plane, each on two, which stands.

    Args:
        rows: from one box at the top to as many at the bottom, at most 60.

    Returns:
        The scene: ground, boxes.

    Examples:
        >>> from abut import scenes
        >>> scenes.pyramid(4)
        WorldScene(11 bodies, 0 linkages, 180 steps of 0.0167 s)
    """
    number = arrays.count(rows, "rows", least=1, most=MOST_ROWS)
    world = World(GRAVITY)
    ground = add_floor(world)
    box, boxes = Box((0.5, 0.5, 0.5)), list[int]()
    for row in range(number):
        for k in range(number - row):
            boxes.append(world.add(box, place(0.55 * (k - 0.5 * (number - row - 1)), 0, 0.25 + 0.5 * row)))
    return make_scene(world, (ground, Group("boxes", rows_of(boxes), "wood")), 180, (0.35, -0.9, 0.25))


def dominoes(count: int = 80) -> WorldScene:
    """Dominoes along a spiral; the first one is pushed.

    Args:
        count: how many, 2 to 1000.

    Returns:
        The scene: ground, dominoes in the order in which they fall.

    Examples:
        >>> from abut import scenes
        >>> scenes.dominoes(10)
        WorldScene(11 bodies, 0 linkages, 152 steps of 0.0167 s)
    """
    number = arrays.count(count, "count", least=2, most=1000)
    world = World(GRAVITY)
    ground = add_floor(world, 200.0)
    shape, spacing, pitch = Box(DOMINO), 0.5, 1.3
    angle, handles = 2.5 * math.pi, list[int]()
    for k in range(number):
        radius = pitch * angle / (2 * math.pi)
        pose = place(
            radius * math.cos(angle), radius * math.sin(angle), 0.5 * DOMINO[2], turn_about("z", angle + 0.5 * math.pi)
        )
        along = pose[:3, 0]
        push = 1.5 if k == 0 else 0.0
        spin = push * np.cross((0, 0, 1), along)
        handles.append(world.add(shape, pose, velocity=0.5 * push * along, angular_velocity=spin, friction=0.4))
        angle += spacing / math.hypot(radius, pitch / (2 * math.pi))
    thirds = np.array_split(rows_of(handles), 3)
    colours = ("red", "yellow", "teal")
    parts = (
        Group(f"dominoes {i + 1}", part, colour) for i, (part, colour) in enumerate(zip(thirds, colours, strict=True))
    )
    return make_scene(world, (ground, *parts), 60 + 92 * number // 10, (0.5, -0.6, 0.75))


def card_house(stories: int = 3) -> WorldScene:
    """A house of cards: pairs that lean on each other, flat ones across them, and so on.

    Args:
        stories: of it, at most 8.

    Returns:
        The scene: ground, cards that lean, cards that lie.

    Examples:
        >>> from abut import scenes
        >>> scenes.card_house(2)
        WorldScene(8 bodies, 0 linkages, 300 steps of 0.00833 s)
    """
    number = arrays.count(stories, "stories", least=1, most=8)
    world = World(GRAVITY, slop=0.0005)
    ground = add_floor(world)
    half, thick = 0.5 * CARD_HEIGHT, 0.5 * CARD_THICKNESS
    sine, cosine = math.sin(LEAN), math.cos(LEAN)
    width, height = half * sine + thick * cosine, 2 * (half * cosine + thick * sine)
    spacing = 4 * width + 0.004
    leaning, lying = list[int](), list[int]()
    card, flat = Box((CARD_THICKNESS, CARD_WIDTH, CARD_HEIGHT)), Box((spacing - 0.004, CARD_WIDTH, CARD_THICKNESS))
    for story in range(number):
        pairs, bottom = number - story, story * (height + CARD_THICKNESS)
        for k in range(pairs):
            x = spacing * (k - 0.5 * (pairs - 1))
            for sign in (-1, 1):
                pose = place(x + sign * width, 0, bottom + 0.5 * height, turn_about("y", -sign * LEAN))
                leaning.append(world.add(card, pose, density=0.5, friction=0.7))
        for k in range(pairs - 1):
            pose = place(spacing * (k - 0.5 * (pairs - 2)), 0, bottom + height + thick)
            lying.append(world.add(flat, pose, density=0.5, friction=0.7))
    groups = [ground, Group("leaning", rows_of(leaning), "red")]
    if lying:
        groups.append(Group("lying", rows_of(lying), "blue"))
    return make_scene(world, tuple(groups), 300, (0.45, -0.85, 0.3), STEP / 2)


def arch(stones: int = 13) -> WorldScene:
    """A round arch of loose stones, which stands by its own weight: its thrust stays within the stones (Heyman 1966).

    Args:
        stones: an odd number, 3 to 101; the outermost two stand on the ground.

    Returns:
        The scene: ground, stones from the left to the right.

    Examples:
        >>> from abut import scenes
        >>> scenes.arch(7)
        WorldScene(10 bodies, 0 linkages, 240 steps of 0.0167 s)
    """
    number = arrays.count(stones, "stones", least=3, most=101)
    world = World(GRAVITY, slop=0.001)
    ground = add_floor(world)
    inner, outer, half = 1.6, 2.1, 0.4
    handles: list[int] = []
    angles = np.linspace(math.pi, 0.0, number + 1)
    for a, b in pairwise(angles):
        ring = [
            (r * math.cos(t), y, 1.0 + r * math.sin(t)) for t in (a, b) for r in (inner, outer) for y in (-half, half)
        ]
        corners = np.array(ring)
        middle = corners.mean(axis=0)
        handles.append(world.add(Polytope(corners - middle), place(*middle), density=2.0, friction=0.8))
    pier = Box((outer - inner + 0.3, 1.0, 1.0))
    spots = [place(side * 0.5 * (inner + outer), 0, 0.5) for side in (-1, 1)]
    blocks = [world.add(pier, spot, kind="static", friction=0.8) for spot in spots]
    stone = Group("stones", rows_of(handles), "stone")
    return make_scene(world, (ground, Group("piers", rows_of(blocks), "grey"), stone), 240, (0.5, -0.85, 0.2))
