"""Answers at the ends of the range of doubles: a power of two rounds nothing, so they are those of the unit scale, times that power."""

import numpy as np
import pytest

from abut import InvalidInput, Mesh, Rigid, collide, contains, distance, scenes
from abut.core import arrays, jit
from conftest import SLOW, SOAK
from discrete.situations import deformable, random_pose, soup
from oracles.bodies import pair_set

LEAST, MOST = -1000, 245
"""Exponents of the least bodies that keep all their digits, and of the largest whose coordinates stay below LARGEST_COORDINATE."""
EXPONENTS = [-450, MOST] if SLOW else [LEAST, -700, -545, -450, -401, -399, -300, -210, -190, 60, 150, MOST]
PART = 5e-3  # a depth is found to within this part of itself
ROUNDED = 1e-13


def scaled(body, exponent):
    """The same body so many powers of two larger."""
    pose = body.pose.copy()
    pose[:3, 3] = np.ldexp(pose[:3, 3], exponent)
    return Rigid(Mesh(np.ldexp(body.mesh.vertices, exponent), body.mesh.faces), pose)


def pairs(rng):
    """Bodies that overlap, that hold one another, that are apart; surfaces without an inside."""
    ball, small, box = scenes.icosphere(0), scenes.icosphere(0, radius=0.3), scenes.box((1.0, 0.7, 1.3))
    yield Rigid(ball, random_pose(rng, 0.3)), Rigid(box, random_pose(rng, 0.6))
    yield Rigid(small, random_pose(rng, 0.05)), Rigid(ball, random_pose(rng))
    yield Rigid(ball, random_pose(rng)), Rigid(box, random_pose(rng) + np.outer(np.eye(4)[2], (0, 0, 0, 3.0)))
    yield Rigid(soup(rng, 20), random_pose(rng)), Rigid(soup(rng, 20), random_pose(rng, 0.2))


def check_contacts(found, expected, exponent):
    assert pair_set(found) == pair_set(expected)
    np.testing.assert_array_equal(found.inside, expected.inside)
    np.testing.assert_allclose(found.normal, expected.normal, atol=1e-9)
    np.testing.assert_allclose(np.ldexp(found.segment, -exponent), expected.segment, atol=1e-9)


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_contacts_at_any_scale(exponent):
    rng = np.random.default_rng(1)
    for a, b in [pair for _ in range(50 if SOAK else 1) for pair in pairs(rng)]:
        small_a, small_b = scaled(a, exponent), scaled(b, exponent)
        expected = collide(a, b)
        for first, second in ((small_a, small_b), (deformable(small_a), small_b)):
            check_contacts(collide(first, second), expected, exponent)
        near, found = collide(a, b, margin=0.2), collide(small_a, small_b, margin=float(np.ldexp(0.2, exponent)))
        check_contacts(found, near, exponent)
        if not jit.INTERPRETED:
            np.testing.assert_allclose(np.ldexp(found.depth, -exponent), near.depth, rtol=2 * PART, atol=ROUNDED)
        if len(a.mesh.faces) == 20 and not a.mesh.is_closed:
            assert pair_set(collide(small_a)) == pair_set(collide(a))


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_points_in_bodies_at_any_scale(exponent):
    rng = np.random.default_rng(2)
    body = Rigid(scenes.icosphere(0), random_pose(rng, 0.5))
    points = np.concatenate((rng.normal(scale=0.6, size=(200, 3)), body.vertices))
    found = contains(scaled(body, exponent), np.ldexp(points, exponent))
    np.testing.assert_array_equal(found, contains(body, points))
    assert 20 < found[:200].sum() < 180
    assert found[200:].all()


@pytest.mark.large
@pytest.mark.parametrize("exponent", EXPONENTS)
def test_distances_and_separations_at_any_scale(exponent):
    rng = np.random.default_rng(3)
    for a, b in [pair for _ in range(20 if SOAK else 1) for pair in pairs(rng)][:3]:
        small_a, small_b = scaled(a, exponent), scaled(b, exponent)
        expected, found = distance(a, b), distance(small_a, small_b)
        assert np.ldexp(found.distance, -exponent) == pytest.approx(expected.distance, rel=2 * PART)
        np.testing.assert_allclose(np.linalg.norm(found.normal), 1.0, atol=1e-12)
        length = np.linalg.norm(np.ldexp(found.separation, -exponent))
        assert length == pytest.approx(np.linalg.norm(expected.separation), rel=0.02)
        pose = small_b.pose.copy()
        pose[:3, 3] += found.separation
        assert not collide(small_a, Rigid(small_b.mesh, pose))


def test_the_largest_and_the_least_coordinates():
    """The largest is stated and the next one refused; at the least, where all is a few units in the last place, answers are finite."""
    most = arrays.LARGEST_COORDINATE
    corner = scenes.box((most,) * 3)
    box = Mesh(corner.vertices * 2, corner.faces)
    assert len(collide(box, corner)) == 0
    assert collide(box, corner).inside.tolist() == [2]
    assert contains(box, [[most, most, most]]).all()
    if not jit.INTERPRETED:
        assert distance(box, corner).distance == pytest.approx(-0.5 * most)
    with pytest.raises(InvalidInput, match="beyond"):
        Rigid(Mesh(np.where(box.vertices > 0, np.nextafter(most, np.inf), box.vertices), box.faces))
    least = np.ldexp(1.0, -1074)
    tiny = Rigid(Mesh(scenes.box((2.0, 2.0, 2.0)).vertices * least, box.faces))
    beside = Rigid(Mesh(tiny.vertices + np.array([3 * least, 0, 0]), box.faces))
    assert not collide(tiny, beside)
    assert collide(tiny, Rigid(Mesh(tiny.vertices + np.array([2 * least, 0, 0]), box.faces)))
    assert distance(tiny, beside).distance == least
    np.testing.assert_array_equal(distance(tiny, beside).normal, [1.0, 0.0, 0.0])
    assert contains(tiny, [[0.0, 0.0, least], [0.0, 0.0, 2 * least]]).tolist() == [True, False]
