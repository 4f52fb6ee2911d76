"""Depths of corners and edges of large triangles, and the translation that separates.

The oracle of depths is for convex bodies and takes another road: inside a convex body the distance to the surface is the least height under its
planes, so the deepest point of a triangle is the solution of a linear program, which SciPy solves.
"""

import copy
import pickle

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.spatial.transform import Rotation

from abut import Deformable, Mesh, Rigid, collide, distance, scenes
from abut.core import jit
from conftest import SLOW, SOAK
from discrete.situations import deformable, random_pose, translation

PART = 5e-3  # a depth is found to within this part of itself
SHAPES = {
    "cube": scenes.box(),
    "bar": scenes.box((4.0, 0.2, 0.3)),
    "ball of 80 faces": scenes.icosphere(1),
    "ball of 20 faces": scenes.icosphere(0),
}
ROUNDED = 1e-12  # of what the oracle computes from coordinates of size 10


def planes_of(body):
    triangles = body.vertices[body.mesh.faces]
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return normals, np.einsum("ij,ij->i", normals, triangles[:, 0])


def depth_in_convex(a, b):
    """The depth of the deepest point of the faces of a inside the convex body b: for each face a linear program."""
    normals, offsets = planes_of(b)
    deepest = 0.0
    for triangle in a.vertices[a.mesh.faces]:
        heights = offsets - triangle @ normals.T  # (3, planes) of the corners under the planes
        if (heights.max(axis=0) <= deepest).any():  # all of the face is less deep under some plane
            continue
        # variables: weights of the three corners, and the depth; depth ≤ Σ weight·height under every plane
        rows = np.hstack((-heights.T, np.ones((len(normals), 1))))
        found = linprog(
            [0, 0, 0, -1], A_ub=rows, b_ub=np.zeros(len(rows)), A_eq=[[1, 1, 1, 0]], b_eq=[1], bounds=[(0, None)] * 4
        )
        if found.status == 0:
            deepest = max(deepest, found.x[3])
    return deepest


def depth_of_convex(a, b):
    return max(depth_in_convex(a, b), depth_in_convex(b, a))


def check_depth(a, b, expected):
    found = distance(a, b)
    assert expected * (1 - PART) - ROUNDED <= -found.distance <= expected * (1 + 1e-9) + ROUNDED
    return found


def floor_box():
    return Rigid(scenes.box((20.0, 20.0, 2.0), center=(0.0, 0.0, -1.0)))


def lowered(mesh, rotation, depth, rng):
    """A body above the middle of the floor, its lowest point so deep in it, and that depth as rounded."""
    pose = translation(*rng.uniform(-3.0, 3.0, 2), 0.0)
    pose[:3, :3] = rotation
    body = Rigid(mesh, pose)
    pose[2, 3] = -depth - body.vertices[:, 2].min()
    body.pose = pose
    return body, -body.vertices[:, 2].min()


def test_a_cube_on_a_corner_a_ten_thousandth_deep():
    corner = Rotation.align_vectors([[0, 0, -1]], [np.ones(3) / np.sqrt(3)])[0].as_matrix()
    body, depth = lowered(scenes.box(), corner, 1e-4, np.random.default_rng(0))
    found = distance(floor_box(), body)
    assert found.distance == pytest.approx(-depth, rel=1e-9)
    np.testing.assert_allclose(found.normal, [0, 0, 1], atol=1e-6)
    assert np.linalg.norm(found.separation) == pytest.approx(1e-4, rel=1e-6)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_depth_in_a_floor_is_that_of_the_lowest_point(shape):
    """No part of a body is deeper in a floor that is wide and thick than its lowest vertex."""
    rng = np.random.default_rng(1)
    for case in range(3 if SLOW else (1000 if SOAK else 60)):
        depth = 10.0 ** rng.uniform(-5, -1)
        flat = Rotation.from_euler("xyz", 90 * rng.integers(0, 4, 3), degrees=True).as_matrix()
        rotation = flat if case % 4 == 3 else Rotation.random(random_state=rng).as_matrix()
        body, depth = lowered(SHAPES[shape], rotation, depth, rng)
        pair = (floor_box(), body) if case % 2 else (body, floor_box())
        check_depth(*pair, depth)


