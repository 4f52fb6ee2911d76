"""What is drawn is read, and what would be lost is refused by name."""

import numpy as np
import pytest

from abut import InvalidInput, Unsupported
from abut.contours import Contour, svg
from abut.contours.svg import document

UNIT = '<rect width="1" height="1"/>'
DRAWING = f"<svg>{UNIT}</svg>"


def sampled(contour, each):
    return contour.point(np.arange(len(contour) * each) / each)


def test_svg_shapes_and_transforms():
    document = """<svg xmlns="http://www.w3.org/2000/svg"><defs><path d="M0 0h9v9z"/></defs>
      <g transform="translate(10,0) rotate(90)"><rect id="r" width="4" height="2"/></g>
      <circle cx="1" cy="2" r="3"/><ellipse rx="2" ry="1"/><polygon points="0,0 4,0 0,3"/><rect width="4" height="4" rx="1"/>
      <path d="M0 0 10 0 10 10z m1 1h2v2z"/><text>left out</text></svg>"""
    found = svg.read(document)
    assert found[0].name == "r"
    np.testing.assert_allclose(found[0].bounds, [(8, 0), (10, 4)], atol=1e-14)
    areas = [8, 9 * np.pi, 2 * np.pi, 6, 12 + np.pi, 50, 2]
    np.testing.assert_allclose([contour.area for contour in found], areas, rtol=2e-7)
    curve = Contour.from_svg("M0,0 C1 1 2 1 3 0 s2-1 3 0 q-1.5.5-3 3T0 6z")
    np.testing.assert_allclose(curve.segments[1, 1], (4, -1))  # the mirrored control points
    np.testing.assert_allclose(curve.segments[3, 1], np.array((3, 3)) + (np.array((1.5, 5.5)) - (3, 3)) * 2 / 3)
    arc = Contour.from_svg("M1 0A1 1 0 01-1 0 1 1 0 01 1 0")
    p = sampled(arc, 20)
    assert np.abs(np.hypot(p[:, 0], p[:, 1]) - 1).max() < 7e-8


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("", "character 0: is empty"),
        ("L0 0", "begin with M"),
        ("M0 0 L1 0 1 1", "character 0: the subpath is open"),
        ("M0 0 C1 1 2", "character 11: expected a number"),
        ("M0 0 X1", "character 5: unknown command"),
        ("M0 0h1v1z 5", "character 10: expected a command"),
        ("M0 0h1e999v1z", "beyond"),
        ("M1 0A1 1 0 2 1 0 0z", "expected a flag"),
        ("M0 0h1v1zM5 5h1v1z", "2 closed subpaths"),
    ],
)
def test_bad_path_data_are_refused_with_the_place(path, words):
    with pytest.raises(InvalidInput, match=words):
        Contour.from_svg(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<svg", "well-formed"),
        ("<html/>", "not <svg>"),
        ("<svg/>", "no closed outline"),
        ("<svg><rect width='0' height='1'/></svg>", "not positive"),
        ("<svg><circle id='c'/></svg>", 'id="c".*r is missing'),
        ("<svg><polyline points='0,0 1,0 1,1'/></svg>", "open"),
        ("<svg><line x1='3'/></svg>", "<line>: the subpath is open"),
        ("<svg><polygon points='0,0 1,0 1'/></svg>", "pairs"),
        ("<svg><g transform='turn(3)'><rect width='1' height='1'/></g></svg>", "no transform"),
        ("no such file.svg", "cannot be read"),
    ],
)
def test_bad_documents_are_refused(text, words):
    with pytest.raises(InvalidInput, match=words):
        svg.read(text)


# --- units, viewports, what is used again


