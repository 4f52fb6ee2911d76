import numpy as np
import pytest

import abut
from abut import Deformable, InsideRule, InvalidInput, Mesh, Rigid, scenes
from abut.core import jit
from abut.discrete.points.nearest_face import CHUNK
from conftest import SLOW, SOAK
from discrete.situations import TREE_SIZES, ball, deformable, exact_pose, random_pose, rubble, sheet, soup, translation
from oracles import bodies as oracle
from oracles.lines import squared_distances, winding_sums

COUNT = 3 if jit.INTERPRETED else 6
MAKERS = {"soup": soup, "rubble": rubble, "sheet": sheet, "ball": ball}


def triangles_of(body):
    return body.vertices[body.mesh.faces]


def aimed(rng, body, count):
    """Points on vertices, edges and faces, near them, about the body, and far away."""
    triangles = triangles_of(body)[rng.integers(0, len(body.mesh.faces), 4 * count)].reshape(4, count, 3, 3)
    weights = rng.dirichlet((1, 1, 1), count)
    on_faces = np.einsum("nk,nkd->nd", weights, triangles[2])
    middle, size = body.vertices.mean(axis=0), np.ptp(body.vertices, axis=0).max() + 1e-3
    return np.concatenate(
        (
            triangles[0][:, 0],
            0.5 * triangles[1][:, 0] + 0.5 * triangles[1][:, 1],
            on_faces,
            np.nextafter(triangles[3][:, 2], 9.0),
            middle + size * rng.normal(size=(count, 3)),
            middle + 1e3 * size * rng.normal(size=(1, 3)),
        )
    )


def check_closest(body, points, found):
    """Against exact distances of all faces: the distance, the face, the point on it and its weights."""
    triangles = triangles_of(body)
    scale = np.abs(triangles).max() + np.abs(points).max()
    for i, p in enumerate(points):
        squares = squared_distances(p, triangles)
        best = float(min(squares)) ** 0.5
        assert abs(found.distance[i] - best) <= 1e-13 * scale
        assert float(squares[found.face[i]]) ** 0.5 <= best + 1e-13 * scale
        # Of faces that share the nearest vertex or edge, the smallest.
        ties = [f for f, square in enumerate(squares) if square == min(squares)]
        if len(ties) > 1 and (found.barycentric[i] == 0.0).any():
            assert found.face[i] <= min(ties)
        w = found.barycentric[i]
        assert (w >= 0.0).all()
        assert abs(w.sum() - 1.0) <= 1e-12
        np.testing.assert_allclose(w @ triangles[found.face[i]], found.point[i], atol=1e-13 * scale)
        assert abs(np.linalg.norm(found.point[i] - p) - best) <= 1e-12 * scale


