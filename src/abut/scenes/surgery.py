"""The surgical scene of Meseure 1998, §7 and figure 4: a soft ball is pushed along a bent tube by a rigid tool.

The counts are the paper's: 512 faces a ball; 3,592 rigid ones, of which 64 move (the tool) and 3,528 do not (the tube
and the organs around it). Shapes and motion are ours, for the paper gives none. The motion is prescribed, not computed:
a ball follows the bend of the tube, off its axis, and is flattened against the wall but for a few hundredths of the
tube's radius, so that its facets cross those of the wall. The tool comes from the mouth, meets the ball after a quarter
of the steps, dents it and follows it.
"""

import functools
from dataclasses import dataclass

import numpy as np

from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.showing import count, describe
from abut.core.types import Number
from abut.geometry.rows import unit_vectors
from abut.mesh import Mesh
from abut.scenes.surfaces import bumpy, cloth, icosphere, subdivide

BALL_FACES, RIGID_FACES, TOOL_FACES = 512, 3592, 64
"""The paper's counts; the tool is among the rigid faces."""

INNER_RADIUS, OUTER_RADIUS = 1.0, 1.25  # of the tube
STRAIGHT_LENGTH, BEND_RADIUS, TUBE_LENGTH = 5.0, 6.0, 14.0
TUBE_RINGS, TUBE_SIDES = 28, 24
BALL_RADIUS, BALL_START, BALL_SPACING, TRAVEL = 0.9, 0.5, 2.2, 4.0
OFF_AXIS = 0.22  # of balls and tool, towards the outside of the bend
PRESS_FROM, PRESS_LIMIT = 0.9, 1.1  # distances from the axis: the ball is pressed beyond the first, below the second
MOUTH_WIDTH = 0.3  # before and behind the mouth, where the press sets in
TOOL_RADIUS, TOOL_LENGTH, TIP_LENGTH = 0.2, 5.0, 0.1
TOOL_SIDES, TOOL_RINGS, TOOL_TURN = 8, 4, 1.5
TOOL_GAP, TOOL_DEPTH = 1.5, 0.15  # from tip to the round ball at first, and into it from contact on
DENT_SHARE, DENT_RADIUS = 0.6, 0.5  # how much of the tool's depth the ball gives way, and how far around


@dataclass(frozen=True, repr=False)
class SurgicalScene:
    """Meshes and their motion. Lengths are in radii of the bore; z is up, and the mouth of the tube faces −x.

    The balls are at rest, spherical, where they start. The tool's mesh lies along x with its tip at the origin.
    """

    def __repr__(self) -> str:
        faces = sum(len(mesh.faces) for mesh in (*self.balls, *self.immobile, self.tool))
        return describe(self, count(len(self.balls), "ball"), count(faces, "face"), count(self.step_count, "step"))

    balls: tuple[Mesh, ...]
    tube: Mesh
    organs: tuple[Mesh, ...]
    tool: Mesh
    step_count: int

    @property
    def ball(self) -> Mesh:
        """The first ball, the one that the tool pushes."""
        return self.balls[0]

    @property
    def immobile(self) -> tuple[Mesh, ...]:
        """The tube and the organs."""
        return (self.tube, *self.organs)

    def ball_vertices(self, step: Number, ball: Number = 0) -> Floats:
        """(258,3) vertices of a ball at a step.

        Args:
            step: from 0 to step_count − 1.
            ball: which of the balls, from 0.
        """
        index = arrays.count(ball, "ball", most=len(self.balls) - 1)
        progress = self._progress(step)
        along, up, outwards = (BALL_RADIUS * _octasphere().vertices).T
        if index == 0:
            near = np.clip(1.0 - (up**2 + outwards**2) / DENT_RADIUS**2, 0.0, 1.0)
            along = along + np.where(along < 0, DENT_SHARE * max(_tool_depth(progress), 0.0) * near**2, 0.0)
        along = along + BALL_START + BALL_SPACING * index + TRAVEL * progress
        return frozen(_to_world(along, *_press(along, up, outwards + OFF_AXIS)))

    def tool_pose(self, step: Number) -> Floats:
        """(4,4) pose of the tool at a step: it advances and turns about itself.

        Args:
            step: from 0 to step_count − 1.
        """
        progress = self._progress(step)
        tip = BALL_START + TRAVEL * progress - BALL_RADIUS + _tool_depth(progress)
        cosine, sine = np.cos(TOOL_TURN * progress), np.sin(TOOL_TURN * progress)
        pose = np.eye(4)
        pose[1:3, 1:3] = (cosine, -sine), (sine, cosine)
        pose[:3, 3] = _to_world(np.array([tip]), np.zeros(1), np.array([OFF_AXIS]))[0]
        return frozen(pose)

    def tool_vertices(self, step: Number) -> Floats:
        """(34,3) vertices of the tool at a step, in the world.

        Args:
            step: from 0 to step_count − 1.
        """
        pose = self.tool_pose(step)
        return frozen(self.tool.vertices @ pose[:3, :3].T + pose[:3, 3])

    def _progress(self, step: Number) -> float:
        return arrays.count(step, "step", most=self.step_count - 1) / max(self.step_count - 1, 1)


