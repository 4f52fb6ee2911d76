"""Pairs of meshes to test trees with, and the pairs of faces that meet, found without a tree."""

import functools

import numpy as np

from abut import scenes
from oracles.rationals import as_integers, meet_triangles

KINDS = ("closed", "open", "nested", "identical", "no area", "single", "soup", "copy", "apart", "touching")


def soup(rng, count, spread=1.0):
    vertices = rng.normal(size=(3 * count, 3)) * 0.2 + np.repeat(spread * rng.normal(size=(count, 3)), 3, axis=0)
    return vertices, np.arange(3 * count).reshape(-1, 3)


def ball(rng, face_count):
    mesh = scenes.bumpy(max(6, face_count), seed=int(rng.integers(1000)))
    return mesh.vertices.copy(), mesh.faces


def sheet(rng, nx, ny):
    mesh = scenes.cloth(nx, ny, size=(2.0, 2.0))
    return mesh.vertices + 0.1 * rng.normal(size=mesh.vertices.shape), mesh.faces


def situation(kind, seed, size=120):
    """(vertices_a, faces_a), (vertices_b, faces_b): a named kind of configuration of about `size` faces each."""
    rng = np.random.default_rng([KINDS.index(kind), seed])
    offset = rng.uniform(-1, 1, 3)
    vertices, faces = ball(rng, size)
    if kind == "closed":
        other = ball(rng, size)
        return (vertices, faces), (other[0] + offset, other[1])
    if kind == "open":
        side = max(1, round((size / 2) ** 0.5))
        return sheet(rng, side, side), sheet(rng, side, max(1, side // 2))
    if kind == "nested":
        return (vertices, faces), (0.3 * vertices + 0.1 * offset, faces)
    if kind == "identical":
        triangle = rng.normal(size=(3, 3))
        return (triangle, np.tile(np.arange(3), (size // 2, 1))), (
            triangle + 0.1 * offset,
            np.tile(np.arange(3), (7, 1)),
        )
    if kind == "no area":  # segments and points among the triangles, many in one place
        a, b = soup(rng, size // 2, 0.3), soup(rng, size // 2, 0.3)
        a[1][::3, 2], b[1][::4, 1] = a[1][::3, 1], b[1][::4, 0]
        b[1][::8, 2] = b[1][::8, 0]
        a[0][::2] = np.round(a[0][::2], 1)
        return a, b
    if kind == "single":
        return soup(rng, 1, 0.1), (soup(rng, 1, 0.1) if seed % 2 else (vertices, faces))
    if kind == "soup":
        return soup(rng, size, 0.5), soup(rng, size, 0.5)
    if kind == "copy":
        return (vertices, faces), (vertices.copy(), faces.copy())
    if kind == "apart":
        return (vertices, faces), (vertices + 10 * np.sign(offset), faces)
    grid = np.round(4 * vertices) / 4  # coordinates on a grid: many faces touch in edges, corners and planes
    return (grid, faces), (grid + np.round(offset), faces)


def box_pairs(a, b, margin=0.0):
    """Pairs of faces whose aligned boxes overlap, all against all."""
    (va, fa), (vb, fb) = a, b
    low_a, high_a, low_b, high_b = va[fa].min(axis=1), va[fa].max(axis=1), vb[fb].min(axis=1), vb[fb].max(axis=1)
    apart = (low_a[:, np.newaxis] - high_b > margin) | (low_b - high_a[:, np.newaxis] > margin)
    return np.argwhere(~apart.any(axis=2))


def colliding_pairs(a, b):
    """Pairs of faces with a common point: separating axes in integers, for all whose aligned boxes overlap."""
    pairs = box_pairs(a, b)
    if not len(pairs):
        return pairs
    (va, fa), (vb, fb) = a, b
    cases = np.concatenate((va[fa[pairs[:, 0]]], vb[fb[pairs[:, 1]]]), axis=1)
    return pairs[meet_triangles(as_integers(cases))]


@functools.cache
def collisions_of(kind, seed, size):
    """The colliding pairs of a situation, found once for all kinds of trees."""
    return colliding_pairs(*situation(kind, seed, size))


def ascending(pairs):
    """The pairs of one mesh with itself, each once."""
    return pairs[pairs[:, 0] < pairs[:, 1]]


def random_pose(rng, reach=1.0):
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = q * np.sign(np.linalg.det(q)), reach * rng.normal(size=3)
    return pose


def carried(pose, vertices):
    return vertices @ pose[:3, :3].T + pose[:3, 3]
