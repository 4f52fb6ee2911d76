"""Many bodies: a small pile comes to rest, a rag doll falls down stairs, a cloth lies down on hills.

python examples/bodies.py [--picture bodies.svg]

The scenes of `abut simulate`, smaller, without a window. The run ends in assertions: nothing has sunk in deeper than the slop, nobody fell
through the floor, and the pile lies still.
"""

import argparse
from pathlib import Path

import numpy as np

from abut import scenes
from abut.scenes.worlds import WorldScene

COLORS = ("#4878a8", "#b05a3c", "#5a9a68", "#8a6fb0", "#c79a3f")


def run(scene: WorldScene, steps: int) -> float:
    """Let a scene run; the deepest contact at the end, in slops."""
    for _ in range(steps):
        scene.world.step(scene.dt)
    return float(scene.world.contacts().depth.max(initial=0.0)) / scene.world.slop


def draw(scene: WorldScene) -> str:
    """The pile from the side, far bodies first."""
    drawn = []
    for i, handle in enumerate(scene.bodies[:-5]):
        shape, _ = scene.world.shape_of(int(handle))[0]
        pose = scene.world.poses(int(handle))[0]
        points = shape.surface().vertices @ pose[:3, :3].T + pose[:3, 3]
        drawn.append((points[:, 1].mean(), i, _outline(points[:, [0, 2]])))
    parts = [
        f'<path d="M{" L".join(f"{380 + 110 * x:.1f} {400 - 110 * z:.1f}" for x, z in line)}Z" fill="{COLORS[i % 5]}" stroke="white"/>'
        for _, i, line in sorted(drawn, key=lambda item: -item[0])
    ]
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 420"><rect width="760" height="420" fill="white"/>{"".join(parts)}</svg>'


def _outline(points: np.ndarray) -> np.ndarray:
    from scipy.spatial import ConvexHull

    return points[ConvexHull(points).vertices]


def main() -> None:
    """Run the three scenes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", type=Path)
    arguments = parser.parse_args()
    pile = scenes.pile(100)
    bodies, deepest, steps = pile.bodies[:-5], np.inf, 0  # the last five are walls
    while steps < 600 and not pile.world.asleep(bodies).all():
        deepest, steps = run(pile, 30), steps + 30
    print(f"pile: 100 bodies, deepest contact {deepest:.2f} slops, all asleep after {steps * pile.dt:.1f} s")
    assert pile.world.asleep(bodies).all()
    assert deepest <= 1.0
    stairs = scenes.rag_doll_on_stairs(6)
    doll = stairs.linkages[0][0]
    top = doll.position[:, 2].max()
    run(stairs, 180)
    print(f"stairs: the doll's highest point fell from {top:.2f} m to {doll.position[:, 2].max():.2f} m")
    assert doll.position[:, 2].max() < top - 0.8
    assert doll.position[:, 2].min() > 0.0
    cloth = scenes.cloth_on_terrain(12)
    sheet = cloth.linkages[0][0]
    run(cloth, 120)
    print(f"cloth: between {sheet.position[:, 2].min():.2f} m and {sheet.position[:, 2].max():.2f} m high")
    assert sheet.position[:, 2].min() > 0.0
    assert sheet.position[:, 2].max() < 0.9
    if arguments.picture:
        arguments.picture.write_text(draw(pile), encoding="utf-8")


if __name__ == "__main__":
    main()
