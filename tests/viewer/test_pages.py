"""The page of a scene holds its numbers, and the browser shows and plays them."""

import base64
import json
import re
import zlib

import numpy as np
import pytest

import abut
from abut import scenes, shapes, viewer
from abut.viewer import pages

BALL = scenes.icosphere(1)


def read(page):
    """Facts and arrays of a page, by another road than the browser's."""
    facts = json.loads(re.search(r'id="facts">(.*?)</script>', page, re.S)[1])
    raw = zlib.decompress(base64.b64decode(re.search(r'id="packed">(.*?)</script>', page, re.S)[1]))
    arrays, offset = {}, 0
    for section in facts["sections"]:
        size, rows, columns = section["bytes"], section["rows"], section["columns"]
        planes = np.frombuffer(raw, np.uint8, size * rows * columns, offset).reshape(size, -1)
        values = sum(plane.astype(np.uint64) << (8 * k) for k, plane in enumerate(planes)).reshape(rows, columns)
        arrays[section["name"]] = np.cumsum(values, axis=0) % 2 ** (8 * size)
        offset += size * rows * columns
    assert offset == len(raw)
    return facts, arrays


def turned(angle, axis=2):
    c, s = np.cos(angle), np.sin(angle)
    m, (i, j) = np.eye(3), [k for k in range(3) if k != axis]
    m[[i, i, j, j], [i, j, i, j]] = c, -s, s, c
    return m


def matrix(q):
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_places_and_turns_come_back_as_exactly_as_the_page_says(scale):
    times = np.linspace(0, 1, 41)
    poses = np.tile(np.eye(4), (41, 1, 1))
    for k, time in enumerate(times):
        poses[k, :3, :3] = turned(7 * time) @ turned(3 * time, 0)
        poses[k, :3, 3] = scale * np.array([time, time**2, -5.0])
    things = [viewer.Faces("one", scale * BALL.vertices, BALL.faces, poses=poses)]
    things += [viewer.Faces("two", scale * BALL.vertices, BALL.faces, poses=poses[3])]
    facts, arrays = read(abut.show(viewer.Scene(things, times)).to_html())
    assert [len(facts["forms"]), len(arrays["corners"])] == [1, len(BALL.faces)]  # sent once
    thing = facts["things"][0]
    places = np.array(thing["low"]) + arrays["places"] / pages.STEPS * thing["span"]
    np.testing.assert_allclose(places, poses[:, :3, 3], atol=facts["precision"] * 1.001)
    assert facts["precision"] < 3e-5 * scale
    quaternions = arrays["turns"] / pages.TURN_STEPS - 1.0
    for quaternion, pose in zip(quaternions, poses, strict=True):
        np.testing.assert_allclose(
            matrix(quaternion / np.linalg.norm(quaternion)), pose[:3, :3], atol=4 / pages.TURN_STEPS
        )
    assert (np.einsum("ij,ij->i", quaternions[1:], quaternions[:-1]) > 0).all()  # no jump to the other side
    np.testing.assert_allclose(facts["things"][1]["still"][:3], poses[3, :3, 3])


def test_half_turns_about_every_axis_have_unit_quaternions():
    turns = np.stack([np.diag(d) for d in ([1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1])]).astype(float)
    found = pages._quaternions(turns)
    np.testing.assert_allclose(np.abs(found), np.eye(4), atol=1e-15)


def test_forms_that_change_lines_and_points_hold_every_frame():
    times = np.arange(5.0)
    forms = BALL.vertices * (1 + times[:, None, None])
    points = [np.full((k, 3), float(k)) for k in range(5)]
    scene = viewer.Scene(
        [
            viewer.Faces("soft", forms, BALL.faces, shown=[1, 1, 0, 0, 1]),
            viewer.Lines("path", forms[:, :3], radius=[0.1, 0.0]),
            viewer.Points("touch", points, points, hidden=True),
        ],
        times,
    )
    facts, arrays = read(abut.show(scene).to_html())
    soft, path, touch = facts["things"]
    assert soft["spans"] == [[0, 2], [4, 5]]
    for number, (thing, given) in enumerate(((soft, forms), (path, forms[:, :3]))):
        rows = arrays[f"moving {number}"].reshape(5, 3, -1).transpose(0, 2, 1)
        found = np.array(thing["low"]) + rows / pages.STEPS * thing["span"]
        np.testing.assert_allclose(found, given, atol=facts["precision"] * 1.001)
    assert touch["starts"] == [0, 0, 1, 3, 6, 10]
    assert [group["hidden"] for group in facts["groups"]] == [False, False, True]


