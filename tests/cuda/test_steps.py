"""Steps on a CUDA device give the answers of the processor, bit for bit, where the vertices lie. Skipped without a device."""

import gc
import weakref

import numpy as np
import pytest

import abut
from abut.core import jit
from conftest import SOAK

try:
    import cupy
    from numba import cuda

    AVAILABLE = not jit.INTERPRETED and cuda.is_available()
except ImportError:
    AVAILABLE = False

pytestmark = [
    pytest.mark.skipif(not AVAILABLE, reason="no CUDA device, or numba-cuda or cupy is not installed"),
    pytest.mark.large,
]
FIELDS = ("kind", "a", "b", "time", "point", "normal", "status")
SIZES = range(1, 400) if SOAK else (1, 2, 3, 10, 31, 32, 33, 63, 64, 65, 200, 333)


def soup(count, rng, on_grid):
    """Triangles among points, some of which no triangle has; on a grid they touch, coincide and lie in one plane."""
    reach = 1.5 * count**0.4
    points = rng.integers(0, 2 + int(reach), (3 * count + 2, 3)) if on_grid else reach * rng.random((3 * count + 2, 3))
    mesh = abut.Mesh(points, rng.integers(0, 3 * count, (count, 3)))
    step = rng.integers(-1, 2, points.shape) if on_grid else rng.normal(0.0, 0.3, points.shape)
    return mesh, mesh.vertices, mesh.vertices + step


def on_device(*arrays):
    return [cupy.asarray(each) for each in arrays]


def assert_same(own, right, names=FIELDS):
    for name in names:
        given, expected = getattr(own, name), getattr(right, name)
        assert isinstance(given, cupy.ndarray), name
        assert given.dtype == expected.dtype, name
        assert np.array_equal(cupy.asnumpy(given), expected), name


