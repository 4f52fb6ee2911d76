"""What the border hands on: one dtype and layout, right values, no copy more than needed, nobody else's memory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from abut.core import arrays
from abut.core.errors import InvalidInput

DTYPES = ["f2", "f4", "f8", "g", ">f4", ">f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4", ">u8"]


def layouts(array):
    """The same values in every layout an array can have."""
    n, k = array.shape
    spaced = np.zeros((2 * n, 3 * k), array.dtype)
    spaced[::2, ::3] = array
    offset = np.zeros(array.nbytes + 1, np.uint8)
    unaligned = offset[1:].view(array.dtype).reshape(array.shape)
    unaligned[...] = array
    readonly = array.copy()
    readonly.flags.writeable = False
    return {
        "c": array.copy(),
        "fortran": np.asfortranarray(array),
        "strided": spaced[::2, ::3],
        "negative": array[::-1, ::-1].copy()[::-1, ::-1],
        "unaligned": unaligned,
        "read-only": readonly,
    }


def assert_handed_on(array, dtype):
    assert type(array) is np.ndarray
    assert array.dtype == dtype
    assert array.dtype.isnative
    assert array.flags.c_contiguous
    assert array.flags.aligned
    assert not array.flags.writeable


class WithArray:
    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


class WithInterface:
    def __init__(self, array):
        self.array = array
        self.__array_interface__ = array.__array_interface__


class WithDlpack:
    """Only DLPack, as a tensor of another library; counts how often it is read."""

    def __init__(self, array, device=None):
        self.array = array
        self.device = device
        self.exports = 0

    def __dlpack__(self, **options):
        self.exports += 1
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device or self.array.__dlpack_device__()


@pytest.mark.parametrize("dtype", DTYPES)
def test_points_of_every_dtype_and_layout(dtype):
    values = np.arange(12).reshape(4, 3).astype(dtype)
    for array in layouts(values).values():
        points = arrays.points(array, "points")
        assert_handed_on(points, np.float64)
        assert points.tolist() == np.arange(12.0).reshape(4, 3).tolist()


@pytest.mark.parametrize("dtype", DTYPES)
def test_indices_of_every_dtype_and_layout(dtype):
    values = np.arange(12).reshape(4, 3).astype(dtype)
    for array in layouts(values).values():
        indices = arrays.indices(array, "indices", 3, 12)
        assert_handed_on(indices, np.int64)
        assert indices.tolist() == np.arange(12).reshape(4, 3).tolist()


@pytest.mark.parametrize("wrap", [WithArray, WithInterface, WithDlpack, memoryview, lambda a: a.tolist(), tuple])
def test_points_of_every_protocol(wrap):
    values = np.arange(12.0).reshape(4, 3)
    points = arrays.points(wrap(values), "points")
    assert_handed_on(points, np.float64)
    assert np.array_equal(points, values)


@pytest.mark.parametrize("wrap", [lambda a: a, WithArray, WithInterface, WithDlpack, memoryview])
def test_an_array_that_is_right_is_not_copied(wrap):
    values = np.arange(12.0).reshape(4, 3)
    points = arrays.points(wrap(values), "points")
    assert np.shares_memory(points, values)
    assert values.flags.writeable


def test_dlpack_is_read_once():
    tensor = WithDlpack(np.ones((4, 3), np.float32))
    arrays.points(tensor, "points")
    assert tensor.exports == 1


class Subclass(np.ndarray):
    pass


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
@pytest.mark.parametrize("keep", [False, True])
def test_subclasses_are_left_behind(dtype, keep):
    points = arrays.points(np.zeros((4, 3), dtype).view(Subclass), "points", keep=keep)
    assert_handed_on(points, np.float64)
    assert_handed_on(arrays.indices(np.zeros((4, 3), dtype).view(Subclass), "indices", 3, 1, keep=keep), np.int64)


def test_memory_maps(tmp_path):
    np.save(tmp_path / "points.npy", np.ones((4, 3)))
    mapped = np.load(tmp_path / "points.npy", mmap_mode="r")
    points = arrays.points(mapped, "points")
    assert_handed_on(points, np.float64)
    assert np.shares_memory(points, mapped)
    assert not np.shares_memory(arrays.points(mapped, "points", keep=True), mapped)


@pytest.mark.parametrize("layout", ["c", "fortran", "strided", "negative", "unaligned"])
@pytest.mark.parametrize("dtype", ["f4", "f8", ">f8", "i4"])
@pytest.mark.parametrize("keep", [False, True])
def test_at_most_one_copy(monkeypatch, layout, dtype, keep):
    source = layouts(np.arange(12).reshape(4, 3).astype(dtype))[layout]

    class Counted(np.ndarray):
        def copy(self, *args, **options):
            made.append("copy")
            return super().copy(*args, **options)

    made = []
    convert = np.require

    def require(raw, *args):
        array = convert(raw, *args)
        if not np.shares_memory(array, raw):
            made.append("require")
        return array.view(Counted)

    monkeypatch.setattr(arrays.np, "require", require)
    points = arrays.points(source, "points", keep=keep)
    right = dtype == "f8" and layout == "c"
    assert len(made) == (0 if right and not keep else 1)
    assert np.shares_memory(points, source) == (right and not keep)


@pytest.mark.parametrize("wrap", [lambda a: a, lambda a: a[:], WithArray, WithInterface, WithDlpack, memoryview])
def test_what_is_kept_cannot_be_written_from_outside(wrap):
    values = np.arange(12.0).reshape(4, 3)
    kept = arrays.points(wrap(values), "points", keep=True)
    values[:] = -1
    assert kept.tolist() == np.arange(12.0).reshape(4, 3).tolist()


def test_a_read_only_view_of_a_writable_array_is_copied_when_kept():
    values = np.arange(12.0).reshape(4, 3)
    view = values.view()
    view.flags.writeable = False
    assert not np.shares_memory(arrays.points(view, "points", keep=True), values)


def test_a_read_only_array_is_shared_when_kept():
    values = arrays.frozen(np.ones((4, 3)))
    assert np.shares_memory(arrays.points(values, "points", keep=True), values)
    assert np.shares_memory(arrays.points(values[1:], "points", keep=True), values)


def test_a_fresh_list_is_not_copied_again():
    kept = arrays.points([[0.0, 1.0, 2.0]], "points", keep=True)
    assert kept.base is None


def test_empty_lists_are_no_rows():
    assert arrays.points([], "points").shape == (0, 3)
    assert arrays.points(np.empty((0, 3), np.float32), "points").shape == (0, 3)
    assert arrays.points([], "points", dimensions=2).shape == (0, 2)
    assert arrays.indices([], "indices", 4, 0).shape == (0, 4)
    assert arrays.poses([], "poses").shape == (0, 4, 4)


def test_masked_arrays_without_masked_entries_are_arrays():
    assert arrays.points(np.ma.array([[0.0, 1.0, 2.0]]), "points").tolist() == [[0, 1, 2]]


def test_big_integers_are_rounded_to_the_nearest_float():
    assert arrays.points([[2**53 + 1, 2**62 + 1, 0]], "points").tolist() == [[2.0**53, 2.0**62, 0.0]]


def test_the_largest_coordinate_is_accepted_and_its_products_are_finite():
    largest = arrays.LARGEST_COORDINATE
    points = arrays.points([[largest, -largest, 0.0]], "points")
    difference_of_step = 4 * points[0, 0]
    assert np.isfinite(1000 * difference_of_step**4)


def test_poses_within_the_tolerance():
    turn = np.eye(4)
    turn[:2, :2] = [[0.6, -0.8], [0.8, 0.6]]
    turn[:3, 3] = [1e10, -3, 0]
    assert arrays.pose(turn.astype(np.float32), "pose").shape == (4, 4)
    assert np.array_equal(arrays.poses([turn, np.eye(4)], "poses"), [turn, np.eye(4)])


def test_the_tolerance_of_poses_is_that_of_float32(rng):
    for _ in range(200):
        product = np.eye(3, dtype=np.float32)
        for _ in range(12):
            rotation, _ = np.linalg.qr(rng.normal(size=(3, 3)))
            rotation = rotation * np.sign(np.linalg.det(rotation))
            product = product @ rotation.astype(np.float32)
        pose = np.eye(4)
        pose[:3, :3] = product
        arrays.pose(pose, "pose")


def test_scalars_and_counts():
    assert arrays.scalar(np.float32(0.5), "x") == 0.5
    assert arrays.scalar(np.array(2), "x", least=0.0, most=2.0) == 2.0
    assert arrays.positive(1, "x") == 1.0
    assert arrays.count(np.uint8(3), "n") == 3
    assert arrays.count(3.0, "n") == 3


ANY_DTYPE = st.one_of(
    hnp.integer_dtypes(endianness="?"),
    hnp.unsigned_integer_dtypes(endianness="?"),
    hnp.floating_dtypes(endianness="?"),
    hnp.boolean_dtypes(),
    hnp.complex_number_dtypes(),
    hnp.unicode_string_dtypes(max_len=3),
    hnp.datetime64_dtypes(),
)
SMALL_ARRAY = hnp.arrays(st.sampled_from(DTYPES), (4, 3), elements=st.integers(0, 9))
ANY_SHAPE = st.one_of(
    hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4), st.tuples(st.integers(0, 5), st.just(3))
)
ANY_ARRAY = st.one_of(SMALL_ARRAY, ANY_DTYPE.flatmap(lambda dtype: hnp.arrays(dtype, ANY_SHAPE)))


@st.composite
def relaid(draw, source=ANY_ARRAY):
    """An array seen through a transposition, steps and flips."""
    array = draw(source)
    if draw(st.booleans()):
        array = np.asfortranarray(array)
    if array.ndim and draw(st.booleans()):
        array = array[:: draw(st.sampled_from([1, 2, -1]))]
    if draw(st.booleans()):
        array = array.T.copy().T
    array.flags.writeable = draw(st.booleans())
    return array


@given(relaid())
def test_points_are_right_or_refused(array):
    if not (array.dtype.kind in "iuf" and (array.shape == (0,) or array.shape[1:] == (3,))):
        with pytest.raises(InvalidInput, match=r"^points: (holds|has shape)"):
            arrays.points(array, "points")
        return
    with np.errstate(all="ignore"):
        values = np.asarray(array, np.float64).reshape(-1, 3)
        good = (np.abs(values) <= arrays.LARGEST_COORDINATE).all(axis=1)
    if not good.all():
        with pytest.raises(InvalidInput, match=rf"^points\[{np.argmin(good)}\]: "):
            arrays.points(array, "points")
        return
    points = arrays.points(array, "points")
    assert_handed_on(points, np.float64)
    assert np.array_equal(points, values)


@given(relaid(), st.integers(0, 300))
def test_indices_are_right_or_refused(array, limit):
    if not (array.dtype.kind in "iuf" and (array.shape == (0,) or array.shape[1:] == (3,))):
        with pytest.raises(InvalidInput, match=r"^indices: (holds|has shape)"):
            arrays.indices(array, "indices", 3, limit)
        return
    good = [all(0 <= x < limit and x == int(x) for x in row) for row in array.tolist()]
    if not all(good):
        with pytest.raises(InvalidInput, match=rf"^indices\[{good.index(False)}\]: "):
            arrays.indices(array, "indices", 3, limit)
        return
    indices = arrays.indices(array, "indices", 3, limit)
    assert_handed_on(indices, np.int64)
    assert indices.tolist() == [[int(x) for x in row] for row in array.tolist()]


@given(
    st.recursive(
        st.one_of(st.integers(), st.floats(), st.none(), st.text(max_size=2), st.booleans()),
        lambda x: st.lists(x, max_size=4),
    )
)
def test_nested_lists_are_right_or_refused(value):
    try:
        points = arrays.points(value, "points")
    except InvalidInput:
        return
    assert_handed_on(points, np.float64)
    assert points.shape[1:] == (3,)
    assert points.tolist() == [[float(x) for x in row] for row in value]


@pytest.mark.large
def test_a_million_points_are_checked_without_a_copy():
    values = np.random.default_rng(0).normal(size=(1_000_000, 3))
    assert np.shares_memory(arrays.points(values, "points"), values)
    values[999_999, 2] = np.nan
    with pytest.raises(InvalidInput) as caught:
        arrays.points(values, "points")
    assert caught.value.row == 999_999
