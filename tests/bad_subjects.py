"""What is called with bad arguments: every public function and method, with arguments that work (see `bad_calls`)."""

import contextlib
import functools
import itertools
import tempfile
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import abut
from abut import broad, ccd, cells, contours, convex, dynamics, joints, scenes, shapes

CUBE = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
TETRAHEDRON = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
SQUARE = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
TRIANGLE = [[0.2, 0.2, 0.2], [0.8, 0.2, 0.2], [0.2, 0.8, 0.2]]
EYE = np.eye(4)
BALL = scenes.icosphere(0)


class Fresh(NamedTuple):
    """An argument that a call may change: made anew after each call that was not refused."""

    make: Callable[[], Any]


class Ready(NamedTuple):
    """Something to call now."""

    call: Callable[..., Any]
    owner: Any
    """the object whose method it is; None for a function"""
    good: dict[str, Any]
    """arguments that work, by name"""


class Subject(NamedTuple):
    """How to get something to call, with arguments that work."""

    make: Callable[[], tuple[Callable[..., Any], Any]]
    arguments: dict[str, Any]

    def prepare(self) -> Ready:
        """Everything that may change made anew."""
        good = {name: value.make() if isinstance(value, Fresh) else value for name, value in self.arguments.items()}
        return Ready(*self.make(), good)


def function(call: Callable[..., Any], **good: Any) -> Subject:
    """A function or a class."""
    return Subject(lambda: (call, None), good)


def listen(callback: Any) -> None:
    """`on_compile`, and the end of it: what cannot take the announcement is not called then."""
    abut.on_compile(callback)()


def method(make: Callable[[], Any], name: str, /, **good: Any) -> Subject:
    """A method of what `make` gives."""

    def build() -> tuple[Callable[..., Any], Any]:
        owner = make()
        return getattr(owner, name), owner

    return Subject(build, good)


def setter(make: Callable[[], Any], name: str, value: Any) -> Subject:
    """A property of what `make` gives."""

    def build() -> tuple[Callable[..., Any], Any]:
        owner = make()
        return lambda value: setattr(owner, name, value), owner

    return Subject(build, {"value": value})


def a_world() -> abut.World:
    """A ball above a floor, and a sensor in it."""
    world, above = abut.World(), np.eye(4)
    above[2, 3] = 0.7
    world.add(shapes.Box((4, 4, 1)), kind="static", name="floor")
    world.add(shapes.Sphere(0.5), above)
    world.add(shapes.Sphere(0.2), above, kind="sensor")
    world.add(shapes.Box((4, 4, 1)), kind="static")
    world.join(joints.hinge(None, world.add(shapes.Sphere(0.5), above), (0, 0, 0), (0, 0, 1)))
    return world


def a_mobile() -> cells.Mobile:
    """A triangle in two cubes."""
    return cells.Mobile(cells.channel(2, 1, 1), (TRIANGLE, [[0, 1, 2]]))


def a_disc(radius: float = 1.0) -> contours.Contour:
    """Twelve control points on a circle."""
    angles = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    return contours.Contour(radius * np.stack((np.cos(angles), np.sin(angles)), axis=1))


def a_motion() -> abut.Motion:
    """A ball that grows."""
    return abut.Motion(BALL, BALL.vertices, 2.0 * BALL.vertices)


def _animation() -> contours.Animation:
    """Two discs, apart."""
    return contours.Animation([a_disc(), a_disc()], [(0.0, 0, 0), (5.0, 0, 0)])


def _models() -> dict[str, Callable[[], Any]]:
    line = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0]])
    return {
        "MassSpring": lambda: dynamics.MassSpring(line, [[0, 1], [1, 2]]),
        "ShapeMatching": lambda: dynamics.ShapeMatching(CUBE),
        "Linkage": lambda: dynamics.rope((0, 0, 0), (1, 0, 0), 4),
    }


def _divided() -> Any:
    model = _models()["MassSpring"]()
    model.insert([[0, 1]], 0.5)
    return model


