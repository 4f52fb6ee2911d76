"""Vertices of a mobile move one after another (Jund 2010, §4.2, §5.3): each as far as its own path, its edges and its faces are free.

A vertex tries its target. Where something is hit at time t, it tries the point just before, and so on; the point where it ends has passed all tests
itself, so that whatever is rounded, the state stays free of collisions: each vertex in a free cell, each edge (and face) tested. The last
resort is to stay. Before a contact a gap is left, GAP of the path that was free or a few units of the coordinates' rounding; it grows with each
try that meets the same contact again, hardly where a rounded path touches what the straight one passes by, and begins anew for another contact.
The first try of a continuous move asks about the whole straight path, also where the vertex itself is stopped on it: its times are exact.

By dichotomy (§4.2.1) the time is narrowed by halving instead, and what was hit is looked for afterwards: an edge of the face that the last
blocked segment went through, if it meets the strip between the last free and the last blocked position (figure 4.11), else that face.

After a hit the rest of the path may be projected on the contact plane and tried again (slide, bounce: the first two cases of §5.3).
"""

import numpy as np

from abut.cells.map.darts import Row
from abut.cells.mobile.steps.clear_moves import pass_quickly
from abut.cells.mobile.steps.packed_move import unpack_move
from abut.cells.mobile.steps.step_tests import NOTHING, Body, Rules, find_first, number_of, tests_all
from abut.cells.space.predicates import THROUGH_VERTEX, place, touches_obstacle
from abut.cells.space.records import BLOCKED, NO_FACE, Space, corners_of_face, unpack_space
from abut.cells.walk.by_planes import is_inside
from abut.cells.walk.results import COLLISION, CONTACT
from abut.cells.walk.segment_walk import (
    ANY_CELL,
    EDGE_TESTS,
    EDGES_BEHIND,
    EDGES_CLEAR,
    EDGES_INSIDE,
    FACE_TESTS,
    TESTS,
    VISITS,
    Front,
    clear_counters,
    follow,
)
from abut.cells.walk.stop_point import EARLY, outward_normal
from abut.core.arrays import Floats, Integers
from abut.core.jit import element, inlined, integer, kernel, stay_apart
from abut.core.records import Record, Records, put
from abut.geometry.crossings import meet_segment_triangle
from abut.geometry.determinants import cross_segment_plane
from abut.geometry.predicates import orient_3d
from abut.geometry.rows import put_vector, vector_at
from abut.geometry.vec import Vec3, add, add_scaled, cross, dot, lerp, norm, scale, subtract

_COLLISION, _CONTACT = int(COLLISION), int(CONTACT)
GAP = 2.0**-26
"""Share of the free path that is given up before a contact."""
ROUNDING_GAP = 2.0**-49
"""The least gap, in units of the largest coordinate: sixteen times the rounding of a point."""
GAP_GROWTH = 16.0
AT_ONCE = 1.0 - 2.0**-44
"""Where a vertex and its edge meet something at the same time, but for their rounding, the vertex counts. Less than EARLY takes off."""
GRAZE_GROWTH = 1.5
"""By how much the gap grows where another one would not help, but another rounding of the path may."""
MOST_TRIES = 32
MOST_GRAZES = 12
"""How many rounded paths may touch what the straight one passes by before that counts as a hit."""
MOST_SLIDES = 3
Trial = tuple[Vec3, Row, bool, float, int, Row, Vec3, Row, Row]


@element
def _largest(p: Vec3, g: Vec3) -> float:
    return max(abs(p[0]), abs(p[1]), abs(p[2]), abs(g[0]), abs(g[1]), abs(g[2]))


@element
def _rounding_share(p: Vec3, g: Vec3) -> float:
    """The least gap as a share of the path from p to g: all of it where the path is shorter, or has no length, as that of a vertex whose edge an
    obstacle has been put in the way of."""
    least, length = ROUNDING_GAP * _largest(p, g), norm(subtract(g, p))
    return least / length if length > least else 1.0


@element
def _unit(a: Vec3) -> Vec3:
    length = norm(a)
    return scale(a, 1.0 / length) if length > 0.0 else (0.0, 0.0, 0.0)


@kernel
def _caused_by(space: Space, face: Row, low: Vec3, high: Vec3, q: Vec3) -> Row:
    """The edge or, in the plane, the corner of a blocked face that meets the triangle low, high, q; NO_FACE where none does."""
    dart = face
    while True:
        following = space.phi1[dart]
        a, b = vector_at(space.vertices, space.vertex[dart]), vector_at(space.vertices, space.vertex[following])
        if meet_segment_triangle(a, a if space.dimension == 2 else b, low, high, q):
            return dart
        if following == face or (space.dimension == 2 and dart != face):
            return NO_FACE
        dart = following


