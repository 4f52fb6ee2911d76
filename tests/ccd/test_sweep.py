"""Impacts of whole steps: against all pairs in whole numbers, the symbolic verdicts of two cloth scenes, and what is known on paper."""

import itertools
import json
from pathlib import Path

import numba
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import abut
from abut.ccd import EDGE_EDGE, FACE_VERTEX, VERTEX_FACE, join
from oracles.ccd import first_contact
from oracles.start import are_in_contact

SCENES = Path(__file__).parents[3] / "shared" / "data" / "scenes"
STEPS = {"cloth-ball": ("cloth_ball92.ply", "cloth_ball93.ply", "92"), "cloth-funnel": ("227.ply", "228.ply", "227")}


def all_pairs(a: abut.Motion, b: abut.Motion | None) -> dict[tuple[int, int, int], float]:
    """(kind, a, b) of every pair that meets, and when first, by asking the oracle about each."""
    other = a if b is None else b
    found: dict[tuple[int, int, int], float] = {}

    def ask(key: tuple[int, int, int], first: tuple, second: tuple, is_face: bool) -> None:
        if b is None and set(first[1]) & set(second[1]):
            return
        corners = [(m, v) for m, cell in (first, second) for v in cell]
        points = [m.vertices_t0[v] for m, v in corners] + [m.vertices_t1[v] for m, v in corners]
        bounds = first_contact(np.array(points), is_face)
        if bounds is not None:
            found[key] = float(bounds[1])

    faces_a, faces_b = a.mesh.faces.tolist(), other.mesh.faces.tolist()
    for v, (f, face) in itertools.product(sorted(set(itertools.chain(*faces_a))), enumerate(faces_b)):
        ask((VERTEX_FACE, v, f), (a, [v]), (other, face), True)
    if b is not None:
        for (f, face), v in itertools.product(enumerate(faces_a), sorted(set(itertools.chain(*faces_b)))):
            ask((FACE_VERTEX, f, v), (b, [v]), (a, face), True)
    for (i, e), (j, g) in itertools.product(enumerate(a.mesh.edges.tolist()), enumerate(other.mesh.edges.tolist())):
        if b is not None or i < j:
            ask((EDGE_EDGE, i, j), (a, e), (other, g), False)
    return found


def keys_of(impacts: abut.Impacts) -> list[tuple[int, int, int]]:
    return list(zip(impacts.kind.tolist(), impacts.a.tolist(), impacts.b.tolist(), strict=True))


def soup(rng: np.random.Generator, count: int, *, whole: bool) -> abut.Mesh:
    """Triangles of which some share vertices."""
    points = rng.integers(0, 4, size=(2 * count, 3)).astype(float) if whole else rng.uniform(0, 2, size=(2 * count, 3))
    return abut.Mesh(points, rng.integers(0, len(points), size=(count, 3)))


def check_against_oracle(a: abut.Motion, b: abut.Motion | None) -> None:
    impacts = abut.sweep(a) if b is None else abut.sweep(a, b)
    expected = all_pairs(a, b)
    assert keys_of(impacts) == sorted(expected)
    times = np.array([expected[key] for key in keys_of(impacts)])
    assert (impacts.time <= times).all()
    assert (impacts.time >= times - 2e-9).all()
    np.testing.assert_allclose(np.linalg.norm(impacts.normal, axis=1), 1.0, rtol=0, atol=1e-12)
    earliest = abut.time_of_impact(a) if b is None else abut.time_of_impact(a, b)
    if are_in_contact(a, b):
        assert earliest == 0.0
        assert impacts.in_contact_at_start
        earliest = abut.time_of_impact(a, *([] if b is None else [b]), at_start=False)
    if expected:
        assert times.min() - 2e-9 <= earliest <= times.min()
    else:
        assert earliest == np.inf


@pytest.mark.parametrize("whole", [False, True], ids=["general position", "small whole numbers"])
@pytest.mark.parametrize("seed", range(3))
def test_self_contact_is_that_of_all_pairs(seed: int, whole: bool):
    rng = np.random.default_rng(seed)
    mesh = soup(rng, 5, whole=whole)
    move = rng.integers(-3, 4, size=mesh.vertices.shape) if whole else rng.normal(size=mesh.vertices.shape)
    check_against_oracle(abut.Motion(mesh, mesh.vertices, mesh.vertices + move), None)


