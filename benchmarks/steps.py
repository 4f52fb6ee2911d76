"""What does a step of 100, 1,000 and 10,000 bodies cost, falling and at rest, beside pybullet and MuJoCo?

Half of the bodies are boxes, half balls, in a bin; the bin of 10,000 is wider, as deep as that of 1,000. The block is 10×10×10 boxes with gaps of
0.02 that has settled. Nobody sleeps. Each library steps with 1/60 s: pybullet with 10 iterations, abut with its defaults, MuJoCo with its own solver.
They take turns, a few steps each, so that what else the machine does meets all of them; CPU time counts. Deepest: the deepest contact seen at the
end of any turn; abut's slop is 5 mm. What is not installed is left out; MuJoCo is asked about 100 bodies alone, for its steps grow faster than their
number.
"""

import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

import abut
from abut import shapes
from abut.app.bench import table

DT = 1 / 60
TURN = 5
"""Steps of a library before the next one is asked."""
FALL, SETTLE, REST = 60, 180, 30
"""Steps: falling, measured; on until they rest, not measured; at rest, measured."""
COUNTS, MOST_MUJOCO = (100, 1000, 10000), 100
BOX, BALL, SPACE, GAP, HIGH = 0.5, 0.28, 0.65, 0.02, 40.0
EDGE = 10


class Scene(NamedTuple):
    """Where bodies begin: boxes and balls by turns, or boxes alone; `width`: of the bin, 0: there is only the ground."""

    places: np.ndarray
    width: float

    def ball(self, k: int) -> bool:
        return self.width > 0.0 and k % 2 == 1

    def still(self) -> list[tuple[tuple[float, float, float], tuple[float, float, float]]]:
        """Extents and places of what does not move."""
        ground = ((2.0 * self.width + 20.0, 2.0 * self.width + 20.0, 1.0), (0.0, 0.0, -0.5))
        away = 0.5 * self.width + 0.5
        walls = [((1.0, self.width + 2.0, HIGH), (sign * away, 0.0, 0.5 * HIGH)) for sign in (-1.0, 1.0)]
        walls += [((self.width + 2.0, 1.0, HIGH), (0.0, sign * away, 0.5 * HIGH)) for sign in (-1.0, 1.0)]
        return [ground, *(walls if self.width > 0.0 else [])]


class Steps(NamedTuple):
    """A library with a scene."""

    name: str
    step: Callable[[], object]
    deepest: Callable[[], float]


