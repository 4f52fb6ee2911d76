"""What is searched for what in a step: sets of features and searches among them, as tables of integers that kernels read.

One mesh with itself has three sets (vertices, edges, faces) and two searches: vertices for faces, edges for later edges. Two meshes have six sets and
three searches: vertices of a for faces of b, edges for edges, and vertices of b for faces of a. Vertices of both are numbered through, and so are
the features of all sets. A vertex that no face has is in no set.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.ccd.results import Kind
from abut.core.arrays import Integers
from abut.mesh import Mesh

WIDTH = 32
"""Features of a tile, and tiles or nodes of a node."""
SET_COLUMNS = 12
COUNT, TILES, PADDED, FIRST_FEATURE, FIRST_TILE, FIRST_ROW, CORNERS, FIRST_CORNER, FIRST_PADDED, BEGIN = range(10)
"""Columns of a set: features, tiles, tiles up to a whole node; where the set begins among all features, tiles, rows of points, padded tiles; vertices
of a feature, and where they begin in the table of corners; the number that is taken off a vertex to number it as its mesh does."""
MOST_LEVELS = 6
LEVEL_COLUMNS = 1 + 2 * MOST_LEVELS
"""The number of levels of nodes, then first node and nodes of each, from the finest."""
SEARCH_COLUMNS = 8
QUERY, TARGET, LATER, FIRST_QUERY, FIRST_HIT_ROW, TURNED, KIND = range(7)
"""Columns of a search: the two sets; whether pairs are of one set, each once; where its tiles begin among the queries of all searches; where the rows
of its impacts begin; whether the target's feature comes first in them; the kind of contact."""
MOST_SEARCHES = 3


class Sets(NamedTuple):
    """The tables, all on the host, and how much of everything there is."""

    sets: Integers
    levels: Integers
    searches: Integers
    corners: NDArray[np.int32]
    features: int
    tiles: int
    padded_tiles: int
    point_rows: int
    nodes: int
    query_tiles: int
    hit_rows: int
    vertices: int


def _features_of(mesh: Mesh, first: int) -> list[Integers]:
    """Corners of the vertices, edges and faces of a mesh whose vertices are numbered from `first` on."""
    found = mesh._without_loose_vertices
    used = np.arange(len(mesh.vertices)) if found is None else found[0]
    return [used.reshape(-1, 1) + first, mesh.edges + first, mesh.faces + first]


def _levels_of(tiles: int, first: int) -> list[int]:
    """A row of levels for so many tiles, nodes counted from `first` on."""
    row: list[int] = []
    size = tiles
    while True:
        size = max(1, -(-size // WIDTH))
        row += [first, size]
        first += size
        if size <= 1:
            return [len(row) // 2, *row]


def _plan(count: int) -> list[tuple[int, int, int, int, Kind]]:
    """Query, target, later, turned and kind of each search among the sets of so many meshes."""
    if count == 1:
        return [(0, 2, 0, 0, Kind.VERTEX_FACE), (1, 1, 1, 0, Kind.EDGE_EDGE)]
    return [
        (0, 5, 0, 0, Kind.VERTEX_FACE),
        (1, 4, 0, 0, Kind.EDGE_EDGE),
        (3, 2, 0, 1, Kind.FACE_VERTEX),
    ]


def crossing_searches(sets: Integers) -> Integers:
    """The searches of edges for faces: of one mesh, or of each of two for the other."""
    pairs = [(1, 2)] if len(sets) == 3 else [(1, 5), (4, 2)]
    searches = np.zeros((len(pairs), SEARCH_COLUMNS), dtype=np.int64)
    queries = 0
    for own, (query, target) in zip(searches, pairs, strict=True):
        own[[QUERY, TARGET, FIRST_QUERY]] = query, target, queries
        queries += sets[query, TILES]
    return searches


def make_sets(meshes: Sequence[Mesh]) -> Sets:
    """The tables of one mesh with itself, or of two."""
    features, begins, vertices = [], [], 0
    for mesh in meshes:
        features += _features_of(mesh, vertices)
        begins += [vertices] * 3
        vertices += len(mesh.vertices)
    sets = np.zeros((len(features), SET_COLUMNS), dtype=np.int64)
    levels = np.zeros((len(features), LEVEL_COLUMNS), dtype=np.int64)
    total = dict.fromkeys(("feature", "tile", "row", "corner", "padded", "node"), 0)
    for own, corners, begin, row in zip(sets, features, begins, levels, strict=True):
        count, width = corners.shape
        tiles = -(-count // WIDTH)
        own[[COUNT, TILES, CORNERS, BEGIN]] = count, tiles, width, begin
        own[PADDED] = max(1, -(-tiles // WIDTH)) * WIDTH
        own[[FIRST_FEATURE, FIRST_TILE, FIRST_ROW]] = total["feature"], total["tile"], total["row"]
        own[[FIRST_CORNER, FIRST_PADDED]] = total["corner"], total["padded"]
        line = _levels_of(tiles, total["node"])
        row[: len(line)] = line
        total["feature"] += count
        total["tile"] += tiles
        total["row"] += 6 * width * tiles
        total["corner"] += corners.size
        total["padded"] += int(own[PADDED])
        total["node"] += sum(line[2::2])
    searches, queries, rows = _searches(sets)
    return Sets(
        sets,
        levels,
        searches,
        np.concatenate([corners.ravel() for corners in features]).astype(np.int32),
        total["feature"],
        total["tile"],
        total["padded"],
        total["row"],
        total["node"],
        queries,
        rows,
        vertices,
    )


def _searches(sets: Integers) -> tuple[Integers, int, int]:
    """The searches, the number of their query tiles, and that of the rows of their impacts."""
    plan = _plan(len(sets) // 3)
    searches = np.zeros((len(plan), SEARCH_COLUMNS), dtype=np.int64)
    queries = rows = 0
    for own, (query, target, later, turned, kind) in zip(searches, plan, strict=True):
        own[[QUERY, TARGET, LATER, TURNED, KIND]] = query, target, later, turned, kind
        own[[FIRST_QUERY, FIRST_HIT_ROW]] = queries, rows
        queries += sets[query, TILES]
        rows += sets[target if turned else query, COUNT]
    return searches, int(queries), int(rows)
