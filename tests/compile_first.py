"""Compile what most tests need, in processes side by side, so that the test workers find it on disk and do not all compile it at once.

The second process starts with what the first has no part in, and finds what they share on disk when it comes to it.

Run as a script before pytest; it changes no result, only the time from an empty cache.
"""

import subprocess
import sys

RIGID = """
import numpy as np
import abut
mesh = abut.scenes.icosphere(1)
a, b = abut.Rigid(mesh), abut.Rigid(mesh)
poses = np.tile(np.eye(4), (2, 1, 1))
poses[:, 0, 3] = (1.5, 5.0)
for position in (1.5, 5.0):
    pose = np.eye(4)
    pose[0, 3] = position
    b.pose = pose
    abut.collide(b, a).depth
    abut.collide(b, a, first=True).normal
    abut.distance(b, a)
abut.collide(b, a, margin=0.1)
abut.collide(b, a, poses=poses)
abut.collide(a)
abut.contains(a, mesh.vertices)
abut.signed_distance(a, mesh.vertices)
abut.faces_within(a, mesh.vertices, 0.1)
abut.cast(a, mesh.vertices, 1.0 + mesh.vertices)
abut.Pair(a, b).collides()
"""

TREES = """
from abut import bvh, scenes
mesh = scenes.icosphere(1)
mesh = mesh.vertices, mesh.faces
trees = {name: bvh.build(name, *mesh) for name in ("aabb", "kdop8", "kdop18", "obb")}
for rule in bvh.RULES:
    bvh.build("aabb", *mesh, rule=rule)
for name in ("aabb", "kdop8", "kdop18"):
    bvh.refit(trees[name], *mesh)
for a, b in (("aabb", "aabb"), ("obb", "obb"), ("aabb", "obb"), ("obb", "aabb"), ("kdop8", "kdop8"), ("kdop18", "kdop18")):
    bvh.find_collisions(trees[a], trees[b], *mesh, *mesh)
"""

DEFORMABLE = """
import numpy as np
import abut
mesh = abut.scenes.icosphere(1)
r, d, e = abut.Rigid(mesh), abut.Deformable(mesh), abut.Deformable(mesh)
for offset in (1.5, 5.0):
    d.update(mesh.vertices + np.array([offset, 0.0, 0.0]))
    for pair in ((r, d), (d, r), (d, e)):
        abut.collide(*pair).depth
        abut.collide(*pair, first=True)
        abut.distance(*pair)
abut.collide(d)
abut.contains(d, mesh.vertices)
"""

STEPS = """
import numpy as np
import abut
mesh = abut.scenes.icosphere(1)
step = mesh, mesh.vertices, -2.0 * mesh.vertices
turned = np.eye(4)
turned[:2, :2] = (0.0, -1.0), (1.0, 0.0)
spin, rest = abut.Motion(mesh, np.eye(4), turned), abut.Motion(*step)
abut.candidates(*step)
list(abut.ccd.stream_candidates(*step))
abut.time_of_impact(*step)
abut.sweep(*step)
abut.sweep(spin, rest)
queries = np.random.default_rng(0).integers(0, 2, size=(100, 8, 3))
for method in ("exact", "cubic"):
    abut.ccd.vertex_face(queries, method=method)
abut.ccd.vertex_face(queries, min_distance=0.1)
"""

CELLS = """
import numpy as np
from abut import cells
square = cells.polygons([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2, 3]])
cube, tetrahedron = cells.channel(2, 1, 1), cells.tetrahedra([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 2, 3]])
for walk in ("planes", "darts"):
    for env in (square, cube, tetrahedron):
        cells.Particles(env, np.full((1, env.dimension), 0.2), walk).move(np.full((1, env.dimension), 0.1))
    crowd = cells.Particles(cube, [[0.5, 0.5, 0.5]], walk)
    cube.deform(cube.vertices + 0.125 * (cube.vertices == 1).all(axis=1)[:, np.newaxis])
    crowd.settle()
for x in (1.0, 1.001, 1.002):
    tetrahedron.deform([[0, 0, x]], moved=[3])
cells.label_orbits(cube.darts, 0)
cells.orbit(cube.darts, 0, 1)
"""

