"""A block of tissue is cut by a blade, layer by layer, while particles flow through it: Jund 2010, §3.4.1, without a window.

python examples/cutting.py [--picture cutting.svg]

A thousand particles drift along a channel of 12×4×4 cubes. Every tenth step the blade goes one layer deeper: cells that its plane passes are cut, and
the cut is opened as a slit, which nothing passes. Particles pile up before it. When the blade is through the slit is pulled apart, and at the
end it is sewn up and they flow on. The run ends in assertions: nobody is lost, nobody passes the slit, and only cells at the blade are touched.
"""

import argparse
from pathlib import Path

import numpy as np

from abut import cells

COUNT, STEPS, LAYERS, SPEED, OPENING = 1000, 100, 4, 0.12, 0.125
SIZE = np.array([12, 4, 4])
POINT, NORMAL = np.array([6.0, 0.0, 0.0]), np.array([1.0, 0.25, 0.0])
FREE, HELD, BLADE = "#4878a8", "#b05a3c", "#c02828"


def cut_layer(env: cells.Environment, layer: int) -> np.ndarray:
    """Cut and open what the plane passes between two heights; the pairs of cells on either side."""
    middles = [
        env.vertices[np.unique(np.concatenate(env.faces_of(cell)))].mean(axis=0) for cell in range(env.cell_count)
    ]
    inside = [cell for cell, middle in enumerate(middles) if layer < 4.0 - middle[2] < layer + 1]
    heights = [(env.vertices[np.unique(np.concatenate(env.faces_of(cell)))] - POINT) @ NORMAL for cell in inside]
    passed = [
        cell for cell, height in zip(inside, heights, strict=True) if height.min() < -1e-9 and height.max() > 1e-9
    ]
    return env.cut(plane=(POINT, NORMAL), cells=passed, slit=True)


def far_side(env: cells.Environment, pairs: np.ndarray) -> np.ndarray:
    """The vertices that the far side of the slit has for itself."""
    before, behind = (
        np.unique(np.concatenate([c for cell in pairs[:, k] for c in env.faces_of(cell)])) for k in (1, 0)
    )
    own = np.setdiff1d(before, behind)
    return own[np.abs(side_of(env.vertices[own])) < 1e-9]


def pull(env: cells.Environment, rows: np.ndarray, width: float) -> None:
    """Move vertices along x."""
    vertices = env.vertices.copy()
    vertices[rows, 0] += width
    env.deform(vertices)


def side_of(points: np.ndarray) -> np.ndarray:
    """Height over the plane of the blade."""
    return (points - POINT) @ NORMAL


def draw(frames: list[tuple[int, np.ndarray, np.ndarray, np.ndarray]]) -> str:
    """Seen from the side, one strip a frame: outlines of the border cells, the particles, and the cut."""
    scale, strip = 60.0, 4 * 60.0 + 34.0
    shapes = [
        f'<rect width="780" height="{strip * len(frames) + 10}" fill="white"/><g font-family="sans-serif" font-size="13">'
    ]
    for number, (step, lines, points, held) in enumerate(frames):
        top = number * strip + 24.0
        shapes.append(f'<text x="20" y="{top - 6}">step {step}</text>')
        for (x0, z0), (x1, z1), is_cut in lines:
            color, width = (BLADE, 2.2) if is_cut else ("#c8c8c8", 0.7)
            shapes.append(
                f'<path d="M{20 + scale * x0:.1f} {top + scale * (4 - z0):.1f}L{20 + scale * x1:.1f} {top + scale * (4 - z1):.1f}" '
                f'stroke="{color}" stroke-width="{width}"/>'
            )
        for (x, _, z), is_held in zip(points, held, strict=True):
            shapes.append(
                f'<circle cx="{20 + scale * x:.1f}" cy="{top + scale * (4 - z):.1f}" r="2" fill="{HELD if is_held else FREE}"/>'
            )
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 780 {strip * len(frames) + 10:.0f}">{"".join(shapes)}</g></svg>'


def front_lines(env: cells.Environment, depth: int) -> list:
    """Edges of the cells in the front, y = 0, and whether they lie on a cut of so many layers."""
    found: dict[frozenset, tuple] = {}
    for cell in range(env.cell_count):
        for ring in env.faces_of(cell):
            points = env.vertices[ring]
            if (points[:, 1] == 0).all():
                for a, b in zip(points, np.roll(points, -1, axis=0), strict=True):
                    near = np.abs(side_of(np.array([a, b]))).max() < 1e-9 and min(a[2], b[2]) >= 4 - depth
                    found[frozenset((tuple(a), tuple(b)))] = (a[[0, 2]].tolist(), b[[0, 2]].tolist(), near)
    return list(found.values())


def main(picture: Path | None = None) -> None:
    """Run all steps."""
    rng = np.random.default_rng(0)
    env = cells.channel(*SIZE.tolist())
    crowd = cells.Particles(env, rng.uniform(0.05, 0.95, (COUNT, 3)) * np.array([4.0, 4.0, 4.0]), "darts")
    held = np.zeros(COUNT, bool)
    pairs: list[np.ndarray] = []
    frames, lip = [], np.empty(0, int)
    for step in range(STEPS):
        layer, at = divmod(step, 10)
        if at == 0 and layer < LAYERS:
            before = env.interior.version
            pairs.append(cut_layer(env, layer))
            renewed = np.unique(env.part_cell[env.interior.changed_since(before)])
            print(f"step {step}: {len(pairs[-1])} cells cut, {len(renewed)} of {env.cell_count} touched")
            assert len(renewed) <= 6 * len(pairs[-1])
        if step == 50:
            lip = far_side(env, np.concatenate(pairs))
            pull(env, lip, OPENING)
        if step == 60:
            pull(env, lip, -OPENING)
            together = np.concatenate(pairs)
            env.sew(together[:, 0], together[:, 1])
        crowd.settle()
        side = side_of(crowd.position)
        drift = np.array([SPEED, 0.0, 0.0]) + rng.normal(scale=0.05, size=(COUNT, 3))
        moves = crowd.move(np.clip(crowd.position + drift, 0.01, SIZE - 0.01))
        held = moves.status == cells.COLLISION
        if 40 <= step < 60:  # the blade is through
            assert not ((side < -1e-9) & (side_of(crowd.position) > OPENING + 1e-9)).any()
        if step in (9, 29, 55, 85):
            frames.append(
                (step, front_lines(env, len(pairs) if step < 60 else 0), crowd.position[::4].copy(), held[::4])
            )
    assert env.check_integrity() == []
    assert env.cell_count == 12 * 4 * 4 + sum(map(len, pairs))
    fresh = cells.Particles(env, crowd.position)  # refuses points outside
    assert len(fresh) == COUNT
    beyond = int((side_of(crowd.position) > 0.5).sum())
    print(f"{COUNT * STEPS:,} moves, {beyond} of {COUNT} particles beyond the seam at the end")
    assert beyond > COUNT // 4
    if picture is not None:
        picture.write_text(draw(frames), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--picture", type=Path, help="write an SVG here")
    main(parser.parse_args().picture)
