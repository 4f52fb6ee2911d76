"""Shapes in their places as a line drawing, for notebooks: convex ones as filled outlines, surfaces by their silhouettes and borders."""

import math
from collections.abc import Sequence

import numpy as np

from abut.core.arrays import Floats
from abut.dynamics.picture import FILLS, Stroke, figure, project, spread
from abut.shapes.solids import Convex, Shape
from abut.shapes.surfaces import Soft, Surface

Placed = tuple[Shape, Floats] | tuple[Shape, Floats, bool]
"""A shape, its pose (4,4), and whether it stands behind all others, as what does not move does."""

MOST_SHAPES, MOST_LINES = 120, 250
MOST_CORNERS = 12
"""Of an outline: the picture is as small as a stamp."""
CIRCLE = np.stack((np.cos(np.arange(12) * math.pi / 6), np.sin(np.arange(12) * math.pi / 6)), axis=1)


def draw_shapes(caption: str, placed: Sequence[Placed]) -> str:
    """A figure of shapes, cut to the surroundings of those in front; of many some, evenly spread."""
    chosen = [placed[i] for i in spread(len(placed), MOST_SHAPES)]
    outlines: list[tuple[bool, float, Stroke]] = []
    lines: list[tuple[bool, Stroke]] = []
    surfaces = sum(isinstance(item[0], Surface | Soft) for item in chosen)
    for shape, pose, *rest in chosen:
        is_back = bool(rest and rest[0])
        if isinstance(shape, Convex):
            seen = project(shape.core.vertices @ pose[:3, :3].T + pose[:3, 3])
            outlines.append(
                (not is_back, float(seen[:, 2].mean()), _outline(seen[:, :2], shape.radius, FILLS[is_back]))
            )
        elif isinstance(shape, Surface | Soft):
            seen = project(shape.vertices @ pose[:3, :3].T + pose[:3, 3])
            lines += [(not is_back, stroke) for stroke in _silhouette(shape, seen, MOST_LINES // surfaces)]
    ordered = [(is_front, stroke) for is_front, _, stroke in sorted(outlines, key=lambda entry: entry[:2])]
    strokes = ordered + lines
    return figure(caption, [stroke for _, stroke in strokes], [stroke for is_front, stroke in strokes if is_front])


def _outline(points: Floats, radius: float, fill: str) -> Stroke:
    """The border of what points (n,2) grown by a radius cover."""
    if len(points) == 1:
        return Stroke(points, radius, fill)
    if radius > 0.0:
        points = (points[:, np.newaxis] + radius * CIRCLE).reshape(-1, 2)
    ring = _hull(points)
    return Stroke(ring[spread(len(ring), MOST_CORNERS)], 0.0, fill)


def _hull(points: Floats) -> Floats:
    """The corners of the convex hull of points (n,2), anticlockwise (Andrew 1979)."""
    rows: list[list[float]] = points[np.lexsort(points.T[::-1])].tolist()
    ring: list[list[float]] = []
    for side in (rows, rows[::-1]):
        half: list[list[float]] = []
        for p in side:
            while len(half) > 1 and _turns_right(half[-2], half[-1], p):
                half.pop()
            half.append(p)
        ring += half[:-1]
    return np.array(ring)


def _turns_right(a: list[float], b: list[float], c: list[float]) -> bool:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) <= 0.0


def _silhouette(shape: Surface | Soft, seen: Floats, most: int) -> list[Stroke]:
    """Edges between what looks at the eye and what looks away, and borders."""
    mesh = shape.mesh
    corners = seen[mesh.faces]
    u, v = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    is_front = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0] > 0.0
    starts, faces = mesh.edge_faces.offsets, mesh.edge_faces.faces
    fronts = np.add.reduceat(np.append(is_front[faces], False).astype(np.int64), starts[:-1])
    counts = np.diff(starts)
    drawn = np.flatnonzero((counts != 2) | (fronts == 1))
    ends = seen[mesh.edges[drawn[spread(len(drawn), most)]]][..., :2]
    return [Stroke(ends[i]) for i in range(len(ends))]
