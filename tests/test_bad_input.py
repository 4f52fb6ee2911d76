"""A table of everything that must not get in: each case with the exception, the array, the row and the words."""

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from abut import scenes
from abut.core import arrays
from abut.core.errors import AbutError, InvalidInput, Unsupported
from abut.mesh import Mesh, as_mesh, load, save

V = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
F = np.array([[0, 1, 2], [0, 2, 3], [1, 3, 2]])


def with_value(array, where, value, dtype=None):
    changed = np.array(array, dtype=dtype)
    changed[where] = value
    return changed


def rotation(*rows):
    pose = np.eye(4)
    pose[:3, :3] = rows
    return pose


class Device:
    """A tensor on a GPU: DLPack tells where, and reading it would fail."""

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, **_):
        raise AssertionError("device memory was read")


class Raises:
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("not today")


class BrokenDevice:
    def __dlpack__(self, **_):
        return None

    def __dlpack_device__(self):
        raise RuntimeError("lost")


cyclic = []
cyclic.append(cyclic)


class Case(NamedTuple):
    call: object
    name: str | None
    row: int | None
    words: str
    kind: type = InvalidInput


def vertices(value, row, words):
    return Case(lambda: Mesh(value, F), "vertices", row, words)


def faces(value, row, words):
    return Case(lambda: Mesh(V, value), "faces", row, words)


def pose(value, row, words):
    return Case(lambda: arrays.pose(value, "pose"), "pose", row, words)


def poses(value, row, words):
    return Case(lambda: arrays.poses(value, "poses"), "poses", row, words)


def scene(call, name, words, row=None):
    return Case(call, name, row, words)


def mesh(value, name, row, words, kind=InvalidInput):
    return Case(lambda: as_mesh(value), name, row, words, kind)


def colors(value, row, words):
    return Case(lambda: save(Mesh(V, F), "never-written.ply", value), "face_colors", row, words)


