"""Stacks in scratch memory, of what a search has still to look at: pairs of boxes, pieces of one segment, pairs of pieces of two.

A piece is its two parameters. Each function pushes, and returns how many wait then.
"""

from typing import Any

from abut.core.jit import element
from abut.core.scratch import store

PAIR_NUMBERS = 512
"""Pairs of boxes, two numbers each. A pop adds four at most and goes one level down in a tree; n ≤ 2³⁰ gives 60 levels, 3·60 + 1 pairs."""
PIECE_NUMBERS, NARROWEST_PIECE = 128, 2.0**-52
"""Pieces of one segment, two numbers each: one more per halving, 52 at most."""


@element
def push_pair(pairs: Any, top: int, i: int, j: int) -> int:
    """A pair of boxes."""
    store(pairs, 2 * top, i)
    store(pairs, 2 * top + 1, j)
    return top + 1


@element
def push_children(pairs: Any, top: int, i: int, count_a: int, j: int, count_b: int) -> int:
    """The children of boxes i and j, each with each: two pairs where one of the boxes is basic, else four."""
    a0, a1 = (i, i) if i >= count_a else (2 * i, 2 * i + 1)
    b0, b1 = (j, j) if j >= count_b else (2 * j, 2 * j + 1)
    for p in range(a0, a1 + 1):
        for q in range(b0, b1 + 1):
            top = push_pair(pairs, top, p, q)
    return top


@element
def push_halves(pieces: Any, top: int, lo: float, hi: float) -> int:
    """Both halves of a piece of a segment, the second on top."""
    middle = 0.5 * (lo + hi)
    store(pieces, 2 * top, lo)
    store(pieces, 2 * top + 1, middle)
    store(pieces, 2 * top + 2, middle)
    store(pieces, 2 * top + 3, hi)
    return top + 2


@element
def push_pieces(pieces: Any, top: int, s0: float, s1: float, t0: float, t1: float) -> int:
    """A piece of a segment of a, with one of a segment of b."""
    store(pieces, 4 * top, s0)
    store(pieces, 4 * top + 1, s1)
    store(pieces, 4 * top + 2, t0)
    store(pieces, 4 * top + 3, t1)
    return top + 1
