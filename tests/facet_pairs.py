"""Pairs of facets by brute force, for the grid: all whose boxes allow it go through the exact test."""

import itertools

import numpy as np

from abut.geometry.crossings import meet_triangle_triangle
from abut.geometry.triangles import closest_triangle_triangle


def corners_of(vertices, faces):
    return [tuple(tuple(map(float, corner)) for corner in face) for face in np.asarray(vertices)[faces]]


def boxes_overlap(a, b, slack=0.0):
    low_a, high_a, low_b, high_b = a.min(axis=1), a.max(axis=1), b.min(axis=1), b.max(axis=1)
    return ((low_a[:, None] - slack <= high_b[None]) & (low_b[None] - slack <= high_a[:, None])).all(axis=2)


def brute_force(vertices_a, faces_a, vertices_b, faces_b, distance=0.0):
    """Sorted pairs of faces that meet, or that are at most `distance` apart: every pair whose boxes allow it is tested."""
    a, b = corners_of(vertices_a, faces_a), corners_of(vertices_b, faces_b)
    close = boxes_overlap(np.array(a), np.array(b), distance)
    if distance:
        pairs = [(i, j) for i, j in np.argwhere(close) if closest_triangle_triangle(*a[i], *b[j])[4] <= distance**2]
    else:
        pairs = [(i, j) for i, j in np.argwhere(close) if meet_triangle_triangle(*a[i], *b[j])]
    return np.array(pairs, np.int64).reshape(-1, 2)


def check_all(grid, bodies, current):
    """Every pair of objects against brute force; `bodies` is {handle: (mesh, immobile)}."""
    hits = grid.collide()
    grid.validate()
    for a, b in itertools.combinations(sorted(bodies), 2):
        if bodies[a][1] and bodies[b][1]:
            assert (a, b) not in hits.pairs
            continue
        expected = brute_force(current[a], bodies[a][0].faces, current[b], bodies[b][0].faces)
        np.testing.assert_array_equal(hits[a, b], expected)
        np.testing.assert_array_equal(grid.collide(b, a)[a, b], expected)
    return hits
