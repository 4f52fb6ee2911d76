"""Pieces of a mesh that lie inside a closed piece at a frame, without touching it: containment is collision, whether or not faces cut.

A piece is what hangs together by shared vertices. Where pieces do not cut each other, a piece lies wholly inside or wholly outside a closed one, so
one of its vertices tells. Around it there may be several: w, the sum over the closed pieces around of +1 (faces look outwards) or −1 (inwards), says
whether there is material. A wall of a cavity is no collision: a closed piece whose faces look opposite to w. Nor is what lies in that cavity, where
w is 0.

Failure case: a closed piece whose faces look partly inwards, partly outwards counts as looking outwards.
"""

import numpy as np
from numpy.typing import NDArray

from abut.app.check.findings import Contact, Rows
from abut.app.check.rows import rows_at_frame
from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel
from abut.discrete import Deformable, contains
from abut.geometry.rows import vector_at
from abut.geometry.triangles import closest_point_triangle
from abut.mesh import Mesh


@kernel
def _nearest_face(point: Floats, vertices: Floats, faces: Integers, foot: Floats) -> int:
    """The face nearest to a point; the nearest point of it goes to `foot`."""
    best, nearest = np.inf, 0
    p = (point[0], point[1], point[2])
    for face in range(len(faces)):
        i, j, k = faces[face, 0], faces[face, 1], faces[face, 2]
        corners = (vector_at(vertices, i), vector_at(vertices, j), vector_at(vertices, k))
        _, q, distance_sq = closest_point_triangle(p, *corners)
        if distance_sq < best:
            best, nearest = distance_sq, face
            foot[0], foot[1], foot[2] = q
    return nearest


def _looks_outwards(vertices: Floats, faces: Integers) -> bool:
    """Whether the volume that the faces enclose is positive."""
    corners = vertices[faces] - vertices[faces[0, 0]]
    return float(np.linalg.det(corners).sum()) >= 0.0


class _Piece:
    """One piece: its faces and vertices in the whole mesh, and as a mesh of its own."""

    def __init__(self, mesh: Mesh, faces: Integers) -> None:
        self.faces = faces
        self.vertices, own = np.unique(mesh.faces[faces], return_inverse=True)
        self.mesh = Mesh(mesh.vertices[self.vertices], own.reshape(-1, 3))
        self._body: Deformable | None = None

    def body(self, vertices: Floats) -> Deformable:
        """The piece at the positions of a frame."""
        if self._body is None:
            self._body = Deformable(self.mesh)
        self._body.update(vertices[self.vertices])
        return self._body


class Pieces:
    """The pieces of a mesh, and the search for those inside others at any positions of the vertices."""

    def __init__(self, mesh: Mesh, body: Integers | None = None, wanted: NDArray[np.bool_] | None = None) -> None:
        """body: of each face. wanted: (k,k) the pairs of bodies that are searched; all by default."""
        self._mesh = mesh
        self._wanted = np.ones((1, 1), np.bool_) if wanted is None else wanted
        self._of_face = mesh.components
        order = np.argsort(self._of_face, kind="stable")
        starts = np.searchsorted(self._of_face[order], np.arange(1, mesh.component_count))
        parts = np.split(order, starts) if mesh.component_count > 1 else []
        self._pieces = [_Piece(mesh, faces) for faces in parts]
        labels = np.zeros(len(mesh.faces), np.int64) if body is None else body
        self._body = np.array([labels[faces[0]] for faces in parts], np.int64)

    def find_contained(self, vertices: Floats, cuts: Rows) -> Rows:
        """One row for each piece that lies inside others, at the frame with these positions and these rows of faces that cut.

        a: the first face of the piece inside. b: the face nearest to the point, the first corner of a, of the smallest piece around it.
        """
        if len(self._pieces) < 2:
            return rows_at_frame(Contact.CONTAINED, [])
        around = self._find_around(vertices, cuts)
        rows: list[tuple[int, int, Floats, Floats, float]] = []
        for inner, outers in around.items():
            outwards = {outer: self._sign(outer, vertices) for outer in outers}
            total = sum(outwards.values())
            piece = self._pieces[inner]
            is_cavity = piece.mesh.is_closed and self._sign(inner, vertices) * total < 0
            if total and not is_cavity:
                smallest = min(outers, key=lambda outer: float(np.ptp(self._span(outer, vertices), axis=0).prod()))
                rows.append(self._row(inner, smallest, vertices))
        return rows_at_frame(Contact.CONTAINED, sorted(rows, key=lambda row: row[:2]))

    def _span(self, piece: int, vertices: Floats) -> Floats:
        return vertices[self._pieces[piece].vertices]

    def _sign(self, piece: int, vertices: Floats) -> int:
        own = self._pieces[piece]
        return 1 if not own.mesh.is_oriented or _looks_outwards(vertices, self._mesh.faces[own.faces]) else -1

    def _find_around(self, vertices: Floats, cuts: Rows) -> dict[int, list[int]]:
        """The closed pieces that each piece lies inside of. Pairs that cut each other are left out: they have rows already."""
        lower = np.array([self._span(k, vertices).min(axis=0) for k in range(len(self._pieces))])
        upper = np.array([self._span(k, vertices).max(axis=0) for k in range(len(self._pieces))])
        cutting = set(zip(self._of_face[cuts.a].tolist(), self._of_face[cuts.b].tolist(), strict=True))
        around: dict[int, list[int]] = {}
        for outer, piece in enumerate(self._pieces):
            if not piece.mesh.is_closed:
                continue
            within = ((lower >= lower[outer]) & (upper <= upper[outer])).all(axis=1)
            within[outer] = False
            within &= self._wanted[self._body, self._body[outer]]
            inners = [k for k in np.flatnonzero(within).tolist() if not {(k, outer), (outer, k)} & cutting]
            if not inners:
                continue
            points = vertices[self._mesh.faces[[self._pieces[k].faces[0] for k in inners], 0]]
            for inner, inside in zip(inners, contains(piece.body(vertices), points).tolist(), strict=True):
                if inside:
                    around.setdefault(inner, []).append(outer)
        return around

    def _row(self, inner: int, outer: int, vertices: Floats) -> tuple[int, int, Floats, Floats, float]:
        a, other = int(self._pieces[inner].faces[0]), self._pieces[outer]
        point, foot = vertices[self._mesh.faces[a, 0]], np.empty(3)
        nearest = _nearest_face(point, vertices, self._mesh.faces[other.faces], foot)
        distance = float(np.linalg.norm(foot - point))
        normal = (foot - point) / distance if distance else np.array([0.0, 0.0, 1.0])
        return a, int(other.faces[nearest]), point, normal, distance
