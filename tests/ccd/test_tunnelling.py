"""Bullet through paper, blade through rod: at any speed, nothing passes through. Oracles are worked out on paper, in the plane."""

import os

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import abut

CASES = 10_000 if os.environ.get("ABUT_SOAK") else 300
BULLET = abut.scenes.icosphere(0)


def rectangle(x: float, y: float) -> abut.Mesh:
    """A sheet in the plane z = 0, of two triangles."""
    return abut.Mesh([[-x, -y, 0], [x, -y, 0], [x, y, 0], [-x, y, 0]], [[0, 1, 2], [0, 2, 3]])


def box(low: np.ndarray, high: np.ndarray) -> abut.Mesh:
    corners = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return abut.Mesh(corners, [t for a, b, c, d in sides for t in ((a, b, c), (a, c, d))])


def pose_of(rotation: Rotation, translation: np.ndarray) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation.as_matrix(), translation
    return pose


# ---- a bullet that flies straight


def gap_of_shadow(points: np.ndarray, x: float, y: float) -> float:
    """Distance along the best separating direction of the convex hull of points in the plane and a rectangle; negative if they overlap.

    Any direction perpendicular to the line through two of the points may be a side of the hull, and those of the rectangle are the axes.
    """
    i, j = np.triu_indices(len(points), 1)
    sides = points[j] - points[i]
    lengths = np.linalg.norm(sides, axis=1)
    normals = np.stack([-sides[:, 1], sides[:, 0]], axis=1)[lengths > 0] / lengths[lengths > 0, None]
    normals = np.concatenate([normals, np.eye(2)])
    shadow = points @ normals.T
    reach = np.abs(normals) @ np.array([x, y])
    return float(np.maximum(shadow.min(axis=0) - reach, -reach - shadow.max(axis=0)).max())


