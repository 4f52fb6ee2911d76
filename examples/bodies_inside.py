"""Bodies that move inside a partition of space: a catheter in vessels, soft cubes among obstacles, a hand over pyramids, a passage cut and sewn.

python examples/bodies_inside.py [catheter cubes hand passage] [--frames FOLDER] [--picture hand.svg]

The scenes of Jund 2010, §6.3.2 and §6.3.3, without a window. Physics proposes positions, the partition says how far they can be reached. After
every step an independent test, which knows nothing of cells, looks for an edge of the body that crosses a face of an obstacle, and for an edge
of an obstacle that crosses a face of a coarse hand, which moves continuously: by signs of determinants, exact where floating point is in
doubt. Some vertex of each piece must lie inside: a way from it to a point outside crosses the walls an odd number of times. With --frames each
scene is written as an archive that `abut view` shows.
"""

import argparse
import functools
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np

import abut
from abut import cells, dynamics, scenes
from abut.mesh.picture import draw_mesh

DOUBT = 1e-14
"""Determinants below this part of the sum of their terms' magnitudes are computed exactly: 20 times the bound on their rounding error."""
EVERY = 4  # steps between two frames


def orientation(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
    """(n,) the side of the plane abc on which d lies: −1, 0 or 1, exactly."""
    u, v, w = b - a, c - a, d - a
    terms = [w[:, i] * (u[:, j] * v[:, k] - u[:, k] * v[:, j]) for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1))]
    size = sum(
        np.abs(w[:, i]) * (np.abs(u[:, j] * v[:, k]) + np.abs(u[:, k] * v[:, j]))
        for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
    )
    total = sum(terms)
    signs = np.sign(total).astype(int)
    for row in np.flatnonzero(np.abs(total) <= DOUBT * size):
        p, q, r, s = ([Fraction(x) for x in point[row].tolist()] for point in (a, b, c, d))
        u, v, w = ([x - y for x, y in zip(end, p, strict=True)] for end in (q, r, s))
        exact = sum(w[i] * (u[j] * v[k] - u[k] * v[j]) for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)))
        signs[row] = (exact > 0) - (exact < 0)
    return signs


def exact(a: np.ndarray, b: np.ndarray) -> list[Fraction]:
    """The vector from a to b."""
    return [Fraction(y) - Fraction(x) for x, y in zip(a.tolist(), b.tolist(), strict=True)]


def crosses_at_edge(p: np.ndarray, q: np.ndarray, side: int, corners: np.ndarray, triangles: np.ndarray) -> bool:
    """Whether the segment pq, which passes through an edge of a triangle, changes sides of the surface there: else it touches a fold.

    It changes sides where it passes both triangles of the edge the same way. More than two at the edge, or one, count as crossed.
    """
    has_a, has_b = ((triangles == end).all(axis=2).any(axis=1) for end in (corners[side], corners[side - 2]))
    there = triangles[has_a & has_b]
    way, passes = exact(p, q), []
    for triangle in there:
        u, v = exact(triangle[0], triangle[1]), exact(triangle[0], triangle[2])
        normal = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
        passes.append(sum(n * x for n, x in zip(normal, way, strict=True)))
    return len(there) != 2 or passes[0] * passes[1] > 0


