"""The report page in Debian's Chromium without a network: it draws, its slider, table, keys and mouse do what they say."""

import numpy as np
import pytest

from abut.app.check.findings import Contact
from abut.app.report import selection
from app.report.sheets import HITS, make_checked, write
from browser import wait

pytestmark = pytest.mark.large  # a browser gains nothing from a second pass

PICTURE = """() => {
  let hash = 0;
  for (const byte of abutReport.pixels()) hash = (Math.imul(hash, 31) + byte) | 0;
  return hash;
}"""
SATURATED = """() => {
  const p = abutReport.pixels();
  const count = { all: p.length / 4, drawn: 0, vivid: 0, violet: 0, yellow: 0, teal: 0, back: [p[0], p[1], p[2]] };
  for (let i = 0; i < p.length; i += 4) {
    const [r, g, b] = [p[i], p[i + 1], p[i + 2]];
    count.drawn += Math.abs(r - p[0]) + Math.abs(g - p[1]) + Math.abs(b - p[2]) > 12;
    if (Math.max(r, g, b) - Math.min(r, g, b) < 70) continue;
    count.vivid++;
    count.violet += b > r && r > g + 20;
    count.yellow += r > g && g > b + 60;
    count.teal += g > r + 60 && b > r + 60;
  }
  return count;
}"""


@pytest.fixture
def show(open_file, tmp_path):
    """Open the page of an animation."""

    def open_page(checked, title="A sheet", **options):
        page = open_file(write(tmp_path, checked, title), **options)
        page.evaluate("abutReport.ready")
        return page

    return open_page


WITHOUT_WEBGL = """
  const getContext = HTMLCanvasElement.prototype.getContext;
  HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
    return kind === "webgl2" ? null : getContext.call(this, kind, ...rest);
  };
"""
SLIDE = """async (slider, time) => {
  slider.value = time;
  slider.dispatchEvent(new Event("input"));
  for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
}"""


def slide(page, time):
    page.locator("#slider").evaluate(SLIDE, time)


def test_contacts_are_coloured_by_time_and_clean_frames_are_grey(show):
    page = show(make_checked(HITS))
    count = page.evaluate(SATURATED)
    assert count["drawn"] > 0.1 * count["all"]
    assert min(count["violet"], count["yellow"], count["teal"]) > 200
    page.uncheck("#markers")
    assert page.evaluate(SATURATED)["violet"] > 200  # faces, not only their marks
    slide(page, 1)
    clean = page.evaluate(SATURATED)
    assert clean["drawn"] > 0.1 * clean["all"]
    assert clean["vivid"] == 0
    page.select_option("#colour", "all")
    assert page.evaluate(SATURATED)["vivid"] > 200


def test_slider_moves_the_frame_and_goes_between_frames(show):
    page = show(make_checked(HITS))
    assert page.inner_text("#clock-time") == "Frame 2"
    slide(page, 0)
    first = page.evaluate(PICTURE)
    page.focus("#slider")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("abutReport.state.time") == 1
    second = page.evaluate(PICTURE)
    assert first != second
    slide(page, 0.5)
    assert page.inner_text("#clock-name") == "sheet0.obj → sheet1.obj"
    assert page.evaluate(PICTURE) not in (first, second)
    box = page.locator("#histogram").bounding_box()
    page.mouse.click(box["x"] + box["width"] - 2, box["y"] + 10)
    assert page.evaluate("abutReport.state.time") == 3


def test_click_on_a_row_moves_camera_and_time(show):
    page = show(make_checked(HITS))
    before = page.evaluate("[abutReport.camera.distance, ...abutReport.camera.target]")
    row = page.locator("#contacts tbody tr").first
    assert "edge–edge" in row.inner_text()
    row.click()
    assert page.evaluate("[abutReport.state.step, abutReport.state.time]") == [2, 3]
    after = page.evaluate("[abutReport.camera.distance, ...abutReport.camera.target]")
    assert np.abs(np.subtract(before, after)).max() > 0.1
    wait(page, "document.querySelectorAll('#labels span').length === 2")
    assert page.locator("#labels span").all_inner_texts() == ["edge 10", "edge 150"]
    assert "chosen" in row.get_attribute("class")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("abutReport.state.time") == 2
    page.keyboard.press("Escape")
    assert page.evaluate("abutReport.state.chosen") is None


def test_mouse_wheel_and_keys_move_the_camera(show):
    page = show(make_checked(HITS))
    state = "[abutReport.camera.yaw, abutReport.camera.distance, ...abutReport.camera.target]"
    start = page.evaluate(state)
    page.mouse.move(300, 400)
    page.mouse.down()
    page.mouse.move(360, 400)
    page.mouse.up()
    turned = page.evaluate(state)
    assert turned[0] != start[0]
    assert turned[1:] == start[1:]
    page.mouse.wheel(0, -200)
    wait(page, f"({state})[1] < {turned[1]}")
    page.mouse.down(button="right")
    page.mouse.move(300, 380)
    page.mouse.up(button="right")
    assert page.evaluate(state)[2:] != turned[2:]
    page.keyboard.press("Home")
    assert page.evaluate(state)[2:] == pytest.approx(start[2:])


