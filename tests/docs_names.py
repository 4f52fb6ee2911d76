"""What the documentation names in backticks, and whether it is there: files, modules, attributes, constants, options and commands.

A name that only a reader's own code has (`body`, `tool`) is not looked for, but what stands after its last dot is.
"""

import builtins
import functools
import importlib
import keyword
import re
from pathlib import Path

import numba
import typer

from abut.app import bench, cli

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "src" / "abut"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`\n]+)`")
COMMAND = re.compile(r"(?:[A-Z][A-Z_]*=\S+ )*(?:\.venv/bin/)?(abut|make|python|pytest)( .*|$)")
PATH = re.compile(r"[\w.-]*(?:/[\w.-]*)+")
KEPT_FILE = re.compile(r"[\w-]+\.(?:py|md|toml|cff|yml)")
NAME = re.compile(r"_{0,2}[A-Za-z]\w*(?:\.\w+)*")
CALL = re.compile(r"([A-Za-z_][\w.]*)\(.*\)")
CONSTANT = re.compile(r"([A-Z][A-Z0-9]*_?[A-Z0-9_]+)(?:=.*)?")
NO_CODE = re.compile(r'"""(?s:.*?)"""|#.*')
SCHEMA = re.compile(r"abut\.\w+/\d+")
FIRST_CELL = re.compile(r"^\| *([^|\n]*?) *\|", re.MULTILINE)
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")

OTHERS = {
    *keyword.kwlist, *dir(builtins), *dir(str),
    "TypingError", "inspect_asm", "inspect_llvm", "signatures",  # of Numba
    "alloca", "cached_property",  # of LLVM, of Python's library
    "omp", "workqueue", "tbb", "fork", "spawn", "forkserver", "passive",  # threads and processes
    "release",  # a workflow
    "a", "b", "n", "m", "k", "p", "T", "vX.Y.Z", "multiprocessing.Pool", "PYTHONPATH", "src/abut/__pycache__",
    "f_001", "f_004",  # files of a reader
    "_a", "_b", "_t0", "_t1", "_sq", "_count",  # how names end
    "point_x", "normal_z", "from", "to",  # columns and fields
}  # fmt: skip
"""Names that others have, or that stand for something."""
FILE_SUFFIXES = (".npz", ".svg", ".csv", ".json", ".html", ".ply", ".obj", ".parquet", ".off", ".stl")
"""Files that a reader has or makes."""
VARIABLES = {"world": "World", "mesh": "Mesh"}
"""What pages call an object where a part has the same name."""


def spans_of(page: Path) -> list[str]:
    """What stands in backticks on a page, outside blocks; the commands of its blocks."""
    text = page.read_text(encoding="utf-8")
    lines = [
        line.partition("  #")[0].strip()
        for kind, block in FENCE.findall(text)
        if not kind
        for line in block.splitlines()
    ]
    return SPAN.findall(FENCE.sub("", text)) + [line for line in lines if COMMAND.fullmatch(line)]


def missing_on(page: Path) -> list[str]:
    """What a page names and nobody has, in order."""
    missing = [span for span in spans_of(page) if not is_there(span)]
    if page.name == "architecture.md":  # its tables begin with parts
        parts = [part for cell in FIRST_CELL.findall(page.read_text(encoding="utf-8")) for part in SPAN.findall(cell)]
        missing += [part for part in parts if not _is_part(part)]
    return list(dict.fromkeys(missing))


def _is_part(text: str) -> bool:
    place = SOURCES / text.replace(".", "/")
    return place.exists() or place.with_suffix(".py").exists()


def is_there(span: str) -> bool:
    """Whether a span names nothing that is looked for, or something that exists."""
    text = span.replace("\\|", "|").split(" | ")[0].strip()
    if COMMAND.fullmatch(text):
        return _is_command(text)
    if SCHEMA.fullmatch(text):
        return any(f'"{text}"' in content for content in _texts())
    if text in OTHERS:
        return True
    if PATH.fullmatch(text) or KEPT_FILE.fullmatch(text):
        return _is_file(text)
    if text.endswith(FILE_SUFFIXES):
        return True
    if text.startswith("--"):
        return set(OPTION.findall(text)) <= _options()
    if match := CONSTANT.fullmatch(text):
        return _is_constant(match[1])
    if match := CALL.fullmatch(text):
        return _is_name(match[1].lstrip("."))
    if NAME.fullmatch(text):
        return _is_name(text)
    return True


# --- files and commands


def _is_file(text: str) -> bool:
    if any((folder / text).exists() for folder in (ROOT, ROOT / "docs", ROOT / "tests", SOURCES)):
        return True
    return "/" not in text and any(path.name == text for path in (*_files(), *(ROOT / "tests").rglob("*.py")))


def _is_command(text: str) -> bool:
    words = [word.strip("'\"") for word in text.split()]
    named = [word.partition("=")[0] for word in words if re.match(r"[A-Z][A-Z_]*=", word)]
    words = [word for word in words if not re.match(r"[A-Z][A-Z_]*=", word)]
    if not all(_is_constant(name) for name in named):
        return False
    tool, *rest = words
    tool = tool.removeprefix(".venv/bin/")
    if tool == "abut":
        return _is_abut_command(rest, text)
    if tool == "make":
        return all(word in _targets() for word in rest if not word.startswith("-"))
    files = [word for word in rest if word.endswith(".py") or (tool == "pytest" and "/" in word)]
    return all((ROOT / word).exists() for word in files) and _has_options(files, text)


