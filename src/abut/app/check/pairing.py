"""Which pairs of bodies are searched, and from which distance they count as met.

A matrix holds one distance for each pair of bodies; NaN where the pair is left out. Pairs of one distance are searched together, as one mesh of the
bodies that have such a pair, and only their rows are kept: what `ccd.sweep` finds with one distance is no subset of what it finds with a larger one,
since times differ.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.app.check.findings import Contact, Labels, Rows
from abut.app.check.rows import select
from abut.core import arrays
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput
from abut.mesh import Mesh


def pair_distances(
    names: tuple[str, ...], min_distance: float, ignore: Iterable[tuple[str, str]], thickness: Mapping[str, float]
) -> Floats:
    """(k,k) the distance of each pair: half of both bodies' thicknesses and `min_distance`; NaN for those that are ignored.

    Raises InvalidInput for names that no body has.
    """
    numbers = {name: i for i, name in enumerate(names)}

    def find(name: str, what: str) -> int:
        if name not in numbers:
            raise InvalidInput(what, f"names {name!r}, but the bodies are {', '.join(names) or 'none'}")
        return numbers[name]

    half = np.zeros(len(names))
    for name, value in thickness.items():
        half[find(name, "thickness")] = 0.5 * arrays.scalar(value, f"thickness of {name}", least=0.0)
    distances = half[:, np.newaxis] + half + min_distance
    for first, second in ignore:
        i, j = find(first, "ignore"), find(second, "ignore")
        distances[i, j] = distances[j, i] = np.nan
    return distances


class Part(NamedTuple):
    """What is searched at once: a mesh, and where its vertices, edges and faces are in the whole one."""

    mesh: Mesh
    distance: float
    """NaN where distances do not matter"""
    vertex: Integers
    edge: Integers
    face: Integers
    is_whole: bool

    def vertices(self, whole: Floats) -> Floats:
        """Its vertices at a frame."""
        return whole if self.is_whole else whole[self.vertex]

    def as_whole(self, rows: Rows) -> Rows:
        """Its rows with the numbers of the whole mesh."""
        if self.is_whole:
            return rows
        a, b = rows.a.copy(), rows.b.copy()
        for mask, first, second in (
            (rows.kind == Contact.VERTEX_FACE, self.vertex, self.face),
            (rows.kind == Contact.EDGE_EDGE, self.edge, self.edge),
            (rows.kind >= Contact.FACE_FACE, self.face, self.face),
        ):
            a[mask], b[mask] = first[a[mask]], second[b[mask]]
        return rows._replace(a=arrays.frozen(a), b=arrays.frozen(b))


class Pairing:
    """The parts of a job."""

    def __init__(self, mesh: Mesh, labels: Labels, distances: Floats) -> None:
        """distances: (k,k), symmetric, NaN where a pair of bodies is left out."""
        self._mesh, self._labels = mesh, labels
        self.distances = distances
        self.wanted: NDArray[np.bool_] = ~np.isnan(distances)
        self.at_frames = self._make_part(self.wanted, np.nan)
        values = np.unique(distances[self.wanted]).tolist()
        self.in_steps = [part for value in values if (part := self._make_part(distances == value, value)) is not None]

    def keep(self, rows: Rows, part: Part) -> Rows:
        """The rows of the whole mesh that a part is asked for."""
        own = self.wanted if np.isnan(part.distance) else self.distances == part.distance
        if own.all():
            return rows
        a, b = self._labels.of(rows)
        return select(rows, own[a, b])

    def _make_part(self, pairs: NDArray[np.bool_], distance: float) -> Part | None:
        """The mesh of all bodies that are in one of the pairs; None where nothing has faces."""
        bodies: NDArray[np.bool_] = np.any(pairs, axis=0)
        mesh, labels = self._mesh, self._labels
        if bodies.all():
            return Part(mesh, distance, *(np.empty(0, np.int64),) * 3, is_whole=True)
        face = np.flatnonzero(bodies[labels.face])
        if not len(face):
            return None
        is_in = bodies[labels.vertex]
        is_in[mesh.faces[face].reshape(-1)] = True
        vertex = np.flatnonzero(is_in)
        own = np.cumsum(is_in) - 1
        part = Mesh(mesh.vertices[vertex], own[mesh.faces[face]])
        return Part(part, distance, vertex, _find_edges(mesh, vertex[part.edges]), face, is_whole=False)


def _find_edges(mesh: Mesh, ends: Integers) -> Integers:
    """The numbers of edges by their ends; both lists are ordered by the larger end and then by the smaller."""
    count = len(mesh.vertices)
    return np.searchsorted(mesh.edges[:, 1] * count + mesh.edges[:, 0], ends[:, 1] * count + ends[:, 0])
