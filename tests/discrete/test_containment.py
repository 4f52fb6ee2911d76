import numpy as np
import pytest

from abut import Deformable, InvalidInput, Mesh, Rigid, contains, scenes
from abut.core import jit
from conftest import SLOW
from discrete.situations import ball, deformable, exact_pose, random_pose, translation
from oracles.bodies import is_inside, solid_angles

COUNT = 4 if jit.INTERPRETED else 30


def check(body, points):
    """Against the exact oracle, at every point."""
    triangles = body.vertices[body.mesh.faces]
    expected = [is_inside(p, triangles, body.mesh.is_oriented) for p in np.asarray(points)]
    found = contains(body, points)
    assert found.dtype == np.bool_
    np.testing.assert_array_equal(found, expected)
    return found


def features(mesh_vertices, faces):
    """Points exactly on the surface where coordinates are even integers: vertices, middles of edges; and beside it."""
    corners = mesh_vertices[faces]
    middles = np.concatenate([(corners[:, i] + corners[:, i - 1]) / 2 for i in range(3)])
    return np.concatenate((mesh_vertices[np.unique(faces)], middles))


def grid_points(low, high, step=1.0):
    axis = np.arange(low, high + step, step)
    return np.stack(np.meshgrid(axis, axis, axis), axis=-1).reshape(-1, 3)


def octahedron(size=4.0):
    return Mesh(
        size * np.concatenate((np.eye(3), -np.eye(3))),
        [(0, 1, 2), (1, 3, 2), (3, 4, 2), (4, 0, 2), (1, 0, 5), (3, 1, 5), (4, 3, 5), (0, 4, 5)],
    )


def cube(size=4.0):
    return scenes.box((2 * size,) * 3)


@pytest.mark.parametrize("mesh", [octahedron(), cube(2.0)], ids=["octahedron", "cube"])
def test_a_whole_grid_of_points_whose_rays_pass_vertices_and_edges(mesh):
    points = grid_points(-4, 4, 2.0 if SLOW else 1.0)
    for body in (Rigid(mesh), Deformable(mesh), Rigid(mesh, exact_pose(np.random.default_rng(1)))):
        found = contains(body, points)
        if len(mesh.faces) == 8:
            expected = np.abs(points).sum(axis=1) <= 4
        else:
            expected = np.abs(points).max(axis=1) <= 2
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("seed", range(2 if SLOW else 6))
def test_rounded_balls_at_points_of_the_same_grid(seed):
    """Surfaces that fold through themselves, with rays along edges and in planes of faces."""
    rng = np.random.default_rng(seed)
    mesh = ball(rng, 12 if SLOW else 40)
    mesh = Mesh(2 * np.round(2 * mesh.vertices), mesh.faces)
    body = Rigid(mesh, exact_pose(rng, rng.integers(-2, 3, 3)))
    points = np.concatenate((rng.integers(-5, 6, (COUNT, 3)), features(body.vertices, mesh.faces)[: 3 * COUNT]))
    found = check(body, points.astype(float))
    assert found[COUNT:].all()


@pytest.mark.parametrize("seed", range(2 if SLOW else 5))
def test_random_points_and_poses(seed):
    rng = np.random.default_rng(seed)
    body = Rigid(ball(rng, 12 if SLOW else 60), random_pose(rng, 2.0))
    middle = body.vertices.mean(axis=0)
    points = middle + rng.normal(size=(COUNT, 3)) * 0.8
    points = np.concatenate((points, body.vertices[:COUNT], np.nextafter(body.vertices[:COUNT], 9.0)))
    check(body, points)
    check(deformable(body), points)
    assert contains(body, body.vertices).all()


@pytest.mark.large
def test_many_points_of_a_large_body():
    rng = np.random.default_rng(3)
    body = Rigid(scenes.bumpy(20_000, seed=5), random_pose(rng, 1.0))
    points = body.vertices.mean(axis=0) + rng.normal(size=(300, 3)) * 0.7
    found = contains(body, points)
    numbers = solid_angles(points, body.vertices[body.mesh.faces])
    np.testing.assert_array_equal(found, np.rint(numbers) != 0)
    assert 50 < found.sum() < 250
    assert contains(body, body.vertices).all()


