"""Volume meshes from files (by meshio) and from meshio-like objects: points, blocks of cells of one kind, and what regions they say.

Five kinds of files are read: Gmsh (.msh), VTK (.vtk, .vtu), Medit (.mesh) and Abaqus (.inp). For any other that meshio knows, hand over what
`meshio.read` returns. meshio prints what it cannot read, and ends the process; both are caught here.
"""

import contextlib
import importlib
import io
import os
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from abut.core import arrays
from abut.core.arrays import Floats
from abut.core.errors import InvalidInput, Unsupported
from abut.core.types import PathLike
from abut.mesh.reading import MeshioLike, path_of

VolumeLike: TypeAlias = PathLike | MeshioLike
"""A file of cells, or a mesh of meshio's."""
FORMATS = {".msh": "gmsh", ".vtk": "vtk", ".vtu": "vtu", ".mesh": "medit", ".inp": "abaqus"}
"""The module of meshio that reads each kind of file."""


class Block(NamedTuple):
    """Cells of one kind."""

    number: int
    """of the block, in its file"""
    kind: str
    """as meshio calls it"""
    rows: Any
    """corners, not checked yet"""


class VolumeMesh(NamedTuple):
    """What a file or an object holds."""

    name: str
    """of the source, before what is said about it; empty for an object"""
    points: Floats
    """(n,3), or (n,2)"""
    blocks: list[Block]
    cell_data: dict[str, list[Any]]
    """for each name an array for each block"""
    cell_sets: dict[str, list[Any]]
    """for each name the rows that belong to it, for each block"""
    field_data: dict[str, Any]
    """Gmsh's physical groups: tag and dimension by name"""

    def label(self, what: str) -> str:
        """How a message calls something of the source."""
        return f"{self.name}: {what}" if self.name else what


def read_volume(source: VolumeLike) -> VolumeMesh:
    """A file or an object, its points checked."""
    if isinstance(source, str | bytes | os.PathLike):
        file = path_of(source)
        return _take_apart(_read_file(str(file), file.suffix.lower()), str(file))
    try:
        is_mesh = hasattr(source, "points") and hasattr(source, "cells")
    except Exception:
        is_mesh = False
    if not is_mesh or isinstance(source, type):
        raise InvalidInput("source", f"is a {type(source).__name__}, expected a path or a mesh of meshio's")
    return _take_apart(source, "")


def _read_file(file: str, suffix: str) -> Any:
    if not os.path.isfile(file):
        raise InvalidInput(file, "is not a file" if os.path.exists(file) else "does not exist")
    if suffix not in FORMATS:
        known = ", ".join(FORMATS)
        raise Unsupported(f"{file}: cells are not read from files of kind {suffix!r}, but from {known}")
    try:
        reader: Any = importlib.import_module(f"meshio.{FORMATS[suffix]}")
    except ImportError as error:
        raise Unsupported(f'cells from files need the mesh extra: pip install "abut[mesh]" ({error})') from error
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return reader.read(file)
    except MemoryError:
        raise
    except (Exception, SystemExit) as error:
        raise InvalidInput(file, f"cannot be read ({type(error).__name__}: {error})") from error


def _take_apart(mesh: Any, name: str) -> VolumeMesh:
    label = f"{name}: points" if name else "points"
    raw = arrays.as_array(mesh.points, label)
    points = arrays.points(raw, label, dimensions=2 if raw.ndim == 2 and raw.shape[1] == 2 else 3, keep=True)
    label = f"{name}: cells" if name else "cells"
    blocks: list[Block] = []
    given: Any = list(mesh.cells.items()) if isinstance(mesh.cells, Mapping) else mesh.cells
    for number, block in enumerate(arrays.listed(given, label)):
        try:
            kind, rows = (block.type, block.data) if hasattr(block, "type") else (block[0], block[1])
        except (TypeError, IndexError, KeyError, AttributeError) as error:
            raise InvalidInput(label, "is no block of a kind and its rows", number) from error
        if not isinstance(kind, str):
            raise InvalidInput(label, "is no block of a kind and its rows", number)
        blocks.append(Block(number, kind, rows))
    data, sets = (_read_tables(getattr(mesh, k, None), k, len(blocks), name) for k in ("cell_data", "cell_sets"))
    field_data = getattr(mesh, "field_data", None)
    return VolumeMesh(name, points, blocks, data, sets, dict(field_data) if isinstance(field_data, Mapping) else {})


def _read_tables(given: Any, what: str, count: int, name: str) -> dict[str, list[Any]]:
    """Tables by name that have an entry for each block."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InvalidInput(f"{name}: {what}" if name else what, "are no tables by name")
    found: dict[str, list[Any]] = {}
    for key, table in given.items():
        if not isinstance(table, list | tuple) or len(table) != count:
            raise InvalidInput(f"{name}: {what}" if name else what, f"{key!r} has no entry for each of {count} blocks")
        found[str(key)] = list(table)
    return found


def as_tags(values: Any, count: int) -> Any:
    """(count,) whole numbers, or None where a table holds anything else."""
    try:
        tags = np.asarray(values)
        if tags.shape != (count,) or tags.dtype.kind not in "iuf":
            return None
        whole = tags.astype(np.int64)
    except (TypeError, ValueError, OverflowError):
        return None
    return whole if np.array_equal(whole, tags) else None
