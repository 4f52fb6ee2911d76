"""No call ends otherwise than documented, whatever it is given: see bad_calls."""

import inspect
import zlib

import numpy as np
import pytest

import abut
from abut import broad, ccd, cells, contours, convex, dynamics, jit, shapes
from bad_calls import all_subjects, call_badly
from conftest import SOAK

pytestmark = [
    pytest.mark.skipif(jit.INTERPRETED, reason="kernels' borders are the same, and their loops take too long"),
    pytest.mark.large,
]
SUBJECTS = all_subjects()
EACH = 8000 if SOAK else 60
OPEN = {
    "World",
    "World.asleep",
    "World.closest",
    "World.poses",
    "World.ray",
    "World.remove",
    "World.spins",
    "World.velocities",
    "broad.SweepAndPrune.boxes",
    "broad.SweepAndPrune.remove",
    "broad.SweepAndPrune.update",
    "candidates",
    "ccd.filter_dnf",
    "ccd.filter_slpf",
    "ccd.join",
    "ccd.stream_candidates",
    "ccd.vertex_face",
    "collide",
    "contours.Contour.flatten",
    "convex.Hulls",
    "dynamics.MassSpring",
    "dynamics.ShapeMatching.remove",
    "dynamics.advance",
    "dynamics.bending_pairs",
    "save",
    "shapes.Soft",
    "shapes.Surface",
}
"""Where raw exceptions still come out; whoever mends one takes it from the list."""
NOT_ASKED = {
    "Environment": "made by the functions that build cells",
    "Marker": "of the maps: takes a count of darts",
    "Model": "a protocol",
    "ParticleModel": "the base of the models",
    "Shape": "the base of the shapes",
    "from_surface": "needs pytetwild",
    "build_boxes": "of arrays that Contour makes",
    "pairs": "of boxes that Contour makes",
    "winding": "of segments that Contour makes",
    "runge_kutta_4": "takes a function",
    "symplectic_euler": "takes a function",
    "velocity_verlet": "takes a function",
}


def test_every_public_function_is_asked():
    """What is added to the public surface is added to the table."""
    for part in (abut, broad, ccd, cells, contours, convex, dynamics, shapes):
        prefix = "" if part is abut else part.__name__.removeprefix("abut.") + "."
        for name in part.__all__:
            value = getattr(part, name)
            is_result = inspect.isclass(value) and (issubclass(value, tuple | int | Exception) or _is_result(value))
            if callable(value) and not is_result and name not in NOT_ASKED:
                assert prefix + name in SUBJECTS or name in SUBJECTS, prefix + name


def _is_result(value: type) -> bool:
    """Results are made by the library: dataclasses and their kin."""
    return hasattr(value, "__dataclass_fields__") or value.__name__ in ("Contacts", "Distance", "Moves")


CASES = [pytest.param(n, marks=pytest.mark.xfail(reason="open") if n in OPEN else ()) for n in SUBJECTS]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore:.*masked element:UserWarning")
def test_bad_calls_are_refused_by_name(name):
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    failures = [found for _ in range(EACH) if (found := call_badly(name, SUBJECTS[name], rng)) is not None]
    shown = "\n".join(sorted({str(failure) for failure in failures})[:8])
    assert not failures, f"{len(failures)} of {EACH}:\n{shown}"
