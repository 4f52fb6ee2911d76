"""Families of pairs of triangles, most of them degenerate or nearly so: each gives (n, 6, 3) doubles from a seed."""

import numpy as np


def random(rng, n):
    """General position, near each other."""
    cases = rng.random((n, 6, 3))
    cases[:, 3:] += rng.uniform(-0.5, 0.5, (n, 1, 3))
    return cases


def grid(rng, n):
    """Corners of a 4×4×4 grid: full of coincidences of every kind."""
    return rng.integers(0, 4, (n, 6, 3)).astype(float)


def _nudge(rng, cases, vertex):
    """Move one coordinate of a vertex by one unit in the last place, in half of the cases."""
    rows = np.flatnonzero(rng.random(len(cases)) < 0.5)
    axes = rng.integers(0, 3, len(rows))
    towards = np.where(rng.random(len(rows)) < 0.5, -np.inf, np.inf)
    cases[rows, vertex, axes] = np.nextafter(cases[rows, vertex, axes], towards)
    return cases


def shared_vertex(rng, n):
    """One vertex in common; in half of the cases one copy is off by one unit in the last place."""
    cases = random(rng, n)
    cases[:, 3] = cases[:, 0]
    cases[:, 4:] = cases[:, :1] + np.where(rng.random((n, 1, 1)) < 0.5, 1.0, 0.2) * rng.uniform(-1, 1, (n, 2, 3))
    return _nudge(rng, cases, 3)


def shared_edge(rng, n):
    """One edge in common; in half of the cases one end of a copy is off by one unit in the last place."""
    cases = random(rng, n)
    cases[:, 3:5] = cases[:, :2]
    return _nudge(rng, _nudge(rng, cases, 4), 3)


def _oblique(rng, n, coordinates):
    """Points of an oblique plane with integer coordinates (n, k, 2) in an integer basis, scaled by a power of two."""
    basis = rng.integers(-5, 6, (n, 2, 3)).astype(float)
    origin = rng.integers(-50, 51, (n, 1, 3))
    return (origin + np.einsum("nkc,ncd->nkd", coordinates, basis)) * 2.0 ** rng.integers(-8, 9, (n, 1, 1))


def coplanar(rng, n):
    """Both in one oblique plane, exactly."""
    return _oblique(rng, n, rng.integers(0, 7, (n, 6, 2)).astype(float))


def nested(rng, n):
    """The second inside the first, in one plane exactly; in half of the cases a vertex is then off by one unit."""
    outer = np.tile(np.array([[0.0, 0.0], [64.0, 0.0], [0.0, 64.0]]), (n, 1, 1))
    cases = _oblique(rng, n, np.concatenate([outer, rng.integers(1, 30, (n, 3, 2))], axis=1))
    lifted = rng.random(n) < 0.5
    normal = np.cross(cases[:, 1] - cases[:, 0], cases[:, 2] - cases[:, 0])
    cases[lifted, 3:] += (2.0**-20 * normal[lifted])[:, None]
    return cases


def sliver(rng, n):
    """A needle or cap first, its third vertex almost on the line of the others; half the seconds touch it, almost."""
    cases = rng.random((n, 6, 3))
    t = rng.uniform(-0.2, 1.2, (n, 1))
    cases[:, 2] = (1 - t) * cases[:, 0] + t * cases[:, 1]
    cases[:, 2] += rng.uniform(-1, 1, (n, 3)) * 2.0 ** rng.integers(-53, -20, (n, 1))
    close = rng.random(n) < 0.5  # an edge of the second almost on the needle
    s = rng.uniform(0, 1, (n, 1))
    near = (1 - s) * cases[:, 0] + s * cases[:, 1] + rng.uniform(-1, 1, (n, 3)) * 2.0 ** rng.integers(-53, -20, (n, 1))
    cases[close, 3] = near[close]
    return cases


def collinear(rng, n):
    """The first is three points on a line; the second is any triangle of a small grid, or such a one as well."""
    cases = rng.integers(0, 5, (n, 6, 3)).astype(float)
    for first, rows in ((0, np.full(n, True)), (3, rng.random(n) < 0.3)):
        step = rng.integers(-1, 2, (n, 3))
        for k in (1, 2):
            cases[rows, first + k] = (cases[:, first] + rng.integers(-3, 4, (n, 1)) * step)[rows]
    return cases


