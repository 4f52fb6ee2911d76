"""Tables of addresses: what is packed is read back, by kernels and interpreted; what does not fit the layout is refused."""

from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest

from abut.core.handles import FlagsAt, Floats32At, FloatsAt, Integers32At, IntegersAt, pack, unpack
from abut.core.jit import kernel
from abut.core.records import put, record, vector
from abut.core.scratch import as_array, load, pointer_to_integers

ROW = record(("count", "i4"), ("place", "f8", 3))


class Layout(NamedTuple):
    doubles: FloatsAt
    count: int
    singles: Floats32At
    longs: IntegersAt
    ints: Integers32At
    flags: FlagsAt


def arrays():
    values = np.arange(6.0).reshape(2, 3)
    return (
        values,
        values.astype(np.float32) + 0.5,
        values.astype(np.int64) * 2**40,
        values.astype(np.int32) - 9,
        values > 2,
    )


@kernel
def read(table, out):
    given = unpack(Layout, table)
    for i in range(given.count):
        out[0, i] = load(given.doubles, i)
        out[1, i] = load(given.singles, i)
        out[2, i] = load(given.longs, i)
        out[3, i] = load(given.ints, i)
        out[4, i] = 1.0 if load(given.flags, i) else 0.0


@kernel
def read_at(address, out):
    given = unpack(Layout, pointer_to_integers(address))
    for i in range(given.count):
        out[0, i] = load(given.doubles, i)


def test_what_is_packed_is_read_back():
    doubles, singles, longs, ints, flags = given = arrays()
    table = pack(Layout, doubles, 6, singles, longs, ints, flags)
    out = np.full((5, 6), -1.0)
    read(table, out)
    for row, values in zip(out, given, strict=True):
        assert row.tolist() == values.ravel().astype(float).tolist()
    out[:] = -1.0
    read_at(table.ctypes.data, out)
    assert out[0].tolist() == doubles.ravel().tolist()


class Rows(NamedTuple):
    rows: Annotated[Any, ROW]
    count: int


@kernel
def double(table):
    given = unpack(Rows, table)
    rows = as_array(given.rows, (given.count,))
    for i in range(len(rows)):
        row = rows[i]
        x, y, z = vector(row.place)
        put(row.place, (2.0 * x, 2.0 * y, 2.0 * z))
        row.count += i


def test_records_are_read_and_written_by_name():
    rows = np.zeros(3, ROW)
    rows["place"], rows["count"] = np.arange(9.0).reshape(3, 3), 4
    double(pack(Rows, rows, 3))
    assert rows["place"].tolist() == [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0], [12.0, 14.0, 16.0]]
    assert rows["count"].tolist() == [4, 5, 6]
    with pytest.raises(TypeError, match=r"Rows\.rows"):
        pack(Rows, rows["place"], 3)


@pytest.mark.parametrize("field", [0, 2, 3, 4, 5])
def test_an_array_of_another_kind_or_layout_is_refused(field):
    doubles, singles, longs, ints, flags = arrays()
    values: list[Any] = [doubles, 6, singles, longs, ints, flags]
    right = values[field]
    for wrong in (right.astype(np.complex128), np.asfortranarray(right), right[:, ::2]):
        values[field] = wrong
        with pytest.raises(TypeError, match=Layout._fields[field]):
            pack(Layout, *values)
    with pytest.raises(TypeError, match="6 fields"):
        pack(Layout, doubles)


def test_a_field_of_no_stated_kind_is_refused():
    class Vague(NamedTuple):
        values: Any

    with pytest.raises(TypeError, match=r"Vague\.values"):
        pack(Vague, np.zeros(1))
