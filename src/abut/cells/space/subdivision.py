"""Cells whose faces are not exactly planar are walked as several convex parts; neighbours always agree on the face between them.

The rule. A face is flat (planar and convex) or not, by exact signs of its own corners. A flat face is never cut. Another one is cut into the
triangles that join one of its corners to its edges: the lowest-numbered one of those that do not make thin triangles (`FAIR_SHARE`). A cell
that is whole (all faces flat, convex) is one part. Any other cell gets one more vertex, its center (the mean of its corners, rounded), and
one part for each piece of its faces: the tetrahedron or pyramid between the piece and the center. Where records have room for few faces
only (`slots`), cells with more faces count as not whole, and faces with that many corners as not flat. A polygon of the plane that is not
whole falls into the triangles between its center and its edges.

Thin triangles come from cuts by a plane: the new vertex on an edge is a corner of all cells around that edge, also of those that are not cut. It is
rounded, so it lies on the line between the corners beside it, before it or behind it, and the plane of a triangle with these three is
arbitrary. Joined to a corner elsewhere, all triangles are about as the face is.

Why nothing slips through. How a face is cut depends on that face alone: on where its corners lie, and on their numbers. Both
cells see the same, so their parts meet in the same pieces and no third cell is concerned; cutting one cell never forces its neighbours to
be cut. Every part is checked again by exact signs: its faces are planar (triangles, and faces that were planar before) and it is convex and
positively oriented. The parts of a cell are sewn to one another along the triangles between the center and the edges of the pieces, each of
which belongs to two parts. So the parts form a map like any other, with planar faces and convex cells, and a point lies in the interior of
exactly one of its vertices, edges, faces or volumes. The outline of a cut cell is the union of the pieces; that a cut bulges out of one
cell and into the other is then of no consequence, as only the parts are ever asked.

While an environment deforms, a cell that is cut stays cut, and so do its faces, also where they have become planar again. Where parts are made anew,
a face that was cut is cut in the same triangles again (`known`), or the walls would jump.

A cell whose parts are not all positively oriented is not star-shaped about its center. Then its center is put in a point before all its faces
(`kernel_points`), a mean in which some corners count more than once; where there is none, the cell is refused with its number.
"""

import itertools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.cells.map.cell_shapes import TETRAHEDRON, Shape, concatenate, loops_of
from abut.cells.map.darts import Indices, Loops, join_loops
from abut.cells.space import convexity
from abut.cells.space.kernel_points import find_shares
from abut.cells.space.known_triangles import Known
from abut.core import arrays
from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel
from abut.geometry.rows import vector_at
from abut.geometry.vec import cross, dot, norm, subtract

FAIR_SHARE = 0.25
"""How thick the thinnest triangle of a face must be, against the best that any of its corners gives, for a corner to be chosen by its number.

A face that lies out of its plane by w tilts a triangle of height h by w/h, so the choice by number tilts at most 1/FAIR_SHARE times as much as the
best corner would: the larger, the better. But the choice should be the same while a face deforms, or surgery spreads to cells that were cut
before. A quarter is the largest share for which every parallelogram is cut from its lowest corner: with sides a ≤ b both diagonals give triangles
of one area, the longest sides are at least b and less than a + b ≤ 2b, and the thickness goes with the inverse square of these."""
AT_ONCE = 1 << 16


class Centers(NamedTuple):
    """The added vertices, one for each cell that is cut."""

    cell: Integers
    start: Integers
    """(centers + 1,) where the corners of each cell begin"""
    corner: Indices


class Parts(NamedTuple):
    """Convex parts, and the cell that each belongs to."""

    loops: Loops
    phi2: Indices
    cell: Indices
    """(parts,)"""
    base: Indices
    """(faces,) the dart of each face of a part whose corner and the two that follow span its plane best"""
    vertices: Floats
    """the cells' vertices, then the centers"""
    centers: Centers


@kernel
def _list_corners(
    loops: Loops, faces: Integers, cells: Integers, scratch: Indices, start: Integers, corners: Indices
) -> None:
    """The corners of these cells, one cell after another."""
    for row in range(len(cells)):
        first, last = faces[cells[row]], faces[cells[row] + 1]
        count = convexity.gather_corners(loops.vertex, loops.start[first], loops.start[last], scratch)
        for k in range(count):
            corners[start[row] + k] = scratch[k]
        start[row + 1] = start[row] + count


