"""Worlds to let run: a pile of mixed bodies, a rag doll down stairs, a cloth on a terrain (Peyré 2001, chapter 5)."""

import numpy as np

from abut.core import arrays
from abut.core.arrays import Floats, frozen
from abut.dynamics import cloth, rag_doll
from abut.scenes.surfaces import cloth as cloth_mesh
from abut.scenes.world_scene import GRAVITY, STEP, WorldScene, place
from abut.shapes import Box, Capsule, Cylinder, Polytope, Sphere, Terrain
from abut.world import World

PERSON_LAYER, CLOTH_LAYER = 2, 4
STAIRS_FRICTION = 0.2
"""With twice as much the rag doll stays on the flight."""
MOST_BODIES, MOST_STEPS, MOST_SQUARES = 200_000, 1000, 128
"""What is built in seconds or minutes; more is a mistake."""


def pile(count: int = 1000, seed: int = 0) -> WorldScene:
    """Balls, capsules, boxes, cylinders and hulls in equal parts, above a bin into which they fall.

    Args:
        count: how many bodies fall, at most 200,000. The bin is five more, which are static.
        seed: of the hulls, and of how the bodies are turned and shifted.

    Returns:
        The scene; the bodies of the bin come last.

    Examples:
        >>> from abut import scenes
        >>> scenes.pile(20)
        WorldScene(25 bodies, 0 linkages, 600 steps of 0.0167 s)
    """
    number = arrays.count(count, "count", least=1, most=MOST_BODIES)
    rng = np.random.default_rng(arrays.count(seed, "seed"))
    world = World(GRAVITY)
    side = max(3, round(number ** (1 / 3) * 0.9))
    width, height = 0.85 * side, 4.0 + number / side**2
    static = [world.add(Box((width + 4, width + 4, 1)), place(0, 0, -0.5), kind="static")]
    wall, offset = 1.0, 0.5 * width + 0.5
    for sign in (-1, 1):
        static.append(world.add(Box((wall, width + 2, height)), place(sign * offset, 0, 0.5 * height), kind="static"))
        static.append(world.add(Box((width + 2, wall, height)), place(0, sign * offset, 0.5 * height), kind="static"))
    shapes = (Sphere(0.3), Capsule(0.2, 0.4), Box((0.5, 0.5, 0.5)), Cylinder(0.25, 0.5, sides=12))
    shapes += (Polytope(0.22 * rng.normal(size=(16, 3))),)
    handles: list[int] = []
    for k in range(number):
        row, layer = divmod(k % (side - 1) ** 2, side - 1)
        x, y = 0.85 * (np.array([row, layer]) - 0.5 * (side - 2)) + rng.uniform(-0.1, 0.1, 2)
        turned = place(x, y, 0.8 + k // (side - 1) ** 2, _random_turn(rng))
        handles.append(world.add(shapes[k % len(shapes)], turned))
    return WorldScene(world, frozen(np.array(handles + static)), (), STEP, 600)


def _random_turn(rng: np.random.Generator) -> Floats:
    """A rotation, all equally likely: the unit vectors of a random matrix made orthogonal."""
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q *= np.sign(np.diag(r))
    return q if np.linalg.det(q) > 0 else -q


def rag_doll_on_stairs(steps: int = 12) -> WorldScene:
    """A rag doll that is pushed off the top of a flight of stairs, and a ball at its foot.

    Args:
        steps: of the stairs, at most 1000.

    Returns:
        The scene; its bodies are the floor, the steps and the ball, its linkage is the doll.

    Examples:
        >>> from abut import scenes
        >>> fall = scenes.rag_doll_on_stairs(6)
        >>> fall
        WorldScene(8 bodies, 1 linkage, 360 steps of 0.0167 s)
        >>> doll, mesh = fall.linkages[0]
        >>> mesh is None  # it is drawn by its bones
        True
    """
    number = arrays.count(steps, "steps", least=1, most=MOST_STEPS)
    world = World(GRAVITY)
    static = [world.add(Box((40, 40, 1)), place(0, 0, -0.5), kind="static")]
    for k in range(number):
        top = 0.2 * (number - k)
        static.append(
            world.add(
                Box((4, 0.35 if k else 3.0, top)),
                place(0, 0.35 * k + (0 if k else -1.325), 0.5 * top),
                kind="static",
                friction=STAIRS_FRICTION,
            )
        )
    doll = rag_doll(gravity=GRAVITY, drag=0.1)
    doll.position = doll.position + np.array([0.0, -0.2, 0.2 * number + 0.05])
    velocity = np.zeros_like(doll.position)
    velocity[:, 1] = 1.5 + 1.5 * (doll.position[:, 2] - doll.position[:, 2].min())
    doll.velocity = velocity
    world.link(doll, layer=PERSON_LAYER, friction=STAIRS_FRICTION)
    ball = world.add(Sphere(0.25), place(0.3, 0.35 * number + 1.0, 0.25), density=100.0)
    return WorldScene(world, frozen(np.array([*static, ball])), ((doll, None),), STEP, 360)


def cloth_on_terrain(squares: int = 24) -> WorldScene:
    """A blanket that falls on hills, and a ball above a hollow of it.

    The blanket is 2 m wide and weighs 0.5 kg per square metre: of 24 squares a side, a particle has 1/31 of the mass of the ball.

    Args:
        squares: of the blanket, along each side, 2 to 128.

    Returns:
        The scene; its bodies are the ground and the ball, its linkage is the blanket.

    Examples:
        >>> from abut import scenes
        >>> scene = scenes.cloth_on_terrain(4)
        >>> scene
        WorldScene(2 bodies, 1 linkage, 180 steps of 0.0167 s)
        >>> blanket, mesh = scene.linkages[0]
        >>> mesh
        Mesh(25 vertices, 32 faces)
    """
    number = arrays.count(squares, "squares", least=2, most=MOST_SQUARES)
    x = np.linspace(0.0, 4.0 * np.pi, 33)
    hills = 0.25 * np.sin(x)[:, np.newaxis] * np.cos(0.8 * x) + 0.3
    world = World(GRAVITY)
    ground = world.add(Terrain(hills, 4.0 / 32), place(-2, -2, 0), kind="static", friction=0.8)
    flat = cloth_mesh(number, number, 2.0, (0.0, 0.0, 1.0))
    sheet = cloth(flat, gravity=GRAVITY, mass=2.0 / len(flat.vertices), drag=0.5, sweeps=16)
    world.link(sheet, 0.03, layer=CLOTH_LAYER, friction=0.8)
    ball = world.add(Sphere(0.2), place(-0.5, 0.5, 1.6), mass=0.1)
    return WorldScene(world, frozen(np.array([ground, ball])), ((sheet, flat),), STEP, 180)
