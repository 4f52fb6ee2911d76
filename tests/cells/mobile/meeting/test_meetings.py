"""Pairs of primitives that meet, against rational arithmetic."""

import itertools

import numpy as np
import pytest

from abut import cells
from cells import oracle_cells as oracle
from cells import worlds
from cells.mobile.test_response import wall_with_a_corner


@pytest.mark.parametrize("make", [worlds.tetrahedra, worlds.plane], ids=lambda make: make.__name__)
def test_meetings_are_all_pairs_that_meet(make, rng):
    """Random bodies among the cells, some of whose vertices coincide: the pairs are those that a test of all against all finds in rationals."""
    world = make(rng)
    in_plane = world.environment.dimension == 2
    world.environment.set_obstacle(np.arange(world.environment.cell_count), False)
    bodies = []
    for _ in range(3):
        points = np.round(rng.uniform(0.5, worlds.SIZE - 0.5, size=(6, world.environment.dimension)) * 4) / 4
        rows = [[0, 1], [1, 2], [2, 3], [4, 5]] if in_plane else [[0, 1, 2], [0, 2, 3], [3, 4, 5]]
        bodies.append(cells.Mobile(world.environment, (points, rows)))
    found = cells.find_meetings(bodies)
    pairs = set(
        zip(*(column.tolist() for column in (found.body_a, found.edge_a, found.body_b, found.face_b)), strict=True)
    )
    expected = set()
    for (i, a), (j, b) in itertools.product(enumerate(bodies), repeat=2):
        for edge, other in itertools.product(range(len(a.edges)), range(len(b.edges if in_plane else b.faces))):
            ends, corners = a.edges[edge], (b.edges if in_plane else b.faces)[other]
            if (i == j and set(ends.tolist()) & set(corners.tolist())) or (in_plane and (i, edge) >= (j, other)):
                continue
            if meets([oracle.exact(a.position[v]) for v in ends], [oracle.exact(b.position[v]) for v in corners]):
                expected.add((i, edge, j, other))
    assert pairs == expected
    assert expected
    assert found.candidate_count >= len(found)


def test_edges_meet_in_a_vertex_that_no_cell_of_theirs_shares():
    """Two edges cross exactly in a vertex of the plane's cells, each in cells that the other does not enter."""
    environment, _ = wall_with_a_corner()
    first = cells.Mobile(environment, ([[0.5, 2.5], [1.5, 3.5]], [[0, 1]]))
    second = cells.Mobile(environment, ([[0.5, 3.5], [1.5, 2.5]], [[0, 1]]))
    assert len(cells.find_meetings([first, second])) == 1


def meets(segment, corners):
    """Whether the hulls of two sets of points have a common point: a vertex of the set of common weights does, so few of them are not zero."""
    for axis in range(len(segment[0])):
        first, second = [x[axis] for x in segment], [x[axis] for x in corners]
        if max(first) < min(second) or max(second) < min(first):
            return False
    return any(all(weight >= 0 for weight in weights) for weights in candidate_weights(segment, corners))


def candidate_weights(segment, corners):
    """Solutions of Σ wᵢ cᵢ = s with few non-zero weights: s on the segment, all subsets of ends and corners that determine a point."""
    dimension = len(segment[0])
    for k, m in itertools.product(range(1, 3), range(1, len(corners) + 1)):
        for ends, chosen in itertools.product(itertools.combinations(segment, k), itertools.combinations(corners, m)):
            rows = [[*(x[d] for x in ends), *(-x[d] for x in chosen), 0] for d in range(dimension)]
            rows.append([*([1] * k), *([0] * m), 1])
            rows.append([*([0] * k), *([1] * m), 1])
            solution = solve(rows, k + m)
            if solution is not None:
                yield solution


def solve(rows, count):
    """The only solution of a linear system in rationals, or None where there is none or more than one."""
    rows, rank = [[oracle.Fraction(x) for x in row] for row in rows], 0
    for column in range(count):
        pivot = next((r for r in range(rank, len(rows)) if rows[r][column] != 0), None)
        if pivot is None:
            return None
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        rows[rank] = [x / rows[rank][column] for x in rows[rank]]
        for r in range(len(rows)):
            if r != rank and rows[r][column] != 0:
                rows[r] = [x - rows[r][column] * y for x, y in zip(rows[r], rows[rank], strict=True)]
        rank += 1
    if any(row[-1] != 0 for row in rows[rank:]):
        return None
    return [rows[k][-1] for k in range(count)]
