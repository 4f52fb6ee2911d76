"""A body as users give it: a mesh, or points and edges."""

from typing import TypeAlias, cast

from abut.core import arrays
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput
from abut.core.types import IndicesLike, PointsLike
from abut.mesh import MeshLike, as_mesh

BodyLike: TypeAlias = MeshLike | tuple[PointsLike, IndicesLike]
"""A mesh, or (points, edges)."""


def read_shape(shape: BodyLike, dimension: int) -> tuple[Floats, Integers, Integers | None]:
    """Points, edges and faces."""
    if isinstance(shape, tuple) and len(shape) == 2:
        given = cast("tuple[PointsLike, IndicesLike]", shape)
        rows = arrays.as_array(given[1], "edges")
        if dimension == 2 or (rows.ndim == 2 and rows.shape[1] == 2):
            points = arrays.points(given[0], "points", dimensions=dimension, keep=True)
            return points, arrays.indices(given[1], "edges", 2, len(points), keep=True), None
    if dimension == 2:
        raise InvalidInput("shape", "in the plane a mobile is given as (points, edges)")
    mesh = as_mesh(shape)
    return mesh.vertices, mesh.edges, mesh.faces