def random_pair(rng, first, second, reach=None):
    """Two convex bodies that collide, at a depth drawn on a logarithmic scale where `reach` is not given."""
    a, b = Rigid(SHAPES[first], random_pose(rng)), Rigid(SHAPES[second], random_pose(rng))
    way = Rotation.random(random_state=rng).as_matrix()[0]
    depth = 10.0 ** rng.uniform(-5, -1) if reach is None else reach
    apart, near = 8.0, 0.0  # along the way: the place where they begin to touch
    for _ in range(60):
        middle = 0.5 * (apart + near)
        b.pose = translation(*(a.pose[:3, 3] + middle * way)) @ np.block(
            [[b.pose[:3, :3], np.zeros((3, 1))], [np.zeros((1, 3)), np.ones((1, 1))]]
        )
        apart, near = (apart, middle) if collide(a, b, first=True) else (middle, near)
    pose = b.pose.copy()
    pose[:3, 3] = a.pose[:3, 3] + (apart - depth) * way
    b.pose = pose
    return a, b


PAIRS = [("cube", "cube"), ("bar", "bar"), ("bar", "cube"), ("cube", "ball of 80 faces"), ("bar", "ball of 20 faces")]


@pytest.mark.large
@pytest.mark.parametrize("shapes", PAIRS)
def test_depths_of_convex_bodies_are_those_of_linear_programs(shapes):
    rng = np.random.default_rng(2)
    for case in range(1 if SLOW else (1000 if SOAK else 12)):
        a, b = random_pair(rng, *shapes)
        check_depth(*((a, b), (deformable(a), b), (a, deformable(b)))[case % 3], depth_of_convex(a, b))


@pytest.mark.parametrize("shapes", PAIRS)
def test_the_separation_separates_and_is_never_shorter_than_the_depth(shapes):
    rng = np.random.default_rng(3)
    for case in range(1 if SLOW else (1000 if SOAK else 30)):
        reach = None if case % 2 else float(rng.uniform(0.0, 1.0))
        a, b = random_pair(rng, *shapes, reach)
        if case % 3 == 1:
            a = deformable(a)
        found = distance(a, b)
        assert found.distance <= 0.0
        length = float(np.linalg.norm(found.separation))
        assert length >= -found.distance - 1e-14  # rounding of coordinates of size 1 to 4
        np.testing.assert_allclose(found.normal * length, found.separation, rtol=1e-12, atol=1e-15 * length)
        pose = b.pose.copy()
        pose[:3, 3] += found.separation
        b.pose = pose
        assert not collide(a, b)
        assert distance(a, b).distance > 0.0
        # for convex bodies no plane across a direction lies between them much sooner
        directions = rng.normal(size=(1000, 3))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        moved_back = b.vertices - found.separation
        shortest = ((a.vertices @ directions.T).max(axis=0) - (moved_back @ directions.T).min(axis=0)).min()
        assert length <= 1.1 * shortest


@pytest.mark.skipif(jit.INTERPRETED, reason="takes long")
def test_a_ball_in_a_groove_comes_out_of_it_by_its_depth():
    """The walls of the groove are higher than the ball: a plane between the bodies is far, the way out of the floor short."""
    outline = [(-2, -1), (2, -1), (2, 3), (1.5, 3), (1.5, 0), (-1.5, 0), (-1.5, 3), (-2, 3)]
    quads = [(0, 1, 4, 5), (1, 2, 3, 4), (0, 5, 6, 7)]
    vertices = [(x, y, z) for y in (-5.0, 5.0) for x, z in outline]
    faces = [(i, (i + 1) % 8, (i + 1) % 8 + 8) for i in range(8)] + [(i, (i + 1) % 8 + 8, i + 8) for i in range(8)]
    faces += [
        face for p, q, r, s in quads for face in ((p, r, q), (p, s, r), (p + 8, q + 8, r + 8), (p + 8, r + 8, s + 8))
    ]
    groove = Mesh(vertices, faces)
    assert groove.is_closed
    a, b = Rigid(groove), Rigid(scenes.icosphere(3), translation(0.1, 0.2, 1.0 - 1e-2))
    found = distance(a, b)
    assert found.distance == pytest.approx(-1e-2, rel=0.02)
    assert np.linalg.norm(found.separation) <= 1.1 * 1e-2
    assert not collide(a, Rigid(b.mesh, translation(*found.separation) @ b.pose))


