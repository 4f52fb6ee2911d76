"""Meshes from files (by trimesh) and from other libraries' objects."""

import importlib
import itertools
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from abut.core import arrays
from abut.core.arrays import Integers
from abut.core.errors import InvalidInput, Unsupported
from abut.core.types import IndicesLike, PathLike, PointsLike
from abut.mesh.surface import Mesh


class TrimeshLike(Protocol):
    """A mesh of another library, as trimesh has it."""

    @property
    def vertices(self) -> Any:
        """(n,3) positions."""
        ...

    @property
    def faces(self) -> Any:
        """(m,3) vertices of each triangle."""
        ...


class MeshioLike(Protocol):
    """A mesh of another library, as meshio has it."""

    @property
    def points(self) -> Any:
        """(n,3) positions."""
        ...

    @property
    def cells(self) -> Any:
        """Blocks of a kind and its rows."""
        ...


class SceneLike(Protocol):
    """A scene of trimesh."""

    @property
    def geometry(self) -> Any:
        """Meshes by name."""
        ...

    def to_mesh(self) -> Any:
        """All of it as one mesh."""
        ...


MeshLike: TypeAlias = (
    Mesh | PathLike | tuple[PointsLike, IndicesLike] | list[ArrayLike] | TrimeshLike | MeshioLike | SceneLike
)
"""What is taken for a mesh: see `as_mesh`."""


COMMON_KINDS = frozenset({".obj", ".ply", ".stl", ".off", ".glb", ".gltf", ".3mf", ".dae"})
"""Of what trimesh reads here, what a message names."""


def as_mesh(value: MeshLike) -> Mesh:
    """A Mesh from a Mesh, a pair (vertices, faces), a path, a trimesh mesh or scene, or a meshio-like object.

    Anything with `vertices` and `faces` counts as a trimesh mesh, anything with `points` and `cells` (or `cells_dict`)
    as meshio's. There, triangles are taken in the order of their blocks, quadrilaterals are cut from their first
    corner, and any other cell raises Unsupported.

    Args:
        value: any of these; a Mesh comes back as it is.

    Examples:
        >>> import abut
        >>> abut.mesh.as_mesh(([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]))
        Mesh(3 vertices, 1 face)
    """
    source: Any = value
    if isinstance(value, Mesh):
        return value
    if isinstance(value, str | os.PathLike):
        return load(source)
    if isinstance(value, tuple | list):
        if len(source) != 2:
            raise InvalidInput("mesh", f"is a {type(source).__name__} of {len(source)}, expected (vertices, faces)")
        return Mesh(source[0], source[1])
    if _has(source, "vertices", "faces"):
        return Mesh(source.vertices, source.faces)
    if _has(source, "points") and (_has(source, "cells") or _has(source, "cells_dict")):
        vertices = arrays.points(source.points, "points")
        return Mesh(vertices, _triangulate(_list_cells(source), len(vertices)))
    if _has(source, "geometry", "to_mesh") and not isinstance(source, type):
        return as_mesh(source.to_mesh())
    raise InvalidInput(
        "mesh", f"is a {type(value).__name__}, expected a Mesh, (vertices, faces), a path, or a trimesh or meshio mesh"
    )


def _has(value: object, *names: str) -> bool:
    """Whether an object of another library has these attributes; one that raises when it is asked has not."""
    try:
        return all(hasattr(value, name) for name in names)
    except Exception:
        return False


def load(path: PathLike) -> Mesh:
    """Read a mesh from any file that trimesh reads. Polygons become triangles, the geometries of a scene one mesh.

    Vertices keep the file's order; none is merged, split or left out, so the frames of an animation stay alike. Only
    an .stl file, which shares no vertices, gets them merged: corners at exactly one position become one vertex.

    Args:
        path: the file; its suffix tells the kind.

    Raises:
        InvalidInput: something is wrong with the file; the message names its path.
        Unsupported: files of this kind are not read.

    Examples:
        >>> import abut, pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "box.obj"
        >>> abut.save(abut.scenes.box(), file)
        >>> abut.load(file)
        Mesh(8 vertices, 12 faces)
    """
    file = path_of(path)
    if not os.path.isfile(file):
        raise InvalidInput(str(file), "is not a file" if os.path.exists(file) else "does not exist")
    try:
        vertices, faces = _read_obj(file) if file.suffix.lower() == ".obj" else _read_by_trimesh(file)
    except (MemoryError, Unsupported):
        raise
    except ImportError as error:
        # trimesh asks it about text that is not UTF-8, such as a binary file cut short
        if error.name == "charset_normalizer":
            raise InvalidInput(str(file), "cannot be read (neither whole nor text)") from error
        raise Unsupported(f"{file}: trimesh needs another package to read it ({error})") from error
    except Exception as error:
        raise InvalidInput(str(file), f"cannot be read ({type(error).__name__}: {error})") from error
    if not len(faces):
        raise InvalidInput(str(file), "holds no faces")
    try:
        return Mesh(vertices, faces)
    except InvalidInput as error:
        raise InvalidInput(f"{file}: {error.name}", error.reason, error.row) from error


