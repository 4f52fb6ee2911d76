"""All findings as packed arrays, one entry a row in order of frame, and the incidents that they belong to.

| section | bytes | |
| --- | ---: | --- |
| `rowFrame`, `rowA`, `rowB`, `rowIncident` | 4 | |
| `rowKind` | 1 | |
| `rowTime` | 4 | float32: the time in the step |
| `rowDepth` | 4 | float32 |
| `rowPoint` | 3 × 2 | in steps of the page's box |
| `rowNormal` | 3 × 1 | 127 times the components, plus 127 |
| `rowBodyA`, `rowBodyB`, `rowOwnA`, `rowOwnB` | 4 | where there are several bodies: these, and the numbers within them |
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.app.check.findings import Contact, Incidents, Rows
from abut.core.arrays import Floats, Integers
from abut.viewer.packing import Box, Packed


class Landmarks(NamedTuple):
    """Rows that the page leads to; None where there are none."""

    first: int | None
    deepest: int | None
    longest: int | None


def find_landmarks(findings: Rows) -> Landmarks:
    """The earliest row, the deepest impact, the longest cut."""
    return Landmarks(
        _most(-findings.time, np.ones(len(findings.kind), np.bool_)),
        _most(findings.depth, findings.kind < Contact.FACE_FACE),
        _most(findings.depth, findings.kind == Contact.FACE_FACE),
    )


def _most(values: Floats, where: NDArray[np.bool_]) -> int | None:
    chosen = np.flatnonzero(where & np.isfinite(values))
    return int(chosen[np.argmax(values[chosen])]) if len(chosen) else None


def pack_rows(packed: Packed, findings: Rows, incidents: Incidents, box: Box, bodies: dict[str, Integers]) -> None:
    """Add the sections of the rows."""

    def bits(values: Floats) -> NDArray[np.uint32]:
        return np.ascontiguousarray(values, np.float32).view(np.uint32)

    packed.add("rowFrame", findings.frame.astype(np.uint32))
    packed.add("rowKind", findings.kind.astype(np.uint8))
    packed.add("rowA", findings.a.astype(np.uint32))
    packed.add("rowB", findings.b.astype(np.uint32))
    packed.add("rowTime", bits(np.nan_to_num(findings.time - findings.frame)))
    packed.add("rowDepth", bits(findings.depth))
    packed.add("rowPoint", box.quantise(findings.point))
    normal = np.clip(np.nan_to_num(findings.normal), -1, 1)
    packed.add("rowNormal", (np.rint(normal * 127) + 127).astype(np.uint8))
    packed.add("rowIncident", incidents.of_row.astype(np.uint32))
    for name, values in bodies.items():
        packed.add(name, values.astype(np.uint32))


def list_incidents(incidents: Incidents) -> dict[str, list[Any]]:
    """Columns of the incidents, as JSON takes them."""
    return {
        "start": incidents.start.tolist(),
        "end": incidents.end.tolist(),
        "worst": incidents.worst.tolist(),
        "counts": incidents.counts.tolist(),
    }