@kernel
def move_centers(
    vertices: Floats, rows: Integers, begin: Integers, end: Integers, corner: Indices, chosen: Integers
) -> None:
    """Put some centers, which are rows of the vertices, in the mean of their corners."""
    for k in chosen:
        for axis in range(3):
            total = 0.0
            for place in range(begin[k], end[k]):
                total += vertices[corner[place], axis]
            vertices[rows[k], axis] = total / (end[k] - begin[k])


def _find_centers(loops: Loops, cell_count: int, cells: Integers) -> Centers:
    faces = convexity.faces_of_cells(loops, cell_count)
    dart_counts = np.diff(loops.start[faces])
    start, corners = np.zeros(len(cells) + 1, np.int64), np.empty(int(dart_counts[cells].sum()), np.int32)
    _list_corners(loops, faces, cells, np.empty(int(dart_counts.max(initial=0)), np.int32), start, corners)
    return Centers(cells, start, corners[: start[-1]].copy())


def _keep_faces(loops: Loops, phi2: Indices, keep: NDArray[np.bool_]) -> tuple[Loops, Indices]:
    """Some of the faces, whole cells at a time, their cells numbered anew."""
    darts = np.repeat(keep, loops.sizes)
    number = np.cumsum(darts, dtype=np.int32) - np.int32(1)
    _, cell = np.unique(loops.cell[keep], return_inverse=True)
    start = np.concatenate(([0], np.cumsum(loops.sizes[keep])))
    return Loops(loops.vertex[darts], start, cell.astype(np.int32)), number[phi2[darts]]


@kernel
def _find_thinnest(vertices: Floats, rings: Integers, thinnest: Floats) -> None:
    size = rings.shape[1]
    for row in range(len(rings)):
        for apex in range(size):
            a, least = vector_at(vertices, rings[row, apex]), np.inf
            for k in range(1, size - 1):
                b = vector_at(vertices, rings[row, (apex + k) % size])
                c = vector_at(vertices, rings[row, (apex + k + 1) % size])
                u, v, w = subtract(b, a), subtract(c, a), subtract(c, b)
                longest = max(dot(u, u), dot(v, v), dot(w, w))
                least = min(least, norm(cross(u, v)) / longest if longest > 0.0 else 0.0)
            thinnest[row, apex] = least


def _thinnest(vertices: Floats, rings: Integers) -> Floats:
    """(n,size) for each corner of each ring, the least thickness of the triangles that join it to the edges: twice the area over the square of
    the longest side. The same, to the last bit, whichever way a ring runs."""
    thinnest = np.empty(rings.shape)
    _find_thinnest(arrays.frozen(vertices), rings, thinnest)
    return thinnest


def _cut_faces(
    vertices: Floats, loops: Loops, faces: Integers, known: Known | None = None
) -> tuple[Integers, Integers]:
    """The triangles (n,3) of faces that are not flat, joined to one of their corners, and the face of each."""
    triangles: list[Integers] = []
    owners: list[Integers] = []
    sizes = loops.sizes[faces]
    blocks = [
        chosen[first : first + AT_ONCE]
        for size in np.unique(sizes).tolist()
        for chosen in (faces[sizes == size],)
        for first in range(0, len(chosen), AT_ONCE)
    ]
    for chosen in blocks:
        size = int(loops.sizes[chosen[0]])
        rings = loops.vertex[loops.start[chosen][:, np.newaxis] + np.arange(size)].astype(np.int64)
        thinnest = _thinnest(vertices, rings)
        poor = thinnest < FAIR_SHARE * thinnest.max(axis=1, keepdims=True)
        apex = np.argmin(rings + poor * len(vertices), axis=1)
        if known:
            before = known.find_apexes(vertices, rings)
            apex = np.where(before >= 0, before, apex)
        turn = (apex[:, np.newaxis] + np.arange(size)) % size
        rings = np.take_along_axis(rings, turn, axis=1)
        fans = [rings[:, [0, k, k + 1]] for k in range(1, size - 1)]
        triangles.append(np.stack(fans, axis=1).reshape(-1, 3))
        owners.append(np.repeat(chosen, size - 2))
    if not triangles:
        return np.empty((0, 3), np.int64), np.empty(0, np.int64)
    return np.concatenate(triangles), np.concatenate(owners)


