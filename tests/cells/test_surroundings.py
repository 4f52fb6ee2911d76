"""Cells around an environment, cells from a closed surface, and vertices that are where they do not belong."""

import importlib.util

import numpy as np
import pytest

import abut
from abut import InvalidInput, Unsupported, cells
from abut.core import jit
from cells import worlds
from cells.test_surgery import as_world, total_size, verify

COUNT = 6 if jit.INTERPRETED else 40
NEEDS_MESH = pytest.mark.skipif(importlib.util.find_spec("pytetwild") is None, reason="the mesh extra is missing")


@pytest.mark.large
def test_a_block_in_space_is_left_and_entered_again(rng):
    world = worlds.cubes(rng, 2)
    env = world.environment
    env.set_obstacle(np.arange(8), [True] + [False] * 7)
    start = np.array([[1.5, 1.5, 1.5]] * COUNT)
    crowds = [cells.Particles(env, start, walk) for walk in ("planes", "darts")]
    new = env.surround()
    assert new.tolist() == list(range(8, 32))
    assert len(env.part_cell) == 32  # frustums about (1, 1, 1), all whole
    parts = verify(env, crowds, rng)
    assert total_size(parts) == 4.0**3
    outside = rng.uniform(-0.9, 2.9, (COUNT, 3))
    outside[:, rng.integers(3)] = -0.5
    for crowd in crowds:
        crowd.move(start)
        crowd.move(outside)
        assert (crowd.cell >= 8).any()
        moves = crowd.move(np.full((COUNT, 3), 1.5))
        assert (moves.cell[moves.status != cells.COLLISION] < 8).all()
    assert len(env.surround(1.5)) == 24
    assert total_size(as_world(env).parts()) == 6.0**3
    assert env.check_integrity() == []
    assert env.find_strangers() == []


def test_any_border_in_the_plane_is_surrounded(rng):
    """Two pieces, one of them a ring with a hollow; collinear border vertices; then everything once more around that."""
    n = 4
    vertices = np.array([[x, y] for x in range(n + 1) for y in range(n + 1)], float)
    rows = [[i * 5 + j, (i + 1) * 5 + j, (i + 1) * 5 + j + 1, i * 5 + j + 1] for i in range(n) for j in range(n)]
    ring = [row for k, row in enumerate(rows) if k not in (5, 6, 12, 13, 15)]  # a hollow, a bay and a corner less
    apart = np.array([[6.0, 1], [7, 1.5], [6.5, 3], [-1.5, 1], [-1, 1], [-1, 3]])
    env = cells.polygons(np.concatenate((vertices, apart)), [*ring, [25, 26, 27], [28, 29, 30]])
    size = total_size(as_world(env).parts())
    crowds = [cells.Particles(env, np.full((COUNT, 2), 0.5), walk) for walk in ("planes", "darts")]
    new = env.surround(1.5)
    assert total_size(verify(env, crowds, rng)) == 12.75 * 6.0 - 2.0  # a box, without the hollow
    assert size == 11 + 0.875 + 0.5
    goal = np.array([[6.5, 2.0]] * COUNT)
    for crowd in crowds:
        crowd.move(np.full((COUNT, 2), -0.9))
        crowd.move(np.array([[6.0, -0.5]] * COUNT))
        moves = crowd.move(goal)
        assert (moves.status == cells.FREE).all()
        assert (moves.cell == len(ring)).all()
    assert len(new) > 20
    env.surround()
    assert env.check_integrity() == []
    assert env.find_strangers() == []


def test_what_cannot_be_surrounded():
    vertices, hexes = worlds.grid(3)
    bay = cells.hexahedra(vertices, np.delete(hexes, [4, 13], axis=0))
    with pytest.raises(Unsupported, match="not star-shaped about its middle"):
        bay.surround()
    assert bay.cell_count == 25
    assert bay.check_integrity() == []
    apart = cells.tetrahedra(np.concatenate((worlds.grid(1)[0], worlds.grid(1)[0] + 5)), [[0, 4, 2, 1], [8, 12, 10, 9]])
    with pytest.raises(Unsupported, match="in 2 separate pieces"):
        apart.surround()


