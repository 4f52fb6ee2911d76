"""Which faces of a closed body point inwards: those of bodies that are inside out.

Inside is where the surface winds around a point at all (`inside`), however its faces are oriented. The winding number just behind a face, on the side
that its normal turns away from, is one more than in front. So the normal points out of the body unless the number in front is negative. All faces of
a connected piece are alike, so one question decides for each: that of its vertex farthest along +x, whose ray meets only other pieces. Beside the
number that these give, w, the piece's own volume tells which of its sides is in front: w if it is positive, w − 1 if it is negative.

A hollow thus keeps the inward faces that it should have: its piece has a negative volume inside another, w = 1. Pieces that cross one another are
judged as they lie at that vertex. Surfaces that are open, or oriented in disagreement, have no such sides: their faces are taken as they are.
"""

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers, frozen
from abut.core.jit import element, kernel
from abut.discrete.bodies import IDENTITY, PROBES, Body, Deformable, closedness, extremes_of
from abut.discrete.search.winding import count_around
from abut.geometry.vec import Vec3, cross, dot, norm

RIGHTEST = 1  # of a piece's probes, that with the largest x


@element
def _place(vertices: Floats, vertex: int, origin: int, scale: float) -> Vec3:
    """A vertex seen from another, where lengths are about 1: products of three neither vanish nor overflow."""
    return (
        scale * (vertices[vertex, 0] - vertices[origin, 0]),
        scale * (vertices[vertex, 1] - vertices[origin, 1]),
        scale * (vertices[vertex, 2] - vertices[origin, 2]),
    )


@kernel
def _sum_volumes(
    vertices: Floats, faces: Integers, piece: Integers, origins: Integers, scale: float, volumes: Floats
) -> None:
    """Of each piece, seen from one of its vertices: six times the signed volume, and the sum of the magnitudes that it was computed from."""
    for face in range(len(faces)):
        at = int(origins[piece[face]])
        a = _place(vertices, faces[face, 0], at, scale)
        b = _place(vertices, faces[face, 1], at, scale)
        c = _place(vertices, faces[face, 2], at, scale)
        volumes[piece[face], 0] += dot(a, cross(b, c))
        volumes[piece[face], 1] += norm(a) * norm(b) * norm(c)


def inward_faces(body: Body) -> NDArray[np.bool_] | None:
    """(faces,) which faces of a closed body have normals that point into it; None where none has, or no side of the surface is inside."""
    vertices = body.vertices if isinstance(body, Deformable) else body.mesh.vertices
    if body._inward is None or body._inward[0] is not vertices:
        body._inward = (vertices, _find_inward(body, vertices))
    return body._inward[1]


def _find_inward(body: Body, vertices: Floats) -> NDArray[np.bool_] | None:
    mesh = body.mesh
    if closedness(mesh) != 1:
        return None
    volumes = np.zeros((mesh.component_count, 2))
    origins = np.ascontiguousarray(body._probes[RIGHTEST::PROBES])
    _sum_volumes(vertices, mesh.faces, mesh.components, origins, body._scale, volumes)
    # Sums of so many terms are off by no more than that: a volume within it has no sign.
    rounding = (len(mesh.faces) + 16) * np.finfo(np.float64).eps
    negative = volumes[:, 0] < -rounding * volumes[:, 1]
    if not negative.any():
        return None
    around = np.zeros(len(negative), dtype=np.int64)
    if len(negative) > 1:
        count_around(body._handle, IDENTITY, vertices[extremes_of(mesh, vertices)[RIGHTEST::PROBES]], around)
    inward = around - negative < 0
    return frozen(inward[mesh.components]) if inward.any() else None
