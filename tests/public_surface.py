"""What a user can name: every public part, what it exports, and how each function and method is called.

`python tests/public_surface.py` writes the snapshot anew; the difference then stands in the commit, for a reader to judge.
"""

import dataclasses
import enum
import importlib
import inspect
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

SNAPSHOT = Path(__file__).with_name("public_surface.txt")
PARTS = {
    "abut": "abut",
    **{
        f"abut.{part}": f"abut.{part}"
        for part in (
            "broad", "ccd", "cells", "contours", "convex", "discrete", "dynamics", "geometry", "mesh", "scenes", "shapes", "viewer", "world",
        )
    },
    "abut.bvh": "abut.trees.binary",
    "abut.grid": "abut.papers.grid",
    "abut.joints": "abut.world.joints",
    "abut.volumes": "abut.trees.volumes",
}  # fmt: skip
"""Where each part is found, by the name under which users reach it."""


class Entry(NamedTuple):
    """A function, or a method of a class, and under which name a user calls it."""

    part: str
    name: str
    call: Callable[..., Any]

    def parameters(self) -> list[inspect.Parameter]:
        """What it takes, less the object itself."""
        found = list(inspect.signature(self.call).parameters.values())
        return [each for each in found if each.name not in ("self", "cls")]


def exports(part: str) -> list[tuple[str, Any]]:
    """The names that a part lists, and what they stand for."""
    module = importlib.import_module(PARTS[part])
    return [(name, getattr(module, name)) for name in sorted(module.__all__)]


def home_of(part: str) -> list[tuple[str, Any]]:
    """Those that the facade does not export as well: everything public comes once."""
    import abut

    listed = exports(part)
    return listed if part == "abut" else [(name, value) for name, value in listed if not _is_same(abut, name, value)]


def _is_same(module: Any, name: str, value: Any) -> bool:
    return name in module.__all__ and getattr(module, name) is value


def is_record(value: Any) -> bool:
    """Whether a class is a result, an enumeration or a table of fields: abut makes it, or its constructor is that of its fields."""
    return inspect.isclass(value) and (
        issubclass(value, enum.Enum | tuple | Exception) or dataclasses.is_dataclass(value) or _is_protocol(value)
    )


def _is_protocol(value: type) -> bool:
    return bool(getattr(value, "_is_protocol", False))


def entries(part: str) -> Iterator[Entry]:
    """The functions of a part, and the constructors and methods of its classes."""
    for name, value in home_of(part):
        if inspect.isclass(value):
            yield from _methods(part, name, value)
        elif inspect.isfunction(plain := getattr(value, "py_func", value)):
            yield Entry(part, name, plain)


def members_of(value: type) -> dict[str, Any]:
    """What a class has of its own and from those parts of it (`abut.world.manager`) that users never meet by name."""
    found: dict[str, Any] = {}
    for base in reversed(value.__mro__):
        if base is value or _is_part(base):
            found.update(vars(base))
    return found


def _is_part(base: type) -> bool:
    return base.__module__.startswith("abut.world.manager.")


def _methods(part: str, name: str, value: type) -> Iterator[Entry]:
    for each, held in members_of(value).items():
        call = held.__func__ if isinstance(held, classmethod | staticmethod) else held
        is_constructor = each == "__init__" and not is_record(value)
        if inspect.isfunction(call) and (is_constructor or not each.startswith("_")):
            yield Entry(part, f"{name}.{each}", call)


def describe() -> str:
    """The whole surface, one line a name."""
    lines: list[str] = []
    for part in PARTS:
        lines.append(f"[{part}]")
        listed = {entry.name: entry for entry in entries(part)}
        for name, value in home_of(part):
            if inspect.ismodule(value):
                lines.append(f"{name}: module")
            elif inspect.isclass(value):
                lines.extend(_lines_of_class(name, value, listed))
            elif name in listed:
                lines.append(f"{name}{_signature(listed[name].call)}")
            else:
                lines.append(f"{name}: {'alias' if typing.get_origin(value) else type(value).__name__}")
        lines.append("")
    return "\n".join(lines)


def _lines_of_class(name: str, value: type, listed: dict[str, Entry]) -> Iterator[str]:
    bases = [base.__name__ for base in value.__bases__ if base is not object and not _is_part(base)]
    yield f"class {name}({', '.join(bases)})".replace("()", "")
    if issubclass(value, enum.Enum):
        for member in value:
            yield f"{name}.{member.name} = {member.value}"
        return
    for field in getattr(value, "_fields", None) or [field.name for field in _fields(value)]:
        yield f"{name}.{field}: field"
    for each, held in sorted(members_of(value).items()):
        if isinstance(held, property) and not each.startswith("_"):
            yield f"{name}.{each}: {'attribute' if held.fset else 'property'}"
        elif f"{name}.{each}" in listed:
            yield f"{name}.{each}{_signature(listed[f'{name}.{each}'].call)}"


def _fields(value: Any) -> Any:
    return dataclasses.fields(value) if dataclasses.is_dataclass(value) else ()


def _signature(call: Callable[..., Any]) -> str:
    """Names, order, kinds and defaults; not annotations, which are prose to a caller."""
    bare = [each.replace(annotation=inspect.Parameter.empty) for each in inspect.signature(call).parameters.values()]
    return str(inspect.Signature(bare))


if __name__ == "__main__":
    SNAPSHOT.write_text(describe(), encoding="utf-8")
