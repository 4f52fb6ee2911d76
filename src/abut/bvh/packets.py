"""Trees eight wide, without pointers: the fast trees of rigid and deformable bodies.

Triangles are ordered so that every node covers a run of 8^(level+1) slots and every packet but the last of a level is full. Level 0 holds the
leaves: node i covers the slots 8i … 8i + 7. Node i of level l has the nodes 8i … 8i + 7 of level l − 1 as children, which are one packet. Levels
lie one after the other in the packed boxes, each padded to whole packets; the root is lane 0 of the last packet.

The order comes from splitting at the median, across the axis of largest variance of the centroids, into halves whose sizes are powers of two
times 8. For rigid bodies the boxes are those of Meseure 1998 §4.2 (mean and covariance of the vertices, eigenvectors, extremes), for deformable
ones §6's axis-aligned boxes, refitted from the leaves.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.arrays import Floats, Integers
from abut.bvh import packets_fit
from abut.jit import element, generic_by_dtype, implement, kernel, parallel, prange
from abut.scratch import view_floats, view_floats32, view_integers32
from abut.volumes.packed import AABB_FIELDS, OBB_FIELDS, WIDTH, Aabb8, Obb8

SAMPLE = 2048  # centroids looked at to choose an axis


class PacketTree(NamedTuple):
    """A packet tree over n triangles.

    packed: `Obb8` or `Aabb8`, the boxes of all levels. child (nodes,) int32: first packet of a node's children, −1 at a leaf. lanes (leaves, 9, 8)
    float32: normalised corners of eight triangles (x, y, z of the first corner, then of the others); slots beyond n repeat the last one.
    corners (n, 9) float64: the same in coordinates of the body. frame (4,): normalised = (x − frame[:3])·frame[3].
    """

    packed: Any
    child: NDArray[np.int32]
    lanes: NDArray[np.float32]
    corners: Floats
    frame: Floats
    root: int


Handle = NDArray[Any]
"""A tree as one array to pass to kernels: addresses and sizes of its arrays. The dtype tells the boxes: int64 oriented, uint64 axis-aligned."""


class Packets(NamedTuple):
    """A tree and the face in each of its slots, (n,)."""

    tree: PacketTree
    order: Integers


def handle_of(tree: PacketTree, *more: int) -> Handle:
    """A handle, with more numbers of the caller's behind the tree's ten. It is valid as long as the tree's arrays live."""
    arrays = (tree.packed.boxes, tree.child, tree.lanes, tree.corners, tree.frame)
    sizes = (len(tree.packed.boxes), len(tree.child), len(tree.lanes), len(tree.corners), tree.root)
    table = [array.ctypes.data for array in arrays] + [*sizes, *more]
    return np.array(table, dtype=np.int64 if isinstance(tree.packed, Obb8) else np.uint64)


@generic_by_dtype
def open_tree(handle: Handle) -> PacketTree:
    """The tree behind a handle, in a kernel."""
    raise NotImplementedError


@implement(open_tree, np.int64)
def open_obb(handle: Handle) -> PacketTree:
    """With oriented boxes."""
    return PacketTree(
        Obb8(view_floats32(handle[0], (handle[5], OBB_FIELDS, WIDTH))),
        view_integers32(handle[1], (handle[6],)),
        view_floats32(handle[2], (handle[7], 9, WIDTH)),
        view_floats(handle[3], (handle[8], 9)),
        view_floats(handle[4], (4,)),
        handle[9],
    )


@implement(open_tree, np.uint64)
def open_aabb(handle: Handle) -> PacketTree:
    """With axis-aligned boxes."""
    return PacketTree(
        Aabb8(view_floats32(int(handle[0]), (int(handle[5]), AABB_FIELDS, WIDTH))),
        view_integers32(int(handle[1]), (int(handle[6]),)),
        view_floats32(int(handle[2]), (int(handle[7]), 9, WIDTH)),
        view_floats(int(handle[3]), (int(handle[8]), 9)),
        view_floats(int(handle[4]), (4,)),
        int(handle[9]),
    )


# ---- order


@element
def _next_random(state: int) -> int:
    return (state * 1103515245 + 12345) & 0x7FFFFFFF


@kernel
def _select(keys: NDArray[np.float32], order: Integers, lo: int, hi: int, nth: int) -> None:
    """Partition keys (and order) of [lo, hi) so that the nth stands where sorting would put it. Expected linear time, also for equal keys."""
    left, right, state = lo, hi - 1, 12345 + nth
    while left < right:
        state = _next_random(state)
        a = keys[left + state % (right - left + 1)]
        state = _next_random(state)
        b = keys[left + state % (right - left + 1)]
        c = keys[(left + right) >> 1]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = left, right
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if nth <= j:
            right = j
        elif nth >= i:
            left = i
        else:
            return


