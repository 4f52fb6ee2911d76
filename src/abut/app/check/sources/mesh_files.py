"""Files of one frame that `abut.load` reads, and the objects that an OBJ file names."""

from pathlib import Path

import numpy as np

from abut.app.check.sources.source import Objects, Shape, Source, open_regular
from abut.mesh import Mesh, load


class MeshFile(Source):
    """One frame."""

    def read(self, at: int) -> Shape:
        """The mesh; vertices and faces as `abut.load` has them."""
        mesh = load(self.path)
        return Shape(mesh, _find_objects(self.path, mesh) if self.path.suffix.lower() == ".obj" else None)


def _find_objects(path: Path, mesh: Mesh) -> Objects | None:
    """What the lines `o` of an OBJ file name, or, where there are none, the lines `g`. Objects without faces are none.

    A vertex belongs to the object of the first face that has it; one without faces to the object in whose part of the file it stands.
    """
    with open_regular(path) as file:
        text = file.read().decode("utf-8", errors="replace")
    lines = text.replace("\\\n", " ").splitlines()
    for keyword in ("o", "g"):
        found = _label(lines, keyword, mesh)
        if found is not None:
            return found
    return None


def _label(lines: list[str], keyword: str, mesh: Mesh) -> Objects | None:
    names: dict[str, int] = {"": 0}
    at = 0
    vertex, face = np.zeros(len(mesh.vertices), np.int64), np.zeros(len(mesh.faces), np.int64)
    vertex_count = face_count = 0
    for line in lines:
        first, *words = line.partition("#")[0].split() or [""]
        if first == "v":
            vertex[vertex_count] = at
            vertex_count += 1
        elif first == "f":
            face[face_count : face_count + len(words) - 2] = at
            face_count += len(words) - 2
        elif first == keyword:
            at = names.setdefault(" ".join(words), len(names))
    used, own = np.unique(face, return_inverse=True)
    if len(used) < 2:
        return None
    corners = mesh.faces[::-1].reshape(-1)  # the first face of a vertex is written last, and stays
    vertex[corners] = np.repeat(face[::-1], 3)
    labels = list(names)
    return Objects(
        tuple(labels[int(k)] or "unnamed" for k in used),
        np.searchsorted(used, np.where(np.isin(vertex, used), vertex, used[0])),
        own.reshape(-1),
    )
