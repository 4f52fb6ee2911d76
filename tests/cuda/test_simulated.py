"""The kernels' logic on a machine without a device: in Numba's simulator, with warps of Python threads, against the answers of the processor.

It shows that lanes, queues, scans and tables do what they should, overflow and parts included; not what a compiler makes of them (`test_ptx.py`).
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import abut
from abut.core import jit
from conftest import SOAK

HERE = Path(__file__).parent
FIELDS = ("kind", "a", "b", "time", "point", "normal", "status")
pytestmark = [
    pytest.mark.skipif(jit.INTERPRETED, reason="the simulator is interpreted in any case, in a process of its own"),
    pytest.mark.large,
]


def sheet(count, rng):
    """A folded sheet that moves into itself."""
    x, y = (grid.ravel().astype(float) for grid in np.meshgrid(np.arange(count), np.arange(count), indexing="ij"))
    bent = x > count // 2
    start = np.stack([np.where(bent, count - x, x), y, np.where(bent, 0.5, 0.0) + 0.2 * rng.random(count * count)], 1)
    corner = (np.arange(count - 1)[:, None] * count + np.arange(count - 1)).ravel()
    lower = np.stack([corner, corner + 1, corner + count], 1)
    upper = np.stack([corner + 1, corner + count + 1, corner + count], 1)
    return start, start + rng.normal(0.0, 0.4, start.shape), np.concatenate([lower, upper])


def simulate(tmp_path, tasks, **given):
    np.savez(tmp_path / "given.npz", tasks=np.array(tasks), **given)
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}
    files = [tmp_path / "given.npz", tmp_path / "answers.npz"]
    command = [sys.executable, HERE / "simulated.py", *files]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return np.load(tmp_path / "answers.npz")


def assert_same(found, task, expected):
    for name in FIELDS:
        own, right = found[f"{task}_{name}"], getattr(expected, name)
        assert own.dtype == right.dtype, name
        assert np.array_equal(own, right), name


@pytest.fixture
def folded():
    return sheet(4, np.random.default_rng(0))


def test_a_mesh_with_itself(tmp_path, folded):
    start, end, faces = folded
    found = simulate(tmp_path, ["alone"], sheet_t0=start, sheet_t1=end, sheet_faces=faces)
    mesh = abut.Mesh(start, faces)
    expected = abut.sweep(mesh, start, end)
    assert len(expected) > 0
    assert_same(found, "alone", expected)


@pytest.mark.skipif(not SOAK, reason="long: with ABUT_SOAK=1")
def test_two_meshes_candidates_and_a_step_in_parts(tmp_path, folded):
    start, end, faces = folded
    corners = np.array([[0.0, 0, 1], [3, 0, 1], [0, 3, 1.0], [9, 9, 9]])
    corners += np.array([0.5, 0.4, 0.0])
    down = corners - [0.0, 0.1, 2.0]
    given = {"lower_t0": corners, "lower_t1": down, "lower_faces": np.array([[0, 1, 2]])}
    given |= {"upper_t0": start, "upper_t1": end, "upper_faces": faces}
    given |= {"sheet_t0": start, "sheet_t1": end, "sheet_faces": faces}
    found = simulate(tmp_path, ["two", "parts", "tight", "listed", "crossings"], **given)
    motions = [
        abut.Motion(abut.Mesh(start, faces), start, end),
        abut.Motion(abut.Mesh(corners, [[0, 1, 2]]), corners, down),
    ]
    expected = abut.sweep(*motions)
    assert set(expected.kind.tolist()) == {0, 1, 2}
    assert_same(found, "two", expected)
    assert found["two_earliest"] == expected.time.min()
    pairs = abut.candidates(abut.Mesh(start, faces), start, end)
    assert np.array_equal(found["listed_vertex_face"], pairs.vertex_face)
    assert np.array_equal(found["listed_edge_edge"], pairs.edge_edge)
    alone = abut.sweep(abut.Mesh(start, faces), start, end)
    assert_same(found, "tight", alone)
    assert found["crossings_found"] == alone.in_contact_at_start
    assert found["parts_parts"] > 1
    assert found["parts_hits"] == len(alone)
