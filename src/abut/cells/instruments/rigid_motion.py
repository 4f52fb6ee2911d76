"""Where a rigid body is, how it may be pushed, and which rigid motion takes points to others.

Places are always c + R·rest, with R from a unit quaternion: so distances between vertices hold to rounding, however many steps are gone. A turn is
cut into pieces that are hardly bent: on each, the chords of the vertices are tested, which lie within SAG of the radius of where the body is, and
their ends are places of the body.
"""

import math

import numpy as np

from abut.cells.width.projection import project_twist
from abut.cells.width.pushing import Freedom
from abut.core.arrays import Floats
from abut.core.records import Records

SAG = 2.0**-12
"""Of the radius."""
IN_LINE = 1e-9
"""Points whose second extent is below this part of the first lie in a line: nothing tells how they turn about it."""


def rotation(turn: Floats) -> Floats:
    """(3,3) of a rotation vector, from a unit quaternion."""
    angle = float(np.linalg.norm(turn))
    if not angle > 0.0:
        return np.eye(3)
    x, y, z = math.sin(0.5 * angle) / angle * turn
    w = math.cos(0.5 * angle)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def turn_of(matrix: Floats) -> Floats:
    """(3,) the rotation vector of a rotation, at most π long."""
    skew = 0.5 * np.array([matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1]])
    sine, cosine = float(np.linalg.norm(skew)), 0.5 * (float(np.trace(matrix)) - 1.0)
    angle = math.atan2(sine, cosine)
    if sine > 1e-8:
        return angle / sine * skew
    if cosine > 0.0:
        return skew
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))  # half a turn: the axis stays
    return angle * vectors[:, int(np.argmax(values))]


def orthonormal(matrix: Floats) -> Floats:
    """The rotation next to a matrix that is one but for rounding."""
    u, _, v = np.linalg.svd(matrix)
    return u @ v


def fit_turn(begin: Floats, end: Floats) -> Floats:
    """(3,3) the rotation that takes points about their middle nearest to others (Kabsch 1976); of points in a line, the least one."""
    u, sizes, v = np.linalg.svd(end.T @ begin)
    if not sizes[0] > 0.0:
        return np.eye(3)
    if sizes[1] <= IN_LINE * sizes[0]:
        p, q = v[0], u[:, 0]
        axis, cosine = np.cross(p, q), float(p @ q)
        sine = float(np.linalg.norm(axis))
        if sine > 0.0:
            return rotation(math.atan2(sine, cosine) / sine * axis)
        if cosine > 0.0:
            return np.eye(3)
        side = np.zeros(3)
        side[int(np.argmin(np.abs(p)))] = 1.0
        across = np.cross(p, side)
        return rotation(math.pi * across / np.linalg.norm(across))
    flip = np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ v))])
    return u @ flip @ v


class RigidFreedom(Freedom):
    """A rigid body: where it is, what it wants, and its motion where it is pushed, weighed as that of a body of the same mass at each vertex."""

    is_straight = False

    def __init__(self, points: Floats, radius: float, dimension: int) -> None:
        self.first = self.center = points.mean(axis=0)
        self.rest = points - self.center
        self.turned = np.eye(3)
        self._dimension = dimension
        self._length = float(np.sqrt((self.rest**2).sum(axis=1).max()))
        self._most_turn = math.sqrt(8.0 * SAG * radius / max(self._length, radius))
        spread = float((self.rest**2).sum() / len(points)) + radius**2
        self._inverse = np.eye(3) / spread
        if dimension == 2:
            self._inverse[:2, :2] = 0.0
        self.wanted = np.zeros(6)
        self._twist = np.zeros(6)

    def place(self, center: Floats, turned: Floats) -> Floats:
        """(n,3) the vertices of the body in another place."""
        return center + self.rest @ turned.T

    def want(self, center: Floats, turned: Floats) -> None:
        """Set off for another place."""
        self.wanted = np.concatenate((center - self.center, turn_of(turned @ self.turned.T)))

    def find_end(self, position: Floats, near: Records, room: Floats) -> tuple[Floats, Floats]:
        """As for loose vertices, in six dimensions."""
        self._twist, pushed = self.wanted.copy(), np.zeros(len(near))
        points = sum(near["share_" + name][:, np.newaxis] * position[near[name]] for name in ("a", "b", "c"))
        points = np.ascontiguousarray(np.asarray(points, np.float64).reshape(-1, 3))
        project_twist(near, points, room, tuple(self.center), 1.0, self._inverse, self._twist, pushed)
        return self.at_share(position, position, 1.0), pushed

    def portion(self) -> float:
        """Of a turn, as much as is hardly bent."""
        turn = float(np.linalg.norm(self._twist[3:]))
        return min(1.0, self._most_turn / turn) if turn > 0.0 else 1.0

    def at_share(self, position: Floats, end: Floats, share: float) -> Floats:
        """The place of the body."""
        return self.place(*self._pose_at(share))

    def _pose_at(self, share: float) -> tuple[Floats, Floats]:
        turned = self.turned
        if self._twist[3:].any():
            turned = orthonormal(rotation(share * self._twist[3:]) @ self.turned)
        return self.center + share * self._twist[:3], turned

    def take(self, share: float) -> None:
        """Be there; what is still wanted is what was, less that share."""
        if share > 0.0:
            self.center, self.turned = self._pose_at(share)
        self.wanted = (1.0 - share) * self.wanted
