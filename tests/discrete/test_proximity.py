import numpy as np
import pytest

import abut
from abut import Deformable, FeaturePair, InvalidInput, Mesh, Rigid, scenes
from abut.core import jit
from conftest import SLOW
from discrete.situations import ball, deformable, random_pose, rubble, sheet, soup, translation
from oracles.rationals import distance_sq

MAKERS = {"soup": soup, "rubble": rubble, "sheet": sheet, "ball": ball}
SIZE = 5 if SLOW else 12


def brute_force(a, b=None):
    """{(kind, a, b): exact distance} of all pairs of features that share no vertex; a vertex of no face is not there."""
    itself, b = b is None, a if b is None else b
    found = {}

    def measure(kind, i, j, p, q, pv, qv):
        if not (itself and set(pv) & set(qv)):
            found[kind, i, j] = float(distance_sq(p, q)) ** 0.5

    def rows(body, kind):
        vertices, mesh = body.vertices.tolist(), body.mesh
        features = {
            "vertex": {v: (v,) for v in np.unique(mesh.faces).tolist()},
            "edge": dict(enumerate(map(tuple, mesh.edges.tolist()))),
            "face": dict(enumerate(map(tuple, mesh.faces.tolist()))),
        }[kind]
        return [(i, [vertices[v] for v in feature], feature) for i, feature in features.items()]

    kinds = [(0, "vertex", "face"), (1, "edge", "edge")] + ([] if itself else [(2, "face", "vertex")])
    for kind, of_a, of_b in kinds:
        for i, p, pv in rows(a, of_a):
            for j, q, qv in rows(b, of_b):
                if not (itself and kind == 1 and i >= j):
                    measure(kind, i, j, p, q, pv, qv)
    return found


def check(found, expected, distance, size):
    band = 1e-12 * size
    rows = list(zip(found.kind.tolist(), found.a.tolist(), found.b.tolist(), strict=True))
    assert rows == sorted(set(rows))
    assert {k for k, d in expected.items() if d <= distance - band} <= set(rows)
    assert set(rows) <= {k for k, d in expected.items() if d <= distance + band}
    for k, row in enumerate(rows):
        assert abs(found.distance[k] - expected[row]) <= 1e-13 * size
    np.testing.assert_allclose(np.linalg.norm(found.point_a - found.point_b, axis=1), found.distance, atol=1e-12 * size)


def on_features(found, a, b):
    """Whether the points lie on the features they are said to be on."""
    parts = {0: ("vertex", "face"), 1: ("edge", "edge"), 2: ("face", "vertex")}
    for k in range(len(found)):
        for kind, body, i, p in zip(
            parts[int(found.kind[k])],
            (a, b),
            (found.a[k], found.b[k]),
            (found.point_a[k], found.point_b[k]),
            strict=True,
        ):
            rows = [i] if kind == "vertex" else getattr(body.mesh, kind + "s")[i]
            assert float(distance_sq([p.tolist()], body.vertices[rows].tolist())) ** 0.5 < 1e-12


@pytest.mark.parametrize("kind", MAKERS)
def test_a_body_with_itself(kind):
    rng = np.random.default_rng(list(MAKERS).index(kind))
    body = Rigid(MAKERS[kind](rng, SIZE), random_pose(rng, 1.0))
    expected = brute_force(body)
    for distance in (0.0, 0.2, 1.0):
        found = abut.proximity(body, distance)
        check(found, expected, distance, 5.0)
    on_features(abut.proximity(body, 0.1), body, body)
    soft = abut.proximity(deformable(body), 0.2)
    for name in ("kind", "a", "b", "distance", "point_a", "point_b"):
        np.testing.assert_array_equal(getattr(soft, name), getattr(abut.proximity(body, 0.2), name))


@pytest.mark.parametrize("kind", MAKERS)
def test_two_bodies(kind):
    rng = np.random.default_rng(10 + list(MAKERS).index(kind))
    a = Rigid(MAKERS[kind](rng, SIZE), random_pose(rng, 0.3))
    b = deformable(Rigid(ball(rng, 6), random_pose(rng, 0.3)))
    expected = brute_force(a, b)
    for distance in (0.0, 0.3):
        check(abut.proximity(a, distance, b), expected, distance, 5.0)
    near, back = abut.proximity(a, 0.3, b), abut.proximity(b, 0.3, a)
    mirrored = {(2 - k, j, i) for k, i, j in zip(back.kind.tolist(), back.a.tolist(), back.b.tolist(), strict=True)}
    assert mirrored == set(zip(near.kind.tolist(), near.a.tolist(), near.b.tolist(), strict=True))
    on_features(near, a, b)


