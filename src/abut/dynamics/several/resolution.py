"""Ways of all vertices through a step on which nothing meets: impulses first, then what still meets goes on as one.

After ROUNDS of impulses, vertices of primitives that still meet join zones, which go by the mean of their ways (Provot 1997; Bridson 2002): the
momentum stays, and within a zone nothing moves against anything. Zones grow until nothing meets. One in which something meets even so, by rounding
or because a vertex in it cannot give way, rests. So the search ends: each round joins zones or puts one to rest, and when all rest nothing meets.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.core.records import Records
from abut.dynamics.several.company import Company, Hits, find_hits
from abut.dynamics.several.responses import (
    CONTACT,
    PUSH,
    SWEEPS,
    Inertia,
    as_from_the_start,
    list_contacts,
    settle_contacts,
)

ROUNDS = 12


class Resolved(NamedTuple):
    """How vertices go through a step."""

    way: Floats
    """(n,3)"""
    after: Floats
    """(n,3) how they would go through the next: velocity × dt"""
    is_zoned: NDArray[np.bool_]
    """(n,) which go with a zone"""


class Zones:
    """Vertices that go together, by union and find; and which zones rest."""

    def __init__(self, company: Company, whole: bool) -> None:
        self._root = np.arange(len(company.owner))
        self._rests = np.zeros(len(company.owner), np.bool_)
        if whole:
            self._root = company.vertex_start[company.owner].copy()

    def find(self, vertices: Integers) -> Integers:
        """The zone of each vertex."""
        root = self._root[vertices]
        while (self._root[root] != root).any():
            root = self._root[root]
        return root

    def join(self, hits: Hits) -> None:
        """Let what meets go together; a zone whose own vertices meet rests."""
        for corners in hits.corners.tolist():
            roots = self.find(np.array(corners))
            lowest = int(roots.min())
            if (roots == lowest).all():
                self._rests[lowest] = True
            self._rests[lowest] |= bool(self._rests[roots].any())
            self._root[roots] = lowest

    def share(self, way: Floats, inverse_mass: Floats) -> Floats:
        """The ways in which zones go as one; a zone with a vertex that does not give way rests."""
        zone = self.find(np.arange(len(way)))
        size = np.bincount(zone, minlength=len(way))
        stuck = np.bincount(zone, inverse_mass == 0.0, minlength=len(way)) > 0
        mass = np.divide(1.0, inverse_mass, out=np.zeros(len(way)), where=inverse_mass > 0.0)
        total = np.bincount(zone, mass, minlength=len(way))
        total[total == 0.0] = 1.0
        mean = np.stack([np.bincount(zone, mass * way[:, k], minlength=len(way)) / total for k in range(3)], axis=1)
        mean[stuck | self._rests] = 0.0
        is_joined = (size > 1) | self._rests
        return np.where(is_joined[zone][:, np.newaxis], mean[zone], way)

    @property
    def is_joined(self) -> NDArray[np.bool_]:
        """(n,) which vertices are in a zone of several, or rest."""
        zone = self.find(np.arange(len(self._root)))
        return (np.bincount(zone, minlength=len(zone)) > 1)[zone] | self._rests[zone]


def resolve(
    company: Company,
    begin: Floats,
    way: Floats,
    inertia: Inertia,
    response: int,
    gap: float,
    restitution: float,
) -> Resolved:
    """Ways (n,3) on which nothing meets, with the momentum of those given."""
    contacts, wished, way = np.zeros(0, CONTACT), way, way.copy()
    whole = response == PUSH
    for _ in range(ROUNDS):
        hits = find_hits(company, begin, begin + way)
        if not len(hits.time):
            nobody = np.zeros(len(way), np.bool_)
            return Resolved(way, _after(company, wished, contacts, inertia, response), nobody)
        new = list_contacts(company, hits, begin, way, gap, restitution)
        first_new = len(contacts)
        contacts = np.concatenate((contacts, new)).view(CONTACT)
        shift = np.zeros((len(inertia.body), 3))
        settle_contacts(contacts, inertia, response, first_new, way, shift, SWEEPS)
        way += shift[company.owner]
    zones = Zones(company, whole)
    mended, after = way, _after(company, wished, contacts, inertia, response)
    while True:
        hits = find_hits(company, begin, begin + way)
        if not len(hits.time):
            return Resolved(way, zones.share(after, inertia.vertex), zones.is_joined)
        zones.join(hits)
        way = zones.share(mended, inertia.vertex)


def _after(company: Company, way: Floats, contacts: Records, inertia: Inertia, response: int) -> Floats:
    """The ways of a step in which things go on as they do after the impacts: the same impulses, acting all the time."""
    after, shift = way.copy(), np.zeros((len(inertia.body), 3))
    settle_contacts(as_from_the_start(contacts), inertia, response, 0, after, shift, SWEEPS)
    return after + shift[company.owner]
