import numpy as np
import pytest

from abut import Deformable, Mesh, Rigid, Unsupported, collide, scenes
from abut.core import jit
from conftest import SLOW, SOAK
from discrete.situations import ball, deformable, exact_pose, random_pose, rubble, sheet, soup, translation
from oracles.bodies import pair_set, self_pairs

X, Y, Z, ZERO = [1.0, 0, 0], [0.0, 1, 0], [0.0, 0, 1], [0.0, 0, 0]


def own_pairs(vertices, faces):
    """The pairs of one mesh with itself, found through both kinds of body."""
    mesh = Mesh(vertices, faces)
    found = pair_set(collide(Rigid(mesh)))
    assert pair_set(collide(Deformable(mesh))) == found == sorted(found)
    assert all(i < j for i, j in found)
    return found


NAMED = {
    "apart": ([ZERO, X, Y, [5, 5, 5], [6, 5, 5], [5, 6, 5]], [(0, 1, 2), (3, 4, 5)], False),
    "no vertex shared, crossing": (
        [[-1, -1, 0], [1, -1, 0], [0, 2, 0], [0, 0, -1], [0, 0, 1], [0, 0.5, 1]],
        [(0, 1, 2), (3, 4, 5)],
        True,
    ),
    "no vertex shared, touching in a vertex": ([ZERO, X, Y, ZERO, [0, 0, 1], [0, 1, 1]], [(0, 1, 2), (3, 4, 5)], True),
    "one vertex shared, beside each other": ([ZERO, X, Y, [-1, 0, 0], [0, -1, 0]], [(0, 1, 2), (0, 3, 4)], False),
    "one vertex shared, upright on the face": (
        [ZERO, X, Y, [0.2, 0.2, 1], [0.4, 0.1, 1]],
        [(0, 1, 2), (0, 3, 4)],
        False,
    ),
    "one vertex shared, an edge through the other": (
        [ZERO, X, Y, [0.2, 0.2, -1], [0.2, 0.2, 1]],
        [(0, 1, 2), (0, 3, 4)],
        True,
    ),
    "one vertex shared, an edge along the other's": ([ZERO, X, Y, [2, 0, 0], [1, 0, 1]], [(0, 1, 2), (0, 3, 4)], True),
    "one vertex shared, overlapping in a plane": (
        [ZERO, X, Y, [3, 1, 0], [1, 3, 0]],
        [(0, 1, 2), (0, 3, 4)],
        True,
    ),
    "one vertex shared, only touching in another": (
        [ZERO, X, Y, [1, 0, 0], [1, 0, 1]],
        [(0, 1, 2), (0, 3, 4)],
        True,
    ),
    "edge shared, open like a book": ([ZERO, X, Y, Z], [(0, 1, 2), (1, 0, 3)], False),
    "edge shared, flat": ([ZERO, X, Y, [0.5, -1, 0]], [(0, 1, 2), (1, 0, 3)], False),
    "edge shared, folded flat": ([ZERO, X, Y, [0.9, 0.4, 0]], [(0, 1, 2), (1, 0, 3)], True),
    "edge shared, folded flat but an ulp": ([ZERO, X, Y, [0.9, 0.4, 5e-324]], [(0, 1, 2), (1, 0, 3)], False),
    "edge shared, other vertices in one place": ([ZERO, X, Y, Y], [(0, 1, 2), (1, 0, 3)], True),
    "three vertices shared": ([ZERO, X, Y], [(0, 1, 2), (0, 1, 2)], True),
    "three vertices shared, turned over": ([ZERO, X, Y], [(0, 1, 2), (2, 1, 0)], True),
    "collapsed to an edge of the other": ([ZERO, X, Y], [(0, 0, 1), (0, 1, 2)], False),
    "collapsed to an edge of the other, last": ([ZERO, X, Y], [(0, 1, 2), (1, 2, 2)], False),
    "collapsed to a vertex of the other": ([ZERO, X, Y], [(0, 0, 0), (0, 1, 2)], False),
    "collapsed to a segment away from the other": ([ZERO, X, Y, [-1, -1, 0]], [(0, 0, 3), (0, 1, 2)], False),
    "collapsed to a segment into the other": ([ZERO, X, Y, [0.3, 0.3, 0]], [(0, 0, 3), (0, 1, 2)], True),
    "collapsed to a segment through the other": (
        [ZERO, X, Y, [0.2, 0.2, -1], [0.2, 0.2, 1]],
        [(3, 3, 4), (0, 1, 2)],
        True,
    ),
    "collapsed twice to the same segment": ([ZERO, X, Y], [(0, 0, 1), (0, 1, 1)], False),
    "no area, the shared vertex in its middle": (
        [ZERO, X, [-1, 0, 0], [0, 1, 1], [0, 1, -1]],
        [(0, 1, 2), (0, 3, 4)],
        False,
    ),
    "no area, the shared vertex at its end": (
        [ZERO, X, [2, 0, 0], [0, 1, 1], [0, 1, -1]],
        [(0, 1, 2), (0, 3, 4)],
        False,
    ),
    "no area, on the shared edge": ([ZERO, X, Y, [0.5, 0, 0]], [(0, 1, 2), (0, 1, 3)], False),
    "no area, longer than the shared edge": ([ZERO, X, Y, [2, 0, 0]], [(0, 1, 2), (0, 1, 3)], False),
}


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("scale", [1.0, 2.0**-300, 2.0**200])
def test_named_pairs(name, scale):
    vertices, faces, meets = NAMED[name]
    scaled = np.array(vertices) * scale
    if name == "edge shared, folded flat but an ulp":
        scaled[3, 2] = 5e-324
    assert (self_pairs(scaled, faces) == [(0, 1)]) == meets  # the oracle itself
    for order in ((0, 1), (1, 0)):
        for turn in (0, 1, 2):
            turned = [np.roll(faces[order[0]], turn), faces[order[1]]]
            assert own_pairs(scaled, turned) == ([(0, 1)] if meets else [])


