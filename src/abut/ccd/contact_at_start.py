"""Whether surfaces are in contact already when a step begins: an edge passes through a face, or a closed body holds a piece of the other.

The first contact of two features says nothing of it. Two bodies that pierce each other at t = 0 may have vertices and edges that never meet, or meet
later on their way out. Edges against faces, each tested with exact signs, find all surfaces that pass through each other: where two triangles
meet an edge of one meets the other. Surfaces that do not are inside or outside of a closed one piece by piece, and a vertex of the piece tells:
a ray from it to the far side is one more edge for the same search.

What counts is what counts in the rest of the step: features that share a vertex, and features of one rigid body, are never a pair. A piece
inside another piece of one motion is not looked for; a wall of a cavity lies like that.
"""

from collections.abc import Iterator

import numpy as np

from abut.ccd.culling.chunks import AS_FOUND, stream_pairs
from abut.ccd.culling.search import primitive_count
from abut.ccd.culling.stream import USUAL_MEMORY
from abut.ccd.impact.straight_pairs import BLOCK
from abut.ccd.motion.motions import Motion
from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel, parallel, prange, thread_count, threads_for
from abut.geometry.axis_ray import ON_SURFACE, cross_ray
from abut.geometry.crossings import meet_segment_triangle
from abut.geometry.rows import vector_at
from abut.trees.blocks.block_tree import Primitives, build
from abut.trees.blocks.runs import Search
from abut.trees.blocks.search import EVERY, Rules
from abut.trees.blocks.swept import Indices, Moving, frame_of

BOXES = 3  # columns of a search of boxes


@parallel
def _find_crossing(
    pairs: Indices, vertices_a: Floats, edges: Integers, vertices_b: Floats, faces: Integers, thread_total: int
) -> bool:
    """Whether any of the pairs (edge of a, face of b) meets."""
    found = np.zeros(thread_total, dtype=np.bool_)
    for thread in prange(thread_total):
        for block in range(thread * BLOCK, len(pairs), thread_total * BLOCK):
            for k in range(block, min(block + BLOCK, len(pairs))):
                i, j = pairs[k, 0], pairs[k, 1]
                if not found[thread] and meet_segment_triangle(
                    vector_at(vertices_a, edges[i, 0]),
                    vector_at(vertices_a, edges[i, 1]),
                    vector_at(vertices_b, faces[j, 0]),
                    vector_at(vertices_b, faces[j, 1]),
                    vector_at(vertices_b, faces[j, 2]),
                ):
                    found[thread] = True
    return bool(found.any())


@kernel
def _count_crossings(pairs: Indices, points: Floats, vertices: Floats, faces: Integers, totals: Integers) -> None:
    """Add the crossings of rays and faces, pairs (ray, face), to the totals of the rays."""
    for k in range(len(pairs)):
        i, j = pairs[k, 0], pairs[k, 1]
        totals[i] += cross_ray(
            vector_at(points, i),
            vector_at(vertices, faces[j, 0]),
            vector_at(vertices, faces[j, 1]),
            vector_at(vertices, faces[j, 2]),
        )


def _search(edges: Primitives, faces: Primitives, adjacent: bool, memory: int) -> Iterator[Indices]:
    """Pairs of an edge and a face whose boxes meet, in chunks."""
    return stream_pairs(Search(edges.edges, faces.faces, Rules(EVERY, adjacent, 0.0)), AS_FOUND, memory)


def _at_rest(vertices: Floats, edges: Integers, faces: Integers) -> Moving:
    return Moving(vertices, vertices, faces, edges)


def _pass_through(a: Motion, own: Primitives, b: Motion, other: Primitives, memory: int) -> bool:
    """Whether an edge of a passes through a face of b, which may be the same."""
    for pairs in _search(own, other, a is b, memory):
        if a is b and any(a._rigid_bodies):
            body, other_body = a.body[a.mesh.edges[pairs[:, 0], 0]], a.body[a.mesh.faces[pairs[:, 1], 0]]
            pairs = pairs[(body != other_body) | ~np.array(a._rigid_bodies)[body]]
        if _find_crossing(pairs, a.vertices_t0, a.mesh.edges, b.vertices_t0, b.mesh.faces, thread_count()):
            return True
    return False


def _hold(outer: Motion, inner: Motion, memory: int) -> bool:
    """Whether a closed surface holds a piece of another that it does not meet."""
    if not outer.mesh.is_closed:
        return False
    lower, upper = outer.vertices_t0.min(axis=0), outer.vertices_t0.max(axis=0)
    firsts = np.unique(inner.mesh.components, return_index=True)[1]
    points = inner.vertices_t0[inner.mesh.faces[firsts, 0]]
    points = np.ascontiguousarray(points[((points >= lower) & (points <= upper)).all(axis=1)])
    if not len(points):
        return False
    count = len(points)
    ends = points.copy()
    ends[:, 0] = upper[0]
    none = np.empty((0, 3), dtype=np.int64)
    rays = _at_rest(np.concatenate([points, ends]), np.arange(2 * count).reshape(2, -1).T.copy(), none)
    bodies = [rays, _at_rest(outer.vertices_t0, outer.mesh.edges, outer.mesh.faces)]
    built = build(bodies, frame_of(bodies, 0.0), BOXES, ends=False)
    totals = np.zeros(count, dtype=np.int64)
    for pairs in _search(built[0], built[1], False, memory):
        _count_crossings(pairs, points, outer.vertices_t0, outer.mesh.faces, totals)
    if not outer.mesh.is_oriented:
        totals = np.where(totals >= ON_SURFACE // 2, 1, totals & 1)
    return bool(totals.any())


def is_in_contact_at_start(motions: list[Motion], max_memory: int | None) -> bool:
    """Whether one motion pierces itself at t = 0, or two motions pierce or hold each other."""
    memory = USUAL_MEMORY if max_memory is None else max_memory
    one, two = motions[0], motions[-1]
    if one is two and one.is_rigid and len(one._rigid_bodies) == 1:
        return False
    bodies = [_at_rest(m.vertices_t0, m.mesh.edges, m.mesh.faces) for m in motions]
    with threads_for(primitive_count(bodies)):
        return _is_in_contact(one, two, build(bodies, frame_of(bodies, 0.0), BOXES, ends=False), memory)


def _is_in_contact(one: Motion, two: Motion, built: list[Primitives], memory: int) -> bool:
    first, second = built[0], built[-1]
    return _pass_through(one, first, two, second, memory) or (
        one is not two
        and (_pass_through(two, second, one, first, memory) or _hold(one, two, memory) or _hold(two, one, memory))
    )
