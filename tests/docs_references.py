"""What the documentation shows as reference (`::: abut.contours.nest`): the objects, found by the path that the page names."""

import contextlib
import enum
import functools
import importlib
import inspect
import re
from types import ModuleType
from typing import Any

from docs_names import PAGES

REFERENCE = re.compile(r"^::: ([\w.]+)\n?((?:    .*\n?)*)", re.MULTILINE)
MEMBERS = re.compile(r"members: *\[([^]]*)\]")


def is_shown(value: Any) -> bool:
    """Whether a public thing stands on some page: by itself, as a member of its enumeration, or of its module."""
    if inspect.ismodule(value):
        return any(_home_of(found).startswith(value.__name__) for found in _shown())
    return any(found is value for found in _shown()) or (isinstance(value, enum.Enum) and is_shown(type(value)))


def found_by(path: str) -> list[Any]:
    """What a dotted path names: a module, an attribute of what stands before the last dot, or one of each."""
    found: list[Any] = []
    owner, _, name = path.rpartition(".")
    with contextlib.suppress(ModuleNotFoundError):
        found.append(importlib.import_module(path))
    for before in found_by(owner) if owner else []:
        if hasattr(before, name) and not any(getattr(before, name) is other for other in found):
            found.append(getattr(before, name))
    return found


def references() -> list[tuple[str, str, str]]:
    """Page, path and options of each reference."""
    return [
        (page.name, path, options)
        for page in PAGES
        for path, options in REFERENCE.findall(page.read_text(encoding="utf-8"))
    ]


@functools.cache
def _shown() -> list[Any]:
    shown: list[Any] = []
    for _, path, options in references():
        listed = MEMBERS.search(options)
        for found in found_by(path):
            shown.append(found)
            if inspect.ismodule(found):
                shown += [getattr(found, name) for name in (listed[1].split(", ") if listed else _names_of(found))]
    return shown


def _names_of(module: ModuleType) -> list[str]:
    """What a module lists, or what it defines."""
    own = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
    return list(getattr(module, "__all__", [name for name in own if not name.startswith("_")]))


def _home_of(thing: Any) -> str:
    return thing.__name__ if inspect.ismodule(thing) else str(getattr(thing, "__module__", ""))
