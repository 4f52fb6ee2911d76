"""A sequence of meshes of one connectivity, from what the command line names: files, globs, folders, `.npz` archives.

Frames are read when they are asked for, one at a time. The connectivity is that of the first frame that can be read; a frame that has another
one, cannot be read or has a coordinate that is not finite raises when it is read, and spoils no other. Pickles hold paths only.

An archive holds `frames` (k,n,3), or `vertices` of that shape or (n,3) for one frame, and `faces` (m,3).
"""

import glob
import hashlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut import arrays
from abut.arrays import Floats, Integers
from abut.errors import AbutError, InvalidInput
from abut.mesh import Mesh, load

MESH_SUFFIXES = frozenset({".glb", ".gltf", ".obj", ".off", ".ply", ".stl"})
"""What counts as a frame in a folder. Files named one by one, or by a glob, may be of any kind that can be read."""
POSITION_NAMES = ("frames", "vertices")
REFERRING_SUFFIXES = frozenset({".gltf"})
"""Kinds of file whose geometry may lie in other files: their own bytes do not tell whether they have changed."""


class _Source(NamedTuple):
    path: Path
    at: int | None
    """which frame of an archive of many"""


class _Archive(NamedTuple):
    positions: NDArray[Any]
    """(k,n,3) or (n,3)"""
    faces: NDArray[Any]


class Frames:
    """The frames by number: their names, and their vertices when asked for. See the module for what is bad about a frame."""

    names: list[str]

    def __init__(self, arguments: Iterable[str | Path], *, keep_order: bool = False) -> None:
        """Files, globs and folders, together in natural order of their paths (frame2 before frame10) and each once.

        keep_order: as given instead, repetitions included; what a glob or a folder stands for is in natural order.
        """
        self._archive: tuple[Path, _Archive | AbutError] | None = None
        self._sources: list[_Source] = []
        for path in _expand(arguments, keep_order):
            count = self._count(path)
            self._sources += [_Source(path, None)] if count is None else [_Source(path, i) for i in range(count)]
        if not self._sources:
            raise InvalidInput("frames", "there are none")
        one_folder = len({path.parent for path, _ in self._sources}) == 1
        self.names = [
            (path.name if one_folder else str(path)) + ("" if i is None else f"[{i}]") for path, i in self._sources
        ]
        self._mesh: Mesh | None = None
        self._first = 0

    def __len__(self) -> int:
        return len(self.names)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_archive": None}

    @property
    def mesh(self) -> Mesh:
        """The first frame that can be read. Raises InvalidInput where there is none."""
        if self._mesh is None:
            reason = ""
            for i in range(len(self)):
                try:
                    self._mesh, self._first = self._read(i), i
                    break
                except AbutError as error:
                    reason = reason or describe(error, self._sources[i].path)
            else:
                many = f"none of {len(self)} frames can be read; {self.names[0]}: " if len(self) > 1 else ""
                raise InvalidInput("frames" if many else self.names[0], many + reason)
        return self._mesh

    @property
    def faces(self) -> Integers:
        """(m,3) of every frame."""
        return self.mesh.faces

    def vertices(self, i: int) -> Floats:
        """(n,3) of frame i. Raises InvalidInput or Unsupported where it is bad; the reason does not repeat the name of the frame."""
        reference = self.mesh
        if i == self._first:
            return reference.vertices
        try:
            mesh = self._read(i)
        except AbutError as error:
            raise InvalidInput(self.names[i], describe(error, self._sources[i].path)) from error
        first = self.names[self._first]
        if len(mesh.vertices) != len(reference.vertices):
            counts = f"{len(mesh.vertices)} vertices, but {first} has {len(reference.vertices)}"
            raise InvalidInput(self.names[i], f"other connectivity: {counts}")
        if len(mesh.faces) != len(reference.faces):
            counts = f"{len(mesh.faces)} faces, but {first} has {len(reference.faces)}"
            raise InvalidInput(self.names[i], f"other connectivity: {counts}")
        if (mesh.faces != reference.faces).any():
            row = int(np.argmax((mesh.faces != reference.faces).any(axis=1)))
            corners = f"face {row} is {mesh.faces[row].tolist()}, but {reference.faces[row].tolist()} in {first}"
            raise InvalidInput(self.names[i], f"other connectivity: {corners}")
        return mesh.vertices

    def digest(self, i: int) -> str:
        """A hash of the content of frame i, without parsing it where its file holds all of it."""
        path, index = self._sources[i]
        digest = hashlib.sha256()
        try:
            if _is_archive(path):
                positions, faces = self._read_archive(path)
                for part in (positions if index is None else positions[index], faces):
                    digest.update(f"{part.dtype} {part.shape} ".encode() + np.ascontiguousarray(part).tobytes())
            elif path.suffix.lower() in REFERRING_SUFFIXES:
                mesh = self._read(i)
                digest.update(mesh.vertices.tobytes() + mesh.faces.tobytes())
            else:
                digest.update(path.suffix.lower().encode() + b" " + path.read_bytes())
        except (AbutError, OSError) as error:
            digest.update(f"unreadable: {error}".encode())
        return digest.hexdigest()

    def _read(self, i: int) -> Mesh:
        path, index = self._sources[i]
        if not _is_archive(path):
            return load(path)
        positions, faces = self._read_archive(path)
        return Mesh(positions if index is None else positions[index], faces)

    def _count(self, path: Path) -> int | None:
        """How many frames an archive of many has; None for a file of one frame, and for one that cannot be read."""
        if not _is_archive(path):
            return None
        try:
            positions = self._read_archive(path).positions
        except AbutError:
            return None
        return len(positions) if positions.ndim == 3 else None

    def _read_archive(self, path: Path) -> _Archive:
        """The last archive is kept, for its frames are asked for one after another."""
        if self._archive is None or self._archive[0] != path:
            try:
                self._archive = path, _load_archive(path)
            except AbutError as error:
                self._archive = path, error
        content = self._archive[1]
        if isinstance(content, AbutError):
            raise content
        return content


