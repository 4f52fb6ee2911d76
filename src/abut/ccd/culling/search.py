"""Candidates: the pairs of vertices and faces, and of edges, whose swept volumes meet, each once and sorted (Wan 2022, §1.1).

The volumes bound vertices and edges, not only faces (the paper's extra layer), so a pair is found for what it is and not for its triangles.
The first thing of a pair is the query: for every vertex its faces are found, for every edge the edges of larger index.
`trees.blocks.runs` searches and sorts.
"""

from typing import Literal, TypeAlias, overload

from abut.ccd.culling.chunks import gather_pairs
from abut.ccd.motion.motions import BodyLike, Motion
from abut.ccd.motion.straight import movings_of
from abut.ccd.motion.surfaces import Surface, read_surfaces
from abut.ccd.on_device import ends_on_device, questions
from abut.ccd.results import Candidates
from abut.core import arrays
from abut.core.arrays import frozen
from abut.core.devices import Device
from abut.core.jit import threads_for
from abut.core.types import PointsLike
from abut.trees.blocks.block_tree import Primitives, build
from abut.trees.blocks.memory import Memory
from abut.trees.blocks.runs import Search, find_pairs
from abut.trees.blocks.search import EVERY, LARGER, LATER, Rules
from abut.trees.blocks.swept import VOLUMES, Moving, frame_of

Volume: TypeAlias = Literal["aabb", "kdop6", "kdop8", "kdop12", "kdop14", "kdop18", "kdop26"]
"""What bounds a feature during a step: intervals along so many half-axes."""


def check_volume(volume: str) -> int:
    """The number of directions of a volume."""
    return VOLUMES[arrays.choice(volume, "volume", VOLUMES)]


def find_candidates(
    a: Moving,
    b: Moving | None,
    *,
    volume: str = "aabb",
    min_distance: float = 0.0,
    memory: Memory | None = None,
    ordered: bool = True,
) -> Candidates:
    """Candidates of one body with itself (b is None) or of two bodies: vertices of a and faces of b, faces of a and vertices of b, edges."""
    memory = Memory() if memory is None else memory
    columns = check_volume(volume)
    bodies = [a] if b is None else [a, b]
    frame = frame_of(bodies, min_distance)
    with threads_for(primitive_count(bodies)):
        built = build(bodies, frame, columns, ends=False, memory=memory)
        if not ordered:
            return Candidates(*(gather_pairs(s, memory) for s in list_searches(built, frame.margin, LATER)))
        return Candidates(*find_pairs(list_searches(built, frame.margin, LARGER)))


def primitive_count(bodies: list[Moving]) -> int:
    """The number of vertices, edges and faces."""
    return sum(len(body.positions_t0) + len(body.edges) + len(body.faces) for body in bodies)


def list_searches(built: list[Primitives], margin: float, order: int) -> list[Search]:
    """The searches of one body with itself, each pair of edges once in this order, or of two bodies: vertex-face, edge-edge, face-vertex."""
    if len(built) == 1:
        own = built[0]
        return [
            Search(own.vertices, own.faces, Rules(EVERY, True, margin)),
            Search(own.edges, own.edges, Rules(order, True, margin)),
        ]
    one, two = built
    rules = Rules(EVERY, False, margin)
    return [
        Search(one.vertices, two.faces, rules),
        Search(one.edges, two.edges, rules),
        Search(one.faces, two.vertices, rules),
    ]


@overload
def candidates(
    a: Motion, b: Motion = ..., /, *, volume: Volume = "aabb", min_distance: float = 0.0, device: Device = None
) -> Candidates: ...


@overload
def candidates(
    mesh: BodyLike,
    v_t0: PointsLike,
    v_t1: PointsLike,
    /,
    *,
    volume: Volume = "aabb",
    min_distance: float = 0.0,
    device: Device = None,
) -> Candidates: ...


def candidates(
    a: Motion | BodyLike,
    *others: Motion | PointsLike,
    volume: Volume = "aabb",
    min_distance: float = 0.0,
    device: Device = None,
) -> Candidates:
    """Pairs of features whose volumes, swept during a step, meet or come within a distance of one another.

    `candidates(mesh, v_t0, v_t1)` or `candidates(motion)`: a body with itself; `candidates(motion_a, motion_b)`: two bodies with each other.

    A pair is kept where the intervals along every direction of the volume meet, touching included, so 14 and 18 directions keep subsets of
    6, and 26 of all. No pair that collides is lost; where something turns, volumes grow by how far its path bends. Left out are a vertex with a
    face of its own, edges with a common vertex, and vertices that no face has. Sorted; the same for any number of threads.

    Args:
        a, *others: one motion, two motions, or a mesh and its (n,3) vertices at t = 0 and at t = 1.
        volume: "aabb" or "kdop6" (axis-aligned boxes), "kdop8", "kdop12", "kdop14", "kdop18" or "kdop26".
        min_distance: how near two features may come before they are a pair; 0 for contact.
        device: as for `sweep`; boxes alone are searched there.

    Returns:
        Pairs by kind of feature, each once.

    Examples:
        >>> import abut
        >>> ball = abut.scenes.icosphere(1)
        >>> upturned = ball, ball.vertices, ball.vertices * [1, 1, -0.5]
        >>> abut.candidates(*upturned)
        Candidates(188 vertex-face, 580 edge-edge)
        >>> abut.candidates(*upturned, volume="kdop26")
        Candidates(180 vertex-face, 468 edge-edge)
    """
    ends = ends_on_device(device, a, others)
    if ends is not None:
        return questions().candidates(ends, volume, min_distance)
    one, two = read_surfaces(a, others)
    first, second, bend = movings_of(one.motion, None if two is None else two.motion)
    distance = arrays.scalar(min_distance, "min_distance", least=0.0)
    found = find_candidates(first, second, volume=volume, min_distance=distance + bend)
    return number_vertices(found, one, two)


def number_vertices(found: Candidates, one: Surface, two: Surface | None) -> Candidates:
    """The same candidates, with vertices as the given meshes number them."""
    if one.vertices is None and (two is None or two.vertices is None):
        return found
    vertex_face, face_vertex = found.vertex_face.copy(), found.face_vertex.copy()
    one.number(vertex_face[:, 0])
    if two is not None:
        two.number(face_vertex[:, 1])
    return Candidates(frozen(vertex_face), found.edge_edge, frozen(face_vertex))