def bodies_and_steps() -> dict[str, Subject]:
    """abut itself, broad and ccd."""
    queries = np.zeros((2, 8, 3))
    queries[:, :, 0] = np.arange(8)
    step = {"a": BALL, "others": (BALL.vertices, 2.0 * BALL.vertices)}
    found = ccd.candidates(BALL, BALL.vertices, 2.0 * BALL.vertices)
    filtered = {"mesh": BALL, "v_t0": BALL.vertices, "v_t1": 2.0 * BALL.vertices, "candidates": found}
    boxes = np.tile([0.0, 0, 0, 1, 1, 1], (3, 1))
    folder = tempfile.mkdtemp()
    written = str(Path(folder) / "given.ply")
    abut.save(BALL, written)
    solved = {"queries": queries, "tolerance": 1e-6, "min_distance": 0.1, "method": "exact", "max_steps": 10}
    swept = {**step, "min_distance": 0.1, "tolerance": 1e-6, "max_memory": 10**8}
    return {
        "Mesh": function(abut.Mesh, vertices=BALL.vertices, faces=BALL.faces),
        "View": function(abut.View, scene=abut.viewer.Scene([])),
        "View.save_html": method(
            lambda: abut.View(abut.viewer.Scene([])), "save_html", path=str(Path(folder) / "v.html")
        ),
        "Rigid": function(abut.Rigid, mesh=BALL, pose=EYE),
        "Deformable": function(abut.Deformable, mesh=BALL),
        "Motion": function(abut.Motion, mesh=BALL, start=BALL.vertices, end=BALL.vertices),
        "Mesh.save": method(lambda: BALL, "save", path=str(Path(folder) / "b.ply"), face_colors=None),
        "as_mesh": function(abut.as_mesh, value=BALL),
        "load": function(abut.load, path=written),
        "save": function(abut.save, mesh=BALL, path=str(Path(folder) / "a.ply"), face_colors=None),
        "on_compile": function(listen, callback=lambda now: None),
        "check": function(
            abut.check,
            frames={"a": (queries[:, :8], [[0, 1, 2]]), "b": BALL},
            at_frames=True,
            between=True,
            containment=True,
            min_distance=0.1,
            ignore=[("a", "b")],
            thickness={"a": 0.1},
            motions={"b": np.array([EYE] * 2)},
            fps=24.0,
            clip=None,
            max_findings=5,
            progress=lambda now: None,
        ),
        "Findings.save": method(
            lambda: abut.check((queries, [[0, 1, 2]])), "save", path=str(Path(folder) / "rows.csv")
        ),
        "collide": function(abut.collide, a=BALL, b=BALL, margin=0.1, first=True, poses=EYE[None], budget=1e3),
        "discrete.ContactSearch.resume": method(lambda: abut.collide(BALL, BALL, budget=0.0), "resume", budget=1e3),
        "contains": function(abut.contains, a=BALL, points=CUBE),
        "untangle": function(abut.untangle, mesh=BALL, most_rounds=2, progress=None),
        "closest_points": function(abut.closest_points, body=BALL, points=CUBE, max_distance=1.0),
        "signed_distance": function(abut.signed_distance, body=BALL, points=CUBE),
        "winding_number": function(abut.winding_number, body=BALL, points=CUBE),
        "faces_within": function(abut.faces_within, body=BALL, points=CUBE, radius=1.0),
        "proximity": function(abut.proximity, a=BALL, distance=0.1, b=BALL),
        "cast": function(abut.cast, body=BALL, origins=CUBE, directions=CUBE + 1.0, mode="all", max_distance=1.0),
        "cast_segments": function(abut.cast_segments, body=BALL, starts=CUBE, ends=CUBE + 1.0, mode="all"),
        "distance": function(abut.distance, a=BALL, b=BALL, depth=True, poses=EYE[None]),
        "Pair": function(abut.Pair, a=BALL, b=BALL),
        "Pair.collides": method(lambda: abut.Pair(BALL, BALL), "collides", pose=EYE),
        "Pair.collide": method(lambda: abut.Pair(BALL, BALL), "collide", margin=0.1, first=True),
        "Pair.distance": method(lambda: abut.Pair(BALL, BALL), "distance", depth=True),
        "candidates": function(abut.candidates, **step, volume="aabb", min_distance=0.1),
        "sweep": function(abut.sweep, **swept),
        "time_of_impact": function(abut.time_of_impact, **swept, at_start=False),
        "Sweeper": function(abut.Sweeper, a=BALL, b=BALL),
        **{
            f"Sweeper.{name}": method(
                lambda: abut.Sweeper(BALL), name, ends=(BALL.vertices, 2.0 * BALL.vertices), **given
            )
            for name, given in (
                ("candidates", {"volume": "aabb", "min_distance": 0.1, "ordered": True}),
                ("sweep", {"min_distance": 0.1, "tolerance": 1e-6}),
                ("time_of_impact", {"min_distance": 0.1, "tolerance": 1e-6, "at_start": False}),
            )
        },
        "Rigid.pose": setter(lambda: abut.Rigid(BALL), "pose", EYE),
        "Deformable.update": method(lambda: abut.Deformable(BALL), "update", vertices=BALL.vertices),
        "Motion.at": method(a_motion, "at", time=0.5),
        "ccd.vertex_face": function(ccd.vertex_face, **solved),
        "ccd.edge_edge": function(ccd.edge_edge, **solved),
        "ccd.Filtered.apply": method(lambda: ccd.filter_dnf(**filtered), "apply", candidates=found),
        "ccd.filter_dnf": function(ccd.filter_dnf, **filtered),
        "ccd.filter_slpf": function(ccd.filter_slpf, **filtered, lines=np.eye(3)),
        "ccd.search_triangles": function(
            ccd.search_triangles, **{k: v for k, v in filtered.items() if k != "candidates"}, volume="kdop26"
        ),
        "ccd.join": function(ccd.join, motions=(a_motion(), a_motion())),
        "ccd.stream_candidates": function(
            lambda *a, **k: list(ccd.stream_candidates(*a, **k)),
            **step,
            volume="aabb",
            min_distance=0.1,
            max_memory=10**8,
        ),
        "broad.overlapping_pairs": function(broad.overlapping_pairs, boxes=boxes),
        "broad.turning_boxes": function(broad.turning_boxes, centers=CUBE, radii=np.ones(8)),
        "broad.SweepAndPrune": function(broad.SweepAndPrune, boxes=boxes),
        **{
            f"broad.SweepAndPrune.{name}": method(lambda: broad.SweepAndPrune(boxes), name, **good)
            for name, good in {
                "add": {"boxes": boxes},
                "boxes": {"handles": [0]},
                "remove": {"handles": [0]},
                "shift": {"handles": [0], "centers": [[1.0, 2, 3]]},
                "update": {"handles": [0], "boxes": boxes[:1]},
            }.items()
        },
    }


