"""`collide` and `distance` of shapes and meshes, in every combination: against meshes of the same, against each other, and by formulas."""

import itertools
import pickle

import numpy as np
import pytest

import abut
from abut import shapes
from abut.core import jit
from conftest import SOAK
from pairs_of_shapes import CORNERS, at, random_turn, u_mesh

pytestmark = pytest.mark.large  # searches of triangles, thousands of points: minutes when interpreted
CASES = 400 if SOAK else (2 if jit.INTERPRETED else 10)
BALL = abut.scenes.icosphere(2 if jit.INTERPRETED else 4, radius=0.6)
FACETED = {
    "box": shapes.Box((1.2, 0.8, 0.5)),
    "prism": shapes.Cylinder(0.4, 1.0, sides=9),
    "pyramid": shapes.Cone(0.5, 0.9, sides=7),
    "hull": shapes.Polytope(CORNERS),
}
ROUND = {
    "sphere": (shapes.Sphere(0.6), BALL),
    "cylinder": (shapes.Cylinder(0.4, 1.0), shapes.Cylinder(0.4, 1.0, sides=200).surface()),
    "cone": (shapes.Cone(0.5, 0.9), shapes.Cone(0.5, 0.9, sides=200).surface()),
}
MESHES = {"u": u_mesh(), "torus": abut.scenes.torus(0.7, 0.25, 14, 8), "ball": abut.scenes.icosphere(1, radius=0.7)}
COARSE = 6e-3 if not jit.INTERPRETED else 0.06
"""How far the meshes of round shapes are from these."""


def moved(mesh, pose):
    return abut.Rigid(mesh, pose)


def random_pose(rng, reach):
    return at(*(reach * rng.normal(size=3)), random_turn(rng))


def check(found, wanted, slack, share):
    """Apart to the slack, overlapping to a share of the depth beside it."""
    if wanted.distance > 0.0 or found.distance > 0.0:
        assert found.distance == pytest.approx(wanted.distance, abs=slack + 1e-9)
    else:
        assert found.distance == pytest.approx(wanted.distance, abs=slack + 1e-9, rel=share)


@pytest.mark.parametrize("kind", [*FACETED, *ROUND])
def test_shapes_are_as_far_from_meshes_and_each_other_as_their_meshes_are(kind):
    rng = np.random.default_rng(len(kind))
    shape, mesh = ROUND[kind] if kind in ROUND else (FACETED[kind], FACETED[kind].surface())
    slack = COARSE if kind in ROUND else 0.0
    overlapping = 0
    others = [*MESHES.values(), *FACETED.values(), *ROUND.values()]
    for case in range(CASES):
        other = others[case % len(others)]
        b = other[0] if isinstance(other, tuple) else other
        stands_for = other[1] if isinstance(other, tuple) else getattr(other, "surface", lambda other=other: other)()
        pose_a, pose_b = random_pose(rng, 0.6), random_pose(rng, 0.6)
        placed_b = b.at(pose_b) if isinstance(b, shapes.Shape) else moved(b, pose_b)
        found = abut.distance(shape.at(pose_a), placed_b)
        wanted = abut.distance(moved(mesh, pose_a), moved(stands_for, pose_b))
        check(found, wanted, slack + (COARSE if isinstance(other, tuple) else 0.0), 0.012)
        overlapping += found.distance < 0.0
        back = abut.distance(placed_b, shape.at(pose_a))
        assert back.distance == pytest.approx(found.distance, abs=1e-9, rel=1e-6)
        if found.distance > 0.0:
            np.testing.assert_allclose(found.point_b - found.point_a, found.distance * found.normal, atol=1e-9)
            np.testing.assert_allclose(back.normal, -found.normal, atol=1e-5)
        hits = abut.collide(shape.at(pose_a), placed_b)
        assert bool(hits) == (found.distance <= 0.0)
        if hits and len(hits):
            assert hits.depth.max() == pytest.approx(-found.distance, rel=0.02, abs=1e-6)
            np.testing.assert_allclose(np.linalg.norm(hits.normal, axis=1), 1.0)
        # Moved along the separation, they are apart.
        apart = pose_b.copy()
        apart[:3, 3] += found.separation
        gone = b.at(apart) if isinstance(b, shapes.Shape) else moved(b, apart)
        assert not abut.collide(shape.at(pose_a), gone)
        assert abut.distance(shape.at(pose_a), gone).distance >= 0.0
    assert jit.INTERPRETED or 1 <= overlapping < CASES


