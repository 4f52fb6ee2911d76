"""Three rough contours, and every place where they cross: the third situation of Rivera 2002, figure 9.

python examples/contours.py [--picture contours.svg]
"""

import argparse
from pathlib import Path

import numpy as np

from abut import contours, scenes
from abut.contours import picture


def main(path: Path | None = None) -> None:
    """Find the crossings, ask again in another way, and draw them."""
    scene = scenes.rough_contours()
    poses = scene.situations["contacts between all"]
    near, hits = contours.collide_all(scene.contours, poses)
    placed = [contour.moved(pose) for contour, pose in zip(scene.contours, poses, strict=True)]
    for row, (a, b) in enumerate(near):
        assert contours.meets(placed[a], placed[b]) == bool((hits.query == row).any())
        for point in hits.point[hits.query == row]:
            assert contours.distance(placed[a], placed[b]).distance[0] <= 0.0
            for curve in (placed[a], placed[b]):  # the crossing lies on both
                ends = curve.flatten(1e-6)
                assert np.hypot(*(ends - point).T).min() < 0.01
    print(f"{len(hits)} contacts of {len(near)} pairs")
    if path is not None:
        path.write_text(picture.draw(placed, hits), encoding="utf-8")
        print(f"the picture is {path}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--picture", type=Path)
    main(parser.parse_args().picture)
