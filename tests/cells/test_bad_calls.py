"""Bad arguments of all kinds for every public function and method of `abut.cells`, taken from their signatures.

Whatever is handed over, only `InvalidInput` and `Unsupported` come out, and a refused call leaves everything as it was. What happens to be good
input is taken; then the map must be sound. Arguments are drawn together, most of them good, so that every check is reached.
"""

import collections
import inspect
import types

import numpy as np
import pytest

from abut import InvalidInput, Unsupported, cells
from abut.core import jit
from cells import worlds
from conftest import SOAK

CALLS = 300_000 if SOAK else 60 if jit.INTERPRETED else 3000
CUBE = np.array(worlds.CORNERS, float)
TETRAHEDRON = CUBE[[0, 1, 3, 4]]


class Strange:
    """Something that is no number, and says so loudly."""

    def __array__(self, *_args, **_kwargs):
        raise RuntimeError("no array")

    def __eq__(self, other):
        raise RuntimeError("not to be compared")

    __hash__ = None


class Endless:
    def __len__(self):
        return 3

    def __getitem__(self, index):
        raise KeyError(index)


def odd_values(rng):
    """One thing that mostly is not what is asked for."""
    size = int(rng.integers(0, 9))
    width = int(rng.choice([1, 2, 3, 4, 8]))
    table = rng.integers(-1, 9, (size, width))
    points = rng.uniform(-0.5, 2.5, (size, width))
    spoilt = points.copy()
    if spoilt.size:
        spoilt.flat[rng.integers(spoilt.size)] = rng.choice([np.nan, np.inf, -np.inf, 1e300, -1e80])
    return [
        None,
        "",
        "planes",
        "nonsense",
        b"bytes",
        True,
        np.bool_(False),
        0,
        1,
        -1,
        2,
        7,
        1.5,
        -0.0,
        10**12,
        2**63,
        10**30,
        1e300,
        1e-300,
        np.nan,
        np.inf,
        1j,
        [],
        (),
        {},
        {1, 2},
        object(),
        Strange(),
        Endless(),
        len,
        Strange,
        iter([1, 2]),
        range(3),
        np.array(3),
        np.array(None),
        np.array("x"),
        np.array([np.datetime64("2026-01-01")]),
        np.zeros((0, 3)),
        np.zeros((2, 0)),
        np.zeros((1, 1, 1)),
        [[1], [1, 2]],
        [[0, 1, 2], None],
        [[0, 1, 2], "ab"],
        [[[0, 1], [2]], 3],
        [None],
        ["a"],
        [1, "a"],
        [np.nan],
        [True, False],
        np.ma.masked_array([1, 2, 3], [0, 1, 0]),
        np.array([(1, 2.0)], "i4,f8"),
        table,
        table.tolist(),
        table.astype(np.uint8),
        table.astype(np.float32),
        points,
        spoilt,
        spoilt.tolist(),
        points.astype(str),
        points.astype(object),
        np.asfortranarray(points)[::-1],
        points > 1,
        (points, table),
        (points, points),
        (None, None),
        (1, 2, 3),
        cells.FREE,
        cells.Marker(3),
    ]


