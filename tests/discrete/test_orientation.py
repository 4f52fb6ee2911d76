"""Bodies that are inside out, and hollow ones: normals point from a to b however the faces of a closed body are oriented.

The oracles: the same bodies oriented as they should be, and winding numbers as sums of solid angles on either side of each face.
"""

import pickle

import numpy as np
import pytest

from abut import Deformable, Mesh, Rigid, collide, contains, distance, scenes
from abut.core import jit
from discrete.situations import deformable, random_pose, translation
from oracles.bodies import pair_set, solid_angles


def turned(mesh, pieces=None):
    """The mesh with the corners of the faces of some pieces, or of all, in the other order."""
    faces = mesh.faces.copy()
    which = np.ones(len(faces), bool) if pieces is None else np.isin(mesh.components, pieces)
    faces[which] = faces[which][:, ::-1]
    return Mesh(mesh.vertices, faces)


def together(*meshes):
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    return Mesh(
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate([mesh.faces + start for mesh, start in zip(meshes, starts, strict=False)]),
    )


def ball(radius, center=(0.0, 0.0, 0.0), subdivisions=0):
    mesh = scenes.icosphere(subdivisions, radius=radius)
    return Mesh(mesh.vertices + np.array(center), mesh.faces)


def hollow(center=(0.0, 0.0, 0.0)):
    """A ball with a hollow, in which lies a smaller ball."""
    return together(ball(1.0, center), turned(ball(0.7, center)), ball(0.2, center))


BODIES = {
    "one piece": scenes.icosphere(0),
    "a hollow": hollow(),
    "pieces side by side": together(ball(0.6, (-0.5, 0, 0)), ball(0.5, (0.7, 0, 0)), hollow((0.0, 2.5, 0.0))),
}
"""Oriented as they should be."""
PIECES = {
    "one piece": ([0],),
    "a hollow": ([0, 1, 2],),
    "pieces side by side": ([0], [1], [0, 1], [2, 3, 4], [0, 2, 3, 4]),
}
"""Which of their pieces may be turned without a change of what is inside: a hollow with all that surrounds it."""
BAR = scenes.box((3.0, 0.3, 0.4))  # about the origin it crosses the surface of each


@pytest.mark.parametrize("kind", BODIES)
def test_normals_of_bodies_inside_out_point_from_a_to_b(kind):
    rng = np.random.default_rng(1)
    for pieces in PIECES[kind]:
        mesh, pose = BODIES[kind], random_pose(rng, 0.1)
        b = Rigid(BAR, random_pose(rng, 0.1))
        right, wrong = Rigid(mesh, pose), Rigid(turned(mesh, pieces), pose)
        expected = collide(right, b)
        assert len(expected) > 3
        for first in (wrong, deformable(wrong)):
            for other in (b, Rigid(turned(b.mesh), b.pose)):
                found, back = collide(first, other), collide(other, first)
                assert pair_set(found) == pair_set(expected)
                np.testing.assert_allclose(found.normal, expected.normal, atol=1e-9)
                forth = np.lexsort((back.face_a, back.face_b))
                np.testing.assert_allclose(back.normal[forth], -expected.normal, atol=1e-9)
        many = collide(wrong, b, poses=[pose, pose])
        np.testing.assert_allclose(many.normal, np.tile(expected.normal, (2, 1)), atol=1e-9)


@pytest.mark.parametrize("kind", BODIES)
def test_no_other_answer_depends_on_the_orientation(kind):
    rng = np.random.default_rng(2)
    points = rng.normal(size=(40, 3))
    b = Rigid(BAR, random_pose(rng, 0.1))
    inner = Rigid(scenes.box((0.01, 0.01, 0.01)), translation(0.0, 0.0, 0.85))
    right = Rigid(BODIES[kind])
    for pieces in PIECES[kind][: 1 if jit.INTERPRETED else None]:
        wrong = Rigid(turned(BODIES[kind], pieces))
        np.testing.assert_array_equal(contains(wrong, points), contains(right, points))
        assert collide(wrong, inner).inside == collide(right, inner).inside
        if not jit.INTERPRETED:
            assert distance(wrong, b).distance == pytest.approx(distance(right, b).distance, rel=5e-3)
            np.testing.assert_allclose(distance(wrong, b).normal, distance(right, b).normal, atol=1e-6)


def sides_inside(mesh, reach=1e-5):
    """Whether the points just in front of and just behind the middle of each face lie inside, by sums of solid angles."""
    triangles = mesh.vertices[mesh.faces]
    middles = triangles.mean(axis=1)
    return [np.abs(solid_angles(middles + s * reach * mesh.face_normals, triangles)) > 0.5 for s in (1, -1)]


