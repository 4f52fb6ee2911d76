"""Free cells around an environment, so that particles may leave it and come back (Jund 2010, §2.2.1).

In space, each face of the outer border gets a frustum between itself and its image under a scaling about the middle of the border; frustums of
neighbouring faces share a side. That needs a border that is star-shaped about its middle, as that of a block, a ball or a straight tube is:
all frustums are then positively oriented, which the exact signs of the construction check, and a closed surface that is seen from a point
everywhere from the same side is star-shaped about it, so that no two frustums overlap.

In the plane, what lies between the border and a box around it is cut into triangles by clipping ears, with exact signs and without new vertices. Any
border will do, in one piece or several, with hollows, which stay as they are.
"""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from abut.cells.edit.grafts import Ring
from abut.cells.edit.interior import Interior
from abut.cells.edit.surgery import Rings, sides_of
from abut.cells.edit.surgery_commit import perform
from abut.cells.map.darts import OUTSIDE, Darts
from abut.cells.space.records import REACH
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput, Unsupported
from abut.geometry.predicates import orient_2d

Point = tuple[float, float]


def surround(inside: Interior, factor: float) -> Integers:
    """Put free cells around an environment; their numbers."""
    rings, first = inside.open_rings(), inside.cell_count
    enclose = enclose_space if inside.dimension == 3 else enclose_plane
    added = enclose(rings, inside.darts, inside.part_cell, inside.vertices, factor, first)
    inside.fabric.reach = max(inside.fabric.reach, REACH * float(np.abs(added).max()))
    inside.refit()
    try:
        perform(inside, rings, added)
    except InvalidInput as error:
        words = f"surrounding an environment whose border is not star-shaped about its middle ({error})"
        raise Unsupported(words) from None
    return np.arange(first, inside.cell_count)


def enclose_space(
    rings: Rings, darts: Darts, part_cell: Integers, vertices: Floats, factor: float, first: int
) -> Floats:
    """Put frustums around the outer border into `rings`, with cell numbers from `first` on; the vertices that are added."""
    owners, border = _border_rings(rings, darts, part_cell)
    chosen = _outer_rings(border, vertices)
    used = np.unique([corner for k in chosen for corner in border[k]])
    middle = vertices[used].mean(axis=0)
    image = {corner: len(vertices) + k for k, corner in enumerate(used.tolist())}
    for number, k in enumerate(chosen):
        ring = border[k]
        rings.keep(owners[k])
        sides = [[u, v, image[v], image[u]] for u, v in sides_of(ring)]
        rings[first + number] = [ring[::-1], [image[corner] for corner in ring], *sides]
    return vertices[used] + (factor - 1.0) * (vertices[used] - middle)


def _border_rings(rings: Rings, darts: Darts, part_cell: Integers) -> tuple[list[int], list[Ring]]:
    """The faces that look at the outside, and their cells."""
    border = np.flatnonzero((darts.cell >= 0) & (darts.cell[darts.phi3] == OUTSIDE))
    cells = part_cell[darts.cell[border]]
    ends = np.column_stack((cells, darts.vertex[border], darts.vertex[darts.phi1[border]]))
    edges = set(map(tuple, ends.tolist()))
    owners: list[int] = []
    found: list[Ring] = []
    for cell in np.unique(cells).tolist():
        for ring in rings[cell]:
            if (cell, ring[0], ring[1]) in edges:
                owners.append(cell)
                found.append(ring)
    return owners, found


def _outer_rings(border: list[Ring], vertices: Floats) -> list[int]:
    """The faces of the outer border, of which there must be one; those of hollows enclose a negative volume."""
    sides = np.array([side for ring in border for side in sides_of(ring)])
    count = len(vertices)
    joined = coo_array((np.ones(len(sides), np.int8), (sides[:, 0], sides[:, 1])), shape=(count, count))
    _, label = connected_components(joined, directed=False)
    piece = label[[ring[0] for ring in border]]
    origin = vertices[border[0][0]]
    volumes: dict[int, float] = {}
    for ring, number in zip(border, piece.tolist(), strict=True):
        points = vertices[ring] - origin
        fan = np.einsum("j,ij->", points[0], np.cross(points[1:-1], points[2:]))
        volumes[number] = volumes.get(number, 0.0) - float(fan)
    outer = [number for number, volume in volumes.items() if volume > 0.0]
    if len(outer) != 1:
        raise Unsupported(f"surrounding an environment in {len(outer)} separate pieces")
    return np.flatnonzero(piece == outer[0]).tolist()


def enclose_plane(
    rings: Rings, darts: Darts, part_cell: Integers, vertices: Floats, factor: float, first: int
) -> Floats:
    """Put triangles between the border and a box into `rings`, with cell numbers from `first` on; the box's corners."""
    loops = _outer_loops(darts, vertices)
    for cell in np.unique(part_cell[darts.cell[darts.phi2[darts.cell == OUTSIDE]]]).tolist():
        rings.keep(cell)
    used = vertices[np.unique([corner for loop in loops for corner in loop])]
    low, high = used.min(axis=0), used.max(axis=0)
    grow = 0.5 * (factor - 1.0) * (high - low)
    (x0, y0), (x1, y1) = low - grow, high + grow
    box = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])
    points = [(float(x), float(y)) for x, y in np.concatenate((vertices, box)).tolist()]
    outline = list(range(len(vertices), len(vertices) + 4))
    triangles = clip_ears(points, _join_loops(points, outline, loops))
    edges = {side for triangle in triangles for side in sides_of(triangle)}
    for loop in loops:
        if not all(side in edges for side in sides_of(loop)):
            raise Unsupported("surrounding an environment whose border touches itself in this way")
    for number, triangle in enumerate(triangles):
        rings[first + number] = [triangle]
    return box


