"""The mesh against dictionaries, against formulas, against libigl's numbering, and through files."""

import copy
import itertools
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st

import oracle_mesh as oracle
from abut import scenes
from abut.core.errors import InvalidInput, Unsupported
from abut.mesh import Mesh, as_mesh, load, save

SCENES = Path(__file__).parents[2] / "shared" / "data" / "scenes"

TETRAHEDRON = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)]


def shifted(faces, mapping):
    return [tuple(mapping[v] for v in face) for face in faces]


def mesh_of(faces, seed=0):
    vertex_count = max(map(max, faces)) + 1
    return Mesh(np.random.default_rng(seed).normal(size=(vertex_count, 3)), faces)


def strip(count, twist):
    """A band of 2·count faces; with a twist a Möbius strip."""
    corner = lambda i, side: 2 * (i % count) + (side ^ (twist and i >= count))  # noqa: E731
    return [
        face
        for i in range(count)
        for face in (
            (corner(i, 0), corner(i + 1, 0), corner(i, 1)),
            (corner(i, 1), corner(i + 1, 0), corner(i + 1, 1)),
        )
    ]


# name: faces, closed, oriented, manifold, boundary edges, components
KINDS = {
    "one face": ([(0, 1, 2)], False, True, True, 3, 1),
    "tetrahedron": (TETRAHEDRON, True, True, True, 0, 1),
    "tetrahedron without a face": (TETRAHEDRON[1:], False, True, True, 3, 1),
    "tetrahedron with a face turned": ([(0, 1, 2), *TETRAHEDRON[1:]], True, False, True, 0, 1),
    "tetrahedron inside out": ([face[::-1] for face in TETRAHEDRON], True, True, True, 0, 1),
    "tetrahedron with a face twice": ([*TETRAHEDRON, TETRAHEDRON[0]], False, True, False, 0, 1),
    "face twice": ([(0, 1, 2), (0, 1, 2)], True, False, True, 0, 1),
    "face and its reverse": ([(0, 1, 2), (0, 2, 1)], True, True, True, 0, 1),
    "two tetrahedra apart": (TETRAHEDRON + shifted(TETRAHEDRON, [4, 5, 6, 7]), True, True, True, 0, 2),
    "two tetrahedra at a vertex": (TETRAHEDRON + shifted(TETRAHEDRON, [0, 5, 6, 7]), True, True, False, 0, 1),
    "two tetrahedra at an edge": (TETRAHEDRON + shifted(TETRAHEDRON, [0, 1, 6, 7]), True, True, False, 0, 1),
    "bow tie": ([(0, 1, 2), (0, 3, 4)], False, True, False, 6, 1),
    "three faces at an edge": ([(0, 1, 2), (1, 0, 3), (0, 1, 4)], False, True, False, 6, 1),
    "three faces one way along an edge": ([(0, 1, 2), (0, 1, 3), (0, 1, 4)], False, False, False, 6, 1),
    "band": (strip(5, twist=False), False, True, True, 10, 1),
    "Möbius strip": (strip(5, twist=True), False, False, True, 10, 1),
    "collapsed to a segment": ([(0, 0, 1)], False, True, False, 0, 1),
    "collapsed to a point": ([(0, 0, 0)], False, True, False, 0, 1),
    "tetrahedron and a collapsed face on its edge": ([*TETRAHEDRON, (0, 0, 1)], True, True, True, 0, 1),
    "tetrahedron and a collapsed face at its vertex": ([*TETRAHEDRON, (0, 0, 0)], True, True, True, 0, 1),
    "tetrahedron and a dangling collapsed face": ([*TETRAHEDRON, (0, 4, 0)], True, True, False, 0, 1),
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_kinds_of_surface(kind):
    faces, closed, oriented, manifold, boundary_count, component_count = kind
    mesh = mesh_of(faces)
    assert mesh.is_closed is closed
    assert mesh.is_oriented is oriented
    assert mesh.is_manifold is manifold
    assert len(mesh.boundary_edges) == boundary_count
    assert mesh.component_count == component_count
    assert_is_as_oracle(mesh)


def rows(incidence):
    return [incidence.at(i).tolist() for i in range(len(incidence.offsets) - 1)]


def assert_is_as_oracle(mesh):
    faces, vertex_count = [tuple(face) for face in mesh.faces.tolist()], len(mesh.vertices)
    assert mesh.edges.tolist() == [list(edge) for edge in oracle.edges(faces)]
    assert mesh.face_edges.tolist() == oracle.face_edges(faces)
    assert rows(mesh.edge_faces) == oracle.edge_faces(faces)
    assert rows(mesh.vertex_faces) == oracle.vertex_faces(faces, vertex_count)
    assert mesh.boundary_edges.tolist() == oracle.boundary_edges(faces)
    assert mesh.is_closed == oracle.is_closed(faces)
    assert mesh.is_oriented == oracle.is_oriented(faces)
    assert mesh.is_manifold == oracle.is_manifold(faces)
    labels = oracle.components(faces)
    assert mesh.components.tolist() == labels
    assert mesh.component_count == max(labels) + 1
    of_vertex = {v: label for face, label in zip(faces, labels, strict=True) for v in face}
    assert mesh.vertex_components.tolist() == [of_vertex.get(v, -1) for v in range(vertex_count)]
    assert mesh.bounds.tolist() == [f(mesh.vertices[sorted(of_vertex)], axis=0).tolist() for f in (np.min, np.max)]


@given(st.integers(1, 9).flatmap(lambda n: st.lists(st.tuples(*[st.integers(0, n)] * 3), min_size=1, max_size=14)))
def test_adjacency_of_random_faces_is_as_oracle(faces):
    assert_is_as_oracle(mesh_of(faces))


@given(st.permutations(range(12)), st.permutations(range(20)), st.lists(st.integers(0, 2), min_size=20, max_size=20))
def test_kind_does_not_depend_on_numbering(vertex_order, face_order, turns):
    ball = scenes.icosphere(0)
    faces = np.array(vertex_order)[ball.faces][face_order]
    faces = [np.roll(face, turn) for face, turn in zip(faces, turns, strict=True)]
    mesh = Mesh(ball.vertices[np.argsort(vertex_order)], faces)
    assert (mesh.is_closed, mesh.is_oriented, mesh.is_manifold) == (True, True, True)
    assert len(mesh.edges) == 30
    assert mesh.volume == pytest.approx(ball.volume, rel=1e-14)


def test_unreferenced_vertices_belong_to_nothing():
    mesh = Mesh([[9, 9, 9], [0, 0, 0], [1, 0, 0], [0, 1, 0], [-9, 0, 0]], [[1, 2, 3]])
    assert mesh.bounds.tolist() == [[0, 0, 0], [1, 1, 0]]
    assert mesh.vertex_components.tolist() == [-1, 0, 0, 0, -1]
    assert rows(mesh.vertex_faces) == [[], [0], [0], [0], []]
    assert mesh.area == 0.5


def test_side_i_is_opposite_vertex_i():
    mesh = scenes.torus()
    for i in range(3):
        ends = mesh.edges[mesh.face_edges[:, i]]
        assert np.array_equal(ends, np.sort(mesh.faces[:, [(i + 1) % 3, (i + 2) % 3]], axis=1))


def test_a_fan_of_high_degree_is_not_slow():
    count = 20_000 if not os.environ.get("NUMBA_DISABLE_JIT") else 200
    ring = np.arange(count)
    mesh = Mesh(np.zeros((count + 1, 3)), np.stack((np.full(count, count), ring, np.roll(ring, -1)), axis=1))
    assert len(mesh.edges) == 2 * count
    assert mesh.is_manifold


@pytest.mark.parametrize(
    "mesh, euler", [(scenes.icosphere(1), 2), (scenes.box(), 2), (scenes.torus(), 0), (scenes.cloth(3, 4), 1)]
)
def test_euler_characteristic(mesh, euler):
    assert len(mesh.vertices) - len(mesh.edges) + len(mesh.faces) == euler


# --- measures


def test_face_normals_and_areas():
    mesh = Mesh([[0, 0, 0], [2, 0, 0], [0, 3, 0], [0, 0, 5]], [[0, 1, 2], [0, 2, 1], [0, 2, 3]])
    assert mesh.face_normals.tolist() == [[0, 0, 1], [0, 0, -1], [1, 0, 0]]
    assert mesh.face_areas.tolist() == [3, 3, 7.5]
    assert mesh.area == 13.5


@pytest.mark.parametrize("face", [(0, 0, 1), (0, 1, 1), (1, 0, 1), (0, 0, 0), (0, 1, 2)])
def test_a_face_without_area_has_a_zero_normal(face):
    mesh = Mesh([[0, 0, 0], [1, 1, 1], [2, 2, 2]], [face])
    assert mesh.face_normals.tolist() == [[0, 0, 0]]
    assert mesh.area == 0


@pytest.mark.parametrize("scale", [1e75, 1e-75, 1e-150, 1e-300])
def test_normals_at_extreme_scales(scale):
    mesh = Mesh(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 1]]) * scale, [[0, 1, 2]])
    np.testing.assert_allclose(mesh.face_normals, [[0, -np.sqrt(0.5), np.sqrt(0.5)]], rtol=1e-15)
    assert np.isfinite(mesh.area)


