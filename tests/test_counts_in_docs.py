"""The counts of box tests and exact tests in docs/bodies.md are those that `abut bench meseure` prints: work, unlike time, is the same everywhere."""

import importlib.util
from pathlib import Path

import pytest

from abut.core import jit
from conftest import SOAK

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "bodies.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def meseure():
    spec = importlib.util.spec_from_file_location("meseure", ROOT / "benchmarks" / "meseure.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def table_after(head):
    """The rows of the table that begins so: their whole numbers by what stands first."""
    text = PAGE[PAGE.index(head) :].partition("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]
    return {row[0].removesuffix(" (`collide`)"): [int(cell.replace(",", "")) for cell in row[1:]] for row in rows}


def work_of(meseure, method, states):
    """As the command counts it: after other passes over the same states."""
    for state in states:
        method.step(state)
    return list(meseure.mean_work(method, states))


@pytest.mark.large
@pytest.mark.skipif(jit.INTERPRETED, reason="thousands of faces at sixty steps")
def test_the_work_of_a_step_is_that_of_the_table(meseure):
    written = table_after("| work of a step |")
    for column, balls in ((0, 1), (2, 4)):
        scene, states = meseure.make_scene(balls)
        assert written["brute force"][column + 1] == balls * 512 * sum(map(len, scene.rigid))
        for method in (meseure.Grid(scene), meseure.BinaryTrees(scene), meseure.PacketTrees(scene)):
            assert work_of(meseure, method, states) == written[method.name][column : column + 2], method.name


@pytest.mark.large
@pytest.mark.skipif(not SOAK, reason="compiles what only the benchmark runs: asked by make soak")
def test_the_work_after_each_way_to_keep_a_tree_up_to_date_is_that_of_the_table(meseure):
    written = table_after("| | update, µs |")
    scene, states = meseure.make_scene(1)
    refits = meseure.rejected_refits
    ways = {
        "axis-aligned boxes, refitted (the paper's choice)": meseure.BinaryTrees(scene),
        "oriented boxes, box of boxes (rejected)": meseure.Rejected(scene, refits.refit_box_of_boxes),
        "oriented boxes, merged statistics (rejected)": meseure.Rejected(scene, refits.refit_statistics),
        "oriented boxes, rebuilt": meseure.Rejected(scene, meseure.rebuild("obb")),
        "axis-aligned boxes, rebuilt": meseure.Rejected(scene, meseure.rebuild("aabb")),
    }
    assert list(written) == list(ways)
    for name, method in ways.items():
        assert work_of(meseure, method, states) == written[name][2:], name
