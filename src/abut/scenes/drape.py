"""A square cloth falls on a ball and drapes over it: masses and springs (Provot 1995, §2), semi-implicit Euler steps.

Springs join neighbors along the threads (structural), across the squares (shear) and every second neighbor along the threads (bending).
The ball is at rest and pushes masses out of itself; nothing keeps the cloth out of itself, so its folds pass through one another. That is
what the scene is for: the animation starts clean and collides later.

Springs, stability and the answer to contact are those of `dynamics.MassSpring`, masses 1; a step is a quarter of the largest stable one, and after
each the ball pushes. The sums are taken in the order of the springs, on one thread, so the same arguments give the same frames.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.jit import kernel
from abut.core.showing import count, describe
from abut.dynamics import MassSpring
from abut.dynamics.particles import respond
from abut.dynamics.springs.spring_forces import accelerate
from abut.geometry.rows import put_vector, vector_at
from abut.geometry.vec import norm, scale
from abut.mesh import Mesh
from abut.mesh.picture import surface_html
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

    def _repr_html_(self) -> str:
        return surface_html(repr(self), self.frames[-1], Mesh(self.frames[-1], self.faces))


@kernel
def _push_out(position: Floats, radius: float, inwards: Floats) -> None:
    """Put masses inside the ball, about the origin, on its surface; write unit normals into it for these, zero for the others."""
    for i in range(len(position)):
        p = vector_at(position, i)
        distance = norm(p)
        put_vector(inwards, i, 0, (0.0, 0.0, 0.0))
        if 0.0 < distance < radius:
            put_vector(position, i, 0, scale(p, radius / distance))
            put_vector(inwards, i, 0, scale(p, -1.0 / distance))


@kernel
def _advance(
    position: Floats,
    velocity: Floats,
    springs: Integers,
    constants: Floats,
    inverse_mass: Floats,
    radius: float,
    dt: float,
    steps: int,
    outer: Floats,
    acceleration: Floats,
    inwards: Floats,
) -> None:
    for _ in range(steps):
        for i in range(len(position)):
            for k in range(3):
                outer[i, k] = -AIR_DAMPING * velocity[i, k]
            outer[i, 2] -= GRAVITY
        accelerate(position, velocity, springs, constants, inverse_mass, outer, acceleration)
        for i in range(len(position)):
            for k in range(3):
                velocity[i, k] += dt * acceleration[i, k]
                position[i, k] += dt * velocity[i, k]
        _push_out(position, radius, inwards)
        respond(velocity, velocity, inwards, 0.0, FRICTION)


def _hang_together(position: Floats, side: int, length: float) -> MassSpring:
    """Side·side masses with springs at rest where the masses are `length` apart; they are numbered as in `scenes.cloth`."""
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
    stiff = np.concatenate(stiffness)
    damping = SPRING_DAMPING * np.sqrt(stiff)
    return MassSpring(position, np.concatenate(ends), stiffness=stiff, damping=damping, rest=np.concatenate(rest))


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

    Examples:
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
    angle = rng.uniform(0.0, 0.5 * np.pi)
    turn = np.array([[np.cos(angle), np.sin(angle), 0.0], [-np.sin(angle), np.cos(angle), 0.0], [0.0, 0.0, 1.0]])
    position = sheet.vertices @ turn + rng.uniform(-1.0, 1.0, sheet.vertices.shape) * (ROUGHNESS * length)
    position[:, 2] += radius + DROP
    model = _hang_together(position, squares + 1, length)
    steps = int(np.ceil(1.0 / (FRAMES_A_SECOND * STABLE_SHARE * model.longest_step)))
    velocity = np.zeros_like(position)
    outer, acceleration, inwards = (np.empty_like(position) for _ in range(3))
    tables = (model.springs, model.constants, model.inverse_mass)
    frames = np.empty((total, len(position) + len(ball.vertices), 3))
    frames[:, len(position) :] = ball.vertices
    for frame in range(total):
        if frame:
            dt = 1.0 / (FRAMES_A_SECOND * steps)
            _advance(position, velocity, *tables, radius, dt, steps, outer, acceleration, inwards)
        frames[frame, : len(position)] = position
        if report is not None:
            report(frame + 1, total)
    faces = np.concatenate((sheet.faces, ball.faces + len(position)))
    return ClothFall(frozen(frames), frozen(faces))
