"""How the cost of a fixed contact grows as the meshes grow from 1,000 to 1,000,000 triangles: like log n.

Two bumpy bodies are brought together along seeded directions until they touch, then moved by a depth or a gap of DEPTH·1000/n: the facets that meet
are about as many at every size, since a dent of depth d in a round body is √d wide and facets are 1/√n. So only the way to them grows. The table
has medians over the directions, Python call included, and the tests of boxes.

`ABUT_GROWTH_SVG=docs/pictures/growth.svg abut bench growth` also draws the picture of the docs.
"""

import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from scipy.spatial.transform import Rotation

import abut
from abut.app.bench import table

SIZES = (1_000, 4_000, 16_000, 64_000, 250_000, 1_000_000)
DIRECTIONS = 32
ROUNDS = 9
DEPTH = 0.02  # at 1,000 faces, in radii
TOUCHING = 1e-9  # the gap at which bodies count as touching: 2 % of the smallest depth
QUESTIONS = ("near miss", "first contact", "all contacts", "distance")
COLORS = {"near miss": "#4c78a8", "first contact": "#72a04c", "all contacts": "#e4572e", "distance": "#8a6bb0"}


class Row(NamedTuple):
    """Medians at one size, by question: microseconds and, where they are counted, tests of boxes; and the pairs in contact."""

    faces: int
    micros: dict[str, float]
    box_tests: dict[str, float]
    pairs: float


