"""The same as `wall_sweep` in rational arithmetic, for the few points that floating point leaves undecided: those that pass exactly through an edge
or a vertex, that a face touches and leaves again, or that lie where two faces come at the same time.

Where a point comes to an edge or a vertex of the moving cells, the free cells around that are asked which of them holds it just afterwards, as in a
walk (§3.3): by the sign of the first derivative that is not zero. Where none does, a wall has reached it. Cells that turn inside out and back on the
way may lose a point; then nothing is known but when.
"""

from collections.abc import Iterator
from fractions import Fraction

from abut.cells.map.darts import OUTSIDE
from abut.cells.settle.algebraic_times import Moment, Polynomial, add, multiply, roots_of, trimmed
from abut.cells.settle.moving_cells import (
    MEAN,
    Sliver,
    corners_of,
    is_tetrahedron,
    pass_face_of,
    sliver_at,
    sliver_over,
)
from abut.cells.settle.wall_sweep import KEPT, MOST_STEPS, REACHED, Fate
from abut.cells.space.records import NO_FACE, Space
from abut.core.arrays import Floats
from abut.geometry.vec import Vec3

LOST = 3
Path = tuple[Polynomial, ...]
"""A corner minus the point, coordinate by coordinate."""


class _Piece:
    """A sliver. What its faces are to the point is computed when it is asked for: most are asked for one or two."""

    def __init__(self, part: int, dart: int, sliver: Sliver, p: Vec3, dimension: int) -> None:
        self.part, self.dart = part, dart
        self.ids = tuple(int(i) if i != MEAN else -2 - part for i in sliver.ids)
        self.corners = frozenset(self.ids)
        self._sliver, self._p, self._dimension = sliver, p, dimension
        self._paths: list[Path] = []
        self._sides: dict[int, Polynomial] = {}

    @property
    def sides(self) -> Iterator[Polynomial]:
        """For each face, the orientation of it and the point."""
        return (self._side(k) for k in range(self._dimension + 1))

    def _side(self, k: int) -> Polynomial:
        if k not in self._sides:
            self._paths = self._paths or _paths_of(self._sliver, self._p, self._dimension)
            self._sides[k] = _orientation([self._paths[i] for i in corners_of(self._dimension, k)[: self._dimension]])
        return self._sides[k]


