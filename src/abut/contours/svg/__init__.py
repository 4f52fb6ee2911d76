"""Outlines from SVG: path data (M L H V C S Q T A Z), polygons, rectangles, circles and ellipses, with their transforms.

Coordinates are those of the document's user units, y down as SVG has it; the root's `viewBox`, clipping and most of style sheets are not looked
at. What a viewer does not draw (`display="none"`, `visibility="hidden"`, definitions) is left out; so are text and images, which have no outline.

An outline must be closed: subpaths that end neither with Z nor where they began are refused. `use`, `line`, open polylines, units other than px,
style sheets that hide or transform, and nested drawings with a `viewBox` are refused by name, as pieces would be lost or have a wrong size.

A document may come from anywhere: what it costs to read is bounded by its length (`markup`, `lexer`), and it never makes anything else be read.
"""

from abut.contours.svg.document import read
from abut.contours.svg.paths import parse_path
from abut.contours.svg.transforms import parse_transform

__all__ = ["parse_path", "parse_transform", "read"]
