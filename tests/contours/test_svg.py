"""SVG: what is drawn is read, what would be lost is refused by name, and no document costs more than its length."""

import os

import numpy as np
import pytest

from abut import InvalidInput, Unsupported
from abut.contours import Contour, svg
from abut.contours.svg.markup import MOST_BYTES, MOST_DEPTH
from abut.core import jit

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
        ("<svg><polygon points='0,0 1,0 1'/></svg>", "pairs"),
        ("<svg><g transform='turn(3)'><rect width='1' height='1'/></g></svg>", "no transform"),
        ("no such file.svg", "cannot be read"),
    ],
)
def test_bad_documents_are_refused(text, words):
    with pytest.raises(InvalidInput, match=words):
        svg.read(text)


def test_what_would_be_lost_is_unsupported():
    with pytest.raises(Unsupported, match="use"):
        svg.read("<svg><use href='#a'/></svg>")


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
        (f'<svg x="3" viewBox="0 0 1 1">{UNIT}</svg>', "viewBox"),
        ('<g><line x1="3"/></g>', "<line>"),
        ('<rect width="3mm" height="1"/>', "'3mm' has a unit"),
        ('<rect width="50%" height="1"/>', "'50%' has a unit"),
        ('<rect style="width:3px" width="1" height="1"/>', "width in its style"),
        (f'<g style="transform:scale(2)">{UNIT}</g>', "transform in its style"),
        (f"<defs><style>.st0{{display:none;}}</style></defs>{UNIT}", "style sheet.*display:none"),
        (f"<style>#a {{ transform : scale(3) }}</style>{UNIT}", "style sheet.*transform"),
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


# --- arcs


def test_arcs_follow_the_ellipse_they_were_cut_from():
    """The other way round: from a centre, radii and angles to ends and flags (SVG 1.1, F.6.4), in points of the ellipse itself."""
    rng = np.random.default_rng(3)
    for _ in range(5 if jit.INTERPRETED else 200):
        radii, turn = 10.0 ** rng.uniform(-3, 3, 2), rng.uniform(-7, 7)
        centre, begin, span = (
            rng.normal(size=2) * radii.max(),
            rng.uniform(-7, 7),
            rng.uniform(0.01, 6.2) * rng.choice([-1, 1]),
        )
        c, s = np.cos(turn), np.sin(turn)

        def place(angle, radii=radii, c=c, s=s, centre=centre):
            x, y = radii[0] * np.cos(angle), radii[1] * np.sin(angle)
            return np.stack([c * x - s * y, s * x + c * y], axis=-1) + centre

        (x0, y0), (x1, y1) = place(np.array([begin, begin + span])).tolist()
        radius, other = radii.tolist()
        flags = f"{np.degrees(turn):.17g} {int(abs(span) > np.pi)} {int(span > 0)}"
        drawn = Contour.from_svg(f"M{x0!r} {y0!r}A{radius!r} {other!r} {flags} {x1!r} {y1!r}Z")
        p = drawn.point(np.arange((len(drawn) - 1) * 20 + 1) / 20) - centre
        away = np.hypot((c * p[:, 0] + s * p[:, 1]) / radii[0], (c * p[:, 1] - s * p[:, 0]) / radii[1])
        assert np.abs(away - 1.0).max() < 1e-7
        middle = place(begin + 0.5 * span)
        assert np.hypot(*(sampled(drawn, 400) - middle).T).min() < 0.01 * radii.max()


@pytest.mark.parametrize("radius", [1e2, 1e5, 1e8, 1e12, 1e20, 1e60, 1e75])
@pytest.mark.parametrize("flags", ["0 0", "0 1"])
def test_short_arcs_of_large_circles_are_as_flat_as_they_should_be(radius, flags):
    """Between (0, 0) and (1, 0), a circle of radius r rises 1/8r; control points came from the far centre once, r·1e-16 off."""
    drawn = svg.parse_path(f"M0 0A{radius} {radius} 0 {flags} 1 0V1H0Z")[0][0]
    np.testing.assert_allclose(drawn[:, 0], [0, 1 / 3, 2 / 3, 1], atol=0.1 / radius)
    rise = 0.75 * drawn[1, 1] if flags == "0 0" else -0.75 * drawn[1, 1]
    assert rise == pytest.approx(1 / (8 * radius), rel=1e-3)


