"""What meshio reads: VTK (`.vtk`, `.vtu`), their series (`.pvd`) and XDMF, single or over time.

The surface of what a file holds is taken: triangles and quadrilaterals as they are, of volumes the sides that one cell has alone. Points without a
face on that surface stay, so that the frames of a series have the same numbers.

Over time an XDMF grid has points of its own, or the first one's, moved by a vector at the points that is called displacement, disp or u.
"""

import contextlib
import importlib
import io
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np

from abut.app.check.sources.source import (
    SeenSource,
    Shape,
    Source,
    failures_named,
    hash_error,
    hash_file,
    open_regular,
)
from abut.core.arrays import Integers
from abut.core.errors import AbutError, InvalidInput, Unsupported
from abut.mesh import Mesh

T = TypeVar("T")

FLAT_CELLS = {"triangle": ((0, 1, 2),), "quad": ((0, 1, 2), (0, 2, 3))}
SIDES: dict[str, tuple[tuple[int, ...], ...]] = {
    "tetra": ((0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)),
    "pyramid": ((0, 3, 2, 1), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)),
    "wedge": ((0, 2, 1), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)),
    "hexahedron": ((0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)),
}
"""Sides of the cells of VTK, seen from outside."""
WITHOUT_FACES = frozenset({"vertex", "line", "line3"})
DISPLACEMENTS = ("displacement", "disp", "u")


class MeshioFile(Source):
    """A file of one frame."""

    def read(self, at: int) -> Shape:
        """Its surface."""
        return Shape(read_surface(self.path), None)


class PvdSeries(Source):
    """A ParaView collection: files at times, in the order of these."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._error: AbutError | None = None
        try:
            self._frames = _list_collection(path)
        except AbutError as error:
            self._frames, self._error = [], error
        self.count = len(self._frames) if self._error is None else None

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_frames": [frame.absolute() for frame in self._frames]}

    def files(self) -> list[Path]:
        """The collection and its files."""
        return [self.path, *self._frames]

    def read(self, at: int) -> Shape:
        """The surface at a time."""
        if self._error is not None:
            raise self._error
        return Shape(read_surface(self._frames[at]), None)

    def digest(self, at: int) -> str:
        """Of the file at that time."""
        return hash_error(self._error) if self._error is not None else hash_file(self._frames[at])


class XdmfSeries(SeenSource):
    """An XDMF file, whose heavy data may lie in an HDF5 file of its own; one frame where it holds no collection over time."""

    kept: ClassVar[dict[str, Any]] = {"_reader": None}

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._reader: Any = None
        try:
            self.count = _guarded(path, self._count)
        except AbutError:
            self.count = None

    def read(self, at: int) -> Shape:
        """The surface at a time."""
        if self.count is None:
            return Shape(read_surface(self.path), None)
        return Shape(_guarded(self.path, lambda: self._read(at)), None)

    def _open(self) -> Any:
        if self._reader is None:
            self._reader = _meshio(self.path).xdmf.TimeSeriesReader(self.path)
            self._first = self._reader.mesh_grid
        return self._reader

    def _count(self) -> int | None:
        root = ElementTree.parse(self.path).getroot()
        grids = [grid for grid in root.iter("Grid") if grid.get("CollectionType") == "Temporal"]
        return int(self._open().num_steps) if grids else None

    def _read(self, at: int) -> Mesh:
        reader = self._open()
        own = reader.collection[at]
        reader.mesh_grid = self._first
        points, cells = reader.read_points_cells()
        if own.find("Geometry") is not None:
            reader.mesh_grid = own
            points, own_cells = reader.read_points_cells()
            cells = own_cells or cells
        else:
            _, values, _ = reader.read_data(at)
            moved = next((values[name] for name in values if name.lower() in DISPLACEMENTS), None)
            if moved is not None:
                points = np.asarray(points, float) + np.asarray(moved, float).reshape(len(points), -1)
        return _surface(self.path, points, [(block.type, block.data) for block in cells])


def read_surface(path: Path) -> Mesh:
    """The surface of what a file holds."""

    def read() -> Mesh:
        with open_regular(path):
            pass
        mesh = _meshio(path).read(path)
        return _surface(path, mesh.points, [(block.type, block.data) for block in mesh.cells])

    return _guarded(path, read)


def _meshio(path: Path) -> Any:
    try:
        return importlib.import_module("meshio")
    except ImportError as error:
        what = f"{path}: files of kind {path.suffix!r} need meshio; install it with: pip install 'abut[mesh]'"
        raise Unsupported(what) from error


def _guarded(path: Path, read: Callable[[], T]) -> T:
    """The answer, or InvalidInput for whatever goes wrong: meshio prints, and ends the process."""
    told = io.StringIO()
    try:
        with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
            return read()
    except (AbutError, MemoryError):
        raise
    except ImportError as error:
        raise Unsupported(f"{path}: meshio needs another package to read it ({error})") from error
    except FileNotFoundError as error:
        raise InvalidInput(str(path), "does not exist") from error
    except (Exception, SystemExit) as error:
        said = " ".join(told.getvalue().split()) or str(error) or type(error).__name__
        raise InvalidInput(str(path), f"cannot be read ({said})") from error


def _surface(path: Path, points: Any, blocks: list[tuple[str, Any]]) -> Mesh:
    vertices = np.asarray(points, float)
    if vertices.ndim == 2 and vertices.shape[1] == 2:
        vertices = np.column_stack((vertices, np.zeros(len(vertices))))
    faces: list[Integers] = []
    sides: dict[int, list[Integers]] = {3: [], 4: []}
    for kind, data in blocks:
        rows = np.asarray(data, np.int64)
        if kind in FLAT_CELLS:
            faces.append(rows[:, FLAT_CELLS[kind]].reshape(-1, 3))
        elif kind in SIDES:
            for side in SIDES[kind]:
                sides[len(side)].append(rows[:, side])
        elif kind not in WITHOUT_FACES:
            raise Unsupported(f"{path}: cells of kind {kind!r} are not read")
    triangles, quads = (_alone(sides[corners], corners) for corners in (3, 4))
    found = [*faces, triangles, quads[:, FLAT_CELLS["quad"]].reshape(-1, 3)]
    if not sum(map(len, found)):
        raise InvalidInput(str(path), "holds no faces")
    return Mesh(vertices, np.concatenate(found))


def _alone(parts: list[Integers], corners: int) -> Integers:
    """The sides that one cell has alone: those between two cells are inside."""
    rows = np.concatenate([np.empty((0, corners), np.int64), *parts])
    _, inverse, counts = np.unique(np.sort(rows, axis=1), axis=0, return_inverse=True, return_counts=True)
    return rows[counts[inverse.reshape(-1)] == 1]


def _list_collection(path: Path) -> list[Path]:
    """The files of a ParaView collection by time. Several parts at one time are refused."""
    with failures_named(path), open_regular(path) as file:
        root = ElementTree.parse(file).getroot()
        found = [(float(entry.get("timestep", "0")), entry.attrib["file"]) for entry in root.iter("DataSet")]
    times = sorted({time for time, _ in found})
    if not found:
        raise InvalidInput(str(path), "names no files")
    if len(times) < len(found):
        raise Unsupported(f"{path}: names several files at one time")
    return [path.parent / name for _, name in sorted(found)]
