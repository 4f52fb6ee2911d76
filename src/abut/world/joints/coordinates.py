"""How two frames stand to each other, in eight numbers, and along what they change.

x, y, z: where b's point is, seen in the frame of a. The rotation is a twist about x and then a swing about an axis across it (Grassia 1998): the
twist is an angle, the swing a vector (y, z), its length the angle of the cone. The distance is that of the points. Rates are exact for all angles:
the twist changes by w·(x_a + x_b) / (1 + x_a·x_b), the swing φ·n by n·w along n and by φ·(x + cot φ·m)·w along m = x × n. At a swing of half a
turn neither is defined, and bounded numbers stand for both.
"""

import math

from abut.core.jit import element
from abut.geometry.quaternions import Quaternion, conjugate, matrix_columns, multiply
from abut.geometry.vec import Vec3, add, add_scaled, dot, norm, scale

X, Y, Z, TWIST, SWING_Y, SWING_Z, CONE, DISTANCE = range(8)
NAMES = ("x", "y", "z", "twist", "swing_y", "swing_z", "cone", "distance")
STEEP = 1e-6
"""Cosine of half a swing, from which on towards half a turn rates are bounded."""
SLIGHT = 1e-9
"""Sine of half a swing below which it has no direction."""


@element
def swing_of(q: Quaternion) -> Vec3:
    """Of a rotation: cosine of half the swing, and its sine along y and z."""
    c = math.sqrt(q[0] * q[0] + q[1] * q[1])
    if c < STEEP:
        s = math.sqrt(q[2] * q[2] + q[3] * q[3])
        return (c, q[2] / s, q[3] / s)
    return (c, (q[0] * q[2] - q[1] * q[3]) / c, (q[2] * q[1] + q[3] * q[0]) / c)


@element
def wrap(angle: float) -> float:
    """The same angle between −π and π."""
    return angle - 2.0 * math.pi * math.floor(angle / (2.0 * math.pi) + 0.5)


@element
def value_of(coordinate: int, apart: Vec3, frame_a: Quaternion, frame_b: Quaternion) -> float:
    """One coordinate of two frames whose points are apart by a vector from a to b; twists between −π and π."""
    if coordinate <= Z:
        axes = matrix_columns(frame_a)
        axis = axes[0] if coordinate == X else (axes[1] if coordinate == Y else axes[2])
        return dot(axis, apart)
    if coordinate == DISTANCE:
        return norm(apart)
    q = multiply(conjugate(frame_a), frame_b)
    if coordinate == TWIST:
        return wrap(2.0 * math.atan2(q[1], q[0]))
    c, y, z = swing_of(q)
    s = math.sqrt(y * y + z * z)
    angle = 2.0 * math.atan2(s, c)
    if coordinate == CONE:
        return angle
    part = y if coordinate == SWING_Y else z
    return angle * part / s if s > SLIGHT else 2.0 * part


@element
def direction_of(coordinate: int, apart: Vec3, frame_a: Quaternion, frame_b: Quaternion) -> Vec3:
    """Along what a coordinate changes, in the world: for x, y, z and the distance with the velocity of b's point, else with the angular velocity."""
    x, y, z = matrix_columns(frame_a)
    if coordinate <= Z:
        return x if coordinate == X else (y if coordinate == Y else z)
    if coordinate == DISTANCE:
        size = norm(apart)
        return scale(apart, 1.0 / size) if size > 0.0 else x
    c, along_y, along_z = swing_of(multiply(conjugate(frame_a), frame_b))
    if coordinate == TWIST:
        across = add_scaled(scale(z, along_y), y, -along_z)
        return add_scaled(x, across, -1.0 / max(c, STEEP))
    s = math.sqrt(along_y * along_y + along_z * along_z)
    if s <= SLIGHT:
        return z if coordinate == SWING_Z else y
    n_y, n_z = along_y / s, along_z / s
    n = add(scale(y, n_y), scale(z, n_z))
    if coordinate == CONE:
        return n
    m, angle = add_scaled(scale(z, n_y), y, -n_z), 2.0 * math.atan2(s, c)
    # cot φ = (c² − s²) / 2cs
    turn = add_scaled(scale(x, angle), m, angle * (c * c - s * s) / (2.0 * max(c, STEEP) * s))
    if coordinate == SWING_Y:
        return add_scaled(scale(n, n_y), turn, -n_z)
    return add_scaled(scale(n, n_z), turn, n_y)
