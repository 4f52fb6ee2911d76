"""Bodies that move: named hits, eliminations against none, responses, threads, bad input. Edges and faces are verified exactly."""

import itertools

import numpy as np
import pytest

from abut import cells
from abut.cells.walk import reentrant_edges
from abut.core import jit
from abut.core.errors import InvalidInput, Unsupported
from cells import oracle_cells as oracle
from cells import oracle_sweeps as sweeps
from cells import worlds
from conftest import SOAK

STEPS = 60 if SOAK else (2 if jit.INTERPRETED else 8)
CUBE_FACES = [
    (0, 2, 1),
    (0, 3, 2),
    (4, 5, 6),
    (4, 6, 7),
    (0, 1, 5),
    (0, 5, 4),
    (1, 2, 6),
    (1, 6, 5),
    (2, 3, 7),
    (2, 7, 6),
    (3, 0, 4),
    (3, 4, 7),
]


def cube(centre, size):
    return np.asarray(centre) + size * (np.array(worlds.CORNERS) - 0.5), np.array(CUBE_FACES)


def check_edges(parts, body):
    for a, b in body.edges.tolist():
        assert oracle.walk(parts, body.position[a], body.position[b])[0] == 1


def check_faces(parts, body):
    solids = sweeps.Solids(parts)
    for face in body.faces:
        corners = body.position[face]
        assert sweeps.is_flat(corners) or sweeps.is_free(solids, corners)


def boxes(*obstacles, size=3):
    """A block of unit cubes with obstacles, and the same for the oracle."""
    vertices, hexes = worlds.grid(size)
    marks = np.zeros((size, size, size), bool)
    for each in obstacles:
        marks[each] = True
    loops = worlds.loops_of_hexes(hexes)
    world = worlds.World("boxes", cells.hexahedra(vertices, hexes, marks.ravel()), vertices, loops, marks.ravel())
    return world, world.parts()


def test_an_obstacle_inside_the_sweep_is_seen_only_continuously():
    """Figure 4.10, case 4: the edge passes over a small obstacle from one side to the other."""
    world, _ = boxes((1, 1, 1))
    start, goal = np.array([[0.05, 0.3, 1.5], [1.5, 2.95, 1.5]]), [2.95, 0.3, 1.5]
    for mode, status in (("quasi", cells.FREE), ("continuous", cells.COLLISION)):
        body = cells.Mobile(world.environment, (start, [[0, 1]]))
        moves = body.move([goal, start[1]], mode)
        assert moves.status.tolist() == [status, cells.FREE]
        assert moves.edge.tolist() == [-1 if status == cells.FREE else 0, -1]
    # The line from (1.5, 2.95) through the corner (1, 2) of the cube.
    assert abs(moves.time[0] - (1.5 - 2.65 * 0.5 / 0.95 - 0.05) / 2.9) < 1e-9
    assert moves.kind[0] == cells.EDGE
    assert np.allclose(moves.point[0], [1, 2, 1.5])
    assert np.allclose(moves.normal[0] @ (start[1] - moves.point[0]), 0)


def test_a_spike_enters_a_face_only_unseen_by_its_edges():
    """Figure 4.10, case 5: a vertex of the environment passes through a face whose edges touch nothing."""
    environment, parts = hall_with_a_spike()
    start = np.array([[3.0, 3.0, 3.5], [6.0, 3.5, 3.5], [3.5, 6.0, 3.5]])
    down = start - np.array([0.0, 0.0, 1.0])
    for faces, is_hit in (("none", False), ("quasi", True), ("continuous", True)):
        body = cells.Mobile(environment, (start, [[0, 1, 2]]))
        moves = body.move(down, "continuous", faces=faces, cull="none")
        assert bool(moves.is_hit.any()) == is_hit
        assert (moves.face >= 0).any() == is_hit
        if is_hit:
            row = int(np.argmax(moves.face >= 0))
            assert moves.kind[row] == cells.VERTEX
            assert np.allclose(moves.point[row], [4, 4, 3])
            assert moves.normal[row][2] < -0.5
            check_faces(parts, body)


