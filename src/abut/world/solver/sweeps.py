"""Sweeps over contacts: a few for all of them, and more where these do not do.

Where a body is hit, its contacts are swept until their impulses stand, for what is left out would make a box that falls flat leave the ground.
Contacts make no energy: where a few sweeps leave an island with more of it than it had before its contacts, there are more of them, until it has not.
"""

import math

import numpy as np

from abut.core.arrays import Floats, Integers
from abut.core.jit import inlined, kernel, stay_apart
from abut.core.octets import SIZE
from abut.core.records import Record, Records, put, vector
from abut.geometry.vec import add_scaled, dot, scale
from abut.impulses.sides import push_apart, relative_velocity, root_of, sides_of, twist_apart
from abut.world.joints.records import Rack
from abut.world.joints.solving import solve_joints
from abut.world.solver.blocks import Blocks
from abut.world.solver.energy import NONE, ROUNDING, Ledger, add_energies, weaken
from abut.world.solver.lane_solver import solve_block, start_block
from abut.world.solver.link_constraints import Bonds, hold_lengths, restore_lengths
from abut.world.solver.loads.bearing import SUDDEN
from abut.world.solver.one_contact import Softness, solve_contact
from abut.world.solver.packing import pack_busy, unpack

MORE_SWEEPS, GAIN = 64, 0.99
"""At most so many sweeps more for bodies that are hit, and for islands whose contacts have made energy and take back a hundredth with each."""
STAGES = (0, 4, 16, MORE_SWEEPS)
"""Before these sweeps contacts of bodies that are still busy are packed again."""
STEADY = 2e-4
"""Of the impulse that would stop a contact alone: changes below it end the sweeps. Dozens of points of one face add up to some times as much."""


@kernel
def warm_start(bodies: Records, contacts: Records, blocks: Blocks) -> None:
    """Give the impulses of the substep before."""
    for block in blocks.blocks:
        if block.is_wide:
            start_block(blocks.rows, blocks.lanes, block)
            continue
        for i in range(block.first, block.first + block.count):
            _start_contact(bodies, contacts[i])


@kernel
def _start_contact(bodies: Records, contact: Record) -> None:
    a, b = sides_of(contact)
    if contact.is_cold:
        contact.normal_impulse, contact.tangent_impulse, contact.bitangent_impulse = 0.0, 0.0, 0.0
    if contact.restitution > 0.0 and contact.normal_impulse > 0.0:
        speed = dot(relative_velocity(bodies, a, b), vector(contact.normal))
        contact.work -= contact.normal_impulse * (speed + 0.5 * contact.normal_impulse / contact.normal_mass)
    j = scale(vector(contact.normal), contact.normal_impulse)
    j = add_scaled(j, vector(contact.tangent), contact.tangent_impulse)
    j = add_scaled(j, vector(contact.bitangent), contact.bitangent_impulse)
    push_apart(bodies, a, b, j, contact.standing)
    if contact.rolling_lever > 0.0:
        twist_apart(bodies, a[0], b[0], vector(contact.rolling_impulse))
    else:
        put(contact.rolling_impulse, (0.0, 0.0, 0.0))
    contact.load = contact.normal_impulse


@kernel
def sweep_contacts(
    bodies: Records,
    contacts: Records,
    blocks: Blocks,
    bonds: Bonds,
    rack: Rack,
    h: float,
    softness: Softness,
    sweeps: int,
    marks: Floats,
) -> None:
    """All contacts in turn, to and fro, and before each sweep the links and the joints. RIGID: pushing apart leaves no velocity. marks: ones."""
    stay_apart()
    for sweep in range(sweeps):
        if softness.rate > 0.0:
            restore_lengths(bodies, bonds, h, softness.fastest)
        else:
            hold_lengths(bodies, bonds)
        solve_joints(bodies, rack, h, softness.rate > 0.0)
        for k in range(len(blocks.blocks)):
            block = _turn(blocks, k, sweep)
            if block.is_wide:
                solve_block(blocks.rows, blocks.lanes, block, sweep % 2 == 1, 1, marks, h, softness)
            else:
                for i in range(block.count):
                    solve_contact(bodies, contacts[_row(block, i, sweep)], h, softness)


@inlined
def _turn(blocks: Blocks, k: int, sweep: int) -> Record:
    """The block number k of a sweep: forwards, then backwards, by turns."""
    return blocks.blocks[k if sweep % 2 == 0 else len(blocks.blocks) - 1 - k]


