"""Two closed meshes of 70,000 triangles at 200 poses, beside python-fcl and coal: boolean, all contacts, distance, build, refit.

A third of the poses each are apart, near (within 2 % of the size) and overlapping; the same for every library. Times are medians over the
poses of each kind, Python calls and the setting of the pose included, of ours for a yes or no `Pair.collides(pose)`; our contacts include normals,
theirs depths of triangles. The peers are those of the extra `peers`; what is not installed is left out.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from scipy.spatial.transform import Rotation

import abut
from abut.app.bench import measure, table
from abut.core.arrays import frozen

FACES = 70_000
DEFORMING = 100_000
POSES = 200
KINDS = ("apart", "near", "overlapping")
ROUNDS = 5
STEPS = 50


def make_poses(mesh: abut.Mesh) -> tuple[np.ndarray, np.ndarray]:
    """Seeded relative poses: a random rotation and direction, pushed together until contact, then moved by an offset of the pose's kind."""
    rng = np.random.default_rng(7)
    size = float(np.linalg.norm(mesh.bounds[1] - mesh.bounds[0]))
    a, b = abut.Rigid(mesh), abut.Rigid(mesh)
    poses = np.tile(np.eye(4), (POSES, 1, 1))
    kinds = np.arange(POSES) % 3
    for i in range(POSES):
        poses[i, :3, :3] = Rotation.random(rng=rng).as_matrix()
        direction = rng.normal(size=3)
        direction /= np.linalg.norm(direction)
        reach = 1.2 * size
        for _ in range(100):  # conservative advancement: never passes the first contact
            poses[i, :3, 3] = direction * reach
            b.pose = poses[i]
            gap = abut.distance(a, b).distance
            if gap < 1e-7 * size:
                break
            reach -= gap
        offset = (rng.uniform(0.05, 0.6), 10 ** rng.uniform(-4, -1.7), -rng.uniform(0.01, 0.25))[kinds[i]]
        poses[i, :3, 3] = direction * (reach + offset * size)
    return poses, kinds


def per_pose(call: Callable[[int], Any]) -> tuple[np.ndarray, list[Any]]:
    """Median seconds of each pose, and the answers."""
    seconds = np.empty((ROUNDS, POSES))
    answers: list[Any] = [None] * POSES
    for i in range(POSES):
        call(i)
    for r in range(ROUNDS):
        for i in range(POSES):
            start = time.perf_counter()
            answers[i] = call(i)
            seconds[r, i] = time.perf_counter() - start
    return np.median(seconds, axis=0), answers


class Fcl:
    name = "python-fcl"

    def __init__(self, mesh: abut.Mesh, poses: np.ndarray) -> None:
        import fcl

        self.fcl, self.mesh = fcl, mesh
        self.a, self.b = fcl.CollisionObject(self.build()), fcl.CollisionObject(self.build())
        self.poses = [fcl.Transform(p[:3, :3], p[:3, 3]) for p in poses]
        self.one = fcl.CollisionRequest(num_max_contacts=1, enable_contact=False)
        self.all = fcl.CollisionRequest(num_max_contacts=1_000_000, enable_contact=True)
        self.near = fcl.DistanceRequest(enable_nearest_points=True)

    def build(self) -> Any:
        model = self.fcl.BVHModel()
        model.beginModel(len(self.mesh.faces), len(self.mesh.vertices))
        model.addSubModel(self.mesh.vertices, self.mesh.faces)
        model.endModel()
        return model

    def updater(self, mesh: abut.Mesh, moved: np.ndarray) -> tuple[Callable[[], Any], str]:
        def rebuild() -> Any:
            model = self.fcl.BVHModel()
            model.beginModel(len(mesh.faces), len(moved))
            model.addSubModel(moved, mesh.faces)
            model.endModel()
            return model

        return rebuild, "a new model: there is no other way"

    def boolean(self, i: int) -> bool:
        self.b.setTransform(self.poses[i])
        return self.fcl.collide(self.a, self.b, self.one, self.fcl.CollisionResult()) > 0

    def contacts(self, i: int) -> int:
        self.b.setTransform(self.poses[i])
        result = self.fcl.CollisionResult()
        self.fcl.collide(self.a, self.b, self.all, result)
        return len(result.contacts)

    def distance(self, i: int) -> float:
        self.b.setTransform(self.poses[i])
        return self.fcl.distance(self.a, self.b, self.near, self.fcl.DistanceResult())


