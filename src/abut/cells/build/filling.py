"""Cells from a closed surface: its inside, filled with tetrahedra by fTetWild (the `mesh` extra), or a box around it, inside and outside.

fTetWild works with a tolerance: the surface of the tetrahedra is within `epsilon` of the given one, relative to the diagonal of its bounding box, and
has other vertices. What the cells follow exactly is the surface that comes out, not the one that went in.
"""

import contextlib
import importlib
import importlib.util
import sys
import tempfile
import types
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from abut.cells.build.construction import tetrahedra
from abut.cells.environment import Environment
from abut.core import arrays
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput, Unsupported
from abut.core.types import Number
from abut.mesh import Mesh, MeshLike, as_mesh

AT_ONCE = 1 << 22
"""Pairs of a point and a face whose solid angles are taken at a time: 100 MB."""
MOST_ASKED = 64
"""Of how many corners of a piece it is asked in which other pieces they lie."""


def from_surface(
    mesh: MeshLike,
    *,
    edge_length: Number = 0.1,
    epsilon: Number = 1e-3,
    outside: bool = False,
    obstacle: Literal["inside", "outside", "none"] = "outside",
) -> Environment:
    """Fill a closed surface with tetrahedra.

    With `outside=True` a box around the surface is filled as well, so that particles can leave the surface and come back. It is the bounding box,
    larger by `edge_length` on each side; `epsilon` holds for it too, and one so large that not half of this is left is refused.
    `Environment.surround` adds cells beyond the box.

    The surface may have several pieces. A piece inside another is a hollow, and its faces look into it, as those of the outer one look out;
    one that faces the same way as the piece around it would enclose nothing, and is refused, and so is a surface that is inside out.

    Needs the `mesh` extra (`pip install "abut[mesh]"`).

    Args:
        mesh: the surface, whatever `abut.as_mesh` takes.
        edge_length: how long the edges of the tetrahedra should be, as a share of the diagonal of the surface's bounding box.
        epsilon: how far their surface may lie beside the given one, as a share of the same diagonal.
        outside: whether to fill a box around the surface too.
        obstacle: with `outside`, which side cannot be entered.

    Returns:
        The environment.

    Raises:
        Unsupported: the extra is missing.
        InvalidInput: the surface is not closed.

    Examples:
        A surface that lacks a face has no inside:

        >>> import abut
        >>> ball = abut.scenes.icosphere(1)
        >>> abut.cells.from_surface((ball.vertices, ball.faces[1:]))
        Traceback (most recent call last):
            ...
        abut.core.errors.InvalidInput: mesh: is not closed: its inside is not defined
    """
    arrays.choice(obstacle, "obstacle", ("inside", "outside", "none"))
    outside = arrays.flag(outside, "outside")
    surface = as_mesh(mesh)
    if not surface.is_closed:
        raise InvalidInput("mesh", "is not closed: its inside is not defined")
    _refuse_lost_pieces(surface)
    length = arrays.scalar(edge_length, "edge_length", least=1e-3, most=1.0)
    tolerance = arrays.scalar(epsilon, "epsilon", least=1e-6, most=0.1)
    fill = _find_filler()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # fTetWild leaves a file where it is run
        vertices, rows = fill(
            np.array(surface.vertices),
            np.array(surface.faces, np.int32),
            edge_length_fac=length,
            epsilon=tolerance,
            disable_filtering=outside,
        )
    points, cells = np.asarray(vertices, np.float64), np.asarray(rows, np.int64)
    if not len(cells):
        raise InvalidInput("mesh", "encloses nothing that could be filled at this tolerance")
    cells = _turn_positive(points, cells)
    if not outside:
        return tetrahedra(points, cells)
    used, margin = points[np.unique(cells)], 0.5 * length * float(np.linalg.norm(np.ptp(surface.vertices, axis=0)))
    room = min(
        (surface.vertices.min(axis=0) - used.min(axis=0)).min(), (used.max(axis=0) - surface.vertices.max(axis=0)).min()
    )
    if room < margin:
        raise InvalidInput("epsilon", f"{tolerance:g} is too large: the box around the surface did not keep its place")
    inner = winding_numbers(surface.vertices, surface.faces, points[cells].mean(axis=1)) > 0.5
    marks = {"inside": inner, "outside": ~inner, "none": np.zeros(len(cells), np.bool_)}
    return tetrahedra(points, cells, marks[obstacle])


def _refuse_lost_pieces(surface: Mesh) -> None:
    """Refuse pieces that have the inside on neither of their sides, or on both. Pieces that pass through one another are taken together."""
    for piece in np.unique(surface.components).tolist():
        own = surface.components == piece
        corners = surface.vertices[surface.faces[own]]
        corners = corners - corners[0, 0]
        sense = np.sign(np.einsum("ij,ij->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])))
        used = np.unique(surface.faces[own])
        chosen = used[:: max(1, len(used) // MOST_ASKED)]
        around = np.zeros(len(chosen))
        if not own.all():
            around = winding_numbers(surface.vertices, surface.faces[~own], surface.vertices[chosen])
        face = int(np.argmax(own))
        if sense > 0 and around.min() > 0.5:
            words = "belongs to a piece inside another that faces the same way: turn its faces round for a hollow, or leave it out"
            raise InvalidInput("mesh.faces", words, face)
        if sense < 0 and (around.max() < 0.5 or around.min() > 1.5):
            raise InvalidInput("mesh.faces", "belongs to a piece that is inside out", face)


def _find_filler() -> Any:
    """The function that fills. Releases of pytetwild import pyvista at once, which they need for drawing only: an empty module stands in for it."""
    stand_in = None
    if "pytetwild" not in sys.modules and importlib.util.find_spec("pyvista") is None:
        stand_in = sys.modules["pyvista"] = types.ModuleType("pyvista")
    try:
        return importlib.import_module("pytetwild").tetrahedralize
    except ImportError as error:
        raise Unsupported(f'cells from a surface need the mesh extra: pip install "abut[mesh]" ({error})') from error
    finally:
        if stand_in is not None:
            del sys.modules["pyvista"]


def _turn_positive(points: Floats, cells: Integers) -> Integers:
    """All tetrahedra in abut's order; which order they are in is the same for all."""
    a, b, c, d = (points[cells[:, k]] for k in range(4))
    volume = np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a)
    return cells if np.median(volume) > 0.0 else cells[:, [0, 2, 1, 3]]


def winding_numbers(vertices: Floats, faces: Integers, points: Floats) -> Floats:
    """How often a closed surface, anticlockwise seen from outside, goes around each point (Van Oosterom and Strackee 1983): 1 inside, 0 outside."""
    corners = vertices[faces]
    total = np.empty(len(points))
    step = max(1, AT_ONCE // max(len(faces), 1))
    for first in range(0, len(points), step):
        a, b, c = (corners[np.newaxis, :, k] - points[first : first + step, np.newaxis] for k in range(3))
        total[first : first + step] = _solid_angles(a, b, c).sum(axis=1) / (4.0 * np.pi)
    return total


def _solid_angles(a: NDArray[Any], b: NDArray[Any], c: NDArray[Any]) -> NDArray[Any]:
    lengths = [np.linalg.norm(v, axis=-1) for v in (a, b, c)]
    over = np.einsum("...i,...i->...", a, np.cross(b, c))
    under = np.prod(lengths, axis=0)
    for (u, v), w in zip(((a, b), (b, c), (c, a)), (lengths[2], lengths[0], lengths[1]), strict=True):
        under = under + np.einsum("...i,...i->...", u, v) * w
    return 2.0 * np.arctan2(over, under)
