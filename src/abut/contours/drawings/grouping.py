"""Marks sorted into parts: which closed curve is an outline, which a hole, and which mark lies in which part.

A closed curve in no other is an outline. Within a part's outline, and in none of its holes, it is a hole where it has the outline's paint,
else a mark: what
is engraved does not become a hole. Curves of one filled element follow its fill rule. In a hole begins another part. Open curves and texts
belong to the innermost outline around them.

Containment is decided on polygons within FLATNESS of the curves. Curves that cross or touch one another are not within one another.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from abut.contours.curve.contour import Contour
from abut.contours.drawings.marks import Mark, Part
from abut.core.arrays import Floats
from abut.core.errors import InvalidInput

FLATNESS = 1e-4
"""Of a curve's size."""
FLATTEST = 1e-9
"""Of a curve's size: one that is no wider encloses nothing."""
SAMPLES = 9
"""Points of an open curve that are looked at: it belongs to a part that holds most of them."""


@dataclass(eq=False)
class _Ring:
    """A closed curve."""

    mark: int
    curve: int
    contour: Contour
    polygon: Floats
    area: float
    around: list["_Ring"] = field(default_factory=list)
    """rings that hold it, the largest first"""
    role: str = "mark"
    """outline, hole or mark"""
    part: "_Ring | None" = None
    """the outline that it belongs to"""


def holds(polygon: Floats, points: Floats) -> NDArray[np.bool_]:
    """Which points lie inside the polygon (even-odd)."""
    a, b = polygon, np.roll(polygon, -1, axis=0)
    x, y = points[:, 0, None], points[:, 1, None]
    crosses = (a[:, 1] > y) != (b[:, 1] > y)
    rise = np.where(crosses, b[:, 1] - a[:, 1], 1.0)
    return np.asarray((crosses & (a[:, 0] + (y - a[:, 1]) / rise * (b[:, 0] - a[:, 0]) > x)).sum(axis=1) % 2 == 1)


def _do_cross(a: Floats, b: Floats) -> bool:
    p, q, r, s = a[:, None], np.roll(a, -1, axis=0)[:, None], b[None], np.roll(b, -1, axis=0)[None]

    def side(u: Floats, v: Floats, w: Floats) -> Floats:
        return np.sign((v - u)[..., 0] * (w - u)[..., 1] - (v - u)[..., 1] * (w - u)[..., 0])

    return bool(((side(p, q, r) * side(p, q, s) <= 0.0) & (side(r, s, p) * side(r, s, q) <= 0.0)).any())


def _make_rings(marks: list[Mark], warnings: list[str]) -> list[_Ring]:
    rings: list[_Ring] = []
    for number, mark in enumerate(marks):
        for k, (curve, is_closed) in enumerate(zip(mark.curves, mark.closed, strict=True)):
            if not is_closed:
                continue
            try:
                contour = Contour.from_segments(curve, name=mark.label)
            except InvalidInput as error:
                raise InvalidInput(mark.name, f"its outline {error.reason}") from error
            extent = float((contour.bounds[1] - contour.bounds[0]).max())
            polygon = contour.flatten(FLATNESS * extent) if extent > 0.0 else contour.segments[:, 0]
            x, y = (polygon - polygon[0]).T
            area = 0.5 * float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum())
            if len(polygon) < 3 or np.linalg.svd(polygon - polygon[0], compute_uv=False)[1] <= FLATTEST * extent:
                warnings.append(f"{mark.name}: encloses nothing, left out")
                continue
            rings.append(_Ring(number, k, contour, polygon, area))
    return rings


def _find_containment(rings: list[_Ring]) -> None:
    """Fill `around` of each ring."""
    boxes = np.array([[*ring.polygon.min(axis=0), *ring.polygon.max(axis=0)] for ring in rings]).reshape(-1, 4)
    sizes = np.array([abs(ring.area) for ring in rings])
    for k, ring in enumerate(rings):
        near = (
            (boxes[:, :2] <= boxes[k, :2]).all(axis=1) & (boxes[:, 2:] >= boxes[k, 2:]).all(axis=1) & (sizes > sizes[k])
        )
        for j in np.flatnonzero(near)[np.argsort(-sizes[near], kind="stable")].tolist():
            other = rings[j]
            if bool(holds(other.polygon, ring.polygon).all()) and not _do_cross(other.polygon, ring.polygon):
                ring.around.append(other)


