"""Environments from files: five formats, written by meshio, regions by name and number, what generators leave behind, and files that are no good.

The road: volumes and borders are counted on the environment that comes out, and compared with those of the mesh that was written.
"""

import itertools
import types

import numpy as np
import pytest

from abut import InvalidInput, Unsupported, cells
from cells import worlds
from cells.test_campaign import volume

meshio = pytest.importorskip("meshio")

CORNERS = np.array(worlds.CORNERS, float)
KINDS = {
    ".msh": {"file_format": "gmsh", "binary": False},
    ".vtk": {"file_format": "vtk"},
    ".vtu": {"file_format": "vtu"},
    ".mesh": {"file_format": "medit"},
    ".inp": {"file_format": "abaqus"},
}
TABLE = {".msh": "gmsh:physical", ".vtk": "region", ".vtu": "region", ".mesh": "medit:ref", ".inp": None}


def kuhn(n):
    """A block of n³ cubes, six tetrahedra each, corners in any order; and the cube of each tetrahedron."""
    vertices, hexes = worlds.grid(n)
    rows, cube = [], []
    for number, row in enumerate(hexes):
        for order in itertools.permutations(range(3)):
            corner, path = np.zeros(3, int), [0]
            for axis in order:
                corner[axis] = 1
                path.append(worlds.CORNERS.index(tuple(corner.tolist())))
            rows.append(row[path])
            cube.append(number)
    return vertices, np.array(rows), np.array(cube)


def zoo():
    """A pyramid on a cube beside a wedge, tetrahedra on their slopes: all shapes, fitting."""
    points = [*CORNERS.tolist(), [0.5, 0.5, 2], [2, 0, 0], [2, 1, 0], [2.0, 0, 2]]
    blocks = [
        ("tetra", [[8, 5, 6, 11]]),
        ("hexahedron", [list(range(8))]),
        ("pyramid", [[4, 5, 6, 7, 8]]),
        ("wedge", [[1, 5, 9, 2, 6, 10]]),
    ]
    return np.array(points), [(kind, np.array(rows)) for kind, rows in blocks]


def write(path, points, blocks, tags=None, names=None, sets=None):
    suffix, data, fields = path.suffix, {}, {}
    if tags is not None and suffix == ".inp":
        sets = {
            f"R{tag}": [np.flatnonzero(np.asarray(of) == tag) for of in tags] for tag in np.unique(np.concatenate(tags))
        }
    elif tags is not None:
        data[TABLE[suffix]] = [np.asarray(of) for of in tags]
        if suffix == ".msh":
            data["gmsh:geometrical"] = data[TABLE[suffix]]
            fields = {name: np.array([tag, 3]) for tag, name in (names or {}).items()}
    mesh = meshio.Mesh(points, blocks, cell_data=data, cell_sets=sets, field_data=fields)
    options = dict(KINDS[suffix])
    if suffix == ".msh":
        options["file_format"] = "gmsh22"
    meshio.write(path, mesh, **options)
    return path


