"""One small job for each kind of question, by the part that answers it: to run them all compiles what users wait for.

`abut warm-up` runs them for this machine, `python -m abut.precompile` for the wheel, the tests before they start. A kernel with two forms (one
thread and all, the plane and space, rigid and deformable) is asked for both. Results do not matter here.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

import abut

APART, TOUCHING = 5.0, 1.5


def _ball() -> Any:
    return abut.scenes.icosphere(1)


def _pose(x: float) -> Any:
    pose = np.eye(4)
    pose[0, 3] = x
    return pose


def collide() -> None:
    """Rigid bodies: `collide` with all that its contacts tell, one pose and many."""
    a, b = abut.Rigid(_ball()), abut.Rigid(_ball())
    for x in (TOUCHING, APART, 0.0):
        b.pose = _pose(x)
        contacts = abut.collide(b, a)
        _ = contacts.point, contacts.normal, contacts.depth
        _ = abut.collide(b, a, first=True).normal
    _ = abut.collide(b, a, margin=0.1).normal
    for margin in (0.0, 0.1):
        contacts = abut.collide(b, a, poses=np.stack([_pose(TOUCHING), _pose(APART)]), margin=margin)
        _ = contacts.normal, contacts.depth
    abut.collide(a)
    abut.contains(a, a.vertices)
    for b in (a, None):
        abut.collide(a, b, budget=0.0).resume()
    large = abut.Rigid(abut.scenes.icosphere(4))  # its tree is built on all threads
    _ = abut.collide(large, abut.Deformable(large.mesh), first=True).depth


def distance() -> None:
    """Rigid bodies: `distance`, apart and overlapping."""
    a, b = abut.Rigid(_ball()), abut.Rigid(_ball())
    for x in (TOUCHING, APART, 0.0):
        b.pose = _pose(x)
        _ = abut.distance(b, a).distance


def deformable() -> None:
    """The same questions with bodies whose vertices move."""
    mesh = _ball()
    rigid, soft, other = abut.Rigid(mesh), abut.Deformable(mesh), abut.Deformable(mesh)
    for x in (TOUCHING, APART):
        soft.update(mesh.vertices + np.array([x, 0.0, 0.0]))
        for pair in ((rigid, soft), (soft, rigid), (soft, other)):
            contacts = abut.collide(*pair)
            _ = contacts.normal, contacts.depth
            abut.collide(*pair, first=True)
            abut.distance(*pair)
    abut.collide(rigid, soft, margin=0.1)
    abut.collide(soft)
    abut.contains(soft, mesh.vertices)


def sweep() -> None:
    """What happens between two moments: deforming and turning steps, one body and two, single queries."""
    mesh = _ball()
    step = mesh, mesh.vertices, -2.0 * mesh.vertices
    turned = np.eye(4)
    turned[:2, :2] = (0.0, -1.0), (1.0, 0.0)
    spin, rest = abut.Motion(mesh, np.eye(4), turned), abut.Motion(*step)
    abut.sweep(*step)
    abut.time_of_impact(*step)
    for pair in ((spin, rest), (rest, spin), (spin, abut.Motion(mesh, _pose(3.0), _pose(1.0)))):
        impacts = abut.sweep(*pair)
        _ = impacts.point, impacts.normal, impacts.in_contact_at_start
        abut.time_of_impact(*pair)
    _ = abut.sweep(
        abut.Motion(mesh, _pose(0.0), _pose(0.1)), abut.Motion(mesh, _pose(1.5), _pose(1.4))
    ).in_contact_at_start
    large = abut.scenes.icosphere(4)
    abut.sweep(large, large.vertices, 1.1 * large.vertices)
    abut.sweep(*step, min_distance=0.01)
    abut.time_of_impact(*step, min_distance=0.01)
    sweeper = abut.Sweeper(large)
    for answer in (sweeper.sweep, sweeper.time_of_impact):
        answer(large.vertices, large.vertices * (1.0, 1.0, -0.9))
    sweeper.candidates(large.vertices, 1.1 * large.vertices, ordered=False)


def candidates() -> None:
    """Pairs that may meet in a step, filters, and queries of single pairs."""
    mesh = _ball()
    step = mesh, mesh.vertices, -2.0 * mesh.vertices
    for volume in ("aabb", "kdop26"):
        found = abut.candidates(*step, volume=volume)
    list(abut.ccd.stream_candidates(*step))
    abut.ccd.filter_dnf(*step, found)
    abut.ccd.filter_slpf(*step, found)
    queries = np.random.default_rng(0).integers(0, 2, size=(100, 8, 3))
    for ask in (abut.ccd.vertex_face, abut.ccd.edge_edge):
        for method in ("exact", "cubic"):
            ask(queries, method=method)
        ask(queries, min_distance=0.1)


def points() -> None:
    """Points and rays of meshes, and features of one mesh that are near each other."""
    mesh, corners = _ball(), np.array([[0.0, 0.0, 0.0], [2.0, 0.1, 0.2], [0.3, 0.2, 0.1]])
    for body in (abut.Rigid(mesh), abut.Deformable(mesh)):
        abut.closest_points(body, corners)
        abut.signed_distance(body, corners)
        abut.winding_number(body, corners)
        abut.faces_within(body, corners, 0.5)
        for mode in ("first", "any", "all"):
            abut.cast(body, corners, corners + 1.0, mode=mode)
    abut.Pair(abut.Rigid(mesh), abut.Rigid(mesh)).collides()


def trees() -> None:
    """Binary trees of each volume."""
    from abut import bvh

    ball = _ball()
    mesh = ball.vertices, ball.faces
    built = {name: bvh.build(name, *mesh) for name in ("aabb", "kdop8", "kdop18", "obb")}
    for rule in bvh.RULES:
        bvh.build("aabb", *mesh, rule=rule)
    for name in ("aabb", "kdop8", "kdop18"):
        bvh.refit(built[name], *mesh)
    pairs = (
        ("aabb", "aabb"),
        ("obb", "obb"),
        ("aabb", "obb"),
        ("obb", "aabb"),
        ("kdop8", "kdop8"),
        ("kdop18", "kdop18"),
    )
    for a, b in pairs:
        bvh.find_collisions(built[a], built[b], *mesh, *mesh)


def boxes() -> None:
    """Pairs of boxes, once and from call to call."""
    from abut import broad

    same = np.tile([0.0, 0, 0, 1, 1, 1], (20, 1))
    broad.overlapping_pairs(same)
    followed = broad.SweepAndPrune(same)
    followed.update([0], [[2.0, 2, 2, 3, 3, 3]])
    followed.report()


def particles() -> None:
    """Particles inside partitions of the plane and of space, by both walks."""
    from abut import cells

    square = cells.polygons([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2, 3]])
    cube = cells.channel(2, 1, 1)
    corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    tetrahedron = cells.tetrahedra(corners, [[0, 1, 2, 3]])
    for walk in ("planes", "darts"):
        for env in (square, cube, tetrahedron):
            moves = cells.Particles(env, np.full((1, env.dimension), 0.2), walk).move(np.full((1, env.dimension), 0.1))
            _ = moves.status, moves.normal, moves.time
        crowd = cells.Particles(cube, [[0.5, 0.5, 0.5]], walk)
        crowd.move([[3.5, 0.5, 0.5]])
        cube.deform(cube.vertices + 0.125 * (cube.vertices == 1).all(axis=1)[:, np.newaxis])
        crowd.settle()
    for x in (1.0, 1.001, 1.002):
        tetrahedron.deform([[0, 0, x]], moved=[3])
    crowd = cells.Particles(cells.channel(2, 1, 1), np.full((100_000, 3), 0.5))  # on all threads
    crowd.move(crowd.position + 0.1)
    cells.label_orbits(cube.darts, 0)
    cells.orbit(cube.darts, 0, 1)


def surgery() -> None:
    """Cuts through a partition while something is inside, and its surroundings."""
    from abut import cells

    for env in (cells.channel(2, 2, 2), cells.polygons([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2, 3]])):
        crowd = cells.Particles(env, np.full((1, env.dimension), 0.2), "darts", debug=True)
        env.cut(plane=(np.full(env.dimension, 0.6), np.arange(1.0, env.dimension + 1)))
        crowd.settle()
        env.surround()
        env.find_strangers()


def mobile() -> None:
    """Moving meshes inside a partition."""
    from abut import cells, dynamics

    triangle = ([[0.2, 0.2, 0.2], [0.8, 0.2, 0.2], [0.2, 0.8, 0.2]], [[0, 1, 2]])
    for mode in ("quasi", "continuous"):
        body = cells.Mobile(cells.channel(2, 1, 1), triangle)
        for step in (0.1, 0.1, 2.0):
            body.move(body.position + step, mode)
    for response in ("static", "adaptive"):
        body = cells.Mobile(cells.channel(2, 1, 1), triangle)
        body.move(body.position + 0.1, "continuous", response=response)
    for radius in (0.05, 0.0):
        room = cells.channel(2, 1, 1)
        body = cells.Mobile(room, ([[0.5, 0.5, 0.5], [1.5, 0.5, 0.5]], [[0, 1]]), radius)
        body.move(body.position - 1.0, after="slide")
        room.deform(room.vertices + 0.25)
        body.settle()
    tool = cells.Instrument(cells.channel(2, 1, 1), triangle, 0.01)
    tool.move(tool.position + 1.0, after="slide")
    cells.find_meetings([body])
    dynamics.find_impacts([body], [body.position])
    body = cells.Mobile(cells.channel(2, 1, 1), triangle)
    other = cells.Mobile(body.environment, (np.add(triangle[0], [0.0, 0.0, 0.2]), triangle[1]))
    dynamics.move_together([body, other], [np.add(body.position, [0.0, 0.0, 0.3]), other.position])


def motion() -> None:
    """How bodies move: springs, shapes that are matched, rigid bodies, particles and bones."""
    from abut import dynamics

    mesh = _ball()
    dynamics.mass_properties(mesh)
    state = dynamics.rigid_state(np.eye(4)[None], None, [[1.0, 2.0, 3.0]])
    dynamics.advance(state, np.diag([1.0, 2.0, 2.5])[None], 0.1).poses()
    models = (
        dynamics.MassSpring.from_mesh(mesh),
        dynamics.ShapeMatching(mesh.vertices, damping=1.0),
        dynamics.rag_doll(),
    )
    for model in models:
        model.accept(model.propose(0.01), np.zeros((len(model), 3)))


def mesh() -> None:
    """What a mesh tells of itself, and exact signs of single points."""
    ball = abut.scenes.icosphere(1)
    for name in ("edges", "edge_faces", "face_edges", "face_normals", "face_areas", "components", "vertex_components"):
        getattr(ball, name)
    _ = ball.component_count, ball.is_closed
    point = (0.0, 0.0, 0.0)
    abut.geometry.predicates.orient_2d(point[:2], point[:2], point[:2])
    abut.geometry.predicates.orient_3d(point, point, point, point)


def convex() -> None:
    """Hulls: closest features and overlap, one pair and many."""
    from abut import convex

    cube = convex.Hull([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    poses = np.tile(np.eye(4), (300, 1, 1))
    poses[:, 0, 3] = np.arange(300) * 0.01
    pairs = np.stack([np.zeros(300, int), np.arange(300)], axis=1)
    hulls, which = convex.Hulls([cube]), np.zeros(300, int)
    convex.track_many(hulls, pairs, poses, convex.track_many(hulls, pairs, poses, which=which).features, which)
    convex.overlap_many(hulls, pairs, poses, convex.overlap_many(hulls, pairs, poses, which=which), which)
    convex.overlap_many(hulls, pairs[:3], poses, which=which)
    for x in (0.5, 3.0):
        convex.track(cube, cube, None, _pose(x))


def contours() -> None:
    """Curves in the plane: contacts, distances, motion."""
    from abut import contours

    a = contours.Contour.from_polygon([(0, 0), (1, 0), (0, 1)])
    curved = contours.Contour([[0, -2], [2, 0], [1, 2], [0, 1], [-1, 2], [-2, 0]])
    poses = [(0.2, 0.2, 0.1), (5.0, 0.0, 0.0)]
    for ask in (contours.collide, contours.meets, contours.distance):
        for pose in poses:
            ask(a, curved, pose=pose)
        ask(a, a, poses=poses)
    found = contours.collide(a, a, pose=poses[0])
    _ = found.point, found.normal, found.kind
    contours.contains(a, [(0.1, 0.1)])
    contours.collide_all([a, a], poses)
    contours.collide_tolerance([a, a], poses)
    contours.time_of_impact(a, a, (3, 0, 0), (0, 0, 1))
    a.boxes.validate(a.segments)
    curved.boxes.validate(curved.segments)
    _ = curved.length, curved.area, curved.inertia, curved.flatten(0.01)
    contours.Animation([a, a], [(0, 0, 0), (0, 1.0001, 0)], fixed=[True, False]).step(0.01)


def nest() -> None:
    """Pieces on a strip, at given angles and at any."""
    from abut import contours

    ell = [[0, 0], [3, 0], [3, 1], [1, 1], [1, 2], [0, 2]]
    contours.nest([ell], (None, 4), copies=3, moves=30)
    contours.nest([ell], (8, 4), copies=3, moves=30, rotations_deg=None, gap=0.1)


def world() -> None:
    """Many bodies of every shape: steps, contacts, rays, closest points, linkages."""
    from abut import dynamics, joints, shapes

    world, above = abut.World(), np.eye(4)
    above[2, 3] = 0.99
    world.add(shapes.Box((4, 4, 1)), kind="static")
    world.add(shapes.Sphere(0.5), above, continuous=True, velocity=(0, 0, -1))
    world.add(shapes.Terrain(np.zeros((3, 3))), kind="static")
    for i, shape in enumerate(
        (shapes.Box((1, 1, 1)), shapes.Capsule(0.3, 1.0), shapes.Cylinder(0.3, 0.5), shapes.Surface(_ball()))
    ):
        place = np.eye(4)
        place[:3, 3] = i - 1.0, 0.3, 1.2
        world.add(shape, place)
    world.link(dynamics.rag_doll())
    for x in (8.0, 8.7):
        ball = abut.scenes.icosphere(1, radius=0.4, center=(x, 0.0, 0.5))
        springs, shape = dynamics.MassSpring.from_mesh(ball), dynamics.ShapeMatching(ball.vertices)
        world.add(shapes.Soft(abut.Deformable(ball), springs if x == 8.0 else shape))
    world.join(joints.ball(None, 1, (0, 0, 2)))
    world.joint_states()
    for _ in range(3):
        world.step(0.01)
    world.contacts()
    world.ray((0, 0, 5), (0, 0, -1))
    world.closest((0.0, 0.0, 3.0))
    world.closest(shapes.Cylinder(0.3, 0.5))
    abut.distance(shapes.Sphere(1.0), shapes.Cylinder(0.3, 0.5))
    world.overlap(shapes.Sphere(1.0))
    world.closest_many(np.zeros((300, 3)))  # the parallel form too
    world.overlap_many(shapes.Sphere(1.0), np.eye(4)[None])
    world.validate()


def check() -> None:
    """What `abut check` asks of a frame and of a step, and the scene of the demonstration."""
    from abut.app.check.search import search_tiny_frame, search_tiny_step

    search_tiny_frame()
    search_tiny_step()
    abut.scenes.cloth_on_ball(6, 2)


ENTRIES: dict[str, Callable[[], None]] = {
    "collide": collide,
    "sweep": sweep,
    "world": world,
    "contours": contours,
    "mobile": mobile,
    "nest": nest,
    "deformable": deformable,
    "particles": particles,
    "surgery": surgery,
    "distance": distance,
    "points": points,
    "trees": trees,
    "candidates": candidates,
    "convex": convex,
    "motion": motion,
    "mesh": mesh,
    "boxes": boxes,
    "check": check,
}
"""By what a user asks for, those that take longest first: so that several processes end at about the same time."""
