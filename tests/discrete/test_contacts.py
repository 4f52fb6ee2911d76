import numpy as np
import pytest

from abut import Contacts, Deformable, Mesh, Rigid, collide, distance, scenes
from abut.core import jit
from conftest import SLOW
from discrete.situations import Situation, four_combinations, random_pose, rigid_pair, situation, translation
from oracles.bodies import is_on_triangle, pair_set

# The search for the depth takes seconds where it is interpreted.
DEPTH = () if jit.INTERPRETED else ("depth",)
ROWS = ("face_a", "face_b", "query", "segment", "point", "normal", *DEPTH)
FIELDS = (*ROWS, "inside", "colliding")


def all_of(hits):
    return {name: getattr(hits, name).copy() for name in FIELDS}


def balls(gap=-0.1):
    """Two balls along x, apart by a gap."""
    mesh = scenes.icosphere(0 if SLOW else 2)
    return Rigid(mesh), Rigid(mesh, translation(2 * mesh.vertices[:, 0].max() + gap, 0, 0))


def test_normals_point_from_a_to_b():
    for a, b, sign in ((*balls(), 1), (*balls()[::-1], -1)):
        hits = collide(a, b)
        assert len(hits) > 3
        np.testing.assert_allclose(np.linalg.norm(hits.normal, axis=1), 1.0, rtol=1e-12)
        assert (sign * hits.normal[:, 0] > 0.3).all()
        np.testing.assert_allclose(hits.normal.mean(axis=0), [sign, 0, 0], atol=0.1 + 0.3 * SLOW)


