"""Which kind of file is read by which source, and what can be read at all."""

from pathlib import Path
from typing import NamedTuple

from abut.app.check.sources.archive import ArchiveSource
from abut.app.check.sources.gltf import GltfSource
from abut.app.check.sources.mesh_files import MeshFile
from abut.app.check.sources.meshio_files import MeshioFile, PvdSeries, XdmfSeries
from abut.app.check.sources.source import Source
from abut.app.check.sources.usd import UsdSource

GLTF_SUFFIXES = (".glb", ".gltf")
USD_SUFFIXES = (".usd", ".usda", ".usdc", ".usdz")
MESHIO_SUFFIXES = (".vtk", ".vtu")
MESH_SUFFIXES = frozenset({*GLTF_SUFFIXES, *USD_SUFFIXES, *MESHIO_SUFFIXES, ".obj", ".off", ".ply", ".stl"})
"""What counts as a frame in a folder. Files named one by one, or by a glob, may be of any kind that can be read."""
DEFAULT_FPS = 24.0


class Sampling(NamedTuple):
    """How animations that are no frames become frames."""

    fps: float | None = None
    """frames a second; None: 24 for glTF, one a time code for USD"""
    clip: str | None = None
    """the animation of a glTF file that is meant, by name or number"""


def open_source(path: Path, sampling: Sampling) -> Source:
    """The source for a file. Nothing is raised where it cannot be read: reading its frame does."""
    kind = path.suffix.lower()
    if kind == ".npz":
        return ArchiveSource(path)
    if kind in GLTF_SUFFIXES:
        return GltfSource(path, sampling.fps or DEFAULT_FPS, sampling.clip)
    if kind in USD_SUFFIXES:
        return UsdSource(path, sampling.fps)
    if kind in MESHIO_SUFFIXES:
        return MeshioFile(path)
    if kind == ".pvd":
        return PvdSeries(path)
    if kind in (".xdmf", ".xmf"):
        return XdmfSeries(path)
    return MeshFile(path)
