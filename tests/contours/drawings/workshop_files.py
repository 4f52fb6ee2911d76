"""Drawings as workshops make them, written here: what each holds is known, in millimetres."""

import math
from typing import NamedTuple

INKSCAPE = 'xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape" xmlns:sodipodi="http://sodipodi.sourceforge.net/DTD/sodipodi-0.dtd"'
HEAD = f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" {INKSCAPE}'
PX = 25.4 / 96.0


class Workshop(NamedTuple):
    """A file, and what must be read from it."""

    name: str
    text: str
    parts: list[tuple[str, float, float, int, int]]
    """name, width, height (mm), holes, marks that are no cut"""
    warnings: list[str] = []  # noqa: RUF012
    unit: str | None = None
    sheet: str = "400mmx300mm"


INKSCAPE_PLATE = Workshop(
    "inkscape, viewBox in px at 90 dpi, layers, one of them hidden",
    f"""<?xml version="1.0"?>{HEAD} width="210mm" height="297mm" viewBox="0 0 744.09448819 1052.3622047">
    <sodipodi:namedview id="base"/><metadata><rdf/></metadata><defs id="defs2"><path id="never" d="M0 0H9V9z"/></defs>
    <g inkscape:groupmode="layer" inkscape:label="Cut" id="layer1" style="display:inline;fill:none;stroke:#ff0000" transform="translate(0,-52)">
      <rect id="plate" width="212.5984252" height="141.7322835" x="50" y="100" /><circle id="bore" cx="100" cy="150" r="17.716535433"/>
      <g transform="matrix(0,1,-1,0,500,200)"><g transform="scale(2)"><path id="tab"
        d="m 0,0 h 35.433070867 v 17.7165354335 h -35.433070867 z"/></g></g></g>
    <g inkscape:groupmode="layer" inkscape:label="Engrave" style="fill:none;stroke:#0000ff"><path id="score" d="m 60,100 c 10,10 20,10 30,0"/>
      <text xml:space="preserve" style="font-size:20px;fill:#000000;stroke:none" x="130" y="120"
        id="text3"><tspan sodipodi:role="line">A &amp; B</tspan></text></g>
    <g inkscape:groupmode="layer" inkscape:label="Notes" style="display:none"><rect width="500" height="500"/></g></svg>""",
    [("plate", 60.0, 40.0, 1, 2), ("tab", 10.0, 20.0, 0, 0)],
)  # fmt: skip
ILLUSTRATOR_WASHER = Workshop(
    "illustrator: points without a unit, classes, a compound path, a hidden layer by class",
    f"""<?xml version="1.0" encoding="utf-8"?><!-- Generator: Adobe Illustrator 27 -->{HEAD} version="1.1" id="Layer_1" x="0px" y="0px"
    viewBox="0 0 595.28 841.89" style="enable-background:new 0 0 595.28 841.89;" xml:space="preserve">
    <style type="text/css">.st0{{fill:none;stroke:#000000;stroke-miterlimit:10;}} .st1{{display:none;}} .st2{{fill:#E6E6E6;}}</style>
    <g id="Cut"><path id="washer" class="st2"
      d="M170.08,85.04c0,46.97-38.07,85.04-85.04,85.04S0,132.01,0,85.04S38.07,0,85.04,0S170.08,38.07,170.08,85.04z
      M85.04,56.69c-15.66,0-28.35,12.69-28.35,28.35s12.69,28.35,28.35,28.35s28.35-12.69,28.35-28.35S100.7,56.69,85.04,56.69z"/>
      <polygon id="tri" class="st0" points="200,0 285.04,0 200,85.04 "/></g>
    <g id="Hidden" class="st1"><rect class="st0" width="300" height="300"/></g></svg>""",
    [("washer", 60.0 * 170.08 / (60 * 72 / 25.4), 170.08 * 25.4 / 72, 1, 0), ("tri", 85.04 * 25.4 / 72, 85.04 * 25.4 / 72, 0, 0)],
    [], "pt",
)  # fmt: skip
WASHER_OF_CIRCLES = Workshop(
    "a washer as two circles, a disc in its hole, units in attributes",
    f'{HEAD} width="30cm" height="20cm"><g fill="none" stroke="black">'
    '<circle id="ring" cx="50mm" cy="50mm" r="40mm"/><circle cx="50mm" cy="50mm" r="30mm"/>'
    '<circle id="disc" cx="50mm" cy="50mm" r="1in"/><rect id="card" x="100mm" y="1cm" width="85.6mm" height="54mm" rx="3mm"/></g></svg>',
    [("ring", 80.0, 80.0, 1, 0), ("disc", 50.8, 50.8, 0, 0), ("card", 85.6, 54.0, 0, 0)],
)  # fmt: skip
USES = Workshop(
    "symbols and uses, nested, with a viewBox in the drawing",
    f"""{HEAD} width="200mm" height="100mm" viewBox="0 0 200 100"><defs><g id="pair"><rect id="bar" width="20" height="5" fill="none" stroke="#000"/>
    <use href="#peg" x="30"/></g><circle id="peg" r="4" cx="4" cy="4" fill="none" stroke="#000"/></defs>
    <symbol id="sym" viewBox="0 0 10 10"><path d="M0 0H10V10H0Z" fill="none" stroke="#000"/></symbol>
    <use id="u1" xlink:href="#pair" x="10" y="10"/><use id="u2" href="#pair" transform="translate(10 40) rotate(90) scale(2)"/>
    <use id="u3" href="#sym" x="120" y="20" width="30" height="30"/>
    <svg x="160" y="60" width="30" height="30" viewBox="0 0 3 3"><rect id="inner" width="2" height="1" fill="none" stroke="#000"/></svg></svg>""",
    [("bar", 20, 5, 0, 0), ("peg", 8, 8, 0, 0), ("bar", 10, 40, 0, 0), ("peg", 16, 16, 0, 0), ("u3", 30, 30, 0, 0), ("inner", 20, 10, 0, 0)],
)  # fmt: skip
OPEN = Workshop(
    "a box of four lines that nearly meet, an arc that closes a path, a stray line",
    f"""{HEAD} width="100mm" height="100mm" viewBox="0 0 100 100"><g fill="none" stroke="red">
    <line x1="0" y1="0" x2="40" y2="0"/><line x1="40" y1="0.02" x2="40" y2="30"/><path d="M0 30H40"/><polyline points="0,30 0,20 0,0.01"/>
    <path id="dee" d="M60 0V20"/><path d="M60 20A10 10 0 0 0 60 0"/><line id="stray" x1="90" y1="0" x2="90" y2="50"/>
    <path id="fold" d="M5 15H35"/></g></svg>""",
    [("", 40, 30, 0, 1), ("dee", 10, 20, 0, 0)],
    ['<line id="stray">: is open, its ends are 50 mm apart, left out'],
)  # fmt: skip
ARCS = Workshop(
    "arcs of all flags, ellipses that are turned, rounded slots",
    f"""{HEAD} width="120mm" height="120mm" viewBox="0 0 120 120"><g fill="none" stroke="#000">
    <path id="slot" d="M10 0H30A10 10 0 0 1 30 20H10A10 10 0 1 1 10 0Z M10 5A5 5 0 1 0 10 15H30A5 5 0 1 0 30 5Z"/>
    <ellipse id="egg" cx="60" cy="60" rx="20" ry="10" transform="rotate(90 60 60)"/>
    <path id="pac" d="M90 20L105 20A15 15 0 1 1 90 5Z"/></g></svg>""",
    [("slot", 40, 20, 1, 0), ("egg", 20, 40, 0, 0), ("pac", 30, 30, 0, 0)],
)  # fmt: skip
ENGRAVED = Workshop(
    "a filled engraving that is no hole, a picture, a gradient, inches",
    f"""{HEAD} width="4in" height="3in" viewBox="0 0 400 300"><defs><linearGradient id="g"><stop offset="0"/></linearGradient></defs>
    <rect id="sign" width="200" height="100" rx="10" fill="url(#g)" stroke="#ff0000"/><path id="logo" d="M20 20h40v40h-40z" fill="#000"/>
    <image x="100" y="20" width="50" height="50" href="logo.png"/><text x="30" y="90" font-size="12">Café</text>
    <text x="300" y="250">outside</text></svg>""",
    [("sign", 50.8, 25.4, 0, 3)],
    ["<text>: lies on no part, left out"],
)  # fmt: skip
NONZERO = Workshop(
    "fill rules: what winds the same way twice is solid",
    f"""{HEAD} width="100mm" height="100mm" viewBox="0 0 100 100"><path id="solid" d="M0 0H20V20H0Z M5 5H15V15H5Z"/>
    <path id="ring" d="M30 0H50V20H30Z M35 5V15H45V5Z"/><path id="even" fill-rule="evenodd"
    d="M60 0H80V20H60Z M65 5H75V15H65Z M68 8H72V12H68Z"/></svg>""",
    [("solid", 20, 20, 0, 0), ("ring", 20, 20, 1, 0), ("even", 20, 20, 1, 0), ("even", 4, 4, 0, 0)],
)  # fmt: skip
NO_SIZE = Workshop(
    "a script's drawing without a size",
    "<svg viewBox='0 0 50 50'><polygon id='kite' points='0,10 10,0 30,10 10,20'/></svg>",
    [("kite", 30, 20, 0, 0)],
    ["the drawing says no size: one of its units is taken for 1 mm (unit)"],
)
SVGS = [INKSCAPE_PLATE, ILLUSTRATOR_WASHER, WASHER_OF_CIRCLES, USES, OPEN, ARCS, ENGRAVED, NONZERO, NO_SIZE]


