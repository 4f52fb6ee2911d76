"""The transform attribute: a list of functions, and the matrix that they make."""

import math

import numpy as np

from abut.contours.svg.lexer import Lexer
from abut.core import arrays
from abut.core.arrays import LARGEST_COORDINATE, Floats, frozen
from abut.core.errors import InvalidInput


def parse_transform(text: str, name: str = "transform") -> Floats:
    """The matrix of a transform attribute.

    Args:
        text: functions such as `translate(1 2) rotate(90)`; the last acts first.
        name: what errors call the text.

    Returns:
        (2,3) matrix: a point is turned by the first two columns, then moved by the third.

    Examples:
        >>> from abut.contours import svg
        >>> svg.parse_transform("translate(3 4) scale(2)").tolist()
        [[2.0, 0.0, 3.0], [0.0, 2.0, 4.0]]
    """
    text = arrays.instance(text, name, str)
    lexer, result = Lexer(text, name), np.eye(3)
    while not lexer.done:
        at = lexer.at
        kind = lexer.word()
        if kind is None or not lexer.take("("):
            raise lexer.error("expected a function such as translate(1 2)", at)
        numbers: list[float] = []
        while not lexer.take(")"):
            numbers.append(lexer.number())
        result = combine(result, _matrix(kind, numbers, name), name)
    return frozen(result)[:2]


def combine(outer: Floats, inner: Floats, name: str) -> Floats:
    """(3,3) matrix of the inner transform followed by the outer."""
    result = outer @ inner
    if not np.abs(result).max() <= LARGEST_COORDINATE:
        raise InvalidInput(name, f"the transforms together are beyond ±{LARGEST_COORDINATE:g}")
    return result


def translation(x: float, y: float) -> Floats:
    """(3,3) matrix that moves by x and y."""
    return np.array([(1.0, 0.0, x), (0.0, 1.0, y), (0.0, 0.0, 1.0)])


def _matrix(kind: str, numbers: list[float], name: str) -> Floats:
    count = len(numbers)
    result = np.eye(3)
    if kind == "matrix" and count == 6:
        result[:2] = np.reshape(numbers, (3, 2)).T
    elif kind == "translate" and count in (1, 2):
        result[:2, 2] = (numbers[0], numbers[1] if count == 2 else 0.0)
    elif kind == "scale" and count in (1, 2):
        result[0, 0], result[1, 1] = numbers[0], numbers[-1]
    elif kind == "rotate" and count in (1, 3):
        angle = math.radians(numbers[0])
        c, s = math.cos(angle), math.sin(angle)
        result[:2, :2] = ((c, -s), (s, c))
        center = np.array(numbers[1:] if count == 3 else (0.0, 0.0))
        result[:2, 2] = center - result[:2, :2] @ center
    elif kind == "skewX" and count == 1:
        result[0, 1] = math.tan(math.radians(numbers[0]))
    elif kind == "skewY" and count == 1:
        result[1, 0] = math.tan(math.radians(numbers[0]))
    else:
        raise InvalidInput(name, f"{kind[:20]} with {count} numbers is no transform")
    return result
