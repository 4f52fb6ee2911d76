"""`abut nest` from words to files: refuses what cannot work before the search starts, shows the used length live, writes a verified layout.

An interruption ends the search, and the best layout so far is written. Files are written in one go, after the verification.

The JSON document's schema is `abut.nest/1`, described in docs/nesting.md; fields may be added to it, none changes its meaning.
"""

import html
import json
import math
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from abut import contours
from abut.app.output.exit_codes import INTERRUPTED
from abut.app.output.files import STANDARD_OUTPUT, prepare, write_file
from abut.app.output.progress import bar_shown
from abut.contours import Layout, Part, Sheet
from abut.contours.drawings.dxf_reading import load_ezdxf
from abut.contours.nesting.sheets import read_millimetres, read_size
from abut.core.errors import InvalidInput

SCHEMA = "abut.nest/1"
FREE = "free"
MOST_WARNINGS = 20
LONGEST_NUMBER = 9
"""Digits of a number of copies: Python refuses to read thousands of them."""


class Options(NamedTuple):
    """What the command line says, in words."""

    pieces: Path
    sheet: list[str]
    copies: list[str]
    rotations: str
    gap: str
    seconds: float
    seed: int
    kerf: str = "0"
    border: str = "0"
    grain: float = 0.0
    priority: tuple[str, ...] = ()
    unit: str | None = None
    open_paths: str = "join"
    tolerance: str = "0.1"
    searches: int = 1
    preview: Path | None = None


def read_sheet(text: str, border: float, grain: float) -> Sheet:
    """`300x200`, `300mmx200mm`: width and height; `x200`: a strip; `2*300x200`: two of them; `hide.svg`: an irregular sheet with its faults."""
    number, star, size = text.partition("*")
    count = None
    if star:
        if not number.strip().isdecimal() or len(number.strip()) > LONGEST_NUMBER:
            raise InvalidInput("--sheet", f"{text!r} does not begin with a number of sheets")
        count = int(number)
    else:
        size = text
    if Path(size.strip()).suffix.lower() in (".svg", ".dxf"):
        drawing = contours.drawings.read(size.strip())
        part = max(drawing.parts, key=lambda part: part.outline.area)
        return Sheet(count=count, outline=part.outline, faults=part.holes, grain_deg=grain)
    width, height = read_size(size, "--sheet")
    return Sheet(width, height, count, border, None, (), grain)


def read_length(text: str, name: str) -> float:
    """`2`, `2mm`, `0.1in`: millimetres."""
    return read_millimetres(text, name)[0]


def read_rotations(text: str) -> list[float] | None:
    """`0,180`: degrees; `free`: None."""
    if text.strip().lower() == FREE:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InvalidInput("--rotations", f"{text!r} is neither a list of degrees such as 0,180 nor {FREE}") from None


def read_copies(words: Sequence[str], pieces: Sequence[Part], option: str = "--copies", default: int = 1) -> list[int]:
    """`3` for all pieces, `sleeve=2` for those of one id; later words override earlier ones."""
    copies = [default] * len(pieces)
    names = {piece.name for piece in pieces}
    for word in words:
        name, equals, number = word.rpartition("=")
        if not number.strip().isdecimal() or len(number.strip()) > LONGEST_NUMBER:
            raise InvalidInput(option, f"{word!r} is neither a number nor of the form ID=NUMBER")
        if equals and name not in names:
            raise InvalidInput(option, f"no outline has the id {name!r}")
        copies = [
            int(number) if not equals or piece.name == name else n for piece, n in zip(pieces, copies, strict=True)
        ]
    return copies