def bin_of(count: int) -> Scene:
    rng = np.random.default_rng(0)
    side = 7 if count <= 1000 else 22
    k = np.arange(count)
    grid = np.stack((k % side, k // side % side, k // side**2), axis=1) * (SPACE, SPACE, 0.7)
    middle = 0.5 * SPACE * (side - 1)
    return Scene(grid - (middle, middle, -0.5) + rng.uniform(-0.03, 0.03, (count, 3)), SPACE * side + 0.45)


def block() -> Scene:
    k, pitch = np.arange(EDGE**3), BOX + GAP
    grid = np.stack((k % EDGE, k // EDGE % EDGE, k // EDGE**2), axis=1) * pitch
    return Scene(grid - (0.5 * EDGE * pitch, 0.5 * EDGE * pitch, -0.5 * BOX - GAP), 0.0)


def step_abut(scene: Scene) -> Steps:
    world = abut.World(sleeping=False)
    for extents, place in scene.still():
        pose = np.eye(4)
        pose[:3, 3] = place
        world.add(shapes.Box(extents), pose, kind="static")
    poses = np.tile(np.eye(4), (len(scene.places), 1, 1))
    poses[:, :3, 3] = scene.places
    balls = np.array([scene.ball(k) for k in range(len(poses))])
    world.add_many(shapes.Box((BOX, BOX, BOX)), poses[~balls])
    if balls.any():
        world.add_many(shapes.Sphere(BALL), poses[balls])
    return Steps("abut", lambda: world.step(DT), lambda: float(world.contacts().depth.max(initial=0.0)))


def step_pybullet(scene: Scene) -> Steps:
    import pybullet  # pyright: ignore[reportMissingImports]

    client = pybullet.connect(pybullet.DIRECT)
    pybullet.setGravity(0, 0, -9.81, physicsClientId=client)
    pybullet.setPhysicsEngineParameter(fixedTimeStep=DT, numSolverIterations=10, physicsClientId=client)
    make = pybullet.createCollisionShape
    for extents, place in scene.still():
        still = make(pybullet.GEOM_BOX, halfExtents=[0.5 * e for e in extents], physicsClientId=client)
        pybullet.createMultiBody(0, still, basePosition=place, physicsClientId=client)
    box = make(pybullet.GEOM_BOX, halfExtents=[0.5 * BOX] * 3, physicsClientId=client)
    ball = make(pybullet.GEOM_SPHERE, radius=BALL, physicsClientId=client)
    for k, place in enumerate(scene.places.tolist()):
        body = pybullet.createMultiBody(0.1, ball if scene.ball(k) else box, basePosition=place, physicsClientId=client)
        pybullet.changeDynamics(body, -1, activationState=pybullet.ACTIVATION_STATE_DISABLE_SLEEPING)

    def deepest() -> float:
        return max((-row[8] for row in pybullet.getContactPoints(physicsClientId=client)), default=0.0)

    return Steps("pybullet", lambda: pybullet.stepSimulation(physicsClientId=client), deepest)


def step_mujoco(scene: Scene) -> Steps:
    import mujoco  # pyright: ignore[reportMissingImports]

    def geom(kind: str, size: Any, place: Any, mass: str) -> str:
        numbers = (" ".join(f"{x:.9g}" for x in each) for each in (size, place))
        return '<geom type="{}" size="{}" pos="{}" {}/>'.format(kind, *numbers, mass)

    text = "".join(geom("box", [0.5 * e for e in extents], place, "") for extents, place in scene.still())
    for k, place in enumerate(scene.places.tolist()):
        kind, size = ("sphere", [BALL]) if scene.ball(k) else ("box", [0.5 * BOX] * 3)
        where = " ".join(f"{x:.9g}" for x in place)
        inside = geom(kind, size, (0, 0, 0), 'mass="0.1"')
        text += f'<body pos="{where}"><freejoint/>{inside}</body>'
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{DT}"/><size memory="1G"/><worldbody>{text}</worldbody></mujoco>'
    )
    data = mujoco.MjData(model)

    def deepest() -> float:
        return float(max(0.0, -data.contact.dist.min())) if data.ncon else 0.0

    return Steps("MuJoCo", lambda: mujoco.mj_step(model, data), deepest)


def take_turns(runs: list[Steps], count: int) -> list[tuple[list[float], float]]:
    """Of each library the CPU milliseconds of a step in each of its turns, and the deepest contact."""
    spent: list[list[float]] = [[] for _ in runs]
    depth = [0.0] * len(runs)
    for _ in range(count // TURN):
        for which, run in enumerate(runs):
            start = time.process_time()
            for _ in range(TURN):
                run.step()
            spent[which].append(1e3 * (time.process_time() - start) / TURN)
            depth[which] = max(depth[which], run.deepest())
    return list(zip(spent, depth, strict=True))


def compare(console: Console, title: str, scene: Scene, falls: bool) -> dict[str, float]:
    """Print what steps of a scene cost; the medians of abut."""
    runs = [step_abut(scene)]
    for name, make in (("pybullet", step_pybullet), ("MuJoCo", step_mujoco)):
        if name == "MuJoCo" and len(scene.places) > MOST_MUJOCO:
            continue
        try:
            runs.append(make(scene))
        except ImportError:
            console.print(f"{name} is not installed")
    result = table(title, "phase", "library", "CPU ms a step", "quartiles", "of abut's", "deepest, mm")
    medians: dict[str, float] = {}
    for phase, count in (("falling", FALL), ("", SETTLE), ("at rest", REST)):
        measured = take_turns(runs, count)
        if not phase or (phase == "falling" and not falls):
            continue
        medians[phase] = statistics.median(measured[0][0])
        for run, (spent, depth) in zip(runs, measured, strict=True):
            low, middle, high = statistics.quantiles(spent, n=4)
            share = f"{middle / medians[phase]:.2f}"
            result.add_row(phase, run.name, f"{middle:.2f}", f"{low:.2f} – {high:.2f}", share, f"{1e3 * depth:.2f}")
    console.print(result)
    return medians


def run(console: Console) -> None:
    found = {count: compare(console, f"{count:,} bodies in a bin", bin_of(count), True) for count in COUNTS}
    compare(console, "a block of 10×10×10 boxes, settled", block(), False)
    few, many = found[COUNTS[1]], found[COUNTS[2]]
    for phase in few:
        console.print(f"{COUNTS[2]:,} bodies {phase}: {many[phase] / few[phase]:.1f} times {COUNTS[1]:,}")
