"""The whole check: what of an animation is computed, kept and put together.

Frames and steps are independent: each is taken from the store where it has been computed before, else computed, and kept in the store at once.
Rows are put together at the end, in order of frames, so the answer does not depend on how many workers there are or on how often the job was
interrupted.

A bad frame is named with its reason. The step to it and the step from it are not checked, and are named as well; nothing bridges the gap. Nor is a
step between two frames of different connectivity; the frames themselves are.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from abut.app.check.bodies import Ensemble
from abut.app.check.cluster import compute_on_cluster
from abut.app.check.findings import Checked, Labels, Rows
from abut.app.check.frames import Frames
from abut.app.check.incidents import Incidents, find_incidents
from abut.app.check.keys import Keys, take_stored
from abut.app.check.rows import join, select, shift
from abut.app.check.search import Options, Outcome, Unit
from abut.app.check.shard import Kept, keep
from abut.app.check.store import Store
from abut.app.check.tally import KINDS, Tally
from abut.app.check.workers import compute
from abut.app.output.exit_codes import BAD_INPUT, CLEAN, COLLISIONS
from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput

MOST_FINDINGS = 1_000_000
MOST_JOBS = 1024


class Progress(NamedTuple):
    """Where the job stands, reported after each frame."""

    done: int
    """frames done, each with the step that leaves it"""
    total: int
    found: int
    """collisions found so far"""


class Report(NamedTuple):
    """The answer. Numbers of frames count from 0."""

    names: list[str]
    labels: Labels
    """the bodies, and what belongs to each"""
    options: Options
    findings: Rows
    """all rows, or the first `max_findings` of them"""
    counts: Integers
    """(k,4) collisions of each frame and the step that leaves it, also those not among the rows: vertex-face, edge-edge, face-face, contained"""
    first: Rows
    """the earliest collision; no row where there is none"""
    worst_impacts: Rows
    """the ten deepest between frames"""
    longest_cuts: Rows
    """the ten longest cuts at frames"""
    bad: dict[int, str]
    """frames that could not be read or searched, by number: the reason"""
    skipped: dict[int, str]
    """steps that were not checked, by the number of the frame they leave: the reason"""
    gaps: dict[int, str]
    """steps over frames that the numbers in the files' names leave out, by the number of the frame they leave: what is missing"""
    reused: int
    """frames and steps that had been computed before"""
    seconds: float
    incidents: Incidents
    """which of the rows belong together in place and time"""
    workers: dict[str, int]
    """workers of a cluster by name: the most memory each has taken, in bytes"""

    @property
    def found(self) -> int:
        """How many collisions there are."""
        return int(self.counts.sum())

    @property
    def exit_code(self) -> int:
        """CLEAN, COLLISIONS, or BAD_INPUT where nothing collides but not everything could be checked."""
        if self.found:
            return COLLISIONS
        return BAD_INPUT if self.bad or self.skipped else CLEAN

    @property
    def step_count(self) -> int:
        """How many steps there are, checked or not; 0 where steps are not searched."""
        return len(self.names) - 1 if self.options.between else 0


class _Job:
    """What is known so far: the keys of all results, which of them are in the store, counts and extremes."""

    def __init__(self, frames: Ensemble, options: Options, store: Store, report: Callable[[Progress], None]) -> None:
        self.frames, self.options, self.store, self.report = frames, options, store, report
        self.keys: dict[int, dict[bool, str]] = {}
        self.counts = np.zeros((len(frames), len(KINDS)), np.int64)
        self.tally = Tally.empty()
        self.bad: dict[int, str] = {}
        self.skipped: dict[int, str] = {}
        self.done = 0
        self.workers: dict[str, int] = {}

    def units(self) -> Iterator[Unit]:
        """The units to compute. What is in the store is counted at once."""
        keys = Keys(self.frames, self.options)
        for i in range(len(self.frames)):
            self.keys[i] = keys.of(i)
            tally, unit = take_stored(i, self.keys[i], self.store)
            self._count(i, tally)
            if unit.at_frame or unit.between:
                yield unit
            else:
                self._advance()

    def take(self, outcome: Outcome) -> None:
        """Keep what was computed."""
        self._count(outcome.frame, keep(outcome, self.keys[outcome.frame], self.store))
        self._name(outcome.frame, outcome.bad, outcome.skipped)
        self._advance()

    def take_kept(self, kept: Kept) -> None:
        """Count what a worker of a cluster has kept."""
        self.keys[kept.frame] = kept.keys
        self._count(kept.frame, kept.tally)
        self._name(kept.frame, kept.bad, kept.skipped)
        self.workers[kept.worker] = max(kept.memory, self.workers.get(kept.worker, 0))
        self._advance()

    def _name(self, frame: int, bad: dict[int, str], skipped: str) -> None:
        self.bad.update(bad)
        if skipped:
            self.skipped[frame] = skipped

    def _count(self, frame: int, tally: Tally) -> None:
        self.counts[frame] += tally.counts
        self.tally = self.tally.add(tally)

    def _advance(self) -> None:
        self.done += 1
        self.report(Progress(self.done, len(self.frames), int(self.counts.sum())))

    def findings(self, most: int) -> Rows:
        """The rows, from the store, in order of frame, kind, a and b."""
        parts: list[Rows] = []
        kept = 0
        for i in np.flatnonzero(self.counts.sum(axis=1)).tolist():
            for step, own in ((True, self.counts[i, :2]), (False, self.counts[i, 2:])):
                if own.sum() and kept < most:
                    rows = self.store.get(self.keys[i][step])
                    if rows is None:
                        raise InvalidInput(str(self.store), "has been changed by others while the job ran")
                    parts.append(shift(select(rows, slice(most - kept)), i))
                    kept += len(parts[-1].kind)
        return join(parts)


