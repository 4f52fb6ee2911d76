"""Contours and poses that several tests share."""

import numpy as np

from abut.contours import Contour

UNIT_SQUARE = Contour.from_polygon([(0, 0), (1, 0), (1, 1), (0, 1)])

SMALL = Contour.from_polygon(0.2 * np.array([(0, 0), (1, 0), (1, 1), (0, 1)]))


def wavy(n, seed=0, size=1.0):
    rng = np.random.default_rng(seed)
    t = np.arange(n) * 2 * np.pi / n
    radius = size * (1 + 0.3 * rng.uniform(-1, 1, n))
    return np.stack([radius * np.cos(t), radius * np.sin(t)], axis=1)


def random_poses(count, seed, reach=2.0):
    rng = np.random.default_rng(seed)
    return np.stack([*rng.uniform(-reach, reach, (2, count)), rng.uniform(0, 7, count)], axis=1)


def dense(contour, pose, count):
    x, y, angle = pose
    p = contour.point(np.arange(len(contour) * count) / count)
    c, s = np.cos(angle), np.sin(angle)
    return p @ np.array([[c, s], [-s, c]]) + (x, y)
