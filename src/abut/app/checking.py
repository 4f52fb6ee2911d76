"""`abut.check`: the same job from a script or a notebook."""

import contextlib
import importlib
import os
import tempfile
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from abut.app.check import documents
from abut.app.check.arguments import read_bodies
from abut.app.check.bodies import ArrayFrames, Ensemble, Sequenced
from abut.app.check.findings import Incidents, Rows
from abut.app.check.frames import Frames
from abut.app.check.job import MOST_FINDINGS, Progress, Report, as_checked
from abut.app.check.job import check as run
from abut.app.check.search import Options
from abut.app.check.sources.motions import Track
from abut.app.check.sources.opening import Sampling
from abut.app.check.store import open_store
from abut.app.output.files import prepare, write_file
from abut.app.report import write_report
from abut.core import arrays
from abut.core.errors import InvalidInput, Unsupported
from abut.core.types import IndicesLike, Number, PathLike
from abut.mesh import Mesh, MeshLike, as_mesh
from abut.mesh.reading import path_of

BodyLike: TypeAlias = PathLike | MeshLike | Sequence[PathLike | MeshLike] | tuple[ArrayLike, IndicesLike]
"""A body: files, a glob or a folder; a mesh; meshes of one connectivity; or positions (k,n,3) and faces (m,3)."""


@dataclass(frozen=True, eq=False, repr=False)
class Findings:
    """Every collision of an animation, as `check` found them. Rows are in order of frame, kind, a and b.

    Examples:
        >>> import abut
        >>> squares = [[[0, 0, 0], [2, 0, 0], [0, 2, 0], [0.2, 0.2, z], [0.8, 0.2, z], [0.2, 0.8, z]] for z in (1, -1)]
        >>> found = abut.check((squares, [[0, 1, 2], [3, 4, 5]]))
        >>> found, found.rows.time.round(6).tolist()
        (Findings(3 collisions in 2 frames), [0.5, 0.5, 0.5])
    """

    _frames: Ensemble
    _report: Report

    def __len__(self) -> int:
        return len(self.rows.kind)

    def __bool__(self) -> bool:
        return self._report.found > 0

    def __repr__(self) -> str:
        frames, found = len(self._report.names), self._report.found
        bad = f", {len(self._report.bad)} bad" if self._report.bad else ""
        return f"Findings({found:,} collisions in {frames:,} frames{bad})"

    @property
    def rows(self) -> Rows:
        """One array a column: frame, kind, a, b, time, point, normal, depth."""
        return self._report.findings

    @property
    def bodies(self) -> tuple[str, ...]:
        """The names of the bodies; one empty name where there is one."""
        return self._report.labels.names

    @property
    def body_a(self) -> arrays.Integers:
        """(n,) the body of a, as a number in `bodies`."""
        return self._report.labels.of(self.rows)[0]

    @property
    def body_b(self) -> arrays.Integers:
        """(n,) the body of b, as a number in `bodies`."""
        return self._report.labels.of(self.rows)[1]

    @property
    def incidents(self) -> Incidents:
        """Contacts that belong together in place and time: start, end, the worst row, counts, and the incident of each row."""
        return self._report.incidents

    @property
    def counts(self) -> arrays.Integers:
        """(k,4) collisions of each frame and the step that leaves it: vertex–face, edge–edge, face–face, contained.

        Also those beyond `max_findings`.
        """
        return self._report.counts

    @property
    def names(self) -> list[str]:
        """Of the frames."""
        return list(self._report.names)

    @property
    def bad(self) -> dict[int, str]:
        """Frames that could not be read or searched, by number: the reason."""
        return dict(self._report.bad)

    @property
    def skipped(self) -> dict[int, str]:
        """Steps that were not checked, by the number of the frame they leave: the reason."""
        return dict(self._report.skipped)

    @property
    def is_clean(self) -> bool:
        """Whether everything was checked and nothing collides."""
        return not (self._report.found or self._report.bad or self._report.skipped)

    def to_dict(self) -> dict[str, Any]:
        """The document that `abut check --json` writes."""
        return documents.describe(self._report)

    def to_arrow(self) -> Any:
        """All rows as a `pyarrow.Table`, vectors as x, y and z.

        Raises:
            Unsupported: pyarrow is not installed.
        """
        try:
            pyarrow: Any = importlib.import_module("pyarrow")
        except ImportError as error:
            raise Unsupported("Arrow tables need pyarrow; install it with: pip install 'abut[table]'") from error
        return pyarrow.table(documents.flat_columns(self._report))

    def save(self, path: PathLike) -> None:
        """Write all rows (`.npz`, `.csv`, `.parquet`), the document (`.json`) or the page that shows them in 3D (`.html`).

        Args:
            path: the file; its suffix tells the kind. It is replaced in one go.

        Raises:
            InvalidInput: the file cannot be written, or is one of the frames.
            Unsupported: of a kind that is not written.
        """
        file = path_of(path)
        suffix = file.suffix.lower()
        if suffix not in (".json", ".html"):
            documents.check_table(file)
        prepare(self._frames.paths, {"path": file})
        if suffix == ".html":
            names = self._report.names
            write_report(file, as_checked(self._frames, self._report), title=f"{names[0]} … {names[-1]}")
        elif suffix == ".json":
            write_file(file, (documents.to_json(self._report) + "\n").encode())
        else:
            documents.write_table(file, self._report)

    def show(self) -> Path:
        """Write the page into a temporary folder and open it in the browser; returns where it lies."""
        page = Path(tempfile.mkdtemp(prefix="abut-")) / "findings.html"
        self.save(page)
        webbrowser.open(page.as_uri())
        return page


