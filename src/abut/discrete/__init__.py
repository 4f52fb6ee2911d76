"""Rigid and deformable bodies at one moment: do they touch, where, how deep, how far apart (Meseure 1998).

`bodies` what is asked about · `collide`, `containment`, `distance` the questions · `contacts` an answer · `search` and `measure` the kernels.
"""

from abut.discrete.bodies import BodyLike, Deformable, Rigid
from abut.discrete.collide import collide
from abut.discrete.contacts import Contacts
from abut.discrete.containment import contains
from abut.discrete.distance import Distance, distance

__all__ = ["BodyLike", "Contacts", "Deformable", "Distance", "Rigid", "collide", "contains", "distance"]