CULLS = ("none", "cells", "direction", "both")


def move_with_each(bodies, targets, mode):
    """Move bodies that differ in their eliminations only: the same collisions, one by one. How many edge tests each made."""
    answers = {cull: body.move(targets, mode, cull=cull) for cull, body in bodies.items()}
    expected = answers["none"]
    for cull, moves in answers.items():
        for name in ("status", "position", "time", "kind", "dart", "normal", "point", "edge", "face", "cell"):
            assert (getattr(moves, name) == getattr(expected, name)).all(), (cull, name)
        asked = moves.edge_tests + moves.edges_inside + moves.edges_clear + moves.edges_behind
        assert (asked == expected.edge_tests).all(), cull
    return expected, np.array([answers[cull].edge_tests.sum() for cull in CULLS])


@pytest.mark.parametrize("make", [worlds.cubes, worlds.tetrahedra, worlds.plane], ids=lambda make: make.__name__)
@pytest.mark.parametrize("mode", ["quasi", "continuous"])
def test_eliminations_change_nothing(make, mode, rng):
    """A closed body is thrown about until it hits: all eliminations give the same collisions with fewer tests, and nothing ever crosses a wall."""
    world = make(rng)
    parts = world.parts()
    points = worlds.free_points(world, rng, 20)
    room = [min(oracle_room(parts, x), 0.3) for x in points]
    shape = (cube if world.environment.dimension == 3 else square)(points[int(np.argmax(room))], max(room) * 0.9)
    bodies = {cull: cells.Mobile(world.environment, shape) for cull in CULLS}
    tested, hits = np.zeros(4, int), 0
    for _ in range(STEPS):
        here = bodies["none"].position
        shift = rng.normal(scale=0.3, size=here.shape[1]) + rng.normal(scale=0.01, size=here.shape)
        moves, counts = move_with_each(bodies, here + shift, mode)
        tested, hits = tested + counts, hits + int(moves.is_hit.sum())
    check_edges(parts, bodies["both"])
    if mode == "continuous":
        check_faces(parts, bodies["both"])
    assert (np.diff(tested[[0, 1, 3]]) <= 0).all()
    assert tested[2] <= tested[0]
    assert tested[3] < tested[0]
    assert hits > 0 or jit.INTERPRETED


def square(centre, size):
    """A closed loop in the plane."""
    return np.asarray(centre) + size * (np.array([(0, 0), (1, 0), (1, 1), (0, 1)]) - 0.5), [
        [0, 1],
        [1, 2],
        [2, 3],
        [3, 0],
    ]


def hall_with_a_spike():
    """A cube of side 8 in six pyramids about (4, 4, 3), the one on the floor being an obstacle."""
    base = [[0, 0, 0], [8, 0, 0], [8, 8, 0], [0, 8, 0], [0, 0, 8], [8, 0, 8], [8, 8, 8], [0, 8, 8], [4, 4, 3]]
    sides = [(0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0), (4, 7, 6, 5)]
    pyramids = [[*loop, 8] for loop in sides]
    loops = [[loop, *([a, 8, b] for a, b in zip(loop, loop[1:] + loop[:1], strict=True))] for loop in map(list, sides)]
    bottom = [[0, 1, 2, 3], [0, 8, 1], [1, 8, 2], [2, 8, 3], [3, 8, 0]]
    environment = cells.mixed(
        np.array(base, float), pyramids=np.array([*pyramids, [0, 1, 2, 3, 8]]), obstacle=[False] * 5 + [True]
    )
    return environment, oracle.build(np.array(base, float), [*loops, bottom], [False] * 5 + [True])


