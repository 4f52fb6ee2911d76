"""Distances and depths of `contacts` and `closest` against Minkowski differences, for every pair of shapes; what is not convex comes in pieces.

The oracle takes another road. Two convex shapes overlap if the hull of the differences of their vertices holds the origin; the shortest way that
parts them is the least distance to a facet (Qhull), and their distance is that of the hull from the origin (non-negative least squares). Neither
knows axes, features or triangles. Of a shape made of pieces, the way out along a direction is where its ray has left the differences of all of them.
"""

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.spatial import ConvexHull, QhullError

import abut
from abut.core import jit
from conftest import SOAK
from pairs_of_shapes import CORES, CORNERS, OTHERS, Asked, touching_pose

SAME = 1e-9
"""Of the size."""
ROUNDS = 100 if SOAK else (1 if jit.INTERPRETED else 6)
WAYS, FEW = 300, 40
"""Directions that are tried; pieces from which on there are fewer rounds."""
SUNK = (-0.1, -1e-3, 1e-4, 0.01, 0.1, 0.4, 1.0)
"""How far beyond touching: negative where they are apart."""


def block(*sides):
    """The corners of a box given by its sides along x, y and z."""
    return np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 3).astype(float)


def wedges(sides=12):
    """The annulus in pieces."""
    angle = 2.0 * np.pi * np.arange(sides + 1) / sides
    rim = np.stack((np.cos(angle), np.sin(angle)), axis=1)
    flat = [np.concatenate((rim[i : i + 2], 0.5 * rim[i : i + 2])) for i in range(sides)]
    return [np.concatenate([np.insert(piece, 2, z, axis=1) for z in (-0.2, 0.2)]) for piece in flat]


def columns(terrain):
    """What is below each triangle of a terrain, down to far below."""
    corners = terrain.mesh.vertices[terrain.mesh.faces]
    return [np.concatenate((three, three * (1, 1, 0) - (0, 0, 50))) for three in corners]


def triangles(mesh):
    return list(mesh.vertices[mesh.faces])


U = [
    block(*sides, (-0.5, 0.5))[:, [0, 2, 1]]
    for sides in (((-1.5, 1.5), (-1, 0)), ((-1.5, -0.5), (0, 1)), ((0.5, 1.5), (0, 1)))
]
PIECES = {
    **{name: [core.surface().vertices] for name, core in CORES.items() if core.radius == 0.0},
    "sphere": [np.zeros((1, 3))],
    "capsule": [np.array([(0, 0, -0.4), (0, 0, 0.4)])],
    "convex mesh": [CORNERS],
    "u": U,
    "deformable": U,
    "compound": [block((-0.5, 0.5), (-0.5, 0.5), (-0.2, 0.2)), *(np.add(piece, (0.3, 0, 1)) for piece in U)],
    "annulus": wedges(),
    "torus": triangles(OTHERS["torus"].mesh),
    "open mesh": triangles(OTHERS["open mesh"].mesh),
    "terrain": columns(OTHERS["terrain"]),
}


def points_of(name, pose):
    return PIECES[name][0] @ pose[:3, :3].T + pose[:3, 3]


def facets_of(piece, points):
    """Outward normals and offsets (n,4) of the differences; none where they span no volume."""
    try:
        return ConvexHull((piece[:, np.newaxis] - points).reshape(-1, 3)).equations
    except QhullError:
        return np.empty((0, 4))


def apart(piece, points):
    """The distance of two hulls that do not overlap: |D·x| is least for weights x that are not negative and add up to 1."""
    differences = (piece[:, np.newaxis] - points).reshape(-1, 3)
    weight = 1e3 * np.abs(differences).max()
    rows = np.vstack((differences.T, np.full(len(differences), weight)))
    x, _ = nnls(rows, np.array((0.0, 0.0, 0.0, weight)), maxiter=5000)
    return np.linalg.norm(differences.T @ (x / x.sum()))


