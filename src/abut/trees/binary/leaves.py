"""What is asked of two primitives once their leaves overlap. A kernel calls `accept`; the class of the question decides which.

A new question is one NamedTuple and one implementation.
"""

from typing import Any, NamedTuple

from abut.core.arrays import Floats, Integers
from abut.core.jit import generic, implement
from abut.geometry.crossings import meet_triangle_triangle
from abut.geometry.rows import vector_at


class Anything(NamedTuple):
    """Every pair is accepted: candidates for a test elsewhere. The field is not used; a NamedTuple has at least one."""

    nothing: int


class Facets(NamedTuple):
    """Pairs of triangles that have a common point, exactly. All vertices are in one frame."""

    vertices_a: Floats
    faces_a: Integers
    vertices_b: Floats
    faces_b: Integers


@generic
def accept(question: Any, p: int, q: int) -> bool:
    """Whether primitive p of a and primitive q of b are a pair."""
    return False


@implement(accept, Anything)
def _accept_anything(question: Anything, p: int, q: int) -> bool:
    return True


@implement(accept, Facets)
def _accept_facets(question: Facets, p: int, q: int) -> bool:
    return meet_triangle_triangle(
        vector_at(question.vertices_a, question.faces_a[p, 0]),
        vector_at(question.vertices_a, question.faces_a[p, 1]),
        vector_at(question.vertices_a, question.faces_a[p, 2]),
        vector_at(question.vertices_b, question.faces_b[q, 0]),
        vector_at(question.vertices_b, question.faces_b[q, 1]),
        vector_at(question.vertices_b, question.faces_b[q, 2]),
    )
