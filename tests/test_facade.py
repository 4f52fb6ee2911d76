"""One import path for each public name, read when it is first used."""

import ast
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


def test_an_unknown_name_is_refused():
    with pytest.raises(AttributeError, match="no attribute 'touch'"):
        abut.touch  # noqa: B018