def way_out(facets, ways):
    """(k,) how far the origin must go along each of the ways (k,3) to be in none of the bodies with these facets."""
    spans = []
    for normals in facets:
        along, offset = ways @ normals[:, :3].T, -normals[:, 3]
        at = np.divide(offset, along, out=np.full_like(along, np.inf), where=along != 0.0)
        enters, leaves = np.where(along < 0.0, at, -np.inf).max(axis=1), np.where(along > 0.0, at, np.inf).min(axis=1)
        spans.append((np.where(((along == 0.0) & (offset < 0.0)).any(axis=1), np.inf, enters), leaves))
    gone = np.zeros(len(ways))
    for _ in range(len(spans)):
        for enters, leaves in spans:
            gone = np.where((enters <= gone) & (gone < leaves), leaves, gone)
    return gone


def look_inside(radius, pieces, points, rng):
    """Whether the core is in a piece, and then the shortest way that was found to part them, else their distance."""
    near = [
        p for p in pieces if not ((p.min(axis=0) > points.max(axis=0)) | (p.max(axis=0) < points.min(axis=0))).any()
    ]
    facets = [each for each in (facets_of(piece, points) for piece in near) if len(each)]
    depths = [-each[:, 3].max() for each in facets]
    if max(depths, default=0.0) <= 0.0:
        return False, min(apart(piece, points) for piece in pieces) - radius
    ways = rng.normal(size=(WAYS, 3))
    ways = np.concatenate([ways / np.linalg.norm(ways, axis=1, keepdims=True), *(each[:, :3] for each in facets)])
    every = [each for each in (facets_of(piece, points) for piece in pieces) if len(each)]
    return True, way_out(every, ways).min() + radius


def leads_out(hits, other, core, pose):
    """Whether the deepest contact is the whole way out in front of the face that it names, along the face's normal."""
    deepest = int(np.argmax(hits.depth))
    shape, place = other[int(hits.shape_b[deepest])] if isinstance(other, list) else (other, np.eye(4))
    mesh = shape if isinstance(shape, abut.Mesh) else shape.mesh
    corners = mesh.vertices[mesh.faces[hits.face_b[deepest]]] @ place[:3, :3].T + place[:3, 3]
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    normal /= np.linalg.norm(normal)
    core_points = points_of(next(name for name, known in CORES.items() if known is core), pose)
    way = (normal @ corners.T).max() - (core_points @ normal).min() + core.radius
    return way == pytest.approx(hits.depth[deepest], abs=SAME) and -normal @ hits.normal[deepest] > 1 - SAME


@pytest.mark.large
@pytest.mark.parametrize("other", PIECES)
def test_depths_and_distances_are_those_of_minkowski_differences(other):
    rng = np.random.default_rng(len(other) * 7 + ord(other[0]))
    world, pieces = Asked(OTHERS[other]), PIECES[other]
    grown = OTHERS[other].radius if other in CORES else 0.0
    longer = count = 0
    for name, core in CORES.items():
        for k in range(max(1, ROUNDS * FEW // max(FEW, len(pieces)))):
            pose, came = touching_pose(world, core, rng)
            sunk = SUNK[int(rng.integers(len(SUNK)))]
            pose[:3, 3] -= sunk * came
            points = points_of(name, pose)
            if other == "terrain" and not ((points[:, :2] > core.radius) & (points[:, :2] < 2.4 - core.radius)).all():
                continue  # a terrain has no sides
            handle = world.add(core, pose, kind="kinematic")
            hits = world.contacts()
            world.remove(handle)
            closest = world.closest(core, pose, mask=2).distance
            inside, true = look_inside(core.radius + grown, pieces, points, rng)
            told = (other, name, k, sunk, inside, true, closest, hits.depth.max(initial=-1.0))
            size = 8.0 if "large box" in (name, other) else 2.0
            assert closest == pytest.approx(-hits.depth.max(), abs=SAME * size) if len(hits) else closest > 0.0, told
            if len(pieces) == 1:
                assert closest == pytest.approx(-true if inside else true, abs=SAME * size), told
            elif not inside and true > 0.0:
                assert closest == pytest.approx(true, abs=SAME * size), told
            else:
                assert closest < 0.0, told
                count += 1
                if other != "terrain" and -closest > abs(true) + SAME * size:
                    longer += 1
                    assert leads_out(hits, OTHERS[other], core, pose), told
    assert longer <= 0.1 * count
