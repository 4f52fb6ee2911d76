"""`abut untangle`: a mesh with its faces moved apart, written to a file."""

from pathlib import Path

from rich.console import Console

from abut.app.output.exit_codes import CLEAN, COLLISIONS
from abut.app.output.files import prepare
from abut.app.output.progress import bar_shown
from abut.discrete import untangle
from abut.mesh import load


def run(mesh: Path, out: Path, console: Console, errors: Console, *, most_rounds: int) -> int:
    """Write what `abut.untangle` makes of a mesh, also where some faces still cut. The exit code tells."""
    given = load(mesh)
    prepare([mesh], {"--out": out})
    with bar_shown("untangling", "{task.fields[note]}", errors, note="") as move:
        first = 0

        def show(rounds: int, pairs: int) -> None:
            nonlocal first
            first = max(first, pairs)
            move(first - pairs, max(first, 1), note=f"round {rounds}, {pairs:,} pairs of faces cut")

        result = untangle(given, most_rounds=most_rounds, progress=show)
    result.mesh.save(out)
    console.print(f"{first:,} pairs of faces cut each other at first; the largest move is {result.largest_move:.3g}.")
    if not result:
        pairs = zip(result.face_a.tolist(), result.face_b.tolist(), strict=True)
        named = ", ".join(f"{a} and {b}" for a, b in list(pairs)[:5])
        console.print(f"{len(result.face_a):,} still do after {result.rounds} rounds: faces {named} …", highlight=False)
    console.print(f"written: {out}", markup=False, highlight=False, soft_wrap=True)
    return CLEAN if result else COLLISIONS
