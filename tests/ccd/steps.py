"""Steps to search, and the slow and obvious answers: pairs by testing all, in float64 and with fractions."""

import itertools
import json
from fractions import Fraction
from pathlib import Path

import numpy as np

import abut

SCENES = Path(__file__).parents[3] / "shared" / "data" / "scenes"
STEPS = {"cloth-ball": ("cloth_ball92", "cloth_ball93", "92"), "cloth-funnel": ("227", "228", "227")}

DIRECTIONS = {
    "axes": [(1, 0, 0), (0, 1, 0), (0, 0, 1)],
    "diagonals": [(1, 1, 1), (1, 1, -1), (1, -1, 1), (1, -1, -1)],
    "edges": [(1, 1, 0), (1, -1, 0), (1, 0, 1), (1, 0, -1), (0, 1, 1), (0, 1, -1)],
}
VOLUMES = {
    "aabb": ("axes",),
    "kdop6": ("axes",),
    "kdop8": ("diagonals",),
    "kdop12": ("edges",),
    "kdop14": ("axes", "diagonals"),
    "kdop18": ("axes", "edges"),
    "kdop26": ("axes", "diagonals", "edges"),
}


def surface(mesh, v_t0, v_t1):
    """The same step without the vertices of no face, for searches that take what they are given."""
    used, faces = np.unique(mesh.faces, return_inverse=True)
    return abut.Mesh(mesh.vertices[used], faces.reshape(-1, 3)), v_t0[used], v_t1[used]


def intervals(v_t0, v_t1, rows, direction):
    along = np.concatenate([(v_t0 @ np.array(direction))[rows], (v_t1 @ np.array(direction))[rows]], axis=1)
    return along.min(axis=1), along.max(axis=1)


def brute_force(a, b, volume="aabb", margin=0.0, share_vertices=False, smaller_first=False):
    """Sorted pairs of rows of a and b whose intervals come within the margin; a and b are (v_t0, v_t1, rows)."""
    meets = np.ones((len(a[2]), len(b[2])), dtype=bool)
    for name in VOLUMES[volume]:
        for direction in DIRECTIONS[name]:
            lo_a, hi_a = intervals(*a, direction)
            lo_b, hi_b = intervals(*b, direction)
            reach = margin * np.sqrt(np.dot(direction, direction))
            meets &= (lo_a[:, None] - hi_b[None] <= reach) & (lo_b[None] - hi_a[:, None] <= reach)
    if share_vertices:
        meets &= ~(a[2][:, None, :, None] == b[2][None, :, None, :]).any(axis=(2, 3))
    if smaller_first:
        meets &= np.arange(len(a[2]))[:, None] < np.arange(len(b[2]))
    return np.argwhere(meets)


def brute_force_self(mesh, v_t0, v_t1, volume="aabb", margin=0.0):
    used = np.unique(mesh.faces)  # a vertex of no face is no part of the surface
    edges, faces = (v_t0, v_t1, mesh.edges), (v_t0, v_t1, mesh.faces)
    vertex_face = brute_force((v_t0, v_t1, used[:, None]), faces, volume, margin, share_vertices=True)
    vertex_face[:, 0] = used[vertex_face[:, 0]]
    return (
        vertex_face,
        brute_force(edges, edges, volume, margin, share_vertices=True, smaller_first=True),
    )


def soup(rng, face_count, size=0.4):
    """Triangles here and there, some with common vertices, and how they move."""
    centres = rng.uniform(-1, 1, (face_count, 1, 3))
    v_t0 = (centres + size * rng.normal(size=(face_count, 3, 3))).reshape(-1, 3)
    faces = np.arange(3 * face_count).reshape(-1, 3)
    faces[rng.random(faces.shape) < 0.2] = rng.integers(0, 3 * face_count)
    return abut.Mesh(v_t0, faces), v_t0, v_t0 + 0.3 * rng.normal(size=v_t0.shape)


def lattice(rng, face_count, size=3):
    """Triangles on small integers: many touch, coincide, or have no area."""
    v_t0 = rng.integers(-size, size + 1, (face_count + 4, 3)).astype(float)
    faces = rng.integers(0, len(v_t0), (face_count, 3))
    return abut.Mesh(v_t0, faces), v_t0, v_t0 + rng.integers(-1, 2, v_t0.shape)


