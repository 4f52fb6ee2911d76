"""Order along a space-filling curve: Morton codes of 3·21 bits, sorted by radix, cut where their highest bits differ.

After Lauterbach et al., Fast BVH Construction on GPUs (2009), for meshes too large or too changeable for a top-down build. Equal
codes are cut in halves, so that identical primitives cost no more than others.
"""

import numpy as np

from abut.core.arrays import Floats, Integers
from abut.core.jit import element, kernel, parallel, prange
from abut.trees.binary.tree import END, START
from abut.trees.volumes import Primitives

BITS = 21
CELLS = 2**BITS
DIGIT_BITS = 11
DIGITS = 2**DIGIT_BITS
PASSES = 6  # 66 bits, of which 63 are used
LEAF = -1


@element
def _spread(x: int) -> int:
    """The 21 bits of x, two zeros after each (the usual magic masks)."""
    x = (x | (x << 32)) & 0x1F00000000FFFF
    x = (x | (x << 16)) & 0x1F0000FF0000FF
    x = (x | (x << 8)) & 0x100F00F00F00F00F
    x = (x | (x << 4)) & 0x10C30C30C30C30C3
    return (x | (x << 2)) & 0x1249249249249249


@parallel
def _sum_corners(vertices: Floats, rows: Integers, sums: Floats) -> None:
    for i in prange(len(rows)):
        x, y, z = 0.0, 0.0, 0.0
        for corner in range(rows.shape[1]):
            vertex = rows[i, corner]
            x, y, z = x + vertices[vertex, 0], y + vertices[vertex, 1], z + vertices[vertex, 2]
        sums[i, 0], sums[i, 1], sums[i, 2] = x, y, z


@element
def _cell(x: float, lowest: float, scale: float) -> int:
    return min(max(int((x - lowest) * scale), 0), CELLS - 1)


@parallel
def _encode(sums: Floats, lowest: Floats, scales: Floats, codes: Integers) -> None:
    for i in prange(len(sums)):
        x = _spread(_cell(sums[i, 0], lowest[0], scales[0]))
        y = _spread(_cell(sums[i, 1], lowest[1], scales[1]))
        z = _spread(_cell(sums[i, 2], lowest[2], scales[2]))
        codes[i] = (x << 2) | (y << 1) | z


def morton_codes(vertices: Floats, rows: Integers) -> Integers:
    """(m,) the Morton code of each primitive's centroid in the cube about all centroids: x, y, z bits in turn."""
    sums = np.empty((len(rows), 3))
    _sum_corners(vertices, rows, sums)
    lowest = sums.min(axis=0)
    extent = float((sums.max(axis=0) - lowest).max())
    # One scale for all axes: cells are cubes. A spread too small to be scaled is taken as none.
    scale = CELLS / extent if extent > CELLS * np.finfo(np.float64).tiny else 0.0
    codes = np.empty(len(rows), np.int64)
    _encode(sums, lowest, np.full(3, scale), codes)
    return codes


@kernel
def _sort_by_digit(
    keys: Integers, values: Integers, keys_out: Integers, values_out: Integers, shift: int, starts: Integers
) -> bool:
    """One stable counting pass; False, and nothing done, where all keys have the same digit."""
    starts[:] = 0
    for key in keys:
        starts[((key >> shift) & (DIGITS - 1)) + 1] += 1
    for digit in range(DIGITS):
        if starts[digit + 1] == len(keys):
            return False
        starts[digit + 1] += starts[digit]
    for i in range(len(keys)):
        digit = (keys[i] >> shift) & (DIGITS - 1)
        keys_out[starts[digit]], values_out[starts[digit]] = keys[i], values[i]
        starts[digit] += 1
    return True


def sort_by_code(codes: Integers) -> tuple[Integers, Integers]:
    """Codes (63 bits, not negative) in ascending order, and the permutation that sorts them; stable, linear time."""
    keys, values = codes.copy(), np.arange(len(codes))
    keys_out, values_out, starts = np.empty_like(keys), np.empty_like(values), np.empty(DIGITS + 1, np.int64)
    for turn in range(PASSES):
        if _sort_by_digit(keys, values, keys_out, values_out, turn * DIGIT_BITS, starts):
            keys, values, keys_out, values_out = keys_out, values_out, keys, values
    return keys, values


@kernel
def _find_cut(codes: Integers, start: int, end: int) -> int:
    """The first code of [start, end) that has the highest bit in which they differ; the middle where they do not."""
    differing = codes[start] ^ codes[end - 1]
    if differing == 0:
        return (start + end) // 2
    bit = 1
    for shift in (32, 16, 8, 4, 2, 1):
        if differing >> shift != 0:
            differing >>= shift
            bit <<= shift
    low, high = start, end - 1  # codes[low] lacks the bit, codes[high] has it, and they are sorted
    while high - low > 1:
        middle = (low + high) // 2
        if codes[middle] & bit:
            high = middle
        else:
            low = middle
    return high


@parallel
def _cut_level(codes: Integers, nodes: Integers, first: int, last: int, cuts: Integers, leaf_size: int) -> None:
    for node in prange(first, last):
        start, end = nodes[node, START], nodes[node, END]
        cuts[node - first] = _find_cut(codes, start, end) if end - start > leaf_size else LEAF


def cut_levels(primitives: Primitives, leaf_size: int):
    """Put the primitives in Morton order; returns how to cut a level of nodes, for `build`."""
    codes, primitives.order[:] = sort_by_code(morton_codes(primitives.vertices, primitives.rows))

    def cut_level(nodes: Integers, first: int, last: int, depth: int, cuts: Integers) -> None:
        _cut_level(codes, nodes, first, last, cuts, leaf_size)

    return cut_level
