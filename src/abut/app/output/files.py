"""Files that a command writes: looked at before the work, written in one go after it.

None may be an input, or another output, or anything but a regular file.

Files are told apart by what they are on disk (device and number), so that symbolic and hard links to an input count as the input, and where
nothing is there yet, by their path with all links resolved.

Failure case: what another program does between this look and the writing is not seen.
"""

import os
import stat
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from abut.core.errors import InvalidInput
from abut.mesh.writing import _replace  # pyright: ignore[reportPrivateUsage]

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}

_Identity = tuple[int, int] | None

STANDARD_OUTPUT = Path("-")
"""What options that name a file take for standard output."""


def write_file(path: Path, content: bytes) -> None:
    """Write a file in one go: it is never half there."""
    _replace(path, content)


def prepare(inputs: Iterable[Path], outputs: Mapping[str, Path | None]) -> None:
    """Look at the files to be written later, by the option that names them, and make their folders; refuse what must or could not be written."""
    wanted = {option: path for option, path in outputs.items() if path is not None}
    check_outputs(inputs, wanted)
    for option, path in wanted.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Permissions do not tell all: file systems may be read-only.
            tempfile.TemporaryFile(dir=path.parent).close()
        except OSError as error:
            raise InvalidInput(
                option, f"{path}: its folder cannot be written to ({error.strerror or error})"
            ) from error


def check_outputs(inputs: Iterable[Path], outputs: Mapping[str, Path]) -> None:
    """Refuse, with InvalidInput, outputs that could destroy something or could not be written.

    Args:
        inputs: files that are read; they need not exist.
        outputs: files to be written, by the option that names them ("--out"). Standard output is not among them.

    Refused are: an output that is an input, also by a link; two outputs that are one file, or of which one is the other's folder; one that
    exists and is no regular file (a symbolic link is none, whatever it points to); one whose folder is none or cannot be written to.
    """
    read = {path: (_identity(path), _resolved(path)) for path in inputs}
    seen: dict[str, tuple[Path, _Identity, str]] = {}
    for option, path in outputs.items():
        try:
            _check_kind(option, path)
            own, place = _identity(path), _resolved(path)
            for source, (identity, resolved) in read.items():
                if place == resolved or (own is not None and own == identity):
                    raise InvalidInput(option, f"{path} is the input {source}: it would be overwritten")
            for other, (_, identity, resolved) in seen.items():
                if place == resolved or (own is not None and own == identity):
                    raise InvalidInput(option, f"{path} is also what {other} names: one would overwrite the other")
                if place.startswith(resolved + os.sep) or resolved.startswith(place + os.sep):
                    raise InvalidInput(option, f"{path} and the file that {other} names are a folder and a file in it")
            _check_folder(option, path, place)
        except (OSError, ValueError) as error:
            if isinstance(error, InvalidInput):
                raise
            raise InvalidInput(option, f"{str(path)!r} cannot be written ({_reason(error)})") from error
        seen[option] = path, own, place


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _identity(path: Path) -> _Identity:
    """Device and number of the file, links followed; None where there is none."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def _resolved(path: Path) -> str:
    try:
        return os.path.normcase(os.path.realpath(path))
    except (OSError, ValueError):
        return str(path)


def _check_kind(option: str, path: Path) -> None:
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    except NotADirectoryError as error:
        raise InvalidInput(option, f"{path} lies in a file, not in a folder") from error
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "something else")
        raise InvalidInput(option, f"{path} is {kind}, expected a regular file or none")


def _check_folder(option: str, path: Path, place: str) -> None:
    """The nearest folder that exists must be one, and one that may be written to: missing ones are made in it."""
    folder = os.path.dirname(place)
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    if not os.path.isdir(folder):
        raise InvalidInput(option, f"{path} lies in {folder}, which is not a folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InvalidInput(option, f"{path}: the folder {folder} cannot be written to")
