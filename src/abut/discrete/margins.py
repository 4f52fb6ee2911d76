"""What a margin does to a question: the rule of its rows, and whether it is too large."""

from abut.core.arrays import Floats
from abut.core.errors import Unsupported
from abut.core.types import Number
from abut.discrete.bodies import LARGEST_RATIO, Body
from abut.discrete.search.queries import search_first
from abut.discrete.search.rules import Meet, Near


def check_margin(margin: Number, min_distance: float, scale: float) -> None:
    """Unsupported where the margin is too large beside bodies of a scale."""
    if min_distance * scale > LARGEST_RATIO:
        raise Unsupported(f"a margin of {margin:.0e}, which is too large beside the bodies")


def rule_of(min_distance: float) -> Meet | Near:
    """What counts as a contact of two bodies."""
    return Near(min_distance) if min_distance > 0.0 else Meet(0)


def meet(a: Body, pose_a: Floats, b: Body) -> bool:
    """Whether any faces meet: with a margin, rows alone do not tell."""
    return search_first(a._handle, pose_a, b._handle, b._pose)[3] > 0
