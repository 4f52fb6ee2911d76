"""Steps as the searches of candidates take them: straight lines between both ends."""

from abut.ccd.motion.motions import Motion
from abut.core import arrays
from abut.core.types import PointsLike
from abut.mesh import Mesh, MeshLike, as_mesh
from abut.trees.blocks.swept import Moving


def moving_of(mesh: MeshLike, v_t0: PointsLike, v_t1: PointsLike) -> Moving:
    """A mesh and its vertices at both ends of a step, checked."""
    body: Mesh = as_mesh(mesh)
    shape = (len(body.vertices), 3)
    return Moving(
        arrays.coordinates(v_t0, "v_t0", shape), arrays.coordinates(v_t1, "v_t1", shape), body.faces, body.edges
    )


def movings_of(a: Motion, b: Motion | None) -> tuple[Moving, Moving | None, float]:
    """The straight lines between the ends of one or two motions, and how far the true paths bend away from them in all."""
    straight = [
        Moving(m.vertices_t0, m.vertices_t1, m.mesh.faces, m.mesh.edges) for m in ([a] if b is None else [a, b])
    ]
    bends = [float(m.paths.bend.max()) if m.rotates else 0.0 for m in (a, a if b is None else b)]
    return straight[0], None if b is None else straight[1], sum(bends)