@pytest.mark.large
def test_a_sheet_folded_near_itself():
    """Every pair across the fold, and none of neighbours: two flat layers, 0.01 apart."""
    flat = scenes.cloth(20, 20, size=2.0)
    x = flat.vertices.copy()
    folded = x[:, 0] > x[:, 0].mean() + 1e-9
    x[folded, 0] = 2 * x[:, 0].mean() - x[folded, 0] + 1e-3
    x[folded, 2] += 0.01
    body = Deformable(flat)
    body.update(x)
    near = abut.proximity(body, 0.011)
    vf = near.kind == FeaturePair.VERTEX_FACE
    assert (folded[near.a[vf]] != folded[flat.faces[near.b[vf]]].any(axis=1)).sum() > 300
    assert (near.distance <= 0.011).all()
    pairs = abut.candidates(flat, x, x, min_distance=0.011)
    every = set(map(tuple, pairs.vertex_face.tolist()))
    assert set(zip(near.a[vf].tolist(), near.b[vf].tolist(), strict=True)) <= every


def test_the_distance_is_closed():
    low, high = scenes.box(), scenes.box(center=(0.0, 0.0, 1.25))
    assert len(abut.proximity(low, 0.25, high)) > 0
    assert len(abut.proximity(low, np.nextafter(0.25, 0.0), high)) == 0


@pytest.mark.parametrize("scale", [2.0**-600, 2.0**-100, 2.0**150])
def test_scales(scale):
    rng = np.random.default_rng(3)
    mesh = ball(rng, 8)
    known = abut.proximity(mesh, 0.5)
    found = abut.proximity(Mesh(scale * mesh.vertices, mesh.faces), 0.5 * scale)
    np.testing.assert_array_equal(found.a, known.a)
    np.testing.assert_array_equal(found.b, known.b)
    np.testing.assert_array_equal(found.distance, known.distance * scale)
    assert len(abut.proximity(mesh, 1e75)) == len(brute_force(Rigid(mesh)))


def test_vertices_of_no_face_are_not_there():
    box = scenes.box()
    loose = Mesh(np.concatenate((box.vertices, [[0.5, 0.0, 0.0]])), box.faces)
    assert not (abut.proximity(loose, 0.1).a[abut.proximity(loose, 0.1).kind == 0] == 8).any()
    other = scenes.box(center=(5.0, 0.0, 0.0))
    assert len(abut.proximity(other, 4.01, loose)) == len(abut.proximity(other, 4.01, box))


def test_degenerate_and_empty():
    point = Mesh([[0.0, 0, 0]], [(0, 0, 0)])
    assert len(abut.proximity(point, 1.0)) == 0
    assert abut.proximity(point, 1.0, Rigid(point, translation(1.0, 0, 0))).distance.tolist() == [1.0, 1.0]


def test_bad_arguments():
    with pytest.raises(InvalidInput, match="distance"):
        abut.proximity(scenes.box(), -1.0)
    with pytest.raises(InvalidInput, match="b"):
        abut.proximity(scenes.box(), 1.0, 3)


def test_pairs_show_themselves():
    near = abut.proximity(scenes.box(), 0.5, scenes.box(center=(0.25, 0.125, 1.5)))
    assert repr(near) == "Proximity(6 pairs, 1 vertex_face, 4 edge_edge, 1 face_vertex)"
    assert "EDGE_EDGE" in near._repr_html_()
    with pytest.raises(AttributeError):
        near.a = None


# ---- faces of one body with a margin


def face_pairs_near(body):
    """Pairs of faces that share no vertex, with their exact distances."""
    corners, faces = body.vertices[body.mesh.faces].tolist(), body.mesh.faces.tolist()
    return {
        (i, j): float(distance_sq(corners[i], corners[j])) ** 0.5
        for i in range(len(faces))
        for j in range(i + 1, len(faces))
        if not set(faces[i]) & set(faces[j])
    }


@pytest.mark.parametrize("kind", MAKERS)
def test_collide_one_body_with_a_margin(kind):
    rng = np.random.default_rng(30 + list(MAKERS).index(kind))
    body = Rigid(MAKERS[kind](rng, 6 if jit.INTERPRETED else 16), random_pose(rng, 1.0))
    known = face_pairs_near(body)
    meeting = set(zip(abut.collide(body).face_a.tolist(), abut.collide(body).face_b.tolist(), strict=True))
    for margin in (1e-9, 0.05, 0.4):
        for same in (body, deformable(body)):
            hits = abut.collide(same, margin=margin)
            rows = list(zip(hits.face_a.tolist(), hits.face_b.tolist(), strict=True))
            assert rows == sorted(set(rows))
            assert meeting | {k for k, d in known.items() if d <= 2 * margin - 1e-12} <= set(rows)
            assert set(rows) - meeting <= {k for k, d in known.items() if d <= 2 * margin + 1e-12}
    depths = abut.collide(body, margin=0.4)
    for k, row in enumerate(zip(depths.face_a.tolist(), depths.face_b.tolist(), strict=True)):
        if row in known and row not in meeting:
            assert abs(-depths.depth[k] - known[row]) < 1e-12
    assert len(abut.collide(body, margin=0.4, first=True)) == min(1, len(depths))
