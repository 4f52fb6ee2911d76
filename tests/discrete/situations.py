"""Pairs of bodies to ask questions about: named kinds of configurations, each from a seed."""

import itertools
from typing import NamedTuple
from unittest import mock

import numpy as np

from abut import Deformable, Mesh, Rigid, scenes
from abut.trees.packets import packet_tree
from abut.trees.packets.boxes import WIDTH

TREE_SIZES = (*range(1, 21), 63, 64, 65, 128, 129, 511, 512, 513)
"""Numbers of faces around which the shape of a packet tree changes."""


class Situation(NamedTuple):
    mesh_a: Mesh
    pose_a: np.ndarray
    mesh_b: Mesh
    pose_b: np.ndarray


def translation(*offset):
    pose = np.eye(4)
    pose[:3, 3] = offset
    return pose


def random_pose(rng, reach=0.0):
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = q * np.sign(np.linalg.det(q)), reach * rng.normal(size=3)
    return pose


EXACT_ROTATIONS = [
    np.array(signs)[:, np.newaxis] * np.eye(3)[list(order)]
    for order in itertools.permutations(range(3))
    for signs in itertools.product((-1.0, 1.0), repeat=3)
    if np.linalg.det(np.array(signs)[:, np.newaxis] * np.eye(3)[list(order)]) > 0
]
"""The 24 rotations that only exchange axes and signs: they round nothing."""


def exact_pose(rng, offset=(0.0, 0.0, 0.0)):
    pose = translation(*offset)
    pose[:3, :3] = EXACT_ROTATIONS[rng.integers(24)]
    return pose


def soup(rng, count, spread=0.5, size=0.3):
    vertices = size * rng.normal(size=(3 * count, 3)) + np.repeat(spread * rng.normal(size=(count, 3)), 3, axis=0)
    return Mesh(vertices, np.arange(3 * count).reshape(-1, 3))


def ball(rng, count):
    return scenes.bumpy(max(6, count), seed=int(rng.integers(1000)))


def sheet(rng, count):
    side = max(1, round((count / 2) ** 0.5))
    mesh = scenes.cloth(side, side, size=2.0)
    return Mesh(mesh.vertices + 0.1 * rng.normal(size=mesh.vertices.shape), mesh.faces)


def rubble(rng, count):
    """Triangles, segments and points on a coarse grid, some several times."""
    vertices = rng.integers(-2, 3, (max(4, count), 3)) / 2.0
    faces = rng.integers(0, len(vertices), (count, 3))
    faces[::5, 2] = faces[::5, 1]
    faces[::9] = faces[::9, :1]
    if count > 3:
        faces[1::7] = faces[0]
        faces[3::7] = faces[2, [1, 2, 0]]
    return Mesh(vertices, faces)


def moved(mesh, scale=1.0, offset=(0.0, 0.0, 0.0)):
    return Mesh(scale * mesh.vertices + np.array(offset), mesh.faces)


def _closed(rng, size):
    return Situation(ball(rng, size), random_pose(rng), ball(rng, size), random_pose(rng, 0.7))


