"""The triangle mesh: two arrays, checked once and never changed, and what follows from them, computed on demand.

Input may be degenerate. Zero-area faces, duplicate faces, unreferenced vertices, open and non-manifold surfaces are
meshes like any other. A face with a repeated vertex is *collapsed*: its segment is among `edges`, so that continuous
detection sees it, but it bounds nothing and is left out of `is_closed`, `is_oriented`, `is_manifold` and
`boundary_edges`.
"""

from functools import cached_property
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike

from abut.core import arrays, showing
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.jit import kernel
from abut.core.types import IndicesLike, PathLike, PointsLike
from abut.geometry import vec
from abut.geometry.rows import put_vector, vector_at
from abut.mesh import topology
from abut.mesh.topology import Incidence


class Mesh:
    """A triangle mesh: vertices (n,3) float64 and faces (m,3) int64, both read-only; m is at least 1.

    The arrays are the mesh's own: a later write to the caller's arrays does not reach them. They are copied at most
    once, and not at all where they are read-only already, as another mesh's are. Every property is computed on first
    use and kept; arrays are read-only.

    Meshes compare and hash by identity. A pickle holds vertices and faces only.

    Args:
        vertices: (n,3) positions, finite and at most 1e75.
        faces: (m,3) the vertices of each triangle, anticlockwise as seen from outside.

    Examples:
        >>> import abut
        >>> corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
        >>> mesh = abut.Mesh(corners, [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
        >>> mesh
        Mesh(4 vertices, 4 faces)
        >>> mesh.is_closed, round(mesh.volume, 4)
        (True, 0.1667)
    """

    vertices: Floats
    faces: Integers

    def __init__(self, vertices: PointsLike, faces: IndicesLike) -> None:
        own_vertices = arrays.points(vertices, "vertices", keep=True)
        if not len(own_vertices):
            raise InvalidInput("vertices", "is empty: a mesh has at least one vertex")
        own_faces = arrays.indices(faces, "faces", 3, len(own_vertices), keep=True)
        if not len(own_faces):
            raise InvalidInput("faces", "is empty: a mesh has at least one face")
        self.__dict__.update(vertices=own_vertices, faces=own_faces)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Mesh does not change: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Mesh does not change: cannot delete {name!r}")

    def __reduce__(self) -> tuple[type["Mesh"], tuple[Floats, Integers]]:
        return (type(self), (self.vertices, self.faces))

    def __len__(self) -> int:
        return len(self.faces)

    def __repr__(self) -> str:
        return showing.describe(
            self, showing.count(len(self.vertices), "vertex", "vertices"), showing.count(len(self.faces), "face")
        )

    def _repr_html_(self) -> str:
        from abut.mesh.picture import surface_html

        return surface_html(repr(self), self.vertices, self)

    def save(self, path: PathLike, face_colors: ArrayLike | None = None) -> None:
        """Write the mesh to a .ply, .obj, .off or .stl file; see `abut.save`.

        Args:
            path: the file, replaced if it is there; its suffix tells the kind.
            face_colors: (m,3) or (m,4) of 0 to 255, for .ply files only.
        """
        from abut.mesh.writing import save  # it knows what else counts as a mesh, and so knows this module

        save(self, path, face_colors)

    # --- adjacency

    @cached_property
    def _edges(self) -> topology.Edges:
        return topology.find_edges(self.faces, len(self.vertices))

    @property
    def edges(self) -> Integers:
        """(k,2) unique edges, each as (smaller, larger) vertex, ordered by the larger vertex and then by the smaller.

        This is the numbering of libigl's `edges(F)`. A side between equal vertices (of a collapsed face) is no edge.
        """
        return self._edges.edges

    @property
    def face_edges(self) -> Integers:
        """(m,3) edge of each side. Side i joins vertices i+1 and i+2, opposite vertex i; −1 where they are equal."""
        return self._edges.face_edges

    @property
    def edge_faces(self) -> Incidence:
        """The faces at each edge, ascending, each once; collapsed faces included."""
        return self._edges.edge_faces

    @cached_property
    def vertex_faces(self) -> Incidence:
        """The faces at each vertex, ascending, each once; collapsed faces included."""
        return topology.find_vertex_faces(self.faces, len(self.vertices))

    @cached_property
    def boundary_edges(self) -> Integers:
        """(b,) ascending indices into `edges` of those at exactly one face."""
        forward, backward, _ = self._uses
        return frozen(np.flatnonzero(forward + backward == 1))

    @cached_property
    def _components(self) -> tuple[Integers, Integers, int]:
        return topology.label_components(self.faces, len(self.vertices))

    @property
    def components(self) -> Integers:
        """(m,) the connected piece of each face. Common vertices connect; pieces are numbered by their first faces."""
        return self._components[0]

    @property
    def vertex_components(self) -> Integers:
        """(n,) the connected piece of each vertex, as in `components`; −1 for a vertex of no face."""
        return self._components[1]

    @property
    def component_count(self) -> int:
        """The number of connected pieces."""
        return self._components[2]

    @cached_property
    def _without_loose_vertices(self) -> "tuple[Integers, Mesh] | None":
        """The vertices that some face has, ascending, and the mesh of those alone; None where all are. Edges and faces keep their numbers."""
        used = np.zeros(len(self.vertices), dtype=np.bool_)
        used[self.faces.ravel()] = True
        if used.all():
            return None
        numbers = np.cumsum(used) - 1
        kept = frozen(np.flatnonzero(used))
        return kept, Mesh(frozen(self.vertices[kept]), frozen(numbers[self.faces]))

    # --- what kind of surface it is

    @cached_property
    def _uses(self) -> tuple[Integers, Integers, int]:
        return topology.count_uses(self.faces, self.face_edges, len(self.edges))

    @cached_property
    def is_closed(self) -> bool:
        """Whether every edge is at an even number of faces: a ray in general position enters as often as it leaves.

        Two tetrahedra with a common edge are closed. An edge of three faces, as one duplicate face makes them, is not,
        though it is no boundary edge either. A mesh of collapsed faces only is not closed.
        """
        forward, backward, proper = self._uses
        return proper > 0 and not ((forward + backward) % 2).any()

    @cached_property
    def is_oriented(self) -> bool:
        """Whether neighbours agree: along each edge as many faces run one way as the other, up to an odd one."""
        forward, backward, _ = self._uses
        return not (np.abs(forward - backward) > 1).any()

    @cached_property
    def is_manifold(self) -> bool:
        """Whether every edge is at one or two faces, and the faces at each vertex form one fan or one cycle.

        A boundary is allowed. A duplicate pair of faces alone is a flat pillow, and manifold. An edge that only
        collapsed faces have is not.
        """
        forward, backward, proper = self._uses
        uses = forward + backward
        if proper == 0 or (uses < 1).any() or (uses > 2).any():
            return False
        return topology.have_one_fan(self.faces, self.face_edges, len(self.edges), len(self.vertices))

    # --- measures

    @cached_property
    def bounds(self) -> Floats:
        """(2,3) lowest and highest coordinates of the vertices that faces have."""
        lowest, highest = np.full(3, np.inf), np.full(3, -np.inf)
        _bound_faces(self.vertices, self.faces, lowest, highest)
        return frozen(np.stack((lowest, highest)))

    @cached_property
    def _measures(self) -> tuple[Floats, Floats]:
        normals, areas = np.empty((len(self.faces), 3)), np.empty(len(self.faces))
        _measure_faces(self.vertices, self.faces, normals, areas)
        return frozen(normals), frozen(areas)

    @property
    def face_normals(self) -> Floats:
        """(m,3) unit normals, towards who sees the face anticlockwise; zero for a face without area."""
        return self._measures[0]

    @property
    def face_areas(self) -> Floats:
        """(m,) areas."""
        return self._measures[1]

    @cached_property
    def area(self) -> float:
        """The sum of the areas of the faces; duplicates count twice."""
        return float(self.face_areas.sum())

    @cached_property
    def volume(self) -> float:
        """The enclosed volume, positive when normals point outwards; what is enclosed twice counts twice.

        Raises InvalidInput where the surface is open or not consistently oriented: it has no volume then.
        """
        if not (self.is_closed and self.is_oriented):
            self._refuse_volume()
        middle = 0.5 * self.bounds[0] + 0.5 * self.bounds[1]
        return float(_sum_volume(self.vertices, self.faces, middle[0], middle[1], middle[2]))

    def _refuse_volume(self) -> NoReturn:
        forward, backward, proper = self._uses
        if proper == 0:
            raise InvalidInput("faces", "all have a repeated vertex: they enclose no volume")
        odd = (forward + backward) % 2 == 1
        edge = int(np.argmax(odd if odd.any() else np.abs(forward - backward) > 1))
        ends = tuple(self.edges[edge].tolist())
        reason = (
            f"the surface is not closed at edge {ends}, which is at {forward[edge] + backward[edge]} face(s)"
            if odd.any()
            else f"neighbours at edge {ends} are not oriented alike"
        )
        raise InvalidInput("faces", reason + ": it has no volume", int(self.edge_faces.at(edge)[0]))


