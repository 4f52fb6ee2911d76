"""Nesting on a strip, beside spyrrow and a bottom-left placement with shapely: used length in the same time, on one thread each.

The instances are those of the cutting-and-packing literature in shared/data/nesting, beside the checkout, and 24 rough spline pieces of
12 kinds, which as polygons have thousands of corners; both get the same polygons. Every layout is verified by exact signs. spyrrow does not
count what it prepares against its budget, which is ten times the budget for the rough pieces; abut gets as many seconds of the clock as spyrrow
took, and its own preparation counts. What is not installed or not there is left out.
"""

import json
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

from abut.app.bench import table
from abut.contours import Contour, nest
from abut.contours.nesting.pieces import read_kind
from abut.contours.nesting.tables import turn
from abut.contours.nesting.verify import find_overlap

SECONDS = (3.0, 12.0)
FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data" / "nesting"
NAMES = ("shapes0", "shirts", "swim", "trousers", "jakobs1")
GRID = 40
"""Places along the height that the bottom-left placement tries."""


class Instance(NamedTuple):
    name: str
    pieces: list[Any]
    copies: list[int]
    rotations: list[list[float]]
    height: float


def load(name: str) -> Instance:
    document = json.loads((FOLDER / f"{name}.json").read_text())
    items = document["items"]
    return Instance(
        name,
        [np.array(item["shape"]["data"], float) for item in items],
        [item["demand"] for item in items],
        [item["allowed_orientations"] for item in items],
        document["strip_height"],
    )


def rough() -> Instance:
    """Star-like contours of 64 control points with noise of 0.4 % of their size, as polygons that hold them."""
    rng = np.random.default_rng(5)
    pieces: list[Any] = []
    for seed in range(12):
        angle = np.linspace(0.0, 2 * np.pi, 64, endpoint=False)
        waves = [
            a * np.cos(k * angle + p)
            for k, a, p in zip((2, 3, 5), rng.uniform(0, 0.25, 3), rng.uniform(0, 6, 3), strict=True)
        ]
        radius = rng.uniform(0.5, 1.0) * (1.0 + np.sum(waves, axis=0))
        control = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
        contour = Contour(control, roughness=0.004, seed=seed)
        pieces.append(contour.flatten(2e-4, outer=True))
    return Instance("rough", pieces, [2] * len(pieces), [[0.0, 90.0, 180.0, 270.0]] * len(pieces), 6.0)


def with_abut(instance: Instance, seconds: float) -> tuple[float, float]:
    start = time.perf_counter()
    layout = nest(
        instance.pieces,
        (None, instance.height),
        copies=instance.copies,
        rotations_deg=instance.rotations,
        seconds=seconds,
    )
    assert layout.find_overlap() is None
    return layout.length, time.perf_counter() - start


def with_spyrrow(instance: Instance, seconds: float) -> tuple[float, float, bool]:
    import spyrrow

    items = [
        spyrrow.Item(str(k), [tuple(p) for p in np.asarray(piece).tolist()], n, r)
        for k, (piece, n, r) in enumerate(zip(instance.pieces, instance.copies, instance.rotations, strict=True))
    ]
    job = spyrrow.StripPackingInstance(instance.name, strip_height=instance.height, items=items)
    options = spyrrow.StripPackingConfig(
        early_termination=False, total_computation_time=round(seconds), num_workers=1, seed=1
    )
    start = time.perf_counter()
    solution = job.solve(options)
    spent = time.perf_counter() - start
    polygons = []
    for placed in solution.placed_items:
        kind = read_kind(instance.pieces[int(placed.id)], 0, ())
        local, origin = kind.polygon, kind.origin
        polygons.append(turn(local + origin, placed.rotation) + np.array(placed.translation))
    return solution.width, spent, find_overlap(polygons) is None


def with_shapely(instance: Instance) -> tuple[float, float]:
    """Bottom-left: largest first, each as far left as a grid of places lets it."""
    from shapely import affinity, prepare
    from shapely.geometry import Polygon

    start = time.perf_counter()
    order = [k for k, n in enumerate(instance.copies) for _ in range(n)]
    order.sort(key=lambda k: -Polygon(instance.pieces[k]).area)
    placed: list[Any] = []
    step = instance.height / GRID
    for k in order:
        best: tuple[float, Any] | None = None
        for angle in instance.rotations[k]:
            shape = affinity.rotate(Polygon(instance.pieces[k]), angle, origin=(0, 0))
            low_x, low_y, _, high_y = shape.bounds
            for y in np.arange(0.0, instance.height - (high_y - low_y) + 1e-12, step):
                x = 0.0
                while best is None or x < best[0]:
                    moved = affinity.translate(shape, x - low_x, y - low_y)
                    if not any(other.intersects(moved) for other in placed):
                        best = (x, moved)
                        break
                    x += step
        assert best is not None
        prepare(best[1])
        placed.append(best[1])
    return max(shape.bounds[2] for shape in placed), time.perf_counter() - start


def compare(instance: Instance, seconds: float) -> list[str]:
    """One row of the table, up to the ratio."""
    corners = sum(len(piece) * n for piece, n in zip(instance.pieces, instance.copies, strict=True))
    try:
        other, allowed, clean = with_spyrrow(instance, seconds)
    except ImportError:
        other, allowed, clean = np.nan, seconds, False
    length, spent = with_abut(instance, allowed)
    row = [instance.name, f"{corners:,}", f"{seconds:g}", f"{length:.5g}", f"{spent:.1f}"]
    if np.isnan(other):
        return [*row, *"––––"]
    return [*row, f"{other:.5g}", f"{allowed:.1f}", "yes" if clean else "no", f"{length / other:.3f}"]


def run(console: Console) -> None:
    instances = [load(name) for name in NAMES if (FOLDER / f"{name}.json").exists()] + [rough()]
    if len(instances) == 1:
        console.print(
            "the instances of the literature do not lie beside this checkout: only the rough pieces are nested"
        )
    nest(instances[-1].pieces[:2], (None, 6.0), moves=20)  # compiles
    columns = ("instance", "corners", "budget", "abut", "s", "spyrrow", "s", "clean", "ratio", "shapely", "s")
    result = table("used length, seconds taken; ratio: abut to spyrrow; shapely: bottom-left", *columns)
    for instance in instances:
        for seconds in SECONDS:
            row = compare(instance, seconds)
            if seconds == SECONDS[0] and instance.name != "rough":  # with thousands of corners it takes minutes
                try:
                    length, spent = with_shapely(instance)
                    row += [f"{length:.5g}", f"{spent:.1f}"]
                except ImportError:
                    row += ["–", "–"]
            result.add_row(*row)
    console.print(result)
