"""DNF and SLPF reject only what fractions show to be apart, and never a pair that meets, at any scale."""

import numpy as np
import pytest

import abut
from abut.ccd import Candidates, candidates, filter_dnf, filter_slpf
from abut.ccd.culling.filters import LINES, is_apart_edge_edge, is_apart_vertex_face, is_never_coplanar, scale_of
from abut.core.errors import InvalidInput
from abut.core.jit import INTERPRETED
from ccd.steps import SCENES, is_separated, load_scene, volume_coefficients

COUNT = 40 if INTERPRETED else 400
SCALES = [1.0, 1e-100, 1e74, 2.0**-300]


def four(points):
    return tuple(tuple(float(c) for c in point) for point in points)


def dnf_rejects(x):
    return is_never_coplanar(four(x[:4]), four(x[4:]), scale_of(float(np.abs(x).max())))


def slpf_rejects(x, split, lines=LINES):
    rule = is_apart_vertex_face if split == 1 else is_apart_edge_edge
    return any(rule(four(x[:4]), four(x[4:]), tuple(line)) for line in lines.tolist())


def random_queries(rng, count):
    """General position, small integers, nearly touching, far from the origin, at rest, coplanar motion."""
    yield from rng.normal(size=(count, 8, 3))
    yield from rng.integers(-2, 3, (count, 8, 3)).astype(float)
    yield from 1.0 + rng.integers(-2, 3, (count, 8, 3)) * 2.0**-50
    yield from 1e6 + rng.normal(size=(count, 8, 3))
    rest = rng.normal(size=(count, 4, 3))
    yield from np.concatenate([rest, rest], axis=1)
    flat = rng.normal(size=(count, 8, 3))
    flat[:, :, 2] = 0.1
    yield from flat


def vertex_face_hit(rng):
    """A vertex that is on the face (or its border, or a corner) at t = ½, in coordinates with few bits: no rounding."""
    x = rng.integers(-8, 9, (8, 3)).astype(float)
    weights = rng.multinomial(4, [1 / 3] * 3) / 4.0
    x[4] = weights @ (x[1:4] + x[5:8]) - x[0]
    return x


def edge_edge_hit(rng):
    x = rng.integers(-8, 9, (8, 3)).astype(float)
    s, r = rng.integers(0, 2), rng.integers(0, 5) / 4.0
    touched = (1 - r) * (x[2] + x[6]) + r * (x[3] + x[7])
    x[4 + s] = touched - x[s]  # an end of the first edge is on the second at t = ½
    return x


def test_dnf_rejects_only_what_is_never_coplanar(rng):
    rejected = 0
    for x in random_queries(rng, COUNT):
        if dnf_rejects(x):
            rejected += 1
            b = volume_coefficients(x[:4], x[4:])
            assert min(b) > 0 or max(b) < 0
    assert rejected > COUNT // 2


@pytest.mark.parametrize("split", [1, 2])
def test_slpf_rejects_only_what_a_line_separates(split, rng):
    rejected = 0
    for x in random_queries(rng, COUNT):
        if slpf_rejects(x, split):
            rejected += 1
            assert is_separated(x[:4], x[4:], split)
    assert rejected > COUNT // 10


@pytest.mark.parametrize("split", [1, 2])
def test_slpf_sees_what_a_line_separates_by_more_than_rounding(split, rng):
    for x in rng.integers(-2, 3, (COUNT, 8, 3)).astype(float):
        assert slpf_rejects(x, split) == is_separated(x[:4], x[4:], split)


@pytest.mark.parametrize("scale", SCALES)
def test_pairs_that_meet_are_kept_at_any_scale(scale, rng):
    for _ in range(COUNT):
        hit_vf, hit_ee = vertex_face_hit(rng) * scale, edge_edge_hit(rng) * scale
        assert not dnf_rejects(hit_vf)
        assert not dnf_rejects(hit_ee)
        assert not slpf_rejects(hit_vf, 1)
        assert not slpf_rejects(hit_ee, 2)


@pytest.mark.parametrize("scale", SCALES)
def test_dnf_still_rejects_at_any_scale(scale, rng):
    x = rng.normal(size=(COUNT, 8, 3))
    assert [dnf_rejects(q) for q in x] == [dnf_rejects(q) for q in x * 2.0 ** np.round(np.log2(scale))]