def test_two_fingers_zoom_and_move(show):
    page = show(make_checked(HITS), size=(390, 800))
    state = "[abutReport.camera.yaw, abutReport.camera.distance, ...abutReport.camera.target]"
    start = page.evaluate(state)
    box = page.locator("#canvas").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    fingers = page.context.new_cdp_session(page)
    for kind, apart in (("touchStart", 40), ("touchMove", 60), ("touchMove", 80), ("touchEnd", None)):
        points = [] if apart is None else [{"x": x - apart, "y": y, "id": 0}, {"x": x + apart, "y": y + 20, "id": 1}]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    wait(page, f"({state})[1] < {0.7 * start[1]}")
    assert page.evaluate(state)[0] == start[0]


def test_space_plays_to_the_end(show):
    page = show(make_checked(HITS))
    slide(page, 0)
    note_presses = """() => new MutationObserver(changes => {
      for (const change of changes) (window.presses ??= []).push(change.target.getAttribute("aria-pressed"));
    }).observe(document.querySelector("#play"), { attributeFilter: ["aria-pressed"] })"""
    page.evaluate(note_presses)  # on a slow machine it has played to the end before it can be asked
    page.select_option("#speed", "24")
    page.focus("#canvas")
    page.keyboard.press("Space")
    wait(page, "abutReport.state.time === 3 && !abutReport.state.playing")
    wait(page, "window.presses?.at(-1) === 'false'")
    assert page.evaluate("window.presses[0]") == "true"
    assert page.get_attribute("#play", "aria-label") == "Play"


def test_clean_animation(show):
    page = show(make_checked())
    assert page.inner_text("#verdict") == "Clean: no contact in 4 frames"
    assert not page.is_visible("#lists")
    count = page.evaluate(SATURATED)
    assert count["drawn"] > 0.1 * count["all"]
    assert count["vivid"] == 0


@pytest.mark.parametrize("left_empty", [True, False])
def test_missing_frames_are_named_and_never_bridged(show, left_empty):
    bad = [("sheet1.obj", "vertices[3]: is NaN"), ("sheet3.obj → sheet4.obj", "out of memory")]
    checked = make_checked(HITS, bad=bad, count=5)
    checked.frames[1] = np.empty((0, 3)) if left_empty else checked.frames[0]  # a stand-in is not taken for the frame
    page = show(checked)
    assert page.inner_text("#bad summary") == "1 frame and 1 step could not be checked"
    page.click("#bad summary")
    assert "sheet1.obj vertices[3]: is NaN" in page.inner_text("#bad ul")
    slide(page, 0)
    held = page.evaluate(PICTURE)
    assert page.inner_text("#note") == "The step to frame 1 could not be checked."
    assert page.inner_text("#clock-count") == "step not checked"
    slide(page, 0.7)
    assert page.evaluate(PICTURE) == held
    slide(page, 1)
    assert page.evaluate(PICTURE) == held
    assert page.inner_text("#note").startswith("Frame 1 could not be checked")
    assert page.inner_text("#clock-count") == "not checked"
    slide(page, 3)
    assert page.inner_text("#note") == "The step to frame 4 could not be checked."


def test_no_frame_at_all(show):
    checked = make_checked(bad=[(f"sheet{k}.obj", "unreadable") for k in range(4)])
    page = show(checked._replace(frames=[np.empty((0, 3))] * 4, faces=np.empty((0, 3), dtype=np.int64)))
    assert page.inner_text("#message") == "There is no frame to show."
    assert "No contact found" in page.inner_text("#verdict")
    assert "4 frames could not be checked" in page.inner_text("#bad summary")


def test_single_frame(show):
    page = show(make_checked([(0, Contact.FACE_FACE, 1, 90, 0.0, 0.3)], count=1))
    assert page.is_disabled("#slider")
    assert page.evaluate(SATURATED)["teal"] > 100


def test_titles_and_names_are_text(show):
    title = "</title><script>alert('ä')</script> 折り紙 {{facts}} & <b>"
    names = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>", "ß\u2028", "\udcff"]
    page = show(make_checked(HITS, names=names, bad=[(names[0], "<i>why</i>")]), title=title)
    assert page.title() == title
    assert page.inner_text("h1") == title
    slide(page, 0)
    page.evaluate(SATURATED)
    assert page.inner_text("#clock-name") == names[0]
    assert page.text_content("#bad li") == f"{names[0]} <i>why</i>"
    assert page.evaluate("document.querySelectorAll('img, h1 *, #bad li i').length") == 0


def test_limits_are_kept_and_said(show, monkeypatch):
    monkeypatch.setattr(selection, "MOST_FRAMES", 5)
    monkeypatch.setattr(selection, "MOST_MARKERS", 100)
    rows = [(k % 20, Contact.VERTEX_FACE, k % 81, k % 128, k % 20 + 0.5, 1 + 1e-3 * k) for k in range(4000)]
    page = show(make_checked(sorted(rows), count=21))
    assert "5 of 21 frames are kept" in page.text_content("#limits")
    assert "less deep contacts have no marker" in page.text_content("#limits")
    kept = page.evaluate("abutReport.facts.kept")
    assert len(kept) == 5
    gone = next(k for k in range(21) if k not in kept)
    slide(page, gone)
    wait(page, "document.getElementById('note').textContent.includes('is not kept in this page')")


def test_without_webgl_the_table_works(show):
    page = show(make_checked(HITS), script=WITHOUT_WEBGL)
    assert "needs WebGL2" in page.inner_text("#message")
    page.locator("#contacts tbody tr").nth(1).click()
    assert page.evaluate("abutReport.state.time") == 2
    assert page.inner_text("#clock-time") == "Frame 2"