def test_many_poses_are_as_many_questions():
    rng = np.random.default_rng(2)
    poses = np.array([random_pose(rng, 0.8) for _ in range(2 if jit.INTERPRETED else 12)])
    a, cylinder = shapes.Box((1.0, 0.6, 0.3)), shapes.Cylinder(0.4, 0.9)
    mesh = MESHES["torus"]
    for first, second in ((a, cylinder), (cylinder, mesh), (mesh, cylinder), (cylinder, shapes.Plane()), (mesh, a)):
        gaps, hits = abut.distance(first, second, poses=poses), abut.collide(first, second, poses=poses)
        assert len(gaps) == len(poses) == len(hits.colliding)
        for k, pose in enumerate(poses):
            placed = first.at(pose) if isinstance(first, shapes.Shape) else moved(first, pose)
            one, met = abut.distance(placed, second), abut.collide(placed, second)
            assert gaps[k].distance == one.distance == gaps.distance[k]
            np.testing.assert_array_equal(gaps.normal[k], one.normal)
            np.testing.assert_array_equal(gaps.point_a[k], one.point_a)
            assert (gaps.face_a[k], gaps.face_b[k]) == (one.face_a, one.face_b)
            assert hits.colliding[k] == bool(met)
            assert int((hits.query == k).sum()) == len(met)
            np.testing.assert_allclose(hits.point[hits.query == k], met.point, atol=1e-12)


def test_many_poses_of_two_meshes_are_as_many_questions():
    rng = np.random.default_rng(4)
    poses = np.array([random_pose(rng, 1.0) for _ in range(2 if jit.INTERPRETED else 8)])
    a, b = abut.Rigid(MESHES["torus"]), MESHES["ball"]
    gaps = abut.distance(a, b, poses=poses)
    for pose, gap in zip(poses, gaps.distance, strict=True):
        assert abut.distance(moved(MESHES["torus"], pose), b).distance == gap
    np.testing.assert_array_equal(a.pose, np.eye(4))  # the body itself stays
    with pytest.raises(abut.Unsupported, match="deformable"):
        abut.distance(abut.Deformable(b), a, poses=poses)
    assert len(abut.distance(a, b, poses=np.empty((0, 4, 4)))) == 0


def test_formulas():
    """Apart, deep, held, and a half-space; distances of round things that no mesh has."""
    ball = shapes.Sphere(1.0)
    cases = {
        "balls apart": (ball, shapes.Sphere(0.5).at(at(3)), 1.5),
        "balls in": (ball, shapes.Sphere(0.5).at(at(1.2)), -0.3),
        "the same ball": (ball, shapes.Sphere(1.0), 0.0),
        "a ball in a box": (ball, shapes.Box((6, 6, 6)), -(3 - np.sqrt(1 / 3))),
        "a ball in a mesh box": (ball, abut.scenes.box((6.0, 6.0, 6.0)), -(3 - np.sqrt(1 / 3))),
        "a box in a box": (shapes.Box((1, 1, 1)), shapes.Box((4, 4, 4)), -1.5),
        "crossing rods": (shapes.Box((4, 1, 1)), shapes.Box((1, 4, 1)).at(at(0, 0, 0.25)), -0.5),
        "edge on edge": (shapes.Cylinder(1, 4), shapes.Cylinder(1, 4).at(at(0, 1.9)), -0.1),
        "below a floor": (ball, shapes.Plane((0, 0, 1), 2.0), -3.0),
        "a mesh above a floor": (abut.scenes.box(center=(0, 0, 2)), shapes.Plane(), 1.5),
        "a cone on its tip": (shapes.Cone(1, 2), shapes.Plane((0, 0, -1), -3), 2.0),
    }
    for name, (a, b, wanted) in cases.items():
        if name == "the same ball":
            continue
        assert abut.distance(a, b).distance == pytest.approx(wanted, rel=5e-3 if "rods" in name else 1e-4), name
        assert abut.distance(b, a).distance == pytest.approx(wanted, rel=5e-3 if "rods" in name else 1e-4), name
    shallow = abut.distance(shapes.Sphere(1.0), abut.scenes.box(center=(0, 0, 1.5 - 1e-7)))
    assert shallow.distance == pytest.approx(-1e-7, rel=1e-5)
    np.testing.assert_allclose(shallow.normal, (0, 0, 1), atol=1e-9)


