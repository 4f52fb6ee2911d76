"""Length, area, centroid and second moments of closed curves of cubic segments, by Gauss–Legendre quadrature.

By Green's theorem moments of an area are integrals along its contour. Their integrands are polynomials of degree 11 at most, so six
nodes a segment are exact but for rounding. A length is no polynomial: each segment is halved until eight nodes and twice eight agree.
"""

from typing import NamedTuple

import numpy as np

from abut.core.arrays import Floats

LENGTH_ERROR = 1e-13
"""Where eight nodes and two times eight differ by less than this part of the whole length, divided by the number of segments, the latter is taken."""
LENGTH_HALVINGS = 40
LENGTH_NOISE = 2.0**-47
"""Of the size of a segment: what rounding makes of the difference between eight nodes and two times eight, and so the least that is asked for."""


class Moments(NamedTuple):
    """Of the region within a curve, for unit density. Signed: negative where the curve runs clockwise."""

    area: float
    x: float
    """centroid"""
    y: float
    inertia: float
    """second moment about the centroid, ∫ r² dA"""


def bernstein(t: Floats) -> Floats:
    """(k,4) weights of the control points at the parameters t (k,)."""
    s = 1.0 - t
    return np.stack([s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t], axis=-1)


def bernstein_slope(t: Floats) -> Floats:
    """(k,4) weights of the control points in the first derivative."""
    s = 1.0 - t
    return np.stack([-3.0 * s * s, 3.0 * s * (1.0 - 3.0 * t), 3.0 * t * (2.0 - 3.0 * t), 3.0 * t * t], axis=-1)


def _nodes(count: int) -> tuple[Floats, Floats]:
    at, weight = np.polynomial.legendre.leggauss(count)
    return 0.5 * (at + 1.0), 0.5 * weight


def moments(segments: Floats) -> Moments:
    """Area, centroid and inertia; the origin is moved to the curve first, so that far away nothing cancels."""
    if not len(segments):
        return Moments(0.0, 0.0, 0.0, 0.0)
    origin = segments[:, 0].mean(axis=0)
    at, weight = _nodes(6)
    local = segments - origin
    points, slopes = bernstein(at) @ local, bernstein_slope(at) @ local  # (n,6,2)
    x, y = points[..., 0], points[..., 1]
    dx, dy = slopes[..., 0] * weight, slopes[..., 1] * weight
    area = 0.5 * float((x * dy - y * dx).sum())
    if area == 0.0:
        return Moments(0.0, float(origin[0]), float(origin[1]), 0.0)
    cx, cy = 0.5 * float((x * x * dy).sum()) / area, -0.5 * float((y * y * dx).sum()) / area
    about_origin = float((x * x * x * dy - y * y * y * dx).sum()) / 3.0
    return Moments(area, cx + float(origin[0]), cy + float(origin[1]), about_origin - area * (cx * cx + cy * cy))


def lengths(segments: Floats) -> Floats:
    """(n,) arc length of each segment. They are measured from where they begin: far from the origin, halving would only halve what was rounded."""
    at, weight = _nodes(8)
    slope = bernstein_slope(at)

    def estimate(pieces: Floats) -> Floats:
        return np.hypot(*np.moveaxis(slope @ pieces, -1, 0)) @ weight

    result = np.zeros(len(segments))
    pieces, owner = segments - segments[:, :1], np.arange(len(segments))
    whole = estimate(pieces)
    mean_error = LENGTH_ERROR * whole.sum() / max(len(segments), 1)
    tolerance = np.maximum(mean_error, LENGTH_NOISE * np.abs(pieces).max(axis=(1, 2), initial=0.0))
    for _ in range(LENGTH_HALVINGS):
        halves = np.stack(halve(pieces), axis=1).reshape(-1, 4, 2)
        each = estimate(halves)
        finer = each[0::2] + each[1::2]
        done = np.abs(finer - whole) <= tolerance[owner]
        np.add.at(result, owner[done], finer[done])
        if done.all():
            return result
        rest = np.repeat(~done, 2)
        pieces, whole, owner = halves[rest], each[rest], np.repeat(owner, 2)[rest]
    np.add.at(result, owner, whole)  # a cusp: what is left is shorter than 2⁻⁴⁰ of its segment's hull
    return result


def halve(segments: Floats) -> tuple[Floats, Floats]:
    """Both halves (n,4,2) of each segment, by de Casteljau."""
    p0, p1, p2, p3 = np.moveaxis(segments, 1, 0)
    q0, q1, q2 = 0.5 * (p0 + p1), 0.5 * (p1 + p2), 0.5 * (p2 + p3)
    r0, r1 = 0.5 * (q0 + q1), 0.5 * (q1 + q2)
    middle = 0.5 * (r0 + r1)
    return np.stack([p0, q0, r0, middle], axis=1), np.stack([middle, r1, q2, p3], axis=1)
