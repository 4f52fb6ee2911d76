"""Step after step of the same meshes: `Sweeper` keeps what one step leaves that the next can use.

Kept are the order of the primitives along the curve, which is made anew when blocks have become a tenth larger, and the memory of blocks and
pairs. Both change what an answer costs, never the answer.
"""

import threading
from typing import Any

from abut.ccd.culling.search import Volume, find_candidates, number_vertices
from abut.ccd.earliest import find_earliest
from abut.ccd.impacts import find_impacts
from abut.ccd.motion.motions import BodyLike, Motion, mesh_of
from abut.ccd.motion.straight import movings_of
from abut.ccd.motion.surfaces import Surface, surface_of
from abut.ccd.on_device import ends_of, questions
from abut.ccd.queries import TOLERANCE
from abut.ccd.results import Candidates, Impacts
from abut.core import arrays, devices
from abut.core.errors import InvalidInput
from abut.core.showing import count, describe, table_html
from abut.core.types import PointsLike
from abut.mesh import Mesh, as_mesh
from abut.trees.blocks.memory import Memory


class Sweeper:
    """One mesh with itself, or two with each other, step after step: the answers of `sweep`, `time_of_impact` and `candidates`, for less.

    Each question takes the vertices at both ends of a step: `(v_t0, v_t1)` for one mesh, `(a_t0, a_t1, b_t0, b_t1)` for two. A sweeper may be asked
    from several threads; it answers one at a time. It holds about as much memory as its largest step took, until it is deleted. Vertices on a CUDA
    device are answered there.

    Args:
        a: anything `as_mesh` takes, or a body, whose mesh is read.
        b: another, or None for one mesh with itself.

    Raises:
        InvalidInput: no meshes, or vertices of another number.

    Examples:
        >>> import abut
        >>> ball = abut.scenes.icosphere(2)
        >>> sweeper = abut.Sweeper(ball)
        >>> start = ball.vertices
        >>> for height in (0.5, 0.0, -0.5):
        ...     end = ball.vertices * [1, 1, height]
        ...     print(len(sweeper.sweep(start, end)) == len(abut.sweep(ball, start, end)))
        ...     start = end
        True
        True
        True
    """

    def __init__(self, a: BodyLike, b: BodyLike | None = None) -> None:
        self._meshes = [as_mesh(mesh_of(body)) for body in ([a] if b is None else [a, b])]
        self._memory = Memory()
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        faces = " and ".join(count(len(mesh.faces), "face") for mesh in self._meshes)
        return describe(self, faces, f"{self.byte_count / 1e6:.1f} MB kept")

    def _repr_html_(self) -> str:
        sizes = [len(mesh.vertices) for mesh in self._meshes], [len(mesh.faces) for mesh in self._meshes]
        return table_html(repr(self), ("vertices", "faces"), sizes, len(self._meshes))

    def __reduce__(self) -> tuple[type["Sweeper"], tuple[Mesh, ...]]:
        return Sweeper, tuple(self._meshes)

    @property
    def byte_count(self) -> int:
        """The memory that it keeps."""
        return self._memory.byte_count

    def _on_device(self, ends: tuple[PointsLike, ...]) -> Any:
        """The vertices of a question that lie on a CUDA device; None for others."""
        if len(ends) != 2 * len(self._meshes) or not any(map(devices.is_on_device, ends)):
            return None
        return ends_of(None, self._meshes, list(ends))

    def _read(self, ends: tuple[PointsLike, ...]) -> tuple[Surface, Surface | None]:
        if len(ends) != 2 * len(self._meshes):
            raise InvalidInput(
                "ends", f"are {len(ends)}, not two for each of {count(len(self._meshes), 'mesh', 'meshes')}"
            )
        motions = [Motion(mesh, ends[2 * k], ends[2 * k + 1]) for k, mesh in enumerate(self._meshes)]
        if any(motion.is_rigid for motion in motions):
            raise InvalidInput("ends", "are poses: a sweeper takes vertices")
        surfaces = [surface_of(motion) for motion in motions]
        return surfaces[0], surfaces[1] if len(surfaces) == 2 else None

    def candidates(
        self, *ends: PointsLike, volume: Volume = "aabb", min_distance: float = 0.0, ordered: bool = True
    ) -> Candidates:
        """Pairs of features whose volumes, swept during a step, meet or come within a distance of one another: see `abut.candidates`.

        Args:
            *ends: (n,3) vertices at t = 0 and at t = 1, of one mesh after the other.
            volume, min_distance: as for `abut.candidates`.
            ordered: whether rows are sorted. If not, they come as they are found, which is faster, and may come in another order next time.

        Returns:
            Pairs by kind of feature, each once.
        """
        on_device = self._on_device(ends)
        if on_device is not None:
            return questions().candidates(on_device, volume, min_distance)
        one, two = self._read(ends)
        sorts = arrays.flag(ordered, "ordered")
        distance = arrays.scalar(min_distance, "min_distance", least=0.0)
        first, second, _ = movings_of(one.motion, None if two is None else two.motion)
        with self._lock:
            found = find_candidates(
                first, second, volume=volume, min_distance=distance, memory=self._memory, ordered=sorts
            )
        return number_vertices(found, one, two)

    def time_of_impact(
        self, *ends: PointsLike, min_distance: float = 0.0, tolerance: float = TOLERANCE, at_start: bool = True
    ) -> float:
        """The earliest time at which anything meets during a step: see `abut.time_of_impact`.

        Args:
            *ends: (n,3) vertices at t = 0 and at t = 1, of one mesh after the other.
            min_distance, tolerance, at_start: as for `abut.time_of_impact`.

        Returns:
            A time in [0, 1], or inf.
        """
        on_device = self._on_device(ends)
        if on_device is not None:
            return questions().time_of_impact(on_device, min_distance, tolerance, None, at_start)
        one, two = self._read(ends)
        with self._lock:
            return find_earliest(one, two, min_distance, tolerance, None, at_start, self._memory)

    def sweep(self, *ends: PointsLike, min_distance: float = 0.0, tolerance: float = TOLERANCE) -> Impacts:
        """All pairs of features that meet during a step: see `abut.sweep`.

        Args:
            *ends: (n,3) vertices at t = 0 and at t = 1, of one mesh after the other.
            min_distance, tolerance: as for `abut.sweep`.

        Returns:
            One row per pair of features, sorted by kind, a and b.
        """
        on_device = self._on_device(ends)
        if on_device is not None:
            return questions().sweep(on_device, min_distance, tolerance, None)
        one, two = self._read(ends)
        with self._lock:
            return find_impacts(one, two, min_distance, tolerance, None, self._memory)
