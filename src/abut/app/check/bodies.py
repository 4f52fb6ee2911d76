"""Several bodies as one mesh: what each vertex, edge and face belongs to, and the frames of all bodies side by side.

A body has a frame of its own for each frame of the job, or one only, which stands still or is moved by a track. Its vertices and faces follow
those of the bodies before it; `Labels` tells the bodies of a row, and the numbers of its features within them.
"""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from abut.app.check.findings import Labels
from abut.app.check.sources.motions import Track
from abut.app.check.sources.source import Objects
from abut.core.arrays import Floats, Integers
from abut.core.errors import AbutError, InvalidInput
from abut.mesh import Mesh


def label_edges(mesh: Mesh, face: Integers, vertex: Integers) -> Integers:
    """(k,) the body of each edge: that of the first face that has it."""
    labels = vertex[mesh.edges[:, 0]] if len(mesh.edges) else np.empty(0, np.int64)
    sides = mesh.face_edges[::-1]
    has_edge = sides >= 0
    labels[sides[has_edge]] = np.repeat(face[::-1], 3).reshape(-1, 3)[has_edge]
    return labels


class Sequenced(Protocol):
    """Frames by number, of one body or of all: from files (`Frames`), from arrays (`ArrayFrames`), of several bodies (`Ensemble`)."""

    names: list[str]

    def __len__(self) -> int: ...
    @property
    def mesh(self) -> Mesh:
        """Some frame that can be read."""
        ...

    @property
    def objects(self) -> Objects | None:
        """Parts with names."""
        ...

    @property
    def faces(self) -> Integers:
        """(m,3) of all frames."""
        ...

    @property
    def paths(self) -> list[Path]:
        """The files that are read."""
        ...

    def vertices(self, i: int) -> Floats:
        """(n,3) of a frame."""
        ...

    def shape(self, i: int) -> tuple[Floats, Mesh | None]:
        """(n,3) of a frame, and its mesh where that has another connectivity."""
        ...

    def digest(self, i: int) -> str:
        """A hash of a frame."""
        ...

    def find_gaps(self) -> dict[int, str]:
        """Steps over frames that seem to be missing."""
        ...


class ArrayFrames:
    """Frames that are in memory: (k,n,3) positions of one connectivity."""

    def __init__(self, positions: Sequence[Floats] | Floats, faces: Integers) -> None:
        self._positions, self.names = positions, [f"frame {i}" for i in range(len(positions))]
        self.objects: Objects | None = None
        self.paths: list[Path] = []
        self.mesh = Mesh(positions[0], faces)

    def __len__(self) -> int:
        return len(self._positions)

    @property
    def faces(self) -> Integers:
        """(m,3) of all frames."""
        return self.mesh.faces

    def vertices(self, i: int) -> Floats:
        """(n,3) of a frame."""
        return self._positions[i]

    def shape(self, i: int) -> tuple[Floats, Mesh | None]:
        """(n,3) of a frame; all have one connectivity."""
        return self._positions[i], None

    def digest(self, i: int) -> str:
        """A hash of a frame."""
        return hashlib.sha256(np.ascontiguousarray(self._positions[i]).tobytes()).hexdigest()

    def find_gaps(self) -> dict[int, str]:
        """None."""
        return {}