class Stage:
    """Environments, particles and mobiles, and what their methods may well be given."""

    def __init__(self):
        self.space = cells.channel(2, 2, 1, [False, False, False, True])
        self.plane = cells.polygons(CUBE[:4, :2], [[0, 1, 2], [0, 2, 3]])
        self.crowd = cells.Particles(self.space, [[0.5, 0.5, 0.5], [1.25, 0.5, 0.5]])
        self.turning = cells.Particles(self.plane, [[0.25, 0.5]], "darts", debug=True)
        self.body = cells.Mobile(self.space, (TETRAHEDRON / 4 + 0.25, [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]))
        self.rod = cells.Mobile(self.plane, ([[0.25, 0.5], [0.75, 0.5]], [[0, 1]]))
        self.marker = cells.Marker(10)

    def calls(self):
        """(name, function, good arguments by name)."""
        space, plane, body, rod = self.space, self.plane, self.body, self.rod
        yield "tetrahedra", cells.tetrahedra, {"vertices": TETRAHEDRON, "tetrahedra": [[0, 1, 2, 3]], "obstacle": [0]}
        yield "hexahedra", cells.hexahedra, {"vertices": CUBE, "hexes": [range(8)], "obstacle": None}
        mixed = {"vertices": CUBE, "hexahedra": [range(8)], "tetrahedra": [], "pyramids": (), "wedges": []}
        yield "mixed", cells.mixed, mixed
        loops = [[[CUBE_RING[k] for k in face] for face in worlds.HEX_FACES]]
        yield "polyhedra", cells.polyhedra, {"vertices": CUBE, "cells": loops, "obstacle": [False]}
        yield "polygons", cells.polygons, {"vertices": CUBE[:4, :2], "polygons": [[0, 1, 2], [0, 2, 3]]}
        yield "channel", cells.channel, {"nx": 1, "ny": 2, "nz": 1, "obstacle": [False, True]}
        yield "from_surface", cells.from_surface, {"mesh": (TETRAHEDRON, [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])}
        mesh = types.SimpleNamespace(points=CUBE, cells=[("hexahedron", [list(range(8))])], cell_data={"region": [[3]]})
        yield (
            "load",
            cells.load,
            {"source": mesh, "regions": {3: "obstacle"}, "table": "region", "weld": 0.0, "flat": "drop"},
        )
        loose = types.SimpleNamespace(points=TETRAHEDRON, cells=[("tetra", [[0, 2, 1, 3]])])
        yield "load", cells.load, {"source": loose, "regions": None, "weld": None}
        yield "cells_in", cells.load(mesh).cells_in, {"region": "3"}
        for env in (space, plane):
            yield "set_obstacle", env.set_obstacle, {"cells": [0, 1], "obstacle": True}
            yield "deform", env.deform, {"vertices": env.vertices * 1.01, "moved": None}
            yield "deform", env.deform, {"vertices": env.vertices[:1], "moved": [0], "stop": True}
            yield "faces_of", env.faces_of, {"cell": 1}
            yield "merge", env.merge, {"a": 0, "b": 1}
            line = ([0.4] * env.dimension, [1.0] * env.dimension)
            yield "cut", env.cut, {"plane": line, "cells": None, "slit": False}
            yield "cut", env.cut, {"plane": line, "cells": [0], "slit": True}
            yield "cut", env.cut, {"cell": 0, "corners": env.faces_of(0)[0][:: 3 - env.dimension + 1], "slit": True}
            yield "sew", env.sew, {"a": 0, "b": 1}
            yield "unsew", env.unsew, {"a": [0], "b": [1]}
            yield "surround", env.surround, {"factor": 2.0}
            yield "Particles", cells.Particles, {"environment": env, "points": [[0.4] * env.dimension], "walk": "darts"}
            yield "orbit", cells.orbit, {"darts": env.darts, "dart": 1, "kind": 2}
            yield "label_orbits", cells.label_orbits, {"darts": env.darts, "kind": 1}
        yield "Mobile", cells.Mobile, {"environment": space, "shape": (TETRAHEDRON / 2 + 0.2, [[0, 1], [1, 2]])}
        yield "Mobile", cells.Mobile, {"environment": plane, "shape": ([[0.25, 0.5], [0.75, 0.5]], [[0, 1]])}
        yield "Particles.move", self.crowd.move, {"targets": self.crowd.position}
        yield "Particles.move", self.turning.move, {"targets": self.turning.position}
        for mobile in (body, rod):
            for response in ("static", "adaptive", "rigid"):
                good = {"targets": mobile.position, "mode": "continuous", "response": response, "cull": "cells"}
                yield "Mobile.move", mobile.move, good | {"after": "bounce", "restitution": 0.5}
        yield "find_meetings", cells.find_meetings, {"bodies": [body]}
        yield "Marker", cells.Marker, {"dart_count": 4}
        yield "Marker.mark", self.marker.mark, {"darts": np.array([1, 2], np.int32)}

    def state(self):
        """All that can be seen of it."""
        envs = [
            [
                table.tobytes()
                for table in (env.vertices, env.obstacle, env.part_cell, *env.darts[1:], *env.interior.space[9:11])
            ]
            + [env.cell_count, env.interior.fabric.vertex_count]
            for env in (self.space, self.plane)
        ]
        who = [(crowd.position.tobytes(), crowd.cell.tobytes()) for crowd in (self.crowd, self.turning)]
        bodies = [
            (b.position.tobytes(), b.cell.tobytes(), b.edges.tobytes(), b.faces.tobytes())
            for b in (self.body, self.rod)
        ]
        return envs, who, bodies, self.marker.is_marked.tobytes()

    def validate(self):
        """The maps are sound, and everybody can go on."""
        for env in (self.space, self.plane):
            assert env.check_integrity() == []
        for one in (self.crowd, self.turning, self.body, self.rod):
            one.settle()
            one.move(one.position)


