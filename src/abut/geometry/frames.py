"""Rigid motions in kernels: frames (rotation by rows, and translation), from rows of twelve numbers or from (4,4) matrices.

All apply a rotation with the same roundings: ((r₀·x + r₁·y) + r₂·z), then the translation. So what one function places, another finds there.
"""

from abut.core.arrays import Floats
from abut.core.jit import element, kernel
from abut.geometry.vec import Vec3

Rotation = tuple[Vec3, Vec3, Vec3]
Frame = tuple[Rotation, Vec3]


@element
def turn(r: Rotation, v: Vec3) -> Vec3:
    """R·v."""
    return (
        r[0][0] * v[0] + r[0][1] * v[1] + r[0][2] * v[2],
        r[1][0] * v[0] + r[1][1] * v[1] + r[1][2] * v[2],
        r[2][0] * v[0] + r[2][1] * v[1] + r[2][2] * v[2],
    )


@element
def turn_back(r: Rotation, v: Vec3) -> Vec3:
    """Rᵀ·v."""
    return (
        r[0][0] * v[0] + r[1][0] * v[1] + r[2][0] * v[2],
        r[0][1] * v[0] + r[1][1] * v[1] + r[2][1] * v[2],
        r[0][2] * v[0] + r[1][2] * v[1] + r[2][2] * v[2],
    )


@element
def product(r: Rotation, s: Rotation) -> Rotation:
    """R·S."""
    return (turn_back(s, r[0]), turn_back(s, r[1]), turn_back(s, r[2]))


@element
def product_transposed(r: Rotation, s: Rotation) -> Rotation:
    """R·Sᵀ."""
    return (turn(s, r[0]), turn(s, r[1]), turn(s, r[2]))


@element
def carry(f: Frame, p: Vec3) -> Vec3:
    """A point of the frame, seen from outside."""
    v = turn(f[0], p)
    return (v[0] + f[1][0], v[1] + f[1][1], v[2] + f[1][2])


@element
def carry_back(f: Frame, p: Vec3) -> Vec3:
    """A point outside, seen from the frame."""
    return turn_back(f[0], (p[0] - f[1][0], p[1] - f[1][1], p[2] - f[1][2]))


@element
def carry_by(pose: Floats, p: Vec3) -> Vec3:
    """A point of the frame that a (4,4) matrix places, seen from outside."""
    return (
        pose[0, 0] * p[0] + pose[0, 1] * p[1] + pose[0, 2] * p[2] + pose[0, 3],
        pose[1, 0] * p[0] + pose[1, 1] * p[1] + pose[1, 2] * p[2] + pose[1, 3],
        pose[2, 0] * p[0] + pose[2, 1] * p[1] + pose[2, 2] * p[2] + pose[2, 3],
    )


@element
def turn_back_by(pose: Floats, v: Vec3) -> Vec3:
    """A direction outside, seen from the frame that a (4,4) matrix places."""
    return (
        pose[0, 0] * v[0] + pose[1, 0] * v[1] + pose[2, 0] * v[2],
        pose[0, 1] * v[0] + pose[1, 1] * v[1] + pose[2, 1] * v[2],
        pose[0, 2] * v[0] + pose[1, 2] * v[1] + pose[2, 2] * v[2],
    )


@element
def carry_back_by(pose: Floats, p: Vec3) -> Vec3:
    """A point outside, seen from the frame that a (4,4) matrix places."""
    return turn_back_by(pose, (p[0] - pose[0, 3], p[1] - pose[1, 3], p[2] - pose[2, 3]))


@kernel
def frame_of(poses: Floats, i: int) -> Frame:
    """Row i of the poses."""
    p = poses[i]
    return ((p[0], p[1], p[2]), (p[3], p[4], p[5]), (p[6], p[7], p[8])), (p[9], p[10], p[11])


@element
def relate(a: Frame, b: Frame) -> Frame:
    """Frame b seen from frame a."""
    x = turn_back(a[0], (b[0][0][0], b[0][1][0], b[0][2][0]))
    y = turn_back(a[0], (b[0][0][1], b[0][1][1], b[0][2][1]))
    z = turn_back(a[0], (b[0][0][2], b[0][1][2], b[0][2][2]))
    return ((x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2])), carry_back(a, b[1])


@kernel
def carry_points(f: Frame, points: Floats, first: int, last: int, out: Floats) -> None:
    """Points first to last of the frame, seen from outside, into the first rows of out."""
    for i in range(first, last):
        x, y, z = carry(f, (points[i, 0], points[i, 1], points[i, 2]))
        out[i - first, 0], out[i - first, 1], out[i - first, 2] = x, y, z


@kernel
def carry_points_back(f: Frame, points: Floats, first: int, last: int, out: Floats) -> None:
    """Points first to last outside, seen from the frame."""
    for i in range(first, last):
        x, y, z = carry_back(f, (points[i, 0], points[i, 1], points[i, 2]))
        out[i - first, 0], out[i - first, 1], out[i - first, 2] = x, y, z
