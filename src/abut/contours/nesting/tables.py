"""No-fit tables: for two kinds of pieces at every relative turn, where the second must not be put.

Two convex parts A and B overlap when B's place, seen from A, lies inside the polygon A ⊕ (−B) (the no-fit polygon of the literature). It
is kept as half-planes n·q < c, one for each edge of A and of B, with c from the supports of both. How deep q lies, the least c − n·q, is
the shortest way out. Pieces overlap when two of their parts do. With a gap the half-planes are moved out by it, and ROUND_NORMALS further ones
round off the corners: places at most 1/cos(15°) times the gap away are refused that need not be.

A table holds for one relative turn of the two kinds: pieces turned by α and β meet the table of β − α in the frame of the first. So a set
of K evenly spread turns needs K tables a pair of kinds, not K².

Every half-plane is moved out by MARGIN of the sheet as well. Rounding of places and of turned corners is below 1e-14 of it, so that
pieces that a table calls apart are apart in the coordinates that are written out; `verify` proves it for each layout.

Tiles that fill a sheet to the last bit leave no room for a margin. So where no gap is asked for, all turns are quarter turns and all corners are
multiples of a grid (GRID_BITS), places are multiples of it as well: sums of places and corners are exact, and half-planes along the axes
get no margin. Let s be the slack and g the grid. A line stops where a depth is s − 0.85 g; rounding the place to the grid changes the depth
by at most 0.71 g, so it stays below s, and half-planes along the axes are stored so that the next multiple of g beyond touching is above s.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput
from abut.core.jit import kernel

MARGIN = 1e-10
SLACK = 1e-12
GRID_BITS = 42
ROUND_NORMALS = 12
AXES = 4
"""Normals that are added where pieces may touch exactly: parts that are cut slantwise may have none along an axis."""
MOST_PLANES = 2**28
"""Half-planes of all tables: 24 bytes each."""


class Tables(NamedTuple):
    """Half-planes of all pairs of parts of all pairs of kinds at all relative turns."""

    rows: Integers
    """(kinds² · relative turns + 1,) first pair of parts of kind a, kind b and relative turn r, at (a·kinds + b)·turns + r"""
    boxes: Floats
    """(p,4) low x, low y, high x, high y of the places of a pair of parts"""
    first: Integers
    """(p + 1,) first half-plane of a pair of parts"""
    planes: Floats
    """(e,3) normal and offset"""
    turns: Floats
    """(k,3) cosine and sine of each turn in use, and −1 where the piece is mirrored before, else 1"""
    relative: Integers
    """(k,k) number of the relative turn from the first turn to the second"""
    extents: Floats
    """(kinds, k, 4) low x, low y, high x, high y of a kind at a turn, margins not included"""
    grow: float
    """how far half-planes were moved out: gap and margin"""
    slack: float
    """a depth up to this is none: what rounding leaves when a piece has been put at the end of an interval"""
    shift: float
    """the depth at which intervals end"""
    along: float
    """a line parallel to a half-plane, and no deeper in it than this plus `shift`, does not enter it"""
    grid: float
    """places are multiples of it; 0 for any place"""


@kernel
def _support(points: Floats, start: int, end: int, nx: float, ny: float) -> float:
    best = -np.inf
    for k in range(start, end):
        best = max(best, nx * points[k, 0] + ny * points[k, 1])
    return best


@kernel
def _fill_pair(
    a: Floats, a0: int, a1: int, b: Floats, b0: int, b1: int, flip: float, extra: int, planes: Floats, at: int
) -> int:  # fmt: skip
    """Write the half-planes of one pair of parts at `at`; where the next pair's begin. Edges of no length are left out. A mirrored b, of flip −1,
    runs clockwise."""
    for side in range(2):
        source, start, end = (a, a0, a1) if side == 0 else (b, b0, b1)
        sign = 1.0 if side == 0 else -flip
        for k in range(start, end):
            following = k + 1 if k + 1 < end else start
            x, y = source[following, 0] - source[k, 0], source[following, 1] - source[k, 1]
            length = math.sqrt(x * x + y * y)
            if length > 0.0:
                planes[at, 0], planes[at, 1] = sign * y / length, -sign * x / length
                at += 1
    for k in range(extra):
        x, y = math.cos(2.0 * math.pi * k / extra), math.sin(2.0 * math.pi * k / extra)
        if extra == AXES:
            x, y = math.floor(x + 0.5), math.floor(y + 0.5)
        planes[at, 0], planes[at, 1] = x, y
        at += 1
    return at


@kernel
def _fill(
    corners: Floats, part_first: Integers, kind_first: Integers, angles: Floats, grow: float, extra: int,
    grid: float, shift: float, index: Integers, boxes: Floats, first: Integers, planes: Floats,
) -> None:  # fmt: skip
    kind_count, turn_count = len(kind_first) - 1, len(angles)
    turned = np.empty_like(corners)
    pair, at = 0, 0
    for r in range(turn_count):
        cosine, sine, flip = angles[r, 0], angles[r, 1], angles[r, 2]
        for k in range(len(corners)):
            turned[k, 0] = cosine * flip * corners[k, 0] - sine * corners[k, 1]
            turned[k, 1] = sine * flip * corners[k, 0] + cosine * corners[k, 1]
        for a in range(kind_count):
            for b in range(kind_count):
                row = (a * kind_count + b) * turn_count + r
                index[row, 0] = pair
                for i in range(kind_first[a], kind_first[a + 1]):
                    for j in range(kind_first[b], kind_first[b + 1]):
                        a0, a1, b0, b1 = part_first[i], part_first[i + 1], part_first[j], part_first[j + 1]
                        first[pair] = at
                        at = _fill_pair(corners, a0, a1, turned, b0, b1, flip, extra, planes, at)
                        for e in range(first[pair], at):
                            nx, ny = planes[e, 0], planes[e, 1]
                            reach = _support(corners, a0, a1, nx, ny) + _support(turned, b0, b1, -nx, -ny)
                            if grid > 0.0 and (nx == 0.0 or ny == 0.0):
                                planes[e, 2] = math.ceil(reach / grid) * grid + shift
                            else:
                                planes[e, 2] = reach + grow
                        for side in range(4):
                            sign = -1.0 if side < 2 else 1.0
                            nx, ny = (sign, 0.0) if side % 2 == 0 else (0.0, sign)
                            reach = _support(corners, a0, a1, nx, ny) + _support(turned, b0, b1, -nx, -ny)
                            boxes[pair, side] = sign * (reach + grow)
                        pair += 1
                index[row, 1] = pair
    first[pair] = at


def turn(points: Floats, degrees: float, flip: float = 1.0) -> Floats:
    """The points turned about the origin, after x has been negated where flip is −1: they then come in reversed order, so that a ring keeps its
    direction. Quarter turns are exact."""
    cosine, sine = cosine_sine(degrees)
    x, y = points[:, 0] * flip, points[:, 1]
    turned = np.stack([cosine * x - sine * y, sine * x + cosine * y], axis=1)
    return turned if flip > 0.0 else np.ascontiguousarray(turned[::-1])


Pose: TypeAlias = tuple[float, float]
"""An angle in degrees, and 1, or −1 for a piece that is first mirrored (its x negated)."""


def find_relative(a: Pose, b: Pose) -> Pose:
    """How b is turned, seen from a. Mirrors turn angles round."""
    angle = b[0] - a[0] if a[1] > 0.0 else a[0] - b[0]
    return round(angle % 360.0, 9) % 360.0, a[1] * b[1]


def cosine_sine(degrees: float) -> tuple[float, float]:
    """Exact at quarter turns."""
    quarter, rest = divmod(degrees % 360.0, 90.0)
    cosine, sine = math.cos(math.radians(rest)), math.sin(math.radians(rest))
    return ((cosine, sine), (-sine, cosine), (-cosine, -sine), (sine, -cosine))[int(quarter) % 4]


def _choose_grid(rings: list[Floats], angles: list[float], gap: float, size: float) -> float:
    """The grid that all corners lie on, if pieces may touch exactly; else 0."""
    grid = 2.0 ** (math.ceil(math.log2(size)) - GRID_BITS)
    exact = all(bool(np.all(np.round(ring / grid) * grid == ring)) for ring in rings)
    return grid if exact and gap == 0.0 and all(angle % 90.0 == 0.0 for angle in angles) else 0.0


def build_tables(
    parts: list[list[Floats]], rings: Sequence[Sequence[Floats]], poses: list[Pose], gap: float, size: float
) -> Tables:
    """Tables of kinds given by their convex parts, and by their outlines and the rings around their holes, for these turns."""
    angles = [angle for angle, _ in poses]
    relative_poses = sorted({find_relative(a, b) for a in poses for b in poses})
    number = {pose: k for k, pose in enumerate(relative_poses)}
    relative = np.array([[number[find_relative(a, b)] for b in poses] for a in poses], np.int64)
    counts = np.array([len(rows) for rows in parts])
    lengths = [len(part) for rows in parts for part in rows]
    corners = np.ascontiguousarray(np.concatenate([part for rows in parts for part in rows]))
    part_first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    kind_first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    grid, slack = _choose_grid([ring for row in rings for ring in row], angles, gap, size), SLACK * size
    extra = ROUND_NORMALS if gap > 0.0 else (AXES if grid > 0.0 else 0)
    shift = slack - 0.85 * grid if grid > 0.0 else 0.5 * slack
    part_count = int(counts.sum())
    pair_count = part_count**2 * len(relative_poses)
    plane_count = (2 * part_count * len(corners) + extra * part_count**2) * len(relative_poses)
    if plane_count > MOST_PLANES:
        gigabytes, what = (
            plane_count * 24e-9,
            f"{len(parts)} different pieces and {len(relative_poses)} relative angles",
        )
        raise InvalidInput("pieces", f"{what} need tables of {gigabytes:.0f} GB, beyond {MOST_PLANES * 24e-9:.0f} GB")
    index = np.empty((len(parts) ** 2 * len(relative_poses), 2), np.int64)
    boxes, first = np.empty((pair_count, 4)), np.empty(pair_count + 1, np.int64)
    planes = np.empty((plane_count, 3))
    turns = np.array([(*cosine_sine(angle), flip) for angle, flip in relative_poses])
    _fill(corners, part_first, kind_first, turns, gap + MARGIN * size, extra, grid, shift, index, boxes, first, planes)
    extents = np.empty((len(rings), len(poses), 4))
    for k, row in enumerate(rings):
        for t, (angle, flip) in enumerate(poses):
            placed = turn(row[0], angle, flip)
            extents[k, t, :2], extents[k, t, 2:] = placed.min(axis=0), placed.max(axis=0)
    turns = np.array([(*cosine_sine(angle), flip) for angle, flip in poses])
    return Tables(
        index,
        boxes,
        first,
        planes,
        turns,
        relative,
        extents,
        gap + MARGIN * size,
        slack,
        shift,
        0.5 * (grid if grid > 0.0 else slack),
        grid,
    )
