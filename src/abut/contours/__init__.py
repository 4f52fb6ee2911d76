"""Closed contours in the plane, smooth or rough: box trees, exact contacts, distances (Rivera 2002)."""

from abut.contours import svg
from abut.contours.boxes import Boxes, build_boxes
from abut.contours.contour import Contour
from abut.contours.nesting import Layout, nest

__all__ = ["Boxes", "Contour", "Layout", "build_boxes", "nest", "svg"]
