import importlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abut import Deformable, Mesh, Rigid, collide, distance, scenes
from abut.core import jit
from conftest import SLOW, SOAK, ends
from discrete.situations import (
    EXACT_ROTATIONS,
    SITUATIONS,
    Situation,
    ball,
    deformable,
    four_combinations,
    random_pose,
    rigid_pair,
    situation,
    soup,
    translation,
)
from oracles.bodies import (
    distances,
    distances_to_surface,
    is_on_triangle,
    meeting_pairs,
    sampled_depth,
    solid_angles,
)

SIZE = 8 if jit.INTERPRETED else 24
ROUNDING = 1e-12  # of a distance, relative to it and to the coordinates
PART = 5e-3  # a depth is found to within this part of itself


costly = pytest.mark.skipif(jit.INTERPRETED, reason="large triangles are split thousands of times")


def brute_gap(a, b):
    return distances(a.vertices, a.mesh.faces, b.vertices, b.mesh.faces).min()


def extent(*bodies):
    return max(np.abs(body.vertices).max() for body in bodies)


def check_witnesses(found, a, b):
    """The two points lie on the two faces, at that distance."""
    tolerance = ROUNDING * extent(a, b)
    for point, face, body in ((found.point_a, found.face_a, a), (found.point_b, found.face_b, b)):
        assert is_on_triangle(point, body.vertices[body.mesh.faces[face]], tolerance)
    size = float(np.linalg.norm((found.point_a - found.point_b) / tolerance)) * tolerance
    assert size == pytest.approx(abs(found.distance), rel=1e-9, abs=2 * tolerance)


def check_gap(a, b):
    found, expected = distance(a, b), brute_gap(a, b)
    assert found.distance == pytest.approx(expected, rel=ROUNDING, abs=0.0)
    check_witnesses(found, a, b)
    assert distance(b, a).distance == pytest.approx(expected, rel=ROUNDING, abs=0.0)
    return expected


def apart(kind, seed, size):
    """A configuration, b carried off until its box is beyond that of a."""
    s = situation(kind, seed, size)
    a, b = rigid_pair(s)
    rng = np.random.default_rng(seed)
    axis = rng.integers(3)
    shift = np.zeros(3)
    reach = a.vertices[:, axis].max() - b.vertices[:, axis].min()
    shift[axis] = reach + rng.choice([0.01, 0.3, 5.0]) * max(np.ptp(a.vertices), np.ptp(b.vertices))
    return s._replace(pose_b=translation(*shift) @ s.pose_b)


@pytest.mark.parametrize("kind", SITUATIONS)
def test_the_gap_is_that_of_brute_force(kind):
    for a, b in four_combinations(apart(kind, 3, SIZE))[:: 3 if SLOW else 1]:
        check_gap(a, b)