def count_crossings(segments: np.ndarray, triangles: np.ndarray) -> int:
    """How many pairs of a segment (n,2,3) and a triangle (m,3,3) cross. A segment that only touches a fold of the surface does not."""
    few, many = (segments, triangles) if len(segments) < len(triangles) else (triangles, segments)
    low, high = many.min(axis=1), many.max(axis=1)
    pairs = [(np.empty(0, int), np.empty(0, int))]
    lowest, highest = low.min(axis=0, initial=np.inf), high.max(axis=0, initial=-np.inf)
    for i, (a, b) in enumerate(zip(few.min(axis=1), few.max(axis=1), strict=True)):
        if (a <= highest).all() and (b >= lowest).all():
            near = np.flatnonzero((a <= high).all(axis=1) & (b >= low).all(axis=1))
            pairs.append((np.full(len(near), i), near))
    i, j = (np.concatenate(rows) for rows in zip(*pairs, strict=True))
    i, j = (i, j) if few is segments else (j, i)
    (p, q), (a, b, c) = segments[i].transpose(1, 0, 2), triangles[j].transpose(1, 0, 2)
    through = orientation(a, b, c, p) * orientation(a, b, c, q) < 0
    p, q, a, b, c, j = (rows[through] for rows in (p, q, a, b, c, j))
    sides = np.stack([orientation(p, q, *side) for side in ((a, b), (b, c), (c, a))])
    inside = (sides >= 0).all(axis=0) | (sides <= 0).all(axis=0)
    at_edge = inside & ((sides == 0).sum(axis=0) == 1)
    for row in np.flatnonzero(at_edge):
        side = int(np.argmin(np.abs(sides[:, row])))
        inside[row] = crosses_at_edge(p[row], q[row], side, triangles[j[row]], triangles)
    return int(inside.sum())


def walls(env: cells.Environment) -> np.ndarray:
    """(k,3,3) the faces between free cells and obstacles or the outside, in triangles."""
    darts = env.darts
    solid = np.append(env.obstacle[env.part_cell], True)  # −1, the outside, is the last
    inner = np.flatnonzero((darts.cell >= 0) & ~solid[darts.cell] & solid[darts.cell[darts.phi3]])
    first, following = inner.copy(), darts.phi1[inner]
    while (following != inner).any():
        first = np.minimum(first, following)
        following = np.where(following == inner, inner, darts.phi1[following])
    loop = np.stack((darts.vertex[first], darts.vertex[inner], darts.vertex[darts.phi1[inner]]), axis=1)
    return env.vertices[loop[(loop[:, 0] != loop[:, 1]) & (loop[:, 0] != loop[:, 2])]]


@functools.cache
def _pieces(edges: bytes, count: int) -> list[np.ndarray]:
    a, b = np.frombuffer(edges, np.int64).reshape(-1, 2).T
    label = np.arange(count)
    while (label[a] != label[b]).any():
        lower = np.minimum(label[a], label[b])
        np.minimum.at(label, a, lower)
        np.minimum.at(label, b, lower)
    order = np.argsort(label, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(label[order])) + 1)


def pieces_of(edges: np.ndarray, count: int) -> list[np.ndarray]:
    """The vertices of each piece of a body that is connected by edges."""
    return _pieces(np.ascontiguousarray(edges, np.int64).tobytes(), count)


def check(mobile: cells.Mobile, solid: np.ndarray, *, with_faces: bool = False) -> None:
    """No edge of the body crosses a wall, no piece of it is in an obstacle; with faces, no edge of a wall crosses a face."""
    position = mobile.position
    assert count_crossings(position[mobile.edges], solid) == 0
    corner = solid.reshape(-1, 3).max(axis=0)
    outside = corner + np.array([0.1234, 0.2345, 0.3456]) * np.ptp(solid.reshape(-1, 3), axis=0)
    for piece in pieces_of(mobile.edges, len(mobile)):
        ways = (np.array([[start, outside]]) for start in position[piece])
        assert any(count_crossings(way, solid) % 2 == 1 for way in ways)  # those that touch a wall do not tell
    if with_faces:
        sides = solid[:, [(0, 1), (1, 2), (2, 0)]].reshape(-1, 2, 3)
        assert count_crossings(sides, mobile.position[mobile.faces]) == 0


