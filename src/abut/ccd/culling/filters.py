"""Two filters for candidates, exact in what they reject: a rejected pair certainly does not meet in [0, 1] (Wan 2022, §1.2 and §2).

DNF, the deforming non-penetration filter (Tang, Manocha, Tong 2010). A vertex and a face, or two edges, that meet have their four points in one
plane at that time. With a, b, c the points 1 to 3 relative to point 0, each moving linearly from a₀ to a₁, the volume det(a, b, c)(t) is a
cubic in t. Expanding a(t) = (1−t)a₀ + t·a₁ in the three arguments gives it in Bernstein form, Σ bᵢ·C(3,i)(1−t)³⁻ⁱtⁱ, with

    b₀ = det(a₀,b₀,c₀)                    b₁ = (det(a₁,b₀,c₀) + det(a₀,b₁,c₀) + det(a₀,b₀,c₁)) / 3
    b₃ = det(a₁,b₁,c₁)                    b₂ = (det(a₀,b₁,c₁) + det(a₁,b₀,c₁) + det(a₁,b₁,c₀)) / 3

The Bernstein polynomials are not negative and add up to one, so the cubic lies between the least and the greatest coefficient: if all four
are of one sign, the points are never coplanar, and the pair is rejected.

SLPF, the spatial linear projection filter (Wan 2022, equations 1 and 2). Projected on a line, a vertex that is beyond all three vertices of
the face at t = 0 and at t = 1, on the same side, is so at every time between, since projections move linearly; likewise the vertices of one edge
against those of the other. The paper's five lines (§2.3) are LINES; any others may be given.

Rounding. u = 2⁻⁵³; a difference of coordinates is off by u of itself. See DNF_ERROR and SLPF_ERROR. Touching pairs, pairs that stay coplanar and
points that coincide give a coefficient, or a projection, that is zero up to that error: they are kept. Differences are scaled by a power of two,
so that products of three neither overflow nor vanish; where they would vanish all the same the pair is kept.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abut.ccd.motion.straight import moving_of
from abut.ccd.results import Candidates
from abut.core import arrays
from abut.core.arrays import Floats, frozen, indices, instance
from abut.core.errors import InvalidInput
from abut.core.jit import element, inlined, parallel, prange
from abut.core.showing import describe, table_html
from abut.core.types import PointsLike
from abut.geometry.rows import vector_at
from abut.geometry.vec import Vec3, cross, dot, scale, subtract
from abut.mesh import MeshLike
from abut.trees.blocks.swept import Indices

UNIT = 2.0**-53
# b₁ is a third of 18 products of three differences. A product passes through 3 differences, 2 multiplications, at most 5 additions, and the
# division (a multiplication with ⅓, 2 roundings): 12u of itself. With X, Y, Z bounds on the differences along each axis a product is at most
# XYZ: 18·12/3 = 72u·XYZ. b₀ has 6 products and 8 roundings, 48u·XYZ. The rest covers terms in u² and the rounding of XYZ itself.
DNF_ERROR = 80.0 * UNIT
# After scaling differences are below 1, and one that vanishes or is rounded in the subnormal range loses 2⁻¹⁰⁷⁴; times two others, and times 72
# products, that is below 2⁻¹⁰⁶⁷: nothing beside an error bound of LEAST or more.
LEAST = 2.0**-1000
# s·(p − a): each of three differences is off by u of itself and passes through a product and two additions: 4u·Σ|s||p − a|, and terms in u².
SLPF_ERROR = 5.0 * UNIT
# A product below 2⁻¹⁰²² loses up to 2⁻¹⁰⁷⁵; three of them, with room to spare. Lines are scaled to a largest component in [1, 2).
VANISHED = 2.0**-1072
LINES: Floats = frozen(np.array([(1.0, 0.0, 0.0), (1.0, 1.0, 0.0), (1.0, 0.0, 1.0), (0.0, 1.0, 1.0), (1.0, 1.0, 1.0)]))
"""(5,3) Wan's lines (§2.3). The paper finds (1,0,0) alone as good as the three axes; `abut bench wan` does not."""
NO_LINES: Floats = frozen(np.empty((0, 3)))

