"""The contour: a closed curve of cubic segments, checked once and never changed, and what follows from it, computed on demand.

From control points of a closed uniform B-spline (smooth or rough, see `rough`), from polygons, from SVG outlines, from sampled points, or
from cubic Bézier segments as they are. However it was made, a contour is one array of segments whose ends meet bit by bit.

Contours may cross or touch themselves, have cusps, corners and segments of no length. A point lies inside where the winding number is
not zero. `orientation` says which side is inside where a contour does not cross itself.
"""

from functools import cached_property
from typing import Any, Literal, NoReturn, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abut.contours.curve import measures
from abut.contours.curve.boxes import Boxes, Fit, build_boxes
from abut.contours.curve.flattening import flatten
from abut.contours.curve.poses import PlanePoseLike, as_pose
from abut.contours.curve.rough import roughen, spline_segments
from abut.core import arrays
from abut.core.arrays import Floats, frozen
from abut.core.errors import InvalidInput
from abut.core.showing import count as counted
from abut.core.showing import describe
from abut.core.types import Number, PointsLike

Increment: TypeAlias = Literal["rivera", "bound"]
"""By what the basic boxes of a rough contour are grown: 0.9σ, or the largest deviation."""
LEAST_CONTROL_POINTS = 4
DETAIL = 8
"""Pieces of a rough segment by default."""
MOST_DETAIL = 1024
MOST_SEGMENTS = 2**30
LEAST_REACH = 1e-75
"""The largest coordinate of a contour is no less: squares of rounding (δ² of `meet.views`) and fourth powers are then numbers still."""
CLOSED = 1e-9
"""Ends of given segments that are further apart than this part of the largest coordinate do not meet."""


