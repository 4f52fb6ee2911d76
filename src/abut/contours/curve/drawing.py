"""Closed curves, boxes and marks as SVG, y upwards. Curves are written as cubic paths, as they are."""

from collections.abc import Iterable, Sequence

import numpy as np

from abut.contours.curve.boxes import find_bounds
from abut.core.arrays import Floats

WIDTH = 800.0
BORDER = 0.03
"""Around what is drawn, of its larger side."""
FILLS = ("#7fb3d5", "#f0b27a", "#82c09a", "#c39bd3", "#e59a9a", "#b8b08d")
RADIUS = 4.0
"""Of a mark."""


def path_data(segments: Floats) -> str:
    """SVG path data of closed cubic segments (n,4,2)."""
    start = segments[0, 0]
    body = "".join(
        f"C{p[1][0]:.6g} {p[1][1]:.6g} {p[2][0]:.6g} {p[2][1]:.6g} {p[3][0]:.6g} {p[3][1]:.6g}"
        for p in segments.tolist()
    )
    return f"M{start[0]:.6g} {start[1]:.6g}{body}Z"


def draw_curves(
    curves: Sequence[Floats],
    corners: Floats | None = None,
    marks: Iterable[tuple[Floats, str]] = (),
    width: float = WIDTH,
) -> str:
    """Filled curves (n,4,2), the outlines of boxes (k,4,2), and points (2,) marked in colors."""
    bounds = [find_bounds(curve) for curve in curves]
    shown = np.concatenate(bounds or [np.zeros((1, 2)) if corners is None else corners.reshape(-1, 2)])
    low, high = shown.min(axis=0), shown.max(axis=0)
    size = float((high - low).max()) or 1.0
    low, high = low - BORDER * size, high + BORDER * size
    zoom = width / float(high[0] - low[0])

    def place(points: Floats) -> Floats:
        return (points - (low[0], high[1])) * (zoom, -zoom)

    parts = [
        f'<path d="{path_data(place(curve))}" fill="{FILLS[i % len(FILLS)]}" fill-opacity="0.75" stroke="#333" stroke-width="1"/>'
        for i, curve in enumerate(curves)
    ]
    if corners is not None:
        rings = ["M" + "L".join(f"{x:.5g} {y:.5g}" for x, y in ring) + "Z" for ring in place(corners).tolist()]
        parts.append(f'<path d="{"".join(rings)}" fill="none" stroke="#555" stroke-width="0.6"/>')
    for point, color in marks:
        x, y = place(point).tolist()
        parts.append(f'<circle cx="{x:.5g}" cy="{y:.5g}" r="{RADIUS:g}" fill="{color}"/>')
    height = zoom * float(high[1] - low[1])
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}">{"".join(parts)}</svg>'
