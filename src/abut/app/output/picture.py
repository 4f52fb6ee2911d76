"""A still picture of a mesh as SVG: faces seen from one direction, shaded, painted from back to front."""

import numpy as np
from numpy.typing import NDArray

from abut.mesh import Mesh

VIEW = np.array([0.6, -1.0, 0.55])
UP = np.array([0.0, 0.0, 1.0])
LIGHT = np.array([0.3, -0.8, 0.9])
WIDTH = 900.0


def shaded_svg(mesh: Mesh, colors: NDArray[np.integer], *, view: NDArray[np.float64] = VIEW) -> str:
    """The mesh seen from the direction `view`, one colour (r, g, b from 0 to 255) per face; faces turned away are left out."""
    forward = view / np.linalg.norm(view)
    right = np.cross(UP, forward)
    right /= np.linalg.norm(right)
    frame = np.stack([right, np.cross(forward, right), forward])
    corners = (mesh.vertices @ frame.T)[mesh.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    seen = np.flatnonzero(normals[:, 2] > 0.0)
    seen = seen[np.argsort(corners[seen, :, 2].mean(axis=1))]
    light = frame @ (LIGHT / np.linalg.norm(LIGHT))
    shade = 0.35 + 0.65 * np.clip((normals[seen] / lengths[seen, None]) @ light, 0.0, 1.0)
    low = corners[..., :2].min(axis=(0, 1))
    span = corners[..., :2].max(axis=(0, 1)) - low
    zoom = WIDTH / span[0]
    flat = (corners[seen][..., :2] - low) * zoom
    height = span[1] * zoom
    flat[..., 1] = height - flat[..., 1]
    rgb = np.rint(colors[seen] * shade[:, None]).astype(int)
    paths = [
        f'<path d="M{p[0][0]:.1f} {p[0][1]:.1f}L{p[1][0]:.1f} {p[1][1]:.1f}L{p[2][0]:.1f} {p[2][1]:.1f}z" fill="{c}" stroke="{c}"/>'
        for p, c in zip(flat.tolist(), (f"#{r:02x}{g:02x}{b:02x}" for r, g, b in rgb.tolist()), strict=True)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-10 -10 {WIDTH + 20:.0f} {height + 20:.0f}" '
        f'stroke-width="0.4" stroke-linejoin="round">{"".join(paths)}</svg>'
    )
