"""Which edges and faces of a mobile go through walls where they are now, and through which (Jund 2010, §4.4: the environment moves)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.cells.edit.interior import Interior
from abut.cells.map.darts import Row
from abut.cells.mobile.steps.step_tests import list_cells
from abut.cells.mobile.sweeps.edge_sweep import search_triangle
from abut.cells.space.predicates import NOWHERE
from abut.cells.space.records import NO_FACE, Space
from abut.cells.walk.segment_walk import ANY_CELL, Front, begin, follow
from abut.core.arrays import Floats, Integers
from abut.core.jit import integer, kernel
from abut.core.records import Records, record
from abut.geometry.rows import vector_at

WALL = record(("part", "i8"), ("entry", "i8"), ("exit_part", "i8"), ("exit", "i8"), ("is_free", "?"))
"""Of an edge: the last free part on the way from its first end, and the dart of the wall there; the same from its second end. Of a face: a dart of
the wall that comes through it, twice; NOWHERE where one of its edges is not free."""


class Points(NamedTuple):
    """Positions (n,3), and the parts that hold them."""

    position: Floats
    part: NDArray[np.int32]


@kernel
def find_walls(space: Space, fronts: Front, points: Points, edges: Integers, faces: Integers, walls: Records) -> int:
    """Fill the rows of the edges, then of the faces; how many go through a wall."""
    front, count = Front(fronts.seen[0], fronts.queue[0], fronts.state[0]), 0
    for k in range(len(edges) + len(faces)):
        face, row = k - len(edges), walls[k]
        row.is_free = True
        a, b = (edges[k, 0], edges[k, 1]) if face < 0 else (faces[face, 0], faces[face, 1])
        c = b if face < 0 else faces[face, 2]
        p, g, q = vector_at(points.position, a), vector_at(points.position, b), vector_at(points.position, c)
        home, goal = integer(points.part[a]), integer(points.part[b])
        if home == goal and points.part[c] == home:
            continue
        if face < 0:
            begin(front)
            cell, slot, _, _ = follow(space, front, False, home, p, g, integer(ANY_CELL))
            if slot != NO_FACE:
                row.is_free, row.part, row.entry = False, cell, space.face[cell, slot]
                begin(front)
                cell, slot, _, _ = follow(space, front, False, goal, g, p, integer(ANY_CELL))
                row.exit_part, row.exit = cell, space.face[cell, max(slot, 0)]
        else:
            free = list_cells(space, front, integer(2), (home, home, home, home), (p, p, p, p), (g, q, q, q))
            dart = integer(NOWHERE)
            if free == 2:
                time, _, found = search_triangle(space, front, p, g, q)
                row.is_free, dart = time == np.inf, integer(found)
            else:
                row.is_free = False
            row.part, row.entry, row.exit_part, row.exit = home, dart, home, dart
        count += 0 if row.is_free else 1
    return count


def corners_of_wall(interior: Interior, dart: Row) -> Integers:
    """The vertices of a face of a part; in the plane the two ends of an edge."""
    darts, ring = interior.darts, [int(dart)]
    if interior.dimension == 2:
        ring.append(int(darts.phi1[ring[0]]))
    else:
        while (following := int(darts.phi1[ring[-1]])) != ring[0]:
            ring.append(following)
    return darts.vertex[ring].astype(np.int64)