def write_dxf(ezdxf, path, build, units=4):
    """A DXF file with what `build` adds to its model space."""
    document = ezdxf.new("R2010", setup=True)
    document.header["$INSUNITS"] = units
    build(document, document.modelspace())
    document.saveas(path)


def build_lines(document, space):
    """LibreCAD-like: a plate of separate lines and arcs, a hole, text, a layer that is off, one that is frozen."""
    for name, color in (("cut", 1), ("off", 2), ("frozen", 3), ("text", 5)):
        document.layers.add(name, color=color)
    document.layers.get("off").off()
    document.layers.get("frozen").freeze()
    cut = {"layer": "cut"}
    space.add_line((10, 0), (90, 0), dxfattribs=cut)
    space.add_arc((90, 10), 10, 270, 360, dxfattribs=cut)
    space.add_line((100, 10), (100, 50), dxfattribs=cut)
    space.add_line((0, 50), (100, 50), dxfattribs=cut)
    space.add_line((0, 10), (0, 50), dxfattribs=cut)
    space.add_arc((10, 10), 10, 180, 270, dxfattribs=cut)
    space.add_circle((30, 25), 8, dxfattribs=cut)
    space.add_text("PLATE 1", height=5, dxfattribs={"layer": "text"}).set_placement((50, 20))
    space.add_circle((0, 0), 500, dxfattribs={"layer": "off"})
    space.add_circle((0, 0), 500, dxfattribs={"layer": "frozen"})
    space.add_point((3, 3))


