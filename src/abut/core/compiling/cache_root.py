"""Where compiled code is kept: a folder that nobody but this user can have written, since the index of a cache is a pickle.

`NUMBA_CACHE_DIR` if that is set, else the package's `__pycache__`, else (read-only installation) the user's cache folder, else one of mode 0700
in the temporary directory, else none. Code that came with the package lies in its folder `prebuilt`, which is only read.
"""

import contextlib
import functools
import os
import shutil
import stat
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from numba.core import config as numba_config

config: Any = numba_config  # its attributes are made at run time

PACKAGE = Path(__file__).resolve().parents[2]
PREBUILT = PACKAGE / "prebuilt"
"""The code that `python -m abut.precompile` made, in wheels that carry it."""
FOLDER_PREFIX = "abut-"
FOLDERS_KEPT_DAYS = 30


def user_cache_folder() -> Path:
    """Where this platform keeps a user's caches."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "abut" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "abut"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "abut"


@functools.cache
def _is_private_group(group: int) -> bool:
    """Whether a group is the user's own and has no other member: many systems make one for each user, and let it write what the user writes."""
    import grp
    import pwd

    try:
        user, entry = pwd.getpwuid(os.getuid()), grp.getgrgid(group)
    except KeyError:
        return False
    return group == user.pw_gid and entry.gr_name == user.pw_name and set(entry.gr_mem) <= {user.pw_name}


def is_ours(folder: Path) -> bool:
    """Whether nobody but this user (or root) could have put files there."""
    if not hasattr(os, "getuid"):
        return True  # Windows: a profile folder is private
    status = folder.stat()
    if status.st_uid not in (os.getuid(), 0) or status.st_mode & stat.S_IWOTH:
        return False
    return not status.st_mode & stat.S_IWGRP or _is_private_group(status.st_gid)


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def _is_private(folder: Path) -> bool:
    """Whether the folder of a shared place is, or could be made, one that only this user reads and writes: mode 0700, his, and no link."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return False
    if not stat.S_ISDIR(status.st_mode):
        return False
    return not hasattr(os, "getuid") or (status.st_uid == os.getuid() and stat.S_IMODE(status.st_mode) == 0o700)


def remove_unused(root: Path) -> None:
    """Remove the folders of other sources that nobody has used for FOLDERS_KEPT_DAYS."""
    oldest = time.time() - FOLDERS_KEPT_DAYS * 86400
    for folder in root.glob(FOLDER_PREFIX + "*"):
        with contextlib.suppress(OSError):
            if folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)


@functools.cache
def cache_root() -> Path | None:
    """The folder that holds the folders of compiled code, or None where no safe folder can be written: then nothing is kept.

    A folder that the user named himself is taken as it is. The one in the temporary directory, where everyone may write, must be his alone.
    """
    if config.CACHE_DIR and _is_writable(Path(config.CACHE_DIR)):
        return Path(config.CACHE_DIR)
    for root in (PACKAGE / "__pycache__", user_cache_folder()):
        if _is_writable(root) and is_ours(root):
            return root
    shared = Path(tempfile.gettempdir()) / f"abut-cache-{os.getuid() if hasattr(os, 'getuid') else 0}"
    return shared if _is_private(shared) and _is_writable(shared) else None


@functools.cache
def prebuilt_root() -> Path | None:
    """The folder of code that came with the package, or None where there is none, or where another user could have written it."""
    with contextlib.suppress(OSError):
        return PREBUILT if PREBUILT.is_dir() and is_ours(PREBUILT) else None
    return None