@kernel
def _bound_faces(vertices: Floats, faces: Integers, lowest: Floats, highest: Floats) -> None:
    for face in range(len(faces)):
        for i in range(3):
            for axis in range(3):
                x = vertices[faces[face, i], axis]
                lowest[axis] = min(lowest[axis], x)
                highest[axis] = max(highest[axis], x)


@kernel
def _measure_faces(vertices: Floats, faces: Integers, normals: Floats, areas: Floats) -> None:
    for face in range(len(faces)):
        a = vector_at(vertices, faces[face, 0])
        u = vec.subtract(vector_at(vertices, faces[face, 1]), a)
        v = vec.subtract(vector_at(vertices, faces[face, 2]), a)
        # Each side is scaled by its own size: the squares of very short ones would vanish.
        size_u = max(abs(u[0]), abs(u[1]), abs(u[2]))
        size_v = max(abs(v[0]), abs(v[1]), abs(v[2]))
        normal, length = (0.0, 0.0, 0.0), 0.0
        if size_u > 0 and size_v > 0:
            u = (u[0] / size_u, u[1] / size_u, u[2] / size_u)
            v = (v[0] / size_v, v[1] / size_v, v[2] / size_v)
            normal = vec.cross(u, v)
            length = vec.norm(normal)
        if length > 0:
            normal = (normal[0] / length, normal[1] / length, normal[2] / length)
        put_vector(normals, face, 0, normal)
        areas[face] = 0.5 * length * size_u * size_v


@kernel
def _sum_volume(vertices: Floats, faces: Integers, x: float, y: float, z: float) -> float:
    """Sum of the tetrahedra from (x, y, z), a point nearby, to each face, signed; compensated (Neumaier 1974)."""
    total, lost = 0.0, 0.0
    for face in range(len(faces)):
        a = vec.subtract(vector_at(vertices, faces[face, 0]), (x, y, z))
        b = vec.subtract(vector_at(vertices, faces[face, 1]), (x, y, z))
        c = vec.subtract(vector_at(vertices, faces[face, 2]), (x, y, z))
        term = vec.dot(a, vec.cross(b, c)) / 6.0
        before = total
        total += term
        lost += (before - total) + term if abs(before) >= abs(term) else (term - total) + before
    return total + lost
