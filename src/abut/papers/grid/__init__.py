"""Voxels with dated lists of facets: collision by subdivision of space (Meseure 1998, §3).

`lists` facets in hashed voxels · `search` the pairs of facets that meet · `voxels` the grid of several objects.
"""

from abut.papers.grid.voxels import VoxelHits, Voxels, VoxelWork

__all__ = ["VoxelHits", "VoxelWork", "Voxels"]