def test_nested_shells_and_their_orientation():
    inner, outer = octahedron(2.0), octahedron(4.0)
    points = np.array([[0, 0, 0], [2, 0, 0], [3, 0, 0], [4, 0, 0], [5.0, 0, 0], [1, 1, 0], [1, 1, 1]])
    vertices = np.concatenate((outer.vertices, inner.vertices))
    hollow = Rigid(Mesh(vertices, np.concatenate((outer.faces, inner.faces[:, ::-1] + 6))))
    assert check(hollow, points).tolist() == [False, True, True, True, False, True, True]
    twice = Rigid(Mesh(vertices, np.concatenate((outer.faces, inner.faces + 6))))
    assert check(twice, points).tolist() == [True, True, True, True, False, True, True]
    assert check(Rigid(Mesh(outer.vertices, outer.faces[:, ::-1])), points).tolist() == [True] * 4 + [False, True, True]


def test_parity_where_faces_are_not_oriented_alike():
    rng = np.random.default_rng(5)
    mesh = octahedron()
    faces = mesh.faces.copy()
    faces[[1, 4]] = faces[[1, 4], ::-1]
    body = Rigid(Mesh(mesh.vertices, faces))
    assert not body.mesh.is_oriented
    points = grid_points(-4, 4, 2.0)
    np.testing.assert_array_equal(contains(body, points), np.abs(points).sum(axis=1) <= 4)
    check(body, rng.uniform(-4, 4, (COUNT, 3)))
    inner = octahedron(2.0)
    shells = Mesh(np.concatenate((mesh.vertices, inner.vertices)), np.concatenate((faces, inner.faces + 6)))
    assert check(Rigid(shells), [[0.0, 0, 0], [3, 0, 0], [5, 0, 0]]).tolist() == [False, True, False]


def test_faces_without_area_do_not_count_but_hold_their_points():
    mesh = octahedron()
    spike = Mesh(np.concatenate((mesh.vertices, [[9.0, 0, 0]])), np.concatenate((mesh.faces, [(0, 0, 6), (0, 6, 6)])))
    body = Rigid(spike)
    assert check(body, [[7.0, 0, 0], [9, 0, 0], [10, 0, 0], [-5, 0, 0], [-1, 0, 0], [7, 1, 0]]).tolist() == [
        True,
        True,
        False,
        False,
        True,
        False,
    ]


def test_far_and_small_and_large():
    for scale, offset in ((1e-30, 0.0), (1e60, 0.0), (1.0, 1e6), (1e-3, 1e6), (1.0, 1e12)):
        body = Rigid(Mesh(scale * octahedron().vertices, octahedron().faces), translation(offset, -offset, offset))
        points = np.concatenate((body.vertices, (body.vertices[:3] + body.vertices[3:]) / 2))
        assert contains(body, points).all()
        outside = body.vertices + 2 * (body.vertices - body.vertices.mean(axis=0))
        assert not contains(body, outside).any()


@pytest.mark.parametrize("distance", [0.0, 1.0, 1e6, 1e9, 1e11])
def test_vertices_of_a_body_turned_and_far_away_are_on_it(distance):
    """A ray that starts on the outermost vertex meets nothing else: the very beginning of it counts."""
    rng = np.random.default_rng(int(distance))
    body = Rigid(scenes.box((3.999999, 1.0, 2.0)))
    for _ in range(5 if SLOW else 200):
        body.pose = random_pose(rng, distance)
        assert contains(body, body.vertices).all()


def test_points_beyond_all_measure_are_outside():
    assert contains(Rigid(cube()), [[1e75, 0, 0], [-1e75, 1e75, 1e75], [0, 0, 1e40]]).tolist() == [False] * 3


def test_no_points():
    assert contains(Rigid(cube()), []).shape == (0,)


def test_an_open_body_is_refused():
    with pytest.raises(InvalidInput, match="a: is not closed") as caught:
        contains(Rigid(scenes.cloth(2, 2)), [[0.0, 0, 0]])
    assert caught.value.name == "a"


def test_a_mesh_is_taken_for_a_rigid_body():
    mesh = cube()
    assert contains(mesh, [[0.0, 0, 0]]).tolist() == [True]
    assert contains((mesh.vertices, mesh.faces), [[0.0, 9, 0]]).tolist() == [False]