@given(st.integers(0, 2**32))
def test_volume_is_exact_to_rounding(seed):
    rng = np.random.default_rng(seed)
    vertices = rng.normal(size=(4, 3)) + rng.normal(size=3) * 10.0 ** rng.integers(-3, 6)
    mesh = Mesh(vertices, TETRAHEDRON)
    exact = float(oracle.volume(vertices.tolist(), TETRAHEDRON))
    assert mesh.volume == pytest.approx(exact, rel=1e-12, abs=1e-14)


def test_volume_far_from_the_origin():
    assert scenes.box((1, 1, 1), center=(1e8, -1e8, 1e8)).volume == 1.0


def test_volume_is_negative_inside_out():
    ball = scenes.icosphere(1)
    assert Mesh(ball.vertices, ball.faces[:, ::-1]).volume == pytest.approx(-ball.volume)


@pytest.mark.parametrize(
    "faces, row, reason",
    [
        (TETRAHEDRON[1:], 0, r"not closed at edge \(0, 1\), which is at 1 face"),
        ([(0, 1, 2), *TETRAHEDRON[1:]], 0, r"edge \(0, 1\) are not oriented alike"),
        ([(0, 0, 1)], None, "repeated vertex"),
    ],
)
def test_what_has_no_volume(faces, row, reason):
    with pytest.raises(InvalidInput, match=reason) as caught:
        _ = mesh_of(faces).volume
    assert (caught.value.name, caught.value.row) == ("faces", row)


