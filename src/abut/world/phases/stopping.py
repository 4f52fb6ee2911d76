"""Less time for what would pass through something."""

import numpy as np

from abut.core.arrays import Floats
from abut.world.bodies.state import name_fields
from abut.world.continuous.stops import find_stops
from abut.world.definition import MOST_SCALE
from abut.world.phases.attempts import Attempt, Parts

MOST_TRIES = 8
"""Of a step. Each wakes an island more, or lets less time pass for a continuous body; after the last, half of what was safe."""
HELD_TRIES = 4
"""From then on less time passes for soft bodies, too, that would pass something: the contacts that were added did not hold them."""
SOONER = 0.25
"""With each of them a continuous body may come nearer to what it would pass, by this factor."""


def stop_passing(world: Parts, attempt: Attempt, times: Floats, softs_safe: Floats, tries: int) -> bool:
    """Shorten the time of continuous bodies that would pass something: the step must be done again. Whether there were any."""
    store = world.store
    safe = softs_safe if tries >= HELD_TRIES else np.ones(len(times))
    if store.continuous.any():
        safe = np.minimum(safe, _find_rigid_stops(world, attempt, tries))
    if tries == MOST_TRIES - 1:
        safe = np.where(safe < 1.0, 0.5 * safe, 1.0)
    times *= safe
    return bool((safe < 1.0).any())


def _find_rigid_stops(world: Parts, attempt: Attempt, tries: int) -> Floats:
    """(n,) the part of the step after which continuous bodies come too near to something."""
    pushing = attempt.found.take(attempt.pushing)
    a, b = pushing.collider_a, pushing.collider_b
    held, after = (np.minimum(a, b) << 32) | np.maximum(a, b), name_fields(attempt.joined.states())
    return find_stops(
        world.store, world.colliders, after, world.slop, SOONER**tries, held, attempt.joined.soft & attempt.awake
    )


def find_lost(world: Parts, attempt: Attempt) -> str | None:
    """What the step would take farther than worlds reach."""
    far = ~(np.abs(attempt.joined.bodies["position"]).max(axis=1, initial=0.0) <= MOST_SCALE)
    if not far.any():
        return None
    first = int(np.argmax(far))
    is_body = first < len(world.store.alive)
    return f"body {world.store.handles(np.array([first]))[0]}" if is_body else "a particle of a linkage"
