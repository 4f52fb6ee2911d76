"""How stiff the springs of contacts must be, so that what stands on them does not buckle.

A contact that bears a load gives way by F/(m·ω²), with the effective mass m of the contact; so a pile is a column of stiff pieces on soft joints,
and buckles under its own weight as such columns do (Greenhill 1881), however well its impulses are solved: it leans, at first by nothing, and ever
faster. With one joint soft and all others stiff, what stands on it falls over where P·h > k: P the load, h the height of its center of mass above
the joint, k = Σ m·ω²·r² what the springs of the contacts under it resist tilting with, r the distance from their middle, across the weaker side. With
all of them soft it does not as long as Σ P·h/k < 1, summed from the ground to the top (Föppl & Papkovich: joints by themselves are stiffer than
together). For a uniform stack of n that is within 31 % of the exact load.

What stands on a point or an edge is held by other things than springs, and is no part of a column; nor is what is wedged, pressed from two sides.
"""

import math

import numpy as np

from abut.core.arrays import Floats
from abut.core.jit import kernel
from abut.core.records import Records, vector
from abut.geometry.rows import put_vector, vector_in
from abut.geometry.vec import Vec3, add, dot, norm, scale, subtract
from abut.world.solver.preparation import PATCH

STEEP = 0.5
"""Cosine to the vertical from which on a contact bears what is above it; below, it holds from the side."""
WEDGED = 0.1
"""Part of what a body bears: more than it pushes from opposite sides hold the body."""
LOAD, HEIGHT, MIDDLE, STIFF, ACROSS, SIDE, ABOVE = 0, 1, 2, 5, 8, 10, 11
"""Columns of what is known of a body: the weight on its support and the moment of that weight, ΣF·z; Σm·p (3) of its supports; Σm·x², Σm·y², Σm·x·y
across the vertical about that middle; what pushes it across the vertical (2), and the sum of the sizes of that; Σ P·h/k of what stands on it."""
COLUMNS = 12


@kernel
def find_buckling(
    bodies: Records, contacts: Records, standing: Floats, gravity: Floats, slop: float, h: float
) -> tuple[float, float]:
    """What the springs of contacts need: the most of Σ P·h/(Σ m·r²) over all columns, and the most of P/Σm of what a body stands on.

    standing (n,): impulses of contacts in a substep of the length h that are no impacts; 0 for those that do not stand."""
    pull = math.sqrt(gravity[0] ** 2 + gravity[1] ** 2 + gravity[2] ** 2)
    if pull == 0.0:
        return 0.0, 0.0
    up = (-gravity[0] / pull, -gravity[1] / pull, -gravity[2] / pull)
    steep = abs(up[2]) > 0.9
    u = (1.0, 0.0, 0.0) if steep else (0.0, 0.0, 1.0)
    u = subtract(u, scale(up, dot(u, up)))
    u = scale(u, 1.0 / norm(u))
    v = (up[1] * u[2] - up[2] * u[1], up[2] * u[0] - up[0] * u[2], up[0] * u[1] - up[1] * u[0])
    known, masses = np.zeros((len(bodies), COLUMNS)), np.zeros(len(bodies))
    borne = np.zeros(len(bodies))
    first, after = _list_by_lower(bodies, contacts, standing, up)
    for i in range(len(contacts)):
        if standing[i] > 0.0:
            _add_contact(bodies, contacts, i, standing[i] / h, up, u, v, known, masses, borne)
    for i in range(len(bodies)):
        if masses[i] > 0.0:
            for k in range(3):
                known[i, MIDDLE + k] /= masses[i]
    for i in range(len(contacts)):
        if standing[i] > 0.0:
            _add_stiffness(bodies, contacts, i, up, u, v, known)
    heights = np.empty(len(bodies))
    for i in range(len(bodies)):
        heights[i] = -dot(vector(bodies[i].position), up)
    most, press = 0.0, 0.0
    for place in np.argsort(heights):  # from the top
        i = int(place)
        if borne[i] == 0.0 or bodies[i].inverse_mass == 0.0:
            continue
        press = max(press, borne[i] / masses[i])
        weight = pull / bodies[i].inverse_mass
        known[i, LOAD] += weight
        known[i, HEIGHT] -= weight * heights[i]
        middle = dot(vector_in(known, i, MIDDLE), up)
        arm = known[i, HEIGHT] / known[i, LOAD] - middle
        xx, yy, xy = known[i, STIFF], known[i, STIFF + 1], known[i, STIFF + 2]
        weak = 0.5 * (xx + yy) - math.sqrt(0.25 * (xx - yy) ** 2 + xy * xy)
        wide = weak > masses[i] * (PATCH * slop) ** 2
        if known[i, SIDE] - math.hypot(known[i, ACROSS], known[i, ACROSS + 1]) > WEDGED * borne[i]:
            known[i, ABOVE] = 0.0
        elif wide and arm > 0.0:
            known[i, ABOVE] += borne[i] * arm / weak
        most = max(most, known[i, ABOVE])
        row = int(first[i])
        while row >= 0:
            _hand_down(contacts, row, i, float(standing[row]) / h, up, borne[i], known)
            row = int(after[row])
    return most, press


