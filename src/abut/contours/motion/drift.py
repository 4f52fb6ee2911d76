"""How bodies move in one sub-step in which their velocities change evenly, whole or in part: parabolas, seen from moving frames."""

import numpy as np
from numpy.typing import NDArray

from abut.contours.motion.bodies import Bodies
from abut.core.arrays import Floats, Integers


def path_of(velocity: Floats, after: Floats, h: float, share: Floats, frame: Floats) -> Floats:
    """(m,3) by how much positions and angles change in shares of a step of length h, as seen from frames that take part in full.

    frame: (m,6) velocity of each body's frame, and how that changes in the step."""
    drift, fall, part = frame[:, :3], frame[:, 3:], share[:, np.newaxis]
    return h * (drift + 0.5 * fall + part * (velocity - drift + 0.5 * part * (after - velocity - fall)))


def velocity_after(velocity: Floats, after: Floats, share: Floats, frame: Floats) -> Floats:
    """(m,3) velocities at the end of that path."""
    fall = frame[:, 3:]
    return velocity + fall + share[:, np.newaxis] * (after - velocity - fall)


def frames_of(world: Bodies, velocity: Floats, h: float, group: Integers, loose: NDArray[np.bool_]) -> Floats:
    """For `path_of`: a loose group moves and falls with its center of mass, whatever its bodies do; all others stand in the world's frame."""
    frame, free = np.zeros((len(velocity), 6)), loose & ~world.held
    mass, momentum = np.zeros(len(velocity)), np.zeros((len(velocity), 2))
    np.add.at(mass, group[free], world.mass[free])
    np.add.at(momentum, group[free], world.mass[free, np.newaxis] * velocity[free, :2])
    frame[free, :2] = momentum[group[free]] / mass[group[free], np.newaxis]
    pull = np.zeros((len(velocity), 2))
    np.add.at(pull, group[free], world.mass[free, np.newaxis] * world.pull[free, :2])
    frame[free, 3:5] = h * pull[group[free]] / mass[group[free], np.newaxis]
    return frame


def motions_of(
    position: Floats, angle: Floats, velocity: Floats, after: Floats, h: float, share: Floats, frame: Floats
) -> Floats:
    """(m,9) the path of `path_of` as motions of t from 0 to 1: places, first and second derivatives (`plane_motion`)."""
    drift, fall, part = frame[:, :3], frame[:, 3:], share[:, np.newaxis]
    speed = h * (drift + part * (velocity - drift))
    change = h * (fall + part * part * (after - velocity - fall))
    return np.column_stack([position, angle, speed, change])
