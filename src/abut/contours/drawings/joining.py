"""Open curves joined where their ends meet: the nearest two free ends first, within a tolerance, each end once.

Curves are joined within one paint and layer only. A gap between joined ends is bridged by a straight line, so no curve is bent. The
tolerance is a length in millimetres that the caller states.
"""

from collections.abc import Sequence

import numpy as np
from scipy.spatial import KDTree

from abut.contours.curve.contour import straight_segments
from abut.core.arrays import Floats, Integers, frozen


def _pair_ends(ends: Floats, groups: Integers, tolerance: float) -> dict[int, int]:
    """Partners of ends: nearest first, ties by number."""
    near = KDTree(ends).query_pairs(tolerance, output_type="ndarray")
    near = near[groups[near[:, 0] // 2] == groups[near[:, 1] // 2]]
    away = np.hypot(*(ends[near[:, 0]] - ends[near[:, 1]]).T)
    partner: dict[int, int] = {}
    for row in np.lexsort((near[:, 1], near[:, 0], away)):
        a, b = (int(end) for end in near[row])
        if a not in partner and b not in partner:
            partner[a], partner[b] = b, a
    return partner


def _chain(curves: Sequence[Floats], steps: list[tuple[int, bool]], is_closed: bool) -> Floats:
    rows: list[Floats] = []
    for number, is_reversed in steps:
        curve = curves[number][::-1, ::-1] if is_reversed else curves[number]
        if rows and (rows[-1][-1, 3] != curve[0, 0]).any():
            rows.append(straight_segments(rows[-1][-1:, 3], curve[:1, 0]))
        rows.append(curve)
    if is_closed and (rows[-1][-1, 3] != rows[0][0, 0]).any():
        rows.append(straight_segments(rows[-1][-1:, 3], rows[0][:1, 0]))
    return frozen(np.concatenate(rows))


def join(curves: Sequence[Floats], groups: Sequence[int], tolerance: float) -> list[tuple[Floats, bool, list[int]]]:
    """Chains of open curves: segments, whether they close, and which curves they are made of.

    Args:
        curves: (n,4,2) segments each.
        groups: only curves of the same group are joined.
        tolerance: largest gap that is bridged.
    """
    if not curves:
        return []
    ends = np.array([point for curve in curves for point in (curve[0, 0], curve[-1, 3])])
    partner = _pair_ends(ends, np.asarray(groups), tolerance)
    done, chains = set[int](), list[tuple[Floats, bool, list[int]]]()
    # Chains with free ends first, from one of these; what is left then is closed.
    order = [end for end in range(len(ends)) if end not in partner] + list(range(0, len(ends), 2))
    for start in order:
        if start // 2 in done:
            continue
        steps, end = list[tuple[int, bool]](), start
        while end // 2 not in done:
            done.add(end // 2)
            steps.append((end // 2, end % 2 == 1))
            if end ^ 1 not in partner:
                break
            end = partner[end ^ 1]
        is_closed = start in partner
        chains.append((_chain(curves, steps, is_closed), is_closed, [number for number, _ in steps]))
    return sorted(chains, key=lambda chain: min(chain[2]))
