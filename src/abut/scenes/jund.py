"""Bodies inside a partition: the scenes of Jund 2010, §6.3.2 and §6.3.3, and a passage that is cut and sewn up (chapter 3's surgery).

Each is an environment, a body inside it, free of collisions, and the physics that drives it; `dynamics.couple(scene.model, mobile, dt)` runs it with
`mobile = cells.Mobile(scene.environment, (scene.points, scene.edges))`, or with the faces where there are any. The thesis gives counts and no
measures; those here are ours, named below.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut import cells
from abut.cells import Environment
from abut.core import arrays
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput
from abut.core.showing import count as count_of
from abut.core.showing import describe
from abut.core.types import Number
from abut.dynamics import MassSpring, ParticleModel, ShapeMatching
from abut.geometry.rows import unit_vectors
from abut.scenes.hand import hand
from abut.scenes.vessels import vessel_network

GRAVITY = 9.81
LEAST_CELL = 0.02
MOST_SIDE, MOST_PARTICLES = 100, 10_000
"""Of cubes along the hall, and of masses of the catheter: more is a mistake."""
# The edges of a cube whose corner (x, y, z) has the number x + 2y + 4z.
CUBE_EDGES = ((0, 1), (2, 3), (4, 5), (6, 7), (0, 2), (1, 3), (4, 6), (5, 7), (0, 4), (1, 5), (2, 6), (3, 7))


class BodyScene(NamedTuple):
    """An environment, points (n,3) and edges (k,2) that move in it, faces (m,3) where the body has a surface, and the physics."""

    environment: Environment
    points: Floats
    edges: Integers
    faces: Integers
    model: ParticleModel

    def __repr__(self) -> str:
        cells, points = count_of(self.environment.cell_count, "cell"), count_of(len(self.points), "point")
        return describe(self, cells, points, count_of(len(self.edges), "edge"), count_of(len(self.faces), "face"))


def catheter_scene(
    resolution: Number = 7.0, particle_count: Number = 20, spacing: Number = 1.5, thrust: Number = 6.0
) -> BodyScene:
    """A catheter pushed through vessels: 20 masses on a line, springs along it and across two edges, in 200 thousand tetrahedra (figure 6.9).

    It starts in the trunk, heading for where it divides. Every mass is pushed along the line, as one that is fed in from behind; there is no
    gravity.

    Args:
        resolution: the radius of the trunk, as of `vessel_network`.
        particle_count: how many masses there are, from 3 on.
        spacing: how far they are from one another, in edges of the vessels' tetrahedra.
        thrust: the force that pushes each mass.

    Returns:
        The scene.

    Raises:
        InvalidInput: the catheter does not fit in the trunk.

    Examples:
        >>> import abut
        >>> abut.scenes.catheter_scene(1.5, particle_count=6, spacing=1.0)
        BodyScene(3,720 cells, 6 points, 5 edges, 0 faces)
    """
    count = arrays.count(particle_count, "particle_count", least=3, most=MOST_PARTICLES)
    step = arrays.positive(spacing, "spacing")
    network = vessel_network(resolution)
    begin, end = network.branches[0, :3], network.branches[0, 3:6]
    if (count - 1) * step > np.linalg.norm(end - begin):
        raise InvalidInput(
            "spacing",
            f"a catheter {(count - 1) * step:g} long does not fit in the trunk, {np.linalg.norm(end - begin):g}",
        )
    along = (end - begin) / np.linalg.norm(end - begin)
    # A little off the axis and bent, so that which branch it takes does not hang on rounding.
    t = np.linspace(0.0, 1.0, count)[:, np.newaxis]
    points = begin + step * (count - 1) * t * along + 0.05 * network.branches[0, 6] * t**2 * np.array([1.0, 0.5, 0.0])
    model = MassSpring.from_line(points, stiffness=400.0, bending=40.0, damping=2.0, mass=1.0)
    i = np.arange(count)
    environment = cells.tetrahedra(network.vertices, network.tetrahedra)
    scene = BodyScene(environment, points, np.stack((i[:-1], i[1:]), axis=1), np.empty((0, 3), np.int64), model)
    push_along(model, arrays.scalar(thrust, "thrust"))
    return scene


def push_along(model: ParticleModel, thrust: float, drag: float = 0.5) -> None:
    """Push each mass of a line towards its head, the last one, and brake it in proportion to its velocity.

    Args:
        model: the masses; their forces are replaced.
        thrust: the force on each.
        drag: the braking force per mass and velocity.

    Examples:
        >>> import abut
        >>> model = abut.dynamics.MassSpring.from_line([[0, 0, 0], [1, 0, 0], [1, 1, 0]])
        >>> abut.scenes.push_along(model, 2.0)
        >>> model.force.tolist()
        [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 2.0, 0.0]]
    """
    tangents = unit_vectors(np.diff(model.position, axis=0))
    tangents = np.concatenate((tangents, tangents[-1:]))
    model.force = thrust * tangents - drag * model.mass[:, np.newaxis] * model.velocity


def cube_scene(
    n: Number = 10,
    cube_count: Number = 225,
    size: Number = 0.5,
    speed: Number = 5.0,
    share: Number = 0.1,
    seed: Number = 0,
) -> BodyScene:
    """Soft cubes with random velocities in n³ unit cells, a share of them obstacles (figure 6.11); each starts in a free cell of its own.

    A cube has 8 particles, 12 edges and one cluster of a shape-matching model.

    Args:
        n: how many cells there are along each axis.
        cube_count: how many cubes there are.
        size: the edge of a cube, at most 0.57: turned any way, it fits into a cell.
        speed: of each cube at first.
        share: of the cells that are obstacles.
        seed: which of many; the same seed gives the same scene.

    Returns:
        The scene.

    Raises:
        InvalidInput: there are more cubes than free cells.

    Examples:
        >>> import abut
        >>> abut.scenes.cube_scene(3, 10)
        BodyScene(27 cells, 80 points, 120 edges, 0 faces)
    """
    side, count = arrays.count(n, "n", least=2, most=MOST_SIDE), arrays.count(cube_count, "cube_count", least=1)
    pace = arrays.scalar(speed, "speed")
    edge = arrays.scalar(size, "size", least=0.01, most=0.57)  # turned any way, it fits into a cell: √3·size < 1
    rng = np.random.default_rng(arrays.count(seed, "seed"))
    obstacle = rng.random(side**3) < arrays.scalar(share, "share", least=0.0, most=1.0)
    free = np.flatnonzero(~obstacle)
    if len(free) < count:
        raise InvalidInput("cube_count", f"{count} is above the number of free cells, {len(free)}")
    chosen = np.sort(rng.choice(free, count, replace=False))
    center = np.stack((chosen // side**2, chosen // side % side, chosen % side), axis=1) + 0.5
    corners = edge * (np.array([(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]) - 0.5)
    turns = _random_rotations(rng, count)
    points = center[:, np.newaxis] + np.einsum("cij,kj->cki", turns, corners)
    clusters = np.arange(8 * count).reshape(count, 8)
    model = ShapeMatching(points.reshape(-1, 3), clusters, stiffness=0.5, damping=5.0)
    velocity = rng.normal(size=(count, 3))
    velocity *= pace / np.linalg.norm(velocity, axis=1, keepdims=True)
    model.velocity = np.repeat(velocity, 8, axis=0)
    edges = (clusters[:, :1, np.newaxis] + np.array(CUBE_EDGES)).reshape(-1, 2)
    environment = cells.channel(side, side, side, obstacle)
    return BodyScene(environment, model.position, edges, np.empty((0, 3), np.int64), model)


def _random_rotations(rng: np.random.Generator, count: int) -> Floats:
    q, r = np.linalg.qr(rng.normal(size=(count, 3, 3)))
    q *= np.sign(np.diagonal(r, axis1=1, axis2=2))[:, np.newaxis]
    q[:, :, 0] *= np.linalg.det(q)[:, np.newaxis]
    return q


def hand_scene(subdivisions: Number = 3, cell: Number = 0.5, height: Number = 1.0, spikes: bool = True) -> BodyScene:
    """A hand of length 1 falls in a hall of cubes cut into six pyramids each (figures 6.13 and 6.14); with spikes, onto pyramids.

    The hall is 1.6 wide or a little more. The bases of the floor's pyramids cover the floor. The hand is tilted, so that it does not land on all
    of them at once.

    Args:
        subdivisions: how fine the hand is, as of `hand`.
        cell: the side of the hall's cubes.
        height: how far the hand falls before its lowest point meets the tips of the floor's pyramids.
        spikes: whether these are obstacles.

    Returns:
        The scene.

    Examples:
        >>> import abut
        >>> abut.scenes.hand_scene(0)
        BodyScene(480 cells, 188 points, 558 edges, 372 faces)
    """
    mesh = hand(subdivisions)
    side, has_spikes = arrays.scalar(cell, "cell", least=LEAST_CELL), arrays.flag(spikes, "spikes")
    tilt = _turn((1.0, 0.0, 0.0), 0.5) @ _turn((0.0, 1.0, 0.0), 0.35)
    points = mesh.vertices @ tilt.T
    tip = 0.5 * side if has_spikes else 0.0
    across = int(np.ceil(1.6 / side))
    points = points - 0.5 * (points.min(axis=0) + points.max(axis=0))
    points[:, 2] += tip + arrays.positive(height, "height") - points[:, 2].min()
    points[:, :2] += 0.5 * across * side
    up = int(np.ceil((points[:, 2].max() + 0.1) / side))
    vertices, rows, is_floor = pyramids(across, across, up)
    environment = cells.mixed(side * vertices, pyramids=rows, obstacle=is_floor & has_spikes)
    model = ShapeMatching(points, stiffness=0.4, damping=10.0, gravity=(0.0, 0.0, -GRAVITY))
    return BodyScene(environment, model.position, mesh.edges, mesh.faces, model)


def _turn(axis: tuple[float, float, float], angle: float) -> Floats:
    x, y, z = axis
    k = np.array([(0, -z, y), (z, 0, -x), (-y, x, 0)])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def pyramids(nx: Number, ny: Number, nz: Number) -> tuple[Floats, Integers, NDArray[np.bool_]]:
    """Unit cubes that fill a block, each cut into six pyramids about its center.

    Args:
        nx, ny, nz: how many cubes there are along each axis.

    Returns:
        Vertices (v,3), pyramids (m,5), and (m,) which of them stand on the floor z = 0.

    Examples:
        >>> import abut
        >>> vertices, rows, is_floor = abut.scenes.pyramids(2, 1, 1)
        >>> abut.cells.mixed(vertices, pyramids=rows, obstacle=is_floor)
        Environment(12 cells, 2 obstacles)
    """
    sizes = [arrays.count(n, name, least=1, most=1000) for n, name in ((nx, "nx"), (ny, "ny"), (nz, "nz"))]
    corners = np.stack(np.meshgrid(*[np.arange(n + 1.0) for n in sizes], indexing="ij"), axis=-1).reshape(-1, 3)
    cube = np.stack(np.meshgrid(*[np.arange(n) for n in sizes], indexing="ij"), axis=-1).reshape(-1, 3)
    step = np.array([(sizes[1] + 1) * (sizes[2] + 1), sizes[2] + 1, 1])
    # Each face anticlockwise seen from the center.
    faces = np.array(
        [
            [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)],
            [(0, 0, 1), (0, 1, 1), (1, 1, 1), (1, 0, 1)],
            [(0, 0, 0), (0, 0, 1), (1, 0, 1), (1, 0, 0)],
            [(0, 1, 0), (1, 1, 0), (1, 1, 1), (0, 1, 1)],
            [(0, 0, 0), (0, 1, 0), (0, 1, 1), (0, 0, 1)],
            [(1, 0, 0), (1, 0, 1), (1, 1, 1), (1, 1, 0)],
        ]
    )
    base = (cube[:, np.newaxis, np.newaxis] + faces) @ step
    apex = np.broadcast_to((len(corners) + np.arange(len(cube)))[:, np.newaxis, np.newaxis], (*base.shape[:2], 1))
    rows = np.concatenate((base, apex), axis=2).reshape(-1, 5)
    is_floor = (np.arange(6) == 0) & (cube[:, 2:] == 0)
    return np.concatenate((corners, cube + 0.5)), rows, is_floor.ravel()
