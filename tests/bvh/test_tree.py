import numpy as np
import pytest

from abut import bvh, jit, scenes
from abut.bvh.tree import BLOCKS
from abut.errors import InvalidInput
from bvh.situations import situation

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
    tree = bvh.build(name, *mesh)
    leaf = int(np.flatnonzero(tree.nodes[:, 0] == 0)[-1])
    low = tree.volumes[-1].copy()
    low[leaf] -= 0.5
    broken = tree._replace(volumes=type(tree.volumes)(*tree.volumes[:-1], low))
    with pytest.raises(InvalidInput, match="is not inside its volume") as caught:
        bvh.validate(broken, *mesh)
    assert caught.value.row == leaf


def test_moved_vertices_are_outside_until_the_refit(mesh):
    tree = bvh.build("aabb", *mesh)
    moved = mesh[0] + 1.0, mesh[1]
    with pytest.raises(InvalidInput, match="is not inside its volume") as caught:
        bvh.validate(tree, *moved)
    assert caught.value.row == 0
    bvh.refit(tree, *moved)
    bvh.validate(tree, *moved)


def test_broken_structures_are_found(mesh):
    tree = bvh.build("aabb", *mesh)
    count = len(mesh[1])
    with pytest.raises(InvalidInput, match="not a permutation"):
        bvh.validate(changed(tree, "order", 0, tree.order[1]), *mesh)
    with pytest.raises(InvalidInput, match="not a permutation"):
        bvh.validate(tree, mesh[0], mesh[1][:-1])
    with pytest.raises(InvalidInput, match="does not hold every primitive"):
        bvh.validate(changed(tree, "nodes", (0, 2), count - 1), *mesh)
    with pytest.raises(InvalidInput, match=r"tree\[3\]: holds no primitive"):
        bvh.validate(changed(tree, "nodes", (3, 2), tree.nodes[3, 1]), *mesh)
    with pytest.raises(InvalidInput, match=r"tree\[1\]: has children before it"):
        bvh.validate(changed(tree, "nodes", (1, 0), 1), *mesh)
    with pytest.raises(InvalidInput, match="child of exactly one"):
        bvh.validate(changed(tree, "nodes", (2, 0), 3), *mesh)
    with pytest.raises(InvalidInput, match=r"tree\[0\]: does not share its range"):
        bvh.validate(changed(tree, "nodes", (1, 2), tree.nodes[1, 2] - 1), *mesh)
    with pytest.raises(InvalidInput, match="volumes"):
        bvh.validate(tree._replace(volumes=type(tree.volumes)(*(array[1:] for array in tree.volumes))), *mesh)
    with pytest.raises(InvalidInput, match="blocks"):
        bvh.validate(tree._replace(blocks=tree.blocks[:-1]), *mesh)
    with pytest.raises(InvalidInput, match="blocks"):
        bvh.validate(changed(tree, "blocks", (1, 0), 2), *mesh)
    with pytest.raises(InvalidInput, match="vertices"):
        bvh.validate(tree, mesh[0][:, :2], mesh[1])


def test_levels_and_blocks():
    mesh = scenes.bumpy(1500 if jit.INTERPRETED else 5000, seed=1)
    tree = bvh.build("aabb", mesh.vertices, mesh.faces)
    assert tree.blocks.shape == (tree.depth + 1, BLOCKS + 1)
    assert tree.blocks[0].tolist() == [0] + [1] * BLOCKS
    assert (np.diff(tree.blocks[8]) > 0).all()
    bvh.validate(tree, mesh.vertices, mesh.faces)
    moved = np.roll(mesh.vertices, 1, axis=1) * (1.0, 2.0, 3.0)
    bvh.refit(tree, moved, mesh.faces)
    bvh.validate(tree, moved, mesh.faces)
    block = int(np.argmax(np.diff(tree.blocks[9])))
    with pytest.raises(InvalidInput, match="another block or level"):
        bvh.validate(changed(tree, "blocks", (9, block + 1), tree.blocks[9, block + 1] - 1), moved, mesh.faces)
