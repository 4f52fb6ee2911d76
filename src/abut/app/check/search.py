"""One unit of a check, a frame and the step that leaves it: what is searched, and how its rows are computed."""

from typing import Any, NamedTuple

import numpy as np

from abut import ccd
from abut.app.check.bodies import Ensemble
from abut.app.check.findings import Labels, Rows
from abut.app.check.frames import tell_difference
from abut.app.check.pairing import Pairing, pair_distances
from abut.app.check.pieces import Pieces
from abut.app.check.rows import empty_rows, in_order, join, rows_of_contacts, rows_of_impacts
from abut.core.arrays import Floats
from abut.core.errors import AbutError, InvalidInput
from abut.discrete import Deformable, collide
from abut.mesh import Mesh


class Options(NamedTuple):
    """What is searched."""

    at_frames: bool = True
    between: bool = True
    min_distance: float = 0.0
    """features count as met in a step when they come this close, beyond half of the thicknesses of their bodies"""
    containment: bool = True
    """whether frames are searched for pieces inside closed pieces"""
    max_memory: int | None = None
    """bytes for the search of one step; None: what the mesh needs, as `sweep` has it. No result depends on it"""
    ignore: tuple[tuple[str, str], ...] = ()
    """pairs of bodies that are not searched; a body with itself is one too"""
    thickness: tuple[tuple[str, float], ...] = ()
    """bodies that are thicker than their surface, with their thickness"""

    def distances(self, labels: Labels) -> Floats:
        """(k,k) from which distance each pair of bodies counts as met in a step; NaN for pairs that are not searched."""
        return pair_distances(labels.names, self.min_distance, self.ignore, dict(self.thickness))


class Unit(NamedTuple):
    """A frame, and what of it is to be computed."""

    frame: int
    at_frame: bool
    between: bool


class Outcome(NamedTuple):
    """Rows of the frame and of the step, where the unit has them and they could be computed; what was bad."""

    frame: int
    at_frame: Rows | None
    between: Rows | None
    bad: dict[int, str]
    skipped: str


def _impacts(mesh: Mesh, v_t0: Floats, v_t1: Floats, options: Options) -> ccd.Impacts:
    memory: dict[str, Any] = {} if options.max_memory is None else {"max_memory": options.max_memory}
    return ccd.sweep(mesh, v_t0, v_t1, min_distance=options.min_distance, **memory)


class _Surface:
    """What is kept between frames of one connectivity: which parts are searched together, and one tree that is refitted."""

    def __init__(self, mesh: Mesh, labels: Labels, options: Options) -> None:
        self.mesh, self._labels, self._options = mesh, labels, options
        self._pairing = Pairing(mesh, labels, options.distances(labels))
        self._body: Deformable | None = None
        self._pieces: Pieces | None = None

    def search_frame(self, vertices: Floats) -> Rows:
        """Faces that cut each other, and pieces inside others."""
        part = self._pairing.at_frames
        if part is None:
            return empty_rows()
        if self._body is None:
            self._body = Deformable(part.mesh)
        self._body.update(part.vertices(vertices))
        rows = part.as_whole(rows_of_contacts(collide(self._body)))
        if self._options.containment:
            if self._pieces is None:
                self._pieces = Pieces(self.mesh, self._labels.face, self._pairing.wanted)
            rows = join([rows, self._pieces.find_contained(vertices, rows)])
        return self._pairing.keep(rows, part)

    def search_step(self, v_t0: Floats, v_t1: Floats) -> Rows:
        """Features that meet."""
        found: list[Rows] = []
        for part in self._pairing.in_steps:
            own_t0, own_t1 = part.vertices(v_t0), part.vertices(v_t1)
            impacts = _impacts(part.mesh, own_t0, own_t1, self._options._replace(min_distance=part.distance))
            rows = part.as_whole(rows_of_impacts(impacts, part.mesh, own_t0, own_t1))
            found.append(self._pairing.keep(rows, part))
        return found[0] if len(found) == 1 else in_order(join(found))


class _Frame(NamedTuple):
    vertices: Floats
    surface: _Surface


class Searcher:
    """Computes units, one after another. The frame that two units have in common is read once, what one connectivity needs is made once."""

    def __init__(self, frames: Ensemble, options: Options) -> None:
        self._frames, self._options = frames, options
        self._usual = _Surface(frames.mesh, frames.labels, options)
        self._read: dict[int, _Frame | AbutError] = {}

    def search(self, unit: Unit) -> Outcome:
        """Compute one unit. Whatever is wrong with a frame or a step is part of the outcome."""
        i = unit.frame
        bad: dict[int, str] = {}
        at_frame = between = None
        skipped = ""
        start = self._frame(i, bad)
        if unit.at_frame and start is not None:
            try:
                at_frame = start.surface.search_frame(start.vertices)
            except AbutError as error:
                bad[i] = f"could not be searched: {error}"
        if unit.between:
            end = self._frame(i + 1, bad)
            if start is None or end is None:
                skipped = " and ".join(self._frames.names[j] for j in sorted(bad)) + " could not be read"
            elif start.surface is not end.surface:
                difference = tell_difference(end.surface.mesh, start.surface.mesh, self._frames.names[i])
                skipped = f"other connectivity: {difference}"
            else:
                try:
                    between = start.surface.search_step(start.vertices, end.vertices)
                except AbutError as error:
                    skipped = str(error)
        return Outcome(i, at_frame, between, bad, skipped)

    def _frame(self, i: int, bad: dict[int, str]) -> _Frame | None:
        if i not in self._read:
            try:
                vertices, mesh = self._frames.shape(i)
                self._read[i] = _Frame(vertices, self._usual if mesh is None else self._surface_of(mesh))
            except AbutError as error:
                self._read[i] = error
            for other in [j for j in self._read if abs(j - i) > 1]:
                del self._read[other]
        found = self._read[i]
        if isinstance(found, AbutError):
            bad[i] = found.reason if isinstance(found, InvalidInput) else str(found)
            return None
        return found

    def _surface_of(self, mesh: Mesh) -> _Surface:
        """That of a neighbour where it is the same: what changes at each frame is not kept for long."""
        for frame in self._read.values():
            if isinstance(frame, _Frame) and not tell_difference(mesh, frame.surface.mesh, ""):
                return frame.surface
        nothing = (np.zeros(count, np.int64) for count in (len(mesh.vertices), len(mesh.edges), len(mesh.faces)))
        return _Surface(mesh, Labels(self._frames.labels.names, *nothing), self._options)


# --- compiling ahead


def _tiny_step() -> tuple[Mesh, Floats]:
    """A triangle that falls through another, so that all that follows a collision is compiled too, and where it stands at the end."""
    mesh = Mesh([[0, 0, 0], [4, 0, 0], [0, 4, 0], [1, 1, 1], [2, 1, 1], [1, 1, 2]], [[0, 1, 2], [3, 4, 5]])
    return mesh, mesh.vertices - np.array([0.0, 0.0, 1.5]) * (np.arange(6) > 2)[:, np.newaxis]


def search_tiny_frame() -> None:
    """Have the search of frames compiled, or loaded from disk."""
    mesh, vertices = _tiny_step()
    body = Deformable(mesh)
    body.update(vertices)
    rows_of_contacts(collide(body))


def search_tiny_step() -> None:
    """Have the search of steps compiled, or loaded from disk."""
    mesh, vertices = _tiny_step()
    rows_of_impacts(_impacts(mesh, mesh.vertices, vertices, Options()), mesh, mesh.vertices, vertices)
