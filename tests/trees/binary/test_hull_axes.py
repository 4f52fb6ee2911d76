"""Axes from the surface of the hull: moments against midpoint sums over many small pieces, and boxes that crowds of vertices do not mislead."""

import itertools

import numpy as np
import pytest

import abut
from abut.core import jit
from abut.core.errors import InvalidInput, Unsupported
from abut.trees import binary
from abut.trees.binary.hull_axes import covariance_of_hull
from trees.binary.situations import KINDS, situation


def matrix(c):
    xx, yy, zz, xy, xz, yz = c
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def summed(sides, pieces=60):
    """Σ over small squares of a box's surface, of x xᵀ at their middles; scaled so that half the longest side is 1."""
    sides = np.asarray(sides, float)
    half = sides / sides.max()
    steps = (np.arange(pieces) + 0.5) / pieces * 2 - 1
    total, area = np.zeros((3, 3)), 0.0
    for axis, sign in itertools.product(range(3), (-1, 1)):
        others = [k for k in range(3) if k != axis]
        points = np.zeros((pieces, pieces, 3))
        points[..., axis] = sign * half[axis]
        points[..., others[0]] = (steps * half[others[0]])[:, np.newaxis]
        points[..., others[1]] = (steps * half[others[1]])[np.newaxis]
        face = 4 * half[others[0]] * half[others[1]]
        points = points.reshape(-1, 3)
        total += face * np.einsum("ni,nj->ij", points, points) / len(points)
        area += face
    return total / area


def corners_of(sides):
    return np.array(list(itertools.product(*[(-s / 2, s / 2) for s in sides])))


@pytest.mark.parametrize("sides", [(2, 2, 2), (6, 2, 1), (1, 9, 3)])
def test_moments_are_integrals_over_the_surface(sides, rng):
    inside = rng.uniform(-0.5, 0.5, (20, 3)) * sides
    found = matrix(covariance_of_hull(np.concatenate([corners_of(sides), inside])))
    np.testing.assert_allclose(found, summed(sides), atol=2e-4)


def test_crowds_inside_or_on_the_surface_change_nothing(rng):
    sides = np.array([6.0, 3, 1])
    plain = np.concatenate([corners_of(sides), rng.uniform(-0.5, 0.5, (20, 3)) * sides])
    crowd = rng.uniform(0.3, 0.5, (500, 3)) * sides
    crowd[::3, 2] = sides[2] / 2
    expected = matrix(covariance_of_hull(plain))
    np.testing.assert_allclose(matrix(covariance_of_hull(np.concatenate([plain, crowd]))), expected, atol=1e-12)


def test_they_turn_with_the_points(rng):
    points = rng.normal(size=(60, 3)) * (5, 2, 1)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    one, two = matrix(covariance_of_hull(points)), matrix(covariance_of_hull(points @ turn.T + 7.0))
    one /= np.trace(one)  # each is scaled by the extent along its own axes
    np.testing.assert_allclose(turn @ one @ turn.T, two / np.trace(two), atol=1e-12)


def test_a_flat_set_is_measured_along_its_outline(rng):
    """A rectangle of 4 by 2 in an oblique plane: by hand, of each side's length ∫x² = l³/12 or l·(distance)²."""
    half = np.array([2.0, 1.0])
    flat = np.concatenate(
        [np.array(list(itertools.product((-2.0, 2), (-1.0, 1)))), rng.uniform(0.5, 1, (30, 2)) * half]
    )
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    along = (2 * 4**3 / 12 + 2 * 2 * 2**2) / 12
    across = (2 * 2**3 / 12 + 2 * 4 * 1**2) / 12
    found = matrix(covariance_of_hull(flat @ axes[:2]))
    expected = axes[:2].T @ np.diag([along, across]) @ axes[:2]
    np.testing.assert_allclose(found / np.trace(found), expected / np.trace(expected), atol=1e-12)


def test_what_lies_on_a_line_or_in_a_point_has_none():
    assert covariance_of_hull(np.linspace(0, 1, 40)[:, np.newaxis] * [1.0, 2, 3]) is None
    assert covariance_of_hull(np.full((40, 3), 0.25)) is None


@pytest.mark.parametrize("rule", binary.RULES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_mesh_becomes_a_valid_tree(kind, rule):
    for mesh in situation(kind, 0, 20 if jit.INTERPRETED else 60):
        tree = binary.build("obb", *mesh, rule=rule, axes="hull")
        binary.validate(tree, *mesh)
        assert tree.leaf_count == len(mesh[1])


def plate_with_crowds(rng, crowd):
    """A plate of 6 by 3, and crowds of small triangles at two opposite corners."""
    plate = abut.scenes.box((6.0, 3.0, 0.5))
    at = rng.uniform(-0.1, 0.1, (crowd, 1, 3)) + np.where(np.arange(crowd) % 2, 1, -1)[:, None, None] * [2.8, 1.3, 0.1]
    small = (at + rng.uniform(-0.05, 0.05, (crowd, 3, 3))).reshape(-1, 3)
    faces = np.concatenate([plate.faces, len(plate.vertices) + np.arange(len(small)).reshape(-1, 3)])
    return np.concatenate([plate.vertices, small]), faces


def test_crowds_do_not_turn_the_root_box(rng):
    """With the vertices' own statistics the box follows the crowds, along the diagonal."""
    mesh = plate_with_crowds(rng, 20 if jit.INTERPRETED else 200)
    boxes = {axes: 2 * binary.build("obb", *mesh, axes=axes).volumes.half[0] for axes in ("vertices", "hull")}
    assert np.sort(boxes["hull"])[::-1] == pytest.approx([6.0, 3.0, 0.5], rel=1e-3)
    assert np.prod(boxes["vertices"]) > 1.4 * np.prod(boxes["hull"])


def test_the_mean_rule_cuts_at_the_mean():
    """Ten triangles near 0 and two near 100: the middle parts them so, the median in halves, the mean at 17."""
    at = np.array([*range(10), 100.0, 101.0])
    vertices = (at[:, None, None] * [1.0, 0, 0] + 0.1 * np.eye(3)).reshape(-1, 3)
    mesh = vertices, np.arange(36).reshape(-1, 3)
    for rule, first in (("mean", 10), ("middle", 10), ("median", 6)):
        child = binary.build("aabb", *mesh, rule=rule).nodes[1]
        assert child[2] - child[1] in (first, 12 - first)
    near = np.array([0.0, 30, 40, 45, 100, 101])
    mesh = (near[:, None, None] * [1.0, 0, 0] + 0.1 * np.eye(3)).reshape(-1, 3), np.arange(18).reshape(-1, 3)
    sizes = {rule: binary.build("aabb", *mesh, rule=rule).nodes[1, 2] for rule in ("mean", "middle", "median")}
    assert sizes == {"mean": 4, "middle": 4, "median": 3}  # mean 52.7, middle 50.5
    near[3] = 52.0
    mesh = (near[:, None, None] * [1.0, 0, 0] + 0.1 * np.eye(3)).reshape(-1, 3), np.arange(18).reshape(-1, 3)
    sizes = {rule: binary.build("aabb", *mesh, rule=rule).nodes[1, 2] for rule in ("mean", "middle")}
    assert sizes == {"mean": 4, "middle": 3}  # mean 53.8, middle 50.5


def test_axes_that_are_not_there():
    mesh = situation(KINDS[0], 0, 20)[0]
    with pytest.raises(Unsupported, match="axes 'hull' of aabb"):
        binary.build("aabb", *mesh, axes="hull")
    with pytest.raises(InvalidInput, match="axes: is 'faces'"):
        binary.build("obb", *mesh, axes="faces")
