"""Particles and bodies in a space that is changed at random, each thing they do judged in rational arithmetic.

What is judged, by `oracle_cells` (ways, places, volumes), `oracle_walls` (walls that move) and `oracle_crossings` (triangles against walls):
- a move of a particle, in full: how it ends, when, where and in which cell (`check_move`);
- a body after each move: its vertices in their cells, its edges and faces free, and, where it moves continuously, that no wall went through
  what edges and faces swept on the way;
- a change of the space: only what walls reached is pushed, volumes add up, and what is refused has changed nothing at all.
"""

import itertools
from collections import Counter
from typing import NamedTuple

import numpy as np

from abut import InvalidInput, Unsupported, cells
from cells import oracle_cells as oracle
from cells import oracle_crossings as crossings
from cells import oracle_walls, worlds
from cells.edit.test_surgery import _Renumbered, as_world, sides
from cells.test_particles import check_move

FOLLOWED = 6
ROUNDING = 1e-12
KINDS = ["deform", "deform", "stop", "cut", "slit", "corners", "merge", "merge", "sew", "sew", "unsew", "obstacle"]


class Sizes(NamedTuple):
    """How large a campaign is."""

    steps: int
    particles: int
    rounds: int
    """moves of each particle and body after each change"""
    bodies: int


class Scene:
    """An environment, who is in it, the walls without thickness, and what rational arithmetic knows of it now."""

    def __init__(self, make, seed, sizes):
        self.rng = np.random.default_rng(seed)
        self.sizes, self.done = sizes, Counter()
        world = make(self.rng)
        self.environment = world.environment
        self.slits: list[list[int]] = []
        self.let_go: set[int] = set()
        """Bodies with vertices in cells that have become obstacles, now or before."""
        self.is_apart = False
        """Whether the sides of a slit may overlap: then a triangle may lie among walls of cells that it has no way to."""
        self.read()
        self.crowd = cells.Particles(self.environment, worlds.free_points(world, self.rng, sizes.particles))
        self.bodies = [self.make_body() for _ in range(sizes.bodies)]

    def read(self):
        """The cells as they are now."""
        self.world = as_world(self.environment)
        self.parts = oracle.Boxed(self.world.parts())
        self.walls = crossings.walls_of(self.parts)
        self.volumes = volumes_of(self.environment, self.parts, self.world.numbers)

    def home(self, cell):
        """How the oracle numbers a cell."""
        return int(np.searchsorted(self.world.numbers, cell))

    def free_point(self):
        """Somewhere in a free cell; in its middle, where that is not convex."""
        while True:
            points = worlds.free_points(self.world, self.rng, 1)
            part = oracle.near(self.parts, points[0], points[0])
            if any(each.free and each.holds(oracle.exact(points[0])) for each in part):
                return points[0]

    def make_body(self):
        """A rod, a line, a triangle or a tetrahedron, as large as there is room."""
        rng, dimension = self.rng, self.environment.dimension
        size = rng.choice([0.2, 0.6, 1.5])
        for _ in range(60):
            place = self.free_point()
            count = int(rng.integers(2, 5))
            corners = place + size * rng.uniform(-1, 1, (count, dimension))
            size *= 0.8
            if dimension == 2 or count == 2 or rng.random() < 0.4:
                shape = (corners, [[k, k + 1] for k in range(count - 1)])
            elif count == 3:
                shape = (corners, [[0, 1, 2]])
            else:
                if np.linalg.det(corners[1:] - corners[0]) < 0:
                    corners = corners[[0, 2, 1, 3]]
                shape = (corners, [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
            try:
                body = cells.Mobile(self.environment, shape)
                body._list_pierced()  # a face that is not free is refused by the first move otherwise
            except InvalidInput:
                continue
            return body
        raise AssertionError("no room for a body")


def volumes_of(environment, parts, numbers):
    """Twice the area, or six times the volume, of each cell, by its number; in whole numbers over one power of two each."""
    total: Counter[int] = Counter()
    for part in parts:
        for ring in part.faces:
            a, *rest = ring
            if environment.dimension == 2:
                total[numbers[part.cell]] += a[0] * rest[0][1] - a[1] * rest[0][0]
            else:
                total[numbers[part.cell]] -= sum(oracle.det(a, b, c) for b, c in itertools.pairwise(rest))
    return total


def faces_of(environment, cell):
    rings = environment.faces_of(cell)
    return rings if environment.dimension == 3 else [side for ring in rings for side in sides(ring)]


def moved(scene, size):
    """The vertices displaced; those in one place alike, so that the sides of a slit stay together, or each by itself."""
    environment, rng = scene.environment, scene.rng
    places, row = np.unique(environment.vertices, axis=0, return_inverse=True)
    if scene.slits and rng.random() < 0.2:
        places, row = environment.vertices, np.arange(len(environment.vertices))
        scene.is_apart = True
    shift = rng.normal(scale=size, size=environment.dimension)
    return environment.vertices + (rng.uniform(-size, size, places.shape) + shift)[row.ravel()]


def operate(scene, kind):
    """One change of that kind; whether there was something to change."""
    environment, rng = scene.environment, scene.rng
    dimension, live = environment.dimension, scene.world.numbers
    if kind == "deform":
        environment.deform(moved(scene, rng.choice([0.02, 0.06, 0.2])))
    elif kind == "stop":
        share = environment.deform(moved(scene, rng.choice([0.02, 0.1])), stop=True)
        assert 0 <= share <= 1
    elif kind in ("cut", "slit"):
        point = environment.vertices[rng.integers(len(environment.vertices))]
        if rng.random() < 0.7:
            point = point + rng.normal(scale=0.3, size=dimension)
        normal = rng.normal(size=dimension) if rng.random() < 0.7 else np.eye(dimension)[rng.integers(dimension)]
        chosen = rng.choice(live, min(len(live), 6), replace=False) if rng.random() < 0.7 else None
        some = {} if chosen is None else {"cells": [int(c) for c in chosen]}
        pairs = environment.cut(plane=(point, normal), slit=kind == "slit", **some)
        if kind == "slit":
            scene.slits += pairs.tolist()
    elif kind == "corners":
        cell = int(rng.choice(live))
        own = np.unique(np.concatenate(environment.faces_of(cell)))
        loop = rng.choice(own, min(len(own), 2 if dimension == 2 else int(rng.integers(3, 5))), replace=False)
        slit = bool(rng.random() < 0.3)
        new = environment.cut(cell, loop, slit=slit)
        if slit:
            scene.slits.append([cell, new])
    elif kind == "sew":
        if not scene.slits:
            return False
        environment.sew(*scene.slits.pop(int(rng.integers(len(scene.slits)))))
    else:
        a = int(rng.choice(live))
        own = {frozenset(face) for face in faces_of(environment, a)}
        near = [b for b in live if b != a and own & {frozenset(face) for face in faces_of(environment, b)}]
        if not near:
            return False
        b = int(rng.choice(near))
        if kind == "obstacle":
            environment.set_obstacle(a, bool(rng.random() < 0.3))
        elif kind == "merge":
            environment.merge(a, b)
        else:
            environment.unsew(a, b)
            scene.slits.append([a, b])
    return True


def seen(scene):
    """All that can be seen of the space and of those inside."""
    env = scene.environment
    tables = (env.vertices, env.obstacle, env.part_cell, *env.darts[1:], scene.crowd.position, scene.crowd.cell)
    bodies = [table for body in scene.bodies for table in (body.position, body.cell, body.edges, body.faces)]
    return [table.tobytes() for table in (*tables, *bodies)]


def held_of(places):
    return set(places.held.tolist())


def check_places(scene, position, cell, held, what):
    """Every point lies in a closed part of its cell, a free one unless it is held."""
    for row in range(len(position)):
        at, home = oracle.exact(position[row]), scene.home(cell[row])
        here = [part for part in oracle.near(scene.parts, position[row], position[row]) if part.cell == home]
        here = [part for part in here if part.holds(at)]
        assert here, (what, row)
        assert row in held or here[0].free, (what, row)


def check_walls(scene, before, crowd_before, start, may_push):
    """After a deformation: who was not reached by a wall has not moved, and who has moved was reached by one."""
    crowd, rng = scene.crowd, scene.rng
    pushed = set(crowd.reached.particle.tolist())
    rest = [row for row in range(len(crowd)) if row not in pushed]
    assert (crowd.position[rest] == crowd_before[rest]).all()
    assert may_push or not pushed
    walls, end = oracle_walls.walls_of(scene.parts), scene.environment.interior.space.vertices
    if not len(walls) or scene.is_apart:
        return len(pushed)
    start, end, walls = before, end[:, : scene.environment.dimension], np.asarray(walls)
    if walls.max() >= len(start) or len(start) != len(end):
        return len(pushed)  # the walls were cut anew
    chosen = [*rng.permutation(list(pushed))[:FOLLOWED].tolist(), *rng.permutation(rest)[:FOLLOWED].tolist()]
    for row in chosen:
        time, _ = oracle_walls.first_touch(start[walls], end[walls], crowd_before[row])
        if row in held_of(crowd._places) or np.isnan(time):
            continue
        if row in pushed:
            assert time < np.inf, ("pushed without a wall", row, crowd_before[row])
        else:
            assert time in (0, np.inf) or time > 1 - 1e-9, ("a wall has passed", row, time)
    return len(pushed)


def check_volumes(scene, kind, before, may_round):
    """Surgery moves no wall: sizes add up exactly, but for corners of cuts, which are rounded."""
    after = scene.volumes
    old, new = sum(before.values()), sum(after.values())
    if may_round:
        assert abs(float(new - old)) <= ROUNDING * float(old), (kind, float(new - old))
    else:
        assert new == old, kind


def check_body(scene, body, what):
    """A body where it is: vertices in their cells, edges and faces free but those that are said not to be."""
    loose = body.reached.edge[~body.reached.is_free].tolist(), body.reached.face[~body.reached.is_free].tolist()
    held = held_of(body._places)
    check_places(scene, body.position, body.cell, held, what)
    if held or id(body) in scene.let_go:
        return True  # a body that has been built over: its edges lead through obstacles, and are let go (`free_edges`)
    for k, (a, b) in enumerate(body.edges.tolist()):
        if k in loose[0]:
            continue
        ways = (
            [(a, b), (b, a)] if scene.is_apart else [(a, b)]
        )  # where sides overlap, the ends may be on different ones
        assert any(is_free(scene, body, *way) for way in ways), (what, "an edge goes through a wall", k)
    for k, face in enumerate(body.faces):
        if k not in loose[1]:
            is_loose = any(set(body.edges[e].tolist()) <= set(face.tolist()) for e in loose[0])
            assert is_loose or not is_crossed(scene, body.position[face], body.cell[face]), (what, "a face", k)
    return not loose[0] and not loose[1]


def is_free(scene, body, a, b):
    """Whether the way from one vertex of a body to another stays in the free cells."""
    p, q = body.position[a], body.position[b]
    return oracle.follow(oracle.near(scene.parts, p, q), p, q, scene.home(body.cell[a]))[0] == 1


def is_crossed(scene, points, cell):
    """Whether a wall goes through a triangle with its corners in these cells. Where the sides of a slit overlap, it is followed from any of them."""
    if not scene.is_apart:
        return crossings.is_crossed(scene.walls, points)
    turns = (np.roll(np.arange(3), -k) for k in range(3) if cell[k] >= 0)
    return all(crossings.is_crossed_from(scene.parts, points[turn], scene.home(cell[turn[0]])) for turn in turns)


def free_edges(scene, body):
    """The edges that no wall goes through, whichever end they are looked at from."""
    held = held_of(body._places)
    chosen = [(k, a, b) for k, (a, b) in enumerate(body.edges.tolist()) if not {a, b} & held]
    return {k for k, a, b in chosen if is_free(scene, body, a, b) and is_free(scene, body, b, a)}


def check_sweep(scene, body, before, first_cells, groups, faces_too):
    """No wall went through what edges and faces swept, vertex after vertex."""
    now, edges, faces = before.copy(), body.edges, body.faces
    after, cell = body.position, first_cells.copy()
    for vertex in itertools.chain.from_iterable(group.tolist() for group in groups):
        if (now[vertex] == after[vertex]).all():
            continue
        for a, b in edges[(edges == vertex).any(axis=1)].tolist():
            other = b if a == vertex else a
            swept = np.array([now[other], now[vertex], after[vertex]])
            homes = cell[[other, vertex]].tolist()
            assert not is_crossed(scene, swept, [*homes, int(body.cell[vertex])]), ("an edge swept over a wall", vertex)
        if faces_too and not scene.is_apart:
            for face in faces[(faces == vertex).any(axis=1)].tolist():
                others = [now[k] for k in face if k != vertex]
                swept = np.array([now[vertex], after[vertex], *others])
                assert not crossings.holds_a_corner(scene.walls, swept), ("a face swept over a corner", vertex)
        now[vertex], cell[vertex] = after[vertex], body.cell[vertex]


def move_crowd(scene):
    """Send the particles somewhere; each answer against its way in rationals."""
    crowd, world, parts = scene.crowd, scene.world, scene.parts
    before, first = crowd.position, [scene.home(cell) for cell in crowd.cell]
    targets = worlds.aim(world, scene.rng, before)
    held = held_of(crowd._places)
    moves = crowd.move(targets)
    numbered = _Renumbered(moves, np.searchsorted(world.numbers, moves.cell))
    for row in range(len(crowd)):
        if row in held:
            assert moves.status[row] == cells.COLLISION
            assert (moves.position[row] == before[row]).all()
        else:
            check_move(world, parts, before[row], targets[row], numbered, row, cell=first[row])
    scene.done["moves"] += len(crowd)


def move_body(scene, body):
    """Send a body somewhere, by rules drawn at random."""
    rng = scene.rng
    before, first_cells = body.position, body.cell.copy()
    was_free = free_edges(scene, body) if id(body) in scene.let_go else set[int]()
    size = rng.choice([0.05, 0.3, 1.0])
    targets = before + rng.normal(scale=size, size=before.shape[1])
    if rng.random() < 0.6:
        targets = targets + rng.normal(scale=0.5 * size, size=before.shape)
    if rng.random() < 0.15:  # exactly to vertices and along edges of the cells
        targets = worlds.aim(scene.world, rng, before)
    mode = str(rng.choice(["quasi", "continuous"]))
    response = str(rng.choice(["static", "static", "static", "rigid", "adaptive", "hybrid"]))
    if len(body.faces) and response in ("adaptive", "hybrid"):
        response = "static"
    after = "stop" if response == "rigid" else str(rng.choice(["stop", "stop", "slide", "bounce"]))
    faces = None if not len(body.faces) else str(rng.choice(["quasi", "continuous"]))
    groups = [group.copy() for group in body._linked(bool(len(body.faces))).groups]  # in this order vertices move
    edges, is_plain = len(body.edges), response == "static" and after == "stop"
    moves = body.move(
        targets, mode, response, str(rng.choice(["none", "cells"])), search=str(rng.choice(["exhaustive", "dichotomy"])),
        after=after, restitution=0.5, faces=faces,
    )  # fmt: skip
    assert len(moves) == len(body)
    what = (mode, response, after, faces)
    check_body(scene, body, what)
    if len(body.edges) == edges:
        assert was_free <= free_edges(scene, body), (what, "an edge of a body that has been built over")
    if is_plain:
        for row in range(len(before)):
            assert moves.status[row] == cells.COLLISION or (body.position[row] == targets[row]).all(), what
    if is_plain and mode == "continuous" and len(body.edges) == edges and id(body) not in scene.let_go:
        check_sweep(scene, body, before, first_cells, groups, faces == "continuous")
    scene.done["mobile moves"] += 1
    scene.done["hits"] += int((moves.status == cells.COLLISION).any())


def step(scene):
    """One change, and what follows from it."""
    kind = str(scene.rng.choice(KINDS))
    env, crowd = scene.environment, scene.crowd
    start, crowd_before, volumes = env.interior.space.vertices[:, : env.dimension].copy(), crowd.position, scene.volumes
    before, slits, was_apart = seen(scene), len(scene.slits), scene.is_apart
    try:
        if not operate(scene, kind):
            return
    except (InvalidInput, Unsupported):
        scene.done[f"{kind} refused"] += 1
        assert seen(scene) == before, (kind, "was refused, and has changed something")
        assert env.check_integrity() == []
        scene.is_apart = was_apart
        return
    scene.done[kind] += 1
    scene.done["changes"] += 1
    assert env.check_integrity() == []
    scene.read()
    pushed = crowd.settle()
    check_places(scene, crowd.position, crowd.cell, held_of(crowd._places), kind)
    if kind in ("deform", "stop"):
        scene.done["pushed"] += check_walls(scene, start, crowd_before, start, kind == "deform")
    else:
        check_volumes(scene, kind, volumes, kind in ("cut", "slit", "corners"))
        assert np.abs(crowd.position - crowd_before).max() <= ROUNDING, kind
        assert (crowd.position == crowd_before)[~pushed].all()
        assert len(scene.slits) >= slits - 1
    for k, body in enumerate(scene.bodies):
        where = body.position
        body.settle()
        if held_of(body._places):
            scene.let_go.add(id(body))
        is_sound = check_body(scene, body, kind)
        if kind == "stop" and not scene.is_apart:
            assert (body.position == where).all()
        if not is_sound:
            scene.done["bodies made anew"] += 1
            scene.bodies[k] = scene.make_body()
        elif id(body) in scene.let_go:
            scene.done["bodies built over"] += 1
    for _ in range(scene.sizes.rounds):
        move_crowd(scene)
        for body in scene.bodies:
            move_body(scene, body)


def campaign(make, seed, sizes):
    """What was done: so many changes, refused ones not counted but for four times as many."""
    scene = Scene(make, seed, sizes)
    for _ in range(4 * sizes.steps):
        step(scene)
        if scene.done["changes"] == sizes.steps:
            break
    return scene.done