def build_polylines(document, space):
    """Polylines with bulges, an ellipse, a spline, a block that is inserted twice, once mirrored, in inches."""
    space.add_lwpolyline([(0, 0, 0, 0, 0), (2, 0, 0, 0, 1), (2, 1, 0, 0, 0), (0, 1, 0, 0, 1)], close=True)
    space.add_ellipse((5, 0.5), major_axis=(0.75, 0), ratio=0.5)
    block = document.blocks.new("ELL")
    block.add_lwpolyline([(0, 0), (2, 0), (2, 0.5), (0.5, 0.5), (0.5, 1), (0, 1)], close=True)
    block.add_circle((0.25, 0.25), 0.1)
    space.add_blockref("ELL", (0, 3))
    space.add_blockref("ELL", (5, 3), dxfattribs={"rotation": 90, "xscale": -1})
    # A fit through points far beyond would overshoot: control points of a closed cubic give a known width.
    spline = space.add_spline(degree=3)
    spline.control_points = [(8, 0, 0), (8, 2, 0), (10, 2, 0), (10, 0, 0), (10, -2, 0), (8, -2, 0), (8, 0, 0)]
    spline.knots = [0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2]


def build_no_unit(document, space):
    """A square without a unit, a hatch that is not read, a polyline of the old kind."""
    space.add_polyline2d([(0, 0), (25, 0), (25, 10), (0, 10)], close=True)
    space.add_hatch(color=2)


DXFS = [
    Workshop("librecad: lines and arcs", "", [("", 100, 50, 1, 1)]),
    Workshop(
        "polylines, blocks and splines in inches", "",
        [("", 3 * 25.4, 25.4, 0, 0), ("", 1.5 * 25.4, 0.75 * 25.4, 0, 0), ("", 2 * 25.4, 25.4, 1, 0), ("", 25.4, 2 * 25.4, 1, 0),
         ("", 2 * 25.4, 3 * 25.4, 0, 0)],
    ),
    Workshop("no unit", "", [("", 25, 10, 0, 0)], ["the drawing says no unit: it is taken for mm (unit)", "1 HATCH: not read, left out"]),
]  # fmt: skip
BUILDERS = [(build_lines, 4), (build_polylines, 1), (build_no_unit, 0)]
assert math.isclose(PX * 96, 25.4)
