"""Every move against the oracle: status, time, point, kind and cell, and the state it leaves behind."""

import numpy as np
import pytest

from abut import cells
from abut.core import jit
from cells import oracle_cells as oracle
from cells import worlds

ROUNDS, COUNT = (3, 12) if jit.INTERPRETED else (4, 50)
LATEST = 2.0**-40


def corners_of(world_darts, dart, kind):
    """Vertices of the vertex, edge or face of space that a dart belongs to."""
    ring = worlds.ring_of(world_darts, dart)
    return ring if kind == 2 else ring[: kind + 1]


def check_move(world, parts, p, q, moves, row, cell=None):
    """`cell` is where the way begins, which matters where there are slits: walls without thickness, whose sides may overlap."""
    dimension = world.environment.dimension
    left, around = oracle.walk(parts, p, q, cell)
    if cell is not None:
        ends = oracle.follow(around, p, q, cell)[1]
        around = oracle.joined(around, ends, oracle.point_at(p, q, left))
    status, position = moves.status[row], oracle.exact(moves.position[row])
    here = [part for part in around if part.cell == moves.cell[row] and part.holds(position)]
    assert here, "the position is not in its cell"
    assert here[0].free
    if left == 1:
        assert (moves.position[row] == q).all()
        assert moves.time[row] == 1
        goal = oracle.exact(q)
        touched = oracle.touches(around, goal)
        assert status == (cells.CONTACT if touched else cells.FREE)
        assert moves.kind[row] == lowest_kind(here, goal)
        assert touched == bool(np.linalg.norm(moves.normal[row]) > 0.5)
        return
    assert status == cells.COLLISION
    assert moves.time[row] <= left
    assert moves.time[row] >= left * (1 - LATEST)
    hit = oracle.point_at(p, q, left)
    reach = max(np.abs(points).max() for points in (p, q, world.vertices))
    assert np.abs(np.array(hit, float) - moves.position[row]).max() < 2.0**-38 * max(reach, 1)  # `stop_point` says so
    holders = [part for part in around if part.free and part.holds(hit)]
    assert moves.kind[row] == lowest_kind(holders, hit)
    inner = world.environment.interior.space.vertices
    ring = [
        oracle.exact(inner[v][:dimension])
        for v in corners_of(world.environment.darts, moves.dart[row], moves.kind[row])
    ]
    assert oracle_holds(ring, hit, dimension)
    length = np.linalg.norm(moves.normal[row])
    assert abs(length - 1) < 1e-12
    # The normal is rounded, and a way may run along the wall but for its last bits.
    assert moves.normal[row] @ (q - p) > -(2.0**-50) * np.linalg.norm(q - p)


def lowest_kind(parts, q):
    """Dimension of the cell of lowest dimension in which a point lies."""
    return min(part.kind_of(q) for part in parts)


def oracle_holds(ring, q, dimension):
    """Whether a point lies in a vertex, on an edge or in the plane of a face."""
    if len(ring) == 1:
        return ring[0] == q
    u, v = oracle.minus(ring[1], ring[0]), oracle.minus(q, ring[0])
    if len(ring) == 2:
        pairs = ((0, 1),) if dimension == 2 else ((0, 1), (1, 2), (2, 0))
        inside = 0 <= sum(x * y for x, y in zip(u, v, strict=True)) <= sum(x * x for x in u)
        return inside and all(u[i] * v[j] == u[j] * v[i] for i, j in pairs)
    return oracle.height(ring, q) == 0


@pytest.mark.parametrize("make", worlds.WORLDS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("walk", ["planes", "darts"])
def test_moves_agree_with_rational_arithmetic(make, walk, rng):
    world = make(rng)
    assert world.environment.check_integrity() == []
    parts = world.parts()
    points = worlds.free_points(world, rng, COUNT)
    crowd = cells.Particles(world.environment, points, walk, debug=True)
    seen = np.zeros(3, int)
    for _ in range(ROUNDS):
        before = crowd.position
        targets = worlds.aim(world, rng, before)
        moves = crowd.move(targets)
        for row in range(COUNT):
            check_move(world, parts, before[row], targets[row], moves, row)
        seen += np.bincount(moves.status, minlength=3)
    assert seen[cells.FREE] > 0
    assert seen[cells.COLLISION] > 0


@pytest.mark.parametrize("make", worlds.WORLDS, ids=lambda make: make.__name__)
def test_both_walks_agree(make, rng):
    world = make(rng)
    points = worlds.free_points(world, rng, 20 if jit.INTERPRETED else 2000)
    for _ in range(3):
        targets = worlds.aim(world, rng, points)
        planes = cells.Particles(world.environment, points, "planes").move(targets)
        darts = cells.Particles(world.environment, points, "darts", debug=True).move(targets)
        for name in ("status", "kind"):
            assert (getattr(planes, name) == getattr(darts, name)).all(), name
        # Around a tie the two may end in different cells, which share the point reached: it is then rounded differently.
        assert np.abs(planes.time - darts.time).max() < 2.0**-40
        assert np.abs(planes.position - darts.position).max() < 1e-13
        points = planes.position
