"""Steps that begin in contact, what is no part of a surface, and which way normals point."""

import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import abut
from abut import ccd
from abut.core.jit import INTERPRETED
from ccd.steps import soup
from conftest import SOAK
from oracles.start import are_in_contact, winding

BALL = abut.scenes.icosphere(0 if INTERPRETED else 1)


def motion(mesh, shift=(0.0, 0.0, 0.0), move=(0.0, 0.0, 0.0), scale=1.0):
    start = mesh.vertices * scale + np.array(shift)
    return abut.Motion(mesh, start, start + np.array(move))


def spike():
    """A needle through the middle of a large triangle: no vertex and no edge is near an edge or inside the plane."""
    return (
        abut.Mesh([[0, 0, -1], [0, 0, 1], [0.1, 0.1, 1]], [[0, 1, 2]]),
        abut.Mesh([[-9, -9, 0], [9, -9, 0], [0, 9, 0]], [[0, 1, 2]]),
    )


@pytest.mark.parametrize("min_distance", [0.0, 0.01])
@pytest.mark.parametrize("max_memory", [None, 1 << 22])
def test_bodies_that_pierce_each_other_at_the_start_meet_at_time_0(min_distance, max_memory):
    """A time of 0.5, or inf, was reported: that of the features that meet later, if any do."""
    options = {"min_distance": min_distance, "max_memory": max_memory}
    for move in ((0.0, 0.0, 0.1), (0.0, 0.0, 5.0), (3.0, 0.0, 0.0), (0.0, 0.0, 0.0)):
        for scale in (2.0**-90, 1.0, 2.0**90):
            needle, wall = (motion(mesh, move=np.array(move) * scale, scale=scale) for mesh in spike())
            wall = abut.Motion(wall.mesh, wall.vertices_t0, wall.vertices_t0)
            for pair in ((needle, wall), (wall, needle), (ccd.join(needle, wall),)):
                impacts = abut.sweep(*pair, **{**options, "min_distance": min_distance * scale})
                assert abut.time_of_impact(*pair, **{**options, "min_distance": min_distance * scale}) == 0.0
                assert impacts.in_contact_at_start
                assert impacts
                assert (impacts.time > 0.0).all()


def test_turning_bodies_that_pierce_each_other_meet_at_time_0():
    needle, wall = spike()
    end = np.eye(4)
    end[:3, :3] = Rotation.from_rotvec([0.2, 0.1, 0.3]).as_matrix()
    turning, rest = abut.Motion(abut.Rigid(needle), np.eye(4), end), motion(wall)
    for pair in ((turning, rest), (rest, turning), (ccd.join(turning, rest),)):
        assert abut.time_of_impact(*pair) == 0.0
        assert abut.sweep(*pair).in_contact_at_start


def test_surfaces_that_only_touch_or_come_later_are_not_in_contact_at_the_start():
    falling, floor = motion(BALL, (0, 0, 3.0), (0, 0, -4.0)), motion(spike()[1])
    impacts = abut.sweep(falling, floor)
    assert impacts
    assert not impacts.in_contact_at_start
    assert abut.time_of_impact(falling, floor) == impacts.time.min()
    leaving = motion(BALL, (0, 0, 3.0), (0, 0, 4.0))
    assert not abut.sweep(leaving, floor)
    assert abut.time_of_impact(leaving, floor) == np.inf


@pytest.mark.parametrize("inside_out", [False, True])
def test_a_closed_body_that_holds_another_meets_it_at_time_0(inside_out):
    faces = BALL.faces[:, ::-1] if inside_out else BALL.faces
    outer, inner = motion(abut.Mesh(BALL.vertices, faces)), motion(BALL, (0.1, 0.0, 0.0), scale=0.1)
    opened = motion(abut.Mesh(BALL.vertices, faces[1:]))
    beside = motion(BALL, (3.0, 0.0, 0.0), scale=0.1)
    for a, b, held in ((outer, inner, True), (opened, inner, False), (outer, beside, False)):
        for pair in ((a, b), (b, a)):
            impacts = abut.sweep(*pair)
            assert len(impacts) == 0
            assert (impacts.in_contact_at_start, bool(impacts)) == (held, held)
            assert abut.time_of_impact(*pair) == (0.0 if held else np.inf)
    assert abut.time_of_impact(ccd.join(outer, inner)) == np.inf  # one surface, as a wall of a cavity is
    both = ccd.join(beside, inner)  # of many pieces one is enough
    assert abut.time_of_impact(outer, both) == abut.time_of_impact(both, outer) == 0.0


def shell(thick=0.2):
    """A ball with a cavity: what is in the cavity is outside."""
    count = len(BALL.vertices)
    return abut.Mesh(
        np.concatenate([BALL.vertices, (1.0 - thick) * BALL.vertices]),
        np.concatenate([BALL.faces, BALL.faces[:, ::-1] + count]),
    )