def test_margins_reach_to_what_is_near():
    cylinder, slab = shapes.Cylinder(0.5, 1.0), abut.scenes.box(center=(0.0, 0.0, 1.2))
    assert not abut.collide(cylinder, slab)
    near = abut.collide(cylinder, slab, margin=0.11)
    assert near
    np.testing.assert_allclose(near.depth, -0.2, atol=1e-12)
    np.testing.assert_allclose(
        near.segment[:, 1] - near.segment[:, 0], np.tile((0, 0, 0.2), (len(near), 1)), atol=1e-12
    )
    assert not abut.collide(cylinder, slab, margin=0.09)
    assert len(abut.collide(cylinder, slab, margin=0.11, first=True)) == 1


def test_what_holds_a_shape_without_a_touch_collides():
    room, ball = abut.scenes.box((6.0, 6.0, 6.0)), shapes.Sphere(1.0)
    held = abut.collide(ball, room)
    assert held
    assert len(held) == 0
    assert held.inside.tolist() == [1]
    assert abut.collide(room, ball).inside.tolist() == [2]
    assert abut.collide(abut.Deformable(room), ball).inside.tolist() == [2]
    assert abut.collide(ball, shapes.Terrain(np.full((9, 9), 3.0)).at(at(-4, -4, 0)))


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_small_and_large_shapes(scale):
    for gap in (0.25, -0.125):
        found = abut.distance(
            shapes.Cylinder(scale, scale), shapes.Box(np.full(3, scale)).at(at(0, 0, (1 + gap) * scale))
        )
        assert found.distance == pytest.approx(gap * scale, rel=1e-8)
        np.testing.assert_allclose(found.normal, (0, 0, 1), atol=1e-6)


def test_answers_travel_and_say_what_they_are():
    hits = abut.collide(shapes.Sphere(1.0), abut.scenes.box(center=(0, 0, 1.4)))
    again = pickle.loads(pickle.dumps(hits))
    np.testing.assert_array_equal(again.depth, hits.depth)
    assert isinstance(hits, abut.Contacts)
    assert repr(hits).startswith("ShapeContacts(")
    gap = abut.distance(shapes.Sphere(1.0), shapes.Box((1, 1, 1)).at(at(0.2)))
    again = pickle.loads(pickle.dumps(gap))
    np.testing.assert_array_equal(again.separation, gap.separation)
    assert isinstance(gap, abut.Distance)


def test_what_has_no_answer_is_refused():
    with pytest.raises(abut.Unsupported, match="itself"):
        abut.collide(shapes.Sphere(1.0))
    with pytest.raises(abut.Unsupported, match="half-spaces"):
        abut.distance(shapes.Plane(), shapes.Plane())
    with pytest.raises(abut.InvalidInput, match="b"):
        abut.distance(shapes.Sphere(1.0), "nothing")
    with pytest.raises(abut.InvalidInput, match="pose"):
        shapes.Sphere(1.0).at(np.zeros((4, 4)))
    assert all(name in repr(shapes.Sphere(1.0).at(np.eye(4))) for name in ("Placed", "Sphere"))
    for a, b in itertools.product((shapes.Sphere(1.0), MESHES["u"]), repeat=2):
        assert abut.distance(a, b, depth=False).distance == 0.0
