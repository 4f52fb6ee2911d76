"""A workshop's order: washers, tags that go into their holes, brackets that may be turned over; first on a hide with faults, then on boards.

python examples/nesting_workshop.py [--pictures FOLDER]

The drawing is written here as a drawing program would write it. The run ends in assertions: nothing overlaps, everything has a place, and what is
written is read again with all sizes as they were.
"""

import argparse
from pathlib import Path

import numpy as np

from abut import contours

DRAWING = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape"
  width="210mm" height="100mm" viewBox="0 0 210 100">
  <g inkscape:groupmode="layer" inkscape:label="cut" fill="none" stroke="#c8452d" stroke-width="0.4">
    <circle id="washer" cx="30" cy="30" r="28"/><circle cx="30" cy="30" r="19"/>
    <rect id="tag" x="70" y="2" width="28" height="16" rx="3"/><circle cx="74" cy="10" r="1.5"/>
    <path id="bracket" d="M120 2h50a6 6 0 0 1 0 12h-38v26h-12z m6 4v28h4v-28z"/>
    <path id="cam" d="M180 20c0-12 24-12 24 0s-6 30-12 30s-12-18-12-30z"/>
  </g>
  <g inkscape:groupmode="layer" inkscape:label="engrave" fill="none" stroke="#2d62c8" stroke-width="0.4">
    <path id="number" d="M80 7v6m4-6h4v3h-4v3h4"/><path id="mark" d="M186 18h12m-6-6v12"/>
  </g></svg>"""
HIDE = "M0 30C-5 0 40 12 80 4S150 0 160 30S150 90 130 100S60 90 40 100S5 60 0 30Z"
COPIES, MOVES = [4, 4, 6, 6], 1500


def main() -> None:
    """Read, nest, write, and read again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=Path)
    arguments = parser.parse_args()
    drawing = contours.drawings.read(DRAWING)
    fault = contours.Contour.from_svg("M75 50a6 6 0 0 1 12 0a6 6 0 0 1 -12 0z")
    hide = contours.Sheet(count=1, outline=contours.Contour.from_svg(HIDE), faults=[fault])
    board = contours.Sheet(160, 90, border=3)
    layout = contours.nest(
        drawing.parts,
        [hide, board],
        copies=COPIES,
        rotations_deg=[0, 90, 180, 270],
        mirror=True,
        gap=1.5,
        seconds=120,
        moves=MOVES,
    )
    print(
        f"{len(layout)} pieces on {len(layout.lengths)} sheets, {layout.density:.1%} filled, {int(layout.mirrored.sum())} turned over"
    )
    assert layout.find_overlap() is None
    assert not len(layout.unplaced)
    again = contours.drawings.read(layout.to_svg())
    assert len(again.parts) == sum(COPIES)
    sizes = [np.sort(np.ptp(part.bounds, axis=0)) for part in again.parts]
    own = [np.sort(np.ptp(drawing.parts[piece].bounds, axis=0)) for piece in layout.piece]
    assert np.abs(np.sort(sizes, axis=0) - np.sort(own, axis=0)).max() < 1e-6
    if arguments.pictures:
        (arguments.pictures / "nesting-workshop.svg").write_text(layout.to_svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