def test_large_arcs_of_tiny_chords_are_whole_ellipses():
    for chord in (1e-3, 1e-9, 1e-15, 1e-60, 1e-300, 5e-324):
        drawn = Contour.from_segments(svg.parse_path(f"M0 0A2 2 0 1 1 {chord} 0Z")[0])
        assert drawn.area == pytest.approx(4 * np.pi, rel=1e-3 * chord + 1e-6)


def test_arcs_with_radii_too_small_are_half_ellipses():
    for radius in (1e-300, 1e-9, 0.2, 0.5):
        drawn = Contour.from_svg(f"M0 0A{radius} {radius} 0 0 1 1 0Z")
        assert drawn.area == pytest.approx(np.pi / 8, rel=1e-6)
    flat = Contour.from_svg("M0 0A3 0 20 1 1 1 0A0 3 0 0 0 1 1z")
    np.testing.assert_allclose(flat.segments[0], [(0, 0), (1 / 3, 0), (2 / 3, 0), (1, 0)], atol=1e-15)
    with pytest.raises(InvalidInput, match="too different"):
        Contour.from_svg("M0 0A1 1e-200 0 0 1 1 0z")
    with pytest.raises(InvalidInput, match="enlarged"):
        Contour.from_svg("M-9e74 -9e74A1e-100 1 0 0 1 9e74 9e74z")


# --- documents that want to cost more than they should


LONG = 10**6
"""Of what would take hours if each character were looked at once for every other."""


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda n: f'<svg><rect width="{"1" * n}x" height="1"/></svg>', "beyond"),
        (lambda n: f'<svg><rect width="0.{"1" * n}x" height="1"/></svg>', "is no length"),
        (lambda n: f'<svg><rect width="1{" " * n}x" height="1"/></svg>', "is no length"),
        (lambda n: f'<svg><polygon points="{"1 " * (n // 8)}x"/></svg>', "expected a number"),
        (lambda n: f'<svg><g transform="{"a" * n}"/></svg>', "expected a function"),
        (lambda n: f'<svg><g transform="translate(1{" " * n}x"/></svg>', "expected a number"),
        (lambda n: f'<svg><g transform="{"translate(1)" * (n // 200)}{" " * n}x"/></svg>', "expected a function"),
        (lambda n: f'<svg><path d="M0 0h1v1{"." * n}"/></svg>', "expected a number"),
        (lambda n: f'<svg><path d="M0 0h1v1{"e" * n}"/></svg>', "unknown command"),
        (lambda n: f'<svg><path d="M0 0h1v1{" " * n}x"/></svg>', "unknown command"),
        (lambda n: f'<svg style="{":;" * n}"></svg>', "no closed outline"),
        (lambda n: f"<svg><style>{'/*' * n}</style></svg>", "no closed outline"),
        (lambda n: f"<svg><style>{'display ' * (n // 8)}</style></svg>", "no closed outline"),
        (lambda n: "<svg " + " ".join(f"a{k}=''" for k in range(n // 20)) + "/>", "no closed outline"),
        (lambda n: "0" + "\n" * n + "x", "cannot be read|does not begin"),
        (lambda n: "<svg>" + "<!--" + "-" * n, "well-formed"),
    ],
)
def test_long_attributes_are_read_once_from_left_to_right(make, words):
    with pytest.raises((InvalidInput, Unsupported), match=words):
        svg.read(make(2000 if jit.INTERPRETED else LONG))


def test_groups_may_be_nested_deeply():
    for depth in (10, 990, MOST_DEPTH - 2):
        group = '<g transform="translate(1)">'
        (found,) = svg.read(f"<svg>{group * depth}{UNIT}{'</g>' * depth}</svg>")
        assert found.bounds[0, 0] == depth
    with pytest.raises(Unsupported, match="deep"):
        svg.read("<svg>" + "<g>" * 10**5)
    with pytest.raises(Unsupported, match="deep"):
        svg.read("<svg><defs>" + "<g>" * 10**5)


def declared(*entities, text="&a;", public=""):
    return f'<!DOCTYPE svg {public} [{"".join(entities)}]><svg><path id="{text}" d="M0 0h1v1z"/></svg>'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (declared('<!ENTITY a "aaaa">', *(f'<!ENTITY {b} "&{a};&{a};">' for a, b in zip("abcde", "bcdef", strict=True))), "'b' holds"),
        (declared('<!ENTITY a "&#38;a;">'), "'a' holds"),
        (declared(f'<!ENTITY a "{"a" * 10**5}">', text="&a;" * 10**5), "beyond all bounds"),
        (declared('<!ENTITY a SYSTEM "file:///etc/passwd">'), "'a' is kept in another file"),
        (declared('<!ENTITY a PUBLIC "x" "http://localhost/a">'), "'a' is kept in another file"),
        (declared('<!ENTITY % a SYSTEM "http://localhost/a"> %a;'), "'a' is kept in another file"),
        (declared('<!ENTITY % a "x">'), "'a' is kept"),
        (declared(), "undefined entity"),
        (declared(public='SYSTEM "svg.dtd"'), "'a' is not declared"),
    ],
)  # fmt: skip
def test_entities_that_blow_up_or_fetch_are_refused(text, words):
    with pytest.raises((InvalidInput, Unsupported), match=words):
        svg.read(text)


