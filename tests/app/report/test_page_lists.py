"""The lists of the report page, its links, its panels and its layout at four sizes of screens."""

import numpy as np
import pytest

from abut.app.check.findings import Contact, Labels
from app.report.sheets import HITS, make_checked, write
from browser import NAMELESS, OVERLAPS, SCREENS, wait

pytestmark = pytest.mark.large  # a browser gains nothing from a second pass
MANY = [(k // 200, Contact.VERTEX_FACE, k % 81, k % 128, k // 200 + 0.25, 1 + 1e-3 * k) for k in range(4000)]
DEPTHS = "[...document.querySelectorAll('#contacts tbody tr')].map(r => Number(r.cells[3].textContent))"
NUMBERS = "[...document.querySelectorAll('#contacts tbody tr')].map(r => Number(r.dataset.number))"
PARTS = [
    "#clock-time",
    "#play",
    "#back",
    "#next",
    "#speed",
    "#slider",
    "#histogram",
    "#labels-time",
    "#canvas",
    "#lists",
    "header h1",
]
"""None of these may cover another one."""


@pytest.fixture
def show(open_file, tmp_path):
    def open_page(checked, **options):
        page = open_file(write(tmp_path, checked), **options)
        page.evaluate("abutReport.ready")
        return page

    return open_page


def two_bodies():
    """The sheet's halves as bodies, cut by the middle row of vertices."""
    checked = make_checked(HITS)
    vertex = (np.arange(81) >= 40).astype(int)
    face = vertex[checked.faces[:, 0]]
    edge = np.zeros(400, int)
    return checked._replace(labels=Labels(("left", "right"), vertex, edge, face))


def test_lengths_are_never_sorted_among_depths(show):
    page = show(make_checked([*HITS, (1, Contact.FACE_FACE, 5, 90, 1.0, 9.0)]))
    assert page.evaluate(DEPTHS) == [0.03, 0.02, 9.0, 0.01]
    page.click("#contacts th[data-key=depth] button")
    assert page.evaluate(DEPTHS) == [0.02, 0.03, 0.01, 9.0]
    assert page.get_attribute("#contacts th[data-key=depth]", "aria-sort") == "ascending"
    page.click("#contacts th[data-key=kind] button")
    assert page.evaluate(DEPTHS) == [0.02, 0.03, 9.0, 0.01]
    page.select_option("#kind", "3")
    assert page.inner_text("#contacts th[data-key=depth] button") == "Length"
    page.click("#contacts th[data-key=depth] button")
    assert page.evaluate(DEPTHS) == [9.0, 0.01]


def test_every_row_is_in_the_list_and_few_are_in_the_page(show):
    page = show(make_checked(MANY, count=21))
    page.click("#tab-contacts")
    assert page.inner_text("#contacts-count") == "4,000"
    assert page.get_attribute("#contacts table", "aria-rowcount") == "4001"
    assert page.locator("#contacts tbody tr").count() < 60
    assert page.evaluate(DEPTHS)[0] == 5.0  # the deepest of all
    page.evaluate("document.querySelector('#contacts .scroll').scrollTop = 1e9")
    wait(page, f"({NUMBERS}).at(-1) === 0")
    page.focus("#contacts tbody tr:last-child button")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("abutReport.state.chosen") == 1
    assert page.evaluate("document.activeElement.closest('tr').dataset.number") == "1"
    page.keyboard.press("PageUp")
    assert page.evaluate(f"({NUMBERS}).includes(abutReport.state.chosen)")


def test_this_frame_only_follows_the_time(show):
    page = show(make_checked(MANY, count=21))
    page.click("#tab-contacts")
    page.check("#only")
    page.evaluate("document.querySelector('#slider').value = 7")
    page.dispatch_event("#slider", "input")
    frames = "[...document.querySelectorAll('#contacts tbody tr')].map(r => r.cells[1].textContent)"
    wait(page, f"new Set({frames}).has('7')")  # the list of frame 0 is as long
    assert set(page.evaluate(frames)) == {"7"}
    assert page.inner_text("#contacts-count") == "200 of 4,000"


def test_incidents_lead_to_their_worst_moment(show):
    far = [(k, Contact.FACE_FACE, 0, 1, float(k), 0.5 + k) for k in (0, 1, 2)]
    later = [(k, Contact.VERTEX_FACE, 80, 127, k + 0.5, 0.1 * k) for k in (9, 10)]
    page = show(make_checked(far + later, count=12))
    page.click("#tab-incidents")
    rows = page.locator("#incidents tbody tr")
    assert rows.count() == 2
    assert rows.nth(0).inner_text().split("\t")[:2] == ["0 to 2", "3"]
    assert rows.nth(1).inner_text().split("\t")[0] == "9.50 to 10.50"
    rows.nth(1).click()
    assert page.evaluate("abutReport.state.time") == 10.5
    page.click("#tab-contacts")
    assert page.inner_text("#contacts-count") == "2 of 5"
    page.click("#incident-off")
    assert page.inner_text("#contacts-count") == "5"


def test_figures_are_links(show):
    page = show(make_checked(HITS))
    page.click("#figures a[href='#row=1']")  # the deepest impact
    wait(page, "abutReport.state.chosen === 1 && abutReport.state.time === 3")
    page.click("#figures a[href='#list=contacts&kind=3']")
    wait(page, "document.querySelector('#contacts-count').textContent === '1 of 3'")
    page.click("#verdict a")
    wait(page, "document.querySelector('#contacts-count').textContent === '3'")


def test_a_link_leads_to_the_same_view(show, tmp_path, open_file):
    page = show(two_bodies())
    page.locator("#contacts tbody tr").nth(1).click()
    page.select_option("#colour", "all")
    page.select_option("#kind", "0")
    page.check("#edges")
    page.click("#bodies-panel-button")
    page.locator("#bodies-panel input").nth(1).uncheck()
    wait(page, "location.hash.includes('hidden=1') && location.hash.includes('kind=0')")
    state = """[abutReport.state.time, abutReport.state.chosen, [...abutReport.state.hidden],
        ...abutReport.camera.target, abutReport.camera.yaw, abutReport.camera.distance]"""
    expected = page.evaluate(state)
    other = open_file(tmp_path / "report.html", fragment=page.evaluate("location.hash"))
    other.evaluate("abutReport.ready")
    found = other.evaluate(state)
    assert found[:3] == expected[:3]
    assert found[3:] == pytest.approx(expected[3:], rel=1e-4, abs=1e-5)
    assert other.input_value("#colour") == "all"
    assert other.is_checked("#edges")
    assert other.inner_text("#contacts-count") == "1 of 3"


def test_addresses_that_mean_nothing_are_ignored(show):
    page = show(
        make_checked(HITS), fragment="#time=abc&row=99&kind=x&view=1,2&hidden=4.x&incident=-3&list=nothing&<b>=1"
    )
    assert page.evaluate("abutReport.state.time") == 2
    assert page.evaluate("abutReport.state.chosen") is None


def test_a_click_on_a_face_chooses_its_contact(show):
    page = show(make_checked(HITS))
    at = """(() => {
      const corners = [...abutReport.found.faces.subarray(3 * 127, 3 * 127 + 3)], box = document.querySelector('#canvas').getBoundingClientRect();
      const places = corners.map((v) => abutReport.placeOf(v));
      return [0, 1].map((axis) => places.reduce((sum, p) => sum + p[axis], 0) / 3 + [box.left, box.top][axis]);
    })()"""
    page.mouse.click(*page.evaluate(at))
    assert page.evaluate("abutReport.state.chosen") == 2
    assert "chosen" in page.locator("#contacts tbody tr[data-number='2']").get_attribute("class")


def test_hidden_bodies_are_not_drawn(show):
    page = show(two_bodies())
    drawn = """(() => { const p = abutReport.pixels(); let count = 0;
      for (let i = 0; i < p.length; i += 4) count += Math.abs(p[i] - p[0]) + Math.abs(p[i + 1] - p[1]) > 12; return count; })()"""
    page.uncheck("#markers")
    before = page.evaluate(drawn)
    page.click("#bodies-panel-button")
    page.locator("#bodies-panel input").nth(0).uncheck()
    assert 0.2 * before < page.evaluate(drawn) < 0.8 * before
    page.keyboard.press("Escape")
    assert not page.is_visible("#bodies-panel")


def test_colours_span_the_time_of_contacts(show):
    rows = [(k, Contact.VERTEX_FACE, 8 * k, 100, k + 0.5, 0.1) for k in (4, 6)]
    page = show(make_checked(rows, count=20))
    page.select_option("#colour", "all")
    wait(page, "document.querySelector('#scale-low').textContent === 'frame 4.50'")
    assert page.inner_text("#scale-high") == "6.50"


@pytest.mark.parametrize(("size", "scheme"), SCREENS, ids=str)
def test_nothing_is_covered_at_any_size(show, size, scheme, tmp_path):
    page = show(make_checked(MANY, count=21), size=size, scheme=scheme)
    assert page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]") == list(size)
    page.click("#tab-contacts")
    assert page.evaluate(OVERLAPS, PARTS) == []
    page.locator("#contacts tbody tr").nth(2).click()
    assert page.evaluate(OVERLAPS, PARTS) == []
    assert page.evaluate(OVERLAPS, ["#contacts tbody tr:first-child td:last-child", "#clock-count", "#verdict"]) == []
    view = page.locator("#canvas").bounding_box()
    assert view["height"] > 0.3 * size[1]
    assert page.locator("#contacts tbody tr.chosen").bounding_box()["y"] < size[1]
    assert page.evaluate(NAMELESS) == []
    page.click("#help-button")
    assert page.evaluate(OVERLAPS, ["#help"]) == []
    page.screenshot(path=tmp_path / "page.png")


def test_tabs_are_changed_by_keys(show):
    page = show(two_bodies())
    assert page.evaluate(NAMELESS) == []
    page.focus("#tab-contacts")
    page.keyboard.press("ArrowLeft")
    assert page.get_attribute("#tab-incidents", "aria-selected") == "true"
    assert page.evaluate("document.activeElement.id") == "tab-incidents"
