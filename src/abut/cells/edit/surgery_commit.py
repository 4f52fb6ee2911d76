"""What every surgery ends with: the changes are made (`grafts`), and what became of cells and parts is noted for those who are in them."""

from typing import TYPE_CHECKING

import numpy as np

from abut.cells.edit.grafts import graft
from abut.cells.edit.surgery import Rings
from abut.core.arrays import Floats
from abut.core.errors import InvalidInput

if TYPE_CHECKING:
    from abut.cells.environment import Environment


def perform(env: "Environment", rings: Rings, added: Floats, heirs: list[tuple[int, int]], dented: set[int]) -> None:
    """Make the changes of `rings`. `added` are vertices that are new; `heirs` pairs of a cell and one that has got something of it.

    `dented` are further cells that need not be convex. A refusal leaves everything as it was.
    """
    may_dent = env._dented | dented
    for crowd in env._crowds:
        crowd._complete()
    env._versions.stamp_moved()
    count, fabric = max(env.cell_count, *(cell + 1 for cell in rings.changed)), env._fabric
    obstacle = env._obstacle
    if count > env.cell_count:
        obstacle = np.concatenate((obstacle, np.zeros(count - env.cell_count, np.bool_)))
        for cell, heir in heirs:
            if heir >= env.cell_count:
                obstacle[heir] = obstacle[cell]
    if len(added):
        fabric.add_vertices(added if env.dimension == 3 else np.column_stack((added, np.zeros(len(added)))))
    try:
        done = graft(fabric, rings.changed, env._rings_of, obstacle, env._recipe.name, may_dent)
    except InvalidInput:
        if len(added):
            fabric.remove_last_vertices(len(added))
        env._take_views()
        raise
    env._take_views()
    env._versions.note_parts(done.old_parts, done.new_parts, part_count=len(env._part_cell))
    env._dented = may_dent
    new = env._marks.take(count - env.cell_count)
    env._obstacle[new] = obstacle[new]
    env._rings.update(rings.changed)
    version = env._versions.latest
    for part, cell in zip(done.old_parts.tolist(), done.old_cells.tolist(), strict=True):
        env._history.note_part(version, part, cell)
    for cell, heir in heirs:
        env._history.note_heir(version, cell, heir)
    env._history.forget(min((crowd._seen for crowd in env._crowds), default=version))
    if len(added):
        env._given = None
