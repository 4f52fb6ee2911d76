"""What a step works on, and what it would do: bodies and contacts as the solver wants them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.core.records import Records
from abut.impulses.sides import turn_inertias
from abut.world.bodies.store import Store
from abut.world.contacts.colliders import Colliders
from abut.world.contacts.memory import ContactMemory
from abut.world.contacts.points import ContactPoints
from abut.world.joints.opening import Opened, open_joints
from abut.world.joints.table import Joints
from abut.world.linkages.joined import Joined
from abut.world.linkages.links import Links
from abut.world.soft.bodies import Softs
from abut.world.soft.patches import Skin, choose_rows, find_patches, lay_patches, move_points
from abut.world.solver.opening import open_contacts
from abut.world.solver.preparation import prepare


class Parts(NamedTuple):
    """Of a world, what a step works on."""

    store: Store
    colliders: Colliders
    links: Links
    joints: Joints
    softs: Softs
    gravity: Floats
    slop: float


class Attempt(NamedTuple):
    """What a step would do. The world is as it was."""

    found: ContactPoints
    pairs: Integers
    """(n,2) bodies of the contacts"""
    contacts: Records
    joined: Joined
    skins: list[Skin]
    """of soft bodies that are awake"""
    opened: Opened
    borne: Floats
    """(n,) normal impulses of a substep that contacts start from"""
    awake: NDArray[np.bool_]

    @property
    def pushing(self) -> NDArray[np.bool_]:
        """(n,) contacts that pushed, even if they took back all of it."""
        return self.contacts["has_pushed"]


def prepare_attempt(
    world: Parts,
    memory: ContactMemory,
    found: ContactPoints,
    pairs: Integers,
    times: Floats,
    dt: float,
    count: int,
    sweeps: int,
) -> Attempt:
    """Bodies and contacts as the solver wants them, with the impulses of the last step."""
    store = world.store
    awake = store.movable & ~store.asleep
    joined = world.links.join(store, world.gravity, awake, dt, count * sweeps, world.joints.members)
    joined, skins = world.softs.extend(joined, store, awake, times)
    patches = find_patches(skins, found, pairs)
    if skins:
        kept = choose_rows(patches, found)
        found, pairs, patches = found.take(kept), pairs[kept], patches.take(kept)
        found = move_points(patches, found, joined.bodies)
    joined.moving[: len(awake)] |= store.find_gliding()
    joined.bodies["time"][: len(times)] = times
    sides, shares, together = joined.find_sides(pairs, found.point)
    if together.any():  # bones with a joint in common
        found, pairs = found.take(~together), pairs[~together]
        sides, shares, patches = sides[~together], shares[~together], patches.take(~together)
    opened = open_joints(world.joints, joined.bodies, joined.ends, joined.strings, joined.soft, awake, dt, count)
    joined.mark_free(pairs, np.concatenate((sides, opened.sides)))
    world.softs.mark_free(joined, skins)
    turn_inertias(joined.bodies)
    contacts = open_contacts(store, world.colliders, found, pairs, sides, shares)
    lay_patches(patches, contacts)
    contacts["yields"] = np.isin(pairs, world.joints.members).any(axis=1)
    support = np.zeros((len(joined.bodies), 3))
    prepare(joined.bodies, contacts, found.points, support, world.slop, slowest_bounce(world, dt))
    memory.start(contacts, found, world.slop, dt / count)
    return Attempt(found, pairs, contacts, joined, skins, opened, contacts["normal_impulse"].copy(), awake)


def slowest_bounce(world: Parts, dt: float) -> float:
    """The speed of approach below which nothing bounces: what gravity makes in two steps."""
    return 2.0 * float(np.linalg.norm(world.gravity)) * dt
