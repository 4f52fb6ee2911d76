"""Surfaces that cut themselves, moved apart: what solvers of contact ask for before they start.

Where one layer has gone through another, the cuts form a closed curve on both, and what lies inside it is on the wrong side (global intersection
analysis; Baraff, Witkin & Kass 2003). These vertices go to the nearest point of the other layer, half of the way each side, and a little further.
Where cuts end at a border no side is wrong: there the cut is shortened, along the gradient of its length (Volino & Magnenat-Thalmann 2006). Both are
repeated until `collide` finds nothing, with larger steps where nothing gets better.

Known failure cases: layers that are crumpled so that the curves of cuts do not tell sides, and layers between which there is no room.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.showing import count, describe
from abut.discrete.bodies import Deformable
from abut.discrete.collide import collide
from abut.discrete.points.closest import closest_points
from abut.mesh import Mesh, MeshLike, as_mesh

MOST_ROUNDS = 200
LARGEST_PATCH = 0.3
"""Of the vertices: what a curve cuts off and is larger than that is no patch on the wrong side."""
OVERSHOOT = 1.1
"""How much further than to the other surface: of the way, so that what touches parts."""
GAP = 0.02
"""How much further in any case, in lengths of edges."""
STEP = 0.1
"""How far a cut that tells no sides is shortened in a round, in lengths of edges."""
FLATTEST = 0.1
"""The least sine of the angle of an edge and a face it goes through that is believed."""
FARTHEST = 8.0
"""How much larger steps become at most."""
FARTHER = 1.3
"""By how much steps grow after `STALLED` rounds in which nothing got better."""
STALLED = 4


@dataclass(frozen=True, eq=False, repr=False)
class Untangled:
    """A mesh whose faces were moved apart.

    Examples:
        >>> import abut
        >>> square, upright = [[0, 0, 0], [4, 0, 0], [0, 4, 0]], [[1, 1, 0.5], [2, 1, 0.5], [1.5, 1, -0.1]]
        >>> result = abut.untangle(abut.Mesh(square + upright, [[0, 1, 2], [3, 4, 5]]))
        >>> bool(result), len(abut.collide(result.mesh))
        (True, 0)
    """

    mesh: Mesh
    moves: Floats
    """(n,3) how far each vertex was moved"""
    face_a: Integers
    """faces that still cut others; none where it succeeded"""
    face_b: Integers
    rounds: int

    def __bool__(self) -> bool:
        return not len(self.face_a)

    @property
    def largest_move(self) -> float:
        """The length of the longest move."""
        return float(np.sqrt((self.moves**2).sum(axis=1).max()))

    def __repr__(self) -> str:
        left = count(len(self.face_a), "pair") + " left" if len(self.face_a) else "clean"
        return describe(self, left, f"largest move {self.largest_move:.3g}", count(self.rounds, "round"))


def untangle(
    mesh: MeshLike, *, most_rounds: int = MOST_ROUNDS, progress: Callable[[int, int], None] | None = None
) -> Untangled:
    """Move vertices until no face cuts another one, and no farther than that seems to need.

    Args:
        mesh: a surface, of one piece or of several.
        most_rounds: after so many it gives up.
        progress: called after each round with its number and how many pairs of faces cut.

    Returns:
        The mesh. Where it did not succeed, that with the fewest pairs of faces that cut, and these.

    Raises:
        InvalidInput: the mesh is none, or a number is out of range.

    Examples:
        >>> import abut
        >>> ball = abut.scenes.icosphere(2)
        >>> dented = ball.vertices.copy()
        >>> dented[dented[:, 2] > 0.9, 2] -= 1.95
        >>> bool(abut.untangle((dented, ball.faces)))
        True
    """
    given = as_mesh(mesh)
    most = arrays.count(most_rounds, "most_rounds", least=1)
    if progress is not None and not callable(progress):
        raise InvalidInput("progress", f"is a {type(progress).__name__}, expected something to call")
    ends = given.vertices[given.edges]
    length = float(np.median(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)))
    vertices, best = given.vertices.copy(), given.vertices
    body = Deformable(given)
    fewest: Integers | None = None
    since, reach, rounds = 0, 1.0, 0
    while True:
        body.update(vertices)
        found = collide(body)
        pairs = np.stack((found.face_a, found.face_b), axis=1)
        if progress is not None:
            progress(rounds, len(pairs))
        since += 1
        if fewest is None or len(pairs) < len(fewest):
            fewest, best, since = pairs, vertices, 0
        if not len(pairs) or rounds == most:
            break
        if since >= STALLED:
            reach, since = min(reach * FARTHER, FARTHEST), 0
        moves = _find_moves(given, vertices, pairs, length, reach)
        longest = np.sqrt((moves**2).sum(axis=1).max())
        if not 0 < longest < np.inf:
            break
        vertices = vertices + moves
        rounds += 1
    moved = frozen(best - given.vertices)
    return Untangled(Mesh(best, given.faces), moved, frozen(fewest[:, 0]), frozen(fewest[:, 1]), rounds)


def _find_moves(mesh: Mesh, vertices: Floats, pairs: Integers, length: float, reach: float) -> Floats:
    """(n,3) of one round."""
    edge, face, point = _crossings(mesh, vertices, pairs)
    moves = np.zeros((len(vertices), 3))
    loose = np.ones(len(edge), np.bool_)
    if len(edge):
        inside = _find_inside(mesh, edge)
        if inside.any():
            _push_apart(mesh, vertices, inside, pairs, GAP * length * reach, moves)
            loose = ~inside[mesh.edges[edge]].any(axis=1) & ~inside[mesh.faces[face]].any(axis=1)
    if loose.any():
        _shorten(mesh, vertices, edge[loose], face[loose], point[loose], STEP * length * reach, moves)
    return moves


def _crossings(mesh: Mesh, vertices: Floats, pairs: Integers) -> tuple[Integers, Integers, Floats]:
    """Edges that go through faces, these faces, and where."""
    both = np.concatenate((pairs, pairs[:, ::-1]))
    edge = mesh.face_edges[both[:, 0]].reshape(-1)
    face = np.repeat(both[:, 1], 3)
    first = np.unique(edge * len(mesh.faces) + face, return_index=True)[1]
    edge, face = edge[first], face[first]
    edge, face = edge[edge >= 0], face[edge >= 0]
    start, end = (vertices[mesh.edges[edge, k]] for k in (0, 1))
    a, b, c = (vertices[mesh.faces[face, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    heights = [np.einsum("ij,ij->i", each - a, normal) for each in (start, end)]
    fall = heights[0] - heights[1]
    goes_through = (heights[0] * heights[1] <= 0) & (fall != 0)
    part = np.divide(heights[0], fall, out=np.zeros_like(fall), where=goes_through)
    point = start + part[:, np.newaxis] * (end - start)
    sides = [np.einsum("ij,ij->i", np.cross(q - p, point - p), normal) for p, q in ((a, b), (b, c), (c, a))]
    shares = (mesh.edges[edge][:, :, np.newaxis] == mesh.faces[face][:, np.newaxis, :]).any(axis=(1, 2))
    hit = goes_through & np.all(np.array(sides) >= 0, axis=0) & ~shares
    return edge[hit], face[hit], point[hit]


def _find_inside(mesh: Mesh, crossed: Integers) -> NDArray[np.bool_]:
    """(n,) the vertices of small patches that are cut off by edges which go through faces."""
    vertex_count = len(mesh.vertices)
    kept = np.ones(len(mesh.edges), np.bool_)
    kept[crossed] = False
    ends = mesh.edges[kept]
    graph = coo_array((np.ones(len(ends), np.int8), (ends[:, 0], ends[:, 1])), shape=(vertex_count,) * 2)
    component = connected_components(graph, directed=False)[1]
    whole = coo_array(
        (np.ones(len(mesh.edges), np.int8), (mesh.edges[:, 0], mesh.edges[:, 1])), shape=(vertex_count,) * 2
    )
    piece = connected_components(whole, directed=False)[1]
    sizes, totals = np.bincount(component)[component], np.bincount(piece)[piece]
    touched = np.zeros(len(sizes), np.bool_)
    touched[mesh.edges[crossed].reshape(-1)] = True
    cut_off = np.zeros(int(component.max()) + 1, np.bool_)
    cut_off[component[touched]] = True
    return cut_off[component] & (sizes < LARGEST_PATCH * totals)


def _push_apart(
    mesh: Mesh, vertices: Floats, inside: NDArray[np.bool_], pairs: Integers, gap: float, moves: Floats
) -> None:
    """Vertices inside go to the other layer: half of the way and a little further. Which layer is the other one follows from the pairs of faces."""
    patch = _patches(mesh, inside)
    # The patches that each patch meets: faces of pairs touch vertices of both.
    partner: dict[int, set[int]] = {}
    face_patch = np.max(np.where(inside[mesh.faces], patch[mesh.faces], -1), axis=1)
    for a, b in np.unique(face_patch[pairs], axis=0).tolist():
        partner.setdefault(a, set()).add(b)
        partner.setdefault(b, set()).add(a)
    for number in range(int(patch.max()) + 1):
        own = np.flatnonzero(patch == number)
        others = partner.get(number, set()) - {number}
        mine = face_patch == number
        cut = np.zeros(len(mesh.faces), np.bool_)
        cut[pairs[mine[pairs[:, 0]], 1]] = cut[pairs[mine[pairs[:, 1]], 0]] = True
        target = (np.isin(face_patch, [k for k in others if k >= 0]) | cut) & ~mine
        if not target.any():
            continue
        used, faces = np.unique(mesh.faces[target], return_inverse=True)
        near = closest_points(Mesh(vertices[used], faces.reshape(-1, 3)), vertices[own])
        way = near.point - vertices[own]
        far = np.linalg.norm(way, axis=1)[:, np.newaxis]
        unit = np.divide(way, far, out=np.zeros_like(way), where=far > 0)
        share = 0.5 if any(k >= 0 for k in others) else 1.0
        moves[own] += unit * (share * (OVERSHOOT * far + gap))


def _patches(mesh: Mesh, inside: NDArray[np.bool_]) -> Integers:
    """(n,) the patch of each vertex inside, counted from 0; −1 of the others."""
    ends = mesh.edges[inside[mesh.edges].all(axis=1)]
    graph = coo_array((np.ones(len(ends), np.int8), (ends[:, 0], ends[:, 1])), shape=(len(inside),) * 2)
    component = connected_components(graph, directed=False)[1]
    patch: Integers = np.full(len(inside), -1, np.int64)
    patch[inside] = np.unique(component[inside], return_inverse=True)[1]
    return patch


def _shorten(
    mesh: Mesh, vertices: Floats, edge: Integers, face: Integers, point: Floats, step: float, moves: Floats
) -> None:
    """Move edges and the faces they go through so that the curve of the cuts gets shorter.

    A point of the curve on an edge E of faces i, which goes through a face of normal N, moves with a displacement D of the edge by D − E (N·D)/(N·E);
    the curve goes on from there along R_i, into face i. So its length falls fastest along the sum of R_i − N (E·R_i)/(E·N).
    """
    start, end = (vertices[mesh.edges[edge, k]] for k in (0, 1))
    along = _unit(end - start)
    a, b, c = (vertices[mesh.faces[face, k]] for k in range(3))
    normal = _unit(np.cross(b - a, c - a))
    offsets, around = mesh.edge_faces.offsets, mesh.edge_faces.faces
    gradient = np.zeros_like(point)
    rise = np.einsum("ij,ij->i", along, normal)
    rise = np.where(np.abs(rise) < FLATTEST, np.where(rise < 0, -FLATTEST, FLATTEST), rise)[:, np.newaxis]
    for k in range(2):
        has = offsets[edge] + k < offsets[edge + 1]
        own = around[np.minimum(offsets[edge] + k, len(around) - 1)]
        p, q, r = (vertices[mesh.faces[own, j]] for j in range(3))
        curve = _unit(np.cross(normal, np.cross(q - p, r - p)))
        inwards = (p + q + r) / 3 - point
        inwards -= along * np.einsum("ij,ij->i", inwards, along)[:, np.newaxis]
        curve *= np.where(np.einsum("ij,ij->i", curve, inwards) < 0, -1.0, 1.0)[:, np.newaxis]
        lean = np.einsum("ij,ij->i", along, curve)[:, np.newaxis] / rise
        gradient += np.where(has[:, np.newaxis], curve - lean * normal, 0.0)
    way = step * _unit(gradient)
    summed, counts = np.zeros_like(moves), np.zeros(len(moves))
    for corners, sign in ((mesh.edges[edge], 0.5), (mesh.faces[face], -0.5)):
        for k in range(corners.shape[1]):
            np.add.at(summed, corners[:, k], sign * way)
            np.add.at(counts, corners[:, k], 1.0)
    moves += summed / np.maximum(counts, 1.0)[:, np.newaxis]


def _unit(rows: Floats) -> Floats:
    size = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, size, out=np.zeros_like(rows), where=size > 0)
