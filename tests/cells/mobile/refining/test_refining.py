"""Particles on edges: what the lists of a growing shape do, against whole lists in Python with freedom decided in fractions."""

import numpy as np
import pytest

from abut import cells
from abut.cells.mobile.refining.adaptive import Change
from abut.cells.mobile.refining.growth import trimmed
from abut.cells.mobile.response import run
from abut.cells.mobile.rules import read_rules
from abut.cells.walk.results import COLLISION, FREE
from cells.mobile.refining import oracle_refining as oracle
from cells.mobile.test_mobile import boxes
from conftest import SOAK

SEEDS = range(24) if SOAK else [1]


def sheet(rng, side, flip):
    """A crumpled sheet of triangles above the middle cube, its faces in both orders."""
    u, v = np.meshgrid(np.linspace(0.2, 2.8, side), np.linspace(0.2, 2.8, side), indexing="ij")
    points = np.stack((u.ravel(), v.ravel(), np.full(side * side, 2.3)), axis=1)
    points += rng.uniform(-0.15, 0.15, points.shape)
    first = [side * i + j for i in range(side - 1) for j in range(side - 1)]
    faces = [t for k in first for t in ((k, k + side, k + 1), (k + 1, k + side, k + side + 1))]
    return points, np.array(faces)[:, ::-1] if flip else np.array(faces)


def rows(shape):
    """A shape as sets: edges with what they are pieces of, faces as they run."""
    edges = sorted((*sorted(edge), root) for edge, root in zip(shape.edges.tolist(), shape.root.tolist(), strict=True))
    faces = sorted(tuple(np.roll(face, -int(np.argmin(face))).tolist()) for face in shape.faces)
    return edges, faces


def hits_of(body, goals, mode, faces):
    """The body's vertices moved once, and the tables that an adaptive response goes on from."""
    rules = read_rules(body.shape, mode, "cells", "exhaustive", "stop", 0.0, faces)
    links = body._linked(rules.faces != 0)
    interior = body.environment.interior
    done = run(interior, body._front(1), body.shape, links, goals, rules)
    found = np.flatnonzero((done.answer["status"] == COLLISION) & (done.answer["edge"] >= 0))
    return Change(interior, body._front(1), done, links, goals, rules), done, found, rules


@pytest.mark.large
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("mode", "faces"), [("quasi", "none"), ("continuous", "none"), ("continuous", "continuous")])
def test_particles_come_and_go_as_with_whole_lists(seed, mode, faces):
    rng = np.random.default_rng(seed)
    world, parts = boxes((1, 1, 1), (0, 2, 1))
    body = cells.Mobile(world.environment, sheet(rng, 3, seed % 2 == 1))
    start = body.position
    inserted, removed = 0, 0
    for step in range(4):
        if step < 2:
            goals = body.position + rng.uniform(-0.1, 0.1, body.position.shape) + [0, 0, -0.9]
        else:  # up again, particles onto their edges
            ends, ratio = start[body.parents[9:]], body.ratio[9:, np.newaxis]
            goals = np.concatenate((start, (1 - ratio) * ends[:, 0] + ratio * ends[:, 1]))
        change, done, found, rules = hits_of(body, goals, mode, faces)
        with_faces, shape, divided = rules.faces != 0, done.shape, set()
        for row in found.tolist():
            edge = int(done.answer["edge"][row])
            grown = (
                None
                if edge in divided
                else oracle.insert(
                    parts, shape, edge, done.answer["point"][row], done.answer["normal"][row], with_faces
                )
            )
            if grown is not None:
                shape = grown
                divided.add(edge)
        retried = change.insert(found, False)
        mine = trimmed(change._growth)
        assert rows(mine) == rows(shape)
        assert np.allclose(mine.position, shape.position, rtol=0, atol=1e-12)
        assert mine.parents.tolist() == shape.parents.tolist()
        assert np.allclose(mine.ratio, shape.ratio, rtol=0, atol=1e-12)
        assert set(done.answer["edge"][retried].tolist()) == divided
        inserted += len(divided)
        is_loose = change.answer["status"] == FREE
        smaller, left = oracle.remove_loose(parts, mine, is_loose, with_faces)
        removed += len(mine.cell) - len(left)
        response = change.finish()
        assert rows(response.shape) == rows(smaller)
        assert response.shape.parents.tolist() == smaller.parents.tolist()
        assert response.source.tolist() == change.source[left].tolist()
        fresh = response.links.renewed(response.shape.edges, response.shape.faces, response.links.turned, len(left))
        assert all((a == b).all() for a, b in zip(fresh.tables, response.links.tables, strict=True))
        body.move(goals, mode, "adaptive", faces=faces)
        if with_faces:
            again = type(body)(body.environment, (body.position, body.faces))  # its links from nothing
            assert sorted(map(sorted, again.edges.tolist())) == sorted(map(sorted, body.edges.tolist()))
    assert inserted
    assert removed
