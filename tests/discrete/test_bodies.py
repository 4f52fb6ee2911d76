import copy
import pickle
import weakref
from typing import NamedTuple

import numpy as np
import pytest
import trimesh

from abut import Deformable, InvalidInput, Rigid, Unsupported, collide, contains, distance, scenes
from discrete.situations import deformable, random_pose, translation
from oracles.bodies import meeting_pairs, pair_set

BOX = scenes.box()
OPEN = scenes.cloth(1, 1)


class Subclass(np.ndarray):
    pass


class Case(NamedTuple):
    call: object
    name: str | None
    row: int | None
    words: str
    kind: type = InvalidInput


def pose_with(where, value, base=None):
    pose = np.eye(4) if base is None else base.copy()
    pose[where] = value
    return pose


def reflected():
    return np.diag([1.0, 1, -1, 1])


def as_pose(value, words, row=None):
    return [
        Case(lambda: Rigid(BOX, pose=value), "pose", row, words),
        Case(lambda: setattr(Rigid(BOX), "pose", value), "pose", row, words),
    ]


def as_poses(value, row, words):
    return Case(lambda: collide(Rigid(BOX), Rigid(BOX), poses=value), "poses", row, words)


def as_margin(value, words):
    return Case(lambda: collide(Rigid(BOX), Rigid(BOX), margin=value), "margin", None, words)


def as_update(value, row, words):
    return Case(lambda: Deformable(BOX).update(value), "vertices", row, words)


def as_points(value, row, words):
    return Case(lambda: contains(Rigid(BOX), value), "points", row, words)


TWO_POSES = np.stack([np.eye(4)] * 2)
BAD = {
    "pose of NaN": as_pose(pose_with((0, 3), np.nan), "NaN", 0),
    "pose of NaN in the rotation": as_pose(pose_with((1, 1), np.nan), "NaN", 1),
    "pose at infinity": as_pose(pose_with((2, 3), np.inf), "infinite", 2),
    "pose too far": as_pose(pose_with((2, 3), 1e76), "beyond", 2),
    "pose that scales": as_pose(np.diag([2.0, 2, 2, 1]), "not orthonormal"),
    "pose that reflects": as_pose(reflected(), "reflection"),
    "pose of zeros": as_pose(np.zeros((4, 4)), "bottom row"),
    "pose transposed": as_pose(translation(1, 2, 3).T, "transposed"),
    "pose of three rows": as_pose(np.eye(3), r"shape \(3, 3\)"),
    "pose of text": as_pose("here", "text"),
    "poses as one pose": [as_poses(np.eye(4), None, r"shape \(4, 4\)")],
    "poses with NaN": [as_poses(pose_with((1, 0, 3), np.nan, TWO_POSES), 1, "NaN")],
    "poses with a shear": [as_poses(pose_with((1, 0, 1), 0.5, TWO_POSES), 1, "not orthonormal")],
    "poses with a reflection": [as_poses(np.stack([np.eye(4), np.eye(4), reflected()]), 2, "reflection")],
    "margin negative": [as_margin(-0.1, "between")],
    "margin NaN": [as_margin(np.nan, "NaN")],
    "margin infinite": [as_margin(np.inf, "infinite")],
    "margin None": [as_margin(None, "margin")],
    "margin of text": [as_margin("much", "text")],
    "margin of two": [as_margin(np.array([0.1, 0.2]), "shape")],
    "margin as a list": [as_margin([0.1], "shape")],
    "update with too few": [as_update(BOX.vertices[:-1], None, "7 rows for a mesh of 8")],
    "update with too many": [as_update(np.zeros((9, 3)), None, "9 rows for a mesh of 8")],
    "update with none": [as_update([], None, "0 rows")],
    "update in the plane": [as_update(np.zeros((8, 2)), None, r"shape \(8, 2\)")],
    "update with NaN": [as_update(pose_with((5, 1), np.nan, BOX.vertices), 5, "NaN")],
    "update at infinity": [as_update(pose_with((3, 0), -np.inf, BOX.vertices), 3, "infinite")],
    "update too far": [as_update(pose_with((3, 0), 1e76, BOX.vertices), 3, "beyond")],
    "points in the plane": [as_points(np.zeros((2, 2)), None, r"shape \(2, 2\)")],
    "points of one dimension": [as_points([0.0, 0, 0], None, "shape")],
    "points with NaN": [as_points([[0.0, 0, 0], [0, np.nan, 0]], 1, "NaN")],
    "contains of an open body": [Case(lambda: contains(Rigid(OPEN), [[0.0, 0, 0]]), "a", None, "not closed")],
    "contains of a number": [Case(lambda: contains(3, [[0.0, 0, 0]]), None, None, "a.*int")],
    "a a number": [
        Case(lambda: collide(3, Rigid(BOX)), None, None, "^a"),
        Case(lambda: distance(3, Rigid(BOX)), None, None, "^a"),
    ],
    "b an object": [
        Case(lambda: collide(Rigid(BOX), object()), None, None, "^b"),
        Case(lambda: distance(Rigid(BOX), object()), None, None, "^b"),
    ],
    "b a file that is not there": [Case(lambda: collide(Rigid(BOX), "none.ply"), None, None, "^b.*does not exist")],
    "b with a face too many": [
        Case(lambda: collide(Rigid(BOX), (BOX.vertices, [[0, 1, 8]])), "b.faces", 0, "8 is not below 8")
    ],
    "a with a vertex that is NaN": [
        Case(lambda: collide(([[0, 0, np.nan]], [[0, 0, 0]]), Rigid(BOX)), "a.vertices", 0, "NaN")
    ],
    "b None for a distance": [Case(lambda: distance(Rigid(BOX), None), None, None, "^b")],
    "mesh of no kind": [
        Case(lambda: Rigid(7), None, None, "int"),
        Case(lambda: Deformable(None), None, None, "NoneType"),
    ],
    "mesh without faces": [Case(lambda: Rigid((BOX.vertices, [])), "faces", None, "empty")],
    "poses of a deformable body": [
        Case(lambda: collide(Deformable(BOX), Rigid(BOX), poses=TWO_POSES), None, None, "poses", Unsupported)
    ],
    "poses without a second body": [
        Case(lambda: collide(Rigid(BOX), poses=TWO_POSES), None, None, "poses", Unsupported)
    ],
    "sizes too far apart": [
        Case(call, None, None, "sizes", Unsupported)
        for call in (
            lambda: collide(Rigid(BOX), Rigid(scenes.box((1e40,) * 3))),
            lambda: distance(Rigid(scenes.box((1e-40,) * 3)), Rigid(BOX)),
        )
    ],
}


