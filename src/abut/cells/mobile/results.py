"""What the move of a mobile answers. Immutable arrays, one row per vertex."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abut.cells.mobile.response import Response
from abut.cells.mobile.steps.packed_move import ANSWER
from abut.cells.space.planar import lower_points
from abut.cells.walk.results import Status, count_statuses
from abut.core.arrays import Floats, Integers, frozen
from abut.core.showing import ROWS_SHOWN, count, describe, table_html


@dataclass(frozen=True, eq=False, repr=False)
class BodyMoves:
    """How the moves of a body's vertices ended: one row per vertex, the answer to `Mobile.move`.

    Vertices move in turn; each row holds for the moment of that vertex' own move, its neighbours being where they were then.

    Examples:
        >>> import abut
        >>> rod = abut.cells.Mobile(abut.cells.channel(3, 1, 1), ([[0.5, 0.5, 0.5], [1.5, 0.5, 0.5]], [[0, 1]]))
        >>> moves = rod.move(rod.position + [0.0, 0.0, 0.5])
        >>> moves
        BodyMoves(2 vertices, 2 contacts)
        >>> moves.edge_tests.tolist(), moves.is_hit.tolist()
        ([1, 1], [False, False])
    """

    status: NDArray[np.int8]
    """FREE, CONTACT: the target was reached, no edge or face of the vertex hit anything. COLLISION: something was hit on the path."""
    position: Floats
    """(n,d) where the vertex is now"""
    time: Floats
    """(n,) 1, or when something was first hit on the path to the target: never late"""
    kind: NDArray[np.int8]
    """(n,) dimension of what was hit, or of the cell in which the target lies"""
    dart: NDArray[np.int32]
    """(n,) a dart of that"""
    normal: Floats
    """(n,d) unit normal from the mobile to the obstacle; zero where nothing is touched"""
    point: Floats
    """(n,d) the point of the obstacle that was hit; the position where nothing was"""
    edge: NDArray[np.int32]
    """(n,) the edge of the mobile that hit, or −1: the vertex itself or a face"""
    face: NDArray[np.int32]
    """(n,) the face of the mobile that hit, or −1"""
    cell: Integers
    """(n,) the free cell of the environment in whose closure the vertex lies"""
    tests: NDArray[np.int32]
    """(n,) planes and orientations looked at"""
    visits: NDArray[np.int32]
    """(n,) cells looked at, each as often as it was"""
    edge_tests: NDArray[np.int32]
    """(n,) edges tested"""
    edges_inside: NDArray[np.int32]
    """(n,) edges not tested: the swept triangle lies in one cell"""
    edges_clear: NDArray[np.int32]
    """(n,) edges not tested: no obstacle sticks out near the swept triangle (`reentrant_edges`)"""
    edges_behind: NDArray[np.int32]
    """(n,) edges not tested: the vertex moves into its own body, where no obstacle sticks out"""
    face_tests: NDArray[np.int32]
    """(n,) faces tested"""

    source: Integers
    """(n,) the row each vertex had before the move, or −1 for a particle that an adaptive response has inserted"""

    def __len__(self) -> int:
        return len(self.status)

    def __repr__(self) -> str:
        return describe(self, count(len(self), "vertex", "vertices"), *count_statuses(self.status))

    def _repr_html_(self) -> str:
        first = slice(ROWS_SHOWN)
        names = [Status(each).name for each in self.status[first].tolist()]
        columns = (names, *(each[first].tolist() for each in (self.position, self.time, self.edge, self.face)))
        return table_html(repr(self), ("status", "position", "time", "edge", "face"), columns, len(self))

    @property
    def is_hit(self) -> NDArray[np.bool_]:
        """(n,) whether something was hit."""
        return self.status == Status.COLLISION


def make_results(done: Response, dimension: int, position: Floats, cell: Integers) -> BodyMoves:
    """The answer of a move, for users: where the vertices are now, and what the response tells."""
    answer = {name: frozen(np.ascontiguousarray(done.answer[name])) for name in ANSWER.names or ()}
    return BodyMoves(
        frozen(answer["status"].astype(np.int8)),
        position,
        answer["time"],
        frozen(answer["kind"].astype(np.int8)),
        answer["dart"],
        lower_points(answer["normal"], dimension),
        lower_points(answer["point"], dimension),
        answer["edge"],
        answer["face"],
        cell,
        answer["tests"],
        answer["visits"],
        answer["edge_tests"],
        answer["edges_inside"],
        answer["edges_clear"],
        answer["edges_behind"],
        answer["face_tests"],
        frozen(done.source),
    )
