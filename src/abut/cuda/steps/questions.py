"""What users ask of steps on the device: `sweep`, `time_of_impact`, `candidates`. Answers lie where the vertices do.

What a mesh needs on the device is kept as long as the mesh: who asks for one step after the other, with the same mesh, pays for it once.
"""

import threading
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from abut.ccd.contact_at_start import is_in_contact_at_start
from abut.ccd.motion.motions import Motion
from abut.ccd.motion.surfaces import surface_of
from abut.ccd.results import Candidates, Impacts, Kind
from abut.core import arrays
from abut.core.devices import is_on_device
from abut.core.errors import Unsupported
from abut.cuda import memory
from abut.cuda.arrays import points
from abut.cuda.steps.crossings import has_crossing
from abut.cuda.steps.program import Program, Question
from abut.cuda.steps.runs import Outcome, run
from abut.mesh import Mesh

_alone: "weakref.WeakKeyDictionary[Mesh, Program]" = weakref.WeakKeyDictionary()
_pairs: "weakref.WeakKeyDictionary[Mesh, weakref.WeakKeyDictionary[Mesh, Program]]" = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def program_of(meshes: Sequence[Mesh]) -> Program:
    """What one mesh, or two, need on the device; made when it is first asked for."""
    with _lock:
        last = meshes[-1]
        kept = _alone if len(meshes) == 1 else _pairs.setdefault(meshes[0], weakref.WeakKeyDictionary())
        program = kept.get(last)
        if program is None:
            program = kept[last] = Program(meshes)
        return program


class Ends:
    """The vertices of one mesh or two at both ends of a step, on the device."""

    def __init__(self, meshes: Sequence[Mesh], given: Sequence[Any]) -> None:
        self.meshes = list(meshes)
        self.are_of_host = not any(map(is_on_device, given))
        names = ["v_t0", "v_t1"] if len(given) == 2 else ["a_t0", "a_t1", "b_t0", "b_t1"]
        counts = [len(mesh.vertices) for mesh in meshes for _ in range(2)]
        self.arrays = [points(value, name, n) for value, name, n in zip(given, names, counts, strict=True)]

    def back(self, array: Any) -> Any:
        """An answer where the vertices are."""
        return arrays.frozen(memory.to_host(array)) if self.are_of_host else array

    def starts(self) -> Callable[[], bool]:
        """A function that tells whether surfaces are in contact at t = 0; it keeps the vertices, whatever the caller writes into his later."""
        return partial(_is_in_contact, self.meshes, [array.copy() for array in self.arrays[::2]])


def _is_in_contact(meshes: list[Mesh], starts: list[Any]) -> bool:
    motions = [Motion(mesh, *[memory.to_host(start)] * 2) for mesh, start in zip(meshes, starts, strict=True)]
    return is_in_contact_at_start([surface_of(motion).motion for motion in motions], None)


def _check(min_distance: float, tolerance: float) -> float:
    if (
        not (type(min_distance) is float and min_distance == 0.0)
        and arrays.scalar(min_distance, "min_distance", least=0.0) > 0.0
    ):
        raise Unsupported("min_distance on a CUDA device: contact alone is searched there")
    if type(tolerance) is float and 0.0 <= tolerance <= 1.0:
        return tolerance
    return arrays.scalar(tolerance, "tolerance", least=0.0, most=1.0)


def sweep(ends: Ends, min_distance: float, tolerance: float, max_memory: int | None) -> Impacts:
    """`abut.sweep` of vertices on the device."""
    early = _check(min_distance, tolerance)
    program = program_of(ends.meshes)
    with program.lock:
        total = sum(run(program, Question.IMPACTS, ends.arrays, early, max_memory).hits)
        columns = program.impacts(total)
    kind, a, b, time, point, normal, status = (ends.back(column) for column in columns)
    return Impacts(kind, a, b, time, point, normal, status, ends.starts())


def time_of_impact(ends: Ends, min_distance: float, tolerance: float, max_memory: int | None, at_start: bool) -> float:
    """`abut.time_of_impact` of vertices on the device."""
    early, counts_start = _check(min_distance, tolerance), arrays.flag(at_start, "at_start")
    program = program_of(ends.meshes)
    with program.lock:
        best = run(program, Question.EARLIEST, ends.arrays, early, max_memory).best
        if counts_start and best > 0.0 and has_crossing(program):
            return 0.0
    if counts_start and best > 0.0 and len(ends.meshes) == 2 and any(mesh.is_closed for mesh in ends.meshes):
        return 0.0 if ends.starts()() else best  # whether one holds the other is found on the processor
    return best


def candidates(ends: Ends, volume: str, min_distance: float) -> Candidates:
    """`abut.candidates` of vertices on the device."""
    _check(min_distance, 0.0)
    if volume not in ("aabb", "kdop6"):
        raise Unsupported(f"volume={volume!r} on a CUDA device: boxes alone are searched there")
    program = program_of(ends.meshes)
    with program.lock:
        found: Outcome = run(program, Question.CANDIDATES, ends.arrays, 0.0)
        kinds = {program.kind_of(k): ends.back(program.number(k, count)) for k, count in enumerate(found.pairs)}
    turned = kinds.get(Kind.FACE_VERTEX)
    none = kinds[Kind.EDGE_EDGE][:0]
    return Candidates(kinds[Kind.VERTEX_FACE], kinds[Kind.EDGE_EDGE], none if turned is None else turned)
