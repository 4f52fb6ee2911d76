import numpy as np
import pytest

from abut import Mesh, scenes
from abut.core.errors import InvalidInput, Unsupported
from abut.papers.grid import Voxels
from conftest import SLOW
from facet_pairs import boxes_overlap, brute_force, check_all
from oracles import rationals as oracles

CONFIGURATIONS = 12 if SLOW else 200
NONE = np.zeros((0, 2), np.int64)


def crumpled(rng, face_count):
    """A soup of proper, collinear, point-like, repeated and duplicate faces."""
    vertices = rng.normal(size=(face_count, 3))
    vertices[1] = vertices[0]
    vertices[2] = 0.5 * (vertices[3] + vertices[4])
    faces = rng.integers(0, face_count, (face_count, 3))
    faces[0], faces[1], faces[2] = (2, 3, 4), (5, 5, 6), (7, 7, 7)
    faces[3] = faces[4]
    return Mesh(vertices, faces)


def lattice(rng, face_count):
    """Faces between points of whole coordinates: coplanar, touching in corners and edges, on the borders of voxels."""
    return Mesh(rng.integers(-2, 3, (face_count, 3)), rng.integers(0, face_count, (face_count, 3)))


def wave(rng, nx=4, ny=3):
    sheet = scenes.cloth(nx, ny, size=2.0)
    return Mesh(sheet.vertices + 0.1 * rng.normal(size=sheet.vertices.shape), sheet.faces)


def object_of_kind(rng, kind):
    makers = {
        "closed": lambda: scenes.bumpy(int(rng.integers(10, 50)), seed=int(rng.integers(99))),
        "box": lambda: scenes.box(rng.integers(1, 4, 3)),
        "open": lambda: wave(rng),
        "degenerate": lambda: crumpled(rng, 16),
        "lattice": lambda: lattice(rng, 16),
        "nested": lambda: scenes.icosphere(0, radius=rng.choice([0.3, 2.5])),
    }
    return makers[kind]()


KINDS = ["closed", "box", "open", "degenerate", "lattice", "nested"]


