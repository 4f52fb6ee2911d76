"""Mobiles against one another over a step, against all pairs in exact arithmetic."""

import itertools

import numpy as np
import pytest

from abut import cells, dynamics
from abut.ccd import EDGE_EDGE, VERTEX_FACE
from abut.core.errors import InvalidInput
from oracles import ccd as oracle_ccd

HALL = 3


def halls(dimension):
    if dimension == 3:
        return cells.channel(HALL, HALL, HALL)
    vertices = np.array(list(itertools.product(range(HALL + 1), repeat=2)), float)
    n = HALL + 1
    rows = [[n * i + j, n * i + n + j, n * i + n + 1 + j, n * i + j + 1] for i in range(HALL) for j in range(HALL)]
    return cells.polygons(vertices, rows)


def upright(points):
    """The queries of a vertex and an edge in the plane as two edges in space."""
    raised = np.zeros((8, 3))
    (v, a, b), (w, c, d) = points[:3], points[3:]
    raised[[0, 1, 2, 3], :2], raised[[4, 5, 6, 7], :2] = (v, v, a, b), (w, w, c, d)
    raised[[0, 4], 2], raised[[1, 5], 2] = -1, 1
    return raised


def all_pairs(bodies, starts):
    """(kind, body, primitive, body, primitive): bounds of the first contact, for every pair that shares no vertex and has one."""
    dimension, met = bodies[0].environment.dimension, {}
    for (i, a), (j, b) in itertools.product(enumerate(bodies), repeat=2):
        others = b.faces if dimension == 3 else b.edges
        pairs = [(VERTEX_FACE, v, k, [v], face) for v in range(len(a)) for k, face in enumerate(others)]
        if dimension == 3:
            edges = itertools.product(enumerate(a.edges), enumerate(b.edges))
            pairs += [(EDGE_EDGE, k, m, e, f) for (k, e), (m, f) in edges if (i, k) < (j, m)]
        for kind, k, m, mine, theirs in pairs:
            if i == j and set(mine) & set(theirs):
                continue
            ends = [(starts[i][mine], a.position[mine]), (starts[j][theirs], b.position[theirs])]
            low, high = ([getattr(np.concatenate(e), f)(axis=0) for e in ends] for f in ("min", "max"))
            if (low[0] > high[1]).any() or (low[1] > high[0]).any():
                continue
            points = np.concatenate([np.concatenate([e[t] for e in ends]) for t in (0, 1)])
            points = points if dimension == 3 else upright(points)
            contact = oracle_ccd.first_contact(points, kind == VERTEX_FACE and dimension == 3)
            if contact is not None:
                met[int(kind), i, k, j, m] = contact
    return met


@pytest.mark.parametrize("dimension", [2, 3])
def test_impacts_are_all_pairs_that_meet_on_the_way(dimension, rng):
    """Large and small bodies, coordinates on a grid, so that many touch in vertices, along edges and faces; self-contact included."""
    environment = halls(dimension)
    rows = [[k, k + 1] for k in range(5)] if dimension == 2 else [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5]]
    bodies, starts = [], []
    for _ in range(2):
        start = rng.integers(1, 8 * HALL - 1, size=(6, dimension)) / 8
        body = cells.Mobile(environment, (start, rows))
        body.move(np.clip(start + rng.integers(-6, 7, size=start.shape) / 8, 0.125, HALL - 0.125))
        starts.append(start)
        bodies.append(body)
    found = dynamics.find_impacts(bodies, starts)
    expected = all_pairs(bodies, starts)
    columns = (found.kind, found.body_a, found.a, found.body_b, found.b)
    keys = list(zip(*(column.tolist() for column in columns), strict=True))
    assert sorted(keys) == sorted(expected)
    assert len({key[1] == key[3] for key in keys}) == 2  # with others and with themselves
    for key, time in zip(keys, found.time.tolist(), strict=True):
        low, high = expected[key]
        assert float(low) - 1e-8 <= time <= high
    assert (np.diff(found.time) >= 0).all()


def test_two_rods_pass_through_one_another():
    """They meet half-way, though neither their first nor their last places do."""
    environment = halls(3)
    one = cells.Mobile(environment, ([[1.0, 1.5, 1.0], [2.0, 1.5, 1.0]], [[0, 1]]))
    two = cells.Mobile(environment, ([[1.5, 1.0, 2.0], [1.5, 2.0, 2.0]], [[0, 1]]))
    starts = [one.position, two.position]
    up = np.array([0, 0, 1.0])
    one.move(one.position + up)
    two.move(two.position - up)
    assert len(cells.find_meetings([one, two])) == 0
    found = dynamics.find_impacts([one, two], starts)
    assert (found.kind.tolist(), found.body_a.tolist(), found.body_b.tolist()) == ([EDGE_EDGE], [0], [1])
    assert abs(found.time[0] - 0.5) < 1e-8
    assert found.candidate_count == 1
    with pytest.raises(InvalidInput, match="positions_t0"):
        dynamics.find_impacts([one, two], starts[:1])
