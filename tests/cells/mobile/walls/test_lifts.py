"""Edges that an obstacle has come over: what is lifted, what is told, and that nothing else is pushed into a wall.

The road: in a grid of unit squares an edge goes through an obstacle where the piece of it in the square has its middle inside.
"""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from abut import InvalidInput, cells
from abut.core import jit
from conftest import SOAK

SEEDS = range(3000) if SOAK else [*range(12 if jit.INTERPRETED else 300), 1901]
"""In 1901, of space, lifting one edge pushed another into a wall, which nothing told."""


def goes_through(p, q, low):
    """Whether a segment has points inside the unit square with this lowest corner."""
    begin, end = Fraction(0), Fraction(1)
    p, q = ([Fraction(float(x)) for x in point] for point in (p, q))
    for x, y, least in zip(p, q, low, strict=True):
        for at_p, at_q in ((x - least, y - least), (least + 1 - x, least + 1 - y)):
            if at_p <= 0 and at_q <= 0:
                return False
            if (at_p < 0) != (at_q < 0):
                share = at_p / (at_p - at_q)
                begin, end = (max(begin, share), end) if at_p < 0 else (begin, min(end, share))
    return begin < end


def blocked(env, body, lows):
    """The edges that go through obstacles."""
    walls = [lows[cell] for cell in np.flatnonzero(env.obstacle)]
    return {
        k
        for k, (a, b) in enumerate(body.edges.tolist())
        if any(goes_through(body.position[a], body.position[b], low) for low in walls)
    }


def hall(rng, dimension):
    """A grid of squares or cubes, some of them obstacles, and their lowest corners."""
    side = 5 - dimension
    lows = list(itertools.product(range(side), repeat=dimension))
    marks = rng.random(len(lows)) < 0.2
    if dimension == 3:
        env = cells.channel(side, side, side, marks)
    else:
        n = side + 1
        squares = [[n * x + y, n * x + n + y, n * x + n + y + 1, n * x + y + 1] for x, y in lows]
        env = cells.polygons(list(itertools.product(range(n), repeat=2)), squares, marks)
    return env, lows


@pytest.mark.parametrize("dimension", [2, 3])
def test_what_an_obstacle_has_come_over_is_lifted_or_told_and_nothing_else_is_pushed_into_a_wall(dimension):
    told = lifted = 0
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        env, lows = hall(rng, dimension)
        count, side = int(rng.integers(3, 7)), 5 - dimension
        way = np.cumsum(rng.normal(scale=0.8, size=(count, dimension)), axis=0)
        points = np.clip(rng.uniform(0, side, dimension) + way, 0.01, side - 0.01)
        try:
            body = cells.Mobile(env, (points, [[k, k + 1] for k in range(count - 1)]))
        except InvalidInput:
            continue
        assert not blocked(env, body, lows)
        free = [cell for cell in np.flatnonzero(~env.obstacle) if cell not in body.cell]
        if not free:
            continue
        env.set_obstacle(rng.choice(free, min(len(free), 3), replace=False), True)
        over = blocked(env, body, lows)
        body.settle()
        reached = body.reached
        assert set(reached.edge.tolist()) == over
        assert blocked(env, body, lows) == set(reached.edge[~reached.is_free].tolist())
        told += len(over) > 0
        lifted += bool(reached.is_free.any())
    assert told or jit.INTERPRETED
    assert lifted or jit.INTERPRETED
