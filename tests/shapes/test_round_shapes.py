"""Cylinders, cones and half-spaces: distances against a search over all directions, rays against bisection, masses against sums, and by formulas."""

import importlib.util
import itertools
from pathlib import Path

import numpy as np
import pytest

import abut
from abut import shapes
from abut.core import jit
from conftest import SOAK

_spec = importlib.util.spec_from_file_location("round_oracle", Path(__file__).with_name("round_oracle.py"))
oracle = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(oracle)

CASES = 2000 if SOAK else (4 if jit.INTERPRETED else 20)
MADE = {
    "cylinder": lambda s: shapes.Cylinder(0.5 * s, 1.3 * s),
    "cone": lambda s: shapes.Cone(0.6 * s, 1.1 * s),
    "coin": lambda s: shapes.Cylinder(0.7 * s, 0.05 * s),
    "needle": lambda s: shapes.Cone(0.04 * s, 2.0 * s),
    "box": lambda s: shapes.Box((1.0 * s, 0.7 * s, 0.5 * s)),
    "capsule": lambda s: shapes.Capsule(0.1 * s, 1.0 * s),
    "sphere": lambda s: shapes.Sphere(0.3 * s),
}
ROUND = ("cylinder", "cone", "coin", "needle")
ACROSS = np.array([(0.0, 0, 1), (0, 1, 0), (-1, 0, 0)])
"""Turns z to x."""


def at(place, rotation=None):
    pose = np.eye(4)
    pose[:3, 3] = place
    if rotation is not None:
        pose[:3, :3] = rotation
    return pose


def turned(rng):
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q *= np.sign(np.diag(r))
    return q * np.linalg.det(q)


def ask(a, pose_a, b, pose_b):
    world = abut.World()
    world.add(b, pose_b, kind="static")
    return world.closest(a, pose_a)


