"""A sequence of meshes of one connectivity, from what the command line names: files, globs, folders, archives, animations.

Frames are read when they are needed, one at a time. A frame that cannot be read or has a coordinate that is not finite raises when it is read, and
spoils no other. The connectivity is that of the first frame that can be read; one that has another is read with its own. Pickles hold paths only.
Nothing but regular files is read: a pipe would wait for ever, a device might have no end. What files of many frames hold, say the modules of
`sources`.
"""

import glob
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from abut.app.check.sources.opening import MESH_SUFFIXES, Sampling, open_source
from abut.app.check.sources.source import Objects, Shape, Source
from abut.core.arrays import Floats, Integers
from abut.core.errors import AbutError, InvalidInput
from abut.mesh import Mesh


class _Place(NamedTuple):
    source: Source
    at: int | None
    """which frame of a file of many"""


class Frames:
    """The frames by number: their names, and their vertices, read when needed. See the module for what is bad about a frame."""

    names: list[str]

    def __init__(
        self, arguments: Iterable[str | Path], *, keep_order: bool = False, sampling: Sampling | None = None
    ) -> None:
        """Files, globs and folders, together in natural order of their paths (frame2 before frame10) and each once.

        keep_order: as given instead, repetitions included; what a glob or a folder stands for is in natural order.
        sampling: how animations become frames.
        """
        self._places: list[_Place] = []
        self._open: Source | None = None
        chosen = sampling or Sampling()
        for path in expand(arguments, keep_order):
            source = open_source(path, chosen)
            count = source.count
            self._places += [_Place(source, None)] if count is None else [_Place(source, i) for i in range(count)]
            source.release()
        if not self._places:
            raise InvalidInput("frames", "there are none")
        one_folder = len({place.source.path.parent for place in self._places}) == 1
        self.names = [
            (source.path.name if one_folder else str(source.path)) + ("" if i is None else f"[{i}]")
            for source, i in self._places
        ]
        self._shape: Shape | None = None
        self._first = 0

    def __len__(self) -> int:
        return len(self.names)

    @property
    def paths(self) -> list[Path]:
        """The files that frames are read from, each once."""
        sources = dict.fromkeys(place.source for place in self._places)
        return list(dict.fromkeys(path for source in sources for path in source.files()))

    def find_gaps(self) -> dict[int, str]:
        """Steps over frames that seem to be missing, by the number of the frame they leave: what is missing.

        Of files that differ in one number only, it grows by the same amount from each to the next: by that of most steps where it is found more than
        once, else by one.
        """
        steps = [(i, *step) for i in range(len(self) - 1) if (step := _numbers_between(*self._places[i : i + 2]))]
        (stride, times), *_ = Counter(last - first for _, first, last in steps).most_common(1) or [(1, 0)]
        usual = stride if times > 1 else 1
        return {
            i: f"nothing numbered {first + usual} to {last - usual}"
            if last - first > 2 * usual
            else f"nothing numbered {first + usual}"
            for i, first, last in steps
            if last - first > usual
        }

    @property
    def mesh(self) -> Mesh:
        """The first frame that can be read. Raises InvalidInput where there is none."""
        return self._find_shape().mesh

    @property
    def objects(self) -> Objects | None:
        """What the first frame that can be read names; None where it names nothing, or one object."""
        return self._find_shape().objects

    @property
    def faces(self) -> Integers:
        """(m,3) of every frame."""
        return self.mesh.faces

    def vertices(self, i: int) -> Floats:
        """(n,3) of frame i. Raises InvalidInput or Unsupported where it is bad or of other connectivity; the reason does not repeat its name."""
        vertices, other = self.shape(i)
        if other is not None:
            difference = tell_difference(other, self.mesh, self.names[self._first])
            raise InvalidInput(self.names[i], f"other connectivity: {difference}")
        return vertices

    def shape(self, i: int) -> tuple[Floats, Mesh | None]:
        """(n,3) of frame i, and its mesh where that has another connectivity than `mesh`. Raises where the frame is bad."""
        reference = self.mesh
        if i == self._first:
            return reference.vertices, None
        try:
            mesh = self._read(i).mesh
        except AbutError as error:
            raise InvalidInput(self.names[i], describe(error, self._places[i].source.path)) from error
        return mesh.vertices, mesh if tell_difference(mesh, reference, "") else None

    def digest(self, i: int) -> str:
        """A hash of the content of frame i, without parsing it where its file holds all of it."""
        source, at = self._places[i]
        self._turn_to(source)
        return source.digest(at or 0)

    def _find_shape(self) -> Shape:
        if self._shape is None:
            reason = ""
            for i in range(len(self)):
                try:
                    self._shape, self._first = self._read(i), i
                    break
                except AbutError as error:
                    reason = reason or describe(error, self._places[i].source.path)
            else:
                many = f"none of {len(self)} frames can be read; {self.names[0]}: " if len(self) > 1 else ""
                raise InvalidInput("frames" if many else self.names[0], many + reason)
        return self._shape

    def _read(self, i: int) -> Shape:
        source, at = self._places[i]
        self._turn_to(source)
        return source.read(at or 0)

    def _turn_to(self, source: Source) -> None:
        """One file of many is kept open at a time: frames are read one after another."""
        if self._open is not None and self._open is not source:
            self._open.release()
        self._open = source


def tell_difference(mesh: Mesh, other: Mesh, name: str) -> str:
    """What of the connectivity is not that of another mesh, which is called so; nothing where they are the same."""
    if len(mesh.vertices) != len(other.vertices):
        return f"{len(mesh.vertices)} vertices, but {name} has {len(other.vertices)}"
    if len(mesh.faces) != len(other.faces):
        return f"{len(mesh.faces)} faces, but {name} has {len(other.faces)}"
    if mesh.faces is other.faces or not (mesh.faces != other.faces).any():
        return ""
    row = int(np.argmax((mesh.faces != other.faces).any(axis=1)))
    return f"face {row} is {mesh.faces[row].tolist()}, but {other.faces[row].tolist()} in {name}"


def describe(error: AbutError, path: Path) -> str:
    """The error in words, without the path of the frame it is about, which is named before it."""
    return str(error).removeprefix(f"{path}: ")


def natural_key(path: Path) -> list[list[tuple[int, int, str]]]:
    """Orders paths as people do: numbers in them by value. Text that is the same but for leading zeros is ordered by it."""
    return [
        [(0, int(word), word) if word.isdecimal() else (1, 0, word) for word in re.split(r"(\d+)", part) if word]
        for part in path.parts
    ]


def expand(arguments: Iterable[str | Path], keep_order: bool) -> list[Path]:
    """The files that files, globs and folders stand for."""
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


def _numbers_between(before: _Place, after: _Place) -> tuple[int, int] | None:
    """The two numbers in which the names of two files differ, the second one larger; None for frames of archives and other names."""
    if before.at is not None or after.at is not None or before.source.path.parent != after.source.path.parent:
        return None
    words = [re.split(r"(\d+)", place.source.path.name) for place in (before, after)]
    if len(words[0]) != len(words[1]):
        return None
    other = [(x, y) for x, y in zip(*words, strict=True) if x != y]
    if len(other) != 1 or not (other[0][0].isdecimal() and other[0][1].isdecimal()):
        return None
    first, last = map(int, other[0])
    return (first, last) if last > first else None
