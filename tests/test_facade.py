"""One import path for each public name, read when it is first used."""

import ast
import importlib
import subprocess
import sys
import types
from pathlib import Path

import pytest

import abut


def test_every_public_name_is_there():
    for name in abut.__all__:
        assert getattr(abut, name) is not None
    assert set(abut.__all__) <= set(dir(abut))


def test_types_and_values_come_from_the_same_places():
    """What type checkers read is what is imported at run time."""
    tree = ast.parse(Path(abut.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    named = [(node.module, alias) for node in block.body for alias in node.names]
    declared = {alias.asname or alias.name: f"{module}.{alias.name}" for module, alias in named}
    assert declared == {**{name: f"{home}.{name}" for name, home in abut._HOME_OF.items()}, **abut._PARTS}
    assert set(declared) == set(abut.__all__) - {"AbutError", "InvalidInput", "Unsupported"}


def test_scenes_are_read_one_by_one():
    """The same of the scenes; and a function keeps the name that its module has too."""
    tree = ast.parse(Path(abut.scenes.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    declared = {alias.name: node.module for node in block.body for alias in node.names}
    assert declared == abut.scenes._HOME_OF
    assert set(declared) == set(abut.scenes.__all__)
    for home in set(declared.values()):
        importlib.import_module(home)
    assert not [name for name in declared if isinstance(getattr(abut.scenes, name), types.ModuleType)]
    with pytest.raises(AttributeError, match="no attribute 'sphere'"):
        abut.scenes.sphere  # noqa: B018


def test_a_ball_needs_no_cells_and_no_world():
    code = (
        "import abut, sys; abut.scenes.icosphere(1); "
        "print([name for name in ('cells', 'world', 'contours', 'dynamics') if 'abut.' + name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_unknown_name_is_refused():
    with pytest.raises(AttributeError, match="no attribute 'touch'"):
        abut.touch  # noqa: B018
