"""A shape somewhere: what `collide` and `distance` take where a shape shall not lie in its own frame."""

import importlib
from typing import Any

from abut.core import arrays
from abut.core.arrays import Floats, frozen
from abut.core.errors import InvalidInput, Unsupported
from abut.core.poses import own_pose
from abut.core.showing import describe
from abut.core.types import PoseLike
from abut.discrete import Contacts, Distance
from abut.discrete.solids import Solid


def _answers() -> Any:
    """Imported when it is asked: by name, so that no kernel's code depends on it (`core.compiling.sources`)."""
    return importlib.import_module("abut.shapes.questions.answers")


class Asked(Solid):
    """What `collide` and `distance` may be asked about beside bodies."""

    _takes_pose = True

    def _collide(self, a: Any, b: Any, margin: float, first: bool, poses: Floats | None) -> Contacts:
        return _answers().find_contacts(a, b, margin, first, poses)

    def _distances(self, a: Any, b: Any, depth: bool, poses: Floats | None) -> list[Distance]:
        return _answers().find_distances(a, b, depth, poses)


class Placed(Asked):
    """A shape at a pose, for `abut.collide` and `abut.distance`. Made by `Shape.at`.

    Args:
        shape: of `abut.shapes`.
        pose: (4,4) that carries the shape's frame into the world.

    Examples:
        >>> import numpy as np
        >>> import abut
        >>> from abut import shapes
        >>> pose = np.eye(4)
        >>> pose[2, 3] = 2.0
        >>> abut.distance(shapes.Cylinder(1, 1), shapes.Sphere(0.25).at(pose)).distance
        1.25
    """

    def __init__(self, shape: Asked, pose: PoseLike) -> None:
        self.shape: Any = arrays.instance(shape, "shape", Asked)
        if isinstance(shape, Placed):
            raise InvalidInput("shape", "is placed already")
        if not shape._takes_pose:
            raise Unsupported("a pose of a deformable body: its vertices already say where it is")
        self.pose = frozen(own_pose(pose, "pose")[0])

    def __repr__(self) -> str:
        return describe(self, repr(self.shape))
