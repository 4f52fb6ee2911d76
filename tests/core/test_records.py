"""Rows with named fields: what Python, NumPy and kernels see of them is the same memory."""

import pickle

import numpy as np
import pytest

import abut
from abut import shapes
from abut.core.jit import kernel
from abut.core.records import put, record, vector
from abut.impulses.records import BODY, CONTACT
from abut.world.bodies.state import AT_REST, STATE, name_fields
from abut.world.contacts.points import FEATURE, POINT, ContactPoints, join_points, no_points

KIND = record(("count", "i8"), ("place", "f8", 3), ("extent", "f8"), ("is_new", "?"))


@kernel
def _double(rows):
    for i in range(len(rows)):
        row = rows[i]
        x, y, z = vector(row.place)
        put(row.place, (2.0 * x, 2.0 * y, 2.0 * z))
        row.count += i
        row.extent = row.place[0]
        row.is_new = row.extent > 2.0


def test_fields_are_read_and_written_by_name_in_kernels_and_outside():
    rows = np.zeros(3, KIND)
    rows["place"] = np.arange(9.0).reshape(3, 3)
    rows[1].count = 5
    rows[2].place[2] = -1.0
    _double(rows)
    assert rows["count"].tolist() == [0, 6, 2]
    assert rows["place"].tolist() == [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0], [12.0, 14.0, -2.0]]
    assert rows["extent"].tolist() == [0.0, 6.0, 12.0]
    assert rows["is_new"].tolist() == [False, True, True]


def test_a_field_is_not_named_as_an_attribute_of_scalars():
    with pytest.raises(ValueError, match="size"):
        record(("size", "f8"))


def test_arrays_of_one_kind_share_one_dtype():
    """Numba looks at the dtype of each argument anew if it is another object."""
    for kind in (KIND, BODY, CONTACT, STATE, POINT, FEATURE):
        rows = np.zeros(4, kind)
        for each in (rows, rows[1:], rows[np.array([True, False, True, True])], rows[[2, 0]], rows.copy()):
            assert each.dtype is kind
    assert name_fields(np.tile(AT_REST, (2, 1))).dtype is STATE
    assert no_points().points.dtype is POINT
    assert no_points().features.dtype is FEATURE
    again = pickle.loads(pickle.dumps(np.zeros(2, KIND)))
    assert again.dtype == KIND


def test_states_with_names_are_the_states():
    states = np.arange(26.0).reshape(2, 13)
    named = name_fields(states)
    assert np.array_equal(named["position"], states[:, :3])
    assert np.array_equal(named["quaternion"], states[:, 3:7])
    assert np.array_equal(named["velocity"], states[:, 7:10])
    assert np.array_equal(named["angular_velocity"], states[:, 10:])
    named["velocity"][1] = -1.0
    assert states[1, 7:10].tolist() == [-1.0, -1.0, -1.0]


def test_points_of_contact_have_the_columns_of_the_narrow_phase():
    world = abut.World()
    for x in (0.0, 0.9):
        world.add(shapes.Box((1, 1, 1)), [[1, 0, 0, x], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    world._colliders.place(world._store, np.zeros(len(world._store.alive)))
    movable = world._store.movable
    found = world._colliders.meet(*world._colliders.find_near(world._store, np.zeros(len(movable)), movable, movable))
    assert len(found.point) == 4
    assert np.allclose(found.point[:, 0], 0.45)
    assert np.allclose(found.normal, (1, 0, 0))
    assert np.allclose(found.separation, -0.1)
    assert found.colliders.tolist() == [[0, 1]] * 4
    assert found.keys.tolist() == [1] * 4
    for name in POINT.names:
        assert np.array_equal(found.points[name], getattr(found, name))
    for name in ("face_a", "face_b", "collider_a", "collider_b"):
        assert np.array_equal(found.features[name], getattr(found, name))
    both = join_points([no_points(), found.take([0, 1]), found.take(found.separation < -1.0), found.take([2, 3])])
    assert isinstance(both, ContactPoints)
    assert np.array_equal(both.numbers, found.numbers)
    assert np.array_equal(both.ids, found.ids)
