"""Several mobiles in one step: none passes through another, through itself, or through a wall (a perspective of Jund 2010, conclusion, §2).

    1  ways on which nothing meets, by impulses that keep the momentum (`resolution`)
    2  each mobile goes them inside the partition; walls may stop some vertices (`Mobile.move`)
    3  if something meets on the ways that were really gone, all go back; what a wall has stopped stays where that was and gives way to nobody, and
       1 follows again; in the end what meets stays where it began

Ways between mobiles are straight, all vertices moving at once; the exact test of continuous collision tells that nothing meets. So from a state in
which nothing touches comes another.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abut.ccd import EDGE_EDGE
from abut.cells import Mobile
from abut.cells.arguments import read_items
from abut.cells.mobile.meeting.shared_cells import put_back, settle_all
from abut.cells.mobile.results import BodyMoves
from abut.core import arrays
from abut.core.arrays import Floats, frozen
from abut.core.errors import InvalidInput
from abut.core.showing import count, describe
from abut.core.types import Number, PointsLike
from abut.dynamics.impacts import BodyImpacts
from abut.dynamics.several.company import Company, Hits, assemble, find_hits, places_of, raised
from abut.dynamics.several.resolution import Resolved, resolve
from abut.dynamics.several.responses import PUSH, RESPONSES, Inertia

Meeting = Literal["stop", "slide", "push"]
GAP = 2.0**-20
"""What is left open between mobiles, in lengths of the longest side of all they are in: a millionth."""
MOST_TURNS = 6
"""How often walls and mobiles are asked in turn, before what meets stays where it began."""


@dataclass(frozen=True, eq=False, repr=False)
class JointMoves:
    """How a step of several mobiles ended: the answer to `move_together`.

    Examples:
        A bar that is led along pushes another before it:

        >>> import numpy as np
        >>> from abut import cells, dynamics
        >>> hall = cells.channel(4, 1, 1)
        >>> led = cells.Mobile(hall, ([[0.5, 0.5, 0.2], [0.5, 0.5, 0.8]], [[0, 1]]))
        >>> bar = cells.Mobile(hall, ([[1.0, 0.2, 0.5], [1.0, 0.8, 0.5]], [[0, 1]]))
        >>> goals = [led.position + [1.0, 0.0, 0.0], bar.position]
        >>> done = dynamics.move_together([led, bar], goals, response="push", mass=[np.inf, 1.0])
        >>> done.met.time.round(6).tolist(), done.is_held[1].tolist(), bar.position[:, 0].round(4).tolist()
        ([0.5], [False, False], [1.5, 1.5])
        >>> done.after[1].tolist()  # what it would do in the next step: as the one that leads
        [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    """

    moves: tuple[BodyMoves, ...]
    """of each mobile inside the partition, towards what the others left it"""
    met: BodyImpacts
    """what would have met on the straight ways to the targets, the earliest first"""
    after: tuple[Floats, ...]
    """for each mobile (n,d) the ways of a step in which vertices go on as they do after they met: velocity × dt. The sum of mass × way is that of the
    ways to the targets; walls are not in it"""
    is_held: tuple[NDArray[np.bool_], ...]
    """for each mobile (n,) the vertices that impulses could not free: they went together with what they met, or stayed"""
    lost: Floats
    """(d,) mass × way that walls have taken, or mobiles that stayed where they were; zero but for rounding where neither happened"""
    turns: int
    """how often walls and mobiles were asked in turn"""

    def __repr__(self) -> str:
        return describe(
            self, count(len(self.moves), "mobile"), count(len(self.met), "impact"), count(self.turns, "turn")
        )


def move_together(
    bodies: Sequence[Mobile],
    targets: Sequence[PointsLike],
    *,
    response: Meeting = "slide",
    mass: Sequence[ArrayLike] | None = None,
    restitution: Number = 0.0,
    walls: Literal["static", "rigid"] = "static",
    **options: Any,
) -> JointMoves:
    """Move several mobiles of one environment in one step, so that none passes through another or through itself.

    All vertices set out at once and straight. Where primitives of mobiles meet on the way, impulses act on them that keep the sum of mass × way; a
    small gap is left open. Walls are as for `Mobile.move`, and give way to nobody.

    Args:
        bodies: the mobiles; nothing of them may touch anything of another, or of the same that shares no vertex with it.
        targets: for each, (n, dimension) where its vertices are to go.
        response: what mobiles do that meet. "stop": what touches goes on together. "slide": it only comes no nearer. "push": as "slide", but the
            whole of each mobile gives way, without turning; with itself it slides.
        mass: for each mobile its mass a vertex, (n,) or one number; `numpy.inf` for what is led and gives way to nobody. 1 by default.
        restitution: from 0 to 1, the part of the relative motion with which mobiles bounce.
        walls: how mobiles answer to walls, the `response` of `Mobile.move`.
        **options: go to `Mobile.move`; with `after="bounce"` the restitution does too.

    Returns:
        How each mobile moved, and what met.

    Raises:
        InvalidInput: the mobiles move in different environments, or touch before they move.
        Unsupported: what `Mobile.move` does not support.

    Examples:
        A bar flies into another that rests; they meet halfway, and go on together with half its motion:

        >>> from abut import cells, dynamics
        >>> hall = cells.channel(4, 1, 1)
        >>> one = cells.Mobile(hall, ([[0.5, 0.5, 0.2], [0.5, 0.5, 0.8]], [[0, 1]]))
        >>> two = cells.Mobile(hall, ([[1.0, 0.2, 0.5], [1.0, 0.8, 0.5]], [[0, 1]]))
        >>> done = dynamics.move_together([one, two], [one.position + [1.0, 0.0, 0.0], two.position], response="push")
        >>> done
        JointMoves(2 mobiles, 1 impact, 1 turn)
        >>> one.position[0].round(4).tolist(), two.position[0].round(4).tolist()
        ([1.25, 0.5, 0.2], [1.25, 0.2, 0.5])
    """
    bodies = arrays.items(bodies, "bodies", Mobile, least=1)
    if len({id(body) for body in bodies}) != len(bodies):
        raise InvalidInput("bodies", "names a mobile twice")
    kind = RESPONSES[arrays.choice(response, "response", tuple(RESPONSES))]
    bounce = arrays.scalar(restitution, "restitution", least=0.0, most=1.0)
    options["response"] = arrays.choice(walls, "walls", ("static", "rigid"))
    if options.get("after") == "bounce":
        options["restitution"] = bounce
    settle_all(bodies)
    company, begin = assemble(bodies), places_of(bodies)
    goal = raised(company, _read_targets(bodies, targets))
    inertia = _read_masses(bodies, mass, company)
    _refuse_touching(company, begin)
    gap = GAP * float(np.ptp(begin, axis=0).max(initial=0.0))
    step = _Step(bodies, company, begin, options)
    met, way, own = find_hits(company, begin, goal), goal - begin, inertia
    ways = resolve(company, begin, way, own, kind, gap, bounce)
    free, turns = ways, 1
    moves, reached = step.go(ways.way)
    while len(find_hits(company, begin, reached).time) and turns < MOST_TURNS:
        turns += 1
        blocked = (reached != begin + ways.way).any(axis=1)
        own = Inertia(np.where(blocked, 0.0, own.vertex), _stopped(own, blocked), company.owner)
        ways = resolve(
            company, begin, np.where(blocked[:, np.newaxis], reached - begin, free.way), own, kind, gap, bounce
        )
        moves, reached = step.go(ways.way)
    whole = kind == PUSH or walls == "rigid"
    moves, reached, is_held = step.hold(moves, reached, ways, whole)
    dimension, splits = bodies[0].environment.dimension, company.vertex_start[1:-1]
    return JointMoves(
        tuple(moves),
        _tabulate(company, met),
        tuple(frozen(np.ascontiguousarray(each[:, :dimension])) for each in np.split(free.after, splits)),
        tuple(frozen(each) for each in np.split(is_held, splits)),
        frozen(_mass_times(goal - reached, inertia.vertex)[:dimension]),
        turns,
    )


class _Step:
    """A step that may be taken again from its beginning."""

    def __init__(self, bodies: list[Mobile], company: Company, begin: Floats, options: dict[str, Any]) -> None:
        self._bodies, self._company, self._begin, self._options = bodies, company, begin, options
        self._shapes = [body.shape for body in bodies]

    def go(self, way: Floats) -> tuple[list[BodyMoves], Floats]:
        """Move all mobiles from the beginning; how, and where their vertices are now."""
        dimension = self._bodies[0].environment.dimension
        goals = np.split((self._begin + way)[:, :dimension], self._company.vertex_start[1:-1])
        for body, shape in zip(self._bodies, self._shapes, strict=True):
            put_back(body, shape)
        moves = [body.move(goal, **self._options) for body, goal in zip(self._bodies, goals, strict=True)]
        return moves, places_of(self._bodies)

    def hold(
        self, moves: list[BodyMoves], reached: Floats, ways: Resolved, whole: bool
    ) -> tuple[list[BodyMoves], Floats, NDArray[np.bool_]]:
        """Let what still meets stay where it began, then what meets that, until nothing meets."""
        held, owner = np.zeros(len(reached), np.bool_), self._company.owner
        while len((hits := find_hits(self._company, self._begin, reached)).time):
            more = held.copy()
            more[hits.corners.ravel()] = True
            if whole or (more == held).all():
                more |= np.isin(owner, owner[hits.corners.ravel()])
            held = more if (more != held).any() else np.ones(len(reached), np.bool_)
            moves, reached = self.go(np.where(held[:, np.newaxis], 0.0, ways.way))
        return moves, reached, held | ways.is_zoned


def _stopped(inertia: Inertia, blocked: NDArray[np.bool_]) -> Floats:
    """1 / m of the mobiles; 0 for one of which a wall has stopped something."""
    has = np.bincount(inertia.owner, blocked, minlength=len(inertia.body)) > 0
    return np.where(has, 0.0, inertia.body)


def _mass_times(way: Floats, inverse_mass: Floats) -> Floats:
    mass = np.divide(1.0, inverse_mass, out=np.zeros(len(way)), where=inverse_mass > 0.0)
    return (mass[:, np.newaxis] * way).sum(axis=0)


def _read_targets(bodies: list[Mobile], targets: Sequence[PointsLike]) -> list[Floats]:
    given = read_items(targets, "targets")
    if len(given) != len(bodies):
        raise InvalidInput("targets", f"has {len(given)} arrays for {len(bodies)} mobiles")
    found = []
    for row, (body, each) in enumerate(zip(bodies, given, strict=True)):
        points = arrays.points(each, "targets", dimensions=body.environment.dimension)
        if len(points) != len(body):
            raise InvalidInput("targets", f"has {len(points)} rows for {len(body)} vertices", row)
        found.append(points)
    return found


def _read_masses(bodies: list[Mobile], mass: Sequence[ArrayLike] | None, company: Company) -> Inertia:
    given = [1.0] * len(bodies) if mass is None else read_items(mass, "mass")
    if len(given) != len(bodies):
        raise InvalidInput("mass", f"has {len(given)} items for {len(bodies)} mobiles")
    inverse, whole = [], []
    for row, (body, each) in enumerate(zip(bodies, given, strict=True)):
        values = arrays.as_array(each, "mass")
        if values.dtype.kind not in "iuf" or values.shape not in ((), (len(body),)):
            raise InvalidInput("mass", f"has shape {values.shape}, expected one number or ({len(body)},)", row)
        if not (values > 0.0).all() or (values > arrays.LARGEST_COORDINATE)[np.isfinite(values)].any():
            raise InvalidInput("mass", "is not positive, or too large", row)
        masses = np.broadcast_to(values.astype(np.float64), len(body))
        if (masses < 1.0 / arrays.LARGEST_COORDINATE).any():
            raise InvalidInput("mass", "is too small", row)
        inverse.append(1.0 / masses)
        whole.append(1.0 / masses.sum() if len(masses) else 0.0)
    return Inertia(np.concatenate(inverse), np.array(whole), company.owner)


def _refuse_touching(company: Company, begin: Floats) -> None:
    hits = find_hits(company, begin, begin)
    if len(hits.time):
        first = _tabulate(company, hits)
        kinds = ("edge", "edge") if first.kind[0] == EDGE_EDGE else ("vertex", "edge" if company.in_plane else "face")
        a, b = (
            f"{kinds[0]} {first.a[0]} of mobile {first.body_a[0]}",
            f"{kinds[1]} {first.b[0]} of mobile {first.body_b[0]}",
        )
        raise InvalidInput("bodies", f"touch before they move: {a} and {b}")


def _tabulate(company: Company, hits: Hits) -> BodyImpacts:
    """Hits in the numbers of each mobile."""
    is_edges = hits.kind == EDGE_EDGE
    sides = company.edge_start if company.in_plane else company.face_start
    body_a, body_b = company.owner[hits.corners[:, 0]], company.owner[hits.corners[:, 3]]
    a = hits.a - np.where(is_edges, company.edge_start[body_a], company.vertex_start[body_a])
    b = hits.b - np.where(is_edges, company.edge_start[body_b], sides[body_b])
    columns: list[Any] = [hits.kind, body_a, a, body_b, b, hits.time]
    return BodyImpacts(*(frozen(np.ascontiguousarray(column)) for column in columns), candidate_count=len(hits.time))
