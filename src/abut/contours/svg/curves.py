"""Lines, quadratic curves and elliptical arcs as cubic ones; points are complex numbers.

Lines and quadratic curves become cubic ones exactly. An arc is cut into pieces of at most ARC_PIECE and each replaced by the usual cubic, which is
off by less than 7e-8 of the radius. An arc is placed from its beginning, not from its center: where the radius is much larger than the chord, no
difference of large numbers is taken.
"""

import cmath
import math

from abut.core.arrays import LARGEST_COORDINATE
from abut.core.errors import InvalidInput

ARC_PIECE = math.pi / 8
"""Largest angle of one cubic of an arc: error 6.6e-8 of the radius."""
ROUNDING = 1e-12
"""Of a piece: an arc that is longer by rounding gets no piece more."""
HALF_CIRCLE = 1.0 - 2.0**-51
"""Of the diameter: a chord that is longer is one. Near a half circle, the last bit of the chord moves the centre by 1e-8 of the radius."""
FLATTEST = 1e-150
"""Of the larger radius: with a smaller one, lengths on the unit circle are no numbers."""
Point = complex
Cubic = tuple[Point, Point, Point, Point]


def line(start: Point, end: Point) -> Cubic:
    """A straight line."""
    return (start, start + (end - start) / 3.0, end - (end - start) / 3.0, end)


def quadratic(start: Point, control: Point, end: Point) -> Cubic:
    """A quadratic Bézier curve."""
    return (start, start + (control - start) * (2.0 / 3.0), end + (control - end) * (2.0 / 3.0), end)


def arc(start: Point, radii: Point, turn: float, large: bool, sweep: bool, end: Point, name: str) -> list[Cubic]:
    """An elliptical arc (SVG 1.1, appendix F.6): radii are taken without sign, and enlarged where the ends are further apart than they reach.

    On the circle of radius `size` that the ellipse becomes when its axes are made equal, the chord is `length` long, and half of the arc's angle
    is that whose sine is length / 2size, or its supplement."""
    rx, ry = abs(radii.real), abs(radii.imag)
    if start == end:
        return []
    if rx == 0.0 or ry == 0.0:
        return [line(start, end)]
    size = max(rx, ry)
    rx, ry = rx / size, ry / size
    if min(rx, ry) < FLATTEST:
        raise InvalidInput(name, f"an arc's radii, {abs(radii.real):g} and {abs(radii.imag):g}, are too different")
    frame = cmath.rect(1.0, turn)
    chord = (start - end) * frame.conjugate()
    x, y = chord.real / rx, chord.imag / ry
    length = math.hypot(x, y)
    if length == 0.0:
        return [line(start, end)]
    size = max(size, 0.5 * length)
    if size > LARGEST_COORDINATE:
        raise InvalidInput(name, f"an arc's radii, enlarged to join its ends, are beyond {LARGEST_COORDINATE:g}")
    sine = 0.5 * (length / size)
    angle = math.asin(sine if sine < HALF_CIRCLE else 1.0)
    angle = math.pi - angle if large else angle
    side = 1.0 if sweep else -1.0
    first = complex(x / length, y / length) * complex(0.0, side) * cmath.rect(1.0, -side * angle)
    count = max(1, math.ceil(2.0 * angle / ARC_PIECE - ROUNDING))
    step = 2.0 * side * angle / count
    reach = 4.0 / 3.0 * math.tan(0.25 * step)

    def to_plane(step: complex) -> Point:
        return size * complex(rx * step.real, ry * step.imag) * frame

    cubics: list[Cubic] = []
    p, before = first, start
    for i in range(count):
        q = first * cmath.rect(1.0, (i + 1) * step)
        after = end if i == count - 1 else start + to_plane(q - first)
        cubics.append((before, before + to_plane(reach * 1j * p), after - to_plane(reach * 1j * q), after))
        p, before = q, after
    return cubics