@pytest.mark.parametrize("whole", [False, True], ids=["general position", "small whole numbers"])
@pytest.mark.parametrize("seed", range(3))
def test_contact_of_two_bodies_is_that_of_all_pairs(seed: int, whole: bool):
    rng = np.random.default_rng(100 + seed)
    steps = []
    for _ in range(2):
        mesh = soup(rng, 3, whole=whole)
        move = rng.integers(-3, 4, size=mesh.vertices.shape) if whole else rng.normal(size=mesh.vertices.shape)
        steps.append(abut.Motion(mesh, mesh.vertices, mesh.vertices + move))
    check_against_oracle(steps[0], steps[1])


@pytest.mark.large
@pytest.mark.parametrize("name", STEPS)
def test_cloth_scenes_have_exactly_the_true_impacts(name: str):
    if not SCENES.is_dir():
        pytest.skip(f"there is no {SCENES}")
    first, last, frame = STEPS[name]
    mesh, end = abut.load(SCENES / name / first), abut.load(SCENES / name / last).vertices
    impacts = abut.sweep(mesh, mesh.vertices, end)
    shifts = {"vf": (0, len(mesh.vertices) + len(mesh.edges)), "ee": (len(mesh.vertices), len(mesh.vertices))}
    expected = []
    for kind, code in (("vf", VERTEX_FACE), ("ee", EDGE_EDGE)):
        pairs = np.sort(json.loads((SCENES / name / f"{frame}{kind}.json").read_text()), axis=1) - shifts[kind]
        holds = np.array(json.loads((SCENES / name / f"{frame}{kind}_mma_bool.json").read_text()), dtype=bool)
        expected += [(int(code), *pair) for pair in pairs[holds].tolist()]
    assert keys_of(impacts) == sorted(expected)
    assert abut.time_of_impact(mesh, mesh.vertices, end, at_start=False) == impacts.time.min()
    own = abut.Deformable(mesh)
    assert abut.collide(own, first=True)  # both cloths pass through themselves at the beginning of the step
    assert impacts.in_contact_at_start
    assert abut.time_of_impact(mesh, mesh.vertices, end) == 0.0


# ---- the same answer in every way of asking


def falling_ball() -> tuple[abut.Motion, abut.Motion]:
    ball = abut.scenes.icosphere(2)
    floor = abut.Mesh([[-9, -9, -3], [9, -9, -3], [0, 9, -3]], [[0, 1, 2]])
    return (
        abut.Motion(ball, ball.vertices, ball.vertices - [0.0, 0.0, 4.0]),
        abut.Motion(floor, floor.vertices, floor.vertices),
    )


@pytest.mark.large
def test_a_ball_that_falls_on_a_floor():
    falling, resting = falling_ball()
    impacts = abut.sweep(falling, resting)
    lowest = int(falling.vertices_t0[:, 2].argmin())
    first = int(impacts.time.argmin())
    assert keys_of(impacts)[first] == (VERTEX_FACE, lowest, 0)
    assert impacts.time[first] == pytest.approx(0.5, abs=1e-9)
    np.testing.assert_allclose(impacts.point[first], [0.0, 0.0, -3.0], atol=1e-9)
    np.testing.assert_allclose(impacts.normal[first], [0.0, 0.0, -1.0], atol=1e-12)  # from the ball to the floor
    assert abut.time_of_impact(falling, resting) == pytest.approx(0.5, abs=1e-9)


@pytest.mark.large
def test_swapped_bodies_give_the_same_impacts_the_other_way_round():
    falling, resting = falling_ball()
    one, two = abut.sweep(falling, resting), abut.sweep(resting, falling)
    swapped = {VERTEX_FACE: FACE_VERTEX, FACE_VERTEX: VERTEX_FACE, EDGE_EDGE: EDGE_EDGE}
    back = {(int(swapped[abut.ccd.Kind(k)]), b, a): i for i, (k, a, b) in enumerate(keys_of(two))}
    order = [back[key] for key in keys_of(one)]
    assert len(order) == len(two)
    np.testing.assert_allclose(two.time[order], one.time, atol=1e-9)
    np.testing.assert_allclose(two.normal[order], -one.normal, atol=1e-9)
    np.testing.assert_allclose(two.point[order], one.point, atol=1e-8)


