"""Every count of vertices, edges, faces, tasks, lanes and pairs gives all pairs: the search against testing all of them, at every size.

The oracles test every pair and search nothing: intervals in plain NumPy for candidates, and for impacts the single queries of the pairs whose
intervals meet (`test_queries` holds those against whole numbers).
"""

import contextlib
import importlib

import numba
import numpy as np
import pytest

import abut
from abut import ccd
from abut.ccd.culling import chunks
from abut.ccd.impact import straight_pairs
from abut.core import jit
from abut.trees.blocks import block_tree, runs
from ccd.steps import VOLUMES, as_set, brute_force, brute_force_self, soup
from conftest import SOAK

CONSTANTS = (
    block_tree.WIDTH,
    block_tree.WIDTH**2,
    runs.TASKS,
    straight_pairs.BLOCK,
    chunks.TASKS,
    chunks.TILE,
    37,
    74,
    111,
    512,
    1024,
)
AROUND = sorted({size + d for size in CONSTANTS for d in (-1, 0, 1)})
EVERY = (
    sorted({*range(1, 601), *AROUND}) if SOAK else ([3, 37] if jit.INTERPRETED else sorted({*range(1, 42), *AROUND}))
)
DENSE = sorted({*range(1, 601)}) if SOAK else ([3] if jit.INTERPRETED else [*range(1, 40), 74, 111])
THREADS = (1, 2) if numba.config.NUMBA_NUM_THREADS > 1 and not jit.INTERPRETED else (1,)


@pytest.fixture(autouse=True)
def _threads_for_the_small(monkeypatch):
    """Small steps run on one thread otherwise."""
    for module in (
        "culling.search",
        "culling.stream",
        "culling.chunks",
        "earliest",
        "impact.contact_points",
        "impacts",
    ):
        monkeypatch.setattr(
            importlib.import_module(f"abut.ccd.{module}"), "threads_for", lambda *_: contextlib.nullcontext()
        )


@contextlib.contextmanager
def threads(count):
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(count)
        yield
    finally:
        numba.set_num_threads(before)


def cone(count):
    """A cone of so many vertices that stands on its tip above a floor, and falls: each vertex passes the floor."""
    rng = np.random.default_rng(count)
    turn = np.linspace(0.0, 2.0 * np.pi, max(count - 1, 1), endpoint=False)
    rim = np.stack([np.cos(turn), np.sin(turn), 1.0 + 0.3 * rng.random(len(turn))], axis=1)[: count - 1]
    v, ring = np.concatenate([[[0.0, 0.0, 0.2]], rim]), np.arange(1, count)
    faces = np.stack([np.zeros_like(ring), ring, np.roll(ring, -1)], axis=1) if count > 1 else np.zeros((1, 3), int)
    floor = abut.Mesh([[-9, -9, 0], [9, -9, 0], [0, 9, 0]], [[0, 1, 2]])
    return (
        abut.Motion(abut.Mesh(v, faces), v, v - [0.0, 0.0, 2.0]),
        abut.Motion(floor, floor.vertices, floor.vertices),
    )


def needles(rng, count):
    """So many edges, each a face without area of its own."""
    v = rng.uniform(-1, 1, (count, 1, 3)) + 0.3 * rng.normal(size=(count, 2, 3))
    faces = np.arange(2 * count).reshape(-1, 2)[:, [0, 1, 1]]
    return (
        abut.Mesh(v.reshape(-1, 3), faces),
        v.reshape(-1, 3),
        v.reshape(-1, 3) + 0.3 * rng.normal(size=(2 * count, 3)),
    )


def ask_all(a, b=None):
    """(kind, a, b) and time of every pair that meets, by asking about each pair whose boxes meet."""
    other = a if b is None else b
    found = {}
    for kind in ccd.Kind if b is not None else (ccd.VERTEX_FACE, ccd.EDGE_EDGE):
        first, second = (other, a) if kind == ccd.FACE_VERTEX else (a, other)
        edges = kind == ccd.EDGE_EDGE
        used = np.unique(first.mesh.faces)
        rows = first.mesh.edges if edges else used[:, None]
        cells = second.mesh.edges if edges else second.mesh.faces
        sides = [(m.vertices_t0, m.vertices_t1, x) for m, x in ((first, rows), (second, cells))]
        pairs = brute_force(*sides, share_vertices=b is None, smaller_first=b is None and edges)
        corners = [(first, rows[pairs[:, 0]]), (second, cells[pairs[:, 1]])]
        ends = [
            np.concatenate([getattr(m, end)[x] for m, x in corners], axis=1) for end in ("vertices_t0", "vertices_t1")
        ]
        verdict = (ccd.edge_edge if edges else ccd.vertex_face)(np.concatenate(ends, axis=1))
        if not edges:
            pairs[:, 0] = used[pairs[:, 0]]
        for (i, j), time in zip(pairs[verdict.hit].tolist(), verdict.time[verdict.hit].tolist(), strict=True):
            found[(int(kind), j, i) if kind == ccd.FACE_VERTEX else (int(kind), i, j)] = time
    return found


def are_in_contact(*motions):
    """Whether bodies collide at t = 0, as `collide` says: another search, of triangles against triangles."""
    bodies = []
    for motion in motions:
        bodies.append(abut.Deformable(motion.mesh))
        bodies[-1].update(motion.vertices_t0)
    return bool(abut.collide(*bodies, first=True))


