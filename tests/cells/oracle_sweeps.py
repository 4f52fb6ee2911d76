"""Swept triangles and tetrahedra in integers: what of them lies in an obstacle or outside, piece by piece. Shares nothing with `abut.cells`.

The parts of a world fill its box. So what sweeps stays free as long as it has no piece, of area or of volume, in an obstacle or beyond the box; a
triangle in the plane of a face is free where a free part has that face too. A piece is convex: its corners lie on two (three) of the sides
of the triangle (tetrahedron) and of the planes of the part. All of them are linear in the weights of the corners of what sweeps, so the
corners of a piece are solutions of small systems of integers, and the moving end comes to each when it divides its way as two of the weights.
"""

import itertools
from fractions import Fraction

import numpy as np

from cells.oracle_cells import cross, det, minus

CLEAR = 1e-6
"""Heights above planes, in units of the cells' size, beyond which floating point certainly tells the side; coordinates are below 100."""
POOR = 1e-4
"""Systems whose determinant is below this are not judged in floating point."""


class Solid:
    """A convex part that is not free, or what lies beyond one side of the box."""

    def __init__(self, faces):
        self.faces = faces
        planes = []
        for face in faces:
            if len(face[0]) == 2:
                (a, b) = face[:2]
                normal = (a[1] - b[1], b[0] - a[0])
            else:
                normal = cross(minus(face[1], face[0]), minus(face[2], face[0]))
            planes.append((*normal, -sum(n * x for n, x in zip(normal, face[0], strict=True))))
        self.rough = np.array(planes, float)
        self.planes = [as_integers(plane)[0] for plane in planes]


class Solids:
    """All of a world that is not free."""

    def __init__(self, parts):
        self.low = np.min([part.low for part in parts], axis=0)
        self.high = np.max([part.high for part in parts], axis=0)
        assert sum(size(part) for part in parts) == size_of_box(self.low, self.high), "the parts do not fill a box"
        self.parts = [part for part in parts if not part.free]
        self.boxes = np.array([(*part.low, *part.high) for part in self.parts]).reshape(-1, 2, len(self.low))
        self.solids = [Solid(part.faces) for part in self.parts]
        self.outside = []
        for axis in range(len(self.low)):
            for bound, way in ((self.low[axis], -1), (self.high[axis], 1)):
                beyond = Solid([])
                normal = [way if k == axis else 0 for k in range(len(self.low))]
                beyond.planes = [as_integers([*normal, Fraction(float(-way * bound))])[0]]
                beyond.rough = np.array([[*normal, -way * bound]], float)
                self.outside.append(beyond)
        self.free_faces = {frozenset(face) for part in parts if part.free for face in part.faces}

    def near(self, points):
        low, high = points.min(axis=0), points.max(axis=0)
        met = (self.boxes[:, 0] <= high).all(axis=1) & (self.boxes[:, 1] >= low).all(axis=1)
        return [self.solids[k] for k in np.flatnonzero(met)] + self.outside


def size(part):
    """Area or volume, times 2 or 6."""
    if len(part.faces[0][0]) == 2:
        return sum(a[0] * b[1] - a[1] * b[0] for a, b in part.faces)
    fans = [(face[0], b, c) for face in part.faces for b, c in itertools.pairwise(face[1:])]
    return -sum(det(b, c, a) for a, b, c in fans)


def size_of_box(low, high):
    sides = [Fraction(float(b)) - Fraction(float(a)) for a, b in zip(low, high, strict=True)]
    return 2 * sides[0] * sides[1] if len(sides) == 2 else 6 * sides[0] * sides[1] * sides[2]


def as_integers(numbers):
    """Numbers times a power of two, and its exponent."""
    ratios = [x.as_integer_ratio() for x in numbers]
    shift = max(bottom.bit_length() - 1 for _, bottom in ratios)
    return [top << (shift + 1 - bottom.bit_length()) for top, bottom in ratios], shift


def heights_of(solid, points, rows):
    """The planes of a solid that cut the hull of some points, by their heights at these; None where no piece of the hull is behind all of them.

    And the faces in whose plane all of the points lie.
    """
    rough = solid.rough[:, :-1] @ points.T + solid.rough[:, -1:]
    if (rough.max(axis=1) < -CLEAR).any():
        return None, []
    flat, whole, dimension = [], rows[0], points.shape[1]
    cutting, shift = [], rows[1]
    for k in np.flatnonzero(rough.min(axis=1) < CLEAR).tolist():
        plane = solid.planes[k]
        heights = [
            sum(plane[i] * whole[dimension * j + i] for i in range(dimension)) + (plane[-1] << shift)
            for j in range(len(points))
        ]
        if not any(heights):
            if not solid.faces:
                return None, []
            flat.append(solid.faces[k])
        elif max(heights) <= 0:
            return None, []
        elif min(heights) < 0:
            cutting.append(heights)
    return cutting, flat


