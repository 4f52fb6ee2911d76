"""Hulls: their features, merged and cut faces, degenerate points, and what is refused."""

import pickle

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from abut.convex import Hull, Hulls, Overlaps, overlap_many, track, track_many
from abut.core.errors import InvalidInput
from abut.core.jit import INTERPRETED
from convex.situations import ball, box, prism, random_points, random_rotation


def check_hull(hull, points):
    """Everything that can be said of a solid hull, from the points alone."""
    v, e, f = len(hull.vertices), len(hull.edges), len(hull.faces)
    assert v - e + f == 2
    np.testing.assert_array_equal(hull.vertices, points[hull.indices])
    size = np.ptp(points, axis=0).max()
    loops = [np.array(loop) for loop in hull.faces]
    assert max(map(len, loops)) <= 6
    for loop, normal in zip(loops, hull.normals, strict=True):
        heights = (points - hull.vertices[loop[0]]) @ normal
        assert heights.max() <= 1e-12 * size
        assert np.abs(heights[hull.indices[loop]]).max() <= 1e-12 * size
        corners = hull.vertices[loop]
        turns = np.cross(np.roll(corners, -1, 0) - corners, np.roll(corners, -2, 0) - np.roll(corners, -1, 0))
        assert (turns @ normal > -1e-12 * size**2).all()  # anticlockwise, convex
    for edge, sides in zip(hull.edges.tolist(), hull.edge_faces.tolist(), strict=True):
        for (tail, head), side in zip((edge, edge[::-1]), sides, strict=True):
            loop = list(hull.faces[side])
            assert loop[(loop.index(tail) + 1) % len(loop)] == head
    volume = sum(
        np.linalg.det(hull.vertices[[loop[0], loop[k], loop[k + 1]]] - hull.middle) / 6
        for loop in hull.faces
        for k in range(1, len(loop) - 1)
    )
    assert volume == pytest.approx(ConvexHull(points).volume, rel=1e-10)


def test_features(rng):
    for count in (4, 5, 10, 40) if INTERPRETED else (4, 5, 10, 40, 200, 2000):
        points = ball(rng, count) + np.array([1e3, 0, 0])
        check_hull(Hull(points), points)
    for points in (box(1, 2, 3), prism(7), prism(50), rng.integers(0, 4, (60, 3)).astype(float)):
        check_hull(Hull(points), points)


def test_merged_and_cut_faces():
    cube = Hull(np.vstack([box(1, 1, 1), box(1, 1, 1) * (1, 1, 0), [[0, 0, 0.5]]]))  # points on edges, in a face
    assert (len(cube.vertices), len(cube.edges), len(cube.faces)) == (8, 12, 6)
    drum = Hull(prism(100))
    assert len(np.unique(drum.facets)) == 102
    caps = [facet for facet in range(102) if (drum.facets == facet).sum() > 1]
    assert [len(drum.facet_polygon(facet)) for facet in caps] == [100, 100]
    degrees = np.bincount(drum.edges.ravel())
    assert degrees.max() <= 3 + 2 * 6  # cuts halve the loop: a vertex has at most log₂ 100 of them from either side


def test_degenerate_hulls(rng):
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    flat = np.hstack([rng.normal(size=(30, 2)), np.zeros((30, 1))]) @ turn.T + 5.0
    polygon = Hull(flat)
    assert polygon.dimension == 2
    assert polygon.faces[0] == polygon.faces[1][::-1]
    np.testing.assert_allclose(polygon.normals[0], -polygon.normals[1])
    np.testing.assert_allclose(np.abs(polygon.normals[0] @ turn), [0, 0, 1], atol=1e-12)
    assert len(polygon.vertices) == len(ConvexHull(flat @ turn[:, :2]).vertices)
    segment = Hull(np.outer(np.linspace(-1, 1, 9), turn[0]))
    assert (segment.dimension, len(segment.vertices), len(segment.edges)) == (1, 2, 1)
    assert Hull(np.ones((5, 3))).dimension == 0
    assert Hull(box(1, 1, 1)).dimension == 3
    assert Hull(box(1, 1, 1)).radius == pytest.approx(np.sqrt(3) / 2)