def hulls_and_contours() -> dict[str, Subject]:
    """convex and contours."""
    hulls, poses, pairs = convex.Hulls([convex.Hull(CUBE)]), np.tile(EYE, (2, 1, 1)), [[0, 1]]
    disc, beside = (
        a_disc(),
        EYE + np.array([[0.0, 0, 0, 2], [0, 0, 0, 3], [0, 0, 0, 5], [0, 0, 0, 0]]),
    )  # corner to corner
    many = {"hulls": hulls, "pairs": pairs, "poses": poses, "which": [0, 0]}
    pair = {"a": disc, "b": disc, "pose": (0.5, 0.0, 0.0)}
    corners = [[0.0, 0], [1, 0], [0, 1]]
    two = {"contours": [disc, disc], "poses": [(0.0, 0, 0), (5.0, 0, 0)]}
    return {
        "convex.Hull": function(convex.Hull, points=CUBE),
        "convex.Hulls": function(convex.Hulls, hulls=[convex.Hull(CUBE)]),
        "convex.Hull.facet_polygon": method(lambda: convex.Hull(CUBE), "facet_polygon", facet=0),
        "convex.track": function(
            convex.track, hull_a=convex.Hull(TETRAHEDRON), hull_b=convex.Hull(CUBE), pose_a=EYE, pose_b=beside
        ),
        "convex.track_many": function(convex.track_many, **many, features=None),
        "convex.overlap_many": function(convex.overlap_many, **many, last=None),
        "contours.Contour": function(
            contours.Contour, control_points=SQUARE, roughness=0.01, detail=4, seed=1, name="x"
        ),
        "contours.Contour.fit": function(contours.Contour.fit, points=disc.point(0.3 * np.arange(40)), control_count=8),
        "contours.Contour.from_polygon": function(contours.Contour.from_polygon, corners=corners, name="x"),
        "contours.Contour.from_segments": function(contours.Contour.from_segments, segments=disc.segments, name="x"),
        "contours.Contour.from_svg": function(contours.Contour.from_svg, path="M 0 0 L 1 0 L 0 1 Z", name="x"),
        "contours.Contour.derivative": method(a_disc, "derivative", parameters=[0.5]),
        "contours.Contour.point": method(a_disc, "point", parameters=[0.5]),
        "contours.Contour.flatten": method(a_disc, "flatten", tolerance=0.01, outer=True),
        "contours.Contour.moved": method(a_disc, "moved", pose=(1.0, 0.0, 0.5)),
        "contours.Contour.tolerance_boxes": method(a_disc, "tolerance_boxes", fit="basic", increment="rivera"),
        "contours.Boxes.validate": method(lambda: disc.boxes, "validate", segments=disc.segments),
        "contours.build_boxes": function(contours.build_boxes, segments=disc.segments, grown=np.zeros(12), fit="basic"),
        "contours.pairs": function(contours.pairs, **two),
        "contours.winding": function(contours.winding, contour=disc, points=SQUARE),
        "contours.collide": function(contours.collide, **pair),
        "contours.meets": function(contours.meets, **pair),
        "contours.distance": function(contours.distance, **pair),
        "contours.contains": function(contours.contains, contour=disc, points=SQUARE),
        "contours.collide_all": function(contours.collide_all, **two),
        "contours.collide_tolerance": function(contours.collide_tolerance, **two, increment="bound", fit="children"),
        "contours.Boxes.holds": method(lambda: disc.boxes, "holds", segments=disc.segments),
        "contours.Animation": function(
            contours.Animation, contours=[disc, disc], poses=two["poses"], density=[1.0, 2.0]
        ),
        "contours.Animation.step": method(_animation, "step", dt=0.01, max_substeps=9),
        "contours.Animation.frames": Subject(
            lambda: (lambda count, dt: list(itertools.islice(_animation().frames(count, dt), 5)), None),
            {"count": 3, "dt": 0.01},
        ),
        "contours.time_of_impact": function(
            contours.time_of_impact,
            a=disc,
            b=disc,
            pose_a_t0=(5.0, 0, 0),
            pose_a_t1=(0.0, 0, 1),
            pose_b_t0=(0.0, 0, 0),
            pose_b_t1=(1.0, 0, 0),
            min_distance=0.1,
            tolerance=1e-6,
        ),
        "contours.Layout.to_svg": method(
            lambda: contours.nest([corners], (None, 4), moves=5, seed=1), "to_svg", decimals=3
        ),
        "contours.Layout.to_dxf": method(lambda: contours.nest([corners], (None, 4), moves=5, seed=1), "to_dxf"),
        "contours.Part": function(contours.Part, outline=SQUARE, holes=[], marks=[], name="x"),
        "contours.nest": function(
            contours.nest,
            pieces=[corners],
            sheet=(None, 4),
            copies=2,
            rotations_deg=(0.0,),
            gap=0.0,
            moves=5,
            seed=1,
            kerf=0.0,
            priority=0.0,
            mirror=False,
        ),
    }


