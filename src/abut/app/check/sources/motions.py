"""How a body moves, in a file of its own: a track of poses, or a cache of points.

| file | holds |
| --- | --- |
| `.npy`, `.npz` | poses (k,4,4); or position and quaternion x, y, z, qw, qx, qy, qz (k,7); or points (k,n,3). Of several arrays `poses` or `frames` |
| `.csv` | a row for each frame: 7 numbers as above, or the 12 or 16 of a matrix, row by row |
| `.mdd` | points, as LightWave and Blender write them (big-endian float32) |
| `.pc2` | points, as 3ds Max and Blender write them (little-endian float32) |

Arrays are mapped, not loaded.
"""

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abut.app.check.sources.source import failures_named, hash_arrays, open_regular
from abut.app.check.sources.turns import rotations_of
from abut.core import arrays
from abut.core.arrays import Floats
from abut.core.errors import InvalidInput, Unsupported

POSE_NAMES, POINT_NAMES = ("poses",), ("frames", "vertices", "points")
PC2_HEAD = struct.Struct("<12siiffi")
PC2_MAGIC = b"POINTCACHE2\0"


class Track:
    """Poses or points of each frame."""

    def __init__(self, path: Path) -> None:
        """What a file holds."""
        self.path: Path | None = path
        self.name = str(path)
        self._take(_read(path))

    @classmethod
    def of_array(cls, rows: NDArray[Any], name: str) -> "Track":
        """(k,4,4) or (k,7) poses, or (k,n,3) points."""
        _check(rows, name)
        track = cls.__new__(cls)
        track.path, track.name = None, name
        track._take(rows)
        return track

    def _take(self, rows: NDArray[Any]) -> None:
        self.is_rigid = rows.ndim == 2 or rows.shape[1:] == (4, 4)
        self._rows: NDArray[Any] | None = _as_poses(self.name, rows) if self.is_rigid else rows

    def __getstate__(self) -> dict[str, Any]:
        """Poses go with a copy, points of files are mapped anew."""
        if self.path is None:
            return self.__dict__
        return {**self.__dict__, "path": self.path.absolute(), "_rows": self._rows if self.is_rigid else None}

    @property
    def rows(self) -> NDArray[Any]:
        """(k,4,4) poses or (k,n,3) points."""
        if self._rows is None:
            assert self.path is not None
            self._rows = _read(self.path)
        return self._rows

    def __len__(self) -> int:
        return len(self.rows)

    def place(self, at: int, rest: Floats) -> Floats:
        """(n,3) where the vertices of the body are at a frame."""
        row = self.rows[at]
        if self.is_rigid:
            return rest @ row[:3, :3].T + row[:3, 3]
        if len(row) != len(rest):
            raise InvalidInput(f"{self.name}[{at}]", f"moves {len(row)} points, the body has {len(rest)} vertices")
        return arrays.points(np.asarray(row, float), f"{self.name}[{at}]")

    def digest(self, at: int) -> str:
        """Of the row of a frame."""
        return hash_arrays((self.rows[at],))


def _read(path: Path) -> NDArray[Any]:
    readers: dict[str, Callable[[Path], NDArray[Any]]] = {
        ".npy": _map_npy,
        ".npz": _read_npz,
        ".csv": _read_csv,
        ".mdd": _map_mdd,
        ".pc2": _map_pc2,
    }
    read = readers.get(path.suffix.lower())
    if read is None:
        kinds = ", ".join(readers)
        raise Unsupported(f"{path}: motions of kind {path.suffix!r} are not read, only {kinds}")
    if not path.is_file():
        raise InvalidInput(str(path), "is not a regular file" if path.exists() else "does not exist")
    with failures_named(path):
        rows = read(path)
    _check(rows, str(path))
    return rows


def _check(rows: NDArray[Any], name: str) -> None:
    """Refuse what is neither poses nor points."""
    numbers = rows.ndim == 2 and rows.shape[1] in (7, 12, 16)
    vectors = rows.ndim == 3 and (rows.shape[1:] == (4, 4) or rows.shape[2] == 3)
    if rows.dtype.kind not in "iuf" or not (numbers or vectors):
        expected = "poses (k,4,4) or (k,7), or points (k,n,3)"
        raise InvalidInput(name, f"holds {rows.dtype} of shape {rows.shape}, expected {expected}")
    if not len(rows):
        raise InvalidInput(name, "holds no frames")


def _as_poses(name: str, rows: NDArray[Any]) -> Floats:
    """(k,4,4), each a rigid motion."""
    values = np.asarray(rows, float)
    poses = np.broadcast_to(np.eye(4), (len(values), 4, 4)).copy()
    if values.ndim == 3:
        poses = values
    elif values.shape[1] == 7:
        lengths = np.linalg.norm(values[:, 3:], axis=1)
        if not (lengths > 0.0).all():
            raise InvalidInput(name, "has a quaternion without a length", int(np.argmin(lengths > 0.0)))
        poses[:, :3, :3] = rotations_of(values[:, 3:])
        poses[:, :3, 3] = values[:, :3]
    else:
        poses[:, : values.shape[1] // 4] = values.reshape(len(values), -1, 4)
    return arrays.rigid_poses(poses, name)


def _map_npy(path: Path) -> NDArray[Any]:
    return np.load(path, mmap_mode="r", allow_pickle=False)


def _read_npz(path: Path) -> NDArray[Any]:
    with open_regular(path) as file, np.load(file, allow_pickle=False) as archive:
        named = [name for name in (*POSE_NAMES, *POINT_NAMES) if name in archive.files] or archive.files
        if len(named) != 1:
            raise InvalidInput(
                str(path),
                f"needs one array, or one named {POSE_NAMES[0]} or {POINT_NAMES[0]}; it has {', '.join(archive.files) or 'none'}",
            )
        return archive[named[0]]


def _read_csv(path: Path) -> NDArray[Any]:
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [line.replace(";", ",").split(",") for line in lines if line.strip() and not line.startswith("#")]
    if rows and not _are_numbers(rows[0]):
        rows = rows[1:]  # names of columns
    if len({len(row) for row in rows}) > 1:
        raise InvalidInput(str(path), "has rows of different lengths")
    return np.array([[float(word) for word in row] for row in rows])


def _are_numbers(words: list[str]) -> bool:
    try:
        _ = [float(word) for word in words]
    except ValueError:
        return False
    return True


def _map_mdd(path: Path) -> NDArray[Any]:
    with open_regular(path) as file:
        frames, points = struct.unpack(">ii", file.read(8))
    return _map(path, ">f4", 8 + 4 * frames, frames, points)


def _map_pc2(path: Path) -> NDArray[Any]:
    with open_regular(path) as file:
        magic, _, points, _, _, frames = PC2_HEAD.unpack(file.read(PC2_HEAD.size))
    if magic != PC2_MAGIC:
        raise ValueError("it does not begin as a point cache does")
    return _map(path, "<f4", PC2_HEAD.size, frames, points)


def _map(path: Path, kind: str, start: int, frames: int, points: int) -> NDArray[Any]:
    if frames < 0 or points < 0:
        raise ValueError(f"it says that it has {frames} frames of {points} points")
    size, needed = path.stat().st_size, start + 12 * frames * points
    if size < needed:
        raise ValueError(f"it has {size} bytes, {frames} frames of {points} points take {needed}")
    if not frames * points:
        return np.empty((frames, points, 3), kind)
    return np.memmap(path, kind, "r", start, (frames, points, 3))
