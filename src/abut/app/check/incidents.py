"""Incidents: contacts that belong together in place and time, so that thousands of rows read as a dozen events.

Each row touches vertices: its own, and the corners of its edges and faces. Two rows of the same two bodies are of one incident where they touch the
same vertex, or both ends of an edge, in one step or in two at most `LAPSE` apart, or are linked so by others. The step of a row is its frame.

Known failure case: numbers at frames of another connectivity are taken for those of the mesh, so that rows there may be linked by chance.
"""

import importlib
from typing import Any

import numpy as np

from abut.app.check.findings import Contact, Incidents, Labels, Rows
from abut.core.arrays import Integers, frozen
from abut.mesh import Mesh

LAPSE = 2
"""Contact that is gone for one step and there again is one incident."""


def find_incidents(mesh: Mesh, rows: Rows, labels: Labels | None = None) -> Incidents:
    """The incidents of rows. Numbers that the mesh does not have make one incident of their frame."""
    count = len(rows.kind)
    if not count:
        none = np.empty(0, np.int64)
        return Incidents(none, np.empty(0), np.empty(0), none, np.empty((0, len(Contact)), np.int64))
    of_row = _link(mesh, rows, _pairs_of_bodies(rows, labels))
    incident_count = int(of_row.max()) + 1
    start, end = np.full(incident_count, np.inf), np.full(incident_count, -np.inf)
    np.minimum.at(start, of_row, rows.time)
    np.maximum.at(end, of_row, rows.time)
    order = np.lexsort((np.arange(incident_count), start))
    rank = np.empty(incident_count, np.int64)
    rank[order] = np.arange(incident_count)
    of_row = rank[of_row]
    kinds = np.searchsorted(list(Contact), rows.kind)
    counts = np.zeros((incident_count, len(Contact)), np.int64)
    np.add.at(counts, (of_row, kinds), 1)
    measure = np.maximum(kinds - 1, 0)  # depths before lengths before distances: they are never compared
    by_worst = np.lexsort((np.arange(count), -rows.depth, measure, of_row))
    worst = by_worst[np.searchsorted(of_row[by_worst], np.arange(incident_count))]
    return Incidents(frozen(of_row), frozen(start[order]), frozen(end[order]), frozen(worst), frozen(counts))


def _pairs_of_bodies(rows: Rows, labels: Labels | None) -> Integers:
    """(n,) a number for each two bodies."""
    if labels is None or len(labels.names) < 2:
        return np.zeros(len(rows.kind), np.int64)
    a, b = labels.of(rows)
    return np.minimum(a, b) * len(labels.names) + np.maximum(a, b)


def _link(mesh: Mesh, rows: Rows, pair: Integers) -> Integers:
    """(n,) the incident of each row, in any order."""
    row, vertex = touched_vertices(mesh, rows)
    vertex_count = len(mesh.vertices)
    last = int(rows.frame.max()) + LAPSE + 1
    # A place is a vertex at a frame, for two bodies.
    pair, frame = np.unique(pair, return_inverse=True)[1].reshape(-1)[row], rows.frame[row]
    places, at = np.unique((pair * last + frame) * vertex_count + vertex, return_inverse=True)
    first = np.full(len(rows.kind), -1)
    first[row[::-1]] = at.reshape(-1)[::-1]
    links = [(first[row], at.reshape(-1))]
    start, neighbours = _neighbours(mesh)
    own = places % vertex_count
    counts = start[own + 1] - start[own]
    spread = np.repeat(np.arange(len(places)), counts)
    before = np.repeat(np.cumsum(counts) - counts - start[own], counts)
    beside = (places - own)[spread] + neighbours[np.arange(len(spread)) - before]
    for lapse in range(LAPSE + 1):  # the same vertex and those beside it, so many frames on
        links.append(_present(places, np.arange(len(places)), places + lapse * vertex_count))
        links.append(_present(places, spread, beside + lapse * vertex_count))
    left, right = (np.concatenate(side) for side in zip(*links, strict=True))
    sparse: Any = importlib.import_module("scipy.sparse")
    graph = sparse.coo_matrix((np.ones(len(left), np.int8), (left, right)), shape=(len(places), len(places)))
    component: Integers = importlib.import_module("scipy.sparse.csgraph").connected_components(graph, directed=False)[1]
    loose = first < 0
    of_row = np.where(loose, 0, np.append(component, 0)[first])
    of_row[loose] = len(component) + 1 + rows.frame[loose]
    return np.unique(of_row, return_inverse=True)[1].reshape(-1)


def _present(places: Integers, sources: Integers, wanted: Integers) -> tuple[Integers, Integers]:
    """The sources and the numbers of those wanted places that are there."""
    at = np.minimum(np.searchsorted(places, wanted), len(places) - 1)
    found = places[at] == wanted
    return sources[found], at[found]


def _neighbours(mesh: Mesh) -> tuple[Integers, Integers]:
    """Where the neighbours of each vertex begin, and all of them."""
    ends = np.concatenate((mesh.edges, mesh.edges[:, ::-1]))
    ends = ends[np.argsort(ends[:, 0], kind="stable")]
    return np.searchsorted(ends[:, 0], np.arange(len(mesh.vertices) + 1)), ends[:, 1]


def touched_vertices(mesh: Mesh, rows: Rows) -> tuple[Integers, Integers]:
    """Row and vertex for every vertex of both features of each row; none for numbers that the mesh does not have."""
    found_rows, found_vertices = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    own = np.arange(len(mesh.vertices))[:, np.newaxis]
    for kind, tables in (
        (Contact.VERTEX_FACE, (own, mesh.faces)),
        (Contact.EDGE_EDGE, (mesh.edges, mesh.edges)),
        (Contact.FACE_FACE, (mesh.faces, mesh.faces)),
        (Contact.CONTAINED, (mesh.faces, mesh.faces)),
    ):
        for feature, table in zip((rows.a, rows.b), tables, strict=True):
            which = np.flatnonzero((rows.kind == kind) & (feature < len(table)))
            found_rows.append(np.repeat(which, table.shape[1]))
            found_vertices.append(table[feature[which]].reshape(-1))
    return np.concatenate(found_rows), np.concatenate(found_vertices)
