"""Cells cut by a plane (in the plane: by a line), one or a whole region (Jund 2010, §3.4.1).

Every corner is told before, on or behind the plane once, for all cells. An edge of a cut cell between corners on both sides gets a new vertex, which
becomes a corner of all cells around the edge, cut or not; a face of a cut cell that has corners on both sides falls in two, in both of its
cells; and the new corners of a cell form the face between its halves. The part behind the plane keeps the number.

A corner within NEAR of the plane counts as lying on it: the cut then runs through that corner, along that edge, or along that face, which cuts
nothing. So no edge is shorter than what rounding moves its ends by.

A thin slice of a cell with bulging faces need not be star-shaped. Such a cell is split first: its parts, which are convex, become cells and are cut.

New vertices are rounded, so the halves of a planar face are not exactly planar, nor is the new face. That needs nothing of its own: the rule of
`subdivision` applies to each of these faces as to any other, it is the same for both cells, and each part is checked by exact signs.
"""

from collections.abc import Collection

import numpy as np

from abut.cells.edit.grafts import Ring
from abut.cells.edit.surgery import Key, Rings, refuse_known, sides_of, split_ring
from abut.cells.edit.vertex_rows import VertexRows
from abut.core.arrays import Floats
from abut.core.errors import InvalidInput


class Bulging(InvalidInput):
    """A cell has faces that the plane passes more than once."""

    def __init__(self, words: str, cell: int) -> None:
        super().__init__("plane", f"{words} cell {cell}, which is too far from convex")
        self.cells = [cell]


NEAR = 2.0**-36
"""In units of the largest coordinate. Heights are off by some 2⁻⁵⁰ of that, and new vertices by 2⁻⁵²."""


class Plane:
    """Which side of a plane vertices lie on, and where edges cross it."""

    def __init__(self, vertices: VertexRows, largest: float, point: Floats, normal: Floats) -> None:
        self._vertices = vertices
        self._point, self._normal = point, normal / np.linalg.norm(normal)
        self._near = NEAR * max(largest, float(np.abs(point).max()))
        self._heights: dict[int, float] = {}
        self.first_new = len(vertices)
        """the number of the first vertex that is added"""
        self.new: dict[Key, int] = {}
        """the vertex on each edge that is cut"""
        self.added: list[Floats] = []

    def sides(self, vertices: Floats) -> Floats:
        """The heights of vertices, 0 for those on the plane."""
        heights = (vertices - self._point) @ self._normal
        return np.where(np.abs(heights) <= self._near, 0.0, heights)

    def height(self, vertex: int) -> float:
        """That of one vertex; those that were added lie on the plane."""
        if vertex >= self.first_new:
            return 0.0
        if vertex not in self._heights:
            height = float((self._vertices[vertex] - self._point) @ self._normal)
            self._heights[vertex] = 0.0 if abs(height) <= self._near else height
        return self._heights[vertex]

    def cross(self, u: int, v: int) -> int:
        """The vertex where the plane cuts an edge whose ends lie on both sides."""
        key = frozenset((u, v))
        if key not in self.new:
            u, v = min(u, v), max(u, v)
            share = self.height(u) / (self.height(u) - self.height(v))
            a, b = self._vertices[u], self._vertices[v]
            self.new[key] = self.first_new + len(self.added)
            self.added.append(np.clip(a + share * (b - a), np.minimum(a, b), np.maximum(a, b)))
        return self.new[key]

    def passes(self, rings: list[Ring]) -> bool:
        """Whether a cell has corners on both sides."""
        heights = [self.height(corner) for ring in rings for corner in ring]
        return min(heights) < 0.0 < max(heights)


def _with_new(plane: Plane, ring: Ring) -> Ring:
    """A ring with the new vertices on its edges."""
    corners: Ring = []
    for u, v in sides_of(ring):
        corners.append(u)
        between = plane.new.get(frozenset((u, v)))
        if between is not None:
            corners.append(between)
    return corners


def _cross_ring(plane: Plane, ring: Ring, cell: int) -> tuple[int, int] | None:
    """Where a ring with its new vertices goes through the plane: two of its corners, or None where it stays on one side."""
    heights = [plane.height(corner) for corner in ring]
    if not min(heights) < 0.0 < max(heights):
        return None
    on = [corner for corner, height in zip(ring, heights, strict=True) if height == 0.0]
    turns = sum((a < 0.0) != (b < 0.0) for a, b in zip(heights, heights[1:] + heights[:1], strict=True))
    if len(on) != 2 or turns != 2:
        raise Bulging("runs more than once through a face of", cell)
    return on[0], on[1]


