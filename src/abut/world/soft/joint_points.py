"""Points that joints hold which are of no rigid body: on bones and particles of linkages, and at vertices of soft bodies.

A share names the point: on a bone the part of the way to its second end, of a soft body the number of the particle; NaN for a rigid body.
"""

from collections.abc import Iterable

import numpy as np

from abut.core.arrays import Floats, Integers
from abut.world.linkages.links import Links
from abut.world.soft.bodies import Softs


def find_shares(links: Links, softs: Softs, slots: Integers, points: Iterable[Floats]) -> Floats:
    """(k,) what bodies in slots (k,) are held at for points (k,3): the nearest that they have."""
    pairs = zip(slots.tolist(), points, strict=True)
    return np.array([np.fmax(links.find_share(slot, at), softs.find_share(slot, at)) for slot, at in pairs])


def find_points(links: Links, softs: Softs, slots: Integers, shares: Floats) -> Floats:
    """(k,2,3) where the points of joints between slots (k,2) are; NaN for those of rigid bodies."""
    sides = zip(slots.ravel().tolist(), shares.ravel().tolist(), strict=True)
    found = [np.fmax(links.find_point(*side), softs.find_point(*side)) for side in sides]
    return np.array(found).reshape(-1, 2, 3)