@kernel
def _normal_of_wall(space: Space, face: Row) -> Vec3:
    """Unit normal of a face, out of its cell."""
    stay_apart()
    return outward_normal(space, face)


@kernel
def _approach(space: Space, front: Front, body: Body, rules: Rules, row: Row, g: Vec3) -> Trial:
    """Move towards g as far as all is free: (the point, its cell, whether it is g, then of the first hit time, kind, dart, normal, edge, face).

    The normal is that of the obstacle, for hits of the vertex itself.
    """
    stay_apart()
    p, cell = vector_at(body.position, row), integer(body.cell[row])
    first_time, kind, dart, edge, face, normal = np.inf, 0, NO_FACE, NOTHING, NOTHING, (0.0, 0.0, 0.0)
    goal, share, low, high, low_point, low_cell, high_point = g, 1.0, 0.0, 1.0, p, cell, g
    halving, gap, least, rounding, contact, grazes = False, GAP, 0.0, 0.0, 1.0, 0
    for tries in range(MOST_TRIES):
        reached, slot, through, hit = follow(space, front, False, cell, p, goal, integer(ANY_CELL))
        is_reached, time, new_kind, new_dart = slot == NO_FACE, np.inf, 0, hit
        new_edge, new_face, new_normal = NOTHING, NOTHING, normal
        if is_reached or (tries == 0 and tests_all(rules)):
            time, new_kind, new_dart, new_edge, new_face = find_first(
                space, front, body, rules, row, goal, integer(reached), is_reached
            )
        if not is_reached:
            wall = space.face[reached, slot]
            a, b, c = corners_of_face(space, wall)
            stopped = cross_segment_plane(p, goal, a, b, c)
            if stopped * AT_ONCE <= time:
                time, new_normal = stopped, _normal_of_wall(space, wall)
                new_kind = 0 if through == THROUGH_VERTEX else space.dimension - 1 - through
                new_dart, new_edge, new_face = hit, NOTHING, NOTHING
        given_up, growth = contact - share, GAP_GROWTH
        is_other = share * time * EARLY < share - GAP_GROWTH * given_up
        if time == np.inf:
            low, low_point, low_cell = share, goal, reached
            if not halving:
                break
        elif tries > 0 and (tests_all(rules) or not is_reached) and not halving and grazes < MOST_GRAZES:
            grazes += 1  # all was free up to the contact: only the rounding of this path touches something
            growth = GRAZE_GROWTH if is_other else GAP_GROWTH
        else:
            high, high_point = share, goal
            if tries == 0:
                rounding = _rounding_share(p, g)
            contact = share * time * EARLY
            if tries > 0:  # of a path that is rounded itself
                contact = max(contact - rounding, 0.0)
            if is_other:  # than the one that the gap has grown for
                gap, least = GAP, rounding
            if halving or contact < first_time:
                first_time, kind, dart, edge, face, normal = contact, new_kind, new_dart, new_edge, new_face, new_normal
            halving = halving or (new_edge != NOTHING and not (rules.is_exhaustive or rules.is_continuous))
        if halving:
            share = 0.5 * (low + high)
        else:
            share = min(contact * (1.0 - gap), contact - least)
            gap, least = min(gap * growth, 0.5), least * growth
        goal = lerp(p, g, share)
        if not share > 0.0 or goal in (low_point, high_point):
            break
    if halving:
        first_time = low
        if edge != NOTHING:
            cause = _caused_by(space, dart, low_point, high_point, _other_end(body, row, edge))
            if cause != NO_FACE:
                kind, dart = space.dimension - 2, cause
    return low_point, low_cell, first_time == np.inf, first_time, kind, dart, normal, edge, face


@inlined
def _other_end(body: Body, row: Row, edge: Row) -> Vec3:
    """Where the other end of an edge of a vertex is."""
    found = row
    for k in range(body.edge_start[row], body.edge_start[row + 1]):
        if body.edges[k].number == edge:
            found = body.edges[k].other
    return vector_at(body.position, found)


@inlined
def _corners_beside(body: Body, row: Row, face: Row) -> tuple[Vec3, Vec3]:
    """Where the other corners of a face of a vertex are."""
    i, j = row, row
    for k in range(body.face_start[row], body.face_start[row + 1]):
        if number_of(body.faces[k].number) == face:
            i, j = body.faces[k].first, body.faces[k].second
    return vector_at(body.position, i), vector_at(body.position, j)


