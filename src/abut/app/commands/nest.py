"""`abut nest` from words to files: refuses what cannot work before the search starts, shows the used length live, writes a verified layout.

An interruption ends the search, and the best layout so far is written. Files are written in one go, after the verification.

The JSON document's schema is `abut.nest/1`, described in docs/nesting.md; fields may be added to it, none changes its meaning.
"""

import json
import math
import sys
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from abut import contours
from abut.app.output.exit_codes import INTERRUPTED
from abut.app.output.files import STANDARD_OUTPUT, prepare, write_file
from abut.app.output.progress import bar_shown
from abut.contours import Contour, Layout
from abut.core.errors import InvalidInput

SCHEMA = "abut.nest/1"
FREE = "free"
LONGEST_NUMBER = 9
"""Digits of a number of copies: Python refuses to read thousands of them."""


class Options(NamedTuple):
    """What the command line says, in words."""

    pieces: Path
    sheet: str
    copies: list[str]
    rotations: str
    gap: float
    seconds: float
    seed: int


def read_sheet(text: str) -> tuple[float, float]:
    """`300x200`: width and height; `x200`: a strip."""
    width, cross, height = text.lower().replace("×", "x").partition("x")
    try:
        size = (float(width) if width.strip() else math.inf, float(height))
    except ValueError:
        size = (0.0, 0.0)
    if not cross or not size[0] > 0.0 or not 0.0 < size[1] < math.inf:
        raise InvalidInput("--sheet", f"{text!r} is not of the form 300x200, or x200 for a strip")
    return size


def read_rotations(text: str) -> list[float] | None:
    """`0,180`: degrees; `free`: None."""
    if text.strip().lower() == FREE:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InvalidInput("--rotations", f"{text!r} is neither a list of degrees such as 0,180 nor {FREE}") from None


def read_copies(words: list[str], pieces: list[Contour]) -> list[int]:
    """`3` for all pieces, `sleeve=2` for those of one id; later words override earlier ones."""
    copies = [1] * len(pieces)
    names = {piece.name for piece in pieces}
    for word in words:
        name, equals, number = word.rpartition("=")
        if not number.strip().isdecimal() or len(number.strip()) > LONGEST_NUMBER:
            raise InvalidInput("--copies", f"{word!r} is neither a number nor of the form ID=NUMBER")
        if equals and name not in names:
            raise InvalidInput("--copies", f"no outline has the id {name!r}")
        copies = [
            int(number) if not equals or piece.name == name else n for piece, n in zip(pieces, copies, strict=True)
        ]
    return copies


def run(options: Options, out: Path, json_out: Path | None, console: Console, errors: Console) -> int:
    """Nest, and write the layout and the document. Progress goes to `errors`, the summary to `console`; bad input raises before the search."""
    sheet, rotations = read_sheet(options.sheet), read_rotations(options.rotations)
    pieces = contours.svg.read(options.pieces)
    copies = read_copies(options.copies, pieces)
    json_file = None if json_out == STANDARD_OUTPUT else json_out
    prepare([options.pieces], {"--out": out, "--json": json_file})
    try:
        layout = _search(pieces, sheet, copies, rotations, options, errors)
    except KeyboardInterrupt:
        errors.print("Interrupted before there was a first layout; nothing was written.")
        return INTERRUPTED
    text = json.dumps(describe(layout, pieces, options), allow_nan=False, separators=(",", ":")) + "\n"
    write_file(out, layout.to_svg().encode())
    written = [out]
    if json_out == STANDARD_OUTPUT:
        sys.stdout.write(text)
    elif json_out is not None:
        write_file(json_out, text.encode())
        written.append(json_out)
    shown = errors if json_out == STANDARD_OUTPUT else console
    shown.print(summary(layout), markup=False, highlight=False, soft_wrap=True)
    for path in written:
        shown.print(f"written: {path}", markup=False, highlight=False, soft_wrap=True)
    return INTERRUPTED if layout.interrupted else 0


def _search(
    pieces: list[Contour],
    sheet: tuple[float, float],
    copies: list[int],
    rotations: list[float] | None,
    options: Options,
    errors: Console,
) -> Layout:
    with bar_shown("nesting", "used length {task.fields[length]}", errors, length="–") as move:
        return contours.nest(
            pieces,
            sheet,
            copies=copies,
            rotations_deg=rotations,
            gap=options.gap,
            seconds=options.seconds,
            seed=options.seed,
            progress=lambda share, length: move(share, 1.0, length=f"{length:.6g}" if length < math.inf else "–"),
        )


def summary(layout: Layout) -> str:
    """The layout in one sentence."""
    sheets = f"{len(layout.lengths)} sheets" if len(layout.lengths) > 1 else "1 sheet"
    state = "interrupted after" if layout.interrupted else "in"
    return (
        f"{len(layout)} pieces on {sheets}, used length {layout.length:.6g}, {layout.density:.1%} filled, "
        f"no overlap (verified exactly), {state} {layout.seconds:.1f} s"
    )


def describe(layout: Layout, pieces: list[Contour], options: Options) -> dict[str, Any]:
    """The document as plain Python values."""
    from abut import __version__

    rows = zip(layout.piece, layout.sheet, layout.angle_deg, layout.position, layout.polygons, strict=True)
    return {
        "schema": SCHEMA,
        "abut_version": __version__,
        "options": {**options._asdict(), "pieces": str(options.pieces)},
        "sheet": {"width": layout.size[0] if layout.size[0] < math.inf else None, "height": layout.size[1]},
        "lengths": layout.lengths.tolist(),
        "length": layout.length,
        "density": layout.density,
        "interrupted": layout.interrupted,
        "seconds": round(layout.seconds, 3),
        "moves": layout.moves,
        "placements": [
            {
                "piece": int(piece),
                "name": pieces[int(piece)].name,
                "sheet": int(sheet),
                "angle": float(angle),
                "position": position.tolist(),
                "polygon": polygon.tolist(),
            }
            for piece, sheet, angle, position, polygon in rows
        ],
    }
