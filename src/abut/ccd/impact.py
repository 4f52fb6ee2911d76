"""First contact of one pair, for kernels: points as tuples in, status and time out.

`impact_vertex_face(v, f0, f1, f2 at t = 0, then at t = 1, t_max, tolerance)` and `impact_edge_edge(ea0, ea1, eb0, eb1 …)` return FREE, HIT or
UNDECIDED of `carve`, and a time: of the first contact in [0, t_max], NEVER, or a lower bound. A HIT is never late and early by at most
`tolerance`. A kernel that meets UNDECIDED calls `exact_stage.decide_exactly`, which needs `integers.workspace(EXACT_ROWS)`, one a thread, or sets
the row aside for `queries.decide_undecided`; that answer is for [0, 1], whatever t_max was.
"""

from abut.ccd.carve import STEPS, first_contact
from abut.ccd.relative import relative_paths
from abut.ccd.within import first_within
from abut.geometry.vec import Vec3
from abut.jit import element


@element
def impact_vertex_face(
    v_t0: Vec3,
    a_t0: Vec3,
    b_t0: Vec3,
    c_t0: Vec3,
    v_t1: Vec3,
    a_t1: Vec3,
    b_t1: Vec3,
    c_t1: Vec3,
    t_max: float,
    tolerance: float,
) -> tuple[int, float]:
    """When vertex v first touches face abc in [0, t_max]."""
    paths, sizes, _ = relative_paths(v_t0, a_t0, b_t0, c_t0, v_t1, a_t1, b_t1, c_t1)
    return first_contact(True, paths, sizes, t_max, tolerance, STEPS)


@element
def impact_edge_edge(
    a0_t0: Vec3,
    a1_t0: Vec3,
    b0_t0: Vec3,
    b1_t0: Vec3,
    a0_t1: Vec3,
    a1_t1: Vec3,
    b0_t1: Vec3,
    b1_t1: Vec3,
    t_max: float,
    tolerance: float,
) -> tuple[int, float]:
    """When edge a0 a1 first touches edge b0 b1 in [0, t_max]."""
    paths, sizes, _ = relative_paths(a0_t0, a1_t0, b0_t0, b1_t0, a0_t1, a1_t1, b0_t1, b1_t1)
    return first_contact(False, paths, sizes, t_max, tolerance, STEPS)


@element
def impact_vertex_face_within(
    v_t0: Vec3,
    a_t0: Vec3,
    b_t0: Vec3,
    c_t0: Vec3,
    v_t1: Vec3,
    a_t1: Vec3,
    b_t1: Vec3,
    c_t1: Vec3,
    distance: float,
    t_max: float,
    max_steps: int,
) -> tuple[int, float]:
    """When vertex v first comes within `distance` > 0 of face abc in [0, t_max]: FREE, HIT or LIMIT (`within`)."""
    paths, sizes, scale = relative_paths(v_t0, a_t0, b_t0, c_t0, v_t1, a_t1, b_t1, c_t1)
    return first_within(True, paths, sizes, distance * scale, t_max, max_steps)


@element
def impact_edge_edge_within(
    a0_t0: Vec3,
    a1_t0: Vec3,
    b0_t0: Vec3,
    b1_t0: Vec3,
    a0_t1: Vec3,
    a1_t1: Vec3,
    b0_t1: Vec3,
    b1_t1: Vec3,
    distance: float,
    t_max: float,
    max_steps: int,
) -> tuple[int, float]:
    """When edge a0 a1 first comes within `distance` > 0 of edge b0 b1 in [0, t_max]: FREE, HIT or LIMIT (`within`)."""
    paths, sizes, scale = relative_paths(a0_t0, a1_t0, b0_t0, b1_t0, a0_t1, a1_t1, b0_t1, b1_t1)
    return first_within(False, paths, sizes, distance * scale, t_max, max_steps)
