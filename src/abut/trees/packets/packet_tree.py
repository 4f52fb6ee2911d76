"""Trees eight wide, without pointers: the fast trees of rigid and deformable bodies.

Triangles are ordered so that every node covers a run of 8^(level+1) slots and every packet but the last of a level is full. Level 0 holds the
leaves: node i covers the slots 8i … 8i + 7. Node i of level l has the nodes 8i … 8i + 7 of level l − 1 as children, which are one packet. Levels
lie one after the other in the packed boxes, each padded to whole packets; the root is lane 0 of the last packet.

`packet_order` finds the order, `packet_fit` the boxes: for rigid bodies those of Meseure 1998 §4.2 (mean and covariance of the vertices,
eigenvectors, extremes), for deformable ones §6's axis-aligned boxes, refitted from the leaves.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.core.handles import Floats32At, FloatsAt, Integers32At, pack, unpack
from abut.core.jit import element, generic_by_dtype, implement
from abut.core.scratch import load
from abut.trees.packets import packet_fit
from abut.trees.packets.boxes import WIDTH, Aabb8, Obb8
from abut.trees.packets.packet_order import frame_of, order_faces


class PacketTree(NamedTuple):
    """A packet tree over n triangles.

    packed: `Obb8` or `Aabb8`, the boxes of all levels. child (nodes,) int32: first packet of a node's children, −1 at a leaf.
    lanes (leaves, 9, 8) float32: normalised corners of eight triangles (x, y, z of the first corner, then of the others); slots beyond n repeat
    the last one. corners (n, 9) float64: the same in coordinates of the body. frame (4,): normalised = (x − frame[:3])·frame[3]. root: its node.
    slot_count: n. Kernels that open a handle see pointers in the place of arrays, to be read with `load`.
    """

    packed: Any
    child: NDArray[np.int32]
    lanes: NDArray[np.float32]
    corners: Floats
    frame: Any
    root: int
    slot_count: int


Handle = NDArray[Any]
"""A tree as one array to pass to kernels: a `Table`. The dtype tells the boxes: int64 oriented, uint64 axis-aligned."""


class Table(NamedTuple):
    """The arrays and numbers of a tree, and behind them points of whoever owns it: (6·piece_count,3), six for each connected piece."""

    boxes: Floats32At
    child: Integers32At
    lanes: Floats32At
    corners: FloatsAt
    frame: FloatsAt
    root: int
    slot_count: int
    points: FloatsAt
    piece_count: int


NO_POINTS: Floats = np.empty((0, 3))


class Packets(NamedTuple):
    """A tree, the face in each of its slots (n,), and that face's vertices (n,3)."""

    tree: PacketTree
    order: Integers
    faces: Integers


def handle_of(tree: PacketTree, points: Floats = NO_POINTS) -> Handle:
    """A handle. It is valid as long as the tree's arrays and the points live."""
    arrays = (tree.packed.boxes, tree.child, tree.lanes, tree.corners, tree.frame)
    table = pack(Table, *arrays, tree.root, tree.slot_count, points, len(points) // 6)
    return table if isinstance(tree.packed, Obb8) else table.view(np.uint64)


@generic_by_dtype
def open_tree(handle: Handle) -> PacketTree:
    """The tree behind a handle, in a kernel."""
    raise NotImplementedError


@implement(open_tree, np.int64)
def open_obb(handle: Handle) -> PacketTree:
    """With oriented boxes."""
    table = unpack(Table, handle)
    return PacketTree(Obb8(table.boxes), *_open_rest(table))


@implement(open_tree, np.uint64)
def open_aabb(handle: Handle) -> PacketTree:
    """With axis-aligned boxes."""
    table = unpack(Table, handle)
    return PacketTree(Aabb8(table.boxes), *_open_rest(table))


@element
def _open_rest(table: Table) -> Any:
    frame = table.frame
    return (
        table.child,
        table.lanes,
        table.corners,
        (load(frame, 0), load(frame, 1), load(frame, 2), load(frame, 3)),
        table.root,
        table.slot_count,
    )


@element
def open_points(handle: Handle) -> Any:
    """The points behind a handle, and how many pieces of six they are, in a kernel."""
    table = unpack(Table, handle)
    return table.points, table.piece_count


# ---- building


def _levels(leaf_count: int) -> tuple[Integers, Integers]:
    """The number of nodes of each level, and the first node of each (and the end)."""
    counts = [leaf_count]
    while counts[-1] > 1:
        counts.append(-(-counts[-1] // WIDTH))
    packets = [-(-count // WIDTH) for count in counts]
    return np.array(counts), np.concatenate([[0], np.cumsum(packets)]) * WIDTH


def build(vertices: Floats, faces: Integers, *, oriented: bool) -> Packets:
    """The packet tree of a mesh: oriented boxes for a rigid body, axis-aligned ones for a deformable body."""
    frame = frame_of(vertices, faces)
    order = order_faces(vertices, faces, frame)
    counts, starts = _levels(-(-len(faces) // WIDTH))
    child = np.full(starts[-1], -1, dtype=np.int32)
    for level in range(1, len(counts)):
        child[starts[level] : starts[level] + counts[level]] = starts[level - 1] // WIDTH + np.arange(counts[level])
    lanes = np.empty((counts[0], 9, WIDTH), dtype=np.float32)
    corners = np.empty((len(faces), 9))
    packed = packet_fit.allocate(Obb8 if oriented else Aabb8, int(starts[-1]) // WIDTH)
    tree = PacketTree(packed, child, lanes, corners, frame, int(starts[len(counts) - 1]), len(faces))
    ordered = faces[order]
    packet_fit.fit(packed.boxes, packet_fit.Surface(vertices, ordered, frame, lanes, corners, starts, counts))
    return Packets(tree, order, ordered)


def refit(packets: Packets, vertices: Floats) -> None:
    """Fit the boxes of a deformable body to new vertices, in place: same order, new corners and frame, boxes from the leaves upwards."""
    tree = packets.tree
    tree.frame[:] = frame_of(vertices, packets.faces)
    counts, starts = _levels(len(tree.lanes))
    surface = packet_fit.Surface(vertices, packets.faces, tree.frame, tree.lanes, tree.corners, starts, counts)
    packet_fit.fit(tree.packed.boxes, surface)
