"""Closed contours in the plane, smooth or rough: box trees, exact contacts, distances (Rivera 2002)."""

from abut.contours import svg
from abut.contours.boxes import Boxes, build_boxes
from abut.contours.contour import Contour

__all__ = ["Boxes", "Contour", "build_boxes", "svg"]