def test_long_films_keep_even_frames_and_the_last():
    times = np.arange(10_000.0)
    poses = np.tile(np.eye(4), (10_000, 1, 1))
    poses[:, 0, 3] = times
    kept = pages.frames_kept(viewer.Scene([viewer.Faces("one", BALL.vertices, BALL.faces, poses=poses)], times))
    assert len(kept) <= pages.MOST_FRAMES + 1
    assert kept[0] == 0
    assert kept[-1] == 9999
    assert len(set(np.diff(kept)[:-1].tolist())) == 1


def test_names_cannot_leave_their_place():
    evil = "</script><script>alert(1)</script>"
    page = abut.show(viewer.Faces(evil, BALL.vertices, BALL.faces), title=evil).to_html()
    assert "<script>alert" not in page
    assert json.loads(re.search(r'id="facts">(.*?)</script>', page, re.S)[1])["things"][0]["name"] == evil


def test_what_does_not_fit_is_refused_by_name():
    moving = viewer.Lines("path", np.zeros((4, 2, 3)))
    with pytest.raises(abut.InvalidInput, match="'path' has 4 frames for 3 times"):
        viewer.Scene([moving], [0, 1, 2])
    with pytest.raises(abut.InvalidInput, match="ascending"):
        viewer.Scene([moving], [0, 2, 1, 3])
    with pytest.raises(abut.InvalidInput, match="neither #rrggbb"):
        viewer.Points("p", [[0, 0, 0]], colour="mauve")
    with pytest.raises(abut.InvalidInput, match="3 rows for 80 faces"):
        viewer.Faces("b", BALL.vertices, BALL.faces, face_colours=np.zeros((3, 3), int))
    with pytest.raises(abut.InvalidInput, match="other times"):
        abut.show(viewer.Scene([moving], [0, 1, 2, 4]), viewer.Scene([moving], [0, 1, 2, 3]))
    with pytest.raises(abut.InvalidInput, match=r"things\[1\]: a int cannot be shown"):
        abut.show(BALL, 3)
    with pytest.raises(abut.InvalidInput, match="none"):
        abut.show()


def test_worlds_films_bodies_steps_and_contacts_are_shown(tmp_path):
    world = abut.World()
    world.add(shapes.Box((4, 4, 1)), kind="static", name="floor")
    ball = world.add(shapes.Sphere(0.3), position=(0, 0, 0.8), name="ball")
    with world.record() as film:
        world.step(0.01)
        late = world.add(shapes.Sphere(0.1), position=(1, 1, 2))
        world.step(0.01)
        world.remove(ball)
        world.step(0.01)
    view = abut.show(film, title="A film")
    named = {thing.name: thing for thing in view.scene.things}
    assert {"floor", "ball", f"sphere {late}"} <= set(named)
    assert named["ball"].shown.tolist() == [True, True, True, False]
    assert named[f"sphere {late}"].shown.tolist() == [False, False, True, True]
    assert named["floor"].group == "still"
    np.testing.assert_array_equal(named["ball"].poses[:3], film.follow(ball)[1])
    assert view._repr_html_().startswith("<iframe srcdoc=")
    view.save_html(tmp_path / "film.html")
    assert (tmp_path / "film.html").read_text(encoding="utf-8") == view.to_html()
    assert len(abut.show(world).scene.things) == len(world) == 2
    body, soft = abut.Rigid(BALL), abut.Deformable(BALL)
    assert len(abut.show(body, soft, abut.collide(body, soft)).scene.things) == 3
    step = abut.Motion(BALL, BALL.vertices, BALL.vertices + 1)
    shown = abut.show(step).scene.things[0]
    np.testing.assert_allclose(shown.vertices[-1], BALL.vertices + 1)