def test_masks_and_counts():
    sphere = abut.scenes.icosphere(1)
    count = len(sphere.vertices)
    mesh = abut.Mesh(
        np.concatenate([sphere.vertices, sphere.vertices + np.array([1.5, 0.1, 0.2])]),
        np.concatenate([sphere.faces, sphere.faces + count]),
    )
    v_t1 = mesh.vertices - np.repeat([[0.0, 0, 0], [0.3, 0, 0]], count, axis=0)
    found = candidates(mesh, mesh.vertices, v_t1)
    for rule, apart in ((filter_dnf, lambda x, split: dnf_rejects(x)), (filter_slpf, slpf_rejects)):
        kept = rule(mesh, mesh.vertices, v_t1, found)
        rows = np.random.default_rng(0).integers(0, len(found.vertex_face), 30)
        for row in rows:
            v, f = found.vertex_face[row]
            points = [v, *mesh.faces[f]]
            assert kept.vertex_face[row] == (not apart(np.concatenate([mesh.vertices[points], v_t1[points]]), 1))
            a, b = found.edge_edge[row]
            points = [*mesh.edges[a], *mesh.edges[b]]
            assert kept.edge_edge[row] == (not apart(np.concatenate([mesh.vertices[points], v_t1[points]]), 2))
        left = kept.apply(found)
        assert len(left.vertex_face) == len(found.vertex_face) - kept.vertex_face_culled
        assert len(left.edge_edge) == len(found.edge_edge) - kept.edge_edge_culled
        assert 0 < kept.edge_edge_culled < len(found.edge_edge)


def test_no_candidates_and_wrong_ones():
    mesh = abut.scenes.icosphere(0)
    none = np.empty((0, 2), dtype=np.int32)
    kept = filter_dnf(mesh, mesh.vertices, mesh.vertices, Candidates(none, none))
    assert (len(kept.vertex_face), kept.edge_edge_culled) == (0, 0)
    wrong = Candidates(np.array([[0, 99]], dtype=np.int32), none)
    with pytest.raises(InvalidInput, match=r"candidates\.vertex_face"):
        filter_slpf(mesh, mesh.vertices, mesh.vertices, wrong)


@pytest.mark.large
@pytest.mark.parametrize("name", ["cloth-ball", "cloth-funnel"])
def test_true_pairs_of_the_data_scenes_are_kept(name):
    if not SCENES.is_dir():
        pytest.skip("the shared data are not beside the checkout")
    mesh, v_t0, v_t1, true_vf, true_ee = load_scene(name)
    true = Candidates(true_vf.astype(np.int32), true_ee.astype(np.int32))
    for rule in (filter_dnf, filter_slpf):
        kept = rule(mesh, v_t0, v_t1, true)
        assert (kept.vertex_face_culled, kept.edge_edge_culled) == (0, 0)


ODD_LINES = np.array([(0.0, 0.0, -3.0), (1.0, -1.0, 0.5), (1e-3, 7.0, -2.0), (1e-200, 1.0, 0.0)])


@pytest.mark.parametrize("split", [1, 2])
@pytest.mark.parametrize("scale", SCALES)
def test_lines_of_any_direction_reject_only_what_they_separate(split, scale, rng):
    """Whatever a line is: by fractions it separates each pair that it rejects; and a line along an axis rejects just those."""
    rejected = 0
    for x in random_queries(rng, COUNT // 20):
        x = x * scale
        if slpf_rejects(x, split, ODD_LINES):
            rejected += 1
            assert is_separated(x[:4], x[4:], split, ODD_LINES)
        assert slpf_rejects(x, split, ODD_LINES[:1]) == is_separated(x[:4], x[4:], split, ODD_LINES[:1])
    assert rejected


def test_lines_are_directions_of_any_length(rng):
    sphere = abut.scenes.icosphere(1)
    step = sphere, sphere.vertices, sphere.vertices * [1, 1, -0.3]
    found = candidates(*step)
    lines = rng.normal(size=(3, 3))
    kept = filter_slpf(*step, found, lines=lines)
    assert 0 < kept.edge_edge_culled < len(found.edge_edge)
    for factor in (2.0**60, -(2.0**-30), 2.0**-900, 2.0**200):
        again = filter_slpf(*step, found, lines=lines * factor)
        assert np.array_equal(kept.edge_edge, again.edge_edge)
    each = [filter_slpf(*step, found, lines=[line]).edge_edge for line in lines]
    assert np.array_equal(kept.edge_edge, np.logical_and.reduce(each))


def test_lines_without_direction_are_named():
    mesh = abut.scenes.icosphere(0)
    step = mesh, mesh.vertices, mesh.vertices
    for lines, said in (
        ([[1, 0, 0], [0, 0, 0]], r"lines\[1\]: has no direction"),
        (np.empty((0, 3)), "lines: is empty"),
        ([[1, 0]], "lines"),
    ):
        with pytest.raises(InvalidInput, match=said):
            filter_slpf(*step, candidates(*step), lines=lines)