@pytest.mark.parametrize("seed", range(CONFIGURATIONS))
def test_pairs_are_those_of_brute_force(seed):
    rng = np.random.default_rng(seed)
    grid = Voxels([None, 0.02, 0.25, 1.0, 1.0 / 3.0, 100.0][seed % 6])
    bodies, current = {}, {}
    for i in range(4):
        mesh = object_of_kind(rng, KINDS[(seed + i * (1 + seed // 6)) % 6])
        handle = grid.add(mesh, immobile=i < 2)
        bodies[handle], current[handle] = (mesh, i < 2), mesh.vertices
    assert len(check_all(grid, bodies, current)) > 0
    for step in range(2):
        for handle in (2, 3)[step:]:  # in the last step one object stays where it is
            mesh = bodies[handle][0]
            shift = rng.integers(-1, 2, 3) if seed % 2 else rng.normal(scale=0.7, size=3)
            current[handle] = mesh.vertices * (1.0 + 0.5 * step) + shift
            grid.update(handle, current[handle])
        check_all(grid, bodies, current)


@pytest.mark.parametrize("seed", range(4))
def test_pairs_are_those_of_integer_arithmetic(seed):
    rng = np.random.default_rng(seed)
    a, b = lattice(rng, 14), crumpled(rng, 14)
    grid = Voxels(0.5)
    handle_a, handle_b = grid.add(a, immobile=True), grid.add(b)
    cases = np.concatenate(
        (np.repeat(a.vertices[a.faces], 14, axis=0), np.tile(b.vertices[b.faces], (14, 1, 1))), axis=1
    )
    expected = np.argwhere(oracles.meet_triangles(oracles.as_integers(cases)).reshape(14, 14))
    np.testing.assert_array_equal(grid.collide()[handle_a, handle_b], expected)


@pytest.mark.large
@pytest.mark.parametrize("cell_size", [None, 0.05, 1.0])
def test_larger_meshes(cell_size):
    a, b = scenes.bumpy(3000, seed=1), scenes.bumpy(2000, seed=2, center=(0.4, 0.3, -0.2))
    grid = Voxels(cell_size)
    handle_a, handle_b = grid.add(a, immobile=True), grid.add(b)
    for scale in (1.0, 1.3, 0.8, 6.0):
        grid.update(handle_b, b.vertices * scale)
        expected = brute_force(a.vertices, a.faces, b.vertices * scale, b.faces)
        np.testing.assert_array_equal(grid.collide()[handle_a, handle_b], expected)
        grid.validate()


# --- what else it promises


def test_each_pair_is_tested_once():
    a, b = scenes.icosphere(1), scenes.icosphere(1, center=(0.6, 0, 0))
    overlapping = int(boxes_overlap(a.vertices[a.faces], b.vertices[b.faces]).sum())
    for cell_size in (0.1, 0.3, None):
        grid = Voxels(cell_size)
        grid.add(a, immobile=True)
        grid.add(b)
        hits = grid.collide()
        assert len(hits) <= hits.work.exact_tests <= overlapping
        assert hits.work.exact_tests <= hits.work.candidates <= len(a) * len(b)
    assert hits.work.duplicates > 0


def test_smaller_voxels_duplicate_more():
    rates = []
    for cell_size in (4.0, 1.0, 0.5, 0.25, 0.125):
        grid = Voxels(cell_size)
        grid.add(scenes.icosphere(1))
        rates.append(grid.collide().work.duplication)
    assert rates == sorted(rates)
    assert 1.0 <= rates[0] < 8.0 < rates[-1]


def test_cell_size_is_the_mean_longest_side():
    grid = Voxels()
    assert grid.cell_size is None
    grid.add(Mesh([(0, 0, 0), (1, 0, 0), (0, 3, 0)], [(0, 1, 2)]))
    handle = grid.add(Mesh([(0, 0, 0), (0, 0, 5), (0, 3, 0)], [(0, 1, 2)]))
    grid.collide()
    assert grid.cell_size == 4.0
    grid.update(handle, [(0, 0, 0), (0, 0, 50), (0, 3, 0)])
    grid.collide()
    assert grid.cell_size == 4.0
    flat = Voxels()
    flat.add(Mesh([(2, 2, 2)], [(0, 0, 0)]))
    flat.add(Mesh([(2, 2, 2)], [(0, 0, 0)]))
    assert len(flat.collide()) == 1
    assert flat.cell_size == 1.0


@pytest.mark.parametrize("cell_size", [None, 0.05, 5.0])
def test_margin_reports_what_comes_within_twice_its_length(cell_size):
    a, b = scenes.icosphere(0), scenes.icosphere(0, center=(1.9, 0.5, 0.1))
    found = []
    for margin in (0.0, 0.02, 0.1, 0.3):
        grid = Voxels(cell_size, margin=margin)
        handle_a, handle_b = grid.add(a, immobile=True), grid.add(b)
        pairs = grid.collide()[handle_a, handle_b]
        np.testing.assert_array_equal(pairs, brute_force(a.vertices, a.faces, b.vertices, b.faces, 2.0 * margin))
        found.append(len(pairs))
    assert found[0] == 0 < found[-1]


def test_margin_meets_at_exactly_its_length():
    lower, upper = scenes.cloth(2, 2), scenes.cloth(2, 2, center=(0, 0, 0.5))
    for margin, count in ((0.25, 64), (0.2499, 0)):
        grid = Voxels(0.125, margin=margin)
        grid.add(lower)
        grid.add(upper)
        assert (len(grid.collide()) > 0) == (count > 0)


def test_groups_are_not_tested_among_themselves_unless_named():
    grid = Voxels()
    a, b = grid.add(scenes.box(), group=7), grid.add(scenes.icosphere(0, radius=0.6), group=7)
    c = grid.add(scenes.box(center=(0.5, 0.5, 0.5)))
    assert list(grid.collide()) == [(a, c), (b, c)]
    assert len(grid.collide(a, b)[a, b]) > 0


def test_results_do_not_change_later():
    grid = Voxels()
    a, b = grid.add(scenes.box()), grid.add(scenes.box(center=(0.5, 0.5, 0.5)))
    hits = grid.collide()
    before = hits[a, b].copy()
    assert not hits[a, b].flags.writeable
    assert not hits[b, a].flags.writeable
    grid.update(b, scenes.box(center=(9, 9, 9)).vertices)
    assert len(grid.collide()) == 0
    np.testing.assert_array_equal(hits[a, b], before)
    np.testing.assert_array_equal(hits[b, a], brute_force(*_arrays(center=(0.5, 0.5, 0.5)), *_arrays()))


def _arrays(**options):
    mesh = scenes.box(**options)
    return mesh.vertices, mesh.faces


def test_the_callers_array_may_change_after_an_update():
    grid = Voxels()
    a, b = grid.add(scenes.box()), grid.add(scenes.box(center=(9, 9, 9)))
    moved = np.array(scenes.box(center=(0.5, 0.5, 0.5)).vertices)
    grid.update(b, moved)
    moved += 100.0
    assert len(grid.collide()[a, b]) > 0


def test_bad_arguments():
    with pytest.raises(InvalidInput, match="cell_size"):
        Voxels(0.0)
    with pytest.raises(InvalidInput, match="cell_size"):
        Voxels(1e-308)
    with pytest.raises(InvalidInput, match="margin"):
        Voxels(margin=-1.0)
    grid = Voxels(margin=0.0)
    assert grid.margin == 0.0
    still, also_still, moving = (
        grid.add(scenes.box(), immobile=True),
        grid.add(scenes.box(), immobile=True),
        grid.add(scenes.box()),
    )
    with pytest.raises(InvalidInput, match="immobile"):
        grid.update(still, scenes.box().vertices)
    with pytest.raises(InvalidInput, match="has 3 rows, object 2 has 8"):
        grid.update(moving, np.zeros((3, 3)))
    with pytest.raises(InvalidInput, match="NaN"):
        grid.update(moving, np.full((8, 3), np.nan))
    with pytest.raises(InvalidInput, match="no object 9"):
        grid.remove(9)
    with pytest.raises(InvalidInput, match="missing"):
        grid.collide(still)
    with pytest.raises(InvalidInput, match="without a"):
        grid.collide(b=still)
    with pytest.raises(Unsupported, match="immobile"):
        grid.collide(still, also_still)
    with pytest.raises(Unsupported, match="itself"):
        grid.collide(moving, moving)
    np.testing.assert_array_equal(grid.collide()[still, also_still], NONE)


def test_empty_grid():
    grid = Voxels()
    assert len(grid.collide()) == 0
    grid.validate()
    assert grid.collide().work.duplication == 0.0
