"""Searches for contacts that end when their time is up, and say what is proven by then (time-critical detection, Jund 2010 §1.6.2).

The search of each query is that of `search.pairs`, some steps at a time: between two turns only a stack is kept, so that a search that
was interrupted finds what one in one go finds, in the same order. Queries take turns, so that of many poses each soon has had some. A
turn is as long as a share of a millisecond allows, by what the last one took.

A query without contacts is searched on, for how far the bodies are apart: whether faces come within d is asked, by the same search, for d
between what is proven and what is known to be near.
"""

from collections import deque
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from abut.core import arrays, showing
from abut.core.arrays import Floats, Integers, frozen
from abut.core.compiling.compilation import working_clock
from abut.core.errors import InvalidInput
from abut.core.jit import threads_for
from abut.core.types import Number
from abut.discrete.bodies import Body
from abut.discrete.contacts import Contacts, shape_of
from abut.discrete.containment import find_holder
from abut.discrete.margins import meet, rule_of
from abut.discrete.search.pairs import NOT_BEGUN, STACK, Pairs
from abut.discrete.search.queries import may_be_held, search_some
from abut.discrete.search.rules import Meet, MeetItself, Near

TURN = 5e-4
"""Seconds that a turn is meant to take; the budget is looked at between turns."""
FIRST_STEPS, MOST_STEPS, LEAST_STEPS = 256, 1 << 16, 16
"""Steps of the first turn, of any, and of one query in a turn."""
ROOM = 512
"""Pairs that a query may find in a turn; one that is alone has eight times as many."""
PARALLEL = 8
"""Fewer queries in a turn are searched on one thread."""
NEAR_ENOUGH = 1.05
"""The search for how far bodies are apart ends when what is proven is this near to what is possible."""
ROUNDED = 1.0 - 1e-9
"""A distance of faces that was rounded, and found to be more than d, is at least this part of d."""
NO_PAIRS: Pairs = np.empty((0, 2), dtype=np.int32)


