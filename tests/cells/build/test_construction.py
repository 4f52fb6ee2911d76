"""Construction: what is built, and everything that is refused, by name and number."""

import numpy as np
import pytest

from abut import InvalidInput, cells
from abut.cells.space import subdivision
from cells import worlds

# Compiled code is silent; its twin in NumPy warns where an infinite number is multiplied.
pytestmark = pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered:RuntimeWarning")

CUBE = np.array(worlds.CORNERS, float)
HEX = np.arange(8)[np.newaxis]
TET = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
SQUARE = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
OUTWARD = [[0, 3, 2, 1], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]]


def changed(array, where, value):
    copy = np.array(array)
    copy[where] = value
    return copy


REFUSED = {
    "flat tetrahedron": (
        lambda: cells.tetrahedra(changed(TET, 3, (0.3, 0.3, 0)), [[0, 1, 2, 3]]),
        "tetrahedra[0]: is flat",
    ),
    "corner twice": (lambda: cells.tetrahedra(TET, [[0, 1, 1, 3]]), "tetrahedra[0]: has a corner twice"),
    "index": (lambda: cells.tetrahedra(TET, [[0, 1, 2, 4]]), "tetrahedra[0]: index 4 is not below 4"),
    "no cells": (lambda: cells.hexahedra(CUBE, np.empty((0, 8), int)), "hexes: holds no cells"),
    "columns": (lambda: cells.hexahedra(CUBE, [[0, 1, 2]]), "hexes: has shape (1, 3), expected (n, 8)"),
    "inverted hexahedron": (lambda: cells.hexahedra(CUBE, HEX[:, [4, 5, 6, 7, 0, 1, 2, 3]]), "hexes[0]: is inverted"),
    "dented hexahedron": (
        lambda: cells.hexahedra(changed(CUBE, 6, (-0.2, -0.2, -0.2)), HEX),
        "hexes[0]: is not convex: it is not even star-shaped",
    ),
    "collinear corners": (
        lambda: cells.hexahedra(changed(CUBE, 1, (0.5, 0.5, 0)), HEX),
        "hexes[0]: three successive corners of one of its faces lie in a line",
    ),
    "NaN": (lambda: cells.hexahedra(changed(CUBE, (6, 1), np.nan), HEX), "vertices[6]: is NaN"),
    "mask length": (lambda: cells.channel(2, 1, 1, [True]), "obstacle: has shape (1,), expected (2,)"),
    "mask values": (lambda: cells.channel(2, 1, 1, [0, 2]), "obstacle: holds other values than False and True"),
    "same side": (
        lambda: cells.tetrahedra(np.concatenate((TET, [[0.1, 0.1, 2]])), [[0, 1, 2, 3], [0, 1, 2, 4]]),
        "tetrahedra[0]: lies on the same side of a face as cell 1",
    ),
    "three cells at a face": (
        lambda: cells.tetrahedra(
            np.concatenate((TET, [[0, 0, -1], [0, 0.1, -1]])), [[0, 1, 2, 3], [0, 2, 1, 4], [0, 2, 1, 5]]
        ),
        "one of its faces belongs to more than two cells",
    ),
    "dangling face": (lambda: cells.polyhedra(CUBE, [[*OUTWARD, [0, 1, 2]]]), "cells[0]: edge"),
    "missing face": (lambda: cells.polyhedra(CUBE, [OUTWARD[:5]]), "cells[0]: edge"),
    "face turned around": (
        lambda: cells.polyhedra(CUBE, [[OUTWARD[0][::-1], *OUTWARD[1:]]]),
        "cells[0]: two faces of the cell pass edge",
    ),
    "few faces": (lambda: cells.polyhedra(CUBE, [OUTWARD[:3]]), "cells[0]: has 3 faces"),
    "short face": (lambda: cells.polyhedra(CUBE, [[[0, 1], *OUTWARD]]), "cells[0]: has a face of 2 corners"),
    "dented polyhedron": (lambda: cells.polyhedra(*dented()), "cells[0]: is not convex"),
    "clockwise polygon": (lambda: cells.polygons(SQUARE, [[0, 3, 2, 1]]), "polygons[0]: is inverted"),
    "dented polygon": (
        lambda: cells.polygons(changed(SQUARE, 2, (0.2, 0.2)), [[0, 1, 2, 3]]),
        "polygons[0]: is not convex",
    ),
    "straight corner": (
        lambda: cells.polygons(changed(SQUARE, 2, (0.5, 0.5)), [[0, 1, 2, 3]]),
        "polygons[0]: three successive corners of one of its faces lie in a line",
    ),
    "flat polygon": (lambda: cells.polygons([[0, 0], [1, 1], [2, 2]], [[0, 1, 2]]), "polygons[0]: is flat"),
    "polygons on one side": (
        lambda: cells.polygons([[0, 0], [1, 0], [0, 1], [0, 2]], [[0, 1, 2], [0, 1, 3]]),
        "polygons[0]: lies on the same side of edge",
    ),
    "hanging node": (
        lambda: cells.hexahedra(*beside(1.0, 0.5, 0.0)),
        "hexes[1]: vertex 2 lies on its border and is no corner of it (a hanging node)",
    ),
    "overlap": (lambda: cells.hexahedra(*beside(0.5, 0.5, 0.5)), "hexes[1]: vertex 6 lies inside it: cells overlap"),
    "hanging node in the plane": (
        lambda: cells.polygons([*SQUARE, [2, 0], [2, 1], [1, 0.5]], [[0, 1, 2, 3], [1, 4, 6], [6, 4, 5], [6, 5, 2]]),
        "polygons[0]: vertex 6 lies on its border and is no corner of it",
    ),
    "two triangles at a quad": (
        lambda: cells.mixed([*CUBE, [2, 0.5, 0.5]], hexahedra=HEX, tetrahedra=[[1, 2, 5, 8], [5, 2, 6, 8]]),
        "cells[0]: shares only a part of a face with cell 2",
    ),
    "two triangles at a quad, from its lowest corner": (
        lambda: cells.mixed([*CUBE, [2, 0.5, 0.5]], hexahedra=HEX, tetrahedra=[[1, 2, 6, 8], [1, 6, 5, 8]]),
        "cells[0]: shares only a part of a face with cell 2",
    ),
    "two triangles at a quad that is cut otherwise": (
        lambda: at_warped_quad([1, 2, 5, 8], [5, 2, 6, 8]),
        "only a part",
    ),
    "channel size": (lambda: cells.channel(0, 1, 1), "nx: 0 is not between"),
    "too many darts": (lambda: cells.channel(1000, 1000, 1000), "more darts than 32-bit numbers can count"),
    "outside": (
        lambda: cells.Particles(cells.channel(1, 1, 1), [[0.5, 0.5, 0.5], [2, 0, 0]]),
        "points[1]: lies outside",
    ),
    "in an obstacle": (
        lambda: cells.Particles(cells.channel(2, 1, 1, [False, True]), [[1, 0.5, 0.5], [1.5, 0.5, 0.5]]),
        "points[1]: lies in cell 1, an obstacle, and in no free cell",
    ),
    "NaN target": (
        lambda: cells.Particles(cells.channel(1, 1, 1), [[0.5, 0.5, 0.5]]).move(np.array([[0.5, np.nan, 0.5]])),
        "targets[0]: is NaN",
    ),
    "infinite target": (
        lambda: cells.Particles(cells.channel(1, 1, 1), [[0.5, 0.5, 0.5]]).move(np.array([[0.5, np.inf, 0.5]])),
        "targets[0]: is infinite",
    ),
    "count of targets": (
        lambda: cells.Particles(cells.channel(1, 1, 1), [[0.5, 0.5, 0.5]]).move([[0, 0, 0], [1, 1, 1]]),
        "targets: has 2 rows for 1 particles",
    ),
    "walk": (lambda: cells.Particles(cells.channel(1, 1, 1), [[0, 0, 0]], "legs"), "walk: is 'legs', expected one of"),
}


