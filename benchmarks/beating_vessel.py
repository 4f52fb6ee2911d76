"""What does a catheter with a radius cost in a vessel that beats, from ten thousand to a million tetrahedra, beside a loop over all walls?

Each step the same part of the vessel, 28 long, beats; the catheter is followed and moved. "brute force" asks the same question of one step, nothing
else: of each edge, whether a wall comes nearer than its radius while it moves, over all triangles of the walls whose boxes meet that of the edge
(NumPy for the boxes, the same kernel for the times); it does not slide, and pushes nothing. "walls of the part" tells it which triangles may have
moved. `ABUT_VESSEL_STEPS` is the number of steps (200).

pybullet (extra `peers`; left out where it is not installed) has no mesh that deforms under a body of its own, and nothing that pushes a chain of
capsules out of one. What it can answer is how near each capsule is to the walls at the end of a step: it gets the walls of that moment as a concave
mesh, in float32, from a file. Making that mesh and asking stand in a column each.
"""

import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from abut import cells, dynamics, scenes
from abut.app.bench import table
from abut.cells.width.separation import first_within
from abut.core.jit import limit_threads

LENGTHS = (47, 463, 4630)
STEPS = int(os.environ.get("ABUT_VESSEL_STEPS", "200"))
DT = 0.05
PEER_EACH = 20


def walls_of(vessel: scenes.BeatingVessel) -> np.ndarray:
    """(k,3) the triangles between free cells and the outside."""
    darts = vessel.environment.darts
    outer = np.flatnonzero((darts.cell >= 0) & (darts.cell[darts.phi3] < 0))
    second = darts.phi1[outer]
    corners = np.stack((darts.vertex[outer], darts.vertex[second], darts.vertex[darts.phi1[second]]), axis=1)
    return np.unique(np.sort(corners, axis=1), axis=0)


def brute_force(vessel: scenes.BeatingVessel, triangles: np.ndarray, before: np.ndarray, at: np.ndarray) -> float:
    """Seconds of one step over these triangles, for a catheter that stays."""
    begin = time.process_time()
    after = vessel.environment.vertices
    start, end = before[triangles], after[triangles]
    low = np.minimum(start.min(axis=1), end.min(axis=1)) - vessel.radius
    high = np.maximum(start.max(axis=1), end.max(axis=1)) + vessel.radius
    for i, j in vessel.edges.tolist():
        least, most = np.minimum(at[i], at[j]), np.maximum(at[i], at[j])
        body = tuple(at[i].tolist()), tuple(at[j].tolist()), tuple(at[j].tolist())
        for k in np.flatnonzero(((least <= high) & (most >= low)).all(axis=1)).tolist():
            first, last = (tuple(tuple(c) for c in each[k].tolist()) for each in (start, end))
            first_within(2, body, body, first, last, vessel.radius, 1.0)
    return time.process_time() - begin


class Bullet:
    """Capsules and a concave mesh in pybullet."""

    def __init__(self, vessel: scenes.BeatingVessel) -> None:
        import pybullet

        self.bullet: Any = pybullet
        self.client = pybullet.connect(pybullet.DIRECT)
        self.vessel = vessel

    def ask(self, triangles: np.ndarray) -> tuple[float, float, float]:
        """Seconds to make the mesh, and to ask for the closest points of each capsule; the least distance found."""
        bullet, at = self.bullet, self.vessel.model.position
        rows, local = np.unique(triangles, return_inverse=True)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "walls.obj"
            corners = "".join(f"v {x:.9g} {y:.9g} {z:.9g}\n" for x, y, z in self.vessel.environment.vertices[rows])
            path.write_text(corners + "".join(f"f {a} {b} {c}\n" for a, b, c in local.reshape(-1, 3) + 1))
            begin = time.process_time()
            flags = bullet.GEOM_FORCE_CONCAVE_TRIMESH
            shape = bullet.createCollisionShape(bullet.GEOM_MESH, fileName=str(path), flags=flags)
            walls = bullet.createMultiBody(0, shape)
            made = time.process_time() - begin
        capsules = [self._capsule(at[i], at[j]) for i, j in self.vessel.edges.tolist()]
        begin = time.process_time()
        found = [bullet.getClosestPoints(capsule, walls, 2.0 * self.vessel.radius) for capsule in capsules]
        asked = time.process_time() - begin
        bullet.resetSimulation()
        return made, asked, min((point[8] for each in found for point in each), default=np.inf)

    def _capsule(self, a: np.ndarray, b: np.ndarray) -> int:
        along = b - a
        length = float(np.linalg.norm(along))
        axis = np.cross([0.0, 0.0, 1.0], along / length)
        turn = np.array([*axis, 1.0 + along[2] / length])
        shape = self.bullet.createCollisionShape(self.bullet.GEOM_CAPSULE, radius=self.vessel.radius, height=length)
        place = ((a + b) / 2).tolist(), (turn / np.linalg.norm(turn)).tolist()
        return self.bullet.createMultiBody(0, shape, -1, *place)


