"""Vertices that lie in cells of which they are no corners."""

import numpy as np

from abut import cells
from cells import worlds


def test_strangers_are_named():
    """Two blocks that touch, each with corners of its own, are no strangers; pushed into one another or along one another they are."""
    block, rows = worlds.grid(1)
    vertices = np.concatenate((block, block + np.eye(3)[0]))
    env = cells.hexahedra(vertices, np.concatenate((rows, rows + 8)))
    assert env.find_strangers() == []
    env.deform(vertices + np.repeat([[0, 0, 0], [-0.5, 0.5, 0.5]], 8, axis=0))
    assert env.find_strangers() == [
        "vertex 7 lies inside cell 1: cells overlap",
        "vertex 8 lies inside cell 0: cells overlap",
    ]
    env.deform(vertices + np.repeat([[0, 0, 0], [0, 0.5, 0]], 8, axis=0))
    words = "is no corner of it: the cells there are not joined"
    assert env.find_strangers() == [
        f"vertex {vertex} lies on the border of cell {cell} and {words}"
        for vertex, cell in ((6, 1), (7, 1), (8, 0), (9, 0))
    ]