@pytest.mark.parametrize("on_grid", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_one_mesh(size, on_grid, rng):
    mesh, start, end = soup(size, rng, on_grid)
    expected = abut.sweep(mesh, start, end)
    for _ in range(3):  # as launches, captured, replayed
        assert_same(abut.sweep(mesh, *on_device(start, end)), expected)
    pairs = ("vertex_face", "edge_edge")
    assert_same(abut.candidates(mesh, *on_device(start, end)), abut.candidates(mesh, start, end), pairs)
    for at_start in (False, True):
        own = abut.time_of_impact(mesh, *on_device(start, end), at_start=at_start)
        assert own == abut.time_of_impact(mesh, start, end, at_start=at_start)


@pytest.mark.parametrize("on_grid", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_two_meshes(size, on_grid, rng):
    one, other = soup(size, rng, on_grid), soup(max(1, size // 2), rng, on_grid)
    host = [abut.Motion(*each) for each in (one, other)]
    own = [abut.Motion(mesh, *on_device(*ends)) for mesh, *ends in (one, other)]
    assert_same(abut.sweep(*own), abut.sweep(*host))
    assert_same(abut.candidates(*own), abut.candidates(*host), ("vertex_face", "edge_edge", "face_vertex"))
    assert abut.time_of_impact(*own) == abut.time_of_impact(*host)
    assert abut.sweep(*own).in_contact_at_start == abut.sweep(*host).in_contact_at_start


@pytest.mark.parametrize("kind", ["vertex_face", "edge_edge"])
@pytest.mark.parametrize("distance", [0.0, 0.25])
def test_single_queries(kind, distance, rng):
    queries = rng.integers(-2, 3, (5000, 8, 3)).astype(float)
    queries[2500:] += rng.normal(0.0, 1e-3, (2500, 8, 3))
    ask = getattr(abut.ccd, kind)
    own, right = ask(cupy.asarray(queries), min_distance=distance), ask(queries, min_distance=distance)
    assert_same(own, right, ("hit", "status"))
    assert own.exact_count == right.exact_count
    assert distance > 0.0 or right.exact_count > 0
    times = cupy.asnumpy(own.time)
    assert np.array_equal(np.isinf(times), np.isinf(right.time))
    met = np.isfinite(times)
    assert np.abs(times[met] - right.time[met]).max() <= (0.0 if distance == 0.0 else 1e-9)


def test_rooms_that_overflow_and_parts(rng):
    from abut.cuda.steps import questions
    from abut.cuda.steps.program import Question, Rooms
    from abut.cuda.steps.runs import run

    mesh, start, end = soup(200, rng, False)
    expected = abut.sweep(mesh, start, end)
    given = on_device(start, end)
    program = questions.program_of([mesh])
    for tight in (Rooms(1, 1, 1, 1, 1), Rooms(64, 1, 10_000, 1, 64), Rooms(1, 10_000, 1, 10_000, 1)):
        program.reserve(tight)
        assert_same(abut.sweep(mesh, *given), expected)
    program.reserve(Rooms(1, 1, 1, len(expected), 64))
    least = 2 * len(expected) * 128
    assert sum(run(program, Question.IMPACTS, given, 1e-9, least + 200_000).hits) == len(expected)
    assert program.parts > 1


def test_answers_lie_where_the_vertices_lie(rng):
    mesh, start, end = soup(50, rng, False)
    expected = abut.sweep(mesh, start, end)
    answer = abut.sweep(mesh, start, end, device="cuda")
    for name in FIELDS:
        assert isinstance(getattr(answer, name), np.ndarray)
        assert not getattr(answer, name).flags.writeable
        assert np.array_equal(getattr(answer, name), getattr(expected, name))
    sweeper = abut.Sweeper(mesh)
    assert_same(sweeper.sweep(*on_device(start, end)), expected)
    assert repr(abut.sweep(mesh, *on_device(start, end))) == repr(expected)


def test_an_answer_shares_nothing_with_what_comes_later(rng):
    mesh, start, end = soup(60, rng, False)
    given = on_device(start, end)
    first = abut.sweep(mesh, *given)
    kept = {name: cupy.asnumpy(getattr(first, name)) for name in FIELDS}
    is_in_contact = abut.sweep(mesh, start, end).in_contact_at_start
    given[0][...] = 0.0
    abut.sweep(mesh, given[1], given[0])
    for name in FIELDS:
        assert np.array_equal(cupy.asnumpy(getattr(first, name)), kept[name])
    assert first.in_contact_at_start == is_in_contact


def test_what_a_mesh_needs_goes_with_it(rng):
    from abut.cuda.steps import questions

    mesh, start, end = soup(5, rng, False)
    abut.sweep(mesh, *on_device(start, end))
    program = weakref.ref(questions.program_of([mesh]))
    del mesh
    gc.collect()
    assert program() is None


def test_bad_input_is_refused_by_name(rng):
    mesh, start, end = soup(20, rng, False)
    given = on_device(start, end)
    for row, value in ((4, np.nan), (0, np.inf), (7, 1e76)):
        bad = given[1].copy()
        bad[row, 1] = value
        for _ in range(3):
            with pytest.raises(abut.InvalidInput, match=rf"v_t1\[{row}\]"):
                abut.sweep(mesh, given[0], bad)
    with pytest.raises(abut.InvalidInput, match="v_t1: lies on the host"):
        abut.sweep(mesh, given[0], end)
    with pytest.raises(abut.InvalidInput, match="v_t0: has 3 rows"):
        abut.sweep(mesh, given[0][:3], given[1])
    with pytest.raises(abut.InvalidInput, match="v_t0: holds"):
        abut.sweep(mesh, given[0].astype(bool), given[1])
    with pytest.raises(abut.InvalidInput, match="device"):
        abut.sweep(mesh, start, end, device="gpu")
    with pytest.raises(abut.Unsupported, match="min_distance"):
        abut.sweep(mesh, *given, min_distance=0.1)
    with pytest.raises(abut.Unsupported, match="volume"):
        abut.candidates(mesh, *given, volume="kdop26")
    assert_same(abut.sweep(mesh, *given), abut.sweep(mesh, start, end))


def test_other_layouts_and_dtypes_are_read(rng):
    mesh, start, end = soup(40, rng, True)
    given = on_device(start, end)
    expected = abut.sweep(mesh, start, end)
    assert_same(abut.sweep(mesh, *(cupy.asfortranarray(each) for each in given)), expected)
    assert_same(abut.sweep(mesh, *(each.astype(np.int32) for each in given)), expected)
    assert_same(abut.sweep(mesh, *(cuda.as_cuda_array(each) for each in given)), expected)
