"""A square cloth falls on a ball and drapes over it: masses and springs (Provot 1995, §2), semi-implicit Euler steps.

Springs join neighbours along the threads (structural), across the squares (shear) and every second neighbour along the threads (bending).
The ball is at rest and pushes masses out of itself; nothing keeps the cloth out of itself, so its folds pass through one another. That is
what the scene is for: the animation starts clean and collides later.

A step is a quarter of the largest stable one, 2/ω, with ω² bounded by the row sums of the stiffness matrix; the sums are taken in the order of
the springs, on one thread, so the same arguments give the same frames.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.jit import kernel
from abut.core.showing import count, describe
from abut.geometry import vec
from abut.scenes.surfaces import cloth, icosphere

CLOTH_SIZE, BALL_RADIUS, BALL_SUBDIVISIONS = 2.4, 0.5, 3  # metres
DROP = 0.08  # from the ball's surface to the cloth, at the start
GRAVITY = 9.81
FRAMES_A_SECOND = 30.0
STRETCH = 0.03  # how much longer a thread becomes where half of the cloth hangs on it
SHEAR_SHARE, BEND_SHARE = 0.3, 0.02  # stiffness of these springs beside the structural ones
SPRING_DAMPING, AIR_DAMPING = 0.15, 1.0  # share of the critical damping of a spring; 1/s
FRICTION = 0.4  # of cloth on ball (Coulomb)
ROUGHNESS = 0.01  # of the flat cloth, in sides of a square: a perfect plane would fold symmetrically
STABLE_SHARE = 0.25
MOST_SQUARES = 1000
MOST_FRAMES = 100_000


class ClothFall(NamedTuple):
    """A cloth that falls on a ball, frame by frame: shapes of one connectivity, the cloth's vertices and faces first, then the ball's."""

    frames: Floats
    """(k,n,3) vertices of each frame"""
    faces: Integers
    """(m,3)"""

    def __repr__(self) -> str:
        frame_count, vertex_count, _ = self.frames.shape
        return describe(
            self, count(frame_count, "frame"), count(vertex_count, "vertex", "vertices"), count(len(self.faces), "face")
        )


class Springs(NamedTuple):
    """One row per spring."""

    ends: Integers
    """(s,2)"""
    rest: Floats
    stiffness: Floats
    """(s,) force by length and mass, 1/s²"""


@kernel
def _pull(position: Floats, velocity: Floats, springs: Springs, acceleration: Floats) -> None:
    """The accelerations of all masses by their springs, gravity and the air."""
    for i in range(len(position)):
        acceleration[i, 0] = -AIR_DAMPING * velocity[i, 0]
        acceleration[i, 1] = -AIR_DAMPING * velocity[i, 1]
        acceleration[i, 2] = -AIR_DAMPING * velocity[i, 2] - GRAVITY
    for s in range(len(springs.rest)):
        i, j, stiffness = springs.ends[s, 0], springs.ends[s, 1], springs.stiffness[s]
        along = (
            position[j, 0] - position[i, 0],
            position[j, 1] - position[i, 1],
            position[j, 2] - position[i, 2],
        )
        length = vec.norm(along)
        if length == 0.0:
            continue
        rate = 0.0
        for k in range(3):
            rate += along[k] * (velocity[j, k] - velocity[i, k]) / length
        pull = stiffness * (length - springs.rest[s]) + SPRING_DAMPING * np.sqrt(stiffness) * rate
        for k in range(3):
            acceleration[i, k] += pull * along[k] / length
            acceleration[j, k] -= pull * along[k] / length


@kernel
def _push_out(position: Floats, velocity: Floats, radius: float) -> None:
    """Put masses inside the ball, about the origin, on its surface; stop their fall and slow their slide."""
    for i in range(len(position)):
        distance = vec.norm((position[i, 0], position[i, 1], position[i, 2]))
        if distance >= radius or distance == 0.0:
            continue
        normal = (position[i, 0] / distance, position[i, 1] / distance, position[i, 2] / distance)
        inwards = -vec.dot(normal, (velocity[i, 0], velocity[i, 1], velocity[i, 2]))
        for k in range(3):
            position[i, k] = radius * normal[k]
        if inwards <= 0.0:
            continue
        for k in range(3):
            velocity[i, k] += inwards * normal[k]
        slide = vec.norm((velocity[i, 0], velocity[i, 1], velocity[i, 2]))
        kept = max(0.0, 1.0 - FRICTION * inwards / slide) if slide > 0.0 else 0.0
        for k in range(3):
            velocity[i, k] *= kept


@kernel
def _advance(
    position: Floats, velocity: Floats, springs: Springs, radius: float, dt: float, count: int, acceleration: Floats
) -> None:
    for _ in range(count):
        _pull(position, velocity, springs, acceleration)
        for i in range(len(position)):
            for k in range(3):
                velocity[i, k] += dt * acceleration[i, k]
                position[i, k] += dt * velocity[i, k]
        _push_out(position, velocity, radius)


def _make_springs(side: int, length: float) -> Springs:
    """The springs of side·side masses at rest, `length` apart; the masses are numbered as in `scenes.cloth`."""
    number = np.arange(side * side).reshape(side, side)
    # As many masses as reach from the middle to the rim hang on one structural spring.
    structural = 0.5 * side * GRAVITY / (STRETCH * length)
    diagonal = np.sqrt(2.0) * length
    kinds = [
        (number[:-1], number[1:], length, structural),
        (number[:, :-1], number[:, 1:], length, structural),
        (number[:-1, :-1], number[1:, 1:], diagonal, SHEAR_SHARE * structural),
        (number[1:, :-1], number[:-1, 1:], diagonal, SHEAR_SHARE * structural),
        (number[:-2], number[2:], 2.0 * length, BEND_SHARE * structural),
        (number[:, :-2], number[:, 2:], 2.0 * length, BEND_SHARE * structural),
    ]
    ends = [np.stack((first.ravel(), second.ravel()), axis=1) for first, second, _, _ in kinds]
    rest = [np.full(len(pairs), at_rest) for pairs, (_, _, at_rest, _) in zip(ends, kinds, strict=True)]
    stiffness = [np.full(len(pairs), k) for pairs, (_, _, _, k) in zip(ends, kinds, strict=True)]
    return Springs(np.concatenate(ends), np.concatenate(rest), np.concatenate(stiffness))


def _count_steps(springs: Springs, mass_count: int) -> int:
    """How many steps a frame takes. Row sums of the stiffness matrix bound ω²: each spring counts twice at both ends."""
    sums = np.bincount(springs.ends.ravel(), np.repeat(springs.stiffness, 2), mass_count)
    largest_step = 2.0 / np.sqrt(2.0 * sums.max())
    return int(np.ceil(1.0 / (FRAMES_A_SECOND * STABLE_SHARE * largest_step)))


def cloth_on_ball(
    resolution: int = 48,
    frame_count: int = 60,
    seed: int = 0,
    *,
    report: Callable[[int, int], None] | None = None,
) -> ClothFall:
    """A cloth that falls on a ball, 30 frames per second, and through itself.

    The cloth is 2.4 wide, the ball has radius 0.5 about the origin and never moves; z is up. Nothing touches at the start; folds of the
    cloth cut each other later on.

    Args:
        resolution: squares along each side of the cloth, 2 to 1000.
        frame_count: how many frames, the start included.
        seed: turns the cloth and roughens it a little.
        report: called with (done, total) after each frame.

    Returns:
        The animation, as one mesh of two pieces.

    Example:
        >>> from abut import scenes
        >>> fall = scenes.cloth_on_ball(8, 3)
        >>> fall
        ClothFall(3 frames, 723 vertices, 1,408 faces)
        >>> (fall.frames[:, 0, 2] - fall.frames[0, 0, 2]).round(2)  # how far a corner has fallen
        array([ 0.  , -0.01, -0.02])
    """
    squares = arrays.count(resolution, "resolution", least=2, most=MOST_SQUARES)
    total = arrays.count(frame_count, "frame_count", least=1, most=MOST_FRAMES)
    rng = np.random.default_rng(arrays.count(seed, "seed"))
    length = CLOTH_SIZE / squares
    # A face between masses on a sphere cuts into it by length²/4R, four times that where the impact makes threads twice as long; the
    # ball's own faces lie inside the sphere.
    radius = BALL_RADIUS + length * length / BALL_RADIUS
    sheet, ball = cloth(squares, squares, CLOTH_SIZE), icosphere(BALL_SUBDIVISIONS, BALL_RADIUS)
    springs = _make_springs(squares + 1, length)
    steps = _count_steps(springs, len(sheet.vertices))
    angle = rng.uniform(0.0, 0.5 * np.pi)
    turn = np.array([[np.cos(angle), np.sin(angle), 0.0], [-np.sin(angle), np.cos(angle), 0.0], [0.0, 0.0, 1.0]])
    position = sheet.vertices @ turn + rng.uniform(-1.0, 1.0, sheet.vertices.shape) * (ROUGHNESS * length)
    position[:, 2] += radius + DROP
    velocity, acceleration = np.zeros_like(position), np.empty_like(position)
    frames = np.empty((total, len(position) + len(ball.vertices), 3))
    frames[:, len(position) :] = ball.vertices
    for frame in range(total):
        if frame:
            _advance(position, velocity, springs, radius, 1.0 / (FRAMES_A_SECOND * steps), steps, acceleration)
        frames[frame, : len(position)] = position
        if report is not None:
            report(frame + 1, total)
    faces = np.concatenate((sheet.faces, ball.faces + len(position)))
    return ClothFall(frozen(frames), frozen(faces))
