"""`contacts` and `closest` answer one question, for every pair of shapes: near touching, a little in each other, and deep.

The oracle takes another road: the exact phase of `abut.discrete` on the triangles of both shapes (`collide`, `distance`), which knows neither
cores nor axes. A depth is right only if no translation shorter than it parts the two, whatever its direction: some are tried, all in one call.
"""

import numpy as np
import pytest

import abut
from abut import jit, shapes
from conftest import SOAK

SAME = 1e-9
"""Of the size: the two answers come from the same axis."""
SHORTER = 0.999
"""A translation of so much of the depth must not part the shapes: what rounding and the facets of round shapes leave."""
ROUNDS = 40 if SOAK else (1 if jit.INTERPRETED else 4)
DIRECTIONS = 40


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
    "hull": shapes.Hull(CORNERS),
}
OTHERS = {
    **CORES,
    "convex mesh": shapes.Surface(shapes.Hull(CORNERS).surface()),
    "u": shapes.Surface(u_mesh()),
    "annulus": shapes.Surface(annulus()),
    "torus": shapes.Surface(abut.scenes.torus(0.7, 0.25, 14, 8)),
    "open mesh": shapes.Surface(abut.scenes.cloth(6, 6, 2.5, (0.0, 0.0, 0.0))),
    "terrain": shapes.Terrain(0.3 * np.random.default_rng(5).normal(size=(5, 5)), 0.6),
    "compound": [(shapes.Box((1, 1, 0.4)), at()), (u_mesh(), at(0.3, 0, 1.0))],
    "deformable": abut.Deformable(u_mesh()),
}


def mesh_of(shape):
    """The triangles of a shape, as one mesh for the oracle; None for round shapes, which have none."""
    if isinstance(shape, list):
        parts = [abut.as_mesh(part if isinstance(part, abut.Mesh) else part.surface()) for part, _ in shape]
        placed = [part.vertices @ p[:3, :3].T + p[:3, 3] for part, (_, p) in zip(parts, shape, strict=True)]
        first = np.cumsum([0] + [len(v) for v in placed[:-1]])
        return abut.Mesh(
            np.concatenate(placed), np.concatenate([m.faces + k for m, k in zip(parts, first, strict=True)])
        )
    if isinstance(shape, abut.Deformable):
        return shape.mesh
    return None if shape.radius > 0.0 else shape.surface()


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


def depths_of(world, core, pose, swapped):
    """The deepest contact as a separation, and what `closest` says."""
    handle = world.add(core, pose, kind="kinematic")
    hits = world.contacts()
    assert swapped or len(hits.pairs) <= 1
    world.remove(handle)
    closest = world.closest(core, pose, mask=2)
    return hits, closest


@pytest.mark.large  # interpreted, a division by zero warns
@pytest.mark.parametrize("other", OTHERS)
def test_contacts_agree_with_closest_and_with_triangles(other):
    rng = np.random.default_rng(len(other) * 101 + ord(other[0]))
    world, body = Asked(OTHERS[other]), None
    mesh = mesh_of(OTHERS[other])
    body = None if mesh is None or world.is_terrain else abut.Rigid(mesh)
    for name, core in CORES.items():
        own = None if core.radius > 0.0 else abut.Rigid(core.surface())
        for k in range(ROUNDS):
            pose, came = touching_pose(world, core, rng)
            sunk = (-1e-3, 1e-9, 1e-4, 0.01, 0.1, 0.4)[k % 6 if SOAK else rng.integers(6)]
            pose[:3, 3] -= sunk * came
            hits, closest = depths_of(world, core, pose, False)
            told = (other, name, k, sunk, closest.distance, hits.depth.max(initial=-1.0))
            size = 8.0 if name == "large box" else 1.0
            if closest.distance > 0.0:
                assert len(hits) == 0, told
            else:
                assert len(hits) > 0, told
                assert abs(hits.depth.max() + closest.distance) <= SAME * size, told
            if body is not None and own is not None:
                check_with_triangles(own, body, pose, hits, closest, rng, told)


def check_with_triangles(own, body, pose, hits, closest, rng, told):
    own.pose = pose
    if closest.distance > 1e-9:
        assert abut.distance(own, body).distance == pytest.approx(closest.distance, abs=1e-9), told
        return
    depth = hits.depth.max(initial=0.0)
    if depth < 1e-7:
        return
    assert abut.collide(own, body), told
    if told[3] > 0.1:  # sunk in beyond its middle: the depth is a way out, not always the shortest
        return
    ways = rng.normal(size=(DIRECTIONS, 3))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    ways = np.concatenate((ways, np.eye(3), -np.eye(3), hits.normal[:8], -hits.normal[:8]))
    moved = np.tile(pose, (len(ways), 1, 1))
    moved[:, :3, 3] += SHORTER * depth * ways
    touched = abut.collide(own, body, poses=moved, first=True)
    still = np.zeros(len(ways), bool)
    still[touched.query] = True
    if body.mesh.is_closed and not still.all():
        still[~still] = abut.contains(body, (moved[~still] @ (*own.mesh.vertices[0], 1.0))[:, :3])
    assert still.all(), (*told, depth, ways[~still])


@pytest.mark.large
def test_a_u_and_a_ring_rest_on_floors_and_on_each_other():
    u, ring = u_mesh(), annulus()
    rng = np.random.default_rng(11)
    under = {"box": (shapes.Box((10, 10, 1)), 0.5), "u": (u, 1.0), "ring": (ring, 0.2)}
    over = {"u": (u, 1.0), "ring": (ring, 0.2), "plank": (shapes.Box((4.0, 0.6, 0.2)), 0.1)}
    rounds = 32 if SOAK else 1
    for below, (ground, top) in under.items():
        for name, (shape, half) in over.items():
            for k in range(rounds):
                if jit.INTERPRETED and (below, name) != ("box", "u"):
                    continue
                turn, reach = rng.uniform(-0.3, 0.3), 0.4 if below == "box" else 0.15
                turned = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]])
                start = at(*rng.uniform(-reach, reach, 2), top + half + rng.uniform(0.0, 0.1), turned)
                world = abut.World()
                world.add(ground, kind="static")
                body = world.add(shape, start)
                for _ in range(90):
                    world.step(1 / 60)
                pose, told = world.poses(body)[0], (below, name, k)
                assert abs(pose[2, 3] - top - half) <= world.slop, told
                assert np.abs(pose[:2, 3] - start[:2, 3]).max() < 0.02, told
                assert world.contacts().depth.max() <= world.slop, told
