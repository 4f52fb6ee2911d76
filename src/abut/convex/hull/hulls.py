"""Many hulls in one set of arrays, one after the other, in batches of which kernels see pointers.

Indices of vertices, edges and faces count from 0 in each hull, and on from hull to hull in the arrays. Whoever hands out the handle keeps the arrays
alive.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abut.convex.hull.hull import Hull
from abut.convex.hull.tables import View
from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.handles import pack
from abut.core.showing import ROWS_SHOWN, count, describe, table_html


class Hulls:
    """Hulls in one set of arrays, for batches: what `track_many` and `overlap_many` take.

    Args:
        hulls: at least one; the same hull may come more than once.

    Examples:
        >>> from abut import convex
        >>> segment = convex.Hull([[0, 0, 0], [1, 0, 0]])
        >>> triangle = convex.Hull([[0, 0, 0], [1, 0, 0], [0, 1, 0]])
        >>> convex.Hulls([segment, triangle, segment])
        Hulls(3 hulls, 7 vertices)
    """

    def __init__(self, hulls: Iterable[Hull]) -> None:
        hulls = _read_hulls(hulls)
        parts = [hull._tables for hull in hulls]
        counts = np.array([(len(p.vertices), len(p.edges), len(p.planes)) for p in parts], dtype=np.int64).reshape(
            -1, 3
        )
        self.hulls: tuple[Hull, ...] = hulls
        self.starts: Integers = frozen(np.concatenate([np.zeros((1, 3), np.int64), np.cumsum(counts, axis=0)]))
        """(h + 1, 3) first vertex, edge and face of each"""
        self.middles: Floats = frozen(np.array([hull.middle for hull in hulls]).reshape(-1, 3))
        """(h,3)"""
        self.radii: Floats = frozen(np.array([hull.radius for hull in hulls], dtype=np.float64))
        """(h,)"""
        self.tables: View = _join(parts, self.starts)
        self.handle: Integers = frozen(pack(View, *self.tables))
        """what kernels take"""

    def __len__(self) -> int:
        return len(self.hulls)

    def __repr__(self) -> str:
        return describe(self, count(len(self), "hull"), count(len(self.tables.vertices), "vertex", "vertices"))

    def _repr_html_(self) -> str:
        shown = self.hulls[:ROWS_SHOWN]
        counts = [[len(getattr(hull, name)) for hull in shown] for name in ("vertices", "edges", "faces")]
        columns = (*counts, [hull.radius for hull in shown])
        return table_html(repr(self), ("vertices", "edges", "faces", "radius"), columns, len(self))

    def __reduce__(self) -> tuple[type["Hulls"], tuple[tuple[Hull, ...]]]:
        return (Hulls, (self.hulls,))  # addresses are those of this process


def _read_hulls(hulls: Iterable[Hull]) -> tuple[Hull, ...]:
    """Hulls, at least one, and nothing else."""
    return tuple(arrays.items(hulls, "hulls", Hull, least=1))


def _join(parts: Sequence[View], starts: Integers) -> View:
    """The tables of many hulls, one after the other, with indices that count on."""

    def stack(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(part, name) for part in parts])

    def owners(name: str) -> Integers:
        return np.repeat(np.arange(len(parts)), [len(getattr(part, name)) for part in parts])

    def chain(name: str, links: str) -> NDArray[np.int32]:
        ends = np.cumsum([0, *(len(getattr(part, links)) for part in parts)])
        rows = [getattr(part, name)[:-1] + end for part, end in zip(parts, ends, strict=False)]
        return np.concatenate([*rows, ends[-1:]]).astype(np.int32)

    first = starts.astype(np.int32)
    edge_links = stack("edge_links")
    shifts = first[owners("edge_links")][:, [0, 0, 2, 2]]
    seed_ends = np.cumsum([0, *(len(part.seeds) for part in parts)])
    seed_starts = stack("seed_starts")
    return View(
        stack("vertices"),
        stack("edges"),
        stack("planes"),
        stack("sides"),
        chain("vertex_starts", "neighbours"),
        stack("neighbours") + first[owners("neighbours"), 0],
        stack("vertex_edges") + first[owners("vertex_edges"), 1],
        np.where(edge_links >= 0, edge_links + shifts, edge_links),
        chain("face_starts", "face_links"),
        stack("face_links") + 2 * first[owners("face_links"), 1],
        np.where(seed_starts < 0, -1, seed_ends[owners("seed_starts")]).astype(np.int32),
        stack("seeds") + first[owners("seeds"), 0],
        stack("seed_points"),
    )