def pieces_of(corners: Floats, ring: list[int]) -> list[list[int]]:
    """The pieces of one face, given its corners and their numbers: itself where it is flat, else triangles."""
    if len(ring) == 3:
        return [ring]
    used, first, local = np.unique(ring, return_index=True, return_inverse=True)
    points = arrays.frozen(np.ascontiguousarray(corners[first]))
    loops = Loops(local.astype(np.int32), np.array([0, len(ring)]), np.zeros(1, np.int32))
    if convexity.judge_cells(points, loops, 1).planar[0]:
        return [ring]
    return used[_cut_faces(points, loops, np.zeros(1, np.int64))[0]].tolist()


def _pyramid(size: int) -> Shape:
    sides = tuple((k, size, (k + 1) % size) for k in range(size))
    return Shape("pyramid", size + 1, (tuple(range(size)), *sides))


def _cut_cells(
    vertices: Floats, loops: Loops, planar: NDArray[np.bool_], cut: Integers, known: Known | None
) -> tuple[list[tuple[Shape, NDArray[Any]]], list[Integers]]:
    """Corners of the parts of the cut cells, shape by shape, and the cells they belong to."""
    center = np.full(int(loops.cell[-1]) + 1, -1, np.int64)
    center[cut] = len(vertices) + np.arange(len(cut))
    inside = center[loops.cell] >= 0
    whole_triangle = (loops.sizes == 3) & inside
    three = np.flatnonzero(whole_triangle)
    triangles, owners = _cut_faces(vertices, loops, np.flatnonzero(inside & ~planar & ~whole_triangle), known)
    triangles = np.concatenate((loops.vertex[loops.start[three][:, np.newaxis] + np.arange(3)], triangles))
    owners = np.concatenate((three, owners))
    parts: list[tuple[Shape, NDArray[Any]]] = [(TETRAHEDRON, np.column_stack((triangles, center[loops.cell[owners]])))]
    cells = [loops.cell[owners].astype(np.int64)]
    flat = inside & planar & ~whole_triangle
    for size in np.unique(loops.sizes[flat]).tolist():
        chosen = np.flatnonzero(flat & (loops.sizes == size))
        rings = loops.vertex[loops.start[chosen][:, np.newaxis] + np.arange(size)]
        parts.append((_pyramid(size), np.column_stack((rings, center[loops.cell[chosen]]))))
        cells.append(loops.cell[chosen].astype(np.int64))
    return parts, cells


def _better_centers(
    points: Floats, parts: Loops, part_cell: Indices, centers: Centers, bad: Indices, *, is_plane: bool = False
) -> Centers | None:
    """Other centers for some cells that are cut, before all their faces; None where one has none. In the plane a part is one loop."""
    first = len(points) - len(centers.cell)
    corners = [centers.corner[a:b] for a, b in itertools.pairwise(centers.start.tolist())]
    faces = np.flatnonzero(np.isin(part_cell[parts.cell], bad))
    for cell in bad.tolist():
        place = int(np.searchsorted(centers.cell, cell))
        if place == len(centers.cell) or centers.cell[place] != cell:
            return None
        own = np.unique(corners[place])
        chosen = faces[part_cell[parts.cell[faces]] == cell]
        rings = [parts.vertex[parts.start[k] : parts.start[k + 1]] for k in chosen.tolist()]
        outer = [ring[ring < first][:3] for ring in rings if is_plane or (ring < first).all()]
        counts = find_shares(points[own], points[np.array(outer)])
        if counts is None:
            return None
        corners[place] = np.repeat(own, counts).astype(np.int32)
    start = np.concatenate(([0], np.cumsum([len(each) for each in corners])))
    return Centers(centers.cell, start, np.concatenate(corners))