@pytest.mark.parametrize(
    ("content", "bounds"),
    [
        ('<rect width="25.4mm" height="2.54cm"/>', (0, 0, 96, 96)),
        ('<rect x="1in" width="72pt" height="6pc"/>', (96, 0, 192, 96)),
        ('<rect width="50%" height="10%"/>', (0, 0, 100, 10)),
        (
            '<svg x="3" width="40" height="20" viewBox="0 0 4 2"><rect x="1" width="1" height="1"/></svg>',
            (13, 0, 23, 10),
        ),
        ('<svg width="40" height="40" viewBox="0 0 4 2"><rect width="4" height="2"/></svg>', (0, 10, 40, 30)),
        (
            '<svg width="40" height="40" viewBox="0 0 4 2" preserveAspectRatio="none"><rect width="4" height="2"/></svg>',
            (0, 0, 40, 40),
        ),
        (
            '<svg width="40" height="40" viewBox="0 0 4 2" preserveAspectRatio="xMinYMax slice"><rect width="4" height="2"/></svg>',
            (0, 0, 80, 40),
        ),
        ('<defs><rect id="a" width="2" height="1"/></defs><use href="#a" x="5" transform="scale(2)"/>', (10, 0, 14, 2)),
        (
            '<use xlink:href="#b"/><defs><g id="b" transform="translate(1 1)"><rect width="2" height="1"/></g></defs>',
            (1, 1, 3, 2),
        ),
        (
            '<symbol id="s" viewBox="0 0 2 2"><rect width="2" height="2"/></symbol><use href="#s" x="4" width="10" height="10"/>',
            (4, 0, 14, 10),
        ),
        ('<defs><circle id="c" r="1"/><g id="d"><use href="#c" x="2"/></g></defs><use href="#d" y="3"/>', (1, 2, 3, 4)),
    ],
)
def test_sizes_are_those_of_a_viewer(content, bounds):
    space = 'xmlns:xlink="http://www.w3.org/1999/xlink"'
    found = svg.read(f'<svg viewBox="0 0 200 100" {space}>{content}</svg>')
    np.testing.assert_allclose([contour.bounds.ravel() for contour in found], [bounds], rtol=1e-12, atol=1e-12)


def test_what_use_repeats_is_bounded(monkeypatch):
    monkeypatch.setattr(document, "MOST_REPEATED", 5000)
    groups = "".join(f'<g id="g{k}">{f"""<use href="#g{k + 1}"/>""" * 8}</g>' for k in range(12))
    with pytest.raises(InvalidInput, match="draws more than"):
        svg.read(f"<svg><defs>{groups}<g id='g12'/></defs><use href='#g0'/></svg>")


def test_rules_of_style_sheets_hide_by_class_id_and_name():
    sheet = (
        "<style>.st0{display:none} #b, ellipse {visibility:hidden} rect.st1{display:inline} .st1{display:none}</style>"
    )
    shapes = '<rect class="st0" width="1" height="1"/><circle id="b" r="1"/><ellipse rx="1" ry="2"/><rect id="k" class="st2 st1" '
    shapes += 'width="1" height="1"/>'
    assert [contour.name for contour in svg.read(f"<svg>{sheet}{shapes}</svg>")] == ["k"]


# --- what is drawn


@pytest.mark.parametrize(
    "hidden",
    [
        f'<g display="none">{UNIT}</g>',
        f'<g style="fill:red; Display : none !important">{UNIT}<g>{UNIT}</g></g>',
        '<rect width="1" height="1" visibility="hidden"/>',
        f'<g visibility="collapse">{UNIT}</g>',
        f'<g style="visibility:hidden"><g visibility="inherit">{UNIT}</g></g>',
        '<g display="none"><use href="#a"/><rect width="-1" height="oops"/></g>',
        '<use href="#a" visibility="hidden"/>',
        *(f"<{kind}>{UNIT}</{kind}>" for kind in ("defs", "symbol", "clipPath", "mask", "marker", "pattern", "foreignObject")),
        f"<metadata>{UNIT}</metadata><title>t</title><text>a<tspan>b</tspan></text><image href='a.png'/>",
        f'<a:g xmlns:a="http://www.inkscape.org/namespaces/inkscape">{UNIT}</a:g>',
        "<style>.a{fill:none} /* display:none */ svg{text-transform:none}</style>",
    ],
)  # fmt: skip
def test_what_no_viewer_draws_is_left_out(hidden):
    found = svg.read(f'<svg xmlns="http://www.w3.org/2000/svg"><path id="kept" d="M0 0h1v1z"/>{hidden}</svg>')
    assert [contour.name for contour in found] == ["kept"]


def test_what_is_visible_again_within_something_hidden_is_read():
    found = svg.read(f'<svg><g visibility="hidden">{UNIT}<g id="k" style="visibility:visible">{UNIT}</g></g></svg>')
    assert len(found) == 1


def test_of_a_switch_the_first_that_needs_nothing_special_is_read():
    choices = [
        f'<foreignObject requiredExtensions="x">{UNIT}</foreignObject>',
        f'<g requiredExtensions="x">{UNIT}</g>',
        f'<g systemLanguage="fr">{UNIT}</g>',
        '<g><rect id="a" width="1" height="1"/><rect id="b" width="1" height="1"/></g>',
        UNIT,
    ]
    found = svg.read(f"<svg><switch>{''.join(choices)}</switch></svg>")
    assert [contour.name for contour in found] == ["a", "b"]