def test_a_spike_inside_a_body_is_not_eliminated_by_direction():
    """A spike enters the lower face of a box unseen by its edges; the upper face is then pressed onto it, into the body."""
    environment, _ = hall_with_a_spike()
    vertices, faces = cube([3.4, 4.2, 0.5], 1.0)
    vertices = (vertices - [3.4, 4.2, 0]) * [4, 4, 1] + [3.4, 4.2, 3.2]
    bodies = {cull: cells.Mobile(environment, (vertices, faces)) for cull in CULLS}
    for _ in range(2):
        moves, _ = move_with_each(bodies, bodies["none"].position - np.array([0, 0, 0.2]), "quasi")
        assert not moves.is_hit.any()
    assert bodies["none"].position[:4, 2].max() < 3.0  # around the tip
    targets = bodies["none"].position.copy()
    targets[4:, 2] = 2.6
    moves, _ = move_with_each(bodies, targets, "quasi")
    assert (moves.edge[4:] >= 0).any()


@pytest.mark.parametrize("make", [*worlds.WORLDS], ids=lambda make: make.__name__)
def test_nothing_is_hit_where_no_obstacle_sticks_out(make, rng):
    """Boxes that the voxels call clear, against pieces: a triangle (tetrahedron) there is free as soon as two (four) of its edges are."""
    world = make(rng)
    parts, found = world.parts(), 0
    solids = sweeps.Solids(parts)
    voxels = reentrant_edges.build_voxels(world.environment.interior.space)
    for _ in range(4000 if SOAK else (40 if jit.INTERPRETED else 400)):
        corners = worlds.free_points(world, rng, 1) + rng.uniform(-1, 1, (4, world.environment.dimension)) * rng.choice(
            [0.05, 0.2, 0.5]
        )
        low, high = np.zeros(3), np.zeros(3)
        low[: corners.shape[1]], high[: corners.shape[1]] = corners.min(axis=0), corners.max(axis=0)
        if not reentrant_edges.is_clear(voxels, tuple(low.tolist()), tuple(high.tolist())):
            continue
        p, g, b, c = corners
        if all(oracle.walk(parts, x, y)[0] == 1 for x, y in ((p, g), (p, b), (p, c), (b, c))):
            found += 1
            assert sweeps.sweep(solids, [p, g, b]) == 1
            assert world.environment.dimension == 2 or sweeps.sweep(solids, corners) == 1
    assert found > 0


def oracle_room(parts, x):
    """Half the side of a cube about x that lies in one free part, from distances to its planes in floating point."""
    for part in parts:
        if part.free and part.holds(oracle.exact(x)):
            gaps = []
            for face in part.faces:
                a, b = (np.array(corner, float) for corner in face[:2])
                normal = np.array([a[1] - b[1], b[0] - a[0]])
                if len(a) == 3:
                    normal = np.cross(b - a, np.array(face[2], float) - a)
                gaps.append(normal @ (x - a) / np.abs(normal).sum())
            return 2 * min(gaps)
    return 0.0


def wall_with_a_corner():
    """A plane of 4×4 squares; the lower right quarter is an obstacle, whose corner is at (2, 2)."""
    vertices = np.array(list(itertools.product(range(5), repeat=2)), float)
    rows = [[5 * i + j, 5 * i + 5 + j, 5 * i + 6 + j, 5 * i + 1 + j] for i in range(4) for j in range(4)]
    marks = np.array([i >= 2 and j < 2 for i in range(4) for j in range(4)])
    edges = [[[r[k], r[(k + 1) % 4]] for k in range(4)] for r in rows]
    return cells.polygons(vertices, rows, marks), oracle.build(vertices, edges, marks)