@pytest.mark.large
def test_the_gap_is_that_of_brute_force_in_many_configurations():
    for case in range(384 if SOAK else 64):
        s = apart(list(SITUATIONS)[case % len(SITUATIONS)], 40 + case, 16 + case // 2)
        check_gap(*four_combinations(s)[case // 4 % 4])


@pytest.mark.large
def test_the_gap_of_bodies_that_interlock_without_touching():
    ring = scenes.torus(1.0, 0.3, *((6, 3) if jit.INTERPRETED else (8, 5)))
    turn = np.array([[1.0, 0, 0, 1.0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
    for a, b in four_combinations(Situation(ring, np.eye(4), ring, turn))[:: 3 if SLOW else 1]:
        assert check_gap(a, b) > 0.05


def test_the_gap_of_surfaces_that_are_near_everywhere(monkeypatch):
    """More pairs of boxes are equally near than the search keeps: it starts anew."""
    if jit.INTERPRETED:
        monkeypatch.setattr(importlib.import_module("abut.discrete.measure.surface_distance"), "HEAP", 12)
    side = 8 if SLOW else 70
    lower, upper = scenes.cloth(side, side), scenes.cloth(side, side)
    lift = np.random.default_rng(0).uniform(0.0, 1e-4, len(upper.vertices)).reshape(-1, 1) * upper.face_normals[0]
    apart = Mesh(upper.vertices + lift + 0.5 * upper.face_normals[0], upper.faces)
    a, b = Rigid(lower), Rigid(apart)
    found = distance(a, b)
    assert found.distance == pytest.approx(0.5 + np.linalg.norm(lift, axis=1).min(), rel=1e-12)
    check_witnesses(found, a, b)


def test_the_gap_of_soups_whose_boxes_overlap():
    rng = np.random.default_rng(7)
    found = 0
    for seed in range(8 if SLOW else (400 if SOAK else 60)):
        sizes = rng.integers(1, 4 if SLOW else 30, 2)
        a = Rigid(soup(rng, int(sizes[0]), 0.5, 0.03), random_pose(rng, 0.3))
        b = Rigid(soup(rng, int(sizes[1]), 0.5, 0.03), random_pose(rng, 0.3))
        if not meeting_pairs(a.vertices, a.mesh.faces, b.vertices, b.mesh.faces):
            check_gap(*((a, b), (deformable(a), b), (a, deformable(b)))[seed % 3])
            found += 1
    assert found > 4


# interpreted: squares in float32 that overflow are cut off, or bound nothing
@pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered:RuntimeWarning")
@pytest.mark.parametrize("ratio", ends([1e3, 1e6, 1e9, 1e10, 1e16, 1e20, 1e28]))
def test_the_gap_of_a_small_body_and_a_large_one(ratio):
    """In the small one's units the large one is far beyond the squares and fourth powers that float32 can hold."""
    large = scenes.icosphere(0 if SLOW else 1, radius=ratio, center=(3 * ratio, 0, 0))
    for a, b in four_combinations(Situation(large, np.eye(4), scenes.icosphere(0), np.eye(4)))[:: 3 if SLOW else 1]:
        found = distance(a, b)
        assert found.distance == pytest.approx(brute_gap(a, b), rel=ROUNDING)
        assert distance(b, a).distance == pytest.approx(found.distance, rel=ROUNDING)


@pytest.mark.parametrize("scale", ends([1e-120, 1e-60, 1e-30, 1e60]))
def test_any_scale(scale):
    """All distances grow with the bodies."""
    one = [scenes.icosphere(0), scenes.icosphere(0, radius=0.3)]
    small = [Mesh(mesh.vertices * scale, mesh.faces) for mesh in one]
    for offset in (0.0, 1.2, 2.5):
        expected = distance(Rigid(one[0]), Rigid(one[1], translation(offset, 0, 0))).distance
        found = distance(Rigid(small[0]), Rigid(small[1], translation(scale * offset, 0, 0))).distance
        assert found == pytest.approx(expected * scale, rel=2 * PART)


def test_a_body_too_small_for_squares_lies_in_another():
    """Lengths below 10⁻¹⁵⁰ count as zero, but nothing breaks."""
    outer, inner = scenes.icosphere(0, radius=1e-170), scenes.icosphere(0, radius=1e-171)
    found = distance(Rigid(outer), Rigid(inner))
    assert -1e-170 <= found.distance <= 0.0


@given(st.integers(0, 10**6), st.integers(0, 23), st.tuples(*[st.integers(-8, 8)] * 3))
def test_a_motion_that_rounds_nothing_changes_no_distance(seed, rotation, offset):
    rng = np.random.default_rng(seed)
    meshes = [soup(rng, int(n), 0.3, 0.2) for n in rng.integers(1, 8, 2)]
    meshes = [Mesh(np.round(64 * mesh.vertices) / 64, mesh.faces) for mesh in meshes]
    apart, motion = translation(*rng.integers(-2, 3, 3)), translation(*offset)
    motion[:3, :3] = EXACT_ROTATIONS[rotation]
    still = distance(Rigid(meshes[0]), Rigid(meshes[1], apart))
    moved = distance(Rigid(meshes[0], motion), Rigid(meshes[1], motion @ apart))
    assert moved.distance == pytest.approx(still.distance, rel=ROUNDING, abs=ROUNDING)
    back = distance(Rigid(meshes[1], apart), Rigid(meshes[0]))
    assert back.distance == pytest.approx(still.distance, rel=ROUNDING, abs=ROUNDING)


def test_a_rounded_motion_changes_distances_by_rounding_only():
    rng = np.random.default_rng(9)
    for offset in (1.9, 2.5):
        a, b = scenes.icosphere(0), scenes.icosphere(0)
        pose, motion = translation(offset, 0.1, 0.2), random_pose(rng, 2.0)
        still, moved = distance(Rigid(a), Rigid(b, pose)), distance(Rigid(a, motion), Rigid(b, motion @ pose))
        assert moved.distance == pytest.approx(still.distance, rel=2 * PART)
        if offset > 2:
            assert moved.distance == pytest.approx(still.distance, rel=1e-12)


# ---- overlapping


@pytest.mark.parametrize("subdivisions", [0] if SLOW else [1, 2, pytest.param(4, marks=pytest.mark.large)])
def test_two_balls_that_overlap_by_a_twentieth(subdivisions):
    mesh = scenes.icosphere(subdivisions)
    sagitta = 1 - np.abs(np.einsum("ij,ij->i", mesh.vertices[mesh.faces[:, 0]], mesh.face_normals)).min()
    rng = np.random.default_rng(2)
    for _ in range(1 if SLOW else 5):
        direction = random_pose(rng)[:3, 0]
        a, b = Rigid(mesh), Rigid(mesh, translation(*(direction * 1.95)))
        if not collide(a, b):
            continue
        found = distance(a, b)
        assert -0.05 - 1e-9 <= found.distance <= -0.05 * (1 - PART) + 2 * sagitta
        assert distance(b, a).distance == pytest.approx(found.distance, rel=2 * PART)
        check_witnesses(found, a, b)
    along = mesh.vertices[0]  # vertex to vertex: the width of the overlap to the last digits
    for pair in four_combinations(Situation(mesh, np.eye(4), mesh, translation(*(along * 1.95))))[:: 3 if SLOW else 1]:
        found = distance(*pair)
        assert -0.05 - 1e-9 <= found.distance < -0.03


@pytest.mark.large
def test_a_ball_inside_a_ball():
    inner, outer = scenes.icosphere(0, radius=0.3), scenes.icosphere(0 if jit.INTERPRETED else 1)
    offset = (0.2, 0.1, 0.0)
    for a, b in four_combinations(Situation(inner, translation(*offset), outer, np.eye(4)))[:: 3 if SLOW else 1]:
        found = distance(a, b)
        points = a.vertices[a.mesh.faces]
        expected = sampled_depth(points, b.vertices[b.mesh.faces], 10)
        assert found.distance == pytest.approx(-expected, rel=2 * PART)
        check_witnesses(found, a, b)
        assert distance(b, a).distance == pytest.approx(found.distance, rel=2 * PART)


def is_deepest(found, a, b):
    """What the two points claim: the deeper one is inside the other body, the other is the nearest point of its surface."""
    triangles = [body.vertices[body.mesh.faces] for body in (a, b)]
    depths = [
        distances_to_surface(p[np.newaxis], other)[0] * (abs(solid_angles(p[np.newaxis], other)[0]) > 0.5)
        for p, other in ((found.point_a, triangles[1]), (found.point_b, triangles[0]))
    ]
    return max(depths) == pytest.approx(-found.distance, rel=1e-6)


def depth_of_boxes(low_a, high_a, low_b, high_b):
    """The depth of the deepest point of the sides of one aligned box in another: along each axis its best is independent."""
    deepest = 0.0
    for axis in range(3):
        for side in (low_a[axis], high_a[axis]):
            first, last = np.maximum(low_a, low_b), np.minimum(high_a, high_b)
            first[axis] = last[axis] = side
            if (first > last).any() or not low_b[axis] <= side <= high_b[axis]:
                continue
            best = np.clip((low_b + high_b) / 2, first, last)
            deepest = max(deepest, np.minimum(best - low_b, high_b - best).min())
    return deepest


@costly
@pytest.mark.parametrize("seed", range(1 if SLOW else 6))
def test_crossing_rods_are_half_a_rod_deep(seed):
    """No vertex of one is inside the other; the depth is that of the deepest point of one surface in the other."""
    rng = np.random.default_rng(seed)
    widths = rng.uniform(0.5, 1.5, (2, 2))
    a = Rigid(scenes.box((6.0, *widths[0])))
    b = Rigid(scenes.box((widths[1][0], 6.0, widths[1][1])), translation(*rng.uniform(-0.2, 0.2, 3)))
    assert collide(a, b)
    triangles = [body.vertices[body.mesh.faces] for body in (a, b)]
    assert not (np.abs(solid_angles(a.vertices, triangles[1])) > 0.5).any()
    assert not (np.abs(solid_angles(b.vertices, triangles[0])) > 0.5).any()
    bounds = [(body.vertices.min(axis=0), body.vertices.max(axis=0)) for body in (a, b)]
    expected = max(depth_of_boxes(*bounds[0], *bounds[1]), depth_of_boxes(*bounds[1], *bounds[0]))
    splits = 30 if SLOW else 150
    sampled = max(sampled_depth(*triangles, splits), sampled_depth(*triangles[::-1], splits))
    assert expected - 6.0 / splits <= sampled <= expected * (1 + 1e-12)  # the two oracles agree
    for pair in [(a, b)] if SLOW else [(a, b), (deformable(a), b), (deformable(a), deformable(b))]:
        found = distance(*pair)
        assert -expected * (1 + 1e-9) <= found.distance <= -expected * (1 - PART)
        assert is_deepest(found, a, b)
        assert distance(*pair[::-1]).distance == pytest.approx(found.distance, rel=2 * PART)


@pytest.mark.large
def test_depths_are_those_of_dense_samples():
    rng = np.random.default_rng(21)
    for _ in range(12):
        a, b = Rigid(ball(rng, 60), random_pose(rng)), Rigid(ball(rng, 60), random_pose(rng, 0.6))
        if not collide(a, b):
            continue
        triangles = [body.vertices[body.mesh.faces] for body in (a, b)]
        expected = max(sampled_depth(*triangles, 16), sampled_depth(*triangles[::-1], 16))
        found = distance(a, b)
        assert -expected * 1.03 - 1e-3 <= found.distance <= -expected * (1 - PART)
        assert is_deepest(found, a, b)
        check_witnesses(found, a, b)


@costly
@pytest.mark.parametrize("axis", range(3))
def test_boxes_face_to_face_are_at_distance_zero(axis):
    offset = np.zeros(3)
    offset[axis] = 1.0
    offset[axis - 1] = 0.25
    for a, b in [
        (Rigid(scenes.box()), Rigid(scenes.box(), translation(*offset))),
        (Rigid(scenes.box()), Rigid(scenes.box(center=offset))),
        (Deformable(scenes.box()), Deformable(scenes.box(center=offset))),
    ]:
        found = distance(a, b)
        assert found.distance == 0.0
        check_witnesses(found, a, b)
        np.testing.assert_array_equal(collide(a, b).depth, 0.0)


@costly
def test_touching_in_a_vertex_or_an_edge_is_distance_zero():
    octahedron = Mesh(
        np.concatenate((np.eye(3), -np.eye(3))),
        [(0, 1, 2), (1, 3, 2), (3, 4, 2), (4, 0, 2), (1, 0, 5), (3, 1, 5), (4, 3, 5), (0, 4, 5)],
    )
    for offset in ((2.0, 0, 0), (0, 0, -2.0), (1.0, 1, 0)):
        a, b = Rigid(octahedron), Rigid(octahedron, translation(*offset))
        found = distance(a, b)
        assert found.distance == 0.0
        check_witnesses(found, a, b)


def test_open_surfaces_that_cross_are_at_distance_zero():
    sheet = scenes.cloth(2, 2)
    turn = np.array([[1.0, 0, 0, 0.1], [0, 0, -1, 0.1], [0, 1, 0, 0.1], [0, 0, 0, 1]])
    for a, b in four_combinations(Situation(sheet, np.eye(4), sheet, turn)):
        found = distance(a, b)
        assert found.distance == 0.0
        np.testing.assert_array_equal(found.point_a, found.point_b)
        check_witnesses(found, a, b)


def test_an_open_surface_inside_a_closed_one():
    sheet, outer = scenes.cloth(1, 1, size=0.4), scenes.icosphere(1)
    a, b = Rigid(sheet), Rigid(outer)
    expected = sampled_depth(a.vertices[sheet.faces], b.vertices[outer.faces], 20)
    assert distance(a, b).distance == pytest.approx(-expected, rel=2 * PART)


@costly
def test_copies_at_the_same_place_are_at_distance_zero():
    """Every point of either lies on the other's surface: nothing is inside."""
    a, b = Rigid(scenes.icosphere(0)), Rigid(scenes.icosphere(0))
    assert distance(a, b).distance == 0.0


@pytest.mark.large
def test_the_depth_of_contacts_is_minus_the_distance():
    for offset in ((1.5, 0.2, 0.1), (0.5, 0.5, 0.5))[: 1 if SLOW else 2]:
        a, b = Rigid(scenes.icosphere(0)), Rigid(scenes.box((1.5, 1.5, 1.5)), translation(*offset))
        hits = collide(a, b)
        assert len(hits) > 0
        np.testing.assert_array_equal(hits.depth, -distance(a, b).distance)


def test_the_result_is_read_only_and_plain():
    found = distance(Rigid(scenes.box()), Rigid(scenes.box(center=(3.0, 0, 0))))
    assert found.distance == 2.0
    assert type(found.distance) is float
    assert type(found.face_a) is type(found.face_b) is int
    assert found.point_a.shape == found.point_b.shape == (3,)
    with pytest.raises(ValueError, match="read-only"):
        found.point_a[0] = 1.0
    with pytest.raises(AttributeError):
        found.distance = 1.0
