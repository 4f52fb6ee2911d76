"""One step of one or two motions, cut into spans: what the searches for all impacts and for the earliest have in common.

Where something turns, the step is cut into spans short enough that straight boxes fit, each grown by how far the paths bend; pairs are then solved on
their true paths (`turning_pairs`). Pairs of which neither turns are solved on the whole step, exactly.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from abut.ccd.culling.stream import Culled, cull, largest_coordinate, read_limit
from abut.ccd.impact.straight_pairs import Pairs, Side, Statuses, solve
from abut.ccd.impact.turning_pairs import Limits, Times, TurningSide, solve_turning
from abut.ccd.motion.motions import Motion
from abut.ccd.motion.surfaces import Surface
from abut.ccd.results import Kind
from abut.core import arrays
from abut.core.arrays import Floats, Integers
from abut.trees.blocks.memory import Memory
from abut.trees.blocks.swept import Moving

TURNING_TOLERANCE = 1e-9
"""How near features of turning bodies are when they are said to touch, as a part of the size of the scene."""
PLACE_NOISE = 16 * 2.0**-53
"""Rounding of the places of both features of a pair, as a part of the numbers that a place is the sum of."""
CUT_NOISE = 32 * 2.0**-53
"""The same for places at a time on straight lines: two differences, a product and a sum, each off by at most 2⁻⁵³ of twice the largest
coordinate, are less than 8·2⁻⁵³ of it along an axis, 14·2⁻⁵³ in space, twice for a pair."""
SAG = 0.1
"""How far paths may bend in one span, as a part of the mean edge length: more spans give boxes that fit, and cost a tree each."""
MAX_SPANS = 64


class Span(NamedTuple):
    """A part of the step on which all paths are taken as straight, for the search of candidates. sag: how far they bend."""

    begin: float
    end: float
    a: Moving
    b: Moving | None
    sag: float


class Step:
    """One step of one or two motions, and what a search of it needs."""

    def __init__(
        self, a: Motion, b: Motion | None, distance: float, tolerance: float, max_memory: int | None, memory: Memory
    ) -> None:
        self.a, self.b, self.memory = a, b, memory
        self.motions = [a] if b is None else [a, b]
        self.distance, self.tolerance, self.max_memory = distance, tolerance, max_memory
        self.size = sum(len(m.mesh.faces) for m in self.motions)
        self.turns = any(m.rotates for m in self.motions)
        self.is_partly_straight = not self.turns or all((m.paths.angle == 0.0).any() for m in self.motions)
        largest = max(_largest_part(m) for m in self.motions) if self.turns else 0.0
        low = np.min([m.vertices_t0.min(axis=0) for m in self.motions], axis=0)
        high = np.max([m.vertices_t0.max(axis=0) for m in self.motions], axis=0)
        self.limits = Limits(distance, TURNING_TOLERANCE * float(np.linalg.norm(high - low)), PLACE_NOISE * largest)

    def sides(self, kind: Kind) -> tuple[Motion, Integers, Motion, Integers]:
        """Motion and cells of the first and second features of a kind; a face-vertex pair is solved as vertex of b, face of a."""
        a, b = self.motions[0], self.motions[-1]
        if kind == Kind.EDGE_EDGE:
            return a, a.mesh.edges, b, b.mesh.edges
        if kind == Kind.FACE_VERTEX:
            return b, b.mesh.faces, a, a.mesh.faces
        return a, a.mesh.faces, b, b.mesh.faces

    def choose(self, kind: Kind, pairs: Pairs, turning: bool) -> Pairs:
        """Those of the pairs (first, second) that turn or do not, and are not of one rigid body."""
        first, first_cells, second, second_cells = self.sides(kind)
        if not (self.turns or (self.b is None and any(first._rigid_bodies))):
            return pairs
        i = pairs[:, 0] if kind != Kind.EDGE_EDGE else first_cells[pairs[:, 0], 0]
        j = second_cells[pairs[:, 1], 0]
        chosen = np.ones(len(pairs), dtype=np.bool_)
        if self.turns:
            chosen = ((first.paths.angle[i] != 0.0) | (second.paths.angle[j] != 0.0)) == turning
        if self.b is None:
            rigid = np.array(first._rigid_bodies)[first.body[i]]
            chosen &= ~(rigid & (first.body[i] == first.body[j]))
        return pairs[chosen]

    def cull(self, span: Span) -> Culled:
        """The searches of a span; those of another span write over them."""
        distance = self.distance + span.sag
        return cull(span.a, span.b, min_distance=distance, max_memory=self.max_memory, memory=self.memory)

    def stream(self, culled: Culled, *, every: int = 1) -> Iterator[tuple[Kind, Pairs]]:
        """Chunks of candidates; a face-vertex pair is turned round. every: of one query block in so many."""
        for kind, pairs in culled.stream(self.memory, every=every):
            yield kind, np.ascontiguousarray(pairs[:, ::-1]) if kind == Kind.FACE_VERTEX else pairs

    def spans(self) -> Iterator[Span]:
        """The spans of a step in which something turns, in order."""
        count = _count_spans(self.motions)
        noise = self.limits.noise + self.limits.tolerance
        bend = sum(float(m.paths.bend.max()) for m in self.motions)
        if self.b is None:
            bend *= 2.0
        begin, places = 0.0, [_moving(m, m.vertices_t0, m.vertices_t0) for m in self.motions]
        for k in range(1, count + 1):
            end = k / count
            nexts = [m.at(end) for m in self.motions]
            parts = [_moving(m, p.positions_t1, v) for m, p, v in zip(self.motions, places, nexts, strict=True)]
            yield Span(begin, end, parts[0], parts[1] if self.b else None, bend * (end - begin) ** 2 + noise)
            begin, places = end, parts

    def whole(self) -> Span:
        """The whole step as one span, straight."""
        parts = [_moving(m, m.vertices_t0, m.vertices_t1) for m in self.motions]
        return Span(0.0, 1.0, parts[0], parts[1] if self.b else None, 0.0)

    def until(self, end: float) -> Span:
        """The step from 0 up to a time, straight. sag: how far places at that time may be off by rounding, of both features of a pair."""
        parts: list[Moving] = []
        largest = 0.0
        for m in self.motions:
            parts.append(_moving(m, m.vertices_t0, m.vertices_t0 + (m.vertices_t1 - m.vertices_t0) * end))
            largest = max(largest, largest_coordinate(_moving(m, m.vertices_t0, m.vertices_t1)))
        return Span(0.0, end, parts[0], parts[1] if self.b else None, CUT_NOISE * largest)

    def solve_straight(self, kind: Kind, pairs: Pairs, t_max: float) -> tuple[Statuses, Floats]:
        """Status and time of pairs that do not turn."""
        first, second = self.straight_sides(kind)
        return solve(kind != Kind.EDGE_EDGE, pairs, first, second, self.distance, t_max, self.tolerance)

    def straight_sides(self, kind: Kind) -> tuple[Side, Side]:
        """The first and second features of a kind, on straight lines."""
        first, first_cells, second, second_cells = self.sides(kind)
        return (
            Side(first.vertices_t0, first.vertices_t1, first_cells),
            Side(second.vertices_t0, second.vertices_t1, second_cells),
        )

    def solve_turning(self, kind: Kind, pairs: Pairs, span: Span, t_max: float) -> tuple[Statuses, Floats]:
        """Status and time of pairs that turn; those that are free up to t_max need not be followed further."""
        first, first_cells, second, second_cells = self.sides(kind)
        return solve_turning(
            kind != Kind.EDGE_EDGE,
            pairs,
            TurningSide(first.paths, first_cells),
            TurningSide(second.paths, second_cells),
            Times(span.begin, span.end, t_max),
            self.limits,
        )


def make_step(
    one: Surface,
    two: Surface | None,
    min_distance: float,
    tolerance: float,
    max_memory: int | None,
    memory: Memory | None = None,
) -> Step:
    """The step that a question is about, its options checked. memory: what its searches lie in."""
    distance = arrays.scalar(min_distance, "min_distance", least=0.0)
    early = arrays.scalar(tolerance, "tolerance", least=0.0, most=1.0)
    motion, other = one.motion, None if two is None else two.motion
    return Step(motion, other, distance, early, read_limit(max_memory), Memory() if memory is None else memory)


def _largest_part(motion: Motion) -> float:
    """A bound on the numbers that the place of a vertex is the sum of: they may be larger than the place itself."""
    paths = motion.paths
    parts = (paths.base, paths.velocity, paths.cosine, paths.sine)
    return sum(float(np.abs(part).max()) for part in parts)


def _moving(motion: Motion, vertices_t0: Floats, vertices_t1: Floats) -> Moving:
    return Moving(vertices_t0, vertices_t1, motion.mesh.faces, motion.mesh.edges)


def _count_spans(motions: list[Motion]) -> int:
    """So many that no path bends by more than SAG of the mean edge length of the finer mesh in one, and at most MAX_SPANS."""
    bend = max(float(m.paths.bend.max()) for m in motions)
    edges = [
        m.vertices_t0[m.mesh.edges[:, 0]] - m.vertices_t0[m.mesh.edges[:, 1]] for m in motions if len(m.mesh.edges)
    ]
    length = min((float(np.linalg.norm(e, axis=1).mean()) for e in edges), default=0.0)
    if not length > 0.0:
        return MAX_SPANS if bend > 0.0 else 1
    return int(min(max(math.ceil(math.sqrt(bend / (SAG * length))), 1), MAX_SPANS))
