"""What functions of this part take, where that is more than an array."""

from typing import Any, TypeAlias

from abut.core.types import IndicesLike, PathLike, PointsLike
from abut.mesh import Mesh

MeshLike: TypeAlias = Mesh | tuple[PointsLike, IndicesLike] | PathLike | Any
"""Whatever `abut.as_mesh` takes: a Mesh, (vertices, faces), the name of a file, a mesh of trimesh or meshio."""