@pytest.mark.parametrize("suffix", KINDS)
def test_every_format_gives_the_same_cells(suffix, tmp_path, capsys):
    vertices, rows, cube = kuhn(2)
    path = write(tmp_path / f"block{suffix}", vertices, [("tetra", rows)], [cube // 4 + 5])
    env = cells.load(path, regions={"R6" if suffix == ".inp" else 6: "obstacle"})
    assert env.cell_count == len(rows)
    assert volume(env) == 6 * 8
    assert env.obstacle.tolist() == (cube >= 4).tolist()
    assert env.region_names == (("R6", "R5") if suffix == ".inp" else ("5", "6"))
    assert env.cells_in(env.region_names[0 if suffix == ".inp" else 1]).tolist() == np.flatnonzero(cube >= 4).tolist()
    assert env.check_integrity() == []
    assert (env.vertices == vertices).all()
    border = {frozenset(ring) for cell in range(env.cell_count) for ring in env.faces_of(cell)}
    assert border == {frozenset(face) for row in rows.tolist() for face in itertools.combinations(row, 3)}
    moves = cells.Particles(env, [[0.3, 0.4, 0.2]]).move([[1.7, 0.4, 0.2]])
    assert moves.position[0].tolist() == pytest.approx([1.0, 0.4, 0.2])
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("suffix", KINDS)
def test_every_shape_is_taken_whole(suffix, tmp_path):
    points, blocks = zoo()
    if suffix in (".mesh", ".inp"):  # know no pyramids
        blocks = [block for block in blocks if block[0] not in ("pyramid", "tetra")]
    env = cells.load(write(tmp_path / f"zoo{suffix}", points, blocks))
    assert env.cell_count == len(blocks)
    assert volume(env) == (6 + 3 if len(blocks) == 2 else 6 + 2 + 3) + (
        abs(tetrahedron(points, blocks[0][1][0])) if len(blocks) == 4 else 0
    )
    crowd = cells.Particles(env, [[0.5, 0.5, 0.5]])
    assert crowd.move([[1.2, 0.5, 0.3]]).status.tolist() == [cells.FREE]  # into the wedge
    assert env.region.tolist() in ([-1] * len(blocks), [0] * len(blocks))


def tetrahedron(points, row):
    return round(np.linalg.det(points[row[1:]] - points[row[0]]), 12)


def test_gmsh_groups_have_names(tmp_path):
    vertices, rows, cube = kuhn(2)
    tags = np.where(cube == 0, 1, np.where(cube == 7, 3, 2))
    names = {1: "lumen", 2: "wall"}
    triangle = ("triangle", rows[:2, :3])
    for binary in (False, True):
        path = tmp_path / f"organ{binary}.msh"
        data = [np.array([9, 9]), tags]
        fields = {name: np.array([tag, 3]) for tag, name in names.items()} | {"skin": np.array([9, 2])}
        mesh = meshio.Mesh(
            vertices,
            [triangle, ("tetra", rows)],
            cell_data={"gmsh:physical": data, "gmsh:geometrical": data},
            field_data=fields,
        )
        meshio.write(path, mesh, file_format="gmsh22", binary=binary)
        env = cells.load(path, regions={"wall": "obstacle", 3: "left out"})
        assert env.region_names == ("lumen", "wall", "3")
        assert env.cell_count == 42
        assert env.cells_in("lumen").tolist() == list(range(6))
        assert env.obstacle.tolist() == [False] * 6 + [True] * 36
        assert len(env.cells_in("3")) == 0
        assert cells.load(path, regions={1: "obstacle"}).obstacle.tolist() == [True] * 6 + [False] * 42


def test_regions_go_with_the_halves_of_cells():
    mesh = types.SimpleNamespace(
        points=worlds.grid(2)[0],
        cells=[("hexahedron", worlds.grid(2)[1])],
        cell_data={"material": [[1, 1, 1, 1, 2, 2, 2, 2]]},
    )
    env = cells.load(mesh)
    pairs = env.cut(plane=([0.5, 1.5, 0.5], [0.0, 1.0, 0.1]))
    assert (env.region[pairs[:, 0]] == env.region[pairs[:, 1]]).all()
    assert sorted(env.cells_in("2").tolist()) == sorted([4, 5, 6, 7, *pairs[pairs[:, 0] >= 4, 1].tolist()])
    added = env.surround(2.0)
    assert (env.region[added] == -1).all()
    env.merge(*pairs[0])
    assert pairs[0, 1] not in env.cells_in("1")
    with pytest.raises(InvalidInput, match="region: is 'bone', expected one of '1', '2'"):
        env.cells_in("bone")


def test_sets_that_overlap_are_decided_by_name():
    rows = worlds.grid(2)[1]
    sets = {"all": [np.arange(8)], "left": [np.arange(4)], "low": [np.array([0, 2, 4, 6])]}
    mesh = meshio.Mesh(worlds.grid(2)[0], [("hexahedron", rows)], cell_sets=sets)
    with pytest.raises(
        InvalidInput, match="cell_sets: cell 0 is in 'left' and in 'low': name one of them in `regions`"
    ):
        cells.load(mesh)
    env = cells.load(mesh, regions={"low": "obstacle"})
    assert env.cells_in("low").tolist() == [0, 2, 4, 6]
    assert env.cells_in("left").tolist() == [1, 3]
    assert env.obstacle.tolist() == [True, False] * 4
    with pytest.raises(InvalidInput, match="cell 0 is in 'left' and in 'low'"):
        cells.load(mesh, regions={"low": "free", "left": "free"})


def test_delaunay_hands_out_both_orientations():
    from scipy.spatial import Delaunay

    points = np.random.default_rng(3).uniform(size=(60, 3))
    rows = Delaunay(points).simplices
    signs = np.linalg.det(points[rows[:, 1:]] - points[rows[:, :1]])
    assert signs.min() < 0 < signs.max()
    for env in (
        cells.tetrahedra(points, rows),
        cells.mixed(points, tetrahedra=rows),
        cells.load(meshio.Mesh(points, [("tetra", rows)])),
    ):
        assert float(volume(env)) == pytest.approx(np.abs(signs).sum())
        assert cells.Particles(env, points.mean(axis=0, keepdims=True)).cell[0] >= 0


def test_mirror_images_are_turned():
    points, blocks = zoo()
    mirrored = [
        ("tetra", [[8, 6, 5, 11]]),
        ("hexahedron", [[4, 5, 6, 7, 0, 1, 2, 3]]),
        ("pyramid", [[4, 7, 6, 5, 8]]),
        ("wedge", [[2, 6, 10, 1, 5, 9]]),
    ]
    one, other = (
        cells.load(meshio.Mesh(points, [(kind, np.array(rows)) for kind, rows in given]))
        for given in (blocks, mirrored)
    )
    assert volume(one) == volume(other)
    for cell in range(4):
        assert {frozenset(ring) for ring in one.faces_of(cell)} == {frozenset(ring) for ring in other.faces_of(cell)}
    bulging = CORNERS.copy()
    bulging[6] = (1.2, 1.1, 1.3)
    turned = cells.load(meshio.Mesh(bulging, [("hexahedron", np.array([[4, 5, 6, 7, 0, 1, 2, 3]]))]))
    assert volume(turned) == volume(cells.hexahedra(bulging, [range(8)]))
    with pytest.raises(
        InvalidInput, match=r"cells\[1\] \(hexahedron\)\[0\]: "
    ):  # two corners exchanged: neither this way nor that
        cells.load(
            meshio.Mesh(
                CORNERS + [[3, 0, 0]] * 8,
                [("hexahedron", np.empty((0, 8), int)), ("hexahedron", np.array([[1, 0, 2, 3, 4, 5, 6, 7]]))],
            )
        )


def test_flat_cells_are_dropped_where_no_wall_comes_of_it():
    square = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 1], [0.5, 0.5, -1]])
    flat, above = [0, 1, 2, 3], [[0, 1, 2, 4], [0, 2, 3, 4]]
    below = [[0, 1, 3, 5], [1, 2, 3, 5]]  # the other diagonal
    mesh = meshio.Mesh(square, [("tetra", np.array([flat, *above]))])
    with pytest.raises(InvalidInput, match=r'cells\[0\] \(tetra\)\[0\]: is flat \(`flat="drop"`'):
        cells.load(mesh)
    env = cells.load(mesh, flat="drop")
    assert (env.cell_count, volume(env)) == (2, 2)
    both = meshio.Mesh(square, [("tetra", np.array([*above, flat, *below]))])
    with pytest.raises(InvalidInput, match=r"cells\[0\] \(tetra\)\[2\]: is flat, and there are cells on both sides"):
        cells.load(both, flat="drop")
    two = [[0, 1, 2, 6], [0, 2, 3, 6]]  # a layer of two flat cells about a point in the square, then the other side
    points = np.concatenate((square, [[0.25, 0.5, 0.0]]))
    layer = meshio.Mesh(
        points, [("tetra", np.array([*above, *two, [0, 1, 6, 5], [1, 2, 6, 5], [2, 3, 6, 5], [3, 0, 6, 5]]))]
    )
    with pytest.raises(InvalidInput, match="both sides of it"):
        cells.load(layer, flat="drop")