CASES = {
    # vertices: values
    "vertices NaN": vertices(with_value(V, (2, 1), np.nan), 2, "is NaN"),
    "vertices NaN in the last row": vertices(with_value(V, (3, 2), np.nan), 3, "is NaN"),
    "vertices NaN before infinity": vertices(with_value(with_value(V, (3, 0), np.inf), (1, 0), np.nan), 1, "is NaN"),
    "vertices infinity": vertices(with_value(V, (1, 0), np.inf), 1, "is infinite"),
    "vertices minus infinity": vertices(with_value(V, (0, 0), -np.inf), 0, "is infinite"),
    "vertices float16 infinity": vertices(with_value(V, (1, 0), np.inf, np.float16), 1, "is infinite"),
    "vertices float32 NaN": vertices(with_value(V, (2, 0), np.nan, np.float32), 2, "is NaN"),
    "vertices byte-swapped NaN": vertices(with_value(V, (2, 0), np.nan, ">f8"), 2, "is NaN"),
    "vertices whose squares overflow": vertices(with_value(V, (2, 2), 1e200), 2, "1e+200 is beyond ±1e+75"),
    "vertices negative and too large": vertices(with_value(V, (3, 0), -1e160), 3, "-1e+160 is beyond"),
    "vertices just too large": vertices(
        with_value(V, (0, 1), np.nextafter(1e75, np.inf)), 0, "where squares and products"
    ),
    "vertices largest double": vertices(
        with_value(V, (1, 1), np.finfo(float).max), 1, "1.7976931348623157e+308 is beyond"
    ),
    "vertices long double beyond double": vertices(
        with_value(V, (1, 0), np.finfo(np.longdouble).max, np.longdouble),
        1,
        "is beyond",
    ),
    "vertices NaN in a list": vertices([[0, 0, 0], [0, 0, float("nan")], [1, 0, 0], [0, 1, 0]], 1, "is NaN"),
    "vertices masked": vertices(np.ma.masked_equal(V, 1.0), 1, "masked"),
    # vertices: shapes
    "vertices flat": vertices(np.zeros(12), None, "has shape (12,), expected (n, 3)"),
    "vertices of the plane": vertices(np.zeros((4, 2)), None, "has shape (4, 2), expected (n, 3)"),
    "vertices homogeneous": vertices(np.zeros((5, 4)), None, "has shape (5, 4), expected (n, 3)"),
    "vertices transposed": vertices(np.zeros((3, 4)), None, "has shape (3, 4)"),
    "vertices three-dimensional": vertices(np.zeros((1, 4, 3)), None, "has shape (1, 4, 3)"),
    "vertices a number": vertices(1.0, None, "has shape ()"),
    "vertices empty": vertices(np.empty((0, 3)), None, "is empty"),
    "vertices empty list": vertices([], None, "is empty"),
    "vertices no columns": vertices(np.empty((4, 0)), None, "has shape (4, 0)"),
    "vertices ragged": vertices([[0, 0, 0], [1, 0, 0], [0, 1]], 2, "not as long"),
    "vertices ragged in the first row": vertices([[0, 0], [1, 0, 0], [0, 1, 0]], 1, "not as long"),
    "vertices with a number for a row": vertices([[0, 0, 0], 7, [0, 1, 0]], 1, "not as long"),
    "vertices a list that holds itself": vertices(cyclic, None, "vertices"),
    # vertices: kinds
    "vertices boolean": vertices(np.zeros((4, 3), bool), None, "holds booleans (dtype bool)"),
    "vertices complex": vertices(V.astype(complex), None, "holds complex numbers"),
    "vertices text": vertices(V.astype("U8"), None, "holds text"),
    "vertices bytes": vertices(V.astype("S8"), None, "holds text"),
    "vertices a word": vertices("bunny", None, "holds text"),
    "vertices objects": vertices(V.astype(object), None, "holds Python objects"),
    "vertices None": vertices(None, None, "holds Python objects"),
    "vertices with None inside": vertices([[0, 0, None], [1, 0, 0], [0, 1, 0]], None, "holds Python objects"),
    "vertices integers beyond 64 bits": vertices([[10**30, 0, 0], [1, 0, 0], [0, 1, 0]], None, "holds Python objects"),
    "vertices dates": vertices(np.zeros((4, 3), "M8[s]"), None, "holds dates"),
    "vertices time spans": vertices(np.zeros((4, 3), "m8[s]"), None, "holds time spans"),
    "vertices records": vertices(np.zeros((4, 3), [("x", float)]), None, "holds records"),
    "vertices a dictionary": vertices({"x": 1}, None, "holds Python objects"),
    "vertices a set": vertices({1.0, 2.0}, None, "holds Python objects"),
    "vertices a generator": vertices((row for row in V), None, "holds Python objects"),
    "vertices on a GPU by DLPack": vertices(Device(), None, "copy it to the host"),
    "vertices on a GPU by its interface": vertices(
        SimpleNamespace(__cuda_array_interface__={}), None, "copy it to the host"
    ),
    "vertices whose device is lost": vertices(BrokenDevice(), None, "DLPack device (lost)"),
    "vertices whose conversion fails": vertices(Raises(), None, "cannot be read as an array (not today)"),
    # faces: values
    "faces negative": faces(with_value(F, (1, 1), -1), 1, "index -1 is negative"),
    "faces one too high": faces(with_value(F, (2, 0), 4), 2, "index 4 is not below 4"),
    "faces numbered from one": faces(F + 1, 1, "index 4 is not below 4"),
    "faces far too high": faces(with_value(F, (0, 0), 2**62), 0, "index 4611686018427387904 is not below 4"),
    "faces unsigned beyond int64": faces(
        with_value(F, (1, 2), 2**64 - 1, np.uint64), 1, "18446744073709551615 is not below 4"
    ),
    "faces small unsigned wrapped": faces(with_value(F, (2, 2), 255, np.uint8), 2, "index 255 is not below 4"),
    "faces byte-swapped": faces(F.astype(">i4").view("<i4"), 0, "is not below 4"),
    "faces fractional": faces(with_value(F, (1, 0), 0.5, float), 1, "index 0.5 is not a whole number"),
    "faces nearly whole": faces(with_value(F, (0, 1), np.nextafter(1, 2), float), 0, "is not a whole number"),
    "faces negative floats": faces(with_value(F, (2, 1), -1.0, float), 2, "index -1.0 is negative"),
    "faces NaN": faces(with_value(F, (1, 0), np.nan, float), 1, "is NaN"),
    "faces infinite": faces(with_value(F, (1, 0), np.inf, float), 1, "is infinite"),
    "faces huge floats": faces(with_value(F, (2, 0), 1e300, float), 2, "index 1e+300 is not below 4"),
    "faces float just beyond int64": faces(with_value(F, (2, 0), 2.0**63, float), 2, "is not below 4"),
    "faces masked": faces(np.ma.masked_equal(F, 3), 1, "masked"),
    # faces: shapes and kinds
    "faces flat": faces(F.reshape(-1), None, "has shape (9,), expected (n, 3)"),
    "faces quadrilaterals": faces(np.zeros((2, 4), int), None, "has shape (2, 4), expected (n, 3)"),
    "faces edges": faces(np.zeros((2, 2), int), None, "has shape (2, 2)"),
    "faces one row": faces([0, 1, 2], None, "has shape (3,)"),
    "faces empty": faces(np.empty((0, 3), int), None, "is empty"),
    "faces empty list": faces([], None, "is empty"),
    "faces ragged": faces([[0, 1, 2], [0, 1, 2, 3]], 1, "not as long"),
    "faces boolean": faces(np.ones((2, 3), bool), None, "holds booleans"),
    "faces complex": faces(F.astype(complex), None, "holds complex numbers"),
    "faces text": faces([["a", "b", "c"]], None, "holds text"),
    "faces objects": faces(F.astype(object), None, "holds Python objects"),
    "faces None": faces(None, None, "holds Python objects"),
    "faces dates": faces(F.astype("M8[s]"), None, "holds dates"),
    "faces on a GPU": faces(Device(), None, "copy it to the host"),
    # poses
    "pose of rotation only": pose(np.eye(3), None, "has shape (3, 3), expected (4, 4)"),
    "pose without its bottom row": pose(np.eye(4)[:3], None, "has shape (3, 4)"),
    "pose several": pose(np.stack([np.eye(4)] * 2), None, "has shape (2, 4, 4), expected (4, 4)"),
    "pose NaN": pose(with_value(np.eye(4), (1, 3), np.nan), 1, "is NaN"),
    "pose infinite": pose(with_value(np.eye(4), (2, 3), np.inf), 2, "is infinite"),
    "pose too far": pose(with_value(np.eye(4), (0, 3), 1e80), 0, "beyond"),
    "pose zero": pose(np.zeros((4, 4)), None, "bottom row is [0.0, 0.0, 0.0, 0.0]"),
    "pose projective": pose(
        with_value(np.eye(4), (3, 0), 0.1), None, "not rigid: the bottom row is [0.1, 0.0, 0.0, 1.0]"
    ),
    "pose with a weight": pose(with_value(np.eye(4), (3, 3), 2.0), None, "bottom row"),
    "pose transposed": pose(with_value(np.eye(4), (3, 0), 5.0), None, "may be transposed"),
    "pose scaled": pose(rotation([2, 0, 0], [0, 2, 0], [0, 0, 2]), None, "not orthonormal (off by 3)"),
    "pose slightly scaled": pose(
        rotation([1 + 1e-5, 0, 0], [0, 1, 0], [0, 0, 1]), None, "not orthonormal (off by 2e-05)"
    ),
    "pose sheared": pose(rotation([1, 0.5, 0], [0, 1, 0], [0, 0, 1]), None, "not orthonormal"),
    "pose singular": pose(rotation([1, 0, 0], [0, 1, 0], [0, 0, 0]), None, "not orthonormal (off by 1)"),
    "pose reflected": pose(rotation([1, 0, 0], [0, 1, 0], [0, 0, -1]), None, "is a reflection"),
    "pose with axes swapped": pose(rotation([0, 1, 0], [1, 0, 0], [0, 0, 1]), None, "is a reflection"),
    "pose with huge rotation": pose(rotation([1e70, 0, 0], [0, 1, 0], [0, 0, 1]), None, "not orthonormal"),
    "poses single": poses(np.eye(4), None, "has shape (4, 4), expected (n, 4, 4)"),
    "poses third reflected": poses([np.eye(4), np.eye(4), np.diag([1.0, 1, -1, 1])], 2, "is a reflection"),
    "poses second scaled": poses([np.eye(4), np.diag([3.0, 3, 3, 1])], 1, "not orthonormal"),
    "poses NaN in the second": poses([np.eye(4), np.full((4, 4), np.nan)], 1, "is NaN"),
    "poses the first of several faults": poses([np.diag([1.0, 1, -1, 1]), np.zeros((4, 4))], 0, "is a reflection"),
    # what else stands for a mesh
    "mesh a number": mesh(3, "mesh", None, "is a int"),
    "mesh None": mesh(None, "mesh", None, "is a NoneType"),
    "mesh an array": mesh(V, "mesh", None, "is a ndarray"),
    "mesh a triple": mesh((V, F, F), "mesh", None, "is a tuple of 3, expected (vertices, faces)"),
    "mesh a pair in the wrong order": mesh((F, V + 0.5), "faces", 0, "is not a whole number"),
    "mesh a path that is not there": mesh("nowhere.ply", "nowhere.ply", None, "does not exist"),
    "mesh trimesh-like with bad faces": mesh(SimpleNamespace(vertices=V, faces=F + 9), "faces", 0, "not below 4"),
    "mesh meshio-like in the plane": mesh(
        SimpleNamespace(points=V[:, :2], cells=[]), "points", None, "has shape (4, 2)"
    ),
    "mesh meshio-like without cells": mesh(SimpleNamespace(points=V, cells=[]), "faces", None, "is empty"),
    "mesh meshio-like with bad triangles": mesh(
        SimpleNamespace(points=V, cells=[("triangle", F + 9)]), "cells 'triangle'", 0, "not below 4"
    ),
    "mesh meshio-like with bad quads": mesh(
        SimpleNamespace(points=V, cells=[("quad", F)]), "cells 'quad'", None, "expected (n, 4)"
    ),
    "mesh meshio-like with lines": mesh(
        SimpleNamespace(points=V, cells=[("line", [[0, 1]])]), None, None, "'line'", Unsupported
    ),
    "path a number": Case(lambda: load(3), "path", None, "is a int, expected text or a path"),
    "path None": Case(lambda: load(None), "path", None, "is a NoneType"),
    "path with a zero byte": Case(lambda: load("a\0b.ply"), "path", None, "is no path"),
    "path too long": Case(lambda: load("x" * 5000 + ".ply"), "x" * 5000 + ".ply", None, "does not exist"),
    "path a folder": Case(lambda: load("/"), "/", None, "is not a file"),
    "path into no folder": Case(
        lambda: Mesh(V, F).save("nowhere/mesh.ply"), "nowhere/mesh.ply", None, "folder does not exist"
    ),
    # colours
    "colors for too few faces": colors([[0, 0, 0]], None, "has 1 rows for 3 faces"),
    "colors beyond 255": colors([[0, 0, 0], [0, 256, 0], [0, 0, 0]], 1, "index 256 is not below 256"),
    "colors from 0 to 1": colors(np.full((3, 3), 0.5), 0, "is not a whole number"),
    "colors of two channels": colors(np.zeros((3, 2), int), None, "has shape (3, 2), expected (3, 3) or (3, 4)"),
    # scenes
    "icosphere negative": scene(lambda: scenes.icosphere(-1), "subdivisions", "-1 is not between 0 and 10"),
    "icosphere too fine": scene(lambda: scenes.icosphere(50), "subdivisions", "50 is not between 0 and 10"),
    "icosphere by half": scene(lambda: scenes.icosphere(1.5), "subdivisions", "1.5 is not a whole number"),
    "icosphere by NaN": scene(lambda: scenes.icosphere(float("nan")), "subdivisions", "nan is not a whole number"),
    "icosphere by True": scene(lambda: scenes.icosphere(True), "subdivisions", "holds booleans"),
    "icosphere without radius": scene(lambda: scenes.icosphere(1, radius=0), "radius", "0 is not positive"),
    "icosphere radius infinite": scene(lambda: scenes.icosphere(1, radius=np.inf), "radius", "is infinite"),
    "icosphere radius text": scene(lambda: scenes.icosphere(1, radius="big"), "radius", "holds text"),
    "icosphere radius pair": scene(
        lambda: scenes.icosphere(1, radius=(1, 2)), "radius", "has shape (2,), expected one number"
    ),
    "icosphere center NaN": scene(lambda: scenes.icosphere(1, center=(0, np.nan, 0)), "center", "is NaN", 1),
    "icosphere center of the plane": scene(
        lambda: scenes.icosphere(1, center=(0, 0)), "center", "has shape (2,), expected (3,)"
    ),
    "icosphere out of bounds": scene(lambda: scenes.icosphere(0, 1e75, (1e75, 0, 0)), "vertices", "beyond", 1),
    "box flat": scene(lambda: scenes.box((1, 0, 1)), "extents", "0 is not positive", 1),
    "box negative": scene(lambda: scenes.box((1, 1, -2)), "extents", "-2 is not positive", 2),
    "torus fat": scene(lambda: scenes.torus(1.0, 1.0), "minor", "1 is not below major"),
    "torus of two": scene(lambda: scenes.torus(1.0, 0.5, 2, 8), "major_count", "2 is not between 3"),
    "bumpy of four": scene(lambda: scenes.bumpy(4), "face_count", "4 is not between 6"),
    "bumpy too large": scene(lambda: scenes.bumpy(10**12), "face_count", "is not between 6"),
    "bumpy seed negative": scene(lambda: scenes.bumpy(10, seed=-1), "seed", "-1 is not between 0"),
    "bumpy too rough": scene(lambda: scenes.bumpy(10, roughness=1.0), "roughness", "1 is not between 0"),
    "cloth without squares": scene(lambda: scenes.cloth(0, 4), "nx", "0 is not between 1"),
    "cloth too large": scene(lambda: scenes.cloth(10**5, 10**5), "ny", "100000 is not between 1"),
    "cloth size of three": scene(lambda: scenes.cloth(2, 2, (1, 1, 1)), "size", "has shape (3,), expected (2,)"),
    "cloth size zero": scene(lambda: scenes.cloth(2, 2, 0), "size", "0 is not positive"),
    "cloth size boolean": scene(lambda: scenes.cloth(2, 2, True), "size", "holds booleans"),
}


