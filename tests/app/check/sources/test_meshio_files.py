"""Files that meshio writes: surfaces as they are, the outsides of volumes, series over time."""

import numpy as np
import pytest

from abut import InvalidInput, Mesh, Unsupported
from abut.app.check.frames import Frames

meshio = pytest.importorskip("meshio", reason="needs meshio")

CUBE = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], float)[[0, 1, 3, 2, 4, 5, 7, 6]]
VOLUMES = {
    "tetra": (CUBE[[0, 1, 2, 5]], [[0, 1, 2, 3]], 1 / 6),
    "hexahedron": (CUBE, [[0, 1, 2, 3, 4, 5, 6, 7]], 1.0),
    "wedge": (CUBE[[0, 1, 3, 4, 5, 7]], [[0, 1, 2, 3, 4, 5]], 0.5),
    "pyramid": (CUBE[[0, 1, 2, 3, 4]], [[0, 1, 2, 3, 4]], 1 / 3),
}


def write_xdmf(path, points, kind, corners):
    """One cell, numbers in the text; meshio's own writer needs HDF5 for any file."""
    numbers = " ".join(map(str, points.reshape(-1).tolist()))
    count, width = points.shape
    geometry = (
        f'<DataItem DataType="Float" Dimensions="{count} {width}" Format="XML" Precision="8">{numbers}</DataItem>'
    )
    rows = f'<DataItem DataType="Int" Dimensions="1 {count}" Format="XML" Precision="8">{" ".join(map(str, corners))}</DataItem>'
    grid = f'<Geometry GeometryType="{"XYZ"[:width]}">{geometry}</Geometry>'
    grid += f'<Topology TopologyType="{kind}" NumberOfElements="1">{rows}</Topology>'
    path.write_text(f'<Xdmf Version="3.0"><Domain><Grid Name="Grid">{grid}</Grid></Domain></Xdmf>')


def volume_of(mesh):
    return np.linalg.det(mesh.vertices[mesh.faces]).sum() / 6


@pytest.mark.parametrize("suffix", [".vtu", ".vtk"])
@pytest.mark.parametrize("kind", VOLUMES)
def test_the_outside_of_a_cell(tmp_path, suffix, kind):
    points, cells, volume = VOLUMES[kind]
    meshio.write_points_cells(tmp_path / f"a{suffix}", points, [(kind, np.array(cells))])
    mesh = Frames([tmp_path / f"a{suffix}"]).mesh
    assert mesh.is_closed
    assert mesh.is_oriented
    assert volume_of(mesh) == pytest.approx(volume)


def test_what_lies_between_two_cells_is_inside(tmp_path):
    points = np.concatenate([CUBE, CUBE[4:] + np.array([0, 0, 1])])
    cells = [
        ("hexahedron", np.array([[0, 1, 2, 3, 4, 5, 6, 7], [4, 5, 6, 7, 8, 9, 10, 11]])),
        ("line", np.array([[0, 1]])),
    ]
    meshio.write_points_cells(tmp_path / "two.vtu", points, cells)
    mesh = Frames([tmp_path / "two.vtu"]).mesh
    assert len(mesh.faces) == 20
    assert volume_of(mesh) == pytest.approx(2.0)


def test_a_surface_keeps_its_order(tmp_path):
    cells = [("triangle", np.array([[2, 1, 0]])), ("quad", np.array([[0, 1, 2, 3]]))]
    meshio.write_points_cells(tmp_path / "a.vtk", CUBE[:4], cells)
    assert Frames([tmp_path / "a.vtk"]).faces.tolist() == [[2, 1, 0], [0, 1, 2], [0, 2, 3]]


