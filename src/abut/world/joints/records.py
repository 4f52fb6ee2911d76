"""A joint and its rows: one row for each thing that a joint does to one of its coordinates (`coordinates`).

A row takes the relative velocity v of its coordinate to v + softness·λ + bias = 0 with an impulse λ from `least` to `most`; rows that hold a lock
or a limit take the coordinate itself to its goal. The impulse acts along `linear` at one point of space on both bodies, and about what the axis adds:
`turn_a` and `turn_b` are its moments about the two centers.
"""

from typing import NamedTuple

from abut.core.arrays import Floats, Integers
from abut.core.records import Records, record

HOLD, SPRING, MOTOR = 0, 1, 2
"""A lock or limit; a spring with a damper; a motor, or friction, which is a motor that stands still."""

JOINT = record(
    ("body_a", "i8"),  # or the first particle of a bone, or ALONE for the world
    ("body_b", "i8"),
    ("end_a", "i8"),  # its second particle, or ALONE
    ("end_b", "i8"),
    ("share_a", "f8"),  # where on a bone: 0 at its first particle, 1 at the second
    ("share_b", "f8"),
    ("turns_a", "?"),  # whether the side is a body that turns
    ("turns_b", "?"),
    ("lead", "f8"),  # the point that impulses act at: 0 that of a, 1 that of b
    ("point_a", "f8", 3),  # from the centers of mass, in the bodies' frames
    ("point_b", "f8", 3),
    ("frame_a", "f8", 4),  # axes in the bodies' frames; x is the axis of twist
    ("frame_b", "f8", 4),
    ("twist", "f8"),  # with whole turns
    ("first_row", "i8"),
    ("stop_row", "i8"),
    ("column", "i8"),  # of its first row that is solved for
    ("force", "f8", 3),  # impulses on b in the step
    ("torque", "f8", 3),  # about the point
)

ROW = record(
    ("coordinate", "i8"),
    ("kind", "i8"),
    ("low", "f8"),  # of a lock or limit
    ("high", "f8"),
    ("stiffness", "f8"),  # of a spring
    ("damping", "f8"),
    ("rest", "f8"),
    ("speed", "f8"),  # of a motor
    ("most_force", "f8"),  # of a spring or motor
    ("linear", "f8", 3),
    ("turn_a", "f8", 3),
    ("turn_b", "f8", 3),
    ("spun_a", "f8", 3),  # by the inverse inertia
    ("spun_b", "f8", 3),
    ("weight", "f8"),  # how much a unit impulse changes the velocity of the coordinate
    ("value", "f8"),  # of the coordinate
    ("goal", "f8"),
    ("side", "i8"),  # of a limit: −1 low, 1 high; 0 a lock
    ("softness", "f8"),
    ("bias", "f8"),
    ("least", "f8"),
    ("most", "f8"),
    ("impulse", "f8"),
    ("rate", "f8"),  # what is left to solve for
    ("is_given", "?"),  # a spring so slow that it pushes like gravity
    ("is_solved", "?"),  # neither at rest at a bound, nor given
)


class Rack(NamedTuple):
    """The joints of a step, those that hang together near one another, and room to solve for their rows together."""

    joints: Records
    rows: Records
    offsets: Integers
    """(n+1,) of each joint's neighbors"""
    neighbors: Integers
    """joints before it that share a body with it, ascending"""
    active: Integers
    """(m,) rows that are solved for, a column each"""
    begin: Integers
    """(m,) the first column that a row of the matrix has an entry in"""
    offset: Integers
    """(m,) where that entry stands"""
    matrix: Floats
    pivot: Floats
    solution: Floats
    state: Integers
    """(3,) columns, whether the matrix is that of now, and whether any row has bounds"""
