"""Where contours meet: named degenerate cases, many poses, and how the work grows."""

import numpy as np
import pytest

from abut import InvalidInput, contours
from abut.contours import A_IN_B, APART, B_IN_A, CONTACT, CROSSING, INTERVAL, TOUCH, Contour
from abut.core import jit
from contours.curves import SMALL, UNIT_SQUARE, random_poses, wavy

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


def comb(teeth):
    """A zigzag of so many teeth between 0 and 1, closed below."""
    x = np.linspace(0, 1, 2 * teeth + 1)
    upper = np.stack([x, np.arange(2 * teeth + 1) % 2], axis=1)
    return np.concatenate([upper, [(1.5, -0.5), (-0.5, -0.5)]])


def test_the_work_grows_with_the_contacts_not_with_their_square():
    for teeth in (4, 8) if jit.INTERPRETED else (16, 32, 64, 128):
        a, b = Contour.from_polygon(comb(teeth)), Contour.from_polygon(comb(teeth)[:, ::-1])
        hits = contours.collide(a, b)
        assert len(hits) == 4 * teeth**2
        # Places are compared within a hundredth of a segment: of 2·teeth places on each there.
        assert hits.places_compared[0] <= len(hits) * (2 + 0.04 * teeth)
        assert hits.boxes_compared[0] <= 4 * len(hits)


@pytest.mark.parametrize("scale", [1e-74, 1e-60, 1e-20, 1e20, 1e60, 1e74])
def test_answers_do_not_depend_on_the_scale(scale):
    control = np.array([(0, 0), (2, 0), (3, 1), (2, 3), (0, 2)])
    a, b = Contour(control), Contour(control[::-1] + 0.25)
    big_a, big_b = Contour(control * scale), Contour((control[::-1] + 0.25) * scale)
    for x in (0.0, 0.5, 1.3, 2.9, 8.0):
        hits, big = contours.collide(a, b, pose=(x, 0, 0.1)), contours.collide(big_a, big_b, pose=(x * scale, 0, 0.1))
        assert big.kind.tolist() == hits.kind.tolist()
        np.testing.assert_allclose(big.point / scale, hits.point, atol=1e-12)
        gap, far = contours.distance(a, b, pose=(x, 0, 0.1)), contours.distance(big_a, big_b, pose=(x * scale, 0, 0.1))
        np.testing.assert_allclose(far.distance / scale, gap.distance, atol=1e-11)
        assert contours.meets(big_a, big_b, pose=(x * scale, 0, 0.1)) == contours.meets(a, b, pose=(x, 0, 0.1))


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