MOBILES = """
import numpy as np
from abut import cells, dynamics
for env in (cells.channel(2, 2, 2), cells.polygons([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2, 3]])):
    crowd = cells.Particles(env, np.full((1, env.dimension), 0.2), "darts", debug=True)
    env.cut(plane=(np.full(env.dimension, 0.6), np.arange(1.0, env.dimension + 1)))
    crowd.settle()
    env.surround()
    env.find_strangers()
body = cells.Mobile(cells.channel(2, 1, 1), ([[0.2, 0.2, 0.2], [0.8, 0.2, 0.2], [0.2, 0.8, 0.2]], [[0, 1, 2]]))
for _ in range(2):
    body.move(body.position + 0.1, "continuous")
cells.find_meetings([body])
dynamics.find_impacts([body], [body.position])
"""

DYNAMICS = """
import numpy as np
from abut import dynamics, scenes
mesh = scenes.icosphere(1)
dynamics.mass_properties(mesh)
dynamics.advance(dynamics.rigid_state(np.eye(4)[None], None, [[1.0, 2.0, 3.0]]), np.diag([1.0, 2.0, 2.5])[None], 0.1).poses()
for model in (dynamics.MassSpring.from_mesh(mesh), dynamics.ShapeMatching(mesh.vertices, damping=1.0), dynamics.rag_doll()):
    model.accept(model.propose(0.01), np.zeros((len(model), 3)))
"""

HULLS = """
import numpy as np
from abut import broad, convex
cube = convex.Hull([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
poses = np.tile(np.eye(4), (300, 1, 1))
poses[:, 0, 3] = np.arange(300) * 0.01
pairs, hulls, which = np.stack([np.zeros(300, int), np.arange(300)], axis=1), convex.Hulls([cube]), np.zeros(300, int)
convex.track_many(hulls, pairs, poses, convex.track_many(hulls, pairs, poses, which=which).features, which)
convex.track(cube, cube)
convex.overlap_many(hulls, pairs, poses, convex.overlap_many(hulls, pairs, poses, which=which), which)
convex.overlap_many(hulls, pairs[:3], poses, which=which)
broad.overlapping_pairs(np.tile([0.0, 0, 0, 1, 1, 1], (20, 1)))
boxes = broad.SweepAndPrune(np.tile([0.0, 0, 0, 1, 1, 1], (20, 1)))
boxes.update([0], [[2.0, 2, 2, 3, 3, 3]])
"""

CONTOURS = """
from abut import contours as c
a = c.Contour.from_polygon([(0, 0), (1, 0), (0, 1)])
poses = [(0.2, 0.2, 0.1), (5.0, 0.0, 0.0)]
for ask in (c.collide, c.meets, c.distance):
    for pose in poses:
        ask(a, a, pose=pose)
    ask(a, a, poses=poses)
c.contains(a, [(0.1, 0.1)])
c.collide_all([a, a], poses)
a.boxes.validate(a.segments)
c.Animation([a, a], [(0, 0, 0), (0, 1.0001, 0)], fixed=[True, False]).step(0.01)
c.nest([[[0, 0], [3, 0], [3, 1], [1, 1], [1, 2], [0, 2]]], (None, 4), copies=3, moves=30)
"""

WORLD = """
import numpy as np
import abut
from abut import shapes
world, above = abut.World(), np.eye(4)
above[2, 3] = 0.99
world.add(shapes.Box((4, 4, 1)), kind="static")
world.add(shapes.Sphere(0.5), above, continuous=True, velocity=(0, 0, -1))
world.add(shapes.Terrain(np.zeros((3, 3))), kind="static")
world.step(0.01)
world.contacts()
world.ray((0, 0, 5), (0, 0, -1))
world.closest((0.0, 0.0, 3.0))
world.overlap(shapes.Sphere(1.0))
world.closest_many(np.zeros((300, 3)))  # the parallel form too
world.overlap_many(shapes.Sphere(1.0), np.eye(4)[None])
world.validate()
"""

if __name__ == "__main__":
    halves = (RIGID + STEPS + HULLS + CONTOURS, TREES + DEFORMABLE + CELLS + MOBILES + DYNAMICS + WORLD)
    jobs = [subprocess.Popen([sys.executable, "-c", code]) for code in halves]
    sys.exit(max(job.wait() for job in jobs))
