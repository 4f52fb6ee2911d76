"""A hand: a closed surface with fingers, as the one of Jund 2010, figure 6.13 (11,898 vertices there, 11,906 here).

Squares of a plan, palm, four fingers and a thumb, are raised to a slab of quadrilaterals, which subdivision rounds (Catmull and Clark 1978).
Squares of the plan never meet at a corner only, so that the surface is a manifold of genus 0.
"""

import numpy as np

from abut.core import arrays
from abut.core.arrays import Floats, Integers
from abut.core.types import Number
from abut.mesh import Mesh

PLAN = """
   . . . . X . . . .
   . . X . X . X . .
   . . X . X . X . X
   . . X . X . X . X
   . . X . X . X . X
   . . X X X X X X X
   X . X X X X X X X
   X . X X X X X X X
   X X X X X X X X X
   . . X X X X X X X
   . . . X X X X X .
"""
"""Seen from the back of a right hand; a square is one unit. 60 squares and 66 sides: 186 quadrilaterals."""
THICKNESS = 1.5


def hand(subdivisions: Number = 3, length: Number = 1.0) -> Mesh:
    """A hand of 186·4^subdivisions quadrilaterals, each cut in two, in the plane z = 0, its fingers towards +y, centered.

    Args:
        subdivisions: how often it is refined, from 0 to 6; at 3 it has 11,906 vertices.
        length: about its length along y: that of the plan, of which subdivision takes a little away.

    Returns:
        The mesh, closed.

    Examples:
        >>> import abut
        >>> mesh = abut.scenes.hand(1)
        >>> len(mesh.vertices), len(mesh.faces), mesh.is_closed
        (746, 1488, True)
    """
    times, size = arrays.count(subdivisions, "subdivisions", most=6), arrays.positive(length, "length")
    vertices, quads = _slab(np.array([[mark == "X" for mark in row.split()] for row in PLAN.strip().splitlines()]))
    plan_length = float(np.ptp(vertices[:, 1]))
    for _ in range(times):
        vertices, quads = subdivide_quads(vertices, quads)
    middle = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
    return Mesh(size / plan_length * (vertices - middle), quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3))


def _slab(plan: np.ndarray) -> tuple[Floats, Integers]:
    """The surface of the squares, raised: quadrilaterals anticlockwise seen from outside. The first row of the plan has the largest y."""
    filled = np.pad(np.flipud(plan).T, 1)
    rows: list[list[tuple[int, int, int]]] = []
    for i, j in np.argwhere(filled).tolist():
        corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
        rows.append([(x, y, 1) for x, y in corners])
        rows.append([(x, y, 0) for x, y in reversed(corners)])
        sides = zip(((0, -1), (1, 0), (0, 1), (-1, 0)), corners, [*corners[1:], corners[0]], strict=True)
        for (dx, dy), (ax, ay), (bx, by) in sides:
            if not filled[i + dx, j + dy]:
                rows.append([(ax, ay, 0), (bx, by, 0), (bx, by, 1), (ax, ay, 1)])
    points, quads = np.unique(np.array(rows).reshape(-1, 3), axis=0, return_inverse=True)
    return points * (1.0, 1.0, THICKNESS), quads.reshape(-1, 4)


def subdivide_quads(vertices: Floats, quads: Integers) -> tuple[Floats, Integers]:
    """One step of Catmull and Clark's subdivision of a closed surface of quadrilaterals: four times as many."""
    count = len(vertices)
    middles = vertices[quads].mean(axis=1)
    sides = np.stack((quads, np.roll(quads, -1, axis=1)), axis=-1).reshape(-1, 2)
    edges, side = np.unique(np.sort(sides, axis=1), axis=0, return_inverse=True)
    side = side.reshape(-1, 4)
    beside = _sums(side.ravel(), np.repeat(middles, 4, axis=0), len(edges))
    halves = vertices[edges].mean(axis=1)
    on_edges = 0.5 * halves + 0.25 * beside
    valence = np.bincount(edges.ravel(), minlength=count)[:, np.newaxis].astype(np.float64)
    faces = _sums(quads.ravel(), np.repeat(middles, 4, axis=0), count) / valence
    around = _sums(edges.ravel(), np.repeat(halves, 2, axis=0), count) / valence
    corners = (faces + 2.0 * around + (valence - 3.0) * vertices) / valence
    first_edge, first_face = count, count + len(edges)
    center = np.broadcast_to(first_face + np.arange(len(quads))[:, np.newaxis], quads.shape)
    before = first_edge + np.roll(side, 1, axis=1)
    parts = np.stack((quads, first_edge + side, center, before), axis=-1).reshape(-1, 4)
    return np.concatenate((corners, on_edges, middles)), parts


def _sums(groups: Integers, rows: Floats, count: int) -> Floats:
    return np.stack([np.bincount(groups, rows[:, k], count) for k in range(3)], axis=1).astype(np.float64)