def bullet_of(vessel: scenes.BeatingVessel) -> Bullet | None:
    """Where pybullet is installed."""
    try:
        return Bullet(vessel)
    except ImportError:
        return None


def run(console: Console) -> None:
    limit_threads(1)
    answer = table(
        f"a catheter of 10 masses, radius 0.5, in a beating vessel: processor time a step, medians of {STEPS}",
        "tetrahedra",
        "deform",
        "settle",
        "move",
        "steps with contacts",
        "least distance / radius",
        "brute force, all walls",
        "walls of the part",
    )
    asked = table(
        "pybullet, asked how near the walls are at the end of some of these steps: processor time",
        "tetrahedra",
        "a mesh of the walls",
        "closest points",
        "least distance / radius",
        "ours then",
    )
    for length in LENGTHS:
        vessel = scenes.beating_vessel(length)
        env = vessel.environment
        body = cells.Mobile(env, (vessel.points, vessel.edges), vessel.radius)
        triangles = walls_of(vessel)
        moving = np.isin(triangles, vessel.rows).any(axis=1)
        spent, peer, contacts, least = [], [], 0, np.inf
        bullet, told = bullet_of(vessel), []
        for step in range(STEPS):
            is_asked = step % PEER_EACH == PEER_EACH - 1
            before, place = (env.vertices if is_asked else None), body.position
            times = [time.process_time()]
            env.deform(vessel.beat(step + 1), moved=vessel.rows)
            times.append(time.process_time())
            pushed = body.settle()
            times.append(time.process_time())
            vessel.push(step)
            moves = dynamics.couple(vessel.model, body, DT, after="slide")
            times.append(time.process_time())
            spent.append(np.diff(times))
            contacts += int(pushed.any() or moves.is_hit.any())
            least = min(least, float(body.clearance(2.0 * vessel.radius).distance.min(initial=np.inf)))
            if before is not None:
                if bullet is not None:
                    ours = float(body.clearance(3.0 * vessel.radius).distance.min(initial=np.inf))
                    told.append([*bullet.ask(triangles), ours])
                peer.append([brute_force(vessel, some, before, place) for some in (triangles, triangles[moving])])
        deform, settle, move = 1e3 * np.median(spent[1:], axis=0)
        everything, part = 1e3 * np.median(peer, axis=0) if peer else (np.nan, np.nan)
        answer.add_row(
            f"{env.cell_count:,}",
            f"{deform:.2f} ms",
            f"{settle:.2f} ms",
            f"{move:.2f} ms",
            f"{contacts}",
            f"{least / vessel.radius:.6f}",
            f"{everything:.1f} ms",
            f"{part:.1f} ms",
        )
        if told:
            made, found, *_ = 1e3 * np.median(told, axis=0)
            _, _, distance, ours = np.array(told)[np.argmin(np.array(told)[:, 3])] / vessel.radius
            asked.add_row(
                f"{env.cell_count:,}", f"{made:.1f} ms", f"{found:.2f} ms", f"{distance + 1.0:.4f}", f"{ours:.4f}"
            )
    console.print(answer)
    console.print(asked if asked.row_count else "pybullet is not installed")


if __name__ == "__main__":
    run(Console())
