"""Meshes to files that people look at. A file is written beside its place and then moved, so it is never half there."""

import os
import secrets
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abut.core import arrays
from abut.core.errors import InvalidInput, Unsupported
from abut.core.types import PathLike
from abut.mesh.reading import MeshLike, as_mesh, path_of
from abut.mesh.surface import Mesh


def save(mesh: MeshLike, path: PathLike, face_colors: ArrayLike | None = None) -> None:
    """Write a mesh to a file whose kind is its suffix; a file that is there is replaced, and never half written.

    .ply  binary, float64: comes back as it was. The only kind that takes face_colors
    .obj, .off  text: comes back as it was
    .stl  binary, float32, without shared vertices: for viewers and printers only

    Args:
        mesh: a Mesh, or what `as_mesh` makes one of.
        path: the file, in a folder that exists.
        face_colors: (m,3) or (m,4) of 0 to 255: red, green, blue and opacity of each face.

    Raises:
        Unsupported: another kind of file, colors in a file that has none, coordinates beyond float32 in an .stl file.

    Examples:
        >>> import abut, pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "ball.ply"
        >>> abut.save(abut.scenes.icosphere(0), file, face_colors=[[255, 0, 0]] * 20)
        >>> file.read_bytes()[:3]
        b'ply'
    """
    file, surface = path_of(path), as_mesh(mesh)
    colors = None if face_colors is None else _check_colors(face_colors, len(surface.faces))
    encoders = {".ply": _encode_ply, ".obj": _encode_obj, ".off": _encode_off, ".stl": _encode_stl}
    suffix = file.suffix.lower()
    if suffix not in encoders:
        raise Unsupported(
            f"{file}: files of kind {suffix or 'without suffix'!r} are not written, only {', '.join(encoders)}"
        )
    if colors is not None and suffix != ".ply":
        raise Unsupported(f"{file}: face_colors are written to .ply files only")
    if not file.parent.is_dir():
        raise InvalidInput(str(file), "its folder does not exist")
    if file.is_dir():
        raise InvalidInput(str(file), "is a folder")
    try:
        _replace(file, encoders[suffix](surface, colors))
    except ValueError as error:  # a zero byte in the name; what goes wrong with the disk is an OSError, and stays one
        raise InvalidInput(str(file), f"cannot be written ({error})") from error


def _check_colors(face_colors: ArrayLike, face_count: int) -> NDArray[np.uint8]:
    colors = arrays.indices(face_colors, "face_colors", None, 256)
    if colors.shape[1] not in (3, 4):
        raise InvalidInput("face_colors", f"has shape {colors.shape}, expected ({face_count}, 3) or ({face_count}, 4)")
    if len(colors) != face_count:
        raise InvalidInput("face_colors", f"has {len(colors)} rows for {face_count} faces")
    return colors.astype(np.uint8)


def _replace(file: Path, content: bytes) -> None:
    beside = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    try:
        beside.write_bytes(content)
        os.replace(beside, file)
    finally:
        beside.unlink(missing_ok=True)


def _encode_ply(mesh: Mesh, colors: NDArray[np.uint8] | None) -> bytes:
    channels = [] if colors is None else ["red", "green", "blue", "alpha"][: colors.shape[1]]
    header = ["ply", "format binary_little_endian 1.0", f"element vertex {len(mesh.vertices)}"]
    header += [f"property double {axis}" for axis in "xyz"]
    header += [f"element face {len(mesh.faces)}", "property list uchar int vertex_indices"]
    header += [f"property uchar {channel}" for channel in channels]
    header += ["end_header", ""]
    layout: list[Any] = [("count", "u1"), ("corners", "<i4", 3)]
    rows = np.empty(len(mesh.faces), layout + ([] if colors is None else [("color", "u1", colors.shape[1])]))
    rows["count"], rows["corners"] = 3, mesh.faces
    if colors is not None:
        rows["color"] = colors
    return "\n".join(header).encode() + mesh.vertices.astype("<f8").tobytes() + rows.tobytes()


def _encode_obj(mesh: Mesh, colors: NDArray[np.uint8] | None) -> bytes:
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in mesh.vertices.tolist()]
    lines += [f"f {a} {b} {c}" for a, b, c in (mesh.faces + 1).tolist()]
    return ("\n".join(lines) + "\n").encode()


def _encode_off(mesh: Mesh, colors: NDArray[np.uint8] | None) -> bytes:
    lines = ["OFF", f"{len(mesh.vertices)} {len(mesh.faces)} 0"]
    lines += [f"{x!r} {y!r} {z!r}" for x, y, z in mesh.vertices.tolist()]
    lines += [f"3 {a} {b} {c}" for a, b, c in mesh.faces.tolist()]
    return ("\n".join(lines) + "\n").encode()


def _encode_stl(mesh: Mesh, colors: NDArray[np.uint8] | None) -> bytes:
    if np.abs(mesh.vertices).max() > np.finfo(np.float32).max:
        raise Unsupported("coordinates beyond float32 in an .stl file")
    rows = np.zeros(len(mesh.faces), [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    rows["normal"], rows["corners"] = mesh.face_normals, mesh.vertices[mesh.faces]
    return b"abut".ljust(80) + np.array(len(rows), "<u4").tobytes() + rows.tobytes()