@pytest.mark.large
@pytest.mark.parametrize("spinning", [False, True], ids=["straight", "with the whole scene turned"])
def test_a_bullet_never_passes_through_paper(spinning: bool):
    rng = np.random.default_rng(41)
    hits = 0
    for _ in range(CASES // 2):
        x, y = rng.uniform(0.5, 2.0, size=2)
        radius = 10 ** rng.uniform(-4, -0.5)
        speed = 10 ** rng.uniform(-0.5, 6)
        aim = np.array([*rng.uniform(-1.5, 1.5, size=2) * (x, y), 0.0])
        direction = rng.normal(size=3)
        direction[2] = -abs(direction[2]) - 0.05
        height = 1.01 * radius + rng.uniform(0.0, 1.0)
        start = aim + direction * height / direction[2]
        travel = -direction * (height + 1.01 * radius + rng.uniform(0.0, 1.0) * speed) / direction[2]
        corners = BULLET.vertices * radius + start
        gap = gap_of_shadow((corners + travel * (-corners[:, 2:] / travel[2]))[:, :2], x, y)
        if abs(gap) < 1e-9 * (1.0 + np.abs(travel).max()):
            continue  # the oracle is rounded itself
        turn = Rotation.random(rng=rng) if spinning else Rotation.identity()
        shift = rng.normal(size=3) if spinning else np.zeros(3)
        paper = rectangle(x, y)
        sheet = turn.apply(paper.vertices.copy()) + shift
        bullet = abut.Motion(BULLET, turn.apply(corners) + shift, turn.apply(corners + travel) + shift)
        time = abut.time_of_impact(bullet, abut.Motion(paper, sheet, sheet))
        assert (time <= 1.0) == (gap < 0.0), (gap, time)
        if gap < 0.0:
            hits += 1
            lowest = corners[:, 2].min()
            assert time >= lowest / -travel[2] * (1.0 - 1e-9) - 1e-9
    assert CASES // 10 < hits < CASES // 2


# ---- a blade that turns about an axis


def angles_of_contact(corner: np.ndarray, low: np.ndarray, high: np.ndarray) -> list[float]:
    """By which angles the plane must be turned backwards, so that a corner fixed in it comes to lie on a side of a box in the plane."""
    radius, phase = float(np.hypot(*corner)), float(np.arctan2(corner[1], corner[0]))
    found: list[float] = []
    for axis in (0, 1):
        for side in (low[axis], high[axis]):
            if abs(side) > radius:
                continue
            base = float(np.arccos(side / radius)) if axis == 0 else float(np.arcsin(side / radius))
            for angle in (base, -base) if axis == 0 else (base, np.pi - base):
                other = radius * (np.sin(angle) if axis == 0 else np.cos(angle))
                if low[1 - axis] <= other <= high[1 - axis]:
                    found.append((phase - angle) % (2 * np.pi))
    return found


def first_contact(blade: tuple[np.ndarray, np.ndarray], rod: tuple[np.ndarray, np.ndarray], bearing: float) -> float:
    """The angle by which the blade must turn (counter-clockwise, about the origin) until it meets the rod, which is turned by `bearing`.

    Both are boxes in the plane, the rod about its own centre after the turn. They meet first at a corner of one on a side of the other.
    """
    turn = np.array([[np.cos(bearing), -np.sin(bearing)], [np.sin(bearing), np.cos(bearing)]])

    def corners(low: np.ndarray, high: np.ndarray) -> np.ndarray:
        return np.array([[x, y] for x in (low[0], high[0]) for y in (low[1], high[1])])

    found: list[float] = []
    for corner in corners(*rod) @ turn.T:
        found += angles_of_contact(corner, *blade)
    for corner in corners(*blade) @ turn:  # in the frame of the rod the blade's corner turns the other way
        found += [(-angle) % (2 * np.pi) for angle in angles_of_contact(corner, *rod)]
    return min(found, default=np.inf)


@pytest.mark.large
def test_a_spinning_blade_never_passes_through_a_rod():
    rng = np.random.default_rng(42)
    hits = 0
    for _ in range(CASES // 2):
        width, length = 10 ** rng.uniform(-3, -1), rng.uniform(0.5, 2.0)
        blade = np.array([0.1, -width]), np.array([length, width])
        side, radius = 10 ** rng.uniform(-3, -1), rng.uniform(0.3, 2.3)
        rod = np.array([radius - side, -side]), np.array([radius + side, side])
        bearing = rng.uniform(0.7, 2 * np.pi - 0.7)  # the blade starts at bearing 0: wide enough to be apart
        angle = rng.uniform(0.05, np.pi - 1e-6)
        expected = first_contact(blade, rod, bearing)
        if abs(expected - angle) < 1e-6:
            continue
        size, whole = 10 ** rng.uniform(-3, 3), Rotation.random(rng=rng)
        about_z = Rotation.from_rotvec([0.0, 0.0, 1.0])
        shapes = [
            box(np.array([*low, -0.01]) * size, np.array([*high, 0.01]) * size)
            if k == 0
            else box(np.array([*low, -1.0]) * size, np.array([*high, 1.0]) * size)
            for k, (low, high) in enumerate((blade, rod))
        ]
        shift = rng.normal(size=3) * size
        turned = Rotation.from_rotvec(about_z.as_rotvec() * angle)
        spin = abut.Motion(abut.Rigid(shapes[0]), pose_of(whole, shift), pose_of(whole * turned, shift))
        still = pose_of(whole * Rotation.from_rotvec(about_z.as_rotvec() * bearing), shift)
        time = abut.time_of_impact(spin, abut.Motion(abut.Rigid(shapes[1]), still, still))
        assert (time <= 1.0) == (expected <= angle), (expected, angle, time)
        if expected <= angle:
            hits += 1
            assert expected / angle - 1e-6 <= time <= expected / angle + 1e-12
    assert CASES // 40 < hits < CASES // 2  # about one case in ten of the half
