"""glTF: what nodes, keys, morph targets and skins make of a triangle, by hand; damage of every kind is named."""

import json
import pickle

import numpy as np
import pytest
import trimesh

from abut import InvalidInput, Unsupported, scenes
from abut.app.check.frames import Frames
from abut.app.check.sources.opening import Sampling
from app.check.sources.gltf_files import Gltf, moving

TRIANGLE = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], float)


def frames_of(path, fps=4.0, clip=None):
    return Frames([path], sampling=Sampling(fps, clip))


@pytest.mark.parametrize("name", ["walk.glb", "walk.gltf", "inside.gltf"])
def test_a_node_that_moves_is_sampled(tmp_path, name):
    gltf = moving("translation", [0, 1], [[0, 0, 0], [0, 0, 2]])
    frames = frames_of(gltf.save(tmp_path / name, inside=name.startswith("inside")))
    assert frames.names == [f"{name}[{i}]" for i in range(5)]
    for i in range(5):
        assert frames.vertices(i) == pytest.approx(TRIANGLE + np.array([0, 0, 0.5 * i]))
    digests = [frames.digest(i) for i in range(5)]
    assert len(set(digests)) == 5
    again = pickle.loads(pickle.dumps(frames))
    assert [again.digest(i) for i in range(5)] == digests
    assert (again.vertices(3) == frames.vertices(3)).all()


def test_the_last_key_is_a_frame_even_between_two_samples(tmp_path):
    gltf = moving("translation", [0.5, 1.1], [[0, 0, 0], [0, 0, 6]])
    frames = frames_of(gltf.save(tmp_path / "a.glb"))
    heights = [frames.vertices(i)[0, 2] for i in range(len(frames))]
    assert heights == pytest.approx([0.0, 2.5, 5.0, 6.0])


def test_steps_hold_and_splines_bend(tmp_path):
    step = frames_of(moving("scale", [0, 1], [[1, 1, 1], [3, 3, 3]], interpolation="STEP").save(tmp_path / "s.glb"))
    assert [step.vertices(i)[1, 0] for i in range(5)] == [1.0, 1.0, 1.0, 1.0, 3.0]
    keys = [[0, 0, 0], [0, 0, 0], [0, 0, 4], [0, 0, -4], [0, 0, 1], [0, 0, 0]]  # tangent in, value, tangent out
    cubic = frames_of(moving("translation", [0, 1], keys, interpolation="CUBICSPLINE").save(tmp_path / "c.glb"))
    s = np.arange(5) / 4
    expected = (s**3 - 2 * s**2 + s) * 4 + (3 * s**2 - 2 * s**3) * 1 + (s**3 - s**2) * -4
    assert [cubic.vertices(i)[0, 2] for i in range(5)] == pytest.approx(expected.tolist(), abs=1e-6)


def test_turns_go_the_short_way_at_even_speed(tmp_path):
    half = np.sqrt(0.5)
    for end in ([0, 0, half, half], [0, 0, -half, -half]):  # one rotation, two quaternions: a quarter turn around z
        frames = frames_of(moving("rotation", [0, 1], [[0, 0, 0, 1], end]).save(tmp_path / "r.glb"))
        for i in range(5):
            angle = np.pi / 8 * i
            assert frames.vertices(i)[1] == pytest.approx([np.cos(angle), np.sin(angle), 0.0], abs=1e-6)


def test_rotations_as_short_integers(tmp_path):
    gltf = moving("rotation", [0, 1], [[0, 0, 0, 32767], [0, 0, 32767, 0]], kind="<i2", normalized=True)
    frames = frames_of(gltf.save(tmp_path / "r.glb"))
    assert frames.vertices(4)[1] == pytest.approx([-1, 0, 0], abs=1e-6)