CUBE_RING = range(8)


def spoil(rng, good, signature):
    """Some arguments replaced by odd ones, others left out or added, as the signature has them."""
    given = dict(good)
    names = [name for name in signature.parameters if name not in given] + list(given)
    for name in rng.choice(names, int(rng.integers(1, 3)), replace=True).tolist():
        values = odd_values(rng)
        value = values[int(rng.integers(len(values)))]
        kind = rng.integers(6)
        if name in good and kind == 0 and isinstance(good[name], np.ndarray) and good[name].size:
            value = good[name].astype(float).copy()
            value.flat[rng.integers(value.size)] = rng.choice([np.nan, np.inf, 1e300, -1.0, 1e75, 1e-300])
        elif name in good and kind == 1 and isinstance(good[name], list | tuple) and len(good[name]):
            value = list(good[name])
            value[int(rng.integers(len(value)))] = values[int(rng.integers(len(values)))]
            value = tuple(value) if isinstance(good[name], tuple) else value
        given[name] = value
    return given


def describe(value):
    return repr(value)[:60].replace("\n", "") if not isinstance(value, Strange) else "Strange()"


def attempt(function, given):
    """None, what was refused, or the raw exception."""
    try:
        function(**given)
    except (InvalidInput, Unsupported) as refusal:
        return refusal, None
    except Exception as error:
        return None, error
    return None, None


@pytest.mark.filterwarnings("error")
def test_only_named_refusals_come_out():
    rng = np.random.default_rng(20261118)
    stage, raw, counts = Stage(), [], collections.Counter()
    listed = list(stage.calls())
    before = stage.state()
    for _ in range(CALLS):
        name, function, good = listed[int(rng.integers(len(listed)))]
        given = spoil(rng, good, inspect.signature(function))
        refusal, error = attempt(function, given)
        counts["refused" if refusal else "raw" if error else "taken"] += 1
        if error is not None:
            told = ", ".join(f"{key}={describe(value)}" for key, value in given.items())
            raw.append(f"{name}({told}): {type(error).__name__}: {error}"[:300])
        if error is not None or stage.state() != before:
            assert refusal is None, f"{name} was refused ({refusal}), and has changed something"
            if error is None:
                stage.validate()
            stage = Stage()
            listed, before = list(stage.calls()), stage.state()
    assert raw == [], f"{len(raw)} of {CALLS}"
    assert counts["refused"] > CALLS // 3
    assert counts["taken"] > CALLS // 100


def test_every_public_name_is_called():
    """The table of calls holds all that `abut.cells` exports and that can be called with arguments of one's own."""
    called = {name for name, _, _ in Stage().calls()}
    results = {
        "BodyMoves",
        "BodyReach",
        "Clearance",
        "Moves",
        "Reach",
        "Meetings",
        "Darts",
        "Environment",
        "Kind",
        "Status",
    }  # answers, records, enumerations
    elsewhere = {"Instrument", "Mobile.clearance", "Recording", "Recording.note"}  # asked in tests/bad_subjects.py
    for name in cells.__all__:
        thing = getattr(cells, name)
        if callable(thing) and name not in results | elsewhere:
            assert name in called, name
    for kind in (cells.Environment, cells.Particles, cells.Mobile, cells.Marker):
        for name, method in inspect.getmembers(kind, inspect.isfunction):
            if not name.startswith("_") and len(inspect.signature(method).parameters) > 1:
                assert {name, f"{kind.__name__}.{name}"} & (called | elsewhere), name
