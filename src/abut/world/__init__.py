"""Many bodies: who touches whom, and how they move (Peyré 2001)."""

from abut.world.bodies.materials import Material, Rule
from abut.world.contacts.pair_rules import PairFilter
from abut.world.definition import ShapesLike
from abut.world.films import Film, FilmFrame
from abut.world.results import Closest, ClosestMany, OverlapMany, RayHits, SensorEvents, ShapeHit, WorldContacts
from abut.world.states import State
from abut.world.world import World

__all__ = [
    "Closest",
    "ClosestMany",
    "Film",
    "FilmFrame",
    "Material",
    "OverlapMany",
    "PairFilter",
    "RayHits",
    "Rule",
    "SensorEvents",
    "ShapeHit",
    "ShapesLike",
    "State",
    "World",
    "WorldContacts",
]