def beside(*shift):
    """Two cubes, each with corners of its own."""
    return np.concatenate((CUBE, CUBE + np.array(shift))), np.concatenate((HEX, HEX + 8))


def at_warped_quad(*tetrahedra):
    """A hexahedron, one face of which is not planar and cut from its lowest corner, 1 to 6, beside tetrahedra."""
    vertices = np.array([*changed(CUBE, 6, (1.125, 1, 1)), [2, 0.5, 0.5]])
    return cells.mixed(vertices, hexahedra=HEX, tetrahedra=tetrahedra)


def dented():
    """A prism over an L, whose faces are planar."""
    outline = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
    points = [(x, y, z) for z in (0, 1) for x, y in outline]
    sides = [[k, (k + 1) % 6, 6 + (k + 1) % 6, 6 + k] for k in range(6)]
    return points, [[[5, 4, 3, 2, 1, 0], [6, 7, 8, 9, 10, 11], *sides]]


@pytest.mark.parametrize("name", REFUSED)
def test_refuses(name):
    call, words = REFUSED[name]
    with pytest.raises(InvalidInput) as caught:
        call()
    assert words in str(caught.value)


def test_a_refused_move_changes_nothing():
    crowd = cells.Particles(cells.channel(2, 1, 1), [[0.5, 0.5, 0.5], [1.5, 0.5, 0.5]])
    with pytest.raises(InvalidInput, match=r"targets\[1\]: is NaN"):
        crowd.move(np.array([[1.5, 0.5, 0.5], [np.nan, 0.5, 0.5]]))
    assert crowd.position.tolist() == [[0.5, 0.5, 0.5], [1.5, 0.5, 0.5]]
    assert crowd.cell.tolist() == [0, 1]


