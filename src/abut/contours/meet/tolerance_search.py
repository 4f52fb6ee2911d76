"""Contacts by the structure of the paper itself (Rivera 2002, §§3 and 4): trees of boxes around the smooth segments, grown by a tolerance
for the noise.

All pairs of trees are descended from their roots, without a broad phase. Where two basic boxes overlap, the pieces of both rough segments
are compared, as
exactly as in `collide`. With the paper's λ = 0.9σ a piece may lie outside its box, and a contact there is lost; with the bound none is.
The paper counts boxes, and so does `boxes_compared`: each box of each tree once, however often it is compared.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from abut.contours.curve.boxes import ContourTable, Fit
from abut.contours.curve.contour import Contour, Increment
from abut.contours.curve.cubic import transform
from abut.contours.curve.poses import PlanePosesLike
from abut.contours.meet.all_pairs import as_list, collide_all, in_world, placed
from abut.contours.meet.columns import (
    CONTACT_COLUMNS,
    CONTACTS,
    NUMBER_COLUMNS,
    STRETCH_COLUMNS,
    STRETCHES,
)
from abut.contours.meet.contact_merging import make_contacts
from abut.contours.meet.queries import CONTACT, NO_LIMIT, relate
from abut.contours.meet.results import ContourContacts
from abut.contours.meet.segment_meeting import meet
from abut.contours.meet.stacks import PAIR_NUMBERS, push_children, push_pair
from abut.contours.meet.tree_search import boxes_overlap
from abut.contours.meet.views import BRIEF, MEETING, View, magnitude, open_contour, pose_at, relative, segment_of
from abut.core.arrays import Floats, Integers, frozen
from abut.core.handles import pack
from abut.core.jit import integer, kernel
from abut.core.scratch import load, reserve_integers
from abut.core.showing import count as counted
from abut.core.showing import describe

ROOM = 512
"""Stretches and contacts of a pair that there is room for at first."""
SAME = 1e-6
"""Contacts are the same one whose parameters on both contours agree to this."""


@dataclass(frozen=True, eq=False, repr=False)
class ToleranceContacts:
    """Contacts that trees of tolerance boxes find, and what they lose. Immutable."""

    pairs: Integers
    """(p,2) of contours"""
    contacts: ContourContacts
    """in the world; `query` is the row of the pair, `boxes_compared` counts pairs of boxes"""
    boxes_compared: int
    """boxes of all trees that were compared with any other, as the paper counts them"""
    box_count: int
    """boxes there are"""
    lost: Integers
    """(p,) contacts of the rough contours that were not found, for each pair"""

    def __len__(self) -> int:
        return len(self.contacts)

    def __repr__(self) -> str:
        boxes = f"{self.boxes_compared:,} of {counted(self.box_count, 'box', 'boxes')} compared"
        return describe(self, counted(len(self.contacts), "contact"), f"{int(self.lost.sum()):,} lost", boxes)


@kernel
def _descend(
    a: View,
    b: View,
    pieces_a: int,
    pieces_b: int,
    pose: tuple[float, float, float, float],
    raw: Floats,
    seen_a: NDArray[np.bool_],
    seen_b: NDArray[np.bool_],
) -> tuple[int, int, int]:
    """Stretches where the rough contours meet, into `raw` as far as it reaches; pairs of boxes and of pieces compared."""
    size = magnitude(a, b, pose)
    delta, brief = MEETING * size, BRIEF * size
    pairs = reserve_integers(PAIR_NUMBERS)
    top = push_pair(pairs, integer(0), integer(1), integer(1))
    count, boxes, segments = 0, 0, 0
    while top > 0:
        top -= 1
        i, j = load(pairs, 2 * top), load(pairs, 2 * top + 1)
        boxes += 1
        seen_a[i], seen_b[j] = True, True
        if not boxes_overlap(a, i, b, j, pose, delta):
            continue
        if i >= a.leaf_count and j >= b.leaf_count:
            i, j = (i - a.leaf_count) * pieces_a, (j - b.leaf_count) * pieces_b
            for k in range(i, i + pieces_a):
                for m in range(j, j + pieces_b):
                    segments += 1
                    moved = transform(segment_of(a, k), pose)
                    count = meet(moved, segment_of(b, m), k, m, delta, brief, raw, count, NO_LIMIT)
            continue
        top = push_children(pairs, top, i, a.leaf_count, j, b.leaf_count)
    return (count, boxes, segments)


@kernel
def search_pair(
    tolerance_a: int, tolerance_b: int, exact_a: int, exact_b: int, pieces_a: int, pieces_b: int, pose_a: Floats, pose_b: Floats,
    raw: Floats, out: Floats, seen_a: NDArray[np.bool_], seen_b: NDArray[np.bool_],
) -> tuple[int, int, int, int, int, int]:  # fmt: skip
    """A row of numbers as `columns` has them; contacts in b's coordinates in `out`. Marks the boxes that were compared."""
    pose = relative(pose_at(pose_a, 0), pose_at(pose_b, 0))
    a, b = open_contour(exact_a), open_contour(exact_b)
    count, boxes, segments = _descend(
        open_contour(tolerance_a), open_contour(tolerance_b), pieces_a, pieces_b, pose, raw, seen_a, seen_b
    )
    if count == 0:
        return (relate(a, b, pose), 0, 0, boxes, segments, 0)
    if count > len(raw):
        return (CONTACT, count, count, boxes, segments, 0)
    contacts, compared = make_contacts(a, b, pose, raw, count, out)
    return (CONTACT, contacts, count, boxes, segments, compared)