@kernel
def _describe(space: Space, kind: int, dart: Row, p: Vec3, at: Vec3, g: Vec3, q: Vec3, r: Vec3) -> tuple[Vec3, Vec3]:
    """Normal and point of the contact of the edge from `at` to q (r is q) or of the face at, q, r; the vertex moves from p to g.

    Two edges that touch span the contact plane; in the plane the mobile's edge does, and a face does by itself. Of an edge in the plane of an
    obstacle's face the normal is that of the face; of one along an edge, the motion across it.
    """
    a, b = vector_at(space.vertices, space.vertex[dart]), vector_at(space.vertices, space.vertex[space.phi1[dart]])
    second, point = (0.0, 0.0, 1.0), at
    if r != q:
        second = subtract(r, at)
    elif space.dimension == 3:
        second = subtract(b, a) if kind == 1 else (0.0, 0.0, 0.0)
    if kind == 0:
        point = a
    elif kind == 1 and space.dimension == 3 and orient_3d(p, g, q, a) != orient_3d(p, g, q, b):
        point = lerp(a, b, cross_segment_plane(a, b, p, g, q))
    across = _unit(cross(_unit(subtract(q, at)), _unit(second)))
    heading = dot(across, subtract(g, p))
    if heading == 0.0 and kind == space.dimension - 1:
        return _normal_of_wall(space, dart), point
    if heading == 0.0:
        along, motion = _unit(subtract(q, at)), subtract(g, p)
        return _unit(add_scaled(motion, along, -dot(motion, along))), point
    return add(scale(across, 1.0 if heading > 0.0 else -1.0), (0.0, 0.0, 0.0)), point


@kernel
def _end_try(
    space: Space, body: Body, rules: Rules, answer: Records, row: Row, g: Vec3, is_first: bool, trial: Trial
) -> tuple[bool, Vec3]:
    """Put a vertex where its try towards g has ended, and write its row if it was the first; whether it slides or bounces on, and where to."""
    stay_apart()
    p = vector_at(body.position, row)
    reached, cell, is_free, time, kind, dart, normal, edge, face = trial
    point, slot = reached, NO_FACE
    if is_free:
        time, status, kind, dart = 1.0, 0, space.dimension, space.face[cell, 0]
        if not is_inside(space, cell, g):
            kind, dart, slot = place(space, cell, g)
            status = _CONTACT if touches_obstacle(space, cell, kind, dart, slot) else 0
    else:
        status, point = _COLLISION, lerp(p, g, time)
        if face != NOTHING:
            q, r = _corners_beside(body, row, face)
            normal, point = _describe(space, kind, dart, p, point, g, q, r)
        elif edge != NOTHING:
            q = _other_end(body, row, edge)
            normal, point = _describe(space, kind, dart, p, point, g, q, q)
    if is_first:
        if status == _CONTACT:
            normal = _normal_of_wall(space, space.face[cell, slot])
        end = answer[row]
        end.status, end.kind, end.dart, end.edge, end.face, end.time = status, kind, dart, edge, face, time
        put(end.normal, normal)
        put(end.point, point)
    put_vector(body.position, row, 0, reached)
    body.cell[row] = cell
    into = dot(subtract(g, reached), normal)
    goes_on = not is_free and rules.restitution >= 0.0 and into > 0.0
    return goes_on, add_scaled(g, normal, -(1.0 + rules.restitution) * into)


@inlined
def _write_free(space: Space, end: Record, cell: Row, g: Vec3) -> None:
    """A vertex has come to g in a cell and touches nothing."""
    end.status, end.kind, end.dart = 0, space.dimension, space.face[cell, 0]
    end.edge, end.face, end.time = NOTHING, NOTHING, 1.0
    put(end.normal, (0.0, 0.0, 0.0))
    put(end.point, g)


@inlined
def _write_counters(end: Record, state: Integers) -> None:
    """What was done for a vertex."""
    end.tests, end.visits = state[TESTS], state[VISITS]
    end.edge_tests, end.face_tests = state[EDGE_TESTS], state[FACE_TESTS]
    end.edges_inside, end.edges_clear, end.edges_behind = state[EDGES_INSIDE], state[EDGES_CLEAR], state[EDGES_BEHIND]


@kernel
def move_vertices(packed: Integers, move: Integers, reals: Floats) -> None:
    """Move vertices, one after another, towards their goals. The space is handed over by `pack_space`, all else by `pack_move`."""
    space = unpack_space(packed, reals[0])
    front, body, rules, answer, rows, goals = unpack_move(move, reals, len(space.obstacle))
    for row in rows:
        g = vector_at(goals, row)
        reached = pass_quickly(space, front, body, rules, row, g)
        if reached != BLOCKED:
            put_vector(body.position, row, 0, g)
            body.cell[row] = reached
            _write_free(space, answer[row], reached, g)
        else:
            clear_counters(front)
            for slide in range(MOST_SLIDES + 1):
                trial = _approach(space, front, body, rules, row, g)
                goes_on, g = _end_try(space, body, rules, answer, row, g, slide == 0, trial)
                if not goes_on:
                    break
        _write_counters(answer[row], front.state)