def test_random_closed_bodies_are_held_where_solid_angles_say_so():
    rng = np.random.default_rng(31)
    held = 0
    for _ in range(4 if INTERPRETED else 400 if SOAK else 40):
        hollow, turn = shell(), Rotation.random(random_state=int(rng.integers(1 << 30)))
        shift = rng.normal(size=3) * rng.choice([0.3, 1.0])
        small = 0.02 * BALL.vertices @ turn.as_matrix().T + shift
        a, b = motion(hollow), abut.Motion(BALL, small, small + 0.001)
        if are_in_contact(a, b):
            expected = True
        else:
            expected = round(winding(small[0], hollow.vertices, hollow.faces)) != 0
            held += expected
        impacts = abut.sweep(a, b)
        assert impacts.in_contact_at_start == expected
        assert abut.time_of_impact(a, b) == (0.0 if expected else impacts.time.min(initial=np.inf))
    assert held or INTERPRETED


def test_random_steps_are_in_contact_where_fractions_say_so():
    rng = np.random.default_rng(32)
    counts = [0, 0]
    for turn in range(2 if INTERPRETED else 600 if SOAK else 60):
        steps = [abut.Motion(*soup(rng, int(rng.integers(1, 8)), size=0.4)) for _ in range(1 + turn % 2)]
        impacts = abut.sweep(*steps)
        assert impacts.in_contact_at_start == are_in_contact(*steps)
        counts[impacts.in_contact_at_start] += 1
        earliest = abut.time_of_impact(*steps)
        assert earliest == (0.0 if impacts.in_contact_at_start else impacts.time.min(initial=np.inf))
        assert bool(impacts) == (earliest <= 1.0)
    assert min(counts) > 5 or INTERPRETED


def test_a_rigid_body_that_pierces_itself_is_no_contact():
    needle, wall = spike()
    both = ccd.join(motion(needle), motion(wall)).mesh
    end = np.eye(4)
    end[0, 3] = 5.0
    alone = abut.Motion(abut.Rigid(both), np.eye(4), end)
    assert abut.time_of_impact(alone) == np.inf
    assert not abut.sweep(alone)
    beside = motion(BALL, (0.0, 0.0, 50.0))
    assert abut.time_of_impact(ccd.join(alone, beside)) == np.inf
    assert abut.time_of_impact(ccd.join(alone, motion(BALL, (0.3, 0.2, 0.1)))) == 0.0


def test_contact_at_the_start_can_be_left_out():
    needle, wall = spike()
    start = needle.vertices
    leaving, floor = abut.Motion(needle, start, start + np.array([0.0, 0.0, 4.0])), motion(wall)
    assert abut.time_of_impact(leaving, floor) == 0.0
    time = abut.time_of_impact(leaving, floor, at_start=False)
    assert time == abut.sweep(leaving, floor).time.min()
    assert 0.25 - 1e-9 <= time <= 0.25  # the tip comes out from below
    with pytest.raises(abut.InvalidInput, match="at_start"):
        abut.time_of_impact(leaving, floor, at_start="no")


def test_the_answer_of_impacts_is_kept_when_they_are_copied():
    needle, wall = (motion(mesh) for mesh in spike())
    copy = pickle.loads(pickle.dumps(abut.sweep(needle, wall)))
    assert len(copy) == 0
    assert copy.in_contact_at_start
    assert copy


# ---- what is no part of a surface


def with_loose_vertices(rng, mesh, v_t0, v_t1):
    """The same step with vertices of no face among the others, far away and amid the surface; and the new numbers of the old ones."""
    count = len(v_t0)
    numbers = np.sort(rng.choice(count + 7, count, replace=False))
    ends = []
    for rows in (mesh.vertices, v_t0, v_t1):
        grown = rng.normal(size=(count + 7, 3)) * rng.choice([0.1, 1.0, 1e9], size=(count + 7, 1))
        grown[numbers] = rows
        ends.append(grown)
    return abut.Mesh(ends[0], numbers[mesh.faces]), ends[1], ends[2], numbers


