"""Which particles of a surface springs against bending join (Jund 2010, figure 5.1)."""

import numpy as np

from abut.core.arrays import Integers, frozen
from abut.mesh import MeshLike, as_mesh


def bending_pairs(mesh: MeshLike) -> Integers:
    """(b,2) the far corners of each two faces with a common edge, each pair once; edges of the mesh are left out.

    Args:
        mesh: whatever `abut.as_mesh` takes.

    Examples:
        >>> from abut import dynamics
        >>> dynamics.bending_pairs(([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]])).tolist()
        [[1, 3]]
    """
    mesh = as_mesh(mesh)
    sides = mesh.face_edges.ravel()
    corners = mesh.faces.ravel()  # side i is opposite corner i
    order = np.lexsort((np.arange(len(sides)), sides))
    sides, corners = sides[order], corners[order]
    twice = np.flatnonzero((sides[:-1] == sides[1:]) & (sides[:-1] >= 0) & (corners[:-1] != corners[1:]))
    pairs = np.sort(np.stack((corners[twice], corners[twice + 1]), axis=1), axis=1)
    base = len(mesh.vertices)
    keys = np.setdiff1d(pairs @ (base, 1), mesh.edges @ (base, 1))
    return frozen(np.stack(np.divmod(keys, base), axis=1))