def _paths_of(sliver: Sliver, p: Vec3, dimension: int) -> list[Path]:
    """The corners' paths in integers: all coordinates times one power of two, which changes no sign and no time."""
    ratios = [[float(c).as_integer_ratio() for c in point[:dimension]] for point in (p, *sliver.start, *sliver.end)]
    shared = max(denominator for point in ratios for _, denominator in point)
    at, *corners = [[numerator * (shared // denominator) for numerator, denominator in point] for point in ratios]
    count, axes = len(sliver.start), range(dimension)
    return [
        tuple(trimmed([first[k] - at[k], last[k] - first[k]]) for k in axes)
        for first, last in zip(corners[:count], corners[count:], strict=True)
    ]


def _minor(u: Path, v: Path, i: int, j: int) -> Polynomial:
    return add(multiply(u[i], v[j]), multiply(u[j], v[i]), -1)


def _orientation(corners: list[Path]) -> Polynomial:
    """Positive where the origin lies before the edge or the triangle."""
    if len(corners) == 2:
        return _minor(corners[0], corners[1], 0, 1)
    u, v, w = corners
    total: Polynomial = ()
    for k in range(3):
        total = add(total, multiply(w[k], _minor(u, v, (k + 1) % 3, (k + 2) % 3)), -1)
    return total


class ExactTrace:
    """One point in the moving cells."""

    def __init__(self, space: Space, origin: Floats, p: Vec3) -> None:
        self._space, self._origin, self._p = space, origin, p
        self._pieces: dict[int, list[_Piece]] = {}

    def _slivers(self, part: int) -> Iterator[int]:
        space = self._space
        if is_tetrahedron(space, part):
            yield int(space.face[part, 0])
            return
        for face in space.face[part].tolist():
            if face == NO_FACE:
                continue
            dart = face
            while True:
                if sliver_over(space, dart) == dart:
                    yield dart
                dart = int(space.phi1[dart])
                if dart == face or space.dimension == 2:
                    break

    def _pieces_of(self, part: int) -> list[_Piece]:
        if part not in self._pieces:
            space, origin, p = self._space, self._origin, self._p
            self._pieces[part] = [
                _Piece(part, dart, sliver_at(space, origin, part, dart), p, space.dimension)
                for dart in self._slivers(part)
            ]
        return self._pieces[part]

    def _tie(self, piece: _Piece, moment: Moment) -> frozenset[int]:
        """The corners of the smallest vertex, edge, face or inside of a sliver in which the point is then."""
        tie = piece.corners
        for k, side in enumerate(piece.sides):
            if moment.sign_of(side) == 0:
                i, j, m = corners_of(self._space.dimension, k)
                tie &= {piece.ids[i], piece.ids[j], piece.ids[m]}
        return tie

    def _around(self, tie: frozenset[int], part: int) -> list[_Piece]:
        """All slivers around a tie, those of `part` first; obstacles only where the part is one."""
        space = self._space
        rows = [corner for corner in tie if corner >= 0]
        if len(rows) < len(tie) or not rows:
            parts = [part]
        else:
            first = rows[0]
            parts = [part, *space.star[space.star_begin[first] : space.star_end[first]].tolist()]
        found: list[_Piece] = []
        for other in dict.fromkeys(parts):
            if not space.obstacle[other] or space.obstacle[part]:
                found += [piece for piece in self._pieces_of(other) if tie <= piece.corners]
        return found

    def _exit(self, piece: _Piece, since: Moment) -> Moment | None:
        """When the point first comes behind a face of the sliver."""
        first = None
        for side in piece.sides:
            for root in roots_of(side):
                if since.is_before(root) and root.sign_after(side) < 0:
                    if first is None or root.is_before(first):
                        first = root
                    break
        return first

    def _wall(self, pieces: list[_Piece], tie: frozenset[int], moment: Moment, last: _Piece) -> Fate | None:
        """A face of these slivers that is a wall, holds the tie and has the point behind it just afterwards."""
        space, dimension = self._space, self._space.dimension
        best = None
        for piece in [last, *pieces]:
            for k, side in enumerate(piece.sides):
                corners = {piece.ids[i] for i in corners_of(dimension, k)}
                outer, _ = pass_face_of(space, piece.part, piece.dart, k)
                if outer < 0 or not tie <= corners:
                    continue
                other = int(space.cell[space.across[outer]])
                if other != OUTSIDE and (not space.obstacle[other] or space.obstacle[piece.part]):
                    continue
                fate = Fate(REACHED, piece.part, piece.dart, k, *moment.enclosed())
                if moment.sign_after(side) < 0:
                    return fate
                best = best or fate
        return best

    def follow(self, part: int) -> Fate:
        """What becomes of the point, which lay in the closed part at the beginning."""
        moment = Moment((), Fraction(0), Fraction(0))
        held = [piece for piece in self._pieces_of(part) if all(moment.sign_of(s) >= 0 for s in piece.sides)]
        if not held:
            return Fate(LOST, part, -1, 0, 0.0, 1.0)
        piece, tie = held[0], self._tie(held[0], moment)
        for _ in range(MOST_STEPS):
            around = self._around(tie, piece.part)
            following = next(
                (each for each in around if all(moment.sign_after(side) >= 0 for side in each.sides)), None
            )
            if following is None:
                return self._wall(around, tie, moment, piece) or self._lose(piece, moment)
            piece = following
            exit_at = self._exit(piece, moment)
            if exit_at is None:
                return Fate(KEPT, piece.part, piece.dart, 0, 1.0, 1.0)
            moment, tie = exit_at, self._tie(piece, exit_at)
        return self._lose(piece, moment)

    def _lose(self, piece: _Piece, moment: Moment) -> Fate:
        return Fate(LOST, piece.part, piece.dart, 0, *moment.enclosed())
