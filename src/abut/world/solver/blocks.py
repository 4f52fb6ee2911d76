"""Contacts eight pairs of bodies at a time: which pairs stand together, and their contacts side by side.

Pairs of a block have no moving body in common, so that eight may be solved at once. A pair comes into a block behind those of all earlier pairs with
one of its bodies: whoever goes through the blocks visits the contacts of each body in their own order, and so solves them exactly as one after the
other would. (With as few colours as possible, as in Box2D 3, a load takes as many sweeps through a stack as it has bodies.)

Contacts that bones or particles have part in, or bodies that are locked along some axes, make blocks of their own: these are solved one by one.
"""

from typing import Any, NamedTuple

import numpy as np

from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel
from abut.core.octets import SIZE
from abut.core.records import Record, Records, put, record
from abut.impulses.records import ALONE
from abut.impulses.sides import root_of, same_sides

BLOCK = record(
    ("body_a", "i8", SIZE),  # lanes without a pair have the bodies of the first
    ("body_b", "i8", SIZE),
    ("island", "i8", SIZE),  # see `root_of`
    ("first", "i8"),  # of its rows of lanes; of contacts that are solved one by one, the first of these
    ("count", "i8"),
    ("pairs", "i8"),
    ("is_wide", "?"),
    ("rolls", "?"),  # whether some of its contacts do
    ("slips", "?"),
    ("bounces", "?"),
    ("has_balls", "?"),  # on both sides
)

LANE = record(
    ("normal_impulse", "f8", SIZE),
    ("tangent_impulse", "f8", SIZE),
    ("bitangent_impulse", "f8", SIZE),
    ("rolling_impulse", "f8", (3, SIZE)),
    ("change", "f8", SIZE),  # of the normal impulse, in the last sweep
    ("work", "f8", SIZE),
    ("separation", "f8", SIZE),  # no sweep changes it, or what follows
    ("normal", "f8", (3, SIZE)),
    ("tangent", "f8", (3, SIZE)),
    ("bitangent", "f8", (3, SIZE)),
    ("anchor_a", "f8", (3, SIZE)),
    ("anchor_b", "f8", (3, SIZE)),
    ("normal_mass", "f8", SIZE),
    ("tangent_mass", "f8", SIZE),
    ("bitangent_mass", "f8", SIZE),
    ("friction", "f8", SIZE),
    ("load", "f8", SIZE),
    ("holds", "f8", SIZE),  # 1, or 0 for what yields
    ("rolling_lever", "f8", SIZE),
    ("rolling_mass", "f8", SIZE),
    ("approach_speed", "f8", SIZE),
    ("slip", "f8", (3, SIZE)),
    ("lead", "f8", SIZE),  # no sweep reads it, or what follows
    ("last_impulse", "f8", SIZE),
    ("pushed_impulse", "f8", SIZE),
    ("total_normal_impulse", "f8", SIZE),
    ("has_pushed", "f8", SIZE),
    ("restitution", "f8", SIZE),
    ("radius_a", "f8", SIZE),
    ("radius_b", "f8", SIZE),
    ("center_a", "f8", (3, SIZE)),
    ("center_b", "f8", (3, SIZE)),
    ("known", "f8", (6, SIZE)),  # impulses before a sweep, and the way that they went: see `conjugate_gradients`
    ("course", "f8", (6, SIZE)),
    ("contact", "i8", SIZE),  # its row in the list of contacts, or NOBODY
)
"""The fields of `CONTACT`, for eight contacts. Where there is none all are 0, and it takes and gives no impulse."""
NOBODY = -1
WORD = 8


def column_of(kind: np.dtype[Any], name: str) -> int:
    """The place of a field in a row of numbers."""
    places: Any = kind.fields
    return int(places[name][1]) // WORD


CHANGED, READ = column_of(LANE, "separation"), column_of(LANE, "lead")
"""How many of the numbers of a row of lanes a sweep changes, and reads."""