# --- the object


def test_a_mesh_does_not_change():
    vertices, faces = np.eye(3), np.array([[0, 1, 2]])
    mesh = Mesh(vertices, faces)
    vertices[:], faces[:] = 7, 0
    assert mesh.vertices.tolist() == np.eye(3).tolist()
    assert mesh.faces.tolist() == [[0, 1, 2]]
    for name in ("vertices", "faces", "edges", "new"):
        with pytest.raises(AttributeError, match="does not change"):
            setattr(mesh, name, vertices)
    with pytest.raises(AttributeError, match="does not change"):
        del mesh.vertices


ARRAYS = ["vertices", "faces", "edges", "face_edges", "boundary_edges", "components", "vertex_components", "bounds"]


@pytest.mark.parametrize("name", [*ARRAYS, "face_normals", "face_areas"])
def test_arrays_are_read_only_and_kept(name):
    mesh = scenes.box()
    array = getattr(mesh, name)
    assert array is getattr(mesh, name)
    assert array.flags.c_contiguous
    assert array.dtype in (np.float64, np.int64)
    with pytest.raises(ValueError, match="read-only"):
        array[...] = 0


def test_meshes_share_arrays_that_nobody_can_write():
    mesh = scenes.box()
    other = Mesh(mesh.vertices + 1, mesh.faces)
    assert np.shares_memory(other.faces, mesh.faces)


def test_repr_and_length():
    assert repr(scenes.box()) == "Mesh(8 vertices, 12 faces)"
    assert len(scenes.box()) == 12


def test_equality_is_identity():
    a, b = scenes.box(), scenes.box()
    assert a == a
    assert a != b
    assert len({a, b}) == 2


@pytest.mark.parametrize("again", [lambda m: pickle.loads(pickle.dumps(m)), copy.copy, copy.deepcopy])
def test_pickles_and_copies(again):
    mesh = scenes.box()
    _ = mesh.edges
    other = again(mesh)
    assert np.array_equal(other.vertices, mesh.vertices)
    assert np.array_equal(other.edges, mesh.edges)
    assert not other.vertices.flags.writeable


