"""What every kind of file of frames answers, and what a frame is: a mesh, and which of its vertices and faces belong to which object."""

import hashlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Integers
from abut.core.errors import InvalidInput
from abut.mesh import Mesh

CHUNK = 1 << 20


class Objects(NamedTuple):
    """The objects that a file names."""

    names: tuple[str, ...]
    vertex: Integers
    """(n,) the object of each vertex"""
    face: Integers
    """(m,) the object of each face"""


class Shape(NamedTuple):
    """One frame of a file."""

    mesh: Mesh
    objects: Objects | None
    """None where the file names none, or one only"""


class Source(Protocol):
    """A file of one frame or of many. A copy in another process (a pickle) reads the file anew."""

    @property
    def path(self) -> Path:
        """The file."""
        ...

    @property
    def count(self) -> int | None:
        """How many frames it has; None where it is a frame itself, and where it cannot be read."""
        ...

    def files(self) -> list[Path]:
        """Every file that is read."""
        ...

    def read(self, at: int) -> Shape:
        """A frame. Raises InvalidInput or Unsupported."""
        ...

    def digest(self, at: int) -> str:
        """A hash of all that frame is made of."""
        ...

    def release(self) -> None:
        """Let go of what is kept between frames; it is read anew when it is asked for."""
        ...


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading. Anything else (a pipe, a device, a folder) is refused without waiting for it."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise InvalidInput(str(path), "is not a regular file")
    return os.fdopen(handle, "rb")


def hash_file(path: Path) -> str:
    """A hash of a file's kind and bytes, or of the reason why it cannot be read."""
    digest = hashlib.sha256(path.suffix.lower().encode() + b" ")
    try:
        with open_regular(path) as file:
            while chunk := file.read(CHUNK):
                digest.update(chunk)
    except (InvalidInput, OSError) as error:
        digest.update(f"unreadable: {error}".encode())
    return digest.hexdigest()


def hash_arrays(parts: Iterable[NDArray[Any]]) -> str:
    """A hash of arrays: kinds of numbers, shapes and numbers."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{part.dtype} {part.shape} ".encode() + np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


def hash_error(error: Exception) -> str:
    """A hash for a frame that cannot be read: of the reason."""
    return hashlib.sha256(f"unreadable: {error}".encode()).hexdigest()


def tell_apart(names: list[str]) -> tuple[str, ...]:
    """The names, those that repeat with a number behind them."""
    told: dict[str, None] = {}
    for name in names:
        number, other = 1, name
        while other in told:
            number += 1
            other = f"{name}.{number}"
        told[other] = None
    return tuple(told)