def point(rng, n):
    """The first is a point, in half of the cases one of the second triangle; the second is sometimes a segment."""
    cases = rng.integers(0, 5, (n, 6, 3)).astype(float) * 8
    weights = rng.multinomial(8, [1 / 3, 1 / 3, 1 / 3], n) / 8
    inside = rng.random(n) < 0.5
    cases[inside, 0] = np.einsum("nk,nkd->nd", weights, cases[:, 3:])[inside]
    cases[:, 1] = cases[:, 2] = cases[:, 0]
    flat = rng.random(n) < 0.2
    cases[flat, 4] = cases[flat, 3]
    return cases


def vertex_on(rng, n):
    """A vertex of the second exactly in the first's plane, edge, vertex or inside: weights are multiples of 1/8."""
    cases = rng.integers(-512, 513, (n, 6, 3)) / 512
    weights = np.zeros((n, 3))
    kind = rng.integers(0, 4, n)
    weights[kind == 0] = rng.multinomial(8, [1 / 3, 1 / 3, 1 / 3], (kind == 0).sum()) / 8
    along = rng.integers(0, 9, n) / 8
    weights[:, 0] = np.where(kind == 1, along, weights[:, 0])
    weights[:, 1] = np.where(kind == 1, 1 - along, weights[:, 1])
    weights[kind == 2, 2] = 1.0
    outside = rng.integers(-8, 17, (n, 2)) / 8
    weights[kind == 3] = np.column_stack([outside, 1 - outside.sum(axis=1)])[kind == 3]
    cases[:, 3] = np.einsum("nk,nkd->nd", weights, cases[:, :3])
    side = np.cross(cases[:, 1] - cases[:, 0], cases[:, 2] - cases[:, 0])
    lifted = rng.random(n) < 0.7  # the rest of the second on one side, so that only this vertex can touch
    for k in (4, 5):
        away = cases[:, 3] + side + (cases[:, k] - cases[:, 3]) / 8
        below = np.einsum("nd,nd->n", away - cases[:, 3], side) <= 0
        cases[:, k] = np.where((lifted & ~below)[:, None], away, cases[:, k])
    return cases


def one_ulp(rng, n):
    """As `vertex_on`, the touching vertex moved by one unit in the last place in half of the cases."""
    return _nudge(rng, vertex_on(rng, n), 3)


def identical(rng, n):
    """The same triangle twice, vertices in another order; each vertex of one is moved by an ulp or not."""
    cases = rng.random((n, 6, 3))
    cases[:, 3:] = cases[:, [1, 2, 0]]
    for vertex in (3, 4, 5):
        cases = _nudge(rng, cases, vertex)
    return cases


def far(rng, n):
    """Tiny features at 2²⁰: a 4×4×4 grid with a step of a few units in the last place."""
    return 2.0**20 + grid(rng, n) * 2.0 ** rng.integers(-32, -28, (n, 1, 1))


def huge_and_tiny(rng, n):
    """One triangle 2⁴⁰ times the size of the other."""
    cases = rng.uniform(-1, 1, (n, 6, 3))
    cases[:, :3] *= 2.0**40
    inside = np.einsum("nk,nkd->nd", rng.dirichlet([1, 1, 1], n), cases[:, :3])
    close = rng.random(n) < 0.8
    cases[close, 3:] += inside[close, None]
    return cases


FAMILIES = {
    random: 16_000,
    grid: 16_000,
    shared_vertex: 6_000,
    shared_edge: 6_000,
    coplanar: 10_000,
    nested: 4_000,
    sliver: 8_000,
    collinear: 6_000,
    point: 6_000,
    vertex_on: 8_000,
    one_ulp: 4_000,
    identical: 3_000,
    far: 5_000,
    huge_and_tiny: 2_000,
}
"""How many of each, of 100,000."""


def generate(family, n, seed=20261115):
    return family(np.random.default_rng([seed, list(FAMILIES).index(family)]), n)


def permuted(rng, cases):
    """Each case with its triangles exchanged or not, and the vertices of each in another order."""
    order = np.argsort(rng.random((len(cases), 2, 3)), axis=2) + np.array([0, 3])[:, None]
    exchanged = rng.random(len(cases)) < 0.5
    order[exchanged] = order[exchanged, ::-1]
    return np.take_along_axis(cases, order.reshape(-1, 6, 1), axis=1)
