"""Archives of frames (`.npz`): `frames` (k,n,3), or `vertices` of that shape or (n,3) for one frame, and `faces` (m,3).

An archive may be larger than the memory, and each worker process opens it. A member that is stored as it is (`numpy.savez`) is mapped where it
lies; a compressed one is unpacked once, into a folder that goes when the process that made it ends, and mapped there. Both are read through
once before, so that damage is found by the archive's own check sums.
"""

import os
import shutil
import struct
import tempfile
import weakref
import zipfile
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.app.check.sources.source import CHUNK, Shape, Source, failures_named, hash_arrays, hash_error, open_regular
from abut.core import arrays
from abut.core.errors import AbutError, InvalidInput
from abut.mesh import Mesh

POSITION_NAMES = ("frames", "vertices")
LOCAL_HEADER = 30
"""Bytes of a member's header inside the archive, before its name and extra field, whose lengths are its last two numbers."""


class Archive(NamedTuple):
    """Arrays of an archive of frames."""

    positions: NDArray[Any]
    """(k,n,3) or (n,3)"""
    faces: NDArray[Any]


class Unpacked:
    """Members that were compressed: where they lie on disk. A copy in another process (a pickle) uses the files and does not remove them."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        self.sound: set[str] = set()
        """members whose check sums were right"""
        self._folder: str | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_folder": None}

    def new_file(self) -> str:
        """A path for one more member."""
        if self._folder is None:
            self._folder = tempfile.mkdtemp(prefix="abut-frames-")
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        return os.path.join(self._folder, f"{len(self.files)}.npy")


def map_archive(path: Path, unpacked: Unpacked) -> Archive:
    """The arrays of an archive; positions are mapped from disk."""
    with failures_named(path), open_regular(path) as file, zipfile.ZipFile(file) as archive:
        names = [name.removesuffix(".npy") for name in archive.namelist()]
        position_name = next((name for name in POSITION_NAMES if name in names), None)
        if position_name is None or "faces" not in names:
            held = ", ".join(names) or "nothing"
            raise InvalidInput(str(path), f"needs arrays 'frames' (or 'vertices') and 'faces', it has {held}")
        with archive.open("faces.npy") as member:
            faces: Any = np.lib.format.read_array(member, allow_pickle=False)
        positions = _map_member(path, file, archive, position_name + ".npy", unpacked)
    shape = positions.shape
    if len(shape) not in (2, 3) or shape[-1] != 3:
        raise InvalidInput(
            f"{path}: {position_name}", f"has shape {shape}, expected (k, n, 3) or, for one frame, (n, 3)"
        )
    if not shape[0]:
        raise InvalidInput(f"{path}: {position_name}", "is empty")
    # Said once here, and not for every frame.
    return Archive(positions, arrays.indices(faces, f"{path}: faces", 3, shape[-2], keep=True))


def _map_member(path: Path, file: BinaryIO, archive: zipfile.ZipFile, name: str, unpacked: Unpacked) -> NDArray[Any]:
    info = archive.getinfo(name)
    if info.compress_type != zipfile.ZIP_STORED:
        if name not in unpacked.files or not os.path.exists(unpacked.files[name]):  # on another machine it does not
            target = unpacked.new_file()
            with archive.open(info) as member, open(target, "wb") as copy:
                shutil.copyfileobj(member, copy, CHUNK)
            unpacked.files[name] = target
        return np.load(unpacked.files[name], mmap_mode="r", allow_pickle=False)
    if name not in unpacked.sound:
        with archive.open(info) as member:
            while member.read(CHUNK):
                pass
        unpacked.sound.add(name)
    file.seek(info.header_offset)
    name_length, extra_length = struct.unpack("<HH", file.read(LOCAL_HEADER)[-4:])
    file.seek(info.header_offset + LOCAL_HEADER + name_length + extra_length)
    version = np.lib.format.read_magic(file)
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in readers:
        with archive.open(info) as member:
            return np.lib.format.read_array(member, allow_pickle=False)
    shape, by_columns, dtype = readers[version](file)
    if dtype.hasobject:
        raise InvalidInput(str(path), f"{name} holds Python objects, which are not read")
    if not np.prod(shape):
        return np.empty(shape, dtype)
    return np.memmap(path, dtype, "r", file.tell(), shape, "F" if by_columns else "C")


class ArchiveSource(Source):
    """An archive as frames."""

    kept: ClassVar[dict[str, Any]] = {"_content": None}

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._unpacked = Unpacked()
        self._content: Archive | AbutError | None = None
        self.count = self._count()

    def read(self, at: int) -> Shape:
        """A frame; the faces are those of all."""
        positions, faces = self._open()
        return Shape(Mesh(positions[at] if positions.ndim == 3 else positions, faces), None)

    def digest(self, at: int) -> str:
        """Of the positions of the frame and of the faces."""
        try:
            positions, faces = self._open()
        except AbutError as error:
            return hash_error(error)
        return hash_arrays((positions[at] if positions.ndim == 3 else positions, faces))

    def _count(self) -> int | None:
        try:
            positions = self._open().positions
        except AbutError:
            return None
        return len(positions) if positions.ndim == 3 else None

    def _open(self) -> Archive:
        if self._content is None:
            try:
                self._content = map_archive(self.path, self._unpacked)
            except AbutError as error:
                self._content = error
        if isinstance(self._content, AbutError):
            raise self._content
        return self._content
