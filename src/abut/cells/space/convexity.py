"""Which faces are planar and which cells convex, decided by exact signs of the corners' coordinates.

A face is *flat* when its corners lie in a plane and turn one way at each of them. A cell is *whole* when each of its faces is flat and no
corner lies behind a face while one lies before it. In floating point that is rare outside of grids: faces of four and more corners are
hardly ever planar. `subdivision` cuts the cells that are not whole.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.cells.map.darts import Indices, Loops, Row
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput
from abut.core.jit import element, inlined, kernel
from abut.geometry.predicates import orient_2d, orient_3d
from abut.geometry.rows import vector_at
from abut.geometry.vec import Vec2, Vec3, cross, drop_axis, norm_sq, subtract

GOOD, WARPED, NOT_CONVEX, COLLINEAR, INVERTED, FLAT = 0, 1, 2, 3, 4, 5
_WORDS = {
    NOT_CONVEX: "is not convex",
    COLLINEAR: "three successive corners of one of its faces lie in a line",
    INVERTED: "is inverted: its corners run the other way round",
    FLAT: "is flat",
}


class NotStarShaped(InvalidInput):
    """Some cells cannot be cut about their centers."""

    def __init__(self, name: str, cells: list[int]) -> None:
        super().__init__(name, "is not convex: it is not even star-shaped, or hardly so", min(cells))
        self.cells = cells


class Shapes(NamedTuple):
    """What the exact tests found."""

    base: Indices
    """(faces,) the dart of each face whose corner and the two that follow span its plane best"""
    planar: NDArray[np.bool_]
    """(faces,) flat, so never to be cut"""
    verdict: NDArray[np.int8]
    """(cells,) GOOD for whole cells; WARPED where a face is not planar; else what is wrong"""


def faces_of_cells(loops: Loops, cell_count: int) -> Integers:
    """(cells + 1,) where the faces of each cell begin."""
    return np.searchsorted(loops.cell, np.arange(cell_count + 1))


@element
def is_collinear(a: Vec3, b: Vec3, c: Vec3) -> bool:
    """Whether three points lie in a line, exactly: they do in all three projections along the axes."""
    return (
        orient_2d(drop_axis(a, 0), drop_axis(b, 0), drop_axis(c, 0)) == 0
        and orient_2d(drop_axis(a, 1), drop_axis(b, 1), drop_axis(c, 1)) == 0
        and orient_2d(drop_axis(a, 2), drop_axis(b, 2), drop_axis(c, 2)) == 0
    )


@inlined
def point_2d(vertices: Floats, i: Row) -> Vec2:
    """The first two coordinates of a row."""
    return (vertices[i, 0], vertices[i, 1])


@element
def side_of_plane(a: Vec3, b: Vec3, c: Vec3, q: Vec3) -> int:
    """`orient_3d`. Points of a plane along two axes, which are most of those in faces of grids, are told by their coordinates: the exact zero of a
    determinant takes ten times as long."""
    if a[0] == b[0] == c[0] == q[0] or a[1] == b[1] == c[1] == q[1] or a[2] == b[2] == c[2] == q[2]:
        return 0
    return orient_3d(a, b, c, q)


@kernel
def _find_base(vertices: Floats, vertex: Indices, begin: Row, end: Row) -> tuple[Row, bool]:
    """The dart of a face whose triangle with the next two corners is largest, and whether three successive corners lie in a line."""
    best, largest, size, straight = begin, -1.0, end - begin, False
    for k in range(size):
        a = vector_at(vertices, vertex[begin + k])
        b = vector_at(vertices, vertex[begin + (k + 1) % size])
        c = vector_at(vertices, vertex[begin + (k + 2) % size])
        straight |= is_collinear(a, b, c)
        area_sq = norm_sq(cross(subtract(b, a), subtract(c, a)))
        if area_sq > largest:
            best, largest = begin + k, area_sq
        if size == 3:
            break
    return best, straight


@kernel
def _turns_one_way(vertices: Floats, vertex: Indices, begin: Row, end: Row, base: Row) -> bool:
    """Whether a planar face without straight corners is convex: seen along an axis, all its corners turn as the one after the base does."""
    size = end - begin
    for axis in range(3):
        turn = 0
        for k in range(size):
            first = base - begin + k
            a = vector_at(vertices, vertex[begin + first % size])
            b = vector_at(vertices, vertex[begin + (first + 1) % size])
            c = vector_at(vertices, vertex[begin + (first + 2) % size])
            side = orient_2d(drop_axis(a, axis), drop_axis(b, axis), drop_axis(c, axis))
            if k == 0:
                turn = side
                if turn == 0:  # the axis lies in the plane
                    break
            elif side != turn:
                return False
        if turn != 0:
            return True
    return False


@kernel
def _side_of(vertices: Floats, vertex: Indices, begin: Row, end: Row, base: Row, corner: Row) -> int:
    """On which side of a face's plane a corner of the cell lies: 1 inside."""
    size = end - begin
    a = vector_at(vertices, vertex[base])
    b = vector_at(vertices, vertex[begin + (base - begin + 1) % size])
    c = vector_at(vertices, vertex[begin + (base - begin + 2) % size])
    return side_of_plane(a, b, c, vector_at(vertices, corner))