def test_the_table_is_long():
    assert len(CASES) >= 70


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_bad_input_is_refused_with_the_reason(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AbutError) as caught:
        case.call()
    error = caught.value
    assert type(error) is case.kind
    assert case.words in str(error)
    if case.kind is InvalidInput:
        assert error.name == case.name
        assert error.row == case.row
        where = case.name if case.row is None else f"{case.name}[{case.row}]"
        assert str(error) == f"{where}: {error.reason}"
    assert list(tmp_path.iterdir()) == []


PLY_POINTS = (
    "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nend_header\n0 0 0\n"
)
TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\n"
# file name, content, words, row
FILES = {
    "empty ply": ("a.ply", "", "cannot be read", None),
    "empty obj": ("a.obj", "", "holds no faces", None),
    "empty stl": ("a.stl", "", "holds no faces", None),
    "empty off": ("a.off", "", "cannot be read", None),
    "garbage ply": ("a.ply", "\x01\x02\x03", "cannot be read", None),
    "garbage glb": ("a.glb", "glTF no", "cannot be read", None),
    "garbage zip": ("a.zip", "PK no", "cannot be read", None),
    "binary obj": ("a.obj", "\xff\xfe\x00", "holds no faces", None),
    "truncated off": ("a.off", "OFF\n3 1 0\n0 0 0\n", "cannot be read", None),
    "points ply": ("a.ply", PLY_POINTS, "holds no faces", None),
    "points xyz": ("a.xyz", "0 0 0\n1 0 0\n", "holds no faces", None),
    "NaN obj": ("a.obj", "v 0 0 0\nv 1 nan 0\nv 0 1 0\nf 1 2 3\n", "vertices[1]: is NaN", 1),
    "words obj": ("a.obj", "v a b c\n", "cannot be read", None),
    "index too high obj": ("a.obj", TRIANGLE + "f 1 2 9\n", "faces[0]: index 8 is not below 3", 0),
    "index too low obj": ("a.obj", TRIANGLE + "f 1 2 -9\n", "faces[0]: index -6 is negative", 0),
    "index zero obj": ("a.obj", TRIANGLE + "f 0 1 2\n", "line 4", None),
    "two corners obj": ("a.obj", TRIANGLE + "f 1 2\n", "line 4", None),
    "short vertex obj": ("a.obj", TRIANGLE + "v 1 2\nf 1 2 3\n", "vertices[3]: is not as long", 3),
    "index too high off": ("a.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 7\n", "cannot be read", None),
}


