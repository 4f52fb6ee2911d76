"""The farthest points of shapes along a direction: of polytopes a vertex, of cylinders and cones a point of the rim, the tip, by their formulas."""

import math

from abut.core.jit import kernel, stay_apart
from abut.geometry.rows import vector_at
from abut.geometry.vec import Vec3, dot
from abut.shapes.columns import CYLINDRICAL, FACETED
from abut.shapes.pool import FORM, MEASURES, V0, V1, Cores


@kernel
def is_round(cores: Cores, sa: int, sb: int) -> bool:
    """Whether one of two shapes at least is not its core: a cylinder, a cone or a half-space."""
    return cores.table[sa, FORM] != FACETED or cores.table[sb, FORM] != FACETED


@kernel
def find_farthest(cores: Cores, s: int, d: Vec3) -> Vec3:
    """The point of a core, not grown, that is farthest along a direction of its own frame; no half-space."""
    stay_apart()
    form = cores.table[s, FORM]
    if form == FACETED:
        best, found = -math.inf, 0
        for i in range(cores.table[s, V0], cores.table[s, V1]):
            height = dot(vector_at(cores.vertices, i), d)
            if height > best:
                best, found = height, i
        return vector_at(cores.vertices, found)
    radius, half, _ = vector_at(cores.vertices, cores.table[s, MEASURES])
    across = math.hypot(d[0], d[1])
    x, y = (d[0] / across, d[1] / across) if across > 0.0 else (1.0, 0.0)
    if form == CYLINDRICAL:
        return radius * x, radius * y, half if d[2] >= 0.0 else -half
    if 2.0 * half * d[2] > radius * across:
        return 0.0, 0.0, half
    return radius * x, radius * y, -half