class Contour:
    """A closed curve of cubic segments, smooth or rough. Immutable; contours compare and hash by identity, and a pickle holds the segments.

    Args:
        control_points: (n,2), n ≥ 4, of a closed uniform cubic B-spline of n segments; the i-th is made by points i to i+3.
        roughness: σ, one number or (n,): standard deviation of the noise of each segment (Rivera 2002, §2.1; see `abut.contours.curve.rough`).
        detail: into how many pieces a segment of a rough contour is cut, a power of two.
        seed: of the noise.
        name: shown by `repr`, and in drawings the element's id.

    Examples:
        >>> from abut import contours
        >>> smooth = contours.Contour([(0, 0), (2, 0), (2, 2), (0, 2)])
        >>> smooth
        Contour(4 segments)
        >>> contours.Contour([(0, 0), (2, 0), (2, 2), (0, 2)], roughness=0.01, name="leaf")
        Contour('leaf', 32 segments)
        >>> print(f"{smooth.area:.3f} within {smooth.length:.3f}")
        2.711 within 5.841
    """

    segments: Floats
    """(n,4,2) Bézier control points of the curve itself, noise included; read-only"""
    base: Floats
    """(n,4,2) the segments without noise: `segments` itself where there is none"""
    roughness: Floats
    """(n,) σ of each base segment"""
    deviation: Floats
    """(n,) how far the curve is from each base segment at most"""
    name: str

    def __init__(
        self,
        control_points: PointsLike,
        roughness: ArrayLike = 0.0,
        *,
        detail: int = DETAIL,
        seed: int = 0,
        name: str = "",
    ) -> None:
        control = arrays.points(control_points, "control_points", dimensions=2)
        if len(control) < LEAST_CONTROL_POINTS:
            raise InvalidInput("control_points", f"has {len(control)} rows, a closed cubic spline needs at least 4")
        sigma = _per_segment(roughness, len(control))
        count = arrays.count(detail, "detail", least=1, most=MOST_DETAIL)
        if count & (count - 1):
            raise InvalidInput("detail", f"{count} is not a power of two")
        base = spline_segments(control)
        if sigma.any():
            rough, deviation = roughen(control, sigma, count, arrays.count(seed, "seed"))
            self._set(rough, name, base, sigma, deviation)
        else:
            self._set(base, name, base, sigma, np.zeros(len(base)))

    def _set(self, segments: Floats, name: str, base: Floats, roughness: Floats, deviation: Floats) -> None:
        arrays.instance(name, "name", str)
        if len(segments) > MOST_SEGMENTS:
            raise InvalidInput("segments", f"{len(segments)} are more than {MOST_SEGMENTS}")
        largest = float(np.abs(segments).max())
        if not LEAST_REACH <= largest <= arrays.LARGEST_COORDINATE:
            raise InvalidInput(
                "contour",
                f"its largest coordinate is {largest:g}, not between {LEAST_REACH:g} and {arrays.LARGEST_COORDINATE:g}",
            )
        segments, base = np.ascontiguousarray(segments), np.ascontiguousarray(base)
        self.__dict__.update(
            segments=frozen(segments),
            base=frozen(base),
            roughness=frozen(roughness),
            deviation=frozen(deviation),
            name=name,
        )

    @classmethod
    def _of(cls, segments: Floats, name: str = "") -> "Contour":
        self = cls.__new__(cls)
        self._set(segments, name, segments, np.zeros(len(segments)), np.zeros(len(segments)))
        return self

    # --- other sources

    @classmethod
    def from_segments(cls, segments: ArrayLike, *, name: str = "") -> "Contour":
        """A contour of cubic Bézier segments as they are.

        Args:
            segments: (n,4,2) control points, each segment beginning where the one before ends, the first where the last ends. Ends may be off
                by 1e-9 of the largest coordinate; they are then moved onto the beginning of the next segment.
            name: as of `Contour`.

        Returns:
            The contour.
        """
        array = arrays.coordinates(segments, "segments", (None, 4, 2)).copy()
        if not len(array):
            raise InvalidInput("segments", "is empty: a contour has at least one segment")
        after = np.roll(array[:, 0], -1, axis=0)
        gap = np.abs(array[:, 3] - after).max(axis=1)
        open_ends = np.flatnonzero(gap > CLOSED * np.abs(array).max())
        if len(open_ends):
            row = int(open_ends[0])
            raise InvalidInput("segments", f"ends {gap[row]:.3g} away from the beginning of the next", row)
        array[:, 3] = after
        return cls._of(array, name)

    @classmethod
    def from_polygon(cls, corners: PointsLike, *, name: str = "") -> "Contour":
        """A contour of straight segments.

        Args:
            corners: (n,2), n ≥ 3, in either direction. A corner equal to the next, or a last equal to the first, is left out.
            name: as of `Contour`.

        Returns:
            The contour.
        """
        points = arrays.points(corners, "corners", dimensions=2)
        if len(points):
            points = points[(points != np.roll(points, -1, axis=0)).any(axis=1)]
        if len(points) < 3:
            raise InvalidInput("corners", f"has {len(points)} different corners, a polygon has at least 3")
        return cls._of(straight_segments(points, np.roll(points, -1, axis=0)), name)

    @classmethod
    def from_svg(cls, path: str, *, name: str = "") -> "Contour":
        """The outline that SVG path data describe.

        Args:
            path: data such as "M0 0 C…Z": one closed subpath. For files see `abut.contours.svg`.
            name: as of `Contour`.

        Returns:
            The contour, in the data's coordinates.
        """
        from abut.contours import svg

        outlines = svg.parse_path(arrays.instance(path, "path", str))
        if len(outlines) != 1:
            raise InvalidInput("path", f"has {len(outlines)} closed subpaths, expected 1")
        return cls._of(outlines[0], name)

    @classmethod
    def fit(cls, points: PointsLike, control_count: int | None = None, *, name: str = "") -> "Contour":
        """The closed B-spline through points, or nearest to them.

        Args:
            points: (m,2) in their order along the contour.
            control_count: how many control points the spline has, at most m; as many as there are points by default, and it goes through all of
                them.
            name: as of `Contour`.

        Returns:
            The contour.
        """
        from abut.contours.curve.fitting import fit_control

        return cls(fit_control(points, control_count), name=name)

    # --- an object that does not change

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Contour does not change: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Contour does not change: cannot delete {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        kept = ("segments", "base", "roughness", "deviation", "name")
        return {key: self.__dict__[key] for key in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set(state["segments"], state["name"], state["base"], state["roughness"], state["deviation"])

    def __len__(self) -> int:
        return len(self.segments)

    def __repr__(self) -> str:
        label = [repr(self.name)] if self.name else []
        return describe(self, *label, counted(len(self.segments), "segment"))

    def _repr_svg_(self) -> str:
        from abut.contours.curve.drawing import draw_curves

        return draw_curves([self.segments])

    # --- the curve

    def point(self, parameters: ArrayLike) -> Floats:
        """Points of the curve.

        Args:
            parameters: (k,) i + t is the point t of segment i; parameters repeat with the number of segments.

        Returns:
            (k,2) points.
        """
        return self._evaluate(parameters, measures.bernstein)

    def derivative(self, parameters: ArrayLike) -> Floats:
        """First derivatives of the curve by the parameter.

        Args:
            parameters: (k,) as of `point`.

        Returns:
            (k,2) vectors along the curve.
        """
        return self._evaluate(parameters, measures.bernstein_slope)

    def _evaluate(self, parameters: ArrayLike, weights: Any) -> Floats:
        at = arrays.coordinates(parameters, "parameters", (None,))
        whole = np.floor(at)
        rows = self.segments[np.mod(whole, len(self.segments)).astype(np.int64)]
        return frozen(np.einsum("ki,kid->kd", weights(at - whole), rows))

    @cached_property
    def lengths(self) -> Floats:
        """(n,) arc length of each segment."""
        return frozen(measures.lengths(self.segments))

    @property
    def length(self) -> float:
        """Arc length."""
        return float(self.lengths.sum())

    @cached_property
    def moments(self) -> measures.Moments:
        """Signed area, centroid and inertia for unit density."""
        return measures.moments(self.segments)

    @property
    def area(self) -> float:
        """Area within, not negative; of a contour that crosses itself, the absolute sum of the signed parts."""
        return abs(self.moments.area)

    @property
    def orientation(self) -> int:
        """+1 where the contour runs anticlockwise (x to the right, y up), −1 where clockwise."""
        return 1 if self.moments.area >= 0.0 else -1

    @property
    def centroid(self) -> Floats:
        """(2,) center of the area within."""
        return np.array([self.moments.x, self.moments.y])

    @property
    def inertia(self) -> float:
        """Second moment of the area about the centroid."""
        return abs(self.moments.inertia)

    @cached_property
    def bounds(self) -> Floats:
        """(2,2) least and largest x and y of the curve itself, to rounding."""
        from abut.contours.curve.boxes import find_bounds

        return frozen(find_bounds(self.segments))

    def flatten(self, tolerance: Number, *, outer: bool = False) -> Floats:
        """A polygon near the curve, in the same direction.

        Args:
            tolerance: how far the polygon may be from the curve. One that asks for hundreds of thousands of corners is refused.
            outer: the polygon holds the whole contour but for rounding (8u·M, M the largest coordinate), if the contour does not cross itself.

        Returns:
            (m,2) corners.
        """
        allowed = arrays.positive(tolerance, "tolerance")
        return frozen(flatten(self.segments, allowed, outer=self.orientation if arrays.flag(outer, "outer") else 0))

    def moved(self, pose: PlanePoseLike) -> "Contour":
        """The contour turned and moved, as a new contour with coordinates of its own.

        Args:
            pose: (3,) x, y and angle in radians, or a (3,3) matrix.

        Returns:
            The new contour.
        """
        k, s, x, y = as_pose(pose)

        def move(segments: Floats) -> Floats:
            px, py = segments[..., 0], segments[..., 1]
            return np.stack([k * px - s * py + x, s * px + k * py + y], axis=-1)

        result = type(self).__new__(type(self))
        segments = move(self.segments)
        base = segments if self.base is self.segments else move(self.base)
        result._set(segments, self.name, base, self.roughness, self.deviation)
        return result

    # --- boxes

    @cached_property
    def boxes(self) -> Boxes:
        """The tree of boxes around the curve itself, noise included: what contacts are searched with."""
        return build_boxes(self.segments)

    def tolerance_boxes(self, *, fit: Fit = "basic", increment: Increment = "rivera") -> Boxes:
        """The tree of Rivera 2002, §3.1, around the base segments, its basic boxes grown by a tolerance for the noise.

        Args:
            fit: "basic", upper boxes fitted to the corners of the basic boxes below, O(n log n); "children", to those of the two boxes below,
                O(n).
            increment: "rivera" for λi = 0.9σi, which noise may exceed; "bound" for the largest deviation, which always holds.

        Returns:
            The 2n − 1 boxes of n base segments.
        """
        if not isinstance(increment, str) or increment not in ("rivera", "bound"):
            raise InvalidInput("increment", f"{increment!r} is neither 'rivera' nor 'bound'")
        grown = 0.9 * self.roughness if increment == "rivera" else self.deviation
        return build_boxes(self.base, grown, fit)

    @cached_property
    def _handle(self) -> tuple[int, NDArray[np.int64]]:
        """Where kernels find the contour: the address of a table of addresses, and the table, which must stay alive."""
        table = self.boxes.table(self.segments, self.orientation)
        return table.ctypes.data, table


def straight_segments(start: Floats, end: Floats) -> Floats:
    """(n,4,2) cubic form of straight lines."""
    third = (end - start) / 3.0
    return np.stack([start, start + third, end - third, end], axis=1)


def _per_segment(roughness: ArrayLike, count: int) -> Floats:
    raw = arrays.as_array(roughness, "roughness")
    if raw.ndim == 0:
        return np.full(count, arrays.scalar(roughness, "roughness", least=0.0))
    sigma = arrays.coordinates(roughness, "roughness", (count,))
    negative = np.flatnonzero(sigma < 0.0)
    if len(negative):
        raise InvalidInput("roughness", f"{sigma[negative[0]]:g} is negative", int(negative[0]))
    return sigma.copy()
