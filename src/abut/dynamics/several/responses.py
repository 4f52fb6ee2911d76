"""What mobiles do that meet: impulses between them, as ways within the step, that keep the momentum.

A contact at the time t, with the normal n and shares cᵢ of its four vertices (their sum is 0: minus for the first primitive, plus for the second),
asks that the relative way along n, r = Σ cᵢ dᵢ·n, be at least what it may be: the gap there is at the beginning, less what is left open, or what a
bounce gives back. An impulse j changes the ways by cᵢ j n / mᵢ. All contacts are gone through again and again, impulses add up and never pull
(projected Gauss–Seidel). Where things are to stop, the way across n after t goes too. To push, the whole mobile takes the impulse, by its whole
mass. Each impulse takes from one what it gives the other, so the sum of m·d stays what it was.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.ccd import EDGE_EDGE
from abut.core.arrays import Floats, Integers
from abut.core.jit import integer, kernel
from abut.core.records import Records, record, vector
from abut.dynamics.several.company import Company, Hits
from abut.geometry.rows import vector_at
from abut.geometry.segments import closest_segment_segment
from abut.geometry.triangles import closest_point_triangle
from abut.geometry.vec import Vec3, add_scaled, cross, dot, norm, scale, subtract

STOP, SLIDE, PUSH = 0, 1, 2
RESPONSES = {"stop": STOP, "slide": SLIDE, "push": PUSH}
SWEEPS = 32
"""How often the contacts of a round are gone through; what is left is found by the next test of the ways."""
FLAT_SINE = 2.0**-30
"""Edges that meet under a smaller angle have no normal of their own: the way from one to the other is taken."""

CONTACT = record(
    ("corner", "i8", 4),
    ("share", "f8", 4),
    ("normal", "f8", 3),
    ("least", "f8"),
    ("across", "f8", 3),
    ("impulse", "f8"),
    ("bounce", "f8"),
)
"""Vertices, shares, unit normal from the first primitive to the second; the least relative way along it; the relative way across it up to the
contact, which is all that is left where things stop; the impulse up to now; the least relative way of the next step."""


class Inertia(NamedTuple):
    """What resists: 1 / m of each vertex, and of each mobile as a whole; 0 for what nothing moves."""

    vertex: Floats
    body: Floats
    owner: Integers


@kernel
def _combine(points: Floats, corner: Integers, share: Floats) -> Vec3:
    total = (0.0, 0.0, 0.0)
    for k in range(4):
        total = add_scaled(total, vector_at(points, corner[k]), share[k])
    return total


@kernel
def _describe_contacts(
    is_edges: NDArray[np.bool_],
    in_plane: bool,
    corners: Integers,
    time: Floats,
    begin: Floats,
    way: Floats,
    gap: float,
    restitution: float,
    contacts: Records,
) -> None:
    """Fill in the contacts of hits."""
    for row in range(len(corners)):
        contact, t = contacts[row], time[row]
        for k in range(4):
            contact.corner[k] = corners[row, k]
        p, q, r, s = (
            add_scaled(vector_at(begin, corners[row, 0]), vector_at(way, corners[row, 0]), t),
            add_scaled(vector_at(begin, corners[row, 1]), vector_at(way, corners[row, 1]), t),
            add_scaled(vector_at(begin, corners[row, 2]), vector_at(way, corners[row, 2]), t),
            add_scaled(vector_at(begin, corners[row, 3]), vector_at(way, corners[row, 3]), t),
        )
        if is_edges[row]:
            on_a, on_b, _, _, _ = closest_segment_segment(p, q, r, s)
            contact.share[0], contact.share[1] = on_a - 1.0, -on_a
            contact.share[2], contact.share[3] = 1.0 - on_b, on_b
            u, v = subtract(q, p), subtract(s, r)
            normal = cross(u, v)
            if norm(normal) <= FLAT_SINE * norm(u) * norm(v):
                normal = (0.0, 0.0, 0.0)
        elif in_plane:
            on_b = closest_segment_segment(p, p, q, r)[1]
            contact.share[0], contact.share[1], contact.share[2], contact.share[3] = -1.0, 1.0 - on_b, on_b, 0.0
            along = subtract(r, q)
            normal = (-along[1], along[0], 0.0)
        else:
            weights = closest_point_triangle(p, q, r, s)[0]
            contact.share[0] = -1.0
            for k in range(3):
                contact.share[k + 1] = weights[k]
            normal = cross(subtract(r, q), subtract(s, q))
        apart = _combine(begin, contact.corner, contact.share)
        size = norm(normal)
        if size == 0.0:
            normal, size = apart, norm(apart)
        if size == 0.0:
            normal, size = (1.0, 0.0, 0.0), 1.0
        normal = scale(normal, 1.0 / size)
        if dot(normal, apart) < 0.0:
            normal = scale(normal, -1.0)
        relative = _combine(way, contact.corner, contact.share)
        inward = dot(relative, normal)
        bounce = (restitution * (1.0 - t) - t) * -inward
        contact.least = max(-max(dot(normal, apart) - gap, 0.0), bounce if restitution > 0.0 else -np.inf)
        across = add_scaled(relative, normal, -inward)
        for k in range(3):
            contact.normal[k], contact.across[k] = normal[k], across[k] * t
        contact.impulse, contact.bounce = 0.0, restitution * max(-inward, 0.0)


@kernel
def _resistance(contact: Records, inertia: Inertia, whole: bool) -> float:
    if whole:
        a, b = integer(inertia.owner[contact.corner[0]]), integer(inertia.owner[contact.corner[3]])
        return float(inertia.body[a] + inertia.body[b])
    total = 0.0
    for k in range(4):
        total += contact.share[k] ** 2 * inertia.vertex[contact.corner[k]]
    return total


@kernel
def _apply(contact: Records, inertia: Inertia, whole: bool, impulse: Vec3, way: Floats, shift: Floats) -> None:
    if whole:
        for end in range(2):
            body, sign = inertia.owner[contact.corner[3 * end]], 2.0 * end - 1.0
            for axis in range(3):
                shift[body, axis] += sign * inertia.body[body] * impulse[axis]
        return
    for k in range(4):
        vertex = contact.corner[k]
        for axis in range(3):
            way[vertex, axis] += contact.share[k] * inertia.vertex[vertex] * impulse[axis]


@kernel
def _relative_way(contact: Records, inertia: Inertia, way: Floats, shift: Floats) -> Vec3:
    a, b = inertia.owner[contact.corner[0]], inertia.owner[contact.corner[3]]
    relative = _combine(way, contact.corner, contact.share)
    return add_scaled(add_scaled(relative, vector_at(shift, b), 1.0), vector_at(shift, a), -1.0)


@kernel
def settle_contacts(
    contacts: Records, inertia: Inertia, response: int, first_new: int, way: Floats, shift: Floats, sweeps: int
) -> None:
    """Go through all contacts so often. `shift` are the ways of whole mobiles, which come on top of those of vertices."""
    for sweep in range(sweeps):
        for row in range(len(contacts)):
            contact = contacts[row]
            whole = response == PUSH and inertia.owner[contact.corner[0]] != inertia.owner[contact.corner[3]]
            resistance = _resistance(contact, inertia, whole)
            if resistance == 0.0:
                continue
            normal, relative = vector(contact.normal), _relative_way(contact, inertia, way, shift)
            along = dot(relative, normal)
            if sweep == 0 and row >= first_new and response == STOP:
                slip = subtract(add_scaled(relative, normal, -along), vector(contact.across))
                _apply(contact, inertia, whole, scale(slip, -1.0 / resistance), way, shift)
            before = contact.impulse
            contact.impulse = max(before + (contact.least - along) / resistance, 0.0)
            _apply(contact, inertia, whole, scale(normal, contact.impulse - before), way, shift)


def as_from_the_start(contacts: Records) -> Records:
    """The same contacts for ways that begin at them."""
    later = contacts.copy()
    later["least"], later["across"], later["impulse"] = contacts["bounce"], 0.0, 0.0
    return later


def list_contacts(company: Company, hits: Hits, begin: Floats, way: Floats, gap: float, restitution: float) -> Records:
    """The contacts of hits on the ways from `begin`."""
    contacts = np.zeros(len(hits.time), CONTACT)
    corners = np.ascontiguousarray(hits.corners)
    tables = (hits.kind == EDGE_EDGE, company.in_plane, corners, hits.time, begin, way)
    _describe_contacts(*tables, gap, restitution, contacts)
    return contacts