def test_vertices_of_no_face_meet_nothing_and_change_nothing():
    """`sweep` reported them, `collide` and `distance` do not see them."""
    rng = np.random.default_rng(33)
    for turn in range(2 if INTERPRETED else 30):
        steps = [soup(rng, 6, size=0.3) for _ in range(1 + turn % 2)]
        used = [np.unique(mesh.faces, return_inverse=True) for mesh, _, _ in steps]
        steps = [
            (abut.Mesh(mesh.vertices[u], f.reshape(-1, 3)), v[u], w[u])
            for (mesh, v, w), (u, f) in zip(steps, used, strict=True)
        ]
        grown = [with_loose_vertices(rng, *step) for step in steps]
        plain, loose = [abut.Motion(*s) for s in steps], [abut.Motion(*g[:3]) for g in grown]
        a, b = abut.sweep(*plain), abut.sweep(*loose)
        first, second = grown[0][3], grown[-1][3]
        is_vertex, was_vertex = a.kind == ccd.VERTEX_FACE, a.kind == ccd.FACE_VERTEX
        assert b.kind.tolist() == a.kind.tolist()
        assert b.time.tolist() == a.time.tolist()
        assert b.a[is_vertex].tolist() == first[a.a[is_vertex]].tolist()
        assert b.b[was_vertex].tolist() == second[a.b[was_vertex]].tolist()
        assert b.a[~is_vertex].tolist() == a.a[~is_vertex].tolist()
        assert abut.time_of_impact(*loose) == abut.time_of_impact(*plain)
        p, q = ccd.candidates(*plain), ccd.candidates(*loose)
        assert q.vertex_face.tolist() == [[first[i], j] for i, j in p.vertex_face.tolist()]
        assert q.face_vertex.tolist() == [[i, second[j]] for i, j in p.face_vertex.tolist()]
        assert q.edge_edge.tolist() == p.edge_edge.tolist()
        streamed = np.concatenate([chunk.vertex_face for chunk in ccd.stream_candidates(*loose)] or [q.vertex_face])
        assert sorted(map(tuple, streamed.tolist())) == sorted(map(tuple, q.vertex_face.tolist()))


def test_a_loose_vertex_that_falls_through_a_floor_is_no_contact_and_one_of_a_collapsed_face_is():
    floor = motion(spike()[1])
    v = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 5.0], [1.0, 0.0, 5.0], [0.0, 1.0, 5.0]])
    for faces, time in (([[1, 2, 3]], np.inf), ([[1, 2, 3], [0, 0, 0]], 0.5), ([[1, 2, 3], [0, 1, 0]], 0.5)):
        falling = abut.Motion(abut.Mesh(v, faces), v, v - [0.0, 0.0, 2.0])
        assert time - 1e-9 <= abut.time_of_impact(falling, floor) <= time
        below = abut.Deformable(falling.mesh)
        below.update(v - [0.0, 0.0, 1.0])
        touches = np.isfinite(time)
        assert bool(abut.collide(below, abut.Rigid(floor.mesh))) == touches
        assert (abut.distance(below, abut.Rigid(floor.mesh)).distance == 0.0) == touches


# ---- normals


def test_normals_do_not_follow_the_orientation_of_faces_where_things_move():
    rng = np.random.default_rng(34)
    for turn in range(2 if INTERPRETED else 20):
        steps = [soup(rng, 8, size=0.3) for _ in range(1 + turn % 2)]
        plain = abut.sweep(*(abut.Motion(*step) for step in steps))
        turned = abut.sweep(*(abut.Motion(abut.Mesh(m.vertices, m.faces[:, ::-1]), v, w) for m, v, w in steps))
        np.testing.assert_allclose(turned.time, plain.time, rtol=0, atol=1e-9)
        np.testing.assert_allclose(turned.normal, plain.normal, rtol=0, atol=1e-9)


@pytest.mark.parametrize("flipped", [False, True])
def test_a_ball_pushed_from_either_side_has_normals_towards_the_other_body(flipped):
    """An inside-out body, and an open one, push like any other."""
    faces = BALL.faces[:, ::-1] if flipped else BALL.faces
    for own in (faces, faces[: len(faces) // 2]):
        falling = motion(abut.Mesh(BALL.vertices, own), (0.0, 0.0, 3.0), (0.0, 0.0, -2.5))
        floor = motion(spike()[1])
        above, below = abut.sweep(falling, floor), abut.sweep(floor, falling)
        assert len(above)
        np.testing.assert_allclose(above.normal, np.tile([0.0, 0.0, -1.0], (len(above), 1)), atol=1e-12)
        np.testing.assert_allclose(below.normal, np.tile([0.0, 0.0, 1.0], (len(below), 1)), atol=1e-12)


@pytest.mark.parametrize("flipped", [False, True])
def test_at_rest_a_normal_points_against_that_of_the_face(flipped):
    """Nothing else tells the sides apart: only then the orientation does, and flipping the face turns the normal."""
    face = abut.Mesh([[0, 0, 0], [4, 0, 0], [0, 4, 0]], [[0, 2, 1] if flipped else [0, 1, 2]])
    other = abut.Mesh([[1, 1, 0], [1, 1, 2], [1.5, 1, 2]], [[0, 1, 2]])
    impacts = abut.sweep(motion(other), motion(face))
    assert impacts.kind.tolist() == [ccd.VERTEX_FACE]
    assert impacts.normal.tolist() == [[0.0, 0.0, 1.0 if flipped else -1.0]]
