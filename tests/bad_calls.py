"""Calls with bad arguments, drawn at random for every public function and method from its signature.

A call starts from arguments that work, takes some of the optional ones with them, and puts one or two bad values in their places. Only `InvalidInput`
and `Unsupported` may come out, or an answer: what is bad for one parameter is good for another. What has a `validate` is sound afterwards.
"""

import contextlib
import inspect
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import abut
from abut import broad, ccd, cells, contours, convex, dynamics, scenes, shapes
from abut.errors import InvalidInput, Unsupported

PATIENCE = 60  # seconds; no call takes one
MOST_MEMORY = 2 << 30  # bytes more than before; no call takes a hundredth of it
MEASURED = Path("/proc/self/statm").exists()
RNG = np.random.default_rng
CUBE = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
TETRAHEDRON = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
SQUARE = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
EYE = np.eye(4)
BALL = scenes.icosphere(0)


class Subject(NamedTuple):
    """Something to call: how to get it (methods: of a new object), and arguments that work, by name."""

    make: Callable[[], Callable[..., Any]]
    good: dict[str, Any]
    owner: type | None = None


def function(call: Callable[..., Any], **good: Any) -> Subject:
    """A function or a class."""
    return Subject(lambda: call, good)


def method(make: Callable[[], Any], name: str, **good: Any) -> Subject:
    """A method of what `make` gives."""
    return Subject(lambda: getattr(make(), name), good)


def setter(make: Callable[[], Any], name: str, value: Any) -> Subject:
    """A property of what `make` gives."""

    def build() -> Callable[..., Any]:
        owner = make()
        return lambda value: setattr(owner, name, value)

    return Subject(build, {"value": value})


def a_world() -> abut.World:
    """A ball above a floor."""
    world, above = abut.World(), np.eye(4)
    above[2, 3] = 0.7
    world.add(shapes.Box((4, 4, 1)), kind="static")
    world.add(shapes.Sphere(0.5), above)
    return world


def a_mobile() -> cells.Mobile:
    """A triangle in two cubes."""
    return cells.Mobile(cells.channel(2, 1, 1), ([[0.2, 0.2, 0.2], [0.8, 0.2, 0.2], [0.2, 0.8, 0.2]], [[0, 1, 2]]))


def a_disc(radius: float = 1.0) -> contours.Contour:
    """Twelve control points on a circle."""
    angles = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    return contours.Contour(radius * np.stack((np.cos(angles), np.sin(angles)), axis=1))


def a_motion() -> abut.Motion:
    """A ball that grows."""
    return abut.Motion(BALL, BALL.vertices, 2.0 * BALL.vertices)


def _models() -> dict[str, Callable[[], Any]]:
    line = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0]])
    return {
        "MassSpring": lambda: dynamics.MassSpring(line, [[0, 1], [1, 2]]),
        "ShapeMatching": lambda: dynamics.ShapeMatching(CUBE),
        "Linkage": lambda: dynamics.rope((0, 0, 0), (1, 0, 0), 4),
    }


