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
abut.ccd.vertex_face(queries, min_separation=0.1)
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
cells.label_orbits(cube.darts, 0)
cells.orbit(cube.darts, 0, 1)
"""

if __name__ == "__main__":
    jobs = [subprocess.Popen([sys.executable, "-c", code]) for code in (RIGID + STEPS, TREES + DEFORMABLE + CELLS)]
    sys.exit(max(job.wait() for job in jobs))
