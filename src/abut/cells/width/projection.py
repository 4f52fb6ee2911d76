"""The least change of a motion that keeps it before the planes of contacts: projected Gauss–Seidel, for vertices that go each by itself, and for a
body that moves as one.

A contact says that the point of the body, a mean of its corners, may go `room` further along n than the point of the wall; negative room is a push.
Sweeps end when the largest correction is below DONE of the largest seen, or after MOST_SWEEPS. Nothing here is trusted: what comes out is tested
for what it sweeps, and gone as far as that is free.
"""

import numpy as np
from numpy.typing import NDArray

from abut.cells.width.contacts import Walls
from abut.core.arrays import Floats
from abut.core.jit import kernel
from abut.core.records import Records
from abut.geometry.vec import Vec3, cross, dot, subtract

MOST_SWEEPS = 200
DONE = 2.0**-20


@kernel
def project_vertices(
    touches: Records, room: Floats, gives_way: NDArray[np.bool_], motion: Floats, pushed: Floats
) -> None:
    """Change the motions (n,3) of those vertices that give way; `pushed` (k,) is what each contact has added to its side of the plane, in all."""
    largest = 0.0
    for _ in range(MOST_SWEEPS):
        change = 0.0
        for k in range(len(touches)):
            t = touches[k]
            shares, rows = (t.share_a, t.share_b, t.share_c), (t.a, t.b, t.c)
            weight, along = 0.0, 0.0
            for i in range(t.corners):
                row = rows[i]
                weight += shares[i] * shares[i] if gives_way[row] else 0.0
                along += shares[i] * (motion[row, 0] * t.nx + motion[row, 1] * t.ny + motion[row, 2] * t.nz)
            if not weight > 0.0:
                continue
            new = max(0.0, pushed[k] + (along - room[k]) / weight)
            step, pushed[k] = new - pushed[k], new
            change = max(change, abs(step))
            for i in range(t.corners):
                row = rows[i]
                if gives_way[row]:
                    motion[row, 0] -= step * shares[i] * t.nx
                    motion[row, 1] -= step * shares[i] * t.ny
                    motion[row, 2] -= step * shares[i] * t.nz
        largest = max(largest, change)
        if change <= DONE * largest:
            return


@kernel
def project_twist(
    touches: Records, points: Floats, room: Floats, center: Vec3, mass: float, inverse: Floats, twist: Floats, pushed: Floats
) -> None:  # fmt: skip
    """Change a displacement and a turn (6,) about the center; `points` (k,3) are those of the body. The measure of change is the kinetic energy of a
    body of this mass with this inverse of its inertia (3,3), so `pushed` is the impulse of each contact."""
    largest = 0.0
    for _ in range(MOST_SWEEPS):
        change = 0.0
        for k in range(len(touches)):
            t = touches[k]
            n = (t.nx, t.ny, t.nz)
            arm = cross(subtract((points[k, 0], points[k, 1], points[k, 2]), center), n)
            turn = (
                inverse[0, 0] * arm[0] + inverse[0, 1] * arm[1] + inverse[0, 2] * arm[2],
                inverse[1, 0] * arm[0] + inverse[1, 1] * arm[1] + inverse[1, 2] * arm[2],
                inverse[2, 0] * arm[0] + inverse[2, 1] * arm[1] + inverse[2, 2] * arm[2],
            )
            weight = 1.0 / mass + dot(arm, turn)
            along = dot(n, (twist[0], twist[1], twist[2])) + dot(arm, (twist[3], twist[4], twist[5]))
            new = max(0.0, pushed[k] + (along - room[k]) / weight)
            step, pushed[k] = new - pushed[k], new
            change = max(change, abs(step) * weight)
            for i in range(3):
                twist[i] -= step / mass * n[i]
                twist[3 + i] -= step * turn[i]
        largest = max(largest, change)
        if change <= DONE * largest:
            return


def distinct(touches: Records) -> Records:
    """The contacts without those that say what another one says: the same corners of the body, the same point of the wall."""
    names = ("a", "b", "c", "x", "y", "z")
    keys = np.stack([touches[name].astype(np.float64) for name in names], axis=1)
    _, first = np.unique(keys, axis=0, return_index=True)
    return touches[np.sort(first)]


def room_of(touches: Records, least: float, walls: Walls) -> Floats:
    """(k,) how far each contact lets the body go along its direction, while the walls go on to their end."""
    room = touches["distance"] - least
    for corner in ("u", "v", "w"):
        rows, share = touches[corner], touches["share_" + corner]
        gone = (1.0 - walls.begin) * (walls.after[rows] - walls.before[rows])
        room = room + share * (touches["nx"] * gone[:, 0] + touches["ny"] * gone[:, 1] + touches["nz"] * gone[:, 2])
    return np.ascontiguousarray(room)
