import importlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abut import Deformable, Mesh, Rigid, Unsupported, collide, scenes
from abut.core import jit
from conftest import SLOW, ends
from discrete.situations import (
    EXACT_ROTATIONS,
    SITUATIONS,
    TREE_SIZES,
    Situation,
    deformable,
    exact_pose,
    four_combinations,
    random_pose,
    rigid_pair,
    rubble,
    situation,
    soup,
    translation,
)
from oracles.bodies import distances, holds, meeting_pairs, meeting_pairs_in_integers, pair_set

collide_module = importlib.import_module(
    "abut.discrete.collide"
)  # the package's attribute of that name is the function

SIZE = 12 if jit.INTERPRETED else (24 if SLOW else 60)
CONFIGURATIONS = 200


def expect(a, b):
    return meeting_pairs(a.vertices, a.mesh.faces, b.vertices, b.mesh.faces)


def expect_inside(a, b):
    if holds(b.vertices, b.mesh.faces, a.vertices, a.mesh.faces):
        return 1
    return 2 if holds(a.vertices, a.mesh.faces, b.vertices, b.mesh.faces) else 0


def check(a, b, expected, inside):
    hits = collide(a, b)
    assert pair_set(hits) == expected
    assert hits.inside.tolist() == [inside]
    assert bool(hits) == bool(expected or inside) == hits.colliding[0]
    first = collide(a, b, first=True)
    assert bool(first) == bool(hits)
    assert len(first) == min(1, len(expected))
    assert set(pair_set(first)) <= set(expected)


def check_situation(s):
    a, b = rigid_pair(s)
    expected = expect(a, b)
    inside = 0 if expected else expect_inside(a, b)
    for pair in four_combinations(s):
        np.testing.assert_array_equal(pair[0].vertices, a.vertices)
        check(*pair, expected, inside)
    back = collide(b, a)
    assert sorted((i, j) for j, i in pair_set(back)) == expected
    assert back.inside[0] == (3 - inside) % 3
    return expected, inside


@pytest.mark.parametrize("kind", SITUATIONS)
def test_pairs_are_those_of_brute_force(kind):
    for seed in range(1 if SLOW else 3):
        check_situation(situation(kind, seed, SIZE))


