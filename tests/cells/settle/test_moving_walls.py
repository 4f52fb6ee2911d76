"""Walls that move: a particle that no wall reaches stays to the last bit, one that a wall reaches goes along with it and is told."""

import itertools

import numpy as np
import pytest

from abut import InvalidInput, cells
from abut.cells.settle import settling, wall_sweep
from abut.core import jit
from cells import oracle_cells as oracle
from cells import oracle_walls, worlds
from conftest import SOAK


def corridor():
    """An L: a long cell along the floor, and one on the left that goes up."""
    vertices = [[0.0, 0.0], [1.0, 0.0], [5.0, 0.0], [0.0, 1.0], [1.0, 1.0], [5.0, 1.0], [0.0, 2.0], [1.0, 2.0]]
    return cells.polygons(vertices, [[0, 1, 4, 3], [1, 2, 5, 4], [3, 4, 7, 6]])


def test_a_room_with_a_corner_that_is_shifted_pushes_nobody_it_does_not_touch():
    """From the middle of its old cell the particle cannot be seen any more: the corner is between."""
    env = corridor()
    crowd = cells.Particles(env, [[1.05, 0.95]])
    env.deform(env.vertices + np.array([0.5, -0.4]))
    assert crowd.settle().tolist() == [False]
    assert crowd.position.tolist() == [[1.05, 0.95]]
    assert crowd.cell.tolist() == [2]
    assert len(crowd.reached) == 0


def post():
    """A thin post on the floor, with room on both sides and above."""
    x, y = (0.0, 1.0, 1.125, 4.0), (0.0, 1.0, 2.0)
    vertices = np.array([[a, b] for b in y for a in x])
    squares = [[i + 4 * j, i + 1 + 4 * j, i + 5 + 4 * j, i + 4 + 4 * j] for j in range(2) for i in range(3)]
    return cells.polygons(vertices, squares, [k == 1 for k in range(6)])


def test_a_wall_that_passes_over_a_particle_and_sinks_takes_it_along():
    """In the end one sees the particle from where it was, over the post; but the post has swept over it."""
    env = post()
    crowd = cells.Particles(env, [[1.25, 0.5], [3.5, 0.5]])
    vertices = env.vertices.copy()
    vertices[5:7, 1] = 0.125
    vertices[[1, 2, 5, 6], 0] += 1.0
    env.deform(vertices)
    assert crowd.settle().tolist() == [True, False]
    assert crowd.cell.tolist() == [2, 2]
    assert crowd.reached.particle.tolist() == [0]
    assert crowd.reached.time[0] == pytest.approx(0.125)
    assert crowd.reached.point.tolist() == [[1.25, 0.5]]
    assert sorted(crowd.reached.corners[0].tolist()) == [2, 6]
    assert crowd.position[0, 0] >= 2.125
    assert crowd.position[0] == pytest.approx([2.125, 0.125 * 0.5 / (1 - 0.125 * 0.875)])


def moved_far(world, rng, size):
    """All vertices displaced, the border too, and the whole shifted."""
    shift = rng.normal(scale=size, size=world.vertices.shape[1])
    jitter = rng.uniform(-size, size, world.vertices.shape)
    return np.round((world.vertices + shift + jitter) * 1024) / 1024


def check_against_walls(world, parts, before, crowd, start, end):
    """Every particle against the walls' motion; how many were reached."""
    reached, cells_now, walls = crowd.reached, crowd.cell, oracle_walls.walls_of(parts)
    told = dict(zip(reached.particle.tolist(), range(len(reached)), strict=True))
    for row, p in enumerate(before):
        time, _ = oracle_walls.first_touch(start[walls], end[walls], p)
        held = [part for part in parts if part.cell == cells_now[row] and part.holds(oracle.exact(crowd.position[row]))]
        assert held, row
        assert held[0].free
        if time == np.inf:
            assert row not in told, (row, p)
        if row not in told:
            assert (crowd.position[row] == p).all()
            assert np.isnan(time) or time in (0, np.inf) or time > 1 - 1e-9, (row, p, time)
        elif time > 0:
            known = told[row]
            assert (reached.point[known] == p).all()
            assert reached.time[known] == pytest.approx(time, abs=1e-6)
            corners = set(reached.corners[known].tolist())
            gaps = oracle_walls.distances((1 - time) * start[walls] + time * end[walls], p)
            assert any(corners == set(walls[k].tolist()) for k in np.flatnonzero(gaps < 1e-6))
            there = np.array([end[sorted(corners)]])
            assert oracle_walls.distances(there, crowd.position[row])[0] < 1e-9
    return len(told)