def test_faces_that_point_inwards_are_those_with_the_inside_in_front_only():
    """Pieces that do not cross, in any nesting and each oriented at random."""
    from abut.discrete.orientation import inward_faces

    rng = np.random.default_rng(3)
    seen = np.zeros(2, dtype=int)
    for _ in range(6 if jit.INTERPRETED else 60):
        nest = together(
            *(
                ball(radius, center)
                for center in (np.zeros(3), (2.5, 0, 0), (0.3, 2.7, -0.2))
                for radius in rng.permutation([1.0, 0.7, 0.45, 0.3])[: rng.integers(1, 5)]
            )
        )
        mesh = turned(nest, np.flatnonzero(rng.integers(0, 2, nest.component_count)))
        body = Rigid(mesh) if rng.integers(0, 2) else Deformable(mesh)
        if isinstance(body, Deformable):  # every piece is farthest along x elsewhere than at rest
            body.update(mesh.vertices @ random_pose(rng)[:3, :3].T)
        found = inward_faces(body)
        found = np.zeros(len(mesh.faces), bool) if found is None else found
        front, behind = sides_inside(Mesh(body.vertices, mesh.faces))
        boundary = front != behind
        np.testing.assert_array_equal(found[boundary], front[boundary])
        seen += np.bincount(found[boundary], minlength=2)
    assert (seen > 100).all()


def test_a_deformable_body_that_is_mirrored_by_an_update():
    """Its faces turn inside out then; what was asked before stays as it was, in a copy too."""
    other = Rigid(scenes.box(), translation(0.0, 0.0, 1.2))
    body = Deformable(scenes.icosphere(0))
    before, copied = collide(body, other), collide(body, other)
    expected = collide(Rigid(scenes.icosphere(0)), other).normal
    body.update(body.vertices * (-1.0, 1.0, 1.0))  # a ball is its own mirror image, if not face by face
    copied = pickle.loads(pickle.dumps(copied))
    mirrored = collide(body, other)
    assert mirrored.normal[:, 2].min() > 0.1
    for hits in (before, copied):
        np.testing.assert_allclose(hits.normal, expected, atol=1e-12)
    if not jit.INTERPRETED:
        moved = Deformable(scenes.icosphere(0))
        moved.update(moved.vertices)
        hits = collide(moved, other)
        depth = collide(moved, other).depth
        moved.update(moved.vertices + 9.0)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(hits)).depth, depth)


def test_surfaces_without_an_inside_are_taken_as_their_faces_are():
    sheet, b = scenes.cloth(2, 2), Rigid(scenes.box((0.2, 0.2, 0.5)), translation(0.1, 0.05, 0.0))
    normals = collide(sheet, b).normal
    one_side = np.einsum("ij,ij->i", normals, sheet.face_normals[collide(sheet, b).face_a])
    other = collide(turned(sheet), b)
    assert (one_side > 0).all()
    assert (np.einsum("ij,ij->i", other.normal, turned(sheet).face_normals[other.face_a]) > 0).all()


def test_thin_and_flat_bodies():
    """A plate as thin as 1e-9 of its size has an outside; a pillow without volume is taken as it is."""
    b = Rigid(scenes.box((0.1, 0.1, 0.1)), translation(0.2, 0.1, 0.05))
    plate = scenes.box((1.0, 1.0, 1e-9))
    np.testing.assert_allclose(collide(turned(plate), b).normal, collide(plate, b).normal, atol=1e-9)
    pillow = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0.1]], [[0, 1, 2], [0, 2, 1]])
    assert np.isfinite(collide(pillow, b).normal).all()


def test_vertices_of_no_face_are_not_part_of_a_body():
    """For `collide`, `distance` and `contains`: not where the surface ends, nor what lies inside, nor what separates."""
    box = scenes.box()
    loose = Mesh(np.concatenate((box.vertices, [[0.0, 0.0, 0.9], [9.0, 9.0, 9.0]])), box.faces)
    high = Rigid(scenes.box((0.3, 0.3, 0.2)), translation(0.0, 0.0, 0.9))
    for body in (Rigid(loose), deformable(Rigid(loose)), Rigid(turned(loose))):
        assert not collide(body, high)
        assert distance(body, high).distance == pytest.approx(0.3)
        assert contains(body, [[0.0, 0.0, 0.9], [9.0, 9.0, 9.0], [0.0, 0.0, 0.0]]).tolist() == [False, False, True]
        assert not collide(body, margin=0.0)