def test_a_drawing_within_a_drawing_is_moved():
    found = svg.read(f'<svg viewBox="0 0 9 9"><svg x="3" y="4px">{UNIT}</svg></svg>')
    np.testing.assert_array_equal(found[0].bounds, [(3, 4), (4, 5)])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('<rect width="3em" height="1"/>', "'3em' is relative to a font"),
        ('<rect style="width:3px" width="1" height="1"/>', "width in its style"),
        (f'<g style="transform:scale(2)">{UNIT}</g>', "transform in its style"),
        (f"<defs><style>g>.st0{{display:none;}}</style></defs>{UNIT}", "style sheet.*display:"),
        (f"<style>@media print {{ #a {{ transform : scale(3) }} }}</style>{UNIT}", "style sheet.*transform"),
        ("<style>#a { transform : scale(3) }</style><rect id='a' width='1' height='1'/>", "transform in its style"),
        ("<use href='#nothing'/>", "refers to nothing"),
        ("<use href='http://a.org/b.svg#c'/>", "refers to nothing"),
        ("<g id='a'><use href='#a'/></g>", "draws itself"),
    ],
)
def test_what_would_have_another_size_or_place_is_unsupported(content, words):
    with pytest.raises(Unsupported, match=words):
        svg.read(f"<svg>{content}</svg>")


@pytest.mark.parametrize(
    ("element", "words"),
    [
        ('<rect width="4" height="4" rx="-1"/>', "rx is -1, which is negative"),
        ('<rect width="4" height="4" ry="-1e-9"/>', "ry is -1e-09, which is negative"),
        ('<rect width="-4" height="4"/>', "width is -4, not positive"),
        ('<circle r="0"/>', "r is 0, not positive"),
        ('<circle r="nan"/>', "expected a number"),
        ('<circle r=""/>', "expected a number"),
        ('<circle r="1e80"/>', "beyond"),
        ('<rect width="1 2" height="4"/>', "is no length"),
        ('<svg viewBox="0 0 1" width="3"><circle r="1"/></svg>', "has 3 numbers"),
        ('<svg viewBox="0 0 1 0" width="3"><circle r="1"/></svg>', "shows nothing"),
        ('<svg viewBox="0 0 1 1" width="0"><circle r="1"/></svg>', "its viewport is 0"),
        ('<g transform="scale(1e60)"><g transform="scale(1e60)"><circle r="1"/></g></g>', "transforms together"),
        ('<circle r="1" transform="scale(0)"/>', "largest coordinate is 0"),
        ('<circle r="1" transform="scale(2"/>', "expected a number"),
        ('<path id="a&#10;b" d="M0 0h1v1"/>', r'<path id="a\?b">: character 0: the subpath is open'),
    ],
)
def test_bad_shapes_are_refused_by_name(element, words):
    with pytest.raises(InvalidInput, match=words):
        svg.read(f"<svg>{element}</svg>")


def test_lists_of_numbers_need_no_blanks_between_them():
    points = svg.read('<svg><polygon points="0,0 10-3.5.5,7e0"/></svg>')[0].segments[:, 0]
    np.testing.assert_array_equal(points, [(0, 0), (10, -3.5), (0.5, 7)])
    np.testing.assert_array_equal(svg.parse_transform("matrix(1-2.5.5 4,5 6)"), [(1, 0.5, 5), (-2.5, 4, 6)])


def test_corners_of_a_rectangle_take_one_radius_for_both():
    areas = [
        svg.read(f'<svg><rect width="8" height="4" {radii}/></svg>')[0].area
        for radii in ('rx="1"', 'ry="1"', 'rx="1" ry="auto"', 'rx="9" ry="1"')
    ]
    np.testing.assert_allclose(areas, [28 + np.pi, 28 + np.pi, 28 + np.pi, 16 + 4 * np.pi], rtol=1e-6)
    assert len(svg.read('<svg><rect width="8" height="4" rx="1" ry="0"/></svg>')[0]) == 8


@pytest.mark.parametrize("text", [None, 3, b"M0 0h1v1z", ["M0 0h1v1z"]])
def test_what_is_no_text_is_refused_by_name(text):
    with pytest.raises(InvalidInput, match="path: is"):
        svg.parse_path(text)
    with pytest.raises(InvalidInput, match="transform: is"):
        svg.parse_transform(text)
