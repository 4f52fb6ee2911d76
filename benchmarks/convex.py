"""Closest features of convex hulls from frame to frame, beside coal (warm-started GJK) and python-fcl; steps of the walk against the hulls' size.

Pairs of hulls on unit balls, a gap of 0.1 to 1 apart, or overlapping by 0.02; each frame turns every body by a degree and moves it by 0.005. Times
are those of a query in the quickest frame, since other processes only add to them. abut answers all pairs in one call, poses checked, distance and
features (`track_many`) or yes and no only (`overlap_many`, on all threads); the peers are called pair by pair, from transforms that were made before.
What is not installed is left out.

Steps are counted for two motions: one degree a frame, which is many features of a large hull and few of a small one, and a quarter of the width of a
feature. A hull of v vertices and triangles has 6v − 10 vertices, edges and faces; their width is the root of their mean area on the ball.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from abut import convex
from abut.app.bench import table
from abut.core.jit import limit_threads, thread_count

SIZES = (8, 32, 128, 512, 5000)
POOL = 8
PAIRS = 2000
FRAMES = 20
TURN, SHIFT = np.pi / 180, 0.005


def on_ball(rng: np.random.Generator, count: int) -> np.ndarray:
    points = rng.normal(size=(count, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def make(size: int, turn: float, *, overlap: bool = False) -> tuple[list[convex.Hull], np.ndarray, np.ndarray]:
    """Hulls, the hull of each body, and poses (frames, bodies, 4, 4); bodies 2k and 2k + 1 are a pair."""
    rng = np.random.default_rng(size)
    hulls = [convex.Hull(on_ball(rng, size)) for _ in range(POOL)]
    which = rng.integers(0, POOL, 2 * PAIRS)
    directions = on_ball(rng, PAIRS)
    poses = np.tile(np.eye(4), (FRAMES, 2 * PAIRS, 1, 1))
    poses[0, :, :3, :3] = Rotation.random(2 * PAIRS, random_state=size).as_matrix()
    reach = np.empty(PAIRS)
    for k in range(PAIRS):  # where their extents along the direction meet
        a, b = (hulls[which[i]].vertices @ poses[0, i, :3, :3].T for i in (2 * k, 2 * k + 1))
        reach[k] = (a @ directions[k]).max() - (b @ directions[k]).min()
    gaps = -0.02 if overlap else rng.uniform(0.1, 1.0, PAIRS)
    poses[0, 1::2, :3, 3] = directions * (reach + gaps)[:, None]
    turning = Rotation.from_rotvec(turn * on_ball(rng, 2 * PAIRS)).as_matrix()
    shifts = (0.0 if overlap else SHIFT * turn / TURN) * on_ball(rng, 2 * PAIRS)
    for frame in range(1, FRAMES):
        poses[frame] = poses[frame - 1]
        poses[frame, :, :3, :3] = turning @ poses[frame - 1, :, :3, :3]
        poses[frame, :, :3, 3] += shifts
    return hulls, which, poses


def run_frames(call: Callable[[int], np.ndarray]) -> tuple[float, np.ndarray]:
    """Seconds of a query in the quickest frame after the first, and the distances of the last frame."""
    times, distances = [], np.empty(0)
    for frame in range(FRAMES):
        start = time.perf_counter()
        distances = call(frame)
        times.append(time.perf_counter() - start)
    return min(times[1:]) / PAIRS, distances


def abut_frames(hulls: Any, which: np.ndarray, poses: np.ndarray, steps: list[float]) -> Callable[[int], np.ndarray]:
    packed, pairs = convex.Hulls(hulls), np.arange(2 * PAIRS).reshape(-1, 2)
    state: dict[str, Any] = {"features": None}

    def call(frame: int) -> np.ndarray:
        tracks = convex.track_many(packed, pairs, poses[frame], state["features"], which)
        state["features"] = tracks.features
        if frame:
            steps.append(float(tracks.steps.mean()))
        return tracks.distance

    return call


def yes_or_no_frames(hulls: Any, which: np.ndarray, poses: np.ndarray) -> Callable[[int], np.ndarray]:
    packed, pairs = convex.Hulls(hulls), np.arange(2 * PAIRS).reshape(-1, 2)
    state: dict[str, Any] = {"last": None}

    def call(frame: int) -> np.ndarray:
        state["last"] = convex.overlap_many(packed, pairs, poses[frame], state["last"], which)
        return state["last"].overlap

    return call


def triangles_of(points: np.ndarray) -> np.ndarray:
    hull = ConvexHull(points)
    faces = hull.simplices.copy()
    normals = np.cross(points[faces[:, 1]] - points[faces[:, 0]], points[faces[:, 2]] - points[faces[:, 0]])
    turned = (normals * hull.equations[:, :3]).sum(axis=1) < 0
    faces[turned] = faces[turned][:, ::-1]
    return faces


def coal_frames(hulls: Any, which: np.ndarray, poses: np.ndarray) -> Callable[[int], np.ndarray]:
    import coal

    shapes = []
    for hull in hulls:
        points, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
        for point in hull.vertices:
            points.append(point)
        for face in triangles_of(hull.vertices):
            faces.append(coal.Triangle(*map(int, face)))
        shapes.append(coal.Convex(points, faces))
    asks = [coal.ComputeDistance(shapes[which[2 * k]], shapes[which[2 * k + 1]]) for k in range(PAIRS)]
    requests, results = [coal.DistanceRequest() for _ in range(PAIRS)], [coal.DistanceResult() for _ in range(PAIRS)]
    for request in requests:
        request.gjk_initial_guess = coal.CachedGuess
    placed = [[coal.Transform3s(p[:3, :3].copy(), p[:3, 3].copy()) for p in frame] for frame in poses]

    def call(frame: int, kept: Any = shapes) -> np.ndarray:  # ComputeDistance does not keep its shapes alive
        at, distances = placed[frame], [0.0] * PAIRS
        for k in range(PAIRS):
            result, request = results[k], requests[k]
            result.clear()
            distances[k] = asks[k](at[2 * k], at[2 * k + 1], request, result)
            request.updateGuess(result)
        return np.array(distances)

    return call


def fcl_frames(hulls: Any, which: np.ndarray, poses: np.ndarray) -> Callable[[int], np.ndarray]:
    import fcl

    shapes = []
    for hull in hulls:
        faces = triangles_of(hull.vertices)
        rows = np.concatenate([np.full((len(faces), 1), 3), faces], axis=1)
        shapes.append(fcl.Convex(hull.vertices, len(faces), rows.ravel()))
    bodies = [fcl.CollisionObject(shapes[i]) for i in which]
    placed = [[fcl.Transform(p[:3, :3], p[:3, 3]) for p in frame] for frame in poses]
    request = fcl.DistanceRequest(enable_nearest_points=True, enable_signed_distance=True)

    def call(frame: int, kept: Any = shapes) -> np.ndarray:
        distances = [0.0] * PAIRS
        for k in range(PAIRS):
            a, b = bodies[2 * k], bodies[2 * k + 1]
            a.setTransform(placed[frame][2 * k])
            b.setTransform(placed[frame][2 * k + 1])
            distances[k] = fcl.distance(a, b, request, fcl.DistanceResult())
        return np.array(distances)

    return call


def compare(console: Console, *, overlap: bool) -> None:
    kind = "overlapping by 0.02 at first" if overlap else "apart"
    result = table(
        f"{PAIRS:,} pairs {kind}, µs a query",
        "vertices",
        "abut",
        "1 thread",
        "yes or no",
        "coal, warm",
        "python-fcl",
        "coal / abut",
        "off",
    )
    peers = {}
    for name, make_peer in (("coal", coal_frames), ("fcl", fcl_frames)):
        try:
            __import__(name)
        except ImportError:
            continue
        peers[name] = make_peer
    for size in SIZES:
        hulls, which, poses = make(size, TURN, overlap=overlap)
        threads, steps = thread_count(), []
        seconds, distances = run_frames(abut_frames(hulls, which, poses, steps))
        limit_threads(1)
        alone, _ = run_frames(abut_frames(hulls, which, poses, steps))
        limit_threads(threads)
        quick, _ = run_frames(yes_or_no_frames(hulls, which, poses))
        theirs, off = {}, "–"
        for name, make_peer in peers.items():
            theirs[name], answers = run_frames(make_peer(hulls, which, poses))
            if name == "coal":
                off = f"{np.abs(answers - distances).max():.1e}"
        cells = [f"{theirs[name] * 1e6:.2f}" if name in theirs else "–" for name in ("coal", "fcl")]
        ratio = f"{theirs['coal'] / seconds:.0f}×" if "coal" in theirs else "–"
        result.add_row(
            f"{size:,}", f"{seconds * 1e6:.3f}", f"{alone * 1e6:.3f}", f"{quick * 1e6:.3f}", *cells, ratio, off
        )
    console.print(result)


def count_steps(console: Console) -> None:
    result = table("steps a query", "vertices", "a degree a frame", "¼ feature a frame", "")
    counted = []
    for size in SIZES:
        means = []
        for turn in (TURN, 0.25 * np.sqrt(4 * np.pi / (6 * size - 10))):
            hulls, which, poses = make(size, turn)
            steps: list[float] = []
            run_frames(abut_frames(hulls, which, poses, steps))
            means.append(float(np.mean(steps)))
        counted.append(means[1])
        result.add_row(f"{size:,}", f"{means[0]:.2f}", f"{means[1]:.2f}", "█" * round(means[1] * 40))
    console.print(result)
    spread = max(counted) / min(counted)
    console.print(
        f"At a quarter of a feature a frame: most steps / fewest = {spread:.2f} from {SIZES[0]} to {SIZES[-1]:,} vertices."
    )


def run(console: Console) -> None:
    compare(console, overlap=False)
    compare(console, overlap=True)
    count_steps(console)
