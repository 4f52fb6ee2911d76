"""Cells that become obstacles, or free: their parts and those across their faces are told."""

import numpy as np
from numpy.typing import NDArray

from abut.cells.edit.interior import Interior
from abut.cells.space.records import link_cells
from abut.cells.walk.reentrant_edges import Remembered
from abut.core.arrays import Integers


def mark_obstacles(inside: Interior, chosen: Integers, marks: NDArray[np.bool_]) -> None:
    """Give cells these marks."""
    after = inside.obstacle.copy()
    after[chosen] = marks
    changed = np.flatnonzero(inside.obstacle != after)
    if not len(changed):
        return
    if inside.motion is not None:
        inside.bring_up_to_date()
    inside.obstacle[changed] = after[changed]
    space = inside.space
    _, parts = inside.list_parts().gather(changed)
    space.obstacle[parts] = inside.obstacle[inside.part_cell[parts]]
    faces = space.face[parts]
    beyond = space.cell[space.across[faces[faces >= 0]]]
    around = np.concatenate((parts, beyond[beyond >= 0])).astype(np.int64)
    link_cells(space, np.unique(around))
    inside.reentrant = Remembered()
    inside.versions.note_parts(parts.astype(np.int64), part_count=len(inside.part_cell))
