"""A mobile with a width: what it is made with, how its moves are answered, and the walls near it (`cells/width`)."""

import numpy as np

from abut.cells.edit.interior import Interior
from abut.cells.mobile.refining.shape import Shape
from abut.cells.mobile.response import Response
from abut.cells.mobile.steps.packed_move import ANSWER
from abut.cells.walk.results import COLLISION, FREE
from abut.cells.width.clearances import Clearance, make_clearance
from abut.cells.width.thickness import Thickness
from abut.cells.width.wide_moves import Went, move, move_as_one
from abut.core.arrays import Floats
from abut.core.errors import InvalidInput, Unsupported

ROUNDING = 1.0 - 2.0**-30
"""A body may begin nearer than its radius by what coordinates were rounded."""


def widen(interior: Interior, shape: Shape, radius: float) -> Thickness:
    """The width of a body, which is refused where a wall is nearer than that."""
    thickness = Thickness(radius, len(shape.cell), shape.edges, shape.faces)
    near = thickness.list_near_now(interior, shape.position, shape.cell, radius * ROUNDING)
    if len(near):
        worst = near[int(np.argmin(near["distance"]))]
        vertex, edge, face = thickness.name(int(worst["row"]))
        name, row = ("points", vertex) if vertex >= 0 else ("edges", edge) if edge >= 0 else ("faces", face)
        raise InvalidInput(name, f"is {worst['distance']:g} away from a wall, nearer than the radius {radius:g}", row)
    return thickness


def move_widely(
    interior: Interior, thickness: Thickness, shape: Shape, goals: Floats, response: str, after: str
) -> Response:
    """Move a body with a width."""
    if response in ("adaptive", "hybrid"):
        raise Unsupported(f"{response!r} response of a mobile with a radius")
    if after == "bounce":
        raise Unsupported("'bounce' of a mobile with a radius")
    if response == "rigid":
        went = move_as_one(thickness, interior, shape.position, shape.cell, goals)
    else:
        went = move(thickness, interior, shape.position, shape.cell, goals, slides=after == "slide")
    return answer_move(interior, thickness, shape, went)


def answer_move(interior: Interior, thickness: Thickness, shape: Shape, went: Went) -> Response:
    """The answer of a move."""
    moved = shape._replace(position=went.position, cell=went.part)
    return Response(moved, _tabulate(interior.dimension, thickness, went), np.arange(len(shape.cell)))


def _tabulate(dimension: int, thickness: Thickness, went: Went) -> np.ndarray:
    """Rows of ANSWER."""
    answer = np.zeros(len(went.part), ANSWER)
    touch, hit = went.touch, went.touch["row"] >= 0
    names = np.array([thickness.name(int(row)) for row in touch["row"]], np.int64).reshape(-1, 3)
    answer["status"] = np.where(hit, COLLISION, FREE)
    answer["kind"], answer["dart"] = np.where(hit, dimension - 1, dimension), touch["dart"]
    answer["edge"], answer["face"] = np.where(hit, names[:, 1], -1), np.where(hit, names[:, 2], -1)
    answer["time"] = went.time
    answer["normal"] = np.stack([touch[axis] for axis in ("nx", "ny", "nz")], axis=1)
    place = np.stack([touch[axis] for axis in ("x", "y", "z")], axis=1)
    answer["point"] = np.where(hit[:, np.newaxis], place, went.position)
    return answer


def list_clearance(
    interior: Interior, shape: Shape, thickness: Thickness | None, within: float, every: bool
) -> Clearance:
    """`Mobile.clearance`."""
    asked = thickness or Thickness(within, len(shape.cell), shape.edges, shape.faces)
    near = asked.list_near_now(interior, shape.position, shape.cell, within, every)
    return make_clearance(interior, asked, near, shape.position)