def _limited(joints: Any, least: Any, most: Any) -> dynamics.Linkage:
    """Limits are checked where they are used."""
    line = [[0.0, 0, 0], [1, 0, 0], [2, 0, 0]]
    return dynamics.Linkage(line, [[0, 1], [1, 2]], angles=dynamics.AngleLimits(joints, least, most))


def _same(value: Any) -> Any:
    return value


def _short_film(steps: Any, progress: Any) -> Any:
    """A film of a thousand steps is a good call, and takes too long."""
    with contextlib.suppress(Exception):  # what raises when it is looked at is for the call itself
        steps = 3 if np.ndim(steps) == 0 and float(steps) > 3 else steps
    return scenes.pyramid(1).film(steps, progress)


def physics() -> dict[str, Subject]:
    """shapes, World and dynamics."""
    subjects = {
        "shapes.Box": function(shapes.Box, extents=(1, 1, 1)),
        "shapes.Sphere": function(shapes.Sphere, radius=1.0),
        "shapes.Capsule": function(shapes.Capsule, radius=1.0, length=1.0),
        "shapes.Cylinder": function(shapes.Cylinder, radius=1.0, length=1.0, sides=6),
        "shapes.Cone": function(shapes.Cone, radius=1.0, length=1.0, sides=6),
        "shapes.Plane": function(shapes.Plane, normal=(0, 0, 1), offset=1.0),
        "shapes.Placed": function(shapes.Placed, shape=shapes.Sphere(1.0), pose=EYE),
        "shapes.Shape.at": method(lambda: shapes.Sphere(1.0), "at", pose=EYE),
        "shapes.Polytope": function(shapes.Polytope, points=CUBE),
        "shapes.Surface": function(shapes.Surface, mesh=BALL, thick=None),
        "shapes.Soft": function(
            shapes.Soft, body=abut.Deformable(BALL), model=abut.dynamics.MassSpring.from_mesh(BALL)
        ),
        "shapes.Terrain": function(shapes.Terrain, heights=np.zeros((3, 3)), spacing=1.0),
        "shapes.as_shape": function(shapes.as_shape, value=BALL),
        **{
            f"shapes.{type(shape).__name__}.weigh": method(functools.partial(_same, shape), "weigh", density=1.0)
            for shape in (
                shapes.Box((1, 1, 1)),
                shapes.Sphere(1.0),
                shapes.Capsule(1.0, 1.0),
                shapes.Surface(BALL),
                shapes.Soft(abut.Deformable(BALL)),
            )
        },
        "shapes.Terrain.hold": method(lambda: shapes.Terrain(np.zeros((3, 3))), "hold", points=CUBE),
        "World": function(
            abut.World, gravity=(0, 0, -9.81), slop=0.005, substeps=2, sweeps=1, sleeping=True, filter=None
        ),
        "world.Material": function(
            abut.world.Material,
            friction=0.5,
            restitution=0.1,
            rolling=0.01,
            friction_rule="average",
            restitution_rule="minimum",
            surface_velocity=(1, 0, 0),
            one_way=(0, 0, 1),
        ),
        "World.gravity": setter(a_world, "gravity", (0, 0, 1)),
        "World.filter": setter(a_world, "filter", None),
    }
    shape, ball = {"shape": shapes.Sphere(1.0), "pose": EYE}, {"shape": shapes.Sphere(1.0), "poses": EYE[None]}
    added = {
        "density": 1.0,
        "mass": 2.0,
        "velocity": (0, 0, 1),
        "angular_velocity": (0, 0, 1),
        "friction": 0.3,
        "restitution": 0.5,
        "linear_damping": 0.1,
        "angular_damping": 0.1,
        "gravity_scale": 0.5,
        "locked": "",
    }
    methods: dict[str, dict[str, Any]] = {
        "add": {**shape, "kind": "dynamic", **added, "layer": 1, "mask": 3, "continuous": False, "name": "ball"},
        "add_many": {**ball, **added},
        "apply_force": {"handles": [1], "force": (0, 0, 1), "point": (0, 0, 0.7)},
        "apply_impulse": {"handles": [1], "impulse": (0, 0, 1), "point": (0, 0, 0.7)},
        "apply_torque": {"handles": [1], "torque": (0, 0, 1)},
        "asleep": {"handles": [1]},
        "body": {"name": "floor"},
        "closest": {**shape, "mask": 3},
        "closest_many": {**ball, "mask": 3},
        "ignore": {"a": [0], "b": [1], "ignored": True},
        "inside": {"sensor": 2},
        "join": {"joint": joints.ball(None, 1, (0, 0, 1))},
        "joint_states": {"handles": [0]},
        "link": {
            "linkage": Fresh(lambda: dynamics.rope((0, 0, 3), (1, 0, 3), 4)),
            "radius": 0.1,
            "friction": 0.5,
            "layer": 1,
            "mask": 3,
        },
        "move": {"handles": [1], "poses": EYE[None], "velocity": (0, 0, 1), "angular_velocity": (0, 0, 1)},
        "overlap": {**shape, "mask": 3},
        "overlap_many": {**ball, "mask": 3},
        "poses": {"handles": [1]},
        "ray": {"origins": (0, 0, 5), "directions": (0, 0, -1), "max_distance": 10.0, "mask": 3},
        "remove": {"handles": [1]},
        "set_material": {"handles": [1], "material": abut.world.Material()},
        "remove_joint": {"handles": [0]},
        "set_joint": {"handle": 0, "freedom": joints.FREE, "coordinate": "twist"},
        "record": {},
        "restore": {"state": abut.World().save_state()},
        "save_state": {},
        "shape_of": {"handle": 1},
        "sweep_shape": {"shape": shapes.Sphere(1.0), "pose_a": EYE, "pose_b": EYE, "mask": 3},
        "angular_velocities": {"handles": [1]},
        "velocities": {"handles": [1]},
        "step": {"dt": 0.01},
    }
    sides = {"a": 0, "b": None}
    at, ends = {**sides, "point": (0, 0, 1)}, {**sides, "point_a": (0, 0, 1), "point_b": (0, 0, 2)}
    bounds, free = {"collide": False, "break_force": 5.0, "break_torque": 5.0}, joints.Freedom(-1, 1)
    subjects |= {
        "joints.fixed": function(joints.fixed, **at, **bounds),
        "joints.ball": function(joints.ball, **at, axis=(0, 0, 1), cone=joints.Freedom(high=1), twist=free, **bounds),
        "joints.hinge": function(joints.hinge, **at, axis=(0, 0, 1), turn=free, **bounds),
        "joints.slider": function(joints.slider, **at, axis=(0, 0, 1), slide=free, **bounds),
        "joints.distance": function(joints.distance, **ends, least=0.0, most=2.0, collide=False, break_force=5.0),
        "joints.spring": function(joints.spring, **ends, stiffness=1.0, damping=1.0, length=1.0, collide=False),
        "joints.six_degree": function(joints.six_degree, **sides, frame=EYE, x=free, twist=free, **bounds),
        "joints.Freedom": function(joints.Freedom, low=-1.0, high=1.0, stiffness=1.0, damping=1.0, friction=1.0),
    }
    subjects |= {f"World.{name}": method(a_world, name, **good) for name, good in methods.items()}
    state = dynamics.rigid_state(EYE[None], None, [[1.0, 2, 3]])
    line = [[0.0, 0, 0], [1, 0, 0], [2, 0, 0]]
    subjects |= {
        "dynamics.AngleLimits": function(_limited, joints=[[0, 1, 2]], least=0.0, most=3.0),
        "dynamics.Linkage": function(dynamics.Linkage, points=line, bones=[[0, 1], [1, 2]], mass=1.0),
        "dynamics.MassSpring": function(
            dynamics.MassSpring, points=line, springs=[[0, 1], [1, 2]], mass=1.0, stiffness=10.0, damping=0.1, fixed=[0]
        ),
        "dynamics.RigidTool": function(dynamics.RigidTool, points=TRIANGLE, mass=1.0, inertia=np.eye(3), width=0.1),
        "dynamics.RigidTool.propose": method(lambda: dynamics.RigidTool(TRIANGLE, width=0.1), "propose", dt=0.01),
        "dynamics.RigidTool.accept_pose": method(
            lambda: dynamics.RigidTool(TRIANGLE, width=0.1),
            "accept_pose",
            pose=EYE,
            points=TRIANGLE[:1],
            normals=[[0.0, 0, 1]],
        ),
        "dynamics.RigidTool.follow_pose": method(
            lambda: dynamics.RigidTool(TRIANGLE, width=0.1), "follow_pose", pose=EYE
        ),
        "dynamics.tissue": function(
            dynamics.tissue, environment=Fresh(lambda: cells.channel(1, 1, 1)), stiffness=10.0, mass=1.0, damping=0.1
        ),
        "dynamics.ShapeMatching": function(dynamics.ShapeMatching, points=CUBE, mass=1.0, stiffness=0.5, fixed=[0]),
        "dynamics.advance": function(dynamics.advance, state=state, inertia=np.eye(3)[None], dt=0.01),
        "dynamics.bending_pairs": function(dynamics.bending_pairs, mesh=BALL),
        "dynamics.cloth": function(dynamics.cloth, mesh=scenes.cloth(2, 2), fold=0.0),
        "dynamics.couple": function(
            dynamics.couple,
            model=Fresh(lambda: dynamics.ShapeMatching(TRIANGLE)),
            mobile=Fresh(a_mobile),
            dt=0.01,
            restitution=0.5,
            friction=0.1,
            response="static",
            after="stop",
        ),
        "dynamics.find_impacts": function(
            dynamics.find_impacts, bodies=Fresh(lambda: [a_mobile()]), positions_t0=[a_mobile().position]
        ),
        "dynamics.mass_properties": function(dynamics.mass_properties, mesh=BALL, density=2.0),
        "dynamics.move_together": function(
            dynamics.move_together,
            bodies=Fresh(lambda: [a_mobile()]),
            targets=[a_mobile().position],
            response="slide",
            mass=[1.0],
            restitution=0.0,
            walls="static",
        ),
        "dynamics.rag_doll": function(dynamics.rag_doll, height=1.8, mass=75.0),
        "dynamics.rigid_state": function(
            dynamics.rigid_state, poses=EYE[None], velocity=[[0.0, 0, 1]], angular_velocity=[[0.0, 0, 1]]
        ),
        "dynamics.RigidState.energy": method(lambda: state, "energy", mass=[1.0], inertia=np.eye(3)[None]),
        "dynamics.RigidState.angular_momentum": method(
            lambda: state, "angular_momentum", mass=[1.0], inertia=np.eye(3)[None]
        ),
        "dynamics.rope": function(dynamics.rope, start=(0, 0, 0), end=(1, 0, 0), count=4, most_bend=1.0),
        "dynamics.MassSpring.from_line": function(
            dynamics.MassSpring.from_line, points=line, stiffness=10.0, bending=1.0
        ),
        "dynamics.MassSpring.from_mesh": function(
            dynamics.MassSpring.from_mesh, mesh=BALL, stiffness=10.0, bending=1.0
        ),
        "dynamics.ContactHistory": function(dynamics.ContactHistory, still=0.01),
        "dynamics.ContactHistory.note": method(
            dynamics.ContactHistory, "note", moves=a_mobile().move(a_mobile().position), targets=a_mobile().position
        ),
        "dynamics.MassSpring.insert": method(_models()["MassSpring"], "insert", ends=[[0, 1]], ratio=[0.5]),
        "dynamics.MassSpring.remove": method(_divided, "remove", particles=[3]),
        "dynamics.ShapeMatching.insert": method(_models()["ShapeMatching"], "insert", ends=[[0, 1]], ratio=[0.5]),
        "dynamics.ShapeMatching.remove": method(_models()["ShapeMatching"], "remove", particles=[7]),
    }
    for name, make in _models().items():
        here = make().position
        subjects[f"dynamics.{name}.propose"] = method(make, "propose", dt=0.01)
        subjects[f"dynamics.{name}.accept"] = method(make, "accept", reached=here, normal=0.0 * here, restitution=0.5)
        for column in ("position", "velocity", "force"):
            subjects[f"dynamics.{name}.{column}"] = setter(make, column, here)
    return subjects


