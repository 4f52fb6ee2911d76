import numpy as np
import pytest

import abut
from abut import Deformable, InvalidInput, Mesh, Rigid, scenes
from abut.core import jit
from abut.discrete.rays.search import CHUNK
from conftest import SLOW, SOAK
from discrete.situations import TREE_SIZES, ball, deformable, exact_pose, random_pose, rubble, sheet, soup, translation
from oracles.bodies import winding_number
from oracles.lines import passages, segment_passages

COUNT = 3 if jit.INTERPRETED else 6
MAKERS = {"soup": soup, "rubble": rubble, "sheet": sheet, "ball": ball}
FIELDS = ("ray", "face", "t", "point", "barycentric", "entering")


def triangles_of(body):
    return body.vertices[body.mesh.faces]


def targets(rng, body, count):
    """Vertices, middles of edges and points of faces."""
    triangles = triangles_of(body)[rng.integers(0, len(body.mesh.faces), 3 * count)].reshape(3, count, 3, 3)
    return np.concatenate(
        (triangles[0][:, 0], 0.5 * triangles[1][:, 0] + 0.5 * triangles[1][:, 1], triangles[2].mean(axis=1))
    )


def rays(rng, body, count):
    """Rays aimed at vertices, edges and faces, along edges, in the planes of faces, from the surface, and beside it."""
    aims = targets(rng, body, count)
    middle, size = body.vertices.mean(axis=0), np.ptp(body.vertices, axis=0).max() + 1e-3
    origins = middle + size * rng.normal(size=aims.shape)
    triangles = triangles_of(body)[rng.integers(0, len(body.mesh.faces), 3 * count)]
    along = triangles[:, 1] - triangles[:, 0]
    inside = along + 0.25 * (triangles[:, 2] - triangles[:, 0])
    starts = np.concatenate(
        (origins, triangles[:count, 0] - 2 * along[:count], triangles[count:, 0] - inside[count:], aims)
    )
    ways = np.concatenate((aims - origins, along[:count], inside[count:], rng.normal(size=aims.shape)))
    good = ways.any(axis=1)
    return starts[good], ways[good]


def rows_of(hits, ray):
    mine = hits.ray == ray
    return list(zip(hits.t[mine].tolist(), hits.face[mine].tolist(), hits.entering[mine].tolist(), strict=True))


def check(body, hits, expected):
    """All hits against the oracle: faces and ways exactly, t to rounding; points and weights against the rays."""
    triangles = triangles_of(body)
    scale = np.abs(triangles).max() + 1e-300
    for i, passed in enumerate(expected):
        found = rows_of(hits, i)
        assert sorted(face for _, face, _ in found) == sorted(face for _, face, _ in passed)
        true_t = {face: (float(t), entering) for t, face, entering in passed}
        for t, face, entering in found:
            assert abs(t - true_t[face][0]) <= 1e-11 * max(1.0, abs(t))
            assert entering == true_t[face][1]
    if len(hits):
        np.testing.assert_allclose(hits.barycentric.sum(axis=1), 1.0, atol=1e-12)
        assert (hits.barycentric >= 0).all()
        points = np.einsum("nk,nkd->nd", hits.barycentric, triangles[hits.face])
        np.testing.assert_allclose(points, hits.point, atol=1e-13 * scale)
        keys = list(zip(hits.ray.tolist(), hits.t.tolist(), hits.face.tolist(), strict=True))
        assert keys == sorted(keys)


def same(a, b):
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def agree(body, starts, ways, cast=abut.cast):
    """All hits, after a look at what the other modes and the other kind of body say."""
    hits, first, some = (cast(body, starts, ways, mode=mode) for mode in ("all", "first", "any"))
    rows = np.unique(hits.ray, return_index=True)[1]
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(hits, name)[rows], getattr(first, name))
    np.testing.assert_array_equal(some.ray, first.ray)
    every = set(zip(hits.ray.tolist(), hits.face.tolist(), hits.t.tolist(), strict=True))
    assert set(zip(some.ray.tolist(), some.face.tolist(), some.t.tolist(), strict=True)) <= every
    same(hits, cast(deformable(body), starts, ways, mode="all"))
    return hits


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("rounded", [False, True])
def test_rays_pass_the_faces_that_linear_systems_say(kind, rounded):
    rng = np.random.default_rng([list(MAKERS).index(kind), rounded])
    mesh = MAKERS[kind](rng, 7 if SLOW else 20)
    if rounded:
        mesh = Mesh(np.round(2 * mesh.vertices), mesh.faces)
    body = Rigid(mesh, exact_pose(rng, (1.0, 2.0, -3.0)) if rounded else random_pose(rng, 1.0))
    starts, ways = rays(rng, body, COUNT)
    triangles = triangles_of(body)
    check(body, agree(body, starts, ways), [passages(o, d, triangles) for o, d in zip(starts, ways, strict=True)])