def test_hulls_in_one_set(rng):
    hulls = [Hull(random_points(rng, 20)) for _ in range(12)]
    both = Hulls(hulls)
    assert len(both) == 12
    for k, hull in enumerate(hulls):
        (v, e, f), (v_end, e_end, f_end) = both.starts[k], both.starts[k + 1]
        np.testing.assert_array_equal(
            both.tables.vertices[v:v_end] + hull.middle, hull.vertices - hull.middle + hull.middle
        )
        np.testing.assert_array_equal(both.tables.edge_links[e:e_end, :2] - v, hull.edges)
        np.testing.assert_array_equal(both.tables.planes[f:f_end, :3], hull.normals)
    copy = pickle.loads(pickle.dumps(both))
    np.testing.assert_array_equal(copy.tables.neighbours, both.tables.neighbours)
    assert copy.handle[0] == copy.tables.vertices.ctypes.data


def test_refused_points():
    with pytest.raises(InvalidInput, match="points: holds no point"):
        Hull(np.empty((0, 3)))
    with pytest.raises(InvalidInput, match=r"points\[1\]: is NaN"):
        Hull([[0, 0, 0], [np.nan, 0, 0]])
    with pytest.raises(InvalidInput, match="facet"):
        Hull(box(1, 1, 1)).facet_polygon(6)


CALLS = {
    "no hulls": lambda hull, poses: Hulls([]),
    "a number for a hull": lambda hull, poses: Hulls([3]),
    "a number for hulls": lambda hull, poses: Hulls(3),
    "arrays for hulls": lambda hull, poses: track(np.eye(3), np.eye(3)),
    "none for a hull": lambda hull, poses: track(hull, None),
    "a list for Hulls": lambda hull, poses: track_many([hull], [[0, 1]], poses),
    "ragged which": lambda hull, poses: track_many(Hulls([hull]), [[0, 1]], poses, which=[[0], [0, 0]]),
    "a fraction of a feature": lambda hull, poses: track_many(Hulls([hull] * 2), [[0, 1]], poses, [[0.5, 0]]),
    "a number for a result": lambda hull, poses: overlap_many(Hulls([hull] * 2), [[0, 1]], poses, last=3),
    "a result of nothing": lambda hull, poses: overlap_many(Hulls([hull] * 2), [[0, 1]], poses, Overlaps(None, 0, 0)),
    "text for a facet": lambda hull, poses: hull.facet_polygon("a"),
    "a hull of 1e-100": lambda hull, poses: Hull(1e-100 * hull.vertices),
}


@pytest.mark.parametrize("call", CALLS)
def test_bad_arguments_are_refused_by_name(call):
    with pytest.raises(InvalidInput):
        CALLS[call](Hull(box(1, 1, 1)), np.tile(np.eye(4), (2, 1, 1)))


@pytest.mark.parametrize("scale", [1e-60, 1e-30, 1e30, 2e74])
def test_scales(scale):
    """Distance and depth are those of a unit cube, times the scale."""
    hulls, poses = Hulls([Hull(scale * box(1, 1, 1))] * 2), np.tile(np.eye(4), (2, 1, 1))
    for x, distance in ((3.0, 2.0), (0.75, -0.25)):
        poses[1, :3, 3] = np.array([x, 0.5, 0.25]) * scale
        assert track_many(hulls, [[0, 1]], poses).distance[0] == pytest.approx(distance * scale, rel=1e-14)
        assert overlap_many(hulls, [[0, 1]], poses).overlap[0] == (distance < 0)


def test_narrow_faces_are_flat_to_rounding():
    """The sides of a thin plate, turned anyhow: their corners lie in one plane to a rounding of the size, not to that divided by the width."""
    rng = np.random.default_rng(8)
    for _ in range(10 if INTERPRETED else 300):
        plate = box(10.0, rng.uniform(1.0, 10.0), 10.0 ** rng.uniform(-9, -5))
        points = (
            np.vstack([plate, [[0.0, 0.0, plate[:, 2].max() * 3]]]) @ random_rotation(rng).T
        )  # a roof on it, or not
        hull = Hull(points[: rng.integers(8, 10)])
        for loop, normal in zip(hull.faces, hull.normals, strict=True):
            heights = (hull.vertices - hull.vertices[loop[0]]) @ normal
            assert np.ptp(heights[list(loop)]) <= 1e-14 * 10.0
            assert heights.max() <= 1e-14 * 10.0
