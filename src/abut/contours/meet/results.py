"""What questions about contours answer: contacts and distances, in read-only arrays."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abut.contours.meet import columns
from abut.contours.meet.kinds import Kind, Relation
from abut.core.arrays import Floats, Integers, frozen
from abut.core.showing import count, describe, table_html


# A generated constructor, which sets field by field, would take longer than many a question; so would `flags.writeable`, and `write=` by name.
def _lock(array: Any) -> None:
    """Make an array read-only."""
    array.setflags(False)


@dataclass(frozen=True, eq=False, repr=False, init=False)
class ContourContacts:
    """Where contours meet: one row per contact, in world coordinates, ordered by query and then by the place on a. Immutable.

    `bool(contacts)` tells whether any of the contours asked about meet or hold one another. A contact that is one place has equal beginning
    and end; where the curves stay within rounding of one another these differ. `relation` and the counts of work have one row per query.
    """

    _rows: Floats
    """(n,9), see `columns`"""
    query: Integers
    """(n,) which pose or pair a row belongs to; zeros for a single question"""
    _numbers: Integers
    """(k,6), see `columns`"""

    def __init__(self, rows: Floats, query: Integers, numbers: Integers) -> None:
        _lock(rows)
        _lock(query)
        _lock(numbers)
        fields = self.__dict__
        fields["_rows"], fields["query"], fields["_numbers"] = rows, query, numbers

    def __reduce__(self) -> tuple[Any, ...]:
        return ContourContacts, (self._rows, self.query, self._numbers)

    def __len__(self) -> int:
        return len(self._rows)

    def __bool__(self) -> bool:
        """Whether any of the contours asked about meet or hold one another."""
        return bool(self._numbers[:, columns.RELATION].any())

    def __repr__(self) -> str:
        return describe(self, count(len(self), "contact"), count(len(self._numbers), "query", "queries"))

    def _repr_html_(self) -> str:
        kinds = [Kind(kind).name for kind in self.kind.tolist()]
        names = ("query", "kind", "point", "normal", "parameter_a", "parameter_b")
        shown = [getattr(self, name).tolist() for name in names if name != "kind"]
        return table_html(repr(self), names, [shown[0], kinds, *shown[1:]], len(self))

    @property
    def parameter_a(self) -> Floats:
        """(n,2) where a contact begins and ends on a: i + t is the point t of segment i, modulo the number of segments."""
        return self._rows[:, columns.BEGIN_A : columns.END_A + 1]

    @property
    def parameter_b(self) -> Floats:
        """(n,2) where it is on b there; descending where the contours run against one another."""
        return self._rows[:, columns.BEGIN_B : columns.END_B + 1]

    @property
    def point(self) -> Floats:
        """(n,2) the middle of the contact, on a."""
        return self._rows[:, columns.POINT_X : columns.POINT_Y + 1]

    @property
    def normal(self) -> Floats:
        """(n,2) unit normal from a to b."""
        return self._rows[:, columns.NORMAL_X : columns.NORMAL_Y + 1]

    @property
    def kind(self) -> NDArray[np.int8]:
        """(n,) CROSSING, TOUCH or INTERVAL."""
        return frozen(self._rows[:, columns.KIND].astype(np.int8))

    @property
    def relation(self) -> Integers:
        """(k,) one per query: APART, CONTACT, A_IN_B or B_IN_A."""
        return self._numbers[:, columns.RELATION]

    @property
    def boxes_compared(self) -> Integers:
        """(k,) pairs of boxes compared."""
        return self._numbers[:, columns.BOXES]

    @property
    def segments_compared(self) -> Integers:
        """(k,) pairs of segments compared."""
        return self._numbers[:, columns.SEGMENTS]

    @property
    def places_compared(self) -> Integers:
        """(k,) pairs of places compared to join places of segments into contacts of contours."""
        return self._numbers[:, columns.PLACES]


@dataclass(frozen=True, eq=False, repr=False, init=False)
class ContourDistance:
    """The least distance of two contours' curves, one row per query. Immutable."""

    _rows: Floats
    """(k,9), see `columns`"""
    relation: Integers
    """(k,) APART, CONTACT, A_IN_B or B_IN_A"""

    def __init__(self, rows: Floats, relation: Integers) -> None:
        _lock(rows)
        _lock(relation)
        fields = self.__dict__
        fields["_rows"], fields["relation"] = rows, relation

    def __reduce__(self) -> tuple[Any, ...]:
        return ContourDistance, (self._rows, self.relation)

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        facts = [f"least {self.distance.min():g}"] if len(self) else []
        return describe(self, count(len(self), "query", "queries"), *facts)

    def _repr_html_(self) -> str:
        relations = [Relation(relation).name for relation in self.relation.tolist()]
        names = ("distance", "relation", "point_a", "point_b", "parameter_a", "parameter_b")
        shown = [getattr(self, name).tolist() for name in names if name != "relation"]
        return table_html(repr(self), names, [shown[0], relations, *shown[1:]], len(self))

    @property
    def distance(self) -> Floats:
        """(k,) between the curves: 0 where they meet, positive also where one contour holds the other."""
        return self._rows[:, columns.DISTANCE]

    @property
    def signed(self) -> Floats:
        """(k,) the same, negative where one contour holds the other."""
        return frozen(np.where(self.relation >= Relation.A_IN_B, -self.distance, self.distance))

    @property
    def parameter_a(self) -> Floats:
        """(k,) the place on a that is nearest to b."""
        return self._rows[:, columns.NEAREST_A]

    @property
    def parameter_b(self) -> Floats:
        """(k,) the place on b that is nearest to a."""
        return self._rows[:, columns.NEAREST_B]

    @property
    def point_a(self) -> Floats:
        """(k,2) witness on a."""
        return self._rows[:, columns.WITNESS_AX : columns.WITNESS_AY + 1]

    @property
    def point_b(self) -> Floats:
        """(k,2) witness on b."""
        return self._rows[:, columns.WITNESS_BX : columns.WITNESS_BY + 1]

    @property
    def boxes_compared(self) -> Integers:
        """(k,) pairs of boxes compared."""
        return frozen(self._rows[:, columns.DISTANCE_BOXES].astype(np.int64))

    @property
    def segments_compared(self) -> Integers:
        """(k,) pairs of segments compared."""
        return frozen(self._rows[:, columns.DISTANCE_SEGMENTS].astype(np.int64))
