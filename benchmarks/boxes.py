"""Overlapping pairs of moving boxes: all at once for 100,000, beside ipctk and coal; and sweep and prune from frame to frame for 10,000.

Boxes of random sizes in a unit cube, about ten overlaps each, moving a tenth of their size a frame. abut returns the pairs, sorted, in NumPy;
ipctk and coal count them, and ipctk's are also read into NumPy (100,000 boxes, one frame). What is not installed is left out.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console

from abut import broad
from abut.app.bench import table
from abut.core.jit import limit_threads, thread_count

FRAMES = 20


def make(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Half sizes (n,3) and centres (frames, n, 3)."""
    rng = np.random.default_rng(5)
    size = (10 / (8 * count)) ** (1 / 3)
    half = size * rng.uniform(0.5, 1.5, (count, 3)) / 2
    centres = np.empty((FRAMES + 1, count, 3))
    centres[0] = rng.uniform(0, 1, (count, 3))
    velocity = rng.normal(size=(count, 3))
    velocity *= 0.1 * size / np.linalg.norm(velocity, axis=1, keepdims=True)
    for frame in range(FRAMES):
        after = centres[frame] + velocity
        velocity[(after < 0) | (after > 1)] *= -1
        centres[frame + 1] = centres[frame] + velocity
    return half, centres


def time_frames(call: Callable[[int], int], most: float = 5.0) -> tuple[float, int]:
    """Median seconds of a frame, and the pairs of the first; no more than about `most` seconds."""
    first, times, start = call(1), [], time.perf_counter()
    for frame in range(1, FRAMES + 1):
        before = time.perf_counter()
        call(frame)
        times.append(time.perf_counter() - before)
        if time.perf_counter() - start > most:
            break
    return float(np.median(times)), first


def ipctk_frames(half: np.ndarray, centres: np.ndarray, *, listed: bool) -> Callable[[int], int]:
    """A box is the box of an edge from corner to corner."""
    import ipctk

    count = len(half)
    edges = np.asfortranarray(np.stack([np.arange(count), np.arange(count) + count], axis=1).astype(np.int32))
    corners = [np.asfortranarray(np.concatenate([c - half, c + half])) for c in centres]
    mesh = ipctk.CollisionMesh(corners[0], edges, np.zeros((0, 3), np.int32, order="F"))
    found = ipctk.Candidates()

    def call(frame: int) -> int:
        found.build(mesh, corners[frame], 0.0, ipctk.LBVH())
        if listed:
            return len(np.array([(pair.edge0_id, pair.edge1_id) for pair in found.ee_candidates]))
        return len(found)

    return call


def coal_frames(half: np.ndarray, centres: np.ndarray, manager: str) -> Callable[[int], int]:
    import coal

    boxes = [
        coal.CollisionObject(coal.Box(*(2 * h)), coal.Transform3s(c)) for h, c in zip(half, centres[0], strict=True)
    ]
    bodies: Any = getattr(coal, manager)()
    for box in boxes:
        bodies.registerObject(box)
    bodies.setup()
    collect = coal.CollisionCallBackCollect(60 * len(half))

    def call(frame: int) -> int:
        for box, centre in zip(boxes, centres[frame], strict=True):
            box.setTranslation(centre)
            box.computeAABB()
        bodies.update()
        collect.init()
        bodies.collide(collect)
        return collect.numCollisionPairs()

    return call


def all_at_once(console: Console, count: int) -> None:
    half, centres = make(count)
    boxes = [np.hstack([c - half, c + half]) for c in centres]
    result = table(f"{count:,} boxes, all pairs of a frame", "method", "ms", "× abut", "pairs", "returns")
    ours: Callable[[int], int] = lambda frame: len(broad.overlapping_pairs(boxes[frame]))  # noqa: E731
    threads = thread_count()
    own = 0.0
    for limit in sorted({threads, 1}, reverse=True):
        limit_threads(limit)
        seconds, pairs = time_frames(ours)
        own = own or seconds
        ratio = f"{seconds / own:.1f}"
        result.add_row(f"abut, {limit} thread(s)", f"{seconds * 1e3:.1f}", ratio, f"{pairs:,}", "sorted pairs")
    limit_threads(threads)
    peers: list[tuple[str, str, Callable[[], Callable[[int], int]]]] = [
        ("ipctk LBVH", "a count", lambda: ipctk_frames(half, centres, listed=False)),
        ("ipctk LBVH", "pairs", lambda: ipctk_frames(half, centres, listed=True)),
        ("coal dynamic tree", "a count", lambda: coal_frames(half, centres, "DynamicAABBTreeCollisionManager")),
    ]
    for name, what, peer in peers:
        try:
            call = peer()
        except ImportError:
            continue
        seconds, pairs = time_frames(call)
        result.add_row(name, f"{seconds * 1e3:.1f}", f"{seconds / own:.1f}", f"{pairs:,}", what)
    console.print(result)


def frame_by_frame(console: Console, count: int) -> None:
    half, centres = make(count)
    result = table(f"{count:,} boxes, sweep and prune", "moving", "ms a frame", "ends passed a box", "pairs", "changes")
    for share in (1.0, 0.1, 0.01):
        moving = np.arange(int(share * count))
        prune = broad.SweepAndPrune(np.hstack([centres[0] - half, centres[0] + half]))
        prune.report()
        work: list[Any] = []

        def call(frame: int, prune: Any = prune, moving: np.ndarray = moving, work: list[Any] = work) -> int:
            c, h = centres[frame][moving], half[moving]
            prune.update(moving, np.hstack([c - h, c + h]))
            work.append(prune.report())
            return len(work[-1].begun) + len(work[-1].persisting)

        seconds, pairs = time_frames(call)
        swaps = np.median([w.swap_count for w in work[1:]]) / len(moving)
        changes = np.median([len(w.begun) + len(w.ended) for w in work[1:]])
        result.add_row(f"{share:.0%}", f"{seconds * 1e3:.2f}", f"{swaps:.1f}", f"{pairs:,}", f"{changes:,.0f}")
    console.print(result)


def run(console: Console) -> None:
    all_at_once(console, 100_000)
    frame_by_frame(console, 10_000)