def solve(planes):
    """The weights, not negative in sum, at which three heights of a tetrahedron's corners (two of a triangle's) are 0."""
    if len(planes) == 2:
        weights = cross(*planes)
    else:
        a, b, c = planes
        weights = [(-1) ** k * det(*([row[i] for i in range(4) if i != k] for row in (a, b, c))) for k in range(4)]
    total = sum(weights)
    return [-w for w in weights] if total < 0 else list(weights)


def corners_of_piece(cutting, count):
    """The weights of the corners of what lies above all of some heights."""
    planes = [[int(i == k) for i in range(count)] for k in range(count)] + cutting
    chosen = list(itertools.combinations(range(len(planes)), count - 1))
    if count == 4 and cutting:
        chosen = possible(planes, chosen)
    found = []
    for some in chosen:
        weights = solve([planes[k] for k in some])
        if sum(weights) > 0 and all(sum(h * w for h, w in zip(plane, weights, strict=True)) >= 0 for plane in planes):
            found.append(weights)
    return found


def possible(planes, chosen):
    """Those choices of three planes whose common point is not certainly outside: most are, and integers are slow."""
    rough = np.array([[x / max(map(abs, row)) for x in row] for row in planes])
    rows = rough[np.array(chosen)]
    weights = np.stack(
        [(-1) ** k * np.linalg.det(rows[:, :, [i for i in range(4) if i != k]]) for k in range(4)], axis=1
    )
    total = weights.sum(axis=1)
    is_poor = np.abs(weights).max(axis=1) < POOR
    is_poor |= np.abs(total) < POOR * np.abs(weights).max(axis=1)
    with np.errstate(all="ignore"):
        heights = (weights / total[:, np.newaxis]) @ rough.T
        is_poor |= ~(heights.min(axis=1) < -CLEAR)
    return [some for some, keep in zip(chosen, is_poor, strict=True) if keep]


def has_size(corners):
    """Whether points, by their weights, span a triangle (tetrahedron) that is not flat."""
    rows = [list(row) for row in corners]
    for rank in range(len(corners[0]) if corners else 0):
        pivot = next((r for r in range(rank, len(rows)) if rows[r][rank] != 0), None)
        if pivot is None:
            return False
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for r in range(rank + 1, len(rows)):
            top, factor = rows[rank][rank], rows[r][rank]
            if factor != 0:
                rows[r] = [top * x - factor * y for x, y in zip(rows[r], rows[rank], strict=True)]
    return bool(corners)


def sweep(solids, points):
    """How long what sweeps the hull of some points stays free while the first of them moves to the second; None where the hull is flat."""
    points = np.asarray(points, float)
    rows = as_integers(points.ravel().tolist())
    if is_flat(points):
        return None
    first = Fraction(1)
    for solid in solids.near(points):
        cutting, flat = heights_of(solid, points, rows)
        if cutting is None or any(frozenset(face) in solids.free_faces for face in flat):
            continue
        corners = corners_of_piece(cutting, len(points))
        if has_size(corners):
            first = min(first, *(Fraction(w[1], w[0] + w[1]) for w in corners if w[0] + w[1] > 0))
    return first


def is_free(solids, points):
    """Whether a triangle that is not flat lies in the free parts."""
    points = np.asarray(points, float)
    rows = as_integers(points.ravel().tolist())
    for solid in solids.near(points):
        cutting, flat = heights_of(solid, points, rows)
        if cutting is None or any(frozenset(face) in solids.free_faces for face in flat):
            continue
        if has_size(corners_of_piece(cutting, len(points))):
            return False
    return True


def is_flat(points):
    """Whether three points lie on a line, or four in a plane."""
    whole, _ = as_integers(np.asarray(points, float).ravel().tolist())
    dimension = len(points[0])
    corners = [whole[dimension * k : dimension * (k + 1)] for k in range(len(points))]
    ways = [minus(x, corners[0]) for x in corners[1:]]
    if len(ways) == 3:
        return det(*ways) == 0
    u, v = ways
    return all(u[i] * v[j] == u[j] * v[i] for i in range(dimension) for j in range(i))
