"""Surgeries in a row keep walls closed: cuts and merges change neither what the cells fill nor where their border is; slits add to the border, and
only `sew` takes from it.

The road: volume and border are measured on the map, by sums over its darts, as no surgery does.
"""

import itertools

import numpy as np
import pytest

from abut import InvalidInput, Unsupported, cells
from abut.core import jit
from cells import worlds
from conftest import SOAK

SEQUENCES = 400 if SOAK else 1 if jit.INTERPRETED else 4
STEPS = 12
MOST_CELLS = 40
NOTHING_APART = "nothing keeps them apart there"


def corner(env, cell, *point):
    """The vertex of a cell at a place: the sides of a slit have their own."""
    own = np.unique(np.concatenate(env.faces_of(cell)))
    return int(own[(env.vertices[own] == point).all(axis=1)][0])


def slit_channel():
    """Eight cubes with a wall between two of them; three of its four corners are shared by its sides. Its cells, and particles before it."""
    env = cells.channel(2, 2, 2)
    left, right = cells.Particles(env, [[0.5, 1.5, 0.5], [1.5, 1.5, 0.5]]).cell.tolist()
    env.unsew(left, right)
    side = np.linspace(0.03, 0.97, 15)
    return env, left, right, np.array([[0.5, 1 + y, z + 0.01] for y in side for z in side])


def assert_closed(env, points):
    moves = cells.Particles(env, points).move(points + np.eye(3)[0])
    assert (moves.status == cells.COLLISION).all()
    assert moves.position[:, 0] == pytest.approx(1.0)
    assert env.check_integrity() == []


def test_a_plane_that_would_open_a_wall_is_refused():
    """It cuts off the corner (1, 1, 1), and the new vertices beside it lie on the rim of the slit: both sides would have the same triangle there."""
    env, _, _, points = slit_channel()
    before = env.vertices
    with pytest.raises(InvalidInput, match=f"plane: cuts both sides of the wall .* the same edge: {NOTHING_APART}"):
        env.cut(plane=([1, 1.2, 0.8], [0.1, -1, 1.2]))
    assert (env.cell_count, env.vertices is before) == (8, True)
    assert_closed(env, points)
    pairs = env.cut(plane=([1, 1.2, 0.8], [0.1, 1, 1.2]))  # through two opposite edges of the wall
    assert len(pairs) > 4
    assert_closed(env, points)


def test_both_sides_of_a_wall_cannot_be_cut_along_the_same_corners():
    env, left, right, points = slit_channel()
    ends = (1, 1, 0), (1, 2, 1)
    env.cut(left, [corner(env, left, *p) for p in (*ends, (0, 2, 1), (0, 1, 0))])
    with pytest.raises(
        InvalidInput, match=f"cells: a face of cell {right} .* cell {left} has an edge already: {NOTHING_APART}"
    ):
        env.cut(right, [corner(env, right, *p) for p in (*ends, (2, 2, 1), (2, 1, 0))])
    assert env.cell_count == 9
    assert_closed(env, points)


@pytest.mark.parametrize("walk", ["planes", "darts"])
def test_a_way_exactly_through_an_edge_across_a_wall_is_blocked(walk):
    """The edge is one of the left side alone; its ends lie on the rim, and are corners of the cell on the right too."""
    env, left, _, points = slit_channel()
    env.cut(left, [corner(env, left, *p) for p in ((1, 1, 0), (1, 2, 1), (0, 2, 1), (0, 1, 0))])
    crowd = cells.Particles(env, [[0.5, 1.25, 0.25]], walk)
    assert crowd.move([[1.5, 1.25, 0.25]]).status.tolist() == [cells.COLLISION]
    assert_closed(env, points)


def test_a_slit_of_triangles_that_its_cell_has_already_is_refused():
    """A loop around a tetrahedron, through all its corners: the face bulges, and its triangles are those of the cell."""
    alone = cells.tetrahedra([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 2, 3]])
    among = worlds.tetrahedra(np.random.default_rng(6), 1).environment
    for env, cell in ((alone, 0), (among, 4)):
        a, b, c = env.faces_of(cell)[0]
        d = next(v for v in env.faces_of(cell)[1] if v not in (a, b, c))
        count = env.cell_count
        for loop in itertools.permutations((a, b, c, d)):
            with pytest.raises(InvalidInput):
                env.cut(cell, loop, slit=True)
            with pytest.raises(InvalidInput):
                env.cut(cell, loop)
        assert env.cell_count == count
        assert env.check_integrity() == []


@pytest.mark.parametrize("slit", [False, True])
def test_a_shared_face_is_no_cut(slit):
    env = cells.channel(2, 1, 1)
    shared = next(face for face in env.faces_of(0) if (env.vertices[face][:, 0] == 1).all())
    for loop in (shared, shared[::-1], shared[2:] + shared[:2]):
        with pytest.raises(InvalidInput, match="corners: run around a face of cell 0: nothing would be cut off"):
            env.cut(0, loop, slit=slit)
    assert env.cell_count == 2


