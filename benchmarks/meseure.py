"""Meseure's table (1998, §7): a soft ball in a bent tube, by brute force, voxels, OBB/AAB trees and packet trees.

A step moves the tool, deforms the balls, brings each method's structure up to date and finds all pairs of faces, of a ball and of a rigid object,
that meet. The positions are computed beforehand, so only detection is timed; the paper's figures are of the whole simulation, 77 % of it detection
in its fastest case. Balls are not tested with each other, nor rigid objects, as in the paper. Every method must give the same pairs, and has one
thread, as the paper's machine had.
"""

import statistics
import time
from typing import Any, NamedTuple

import numba
import numpy as np
from rich.console import Console

import abut
from abut.app.bench import Timing, measure, table
from abut.core import jit
from abut.core.arrays import Floats, Integers
from abut.geometry.crossings import meet_triangle_triangle
from abut.mesh import Mesh
from abut.papers import rejected_refits
from abut.papers.grid import Voxels
from abut.scenes.surfaces import subdivide
from abut.trees import binary, volumes

STEPS = 60
COMPARED_EVERY = 10  # at these steps all methods must agree, and brute force is timed
PAPER = {
    ("brute force", 1): ("0.1", "1", ""),
    ("voxels", 1): ("16.5", "165", "1"),
    ("OBB/AAB trees", 1): ("55", "550", "3.3"),
    ("OBB/AAB trees", 4): ("30", "", ""),
}
PAPER_MEGAHERTZ = 195  # an R10000

Found = dict[tuple[int, int], Integers]
"""(k,2) faces that meet, by ball and rigid object; objects that do not meet are left out."""


class Scene(NamedTuple):
    """Deformable balls, rigid objects that stay, and the rigid tool that moves."""

    balls: tuple[Mesh, ...]
    immobile: tuple[Mesh, ...]
    tool: Mesh

    @property
    def rigid(self) -> tuple[Mesh, ...]:
        return (*self.immobile, self.tool)


class State(NamedTuple):
    """Where everything is at a step: vertices of the balls and of the tool, in the world, and the tool's pose."""

    balls: list[Floats]
    tool: Floats
    pose: Floats


class Work(NamedTuple):
    """box: tests of two boxes (voxels: pairs in a common voxel, whose boxes are compared). exact: tests of two triangles by exact signs."""

    box: int
    exact: int


Rows = dict[str, tuple[Timing, Work]]
"""Time and mean work of a step, by method."""


def make_scene(ball_count: int, cuts: int = 0) -> tuple[Scene, list[State]]:
    """The surgical scene and its steps; every face is cut in four `cuts` times, at the middles of its sides."""
    given = abut.scenes.surgical_scene(ball_count, STEPS)
    meshes = [cut_faces(mesh, cuts) for mesh in (*given.balls, *given.immobile, given.tool)]
    scene = Scene(tuple(meshes[:ball_count]), tuple(meshes[ball_count:-1]), meshes[-1])
    tool = abut.Rigid(scene.tool)
    states = []
    for step in range(STEPS):
        tool.pose = given.tool_pose(step)
        shapes = [Mesh(given.ball_vertices(step, i), given.balls[i].faces) for i in range(ball_count)]
        states.append(State([cut_faces(shape, cuts).vertices for shape in shapes], tool.vertices, tool.pose))
    return scene, states


def cut_faces(mesh: Mesh, cuts: int) -> Mesh:
    for _ in range(cuts):
        mesh = subdivide(mesh)
    return mesh


# --- the methods: each has `step(state)`, which returns what it found and the work it took


@jit.kernel
def meet_all(a: Floats, faces_a: Integers, b: Floats, faces_b: Integers, found: Integers) -> int:
    """All faces of a against all of b by exact signs, nothing before it; returns the number of pairs."""
    count = 0
    for i in range(len(faces_a)):
        p, q, r = row(a, faces_a[i, 0]), row(a, faces_a[i, 1]), row(a, faces_a[i, 2])
        for j in range(len(faces_b)):
            if meet_triangle_triangle(p, q, r, row(b, faces_b[j, 0]), row(b, faces_b[j, 1]), row(b, faces_b[j, 2])):
                found[count, 0], found[count, 1] = i, j
                count += 1
    return count


@jit.element
def row(vertices: Floats, i: int) -> tuple[float, float, float]:
    return (vertices[i, 0], vertices[i, 1], vertices[i, 2])


