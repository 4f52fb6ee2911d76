"""Points and normals of contact: known cases, and what holds for every input."""

import numpy as np
import pytest

from abut import ccd
from abut.ccd.impact.contact_points import contact_point_normal_edge_edge, contact_point_normal_vertex_face
from abut.core.jit import INTERPRETED
from ccd.query_kinds import KINDS

MEET = {True: contact_point_normal_vertex_face, False: contact_point_normal_edge_edge}
ASK = {True: ccd.vertex_face, False: ccd.edge_edge}
FACE = [(0.0, 0.0, 0.0), (4.0, 0.0, 0.0), (0.0, 4.0, 0.0)]


def tuples(query):
    return [tuple(map(float, point)) for point in query]


def contact(query, is_face, time):
    return MEET[is_face](*tuples(query), float(time))


@pytest.mark.parametrize(
    ("before", "after", "normal"),
    [
        ((1, 1, 1), (1, 1, -1), (0, 0, -1)),
        ((1, 1, -1), (1, 1, 1), (0, 0, 1)),
        ((0, 0, 1), (2, 2, -1), (0, 0, -1)),
        ((1, 1, 0), (1, 1, 1), (0, 0, 1)),  # at t = 0: against b's velocity as seen from a, which is (0, 0, −1)
    ],
)
def test_vertex_and_face(before, after, normal):
    query = [before, *FACE, after, *FACE]
    time = ccd.vertex_face([query]).time[0]
    point, found = contact(query, True, time)
    np.testing.assert_allclose(found, normal, atol=1e-12)
    np.testing.assert_allclose(point, (1 - time) * np.array(before) + time * np.array(after), atol=1e-8)


def test_a_moving_face_pushes_the_normal_the_same_way():
    lifted = [(x, y, z + 1) for x, y, z in FACE]
    query = [(1, 1, 0.5), *FACE, (1, 1, 0.5), *lifted]
    point, normal = contact(query, True, 0.5)
    np.testing.assert_allclose(normal, (0, 0, -1), atol=1e-12)  # the face is below the vertex before
    np.testing.assert_allclose(point, (1, 1, 0.5), atol=1e-12)


def test_edges_that_cross():
    query = [(-1, 0, 1), (1, 0, 1), (0, -1, 0), (0, 1, 0), (-1, 0, -1), (1, 0, -1), (0, -1, 0), (0, 1, 0)]
    point, normal = contact(query, False, 0.5)
    np.testing.assert_allclose(normal, (0, 0, -1), atol=1e-12)
    np.testing.assert_allclose(point, (0, 0, 0), atol=1e-12)
    swapped = [query[i] for i in (2, 3, 0, 1, 6, 7, 4, 5)]
    np.testing.assert_allclose(contact(swapped, False, 0.5)[1], (0, 0, 1), atol=1e-12)


def test_parallel_edges_meet_against_their_velocity():
    query = [(-1, 0, 1), (1, 0, 1), (0, 0, 0), (5, 0, 0), (-1, 0, -1), (1, 0, -1), (0, 0, 0), (5, 0, 0)]
    np.testing.assert_allclose(contact(query, False, 0.5)[1], (0, 0, -1), atol=1e-12)


def test_features_apart_have_the_closest_direction():
    query = [(5, 0, 3), *FACE, (5, 0, 3), *FACE]
    point, normal = contact(query, True, 0.0)
    np.testing.assert_allclose(normal, np.array([-1, 0, -3]) / np.sqrt(10), atol=1e-12)
    np.testing.assert_allclose(point, (4.5, 0, 1.5), atol=1e-12)


@pytest.mark.parametrize("is_face", [True, False], ids=["vertex-face", "edge-edge"])
@pytest.mark.parametrize("kind", KINDS)
def test_normals_are_always_of_length_one(kind, is_face):
    queries = KINDS[kind](np.random.default_rng(1), 3 if INTERPRETED else 40)
    for query, time in zip(queries, np.random.default_rng(2).choice([0.0, 0.3, 1.0], len(queries)), strict=True):
        point, normal = contact(query, is_face, time)
        assert np.isfinite(point).all()
        assert abs(np.linalg.norm(normal) - 1.0) < 1e-12


@pytest.mark.parametrize("is_face", [True, False], ids=["vertex-face", "edge-edge"])
def test_features_lie_on_their_sides_just_before(is_face):
    """Just before the contact, b's side of the plane through the point holds b's contact point and not a's."""
    queries = np.random.default_rng(3).normal(size=(60 if INTERPRETED else 600, 8, 3))
    verdict = ASK[is_face](queries)
    checked = 0
    for query, time in zip(queries[verdict.hit], verdict.time[verdict.hit], strict=True):
        if time < 1e-3:
            continue
        _, normal = contact(query, is_face, time)
        _, before = contact(query, is_face, time - 1e-4)  # the closest direction, where they are apart
        if abs(np.dot(normal, before)) > 0.9:  # not where another pair of points was closer then
            assert np.dot(normal, before) > 0.0
            checked += 1
    assert checked > 0.5 * verdict.hit.sum()
