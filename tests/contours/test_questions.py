"""Distances, containment, boxes, many poses and many contours; named degenerate cases."""

import numpy as np
import pytest

from abut import InvalidInput, contours, scenes
from abut.contours import A_IN_B, APART, B_IN_A, CONTACT, CROSSING, INTERVAL, TOUCH, Contour
from abut.contours.picture import draw
from abut.core import jit
from abut.core.errors import AbutError

UNIT_SQUARE = Contour.from_polygon([(0, 0), (1, 0), (1, 1), (0, 1)])
SMALL = Contour.from_polygon(0.2 * np.array([(0, 0), (1, 0), (1, 1), (0, 1)]))


def wavy(n, seed=0, size=1.0):
    rng = np.random.default_rng(seed)
    t = np.arange(n) * 2 * np.pi / n
    radius = size * (1 + 0.3 * rng.uniform(-1, 1, n))
    return np.stack([radius * np.cos(t), radius * np.sin(t)], axis=1)


def random_poses(count, seed, reach=2.0):
    rng = np.random.default_rng(seed)
    return np.stack([*rng.uniform(-reach, reach, (2, count)), rng.uniform(0, 7, count)], axis=1)


CASES = {
    # name: a, b, pose of a, relation, kinds, points
    "corners overlap": (UNIT_SQUARE, UNIT_SQUARE, (0.5, 0.5, 0.0), CONTACT, [CROSSING] * 2, [(1, 0.5), (0.5, 1)]),
    "edge on edge": (UNIT_SQUARE, UNIT_SQUARE, (1.0, 0.25, 0.0), CONTACT, [INTERVAL], [(1, 0.625)]),
    "corner on corner": (UNIT_SQUARE, UNIT_SQUARE, (1.0, 1.0, 0.0), CONTACT, [TOUCH], [(1, 1)]),
    "the same": (UNIT_SQUARE, UNIT_SQUARE, (0.0, 0.0, 0.0), CONTACT, [INTERVAL], None),
    "within, touching": (SMALL, UNIT_SQUARE, (0.8, 0.4, 0.0), CONTACT, [INTERVAL], [(1, 0.5)]),
    "corner on edge": (
        UNIT_SQUARE,
        UNIT_SQUARE,
        (1 + np.sqrt(0.5), 0.5 - np.sqrt(0.5), np.pi / 4),
        CONTACT,
        [TOUCH],
        [(1, 0.5)],
    ),
    "through two corners": (SMALL, UNIT_SQUARE, (-0.1, -0.1, 0.0), CONTACT, [CROSSING] * 2, [(0.1, 0), (0, 0.1)]),
    "within": (SMALL, UNIT_SQUARE, (0.4, 0.4, 0.0), A_IN_B, [], []),
    "around": (UNIT_SQUARE, SMALL, (-0.4, -0.4, 0.0), B_IN_A, [], []),
    "apart": (UNIT_SQUARE, SMALL, (3.0, 0.0, 1.0), APART, [], []),
    "in the notch, not inside": (
        SMALL,
        Contour.from_polygon([(0, 0), (3, 0), (3, 3), (2, 3), (2, 1), (1, 1), (1, 3), (0, 3)]),
        (1.4, 2.0, 0.0),
        APART,
        [],
        [],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_named_cases(name):
    a, b, pose, relation, kinds, points = CASES[name]
    hits = contours.collide(a, b, pose=pose)
    assert hits.relation.tolist() == [relation]
    assert hits.kind.tolist() == kinds
    assert bool(hits) == (relation != APART) == contours.meets(a, b, pose=pose)
    if points is not None:
        np.testing.assert_allclose(hits.point, np.reshape(points, (-1, 2)), atol=1e-14)
    np.testing.assert_allclose(np.hypot(*hits.normal.T), 1.0)
    gap = contours.distance(a, b, pose=pose)
    assert (gap.distance[0] == 0.0) == (relation == CONTACT)
    assert gap.relation[0] == relation


def test_normals_point_from_a_to_b():
    right = contours.collide(UNIT_SQUARE, UNIT_SQUARE, pose=(1.0, 0.25, 0.0))
    assert right.normal.tolist() == [[-1.0, 0.0]]
    corner = contours.collide(UNIT_SQUARE, UNIT_SQUARE, pose=(1 + np.sqrt(0.5), 0.5 - np.sqrt(0.5), np.pi / 4))
    np.testing.assert_allclose(corner.normal, [[-1.0, 0.0]], atol=1e-15)
    clockwise = Contour.from_polygon([(0, 0), (0, 1), (1, 1), (1, 0)])
    assert contours.collide(clockwise, UNIT_SQUARE, pose=(1.0, 0.25, 0.0)).normal.tolist() == [[-1.0, 0.0]]


def test_a_contour_cut_at_other_places_is_the_same_all_around():
    control = wavy(9, 4)
    from abut.contours.curve.rough import refine_control

    hits = contours.collide(Contour(control), Contour(refine_control(control, 2)))
    assert hits.kind.tolist() == [INTERVAL]
    assert hits.parameter_a.tolist() == [[0.0, 9.0]]


@pytest.mark.parametrize("shift", [1e-13, 1e-11, 1e-9, 1e-7, 1e-5])
def test_nearly_coincident_contours_take_little_work(shift):
    contour = Contour(wavy(24, 1))
    hits = contours.collide(contour, contour, pose=(0.6 * shift, 0.8 * shift, 0.0))
    # A shifted copy meets the original where the tangent is parallel to the shift: the same number of places for every shift.
    turns = contour.derivative(np.arange(24 * 100) / 100) @ np.array([0.8, -0.6])
    assert len(hits) == (np.sign(turns) != np.sign(np.roll(turns, 1))).sum()
    assert hits.segments_compared[0] <= 4 * 24


def dense(contour, pose, count):
    x, y, angle = pose
    p = contour.point(np.arange(len(contour) * count) / count)
    c, s = np.cos(angle), np.sin(angle)
    return p @ np.array([[c, s], [-s, c]]) + (x, y)


def test_distance_is_that_of_dense_samples_and_of_its_witnesses():
    a, b = Contour(wavy(7, 1), 0.02, detail=2), Contour(wavy(9, 2))
    poses = random_poses(3 if jit.INTERPRETED else 40, 5, 3.0)
    gap = contours.distance(a, b, poses=poses)
    assert (gap.distance > 0).any()
    fixed = dense(b, (0, 0, 0), 60)
    step = max(contour.length / (60 * len(contour)) * 2 for contour in (a, b))
    for i, pose in enumerate(poses):
        moved = dense(a, pose, 60)
        samples = np.sqrt(((moved[:, None] - fixed) ** 2).sum(axis=2)).min()
        assert samples - 2 * step <= gap.distance[i] <= samples + 1e-12
        alone = contours.distance(a, b, pose=tuple(pose))
        assert alone.distance[0] == pytest.approx(gap.distance[i], rel=1e-11)
    np.testing.assert_allclose(np.hypot(*(gap.point_a - gap.point_b).T), gap.distance, atol=1e-13)
    np.testing.assert_allclose(b.point(gap.parameter_b), gap.point_b, atol=1e-14)
    np.testing.assert_allclose(gap.signed[gap.relation == APART], gap.distance[gap.relation == APART])


def test_many_poses_are_single_poses():
    a, b = Contour(wavy(8, 1)), Contour(wavy(11, 2))
    poses = random_poses(4 if jit.INTERPRETED else 120, 3)
    c, s = np.cos(poses[:, 2]), np.sin(poses[:, 2])
    matrices = np.zeros((len(poses), 3, 3))
    matrices[:, 0] = np.stack([c, -s, poses[:, 0]], axis=1)
    matrices[:, 1] = np.stack([s, c, poses[:, 1]], axis=1)
    matrices[:, 2, 2] = 1
    hits, meets = contours.collide(a, b, poses=poses), contours.meets(a, b, poses=matrices)
    assert len(np.unique(hits.relation)) >= 2
    for i, pose in enumerate(poses):
        alone = contours.collide(a, b, pose=pose)
        assert (hits.point[hits.query == i] == alone.point).all()
        assert (hits.kind[hits.query == i] == alone.kind).all()
        assert hits.relation[i] == alone.relation[0]
        assert meets[i] == bool(alone)
        back = contours.collide(b, a.moved(pose))  # a and b swapped
        assert sorted(back.kind.tolist()) == sorted(alone.kind.tolist())
    assert contours.collide(a, b, poses=poses[:0]).relation.shape == (0,)


def test_a_query_with_more_contacts_than_room_is_asked_again():
    comb = Contour.from_polygon([p for k in range(40) for p in ((k, 0), (k + 0.5, 5))] + [(40, -1), (0, -1)])
    hits = contours.collide(comb, comb, poses=[(0.1, 0.2, 0.0), (100.0, 0.0, 0.0), (0.0, 0.0, 0.0)])
    assert (hits.query == 0).sum() == len(contours.collide(comb, comb, pose=(0.1, 0.2, 0.0))) > 60
    assert hits.kind[hits.query == 2].tolist() == [INTERVAL]


def test_winding_numbers_are_those_of_the_angle_turned():
    for contour in (Contour(wavy(9, 3), 0.05), Contour(np.random.default_rng(1).normal(size=(7, 2)))):
        points = np.random.default_rng(2).uniform(-1.5, 1.5, (10 if jit.INTERPRETED else 300, 2))
        p = dense(contour, (0, 0, 0), 200)
        away = p[:, 0] + 1j * p[:, 1] - (points[:, :1] + 1j * points[:, 1:])
        expected = np.rint(np.angle(np.roll(away, -1, axis=1) / away).sum(axis=1) / (2 * np.pi)).astype(int)
        assert (contours.winding(contour, points) == expected).all()
        assert (contours.contains(contour, points) == (expected != 0)).all()
        assert contours.contains(contour, contour.point([0.0, 1.25])).all()  # on it


def test_pairs_are_those_of_overlapping_root_boxes_and_hold_all_contacts():
    many = [Contour(wavy(6, k, 0.4)) for k in range(12)]
    poses = random_poses(12, 8)
    near, hits = contours.collide_all(many, poses)
    assert (near == contours.pairs(many, poses)).all()
    placed = [contour.moved(pose) for contour, pose in zip(many, poses, strict=True)]
    meeting = set()
    for i in range(12):
        for j in range(i + 1, 12):
            alone = contours.collide(placed[i], placed[j])
            if alone:
                meeting.add((i, j))
                rows = hits.query == near.tolist().index([i, j])
                np.testing.assert_allclose(hits.point[rows], alone.point, atol=1e-12)
                np.testing.assert_allclose(hits.normal[rows], alone.normal, atol=1e-9)
    assert {tuple(near[k]) for k in np.flatnonzero(hits.relation)} == meeting
    assert meeting
    assert len(near) < 66


@pytest.mark.parametrize("n", [4, 5, 12])
@pytest.mark.parametrize("fit", ["basic", "children"])
def test_boxes_hold_their_curves(n, fit):
    for contour in (Contour(wavy(n, n)), Contour(wavy(n, n), 0.05, detail=2)):
        for increment in ("rivera", "bound"):
            boxes = contour.tolerance_boxes(fit=fit, increment=increment)
            assert len(boxes) == 2 * n - 1
            boxes.validate(contour.base)
        contour.boxes.validate(contour.segments)
        # Boxes grown by the bound hold the rough curve itself.
        x, y, ex, ey, a, b = boxes.nodes[n:].T
        detail = len(contour) // n
        p = contour.point(np.arange(len(contour) * 9) / 9).reshape(n, 9 * detail, 2) - np.stack([x, y], axis=1)[:, None]
        assert (np.abs(p[..., 0].T * ex + p[..., 1].T * ey) <= a + 1e-15).all()
        assert (np.abs(p[..., 1].T * ex - p[..., 0].T * ey) <= b + 1e-15).all()
    shrunk = boxes.nodes.copy()
    shrunk[n + 1, 4] *= 0.5
    with pytest.raises(AbutError, match="sticks out"):
        type(boxes)(shrunk).validate(contour.base)


def test_riveras_counts():
    """Figure 10: 3,069 boxes; 35, 171 and 459 compared. Ours need no more."""
    scene = scenes.rough_contours(*((64,) if jit.INTERPRETED else ()))
    if not jit.INTERPRETED:
        assert sum(len(contour.boxes) for contour in scene.contours) == 3069
    expected = {"apart": (35, 0), "two in contact": (171, 1), "contacts between all": (459, 3)}
    for name, poses in scene.situations.items():
        _, hits = contours.collide_all(scene.contours, poses, [(0, 1), (0, 2), (1, 2)])
        most, touching = expected[name]
        assert hits.boxes_compared.sum() <= most
        assert (hits.relation == CONTACT).sum() == touching


def test_pictures_show_every_contour_and_contact():
    placed = [UNIT_SQUARE, UNIT_SQUARE.moved((0.5, 0.5, 0.3))]
    hits = contours.collide(*placed)
    text = draw(placed, hits, UNIT_SQUARE.boxes.corners)
    assert text.count("<circle") == len(hits) == 2
    assert len(contours.svg.read(text.replace("<circle", "<metadata"))) >= 2


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: contours.collide(UNIT_SQUARE, [(0, 0), (1, 0), (1, 1)]), "b: is a list"),
        (lambda: contours.meets(UNIT_SQUARE, SMALL, pose=(0, np.nan, 0)), "pose"),
        (lambda: contours.meets(UNIT_SQUARE, SMALL, poses=[(0, 0, 0), (0, 0, 1e9)]), r"poses\[1\]: angle"),
        (lambda: contours.distance(UNIT_SQUARE, SMALL, pose=(0, 0, 0), poses=[(0, 0, 0)]), "together"),
        (lambda: contours.pairs([UNIT_SQUARE, SMALL], [(0, 0, 0)]), "1 rows for 2"),
        (lambda: UNIT_SQUARE.tolerance_boxes(fit="best"), "fit"),
        (lambda: contours.contains(SMALL, [(0, 0, 0)]), "points"),
    ],
)
def test_bad_questions_are_refused(call, words):
    with pytest.raises(InvalidInput, match=words):
        call()
