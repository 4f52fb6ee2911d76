"""Slow and obvious answers about bodies: pairs of faces that meet, windings, gaps and depths, all against all.

Verdicts are about world coordinates. `meeting_pairs` asks abut's exact test of two triangles (which has its own oracle) about every pair whose
boxes overlap; everything else shares no code with abut.
"""

from fractions import Fraction

import numpy as np

from abut.core import jit
from abut.geometry.crossings import meet_triangle_triangle
from abut.geometry.triangles import closest_triangle_triangle
from oracles import mesh as oracle_mesh
from oracles.rationals import _cross, as_integers, corners, distance_sq, exact, meet_triangles


def pair_set(contacts):
    return list(zip(contacts.face_a.tolist(), contacts.face_b.tolist(), strict=True))


@jit.element
def _corner(triangles, i, k):
    return (float(triangles[i, k, 0]), float(triangles[i, k, 1]), float(triangles[i, k, 2]))


@jit.kernel
def _meet_each(a, b, pairs, out):
    for n in range(len(pairs)):
        i, j = pairs[n]
        out[n] = meet_triangle_triangle(
            _corner(a, i, 0), _corner(a, i, 1), _corner(a, i, 2), _corner(b, j, 0), _corner(b, j, 1), _corner(b, j, 2)
        )


@jit.kernel
def _measure_all(a, b, out):
    for i in range(len(a)):
        for j in range(len(b)):
            out[i, j] = closest_triangle_triangle(
                _corner(a, i, 0),
                _corner(a, i, 1),
                _corner(a, i, 2),
                _corner(b, j, 0),
                _corner(b, j, 1),
                _corner(b, j, 2),
            )[4]


def box_pairs(a, b, reach=0.0):
    """(n,2) pairs of triangles (m,3,3) whose aligned boxes are no farther apart than `reach`."""
    low_a, high_a, low_b, high_b = a.min(axis=1), a.max(axis=1), b.min(axis=1), b.max(axis=1)
    apart = (low_a[:, np.newaxis] - high_b > reach) | (low_b - high_a[:, np.newaxis] > reach)
    return np.argwhere(~apart.any(axis=2))


def meeting_pairs(vertices_a, faces_a, vertices_b, faces_b):
    """Sorted list of the pairs of faces with a common point."""
    a, b = np.array(vertices_a)[faces_a], np.array(vertices_b)[faces_b]
    candidates = box_pairs(a, b)
    meet = np.empty(len(candidates), dtype=np.bool_)
    _meet_each(a, b, candidates, meet)
    return list(map(tuple, candidates[meet].tolist()))


def meeting_pairs_in_integers(vertices_a, faces_a, vertices_b, faces_b):
    """The same without a line of abut: separating axes in integers."""
    a, b = np.asarray(vertices_a)[faces_a], np.asarray(vertices_b)[faces_b]
    candidates = box_pairs(a, b)
    if not len(candidates):
        return []
    cases = np.concatenate((a[candidates[:, 0]], b[candidates[:, 1]]), axis=1)
    return list(map(tuple, candidates[meet_triangles(as_integers(cases))].tolist()))


def distances(vertices_a, faces_a, vertices_b, faces_b):
    """(m_a, m_b) distances of all pairs of faces."""
    a, b = np.array(vertices_a)[faces_a], np.array(vertices_b)[faces_b]
    squares = np.empty((len(a), len(b)))
    _measure_all(a, b, squares)
    return np.sqrt(squares)


# ---- inside and outside


def _determinant(u, v, w):
    return sum(x * y for x, y in zip(u, _cross(v, w), strict=True))


def winding_number(point, triangles, seed=0):
    """(winding number, number of crossings) of triangles (m,3,3) about a point, exactly; None where it lies on one of them.

    Crossings of a ray whose direction is drawn anew until it passes no edge or vertex; in integers.
    """
    whole = as_integers(np.concatenate(([point], np.asarray(triangles).reshape(-1, 3)))[np.newaxis])[0]
    moved = whole[1:].reshape(-1, 3, 3) - whole[0]
    a, b, c = ([moved[:, i, k] for k in range(3)] for i in range(3))
    volume = _determinant(a, b, c)
    for i in np.flatnonzero(volume == 0):
        if meet_triangles(as_integers(np.concatenate(([point] * 3, triangles[i]))[np.newaxis]))[0]:
            return None
    rng = np.random.default_rng(seed)
    while True:
        d = rng.integers(-(10**6), 10**6, 3).astype(object)
        sides = np.sign(np.stack([_determinant(d, a, b), _determinant(d, b, c), _determinant(d, c, a)]).astype(object))
        if not ((sides == 0).any(axis=0) & (abs(sides.sum(axis=0)) == 2)).any():
            break
    through = abs(sides.sum(axis=0)) == 3
    ahead = through & (np.sign(volume) == np.sign(sides[0]))
    return int(sides[0][ahead].sum()), int(ahead.sum())


