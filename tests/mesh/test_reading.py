"""Meshes from files and from other libraries' objects."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import trimesh

from abut import scenes
from abut.core.errors import InvalidInput, Unsupported
from abut.mesh import as_mesh, load

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
