"""What every surgery ends with: the changes are made (`grafts`), and what became of cells and parts is noted for those who are in them."""

from collections.abc import Sequence, Set

import numpy as np

from abut.cells.edit.grafts import graft
from abut.cells.edit.interior import NO_REGION, Interior
from abut.cells.edit.surgery import Rings
from abut.core.arrays import Floats
from abut.core.errors import InvalidInput


def perform(
    inside: Interior,
    rings: Rings,
    added: Floats | None = None,
    heirs: Sequence[tuple[int, int]] = (),
    dented: Set[int] = frozenset(),
) -> None:
    """Make the changes of `rings`. `added` are vertices that are new; `heirs` pairs of a cell and one that has got something of it.

    `dented` are further cells that need not be convex. A refusal leaves everything as it was.
    """
    added = np.empty((0, inside.dimension)) if added is None else added
    if inside.motion is not None:
        inside.bring_up_to_date()
    may_dent = inside.dented | dented
    for inhabitant in inside.inhabitants:
        inhabitant.complete_results()
    inside.versions.stamp_moved()
    count, fabric = max(inside.cell_count, *(cell + 1 for cell in rings.changed)), inside.fabric
    obstacle = inside.obstacle
    if count > inside.cell_count:
        obstacle = np.concatenate((obstacle, np.zeros(count - inside.cell_count, np.bool_)))
        for cell, heir in heirs:
            if heir >= inside.cell_count:
                obstacle[heir] = obstacle[cell]
    raised = added if inside.dimension == 3 else np.column_stack((added, np.zeros(len(added))))
    displaced = fabric.add_vertices(raised) if len(added) else None
    try:
        done = graft(fabric, rings.changed, inside.rings_of, obstacle, inside.recipe.name, may_dent)
    except InvalidInput:
        if displaced is not None:
            fabric.remove_last_vertices(len(added), displaced)
        inside.take_views()
        raise
    inside.take_views()
    inside.versions.note_parts(done.old_parts, done.new_parts, part_count=len(inside.part_cell))
    inside.dented = may_dent
    new = inside.marks.take(count - inside.cell_count)
    inside.obstacle[new], inside.region[new] = obstacle[new], NO_REGION
    for cell, heir in heirs:
        if heir >= count - len(new):
            inside.region[heir] = inside.region[cell]
    inside.rings.update(rings.changed)
    version = inside.versions.latest
    for part, cell in zip(done.old_parts.tolist(), done.old_cells.tolist(), strict=True):
        inside.history.note_part(version, part, cell)
    for cell, heir in heirs:
        inside.history.note_heir(version, cell, heir)
    inside.history.forget(min((inhabitant.seen for inhabitant in inside.inhabitants), default=version))
    if len(added):
        inside.note_vertices(added)
