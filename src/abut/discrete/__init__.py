"""Rigid and deformable bodies at one moment: do they touch, where, how deep, how far apart (Meseure 1998)."""

from abut.discrete.bodies import Deformable, Rigid
from abut.discrete.collide import collide, contains
from abut.discrete.contacts import Contacts
from abut.discrete.distance import Distance, distance

__all__ = ["Contacts", "Deformable", "Distance", "Rigid", "collide", "contains", "distance"]