class Recorder:
    """Positions of every fourth step, and the faces to show them with: the body's own, or prisms around its edges."""

    def __init__(self, edges: np.ndarray, faces: np.ndarray, thickness: float = 0.1) -> None:
        self._edges, self._faces, self._thickness = edges, faces, thickness
        self._frames: list[np.ndarray] = []

    def take(self, step: int, points: np.ndarray) -> None:
        """Note the positions if it is their turn."""
        if step % EVERY == 0:
            self._frames.append(points if len(self._faces) else self._prisms(points))

    def _prisms(self, points: np.ndarray) -> np.ndarray:
        corners = self._thickness * np.array([(1.0, 0.0, -0.5), (-0.5, 1.0, 0.2), (-0.5, -1.0, 0.3)])
        return (points[self._edges][:, :, np.newaxis] + corners).reshape(-1, 3)

    def save(self, path: Path) -> None:
        """Write an archive that `abut view` reads."""
        faces = self._faces
        if not len(faces):
            prism = np.array([(0, 1, 4), (0, 4, 3), (1, 2, 5), (1, 5, 4), (2, 0, 3), (2, 3, 5), (0, 2, 1), (3, 4, 5)])
            faces = (6 * np.arange(len(self._edges))[:, np.newaxis, np.newaxis] + prism).reshape(-1, 3)
        np.savez_compressed(path, frames=np.array(self._frames), faces=faces)
        print(f"the frames are in {path}")


def catheter() -> Recorder:
    """20 particles pushed through 200 thousand tetrahedra; after 400 steps the head is in a branch, far from the trunk."""
    scene = scenes.catheter_scene()
    mobile, solid = cells.Mobile(scene.environment, (scene.points, scene.edges)), walls(scene.environment)
    film, visits, hits = Recorder(scene.edges, scene.faces, 0.3), [], 0
    for step in range(400):
        scenes.push_along(scene.model, 6.0)
        moves = dynamics.couple(scene.model, mobile, 0.02, after="slide")
        visits.append(int(moves.visits.sum()))
        hits += int(moves.is_hit.sum())
        check(mobile, solid)
        film.take(step, mobile.position)
    share = max(visits) / scene.environment.cell_count
    print(
        f"catheter: at most {100 * share:.2f} % of {scene.environment.cell_count:,} tetrahedra looked at in a step, {hits} collisions"
    )
    assert share < 0.03
    assert hits > 0
    assert np.linalg.norm(mobile.position[-1] - scene.points[-1]) > 30.0
    lengths = np.linalg.norm(np.diff(mobile.position, axis=0), axis=1)
    assert np.abs(lengths / 1.5 - 1.0).max() < 0.3
    return film


def cubes() -> Recorder:
    """225 soft cubes in 1,000 cells of which a tenth are obstacles."""
    scene = scenes.cube_scene()
    mobile, solid = cells.Mobile(scene.environment, (scene.points, scene.edges)), walls(scene.environment)
    film, hits = Recorder(scene.edges, scene.faces, 0.02), 0
    for step in range(100):
        moves = dynamics.couple(scene.model, mobile, 0.01, restitution=0.5)
        hits += int(moves.is_hit.sum())
        check(mobile, solid)
        film.take(step, mobile.position)
    crossed = (moves.cell.reshape(-1, 8) != cells.Particles(scene.environment, scene.points).cell.reshape(-1, 8)).any(
        axis=1
    )
    print(
        f"cubes: {hits:,} collisions of {len(mobile):,} particles in 100 steps, {int(crossed.sum())} cubes are in other cells than at first"
    )
    assert hits > 1000
    assert crossed.mean() > 0.5
    return film


def draw(body: cells.Mobile, solid: np.ndarray) -> str:
    """The hand and the pyramids below it."""
    spikes = solid[(solid[:, :, 2] <= 0.25).all(axis=1) & (np.ptp(solid[:, :, 2], axis=1) > 0)]
    mesh = abut.Mesh(
        np.concatenate((body.position, spikes.reshape(-1, 3))),
        np.concatenate((body.faces, len(body) + np.arange(3 * len(spikes)).reshape(-1, 3))),
    )
    colors = np.repeat([(214, 168, 140), (128, 140, 160)], (len(body.faces), len(spikes)), axis=0)
    return draw_mesh(mesh, colors)