def test_distance_and_depth_are_the_best_over_all_directions():
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(400 if jit.INTERPRETED else 8000, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    pairs = [pair for pair in itertools.product(MADE, MADE) if set(pair) & set(ROUND)]
    apart = 0
    for case in range(CASES):
        size = 10.0 ** rng.integers(-6, 7)
        a, b = (MADE[kind](size) for kind in pairs[int(rng.integers(len(pairs)))])
        spread = size * rng.choice([0.1, 0.4, 1.0, 2.0])
        pose_a, pose_b = at(size * rng.normal(size=3), turned(rng)), at((0, 0, 0), turned(rng))
        pose_b[:3, 3] = pose_a[:3, 3] + spread * rng.normal(size=3)
        found = ask(a, pose_a, b, pose_b)
        scaled = [pose.copy() for pose in (pose_a, pose_b)]
        for pose in scaled:
            pose[:3, 3] /= size
        small = [_shrunk(shape, size) for shape in (a, b)]
        wanted = oracle.separate(small[0], scaled[0], small[1], scaled[1], directions)
        assert found.distance == pytest.approx(size * wanted, abs=2e-9 * size), (a, b, case)
        np.testing.assert_allclose(
            found.point_b - found.point_a, found.distance * found.normal, atol=1e-9 * size, err_msg=f"{a} {b} {case}"
        )
        for shape, pose, point in ((a, pose_a, found.point_a), (b, pose_b, found.point_b)):
            if getattr(shape, "sides", 0) is None:
                own = (point - pose[:3, 3]) @ pose[:3, :3]
                # Overlapping, the nearest points are in the common part, to what the depth is exact to.
                assert oracle.holds(shape, own, 3e-5 * size if found.distance < 0 else 1e-9 * size).all(), (a, b, case)
        apart += found.distance > 0
    assert jit.INTERPRETED or CASES // 6 <= apart <= CASES - CASES // 6


def _shrunk(shape, size):
    """The same shape of size 1."""
    return next(make(1.0) for make in MADE.values() if repr(make(size)) == repr(shape))


@pytest.mark.parametrize("size", [1.0] if jit.INTERPRETED else [1e-6, 1.0, 1e6])
def test_named_places_have_the_distance_that_a_formula_gives(size):
    r, h, d = 0.5 * size, 1.5 * size, 0.25 * size
    cylinder, cone = shapes.Cylinder(r, 2 * h), shapes.Cone(r, 2 * h)
    slant = np.hypot(r, 2 * h)
    upside_down = np.diag([1.0, -1.0, -1.0])
    cases = {
        "parallel": (cylinder, at((0, 0, 0)), cylinder, at((2 * r + d, 0, 0.3 * h)), d),
        "coaxial": (cylinder, at((0, 0, 0)), cylinder, at((0, 0, 2 * h + d)), d),
        "coaxial, touching": (cylinder, at((0, 0, 0)), cylinder, at((0, 0, 2 * h)), 0.0),
        "coaxial, in": (cylinder, at((0, 0, 0)), cylinder, at((0, 0, 2 * h - d)), -d),
        "parallel, touching": (cylinder, at((0, 0, 0)), cylinder, at((2 * r, 0, 0)), 0.0),
        "parallel, in": (cylinder, at((0, 0, 0)), cylinder, at((0, 2 * r - d, 0)), -d),
        "the same place": (cylinder, at((0, 0, 0)), cylinder, at((0, 0, 0)), -2 * r),
        "crossing": (cylinder, at((0, 0, 0)), cylinder, at((0, 2 * r + d, 0), ACROSS), d),
        "crossing, in": (cylinder, at((0, 0, 0)), cylinder, at((0, 2 * r - d, 0), ACROSS), -d),
        "end on side": (cylinder, at((0, 0, 0)), cylinder, at((r + h + d, 0, 0), ACROSS), d),
        "rim to rim": (
            cylinder,
            at((0, 0, 0)),
            cylinder,
            at((2 * r + 3 * d, 0, 2 * h + 4 * d)),
            5 * d,
        ),
        "tip on end": (cone, at((0, 0, 0)), cylinder, at((0, 0, 2 * h + d)), d),
        "tip to tip": (cone, at((0, 0, 0)), cone, at((0, 0, 2 * h + d), upside_down), d),
        "base on base": (cone, at((0, 0, 0)), cone, at((0, 0, -2 * h - d), upside_down), d),
        "a point before the side": (
            cone,
            at((0, 0, 0)),
            shapes.Sphere(d),
            at((r * 0.5 + 2 * d * 2 * h / slant, 0, 2 * d * r / slant)),
            d,
        ),
        "a point on the axis": (cylinder, at((0, 0, 0)), shapes.Sphere(d), at((0, 0, 0)), -(r + d)),
        "on a box": (cylinder, at((0, 0, h + d)), shapes.Box((9 * size, 9 * size, size)), at((0, 0, -0.5 * size)), d),
        "lying on a box": (
            cylinder,
            at((0, 0, r - d / 4), ACROSS),
            shapes.Box((9 * size, 9 * size, size)),
            at((0, 0, -0.5 * size)),
            -d / 4,
        ),
    }
    for name, (a, pose_a, b, pose_b, wanted) in cases.items():
        for first, second in (((a, pose_a), (b, pose_b)), ((b, pose_b), (a, pose_a))):
            found = ask(*first, *second)
            assert found.distance == pytest.approx(wanted, abs=1e-9 * size), name


@pytest.mark.parametrize("name", ["cylinder", "cone", "coin", "needle"])
def test_rays_enter_where_bisection_says(name):
    rng = np.random.default_rng(5)
    shape, count = MADE[name](1.0), 12 if jit.INTERPRETED else 300
    world, place = abut.World(), at((0.3, -0.2, 0.1), turned(rng))
    world.add(shape, place, kind="static")
    far = rng.choice([0.5, 3.0, 1e3], (count, 1))
    origins = far * _unit(rng.normal(size=(count, 3))) + place[:3, 3]
    inside = shape.core.vertices[rng.integers(0, len(shape.core.vertices), count)] * rng.uniform(0, 1.2, (count, 1))
    directions = _unit(inside @ place[:3, :3].T + place[:3, 3] - origins)
    found = world.ray(origins, directions)
    own, ahead = (origins - place[:3, 3]) @ place[:3, :3], directions @ place[:3, :3]
    middle = np.linalg.norm(own, axis=1)
    for k in range(count):
        steps = np.linspace(max(0.0, middle[k] - 1.6), middle[k] + 1.6, 20_001)
        met = np.flatnonzero(oracle.holds(shape, own[k] + steps[:, np.newaxis] * ahead[k]))
        if not len(met):
            # It may cut off less than a step's length.
            assert found.body[k] < 0 or not oracle.holds(shape, own[k] + (found.distance[k] + 2e-4) * ahead[k]).all()
            continue
        low, high = (steps[met[0] - 1], steps[met[0]]) if met[0] else (0.0, 0.0)
        for _ in range(60):
            half = 0.5 * (low + high)
            low, high = (low, half) if oracle.holds(shape, own[k] + half * ahead[k])[0] else (half, high)
        assert found.distance[k] == pytest.approx(high, abs=1e-9 * max(1.0, middle[k]))
        if high > 0.0:
            assert found.normal[k] @ directions[k] <= 1e-9
            out = found.point[k] + 1e-6 * found.normal[k]
            assert not oracle.holds(shape, (out - place[:3, 3]) @ place[:3, :3]).any()
        else:
            assert not found.normal[k].any()


def _unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_rays_along_the_axis_through_rims_and_along_sides():
    world = abut.World()
    world.add(shapes.Cylinder(1, 2), at((0, 0, 0)), kind="static")
    world.add(shapes.Cone(1, 2), at((10, 0, 0)), kind="static")
    origins = [
        (0, 0, 5),
        (1, 0, 5),
        (0, 1, -5),
        (10, 0, 5),
        (11, 0, -5),
        (10, 0, -5),
        (-5, 0, 1),
        (1 + 1e-9, 0, 5),
        (10, 0, 0),
    ]
    along = [(0, 0, -1), (0, 0, -1), (0, 0, 1), (0, 0, -1), (0, 0, 1), (0, 0, 1), (1, 0, 0), (0, 0, -1), (0, 0, 1)]
    found = world.ray(origins, along)
    np.testing.assert_allclose(found.distance, [4, 4, 4, 4, 4, 4, 4, np.inf, 0], atol=1e-12)
    np.testing.assert_allclose(found.normal[0], (0, 0, 1))
    np.testing.assert_allclose(found.normal[5], (0, 0, -1))


@pytest.mark.parametrize("shape", [shapes.Cylinder(0.5, 1.2), shapes.Cone(0.6, 1.4), shapes.Cylinder(2.0, 0.1)])
def test_mass_and_inertia_are_sums_over_discs(shape):
    """Of thin discs stacked along z: each has a quarter of m r² across, and half of it about its axis."""
    count = 20_000
    z = shape.length * ((np.arange(count) + 0.5) / count - 0.5)
    r = shape.round * (np.ones(count) if isinstance(shape, shapes.Cylinder) else 0.5 - z / shape.length)
    mass = 3.0 * np.pi * r**2 * shape.length / count
    center = (mass * z).sum() / mass.sum()
    weight = shape.weigh(3.0)
    assert weight.mass == pytest.approx(mass.sum(), rel=1e-6)
    np.testing.assert_allclose(weight.center, (0, 0, center), atol=1e-6)
    across, along = (mass * (r**2 / 4 + (z - center) ** 2)).sum(), (mass * r**2 / 2).sum()
    np.testing.assert_allclose(weight.inertia, np.diag([across, across, along]), atol=1e-6 * along + 1e-6 * across)


def test_a_moving_cylinder_meets_what_a_formula_says():
    world = abut.World()
    world.add(shapes.Cylinder(0.5, 4.0), at((5, 0, 0)), kind="static")
    world.add(shapes.Plane((0, 0, 1), -3.0), kind="static")
    rod = shapes.Cylinder(0.25, 1.0)
    hit = world.sweep_shape(rod, at((0, 0, 0)), at((10, 0, 0)))
    assert hit.time == pytest.approx(0.425, abs=1e-8)
    hit = world.sweep_shape(rod, at((0, 0, 0)), at((0, 0, -10)))
    assert hit.time == pytest.approx(0.25, abs=1e-8)
    np.testing.assert_allclose(hit.normal, (0, 0, -1), atol=1e-6)
    assert world.sweep_shape(rod, at((0, 0, 0)), at((0, 10, 0))) is None


def test_triangles_meet_round_shapes_as_planes_do():
    """A cylinder that lies on a mesh of two triangles, or on a terrain, is as deep in it as in a half-space."""
    slab = abut.scenes.box((6.0, 6.0, 1.0), center=(0.0, 0.0, -0.5))
    for ground in (shapes.Surface(slab, thick=True), shapes.Plane(), shapes.Terrain(np.zeros((7, 7)), 1.0)):
        world = abut.World()
        world.add(ground, at((-3, -3, 0) if isinstance(ground, shapes.Terrain) else (0, 0, 0)), kind="static")
        lies, stands = shapes.Cylinder(0.5, 1.0), shapes.Cone(0.5, 1.0)
        for shape, place, depth in ((lies, at((0.2, 0.1, 0.49), ACROSS), 0.01), (stands, at((0.1, 0.3, 0.48)), 0.02)):
            assert world.closest(shape, place).distance == pytest.approx(-depth, abs=1e-9)
            assert len(world.overlap(shape, place)) == 1
            place[2, 3] += depth + 0.1
            assert world.closest(shape, place).distance == pytest.approx(0.1, abs=1e-9)
            assert len(world.overlap(shape, place)) == 0


def test_a_half_space_holds_whatever_is_below_it():
    world = abut.World()
    floor = world.add(shapes.Plane((0, 3, 4), 5.0), kind="static", position=(0, 0, 1))
    normal = np.array([0, 0.6, 0.8])
    place = 5.0 * normal + (0, 0, 1)
    for shape in (
        shapes.Sphere(0.5),
        shapes.Box((1, 1, 1)),
        shapes.Capsule(0.2, 1.0),
        abut.scenes.torus(0.7, 0.25, 14, 8),
    ):
        for height in (3.0, -3.0):
            found = world.closest(shape, at(place + height * normal))
            solid = shapes.as_shape(shape)
            points = solid.vertices if isinstance(solid, shapes.Surface) else solid.core.vertices
            wanted = height + (points @ normal).min() - solid.radius
            assert found.body == floor
            assert found.distance == pytest.approx(wanted, abs=1e-12)
            np.testing.assert_allclose(found.normal, -normal, atol=1e-12)
            assert len(world.overlap(shape, at(place + height * normal))) == (height < 0)
    assert world.ray(place + 2 * normal, -normal).distance[0] == pytest.approx(2.0)
    assert world.ray(place - 2 * normal, normal).distance[0] == 0.0
    assert world.ray(place + 2 * normal, normal).body[0] == -1


def test_two_half_spaces_never_meet():
    world = abut.World()
    world.add([shapes.Plane(), shapes.Plane((1, 0, 0))], kind="static")
    assert world.closest(shapes.Plane((0, 0, -1), -1.0)) is None
    assert len(world.overlap(shapes.Plane())) == 0
    world.step(0.01)
    assert len(world.contacts()) == 0


def test_a_half_space_shows_a_slab():
    slab = shapes.Plane((0, 3, 4), 5.0).surface()
    assert slab.is_closed
    assert slab.volume == pytest.approx(1e4)
    heights = slab.vertices @ (0, 0.6, 0.8)
    np.testing.assert_allclose(np.unique(heights.round(9)), (4.0, 5.0))


def test_what_a_half_space_cannot_do_is_refused():
    world = abut.World()
    with pytest.raises(abut.Unsupported, match="half-space"):
        world.add(shapes.Plane(), kind="kinematic")
    with pytest.raises(abut.Unsupported, match="half-space"):
        world.add(shapes.Plane(), kind="sensor")
    with pytest.raises(abut.Unsupported, match="half-space"):
        world.sweep_shape(shapes.Plane(), np.eye(4), np.eye(4))
    with pytest.raises(abut.Unsupported, match="half-space"):
        shapes.Plane().weigh(1.0)
    with pytest.raises(abut.InvalidInput, match="normal"):
        shapes.Plane((0, 0, 0))