@inlined
def _row(block: Record, i: int, sweep: int) -> int:
    """The row of its contacts, or lanes, that comes in place i."""
    return block.first + (i if sweep % 2 == 0 else block.count - 1 - i)


@kernel
def _is_impact(approach: float, now: float, before: float, slowest: float) -> bool:
    """Whether a contact gives suddenly more, or less, than the substep before: also what is left of an impact must be undone with care."""
    return approach > slowest and max(now, before) > SUDDEN * min(now, before)


@kernel
def _find_impacts(contacts: Records, blocks: Blocks, slowest: float, island: Integers, busy: Floats) -> None:
    """Mark the bodies that are hit."""
    for block in blocks.blocks:
        if not block.is_wide:
            for i in range(block.first, block.first + block.count):
                c = contacts[i]
                hit = _is_impact(c.approach_speed, c.normal_impulse, c.load, slowest)
                if hit and root_of(island, c) != NONE:
                    _mark(island, busy, c.body_a, c.body_b)
            continue
        for row in range(block.first, block.first + block.count):
            lane = blocks.lanes[row]
            for k in range(block.pairs):
                hit = _is_impact(lane.approach_speed[k], lane.normal_impulse[k], lane.load[k], slowest)
                if hit and block.island[k] != NONE:
                    _mark(island, busy, block.body_a[k], block.body_b[k])


@kernel
def converge(
    bodies: Records,
    contacts: Records,
    blocks: Blocks,
    rack: Rack,
    h: float,
    softness: Softness,
    slowest: float,
    island: Integers,
    busy: Floats,
    still: Floats,
) -> int:
    """Go on with sweeps over the contacts of bodies that are hit, until no impulse there changes by more than STEADY of it; how many it solved.

    A box that falls flat touches with many points. The first that are visited take all of the impact, and turn it: it would leave, although nothing
    bounces. busy, still (n,): room."""
    busy[:] = 0.0
    _find_impacts(contacts, blocks, slowest, island, busy)
    marks, solved = np.empty(SIZE), 0
    for stage in range(len(STAGES) - 1):
        if not busy.any():
            break
        pairs, count = pack_busy(bodies, contacts, blocks, island, busy)
        for sweep in range(STAGES[stage], STAGES[stage + 1]):
            if not busy.any():
                break
            still[:] = 0.0
            solve_joints(bodies, rack, h, softness.rate > 0.0)
            for k in range(count):
                block = blocks.few_blocks[k if sweep % 2 == 0 else count - 1 - k]
                if block.is_wide:
                    solved += _converge_block(blocks, block, sweep, marks, h, softness, slowest, island, busy, still)
                    continue
                for i in range(block.count):
                    solved += _converge_contact(
                        bodies, contacts[_row(block, i, sweep)], h, softness, slowest, island, busy, still
                    )
            for i in range(len(busy)):
                busy[i] *= still[i]
        unpack(blocks, pairs)
    return solved


@kernel
def _converge_contact(
    bodies: Records,
    contact: Record,
    h: float,
    softness: Softness,
    slowest: float,
    island: Integers,
    busy: Floats,
    still: Floats,
) -> int:
    """The same for one contact; 1 if it was solved."""
    a, b = contact.body_a, contact.body_b
    if (busy[a] == 0.0 and busy[b] == 0.0) or root_of(island, contact) == NONE:
        return 0
    before = contact.normal_impulse
    solve_contact(bodies, contact, h, softness)
    steady = STEADY * contact.normal_mass * contact.approach_speed
    if contact.approach_speed > slowest and abs(contact.normal_impulse - before) > steady:
        _mark(island, still, a, b)
    return 1