def test_a_folder_and_a_collection_by_time(tmp_path):
    for i in range(3):
        meshio.write_points_cells(
            tmp_path / f"f{i}.vtu", CUBE[:4] + np.array([0, 0, i]), [("quad", np.array([[0, 1, 2, 3]]))]
        )
    assert [Frames([tmp_path]).vertices(i)[0, 2] for i in range(3)] == [0, 1, 2]
    entries = "".join(f'<DataSet timestep="{t}" file="f{i}.vtu"/>' for t, i in ((0.5, 2), (0.1, 0), (0.2, 1)))
    (tmp_path / "all.pvd").write_text(f'<VTKFile type="Collection"><Collection>{entries}</Collection></VTKFile>')
    frames = Frames([tmp_path / "all.pvd"])
    assert [frames.vertices(i)[0, 2] for i in range(len(frames))] == [0, 1, 2]
    assert len(frames.paths) == 4
    twice = entries + '<DataSet timestep="0.1" file="f2.vtu"/>'
    (tmp_path / "all.pvd").write_text(f"<VTKFile><Collection>{twice}</Collection></VTKFile>")
    with pytest.raises(InvalidInput, match="several files at one time"):
        _ = Frames([tmp_path / "all.pvd"]).mesh


def test_xdmf_over_time_moved_by_a_displacement(tmp_path):
    path = tmp_path / "run.xdmf"
    with meshio.xdmf.TimeSeriesWriter(path, data_format="XML") as writer:
        writer.write_points_cells(CUBE, [("hexahedron", np.arange(8).reshape(1, 8))])
        for t in range(3):
            moved = np.zeros((8, 3))
            moved[:, 2] = 2.0 * t
            writer.write_data(float(t), point_data={"Displacement": moved})
    frames = Frames([path])
    assert len(frames) == 3
    assert [frames.vertices(i)[0, 2] for i in range(3)] == [0, 2, 4]
    assert len(frames.faces) == 12
    write_xdmf(tmp_path / "one.xdmf", CUBE, "Hexahedron", range(8))
    assert Frames([tmp_path / "one.xdmf"]).names == ["one.xdmf"]
    assert volume_of(Frames([tmp_path / "one.xdmf"]).mesh) == pytest.approx(1.0)


def test_plane_meshes_lie_at_height_zero(tmp_path):
    write_xdmf(tmp_path / "a.xdmf", CUBE[:4, :2], "Quadrilateral", range(4))
    assert (Frames([tmp_path / "a.xdmf"]).mesh.vertices == CUBE[:4]).all()


def test_what_cannot_be_read_is_named_and_nothing_is_printed(tmp_path, capfd):
    (tmp_path / "bad.vtu").write_text("<VTKFile")
    (tmp_path / "bad.vtk").write_bytes(b"\0\1\2")
    (tmp_path / "bad.pvd").write_text("no xml")
    (tmp_path / "bad.xdmf").write_text("<Xdmf/>")
    meshio.write_points_cells(tmp_path / "curved.vtu", np.zeros((6, 3)), [("triangle6", np.arange(6).reshape(1, 6))])
    meshio.write_points_cells(tmp_path / "lines.vtu", CUBE, [("line", np.array([[0, 1]]))])
    for name in ("bad.vtu", "bad.vtk", "bad.pvd", "bad.xdmf"):
        with pytest.raises(InvalidInput, match=r"bad.*cannot be read"):
            _ = Frames([tmp_path / name]).mesh
    with pytest.raises((InvalidInput, Unsupported), match="'triangle6' are not read"):
        _ = Frames([tmp_path / "curved.vtu"]).mesh
    with pytest.raises(InvalidInput, match="holds no faces"):
        _ = Frames([tmp_path / "lines.vtu"]).mesh
    assert capfd.readouterr() == ("", "")


def test_colliding_volumes_at_the_known_frame(tmp_path):
    from abut.app.check import Store, check

    for i, z in enumerate((3.0, 1.5, 0.5)):
        both = np.concatenate([CUBE, CUBE + np.array([0.3, 0.2, z])])
        meshio.write_points_cells(tmp_path / f"f{i}.vtu", both, [("hexahedron", np.arange(16).reshape(2, 8))])
    report = check(Frames([tmp_path]), store=Store(tmp_path / "work"))
    assert report.counts.sum(axis=1).tolist()[0] == 0
    assert report.counts[1, :2].sum() > 0
    assert report.counts[2, 2] > 0
    assert isinstance(Frames([tmp_path]).mesh, Mesh)
