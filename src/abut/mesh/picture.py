"""Surfaces as pictures: shaded triangles, painted from back to front, in one <svg> without any link.

For notebooks they are small, of at most TRIANGLES triangles. What has more is drawn coarser: vertices in one cell of a grid become one (Rossignac
and Borrel 1993), in cells as small as the number of triangles allows. Such a picture is a glance, not a drawing to measure.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from abut.core import showing
from abut.core.arrays import Floats, Integers
from abut.geometry.rows import unit_vectors
from abut.mesh.surface import Mesh

TRIANGLES = 300
SIZE = 320
"""Of the picture, in pixels; coordinates are whole numbers of half a pixel."""
CLAY = (0xC9, 0xB4, 0x9A)
VIEW = np.array([[0.8137, 0.5812, 0.0], [-0.2476, 0.3466, 0.9048], [0.5258, -0.7362, 0.4260]])
"""Rows: what is right, what is up, and the direction towards the eye; z is up in the world."""
LIGHT = np.array([0.30, -0.55, 0.78])
PAGE = 900
"""The width of a picture for a page."""
LAMP = np.array([0.3, -0.8, 0.9]) / np.linalg.norm([0.3, -0.8, 0.9])
"""The light of these, from the side of the eye."""
FLATTEST = 0.35  # the brightness of a face along the light


class Surface(NamedTuple):
    """Triangles to draw: vertices (n,3), faces (m,3), a color, and whether only the side that normals point to is ever seen."""

    vertices: Floats
    faces: Integers
    color: tuple[int, int, int] = CLAY
    solid: bool = False


def surface_html(caption: str, vertices: Floats, mesh: Mesh) -> str:
    """A mesh with its vertices at some place, drawn under a caption."""
    faces = mesh.faces
    solid = mesh.is_closed and mesh.is_oriented
    if solid and mesh.volume < 0.0:
        faces = faces[:, ::-1]
    return showing.svg_html(caption, draw_surfaces([Surface(vertices, faces, solid=solid)]))


def draw_surfaces(surfaces: Sequence[Surface]) -> str:
    """Several surfaces in one picture, as the text of an <svg>: TRIANGLES triangles at most, as long as there are not more surfaces."""
    most = max(TRIANGLES // max(len(surfaces), 1), 1)
    corners, colors = [np.empty((0, 3, 3))], [np.empty((0, 3))]
    for surface in surfaces:
        faces = surface.faces
        vertices, faces = thin(surface.vertices, faces, 2 * most if surface.solid else most)
        triangles = vertices[faces]
        normals = _normals(triangles)
        if surface.solid:
            seen = normals @ VIEW[2] > 0.0
            triangles, normals = triangles[seen][:most], normals[seen][:most]
        shade = FLATTEST + (1.0 - FLATTEST) * np.abs(normals @ LIGHT)
        corners.append(triangles)
        colors.append(np.minimum(shade, 1.0)[:, None] * np.array(surface.color))
    return _paint(np.concatenate(corners), np.concatenate(colors).astype(np.int64))


def thin(vertices: Floats, faces: Integers, most: int) -> tuple[Floats, Integers]:
    """A surface of at most so many triangles that looks like it from afar: vertices in one cell of a grid become one."""
    used, faces = np.unique(faces, return_inverse=True)
    points, faces = vertices[used], faces.reshape(-1, 3)
    if len(faces) <= most:
        return points, faces
    low = points.min(axis=0)
    size = float((points.max(axis=0) - low).max())
    if size == 0.0:
        return points, faces[:most]
    inside = (points - low) / size
    cells = 2.0 * np.sqrt(most)
    while cells > 1.0:
        grid = np.floor(inside * cells * 0.999999).astype(np.int64)
        number = grid @ np.array([1, 1 << 20, 1 << 40])
        _, first, group, count = np.unique(number, return_index=True, return_inverse=True, return_counts=True)
        rows = group.reshape(-1)[faces]
        whole = (rows[:, 0] != rows[:, 1]) & (rows[:, 1] != rows[:, 2]) & (rows[:, 2] != rows[:, 0])
        rows = rows[whole]
        rows = rows[np.sort(np.unique(np.sort(rows, axis=1), axis=0, return_index=True)[1])]
        if len(rows) <= most:
            sums = [np.bincount(group.reshape(-1), inside[:, axis], len(first)) for axis in range(3)]
            return low + size * np.stack(sums, axis=1) / count[:, None], rows
        cells *= 0.85
    return points, faces[:most]


def _normals(triangles: Floats) -> Floats:
    sides = triangles[:, 1:] - triangles[:, :1]
    size = np.abs(sides).max(axis=(1, 2), initial=0.0, keepdims=True)
    sides = sides / np.where(size > 0.0, size, 1.0)
    return unit_vectors(np.cross(sides[:, 0], sides[:, 1]))


def draw_mesh(mesh: Mesh, colors: Integers, *, towards: ArrayLike = VIEW[2]) -> str:
    """All faces of a mesh that are seen from a direction, each in its color (m,3) from 0 to 255, for pages: as wide as PAGE, as high as need be."""
    view = look_from(np.asarray(towards, np.float64))
    triangles = mesh.vertices[mesh.faces]
    normals = _normals(triangles)
    seen = normals @ view[2] > 0.0
    shade = FLATTEST + (1.0 - FLATTEST) * np.clip(normals[seen] @ LAMP, 0.0, 1.0)
    corners = triangles[seen] @ view.T
    flat = corners[:, :, :2] * [1.0, -1.0]
    low, high = flat.min(axis=(0, 1)), flat.max(axis=(0, 1))
    scale = 2 * PAGE / (high - low)[0]
    places, height = np.rint(scale * (flat - low)).astype(np.int64), round(scale * (high - low)[1])
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-20 -20 {2 * PAGE + 40} {height + 40}" '
        f'stroke-width="0.8" stroke-linejoin="round">'
    )
    return head + _paths(places, np.rint(colors[seen] * shade[:, None]).astype(np.int64), corners[:, :, 2]) + "</svg>"


def look_from(direction: Floats) -> Floats:
    """The rows of VIEW for an eye in another direction."""
    forward = direction / np.linalg.norm(direction)
    right = np.cross([0.0, 0.0, 1.0], forward)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(forward, right), forward])


def _paint(corners: Floats, colors: Integers) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{SIZE}" height="{SIZE}" viewBox="0 0 {2 * SIZE} {2 * SIZE}" stroke-linejoin="round">'
    if not len(corners):
        return head + "</svg>"
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    extent = float((0.5 * high - 0.5 * low).max())
    seen = ((corners - (0.5 * low + 0.5 * high)) / (extent if extent > 0.0 else 1.0)) @ VIEW.T
    flat = seen[:, :, :2] * [1.0, -1.0]
    low, high = flat.min(axis=(0, 1)), flat.max(axis=(0, 1))
    scale = (2 * SIZE - 16) / max(float((high - low).max()), 1e-9)
    places = np.rint(SIZE + scale * (flat - 0.5 * (low + high))).astype(np.int64)
    return head + _paths(places, colors, seen[:, :, 2]) + "</svg>"


def _paths(places: Integers, colors: Integers, depths: Floats) -> str:
    """Triangles (m,3,2) from back to front."""
    lines: list[str] = []
    for i in np.argsort(depths.sum(axis=1), kind="stable"):
        (a, b), (c, d), (e, f) = places[i].tolist()
        red, green, blue = colors[i].tolist()
        color = f"#{red:02x}{green:02x}{blue:02x}"
        lines.append(f'<path d="M{a} {b} {c} {d} {e} {f}z" fill="{color}" stroke="{color}"/>')
    return "".join(lines)
