"""Single surfaces: sphere, box, torus and bumpy ball, closed with normals outwards, and a cloth, open."""

import itertools
import numbers

import numpy as np

from abut.core import arrays
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput
from abut.core.types import Number, VectorLike
from abut.geometry.rows import unit_vectors
from abut.mesh import Mesh

ORIGIN = (0.0, 0.0, 0.0)
MOST_SUBDIVISIONS = 10  # 21 million faces
MOST_FACES = 2**24
WAVE_COUNT = 12
ICOSAHEDRON_FACES = """
    0 11 5  0 5 1  0 1 7  0 7 10  0 10 11  1 5 9  5 11 4  11 10 2  10 7 6  7 1 8
    3 9 4  3 4 2  3 2 6  3 6 8  3 8 9  4 9 5  2 4 11  6 2 10  8 6 7  9 8 1
"""


def icosphere(subdivisions: int = 3, radius: Number = 1.0, center: VectorLike = ORIGIN) -> Mesh:
    """A ball: an icosahedron whose faces are cut in four, `subdivisions` times.

    It has 20·4^subdivisions faces; all vertices lie on the sphere, so its volume is a little less than that of the ball.

    Args:
        subdivisions: how many times faces are cut, 0 to 10.
        radius: of the sphere.
        center: (3,) of the sphere.

    Returns:
        A closed mesh, normals outwards.

    Examples:
        >>> import numpy as np
        >>> from abut import scenes
        >>> ball = scenes.icosphere(2, radius=0.5)
        >>> ball
        Mesh(162 vertices, 320 faces)
        >>> round(ball.volume / (np.pi / 6), 3)
        0.966
    """
    times = arrays.count(subdivisions, "subdivisions", most=MOST_SUBDIVISIONS)
    size, middle = arrays.positive(radius, "radius"), arrays.coordinates(center, "center", (3,))
    corners = np.array(ICOSAHEDRON_FACES.split(), np.int64)
    golden = (1 + np.sqrt(5)) / 2
    ring = np.array([(-1, golden, 0), (1, golden, 0), (-1, -golden, 0), (1, -golden, 0)])
    ball = Mesh(np.concatenate([np.roll(ring, shift, axis=1) for shift in range(3)]), corners.reshape(-1, 3))
    for _ in range(times):
        ball = subdivide(ball)
        ball = Mesh(unit_vectors(ball.vertices), ball.faces)
    return Mesh(middle + size * unit_vectors(ball.vertices), ball.faces)


