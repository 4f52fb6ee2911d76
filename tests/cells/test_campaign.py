"""Particles and bodies in a space that moves, is cut, opened, merged and sewn, in any order: nothing passes a wall, ever.

After each change every particle is looked up in rational arithmetic, and where vertices moved, walls are followed by an oracle that shares no code.
Short in the suite; with ABUT_SOAK=1 a million moves and more.
"""

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from abut import InvalidInput, Unsupported, cells
from abut.core import jit
from cells import oracle_cells as oracle
from cells import oracle_walls, worlds
from cells.edit.test_surgery import as_world, sides
from conftest import SOAK

CROWD = 6 if jit.INTERPRETED else 2000 if SOAK else 40
STEPS = 500 if SOAK else 6 if jit.INTERPRETED else 8
FOLLOWED = 6
ROUNDING = 1e-12


def volume(environment):
    """Twice the area, or six times the volume, of all parts."""
    vertices, dimension = [oracle.exact(v) for v in environment.interior.space.vertices], environment.dimension
    parts, _ = worlds.subdivision_of(environment, range(environment.cell_count))
    total = Fraction(0)
    for rings in (rings for part in parts for rings in part):
        for ring in rings:
            a, *rest = (vertices[corner][:dimension] for corner in ring)
            if dimension == 2:
                total += a[0] * rest[0][1] - a[1] * rest[0][0]
            else:
                total -= sum(oracle.det(a, b, c) for b, c in itertools.pairwise(rest))
    return total


def moved_alike(environment, rng, size):
    """The vertices displaced, those in one place alike: the sides of a slit stay together."""
    places, row = np.unique(environment.vertices, axis=0, return_inverse=True)
    shift = rng.normal(scale=size, size=environment.dimension)
    return environment.vertices + (rng.uniform(-size, size, places.shape) + shift)[row.ravel()]


def faces_of(environment, cell):
    rings = environment.faces_of(cell)
    return rings if environment.dimension == 3 else [side for ring in rings for side in sides(ring)]


def operate(environment, rng, slits):
    """One change at random; its name."""
    dimension, live = environment.dimension, [c for c in range(environment.cell_count) if environment.faces_of(c)]
    kind = rng.choice(["deform", "deform", "cut", "slit", "merge", "sew", "unsew", "obstacle"])
    if kind == "deform":
        environment.deform(moved_alike(environment, rng, rng.choice([0.02, 0.06])))
    elif kind in ("cut", "slit"):
        point = environment.vertices[rng.integers(len(environment.vertices))] + rng.normal(scale=0.3, size=dimension)
        chosen = rng.choice(live, min(len(live), 6), replace=False) if rng.random() < 0.5 else None
        plane = (point, rng.normal(size=dimension))
        if chosen is None:
            pairs = environment.cut(plane=plane, slit=kind == "slit")
        else:
            pairs = environment.cut(plane=plane, cells=[int(c) for c in chosen], slit=kind == "slit")
        if kind == "slit":
            slits += pairs.tolist()
    elif kind == "sew":
        if not slits:
            return "none"
        environment.sew(*slits.pop(int(rng.integers(len(slits)))))
    else:
        a = int(rng.choice(live))
        own = {frozenset(face) for face in faces_of(environment, a)}
        near = [b for b in live if b != a and own & {frozenset(face) for face in faces_of(environment, b)}]
        if not near:
            return "none"
        b = int(rng.choice(near))
        if kind == "obstacle":
            environment.set_obstacle(a, bool(rng.random() < 0.3))
        elif kind == "merge":
            environment.merge(a, b)
        else:
            environment.unsew(a, b)
            slits.append([a, b])
    return str(kind)


def check_places(parts, live, crowd):
    """Every particle lies in a closed part of its cell, a free one unless it is held."""
    held = set(crowd._places.held.tolist())
    by_cell = {}
    for part in parts:
        by_cell.setdefault(part.cell, []).append(part)
    for row, (cell, position) in enumerate(zip(crowd.cell.tolist(), crowd.position, strict=True)):
        here = [part for part in by_cell[int(np.searchsorted(live, cell))] if part.holds(oracle.exact(position))]
        assert here, row
        assert row in held or here[0].free


def check_deformation(parts, before, crowd, start, end, rng):
    walls = oracle_walls.walls_of(parts)
    pushed = set(crowd.reached.particle.tolist())
    some = [row for row in range(len(crowd)) if row not in pushed]
    assert (crowd.position[some] == before[some]).all()
    held = set(crowd._places.held.tolist())
    for row in rng.permutation(len(crowd))[:FOLLOWED].tolist() if len(walls) else []:
        time, _ = oracle_walls.first_touch(start[walls], end[walls], before[row])
        if row in held or np.isnan(time):
            continue
        if row in pushed:
            assert time < np.inf, (row, before[row])
        else:
            assert time in (0, np.inf) or time > 1 - 1e-9, (row, time)
    return len(pushed)


def campaign(make, seed, steps):
    rng = np.random.default_rng(seed)
    world, slits, done = make(rng), [], Counter()
    env = world.environment
    crowd = cells.Particles(env, worlds.free_points(world, rng, CROWD))
    for _ in range(steps):
        start, before, size = env.vertices, crowd.position, volume(env)
        try:
            kind = operate(env, rng, slits)
        except (InvalidInput, Unsupported):
            done["refused"] += 1
            continue
        done[kind] += 1
        assert env.check_integrity() == []
        after = as_world(env)
        parts = after.parts()
        pushed = crowd.settle()
        check_places(parts, after.numbers, crowd)
        if kind == "deform":
            done["pushed"] += check_deformation(parts, before, crowd, start, env.vertices, rng)
        else:
            assert abs(float(volume(env) - size)) <= ROUNDING * float(size), kind
            assert np.abs(crowd.position - before).max() <= ROUNDING, kind
            assert (crowd.position == before)[~pushed].all()
        targets = crowd.position + rng.normal(scale=0.2, size=crowd.position.shape)
        moves = crowd.move(targets)
        reached = moves.status != cells.COLLISION
        assert (moves.position[reached] == targets[reached]).all()
        check_places(parts, after.numbers, crowd)
        done["moves"] += len(crowd)
    return done


@pytest.mark.large
@pytest.mark.parametrize("make", worlds.WORLDS, ids=lambda make: make.__name__)
def test_whatever_is_done_to_the_space_no_wall_is_passed(make):
    done = Counter()
    for seed in range(10 if SOAK else 1):
        done += campaign(make, seed, STEPS)
    assert done["moves"]