@pytest.mark.parametrize("kind", MAKERS)
def test_segments_end_exactly_where_they_end(kind):
    rng = np.random.default_rng(10 + list(MAKERS).index(kind))
    mesh = MAKERS[kind](rng, 7 if SLOW else 20)
    mesh = Mesh(2 * np.round(2 * mesh.vertices), mesh.faces) if kind != "soup" else mesh
    body = Rigid(mesh, exact_pose(rng, (1.0, 0.0, 2.0)))
    ends = targets(rng, body, COUNT)
    starts = np.concatenate((np.round(3 * rng.normal(size=(len(ends) - COUNT, 3))), ends[:COUNT][::-1]))
    good = (starts != ends).any(axis=1)
    starts, ends = starts[good], ends[good]
    hits = agree(body, starts, ends, abut.cast_segments)
    check(body, hits, [segment_passages(p, q, triangles_of(body)) for p, q in zip(starts, ends, strict=True)])
    assert ((hits.t >= 0) & (hits.t <= 1)).all()


@pytest.mark.parametrize("seed", range(2 if SLOW else 6))
def test_passages_are_the_difference_of_winding_numbers(seed):
    """Segments between points of a grid, through the vertices and along the edges and faces of a surface of that grid."""
    rng = np.random.default_rng(seed)
    mesh = ball(rng, 10 if SLOW else 40)
    body = Rigid(Mesh(2 * np.round(2 * mesh.vertices), mesh.faces), exact_pose(rng, (1.0, 0.0, 0.0)))
    points = rng.integers(-5, 6, (4 * COUNT, 3)).astype(float)
    numbers = [winding_number(p, triangles_of(body)) for p in points]
    off = [i for i, number in enumerate(numbers) if number is not None]
    pairs = [(i, j) for i in off for j in off if (points[i] != points[j]).any()]
    hits = abut.cast_segments(body, points[[i for i, _ in pairs]], points[[j for _, j in pairs]], mode="all")
    left = np.bincount(hits.ray, weights=np.where(hits.entering, -1, 1), minlength=len(pairs))
    assert left.tolist() == [numbers[i][0] - numbers[j][0] for i, j in pairs]


@pytest.mark.large
@pytest.mark.parametrize(
    "mesh", [scenes.bumpy(3000, seed=2), scenes.icosphere(3), scenes.torus(1.0, 0.3, 40, 20)], ids=str
)
def test_no_ray_leaves_a_closed_surface_unseen(mesh):
    """From inside, towards every vertex, every middle of an edge and of a face: an odd number of passages, the last of them outwards."""
    rng = np.random.default_rng(0)
    for body in (Rigid(mesh), Deformable(mesh), Rigid(mesh, random_pose(rng, 5.0))):
        vertices = body.vertices
        aims = np.concatenate(
            (vertices, vertices[body.mesh.edges].mean(axis=1), vertices[body.mesh.faces].mean(axis=1))
        )
        origins = body.vertices[rng.integers(0, len(vertices), len(aims))]
        origins = origins + 0.02 * (vertices.mean(axis=0) - origins)
        origins = origins[abut.contains(body, origins)][:40]
        origins = origins[rng.integers(0, len(origins), len(aims))]
        inner = abut.signed_distance(body, origins).distance < 0
        hits = abut.cast(body, origins[inner], (aims - origins)[inner], mode="all")
        left = np.bincount(hits.ray, weights=np.where(hits.entering, -1, 1), minlength=int(inner.sum()))
        assert (left == 1).all()


