"""What stands between a file of frames and its arrays: regular files only, archives that are mapped, animations that are refused.

An archive may be larger than the memory, and each worker process opens it. A member that is stored as it is (`numpy.savez`) is mapped where it
lies; a compressed one is unpacked once, into a folder that goes when the process that made it ends, and mapped there. Both are read through
once before, so that damage is found by the archive's own check sums.

A glTF file may hold an animation, of which loaders give the pose at rest. It is refused by name rather than taken for one frame.
"""

import json
import os
import shutil
import stat
import struct
import tempfile
import weakref
import zipfile
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.core import arrays
from abut.core.errors import AbutError, InvalidInput, Unsupported

POSITION_NAMES = ("frames", "vertices")
CHUNK = 1 << 20
LOCAL_HEADER = 30
"""Bytes of a member's header inside the archive, before its name and extra field, whose lengths are its last two numbers."""
GLB_MAGIC, GLB_JSON = b"glTF", b"JSON"


class Archive(NamedTuple):
    """Arrays of an archive of frames."""

    positions: NDArray[Any]
    """(k,n,3) or (n,3)"""
    faces: NDArray[Any]


class Unpacked:
    """Members that were compressed: where they lie on disk. A copy in another process (a pickle) uses the files and does not remove them."""

    def __init__(self) -> None:
        self.files: dict[tuple[str, str], str] = {}
        self.sound: set[tuple[str, str]] = set()
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


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading. Anything else (a pipe, a device, a folder) is refused without waiting for it."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise InvalidInput(str(path), "is not a regular file")
    return os.fdopen(handle, "rb")


def map_archive(path: Path, unpacked: Unpacked) -> Archive:
    """The arrays of an archive; positions are mapped from disk."""
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist()]
            position_name = next((name for name in POSITION_NAMES if name in names), None)
            if position_name is None or "faces" not in names:
                held = ", ".join(names) or "nothing"
                raise InvalidInput(str(path), f"needs arrays 'frames' (or 'vertices') and 'faces', it has {held}")
            with archive.open("faces.npy") as member:
                faces: Any = np.lib.format.read_array(member, allow_pickle=False)
            positions = _map_member(path, file, archive, position_name + ".npy", unpacked)
    except (AbutError, MemoryError):
        raise
    except Exception as error:  # zipfile, zlib and NumPy have a dozen exceptions for a damaged file
        raise InvalidInput(str(path), f"cannot be read ({type(error).__name__}: {error})") from error
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
    key, info = (str(path), name), archive.getinfo(name)
    if info.compress_type != zipfile.ZIP_STORED:
        if key not in unpacked.files:
            target = unpacked.new_file()
            with archive.open(info) as member, open(target, "wb") as copy:
                shutil.copyfileobj(member, copy, CHUNK)
            unpacked.files[key] = target
        return np.load(unpacked.files[key], mmap_mode="r", allow_pickle=False)
    if key not in unpacked.sound:
        with archive.open(info) as member:
            while member.read(CHUNK):
                pass
        unpacked.sound.add(key)
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


def refuse_animation(path: Path) -> None:
    """Raise Unsupported for a glTF file that holds an animation. What cannot be read says so when it is loaded."""
    kind = path.suffix.lower()
    if kind not in (".gltf", ".glb"):
        return
    try:
        with open_regular(path) as file:
            content = file.read() if kind == ".gltf" else _read_glb_document(file)
        document: Any = json.loads(content)
    except (OSError, ValueError, struct.error, RecursionError):
        return
    if isinstance(document, dict) and "animations" in document and document["animations"]:
        raise Unsupported(f"{path}: holds an animation, which is not sampled: write each frame to a file of its own")


def _read_glb_document(file: BinaryIO) -> bytes:
    magic, _, _ = struct.unpack("<4sII", file.read(12))
    length, kind = struct.unpack("<I4s", file.read(8))
    return file.read(length) if (magic, kind) == (GLB_MAGIC, GLB_JSON) else b""