def _slit(environment: cells.Environment) -> cells.Environment:
    """The environment with its first two cells apart."""
    environment.unsew(0, 1)
    return environment


def _regional() -> cells.Environment:
    """A tetrahedron that is a region."""
    mesh = types.SimpleNamespace(points=TETRAHEDRON, cells=[("tetra", [[0, 1, 2, 3]])], cell_data={"region": [[3]]})
    return cells.load(mesh)


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
        "deform": {"vertices": channel().vertices, "moved": None, "stop": True},
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
        "cells.load": function(
            cells.load,
            source=types.SimpleNamespace(
                points=TETRAHEDRON, cells=[("tetra", [[0, 1, 2, 3]])], cell_data={"region": [[3]]}
            ),
            regions={"3": "obstacle"},
            table="region",
            weld=1e-9,
            flat="drop",
        ),
        "cells.Environment.cells_in": method(_regional, "cells_in", region="3"),
        "cells.Environment.sew": method(lambda: _slit(channel()), "sew", a=0, b=1),
        "cells.Environment.unsew": method(channel, "unsew", a=0, b=1),
        "cells.Marker": function(cells.Marker, dart_count=5),
        "cells.Marker.mark": method(lambda: cells.Marker(5), "mark", darts=[1, 2]),
        "cells.orbit": function(cells.orbit, darts=darts, dart=0, kind=1),
        "cells.label_orbits": function(cells.label_orbits, darts=darts, kind=1),
        "cells.find_meetings": function(cells.find_meetings, bodies=[a_mobile()]),
        "cells.Particles": function(
            cells.Particles, environment=Fresh(channel), points=inside, walk="planes", debug=True
        ),
        "cells.Mobile": function(
            cells.Mobile,
            environment=Fresh(channel),
            shape=(TRIANGLE, [[0, 1, 2]]),
            radius=0.1,
        ),
        "cells.Mobile.clearance": method(a_mobile, "clearance", within=0.5, every=True),
        "cells.Recording": function(lambda thing: cells.Recording(*[thing]), thing=Fresh(a_mobile)),
        "cells.Recording.note": function(
            lambda moves, time=1.0: cells.Recording(a_mobile()).note(moves, time=time),
            moves=Fresh(lambda: a_mobile().move(a_mobile().position)),
            time=1.0,
        ),
        "cells.Instrument": function(
            cells.Instrument, environment=Fresh(channel), shape=(TRIANGLE, [[0, 1, 2]]), radius=0.1
        ),
        "cells.Instrument.move": method(
            lambda: cells.Instrument(channel(), (TRIANGLE, [[0, 1, 2]]), 0.1),
            "move",
            targets=np.array(TRIANGLE) + 0.1,
            after="stop",
        ),
        "cells.Particles.move": method(lambda: cells.Particles(channel(), inside), "move", targets=inside + 0.1),
        "cells.Mobile.move": method(
            a_mobile, "move", targets=a_mobile().position + 0.1, mode="quasi", response="static", cull="cells"
        ),
        **{f"cells.Environment.{name}": method(channel, name, **good) for name, good in environment.items()},
    }