def test_folds_with_vertices_almost_on_the_edge():
    """Exactly coplanar slivers: which side of the common edge their other vertices are on takes exact signs."""
    rng = np.random.default_rng(1)
    vertices, faces = [], []
    for k in range(20 if SLOW else 400):
        p, q = rng.random((2, 2))
        t = rng.uniform(-0.2, 1.2, (2, 1))
        points = np.concatenate(([p, q], p + t * (q - p)))
        vertices.append(np.column_stack((points, np.full(4, 10.0 * k))))
        faces += [(4 * k, 4 * k + 1, 4 * k + 2), (4 * k + 1, 4 * k, 4 * k + 3)]
    vertices = np.concatenate(vertices)
    expected = self_pairs(vertices, faces)
    assert 0.2 < len(expected) / (len(faces) / 2) < 0.8
    assert own_pairs(vertices, faces) == expected


@pytest.mark.large
@pytest.mark.parametrize(
    "mesh",
    [scenes.icosphere(1), scenes.box(), scenes.torus(1.0, 0.3, 5, 3), scenes.cloth(4, 4), scenes.bumpy(60)],
    ids=["icosphere", "box", "torus", "cloth", "bumpy"],
)
def test_a_clean_surface_does_not_meet_itself(mesh):
    hits = collide(Rigid(mesh))
    assert not hits
    assert len(hits) == 0
    assert hits.inside.tolist() == [0]
    assert not collide(Deformable(mesh))
    assert not collide(Rigid(mesh, exact_pose(np.random.default_rng(0), (3.0, 2.0, 1.0))))


@pytest.mark.large
def test_a_large_clean_surface_does_not_meet_itself():
    rng = np.random.default_rng(4)
    for mesh in (scenes.icosphere(5), scenes.bumpy(20_000)):
        assert not collide(Rigid(mesh, random_pose(rng, 2.0)))
        assert not collide(deformable(Rigid(mesh, random_pose(rng, 2.0))))


MAKERS = {"soup": soup, "rubble": rubble, "sheet": sheet, "ball": ball}


def tangled(kind, seed, size):
    """A mesh that meets itself in many ways; its coordinates are on a grid every other time."""
    rng = np.random.default_rng([list(MAKERS).index(kind), seed])
    mesh = MAKERS[kind](rng, size)
    vertices = mesh.vertices * [1.0, 1.0, 0.1 if kind == "sheet" else 1.0]
    if kind in ("ball", "sheet"):
        vertices = vertices + (0.3 if kind == "ball" else 0.05) * rng.normal(size=vertices.shape)
    if seed % 2:
        vertices = np.round(3 * vertices) / 2
    return Mesh(vertices, mesh.faces)


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("seed", [0, 1])
def test_pairs_are_those_of_brute_force(kind, seed):
    mesh = tangled(kind, seed, 9 if jit.INTERPRETED else 18)
    expected = self_pairs(mesh.vertices, mesh.faces)
    assert own_pairs(mesh.vertices, mesh.faces) == expected
    assert len(collide(Rigid(mesh), first=True)) == min(1, len(expected))
    assert bool(collide(Rigid(mesh), first=True)) == bool(expected)


@pytest.mark.large
def test_pairs_are_those_of_brute_force_in_many_meshes():
    met, seeds = 0, range(10, 14 if SOAK else 12)
    for seed in seeds:
        for kind in MAKERS:
            mesh = tangled(kind, seed, 30 if SOAK else 22)
            expected = self_pairs(mesh.vertices, mesh.faces)
            assert own_pairs(mesh.vertices, mesh.faces) == expected
            met += bool(expected)
    assert met > 2 * len(seeds)


def test_pairs_are_about_the_world():
    rng = np.random.default_rng(8)
    mesh = tangled("soup", 0, 9)
    body = Rigid(mesh, random_pose(rng, 3.0))
    assert pair_set(collide(body)) == self_pairs(body.vertices, mesh.faces)
    moving = Deformable(mesh)
    moving.update(rng.permutation(mesh.vertices))
    assert pair_set(collide(moving)) == self_pairs(moving.vertices, mesh.faces)


def test_more_pairs_than_room_for():
    count = 8 if SLOW else 60
    mesh = Mesh([ZERO, X, Y], np.tile([0, 1, 2], (count, 1)))
    assert pair_set(collide(Rigid(mesh))) == [(i, j) for i in range(count) for j in range(i + 1, count)]


def test_depth_of_a_body_in_itself_is_finite():
    """Two overlapping boxes as one mesh: rows have normals and points; the depth of a surface in itself is 0."""
    box = scenes.box()
    mesh = Mesh(np.concatenate((box.vertices, box.vertices + 0.3)), np.concatenate((box.faces, box.faces + 8)))
    hits = collide(Rigid(mesh))
    assert len(hits) > 0
    np.testing.assert_allclose(np.linalg.norm(hits.normal, axis=1), 1.0)
    assert hits.point.shape == (len(hits), 3)
    np.testing.assert_array_equal(hits.depth, 0.0)


@pytest.mark.parametrize("options", [{"poses": np.eye(4)[np.newaxis]}], ids=["poses"])
def test_what_is_not_supported(options):
    with pytest.raises(Unsupported, match=next(iter(options))):
        collide(Rigid(scenes.box(), translation(1, 0, 0)), **options)
