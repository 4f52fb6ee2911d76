"""Closed uniform cubic B-splines, and rough ones: what the noise of Rivera 2002, §2.1, is as geometry.

Each of the n segments of a smooth contour is cut into `detail` = 2^k pieces by knot insertion (Lane and Riesenfeld 1980), which changes
nothing yet. Then every new control point is displaced along the contour's normal by a draw from N(0, σi), σi being the roughness of
its segment. The rough contour is the B-spline of the displaced points: n·detail cubic segments, twice continuously differentiable, the
same for the same seed. Contacts are exact for this curve.

A B-spline lies within the largest displacement of the four control points that act on a segment: that is the bound which always
holds. Rivera's λi = 0.9σi holds only in so far as the noise stays small: a normal draw exceeds 0.9σ in 37 % of the cases.
"""

import numpy as np

from abut.core.arrays import Floats


def spline_segments(control: Floats) -> Floats:
    """(n,4,2) Bézier segments of the closed uniform cubic B-spline of (n,2) control points: n segments, the i-th made by points i to i+3."""
    a, b, c = (np.roll(control, -k, axis=0) for k in range(3))
    joint = (a + 4.0 * b + c) / 6.0
    return np.stack([joint, (2.0 * b + c) / 3.0, (b + 2.0 * c) / 3.0, np.roll(joint, -1, axis=0)], axis=1)


def refine_control(control: Floats, halvings: int) -> Floats:
    """Control points of the same curve with every segment halved so many times; segment i becomes 2^halvings segments from there on."""
    for _ in range(halvings):
        after, last = np.roll(control, -1, axis=0), np.roll(control, -2, axis=0)
        # Segment i halves into the pieces of points (i, i+1)/2, (i, 6·i+1, i+2)/8, (i+1, i+2)/2, (i+1, 6·i+2, i+3)/8, …
        control = np.stack([0.5 * (control + after), (control + 6.0 * after + last) / 8.0], axis=1).reshape(-1, 2)
    return control


def displace(control: Floats, sigma: Floats, seed: int) -> tuple[Floats, Floats]:
    """Control points (n,2) with noise of standard deviation sigma (n,) along the normal, and the displacements (n,)."""
    along = np.roll(control, -1, axis=0) - np.roll(control, 1, axis=0)
    length = np.hypot(along[:, 0], along[:, 1])
    normal = np.stack([along[:, 1], -along[:, 0]], axis=1) / np.where(length > 0.0, length, 1.0)[:, np.newaxis]
    amount = np.random.default_rng(seed).standard_normal(len(control)) * sigma
    return control + amount[:, np.newaxis] * normal, amount


def roughen(control: Floats, sigma: Floats, detail: int, seed: int) -> tuple[Floats, Floats]:
    """Segments (n·detail,4,2) of the rough contour, and how far (n,) it is from the smooth segments at most."""
    fine = refine_control(control, detail.bit_length() - 1)
    # Point k of the fine polygon acts most on segment k − 1 and k − 2 of the fine ones.
    owner = ((np.arange(len(fine)) - 1) // detail) % len(control)
    moved, amount = displace(fine, sigma[owner], seed)
    size = np.abs(amount)
    each = np.max([np.roll(size, -k) for k in range(4)], axis=0)  # of the points k to k+3, which make segment k
    return spline_segments(moved), each.reshape(len(control), detail).max(axis=1)