def make_poses(a: abut.Rigid, b: abut.Rigid) -> tuple[np.ndarray, np.ndarray]:
    """Poses of b (k,4,4) at which it touches a, and the directions (k,3) in which it came."""
    rng = np.random.default_rng(5)
    poses, directions = np.tile(np.eye(4), (DIRECTIONS, 1, 1)), rng.normal(size=(DIRECTIONS, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    for pose, direction in zip(poses, directions, strict=True):
        pose[:3, :3] = Rotation.random(rng=rng).as_matrix()
        pose[:3, 3] = 3.0 * direction
        for _ in range(100):  # never passes the first contact
            b.pose = pose
            gap = abut.distance(a, b).distance
            if gap < TOUCHING:
                break
            pose[:3, 3] -= gap * direction
    return poses, directions


def measure_poses(b: abut.Rigid, poses: np.ndarray, ask: Callable[[], object]) -> float:
    """Median microseconds of a question over the poses, from the median round of each."""
    times = np.empty((ROUNDS + 1, len(poses)))
    for round_times in times:
        for i, pose in enumerate(poses):
            b.pose = pose
            start = time.perf_counter()
            ask()
            round_times[i] = time.perf_counter() - start
    return float(np.median(np.median(times[1:], axis=0))) * 1e6  # the first round warms up


def measure_size(faces: int) -> Row:
    a, b = (abut.Rigid(abut.scenes.bumpy(faces, seed=seed)) for seed in (1, 2))
    touching, directions = make_poses(a, b)
    shift = np.zeros_like(touching)
    shift[:, :3, 3] = directions * DEPTH * 1000 / faces
    apart, meeting = touching + shift, touching - shift
    asked = {
        "near miss": (apart, lambda: abut.collide(a, b, first=True)),
        "first contact": (meeting, lambda: abut.collide(a, b, first=True)),
        "all contacts": (meeting, lambda: abut.collide(a, b)),
        "distance": (apart, lambda: abut.distance(a, b)),
    }
    micros, box_tests, pairs = {}, {}, 0.0
    for question, (poses, ask) in asked.items():
        micros[question] = measure_poses(b, poses, ask)
        if question != "distance":
            contacts = []
            for b.pose in poses:
                contacts.append(ask())
                assert bool(contacts[-1]) == (poses is meeting)
            box_tests[question] = float(np.median([each.box_tests for each in contacts]))
            pairs = float(np.median([len(each) for each in contacts]))
    return Row(faces, micros, box_tests, pairs)


def print_rows(console: Console, rows: list[Row]) -> None:
    result = table(
        "a fixed contact, µs (box tests); the last line is the growth",
        "faces of each",
        "log₂ n",
        *QUESTIONS,
        "pairs in contact",
    )
    for row in rows:
        cells = [
            f"{row.micros[q]:.2f}" + (f" ({row.box_tests[q]:,.0f})" if q in row.box_tests else "") for q in QUESTIONS
        ]
        result.add_row(f"{row.faces:,}", f"{math.log2(row.faces):.1f}", *cells, f"{row.pairs:.0f}")
    first, last = rows[0], rows[-1]
    cells = [f"×{last.micros[q] / first.micros[q]:.2f}" for q in QUESTIONS]
    for i, q in enumerate(QUESTIONS):
        if q in first.box_tests:
            cells[i] += f" (×{last.box_tests[q] / first.box_tests[q]:.2f})"
    result.add_section()
    result.add_row(
        f"×{last.faces / first.faces:,.0f}", f"×{math.log2(last.faces) / math.log2(first.faces):.2f}", *cells, ""
    )
    console.print(result)
    for name, values in (("µs", [row.micros for row in rows]), ("tests of boxes", [row.box_tests for row in rows])):
        slopes = [f"{fit_slope(rows, [each[q] for each in values])} ({q})" for q in values[0]]
        console.print(f"Each doubling of the faces adds, in {name}: {', '.join(slopes)}.", soft_wrap=True)


def fit_slope(rows: list[Row], values: list[float]) -> str:
    """The growth for each doubling of n by least squares, and how much of the variance log n explains."""
    doublings = np.log2([row.faces for row in rows])
    slope = np.polyfit(doublings, values, 1)[0]
    return f"{slope:.3g}, R² {np.corrcoef(doublings, values)[0, 1] ** 2:.2f}"


# --- the picture: n on a logarithmic axis and cost on a plain one, so that log n is a straight line


def plot(rows: list[Row], left: float, title: str, values: Callable[[Row], dict[str, float]]) -> list[str]:
    """One set of axes, from `left` on, with a line for each question."""
    width, height, top = 250, 240, 50
    highest = max(max(values(row).values()) for row in rows)
    unit = 10 ** math.floor(math.log10(highest))
    step = next(unit * k for k in (0.2, 0.5, 1, 2) if highest / (unit * k) <= 6)
    ceiling = step * math.ceil(highest / step)

    def at(faces: int, value: float) -> tuple[float, float]:
        across = math.log(faces / rows[0].faces) / math.log(rows[-1].faces / rows[0].faces)
        return left + width * across, top + height * (1 - value / ceiling)

    parts = [f'<text x="{left}" y="{top - 20}" font-weight="bold">{title}</text>']
    for i in range(round(ceiling / step) + 1):
        y = at(rows[0].faces, i * step)[1]
        parts.append(f'<path d="M{left} {y:.1f}h{width}" stroke="#ddd"/>')
        parts.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{i * step:g}</text>')
    for row in rows:
        x = at(row.faces, 0.0)[0]
        name = f"{row.faces // 1000}k" if row.faces < 1_000_000 else f"{row.faces // 1_000_000}M"
        parts.append(f'<text x="{x:.1f}" y="{top + height + 20}" text-anchor="middle">{name}</text>')
    for question, color in COLORS.items():
        if question in values(rows[0]):
            points = [at(row.faces, values(row)[question]) for row in rows]
            line = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
            parts.append(f'<path d="M{line}" fill="none" stroke="{color}" stroke-width="2.5"/>')
            parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{color}"/>' for x, y in points]
    return parts


def draw(path: Path, rows: list[Row]) -> None:
    """Write the picture: time and tests of boxes against the number of faces."""
    contact = plot(rows, 50, "collide, µs", lambda row: {q: row.micros[q] for q in row.box_tests})
    boxes = plot(rows, 380, "collide, tests of boxes", lambda row: row.box_tests)
    gap = plot(rows, 710, "distance, µs", lambda row: {"distance": row.micros["distance"]})
    parts = contact + boxes + gap
    for i, (question, color) in enumerate(COLORS.items()):
        x = 50 + 150 * i
        parts.append(f'<path d="M{x} 345h22" stroke="{color}" stroke-width="2.5"/>')
        parts.append(f'<text x="{x + 28}" y="349">{question}</text>')
    parts.append('<text x="975" y="349" text-anchor="end">triangles of each body →</text>')
    path.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 365" font-family="system-ui,sans-serif" font-size="13"'
        f' fill="#333"><rect width="1000" height="365" fill="#fff"/>{"".join(parts)}</svg>\n',
        encoding="utf-8",
    )


def run(console: Console) -> None:
    rows = [measure_size(faces) for faces in SIZES]
    print_rows(console, rows)
    picture = os.environ.get("ABUT_GROWTH_SVG")
    if picture:
        draw(Path(picture), rows)
        console.print(f"The picture is {picture}.")
