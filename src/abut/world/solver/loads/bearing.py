"""Loads that are too much for a few sweeps.

Sweeps that end before impulses stand make contacts as soft as springs of the stiffness m/h², with the effective mass m of the contact and the substep
h, as many times as there are sweeps: about as soft as the spring that each of them has anyway (`one_contact`). So where a load presses that by more
than a fifth of the slop, under a heavy body or deep in a pile, sweeps alone let the load sway. There are more of them, with conjugate gradients,
until its impulses stand; the last one is always plain. Islands with joints, or with contacts that are solved one by one, are left to sweeps alone.
"""

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel
from abut.core.octets import SIZE
from abut.core.records import Records
from abut.impulses.records import ALONE
from abut.impulses.sides import root_of
from abut.world.joints.records import Rack
from abut.world.solver.blocks import Blocks
from abut.world.solver.energy import NONE
from abut.world.solver.lane_solver import solve_block
from abut.world.solver.loads.conjugate_gradients import STALE, Course, begin_course, go_on
from abut.world.solver.one_contact import Softness
from abut.world.solver.packing import pack_busy, unpack

BEARABLE = 0.2
"""Of the slop: how far a load may press the spring of a contact alone; between REST and HOLDS (`one_contact`) it gives way as a spring does."""
MOST_SWEEPS, TRUE = 32, 1e-4
"""At most so many sweeps, which end when none of the loads changes by more than this part of it: by g·h times it a heavy body is off in a substep."""
SUDDEN = 2.0
"""More than so many times what the substep before gave is an impact. Loads change less: a stack that sways moves a part of them from side to side."""


@kernel
def bear_loads(
    bodies: Records,
    contacts: Records,
    blocks: Blocks,
    rack: Rack,
    h: float,
    softness: Softness,
    bearable: float,
    slowest: float,
    island: Integers,
    is_held: NDArray[np.bool_],
    busy: Floats,
) -> int:
    """Solve for loads that are too much for springs; how many pairs it solved. bearable: such an impulse for each unit of mass. slowest: approach of
    an impact. is_held, busy (n,):
    see `Ledger`; and room."""
    busy[:] = 0.0
    _find_loaded(contacts, blocks, rack, bearable, slowest, island, is_held, busy)
    if not busy.any():
        return 0
    pairs, count = pack_busy(bodies, contacts, blocks, island, busy)
    course, marks, solved = begin_course(bodies, blocks, count, island), np.empty(SIZE), 0
    for sweep in range(MOST_SWEEPS):
        if sweep > 0 and sweep % 2 == 0:  # to and fro: conjugate gradients need symmetric steps
            go_on(bodies, blocks, count, island, course, h, softness)
        for k in range(count):
            block = blocks.few_blocks[k if sweep % 2 == 0 else count - 1 - k]
            some = 0
            for lane in range(SIZE):
                goes_on = lane < block.pairs and course.goes_on[block.island[lane]] != 0
                marks[lane] = 1.0 if goes_on else 0.0
                some += 1 if goes_on else 0
            if some > 0:
                solve_block(blocks.rows, blocks.few_lanes, block, sweep % 2 == 1, 1, marks, h, softness)
                solved += some
        if sweep % 2 == 1 and not _are_unsteady(blocks, count, bearable, course):
            break
    unpack(blocks, pairs)
    return solved


@kernel
def _find_loaded(
    contacts: Records,
    blocks: Blocks,
    rack: Rack,
    bearable: float,
    slowest: float,
    island: Integers,
    is_held: NDArray[np.bool_],
    busy: Floats,
) -> None:
    """Mark the bodies that too much presses on: of islands that something holds up, whose loads are too much in the mean, weighted by themselves, and
    all of whose contacts are in lanes; while nothing hits them."""
    excess = np.zeros(len(island))
    for block in blocks.blocks:
        if block.is_wide:
            for row in range(block.first, block.first + block.count):
                lane = blocks.lanes[row]
                for k in range(block.pairs):
                    at, load, mass = block.island[k], lane.load[k], lane.normal_mass[k]
                    if at == NONE or mass == 0.0:
                        continue
                    now = lane.normal_impulse[k]
                    if lane.approach_speed[k] > slowest and max(now, load) > SUDDEN * min(now, load):
                        excess[at] = -np.inf
                    else:
                        excess[at] += load * (load / mass - bearable)
    if not (excess > 0.0).any():
        return
    is_free = np.ones(len(island), np.bool_)
    for joint in rack.joints:
        for body in (joint.body_a, joint.body_b):
            if body != ALONE and island[body] != NONE:
                is_free[island[body]] = False
    for block in blocks.blocks:
        if not block.is_wide:
            for i in range(block.first, block.first + block.count):
                at = root_of(island, contacts[i])
                if at != NONE:
                    is_free[at] = False
    for block in blocks.blocks:
        if not block.is_wide:
            continue
        for row in range(block.first, block.first + block.count):
            lane = blocks.lanes[row]
            for k in range(block.pairs):
                at = block.island[k]
                if at == NONE or excess[at] <= 0.0 or not (is_free[at] and is_held[at]):
                    continue
                if lane.load[k] > bearable * lane.normal_mass[k]:
                    for body in (block.body_a[k], block.body_b[k]):
                        if island[body] != NONE:
                            busy[body] = 1.0


@kernel
def _are_unsteady(blocks: Blocks, count: int, bearable: float, course: Course) -> bool:
    """Whether some island needs another sweep; the others are done."""
    some = False
    for i in range(len(course.goes_on)):
        course.goes_on[i] = -course.goes_on[i]  # until one of its loads asks for more
    for number in range(count):
        block = blocks.few_blocks[number]
        for row in range(block.first, block.first + block.count):
            lane = blocks.few_lanes[row]
            for k in range(block.pairs):
                at, load = block.island[k], lane.load[k]
                if course.goes_on[at] == 0 or course.stale[at] >= STALE:
                    continue
                if load > bearable * lane.normal_mass[k] and abs(lane.change[k]) > TRUE * load:
                    course.goes_on[at], some = 1, True
    for i in range(len(course.goes_on)):
        course.goes_on[i] = max(course.goes_on[i], 0)
    return some