class BruteForce:
    name = "brute force"

    def __init__(self, scene: Scene) -> None:
        self.balls, self.rigid = scene.balls, scene.rigid
        self.room = np.empty((max(map(len, self.balls)) * max(map(len, self.rigid)), 2), np.int64)

    def step(self, state: State) -> tuple[Found, Work]:
        found, exact = {}, 0
        for i, ball in enumerate(self.balls):
            for j, mesh in enumerate(self.rigid):
                vertices = state.tool if j == len(self.rigid) - 1 else mesh.vertices
                count = meet_all(state.balls[i], ball.faces, vertices, mesh.faces, self.room)
                exact += len(ball) * len(mesh)
                if count:
                    found[i, j] = self.room[:count].copy()
        return found, Work(0, exact)


class Grid:
    """Immobile objects are entered once; the tool is of their group, the balls of another."""

    name = "voxels"

    def __init__(self, scene: Scene) -> None:
        self.voxels = Voxels()
        self.rigid = [self.voxels.add(mesh, immobile=True, group=0) for mesh in scene.immobile]
        self.tool = self.voxels.add(scene.tool, group=0)
        self.balls = [self.voxels.add(ball, group=1) for ball in scene.balls]

    def step(self, state: State) -> tuple[Found, Work]:
        self.voxels.update(self.tool, state.tool)
        for handle, vertices in zip(self.balls, state.balls, strict=True):
            self.voxels.update(handle, vertices)
        hits = self.voxels.collide()
        # Handles are given out in order: rigid objects, then balls.
        found = {(ball - self.balls[0], rigid): hits[ball, rigid] for rigid, ball in hits}
        return found, Work(hits.work.candidates, hits.work.exact_tests)


class BinaryTrees:
    """The paper's own: one triangle a leaf, OBBs for what is rigid, AABs for what deforms, refitted from the leaves."""

    name = "OBB/AAB trees"

    def __init__(self, scene: Scene, ball_kind: str = "aabb") -> None:
        self.meshes, self.rigid = scene.balls, scene.rigid
        self.balls = [binary.build(ball_kind, ball.vertices, ball.faces) for ball in self.meshes]
        self.trees = [binary.build("obb", mesh.vertices, mesh.faces) for mesh in self.rigid]
        self.still = volumes.identity()

    def refit(self, state: State) -> None:
        for tree, ball, vertices in zip(self.balls, self.meshes, state.balls, strict=True):
            binary.refit(tree, vertices, ball.faces)

    def query(self, state: State) -> tuple[Found, Work]:
        found, box, exact = {}, 0, 0
        frame = volumes.place(state.pose)
        for i, ball in enumerate(self.balls):
            for j, tree in enumerate(self.trees):
                is_tool = j == len(self.trees) - 1
                vertices = state.tool if is_tool else self.rigid[j].vertices
                sides = (state.balls[i], self.meshes[i].faces, vertices, self.rigid[j].faces)
                hits = binary.find_collisions(ball, tree, *sides, frame if is_tool else self.still)
                box, exact = box + hits.box_tests, exact + hits.leaf_tests
                if len(hits.pairs):
                    found[i, j] = hits.pairs
        return found, Work(box, exact)

    def step(self, state: State) -> tuple[Found, Work]:
        self.refit(state)
        return self.query(state)


class PacketTrees:
    """The public bodies. Their question is larger: normals and depths may be asked later, and containment counts."""

    name = "packet trees"

    def __init__(self, scene: Scene) -> None:
        self.balls = [abut.Deformable(ball) for ball in scene.balls]
        self.tool = abut.Rigid(scene.tool)
        self.rigid = [*(abut.Rigid(mesh) for mesh in scene.immobile), self.tool]

    def step(self, state: State) -> tuple[Found, Work]:
        self.tool.pose = state.pose
        found, box, exact = {}, 0, 0
        for i, ball in enumerate(self.balls):
            ball.update(state.balls[i])
            for j, body in enumerate(self.rigid):
                hits = abut.collide(ball, body)
                box, exact = box + hits.box_tests, exact + hits.exact_tests
                if len(hits):
                    found[i, j] = np.stack((hits.face_a, hits.face_b), axis=1)
        return found, Work(box, exact)


# --- the tables


def check_alike(methods: list[Any], states: list[State]) -> int:
    """Assert that all methods find the same pairs at these states; returns how many these are."""
    count = 0
    for state in states:
        first, *others = (method.step(state)[0] for method in methods)
        for other in others:
            assert first.keys() == other.keys()
            assert all(np.array_equal(first[objects], other[objects]) for objects in first)
        count += sum(map(len, first.values()))
    assert count > 0
    return count


