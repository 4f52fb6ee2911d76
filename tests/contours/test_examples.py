"""The examples in the docstrings of the modules that contours exports give what they show."""

import doctest
import inspect

import numpy as np
import pytest

from abut.contours import drawings, picture, svg
from abut.core import jit


@pytest.mark.skipif(jit.INTERPRETED, reason="examples are run compiled")
@pytest.mark.parametrize(
    "function", [picture.draw, svg.parse_path, svg.parse_transform, svg.read, drawings.read], ids=lambda f: f.__name__
)
def test_examples_give_what_they_show(function):
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE, verbose=False)
    (found,) = doctest.DocTestFinder(recurse=False).find(function, function.__name__, module=False, globs={})
    with np.printoptions(precision=6, suppress=True):
        assert runner.run(found).attempted > 1
    assert not runner.failures
    args = inspect.getdoc(function).split("Args:\n")[1]
    assert all(f"{name}:" in args for name in inspect.signature(function).parameters)