@pytest.mark.parametrize("make", worlds.WORLDS, ids=lambda make: make.__name__)
def test_walls_push_whom_they_reach_and_nobody_else(make):
    pushed = 0
    for seed in range(60 if SOAK else 2):
        rng = np.random.default_rng(seed)
        world = make(rng)
        crowd = cells.Particles(world.environment, worlds.free_points(world, rng, 8 if jit.INTERPRETED else 30))
        for _ in range(2):
            start = world.vertices
            end = moved_far(world, rng, rng.choice([0.02, 0.08]))
            before = crowd.position
            try:
                world.environment.deform(end)
            except InvalidInput:
                continue
            world = world._replace(vertices=end)
            crowd.settle()
            pushed += check_against_walls(world, world.parts(), before, crowd, start, end)
            crowd.move(worlds.aim(world, rng, crowd.position))
    assert pushed


def row_of_cubes(points, edit, obstacle=None):
    """Particles in two unit cubes side by side, whose vertices `edit` moves; settled."""
    env = cells.channel(2, 1, 1, obstacle)
    crowd = cells.Particles(env, points)
    vertices = env.vertices.copy()
    edit(vertices)
    env.deform(vertices)
    return crowd, crowd.settle().tolist()


def test_a_particle_on_a_wall_that_slides_along_it_or_leaves_it_stays():
    points = [[0.5, 0.5, 0.0], [2.0, 0.5, 0.5], [0.0, 0.0, 0.0], [1.0, 0.5, 0.0]]

    def slide(vertices):
        vertices += (0.125, 0.0, 0.0)
        vertices[vertices[:, 2] == 0, 2] = -0.5

    crowd, pushed = row_of_cubes(points, slide)
    assert pushed == [False, False, True, False]
    assert crowd.position[[0, 1, 3]].tolist() == [points[0], points[1], points[3]]
    assert crowd.reached.time.tolist() == [0.0]
    assert crowd.position[2, 0] == 0.125


def test_a_particle_on_a_wall_that_comes_is_pushed_from_the_beginning():
    def rise(vertices):
        vertices[vertices[:, 2] == 0, 2] = 0.25

    crowd, pushed = row_of_cubes([[0.5, 0.5, 0.0], [0.25, 0.5, 0.25], [1.5, 0.5, 0.125]], rise)
    assert pushed == [True, False, True]  # the second is touched in the end, and not pushed
    assert crowd.reached.particle.tolist() == [0, 2]
    assert crowd.reached.time.tolist() == pytest.approx([0.0, 0.5])
    assert crowd.position.tolist() == [[0.5, 0.5, 0.25], [0.25, 0.5, 0.25], [1.5, 0.5, 0.25]]