def test_polyhedra_of_either_orientation_and_the_same_as_hexahedra():
    vertices, hexes = worlds.grid(2)
    outward = [[[int(row[k]) for k in face] for face in OUTWARD] for row in hexes]
    turned = [[face[::-1] for face in cell] if number % 2 else cell for number, cell in enumerate(outward)]
    one, other = cells.polyhedra(vertices, turned), cells.hexahedra(vertices, hexes)
    assert one.check_integrity() == []
    assert len(one.darts.phi1) == len(other.darts.phi1)
    goals = np.array([[1.5, 1.5, 1.5], [1.0, 1.0, 3.0], [2.0, 2.0, 2.0]])
    moves = [cells.Particles(env, np.full((3, 3), 0.5)).move(goals) for env in (one, other)]
    assert moves[0].status.tolist() == moves[1].status.tolist() == [cells.FREE, cells.COLLISION, cells.CONTACT]
    assert (moves[0].position == moves[1].position).all()


def test_mixed_shapes_share_faces():
    """A cube beside a wedge, with a pyramid and a tetrahedron on top."""
    points = [*worlds.CORNERS, (2, 0, 0), (2, 0, 1), (0.5, 0.5, 2), (2, 0.75, 2)]
    env = cells.mixed(
        np.array(points, float),
        hexahedra=[[0, 1, 2, 3, 4, 5, 6, 7]],
        wedges=[[1, 2, 8, 5, 6, 9]],
        pyramids=[[4, 5, 6, 7, 10]],
        tetrahedra=[[5, 9, 6, 11]],
    )
    assert env.check_integrity() == []
    assert env.cell_count == 4
    crowd = cells.Particles(env, [[0.5, 0.5, 0.5], [0.5, 0.5, 0.5], [0.5, 0.5, 0.5]])
    moves = crowd.move([[1.25, 0.25, 0.5], [0.5, 0.5, 1.5], [1.25, 0.375, 1.125]])
    assert moves.status.tolist() == [cells.FREE] * 3
    assert moves.cell.tolist() == [2, 1, 0]


def test_cells_with_faces_that_are_not_planar_are_cut_and_only_those(rng):
    vertices, hexes = worlds.grid(3)
    vertices[np.flatnonzero((vertices == 1).all(axis=1))] += 0.125
    env = cells.hexahedra(vertices, hexes)
    counts = np.bincount(env.part_cell, minlength=27)
    assert ((counts > 1) == (hexes == np.flatnonzero((vertices == 1.125).all(axis=1))).any(axis=1)).all()
    assert (counts[counts > 1] == 9).all()  # three faces in two triangles, three whole
    assert env.check_integrity() == []
    assert len(env.vertices) == 64


def test_a_parallelogram_is_always_cut_from_its_lowest_corner(rng):
    """However thin and long: what `FAIR_SHARE` is chosen for. A corner beside one in the middle of an edge is never chosen."""
    u = rng.normal(size=(200, 3))
    v = u * rng.uniform(0.01, 1, (200, 1)) + rng.normal(size=(200, 3)) * 10.0 ** rng.uniform(-4, 0, (200, 1))
    for a, b in zip(u, v, strict=True):
        points = np.array([0 * a, a, a + b + 1e-9 * np.cross(a, b), b])
        assert [piece[0] for piece in subdivision.pieces_of(points, [1, 2, 3, 0])] == [0, 0]
    straight = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 1e-9], [0, 1, 0], [0.5, 0, 0]])
    assert [piece[0] for piece in subdivision.pieces_of(straight[[0, 4, 1, 2, 3]], [0, 4, 1, 2, 3])] == [2, 2, 2]


def test_triangles_are_sewn_to_a_quadrilateral_that_is_cut_as_they_are():
    env = at_warped_quad([1, 2, 6, 8], [1, 6, 5, 8])
    moves = cells.Particles(env, [[0.5, 0.5, 0.5]] * 2).move([[1.5, 0.5, 0.4], [1.5, 0.4, 0.5]])
    assert moves.status.tolist() == [cells.FREE] * 2
    assert sorted(moves.cell.tolist()) == [0, 1]


def test_obstacles_change_on_the_fly():
    env = cells.channel(3, 1, 1)
    crowd = cells.Particles(env, [[0.5, 0.5, 0.5]])
    env.set_obstacle([1], True)
    assert env.obstacle.tolist() == [False, True, False]
    moves = crowd.move([[2.5, 0.5, 0.5]])
    assert moves.status.tolist() == [cells.COLLISION]
    assert moves.position.tolist() == [[1.0, 0.5, 0.5]]
    env.set_obstacle(1, False)
    assert crowd.move([[2.5, 0.5, 0.5]]).status.tolist() == [cells.FREE]


def test_moves_are_immutable():
    crowd = cells.Particles(cells.channel(1, 1, 1), [[0.5, 0.5, 0.5]])
    moves = crowd.move([[0.25, 0.5, 0.5]])
    before = moves.position.copy()
    with pytest.raises(AttributeError, match="immutable"):
        moves.status = np.zeros(1)
    for name in ("status", "position", "time", "kind", "dart", "normal", "tests", "cell"):
        assert not getattr(moves, name).flags.writeable
    crowd.move([[0.75, 0.5, 0.5]])
    assert (moves.position == before).all()
    assert len(moves) == 1
