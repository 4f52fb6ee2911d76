"""Many bodies: who touches whom, and how they move (Peyré 2001)."""

from abut.world.results import Closest, RayHits, WorldContacts
from abut.world.world import World

__all__ = ["Closest", "RayHits", "World", "WorldContacts"]