def run(options: Options, out: Path, json_out: Path | None, console: Console, errors: Console) -> int:
    """Nest, and write the layout and the document. Progress goes to `errors`, the summary to `console`; bad input raises before the search."""
    rotations, border = read_rotations(options.rotations), read_length(options.border, "--border")
    sheets = [read_sheet(text, border, options.grain) for text in options.sheet]
    tolerance = read_length(options.tolerance, "--tolerance")
    drawing = contours.drawings.read(
        options.pieces, unit=options.unit, open_paths=options.open_paths, tolerance=tolerance
    )
    pieces = drawing.parts
    settings: dict[str, Any] = {
        "copies": read_copies(options.copies, pieces),
        "priority": read_copies(options.priority, pieces, "--priority", 0),
        "rotations_deg": rotations,
        "gap": read_length(options.gap, "--gap"),
        "kerf": read_length(options.kerf, "--kerf"),
        "seconds": options.seconds,
        "seed": options.seed,
        "searches": options.searches,
    }
    json_file = None if json_out == STANDARD_OUTPUT else json_out
    prepare([options.pieces], {"--out": out, "--json": json_file, "--preview": options.preview})
    if out.suffix.lower() == ".dxf":
        load_ezdxf()
    for warning in drawing.warnings[:MOST_WARNINGS]:
        errors.print(f"abut: note: {warning}", markup=False, highlight=False, soft_wrap=True)
    if len(drawing.warnings) > MOST_WARNINGS:
        errors.print(
            f"abut: note: and {len(drawing.warnings) - MOST_WARNINGS} more",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )
    if options.preview is not None:
        page = options.preview

        def show(layout: Layout) -> None:
            write_file(page, draw_page(layout, is_done=False).encode())

        settings["better"] = show
    try:
        layout = _search(pieces, sheets, settings, errors)
    except KeyboardInterrupt:
        errors.print("Interrupted before there was a first layout; nothing was written.")
        return INTERRUPTED
    document = describe(layout, pieces, options) | {"warnings": list(drawing.warnings)}
    text = json.dumps(document, allow_nan=False, separators=(",", ":")) + "\n"
    write_file(out, (layout.to_dxf() if out.suffix.lower() == ".dxf" else layout.to_svg()).encode())
    written = [out]
    if options.preview is not None:
        write_file(options.preview, draw_page(layout, is_done=True).encode())
        written.append(options.preview)
    if json_out == STANDARD_OUTPUT:
        sys.stdout.write(text)
    elif json_out is not None:
        write_file(json_out, text.encode())
        written.append(json_out)
    shown = errors if json_out == STANDARD_OUTPUT else console
    shown.print(summary(layout), markup=False, highlight=False, soft_wrap=True)
    unplaced: list[int] = layout.unplaced.tolist()
    for piece, number in sorted(Counter(unplaced).items()):
        name = pieces[piece].name or f"piece {piece}"
        shown.print(f"no room for {number} of {name!r}", markup=False, highlight=False, soft_wrap=True)
    for path in written:
        shown.print(f"written: {path}", markup=False, highlight=False, soft_wrap=True)
    return INTERRUPTED if layout.interrupted else 0


def draw_page(layout: Layout, *, is_done: bool) -> str:
    """A page with the layout that looks for a better one every second until the search is done. It opens without a network."""
    refresh = "" if is_done else '<meta http-equiv="refresh" content="1">'
    state = "done" if is_done else "searching…"
    drawing = layout.to_svg().replace("<svg ", '<svg style="max-width:100%;height:auto" ', 1)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">{refresh}<title>abut nest</title></head>'
        f'<body style="font-family:sans-serif;margin:1rem"><p>{html.escape(summary(layout))} – {state}</p>{drawing}</body></html>\n'
    )


def _search(pieces: Sequence[Part], sheets: list[Sheet], settings: dict[str, Any], errors: Console) -> Layout:
    with bar_shown("nesting", "used length {task.fields[length]}", errors, length="–") as move:
        return contours.nest(
            pieces,
            sheets,
            **settings,
            progress=lambda share, length: move(share, 1.0, length=f"{length:.6g}" if length < math.inf else "–"),
        )


def summary(layout: Layout) -> str:
    """The layout in one sentence."""
    sheets = f"{len(layout.lengths)} sheets" if len(layout.lengths) > 1 else "1 sheet"
    state = "interrupted after" if layout.interrupted else "in"
    return (
        f"{len(layout)} pieces on {sheets}, used length {layout.length:.6g} mm, {layout.density:.1%} filled, "
        f"no overlap (verified exactly), {state} {layout.seconds:.1f} s"
    )


def describe(layout: Layout, pieces: Sequence[Part], options: Options) -> dict[str, Any]:
    """The document as plain Python values."""
    from abut import __version__

    rows = zip(
        layout.piece, layout.sheet, layout.angle_deg, layout.position, layout.polygons, layout.holes, strict=True
    )
    return {
        "schema": SCHEMA,
        "abut_version": __version__,
        "options": {**options._asdict(), "pieces": str(options.pieces), "preview": str(options.preview or "")},
        "sheet": {"width": layout.size[0] if layout.size[0] < math.inf else None, "height": layout.size[1]},
        "unit": "mm",
        "sheets": [[width if width < math.inf else None, height] for width, height in layout.sizes.tolist()],
        "unplaced": layout.unplaced.tolist(),
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
                "holes": [hole.tolist() for hole in holes],
            }
            for piece, sheet, angle, position, polygon, holes in rows
        ],
    }
