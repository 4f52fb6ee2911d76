"""What is known of the parts around vertices that move again and again."""

import itertools

import numpy as np

from abut import InvalidInput
from abut.cells.edit import moved_vertices
from cells import oracle_cells as oracle
from cells import worlds


def width_of(corners):
    """The least extent of a tetrahedron: between a corner and a face, or between two opposite edges."""
    edges = [corners[k] - corners[j] for j, k in itertools.combinations(range(4), 2)]
    normals = [np.cross(u, v) for u, v in itertools.combinations(edges, 2)]
    return min(np.ptp(corners @ n) / np.linalg.norm(n) for n in normals if np.linalg.norm(n) > 0)


def test_parts_that_need_not_be_looked_at_are_sound(rng):
    """The same vertices move again and again, further each time: refused exactly when a tetrahedron is not positive in rational arithmetic."""
    for corners in rng.normal(size=(100, 4, 3)) * np.array([1.0, 1.0, 0.01]):
        bound = moved_vertices.bound_width(*map(tuple, corners))
        assert bound <= width_of(corners) * (1 + 1e-9)
        assert bound > 0 or np.linalg.det(corners[1:] - corners[0]) < 1e-9
    world = worlds.tetrahedra(rng, 2)
    env, rows, skipped, refused = world.environment, np.arange(len(world.vertices)), 0, 0
    corners = [sorted({v for loop in loops for v in loop}) for loops in world.loops]
    signs = np.sign(np.linalg.det(world.vertices[corners][:, 1:] - world.vertices[corners][:, :1]))
    way = rng.normal(size=world.vertices.shape)
    for size in (0, 0.001, 0.002, 0.003, 0.01, 0.03, 0.05, 0.5, 0.004, 0.005, 0.006, 0.007, 0.7, 0.08):
        points = np.round((world.vertices + size * way) * 2.0**20) / 2.0**20
        exact = [[oracle.exact(points[v]) for v in row] for row in corners]
        sides = [oracle.det(*(oracle.minus(x, row[0]) for x in row[1:])) for row in exact]
        before = env.vertices
        try:
            env.deform(points, moved=rows)
        except InvalidInput:
            assert any(side * sign <= 0 for side, sign in zip(sides, signs, strict=True))
            assert (env.vertices == before).all()
            refused += 1
        else:
            assert all(side * sign > 0 for side, sign in zip(sides, signs, strict=True))
            around = env.interior.around
            skipped += around._thin is not None and 2 * around._drift < around._limit
    assert skipped > 3
    assert refused > 1
