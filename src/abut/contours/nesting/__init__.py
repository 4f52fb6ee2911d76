"""Pieces on a sheet: first placement, compaction under pseudo-gravity, guided local search, exact verification."""

from abut.contours.nesting.layout import Layout
from abut.contours.nesting.nest import nest

__all__ = ["Layout", "nest"]
