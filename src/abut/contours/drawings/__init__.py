"""Drawings of workshops: parts with holes and marks, in millimetres, from SVG and DXF, and back to them."""

from abut.contours.drawings.marks import Drawing, Mark, Part
from abut.contours.drawings.reading import read

__all__ = ["Drawing", "Mark", "Part", "read"]
