"""What contacts are like from step to step."""

import numpy as np
import pytest

from abut import cells, dynamics
from abut.core.errors import InvalidInput
from abut.dynamics import ContactKind

NONE, TOUCH, SLIDE, BLOCK, BOUNCE = ContactKind


class Moved:
    """Stands in for the answer of a move."""

    def __init__(self, position, normal, source=None):
        self.position, self.normal = np.asarray(position, float), np.asarray(normal, float)
        if source is not None:
            self.source = np.asarray(source)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_a_story_of_one_particle(scale):
    history, place, told = dynamics.ContactHistory(), np.zeros(2), []
    floor, air = (0, -1), (0, 0)
    for wish, came, normal in (
        ((1, 0), (1, 0), air),
        ((1, -1), (1, 0), floor),
        ((1, -1), (1, 0), floor),
        ((1, -1), (0.001, 0), floor),
        ((0, 0), (0, 0), floor),
        ((0, 1), (0, 1), air),
        ((0, 1), (0, 1), air),
    ):
        target, place = [place + scale * np.array(wish)], place + scale * np.array(came)
        told.append(int(history.note(Moved([place], [normal]), target)[0]))
    assert told == [NONE, TOUCH, SLIDE, BLOCK, BLOCK, BOUNCE, NONE]
    assert history.steps.tolist() == [0]
    assert history.normal.tolist() == [[0, -1]]


def test_inserted_particles_are_known_again():
    history = dynamics.ContactHistory()
    start = np.array([[0.0, 0.0], [4.0, 0.0]])
    history.note(Moved(start, [[0, -1], [0, 0]]), start)
    moved = [[1.0, 0.0], [5.0, 0.0], [2.0, 0.0]]
    assert history.note(Moved(moved, [[0, -1], [0, 0], [1, 0]], [0, 1, -1]), np.add(start, (1, 0))).tolist() == [
        SLIDE,
        NONE,
        TOUCH,
    ]
    assert history.note(Moved(moved[1:], [[0, -1], [1, 0]], [1, 2]), np.add(moved, 1)).tolist() == [TOUCH, BLOCK]
    assert history.steps.tolist() == [1, 2]


def test_coupled_particles_bounce_and_come_to_rest():
    room = cells.channel(2, 2, 2)
    model = dynamics.ShapeMatching([[0.5, 0.5, 1.0], [1.5, 0.5, 1.0]], [[0], [1]], gravity=(0, 0, -10.0))
    crowd, history, seen = cells.Particles(room, model.position), dynamics.ContactHistory(), []
    for _ in range(200):
        dynamics.couple(model, crowd, 0.01, restitution=0.5, history=history)
        seen.append(int(history.kind[0]))
    assert seen.index(TOUCH) < seen.index(BOUNCE)
    assert seen[-1] == BLOCK
    assert len(history) == 2


def test_bad_notes_are_refused_and_change_nothing():
    history = dynamics.ContactHistory()
    start = np.zeros((2, 3))
    history.note(Moved(start, start), start)
    for moves, targets in (
        (Moved(start[:1], start[:1]), start[:1]),
        (Moved(start, start[:1]), start),
        (Moved(start, start, [0, 2]), start),
        (Moved(start[:, :2], start[:, :2]), start[:, :2]),
        (object(), start),
    ):
        with pytest.raises(InvalidInput):
            history.note(moves, targets)
    assert len(history) == 2
    with pytest.raises(InvalidInput, match="still"):
        dynamics.ContactHistory(2.0)
    with pytest.raises(InvalidInput, match="history"):
        dynamics.couple(dynamics.ShapeMatching(start), None, 0.1, history=3)