def bodies_and_steps() -> dict[str, Subject]:
    """abut itself, broad and ccd."""
    queries = np.zeros((2, 8, 3))
    queries[:, :, 0] = np.arange(8)
    step = {"a": BALL, "others": (BALL.vertices, 2.0 * BALL.vertices)}
    found = ccd.candidates(BALL, BALL.vertices, 2.0 * BALL.vertices)
    filtered = {"mesh": BALL, "v_t0": BALL.vertices, "v_t1": 2.0 * BALL.vertices, "candidates": found}
    boxes = np.tile([0.0, 0, 0, 1, 1, 1], (3, 1))
    folder = tempfile.mkdtemp()
    solved = {"queries": queries, "tolerance": 1e-6, "min_separation": 0.1, "method": "exact", "max_steps": 10}
    swept = {**step, "min_distance": 0.1, "tolerance": 1e-6, "max_memory": 10**8}
    return {
        "Mesh": function(abut.Mesh, vertices=BALL.vertices, faces=BALL.faces),
        "Rigid": function(abut.Rigid, mesh=BALL, pose=EYE),
        "Deformable": function(abut.Deformable, mesh=BALL),
        "Motion": function(abut.Motion, mesh=BALL, start=BALL.vertices, end=BALL.vertices),
        "as_mesh": function(abut.as_mesh, value=BALL),
        "load": function(abut.load, path="none.ply"),
        "save": function(abut.save, mesh=BALL, path=str(Path(folder) / "a.ply"), face_colors=None),
        "collide": function(abut.collide, a=BALL, b=BALL, margin=0.1, first=True, poses=EYE[None]),
        "contains": function(abut.contains, a=BALL, points=CUBE),
        "distance": function(abut.distance, a=BALL, b=BALL),
        "candidates": function(abut.candidates, **step, volume="aabb", margin=0.1),
        "sweep": function(abut.sweep, **swept),
        "time_of_impact": function(abut.time_of_impact, **swept, at_start=False),
        "Rigid.pose": setter(lambda: abut.Rigid(BALL), "pose", EYE),
        "Deformable.update": method(lambda: abut.Deformable(BALL), "update", vertices=BALL.vertices),
        "Motion.at": method(a_motion, "at", time=0.5),
        "ccd.vertex_face": function(ccd.vertex_face, **solved),
        "ccd.edge_edge": function(ccd.edge_edge, **solved),
        "ccd.filter_dnf": function(ccd.filter_dnf, **filtered),
        "ccd.filter_slpf": function(ccd.filter_slpf, **filtered),
        "ccd.join": function(ccd.join, motions=(a_motion(), a_motion())),
        "ccd.stream_candidates": function(
            lambda *a, **k: list(ccd.stream_candidates(*a, **k)), **step, volume="aabb", margin=0.1, max_memory=10**8
        ),
        "broad.overlapping_pairs": function(broad.overlapping_pairs, boxes=boxes),
        "broad.turning_boxes": function(broad.turning_boxes, centres=CUBE, radii=np.ones(8)),
        "broad.SweepAndPrune": function(broad.SweepAndPrune, boxes=boxes),
        **{
            f"broad.SweepAndPrune.{name}": method(lambda: broad.SweepAndPrune(boxes), name, **good)
            for name, good in {
                "add": {"boxes": boxes},
                "boxes": {"handles": [0]},
                "remove": {"handles": [0]},
                "shift": {"handles": [0], "centres": [[1.0, 2, 3]]},
                "update": {"handles": [0], "boxes": boxes[:1]},
            }.items()
        },
    }


