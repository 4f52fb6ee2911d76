"""Closed contours in the plane, smooth or rough: box trees, exact contacts, distances (Rivera 2002)."""

from abut.contours import drawings, picture, svg
from abut.contours.curve.boxes import Boxes, build_boxes
from abut.contours.curve.contour import Contour
from abut.contours.curve.measures import Moments
from abut.contours.drawings.marks import Part
from abut.contours.meet.all_pairs import collide_all, pairs
from abut.contours.meet.collide import collide, contains, distance, meets, winding
from abut.contours.meet.kinds import (
    A_IN_B,
    APART,
    B_IN_A,
    CONTACT,
    CROSSING,
    INTERVAL,
    TOUCH,
    Kind,
    Relation,
)
from abut.contours.meet.results import ContourContacts, ContourDistance
from abut.contours.meet.tolerance_search import ToleranceContacts, collide_tolerance
from abut.contours.motion.animation import Animation
from abut.contours.motion.impacts import AT_START, CLEAR, IMPACT, UNRESOLVED, ContourImpacts, ImpactStatus
from abut.contours.motion.steps import DONE, HELD_BACK, LIMIT, ContourStep, StepStatus
from abut.contours.motion.time_of_impact import time_of_impact
from abut.contours.nesting.layout import Layout
from abut.contours.nesting.nest import nest
from abut.contours.nesting.sheets import Sheet

__all__ = [
    "APART",
    "AT_START",
    "A_IN_B",
    "B_IN_A",
    "CLEAR",
    "CONTACT",
    "CROSSING",
    "DONE",
    "HELD_BACK",
    "IMPACT",
    "INTERVAL",
    "LIMIT",
    "TOUCH",
    "UNRESOLVED",
    "Animation",
    "Boxes",
    "Contour",
    "ContourContacts",
    "ContourDistance",
    "ContourImpacts",
    "ContourStep",
    "ImpactStatus",
    "Kind",
    "Layout",
    "Moments",
    "Part",
    "Relation",
    "Sheet",
    "StepStatus",
    "ToleranceContacts",
    "build_boxes",
    "collide",
    "collide_all",
    "collide_tolerance",
    "contains",
    "distance",
    "drawings",
    "meets",
    "nest",
    "pairs",
    "picture",
    "svg",
    "time_of_impact",
    "winding",
]