@pytest.mark.parametrize("label", BAD)
def test_what_is_refused_and_how(label):
    for case in BAD[label]:
        with pytest.raises(case.kind, match=case.words) as caught:
            case.call()
        if case.kind is InvalidInput:
            if case.name is not None:
                assert caught.value.name == case.name
            assert caught.value.row == case.row
            assert str(caught.value).startswith(caught.value.name)


def state_of(body):
    tree = body._packets.tree
    arrays = (body.vertices, body._points, tree.packed.boxes, tree.lanes, tree.corners, tree.frame)
    return [array.copy() for array in arrays]


@pytest.mark.parametrize("bad", [BOX.vertices[:-1], pose_with((7, 2), np.nan, BOX.vertices), "text", None])
def test_a_bad_update_leaves_the_body_as_it_was(bad):
    body, other = Deformable(BOX), Rigid(BOX, translation(0.5, 0.25, 0.125))
    body.update(BOX.vertices + 0.25)
    before, pairs = state_of(body), pair_set(collide(body, other))
    with pytest.raises(InvalidInput):
        body.update(bad)
    for old, new in zip(before, state_of(body), strict=True):
        np.testing.assert_array_equal(old, new)
    assert pair_set(collide(body, other)) == pairs


def test_a_bad_pose_leaves_the_body_where_it_was():
    body = Rigid(BOX, translation(1, 2, 3))
    with pytest.raises(InvalidInput):
        body.pose = np.zeros((4, 4))
    np.testing.assert_array_equal(body.pose, translation(1, 2, 3))


def test_a_rotation_of_single_precision_is_polished():
    rng = np.random.default_rng(4)
    for _ in range(20):
        exact = random_pose(rng, 2.0)
        body = Rigid(BOX, exact.astype(np.float32))
        rotation = body.pose[:3, :3]
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-14)
        np.testing.assert_allclose(body.pose, exact, atol=3e-7)
        np.testing.assert_array_equal(body.pose[:3, 3], exact[:3, 3].astype(np.float32))
        rough = exact.copy()
        rough[:3, :3] += 1e-6 * rng.normal(size=(3, 3))
        single, many = Rigid(BOX, rough), collide(Rigid(BOX), Rigid(BOX), poses=[rough])
        np.testing.assert_allclose(single.pose[:3, :3] @ single.pose[:3, :3].T, np.eye(3), atol=1e-14)
        assert pair_set(many) == pair_set(collide(single, Rigid(BOX)))