@pytest.mark.parametrize("response", ["adaptive", "hybrid"])
def test_an_edge_bends_around_a_corner_and_straightens(response):
    environment, parts = wall_with_a_corner()
    body = cells.Mobile(environment, (np.array([[1.0, 1.5], [3.5, 3.5]]), [[0, 1]]))
    moves = body.move([[1.75, 0.25], [3.5, 2.5]], "continuous", response)
    assert len(body) == 3
    assert moves.source.tolist() == [0, 1, -1]
    assert body.is_inserted.tolist() == [False, False, True]
    assert body.parents[2].tolist() == [0, 1]
    assert np.allclose(body.position[2], [2, 2], atol=1e-3)
    assert 0.2 < body.ratio[2] < 0.8
    assert moves.position[1].tolist() == [3.5, 2.5]
    check_edges(parts, body)
    # The particle is taken along; once nothing touches it and it is near the straight edge, it goes.
    body.move([[1.0, 1.5], [3.5, 3.5], [1.9, 2.2]], "continuous", response)
    check_edges(parts, body)
    if len(body) == 3:
        middle = (body.position[0] + body.position[1]) / 2
        body.move([body.position[0], body.position[1], middle], "continuous", response)
    assert len(body) == 2
    assert body.edges.tolist() == [[0, 1]]
    check_edges(parts, body)


@pytest.mark.large
def test_a_mesh_gets_particles_on_its_edges():
    world, parts = boxes((1, 1, 0), size=3)
    start = np.array([[0.25, 0.25, 1.5], [2.75, 0.25, 1.5], [2.75, 2.75, 1.5], [0.25, 2.75, 1.5]])
    body = cells.Mobile(world.environment, (start, [[0, 1, 2], [0, 2, 3]]))
    for _ in range(3):
        targets = body.position.copy()
        targets[~body.is_inserted, 2] -= 0.4
        body.move(targets, "continuous", "adaptive", faces="none")
        check_edges(parts, body)
    assert body.is_inserted.any()
    edges = {tuple(sorted(edge)) for edge in body.edges.tolist()}
    sides = {tuple(sorted(pair)) for face in body.faces.tolist() for pair in itertools.combinations(face, 2)}
    assert edges == sides
    for _ in range(4):
        targets = body.position.copy()
        targets[:, 2] = 1.75
        body.move(targets, "continuous", "adaptive", faces="none")
    assert sorted(map(sorted, body.faces.tolist())) == [[0, 1, 2], [0, 2, 3]]
    assert len(body) == 4


def test_a_rigid_body_stops_as_a_whole():
    world, parts = boxes((2, 0, 0), (2, 1, 1))
    vertices, faces = cube([0.75, 1.0, 1.0], 0.75)
    body = cells.Mobile(world.environment, (vertices, faces))
    goal = vertices + np.array([1.5, 0.1, 0.0])
    moves = body.move(goal, "continuous", "rigid")
    share = (body.position[0] - vertices[0])[0] / 1.5
    assert 0 < share < 1
    assert np.allclose(body.position, vertices + share * (goal - vertices), atol=1e-12)
    assert abs(share - (2 - 1.125) / 1.5) < 1e-4
    assert moves.is_hit.any()
    assert (moves.time < 1).all()
    check_edges(parts, body)
    check_faces(parts, body)


def test_vertices_slide_and_bounce_on_the_contact_plane():
    world, _ = boxes()
    start = np.array([[1.5, 1.5, 0.5], [1.5, 1.5, 1.5]])
    goal = start + np.array([0.25, 0.0, -0.75])
    ends = {}
    for after in ("stop", "slide", "bounce"):
        body = cells.Mobile(world.environment, (start, [[0, 1]]))
        moves = body.move(goal, after=after, restitution=1.0)
        ends[after] = moves.position[0]
        assert moves.status.tolist() == [cells.COLLISION, cells.FREE]
        assert moves.normal[0].tolist() == [0, 0, -1]
        assert abs(moves.time[0] - 2 / 3) < 1e-6
    assert np.allclose(ends["stop"], [1.5 + 0.25 * 2 / 3, 1.5, 0], atol=1e-6)
    assert np.allclose(ends["slide"], [1.75, 1.5, 0], atol=1e-6)
    assert np.allclose(ends["bounce"], [1.75, 1.5, 0.25], atol=1e-6)


