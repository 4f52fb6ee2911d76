"""The loop between physics and contact (Jund 2010, §5.3 and figure 5.3), in one function.

A physical model only needs to propose positions. What moves inside a partition (`cells.Mobile`, `cells.Particles`) says how far each particle
came and what stopped it. A model that has `accept`, as those of this part do, takes note of it. Where an adaptive response has put particles on
edges or taken them away, a model that has `insert` and `remove`, as `ShapeMatching` and `MassSpring` do, follows first (§5.2.1, §5.2.2).
"""

from typing import Any, Protocol

import numpy as np

from abut.core import arrays
from abut.core.arrays import Floats
from abut.core.errors import InvalidInput, Unsupported
from abut.core.types import Number
from abut.dynamics.contact_history import ContactHistory
from abut.dynamics.particles import ParticleModel
from abut.dynamics.tool_impulses import WallPoints

TOUCHING = 1.0 + 2.0**-8
"""Walls within this much of an instrument's radius touch it: it stops, and is pushed, a little before that (`cells/width`)."""


class Model(Protocol):
    """Whatever proposes positions."""

    def propose(self, dt: float) -> Floats:
        """(n,3) where the particles would go within a time dt.

        Args:
            dt: the length of the step.
        """
        ...


def couple(
    model: Model,
    mobile: Any,
    dt: Number,
    *,
    restitution: Number = 0.0,
    friction: Number = 0.0,
    history: ContactHistory | None = None,
    walls: ParticleModel | None = None,
    **options: Any,
) -> Any:
    """Take one step: the model proposes, the mobile moves as far as it can, the model takes note.

    The mobile's particles must be the model's, in their order, and where the model has them. In the plane the model's z is kept.

    Args:
        model: what proposes positions; `accept` is called where it is there, and so are `insert` and `remove`.
        mobile: `cells.Particles`, `cells.Mobile`, or whatever has `position` (n,3) and `move(targets)`; None lets the model move freely.
        dt: the length of the step.
        restitution: from 0 to 1, the part of its speed with which a particle bounces.
        friction: Coulomb's coefficient.
        history: takes note of what contacts are like.
        walls: a model of the environment's vertices, row for row, which then moves them: the environment is deformed to where they go, which pushes
            the mobile, and what the mobile presses on takes the impulses of the contacts. For `RigidTool` and `cells.Instrument`.
        **options: go to `mobile.move`; with `after="bounce"` the restitution does too.

    Returns:
        What `mobile.move` returns; None without a mobile.

    Examples:
        >>> from abut import cells, dynamics
        >>> room = cells.channel(2, 2, 2)  # two unit cubes a side
        >>> model = dynamics.Linkage([[0.5, 1, 1], [1.5, 1, 1]], [[0, 1]], gravity=(0, 0, -10))
        >>> crowd = cells.Particles(room, model.position)
        >>> for _ in range(100):
        ...     moves = dynamics.couple(model, crowd, 0.01)
        >>> (model.position.round(3) + 0).tolist()  # on the floor
        [[0.5, 1.0, 0.0], [1.5, 1.0, 0.0]]
    """
    step = arrays.positive(dt, "dt")
    bounce = arrays.scalar(restitution, "restitution", least=0.0, most=1.0)
    rough = arrays.scalar(friction, "friction", least=0.0)
    if history is not None:
        arrays.instance(history, "history", ContactHistory)
    if isinstance(model, type) or not _offers(model, "propose"):
        raise InvalidInput("model", f"is a {type(model).__name__}, which has no propose(dt)")
    if mobile is not None and not (_offers(mobile, "move", "position") and np.ndim(mobile.position) == 2):
        raise InvalidInput("mobile", f"is a {type(mobile).__name__}, which has no position (n,3) and move(targets)")
    response, after = options.get("response"), options.get("after")
    inserts = isinstance(response, str) and response in ("adaptive", "hybrid")
    if inserts and hasattr(model, "accept") and not hasattr(model, "insert"):
        raise Unsupported(f"an adaptive response with a {type(model).__name__}, which cannot insert particles")
    if walls is not None:
        _move_walls(walls, model, mobile, step)
    targets = model.propose(step)
    accept: Any = getattr(model, "accept", None)
    if mobile is None:
        if accept is not None:
            accept(targets)
        return None
    if isinstance(after, str) and after == "bounce":
        options["restitution"] = bounce
    dimension = mobile.position.shape[1]
    moves = mobile.move(np.ascontiguousarray(targets[:, :dimension]), **options)
    if history is not None:
        history.note(moves, targets[:, :dimension])
    if hasattr(model, "accept_pose"):
        if walls is None:
            _tell_rigid(model, mobile, moves, bounce, rough)
        else:
            _tell_both(model, mobile, walls, bounce, rough)
        return moves
    if accept is not None:
        _follow_insertions(model, mobile, moves)
        count = len(moves.position)
        reached, normal = np.zeros((count, 3)), np.zeros((count, 3))
        reached[: len(targets)] = targets[:count]  # in the plane z is the model's
        reached[:, :dimension], normal[:, :dimension] = moves.position, moves.normal
        accept(reached, normal, restitution=bounce, friction=rough)
    return moves


