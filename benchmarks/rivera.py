"""Rough contours in the plane: Rivera's counts of boxes compared, time to build, and contacts and distances beside shapely.

Counts (Rivera 2002, figure 10): three objects of 512 segments each, 3,069 boxes, in three situations. The paper does not give its objects;
ours are stars of the same number of segments. It counts boxes, each once, however often one is compared; we print pairs as well.

Its tolerance 0.9σ loses contacts: how many, beside the bound, which loses none, and how many of its boxes hold their segments.

Times: two contours of 512 segments, a third of the poses each apart, near and overlapping. shapely gets polygons sampled to 1e-6 of
the size and must transform one of them for each pose, which is part of its time. For one query at a time poses are tuples.

`ABUT_RIVERA_SVG=docs/pictures/rivera-build.svg abut bench rivera` also draws the time to build over the number of segments.
"""

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from abut import scenes
from abut.app.bench import measure, table
from abut.contours import Contour, build_boxes, collide, collide_all, collide_tolerance, distance, meets
from abut.scenes.rough_contours import star_control

RIVERA = {"apart": 35, "two in contact": 171, "contacts between all": 459}
SIZES = (512, 4096, 32_768, 262_144, 1_000_000)
ASKED = {"do they meet": "15 / 60", "all points": "15 / 60", "distance": "500 / 500"}
"""Ratios to shapely that are asked for: one at a time, and many in one call."""
SAMPLED = 1e-6
POSES = 9_999
PEER_POSES = 300
LOST_POSES = 150
OBJECTS = (1, 2, 5, 10, 20, 50)
PEER_DISTANCES = 30


def show_counts(console: Console) -> None:
    scene = scenes.rough_contours()
    boxes = sum(len(contour.boxes) for contour in scene.contours)
    columns = ("situation", "0.9σ", "bound", "paper", "pairs of boxes, 0.9σ", "exact", "segments", "contacts", "time")
    answer = table(f"Rivera's table: how many of {boxes:,} boxes are compared", *columns)
    for name, poses in scene.situations.items():
        near = np.array([(0, 1), (0, 2), (1, 2)])
        _, hits = collide_all(scene.contours, poses, near)
        spent = measure(lambda: collide_all(scene.contours, poses, near), seconds=0.5)  # noqa: B023
        rivera, bound = (collide_tolerance(scene.contours, poses, increment=way) for way in ("rivera", "bound"))
        answer.add_row(
            name,
            f"{rivera.boxes_compared}",
            f"{bound.boxes_compared}",
            f"{RIVERA[name]}",
            f"{rivera.contacts.boxes_compared.sum()}",
            f"{hits.boxes_compared.sum()}",
            f"{hits.segments_compared.sum()}",
            f"{len(hits)}",
            str(spent),
        )
    console.print(answer)


def show_lost(console: Console) -> None:
    columns = ("segments", "detail", "boxes that hold", "contacts", "lost by 0.9σ", "lost by the bound")
    answer = table(f"what a tolerance of 0.9σ loses: two rough contours at {LOST_POSES} poses", *columns)
    for count, detail in ((512, 1), (512, 2), (512, 8), (128, 8)):
        pair = [Contour(star_control(count, seed), 0.004, detail=detail, seed=seed) for seed in (1, 2)]
        rng = np.random.default_rng(0)
        lost, found = np.zeros(2, int), 0
        for _ in range(LOST_POSES):
            poses = [(*rng.uniform(-0.6, 0.6, 2), rng.uniform(0, 6)), (0, 0, 0)]
            answers = [collide_tolerance(pair, poses, increment=way) for way in ("rivera", "bound")]
            lost += [int(each.lost.sum()) for each in answers]
            found += len(answers[1])
        held = np.concatenate([each.tolerance_boxes().holds(each.segments) for each in pair]).mean()
        answer.add_row(f"{count}", f"{detail}", f"{100 * held:.0f} %", f"{found:,}", f"{lost[0]}", f"{lost[1]}")
    console.print(answer)


def show_objects(console: Console) -> None:
    """Figure 6b: time to build the trees of many objects of 256 segments."""
    columns = ("objects", "boxes", "fit to basic", "fit to children")
    answer = table("figure 6b: trees of objects of 256 segments each", *columns)
    spent: dict[str, list[float]] = {"basic": [], "children": []}
    segments = [Contour(star_control(256, seed)).segments for seed in range(OBJECTS[-1])]
    for count in OBJECTS:
        row = []
        for fit, times in spent.items():
            timing = measure(lambda: [build_boxes(each, fit=fit) for each in segments[:count]], seconds=0.3, at_least=3)  # noqa: B023
            times.append(timing.median)
            row.append(str(timing))
        answer.add_row(f"{count}", f"{count * 511:,}", *row)
    console.print(answer)
    for fit, times in spent.items():
        power = np.polyfit(np.log(OBJECTS), np.log(times), 1)[0]
        console.print(f"fit to {fit}: time grows as n^{power:.2f} from {OBJECTS[0]} to {OBJECTS[-1]} objects")


