"""A branching network of vessels, filled with tetrahedra: what particles flow through in Jund 2010, figure 6.5.

A trunk divides in two again and again, each branch thinner and shorter than the one before. Unit cubes whose centers lie in the branches
are cut into six tetrahedra each, all alike, so that neighbours agree; then the surface is smoothed, a vertex staying back where a
tetrahedron would become thin.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage  # pyright: ignore[reportMissingTypeStubs]

from abut.core import arrays
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput
from abut.core.showing import count, describe
from abut.core.types import Number

SPREAD = 0.6
"""Angle between a branch and the one it comes from, in radians."""
SHRINK = 0.8
"""Radius and length of a branch relative to the one it comes from: two branches have 1.28 times its section."""
SMOOTHING_STEPS = 8
SMOOTHING = 0.5
THINNEST = 0.25
"""Volume of a tetrahedron, relative to what it was in the cube, below which its corners go back."""
# The six tetrahedra of a cube go from corner (0,0,0) to (1,1,1) along its edges; corner (x,y,z) has the number x + 2y + 4z.
TETRAHEDRA = ((0, 1, 3, 7), (0, 3, 2, 7), (0, 2, 6, 7), (0, 6, 4, 7), (0, 4, 5, 7), (0, 5, 1, 7))


class VesselNetwork(NamedTuple):
    """Vertices (n,3) and tetrahedra (m,4), positively oriented and connected; see `abut.cells.tetrahedra`."""

    vertices: Floats
    tetrahedra: Integers
    branches: Floats
    """(k,7) axes of the branches: begin, end, radius"""

    def __repr__(self) -> str:
        tetrahedra = count(len(self.tetrahedra), "tetrahedron", "tetrahedra")
        return describe(
            self,
            count(len(self.vertices), "vertex", "vertices"),
            tetrahedra,
            count(len(self.branches), "branch", "branches"),
        )


def vessel_network(resolution: Number = 2.8, generations: Number = 4, seed: Number = 0) -> VesselNetwork:
    """Branching vessels, filled with tetrahedra; 12 thousand by default, 200 thousand at a resolution of 7.

    Args:
        resolution: the radius of the trunk in edges of the tetrahedra, which have length 1 before smoothing; at least 1.
        generations: how often the trunk divides, at most 8.
        seed: which of many; the same seed gives the same vessels.

    Returns:
        Vertices, tetrahedra, and the axes of the branches.

    Raises:
        InvalidInput: the branches would fall apart.

    Examples:
        >>> import abut
        >>> network = abut.scenes.vessel_network(1.5, generations=2)
        >>> network
        VesselNetwork(479 vertices, 1,080 tetrahedra, 7 branches)
        >>> abut.cells.tetrahedra(network.vertices, network.tetrahedra)
        Environment(1,080 cells, 0 obstacles)
    """
    radius = arrays.positive(resolution, "resolution")
    if radius < 1:
        raise InvalidInput("resolution", f"{radius:g} is below 1: the branches would fall apart")
    depth = arrays.count(generations, "generations", most=8)
    rng = np.random.default_rng(arrays.count(seed, "seed"))
    branches = _grow(np.zeros(3), np.array([0.0, 0.0, 1.0]), radius, depth, rng)
    axes = np.array(branches)
    vertices, rows, border = _fill(axes)
    vertices = _smooth(vertices, rows, border)
    return VesselNetwork(arrays.frozen(vertices), arrays.frozen(rows), arrays.frozen(axes))


def _grow(begin: Floats, direction: Floats, radius: float, depth: int, rng: np.random.Generator) -> list[Floats]:
    """The axes of a branch and of all that come from it."""
    end = begin + 6.0 * radius * direction
    branches = [np.concatenate((begin, end, [radius]))]
    if depth == 0:
        return branches
    side = np.cross(direction, rng.normal(size=3))
    side /= np.linalg.norm(side)
    for turn in (SPREAD, -SPREAD):
        heading = np.cos(turn) * direction + np.sin(turn) * side
        branches += _grow(end, heading, max(radius * SHRINK, 1.0), depth - 1, rng)
    return branches


def _fill(branches: Floats) -> tuple[Floats, Integers, NDArray[np.bool_]]:
    """Cubes in the branches, cut; and which vertices lie on the surface."""
    low = np.floor(np.minimum(branches[:, :3], branches[:, 3:6]).min(axis=0) - branches[:, 6].max() - 1)
    high = np.ceil(np.maximum(branches[:, :3], branches[:, 3:6]).max(axis=0) + branches[:, 6].max() + 1)
    shape = (high - low).astype(np.int64)
    inside = np.zeros(shape, np.bool_)
    for branch in branches:
        _paint(inside, branch[:3] - low, branch[3:6] - low, float(branch[6]))
    label: Any = getattr(ndimage, "label")  # noqa: B009
    pieces: NDArray[np.int32] = label(inside)[0]
    sizes = np.bincount(pieces.ravel())
    sizes[0] = 0
    inside = pieces == int(np.argmax(sizes))
    cubes = np.argwhere(inside)
    corners = np.array([(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)])
    step = np.array([(shape[1] + 1) * (shape[2] + 1), shape[2] + 1, 1])
    numbers = (cubes[:, np.newaxis] + corners) @ step
    used, rows = np.unique(numbers[:, np.array(TETRAHEDRA)].reshape(-1, 4), return_inverse=True)
    vertices = np.stack((used // step[0], used % step[0] // step[1], used % step[1]), axis=1).astype(np.float64)
    around = np.bincount(np.unique(numbers, return_inverse=True)[1].ravel(), minlength=len(used))
    return vertices + low, rows.reshape(-1, 4), around < 8


def _paint(inside: NDArray[np.bool_], begin: Floats, end: Floats, radius: float) -> None:
    """Mark the cubes whose centers lie within the radius of a segment."""
    low = np.maximum(np.floor(np.minimum(begin, end) - radius - 1).astype(int), 0)
    high = np.minimum(np.ceil(np.maximum(begin, end) + radius + 1).astype(int), inside.shape)
    sides = [np.arange(low[k], high[k], dtype=np.float64) + 0.5 for k in range(3)]
    centers = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1)
    axis = end - begin
    along = np.clip((centers - begin) @ axis / (axis @ axis), 0.0, 1.0)
    distance = np.linalg.norm(centers - begin - along[..., np.newaxis] * axis, axis=-1)
    box = inside[low[0] : high[0], low[1] : high[1], low[2] : high[2]]
    box |= distance <= radius


def _volumes(vertices: Floats, rows: Integers) -> Floats:
    corners = vertices[rows]
    return np.einsum(
        "ij,ij->i",
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]),
        corners[:, 3] - corners[:, 0],
    )


def _smooth(vertices: Floats, rows: Integers, border: NDArray[np.bool_]) -> Floats:
    """Move vertices of the surface towards the mean of their neighbours on it, where no tetrahedron becomes thin."""
    pairs = np.concatenate([rows[:, [i, j]] for i in range(4) for j in range(4) if i != j])
    pairs = np.unique(pairs[border[pairs].all(axis=1)], axis=0)
    count = np.maximum(np.bincount(pairs[:, 0], minlength=len(vertices)), 1)[:, np.newaxis]
    least = THINNEST * _volumes(vertices, rows)
    for _ in range(SMOOTHING_STEPS):
        total = np.stack([np.bincount(pairs[:, 0], vertices[pairs[:, 1], k], len(vertices)) for k in range(3)], axis=1)
        goal = np.where(border[:, np.newaxis], vertices + SMOOTHING * (total / count - vertices), vertices)
        thin = _volumes(goal, rows) < least
        while thin.any():
            goal[rows[thin]] = vertices[rows[thin]]
            thin = _volumes(goal, rows) < least
        vertices = goal
    return vertices