@pytest.mark.parametrize("name, content, words, row", FILES.values(), ids=FILES.keys())
def test_bad_files_are_refused_by_path(tmp_path, name, content, words, row):
    path = tmp_path / name
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(InvalidInput) as caught:
        load(path)
    assert caught.value.name.startswith(str(path))
    assert caught.value.row == row
    assert words in str(caught.value)


def test_truncated_binary_files_are_refused(tmp_path):
    for suffix in (".ply", ".stl"):
        path = tmp_path / f"mesh{suffix}"
        scenes.box().save(path)
        path.write_bytes(path.read_bytes()[:-30])
        with pytest.raises(InvalidInput, match=r"cannot be read|holds no faces"):
            load(path)


@pytest.mark.parametrize("name", ["mesh.foo", "mesh"])
def test_unknown_kinds_of_file_are_not_supported(tmp_path, name):
    (tmp_path / name).write_text("?")
    with pytest.raises(Unsupported, match="are not read"):
        load(tmp_path / name)


ANY_NUMBERS = st.one_of(
    hnp.arrays(
        st.one_of(hnp.integer_dtypes(), hnp.floating_dtypes(), hnp.unsigned_integer_dtypes()),
        st.tuples(st.integers(0, 5), st.integers(2, 4)),
    ),
    hnp.arrays(np.float64, st.tuples(st.integers(1, 5), st.just(3)), elements=st.floats(-9, 9)),
    hnp.arrays(np.int8, st.tuples(st.integers(1, 5), st.just(3)), elements=st.integers(-1, 4)),
)


@given(ANY_NUMBERS, ANY_NUMBERS)
def test_a_mesh_is_right_or_refused(vertices, faces):
    """Whatever gets in has finite measures and adjacency; the rest is refused by name."""
    try:
        mesh = Mesh(vertices, faces)
    except InvalidInput as error:
        assert error.name in ("vertices", "faces")  # noqa: PT017
        return
    assert np.array_equal(mesh.vertices, vertices.astype(np.float64))
    assert np.array_equal(mesh.faces, faces)
    assert np.isfinite(mesh.area)
    assert np.isfinite(mesh.face_normals).all()
    assert np.isfinite(mesh.bounds).all()
    assert len(mesh.face_edges) == len(mesh)
    if mesh.is_closed and mesh.is_oriented:
        assert np.isfinite(mesh.volume)
