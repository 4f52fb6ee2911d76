"""Meshes as generators write them, made fit for cells: vertices that are nearly in one place welded, flat tetrahedra left out.

A flat tetrahedron has its faces in one plane, some towards one side, the others towards the other. Where cells lie on both sides, their faces are not
the same ones: without the flat cell between them a wall would stand there. So it is left out only where cells lie on one side of it. One that welding
has folded up, with a corner twice, leaves two faces that fit, and is always left out.
"""

import numpy as np
from numpy.typing import NDArray

from abut.cells.build.orientation import sign_tetrahedra
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput

FURTHEST = 2.0
"""How many times the distance of welding a vertex may lie from the first of those it is welded with: in a chain it may be more."""
FACES = np.array([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]])
"""Of a tetrahedron, that opposite to each corner."""


def weld_vertices(points: Floats, used: Integers, distance: float, name: str) -> Integers:
    """(n,) for each vertex the one that takes its place: of those nearer to one another than a distance the first. Only `used` ones take part."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import KDTree

    chosen = np.arange(len(points))
    if not len(used):
        return chosen
    pairs = KDTree(points[used]).query_pairs(distance, output_type="ndarray")
    links = coo_array((np.ones(len(pairs), np.int8), (pairs[:, 0], pairs[:, 1])), (len(used), len(used)))
    group = connected_components(links, directed=False)[1]
    first = np.full(group.max() + 1, len(points))
    np.minimum.at(first, group, used)
    chosen[used] = first[group]
    away = np.linalg.norm(points - points[chosen], axis=1)
    if away.max() > FURTHEST * distance:
        row = int(np.argmax(away))
        words = f"is one of a chain of vertices that reaches {away[row]:g} from vertex {chosen[row]}: weld over less than {distance:g}"
        raise InvalidInput(name, words, row)
    return chosen


def find_needless(points: Floats, rows: Integers) -> tuple[NDArray[np.bool_], int | None]:
    """(n,) which tetrahedra are flat; and the first of them without which a wall would stand, None where there is no such."""
    ordered = np.sort(rows, axis=1)
    folded = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    flat = folded | (sign_tetrahedra(points, rows) == 0)
    if not (flat & ~folded).any():
        return flat, None
    faces = np.sort(rows[:, FACES], axis=2).reshape(-1, 3)
    owner, opposite = np.repeat(np.arange(len(rows)), 4), rows.reshape(-1)
    _, same = np.unique(faces, axis=0, return_inverse=True)
    order = np.argsort(same.reshape(-1), kind="stable")
    pairs = np.flatnonzero(same.reshape(-1)[order][1:] == same.reshape(-1)[order][:-1])
    sides: dict[int, list[Floats]] = {}
    groups = _Groups(len(rows))
    for one, other in zip(order[pairs].tolist(), order[pairs + 1].tolist(), strict=True):
        for here, there in ((one, other), (other, one)):
            cell, beyond = int(owner[here]), int(owner[there])
            if flat[cell] and not folded[cell] and not flat[beyond]:
                sides.setdefault(cell, []).append(points[opposite[there]])
        if flat[owner[one]] and flat[owner[other]]:
            groups.join(int(owner[one]), int(owner[other]))
    around: dict[int, list[tuple[int, Floats]]] = {}
    for cell, places in sides.items():
        around.setdefault(groups.of(cell), []).extend((cell, place) for place in places)
    for found in around.values():
        normal, origin = _plane_of(points[rows[found[0][0]]])
        heights = [float(normal @ (place - origin)) for _, place in found]
        if min(heights) < 0.0 < max(heights):
            return flat, min(cell for cell, _ in found)
    return flat, None


class _Groups:
    """Numbers joined to one another."""

    def __init__(self, count: int) -> None:
        self._above = list(range(count))

    def of(self, number: int) -> int:
        """The first of the group."""
        while self._above[number] != number:
            self._above[number] = self._above[self._above[number]]
            number = self._above[number]
        return number

    def join(self, one: int, other: int) -> None:
        """Make two groups one."""
        a, b = sorted((self.of(one), self.of(other)))
        self._above[b] = a


def _plane_of(corners: Floats) -> tuple[Floats, Floats]:
    """A normal of four corners in a plane, from the largest of their triangles, and a point of it."""
    normals = np.cross(corners[FACES[:, 1]] - corners[FACES[:, 0]], corners[FACES[:, 2]] - corners[FACES[:, 0]])
    return normals[np.argmax(np.linalg.norm(normals, axis=1))], corners[0]
