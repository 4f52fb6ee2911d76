"""Contours in motion: never an overlap, never more energy, and rest."""

import numpy as np
import pytest

from abut import InvalidInput, contours
from abut.contours import Animation, Contour
from abut.core import jit
from conftest import SOAK

STEP = 1 / 240
BOX = Contour.from_polygon([(-1, -1), (7, -1), (7, 20), (6, 20), (6, 0), (0, 0), (0, 20), (-1, 20)])
BRICK = Contour.from_polygon([(0, 0), (1, 0), (1, 0.5), (0, 0.5)])


def bodies(count, segments=12):
    rng = np.random.default_rng(count)
    t = np.arange(segments) * 2 * np.pi / segments
    for k in range(count):
        radius = 0.45 * (1 + 0.25 * rng.uniform(-1, 1, segments))
        yield Contour(np.stack([radius * np.cos(t), radius * np.sin(t)], axis=1), 0.004, detail=2, seed=k)


def smallest_gap(animation, shapes):
    """The least distance of all pairs, by the exact question, in the placed coordinates."""
    placed = [shape.moved(pose) for shape, pose in zip(shapes, animation.poses, strict=True)]
    least = np.inf
    for i in range(len(placed)):
        for j in range(i + 1, len(placed)):
            gap = contours.distance(placed[i], placed[j])
            assert gap.relation[0] == contours.APART, (i, j)
            least = min(least, float(gap.distance[0]))
    return least


def floating(animation, shapes):
    """Bodies that nothing touches: none nearer than the distance at which places are contacts."""
    placed = [shape.moved(pose) for shape, pose in zip(shapes, animation.poses, strict=True)]
    return [
        i
        for i in range(1, len(placed))
        if all(
            contours.distance(placed[i], other).distance[0] > 1.01 * animation.skin
            for j, other in enumerate(placed)
            if j != i
        )
    ]


def test_a_heap_never_overlaps_gains_no_energy_and_comes_to_rest():
    count, steps = (2, 12) if jit.INTERPRETED else (100, 10_000) if SOAK else (7, 3000)
    shapes = [BOX, *bodies(count)]
    poses = [(0, 0, 0), *((0.8 + 1.1 * (k % 5), 0.7 + 1.2 * (k // 5), 0.7 * k) for k in range(count))]
    animation = Animation(shapes, poses, fixed=[True] + [False] * count)
    energy = [animation.energy]
    for step in range(steps):
        animation.step(STEP)
        energy.append(animation.energy)
        if step % (steps // 6) == 0:
            assert smallest_gap(animation, shapes) >= 0.99 * animation.clear
        if not SOAK and step > 200 and np.abs(animation.velocity).max() < 1e-5:
            break  # nothing holds the round ones but friction: they roll for a while
    assert np.diff(energy).max() <= 1e-12 * max(abs(energy[0]), 1.0)
    assert (animation.poses[0] == 0).all()
    if not jit.INTERPRETED:
        assert np.abs(animation.velocity).max() < 1e-3
        assert not floating(animation, shapes)
        before = animation.poses
        for _ in range(20):
            animation.step(STEP)
        assert np.abs(animation.poses - before).max() < 1e-4  # no jitter


@pytest.mark.large
def test_a_brick_slides_and_rests_as_it_should():
    floor = Contour.from_polygon([(-50, -1), (50, -1), (50, 0), (-50, 0)])
    sliding = Animation([floor, BRICK], [(0, 0, 0), (0, 1e-3, 0)], fixed=[True, False], restitution=0.0, friction=0.5)
    sliding.velocity[1, 0] = 3.0
    for _ in range(480):
        sliding.step(STEP)
    way = 3.0**2 / (2 * 0.5 * 9.81)
    assert sliding.velocity[1] == pytest.approx(np.zeros(3), abs=1e-6)
    assert sliding.position[1, 0] - 0.5 == pytest.approx(way, rel=0.01)
    assert abs(sliding.angle[1]) < 1e-2


def test_a_fast_thin_body_does_not_jump_over_a_wall():
    wall = Contour.from_polygon([(5, -5), (5.01, -5), (5.01, 5), (5, 5)])
    needle = Contour.from_polygon([(0, 0), (0.05, 0), (0.05, 0.05), (0, 0.05)])
    flight = Animation([wall, needle], [(0, 0, 0), (4.9, 0, 0)], fixed=[True, False], gravity=(0, 0), restitution=1.0)
    flight.velocity[1, 0] = 40.0
    for _ in range(3):
        flight.step(STEP)
        assert flight.position[1, 0] < 5.0
    assert flight.velocity[1, 0] < 0.0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Animation([BRICK, BRICK], [(0, 0, 0), (0.5, 0, 0)]), "overlap"),
        (lambda: Animation([BRICK], [(0, 0, 0), (0.5, 0, 0)]), "2 rows for 1"),
        (lambda: Animation([BRICK], [(0, 0, 0)], fixed=[True, False]), "fixed"),
        (lambda: Animation([BRICK], [(0, 0, 0)], restitution=1.5), "restitution"),
        (lambda: Animation([BRICK], [(0, 0, 0)]).step(0.0), "dt"),
    ],
)
def test_bad_scenes_are_refused(call, words):
    with pytest.raises(InvalidInput, match=words):
        call()
