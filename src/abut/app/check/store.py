"""What has been computed already, kept on disk so that an interrupted job goes on where it was: one small file per frame and per step.

A file's name is a hash of all that its content follows from: the frames' content, the options, abut's own sources. What has changed has another
name and is computed again, so results never get mixed up, and one folder serves any number of jobs. Files are written beside their place and then
moved: a file is whole or not there. Each holds a hash of its content: one that cannot be read or was changed counts as not there. Nothing else in the
folder is touched.
"""

import contextlib
import hashlib
import io
import tempfile
import time
from pathlib import Path

import numpy as np

from abut.app.check.findings import Rows
from abut.app.output.files import write_file
from abut.core.arrays import frozen
from abut.core.compiling.sources import sources_hash
from abut.core.errors import InvalidInput

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

    @staticmethod
    def key(*parts: object) -> str:
        """The name for what follows from these parts and from abut's sources."""
        return hashlib.sha256(repr((FORMAT, sources_hash(), *parts)).encode()).hexdigest()[:KEY_LENGTH]

    def get(self, key: str) -> Rows | None:
        """The result, or None."""
        path = self.folder / (key + SUFFIX)
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
                rows = Rows(*(frozen(archive[name]) for name in Rows._fields))
                if str(archive["seal"]) != _seal(key, rows):
                    return None
            path.touch()  # what is in use stays young
        except Exception:  # zipfile, zlib and NumPy have a dozen exceptions for a damaged file
            return None
        return rows

    def put(self, key: str, rows: Rows) -> None:
        """Keep a result."""
        write_file(self.folder / (key + SUFFIX), pack(key, rows))
