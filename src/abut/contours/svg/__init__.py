"""Outlines from SVG: path data (M L H V C S Q T A Z), polygons, rectangles, circles, ellipses and lines, with their transforms and units.

`read` gives closed outlines in the document's user units, y down as SVG has it; `abut.contours.drawings` reads pieces in millimetres. What
a viewer does not
draw (`display`, `visibility`, definitions) is left out; so are text and images, which have no outline. `use` draws what it refers to.

Refused by name, as pieces would be lost or have a wrong size: style sheets that hide or move by selectors other than names, classes and
ids; transforms and sizes in styles; lengths relative to fonts. Clipping and masks are not looked at.

A document may come from anywhere: what it costs to read is bounded by its length (`markup`, `lexer`) and by the number of elements that
`use` may repeat (`tree`), and it never makes anything else be read.
"""

from abut.contours.svg.document import read
from abut.contours.svg.paths import parse_path
from abut.contours.svg.transforms import parse_transform

__all__ = ["parse_path", "parse_transform", "read"]
