"""Some cells of an environment get other faces: their parts are made anew and sewn to what stands around them, which is not touched.

Jund 2010, §3.4.1: a change of the cells concerns these and the neighbours that share the changed faces. Parts of the cells are judged and cut by the
same functions as at construction (`convexity`, `subdivision`), sewn to one another and to the open faces around them by their corners, and
take the numbers of the parts they replace, then free ones.

A face around the grafted cells may be cut otherwise than the rule now says: it was cut while it was warped, and deformation has made it flat
since. Then the cell beyond is grafted too, and so on until both sides of every face agree.

Nothing is changed before everything is checked; a refusal leaves all tables as they were.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.cells.map.darts import OUTSIDE, Indices, Loops, join_loops
from abut.cells.map.sewing import (
    NONE,
    find_partners,
    link_outside_2d,
    link_outside_3d,
    mirror_darts,
    pair_faces,
    sew_edges,
)
from abut.cells.space import convexity
from abut.cells.space.known_triangles import Known
from abut.cells.space.records import NO_FACE, fit_planes, link_cells
from abut.cells.space.subdivision import Centers, Parts, subdivide, subdivide_polygons
from abut.cells.space.tables import NO_CELL, Fabric, follow_rings
from abut.core import arrays
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput
from abut.core.jit import kernel
from abut.geometry.rows import vector_at
from abut.geometry.vec import cross, dot, norm, subtract

Ring = list[int]
RingsOf = Callable[[int], list[Ring]]
Marks = NDArray[np.bool_]
ROUNDED = 2.0**-40
"""How far a corner may lie behind a face of a cell that counts as convex, in units of the largest coordinate: a cut leaves new corners off by a few
2⁻⁵², and the plane of a face carries that over its length."""


class Graft(NamedTuple):
    """What was replaced."""

    old_parts: Integers
    old_cells: Integers
    """(old parts,) the cell of each"""
    new_parts: Integers


class _Open(NamedTuple):
    """What the parts that go leave open."""

    parts: Integers
    darts: Integers
    faces: Integers
    """a dart of each face, in the parts around, that looks at a part that goes"""
    outside: Integers
    """darts of the outside that go"""
    loose: Integers
    """border darts of the parts around, whose mirror images lose a neighbour"""


def _find_open(fabric: Fabric, parts: Integers) -> _Open:
    darts, faces = fabric.darts_of(parts), fabric.faces_of(parts)
    space, links = fabric.space, fabric.darts
    across = space.across[faces].astype(np.int64)
    beyond = space.cell[across]
    mirrors = across[beyond == OUTSIDE]
    if links.dimension == 3:
        mirrors = follow_rings(links.phi1, mirrors)[0] if len(mirrors) else mirrors
        beside = links.phi2[mirrors]
    else:
        beside = np.concatenate((links.phi1[mirrors], links.phi1_inverse[mirrors]))
    loose = space.across[np.setdiff1d(beside, mirrors)].astype(np.int64)
    around = (beyond != OUTSIDE) & ~np.isin(beyond, parts)
    return _Open(parts, darts, across[around], mirrors, np.setdiff1d(loose, darts))


def _lay_loops(cells: list[int], rings: list[list[Ring]]) -> tuple[Integers, Integers, Integers]:
    """Corners, starts and (as places in `cells`) owners of all faces."""
    flat = [ring for faces in rings for ring in faces]
    corners = np.array([corner for ring in flat for corner in ring], np.int64)
    start = np.cumsum([0, *(len(ring) for ring in flat)])
    owner = np.repeat(np.arange(len(cells)), [len(faces) for faces in rings])
    return corners, start, owner


@kernel
def _find_nearly_convex(
    points: Floats, vertex: Indices, start: Integers, faces: Integers, base: Indices, cells: Integers, found: Marks
) -> None:
    for row in range(len(cells)):
        first, last = faces[cells[row]], faces[cells[row] + 1]
        begin, end, largest, least = start[first], start[last], 0.0, 0.0
        for dart in range(begin, end):
            x, y, z = vector_at(points, vertex[dart])
            largest = max(largest, abs(x), abs(y), abs(z))
        for face in range(first, last):
            size, apex = start[face + 1] - start[face], base[face] - start[face]
            a = vector_at(points, vertex[base[face]])
            b = vector_at(points, vertex[start[face] + (apex + 1) % size])
            c = vector_at(points, vertex[start[face] + (apex + 2) % size])
            normal = cross(subtract(b, a), subtract(c, a))
            limit = -ROUNDED * largest * norm(normal)
            for dart in range(begin, end):
                least = min(least, dot(subtract(vector_at(points, vertex[dart]), a), normal) - limit)
        found[row] = least >= 0.0


def _are_nearly_convex(points: Floats, loops: Loops, base: Indices, cells: Integers, cell_count: int) -> Marks:
    """(k,) whether no corner of each of some cells lies further behind one of its faces than cuts round."""
    found = np.empty(len(cells), np.bool_)
    faces = convexity.faces_of_cells(loops, cell_count)
    _find_nearly_convex(points, loops.vertex, loops.start, faces, base, cells, found)
    return found


def _known_triangles(fabric: Fabric, parts: Integers) -> Known:
    """The triangles of some parts between corners of cells."""
    faces = fabric.faces_of(parts)
    phi1 = fabric.darts.phi1
    faces = faces[phi1[phi1[phi1[faces]]] == faces] if fabric.darts.dimension == 3 else faces[:0]
    rings = fabric.darts.vertex[np.stack((faces, phi1[faces], phi1[phi1[faces]]), axis=1)]
    rings = rings[(rings < fabric.vertex_count).all(axis=1)]
    return Known(fabric.space.vertices, rings.astype(np.int64))


def _build(
    fabric: Fabric, cells: list[int], rings: list[list[Ring]], name: str, dented: set[int], known: Known
) -> Parts:
    """The parts of some cells, corners numbered as rows of the vertices; centers have the numbers after all rows there are."""
    corners, start, owner = _lay_loops(cells, rings)
    used, local = np.unique(corners, return_inverse=True)
    points = arrays.frozen(fabric.space.vertices[used])
    loops = Loops(local.astype(np.int32), start, owner.astype(np.int32))
    numbers = np.array(cells, np.int32)
    if fabric.darts.dimension == 2:
        verdict = convexity.judge_polygons(points, loops)
        _refuse_polygons(verdict, points, loops, numbers, name, dented)
        parts = subdivide_polygons(points, loops, verdict, numbers, name, fabric.slots)
    else:
        phi2 = sew_edges(Loops(corners.astype(np.int32), start, numbers[owner]), name)
        shapes = convexity.judge_cells(points, loops, len(cells))
        bent = np.flatnonzero(shapes.verdict == convexity.NOT_CONVEX)
        may_stay = _are_nearly_convex(points, loops, shapes.base, bent, len(cells))
        may_stay |= np.array([cells[cell] in dented for cell in bent.tolist()], np.bool_)
        shapes.verdict[bent[may_stay]] = convexity.WARPED
        convexity.refuse(shapes.verdict, numbers, name, allow=(convexity.COLLINEAR,))
        try:
            parts = subdivide(points, loops, phi2, shapes, numbers, name, fabric.slots, known)
        except convexity.NotStarShaped:
            if not known:
                raise
            parts = subdivide(points, loops, phi2, shapes, numbers, name, fabric.slots)
    rows = np.concatenate((used, fabric.vertex_rows.count + np.arange(len(parts.centers.cell))))
    centers = Centers(
        numbers[parts.centers.cell].astype(np.int64), parts.centers.start, used[parts.centers.corner].astype(np.int32)
    )
    return parts._replace(
        loops=parts.loops._replace(vertex=rows[parts.loops.vertex].astype(np.int32)),
        cell=numbers[parts.cell],
        vertices=parts.vertices[len(used) :],
        centers=centers,
    )


def _refuse_polygons(
    verdict: NDArray[np.int8], points: Floats, loops: Loops, numbers: Indices, name: str, dented: set[int]
) -> None:
    for cell in np.flatnonzero(verdict == convexity.NOT_CONVEX).tolist():
        ring = points[loops.vertex[loops.start[cell] : loops.start[cell + 1]], :2]
        along = np.roll(ring, -1, axis=0) - ring
        off = ring[np.newaxis] - ring[:, np.newaxis]
        height = along[:, np.newaxis, 0] * off[..., 1] - along[:, np.newaxis, 1] * off[..., 0]
        depth = (-height / np.linalg.norm(along, axis=1)[:, np.newaxis]).max()
        if int(numbers[cell]) in dented or depth <= ROUNDED * np.abs(ring).max():
            verdict[cell] = convexity.WARPED
    convexity.refuse(verdict, numbers, name, allow=(convexity.COLLINEAR,))


def _part_strangers(new: Parts, partner: Integers, cells: dict[int, list[Ring]], first_center: int) -> None:
    """Open pieces that were sewn because they have the same corners, though the faces they are pieces of have not.

    The two sides of a slit may share three of their four corners. Where the slit is bent, both may be cut along these.
    """
    start, face_of_dart = new.loops.start, _faces_of_darts(new.loops)
    beyond = partner[start[:-1]]
    inner = np.maximum.reduceat(new.loops.vertex, start[:-1]) >= first_center
    faces = np.flatnonzero((beyond != NONE) & (beyond < len(face_of_dart)) & ~inner)
    others = face_of_dart[beyond[faces]]
    cell = new.cell[new.loops.cell]
    corners, begin = new.loops.vertex.tolist(), start.tolist()
    own: dict[int, set[frozenset[int]]] = {}
    for face, other, a, b in np.stack((faces, others, cell[faces], cell[others]), axis=1)[faces < others].tolist():
        for each in (a, b):
            if each not in own:
                own[each] = {frozenset(ring) for ring in cells[each]}
        piece = frozenset(corners[begin[face] : begin[face + 1]])
        if a != b and piece in own[a] and piece in own[b]:
            continue
        if a == b or not any(piece <= whole for whole in own[a] & own[b]):
            for each in (face, other):
                partner[start[each] : start[each + 1]] = NONE


def _sew(
    fabric: Fabric, new: Parts, around: Integers, cells: dict[int, list[Ring]], name: str
) -> tuple[Integers, Integers]:
    """For each new dart the one across: a new one, −2 − d for the dart d around, or NONE; and the darts of open faces that nobody meets."""
    links = fabric.darts
    if links.dimension == 2:
        begin = np.concatenate((new.loops.vertex, links.vertex[around])).astype(np.int64)
        phi1, _ = join_loops(new.loops)
        end = np.concatenate((new.loops.vertex[phi1], links.vertex[links.phi1[around]])).astype(np.int64)
        partner, crowded = find_partners([np.minimum(begin, end), np.maximum(begin, end)])
        cell = np.concatenate(
            (new.cell[new.loops.cell[_faces_of_darts(new.loops)]], fabric.part_cell[links.cell[around]])
        )
        if crowded != NONE:
            raise InvalidInput(name, "one of its edges belongs to more than two cells", int(cell[crowded]))
        wrong = (partner != NONE) & (begin[partner] == begin)
        if wrong.any():
            dart = int(np.argmax(wrong))
            raise InvalidInput(name, f"lies on the same side of an edge as cell {cell[partner[dart]]}", int(cell[dart]))
        opened = around
    else:
        opened, sizes = follow_rings(links.phi1, around) if len(around) else (around, around)
        loops = Loops(
            np.concatenate((new.loops.vertex, links.vertex[opened])),
            np.concatenate((new.loops.start, new.loops.start[-1] + np.cumsum(sizes))),
            np.concatenate((new.cell[new.loops.cell], fabric.part_cell[links.cell[around]])).astype(np.int32),
        )
        partner = pair_faces(loops, name, partly=True).astype(np.int64)
        _part_strangers(new, partner, cells, fabric.vertex_rows.count)
    count = len(new.loops.vertex)
    across = partner[:count].copy()
    beyond = across >= count
    across[beyond] = -2 - opened[across[beyond] - count]
    return across, opened[partner[count:] == NONE]


def _faces_of_darts(loops: Loops) -> Integers:
    return np.repeat(np.arange(len(loops.cell)), loops.sizes)


def graft(
    fabric: Fabric,
    changed: dict[int, list[Ring]],
    rings_of: RingsOf,
    obstacle: Marks,
    name: str,
    dented: set[int],
) -> Graft:
    """Give cells other faces (none: the cell is no more). `rings_of` tells the faces of other cells, `obstacle` the marks of all.

    Cells must be convex but for rounding; those in `dented` need not be.
    """
    may_dent = set(dented)
    cells = {cell: rings for cell, rings in changed.items() if rings}
    gone = list(changed)
    while True:
        lists = fabric.parts_of(len(obstacle))
        old = [lists[cell] for cell in gone]
        parts = np.sort(np.concatenate(old).astype(np.int64)) if old else np.empty(0, np.int64)
        opened = _find_open(fabric, parts)
        new = _build(fabric, list(cells), list(cells.values()), name, may_dent, _known_triangles(fabric, parts))
        across, unmet = _sew(fabric, new, opened.faces, cells, name)
        more = np.unique(fabric.part_cell[fabric.darts.cell[unmet]]).tolist()
        if not more:
            return _commit(fabric, gone, new, across, opened, obstacle)
        for cell in more:
            cells[cell] = rings_of(cell)
            gone.append(cell)
            may_dent.add(cell)


def _commit(fabric: Fabric, cells: list[int], new: Parts, across: Integers, opened: _Open, obstacle: Marks) -> Graft:
    """Write the new parts over the old ones."""
    lists, old_cells = fabric.parts_of(len(obstacle)), fabric.part_cell[opened.parts].copy()
    touched = np.unique(fabric.darts.vertex[opened.darts]).astype(np.int64)
    around = np.unique(fabric.space.cell[np.concatenate((opened.faces, opened.loose))]).astype(np.int64)
    first_center = fabric.vertex_rows.count
    fabric.part_rows["face"][opened.parts] = NO_FACE
    fabric.part_rows["cell"][opened.parts] = NO_CELL
    fabric.drop_darts(np.concatenate((opened.darts, opened.outside)))
    fabric.part_rows.give_back(opened.parts)
    fabric.drop_centers(cells)
    center_rows = fabric.add_centers(new.centers, new.vertices)
    corners = new.loops.vertex.astype(np.int64)
    is_center = corners >= first_center
    corners[is_center] = center_rows[corners[is_center] - first_center]
    count = len(corners)
    border = np.flatnonzero(across == NONE)
    darts = fabric.dart_rows.take(count + len(border))
    parts = np.sort(fabric.part_rows.take(len(new.cell)))
    fabric.weave()
    _write_darts(fabric, new, darts, corners, parts, across, border)
    links, inner = fabric.darts, darts[:count]
    (link_outside_3d if links.dimension == 3 else link_outside_2d)(links, np.concatenate((inner[border], opened.loose)))
    _write_parts(fabric, new, inner, parts, obstacle)
    _write_stars(fabric, touched, opened.parts, corners, parts[new.loops.cell[_faces_of_darts(new.loops)]])
    for rows in (fabric.part_rows, fabric.dart_rows, fabric.vertex_rows):
        rows.trim()
    fabric.weave()
    chosen = np.unique(np.array(cells, np.int64))
    order = np.argsort(new.cell, kind="stable")
    lists.replace(chosen, new.cell[order].astype(np.int64), parts[order].astype(np.int32))
    fit_planes(fabric.space, parts)
    link_cells(fabric.space, np.concatenate((parts, around)))
    return Graft(opened.parts, old_cells, parts)


def _write_darts(
    fabric: Fabric,
    new: Parts,
    darts: Integers,
    corners: Integers,
    parts: Integers,
    across: Integers,
    border: Integers,
) -> None:
    links, inner = fabric.darts, darts[: len(corners)]
    phi1, phi1_inverse = join_loops(new.loops)
    links.phi1[inner], links.phi1_inverse[inner] = inner[phi1], inner[phi1_inverse]
    links.vertex[inner] = corners
    links.cell[inner] = parts[new.loops.cell[_faces_of_darts(new.loops)]]
    beyond = links.phi2
    if links.dimension == 3:
        links.phi2[inner] = inner[new.phi2]
        beyond = links.phi3
    among, outward = np.flatnonzero(across >= 0), np.flatnonzero(across < NONE)
    beyond[inner[among]] = inner[across[among]]
    facing = -2 - across[outward]
    beyond[inner[outward]] = facing
    beyond[facing] = inner[outward]
    mirrors = darts[len(corners) :]
    beyond[inner[border]] = mirrors
    mirror_darts(links, inner[border], mirrors)


def _write_parts(fabric: Fabric, new: Parts, inner: Integers, parts: Integers, obstacle: Marks) -> None:
    space = fabric.space
    space.face[parts] = NO_FACE
    if space.dimension == 2:
        owner, base = new.loops.cell[_faces_of_darts(new.loops)], np.arange(len(inner))
    else:
        owner, base = new.loops.cell, new.base
    first = np.searchsorted(owner, np.arange(len(parts)))
    space.face[parts[owner], np.arange(len(owner)) - first[owner]] = inner[base]
    space.obstacle[parts] = obstacle[new.cell]
    fabric.part_rows["cell"][parts] = new.cell


def _write_stars(fabric: Fabric, touched: Integers, old_parts: Integers, corners: Integers, parts: Integers) -> None:
    """The parts around each vertex: those that were there and have not gone, and the new ones."""
    vertices = np.unique(np.concatenate((touched, corners)))
    fabric.stars.extend(fabric.vertex_rows.count)
    owners, around = fabric.stars.gather(vertices)
    stay = ~np.isin(around, old_parts)
    own, beside = np.concatenate((owners[stay], corners)), np.concatenate((around[stay], parts)).astype(np.int64)
    base = int(beside.max(initial=0)) + 1
    own, beside = np.divmod(np.unique(own * base + beside), base)
    fabric.stars.replace(vertices, own, beside.astype(np.int32))