@pytest.mark.large
def test_joined_bodies_have_the_impacts_between_them():
    falling, resting = falling_ball()
    both = join(falling, resting)
    apart = abut.sweep(falling, resting)
    together = abut.sweep(both)
    assert len(together) == len(apart)
    np.testing.assert_allclose(np.sort(together.time), np.sort(apart.time), atol=1e-9)


@pytest.mark.large
def test_threads_and_memory_do_not_change_the_answer():
    rng = np.random.default_rng(5)
    mesh = abut.scenes.torus(1.0, 0.4, 24, 12)
    end = mesh.vertices[::-1] + rng.normal(scale=0.1, size=mesh.vertices.shape)
    whole = abut.sweep(mesh, mesh.vertices, end)
    assert len(whole) > 100
    earliest = abut.time_of_impact(mesh, mesh.vertices, end)
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        alone = abut.sweep(mesh, mesh.vertices, end)
        assert abut.time_of_impact(mesh, mesh.vertices, end) == earliest
    finally:
        numba.set_num_threads(before)
    small = abut.sweep(mesh, mesh.vertices, end, max_memory=1_000_000)
    for other in (alone, small):
        assert keys_of(other) == keys_of(whole)
        np.testing.assert_array_equal(other.time, whole.time)
        np.testing.assert_array_equal(other.normal, whole.normal)


@pytest.mark.large
def test_candidates_of_motions_hold_every_impact():
    falling, resting = falling_ball()
    turning = abut.Motion(
        abut.Rigid(falling.mesh),
        pose_of(Rotation.identity()),
        pose_of(Rotation.from_rotvec([0.0, 2.0, 1.0]), (0.0, 0.0, -4.0)),
    )
    for step in (falling, turning):
        pairs = abut.candidates(step, resting, volume="kdop26")
        found = {(int(VERTEX_FACE), *p) for p in pairs.vertex_face.tolist()}
        found |= {(int(EDGE_EDGE), *p) for p in pairs.edge_edge.tolist()}
        found |= {(int(FACE_VERTEX), *p) for p in pairs.face_vertex.tolist()}
        impacts = keys_of(abut.sweep(step, resting))
        assert impacts
        assert set(impacts) <= found
        streamed = list(abut.ccd.stream_candidates(step, resting, volume="kdop26"))
        assert sum(map(len, streamed)) == len(pairs)


# ---- distance


def test_min_distance_is_reached_before_contact():
    falling, resting = falling_ball()
    time = abut.time_of_impact(falling, resting, min_distance=0.4)
    assert 0.4 - 1e-6 <= time <= 0.4
    assert abut.sweep(falling, resting, min_distance=0.4).time.min() == pytest.approx(0.4, abs=1e-6)


def test_min_distance_counts_at_rest():
    _, resting = falling_ball()
    lifted = resting.vertices_t0 + np.array([0.0, 0.0, 0.25])
    above = abut.Motion(resting.mesh, lifted, lifted)
    assert abut.time_of_impact(resting, above, min_distance=0.2) == np.inf
    assert abut.time_of_impact(resting, above, min_distance=0.26) == 0.0


# ---- bodies that turn


