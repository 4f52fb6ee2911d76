"""Many bodies: a step beside pybullet, contacts beside coal and python-fcl.

First the steps (`abut bench steps`). Contacts are asked for at the poses that abut's pile came to; coal and python-fcl update their
trees and collect one contact a pair, abut up to four; abut leaves out the 8 pairs of static walls, the others do not. Then single questions with a
box that is not in the world, at random places in and above the pile: abut's `closest` gives the deepest of several that overlap, the others stop at
the first. Then the pile of mixed bodies: how many pairs of hulls are tracked, and how many steps their walks take.
Last, tests with a known answer (`physics.py`).
What is not installed is left out.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console

import abut
from abut import shapes
from abut.app import bench
from abut.app.bench import load, table
from abut.scenes.worlds import pile

DT, SETTLE, ASKED_BODIES = 1 / 60, 240, 1000
BIN = 5.0
ASKED, MOST_CONTACTS = 5, 1_000_000
ASKED_BOX, QUESTIONS = (0.3, 0.4, 0.5), 200
SHOWN = (1, 2, 3, 4, 6, 8, 10)


def places(count: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    side = 7
    k = np.arange(count)
    grid = np.stack((k % side, k // side % side, k // side**2), axis=1) * (0.65, 0.65, 0.7)
    return grid - (1.95, 1.95, -0.5) + rng.uniform(-0.03, 0.03, (count, 3))


def walls() -> list[tuple[tuple[float, float, float], tuple[float, float, float]]]:
    result = [((20.0, 20.0, 1.0), (0.0, 0.0, -0.5))]
    for sign in (-1.0, 1.0):
        result.append(((1.0, BIN + 2, 40.0), (sign * (0.5 * BIN + 0.5), 0.0, 20.0)))
        result.append(((BIN + 2, 1.0, 40.0), (0.0, sign * (0.5 * BIN + 0.5), 20.0)))
    return result


def ours(count: int) -> Any:
    world = abut.World(sleeping=False)
    for extents, place in walls():
        pose = np.eye(4)
        pose[:3, 3] = place
        world.add(shapes.Box(extents), pose, kind="static")
    poses = np.tile(np.eye(4), (count, 1, 1))
    poses[:, :3, 3] = places(count)
    world.add_many(shapes.Box((0.5, 0.5, 0.5)), poses[::2])
    world.add_many(shapes.Sphere(0.28), poses[1::2])
    return world


def bodies_of(world: Any) -> list[tuple[str, Any, np.ndarray]]:
    """Kind, extents or radius, and pose of each body."""
    result = []
    for handle in world.handles.tolist():
        shape, pose = world.shape_of(handle)[0][0], world.poses(handle)[0]
        kind = "box" if isinstance(shape, shapes.Box) else "ball"
        result.append((kind, shape.extents if kind == "box" else shape.radius, pose))
    return result


def ask_abut(world: Any) -> Callable[[], int]:
    def ask() -> int:
        world._changed()  # else the same answer comes back
        return len(world.contacts().pairs)

    return ask


def manage_coal(world: Any) -> tuple[Any, Any]:
    import coal  # pyright: ignore[reportMissingImports]

    manager = coal.DynamicAABBTreeCollisionManager()
    made = [
        coal.CollisionObject(
            coal.Box(*size) if kind == "box" else coal.Sphere(size),
            coal.Transform3s(pose[:3, :3].copy(), pose[:3, 3].copy()),
        )
        for kind, size, pose in bodies_of(world)
    ]
    for body in made:
        manager.registerObject(body)
    manager.setup()
    return manager, made


def manage_fcl(world: Any) -> tuple[Any, Any]:
    import fcl  # pyright: ignore[reportMissingImports]

    made = [
        fcl.CollisionObject(
            fcl.Box(*size) if kind == "box" else fcl.Sphere(size),
            fcl.Transform(pose[:3, :3].copy(), pose[:3, 3].copy()),
        )
        for kind, size, pose in bodies_of(world)
    ]
    manager = fcl.DynamicAABBTreeCollisionManager()
    manager.registerObjects(made)
    manager.setup()
    return manager, made


def ask_coal(world: Any) -> Callable[[], int]:
    manager, made = manage_coal(world)
    import coal  # pyright: ignore[reportMissingImports]

    def ask() -> int:
        assert made  # the manager does not keep them
        manager.update()
        call = coal.CollisionCallBackDefault()
        call.data.request.num_max_contacts = MOST_CONTACTS
        manager.collide(call)
        return call.data.result.numContacts()

    return ask


def ask_fcl(world: Any) -> Callable[[], int]:
    manager, made = manage_fcl(world)
    import fcl  # pyright: ignore[reportMissingImports]

    def ask() -> int:
        assert made
        manager.update()
        data = fcl.CollisionData(request=fcl.CollisionRequest(num_max_contacts=MOST_CONTACTS, enable_contact=True))
        manager.collide(data, fcl.defaultCollisionCallback)
        return len({frozenset((id(c.o1), id(c.o2))) for c in data.result.contacts})

    return ask


Questions = tuple[Callable[[Any], Any], Callable[[Any], int]]
"""Ask at poses (k,4,4), one after the other or all at once; the second counts the overlaps."""


def one_by_one(closest: Callable[[Any], Any], overlap: Callable[[Any], int]) -> Questions:
    return lambda poses: [closest(pose) for pose in poses], lambda poses: sum(overlap(pose) for pose in poses)


def question_abut(world: Any) -> Questions:
    box = shapes.Box(ASKED_BOX)
    return one_by_one(lambda pose: world.closest(box, pose), lambda pose: len(world.overlap(box, pose)))


def question_at_once(world: Any) -> Questions:
    box = shapes.Box(ASKED_BOX)
    return lambda poses: world.closest_many(box, poses), lambda poses: len(world.overlap_many(box, poses))


def question_coal(world: Any) -> Questions:
    manager, made = manage_coal(world)
    import coal  # pyright: ignore[reportMissingImports]

    body = coal.CollisionObject(coal.Box(*ASKED_BOX), coal.Transform3s())

    def place(pose: Any) -> None:
        assert made
        body.setTransform(coal.Transform3s(pose[:3, :3], pose[:3, 3]))
        body.computeAABB()

    def closest(pose: Any) -> Any:
        place(pose)
        call = coal.DistanceCallBackDefault()
        manager.distance(body, call)
        return call.data.result.min_distance

    def overlap(pose: Any) -> int:
        place(pose)
        call = coal.CollisionCallBackDefault()
        call.data.request.num_max_contacts = MOST_CONTACTS
        manager.collide(body, call)
        return call.data.result.numContacts()

    return one_by_one(closest, overlap)


def question_fcl(world: Any) -> Questions:
    manager, made = manage_fcl(world)
    import fcl  # pyright: ignore[reportMissingImports]

    body = fcl.CollisionObject(fcl.Box(*ASKED_BOX), fcl.Transform())

    def closest(pose: Any) -> Any:
        assert made
        body.setTransform(fcl.Transform(pose[:3, :3], pose[:3, 3]))
        data = fcl.DistanceData()
        manager.distance(body, data, fcl.defaultDistanceCallback)
        return data.result.min_distance

    def overlap(pose: Any) -> int:
        body.setTransform(fcl.Transform(pose[:3, :3], pose[:3, 3]))
        data = fcl.CollisionData(request=fcl.CollisionRequest(num_max_contacts=MOST_CONTACTS))
        manager.collide(body, data, fcl.defaultCollisionCallback)
        return len(data.result.contacts)

    return one_by_one(closest, overlap)


def compare_questions(console: Console, world: Any) -> None:
    rng = np.random.default_rng(1)
    poses = np.tile(np.eye(4), (QUESTIONS, 1, 1))
    poses[:, :3, 3] = rng.uniform((-2, -2, 0), (2, 2, 8), (QUESTIONS, 3))
    result = table(
        f"a box asked about {QUESTIONS} times", "bodies", "library", "closest, CPU µs", "overlap, CPU µs", "found"
    )
    for name, make in (
        ("abut", question_abut),
        ("abut, all at once", question_at_once),
        ("coal", question_coal),
        ("python-fcl", question_fcl),
    ):
        try:
            questions = make(world)
        except ImportError:
            continue
        spent = []
        for ask in questions:
            ask(poses)
            times = []
            for _ in range(ASKED):
                start = time.process_time()
                ask(poses)
                times.append(time.process_time() - start)
            spent.append(f"{1e6 * min(times) / QUESTIONS:.1f}")
        result.add_row(f"{len(world):,}", name, *spent, f"{questions[1](poses):,} overlaps")
    console.print(result)


def compare_contacts(console: Console, world: Any) -> None:
    result = table("who touches whom, one call", "bodies", "library", "CPU ms", "found")
    for name, make, unit in (
        ("abut", ask_abut, "pairs"),
        ("coal", ask_coal, "contacts"),
        ("python-fcl", ask_fcl, "pairs of shapes"),
    ):
        try:
            ask = make(world)
        except ImportError:
            console.print(f"{name} is not installed")
            continue
        found, times = ask(), []
        for _ in range(ASKED):
            start = time.process_time()
            ask()
            times.append(time.process_time() - start)
        result.add_row(f"{len(world):,}", name, f"{1e3 * min(times):.2f}", f"{found:,} {unit}")
    console.print(result)


def track_pile(console: Console) -> None:
    scene = pile()
    result = table(
        "1,000 mixed bodies", "seconds", "CPU ms a step", "pairs tracked", "steps of a walk", "asleep", "deepest, mm"
    )
    for second in range(1, scene.step_count // 60 + 1):
        start = time.process_time()
        for _ in range(60):
            scene.world.step(scene.dt)
        spent, memory = time.process_time() - start, scene.world._colliders.memory
        if second in SHOWN:
            result.add_row(
                f"{second}",
                f"{1e3 * spent / 60:.1f}",
                f"{len(memory.keys):,}",
                f"{memory.step_count / max(len(memory.keys), 1):.2f}",
                f"{int(scene.world.asleep().sum()):,}",
                f"{1e3 * scene.world.contacts().depth.max(initial=0.0):.2f}",
            )
    console.print(result)


def settled(count: int) -> Any:
    """The world of `ours`, some seconds later."""
    world = ours(count)
    for _ in range(SETTLE):
        world.step(DT)
    return world


def run(console: Console) -> None:
    bench.run("steps", console)
    world = settled(ASKED_BODIES)
    compare_contacts(console, world)
    compare_questions(console, world)
    track_pile(console)
    load("physics").compare(console)
