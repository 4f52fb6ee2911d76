"""What a first answer costs: functions compiled, machine code and CPU seconds of a process, with an empty cache, with prebuilt code, and warm.

Each row is a process of its own that imports abut and asks one public question about something small. Seconds are those of the processor, of the
whole process, from its start. With an empty cache a row takes up to a minute. `ABUT_START_UP=collide,World` asks these rows alone.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console

from abut.app.bench import table
from abut.core.compiling.cache_root import PREBUILT

ENTRIES = {
    "import numba": "import numba",
    "import abut": "import abut",
    "orient_3d": "import abut; abut.geometry.predicates.orient_3d((0.,0.,0.), (1.,0.,0.), (0.,1.,0.), (0.,0.,1.))",
    "collide": """
import abut, numpy as np
mesh, pose = abut.scenes.icosphere(1), np.eye(4)
pose[0, 3] = 1.5
contacts = abut.collide(abut.Rigid(mesh), abut.Rigid(mesh, pose=pose))
contacts.normal, contacts.depth
""",
    "distance": """
import abut, numpy as np
mesh, pose = abut.scenes.icosphere(1), np.eye(4)
pose[0, 3] = 3.5
abut.distance(abut.Rigid(mesh), abut.Rigid(mesh, pose=pose))
""",
    "sweep": "import abut; mesh = abut.scenes.icosphere(1); abut.sweep(mesh, mesh.vertices, -2.0 * mesh.vertices)",
    "Particles": """
from abut import cells
cells.Particles(cells.channel(2, 1, 1), [[0.5, 0.5, 0.5]]).move([[1.5, 0.5, 0.5]])
""",
    "Mobile": """
from abut import cells
body = cells.Mobile(cells.channel(2, 1, 1), ([[0.2, 0.2, 0.2], [0.8, 0.2, 0.2], [0.2, 0.8, 0.2]], [[0, 1, 2]]))
body.move(body.position + 0.1, "continuous")
""",
    "World": """
import abut, numpy as np
from abut import shapes
world = abut.World()
world.add(shapes.Box((10, 10, 1)), kind="static")
for i in range(10):
    pose = np.eye(4)
    pose[2, 3] = 1.0 + 1.1 * i
    world.add(shapes.Box((1, 1, 1)), pose)
for _ in range(60):
    world.step(1 / 60)
""",
    "contours.collide": """
from abut import contours
triangle = contours.Contour.from_polygon([(0, 0), (1, 0), (0, 1)])
contours.collide(triangle, triangle, pose=(0.2, 0.2, 0.1)).point
""",
    "nest": """
from abut import contours
contours.nest([[[0, 0], [3, 0], [3, 1], [1, 1], [1, 2], [0, 2]]], (None, 4), copies=3, moves=30)
""",
}
COUNT = """
import json, time
exec(open(0).read())
try:
    from abut.core.compiling.compilation import compiled_count
except ImportError:
    compiled_count = lambda: 0
print(json.dumps([compiled_count(), time.process_time()]))
"""


def ask(code: str, folder: Path, **environment: str) -> tuple[int, float]:
    """Functions compiled, and CPU seconds, of a process that keeps its code in the folder."""
    variables = {**os.environ, "NUMBA_CACHE_DIR": str(folder), **environment}
    measured = COUNT if "abut" in code else COUNT.replace("abut.core.compiling.compilation", "nothing")
    done = subprocess.run(
        [sys.executable, "-c", measured], input=code, env=variables, capture_output=True, text=True, check=True
    )
    count, seconds = json.loads(done.stdout.splitlines()[-1])
    return count, seconds


def megabytes(folder: Path) -> float:
    """Of machine code and bitcode."""
    return sum(file.stat().st_size for file in folder.rglob("*.nbc")) / 1e6


def row(code: str) -> list[str]:
    """One question: cold, prebuilt where there is such code, and warm."""
    with tempfile.TemporaryDirectory() as cold, tempfile.TemporaryDirectory() as empty:
        cells: list[Any] = []
        passed_over = (
            "from abut.core.compiling.code_cache import Places; Places.native_only = True\n" if "abut" in code else ""
        )
        count, seconds = ask(passed_over + code, Path(cold))
        cells += [f"{count:,}", f"{megabytes(Path(cold)):.1f}", f"{seconds:.1f}"]
        if PREBUILT.is_dir():
            count, seconds = ask(code, Path(empty))
            cells.append(f"{seconds:.2f} ({count} compiled)" if count else f"{seconds:.2f}")
        else:
            cells.append("–")
        cells.append(f"{min(ask(code, Path(cold))[1] for _ in range(3)):.2f}")
        return cells


def run(console: Console) -> None:
    wanted = [name for name in os.environ.get("ABUT_START_UP", "").split(",") if name]
    result = table(
        "a process of its own", "question", "functions compiled", "MB", "CPU s, empty cache", "prebuilt", "warm"
    )
    for name, code in ENTRIES.items():
        if not wanted or name in wanted:
            result.add_row(name, *row(code))
    console.print(result)
    if not PREBUILT.is_dir():
        console.print("No prebuilt code here: `make wheel` makes a wheel that carries it.")