def hulls_and_contours() -> dict[str, Subject]:
    """convex and contours."""
    hulls, poses, pairs = convex.Hulls([convex.Hull(CUBE)]), np.tile(EYE, (2, 1, 1)), [[0, 1]]
    disc = a_disc()
    many = {"hulls": hulls, "pairs": pairs, "poses": poses, "which": [0, 0]}
    pair = {"a": disc, "b": disc, "pose": (0.5, 0.0, 0.0)}
    corners = [[0.0, 0], [1, 0], [0, 1]]
    two = {"contours": [disc, disc], "poses": [(0.0, 0, 0), (5.0, 0, 0)]}
    return {
        "convex.Hull": function(convex.Hull, points=CUBE),
        "convex.Hulls": function(convex.Hulls, hulls=[convex.Hull(CUBE)]),
        "convex.Hull.facet_polygon": method(lambda: convex.Hull(CUBE), "facet_polygon", facet=0),
        "convex.track": function(
            convex.track, hull_a=convex.Hull(CUBE), hull_b=convex.Hull(CUBE), pose_a=EYE, pose_b=EYE
        ),
        "convex.track_many": function(convex.track_many, **many, features=None),
        "convex.overlap_many": function(convex.overlap_many, **many, last=None),
        "contours.Contour": function(
            contours.Contour, control_points=SQUARE, roughness=0.01, detail=4, seed=1, name="x"
        ),
        "contours.Contour.fit": function(contours.Contour.fit, points=disc.point(np.arange(40) / 40), control_count=8),
        "contours.Contour.from_polygon": function(contours.Contour.from_polygon, corners=corners, name="x"),
        "contours.Contour.from_segments": function(contours.Contour.from_segments, segments=disc.segments, name="x"),
        "contours.Contour.from_svg": function(contours.Contour.from_svg, path="M 0 0 L 1 0 L 0 1 Z", name="x"),
        "contours.Contour.derivative": method(a_disc, "derivative", parameters=[0.5]),
        "contours.Contour.point": method(a_disc, "point", parameters=[0.5]),
        "contours.Contour.flatten": method(a_disc, "flatten", tolerance=0.01, outer=True),
        "contours.Contour.moved": method(a_disc, "moved", pose=(1.0, 0.0, 0.5)),
        "contours.Contour.tolerance_boxes": method(a_disc, "tolerance_boxes", fit="basic", increment="rivera"),
        "contours.collide": function(contours.collide, **pair),
        "contours.meets": function(contours.meets, **pair),
        "contours.distance": function(contours.distance, **pair),
        "contours.contains": function(contours.contains, contour=disc, points=SQUARE),
        "contours.collide_all": function(contours.collide_all, **two),
        "contours.Animation": function(contours.Animation, contours=[disc, disc], poses=two["poses"]),
        "contours.Animation.step": method(
            lambda: contours.Animation([a_disc(), a_disc()], two["poses"]), "step", dt=0.01
        ),
        "contours.nest": function(
            contours.nest, pieces=[corners], sheet=(None, 4), copies=2, rotations=(0.0,), gap=0.0, moves=5, seed=1
        ),
    }