def check(
    frames: Frames | Ensemble,
    options: Options | None = None,
    *,
    store: Store,
    jobs: int = 1,
    cluster: str | None = None,
    max_findings: int = MOST_FINDINGS,
    report: Callable[[Progress], None] = lambda _: None,
) -> Report:
    """Search an animation for collisions with itself.

    KeyboardInterrupt comes through; all that was computed until then is in the store.

    Args:
        frames: the animation, of one body or of several.
        options: what is searched; everything by default.
        store: where results are kept, and found by a later call.
        jobs: how many processes; each uses its share of the threads. The answer is the same whatever their number.
        cluster: the address of a Dask scheduler whose workers compute everything, or "local" for `jobs` workers here.
        max_findings: how many rows are kept in memory. All are counted, and all are in the store.
        report: called after each frame.

    Raises:
        InvalidInput: where nothing is to be searched, a number is out of range, or no frame can be read.
    """
    chosen = options or Options()
    if not (chosen.at_frames or chosen.between):
        raise InvalidInput("options", "neither frames nor the steps between them are to be searched")
    arrays.scalar(chosen.min_distance, "min_distance", least=0.0)
    worker_count = arrays.count(jobs, "jobs", least=1, most=MOST_JOBS)
    most = arrays.count(max_findings, "max_findings", least=1)
    start = time.perf_counter()
    bodies = frames if isinstance(frames, Ensemble) else Ensemble({"": frames})
    chosen.distances(bodies.labels)  # names that no body has are refused before the work
    job = _Job(bodies, chosen, store, report)
    if cluster is None:
        compute(job.units(), bodies, chosen, worker_count, job.take)
    else:
        compute_on_cluster(bodies, chosen, store, cluster, worker_count, job.take_kept)
    findings = job.findings(most)
    return Report(
        frames.names,
        bodies.labels,
        chosen,
        findings,
        frozen(job.counts),
        job.tally.first,
        job.tally.worst_impacts,
        job.tally.longest_cuts,
        dict(sorted(job.bad.items())),
        dict(sorted(job.skipped.items())),
        frames.find_gaps() if chosen.between else {},
        job.tally.reused,
        time.perf_counter() - start,
        find_incidents(bodies.mesh, findings, bodies.labels),
        job.workers,
    )


class _Shown(Sequence[Floats]):
    """Vertices of frames, read when they are asked for. In place of a bad one stands the one before it, or the first that can be read."""

    def __init__(self, frames: Frames | Ensemble, bad: dict[int, str]) -> None:
        self._frames, self._bad = frames, bad

    def __len__(self) -> int:
        return len(self._frames)

    def __getitem__(self, i: int) -> Floats:  # pyright: ignore[reportIncompatibleMethodOverride]
        if not 0 <= i < len(self):
            raise IndexError(i)
        while i in self._bad:
            i -= 1
        if i < 0:
            return self._frames.mesh.vertices
        vertices, other = self._frames.shape(i)
        return vertices if other is None else np.empty((0, 3))


def as_checked(frames: Frames | Ensemble, report: Report) -> Checked:
    """What the report page shows."""
    bad = [(frames.names[i], reason) for i, reason in report.bad.items()]
    for i, reason in report.skipped.items():
        if i not in report.bad and i + 1 not in report.bad:
            bad.append((f"{frames.names[i]} → {frames.names[i + 1]}", reason))
    labels = report.labels if len(report.labels.names) > 1 else None
    shown = _Shown(frames, report.bad)
    return Checked(frames.names, frames.faces, shown, report.findings, bad, report.seconds, labels, report.incidents)