def pose_of(rotation: Rotation, translation: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation.as_matrix(), translation
    return pose


def test_a_turning_needle_hits_a_wall_at_the_known_angle():
    needle = abut.Mesh([[0, 0, 0], [2, 0, 0], [2, 0, 0]], [[0, 1, 2]])
    wall = abut.Mesh([[-9, 1, -9], [9, 1, -9], [0, 1, 9]], [[0, 1, 2]])
    turn = abut.Motion(abut.Rigid(needle), np.eye(4), pose_of(Rotation.from_rotvec([0, 0, np.pi / 2])))
    rest = abut.Motion(wall, wall.vertices, wall.vertices)
    time = abut.time_of_impact(turn, rest)  # 2·sin(angle) = 1 at 30° of 90°
    assert 1 / 3 - 1e-7 <= time <= 1 / 3
    impacts = abut.sweep(turn, rest)
    first = int(impacts.time.argmin())
    assert keys_of(impacts)[first][0] == VERTEX_FACE
    np.testing.assert_allclose(impacts.point[first], [np.sqrt(3.0), 1.0, 0.0], atol=1e-6)
    np.testing.assert_allclose(impacts.normal[first], [0.0, 1.0, 0.0], atol=1e-6)
    assert abut.time_of_impact(rest, turn) == pytest.approx(time, abs=1e-12)


@pytest.mark.large
def test_a_body_far_from_the_origin_of_its_frame_turns_as_exactly_as_its_numbers_allow():
    far = np.array([1e6, -2e6, 5e5])  # places are differences of numbers of this size, off by some 1e-9
    needle = abut.Mesh(np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [2.0, 0.0, 0.0]]) + far, [[0, 1, 2]])
    wall = abut.Mesh([[-9, 1, -9], [9, 1, -9], [0, 1, 9]], [[0, 1, 2]])
    turn = Rotation.from_rotvec([0, 0, 1e-3])
    first = pose_of(Rotation.identity(), tuple(-far))
    last = pose_of(turn, tuple(np.array([0.0, 2.0, 0.0]) - turn.apply(far)))
    rest = abut.Motion(wall, wall.vertices, wall.vertices)
    motion = abut.Motion(abut.Rigid(needle), first, last)
    heights = np.array([motion.at(t)[:, 1].max() for t in np.linspace(0.0, 1.0, 100_001)])
    reached = np.flatnonzero(heights >= 1.0)[0] / 100_000
    assert reached - 1e-4 <= abut.time_of_impact(motion, rest) <= reached


@pytest.mark.large
def test_turning_and_straight_pairs_of_joined_bodies_are_all_found():
    falling, resting = falling_ball()
    far = np.array([20.0, 0.0, 0.0])
    needle = abut.Mesh(np.array([[0, 0, 0], [2, 0, 0], [2, 0, 0.1]]) + 0.0, [[0, 1, 2]])
    start, end = (
        pose_of(Rotation.identity(), (20.0, 0.0, 0.0)),
        pose_of(Rotation.from_rotvec([0, 0, 1.5]), (20.0, 0.0, 0.0)),
    )
    turning = abut.Motion(abut.Rigid(needle), start, end)
    wall = abut.Mesh(np.array([[-9, 1, -9], [9, 1, -9], [0, 1, 9]]) + far, [[0, 1, 2]])
    still = abut.Motion(wall, wall.vertices, wall.vertices)
    joined = abut.sweep(join(falling, resting, turning, still))
    assert len(joined) == len(abut.sweep(falling, resting)) + len(abut.sweep(turning, still))
    assert abut.time_of_impact(join(turning, still)) == pytest.approx(abut.time_of_impact(turning, still), abs=1e-7)


def test_a_rigid_body_is_not_tested_against_itself():
    touching = abut.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.2, 0.2, 0], [1, 1, 1], [0, 1, 1]], [[0, 1, 2], [3, 4, 5]])
    assert keys_of(abut.sweep(abut.Motion(touching, touching.vertices, touching.vertices))) == [(VERTEX_FACE, 3, 0)]
    assert not len(abut.sweep(abut.Motion(abut.Rigid(touching), np.eye(4), np.eye(4))))


# ---- what is refused


@pytest.mark.parametrize(
    ("arguments", "options", "name"),
    [
        ((falling_ball()[0], 3), {}, "others"),
        ((falling_ball()[0].mesh,), {}, "others"),
        ((*falling_ball(), falling_ball()[0]), {}, "others"),
        (falling_ball(), {"min_distance": -1.0}, "min_distance"),
        (falling_ball(), {"min_distance": np.nan}, "min_distance"),
        (falling_ball(), {"tolerance": 2.0}, "tolerance"),
        (falling_ball(), {"max_memory": 10}, "max_memory"),
    ],
)
def test_bad_questions_are_refused_by_name(arguments: tuple, options: dict, name: str):
    for ask in (abut.sweep, abut.time_of_impact):
        with pytest.raises(abut.InvalidInput) as caught:
            ask(*arguments, **options)
        assert caught.value.name == name