@kernel
def _converge_block(
    blocks: Blocks,
    block: Record,
    sweep: int,
    marks: Floats,
    h: float,
    softness: Softness,
    slowest: float,
    island: Integers,
    busy: Floats,
    still: Floats,
) -> int:
    """Solve the contacts of a packed block whose bodies are busy, and mark those that are not still; how many pairs it solved. marks (8,): room."""
    solved = 0
    for k in range(SIZE):
        is_busy = busy[block.body_a[k]] != 0.0 or busy[block.body_b[k]] != 0.0
        goes_on = k < block.pairs and is_busy and block.island[k] != NONE
        marks[k] = 1.0 if goes_on else 0.0
        solved += 1 if goes_on else 0
    if solved == 0:
        return 0
    solve_block(blocks.rows, blocks.few_lanes, block, sweep % 2 == 1, 1, marks, h, softness)
    for row in range(block.first, block.first + block.count):
        lane = blocks.few_lanes[row]
        for k in range(block.pairs):
            if marks[k] == 0.0 or lane.approach_speed[k] <= slowest:
                continue
            a, b = block.body_a[k], block.body_b[k]
            if abs(lane.change[k]) > STEADY * lane.normal_mass[k] * lane.approach_speed[k]:
                _mark(island, still, a, b)
    return solved


@kernel
def _mark(island: Integers, marks: Floats, a: int, b: int) -> None:
    """Mark the two bodies of a contact, those that move."""
    for body in (a, b):
        if island[body] != NONE:
            marks[body] = 1.0


@kernel
def settle(
    bodies: Records,
    contacts: Records,
    blocks: Blocks,
    h: float,
    softness: Softness,
    island: Integers,
    ledger: Ledger,
    again: int,
) -> int:
    """Go on with sweeps over islands whose contacts have made energy in this substep; how many contacts it solved.

    The impulses that are looked for make none: they bring the energy down to the least there is, and each sweep comes nearer. Those that push out of
    a depth make some for a while, no more than it takes; but they are taken back where the bodies are after they moved. again: the most sweeps for
    islands that something holds up, which push others than themselves and may be large."""
    last, now, marks = ledger.spare, ledger.now, np.empty(SIZE)
    last[:] = math.inf
    solved = 0
    for sweep in range(MORE_SWEEPS):
        add_energies(bodies, island, now)
        busy = False
        for i in range(len(last)):
            grown = now[i] - ledger.before[i] - ledger.allowed[i]
            goes_on = sweep < again or not ledger.is_held[i]
            grows = grown > ROUNDING * now[i] and grown < GAIN * last[i]
            last[i] = grown if grows and goes_on else -math.inf
            busy = busy or last[i] > 0.0
        if not busy:
            return solved
        for turn in range(len(blocks.blocks)):
            block = _turn(blocks, turn, sweep + 1)
            if not block.is_wide:
                for i in range(block.count):
                    contact = contacts[_row(block, i, sweep + 1)]
                    root = root_of(island, contact)
                    if root >= 0 and last[root] > 0.0:
                        solve_contact(bodies, contact, h, softness)
                        solved += 1
                continue
            some = 0
            for k in range(SIZE):
                root = block.island[k]
                grows = k < block.pairs and root >= 0 and last[max(root, 0)] > 0.0
                marks[k] = 1.0 if grows else 0.0
                some += 1 if grows else 0
            if some > 0:
                solve_block(blocks.rows, blocks.lanes, block, sweep % 2 == 0, 1, marks, h, softness)
                solved += some
    add_energies(bodies, island, now)
    return solved


@kernel
def take_back_less(bodies: Records, contacts: Records, blocks: Blocks, island: Integers, ledger: Ledger) -> None:
    """Where an island has more energy than before its contacts, keep of the second pass only the part that makes none.

    A push is given where the bodies are, and what is too much of it is taken back where they have got to: there it may set free more than it took."""
    grows = False
    for i in range(len(island)):
        grows = grows or ledger.now[i] > ledger.before[i] * (1.0 + ROUNDING) + ledger.allowed[i]
    if not grows:
        return
    most, part = ledger.before + ledger.allowed - ledger.start, ledger.now
    weaken(bodies, island, ledger.start, most, part, ledger.spare)
    for block in blocks.blocks:
        for row in range(block.first, block.first + block.count):
            if not block.is_wide:
                contact = contacts[row]
                root = root_of(island, contact)
                if root >= 0 and part[root] < 1.0:
                    pushed = contact.pushed_impulse
                    contact.normal_impulse = pushed + part[root] * (contact.normal_impulse - pushed)
                continue
            lane = blocks.lanes[row]
            for k in range(block.pairs):
                root = block.island[k]
                if root >= 0 and part[root] < 1.0:
                    pushed = lane.pushed_impulse[k]
                    lane.normal_impulse[k] = pushed + part[root] * (lane.normal_impulse[k] - pushed)
    add_energies(bodies, island, ledger.now)
