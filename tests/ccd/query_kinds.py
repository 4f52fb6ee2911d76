"""Seeded queries (n,8,3) for the narrow phase, by the name of what is degenerate about them."""

import numpy as np


def grid(rng, n, reach):
    return rng.integers(-reach, reach + 1, (n, 8, 3)).astype(float)


def tiny_grid(rng, n):
    return grid(rng, n, 1)


def small_grid(rng, n):
    return grid(rng, n, 3)


def planar(rng, n):
    q = grid(rng, n, 4)
    q[:, :, 2] = 0
    return q


def tilted_plane(rng, n):
    """In a plane, up to rounding."""
    q = grid(rng, n, 4)
    q[:, :, 2] = q[:, :, 0] + 2 * q[:, :, 1]
    return q / 7


def collinear(rng, n):
    return rng.integers(-4, 5, (n, 8, 1)) * np.array([1.0, 2.0, 3.0]) / 3 + rng.integers(0, 2, (n, 1, 3))


def nearly_grid(rng, n):
    """Off a grid by a few units in the last place."""
    return grid(rng, n, 2) / 3 + grid(rng, n, 2) * 2.0**-54


def far_away(rng, n):
    return grid(rng, n, 2) / 3 + 1000 * np.array([1.0, 2.0, -3.0])


def random(rng, n):
    return rng.normal(size=(n, 8, 3))


def thin(rng, n):
    return rng.normal(size=(n, 8, 3)) * np.array([1.0, 1e-9, 1.0])


def through_edge(rng, n):
    """The first point passes through an edge or a corner of the others, up to rounding."""
    q = rng.normal(size=(n, 8, 3))
    t, s = rng.random((n, 1)), rng.choice([0.0, 0.5, 1.0], (n, 1))
    a, b = (1 - t) * q[:, 1] + t * q[:, 5], (1 - t) * q[:, 2] + t * q[:, 6]
    point, velocity = (1 - s) * a + s * b, rng.normal(size=(n, 3))
    q[:, 0], q[:, 4] = point - t * velocity, point + (1 - t) * velocity
    return q


def translated(rng, n):
    """No point moves against another."""
    q = grid(rng, n, 2)
    q[:, 4:] = q[:, :4] + rng.integers(-1, 2, (n, 1, 3))
    return q / 3


def at_rest(rng, n):
    q = grid(rng, n, 2)
    q[:, 4:] = q[:, :4]
    return q


def sliding(rng, n):
    """The first point, or edge, slides along the plane of the others."""
    q = grid(rng, n, 3)
    q[:, [1, 2, 3, 5, 6, 7], 2] = 0
    q[:, [0, 4], 2] = rng.integers(0, 2, (n, 1)) * 2.0**-40
    return q


def doubled(rng, n):
    """Two points are one, all the time or at one end."""
    q = grid(rng, n, 2)
    rows = np.arange(n)
    i, j = rng.integers(0, 4, n), rng.integers(0, 4, n)
    q[rows, i] = q[rows, j]
    both = rng.random(n) < 0.5
    q[rows[both], 4 + i[both]] = q[rows[both], 4 + j[both]]
    return q


def mirrored(rng, n):
    """Points exchange their places: tangential and double roots."""
    q = grid(rng, n, 3)
    q[:, 4:] = q[:, 3::-1]
    return q / 5


def touching_at(time):
    def make(rng, n):
        """The first point is on the plane of the others at that time, inside, outside or on an edge of a grid."""
        q = grid(rng, n, 4)
        q[:, [1, 2, 3, 5, 6, 7], 2] = 0
        height = rng.choice([-2.0, -1.0, 1.0, 2.0], n)
        q[:, 0, 2], q[:, 4, 2] = -time * height, (1 - time) * height
        return q

    return make


def grazing(rng, n):
    """The height of the first point over a turning plane has a double root at t = ½."""
    q = grid(rng, n, 3)
    q[:, 4:, :2] = q[:, :4, :2] + rng.integers(-1, 2, (n, 1, 2))
    q[:, :4, 2] = q[:, :4, 0] * 1.0
    q[:, 4:, 2] = -q[:, 4:, 0]
    return q


def scaled(factor):
    def make(rng, n):
        return rng.normal(size=(n, 8, 3)) * factor if rng.random() < 0.5 else grid(rng, n, 2) * (factor / 3)

    return make


def mixed_scales(rng, n):
    return grid(rng, n, 2) * 2.0 ** rng.integers(-60, 1, (n, 8, 3))


KINDS = {
    "tiny grid": tiny_grid,
    "small grid": small_grid,
    "planar": planar,
    "tilted plane": tilted_plane,
    "collinear": collinear,
    "nearly a grid": nearly_grid,
    "far away": far_away,
    "random": random,
    "thin": thin,
    "through an edge": through_edge,
    "translated": translated,
    "at rest": at_rest,
    "sliding": sliding,
    "doubled points": doubled,
    "mirrored": mirrored,
    "touching at 0": touching_at(0.0),
    "touching at 1": touching_at(1.0),
    "touching at 1/2": touching_at(0.5),
    "grazing": grazing,
    "scale 1e-300": scaled(1e-300),
    "scale 1e-105": scaled(1e-105),
    "scale 1e74": scaled(1e74),
    "mixed scales": mixed_scales,
}
