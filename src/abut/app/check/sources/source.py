"""What every kind of file of frames answers, and what a frame is: a mesh, and which of its vertices and faces belong to which object."""

import contextlib
import hashlib
import os
import stat
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Integers
from abut.core.errors import AbutError, InvalidInput
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


class Source:
    """A file of one frame or of many. A copy in another process, wherever that runs, finds it by its absolute path and reads it anew.

    A kind of file says how a frame is read; `kept` names what it holds between frames, and what that is where nothing is held.
    """

    count: int | None = None
    """how many frames it has; None where it is a frame itself, and where it cannot be read"""
    kept: ClassVar[dict[str, Any]] = {}

    def __init__(self, path: Path) -> None:
        self.path = path

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, **self.kept, "path": self.path.absolute()}

    def files(self) -> list[Path]:
        """Every file that is read."""
        return [self.path]

    def read(self, at: int) -> Shape:
        """A frame. Raises InvalidInput or Unsupported."""
        raise NotImplementedError

    def digest(self, at: int) -> str:
        """A hash of all that frame is made of."""
        return hash_file(self.path)

    def release(self) -> None:
        """Let go of what is kept between frames; it is read anew when it is asked for."""
        self.__dict__.update(self.kept)


class SeenSource(Source):
    """A file that alone does not tell what a frame is made of, since data may lie beside it."""

    def digest(self, at: int) -> str:
        """Of what is seen."""
        try:
            mesh, _ = self.read(at)
        except AbutError as error:
            return hash_error(error)
        return hash_arrays((mesh.vertices, mesh.faces))


@contextlib.contextmanager
def failures_named(path: Path) -> Generator[None]:
    """Whatever a reader raises becomes InvalidInput: libraries and damaged files have a dozen exceptions."""
    try:
        yield
    except (AbutError, MemoryError):
        raise
    except Exception as error:
        raise InvalidInput(str(path), f"cannot be read ({type(error).__name__}: {error})") from error


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
