"""Links between particles in the solver: velocities for which lengths stay within their bounds.

Before the particles move, `restore_lengths` looks where they would get within the substep, relaxes these places (Peyré 2001, §5.2.2), and takes the
velocities that lead there. A length that is out of its bounds comes back no faster than a given speed: all at once, a cloth that an impact has
stretched would throw back what fell on it. After the particles moved, `hold_lengths` takes from the velocities what would change lengths that are
fixed or at a bound, so that restoring does not go on as motion; without it a cloth that is pressed together trembles.
"""

from typing import NamedTuple

from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel
from abut.core.records import Records, put, vector
from abut.dynamics.linkage import relax
from abut.geometry.rows import put_vector, vector_at
from abut.geometry.vec import add_scaled, dot, norm, scale, subtract


class Bonds(NamedTuple):
    """The linkages: their particles are the last rows of the state, one linkage after the other, and so are their links."""

    spans: Integers
    """(k,5) first and last particle, first and last link, sweeps over the links for each over the contacts"""
    links: Integers
    """(l,2) particles, counted from the first of the linkage"""
    low: Floats
    high: Floats
    inverse_mass: Floats
    tolerance: Floats
    """(k,)"""
    place: Floats
    """(m,3) room: where the particles get in a substep"""
    least: Floats
    """(l,) room: bounds of the lengths in a substep"""
    most: Floats


@kernel
def restore_lengths(bodies: Records, bonds: Bonds, h: float, fastest: float) -> None:
    """Change the velocities so that after a time h lengths are within their bounds, or `fastest`·h nearer to them."""
    place, first = bonds.place, len(bodies) - len(bonds.place)
    for k in range(len(bonds.spans)):
        low, high, start, stop = bonds.spans[k, 0], bonds.spans[k, 1], bonds.spans[k, 2], bonds.spans[k, 3]
        if start == stop:
            continue
        for link in range(start, stop):
            i, j = first + low + bonds.links[link, 0], first + low + bonds.links[link, 1]
            length = norm(subtract(vector(bodies[j].position), vector(bodies[i].position)))
            bonds.least[link] = min(bonds.low[link], length + fastest * h)
            bonds.most[link] = max(bonds.high[link], length - fastest * h)
        for i in range(low, high):
            put_vector(
                place, i, 0, add_scaled(vector(bodies[first + i].position), vector(bodies[first + i].velocity), h)
            )
        relax(
            place[low:high],
            bonds.inverse_mass[low:high],
            bonds.links[start:stop],
            bonds.least[start:stop],
            bonds.most[start:stop],
            bonds.spans[k, 4],
            bonds.tolerance[k],
        )
        for i in range(low, high):
            moved = subtract(vector_at(place, i), vector(bodies[first + i].position))
            put(bodies[first + i].velocity, scale(moved, 1.0 / h))


@kernel
def hold_lengths(bodies: Records, bonds: Bonds) -> None:
    """Take from the velocities what changes a fixed length, or leads out of the bounds of one that is at them."""
    particles = len(bodies) - len(bonds.place)
    for k in range(len(bonds.spans)):
        first = particles + bonds.spans[k, 0]
        start, stop = bonds.spans[k, 2], bonds.spans[k, 3]
        for sweep in range(bonds.spans[k, 4]):
            for at in range(start, stop):
                link = at if sweep % 2 == 0 else start + stop - 1 - at
                _hold_length(bodies, bonds, first + bonds.links[link, 0], first + bonds.links[link, 1], link)


@kernel
def _hold_length(bodies: Records, bonds: Bonds, i: int, j: int, link: int) -> None:
    shift = len(bodies) - len(bonds.place)
    w_i, w_j = bonds.inverse_mass[i - shift], bonds.inverse_mass[j - shift]
    d = subtract(vector(bodies[j].position), vector(bodies[i].position))
    length = norm(d)
    if length == 0.0 or w_i + w_j == 0.0:
        return
    low, high = bonds.low[link], bonds.high[link]
    rate = dot(subtract(vector(bodies[j].velocity), vector(bodies[i].velocity)), d) / length
    if low == high or (rate > 0.0 and length >= high) or (rate < 0.0 and length <= low):
        change = rate / (length * (w_i + w_j))
        put(bodies[i].velocity, add_scaled(vector(bodies[i].velocity), d, change * w_i))
        put(bodies[j].velocity, add_scaled(vector(bodies[j].velocity), d, -change * w_j))