@kernel
def _upper(contacts: Records, row: int, up: Vec3) -> int:
    """The body that stands on the other one, −1 if neither does."""
    cosine = dot(vector(contacts[row].normal), up)
    if cosine > STEEP:
        return int(contacts[row].body_b)
    return int(contacts[row].body_a) if cosine < -STEEP else -1


@kernel
def _list_by_lower(bodies: Records, contacts: Records, standing: Floats, up: Vec3) -> tuple[np.ndarray, np.ndarray]:
    """Of each body the first contact that it stands on, and after each contact the next one; −1 ends."""
    first, after = np.full(len(bodies), -1), np.full(len(contacts), -1)
    for row in range(len(contacts)):
        i = _upper(contacts, row, up) if standing[row] > 0.0 else -1
        if i >= 0:
            after[row] = first[i]
            first[i] = row
    return first, after


@kernel
def _add_contact(
    bodies: Records,
    contacts: Records,
    row: int,
    force: float,
    up: Vec3,
    u: Vec3,
    v: Vec3,
    known: Floats,
    masses: Floats,
    borne: Floats,
) -> None:
    """What a contact bears, and what it pushes across."""
    contact, i = contacts[row], _upper(contacts, row, up)
    n = vector(contact.normal)
    x, y = force * dot(n, u), force * dot(n, v)
    for body, sign in ((contact.body_a, -1.0), (contact.body_b, 1.0)):
        if i < 0 or i == body:
            known[body, ACROSS] += sign * x
            known[body, ACROSS + 1] += sign * y
            known[body, SIDE] += math.hypot(x, y)
    if i < 0:
        return
    point = add(vector(bodies[contact.body_a].position), vector(contact.anchor_a))
    masses[i] += contact.normal_mass
    borne[i] += force * abs(dot(n, up))
    put_vector(known, i, MIDDLE, add(vector_in(known, i, MIDDLE), scale(point, contact.normal_mass)))


@kernel
def _add_stiffness(bodies: Records, contacts: Records, row: int, up: Vec3, u: Vec3, v: Vec3, known: Floats) -> None:
    """How a contact resists tilting."""
    contact, i = contacts[row], _upper(contacts, row, up)
    if i < 0:
        return
    arm = subtract(add(vector(bodies[contact.body_a].position), vector(contact.anchor_a)), vector_in(known, i, MIDDLE))
    x, y, mass = dot(arm, u), dot(arm, v), contact.normal_mass
    known[i, STIFF] += mass * x * x
    known[i, STIFF + 1] += mass * y * y
    known[i, STIFF + 2] += mass * x * y


@kernel
def _hand_down(contacts: Records, row: int, i: int, force: float, up: Vec3, borne: float, known: Floats) -> None:
    """Hand on what a body bears, in parts as its supports bear it, and the sum over its column."""
    contact = contacts[row]
    below = contact.body_a if contact.body_b == i else contact.body_b
    part = force * abs(dot(vector(contact.normal), up)) / borne
    known[below, LOAD] += part * known[i, LOAD]
    known[below, HEIGHT] += part * known[i, HEIGHT]
    known[below, ABOVE] = max(known[below, ABOVE], known[i, ABOVE])