class Coal:
    """OBBRSS for distances; for booleans and contacts OBB, which is the faster of the two there."""

    name = "coal"

    def __init__(self, mesh: abut.Mesh, poses: np.ndarray) -> None:
        import coal

        self.coal, self.mesh = coal, mesh
        self.stay = coal.Transform3s()
        self.poses = [coal.Transform3s(p[:3, :3], p[:3, 3]) for p in poses]
        self.kept = [
            self.make(coal.BVHModelOBB),
            self.make(coal.BVHModelOBB),
            self.make(coal.BVHModelOBBRSS),
            self.make(coal.BVHModelOBBRSS),
        ]
        self.collide = coal.ComputeCollision(self.kept[0], self.kept[1])
        self.measure = coal.ComputeDistance(self.kept[2], self.kept[3])
        self.one, self.all = coal.CollisionRequest(), coal.CollisionRequest()
        self.one.num_max_contacts, self.one.enable_contact = 1, False
        self.all.num_max_contacts, self.all.enable_contact = 1_000_000, True
        self.near = coal.DistanceRequest()

    def make(self, kind: Any) -> Any:
        model = kind()
        model.beginModel(len(self.mesh.faces), len(self.mesh.vertices))
        model.addVertices(np.array(self.mesh.vertices))
        model.addTriangles(np.array(self.mesh.faces))
        model.endModel()
        model.computeLocalAABB()
        return model

    def build(self) -> Any:
        return self.make(self.coal.BVHModelOBBRSS)

    def updater(self, mesh: abut.Mesh, moved: np.ndarray) -> tuple[Callable[[], Any], str]:
        model = self.coal.BVHModelOBBRSS()
        model.beginModel(len(mesh.faces), len(mesh.vertices))
        model.addVertices(np.array(mesh.vertices))
        model.addTriangles(np.array(mesh.faces))
        model.endModel()

        def replace() -> None:
            vertices = self.coal.StdVec_Vec3s()
            vertices.extend(moved)
            model.beginReplaceModel()
            model.replaceSubModel(vertices)
            model.endReplaceModel(True, True)

        return replace, "replaceSubModel and refit"

    def boolean(self, i: int) -> bool:
        return self.collide(self.stay, self.poses[i], self.one, self.coal.CollisionResult()) > 0

    def contacts(self, i: int) -> int:
        result = self.coal.CollisionResult()
        self.collide(self.stay, self.poses[i], self.all, result)
        return result.numContacts()

    def distance(self, i: int) -> float:
        return self.measure(self.stay, self.poses[i], self.near, self.coal.DistanceResult())


class Ours:
    name = "abut"

    def __init__(self, mesh: abut.Mesh, poses: np.ndarray) -> None:
        self.mesh, self.poses = mesh, poses
        self.a, self.b = abut.Rigid(mesh), abut.Rigid(mesh)
        self.pair, self.places = abut.Pair(self.b, self.a), list(poses)

    def build(self) -> Any:
        return abut.Rigid(self.mesh)

    def updater(self, mesh: abut.Mesh, moved: np.ndarray) -> tuple[Callable[[], Any], str]:
        body = abut.Deformable(mesh)
        return lambda: body.update(moved), "update: refit"

    def boolean(self, i: int) -> bool:
        return self.pair.collides(self.places[i])

    def contacts(self, i: int) -> int:
        self.b.pose = self.poses[i]
        contacts = abut.collide(self.b, self.a)
        _ = contacts.normal
        return len(contacts)

    def distance(self, i: int) -> float:
        self.b.pose = self.poses[i]
        return abut.distance(self.b, self.a).distance


def find_peers(mesh: abut.Mesh, poses: np.ndarray, console: Console) -> list[Any]:
    peers = []
    for peer in (Fcl, Coal):
        try:
            peers.append(peer(mesh, poses))
        except ImportError:
            console.print(f"{peer.name} is not installed: pip install 'abut[peers]'")
    return peers


def compare(console: Console, everyone: list[Any], kinds: np.ndarray, work: str) -> None:
    result = table(f"{work}, µs a pose: median of the kind (quartiles)", "", *KINDS, "all poses, ms", "sum of answers")
    medians: dict[str, list[float]] = {}
    for library in everyone:
        seconds, answers = per_pose(getattr(library, work))
        quartiles = [np.percentile(seconds[kinds == k], (25, 50, 75)) * 1e6 for k in range(3)]
        medians[library.name] = [float(q[1]) for q in quartiles] + [float(seconds.sum()) * 1e3]
        cells = [f"{q[1]:.3g} ({q[0]:.3g}–{q[2]:.3g})" for q in quartiles]
        total = f"{np.sum(np.asarray(answers, dtype=float)):.6g}"
        result.add_row(library.name, *cells, f"{medians[library.name][3]:.2f}", total)
    if len(medians) > 1:
        peers = [row for name, row in medians.items() if name != "abut"]
        ratios = [min(row[k] for row in peers) / medians["abut"][k] for k in range(4)]
        result.add_row("better peer / abut", *(f"{ratio:.1f}×" for ratio in ratios), "")
    console.print(result)


