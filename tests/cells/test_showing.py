"""What consoles and notebooks show of cells: one line, and for the plane a picture."""

import copy
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import abut
from abut import InvalidInput, cells

ONE = [[0, 0], [1, 0], [1, 1], [0, 1], [2, 0.5]]


def plane(obstacle=None):
    return cells.polygons(ONE, [[0, 1, 2, 3], [1, 4, 2]], obstacle)


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (lambda: cells.channel(10, 12, 10, [True] * 3 + [False] * 1197), "Environment(1,200 cells, 3 obstacles)"),
        (lambda: plane([False, True]), "Environment(2 cells, 1 obstacle, in the plane)"),
        (lambda: plane().darts, "Darts(12 darts, dimension 2)"),
        (lambda: cells.Particles(plane(), [[0.5, 0.5]]), "Particles(1 particle, 2 cells)"),
        (lambda: cells.Particles(plane(), [[0.5, 0.5]] * 3).move([[0.5, 0.5]] * 3), "Moves(3 particles, 3 free)"),
        (lambda: cells.Mobile(plane(), ([[0.5, 0.5], [1.0, 0.5]], [[0, 1]])), "Mobile(2 vertices, 1 edge, 0 faces)"),
        (lambda: cells.Marker(4), "Marker(0 of 4 darts)"),
    ],
)
def test_each_thing_is_one_line(make, line):
    assert repr(make()) == line


def test_moves_tell_how_many_ended_in_which_way():
    crowd = cells.Particles(plane([False, True]), [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [0.25, 0.5]])
    moves = crowd.move([[0.25, 0.5], [1.0, 0.5], [1.5, 0.5], [-1.0, 0.5]])
    assert repr(moves) == "Moves(4 particles, 1 free, 1 contact, 2 collisions)"
    table = moves._repr_html_()
    assert table.count("<tr>") == 5
    assert table.count("<td>COLLISION</td>") == 2
    rod = cells.Mobile(plane(), ([[0.5, 0.5], [0.5, 0.75]], [[0, 1]]))
    answer = rod.move([[3.0, 0.5], [0.5, 0.75]])
    assert repr(answer) == "BodyMoves(2 vertices, 1 free, 1 collision)"
    assert answer._repr_html_().count("<tr>") == 3
    met = cells.find_meetings([rod, cells.Mobile(rod.environment, ([[0.2, 0.5], [0.4, 0.5]], [[0, 1]]))])
    assert repr(met) == "Meetings(0 pairs, 1 candidate)"
    assert met._repr_html_().count("<tr>") == 1


def test_the_plane_draws_itself_and_space_counts():
    env = plane([False, True])
    drawn = ET.fromstring(env._repr_svg_())
    shapes = [each.tag.rpartition("}")[2] for each in drawn]
    assert shapes == ["polygon", "polygon"]
    assert [each.get("fill") for each in drawn] == ["#fff", "#999"]
    assert env._repr_html_() is None
    with_points = ET.fromstring(cells.Particles(env, [[0.5, 0.5], [0.25, 0.75]])._repr_svg_())
    assert sum(each.tag.endswith("circle") for each in with_points) == 2
    with_edges = ET.fromstring(cells.Mobile(env, ([[0.5, 0.5], [0.25, 0.75]], [[0, 1]]))._repr_svg_())
    assert sum(each.tag.endswith("polyline") for each in with_edges) == 1
    block = cells.channel(2, 1, 1)
    assert block._repr_svg_() is None
    for count in (2, 0, 12, 48):  # cells and parts, obstacles, vertices, darts without those of the outside
        assert f"<td>{count}</td>" in block._repr_html_()
    assert cells.Particles(block, [[0.5, 0.5, 0.5]])._repr_svg_() is None


def test_a_copy_of_a_mobile_goes_on_by_itself():
    """Addresses of its tables do not go with it."""
    rod = cells.Mobile(cells.channel(3, 1, 1), ([[0.5, 0.5, 0.5], [1.5, 0.5, 0.5]], [[0, 1]]))
    rod.move(rod.position + 0.25)
    other = copy.deepcopy(rod)
    assert other._links == {}
    goals = rod.position + np.array([0.5, 0.0, 0.0])
    expected = rod.move(goals)
    del rod
    assert (other.move(goals).position == expected.position).all()


def area(thing):
    a, b, c = (thing.vertices[0][thing.faces[:, k]] for k in range(3))
    return 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()


def volume(thing):
    """What a surface encloses, positive where it is seen from outside."""
    a, b, c = (thing.vertices[0][thing.faces[:, k]] for k in range(3))
    return np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0


def test_a_page_of_space_shows_its_walls_from_outside():
    env = cells.channel(3, 3, 3, obstacle=np.arange(27) == 13)
    things = {thing.name: thing for thing in abut.show(env).scene.things}
    assert list(things) == ["border", "obstacles", "faces of cells", "edges of cells"]
    assert [area(things[name]) for name in ("border", "obstacles", "faces of cells")] == [54.0, 6.0, 48.0]
    assert [volume(things[name]) for name in ("border", "obstacles")] == [27.0, 1.0]
    assert len(things["edges of cells"].pairs) == 3 * 3 * 16
    assert [things[name].hidden for name in things] == [False, False, True, True]


def test_a_page_of_the_plane_shows_its_cells():
    env = plane([False, True])
    crowd = cells.Particles(env, [[0.5, 0.5]])
    things = {thing.name: thing for thing in abut.show(env, crowd).scene.things}
    assert [area(things[name]) for name in ("cells", "obstacles")] == [1.0, 0.5]
    assert things["particles"].points[0].tolist() == [[0.5, 0.5, 0.0]]


def test_a_film_follows_walls_bodies_and_surgery():
    env = cells.channel(2, 1, 1)
    rod = cells.Mobile(env, ([[0.5, 0.5, 0.5], [1.5, 0.5, 0.5]], [[0, 1]]), radius=0.1)
    crowd = cells.Particles(env, [[0.25, 0.5, 0.5]])
    film = cells.Recording(env, rod, crowd)
    film.note(time=1.0)
    env.deform(env.vertices * [1.0, 1.0, 1.5])
    film.note(crowd.move([[0.25, 2.0, 0.5]]), time=1.5)
    env.cut(plane=([0.5, 0.5, 0.5], [1, 0, 0]))
    film.note(time=2.0)
    scene = abut.show(film).scene
    assert scene.times.tolist() == [1.0, 1.5, 2.0]
    border, cut = (thing for thing in scene.things if thing.name == "border")
    assert border.shown.tolist() == [True, True, False]
    assert cut.shown.tolist() == [False, False, True]
    assert border.vertices[:, :, 2].max(axis=1).tolist() == [1.0, 1.5, 1.5]
    body = next(thing for thing in scene.things if thing.name == "body")
    assert body.radius.tolist() == [0.1]
    contacts = next(thing for thing in scene.things if thing.name == "contacts")
    assert [len(points) for points in contacts.points] == [0, 1, 0]
    assert contacts.points[1][0] == pytest.approx([0.25, 1.0, 0.5])
    assert contacts.normals[1].tolist() == [[0.0, 1.0, 0.0]]


def test_what_films_refuse():
    env = plane()
    with pytest.raises(InvalidInput, match="things"):
        cells.Recording(env, 3)
    with pytest.raises(InvalidInput, match="no frame"):
        abut.show(cells.Recording(env))
    film = cells.Recording(env)
    film.note(time=1.0)
    with pytest.raises(InvalidInput, match="time: 1 is not after 1"):
        film.note(time=1.0)
    with pytest.raises(InvalidInput, match="moves"):
        film.note(env)
