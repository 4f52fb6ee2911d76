"""Meseure's simulation (1998, §7) as a world computes it: a soft ball in a bent tube, driven by a mass–spring model and pushed by a tool.

Meshes and the tool's way are those of `surgical_scene`; what the ball does is computed. Lengths are in radii of the bore; gravity acts along −z. The
tool is moved by the user and gives way to nothing, the tube and the organs are static.
"""

from typing import NamedTuple

import numpy as np

from abut.core import arrays
from abut.core.arrays import Floats
from abut.core.showing import count, describe
from abut.core.types import Number
from abut.discrete import Deformable
from abut.dynamics import MassSpring
from abut.mesh import Mesh
from abut.scenes.surgery import OFF_AXIS, SurgicalScene, surgical_scene
from abut.shapes import Soft, Surface
from abut.world import World

GRAVITY = (0.0, 0.0, -9.81)
STEP = 1.0 / 60.0
MASS, STIFFNESS, BENDING, DAMPING = 1.0, 200.0, 200.0, 0.08
"""Of the ball, and of its springs: along edges, across them; it gives way to the tool by some tenths of its radius."""
FRICTION = 0.3


class SoftSurgery(NamedTuple):
    """A world to let run, and what moves in it."""

    world: World
    ball: int
    """handle of the soft ball"""
    model: MassSpring
    """its particles are the vertices of the ball"""
    tool: int
    """handle of the tool"""
    scene: SurgicalScene
    """the meshes, and the tool's way"""
    dt: float
    """seconds of a step"""

    def __repr__(self) -> str:
        faces = len(self.scene.ball.faces) + sum(len(mesh.faces) for mesh in (*self.scene.immobile, self.scene.tool))
        return describe(self, count(faces, "face"), f"{count(self.step_count, 'step')} of {self.dt:.3g} s")

    @property
    def step_count(self) -> int:
        """How many steps the tool's way has."""
        return self.scene.step_count

    def step(self, number: Number) -> None:
        """Move the tool on its way and everything with it, from one step of the way to the next.

        Args:
            number: from 0 to step_count − 2, of the step that the world is at.
        """
        k = arrays.count(number, "number", most=self.scene.step_count - 2)
        here, there = self.scene.tool_pose(k), self.scene.tool_pose(k + 1)
        turn = there[:3, :3] @ here[:3, :3].T  # about x alone
        spin = (float(np.arctan2(turn[2, 1], turn[1, 1])) / self.dt, 0.0, 0.0)
        motion = (there[:3, 3] - here[:3, 3]) / self.dt
        self.world.move(self.tool, here, velocity=motion, angular_velocity=spin)
        self.world.step(self.dt)


def soft_surgery(step_count: Number = 240) -> SoftSurgery:
    """A soft ball of 512 faces in a tube, among 3,592 rigid faces, that a tool pushes along.

    Args:
        step_count: in how many steps of 1/60 s the tool goes its way.

    Returns:
        The world at its start, and what moves in it.

    Examples:
        >>> from abut import scenes
        >>> surgery = scenes.soft_surgery()
        >>> surgery
        SoftSurgery(4,104 faces, 240 steps of 0.0167 s)
        >>> surgery.step(0)
        >>> surgery.model
        MassSpring(258 particles, 1,524 springs)
    """
    given = surgical_scene(1, arrays.count(step_count, "step_count", least=2))
    world = World(GRAVITY)
    for mesh in given.immobile:
        world.add(Surface(mesh), kind="static", friction=FRICTION)
    tool = world.add(Surface(given.tool), given.tool_pose(0), kind="kinematic", friction=FRICTION)
    start: Floats = given.ball.vertices + np.array(
        [0.0, OFF_AXIS, 0.0]
    )  # the bore's middle, where nothing presses it yet
    mesh = Mesh(start, given.ball.faces)
    mass = MASS / len(start)
    model = MassSpring.from_mesh(mesh, stiffness=STIFFNESS, bending=BENDING, damping=DAMPING, mass=mass)
    ball = world.add(Soft(Deformable(mesh), model), friction=FRICTION)
    return SoftSurgery(world, ball, model, tool, given, STEP)