def box(extents: VectorLike = (1.0, 1.0, 1.0), center: VectorLike = ORIGIN) -> Mesh:
    """A box along the axes: 8 vertices and 12 faces.

    Args:
        extents: (3,) its full lengths along x, y and z.
        center: (3,) its middle.

    Returns:
        A closed mesh, normals outwards.

    Examples:
        >>> from abut import scenes
        >>> scenes.box((1, 2, 3), center=(4, 5, 6)).bounds
        array([[3.5, 4. , 4.5],
               [4.5, 6. , 7.5]])
    """
    lengths, middle = arrays.coordinates(extents, "extents", (3,)), arrays.coordinates(center, "center", (3,))
    if (lengths <= 0).any():
        raise InvalidInput("extents", f"{lengths.min():g} is not positive", int(np.argmax(lengths <= 0)))
    corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    quads = np.array([(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
    return Mesh(middle + corners * lengths, quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3))


def torus(
    major: Number = 1.0,
    minor: Number = 0.3,
    major_count: int = 32,
    minor_count: int = 16,
    center: VectorLike = ORIGIN,
) -> Mesh:
    """A torus about the z axis, of 2·major_count·minor_count faces.

    Args:
        major: distance from the axis to the middle of the tube.
        minor: radius of the tube, below `major`.
        major_count: vertices around the axis, at least 3.
        minor_count: vertices around the tube, at least 3.
        center: (3,) of the torus.

    Returns:
        A closed mesh with one hole, normals outwards.

    Examples:
        >>> from abut import scenes
        >>> ring = scenes.torus(2.0, 0.5, 24, 12)
        >>> ring
        Mesh(288 vertices, 576 faces)
        >>> len(ring.vertices) - len(ring.edges) + len(ring)
        0
    """
    outer, inner = arrays.positive(major, "major"), arrays.positive(minor, "minor")
    if inner >= outer:
        raise InvalidInput("minor", f"{inner:g} is not below major, {outer:g}: the tube would meet itself")
    around = arrays.count(major_count, "major_count", least=3, most=MOST_FACES)
    across = arrays.count(minor_count, "minor_count", least=3, most=MOST_FACES // around)
    middle = arrays.coordinates(center, "center", (3,))
    u, v = np.meshgrid(_angles(around), _angles(across), indexing="ij")
    distance = outer + inner * np.cos(v)
    vertices = np.stack((distance * np.cos(u), distance * np.sin(u), inner * np.sin(v)), axis=-1)
    i, j = np.meshgrid(np.arange(around), np.arange(across), indexing="ij")
    i_next, j_next = (i + 1) % around, (j + 1) % across
    quads = np.stack((i * across + j, i_next * across + j, i_next * across + j_next, i * across + j_next), axis=-1)
    return Mesh(middle + vertices.reshape(-1, 3), quads[..., [0, 1, 2, 0, 2, 3]].reshape(-1, 3))


def bumpy(
    face_count: int = 2000,
    seed: int = 0,
    radius: Number = 1.0,
    roughness: Number = 0.3,
    center: VectorLike = ORIGIN,
) -> Mesh:
    """A ball with smooth random bumps and a given number of faces.

    Every ray from the center crosses it once, so it does not meet itself.

    Args:
        face_count: at least 6; one more is made where it is odd, for a closed surface has an even number.
        seed: of the bumps.
        radius: of the ball without its bumps.
        roughness: how high bumps are and how deep hollows, as a share of the radius: 0 ≤ roughness < 1.
        center: (3,) of the ball.

    Returns:
        A closed mesh, normals outwards.

    Examples:
        >>> import numpy as np
        >>> from abut import scenes
        >>> rock = scenes.bumpy(500, roughness=0.3)
        >>> rock
        Mesh(252 vertices, 500 faces)
        >>> distance = np.linalg.norm(rock.vertices, axis=1)
        >>> float(distance.min()) > 0.7, float(distance.max()) < 1.3
        (True, True)
    """
    faces_wanted = arrays.count(face_count, "face_count", least=6, most=MOST_FACES)
    rng = np.random.default_rng(arrays.count(seed, "seed"))
    size, middle = arrays.positive(radius, "radius"), arrays.coordinates(center, "center", (3,))
    depth = arrays.scalar(roughness, "roughness", least=0.0, most=1 - 2.0**-10)
    directions, faces = _ball_of_rings((faces_wanted + 1) // 2 + 2)
    waves = rng.normal(scale=4.0, size=(WAVE_COUNT, 3))
    phases = rng.uniform(0, 2 * np.pi, WAVE_COUNT)
    bumps = np.zeros(len(directions))
    for wave, phase in zip(waves, phases, strict=True):
        bumps += np.cos(directions @ wave + phase) / WAVE_COUNT
    return Mesh(middle + directions * (size * (1 + depth * bumps))[:, np.newaxis], faces)


def cloth(nx: int = 32, ny: int = 32, size: Number | VectorLike = 1.0, center: VectorLike = ORIGIN) -> Mesh:
    """A flat cloth of nx·ny squares, each cut in two along alternating diagonals.

    Vertex (i, j) is row i·(ny + 1) + j, at i along x and j along y.

    Args:
        nx, ny: squares along x and along y.
        size: its full length, or a pair for x and y.
        center: (3,) its middle. All of the cloth is at the height of it.

    Returns:
        An open mesh of 2·nx·ny faces, normals along +z.

    Examples:
        >>> from abut import scenes
        >>> sheet = scenes.cloth(2, 3, size=(1.0, 1.5))
        >>> sheet
        Mesh(12 vertices, 12 faces)
        >>> sheet.vertices[1 * 4 + 2]
        array([0.  , 0.25, 0.  ])
    """
    across = arrays.count(nx, "nx", least=1, most=MOST_FACES // 2)
    along = arrays.count(ny, "ny", least=1, most=MOST_FACES // 2 // across)
    middle = arrays.coordinates(center, "center", (3,))
    lengths = arrays.coordinates([size, size] if isinstance(size, numbers.Number) else size, "size", (2,))
    if lengths.min() <= 0:
        raise InvalidInput("size", f"{lengths.min():g} is not positive")
    vertices = np.zeros((across + 1, along + 1, 3))
    vertices[..., 0] = lengths[0] * (np.arange(across + 1)[:, np.newaxis] / across - 0.5)
    vertices[..., 1] = lengths[1] * (np.arange(along + 1) / along - 0.5)
    i, j = np.meshgrid(np.arange(across), np.arange(along), indexing="ij")
    corner = i * (along + 1) + j
    quads = np.stack((corner, corner + along + 1, corner + along + 2, corner + 1), axis=-1)
    falling = ((i + j) % 2 == 1)[..., np.newaxis]
    faces = np.where(falling, quads[..., [0, 1, 3, 1, 2, 3]], quads[..., [0, 1, 2, 0, 2, 3]])
    return Mesh(middle + vertices.reshape(-1, 3), faces.reshape(-1, 3))


def _angles(count: int) -> Floats:
    return 2 * np.pi * np.arange(count) / count


def subdivide(mesh: Mesh) -> Mesh:
    """Each face in four: three at its corners and one between the middles of its sides, which are the new vertices."""
    middles = mesh.vertices[mesh.edges].mean(axis=1)
    sides = mesh.face_edges + len(mesh.vertices)
    corners = [np.stack((mesh.faces[:, i], sides[:, i - 1], sides[:, i - 2]), axis=1) for i in range(3)]
    return Mesh(np.concatenate((mesh.vertices, middles)), np.concatenate((*corners, sides)))


def _ball_of_rings(vertex_count: int) -> tuple[Floats, Integers]:
    """Unit directions (vertex_count,3), two poles and rings of latitude, and their 2·vertex_count − 4 faces."""
    side = np.sqrt(8 * np.pi / (np.sqrt(3) * vertex_count))  # of equilateral triangles that cover the sphere
    ring_count = max(1, min(round(np.pi / (side * np.sqrt(3) / 2)) - 1, vertex_count // 4))
    polar = np.pi * np.arange(1, ring_count + 1) / (ring_count + 1)
    between = np.concatenate(([0.0], (polar[1:] + polar[:-1]) / 2, [np.pi]))
    ring_ends = np.rint((vertex_count - 2) * (1 - np.cos(between)) / 2).astype(np.int64)
    rings: list[Integers] = [np.array([0])]
    directions: list[Floats] = [np.array([[0.0, 0.0, 1.0]])]
    for angle, start, end in zip(polar.tolist(), ring_ends[:-1].tolist(), ring_ends[1:].tolist(), strict=True):
        turn = _angles(end - start)
        height = np.full(end - start, np.cos(angle))
        directions.append(np.stack((np.sin(angle) * np.cos(turn), np.sin(angle) * np.sin(turn), height), axis=1))
        rings.append(np.arange(1 + start, 1 + end, dtype=np.int64))
    directions.append(np.array([[0.0, 0.0, -1.0]]))
    rings.append(np.array([vertex_count - 1]))
    strips = [_zip_rings(upper, lower) for upper, lower in itertools.pairwise(rings)]
    return np.concatenate(directions), np.concatenate(strips)


def _zip_rings(upper: Integers, lower: Integers) -> Integers:
    """Faces between two rings that start at one angle: a side meets the other ring's last vertex before its end."""
    faces: list[Integers] = []
    a, b = len(upper), len(lower)
    if a > 1:
        i = np.arange(a)
        reached = -(-(i + 1) * b // a) - 1 if b > 1 else np.zeros(a, np.int64)
        faces.append(np.stack((upper, lower[reached % b], np.roll(upper, -1)), axis=1))
    if b > 1:
        j = np.arange(b)
        reached = (j + 1) * a // b if a > 1 else np.zeros(b, np.int64)
        faces.append(np.stack((lower, np.roll(lower, -1), upper[reached % a]), axis=1))
    return np.concatenate(faces)