def test_parents_carry_children(tmp_path):
    gltf = moving("translation", [0, 1], [[0, 0, 0], [0, 0, 2]])
    half = np.sqrt(0.5)
    gltf.document["nodes"] = [
        {"children": [1], "rotation": [half, 0, 0, half], "scale": [2, 2, 2]},  # a quarter turn around x: z to −y
        {"matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 5, 0, 0, 1], "children": [2]},
        {"mesh": 0},
    ]
    gltf.document["animations"][0]["channels"][0]["target"]["node"] = 2
    frames = frames_of(gltf.save(tmp_path / "a.glb"))
    assert frames.vertices(4)[0] == pytest.approx([10, -4, 0], abs=1e-6)
    assert frames.vertices(4)[2] == pytest.approx([10, -4, 2], abs=1e-6)


def test_morph_targets_by_weight(tmp_path):
    gltf = moving("weights", [0, 1], [0.0, 1.0, 1.0, 0.5])
    lift, shift = (gltf.add([[0, 0, z], [0, 0, z], [x, 0, 0]]) for x, z in ((0, 1), (3, 0)))
    gltf.document["meshes"][0]["primitives"][0]["targets"] = [{"POSITION": lift}, {"POSITION": shift}]
    gltf.document["meshes"][0]["weights"] = [9, 9]
    frames = frames_of(gltf.save(tmp_path / "m.glb"))
    for i in range(5):
        s = i / 4
        expected = TRIANGLE + np.array([[0, 0, s], [0, 0, s], [3 * (1 - 0.5 * s), 0, 0]])
        assert frames.vertices(i) == pytest.approx(expected, abs=1e-6)


def test_a_skin_moves_with_its_joints_and_not_with_its_node(tmp_path):
    gltf = moving("translation", [0, 1], [[0, 0, 0], [0, 0, 4]])
    half = [[0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    shares = [[1, 0, 0, 0], [0.25, 0.75, 0, 0], [1, 0, 0, 0]]
    bind = np.broadcast_to(np.eye(4), (2, 4, 4)).copy()
    bind[1, :3, 3] = [-1, 0, 0]
    gltf.document["meshes"][0]["primitives"][0]["attributes"] |= {
        "JOINTS_0": gltf.add(half, "<u1"),
        "WEIGHTS_0": gltf.add(shares),
    }
    gltf.document["skins"] = [{"joints": [1, 2], "inverseBindMatrices": gltf.add(bind)}]
    gltf.document["scenes"] = [{"nodes": [0, 1]}]
    gltf.document["nodes"] = [
        {"mesh": 0, "skin": 0, "translation": [100, 0, 0]},
        {"children": [2]},
        {"translation": [1, 0, 0]},
    ]
    channel = gltf.document["animations"][0]["channels"][0]
    channel["target"]["node"] = 1
    frames = frames_of(gltf.save(tmp_path / "k.glb"))
    assert frames.vertices(4) == pytest.approx(
        TRIANGLE + np.array([0, 0, 4]), abs=1e-6
    )  # both joints move: all of it does
    channel["target"]["node"] = 2  # the second joint alone: from x = 1 to (0, 0, 4)
    frames = frames_of(gltf.save(tmp_path / "k.glb"))
    assert frames.vertices(4) == pytest.approx(np.array([[0, 0, 0], [0.25, 0, 3], [0, 1, 0]]), abs=1e-6)


def test_objects_keep_their_names_and_strips_and_fans_their_triangles(tmp_path):
    gltf = Gltf()
    square = gltf.add([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
    ring = gltf.add([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    gltf.document |= {
        "scenes": [{"nodes": [0, 1, 2]}],
        "nodes": [{"mesh": 0, "name": "strip"}, {"mesh": 1, "name": "fan"}, {"mesh": 1, "name": "fan"}, {"mesh": 0}],
        "meshes": [
            {
                "primitives": [
                    {"attributes": {"POSITION": square}, "mode": 5},
                    {"attributes": {"POSITION": ring}, "mode": 1},
                ]
            },
            {"primitives": [{"attributes": {"POSITION": ring}, "mode": 6}]},
        ],
    }
    frames = frames_of(gltf.save(tmp_path / "o.gltf"))
    assert frames.names == ["o.gltf"]
    assert frames.objects.names == ("strip", "fan", "fan.2")
    assert frames.objects.face.tolist() == [0, 0, 1, 1, 2, 2]
    assert frames.objects.vertex.tolist() == [0] * 4 + [1] * 4 + [2] * 4
    corners = frames.mesh.vertices[frames.mesh.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert normals.tolist() == [[0, 0, 1]] * 6


def test_what_trimesh_writes(tmp_path):
    ball = scenes.icosphere(1)
    scene = trimesh.Scene()
    for name, x in (("left", 0.0), ("right", 5.0)):
        scene.add_geometry(
            trimesh.Trimesh(ball.vertices + np.array([x, 0, 0]), ball.faces, process=False),
            node_name=name,
            geom_name=name,
        )
    (tmp_path / "two.glb").write_bytes(scene.export(file_type="glb"))
    frames = frames_of(tmp_path / "two.glb")
    assert set(frames.objects.names) == {"left", "right"}
    right = frames.mesh.vertices[frames.objects.vertex == frames.objects.names.index("right")]
    assert right.mean(axis=0) == pytest.approx([5, 0, 0], abs=1e-6)
    assert len(frames.faces) == 2 * len(ball.faces)


def test_sparse_rows_and_strides(tmp_path):
    gltf = moving("translation", [0, 1], [[0, 0, 0], [0, 0, 1]])
    rows, values = gltf.add([1], "<u2"), gltf.add([[7, 0, 0]])
    views = [gltf.document["accessors"][k]["bufferView"] for k in (rows, values)]
    gltf.document["accessors"][0]["sparse"] = {
        "count": 1,
        "indices": {"bufferView": views[0], "componentType": 5123},
        "values": {"bufferView": views[1]},
    }
    assert frames_of(gltf.save(tmp_path / "a.glb")).vertices(0)[1] == pytest.approx([7, 0, 0])
    padded = gltf.add([[0, 0, 0, 9], [1, 0, 0, 9], [0, 1, 0, 9]])
    view = gltf.document["accessors"][padded]["bufferView"]
    gltf.document["bufferViews"][view]["byteStride"] = 16
    gltf.document["accessors"][0] = {"bufferView": view, "componentType": 5126, "count": 3, "type": "VEC3"}
    assert frames_of(gltf.save(tmp_path / "b.glb")).vertices(0) == pytest.approx(TRIANGLE)


def test_several_animations_are_chosen_by_name_or_number(tmp_path):
    gltf = moving("translation", [0, 1], [[0, 0, 0], [0, 0, 2]])
    gltf.document["animations"] = [{"name": "rest", "channels": [], "samplers": []}, gltf.document["animations"][0]]
    path = gltf.save(tmp_path / "a.glb")
    with pytest.raises(InvalidInput, match=r"holds 2 animations \(rest, 1\): choose one"):
        _ = frames_of(path).mesh
    assert (len(frames_of(path, clip="1")), len(frames_of(path, clip="rest"))) == (5, 1)
    with pytest.raises(InvalidInput, match="has no animation 'run'"):
        _ = frames_of(path, clip="run").mesh


def damaged(change):
    gltf = moving("translation", [0, 1], [[0, 0, 0], [0, 0, 2]])
    change(gltf.document)
    return gltf


DAMAGE = {
    "an index that is none": lambda d: d["meshes"][0]["primitives"][0].update(indices=99),
    "a negative index": lambda d: d["meshes"][0]["primitives"][0].update(indices=-1),
    "a view behind its buffer": lambda d: d["bufferViews"][0].update(byteOffset=1 << 20),
    "a count beyond its view": lambda d: d["accessors"][0].update(count=1 << 40),
    "a node under itself": lambda d: d["nodes"][0].update(children=[0]),
    "no list of nodes": lambda d: d.update(nodes=7),
    "times that go back": lambda d: d["animations"][0]["samplers"][0].update(input=1),
    "an interpolation that is none": lambda d: d["animations"][0]["samplers"][0].update(interpolation="ODD"),
    "no faces": lambda d: d["meshes"][0]["primitives"][0].update(mode=0),
    "a quaternion of text": lambda d: d["nodes"][0].update(rotation="x"),
    "compressed": lambda d: d.update(extensionsRequired=["KHR_draco_mesh_compression"]),
}


@pytest.mark.parametrize("change", DAMAGE.values(), ids=DAMAGE.keys())
def test_damage_is_named(tmp_path, change):
    path = damaged(change).save(tmp_path / "bad.glb")
    with pytest.raises((InvalidInput, Unsupported), match=r"bad\.glb"):
        frames_of(path).vertices(0)
    assert len(frames_of(path).digest(0)) == 64


@pytest.mark.parametrize("content", [b"", b"glTF", b"{", b"[]", b"glTF" + b"\x02\0\0\0" + b"\xff" * 40])
@pytest.mark.parametrize("suffix", [".glb", ".gltf"])
def test_what_is_no_gltf(tmp_path, content, suffix):
    (tmp_path / f"bad{suffix}").write_bytes(content)
    with pytest.raises(InvalidInput, match="cannot be read"):
        _ = frames_of(tmp_path / f"bad{suffix}").mesh


def test_a_buffer_that_is_missing_or_elsewhere(tmp_path):
    path = moving("translation", [0, 1], [[0, 0, 0], [0, 0, 2]]).save(tmp_path / "a.gltf")
    (tmp_path / "a buffer.bin").unlink()
    with pytest.raises(InvalidInput, match=r"needs a buffer\.bin, which does not exist"):
        _ = frames_of(path).mesh
    document = json.loads(path.read_text())
    document["buffers"][0]["uri"] = "https://example.org/a.bin"
    path.write_text(json.dumps(document))
    with pytest.raises(InvalidInput, match="which is no file beside it"):
        _ = frames_of(path).mesh
