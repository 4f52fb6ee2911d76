"""Points inside cells that have moved: each is followed (`wall_sweep`, else `exact_sweep`), and one that a wall reaches goes along with that wall.

Such a point is from then on where the same place of the wall is: it keeps its barycentric coordinates in the triangle, in the plane its share of the
edge. Its last position is rounded, and is accepted only where exact signs place it in the closed cell whose wall it is; else it is pulled inwards,
from 2⁻⁵⁰ of the way to the cell's middle on.
"""

from abut.cells.map.darts import Indices
from abut.cells.settle.exact_sweep import ExactTrace
from abut.cells.settle.moving_cells import face_of, sliver_at
from abut.cells.settle.wall_sweep import (
    KEPT,
    REACHED,
    UNDECIDED,
    Fate,
    sliver_holding,
    stays_in_part,
    trace_point,
)
from abut.cells.space.predicates import NOWHERE, holds
from abut.cells.space.records import Space, renew_record
from abut.cells.walk.stop_point import FIRST_PULL, PULL_GROWTH, mean_corner
from abut.core.arrays import Floats, Integers
from abut.core.jit import element, integer, kernel
from abut.core.records import Records, record
from abut.geometry.moving_planes import MovingTriangle
from abut.geometry.rows import put_vector, vector_at
from abut.geometry.vec import Vec3, add_scaled, cross, dot, lerp, norm_sq, subtract

FATE = record(("outcome", "i8"), ("part", "i8"), ("dart", "i8"), ("k", "i8"), ("earliest", "f8"), ("latest", "f8"))
"""`wall_sweep.Fate`."""


@element
def _shares(a: Vec3, b: Vec3, c: Vec3, p: Vec3) -> Vec3:
    """The barycentric coordinates of the point of a triangle's plane below p, brought to the triangle where they are not in it."""
    u, v, w = subtract(b, a), subtract(c, a), subtract(p, a)
    normal = cross(u, v)
    size = norm_sq(normal)
    if not size > 0.0:
        return (1.0, 0.0, 0.0)
    y = min(max(dot(cross(w, v), normal) / size, 0.0), 1.0)
    z = min(max(dot(cross(u, w), normal) / size, 0.0), 1.0)
    total = max(y + z, 1.0)
    return (1.0 - (y + z) / total, y / total, z / total)


@element
def _on_wall(dimension: int, face: MovingTriangle, time: float, p: Vec3) -> Vec3:
    """Where the place of a wall that meets p at a time is in the end."""
    a, b, c = lerp(face.a0, face.a1, time), lerp(face.b0, face.b1, time), lerp(face.c0, face.c1, time)
    if dimension == 2:
        along = subtract(c, a)
        length_sq = dot(along, along)
        share = min(max(dot(along, subtract(p, a)) / length_sq, 0.0), 1.0) if length_sq > 0.0 else 0.0
        return lerp(face.a1, face.c1, share)
    shares = _shares(a, b, c, p)
    return add_scaled(add_scaled(face.a1, subtract(face.b1, face.a1), shares[1]), subtract(face.c1, face.a1), shares[2])


@kernel
def carry(space: Space, origin: Floats, fate: Fate, p: Vec3) -> Vec3:
    """Where a point is in the end that a wall has reached: at the wall, in the closed cell before it."""
    part = integer(fate.part)
    face = face_of(space.dimension, sliver_at(space, origin, part, integer(fate.dart)), integer(fate.k))
    x = _on_wall(space.dimension, face, 0.5 * (fate.earliest + fate.latest), p)
    if space.stale[part]:
        renew_record(space, part)
    if holds(space, part, x):
        return x
    middle, share = mean_corner(space, part), FIRST_PULL
    while share < 1.0:
        pulled = add_scaled(x, subtract(middle, x), share)
        if holds(space, part, pulled):
            return pulled
        share *= PULL_GROWTH
    return face.a1


@kernel
def follow_rows(
    space: Space, origin: Floats, step: float, rows: Integers, parts: Indices, position: Floats, fates: Records
) -> int:
    """What becomes of some points, none of whose vertices have gone further than `step`: their fates; how many are undecided."""
    undecided = 0
    for k in range(len(rows)):
        part, p = integer(parts[rows[k]]), vector_at(position, rows[k])
        fate = Fate(integer(KEPT), part, integer(NOWHERE), integer(0), 1.0, 1.0)
        if not stays_in_part(space, origin, part, p, step):
            fate = trace_point(space, origin, part, p)
        fates[k].outcome, fates[k].part, fates[k].dart, fates[k].k = fate.outcome, fate.part, fate.dart, fate.k
        fates[k].earliest, fates[k].latest = fate.earliest, fate.latest
        undecided += 1 if fate.outcome == UNDECIDED else 0
    return undecided


@kernel
def carry_rows(space: Space, origin: Floats, rows: Integers, fates: Records, parts: Indices, position: Floats) -> None:
    """Write the parts of points that were followed, and put those that a wall has reached where it has taken them."""
    for k in range(len(rows)):
        row, fate = rows[k], fates[k]
        parts[row] = fate.part
        if fate.outcome == REACHED:
            known = Fate(fate.outcome, fate.part, fate.dart, fate.k, fate.earliest, fate.latest)
            put_vector(position, row, 0, carry(space, origin, known, vector_at(position, row)))


@kernel
def find_at_start(
    space: Space,
    origin: Floats,
    begin: Integers,
    end: Integers,
    pool: Indices,
    cells: Integers,
    rows: Integers,
    parts: Indices,
    position: Floats,
) -> None:
    """The part of its cell, made anew since, that held each point when the vertices were at `origin`; the first part where none did."""
    for k in range(len(rows)):
        p = vector_at(position, rows[k])
        parts[rows[k]] = pool[begin[cells[k]]]
        for place in range(begin[cells[k]], end[cells[k]]):
            if sliver_holding(space, origin, integer(pool[place]), p) != NOWHERE:
                parts[rows[k]] = pool[place]
                break


def decide_exactly(
    space: Space, origin: Floats, rows: Integers, parts: Indices, position: Floats, fates: Records
) -> None:
    """The fates that floating point left undecided."""
    for k in (fates["outcome"] == UNDECIDED).nonzero()[0].tolist():
        row = int(rows[k])
        p = vector_at(position, row)
        fate = ExactTrace(space, origin, p).follow(int(parts[row]))
        for name, value in zip(Fate._fields, fate, strict=True):
            fates[name][k] = value