def is_inside(point, triangles, oriented):
    """Whether a closed surface holds a point; its own points count."""
    found = winding_number(point, triangles)
    if found is None:
        return True
    return found[0] != 0 if oriented else found[1] % 2 == 1


def holds(vertices, faces, other_vertices, other_faces):
    """Whether a surface that another does not meet holds one of the other's pieces."""
    faces, other_faces = np.asarray(faces).tolist(), np.asarray(other_faces).tolist()
    if not oracle_mesh.is_closed(faces):
        return False
    oriented, triangles = oracle_mesh.is_oriented(faces), np.asarray(vertices)[faces]
    low, high = triangles.min(axis=(0, 1)), triangles.max(axis=(0, 1))
    seen = set()
    for face, piece in zip(other_faces, oracle_mesh.components(other_faces), strict=True):
        point = other_vertices[face[0]]
        if piece not in seen and (point >= low).all() and (point <= high).all():
            seen.add(piece)
            if is_inside(point, triangles, oriented):
                return True
    return False


# ---- a surface with itself


def meets_itself(vertices, face, other):
    """Whether two faces of one mesh have a point in common that is not between vertices they share; equal faces always do."""
    shared = sorted(set(face) & set(other))
    if len(shared) == 3:
        return True
    hull = [exact(vertices[v]) for v in shared]
    common = corners([vertices[v] for v in face], [vertices[v] for v in other])
    return any(not hull or distance_sq([p], hull) != 0 for p in common)


def self_pairs(vertices, faces):
    faces = np.asarray(faces).tolist()
    triangles = np.asarray(vertices)[faces]
    vertices = np.asarray(vertices).tolist()
    return [
        (i, j)
        for i, j in box_pairs(triangles, triangles).tolist()
        if i < j and meets_itself(vertices, faces[i], faces[j])
    ]


# ---- distances and depths by sampling


def sample_triangles(triangles, splits):
    """Points on triangles (m,3,3): all multiples of 1/splits in barycentric coordinates."""
    weights = [(i, j, splits - i - j) for i in range(splits + 1) for j in range(splits + 1 - i)]
    return np.einsum("wk,mkd->mwd", np.array(weights) / splits, triangles).reshape(-1, 3)


def distances_to_surface(points, triangles):
    """(n,) distances of points to triangles with area, each to its plane, its edges or its corners."""
    best = np.full(len(points), np.inf)
    for a, b, c in triangles:
        for p, q in ((a, b), (b, c), (c, a)):
            t = np.clip((points - p) @ (q - p) / ((q - p) @ (q - p)), 0, 1)
            best = np.minimum(best, np.linalg.norm(points - p - t[:, np.newaxis] * (q - p), axis=1))
        normal = np.cross(b - a, c - a)
        above = [((points - p) @ np.cross(normal, q - p)) >= 0 for p, q in ((a, b), (b, c), (c, a))]
        height = np.abs((points - a) @ normal) / np.linalg.norm(normal)
        best = np.where(np.logical_and.reduce(above), np.minimum(best, height), best)
    return best


def solid_angles(points, triangles):
    """(n,) winding numbers in floating point (van Oosterom and Strackee 1983)."""
    total = np.zeros(len(points))
    for triangle in triangles:
        u, v, w = (corner - points for corner in triangle)
        x, y, z = (np.linalg.norm(s, axis=1) for s in (u, v, w))
        volume = np.einsum("nd,nd->n", u, np.cross(v, w))
        rest = x * y * z + (u * v).sum(1) * z + (v * w).sum(1) * x + (w * u).sum(1) * y
        total += 2 * np.arctan2(volume, rest)
    return total / (4 * np.pi)


def sampled_depth(triangles_a, triangles_b, splits):
    """The largest distance from a sampled point of a inside b to b's surface; 0 if none is inside."""
    points = sample_triangles(triangles_a, splits)
    inside = points[np.abs(solid_angles(points, triangles_b)) > 0.5]
    return distances_to_surface(inside, triangles_b).max(initial=0.0)


def is_on_triangle(point, triangle, tolerance):
    """Whether a point is within a tolerance of a triangle, exactly measured."""
    return distance_sq([point], [list(map(float, corner)) for corner in triangle]) <= Fraction(tolerance) ** 2