def check(
    frames: BodyLike | Mapping[str, BodyLike],
    *,
    at_frames: bool = True,
    between: bool = True,
    containment: bool = True,
    min_distance: Number = 0.0,
    ignore: Sequence[tuple[str, str]] = (),
    thickness: Mapping[str, Number] | None = None,
    motions: Mapping[str, PathLike | ArrayLike] | None = None,
    fps: Number | None = None,
    clip: str | None = None,
    jobs: int = 1,
    cluster: str | None = None,
    work: PathLike | None = None,
    max_findings: int = MOST_FINDINGS,
    progress: Callable[[Progress], None] | None = None,
) -> Findings:
    """Every collision of an animation: at its frames, and in the steps between them, where vertices move on straight lines.

    Args:
        frames: one body, or several by name. A body is files (a path, a glob, a folder, a list of such), a mesh, a list of meshes of one
            connectivity, or positions (k,n,3) and faces (m,3). Bodies have the same number of frames, or one, which stands still.
        at_frames: search each frame for faces that cut each other.
        between: search each step between frames for features that meet.
        containment: search each frame for pieces that lie inside a closed piece.
        min_distance: features meet in a step when they come this close.
        ignore: pairs of names of bodies that are not searched; a body with itself is one too.
        thickness: of bodies that are thicker than their surface; half of it lies on each side.
        motions: of bodies of one frame: poses (k,4,4) or points (k,n,3), or a file of them.
        fps: frames a second of animations in glTF (24) and USD files (as they say).
        clip: which animation of a glTF file, by name or number.
        jobs: processes, each with its share of the threads. The answer is the same whatever their number.
        cluster: the address of a Dask scheduler whose workers compute everything, or "local" for `jobs` workers here. Needs `work`, which all of
            them see, unless it is local.
        work: a folder (or an address that fsspec knows) that keeps what is done, so that the same call goes on from there; by default nothing is
            kept.
        max_findings: how many rows are kept; all are counted.
        progress: called after each frame with how many are done, of how many, and what was found.

    Returns:
        All rows, and what could not be checked.

    Raises:
        InvalidInput: no frame can be read, bodies have different numbers of frames, or a number is out of range.
        Unsupported: files of a kind that is not read.

    Examples:
        >>> import abut
        >>> ball = abut.scenes.icosphere(1)
        >>> falling = [ball.vertices + [0, 0, z] for z in (2.0, 1.1, 0.5)]
        >>> floor = abut.Mesh([[-9, -9, 0], [9, -9, 0], [0, 9, 0]], [[0, 1, 2]])
        >>> found = abut.check({"ball": (falling, ball.faces), "floor": floor})
        >>> bool(found), sorted({found.bodies[i] for i in found.body_a})
        (True, ['ball'])
    """
    sampling = Sampling(
        None if fps is None else arrays.scalar(fps, "fps", least=1e-6),
        _as_text(clip, "clip", "a name or a number as text"),
    )
    tracks = {name: _as_track(value, f"motions[{name!r}]") for name, value in _by_name(motions, "motions").items()}
    if _as_text(cluster, "cluster", "an address or 'local'") not in (None, "local") and work is None:
        raise InvalidInput("work", "is missing: workers elsewhere keep their results where this process finds them")
    if progress is not None and not callable(progress):
        raise InvalidInput("progress", f"is a {type(progress).__name__}, expected something to call")
    if isinstance(frames, Mapping):
        bodies = {str(name): _as_body(value, str(name), sampling) for name, value in frames.items()}
        if not bodies:
            raise InvalidInput("frames", "there are none")
        ensemble = Ensemble(bodies, tracks)
    elif (words := _as_paths(frames)) is not None:
        ensemble = read_bodies(words, sampling=sampling)
    else:
        ensemble = Ensemble({"": _as_body(frames, "frames", sampling)}, tracks)
    widths = {
        name: float(arrays.scalar(value, f"thickness of {name}"))
        for name, value in _by_name(thickness, "thickness").items()
    }
    options = Options(
        arrays.flag(at_frames, "at_frames"),
        arrays.flag(between, "between"),
        arrays.scalar(min_distance, "min_distance", least=0.0),
        arrays.flag(containment, "containment"),
        None,
        _as_pairs(ignore),
        tuple(widths.items()),
    )
    with tempfile.TemporaryDirectory(prefix="abut-check-") as folder:
        store = open_store(folder if work is None else work if isinstance(work, str) else path_of(work))
        report = run(
            ensemble,
            options,
            store=store,
            jobs=jobs,
            cluster=cluster,
            max_findings=max_findings,
            report=progress or _say_nothing,
        )
    return Findings(ensemble, report)