def show_build(console: Console) -> None:
    columns = ("segments", "fit to basic", "a segment", "fit to children", "a segment", "boxes compared")
    answer = table("building the tree; boxes compared: fit to basic boxes / to children", *columns)
    rng = np.random.default_rng(0)
    spent: dict[str, list[float]] = {"basic": [], "children": []}
    for count in SIZES:
        a, b = Contour(star_control(count, 1)), Contour(star_control(count, 2))
        row = [f"{count:,}"]
        for fit, times in spent.items():
            timing = measure(lambda: build_boxes(a.segments, fit=fit), seconds=0.5, at_least=3)  # noqa: B023
            times.append(timing.median)
            row += [str(timing), f"{timing.median / count * 1e9:.0f} ns"]
        poses = np.stack([*rng.uniform(-0.6, 0.6, (2, 60)), rng.uniform(0.0, 7.0, 60)], axis=1)
        compared = []
        for fit in spent:
            pair = [Contour.from_segments(contour.segments) for contour in (a, b)]
            for contour in pair:
                contour.__dict__["boxes"] = build_boxes(contour.segments, fit=fit)
            compared.append(collide(*pair, poses=poses).boxes_compared.mean())
        answer.add_row(*row, f"{compared[0]:.0f} / {compared[1]:.0f}")
    console.print(answer)
    for fit, times in spent.items():
        power = np.polyfit(np.log(SIZES), np.log(times), 1)[0]
        console.print(f"fit to {fit}: time grows as n^{power:.2f} from {SIZES[0]:,} to {SIZES[-1]:,} segments")
    if "ABUT_RIVERA_SVG" in os.environ:
        Path(os.environ["ABUT_RIVERA_SVG"]).write_text(plot(spent), encoding="utf-8")


def plot(spent: dict[str, list[float]]) -> str:
    """Time to build over the number of segments, both in powers of ten; the dashed line is linear."""

    def at(count: float, seconds: float) -> str:
        return f"{60 + 120 * (np.log10(count) - 2):.1f} {330 - 60 * (np.log10(seconds) + 5):.1f}"

    parts = []
    for k in range(3, 7):
        x, y = at(10**k, 1e-5).split()
        parts.append(
            f'<path d="M{x} {y}V30" stroke="#ddd"/><text x="{x}" y="350" text-anchor="middle">{10**k:,}</text>'
        )
    for k, label in enumerate(("10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s"), -5):
        x, y = at(100, 10.0**k).split()
        parts.append(f'<path d="M{x} {y}H560" stroke="#ddd"/><text x="52" y="{y}" text-anchor="end">{label}</text>')
    first = spent["children"][0]
    parts.append(
        f'<path d="M{at(SIZES[0], first)}L{at(SIZES[-1], first * SIZES[-1] / SIZES[0])}" stroke="#999" stroke-dasharray="4"/>'
    )
    for (fit, times), color in zip(spent.items(), ("#c0392b", "#1f618d"), strict=True):
        way = "L".join(at(n, t) for n, t in zip(SIZES, times, strict=True))
        x, y = at(SIZES[-1], times[-1]).split()
        parts.append(f'<path d="M{way}" stroke="{color}" stroke-width="2" fill="none"/>')
        below = 40 if fit == "children" else -8
        parts.append(
            f'<text x="{float(x) - 8:.0f}" y="{float(y) + below:.0f}" fill="{color}" text-anchor="end">{fit}</text>'
        )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 370" font-family="system-ui,sans-serif" font-size="13" fill="#333">'
        f'<rect width="600" height="370" fill="#fff"/>{"".join(parts)}<text x="300" y="366" text-anchor="middle">segments</text></svg>\n'
    )