# --- libigl's numbering


@pytest.mark.large
@pytest.mark.parametrize(
    "scene, frames, step", [("cloth-ball", ("cloth_ball92", "cloth_ball93"), 92), ("cloth-funnel", ("227", "228"), 227)]
)
def test_edges_are_numbered_as_libigl_numbers_them(scene, frames, step):
    """The published pairs of colliding edges are near one another only under the right numbering."""
    folder = SCENES / scene
    if not folder.is_dir():
        pytest.skip("the sample scenes do not lie beside this checkout")
    before, after = (load(folder / f"{frame}.ply") for frame in frames)
    pairs = np.array(json.loads((folder / f"{step}ee.json").read_text())) - len(before.vertices)
    hits = np.array(json.loads((folder / f"{step}ee_mma_bool.json").read_text()))
    swept = np.concatenate((before.vertices[before.edges], after.vertices[before.edges]), axis=1)
    low, high = swept.min(axis=1), swept.max(axis=1)
    a, b = pairs[hits].T
    assert len(a) > 100
    assert ((low[a] <= high[b]) & (low[b] <= high[a])).all()
    assert not (before.edges[a][:, :, np.newaxis] == before.edges[b][:, np.newaxis, :]).any()


@pytest.mark.large
def test_the_scene_cloth_ball():
    path = SCENES / "cloth-ball" / "cloth_ball92.ply"
    if not path.is_file():
        pytest.skip("the sample scenes do not lie beside this checkout")
    mesh = load(path)
    assert (len(mesh.vertices), len(mesh.edges), len(mesh.faces)) == (46_598, 138_825, 92_230)
    assert mesh.is_manifold


# --- files


@pytest.mark.parametrize("suffix", [".ply", ".obj", ".off", ".OBJ"])
def test_what_is_saved_comes_back(tmp_path, suffix):
    mesh = scenes.bumpy(60, radius=1 / 3, center=(1e6, 1e-9, -7))
    mesh.save(tmp_path / f"mesh{suffix}")
    back = load(tmp_path / f"mesh{suffix}")
    assert np.array_equal(back.vertices, mesh.vertices)
    assert np.array_equal(back.faces, mesh.faces)
    assert os.listdir(tmp_path) == [f"mesh{suffix}"]


def test_stl_comes_back_as_float32_and_closed(tmp_path):
    mesh = scenes.bumpy(60)
    save(mesh, tmp_path / "mesh.stl")
    back = load(tmp_path / "mesh.stl")
    assert np.array_equal(back.vertices[back.faces], mesh.vertices[mesh.faces].astype(np.float32))
    assert back.is_closed
    assert back.is_manifold
    assert len(back.vertices) == len(mesh.vertices)


@pytest.mark.parametrize("channels", [3, 4])
def test_face_colors_are_saved(tmp_path, channels, rng):
    mesh = scenes.box()
    colors = rng.integers(0, 256, (12, channels))
    mesh.save(tmp_path / "mesh.ply", face_colors=colors)
    seen = trimesh.load_mesh(tmp_path / "mesh.ply", process=False).visual.face_colors
    assert np.array_equal(seen[:, :channels], colors)


def test_degenerate_meshes_survive_a_file(tmp_path):
    mesh = Mesh(np.eye(5, 3), [[0, 0, 1], [1, 2, 3], [1, 2, 3], [2, 2, 2]])
    for suffix in (".ply", ".obj", ".off"):
        mesh.save(tmp_path / f"mesh{suffix}")
        back = load(tmp_path / f"mesh{suffix}")
        assert np.array_equal(back.faces, mesh.faces)
        assert np.array_equal(back.vertices, mesh.vertices)


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "mesh.ply"
    scenes.box().save(path)
    content = path.read_bytes()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        scenes.icosphere(1).save(path)
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["mesh.ply"]


def test_save_refuses_kinds_it_does_not_write(tmp_path):
    for name in ("mesh.foo", "mesh"):
        with pytest.raises(Unsupported, match="not written"):
            scenes.box().save(tmp_path / name)
    with pytest.raises(Unsupported, match=r"face_colors are written to \.ply"):
        scenes.box().save(tmp_path / "mesh.obj", face_colors=np.zeros((12, 3), int))
    with pytest.raises(Unsupported, match="float32"):
        scenes.box((1e40, 1, 1)).save(tmp_path / "mesh.stl")
    assert os.listdir(tmp_path) == []