class Ensemble:
    """All bodies of a job, frame by frame. What a bad body says is the reason of the frame."""

    def __init__(self, bodies: Mapping[str, Sequenced], tracks: Mapping[str, Track] | None = None) -> None:
        """The bodies by name, and tracks for those of one frame.

        Raises InvalidInput where the bodies have different numbers of frames, where a track is for no body or for one that has several frames, and
        where a body cannot be read at any frame.
        """
        self._bodies, self._tracks = dict(bodies), dict(tracks or {})
        for name in self._tracks:
            if name not in self._bodies:
                raise InvalidInput("motion", f"is for {name!r}, which is none of {', '.join(self._bodies)}")
            if len(self._bodies[name]) > 1:
                raise InvalidInput("motion", f"is for {name!r}, which has {len(self._bodies[name])} frames of its own")
        counts = {name: len(self._tracks.get(name, body)) for name, body in self._bodies.items()}
        self._count = max(counts.values())
        for name, count in counts.items():
            if count not in (1, self._count):
                longest = max(counts, key=lambda other: counts[other])
                raise InvalidInput(name, f"has {count} frames, but {longest} has {self._count}")
        self._leader = next((name for name in self._bodies if len(self._bodies[name]) == self._count), None)
        self.names = (
            [f"frame {i}" for i in range(self._count)]
            if self._leader is None
            else list(self._bodies[self._leader].names)
        )
        self._mesh: Mesh | None = None
        self._labels: Labels | None = None

    def __len__(self) -> int:
        return self._count

    @property
    def is_single(self) -> bool:
        """Whether there is one body, without a track: its frames are those of the job as they are."""
        return len(self._bodies) == 1 and not self._tracks

    @property
    def paths(self) -> list[Path]:
        """The files that are read."""
        files = [path for body in self._bodies.values() for path in body.paths]
        return list(dict.fromkeys([*files, *(track.path for track in self._tracks.values() if track.path)]))

    @property
    def objects(self) -> Objects | None:
        """The bodies, where there are several."""
        labels = self.labels
        return Objects(labels.names, labels.vertex, labels.face) if len(labels.names) > 1 else None

    @property
    def mesh(self) -> Mesh:
        """All bodies as they first can be read, at rest where they are moved by a track."""
        if self._mesh is None:
            meshes = [body.mesh for body in self._bodies.values()]
            starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
            self._mesh = (
                meshes[0]
                if len(meshes) == 1
                else Mesh(
                    np.concatenate([mesh.vertices for mesh in meshes]),
                    np.concatenate([mesh.faces + start for mesh, start in zip(meshes, starts, strict=False)]),
                )
            )
        return self._mesh

    @property
    def faces(self) -> Integers:
        """(m,3) of all frames."""
        return self.mesh.faces

    @property
    def labels(self) -> Labels:
        """Which body what belongs to. One body without others is divided into the objects that its file names."""
        if self._labels is None:
            mesh = self.mesh
            objects = next(iter(self._bodies.values())).objects if len(self._bodies) == 1 else None
            if objects is not None:
                names, vertex, face = objects
            else:
                meshes = [body.mesh for body in self._bodies.values()]
                names, own = tuple(self._bodies), np.arange(len(meshes))
                vertex = np.repeat(own, [len(part.vertices) for part in meshes])
                face = np.repeat(own, [len(part.faces) for part in meshes])
            self._labels = Labels(names, vertex, label_edges(mesh, face, vertex), face)
        return self._labels

    def vertices(self, i: int) -> Floats:
        """(n,3) of all bodies at a frame. Raises InvalidInput where one of them is bad."""
        parts: list[Floats] = []
        for name, body in self._bodies.items():
            at = i if len(body) > 1 else 0
            try:
                own = body.vertices(at)
                parts.append(self._tracks[name].place(i, own) if name in self._tracks else own)
            except AbutError as error:
                reason = error.reason if isinstance(error, InvalidInput) else str(error)
                named = reason if name == self._leader or self.is_single else f"{body.names[at]}: {reason}"
                raise InvalidInput(self.names[i], named) from error
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def shape(self, i: int) -> tuple[Floats, Mesh | None]:
        """(n,3) of all bodies at a frame, and, of a body that is alone, its mesh there where that has another connectivity."""
        if self.is_single and len(self.labels.names) == 1:
            return next(iter(self._bodies.values())).shape(i)
        return self.vertices(i), None

    def digest(self, i: int) -> str:
        """A hash of a frame of all bodies."""
        digests = [body.digest(i if len(body) > 1 else 0) for body in self._bodies.values()]
        digests += [self._tracks[name].digest(i) for name in self._bodies if name in self._tracks]
        return digests[0] if self.is_single else hashlib.sha256(" ".join(digests).encode()).hexdigest()

    def find_gaps(self) -> dict[int, str]:
        """Steps over frames that seem to be missing, of any body."""
        gaps: dict[int, str] = {}
        for body in self._bodies.values():
            for i, what in body.find_gaps().items():
                gaps.setdefault(i, what)
        return gaps
