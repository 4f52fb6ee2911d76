"""Stacks that lean until they fall where the springs of contacts are too soft for their load: tall, small, under heavy bodies."""

import numpy as np
import pytest

import abut
from abut import shapes
from conftest import SOAK
from world.collisions import DT, at

SECONDS = 30.0 if SOAK else 3.0


@pytest.mark.large
@pytest.mark.parametrize(
    ("count", "size", "heavy"),
    [(50, 1.0, 1.0), (10, 0.02, 1.0), (5, 1.0, 100.0), (1, 1.0, 1000.0)],
    ids=["fifty", "ten of 2 cm", "100:1 on five", "1000:1 on one"],
)
def test_stacks_stand_straight_without_sleep(count, size, heavy):
    """Under SI gravity at 1/60, the slop as recommended."""
    world = abut.World(slop=0.005 * size, sleeping=False)
    world.add(shapes.Box((20 * size, 20 * size, size)), at(0, 0, -0.5 * size), kind="static")
    boxes = [world.add(shapes.Box((size,) * 3), at(0, 0, size * (k + 0.5 - 0.0025 * (k + 1)))) for k in range(count)]
    boxes.append(
        world.add(shapes.Box((size,) * 3), at(0, 0, size * (count + 0.5 - 0.0025 * (count + 1))), density=heavy)
    )
    for _ in range(int(SECONDS / DT)):
        world.step(DT)
    poses = world.poses(boxes)
    assert np.abs(poses[:, :2, 3]).max() < 0.02 * size
    assert world.contacts().depth.max() < 0.95 * world.slop
