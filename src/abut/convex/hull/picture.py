"""A convex polyhedron drawn in a notebook: the polygons that face the eye, in one small SVG."""

import html
from collections.abc import Sequence

import numpy as np

from abut.core.arrays import Floats

SIDE = 160
"""Width and height, in pixels."""
MOST_POLYGONS = 2000
"""More than this are not drawn: the picture would not be small."""
_RIGHT, _UP = np.array([0.8, -0.6, 0.0]), np.array([0.3, 0.4, 0.866])
_EYE = np.cross(_RIGHT, _UP)


def draw_polygons(caption: str, points: Floats, loops: Sequence[tuple[int, ...]], normals: Floats) -> str:
    """An HTML figure of the polygons (indices of points) whose normals face the eye, lighter the more they do; of all that have no normal."""
    size = float(np.linalg.norm(points, axis=1).max()) or 1.0
    seen = 0.5 * SIDE + (0.45 * SIDE / size) * np.stack([points @ _RIGHT, -(points @ _UP)], axis=1)
    shapes: list[str] = []
    if len(loops) <= MOST_POLYGONS:
        facing = normals @ _EYE if len(normals) else np.ones(len(loops))
        for loop, light in zip(loops, facing.tolist(), strict=True):
            if light > 0.0:
                corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in seen[list(loop)].tolist())
                shade = int(110 + 130 * min(light, 1.0))
                shapes.append(f'<polygon points="{corners}" fill="rgb({shade},{shade},{shade})" stroke="#345"/>')
    drawing = f'<svg width="{SIDE}" height="{SIDE}" xmlns="http://www.w3.org/2000/svg">{"".join(shapes)}</svg>'
    return f"<figure>{drawing}<figcaption>{html.escape(caption)}</figcaption></figure>"