def test_vertices_nearly_in_one_place_are_welded():
    vertices, rows, _ = kuhn(2)
    places = vertices[rows].reshape(-1, 3) + np.random.default_rng(0).uniform(-1e-9, 1e-9, (4 * len(rows), 3))
    loose = meshio.Mesh(places, [("tetra", np.arange(4 * len(rows)).reshape(-1, 4))])
    env = cells.load(loose, weld=1e-8)
    assert len(env.vertices) == len(places)
    assert float(volume(env)) == pytest.approx(48)
    crowd = cells.Particles(env, [[0.3, 0.4, 0.2]])
    assert crowd.move([[1.7, 1.6, 1.9]]).status.tolist() == [cells.FREE]
    exact = meshio.Mesh(vertices[rows].reshape(-1, 3), loose.cells)
    assert cells.Particles(cells.load(exact), [[0.3, 0.4, 0.2]]).move([[1.7, 1.6, 1.9]]).status.tolist() == [
        cells.COLLISION
    ]
    assert cells.Particles(cells.load(exact, weld=0), [[0.3, 0.4, 0.2]]).move([[1.7, 1.6, 1.9]]).status.tolist() == [
        cells.FREE
    ]
    chain = meshio.Mesh(
        np.column_stack([np.arange(4) * 0.9, [0, 0, 0, 1.0], [0, 0, 1.0, 0]]), [("tetra", [[0, 1, 2, 3]])]
    )
    with pytest.raises(InvalidInput, match=r"points\[\d\]: is one of a chain"):
        cells.load(meshio.Mesh([[0.0, 0, 0], [0.9, 0, 0], [1.8, 0, 0], [2.7, 0, 0]], chain.cells), weld=1.0)


