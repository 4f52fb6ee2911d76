"""Many bodies: who touches whom, and how they move (Peyré 2001)."""

from abut.world.definition import ShapesLike
from abut.world.results import Closest, ClosestMany, OverlapMany, RayHits, WorldContacts
from abut.world.world import World

__all__ = ["Closest", "ClosestMany", "OverlapMany", "RayHits", "ShapesLike", "World", "WorldContacts"]
