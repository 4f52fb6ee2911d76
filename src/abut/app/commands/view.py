"""`abut view`: the animation as a page that opens without a network, unchecked. Frames that cannot be read are named on it. A file of
cells (.msh, .vtu) is shown as an environment."""

import webbrowser
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console

from abut.app.check.arguments import read_bodies
from abut.app.check.bodies import Ensemble
from abut.app.check.findings import Checked
from abut.app.check.rows import empty_rows
from abut.app.output.files import prepare, write_file
from abut.app.report import write_view
from abut.cells import Environment, load
from abut.cells.build.volume_files import FORMATS
from abut.core.arrays import Floats
from abut.core.errors import AbutError, InvalidInput
from abut.mesh import as_mesh
from abut.viewer import show


def read_all(frames: Ensemble) -> Checked:
    """All frames, with no finding. In place of a bad one stands an empty array, and its reason is kept."""
    shapes: list[Floats] = []
    bad: list[tuple[str, str]] = []
    for i, name in enumerate(frames.names):
        try:
            shapes.append(frames.vertices(i))
        except AbutError as error:
            shapes.append(np.empty((0, 3)))
            bad.append((name, error.reason if isinstance(error, InvalidInput) else str(error)))
    return Checked(frames.names, frames.faces, shapes, empty_rows(), bad, 0.0)


def read_partition(name: str | Path) -> Environment | None:
    """The environment that a file of cells holds (`cells.load`); None for other files, and for those that have surfaces alone."""
    if Path(name).suffix.lower() not in FORMATS or not Path(name).is_file():
        return None
    try:
        return load(name)
    except AbutError:
        try:
            as_mesh(name)
        except AbutError:
            pass
        else:
            return None
        raise


def run(arguments: Sequence[str | Path], page: Path, console: Console, *, keep_order: bool, browse: bool) -> None:
    """Write the page, say where it lies, and open it in the browser if `browse`."""
    if len(arguments) == 1 and (space := read_partition(arguments[0])) is not None:
        prepare([Path(arguments[0])], {"--html": page})
        write_file(page, show(space, title=Path(arguments[0]).name).to_html().encode("utf-8"))
        console.print(f"written: {page}", markup=False, highlight=False, soft_wrap=True)
        if browse:
            webbrowser.open(page.absolute().as_uri())
        return
    frames = read_bodies(arguments, keep_order=keep_order)
    shown = read_all(frames)  # some frame can be read: nothing has been made on disk where none can
    prepare(frames.paths, {"--html": page})
    names = frames.names
    write_view(page, shown, title=names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}")
    console.print(f"written: {page}", markup=False, highlight=False, soft_wrap=True)
    if browse:
        webbrowser.open(page.absolute().as_uri())
