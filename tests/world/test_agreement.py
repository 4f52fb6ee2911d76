"""`contacts` and `closest` answer one question, for every pair of shapes: near touching, a little in each other, and deep.

The oracle takes another road: the exact phase of `abut.discrete` on the triangles of both shapes (`collide`, `distance`), which knows neither
cores nor axes. A depth is right only if no translation shorter than it parts the two, whatever its direction: some are tried, all in one call.
"""

import numpy as np
import pytest

import abut
from abut import shapes
from abut.core import jit
from conftest import SOAK
from pairs_of_shapes import CORES, OTHERS, Asked, annulus, at, touching_pose, u_mesh

SAME = 1e-9
"""Of the size: the two answers come from the same axis."""
SHORTER = 0.999
"""A translation of so much of the depth must not part the shapes: what rounding and the facets of round shapes leave."""
ROUNDS = 40 if SOAK else (1 if jit.INTERPRETED else 4)
DIRECTIONS = 40
EMPTY_LANES = pytest.mark.filterwarnings("ignore:(overflow|invalid value|divide by zero) encountered:RuntimeWarning")
"""Interpreted, the trees of the oracle warn: unused lanes of a packet of boxes lie so far away that squares overflow, and are cut off."""


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


def depths_of(world, core, pose, swapped):
    """The deepest contact as a separation, and what `closest` says."""
    handle = world.add(core, pose, kind="kinematic")
    hits = world.contacts()
    assert swapped or len(hits.pairs) <= 1
    world.remove(handle)
    closest = world.closest(core, pose, mask=2)
    return hits, closest


@EMPTY_LANES
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
