"""The public surface: what it is, that each name comes from one place, and that everything says what it takes and shows how it is called."""

import doctest
import importlib
import inspect
import re

import numpy as np
import pytest

from abut.core import jit
from public_surface import PARTS, SNAPSHOT, describe, entries, exports, home_of, is_record

NO_EXAMPLE = {
    "as_shape": "shown by World.add",
}
"""Functions and classes whose docstring has no example, and why."""


def test_nothing_public_comes_or_goes_unseen():
    """After a change that is meant: `python tests/public_surface.py`."""
    assert describe() == SNAPSHOT.read_text(encoding="utf-8")


@pytest.mark.parametrize("part", PARTS)
def test_each_name_is_listed_once(part):
    module = importlib.import_module(PARTS[part])
    assigned = [line for line in inspect.getsource(module).splitlines() if line.startswith("__all__")]
    assert len(assigned) == 1
    assert len(module.__all__) == len(set(module.__all__))
    assert not [name for name, _ in exports(part) if name.startswith("_")]


def test_two_classes_do_not_share_a_name():
    """Enumerations of kinds and statuses may: `ccd.Kind`, `cells.Kind`."""
    found: dict[str, set[type]] = {}
    for part in PARTS:
        for name, value in home_of(part):
            if inspect.isclass(value):
                found.setdefault(name, set()).add(value)
    assert {name for name, classes in found.items() if len(classes) > 1} <= {"Kind", "Status"}


@pytest.mark.parametrize("part", PARTS)
def test_no_parameter_is_an_object(part):
    """An editor shows what is taken: MeshLike, PoseLike, PointsLike."""
    vague = [
        f"{entry.name}({each.name})"
        for entry in entries(part)
        for each in entry.parameters()
        if re.search(r"\bobject\b", str(each.annotation)) or each.annotation is inspect.Parameter.empty
    ]
    assert vague == []


@pytest.mark.parametrize("part", PARTS)
def test_docstrings_name_every_argument(part):
    """In the section `Args:` of the function, or for a constructor, of its class."""
    missing = []
    for entry in entries(part):
        text = inspect.getdoc(entry.call) or ""
        if entry.name.endswith(".__init__"):
            text = inspect.getdoc(dict(home_of(part))[entry.name.removesuffix(".__init__")]) or ""
        section = re.search(r"^Args:\n((?:[ ]{4}.*\n?|\n)*)", text, re.MULTILINE)
        named = set(re.findall(r"^ {4}\*{0,2}(\w+)(?:, \*{0,2}\w+)*:", section[1], re.MULTILINE)) if section else set()
        if section:
            for several in re.findall(r"^ {4}(\*{0,2}\w+(?:, \*{0,2}\w+)+):", section[1], re.MULTILINE):
                named |= {each.strip(" *") for each in several.split(",")}
        missing += [f"{entry.name}({each.name})" for each in entry.parameters() if each.name not in named]
    assert missing == []


@pytest.mark.skipif(jit.INTERPRETED, reason="kernels are told from other functions by being compiled")
@pytest.mark.parametrize("part", PARTS)
def test_functions_and_classes_have_an_example(part):
    """Kernels and element functions, which compiled code calls, have theirs in the docstring of their module."""
    asked = [
        (name, value)
        for name, value in home_of(part)
        if (inspect.isclass(value) and not is_record(value))
        or (inspect.isfunction(value) and not hasattr(value, "implementations") and not hasattr(value, "py_func"))
    ]
    assert [
        name for name, value in asked if ">>>" not in (inspect.getdoc(value) or "") and name not in NO_EXAMPLE
    ] == []


def examples_of(part):
    """(name, test) for each docstring with an example, of functions, classes and methods."""
    finder = doctest.DocTestFinder(recurse=False)
    texts = [(name, getattr(value, "py_func", value)) for name, value in home_of(part) if not inspect.ismodule(value)]
    texts += [(entry.name, entry.call) for entry in entries(part) if "." in entry.name]
    for name, value in texts:
        if ">>>" in (getattr(value, "__doc__", None) or ""):
            yield from finder.find(value, f"{part}.{name}", module=False, globs={})


@pytest.mark.skipif(jit.INTERPRETED, reason="examples are run compiled")
@pytest.mark.parametrize("part", PARTS)
def test_examples_give_what_they_show(part):
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS, verbose=False)
    reports: list[str] = []
    with np.printoptions(precision=6, suppress=True):
        for test in examples_of(part):
            test.globs = {}
            runner.run(test, out=reports.append)
    assert not runner.failures, "\n".join(reports)
