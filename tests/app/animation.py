"""A small animation, and a slow, obvious sweep: every pair of features, the roots of the cubic by NumPy's companion matrix, no bounds on anything."""

import itertools

import numpy as np

from abut import Mesh
from abut.ccd import EDGE_EDGE, VERTEX_FACE, Impacts, Status

SLACK = 1e-9  # the animation's impacts are far from the features' ends

# A square of two faces in z = 0, and a triangle above it that falls through: clean, clean, through it between frames 1 and 2,
# below it, and at the end upright in it.
SQUARE = [[-2, -2, 0], [2, -2, 0], [2, 2, 0], [-2, 2, 0]]
FACES = np.array([[0, 1, 2], [0, 2, 3], [4, 5, 6]])


def falling(*heights, upright=False):
    """Vertices with the triangle's corners at these heights."""
    corners = [[0.5, -0.25, heights[0]], [1.0, -0.25, heights[-1]], [0.75, 0.1, heights[0] + 0.5 * upright]]
    return np.array(SQUARE + corners, float)


FRAMES = np.stack([falling(1.0), falling(0.5), falling(-0.5), falling(-0.25, upright=True)])


def save_all(folder, frames=FRAMES, faces=FACES, suffix=".ply"):
    """One file a frame, numbered without zeros in front; returns the paths in order."""
    folder.mkdir(exist_ok=True)
    paths = [folder / f"frame{i + 8}{suffix}" for i in range(len(frames))]
    for path, vertices in zip(paths, frames, strict=True):
        Mesh(vertices, faces).save(path)
    return paths


def same(report, other):
    assert report.names == other.names
    for ours, theirs in (
        *zip(report.findings, other.findings, strict=True),
        *zip(report.first, other.first, strict=True),
        *zip(report.worst_impacts, other.worst_impacts, strict=True),
        *zip(report.longest_cuts, other.longest_cuts, strict=True),
        (report.counts, other.counts),
    ):
        assert ours.dtype == theirs.dtype
        assert np.array_equal(ours, theirs)
    assert (report.bad, report.skipped) == (other.bad, other.skipped)
    return True


def sweep(mesh, v_t0, v_t1, min_distance=0.0):
    """All impacts of one mesh with itself."""
    edges, faces = mesh.edges.tolist(), mesh.faces.tolist()
    pairs = [(VERTEX_FACE, v, f, [v, *face]) for v in range(len(v_t0)) for f, face in enumerate(faces)]
    pairs += [(EDGE_EDGE, i, j, edges[i] + edges[j]) for i, j in itertools.combinations(range(len(edges)), 2)]
    rows = []
    for kind, a, b, corners in pairs:
        if len(set(corners)) == 4:
            found = meet(kind, v_t0[corners], v_t1[corners])
            rows += [(kind, a, b, *found)] if found else []
    kinds, a, b, time, point, normal = zip(*sorted(rows, key=lambda row: row[:3]), strict=True) if rows else [()] * 6
    return Impacts(
        np.array(kinds, np.int8),
        np.array(a, np.int64),
        np.array(b, np.int64),
        np.array(time, float),
        np.array(point, float).reshape(-1, 3),
        np.array(normal, float).reshape(-1, 3),
        np.full(len(rows), Status.HIT, np.int8),
    )


def meet(kind, start, end):
    """First time, point and normal (from a to b) at which a vertex and a face, or two edges, meet; None if never."""
    motion = end - start

    def volume(t):
        p = start + t * motion
        return np.linalg.det(p[1:] - p[0])

    samples = np.array([0.0, 1 / 3, 2 / 3, 1.0])
    cubic = np.polyfit(samples, [volume(t) for t in samples], 3)
    cubic[np.abs(cubic) < 1e-12 * np.abs(cubic).max(initial=0)] = 0
    for t in sorted(root.real for root in np.roots(cubic) if abs(root.imag) < SLACK and 0 <= root.real <= 1):
        p = start + t * motion
        # a = weights of the first feature's corners, b = of the second's, at the common point
        if kind == VERTEX_FACE:
            s, u = np.linalg.lstsq(np.stack((p[2] - p[1], p[3] - p[1]), axis=1), p[0] - p[1], rcond=None)[0]
            a, b = np.array([1.0]), np.array([1 - s - u, s, u])
            normal = np.cross(p[2] - p[1], p[3] - p[1])
        else:
            s, u = np.linalg.lstsq(np.stack((p[1] - p[0], p[2] - p[3]), axis=1), p[2] - p[0], rcond=None)[0]
            a, b = np.array([1 - s, s]), np.array([1 - u, u])
            normal = np.cross(p[1] - p[0], p[3] - p[2])
        length = np.linalg.norm(normal)
        if length < SLACK or min(a.min(), b.min()) < -SLACK:
            continue
        approach = a @ motion[: len(a)] - b @ motion[len(a) :]
        return t, a @ p[: len(a)], normal / length * (1 if approach @ normal >= 0 else -1)
    return None