def _say_nothing(_: Progress) -> None:
    """Whom nobody listens to."""


def _as_paths(value: Any) -> list[str] | None:
    """Paths, where it is one or a list of such."""
    several: list[Any] | None = [value] if isinstance(value, str | os.PathLike) else _as_list(value)
    if several and all(isinstance(word, str | os.PathLike) for word in several):
        return [str(path_of(word)) for word in several]
    return None


def _as_text(value: Any, name: str, expected: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise InvalidInput(name, f"is a {type(value).__name__}, expected {expected}")


def _by_name(values: Any, what: str) -> dict[str, Any]:
    """What a dictionary from names has; of None nothing."""
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise InvalidInput(what, f"is a {type(values).__name__}, expected a dictionary by names of bodies")
    return {str(name): value for name, value in cast("Mapping[Any, Any]", values).items()}


def _as_pairs(ignore: Any) -> tuple[tuple[str, str], ...]:
    """Pairs of names."""
    pairs: list[tuple[str, str]] = []
    listed = _as_list(ignore)
    if listed is None:
        raise InvalidInput("ignore", f"is a {type(ignore).__name__}, expected pairs of names")
    for row, pair in enumerate(listed):
        names = _as_list(pair)
        if names is None or len(names) != 2 or not all(isinstance(name, str) for name in names):
            raise InvalidInput("ignore", "is no pair of names", row)
        pairs.append((names[0], names[1]))
    return tuple(pairs)


def _as_list(value: Any) -> list[Any] | None:
    """What a list or a tuple holds."""
    return list(cast("list[Any]", value)) if isinstance(value, list | tuple) else None


def _as_body(value: Any, name: str, sampling: Sampling) -> Sequenced:
    words = _as_paths(value)
    if words is not None:
        return Frames(words, sampling=sampling)
    several: list[Any] | None = _as_list(value)
    if several is not None and isinstance(value, tuple) and len(several) == 2:
        return _from_arrays(several[0], several[1], name)
    if several is not None:
        meshes = [as_mesh(one) for one in several]
        if not meshes:
            raise InvalidInput(name, "has no frames")
        for i, mesh in enumerate(meshes):
            if len(mesh.vertices) != len(meshes[0].vertices) or not np.array_equal(mesh.faces, meshes[0].faces):
                raise InvalidInput(name, "has another connectivity than the first one", i)
        return ArrayFrames([mesh.vertices for mesh in meshes], meshes[0].faces)
    mesh = as_mesh(cast("Any", value))
    return ArrayFrames([mesh.vertices], mesh.faces)


def _from_arrays(positions: Any, faces: Any, name: str) -> ArrayFrames:
    """(k,n,3) positions, or (n,3) of one frame."""
    several = False
    with contextlib.suppress(TypeError, ValueError, LookupError):  # what is no array of numbers is refused below
        several = np.ndim(positions[0]) == 2
    frames: list[Any] = list(cast("list[Any]", positions)) if several else [positions]
    shapes = [arrays.points(frame, f"{name}[{i}]") for i, frame in enumerate(frames)]
    for i, shape in enumerate(shapes):
        if len(shape) != len(shapes[0]):
            raise InvalidInput(name, f"has {len(shape)} vertices, but {len(shapes[0])} in the first frame", i)
    return ArrayFrames(shapes, Mesh(shapes[0], faces).faces)


def _as_track(value: Any, name: str) -> Track:
    if isinstance(value, str | os.PathLike):
        return Track(path_of(cast("Any", value)))
    try:
        rows = np.asarray(value)
    except ValueError as error:
        raise InvalidInput(name, f"is no array ({error})") from error
    return Track.of_array(rows, name)