def path_of(path: object) -> Path:
    """The path that text, bytes or a path object says."""
    try:
        name = os.fsdecode(cast("Any", path))
    except (TypeError, ValueError) as error:
        raise InvalidInput("path", f"is a {type(path).__name__}, expected text or a path") from error
    if "\0" in name:
        raise InvalidInput("path", "is no path: it holds a zero byte")
    return Path(name)


def _read_by_trimesh(file: Path) -> tuple[Any, Any]:
    trimesh: Any = importlib.import_module("trimesh")  # slow to import, and needed here only
    kinds = trimesh.available_formats()
    if not any(file.name.lower().endswith("." + kind) for kind in kinds):
        known = ", ".join(sorted({f".{kind}" for kind in kinds} & COMMON_KINDS))
        raise Unsupported(f"{file}: files of kind {file.suffix!r} are not read; {known} are")
    if file.suffix.lower() == ".gltf":
        _check_json(file)
    # Where vertices have several texture coordinates, PLY's reader would split them.
    options = {"fix_texture": False, "skip_materials": True} if file.suffix.lower() == ".ply" else {}
    with np.errstate(all="ignore"):
        scene = trimesh.load_scene(file, process=False, **options)
        for geometry in scene.geometry.values():
            if hasattr(geometry, "faces"):
                geometry.visual = trimesh.visual.ColorVisuals()  # to copy textures takes Pillow
        joined = scene.to_mesh()
    vertices, faces = getattr(joined, "vertices", ()), getattr(joined, "faces", ())
    return _merge(vertices, faces) if file.suffix.lower() == ".stl" and len(faces) else (vertices, faces)


def _check_json(file: Path) -> None:
    """Refuse a .gltf file that is not whole: trimesh would read the `model.gltf` beside it in its place."""
    try:
        header: object = json.loads(file.read_bytes())
    except ValueError as error:
        raise ValueError(f"it is not JSON, or not all of it: {error}") from error
    if not isinstance(header, dict):
        raise ValueError("it is JSON, but not the object that glTF asks for")


def _merge(vertices: Any, faces: Any) -> tuple[Any, Any]:
    """Vertices at the same position made one, in the order of their first."""
    _, first, inverse = np.unique(vertices, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.argsort(order)
    return np.asarray(vertices)[first[order]], rank[inverse.reshape(-1)][faces]


def _read_obj(file: Path) -> tuple[list[list[float]], list[tuple[int, int, int]]]:
    """Positions and polygons of a Wavefront file; trimesh drops and reorders vertices and splits them at seams."""
    vertices: list[list[float]] = []
    faces: list[tuple[int, int, int]] = []
    text = file.read_text(encoding="utf-8", errors="replace").replace("\\\n", " ")
    for number, line in enumerate(text.splitlines(), start=1):
        keyword, *words = line.partition("#")[0].split() or [""]
        if keyword == "v":
            vertices.append([float(word) for word in words[:3]])
        elif keyword == "f":
            corners = [int(word.partition("/")[0]) for word in words]
            if len(corners) < 3 or 0 in corners:
                raise ValueError(f"line {number}: a face has three corners or more, numbered from 1")
            first, *others = (corner - 1 if corner > 0 else len(vertices) + corner for corner in corners)
            faces += [(first, second, third) for second, third in itertools.pairwise(others)]
    return vertices, faces


def _list_cells(source: Any) -> Iterable[tuple[object, object]]:
    cells: Any = source.cells if hasattr(source, "cells") else source.cells_dict
    if isinstance(cells, Mapping):
        return list(cast("Any", cells).items())
    try:
        return [(block.type, block.data) if hasattr(block, "type") else (block[0], block[1]) for block in cells]
    except (TypeError, IndexError, KeyError, AttributeError) as error:
        raise InvalidInput("cells", f"are no blocks of a kind and its rows ({error})") from error


def _triangulate(blocks: Iterable[tuple[object, object]], vertex_count: int) -> Integers:
    triangles: list[Integers] = [np.empty((0, 3), np.int64)]
    for kind, data in blocks:
        if kind == "triangle":
            triangles.append(arrays.indices(data, "cells 'triangle'", 3, vertex_count))
        elif kind == "quad":
            quads = arrays.indices(data, "cells 'quad'", 4, vertex_count)
            triangles.append(quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3))
        else:
            raise Unsupported(f"cells of kind {kind!r}: a mesh is made of triangles and quads")
    return arrays.frozen(np.concatenate(triangles))
