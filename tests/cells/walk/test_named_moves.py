"""Moves with a name: along, through, onto and from vertices, edges and faces, of zero length, and past everything."""

import numpy as np
import pytest

from abut import cells

FREE, CONTACT, COLLISION = cells.FREE, cells.CONTACT, cells.COLLISION
# A block of 3×3×3 cubes; obstacles at the corner cube (2,2,2) and, edge to edge, at (0,2,1) and (1,1,1).
OBSTACLES = [(2, 2, 2), (0, 2, 1), (1, 1, 1)]

CASES = {
    "stays inside": ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5), FREE, (0.5, 0.5, 0.5), cells.VOLUME),
    "stays on a wall": ((0.0, 0.5, 0.5), (0.0, 0.5, 0.5), CONTACT, (0.0, 0.5, 0.5), cells.FACE),
    "onto a wall": ((0.5, 0.5, 0.5), (0.0, 0.5, 0.5), CONTACT, (0.0, 0.5, 0.5), cells.FACE),
    "onto an inner face": ((0.5, 0.5, 0.5), (1.0, 0.5, 0.5), FREE, (1.0, 0.5, 0.5), cells.FACE),
    "onto a free edge": ((0.25, 0.25, 2.5), (1.0, 1.0, 2.5), FREE, (1.0, 1.0, 2.5), cells.EDGE),
    "onto a vertex of an obstacle": ((0.5, 0.5, 0.5), (1.0, 1.0, 1.0), CONTACT, (1.0, 1.0, 1.0), cells.VERTEX),
    "through a wall": ((0.5, 0.5, 0.5), (0.5, 0.5, -0.5), COLLISION, (0.5, 0.5, 0.0), cells.FACE),
    "into an obstacle": ((0.5, 1.5, 1.5), (1.5, 1.5, 1.5), COLLISION, (1.0, 1.5, 1.5), cells.FACE),
    "into an obstacle at its edge": ((0.5, 0.5, 1.5), (1.5, 1.5, 1.5), COLLISION, (1.0, 1.0, 1.5), cells.EDGE),
    "into an obstacle at its corner": ((0.5, 0.5, 0.5), (1.5, 1.5, 1.5), COLLISION, (1.0, 1.0, 1.0), cells.VERTEX),
    "through free edges": ((0.5, 0.5, 2.5), (1.75, 1.75, 2.5), FREE, (1.75, 1.75, 2.5), cells.VOLUME),
    "between two obstacles, through their common edge": (
        (0.5, 1.5, 1.5),
        (1.5, 2.5, 1.5),
        FREE,
        (1.5, 2.5, 1.5),
        cells.VOLUME,
    ),
    "past an obstacle's edge": ((0.5, 0.0, 1.5), (1.5, 2.0, 1.5), COLLISION, (1.0, 1.0, 1.5), cells.EDGE),
    "along a free edge": ((1.0, 1.0, 2.25), (1.0, 1.0, 2.75), FREE, (1.0, 1.0, 2.75), cells.EDGE),
    "along an obstacle's edge to its end": ((1.0, 1.0, 0.5), (1.0, 1.0, 1.5), CONTACT, (1.0, 1.0, 1.5), cells.EDGE),
    "along an obstacle's edge and beyond": ((1.0, 1.0, 0.5), (1.0, 1.0, 2.5), FREE, (1.0, 1.0, 2.5), cells.EDGE),
    "along an obstacle's face": ((1.0, 1.25, 1.25), (1.0, 1.75, 1.75), CONTACT, (1.0, 1.75, 1.75), cells.FACE),
    "along a wall to the corner": ((0.0, 0.5, 0.5), (0.0, 0.0, 0.0), CONTACT, (0.0, 0.0, 0.0), cells.VERTEX),
    "along a wall and out": ((0.0, 0.5, 0.5), (0.0, -0.5, 0.5), COLLISION, (0.0, 0.0, 0.5), cells.EDGE),
    "from a corner out": ((0.0, 0.0, 0.0), (-1.0, -1.0, -1.0), COLLISION, (0.0, 0.0, 0.0), cells.VERTEX),
    "from a corner in": ((0.0, 0.0, 0.0), (0.5, 0.25, 0.125), FREE, (0.5, 0.25, 0.125), cells.VOLUME),
    "from a vertex along a face": ((1.0, 1.0, 1.0), (0.5, 0.5, 1.0), FREE, (0.5, 0.5, 1.0), cells.FACE),
    "the whole diagonal, but for the last cube": (
        (0.0, 3.0, 0.0),
        (3.0, 0.0, 3.0),
        COLLISION,
        (1.0, 2.0, 1.0),
        cells.VERTEX,
    ),
    "far beyond everything": ((0.5, 0.5, 0.5), (1e60, 0.5, 0.5), COLLISION, (3.0, 0.5, 0.5), cells.FACE),
}


def block():
    marks = np.zeros((3, 3, 3), bool)
    for cube in OBSTACLES:
        marks[cube] = True
    return cells.channel(3, 3, 3, marks.ravel())


@pytest.mark.parametrize("walk", ["planes", "darts"])
@pytest.mark.parametrize("name", CASES)
def test_move(name, walk):
    start, target, status, end, kind = CASES[name]
    crowd = cells.Particles(block(), [start], walk)
    moves = crowd.move([target])
    assert moves.status[0] == status
    assert moves.position[0] == pytest.approx(end, abs=1e-13)
    assert moves.kind[0] == kind
    if status != COLLISION:
        assert moves.position[0].tolist() == list(target)
        assert moves.time[0] == 1
    again = crowd.move(moves.position)
    assert again.position.tolist() == moves.position.tolist()
    assert again.status[0] != COLLISION


def test_no_particles():
    crowd = cells.Particles(block(), np.empty((0, 3)))
    assert len(crowd) == len(crowd.move(np.empty((0, 3)))) == 0
    assert crowd.position.shape == (0, 3)


@pytest.mark.parametrize("walk", ["planes", "darts"])
def test_moves_in_the_plane(walk):
    """Four squares, of which that at the lower right and that at the upper left are obstacles."""
    vertices = [(x, y) for x in range(3) for y in range(3)]
    squares = [[3 * x + y, 3 * x + 3 + y, 3 * x + 4 + y, 3 * x + 1 + y] for x in range(2) for y in range(2)]
    env = cells.polygons(vertices, squares, [False, True, True, False])
    for start, target, status, end, kind in (
        ((0.5, 0.5), (1.5, 1.5), FREE, (1.5, 1.5), cells.FACE),
        ((0.5, 0.5), (1.5, 0.5), COLLISION, (1.0, 0.5), cells.EDGE),
        ((0.5, 0.25), (1.5, 1.75), FREE, (1.5, 1.75), cells.FACE),
        ((0.5, 0.5), (1.0, 1.0), CONTACT, (1.0, 1.0), cells.VERTEX),
        ((1.0, 0.5), (1.0, 1.5), CONTACT, (1.0, 1.5), cells.EDGE),
        ((0.0, 0.0), (-1.0, 0.5), COLLISION, (0.0, 0.0), cells.VERTEX),
    ):
        moves = cells.Particles(env, [start], walk).move([target])
        assert moves.status[0] == status, (start, target)
        assert moves.position[0].tolist() == list(end)
        assert moves.kind[0] == kind
