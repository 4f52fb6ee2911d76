"""The adaptive response: where an edge is hit, a particle is put on it at the contact, and the vertex goes on (Jund 2010, figures 4.5 and 5.7).

Vertices whose edges were divided move on at once, ascending, at most MOST_ROUNDS times; then particles that nothing holds are taken away. All but
the first move costs what is touched.
"""

import numpy as np

from abut.cells.edit.interior import Interior
from abut.cells.mobile.refining.growth import (
    VERTICES,
    begin_growth,
    close_gaps,
    list_around,
    make_room,
    trimmed,
)
from abut.cells.mobile.refining.insertion import insert_particles
from abut.cells.mobile.refining.removal import remove_particles
from abut.cells.mobile.refining.shape import GIVEN, Shape
from abut.cells.mobile.response import Response, run
from abut.cells.mobile.steps.colouring import Links
from abut.cells.mobile.steps.packed_move import ANSWER, addresses_of, pack_move
from abut.cells.mobile.steps.step_tests import Body, Rules
from abut.cells.mobile.steps.vertex_steps import move_vertices
from abut.cells.walk.results import COLLISION, CONTACT, FREE
from abut.cells.walk.segment_walk import Front
from abut.core.arrays import Floats, Integers
from abut.core.records import Records

COUNTED = ("tests", "visits", "edge_tests", "edges_inside", "edges_clear", "edges_behind", "face_tests")
"""Of an answer: what is done for a vertex in several rounds adds up."""
MOST_ROUNDS = 8
"""How often in one move the vertices of divided edges go on."""


class Change:
    """A move whose shape changes."""

    def __init__(
        self, interior: Interior, fronts: Front, done: Response, links: Links, goals: Floats, rules: Rules
    ) -> None:
        self._interior, self._fronts, self._rules, self._links = interior, fronts, rules, links
        self.answer, self.source, self._goals = done.answer, done.source, np.ascontiguousarray(goals)
        self._in_plane = links.dimension == 2
        nothing = len(done.shape.edges) if self._in_plane else len(done.shape.faces)
        turned = links.turned if len(links.turned) else np.zeros(nothing, np.int64)
        self._growth = begin_growth(done.shape, turned, links.pierced, self._in_plane)

    def insert(self, hits: Integers, is_hybrid: bool) -> Integers:
        """Put particles on the edges of the vertices that have hit something with them; which vertices may go on."""
        first, had = 0, int(self._growth.in_use[VERTICES])
        edges = self.answer["edge"][hits].astype(np.int64)
        points, normals = (np.ascontiguousarray(self.answer[name][hits]) for name in ("point", "normal"))
        is_divided = np.zeros(len(self._growth.root), np.int64)
        inserted = np.empty(len(hits), np.int64)
        hybrid, with_faces = int(is_hybrid), int(self._rules.faces != 0)
        while first < len(hits):
            left = len(hits) - first
            self._growth = make_room(self._growth, left, 3 * left + 16, 2 * left + 16)
            first = insert_particles(
                self._interior.space,
                self._fronts,
                self._growth,
                edges,
                points,
                normals,
                hybrid,
                with_faces,
                first,
                is_divided,
                inserted,
            )
        rows = hits[np.argsort(inserted, kind="stable")][np.sort(inserted) >= had]
        self._answer_for(rows, trimmed(self._growth).position[had:])
        return hits[inserted != GIVEN]

    def _answer_for(self, hits: Integers, position: Floats) -> None:
        """New particles are where the obstacle touches them, and stay there."""
        new = self.answer[hits]
        new["status"], new["edge"], new["face"] = CONTACT, -1, -1
        new["time"], new["point"] = 1.0, position
        self.answer = np.concatenate((self.answer, new)).view(ANSWER)
        self._goals = np.concatenate((self._goals, position))
        self.source = np.concatenate((self.source, np.full(len(new), -1)))

    def move_on(self, rows: Integers) -> None:
        """Send some vertices, ascending, on to their goals."""
        with_fans = len(self._links.turned) > 0 or self._links.is_closed
        around = list_around(self._growth, rows, with_fans, self._in_plane)
        shape, before = trimmed(self._growth), self.answer[rows].copy()
        body = Body(shape.position, shape.cell, *around)
        ways = (addresses_of(*around), self._rules, self.answer, rows, self._goals)
        move_vertices(self._interior.packed(), *pack_move(self._interior.space, self._fronts, 0, body, *ways))
        for name in COUNTED:
            self.answer[name][rows] += before[name]
        self.answer["time"][rows] = before["time"] + (1.0 - before["time"]) * self.answer["time"][rows]

    def finish(self) -> Response:
        """Take away what nothing holds."""
        is_gone = np.zeros(int(self._growth.in_use[VERTICES]), np.int64)
        is_inserted = trimmed(self._growth).parents[:, 0] != GIVEN
        loose = np.flatnonzero((self.answer["status"] == FREE) & is_inserted)
        with_faces = int(self._rules.faces != 0)
        remove_particles(self._interior.space, self._fronts, self._growth, loose, with_faces, is_gone)
        shape, rows, turned = close_gaps(self._growth, is_gone == 1, self._in_plane)
        links = self._links.renewed(shape.edges, shape.faces, turned, len(rows))
        return Response(shape, self.answer[rows], self.source[rows], links)


def move_adaptively(
    interior: Interior, fronts: Front, shape: Shape, links: Links, goals: Floats, rules: Rules, *, is_hybrid: bool
) -> Response:
    """Move, and put particles on the edges that are hit; then take away those that nothing holds."""
    done = run(interior, fronts, shape, links, goals, rules)
    hits = _edge_hits(done.answer)
    if not len(hits) and (shape.parents[:, 0] == GIVEN).all():
        return done
    change = Change(interior, fronts, done, links, goals, rules)
    for _ in range(MOST_ROUNDS):
        if not len(hits):
            break
        retried = change.insert(hits, is_hybrid)
        if not len(retried):
            break
        change.move_on(retried)
        hits = _edge_hits(change.answer)
    return change.finish()


def _edge_hits(answer: Records) -> Integers:
    """The vertices that were stopped by an edge of theirs."""
    return np.flatnonzero((answer["status"] == COLLISION) & (answer["edge"] >= 0))
