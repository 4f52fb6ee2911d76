"""What notebooks show: pictures of the plane, cells, those of obstacles grey, and what is among them; and a table of what an environment has."""

from abut.cells.edit.interior import Interior
from abut.core.arrays import Floats, Integers
from abut.core.showing import table_html

WIDTH = 320.0
"""Of a picture, in pixels; it is at most as high."""
MOST_CELLS = 2000
"""Environments of more cells are not drawn: the picture would be large and show nothing."""
MOST_POINTS = 2000
"""Of many particles, the first are drawn."""


def draw_plane(interior: Interior, points: Floats | None = None, edges: Integers | None = None) -> str | None:
    """The cells of the plane as SVG, with points (n,2) and edges (k,2) between them; None for space and for very many cells."""
    if interior.dimension == 3 or interior.cell_count > MOST_CELLS:
        return None
    corners = interior.vertices[interior.darts.vertex]
    low, high = corners.min(axis=0), corners.max(axis=0)
    scale = WIDTH / float((high - low).max())

    def place(point: Floats) -> str:
        x, y = (point[0] - low[0]) * scale, (high[1] - point[1]) * scale
        return f"{x:.1f},{y:.1f}"

    shapes: list[str] = []
    for cell, is_obstacle in enumerate(interior.obstacle.tolist()):
        for ring in interior.rings_of(cell):
            outline = " ".join(place(interior.vertices[corner]) for corner in ring)
            shapes.append(f'<polygon points="{outline}" fill="{"#999" if is_obstacle else "#fff"}" stroke="#ccc"/>')
    if points is not None and edges is not None:
        for a, b in edges[:MOST_POINTS].tolist():
            shapes.append(
                f'<polyline points="{place(points[a])} {place(points[b])}" stroke="#c33" stroke-width="1.5"/>'
            )
    if points is not None:
        for point in points[:MOST_POINTS]:
            x, y = place(point).split(",")
            shapes.append(f'<circle cx="{x}" cy="{y}" r="2" fill="#c33"/>')
    width, height = ((high - low) * scale).tolist()
    frame = f"-2 -2 {width + 4:.1f} {height + 4:.1f}"
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width + 4:.0f}" height="{height + 4:.0f}" viewBox="{frame}">'
    )
    return f"{opening}{''.join(shapes)}</svg>"


def tabulate(interior: Interior, title: str) -> str:
    """How many there are of each thing, as a table of one row."""
    names = ("cells", "obstacles", "vertices", "parts", "darts", "bytes")
    parts, darts = (int((numbers >= 0).sum()) for numbers in (interior.part_cell, interior.darts.cell))
    obstacles = int(interior.obstacle.sum())
    numbers = (interior.cell_count, obstacles, len(interior.vertices), parts, darts, interior.byte_count)
    return table_html(title, names, [[f"{number:,}"] for number in numbers], 1)
