"""Where the second of two sets of volumes lies as seen from the first: in the same frame, or moved by a pose.

`slack` is a length by which things may be nearer than the volumes tell: a safety margin (Meseure 1998, §7), the rounding
of the pose, or both. Rotations need not be exactly orthonormal: `defect` measures by how much they are not, and the tests
widen their radii by it.
"""

from typing import NamedTuple

import numpy as np

from abut.core import arrays
from abut.core.arrays import Floats
from abut.core.types import Number, PoseLike
from abut.geometry.vec import Vec3
from abut.trees.volumes.boxes import DEFECTS, SLACK


class Same(NamedTuple):
    """Both sets are in one frame."""

    slack: float


class Frame(NamedTuple):
    """x in the frame of b is rotation·x + translation in the frame of a; `rotation` holds rows.

    defect is the largest entry of |RᵀR − I|.
    """

    rotation: tuple[Vec3, Vec3, Vec3]
    translation: Vec3
    defect: float
    slack: float


def same(margin: Number = 0.0) -> Same:
    """One frame for both sets.

    Args:
        margin: volumes nearer than this count as overlapping.

    Examples:
        >>> import abut
        >>> abut.volumes.same(0.1)
        Same(slack=0.1)
    """
    return Same(arrays.scalar(margin, "margin", least=0.0))


def identity(margin: Number = 0.0) -> Frame:
    """The pose that moves nothing, as oriented boxes need it.

    Args:
        margin: volumes nearer than this count as overlapping.

    Examples:
        >>> import abut
        >>> abut.volumes.identity().translation
        (0.0, 0.0, 0.0)
    """
    return _frame(np.eye(3), np.zeros(3), 0.0, arrays.scalar(margin, "margin", least=0.0))


def place(pose: PoseLike, margin: Number = 0.0) -> Frame:
    """The frame of b in that of a, from the pose that carries b into a's frame.

    Vertices of b that were carried in floating point by the same pose stay inside their volumes.

    Args:
        pose: (4,4) a rotation and a translation, on column vectors.
        margin: volumes nearer than this count as overlapping.

    Examples:
        >>> import numpy as np
        >>> import abut
        >>> pose = np.eye(4)
        >>> pose[:3, 3] = 1.0, 2.0, 3.0
        >>> abut.volumes.place(pose).translation
        (1.0, 2.0, 3.0)
    """
    matrix = arrays.pose(pose, "pose")
    return _frame(matrix[:3, :3], matrix[:3, 3], 0.0, arrays.scalar(margin, "margin", least=0.0))


def between(pose_a: PoseLike, pose_b: PoseLike, margin: Number = 0.0) -> Frame:
    """The frame of b in that of a, from the poses of both in the world.

    Vertices that were carried into the world in floating point stay inside their volumes: the slack covers the rounding
    at the distance of both bodies from the world's origin.

    Args:
        pose_a, pose_b: (4,4) where each body stands in the world.
        margin: volumes nearer than this count as overlapping.

    Examples:
        >>> import numpy as np
        >>> import abut
        >>> pose_a, pose_b = np.eye(4), np.eye(4)
        >>> pose_a[0, 3], pose_b[0, 3] = 1.0, 3.0
        >>> abut.volumes.between(pose_a, pose_b).translation
        (2.0, 0.0, 0.0)
    """
    world_a, world_b = arrays.pose(pose_a, "pose_a"), arrays.pose(pose_b, "pose_b")
    return _relate(
        world_a[:3, :3], world_a[:3, 3], world_b[:3, :3], world_b[:3, 3], arrays.scalar(margin, "margin", least=0.0)
    )


def inverse(frame: Frame) -> Frame:
    """The same situation seen from b: the frame of a in that of b.

    Args:
        frame: where b lies as seen from a.

    Examples:
        >>> import numpy as np
        >>> import abut
        >>> pose = np.eye(4)
        >>> pose[0, 3] = 2.0
        >>> abut.volumes.inverse(abut.volumes.place(pose)).translation
        (-2.0, 0.0, 0.0)
    """
    rotation, translation = np.array(frame.rotation), np.array(frame.translation)
    return _relate(rotation, translation, np.eye(3), np.zeros(3), frame.slack)


def _relate(rotation_a: Floats, origin_a: Floats, rotation_b: Floats, origin_b: Floats, margin: float) -> Frame:
    # The inverse, not the transpose: then the affine map is right however far the rotation is from orthonormal.
    back = np.linalg.inv(rotation_a)
    slack = SLACK * float(np.abs(origin_a).sum() + np.abs(origin_b).sum())
    # Lengths in a's frame may differ from those in the world by the defect of a's pose.
    length_defect = _defect(rotation_a)
    return _frame(back @ rotation_b, back @ (origin_b - origin_a), length_defect, margin, slack)


def _defect(rotation: Floats) -> float:
    return float(arrays.rotation_defects(rotation[np.newaxis])[0])


def _frame(rotation: Floats, translation: Floats, defect: float, margin: float, slack: float = 0.0) -> Frame:
    defect += _defect(rotation)
    x, y, z = rotation.tolist()
    rows = (tuple(x), tuple(y), tuple(z))
    return Frame(rows, tuple(translation.tolist()), defect, margin * (1.0 + DEFECTS * defect) + slack)