def _move_walls(walls: ParticleModel, model: Any, instrument: Any, step: float) -> None:
    """Let the walls go their step, which pushes the instrument."""
    arrays.instance(walls, "walls", ParticleModel)
    if not hasattr(model, "accept_pose") or not hasattr(instrument, "pose"):
        names = f"a {type(model).__name__} and a {type(instrument).__name__}"
        raise Unsupported(f"walls that {names} push: it takes a RigidTool and an Instrument")
    environment = instrument.environment
    count, dimension = environment.vertices.shape
    if len(walls) != count:
        raise InvalidInput("walls", f"has {len(walls)} particles, the environment has {count} vertices")
    goals = walls.propose(step)
    environment.deform(np.ascontiguousarray(goals[:, :dimension]))
    walls.accept(goals)
    instrument.settle()
    model.follow_pose(instrument.pose)


def _tell_rigid(model: Any, instrument: Any, moves: Any, bounce: float, rough: float) -> None:
    """Tell a rigid model where its instrument came, and what it met: each place once."""
    if not hasattr(instrument, "pose"):
        raise Unsupported(f"a {type(model).__name__} with a {type(instrument).__name__}, which is not rigid")
    hits = np.flatnonzero(moves.is_hit)
    contacts = np.unique(np.concatenate((_raised(moves.point[hits]), _raised(moves.normal[hits])), axis=1), axis=0)
    model.accept_pose(instrument.pose, contacts[:, :3], contacts[:, 3:], restitution=bounce, friction=rough)


def _tell_both(model: Any, instrument: Any, walls: ParticleModel, bounce: float, rough: float) -> None:
    """Tell a rigid model and that of the walls where they touch."""
    near = instrument.clearance(TOUCHING * instrument.radius, every=True)
    points = WallPoints(walls, near.corners, near.weights)
    contacts = (_raised(near.wall_point), _raised(near.normal))
    model.accept_pose(instrument.pose, *contacts, restitution=bounce, friction=rough, walls=points)


def _raised(rows: Floats) -> Floats:
    """Points or vectors of the plane as those of space."""
    return rows if rows.shape[1] == 3 else np.pad(rows, ((0, 0), (0, 1)))


def _offers(value: object, *names: str) -> bool:
    """Whether an object has these attributes; one that raises at the question has not."""
    try:
        return all(hasattr(value, name) for name in names)
    except Exception:
        return False


def _follow_insertions(model: Any, mobile: Any, moves: Any) -> None:
    """Let the model remove and insert the particles that an adaptive response did."""
    source: Any = getattr(moves, "source", None)
    count = len(model)
    if source is None or np.array_equal(source, np.arange(count)):
        return
    if not hasattr(model, "insert"):  # a mobile of another kind, which divides edges by itself
        raise Unsupported(f"an adaptive response with a {type(model).__name__}, which cannot insert particles")
    gone = np.setdiff1d(np.arange(count), source)
    if len(gone):
        model.remove(gone)
    new = np.flatnonzero(source < 0)  # the last rows
    if len(new):
        model.insert(mobile.parents[new], 1.0 - mobile.ratio[new])