Four = tuple[Vec3, Vec3, Vec3, Vec3]


# ---- elements


@inlined
def bernstein_volume(x_t0: Four, x_t1: Four, factor: float) -> tuple[float, float, float, float, float]:
    """Bernstein coefficients of det(x₁−x₀, x₂−x₀, x₃−x₀)(t), differences multiplied by `factor`, and a bound on their error."""
    a0, a1 = scale(subtract(x_t0[1], x_t0[0]), factor), scale(subtract(x_t1[1], x_t1[0]), factor)
    b0, b1 = scale(subtract(x_t0[2], x_t0[0]), factor), scale(subtract(x_t1[2], x_t1[0]), factor)
    c0, c1 = scale(subtract(x_t0[3], x_t0[0]), factor), scale(subtract(x_t1[3], x_t1[0]), factor)
    start, end = cross(a0, b0), cross(a1, b1)
    p, q = cross(a0, b1), cross(a1, b0)
    mixed = (p[0] + q[0], p[1] + q[1], p[2] + q[2])
    first, last = dot(start, c0), dot(end, c1)
    second = (dot(start, c1) + dot(mixed, c0)) * (1.0 / 3.0)
    third = (dot(end, c0) + dot(mixed, c1)) * (1.0 / 3.0)
    # Sums instead of maxima: no comparisons, and as good a bound.
    x = abs(a0[0]) + abs(b0[0]) + abs(c0[0]) + abs(a1[0]) + abs(b1[0]) + abs(c1[0])
    y = abs(a0[1]) + abs(b0[1]) + abs(c0[1]) + abs(a1[1]) + abs(b1[1]) + abs(c1[1])
    z = abs(a0[2]) + abs(b0[2]) + abs(c0[2]) + abs(a1[2]) + abs(b1[2]) + abs(c1[2])
    return first, second, third, last, DNF_ERROR * (x * y * z) + LEAST


@inlined
def is_never_coplanar(x_t0: Four, x_t1: Four, factor: float) -> bool:
    """DNF: whether four moving points are certainly never in one plane. factor: a power of two that brings differences to 1 or below."""
    b0, b1, b2, b3, error = bernstein_volume(x_t0, x_t1, factor)
    above = (b0 > error) & (b1 > error) & (b2 > error) & (b3 > error)
    below = (b0 < -error) & (b1 < -error) & (b2 < -error) & (b3 < -error)
    return above | below


@element
def _side(p: Vec3, a: Vec3, line: Vec3) -> int:
    """On which side of a's projection that of p certainly lies: 1, −1, or 0 where it is not certain."""
    d = subtract(p, a)
    x, y, z = line[0] * d[0], line[1] * d[1], line[2] * d[2]
    along, error = (x + y) + z, SLPF_ERROR * (abs(x) + abs(y) + abs(z)) + VANISHED
    return int(along > error) - int(along < -error)


@element
def is_apart_vertex_face(x_t0: Four, x_t1: Four, line: Vec3) -> bool:
    """SLPF, equation 1: whether a vertex x₀ is certainly beyond the face x₁x₂x₃ all the time, along a line."""
    sides = _side(x_t0[0], x_t0[1], line) + _side(x_t0[0], x_t0[2], line) + _side(x_t0[0], x_t0[3], line)
    sides += _side(x_t1[0], x_t1[1], line) + _side(x_t1[0], x_t1[2], line) + _side(x_t1[0], x_t1[3], line)
    return abs(sides) == 6


@element
def _sides_of_edges(x: Four, line: Vec3) -> int:
    return _side(x[0], x[2], line) + _side(x[0], x[3], line) + _side(x[1], x[2], line) + _side(x[1], x[3], line)