@pytest.mark.parametrize("shift", [(0.25, 0.0, 0.0), (-0.25, 0.0, 0.0), (0.25, 0.25, 0.0), (-0.25, -0.25, 0.25)])
def test_particles_that_pass_through_faces_edges_and_corners_of_cells(shift):
    """In the middle of a grid that is shifted, on all the places that are special to its cells."""
    env = cells.channel(4, 4, 4)
    places = np.array(list(itertools.product((1.5, 1.75, 2.0, 2.125, 2.25), repeat=3)))
    crowd = cells.Particles(env, places)
    env.deform(env.vertices + shift)
    assert not crowd.settle().any()
    assert (crowd.position == places).all()
    low = np.floor(places - shift)
    for row, cell in enumerate(crowd.cell.tolist()):
        corner = np.array([cell // 16, cell // 4 % 4, cell % 4])
        assert (np.abs(places[row] - shift - corner - 0.5) <= 0.5).all(), (low[row], cell)


def test_a_particle_that_an_edge_between_two_obstacles_reaches_is_pushed():
    """Cells that meet in an edge alone: it has no width, but two cells that are not free beside it."""
    env = cells.channel(2, 2, 1, [False, True, True, False])
    crowd = cells.Particles(env, [[1.25, 1.25, 0.5], [1.25, 1.25, 0.0]])
    env.deform(env.vertices + np.array([0.5, 0.5, 0.0]))
    assert crowd.settle().tolist() == [False, False]  # through the edge
    assert crowd.cell.tolist() == [0, 0]
    crowd = cells.Particles(env, [[1.25, 0.75, 0.5]])
    env.deform(env.vertices + np.array([-0.5, -0.25, 0.0]))
    assert crowd.settle().tolist() == [True]
    assert crowd.position[0] == pytest.approx([1.0, 0.625, 0.5])


def test_several_deformations_are_followed_one_by_one():
    """A wall that comes and goes back has taken the particle along, also where nobody asked in between."""
    env = cells.channel(2, 1, 1)
    crowd, other = (cells.Particles(env, [[1.75, 0.5, 0.5], [0.5, 0.5, 0.5]]) for _ in range(2))
    rest = env.vertices
    pressed = rest.copy()
    pressed[rest[:, 0] == 2, 0] = 1.5
    for vertices in (pressed, rest, rest + np.array([0.25, 0.0, 0.0])):
        env.deform(vertices)
        other.settle()
    assert crowd.settle().tolist() == [True, False]
    assert crowd.reached.particle.tolist() == [0]
    assert crowd.reached.deformation.tolist() == [0]
    assert (crowd.position == other.position).all()
    assert crowd.position[0] == pytest.approx([1.5, 0.5, 0.5])
    assert not crowd.settle().any()
    assert len(crowd.reached) == 0


def test_a_particle_held_in_an_obstacle_is_left_behind_by_it():
    env = cells.channel(3, 1, 1)
    crowd = cells.Particles(env, [[1.25, 0.5, 0.5]])
    env.set_obstacle(1, True)
    env.deform(env.vertices + np.array([0.5, 0.0, 0.0]))
    assert crowd.settle().tolist() == [False]
    assert crowd.cell.tolist() == [0]
    assert crowd.move([[1.0, 0.5, 0.5]]).status.tolist() == [cells.FREE]


def test_a_slit_whose_sides_pass_through_one_another_goes_by_the_walls_of_the_cells():
    env = cells.channel(2, 1, 1)
    env.unsew(0, 1)
    crowd = cells.Particles(env, [[0.5, 0.5, 0.5], [1.5, 0.5, 0.5]])
    vertices = env.vertices.copy()
    owned = np.unique([corner for face in env.faces_of(0) for corner in face])
    right = owned[vertices[owned, 0] == 1]
    vertices[right, 0] = 1.75
    env.deform(vertices)
    assert crowd.settle().tolist() == [False, False]
    assert crowd.cell.tolist() == [0, 1]


def follow_exactly(space, origin, step, rows, parts, position, fates):
    fates["outcome"] = wall_sweep.UNDECIDED
    return len(rows)


@pytest.mark.parametrize("make", worlds.WORLDS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("unit", [64, 4])
def test_rational_arithmetic_tells_the_same(make, unit, monkeypatch):
    """On a coarse grid particles pass through edges and corners all the time, and walls touch them exactly."""
    known = settling.follow_rows
    for seed in range(40 if SOAK else 1):
        rng = np.random.default_rng(seed)
        world = make(rng)
        points = np.round(worlds.free_points(world, rng, 6 if jit.INTERPRETED else 12) * unit) / unit
        points = np.array([p for p in points if is_free(world, p)])
        one, other = (cells.Particles(world.environment, points) for _ in range(2))
        for _ in range(2):
            goal, before = np.round(moved_far(world, rng, 0.15) * unit) / unit, (one.position, other.position)
            try:
                world.environment.deform(goal)
            except InvalidInput:
                continue
            world = world._replace(vertices=goal)
            monkeypatch.setattr(settling, "follow_rows", follow_exactly)
            exactly = other.settle()
            monkeypatch.setattr(settling, "follow_rows", known)
            assert (one.settle() == exactly).all()
            assert one.position == pytest.approx(other.position, abs=1e-9)
            for crowd, old in ((one, before[0]), (other, before[1])):
                assert (crowd.position == old)[~exactly].all()
            assert one.reached.time == pytest.approx(other.reached.time, abs=1e-9)
            parts = world.parts()
            for crowd in (one, other):
                for cell, position in zip(crowd.cell, crowd.position, strict=True):
                    assert any(p.cell == cell and p.free and p.holds(oracle.exact(position)) for p in parts)


def is_free(world, p):
    try:
        cells.Particles(world.environment, [p])
    except InvalidInput:
        return False
    return True


def test_a_deformation_that_stops_goes_as_far_as_nobody_is_touched():
    env = cells.channel(2, 1, 1)
    crowd = cells.Particles(env, [[1.75, 0.5, 0.5], [0.25, 0.5, 0.5]])
    rest = env.vertices
    goal = rest.copy()
    goal[rest[:, 0] == 2, 0] = 1.0625
    share = env.deform(goal, stop=True)
    assert 4 / 15 - 1e-9 < share <= 4 / 15
    assert env.vertices[rest[:, 0] == 2, 0] == pytest.approx(1.75)
    assert not crowd.settle().any()
    assert crowd.position.tolist() == [[1.75, 0.5, 0.5], [0.25, 0.5, 0.5]]
    assert env.deform(goal, stop=True) < 1e-9  # it is there
    assert env.deform(rest, stop=True) == 1.0
    assert (env.vertices == rest).all()
    env.deform(goal)
    assert crowd.settle().tolist() == [True, False]


def test_a_deformation_that_stops_may_cut_cells_on_the_way():
    """A corner moves, so that faces are planar no longer; nobody is lost when it goes back."""
    env = cells.channel(3, 1, 1)
    crowd = cells.Particles(env, [[2.9, 0.9, 0.9], [0.5, 0.5, 0.5], [2.0, 1.0, 1.0]])
    goal = env.vertices.copy()
    goal[np.flatnonzero((goal == (3, 1, 1)).all(axis=1))] = (2.5, 0.75, 0.75)
    share = env.deform(goal, stop=True)
    assert 0 < share < 1
    assert not crowd.settle().any()
    assert env.check_integrity() == []
    with pytest.raises(InvalidInput, match=r"is inverted|turns flat|not convex|is flat"):
        env.deform(np.zeros_like(goal) + goal[0], stop=True)
    assert crowd.move([[0.5, 0.5, 0.5]] * 3).status.tolist() == [cells.FREE] * 3
    with pytest.raises(InvalidInput, match="stop"):
        env.deform(goal, stop="yes")


def ridge():
    """A room whose floor has a corner in the middle."""
    vertices = [[0, 0], [1, 0], [2, 0], [3, 0], [0, 2], [1, 2], [2, 2], [3, 2], [1.5, 0.25]]
    rows = [[0, 1, 5, 4], [1, 8, 6, 5], [8, 2, 6], [2, 3, 7, 6], [1, 2, 8]]
    return cells.polygons(vertices, rows, [False] * 4 + [True])


def test_an_edge_that_a_corner_comes_through_is_lifted_off_it():
    env = ridge()
    rod = cells.Mobile(env, ([[0.5, 0.5], [2.5, 0.5]], [[0, 1]]))
    env.deform([[1.5, 1.0]], moved=[8])
    assert rod.settle().tolist() == [False, False]
    reached = rod.reached
    assert (reached.edge.tolist(), reached.face.tolist(), reached.is_free.tolist()) == ([0], [-1], [True])
    assert reached.point[0] == pytest.approx([1.5, 0.5])
    assert 8 in reached.corners[0]
    assert (rod.position[:, 1] >= 1.0).all()
    assert (rod.position[:, 1] < 1.01).all()
    assert not rod.settle().any()
    assert len(rod.reached) == 0


def test_a_deformation_stops_before_an_edge():
    env = ridge()
    rod = cells.Mobile(env, ([[0.5, 0.5], [2.5, 0.5]], [[0, 1]]))
    share = env.deform([[1.5, 1.0]], moved=[8], stop=True)
    assert 1 / 3 - 1e-3 < share <= 1 / 3
    assert not rod.settle().any()
    assert len(rod.reached) == 0
    assert rod.position.tolist() == [[0.5, 0.5], [2.5, 0.5]]


def floating_post():
    """A post that hangs in the middle of a room, thinner than a step, with room around it."""
    x, y = (0.0, 1.0, 1.125, 4.0), (0.0, 1.0, 2.0, 3.0)
    vertices = np.array([[a, b] for b in y for a in x])
    squares = [[i + 4 * j, i + 1 + 4 * j, i + 5 + 4 * j, i + 4 + 4 * j] for j in range(3) for i in range(3)]
    return cells.polygons(vertices, squares, [k == 4 for k in range(9)])


def test_a_thin_wall_that_passes_an_edge_as_a_whole_takes_it_along():
    """In one step it goes from one side to the other, and touches no end."""
    env = floating_post()
    bar = cells.Mobile(env, ([[1.5, 0.5], [1.5, 2.5]], [[0, 1]]))
    goal = env.vertices.copy()
    goal[[5, 6, 9, 10], 0] += 1.0
    share = env.deform(goal, stop=True)
    assert 0.375 - 1e-6 < share <= 0.375
    env.deform(goal)
    bar.settle()
    assert bar.reached.edge.tolist() == [0]
    assert bar.reached.is_free.tolist() == [True]
    assert bar.reached.time[0] < 1e-3
    assert (bar.position[:, 0] > 2.124).all()
    assert bar.position[:, 1] == pytest.approx([0.5, 2.5], abs=0.1)


def test_settle_says_when_a_wall_came_to_an_edge():
    env = ridge()
    rod = cells.Mobile(env, ([[0.5, 0.5], [2.5, 0.5]], [[0, 1]]))
    env.deform([[1.5, 1.0]], moved=[8])
    rod.settle()
    assert 1 / 3 - 1e-6 < rod.reached.time[0] <= 1 / 3


def test_a_face_that_a_corner_comes_through_is_lifted_off_it():
    vertices, hexes = worlds.grid(3)
    marks = np.zeros(27, np.bool_)
    marks[9] = True
    env = cells.hexahedra(vertices, hexes, marks)
    plate = cells.Mobile(env, ([[0.2, 0.2, 1.5], [2.8, 0.2, 1.5], [0.2, 2.8, 1.5]], [[0, 1, 2]]))
    top = np.flatnonzero((vertices == (1, 1, 1)).all(axis=1))
    env.deform(vertices[top] + (0.0, 0.0, 0.8), moved=top)
    assert not plate.settle().any()
    assert plate.reached.face.tolist() == [0]
    assert plate.reached.is_free.tolist() == [True]
    assert plate.position[:, 2].min() > 1.5


def test_a_slit_through_an_edge_is_told():
    """Nothing has moved, so there is nowhere to lift the edge to; it is not said to be free."""
    env = cells.channel(2, 1, 1)
    rod = cells.Mobile(env, ([[0.5, 0.5, 0.5], [1.5, 0.5, 0.5]], [[0, 1]]))
    env.unsew(0, 1)
    assert not rod.settle().any()
    assert rod.reached.is_free.tolist() == [False]
    assert rod.position.tolist() == [[0.5, 0.5, 0.5], [1.5, 0.5, 0.5]]


def beating(rest, time):
    """A vessel that bends, and through which waves run that narrow it to a little over half."""
    z = rest[:, 2]
    narrow = 1 - 0.45 * np.sin(0.9 * z - 0.35 * time) ** 2
    bent = rest.copy()
    bent[:, 0] = 2 + (rest[:, 0] - 2) * narrow + 0.5 * np.sin(0.4 * z + 0.1 * time)
    bent[:, 1] = 2 + (rest[:, 1] - 2) * narrow
    return bent


@pytest.mark.large
def test_no_edge_of_a_catheter_is_through_the_wall_of_a_beating_vessel():
    """After each step each edge is clipped against all cells in rational arithmetic."""
    env = cells.channel(4, 4, 16 if SOAK else 8)
    rest, loops = env.vertices, [env.faces_of(cell) for cell in range(env.cell_count)]
    z = np.linspace(0.5, rest[:, 2].max() - 0.5, 24 if SOAK else 12)
    points = np.column_stack((2 + 1.5 * np.cos(z), 2 + 1.5 * np.sin(z), z))
    body = cells.Mobile(env, (points, np.column_stack((np.arange(len(z) - 1), np.arange(1, len(z))))))
    told = 0
    for step in range(600 if SOAK else 8):
        start = np.minimum(step / 8, 1.0)
        env.deform((1 - start) * rest + start * beating(rest, 0.2 * step))
        body.settle()
        told += len(body.reached.edge)
        assert body.reached.is_free.all()
        if step % 4 == 3:
            world = worlds.World("", env, env.vertices, loops, env.obstacle)
            parts, position = world.parts(), body.position
            for a, b in body.edges.tolist():
                assert oracle.walk(parts, position[a], position[b])[0] == 1
    assert told
