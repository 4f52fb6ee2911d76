"""The command `abut`: parses words, shows progress, turns exceptions into one line and an exit code. The work is done elsewhere."""

import io
import sys
import traceback
from pathlib import Path
from typing import Annotated

import click
import typer
from rich.console import Console

from abut import __version__
from abut.app.output.console import SafeConsole, discard, open_closed_streams
from abut.app.output.exit_codes import BAD_INPUT, INTERRUPTED, TERMINATED, UNFINISHED
from abut.core.errors import AbutError

TABLE_WIDTH = 100

app = typer.Typer(
    help="Every question of contact: do these things touch, where, when, how deep.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)
console: Console = SafeConsole()
errors: Console = SafeConsole(stderr=True)


def _print_version(wanted: bool) -> None:
    if wanted:
        console.print(f"abut {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Every question of contact: do these things touch, where, when, how deep."""


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the animation, the results and the page.")] = Path("out"),
) -> None:
    """Let a cloth fall on a ball, find every collision of its folds, and write a page that shows them."""
    from abut.app.commands import demo

    code = demo.run(out, console)
    if code in (INTERRUPTED, TERMINATED, UNFINISHED):  # that there are collisions is what the demonstration is about
        raise typer.Exit(code)


@app.command()
def check(
    frames: Annotated[
        list[str],
        typer.Argument(
            help="Meshes of one connectivity: files, globs, folders, archives or animations; NAME=FILES for each of several bodies."
        ),
    ],
    at_frames: Annotated[bool, typer.Option(help="Search each frame for faces that cut each other.")] = True,
    between: Annotated[bool, typer.Option(help="Search each step between frames for features that meet.")] = True,
    containment: Annotated[
        bool, typer.Option(help="Search each frame for pieces that lie inside a closed piece.")
    ] = True,
    min_distance: Annotated[
        float, typer.Option(min=0.0, help="Features meet in a step when they come this close.")
    ] = 0.0,
    out: Annotated[Path | None, typer.Option(help="Write all rows to a .npz, .csv or .parquet file.")] = None,
    json: Annotated[
        Path | None, typer.Option(help="Write the results as JSON; - prints them, and nothing else.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page that shows the collisions in 3D.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Worker processes.")] = 1,
    dask: Annotated[
        str | None,
        typer.Option(help="Compute on a cluster: the address of a Dask scheduler; or local, for --jobs workers here."),
    ] = None,
    work: Annotated[
        str,
        typer.Option(help="Folder, or s3://… and the like, that keeps what is done: a second run goes on from there."),
    ] = ".abut-check",
    max_findings: Annotated[int, typer.Option(min=1, help="Rows to keep at most; all are counted.")] = 1_000_000,
    max_memory: Annotated[
        float | None, typer.Option(min=1.0, help="MB that the search of one step may take; else as the mesh needs.")
    ] = None,
    keep_order: Annotated[
        bool, typer.Option("--keep-order", help="Take the frames as given, not in natural order.")
    ] = False,
    ignore: Annotated[
        list[str] | None,
        typer.Option(help="Two bodies that are not searched, as A:B; A:A leaves out what A does with itself."),
    ] = None,
    thickness: Annotated[
        list[str] | None, typer.Option(help="How thick a body is, as A=2: half of it lies on each side of the surface.")
    ] = None,
    motion: Annotated[
        list[str] | None, typer.Option(help="Poses or points of a body, as A=FILE: .npy, .npz, .csv, .mdd or .pc2.")
    ] = None,
    fps: Annotated[
        float | None, typer.Option(min=1e-6, help="Frames a second of animations in glTF (24) and USD (as they say).")
    ] = None,
    clip: Annotated[str | None, typer.Option(help="Which animation of a glTF file, by name or number.")] = None,
) -> None:
    """Find every collision of an animation, of its bodies with each other and themselves, at its frames and between them.

    Exit code: 0 clean, 1 collisions, 2 bad input (also where nothing collides but a frame is bad), 3
    could not finish, 130 interrupted, 143 terminated.
    """
    from abut.app.check import Options, arguments
    from abut.app.check.sources.opening import Sampling
    from abut.app.commands import check

    files = check.Files(out, json, html)
    memory = None if max_memory is None else int(max_memory * 1e6)
    left_out = tuple(arguments.split_words(ignore or (), ":", "ignore", "A:B"))
    thicknesses = arguments.read_thicknesses(thickness or ())
    options = Options(at_frames, between, min_distance, containment, memory, left_out, thicknesses)
    code = check.run(
        frames,
        options,
        files,
        console,
        errors,
        work=work,
        jobs=jobs,
        cluster=dask,
        max_findings=max_findings,
        keep_order=keep_order,
        sampling=Sampling(fps, clip),
        motions=motion or (),
    )
    raise typer.Exit(code)


def _complete_scene(incomplete: str) -> list[str]:
    from abut.scenes import PARTITIONS, PLANE_SCENES, WORLDS

    return [name for name in (*WORLDS, *PLANE_SCENES, *PARTITIONS) if name.startswith(incomplete)]


@app.command()
def simulate(
    scene: Annotated[
        str,
        typer.Argument(
            help="wall, dominoes, cards, arch, bridge, dolls, cradle, robot, pyramid, pile, stairs or cloth; in the plane contours or swarm; "
            "inside a partition channel, catheter, cubes, hand, vessel, press or passage.",
            autocompletion=_complete_scene,
        ),
    ],
    steps: Annotated[
        int | None, typer.Option(min=1, help="How many steps; without it, as many as the scene needs.")
    ] = None,
    size: Annotated[
        int | None, typer.Option(min=1, help="How many bodies, rows, stories, planks, stairs, squares or contours.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the motion to a .npz file.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page that plays the motion.")] = None,
) -> None:
    """Let bodies fall, collide and come to rest. Ctrl-C ends it; what there is by then is written.

    Exit code: 0, 2 bad input, 130 interrupted.
    """
    from abut.app.commands import simulate

    raise typer.Exit(simulate.run(scene, console, errors, steps=steps, size=size, out=out, html=html))


@app.command()
def view(
    frames: Annotated[
        list[str], typer.Argument(help="Meshes of one connectivity: files, globs, folders or .npz archives.")
    ],
    html: Annotated[Path, typer.Option(help="The page to write.")] = Path("out/view.html"),
    keep_order: Annotated[
        bool, typer.Option("--keep-order", help="Take the frames as given, not in natural order.")
    ] = False,
    browse: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
) -> None:
    """Show a mesh or an animation in 3D: writes one page that opens without a network, and opens it."""
    from abut.app.commands import view

    view.run(frames, html, console, keep_order=keep_order, browse=browse)


@app.command()
def untangle(
    mesh: Annotated[Path, typer.Argument(help="A mesh whose faces cut each other.")],
    out: Annotated[
        Path | None, typer.Option(help="The file to write. Default: MESH.untangled with its suffix.")
    ] = None,
    most_rounds: Annotated[int, typer.Option(min=1, help="After so many it gives up.")] = 200,
) -> None:
    """Move the vertices of a mesh until no face cuts another one, and no farther than that needs.

    Exit code: 0 clean, 1 some faces still cut (the file is written), 2 bad input.
    """
    from abut.app.commands import untangle

    target = out or mesh.with_name(f"{mesh.stem}.untangled{mesh.suffix}")
    raise typer.Exit(untangle.run(mesh, target, console, errors, most_rounds=most_rounds))


@app.command()
def nest(
    pieces: Annotated[
        Path, typer.Argument(help="An SVG or DXF drawing: each closed outline is a piece, with its holes and marks.")
    ],
    sheet: Annotated[
        list[str],
        typer.Option(
            help="Width x height: 300x200 (mm), 30cmx20cm; x200 for a strip; 2*300x200 for two; hide.svg for an irregular one. Repeat for more."
        ),
    ],
    copies: Annotated[
        list[str] | None, typer.Option(help="How many of each piece: a number, or ID=NUMBER for one outline.")
    ] = None,
    rotations: Annotated[str, typer.Option(help="Degrees a piece may be turned by: 0,180; or free.")] = "0",
    gap: Annotated[str, typer.Option(help="Least distance between pieces: 2, 2mm, 0.1in.")] = "0",
    kerf: Annotated[str, typer.Option(help="Width of the cut, added to the gap.")] = "0",
    border: Annotated[str, typer.Option(help="Along the sides of sheets, where nothing may lie.")] = "0",
    grain: Annotated[float, typer.Option(help="Degrees of the sheets' grain: rotations count from there.")] = 0.0,
    priority: Annotated[
        list[str] | None, typer.Option(help="ID=NUMBER: where not all fit, those with more go first.")
    ] = None,
    unit: Annotated[
        str | None, typer.Option(help="mm, cm, m, in, pt, pc or px: a unit of a drawing that does not say.")
    ] = None,
    open_paths: Annotated[
        str, typer.Option(help="join those whose ends meet, skip them all, or refuse the drawing.")
    ] = "join",
    tolerance: Annotated[str, typer.Option(help="Between ends that are joined.")] = "0.1",
    time: Annotated[float, typer.Option(help="Seconds to search.")] = 10.0,
    seed: Annotated[int, typer.Option(min=0, help="Of the random numbers.")] = 0,
    searches: Annotated[int, typer.Option(min=1, help="How many to run side by side: as many as there are cores.")] = 1,
    preview: Annotated[
        Path | None, typer.Option(help="A page that shows the best layout so far while the search runs.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="The layout as SVG or DXF. Default: PIECES.nested.svg, or .dxf")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Write the layout as JSON; - prints it, and nothing else.")] = None,
) -> None:
    """Put the pieces of a drawing on sheets, close together and without overlap, at true size in millimetres.

    Exit code: 0, 2 bad input, 130 interrupted (the best layout so far is written).
    """
    from abut.app.commands import nest

    options = nest.Options(
        pieces,
        sheet,
        copies or [],
        rotations,
        gap,
        time,
        seed,
        kerf,
        border,
        grain,
        tuple(priority or ()),
        unit,
        open_paths,
        tolerance,
        searches,
        preview,
    )
    suffix = ".dxf" if pieces.suffix.lower() == ".dxf" else ".svg"
    raise typer.Exit(nest.run(options, out or Path(f"{pieces.stem}.nested{suffix}"), json, console, errors))


@app.command(name="warm-up")
def warm_up(
    parts: Annotated[
        list[str] | None, typer.Argument(help="What to compile: collide, sweep, world …; everything if none is named.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes; one a core by default.")] = None,
) -> None:
    """Compile ahead for this very processor, at low priority, so that no first call waits."""
    from abut.app.commands import warm_up

    raise typer.Exit(warm_up.run(parts or [], jobs, console, errors))


@app.command()
def bench(
    names: Annotated[list[str] | None, typer.Argument(help="Which benchmarks; all of them if none is named.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="Only list the benchmarks.")] = False,
) -> None:
    """Run benchmarks and print what they measure."""
    from abut.app.bench import names as names_of_all
    from abut.app.bench import run

    if listed:
        for name in names_of_all():
            console.print(name)
        return
    # A pipe or a file has no width, and rich takes 80 columns for it: too few for some tables.
    wide = console if console.is_terminal else SafeConsole(width=max(TABLE_WIDTH, console.width))
    for name in names or names_of_all():
        run(name, wide)


def main() -> None:
    """Entry point. Exit code 0, 2 with one line for bad input, 3 where something else went wrong: 1 only ever means collisions."""
    open_closed_streams()
    for stream in (sys.stdout, sys.stderr):  # no character is a reason to fail, whatever the encoding is
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(_run())


def _run() -> int:
    try:
        code = _call()
        sys.stdout.flush()
    except BrokenPipeError:
        discard(sys.stdout)
        return UNFINISHED
    except OSError as error:
        discard(sys.stdout)
        _print_error(f"standard output cannot be written ({error.strerror or error})")
        return UNFINISHED
    return code


def _call() -> int:
    try:
        app()
    except AbutError as error:
        _print_error(str(error))
        return BAD_INPUT
    except SystemExit as error:  # how typer returns
        if isinstance(error.__context__, click.Abort):
            return INTERRUPTED
        return error.code if isinstance(error.code, int) else 0
    except OSError:
        raise
    except Exception:
        _print_traceback()  # Python would exit with 1
        return UNFINISHED
    return 0


def _print_error(line: str) -> None:
    try:
        errors.print(f"abut: {line}", style="red", markup=False, highlight=False, soft_wrap=True)
    except OSError:  # standard error is full too, or closed: the exit code tells
        discard(sys.stderr)


def _print_traceback() -> None:
    try:
        traceback.print_exc()
    except OSError:
        discard(sys.stderr)
