"""A sequence of meshes of one connectivity, from what the command line names: files, globs, folders, `.npz` archives.

Frames are read when they are needed, one at a time. The connectivity is that of the first frame that can be read; a frame that has another
one, cannot be read or has a coordinate that is not finite raises when it is read, and spoils no other. Pickles hold paths only. Nothing but regular
files is read: a pipe would wait for ever, a device might have no end.

An archive holds `frames` (k,n,3), or `vertices` of that shape or (n,3) for one frame, and `faces` (m,3). Its positions are mapped, not loaded: see
`abut.app.check.archive`.
"""

import glob
import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from abut.app.check.archive import Archive, Unpacked, map_archive, open_regular, refuse_animation
from abut.core.arrays import Floats, Integers
from abut.core.errors import AbutError, InvalidInput
from abut.mesh import Mesh, load

MESH_SUFFIXES = frozenset({".glb", ".gltf", ".obj", ".off", ".ply", ".stl"})
"""What counts as a frame in a folder. Files named one by one, or by a glob, may be of any kind that can be read."""
CHUNK = 1 << 20
REFERRING_SUFFIXES = frozenset({".gltf"})
"""Kinds of file whose geometry may lie in other files: their own bytes do not tell whether they have changed."""


class _Source(NamedTuple):
    path: Path
    at: int | None
    """which frame of an archive of many"""


class Frames:
    """The frames by number: their names, and their vertices, read when needed. See the module for what is bad about a frame."""

    names: list[str]

    def __init__(self, arguments: Iterable[str | Path], *, keep_order: bool = False) -> None:
        """Files, globs and folders, together in natural order of their paths (frame2 before frame10) and each once.

        keep_order: as given instead, repetitions included; what a glob or a folder stands for is in natural order.
        """
        self._archive: tuple[Path, Archive | AbutError] | None = None
        self._unpacked = Unpacked()
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

    @property
    def paths(self) -> list[Path]:
        """The files that frames are read from, each once."""
        return list(dict.fromkeys(path for path, _ in self._sources))

    def find_gaps(self) -> dict[int, str]:
        """Steps over frames that seem to be missing, by the number of the frame they leave: what is missing.

        Of files that differ in one number only, it grows by the same amount from each to the next: by that of most steps where it is found more than
        once, else by one.
        """
        steps = [(i, *step) for i in range(len(self) - 1) if (step := _numbers_between(*self._sources[i : i + 2]))]
        (stride, times), *_ = Counter(last - first for _, first, last in steps).most_common(1) or [(1, 0)]
        usual = stride if times > 1 else 1
        return {
            i: f"nothing numbered {first + usual} to {last - usual}"
            if last - first > 2 * usual
            else f"nothing numbered {first + usual}"
            for i, first, last in steps
            if last - first > usual
        }

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
                digest.update(path.suffix.lower().encode() + b" ")
                with open_regular(path) as file:
                    while chunk := file.read(CHUNK):
                        digest.update(chunk)
        except (AbutError, OSError) as error:
            digest.update(f"unreadable: {error}".encode())
        return digest.hexdigest()

    def _read(self, i: int) -> Mesh:
        path, index = self._sources[i]
        if not _is_archive(path):
            refuse_animation(path)
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

    def _read_archive(self, path: Path) -> Archive:
        """The last archive is kept, for its frames are read one after another."""
        if self._archive is None or self._archive[0] != path:
            try:
                self._archive = path, map_archive(path, self._unpacked)
            except AbutError as error:
                self._archive = path, error
        content = self._archive[1]
        if isinstance(content, AbutError):
            raise content
        return content


def describe(error: AbutError, path: Path) -> str:
    """The error in words, without the path of the frame it is about, which is named before it."""
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
            paths += sorted((file for file in found if not file.is_dir()), key=natural_key)
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


def _numbers_between(before: _Source, after: _Source) -> tuple[int, int] | None:
    """The two numbers in which the names of two files differ, the second one larger; None for frames of archives and other names."""
    if before.at is not None or after.at is not None or before.path.parent != after.path.parent:
        return None
    words = [re.split(r"(\d+)", path.name) for path in (before.path, after.path)]
    if len(words[0]) != len(words[1]):
        return None
    other = [(x, y) for x, y in zip(*words, strict=True) if x != y]
    if len(other) != 1 or not (other[0][0].isdecimal() and other[0][1].isdecimal()):
        return None
    first, last = map(int, other[0])
    return (first, last) if last > first else None
