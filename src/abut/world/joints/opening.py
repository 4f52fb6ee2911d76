"""From the joints of a world to what the kernels take: rows in a good order, neighbors, and room."""

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import reverse_cuthill_mckee

from abut.core.arrays import Floats, Integers
from abut.core.records import Records
from abut.impulses.records import ALONE
from abut.world.joints.coordinates import DISTANCE
from abut.world.joints.records import HOLD, JOINT, ROW, Rack
from abut.world.joints.table import WORLD, Joints


class Strings(NamedTuple):
    """Links between particles that are solved for with the joints."""

    ends: Integers
    """(n,2) rows of bodies"""
    low: Floats
    """(n,) bounds of their lengths"""
    high: Floats


class Opened(NamedTuple):
    """Joints of a step."""

    rack: Rack
    which: Integers
    """(n,) their rows in the table, ascending"""
    back: Integers
    """(m,) which of the rack's rows each of their rows there is"""
    place: Integers
    """(n,) which of the rack's joints each of them is"""
    sides: Integers
    """(n,4) the bodies and particles that they act on, ALONE for none"""

    @property
    def joints(self) -> Records:
        """(n,) as the step left them, in the order of the table."""
        return self.rack.joints[self.place]

    @property
    def rows(self) -> Records:
        """(m,)"""
        return self.rack.rows[self.back]


def open_joints(
    table: Joints,
    bodies: Records,
    ends: Integers,
    strings: Strings,
    soft: NDArray[np.bool_],
    awake: NDArray[np.bool_],
    dt: float,
    substeps: int,
) -> Opened:
    """The joints whose bodies are awake (n,). ends (n,2): the particles that stand for a body, ALONE for none. soft (n,): bodies of which that is the
    first particle, and the share of a joint says which one it holds."""
    known = np.append(awake, False)
    which = np.flatnonzero(known[table.slots].any(axis=1) & ~table.broken)
    if len(which) == 0 and len(strings.ends) == 0:
        return _open_none()
    joints = np.zeros(len(which), JOINT)
    joints[:] = table.joints[which]
    for k, side in enumerate("ab"):
        slots = table.slots[which, k]
        pair = np.where((slots == WORLD)[:, np.newaxis], ALONE, ends[slots])
        linked = pair[:, 0] != ALONE
        joints[f"turns_{side}"] = ~linked & (slots != WORLD)
        joints[f"body_{side}"] = np.where(linked, pair[:, 0], slots)
        held = linked & np.append(soft, False)[slots]
        joints[f"body_{side}"][held] += joints[f"share_{side}"][held].astype(np.int64)
        joints[f"end_{side}"] = np.where(linked & (pair[:, 0] != pair[:, 1]), pair[:, 1], ALONE)
        joints[f"share_{side}"][joints[f"end_{side}"] == ALONE] = 0.0
    joints = _append_strings(joints, strings)
    is_point = ~joints["turns_a"] & (joints["body_a"] != ALONE) & (joints["turns_b"] | (joints["body_b"] == ALONE))
    joints["lead"] = np.where(is_point, 0.0, 1.0)
    joints["force"] = joints["torque"] = 0.0
    sides = np.stack([joints[name] for name in ("body_a", "end_a", "body_b", "end_b")], axis=1)
    order, offsets, neighbors = _order(sides, bodies["inverse_mass"])
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    mine = np.flatnonzero(np.isin(table.owner, which))
    owner = place[np.concatenate((np.searchsorted(which, table.owner[mine]), np.arange(len(which), len(joints))))]
    back = np.empty(len(owner), np.int64)
    sorting = np.argsort(owner, kind="stable")
    back[sorting] = np.arange(len(owner))
    rows = np.zeros(len(owner), ROW)
    rows[back[: len(mine)]] = table.rows[mine]
    rows["impulse"] *= dt / substeps
    taut = back[len(mine) :]
    rows["coordinate"][taut], rows["kind"][taut] = DISTANCE, HOLD
    rows["low"][taut] = np.where((strings.low > 0.0) | (strings.low == strings.high), strings.low, -np.inf)
    rows["high"][taut] = strings.high
    joints[:] = joints[order]
    stops = np.searchsorted(owner[sorting], np.arange(len(order)), side="right")
    joints["stop_row"] = stops
    joints["first_row"][1:] = stops[:-1]
    joints["first_row"][:1] = 0
    return Opened(_make_rack(joints, rows, offsets, neighbors), which, back[: len(mine)], place[: len(which)], sides)


@functools.cache
def _open_none() -> Opened:
    """No joints: nothing is written to what has no rows."""
    nothing = np.empty(0, np.int64)
    rack = _make_rack(np.zeros(0, JOINT), np.zeros(0, ROW), np.zeros(1, np.int64), nothing)
    return Opened(rack, nothing, nothing, nothing, np.empty((0, 4), np.int64))


def _append_strings(joints: Records, strings: Strings) -> Records:
    """The joints, and behind them one between two particles for each link."""
    count = len(joints)
    both = np.zeros(count + len(strings.ends), JOINT)
    both[:count], added = joints, both[count:]
    added["body_a"], added["body_b"] = strings.ends.T
    added["end_a"] = added["end_b"] = ALONE
    added["frame_a"] = added["frame_b"] = (1.0, 0.0, 0.0, 0.0)
    return both


def _make_rack(joints: Records, rows: Records, offsets: Integers, neighbors: Integers) -> Rack:
    firsts = joints["first_row"].copy()
    has = offsets[1:] > offsets[:-1]
    lowest = firsts.copy()
    lowest[has] = firsts[neighbors[offsets[:-1][has]]]
    counts = joints["stop_row"] - firsts
    size = int((counts * (joints["stop_row"] - lowest)).sum())
    bounded = ((rows["kind"] == 0) & (rows["low"] < rows["high"])) | (
        (rows["kind"] != 0) & (rows["most_force"] < np.inf)
    )
    begin, offset, active = np.zeros((3, len(rows)), np.int64)
    pivot, solution = np.zeros((2, len(rows)))
    state = np.array([0, 0, int(bounded.any())], np.int64)
    return Rack(joints, rows, offsets, neighbors, active, begin, offset, np.zeros(size), pivot, solution, state)


def _order(sides: Integers, inverse_mass: np.ndarray) -> tuple[Integers, Integers, Integers]:
    """An order of joints in which those that share a body are near, and of each its neighbors before it."""
    count = len(sides)
    if count == 0:
        return np.empty(0, np.int64), np.zeros(1, np.int64), np.empty(0, np.int64)
    joint, column = np.nonzero((sides != ALONE) & (inverse_mass[sides] > 0.0))
    body = sides[joint, column]
    meets = csr_matrix((np.ones(len(joint)), (joint, body)), (count, int(sides.max()) + 1))
    shared = csr_matrix(meets @ meets.T)
    order = reverse_cuthill_mckee(shared, symmetric_mode=True).astype(np.int64)
    ordered = csr_matrix(shared[order][:, order]).tocoo()
    before = ordered.col < ordered.row
    row, other = ordered.row[before].astype(np.int64), ordered.col[before].astype(np.int64)
    sorting = np.lexsort((other, row))
    offsets = np.searchsorted(row[sorting], np.arange(count + 1)).astype(np.int64)
    return order, offsets, other[sorting]
