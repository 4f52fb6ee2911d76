"""No call ends otherwise than documented, whatever it is given: see bad_calls."""

import inspect

import numpy as np
import pytest

import abut
from abut import InvalidInput, broad, ccd, cells, contours, convex, dynamics, scenes, shapes
from abut.core import jit
from bad_calls import call_badly
from bad_subjects import BALL, CUBE, all_subjects
from conftest import SOAK
from public_surface import members_of

PARTS = (abut, broad, ccd, cells, contours, convex, dynamics, scenes, shapes)
SUBJECTS = all_subjects()
EACH = -(-(10**6) // round(0.9 * len(SUBJECTS))) if SOAK else 40
"""Calls of each: with `make soak` 10⁶ bad ones in all, beside a tenth that are good ones in another form."""
NOT_ASKED = {
    "Boxes.table": "gives addresses to kernels",
    "Environment": "made by the functions that build cells",
    "Model": "a protocol",
    "ParticleModel": "the base of the models",
    "Shape": "the base of the shapes",
    "Shape.weigh": "the base of the shapes",
    "ParticleModel.accept": "the base of the models",
    "Terrain.weigh": "refuses always",
    "PartitionScene.run": "a generator: it looks when the first step is asked for",
    "WorldScene.run": "a generator: it looks when the first step is asked for",
    "show": "takes any number of things; see tests/viewer",
    "from_surface": "needs pytetwild",
    "catheter_scene": "takes seconds to make",
    "vessel_network": "takes seconds to make",
    "push_along": "for the loop of catheter_scene: sets the force of its model",
    "runge_kutta_4": "takes a function",
    "symplectic_euler": "takes a function",
    "velocity_verlet": "takes a function",
}


def is_made_by_abut(value):
    """Results, enumerations and exceptions: nobody else makes them."""
    is_result = hasattr(value, "__dataclass_fields__") or value.__name__ in (
        "Contacts",
        "Distance",
        "Distances",
        "Moves",
    )
    return inspect.isclass(value) and (issubclass(value, tuple | int | Exception) or is_result)


def asked_of(part):
    """The functions and classes of a part, and what their classes can be asked with an argument, or told by assignment."""
    prefix = "" if part is abut else part.__name__.removeprefix("abut.") + "."
    for name in part.__all__:
        value = getattr(part, name)
        if name in NOT_ASKED or not callable(value) or (part is not abut and getattr(abut, name, None) is value):
            continue
        if not is_made_by_abut(value):
            yield prefix + name
        if not inspect.isclass(value) or issubclass(value, int | Exception):
            continue
        for each, held in members_of(value).items():
            call = held.__func__ if isinstance(held, classmethod | staticmethod) else held
            takes = inspect.isfunction(call) and list(inspect.signature(call).parameters)[1:]
            may_be_set = isinstance(held, property) and held.fset is not None
            if (takes or may_be_set) and not each.startswith("_") and f"{name}.{each}" not in NOT_ASKED:
                yield f"{prefix}{name}.{each}"


SLOW = frozenset({"check", "scenes.SoftSurgery.step", "scenes.soft_surgery"})
"""What takes tenths of a second to make, or to answer."""


def test_everything_public_is_asked():
    """What is added to the public surface is added to the table."""
    assert sorted({name for part in PARTS for name in asked_of(part)} - set(SUBJECTS)) == []


@pytest.mark.skipif(jit.INTERPRETED, reason="kernels' borders are the same, and their loops take too long")
@pytest.mark.large
@pytest.mark.parametrize("name", SUBJECTS)
@pytest.mark.filterwarnings("ignore:.*masked element:UserWarning")
def test_bad_calls_are_refused_by_name(name):
    calls = EACH // 10 if name in SLOW else EACH
    failures = call_badly(name, SUBJECTS[name], calls)
    shown = "\n".join(sorted({str(failure) for failure in failures})[:8])
    assert not failures, f"{len(failures)} of {calls}:\n{shown}"


NO_PAIRS = np.empty((2, 0, 2), np.int32)
CALLS = {
    "couple with a world": ("mobile", lambda: dynamics.couple(dynamics.ShapeMatching(CUBE), abut.World(), 0.01)),
    "couple with a class": ("model", lambda: dynamics.couple(dynamics.MassSpring, None, 0.01)),
    "Hulls of nothing": ("hulls", lambda: convex.Hulls([])),
    "Hulls of a number": ("hulls", lambda: convex.Hulls([3])),
    "Hulls of one hull": ("hulls", lambda: convex.Hulls(convex.Hull(CUBE))),
    "track of arrays": ("hull_a", lambda: convex.track(CUBE, CUBE)),
    "a number for the last overlaps": (
        "last",
        lambda: convex.overlap_many(convex.Hulls([convex.Hull(CUBE)]), [[0, 0]], np.eye(4)[None], last=3),
    ),
    "nest of None": ("pieces", lambda: contours.nest(None, (None, 4))),
    "Animation of None": ("contours", lambda: contours.Animation(None, [(0.0, 0, 0)])),
    "a hull of 1e-100": ("points", lambda: convex.Hull(1e-100 * CUBE)),
    "join of nothing": ("motions", ccd.join),
    "join of a mesh": ("motions", lambda: ccd.join(BALL)),
    "filters of pairs": ("candidates", lambda: ccd.filter_dnf(BALL, BALL.vertices, BALL.vertices, [[0, 0]])),
    "an array for a volume": ("volume", lambda: abut.candidates(BALL, BALL.vertices, BALL.vertices, volume=CUBE)),
    "an array for a method": ("method", lambda: ccd.vertex_face(np.zeros((1, 8, 3)), method=CUBE)),
    "an array for a flag": ("first", lambda: abut.collide(BALL, BALL, first=CUBE)),
    "an array for a distance": ("max_distance", lambda: abut.World().ray((0, 0, 5), (0, 0, -1), max_distance=CUBE)),
    "ragged handles": ("handles", lambda: abut.World().poses([[1, 2, 3], [4, 5]])),
    "a mesh for a soft body": ("body", lambda: shapes.Soft(BALL)),
    "an array for a state": ("state", lambda: dynamics.advance(CUBE, np.eye(3)[None], 0.01)),
    "an array for a mesh to save": ("mesh", lambda: abut.save(CUBE, "a.ply")),
    "a number for a path": ("path", lambda: abut.save(BALL, 3)),
    "text for a density": ("density", lambda: shapes.Sphere(1.0).weigh("1")),
    "a ball too light for numbers": ("density", lambda: shapes.Sphere(1e-201).weigh(1.0)),
    "a ball too heavy for numbers": ("density", lambda: shapes.Sphere(1e75).weigh(1.0)),
    "numbers for points below a terrain": ("points", lambda: shapes.Terrain(np.zeros((3, 3))).hold([[0.0, 0.0]])),
    "a number for the name of a contour": ("name", lambda: contours.Contour(CUBE[:4, 1:], name=3)),
    "a rope of too many particles": ("count", lambda: dynamics.rope((0, 0, 0), (1, 0, 0), 10**12)),
    "half a decimal": (
        "decimals",
        lambda: contours.nest([[[0.0, 0], [1, 0], [0, 1]]], (None, 4), moves=1).to_svg(0.5),
    ),
    "candidates of another step": (
        "candidates.vertex_face",
        lambda: ccd.filter_dnf(BALL, BALL.vertices, BALL.vertices, ccd.Candidates(*NO_PAIRS)).apply(
            ccd.Candidates(np.zeros((1, 2), np.int32), NO_PAIRS[1])
        ),
    ),
    "a passage that is not cut": ("layer", lambda: scenes.Passage(3).sew(0)),
    "records that are masked": ("points", lambda: abut.contains(BALL, np.ma.masked_all(2, [("a", float)]))),
}


@pytest.mark.parametrize("what", CALLS)
def test_named_bad_calls(what):
    name, call = CALLS[what]
    with pytest.raises(InvalidInput) as caught:
        call()
    assert caught.value.name == name


def test_a_linkage_that_does_not_fit_leaves_the_world_as_it_was():
    """Its second bone is longer than worlds take bodies; the first was a body already when that was found."""
    world = abut.World()
    linkage = dynamics.Linkage([[0.0, 0, 0], [1, 0, 0], [1e40, 0, 0]], [[0, 1], [1, 2]], radius=0.1)
    with pytest.raises(InvalidInput):
        world.link(linkage)
    assert len(world) == 0
    assert world.linkages == ()
    world.validate()


def test_parameters_repeat_however_large_they_are():
    curve = contours.Contour([(0.0, 0), (2, 0), (2, 2), (1, 3), (0, 2)])
    far = np.array([2.0**60, -(2.0**70), 1e74, -1e74])
    assert np.array_equal(curve.point(far), curve.point(np.mod(far, 5.0)))
    assert len(np.unique(curve.point(far), axis=0)) > 1


@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_the_ends_of_the_sizes_of_worlds(size):
    """Where the docs say that worlds end, they still work; beyond, they refuse by name (`test_defaults`)."""
    world, above = abut.World((0.0, 0.0, -size), slop=1e-3 * size), np.eye(4)
    above[2, 3] = 0.9 * size
    world.add(shapes.Box((0.9 * size, 0.9 * size, 0.9 * size)), kind="static")
    ball = world.add(shapes.Sphere(0.5 * size if size > 1.0 else size), above)
    for _ in range(3):
        world.step(0.01)
    hits, at = world.contacts(), world.poses([ball])[0]
    assert np.isfinite(at).all()
    assert np.isfinite(hits.depth).all()
    assert len(hits) == 1
    world.validate()


def test_a_rod_too_thin_to_spin_is_refused_before_it_comes_in():
    world = abut.World()
    with pytest.raises(InvalidInput, match="inertia"):
        world.add(shapes.Capsule(1e-100, 1.0))
    assert len(world) == 0
    world.validate()