def test_a_cell_folded_by_welding_is_left_out():
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1 + 1e-9], [-1.0, 0, 0]])
    mesh = meshio.Mesh(points, [("tetra", np.array([[0, 1, 2, 3], [0, 2, 3, 4], [0, 2, 4, 5]]))])
    with pytest.raises(InvalidInput, match=r"\(tetra\)\[1\]: is flat"):
        cells.load(mesh, weld=1e-6)
    env = cells.load(mesh, weld=1e-6, flat="drop")
    assert env.cell_count == 2
    assert cells.Particles(env, [[0.2, 0.2, 0.2]]).move([[-0.2, 0.2, 0.2]]).status.tolist() == [cells.FREE]


def test_meshes_of_the_plane(tmp_path):
    points = np.array([[0.0, 0, 3], [1, 0, 3], [1, 1, 3], [0, 1, 3], [2, 0.5, 3], [9, 9, 3]])
    blocks = [("line", np.array([[0, 1]])), ("triangle", np.array([[1, 2, 4]])), ("quad", np.array([[0, 1, 2, 3]]))]
    for suffix in (".msh", ".vtk", ".vtu"):
        env = cells.load(write(tmp_path / f"plan{suffix}", points, blocks, [[4], [1], [2]]), regions={1: "obstacle"})
        assert env.dimension == 2
        assert volume(env) == 3
        assert env.obstacle.tolist() == [True, False]
        assert len(env.vertices) == 6
    env = cells.load(meshio.Mesh(points[:, :2], [("polygon", [[3, 2, 4, 1, 0]])]))
    assert (env.cell_count, volume(env)) == (1, 3)
    tilted = points + np.outer(points[:, 0], [0, 0, 1.0])
    with pytest.raises(InvalidInput, match="cells: fill no space, and do not lie in a plane z = constant"):
        cells.load(meshio.Mesh(tilted, blocks))


def test_polyhedra_and_kinds_along_the_axes():
    loops = [[list(face) for face in worlds.HEX_FACES]]
    wedge = ("wedge", np.array([[1, 5, 9, 2, 6, 10]]))
    env = cells.load(meshio.Mesh(zoo()[0], [("polyhedron8", loops), wedge]))
    assert volume(env) == 9
    voxel = types.SimpleNamespace(points=CORNERS, cells=[("voxel", [[0, 1, 3, 2, 4, 5, 7, 6]])])
    assert volume(cells.load(voxel)) == 6
    pixel = types.SimpleNamespace(points=CORNERS[:4, :2], cells={"pixel": [[0, 1, 3, 2]]})
    assert cells.load(pixel).dimension == 2


BAD = {
    "second order": (
        CORNERS.repeat(2, 0),
        [("tetra10", np.arange(10)[np.newaxis])],
        r"cells\[0\] are of kind 'tetra10', with nodes beside",
    ),
    "curved hexahedron": (np.zeros((20, 3)), [("hexahedron20", np.arange(20)[np.newaxis])], "kind 'hexahedron20'"),
    "unknown kind": (CORNERS, [("blob", [[0, 1]])], r"cells\[0\] are of kind 'blob', which is not known"),
    "lines only": (CORNERS, [("line", [[0, 1]])], "cells: fill neither space nor the plane: there is 1 of kind 'line'"),
    "nothing": (CORNERS, [], "cells: fill neither space nor the plane: there is nothing"),
    "empty block": (CORNERS, [("tetra", np.empty((0, 4), int))], "there is nothing"),
    "NaN": (CORNERS * [[1, 1, np.nan]], [("tetra", [[0, 1, 3, 4]])], r"points\[0\]: is NaN"),
    "index": (CORNERS, [("tetra", [[0, 1, 3, 8]])], r"cells\[0\] \(tetra\)\[0\]: index 8 is not below 8"),
    "twice": (
        CORNERS,
        [("hexahedron", [[0, 1, 2, 3, 4, 5, 6, 6]])],
        r"cells\[0\] \(hexahedron\)\[0\]: has a corner twice",
    ),
    "overlap": (
        CORNERS,
        [("tetra", [[0, 1, 3, 4], [0, 1, 3, 6]])],
        r"cells\[0\] \(tetra\)\[0\]: lies on the same side",
    ),
    "no rows": (CORNERS, [("tetra", None)], r"cells\[0\]: is no block"),
    "no kind": (CORNERS, [(3, [[0, 1, 2, 3]])], r"cells\[0\]: is no block of a kind"),
    "half a block": (CORNERS, [("tetra",)], r"cells\[0\]: is no block of a kind"),
}