OBJ_CUBE_SIDE = "v 0 0 0\nv 1 0 0 # corner\nv 1 1 0\nv 0 1 0\n"
OBJ_FILES = {
    "quad": (OBJ_CUBE_SIDE + "f 1 2 3 4\n", 4, [[0, 1, 2], [0, 2, 3]]),
    "texture seam": (OBJ_CUBE_SIDE + "vt 0 0\nvt 1 1\nf 1/1 2/1 3/1\nf 1/2 3/2 4/2\n", 4, [[0, 1, 2], [0, 2, 3]]),
    "normals": (OBJ_CUBE_SIDE + "vn 0 0 1\nf 1//1 2//1 3//1\n", 4, [[0, 1, 2]]),
    "counted backwards": (OBJ_CUBE_SIDE + "f -4 -3 -1\n", 4, [[0, 1, 3]]),
    "objects and materials": (
        "o a\n" + OBJ_CUBE_SIDE + "usemtl x\nf 4 2 3\no b\nusemtl y\nf 1 2 3\n",
        4,
        [[3, 1, 2], [0, 1, 2]],
    ),
    "broken line": (OBJ_CUBE_SIDE + "f 1 \\\n2 3\n", 4, [[0, 1, 2]]),
    "colored vertices": ("v 0 0 0 1 0 0\nv 1 0 0 1 0 0\nv 1 1 0 1 0 0\nf 1 2 3\n", 3, [[0, 1, 2]]),
}


@pytest.mark.parametrize("content, vertex_count, faces", OBJ_FILES.values(), ids=OBJ_FILES.keys())
def test_obj_keeps_its_vertices(tmp_path, content, vertex_count, faces):
    (tmp_path / "mesh.obj").write_text(content)
    mesh = load(tmp_path / "mesh.obj")
    assert len(mesh.vertices) == vertex_count
    assert mesh.faces.tolist() == faces


def test_ply_with_texture_coordinates_keeps_its_vertices(tmp_path):
    header = ["ply", "format ascii 1.0", "element vertex 4", *(f"property float {c}" for c in "xyz")]
    header += [
        "element face 2",
        "property list uchar int vertex_indices",
        "property list uchar float texcoord",
        "end_header",
    ]
    body = ["0 0 0", "1 0 0", "1 1 0", "0 1 0", "3 0 1 2 6 0 0 1 0 1 1", "3 0 2 3 6 .5 .5 .6 .6 .7 .7"]
    (tmp_path / "mesh.ply").write_text("\n".join(header + body) + "\n")
    mesh = load(tmp_path / "mesh.ply")
    assert len(mesh.vertices) == 4
    assert mesh.faces.tolist() == [[0, 1, 2], [0, 2, 3]]


def test_a_scene_becomes_one_mesh(tmp_path):
    scene = trimesh.Scene()
    scene.add_geometry(trimesh.creation.box())
    scene.add_geometry(trimesh.creation.box(), transform=trimesh.transformations.translation_matrix((5, 0, 0)))
    scene.export(tmp_path / "scene.glb")
    for mesh in (load(tmp_path / "scene.glb"), as_mesh(scene)):
        assert len(mesh) == 24
        assert mesh.component_count == 2
        assert mesh.bounds.tolist() == [[-0.5, -0.5, -0.5], [5.5, 0.5, 0.5]]


# --- other libraries' meshes


def block(kind, data):
    return SimpleNamespace(type=kind, data=np.array(data))


SQUARE = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], float)
MESHIO_LIKE = {
    "blocks": SimpleNamespace(points=SQUARE, cells=[block("triangle", [[3, 0, 1]]), block("quad", [[0, 1, 2, 3]])]),
    "pairs": SimpleNamespace(points=SQUARE, cells=[("triangle", [[3, 0, 1]]), ("quad", [[0, 1, 2, 3]])]),
    "dictionary": SimpleNamespace(points=SQUARE, cells_dict={"triangle": [[3, 0, 1]], "quad": [[0, 1, 2, 3]]}),
    "old dictionary": SimpleNamespace(points=SQUARE, cells={"triangle": [[3, 0, 1]], "quad": [[0, 1, 2, 3]]}),
}


