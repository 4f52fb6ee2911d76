"""Contours as SVG: filled curves, their boxes, and where they meet. Curves are written as cubic paths, as they are."""

from collections.abc import Sequence

import numpy as np

from abut.contours.curve.contour import Contour
from abut.contours.meet.results import INTERVAL, TOUCH, Contacts
from abut.core.arrays import Floats

WIDTH = 800.0
FILLS = ("#7fb3d5", "#f0b27a", "#82c09a", "#c39bd3", "#e59a9a", "#b8b08d")
MARKS = {0: "#c0392b", int(TOUCH): "#1e8449", int(INTERVAL): "#6c3483"}


def path_data(segments: Floats) -> str:
    """SVG path data of closed cubic segments (n,4,2)."""
    start = segments[0, 0]
    body = "".join(
        f"C{p[1][0]:.6g} {p[1][1]:.6g} {p[2][0]:.6g} {p[2][1]:.6g} {p[3][0]:.6g} {p[3][1]:.6g}"
        for p in segments.tolist()
    )
    return f"M{start[0]:.6g} {start[1]:.6g}{body}Z"


def draw(
    contours: Sequence[Contour], hits: Contacts | None = None, corners: Floats | None = None, width: float = WIDTH
) -> str:
    """An SVG of contours in world coordinates (y up), with boxes (k,4,2) and contacts: red crossings, green touches, violet stretches."""
    bounds = np.array([contour.bounds for contour in contours])
    low, high = bounds[:, 0].min(axis=0), bounds[:, 1].max(axis=0)
    margin = 0.03 * float((high - low).max())
    low, high = low - margin, high + margin
    zoom = width / (high[0] - low[0])

    def place(points: Floats) -> Floats:
        return (points - (low[0], high[1])) * (zoom, -zoom)

    parts = [
        f'<path d="{path_data(place(contour.segments))}" fill="{FILLS[i % len(FILLS)]}" fill-opacity="0.75" stroke="#333" stroke-width="1"/>'
        for i, contour in enumerate(contours)
    ]
    if corners is not None:
        rings = ["M" + "L".join(f"{x:.5g} {y:.5g}" for x, y in ring) + "Z" for ring in place(corners).tolist()]
        parts.append(f'<path d="{"".join(rings)}" fill="none" stroke="#555" stroke-width="0.6"/>')
    if hits is not None:
        for (x, y), kind in zip(place(hits.point).tolist(), hits.kind.tolist(), strict=True):
            parts.append(f'<circle cx="{x:.5g}" cy="{y:.5g}" r="4" fill="{MARKS[kind]}"/>')
    height = zoom * (high[1] - low[1])
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}">{"".join(parts)}</svg>'