@pytest.mark.skipif(jit.INTERPRETED, reason="there are no threads in plain Python")
def test_threads_change_nothing(rng, monkeypatch):
    world = worlds.tetrahedra(rng)
    centres = [x for x in worlds.free_points(world, rng, 60) if oracle_room(world.parts(), x) > 0.05]
    parts = [cube(x, 0.02) for x in centres]
    vertices = np.concatenate([part[0] for part in parts])
    faces = np.concatenate([part[1] + 8 * k for k, part in enumerate(parts)])
    one = cells.Mobile(world.environment, (vertices, faces))
    goal = vertices + rng.normal(scale=0.5, size=vertices.shape)
    cells.Mobile(world.environment, (vertices, faces)).move(
        vertices
    )  # from the second move on voxels are known, and counts differ
    expected = one.move(goal, "continuous", faces="none")
    assert expected.is_hit.any()
    for group in one.groups:
        members = set(group.tolist())
        assert not any(a in members and b in members for a, b in one.edges.tolist())
    monkeypatch.setattr("abut.cells.mobile.mobile.PARALLEL_FROM", 1)
    monkeypatch.setattr("abut.cells.mobile.mobile.thread_count", lambda: 3)
    moves = cells.Mobile(world.environment, (vertices, faces)).move(goal, "continuous", faces="none")
    for name in ("status", "position", "time", "kind", "dart", "normal", "point", "edge", "tests", "cell"):
        assert (getattr(moves, name) == getattr(expected, name)).all(), name


def test_a_deformed_environment_is_followed():
    world, _ = boxes((2, 1, 1))
    body = cells.Mobile(world.environment, (np.array([[0.5, 1.5, 1.5], [1.5, 1.5, 1.5]]), [[0, 1]]))
    vertices = world.vertices.copy()
    vertices[:, 0] *= 2
    world.environment.deform(vertices)
    assert body.settle().tolist() == [False, False]
    moves = body.move(body.position + np.array([2.0, 0.0, 0.0]))
    assert moves.status.tolist() == [cells.FREE, cells.FREE]
    assert body.move(body.position + np.array([2.0, 0.0, 0.0])).is_hit.any()


def test_bad_bodies_and_moves():
    world, _ = boxes((1, 1, 1))
    points = np.array([[0.5, 1.5, 1.5], [2.5, 1.5, 1.5], [0.5, 0.5, 0.5]])
    with pytest.raises(InvalidInput, match=r"edges\[1\].*free cells"):
        cells.Mobile(world.environment, (points, [[0, 2], [0, 1]]))
    with pytest.raises(InvalidInput, match="obstacle"):
        cells.Mobile(world.environment, ([[1.5, 1.5, 1.5], [0.5, 0.5, 0.5]], [[0, 1]]))
    with pytest.raises(InvalidInput, match="more than once"):
        cells.Mobile(world.environment, (points, [[0, 2], [2, 0]]))
    points[1] = [2.5, 0.5, 0.5]
    body = cells.Mobile(world.environment, (points, [[0, 2], [1, 2]]))
    with pytest.raises(InvalidInput, match="2 rows for 3"):
        body.move(points[:2])
    with pytest.raises(InvalidInput, match="mode"):
        body.move(points, "fast")
    with pytest.raises(InvalidInput, match=r"targets.*NaN"):
        body.move(np.where(np.eye(3) > 0, np.nan, points))
    with pytest.raises(Unsupported, match="direction"):
        body.move(points, cull="both")
    with pytest.raises(Unsupported, match="faces"):
        body.move(points, faces="quasi")