@element
def is_apart_edge_edge(x_t0: Four, x_t1: Four, line: Vec3) -> bool:
    """SLPF, equation 2: whether the edge x₀x₁ is certainly beyond the edge x₂x₃ all the time, along a line."""
    return abs(_sides_of_edges(x_t0, line) + _sides_of_edges(x_t1, line)) == 8


def scale_of(largest: float) -> float:
    """The power of two that brings differences of coordinates up to `largest` in magnitude below 1."""
    return math.ldexp(0.25, -max(math.frexp(largest)[1], -1000)) if largest > 0.0 else 1.0


# ---- batches


@parallel
def _filter(
    positions_t0: Floats, positions_t1: Floats, points: Any, lines: Floats, edges: bool, factor: float, keep: Any
) -> None:
    """points (n,4): the vertices of each pair. lines (m,3): of SLPF; none for DNF."""
    for i in prange(len(points)):
        a, b, c, d = points[i, 0], points[i, 1], points[i, 2], points[i, 3]
        x_t0 = (
            vector_at(positions_t0, a),
            vector_at(positions_t0, b),
            vector_at(positions_t0, c),
            vector_at(positions_t0, d),
        )
        x_t1 = (
            vector_at(positions_t1, a),
            vector_at(positions_t1, b),
            vector_at(positions_t1, c),
            vector_at(positions_t1, d),
        )
        if len(lines) == 0:
            keep[i] = not is_never_coplanar(x_t0, x_t1, factor)
        else:
            apart = False
            for k in range(len(lines)):
                line = (lines[k, 0], lines[k, 1], lines[k, 2])
                apart = is_apart_edge_edge(x_t0, x_t1, line) if edges else is_apart_vertex_face(x_t0, x_t1, line)
                if apart:
                    break
            keep[i] = not apart


@dataclass(frozen=True, eq=False)
class Filtered:
    """What a filter keeps: one truth value per candidate."""

    vertex_face: NDArray[np.bool_]
    """(n,) whether each vertex-face pair is kept"""
    edge_edge: NDArray[np.bool_]
    """(m,) whether each edge-edge pair is kept"""

    def __repr__(self) -> str:
        facts = (
            f"{np.count_nonzero(kept):,} of {len(kept):,} {kind} kept"
            for kept, kind in ((self.vertex_face, "vertex-face"), (self.edge_edge, "edge-edge"))
        )
        return describe(self, *facts)

    def _repr_html_(self) -> str:
        kept = [int(np.count_nonzero(mask)) for mask in (self.vertex_face, self.edge_edge)]
        culled = [self.vertex_face_culled, self.edge_edge_culled]
        return table_html(repr(self), ("pairs", "kept", "culled"), (["vertex-face", "edge-edge"], kept, culled), 2)

    @property
    def vertex_face_culled(self) -> int:
        """The number of vertex-face pairs that were rejected."""
        return len(self.vertex_face) - int(np.count_nonzero(self.vertex_face))

    @property
    def edge_edge_culled(self) -> int:
        """The number of edge-edge pairs that were rejected."""
        return len(self.edge_edge) - int(np.count_nonzero(self.edge_edge))

    def apply(self, candidates: Candidates) -> Candidates:
        """The candidates that are kept.

        Args:
            candidates: those that were filtered.

        Returns:
            A part of them.

        Raises:
            InvalidInput: their number is another.
        """
        instance(candidates, "candidates", Candidates)
        for name in ("vertex_face", "edge_edge"):
            given, expected = len(getattr(candidates, name)), len(getattr(self, name))
            if given != expected:
                raise InvalidInput(f"candidates.{name}", f"has {given} rows, {expected} were filtered")
        return Candidates(
            frozen(candidates.vertex_face[self.vertex_face]), frozen(candidates.edge_edge[self.edge_edge])
        )


