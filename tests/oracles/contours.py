"""Where two closed curves of cubic segments may be within a slack of one another, by nothing but halving: 64-bit mantissas, all cells at once.

Both curves are halved again and again; a pair of pieces is dropped when their control points are apart along x, y or across one of the
chords. What is left after L levels holds every contact, each in a cell of 2^-L of a segment, and nothing that is further apart than about
the size of a cell squared.
"""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

EXTENDED = np.longdouble


def halves(c):
    p0, p1, p2, p3 = np.moveaxis(c, 1, 0)
    q0, q1, q2 = (p0 + p1) / 2, (p1 + p2) / 2, (p2 + p3) / 2
    r0, r1 = (q0 + q1) / 2, (q1 + q2) / 2
    m = (r0 + r1) / 2
    return np.stack([p0, q0, r0, m], axis=1), np.stack([m, r1, q2, p3], axis=1)


def separated(a, b, axis, slack):
    length = np.sqrt((axis**2).sum(axis=1))
    p, q = np.einsum("kid,kd->ki", a, axis), np.einsum("kid,kd->ki", b, axis)
    room = slack * length
    return (p.min(axis=1) > q.max(axis=1) + room) | (q.min(axis=1) > p.max(axis=1) + room)


def across(c):
    chord = c[:, 3] - c[:, 0]
    return np.stack([-chord[:, 1], chord[:, 0]], axis=1)


def surviving(segments_a, segments_b, levels, slack, most=6000):
    """Cells (k,2), whole numbers of 2^-level of a segment, on both curves, and the level reached: `levels`, or where there are too many cells."""
    i, j = (x.ravel() for x in np.meshgrid(np.arange(len(segments_a)), np.arange(len(segments_b)), indexing="ij"))
    a, b = segments_a.astype(EXTENDED)[i], segments_b.astype(EXTENDED)[j]
    origin = segments_a[0, 0].astype(EXTENDED)
    a, b = a - origin, b - origin
    level = 0
    while True:
        x, y = np.zeros((len(a), 2), EXTENDED), np.zeros((len(a), 2), EXTENDED)
        x[:, 0], y[:, 1] = 1, 1
        keep = ~(separated(a, b, x, slack) | separated(a, b, y, slack))
        a, b, i, j = a[keep], b[keep], i[keep], j[keep]
        keep = ~(separated(a, b, across(a), slack) | separated(a, b, across(b), slack))
        a, b, i, j = a[keep], b[keep], i[keep], j[keep]
        if level == levels or len(a) > most or not len(a):
            return np.stack([i, j], axis=1), level
        level += 1
        (a0, a1), (b0, b1) = halves(a), halves(b)
        a, b = np.concatenate([a0, a0, a1, a1]), np.concatenate([b0, b1, b0, b1])
        i, j = (
            np.concatenate([2 * i, 2 * i, 2 * i + 1, 2 * i + 1]),
            np.concatenate([2 * j, 2 * j + 1, 2 * j, 2 * j + 1]),
        )


def clusters(cells, level, count_a, count_b):
    """The connected groups of cells: a list of (k,2) parameter pairs (σ, τ), lower ends of the cells."""
    if not len(cells):
        return []
    size = 2.0**level
    tree = cKDTree(cells.astype(float), boxsize=(count_a * size, count_b * size))
    pairs = tree.query_pairs(1.5, p=np.inf, output_type="ndarray")
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(cells), len(cells)))
    number, label = connected_components(graph, directed=False)
    return [cells[label == k] / size for k in range(number)]
