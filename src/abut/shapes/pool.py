"""All shapes of a world in flat arrays, for the kernels.

Cores: vertices, planes, loops and edges one after the other; row s of `table` says where those of shape s are. Triangles: one AABB tree after the
other, its triangles in the order of its leaves. Shape 0 is room for one triangle: where a triangle of a surface meets a core, it is written
there, as a polytope of two faces (front, back), three edges and no thickness.

The last two rows of the table are room for what a round shape touches with, one for each side of a pair: a point, a segment or a disc of
DISC_SIDES corners (`round.features`).

Layout of `table` (s,13): kind, first and last vertex, first and last face, first and last edge, root node, first and last triangle ("last" is one
beyond), which sides count; the form (`solids.Form`), and where its two rows of measures stand among the vertices. `nodes` (n,3): left child or 0 for
a leaf, first and last triangle. `boxes` (n,6): lowest, then highest corner. `triangles` (t,7): three corners, the face of the mesh, and the far
corners of the three neighbors; `rings`: the neighbors of each point (`summits`).

The arrays come in two bundles, and working memory in two arrays: each array handed on costs time to compile.
"""

from typing import NamedTuple

import numpy as np

from abut.convex import Hull, Hulls
from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel
from abut.shapes.columns import CHILD, FIRST, LAST
from abut.shapes.solids import Convex, Shape
from abut.shapes.summits import OPPOSITE, find_opposite, join_rings
from abut.shapes.surfaces import BOTH, FRONT, Soft, Surface
from abut.trees import binary

CONVEX, SURFACE = 0, 1
KIND, V0, V1, F0, F1, E0, E1, ROOT, T0, T1, SIDE, FORM, MEASURES = range(13)
FIELDS = 13
FACE = 3
IN_B, IN_A, REFERENCE, CUT, SPARE = range(5)
"""Parts of the working memory: vertices of a in b's frame, of b in a's frame, the reference face, the polygon being cut, and one more."""
TRIANGLE = 0
FEATURES = 2
"""Rows at the end of the table for what round shapes touch with."""
DISC_SIDES = 24
POINT = Hull(np.zeros((1, 3)))
LEAF_SIZE = 4


class Cores(NamedTuple):
    """What is convex, and the table of all shapes; see the layout above."""

    table: Integers
    radius: Floats
    vertices: Floats
    planes: Floats
    starts: Integers
    loops: Integers
    edges: Integers


class Trees(NamedTuple):
    """The triangles of surfaces."""

    points: Floats
    triangles: Integers
    nodes: Integers
    boxes: Floats
    rings: Integers


class Pool(NamedTuple):
    """The shapes of a world. hulls: those of the cores, in the order of the table; a point stands for what has none."""

    cores: Cores
    trees: Trees
    hulls: Hulls


def make_room(pool: Pool) -> tuple[Floats, Integers]:
    """Working memory for every pair of shapes of a pool: points (5,k,3) and their names (2,k,2)."""
    table = pool.cores.table
    most = int((table[:, V1] - table[:, V0]).max())
    size = max(most, 2 * int(np.diff(pool.cores.starts).max(initial=3)) + 4)
    return np.empty((5, size, 3)), np.empty((2, size, 2), np.int64)


def build_pool(shapes: list[Shape]) -> Pool:
    """The pool of these shapes; shape i of the list is i + 1 of the pool."""
    count = len(shapes)
    table = np.zeros((count + 1 + FEATURES, FIELDS), np.int64)
    table[:, SIDE] = BOTH
    table[0, V1 : E1 + 1], table[0, SIDE] = (3, 0, 2, 0, 3), FRONT
    vertices, planes = [np.zeros((3 + FEATURES * DISC_SIDES, 3))], [np.zeros((2 + FEATURES, 4))]
    loops, sizes = [np.array([0, 1, 2, 2, 1, 0])], [np.array([3, 3] + [DISC_SIDES] * FEATURES)]
    edges = [np.array([(0, 1, 0, 1), (1, 2, 0, 1), (2, 0, 0, 1)])]
    at, face, edge = 3, 2, 3
    for row in table[count + 1 :]:
        row[V0:ROOT] = (at, at, face, face, edge, edge)
        loops.append(np.arange(at, at + DISC_SIDES))
        at, face = at + DISC_SIDES, face + 1
    surfaces: list[tuple[int, Surface | Soft]] = []
    hulls = [POINT]
    for s, shape in enumerate(shapes, start=1):
        hulls.append(shape.core.hull if isinstance(shape, Convex) else POINT)
        if isinstance(shape, Convex):
            table[s], sides = _lay_out(shape, at, face, edge)
            vertices += [shape.core.vertices, _measures_of(shape)]
            planes.append(shape.core.planes)
            loops.append(shape.core.loops + at)
            sizes.append(np.diff(shape.core.starts))
            edges.append(sides)
            at, face, edge = int(table[s, MEASURES]) + 2, int(table[s, F1]), int(table[s, E1])
        elif isinstance(shape, (Surface, Soft)):
            table[s, KIND], table[s, SIDE] = SURFACE, shape.side
            surfaces.append((s, shape))
    trees = _plant(surfaces, table)
    cores = Cores(
        table,
        np.array([0.0] + [shape.radius for shape in shapes] + [0.0] * FEATURES),
        np.concatenate(vertices),
        np.concatenate(planes),
        np.concatenate(([0], np.cumsum(np.concatenate(sizes)))),
        np.concatenate(loops),
        np.concatenate(edges),
    )
    return Pool(cores, trees, Hulls(hulls))