def follow(console: Console, ours: "Ours", kinds: np.ndarray) -> None:
    """From each pose on, STEPS frames that move by 1 % of the size: a pair that remembers beside `collide`, which does not."""
    rng, size = np.random.default_rng(8), float(np.linalg.norm(ours.mesh.bounds[1] - ours.mesh.bounds[0]))
    paths = np.repeat(ours.poses[:, np.newaxis], STEPS, axis=1)
    paths[:, :, :3, 3] += 0.01 * size * np.cumsum(rng.normal(size=(POSES, STEPS, 3)) / 3**0.5, axis=1)
    result = table("yes or no in motion, µs a frame: median of the kind at the start", "", *KINDS)

    def forgetting(pose: np.ndarray) -> bool:
        ours.b.pose = pose
        return bool(abut.collide(ours.b, ours.a, first=True))

    for name, ask in (("collide(first=True)", forgetting), ("Pair.collides", ours.pair.collides)):
        seconds = np.empty(POSES)
        for i, path in enumerate(paths):
            start = time.perf_counter()
            for pose in path:
                ask(pose)
            seconds[i] = (time.perf_counter() - start) / STEPS
        result.add_row(name, *(f"{np.median(seconds[kinds == k]) * 1e6:.3g}" for k in range(3)))
    console.print(result)


def count_work(console: Console, ours: "Ours", kinds: np.ndarray) -> None:
    result = table("work of abut a pose, all contacts: median of the kind", "", *KINDS)
    counts = []
    for pose in ours.poses:
        ours.b.pose = pose
        contacts = abut.collide(ours.b, ours.a)
        counts.append((len(contacts), contacts.box_tests, contacts.triangle_tests, contacts.exact_tests))
    for name, column in zip(
        ("pairs that meet", "box tests", "triangle tests", "exact tests"), np.array(counts).T, strict=True
    ):
        result.add_row(name, *(f"{np.median(column[kinds == k]):,.0f}" for k in range(3)))
    console.print(result)


def batches(console: Console, ours: Ours, peers: list[Any]) -> None:
    result = table("all poses in one call (peers: a loop)", "", "boolean", "all contacts")
    first = measure(lambda: abut.collide(ours.a, ours.b, first=True, poses=ours.poses), seconds=2.0)
    ours.b.pose = np.eye(4)
    every = measure(lambda: abut.collide(ours.a, ours.b, poses=ours.poses).normal, seconds=3.0)
    result.add_row("abut", str(first), str(every))
    for peer in peers:
        loop_first = measure(lambda peer=peer: [peer.boolean(i) for i in range(POSES)], seconds=2.0)
        loop_every = measure(lambda peer=peer: [peer.contacts(i) for i in range(POSES)], seconds=2.0, at_least=3)
        result.add_row(peer.name, str(loop_first), str(loop_every))
        result.add_row(
            "  ratio", f"{loop_first.median / first.median:.1f}×", f"{loop_every.median / every.median:.1f}×"
        )
    console.print(result)


def builds(console: Console, everyone: list[Any]) -> None:
    mesh = abut.scenes.bumpy(DEFORMING, seed=3)
    moved = frozen(mesh.vertices * 1.01)
    result = table("building and updating", "", f"build, {FACES:,}", f"new vertices, {DEFORMING:,}", "by")
    rows = {}
    for library in everyone:
        update, way = library.updater(mesh, moved)
        rows[library.name] = measure(library.build, seconds=2.0), measure(update, seconds=2.0, at_least=5)
        result.add_row(library.name, *map(str, rows[library.name]), way)
    rebuild = measure(lambda: abut.Deformable(mesh), seconds=2.0)
    result.add_row("abut", "", str(rebuild), "a new Deformable")
    if len(rows) > 1:
        peers = [row for name, row in rows.items() if name != "abut"]
        ratios = [min(row[k].median for row in peers) / rows["abut"][k].median for k in range(2)]
        result.add_row("better peer / abut", *(f"{ratio:.1f}×" for ratio in ratios), "")
    result.add_row("rebuild / refit", "", f"{rebuild.median / rows['abut'][1].median:.1f}×", "")
    console.print(result)


def run(console: Console) -> None:
    mesh = abut.scenes.bumpy(FACES, seed=11)
    poses, kinds = make_poses(mesh)
    # The peers move their second body; so do we, by asking about b at each pose against a at rest.
    ours, peers = Ours(mesh, poses), find_peers(mesh, poses, console)
    everyone = [ours, *peers]
    for work in ("boolean", "contacts", "distance"):
        compare(console, everyone, kinds, work)
    follow(console, ours, kinds)
    count_work(console, ours, kinds)
    batches(console, ours, peers)
    builds(console, everyone)