def surgical_scene(ball_count: Number = 1, step_count: Number = 60) -> SurgicalScene:
    """A soft ball that is pushed along a bent tube by a rigid tool, or up to four balls (as in the paper's last measurement).

    Args:
        ball_count: how many balls there are, from 1 to 4; the first is the hindmost.
        step_count: how many steps the motion has.

    Returns:
        The meshes and their motion.

    Examples:
        >>> import abut
        >>> scene = abut.scenes.surgical_scene()
        >>> scene
        SurgicalScene(1 ball, 4,104 faces, 60 steps)
        >>> tool = abut.Rigid(scene.tool, pose=scene.tool_pose(59))
        >>> bool(abut.collide(tool, abut.Deformable((scene.ball_vertices(59), scene.ball.faces))))
        True
    """
    balls = arrays.count(ball_count, "ball_count", least=1, most=4)
    steps = arrays.count(step_count, "step_count", least=1)
    organs = (
        bumpy(600, seed=1, radius=2.0, roughness=0.2, center=(3.0, 4.6, 0.0)),
        icosphere(1, radius=0.6, center=(0.4, 7.6, 0.2)),
        icosphere(1, radius=0.6, center=(5.8, 8.2, 0.2)),
        cloth(5, 8, size=(18.0, 16.0), center=(5.0, 4.0, -2.6)),
    )
    return SurgicalScene(tuple(_rest_ball(i) for i in range(balls)), _tube(), organs, _tool(), steps)


@functools.cache
def _octasphere() -> Mesh:
    """An octahedron, its faces cut in four three times: 258 vertices of length 1, 512 faces."""
    corners = np.array([(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)], np.float64)
    faces = [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)]
    ball = Mesh(corners, faces)
    for _ in range(3):
        ball = subdivide(ball)
        ball = Mesh(unit_vectors(ball.vertices), ball.faces)
    return ball


def _rest_ball(index: int) -> Mesh:
    start = BALL_START + BALL_SPACING * index
    angle = max(start - STRAIGHT_LENGTH, 0.0) / BEND_RADIUS
    cosine, sine = np.cos(angle), np.sin(angle)
    axes = np.array([(cosine, sine, 0.0), (0.0, 0.0, 1.0), (sine, -cosine, 0.0)])  # along, up, outwards
    center = _to_world(np.array([start]), np.zeros(1), np.array([OFF_AXIS]))
    return Mesh(center + BALL_RADIUS * _octasphere().vertices @ axes, _octasphere().faces)