def crease(rng, face_count):
    """Differences far below the resolution of float32: what boxes of float32 cannot tell apart."""
    mesh, v_t0, v_t1 = lattice(rng, face_count, size=2)
    return mesh, 1.0 + v_t0 * 2.0**-40, 1.0 + v_t1 * 2.0**-40


def one_triangle(rng, face_count):
    v = np.eye(3)
    return abut.Mesh(v, [[0, 1, 2]]), v, v + 1.0


def all_at_one_point(rng, face_count):
    v = np.full((9, 3), 0.3)
    return abut.Mesh(v, np.arange(9).reshape(3, 3)), v, v.copy()


def at_rest(rng, face_count):
    mesh, v_t0, _ = soup(rng, face_count)
    return mesh, v_t0, v_t0.copy()


def no_edges(rng, face_count):
    v = rng.normal(size=(4, 3))
    return abut.Mesh(v, [[0, 0, 0], [2, 2, 2]]), v, v - 0.5


def flat(rng, face_count):
    mesh, v_t0, v_t1 = soup(rng, face_count)
    return mesh, v_t0 * (1, 1, 0), v_t1 * (1, 1, 0)


def huge(rng, face_count):
    mesh, v_t0, v_t1 = soup(rng, face_count)
    return mesh, v_t0 * 1e74, v_t1 * 1e74


def tiny(rng, face_count):
    mesh, v_t0, v_t1 = soup(rng, face_count)
    return mesh, v_t0 * 1e-100, v_t1 * 1e-100


def far_away(rng, face_count):
    mesh, v_t0, v_t1 = soup(rng, face_count)
    return mesh, v_t0 + 1e6, v_t1 + 1e6


KINDS = [
    soup,
    lattice,
    crease,
    one_triangle,
    all_at_one_point,
    at_rest,
    no_edges,
    flat,
    huge,
    tiny,
    far_away,
]


def load_scene(name):
    """Mesh, positions at both ends, and the pairs that truly collide: vertex-face and edge-edge."""
    first, second, number = STEPS[name]
    mesh = abut.load(SCENES / name / f"{first}.ply")
    v_t1 = abut.load(SCENES / name / f"{second}.ply").vertices
    counts = len(mesh.vertices), len(mesh.edges)
    offsets = {"vf": (0, sum(counts)), "ee": (counts[0], counts[0])}
    true = {}
    for kind, offset in offsets.items():
        pairs = np.array(json.loads((SCENES / name / f"{number}{kind}.json").read_text()))
        verdicts = np.array(json.loads((SCENES / name / f"{number}{kind}_mma_bool.json").read_text()), dtype=bool)
        pairs = pairs[verdicts]
        pairs = np.sort(pairs, axis=1) - offset
        true[kind] = pairs
    return mesh, mesh.vertices, v_t1, true["vf"], true["ee"]


def as_set(pairs):
    return set(map(tuple, np.asarray(pairs).tolist()))


# ---- with fractions


def exact(points):
    return [[Fraction(float(x)) for x in point] for point in points]


def determinant(a, b, c):
    return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0])


def volume_coefficients(x_t0, x_t1):
    """Bernstein coefficients of the volume of four moving points: the mean of the determinants with i columns taken at t = 1."""
    ends = [[[p - q for p, q in zip(x[k], x[0], strict=True)] for k in (1, 2, 3)] for x in (exact(x_t0), exact(x_t1))]
    groups = [[], [], [], []]
    for choice in itertools.product((0, 1), repeat=3):
        groups[sum(choice)].append(determinant(*(ends[c][k] for k, c in enumerate(choice))))
    return [sum(group) / len(group) for group in groups]


LINES = [(1, 0, 0), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 1, 1)]


def is_separated(x_t0, x_t1, split, lines=LINES):
    """Whether one of the lines has the first `split` points on one side of the others, at both ends on the same side."""
    for line in np.asarray(lines, float).tolist():
        sides = set()
        for x in (exact(x_t0), exact(x_t1)):
            along = [sum(Fraction(s) * c for s, c in zip(line, point, strict=True)) for point in x]
            for p, q in itertools.product(along[:split], along[split:]):
                sides.add((p > q) - (p < q))
        if sides in ({1}, {-1}):
            return True
    return False
