"""One box against another in space: the fifteen axes of Gottschalk, Lin and Manocha (1996), and a lower bound of distance.

The first box is [−a, a] about the origin of its own coordinates; the second lies at t with axes m, where m[i][j] is
component i of its axis j. A box with axes A, center c and half lengths h is the set of x with |A_k·(x − c)| ≤ h_k: so the
change to its coordinates makes it exactly an aligned box, even where A is not exactly orthonormal.

**Rounding.** Any direction L whatever proves separation where t·L exceeds both radii along L. So take the computed axis for
L itself, and only the three numbers computed from it are in doubt. Let u = 2⁻⁵³ and s the sum of all half lengths and of the
magnitudes of centers and translation.
- t is off by less than 60u·s, with the rounding of vertices that were carried in floating point.
- m is off by less than 50u from the true axes: two products of three terms, and ORTHONORMAL. That is 90u·s in a radius.
- The radius of the second box along L, a face normal or a cross product that may nearly vanish, is read off m as if it
  were orthonormal. If no entry of mᵀm − I exceeds d, that is off by less than 4·d·s; ORTHONORMAL and rounding make d < 160u.
SLACK·s, with 1024u, exceeds the sum. A rotation that is itself not orthonormal adds its own d: DEFECTS·d·s covers it.
Products below 2⁻¹⁰⁷⁴ vanish: TINY exceeds them.
"""

import math
from typing import NamedTuple

from abut.core.jit import element
from abut.geometry.frames import turn, turn_back
from abut.geometry.vec import Vec3, norm

SLACK = 2.0**-43
"""Rounding slack of a test between boxes, as a part of their sizes and coordinates."""

DEFECTS = 8.0
"""Slack for a rotation that is not orthonormal, in multiples of its defect."""

TINY = 2.0**-1000

Matrix = tuple[Vec3, Vec3, Vec3]


class Box(NamedTuple):
    """One box in the frame of another set of volumes. axes[i][j] is component i of axis j.

    slack: what the other box's test adds to the radii. shrink: what a bound of distance is multiplied by.
    """

    center: Vec3
    axes: Matrix
    half: Vec3
    slack: float
    shrink: float


@element
def sum_abs(v: Vec3) -> float:
    """|x| + |y| + |z|."""
    return abs(v[0]) + abs(v[1]) + abs(v[2])


@element
def _magnitudes(m: Matrix) -> Matrix:
    return (
        (abs(m[0][0]), abs(m[0][1]), abs(m[0][2])),
        (abs(m[1][0]), abs(m[1][1]), abs(m[1][2])),
        (abs(m[2][0]), abs(m[2][1]), abs(m[2][2])),
    )


@element
def carry_box(
    center: Vec3, half: Vec3, rotation: Matrix, axes: Matrix, translation: Vec3, defect: float, slack: float
) -> Box:
    """A box of b in the frame of a. `rotation` carries its center, and `axes` are its axes there already."""
    moved = turn(rotation, center)
    moved = (moved[0] + translation[0], moved[1] + translation[1], moved[2] + translation[2])
    sides = half[0] + half[1] + half[2]
    reach = sides + sum_abs(center) + sum_abs(translation)
    return Box(
        moved, axes, half, slack + SLACK * reach + DEFECTS * defect * sides + TINY, 1.0 - DEFECTS * defect - SLACK
    )


@element
def _apart_along_cross(
    ta: float,
    tb: float,
    ma: float,
    mb: float,
    aa: float,
    ab: float,
    ba: float,
    bb: float,
    na: float,
    nb: float,
    slack: float,
) -> bool:
    """Along e × b: ta, tb, ma, mb, aa, ab are components of t, of the axis b and of half a beside e; ba, bb the half lengths
    of the second box beside b, and na, nb the components along e of those two axes."""
    return abs(tb * ma - ta * mb) > aa * abs(mb) + ab * abs(ma) + ba * abs(nb) + bb * abs(na) + slack


@element
def separate_boxes(t: Vec3, m: Matrix, a: Vec3, b: Vec3, slack: float) -> bool:
    """Whether one of the fifteen axes separates the box a from the box b at t with axes m, by more than `slack`.

    Cheapest first: the normals of a, those of b, the products of edges. Never true for boxes that touch (see above).
    """
    n = _magnitudes(m)
    r = turn(n, b)
    if abs(t[0]) > a[0] + r[0] + slack or abs(t[1]) > a[1] + r[1] + slack or abs(t[2]) > a[2] + r[2] + slack:
        return True
    s, r = turn_back(m, t), turn_back(n, a)
    if abs(s[0]) > b[0] + r[0] + slack or abs(s[1]) > b[1] + r[1] + slack or abs(s[2]) > b[2] + r[2] + slack:
        return True
    for i in range(3):
        # Coordinates turned so that e_i is the first: ta, tb and so on are the two others, in order.
        if i == 0:
            ta, tb, aa, ab, e, ma, mb = t[1], t[2], a[1], a[2], m[0], m[1], m[2]
        elif i == 1:
            ta, tb, aa, ab, e, ma, mb = t[2], t[0], a[2], a[0], m[1], m[2], m[0]
        else:
            ta, tb, aa, ab, e, ma, mb = t[0], t[1], a[0], a[1], m[2], m[0], m[1]
        if (
            _apart_along_cross(ta, tb, ma[0], mb[0], aa, ab, b[1], b[2], e[1], e[2], slack)
            or _apart_along_cross(ta, tb, ma[1], mb[1], aa, ab, b[2], b[0], e[2], e[0], slack)
            or _apart_along_cross(ta, tb, ma[2], mb[2], aa, ab, b[0], b[1], e[0], e[1], slack)
        ):
            return True
    return False


@element
def _outside(t: Vec3, near: Vec3, far: Vec3, slack: float) -> float:
    """The length of what is left of |t| beyond near + far + slack, component by component."""
    x = max(0.0, abs(t[0]) - near[0] - far[0] - slack)
    y = max(0.0, abs(t[1]) - near[1] - far[1] - slack)
    z = max(0.0, abs(t[2]) - near[2] - far[2] - slack)
    return norm((x, y, z))


@element
def bound_distance_boxes(t: Vec3, m: Matrix, a: Vec3, b: Vec3, slack: float, shrink: float) -> float:
    """A lower bound of the distance of the box a from the box b at t with axes m, less `slack`; 0 where none is known.

    The largest of three: from a to the aligned box about b, from b to the box along its axes about a, and the gap along
    the line of centers. Each is the length of a projection of the shortest connection, on axes whose lengths exceed 1 by
    less than 1 / shrink.
    """
    n = _magnitudes(m)
    gap = max(
        _outside(t, a, turn(n, b), slack),
        _outside(turn_back(m, t), b, turn_back(n, a), slack),
    )
    length = norm(t)
    if length > TINY:
        line = (t[0] / length, t[1] / length, t[2] / length)
        across = turn_back(m, line)
        radius_a = abs(line[0]) * a[0] + abs(line[1]) * a[1] + abs(line[2]) * a[2]
        radius_b = abs(across[0]) * b[0] + abs(across[1]) * b[1] + abs(across[2]) * b[2]
        gap = max(gap, length - radius_a - radius_b - slack)
    gap *= shrink
    return gap if gap > math.sqrt(TINY) else 0.0  # squares below it may have been rounded to a multiple of themselves