def make_poses(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Poses x, y, angle, and the third they belong to: apart, near, overlapping."""
    rng = np.random.default_rng(7)
    third = np.arange(count) % 3
    away = np.select(
        [third == 0, third == 1],
        [rng.uniform(1.3, 3.0, count), rng.uniform(0.8, 1.05, count)],
        rng.uniform(0.05, 0.6, count),
    )
    way = rng.uniform(0.0, 2.0 * np.pi, count)
    return np.stack([away * np.cos(way), away * np.sin(way), rng.uniform(0.0, 2.0 * np.pi, count)], axis=1), third


def sample(contour: Contour) -> np.ndarray:
    """Corners within SAMPLED of the curve: chords of equal parameters, as few a segment as its second derivative allows."""
    second = np.diff(contour.segments, n=2, axis=1)
    bend = 6.0 * np.hypot(second[..., 0], second[..., 1]).max(axis=1)
    pieces = np.maximum(1, np.ceil(np.sqrt(bend / (8.0 * SAMPLED)))).astype(int)
    return contour.point(np.concatenate([i + np.arange(m) / m for i, m in enumerate(pieces)]))


def least_time(call: Any, rounds: int) -> float:
    """Seconds of one call, the least of several."""
    call()
    best = np.inf
    for _ in range(rounds):
        begin = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - begin)
    return best


class Peer:
    """shapely, asked the same."""

    def __init__(self, a: Contour, b: Contour) -> None:
        import shapely

        self.shapely: Any = shapely
        self.corners = sample(a)
        self.other: Any = shapely.Polygon(sample(b))
        self.ring: Any = self.other.exterior
        shapely.prepare(self.other)
        shapely.prepare(self.ring)

    def place(self, pose: np.ndarray) -> Any:
        x, y, angle = pose
        c, s = np.cos(angle), np.sin(angle)
        return self.shapely.Polygon(self.corners @ np.array([[c, s], [-s, c]]) + (x, y))

    def meets(self, pose: np.ndarray) -> bool:
        return self.other.intersects(self.place(pose))

    def points(self, pose: np.ndarray) -> Any:
        return self.ring.intersection(self.place(pose).exterior)

    def distance(self, pose: np.ndarray) -> float:
        return self.other.distance(self.place(pose))


def time_each(call: Any, poses: list[Any], rounds: int = 8) -> float:
    """Seconds of one call, the least over rounds of the mean."""
    for pose in poses[:3]:
        call(pose)
    best = np.inf
    for _ in range(rounds):
        begin = time.perf_counter()
        for pose in poses:
            call(pose)
        best = min(best, (time.perf_counter() - begin) / len(poses))
    return best


def compare(console: Console, a: Contour, b: Contour, title: str) -> None:
    poses, _ = make_poses(POSES)
    tuples = [tuple(pose) for pose in poses[:PEER_POSES].tolist()]
    ours = {
        "do they meet": (lambda p: meets(a, b, pose=p), lambda: meets(a, b, poses=poses)),
        "all points": (lambda p: collide(a, b, pose=p), lambda: collide(a, b, poses=poses)),
        "distance": (lambda p: distance(a, b, pose=p), lambda: distance(a, b, poses=poses)),
    }
    try:
        peer = Peer(a, b)
    except ImportError:
        peer = None
    corners = f"; shapely: {len(peer.corners):,} corners" if peer else ""
    columns = ("a pose", "one at a time", "one call", "shapely", "ratio, one", "ratio, call", "asked")
    answer = table(f"{title}: {len(a)} segments, {POSES:,} poses{corners}", *columns)
    for name, (one, many) in ours.items():
        single = time_each(one, tuples)
        batch = least_time(many, 12) / POSES
        row = [f"{single * 1e6:.2f} µs", f"{batch * 1e6:.2f} µs"]
        if peer:
            ask = {"do they meet": peer.meets, "all points": peer.points, "distance": peer.distance}[name]
            theirs = time_each(ask, list(poses[: PEER_DISTANCES if name == "distance" else PEER_POSES]), 3)
            row += [f"{theirs * 1e6:.1f} µs", f"{theirs / single:.0f}", f"{theirs / batch:.0f}"]
        else:
            row += ["not installed", "", ""]
        answer.add_row(name, *row, ASKED[name])
    console.print(answer)


def show_coincident(console: Console) -> None:
    contour = scenes.rough_contours().contours[0]
    answer = table("a contour against itself, moved", "by", "contacts", "segments", "time")
    for shift in (0.0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3):
        pose = (0.6 * shift, 0.8 * shift, 0.0)
        hits = collide(contour, contour, pose=pose)
        kinds = np.bincount(hits.kind, minlength=3)
        words = f"{kinds[0]} crossings, {kinds[1]} touches, {kinds[2]} stretches"
        spent = measure(lambda: collide(contour, contour, pose=pose), seconds=0.3)  # noqa: B023
        answer.add_row(f"{shift:g}", words, f"{hits.segments_compared[0]}", str(spent))
    console.print(answer)


def run(console: Console) -> None:
    show_counts(console)
    show_lost(console)
    show_objects(console)
    for title, roughness in (("smooth", 0.0), ("rough", 0.004)):
        compare(console, *(Contour(star_control(512, seed), roughness, detail=1, seed=seed) for seed in (1, 2)), title)
    show_coincident(console)
    show_build(console)


if __name__ == "__main__":
    run(Console(width=100))
