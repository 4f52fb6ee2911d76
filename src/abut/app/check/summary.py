"""Results of a check for people: a table of facts, the worst pairs, and what could not be checked."""

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from abut.app.check.findings import Contact, Rows
from abut.app.check.job import Report

FEATURES = {
    Contact.VERTEX_FACE: ("vertex", "face"),
    Contact.EDGE_EDGE: ("edge", "edge"),
    Contact.FACE_FACE: ("face", "face"),
    Contact.CONTAINED: ("face", "the piece around it, at face"),
}
LISTED = 10  # bad frames and skipped steps that are named one by one
LARGEST = 3  # incidents that are described
SHOWN = 5  # rows of each table of worst pairs


def print_summary(report: Report, console: Console) -> None:
    """Print all of it."""
    console.print(_facts(report))
    _print_rows("deepest between frames", "depth", report, report.worst_impacts, console)
    _print_rows("longest cuts at frames", "length", report, report.longest_cuts, console)
    kept = len(report.findings.kind)
    if kept < report.found:
        console.print(f"The first {kept:,} of {report.found:,} collisions are kept as rows (--max-findings).")
    _print_list(
        "could not be read or searched", [f"{report.names[i]}: {why}" for i, why in report.bad.items()], console
    )
    steps = [f"{report.names[i]} → {report.names[i + 1]}: {why}" for i, why in report.skipped.items()]
    _print_list("steps not checked", steps, console)
    gaps = [f"{report.names[i]} → {report.names[i + 1]}: {why}" for i, why in report.gaps.items()]
    _print_list("steps over missing frames", gaps, console)


def verdict(report: Report) -> str:
    """One sentence."""
    if report.found:
        return f"{report.found:,} collisions found."
    return "No collision found, but not everything could be checked." if report.exit_code else "Clean: no collision."


def _facts(report: Report) -> Table:
    vertex_face, edge_edge, face_face, contained = report.counts.sum(axis=0).tolist()
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    bad = f", {len(report.bad):,} bad" if report.bad else ""
    if len(report.labels.names) > 1:
        table.add_row("bodies", escape(", ".join(report.labels.names)))
    table.add_row("frames", f"{len(report.names):,}{bad}: {_escape_span(report.names)}")
    if report.options.between:
        left = f", {len(report.skipped):,} not checked" if report.skipped else ""
        table.add_row("steps", f"{report.step_count:,}{left}")
        table.add_row("between frames", f"{vertex_face:,} vertex-face, {edge_edge:,} edge-edge")
    if report.options.at_frames:
        table.add_row("at frames", f"{face_face:,} pairs of faces in {int((report.counts[:, 2] > 0).sum()):,} frames")
        if contained:
            inside = int((report.counts[:, 3] > 0).sum())
            table.add_row("", f"{contained:,} pieces inside a closed one in {inside:,} frames")
    for pair, count in _count_pairs(report):
        table.add_row("", f"{escape(pair)}: {count:,}")
    if report.found:
        table.add_row("first", _describe_first(report))
        table.add_row("incidents", _describe_incidents(report))
    reused = f", {report.reused:,} results from an earlier run" if report.reused else ""
    table.add_row("time", f"{report.seconds:.1f} s{reused}")
    if report.workers:
        most = max(report.workers.values()) / 1e6
        table.add_row("cluster", f"{len(report.workers):,} worker processes, {most:,.0f} MB at most in one of them")
    return table


def _escape_span(names: list[str]) -> str:
    return escape(names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}")


def _count_pairs(report: Report) -> list[tuple[str, int]]:
    """How many of the rows each pair of bodies has, most first; nothing where there is one body."""
    names = report.labels.names
    if len(names) < 2 or not report.found:
        return []
    first, second = report.labels.of(report.findings)
    pairs, counts = np.unique(np.sort(np.stack((first, second), axis=1), axis=1), axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:LISTED]
    return [
        (f"{names[i]} with itself" if i == j else f"{names[i]} and {names[j]}", int(counts[k]))
        for k, (i, j) in ((k, pairs[k].tolist()) for k in order.tolist())
    ]


def _describe_first(report: Report) -> str:
    frame, kind, time = int(report.first.frame[0]), int(report.first.kind[0]), float(report.first.time[0])
    pair = escape(_name_pairs(report, report.first)[0])
    if kind >= Contact.FACE_FACE:
        return f"{pair} at {escape(report.names[frame])}"
    return f"{pair} at {time:.4f}, between {escape(report.names[frame])} and {escape(report.names[frame + 1])}"


def _describe_incidents(report: Report) -> str:
    """How many, and when those with most contacts begin and end."""
    _, start, end, _, counts = report.incidents
    totals = counts.sum(axis=1)
    largest = np.argsort(-totals, kind="stable")[:LARGEST].tolist()
    named = [f"{totals[k]:,} contacts from {start[k]:.2f} to {end[k]:.2f}" for k in largest]
    return f"{len(start):,}: " + "; ".join(named) + (" …" if len(start) > len(named) else "")


def _name_pairs(report: Report, rows: Rows) -> list[str]:
    """Both features of each row, with their bodies where there are several, and their numbers there."""
    names = report.labels.names
    body_a, body_b = report.labels.of(rows)
    own_a, own_b = report.labels.within(rows) if len(names) > 1 else (rows.a, rows.b)
    pairs: list[str] = []
    for i, kind in enumerate(rows.kind.tolist()):
        first, second = FEATURES[Contact(kind)]
        at_a, at_b = (f"{names[body[i]]} " if len(names) > 1 else "" for body in (body_a, body_b))
        pairs.append(f"{at_a}{first} {own_a[i]} and {at_b}{second} {own_b[i]}")
    return pairs


def _print_rows(title: str, measure: str, report: Report, rows: Rows, console: Console) -> None:
    if not len(rows.kind):
        return
    table = Table(title=title, title_justify="left", title_style="bold")
    for column in ("pair", "time", measure, "x", "y", "z"):
        table.add_column(column, justify="left" if column == "pair" else "right")
    pairs = _name_pairs(report, rows)
    for i in range(min(SHOWN, len(rows.kind))):
        table.add_row(
            escape(pairs[i]), f"{rows.time[i]:.4f}", f"{rows.depth[i]:.3g}", *(f"{x:.4g}" for x in rows.point[i])
        )
    console.print(table)


def _print_list(title: str, lines: list[str], console: Console) -> None:
    if not lines:
        return
    console.print(f"{title} ({len(lines):,}):", style="bold")
    for line in lines[:LISTED]:
        console.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)
    if len(lines) > LISTED:
        console.print(f"  and {len(lines) - LISTED:,} more; --json names them all")
