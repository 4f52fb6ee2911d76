"""abut: every question of contact, from Python. Do these things touch, where, when, how deep."""

from importlib.metadata import version as _version

from abut import geometry, scenes
from abut.errors import AbutError, InvalidInput, Unsupported
from abut.mesh import Mesh, as_mesh, load, save

__version__: str = _version("abut")

__all__ = [
    "AbutError",
    "InvalidInput",
    "Mesh",
    "Unsupported",
    "as_mesh",
    "geometry",
    "load",
    "save",
    "scenes",
]