def test_strangers_are_named():
    """Two blocks that touch, each with corners of its own, are no strangers; pushed into one another or along one another they are."""
    block, rows = worlds.grid(1)
    vertices = np.concatenate((block, block + np.eye(3)[0]))
    env = cells.hexahedra(vertices, np.concatenate((rows, rows + 8)))
    assert env.find_strangers() == []
    env.deform(vertices + np.repeat([[0, 0, 0], [-0.5, 0.5, 0.5]], 8, axis=0))
    assert env.find_strangers() == [
        "vertex 7 lies inside cell 1: cells overlap",
        "vertex 8 lies inside cell 0: cells overlap",
    ]
    env.deform(vertices + np.repeat([[0, 0, 0], [0, 0.5, 0]], 8, axis=0))
    words = "is no corner of it: the cells there are not joined"
    assert env.find_strangers() == [
        f"vertex {vertex} lies on the border of cell {cell} and {words}"
        for vertex, cell in ((6, 1), (7, 1), (8, 0), (9, 0))
    ]


@NEEDS_MESH
@pytest.mark.large
def test_a_closed_surface_is_filled(rng):
    ball = abut.scenes.icosphere(2)
    env = cells.from_surface(ball, edge_length=0.2)
    assert env.check_integrity() == []
    corners = env.vertices[
        [
            [*faces[0], next(v for v in faces[1] if v not in faces[0])]
            for faces in map(env.faces_of, range(env.cell_count))
        ]
    ]
    volume = np.linalg.det(corners[:, 1:] - corners[:, :1]).sum() / 6
    assert volume == pytest.approx(ball.volume, rel=0.02)
    crowd = cells.Particles(env, np.zeros((50, 3)))
    directions = rng.normal(size=(50, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    moves = crowd.move(2 * directions)
    assert (moves.status == cells.COLLISION).all()
    assert np.linalg.norm(moves.position, axis=1) == pytest.approx(np.ones(50), abs=0.06)
    # The box around it: the inside is the obstacle, the outside is free.
    env = cells.from_surface(ball, edge_length=0.2, outside=True, obstacle="inside")
    moves = cells.Particles(env, 1.5 * directions).move(-1.5 * directions)
    assert (moves.status == cells.COLLISION).all()
    assert np.linalg.norm(moves.position, axis=1) == pytest.approx(np.ones(50), abs=0.06)
    env.set_obstacle(np.arange(env.cell_count), False)
    assert (cells.Particles(env, 1.5 * directions).move(-1.5 * directions).status == cells.FREE).all()


@NEEDS_MESH
@pytest.mark.large
@pytest.mark.parametrize(("edge_length", "epsilon"), [(0.1, 1e-3), (0.3, 2e-3)])
def test_the_box_around_a_surface_has_the_same_margin_on_each_side(edge_length, epsilon):
    ball = abut.scenes.icosphere(1)
    vertices = ball.vertices * [3.0, 1.0, 1.0] + 10.0
    env = cells.from_surface(
        (vertices, ball.faces), edge_length=edge_length, epsilon=epsilon, outside=True, obstacle="none"
    )
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    margin = edge_length * np.linalg.norm(high - low)
    assert low - env.vertices.min(axis=0) == pytest.approx(np.full(3, margin))
    assert env.vertices.max(axis=0) - high == pytest.approx(np.full(3, margin))
    count = env.cell_count
    assert len(env.surround(2.0)) > 0
    crowd = cells.Particles(env, [high + margin / 2])
    assert crowd.move([high + 1.5 * margin]).status.tolist() == [cells.FREE]
    assert crowd.cell[0] >= count


@pytest.mark.parametrize("room", [0.04, -0.1, 0.06])
def test_a_box_that_did_not_keep_its_place_is_refused(room, monkeypatch):
    """The filler is a stand-in that hands back a box of one cube, cut into tetrahedra."""
    vertices, rows = worlds.grid(1)
    box = worlds.tetrahedra(np.random.default_rng(0), 1).environment
    rows = [np.unique(np.concatenate(box.faces_of(cell))) for cell in range(box.cell_count)]
    ball = abut.scenes.icosphere(1)
    diagonal = float(np.linalg.norm(np.ptp(ball.vertices, axis=0)))

    class Filler:
        @staticmethod
        def tetrahedralize(*_args, **_kwargs):
            corners = (2 * vertices - 1) * (np.ptp(ball.vertices, axis=0) / 2 + room * diagonal)
            turned = np.linalg.det(vertices[rows][:, 1:] - vertices[rows][:, :1]) < 0
            return corners, np.where(turned[:, np.newaxis], np.array(rows)[:, [0, 2, 1, 3]], rows)

    monkeypatch.setitem(__import__("sys").modules, "pytetwild", Filler)
    if room < 0.05:
        with pytest.raises(InvalidInput, match=r"epsilon: 0\.001 is too large: the box around the surface"):
            cells.from_surface(ball, outside=True)
    else:
        assert cells.from_surface(ball, outside=True, obstacle="none").cell_count == 6


def shells(turned, radii):
    """Balls about the origin as one surface; `turned` says which of them are inside out."""
    ball = abut.scenes.icosphere(1)
    faces = [
        (ball.faces[:, ::-1] if inwards else ball.faces) + k * len(ball.vertices) for k, inwards in enumerate(turned)
    ]
    return abut.Mesh(np.concatenate([ball.vertices * radius for radius in radii]), np.concatenate(faces))


@NEEDS_MESH
@pytest.mark.large
@pytest.mark.parametrize("outside", [False, True])
def test_a_shell_in_a_shell_is_a_hollow(outside):
    surface = shells([False, True], [1.0, 0.5])
    env = cells.from_surface(surface, edge_length=0.15, outside=outside)
    crowd = cells.Particles(env, [[0.0, 0.0, 0.7]])
    moves = crowd.move([[0.0, 0.0, -0.7]])
    assert moves.status.tolist() == [cells.COLLISION]
    assert moves.position[0, 2] == pytest.approx(0.5, abs=0.1)
    with pytest.raises(InvalidInput, match=r"points\[0\]: lies"):
        cells.Particles(env, [[0.0, 0.0, 0.0]])


@pytest.mark.parametrize(
    ("turned", "radii", "words"),
    [
        ([False, False], [1.0, 0.5], r"mesh\.faces\[80\]: belongs to a piece inside another that faces the same way"),
        ([False, False], [0.5, 1.0], r"mesh\.faces\[0\]: belongs to a piece inside another that faces the same way"),
        ([False, True, True], [1.0, 0.5, 0.25], r"mesh\.faces\[160\]: belongs to a piece that is inside out"),
        ([True], [1.0], r"mesh\.faces\[0\]: belongs to a piece that is inside out"),
        ([True, False], [1.0, 0.5], r"mesh\.faces\[0\]: belongs to a piece that is inside out"),
    ],
)
def test_pieces_that_would_be_lost_are_refused(turned, radii, words):
    with pytest.raises(InvalidInput, match=words):
        cells.from_surface(shells(turned, radii), outside=True)


def test_pieces_that_are_sound_reach_the_filler(monkeypatch):
    """A hollow, an island in it, pieces side by side, and pieces that pass through one another."""
    monkeypatch.setitem(__import__("sys").modules, "pytetwild", None)
    ball = abut.scenes.icosphere(1)
    beside = [
        abut.Mesh(
            np.concatenate((ball.vertices, ball.vertices + shift * np.eye(3)[0])),
            np.concatenate((ball.faces, ball.faces + len(ball.vertices))),
        )
        for shift in (0.5, 3.0)
    ]
    for surface in (shells([False, True], [1, 0.5]), shells([False, True, False], [1, 0.5, 0.2]), *beside):
        with pytest.raises(Unsupported, match=r"abut\[mesh\]"):
            cells.from_surface(surface)


def test_surfaces_that_cannot_be_filled(monkeypatch):
    ball = abut.scenes.icosphere(1)
    with pytest.raises(InvalidInput, match="mesh: is not closed"):
        cells.from_surface((ball.vertices, ball.faces[1:]))
    with pytest.raises(InvalidInput, match="obstacle: is 'walls', expected one of"):
        cells.from_surface(ball, obstacle="walls")
    monkeypatch.setitem(__import__("sys").modules, "pytetwild", None)
    with pytest.raises(Unsupported, match=r'pip install "abut\[mesh\]"'):
        cells.from_surface(ball)
