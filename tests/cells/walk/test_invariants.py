"""Debug mode: what is broken on purpose is found, by name."""

import numpy as np
import pytest

from abut import cells
from abut.cells.walk.invariants import WORDS, _in_sector, check_end, check_leg
from abut.cells.walk.leg import GOES_ON, STOPPED, end_leg

P, Q = (0.5, 0.5, 0.5), (1.5, 0.5, 0.5)


@pytest.mark.parametrize("walk", ["planes", "darts"])
def test_a_particle_in_the_wrong_cell_is_found(walk):
    crowd = cells.Particles(cells.channel(3, 1, 1), [[0.5, 0.5, 0.5], [1.5, 0.5, 0.5]], walk, debug=True)
    crowd.move([[0.75, 0.5, 0.5], [1.25, 0.5, 0.5]])
    crowd._places.part = np.array([0, 2], np.int32)
    with pytest.raises(AssertionError, match="particle 1: it lies outside of its cell"):
        crowd.move([[0.5, 0.5, 0.5], [1.5, 0.5, 0.5]])


def exit_of(env):
    """The dart of the first cell of a channel that a way along x goes through, and the same seen from the next cell."""
    space = env.interior.space
    slot = int(np.flatnonzero(space.neighbour[0] == 1)[0])
    dart = int(space.face[0, slot])
    while not _in_sector(space, dart, P, Q):
        dart = int(space.phi1[dart])
    return slot, dart, int(space.across[dart])


def test_legs_that_break_a_condition_are_found():
    """One leg of a way through three cubes, as the walk makes it, and with each of its statements falsified."""
    env = cells.channel(3, 1, 1, [False, False, True])
    space = env.interior.space
    slot, dart, entry = exit_of(env)
    vertex = int(np.flatnonzero(space.vertex == space.vertex[dart])[0])
    cases = {
        "": (0, True, (1, entry, False, True, GOES_ON, -1, 0, dart, 4), Q),
        "the remembered dart": (0, True, (1, dart, False, True, GOES_ON, -1, 0, dart, 4), Q),
        "it is in an obstacle": (1, True, (2, int(space.face[2, 0]), False, True, GOES_ON, -1, 0, dart, 4), Q),
        "the way does not pass": (0, True, (1, entry, False, True, GOES_ON, -1, 0, int(space.face[0, 0]), 4), Q),
        "the target lies on the other side": (
            0,
            True,
            (1, entry, False, True, GOES_ON, -1, 0, dart, 4),
            (0.75, 0.5, 0.5),
        ),
        "the edge or vertex": (0, False, (1, entry, False, False, GOES_ON, slot, 2, vertex, 4), Q),
        "the way stopped, but": (0, True, (0, dart, False, True, STOPPED, slot, 0, dart, 4), Q),
        "the cell that it went on in": (0, False, (0, dart, False, False, GOES_ON, slot, -1, dart, 4), Q),
    }
    for words, (cell, was_inner, fields, goal) in cases.items():
        verdict = check_leg(space, cell, was_inner, end_leg(*fields), P, goal)
        assert WORDS.get(verdict, "").startswith(words), words
        assert (verdict == 0) == (words == "")
    corner = tuple(env.vertices[space.vertex[vertex]].tolist())
    beyond = tuple(np.add(corner, (1.0, 0.0, 0.0)).tolist())
    tie = end_leg(1, entry, False, False, GOES_ON, slot, 2, vertex, 4)
    back = tuple(np.subtract(corner, (0.5, 0.0, 0.0)).tolist())
    assert check_leg(space, 0, False, tie, back, beyond) == 0
    assert WORDS[check_leg(space, 1, False, tie, beyond, back)].startswith("the way does not begin")


def test_ends_that_break_a_condition_are_found():
    space = cells.channel(2, 1, 1).interior.space
    inside, border = (0.75, 0.5, 0.5), (1.0, 0.5, 0.5)
    assert check_end(space, 0, True, True, inside, inside) == 0
    assert check_end(space, 0, False, True, border, border) == 0
    assert check_end(space, 0, False, False, border, Q) == 0
    for x, is_inner, goal, words in (
        (inside, True, border, "it did not stop"),
        (border, True, border, "it is remembered as inside"),
        (Q, True, Q, "it lies outside"),
    ):
        assert WORDS[check_end(space, 0, is_inner, True, x, goal)].startswith(words)
