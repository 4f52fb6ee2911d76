"""Many contours: pairs, contacts of all, and the counts of the paper."""

import numpy as np

from abut import contours, scenes
from abut.contours import CONTACT, Contour
from abut.core import jit
from contours.curves import random_poses, wavy


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
