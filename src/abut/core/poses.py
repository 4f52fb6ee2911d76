"""Whether (4,4) matrices are rigid motions, quickly: in 0.3 µs what `arrays.pose` says in 3, and in words where something is wrong.

`own_poses` and `own_pose` take the quick way for arrays that are right as they are, and `arrays.rigid_poses` for all others.
"""

from typing import Any

import numpy as np

from abut.core import arrays
from abut.core.arrays import Floats
from abut.core.jit import kernel

FLOAT64 = np.dtype(np.float64)


@kernel
def find_rigid(m: Floats) -> int:
    """The address of a 4×4 matrix if it is finite and a rigid motion to ORTHONORMAL; 0 if it is not, or only less exactly."""
    for i in range(3):
        for j in range(i, 3):
            product = m[0, i] * m[0, j] + m[1, i] * m[1, j] + m[2, i] * m[2, j]
            if not abs(product - (1.0 if i == j else 0.0)) <= arrays.ORTHONORMAL:
                return 0
        if not abs(m[i, 3]) <= arrays.LARGEST_COORDINATE:
            return 0
    det = (
        m[0, 0] * (m[1, 1] * m[2, 2] - m[1, 2] * m[2, 1])
        - m[0, 1] * (m[1, 0] * m[2, 2] - m[1, 2] * m[2, 0])
        + m[0, 2] * (m[1, 0] * m[2, 1] - m[1, 1] * m[2, 0])
    )
    if det > 0.0 and m[3, 0] == 0.0 and m[3, 1] == 0.0 and m[3, 2] == 0.0 and m[3, 3] == 1.0:
        return m.ctypes.data
    return 0


@kernel
def are_rigid(poses: Floats) -> bool:
    """Whether `find_rigid` says so of every one."""
    wrong = 0
    for i in range(len(poses)):
        wrong += find_rigid(poses[i]) == 0
    return wrong == 0


def own_pose(value: Any, name: str) -> tuple[Floats, int]:
    """A (4,4) pose of one's own, orthonormal to rounding, and its address. Writable: kernels are compiled for one kind of array."""
    if type(value) is np.ndarray and value.dtype is FLOAT64 and value.shape == (4, 4):
        own = value.copy()
        at = find_rigid(own)
        if at:
            return own, at
    own = arrays.rigid_poses(arrays.pose(value, name)[np.newaxis], name)[0]
    return own, own.ctypes.data


def own_poses(value: Any, name: str) -> Floats:
    """(k,4,4) poses of one's own, likewise."""
    if type(value) is np.ndarray and value.dtype is FLOAT64 and value.shape[1:] == (4, 4) and value.ndim == 3:
        own = np.array(value, order="C")
        if are_rigid(own):
            return own
    return arrays.rigid_poses(value, name)
