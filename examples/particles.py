"""Particles that fall and bounce inside partitions: a turning channel, the same while it bends, a vessel network, and a channel being cut.

python examples/particles.py [--picture particles.svg]

The scenes of Jund 2010, §6.3.1, without a window. Every particle is followed from cell to cell by the walk on darts; the picture
shows how many orientation tests a move needed, as the thesis' figures 6.4 and 6.6 do. The run ends in assertions: nobody is lost,
nobody is in an obstacle.
"""

import argparse
from pathlib import Path

import numpy as np

import abut
from abut import cells

COUNT, STEPS, GRAVITY, BOUNCE, TURN = 1000, 200, 9.81, 0.8, 400
SIZE = np.array([5.0, 5.0, 28.0])
MOST_TESTS = 16
COLORS = ("#4878a8", "#b05a3c", "#5a9a68", "#8a6fb0")


def bend(vertices: np.ndarray, step: int) -> np.ndarray:
    """The channel swung to and fro along its length."""
    moved = vertices.copy()
    moved[:, 0] += 0.5 * np.sin(2 * np.pi * (vertices[:, 2] / 14.0 + step / 100.0))
    return moved


def close_a_gap(env: cells.Environment, step: int) -> None:
    """Cut a cube along its diagonal plane, one every tenth step, and make one half an obstacle."""
    row, at = divmod(step, 10)
    if at == 0 and row < 5:
        cell = (row * 5 + 2) * 28 + 14
        low = np.array([row, 2, 14])
        loop = [low + offset for offset in ((0, 0, 0), (1, 1, 0), (1, 1, 1), (0, 0, 1))]
        corners = [int(np.flatnonzero((env.vertices == point).all(axis=1))[0]) for point in loop]
        env.set_obstacle(env.cut(cell, corners), True)


def flow(
    env: cells.Environment, points: np.ndarray, time_step: float, change: object = None
) -> tuple[cells.Particles, np.ndarray]:
    """Let the particles fall for STEPS moves; the crowd, and how many moves needed how many tests."""
    crowd, velocity, counts = (
        cells.Particles(env, points, "darts"),
        np.zeros_like(points),
        np.zeros(MOST_TESTS + 1, int),
    )
    for step in range(STEPS):
        if callable(change):
            change(step)
            crowd.settle()
        angle = 2 * np.pi * step / TURN
        velocity += time_step * GRAVITY * np.array([0.0, np.sin(angle), -np.cos(angle)])
        moves = crowd.move(crowd.position + time_step * velocity)
        hit = moves.status == cells.COLLISION
        normal = moves.normal[hit]
        velocity[hit] -= (1 + BOUNCE) * (velocity[hit] * normal).sum(axis=1, keepdims=True) * normal
        counts += np.bincount(np.minimum(moves.tests, MOST_TESTS), minlength=MOST_TESTS + 1)
    return crowd, counts


def count_lost(crowd: cells.Particles) -> int:
    """Particles that are not in their closed cell, or that an obstacle has: located anew, without what the walk remembers."""
    fresh = cells.Particles(crowd.environment, crowd.position)  # refuses points outside and in obstacles
    return int((crowd.environment.obstacle[fresh.cell]).sum() + (len(fresh) != len(crowd)))


def draw(histograms: dict[str, np.ndarray]) -> str:
    """One bar chart for all scenes."""
    bars = ['<rect width="760" height="340" fill="white"/><g font-family="sans-serif" font-size="12">']
    for number, (name, counts) in enumerate(histograms.items()):
        share = counts / counts.sum()
        bars.append(
            f'<text x="560" y="{30 + 18 * number}" fill="{COLORS[number]}">{name}: {share @ np.arange(len(share)):.2f}</text>'
        )
        for tests, value in enumerate(share):
            x, height = 40 + 42 * tests + 9 * number, 260 * value
            bars.append(
                f'<rect x="{x}" y="{300 - height:.1f}" width="8" height="{height:.1f}" fill="{COLORS[number]}"/>'
            )
    labels = [f'<text x="{50 + 42 * tests}" y="316">{tests}</text>' for tests in range(MOST_TESTS + 1)]
    bars += [*labels, '<text x="40" y="334">orientation tests a move; means at the top right</text></g>']
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 340">{"".join(bars)}</svg>'


def main() -> None:
    """Run the four scenes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", type=Path)
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    inside = rng.uniform(0.05, 0.95, (COUNT, 3)) * SIZE
    still, bent, cut = (cells.channel(5, 5, 28) for _ in range(3))
    rest = bent.vertices
    network = abut.scenes.vessel_network()
    middles = network.vertices[network.tetrahedra[rng.integers(len(network.tetrahedra), size=COUNT)]].mean(axis=1)
    scenes = {
        "turning channel": (still, inside, 0.01, None),
        "bending channel": (bent, inside, 0.01, lambda step: bent.deform(bend(rest, step))),
        "vessel network": (cells.tetrahedra(network.vertices, network.tetrahedra), middles, 0.005, None),
        "channel being cut": (cut, inside, 0.01, lambda step: close_a_gap(cut, step)),
    }
    histograms: dict[str, np.ndarray] = {}
    for name, (env, points, time_step, change) in scenes.items():
        crowd, histograms[name] = flow(env, points, time_step, change)
        mean = histograms[name] @ np.arange(MOST_TESTS + 1) / histograms[name].sum()
        print(f"{name}: {COUNT * STEPS:,} moves, {mean:.2f} orientation tests a move")
        assert count_lost(crowd) == 0
        assert env.check_integrity() == []
    assert cut.cell_count == 705
    if arguments.picture:
        arguments.picture.write_text(draw(histograms), encoding="utf-8")


if __name__ == "__main__":
    main()
