"""What has been computed already, kept on disk so that an interrupted job goes on where it was: one small file per frame and per step.

A file's name is a hash of all that its content follows from: the frames' content, the options, abut's own sources. What has changed has another
name and is computed again, so results never get mixed up, and one folder serves any number of jobs. Files are written beside their place and then
moved: a file is whole or not there. Each holds a hash of its content: one that cannot be read or was changed counts as not there. Nothing else in the
folder is touched.
"""

import contextlib
import hashlib
import importlib
import io
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from abut.app.check.findings import Rows
from abut.app.output.files import write_file
from abut.core.arrays import frozen
from abut.core.compiling.sources import sources_hash
from abut.core.errors import InvalidInput, Unsupported

FORMAT = "2"
KEPT_DAYS = 30
SUFFIX = ".npz"
KEY_LENGTH = 32


def _seal(key: str, rows: Rows) -> str:
    """A hash of the rows and of the name under which they are kept."""
    digest = hashlib.sha256(key.encode())
    for column in rows:
        digest.update(f"{column.dtype} {column.shape} ".encode() + np.ascontiguousarray(column).tobytes())
    return digest.hexdigest()


def pack(key: str, rows: Rows) -> bytes:
    """The rows and their seal as the bytes of a `.npz` archive."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, seal=np.array(_seal(key, rows)), **rows._asdict())
    return buffer.getvalue()


def unpack(key: str, content: bytes) -> Rows | None:
    """The rows; None where something is wrong with them."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            rows = Rows(*(frozen(archive[name]) for name in Rows._fields))
            return rows if str(archive["seal"]) == _seal(key, rows) else None
    except Exception:  # zipfile, zlib and NumPy have a dozen exceptions for a damaged file
        return None


class Store:
    """A folder of results by key."""

    def __init__(self, folder: Path) -> None:
        """Make the folder where there is none, and remove what nobody has used for KEPT_DAYS."""
        self.folder = folder
        try:
            made = not folder.exists()
            folder.mkdir(parents=True, exist_ok=True)
            if made:
                write_file(folder / ".gitignore", b"*\n")
            tempfile.TemporaryFile(dir=folder).close()
        except OSError as error:
            raise InvalidInput(str(folder), f"cannot be written ({error.strerror or error})") from error
        oldest = time.time() - KEPT_DAYS * 86400
        for file in folder.glob("[0-9a-f]" * KEY_LENGTH + SUFFIX):
            with contextlib.suppress(OSError):
                if file.stat().st_mtime < oldest:
                    file.unlink()

    def __str__(self) -> str:
        return str(self.folder)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "folder": self.folder.absolute()}

    @staticmethod
    def key(*parts: object) -> str:
        """The name for what follows from these parts and from abut's sources."""
        return hashlib.sha256(repr((FORMAT, sources_hash(), *parts)).encode()).hexdigest()[:KEY_LENGTH]

    def get(self, key: str) -> Rows | None:
        """The result, or None."""
        path = self.folder / (key + SUFFIX)
        try:
            content = path.read_bytes()
            path.touch()  # what is in use stays young
        except OSError:
            return None
        return unpack(key, content)

    def put(self, key: str, rows: Rows) -> None:
        """Keep a result."""
        write_file(self.folder / (key + SUFFIX), pack(key, rows))


class RemoteStore(Store):
    """The same at an address that fsspec knows (`s3://bucket/work`, `gcs://…`, `sftp://…`). Nothing is removed there: buckets have rules for that.

    Files are written under their names: what is half written has no seal, and counts as not there.
    """

    def __init__(self, address: str) -> None:
        """Raises Unsupported where the package for such addresses is missing, InvalidInput where nothing can be written there."""
        try:
            fsspec: Any = importlib.import_module("fsspec")
            self._files, self._place = fsspec.core.url_to_fs(address)
        except ImportError as error:
            raise Unsupported(f"{address}: such a work folder needs another package ({error})") from error
        except ValueError as error:
            raise InvalidInput(address, f"is no address ({error})") from error
        self.address = address
        try:
            self._files.makedirs(self._place, exist_ok=True)
        except Exception as error:  # each kind of address has its own
            raise InvalidInput(address, f"cannot be written ({error})") from error

    def __str__(self) -> str:
        return self.address

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    def get(self, key: str) -> Rows | None:
        """The result, or None."""
        try:
            content = self._files.cat_file(f"{self._place}/{key}{SUFFIX}")
        except FileNotFoundError:
            return None
        except Exception as error:
            raise OSError(f"{self.address}: {error}") from error
        return unpack(key, content)

    def put(self, key: str, rows: Rows) -> None:
        """Keep a result."""
        try:
            self._files.pipe_file(f"{self._place}/{key}{SUFFIX}", pack(key, rows))
        except Exception as error:
            raise OSError(f"{self.address}: {error}") from error


def open_store(where: str | Path) -> Store:
    """The store in a folder, or at an address with `://` in it."""
    return RemoteStore(where) if isinstance(where, str) and "://" in where else Store(Path(where))
