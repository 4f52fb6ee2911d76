"""Rough contours fall into a box and come to lie on one another: never an overlap, never more energy.

python examples/falling_contours.py [--picture FILE]

Figure 2 of Rivera, Carvalho and Velho (2002) with many bodies. The run ends in assertions: no step gains energy, the contours are clear of
one another at the end by the exact question, and all of them have come down.
"""

import argparse
from pathlib import Path

import numpy as np

from abut import contours, scenes
from abut.contours import picture

STEP, STEPS, COUNT = 1 / 240, 720, 20


def main() -> None:
    """Three seconds of falling."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", type=Path)
    arguments = parser.parse_args()
    shapes, poses = scenes.falling_contours(COUNT)
    animation = contours.Animation(shapes, poses, fixed=[True] + [False] * COUNT)
    energy = [animation.energy]
    for _ in range(STEPS):
        animation.step(STEP)
        energy.append(animation.energy)
    placed = [shape.moved(pose) for shape, pose in zip(shapes, animation.poses, strict=True)]
    _, hits = contours.collide_all(placed, np.zeros((len(placed), 3)))
    print(
        f"{COUNT} contours, {STEPS} steps: energy from {energy[0]:.3f} to {energy[-1]:.3f}, {len(hits)} contacts left"
    )
    if arguments.picture:
        arguments.picture.write_text(picture.draw(placed), encoding="utf-8")
    assert max(np.diff(energy)) <= 1e-12 * abs(energy[0])
    assert len(hits) == 0
    assert animation.is_clear().all()
    assert animation.position[1:, 1].mean() < 0.8 * poses[1:, 1].mean()
    assert (animation.position[1:, 1] > 0).all()


if __name__ == "__main__":
    main()
