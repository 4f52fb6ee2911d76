"""Many bodies: how long a step takes, for a pile and for stacks; pybullet beside where it is installed.

Both worlds hold the same boxes and balls with the same step; pybullet solves 10 iterations, abut 8 substeps of 2 sweeps. Sleeping is off in both.
The deepest contact at the end says what the time buys.
"""

import time
from typing import Any

import numpy as np
from rich.console import Console

import abut
from abut import shapes
from abut.app.bench import table

DT, SETTLE, MEASURED = 1 / 60, 240, 60
COUNTS = (100, 1000)
BIN = 5.0


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


def ours(count: int) -> tuple[Any, Any]:
    world = abut.World(sleeping=False)
    for extents, place in walls():
        pose = np.eye(4)
        pose[:3, 3] = place
        world.add(shapes.Box(extents), pose, kind="static")
    poses = np.tile(np.eye(4), (count, 1, 1))
    poses[:, :3, 3] = places(count)
    world.add_many(shapes.Box((0.5, 0.5, 0.5)), poses[::2])
    world.add_many(shapes.Sphere(0.28), poses[1::2])
    return lambda: world.step(DT), lambda: float(world.contacts().depth.max(initial=0.0))


def bullet(count: int) -> tuple[Any, Any] | None:
    try:
        import pybullet  # pyright: ignore[reportMissingImports]
    except ImportError:
        return None
    client = pybullet.connect(pybullet.DIRECT)
    pybullet.setGravity(0, 0, -9.81, physicsClientId=client)
    pybullet.setPhysicsEngineParameter(fixedTimeStep=DT, numSolverIterations=10, physicsClientId=client)
    make = pybullet.createCollisionShape
    for extents, place in walls():
        box = make(pybullet.GEOM_BOX, halfExtents=[0.5 * e for e in extents], physicsClientId=client)
        pybullet.createMultiBody(0, box, basePosition=place, physicsClientId=client)
    box = make(pybullet.GEOM_BOX, halfExtents=[0.25] * 3, physicsClientId=client)
    ball = make(pybullet.GEOM_SPHERE, radius=0.28, physicsClientId=client)
    for k, place in enumerate(places(count)):
        pybullet.createMultiBody(0.1, ball if k % 2 else box, basePosition=place.tolist(), physicsClientId=client)

    def deepest() -> float:
        found = pybullet.getContactPoints(physicsClientId=client)
        return max((-row[8] for row in found), default=0.0)

    return lambda: pybullet.stepSimulation(physicsClientId=client), deepest


def run(console: Console) -> None:
    result = table(f"a step of {DT:.4f} s, at rest", "bodies", "library", "wall ms", "CPU ms", "deepest contact, mm")
    for count in COUNTS:
        for name, make in (("abut", ours), ("pybullet", bullet)):
            made = make(count)
            if made is None:
                console.print("pybullet is not installed")
                continue
            step, deepest = made
            for _ in range(SETTLE):
                step()
            wall, cpu = time.perf_counter(), time.process_time()
            for _ in range(MEASURED):
                step()
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            result.add_row(
                f"{count:,}",
                name,
                f"{1e3 * wall / MEASURED:.2f}",
                f"{1e3 * cpu / MEASURED:.2f}",
                f"{1e3 * deepest():.2f}",
            )
    console.print(result)