class Blocks(NamedTuple):
    """The contacts of a step."""

    blocks: Records
    lanes: Records
    rows: Floats
    """the records of the bodies as numbers, not copied"""
    few_blocks: Records
    """room for some of them, packed again (`packing`)"""
    few_lanes: Records
    numbers: Floats
    """both records of lanes as numbers, not copied"""
    few_numbers: Floats
    places: Integers
    """(n,4) room: block and lane of a pair among all, and among the few"""
    last: Integers
    """room, one for each body"""


class Bench:
    """Room for the blocks of a step, used again by the next one: all of it is written anew."""

    def __init__(self) -> None:
        self._blocks, self._lanes = np.empty((2, 0), BLOCK), [np.empty(0, LANE), np.empty(0, LANE)]

    def __reduce__(self) -> tuple[type["Bench"], tuple[()]]:
        return Bench, ()  # room is no state

    def lay_out(self, bodies: Records, contacts: Records, island: Integers, particles: int) -> Blocks:
        """Contacts (n,), those of a pair side by side, in blocks. particles: the first row of bodies that is one."""
        count = len(contacts)
        if self._blocks.shape[1] < count:
            self._blocks = np.empty((2, 2 * count), BLOCK)
        spans, places = np.empty((count, 2), np.int64), np.empty((count, 4), np.int64)
        last, room = np.full(len(bodies), -1), self._blocks[0]
        pairs, used, size = schedule(bodies, contacts, particles, last, spans, places, room)
        for k, needed in enumerate((size, count)):
            if len(self._lanes[k]) < needed:
                self._lanes[k] = np.empty(needed + needed // 2, LANE)
        blocks, lanes, few = room[:used], self._lanes[0][:size], self._lanes[1]
        fill(contacts, island, spans[:pairs], places, blocks, lanes)
        rows, numbers, few_numbers = _numbers_of(bodies), _numbers_of(lanes), _numbers_of(few)
        return Blocks(blocks, lanes, rows, self._blocks[1], few, numbers, few_numbers, places, last)


def _numbers_of(records: Records) -> Floats:
    """The same memory as rows of numbers."""
    return records.view(np.float64).reshape(len(records), records.dtype.itemsize // WORD)


@kernel
def moves(body: Record) -> bool:
    """Whether impulses change the velocities of a body."""
    inertia = body.inverse_inertia
    return body.inverse_mass > 0.0 or inertia[0] + inertia[4] + inertia[8] > 0.0


@kernel
def _is_plain(bodies: Records, contact: Record, particles: int) -> bool:
    """Whether a contact may be solved beside others."""
    a, b = contact.body_a, contact.body_b
    ends = contact.end_a == ALONE and contact.end_b == ALONE and a < particles and b < particles
    special = contact.standing != 0 or contact.is_cold or bodies[a].is_locked or bodies[b].is_locked
    return ends and not special


@kernel
def settle_in(bodies: Records, contact: Record, last: Integers, block: int) -> None:
    """Note that the bodies of a contact are in a block."""
    for body in (contact.body_a, contact.end_a, contact.third_a, contact.body_b, contact.end_b, contact.third_b):
        if body != ALONE and moves(bodies[body]):
            last[body] = block


@kernel
def schedule(
    bodies: Records,
    contacts: Records,
    particles: int,
    last: Integers,
    spans: Integers,
    places: Integers,
    blocks: Records,
) -> tuple[int, int, int]:
    """Give each pair the first block with room behind all blocks with one of its bodies. How many pairs, blocks and rows of lanes there are.

    last (n,): −1 for each body. spans (k,2): first contact of each pair and the one behind its last; places (k,4): its block and lane."""
    pairs, used, free, start = 0, 0, 0, 0
    while start < len(contacts):
        contact, stop = contacts[start], start + 1
        while stop < len(contacts) and same_sides(contact, contacts[stop]):
            stop += 1
        plain = True
        for i in range(start, stop):
            plain = plain and _is_plain(bodies, contacts[i], particles)
        at = used
        if plain:
            at = find_room(blocks, used, max(free, int(last[contact.body_a]) + 1, int(last[contact.body_b]) + 1))
        if at == used:
            open_block(blocks[at], start, plain)
            used += 1
        block = blocks[at]
        spans[pairs, 0], spans[pairs, 1] = start, stop
        places[pairs, 0], places[pairs, 1] = at, block.pairs
        block.pairs += 1
        block.count = max(block.count, stop - start)
        settle_in(bodies, contact, last, at)
        free = find_room(blocks, used, free)
        pairs, start = pairs + 1, stop
    return pairs, used, number_rows(blocks, used)


@kernel
def find_room(blocks: Records, used: int, at: int) -> int:
    """The first block from one on in which a pair has room; `used` if there is none."""
    while at < used and (not blocks[at].is_wide or blocks[at].pairs == SIZE):
        at += 1
    return at


@kernel
def open_block(block: Record, first: int, is_wide: bool) -> None:
    """A block without pairs."""
    block.pairs, block.count, block.first, block.is_wide = 0, 0, first, is_wide
    block.rolls, block.slips, block.bounces, block.has_balls = False, False, False, False


@kernel
def number_rows(blocks: Records, used: int) -> int:
    """Give blocks their rows of lanes; how many there are."""
    size = 0
    for at in range(used):
        if blocks[at].is_wide:
            blocks[at].first = size
            size += blocks[at].count
    return size


@kernel
def fill(
    contacts: Records, island: Integers, spans: Integers, places: Integers, blocks: Records, lanes: Records
) -> None:
    """Write contacts to their lanes. Lanes without a pair repeat the bodies of the first."""
    for at in range(len(blocks)):
        block = blocks[at]
        if block.is_wide:
            for row in range(block.first, block.first + block.count):
                for k in range(SIZE):
                    _clear(lanes[row], k)
    for k in range(len(spans)):
        block, lane, first = blocks[places[k, 0]], places[k, 1], contacts[spans[k, 0]]
        if not block.is_wide:
            continue
        for other in range(lane, SIZE if lane == 0 else lane + 1):
            block.body_a[other], block.body_b[other] = first.body_a, first.body_b
            block.island[other] = root_of(island, first)
        for i in range(spans[k, 0], spans[k, 1]):
            contact = contacts[i]
            _write(lanes[block.first + i - spans[k, 0]], lane, contact, i)
            block.rolls = block.rolls or contact.rolling_lever > 0.0
            block.bounces = block.bounces or contact.restitution > 0.0
            slip = contact.slip
            block.slips = block.slips or slip[0] != 0.0 or slip[1] != 0.0 or slip[2] != 0.0
            block.has_balls = block.has_balls or (contact.radius_a > 0.0 and contact.radius_b > 0.0)


@kernel
def _clear(lane: Record, k: int) -> None:
    for axis in range(3):
        lane.normal[axis, k], lane.tangent[axis, k], lane.bitangent[axis, k] = 0.0, 0.0, 0.0
        lane.anchor_a[axis, k], lane.anchor_b[axis, k], lane.rolling_impulse[axis, k] = 0.0, 0.0, 0.0
        lane.slip[axis, k], lane.center_a[axis, k], lane.center_b[axis, k] = 0.0, 0.0, 0.0
    lane.separation[k], lane.normal_mass[k], lane.tangent_mass[k], lane.bitangent_mass[k] = 0.0, 0.0, 0.0, 0.0
    lane.normal_impulse[k], lane.tangent_impulse[k], lane.bitangent_impulse[k], lane.load[k] = 0.0, 0.0, 0.0, 0.0
    lane.friction[k], lane.holds[k], lane.rolling_lever[k], lane.rolling_mass[k] = 0.0, 0.0, 0.0, 0.0
    lane.lead[k], lane.last_impulse[k], lane.pushed_impulse[k], lane.total_normal_impulse[k] = 0.0, 0.0, 0.0, 0.0
    lane.has_pushed[k], lane.approach_speed[k], lane.restitution[k], lane.work[k] = 0.0, 0.0, 0.0, 0.0
    lane.radius_a[k], lane.radius_b[k], lane.contact[k] = 0.0, 0.0, NOBODY


@kernel
def _spread(field: Floats, k: int, values: Floats) -> None:
    field[0, k], field[1, k], field[2, k] = values[0], values[1], values[2]


@kernel
def _write(lane: Record, k: int, contact: Record, row: int) -> None:
    lane.contact[k] = row
    _spread(lane.normal, k, contact.normal)
    _spread(lane.tangent, k, contact.tangent)
    _spread(lane.bitangent, k, contact.bitangent)
    _spread(lane.anchor_a, k, contact.anchor_a)
    _spread(lane.anchor_b, k, contact.anchor_b)
    _spread(lane.center_a, k, contact.center_a)
    _spread(lane.center_b, k, contact.center_b)
    _spread(lane.slip, k, contact.slip)
    if contact.rolling_lever > 0.0:
        _spread(lane.rolling_impulse, k, contact.rolling_impulse)
    lane.separation[k], lane.friction[k], lane.lead[k] = contact.separation, contact.friction, contact.lead
    lane.normal_mass[k], lane.tangent_mass[k] = contact.normal_mass, contact.tangent_mass
    lane.bitangent_mass[k], lane.normal_impulse[k] = contact.bitangent_mass, contact.normal_impulse
    lane.tangent_impulse[k], lane.bitangent_impulse[k] = contact.tangent_impulse, contact.bitangent_impulse
    lane.last_impulse[k], lane.total_normal_impulse[k] = contact.last_impulse, contact.total_normal_impulse
    lane.rolling_lever[k], lane.rolling_mass[k] = contact.rolling_lever, contact.rolling_mass
    lane.approach_speed[k], lane.restitution[k], lane.work[k] = (
        contact.approach_speed,
        contact.restitution,
        contact.work,
    )
    lane.radius_a[k], lane.radius_b[k] = contact.radius_a, contact.radius_b
    lane.holds[k], lane.has_pushed[k] = 0.0 if contact.yields else 1.0, 1.0 if contact.has_pushed else 0.0


@kernel
def _three(field: Floats, k: int) -> tuple[float, float, float]:
    return (field[0, k], field[1, k], field[2, k])


@kernel
def write_back(contacts: Records, blocks: Records, lanes: Records) -> None:
    """What a step has changed of contacts in lanes."""
    for block in blocks:
        if not block.is_wide:
            continue
        for row in range(block.first, block.first + block.count):
            lane = lanes[row]
            for k in range(block.pairs):
                if lane.contact[k] == NOBODY:
                    continue
                contact = contacts[lane.contact[k]]
                put(contact.normal, _three(lane.normal, k))
                put(contact.tangent, _three(lane.tangent, k))
                put(contact.bitangent, _three(lane.bitangent, k))
                put(contact.anchor_a, _three(lane.anchor_a, k))
                put(contact.anchor_b, _three(lane.anchor_b, k))
                put(contact.rolling_impulse, _three(lane.rolling_impulse, k))
                contact.separation, contact.normal_mass = lane.separation[k], lane.normal_mass[k]
                contact.normal_impulse, contact.tangent_impulse = lane.normal_impulse[k], lane.tangent_impulse[k]
                contact.bitangent_impulse, contact.work = lane.bitangent_impulse[k], lane.work[k]
                contact.total_normal_impulse = lane.total_normal_impulse[k]
                contact.has_pushed, contact.approach_speed = lane.has_pushed[k] > 0.0, lane.approach_speed[k]