def test_poses_of_any_kind_of_array():
    expected = translation(1.0, 2.0, 3.0)
    big_endian = expected.astype(">f8")
    for value in (expected.tolist(), np.asfortranarray(expected), big_endian, expected.view(Subclass)):
        body = Rigid(BOX, value)
        np.testing.assert_array_equal(body.pose, expected)
        assert body.pose.flags.c_contiguous
        np.testing.assert_array_equal(body.vertices, BOX.vertices + np.array([1, 2, 3]))
    assert Rigid(BOX).pose.tolist() == np.eye(4).tolist()
    assert Rigid(BOX, None).pose.tolist() == np.eye(4).tolist()


@pytest.mark.parametrize("kind", [np.ndarray, Subclass])
def test_a_pose_is_the_bodys_own(kind):
    given = translation(1, 0, 0).view(kind)
    body = Rigid(BOX, given)
    given[0, 3] = 7.0
    assert body.pose[0, 3] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        body.pose[0, 3] = 2.0
    assert given.flags.writeable


def test_vertices_are_the_bodys_own():
    given = BOX.vertices.copy()
    body = Deformable((given, BOX.faces))
    given += 5.0
    np.testing.assert_array_equal(body.vertices, BOX.vertices)
    body.update(given)
    expected = given.copy()
    given += 5.0
    np.testing.assert_array_equal(body.vertices, expected)
    for own in (body.vertices, Rigid(BOX).vertices):
        with pytest.raises(ValueError, match="read-only"):
            own[0] = 0.0
    np.testing.assert_array_equal(body.mesh.vertices, BOX.vertices)


def test_world_vertices_are_the_rounded_products():
    rng = np.random.default_rng(3)
    mesh = scenes.icosphere(1)
    for _ in range(5):
        body = Rigid(mesh, random_pose(rng, 3.0))
        p, v = body.pose, mesh.vertices
        np.testing.assert_allclose(body.vertices, v @ p[:3, :3].T + p[:3, 3], rtol=0, atol=1e-14)
        np.testing.assert_array_equal(body.vertices, body.vertices)
    np.testing.assert_array_equal(Rigid(mesh).vertices, mesh.vertices)


def test_whatever_holds_a_mesh_is_a_rigid_body():
    box, far = scenes.box(), scenes.box(center=(5.0, 0, 0))
    for value in (box, (box.vertices, box.faces), trimesh.Trimesh(box.vertices, box.faces, process=False)):
        assert pair_set(collide(value, Rigid(box))) == pair_set(collide(Rigid(box), value)) != []
        assert distance(value, far).distance == 4.0
        assert contains(value, [[0.0, 0, 0]]).tolist() == [True]
    assert pair_set(collide(box)) == []


def test_names():
    assert repr(Rigid(BOX)) == f"Rigid({BOX!r})"
    assert repr(Deformable(BOX)) == f"Deformable({BOX!r})"
    assert Rigid(BOX).mesh is BOX
    np.testing.assert_array_equal(Deformable(BOX).pose, np.eye(4))


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda body: pickle.loads(pickle.dumps(body))])
def test_copies_and_pickles_stand_on_their_own(duplicate):
    """A body holds the addresses of its arrays: a copy must not hold those of the original."""
    other = Rigid(scenes.icosphere(0), translation(0.6, 0.1, 0.2))
    for make in (Rigid, lambda *place: deformable(Rigid(*place))):
        original = make(BOX, translation(0.25, 0, 0))
        expected, vertices = pair_set(collide(original, other)), original.vertices
        again = duplicate(original)
        tree = again._packets.tree
        owned = (tree.packed.boxes, tree.child, tree.lanes, tree.corners, tree.frame)
        assert [int(x) for x in again._handle[:5]] == [array.ctypes.data for array in owned]
        assert int(again._handle[7]) == again._points.ctypes.data
        if isinstance(original, Deformable):
            original.update(original.vertices + 50.0)
        else:
            original.pose = translation(50, 0, 0)
        gone = weakref.ref(original)
        del original
        assert gone() is None
        np.testing.assert_array_equal(again.vertices, vertices)
        assert pair_set(collide(again, other)) == expected
        assert expected == meeting_pairs(vertices, BOX.faces, other.vertices, other.mesh.faces)


@pytest.mark.large
def test_contacts_can_be_pickled():
    hits = collide(Rigid(BOX), Deformable(scenes.box(center=(0.75, 0.5, 0.9))))
    again = pickle.loads(pickle.dumps(hits))
    for name in ("face_a", "face_b", "segment", "normal", "depth", "inside"):
        np.testing.assert_array_equal(getattr(again, name), getattr(hits, name))
