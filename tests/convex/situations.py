"""Hulls and placements for tests: general, touching, parallel, overlapping and degenerate; and a judge that shares no code with what it judges."""

import numpy as np
from scipy.optimize import nnls
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation


def box(*sides):
    return np.stack(np.meshgrid(*[(-0.5 * s, 0.5 * s) for s in sides]), axis=-1).reshape(-1, 3)


def prism(count, radius=1.0, height=1.0):
    angles = 2 * np.pi * np.arange(count) / count
    up = np.array([0, 0, height / 2])
    ring = np.stack([radius * np.cos(angles), radius * np.sin(angles), np.zeros(count)], axis=1)
    return np.vstack([ring - up, ring + up])


def ball(rng, count):
    points = rng.normal(size=(count, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def random_points(rng, most):
    """Points of a hull of some kind with at most about `most` vertices."""
    kind = rng.integers(0, 10)
    count = int(np.exp(rng.uniform(np.log(4), np.log(most))))
    if kind <= 2:
        return ball(rng, count)
    if kind == 3:
        return rng.normal(size=(count, 3)) * rng.uniform(0.05, 1.0, 3)
    if kind == 4:
        return box(*rng.uniform(0.1, 1.5, 3))
    if kind == 5:
        return box(1, 1, 1)
    if kind == 6:
        return prism(max(3, count // 2), 0.5, rng.uniform(0.1, 2.0))
    if kind == 7:  # the lattice makes coplanar, collinear and repeated points
        return rng.integers(0, 4, (max(count, 8), 3)) / 4.0
    if kind == 8:
        flat = np.zeros((count, 3))
        flat[:, :2] = rng.normal(size=(count, 2))
        return flat
    return rng.normal(size=(2, 3)) if rng.integers(0, 4) else rng.normal(size=(1, 3))


def random_rotation(rng):
    """Any rotation, or one that takes axes to axes."""
    if rng.integers(0, 3) == 0:
        return np.round(Rotation.from_euler("xyz", rng.integers(0, 4, 3) * 90, degrees=True).as_matrix())
    return Rotation.random(random_state=rng.integers(1 << 31)).as_matrix()


def pose_of(rotation, translation):
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, translation
    return pose


def place(rng, points_a, points_b):
    """Poses of a and b, apart, touching or overlapping: b is put with its lowest feature on, above or below the top of a along a direction."""
    frame = random_rotation(rng)
    turned_a = random_rotation(rng) if rng.integers(0, 2) else np.eye(3)
    turned_b = turned_a if rng.integers(0, 3) == 0 else random_rotation(rng)
    a, b = points_a @ turned_a.T, points_b @ turned_b.T
    d = rng.normal(size=3)
    if rng.integers(0, 2) and len(points_a) > 4 and np.linalg.matrix_rank(a - a[0], tol=1e-9) == 3:
        normals = ConvexHull(a).equations[:, :3]
        d = normals[rng.integers(0, len(normals))]  # a face of a
    d = d / np.linalg.norm(d)
    top, bottom = a[(a @ d).argmax()], b[(b @ d).argmin()]
    way = rng.integers(0, 6)
    gap = [
        0.0,
        0.0,
        rng.uniform(0, 2),
        10.0 ** rng.uniform(-12, 0),
        -rng.uniform(0, 1),
        -(10.0 ** rng.uniform(-12, 0)),
    ][way]
    move = top - bottom + gap * d
    if way == 1:
        move += 0.3 * np.cross(d, rng.normal(size=3))  # slides along the touching plane
    home = np.round(rng.normal(size=3) * 4) if rng.integers(0, 2) else np.zeros(3)
    return pose_of(frame @ turned_a, frame @ home), pose_of(frame @ turned_b, frame @ (home + move))


def moved(pose, points):
    return points @ pose[:3, :3].T + pose[:3, 3]


def is_inside(p, points, slack):
    """Whether a point is in the convex hull of points, up to a slack."""
    if is_solid(points):
        planes = ConvexHull(points).equations
        return (planes[:, :3] @ p + planes[:, 3]).max() <= slack
    system = np.vstack([points.T, np.ones(len(points))])
    return nnls(system, np.append(p, 1.0))[1] <= slack


def closest_by_features(a, b):
    """Distance of two solid hulls that are apart, from all vertices and triangles and all edges of Qhull's facets."""
    hulls = ConvexHull(a), ConvexHull(b)
    least = np.inf
    for points, hull, others in ((a, hulls[0], b), (b, hulls[1], a)):
        for corners, plane in zip(hull.simplices, hull.equations, strict=True):
            x = points[corners]
            side = np.cross(plane[:3], np.roll(x, -1, axis=0) - x)
            side *= np.sign(np.einsum("ij,ij->i", side, x.mean(axis=0) - x))[:, None]
            inside = (np.einsum("pij,ij->pi", others[:, None] - x, side) >= 0).all(axis=1)
            least = min(least, np.abs(others @ plane[:3] + plane[3])[inside].min(initial=np.inf))
    ends = [np.unique(np.sort(h.simplices[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)), axis=0) for h in hulls]
    p, u = a[ends[0][:, 0]][:, None], (a[ends[0][:, 1]] - a[ends[0][:, 0]])[:, None]
    q, v = b[ends[1][:, 0]][None], (b[ends[1][:, 1]] - b[ends[1][:, 0]])[None]
    w, uu, vv, uv = p - q, (u * u).sum(-1), (v * v).sum(-1), (u * v).sum(-1)
    uw, vw = (u * w).sum(-1), (v * w).sum(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = np.nan_to_num(np.clip((uv * vw - uw * vv) / (uu * vv - uv * uv), 0, 1))
    for s in (inner, 0.0 * uv, 1.0 + 0.0 * uv, np.clip(-uw / uu, 0, 1), np.clip((uv - uw) / uu, 0, 1)):
        t = np.clip((uv * s + vw) / vv, 0, 1)
        s = np.clip((uv * t - uw) / uu, 0, 1)
        least = min(least, np.linalg.norm(w + s[..., None] * u - t[..., None] * v, axis=-1).min())
    return least


def is_solid(points):
    return len(points) > 3 and np.linalg.svd(points - points.mean(axis=0), compute_uv=False)[2] > 1e-9


def judge(tracks, row, a, b, scale, *, thorough=True):
    """The largest error of an answer in units of the scale, found from all vertices of both hulls (world coordinates).

    Points must be of the hulls and `distance` apart along the normal. Apart or touching: the planes through the points must have the hulls on
    their sides, which proves that nothing is closer; where the points are so close that rounding turns the normal, all features are tried too.
    Overlapping: the extent along the normal must be the depth, and the least extent of the difference, which Qhull makes of all differences.
    """
    p, q, n, distance = (getattr(tracks, name)[row] for name in ("point_a", "point_b", "normal", "distance"))
    errors = [abs(np.linalg.norm(n) - 1.0), np.abs(q - p - distance * n).max() / scale]
    blur = 1e-14 * scale / distance if tracks.status[row] == 0 else 0.0
    errors.append(max(abs((a @ n).max() - (b @ n).min() + distance) / scale - blur, 0.0))
    if thorough:
        errors += [0.0 if is_inside(x, points, 1e-10 * scale) else 1.0 for x, points in ((p, a), (q, b))]
        if blur > 1e-10 and is_solid(a) and is_solid(b):
            errors.append(abs(closest_by_features(a, b) - distance) / scale)
        if distance < -1e-12 * scale and len(a) * len(b) < 40_000:
            offsets = -ConvexHull((a[:, None] - b[None]).reshape(-1, 3)).equations[:, 3]
            errors.append(abs(offsets.min() + distance) / scale)
    return max(errors)