def _open(rng, size):
    return Situation(sheet(rng, size), random_pose(rng, 0.2), sheet(rng, size // 2), random_pose(rng, 0.2))


def _closed_and_open(rng, size):
    return Situation(ball(rng, size), random_pose(rng, 0.5), sheet(rng, size), random_pose(rng, 0.5))


def _tree_sizes(rng, size):
    sizes = [n for n in TREE_SIZES if n <= max(20, 2 * size)]
    return Situation(
        soup(rng, int(rng.choice(sizes))), random_pose(rng, 0.2), soup(rng, int(rng.choice(sizes))), np.eye(4)
    )


def _degenerate(rng, size):
    offset = rng.integers(-1, 2, 3) / 2.0
    return Situation(rubble(rng, size // 2 + 1), exact_pose(rng, offset), rubble(rng, size // 2), exact_pose(rng))


def _nested(rng, size):
    mesh = ball(rng, size)
    return Situation(mesh, random_pose(rng), moved(mesh, rng.choice([0.1, 0.5, 0.69])), random_pose(rng, 0.05))


def _identical(rng, size):
    mesh, pose = ball(rng, size), random_pose(rng, 1.0)
    return Situation(mesh, pose, mesh, pose)


def _identical_but_an_ulp(rng, size):
    mesh = sheet(rng, size) if rng.random() < 0.5 else ball(rng, size)
    shifted = mesh.vertices.copy()
    axis = rng.integers(3)
    shifted[:, axis] = np.nextafter(shifted[:, axis], np.inf)
    pose = exact_pose(rng)
    return Situation(mesh, pose, Mesh(shifted, mesh.faces), pose)


def _boxes_face_to_face(rng, size):
    extents = rng.integers(1, 4, (2, 3)).astype(float)
    offset = (extents[0] + extents[1]) / 2 * rng.permutation([1.0, 0.5, 0.0]) * rng.choice([-1.0, 1.0], 3)
    return Situation(scenes.box(extents[0]), np.eye(4), scenes.box(extents[1]), translation(*offset))


def _grids(rng, size):
    """Vertices rounded to a grid: faces touch in corners, edges and planes."""
    a, b = (Mesh(np.round(3 * ball(rng, size).vertices) / 4, ball(rng, size).faces) for _ in range(2))
    return Situation(a, exact_pose(rng), b, exact_pose(rng, np.round(2 * rng.normal(size=3)) / 4))


def _far(rng, size):
    a, b = ball(rng, size), ball(rng, size)
    place = translation(*(1e6 * rng.normal(size=3)))
    if rng.random() < 0.5:  # the meshes themselves are far from their own origins
        return Situation(
            moved(a, offset=place[:3, 3]), np.eye(4), moved(b, offset=place[:3, 3] + rng.normal(size=3)), np.eye(4)
        )
    return Situation(a, place @ random_pose(rng, 0.5), b, place @ random_pose(rng, 0.5))


def _scaled(rng, size, scale):
    a, b = moved(ball(rng, size), scale), moved(sheet(rng, size), scale)
    pose_a, pose_b = random_pose(rng, 0.5), random_pose(rng, 0.5)
    pose_a[:3, 3] *= scale
    pose_b[:3, 3] *= scale
    return Situation(a, pose_a, b, pose_b)


def _tiny(rng, size):
    return _scaled(rng, size, 1e-30)


def _huge(rng, size):
    return _scaled(rng, size, 1e60)


def _unequal(rng, size):
    """One body up to 10⁴ times the other, which lies near its surface."""
    ratio = 10.0 ** rng.uniform(-4, 4)
    a, b = ball(rng, size), moved(ball(rng, size), ratio)
    place = ratio * random_pose(rng)[:3, :3] @ ball(rng, 50).vertices[rng.integers(20)]
    pose_a, pose_b = random_pose(rng, 0.3), random_pose(rng)
    pose_a[:3, 3] += pose_b[:3, :3] @ place
    return Situation(a, pose_a, b, pose_b)


def _linked(rng, size):
    side = max(3, round((size / 2) ** 0.5))
    ring = scenes.torus(1.0, 0.3, side, max(3, side // 2))
    turn = np.array([[1.0, 0, 0, 1.0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
    return Situation(ring, random_pose(rng, 0.02) if rng.random() < 0.5 else np.eye(4), ring, turn)


def _apart(rng, size):
    return Situation(ball(rng, size), random_pose(rng), ball(rng, size), translation(*(rng.choice([-2.7, 2.7], 3))))


SITUATIONS = {
    "closed": _closed,
    "open": _open,
    "closed and open": _closed_and_open,
    "tree sizes": _tree_sizes,
    "degenerate": _degenerate,
    "nested": _nested,
    "identical": _identical,
    "identical but an ulp": _identical_but_an_ulp,
    "boxes face to face": _boxes_face_to_face,
    "grids": _grids,
    "far": _far,
    "tiny": _tiny,
    "huge": _huge,
    "unequal": _unequal,
    "linked": _linked,
    "apart": _apart,
}


def situation(kind, seed, size=60):
    """A configuration of about `size` faces a body."""
    return SITUATIONS[kind](np.random.default_rng([list(SITUATIONS).index(kind), seed]), size)


def rigid_pair(s):
    return Rigid(s.mesh_a, s.pose_a), Rigid(s.mesh_b, s.pose_b)


def deformable(body):
    """A deformable body built at rest and then moved to where a rigid one is."""
    result = Deformable(body.mesh)
    result.update(body.vertices)
    return result


def four_combinations(s):
    """The same two bodies in the same places, as rigid and deformable ones."""
    a, b = rigid_pair(s)
    return [(a, b), (a, deformable(b)), (deformable(a), b), (deformable(a), deformable(b))]


def packet_leaves(triangles, oriented):
    """A packet tree whose leaf i holds the k ≤ 8 triangles (n,k,3,3) of row i: the faces stay in their order."""
    vertices = triangles[:, np.arange(WIDTH) % triangles.shape[1]].reshape(-1, 3)
    faces = np.arange(len(vertices)).reshape(-1, 3)
    with mock.patch.object(packet_tree, "order_faces", lambda vertices, faces, frame: np.arange(len(faces))):
        return packet_tree.build(vertices, faces, oriented=oriented).tree
