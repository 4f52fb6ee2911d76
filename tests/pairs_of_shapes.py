"""A core of every kind, and every shape of a world that it can touch; poses at which the two touch."""

import numpy as np

import abut
from abut import shapes


def prism(outline, triangles, thickness):
    """A closed mesh over a polygon (n,2) in x and z, of a thickness along y."""
    count = len(outline)
    sheet = np.insert(np.asarray(outline, float), 1, 0.5 * thickness, axis=1)
    vertices = np.concatenate((sheet, sheet * (1, -1, 1)))
    faces = [(a, c, b) for a, b, c in triangles] + [(a + count, b + count, c + count) for a, b, c in triangles]
    for i in range(count):
        j = (i + 1) % count
        faces += [(i, j, j + count), (i, j + count, i + count)]
    return abut.Mesh(vertices, faces)


def u_mesh():
    """Two arms on a foot: 3 wide, 2 high, its middle in the origin."""
    outline = [(-1.5, -1), (1.5, -1), (1.5, 1), (0.5, 1), (0.5, 0), (-0.5, 0), (-0.5, 1), (-1.5, 1)]
    return prism(outline, [(0, 1, 4), (0, 4, 5), (1, 2, 3), (1, 3, 4), (0, 5, 6), (0, 6, 7)], 1.0)


def annulus(sides=12):
    """A flat ring with a rectangular section."""
    angle = 2.0 * np.pi * np.arange(sides) / sides
    section = ((1.0, -0.2), (1.0, 0.2), (0.5, 0.2), (0.5, -0.2))
    rings = [np.stack((r * np.cos(angle), r * np.sin(angle), np.full(sides, z)), axis=1) for r, z in section]
    faces = []
    for k in range(4):
        for i in range(sides):
            p, q = k * sides + i, k * sides + (i + 1) % sides
            r, s = (q + sides) % (4 * sides), (p + sides) % (4 * sides)
            faces += [(p, q, r), (p, r, s)]
    return abut.Mesh(np.concatenate(rings), faces)


def at(x=0.0, y=0.0, z=0.0, turned=None):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    if turned is not None:
        pose[:3, :3] = turned
    return pose


def random_turn(rng):
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q *= np.sign(np.diag(r))
    return q * (1.0 if np.linalg.det(q) > 0 else (-1.0, 1.0, 1.0))


CORNERS = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0.8, 0.9, 0.7)]) - 0.4
CORES = {
    "sphere": shapes.Sphere(0.4),
    "capsule": shapes.Capsule(0.3, 0.8),
    "box": shapes.Box((1.2, 0.5, 0.3)),
    "large box": shapes.Box((8.0, 8.0, 1.0)),
    "cylinder": shapes.Cylinder(0.4, 0.7, sides=12),
    "cone": shapes.Cone(0.4, 0.7, sides=9),
    "hull": shapes.Polytope(CORNERS),
}
OTHERS = {
    **CORES,
    "convex mesh": shapes.Surface(shapes.Polytope(CORNERS).surface()),
    "u": shapes.Surface(u_mesh()),
    "annulus": shapes.Surface(annulus()),
    "torus": shapes.Surface(abut.scenes.torus(0.7, 0.25, 14, 8)),
    "open mesh": shapes.Surface(abut.scenes.cloth(6, 6, 2.5, (0.0, 0.0, 0.0))),
    "terrain": shapes.Terrain(0.3 * np.random.default_rng(5).normal(size=(5, 5)), 0.6),
    "compound": [(shapes.Box((1, 1, 0.4)), at()), (u_mesh(), at(0.3, 0, 1.0))],
    "deformable": abut.Deformable(u_mesh()),
}


def touching_pose(world, core, rng):
    """A random pose of a core that touches what is in the world, and the direction from which it came."""
    came = rng.normal(size=3)
    came /= np.linalg.norm(came)
    pose = at(*(0.6 * rng.normal(size=3) + 30.0 * came), random_turn(rng))
    pose[:3, 3] += rng.uniform(0, 2.4, 3) if world.is_terrain else 0.0
    for _ in range(400):
        gap = world.closest(core, pose, mask=2).distance
        if gap < 1e-12:
            break
        pose[:3, 3] -= gap * came
        if pose[:3, 3] @ came < -30.0:
            return touching_pose(world, core, rng)
    return pose, came


class Asked(abut.World):
    """A world with one thing to ask about, on layer 2."""

    def __init__(self, other):
        super().__init__()
        self.other = self.add(other, kind="static", layer=2)
        self.is_terrain = isinstance(other, shapes.Terrain)