@element
def _widest_axis(centroids: NDArray[np.float32], order: Integers, lo: int, hi: int) -> int:
    """The coordinate axis of largest variance, from a sample."""
    step = max(1, (hi - lo) // SAMPLE)
    count = 0
    sx = sy = sz = xx = yy = zz = 0.0
    for p in range(lo, hi, step):
        i = order[p]
        x, y, z = float(centroids[i, 0]), float(centroids[i, 1]), float(centroids[i, 2])
        sx += x
        sy += y
        sz += z
        xx += x * x
        yy += y * y
        zz += z * z
        count += 1
    vx, vy, vz = xx - sx * sx / count, yy - sy * sy / count, zz - sz * sz / count
    if vx >= vy and vx >= vz:
        return 0
    return 1 if vy >= vz else 2


@parallel
def _split_level(centroids: NDArray[np.float32], order: Integers, keys: NDArray[np.float32], capacity: int) -> None:
    """Split every run of `capacity` slots at half of it."""
    n, half = len(order), capacity // 2
    for i in prange((n + capacity - 1) // capacity):
        lo, hi = i * capacity, min(n, (i + 1) * capacity)
        if hi - lo > half:
            axis = _widest_axis(centroids, order, lo, hi)
            for p in range(lo, hi):
                keys[p] = centroids[order[p], axis]
            _select(keys, order, lo, hi, lo + half)


@parallel
def _normalise(vertices: Floats, faces: Integers, frame: Floats, centroids: NDArray[np.float32]) -> None:
    for i in prange(len(faces)):
        for k in range(3):
            total = 0.0
            for c in range(3):
                total += (vertices[faces[i, c], k] - frame[k]) * frame[3]
            centroids[i, k] = total


def order_faces(vertices: Floats, faces: Integers, frame: Floats) -> Integers:
    """(n,) faces in the order of the slots."""
    n = len(faces)
    centroids = np.empty((n, 3), dtype=np.float32)
    _normalise(vertices, faces, frame, centroids)
    order = np.arange(n)
    keys = np.empty(n, dtype=np.float32)
    capacity = WIDTH
    while capacity < n:
        capacity *= 2
    while capacity > WIDTH:
        _split_level(centroids, order, keys, capacity)
        capacity //= 2
    return order


def frame_of(vertices: Floats) -> Floats:
    """Shift and scale that put all vertices into [−1, 1]: the middle of their bounds, and a power of two."""
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    origin = 0.5 * low + 0.5 * high
    reach = float(np.max(np.maximum(high - origin, origin - low)))
    exponent = int(np.frexp(reach)[1]) if reach > 0.0 else 0
    return np.array([*origin, 2.0 ** -max(exponent, -960)])


# ---- corners


@parallel
def gather(
    vertices: Floats, faces: Integers, order: Integers, frame: Floats, lanes: NDArray[np.float32], corners: Floats
) -> None:
    """Copy the triangles' corners into the slots, as they are and normalised."""
    n, scale = len(order), frame[3]
    for leaf in prange(len(lanes)):
        for k in range(WIDTH):
            slot = min(leaf * WIDTH + k, n - 1)
            for c in range(3):
                v = faces[order[slot], c]
                for i in range(3):
                    x = vertices[v, i]
                    lanes[leaf, 3 * c + i, k] = (x - frame[i]) * scale
                    if leaf * WIDTH + k < n:
                        corners[slot, 3 * c + i] = x


# ---- building


def _level_counts(leaf_count: int) -> list[int]:
    counts = [leaf_count]
    while counts[-1] > 1:
        counts.append(-(-counts[-1] // WIDTH))
    return counts


def build(vertices: Floats, faces: Integers, *, oriented: bool) -> Packets:
    """The packet tree of a mesh: oriented boxes for a rigid body, axis-aligned ones for a deformable body."""
    frame = frame_of(vertices)
    order = order_faces(vertices, faces, frame)
    counts = _level_counts(-(-len(faces) // WIDTH))
    packets = [-(-count // WIDTH) for count in counts]
    starts = np.concatenate([[0], np.cumsum(packets)]) * WIDTH  # first node of each level
    child = np.full(starts[-1], -1, dtype=np.int32)
    for level in range(1, len(counts)):
        child[starts[level] : starts[level] + counts[level]] = starts[level - 1] // WIDTH + np.arange(counts[level])
    lanes = np.empty((counts[0], 9, WIDTH), dtype=np.float32)
    corners = np.empty((len(faces), 9))
    packed = packets_fit.allocate(Obb8 if oriented else Aabb8, int(starts[-1]) // WIDTH)
    tree = PacketTree(packed, child, lanes, corners, frame, int(starts[len(counts) - 1]))
    gather(vertices, faces, order, frame, lanes, corners)
    if oriented:
        packets_fit.fit_obb(lanes, starts, np.array(counts), packed.boxes)
    else:
        packets_fit.fit_aabb(lanes, starts, np.array(counts), packed.boxes)
    return Packets(tree, order)


def refit(packets: Packets, vertices: Floats, faces: Integers) -> None:
    """Fit the boxes of a deformable body to new vertices, in place: same order, new corners and frame, boxes from the leaves upwards."""
    tree = packets.tree
    tree.frame[:] = frame_of(vertices)
    gather(vertices, faces, packets.order, tree.frame, tree.lanes, tree.corners)
    counts = _level_counts(len(tree.lanes))
    starts = np.concatenate([[0], np.cumsum([-(-count // WIDTH) for count in counts])]) * WIDTH
    packets_fit.fit_aabb(tree.lanes, starts, np.array(counts), tree.packed.boxes)
