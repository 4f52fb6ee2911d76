"""Closed contours in the plane, smooth or rough: box trees, exact contacts, distances (Rivera 2002)."""

from abut.contours import svg
from abut.contours.animation import Animation
from abut.contours.boxes import Boxes, build_boxes
from abut.contours.collide import collide, contains, distance, meets, winding
from abut.contours.contour import Contour
from abut.contours.many import collide_all, pairs
from abut.contours.nesting import Layout, nest
from abut.contours.results import (
    A_IN_B,
    APART,
    B_IN_A,
    CONTACT,
    CROSSING,
    INTERVAL,
    TOUCH,
    Contacts,
    Distance,
    Kind,
    Relation,
)

__all__ = [
    "APART",
    "A_IN_B",
    "B_IN_A",
    "CONTACT",
    "CROSSING",
    "INTERVAL",
    "TOUCH",
    "Animation",
    "Boxes",
    "Contacts",
    "Contour",
    "Distance",
    "Kind",
    "Layout",
    "Relation",
    "build_boxes",
    "collide",
    "collide_all",
    "contains",
    "distance",
    "meets",
    "nest",
    "pairs",
    "svg",
    "winding",
]
