"""Triangle meshes: `Mesh` and its adjacency, reading and writing.

`topology` adjacency from faces · `surface` the Mesh · `reading` files and other libraries' meshes · `writing` files · `picture` a small drawing.
"""

from abut.mesh.reading import MeshLike, as_mesh, load
from abut.mesh.surface import Mesh
from abut.mesh.topology import Incidence
from abut.mesh.writing import save

__all__ = ["Incidence", "Mesh", "MeshLike", "as_mesh", "load", "save"]
