"""The surfaces of `abut.scenes`, side by side, without a window.

python examples/scenes.py [--picture scenes.svg]

The run ends in assertions: all but the cloth are closed, and their volumes are those of the solids they stand for, or a little less.
"""

import argparse
from pathlib import Path

import numpy as np

import abut
from abut.mesh.picture import draw_mesh

COLORS = [(104, 146, 196), (222, 160, 150), (200, 182, 154), (150, 190, 140), (190, 170, 210)]
SPACING = 2.6
VIEW = np.array([0.25, -1.0, 0.55])
ALONG = np.array([1.0, 0.25, 0.0])  # across the view


def make() -> dict[str, abut.Mesh]:
    """One of each, all about two units wide."""
    return {
        "icosphere": abut.scenes.icosphere(2),
        "box": abut.scenes.box((1.4, 1.4, 1.4)),
        "torus": abut.scenes.torus(0.8, 0.3, 36, 18),
        "bumpy": abut.scenes.bumpy(1200, seed=1, roughness=0.5),
        "cloth": abut.scenes.cloth(12, 12, 1.8),
    }


def draw(surfaces: dict[str, abut.Mesh]) -> str:
    """All in a row, from left to right."""
    vertices, faces, colors = [], [], []
    for i, (surface, color) in enumerate(zip(surfaces.values(), COLORS, strict=True)):
        faces.append(surface.faces + sum(map(len, vertices)))
        vertices.append(surface.vertices + SPACING * i * ALONG)
        colors.append(np.tile(color, (len(surface), 1)))
    row = abut.Mesh(np.concatenate(vertices), np.concatenate(faces))
    return draw_mesh(row, np.concatenate(colors), towards=VIEW)


def main() -> None:
    """Make them, measure them, and draw them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", type=Path, help="write the picture to this SVG file")
    picture = parser.parse_args().picture
    surfaces = make()
    solids = {
        "icosphere": 4 / 3 * np.pi,
        "box": 1.4**3,
        "torus": 2 * np.pi**2 * 0.8 * 0.3**2,
    }
    for name, surface in surfaces.items():
        volume = f"volume {surface.volume:.3f}" if surface.is_closed else "open"
        print(f"{name:10} {len(surface.vertices):5,} vertices, {len(surface):5,} faces, {volume}")
        assert surface.is_closed == (name != "cloth")
        if name in solids:
            assert 0.95 * solids[name] < surface.volume <= solids[name] * (1 + 1e-12)
    if picture is not None:
        picture.write_text(draw(surfaces), encoding="utf-8")
        print(f"written: {picture}")


if __name__ == "__main__":
    main()
