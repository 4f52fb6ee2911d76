"""Results of a check for machines: a JSON document, and all rows as `.npz`, `.csv` or `.parquet`. Files are never half written.

The document's schema is `abut.check/1`, described in docs/check.md; fields may be added to it, none changes its meaning.
"""

import importlib.util
import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from abut.app.check.findings import Contact, Rows
from abut.app.check.job import Report
from abut.app.check.tally import KINDS
from abut.app.output.files import write_file
from abut.core.errors import Unsupported

SCHEMA = "abut.check/1"
TABLE_SUFFIXES = (".npz", ".csv", ".parquet")
KIND_NAMES = {kind: kind.name.lower() for kind in Contact}


def check_table(path: Path) -> None:
    """Refuse a table of all rows that is of no known kind."""
    suffix = path.suffix.lower()
    if suffix not in TABLE_SUFFIXES:
        raise Unsupported(f"{path}: tables are written as {', '.join(TABLE_SUFFIXES)}, not as {suffix or 'no suffix'}")
    if suffix == ".parquet" and importlib.util.find_spec("pyarrow") is None:
        raise Unsupported(f"{path}: Parquet files need pyarrow; install it with: pip install 'abut[table]'")


def write_table(path: Path, report: Report) -> None:
    """All rows, as the suffix says. Call `check_table` and `output.files.prepare` before."""
    encoders = {".npz": _encode_npz, ".csv": _encode_csv, ".parquet": _encode_parquet}
    write_file(path, encoders[path.suffix.lower()](report))


def to_json(report: Report) -> str:
    """The document, one line."""
    return json.dumps(describe(report), allow_nan=False, separators=(",", ":"))


def describe(report: Report) -> dict[str, Any]:
    """The document as plain Python values."""
    from abut import __version__

    total = report.counts.sum(axis=0)
    return {
        "schema": SCHEMA,
        "abut_version": __version__,
        "options": report.options._asdict() | {"thickness": dict(report.options.thickness)},
        "exit_code": report.exit_code,
        "frame_count": len(report.names),
        "step_count": report.step_count,
        "bad_frames": [{"frame": i, "name": report.names[i], "reason": reason} for i, reason in report.bad.items()],
        "skipped_steps": [
            {"frame": i, "from": report.names[i], "to": report.names[i + 1], "reason": reason}
            for i, reason in report.skipped.items()
        ],
        "steps_over_gaps": [
            {"frame": i, "from": report.names[i], "to": report.names[i + 1], "reason": reason}
            for i, reason in report.gaps.items()
        ],
        "bodies": _list_bodies(report),
        "counts": {**_named(total), "total": report.found},
        "frames": [
            {"frame": i, "name": name, **_named(counts)}
            for i, (name, counts) in enumerate(zip(report.names, report.counts, strict=True))
        ],
        "first": next(iter(_list_rows(report, report.first)), None),
        "worst_impacts": _list_rows(report, report.worst_impacts),
        "longest_cuts": _list_rows(report, report.longest_cuts),
        "incidents": _list_incidents(report),
        "complete": len(report.findings.kind) == report.found,
        "findings": _list_rows(report, report.findings),
        "reused": report.reused,
        "seconds": round(report.seconds, 3),
    }


def _named(counts: Any) -> dict[str, int]:
    return {KIND_NAMES[kind]: int(count) for kind, count in zip(KINDS, counts, strict=True)}


def _list_bodies(report: Report) -> list[dict[str, Any]]:
    names, vertex, _, face = report.labels
    vertices, faces = np.bincount(vertex, minlength=len(names)), np.bincount(face, minlength=len(names))
    return [
        {"name": name, "vertex_count": int(vertices[i]), "face_count": int(faces[i])} for i, name in enumerate(names)
    ]


def body_columns(report: Report, rows: Rows) -> dict[str, Any]:
    """Where there are several bodies: the names of those that meet, and the numbers of the features within them."""
    if len(report.labels.names) < 2:
        return {}
    names = np.array(report.labels.names)
    body_a, body_b = report.labels.of(rows)
    own_a, own_b = report.labels.within(rows)
    return {"body_a": names[body_a], "body_b": names[body_b], "own_a": own_a, "own_b": own_b}


def _list_incidents(report: Report) -> list[dict[str, Any]]:
    _, start, end, worst, counts = report.incidents
    return [
        {"start": float(start[k]), "end": float(end[k]), "worst": int(worst[k]), "counts": _named(counts[k])}
        for k in range(len(start))
    ]


def _list_rows(report: Report, rows: Rows) -> list[dict[str, Any]]:
    columns = {name: column.tolist() for name, column in (rows._asdict() | body_columns(report, rows)).items()}
    columns["kind"] = [KIND_NAMES[Contact(kind)] for kind in columns["kind"]]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def flat_columns(report: Report) -> dict[str, Any]:
    """Flat columns: vectors as x, y, z."""
    rows = report.findings
    columns: dict[str, Any] = {
        "frame": rows.frame,
        "kind": np.array([KIND_NAMES[Contact(kind)] for kind in rows.kind.tolist()], dtype="U11"),
        "a": rows.a,
        "b": rows.b,
        "time": rows.time,
    }
    for name, vectors in (("point", rows.point), ("normal", rows.normal)):
        columns |= {f"{name}_{axis}": vectors[:, k] for k, axis in enumerate("xyz")}
    return columns | {"depth": rows.depth} | body_columns(report, rows)


def _encode_npz(report: Report) -> bytes:
    """The columns as the library names them, the names of the frames, and how many collisions of each kind each frame has."""
    buffer = io.BytesIO()
    columns = report.findings._asdict() | body_columns(report, report.findings)
    np.savez_compressed(buffer, names=np.array(report.names), counts=report.counts, **columns)
    return buffer.getvalue()


def _encode_csv(report: Report) -> bytes:
    columns = flat_columns(report)
    lines = [",".join(columns)]
    # repr of a float is the shortest text that comes back as the same float
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    lines += [",".join(value if isinstance(value, str) else repr(value) for value in row) for row in rows]
    return ("\n".join(lines) + "\n").encode()


def _encode_parquet(report: Report) -> bytes:
    pyarrow: Any = importlib.import_module("pyarrow")
    parquet: Any = importlib.import_module("pyarrow.parquet")
    buffer = io.BytesIO()
    parquet.write_table(pyarrow.table(flat_columns(report)), buffer)
    return buffer.getvalue()
