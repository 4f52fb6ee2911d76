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
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from abut.cells.build.construction import tetrahedra
from abut.cells.build.regions import RegionRoles, Regions, read_roles
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
    mesh: MeshLike | Mapping[str, MeshLike],
    *,
    edge_length: Number = 0.1,
    epsilon: Number = 1e-3,
    outside: bool = False,
    obstacle: Literal["inside", "outside", "none"] = "outside",
    regions: RegionRoles | None = None,
) -> Environment:
    """Fill a closed surface with tetrahedra, or several surfaces, each a region of its own.

    With `outside=True` a box around the surface is filled as well, so that particles can leave the surface and come back. It is the bounding box,
    larger by `edge_length` on each side; `epsilon` holds for it too, and one so large that not half of this is left is refused.
    `Environment.surround` adds cells beyond the box.

    The surface may have several pieces. A piece inside another is a hollow, and its faces look into it, as those of the outer one look out;
    one that faces the same way as the piece around it would enclose nothing, and is refused, and so is a surface that is inside out.

    Several surfaces, by name, may lie in one another: `{"wall": outer, "lumen": inner}`. All look outwards. A cell belongs to the smallest of those
    that hold it, here the wall is what lies between the two; and what none of them holds is called "outside". One surface alone has the regions
    "inside" and "outside". `Environment.region` tells where each cell belongs.

    Needs the `mesh` extra (`pip install "abut[mesh]"`).

    Args:
        mesh: the surface, whatever `abut.as_mesh` takes; or surfaces by name.
        edge_length: how long the edges of the tetrahedra should be, as a share of the diagonal of the surface's bounding box.
        epsilon: how far their surface may lie beside the given one, as a share of the same diagonal.
        outside: whether to fill a box around the surface too.
        obstacle: with `outside`, which side cannot be entered.
        regions: what becomes of the cells of a region, by its name: "free", "obstacle" or "left out"; `obstacle` where nothing is said.

    Returns:
        The environment.

    Raises:
        Unsupported: the extra is missing.
        InvalidInput: a surface is not closed, or holds nothing of its own.

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
    surfaces = _read_surfaces(mesh)
    surface = _join(list(surfaces.values()))
    names = (*surfaces, "outside")
    roles = read_roles(regions, Regions(np.empty(0, np.int64), names, {}))
    length = arrays.scalar(edge_length, "edge_length", least=1e-3, most=1.0)
    tolerance = arrays.scalar(epsilon, "epsilon", least=1e-6, most=0.1)
    fill = _find_filler()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # fTetWild leaves a file where it is run
        vertices, rows = fill(
            np.array(surface.vertices),
            np.array(surface.faces, np.int32),
            edge_length_fac=length,
            epsilon=tolerance,
            disable_filtering=outside or len(surfaces) > 1,
        )
    points, cells = np.asarray(vertices, np.float64), np.asarray(rows, np.int64)
    if not len(cells):
        raise InvalidInput("mesh", "encloses nothing that could be filled at this tolerance")
    if outside:
        used, margin = points[np.unique(cells)], 0.5 * length * float(np.linalg.norm(np.ptp(surface.vertices, axis=0)))
        low, high = surface.vertices.min(axis=0), surface.vertices.max(axis=0)
        if min((low - used.min(axis=0)).min(), (used.max(axis=0) - high).min()) < margin:
            words = f"{tolerance:g} is too large: the box around the surface did not keep its place"
            raise InvalidInput("epsilon", words)
    number = _find_innermost(list(surfaces.values()), points[cells].mean(axis=1))
    if not outside:  # what is filled is inside; at the surface the tolerance may say otherwise
        beyond = number == len(surfaces)
        if len(surfaces) == 1:
            number[beyond] = 0
        else:
            cells, number = cells[~beyond], number[~beyond]
    for k, name in enumerate(surfaces):
        if not (number == k).any():
            raise InvalidInput("mesh", f"{name!r} holds nothing of its own that could be filled at this tolerance")
    told = set(map(str, regions)) if regions is not None else set[str]()
    outer = number == len(surfaces)
    marks = {"inside": ~outer, "outside": outer, "none": np.zeros(len(cells), np.bool_)}[obstacle]
    for k, name in enumerate(names):
        if name in told:
            marks[number == k] = roles[k] == "obstacle"
    keep = ~np.isin(number, [k for k, role in enumerate(roles) if role == "left out"])
    if not keep.any():
        raise InvalidInput("regions", "leave out all that there is")
    env = tetrahedra(points, cells[keep], marks[keep])
    env.interior.region[:] = number[keep]
    env.interior.region_names = names
    return env


def _read_surfaces(mesh: MeshLike | Mapping[str, MeshLike]) -> dict[str, Mesh]:
    """Closed surfaces by name."""
    if not isinstance(mesh, Mapping):
        surface = as_mesh(mesh)
        if not surface.is_closed:
            raise InvalidInput("mesh", "is not closed: its inside is not defined")
        _refuse_lost_pieces(surface)
        return {"inside": surface}
    given: Any = mesh
    surfaces: dict[str, Mesh] = {}
    for name, each in given.items():
        if not isinstance(name, str) or name == "outside":
            raise InvalidInput("mesh", f"{name!r} is no name of a surface")
        surface = as_mesh(each)
        if not surface.is_closed:
            raise InvalidInput(f"mesh[{name!r}]", "is not closed: its inside is not defined")
        try:
            _refuse_lost_pieces(surface)
        except InvalidInput as error:
            raise InvalidInput(f"mesh[{name!r}].faces", error.reason, error.row) from error
        surfaces[name] = surface
    if not surfaces:
        raise InvalidInput("mesh", "holds no surface")
    return surfaces


def _join(surfaces: list[Mesh]) -> Mesh:
    """All of them as one."""
    if len(surfaces) == 1:
        return surfaces[0]
    first = np.cumsum([0, *(len(each.vertices) for each in surfaces)])
    faces = np.concatenate([each.faces + begin for each, begin in zip(surfaces, first, strict=False)])
    return Mesh(np.concatenate([each.vertices for each in surfaces]), faces)


def _find_innermost(surfaces: list[Mesh], middles: Floats) -> Integers:
    """(n,) which surface holds each point, the smallest of several; their number where none does."""
    number, size = np.full(len(middles), len(surfaces)), np.full(len(middles), np.inf)
    for k, surface in enumerate(surfaces):
        held = winding_numbers(surface.vertices, surface.faces, middles) > 0.5
        held &= surface.volume < size
        number[held], size[held] = k, surface.volume
    return number


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