def check_impacts(expected, *motions, **options):
    """`sweep` has these rows at these times, `time_of_impact` the least, to the last bit; or 0 where bodies collide when the step begins."""
    least = 0.0 if are_in_contact(*motions) else min(expected.values(), default=np.inf)
    for count in THREADS:
        with threads(count):
            impacts, earliest = abut.sweep(*motions, **options), abut.time_of_impact(*motions, **options)
        keys = zip(impacts.kind.tolist(), impacts.a.tolist(), impacts.b.tolist(), strict=True)
        assert dict(zip(keys, impacts.time.tolist(), strict=True)) == expected
        assert earliest == least
        assert abut.time_of_impact(*motions, **options, at_start=False) == min(expected.values(), default=np.inf)
        assert bool(impacts) == (least <= 1.0)
        if earliest == 0.0 and impacts.time.min(initial=1.0) > 0.0:
            assert impacts.in_contact_at_start


def test_a_cone_of_any_number_of_vertices_falls_through_a_floor():
    """37 tasks, one for each vertex of a cone of 37, were all taken for the first."""
    for count in EVERY:
        falling, floor = cone(count)
        expected = ask_all(falling, floor)
        assert sum(kind == ccd.VERTEX_FACE for kind, _, _ in expected) == count
        check_impacts(expected, falling, floor)
        if count % 8 == 5:
            assert len(abut.sweep(ccd.join(falling, floor))) == len(expected) + len(ask_all(falling))


@pytest.mark.parametrize("make", [soup, needles], ids=["faces", "edges"])
def test_candidates_of_any_number_are_all_pairs(make):
    for count in EVERY if SOAK or jit.INTERPRETED else [size for size in EVERY if size < 66 or make is needles]:
        rng = np.random.default_rng(count)
        mesh, v_t0, v_t1 = make(rng, count)
        volume, own_margin = rng.choice(list(VOLUMES)), float(rng.choice([0.0, 0.1]))
        expected = [as_set(rows) for rows in brute_force_self(mesh, v_t0, v_t1, volume, own_margin)]
        memory = int(rng.choice([1 << 21, 1 << 23, 1 << 27]))
        with threads(int(rng.choice(THREADS))):
            whole = ccd.candidates(mesh, v_t0, v_t1, volume=volume, min_distance=own_margin)
            parts = list(
                ccd.stream_candidates(mesh, v_t0, v_t1, volume=volume, min_distance=own_margin, max_memory=memory)
            )
        for name, pairs in zip(("vertex_face", "edge_edge"), expected, strict=True):
            assert as_set(getattr(whole, name)) == pairs
            rows = np.concatenate([getattr(part, name) for part in [whole, *parts]])[len(getattr(whole, name)) :]
            assert len(rows) == len(pairs)
            assert as_set(rows) == pairs


@pytest.mark.parametrize("bodies", [1, 2])
def test_dense_steps_of_any_size_have_the_impacts_of_all_pairs(bodies):
    for count in DENSE:
        rng = np.random.default_rng(1000 * bodies + count)
        counts = [count, int(rng.integers(1, count + 1))][:bodies]
        motions = [abut.Motion(*soup(rng, number, size=float(rng.choice([0.1, 0.4])))) for number in counts]
        expected = ask_all(*motions)
        check_impacts(expected, *motions)
        check_impacts(expected, *motions, max_memory=int(rng.choice([1 << 22, 1 << 24])))


@pytest.mark.parametrize("ask", [ccd.vertex_face, ccd.edge_edge])
def test_batches_of_any_size_give_the_verdicts_of_one(ask):
    queries = np.random.default_rng(8).normal(size=(max(EVERY), 8, 3))
    queries[::5] = np.round(queries[::5])
    whole = ask(queries)
    for count in EVERY:
        part = ask(queries[-count:])
        assert part.status.tobytes() == whole.status[-count:].tobytes()
        assert part.time.tobytes() == whole.time[-count:].tobytes()


def test_tasks_of_a_round_hold_every_block_once_and_go_on_where_they_stopped():
    rng = np.random.default_rng(9)
    for count in range(1, chunks.TASKS + 1):
        for task_count in (count, chunks.TASKS):
            ends = np.cumsum(rng.integers(1, 40, 2 * count)).reshape(-1, 2)
            pieces = np.hstack([ends, rng.integers(0, 9, (count, 2))])
            cut = chunks.cut(pieces, task_count)
            assert len(cut) <= task_count
            assert (cut[:, 0] < cut[:, 1]).all()
            assert [s for a, b in cut[:, :2] for s in range(a, b)] == [s for a, b in ends for s in range(a, b)]
            begun = {int(a): (int(x), int(y)) for a, _, x, y in pieces}
            assert all(begun.get(int(a), (0, 0)) == (x, y) for a, _, x, y in cut)


def test_the_earliest_time_of_turning_bodies_is_the_least_of_all():
    from scipy.spatial.transform import Rotation

    rng = np.random.default_rng(10)
    for _ in range(1 if jit.INTERPRETED else 200 if SOAK else 12):
        motions = []
        for place in (0.0, 1.5):
            poses = np.tile(np.eye(4), (2, 1, 1))
            poses[:, :3, :3] = Rotation.random(2, random_state=int(rng.integers(1 << 30))).as_matrix()
            poses[:, :3, 3] = rng.normal(size=(2, 3)) * 0.4 + place
            motions.append(abut.Motion(abut.Rigid(abut.scenes.icosphere(0)), *poses))
        times = abut.sweep(*motions).time
        least = 0.0 if are_in_contact(*motions) else times.min(initial=np.inf)
        assert abut.time_of_impact(*motions) == least
        assert abut.time_of_impact(*motions, at_start=False) == times.min(initial=np.inf)