def _is_boundary(ring: _Ring, mark: Mark) -> bool:
    """Whether material ends at the ring, as the fill rule of its element says."""
    same = [other for other in ring.around if other.mark == ring.mark]
    if mark.style.get("fill", "none") == "none" or mark.style.get("fill-rule", "nonzero") == "evenodd":
        return True
    outside = sum(1 if other.area > 0.0 else -1 for other in same)
    return (outside == 0) != (outside + (1 if ring.area > 0.0 else -1) == 0)


def _assign(rings: list[_Ring], marks: list[Mark]) -> None:
    """Roles, from the outside inwards."""
    for ring in sorted(rings, key=lambda ring: -abs(ring.area)):
        inner = [other for other in ring.around if other.role != "mark"]
        within = inner[-1] if inner else None
        if within is None or within.role == "hole":
            ring.role, ring.part = "outline", ring
            continue
        ring.part = within.part
        assert within.part is not None
        if marks[within.part.mark].paint == marks[ring.mark].paint and _is_boundary(ring, marks[ring.mark]):
            ring.role = "hole"


def _innermost(rings: list[_Ring], boxes: Floats, points: Floats) -> _Ring | None:
    """The smallest outline that holds most of the points."""
    found: _Ring | None = None
    in_box = ((points[:, None] >= boxes[:, :2]) & (points[:, None] <= boxes[:, 2:])).all(axis=2).sum(axis=0)
    for k in np.flatnonzero(2 * in_box > len(points)).tolist():
        ring = rings[k]
        if holds(ring.polygon, points).sum() * 2 > len(points) and (found is None or abs(ring.area) < abs(found.area)):
            found = ring
    return found


def _sample(curve: Floats) -> Floats:
    """Points along an open curve, not its ends."""
    t = len(curve) * (np.arange(SAMPLES) + 0.5) / SAMPLES
    k = np.minimum(t.astype(np.int64), len(curve) - 1)
    s = (t - k)[:, None]
    p = curve[k]
    return (1 - s) ** 3 * p[:, 0] + 3 * s * (1 - s) ** 2 * p[:, 1] + 3 * s**2 * (1 - s) * p[:, 2] + s**3 * p[:, 3]


def group(marks: list[Mark], warnings: list[str]) -> tuple[list[Part], list[Mark]]:
    """Parts in the order of their outlines, and open curves and texts that lie in none."""
    rings = _make_rings(marks, warnings)
    _find_containment(rings)
    _assign(rings, marks)
    outlines = [ring for ring in rings if ring.role == "outline"]
    boxes = np.array([[*ring.polygon.min(axis=0), *ring.polygon.max(axis=0)] for ring in outlines]).reshape(-1, 4)
    number = {id(ring): k for k, ring in enumerate(outlines)}
    holes: list[list[Contour]] = [[] for _ in outlines]
    own: list[dict[int, list[int]]] = [{} for _ in outlines]  # of each part, its marks with their curves
    for ring in rings:
        assert ring.part is not None
        own[number[id(ring.part)]].setdefault(ring.mark, []).append(ring.curve)
        if ring.role == "hole":
            holes[number[id(ring.part)]].append(ring.contour)
    outside: list[Mark] = []
    for k, mark in enumerate(marks):
        loose = [i for i, is_closed in enumerate(mark.closed) if not is_closed]
        for i in loose if mark.curves else [-1]:
            around = _innermost(outlines, boxes, _sample(mark.curves[i]) if mark.curves else mark.anchor[None])
            if around is None:
                outside.append(mark if len(mark.curves) < 2 else mark.with_curves([mark.curves[i]], [False]))
            else:
                own[number[id(around)]].setdefault(k, []).append(i)
    parts: list[Part] = []
    for ring, kept, inner in zip(outlines, own, holes, strict=True):
        taken: list[Mark] = []
        for k in sorted(kept):
            mark, curves = marks[k], sorted(kept[k])
            if len(curves) < len(mark.curves):
                mark = mark.with_curves([mark.curves[i] for i in curves], [mark.closed[i] for i in curves])
            taken.append(mark)
        parts.append(Part(ring.contour, inner, taken, name=marks[ring.mark].label))
    return parts, outside