def physics() -> dict[str, Subject]:
    """shapes, World and dynamics."""
    subjects = {
        "shapes.Box": function(shapes.Box, extents=(1, 1, 1)),
        "shapes.Sphere": function(shapes.Sphere, radius=1.0),
        "shapes.Capsule": function(shapes.Capsule, radius=1.0, length=1.0),
        "shapes.Cylinder": function(shapes.Cylinder, radius=1.0, length=1.0, sides=6),
        "shapes.Hull": function(shapes.Hull, points=CUBE),
        "shapes.Surface": function(shapes.Surface, mesh=BALL, thick=None),
        "shapes.Soft": function(shapes.Soft, body=abut.Deformable(BALL)),
        "shapes.Terrain": function(shapes.Terrain, heights=np.zeros((3, 3)), spacing=1.0),
        "shapes.as_shape": function(shapes.as_shape, value=BALL),
        "shapes.Box.weigh": method(lambda: shapes.Box((1, 1, 1)), "weigh", density=1.0),
        "World": function(abut.World, gravity=(0, 0, -9.81), slop=0.005, substeps=2, sweeps=1, sleeping=True),
        "World.gravity": setter(a_world, "gravity", (0, 0, 1)),
    }
    shape, ball = {"shape": shapes.Sphere(1.0), "pose": EYE}, {"shape": shapes.Sphere(1.0), "poses": EYE[None]}
    added = {"density": 1.0, "mass": 2.0, "velocity": (0, 0, 1), "spin": (0, 0, 1), "friction": 0.3, "restitution": 0.5}
    methods: dict[str, dict[str, Any]] = {
        "add": {**shape, "kind": "dynamic", **added, "layer": 1, "mask": 3, "continuous": False},
        "add_many": {**ball, **added},
        "asleep": {"handles": [1]},
        "closest": {**shape, "mask": 3},
        "closest_many": {**ball, "mask": 3},
        "link": {
            "linkage": dynamics.rope((0, 0, 3), (1, 0, 3), 4),
            "radius": 0.1,
            "friction": 0.5,
            "layer": 1,
            "mask": 3,
        },
        "move": {"handles": [1], "poses": EYE[None], "velocity": (0, 0, 1), "spin": (0, 0, 1)},
        "overlap": {**shape, "mask": 3},
        "overlap_many": {**ball, "mask": 3},
        "poses": {"handles": [1]},
        "ray": {"origins": (0, 0, 5), "directions": (0, 0, -1), "reach": 10.0, "mask": 3},
        "remove": {"handles": [1]},
        "shape_of": {"handle": 1},
        "spins": {"handles": [1]},
        "velocities": {"handles": [1]},
        "step": {"dt": 0.01},
    }
    subjects |= {f"World.{name}": method(a_world, name, **good) for name, good in methods.items()}
    state = dynamics.rigid_state(EYE[None], None, [[1.0, 2, 3]])
    line = [[0.0, 0, 0], [1, 0, 0], [2, 0, 0]]
    subjects |= {
        "dynamics.AngleLimits": function(dynamics.AngleLimits, joints=[[0, 1, 2]], least=0.0, most=3.0),
        "dynamics.Linkage": function(dynamics.Linkage, points=line, bones=[[0, 1], [1, 2]], mass=1.0),
        "dynamics.MassSpring": function(
            dynamics.MassSpring, points=line, springs=[[0, 1], [1, 2]], mass=1.0, stiffness=10.0, damping=0.1, fixed=[0]
        ),
        "dynamics.ShapeMatching": function(dynamics.ShapeMatching, points=CUBE, mass=1.0, stiffness=0.5, fixed=[0]),
        "dynamics.advance": function(dynamics.advance, state=state, inertia=np.eye(3)[None], dt=0.01),
        "dynamics.bending_pairs": function(dynamics.bending_pairs, mesh=BALL),
        "dynamics.cloth": function(dynamics.cloth, mesh=scenes.cloth(2, 2), fold=0.0),
        "dynamics.couple": function(dynamics.couple, model=_models()["ShapeMatching"](), mobile=a_mobile(), dt=0.01),
        "dynamics.find_impacts": function(
            dynamics.find_impacts, bodies=[a_mobile()], positions_t0=[a_mobile().position]
        ),
        "dynamics.mass_properties": function(dynamics.mass_properties, mesh=BALL, density=2.0),
        "dynamics.rag_doll": function(dynamics.rag_doll, height=1.8, mass=75.0),
        "dynamics.rigid_state": function(
            dynamics.rigid_state, poses=EYE[None], velocity=[[0.0, 0, 1]], angular_velocity=[[0.0, 0, 1]]
        ),
        "dynamics.rope": function(dynamics.rope, start=(0, 0, 0), end=(1, 0, 0), count=4, most_bend=1.0),
        "dynamics.MassSpring.from_line": function(
            dynamics.MassSpring.from_line, points=line, stiffness=10.0, bending=1.0
        ),
        "dynamics.MassSpring.from_mesh": function(
            dynamics.MassSpring.from_mesh, mesh=BALL, stiffness=10.0, bending=1.0
        ),
        "dynamics.ShapeMatching.insert": method(_models()["ShapeMatching"], "insert", ends=[[0, 1]], ratio=[0.5]),
        "dynamics.ShapeMatching.remove": method(_models()["ShapeMatching"], "remove", particles=[8]),
    }
    for name, make in _models().items():
        here = make().position
        subjects[f"dynamics.{name}.propose"] = method(make, "propose", dt=0.01)
        subjects[f"dynamics.{name}.accept"] = method(make, "accept", reached=here, normal=0.0 * here, restitution=0.5)
        for column in ("position", "velocity", "force"):
            subjects[f"dynamics.{name}.{column}"] = setter(make, column, here)
    return subjects


