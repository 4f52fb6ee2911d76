"""Benchmarks and examples name only what the library has: nobody runs all of them after each change, and each would take minutes."""

import ast
import functools
import importlib
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = [*sorted((ROOT / "benchmarks").glob("*.py")), *sorted((ROOT / "examples").glob("*.py"))]


def modules_of(tree):
    """What names of a script stand for modules of abut, and what it imports from them that is not there."""
    known, missing = {}, []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "abut":
                    module = importlib.import_module(alias.name)
                    known[alias.asname or "abut"] = module if alias.asname else importlib.import_module("abut")
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "abut":
            for alias in node.names:
                try:
                    known[alias.asname or alias.name] = import_name(importlib.import_module(node.module), alias.name)
                except AttributeError:
                    missing.append(f"line {node.lineno}: {node.module}.{alias.name}")
                except ModuleNotFoundError as error:  # of abut, or of an extra that is not installed
                    if str(error.name).partition(".")[0] == "abut":
                        missing.append(f"line {node.lineno}: {node.module}.{alias.name}")
    return known, missing


def import_name(source, name):
    """What `from source import name` gives."""
    return getattr(source, name) if hasattr(source, name) else importlib.import_module(f"{source.__name__}.{name}")


def chain_of(node):
    """The names of a.b.c; none where something else is inside."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return [node.id, *reversed(names)] if isinstance(node, ast.Name) else []


def find_missing(tree):
    """Chains of attributes that lead out of the library's modules and classes."""
    known, missing = modules_of(tree)
    own = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for node in ast.walk(tree):
        names = chain_of(node)
        if len(names) < 2 or names[0] not in known or names[0] in own:
            continue
        value = known[names[0]]
        for name in names[1:]:
            if not isinstance(value, types.ModuleType | type):
                break
            if not hasattr(value, name):
                missing.append(f"line {node.lineno}: {'.'.join(names)}")
                break
            value = getattr(value, name)
            if isinstance(value, property | functools.cached_property):
                break
    return missing


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_scripts_name_what_is_there(path):
    assert find_missing(ast.parse(path.read_text(encoding="utf-8"))) == []


def test_what_is_not_there_is_found():
    script = "import abut\nfrom abut import cells\nfrom abut.ccd import nothing\nabut.sweep\nabut.swoop(1)\ncells.Mobile.jump\n"
    assert sorted(find_missing(ast.parse(script))) == [
        "line 3: abut.ccd.nothing",
        "line 5: abut.swoop",
        "line 6: cells.Mobile.jump",
    ]