def subdivide(
    vertices: Floats,
    loops: Loops,
    phi2: Indices,
    shapes: convexity.Shapes,
    numbers: Indices,
    name: str,
    slots: int | None = None,
    known: Known | None = None,
) -> Parts:
    """The parts of all cells: one for each whole cell, in order, then those of the others. `numbers` are the cells' numbers in messages.

    No part has more than `slots` faces, where that is given. `known` are the triangles into which faces were cut before.
    """
    cell_count, planar = len(shapes.verdict), shapes.planar
    is_cut = shapes.verdict != convexity.GOOD
    if slots is not None:
        is_cut |= np.bincount(loops.cell, minlength=cell_count) > slots
        planar = planar & (loops.sizes < slots)
    cut = np.flatnonzero(is_cut)
    centers = _find_centers(loops, cell_count, cut)
    if not len(cut):
        return Parts(loops, phi2, np.arange(cell_count, dtype=np.int32), shapes.base, vertices, centers)
    whole = _keep_faces(loops, phi2, ~is_cut[loops.cell])
    cells = [np.flatnonzero(~is_cut)]
    pieces, owners = _cut_cells(vertices, loops, planar, cut, known)
    built, next_part = [whole], len(cells[0])
    for (shape, corners), owner in zip(pieces, owners, strict=True):
        built.append(loops_of(shape, corners, next_part))
        cells.append(owner)
        next_part += len(corners)
    together, links = concatenate(built)
    part_cell = np.concatenate(cells).astype(np.int32)
    points = np.concatenate((vertices, np.empty((len(cut), 3))))
    every = np.arange(len(cut))
    move_centers(points, len(vertices) + every, centers.start[:-1], centers.start[1:], centers.corner, every)
    found = convexity.judge_cells(points, together, next_part)
    bad = found.verdict != convexity.GOOD
    if bad.any() and (better := _better_centers(points, together, part_cell, centers, np.unique(part_cell[bad]))):
        centers = better
        move_centers(points, len(vertices) + every, centers.start[:-1], centers.start[1:], centers.corner, every)
        found = convexity.judge_cells(points, together, next_part)
        bad = found.verdict != convexity.GOOD
    if bad.any():
        raise convexity.NotStarShaped(name, np.unique(numbers[part_cell[bad]]).tolist())
    return Parts(together, links, part_cell, found.base, points, centers)


def subdivide_polygons(
    vertices: Floats, loops: Loops, verdict: NDArray[np.int8], numbers: Indices, name: str, slots: int
) -> Parts:
    """The parts of polygons: itself for each that is whole and has at most `slots` corners, triangles about its center for each other."""
    is_cut = (verdict != convexity.GOOD) | (loops.sizes > slots)
    cut = np.flatnonzero(is_cut)
    start = np.concatenate(([0], np.cumsum(loops.sizes[cut])))
    darts = np.repeat(is_cut, loops.sizes)
    centers = Centers(cut, start, loops.vertex[darts])
    every = np.arange(len(cut))
    points = np.concatenate((vertices, np.empty((len(cut), 3))))
    move_centers(points, len(vertices) + every, start[:-1], start[1:], centers.corner, every)
    phi1, _ = join_loops(loops)
    center = np.repeat(len(vertices) + every, loops.sizes[cut])
    triangles = np.column_stack((loops.vertex[darts], loops.vertex[phi1[darts]], center)).astype(np.int32)
    sizes = np.concatenate((loops.sizes[~is_cut], np.full(len(triangles), 3)))
    together = Loops(
        np.concatenate((loops.vertex[~darts], triangles.ravel())),
        np.concatenate(([0], np.cumsum(sizes))),
        np.arange(len(sizes), dtype=np.int32),
    )
    cell = np.concatenate((np.flatnonzero(~is_cut), np.repeat(cut, loops.sizes[cut]))).astype(np.int32)
    bad = convexity.judge_polygons(arrays.frozen(points), together) != convexity.GOOD
    if bad.any() and (better := _better_centers(points, together, cell, centers, np.unique(cell[bad]), is_plane=True)):
        centers, points = better, points.copy()
        move_centers(points, len(vertices) + every, centers.start[:-1], centers.start[1:], centers.corner, every)
        bad = convexity.judge_polygons(arrays.frozen(points), together) != convexity.GOOD
    if bad.any():
        raise convexity.NotStarShaped(name, np.unique(numbers[cell[bad]]).tolist())
    nothing = np.empty(0, np.int32)
    return Parts(together, nothing, cell, nothing, points, centers)
