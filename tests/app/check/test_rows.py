import numpy as np
import pytest

from abut import Deformable, Mesh, collide
from abut.app.check.findings import Contact, Rows
from abut.app.check.rows import deepest, earliest, empty_rows, join, rows_of_contacts, rows_of_impacts, select, shift
from abut.ccd import EDGE_EDGE, VERTEX_FACE, Impacts
from app.animation import FACES, FRAMES

DOWN = [0.0, 0.0, -1.0]


def impact(kind, a, b, time, point, normal):
    return Impacts(
        np.array([kind], np.int8),
        np.array([a]),
        np.array([b]),
        np.array([time]),
        np.array([point], float),
        np.array([normal], float),
        np.ones(1, np.int8),
    )


def depth_of(kind, v_t0, v_t1, time, point, normal, faces=((0, 1, 2), (3, 4, 5))):
    mesh = Mesh(v_t0, faces)
    a, b = (3, 0) if kind == VERTEX_FACE else (edge_of(mesh, 0, 1), edge_of(mesh, 3, 4))
    rows = rows_of_impacts(impact(kind, a, b, time, point, normal), mesh, np.array(v_t0, float), np.array(v_t1, float))
    return rows.depth[0]


def edge_of(mesh, i, j):
    return mesh.edges.tolist().index([i, j])


FLAT = [[0, 0, 0], [4, 0, 0], [0, 4, 0]]


@pytest.mark.parametrize(
    ("start", "end", "face_rise", "expected"),
    [
        (1.0, -3.0, 0.0, 3.0),  # from the impact at a quarter it goes 3 further down
        (1.0, -1.0, 2.0, 3.0),  # the face comes up to meet it at a quarter, and both go on
        (1.0, -0.0, 0.0, 0.0),  # touches at the very end
    ],
)
def test_depth_of_a_vertex_in_a_face(start, end, face_rise, expected):
    above = [[1, 1, start], [1, 2, start + 1], [2, 1, start + 1]]
    v_t0 = np.array(FLAT + above, float)
    v_t1 = v_t0.copy()
    v_t1[:3, 2] += face_rise
    v_t1[3:, 2] += end - start
    time = start / (start - end + face_rise)
    point = [1, 1, time * face_rise]
    assert depth_of(VERTEX_FACE, v_t0, v_t1, time, point, DOWN) == pytest.approx(expected, abs=1e-15)


def test_depth_follows_the_point_of_the_face_that_is_hit():
    # The face turns about its side x = 0: where x = 1 it rises by 1, where x = 3 by 3.
    for x in (0.5, 1.0, 3.0):
        v_t0 = np.array([*FLAT, [x, 0.5, 0.0], [x, 1, 5], [x, 0, 5]], float)
        v_t1 = v_t0.copy()
        v_t1[1, 2] = 4.0
        assert depth_of(VERTEX_FACE, v_t0, v_t1, 0.0, [x, 0.5, 0.0], DOWN) == pytest.approx(x, rel=1e-14)


def test_depth_of_two_edges():
    # Edge 0-1 along x stays; edge 3-4 along y comes down from 1 to −1 at one end and to −3 at the other; they cross at a quarter of it.
    v_t0 = np.array([[-2, 0, 0], [2, 0, 0], [0, 0, -9], [0, -1, 1], [0, 3, 1], [0, 0, 9]], float)
    v_t1 = v_t0.copy()
    v_t1[3, 2], v_t1[4, 2] = -1.0, -3.0
    time = 1.0 / 2.5  # at the quarter it moves by 2 + 0.25·2
    upwards = [0.0, 0.0, 1.0]
    assert depth_of(EDGE_EDGE, v_t0, v_t1, time, [0, 0, 0], upwards) == pytest.approx(1.5, rel=1e-14)


def test_moving_apart_again_has_no_depth():
    v_t0 = np.array([*FLAT, [1, 1, 0], [1, 2, 1], [2, 1, 1]], float)
    v_t1 = v_t0 + np.where(np.arange(6)[:, np.newaxis] > 2, [0.0, 0.0, 1.0], 0.0)
    assert depth_of(VERTEX_FACE, v_t0, v_t1, 0.0, [1, 1, 0], DOWN) == 0.0


@pytest.mark.parametrize(
    "corner", [[2, 0, 0], [8, 0, 0], [-4, 0, 0], [0, 0, 0]], ids=["on", "beyond", "before", "twice"]
)
def test_face_without_area_counts_as_its_longest_side(corner):
    v_t0 = np.array([[0, 0, 0], [4, 0, 0], corner, [1, 0, 0], [1, 2, 1], [2, 1, 1]], float)
    v_t1 = v_t0.copy()
    v_t1[3, 2] = -2.0
    assert depth_of(VERTEX_FACE, v_t0, v_t1, 0.0, [1, 0, 0], DOWN) == pytest.approx(2.0)


def test_edge_without_length_is_a_point():
    v_t0 = np.array([[0, 0, 0], [0, 0, 0], [0, 1, -9], [-1, 0, 0], [1, 0, 0], [0, 0, 9]], float)
    v_t1 = v_t0 + np.where(np.arange(6)[:, np.newaxis] > 2, DOWN, 0.0)
    assert depth_of(EDGE_EDGE, v_t0, v_t1, 0.0, [0, 0, 0], [0, 0, 1.0]) == 1.0


def test_faces_that_cut_have_the_length_of_the_cut():
    body = Deformable(Mesh(FRAMES[0], FACES))
    body.update(FRAMES[3])
    rows = rows_of_contacts(collide(body))
    assert (rows.kind.tolist(), rows.a.tolist(), rows.b.tolist()) == ([Contact.FACE_FACE], [0], [2])
    # The triangle's lower side, 0.5 long, is as far below the square as its top is above it.
    assert rows.depth.tolist() == pytest.approx([0.25])
    assert rows.point[0] == pytest.approx([0.75, -0.075, 0.0])
    assert rows.time.tolist() == [0.0]


def random_rows(rng, count):
    # few values, so that there are ties in every column
    def pick(high):
        return rng.integers(0, high, count)

    kind = rng.choice([0, 1, 3], count).astype(np.int8)
    vectors = rng.normal(size=(count, 3))
    return Rows(pick(4), kind, pick(5), pick(5), pick(6) / 4, vectors, -vectors, pick(4) / 8)


def listed(rows):
    return list(zip(*(np.asarray(column).tolist() for column in rows), strict=True))


def test_deepest_and_earliest_by_plain_sorting(rng):
    for count in (0, 1, 7, 60):
        rows = random_rows(rng, count)
        by_depth = sorted(listed(rows), key=lambda row: (-row[7], *row[:4]))
        for most in (1, 5, 100):
            assert [row[:4] + row[7:] for row in listed(deepest(rows, most))] == [
                row[:4] + row[7:] for row in by_depth[:most]
            ]
        by_time = sorted(listed(rows), key=lambda row: (row[4], *row[:4]))
        assert [row[:5] for row in listed(earliest(rows))] == [row[:5] for row in by_time[:1]]


def test_rows_are_shifted_joined_and_selected(rng):
    rows = random_rows(rng, 9)
    moved = shift(rows, 5)
    assert (moved.frame == rows.frame + 5).all()
    assert (moved.time == rows.time + 5).all()
    assert listed(join([select(rows, slice(4)), select(rows, slice(4, None))])) == listed(rows)
    assert listed(join([])) == listed(empty_rows()) == []
    assert [column.dtype for column in join([])] == [column.dtype for column in rows]
    assert not any(column.flags.writeable for column in join([moved]))