class Proof(IntEnum):
    """What is proven of a query when the time is up."""

    UNDECIDED = 0
    """Nothing yet."""
    COLLIDES = 1
    """There are contacts: rows, or a closed body that holds the other."""
    SEPARATE = 2
    """There are none; surfaces are at least `separation` apart."""


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked. pose_a (k,4,4), of k queries; b is a where a body is asked about itself (`itself`)."""

    a: Body
    pose_a: Floats
    b: Body
    pose_b: Floats
    min_distance: float
    limit: int
    has_poses: bool
    itself: bool
    shapes: tuple[Floats | None, Floats | None]

    @property
    def rule(self) -> Meet | Near | MeetItself:
        """What counts as a contact."""
        if self.itself:
            return MeetItself(self.a._packets.faces, self.min_distance)
        return rule_of(self.min_distance)


@dataclass(frozen=True, eq=False)
class _State:
    """What is known of each query. Never written to once a result holds it."""

    waiting: tuple[int, ...]
    """queries whose contacts are not all found, the next in turn first"""
    probing: tuple[int, ...]
    """queries without contacts whose separation is looked for"""
    stacks: dict[int, tuple[Integers, int]]
    """of interrupted searches"""
    found: dict[int, tuple[Pairs, ...]]
    counts: Integers
    held: NDArray[np.int8]
    done: NDArray[np.bool_]
    apart: Floats
    """(k,) how far apart is proven"""
    near: Floats
    """(k,) how near is known; 0 as long as nobody has looked"""
    work: Integers

    def copy(self) -> "_State":
        """One to write to."""
        own = {name: getattr(self, name).copy() for name in ("counts", "held", "done", "apart", "near", "work")}
        return replace(self, stacks=dict(self.stacks), found=dict(self.found), **own)


class _Turns:
    """How many steps a turn may take, by what the last one took, until the time is up."""

    def __init__(self, budget: float | None) -> None:
        self._end = None if budget is None else working_clock() + budget
        self._before, self.steps, self._first = working_clock(), FIRST_STEPS, True

    def next(self) -> bool:
        """Whether there is time for another; there always is for one."""
        now = working_clock()
        took, self._before = now - self._before, now
        if not self._first and took > 0.0:
            self.steps = int(
                min(max(self.steps * TURN / took, self.steps / 4, LEAST_STEPS), 2 * self.steps, MOST_STEPS)
            )
        first, self._first = self._first, False
        return first or self._end is None or now < self._end


class ContactSearch:
    """What a search for contacts has found and proven within its budget. Immutable; `resume` goes on from there.

    `bool(search)` tells whether the bodies are known to collide in any query. Once `complete`, `contacts` is what `abut.collide` answers
    without a budget.

    Args:
        question, state: what is asked, and what is known. `abut.collide` makes searches; nobody else need.

    Examples:
        >>> import abut
        >>> ball, far = abut.Rigid(abut.scenes.icosphere(3)), abut.Rigid(abut.scenes.icosphere(3, center=(3.0, 0.0, 0.0)))
        >>> search = abut.collide(ball, far, budget=0.0)
        >>> while not search.complete:
        ...     search = search.resume(0.001)
        >>> search.status == abut.discrete.Proof.SEPARATE, bool(search)
        (array([ True]), False)
        >>> bool(0.95 < search.resume().separation[0] <= 1.0)
        True
    """

    def __init__(self, question: Question, state: _State) -> None:
        self.__dict__.update(_question=question, _state=state)
        self.__dict__["contacts"] = _contacts_of(question, state)

    contacts: Contacts
    """The rows found so far; all of them if `complete`."""
    _question: Question
    _state: _State

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a ContactSearch does not change: cannot set {name!r}")

    def __bool__(self) -> bool:
        return bool(self.contacts)

    def __len__(self) -> int:
        return len(self.contacts)

    def __repr__(self) -> str:
        facts = [f"{int((self.status == proof).sum()):,} {proof.name.lower()}" for proof in Proof]
        return showing.describe(self, showing.count(len(self), "pair"), *facts)

    def _repr_html_(self) -> str:
        shown = slice(showing.ROWS_SHOWN)
        names = [Proof(status).name for status in self.status[shown].tolist()]
        columns = (names, self.separation[shown].tolist())
        return showing.table_html(repr(self), ("status", "separation"), columns, len(self.status))

    @property
    def complete(self) -> bool:
        """Whether all contacts of all queries are found."""
        return not self._state.waiting

    @cached_property
    def status(self) -> NDArray[np.int8]:
        """(k,) what is proven of each query: see `Proof`."""
        met = (self._state.counts > 0) | (self._state.held > 0)
        status = np.where(met, Proof.COLLIDES, np.where(self._state.done, Proof.SEPARATE, Proof.UNDECIDED))
        return frozen(status.astype(np.int8))

    @property
    def separation(self) -> Floats:
        """(k,) how far the surfaces are apart at least, as far as it is proven; 0 where they collide or nothing is known. It is looked for once all
        contacts are found, to within 5 %. Of one body with itself only the margin is ever proven."""
        return self._state.apart

    def resume(self, budget: Number | None = None) -> "ContactSearch":
        """Go on where this search stopped. It stays as it is, and may be resumed again.

        Args:
            budget: seconds; None: to the end.

        Returns:
            What is known then.

        Raises:
            InvalidInput: a deformable body has been updated since.
        """
        seconds = read_budget(budget)
        question = self._question
        for name, body, shape in (("a", question.a, question.shapes[0]), ("b", question.b, question.shapes[1])):
            if shape_of(body) is not shape:
                raise InvalidInput(name, "has been updated since the search began")
        return ContactSearch(question, _advance(question, self._state, _Turns(seconds)))


def read_budget(budget: Number | None) -> float | None:
    """Seconds, checked."""
    return None if budget is None else arrays.scalar(budget, "budget", least=0.0)


def search_within(
    a: Body, poses: Floats | None, b: Body | None, min_distance: float, limit: int, budget: Number
) -> ContactSearch:
    """A search for contacts, as far as it comes in so many seconds."""
    turns = _Turns(read_budget(budget))
    pose_a = a._pose[np.newaxis].copy() if poses is None else poses
    other = a if b is None else b
    own = Question(
        a,
        pose_a,
        other,
        other._pose.copy(),
        min_distance,
        limit,
        poses is not None,
        b is None,
        (shape_of(a), shape_of(other)),
    )
    k = len(pose_a)
    zeros = np.zeros(k)
    state = _State(
        tuple(range(k)), (), {}, {}, np.zeros(k, dtype=np.int64), np.zeros(k, dtype=np.int8),
        np.zeros(k, dtype=np.bool_), zeros, zeros, np.zeros((k, 3), dtype=np.int64),
    )  # fmt: skip
    return ContactSearch(own, _advance(own, state, turns))


# ---- turns


def _advance(question: Question, before: _State, turns: _Turns) -> _State:
    """What is known when there is no time for another turn."""
    state = before.copy()
    waiting, probing = deque(state.waiting), deque(state.probing)
    spare = np.zeros_like(state.work)  # what probes count is no part of the answer
    while (waiting or probing) and turns.next():
        if waiting:
            _take_turn(question, state, waiting, probing, turns.steps)
        else:
            _probe(question, state, probing, turns.steps, spare)
    for array in (state.counts, state.held, state.done, state.apart, state.near, state.work):
        array.flags.writeable = False
    return replace(state, waiting=tuple(waiting), probing=tuple(probing))


def _search(
    question: Question,
    state: _State,
    rule: Meet | Near | MeetItself,
    rows: list[int],
    steps: int,
    limit: int,
    work: Integers,
) -> tuple[list[int], list[Pairs]]:
    """Some steps of some queries: the heights of their stacks, which are kept in the state, and what each has found."""
    room = ROOM * 8 if len(rows) == 1 else ROOM
    stacks, heights = np.empty((len(rows), STACK), dtype=np.int64), np.full(len(rows), NOT_BEGUN)
    for k, row in enumerate(rows):
        if row in state.stacks:
            stacks[k], heights[k] = state.stacks[row]
    out, counts = np.empty((len(rows), room, 2), dtype=np.int32), np.zeros(len(rows), dtype=np.int64)
    with threads_for(len(rows), PARALLEL):
        search_some(
            question.a._handle,
            question.pose_a,
            question.b._handle,
            question.pose_b,
            rule,
            np.array(rows, dtype=np.int64),
            stacks,
            heights,
            out,
            limit,
            steps,
            counts,
            work,
        )
    for k, row in enumerate(rows):
        state.stacks[row] = stacks[k].copy(), int(heights[k])
    return heights.tolist(), [out[k, : counts[k]].copy() for k in range(len(rows))]


def _take_turn(question: Question, state: _State, waiting: deque[int], probing: deque[int], steps: int) -> None:
    """Some steps for the queries whose turn it is; those that are not done go to the end."""
    rows = [waiting.popleft() for _ in range(min(len(waiting), max(1, steps // LEAST_STEPS)))]
    each = max(LEAST_STEPS, steps // len(rows))
    heights, found = _search(question, state, question.rule, rows, each, question.limit, state.work)
    for row, height, pairs in zip(rows, heights, found, strict=True):
        if len(pairs):
            state.found[row] = (*state.found.get(row, ()), pairs)
            state.counts[row] += len(pairs)
        if height > 0:
            waiting.append(row)
            continue
        del state.stacks[row]
        state.done[row] = True
        itself = question.itself
        if not itself:
            state.held[row] = _find_holder(question, row, int(state.counts[row]))
        if state.counts[row] == 0 and state.held[row] == 0:
            state.apart[row] = question.min_distance * ROUNDED
            if not itself:
                probing.append(row)


def _find_holder(question: Question, row: int, count: int) -> int:
    """Which body lies inside the other, where no faces meet."""
    a, pose, b = question.a, question.pose_a[row], question.b
    if count == 0:
        maybe = may_be_held(a._handle, pose, b._handle, question.pose_b)
    else:
        maybe = question.min_distance > 0.0 and not meet(a, pose, b)
    return find_holder(a, pose, b, question.pose_b) if maybe else 0


def _known_gap(question: Question, row: int) -> float:
    """The distance of two corners, which surfaces are not farther apart than."""
    pose = question.pose_a[row]
    ends = [
        place[:3, :3] @ body._packets.tree.corners.reshape(-1, 3)[0] + place[:3, 3]
        for body, place in ((question.a, pose), (question.b, question.pose_b))
    ]
    return float(np.linalg.norm(ends[1] - ends[0])) * (1.0 + 1e-9)


def _probe(question: Question, state: _State, probing: deque[int], steps: int, spare: Integers) -> None:
    """Some steps of the question whether faces of the next query come within a distance that would tell most."""
    row = probing.popleft()
    if state.near[row] == 0.0:
        state.near[row] = _known_gap(question, row)
    low, high = float(state.apart[row]), float(state.near[row])
    if not low * NEAR_ENOUGH < high:
        return
    middle = float(np.sqrt(low) * np.sqrt(high)) if low > 0.0 else high / 8.0
    if not low < middle < high:
        return
    heights, found = _search(question, state, Near(middle), [row], steps, 1, spare)
    if heights[0] == 0:
        del state.stacks[row]
        if len(found[0]):
            state.near[row] = middle
        else:
            state.apart[row] = middle * ROUNDED
    probing.append(row)


def _contacts_of(question: Question, state: _State) -> Contacts:
    """The rows of all queries that are known."""
    found = [part for row in sorted(state.found) for part in state.found[row]]
    pairs = np.concatenate(found) if found else NO_PAIRS
    a, b = question.a, question.b
    if question.itself:
        order = a._packets.order
        swap = order[pairs[:, 0]] > order[pairs[:, 1]]
        pairs[swap] = pairs[swap, ::-1]
    if not question.has_poses:
        held = int(state.held[0])
        return Contacts(a, question.pose_a[0], b, question.pose_b, pairs, state.work[0], held)
    work = state.work.sum(axis=0)
    return Contacts(a, question.pose_a, b, question.pose_b, pairs, work, state.held, state.counts)