def _read_lines(lines: PointsLike) -> Floats:
    """Directions with a largest component in [1, 2): to scale by a power of two changes no sign, and rounds at most what vanishes."""
    given = arrays.points(lines, "lines")
    largest = np.abs(given).max(axis=1, initial=0.0)
    if not len(given):
        raise InvalidInput("lines", "is empty")
    if (largest == 0.0).any():
        raise InvalidInput("lines", "has no direction", int(np.argmin(largest)))
    return frozen(np.ldexp(given, 1 - np.frexp(largest)[1][:, np.newaxis]))


def _run(mesh: MeshLike, v_t0: PointsLike, v_t1: PointsLike, candidates: Candidates, lines: Floats) -> Filtered:
    instance(candidates, "candidates", Candidates)
    body = moving_of(mesh, v_t0, v_t1)
    largest = max(float(np.abs(p).max(initial=0.0)) for p in (body.positions_t0, body.positions_t1))
    factor = scale_of(largest)
    masks: list[NDArray[np.bool_]] = []
    for name, edges, first_count, second in (
        ("vertex_face", False, len(body.positions_t0), body.faces),
        ("edge_edge", True, len(body.edges), body.edges),
    ):
        pairs: Indices = getattr(candidates, name)
        firsts = indices(pairs[:, :1], f"candidates.{name}", 1, first_count)
        seconds = indices(pairs[:, 1:], f"candidates.{name}", 1, len(second))
        corners = body.edges[firsts[:, 0]] if edges else firsts
        points = np.hstack([corners, second[seconds[:, 0]]])
        keep = np.empty(len(points), dtype=np.bool_)
        _filter(body.positions_t0, body.positions_t1, points, lines, edges, factor, keep)
        keep.flags.writeable = False
        masks.append(keep)
    return Filtered(masks[0], masks[1])


def filter_dnf(mesh: MeshLike, v_t0: PointsLike, v_t1: PointsLike, candidates: Candidates) -> Filtered:
    """The deforming non-penetration filter: rejects pairs whose four points are never coplanar during the step.

    Rounding is allowed for: a pair that collides is never rejected.

    Args:
        mesh: anything `as_mesh` takes.
        v_t0, v_t1: (n,3) its vertices at t = 0 and at t = 1.
        candidates: pairs of the mesh with itself.

    Returns:
        Which pairs are left; `.apply(candidates)` picks them.

    Examples:
        >>> import abut
        >>> ball = abut.scenes.icosphere(1)
        >>> step = ball, ball.vertices, ball.vertices * [1, 1, 0.5]
        >>> pairs = abut.candidates(*step)
        >>> abut.ccd.filter_dnf(*step, pairs)
        Filtered(0 of 8 vertex-face kept, 0 of 72 edge-edge kept)
    """
    return _run(mesh, v_t0, v_t1, candidates, NO_LINES)


def filter_slpf(
    mesh: MeshLike, v_t0: PointsLike, v_t1: PointsLike, candidates: Candidates, *, lines: PointsLike = LINES
) -> Filtered:
    """The spatial linear projection filter: rejects pairs that one of some lines separates, in one order, at both ends of the step.

    Rounding is allowed for: a pair that collides is never rejected.

    Args:
        mesh: anything `as_mesh` takes.
        v_t0, v_t1: (n,3) its vertices at t = 0 and at t = 1.
        candidates: pairs of the mesh with itself.
        lines: (m,3) directions of any length to project on; by default the paper's five (§2.3).

    Returns:
        Which pairs are left; `.apply(candidates)` picks them.

    Examples:
        >>> import abut
        >>> ball = abut.scenes.icosphere(1)
        >>> step = ball, ball.vertices, ball.vertices * [1, 1, -0.5]
        >>> pairs = abut.candidates(*step)
        >>> abut.ccd.filter_slpf(*step, pairs)
        Filtered(184 of 188 vertex-face kept, 524 of 580 edge-edge kept)
        >>> abut.ccd.filter_slpf(*step, pairs, lines=[[1, 0, 0]])
        Filtered(188 of 188 vertex-face kept, 580 of 580 edge-edge kept)
    """
    return _run(mesh, v_t0, v_t1, candidates, _read_lines(lines))
