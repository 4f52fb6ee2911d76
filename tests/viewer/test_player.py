"""The page of `abut.show` in Chromium, on small and large screens: nothing covered, it plays, tells names, hides and cuts."""

import numpy as np
import pytest

import abut
from abut import scenes, viewer
from browser import NAMELESS, OVERLAPS, SCREENS, wait

pytestmark = pytest.mark.large  # a browser gains nothing from a second pass
PARTS = ["#head", "#tools", "#transport", "#panels section"]
CONTROLS = ["#play", "#clock", "#loop", "#speed", "#track", "#tools button"]
DRAWN = """() => { const p = abutPlayer.pixels(); let count = 0;
  for (let i = 0; i < p.length; i += 4) count += Math.abs(p[i] - p[0]) + Math.abs(p[i + 1] - p[1]) + Math.abs(p[i + 2] - p[2]) > 24;
  return count / (p.length / 4); }"""
PLACE = """(name) => { const box = document.querySelector('#canvas').getBoundingClientRect();
  for (let y = 15; y < box.height; y += 30) for (let x = 15; x < box.width; x += 30)
    if (abutPlayer.whoIsAt(x, y) === name && document.elementFromPoint(box.left + x, box.top + y).id === "canvas") return [x, y]; }"""
"""Somewhere a thing is seen, in pixels of the view."""


@pytest.fixture
def show(open_file, tmp_path):
    """A ball that falls past a box, with an event half-way."""
    ball, box = scenes.icosphere(2), scenes.box()
    times = np.linspace(0, 1, 21)
    poses = np.tile(np.eye(4), (21, 1, 1))
    poses[:, 2, 3] = 3 - 3 * times
    things = [
        viewer.Faces("ball", ball.vertices, ball.faces, poses=poses, note="falls"),
        viewer.Faces("box", box.vertices + np.array([2.0, 0, 0]), box.faces, group="still"),
        viewer.Lines("path", [[0, 0, 3], [0, 0, 0]]),
    ]
    scene = viewer.Scene(
        things,
        times,
        title="A ball beside a box with a title of some length",
        marks=[viewer.Mark(0.5, "half-way", (0.0, 0.0, 1.5))],
        facts=[("bodies", "2"), ("frames", "21")],
    )
    path = tmp_path / "player.html"
    abut.show(scene).save_html(path)

    def open_page(**options):
        page = open_file(path, **options)
        page.evaluate("abutPlayer.ready")
        return page

    return open_page


@pytest.mark.parametrize(("size", "scheme"), SCREENS, ids=str)
def test_nothing_is_covered_at_any_size(show, size, scheme, tmp_path):
    page = show(size=size, scheme=scheme)
    assert page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]") == list(size)
    assert page.evaluate(OVERLAPS, PARTS) == []
    assert page.evaluate(OVERLAPS, CONTROLS) == []
    assert page.evaluate(DRAWN) > 0.02
    page.click("#list-button")
    assert page.evaluate(OVERLAPS, PARTS) == []
    assert page.evaluate(NAMELESS) == []
    page.click("#help-button")
    assert page.evaluate(OVERLAPS, PARTS) == []
    assert page.get_attribute("html", "data-theme") == scheme
    assert page.locator("#canvas").bounding_box()["height"] > 0.5 * size[1]
    page.screenshot(path=tmp_path / "player.png")


def test_time_is_moved_and_played(show):
    page = show(size=(360, 640))
    assert page.get_attribute("#play", "aria-pressed") == "false"  # people who want less motion start it themselves
    page.focus("#canvas")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("abutPlayer.state.time") == pytest.approx(0.05)
    page.keyboard.press("Shift+ArrowRight")
    assert page.evaluate("abutPlayer.state.time") == pytest.approx(0.55)
    page.click("#loop")
    page.select_option("#speed", "4")
    page.click("#play")
    wait(page, "abutPlayer.state.time === 1 && !abutPlayer.state.playing")
    page.locator("#marks button").first.click(force=True)
    wait(page, "abutPlayer.state.time === 0.5")
    assert "half-way" in page.inner_text("#event")


def test_names_are_told_and_things_hidden(show):
    page = show()
    box = page.locator("#canvas").bounding_box()
    x, y = page.evaluate(PLACE, "ball")
    page.mouse.move(box["x"] + x, box["y"] + y)
    wait(page, "document.querySelector('#tip').textContent.startsWith('ball')")
    assert "falls" in page.inner_text("#tip")
    before = page.evaluate(DRAWN)
    page.click("#list-button")
    page.locator("#groups input").first.uncheck()
    assert page.evaluate(DRAWN) < before
    page.keyboard.press("Escape")
    assert not page.is_visible("#list")


def test_a_finger_taps_a_name(show):
    page = show(size=(360, 640), touch=True)
    x, y = page.evaluate(PLACE, "ball")
    box = page.locator("#canvas").bounding_box()
    page.touchscreen.tap(box["x"] + x, box["y"] + y)
    wait(page, "document.querySelector('#tip').textContent.startsWith('ball')")


def test_views_and_cuts(show):
    page = show()
    eye = "[abutPlayer.camera.yaw, abutPlayer.camera.pitch, abutPlayer.camera.distance]"
    start = page.evaluate(eye)
    page.keyboard.press("3")
    assert page.evaluate(eye)[1] > 1.4
    page.keyboard.press("Home")
    page.keyboard.press("a")
    page.keyboard.press("+")
    moved = page.evaluate(eye)
    assert moved[0] != start[0]
    whole = page.evaluate(DRAWN)
    page.click("#list-button")
    page.select_option("#cut-axis", "0")
    assert page.evaluate(DRAWN) < whole