@pytest.mark.large
def test_pairs_are_those_of_brute_force_in_two_hundred_configurations():
    meeting = held = 0
    for case in range(CONFIGURATIONS):
        kind = list(SITUATIONS)[case % len(SITUATIONS)]
        expected, inside = check_situation(situation(kind, 100 + case // len(SITUATIONS), 30 + case // 2))
        meeting += bool(expected)
        held += inside > 0
    assert meeting > CONFIGURATIONS / 2
    assert held >= 5


@pytest.mark.parametrize("kind", ["closed", "degenerate", "grids", "boxes face to face", "tree sizes", "unequal"])
@pytest.mark.parametrize("seed", [1, 2])
def test_pairs_are_those_of_an_oracle_in_integers(kind, seed):
    s = situation(kind, 50 + seed, min(SIZE, 24))
    a, b = rigid_pair(s)
    expected = meeting_pairs_in_integers(a.vertices, a.mesh.faces, b.vertices, b.mesh.faces)
    for pair in four_combinations(s):
        assert pair_set(collide(*pair)) == expected


@pytest.mark.parametrize("count", [n for n in TREE_SIZES if n <= (20 if SLOW else 600)])
def test_trees_of_every_shape(count):
    rng = np.random.default_rng(count)
    a, b = Rigid(soup(rng, count), random_pose(rng, 0.1)), Rigid(soup(rng, 7), random_pose(rng, 0.1))
    expected = expect(a, b)
    for pair in [(a, b), (deformable(a), b), (a, deformable(b))]:
        assert pair_set(collide(*pair)) == expected
    assert sorted((i, j) for j, i in pair_set(collide(b, a))) == expected


@pytest.mark.large
def test_after_updates_of_a_deformable_body():
    rng = np.random.default_rng(3)
    tool, organ = Rigid(scenes.icosphere(1 - SLOW)), Deformable(scenes.icosphere(1 - SLOW))
    rest = organ.vertices
    counts = []
    for vertices in [
        rest + np.array([1.5, 0, 0]),
        rest + np.array([1e9, 0, 0]),  # far away
        rest * np.array([1e6, 1.0, 1e-6]),  # pulled long and flat
        rng.permutation(rest) + 0.3,  # inside out and through itself
        rest * 0.0 + np.array([0.1, 0.9, 0.2]),  # one point
        rest * 0.2,  # inside the tool
        rest * 1e-20,
        rest,
    ]:
        organ.update(vertices)
        np.testing.assert_array_equal(organ.vertices, vertices)
        expected = expect(tool, organ)
        hits = collide(tool, organ)
        assert pair_set(hits) == expected
        assert sorted((i, j) for j, i in pair_set(collide(organ, tool))) == expected
        fresh = Deformable(Mesh(organ.vertices, organ.mesh.faces))
        assert pair_set(collide(tool, fresh)) == expected
        counts.append(len(expected))
        assert bool(hits) == bool(expected or expect_inside(tool, organ))
    assert counts[0] > 0
    assert counts[1] == 0
    assert counts[2] > 0
    assert counts[-1] > 0


def test_identical_single_triangles_meet():
    triangle = Mesh([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    for a, b in four_combinations(Situation(triangle, np.eye(4), triangle, np.eye(4))):
        assert pair_set(collide(a, b)) == [(0, 0)]
    lifted = translation(0, 0, 5e-324)
    assert pair_set(collide(Rigid(triangle), Rigid(triangle, lifted))) == []


def test_one_vertex_touches_a_face():
    floor = Mesh([[-3.0, -3, 0], [3, -3, 0], [0, 4, 0]], [[0, 1, 2]])
    tip = Mesh([[0.1, 0.2, 0], [0.3, 0.1, 1], [-0.2, 0.4, 1]], [[0, 1, 2]])
    assert pair_set(collide(Rigid(floor), Rigid(tip))) == [(0, 0)]
    assert pair_set(collide(Rigid(floor), Rigid(tip, translation(0, 0, 5e-324)))) == []


@pytest.mark.parametrize("distance", [1e4, 1e8, 1e10, 1e12])
def test_copies_far_away_are_still_exactly_there(distance):
    """World coordinates are rounded more coarsely the farther the body is, up to 10⁻⁴ of its size: verdicts are about those."""
    rng = np.random.default_rng(int(distance))
    mesh = scenes.icosphere(0 if SLOW else 1)
    for k in range(2 if SLOW else 6):
        pose = random_pose(rng, distance)
        offset = translation(*(1.9 * random_pose(rng)[:3, 0]))
        a, b = Rigid(mesh, pose), Rigid(mesh, pose @ offset if k % 2 else pose)
        assert pair_set(collide(a, b)) == expect(a, b)
        assert pair_set(collide(a, deformable(b))) == expect(a, b)
        assert pair_set(collide(deformable(b), a)) == sorted((j, i) for i, j in expect(a, b))


@pytest.mark.parametrize("distance", [1e6, 1e9])
def test_meshes_far_from_their_own_origin_turned_by_a_rounded_rotation(distance):
    rng = np.random.default_rng(int(distance))
    for k in range(2 if SLOW else 8):
        center = distance * rng.normal(size=3)
        pose = random_pose(rng)
        pose[:3, :3] *= 1 + 4e-13  # still a rotation, as far as the check can tell
        a = Rigid(scenes.icosphere(0, center=center), pose)
        b = Deformable(Mesh(a.vertices + np.array([0.0, 0.0, 1.6 * (k % 2)]), a.mesh.faces))
        assert pair_set(collide(a, b)) == expect(a, b)
        assert pair_set(collide(b, a)) == sorted((j, i) for i, j in expect(a, b))


@pytest.mark.large
@pytest.mark.parametrize("ratio", ends([1e6, 1e9, 1e13, 1e15, 1e20, 1e28]))
def test_one_body_is_many_times_the_other(ratio):
    rng = np.random.default_rng(5)
    for _ in range(1 if SLOW else 15):
        corners = ratio * rng.normal(size=(12, 3))
        corners -= rng.dirichlet([1, 1, 1]) @ corners[:3]  # the first large face passes by the origin
        large = Mesh(corners, np.arange(12).reshape(4, 3))
        for a, b in four_combinations(Situation(large, np.eye(4), scenes.icosphere(0), np.eye(4))):
            assert pair_set(collide(a, b)) == expect(a, b)
            assert len(collide(b, a)) == len(expect(a, b))


def test_a_small_leaf_against_a_body_of_empty_lanes():
    """A tree whose packets are mostly unused, beside a body 10³⁰ times as large: unused lanes are never entered."""
    large = Mesh(
        1e30 * np.array([[-1.0, -1, -1], [1, 1, -1], [1, -1, 1], [-1, 1, 1]]), [[0, 1, 2], [0, 2, 3], [0, 3, 1]]
    )
    for a, b in four_combinations(Situation(large, np.eye(4), soup(np.random.default_rng(0), 9), np.eye(4))):
        assert pair_set(collide(a, b)) == expect(a, b)


# ---- one body inside another


def test_sphere_inside_sphere_collides():
    outer, inner = scenes.icosphere(1), scenes.icosphere(0, radius=0.2, center=(0.3, 0.1, 0.0))
    for a, b in four_combinations(Situation(inner, np.eye(4), outer, np.eye(4))):
        hits = collide(a, b)
        assert len(hits) == 0
        assert hits
        assert hits.inside.tolist() == [1]
        assert collide(b, a).inside.tolist() == [2]


def test_an_open_surface_holds_nothing():
    bowl = scenes.icosphere(1)
    bowl = Mesh(bowl.vertices, bowl.faces[1:])
    inner = scenes.icosphere(0, radius=0.2)
    assert not collide(Rigid(bowl), Rigid(inner))
    sheet = scenes.cloth(1, 1, size=0.2)
    assert collide(Rigid(sheet), Rigid(scenes.icosphere(1))).inside.tolist() == [1]


def join(*meshes):
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    return Mesh(
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate([mesh.faces + start for mesh, start in zip(meshes, starts[:-1], strict=True)]),
    )


def test_a_hollow_body_does_not_hold_what_is_in_its_hollow():
    inner = scenes.icosphere(0, radius=0.5)
    hollow = join(scenes.icosphere(0), Mesh(inner.vertices, inner.faces[:, ::-1]))
    small = scenes.icosphere(0, radius=0.05)
    assert not collide(Rigid(small), Rigid(hollow))
    assert collide(Rigid(small, translation(0.6, 0, 0)), Rigid(hollow)).inside.tolist() == [1]


def test_one_piece_inside_is_enough():
    pieces = join(*(scenes.icosphere(0, radius=0.1, center=(x, 0, 0)) for x in (-3.0, 5.0, 0.3)))
    outer = scenes.icosphere(0)
    assert collide(Rigid(pieces), Rigid(outer)).inside.tolist() == [1]
    assert not collide(Rigid(pieces), Rigid(outer, translation(0, 9, 0)))


def test_a_body_turned_inside_out_still_holds():
    mesh = scenes.icosphere(0)
    outer = Mesh(mesh.vertices, mesh.faces[:, ::-1])
    mixed = mesh.faces.copy()
    mixed[3] = mixed[3, ::-1]
    for faces in (outer.faces, mixed):
        assert collide(Rigid(scenes.icosphere(0, radius=0.2)), Rigid(Mesh(mesh.vertices, faces))).inside[0] == 1


def test_an_unused_vertex_far_away_changes_nothing():
    mesh = scenes.icosphere(0)
    stray = Mesh(np.concatenate((mesh.vertices, [[1e12, 0, 0]])), mesh.faces)
    other = Rigid(scenes.icosphere(0, center=(1.5, 0.1, 0.2)))
    assert pair_set(collide(Rigid(stray), other)) == pair_set(collide(Rigid(mesh), other)) != []
    assert collide(Rigid(stray), Rigid(scenes.icosphere(0, radius=0.1))).inside.tolist() == [2]


# ---- many poses in one call


def check_many(a, poses, b, **options):
    many = collide(a, b, poses=poses, **options)
    assert np.all(np.diff(many.query) >= 0)
    assert len(many.inside) == len(many.colliding) == len(poses)
    work = np.zeros(3, dtype=np.int64)
    for i, pose in enumerate(poses):
        a.pose = pose
        single = collide(a, b, **options)
        mine = many.query == i
        assert pair_set(single) == [p for p, own in zip(pair_set(many), mine, strict=True) if own]
        assert many.inside[i] == single.inside[0]
        assert many.colliding[i] == bool(single)
        np.testing.assert_array_equal(many.segment[mine], single.segment)
        np.testing.assert_array_equal(many.normal[mine], single.normal)
        if not jit.INTERPRETED:  # the search for the depth takes seconds there
            np.testing.assert_array_equal(many.depth[mine], single.depth)
        work += [single.box_tests, single.triangle_tests, single.exact_tests]
    return many, work


def mixed_poses(rng, count):
    """At the wall of a ball of radius 1, inside it and far away, in turn."""
    poses = np.stack([random_pose(rng) for _ in range(count)])
    poses[:, :3, 3] = poses[:, :3, 0] * np.resize([0.8, 0.05, 9.0], (count, 1))
    return poses


@pytest.mark.parametrize("kind", [Rigid, Deformable])
def test_many_poses_are_as_many_questions(kind):
    rng = np.random.default_rng(11)
    a = Rigid(scenes.icosphere(0, radius=0.4))
    b = kind(scenes.icosphere(0 if SLOW else 2))
    many, work = check_many(a, mixed_poses(rng, 6 if SLOW else 24), b)
    assert set(many.inside.tolist()) >= {0, 1}
    assert len(many) > 0
    assert [many.box_tests, many.triangle_tests, many.exact_tests] == work.tolist()
    check_many(a, mixed_poses(rng, 6), b, first=True)
    check_many(a, mixed_poses(rng, 6), b, margin=0.05)
    check_many(a, mixed_poses(rng, 6), b, margin=0.05, first=True)


def test_no_poses():
    hits = collide(Rigid(scenes.box()), Rigid(scenes.box()), poses=[])
    assert len(hits) == len(hits.inside) == len(hits.colliding) == 0
    assert not hits
    assert hits.depth.shape == (0,)
    assert hits.segment.shape == (0, 2, 3)


@pytest.mark.parametrize("queries_at_once", ends([3, 1, 2, 100]))
def test_queries_in_parts_and_with_more_pairs_than_room(monkeypatch, queries_at_once):
    monkeypatch.setattr(collide_module, "QUERIES_AT_ONCE", queries_at_once)
    monkeypatch.setattr(collide_module, "ROOM", 5)
    rng = np.random.default_rng(12)
    mesh = scenes.icosphere(0)
    poses = mixed_poses(rng, 3 if SLOW else 7)
    poses = np.concatenate((poses, np.eye(4)[np.newaxis], poses[:2]))
    a, b = Rigid(mesh), Rigid(mesh)
    many = collide(a, b, poses=poses)
    singles = [collide(Rigid(mesh, pose), b) for pose in poses]
    assert max(map(len, singles)) > 100
    assert min(map(len, singles)) == 0
    np.testing.assert_array_equal(many.query, np.repeat(np.arange(len(poses)), list(map(len, singles))))
    assert pair_set(many) == [pair for single in singles for pair in pair_set(single)]


@pytest.mark.large
def test_more_pairs_than_room_for():
    mesh = scenes.icosphere(3)
    a, b = Rigid(mesh), Rigid(mesh)
    expected = expect(a, b)
    assert len(expected) > 2 * collide_module.ROOM
    assert pair_set(collide(a, b)) == expected
    many = collide(a, b, poses=[translation(9, 0, 0), np.eye(4), translation(1.9, 0, 0), np.eye(4)])
    assert [len(expected), len(expected)] == [int((many.query == i).sum()) for i in (1, 3)]
    assert [p for p, q in zip(pair_set(many), many.query, strict=True) if q == 3] == expected
    assert not (many.query == 0).any()


# ---- margins


@pytest.mark.parametrize("kind", ["closed", "open", "tree sizes", "apart", "nested", "far", "tiny", "huge", "unequal"])
@pytest.mark.parametrize("part", [0.02, 0.3])
def test_a_margin_takes_the_pairs_within_twice_of_it(kind, part):
    s = situation(kind, 9, 10 if SLOW else 30)
    a, b = rigid_pair(s)
    margin = part * min(np.ptp(a.vertices, axis=0).max(), np.ptp(b.vertices, axis=0).max())
    gaps = distances(a.vertices, a.mesh.faces, b.vertices, b.mesh.faces)
    meeting = set(expect(a, b))
    surely = set(map(tuple, np.argwhere(gaps < 2 * margin * (1 - 1e-9)).tolist()))
    perhaps = set(map(tuple, np.argwhere(gaps <= 2 * margin * (1 + 1e-9)).tolist()))
    for pair in four_combinations(s)[:: 3 if SLOW else 1]:
        hits = collide(*pair, margin=margin)
        found = set(pair_set(hits))
        assert pair_set(hits) == sorted(found)
        assert surely <= found <= perhaps
        assert meeting <= found
        assert bool(hits) == bool(collide(*pair, margin=margin, first=True))
        for row, (i, j) in enumerate([] if jit.INTERPRETED else pair_set(hits)):
            expected = 0.0 if (i, j) in meeting else gaps[i, j]
            assert (hits.depth[row] >= 0) if (i, j) in meeting else (hits.depth[row] == pytest.approx(-expected))


def test_a_margin_of_zero_is_none():
    a, b = Rigid(scenes.box()), Rigid(scenes.box(center=(1.0, 0, 0)))
    assert pair_set(collide(a, b, margin=0)) == pair_set(collide(a, b)) == pair_set(collide(a, b, margin=-0.0))


@pytest.mark.parametrize(("size", "margin"), [(1.0, 1e10), (1.0, 1e29), (1.0, 1e31), (1.0, 1e60), (1e-30, 10.0)])
def test_a_margin_beyond_all_measure_takes_every_pair_or_is_refused(size, margin):
    mesh = scenes.icosphere(0, radius=size)
    for a, b in four_combinations(Situation(mesh, np.eye(4), mesh, translation(5 * size, 0, 0)))[:: 3 if SLOW else 1]:
        if margin > 1e30 * size:
            with pytest.raises(Unsupported, match="margin"):
                collide(a, b, margin=margin)
        else:
            assert len(collide(a, b, margin=margin)) == len(mesh.faces) ** 2


# ---- invariances


@st.composite
def coarse_pairs(draw):
    """Two meshes with vertices on a coarse grid, each with a pose that rounds nothing."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    counts = draw(st.tuples(st.integers(1, 12), st.integers(1, 12)))
    meshes = [
        rubble(rng, n) if draw(st.booleans()) else Mesh(np.round(4 * soup(rng, n).vertices) / 4, soup(rng, n).faces)
        for n in counts
    ]
    return Situation(meshes[0], exact_pose(rng, rng.integers(-2, 3, 3) / 4), meshes[1], exact_pose(rng))


@given(coarse_pairs())
def test_exchange_of_the_bodies_exchanges_the_faces(s):
    a, b = rigid_pair(s)
    there, back = collide(a, b), collide(b, a)
    assert sorted((j, i) for i, j in pair_set(back)) == pair_set(there)
    assert bool(there) == bool(back)


@given(coarse_pairs(), st.integers(0, 1000))
def test_the_order_of_faces_and_corners_changes_only_numbers(s, seed):
    rng = np.random.default_rng(seed)
    a, b = rigid_pair(s)
    order = rng.permutation(len(s.mesh_a.faces))
    faces = s.mesh_a.faces[order]
    faces = np.stack([rng.permutation(face) for face in faces])
    other = Rigid(Mesh(s.mesh_a.vertices, faces), s.pose_a)
    assert sorted((int(order[i]), j) for i, j in pair_set(collide(other, b))) == pair_set(collide(a, b))
    assert bool(collide(other, b)) == bool(collide(a, b)) or not s.mesh_a.is_closed


@given(coarse_pairs(), st.integers(0, 23), st.tuples(*[st.integers(-8, 8)] * 3))
def test_a_motion_that_rounds_nothing_changes_nothing(s, rotation, offset):
    motion = translation(*offset)
    motion[:3, :3] = EXACT_ROTATIONS[rotation]
    still = collide(*rigid_pair(s))
    moved = collide(Rigid(s.mesh_a, motion @ s.pose_a), Rigid(s.mesh_b, motion @ s.pose_b))
    assert pair_set(moved) == pair_set(still)
    assert moved.inside.tolist() == still.inside.tolist()
