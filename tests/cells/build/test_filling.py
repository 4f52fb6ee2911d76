"""Cells around an environment, cells from a closed surface, and vertices that are where they do not belong."""

import importlib.util

import numpy as np
import pytest

import abut
from abut import InvalidInput, Unsupported, cells
from cells import worlds

NEEDS_MESH = pytest.mark.skipif(importlib.util.find_spec("pytetwild") is None, reason="the mesh extra is missing")


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


def blocks(*bounds):
    """Boxes with corners at whole numbers, as surfaces."""
    return [abut.Mesh(box_corners(np.array(low), np.array(high)), abut.scenes.box().faces) for low, high in bounds]


def box_corners(low, high):
    corners = abut.scenes.box().vertices
    share = (corners - corners.min(axis=0)) / np.ptp(corners, axis=0)
    return low + share * (high - low)


def stand_in(size, start, seen):
    """A filler that hands back a grid of unit cubes, cut into tetrahedra, whatever is asked for."""
    grid, rows = worlds.grid(size)

    class Filler:
        @staticmethod
        def tetrahedralize(vertices, faces, **options):
            seen.append((len(vertices), options["disable_filtering"]))
            box = worlds.tetrahedra(np.random.default_rng(0), 1).environment
            own = np.array([np.unique(np.concatenate(box.faces_of(cell))) for cell in range(box.cell_count)])
            lookup = [
                int(np.flatnonzero((worlds.grid(1)[0][k] == np.array(worlds.CORNERS)).all(axis=1))[0]) for k in range(8)
            ]
            return grid + start, np.concatenate([row[np.array(lookup)[own]] for row in rows])

    return Filler


def test_surfaces_in_one_another_are_regions(monkeypatch):
    """A lumen in a wall, a stone in the lumen and bone beside it: each cell belongs to the smallest that holds it."""
    wall, lumen, stone, bone = blocks((1, 5), (2, 4), (3, 4), ([5, 1, 1], [6, 2, 2]))
    seen = []
    monkeypatch.setitem(__import__("sys").modules, "pytetwild", stand_in(7, -0.0, seen))
    named = {"wall": wall, "lumen": lumen, "stone": stone, "bone": bone}
    env = cells.from_surface(
        named, outside=True, edge_length=0.01, obstacle="none", regions={"stone": "obstacle", "bone": "left out"}
    )
    assert seen == [(32, True)]
    assert env.region_names == ("wall", "lumen", "stone", "bone", "outside")
    counts = [len(env.cells_in(name)) // 6 for name in env.region_names]
    assert counts == [64 - 8, 7, 1, 0, 343 - 64 - 1]
    assert env.obstacle.sum() == 6
    crowd = cells.Particles(env, [[2.5, 2.5, 2.5]])
    moves = crowd.move([[3.6, 3.6, 3.6]])
    assert moves.position[0] == pytest.approx([3, 3, 3])
    inner = cells.from_surface({"wall": wall, "lumen": lumen}, edge_length=0.01)
    assert inner.cell_count == 6 * 64
    assert [len(inner.cells_in(name)) // 6 for name in inner.region_names] == [56, 8, 0]
    alone = cells.from_surface(wall, outside=True, edge_length=0.01)
    assert alone.region_names == ("inside", "outside")
    assert (alone.obstacle == (alone.region == 1)).all()


@pytest.mark.parametrize(
    ("named", "options", "words"),
    [
        ({}, {}, "mesh: holds no surface"),
        ({3: "ball"}, {}, "mesh: 3 is no name of a surface"),
        ({"outside": "ball"}, {}, "mesh: 'outside' is no name of a surface"),
        ({"a": "open"}, {}, r"mesh\['a'\]: is not closed"),
        ({"a": "turned"}, {}, r"mesh\['a'\]\.faces\[0\]: belongs to a piece that is inside out"),
        ({"a": "ball"}, {"regions": {"b": "free"}}, "regions: there is no region 'b'; there are 'a', 'outside'"),
        ({"a": "box", "b": "box"}, {}, "mesh: 'b' holds nothing of its own"),
        ({"a": "box"}, {"regions": {"a": "left out"}}, "regions: leave out all that there is"),
    ],
)
def test_named_surfaces_that_are_no_good(named, options, words, monkeypatch):
    ball = abut.scenes.icosphere(1)
    known = {
        "ball": ball,
        "open": (ball.vertices, ball.faces[1:]),
        "turned": (ball.vertices, ball.faces[:, ::-1]),
        "box": blocks((1, 3))[0],
    }
    monkeypatch.setitem(__import__("sys").modules, "pytetwild", stand_in(4, 0.0, []))
    with pytest.raises(InvalidInput, match=words):
        cells.from_surface({name: known[each] for name, each in named.items()}, **options)