def test_entities_that_abbreviate_are_read():
    """As Adobe Illustrator writes them."""
    kind = 'PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd"'
    text = declared('<!ENTITY a "http://ns.adobe.com/Extensibility/1.0/">', text="&a;&amp;&#65;", public=kind)
    assert svg.read(text)[0].name == "http://ns.adobe.com/Extensibility/1.0/&A"


def encoded(name, codec):
    return f'<?xml version="1.0" encoding="{name}"?><svg><path id="é" d="M0 0h1v1z"/></svg>'.encode(codec)


@pytest.mark.parametrize(
    ("name", "codec"),
    [("UTF-8", "utf-8"), ("utf-8", "utf-8-sig"), ("UTF-16", "utf-16"), ("ISO-8859-1", "latin-1"), ("windows-1252", "cp1252"),
     ("iso-8859-15", "iso-8859-15"), ("macintosh", "mac-roman")],
)  # fmt: skip
def test_encodings_of_one_byte_and_of_unicode_are_read(tmp_path, name, codec):
    (tmp_path / "a.svg").write_bytes(encoded(name, codec))
    assert svg.read(tmp_path / "a.svg")[0].name == "é"


@pytest.mark.parametrize(
    "name",
    ["klingon", "shift_jis", "gbk", "euc-jp", "cp932", "utf-7", "utf-32", "base64", "unicode_escape", "idna", "punycode", "iso-8859-99", "x"],
)  # fmt: skip
def test_other_encodings_are_refused_by_name(tmp_path, name):
    (tmp_path / "a.svg").write_bytes(encoded(name, "latin-1"))
    with pytest.raises(Unsupported, match=f"encoding '{name}'"):
        svg.read(tmp_path / "a.svg")
    assert svg.read(encoded(name, "latin-1").decode("latin-1"))[0].name == "é"  # text has been decoded already


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"  0\r\nSECTION\r\n  2\r\nHEADER", "a DXF drawing"),
        (b"999\nmade by\n0\nSECTION\n", "a DXF drawing"),
        (b"AC1027\0\0", "a DWG drawing"),
        (b"%PDF-1.7", "a PDF document"),
        (b"\x1f\x8b\x08\0\0", "compressed"),
        (b"\x89PNG\r\n\x1a\n", "a picture"),
        (b"M0 0h1v1z", "does not begin with <"),
        (b"\xff\xfe<", "well-formed"),
    ],
)
def test_files_of_other_kinds_are_refused_by_what_they_are(tmp_path, content, words):
    (tmp_path / "a.dxf").write_bytes(content)
    with pytest.raises((InvalidInput, Unsupported), match=words):
        svg.read(tmp_path / "a.dxf")


def test_only_regular_files_of_bounded_length_are_read(tmp_path):
    for source, words in [
        (tmp_path, "not a regular file|a folder"), (str(tmp_path / "no.svg"), "cannot be read"), ("a\0b.svg", "cannot be read"),
        ("\ud800.svg", "cannot be read"), (3, "is a int"), (None, "is a NoneType"), (b"a.svg", "is a bytes"), (["a.svg"], "is a list"),
        ("<svg a='\ud800'/>", "no character of Unicode"),
    ]:  # fmt: skip
        with pytest.raises(InvalidInput, match=words):
            svg.read(source)
    with (tmp_path / "long.svg").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(InvalidInput, match="more than"):
        svg.read(tmp_path / "long.svg")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.svg")
        with pytest.raises(InvalidInput, match="not a regular file"):
            svg.read(tmp_path / "pipe.svg")


def test_a_blank_before_the_text_of_a_document_does_no_harm():
    assert len(svg.read("\ufeff\n  <?xml version='1.0'?>" + DRAWING)) == 1
