"""Rigid contact: sequential impulses with warm start, in substeps (Catto 2005; "Solver2D", 2024).

A step is cut in substeps. Each one applies gravity, starts from the impulses of the substep before, solves every contact in turn, with a spring that
pushes out what is too deep, moves the bodies, and solves again without the spring, so that pushing leaves no velocity behind. Contacts are found
once a step; their separations follow the bodies from substep to substep to first order in the rotation. Restitution comes last (`restitution`).

Particles of linkages are rows behind those of the bodies. Contacts push them like bodies, and in turn with the contacts their velocities are changed
so that bones keep their lengths (`link_constraints`). Both see the same velocities: what a bone carries presses on what it lies on.
"""

import math
from typing import NamedTuple

import numpy as np

from abut.core.arrays import Integers
from abut.core.jit import kernel
from abut.core.octets import SIZE
from abut.core.records import Record, Records, put, vector
from abut.geometry.vec import scale
from abut.world.joints.records import Rack
from abut.world.joints.rows import add_loads, aim_rows, start_rows
from abut.world.joints.solving import solve_joints
from abut.world.solver.blocks import Blocks, write_back
from abut.world.solver.energy import Ledger, add_energies, keep_velocities
from abut.world.solver.lane_solver import close_block, follow_block
from abut.world.solver.link_constraints import Bonds
from abut.world.solver.loads.bearing import BEARABLE, bear_loads
from abut.world.solver.movement import accelerate, follow_contact, move_bodies
from abut.world.solver.one_contact import RIGID, STIFFNESS, soften
from abut.world.solver.preparation import measure_approach
from abut.world.solver.restitution import bounce
from abut.world.solver.sweeps import SUDDEN, converge, settle, sweep_contacts, take_back_less, warm_start
from abut.world.solver.tissues import Tissues, flex


class Settings(NamedTuple):
    """Of a step."""

    dt: float
    pace: float
    """the substep for which contacts are stiff"""
    fastest: float
    """the most speed of a push out of a depth"""
    slowest: float
    """speed of approach below which nothing bounces"""
    slop: float
    substeps: int
    sweeps: int


@kernel
def solve_step(
    bodies: Records,
    contacts: Records,
    blocks: Blocks,
    bonds: Bonds,
    tissues: Tissues,
    rack: Rack,
    moving: Integers,
    island: Integers,
    ledger: Ledger,
    settings: Settings,
) -> int:
    """Solve contacts, links, soft bodies and joints for a step. How many contacts were solved beyond the sweeps that were wanted.

    blocks: the contacts, with the impulses that they start from as their last ones. moving: bodies that move at all. island (n,), ledger: see
    `open_ledger`. The impulses of the contacts are written."""
    slop, slowest, sweeps = settings.slop, settings.slowest, settings.sweeps
    h = settings.dt / settings.substeps
    marks = np.ones(SIZE)
    bearable = BEARABLE * slop * h * (2.0 * math.pi * STIFFNESS / settings.pace) ** 2
    ledger.taken[:] = ledger.allowed
    more = 0
    aim_rows(bodies, rack)
    for _ in range(settings.substeps):
        accelerate(bodies, moving, h)
        flex(bodies, tissues, h, settings.dt)
        add_energies(bodies, island, ledger.before)
        start_rows(bodies, rack, h, settings.fastest)
        warm_start(bodies, contacts, blocks)
        softness = soften(h, settings.pace, settings.fastest, slop)
        sweep_contacts(bodies, contacts, blocks, bonds, rack, h, softness, sweeps, marks)
        more += converge(bodies, contacts, blocks, rack, h, softness, slowest, island, ledger.now, ledger.spare)
        more += bear_loads(
            bodies, contacts, blocks, rack, h, softness, bearable, slowest, island, ledger.is_held, ledger.spare
        )
        more += settle(bodies, contacts, blocks, h, softness, island, ledger, sweeps)
        solve_joints(bodies, rack, h, True)  # what is left over goes to contacts, which have a slop for it
        move_bodies(bodies, moving, h)
        _follow_bodies(bodies, contacts, blocks, slop)
        aim_rows(bodies, rack)
        keep_velocities(bodies)
        add_energies(bodies, island, ledger.start)
        sweep_contacts(bodies, contacts, blocks, bonds, rack, h, RIGID, sweeps, marks)
        more += converge(bodies, contacts, blocks, rack, h, RIGID, slowest, island, ledger.now, ledger.spare)
        more += bear_loads(
            bodies, contacts, blocks, rack, h, RIGID, bearable, slowest, island, ledger.is_held, ledger.spare
        )
        more += settle(bodies, contacts, blocks, h, RIGID, island, ledger, sweeps)
        take_back_less(bodies, contacts, blocks, island, ledger)
        add_loads(rack)
        ledger.taken[:] += ledger.before - ledger.now
        _forget_impacts(bodies, contacts, blocks, len(bodies) - len(bonds.place))
    write_back(contacts, blocks.blocks, blocks.lanes)
    bounce(bodies, contacts, rack, h, settings.substeps, slowest, island, ledger)
    return more


@kernel
def _follow_bodies(bodies: Records, contacts: Records, blocks: Blocks, slop: float) -> None:
    """Take the contacts along with the bodies, with what they give by now."""
    for block in blocks.blocks:
        if block.is_wide:
            follow_block(blocks.rows, blocks.lanes, block, slop)
            continue
        for i in range(block.first, block.first + block.count):
            follow_contact(bodies, contacts[i], slop)


@kernel
def _forget_impacts(bodies: Records, contacts: Records, blocks: Blocks, particles: int) -> None:
    """Add up what a substep gave, and keep it for the next one; but what came suddenly is an impact, is over at once, and is not given again.

    Contacts that nothing has hit yet learn the speed of their approach from where they are now. particles: the first row of one; their loads go
    through bonds, and come and go."""
    for block in blocks.blocks:
        if block.is_wide:
            close_block(blocks.rows, blocks.lanes, block, SUDDEN)
            continue
        for i in range(block.first, block.first + block.count):
            _forget_impact(bodies, contacts[i], particles)


@kernel
def _forget_impact(bodies: Records, contact: Record, particles: int) -> None:
    now, before = contact.normal_impulse, contact.last_impulse
    contact.total_normal_impulse += now
    if now > 0.0:
        contact.has_pushed = True
    contact.last_impulse = now
    if SUDDEN * before < now and contact.body_a < particles and contact.body_b < particles:
        part = before / now
        contact.normal_impulse = before
        contact.tangent_impulse *= part
        contact.bitangent_impulse *= part
        put(contact.rolling_impulse, scale(vector(contact.rolling_impulse), part))
    if contact.restitution > 0.0 and contact.total_normal_impulse == 0.0:
        measure_approach(bodies, contact)
