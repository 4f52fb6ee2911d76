"""Compiled code on disk: first what was compiled for this very processor, then what came with the package; never what is stale.

An index holds, for each signature, the bytes of the function, the hash of all sources that it can reach (`sources`), and the processor. A function
that only Python calls is kept as machine code alone; one that compiled functions call, with the bitcode that their compilation needs.
Loading leaves out Numba's thousands of registrations, which only a compiler needs, where the code names nothing that they bring.
"""

import contextlib
import functools
import hashlib
import os
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, _CacheLocator
from numba.core.runtime.nrt import rtsys

from abut.core.compiling import baseline
from abut.core.compiling.cache_root import FOLDER_PREFIX, cache_root, is_ours, prebuilt_root, remove_unused
from abut.core.compiling.libraries import BITCODE, rebuild_bitcode
from abut.core.compiling.sources import stamp_of

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

INNER = "-inner"
"""How the names of functions end that only compiled functions call."""


class Places:
    """Where code may come from in this process."""

    native_only = False
    """Whether what came with the package is passed over: `abut warm-up` compiles for this very processor."""
    shared = False
    """Whether other processes compile the same functions now: then each is left to the first that comes to it."""


def share_compilation() -> None:
    """From now on leave each function to the first of the processes that come to it."""
    Places.shared = fcntl is not None


@functools.cache
def cache_folder(file: str) -> Path | None:
    """The folder of compiled code for a file and all it reaches, or None where none can be written. It is made when there is something to keep."""
    root = cache_root()
    if root is None:
        return None
    folder = root / (FOLDER_PREFIX + stamp_of(file))
    if folder.is_dir():
        os.utime(folder)  # a folder in use stays young
    return folder


@functools.cache
def _prebuilt_folder(stamp: str) -> Path | None:
    root = prebuilt_root()
    folder = root and root / (FOLDER_PREFIX + stamp)
    return folder if folder is not None and folder.is_dir() and is_ours(folder) else None


@contextlib.contextmanager
def held(file: str, what: str) -> Generator[None]:
    """Within this context no other process is in a context of the same file and name; where there are no locks of files, that is not so."""
    folder = cache_folder(file)
    if folder is None or fcntl is None:
        yield
        return
    name = hashlib.sha256(f"{folder.name} {what}".encode()).hexdigest()[:24]
    place = folder.parent / "locks"
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (place / name).open("w") as lock:
        with contextlib.suppress(OSError):  # of file systems that know no locks
            fcntl.flock(lock, fcntl.LOCK_EX)  # opened again when the file is closed, or the process ends
        yield


class SourcesLocator(_CacheLocator):
    """Tells Numba the folder, and stamps each index with the hash of the sources that the function can reach.

    An index is named after its file and function, not after the line, which an edited comment moves. Functions inside functions may share a name:
    theirs are told apart by the line, and by the bytes of the file.
    """

    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        self._py_file = py_file
        self._disambiguator = Path(py_file).resolve().parent.name
        if "<" in py_func.__qualname__:
            content = hashlib.sha256(Path(py_file).read_bytes() if Path(py_file).is_file() else b"").hexdigest()[:16]
            self._disambiguator += f"-{py_func.__code__.co_firstlineno}-{content}"

    def get_cache_path(self) -> Any:
        """The folder."""
        return str(cache_folder(self._py_file))

    def get_source_stamp(self) -> Any:
        """The hash."""
        return stamp_of(self._py_file)

    def get_disambiguator(self) -> Any:
        """What tells functions of one name apart."""
        return self._disambiguator

    def ensure_cache_path(self) -> None:
        """Make the folder."""
        folder = cache_folder(self._py_file)
        if folder is not None and not folder.is_dir():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            remove_unused(folder.parent)

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> "SourcesLocator | None":
        """For a function of a file."""
        return cls(py_func, py_file)


class _SourcesCacheImpl(CompileResultCacheImpl):
    _locator_classes = (SourcesLocator,)

    def reduce(self, cres: Any) -> Any:
        """The names that the code takes from the process, those by which it is found, and what Numba keeps of it."""
        described, module = cres.fndesc, cres.library._final_module
        outside = [
            each.name for group in (module.functions, module.global_variables) for each in group if each.is_declaration
        ]
        taken = tuple(name for name in outside if not name.startswith("llvm."))
        found_by = (described.llvm_func_name, described.llvm_cpython_wrapper_name)
        (name, kind, (code, bitcode)), *rest = super().reduce(cres)
        if not described.qualname.endswith(INNER):
            bitcode = llvm.parse_assembly("").as_bitcode()
        return taken, found_by, ((name, kind, (code, bitcode)), *rest)

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """The function, or None where this process lacks a name that its code takes."""
        taken, found_by, data = payload
        engine = target_context.codegen()._engine
        rtsys.initialize(target_context)
        if not all(map(llvm.address_of_symbol, taken)):
            target_context.refresh()
            if not all(map(llvm.address_of_symbol, taken)):
                return None
        (name, kind, (_, bitcode)), *rest = data
        if kind == BITCODE:
            return rebuild_bitcode(target_context, name, bitcode, *rest)
        engine._defined_symbols.update(found_by)
        return super().rebuild(target_context, data)


class SourcesCache(FunctionCache):
    """What is kept of one function."""

    _impl_class = _SourcesCacheImpl

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What was compiled for a signature; the user's own folder comes first."""
        found = self._load(sig, target_context) if self._enabled else None
        if found is None:
            target_context.refresh()  # a compilation follows
        return found

    def _load(self, sig: Any, target_context: Any) -> Any:
        with self._guard_against_spurious_io_errors():
            codegen, data = target_context.codegen(), None
            if cache_root() is not None:
                data = self._cache_file.load(self._index_key(sig, codegen))
            if data is None and not Places.native_only:
                data = self._load_prebuilt(sig, codegen)
            return None if data is None else self._impl.rebuild(target_context, data)

    def _load_prebuilt(self, sig: Any, codegen: Any) -> Any:
        stamp = stamp_of(self._py_func.__code__.co_filename)
        folder = _prebuilt_folder(stamp)
        if folder is None or baseline.BASELINE is None or not baseline.serves(codegen):
            return None
        triple, _, _ = codegen.magic_tuple()
        machine = (baseline.system_of(triple), baseline.BASELINE.name, "")
        file = IndexDataCacheFile(str(folder), self._impl.filename_base, stamp)
        return file.load(self._key(sig, codegen, machine))

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled, where anything can be kept.

        Numba reads the index, picks the name of a new file from it, and writes both. Two processes that did so at once for two signatures would take
        the same name, and one of them would later run the code of the other.
        """
        if cache_root() is not None:
            with held(self._py_func.__code__.co_filename, f"index of {self._impl.filename_base}"):
                super().save_overload(sig, data)

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        triple, name, features = codegen.magic_tuple()
        return self._key(sig, codegen, (baseline.system_of(triple), name, features))

    def _key(self, sig: Any, codegen: Any, machine: tuple[str, str, str]) -> tuple[Any, ...]:
        # NUMBA_CACHE_LOCATOR_CLASSES may put another locator in place of ours: the hash of the sources stands in the key too.
        signature, _, code = super()._index_key(sig, codegen)
        return signature, machine, code, stamp_of(self._py_func.__code__.co_filename)