def partitions() -> dict[str, Subject]:
    """cells. Its own campaign goes deeper: tests/cells/test_bad_calls.py."""

    def channel() -> cells.Environment:
        return cells.channel(2, 1, 1)

    inside = np.full((2, 3), 0.4)
    order = [0, 4, 6, 2, 1, 5, 7, 3]
    faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]
    point, normal = (0.5, 0.5, 0.5), (1.0, 0.2, 0.0)
    environment = {
        "cut": {"plane": (point, normal), "cells": None, "slit": False},
        "deform": {"vertices": channel().vertices, "moved": None},
        "faces_of": {"cell": 0},
        "merge": {"a": 0, "b": 1},
        "set_obstacle": {"cells": [0], "obstacle": True},
        "surround": {"factor": 2.0},
    }
    darts = channel().darts
    return {
        "cells.channel": function(cells.channel, nx=2, ny=1, nz=1, obstacle=None),
        "cells.hexahedra": function(cells.hexahedra, vertices=CUBE, hexes=[order], obstacle=None),
        "cells.tetrahedra": function(cells.tetrahedra, vertices=TETRAHEDRON, tetrahedra=[[0, 1, 2, 3]], obstacle=None),
        "cells.polyhedra": function(cells.polyhedra, vertices=TETRAHEDRON, cells=[faces], obstacle=None),
        "cells.polygons": function(cells.polygons, vertices=SQUARE, polygons=[[0, 1, 2, 3]], obstacle=None),
        "cells.mixed": function(cells.mixed, vertices=TETRAHEDRON, tetrahedra=[[0, 1, 2, 3]]),
        "cells.orbit": function(cells.orbit, darts=darts, dart=0, kind=1),
        "cells.label_orbits": function(cells.label_orbits, darts=darts, kind=1),
        "cells.find_meetings": function(cells.find_meetings, bodies=[a_mobile()]),
        "cells.Particles": function(cells.Particles, environment=channel(), points=inside, walk="planes", debug=True),
        "cells.Mobile": function(
            cells.Mobile,
            environment=channel(),
            shape=([[0.2, 0.2, 0.2], [0.8, 0.2, 0.2], [0.2, 0.8, 0.2]], [[0, 1, 2]]),
        ),
        "cells.Particles.move": method(lambda: cells.Particles(channel(), inside), "move", targets=inside + 0.1),
        "cells.Mobile.move": method(
            a_mobile, "move", targets=a_mobile().position + 0.1, mode="quasi", response="static", cull="cells"
        ),
        **{f"cells.Environment.{name}": method(channel, name, **good) for name, good in environment.items()},
    }


def all_subjects() -> dict[str, Subject]:
    """Everything that can be called, by name."""
    return {**bodies_and_steps(), **hulls_and_contours(), **physics(), **partitions()}


# --- bad values


class Strange:
    """An object with everything that arrays are recognised by, and nothing behind it."""

    shape = "round"
    dtype = None

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise RuntimeError("not today")


def bad_value(rng: np.random.Generator, good: Any) -> Any:
    """One bad value: of the wrong kind altogether, or the good one spoiled."""
    if rng.random() < 0.5:
        spoiled = _spoil(rng, good)
        if spoiled is not None:
            return spoiled
    values = _WRONG[int(rng.integers(len(_WRONG)))]
    return values() if getattr(values, "__name__", "") == "<lambda>" else values


_WRONG: list[Any] = [
    None, "", "text", "\0", b"bytes", object, object(), True, False, 0, -1, 1, 10**30, -(10**30), 2**63, 0.5, -0.5, 1e300, -1e300, 5e-324, 1j,
    float("nan"), float("inf"), -float("inf"), (), [], {}, set(), [[]], [[], [1]], [None], ["a"], [[1, 2, 3], [4, 5]], {"a": 1}, [object()],
    lambda: iter(()), lambda: (x for x in (1, 2)), len, Strange, Strange(), range(3), slice(0, 2), np.float64("nan"), np.int8(3),
    np.zeros(0), np.zeros((0, 3)), np.zeros((0, 3), int), np.zeros((3, 0)), np.zeros((2, 3)), np.zeros((2, 2)), np.zeros((1, 4, 4)), np.zeros((4, 4)),
    np.full((3, 3), np.nan), np.full((2, 3), np.inf), np.full((2, 3), 1e300), np.full((2, 3), 1e-320), np.ones((2, 3), complex), np.ones(3, object),
    np.array(["a", "b"]), np.array([1, 2], "M8[s]"), np.array(5), np.array(5.0), np.ones((2, 3), bool), np.arange(6).reshape(2, 3),
    np.full((1, 3), 2**62), np.full((1, 3), -5), np.zeros((1, 1, 1, 3)), np.eye(4) * 1e200, -np.eye(4), np.ones((4, 4)),
    np.ma.masked_array([1.0, 2], [0, 1]),
    np.zeros(3, [("a", float), ("b", int)]),
]  # fmt: skip


