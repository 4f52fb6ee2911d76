"""Whether surfaces are in contact at one moment: segments against triangles by Cramer's rule in fractions, and solid angles for inside.

No orientation signs and no rays, which the library uses. Segments that are parallel to a triangle's plane are left out: where they meet the
triangle a vertex touches a face or two edges touch, which first contacts at t = 0 have (`ccd`).
"""

from fractions import Fraction

import numpy as np


def exact(point):
    return [Fraction(float(x)) for x in point]


def minus(p, q):
    return [x - y for x, y in zip(p, q, strict=True)]


def determinant(a, b, c):
    return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0])


def crosses(p, q, a, b, c):
    """Whether p + t(q − p) = a + x(b − a) + y(c − a) for some t, x, y with 0 ≤ t ≤ 1, x, y ≥ 0, x + y ≤ 1; False if not in one way only."""
    along, u, v, right = minus(p, q), minus(b, a), minus(c, a), minus(p, a)
    whole = determinant(along, u, v)
    if whole == 0:
        return False
    t, x, y = (
        d / whole for d in (determinant(right, u, v), determinant(along, right, v), determinant(along, u, right))
    )
    return 0 <= t <= 1 and x >= 0 and y >= 0 and x + y <= 1


def pass_through(vertices_a, edges_a, vertices_b, faces_b, *, same=False):
    """Whether an edge of a crosses a face of b; of one mesh only those without a common vertex."""
    own, other = [exact(p) for p in vertices_a], [exact(p) for p in vertices_b]
    segments, triangles = vertices_a[edges_a], vertices_b[faces_b]
    apart = (segments.min(axis=1)[:, None] > triangles.max(axis=1)).any(axis=2)
    apart |= (segments.max(axis=1)[:, None] < triangles.min(axis=1)).any(axis=2)
    return any(
        crosses(own[edges_a[i, 0]], own[edges_a[i, 1]], *(other[v] for v in faces_b[j]))
        for i, j in np.argwhere(~apart).tolist()
        if not (same and set(edges_a[i].tolist()) & set(faces_b[j].tolist()))
    )


def are_in_contact(motion, other=None):
    """Whether motions pass through each other, or one through itself, at t = 0."""
    b = motion if other is None else other
    sides = [(m.vertices_t0, m.mesh.edges, m.mesh.faces) for m in (motion, b)]
    (v_a, edges_a, faces_a), (v_b, edges_b, faces_b) = sides
    if other is None:
        return pass_through(v_a, edges_a, v_a, faces_a, same=True)
    return pass_through(v_a, edges_a, v_b, faces_b) or pass_through(v_b, edges_b, v_a, faces_a)


def winding(point, vertices, faces):
    """How often a surface winds around a point: the sum of solid angles (Van Oosterom and Strackee 1983), in parts of the sphere."""
    a, b, c = (vertices[faces[:, k]] - point for k in range(3))
    la, lb, lc = (np.linalg.norm(x, axis=1) for x in (a, b, c))
    volume = np.einsum("ij,ij->i", a, np.cross(b, c))
    dots = [np.einsum("ij,ij->i", x, y) * length for x, y, length in ((a, b, lc), (b, c, la), (c, a, lb))]
    return float(2.0 * np.arctan2(volume, la * lb * lc + sum(dots)).sum() / (4.0 * np.pi))