def test_a_body_inside_another_is_led_out():
    inner, outer = (
        Rigid(scenes.icosphere(1, radius=0.3), translation(0.2, 0.1, 0.0)),
        Rigid(scenes.box((4.0, 3.0, 2.0))),
    )
    for a, b in ((inner, outer), (outer, inner)):
        found = distance(a, b)
        assert found.distance < 0.0
        assert not collide(a, Rigid(b.mesh, translation(*found.separation) @ b.pose))
        assert np.linalg.norm(found.separation) == pytest.approx(1.3, rel=0.03)  # a ball below, and half the height


@pytest.mark.large
def test_bodies_that_touch_or_cross_without_an_inside_are_led_apart():
    sheet = scenes.cloth(2, 2)
    turn = np.array([[1.0, 0, 0, 0.1], [0, 0, -1, 0.1], [0, 1, 0, 0.1], [0, 0, 0, 1]])
    for a, b in (
        (Rigid(scenes.box()), Rigid(scenes.box(), translation(1.0, 0.25, 0.0))),
        (Rigid(sheet), Rigid(sheet, turn)),
        (Rigid(scenes.icosphere(0)), Rigid(scenes.icosphere(0))),
    ):
        found = distance(a, b)
        assert found.distance == 0.0
        assert not collide(a, Rigid(b.mesh, translation(*found.separation) @ b.pose))


def test_bodies_apart_have_a_normal_and_no_separation():
    found = distance(Rigid(scenes.box()), Rigid(scenes.box(), translation(0.0, 3.0, 0.0)))
    np.testing.assert_array_equal(found.separation, 0.0)
    np.testing.assert_allclose(found.normal, [0, 1, 0], atol=1e-12)


def test_a_later_change_of_the_bodies_does_not_reach_the_separation():
    a, b = Deformable(scenes.box()), Rigid(scenes.box(), translation(0.9, 0.0, 0.0))
    found, other = distance(a, b), distance(a, b)
    expected = found.separation
    a.update(a.vertices + 7.0)
    b.pose = translation(0.0, 0.0, 5.0)
    np.testing.assert_array_equal(other.separation, expected)
    for copied in (pickle.loads(pickle.dumps(other)), copy.deepcopy(other)):
        np.testing.assert_array_equal(copied.separation, expected)
        assert copied.distance == other.distance
    with pytest.raises(AttributeError):
        found.separation = np.zeros(3)
    with pytest.raises(ValueError, match="read-only"):
        found.separation[0] = 1.0


@pytest.mark.large
@pytest.mark.parametrize("exponent", [-1000, -700, -560, -540, -450, -398, -300])
def test_distances_at_any_scale_are_those_of_the_unit_scale(exponent):
    """Powers of two round nothing: separate bodies are never at distance 0, however small they are."""
    one = [scenes.icosphere(0), scenes.icosphere(0, radius=0.3)]
    small = [Mesh(np.ldexp(mesh.vertices, exponent), mesh.faces) for mesh in one]
    for offset in (0.0, 1.0, 2.5):
        expected = distance(Rigid(one[0]), Rigid(one[1], translation(offset, 0, 0)))
        found = distance(Rigid(small[0]), Rigid(small[1], translation(np.ldexp(offset, exponent), 0, 0)))
        # where the small bodies are measured as copies moved into the world, branches may differ, not what is promised
        assert np.ldexp(found.distance, -exponent) == pytest.approx(
            expected.distance, rel=1e-12 if offset > 2 else 2 * PART
        )
        hits = collide(Rigid(small[0]), Rigid(small[1], translation(np.ldexp(offset, exponent), 0, 0)))
        assert bool(hits) == (offset < 2.0)
        np.testing.assert_allclose(np.ldexp(hits.depth, -exponent), -expected.distance, rtol=2 * PART)
