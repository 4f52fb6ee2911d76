"""What of a motion can meet anything, and the one or two motions that a question is about."""

from typing import Any, NamedTuple, cast

from abut.ccd.motion.motions import BodyLike, Motion
from abut.ccd.motion.paths import Paths
from abut.core import devices
from abut.core.arrays import Integers, frozen
from abut.core.errors import InvalidInput, Unsupported
from abut.core.types import PointsLike


class Surface(NamedTuple):
    """A motion without the vertices that no face has, which are no part of the surface, and the numbers of those that are left (None: all)."""

    motion: Motion
    vertices: Integers | None

    def number(self, column: Any) -> None:
        """Replace vertices of the motion by those of the given mesh, in place."""
        if self.vertices is not None:
            column[:] = self.vertices[column]


def surface_of(motion: Motion) -> Surface:
    """The part of a motion that can meet anything."""
    if devices.is_on_device(motion.vertices_t0) or devices.is_on_device(motion.vertices_t1):
        raise Unsupported(
            "vertices on a CUDA device, in a question that is answered on the processor: copy them to the host first"
        )
    found = motion.mesh._without_loose_vertices
    if found is None:
        return Surface(motion, None)
    kept, mesh = found
    paths = None if motion._paths is None else Paths(*(frozen(rows[kept]) for rows in motion._paths))
    own = Motion.__new__(Motion)
    own._set(mesh, motion.vertices_t0[kept], motion.vertices_t1[kept], paths, motion._rigid_bodies, motion.body[kept])
    return Surface(own, kept)


def read_surfaces(a: Motion | BodyLike, others: tuple[Motion | PointsLike, ...]) -> tuple[Surface, Surface | None]:
    """The surfaces of one or two motions, read as by `read_motions`."""
    one, two = read_motions(a, others)
    return surface_of(one), None if two is None else surface_of(two)


def read_motions(a: Motion | BodyLike, others: tuple[Motion | PointsLike, ...]) -> tuple[Motion, Motion | None]:
    """One or two motions from the arguments of a question: (motion), (motion, motion) or (mesh, v_t0, v_t1)."""
    if isinstance(a, Motion):
        if not others:
            return a, None
        if len(others) == 1 and isinstance(others[0], Motion):
            return a, others[0]
        raise InvalidInput("others", "beside a Motion there may be one other Motion; `ccd.join` takes more")
    if len(others) != 2:
        raise InvalidInput("others", f"a mesh needs its vertices at both ends, not {len(others)} more arguments")
    return Motion(a, cast("PointsLike", others[0]), cast("PointsLike", others[1])), None
