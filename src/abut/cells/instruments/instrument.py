"""Rigid instruments: bodies with a width whose vertices keep their distances, whatever they meet and whoever pushes them."""

import numpy as np

from abut.cells.environment import Environment
from abut.cells.instruments.rigid_motion import RigidFreedom, fit_turn
from abut.cells.mobile.body_shape import BodyLike
from abut.cells.mobile.mobile import Mobile
from abut.cells.mobile.results import BodyMoves
from abut.cells.mobile.rules import After
from abut.cells.mobile.wide_response import answer_move
from abut.cells.space.planar import raise_points
from abut.cells.width.pushing import follow
from abut.cells.width.wide_moves import Went, no_touches, walk
from abut.core import arrays
from abut.core.arrays import Floats
from abut.core.errors import InvalidInput, Unsupported
from abut.core.types import Number, PointsLike


class Instrument(Mobile):
    """A rigid body with a radius inside an environment: a needle, a grasper, a scope.

    It moves as a whole, turns included, up to the first contact, and on along the walls if it is to slide. Walls that move push it as a whole.
    What it sweeps is tested piece by piece of a turn: at the ends of its moves no wall is nearer than its radius, and on a turn none by more than
    2⁻¹² of that.

    Args:
        environment: the cells in which it moves.
        shape: as of `Mobile`.
        radius: above 0.

    Raises:
        InvalidInput: a vertex is in no free cell, an edge is not free, or something is nearer to a wall than the radius.

    Examples:
        >>> import abut
        >>> hall = abut.cells.channel(4, 4, 1)
        >>> needle = abut.cells.Instrument(hall, ([[1, 2, 0.5], [3, 2, 0.5]], [[0, 1]]), radius=0.125)
        >>> needle.move([[2, 1, 0.5], [2, 3, 0.5]])  # a quarter of a turn
        BodyMoves(2 vertices, 2 free)
        >>> needle.position.round(9).tolist()
        [[2.0, 1.0, 0.5], [2.0, 3.0, 0.5]]
        >>> needle.move([[2, 4, 0.5], [2, 6, 0.5]]).is_hit.tolist()
        [True, True]
        >>> needle.position.round(2).tolist()
        [[2.0, 1.87, 0.5], [2.0, 3.87, 0.5]]
    """

    def __init__(self, environment: Environment, shape: BodyLike, radius: Number) -> None:
        width = arrays.positive(radius, "radius")
        super().__init__(environment, shape, width)
        self._freedom = RigidFreedom(self._places.position, width, environment.dimension)
        self._places.freedom = self._freedom

    @property
    def pose(self) -> Floats:
        """(4,4) the rigid motion that takes the body from where it was made to where it is."""
        pose = np.eye(4)
        pose[:3, :3] = self._freedom.turned
        pose[:3, 3] = self._freedom.center - self._freedom.turned @ self._freedom.first
        return arrays.frozen(pose)

    def move(self, targets: PointsLike, after: After = "stop") -> BodyMoves:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Send the body towards a place, turning at a steady rate while its middle goes straight, as far as it is free.

        An environment that has changed is followed first (`settle`).

        Args:
            targets: (n, dimension) where each vertex is to go. They are taken as the place of the rigid body that is nearest to them.
            after: what it does at a contact: "stop", or "slide" along the walls.

        Returns:
            One row per vertex. All stop at the same share of the motion; rows of vertices that belong to what met a wall are collisions.

        Raises:
            Unsupported: it is to bounce.
        """
        arrays.choice(after, "after", ("stop", "slide", "bounce"))
        if after == "bounce":
            raise Unsupported("'bounce' of an instrument")
        goals = self._read_targets(targets)
        interior, thickness, places = self._environment.interior, self._places.thickness, self._places
        if thickness is None:
            raise InvalidInput("radius", "must be positive")
        if not places.is_settled:
            self.settle()
        goal = raise_points(goals) if interior.dimension == 2 else goals
        goal, held = self._hold(goal, "rigid")
        begin, freedom, points = self.shape.position, self._freedom, interior.space.vertices
        middle = goal.mean(axis=0)
        freedom.want(middle, fit_turn(begin - freedom.center, goal - middle) @ freedom.turned)
        gone = follow(thickness, interior.space, points, begin, self.shape.cell, freedom, stops=after == "stop")
        freedom.wanted[:] = 0.0
        touch, time = no_touches(len(self)), np.ones(len(self))
        for met in gone.touches[::-1]:
            touch[[met["a"], met["b"], met["c"]]] = met
        if len(gone.touches):
            time[:] = min(float(gone.touches["time"].min()), gone.done)
        position, part = walk(interior, begin, self.shape.cell, gone.position)
        return self._take(answer_move(interior, thickness, self.shape, Went(position, part, time, touch)), held)