def _spoil(rng: np.random.Generator, good: Any) -> Any:
    """The good value with something wrong in it; None where nothing can be."""
    if isinstance(good, str):
        return good + "?"
    if isinstance(good, bool | int | float):
        return [-good, float("nan"), str(good), [good], good * 1e200, 0, good * 1e-200, np.array([good])][
            int(rng.integers(8))
        ]
    if not isinstance(good, np.ndarray | list | tuple) or not len(good):
        return None
    try:
        array = np.array(good, float)
    except (TypeError, ValueError):  # of meshes, bodies, tuples of several kinds
        part = list(good)
        part[int(rng.integers(len(part)))] = _WRONG[int(rng.integers(len(_WRONG)))]
        return part
    kind = int(rng.integers(9))
    where = tuple(int(rng.integers(n)) for n in array.shape)
    if kind < 5:
        array[where] = [np.nan, np.inf, -1e300, 2.0**62, -1.0][kind]
        return array
    return [array[..., :-1], np.concatenate((array, array)), array[None], array.tolist()[0], array.astype(object)][
        kind - 5 if kind < 9 else 0
    ]


# --- calls


class Failure(NamedTuple):
    """A call that ended otherwise than documented."""

    name: str
    arguments: dict[str, Any]
    error: BaseException

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{k}={v!r}'[:120] for k, v in self.arguments.items())}): {type(self.error).__name__}: {self.error}"[
            :600
        ]


class TooLong(BaseException):
    """A call that did not return."""


def _give_up(number: int, frame: Any) -> None:
    raise TooLong(f"no answer after {PATIENCE} s")


@contextlib.contextmanager
def patience() -> Any:
    """Within this context a call that hangs (in Python) is interrupted, and one that takes all memory gets a MemoryError."""
    if not hasattr(signal, "setitimer"):
        yield
        return
    import resource

    limits = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() if MEASURED else 0
    resource.setrlimit(resource.RLIMIT_AS, (used + MOST_MEMORY if MEASURED else limits[0], limits[1]))
    before = signal.signal(signal.SIGALRM, _give_up)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, limits)


def call_badly(name: str, subject: Subject, rng: np.random.Generator) -> Failure | None:
    """One bad call; what is wrong with how it ended, or None."""
    call = subject.make()
    signature = inspect.signature(call)
    names = list(subject.good)
    required = [
        key for key in names
        if key in signature.parameters and signature.parameters[key].default is inspect.Parameter.empty
    ]  # fmt: skip
    chosen = [key for key in names if key in required or not signature.parameters or rng.random() < 0.4] or names[:1]
    arguments = {key: subject.good[key] for key in chosen}
    for key in rng.choice(chosen, min(len(chosen), int(rng.integers(1, 3))), replace=False):
        arguments[str(key)] = bad_value(rng, arguments[str(key)])
    # Parameters by position come first, those of a *name after them.
    positional: list[Any] = []
    for key in list(arguments):
        parameter = signature.parameters.get(key)
        if key in ("others", "motions"):
            value = arguments.pop(key)
            if key == "others":
                positional.append(arguments.pop("a"))
            positional += list(value) if isinstance(value, tuple | list) else [value]
        elif parameter is not None and parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            positional.append(arguments.pop(key))
    shown = {**dict(enumerate(map(repr, positional))), **arguments}
    try:
        with patience():
            call(*positional, **arguments)
        owner = getattr(call, "__self__", None)
        if owner is not None and hasattr(owner, "validate"):
            owner.validate()
    except (InvalidInput, Unsupported):
        return None
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        return Failure(name, {str(k): v for k, v in shown.items()}, error)
    return None