def measure(env):
    """What the parts fill, and how large their border is."""
    darts, points = env.darts, env.interior.space.vertices
    across = darts.phi3 if env.dimension == 3 else darts.phi2
    size, border, left = 0.0, 0.0, set(np.flatnonzero(darts.cell >= 0).tolist())
    while left:
        first = min(left)
        ring = worlds.ring_of_darts(darts, first)
        left -= set(ring)
        corners = points[darts.vertex[ring]]
        if env.dimension == 2:
            following = np.roll(corners, -1, axis=0)
            size += (corners[:, 0] * following[:, 1] - corners[:, 1] * following[:, 0]).sum() / 2
            border += np.linalg.norm(following - corners, axis=1)[darts.cell[across[ring]] == cells.OUTSIDE].sum()
        else:
            area = np.cross(corners[1:-1] - corners[0], corners[2:] - corners[0]).sum(axis=0) / 2
            size -= corners[0] @ area / 3
            border += np.linalg.norm(area) * (darts.cell[across[first]] == cells.OUTSIDE)
    return size, border


def draw_plane(env, rng, corners, known):
    """Through a cell: at random, along the axes, through its corners, or one of those before."""
    d, kind = env.dimension, rng.integers(6)
    if kind == 0 and known:
        return known[rng.integers(len(known))]
    point = corners[rng.integers(len(corners))] if kind in (1, 4) else corners.mean(axis=0)
    normal = rng.normal(size=d) if kind in (0, 5) else np.eye(d)[rng.integers(d)]
    if kind == 3:
        point, normal = np.round(2 * point) / 2, rng.integers(-1, 2, d)
    if kind == 4:
        along = corners[rng.permutation(len(corners))[:d]] - point
        normal = np.cross(along[-1], along[-2]) if d == 3 else along[-1][::-1] * (1, -1)
    known.append((point, normal))
    return known[-1]


def draw_loop(env, rng, cell, own):
    """Two corners in the plane; in space those of a face, or some in a turn about a line."""
    if env.dimension == 2:
        return rng.choice(own, 2, replace=False).tolist()
    faces = env.faces_of(cell)
    loop = faces[rng.integers(len(faces))][:: rng.choice((1, -1))]
    if rng.random() < 0.5:
        chosen = rng.choice(own, min(len(own), rng.integers(3, 6)), replace=False)
        around = env.vertices[chosen] - env.vertices[chosen].mean(axis=0)
        line = rng.normal(size=(2, 3))
        loop = chosen[np.argsort(np.arctan2(*(line @ around.T)))].tolist()
    return loop


def draw_surgery(env, rng, known):
    """(name, call, whether it may add to the border)."""
    live = [cell for cell in range(env.cell_count) if env.faces_of(cell)]
    cell, kind, slit = int(rng.choice(live)), rng.integers(8), bool(rng.random() < 0.5)
    own = np.unique(np.concatenate(env.faces_of(cell)))
    rings = env.interior.open_rings()
    beside = [other for face in rings.faces(cell) if (other := rings.beyond(cell, face)) is not None]
    if kind in (2, 3) and beside:
        other = max(beside) if slit else int(rng.choice(beside))
        return "merge", lambda: env.merge(cell, other), False
    if kind == 4 and beside:
        others = rng.choice(beside, rng.integers(1, len(beside) + 1), replace=False)
        return "unsew", lambda: env.unsew([cell] * len(others), others), True
    if kind == 5:
        other = int(rng.choice(live))
        return "sew", lambda: env.sew(cell, other), False
    if kind in (6, 7):
        loop = draw_loop(env, rng, cell, own)
        return "loop", lambda: env.cut(cell, loop, slit=slit), slit
    plane = draw_plane(env, rng, env.vertices[own], known)
    some = None if kind == 0 and len(live) < MOST_CELLS else np.unique([cell, *rng.choice(live, rng.integers(3))])
    return "plane", lambda: env.cut(plane=plane, cells=some, slit=slit), slit


BLOCKS = {
    "two": lambda rng: cells.channel(2, 1, 1),
    "block": lambda rng: cells.channel(*rng.integers(1, 4, 3).tolist()),
    "warped": lambda rng: worlds.warped(rng, 2).environment,
    "tetrahedra": lambda rng: worlds.tetrahedra(rng, 1).environment,
    "plane": lambda rng: worlds.plane(rng, 3).environment,
}


@pytest.mark.parametrize("name", BLOCKS)
def test_surgeries_in_a_row_keep_volume_and_border(name):
    done = set()
    for seed in range(SEQUENCES):
        rng, known = np.random.default_rng(seed), []
        env = BLOCKS[name](rng)
        size, border = measure(env)
        for step in range(STEPS):
            what, call, may_open = draw_surgery(env, rng, known)
            try:
                call()
            except (InvalidInput, Unsupported):
                continue
            done.add(what)
            assert env.check_integrity() == [], (seed, step, what)
            now, wall = measure(env)
            assert now == pytest.approx(size, rel=1e-9), (seed, step, what)
            assert what == "sew" or wall > border * (1 - 1e-9), (seed, step, what)
            assert may_open or wall < border * (1 + 1e-9), (seed, step, what)
            border = wall
    assert done >= {"merge", "plane", "unsew"}
