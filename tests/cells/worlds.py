"""Environments for the tests, each beside the same cells as plain lists for the oracle."""

import itertools
from typing import NamedTuple

import numpy as np

from abut import cells
from abut.core import jit
from cells import oracle_cells as oracle

HEX_FACES = [(0, 1, 2, 3), (4, 7, 6, 5), (0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0)]
CORNERS = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
SIZE = 2 if jit.INTERPRETED else 3


class World(NamedTuple):
    name: str
    environment: cells.Environment
    vertices: np.ndarray
    loops: list
    obstacle: np.ndarray
    numbers: list | None = None  # of the cells, where some are merged into others and not listed

    def parts(self):
        numbers = range(len(self.loops)) if self.numbers is None else self.numbers
        return oracle.build(self.vertices, self.loops, self.obstacle, *subdivision_of(self.environment, numbers))


def subdivision_of(environment, cells):
    """How the map cuts each cell into parts, as loops of vertices, and where the vertices lie that the cells themselves have not."""
    space, darts, dimension = environment.interior.space, environment.darts, environment.dimension
    parts, count = {cell: [] for cell in cells}, len(environment.vertices)
    for part in np.flatnonzero(environment.part_cell >= 0).tolist():
        rings = [ring_of(darts, dart) for dart in space.face[part].tolist() if dart >= 0]
        parts[int(environment.part_cell[part])].append([ring[: None if dimension == 3 else 2] for ring in rings])
    centres = {row: space.vertices[row, :dimension] for row in range(count, len(space.vertices))}
    return list(parts.values()), centres


def ring_of_darts(darts, first):
    ring, dart = [], first
    while not ring or dart != first:
        ring.append(dart)
        dart = int(darts.phi1[dart])
    return ring


def ring_of(darts, first):
    return darts.vertex[ring_of_darts(darts, first)].tolist()


def grid(n):
    vertices = np.array(list(itertools.product(range(n + 1), repeat=3)), float)
    number = {tuple(v): i for i, v in enumerate(vertices.astype(int).tolist())}
    cubes = list(itertools.product(range(n), repeat=3))
    hexes = [[number[tuple(np.add(cube, corner).tolist())] for corner in CORNERS] for cube in cubes]
    return vertices, np.array(hexes)


def some(rng, count, share=0.15):
    marks = rng.random(count) < share
    marks[0] = False
    return marks


def inner_jitter(rng, vertices, n, size):
    """Multiples of 2⁻¹⁰, so that middles of edges are exact."""
    inner = (vertices > 0) & (vertices < n)
    return vertices + np.round(rng.uniform(-size, size, vertices.shape) * 1024) / 1024 * inner


def loops_of_hexes(hexes):
    return [[[int(row[k]) for k in face] for face in HEX_FACES] for row in hexes]


def cubes(rng, n=SIZE):
    vertices, hexes = grid(n)
    marks = some(rng, len(hexes))
    return World("cubes", cells.hexahedra(vertices, hexes, marks), vertices, loops_of_hexes(hexes), marks)


def warped(rng, n=SIZE):
    """No inner face is planar; the outer ones are."""
    vertices, hexes = grid(n)
    vertices = inner_jitter(rng, vertices, n, 0.2)
    marks = some(rng, len(hexes))
    return World("warped", cells.hexahedra(vertices, hexes, marks), vertices, loops_of_hexes(hexes), marks)


def half_warped(rng, n=SIZE):
    """Few inner vertices are displaced: whole cells stand beside cut ones."""
    vertices, hexes = grid(n)
    moved = inner_jitter(rng, vertices, n, 0.2)
    chosen = rng.random(len(vertices)) < 0.3
    vertices = np.where(chosen[:, np.newaxis], moved, vertices)
    marks = some(rng, len(hexes))
    return World("half_warped", cells.hexahedra(vertices, hexes, marks), vertices, loops_of_hexes(hexes), marks)


def tetrahedra(rng, n=SIZE):
    vertices, hexes = grid(n)
    vertices = inner_jitter(rng, vertices, n, 0.15)
    rows = []
    for row in hexes:
        for order in itertools.permutations(range(3)):
            corner, path = np.zeros(3, int), [CORNERS.index((0, 0, 0))]
            for axis in order:
                corner[axis] = 1
                path.append(CORNERS.index(tuple(corner.tolist())))
            rows.append(row[path])
    rows = np.array(rows)
    edges = vertices[rows[:, 1:]] - vertices[rows[:, :1]]
    turned = np.linalg.det(edges) < 0
    rows[turned] = rows[turned][:, [0, 2, 1, 3]]
    marks = some(rng, len(rows), 0.1)
    loops = [[[int(r[k]) for k in f] for f in ((0, 1, 2), (0, 3, 1), (0, 2, 3), (1, 3, 2))] for r in rows]
    return World("tetrahedra", cells.tetrahedra(vertices, rows, marks), vertices, loops, marks)


def plane(rng, n=2 * SIZE):
    """Quadrilaterals, some cut in two triangles, and a hexagon's worth of obstacles."""
    vertices = np.array(list(itertools.product(range(n + 1), repeat=2)), float)
    inner = (vertices > 0) & (vertices < n)
    vertices = vertices + np.round(rng.uniform(-0.2, 0.2, vertices.shape) * 1024) / 1024 * inner
    rows = []
    for i, j in itertools.product(range(n), repeat=2):
        a, b, c, d = i * (n + 1) + j, (i + 1) * (n + 1) + j, (i + 1) * (n + 1) + j + 1, i * (n + 1) + j + 1
        rows += [[a, b, c], [a, c, d]] if (i + j) % 3 == 0 else [[a, b, c, d]]
    marks = some(rng, len(rows))
    edges = [[[r[k], r[(k + 1) % len(r)]] for k in range(len(r))] for r in rows]
    return World("plane", cells.polygons(vertices, rows, marks), vertices, edges, marks)


WORLDS = [cubes, warped, half_warped, tetrahedra, plane]


def free_points(world, rng, count):
    """Points among the corners of free cells: in these, but where a warped face bulges."""
    free = np.flatnonzero(~world.obstacle)
    points = []
    for _ in range(count):
        loops = world.loops[int(rng.choice(free))]
        corners = world.vertices[sorted({v for loop in loops for v in loop})]
        weights = rng.dirichlet(np.ones(len(corners)))
        points.append(weights @ corners)
    return np.array(points)


def aim(world, rng, points):
    """Targets: near and far, at vertices, middles of edges and of faces, and beyond them; some of zero length."""
    targets = points + rng.normal(scale=rng.choice([0.1, 0.7, 3.0], len(points))[:, np.newaxis], size=points.shape)
    for row in np.flatnonzero(rng.random(len(points)) < 0.6).tolist():
        loop = world.loops[int(rng.integers(len(world.loops)))]
        face = world.vertices[loop[int(rng.integers(len(loop)))]]
        kind = rng.integers(5)
        if kind == 0:
            goal = face[0]
        elif kind == 1:
            goal = (face[0] + face[1]) / 2
        elif kind == 2:
            goal = face.mean(axis=0)
        elif kind == 3:
            goal = points[row]
        else:
            goal = points[row].copy()
            goal[int(rng.integers(len(goal)))] = face[0][0]  # along an axis, so along grid faces and edges
        targets[row] = points[row] + 2 * (goal - points[row]) if rng.random() < 0.3 else goal
    return targets