@pytest.mark.parametrize("value", MESHIO_LIKE.values(), ids=MESHIO_LIKE.keys())
def test_as_mesh_of_meshio_like_objects(value):
    assert as_mesh(value).faces.tolist() == [[3, 0, 1], [0, 1, 2], [0, 2, 3]]


def test_as_mesh_refuses_other_cells_by_name():
    with pytest.raises(Unsupported, match="'tetra'"):
        as_mesh(SimpleNamespace(points=SQUARE, cells=[block("tetra", [[0, 1, 2, 3]])]))


def test_as_mesh_of_what_else_is_a_mesh(tmp_path):
    mesh = scenes.box()
    assert as_mesh(mesh) is mesh
    assert np.array_equal(as_mesh((mesh.vertices, mesh.faces)).faces, mesh.faces)
    other = trimesh.Trimesh(mesh.vertices, mesh.faces, process=False)
    assert np.array_equal(as_mesh(other).faces, mesh.faces)
    assert type(as_mesh(other).vertices) is np.ndarray
    mesh.save(tmp_path / "mesh.ply")
    for path in (tmp_path / "mesh.ply", str(tmp_path / "mesh.ply")):
        assert len(as_mesh(path)) == 12


@pytest.mark.large
def test_trimesh_is_imported_only_to_read_files():
    code = "import sys, abut.mesh, abut.scenes; assert 'trimesh' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


# --- size


@pytest.mark.large
def test_a_million_faces_agree_with_numpy():
    ball = scenes.bumpy(1_000_000)
    rng = np.random.default_rng(1)
    order = rng.permutation(len(ball.vertices))
    mesh = Mesh(ball.vertices[np.argsort(order)], order[ball.faces][rng.permutation(len(ball))])
    sides = np.sort(mesh.faces[:, [(1, 2), (2, 0), (0, 1)]], axis=2).reshape(-1, 2)
    keys, inverse = np.unique(sides[:, 1] * len(mesh.vertices) + sides[:, 0], return_inverse=True)
    assert np.array_equal(mesh.edges[:, 1] * len(mesh.vertices) + mesh.edges[:, 0], keys)
    assert np.array_equal(mesh.face_edges.reshape(-1), inverse)
    assert np.array_equal(np.diff(mesh.edge_faces.offsets), np.full(len(keys), 2))
    assert np.array_equal(np.diff(mesh.vertex_faces.offsets), np.bincount(mesh.faces.reshape(-1)))
    assert mesh.is_manifold
    assert mesh.component_count == 1


def test_truth_table_is_symmetric_under_turning_every_face_over():
    for faces, closed, oriented, manifold, *_ in KINDS.values():
        turned = mesh_of([face[::-1] for face in faces])
        assert (turned.is_closed, turned.is_oriented, turned.is_manifold) == (closed, oriented, manifold)


def test_every_pair_of_faces_on_four_vertices_is_as_oracle():
    triples = list(itertools.product(range(3), repeat=3))
    for first, second in itertools.product(triples[::2], triples[1::3]):
        assert_is_as_oracle(mesh_of([first, second, (0, 1, 3)]))


def test_a_gltf_file_cut_short_is_refused_and_not_replaced_by_the_model_beside_it(tmp_path):
    for name, data in trimesh.Scene(trimesh.creation.box()).export(file_type="gltf").items():
        (tmp_path / name).write_bytes(data)
    text = (tmp_path / "model.gltf").read_bytes()
    (tmp_path / "whole.gltf").write_bytes(text)
    assert len(load(tmp_path / "whole.gltf").faces) == 12
    for part in (b"", b"[]", b"7", *(text[:size] for size in (1, 10, len(text) // 2, len(text) - 1))):
        (tmp_path / "cut.gltf").write_bytes(part)
        with pytest.raises(InvalidInput, match=r"cut\.gltf"):
            load(tmp_path / "cut.gltf")
    for data in tmp_path.glob("*.bin"):  # nor is a buffer that is too short
        data.write_bytes(data.read_bytes()[:-8])
    with pytest.raises(InvalidInput, match=r"whole\.gltf"):
        load(tmp_path / "whole.gltf")
