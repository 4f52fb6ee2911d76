"""Linkages in a world: particles and bones with cylinders (Peyré 2001, §5.2.2) that collide with bodies both ways.

Each bone (or each particle) has a body that stands for it, of the mass of its particles. Before a step the linkage proposes where its particles go,
gravity and constraints included, and the bodies get the velocities that lead there. The solver lets them meet everything else. After the
step each particle is where its bodies came, on average; its velocity is what it moved.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from abut.arrays import Floats, Integers, frozen
from abut.dynamics import Linkage
from abut.errors import InvalidInput
from abut.shapes.solids import Capsule, Sphere
from abut.world.impulses import POSITION, SPIN, TURN, VELOCITY
from abut.world.store import ALL_LAYERS

if TYPE_CHECKING:
    from abut.world.world import World


@dataclass
class _Linked:
    linkage: Linkage
    slots: Integers
    ends: Integers
    """(k,2) the particles of each body; the same one twice for a ball"""
    proposed: Floats


class Links:
    """The linkages of a world."""

    def __init__(self) -> None:
        self._all: list[_Linked] = []

    def refuse(self, slots: Integers) -> None:
        """Bodies that stand for a linkage are not removed one by one."""
        for linked in self._all:
            if np.isin(slots, linked.slots).any():
                raise InvalidInput("handles", "names a body that stands for a part of a linkage")

    def add(
        self, world: "World", linkage: Linkage, radius: float | None, friction: float, layer: int, mask: int | None
    ) -> Integers:
        """See `World.link`."""
        meets = ALL_LAYERS & ~layer if mask is None else mask
        if radius is None and not (linkage.radius > 0.0).all():
            raise InvalidInput("radius", "is needed: the linkage's bones have none")
        count = len(linkage) if radius is not None else len(linkage.bones)
        rows = np.arange(count)
        ends = np.stack((rows, rows), axis=1) if radius is not None else np.array(linkage.bones)
        handles = []
        ball = None if radius is None else Sphere(radius)
        for k in range(count):
            mass = float(linkage.mass[ends[k, 0]]) if radius is not None else float(linkage.mass[ends[k]].sum())
            shape = ball or Capsule(float(linkage.radius[k]), float(linkage.length[k]))
            handles.append(world.add(shape, mass=mass, friction=friction, layer=layer, mask=meets))
        store = world._store
        slots = store.read(np.array(handles))
        store.pull[slots] = 0.0  # the linkage has its own gravity
        held = (linkage.inverse_mass[ends] == 0.0).all(axis=1)
        store.inverse[slots[held]] = 0.0
        if radius is not None:
            store.inverse[slots, 1:] = 0.0  # a particle does not turn
        linked = _Linked(linkage, slots, ends, np.array(linkage.position))
        self._all.append(linked)
        _put(world, linked, np.array(linkage.position), np.array(linkage.position), 1.0)
        return frozen(np.array(handles))

    def before(self, world: "World", dt: float) -> None:
        """Where the linkages want to go, as velocities of their bodies."""
        for linked in self._all:
            linked.proposed = np.array(linked.linkage.propose(dt))
            _put(world, linked, np.array(linked.linkage.position), linked.proposed, dt)

    def after(self, world: "World", dt: float) -> None:
        """Where the linkages came."""
        store = world._store
        for linked in self._all:
            linkage, slots = linked.linkage, linked.slots
            middle = store.state[slots, POSITION:TURN]
            axis = store.rotations(slots)[:, :, 2] * 0.5
            spread = np.linalg.norm(np.subtract(*linked.proposed[linked.ends.T]), axis=1, keepdims=True)
            total, number = np.zeros((len(linkage), 3)), np.zeros(len(linkage))
            for k, sign in ((0, -1.0), (1, 1.0)):
                np.add.at(total, linked.ends[:, k], middle + sign * axis * spread)
                np.add.at(number, linked.ends[:, k], 1.0)
            alone = number == 0.0
            reached = np.where(alone[:, np.newaxis], linked.proposed, total / np.maximum(number, 1.0)[:, np.newaxis])
            fixed = linkage.inverse_mass == 0.0
            reached[fixed] = linked.proposed[fixed]
            linkage.accept(frozen(reached))
            _put(world, linked, reached, reached, dt)


def _put(world: "World", linked: _Linked, start: Floats, end: Floats, dt: float) -> None:
    """Bodies between their particles at the start, moving so that they get where these are at the end."""
    a, b = start[linked.ends[:, 0]], start[linked.ends[:, 1]]
    c, d = end[linked.ends[:, 0]], end[linked.ends[:, 1]]
    store, slots = world._store, linked.slots
    store.state[slots, POSITION:TURN] = 0.5 * (a + b)
    store.state[slots, VELOCITY:SPIN] = (0.5 * (c + d) - 0.5 * (a + b)) / dt
    store.asleep[slots] = False
    if (linked.ends[:, 0] == linked.ends[:, 1]).all():
        return
    u, w = _unit(b - a), _unit(d - c)
    store.state[slots, TURN:VELOCITY] = _turn_z_to(u)
    sine = np.cross(u, w)
    size = np.linalg.norm(sine, axis=1, keepdims=True)
    angle = np.arctan2(size, (u * w).sum(axis=1, keepdims=True))
    store.state[slots, SPIN:] = np.divide(sine * angle, size * dt, out=np.zeros_like(sine), where=size > 0.0)


def _unit(v: Floats) -> Floats:
    length = np.linalg.norm(v, axis=1, keepdims=True)
    return np.divide(v, length, out=np.tile([0.0, 0.0, 1.0], (len(v), 1)), where=length > 0.0)


def _turn_z_to(u: Floats) -> Floats:
    """(n,4) quaternions that turn z to unit vectors, the short way; half a turn about x for −z."""
    w = 1.0 + u[:, 2]
    q = np.stack((w, -u[:, 1], u[:, 0], np.zeros(len(u))), axis=1)
    q[w < 1e-12] = (0.0, 1.0, 0.0, 0.0)
    return q / np.linalg.norm(q, axis=1, keepdims=True)