def _outer_loops(darts: Darts, vertices: Floats) -> list[Ring]:
    """The loops of the outside that run clockwise: around pieces of the environment, not along hollows in it."""
    left, loops = set(np.flatnonzero(darts.cell == OUTSIDE).tolist()), []
    while left:
        dart = first = left.pop()
        ring = [int(darts.vertex[first])]
        while (dart := int(darts.phi1[dart])) != first:
            ring.append(int(darts.vertex[dart]))
            left.remove(dart)
        x, y = (vertices[ring] - vertices[ring[0]]).T
        if (x * np.roll(y, -1) - y * np.roll(x, -1)).sum() < 0.0:
            loops.append(ring)
    return loops


def _join_loops(points: list[Point], outline: Ring, loops: list[Ring]) -> Ring:
    """One outline of everything: each loop is joined to it by a bridge that nothing crosses, the one that reaches furthest to the right first."""
    waiting = sorted(loops, key=lambda loop: max(points[corner] for corner in loop), reverse=True)
    while waiting:
        loop = waiting.pop(0)
        k = max(range(len(loop)), key=lambda k: points[loop[k]])
        loop = loop[k:] + loop[:k]
        edges = [side for ring in (outline, loop, *waiting) for side in sides_of(ring)]
        start = points[loop[0]]
        order = sorted(range(len(outline)), key=lambda k: _distance_sq(points[outline[k]], start))
        place = next((k for k in order if _is_bridge(points, outline, k, loop[0], edges)), None)
        if place is None:
            raise Unsupported("surrounding an environment whose border touches itself in this way")
        outline = [*outline[: place + 1], *loop, loop[0], *outline[place:]]
    return outline


def _distance_sq(a: Point, b: Point) -> float:
    return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2


def _is_bridge(points: list[Point], outline: Ring, place: int, corner: int, edges: list[tuple[int, int]]) -> bool:
    """Whether the line from a corner of the outline to one of a loop lies in the region, touching nothing on its path."""
    a, w, b = (points[outline[(place + k) % len(outline)]] for k in (-1, 0, 1))
    m = points[corner]
    if m == w:
        return False
    if orient_2d(a, w, b) > 0:
        inside = orient_2d(w, m, a) > 0 and orient_2d(m, w, b) > 0
    else:
        inside = not (orient_2d(w, m, b) >= 0 and orient_2d(m, w, a) >= 0)
    if not inside:
        return False
    for u, v in edges:
        c, d = points[u], points[v]
        shared = (c in (m, w)) + (d in (m, w))
        if shared == 0 and _meet(m, w, c, d):
            return False
        if shared == 1 and _lies_between(m, w, d if c in (m, w) else c):
            return False
    return True


def _meet(a: Point, b: Point, c: Point, d: Point) -> bool:
    """Whether two closed segments without common ends meet."""
    sides = (orient_2d(a, b, c), orient_2d(a, b, d), orient_2d(c, d, a), orient_2d(c, d, b))
    if sides[0] * sides[1] < 0 and sides[2] * sides[3] < 0:
        return True
    return _lies_between(a, b, c) or _lies_between(a, b, d) or _lies_between(c, d, a) or _lies_between(c, d, b)


def _lies_between(a: Point, b: Point, p: Point) -> bool:
    low, high = (min(a[0], b[0]), min(a[1], b[1])), (max(a[0], b[0]), max(a[1], b[1]))
    return orient_2d(a, b, p) == 0 and low[0] <= p[0] <= high[0] and low[1] <= p[1] <= high[1]


def clip_ears(points: list[Point], outline: Ring) -> list[Ring]:
    """The triangles of a simple outline, anticlockwise, that may touch itself along bridges: a corner whose triangle holds no other corner is
    clipped, again and again (Meisters 1975)."""
    ring, triangles, k, missed = list(outline), [], 0, 0
    while len(ring) > 3:
        if missed > len(ring):
            raise Unsupported("surrounding an environment whose border touches itself in this way")
        k %= len(ring)
        triangle = [ring[k - 1], ring[k], ring[(k + 1) % len(ring)]]
        if _is_ear(points, ring, triangle):
            triangles.append(triangle)
            del ring[k]
            missed = 0
        else:
            missed += 1
        k += 1
    return [*triangles, ring]


def _is_ear(points: list[Point], ring: Ring, triangle: Ring) -> bool:
    a, b, c = (points[corner] for corner in triangle)
    if orient_2d(a, b, c) <= 0:
        return False
    low_x, high_x = min(a[0], b[0], c[0]), max(a[0], b[0], c[0])
    low_y, high_y = min(a[1], b[1], c[1]), max(a[1], b[1], c[1])
    for corner in ring:
        p = points[corner]
        if not (low_x <= p[0] <= high_x and low_y <= p[1] <= high_y) or p in (a, b, c):
            continue
        if orient_2d(a, b, p) >= 0 and orient_2d(b, c, p) >= 0 and orient_2d(c, a, p) >= 0:
            return False
    return True
