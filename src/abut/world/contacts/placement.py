"""Where colliders are: their poses and boxes in the world, from their bodies' states."""

import math

from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel
from abut.core.records import Records
from abut.geometry.frames import Frame, carry, frame_of, turn
from abut.geometry.quaternions import matrix_columns
from abut.geometry.rows import vector_at
from abut.geometry.vec import dot
from abut.shapes.columns import HALF_SPACE
from abut.shapes.pool import FORM, KIND, MEASURES, ROOT, SIDE, SURFACE, V0, V1, Cores
from abut.shapes.surfaces import GROUND

ENDLESS = 1e30
"""Where the box of a half-space ends that has no end."""


@kernel
def place_colliders(states: Records, bodies: Integers, local: Floats, poses: Floats) -> None:
    """Poses (n,12) of colliders: the rotation and center of mass of the body's state, then the collider's own place there, `local` (n,12).

    −1: no body."""
    for i in range(len(bodies)):
        if bodies[i] < 0:
            continue
        position, q = states[bodies[i]].position, states[bodies[i]].quaternion
        columns = matrix_columns((q[0], q[1], q[2], q[3]))
        for r in range(3):
            x, y, z = columns[0][r], columns[1][r], columns[2][r]
            for c in range(3):
                poses[i, 3 * r + c] = x * local[i, c] + y * local[i, 3 + c] + z * local[i, 6 + c]
            poses[i, 9 + r] = x * local[i, 9] + y * local[i, 10] + z * local[i, 11] + position[r]


@kernel
def bound_colliders(cores: Cores, tree_boxes: Floats, shapes: Integers, poses: Floats, boxes: Floats) -> None:
    """Boxes (n,6) of colliders in the world, not grown. Rows of shape −1 are left alone."""
    for i in range(len(shapes)):
        s = shapes[i]
        if s < 0:
            continue
        x0, y0, z0, x1, y1, z1 = math.inf, math.inf, math.inf, -math.inf, -math.inf, -math.inf
        frame = frame_of(poses, i)
        if cores.table[s, FORM] == HALF_SPACE:
            _bound_half_space(cores, s, frame, boxes, i)
            continue
        surface = cores.table[s, KIND] == SURFACE
        first, last = cores.table[s, V0], cores.table[s, V1]
        root = cores.table[s, ROOT]
        for k in range(8 if surface else last - first):
            if surface:
                p = (
                    tree_boxes[root, 3 * (k & 1)],
                    tree_boxes[root, 1 + 3 * ((k >> 1) & 1)],
                    tree_boxes[root, 2 + 3 * (k >> 2)],
                )
                if k < 4 and cores.table[s, SIDE] == GROUND:  # solid below, as deep as it is wide
                    wide = max(tree_boxes[root, 3] - tree_boxes[root, 0], tree_boxes[root, 4] - tree_boxes[root, 1])
                    p = (p[0], p[1], p[2] - wide)
            else:
                p = (cores.vertices[first + k, 0], cores.vertices[first + k, 1], cores.vertices[first + k, 2])
            x, y, z = carry(frame, p)
            x0, y0, z0, x1, y1, z1 = min(x0, x), min(y0, y), min(z0, z), max(x1, x), max(y1, y), max(z1, z)
        r = cores.radius[s]
        boxes[i, 0], boxes[i, 1], boxes[i, 2] = x0 - r, y0 - r, z0 - r
        boxes[i, 3], boxes[i, 4], boxes[i, 5] = x1 + r, y1 + r, z1 + r


@kernel
def _bound_half_space(cores: Cores, s: int, frame: Frame, boxes: Floats, i: int) -> None:
    """All of space, or if an axis is the normal, what is behind the plane."""
    row = cores.table[s, MEASURES]
    n = turn(frame[0], vector_at(cores.vertices, row))
    offset = dot(n, frame[1]) + cores.vertices[row + 1, 0]
    for k in range(3):
        boxes[i, k], boxes[i, k + 3] = -ENDLESS, ENDLESS
        if n[k] == 1.0:
            boxes[i, k + 3] = offset
        elif n[k] == -1.0:
            boxes[i, k] = -offset
