"""Line drawings of things in space, for notebooks: seen from one direction, without perspective, and nothing hides anything.

A drawing is one SVG element of at most some 20 kB: of many lines some are drawn, evenly spread, and the caption counts all.
"""

import html
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from abut.core.arrays import Floats, Integers
from abut.geometry.rows import unit_vectors

VIEW = (0.6, -1.0, 0.55)
"""Where the eye is, seen from what is drawn; z is up."""
WIDTH, BORDER = 360.0, 6.0
LONGEST_SIDE = 360.0
MOST_LINES, MOST_DOTS = 800, 100
INK, FILLS = "#345", ("#7fb3d5", "#b8b08d", "#82c09a")


class Stroke(NamedTuple):
    """One path on paper. points (k,2): one alone is a disc of this radius, two or more are a line, or the border of a filled face."""

    points: Floats
    radius: float = 0.0
    fill: str = "none"


def project(points: Floats) -> Floats:
    """Points (…,3) on paper, to the right and up; the third coordinate grows towards the eye."""
    toward = unit_vectors(np.array(VIEW))
    right = unit_vectors(np.cross((0.0, 0.0, 1.0), toward))
    return points @ np.stack((right, np.cross(toward, right), toward)).T


def spread(count: int, most: int) -> Integers:
    """At most so many of `count` rows, evenly spread."""
    return np.arange(count) if count <= most else np.linspace(0, count - 1, most).astype(np.int64)


def line_drawing(caption: str, lines: Floats, dots: Floats) -> str:
    """Lines (k,2,3) and dots (n,3) in space, as a figure."""
    flat, marks = project(lines)[..., :2], project(dots)[..., :2]
    strokes = [Stroke(flat[i]) for i in spread(len(flat), MOST_LINES)]
    low, high = bounds_of([Stroke(marks)])
    radius = 0.006 * float((high - low).max())
    strokes += [Stroke(marks[i : i + 1], radius) for i in spread(len(marks), MOST_DOTS)]
    return figure(caption, strokes)


def bounds_of(strokes: Sequence[Stroke]) -> tuple[Floats, Floats]:
    """Lowest and highest corner (2,) of all strokes; around the origin without any."""
    if not strokes:
        return np.full(2, -1.0), np.full(2, 1.0)
    low = np.min([stroke.points.min(axis=0) - stroke.radius for stroke in strokes], axis=0)
    high = np.max([stroke.points.max(axis=0) + stroke.radius for stroke in strokes], axis=0)
    return low, high


def figure(caption: str, strokes: Sequence[Stroke], focus: Sequence[Stroke] = ()) -> str:
    """Strokes, the first the farthest back, as one HTML element with an SVG in it and a caption below.

    What is far from those in focus is cut off; without any, nothing is."""
    low, high = bounds_of(strokes)
    if focus:
        near, far = bounds_of(focus)
        low, high = np.maximum(low, near - (far - near).max()), np.minimum(high, far + (far - near).max())
    size = np.maximum(high - low, 1e-3 * float((high - low).max()) + 1e-300)
    zoom = float(min((WIDTH - 2 * BORDER) / size[0], (LONGEST_SIDE - 2 * BORDER) / size[1]))
    corner = np.array([low[0], high[1]])
    width, height = (math.ceil(float(length)) for length in size * zoom + 2 * BORDER)
    faces, lines = "", ""
    for points, radius, fill in strokes:
        place = (points - corner) * (zoom, -zoom) + BORDER
        if len(place) == 1:
            paint = f'fill="{INK}"' if fill == "none" else f'fill="{fill}" stroke="{INK}"'
            faces += (
                f'<circle cx="{place[0, 0]:.1f}" cy="{place[0, 1]:.1f}" r="{max(radius * zoom, 0.8):.1f}" {paint}/>'
            )
        elif fill == "none":
            lines += _path(place)
        else:
            faces += f'<path d="{_path(place)}z" fill="{fill}" stroke="{INK}"/>'
    drawn = f'{faces}<path d="{lines}" fill="none" stroke="{INK}"/>' if lines else faces
    text = html.escape(caption)
    return (
        f'<figure><svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'stroke-width="0.6" stroke-linejoin="round" fill-opacity="0.8" role="img" aria-label="{text}">{drawn}</svg>'
        f"<figcaption>{text}</figcaption></figure>"
    )


def _path(points: Floats) -> str:
    return "M" + "L".join(f"{x:.0f} {y:.0f}" for x, y in points.tolist())