@pytest.mark.large
def test_every_size_of_tree_and_every_count_of_rays():
    rng = np.random.default_rng(1)
    for count in (n for n in TREE_SIZES if n < 70 or SOAK):
        body = Rigid(soup(rng, count), random_pose(rng, 0.5))
        starts, ways = rays(rng, body, 2)
        check(
            body,
            agree(body, starts, ways),
            [passages(o, d, triangles_of(body)) for o, d in zip(starts, ways, strict=True)],
        )
    body = Rigid(ball(rng, 200))
    for count in (1, CHUNK - 1, CHUNK, CHUNK + 1, 127, 128, 129, 5000):
        starts, ways = rays(rng, body, -(-count // 9))
        starts, ways = starts[:count], ways[:count]
        hits = abut.cast(body, starts, ways, mode="all")
        turn = rng.permutation(count)
        turned = abut.cast(body, starts[turn], ways[turn], mode="all")
        order = np.lexsort((turned.face, turned.t, turn[turned.ray]))
        np.testing.assert_array_equal(turn[turned.ray][order], hits.ray)
        np.testing.assert_array_equal(turned.face[order], hits.face)


def test_more_hits_than_there_is_room_for_at_first():
    plates = Mesh(np.concatenate([[[0, 0, z], [4, 0, z], [0, 4, z]] for z in range(30)]), np.arange(90).reshape(-1, 3))
    hits = abut.cast(plates, [[1.0, 1, -1], [9, 9, 9], [1, 1, 40]], [[0.0, 0, 2], [0, 0, 1], [0, 0, -1]], mode="all")
    assert hits.ray.tolist() == [0] * 30 + [2] * 30
    assert hits.face.tolist() == [*range(30), *reversed(range(30))]
    np.testing.assert_array_equal(hits.t, [(1 + z) / 2 for z in range(30)] + [11.0 + z for z in range(30)])
    assert hits.entering.tolist() == [False] * 30 + [True] * 30


# ---- named cases, on a cube from −1 to 1


CUBE = scenes.box((2.0, 2.0, 2.0))
NAMED = {
    "through a face and its diagonal": ((0, 0, 5), (0, 0, -1), [4.0, 6.0]),
    "through two vertices": ((3, 3, 3), (-1, -1, -1), [2.0, 4.0]),
    "through the middles of two edges": ((2, 2, 0), (-1, -1, 0), [1.0, 3.0]),
    "past the cube": ((3, 0, 0), (0, 1, 0), []),
    "away from the cube": ((2, 0, 0), (1, 0, 0), []),
    "from inside": ((0, 0, 0), (0, 2, 0), [0.5]),
    "from a face, outwards": ((1, 0.25, 0.5), (1, 0, 0), [0.0]),
    "from a face, inwards": ((1, 0.25, 0.5), (-1, 0, 0), [0.0, 2.0]),
    "from a vertex, inwards": ((1, 1, 1), (-1, -1, -1), [0.0, 2.0]),
}


@pytest.mark.parametrize("name", NAMED)
def test_named_rays(name):
    origin, way, times = NAMED[name]
    for body in (Rigid(CUBE), Deformable(CUBE)):
        hits = abut.cast(body, [origin], [way], mode="all")
        assert hits.t.tolist() == times
        assert abut.cast(body, [origin], [way]).t.tolist() == times[:1]


@pytest.mark.parametrize(
    "origin, way",
    [((1, -3, 0.5), (0, 1, 0)), ((1, -3, 1), (0, 1, 0)), ((3, 0, 1), (-1, 0, 0)), ((0, 2, 1), (1, -1, 0))],
)
def test_a_ray_that_only_touches_gives_an_even_number_of_hits(origin, way):
    """In the plane of a face, along an edge, across a face it lies in, and at a vertex or edge it grazes."""
    for turn in (1.0, -1.0):
        hits = abut.cast(CUBE, [np.array(origin, float)], [turn * np.array(way, float)], mode="all")
        assert len(hits) in (0, 2)
        assert hits.entering.sum() * 2 == len(hits)


def test_a_hit_on_a_vertex_or_an_edge_is_there_exactly():
    vertex = abut.cast(CUBE, [[2.0, 2.5, 3.0]], [[-1.0, -1.5, -2.0]])
    assert vertex.point[0].tolist() == [1.0, 1.0, 1.0]
    assert sorted(vertex.barycentric[0].tolist()) == [0.0, 0.0, 1.0]
    edge = abut.cast(CUBE, [[2.0, 2.0, 0.3]], [[-1.0, -1.0, 0.0]])
    assert edge.point[0, :2].tolist() == [1.0, 1.0]
    assert sorted(edge.barycentric[0].tolist())[0] == 0.0


def test_faces_without_area_are_never_passed():
    flat = Mesh([[0, 0, 0], [1, 0, 0], [2, 0, 0], [1, 0, 0]], [(0, 1, 2), (0, 0, 1), (1, 1, 1)])
    starts = [[1.0, -1, 0], [0.5, 0, 1], [-1, 0, 0]]
    assert not abut.cast(flat, starts, [[0.0, 1, 0], [0, 0, -1], [1, 0, 0]], mode="all")


def test_max_distance_is_a_length():
    ways = np.array([[0.0, 0, -1], [0, 0, -0.25], [0, 0, -(2.0**100)]])
    starts = [[0.3, 0.2, 3.0]] * 3
    assert abut.cast(CUBE, starts, ways, max_distance=2.0).hit.all()
    assert not abut.cast(CUBE, starts, ways, max_distance=np.nextafter(2.0, 0.0)).hit.any()
    assert len(abut.cast(CUBE, starts, ways, max_distance=4.0, mode="all")) == 6
    assert len(abut.cast(CUBE, starts, ways, max_distance=3.9, mode="all")) == 3
    assert not abut.cast(CUBE, starts, ways, max_distance=0.0)


@pytest.mark.parametrize("scale", [2.0**-300, 2.0**-40, 2.0**200])
def test_scales(scale):
    rng = np.random.default_rng(2)
    mesh = ball(rng, 8 if SLOW else 20)
    starts, ways = rays(rng, Rigid(mesh), COUNT)
    expected = abut.cast(mesh, starts, ways, mode="all")
    for longer in (1.0, 2.0**30, 2.0**-100):
        hits = abut.cast(Mesh(scale * mesh.vertices, mesh.faces), scale * starts, longer * ways, mode="all")
        np.testing.assert_array_equal(hits.face, expected.face)
        np.testing.assert_allclose(hits.t, expected.t * scale / longer, rtol=1e-12)
        np.testing.assert_allclose(hits.barycentric, expected.barycentric, atol=1e-12)


def test_from_afar():
    rng = np.random.default_rng(3)
    body = Rigid(ball(rng, 8 if SLOW else 20), translation(1e6, 0.0, -1e6))
    for far in (1e3, 1e6, 1e12):
        aims = targets(rng, body, 2)
        starts = aims + far * rng.normal(size=aims.shape)
        triangles = triangles_of(body)
        expected = [passages(o, d, triangles) for o, d in zip(starts, aims - starts, strict=True)]
        hits = abut.cast(body, starts, aims - starts, mode="all")
        for i, passed in enumerate(expected):  # the order is that of computed t: from afar they are nearly the same
            assert sorted(f for _, f, _ in rows_of(hits, i)) == sorted(f for _, f, _ in passed)


def test_after_update_and_at_a_new_pose():
    soft, hard = Deformable(CUBE), Rigid(CUBE)
    soft.update(3.0 * CUBE.vertices)
    hard.pose = translation(0.0, 0.0, 2.0)
    assert abut.cast(soft, [[0.1, 0.2, 9.0]], [[0.0, 0, -1]], mode="all").t.tolist() == [6.0, 12.0]
    assert abut.cast(hard, [[0.1, 0.2, 9.0]], [[0.0, 0, -1]], mode="all").t.tolist() == [6.0, 8.0]


# ---- arguments


def test_one_stands_for_all():
    hits = abut.cast(CUBE, (0.0, 0.0, 5.0), [[0.0, 0, -1], [0, 0, 1], [0.1, 0, -1]])
    assert hits.ray.tolist() == [0, 2]
    assert hits.hit.tolist() == [True, False, True]
    assert abut.cast(CUBE, [[0.0, 0, 5], [0.5, 0, 5]], (0.0, 0, -1)).t.tolist() == [4.0, 4.0]
    assert len(abut.cast(CUBE, [], [])) == len(abut.cast_segments(CUBE, [], [])) == 0


def test_bad_arguments():
    with pytest.raises(InvalidInput, match=r"directions\[1\]: has no length"):
        abut.cast(CUBE, np.zeros((2, 3)), [[1.0, 0, 0], [0, 0, 0]])
    with pytest.raises(InvalidInput, match=r"ends\[0\]: is where the segment starts"):
        abut.cast_segments(CUBE, np.zeros((1, 3)), np.zeros((1, 3)))
    with pytest.raises(InvalidInput, match="directions: has 3 rows for 2 origins"):
        abut.cast(CUBE, np.zeros((2, 3)), np.ones((3, 3)))
    with pytest.raises(InvalidInput, match="mode"):
        abut.cast(CUBE, np.zeros((2, 3)), np.ones((2, 3)), mode="last")
    with pytest.raises(InvalidInput, match="max_distance"):
        abut.cast(CUBE, np.zeros((2, 3)), np.ones((2, 3)), max_distance=-1.0)


def test_hits_show_themselves():
    hits = abut.cast(CUBE, [[0.0, 0, 5], [9, 9, 9]], [[0.0, 0, -1], [0, 0, 1]], mode="all")
    assert repr(hits) == "CastHits(2 hits, 1 of 2 rays hitting)"
    assert "<table>" in hits._repr_html_()
    assert hits
    with pytest.raises(AttributeError):
        hits.t = None
