"""Many bodies: who touches whom, and how they move (Peyré 2001)."""

from abut.world.bodies.materials import Material, Rule
from abut.world.contacts.pair_rules import PairFilter
from abut.world.definition import ShapesLike
from abut.world.films import Film, Frame
from abut.world.results import Closest, ClosestMany, OverlapMany, RayHits, SensorEvents, WorldContacts
from abut.world.states import State
from abut.world.world import World

__all__ = [
    "Closest",
    "ClosestMany",
    "Film",
    "Frame",
    "Material",
    "OverlapMany",
    "PairFilter",
    "RayHits",
    "Rule",
    "SensorEvents",
    "ShapesLike",
    "State",
    "World",
    "WorldContacts",
]
