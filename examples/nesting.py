"""Rough pieces on a strip, before and after: a first placement that falls together, then the search, and a check of both.

python examples/nesting.py [--pictures FOLDER]

The application that Rivera, Carvalho and Velho (2002) name for contours with rough detail. The pieces are closed splines with noise, straight
cuts and stars. The run ends in assertions: nothing overlaps, everything is there, and less length is used than before.
"""

import argparse
import math
from pathlib import Path

import numpy as np

from abut import contours

HEIGHT, COPIES, MOVES = 8.0, 4, 2000


def make_pieces() -> list[object]:
    """A leaf, a bean, a star and an angle; the first two are rough splines."""
    angle = np.linspace(0.0, 2 * np.pi, 24, endpoint=False)
    leaf = np.stack([1.6 * np.cos(angle), 0.7 * np.sin(angle)], axis=1)
    radius = 1.0 + 0.35 * np.cos(2 * angle) + 0.2 * np.sin(angle)
    bean = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    spikes = np.linspace(0.0, 2 * np.pi, 10, endpoint=False)
    reach = np.where(np.arange(10) % 2 == 0, 1.2, 0.6)
    star = np.stack([reach * np.cos(spikes), reach * np.sin(spikes)], axis=1)
    cut = [[0, 0], [3, 0], [3, 1], [1, 1], [1, 2.5], [0, 2.5]]
    return [contours.Contour(leaf, roughness=0.01, seed=1), contours.Contour(bean, roughness=0.01, seed=2), star, cut]


def main() -> None:
    """Nest with one move, then with many."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=Path)
    arguments = parser.parse_args()
    pieces = make_pieces()
    before, after = (
        contours.nest(
            pieces, (math.inf, HEIGHT), copies=COPIES, rotations_deg=[0, 90, 180, 270], seconds=60, moves=moves
        )
        for moves in (1, MOVES)
    )
    for name, layout in (("before", before), ("after", after)):
        print(f"{name}: used length {layout.length:.3f}, {layout.density:.1%} filled, {layout.moves} moves")
        assert layout.find_overlap() is None
        assert len(layout) == COPIES * len(pieces)
        if arguments.pictures:
            (arguments.pictures / f"nesting-{name}.svg").write_text(layout.to_svg(decimals=2), encoding="utf-8")
    assert after.length < 0.97 * before.length


if __name__ == "__main__":
    main()