def _plant(surfaces: list[tuple[int, Surface | Soft]], table: Integers) -> Trees:
    """The trees of all surfaces, one after the other."""
    points, nodes = [np.zeros((0, 3))], [np.zeros((0, 3), np.int64)]
    triangles = [np.zeros((0, OPPOSITE + 3), np.int64)]
    at, first, root = 0, 0, 0
    for s, shape in surfaces:
        mesh = shape.mesh
        # At rest: the order of triangles, and so of contacts, does not depend on when the pool is built.
        tree = binary.build("aabb", mesh.vertices, mesh.faces, leaf_size=LEAF_SIZE)
        count = len(mesh.faces)
        table[s, ROOT:SIDE] = (root, first, first + count)
        points.append(shape.vertices)
        opposite = find_opposite(mesh)[tree.order]
        columns = (mesh.faces[tree.order] + at, tree.order, np.where(opposite < 0, -1, opposite + at))
        triangles.append(np.column_stack(columns))
        nodes.append(tree.nodes + (tree.nodes[:, :1] != 0) * np.array([root, 0, 0]) + np.array([0, first, first]))
        at, first, root = at + len(shape.vertices), first + count, root + len(tree.nodes)
    joined = np.concatenate(nodes)
    rings = join_rings([shape.mesh for _, shape in surfaces])
    trees = Trees(np.concatenate(points), np.concatenate(triangles), joined, np.empty((len(joined), 6)), rings)
    bound_nodes(*trees[:4], 0, len(joined))
    return trees


@kernel
def bound_nodes(points: Floats, triangles: Integers, nodes: Integers, boxes: Floats, first: int, last: int) -> None:
    """Boxes of the nodes first to last, children before parents."""
    for back in range(last - first):
        node = last - 1 - back
        child = nodes[node, CHILD]
        for k in range(3):
            least, most = np.inf, -np.inf
            if child != 0:
                least, most = (
                    min(boxes[child, k], boxes[child + 1, k]),
                    max(boxes[child, k + 3], boxes[child + 1, k + 3]),
                )
            else:
                for t in range(nodes[node, FIRST], nodes[node, LAST]):
                    for corner in range(3):
                        x = points[triangles[t, corner], k]
                        least, most = min(least, x), max(most, x)
            boxes[node, k], boxes[node, k + 3] = least, most


def append_core(pool: Pool, shape: Convex) -> Pool:
    """The same with one more convex shape, the last of those in the table: `guest_of` says which."""
    cores, core = pool.cores, shape.core
    row, sides = _lay_out(shape, len(cores.vertices), len(cores.planes), len(cores.edges))
    guest = guest_of(cores.table) + 1
    grown = Cores(
        np.insert(cores.table, guest, row, axis=0),
        np.insert(cores.radius, guest, shape.radius),
        np.concatenate((cores.vertices, core.vertices, _measures_of(shape))),
        np.concatenate((cores.planes, core.planes)),
        np.concatenate((cores.starts, cores.starts[-1] + core.starts[1:])),
        np.concatenate((cores.loops, core.loops + len(cores.vertices))),
        np.concatenate((cores.edges, sides)),
    )
    return Pool(grown, pool.trees, Hulls((*pool.hulls.hulls, core.hull)))


def guest_of(table: Integers) -> int:
    """The last shape of a table."""
    return len(table) - 1 - FEATURES


def _measures_of(shape: Convex) -> Floats:
    """The two rows of measures of a form."""
    return np.array((shape.form.first, shape.form.second))


def _lay_out(shape: Convex, at: int, face: int, edge: int) -> tuple[Integers, Integers]:
    """The row of a convex shape in the table, and its edges, when its vertices, faces and edges come there."""
    core = shape.core
    ends = at + len(core.vertices), face + len(core.planes), edge + len(core.edges)
    row = (CONVEX, at, ends[0], face, ends[1], edge, ends[2], 0, 0, 0, BOTH, shape.form.kind, ends[0])
    return np.array(row), core.edges + np.where(core.edges[:, 2:3] < 0, (at, at, 0, 0), (at, at, face, face))
