"""From a body's own coordinates to the world, from the world to the normalised frame of a tree, and from one tree's frame to another's.

The rounded coordinates in the world *are* the body's place: every verdict is about them. What lies in a normalised frame is a guess in float32 or
float64, with a slack that covers its rounding.
"""

from typing import Any

import numpy as np

from abut.core.arrays import Floats
from abut.core.jit import element
from abut.core.scratch import load
from abut.geometry.frames import carry_back_by, carry_by
from abut.geometry.vec import Vec3
from abut.trees.packets.boxes import Change

Triangle = tuple[Vec3, Vec3, Vec3]

SLACK = 1e-6  # rounding of float32 on coordinates within 1 + |t| + s·√3 of the origin: see `trees.packets.boxes`

# World coordinates are rounded, and a rotation's transpose is its inverse only to ORTHONORMAL of `bodies`: what this is of the largest coordinate.
ROUNDED = 5e-14


@element
def own_corner(corners: Floats, slot: int, corner: int) -> Vec3:
    """One corner of the triangle in a slot, in the coordinates of its body."""
    at = 9 * slot + 3 * corner
    return (load(corners, at), load(corners, at + 1), load(corners, at + 2))


@element
def own_triangle(corners: Floats, slot: int) -> Triangle:
    """The triangle in a slot, in the coordinates of its body."""
    return own_corner(corners, slot, 0), own_corner(corners, slot, 1), own_corner(corners, slot, 2)


@element
def world_corner(corners: Floats, slot: int, corner: int, pose: Floats) -> Vec3:
    """One corner of the triangle in a slot, in the world."""
    return carry_by(pose, own_corner(corners, slot, corner))


@element
def world_triangle(corners: Floats, slot: int, pose: Floats) -> Triangle:
    """The triangle in a slot, in the world."""
    return (
        world_corner(corners, slot, 0, pose),
        world_corner(corners, slot, 1, pose),
        world_corner(corners, slot, 2, pose),
    )


@element
def normalise(p: Vec3, frame: Any) -> Vec3:
    """A point of a body, in the normalised frame of its tree."""
    return (frame[3] * (p[0] - frame[0]), frame[3] * (p[1] - frame[1]), frame[3] * (p[2] - frame[2]))


@element
def to_frame(p: Vec3, pose: Floats, frame: Any) -> Vec3:
    """A point of the world, in the normalised frame of a tree whose body is at a pose."""
    return normalise(carry_back_by(pose, p), frame)


@element
def place_corner(corners: Floats, slot: int, corner: int, pose_b: Floats, pose_a: Floats, frame_a: Any) -> Any:
    """A corner of b in the normalised frame of a, in float32."""
    p = to_frame(world_corner(corners, slot, corner, pose_b), pose_a, frame_a)
    return (np.float32(p[0]), np.float32(p[1]), np.float32(p[2]))


@element
def displacement(frame: Any, pose: Floats) -> float:
    """How far rounding may move a corner of a body on its way to the world and back, in world units."""
    return ROUNDED * (
        abs(frame[0]) + abs(frame[1]) + abs(frame[2]) + abs(pose[0, 3]) + abs(pose[1, 3]) + abs(pose[2, 3])
    )


@element
def relate_frames(frame_a: Any, pose_a: Floats, frame_b: Any, pose_b: Floats) -> Any:
    """The change from the normalised frame of a to that of b, in float32, and the slack it needs there.

    x in the world is Rₐ(n/sₐ + oₐ) + tₐ; in b it is s_b(R_bᵀ(x − t_b) − o_b).
    """
    scale = frame_b[3] / frame_a[3]
    t = to_frame(carry_by(pose_a, (frame_a[0], frame_a[1], frame_a[2])), pose_b, frame_b)
    change = Change(
        (_rotation_row(pose_a, pose_b, 0), _rotation_row(pose_a, pose_b, 1), _rotation_row(pose_a, pose_b, 2)),
        (np.float32(t[0]), np.float32(t[1]), np.float32(t[2])),
        np.float32(scale),
    )
    moved = frame_b[3] * (displacement(frame_a, pose_a) + displacement(frame_b, pose_b))
    return change, np.float32(SLACK * (1.0 + abs(t[0]) + abs(t[1]) + abs(t[2]) + 2.0 * scale) + moved)


@element
def _rotation_row(pose_a: Floats, pose_b: Floats, i: int) -> Any:
    """Row i of R_bᵀ·Rₐ."""
    x, y, z = pose_b[0, i], pose_b[1, i], pose_b[2, i]
    return (
        np.float32(x * pose_a[0, 0] + y * pose_a[1, 0] + z * pose_a[2, 0]),
        np.float32(x * pose_a[0, 1] + y * pose_a[1, 1] + z * pose_a[2, 1]),
        np.float32(x * pose_a[0, 2] + y * pose_a[1, 2] + z * pose_a[2, 2]),
    )


@element
def stay() -> Change:
    """No change of frame."""
    zero, one = np.float32(0.0), np.float32(1.0)
    return Change(((one, zero, zero), (zero, one, zero), (zero, zero, one)), (zero, zero, zero), one)
