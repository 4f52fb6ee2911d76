"""The walls that may be near a part of a mobile while it and the walls move, found by going from cell to cell.

What is nearest to a body inside the free cells can be seen from it: the segment between the two lies in free cells, as does the path of the body up
to a first contact. So it is enough to go from the cells of the corners through those faces whose boxes, over the whole step, meet the box of what
the body sweeps, grown by the distance. The cost follows the cells in that box, not the size of the environment.
"""

from abut.cells.map.darts import Row
from abut.cells.settle.moving_cells import lowest_corner
from abut.cells.space.records import BLOCKED, NO_FACE, Space
from abut.cells.walk.segment_walk import COUNT, Front, begin, push
from abut.core.arrays import Floats, Integers
from abut.core.jit import element, inlined, integer, kernel, stay_apart
from abut.geometry.vec import Vec3

Box = tuple[Vec3, Vec3]


@element
def grow(box: Box, p: Vec3, by: float) -> Box:
    """A box that holds all within a distance of p too."""
    low, high = box
    return (
        (min(low[0], p[0] - by), min(low[1], p[1] - by), min(low[2], p[2] - by)),
        (max(high[0], p[0] + by), max(high[1], p[1] + by), max(high[2], p[2] + by)),
    )


@kernel
def _misses(before: Floats, after: Floats, dart: Row, space: Space, box: Box) -> bool:
    """Whether a face, wherever it is in the step, lies beside a box."""
    stay_apart()
    low, high = box
    for k in range(3):
        least, most = before[space.vertex[dart], k], before[space.vertex[dart], k]
        here = dart
        while True:
            vertex = space.vertex[here]
            least = min(least, before[vertex, k], after[vertex, k])
            most = max(most, before[vertex, k], after[vertex, k])
            here = integer(space.phi1[here])
            if here == dart:
                break
            if space.dimension == 2:
                vertex = space.vertex[here]
                least = min(least, before[vertex, k], after[vertex, k])
                most = max(most, before[vertex, k], after[vertex, k])
                break
        if most < low[k] or least > high[k]:
            return True
    return False


@kernel
def meets_face(space: Space, dart: Row, box: Box) -> bool:
    """Whether the box of a face, as it is now, meets a box."""
    return not _misses(space.vertices, space.vertices, dart, space, box)


@inlined
def _note(walls: Integers, count: int, dart: Row, a: Row, b: Row, c: Row) -> int:
    if count < len(walls):
        walls[count, 0], walls[count, 1], walls[count, 2], walls[count, 3] = dart, a, b, c
    return count + 1


@kernel
def list_walls(
    space: Space, before: Floats, after: Floats, front: Front, seeds: tuple[Row, Row, Row], box: Box, walls: Integers
) -> int:
    """Write (dart, three vertices) for each triangle of a wall that may meet a box; in the plane the last vertex comes twice. How many there are,
    which may be more than there is room for."""
    stay_apart()
    begin(front)
    for seed in seeds:
        push(front, seed)
    count, at = integer(0), 0
    while at < front.state[COUNT]:
        part = integer(front.queue[at])
        at += 1
        for slot in range(space.face.shape[1]):
            dart = integer(space.face[part, slot])
            if dart == NO_FACE or _misses(before, after, dart, space, box):
                continue
            if space.neighbour[part, slot] != BLOCKED:
                push(front, integer(space.neighbour[part, slot]))
                continue
            if space.dimension == 2:
                b = integer(space.vertex[space.phi1[dart]])
                count = _note(walls, count, dart, integer(space.vertex[dart]), b, b)
                continue
            lowest = lowest_corner(space, dart)
            here = integer(space.phi1[lowest])
            while integer(space.phi1[here]) != lowest:
                a, b = integer(space.vertex[here]), integer(space.vertex[space.phi1[here]])
                count = _note(walls, count, dart, integer(space.vertex[lowest]), a, b)
                here = integer(space.phi1[here])
    return count