@kernel
def _judge_tetrahedron(vertices: Floats, corners: Indices) -> int:
    a, b = vector_at(vertices, corners[0]), vector_at(vertices, corners[1])
    sign = orient_3d(a, b, vector_at(vertices, corners[2]), vector_at(vertices, corners[3]))
    if sign > 0:
        return GOOD
    return FLAT if sign == 0 else INVERTED


@kernel
def gather_corners(vertex: Indices, begin: Row, end: Row, corners: Indices) -> int:
    """The different corners of a cell; how many. Those of its first face come first, in their order."""
    count = 0
    for dart in range(begin, end):
        known = False
        for k in range(count):
            if corners[k] == vertex[dart]:
                known = True
                break
        if not known:
            corners[count] = vertex[dart]
            count += 1
    return count


@kernel
def _holds(vertex: Indices, begin: Row, end: Row, corner: Row) -> bool:
    found = False
    for dart in range(begin, end):
        found |= vertex[dart] == corner
    return found


@kernel
def _judge(
    vertices: Floats,
    loops: Loops,
    faces: Integers,
    cell: int,
    corners: Indices,
    base: Indices,
    planar: NDArray[np.bool_],
) -> int:
    """The verdict on one cell; fills the bases and flags of its faces."""
    vertex, start = loops.vertex, loops.start
    first, last = faces[cell], faces[cell + 1]
    count = gather_corners(vertex, start[first], start[last], corners)
    straight_seen = False
    for face in range(first, last):
        base[face], straight = _find_base(vertices, vertex, start[face], start[face + 1])
        planar[face] = not straight
        straight_seen |= straight
    if count == 4 and last - first == 4 and not straight_seen:
        return _judge_tetrahedron(vertices, corners)
    warped, outside_seen, inside_seen = False, False, False
    for face in range(first, last):
        begin, end = start[face], start[face + 1]
        for dart in range(begin, end):
            if end - begin > 3 and _side_of(vertices, vertex, begin, end, base[face], vertex[dart]) != 0:
                planar[face] = False
                warped = True
                break
        if planar[face] and end - begin > 3:
            planar[face] = _turns_one_way(vertices, vertex, begin, end, base[face])
        for k in range(count):
            if not _holds(vertex, begin, end, corners[k]):
                side = _side_of(vertices, vertex, begin, end, base[face], corners[k])
                inside_seen |= side > 0
                outside_seen |= side < 0
    if straight_seen:
        return COLLINEAR
    if outside_seen and not inside_seen:
        return INVERTED
    if warped:
        return WARPED
    if outside_seen:
        return NOT_CONVEX
    return GOOD if inside_seen else FLAT


@kernel
def _judge_all(vertices: Floats, loops: Loops, faces: Integers, corners: Indices, shapes: Shapes) -> None:
    for cell in range(len(faces) - 1):
        shapes.verdict[cell] = _judge(vertices, loops, faces, cell, corners, shapes.base, shapes.planar)


def judge_cells(vertices: Floats, loops: Loops, cell_count: int) -> Shapes:
    """Examine volumes. Corners beyond the first three of a face, and all others, are tested against its plane."""
    faces = faces_of_cells(loops, cell_count)
    largest = int(np.diff(loops.start[faces]).max(initial=0))
    shapes = Shapes(
        np.empty(len(loops.cell), np.int32), np.empty(len(loops.cell), np.bool_), np.empty(cell_count, np.int8)
    )
    _judge_all(vertices, loops, faces, np.empty(largest, np.int32), shapes)
    return shapes


@kernel
def _judge_polygons(vertices: Floats, loops: Loops, verdict: NDArray[np.int8]) -> None:
    """A polygon is whole when every corner lies to the left of every edge but for the edge's two ends."""
    for cell in range(len(verdict)):
        begin, end = loops.start[cell], loops.start[cell + 1]
        left, right, on = False, False, False
        for dart in range(begin, end):
            following = begin if dart + 1 == end else dart + 1
            a, b = point_2d(vertices, loops.vertex[dart]), point_2d(vertices, loops.vertex[following])
            for other in range(begin, end):
                if other not in (dart, following):
                    side = orient_2d(a, b, point_2d(vertices, loops.vertex[other]))
                    left |= side > 0
                    right |= side < 0
                    on |= side == 0
        verdict[cell] = GOOD
        if on:
            verdict[cell] = COLLINEAR if left or right else FLAT
        elif right:
            verdict[cell] = NOT_CONVEX if left else INVERTED


def judge_polygons(vertices: Floats, loops: Loops) -> NDArray[np.int8]:
    """The verdict on each polygon of the plane."""
    verdict = np.empty(len(loops.cell), np.int8)
    _judge_polygons(vertices, loops, verdict)
    return verdict


def refuse(verdict: NDArray[np.int8], cells: Indices, name: str, *, allow: tuple[int, ...] = ()) -> None:
    """Raise `InvalidInput` for the first cell that is neither whole nor warped nor as `allow` says, by its number in `cells`."""
    bad = (verdict > WARPED) & ~np.isin(verdict, allow)
    if bad.any():
        row = int(np.argmax(bad))
        raise InvalidInput(name, _WORDS[int(verdict[row])], int(cells[row]))
