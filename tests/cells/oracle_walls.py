"""When a moving wall first touches a point: conservative advancement by distances. Shares no code with `abut.cells`, and no cubic is solved.

A wall moves no faster than the corner that goes furthest, so nothing is touched before distance over speed. Time steps by that until the distance
is next to nothing, or the step is over.
"""

import numpy as np

TOUCH = 1e-10


def walls_of(parts):
    """The walls of the free parts (`oracle_cells.build`) as corner numbers: edges, or triangles from the lowest-numbered corner."""
    found = []
    for part in parts:
        for ring, wall in zip(part.numbers, part.walls, strict=True):
            if part.free and wall:
                first = ring.index(min(ring))
                turned = ring[first:] + ring[:first]
                found += (
                    [turned] if len(ring) == 2 else [[turned[0], *turned[k : k + 2]] for k in range(1, len(ring) - 1)]
                )
    return np.array(found)


def distances(corners, p):
    """(n,) from p to each of (n, k, dimension) points, segments or triangles."""
    if corners.shape[1] == 1:
        return np.linalg.norm(corners[:, 0] - p, axis=1)
    a = corners[:, 0]
    u, w = corners[:, 1:] - a[:, np.newaxis], p - a
    gram, right = u @ u.transpose(0, 2, 1), u @ w[:, :, np.newaxis]
    shares = (
        np.linalg.lstsq(gram[0], right[0], rcond=None)[0].T if len(gram) == 1 else np.linalg.solve(gram, right)[..., 0]
    )
    inside = (shares >= 0).all(axis=1) & (shares.sum(axis=1) <= 1)
    nearest = a + (shares[:, np.newaxis] @ u)[:, 0]
    found = np.where(inside, np.linalg.norm(nearest - p, axis=1), np.inf)
    count = corners.shape[1]
    for left_out in range(count):
        rest = corners[:, [k for k in range(count) if k != left_out]]
        found = np.minimum(found, distances(rest, p))
    return found


def first_touch(start, end, p):
    """(time, wall) of the first touch, to about TOUCH; (inf, −1) where there is none, (nan, −1) where it is too close to tell."""
    speed = np.linalg.norm(end - start, axis=2).max(axis=1)
    moving, t = np.flatnonzero(speed > 0), 0.0
    if not len(moving):
        return np.inf, -1
    start, end, speed = start[moving], end[moving], speed[moving]
    for _ in range(3000):
        gap = distances((1 - t) * start + t * end, p)
        nearest = int(np.argmin(gap))
        if gap[nearest] < TOUCH:
            return t, int(moving[nearest])
        step = float((gap / speed).min())
        if t + step > 1:
            return (np.inf, -1) if t < 1 else (np.nan, -1)
        t += step
    return np.nan, -1