def mean_work(method: Any, states: list[State]) -> Work:
    works = np.array([method.step(state)[1] for state in states])
    return Work(*np.rint(works.mean(axis=0)).astype(int).tolist())


def time_steps(method: Any, states: list[State]) -> Timing:
    """One step, from whole passes over the states."""
    return measure(lambda: [method.step(state) for state in states], seconds=2.0).per(len(states))


def compare(console: Console, ball_count: int) -> Rows:
    """The paper's table."""
    scene, states = make_scene(ball_count)
    few = states[::COMPARED_EVERY]
    methods = [BruteForce(scene), Grid(scene), BinaryTrees(scene), PacketTrees(scene)]
    count = check_alike(methods, few)
    rows: Rows = {}
    for method in methods:
        own = few if method.name == "brute force" else states
        rows[method.name] = time_steps(method, own), mean_work(method, own)
    columns = "Hz", "a step", "× brute force", "× voxels", "box tests", "exact tests"
    result = table(
        f"{ball_count}×512 deformable faces, 3,592 rigid ones", "", *columns, "paper: Hz", "× brute force", "× voxels"
    )
    for name, (timing, work) in rows.items():
        over = [rows[base][0].median / timing.median for base in ("brute force", "voxels")]
        cells = [f"{1 / timing.median:,.3g}" if timing.median > 0.01 else f"{1 / timing.median:,.0f}", str(timing)]
        cells += [f"{ratio:,.3g}" for ratio in over] + [f"{work.box:,}", f"{work.exact:,}"]
        result.add_row(name, *cells, *PAPER.get((name, ball_count), ("", "", "")))
    console.print(result)
    console.print(f"All methods give the same {count:,} pairs at {len(few)} steps of {STEPS}.\n")
    return rows


def compare_sizes(console: Console) -> tuple[float, float]:
    """The same scene with smaller faces; returns how much faster than voxels both kinds of tree are in the end."""
    columns = "voxels", "OBB/AAB trees", "× voxels", "packet trees", "× voxels"
    result = table("a step with every face cut in four, and again", "deformable × rigid faces", *columns)
    over = (0.0, 0.0)
    for cuts in range(3):
        scene, states = make_scene(1, cuts)
        few = states[::COMPARED_EVERY]
        methods = [Grid(scene), BinaryTrees(scene), PacketTrees(scene)]
        check_alike(methods, few)
        grid, binary, packets = (time_steps(method, few) for method in methods)
        over = grid.median / binary.median, grid.median / packets.median
        cells = str(grid), str(binary), f"{over[0]:.2f}", str(packets), f"{over[1]:.2f}"
        result.add_row(f"{len(scene.balls[0]):,} × {sum(map(len, scene.rigid)):,}", *cells)
    console.print(result)
    return over


class Rejected(BinaryTrees):
    """OBBs for the ball too, brought up to date by one of §5's ways."""

    def __init__(self, scene: Scene, way: Any) -> None:
        super().__init__(scene, "obb")
        self.way = way

    def refit(self, state: State) -> None:
        for i, (ball, vertices) in enumerate(zip(self.meshes, state.balls, strict=True)):
            self.balls[i] = self.way(self.balls[i], vertices, ball.faces) or self.balls[i]


def rebuild(kind: str) -> Any:
    return lambda tree, vertices, faces: binary.build(kind, vertices, faces)


def time_phases(method: BinaryTrees, states: list[State], rounds: int = 15) -> tuple[Timing, Timing]:
    """The update of a step and the query after it, each from whole passes over the states."""
    method.step(states[0])
    passes = []
    for _ in range(rounds):
        update = query = 0.0
        for state in states:
            start = time.perf_counter()
            method.refit(state)
            middle = time.perf_counter()
            method.query(state)
            update, query = update + (middle - start), query + (time.perf_counter() - middle)
        passes.append((update / len(states), query / len(states)))
    quartiles = [statistics.quantiles(column, n=4) for column in zip(*passes, strict=True)]
    first, second = (Timing(median, low, high, rounds) for low, median, high in quartiles)
    return first, second