@functools.cache
def _surgery() -> scenes.SurgicalScene:
    return scenes.surgical_scene(1, 2)


def _cut_passage() -> scenes.Passage:
    """A passage with one cube cut."""
    passage = scenes.Passage(3)
    passage.cut(0)
    return passage


def made() -> dict[str, Subject]:
    """scenes: those that take a moment to make."""
    return {
        "scenes.icosphere": function(scenes.icosphere, subdivisions=1, radius=1.0, center=(0, 0, 0)),
        "scenes.beating_vessel": function(scenes.beating_vessel, length=8, particle_count=3, radius=0.5),
        "scenes.BeatingVessel.beat": method(lambda: scenes.beating_vessel(8, 3), "beat", step=1),
        "scenes.BeatingVessel.push": method(lambda: scenes.beating_vessel(8, 3), "push", step=1),
        "scenes.box": function(scenes.box, extents=(1, 1, 1), center=(0, 0, 0)),
        "scenes.torus": function(scenes.torus, major=1.0, minor=0.3, major_count=5, minor_count=4, center=(0, 0, 0)),
        "scenes.bumpy": function(scenes.bumpy, face_count=50, seed=0, radius=1.0, roughness=0.3, center=(0, 0, 0)),
        "scenes.cloth": function(scenes.cloth, nx=2, ny=3),
        "scenes.hand": function(scenes.hand, subdivisions=0, length=1.0),
        "scenes.pyramids": function(scenes.pyramids, nx=1, ny=1, nz=1),
        "scenes.heap_of_contours": function(scenes.heap_of_contours, count=2),
        "scenes.swarm_of_contours": function(scenes.swarm_of_contours, count=2),
        "scenes.rough_contours": function(scenes.rough_contours, segments=6, roughness=0.01),
        "scenes.falling_contours": function(scenes.falling_contours, count=2, columns=2),
        "scenes.WorldScene.film": function(_short_film, steps=1, progress=None),
        "scenes.WorldScene.scene": method(
            lambda: scenes.pyramid(1), "scene", film=scenes.pyramid(1).film(1), title="A"
        ),
        "scenes.arch": function(scenes.arch, stones=3),
        "scenes.card_house": function(scenes.card_house, stories=1),
        "scenes.chain_bridge": function(scenes.chain_bridge, planks=3),
        "scenes.dominoes": function(scenes.dominoes, count=2),
        "scenes.newtons_cradle": function(scenes.newtons_cradle, balls=2, lifted=1),
        "scenes.pyramid": function(scenes.pyramid, rows=1),
        "scenes.rag_dolls": function(scenes.rag_dolls, count=1),
        "scenes.robot_arm": function(scenes.robot_arm, boxes=1),
        "scenes.wall": function(scenes.wall, rows=1, ball=True),
        "scenes.pile": function(scenes.pile, count=5, seed=0),
        "scenes.rag_doll_on_stairs": function(scenes.rag_doll_on_stairs, steps=2),
        "scenes.soft_surgery": function(scenes.soft_surgery, step_count=3),
        "scenes.cloth_on_terrain": function(scenes.cloth_on_terrain, squares=2),
        "scenes.cloth_on_ball": function(
            lambda resolution=4, frame_count=1, seed=0: scenes.cloth_on_ball(resolution, frame_count, seed),
            resolution=4,
            frame_count=2,
            seed=0,
        ),
        "scenes.cube_scene": function(scenes.cube_scene, n=3, cube_count=1, size=0.5, speed=5.0, share=0.1, seed=0),
        "scenes.hand_scene": function(scenes.hand_scene, subdivisions=0, cell=1.0, height=1.0, spikes=False),
        "scenes.surgical_scene": function(scenes.surgical_scene, ball_count=1, step_count=2),
        "scenes.SoftSurgery.step": method(lambda: scenes.soft_surgery(3), "step", number=0),
        "scenes.SurgicalScene.ball_vertices": method(_surgery, "ball_vertices", step=1, ball=0),
        "scenes.SurgicalScene.tool_pose": method(_surgery, "tool_pose", step=1),
        "scenes.SurgicalScene.tool_vertices": method(_surgery, "tool_vertices", step=1),
        "scenes.Passage": function(scenes.Passage, particle_count=3, spacing=0.2),
        "scenes.Passage.cell": method(lambda: scenes.Passage(3), "cell", layer=0),
        "scenes.Passage.cut": method(lambda: scenes.Passage(3), "cut", layer=0),
        "scenes.Passage.sew": method(_cut_passage, "sew", layer=0),
    }


def all_subjects() -> dict[str, Subject]:
    """Everything that can be called, by name."""
    return {**bodies_and_steps(), **hulls_and_contours(), **physics(), **partitions(), **made()}
