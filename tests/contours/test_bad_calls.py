"""Whatever is passed to the public functions of contours: an answer, `InvalidInput` or `Unsupported`, nothing else."""

import inspect

import numpy as np
import pytest

from abut import InvalidInput, Unsupported, contours
from abut.contours import Animation, Contour
from abut.core import jit
from conftest import SOAK

SQUARE = Contour.from_polygon([(0, 0), (1, 0), (1, 1), (0, 1)])
ROUND = Contour([(0, 0), (2, 0), (2, 2), (0, 2)], 0.01)
ODD = [
    None, True, 0, -1, 1.5, 2**70, 1e60, 1e300, np.nan, np.inf, -np.inf, 1j, "", "abc", "M0 0h1v1z", b"x", object(), int, print,
    [], {}, {1}, (), [None], ["a"], [[]], [[1, 2], [3]], [(0, 0), (1, np.nan)], np.zeros(0), np.zeros((0, 3)), np.zeros((2, 3)),
    np.zeros((2, 3, 3)), np.zeros((1, 4, 2)), np.full((4, 2), np.inf), np.full((4, 2), 1e200), np.zeros((4, 2)), np.eye(3), np.eye(4),
    np.array("a"), np.array([1, "b"], object), np.ones((4, 2), bool), SQUARE, [SQUARE], [SQUARE, None], [SQUARE, SQUARE], Contour,
    (0.0, 0.0, 0.0), (0, 0, 1e12), [(0, 0, 0)], [(0, 0, 0), (3, 0, 0)], [(0, 0), (1, 0), (1, 1), (0, 1)], range(3), (x for x in "ab"),
]  # fmt: skip
SOUND = {
    "a": SQUARE, "b": ROUND, "contour": SQUARE, "contours": [SQUARE, ROUND], "poses": [(0, 0, 0), (3, 0, 0)], "pose": (0.5, 0, 0),
    "points": [(0, 0), (2, 2)], "segments": SQUARE.segments, "control_points": [(0, 0), (1, 0), (1, 1), (0, 1)],
    "corners": [(0, 0), (1, 0), (1, 1)], "path": "M0 0h1v1z", "parameters": [0.5], "tolerance": 0.1, "dt": 0.01, "count": 1,
    "pose_a_t0": (3, 0, 0), "pose_a_t1": (0, 0, 1),
}  # fmt: skip
STILL = Animation([SQUARE, ROUND], [(0, 0, 0), (3, 0, 0)])
TREE = SQUARE.boxes
FUNCTIONS = {
    f.__qualname__: f
    for f in (
        contours.collide, contours.collide_all, contours.contains, contours.distance, contours.meets, contours.pairs, contours.winding,
        contours.build_boxes, Contour, Contour.from_segments, Contour.from_polygon, Contour.from_svg, SQUARE.point, SQUARE.derivative,
        SQUARE.flatten, SQUARE.moved, ROUND.tolerance_boxes, TREE.validate, Animation, STILL.step, contours.time_of_impact,
    )
}  # fmt: skip


def call(name, rng):
    """One call with one to three arguments drawn from the odd values; the others are sound."""
    function = FUNCTIONS[name]
    parameters = list(inspect.signature(function).parameters.values())
    chosen = set(rng.choice(len(parameters), min(len(parameters), int(rng.integers(1, 4))), replace=False).tolist())
    arguments = {}
    for k, parameter in enumerate(parameters):
        if k in chosen:
            arguments[parameter.name] = ODD[rng.integers(len(ODD))]
        elif parameter.default is inspect.Parameter.empty:
            arguments[parameter.name] = SOUND[parameter.name]
    try:
        function(**arguments)
    except (InvalidInput, Unsupported):
        return
    except Exception as error:
        raise AssertionError(f"{name}({arguments}) raises {error!r}") from error


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_bad_calls_are_refused_by_name(name):
    rng = np.random.default_rng(5)
    for _ in range(20 if jit.INTERPRETED else 20_000 if SOAK else 150):
        call(name, rng)


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-165, 1e-100, 1e-76, 1e76, 1e150, 1e300])
def test_contours_beyond_the_stated_sizes_are_refused(scale):
    with pytest.raises(InvalidInput, match=r"1e-75|1e\+75"):
        Contour.from_polygon(np.array([(0, 0), (1, 0), (1, 1)]) * scale)
    with pytest.raises(InvalidInput):
        Contour(np.array([(0, 0), (1, 0), (1, 1), (0, 1)]) * scale)
