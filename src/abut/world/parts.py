"""What a body is made of: its shapes with their places, and what they weigh together."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from abut import arrays
from abut.arrays import Floats, frozen
from abut.dynamics import MassProperties
from abut.errors import InvalidInput, Unsupported
from abut.shapes.solids import Shape, Soft, as_shape
from abut.shapes.weight import combine
from abut.world.store import DYNAMIC

IDENTITY: Floats = frozen(np.eye(4))


def read_parts(shape: object) -> list[tuple[Shape, Floats]]:
    """The shapes of a body, each with its pose in the body's frame."""
    if not isinstance(shape, list):
        return [(as_shape(shape), IDENTITY)]
    if not shape:
        raise InvalidInput("shape", "is empty: a body has at least one shape")
    parts: list[tuple[Shape, Floats]] = []
    for item in shape:
        placed: Sequence[Any] = (
            item if isinstance(item, tuple) and len(item) == 2 and np.shape(item[1]) == (4, 4) else (item, IDENTITY)
        )
        part = as_shape(placed[0])
        if isinstance(part, Soft):
            raise Unsupported("a deformable body as part of another")
        parts.append((part, arrays.rigid_poses(arrays.pose(placed[1], "pose")[np.newaxis], "pose")[0]))
    return parts


def weigh_parts(parts: list[tuple[Shape, Floats]], kind: int, options: dict[str, Any]) -> MassProperties:
    """Mass properties of the whole; of a body that nothing moves only the center matters, and any point will do."""
    density = arrays.positive(options["density"], "density")
    wanted = None if options["mass"] is None else arrays.positive(options["mass"], "mass")
    if kind != DYNAMIC:
        return MassProperties(1.0, np.zeros(3), np.zeros((3, 3)))
    weights = [shape.weigh(density) for shape, _ in parts]
    total = combine(weights, [p[:3, :3] for _, p in parts], [p[:3, 3] for _, p in parts])
    if wanted is None:
        return total
    return MassProperties(wanted, total.centre, frozen(total.inertia * (wanted / total.mass)))


def radius_of(shape: Shape, place: Floats, center: Floats) -> float:
    """The farthest that a point of a shape is from the center."""
    vertices: Floats = getattr(shape, "core", shape).vertices  # pyright: ignore[reportAttributeAccessIssue]
    return float(np.linalg.norm(vertices @ place[:3, :3].T + place[:3, 3] - center, axis=1).max()) + shape.radius
