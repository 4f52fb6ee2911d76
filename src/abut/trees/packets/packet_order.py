"""The order of triangles in a packet tree: split at the median across the axis of largest variance, into halves of powers of two times eight."""

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.core.jit import element, kernel, parallel, prange
from abut.trees.binary.selection import select
from abut.trees.packets.boxes import WIDTH

SAMPLE = 2048  # centroids looked at to choose an axis
RUNS = 16  # runs that are split further in parallel
# Meshes below this are ordered and fitted on one thread, in about 0.2 µs a face (`jit.threads_for`).
PARALLEL_FACES = 10_000

Small = NDArray[np.float32]


@element
def _widest_axis(centroids: Small, order: Integers, lo: int, hi: int) -> int:
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


@kernel
def _split_run(centroids: Small, order: Integers, keys: Small, lo: int, hi: int, half: int) -> None:
    """Split one run of slots so that the first `half` of them lie on one side."""
    if hi - lo > half:
        axis = _widest_axis(centroids, order, lo, hi)
        for p in range(lo, hi):
            keys[p] = centroids[order[p], axis]
        select(keys, order, lo, hi, lo + half)


@kernel
def _split_level(centroids: Small, order: Integers, keys: Small, lo: int, hi: int, capacity: int) -> None:
    """Split every run of `capacity` slots from lo to hi at half of it."""
    for start in range(lo, hi, capacity):
        _split_run(centroids, order, keys, start, min(hi, start + capacity), capacity // 2)


@parallel
def _split_rest(centroids: Small, order: Integers, keys: Small, capacity: int) -> None:
    """Split runs of `capacity` slots down to WIDTH, each run by itself: one parallel region, since each costs a wait for the busiest core."""
    n = len(order)
    for i in prange((n + capacity - 1) // capacity):
        lo, hi, part = i * capacity, min(n, (i + 1) * capacity), capacity
        while part > WIDTH:
            _split_level(centroids, order, keys, lo, hi, part)
            part //= 2


@kernel
def _find_centroids(vertices: Floats, faces: Integers, frame: Floats, centroids: Small) -> None:
    for i in range(len(faces)):
        for k in range(3):
            total = vertices[faces[i, 0], k] + vertices[faces[i, 1], k] + vertices[faces[i, 2], k]
            centroids[i, k] = (total - 3.0 * frame[k]) * frame[3]


def order_faces(vertices: Floats, faces: Integers, frame: Floats) -> Integers:
    """(n,) faces in the order of the slots."""
    n = len(faces)
    centroids = np.empty((n, 3), dtype=np.float32)
    _find_centroids(vertices, faces, frame, centroids)
    order = np.arange(n)
    keys = np.empty(n, dtype=np.float32)
    capacity = WIDTH
    while capacity < n:
        capacity *= 2
    whole = capacity
    while capacity > WIDTH and (n < PARALLEL_FACES or whole // capacity < RUNS):
        _split_level(centroids, order, keys, 0, n, capacity)
        capacity //= 2
    if capacity > WIDTH:
        _split_rest(centroids, order, keys, capacity)
    return order


@kernel
def _find_bounds(vertices: Floats, faces: Integers, bounds: Floats) -> None:
    """The smallest and largest coordinates of the vertices that faces refer to."""
    lx = ly = lz = np.inf
    hx = hy = hz = -np.inf
    for i in range(len(faces)):
        for c in range(3):
            v = faces[i, c]
            x, y, z = vertices[v, 0], vertices[v, 1], vertices[v, 2]
            lx, ly, lz = min(lx, x), min(ly, y), min(lz, z)
            hx, hy, hz = max(hx, x), max(hy, y), max(hz, z)
    bounds[0, 0], bounds[0, 1], bounds[0, 2] = lx, ly, lz
    bounds[1, 0], bounds[1, 1], bounds[1, 2] = hx, hy, hz


def frame_of(vertices: Floats, faces: Integers) -> Floats:
    """Shift and scale (4,) that put all corners into [−1, 1]: the middle of their bounds, and a power of two."""
    bounds = np.empty((2, 3))
    _find_bounds(vertices, faces, bounds)
    low, high = bounds
    origin = 0.5 * low + 0.5 * high
    reach = float(np.max(np.maximum(high - origin, origin - low)))
    exponent = int(np.frexp(reach)[1]) if reach > 0.0 else 0
    return np.array([*origin, 2.0 ** -max(exponent, -960)])
