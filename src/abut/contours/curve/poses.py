"""Poses in the plane: (x, y, angle), the angle in radians, anticlockwise, or 3×3 matrices on column vectors. Inside: (cosine, sine, x, y).

The first form is always rigid. Of a matrix the rotation may be off by `arrays.RIGID_TOLERANCE`; it is then made exact to rounding.
"""

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from abut.core import arrays
from abut.core.arrays import LARGEST_COORDINATE, RIGID_TOLERANCE, Floats
from abut.core.errors import InvalidInput

PlanePoseLike: TypeAlias = ArrayLike
"""(3,) x, y and angle in radians, anticlockwise; or a (3,3) matrix on column vectors: rotation, translation, bottom row 0 0 1."""
PlanePosesLike: TypeAlias = ArrayLike
"""(k,3) or (k,3,3): many of them."""
Turn = tuple[float, float, float, float]
"""(cosine, sine, x, y)"""
IDENTITY: Turn = (1.0, 0.0, 0.0, 0.0)
LARGEST_ANGLE = 2.0**26
"""Beyond it, a rounding of the angle turns a contour by more than 1e-8."""


def as_pose(value: PlanePoseLike | None, name: str = "pose") -> Turn:
    """One pose; None stands for the identity."""
    if value is None:
        return IDENTITY
    given: Any = value.tolist() if type(value) is np.ndarray and value.shape == (3,) else value
    if isinstance(given, list | tuple) and len(given) == 3 and all(type(v) is float for v in given):
        x, y, angle = given
        if abs(x) <= LARGEST_COORDINATE and abs(y) <= LARGEST_COORDINATE and abs(angle) <= LARGEST_ANGLE:
            return (math.cos(angle), math.sin(angle), x, y)
    array = arrays.as_array(given, name)
    row = as_poses(array[np.newaxis], name, single=True)[0].tolist()
    return (row[0], row[1], row[2], row[3])


def as_poses(value: PlanePosesLike, name: str = "poses", *, single: bool = False) -> Floats:
    """(k,4) cosine, sine, x and y of poses (k,3) or (k,3,3)."""
    array = arrays.as_array(value, name)
    if array.ndim == 3:
        return _from_matrices(arrays.coordinates(value, name, (None, 3, 3)), name, single)
    if single and array.shape != (1, 3):
        raise InvalidInput(name, f"has shape {array.shape[1:]}, expected (3,) x, y, angle or (3, 3)")
    rows = arrays.coordinates(value, name, (None, 3))
    wild = np.flatnonzero(np.abs(rows[:, 2]) > LARGEST_ANGLE)
    if len(wild):
        row = int(wild[0])
        raise InvalidInput(name, f"angle {rows[row, 2]:g} is beyond ±{LARGEST_ANGLE:g}", None if single else row)
    return np.stack([np.cos(rows[:, 2]), np.sin(rows[:, 2]), rows[:, 0], rows[:, 1]], axis=1)


def _from_matrices(matrices: Floats, name: str, single: bool) -> Floats:
    rotation = matrices[:, :2, :2]
    off = np.abs(np.swapaxes(rotation, 1, 2) @ rotation - np.eye(2)).max(axis=(1, 2), initial=0.0)
    affine = (matrices[:, 2] == (0.0, 0.0, 1.0)).all(axis=1)
    mirrored = rotation[:, 0, 0] * rotation[:, 1, 1] < rotation[:, 0, 1] * rotation[:, 1, 0]
    bad = np.flatnonzero(~affine | (off > RIGID_TOLERANCE) | mirrored)
    if len(bad):
        row = int(bad[0])
        if not affine[row]:
            reason = f"the bottom row is {matrices[row, 2].tolist()}, not [0, 0, 1]"
        elif mirrored[row]:
            reason = "it is a reflection"
        else:
            reason = f"the columns are not orthonormal (off by {off[row]:.3g})"
        raise InvalidInput(name, f"is not rigid: {reason}", None if single else row)
    cosine, sine = rotation[:, 0, 0] + rotation[:, 1, 1], rotation[:, 1, 0] - rotation[:, 0, 1]
    length = np.hypot(cosine, sine)
    return np.stack([cosine / length, sine / length, matrices[:, 0, 2], matrices[:, 1, 2]], axis=1)
