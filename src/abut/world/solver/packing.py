"""Some pairs of bodies out of their blocks, packed closely in blocks of their own: where few contacts need many sweeps, no lane shall be idle.

The pairs keep their order. What a sweep changes is written back when they return.
"""

from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel
from abut.core.octets import SIZE
from abut.core.records import Records
from abut.impulses.sides import root_of
from abut.world.solver.blocks import CHANGED, READ, Blocks, find_room, moves, number_rows, open_block, settle_in
from abut.world.solver.energy import NONE


@kernel
def pack_busy(bodies: Records, contacts: Records, blocks: Blocks, island: Integers, busy: Floats) -> tuple[int, int]:
    """Pack the pairs of islands with a body that is marked as busy (n,). How many pairs and blocks there are."""
    few, places, last = blocks.few_blocks, blocks.places, blocks.last
    last[:] = -1
    pairs, used, free = 0, 0, 0
    for number in range(len(blocks.blocks)):
        block = blocks.blocks[number]
        for k in range(block.pairs):
            first = contacts[block.first if not block.is_wide else 0]
            a, b = (block.body_a[k], block.body_b[k]) if block.is_wide else (first.body_a, first.body_b)
            root = block.island[k] if block.is_wide else root_of(island, first)
            if root == NONE or (busy[a] == 0.0 and busy[b] == 0.0):
                continue
            at = used
            if block.is_wide:
                at = find_room(few, used, max(free, int(last[a]) + 1, int(last[b]) + 1))
            if at == used:
                open_block(few[at], block.first, block.is_wide)
                used += 1
            to = few[at]
            places[pairs, 0], places[pairs, 1], places[pairs, 2], places[pairs, 3] = number, k, at, to.pairs
            if block.is_wide:
                for lane in range(to.pairs, SIZE if to.pairs == 0 else to.pairs + 1):
                    to.body_a[lane], to.body_b[lane], to.island[lane] = a, b, root
                for body in (a, b):
                    if moves(bodies[body]):
                        last[body] = at
                to.rolls, to.slips = to.rolls or block.rolls, to.slips or block.slips
                to.bounces, to.has_balls = to.bounces or block.bounces, to.has_balls or block.has_balls
            else:
                settle_in(bodies, first, last, at)
            to.pairs += 1
            to.count = max(to.count, block.count)
            free = find_room(few, used, free)
            pairs += 1
    size = number_rows(few, used)
    for row in range(size):
        for column in range(READ):
            blocks.few_numbers[row, column] = 0.0
    _copy(blocks, pairs, True)
    return pairs, used


@kernel
def _copy(blocks: Blocks, pairs: int, there: bool) -> None:
    """Copy the lanes of pairs to where they are packed, or back."""
    for pair in range(pairs):
        block, few = blocks.blocks[blocks.places[pair, 0]], blocks.few_blocks[blocks.places[pair, 2]]
        if not block.is_wide:
            continue
        lane, to = blocks.places[pair, 1], blocks.places[pair, 3]
        for row in range(block.count):
            here, packed = block.first + row, few.first + row
            for column in range(0, READ if there else CHANGED, SIZE):
                if there:
                    blocks.few_numbers[packed, column + to] = blocks.numbers[here, column + lane]
                else:
                    blocks.numbers[here, column + lane] = blocks.few_numbers[packed, column + to]


@kernel
def unpack(blocks: Blocks, pairs: int) -> None:
    """Take the pairs back to where they belong."""
    _copy(blocks, pairs, False)
