"""What `test_simulated.py` runs in a process of its own, in Numba's CUDA simulator and interpreted: `python simulated.py GIVEN ANSWERS`.

GIVEN is a file of meshes and their vertices at both ends, ANSWERS takes what the kernels found.
"""

import sys

import numpy as np
import warp_operations  # noqa: F401  (supplies what the simulator lacks)

import abut
from abut.cuda.steps import questions
from abut.cuda.steps.crossings import has_crossing
from abut.cuda.steps.program import Question, Rooms
from abut.cuda.steps.runs import run

TIGHT = Rooms(1, 4, 2, 1, 1)
"""Each stage overflows at least once."""
FIELDS = ("kind", "a", "b", "time", "point", "normal", "status")


def fields(impacts):
    return {name: getattr(impacts, name) for name in FIELDS}


def ends_of(given, *names):
    meshes = [abut.Mesh(given[f"{name}_t0"], given[f"{name}_faces"]) for name in names]
    return questions.Ends(meshes, [given[f"{name}_t{end}"] for name in names for end in range(2)])


def alone(given):
    """A mesh with itself."""
    return fields(questions.sweep(ends_of(given, "sheet"), 0.0, 1e-9, None))


def tight(given):
    """The same with so little room for impacts that the step is done twice."""
    ends = ends_of(given, "sheet")
    program = questions.program_of(ends.meshes)
    program.reserve(program.rooms._replace(hits=1))
    return fields(questions.sweep(ends, 0.0, 1e-9, None))


def listed(given):
    """Candidates, with room for one."""
    ends = ends_of(given, "sheet")
    questions.program_of(ends.meshes).reserve(TIGHT)
    found = questions.candidates(ends, "aabb", 0.0)
    return {"vertex_face": found.vertex_face, "edge_edge": found.edge_edge}


def two(given):
    """Two meshes, the second with a vertex of no face; the earliest time as well."""
    ends = ends_of(given, "upper", "lower")
    found = fields(questions.sweep(ends, 0.0, 1e-9, None))
    return found | {"earliest": questions.time_of_impact(ends, 0.0, 1e-9, None, False)}


def crossings(given):
    """Whether the sheet passes through itself at t = 0."""
    ends = ends_of(given, "sheet")
    program = questions.program_of(ends.meshes)
    with program.lock:
        run(program, Question.EARLIEST, ends.arrays, 1e-9)
        return {"found": has_crossing(program)}


def parts(given):
    """A step that is searched in several parts, for memory is short."""
    ends = ends_of(given, "sheet")
    program = questions.program_of(ends.meshes)
    program.reserve(TIGHT)
    outcome = run(program, Question.IMPACTS, ends.arrays, 1e-9, 16000)
    return {"parts": program.parts, "hits": sum(outcome.hits)}


def main(given, answers):
    loaded = dict(np.load(given))
    tasks = {"alone": alone, "tight": tight, "listed": listed, "two": two, "parts": parts, "crossings": crossings}
    found = {
        f"{task}_{name}": value for task in loaded["tasks"].tolist() for name, value in tasks[task](loaded).items()
    }
    np.savez(answers, **found)


if __name__ == "__main__":
    main(*sys.argv[1:])
