"""Joints between bodies of a world: their kinds, and what each of their coordinates may do (Peyré 2001, §5.2.2)."""

from abut.world.joints.definition import FREE, LOCKED, Freedom, Joint
from abut.world.joints.kinds import ball, distance, fixed, hinge, six_degree, slider, spring
from abut.world.joints.results import JointStates

__all__ = [
    "FREE",
    "LOCKED",
    "Freedom",
    "Joint",
    "JointStates",
    "ball",
    "distance",
    "fixed",
    "hinge",
    "six_degree",
    "slider",
    "spring",
]