def test_normals_within_a_margin_lead_from_face_to_face():
    a, b = balls(0.1)
    hits = collide(a, b, margin=0.2)
    assert len(hits) > 3
    along = hits.segment[:, 1] - hits.segment[:, 0]
    np.testing.assert_allclose(hits.normal, along / np.linalg.norm(along, axis=1)[:, None], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(hits.depth, -np.linalg.norm(along, axis=1), rtol=1e-12)


@pytest.mark.parametrize("kind", ["closed", "degenerate", "boxes face to face", "identical", "tiny", "huge"])
def test_points_lie_on_both_faces(kind):
    a, b, hits = next(
        (a, b, hits)
        for a, b in (rigid_pair(situation(kind, seed, 8)) for seed in range(50))
        if len(hits := collide(a, b))
    )
    tolerance = 1e-9 * max(np.abs(a.vertices).max(), np.abs(b.vertices).max())
    for row in range(0, len(hits), 1 + len(hits) // 25):
        for point in (*hits.segment[row], hits.point[row]):
            assert is_on_triangle(point, a.vertices[a.mesh.faces[hits.face_a[row]]], tolerance)
            assert is_on_triangle(point, b.vertices[b.mesh.faces[hits.face_b[row]]], tolerance)
    np.testing.assert_allclose(np.linalg.norm(hits.normal, axis=1), 1.0, rtol=1e-12)


def test_points_of_triangles_without_area_have_finite_unit_normals():
    point = Mesh([[0.1, 0.1, 0.0]], [[0, 0, 0]])
    floor = Mesh([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    for a, b in ((point, floor), (floor, point), (point, point)):
        hits = collide(Rigid(a), Rigid(b))
        assert pair_set(hits) == [(0, 0)]
        np.testing.assert_allclose(np.linalg.norm(hits.normal, axis=1), 1.0, rtol=1e-12)
        np.testing.assert_array_equal(hits.point, [[0.1, 0.1, 0.0]])
        np.testing.assert_array_equal(hits.depth, [0.0])


def test_results_do_not_change():
    hits = collide(*balls())
    for name in (*FIELDS, "box_tests", "something"):
        with pytest.raises(AttributeError):
            setattr(hits, name, 1)
    for name in (*FIELDS, "box_tests"):
        with pytest.raises(AttributeError):
            delattr(hits, name)
    for name in FIELDS:
        array = getattr(hits, name)
        assert not array.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
        assert getattr(hits, name) is array or np.array_equal(getattr(hits, name), array)


def test_shapes_and_types():
    for a, b in four_combinations(Situation(scenes.box(), np.eye(4), scenes.box(), translation(0.5, 0.3, 0.2))):
        hits = collide(a, b)
        assert isinstance(hits, Contacts)
        n = len(hits)
        shapes = {name: getattr(hits, name).shape for name in FIELDS}
        assert shapes == {
            **dict.fromkeys(("face_a", "face_b", "query", *DEPTH), (n,)),
            **dict.fromkeys(("inside", "colliding"), (1,)),
            **dict.fromkeys(("point", "normal"), (n, 3)),
            "segment": (n, 2, 3),
        }
        assert hits.face_a.dtype == hits.face_b.dtype == hits.query.dtype == np.int64
        assert hits.colliding.dtype == np.bool_
        assert (hits.query == 0).all()


def test_truth_and_length():
    a, b = balls()
    far, held = Rigid(scenes.box(center=(9.0, 0, 0))), Rigid(scenes.box((0.1, 0.1, 0.1)))
    for other, length, truth, inside in ((b, True, True, 0), (far, False, False, 0), (held, False, True, 2)):
        hits = collide(a, other)
        assert bool(len(hits)) == length
        assert bool(hits) == truth == hits.colliding[0]
        assert hits.inside.tolist() == [inside]
        assert str(len(hits)) in repr(hits)
        for name in ROWS:
            assert len(getattr(hits, name)) == len(hits)


def test_a_body_inside_another_within_the_margin_of_its_wall():
    inner, outer = Rigid(scenes.icosphere(0, radius=0.6)), Rigid(scenes.icosphere(0))
    assert collide(inner, outer, margin=0.2)
    assert collide(inner, outer, margin=0.2).inside.tolist() == [1]
    assert collide(inner, outer, margin=0.01).inside.tolist() == [1]


def test_a_second_question_does_not_remember_the_first():
    a, b = balls()
    before = all_of(collide(a, b))
    far = Rigid(scenes.box(), translation(9, 0, 0))
    assert len(collide(a, far)) == 0
    assert not collide(far, b)
    after = all_of(collide(a, b))
    for name in FIELDS:
        np.testing.assert_array_equal(after[name], before[name])
    place = b.pose
    b.pose = translation(5, 0, 0)
    assert len(collide(a, b)) == 0
    assert not collide(a, b)
    b.pose = place
    assert pair_set(collide(a, b)) == list(zip(before["face_a"].tolist(), before["face_b"].tolist(), strict=True))


@pytest.mark.parametrize("combination", range(4), ids=["rigid-rigid", "rigid-soft", "soft-rigid", "soft-soft"])
@pytest.mark.parametrize("margin", [0.0, 0.1])
def test_what_happens_later_does_not_reach_an_answer(combination, margin):
    """Everything is asked for only after the bodies have moved."""
    s = situation("closed", 5, 8 if SLOW else 40)
    expected = all_of(collide(*four_combinations(s)[combination], margin=margin))
    assert len(expected["face_a"]) > 2
    a, b = four_combinations(s)[combination]
    hits = collide(a, b, margin=margin)
    for body in (a, b):
        if isinstance(body, Rigid):
            body.pose = random_pose(np.random.default_rng(0), 5.0)
        else:
            body.update(body.vertices * 3.0 + 1.0)
            body.update(np.random.default_rng(1).permutation(body.vertices))
    collide(a, b)
    del a, b
    found = all_of(hits)
    for name in FIELDS:
        np.testing.assert_allclose(found[name], expected[name], rtol=6e-3 if name == "depth" else 0.0)


def test_the_arrays_given_may_be_written_afterwards():
    a, b = balls()
    poses = np.stack([translation(0.1, 0, 0), translation(-0.05, 0, 0)])
    expected = all_of(collide(a, b, poses=poses))
    mine = poses.copy()
    hits = collide(a, b, poses=mine)
    mine[:] = translation(-1, 0, 0)
    found = all_of(hits)
    for name in FIELDS:
        np.testing.assert_array_equal(found[name], expected[name])


@pytest.mark.skipif(jit.INTERPRETED, reason="takes seconds a query")
def test_the_depth_of_many_queries_is_that_of_each():
    a, b = balls()
    poses = np.stack([translation(x, 0, 0) for x in (0.05, -3.0, 0.0, 0.3)])
    hits = collide(a, b, poses=poses)
    for i, pose in enumerate(poses):
        a.pose = pose
        rows = hits.query == i
        assert rows.any() == (i != 1)
        if rows.any():
            np.testing.assert_array_equal(hits.depth[rows], -distance(a, b).distance)


def test_work_is_counted():
    a, b = balls()
    hits, first = collide(a, b), collide(a, b, first=True)
    assert min(hits.box_tests, hits.triangle_tests) > 0
    assert 0 < first.box_tests <= hits.box_tests
    assert 0 < first.triangle_tests <= hits.triangle_tests
    far = collide(a, Rigid(scenes.box(), translation(99, 0, 0)))
    assert far.box_tests == 1
    assert far.triangle_tests == far.exact_tests == 0
    same = collide(a, a)
    assert same.exact_tests > 0  # faces that coincide are left to exact signs


def test_a_body_against_itself_as_another():
    a = Rigid(scenes.box())
    assert len(collide(a, a)) == len(collide(a, Rigid(scenes.box())))
    soft = Deformable(scenes.box())
    assert pair_set(collide(soft, soft)) == pair_set(collide(a, a))
