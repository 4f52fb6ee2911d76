import numpy as np
import pytest

from abut import cells
from abut.core.errors import InvalidInput
from abut.scenes import vessel_network


def test_tetrahedra_fill_connected_branches():
    network = vessel_network(1.5, 2)
    env = cells.tetrahedra(network.vertices, network.tetrahedra)
    assert env.check_integrity() == []
    darts = env.darts
    inner = darts.cell >= 0
    reached, waiting = {0}, [0]
    beyond = darts.cell[darts.phi3]
    neighbours = [[] for _ in range(env.cell_count)]
    for cell, other in zip(darts.cell[inner].tolist(), beyond[inner].tolist(), strict=True):
        if other >= 0:
            neighbours[cell].append(other)
    while waiting:
        for other in neighbours[waiting.pop()]:
            if other not in reached:
                reached.add(other)
                waiting.append(other)
    assert len(reached) == env.cell_count
    assert len(network.branches) == 7
    crowd = cells.Particles(env, network.branches[:1, 3:6])  # where the trunk divides
    moves = crowd.move(network.branches[:1, 3:6] + [100.0, 0, 0])
    assert moves.status.tolist() == [cells.COLLISION]


def test_same_arguments_same_network():
    one, other = vessel_network(1.2, 1, seed=3), vessel_network(1.2, 1, seed=3)
    assert (one.vertices == other.vertices).all()
    assert (one.tetrahedra == other.tetrahedra).all()
    assert not np.array_equal(one.vertices, vessel_network(1.2, 1, seed=4).vertices)


def test_refuses():
    with pytest.raises(InvalidInput, match=r"resolution: 0\.5 is below 1"):
        vessel_network(0.5)
    with pytest.raises(InvalidInput, match="generations: 9"):
        vessel_network(2, 9)
