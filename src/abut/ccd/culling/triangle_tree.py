"""The paper's own search (Wan 2022, §1.1): a binary tree of k-DOPs over swept triangles, and below it one more layer, of vertices and edges.

Two triangles whose volumes meet bring six pairs of a vertex and a face, and nine of two edges, and most features belong to several triangles.
The layer keeps of each pair what its own two volumes leave. A feature's volume lies in those of its triangles, so what is kept is what
`candidates` finds for the same volume: the two searches share no code but the intervals of a k-DOP.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from abut.ccd.culling.search import Volume, check_volume
from abut.ccd.motion.straight import moving_of
from abut.ccd.results import Candidates
from abut.core.arrays import Floats, Integers, frozen
from abut.core.jit import kernel
from abut.core.showing import count, describe
from abut.core.types import PointsLike
from abut.mesh import MeshLike, as_mesh
from abut.trees import binary
from abut.trees.blocks.swept import Indices
from abut.trees.volumes import Volumes, fit_each, overlap, same


@dataclass(frozen=True, eq=False)
class TriangleSearch:
    """What the search of a tree of triangles found, and the work it took."""

    candidates: Candidates
    """the pairs of features whose own volumes meet"""
    triangle_pairs: int
    """the number of pairs of triangles whose volumes meet, neighbours included"""
    vertex_face_count: int
    """the number of vertex-face pairs that those triangles bring, each counted once: what there would be without the layer"""
    edge_edge_count: int
    """the number of edge-edge pairs, likewise"""
    box_tests: int
    """the number of tests of two volumes in the tree"""

    def __repr__(self) -> str:
        found = self.candidates
        return describe(
            self,
            count(self.triangle_pairs, "pair of triangles", "pairs of triangles"),
            f"{len(found.vertex_face):,} of {self.vertex_face_count:,} vertex-face",
            f"{len(found.edge_edge):,} of {self.edge_edge_count:,} edge-edge",
        )


@kernel
def _test_each(a: Volumes, rows_a: Integers, b: Volumes, rows_b: Integers, frame: Any, meet: Any) -> None:
    for i in range(len(meet)):
        meet[i] = overlap(a, rows_a[i], b, rows_b[i], frame)


def _pair_features(firsts: Integers, seconds: Integers, width: int) -> Integers:
    """Combinations of the features (p,i) and (p,j) of each two triangles, once: ascending keys first·width + second. Below 0 there is none."""
    keys = firsts[:, :, np.newaxis] * width + seconds[:, np.newaxis, :]
    real = (firsts >= 0)[:, :, np.newaxis] & (seconds >= 0)[:, np.newaxis, :]
    return np.unique(keys[real])


def _keep(keys: Integers, width: int, a: Volumes, b: Volumes) -> Indices:
    firsts, seconds = np.divmod(keys, width)
    meet = np.empty(len(keys), np.bool_)
    _test_each(a, firsts, b, seconds, same(), meet)
    return frozen(np.stack([firsts[meet], seconds[meet]], axis=1).astype(np.int32))


def _list_pairs(pairs: Integers, faces: Integers, edges: Integers, face_edges: Integers) -> tuple[Integers, Integers]:
    """Keys of the vertex-face and the edge-edge pairs of pairs of triangles, without features that share a vertex."""
    i, j = pairs.T
    vertex_face = np.union1d(
        _pair_features(faces[i], j[:, np.newaxis], len(faces)), _pair_features(faces[j], i[:, np.newaxis], len(faces))
    )
    vertex, face = np.divmod(vertex_face, len(faces))
    vertex_face = vertex_face[(faces[face] != vertex[:, np.newaxis]).all(axis=1)]
    both = np.unique(
        np.sort(np.stack(np.divmod(_pair_features(face_edges[i], face_edges[j], len(edges)), len(edges))), axis=0),
        axis=1,
    )
    one, two = both
    apart = (edges[one][:, :, np.newaxis] != edges[two][:, np.newaxis, :]).all(axis=(1, 2))
    return vertex_face, (one * len(edges) + two)[apart]


def search_triangles(
    mesh: MeshLike, v_t0: PointsLike, v_t1: PointsLike, *, volume: Volume = "kdop26"
) -> TriangleSearch:
    """Candidates of a mesh with itself by the paper's tree of triangles; the pairs are those of `candidates`, which is quicker.

    For comparison: it counts what the layer of vertices and edges saves.

    Args:
        mesh: anything `as_mesh` takes.
        v_t0, v_t1: (n,3) its vertices at t = 0 and at t = 1.
        volume: what bounds triangles, edges and vertices, as in `candidates`.

    Returns:
        The pairs, and the work.

    Examples:
        >>> import abut
        >>> ball = abut.scenes.icosphere(1)
        >>> abut.ccd.search_triangles(ball, ball.vertices, ball.vertices * [1, 1, -0.5])
        TriangleSearch(..., 180 of ... vertex-face, 468 of ... edge-edge)
    """
    check_volume(volume)
    step, body = moving_of(mesh, v_t0, v_t1), as_mesh(mesh)
    n = len(step.positions_t0)
    swept: Floats = np.concatenate([step.positions_t0, step.positions_t1])
    faces, edges, vertices = (
        np.concatenate([rows, rows + n], axis=1) for rows in (step.faces, step.edges, np.arange(n)[:, np.newaxis])
    )
    found = binary.find_self_pairs(binary.build(volume, swept, faces))
    vertex_face, edge_edge = _list_pairs(found.pairs, step.faces, step.edges, body.face_edges)
    around, along, at = (fit_each(volume, swept, rows) for rows in (faces, edges, vertices))
    kept = Candidates(_keep(vertex_face, len(faces), at, around), _keep(edge_edge, len(edges), along, along))
    return TriangleSearch(kept, len(found.pairs), len(vertex_face), len(edge_edge), found.box_tests)