@pytest.mark.parametrize("make", [worlds.tetrahedra, worlds.plane], ids=lambda make: make.__name__)
def test_meetings_are_all_pairs_that_meet(make, rng):
    """Random bodies among the cells, some of whose vertices coincide: the pairs are those that a test of all against all finds in rationals."""
    world = make(rng)
    in_plane = world.environment.dimension == 2
    world.environment.set_obstacle(np.arange(world.environment.cell_count), False)
    bodies = []
    for _ in range(3):
        points = np.round(rng.uniform(0.5, worlds.SIZE - 0.5, size=(6, world.environment.dimension)) * 4) / 4
        rows = [[0, 1], [1, 2], [2, 3], [4, 5]] if in_plane else [[0, 1, 2], [0, 2, 3], [3, 4, 5]]
        bodies.append(cells.Mobile(world.environment, (points, rows)))
    found = cells.find_meetings(bodies)
    pairs = set(
        zip(*(column.tolist() for column in (found.body_a, found.edge_a, found.body_b, found.face_b)), strict=True)
    )
    expected = set()
    for (i, a), (j, b) in itertools.product(enumerate(bodies), repeat=2):
        for edge, other in itertools.product(range(len(a.edges)), range(len(b.edges if in_plane else b.faces))):
            ends, corners = a.edges[edge], (b.edges if in_plane else b.faces)[other]
            if (i == j and set(ends.tolist()) & set(corners.tolist())) or (in_plane and (i, edge) >= (j, other)):
                continue
            if meets([oracle.exact(a.position[v]) for v in ends], [oracle.exact(b.position[v]) for v in corners]):
                expected.add((i, edge, j, other))
    assert pairs == expected
    assert expected
    assert found.candidate_count >= len(found)


def test_edges_meet_in_a_vertex_that_no_cell_of_theirs_shares():
    """Two edges cross exactly in a vertex of the plane's cells, each in cells that the other does not enter."""
    environment, _ = wall_with_a_corner()
    first = cells.Mobile(environment, ([[0.5, 2.5], [1.5, 3.5]], [[0, 1]]))
    second = cells.Mobile(environment, ([[0.5, 3.5], [1.5, 2.5]], [[0, 1]]))
    assert len(cells.find_meetings([first, second])) == 1


def meets(segment, corners):
    """Whether the hulls of two sets of points have a common point: a vertex of the set of common weights does, so few of them are not zero."""
    for axis in range(len(segment[0])):
        first, second = [x[axis] for x in segment], [x[axis] for x in corners]
        if max(first) < min(second) or max(second) < min(first):
            return False
    return any(all(weight >= 0 for weight in weights) for weights in candidate_weights(segment, corners))


def candidate_weights(segment, corners):
    """Solutions of Σ wᵢ cᵢ = s with few non-zero weights: s on the segment, all subsets of ends and corners that determine a point."""
    dimension = len(segment[0])
    for k, m in itertools.product(range(1, 3), range(1, len(corners) + 1)):
        for ends, chosen in itertools.product(itertools.combinations(segment, k), itertools.combinations(corners, m)):
            rows = [[*(x[d] for x in ends), *(-x[d] for x in chosen), 0] for d in range(dimension)]
            rows.append([*([1] * k), *([0] * m), 1])
            rows.append([*([0] * k), *([1] * m), 1])
            solution = solve(rows, k + m)
            if solution is not None:
                yield solution


def solve(rows, count):
    """The only solution of a linear system in rationals, or None where there is none or more than one."""
    rows, rank = [[oracle.Fraction(x) for x in row] for row in rows], 0
    for column in range(count):
        pivot = next((r for r in range(rank, len(rows)) if rows[r][column] != 0), None)
        if pivot is None:
            return None
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        rows[rank] = [x / rows[rank][column] for x in rows[rank]]
        for r in range(len(rows)):
            if r != rank and rows[r][column] != 0:
                rows[r] = [x - rows[r][column] * y for x, y in zip(rows[r], rows[rank], strict=True)]
        rank += 1
    if any(row[-1] != 0 for row in rows[rank:]):
        return None
    return [rows[k][-1] for k in range(count)]
