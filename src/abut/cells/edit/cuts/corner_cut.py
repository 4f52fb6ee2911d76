"""A cell cut along some of its corners."""

import numpy as np

from abut.cells.arguments import read_numbers
from abut.cells.edit.cuts.bulging_faces import open_along
from abut.cells.edit.cuts.plane_cut import finish_cut
from abut.cells.edit.interior import Interior
from abut.cells.edit.surgery import cut_cell
from abut.core.errors import InvalidInput
from abut.core.types import IndicesLike


def cut_along(inside: Interior, cell: int, corners: IndicesLike, slit: bool) -> int:
    """Divide a cell by a face with these corners; the number of the new cell."""
    loop = read_numbers(corners, "corners", inside.fabric.vertex_count)
    in_space = inside.dimension == 3
    if (len(loop) < 3 if in_space else len(loop) != 2) or len(np.unique(loop)) != len(loop):
        raise InvalidInput("corners", f"must be {'three or more' if in_space else 'two'} different vertices")
    pair, rings = (cell, inside.cell_count), inside.open_rings()
    bent = open_along(inside, rings, cell, loop.tolist()) if in_space else set[int]()
    cut_cell(rings, cell, loop.tolist(), pair[1])
    finish_cut(inside, rings, np.empty((0, inside.dimension)), [pair], [pair], slit, bent)
    return pair[1]
