import numpy as np
import pytest

from abut import scenes
from abut.core import jit
from abut.core.errors import InvalidInput
from abut.trees import binary
from abut.trees.binary.tree import BLOCKS
from trees.binary.situations import situation

SIZE = 20 if jit.INTERPRETED else 120


@pytest.fixture
def mesh():
    return situation("closed", 0, SIZE)[0]


def changed(tree, field, row, value):
    array = getattr(tree, field).copy()
    array[row] = value
    return tree._replace(**{field: array})


@pytest.mark.parametrize("name", ["aabb", "obb", "kdop18"])
def test_a_vertex_outside_is_found_and_its_node_named(name, mesh):
    tree = binary.build(name, *mesh)
    leaf = int(np.flatnonzero(tree.nodes[:, 0] == 0)[-1])
    low = tree.volumes[-1].copy()
    low[leaf] -= 0.5
    broken = tree._replace(volumes=type(tree.volumes)(*tree.volumes[:-1], low))
    with pytest.raises(InvalidInput, match="is not inside its volume") as caught:
        binary.validate(broken, *mesh)
    assert caught.value.row == leaf


def test_moved_vertices_are_outside_until_the_refit(mesh):
    tree = binary.build("aabb", *mesh)
    moved = mesh[0] + 1.0, mesh[1]
    with pytest.raises(InvalidInput, match="is not inside its volume") as caught:
        binary.validate(tree, *moved)
    assert caught.value.row == 0
    binary.refit(tree, *moved)
    binary.validate(tree, *moved)


def test_broken_structures_are_found(mesh):
    tree = binary.build("aabb", *mesh)
    count = len(mesh[1])
    with pytest.raises(InvalidInput, match="not a permutation"):
        binary.validate(changed(tree, "order", 0, tree.order[1]), *mesh)
    with pytest.raises(InvalidInput, match="not a permutation"):
        binary.validate(tree, mesh[0], mesh[1][:-1])
    with pytest.raises(InvalidInput, match="does not hold every primitive"):
        binary.validate(changed(tree, "nodes", (0, 2), count - 1), *mesh)
    with pytest.raises(InvalidInput, match=r"tree\[3\]: holds no primitive"):
        binary.validate(changed(tree, "nodes", (3, 2), tree.nodes[3, 1]), *mesh)
    with pytest.raises(InvalidInput, match=r"tree\[1\]: has children before it"):
        binary.validate(changed(tree, "nodes", (1, 0), 1), *mesh)
    with pytest.raises(InvalidInput, match="child of exactly one"):
        binary.validate(changed(tree, "nodes", (2, 0), 3), *mesh)
    with pytest.raises(InvalidInput, match=r"tree\[0\]: does not share its range"):
        binary.validate(changed(tree, "nodes", (1, 2), tree.nodes[1, 2] - 1), *mesh)
    with pytest.raises(InvalidInput, match="volumes"):
        binary.validate(tree._replace(volumes=type(tree.volumes)(*(array[1:] for array in tree.volumes))), *mesh)
    with pytest.raises(InvalidInput, match="blocks"):
        binary.validate(tree._replace(blocks=tree.blocks[:-1]), *mesh)
    with pytest.raises(InvalidInput, match="blocks"):
        binary.validate(changed(tree, "blocks", (1, 0), 2), *mesh)
    with pytest.raises(InvalidInput, match="vertices"):
        binary.validate(tree, mesh[0][:, :2], mesh[1])


def test_levels_and_blocks():
    mesh = scenes.bumpy(1500 if jit.INTERPRETED else 5000, seed=1)
    tree = binary.build("aabb", mesh.vertices, mesh.faces)
    assert tree.blocks.shape == (tree.depth + 1, BLOCKS + 1)
    assert tree.blocks[0].tolist() == [0] + [1] * BLOCKS
    assert (np.diff(tree.blocks[8]) > 0).all()
    binary.validate(tree, mesh.vertices, mesh.faces)
    moved = np.roll(mesh.vertices, 1, axis=1) * (1.0, 2.0, 3.0)
    binary.refit(tree, moved, mesh.faces)
    binary.validate(tree, moved, mesh.faces)
    block = int(np.argmax(np.diff(tree.blocks[9])))
    with pytest.raises(InvalidInput, match="another block or level"):
        binary.validate(changed(tree, "blocks", (9, block + 1), tree.blocks[9, block + 1] - 1), moved, mesh.faces)