def same(a, b):
    for name in ("face", "distance", "point", "barycentric"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


@pytest.mark.parametrize("kind", MAKERS)
def test_closest_points_are_those_of_brute_force(kind):
    rng = np.random.default_rng(list(MAKERS).index(kind))
    body = Rigid(MAKERS[kind](rng, 9 if SLOW else 30), random_pose(rng, 1.0))
    points = aimed(rng, body, COUNT)
    found = abut.closest_points(body, points)
    check_closest(body, points, found)
    same(found, abut.closest_points(deformable(body), points))


@pytest.mark.large
def test_every_size_of_tree():
    rng = np.random.default_rng(7)
    for count in (n for n in TREE_SIZES if n < 200 or SOAK):
        body = Rigid(soup(rng, count), random_pose(rng, 0.5))
        points = aimed(rng, body, 1)
        check_closest(body, points, abut.closest_points(body, points))


@pytest.mark.large
@pytest.mark.parametrize("count", [1, 63, 64, 65, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 5])
def test_the_order_of_the_points_does_not_matter(count):
    rng = np.random.default_rng(count)
    body = Rigid(ball(rng, 300), random_pose(rng, 1.0))
    points = aimed(rng, body, -(-count // 5))[:count]
    found, turn = abut.closest_points(body, points), rng.permutation(count)
    same(abut.closest_points(body, points[turn]), abut.ClosestPoints(*(getattr(found, n)[turn] for n in FIELDS)))
    for i in rng.integers(0, count, 5):  # without a seed
        assert abut.closest_points(body, points[i : i + 1]).face[0] == found.face[i]


FIELDS = ("face", "distance", "point", "barycentric")


def test_the_smallest_face_wins_on_vertices_and_edges():
    box = scenes.box((2.0, 2.0, 2.0))
    corners = 2.0 * box.vertices  # nearest to a vertex, in all its faces
    edges = np.array([[3.0, 3.0, 0.3], [-2.0, 0.4, 2.0], [0.1, 5.0, -5.0]])
    for body in (Rigid(box), Deformable(box)):
        near = abut.closest_points(body, corners)
        assert near.face.tolist() == [int(np.flatnonzero((box.faces == v).any(axis=1))[0]) for v in range(8)]
        np.testing.assert_array_equal(near.point, box.vertices)
        assert (np.sort(near.barycentric, axis=1) == (0.0, 0.0, 1.0)).all()
        near = abut.closest_points(body, edges)
        for i, p in enumerate(edges):
            squares = squared_distances(p, triangles_of(body))
            assert near.face[i] == squares.index(min(squares))


def test_max_distance_is_a_closed_ball():
    box = Rigid(scenes.box((2.0, 2.0, 2.0)))
    points = np.array([[0.0, 0.0, 3.0], [0.0, 0.0, np.nextafter(3.0, 4.0)], [9.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    near = abut.closest_points(box, points, max_distance=2.0)
    assert (near.face >= 0).tolist() == [True, False, False, True]
    assert near.distance.tolist() == [2.0, np.inf, np.inf, 0.0]
    assert np.isinf(near.point[1:3]).all()
    assert not near.barycentric[1:3].any()
    assert (abut.closest_points(box, points, max_distance=0.0).face >= 0).tolist() == [False, False, False, True]


def test_after_update_and_at_a_new_pose():
    rng = np.random.default_rng(3)
    mesh = ball(rng, 12 if SLOW else 40)
    soft, hard = Deformable(mesh), Rigid(mesh)
    for _ in range(2):
        soft.update(mesh.vertices * rng.uniform(0.3, 3.0, 3) + rng.normal(size=3))
        hard.pose = random_pose(rng, 3.0)
        for body in (soft, hard):
            points = aimed(rng, body, 1)
            check_closest(body, points, abut.closest_points(body, points))
            far = abut.signed_distance(body, points)
            inside = [oracle.winding_number(p, triangles_of(body)) for p in points]
            expected = [0 if w is None else (-1 if w[0] else 1) for w in inside]
            assert np.sign(far.distance).tolist() == expected
            near = abut.closest_points(body, points)
            np.testing.assert_array_equal(np.abs(far.distance)[far.distance != 0], near.distance[far.distance != 0])


@pytest.mark.parametrize("seed", range(2 if SLOW else 4))
def test_signs_on_rounded_balls(seed):
    """Surfaces that fold through themselves, and points whose rays run along edges and in planes of faces."""
    rng = np.random.default_rng(seed)
    mesh = ball(rng, 10 if SLOW else 40)
    mesh = Mesh(2 * np.round(2 * mesh.vertices), mesh.faces)
    body = Rigid(mesh, exact_pose(rng, rng.integers(-2, 3, 3)))
    points = np.concatenate((rng.integers(-5, 6, (COUNT, 3)).astype(float), aimed(rng, body, 2)[:4]))
    far = abut.signed_distance(body, points)
    assert far.rule == InsideRule.WINDING
    for p, distance in zip(points, far.distance, strict=True):
        found = oracle.winding_number(p, triangles_of(body))
        assert np.sign(distance) == (0 if found is None else (-1 if found[0] else 1))


def test_the_rule_says_what_decided():
    box = scenes.box((2.0, 2.0, 2.0))
    points = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [3.0, 0.0, 0.0]]
    flipped = box.faces.copy()
    flipped[[1, 4]] = flipped[[1, 4], ::-1]
    for faces, rule in ((box.faces, "WINDING"), (flipped, "PARITY"), (box.faces[1:], "HALF")):
        far = abut.signed_distance(Mesh(box.vertices, faces), points)
        assert far.rule is InsideRule[rule]
        assert far.distance.tolist() == [-1.0, 0.0, 2.0]
    three = np.concatenate((box.faces, box.faces[:1]))  # a face twice: not closed, not manifold
    assert abut.signed_distance(Mesh(box.vertices, three), points).rule is InsideRule.HALF


def test_only_points_of_the_surface_are_at_zero():
    body = Rigid(Mesh([[0, 0, 0], [3, 0, 0], [0, 7, 0], [0.1, 0.2, 1]], [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)]))
    points = np.array([[0.3, 0.7, 0.0], [0.3, 0.7, 5e-324], [0.3, 0.7, -5e-324], [0.3, 0.7, 1e-200]])
    far = abut.signed_distance(body, points).distance
    assert np.sign(far).tolist() == [0, -1, 1, -1]


# ---- winding numbers


@pytest.mark.parametrize("kind", MAKERS)
def test_winding_numbers_of_anything_within_their_bound(kind):
    rng = np.random.default_rng(20 + list(MAKERS).index(kind))
    body = Rigid(MAKERS[kind](rng, 9 if SLOW else 25), random_pose(rng, 1.0))
    points = aimed(rng, body, COUNT)
    found = abut.winding_number(body, points)
    squares = np.array([float(min(squared_distances(p, triangles_of(body)))) for p in points])
    assert found.on_surface.tolist() == (squares == 0).tolist()
    assert np.isinf(found.bound[squares == 0]).all()
    clear = squares > 1e-12
    expected = winding_sums(points[clear], triangles_of(body))
    assert (np.abs(found.value[clear] - expected) <= found.bound[clear] + 1e-14).all()
    assert (found.bound[clear] < 1e-6).all()


def test_closed_oriented_surfaces_have_whole_numbers():
    rng = np.random.default_rng(4)
    mesh = ball(rng, 12 if SLOW else 60)
    twice = Mesh(
        np.concatenate((mesh.vertices, 0.5 * mesh.vertices)),
        np.concatenate((mesh.faces, mesh.faces + len(mesh.vertices))),
    )
    points = np.concatenate((0.1 * rng.normal(size=(COUNT, 3)), 2.0 + rng.random((COUNT, 3))))
    for solid, inside in ((mesh, 1.0), (twice, 2.0), (Mesh(mesh.vertices, mesh.faces[:, ::-1]), -1.0)):
        found = abut.winding_number(solid, points)
        assert found.value.tolist() == [inside] * COUNT + [0.0] * COUNT
        assert not found.bound.any()


def test_a_point_crosses_the_curtain_of_an_open_surface_unseen():
    """Points on the curtain behind a boundary edge, and on the lines behind its vertices."""
    square = Mesh([[0, -1, -1], [0, 1, -1], [0, 1, 1], [0, -1, 1]], [(0, 1, 2), (0, 2, 3)])
    points = np.array([[x, y, z] for x in (-3.0, -1.0, 1.0, 3.0) for y in (-2.0, -1, 0, 1) for z in (-1.0, 0, 1, 2)])
    points = points[~((points[:, 0] == 0) & (np.abs(points[:, 1:]).max(axis=1) <= 1))]
    found = abut.winding_number(square, points)
    assert (np.abs(found.value - winding_sums(points, square.vertices[square.faces])) <= found.bound + 1e-15).all()
    assert (found.bound < 1e-14).all()
    flat = abut.winding_number(
        square, [[0.0, 3.0, 0.0], [0.0, 1.0, 3.0]]
    )  # in the plane, beside it: seen from the edge
    np.testing.assert_allclose(flat.value, 0.0, atol=1e-15)


@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**-300, 1.0, 2.0**200])
def test_scales(scale):
    box = scenes.box((2.0 * scale, 2.0 * scale, 4.0 * scale))
    points = scale * np.array([[0.0, 0.0, 0.25], [1.0, 0.5, 0.5], [0.0, 3.0, 0.0], [2.0, 2.0, 3.0]])
    for body in (Rigid(box), Deformable(box)):
        far = abut.signed_distance(body, points)
        np.testing.assert_allclose(far.distance / scale, [-1.0, 0.0, 2.0, 3.0**0.5], rtol=1e-14)
        bowl = abut.winding_number(Mesh(body.vertices, box.faces[2:]), points[:1])
        assert 0.5 < bowl.value[0] < 1.0


@pytest.mark.skipif(jit.INTERPRETED, reason="NumPy's numbers warn where compiled ones overflow")
@pytest.mark.parametrize("scale", [2.0**-1000, 1.0, 2.0**200])
def test_points_beyond_all_measure(scale):
    box = scenes.box((2.0 * scale,) * 3)
    points = [[1e75, 0, 0], [-1e75, 1e75, 1e75], [0, 0, 1e70]]
    np.testing.assert_allclose(abut.closest_points(box, points).distance, [1e75, 3**0.5 * 1e75, 1e70], rtol=1e-2)
    assert not abut.winding_number(box, points).value.any()
    assert [len(row) for row in abut.faces_within(box, points, 1.1e70)] == [0, 0, 12]


def test_far_from_the_origin_and_far_from_the_body():
    rng = np.random.default_rng(5)
    mesh = ball(rng, 10 if SLOW else 40)
    for offset in (1e6, 1e12):
        body = Rigid(mesh, random_pose(rng) + translation(offset, -offset, offset) - np.eye(4))
        points = aimed(rng, body, 2)
        check_closest(body, points, abut.closest_points(body, points))
    body = Rigid(mesh)
    for far in (1e4, 1e7, 1e12):
        points = far * rng.normal(size=(2, 3))
        check_closest(body, points, abut.closest_points(body, points))


# ---- faces within a radius


@pytest.mark.parametrize("kind", MAKERS)
def test_faces_within_a_radius_are_those_of_brute_force(kind):
    rng = np.random.default_rng(40 + list(MAKERS).index(kind))
    body = Rigid(MAKERS[kind](rng, 9 if SLOW else 30), random_pose(rng, 1.0))
    points = aimed(rng, body, COUNT)
    radii = rng.choice((0.0, 0.1, 0.5, 1.0, 3.0), len(points))
    near = abut.faces_within(body, points, radii)
    assert len(near) == len(points)
    for i, p in enumerate(points):
        far = np.sqrt(np.array(squared_distances(p, triangles_of(body)), float))
        listed = near[i]
        assert (np.diff(listed) > 0).all()
        assert (
            set(np.flatnonzero(far < radii[i] - 1e-12))
            <= set(listed.tolist())
            <= set(np.flatnonzero(far <= radii[i] + 1e-12))
        )
        np.testing.assert_allclose(near.distance[near.start[i] : near.start[i + 1]], far[listed], atol=1e-12)
    other = abut.faces_within(deformable(body), points, radii)
    np.testing.assert_array_equal(near.face, other.face)
    np.testing.assert_array_equal(near.distance, other.distance)


def test_a_face_at_exactly_the_radius_is_within_it():
    near = abut.faces_within(scenes.box((2.0, 2.0, 2.0)), [[0.0, 0.0, 3.0]] * 2, [2.0, np.nextafter(2.0, 0.0)])
    assert [len(row) for row in near] == [2, 0]


# ---- arguments


def test_no_points():
    box = scenes.box()
    assert (
        len(abut.closest_points(box, []))
        == len(abut.signed_distance(box, []))
        == len(abut.winding_number(box, []))
        == 0
    )
    assert len(abut.faces_within(box, [], 1.0)) == 0


def test_bad_arguments():
    box = scenes.box()
    with pytest.raises(InvalidInput, match="max_distance"):
        abut.closest_points(box, [[0.0, 0, 0]], max_distance=-1.0)
    with pytest.raises(InvalidInput, match=r"radius\[1\]"):
        abut.faces_within(box, np.zeros((2, 3)), [1.0, -1.0])
    with pytest.raises(InvalidInput, match="radius"):
        abut.faces_within(box, np.zeros((2, 3)), [1.0, 1.0, 1.0])
    with pytest.raises(IndexError):
        abut.faces_within(box, np.zeros((2, 3)), 1.0)[2]


def test_results_show_themselves():
    box = scenes.box((2.0, 2.0, 2.0))
    points = [[0.0, 0.0, 0.0], [0.0, 0.0, 5.0], [1.0, 0.0, 0.0]]
    assert (
        repr(abut.closest_points(box, points, max_distance=2.0)) == "ClosestPoints(3 points, 2 within reach of a face)"
    )
    assert repr(abut.signed_distance(box, points)) == "SignedDistances(3 points, 1 inside, rule WINDING)"
    assert repr(abut.winding_number(box, points)) == "WindingNumbers(3 points, 1 on it, within 0.0e+00)"
    near = abut.faces_within(box, points, 1.0)
    assert repr(near) == f"NearFaces(3 points, {len(near.face)} faces)"
    for result in (
        abut.closest_points(box, points),
        abut.signed_distance(box, points),
        abut.winding_number(box, points),
        near,
    ):
        assert "<table>" in result._repr_html_()
        with pytest.raises(AttributeError):
            result.distance = None
