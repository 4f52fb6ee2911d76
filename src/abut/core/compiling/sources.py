"""Which sources of the package can take part in what is compiled for one of them, and what they mean to a compiler.

Numba checks only the file of a cached function, not the files of what it calls. So the compiled code of a module is kept under a hash of every
source that the module reaches by imports: an edited callee leads to another hash, and stale code is never run, while an edit elsewhere compiles
nothing again.

Hashed is the meaning of a source: its syntax tree without comments, docstrings, the annotations of functions, and the places where things stand. To
edit a comment compiles nothing. A tree takes milliseconds to make, so a small table, kept beside the compiled code, tells the meaning of each
source that was met before by a hash of its bytes.
"""

import ast
import contextlib
import functools
import hashlib
import json
import os
import re
import sys
import tempfile
from pathlib import Path

import numba

from abut.core.compiling.cache_root import PACKAGE, cache_root, config, prebuilt_root

MOST_REMEMBERED = 4096
"""Meanings in the table; it starts anew beyond."""


def _settings() -> bytes:
    """The Numba settings that change generated code."""
    options = (numba.__version__, config.BOUNDSCHECK, config.OPT, config.DEBUGINFO_DEFAULT, config.FULL_TRACEBACKS)
    return repr(options).encode()


@functools.cache
def read_sources() -> dict[str, bytes]:
    """Each source of the package by its path inside it."""
    return {path.relative_to(PACKAGE).as_posix(): path.read_bytes() for path in sorted(PACKAGE.rglob("*.py"))}


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


def meaning(source: bytes) -> str:
    """A hash of what a source means to a compiler: no comment, docstring, annotation of a function, or line number changes it."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            # A string that stands alone says something to readers only, wherever it stands.
            node.body = [each for each in node.body if not _is_text(each)]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
    return _digest(ast.dump(tree).encode())


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


TABLE = f"meanings-{sys.implementation.cache_tag}.json"


def _table() -> Path | None:
    root = cache_root()
    return root and root / TABLE


def _read_table(path: Path | None) -> dict[str, str]:
    with contextlib.suppress(OSError, ValueError):
        if path is not None:
            found = json.loads(path.read_text())
            return found if isinstance(found, dict) and len(found) <= MOST_REMEMBERED else {}
    return {}


def _write_table(path: Path, known: dict[str, str]) -> None:
    """In one piece, whatever other processes do meanwhile."""
    with contextlib.suppress(OSError):
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        try:
            with os.fdopen(handle, "w") as file:
                json.dump(known, file)
            os.replace(name, path)
        except OSError:
            os.unlink(name)


@functools.cache
def _shipped() -> dict[str, str]:
    """The table that came with the package, by the hash of a source's bytes."""
    root = prebuilt_root()
    return _read_table(root and root / TABLE)


@functools.cache
def _remembered() -> dict[str, str]:
    """The table of this user, as this process read it, and what it found out itself."""
    return _read_table(_table())


_found: dict[str, str] = {}
"""What sources mean, by their paths, as far as anybody asked: to parse all of them takes seconds."""


def _meaning_of(path: str) -> str:
    """What a source means; of code with debug information, which names lines, its bytes."""
    content = _digest(read_sources()[path])
    if config.DEBUGINFO_DEFAULT:
        return content
    known = _shipped().get(content) or _remembered().get(content)
    if known is None:
        known = _remembered()[content] = meaning(read_sources()[path])
    return known


def _look_up(paths: frozenset[str]) -> None:
    new = paths - _found.keys()
    before = len(_remembered()) if new else 0
    _found.update({path: _meaning_of(path) for path in new})
    table = _table()
    if new and len(_remembered()) > before and table is not None:
        _write_table(table, _remembered())


def table_of_all() -> dict[str, str]:
    """What every source of the package means, by the hash of its bytes."""
    return {_digest(source): meaning(source) for source in read_sources().values()}


def _hash(paths: frozenset[str]) -> str:
    _look_up(paths)
    digest = hashlib.sha256(_settings())
    for path in sorted(paths):
        digest.update(f"{path}\0{_found[path]}\0".encode())
    return digest.hexdigest()[:16]


@functools.cache
def sources_hash() -> str:
    """Hash of what all of abut's sources mean and of the Numba settings that change generated code, in 16 hexadecimal digits."""
    return _hash(frozenset(read_sources()))


def _file_of(module: str) -> str | None:
    """The source of `a.b.c`, counted from the package, or None where that is no module."""
    stem = module.replace(".", "/")
    paths = (f"{stem}.py", f"{stem}/__init__.py") if stem else ("__init__.py",)
    return next((path for path in paths if path in read_sources()), None)


@functools.cache
def _imported(path: str) -> frozenset[str]:
    """The sources that one source names in its import statements, wherever they stand in it.

    `from package import name` names the module `name` if there is one; otherwise the package's own file, which brings `name` from elsewhere.
    """
    found: set[str | None] = set()
    text = read_sources()[path].decode()
    for module, grouped, names in re.findall(
        rf"^[ \t]*from {PACKAGE.name}((?:\.\w+)*) import (?:\(([^)]*)\)|([^\n#]*))", text, re.MULTILINE
    ):
        for name in re.findall(r"(\w+)(?: as \w+)?", re.sub(r"#.*", "", grouped or names)):
            found.add(_file_of(f"{module}.{name}"[1:]) or _file_of(module[1:]))
    found.update(_file_of(name) for name in re.findall(rf"^[ \t]*import {PACKAGE.name}\.([\w.]+)", text, re.MULTILINE))
    if re.search(rf"^[ \t]*import {PACKAGE.name}\b(?!\.)", text, re.MULTILINE):
        found.add("__init__.py")
    return frozenset(name for name in found if name is not None)


def _close(start: frozenset[str]) -> frozenset[str]:
    reached, waiting = set(start), list(start)
    while waiting:
        for path in _imported(waiting.pop()) - reached:
            reached.add(path)
            waiting.append(path)
    return frozenset(reached)


@functools.cache
def _implementers() -> dict[str, frozenset[str]]:
    """What is reached by each source that implements generic functions. A caller of these need not import it."""
    return {
        path: _close(frozenset([path]))
        for path, text in read_sources().items()
        if re.search(rb"^@implement\b", text, re.MULTILINE)
    }


@functools.cache
def reachable_sources(path: str) -> frozenset[str]:
    """The sources that can take part in what is compiled for the source at `path` inside the package.

    What it imports, directly or through others, and, where it reaches a `generic` function, every implementation of one.
    """
    reached = _close(frozenset([path]))
    generics = {name for name in reached if re.search(rb"^@generic\b|^@generic_by", read_sources()[name], re.MULTILINE)}
    for closure in _implementers().values():
        if generics & closure:
            reached |= closure
    return reached


@functools.cache
def reachable_hash(path: str) -> str:
    """Hash of `reachable_sources(path)` and of the Numba settings, in 16 hexadecimal digits."""
    return _hash(reachable_sources(path))


def path_inside(file: str) -> str | None:
    """Where a file lies inside the package, or None for one that lies outside."""
    path = Path(file).resolve()
    return path.relative_to(PACKAGE).as_posix() if path.is_relative_to(PACKAGE) else None


@functools.cache
def stamp_of(file: str) -> str:
    """What the compiled code of a file is kept under. A file outside the package may reach all of it, and counts byte by byte."""
    path = path_inside(file)
    if path is not None:
        return reachable_hash(path)
    outside = Path(file).read_bytes() if Path(file).is_file() else b""
    return _digest(sources_hash().encode() + outside)[:16]