def compare_refits(console: Console) -> None:
    """§5: how a deforming tree may be kept up to date, and what the next query pays for it."""
    scene, states = make_scene(1)
    ways = {
        "AAB, refit (the paper's choice)": BinaryTrees(scene),
        "OBB, box of boxes (rejected)": Rejected(scene, rejected_refits.refit_box_of_boxes),
        "OBB, merged statistics (rejected)": Rejected(scene, rejected_refits.refit_statistics),
        "OBB, rebuilt": Rejected(scene, rebuild("obb")),
        "AAB, rebuilt": Rejected(scene, rebuild("aabb")),
    }
    check_alike(list(ways.values()), states[::COMPARED_EVERY])
    columns = "update", "× AAB refit", "query after it", "box tests", "exact tests"
    result = table("keeping the tree of 512 deforming faces up to date (§5)", "", *columns)
    base = None
    for name, method in ways.items():
        update, query = time_phases(method, states)
        work = mean_work(method, states)
        base = base or update
        cells = [str(update), f"{update.median / base.median:.1f}", str(query), f"{work.box:,}", f"{work.exact:,}"]
        result.add_row(name, *cells)
    console.print(result)


def explain(console: Console, rows: Rows, finer: tuple[float, float]) -> None:
    (brute, pairs), (trees, work), (voxels, cells) = rows["brute force"], rows["OBB/AAB trees"], rows["voxels"]
    per_pair, paper_pair = brute.median / pairs.exact, 1 / 0.1 / pairs.exact
    tests, looks = work.box + work.exact, cells.box + cells.exact
    reasons = (
        "Why the ratios differ from the paper's ×550 and ×3.3:",
        f"brute force tests {pairs.exact:,} pairs of faces a step.",
        f"At 0.1 Hz the paper's test took {paper_pair * 1e6:.1f} µs a pair,",
        f"{paper_pair * PAPER_MEGAHERTZ * 1e6:,.0f} cycles at {PAPER_MEGAHERTZ} MHz;",
        f"ours takes {per_pair * 1e9:.0f} ns, since filtered signs reject most pairs: there is less to save.",
        f"The OBB/AAB trees do {tests:,} tests instead, 1 for {pairs.exact / tests:,.0f} pairs,",
        f"at {trees.median / tests * 1e9:.0f} ns each with all overheads: six objects are six calls from Python.",
        f"Voxels look at {looks:,} pairs in one call, {voxels.median / looks * 1e9:.0f} ns each,",
        f"most of them by one comparison of boxes, and enter only the {512 + 64} of 4,104 faces that move.",
        "With 16 times as many faces calls no longer count:",
        f"×{finer[0]:.1f} (OBB/AAB) and ×{finer[1]:.1f} (packets) over voxels.",
    )
    console.print(*reasons, soft_wrap=True)


class Watch:
    """Processor time that goes by in some methods of objects, the calls within calls counted once."""

    def __init__(self) -> None:
        self.total, self.depth = 0.0, 0

    def follow(self, owner: Any, name: str) -> None:
        method = getattr(owner, name)

        def watched(*arguments: Any, **options: Any) -> Any:
            self.depth += 1
            start = time.thread_time()
            try:
                return method(*arguments, **options)
            finally:
                self.depth -= 1
                self.total += time.thread_time() - start if self.depth == 0 else 0.0

        setattr(owner, name, watched)


def simulate(console: Console) -> None:
    """The whole simulation: springs, contacts and detection, steps of 1/60 s; the tool goes its way in 240 of them."""
    steps, warm = 240, 10
    surgery = abut.scenes.soft_surgery(steps)
    detection, body = Watch(), surgery.world.shape_of(surgery.ball)[0][0]
    detection.follow(surgery.world._colliders, "place")  # boxes, and the ball's for what is convex
    detection.follow(surgery.world._motor, "_find_contacts")
    detection.follow(body.body, "update")  # the ball's tree
    times, substeps = [], []
    for k in range(steps - 1):
        if k == warm:
            detection.total = 0.0
        start = time.thread_time()
        surgery.step(k)
        times.append(time.thread_time() - start)
        substeps.append(surgery.dt / surgery.world._motor.fineness)
    times = times[warm:]
    hertz, share = 1.0 / statistics.median(times), detection.total / sum(times)
    rows = table("the whole simulation, one ball: a step of 1/60 s of the world", "", "abut", "paper")
    rows.add_row("Hz (processor time)", f"{hertz:,.0f}", "55")
    rows.add_row("× the paper's", f"{hertz / 55.0:,.2f}", "1")
    rows.add_row("share of detection", f"{share:.0%}", "77 %")
    rows.add_row("substeps", f"{statistics.median(substeps):,.0f}", "")
    rows.add_row(
        "deepest contact at the end, in slops", f"{surgery.world.contacts().depth.max() / surgery.world.slop:.2f}", ""
    )
    console.print(rows)


def run(console: Console) -> None:
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        rows = compare(console, 1)
        compare(console, 4)
        finer = compare_sizes(console)
        compare_refits(console)
        explain(console, rows, finer)
        simulate(console)
    finally:
        numba.set_num_threads(threads)