@pytest.mark.parametrize("name", BAD)
def test_meshes_that_are_no_good(name):
    points, blocks, words = BAD[name]
    with pytest.raises((InvalidInput, Unsupported), match=words):
        cells.load(types.SimpleNamespace(points=points, cells=blocks))


def test_arguments_that_are_no_good():
    mesh = meshio.Mesh(CORNERS, [("tetra", [[0, 1, 3, 4]])], cell_data={"region": [[1]], "heat": [[0.5]]})
    for given, words in (
        ({"source": 3}, "source: is a int, expected a path or a mesh of meshio's"),
        ({"source": mesh, "regions": {"bone": "free"}}, "regions: there is no region 'bone'; there are '1'"),
        (
            {"source": mesh, "regions": {1: "solid"}},
            "regions: '1' is to be 'solid', expected one of 'free', 'obstacle', 'left out'",
        ),
        ({"source": mesh, "regions": [1]}, "regions: is a list, expected"),
        ({"source": mesh, "regions": {1: "left out"}}, "cells: are all left out"),
        ({"source": mesh, "table": "tissue"}, "table: is 'tissue', but the tables are 'heat', 'region'"),
        ({"source": mesh, "table": "heat"}, r"cell_data\['heat'\]\[0\]: is no whole number for each cell"),
        ({"source": mesh, "table": 3}, "table: is a int"),
        ({"source": mesh, "weld": -1.0}, "weld: -1 is not between"),
        ({"source": mesh, "flat": "keep"}, "flat: is 'keep', expected one of 'refuse', 'drop'"),
    ):
        with pytest.raises(InvalidInput, match=words):
            cells.load(**given)
    assert cells.load(mesh, table="region").region_names == ("1",)


def test_files_that_are_no_good(tmp_path, monkeypatch):
    with pytest.raises(InvalidInput, match=r"none\.msh: does not exist"):
        cells.load(tmp_path / "none.msh")
    with pytest.raises(InvalidInput, match="is not a file"):
        cells.load(tmp_path)
    (tmp_path / "organ.stl").write_text("solid")
    with pytest.raises(Unsupported, match=r"of kind '.stl', but from \.msh, \.vtk, \.vtu, \.mesh, \.inp"):
        cells.load(tmp_path / "organ.stl")
    vertices, rows, _ = kuhn(1)
    monkeypatch.setitem(__import__("sys").modules, "meshio.medit", None)
    with pytest.raises(Unsupported, match=r'pip install "abut\[mesh\]"'):
        cells.load(write(tmp_path / "block.mesh", vertices, [("tetra", rows)]))


@pytest.mark.parametrize("suffix", KINDS)
def test_files_cut_short_are_refused_or_whole(suffix, tmp_path, capsys):
    """Wherever a file is cut off: refused by name, but where all that is missing is its end mark or a line of no consequence."""
    vertices, rows, cube = kuhn(1)
    whole = write(tmp_path / f"whole{suffix}", vertices, [("tetra", rows)], [cube + 1]).read_bytes()
    cut, taken, told = tmp_path / f"cut{suffix}", 0, []
    for size in {0, 1, 20, *range(40, len(whole), max(1, len(whole) // 40))}:
        cut.write_bytes(whole[:size])
        try:
            env = cells.load(cut)
        except (InvalidInput, Unsupported) as refusal:
            told.append(str(refusal))
        else:
            taken += 1
            assert volume(env) == 6, size
    assert all(str(cut) in words for words in told)
    assert taken < 12
    assert capsys.readouterr() == ("", "")