def _is_abut_command(words: list[str], text: str) -> bool:
    commands = _commands()
    if not words:
        return True
    if words[0].startswith("-"):
        return words[0] in ("--version", "--help")
    if words[0] not in commands:
        return False
    if not set(OPTION.findall(text)) <= {
        option for parameter in commands[words[0]].params for option in parameter.opts + parameter.secondary_opts
    }:
        return False
    if words[0] == "bench":
        return all(word in bench.names() for word in words[1:] if word.islower() and not word.startswith("-"))
    return True


def _has_options(files: list[str], text: str) -> bool:
    """Whether a script takes the options that stand after it."""
    contents = [
        (ROOT / name).read_text(encoding="utf-8") for name in files if name.startswith(("examples/", "benchmarks/"))
    ]
    return all(any(f'"{option}"' in content for content in contents) for option in OPTION.findall(text) if contents)


@functools.cache
def _commands():
    return typer.main.get_command(cli.app).commands


@functools.cache
def _options() -> set[str]:
    """Of all commands and of all examples."""
    of_commands = {
        option
        for command in _commands().values()
        for parameter in command.params
        for option in parameter.opts + parameter.secondary_opts
    }
    return of_commands | {
        option
        for path in (ROOT / "examples").glob("*.py")
        for option in OPTION.findall(path.read_text(encoding="utf-8"))
    }


@functools.cache
def _targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


# --- names


def _is_constant(name: str) -> bool:
    if name.startswith("NUMBA_"):
        option = name.removeprefix("NUMBA_")
        return any(hasattr(numba.config, attribute) for attribute in (option, f"{option}_DEFAULT", name))
    return (
        name in _words()
        or name in OTHERS
        or name == "ABUT_SOAK"
        or f"$({name})" in (ROOT / "Makefile").read_text(encoding="utf-8")
    )


def _is_name(text: str) -> bool:
    if text in OTHERS:
        return True
    first, *rest = text.split(".")
    if not rest:
        return text in _words() or text in _stems()
    owner = _owner(first)
    if owner is None:
        return all(word in _words() or word in OTHERS for word in rest)
    return _resolves(owner, rest) or (first in VARIABLES and _resolves(_classes()[VARIABLES[first]], rest))


def _owner(name: str):
    """What a dotted name begins with: the package, a part or a module of it, a public class; None for a name of the reader's."""
    if name == "abut":
        return importlib.import_module("abut")
    for module in (f"abut.{name}", f"abut.core.{name}"):
        try:
            return importlib.import_module(module)
        except ModuleNotFoundError:
            continue
    return _classes().get(name)


def _resolves(owner, names: list[str]) -> bool:
    """Attributes, submodules, fields and what a constructor sets, from an owner on."""
    for name in names:
        if isinstance(owner, type):
            return name in _words() and (hasattr(owner, name) or name in _names_in(owner))
        try:
            found = getattr(owner, name)
        except AttributeError:
            try:
                found = importlib.import_module(f"{owner.__name__}.{name}")
            except (AttributeError, ModuleNotFoundError):
                return False
        owner = found
    return True


@functools.cache
def _classes() -> dict[str, type]:
    from public_surface import PARTS, exports

    return {name: value for part in PARTS for name, value in exports(part) if isinstance(value, type)}


def _names_in(owner: type) -> set[str]:
    """What the bodies of a class and of its bases set on `self` or annotate."""
    names: set[str] = set()
    for base in owner.__mro__[:-1]:
        names |= set(getattr(base, "__annotations__", {}))
        path = getattr(importlib.import_module(base.__module__), "__file__", None)
        if path and Path(path).is_relative_to(SOURCES):
            names |= set(re.findall(r"\bself\.(\w+)", _code(Path(path))))
    return names


@functools.cache
def _files() -> list[Path]:
    """Of the sources, the benchmarks and the examples: what only tests have is not for readers."""
    folders = (SOURCES, ROOT / "benchmarks", ROOT / "examples")
    return [path for folder in folders for path in folder.rglob("*.py")]


@functools.cache
def _stems() -> set[str]:
    """Modules, rooms and benchmarks."""
    folders = {path.name for path in SOURCES.rglob("*") if path.is_dir()}
    return folders | {path.stem for path in _files()} | set(bench.names())


@functools.cache
def _texts() -> list[str]:
    return [path.read_text(encoding="utf-8") for path in _files()]


@functools.cache
def _code(path: Path) -> str:
    """Without docstrings and comments."""
    return NO_CODE.sub("", path.read_text(encoding="utf-8"))


@functools.cache
def _words() -> set[str]:
    """Every word of the code: what it binds, reads and takes, and what its strings say; not what comments and docstrings say."""
    return {word for path in _files() for word in re.findall(r"[A-Za-z_]\w*", _code(path))}
