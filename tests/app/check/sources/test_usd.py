"""USD stages that usd-core writes: points, transforms, visibility, skins, names; sampled at time codes."""

import pickle

import numpy as np
import pytest

from abut import InvalidInput
from abut.app.check.frames import Frames
from abut.app.check.sources.opening import Sampling

pxr = pytest.importorskip("pxr", reason="needs usd-core")
from pxr import Gf, Usd, UsdGeom, UsdSkel, Vt  # noqa: E402 (only where it is there)

SQUARE = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], float)


def add_square(stage, path, counts=(4,), corners=(0, 1, 2, 3)):
    mesh = UsdGeom.Mesh.Define(stage, path)
    mesh.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(SQUARE.astype("f4")))
    mesh.CreateFaceVertexCountsAttr(list(counts))
    mesh.CreateFaceVertexIndicesAttr(list(corners))
    return mesh


def animated(path):
    stage = Usd.Stage.CreateNew(str(path))
    stage.SetStartTimeCode(1)
    stage.SetEndTimeCode(4)
    sheet = add_square(stage, "/room/sheet")
    for code in (1, 4):
        sheet.GetPointsAttr().Set(Vt.Vec3fArray.FromNumpy((SQUARE + np.array([0, 0, code])).astype("f4")), code)
    lid = add_square(stage, "/room/lid")
    move = UsdGeom.Xformable(lid).AddTranslateOp()
    move.Set(Gf.Vec3d(0, 0, 0), 1)
    move.Set(Gf.Vec3d(0, 0, -3), 4)
    UsdGeom.Imageable(add_square(stage, "/room/hidden")).MakeInvisible()
    stage.GetRootLayer().Save()
    return path


@pytest.mark.parametrize("suffix", [".usda", ".usdc", ".usd"])
def test_points_and_transforms_between_their_samples(tmp_path, suffix):
    frames = Frames([animated(tmp_path / f"room{suffix}")])
    assert frames.names == [f"room{suffix}[{i}]" for i in range(4)]
    assert frames.objects.names == ("sheet", "lid")
    for i in range(4):
        assert frames.vertices(i)[:4] == pytest.approx(SQUARE + np.array([0, 0, 1 + i]))
        assert frames.vertices(i)[4:] == pytest.approx(SQUARE - [0, 0, i])
    assert frames.faces.tolist() == [[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]]
    again = pickle.loads(pickle.dumps(frames))
    assert [again.digest(i) for i in range(4)] == [frames.digest(i) for i in range(4)]


def test_frames_a_second(tmp_path):
    frames = Frames([animated(tmp_path / "room.usda")], sampling=Sampling(fps=48.0))  # 24 codes a second: every half
    assert len(frames) == 7
    assert frames.vertices(1)[0, 2] == pytest.approx(1.5)


def test_a_package(tmp_path):
    from pxr import UsdUtils

    animated(tmp_path / "room.usdc")
    UsdUtils.CreateNewUsdzPackage(str(tmp_path / "room.usdc"), str(tmp_path / "room.usdz"))
    assert len(Frames([tmp_path / "room.usdz"])) == 4


def test_a_stage_that_stands_still_is_a_frame(tmp_path):
    stage = Usd.Stage.CreateNew(str(tmp_path / "still.usda"))
    mesh = add_square(stage, "/one", (3, 4), (0, 1, 2, 0, 1, 2, 3))
    mesh.CreateOrientationAttr("leftHanded")
    stage.GetRootLayer().Save()
    frames = Frames([tmp_path / "still.usda"])
    assert (frames.names, frames.objects) == (["still.usda"], None)
    assert frames.faces.tolist() == [[2, 1, 0], [2, 1, 0], [3, 2, 0]]


def test_times_that_the_stage_does_not_say_are_those_of_the_samples(tmp_path):
    stage = Usd.Stage.CreateNew(str(tmp_path / "a.usda"))
    move = UsdGeom.Xform.Define(stage, "/box").AddTranslateOp()
    add_square(stage, "/box/one")
    for code in (10, 13):
        move.Set(Gf.Vec3d(code, 0, 0), code)
    stage.GetRootLayer().Save()
    frames = Frames([tmp_path / "a.usda"])
    assert [frames.vertices(i)[0, 0] for i in range(len(frames))] == pytest.approx([10, 11, 12, 13])


def test_a_skinned_mesh_is_moved_by_its_skeleton(tmp_path):
    stage = Usd.Stage.CreateNew(str(tmp_path / "skin.usda"))
    stage.SetStartTimeCode(0)
    stage.SetEndTimeCode(2)
    UsdSkel.Root.Define(stage, "/root")
    skeleton = UsdSkel.Skeleton.Define(stage, "/root/bones")
    skeleton.CreateJointsAttr(["hip"])
    for attribute in (skeleton.CreateBindTransformsAttr, skeleton.CreateRestTransformsAttr):
        attribute([Gf.Matrix4d(1)])
    motion = UsdSkel.Animation.Define(stage, "/root/motion")
    motion.CreateJointsAttr(["hip"])
    motion.CreateRotationsAttr([Gf.Quatf(1)])
    motion.CreateScalesAttr([Gf.Vec3h(1)])
    places = motion.CreateTranslationsAttr()
    for code in (0, 2):
        places.Set([Gf.Vec3f(0, 0, code)], code)
    UsdSkel.BindingAPI.Apply(skeleton.GetPrim()).CreateAnimationSourceRel().SetTargets(["/root/motion"])
    mesh = add_square(stage, "/root/skin")
    binding = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    binding.CreateSkeletonRel().SetTargets(["/root/bones"])
    binding.CreateJointIndicesPrimvar(False, 1).Set([0, 0, 0, 0])
    binding.CreateJointWeightsPrimvar(False, 1).Set([1.0, 1.0, 1.0, 1.0])
    stage.GetRootLayer().Save()
    frames = Frames([tmp_path / "skin.usda"])
    assert [frames.vertices(i)[0, 2] for i in range(3)] == pytest.approx([0, 1, 2], abs=1e-5)


def test_what_cannot_be_read_is_named(tmp_path):
    (tmp_path / "bad.usda").write_text("#usda 1.0\ndef Mesh {")
    (tmp_path / "bad.usdc").write_bytes(b"PXR-USDC" + b"\0" * 10)
    empty = Usd.Stage.CreateNew(str(tmp_path / "empty.usda"))
    empty.GetRootLayer().Save()
    stage = Usd.Stage.CreateNew(str(tmp_path / "faces.usda"))
    add_square(stage, "/one", (4,), (0, 1, 2, 9))
    stage.GetRootLayer().Save()
    for name, reason in (
        ("bad.usda", "cannot be read"),
        ("bad.usdc", "cannot be read"),
        ("empty.usda", "holds no faces"),
        ("faces.usda", "faces do not fit its points"),
    ):
        with pytest.raises(InvalidInput, match=reason):
            _ = Frames([tmp_path / name]).mesh