def describe(error: AbutError, path: Path) -> str:
    """The error in words, without the path of the frame it is about, which is said already."""
    return str(error).removeprefix(f"{path}: ")


def natural_key(path: Path) -> list[list[tuple[int, int, str]]]:
    """Orders paths as people do: numbers in them by value. Text that is the same but for leading zeros is ordered by it."""
    return [
        [(0, int(word), word) if word.isdecimal() else (1, 0, word) for word in re.split(r"(\d+)", part) if word]
        for part in path.parts
    ]


def _is_archive(path: Path) -> bool:
    return path.suffix.lower() == ".npz"


def _expand(arguments: Iterable[str | Path], keep_order: bool) -> list[Path]:
    paths: list[Path] = []
    for argument in arguments:
        path = Path(argument)
        if path.is_dir():
            paths += _list_folder(path)
        elif path.exists():
            paths.append(path)
        else:
            found = [Path(name) for name in glob.glob(str(argument), recursive=True)]
            if not found:
                has_pattern = glob.has_magic(str(argument))
                raise InvalidInput(str(argument), "matches no file" if has_pattern else "does not exist")
            paths += sorted((file for file in found if file.is_file()), key=natural_key)
    return paths if keep_order else sorted(set(paths), key=natural_key)


def _list_folder(folder: Path) -> list[Path]:
    files = [
        file for file in folder.iterdir() if file.suffix.lower() in MESH_SUFFIXES and not file.name.startswith(".")
    ]
    kinds = sorted({file.suffix.lower() for file in files})
    if not files:
        raise InvalidInput(str(folder), f"holds no meshes ({', '.join(sorted(MESH_SUFFIXES))})")
    if len(kinds) > 1:
        raise InvalidInput(
            str(folder),
            f"holds files of several kinds ({', '.join(kinds)}): name one, as in {folder / ('*' + kinds[0])}",
        )
    return sorted(files, key=natural_key)


def _load_archive(path: Path) -> _Archive:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            names = archive.files
            position_name = next((name for name in POSITION_NAMES if name in names), None)
            if position_name is None or "faces" not in names:
                held = ", ".join(names) or "nothing"
                raise InvalidInput(str(path), f"needs arrays 'frames' (or 'vertices') and 'faces', it has {held}")
            positions, faces = archive[position_name], archive["faces"]
    except (AbutError, MemoryError):
        raise
    except Exception as error:  # zipfile, zlib and NumPy have a dozen ways to say that a file is damaged
        raise InvalidInput(str(path), f"cannot be read ({type(error).__name__}: {error})") from error
    shape = positions.shape
    if len(shape) not in (2, 3) or shape[-1] != 3:
        raise InvalidInput(
            f"{path}: {position_name}", f"has shape {shape}, expected (k, n, 3) or, for one frame, (n, 3)"
        )
    if not shape[0]:
        raise InvalidInput(f"{path}: {position_name}", "is empty")
    # Said once here, and not for every frame.
    return _Archive(positions, arrays.indices(faces, f"{path}: faces", 3, shape[-2], keep=True))