def hand(picture: Path | None) -> Recorder:
    """A hand of 11,906 vertices falls onto pyramids; then a coarse one of 746, edges and faces tested continuously."""
    small = scenes.hand_scene(1, height=0.1)
    coarse, solid = cells.Mobile(small.environment, abut.Mesh(small.points, small.faces)), walls(small.environment)
    hits = 0
    for _ in range(50):
        moves = dynamics.couple(small.model, coarse, 0.01, mode="continuous", after="slide", friction=0.3)
        hits += int(moves.is_hit.sum())
        check(coarse, solid, with_faces=True)
    assert hits > 100
    if picture is not None:
        picture.write_text(draw(coarse, solid), encoding="utf-8")
        print(f"the picture is {picture}")

    scene = scenes.hand_scene()
    mobile, solid = cells.Mobile(scene.environment, abut.Mesh(scene.points, scene.faces)), walls(scene.environment)
    film, hits, lowest = Recorder(scene.edges, scene.faces), 0, np.inf
    for step in range(90):
        moves = dynamics.couple(scene.model, mobile, 0.01, after="slide", friction=0.3)
        hits += int(moves.is_hit.sum())
        lowest = min(lowest, float(mobile.position[:, 2].min()))
        check(mobile, solid)
        film.take(step, mobile.position)
    print(
        f"hand: {hits:,} collisions of {len(mobile):,} vertices in 90 steps, its lowest point {lowest:.3f} above the floor"
    )
    assert hits > 0
    assert 0.0 <= lowest < 0.25
    return film


def passage() -> Recorder:
    """A tool cuts through a wall, a catheter passes, the wall is sewn up behind it."""
    place = scenes.Passage()
    env, model = place.environment, place.scene.model
    mobile = cells.Mobile(env, (place.scene.points, place.scene.edges))
    film, solid, opened, closed = Recorder(place.scene.edges, place.scene.faces, 0.03), walls(env), 0, 0
    held = 0.0
    for step in range(600):
        if opened < 2 and step == 50 * (opened + 1):  # the tool needs 50 steps for each cube
            held = max(held, float(mobile.position[:, 2].max()))
            place.cut(opened)
            opened, solid = opened + 1, walls(env)
        tail = float(mobile.position[:, 2].min())
        if closed < opened and tail > scenes.passage.WALL[closed] + 1.05:
            place.sew(closed)
            closed, solid = closed + 1, walls(env)
        scenes.push_along(model, 4.0)
        dynamics.couple(model, mobile, 0.01)
        check(mobile, solid)
        film.take(step, mobile.position)
        if closed == 2 and step % 50 == 49:
            break
    print(f"passage: open after {50 * opened} steps, the catheter is past it and it is sewn up after {step + 1}")
    assert held <= 6.0  # nothing went on before it was cut
    assert (opened, closed) == (2, 2)
    assert mobile.position[:, 2].min() > 7.0
    assert env.check_integrity() == []
    return film


def main() -> None:
    """Run the scenes named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenes", nargs="*", help="catheter, cubes, hand, passage; all by default")
    parser.add_argument("--frames", type=Path, help="write an archive a scene into this folder")
    parser.add_argument("--picture", type=Path, help="write an SVG of the hand here")
    arguments = parser.parse_args()
    jobs: dict[str, Callable[[], Recorder]] = {
        "catheter": catheter,
        "cubes": cubes,
        "hand": lambda: hand(arguments.picture),
        "passage": passage,
    }
    for name in arguments.scenes or jobs:
        film = jobs[name]()
        if arguments.frames:
            arguments.frames.mkdir(parents=True, exist_ok=True)
            film.save(arguments.frames / f"{name}.npz")


if __name__ == "__main__":
    main()