def collide_tolerance(
    contours: Iterable[Contour], poses: PlanePosesLike, *, increment: Increment = "rivera", fit: Fit = "basic"
) -> ToleranceContacts:
    """All contacts of many contours by the paper's own trees (`Contour.tolerance_boxes`), and how many those lose.

    Args:
        contours: m contours.
        poses: (m,3) x, y and angle in radians, or (m,3,3): one of each.
        increment: "rivera" for boxes grown by 0.9σ, out of which noise may stick; "bound" for the largest deviation: nothing is lost.
        fit: of upper boxes, as of `Contour.tolerance_boxes`.

    Returns:
        The contacts of every pair, the boxes compared, and the contacts that `collide_all` finds and this search does not.

    Examples:
        >>> from abut import contours, scenes
        >>> scene = scenes.rough_contours(64)
        >>> found = contours.collide_tolerance(scene.contours, scene.situations["apart"])
        >>> found.box_count, len(found), found.lost.tolist()
        (381, 0, [0, 0, 0])
    """
    shapes = as_list(contours)
    _, rows = placed(shapes, poses)
    trees = [contour.tolerance_boxes(fit=fit, increment=increment) for contour in shapes]
    tables = [
        frozen(pack(ContourTable, contour.segments, tree.nodes, tree.leaf_count, contour.orientation))
        for contour, tree in zip(shapes, trees, strict=True)
    ]
    pieces = [len(contour) // tree.leaf_count for contour, tree in zip(shapes, trees, strict=True)]
    seen = [np.zeros(2 * tree.leaf_count, np.bool_) for tree in trees]
    pairs = np.array(list(combinations(range(len(shapes)), 2)), np.int64).reshape(-1, 2)
    numbers, parts = np.zeros((len(pairs), NUMBER_COLUMNS), np.int64), [np.empty((0, CONTACT_COLUMNS))]
    for k, (i, j) in enumerate(pairs.tolist()):
        stretches, contacts = ROOM, ROOM
        while True:
            raw, out = np.empty((stretches, STRETCH_COLUMNS)), np.empty((contacts, CONTACT_COLUMNS))
            numbers[k] = search_pair(
                tables[i].ctypes.data, tables[j].ctypes.data, shapes[i]._handle[0], shapes[j]._handle[0], pieces[i], pieces[j],
                rows[i : i + 1], rows[j : j + 1], raw, out, seen[i], seen[j],
            )  # fmt: skip
            if numbers[k, STRETCHES] <= stretches and numbers[k, CONTACTS] <= contacts:
                break
            stretches, contacts = max(stretches, int(numbers[k, STRETCHES])), max(contacts, int(numbers[k, CONTACTS]))
        parts.append(out[: numbers[k, CONTACTS]])
    query = np.repeat(np.arange(len(pairs)), numbers[:, CONTACTS])
    found = in_world(ContourContacts(np.concatenate(parts), query, numbers), rows[pairs[:, 1]])
    _, exact = collide_all(shapes, rows_as_poses(rows), pairs)
    return ToleranceContacts(
        frozen(pairs),
        found,
        int(sum(marks.sum() for marks in seen)),
        sum(map(len, trees)),
        frozen(count_lost(exact, found, len(pairs))),
    )


def rows_as_poses(rows: Floats) -> Floats:
    """(m,3,3) matrices of poses (m,4): the same rotations, not rounded again by angles."""
    matrices = np.zeros((len(rows), 3, 3))
    matrices[:, 0, 0] = matrices[:, 1, 1] = rows[:, 0]
    matrices[:, 1, 0], matrices[:, 0, 1] = rows[:, 1], -rows[:, 1]
    matrices[:, :2, 2], matrices[:, 2, 2] = rows[:, 2:], 1.0
    return matrices


def count_lost(exact: ContourContacts, found: ContourContacts, pair_count: int) -> Integers:
    """(p,) how many contacts of each pair have no counterpart that begins or ends at the same parameters."""
    lost = np.zeros(pair_count, np.int64)
    for k in range(pair_count):
        mine, other = exact.query == k, found.query == k
        a, b = exact.parameter_a[mine], exact.parameter_b[mine]
        p, q = found.parameter_a[other], found.parameter_b[other]
        same = np.zeros((len(a), len(p)), np.bool_)
        for end in range(2):
            same |= (np.abs(a[:, end, None] - p[None, :, end]) <= SAME) & (
                np.abs(b[:, end, None] - q[None, :, end]) <= SAME
            )
        lost[k] = len(a) - same.any(axis=1).sum()
    return lost