def slice_cells(rings: Rings, plane: Plane, cells: list[int], first_cell: int) -> list[tuple[int, int]]:
    """Cut cells that have corners on both sides: for each its number, which the part behind the plane keeps, and that of the part before it."""
    originals = {cell: rings[cell] for cell in cells}
    for cell in cells:
        for ring in originals[cell]:
            for u, v in sides_of(ring):
                if plane.height(u) * plane.height(v) < 0.0:
                    plane.cross(u, v)
    concerned = set(cells)
    for edge in plane.new:
        concerned.update(rings.around(*edge))
    split: dict[Key, int] = {}
    if rings.dimension == 3:
        for cell in cells:
            for ring in originals[cell]:
                if plane.passes([ring]):
                    split[frozenset(ring)] = cell
                    beyond = rings.beyond(cell, ring)
                    concerned.update(() if beyond is None else (beyond,))
    _refuse_joined(rings, plane, split)
    pairs: list[tuple[int, int]] = []
    for cell in sorted(concerned - set(cells)):
        rings[cell] = [piece for ring in rings[cell] for piece in _pieces(plane, ring, split, cell)]
    for cell in cells:
        new = first_cell + len(pairs)
        pairs.append((cell, new))
        if rings.dimension == 2:
            halves = _pieces(plane, originals[cell][0], {frozenset(originals[cell][0])}, cell)
            front = max(halves[0], key=lambda corner: abs(plane.height(corner)))
            behind, before = halves if plane.height(front) < 0.0 else halves[::-1]
            rings[cell], rings[new] = [behind], [before]
        else:
            rings[cell], rings[new] = _halve(plane, originals[cell], split, cell)
    return pairs


def _refuse_joined(rings: Rings, plane: Plane, split: dict[Key, int]) -> None:
    """Refuse planes that cut both sides of a wall along the same edge: one whose ends lie on the rim of the slit, which the sides share."""
    owner: dict[Key, int] = {}
    for key, cell in split.items():
        ring = _with_new(plane, rings.keys(cell)[key])
        ends = _cross_ring(plane, ring, cell)
        if ends is None:
            continue
        if max(ends) < plane.first_new:
            refuse_known(rings, cell, ring, split_ring(ring, *ends))
        other = owner.setdefault(frozenset(ends), cell)
        if other != cell:
            words = f"cuts both sides of the wall between cells {other} and {cell} along the same edge"
            raise InvalidInput("plane", f"{words}: nothing keeps them apart there")


def _pieces(plane: Plane, ring: Ring, split: Collection[Key], cell: int) -> list[Ring]:
    corners = _with_new(plane, ring)
    if frozenset(ring) not in split:
        return [corners]
    ends = _cross_ring(plane, corners, cell)
    return [corners] if ends is None else split_ring(corners, *ends)


def _halve(plane: Plane, rings: list[Ring], split: Collection[Key], cell: int) -> tuple[list[Ring], list[Ring]]:
    """The faces of the two halves of a volume, behind and before the plane, with the face between them."""
    behind: list[Ring] = []
    before: list[Ring] = []
    for ring in rings:
        for piece in _pieces(plane, ring, split, cell):
            heights = [plane.height(corner) for corner in piece]
            if min(heights) == max(heights) == 0.0:
                raise Bulging("runs along a face of, and through,", cell)
            (behind if min(heights) < 0.0 else before).append(piece)
    edges = {side for ring in behind for side in sides_of(ring)}
    rim = [(u, v) for u, v in edges if (v, u) not in edges]
    following = {v: u for u, v in rim}
    if len(following) != len(rim):  # loops that meet in a corner
        raise Bulging("runs in more than one loop around", cell)
    start = rim[0][0]
    section = [start]
    while (corner := following[section[-1]]) != start and len(section) <= len(following):
        section.append(corner)
    if len(section) != len(following):
        raise Bulging("runs in more than one loop around", cell)
    return [*behind, section], [*before, section[::-1]]