def _to_world(along: Floats, up: Floats, outwards: Floats) -> Floats:
    """(n,3) points from their place along the axis of the tube, above it, and towards the outside of its bend.

    The axis is straight along x, then an arc towards +y. The three directions are right-handed in this order.
    """
    angle = np.maximum(along - STRAIGHT_LENGTH, 0.0) / BEND_RADIUS
    radius = BEND_RADIUS + outwards
    x = np.minimum(along, STRAIGHT_LENGTH) + radius * np.sin(angle)
    return np.stack((x, BEND_RADIUS - radius * np.cos(angle), np.broadcast_to(up, x.shape)), axis=-1)


def _press(along: Floats, up: Floats, outwards: Floats) -> tuple[Floats, Floats]:
    """Bring points inside the tube nearer to its axis, smoothly: from PRESS_FROM on, towards PRESS_LIMIT at
    infinity."""
    distance = np.sqrt(up**2 + outwards**2)
    room = PRESS_LIMIT - PRESS_FROM
    pressed = PRESS_FROM + room * (1.0 - np.exp(-np.maximum(distance - PRESS_FROM, 0.0) / room))
    inside = np.clip(0.5 + along / (2.0 * MOUTH_WIDTH), 0.0, 1.0)
    factor = np.where(distance > PRESS_FROM, 1.0 + inside * (pressed / np.maximum(distance, PRESS_FROM) - 1.0), 1.0)
    return up * factor, outwards * factor


def _tool_depth(progress: float) -> float:
    """How far the tip is inside the round ball; negative before it."""
    return TOOL_DEPTH - TOOL_GAP * max(1.0 - 4.0 * progress, 0.0)


def _tube() -> Mesh:
    """The wall of the tube: rings outside, from mouth to end, and back inside; the ends are closed between the two."""
    along = np.linspace(0.0, TUBE_LENGTH, TUBE_RINGS)
    angle = 2 * np.pi * np.arange(TUBE_SIDES) / TUBE_SIDES
    radius = np.repeat((OUTER_RADIUS, INNER_RADIUS), TUBE_RINGS)[:, np.newaxis]
    place = np.concatenate((along, along[::-1]))[:, np.newaxis]
    vertices = _to_world(place + 0.0 * angle, radius * np.cos(angle), radius * np.sin(angle))
    return Mesh(vertices.reshape(-1, 3), _band_faces(2 * TUBE_RINGS, TUBE_SIDES, is_closed=True))


def _tool() -> Mesh:
    """A rod of eight sides with a blunt tip."""
    along = np.linspace(-TOOL_LENGTH, -TIP_LENGTH, TOOL_RINGS)[:, np.newaxis]
    angle = 2 * np.pi * np.arange(TOOL_SIDES) / TOOL_SIDES
    ring = np.stack((along + 0.0 * angle, *(TOOL_RADIUS * f(angle) + 0.0 * along for f in (np.cos, np.sin))), axis=-1)
    vertices = np.concatenate((ring.reshape(-1, 3), [(-TOOL_LENGTH, 0.0, 0.0), (0.0, 0.0, 0.0)]))
    rear, tip = len(vertices) - 2, len(vertices) - 1
    i = np.arange(TOOL_SIDES)
    following, last = (i + 1) % TOOL_SIDES, (TOOL_RINGS - 1) * TOOL_SIDES
    caps = [(i * 0 + rear, following, i), (i * 0 + tip, last + i, last + following)]
    faces = [_band_faces(TOOL_RINGS, TOOL_SIDES, is_closed=False), *(np.stack(cap, axis=1) for cap in caps)]
    return Mesh(vertices, np.concatenate(faces))


def _band_faces(ring_count: int, side_count: int, *, is_closed: bool) -> Integers:
    """Faces between rings of vertices and, if closed, from the last ring to the first."""
    i, j = np.meshgrid(np.arange(ring_count - (not is_closed)), np.arange(side_count), indexing="ij")
    i_next, j_next = (i + 1) % ring_count, (j + 1) % side_count
    corners = [a * side_count + b for a, b in ((i, j), (i, j_next), (i_next, j_next), (i_next, j))]
    return np.stack(corners, axis=-1)[..., [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
